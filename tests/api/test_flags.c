/* The bits that the helpers compute do not depend on the caller's compiler flags. callers_flags.c is compiled with
 * flags that could change them, this file with the project's own. */
#include "callers_flags.h"
#include "harness.h"

enum { ROUNDS = 20000 };

static void fill(random_state *random, float *values, size_t n) {
  for (size_t i = 0; i < n; i++) values[i] = random_between(random, -10, 10);
}

static void ray_of_a_pixel_has_one_set_of_bits(void **state) {
  (void)state;
  random_state random = harness_seeded("ray_of_a_pixel_has_one_set_of_bits");
  for (int round = 0; round < ROUNDS; round++) {
    slab_camera c;
    fill(&random, c.origin, 3);
    fill(&random, c.forward, 3);
    fill(&random, c.right, 3);
    fill(&random, c.up, 3);
    const uint32_t width = 1 + random_below(&random, 4000), height = 1 + random_below(&random, 4000);
    const uint32_t x = random_below(&random, width), y = random_below(&random, height);
    const float sx = (2.0f * (float)x + 1.0f) / (float)width - 1.0f;
    const float sy = 1.0f - (2.0f * (float)y + 1.0f) / (float)height;
    slab_ray want = {.t_max = INFINITY};
    for (int i = 0; i < 3; i++) {
      want.origin[i] = c.origin[i];
      want.direction[i] = c.forward[i] + (sx * c.right[i] + sy * c.up[i]);
    }
    const slab_ray got = flagged_camera_ray(&c, x, y, width, height), ours = slab_camera_ray(&c, x, y, width, height);
    assert_same_bits(&ours, &want, 1, sizeof want);
    assert_same_bits(&got, &want, 1, sizeof want);
  }
}

static void helpers_have_one_set_of_bits(void **state) {
  (void)state;
  random_state random = harness_seeded("helpers_have_one_set_of_bits");
  for (int round = 0; round < ROUNDS; round++) {
    float a[3], b[3], point[3], at[3];
    fill(&random, a, 3);
    fill(&random, b, 3);
    const float t = random_between(&random, -10, 10);
    slab_ray segment = {.t_max = 1.0f}, ray = {.t_max = INFINITY};
    slab_plane plane = {.offset = (b[0] * a[0] + b[1] * a[1]) + b[2] * a[2]};
    for (int i = 0; i < 3; i++) {
      segment.origin[i] = ray.origin[i] = a[i];
      segment.direction[i] = b[i] - a[i];
      plane.normal[i] = ray.direction[i] = b[i];
      at[i] = a[i] + t * b[i];
    }
    const slab_ray got_segment = flagged_segment(a, b);
    const slab_plane got_plane = flagged_plane_through(a, b);
    flagged_point_at(&ray, t, point);
    assert_same_bits(&got_segment, &segment, 1, sizeof segment);
    assert_same_bits(&got_plane, &plane, 1, sizeof plane);
    assert_same_bits(point, at, 1, sizeof point);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ray_of_a_pixel_has_one_set_of_bits),
      cmocka_unit_test(helpers_have_one_set_of_bits),
  };
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("fma")) {
    print_message("skipped: this processor has no fma, which the caller's code needs\n");
    return 77;
  }
#endif
  return cmocka_run_group_tests(tests, NULL, NULL);
}
