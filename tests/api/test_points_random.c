/* Closest points of adversarial scenes. Every layout, build quality and number of lanes answers as brute force does,
 * bit by bit. The CPU reference and the oracle check each answer. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sets/bvh_scenes.h"
#include "sets/moving.h"
#include "sets/nested.h"
#include "sets/points.h"

/* More than fit one call of FEW_RAYS, and no multiple of any lanes. */
enum { POINTS = 531, TREES = 4 };

static const slab_tree trees[TREES] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_DEFAULT, SLAB_TREE_HIGH};

/* ---- comparing ---- */

typedef struct task {
  float points[3 * POINTS];
  uint32_t masks[POINTS];
  float radii[POINTS];
  slab_point_options options;
  uint64_t undecided, judged; /* but for winding, of which borders of solids are too close, and seen by many points */
} task;

static void fail_at(const task *t, size_t i, const char *what) {
  const float *p = t->points + 3 * i;
  fail_msg("point %zu (%a %a %a): %s", i, (double)p[0], (double)p[1], (double)p[2], what);
}

/* `judged`: the oracle's bounds hold for these numbers. */
static void check_answers(task *t, slab_scene *scene, point_answers *a, bool judged) {
  for (int q = 0; q < a->queries; q++) {
    const slab_point_query query = (slab_point_query)q;
    slab_check_report report;
    slab_point_options options = point_options_of(query, &t->options);
    options.invalid = &a->invalid[q];
    assert_ok(slab_check_points(scene, query, t->points, a->n, point_answers_of(a, query), &options, &report));
    if (report.mismatches != 0 || (judged && report.oracle_wrong != 0)) fail_at(t, report.first, report.text);
    if (query >= SLAB_WINDING) continue;
    t->judged += report.oracle_rays;
    t->undecided += report.oracle_undecided;
  }
  for (size_t i = 0; i < a->n; i++) {
    const char *fault = point_answers_fault(a, i);
    if (fault != NULL) fail_at(t, i, fault);
  }
  harness_count((size_t)a->queries * a->n);
}

static void compare_with(const task *t, const point_answers *want, slab_scene *scene, const char *way) {
  point_answers got = {0};
  assert_ok(point_answers_ask_all(&got, scene, t->points, want->n, &t->options));
  assert_int_equal(got.queries, want->queries);
  for (int q = 0; q < got.queries; q++) {
    size_t first = 0;
    if (point_answers_differ(&got, want, (slab_point_query)q, &first) != 0) {
      print_message("%s: %s\n", way, point_query_name((slab_point_query)q));
      fail_at(t, first, "not as brute force");
    }
    assert_int_equal(got.invalid[q], want->invalid[q]);
  }
  harness_count((size_t)got.queries * want->n);
  point_answers_free(&got);
}

typedef struct maker {
  slab_status (*fill)(const void *user, slab_scene *);
  const void *user;
} maker;

/* Makes the scene in every way and compares. */
static void verify(const layout_contexts *c, task *t, maker make, size_t n, bool judged) {
  point_answers want = {0};
  for (int k = 0; k < c->count; k++)
    for (int tree = 0; tree < TREES; tree++) {
      char way[64];
      slab_scene *scene;
      assert_ok(slab_scene_create(c->of[k], &scene));
      assert_ok(make.fill(make.user, scene));
      assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = trees[tree]}));
      snprintf(way, sizeof way, "layout %d, tree %d", k, (int)trees[tree]);
      if (want.closest == NULL) {
        assert_ok(point_answers_ask_all(&want, scene, t->points, n, &t->options));
        check_answers(t, scene, &want, judged);
      } else {
        compare_with(t, &want, scene, way);
      }
      slab_scene_destroy(scene);
    }
  point_answers_free(&want);
}

/* ---- adversarial scenes ---- */

typedef struct filled {
  random_state random;
  adversarial begun;
  unsigned kinds;
  uint32_t most;
} filled;

static slab_status fill_adversarial(const void *user, slab_scene *scene) {
  filled f = *(const filled *)user;
  return adversarial_fill(&f.random, &f.begun, f.kinds, f.most, scene);
}

/* The same shapes, as points aim at them. */
static adversarial known_of(const layout_contexts *c, const filled *f) {
  filled known = *f;
  slab_scene *scene;
  assert_ok(slab_scene_create(c->of[0], &scene));
  assert_ok(adversarial_fill(&known.random, &known.begun, known.kinds, known.most, scene));
  slab_scene_destroy(scene);
  return known.begun;
}

static void verify_adversarial(const layout_contexts *c, random_state *random, unsigned kinds, bool extreme, task *t) {
  filled f = {.begun = adversarial_begin(random, extreme), .kinds = kinds};
  f.random = random_seed(random_bits(random));
  f.most = 1 + random_below(random, ADVERSARIAL_MOST);
  const adversarial known = known_of(c, &f);
  for (size_t i = 0; i < POINTS; i++) adversarial_point(random, &known, t->points + 3 * i);
  t->options = adversarial_point_options(random, &known, POINTS, t->masks, t->radii);
  verify(c, t, (maker){fill_adversarial, &f}, POINTS, true);
}

static void adversarial_scenes_answer_alike_in_every_way(void **state) {
  random_state random = harness_seeded("test_points_random");
  task *t = harness_space(sizeof *t);
  t->undecided = t->judged = 0;
  for (uint32_t i = 0; i < harness_rays(60); i++) verify_adversarial(*state, &random, ADVERSARIAL_ALL_KINDS, false, t);
  assert_true(t->judged > 0 && t->undecided * 50 <= t->judged); /* radii at whole numbers, distances too */
  free(t);
}

static void kinds_alone_answer_alike_in_every_way(void **state) {
  random_state random = harness_seeded("test_points_random kinds");
  task *t = harness_space(sizeof *t);
  for (uint32_t i = 0; i < harness_rays(12); i++)
    for (int kind = 0; kind < SLAB_SHAPE_COUNT; kind++) verify_adversarial(*state, &random, 1u << kind, false, t);
  free(t);
}

static void extreme_numbers_answer_alike_in_every_way(void **state) {
  random_state random = harness_seeded("test_points_random extremes");
  task *t = harness_space(sizeof *t);
  for (uint32_t i = 0; i < harness_rays(60); i++) verify_adversarial(*state, &random, ADVERSARIAL_ALL_KINDS, true, t);
  free(t);
}

/* ---- scenes that are hard for a BVH ---- */

typedef struct hard {
  bvh_scene which;
  uint64_t seed;
} hard;

static slab_status fill_hard(const void *user, slab_scene *scene) {
  const hard *h = user;
  return bvh_scene_fill(h->which, 900, h->seed, scene);
}

static void hard_points(const layout_contexts *c, random_state *random, const hard *h, task *t) {
  slab_scene *scene;
  slab_scene_stats stats;
  assert_ok(slab_scene_create(c->of[0], &scene));
  assert_ok(fill_hard(h, scene));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_scene_info(scene, &stats));
  for (size_t i = 0; i < POINTS; i++) {
    const slab_ray ray = bvh_scene_ray(random, &stats);
    memcpy(t->points + 3 * i, ray.origin, sizeof ray.origin);
  }
  slab_scene_destroy(scene);
}

static void hard_scenes_answer_alike_in_every_way(void **state) {
  random_state random = harness_seeded("test_points_random hard");
  task *t = harness_space(sizeof *t);
  for (int which = 0; which < BVH_SCENES; which++)
    for (uint32_t i = 0; i < harness_rays(3); i++) {
      const hard h = {(bvh_scene)which, random_bits(&random)};
      t->options = (slab_point_options){.mask = random_below(&random, 4)};
      hard_points(*state, &random, &h, t);
      verify(*state, t, (maker){fill_hard, &h}, POINTS, true);
    }
  free(t);
}

/* ---- scenes that change ---- */

static void changed_scenes_answer_as_those_made_anew(void **state) {
  const layout_contexts *c = *state;
  random_state random = harness_seeded("test_points_random moving");
  task *t = harness_space(sizeof *t);
  point_answers want = {0};
  for (uint32_t round = 0; round < 3; round++)
    for (int k = 0; k < c->count; k++) {
      moving m;
      assert_ok(moving_begin(&m, c->of[k], random_bits(&random), 12));
      for (int step = 0; step < 8; step++) {
        slab_scene *anew;
        assert_ok(slab_scene_commit(m.scene, &(slab_build_options){.tree = trees[1 + step % 3]}));
        assert_ok(moving_anew(&m, c->of[k], SLAB_TREE_FLAT, &anew));
        for (size_t i = 0; i < POINTS; i++) adversarial_point(&random, &m.points, t->points + 3 * i);
        t->options = adversarial_point_options(&random, &m.points, POINTS, t->masks, t->radii);
        assert_ok(point_answers_ask_all(&want, anew, t->points, POINTS, &t->options));
        compare_with(t, &want, m.scene, "changed");
        slab_scene_destroy(anew);
        assert_ok(moving_step(&m, MOVING_ANY));
      }
      moving_end(&m);
    }
  point_answers_free(&want);
  free(t);
}

/* ---- instances ---- */

/* A scene's answers hold by both references; those of the same scene in the other layout are the same. */
static void instances_answer_alike_in_every_layout(void **state) {
  const layout_contexts *c = *state;
  random_state random = harness_seeded("test_points_random instances");
  task *t = harness_space(sizeof *t);
  static slab_ray rays[POINTS];
  for (uint32_t round = 0; round < harness_rays(15); round++) {
    const uint64_t seed = random_bits(&random);
    const unsigned planes = round % 3 == 0 ? 1u << SLAB_PLANE : 0;
    point_answers want = {0};
    for (int k = 0; k < c->count; k++) {
      nested n;
      assert_ok(nested_begin_rigid(&n, c->of[k], seed, (ADVERSARIAL_ALL_KINDS & ~(1u << SLAB_PLANE)) | planes));
      if (k > 0) {
        compare_with(t, &want, n.scenes[NESTED_TOP], "the other layout");
      } else {
        nested_rays(&n, POINTS, rays);
        for (size_t i = 0; i < POINTS; i++) memcpy(t->points + 3 * i, rays[i].origin, sizeof rays[i].origin);
        t->options = adversarial_point_options(&random, &n.points[0], POINTS, t->masks, t->radii);
        assert_ok(point_answers_ask_all(&want, n.scenes[NESTED_TOP], t->points, POINTS, &t->options));
        check_answers(t, n.scenes[NESTED_TOP], &want, true);
      }
      nested_end(&n);
    }
    point_answers_free(&want);
  }
  free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(adversarial_scenes_answer_alike_in_every_way),
      cmocka_unit_test(kinds_alone_answer_alike_in_every_way),
      cmocka_unit_test(extreme_numbers_answer_alike_in_every_way),
      cmocka_unit_test(hard_scenes_answer_alike_in_every_way),
      cmocka_unit_test(changed_scenes_answer_as_those_made_anew),
      cmocka_unit_test(instances_answer_alike_in_every_layout),
  };
  return cmocka_run_group_tests_name("test_points_random", tests, harness_each_layout, harness_close);
}
