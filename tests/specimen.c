#include "specimen.h"

#include <math.h>

const specimen specimens[SPECIMENS] = {
    {SLAB_BOX, 1, 4, {-1, -1, -1, 1, 1, 1}},
    {SLAB_SPHERE, 1, 0, {0, 0, 0, 1}},
    {SLAB_OBB, 1, 4, {0, 0, 0, 1, 1, 1, 1, 0, 0, 0, 1, 0, 0, 0, 1}},
    {SLAB_PLANE, 0, 0, {0, 0, -1, 1}},
    {SLAB_TRIANGLE, 0, 0, {-4, -4, -1, 0, 4, -1, 4, -4, -1}},
};

slab_ray specimen_ray(float z, float t_min, float t_max) { return (slab_ray){{0, 0, z}, t_min, {0, 0, 1}, t_max}; }

/* Weights of (0, 0) in the triangle: half of b, a quarter each of a and c. */
expect_want specimen_near(const specimen *s, float t, float enter, float leave) {
  expect_want want = {t, {0, 0, -1}, s->face, 0, enter, leave};
  if (s->kind == SLAB_TRIANGLE) {
    want.u = 0.5f;
    want.v = 0.25f;
  }
  return want;
}

expect_want specimen_far(const specimen *s, float t, float enter, float leave) {
  return (expect_want){t, {0, 0, 1}, s->face > 0 ? s->face + 1 : 0, 0, enter, leave};
}

expect_want specimen_inside(float enter, float leave) { return (expect_want){INFINITY, {0, 0, 0}, 0, 0, enter, leave}; }

void specimen_check(void **state, const specimen *s, slab_ray ray, expect_want want) {
  const expect_row row = {ray, want};
  expect_ray(*state, s->kind, s->shape, &row, NULL, 0);
}

slab_scene *specimen_scene(slab_context *context) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  for (int k = 0; k < SPECIMENS; k++) assert_ok(shape_add(scene, specimens[k].kind, specimens[k].shape, 1, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}
