/* Masks and hits to begin after of rays' own. Masks must equal a cast for each value. The hits after a hit must be the
 * rest of those that slab_all lists of the ray. This holds in every query, layout and build quality, through instances
 * and with coincident surfaces. From one hit to the next it is a walk along the ray. */
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "sets/adversarial.h"
#include "sets/answers.h"
#include "sets/nested.h"

/* More than FEW_RAYS, and no multiple of any lanes. */
enum { RAYS = 307, FEW = 37, LAYOUTS = 2, SEEDS = 3, STEPS = 12 };

static const slab_short_hit before_all = {-INFINITY, SLAB_MISS, SLAB_MISS};

/* Whether programs are compiled ahead: on OpenCL each query, layout and build quality would take seconds. */
static bool are_programs_ready(void) {
  const char *backend = getenv("SLABCAST_BACKENDS");
  return backend != NULL && strcmp(backend, "opencl") != 0;
}

/* A context for each layout of the processor, elsewhere one of its own layout. */
typedef struct contexts {
  slab_context *of[LAYOUTS];
  int count;
} contexts;

static int setup(void **state) {
  static const slab_layout layouts[LAYOUTS] = {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED};
  contexts *c = harness_space(sizeof *c);
  c->count = harness_is_native() ? LAYOUTS : 1;
  for (int k = 0; k < c->count; k++) {
    /* packets are forced where the rays have none of their own; those that have are cast one by one */
    const slab_context_options options = {
        .lane_width = harness_width(),
        .traversal = k == 0 && harness_is_native() ? SLAB_TRAVERSAL_PACKETS : SLAB_TRAVERSAL_AUTO,
        .layout = harness_is_native() ? layouts[k] : SLAB_LAYOUT_DEFAULT};
    assert_ok(slab_context_create(&options, &c->of[k]));
  }
  *state = c;
  return 0;
}

static int teardown(void **state) {
  contexts *c = *state;
  for (int k = 0; k < c->count; k++) slab_context_destroy(c->of[k]);
  free(c);
  return 0;
}

/* ---- scenes and rays ---- */

/* A scene, rays at it, and the other arguments of their cast. */
typedef struct task {
  slab_scene *scene;
  slab_ray rays[RAYS];
  slab_primitive_id skip[RAYS];
  uint32_t masks[RAYS];
  slab_short_hit after[RAYS];
  random_state random;
} task;

/* Each of the shapes twice: as a geometry of its own, with another mask, and behind itself in one. */
static slab_status add_copies(slab_scene *scene) {
  static const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  static const slab_sphere sphere = {{0, 0, 0}, 1};
  static const slab_plane plane = {{0, 0, 1}, 1};
  static const slab_obb obb = {{0, 0, 0}, {1, 1, 1}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const slab_box boxes[] = {box, box};
  const slab_obb obbs[] = {obb, obb};
  const slab_sphere spheres[] = {sphere, sphere};
  const slab_plane planes[] = {plane, plane};
  static const float corners[][3] = {{-1, -1, 1}, {1, -1, 1}, {1, 1, 1}, {-1, 1, 1}};
  static const uint32_t faces[][3] = {{0, 1, 2}, {0, 2, 3}, {0, 1, 2}, {0, 2, 3}};
  const slab_mesh mesh = {.vertices = corners[0], .vertex_count = 4, .indices = faces[0], .triangle_count = 4};
  slab_status status = SLAB_OK;
  for (uint32_t mask = 1; mask <= 4 && status == SLAB_OK; mask *= 2) {
    const slab_geometry_options options = {.mask = mask};
    status = slab_scene_add_boxes(scene, boxes, 2, &options, NULL);
    if (status == SLAB_OK) status = slab_scene_add_mesh(scene, &mesh, &options, NULL);
    if (status == SLAB_OK) status = slab_scene_add_spheres(scene, spheres, 2, &options, NULL);
    if (status == SLAB_OK) status = slab_scene_add_obbs(scene, obbs, 2, &options, NULL);
    if (status == SLAB_OK) status = slab_scene_add_planes(scene, planes, 2, &options, NULL);
  }
  return status;
}

/* Rays from and to points of few coordinates: they meet faces, edges and corners of the copies. */
static slab_ray ray_at_copies(random_state *random) {
  slab_ray ray = {.t_max = random_below(random, 4) == 0 ? 1.0f : INFINITY};
  float *const parts[] = {ray.origin, ray.direction};
  for (int p = 0; p < 2; p++)
    for (int i = 0; i < 3; i++) parts[p][i] = (float)((int)random_below(random, 9) - 4) / 2.0f;
  return ray;
}

static void own_values(task *t, size_t n) {
  static const uint32_t masks[] = {0, 1, 2, 4, 6, UINT32_MAX};
  for (size_t i = 0; i < n; i++) {
    t->masks[i] = masks[random_below(&t->random, sizeof masks / sizeof *masks)];
    t->skip[i] = adversarial_skip(&t->random);
    t->after[i] = before_all;
  }
}

static slab_scene *committed(slab_scene *scene, slab_tree tree) {
  const slab_build_options options = {.tree = tree};
  assert_ok(slab_scene_commit(scene, &options));
  return scene;
}

static void copies_begin(task *t, slab_context *context, slab_tree tree, uint32_t seed) {
  t->random = harness_seeded("copies");
  for (uint32_t k = 0; k < seed; k++) random_next(&t->random);
  t->scene = harness_scene(context);
  assert_ok(add_copies(t->scene));
  committed(t->scene, tree);
  for (size_t i = 0; i < RAYS; i++) t->rays[i] = ray_at_copies(&t->random);
  own_values(t, RAYS);
}

static void adversarial_task(task *t, slab_context *context, slab_tree tree, uint32_t seed) {
  t->random = harness_seeded("own");
  for (uint32_t k = 0; k < seed; k++) random_next(&t->random);
  adversarial points = adversarial_begin(&t->random, 0);
  t->scene = harness_scene(context);
  assert_ok(adversarial_fill(&t->random, &points, ADVERSARIAL_ALL_KINDS, 12, t->scene));
  committed(t->scene, tree);
  for (size_t i = 0; i < RAYS; i++) t->rays[i] = adversarial_ray(&t->random, &points);
  own_values(t, RAYS);
}

/* ---- expectations ---- */

/* The options of a cast that differ from one task to the next. */
static slab_cast_options options_of(task *t) {
  slab_cast_options o = adversarial_options(&t->random, t->skip);
  o.mask = 0;
  o.max_hits = 0;
  return o;
}

static bool follows(const slab_hit *hit, const slab_short_hit *after) {
  if (hit->t > after->t || hit->t < after->t) return hit->t > after->t;
  if (hit->geometry != after->geometry) return hit->geometry > after->geometry;
  return hit->primitive > after->primitive;
}

static void checked(const task *t, slab_query query, size_t n, const answers *a, const slab_cast_options *options) {
  slab_check_report report;
  assert_ok(slab_check(t->scene, query, t->rays, n, answers_of(a, query), a->offsets, options, &report));
  if (report.mismatches + report.oracle_wrong > 0) fail_msg("%s: %s", answer_name(query), report.text);
  harness_count(n);
}

/* Casts every query after t->after and compares it with the rest of what `all` lists; t->after becomes the next hit of
 * each ray. Returns how many rays are left with hits. */
static size_t expect_rest(task *t, size_t n, const answers *all, slab_cast_options options, uint32_t most) {
  answers a = {0};
  size_t left = 0;
  options.after = t->after;
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    options.max_hits = q == SLAB_ALL ? most : 0;
    if (q == SLAB_INTERVAL) continue;
    assert_ok(answers_cast(&a, (slab_query)q, t->scene, t->rays, n, &options));
    if (n == RAYS) checked(t, (slab_query)q, n, &a, &options);
  }
  for (size_t i = 0; i < n; i++) {
    const slab_hit *rest = all->all + all->offsets[i], *end = all->all + all->offsets[i + 1];
    while (rest < end && !follows(rest, &t->after[i])) rest++;
    const uint32_t count = (uint32_t)(end - rest);
    assert_int_equal(a.count[i], count);
    assert_int_equal(a.any[i], count > 0);
    const uint32_t listed = most != 0 && most < count ? most : count;
    assert_int_equal(a.offsets[i + 1] - a.offsets[i], listed);
    if (listed > 0) assert_same_bits(a.all + a.offsets[i], rest, listed, sizeof *rest);
    const uint32_t none = all->closest[i].geometry == SLAB_INVALID ? SLAB_INVALID : SLAB_MISS;
    const slab_hit miss = {INFINITY, {0, 0, 0}, 0, 0, none, none}, want = count > 0 ? *rest : miss;
    const slab_short_hit nearest = {want.t, want.primitive, want.geometry};
    assert_same_bits(&a.closest[i], &want, 1, sizeof want);
    assert_same_bits(&a.nearest[i], &nearest, 1, sizeof nearest);
    assert_same_bits(&a.distance[i], &want.t, 1, sizeof want.t);
    t->after[i] = nearest;
    left += count > 0;
  }
  answers_free(&a);
  return left;
}

/* The results of a cast without a hit to begin after: closest and all. */
static answers cast_whole(task *t, size_t n, const slab_cast_options *options) {
  answers a = {0};
  assert_ok(answers_cast(&a, SLAB_ALL, t->scene, t->rays, n, options));
  assert_ok(answers_cast(&a, SLAB_CLOSEST, t->scene, t->rays, n, options));
  return a;
}

/* Ray i begins after the nth of its hits, or where it has fewer after the last. */
static void to_hit(task *t, size_t i, const answers *all, uint64_t nth) {
  const uint64_t count = all->offsets[i + 1] - all->offsets[i];
  if (count == 0) return;
  const slab_hit *hit = all->all + all->offsets[i] + (nth < count ? nth : count - 1);
  t->after[i] = (slab_short_hit){hit->t, hit->primitive, hit->geometry};
}

/* From before all hits to the end of each list, one hit of every ray per step; of long lists the first hits and the
 * last. */
static void walk(task *t, size_t n) {
  const slab_cast_options options = options_of(t);
  answers all = cast_whole(t, n, &options);
  uint64_t most = 0;
  for (size_t i = 0; i < n; i++) {
    t->after[i] = before_all;
    if (all.offsets[i + 1] - all.offsets[i] > most) most = all.offsets[i + 1] - all.offsets[i];
  }
  assert_true(most > 1);
  for (uint64_t step = 0; step < most; step++) {
    assert_true(expect_rest(t, n, &all, options, step % 3 == 1 ? 2 : 0) > 0);
    if (step < STEPS || step + STEPS > most) continue;
    step = most - STEPS;
    for (size_t i = 0; i < n; i++) to_hit(t, i, &all, step);
  }
  assert_int_equal(expect_rest(t, n, &all, options, 0), 0);
  assert_int_equal(expect_rest(t, n, &all, options, 0), 0); /* nothing follows a miss */
  answers_free(&all);
}

/* A place that no walk comes to: at the t of a hit with other ids, between hits, and at the ends of the list. */
static slab_short_hit any_place(random_state *random, const answers *all, size_t i) {
  static const float ends[] = {-INFINITY, -FLT_MAX, -0.0f, 0.0f, 0x1p-149f, FLT_MAX, INFINITY};
  static const uint32_t ids[] = {0, 1, 2, SLAB_INVALID, SLAB_MISS};
  const uint64_t count = all->offsets[i + 1] - all->offsets[i];
  slab_short_hit place = {ends[random_below(random, 7)], ids[random_below(random, 5)], ids[random_below(random, 5)]};
  if (count == 0 || random_below(random, 4) == 0) return place;
  const slab_hit *hit = all->all + all->offsets[i] + random_below(random, (uint32_t)count);
  const uint32_t way = random_below(random, 5);
  place.t = way == 0 ? nextafterf(hit->t, -INFINITY) : way == 1 ? nextafterf(hit->t, INFINITY) : hit->t;
  if (way >= 2) place.geometry = hit->geometry + (way == 3) - (way == 4);
  if (way >= 2 && random_below(random, 2) == 0) place.primitive = hit->primitive;
  return place;
}

static void begin_anywhere(task *t, size_t n) {
  const slab_cast_options options = options_of(t);
  answers all = cast_whole(t, n, &options);
  for (size_t i = 0; i < n; i++) t->after[i] = any_place(&t->random, &all, i);
  expect_rest(t, n, &all, options, 0);
  answers_free(&all);
}

/* The bits of ray i's answers in a and b. */
static void same_answer(const answers *a, const answers *b, slab_query query, size_t i) {
  if (query == SLAB_ALL) {
    const uint64_t count = a->offsets[i + 1] - a->offsets[i];
    assert_int_equal(count, b->offsets[i + 1] - b->offsets[i]);
    if (count > 0) assert_same_bits(a->all + a->offsets[i], b->all + b->offsets[i], count, sizeof *a->all);
    return;
  }
  const size_t size = slab_result_size(query);
  const char *of_a = answers_of(a, query), *of_b = answers_of(b, query);
  assert_same_bits(of_a + i * size, of_b + i * size, 1, size);
}

/* Each value by a cast of its own; rays that see nothing by one whose range is empty, or which stay invalid. */
static void masks_as_casts(task *t, size_t n) {
  slab_cast_options options = options_of(t), alone = options;
  slab_ray blind[RAYS];
  answers a = {0}, b = {0};
  options.masks = t->masks;
  for (size_t i = 0; i < n; i++) {
    blind[i] = t->rays[i];
    if (isnan(blind[i].t_min) || isnan(blind[i].t_max)) continue;
    blind[i].t_min = 1, blind[i].t_max = 0;
  }
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    const slab_query query = (slab_query)q;
    assert_ok(answers_cast(&a, query, t->scene, t->rays, n, &options));
    checked(t, query, n, &a, &options);
    static const uint32_t masks[] = {0, 1, 2, 4, 6, UINT32_MAX};
    for (size_t m = 0; m < sizeof masks / sizeof *masks; m++) {
      alone.mask = masks[m];
      assert_ok(answers_cast(&b, query, t->scene, masks[m] == 0 ? blind : t->rays, n, &alone));
      for (size_t i = 0; i < n; i++)
        if (t->masks[i] == masks[m]) same_answer(&a, &b, query, i);
    }
  }
  answers_free(&a);
  answers_free(&b);
}

/* Both at once: the walk sees what the masks show. */
static void walk_masked(task *t, size_t n) {
  slab_cast_options options = options_of(t);
  options.masks = t->masks;
  answers all = cast_whole(t, n, &options);
  for (size_t i = 0; i < n; i++) t->after[i] = before_all;
  for (int step = 0; step < 3; step++) expect_rest(t, n, &all, options, 0);
  answers_free(&all);
}

/* ---- the tests ---- */

static void ask(task *t) {
  masks_as_casts(t, RAYS);
  begin_anywhere(t, RAYS);
  begin_anywhere(t, FEW);
  walk(t, FEW);
  walk_masked(t, FEW);
}

/* Scenes of one kind. On OpenCL one, which is flat. */
static uint32_t seeds(void) { return !are_programs_ready() ? 1 : harness_asks_all() ? SEEDS : 2; }

typedef void task_maker(task *, slab_context *, slab_tree, uint32_t seed);

static void each_way(const contexts *c, task_maker *make) {
  static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_HIGH, SLAB_TREE_DEFAULT};
  task *t = harness_space(sizeof *t);
  for (int k = 0; k < c->count; k++)
    for (uint32_t seed = 0; seed < seeds(); seed++) {
      make(t, c->of[k], trees[seed % 3], seed);
      ask(t);
      slab_scene_destroy(t->scene);
    }
  free(t);
}

static void coincident_surfaces_are_walked_in_order(void **state) { each_way(*state, copies_begin); }

static void random_scenes_of_every_kind(void **state) { each_way(*state, adversarial_task); }

static void instances(void **state) {
  const contexts *c = *state;
  if (!are_programs_ready()) skip();
  task *t = harness_space(sizeof *t);
  for (int k = 0; k < c->count; k++)
    for (uint32_t seed = 0; seed < seeds() - 1; seed++) {
      nested s;
      t->random = harness_seeded("own instances");
      assert_ok(nested_begin(&s, c->of[k], random_bits(&t->random) + seed, ADVERSARIAL_ALL_KINDS));
      t->scene = s.scenes[NESTED_TOP];
      nested_rays(&s, RAYS, t->rays);
      own_values(t, RAYS);
      ask(t);
      nested_end(&s);
    }
  free(t);
}

static void what_does_not_go_together_is_refused(void **state) {
  const contexts *c = *state;
  task *t = harness_space(sizeof *t);
  copies_begin(t, c->of[0], SLAB_TREE_DEFAULT, 0);
  slab_hit hits[RAYS];
  slab_interval intervals[RAYS];
  uint64_t offsets[RAYS + 1];
  slab_check_report report;
  slab_cast_options both = {.mask = 2, .masks = t->masks}, late = {.after = t->after};
  assert_status(slab_closest(t->scene, t->rays, RAYS, hits, &both), SLAB_INVALID_ARGUMENT);
  assert_mentions("mask is 0x2");
  assert_status(slab_interval_of(t->scene, t->rays, RAYS, intervals, &late), SLAB_INVALID_ARGUMENT);
  assert_mentions("slab_interval_of: after");
  for (size_t at = 0; at < RAYS; at += 51) {
    t->after[at].t = NAN;
    assert_status(slab_closest(t->scene, t->rays, RAYS, hits, &late), SLAB_INVALID_ARGUMENT);
    char place[32];
    snprintf(place, sizeof place, "after[%zu]: t is NaN", at);
    assert_mentions(place);
    assert_status(slab_all(t->scene, t->rays, RAYS, offsets, NULL, 0, NULL, &late), SLAB_INVALID_ARGUMENT);
    assert_status(slab_check(t->scene, SLAB_CLOSEST, t->rays, RAYS, hits, NULL, &late, &report), SLAB_INVALID_ARGUMENT);
    t->after[at].t = -INFINITY;
  }
  assert_ok(slab_closest(t->scene, t->rays, RAYS, hits, &late));
  slab_scene_destroy(t->scene);
  free(t);
}

/* The answers of slab_explain for a primitive that a mask hides, or that does not follow. */
static void explanations_name_the_reason(void **state) {
  const contexts *c = *state;
  task *t = harness_space(sizeof *t);
  copies_begin(t, c->of[0], SLAB_TREE_DEFAULT, 0);
  const slab_ray ray = {{0.25f, 0.125f, -4}, 0, {0, 0, 1}, INFINITY};
  const uint32_t see[] = {1, 2};
  slab_hit hit;
  assert_ok(slab_closest(t->scene, &ray, 1, &hit, NULL));
  const slab_short_hit after = {hit.t, hit.primitive, hit.geometry};
  const slab_primitive_id id = {hit.primitive, hit.geometry};
  const slab_cast_options options[] = {
      {.masks = &see[0]}, {.masks = &see[1]}, {.after = &after}, {.after = &before_all}};
  for (int k = 0; k < 4; k++) {
    slab_explanation told;
    size_t count;
    assert_ok(slab_explain(t->scene, &ray, id, &options[k], &told, NULL, 0, &count));
    if (k == 0 || k == 3)
      assert_same_bits(&told.hit, &hit, 1, sizeof hit);
    else
      assert_int_equal(told.hit.geometry, SLAB_MISS);
  }
  slab_scene_destroy(t->scene);
  free(t);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(coincident_surfaces_are_walked_in_order),
      cmocka_unit_test(random_scenes_of_every_kind),
      cmocka_unit_test(instances),
      cmocka_unit_test(what_does_not_go_together_is_refused),
      cmocka_unit_test(explanations_name_the_reason),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
