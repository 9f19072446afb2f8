/* Seeded random scenes of all kinds at once with extremes over-represented: device = mirror bit by bit in every query,
 * the queries agree, and relations hold that need no reference. SLABCAST_TEST_SEED repeats a run. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"

enum { KINDS = 5, MOST = 40, RAYS = 1500 };

/* Numbers that shapes and rays of a scene share, so that faces touch, vertices coincide and origins lie on planes. */
typedef struct pool {
  float values[8];
  int extreme; /* whether numbers far from 1 occur */
} pool;

/* Scenes of small integers; with extremes also of the whole range, and of one extreme size. */
static pool random_pool(harness_random *r, int extreme) {
  pool p = {.extreme = extreme};
  const uint32_t sort = extreme ? harness_below(r, 3) : 0;
  const float scale = ldexpf(1, (int)harness_below(r, 100) - 50);
  for (int i = 0; i < 8; i++)
    p.values[i] = sort == 0   ? (float)((int)harness_below(r, 9) - 4)
                  : sort == 1 ? harness_extreme(r)
                              : scale * harness_uniform(r, -4, 4);
  return p;
}

static float coordinate(harness_random *r, const pool *p) {
  const float value = p->values[harness_below(r, 8)];
  switch (harness_below(r, 8)) {
    case 0:
      return p->extreme ? harness_extreme(r) : harness_uniform(r, -4, 4);
    case 1:
      return p->extreme || value != 0.0f ? nextafterf(value, harness_below(r, 2) ? INFINITY : -INFINITY) : value;
    case 2:
      return value * harness_uniform(r, -1, 1);
    default:
      return value;
  }
}

static void turned_axes(harness_random *r, float axes[3][3]) {
  static const float cosines[] = {1, 0, 0.6f, 0.70710678f, 0.9999995f}, sines[] = {0, 1, 0.8f, 0.70710678f, 0.001f};
  const uint32_t angle = harness_below(r, 5), axis = harness_below(r, 3);
  const float c = cosines[angle], s = harness_below(r, 2) ? sines[angle] : -sines[angle];
  memset(axes, 0, 9 * sizeof(float));
  axes[axis][axis] = harness_below(r, 4) ? 1.0f : -1.0f;
  axes[(axis + 1) % 3][(axis + 1) % 3] = axes[(axis + 2) % 3][(axis + 2) % 3] = c;
  axes[(axis + 1) % 3][(axis + 2) % 3] = s;
  axes[(axis + 2) % 3][(axis + 1) % 3] = -s;
}

static void random_box(harness_random *r, const pool *p, float shape[15]) {
  for (int i = 0; i < 3; i++) {
    const float a = coordinate(r, p), b = harness_below(r, 6) ? coordinate(r, p) : a;
    shape[i] = a < b ? a : b;
    shape[3 + i] = a < b ? b : a;
    if (harness_below(r, 12) == 0) shape[i] = -INFINITY;
    if (harness_below(r, 12) == 0) shape[3 + i] = INFINITY;
  }
  if (harness_below(r, 20) == 0) shape[harness_below(r, 6)] = harness_below(r, 2) ? NAN : INFINITY;
}

/* Anything, also what is refused: it is added with skip_invalid. */
static void random_shape(harness_random *r, slab_shape kind, const pool *p, float shape[15]) {
  for (int i = 0; i < 9; i++) shape[i] = coordinate(r, p);
  if (kind == SLAB_SPHERE) shape[3] = harness_below(r, 6) ? fabsf(shape[3]) : 0.0f;
  if (kind == SLAB_BOX) random_box(r, p, shape);
  if (kind == SLAB_PLANE && harness_below(r, 2)) shape[harness_below(r, 3)] = 0;
  if (kind == SLAB_OBB) {
    for (int i = 3; i < 6; i++) shape[i] = harness_below(r, 6) ? fabsf(shape[i]) : 0.0f;
    turned_axes(r, (float(*)[3])(shape + 6));
  }
  if (kind == SLAB_TRIANGLE && harness_below(r, 8) == 0) memcpy(shape + 6, shape, 3 * sizeof(float));
  if (harness_below(r, 30) == 0) shape[harness_below(r, (uint32_t)expect_floats(kind))] = NAN;
}

static void random_direction(harness_random *r, const pool *p, slab_ray *ray, const float target[3]) {
  const uint32_t sort = harness_below(r, 6);
  for (int i = 0; i < 3; i++) {
    ray->direction[i] = target[i] - ray->origin[i];
    if (sort == 0 && p->extreme) ray->direction[i] = harness_extreme(r);
    if (sort == 1) ray->direction[i] = (float)((int)harness_below(r, 3) - 1);
    if (sort == 2 && harness_below(r, 2)) ray->direction[i] = harness_below(r, 2) ? 0.0f : -0.0f;
    if (sort == 3) ray->direction[i] = coordinate(r, p);
  }
  static const float lengths[] = {0x1p-140f, 0x1p-100f, 0x1p60f, 0x1p100f};
  if (p->extreme && harness_below(r, 5) == 0)
    for (int i = 0; i < 3; i++) ray->direction[i] *= lengths[harness_below(r, 4)];
}

static slab_ray random_ray(harness_random *r, const pool *p, const float *shapes) {
  slab_ray ray = {{0}, 0, {0}, INFINITY};
  const float *corner = shapes + 15 * harness_below(r, MOST); /* three coordinates of some shape: often a corner */
  for (int i = 0; i < 3; i++) ray.origin[i] = coordinate(r, p);
  random_direction(r, p, &ray, harness_below(r, 2) ? corner : corner + 3);
  switch (harness_below(r, 8)) {
    case 0:
      ray.t_min = -INFINITY;
      break;
    case 1:
      ray.t_max = 1; /* a segment */
      break;
    case 2:
      ray.t_min = -harness_uniform(r, 0, 2);
      ray.t_max = harness_uniform(r, -1, 3);
      break;
    case 3:
      ray.t_min = p->extreme ? harness_extreme(r) : harness_uniform(r, 0, 1);
      ray.t_max = p->extreme ? harness_extreme(r) : harness_uniform(r, 0, 2);
      break;
    default:
      break;
  }
  if (harness_below(r, 50) == 0) {
    float values[8];
    memcpy(values, &ray, sizeof ray);
    static const float wrong[] = {NAN, INFINITY, -INFINITY, 0x1p61f};
    values[harness_below(r, 8)] = wrong[harness_below(r, 4)];
    memcpy(&ray, values, sizeof ray);
  }
  return ray;
}

/* Geometries of every kind in random order, with random masks; some shapes of each are kept in `known` for rays to aim
 * at. */
static slab_scene *random_scene(harness_random *r, slab_context *context, const pool *p, float *known) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  const uint32_t geometries = KINDS + harness_below(r, 4), first = harness_below(r, KINDS);
  for (uint32_t g = 0; g < geometries; g++) {
    const slab_shape kind = (slab_shape)((g + first) % KINDS);
    const uint32_t n = harness_below(r, MOST + 1);
    const size_t floats = expect_floats(kind);
    float shapes[MOST * 15];
    for (size_t i = 0; i < n; i++) {
      float shape[15] = {0};
      random_shape(r, kind, p, shape);
      memcpy(shapes + i * floats, shape, floats * sizeof *shapes);
      memcpy(known + 15 * harness_below(r, MOST), shape, sizeof shape);
    }
    const slab_geometry_options options = {.mask = harness_below(r, 3) ? 0 : (uint32_t)harness_bits(r),
                                           .skip_invalid = 1};
    assert_ok(expect_add(scene, kind, shapes, n, &options));
  }
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static slab_cast_options random_options(harness_random *r, const slab_primitive_id *skip) {
  return (slab_cast_options){.mask = harness_below(r, 3) ? 0 : (uint32_t)harness_bits(r),
                             .skip = harness_below(r, 2) ? skip : NULL,
                             .cull = (slab_cull)harness_below(r, 3),
                             .face_forward = (int)harness_below(r, 2)};
}

typedef void cast_function(slab_scene *, const slab_ray *, size_t, const slab_cast_options *, expect_answers *);

static void check_scenes(void **state, const char *name, int scenes, int extreme, cast_function *cast) {
  harness_random r = harness_seeded(name);
  slab_ray *rays = malloc(RAYS * sizeof *rays);
  slab_primitive_id *skip = malloc(RAYS * sizeof *skip);
  size_t hits = 0, invalid = 0;
  for (int s = 0; s < scenes; s++) {
    const pool p = random_pool(&r, extreme);
    float known[MOST * 15] = {0};
    slab_scene *scene = random_scene(&r, *state, &p, known);
    for (int i = 0; i < RAYS; i++) {
      rays[i] = random_ray(&r, &p, known);
      skip[i] = (slab_primitive_id){harness_below(&r, MOST), harness_below(&r, KINDS)};
      if (harness_below(&r, 3) == 0) skip[i] = (slab_primitive_id){SLAB_MISS, SLAB_MISS};
    }
    const slab_cast_options options = random_options(&r, skip);
    expect_answers a;
    cast(scene, rays, RAYS, &options, &a);
    for (int i = 0; i < RAYS; i++) hits += a.any[i];
    invalid += a.invalid;
    expect_release(&a);
    slab_scene_destroy(scene);
  }
  print_message("%zu of %d rays hit, %zu were invalid\n", hits, scenes * RAYS, invalid);
  assert_true(hits > (size_t)scenes * RAYS / 10 && invalid > 0);
  free(rays);
  free(skip);
}

static void mirror_and_oracle_agree_in_random_scenes(void **state) {
  check_scenes(state, "mirror_and_oracle_agree_in_random_scenes", 6, 0, expect_cast);
}

static void every_query_equals_the_mirror_in_extreme_scenes(void **state) {
  check_scenes(state, "every_query_equals_the_mirror_in_extreme_scenes", 25, 1, expect_cast_in_extremes);
}

/* ---- relations ---- */

/* 32 geometries of one shape each, told apart by their masks. */
static slab_scene *scene_of_bits(slab_context *context, const slab_shape kinds[32], float shapes[32][15]) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  for (int g = 0; g < 32; g++) {
    const slab_geometry_options options = {.mask = 1u << g, .skip_invalid = 1};
    assert_ok(expect_add(scene, kinds[g], shapes[g], 1, &options));
  }
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static void take_closest(slab_hit *best, const slab_hit *h) {
  if (h->t < best->t || (h->t == best->t && h->geometry < best->geometry)) *best = *h;
}

/* Cast geometry by geometry, then all at once: counts add up, and the closest is the closest of them. */
static void geometry_alone_answers_as_in_company(void **state) {
  enum { N = 600, SCENES = 6 };
  harness_random r = harness_seeded("geometry_alone_answers_as_in_company");
  for (int s = 0; s < SCENES; s++) {
    const pool p = random_pool(&r, 1);
    slab_shape kinds[32];
    float shapes[32][15] = {{0}}, known[MOST * 15] = {0};
    for (int g = 0; g < 32; g++) {
      kinds[g] = (slab_shape)harness_below(&r, KINDS);
      if (g < KINDS) kinds[g] = (slab_shape)g;
      random_shape(&r, kinds[g], &p, shapes[g]);
      memcpy(known + 15 * g, shapes[g], sizeof shapes[g]);
    }
    slab_scene *scene = scene_of_bits(*state, kinds, shapes);
    slab_ray rays[N];
    for (int i = 0; i < N; i++) rays[i] = random_ray(&r, &p, known);
    static slab_hit together[N], best[N], alone[N];
    uint32_t count[N], sum[N] = {0}, one[N];
    assert_ok(slab_closest(scene, rays, N, together, NULL));
    assert_ok(slab_count(scene, rays, N, count, NULL));
    for (int g = 0; g < 32; g++) {
      const slab_cast_options options = {.mask = 1u << g};
      assert_ok(slab_closest(scene, rays, N, alone, &options));
      assert_ok(slab_count(scene, rays, N, one, &options));
      for (int i = 0; i < N; i++) {
        sum[i] += one[i];
        if (g == 0) best[i] = alone[i];
        take_closest(&best[i], &alone[i]);
      }
    }
    for (int i = 0; i < N; i++) {
      if (fabsf(together[i].t) < FLT_MIN && together[i].t == best[i].t) continue; /* a tie by underflow: test_rays.c */
      assert_same_bits(&together[i], &best[i], 1, sizeof(slab_hit));
    }
    assert_same_bits(count, sum, N, sizeof(uint32_t));
    slab_scene_destroy(scene);
  }
}

/* slab_pairs against intervals of a scene that sees shape g alone. Shapes that a scene refuses are dropped before. */
static void pairs_equal_intervals(void **state) {
  enum { ROUNDS = 40 };
  harness_random r = harness_seeded("pairs_equal_intervals");
  for (int kind = 0; kind < KINDS; kind++)
    for (int round = 0; round < ROUNDS; round++) {
      const size_t floats = expect_floats((slab_shape)kind);
      const pool p = random_pool(&r, 1);
      slab_shape kinds[32];
      float shapes[32][15] = {{0}}, known[MOST * 15] = {0}, given[32 * 15];
      for (int g = 0; g < 32; g++) {
        kinds[g] = (slab_shape)kind;
        uint32_t skipped = 1;
        slab_scene *probe = NULL;
        assert_ok(slab_scene_create(*state, &probe));
        while (skipped) {
          const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
          random_shape(&r, kinds[g], &p, shapes[g]);
          assert_ok(expect_add(probe, kinds[g], shapes[g], 1, &drop));
        }
        slab_scene_destroy(probe);
        memcpy(known + 15 * g, shapes[g], sizeof shapes[g]);
        memcpy(given + floats * (size_t)g, shapes[g], floats * sizeof *given);
      }
      slab_scene *scene = scene_of_bits(*state, kinds, shapes);
      slab_ray rays[32];
      for (int i = 0; i < 32; i++) rays[i] = random_ray(&r, &p, known);
      slab_interval pairs[32], want[32];
      assert_ok(slab_pairs(*state, (slab_shape)kind, rays, given, 32, pairs));
      for (uint32_t g = 0; g < 32; g++) {
        const slab_cast_options options = {.mask = 1u << g};
        assert_ok(slab_interval_of(scene, &rays[g], 1, &want[g], &options));
        if (want[g].geometry == g) want[g] = (slab_interval){want[g].enter, want[g].leave, g, 0};
      }
      assert_same_bits(pairs, want, 32, sizeof *want);
      slab_scene_destroy(scene);
    }
}

/* A narrower range keeps the hits in it: the closest of [t, inf) in a scene of thin things is the first of all with
 * t_i >= t, to the bit. */
static void range_only_filters_planes_and_triangles(void **state) {
  enum { N = 400, SCENES = 10 };
  harness_random r = harness_seeded("range_only_filters_planes_and_triangles");
  for (int s = 0; s < SCENES; s++) {
    float triangles[MOST][15], shapes[MOST * 15] = {0};
    for (int i = 0; i < MOST; i++)
      for (int k = 0; k < 9; k++) triangles[i][k] = shapes[9 * i + k] = harness_uniform(&r, -4, 4);
    slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, shapes, MOST);
    slab_ray rays[N];
    for (int i = 0; i < N; i++) {
      const float *to = triangles[harness_below(&r, MOST)];
      for (int k = 0; k < 3; k++) {
        rays[i].origin[k] = harness_uniform(&r, -8, 8);
        rays[i].direction[k] = to[k] + 0.5f * (to[3 + k] - to[k]) + 0.25f * (to[6 + k] - to[k]) - rays[i].origin[k];
      }
      rays[i].t_min = 0;
      rays[i].t_max = INFINITY;
    }
    expect_answers a, later;
    expect_cast(scene, rays, N, NULL, &a);
    for (int i = 0; i < N; i++)
      if (a.count[i] > 1) rays[i].t_min = a.all[a.offsets[i] + 1].t; /* the second hit */
    expect_cast(scene, rays, N, NULL, &later);
    for (int i = 0; i < N; i++) {
      if (a.count[i] < 2) continue;
      const slab_hit *hits = a.all + a.offsets[i];
      const uint32_t first = hits[0].t == hits[1].t ? 0 : 1;
      assert_int_equal(later.count[i], a.count[i] - first);
      assert_same_bits(later.all + later.offsets[i], hits + first, later.count[i], sizeof *hits);
    }
    expect_release(&a);
    expect_release(&later);
    slab_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(mirror_and_oracle_agree_in_random_scenes),
      cmocka_unit_test(every_query_equals_the_mirror_in_extreme_scenes),
      cmocka_unit_test(geometry_alone_answers_as_in_company),
      cmocka_unit_test(pairs_equal_intervals),
      cmocka_unit_test(range_only_filters_planes_and_triangles),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
