/* Seeded random scenes of all kinds at once, with extreme numbers over-represented. The device equals the CPU
 * reference bit by bit in every query, the queries agree, and relations hold that need no reference.
 * SLABCAST_TEST_SEED repeats a run. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "sets/adversarial.h"

enum { RAYS = 1500 };

typedef void cast_function(slab_scene *, const slab_ray *, size_t, const slab_cast_options *, answers *);

static void check_scenes(void **state, const char *name, int scenes, int extreme, cast_function *cast) {
  random_state r = harness_seeded(name);
  slab_ray *rays = malloc(RAYS * sizeof *rays);
  slab_primitive_id *skip = malloc(RAYS * sizeof *skip);
  size_t hits = 0, invalid = 0;
  for (int s = 0; s < scenes; s++) {
    adversarial w = adversarial_begin(&r, extreme);
    slab_scene *scene = NULL;
    assert_ok(slab_scene_create(*state, &scene));
    assert_ok(adversarial_fill(&r, &w, ADVERSARIAL_ALL_KINDS, ADVERSARIAL_MOST, scene));
    assert_ok(slab_scene_commit(scene, NULL));
    for (int i = 0; i < RAYS; i++) {
      rays[i] = adversarial_ray(&r, &w);
      skip[i] = adversarial_skip(&r);
    }
    const slab_cast_options options = adversarial_options(&r, skip);
    answers a;
    cast(scene, rays, RAYS, &options, &a);
    for (int i = 0; i < RAYS; i++) hits += a.any[i];
    invalid += a.invalid[0];
    answers_free(&a);
    slab_scene_destroy(scene);
  }
  print_message("%zu of %d rays hit, %zu were invalid\n", hits, scenes * RAYS, invalid);
  assert_true(hits > (size_t)scenes * RAYS / 10 && invalid > 0);
  free(rays);
  free(skip);
}

static void reference_and_oracle_agree_in_random_scenes(void **state) {
  check_scenes(state, "reference_and_oracle_agree_in_random_scenes", 6, 0, expect_cast);
}

static void every_query_equals_the_reference_in_extreme_scenes(void **state) {
  check_scenes(state, "every_query_equals_the_reference_in_extreme_scenes", 25, 1, expect_cast_in_extremes);
}

/* ---- relations ---- */

/* 32 geometries of one shape each, selected by their masks. */
static slab_scene *scene_of_bits(slab_context *context, const slab_shape kinds[32], float shapes[32][15]) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  for (int g = 0; g < 32; g++) {
    const slab_geometry_options options = {.mask = 1u << g, .skip_invalid = 1};
    assert_ok(shape_add(scene, kinds[g], shapes[g], 1, &options));
  }
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static void take_closest(slab_hit *best, const slab_hit *h) {
  if (h->t < best->t || (h->t == best->t && h->geometry < best->geometry)) *best = *h;
}

/* Cast geometry by geometry, then all at once: counts add up, and the closest hit is the closest of the single ones. */
static void geometry_alone_answers_as_in_company(void **state) {
  enum { N = 600, SCENES = 6 };
  random_state r = harness_seeded("geometry_alone_answers_as_in_company");
  for (int s = 0; s < SCENES; s++) {
    adversarial w = adversarial_begin(&r, 1);
    slab_shape kinds[32];
    float shapes[32][15] = {{0}};
    for (int g = 0; g < 32; g++) {
      kinds[g] = (slab_shape)random_below(&r, SHAPE_KINDS);
      if (g < SHAPE_KINDS) kinds[g] = (slab_shape)g;
      adversarial_shape(&r, kinds[g], &w, shapes[g]);
      adversarial_know(&w, (uint32_t)g, shapes[g]);
    }
    slab_scene *scene = scene_of_bits(*state, kinds, shapes);
    slab_ray rays[N];
    for (int i = 0; i < N; i++) rays[i] = adversarial_ray(&r, &w);
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

/* slab_pairs compared with intervals of a scene that sees only shape g. Shapes that a scene refuses are dropped
 * before. */
static void pairs_equal_intervals(void **state) {
  enum { ROUNDS = 40 };
  random_state r = harness_seeded("pairs_equal_intervals");
  for (int kind = 0; kind < SHAPE_KINDS; kind++)
    for (int round = 0; round < ROUNDS; round++) {
      const size_t floats = shape_floats((slab_shape)kind);
      adversarial w = adversarial_begin(&r, 1);
      slab_shape kinds[32];
      float shapes[32][15] = {{0}}, given[32 * 15];
      for (int g = 0; g < 32; g++) {
        kinds[g] = (slab_shape)kind;
        uint32_t skipped = 1;
        slab_scene *probe = NULL;
        assert_ok(slab_scene_create(*state, &probe));
        while (skipped) {
          const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
          adversarial_shape(&r, kinds[g], &w, shapes[g]);
          assert_ok(shape_add(probe, kinds[g], shapes[g], 1, &drop));
        }
        slab_scene_destroy(probe);
        adversarial_know(&w, (uint32_t)g, shapes[g]);
        memcpy(given + floats * (size_t)g, shapes[g], floats * sizeof *given);
      }
      slab_scene *scene = scene_of_bits(*state, kinds, shapes);
      slab_ray rays[32];
      for (int i = 0; i < 32; i++) rays[i] = adversarial_ray(&r, &w);
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

/* A narrower range keeps the hits in it. The closest hit of [t, inf) in a scene of planes and triangles is the first of
 * all hits with t_i >= t, bit by bit. */
static void range_only_filters_planes_and_triangles(void **state) {
  enum { N = 400, SCENES = 10 };
  random_state r = harness_seeded("range_only_filters_planes_and_triangles");
  for (int s = 0; s < SCENES; s++) {
    float triangles[ADVERSARIAL_MOST][15], shapes[ADVERSARIAL_MOST * 15] = {0};
    for (int i = 0; i < ADVERSARIAL_MOST; i++)
      for (int k = 0; k < 9; k++) triangles[i][k] = shapes[9 * i + k] = random_between(&r, -4, 4);
    slab_scene *scene = expect_scene(*state, SLAB_TRIANGLE, shapes, ADVERSARIAL_MOST);
    slab_ray rays[N];
    for (int i = 0; i < N; i++) {
      const float *to = triangles[random_below(&r, ADVERSARIAL_MOST)];
      for (int k = 0; k < 3; k++) {
        rays[i].origin[k] = random_between(&r, -8, 8);
        rays[i].direction[k] = to[k] + 0.5f * (to[3 + k] - to[k]) + 0.25f * (to[6 + k] - to[k]) - rays[i].origin[k];
      }
      rays[i].t_min = 0;
      rays[i].t_max = INFINITY;
    }
    answers a, later;
    expect_cast(scene, rays, N, NULL, &a);
    for (int i = 0; i < N; i++)
      if (a.count[i] > 1) rays[i].t_min = a.all[a.offsets[i] + 1].t; /* the t of the second hit */
    expect_cast(scene, rays, N, NULL, &later);
    for (int i = 0; i < N; i++) {
      if (a.count[i] < 2) continue;
      const slab_hit *hits = a.all + a.offsets[i];
      const uint32_t first = hits[0].t == hits[1].t ? 0 : 1;
      assert_int_equal(later.count[i], a.count[i] - first);
      assert_same_bits(later.all + later.offsets[i], hits + first, later.count[i], sizeof *hits);
    }
    answers_free(&a);
    answers_free(&later);
    slab_scene_destroy(scene);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(reference_and_oracle_agree_in_random_scenes),
      cmocka_unit_test(every_query_equals_the_reference_in_extreme_scenes),
      cmocka_unit_test(geometry_alone_answers_as_in_company),
      cmocka_unit_test(pairs_equal_intervals),
      cmocka_unit_test(range_only_filters_planes_and_triangles),
  };
  return cmocka_run_group_tests(tests, expect_setup, expect_teardown);
}
