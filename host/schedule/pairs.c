/* slab_pairs: intersects ray i with shape i, without a scene. */
#include "base/arithmetic.h"
#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "maths/primitive.h"
#include "record/device.h"
#include "shapes/primitive.h"

/* Refuses, by index, a shape that a scene would refuse, before anything is computed. */
static slab_status check_shapes(slab_shape kind, const float *shapes, size_t n) {
  const size_t floats = primitive_floats(kind);
  for (size_t i = 0; i < n; i++) {
    float value;
    const char *why = primitive_refusal(kind, shapes + i * floats, &value);
    if (why != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_pairs: shape %zu: %s (%g)", i, why, (double)value);
  }
  return SLAB_OK;
}

static slab_status check_pairs(const slab_context *context, slab_shape kind, const slab_ray *rays, const void *shapes,
                               size_t n, const slab_interval *intervals) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_pairs: context is NULL");
  if ((unsigned)kind >= SLAB_SHAPE_COUNT)
    return fail(SLAB_INVALID_ARGUMENT, "slab_pairs: kind is %d, not a slab_shape", (int)kind);
  if (n >= SLAB_INVALID) return fail(SLAB_INVALID_ARGUMENT, "slab_pairs: %zu pairs, at most %u", n, SLAB_INVALID - 1);
  if (n > 0 && (rays == NULL || shapes == NULL || intervals == NULL))
    return fail(SLAB_INVALID_ARGUMENT, "slab_pairs: %s is NULL",
                rays == NULL     ? "rays"
                : shapes == NULL ? "shapes"
                                 : "intervals");
  return context_check_process(context, "slab_pairs");
}

slab_status slab_pairs(slab_context *context, slab_shape kind, const slab_ray *rays, const void *shapes, size_t n,
                       slab_interval *intervals) {
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_pairs(context, kind, rays, shapes, n, intervals);
  if (status == SLAB_OK && n > 0) status = check_shapes(kind, shapes, n);
  if (status != SLAB_OK || n == 0) return status;
  device *d = &context->devices[0];
  return d->backend->pairs(d, kind, rays, shapes, n, intervals);
}
