/* digests LANES RAYS SEED: casts seeded rays on seeded scenes of every kind of primitive, in every query and by every
 * traversal. It prints a line for each cast with a digest of its answers. Two processors, levels or compilers agree
 * where the lines do. LANES: 0 (the device's own), 1, 8 or 16. RAYS: at each set of scenes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/adversarial.h"
#include "sets/answers.h"
#include "sets/bvh_scenes.h"
#include "sets/coherent_rays.h"

enum { RAYS = 500, ADVERSARIAL_SHAPES = 12, BVH_SHAPES = 400 };

/* The ways to cast a scene, besides brute force. */
typedef struct way {
  const char *name;
  slab_traversal traversal;
  slab_layout layout;
} way;

static const way ways[] = {{"packets", SLAB_TRAVERSAL_PACKETS, SLAB_LAYOUT_WIDE},
                           {"single", SLAB_TRAVERSAL_SINGLE, SLAB_LAYOUT_WIDE},
                           {"interleaved", SLAB_TRAVERSAL_INTERLEAVED, SLAB_LAYOUT_WIDE},
                           {"sorted", SLAB_TRAVERSAL_SORTED, SLAB_LAYOUT_WIDE},
                           {"compressed", SLAB_TRAVERSAL_AUTO, SLAB_LAYOUT_COMPRESSED}};
enum { WAYS = sizeof ways / sizeof *ways };

static void claim(slab_status status) {
  if (status == SLAB_OK) return;
  fprintf(stderr, "digests: %s\n", slab_message());
  exit(1);
}

/* FNV-1a. */
static uint64_t digest(const void *bytes, size_t size) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (size_t i = 0; i < size; i++) hash = (hash ^ ((const unsigned char *)bytes)[i]) * 0x100000001b3u;
  return hash;
}

typedef struct digests {
  slab_context *of[WAYS];
  answers got;
  slab_ray rays[RAYS];
  slab_primitive_id skip[RAYS];
} digests;

/* One scene and its rays: where it comes from, and how it is made. */
typedef struct set {
  const char *name;
  unsigned kinds; /* adversarial shapes of these kinds; 0: a scene for BVHs */
  bvh_scene which;
} set;

static void print_casts(digests *d, const char *how, slab_scene *scene, const slab_cast_options *options) {
  claim(answers_cast_all(&d->got, scene, d->rays, RAYS, options));
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    const uint64_t hits = d->got.offsets[RAYS];
    const size_t elements = q == SLAB_ALL ? (size_t)hits : RAYS;
    printf("  %s, %s: %d rays, %" PRIu64 " hits, %016" PRIx64 "\n", how, answer_name((slab_query)q), RAYS, hits,
           digest(answers_of(&d->got, (slab_query)q), elements * slab_result_size((slab_query)q)));
  }
}

/* The same primitives on every call with one seed; also those of rays that aim at them. */
static slab_scene *scene_of(const set *s, slab_context *context, slab_tree tree, uint64_t seed, adversarial *aims) {
  const slab_build_options options = {.tree = tree};
  random_state random = random_seed(seed);
  slab_scene *scene = NULL;
  claim(slab_scene_create(context, &scene));
  *aims = adversarial_begin(&random, seed % 4 == 0);
  claim(s->kinds != 0 ? adversarial_fill(&random, aims, s->kinds, ADVERSARIAL_SHAPES, scene)
                      : bvh_scene_fill(s->which, BVH_SHAPES, random_next(&random), scene));
  claim(slab_scene_commit(scene, &options));
  return scene;
}

/* Half of the rays are coherent. */
static void make_rays(digests *d, const set *s, const slab_scene *scene, const adversarial *aims, uint64_t seed) {
  slab_scene_stats stats;
  random_state random = random_seed(~seed);
  claim(slab_scene_info(scene, &stats));
  coherent_rays_fill(&random, &stats, RAYS, d->rays);
  for (size_t i = 0; i < RAYS; i++) {
    if (i >= RAYS / 2) d->rays[i] = s->kinds != 0 ? adversarial_ray(&random, aims) : bvh_scene_ray(&random, &stats);
    d->skip[i] = adversarial_skip(&random);
  }
}

/* The rays against as many shapes that are no refused ones. */
static void print_pairs(digests *d, slab_shape kind, const adversarial *aims, random_state *random) {
  static float shapes[RAYS * SHAPE_FLOATS_MOST];
  static slab_interval intervals[RAYS];
  float shape[SHAPE_FLOATS_MOST];
  for (size_t i = 0; i < RAYS; i++) {
    do adversarial_shape(random, kind, aims, shape);
    while (slab_pairs(d->of[0], kind, d->rays, shape, 1, intervals) != SLAB_OK);
    memcpy(shapes + i * shape_floats(kind), shape, shape_floats(kind) * sizeof *shape);
  }
  claim(slab_pairs(d->of[0], kind, d->rays, shapes, RAYS, intervals));
  printf("  pairs, %s: %d rays, %016" PRIx64 "\n", shape_name(kind), RAYS, digest(intervals, sizeof intervals));
}

static void cast_round(digests *d, const set *s, uint64_t round, uint64_t seed) {
  const way *w = &ways[round % WAYS];
  slab_context *context = d->of[round % WAYS];
  random_state random = random_seed(seed + round);
  adversarial aims;
  slab_scene *flat = scene_of(s, context, SLAB_TREE_FLAT, seed + round, &aims);
  slab_scene *tree = scene_of(s, context, round % 2 ? SLAB_TREE_HIGH : SLAB_TREE_FAST, seed + round, &aims);
  make_rays(d, s, flat, &aims, seed + round);
  const slab_cast_options options = adversarial_options(&random, d->skip);
  printf("%s %" PRIu64 ": rays %016" PRIx64 "\n", s->name, round, digest(d->rays, sizeof d->rays));
  print_casts(d, "flat", flat, &options);
  print_casts(d, w->name, tree, &options);
  if (s->kinds != 0) print_pairs(d, (slab_shape)(round % SHAPE_KINDS), &aims, &random);
  slab_scene_destroy(flat);
  slab_scene_destroy(tree);
}

static void cast_set(digests *d, const set *s, uint64_t rays, uint64_t seed) {
  for (uint64_t round = 0; round * RAYS < rays; round++) cast_round(d, s, round, seed);
}

static void cast_all_sets(digests *d, uint64_t rays, uint64_t seed) {
  for (int kind = 0; kind < SHAPE_KINDS; kind++) {
    const set alone = {shape_name((slab_shape)kind), 1u << kind, BVH_SCENES};
    cast_set(d, &alone, rays, seed);
  }
  const set together = {"every kind", ADVERSARIAL_ALL_KINDS, BVH_SCENES};
  cast_set(d, &together, rays, seed);
  for (int which = 0; which < BVH_SCENES; which++) {
    const set hard = {bvh_scene_name((bvh_scene)which), 0, (bvh_scene)which};
    cast_set(d, &hard, rays / BVH_SCENES, seed);
  }
}

int main(int argc, char **argv) {
  static digests d;
  if (argc != 4) {
    fprintf(stderr, "usage: digests LANES RAYS SEED\n");
    return 2;
  }
  for (int i = 0; i < WAYS; i++) {
    const slab_context_options options = {.lane_width = (uint32_t)strtoul(argv[1], NULL, 10),
                                          .traversal = ways[i].traversal,
                                          .layout = ways[i].layout,
                                          .launch_rays = RAYS - 77}; /* else they are few, and not cast by these ways */
    claim(slab_context_create(&options, &d.of[i]));
  }
  cast_all_sets(&d, strtoull(argv[2], NULL, 10), strtoull(argv[3], NULL, 10));
  answers_free(&d.got);
  for (int i = 0; i < WAYS; i++) slab_context_destroy(d.of[i]);
  return fflush(stdout) != 0;
}
