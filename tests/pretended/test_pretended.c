#include <stdlib.h>
#include "harness.h"
#include "mixed_fates.h"
#include "pretended.h"
#include "sets/answers.h"
static void casts(void **state) {
  (void)state;
  slab_device_info info[4];
  size_t n;
  assert_ok(slab_devices(info, 4, &n));
  for (size_t i = 0; i < n; i++) print_message("%s\n", info[i].name);
  const slab_context_options a = {.device = "0"}, b = {.device = "pretended"};
  slab_context *x, *y;
  assert_ok(slab_context_create(&a, &x));
  assert_ok(slab_context_create(&b, &y));
  slab_scene *s = mixed_fates_scene(x, 1), *t = mixed_fates_scene(y, 1);
  slab_ray *rays = mixed_rays(__func__, 1000);
  answers want = {0}, got = {0};
  assert_ok(answers_cast_all(&want, s, rays, 1000, NULL));
  assert_ok(answers_cast_all(&got, t, rays, 1000, NULL));
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    size_t first;
    assert_int_equal(answers_differ(&got, &want, (slab_query)q, &first), 0);
  }
  free(rays);
  answers_free(&want);
  answers_free(&got);
  slab_scene_destroy(s);
  slab_scene_destroy(t);
  slab_context_destroy(x);
  slab_context_destroy(y);
}
int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(casts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
