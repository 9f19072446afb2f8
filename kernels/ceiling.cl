/* Measures the most that a device can do: arithmetic on registers alone, memory access alone, and a launch that does
 * nothing.
 *
 * Built with LANES as the casting kernels are, and CHAINS: the number of independent dependency chains of the
 * arithmetic. It must be large enough to cover an operation's latency on every port, and small enough that all values
 * stay in registers. Start values are arguments, so that no compiler computes anything beforehand. No value is ever
 * subnormal. */
#include "lanes/lanes.h"

/* A piece of memory. */
#if LANES > 1
typedef uint16 piece;
#elif defined(__OPENCL_C_VERSION__)
typedef uint4 piece;
#else
typedef ulong piece;
#endif

/* All kernels have the same parameters. n: rounds of arithmetic, or pieces for each work-item. first, a and b: start
 * values. */
#define CEILING(name)                                                                                                  \
  kernel void KERNEL_NAME(name)(WORK_ITEM const global piece *from, global piece *to, const uint n, const float first, \
                                const float a, const float b)

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
INLINE void keep(const real x[CHAINS], global piece *to) {
  real sum = x[0];
  UNROLL for (int k = 1; k < CHAINS; k++) sum = sum + x[k];
  if (lanes_any(sum == (real)(-1.0f))) ((global float *)to)[0] = lanes_at(sum, 0);
}

/* A round: CHAINS additions and as many multiplications. With b = 0.5 every chain converges to a. */
CEILING(add_mul) {
  real x[CHAINS];
  begin(x, first);
  for (uint i = 0; i < n; i += UNROLLED)
    UNROLL for (int u = 0; u < UNROLLED; u++) UNROLL for (int k = 0; k < CHAINS; k++) x[k] = (x[k] + a) * b;
  (void)from;
  keep(x, to);
}

/* A round: CHAINS minima and as many maxima. Each uses its neighbour's value, since a clamp to the same bounds twice is
 * one clamp. */
CEILING(min_max) {
  real x[CHAINS];
  begin(x, first * b);
  for (uint i = 0; i < n; i += UNROLLED)
    UNROLL for (int u = 0; u < UNROLLED; u++) UNROLL for (int k = 0; k < CHAINS; k++) x[k] =
        lanes_max(lanes_min(x[k], (real)(a)), x[k == CHAINS - 1 ? 0 : k + 1]);
  (void)from;
  keep(x, to);
}

/* As a predicate, a GPU's comparison includes the `and` with the one before at no cost. */
#if LANES == 1
typedef bool verdict;
#else
typedef mask verdict;
#endif

/* A round: the work of box_may_overlap for two blocks, each with 12 additions and multiplications, 6 minima and maxima
 * and a comparison. The planes are the products of the previous round. */
CEILING(slab_mix) {
  real x[CHAINS];
  verdict hit = (real)(a) > (real)(b);
  begin(x, first);
  for (uint i = 0; i < n; i += UNROLLED)
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
  (void)from;
  keep(x, to);
}

/* ---- memory ---- */

/* On a GPU neighbouring work-items read neighbouring pieces. On a CPU each work-item has a contiguous range of its
 * own. */
#if LANES == 1 && defined(__OPENCL_C_VERSION__)
#define PIECE(i) ((i) * (uint)get_global_size(0) + (uint)get_global_id(0))
#else
#define PIECE(i) ((uint)get_global_id(0) * n + (i))
#endif
#if defined(__OPENCL_C_VERSION__)
#define WORD(piece) ((piece).s0)
#else
#define WORD(piece) ((uint)(piece))
#endif

/* No word that is read is 0. */
CEILING(memory_read) {
  piece seen = (piece)(0);
  for (uint i = 0; i < n; i++) seen |= from[PIECE(i)];
  if (WORD(seen) == 0) to[0] = seen;
  (void)first, (void)a, (void)b;
}

CEILING(memory_copy) {
  for (uint i = 0; i < n; i++) to[PIECE(i)] = from[PIECE(i)];
  (void)first, (void)a, (void)b;
}

/* ---- launching ---- */

CEILING(nothing) {
  if (n != 0) to[0] = from[0];
  (void)first, (void)a, (void)b;
}
