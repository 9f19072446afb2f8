/* Measures the most that a device can do: arithmetic on registers alone, memory access alone, and a launch that does
 * nothing.
 *
 * Built with LANES as the casting kernels are, and CHAINS: the number of independent dependency chains of the
 * arithmetic. It must be large enough to cover an operation's latency on every port, and small enough that all values
 * stay in registers. Start values are arguments, so that no compiler computes anything beforehand. No value is ever
 * subnormal. */
#include "lanes.h"

/* Rounds between two tests for the end of the loop. On a GPU such a test costs as much as arithmetic. */
#if LANES == 1
#define UNROLLED 8
#else
#define UNROLLED 1
#endif

INLINE void begin(real x[CHAINS], float first) {
  UNROLL for (int k = 0; k < CHAINS; k++) x[k] = (real)(first + (float)k);
}

/* Stores a sum if it equals a value that it never has, so that the compiler cannot remove the computation. */
INLINE void keep(const real x[CHAINS], global float *out) {
  real sum = x[0];
  UNROLL for (int k = 1; k < CHAINS; k++) sum = sum + x[k];
  if (lanes_any(sum == (real)(-1.0f))) out[0] = lanes_at(sum, 0);
}

/* A round: CHAINS additions and as many multiplications. With b = 0.5 every chain converges to a. */
kernel void add_mul(global float *out, const uint rounds, const float first, const float a, const float b) {
  real x[CHAINS];
  begin(x, first);
  for (uint i = 0; i < rounds; i += UNROLLED)
    UNROLL for (int u = 0; u < UNROLLED; u++) UNROLL for (int k = 0; k < CHAINS; k++) x[k] = (x[k] + a) * b;
  keep(x, out);
}

/* A round: CHAINS minima and as many maxima. Each uses its neighbour's value, since a clamp to the same bounds twice is
 * one clamp. */
kernel void min_max(global float *out, const uint rounds, const float first, const float a, const float b) {
  real x[CHAINS];
  begin(x, first * b);
  for (uint i = 0; i < rounds; i += UNROLLED)
    UNROLL for (int u = 0; u < UNROLLED; u++) UNROLL for (int k = 0; k < CHAINS; k++) x[k] =
        lanes_max(lanes_min(x[k], (real)(a)), x[k == CHAINS - 1 ? 0 : k + 1]);
  keep(x, out);
}

/* As a predicate, a GPU's comparison includes the `and` with the one before at no cost. */
#if LANES == 1
typedef bool verdict;
#else
typedef mask verdict;
#endif

/* A round: what box_may_overlap does for two blocks, with 12 additions and multiplications, 6 minima and maxima and a
 * comparison each. The planes are the products of the previous round. */
kernel void slab_mix(global float *out, const uint rounds, const float first, const float a, const float b) {
  real x[CHAINS];
  verdict hit = (real)(a) > (real)(b);
  begin(x, first);
  for (uint i = 0; i < rounds; i += UNROLLED)
    UNROLL for (int u = 0; u < UNROLLED; u++) UNROLL for (int block = 0; block < 12; block += 6) {
      real enter = (real)(first), leave = (real)(b);
      UNROLL for (int k = block; k < block + 3; k++) {
        x[k] = (x[k] + a) * b;
        x[k + 3] = (x[k + 3] + a) * b;
        enter = lanes_max(x[k], enter);
        leave = lanes_min(x[k + 3], leave);
      }
      hit = hit & (enter <= leave);
    }
  x[0] = hit ? x[0] : (real)(first);
  keep(x, out);
}

/* ---- memory ---- */

/* On a GPU neighbouring work-items read neighbouring pieces. On a CPU each work-item has a contiguous range of its
 * own. */
#if LANES == 1
typedef uint4 piece;
#define FIRST(n) (get_global_id(0))
#define END(n) (n)
#define STEP (get_global_size(0))
#else
typedef uint16 piece;
#define SHARE(n) (((n) + (uint)get_global_size(0) - 1) / (uint)get_global_size(0))
#define FIRST(n) (get_global_id(0) * SHARE(n))
#define END(n) min((n), ((uint)get_global_id(0) + 1) * SHARE(n))
#define STEP 1
#endif

/* Reads n pieces. marker: bits that no piece has. */
kernel void memory_read(const global piece *from, global piece *to, const uint n, const uint marker) {
  piece seen = (piece)(0);
  for (uint i = FIRST(n); i < END(n); i += STEP) seen |= from[i];
  if (seen.s0 == marker) to[0] = seen;
}

kernel void memory_copy(const global piece *from, global piece *to, const uint n, const uint marker) {
  for (uint i = FIRST(n); i < END(n); i += STEP) to[i] = from[i];
  (void)marker;
}

/* ---- launching ---- */

kernel void nothing(global float *out, const uint rounds) {
  if (rounds != 0) out[0] = 0.0f;
}
