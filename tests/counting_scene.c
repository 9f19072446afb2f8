#include "counting_scene.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { PERIOD = COUNTING_COLUMNS + 1 }; /* one ray in each period meets no column */
#define RAY_HEIGHT 2.0f

static bool is_stray(size_t i) { return i % PERIOD == COUNTING_COLUMNS; }
static bool is_invalid(size_t i) { return is_stray(i) && i / PERIOD % 2 == 1; }

/* Lengths of directions differ by powers of two, so that t is exact. */
static float length_of(size_t i) { return i % 3 == 0 ? 1.0f : i % 3 == 1 ? 2.0f : 0.25f; }

/* Box j of column k counts from the top, but is added from the bottom: ids run against the distance. */
static uint32_t box_id(uint32_t column, uint32_t j) { return column * (column + 1) / 2 + (column - j); }

slab_scene *counting_scene(slab_context *context) {
  slab_scene *scene = NULL;
  slab_box boxes[COUNTING_BOXES];
  for (uint32_t k = 0; k < COUNTING_COLUMNS; k++)
    for (uint32_t j = 0; j <= k; j++) {
      const float x = 2.0f * (float)k, top = -2.0f * (float)j;
      boxes[box_id(k, j)] = (slab_box){{x, 0.0f, top - 1.0f}, {x + 1.0f, 1.0f, top}};
    }
  uint32_t geometry = 99;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_mesh(scene, &(slab_mesh){0}, NULL, NULL));
  assert_ok(slab_scene_add_boxes(scene, boxes, COUNTING_BOXES, NULL, &geometry));
  assert_int_equal(geometry, COUNTING_GEOMETRY);
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

slab_ray counting_ray(size_t i) {
  const float x = 2.0f * (float)(i % PERIOD) + 0.5f; /* a stray ray passes beside the last column */
  slab_ray ray = {{x, 0.25f, RAY_HEIGHT}, 0.0f, {0.0f, 0.0f, -length_of(i)}, INFINITY};
  if (is_invalid(i)) ray.direction[2] = 0.0f;
  return ray;
}

slab_ray *counting_rays(size_t n) {
  slab_ray *rays = malloc(n * sizeof *rays + 1);
  assert_non_null(rays);
  for (size_t i = 0; i < n; i++) rays[i] = counting_ray(i);
  return rays;
}

uint32_t counting_count(size_t i) { return is_stray(i) ? 0 : (uint32_t)(i % PERIOD) + 1; }

slab_hit counting_hit(size_t i, uint32_t j) {
  const float t = (RAY_HEIGHT + 2.0f * (float)j) / length_of(i);
  return (slab_hit){t, {0.0f, 0.0f, 1.0f}, 5.0f, 0.0f, box_id((uint32_t)(i % PERIOD), j), COUNTING_GEOMETRY};
}

uint64_t counting_invalid(size_t n) {
  uint64_t invalid = 0;
  for (size_t i = 0; i < n; i++) invalid += is_invalid(i);
  return invalid;
}

static slab_hit closest_of(size_t i) {
  const uint32_t reason = is_invalid(i) ? SLAB_INVALID : SLAB_MISS;
  const slab_hit none = {INFINITY, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, reason, reason};
  return is_stray(i) ? none : counting_hit(i, 0);
}

static slab_interval interval_of(size_t i) {
  const slab_hit hit = closest_of(i);
  const float leave = is_stray(i) ? -INFINITY : (RAY_HEIGHT + 1.0f) / length_of(i);
  return (slab_interval){hit.t, leave, hit.primitive, hit.geometry};
}

static void expected_of(slab_query query, size_t i, void *result) {
  const slab_hit hit = closest_of(i);
  const slab_interval interval = interval_of(i);
  const uint32_t count = counting_count(i);
  const uint8_t any = count > 0;
  const void *const values[] = {[SLAB_CLOSEST] = &hit, [SLAB_DISTANCE] = &hit.t, [SLAB_ANY] = &any,
                                [SLAB_COUNT] = &count, [SLAB_ALL] = &hit,        [SLAB_INTERVAL] = &interval};
  memcpy(result, values[query], slab_result_size(query));
}

void counting_verify(slab_query query, size_t first, size_t n, const void *results) {
  const size_t size = slab_result_size(query);
  unsigned char expected[sizeof(slab_hit)];
  for (size_t i = 0; i < n; i++) {
    const unsigned char *got = (const unsigned char *)results + i * size;
    expected_of(query, first + i, expected);
    if (memcmp(got, expected, size) == 0) continue;
    print_error("query %d, ray %zu (result %zu of %zu):\n", (int)query, first + i, i, n);
    assert_same_bits(got, expected, 1, size);
  }
}

slab_query each_query(int i) {
  static const slab_query queries[EACH_QUERY_COUNT] = {SLAB_CLOSEST, SLAB_DISTANCE, SLAB_ANY, SLAB_COUNT,
                                                       SLAB_INTERVAL};
  return queries[i];
}
