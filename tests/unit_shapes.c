#include "unit_shapes.h"

#include <math.h>

const unit_shape unit_shapes[UNIT_SHAPES] = {
    {SLAB_BOX, 1, 4, {-1, -1, -1, 1, 1, 1}},
    {SLAB_SPHERE, 1, 0, {0, 0, 0, 1}},
    {SLAB_OBB, 1, 4, {0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}},
    {SLAB_PLANE, 0, 0, {0, 0, -1, 1}},
    {SLAB_TRIANGLE, 0, 0, {-4, -4, -1, 0, 4, -1, 4, -4, -1}},
};

slab_ray unit_shape_ray(float z, float t_min, float t_max) { return (slab_ray){{0, 0, z}, t_min, {0, 0, 1}, t_max}; }

/* Weights of (0, 0) in the triangle: half of b, a quarter each of a and c. */
expect_want unit_shape_near(const unit_shape *s, float t, float enter, float leave) {
  expect_want want = {t, {0, 0, -1}, s->face, 0, enter, leave};
  if (s->kind == SLAB_TRIANGLE) {
    want.u = 0.5f;
    want.v = 0.25f;
  }
  return want;
}

expect_want unit_shape_far(const unit_shape *s, float t, float enter, float leave) {
  return (expect_want){t, {0, 0, 1}, s->face > 0 ? s->face + 1 : 0, 0, enter, leave};
}

expect_want unit_shape_inside(float enter, float leave) {
  return (expect_want){INFINITY, {0, 0, 0}, 0, 0, enter, leave};
}

void unit_shape_check(void **state, const unit_shape *s, slab_ray ray, expect_want want) {
  const expect_row row = {ray, want};
  expect_ray(*state, s->kind, s->shape, &row, NULL, 0);
}

slab_scene *unit_shape_scene(slab_context *context) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  for (int k = 0; k < UNIT_SHAPES; k++) assert_ok(shape_add(scene, unit_shapes[k].kind, unit_shapes[k].shape, 1, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}
