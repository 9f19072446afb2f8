/* The floating-point flags that a call of one ray raises: inexact, and no other for a ray that is like most. The caller
 * never sees a flag, but taking one back takes as long as a quarter of the call (host/base/arithmetic.h). So the test
 * looks from within: it has the library's private functions, and calls those that the public ones call. */
#include <xmmintrin.h>

#include "harness.h"
#include "scene/scene.h"
#include "schedule/scheduler.h"
#include "sets/scenes.h"
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

/* The flags that a call raises, but for inexact. By MXCSR: on Linux <fenv.h> leaves out that an operand was subnormal.
 */
static unsigned raised(slab_scene *scene, slab_query query, const slab_ray *ray) {
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
  _MM_SET_EXCEPTION_STATE(0);
  assert_ok(schedule_rays(&c));
  return _MM_GET_EXCEPTION_STATE() & ~(unsigned)_MM_EXCEPT_INEXACT;
}

/* How many of the rays through these bounds, a quarter of them longer on each side, raise more. */
static int raise_more(slab_scene *scene, slab_query query, const slab_scene_stats *bounds, random_state *random) {
  int more = 0;
  for (int i = 0; i < RAYS; i++) {
    slab_ray ray = {.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      const float beside = (bounds->upper[k] - bounds->lower[k]) / 4;
      ray.origin[k] = random_between(random, bounds->lower[k] - beside, bounds->upper[k] + beside);
      ray.direction[k] = random_between(random, -1, 1);
    }
    more += raised(scene, query, &ray) != 0;
  }
  return more;
}

static void no_query_raises_more(slab_scene *scene, const char *name, random_state *random) {
  static const slab_query queries[] = {SLAB_CLOSEST, SLAB_ANY, SLAB_NEAREST, SLAB_DISTANCE, SLAB_COUNT};
  slab_scene_stats bounds;
  assert_ok(slab_scene_info(scene, &bounds));
  for (size_t q = 0; q < sizeof queries / sizeof *queries; q++) {
    const int more = raise_more(scene, queries[q], &bounds, random);
    if (more > 0) fail_msg("%s, query %d: %d of %d rays raise more", name, (int)queries[q], more, RAYS);
  }
}

static void call_of_one_ray_raises_inexact_alone(void **state) {
  random_state random = harness_seeded("call_of_one_ray_raises_inexact_alone");
  slab_context *context = harness_context();
  (void)state;
  slab_scene *scene = bumps(context, &random);
  no_query_raises_more(scene, "bumps", &random);
  const slab_ray upright = {{0.5f, 0.25f, 9}, 0, {0, 0, -1}, INFINITY}; /* so the test sees raised flags */
  assert_int_equal(raised(scene, SLAB_ANY, &upright) & _MM_EXCEPT_DIV_ZERO, _MM_EXCEPT_DIV_ZERO);
  const slab_ray faint = {{0x1p-140f, 0.25f, 9}, 0, {0.1f, 0.1f, -1}, INFINITY};
  assert_int_equal(raised(scene, SLAB_ANY, &faint) & _MM_EXCEPT_DENORM, _MM_EXCEPT_DENORM);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* By brute force too, where they are few. Of spheres and oriented boxes a tenth to half of the rays raise more. */
static void so_at_generated_triangles_and_boxes(void **state) {
  static const char *const names[] = {"soup", "terrain", "torus", "hair", "boxes"};
  static const uint32_t counts[] = {3, 40, 1500};
  random_state random = harness_seeded("so_at_generated_triangles_and_boxes");
  slab_context *context = harness_context();
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
      scene_geometry geometry;
      slab_scene *scene = NULL;
      assert_int_equal(scene_build(names[i], counts[k], random_bits(&random), &geometry), 0);
      assert_ok(slab_scene_create(context, &scene));
      assert_ok(scene_geometry_add(scene, &geometry, NULL, NULL));
      assert_ok(slab_scene_commit(scene, NULL));
      scene_geometry_free(&geometry);
      no_query_raises_more(scene, names[i], &random);
      slab_scene_destroy(scene);
    }
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(call_of_one_ray_raises_inexact_alone),
                                     cmocka_unit_test(so_at_generated_triangles_and_boxes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
