/* Ranks of a node's children, by the t where they are entered: the upper sixteen bits of a float without the sign. The
 * least of eight such numbers is one instruction on x86. So children are kept unsorted, and the next of them is
 * searched each time, without unpredictable branches. */
#ifndef WALK_RANKS_H
#define WALK_RANKS_H

#include "data/types.h"
#include "lanes/lanes.h"

#define RANK_NONE 0xFFFFu

/* The least of eight ranks, and its index in bits 16 to 18. */
#if defined(__clang__) && defined(__SSE4_1__)
INLINE uint rank_least(ushort8 v) {
  typedef short eight __attribute__((vector_size(16)));
  return as_uint4(__builtin_ia32_phminposuw128((eight)as_short8(v))).x;
}
#else
INLINE uint rank_least(ushort8 v) {
  const uint8 all = convert_uint8(v) << 3 | (uint8)(0, 1, 2, 3, 4, 5, 6, 7);
  const uint4 four = min(all.lo, all.hi);
  const uint2 two = min(four.lo, four.hi);
  const uint least = min(two.x, two.y);
  return (least & 7) << 16 | least >> 3;
}
#endif

/* Floats from 0 on have the order of their bits. A child that is entered below 0, in a range that begins below 0,
 * counts as entered at 0. */
INLINE uint8 ranks_entered(float8 enter) { return as_uint8(max(as_int8(enter), 0)) >> 15; }

/* The greatest rank of children that are entered at limit or before. A limit below 0 drops no child. */
INLINE uint rank_last(float limit) { return as_uint(limit) >> 15; }

/* The ranks of the children that are overlapped; RANK_NONE of the others. */
INLINE ushort8 ranks_of(uint8 rank, int8 overlapped) {
  const int8 told = overlapped ? as_int8(rank) : INT_MAX; /* saturates to RANK_NONE */
#if defined(__clang__) && defined(__SSE4_1__)
  typedef int four __attribute__((vector_size(16)));
  return as_ushort8(__builtin_ia32_packusdw128((four)told.lo, (four)told.hi));
#else
  return convert_ushort8_sat(told);
#endif
}

/* For each child, the word that takes it out of those that are left. */
constant ushort8 rank_taken[BVH_WIDTH] = {
    (ushort8)(RANK_NONE, 0, 0, 0, 0, 0, 0, 0), (ushort8)(0, RANK_NONE, 0, 0, 0, 0, 0, 0),
    (ushort8)(0, 0, RANK_NONE, 0, 0, 0, 0, 0), (ushort8)(0, 0, 0, RANK_NONE, 0, 0, 0, 0),
    (ushort8)(0, 0, 0, 0, RANK_NONE, 0, 0, 0), (ushort8)(0, 0, 0, 0, 0, RANK_NONE, 0, 0),
    (ushort8)(0, 0, 0, 0, 0, 0, RANK_NONE, 0), (ushort8)(0, 0, 0, 0, 0, 0, 0, RANK_NONE)};

#endif
