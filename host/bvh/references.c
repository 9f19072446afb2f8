/* References of primitives, as the builder takes them: clamped, and with their index. */
#include <math.h>

#include "bvh/parts.h"

/* NaN is not. */
static bool is_moderate(const reference *r) {
  const int4 xyz = {-1, -1, -1, 0};
  const int4 within = (r->side[0] >= float4_all(-COORDINATE_MOST)) & (r->side[1] <= float4_all(COORDINATE_MOST));
  return !int4_any(~within & xyz);
}

static void clamp_reference(const measure *m, reference *r) {
  r->tag |= REFERENCE_CLAMPED;
  for (int axis = 0; axis < 3; axis++) {
    r->lower[axis] = fminf(fmaxf(r->lower[axis], m->least[axis]), m->most[axis]);
    r->upper[axis] = fminf(fmaxf(r->upper[axis], m->least[axis]), m->most[axis]);
  }
}

void references_take(const builder *b, const uint32_t *primitives, uint32_t count, reference *to) {
  b->input->fill(b->input->argument, primitives, count, to);
  for (uint32_t i = 0; i < count; i++) {
    if (!is_moderate(&to[i])) clamp_reference(&b->measure, &to[i]);
    to[i].index = primitives[i]; /* last: a vector that is loaded from behind a part of it waits */
  }
}

void references_take_run(const builder *b, uint32_t first, uint32_t count, reference *to) {
  uint32_t primitives[BVH_FILL_MOST];
  for (uint32_t i = 0; i < count; i++) primitives[i] = first + i;
  references_take(b, primitives, count, to);
}
