/* Compares BVHs with brute force, bit by bit: every query, layout and build quality, each quality with another
 * traversal. Brute force is cast once for all comparisons. */

#include "base/plural.h"
#include "program/verify/verify.h"
#include "sets/bvh_scenes.h"
#include "sets/coherent_rays.h"

#define PRIMITIVES 10000u
/* With fewer rays, large BVHs are not built, because building them would take most of the time. */
#define FEW_RAYS 1000u
#define FEW_PRIMITIVES 2000u
/* This many rays of a batch are also compared with the CPU reference. */
#define REFERENCED 16
/* In thorough runs one ray in this many gets every query; the others get closest only. */
#define EVERY_QUERY 8

/* Ways to cast the scene; each gets the first 1/share of the rays. The others are compared with the first. */
static const struct contestant {
  const char *name;
  verify_layout layout;
  slab_tree tree;
  slab_traversal traversal; /* for wide BVHs */
  verify_width width;
  unsigned share;
} contestants[] = {
    {"flat", LAYOUT_FLAT, SLAB_TREE_FLAT, SLAB_TRAVERSAL_AUTO, OWN_WIDTH, 1},
    {"fast", LAYOUT_WIDE, SLAB_TREE_FAST, SLAB_TRAVERSAL_SINGLE, OWN_WIDTH, 1},
    {"default", LAYOUT_WIDE, SLAB_TREE_DEFAULT, SLAB_TRAVERSAL_PACKETS, OWN_WIDTH, 1},
    {"high", LAYOUT_WIDE, SLAB_TREE_HIGH, SLAB_TRAVERSAL_INTERLEAVED, OWN_WIDTH, 1},
    {"high, rays sorted", LAYOUT_WIDE, SLAB_TREE_HIGH, SLAB_TRAVERSAL_SORTED, OWN_WIDTH, 4},
    {"fast, compressed", LAYOUT_COMPRESSED, SLAB_TREE_FAST, SLAB_TRAVERSAL_AUTO, OWN_WIDTH, 2},
    {"high, compressed", LAYOUT_COMPRESSED, SLAB_TREE_HIGH, SLAB_TRAVERSAL_AUTO, OWN_WIDTH, 2},
    {"default, 8 lanes wide", LAYOUT_WIDE, SLAB_TREE_DEFAULT, SLAB_TRAVERSAL_PACKETS, LANES_8, 8},
    {"default, 16 lanes wide", LAYOUT_WIDE, SLAB_TREE_DEFAULT, SLAB_TRAVERSAL_PACKETS, LANES_16, 8},
    {"high, one lane wide", LAYOUT_WIDE, SLAB_TREE_HIGH, SLAB_TRAVERSAL_SINGLE, ONE_LANE, 8},
    {"flat, 8 lanes wide", LAYOUT_FLAT, SLAB_TREE_FLAT, SLAB_TRAVERSAL_SINGLE, LANES_8, 64},
    {"flat, 16 lanes wide", LAYOUT_FLAT, SLAB_TREE_FLAT, SLAB_TRAVERSAL_SINGLE, LANES_16, 64},
    {"flat, one lane wide", LAYOUT_FLAT, SLAB_TREE_FLAT, SLAB_TRAVERSAL_SINGLE, ONE_LANE, 64},
};
static const char *const widths[WIDTHS] = {"one lane wide", "8 lanes wide", "16 lanes wide"};
enum { CONTESTANTS = sizeof contestants / sizeof *contestants };

/* The context of a contestant; NULL: it is left out. */
static slab_context *context_of(const verify_run *run, const struct contestant *c) {
  if (c->width != OWN_WIDTH) return run->other[c->width];
  return c->layout == LAYOUT_FLAT ? run->context : c->layout == LAYOUT_WIDE ? run->wide[c->traversal] : run->compressed;
}

static uint32_t primitives_for(size_t rays) { return rays < FEW_RAYS ? FEW_PRIMITIVES : PRIMITIVES; }

static slab_status make_scene(verify_run *run, bvh_scene which, uint64_t seed, const struct contestant *c, size_t n,
                              slab_scene **scene) {
  slab_status status = slab_scene_create(context_of(run, c), scene);
  if (status == SLAB_OK) status = bvh_scene_fill(which, primitives_for(n), seed, *scene);
  if (status == SLAB_OK) status = bvh_scene_add_nothing(*scene);
  return status == SLAB_OK ? verify_commit(run, c->layout, c->tree, *scene, (n + c->share - 1) / c->share) : status;
}

/* Half of the rays are coherent, so that they form packets. Runs of coherent and of random rays alternate, so that any
 * first part of the rays has both. */
static void make_rays(verify_run *run, random_state *random, const slab_scene_stats *stats, size_t n) {
  const size_t turn = n < 2 * BUNDLE_RAYS ? (n + 1) / 2 : BUNDLE_RAYS;
  coherent_rays_fill(random, stats, n, run->rays);
  for (size_t i = 0; i < n; i++) {
    if (i / turn % 2) run->rays[i] = bvh_scene_ray(random, stats);
    run->skip[i] = (slab_primitive_id){random_below(random, primitives_for(n)), random_below(random, 7)};
  }
}

/* Compares run->others with the first part of run->answers, the answers of brute force. */
static void compare(verify_run *run, bvh_scene which, const struct contestant *c, slab_query query) {
  const size_t n = run->others.n;
  size_t first = 0;
  if (c->share == 1 && run->others.invalid[query] != run->answers.invalid[query])
    verify_fail(run, 1, NULL, "%s, tree %s, %s: another number of invalid rays than flat", bvh_scene_name(which),
                c->name, answer_name(query));
  const size_t differing = answers_differ(&run->others, &run->answers, query, &first);
  if (differing)
    verify_fail(run, differing, &run->rays[first], "%s, tree %s, %s: %zu of %zu %s from flat, the first is %zu",
                bvh_scene_name(which), c->name, answer_name(query), differing, n,
                plural(differing, "rays differs", "rays differ"), first);
  run->tally->cases += n;
  if (c->width != OWN_WIDTH) verify_figure_add(run, FIGURE_COUNT, widths[c->width], (double)n);
}

static slab_status cast_share(verify_run *run, bvh_scene which, const struct contestant *c, slab_scene *scene, size_t n,
                              const slab_cast_options *options) {
  const int is_first = c == contestants;
  slab_status status = SLAB_OK;
  for (int q = 0; status == SLAB_OK && q < ANSWER_QUERIES; q++) {
    const size_t share = run->thorough && q != SLAB_CLOSEST ? c->share * EVERY_QUERY : c->share;
    status = answers_cast(is_first ? &run->answers : &run->others, (slab_query)q, scene, run->rays,
                          (n + share - 1) / share, options);
    if (status == SLAB_OK && !is_first) compare(run, which, c, (slab_query)q);
  }
  return status;
}

int verify_trees(verify_run *run, random_state *random, size_t n) {
  const bvh_scene which = (bvh_scene)(run->batch % BVH_SCENES);
  const slab_cast_options some = {.mask = 1,
                                  .cull = SLAB_CULL_FRONT,
                                  .skip = run->skip,
                                  .face_forward = 1,
                                  .edges = SLAB_EDGES_CLOSED,
                                  .max_hits = 3};
  const slab_cast_options none = {0}, *options = run->batch / BVH_SCENES % 2 ? &some : &none;
  const uint64_t seed = random_next(random);
  slab_scene_stats stats;
  slab_status status = SLAB_OK;
  int code = EXIT_DONE;
  for (int k = 0; code == EXIT_DONE && status == SLAB_OK && k < CONTESTANTS; k++) {
    const struct contestant *c = &contestants[k];
    slab_scene *scene = NULL;
    if (context_of(run, c) == NULL) continue;
    status = make_scene(run, which, seed, c, n, &scene);
    if (status == SLAB_OK && k == 0) {
      status = slab_scene_info(scene, &stats);
      make_rays(run, random, &stats, n);
    }
    if (status == SLAB_OK) status = cast_share(run, which, c, scene, n, options);
    if (status == SLAB_OK && k == 0)
      code = verify_check(run, scene, SLAB_CLOSEST, &run->answers, n < REFERENCED ? n : REFERENCED, options, 0);
    slab_scene_destroy(scene);
  }
  return code == EXIT_DONE ? verify_status(run, status) : code;
}
