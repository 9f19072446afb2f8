/* gpu/ on the driver that pretends: its answers are the processor's own, on devices of any properties and number, and
 * in any order of their commands. Device 0 is the processor. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/types.h"
#include "filled.h"
#include "harness.h"
#include "laid_out.h"
#include "mixed_fates.h"
#include "pretended.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"
#include "sets/coherent_rays.h"
#include "sets/nested.h"
#include "there.h"

enum { RAYS = 400, MANY = 8000, SHAPES = 700 };

static slab_context *open_as(const pretended_kind *as, slab_context_options options) {
  slab_context *context = NULL;
  pretended_as(as);
  if (options.device == NULL) options.device = "pretended";
  assert_ok(slab_context_create(&options, &context));
  return context;
}

static slab_context *processor(void) { return open_as(&(pretended_kind){0}, (slab_context_options){.device = "0"}); }

/* ---- comparisons ---- */

/* Intervals, which begin after nothing, without `after`. */
static void cast_every(answers *a, slab_scene *scene, const slab_ray *rays, const slab_cast_options *options) {
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    slab_cast_options of = {0};
    if (options != NULL) of = *options;
    if (q == SLAB_INTERVAL) of.after = NULL;
    assert_ok(answers_cast(a, (slab_query)q, scene, rays, RAYS, &of));
  }
}

static void assert_same(const char *how, slab_scene *got_scene, slab_scene *want_scene, const slab_ray *rays,
                        const slab_cast_options *options) {
  answers want = {0}, got = {0};
  cast_every(&want, want_scene, rays, options);
  cast_every(&got, got_scene, rays, options);
  assert_true(want.offsets[RAYS] > RAYS / 20); /* a set without hits would prove nothing */
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    size_t first = 0;
    const size_t differing = answers_differ(&got, &want, (slab_query)q, &first);
    if (differing > 0)
      fail_msg("%s, %s: %zu rays differ, the first is %zu", how, answer_name((slab_query)q), differing, first);
    assert_true(got.invalid[q] == want.invalid[q]);
  }
  harness_count((size_t)RAYS * ANSWER_QUERIES);
  answers_free(&want);
  answers_free(&got);
}

/* With one of the sets of options, of which one has none: all that a cast can ask for. Every third ray begins after its
 * first hit. */
static void assert_same_by_options(const char *how, int set, slab_scene *got, slab_scene *want, const slab_ray *rays) {
  slab_primitive_id skip[RAYS];
  uint32_t masks[RAYS];
  slab_short_hit after[RAYS];
  assert_ok(slab_nearest(want, rays, RAYS, after, NULL));
  for (uint32_t i = 0; i < RAYS; i++) {
    skip[i] = (slab_primitive_id){i % (SHAPES / 5), i % 7};
    masks[i] = i % 5 == 0 ? i % 2 : UINT32_MAX;
    if (i % 3 != 0) after[i] = (slab_short_hit){-INFINITY, SLAB_MISS, SLAB_MISS};
  }
  const slab_cast_options some[] = {{0},
                                    {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = skip, .face_forward = 1},
                                    {.cull = SLAB_CULL_BACK, .edges = SLAB_EDGES_CLOSED, .max_hits = 3},
                                    {.masks = masks, .after = after, .cull = SLAB_CULL_BACK},
                                    {.mask = 1, .after = after, .skip = skip, .max_hits = 2},
                                    {.masks = masks, .edges = SLAB_EDGES_CLOSED}};
  assert_same(how, got, want, rays, &some[set % (int)(sizeof some / sizeof *some)]);
}

typedef struct shapes {
  bvh_scene which;
  uint32_t count;
  uint64_t seed;
} shapes;

static slab_status fill(slab_scene *scene, const void *user) {
  const shapes *s = user;
  return bvh_scene_fill(s->which, s->count, s->seed, scene);
}

static void fill_rays(random_state *random, slab_scene *scene, slab_ray *rays) {
  slab_scene_stats stats;
  assert_ok(slab_scene_info(scene, &stats));
  coherent_rays_fill(random, &stats, RAYS, rays);
  for (int i = 0; i < RAYS; i++)
    if (i % 128 >= 64) rays[i] = bvh_scene_ray(random, &stats);
}

/* ---- one device of each kind ---- */

typedef struct way {
  const char *name;
  pretended_kind as;
  slab_context_options options;
} way;

static const way ways[] = {
    {"in place", {0}, {0}},
    {"in place, late", {.pace = PRETENDED_LATE, .seed = 1}, {.launch_rays = 100}},
    {"copied", {0}, {.copy = 1}},
    {"copied, late", {.pace = PRETENDED_LATE, .seed = 2}, {.copy = 1, .launch_rays = 100}},
    {"a GPU", {.is_gpu = true}, {0}},
    {"a GPU, late", {.is_gpu = true, .pace = PRETENDED_LATE, .seed = 3}, {.launch_rays = 100}},
    {"a GPU with wide nodes, late",
     {.is_gpu = true, .pace = PRETENDED_LATE, .seed = 4},
     {.layout = SLAB_LAYOUT_WIDE, .launch_rays = 100}},
    {"in place, compressed", {.pace = PRETENDED_LATE, .seed = 5}, {.layout = SLAB_LAYOUT_COMPRESSED}},
    {"a GPU of groups of 7", {.is_gpu = true, .group = 7}, {0}},
    {"a GPU of single work-items", {.is_gpu = true, .group = 1, .pace = PRETENDED_LATE, .seed = 6}, {0}},
};
enum { WAYS = sizeof ways / sizeof *ways };

static void answers_are_the_processors(void **state) {
  (void)state;
  static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_HIGH};
  slab_context *own = processor();
  slab_ray rays[RAYS];
  for (int which = 0; which < BVH_SCENES; which++) {
    random_state random = harness_seeded(bvh_scene_name((bvh_scene)which));
    const shapes s = {(bvh_scene)which, SHAPES, random_next(&random)};
    slab_scene *want = filled_scene(own, SLAB_TREE_HIGH, fill, &s);
    fill_rays(&random, want, rays);
    for (int w = 0; w < WAYS; w++) {
      if (which != BVH_MIXED && w % BVH_SCENES != which) continue; /* of the others each way meets one or two */
      slab_context *context = open_as(&ways[w].as, ways[w].options);
      for (int t = 0; t < 3; t++) {
        slab_scene *got = filled_scene(context, trees[t], fill, &s);
        assert_same_by_options(ways[w].name, w + t, got, want, rays);
        slab_scene_destroy(got);
      }
      slab_context_destroy(context);
    }
    slab_scene_destroy(want);
  }
  slab_context_destroy(own);
}

static void instances_answer_as_the_processors(void **state) {
  (void)state;
  slab_context *own = processor();
  for (int w = 0; w < WAYS; w++) {
    slab_ray rays[RAYS];
    nested want, got;
    slab_context *context = open_as(&ways[w].as, ways[w].options);
    random_state random = harness_seeded(ways[w].name);
    const uint64_t seed = random_next(&random);
    assert_ok(nested_begin(&want, own, seed, ~0u));
    assert_ok(nested_begin(&got, context, seed, ~0u));
    nested_rays(&want, RAYS, rays);
    assert_same_by_options(ways[w].name, w, got.scenes[NESTED_TOP], want.scenes[NESTED_TOP], rays);
    nested_end(&want);
    nested_end(&got);
    slab_context_destroy(context);
  }
  slab_context_destroy(own);
}

/* Few rays of a set, and more than a launch makes. */
static void sets_of_rays_are_the_processors(void **state) {
  enum { ROWS = 700, COLUMNS = 800 };
  (void)state;
  slab_context *own = processor();
  slab_context *context = open_as(&(pretended_kind){.pace = PRETENDED_LATE}, (slab_context_options){0});
  slab_ray *got = harness_space(ROWS * COLUMNS * sizeof *got), *want = harness_space(ROWS * COLUMNS * sizeof *want);
  float *table = harness_space(12 * ROWS * sizeof *table);
  random_state random = harness_seeded(__func__);
  for (int i = 0; i < 12 * ROWS; i++) table[i] = random_between(&random, -1, 1);
  slab_rays sets[] = {slab_rays_directions(table, ROWS, table + 5, COLUMNS),
                      slab_rays_beams(table, ROWS, table, COLUMNS),
                      slab_rays_pinhole((const slab_camera *)(const void *)table, COLUMNS, ROWS)};
  sets[0].normals = table + 9;
  for (int s = 0; s < 3; s++)
    for (size_t n = 1; n <= ROWS * COLUMNS; n = n == 1 ? 77 : n == 77 ? ROWS * COLUMNS : ROWS * COLUMNS + 1) {
      const uint64_t first = ROWS * COLUMNS - n;
      assert_ok(slab_rays_write(own, &sets[s], first, n, want));
      assert_ok(slab_rays_write(context, &sets[s], first, n, got));
      assert_same_bits(got, want, n, sizeof *got);
      harness_count(n);
    }
  free(table);
  free(got);
  free(want);
  slab_context_destroy(context);
  slab_context_destroy(own);
}

/* Chunks make their rays on the device, several at once. */
static void casts_of_sets_are_those_of_arrays(void **state) {
  enum { ROWS = 40, COLUMNS = 50, MADE = ROWS * COLUMNS };
  (void)state;
  slab_context *own = processor();
  const shapes s = {BVH_MIXED, SHAPES, 7};
  slab_scene *scene = filled_scene(own, SLAB_TREE_HIGH, fill, &s);
  slab_scene_stats stats;
  slab_ray tables[MADE], rays[MADE];
  slab_hit got[MADE], want[MADE];
  random_state random = harness_seeded(__func__);
  assert_ok(slab_scene_info(scene, &stats));
  coherent_rays_fill(&random, &stats, MADE, tables);
  const float *floats = (const float *)(const void *)tables;
  const slab_rays sets[] = {slab_rays_pairs(floats, ROWS, floats + 4, COLUMNS),
                            slab_rays_pinhole((const slab_camera *)(const void *)tables, COLUMNS, ROWS)};
  for (int w = 0; w < WAYS; w++) {
    slab_context *context = open_as(&ways[w].as, ways[w].options);
    slab_scene *there = filled_scene(context, SLAB_TREE_HIGH, fill, &s);
    const uint32_t first = (uint32_t)w * 13;
    const slab_source source = {.set = &sets[w % 2], .first = first, .n = MADE - first};
    slab_results to = {.memory = got};
    assert_ok(slab_rays_write(own, source.set, first, source.n, rays));
    assert_ok(slab_closest(scene, rays, source.n, want, NULL));
    assert_ok(slab_cast(there, SLAB_CLOSEST, &source, &to, NULL));
    assert_same_bits(got, want, source.n, sizeof *got);
    harness_count(source.n);
    slab_scene_destroy(there);
    slab_context_destroy(context);
  }
  slab_scene_destroy(scene);
  slab_context_destroy(own);
}

/* Rows of more than one part, of which a chunk has some. */
static void sums_are_the_processors(void **state) {
  enum { ROWS = 7, COLUMNS = 2300, SUMMED = ROWS * COLUMNS, WORDS = (COLUMNS + 31) / 32 };
  (void)state;
  slab_context *own = processor();
  const shapes s = {BVH_MIXED, SHAPES, 7};
  slab_scene *scene = filled_scene(own, SLAB_TREE_HIGH, fill, &s);
  slab_scene_stats stats;
  slab_ray *rays = harness_space(SUMMED * sizeof *rays);
  float *weights = harness_space(COLUMNS * sizeof *weights);
  slab_sum sums[2][ROWS];
  uint32_t bits[2][ROWS * WORDS];
  random_state random = harness_seeded(__func__);
  assert_ok(slab_scene_info(scene, &stats));
  coherent_rays_fill(&random, &stats, SUMMED, rays);
  for (int i = 5; i < SUMMED; i += 211) rays[i].direction[0] = NAN;
  for (int i = 0; i < COLUMNS; i++) weights[i] = random_between(&random, 0, 3);
  const slab_rays set = slab_rays_pairs(&rays[0].origin[0], ROWS, &rays[COLUMNS].origin[0], COLUMNS);
  for (int w = 0; w < WAYS; w++) {
    slab_context *context = open_as(&ways[w].as, ways[w].options);
    slab_scene *scenes[] = {scene, filled_scene(context, SLAB_TREE_HIGH, fill, &s)};
    const slab_source source = {.rays = w % 2 != 0 ? rays : NULL, .set = w % 2 != 0 ? NULL : &set, .n = SUMMED};
    for (int k = 0; k < 2; k++) {
      slab_results shares = {
          .type = SLAB_RESULT_SUMS, .memory = sums[k], .columns = COLUMNS, .weights = w % 3 != 0 ? weights : NULL};
      slab_results open = {.type = SLAB_RESULT_BITS, .memory = bits[k], .columns = COLUMNS};
      assert_ok(slab_cast(scenes[k], SLAB_DISTANCE, &source, &shares, NULL));
      assert_ok(slab_cast(scenes[k], SLAB_ANY, &source, &open, NULL));
    }
    assert_same_bits(sums[1], sums[0], ROWS, sizeof sums[0][0]);
    assert_same_bits(bits[1], bits[0], ROWS, WORDS * sizeof bits[0][0]);
    harness_count((size_t)2 * SUMMED);
    slab_scene_destroy(scenes[1]);
    slab_context_destroy(context);
  }
  free(weights);
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(own);
}

/* Few pairs, and more than a launch has. */
static void pairs_answer_as_the_processors(void **state) {
  enum { PAIRS = (1 << 20) + 1000 };
  (void)state;
  slab_context *own = processor();
  slab_context *context = open_as(&(pretended_kind){.pace = PRETENDED_LATE}, (slab_context_options){0});
  slab_ray *rays = harness_space(PAIRS * sizeof *rays);
  slab_interval *got = harness_space(PAIRS * sizeof *got), *want = harness_space(PAIRS * sizeof *want);
  slab_sphere *spheres = harness_space(PAIRS * sizeof *spheres);
  random_state random = harness_seeded(__func__);
  for (size_t i = 0; i < PAIRS; i++) {
    rays[i] = (slab_ray){.t_max = INFINITY};
    spheres[i].radius = random_between(&random, 0.5f, 4.0f);
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = random_between(&random, -9, 9);
      rays[i].direction[k] = -rays[i].origin[k];
      spheres[i].center[k] = random_between(&random, -2, 2);
    }
  }
  for (size_t n = 1; n <= PAIRS; n = n == 1 ? 77 : n == 77 ? PAIRS : PAIRS + 1) {
    assert_ok(slab_pairs(own, SLAB_SPHERE, rays, spheres, n, want));
    assert_ok(slab_pairs(context, SLAB_SPHERE, rays, spheres, n, got));
    assert_same_bits(got, want, n, sizeof *got);
    harness_count(n);
  }
  free(rays);
  free(got);
  free(want);
  free(spheres);
  slab_context_destroy(context);
  slab_context_destroy(own);
}

/* Transfers and kernels begin before anybody waits for them. */
static void casts_flush_what_they_begin(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, RAYS);
  for (int copy = 0; copy < 2; copy++) {
    slab_context *context =
        open_as(&(pretended_kind){.pace = PRETENDED_LATE}, (slab_context_options){.copy = copy, .launch_rays = 64});
    slab_scene *scene = mixed_tree(context, SHAPES);
    float t[RAYS];
    pretended_forget();
    assert_ok(slab_distance(scene, rays, RAYS, t, NULL));
    const pretended_counts seen = pretended_seen();
    assert_true(seen.launches >= RAYS / 64);
    /* results are read where the kernel's end is known, and then at once waited for; mappings are ended at the end */
    assert_true(seen.unflushed <= (copy ? seen.reads : seen.mapped));
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
  free(rays);
}

/* ---- limits, true and false ones ---- */

/* An allocation of the device holds a part of a scene. The scene is in two to four buffers, or refused. */
static void cut_scenes_answer_as_the_processors(void **state) {
  static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_HIGH};
  (void)state;
  slab_context *own = processor();
  for (int w = 0; w < WAYS; w++) {
    random_state random = harness_seeded(ways[w].name);
    const slab_tree tree = trees[w % 3];
    for (uint32_t parts = 2; parts <= 4; parts++) {
      const shapes s = {w % 4 == 3 ? BVH_SLIVERS : BVH_MIXED, SHAPES, random_next(&random)};
      slab_ray rays[RAYS];
      slab_scene *want = filled_scene(own, tree, fill, &s);
      slab_context *whole = open_as(&ways[w].as, ways[w].options);
      pretended_forget();
      slab_scene_destroy(filled_scene(whole, tree, fill, &s));
      pretended_kind as = ways[w].as;
      as.told = BLOCK_TAIL * sizeof(float) + 64 + pretended_seen().largest * 2 / (2 * parts - 1);
      slab_context_destroy(whole);
      slab_context *context = open_as(&as, ways[w].options);
      fill_rays(&random, want, rays);
      slab_scene *got = filled_scene(context, tree, fill, &s);
      pretended_forget();
      assert_same_by_options(ways[w].name, w + (int)parts, got, want, rays);
      const pretended_counts seen = pretended_seen();
      assert_true(seen.launches > 0 && seen.cut == seen.launches && seen.refused == 0);
      slab_scene_destroy(got);
      slab_scene_destroy(want);
      slab_context_destroy(context);
    }
  }
  slab_context_destroy(own);
}

static slab_status commit(slab_context *context, const shapes *s) {
  slab_scene *scene = harness_scene(context);
  assert_ok(fill(scene, s));
  const slab_status status = slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST});
  slab_scene_destroy(scene);
  return status;
}

/* The library asks no device for more than it reports. It notices a device that has less than it reports. */
static void what_does_not_fit_is_refused(void **state) {
  (void)state;
  const shapes s = {BVH_MIXED, 2000, 1};
  for (int lies = 0; lies < 2; lies++)
    for (int gpu = 0; gpu < 2; gpu++) {
      const pretended_kind as = {.is_gpu = gpu != 0, .told = lies ? 0 : 9000, .allocates = lies ? 9000 : 0};
      slab_context *context = open_as(&as, (slab_context_options){.copy = 1});
      pretended_forget();
      assert_status(commit(context, &s), SLAB_OUT_OF_MEMORY);
      assert_mentions(lies ? "pretended_create" : "allocates at most 9000 at once");
      assert_int_equal(pretended_seen().refused, lies);
      slab_context_destroy(context);
    }
}

/* Pinned memory that a device has too little of is done without, and results are the same. */
static void casts_go_on_without_pinned_memory(void **state) {
  (void)state;
  slab_context *own = processor(), *context = open_as(&(pretended_kind){.is_gpu = true}, (slab_context_options){0});
  const shapes s = {BVH_MIXED, SHAPES, 2};
  random_state random = harness_seeded(__func__);
  slab_ray rays[RAYS];
  slab_hit got[RAYS], want[RAYS];
  slab_scene *want_scene = filled_scene(own, SLAB_TREE_FAST, fill, &s);
  slab_scene *got_scene = filled_scene(context, SLAB_TREE_FAST, fill, &s);
  fill_rays(&random, want_scene, rays);
  assert_ok(slab_closest(want_scene, rays, RAYS, want, NULL));
  for (unsigned nth = 0; nth < 12; nth++) { /* of which some are for pinned memory; those alone are done without */
    pretended_arm(nth, nth == 0 ? FAIL_ONCE : FAIL_ENTRY, -4);
    const slab_status status = slab_closest(got_scene, rays, RAYS, got, NULL);
    const fail_report report = pretended_disarm();
    assert_true((status == SLAB_OK) == (report.failed == report.spared));
    if (status == SLAB_OK) assert_same_bits(got, want, RAYS, sizeof *got);
  }
  slab_scene_destroy(got_scene);
  slab_scene_destroy(want_scene);
  slab_context_destroy(context);
  slab_context_destroy(own);
}

/* ---- refits ---- */

enum { CORNERS = 600, STEPS = 5 };

static void refits_there_are_the_hosts(void **state) {
  (void)state;
  float vertices[3 * CORNERS];
  for (int pace = 0; pace < 2; pace++)
    for (int gpu = 0; gpu < 2; gpu++) {
      const pretended_kind as = {.is_gpu = gpu != 0, .pace = (pretended_pace)pace, .seed = 9};
      slab_context *context = open_as(&as, (slab_context_options){.layout = SLAB_LAYOUT_COMPRESSED});
      slab_scene *there = harness_scene(context), *here = harness_scene(context);
      random_state random = harness_seeded(__func__);
      uint64_t build = UINT64_MAX;
      for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < 3 * CORNERS; i++)
          vertices[i] = (float)(i / 9 * 7 % 41 + i * 5 % 11) * 0.25f + random_between(&random, -0.3f, 0.3f);
        const slab_mesh mesh = {vertices, 0, CORNERS, NULL, CORNERS / 3, NULL};
        const slab_build_options refit = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT};
        if (step == 0) {
          assert_ok(slab_scene_add_mesh(there, &mesh, NULL, NULL));
          assert_ok(slab_scene_add_mesh(here, &mesh, NULL, NULL));
        } else {
          assert_ok(there_update_mesh(there, 0, &mesh));
          assert_ok(slab_scene_update_mesh(here, 0, &mesh));
        }
        assert_ok(slab_scene_commit(there, &refit));
        assert_ok(slab_scene_commit(here, &refit));
        assert_true(there_was_refitted(there, &build) == (step > 0));
        size_t size[2];
        void *got = laid_out(there, &size[0]), *want = laid_out(here, &size[1]);
        assert_true(got != NULL && want != NULL && size[0] == size[1]);
        assert_same_bits(got, want, size[0] / 4, 4);
        free(got);
        free(want);
      }
      slab_scene_destroy(there);
      slab_scene_destroy(here);
      slab_context_destroy(context);
    }
}

/* ---- several devices, and threads ---- */

static void several_devices_answer_as_one(void **state) {
  (void)state;
  static const char *const lists[] = {"1,2", "2,1", "1,2,3", "0,1,2", "3,0"};
  slab_context *own = processor();
  slab_scene *want[] = {mixed_fates_scene(own, 1), mixed_tree(own, SHAPES)};
  slab_ray *rays = mixed_rays(__func__, RAYS);
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++)
    for (int w = 0; w < WAYS; w++) {
      pretended_kind as = ways[w].as;
      slab_context_options options = ways[w].options;
      as.devices = 3;
      options.device = lists[l];
      options.launch_rays = 64;
      slab_context *several = open_as(&as, options);
      slab_scene *got[] = {mixed_fates_scene(several, 1), mixed_tree(several, SHAPES)};
      for (int s = 0; s < 2; s++) {
        assert_same(lists[l], got[s], want[s], rays, NULL);
        slab_scene_destroy(got[s]);
      }
      slab_context_destroy(several);
    }
  free(rays);
  slab_scene_destroy(want[0]);
  slab_scene_destroy(want[1]);
  slab_context_destroy(own);
}

/* A program is compiled once for equal GPUs, whichever needs it first, and for each of those that differ. */
static void equal_gpus_share_what_is_built(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, MANY);
  float *t = harness_space(MANY * sizeof *t);
  for (int uneven = 0; uneven < 2; uneven++) {
    const pretended_kind as = {.devices = 3, .is_gpu = true, .is_uneven = uneven != 0, .launching = 2e-4};
    slab_context *several = open_as(&as, (slab_context_options){.device = "1,2,3", .launch_rays = 32});
    slab_scene *scene = mixed_tree(several, SHAPES);
    pretended_forget();
    assert_ok(slab_distance(scene, rays, MANY, t, NULL));
    const pretended_counts seen = pretended_seen();
    unsigned used = 0;
    for (int i = 0; i < 3; i++) used += seen.items[i] > 0;
    assert_true(used == 3);
    assert_int_equal(seen.builds, uneven ? 3 : 1);
    assert_int_equal(seen.shared, uneven ? 0 : 2);
    slab_scene_destroy(scene);
    slab_context_destroy(several);
  }
  free(rays);
  free(t);
}

/* The last device takes 20 milliseconds per launch. */
static void a_slow_device_gets_less(void **state) {
  (void)state;
  const pretended_kind as = {.devices = 2, .launching = 2e-2};
  slab_ray *rays = mixed_rays(__func__, MANY);
  float *t = harness_space(MANY * sizeof *t);
  slab_context *both = open_as(&as, (slab_context_options){.device = "1,2", .launch_rays = 100});
  slab_scene *scene = mixed_tree(both, SHAPES);
  assert_ok(slab_distance(scene, rays, RAYS, t, NULL)); /* builds */
  pretended_forget();
  assert_ok(slab_distance(scene, rays, MANY, t, NULL));
  const pretended_counts seen = pretended_seen();
  assert_true(seen.items[1] > 0 && seen.items[0] > 2 * seen.items[1]);
  slab_scene_destroy(scene);
  slab_context_destroy(both);
  free(rays);
  free(t);
}

enum { CASTERS = 4, CASTS = 12 };

typedef struct caster {
  slab_scene *scene;
  const slab_ray *rays;
  const slab_hit *want;
  unsigned wrong;
} caster;

static void *cast_often(void *argument) {
  caster *c = argument;
  slab_hit got[RAYS];
  for (int i = 0; i < CASTS; i++)
    if (slab_closest(c->scene, c->rays, RAYS, got, NULL) != SLAB_OK || memcmp(got, c->want, sizeof got) != 0)
      c->wrong++;
  return NULL;
}

/* They need one program at once, which one thread builds; the others wait for it. */
static void threads_cast_at_once(void **state) {
  (void)state;
  slab_context *own = processor();
  slab_scene *want_scene = mixed_tree(own, SHAPES);
  slab_ray *rays = mixed_rays(__func__, RAYS);
  slab_hit want[RAYS];
  assert_ok(slab_closest(want_scene, rays, RAYS, want, NULL));
  for (int w = 0; w < WAYS; w++) {
    pthread_t threads[CASTERS];
    caster casters[CASTERS];
    pretended_kind as = ways[w].as;
    slab_context_options options = ways[w].options;
    as.building = 0.02;
    options.launch_rays = 250;
    slab_context *context = open_as(&as, options);
    slab_scene *scene = mixed_tree(context, SHAPES);
    pretended_forget();
    for (int i = 0; i < CASTERS; i++) {
      casters[i] = (caster){scene, rays, want, 0};
      assert_int_equal(pthread_create(&threads[i], NULL, cast_often, &casters[i]), 0);
    }
    for (int i = 0; i < CASTERS; i++) {
      assert_int_equal(pthread_join(threads[i], NULL), 0);
      if (casters[i].wrong > 0) fail_msg("%s: %u casts of thread %d are wrong", ways[w].name, casters[i].wrong, i);
    }
    assert_int_equal(pretended_seen().builds, 1);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
  free(rays);
  slab_scene_destroy(want_scene);
  slab_context_destroy(own);
}

/* After each test, whose contexts are closed. */
static int nothing_is_left(void **state) {
  (void)state;
  static const count_live none;
  const count_live live = pretended_live();
  return memcmp(&live, &none, sizeof live) == 0 ? 0 : -1;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(answers_are_the_processors, nothing_is_left),
      cmocka_unit_test_teardown(instances_answer_as_the_processors, nothing_is_left),
      cmocka_unit_test_teardown(sets_of_rays_are_the_processors, nothing_is_left),
      cmocka_unit_test_teardown(casts_of_sets_are_those_of_arrays, nothing_is_left),
      cmocka_unit_test_teardown(sums_are_the_processors, nothing_is_left),
      cmocka_unit_test_teardown(pairs_answer_as_the_processors, nothing_is_left),
      cmocka_unit_test_teardown(casts_flush_what_they_begin, nothing_is_left),
      cmocka_unit_test_teardown(cut_scenes_answer_as_the_processors, nothing_is_left),
      cmocka_unit_test_teardown(what_does_not_fit_is_refused, nothing_is_left),
      cmocka_unit_test_teardown(casts_go_on_without_pinned_memory, nothing_is_left),
      cmocka_unit_test_teardown(refits_there_are_the_hosts, nothing_is_left),
      cmocka_unit_test_teardown(several_devices_answer_as_one, nothing_is_left),
      cmocka_unit_test_teardown(equal_gpus_share_what_is_built, nothing_is_left),
      cmocka_unit_test_teardown(a_slow_device_gets_less, nothing_is_left),
      cmocka_unit_test_teardown(threads_cast_at_once, nothing_is_left),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
