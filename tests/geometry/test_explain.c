/* slab_explain answers as casts do, bit by bit. Every ray of the hazardous sets meets every primitive. The answer is
 * compared with the list of all hits and the interval of a cast on the device. The steps lead to that answer. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sets/adversarial.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"
#include "sets/lattice.h"
#include "sets/nested.h"
#include "verdict_sets.h"

enum { STEPS_MOST = 512, IDS_MOST = 20000 };

/* ---- steps ---- */

typedef struct told {
  slab_explanation found;
  slab_step steps[STEPS_MOST];
  size_t count;
} told;

static void explain(slab_scene *scene, const slab_ray *ray, slab_primitive_id id, const slab_cast_options *options,
                    told *t) {
  assert_ok(slab_explain(scene, ray, id, options, &t->found, t->steps, STEPS_MOST, &t->count));
  assert_true(t->count <= STEPS_MOST);
}

/* NULL where there is none. */
static const slab_step *find(const told *t, const char *part, const char *name) {
  for (size_t i = 0; i < t->count; i++)
    if (!strcmp(t->steps[i].part, part) && !strcmp(t->steps[i].name, name)) return &t->steps[i];
  return NULL;
}

static float value(const told *t, const char *part, const char *name) {
  const slab_step *step = find(t, part, name);
  if (step != NULL) return step->value;
  fail_msg("no step \"%s\" of \"%s\"", name, part);
  return NAN;
}

static bool is_same(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || a == b || (a != a && b != b); }

/* The greatest near t, NaN left out, or the least far t. */
static float bound_of(const told *t, const char *const parts[3], const char *name, float none, float sign) {
  float bound = none;
  for (int i = 0; i < 3; i++) {
    const float crossing = value(t, parts[i], name);
    if (sign * crossing > sign * bound) bound = crossing;
  }
  return bound;
}

/* Three slabs and what follows from them. */
static void check_slabs(const told *t, const char *const parts[3], const char *whole) {
  if (find(t, whole, "enter") == NULL || find(t, parts[0], "near t") == NULL) return;
  for (int i = 0; i < 3; i++) {
    const float origin = value(t, parts[i], "origin"), direction = value(t, parts[i], "direction");
    const float inverse = value(t, parts[i], "inverse"), near = value(t, parts[i], "near plane");
    assert_true(is_same(inverse, 1.0f / direction));
    assert_true(is_same(value(t, parts[i], "near t"), (near - origin) * inverse));
    assert_true(is_same(value(t, parts[i], "far t"), (value(t, parts[i], "far plane") - origin) * inverse));
    if (isinf(near)) continue; /* of primitives that are never hit near is beyond far */
    assert_true(!(direction >= 0.0f) || !(near > value(t, parts[i], "far plane")));
    assert_true(!(direction < 0.0f) || !(near < value(t, parts[i], "far plane")));
  }
  const float enter = bound_of(t, parts, "near t", -INFINITY, 1.0f);
  assert_true(is_same(value(t, whole, "enter"), enter));
  assert_true(is_same(value(t, whole, "leave"), bound_of(t, parts, "far t", INFINITY, -1.0f)));
  if (find(t, whole, "overlaps") == NULL) return;
  const float clipped = value(t, whole, "clipped enter");
  const bool overlaps =
      clipped <= value(t, whole, "widened leave") && clipped <= value(t, "scaled ray", "t_max") && clipped >= enter;
  assert_true((value(t, whole, "overlaps") == 1.0f) == overlaps);
}

/* Checks that the signs of a triangle's edges follow as the notes say. */
static void check_edges(const told *t, bool closed) {
  static const char *const edges[] = {"edge bc", "edge ca", "edge ab"};
  for (int i = 0; i < 3; i++) {
    const float difference = value(t, edges[i], "difference"), residual = value(t, edges[i], "residual");
    assert_true(is_same(difference, value(t, edges[i], "p") - value(t, edges[i], "q")));
    if (closed) {
      const bool is_certain = fabsf(difference) > value(t, edges[i], "error");
      assert_true(is_same(value(t, edges[i], "sign"), is_certain ? difference : 0.0f));
      continue;
    }
    const float exact = residual != 0.0f ? residual : value(t, edges[i], "beside");
    assert_true(is_same(value(t, edges[i], "sign"), difference != 0.0f ? difference : exact));
  }
}

static void check_steps(const told *t, const slab_cast_options *options) {
  static const char *const nouns[] = {"plane", "sphere", "box", "oriented box", "triangle"};
  static const char *const box[] = {"x", "y", "z"}, *const frame[] = {"axis 0", "axis 1", "axis 2"};
  static const char *const bounds[] = {"bounds x", "bounds y", "bounds z"};
  static const char *const padded[] = {"padded bounds x", "padded bounds y", "padded bounds z"};
  const bool is_hit = t->found.hit.primitive < SLAB_INVALID;
  const char *noun = nouns[t->found.kind];
  assert_true((value(t, "answer", "hit") == 1.0f) == is_hit);
  if (value(t, "ray", "is valid") == 0.0f || value(t, "scaled ray", "has a range") == 0.0f) {
    assert_false(is_hit);
    return;
  }
  const slab_step *last = find(t, "answer", "hit");
  const bool is_hidden =
      strstr(last->note, "mask") != NULL || strstr(last->note, "skips") != NULL || strstr(last->note, "gate") != NULL;
  if (!is_hidden) assert_true((value(t, noun, "is hit") == 1.0f) == is_hit);
  check_slabs(t, box, "box");
  check_slabs(t, frame, "oriented box");
  check_slabs(t, bounds, "bounds");
  check_slabs(t, padded, "padded bounds");
  if (t->found.kind == SLAB_TRIANGLE) check_edges(t, options != NULL && options->edges == SLAB_EDGES_CLOSED);
  if (!is_hit || find(t, "outside", "t of the scene") != NULL) return;
  const int exponent = (int)value(t, "scaled ray", "exponent");
  const float crossing = value(t, noun, "crossing"), final = (float)ldexp((double)crossing, -exponent);
  if (fabsf(final) >= 0x1p-126f || final == 0.0f) assert_true(final == t->found.hit.t);
}

static void check_texts(const told *t) {
  for (size_t i = 0; i < t->count; i++) {
    const slab_step *s = &t->steps[i];
    assert_true(s->part[0] != '\0' && s->name[0] != '\0' && s->formula != NULL && s->note != NULL);
    assert_true(!s->is_question || s->value == 0.0f || s->value == 1.0f);
    assert_ptr_equal(find(t, s->part, s->name), s); /* no other has its name */
  }
}

/* ---- answers ---- */

/* The ids of all primitives of a scene, from what slab_explain takes. */
typedef struct ids {
  slab_primitive_id *list;
  size_t count;
} ids;

static ids all_ids(slab_scene *scene, bool has_instances) {
  static const slab_ray ray = {{0, 0, 0}, 0, {1, 0, 0}, 1};
  slab_scene_stats stats;
  slab_explanation found;
  size_t steps;
  assert_ok(slab_scene_info(scene, &stats));
  const size_t own = (size_t)(stats.planes + stats.spheres + stats.boxes + stats.obbs + stats.triangles);
  const size_t most = has_instances ? IDS_MOST : own;
  ids all = {harness_space((most + 1) * sizeof *all.list), 0};
  for (slab_primitive_id id = {0, 0}; id.geometry < stats.geometries; id.geometry++)
    for (id.primitive = 0;; id.primitive++) {
      const slab_status status = slab_explain(scene, &ray, id, NULL, &found, NULL, 0, &steps);
      if (status == SLAB_INVALID_ARGUMENT) break;
      assert_ok(status);
      assert_true(all.count < most);
      all.list[all.count++] = id;
    }
  assert_true(has_instances ? all.count > own : all.count == own);
  return all;
}

static const slab_hit *hit_in(const answers *a, size_t ray, slab_primitive_id id) {
  for (uint64_t k = a->offsets[ray]; k < a->offsets[ray + 1]; k++)
    if (a->all[k].primitive == id.primitive && a->all[k].geometry == id.geometry) return &a->all[k];
  return NULL;
}

/* The first of two intervals by (enter, geometry, primitive); ids come in ascending order. */
static void take_interval(slab_interval *best, const slab_interval *i) {
  if (i->primitive < SLAB_INVALID && (best->primitive >= SLAB_INVALID || i->enter < best->enter)) *best = *i;
}

/* Every ray against every primitive. Steps are looked at of every 16th pair and of all hits. */
static size_t check_rays_of(slab_scene *scene, bool has_instances, const slab_ray *rays, size_t n,
                            const slab_cast_options *given) {
  answers a = {0};
  told t;
  size_t hits = 0, pairs = 0;
  const ids all = all_ids(scene, has_instances);
  assert_ok(answers_cast(&a, SLAB_ALL, scene, rays, n, given));
  assert_ok(answers_cast(&a, SLAB_CLOSEST, scene, rays, n, given));
  assert_ok(answers_cast(&a, SLAB_INTERVAL, scene, rays, n, given));
  for (size_t i = 0; i < n; i++) {
    slab_cast_options options = given != NULL ? *given : (slab_cast_options){0};
    options.skip = given != NULL && given->skip != NULL ? given->skip + i : NULL;
    const uint32_t none = a.closest[i].primitive == SLAB_INVALID ? SLAB_INVALID : SLAB_MISS;
    const slab_hit miss = {INFINITY, {0, 0, 0}, 0, 0, none, none};
    slab_interval best = {INFINITY, -INFINITY, none, none};
    for (size_t k = 0; k < all.count; k++, pairs++) {
      const slab_hit *hit = hit_in(&a, i, all.list[k]);
      explain(scene, &rays[i], all.list[k], given != NULL ? &options : NULL, &t);
      assert_same_bits(&t.found.hit, hit != NULL ? hit : &miss, 1, sizeof miss);
      take_interval(&best, &t.found.interval);
      if (hit != NULL || pairs % 16 == 0) check_steps(&t, given);
      if (pairs % 256 == 0) check_texts(&t);
      hits += hit != NULL;
    }
    assert_same_bits(&best, &a.interval[i], 1, sizeof best);
  }
  harness_count(pairs);
  answers_free(&a);
  free(all.list);
  return hits;
}

static size_t check_rays(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *given) {
  return check_rays_of(scene, false, rays, n, given);
}

static void explains_adversarial_scenes(void **state) {
  enum { SCENES = 16, RAYS = 100 };
  random_state r = harness_seeded("explains_adversarial_scenes");
  size_t hits = 0;
  for (int s = 0; s < SCENES; s++) {
    slab_ray rays[RAYS];
    slab_primitive_id skip[RAYS];
    adversarial w = adversarial_begin(&r, s % 2);
    slab_scene *scene = NULL;
    assert_ok(slab_scene_create(*state, &scene));
    assert_ok(adversarial_fill(&r, &w, ADVERSARIAL_ALL_KINDS, ADVERSARIAL_MOST, scene));
    assert_ok(slab_scene_commit(scene, NULL));
    for (int i = 0; i < RAYS; i++) {
      rays[i] = adversarial_ray(&r, &w);
      skip[i] = adversarial_skip(&r);
    }
    slab_cast_options options = adversarial_options(&r, skip);
    options.max_hits = 0; /* so that all hits are listed */
    hits += check_rays(scene, rays, RAYS, s % 4 == 0 ? NULL : &options);
    slab_scene_destroy(scene);
  }
  print_message("%zu hits\n", hits);
  assert_true(hits > SCENES * RAYS);
}

static void explains_exact_edges_and_vertices(void **state) {
  enum { RAYS = 400 };
  random_state r = harness_seeded("explains_exact_edges_and_vertices");
  static lattice_mesh mesh;
  static const uint32_t cubes = 0x5a5a5au;
  slab_ray rays[RAYS];
  slab_scene *scene = NULL;
  const lattice_origins origins = {{96, 96, 96}, lattice_out_of_cubes, NULL};
  mesh = (lattice_mesh){0};
  lattice_cubes(&mesh, cubes);
  for (int i = 0; i < RAYS; i++) {
    const lattice_aim aim = lattice_aim_at(&r, &mesh, &origins);
    rays[i] = lattice_ray(&aim, lattice_places[0]);
  }
  assert_ok(slab_scene_create(*state, &scene));
  assert_ok(lattice_add(scene, &mesh, lattice_places[0]));
  assert_ok(slab_scene_commit(scene, NULL));
  const slab_cast_options closed = {.edges = SLAB_EDGES_CLOSED}, front = {.cull = SLAB_CULL_FRONT};
  const size_t half_open_hits = check_rays(scene, rays, RAYS, NULL);
  const size_t closed_hits = check_rays(scene, rays, RAYS, &closed);
  assert_true(closed_hits > half_open_hits && half_open_hits > 0); /* edges are met */
  check_rays(scene, rays, RAYS, &front);
  slab_scene_destroy(scene);
}

static void explains_scenes_that_are_hard_for_bvhs(void **state) {
  enum { RAYS = 60, SHAPES_EACH = 300 };
  for (int which = 0; which < BVH_SCENES; which++) {
    random_state r = harness_seeded(bvh_scene_name((bvh_scene)which));
    const slab_build_options tree = {.tree = SLAB_TREE_FAST};
    slab_scene_stats stats;
    slab_ray rays[RAYS];
    slab_scene *scene = NULL;
    assert_ok(slab_scene_create(*state, &scene));
    assert_ok(bvh_scene_fill((bvh_scene)which, SHAPES_EACH, random_next(&r), scene));
    assert_ok(slab_scene_commit(scene, &tree));
    assert_ok(slab_scene_info(scene, &stats));
    for (int i = 0; i < RAYS; i++) rays[i] = bvh_scene_ray(&r, &stats);
    check_rays(scene, rays, RAYS, NULL);
    slab_scene_destroy(scene);
  }
}

/* A gate's steps, and those from a model to the scene around it. */
static void check_way(const told *t) {
  static const char *const gate[] = {"gate 1 x", "gate 1 y", "gate 1 z"};
  check_slabs(t, gate, "gate 1");
  for (int i = 0; i < 3; i++) {
    static const char *const inner[] = {"ray", "ray in model 1"}, *const place[] = {"place x", "place y", "place z"};
    static const char *const origins[] = {"origin x", "origin y", "origin z"};
    static const char *const b[3][3] = {
        {"B 0 0", "B 0 1", "B 0 2"}, {"B 1 0", "B 1 1", "B 1 2"}, {"B 2 0", "B 2 1", "B 2 2"}};
    const char *model = inner[find(t, "gate 2", "enter") != NULL];
    float sum = 0.0f;
    for (int k = 0; k < 3; k++) {
      const float from = value(t, "ray of the scene", origins[k]) - value(t, "instance 1", place[k]);
      const float term = value(t, "instance 1", b[i][k]) * from;
      sum = k == 0 ? term : sum + term;
    }
    assert_true(is_same(value(t, model, origins[i]), sum));
  }
  const float at = value(t, "outside", "t of the scene");
  assert_true(at >= value(t, "gate 1", "entered at"));
  assert_true(ldexpf(at, -(int)value(t, "scaled ray of the scene", "exponent")) == t->found.hit.t);
}

/* Each hit of the top scene, in primitives of its own and up to two models deep; and those that miss a gate. */
static void explains_instances(void **state) {
  enum { SCENES = 4, RAYS = 40 };
  random_state r = harness_seeded("explains_instances");
  size_t hits = 0, told_ways = 0;
  for (int s = 0; s < SCENES; s++) {
    nested n;
    slab_ray rays[RAYS];
    slab_primitive_id skip[RAYS];
    answers a = {0};
    told t;
    assert_ok(nested_begin(&n, *state, random_next(&r), ADVERSARIAL_ALL_KINDS));
    slab_scene *scene = n.scenes[NESTED_TOP];
    nested_rays(&n, RAYS, rays);
    for (int i = 0; i < RAYS; i++) skip[i] = (slab_primitive_id){0, random_below(&r, 20)};
    slab_cast_options options = adversarial_options(&r, skip);
    options.max_hits = 0;
    hits += check_rays_of(scene, true, rays, RAYS, s % 2 == 0 ? NULL : &options);
    assert_ok(answers_cast(&a, SLAB_CLOSEST, scene, rays, RAYS, NULL));
    for (int i = 0; i < RAYS; i++) {
      if (a.closest[i].primitive >= SLAB_INVALID) continue;
      explain(scene, &rays[i], (slab_primitive_id){a.closest[i].primitive, a.closest[i].geometry}, NULL, &t);
      if (find(&t, "gate 1", "enter") == NULL || fabsf(t.found.hit.t) < 0x1p-126f) continue;
      check_way(&t);
      told_ways++;
    }
    answers_free(&a);
    nested_end(&n);
  }
  print_message("%zu hits, %zu closest ones in models\n", hits, told_ways);
  assert_true(hits > SCENES * RAYS / 4 && told_ways > SCENES * RAYS / 8);
}

#define ALL_KINDS \
  { "planes", "spheres", "boxes", "obbs", "soup", NULL }

static void explains_sets_of_the_oracle(void **state) {
  static const verdict_set sets[] = {
      {"extreme lengths", .scenes = ALL_KINDS, .count = 6, .ray = ray_of_extreme_length},
      {"along axes", .scenes = ALL_KINDS, .count = 6, .ray = ray_along_an_axis},
      {"segments", .scenes = ALL_KINDS, .count = 6, .ray = ray_segment},
      {"tiny", .scenes = ALL_KINDS, .count = 6, .ray = ray_anywhere, .scale = {0x1p-40f, 0x1p-40f, 0x1p-40f}},
      {"huge", .scenes = ALL_KINDS, .count = 6, .ray = ray_anywhere, .scale = {0x1p50f, 0x1p50f, 0x1p50f}},
      {"all options", .scenes = ALL_KINDS, .count = 6, .ray = ray_anywhere, .skip = 1, .face_forward = 1, .mask = 0x1e,
       .cull = SLAB_CULL_BACK},
      {"corners of boxes", .build = build_cornered_boxes, .ray = ray_at_box_corner},
      {"dyadic tetrahedra", .build = build_dyadic_tetrahedra, .ray = ray_slanted},
      {"ends on all kinds", .build = build_dyadic_even_mix, .ray = ray_diagonal_even, .cull = SLAB_CULL_FRONT,
       .skip = 1},
      {"long edges", .scenes = {"room"}, .ray = ray_at_long_edge},
      {"needles", .build = build_needles, .ray = ray_at_needle},
  };
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
    random_state r = harness_seeded(sets[i].name);
    verdict_world w = verdict_open(*state, &sets[i], &r, 400);
    assert_true(check_rays(w.scene, w.rays, w.n, &w.options) > 0);
    verdict_close(&w);
  }
}

/* ---- no explanation ---- */

static slab_scene *unit_box(slab_context *context) {
  static const slab_box box = {{0, 0, 0}, {1, 1, 1}};
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_boxes(scene, &box, 1, NULL, NULL));
  return scene;
}

#define REFUSED(call, status, says)                    \
  do {                                                 \
    assert_status(call, status);                       \
    assert_non_null(strstr(slab_message(), says));     \
    assert_true(t.count == 77 && t.found.hit.t == 77); \
  } while (0)

static void refuses_what_is_not_there(void **state) {
  static const slab_primitive_id first = {0, 0}, beyond = {1, 0}, other = {0, 1};
  const slab_cast_options bad = {.cull = (slab_cull)7};
  const slab_ray ray = {{-1, 0.5f, 0.5f}, 0, {1, 0, 0}, INFINITY};
  told t = {.found.hit.t = 77, .count = 77};
  slab_scene *s = unit_box(*state);
  REFUSED(slab_explain(s, &ray, first, NULL, &t.found, NULL, 0, &t.count), SLAB_INVALID_STATE, "not committed");
  assert_ok(slab_scene_commit(s, NULL));
  REFUSED(slab_explain(NULL, &ray, first, NULL, &t.found, NULL, 0, &t.count), SLAB_INVALID_ARGUMENT, "scene is NULL");
  REFUSED(slab_explain(s, NULL, first, NULL, &t.found, NULL, 0, &t.count), SLAB_INVALID_ARGUMENT, "ray is NULL");
  REFUSED(slab_explain(s, &ray, first, NULL, NULL, NULL, 0, &t.count), SLAB_INVALID_ARGUMENT, "explanation is NULL");
  REFUSED(slab_explain(s, &ray, first, NULL, &t.found, NULL, 1, &t.count), SLAB_INVALID_ARGUMENT, "steps is NULL");
  REFUSED(slab_explain(s, &ray, first, NULL, &t.found, NULL, 0, NULL), SLAB_INVALID_ARGUMENT, "count is NULL");
  REFUSED(slab_explain(s, &ray, other, NULL, &t.found, NULL, 0, &t.count), SLAB_INVALID_ARGUMENT, "geometry is 1");
  REFUSED(slab_explain(s, &ray, beyond, NULL, &t.found, NULL, 0, &t.count), SLAB_INVALID_ARGUMENT, "primitive is 1");
  REFUSED(slab_explain(s, &ray, first, &bad, &t.found, NULL, 0, &t.count), SLAB_INVALID_ARGUMENT, "cull is 7");
  slab_scene_destroy(s);
}

/* No step is written beyond the room that there is, and all are counted. */
static void writes_what_there_is_room_for(void **state) {
  static const slab_primitive_id id = {0, 0};
  const slab_ray ray = {{-1, 0.5f, 0.5f}, 0, {1, 0, 0}, INFINITY};
  slab_scene *scene = unit_box(*state);
  assert_ok(slab_scene_commit(scene, NULL));
  told t, some;
  explain(scene, &ray, id, NULL, &t);
  memset(some.steps, 0x5a, sizeof some.steps);
  assert_ok(slab_explain(scene, &ray, id, NULL, &some.found, some.steps, 5, &some.count));
  assert_int_equal(some.count, t.count);
  assert_memory_equal(some.steps, t.steps, 5 * sizeof *t.steps);
  for (size_t i = 0; i < sizeof *t.steps; i++) assert_int_equal(((unsigned char *)&some.steps[5])[i], 0x5a);
  slab_scene_destroy(scene);
}

/* The ray lies in a face: NaN, which constrains nothing, and the note says so. */
static void names_what_becomes_of_nan(void **state) {
  static const slab_primitive_id id = {0, 0};
  const slab_ray ray = {{-1, 0, 0.5f}, 0, {2, -0.0f, 0}, INFINITY};
  slab_scene *scene = unit_box(*state);
  assert_ok(slab_scene_commit(scene, NULL));
  told t;
  explain(scene, &ray, id, NULL, &t);
  assert_true(isnan(value(&t, "y", "near t")));
  assert_non_null(strstr(find(&t, "y", "near t")->note, "constrains nothing"));
  assert_non_null(strstr(find(&t, "scaled ray", "direction y")->note, "-0 counts as +0"));
  assert_true(value(&t, "y", "enter") == value(&t, "x", "enter"));
  assert_true(value(&t, "scaled ray", "exponent") == 1.0f && value(&t, "x", "near t") == 1.0f);
  assert_true(t.found.hit.t == 0.5f && t.found.hit.u == 0.0f);
  assert_non_null(strstr(find(&t, "answer", "face")->note, "lower plane of x"));
  assert_non_null(strstr(find(&t, "box", "enter")->note, "axis x decides"));
  slab_scene_destroy(scene);
}

static int open_context(void **state) {
  *state = harness_context();
  return 0;
}

static int close_context(void **state) {
  slab_context_destroy(*state);
  return 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(explains_adversarial_scenes),
      cmocka_unit_test(explains_exact_edges_and_vertices),
      cmocka_unit_test(explains_scenes_that_are_hard_for_bvhs),
      cmocka_unit_test(explains_instances),
      cmocka_unit_test(explains_sets_of_the_oracle),
      cmocka_unit_test(refuses_what_is_not_there),
      cmocka_unit_test(writes_what_there_is_room_for),
      cmocka_unit_test(names_what_becomes_of_nan),
  };
  return cmocka_run_group_tests(tests, open_context, close_context);
}
