/* What a call of one ray raises of the floating-point flags: inexact, and nothing more for a ray that is like most. The
 * caller never sees a flag, but taking one back takes as long as a quarter of the call (host/base/arithmetic.h). So the
 * test looks from within: it has the library's private functions, and calls what the public ones call. */
#include <fenv.h>

#include "harness.h"
#include "scene/scene.h"
#include "schedule/scheduler.h"
#include "work/uniforms.h"

enum { SIDE = 40, RAYS = 2000 };

/* A bumpy square of triangles, enough for a BVH. */
static slab_scene *bumps(slab_context *context, random_state *random) {
  static float vertices[(SIDE + 1) * (SIDE + 1) * 3];
  static uint32_t indices[SIDE * SIDE * 6];
  uint32_t *next = indices;
  for (uint32_t i = 0; i < (SIDE + 1) * (SIDE + 1); i++) {
    vertices[3 * i] = (float)(i % (SIDE + 1)) - SIDE / 2;
    vertices[3 * i + 1] = (float)(i / (SIDE + 1)) - SIDE / 2;
    vertices[3 * i + 2] = random_between(random, -1, 1);
  }
  for (uint32_t y = 0; y < SIDE; y++)
    for (uint32_t x = 0; x < SIDE; x++) {
      const uint32_t a = y * (SIDE + 1) + x, b = a + 1, c = a + SIDE + 1, d = c + 1;
      const uint32_t corners[6] = {a, b, c, b, d, c};
      for (int k = 0; k < 6; k++) *next++ = corners[k];
    }
  const slab_mesh mesh = {.vertices = vertices,
                          .vertex_count = (SIDE + 1) * (SIDE + 1),
                          .indices = indices,
                          .triangle_count = SIDE * SIDE * 2};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

/* The flags that a call raises, but for inexact. */
static int raised(slab_scene *scene, slab_query query, const slab_ray *ray) {
  slab_hit result;
  arithmetic callers;
  cast c = {.function = "raised",
            .scene = atomic_load(&scene->committed),
            .query = query,
            .rays = ray,
            .n = 1,
            .results = &result,
            .result_size = slab_result_size(query),
            .progress_total = 1,
            .callers = &callers};
  feclearexcept(FE_ALL_EXCEPT);
  assert_ok(schedule_rays(&c));
  return fetestexcept(FE_ALL_EXCEPT & ~FE_INEXACT);
}

static void call_of_one_ray_raises_inexact_alone(void **state) {
  static const slab_query queries[] = {SLAB_CLOSEST, SLAB_ANY, SLAB_NEAREST, SLAB_DISTANCE, SLAB_COUNT};
  random_state random = harness_seeded("call_of_one_ray_raises_inexact_alone");
  slab_context *context = harness_context();
  (void)state;
  slab_scene *scene = bumps(context, &random);
  for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
    int more = 0;
    for (int i = 0; i < RAYS; i++) {
      const slab_ray ray = {
          {random_between(&random, -25, 25), random_between(&random, -25, 25), random_between(&random, -5, 5)},
          0,
          {random_between(&random, -1, 1), random_between(&random, -1, 1), random_between(&random, -1, 1)},
          INFINITY};
      more += raised(scene, queries[q], &ray) != 0;
    }
    if (more > 0) fail_msg("query %d: %d of %d rays raise more", (int)queries[q], more, RAYS);
  }
  const slab_ray upright = {{0.5f, 0.25f, 9}, 0, {0, 0, -1}, INFINITY}; /* so the test sees what is raised */
  assert_int_equal(raised(scene, SLAB_ANY, &upright) & FE_DIVBYZERO, FE_DIVBYZERO);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(call_of_one_ray_raises_inexact_alone)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
