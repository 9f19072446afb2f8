/* The SIMD baseline's loops. simd_baseline_avx512.c and simd_baseline_avx2.c define the vector types, then include this
 * file. */
#include "simd_baseline.h"
#include "simd_baseline_ray.h"

#define BLOCK (6 * WIDTH) /* floats in a block */
/* 1 + 2^-21 and 1 - 2^-21 */
#define WIDEN_UP 0x1.000008p+0f
#define WIDEN_DOWN 0x1.fffffp-1f
#define FORCE_INLINE static inline __attribute__((always_inline))

/* ---- the exact test, for blocks with boxes that the reject keeps ---- */

FORCE_INLINE int row_near(uint32_t octant, int i) { return (octant >> i & 1) != 0 ? i + 3 : i; }
FORCE_INLINE int row_far(uint32_t octant, int i) { return (octant >> i & 1) != 0 ? i : i + 3; }

/* Scalar, since mostly a single box comes here. The box is tested in full and kept if it is the best so far. Boxes come
 * in ascending order, so the lowest primitive of equal t stays. Selects instead of branches. */
static inline void box_test(const float *box, uint32_t primitive, state *s) {
  float lo = -INFINITY, leave = INFINITY;
  for (int i = 0; i < 3; i++) {
    const float enter = (box[WIDTH * row_near(s->octant, i)] - s->origin[i]) * s->inverse[i];
    const float exit = (box[WIDTH * row_far(s->octant, i)] - s->origin[i]) * s->inverse[i];
    lo = enter > lo ? enter : lo;
    leave = exit < leave ? exit : leave;
  }
  const float up = leave * WIDEN_UP, down = leave * WIDEN_DOWN;
  const float widened = up > down ? up : down, enter = lo > s->t_min ? lo : s->t_min;
  const float hi = leave > lo ? leave : lo, t = lo >= s->t_min ? lo : hi;
  const int hit = (enter <= widened) & (enter <= s->limit) & (t >= s->t_min) & (t <= s->limit);
  const int better = hit & ((t < s->limit) | (s->primitive == SLAB_MISS));
  s->limit = better ? t : s->limit;
  s->primitive = better ? primitive : s->primitive;
}

/* Tests the boxes whose bits are set: box i is lane i % WIDTH of block i / WIDTH. */
static inline void boxes_test(const float *block, uint64_t bits, uint32_t first, slab_query query, state *s) {
  for (; bits != 0; bits &= bits - 1) {
    const uint32_t i = (uint32_t)__builtin_ctzll(bits);
    box_test(block + i / WIDTH * BLOCK + i % WIDTH, first + i, s);
    if (query == SLAB_ANY && s->primitive != SLAB_MISS) {
      s->live = 0;
      return;
    }
  }
}

/* ---- the conservative reject: most boxes need no other test ---- */

/* A ray in all lanes. The origin is the first operand of the subtraction, so that the plane can be a memory operand: o
 * - p is exactly -(p - o). The signs of the reciprocals are inverted to compensate. */
typedef struct reject {
  vec origin[3], enter[3], leave[3], t_min;
} reject;

/* With t_min >= 0 only boxes with leave >= 0 can be hit. There (1 + 2^-21) * leave is at most the result with the
 * reciprocal times 1 + 2^-19, since roundings are 2^-24 each. So the widening needs no extra operation and no hit is
 * lost. */
FORCE_INLINE reject reject_begin(const state *s) {
  reject v;
  for (int i = 0; i < 3; i++) {
    v.origin[i] = vec_all(s->origin[i]);
    v.enter[i] = vec_all(-s->inverse[i]);
    v.leave[i] = vec_all(-s->inverse[i] * 0x1.00002p+0f);
  }
  v.t_min = vec_all(s->t_min);
  return v;
}

FORCE_INLINE lanes reject_block(const reject *v, const float *block, vec limit, uint32_t octant) {
  vec enter = v->t_min, leave = limit;
  for (int i = 0; i < 3; i++) {
    const vec near = vec_load(block + WIDTH * row_near(octant, i)), far = vec_load(block + WIDTH * row_far(octant, i));
    enter = vec_max(vec_mul(vec_sub(v->origin[i], near), v->enter[i]), enter);
    leave = vec_min(vec_mul(vec_sub(v->origin[i], far), v->leave[i]), leave);
  }
  return vec_le(enter, leave);
}

FORCE_INLINE void scan_octant(const float *rows, uint32_t blocks, uint32_t first, slab_query query, state *given,
                              uint32_t octant) {
  const reject v = reject_begin(given);
  const float *const end = rows + (size_t)blocks * BLOCK;
  vec limit = vec_all(given->limit);
  for (const float *block = rows; block != end; block += SIMD_BASELINE_UNROLLED * BLOCK) {
    lanes left[SIMD_BASELINE_UNROLLED];
    for (int j = 0; j < SIMD_BASELINE_UNROLLED; j++) left[j] = reject_block(&v, block + j * BLOCK, limit, octant);
    if (lanes_none(lanes_or(lanes_or(left[0], left[1]), lanes_or(left[2], left[3])))) continue;
    uint64_t bits = 0;
    for (int j = 0; j < SIMD_BASELINE_UNROLLED; j++) bits |= (uint64_t)lanes_mask(left[j]) << (j * WIDTH);
    boxes_test(block, bits, first + (uint32_t)((size_t)(block - rows) / BLOCK * WIDTH), query, given);
    if (!given->live) return;
    limit = vec_all(given->limit);
  }
}

/* Tests ranges that begin behind the origin without the reject, which requires t_min >= 0. */
static void scan_exactly(const float *rows, uint32_t blocks, uint32_t first, slab_query query, state *s) {
  for (uint32_t b = 0; b < blocks && s->live; b++)
    boxes_test(rows + (size_t)b * BLOCK, (1u << WIDTH) - 1, first + b * WIDTH, query, s);
}

/* One loop for each octant, so that the rows are constants in it. */
static void scan(const float *rows, uint32_t blocks, uint32_t first, slab_query query, state *s) {
  if (s->t_min < 0.0f) {
    scan_exactly(rows, blocks, first, query, s);
    return;
  }
#define SCAN_OCTANT(N)                             \
  case N:                                          \
    scan_octant(rows, blocks, first, query, s, N); \
    break
  switch (s->octant) {
    SCAN_OCTANT(0);
    SCAN_OCTANT(1);
    SCAN_OCTANT(2);
    SCAN_OCTANT(3);
    SCAN_OCTANT(4);
    SCAN_OCTANT(5);
    SCAN_OCTANT(6);
    SCAN_OCTANT(7);
  }
#undef SCAN_OCTANT
}

static void cast(const simd_baseline_boxes *boxes, slab_query query, const slab_ray *rays, uint32_t count,
                 simd_baseline_answer *answers) {
  state states[SIMD_BASELINE_GROUP];
  uint8_t order[SIMD_BASELINE_GROUP];
  for (uint32_t i = 0; i < count; i++) states[i] = state_begin(&rays[i]);
  const uint32_t live = sort_by_octant(states, count, order);
  for (uint32_t b = 0; b < boxes->blocks; b += SIMD_BASELINE_TILE) {
    const uint32_t left = boxes->blocks - b, blocks = left < SIMD_BASELINE_TILE ? left : SIMD_BASELINE_TILE;
    for (uint32_t i = 0; i < live; i++) {
      state *s = &states[order[i]];
      if (s->live) scan(boxes->rows + (size_t)b * BLOCK, blocks, b * WIDTH, query, s);
    }
  }
  for (uint32_t i = 0; i < count; i++) answers[i] = state_end(&states[i]);
}

/* ---- the ceiling ---- */

/* The operations of reject_block on registers whose values the compiler does not know. */
static void arithmetic(uint64_t blocks) {
  vec plane[6], origin[3], inverse[3], t_min = vec_all(0.0f), limit = vec_all(1.0f);
  for (int i = 0; i < 6; i++) plane[i] = vec_all((float)i);
  for (int i = 0; i < 3; i++) {
    origin[i] = vec_all(0.5f);
    inverse[i] = vec_all(1.5f);
    vec_opaque(origin[i]);
    vec_opaque(inverse[i]);
  }
  vec_opaque(t_min);
  vec_opaque(limit);
  for (uint64_t b = 0; b < blocks; b++) {
    vec enter = t_min, leave = limit;
    for (int i = 0; i < 6; i++) vec_opaque(plane[i]);
    for (int i = 0; i < 3; i++) {
      enter = vec_max(vec_mul(vec_sub(origin[i], plane[i]), inverse[i]), enter);
      leave = vec_min(vec_mul(vec_sub(origin[i], plane[i + 3]), inverse[i]), leave);
    }
    const lanes hit = vec_le(enter, leave);
    lanes_used(hit);
  }
}

extern const simd_baseline SIMD_BASELINE;
const simd_baseline SIMD_BASELINE = {SIMD_BASELINE_NAME, WIDTH, cast, arithmetic};
