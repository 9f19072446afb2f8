/* Reports what a device's operations really do. probed.h lists the operations. host/probe.c has their operands and
 * the right results.
 *
 * Built as the casting kernels are: LANES, SLAB_FMAX, the form of division. Operands come from a buffer, so that no
 * compiler knows them. Each work-item computes one row of LANES + 1 columns. The last column is computed with
 * scalars. */
#include "data/probed.h"
#include "lanes/lanes.h"

#define COLUMNS (LANES + 1)

#if LANES == 1
#define LANE_NUMBERS 0u
#define lanes_as_mask(x) as_int(x)
#define lanes_convert(x) ((float)(x))
#elif LANES == 8
#define LANE_NUMBERS ((uint8)(0, 1, 2, 3, 4, 5, 6, 7))
#define lanes_convert(x) convert_float8(x)
#else
#define LANE_NUMBERS ((uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15))
#define lanes_convert(x) convert_float16(x)
#endif

#define byte_of(x) ((x) >> 16 & 0xFFu)
#define lowest(x) popcount(~(x) & ((x)-1u))
#define relation(word, holds, i) ((holds) ? (word)(1u << i) : (word)(0u))
#define relations(word, a, b)                                                                                     \
  (relation(word, a < b, 0) | relation(word, a <= b, 1) | relation(word, a == b, 2) | relation(word, a != b, 3) | \
   relation(word, a >= b, 4) | relation(word, a > b, 5))

/* operands: for each row a, b and c, COLUMNS of each. results: for each row the operations, COLUMNS of each. Then
 * follow the number of rounds that a loop ran, and its result for the start value 1. */
KERNEL_HINT kernel void probe(const global float *operands, global uint *results, uint rounds) {
  if (get_global_id(0) == 0) {
    global uint *of_loop = results + get_global_size(0) * (PROBED_OPERATIONS * COLUMNS);
    uint made = 1, i = 0;
    for (; i < rounds; i++) made = PROBED_ROUND(made);
    of_loop[0] = i;
    of_loop[1] = made;
  }
  operands += get_global_id(0) * (3 * COLUMNS);
  results += get_global_id(0) * (PROBED_OPERATIONS * COLUMNS);
  {
    const word lane = LANE_NUMBERS;
    const real a = lanes_load(operands), b = lanes_load(operands + COLUMNS), c = lanes_load(operands + 2 * COLUMNS);
#define STORE_REAL(name, of_lanes, of_scalars) lanes_store(lanes_as_word(of_lanes), results + PROBED_##name * COLUMNS);
#define STORE_WORD(name, of_lanes, of_scalars) lanes_store(of_lanes, results + PROBED_##name * COLUMNS);
    PROBED_REALS(STORE_REAL)
    PROBED_WORDS(STORE_WORD)
#undef STORE_REAL
#undef STORE_WORD
  }
  {
    const float a = operands[LANES], b = operands[COLUMNS + LANES], c = operands[2 * COLUMNS + LANES];
#define STORE_REAL(name, of_lanes, of_scalars) results[PROBED_##name * COLUMNS + LANES] = as_uint(of_scalars);
#define STORE_WORD(name, of_lanes, of_scalars) results[PROBED_##name * COLUMNS + LANES] = of_scalars;
    PROBED_REALS(STORE_REAL)
    PROBED_WORDS(STORE_WORD)
  }
}
