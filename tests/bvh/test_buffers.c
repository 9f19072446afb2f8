/* A scene larger than the device's allocation limit is stored in several buffers, and its results are those of one
 * buffer. A layer pretends that the device has such a limit. Tested: every kind of primitive, layout, traversal and
 * query, in two, three and four buffers. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/types.h"
#include "faults/layers.h"
#include "filled.h"
#include "harness.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"
#include "sets/coherent_rays.h"

/* ALLOCATION: the limit in bytes. OWN: the bytes of a buffer without the tail that repeats the beginning of the next
 * buffer. All tests use one limit, because programs for several buffers are built for it. It is no multiple of the
 * size of a box, a triangle, an oriented box or a block of a BVH, so cuts go through them. */
enum {
  ALLOCATION = 49200,
  OWN = (ALLOCATION - BLOCK_TAIL * 4) / 64 * 64,
  RAYS = 1601,
  TABLE_ROW = sizeof(geometry_entry)
};

static layers under;

typedef struct way {
  const char *name;
  slab_context_options options;
} way;

/* Ways to cast. The traversals exist only where a lane group holds several primitives. Where it holds one, the
 * compressed layout is cast instead, which has one traversal at every width. */
enum { IN_PLACE, COPIED, PACKETS, INTERLEAVED, SORTED, WIDE_WAYS, COMPRESSED = WIDE_WAYS, WAYS };

static const way ways[WAYS] = {
    [IN_PLACE] = {"in place", {.traversal = SLAB_TRAVERSAL_SINGLE}},
    [COPIED] = {"copied", {.traversal = SLAB_TRAVERSAL_SINGLE, .copy = 1}},
    [PACKETS] = {"packets", {.traversal = SLAB_TRAVERSAL_PACKETS}},
    [INTERLEAVED] = {"interleaved", {.traversal = SLAB_TRAVERSAL_INTERLEAVED, .copy = 1}},
    [SORTED] = {"sorted", {.traversal = SLAB_TRAVERSAL_SORTED}},
    [COMPRESSED] = {"compressed", {.layout = SLAB_LAYOUT_COMPRESSED}},
};

static bool is_cast(int w) {
  if (w == IN_PLACE || w == COPIED) return true;
  return (w == COMPRESSED) == (harness_width() == 1);
}

/* small: contexts whose device allocates at most ALLOCATION at once. Shared by the tests, so that programs are built
 * once. */
typedef struct contexts {
  slab_context *small[WAYS], *large[WAYS];
} contexts;

static slab_context *open_way(int w, unsigned long long allocation) {
  slab_context_options options = ways[w].options;
  slab_context *context = NULL;
  options.lane_width = harness_width();
  under.small(allocation);
  assert_ok(slab_context_create(&options, &context));
  under.small(0);
  return context;
}

static int open_all(void **state) {
  static contexts c;
  for (int w = 0; w < WAYS; w++) {
    if (!is_cast(w)) continue;
    c.large[w] = open_way(w, 0); /* first, because the probe of a new device needs more than the small limit */
    c.small[w] = open_way(w, ALLOCATION);
  }
  *state = &c;
  return 0;
}

static int close_all(void **state) {
  const contexts *c = *state;
  for (int w = 0; w < WAYS; w++) {
    slab_context_destroy(c->small[w]);
    slab_context_destroy(c->large[w]);
  }
  return 0;
}

/* ---- scenes ---- */

typedef struct shapes {
  bvh_scene which;
  uint32_t count;
  uint64_t seed;
} shapes;

static slab_status fill(slab_scene *scene, const void *user) {
  const shapes *s = user;
  return bvh_scene_fill(s->which, s->count, s->seed, scene);
}

/* Bytes of the largest array of such a scene. */
static unsigned long long largest_of(slab_context *large, slab_tree tree, const shapes *s) {
  under.small(0);
  slab_scene *scene = filled_scene(large, tree, fill, s);
  const unsigned long long bytes = under.small_now().largest;
  slab_scene_destroy(scene);
  return bytes;
}

/* As many shapes as make the largest array fill this many buffers, the last one about half. */
static shapes shapes_for(slab_context *large, slab_tree tree, bvh_scene which, unsigned buffers) {
  random_state random = harness_seeded(bvh_scene_name(which));
  shapes s = {which, 1000, random_next(&random)};
  for (int again = 0; again < 3; again++) {
    const double bytes = (double)largest_of(large, tree, &s);
    s.count = (uint32_t)(s.count * (buffers - 0.5) * OWN / bytes);
  }
  return s;
}

static void fill_rays(const char *test, slab_scene *scene, slab_ray *rays) {
  slab_scene_stats stats;
  random_state random = harness_seeded(test);
  assert_ok(slab_scene_info(scene, &stats));
  coherent_rays_fill(&random, &stats, RAYS, rays);
  for (int i = 0; i < RAYS; i++)
    if (i % 128 >= 64) rays[i] = bvh_scene_ray(&random, &stats);
}

/* ---- comparing ---- */

/* All queries read a scene the same way. So one width tests all of them, and the others one query with one hit and
 * SLAB_ALL. */
static bool is_asked(slab_query query) { return harness_width() == 1 || query == SLAB_CLOSEST || query == SLAB_ALL; }

static void cast_asked(answers *a, slab_scene *scene, const slab_ray *rays, const slab_cast_options *options) {
  for (int q = 0; q < ANSWER_QUERIES; q++)
    if (is_asked((slab_query)q)) assert_ok(answers_cast(a, (slab_query)q, scene, rays, RAYS, options));
}

/* cut: got_scene is in several buffers. */
static void compare(const char *how, bool cut, slab_scene *got_scene, slab_scene *want_scene, const slab_ray *rays,
                    const slab_cast_options *options) {
  answers want = {0}, got = {0};
  under.small(0);
  cast_asked(&want, want_scene, rays, options);
  assert_true(want.offsets[RAYS] > RAYS / 20); /* a set without hits would prove nothing */
  assert_int_equal(under.small_now().cut, 0);
  under.small(ALLOCATION);
  cast_asked(&got, got_scene, rays, options);
  const small_counts counts = under.small_now();
  assert_true(counts.launches > 0 && counts.cut == (cut ? counts.launches : 0) && counts.refused == 0);
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    size_t first = 0;
    if (!is_asked((slab_query)q)) continue;
    const size_t differing = answers_differ(&got, &want, (slab_query)q, &first);
    if (differing)
      fail_msg("%s, %s: %zu rays differ, the first is %zu", how, answer_name((slab_query)q), differing, first);
    assert_true(got.invalid[q] == want.invalid[q]);
  }
  answers_free(&want);
  answers_free(&got);
  under.small(0);
}

/* Casts a scene on the small device, after a check of its number of buffers. Compares with the same scene, flat and
 * in one buffer per array. */
static void cast_in(const contexts *c, int w, slab_tree tree, const shapes *s, unsigned buffers) {
  char how[64];
  slab_primitive_id skip[RAYS];
  slab_ray rays[RAYS];
  under.small(0);
  slab_scene *want = filled_scene(c->large[IN_PLACE], SLAB_TREE_FLAT, fill, s);
  under.small(ALLOCATION);
  slab_scene *got = filled_scene(c->small[w], tree, fill, s);
  const small_counts counts = under.small_now();
  snprintf(how, sizeof how, "%s, tree %d in %u buffers", ways[w].name, (int)tree, buffers);
  print_message("%s: %u shapes in %u buffers of %llu bytes at most\n", how, s->count, counts.buffers, counts.largest);
  if (tree == SLAB_TREE_FLAT)
    assert_int_equal(counts.buffers, 1 + buffers); /* 1: the table */
  else
    assert_true(counts.buffers >= 2 + buffers); /* 2: the table and at least one of nodes */
  fill_rays(__func__, want, rays);
  for (uint32_t i = 0; i < RAYS; i++) skip[i] = (slab_primitive_id){i % (s->count / 5), i % 7};
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1};
  compare(how, true, got, want, rays, NULL);
  compare(how, true, got, want, rays, &some);
  slab_scene_destroy(got);
  slab_scene_destroy(want);
}

static void cast_cut(const contexts *c, slab_tree tree, unsigned least, const int *chosen, int n) {
  for (unsigned buffers = least; buffers <= 4; buffers++) {
    for (int i = 0; i < n; i++) {
      if (!is_cast(chosen[i])) continue;
      const shapes s = shapes_for(c->large[chosen[i]], tree, BVH_MIXED, buffers);
      cast_in(c, chosen[i], tree, &s, buffers);
    }
  }
}

static const int all_ways[WAYS] = {IN_PLACE, COPIED, PACKETS, INTERLEAVED, SORTED, COMPRESSED};
static const int flat_ways[] = {IN_PLACE, COPIED, COMPRESSED};

static void flat_scenes_are_cut(void **state) { cast_cut(*state, SLAB_TREE_FLAT, 2, flat_ways, 3); }
static void fast_trees_are_cut(void **state) { cast_cut(*state, SLAB_TREE_FAST, 2, all_ways, WAYS); }
static void high_trees_are_cut(void **state) { cast_cut(*state, SLAB_TREE_HIGH, 2, all_ways, WAYS); }
/* Two buffers are skipped: so few primitives do not become a BVH. */
static void default_trees_are_cut(void **state) { cast_cut(*state, SLAB_TREE_DEFAULT, 3, flat_ways, 3); }

/* The nodes of compressed BVHs take a quarter of the bytes or more. test_buffers_nodes tests those of wide BVHs. */
static void compressed_nodes_are_cut(void **state) {
  const contexts *c = *state;
  if (!is_cast(COMPRESSED)) skip();
  const shapes s = shapes_for(c->large[COMPRESSED], SLAB_TREE_FAST, BVH_SCALES, 4);
  under.small(ALLOCATION);
  slab_scene *scene = filled_scene(c->small[COMPRESSED], SLAB_TREE_FAST, fill, &s);
  assert_int_equal(under.small_now().buffers, 1 + 4 + 2);
  slab_scene_destroy(scene);
  cast_in(c, COMPRESSED, SLAB_TREE_FAST, &s, 4);
}

/* ---- instances ---- */

/* A scene with shapes of its own, and the places of its model. */
typedef struct placed {
  slab_scene *model;
  shapes own;
} placed;

/* Three instances, and of a model with gates before them so many small ones that the entries take half a buffer. */
static slab_status fill_placed(slab_scene *scene, const void *user) {
  enum { PLACES = OWN / 2 / sizeof(instance_entry) };
  static float places[PLACES][12] = {[PLACES - 3] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                                     {0, -0.5f, 0, 1, 0.5f, 0, 0, -1, 0, 0, 0.5f, 0.25f},
                                     {-1, 0, 0, 0, 0, 0.6f, 0.8f, 0, 0, -0.8f, 0.6f, 0}};
  const placed *p = user;
  const uint32_t first = p->own.which == BVH_MIXED ? PLACES - 3 : 0;
  for (int i = 0; i < PLACES - 3; i++)
    for (int k = 0; k < 3; k++) {
      places[i][5 * k] = 0x1p-4f;
      places[i][4 * k + 3] = (float)(i >> 3 * k & 7) / 4 - 1;
    }
  assert_ok(slab_scene_add_instances(scene, p->model, places[first], PLACES - first, NULL, NULL));
  return fill(scene, &p->own);
}

/* Models are copied behind the scene's own data, and the instances' entries behind them: cuts go through both. Packets
 * go through triangles alone. */
static slab_scene *placed_scene(slab_context *context, slab_tree tree, const shapes *s) {
  slab_scene *(*const made)(slab_context *, slab_tree, scene_filler *, const void *) =
      s->which == BVH_MIXED ? filled_scene : filled_alone;
  const placed p = {made(context, tree, fill, s), {s->which, 500, s->seed}};
  slab_scene *scene = made(context, tree, fill_placed, &p);
  slab_scene_destroy(p.model);
  return scene;
}

static void instances_are_cut_in(const contexts *c, int w, bvh_scene which) {
  /* max_hits: a ray along slivers has more than the device holds at once. */
  static const slab_cast_options some = {.max_hits = 50}, masked = {.mask = 2, .cull = SLAB_CULL_BACK, .max_hits = 50};
  const shapes s = shapes_for(c->large[w], SLAB_TREE_FAST, which, 2);
  slab_ray rays[RAYS];
  under.small(0);
  slab_scene *want = placed_scene(c->large[IN_PLACE], SLAB_TREE_FLAT, &s);
  fill_rays(__func__, want, rays);
  under.small(ALLOCATION);
  slab_scene *got = placed_scene(c->small[w], SLAB_TREE_FAST, &s);
  assert_true(under.small_now().buffers >= (2 + 2) + (2 + 2)); /* of the model, and of the scene */
  compare(ways[w].name, true, got, want, rays, which == BVH_MIXED ? NULL : &some);
  compare(ways[w].name, true, got, want, rays, &masked);
  slab_scene_destroy(got);
  slab_scene_destroy(want);
}

static void instances_are_cut(void **state) {
  for (int w = 0; w < WAYS; w++)
    if (is_cast(w)) instances_are_cut_in(*state, w, w == PACKETS || w == COMPRESSED ? BVH_SLIVERS : BVH_MIXED);
}

/* ---- how much fits ---- */

static slab_status commit(slab_context *context, slab_tree tree, const shapes *s) {
  const slab_build_options options = {.tree = tree};
  slab_scene *scene;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(fill(scene, s));
  const slab_status status = slab_scene_commit(scene, &options);
  slab_scene_destroy(scene);
  return status;
}

static void one_byte_more_than_an_allocation_is_cut(void **state) {
  const contexts *c = *state;
  const shapes s = {BVH_MIXED, 1000, 1};
  const unsigned long long bytes = largest_of(c->large[IN_PLACE], SLAB_TREE_FLAT, &s);
  for (unsigned less = 0; less < 2; less++) {
    slab_context *context = open_way(IN_PLACE, bytes - less);
    under.small(bytes - less);
    slab_scene *scene = filled_scene(context, SLAB_TREE_FLAT, fill, &s);
    assert_int_equal(under.small_now().buffers, 2 + less);
    assert_true(less == 1 || under.small_now().largest == bytes);
    under.small(0);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

/* On a device that also has scenes in several buffers. */
static void scenes_that_fit_are_in_one_buffer_each(void **state) {
  const contexts *c = *state;
  const shapes s = {BVH_MIXED, 300, 1};
  slab_ray rays[RAYS];
  slab_scene *whole = filled_scene(c->large[IN_PLACE], SLAB_TREE_FLAT, fill, &s);
  under.small(ALLOCATION);
  slab_scene *small = filled_scene(c->small[IN_PLACE], SLAB_TREE_FLAT, fill, &s);
  assert_int_equal(under.small_now().buffers, 2);
  fill_rays(__func__, whole, rays);
  compare("small", false, small, whole, rays, NULL);
  slab_scene_destroy(small);
  slab_scene_destroy(whole);
}

static void what_four_buffers_cannot_hold_is_refused(void **state) {
  const contexts *c = *state;
  static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST};
  for (int t = 0; t < 2; t++) {
    const shapes s = shapes_for(c->large[IN_PLACE], trees[t], BVH_MIXED, 5);
    char bytes[32];
    slab_scene *large = NULL;
    assert_ok(slab_scene_create(c->large[IN_PLACE], &large));
    assert_ok(fill(large, &s));
    under.small(0);
    const slab_build_options options = {.tree = trees[t]};
    assert_ok(slab_scene_commit(large, &options));
    snprintf(bytes, sizeof bytes, "takes %llu bytes", under.small_now().largest);
    slab_scene_destroy(large);
    under.small(ALLOCATION);
    assert_status(commit(c->small[IN_PLACE], trees[t], &s), SLAB_OUT_OF_MEMORY);
    assert_int_equal(under.small_now().refused, 0); /* the library checked the size itself */
    if (strstr(slab_message(), bytes) == NULL) fail_msg("no \"%s\" in \"%s\"", bytes, slab_message());
    under.small(0);
  }
}

static void a_table_is_not_cut(void **state) {
  const contexts *c = *state;
  slab_scene *scene;
  assert_ok(slab_scene_create(c->small[IN_PLACE], &scene));
  for (uint32_t g = 0; g <= ALLOCATION / TABLE_ROW; g++) assert_ok(slab_scene_add_boxes(scene, NULL, 0, NULL, NULL));
  under.small(ALLOCATION);
  assert_status(slab_scene_commit(scene, NULL), SLAB_OUT_OF_MEMORY);
  assert_non_null(strstr(slab_message(), "the geometry table takes 49224 bytes"));
  under.small(0);
  slab_scene_destroy(scene);
}

/* ---- packed scenes ---- */

static char *packed(const slab_scene *scene, size_t *size) {
  assert_ok(slab_scene_pack(scene, NULL, 0, size));
  char *bytes = harness_space(*size);
  assert_ok(slab_scene_pack(scene, bytes, *size, size));
  return bytes;
}

static void packed_scenes_are_the_same_bytes(void **state) {
  const contexts *c = *state;
  size_t size, again;
  const shapes s = shapes_for(c->large[IN_PLACE], SLAB_TREE_HIGH, BVH_MIXED, 4);
  slab_scene *whole = filled_scene(c->large[IN_PLACE], SLAB_TREE_HIGH, fill, &s);
  slab_scene *cut = NULL;
  char *bytes = packed(whole, &size);
  under.small(ALLOCATION);
  assert_ok(slab_scene_unpack(c->small[IN_PLACE], bytes, size, &cut));
  assert_true(under.small_now().buffers >= 1 + 4 + 1);
  char *same = packed(cut, &again);
  assert_int_equal(again, size);
  assert_memory_equal(same, bytes, size);
  slab_ray rays[RAYS];
  fill_rays(__func__, whole, rays);
  compare("unpacked", true, cut, whole, rays, NULL);
  free(bytes);
  free(same);
  slab_scene_destroy(cut);
  slab_scene_destroy(whole);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(flat_scenes_are_cut),
      cmocka_unit_test(fast_trees_are_cut),
      cmocka_unit_test(high_trees_are_cut),
      cmocka_unit_test(default_trees_are_cut),
      cmocka_unit_test(compressed_nodes_are_cut),
      cmocka_unit_test(instances_are_cut),
      cmocka_unit_test(one_byte_more_than_an_allocation_is_cut),
      cmocka_unit_test(scenes_that_fit_are_in_one_buffer_each),
      cmocka_unit_test(what_four_buffers_cannot_hold_is_refused),
      cmocka_unit_test(a_table_is_not_cut),
      cmocka_unit_test(packed_scenes_are_the_same_bytes),
  };
  under = layers_with(SMALL_LAYER);
  return cmocka_run_group_tests(tests, open_all, close_all);
}
