/* The scale of instances whose transforms are rigid but for it, and the first geometry of those that are not. */
#include <math.h>
#include <string.h>

#include "harness.h"
/* cmocka has a macro fail(). */
#undef fail
#include "scene/scene.h"
#include "scene/transforms.h"

/* A rotation of a random quaternion, mirrored or not, times s. */
static void random_rotation(random_state *random, double s, double a[9]) {
  double q[4], square = 0.0;
  for (int i = 0; i < 4; i++) {
    q[i] = random_between(random, -1, 1);
    square += q[i] * q[i];
  }
  for (int i = 0; i < 4; i++) q[i] /= sqrt(square);
  const double w = q[0], x = q[1], y = q[2], z = q[3];
  const double r[9] = {1 - 2 * (y * y + z * z), 2 * (x * y - w * z),     2 * (x * z + w * y),
                       2 * (x * y + w * z),     1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                       2 * (x * z - w * y),     2 * (y * z + w * x),     1 - 2 * (x * x + y * y)};
  for (int i = 0; i < 9; i++) a[i] = s * r[i];
  const bool mirrored = random_below(random, 2) != 0;
  for (int i = 0; i < 3; i++) a[i] = mirrored ? -a[i] : a[i];
}

static void transform_of(const double a[9], float t[12]) {
  for (int i = 0; i < 12; i++) t[i] = i % 4 == 3 ? (float)(i - 5) : (float)a[i / 4 * 3 + i % 4];
}

static float scale_of(const double a[9]) {
  float t[12];
  double value;
  instance_entry made = {.model = 0};
  transform_of(a, t);
  assert_null(transform_refusal(t, &made, &value));
  return made.scale;
}

static void rotations_have_their_scale(void **state) {
  random_state random = harness_seeded("rotations_have_their_scale");
  (void)state;
  for (int i = 0; i < 10000; i++) {
    double a[9];
    const double s = ldexp(random_between(&random, 1, 2), (int)random_below(&random, 100) - 50);
    random_rotation(&random, s, a);
    assert_true(fabs((double)scale_of(a) / s - 1.0) < 1e-7);
  }
  const double identity[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, swapped[9] = {0, 0, -3, 3, 0, 0, 0, 3, 0};
  assert_true(scale_of(identity) == 1.0f && scale_of(swapped) == 3.0f);
}

/* Row i longer by e: the mean square is larger by 2 e / 3, so the row's own is off by 4 e / 3. Row i turned towards row
 * j by e: their product is e. Either is kept up to 1e-5. */
static void skew_transforms_have_none(void **state) {
  random_state random = harness_seeded("skew_transforms_have_none");
  (void)state;
  for (int n = 0; n < 10000; n++) {
    double a[9], stretched[9], turned[9];
    const double sign = n % 2 != 0 ? 1.0 : -1.0, s = ldexp(1.0, (int)random_below(&random, 41) - 20);
    const bool beyond = random_below(&random, 2) != 0;
    const int i = (int)random_below(&random, 3), j = (i + 1 + (int)random_below(&random, 2)) % 3;
    random_rotation(&random, s, a);
    memcpy(stretched, a, sizeof a);
    memcpy(turned, a, sizeof a);
    for (int k = 0; k < 3; k++) {
      stretched[3 * i + k] *= 1.0 + sign * (beyond ? 8.0e-6 : 7.0e-6);
      turned[3 * i + k] += sign * (beyond ? 1.06e-5 : 0.94e-5) * a[3 * j + k];
    }
    assert_true((scale_of(stretched) == 0.0f) == beyond);
    assert_true((scale_of(turned) == 0.0f) == beyond);
  }
}

static const snapshot *committed(slab_scene *scene) { return atomic_load(&scene->committed); }

static void assert_skewed(slab_scene *scene, uint32_t geometry) {
  assert_ok(slab_scene_commit(scene, NULL));
  assert_int_equal(committed(scene)->skewed, geometry);
}

static void the_first_skew_instance_is_known(void **state) {
  static const float rigid[12] = {0, -2, 0, 1, 2, 0, 0, 1, 0, 0, 2, 1}, skew[12] = {1, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1, 0};
  const slab_sphere sphere = {{0, 0, 0}, 1};
  uint32_t first, second, third;
  float both[24];
  (void)state;
  slab_context *context = harness_context();
  slab_scene *model = harness_scene(context), *middle = harness_scene(context), *scene = harness_scene(context);
  assert_ok(slab_scene_add_spheres(model, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_add_spheres(model, &sphere, 1, NULL, NULL));
  assert_skewed(model, SLAB_MISS);
  memcpy(both, rigid, sizeof rigid);
  memcpy(both + 12, skew, sizeof skew);
  assert_ok(slab_scene_add_spheres(middle, &sphere, 1, NULL, NULL));
  assert_ok(slab_scene_add_instances(middle, model, rigid, 1, NULL, &first));
  assert_skewed(middle, SLAB_MISS);
  assert_ok(slab_scene_add_instances(middle, model, both, 2, NULL, &second)); /* of two geometries each */
  assert_skewed(middle, second + 2);
  assert_ok(slab_scene_add_instances(scene, middle, rigid, 1, NULL, &third));
  assert_skewed(scene, third + second + 2);
  assert_ok(slab_scene_enable(scene, third, 0)); /* nobody finds it there */
  assert_skewed(scene, SLAB_MISS);
  assert_ok(slab_scene_enable(scene, third, 1));
  assert_skewed(scene, third + second + 2);
  memcpy(both + 12, rigid, sizeof rigid);
  assert_ok(slab_scene_update_instances(middle, second, both, 2));
  assert_skewed(middle, SLAB_MISS);
  assert_skewed(scene, SLAB_MISS); /* its model was committed anew */
  slab_scene_destroy(scene);
  slab_scene_destroy(middle);
  slab_scene_destroy(model);
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rotations_have_their_scale),
      cmocka_unit_test(skew_transforms_have_none),
      cmocka_unit_test(the_first_skew_instance_is_known),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
