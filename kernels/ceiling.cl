/* What a device can do at most: arithmetic on registers alone, memory alone, and a launch that does nothing.
 *
 * Built with LANES as the casting kernels are, and CHAINS. Arithmetic is made of so many chains of results that do not
 * wait for each other: enough to cover an operation's latency on every port, few enough to stay in registers. What they
 * start from is an argument, so that no compiler works anything out beforehand, and no value is ever subnormal. */
#include "lanes.h"

/* Rounds between two tests for the end of the loop, which cost a GPU as much as arithmetic does. */
#if LANES == 1
#define UNROLLED 8
#else
#define UNROLLED 1
#endif

INLINE void begin(real x[CHAINS], float first) {
  UNROLL for (int k = 0; k < CHAINS; k++) x[k] = (real)(first + (float)k);
}

/* Stores a sum that never is what it is compared with, so that nothing before looks unused. */
INLINE void keep(const real x[CHAINS], global float *out) {
  real sum = x[0];
  UNROLL for (int k = 1; k < CHAINS; k++) sum = sum + x[k];
  if (lanes_any(sum == (real)(-1.0f))) out[0] = lanes_at(sum, 0);
}

/* A round: CHAINS additions and as many multiplications. With b = 0.5 every chain goes to a. */
kernel void add_mul(global float *out, const uint rounds, const float first, const float a, const float b) {
  real x[CHAINS];
  begin(x, first);
  for (uint i = 0; i < rounds; i += UNROLLED)
    UNROLL for (int u = 0; u < UNROLLED; u++) UNROLL for (int k = 0; k < CHAINS; k++) x[k] = (x[k] + a) * b;
  keep(x, out);
}

/* A round: CHAINS minima and as many maxima. Each takes in its neighbour, since a clamp done twice is a clamp. */
kernel void min_max(global float *out, const uint rounds, const float first, const float a, const float b) {
  real x[CHAINS];
  begin(x, first * b);
  for (uint i = 0; i < rounds; i += UNROLLED)
    UNROLL for (int u = 0; u < UNROLLED; u++) UNROLL for (int k = 0; k < CHAINS; k++) x[k] =
        lanes_max(lanes_min(x[k], (real)(a)), x[k == CHAINS - 1 ? 0 : k + 1]);
  keep(x, out);
}

/* As a predicate a GPU's comparison takes the one before it in for nothing. */
#if LANES == 1
typedef bool verdict;
#else
typedef mask verdict;
#endif

/* A round: what box_may_overlap does for two blocks, 12 additions and multiplications, 6 minima and maxima and a
 * comparison each. Planes are the products of the round before. */
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

/* Neighbouring work-items of a GPU read neighbouring pieces; each one of a CPU has a stretch of its own. */
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

/* n pieces. marker: bits that no piece has. */
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
