/* Where instances meet at an edge of the contract. They have hits of equal t in instances at one place, models that
 * overlap, and rays from so far that the gate alone decides. Every traversal and layout gives the same bits, which are
 * those of the CPU reference, and all that can be known beforehand is known. */
#include <math.h>
#include <string.h>

#include "expect.h"
#include "harness.h"
#include "sets/nested.h"

/* ---- ways to cast ---- */

static const struct way {
  const char *name;
  slab_traversal traversal;
  slab_layout layout;
  slab_tree tree;
} ways[] = {
    {"flat", SLAB_TRAVERSAL_SINGLE, SLAB_LAYOUT_DEFAULT, SLAB_TREE_FLAT},
    {"flat, packets", SLAB_TRAVERSAL_PACKETS, SLAB_LAYOUT_DEFAULT, SLAB_TREE_FLAT},
    {"one by one", SLAB_TRAVERSAL_SINGLE, SLAB_LAYOUT_DEFAULT, SLAB_TREE_FAST},
    {"packets, fast", SLAB_TRAVERSAL_PACKETS, SLAB_LAYOUT_DEFAULT, SLAB_TREE_FAST},
    {"packets, high", SLAB_TRAVERSAL_PACKETS, SLAB_LAYOUT_DEFAULT, SLAB_TREE_HIGH},
    {"interleaved", SLAB_TRAVERSAL_INTERLEAVED, SLAB_LAYOUT_DEFAULT, SLAB_TREE_HIGH},
    {"sorted", SLAB_TRAVERSAL_SORTED, SLAB_LAYOUT_DEFAULT, SLAB_TREE_HIGH},
    {"compressed", SLAB_TRAVERSAL_AUTO, SLAB_LAYOUT_COMPRESSED, SLAB_TREE_FAST},
    {"compressed, high", SLAB_TRAVERSAL_SORTED, SLAB_LAYOUT_COMPRESSED, SLAB_TREE_HIGH},
};

enum { WAYS = sizeof ways / sizeof *ways, RAYS = 400, BUNDLE = 16 };

/* One a way. */
static slab_context *contexts[WAYS];

static int open_all(void **state) {
  (void)state;
  for (int w = 0; w < WAYS; w++)
    assert_ok(slab_context_create(
        &(slab_context_options){
            .lane_width = harness_width(), .traversal = ways[w].traversal, .layout = ways[w].layout},
        &contexts[w]));
  return 0;
}

static int close_all(void **state) {
  (void)state;
  for (int w = 0; w < WAYS; w++) slab_context_destroy(contexts[w]);
  return 0;
}

/* Adds to an empty scene, which is committed afterwards. */
typedef void scene_filler(slab_context *, slab_scene *, const void *user);

/* Casts the rays in every way. Their answers are in *want, which the caller frees. */
static void cast_all_ways(scene_filler *fill, const void *user, const slab_ray rays[RAYS],
                          const slab_cast_options *options, answers *want) {
  answers got = {0};
  size_t first = 0;
  for (int w = 0; w < WAYS; w++) {
    slab_scene *scene = harness_scene(contexts[w]);
    fill(contexts[w], scene, user);
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = ways[w].tree}));
    if (w == 0)
      expect_cast(scene, rays, RAYS, options, want);
    else
      assert_ok(answers_cast_all(&got, scene, rays, RAYS, options));
    for (int q = 0; w > 0 && q < ANSWER_QUERIES; q++)
      if (answers_differ(&got, want, (slab_query)q, &first) > 0)
        fail_msg("%s: %s differs at ray %zu first", ways[w].name, answer_name((slab_query)q), first);
    harness_count(w > 0 ? ANSWER_QUERIES * RAYS : 0);
    slab_scene_destroy(scene);
  }
  answers_free(&got);
}

static uint32_t hits_in(const answers *a) {
  uint32_t hits = 0;
  for (size_t i = 0; i < a->n; i++) hits += a->any[i];
  return hits;
}

/* ---- tiles ---- */

enum { SIDE = 4, TRIANGLES = 2 * SIDE * SIDE, APART = 3 };

static const float identity[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};

/* A square of SIDE x SIDE in z = 0, two triangles a cell. reversed: its triangles in the other order. */
static void add_tile(slab_scene *scene, bool reversed, uint32_t mask) {
  float vertices[SIDE + 1][SIDE + 1][3];
  uint32_t indices[TRIANGLES][3];
  for (uint32_t y = 0; y <= SIDE; y++)
    for (uint32_t x = 0; x <= SIDE; x++) memcpy(vertices[y][x], (float[]){(float)x, (float)y, 0}, 3 * sizeof(float));
  for (uint32_t i = 0; i < TRIANGLES; i++) {
    const uint32_t cell = i / 2, at = cell / SIDE * (SIDE + 1) + cell % SIDE;
    const uint32_t of[2][3] = {{at, at + 1, at + SIDE + 2}, {at, at + SIDE + 2, at + SIDE + 1}};
    memcpy(indices[reversed ? TRIANGLES - 1 - i : i], of[i % 2], sizeof of[0]);
  }
  const slab_mesh mesh = {vertices[0][0], 0, (SIDE + 1) * (SIDE + 1), indices[0], TRIANGLES, NULL};
  assert_ok(slab_scene_add_mesh(scene, &mesh, &(slab_geometry_options){.mask = mask}, NULL));
}

static slab_scene *model_done(slab_scene *model, slab_tree tree) {
  assert_ok(slab_scene_commit(model, &(slab_build_options){.tree = tree}));
  return model;
}

static slab_scene *tile(slab_context *context) {
  slab_scene *model = harness_scene(context);
  add_tile(model, false, 0);
  return model_done(model, SLAB_TREE_DEFAULT);
}

/* The same tile as geometry 1, in the other order. Geometry 0 is far below it. */
static slab_scene *other_tile(slab_context *context) {
  static const float corners[] = {0, 0, -99, 1, 0, -99, 0, 1, -99};
  slab_scene *model = harness_scene(context);
  assert_ok(slab_scene_add_mesh(model, &(slab_mesh){.vertices = corners, .vertex_count = 3, .triangle_count = 1}, NULL,
                                NULL));
  add_tile(model, true, 0);
  return model_done(model, SLAB_TREE_HIGH);
}

/* n instances in one place. */
static void add_crowd(slab_scene *scene, slab_scene *model, const float m[12], uint32_t n, uint32_t mask) {
  float all[20][12];
  assert_true(n <= 20);
  for (uint32_t i = 0; i < n; i++) memcpy(all[i], m, sizeof all[i]);
  assert_ok(slab_scene_add_instances(scene, model, all[0], n, &(slab_geometry_options){.mask = mask}, NULL));
}

/* Bundles from one point to points of the tile, and beside it: in its cells, and on their edges and corners. Of each
 * fourth bundle the rays come from anywhere. */
static void rays_at_tile(random_state *random, const float m[12], slab_ray rays[RAYS]) {
  float from[3] = {0};
  for (int i = 0; i < RAYS; i++) {
    slab_ray ray = {.t_max = INFINITY};
    if (i % BUNDLE == 0 || i / BUNDLE % 4 == 0)
      for (int k = 0; k < 3; k++) from[k] = k < 2 ? random_between(random, -6, 10) : random_between(random, 2, 30);
    for (int k = 0; k < 3; k++) {
      const float at = k < 2 ? (float)random_below(random, 8 * SIDE + 5) / 8.0f - 0.25f : 0;
      ray.origin[k] = i / BUNDLE % 3 == 0 ? roundf(from[k]) : from[k];
      ray.direction[k] = at - ray.origin[k];
    }
    rays[i] = nested_ray_outside(m, ray);
  }
}

/* ---- instances in one place ---- */

/* Groups of instances in one place, each with a mask of its own, and the tile as the scene's own last. Their tiles'
 * first geometries: */
enum { GROUPS = 4, IN_ONE_PLACE = 7 + 5 + 20 + 1 };
static const uint32_t first_tile[GROUPS] = {0, 7 + 1, 7 + 2 * 5, 7 + 2 * 5 + 20};

static void fill_crowd(slab_context *context, slab_scene *scene, const void *user) {
  slab_scene *one = tile(context), *other = other_tile(context);
  add_crowd(scene, one, user, 7, 1);
  add_crowd(scene, other, user, 5, 2);
  add_crowd(scene, one, user, 20, 4);
  add_tile(scene, false, 8); /* in the same place where that is the identity */
  slab_scene_destroy(one);
  slab_scene_destroy(other);
}

/* Whether hits are those of the first group that is not hidden, where the first `hidden` are. whole: none was. */
static void assert_lowest(const answers *a, const answers *whole, int hidden) {
  for (size_t i = 0; i < RAYS; i++) {
    const slab_hit *h = &a->closest[i], *first = &whole->closest[i];
    if (first->geometry == SLAB_MISS) continue;
    assert_int_equal(h->geometry, first_tile[hidden]);
    assert_int_equal(h->primitive, hidden == 1 ? TRIANGLES - 1 - first->primitive : first->primitive);
    assert_memory_equal(&h->t, &first->t, sizeof h->t);
    assert_int_equal(a->nearest[i].geometry, h->geometry);
    assert_int_equal(a->interval[i].geometry, h->geometry);
  }
}

static void of_instances_in_one_place_the_lowest_id_is_hit(void **state) {
  (void)state;
  slab_ray rays[RAYS];
  random_state random = harness_seeded(__func__);
  answers whole = {0}, some = {0};
  rays_at_tile(&random, identity, rays);
  cast_all_ways(fill_crowd, identity, rays, NULL, &whole);
  assert_true(hits_in(&whole) > RAYS / 2 && hits_in(&whole) < RAYS);
  for (size_t i = 0; i < RAYS; i++) assert_int_equal(whole.count[i], whole.any[i] ? IN_ONE_PLACE : 0);
  assert_lowest(&whole, &whole, 0);
  for (int hidden = 1; hidden < GROUPS; hidden++) {
    cast_all_ways(fill_crowd, identity, rays, &(slab_cast_options){.mask = 15u << hidden & 15}, &some);
    assert_int_equal(hits_in(&some), hits_in(&whole));
    assert_lowest(&some, &whole, hidden);
    answers_free(&some);
  }
  answers_free(&whole);
}

/* Turned, mirrored and moved as well: the ray in the model is rounded then, but in all instances alike. The first k of
 * all hits are of the lowest ids too. */
static void of_turned_instances_in_one_place_the_lowest_id_is_hit(void **state) {
  (void)state;
  slab_ray rays[RAYS];
  random_state random = harness_seeded(__func__);
  uint32_t hits = 0;
  for (int round = 0; round < 3; round++) {
    answers whole = {0}, some = {0};
    float m[12];
    nested_transform(&random, m);
    rays_at_tile(&random, m, rays);
    for (int k = 0; k < 2; k++) { /* the scene's own tile, elsewhere, has mask 8 */
      answers *to = k == 0 ? &whole : &some;
      cast_all_ways(fill_crowd, m, rays, &(slab_cast_options){.mask = k == 0 ? 7 : 6, .max_hits = k == 0 ? 0 : 9}, to);
      assert_lowest(to, &whole, k);
    }
    for (size_t i = 0; i < RAYS; i++) assert_int_equal(whole.count[i], whole.any[i] ? IN_ONE_PLACE - 1 : 0);
    for (uint64_t i = 0; i < some.offsets[RAYS]; i++)
      assert_true(some.all[i].geometry < (i % 9 < 5 ? first_tile[2] : first_tile[2] + 4));
    hits += hits_in(&whole);
    answers_free(&whole);
    answers_free(&some);
  }
  assert_true(hits > RAYS);
}

/* ---- in each other ---- */

/* Adds instances of a model that scale by 2, of the tile and itself scaled by 1 / 2: all tiles are in one place. The
 * model is given away. */
static slab_scene *one_deeper(slab_context *context, slab_scene *model, slab_scene *one) {
  static const float half[12] = {0.5f, 0, 0, 0, 0, 0.5f, 0, 0, 0, 0, 0.5f, 0},
                     twice[12] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0};
  slab_scene *scene = harness_scene(context), *small = harness_scene(context);
  add_crowd(small, model, half, 1, 0);
  add_crowd(scene, model_done(small, SLAB_TREE_FAST), twice, 2, 0);
  add_crowd(scene, one, identity, 1, 0);
  slab_scene_destroy(small);
  slab_scene_destroy(model);
  return model_done(scene, SLAB_TREE_HIGH);
}

/* At depth four 5 tiles of the same place, at depth one 3, and the scene's own. */
enum { IN_EACH_OTHER = 2 * 5 + 3 + 1 };

static void fill_depths(slab_context *context, slab_scene *scene, const void *user) {
  slab_scene *one = tile(context), *pair = harness_scene(context);
  (void)user;
  add_crowd(pair, one, identity, 2, 0);
  slab_scene *deep = one_deeper(context, model_done(pair, SLAB_TREE_FLAT), one);
  add_crowd(scene, one, identity, 3, 1);
  add_crowd(scene, deep, identity, 2, 2);
  add_tile(scene, true, 4);
  slab_scene_destroy(one);
  slab_scene_destroy(deep);
}

static void of_depths_in_one_place_the_lowest_id_is_hit(void **state) {
  static const uint32_t lowest[] = {0, 3, 3 + 2 * 5};
  (void)state;
  slab_ray rays[RAYS];
  random_state random = harness_seeded(__func__);
  answers whole = {0}, some = {0};
  rays_at_tile(&random, identity, rays);
  for (int hidden = 0; hidden < 3; hidden++) {
    answers *to = hidden == 0 ? &whole : &some;
    cast_all_ways(fill_depths, NULL, rays, &(slab_cast_options){.mask = 7u << hidden & 7}, to);
    for (size_t i = 0; i < RAYS; i++) {
      if (hidden == 0) assert_int_equal(to->count[i], to->any[i] ? IN_EACH_OTHER : 0);
      if (!whole.any[i]) continue;
      const uint32_t primitive = whole.closest[i].primitive;
      assert_int_equal(to->closest[i].geometry, lowest[hidden]);
      assert_int_equal(to->closest[i].primitive, hidden == 2 ? TRIANGLES - 1 - primitive : primitive);
      assert_memory_equal(&to->closest[i].t, &whole.closest[i].t, sizeof(float));
    }
    assert_int_equal(hits_in(to), hits_in(&whole));
    if (hidden > 0) answers_free(&some);
  }
  assert_true(hits_in(&whole) > RAYS / 2);
  answers_free(&whole);
}

/* ---- models that overlap ---- */

enum { SHIFTS = APART * APART };

/* Tiles that are moved by whole cells in their plane, the last ones first. Two models take turns. */
static void fill_overlapping(slab_context *context, slab_scene *scene, const void *user) {
  slab_scene *models[] = {tile(context), other_tile(context)};
  (void)user;
  for (int i = SHIFTS - 1; i >= 0; i--) {
    float m[12];
    memcpy(m, identity, sizeof m);
    m[3] = (float)(i % APART);
    m[7] = (float)(i / APART);
    add_crowd(scene, models[i % 2], m, 1, 0);
  }
  for (int i = 0; i < 2; i++) slab_scene_destroy(models[i]);
}

/* The tiles that a cell lies in. */
static uint32_t tiles_over(int x, int y) {
  uint32_t tiles = 0;
  for (int i = 0; i < SHIFTS; i++) {
    const int in[2] = {x - i % APART, y - i / APART};
    tiles += in[0] >= 0 && in[0] < SIDE && in[1] >= 0 && in[1] < SIDE;
  }
  return tiles;
}

/* Models that lie in one plane and overlap: a ray through a cell counts those there. Their t differ by rounding alone,
 * or not at all. */
static void models_that_overlap_are_all_counted(void **state) {
  enum { CELLS = SIDE + APART + 1 };
  (void)state;
  slab_ray rays[RAYS];
  int cells[RAYS][2];
  uint32_t ties = 0;
  answers a = {0};
  random_state random = harness_seeded(__func__);
  for (int i = 0; i < RAYS; i++) {
    const int bundle = i / BUNDLE;
    rays[i] = (slab_ray){.origin = {(float)(bundle % 7), (float)(bundle % 5), 16}, .t_max = INFINITY};
    for (int k = 0; k < 2; k++) {
      cells[i][k] = (int)random_below(&random, CELLS) - 1;
      rays[i].direction[k] = (float)cells[i][k] + (k == 0 ? 0.25f : 0.5f) - rays[i].origin[k];
    }
    rays[i].direction[2] = -16;
  }
  cast_all_ways(fill_overlapping, NULL, rays, NULL, &a);
  for (int i = 0; i < RAYS; i++) {
    assert_int_equal(a.count[i], tiles_over(cells[i][0], cells[i][1]));
    if (a.count[i] > 1) ties += a.all[a.offsets[i]].t == a.all[a.offsets[i] + 1].t;
  }
  assert_true(hits_in(&a) > RAYS / 2 && ties > RAYS / 4);
  answers_free(&a);
}

/* ---- rays from afar ---- */

/* x of the tile is x - 256 z. So a ray's way there is rounded to some 2^8 u of its length. The gate, which the tile in
 * z = 0 makes no larger, is widened by 2^3 u. */
enum { SHEAR = 256 };
static const float sheared[12] = {1, 0, SHEAR, 0.3f, 0, 1, 0, 0.7f, 0, 0, 1, 0.1f};

static void fill_one(slab_context *context, slab_scene *scene, const void *user) {
  slab_scene *one = tile(context);
  add_crowd(scene, one, user, 1, 0);
  slab_scene_destroy(one);
}

static void fill_many(slab_context *context, slab_scene *scene, const void *user) {
  slab_scene *one = tile(context);
  assert_ok(slab_scene_add_instances(scene, one, user, NESTED_EACH, NULL, NULL));
  slab_scene_destroy(one);
}

/* Bundles from 2^10 to 2^17 away to one side of a tile, just beside it or just not, half of them to its corner. Of each
 * third bundle the rays end, or begin, about there. */
static void rays_from_afar(random_state *random, const float m[12], slab_ray rays[RAYS]) {
  float from[3] = {0};
  for (int i = 0; i < RAYS; i++) {
    const int bundle = i / BUNDLE;
    const float size = ldexpf(1, 10 + bundle % 8), y = bundle % 2 == 0 ? SIDE : random_between(random, 0, SIDE),
                beside[3] = {random_between(random, -1, 4) * size * 0x1p-20f,
                             random_between(random, -1, 1) * size * 0x1p-23f, 0};
    const slab_ray at = nested_ray_outside(m, (slab_ray){.origin = {SIDE, y, 0}});
    slab_ray ray = {.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      if (i % BUNDLE == 0) from[k] = random_between(random, 0.5f, 1) * ((bundle >> k & 1) != 0 ? size : -size);
      ray.origin[k] = from[k];
      ray.direction[k] = at.origin[k] + beside[k] - from[k];
    }
    if (bundle % 6 == 1) ray.t_max = 1 + random_between(random, -8, 8) * 0x1p-24f;
    if (bundle % 6 == 4) ray.t_min = 1 + random_between(random, -8, 8) * 0x1p-24f;
    rays[i] = ray;
  }
}

/* The ray of `sheared` in the tile: o' = B (o - p), d' = B d. */
static slab_ray ray_inside(slab_ray ray) {
  for (int k = 0; k < 3; k++) ray.origin[k] -= sheared[4 * k + 3];
  ray.origin[0] -= SHEAR * ray.origin[2];
  ray.direction[0] -= SHEAR * ray.direction[2];
  return ray;
}

/* Rounded into the model's space a ray from afar may hit a model that it passes beside. The model's gate, which is
 * outside, shows the miss. So every ray must be tested against it. */
static void rays_from_afar_that_miss_a_gate_miss_its_model(void **state) {
  (void)state;
  slab_ray rays[RAYS], inside[RAYS];
  float t[RAYS];
  uint32_t hits = 0, kept_out = 0;
  random_state random = harness_seeded(__func__);
  slab_scene *one = tile(contexts[0]);
  for (int round = 0; round < 4; round++) {
    answers a = {0};
    rays_from_afar(&random, sheared, rays);
    for (int i = 0; i < RAYS; i++) inside[i] = ray_inside(rays[i]);
    assert_ok(slab_distance(one, inside, RAYS, t, NULL));
    cast_all_ways(fill_one, sheared, rays, NULL, &a);
    for (int i = 0; i < RAYS; i++) kept_out += t[i] < INFINITY && !a.any[i];
    hits += hits_in(&a);
    answers_free(&a);
  }
  print_message("%u rays hit, %u were kept out by the gate\n", hits, kept_out);
  assert_true(hits > RAYS / 2 && kept_out > RAYS / 20);
  slab_scene_destroy(one);
}

static void rays_from_afar_are_cast_alike(void **state) {
  (void)state;
  slab_ray rays[RAYS];
  float m[NESTED_EACH][12];
  uint32_t hits = 0;
  random_state random = harness_seeded(__func__);
  for (int round = 0; round < 4; round++) {
    answers a = {0};
    nested_transforms(&random, m);
    rays_from_afar(&random, m[random_below(&random, NESTED_EACH)], rays);
    cast_all_ways(fill_many, m[0], rays, NULL, &a);
    hits += hits_in(&a);
    answers_free(&a);
  }
  assert_true(hits > RAYS / 2);
}

/* Where a model is smaller than double's steps at its place, 64 there, its gate holds it all the same. */
static void gates_hold_models_that_are_lost_in_double(void **state) {
  const slab_box box = {{-0.5f, -1, -1}, {0.5f, 1, 1}};
  for (int axis = 0; axis < 3; axis++)
    for (int sign = -1; sign <= 1; sign += 2) {
      float place[3] = {0x1p58f, 0x1p58f, 0x1p58f};
      slab_ray ray = {{0x1p58f, 0x1p58f, 0x1p58f}, -INFINITY, {0x1p-40f, 0x1p-40f, 0x1p-40f}, INFINITY};
      place[axis] = -0x1p39f;
      ray.origin[axis] = -0x1.0001p39f;
      ray.direction[axis] = (float)sign;
      const float m[12] = {1, 0, 0, place[0], 0, 1, 0, place[1], 0, 0, 1, place[2]};
      slab_scene *model = harness_scene(contexts[0]), *scene = harness_scene(contexts[0]);
      slab_interval interval;
      slab_check_report report;
      assert_ok(slab_scene_add_boxes(model, &box, 1, NULL, NULL));
      assert_ok(slab_scene_commit(model, NULL));
      assert_ok(slab_scene_add_instances(scene, model, m, 1, NULL, NULL));
      assert_ok(slab_scene_commit(scene, NULL));
      assert_ok(slab_interval_of(scene, &ray, 1, &interval, NULL));
      harness_count(1);
      assert_int_equal(interval.primitive, 0);
      assert_ok(slab_check(scene, SLAB_INTERVAL, &ray, 1, &interval, NULL, NULL, &report));
      assert_int_equal(report.mismatches + report.oracle_wrong, 0);
      slab_scene_destroy(scene);
      slab_scene_destroy(model);
    }
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(of_instances_in_one_place_the_lowest_id_is_hit),
      cmocka_unit_test(of_turned_instances_in_one_place_the_lowest_id_is_hit),
      cmocka_unit_test(of_depths_in_one_place_the_lowest_id_is_hit),
      cmocka_unit_test(models_that_overlap_are_all_counted),
      cmocka_unit_test(rays_from_afar_that_miss_a_gate_miss_its_model),
      cmocka_unit_test(rays_from_afar_are_cast_alike),
      cmocka_unit_test(gates_hold_models_that_are_lost_in_double),
  };
  return cmocka_run_group_tests(tests, open_all, close_all);
}
