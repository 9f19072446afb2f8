/* Detecting the order of rays and the rows in which they come, and sorting scattered rays. */
#include "work/ray_order.h"

#include <math.h>
#include <stdlib.h>

#include "harness.h"

enum { RAYS = 40009 };

static const float lower[3] = {-1.0f, 2.0f, 0.0f}, upper[3] = {3.0f, 2.5f, 100.0f};

static slab_ray ray_at(float x, float y, float z, float dx, float dy, float dz) {
  return (slab_ray){.origin = {x, y, z}, .direction = {dx, dy, dz}, .t_max = INFINITY};
}

/* From anywhere in the bounds to anywhere. Every 16th ray is outside or has odd numbers. */
static void scatter(random_state *random, slab_ray *rays) {
  static const float odd[] = {NAN, INFINITY, -INFINITY, -0.0f, 1e30f, -1e30f, 0x1p-149f};
  for (size_t i = 0; i < RAYS; i++) {
    float v[6];
    for (int k = 0; k < 3; k++) {
      v[k] = random_between(random, lower[k], upper[k]);
      v[3 + k] = random_between(random, -1.0f, 1.0f);
    }
    if (i % 16 == 0) v[random_below(random, 6)] = odd[random_below(random, sizeof odd / sizeof *odd)];
    rays[i] = ray_at(v[0], v[1], v[2], v[3], v[4], v[5]);
  }
}

static unsigned octant_of(const slab_ray *ray) {
  unsigned octant = 0;
  for (int k = 0; k < 3; k++) octant |= (unsigned)(ray->direction[k] < 0.0f) << k;
  return octant;
}

static void every_ray_is_there_once(void **state) {
  (void)state;
  random_state random = harness_seeded("every_ray_is_there_once");
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  unsigned char *seen = harness_space(RAYS);
  scatter(&random, rays);
  for (size_t n = 0; n <= RAYS; n = n < 40 ? n + 1 : n == RAYS ? n + 1 : RAYS) {
    uint32_t *sorted = rays_sorted(rays, n, lower, upper, 4);
    assert_non_null(sorted);
    for (size_t i = 0; i < n; i++) seen[i] = 0;
    for (size_t i = 0; i < n; i++) {
      assert_true(sorted[i] < n);
      assert_false(seen[sorted[i]]);
      seen[sorted[i]] = 1;
    }
    free(sorted);
  }
  free(seen);
  free(rays);
}

/* Sorted by octant. Within an octant, neighbours begin near each other: their mean distance is at most a quarter of
 * that before. */
static void neighbours_go_one_way_and_begin_near(void **state) {
  (void)state;
  random_state random = harness_seeded("neighbours_go_one_way_and_begin_near");
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  scatter(&random, rays);
  uint32_t *sorted = rays_sorted(rays, RAYS, lower, upper, 4);
  assert_non_null(sorted);
  double apart = 0.0, apart_before = 0.0;
  for (size_t i = 1; i < RAYS; i++) {
    const slab_ray *last = &rays[sorted[i - 1]], *next = &rays[sorted[i]];
    assert_true(octant_of(last) <= octant_of(next));
    if (i % 16 == 0 || sorted[i] % 16 == 0 || sorted[i - 1] % 16 == 0 || (i - 1) % 16 == 0) continue; /* odd rays */
    for (int k = 0; k < 3; k++) {
      apart += (double)fabsf(next->origin[k] - last->origin[k]) / (double)(upper[k] - lower[k]);
      apart_before += (double)fabsf(rays[i].origin[k] - rays[i - 1].origin[k]) / (double)(upper[k] - lower[k]);
    }
  }
  assert_true(apart > 0.0);
  assert_true(apart < 0.25 * apart_before);
  free(sorted);
  free(rays);
}

static void rays_alike_keep_their_order(void **state) {
  (void)state;
  enum { ALIKE = 5000 };
  static slab_ray rays[ALIKE];
  for (size_t i = 0; i < ALIKE; i++) rays[i] = ray_at(0.0f, 2.2f, 50.0f, i % 2 ? 1.0f : -1.0f, 0.0f, 0.0f);
  uint32_t *sorted = rays_sorted(rays, ALIKE, lower, upper, 4);
  assert_non_null(sorted);
  for (size_t i = 0; i < ALIKE; i++) assert_int_equal(sorted[i], i < ALIKE / 2 ? 2 * i + 1 : 2 * (i - ALIKE / 2));
  free(sorted);
}

/* An empty scene has empty bounds. */
static void bounds_may_be_none(void **state) {
  (void)state;
  static const float none[2][3] = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  random_state random = harness_seeded("bounds_may_be_none");
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  scatter(&random, rays);
  uint32_t *sorted = rays_sorted(rays, RAYS, none[0], none[1], 4);
  assert_non_null(sorted);
  for (size_t i = 1; i < RAYS; i++) assert_true(octant_of(&rays[sorted[i - 1]]) <= octant_of(&rays[sorted[i]]));
  free(sorted);
  free(rays);
}

/* ---- the order of rays ---------- */

/* Camera rays of a picture that is this many degrees wide. */
static void frame(slab_ray *rays, float degrees) {
  const float wide = 2.0f * tanf(degrees / 2 * 0.017453293f);
  for (size_t i = 0; i < RAYS; i++)
    rays[i] = ray_at(1.0f, 2.2f, 200.0f, wide * ((float)(i % 200) / 200.0f - 0.5f),
                     wide * ((float)(i / 200) / 200.0f - 0.5f), -1.0f);
}

/* The same of 40 degrees along a Morton curve through 256 x 256 pixels. */
static void frame_in_tiles(slab_ray *rays) {
  for (uint32_t i = 0; i < RAYS; i++) {
    uint32_t at[2] = {0, 0};
    for (uint32_t bit = 0; bit < 16; bit++) at[bit % 2] |= (i >> bit & 1) << bit / 2;
    rays[i] = ray_at(1.0f, 2.2f, 200.0f, 0.72f * ((float)at[0] / 256.0f - 0.5f), 0.72f * ((float)at[1] / 256.0f - 0.5f),
                     -1.0f);
  }
}

/* Row by row over a floor. */
static slab_ray from_floor(size_t i, float dx, float dy, float dz) {
  return ray_at(-1.0f + (float)(i % 200) / 50.0f, 2.0f + (float)(i / 200) / 400.0f, 50.0f, dx, dy, dz);
}

static void order_is_told(void **state) {
  (void)state;
  random_state random = harness_seeded("order_is_told");
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  scatter(&random, rays);
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_SCATTERED);
  frame(rays, 40);
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_OF_A_POINT);
  assert_int_equal(rays_order_of(rays, 1, lower, upper), RAYS_OF_A_POINT); /* a ray and itself */
  frame_in_tiles(rays);
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_OF_A_POINT);
  for (size_t i = 0; i < RAYS; i++) rays[i].origin[0] += 0.01f * (float)(i % 2); /* two cameras */
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_ALIKE);
  frame(rays, 110); /* pixels are too far apart for neighbours to hit the same primitives */
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_ALIKE);
  for (size_t i = 0; i < RAYS; i++) { /* rays to a light */
    slab_ray *ray = &rays[i];
    *ray = from_floor(i, 0, 0, 0);
    for (int k = 0; k < 3; k++) ray->direction[k] = (k == 2 ? 60.0f : 1.0f) - ray->origin[k];
  }
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_ALIKE);
  for (size_t i = 0; i < RAYS; i++) { /* rays from hits in random directions */
    float d[3];
    for (int k = 0; k < 3; k++) d[k] = random_between(&random, -1.0f, 1.0f);
    rays[i] = from_floor(i, d[0], d[1], d[2]);
  }
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_DIVERGING);
  for (size_t i = 0; i < RAYS; i++) rays[i] = ray_at(NAN, NAN, NAN, NAN, 0, INFINITY);
  assert_int_equal(rays_order_of(rays, RAYS, lower, upper), RAYS_DIVERGING); /* any result is allowed */
  free(rays);
}

/* ---- rows ---------- */

static rays_rows rows_of(const slab_ray *rays, size_t n) { return rays_rows_of(rays, n, lower, upper); }

static void assert_rows(rays_rows got, uint32_t row, uint32_t width, uint32_t height) {
  assert_int_equal(got.row, row);
  assert_int_equal(got.width, row == 0 ? 0 : width);
  assert_int_equal(got.height, row == 0 ? 0 : height);
}

static void rows_of_a_picture_are_found(void **state) {
  (void)state;
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  frame(rays, 40);
  assert_rows(rows_of(rays, RAYS), 200, 8, 4);
  for (size_t i = 0; i < RAYS; i++) /* a third are of no use, as those of pixels that see nothing */
    if (i % 200 < 66) rays[i] = (slab_ray){.t_max = -1};
  assert_rows(rows_of(rays, RAYS), 200, 8, 4);
  for (size_t i = 0; i < RAYS; i++) { /* rays to a light, whose origins differ */
    rays[i] = from_floor(i, 0, 0, 0);
    for (int k = 0; k < 3; k++) rays[i].direction[k] = (k == 2 ? 60.0f : 1.0f) - rays[i].origin[k];
  }
  const rays_rows light = rows_of(rays, RAYS);
  assert_int_equal(light.row, 200);
  assert_int_equal(light.width * light.height, RAYS_A_TILE);
  for (size_t i = 0; i < RAYS; i++) { /* 64 beams, half a degree apart, that turn by a tenth */
    const float up = (float)(i % 64) * 0.0087f, turn = (float)(i / 64) * 0.00175f;
    rays[i] = ray_at(1, 2.2f, 3, cosf(up) * cosf(turn), cosf(up) * sinf(turn), sinf(up));
  }
  assert_rows(rows_of(rays, RAYS), 64, 2, 16);
  free(rays);
}

/* 18 rows of 128 beams, a third of a degree apart, that turn by twice as much; and of beams in any direction. */
static void tiles_of_known_rows_are_found(void **state) {
  enum { BEAMS = 128, ROWS = 18, N = BEAMS * ROWS };
  const float low[3] = {-10, -10, -10}, high[3] = {10, 10, 10};
  random_state random = harness_seeded(__func__);
  slab_ray *rays = harness_space(N * sizeof *rays);
  (void)state;
  for (size_t i = 0; i < N; i++) {
    const float up = (float)(i % BEAMS) * 0.0055f - 0.4f, turn = (float)(i / BEAMS) * 0.012f;
    rays[i] = ray_at(1, 2.2f, 3, cosf(up) * cosf(turn), cosf(up) * sinf(turn), sinf(up));
  }
  assert_rows(rays_tiles_of(rays, N, BEAMS, low, high), BEAMS, 8, 4);
  assert_rows(rays_tiles_of(rays, N - 2 * BEAMS, BEAMS, low, high), 0, 0, 0); /* too few */
  for (size_t i = 0; i < N; i++)
    for (int k = 0; k < 3; k++) rays[i].direction[k] = random_between(&random, -1, 1);
  assert_rows(rays_tiles_of(rays, N, BEAMS, low, high), 0, 0, 0);
  free(rays);
}

/* The sum of the distances from each to the next. */
static float length_of(const float *vectors, const uint32_t *order, uint32_t n) {
  float length = 0.0f;
  for (uint32_t i = 1; i < n; i++) {
    float square = 0.0f;
    for (uint32_t k = 0; k < 3; k++) {
      const float d = vectors[3 * order[i] + k] - vectors[3 * order[i - 1] + k];
      square += d * d;
    }
    length += sqrtf(square);
  }
  return length;
}

/* Each is there once, and those next to each other are close: in any order they are 1.3 apart. */
static void directions_and_points_are_sorted(void **state) {
  enum { N = 1000 };
  random_state random = harness_seeded(__func__);
  float vectors[3 * N];
  uint32_t as_given[N];
  (void)state;
  for (uint32_t i = 0; i < N; i++) {
    float square = 0.0f;
    for (uint32_t k = 0; k < 3; k++) vectors[3 * i + k] = random_between(&random, -1, 1);
    for (uint32_t k = 0; k < 3; k++) square += vectors[3 * i + k] * vectors[3 * i + k];
    for (uint32_t k = 0; k < 3; k++) vectors[3 * i + k] /= sqrtf(square);
    as_given[i] = i;
  }
  uint32_t *orders[] = {directions_sorted(vectors, N, 1), points_sorted(vectors, N, NULL, NULL, 1)};
  assert_true(length_of(vectors, as_given, N) > 1.2f * N);
  for (int o = 0; o < 2; o++) {
    bool there[N] = {false};
    assert_non_null(orders[o]);
    for (uint32_t i = 0; i < N; i++) there[orders[o][i]] = true;
    for (uint32_t i = 0; i < N; i++) assert_true(there[i]);
    assert_true(length_of(vectors, orders[o], N) < 0.2f * N);
    free(orders[o]);
  }
  vectors[7] = NAN; /* is sorted too, wherever it goes */
  free(directions_sorted(vectors, N, 2));
}

/* Every second bit. */
static uint32_t half_of(uint32_t code) {
  uint32_t half = 0;
  for (int bit = 0; bit < 16; bit++) half |= (code >> 2 * bit & 1) << bit;
  return half;
}

static void other_rays_are_in_no_rows(void **state) {
  (void)state;
  random_state random = harness_seeded("other_rays_are_in_no_rows");
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  frame(rays, 40);
  assert_rows(rows_of(rays, 200 * 31), 0, 0, 0); /* too few rows to tell */
  assert_rows(rows_of(rays, 1), 0, 0, 0);
  scatter(&random, rays);
  assert_rows(rows_of(rays, RAYS), 0, 0, 0);
  for (size_t i = 0; i < RAYS; i++) /* along a Morton curve: tiles already */
    rays[i] = ray_at(1, 2.2f, 200, (float)half_of((uint32_t)i) / 256 - 0.4f,
                     (float)half_of((uint32_t)i >> 1) / 256 - 0.4f, -1);
  assert_rows(rows_of(rays, RAYS), 0, 0, 0);
  for (size_t i = 0; i < RAYS; i++) rays[i] = ray_at(1, 2.2f, 200, 0.3f, 0.1f, -1); /* all the same */
  assert_rows(rows_of(rays, RAYS), 0, 0, 0);
  for (size_t i = 0; i < RAYS; i++) rays[i] = ray_at(NAN, NAN, NAN, NAN, 0, INFINITY);
  assert_rows(rows_of(rays, RAYS), 0, 0, 0);
  for (size_t i = 0; i < RAYS; i++) rays[i] = (slab_ray){.t_max = -1};
  assert_rows(rows_of(rays, RAYS), 0, 0, 0);
  free(rays);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_ray_is_there_once),
      cmocka_unit_test(neighbours_go_one_way_and_begin_near),
      cmocka_unit_test(rays_alike_keep_their_order),
      cmocka_unit_test(bounds_may_be_none),
      cmocka_unit_test(order_is_told),
      cmocka_unit_test(rows_of_a_picture_are_found),
      cmocka_unit_test(tiles_of_known_rows_are_found),
      cmocka_unit_test(directions_and_points_are_sorted),
      cmocka_unit_test(other_rays_are_in_no_rows),
  };
  return cmocka_run_group_tests_name("sort", tests, NULL, NULL);
}
