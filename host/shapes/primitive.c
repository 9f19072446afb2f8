/* Checks the caller's primitives and converts them for storage. Values are the floats of the public struct, in the
 * order of its members. */
#include <math.h>
#include <string.h>

#include "base/per_processor.h"
#include "maths/primitive.h"
#include "shapes/primitive.h"

/* shapes.def and the public types name the same kinds, with the same structs. */
#define SAME_AS_PUBLIC(shape, name, names, noun, floats, form, place, source)               \
  _Static_assert(sizeof(slab_##name) == (floats) * sizeof(float), "floats of slab_" #name); \
  _Static_assert((shape) < SLAB_SHAPE_COUNT, "slab_" #name " is beyond the number of slab_shapes");
SHAPES(SAME_AS_PUBLIC)
#undef SAME_AS_PUBLIC
#define ONE_KIND(shape, name, names, noun, floats, form, place, source) | 1u << (shape)
_Static_assert((0u SHAPES(ONE_KIND)) == (1u << SLAB_SHAPE_COUNT) - 1, "shapes.def lacks a slab_shape");
#undef ONE_KIND

static bool all_within(const float *values, size_t count, float bound, float *offending) {
  for (size_t i = 0; i < count; i++)
    if (!is_within(values[i], bound)) {
      *offending = values[i];
      return false;
    }
  return true;
}

static const char *plane_refusal(const float *v, float *value) {
  if (!all_within(v, 3, FLOAT_MAX, value)) return "normal is not finite";
  if (!all_within(v + 3, 1, FLOAT_MAX, value)) return "offset is not finite";
  *value = 0.0f;
  return v[0] == 0.0f && v[1] == 0.0f && v[2] == 0.0f ? "normal is zero" : NULL;
}

static const char *sphere_refusal(const float *v, float *value) {
  if (!all_within(v, 3, COORDINATE_MAX, value)) return "centre is not finite or beyond 2^60";
  *value = v[3];
  return v[3] >= 0.0f && v[3] <= COORDINATE_MAX ? NULL : "radius is negative, not finite or beyond 2^60";
}

/* axes * transpose(axes) within 1e-5 of the identity. */
static const char *obb_refusal(const float *v, float *value) {
  if (!all_within(v, 3, COORDINATE_MAX, value)) return "centre is not finite or beyond 2^60";
  for (int i = 0; i < 3; i++) {
    *value = v[3 + i];
    if (!(v[3 + i] >= 0.0f && v[3 + i] <= COORDINATE_MAX)) return "half size is negative, not finite or beyond 2^60";
  }
  if (!all_within(v + 6, 9, 2.0f, value)) return "axes are not orthonormal within 1e-5";
  for (int i = 0; i < 3; i++)
    for (int j = i; j < 3; j++) {
      const float *a = v + 6 + 3 * i, *b = v + 6 + 3 * j;
      double product = (double)a[0] * b[0] + (double)a[1] * b[1] + (double)a[2] * b[2];
      *value = (float)product;
      if (fabs(product - (i == j ? 1.0 : 0.0)) > 1e-5) return "axes are not orthonormal within 1e-5";
    }
  return NULL;
}

const char *primitive_refusal(slab_shape kind, const float *values, float *value) {
  switch (kind) {
    case SLAB_PLANE:
      return plane_refusal(values, value);
    case SLAB_SPHERE:
      return sphere_refusal(values, value);
    case SLAB_OBB:
      return obb_refusal(values, value);
    case SLAB_TRIANGLE:
      return all_within(values, 9, COORDINATE_MAX, value) ? NULL : "vertex is NaN, infinite or beyond 2^60";
    case SLAB_BOX:
      break;
  }
  return NULL;
}

/* A void triangle is an edge, to and fro, so it is collapsed. All of it lies beyond TRIANGLE_IS_VOID's border, and yet
 * edge functions stay within the range of float. Origins do not count there: a ray is a candidate where its direction
 * lies in the plane of the edge and 0, exactly. No direction of small whole numbers does. */
static const float voids[SLAB_SHAPE_COUNT][FLOATS_MOST] = {
    [SLAB_PLANE] = {0.0f}, /* a zero normal */
    [SLAB_SPHERE] = {[3] = NAN},
    [SLAB_BOX] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY},
    [SLAB_OBB] = {[3] = -INFINITY, -INFINITY, -INFINITY, [6] = 1.0f, [10] = 1.0f, [14] = 1.0f},
    [SLAB_TRIANGLE] = {0x1.3a7c52p60f, 0x1.d59168p60f, 0x1.78d4b6p60f, 0x1.dfb41ap60f, 0x1.22f3d4p60f, 0x1.9f6e84p60f,
                       0x1.dfb41ap60f, 0x1.22f3d4p60f, 0x1.9f6e84p60f},
};

/* Instances are kept as their gates. */
static slab_shape form_of(slab_shape kind) { return kind == (slab_shape)SHAPE_INSTANCE ? SLAB_BOX : kind; }

void primitive_void(slab_shape kind, float *values) {
  kind = form_of(kind);
  memcpy(values, voids[kind], primitive_floats(kind) * sizeof *values);
}

/* Compares all bits. The first value is compared alone first: nearly all primitives differ in it. */
bool primitive_is_void(slab_shape kind, const float *values) {
  kind = form_of(kind);
  return memcmp(values, voids[kind], sizeof *values) == 0 &&
         memcmp(values, voids[kind], primitive_floats(kind) * sizeof *values) == 0;
}

bool primitive_is_never_hit(slab_shape kind, const float *values) {
  if (kind == SLAB_TRIANGLE)
    return triangle_is_collapsed(float4_load(values), float4_load(values + 3), float4_load(values + 6));
  return primitive_is_void(kind, values);
}

/* Scales a plane by a power of two so that the normal's largest component lies in [1, 2). This changes no answer,
 * because the sums and the quotient scale with it. If the offset overflows, no ray reaches the plane. */
static void plane_normalise(float *v) {
  float largest = fmaxf(fmaxf(fabsf(v[0]), fabsf(v[1])), fabsf(v[2]));
  int exponent = exponent_of(largest);
  for (int i = 0; i < 4; i++) v[i] = ldexpf(v[i], -exponent);
}

void primitive_normalise(slab_shape kind, float *values) {
  if (kind == SLAB_PLANE) plane_normalise(values);
  bool ordered = true;
  for (int i = 0; kind == SLAB_BOX && i < 3; i++) ordered = ordered && values[i] <= values[3 + i]; /* false for NaN */
  if (!ordered) primitive_void(kind, values);
}

void primitives_prepare(slab_shape kind, const float *shapes, size_t count, float *prepared) {
  const size_t floats = primitive_floats(kind);
  memcpy(prepared, shapes, count * floats * sizeof *prepared);
  for (size_t i = 0; i < count; i++) primitive_normalise(kind, prepared + i * floats);
}

/* ---- bounds ---- */

ALWAYS_INLINE void bounds_of(slab_shape kind, const float *v, float lower[3], float upper[3]) {
  if (kind == SLAB_BOX) {
    memcpy(lower, v, 3 * sizeof *v);
    memcpy(upper, v + 3, 3 * sizeof *v);
  }
  if (kind == SLAB_TRIANGLE) {
    triangle_rows rows;
    memcpy(&rows, v, sizeof rows);
    triangle_bounds(&rows, lower, upper);
    triangle_padded_bounds(lower, upper);
  }
  if (kind == SLAB_SPHERE) sphere_padded_bounds(v, v[3], lower, upper);
  if (kind == SLAB_OBB) {
    obb_lanes box;
    memcpy(&box, v, sizeof box);
    obb_padded_bounds(&box, lower, upper);
  }
}

WITH_FMA static void bounds_of_fma(slab_shape kind, const float *v, float lower[3], float upper[3]) {
  bounds_of(kind, v, lower, upper);
}

void primitive_bounds(slab_shape kind, const float *v, float lower[3], float upper[3]) {
  PER_PROCESSOR(bounds_of)(form_of(kind), v, lower, upper);
}

/* Boxes are their own padded bounds. */
static bool is_infinite_in_x_or_y(const float *v) {
  return !isfinite(v[0]) || !isfinite(v[1]) || !isfinite(v[3]) || !isfinite(v[4]);
}

bool primitive_is_outside(slab_shape kind, const float *values) {
  kind = form_of(kind);
#define OUTSIDE_BOUNDED false
#define OUTSIDE_UNBOUNDED true
#define OUTSIDE_EITHER is_infinite_in_x_or_y(values)
#define OUTSIDE_OF(shape, name, names, noun, floats, form, place, source) \
  if (kind == (shape)) return OUTSIDE_##place;
  SHAPES(OUTSIDE_OF)
#undef OUTSIDE_OF
  return false;
}

bool primitive_is_unbounded(slab_shape kind, const float *values) {
  return primitive_is_outside(kind, values) ||
         (form_of(kind) == SLAB_BOX && !(isfinite(values[2]) && isfinite(values[5])));
}

#define PLACED_BOUNDED 0
#define PLACED_UNBOUNDED 1
#define PLACED_EITHER 1
#define PLACED(shape, name, names, noun, floats, form, place, source) +(PLACED_##place << (shape))
#define LISTED(shape, name) +(1 << (shape))
_Static_assert((0 SHAPES(PLACED)) == (0 SHAPES_OUTSIDE(LISTED)), "the kinds that may stand outside");

static void grow_bounds(float *lower, float *upper, float from, float to) {
  if (from < *lower && isfinite(from)) *lower = from;
  if (to > *upper && isfinite(to)) *upper = to;
}

void primitive_grow(float lower[3], float upper[3], slab_shape kind, const float *v) {
  kind = form_of(kind);
  for (int i = 0; i < 3; i++) {
    if (kind == SLAB_SPHERE) grow_bounds(&lower[i], &upper[i], v[i] - v[3], v[i] + v[3]);
    if (kind == SLAB_BOX) grow_bounds(&lower[i], &upper[i], v[i], v[3 + i]);
    if (kind == SLAB_OBB) {
      float extent = fabsf(v[6 + i]) * v[3] + fabsf(v[9 + i]) * v[4] + fabsf(v[12 + i]) * v[5];
      grow_bounds(&lower[i], &upper[i], v[i] - extent, v[i] + extent);
    }
    for (int k = 0; kind == SLAB_TRIANGLE && k < 3; k++) grow_bounds(&lower[i], &upper[i], v[3 * k + i], v[3 * k + i]);
  }
}
