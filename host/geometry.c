/* Checks the caller's primitives and converts them for storage. Values are the floats of the public struct, in the
 * order of its members. */
#include <math.h>
#include <string.h>

#include "geometry.h"
#include "primitive.h"

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

static const float voids[][OBB_ROWS] = {
    [SLAB_PLANE] = {0.0f}, /* a zero normal */
    [SLAB_SPHERE] = {[3] = NAN},
    [SLAB_BOX] = {INFINITY, INFINITY, INFINITY, -INFINITY, -INFINITY, -INFINITY},
    [SLAB_OBB] = {[3] = -INFINITY, -INFINITY, -INFINITY, [6] = 1.0f, [10] = 1.0f, [14] = 1.0f},
    [SLAB_TRIANGLE] = {0.0f}, /* no area */
};

void primitive_void(slab_shape kind, float *values) {
  memcpy(values, voids[kind], primitive_rows(kind) * sizeof *values);
}

/* Compares all bits. The first value is compared alone first: nearly all primitives differ in it. */
bool primitive_is_void(slab_shape kind, const float *values) {
  return memcmp(values, voids[kind], sizeof *values) == 0 &&
         memcmp(values, voids[kind], primitive_rows(kind) * sizeof *values) == 0;
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
