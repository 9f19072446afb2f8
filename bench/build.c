/* bench_build: compares commits with Embree's: triangles per second, in alternating rounds, and the cost of the BVHs.
 *
 * Both have the vertices and indices already, and commit a scene, whose leaves hold copies of the triangles. Embree
 * does not give access to the BVH that it commits. So its cost is measured by calling its builder for a BVH like ours:
 * 8 children, leaves in blocks of 8, with our costs. */
#include <embree4/rtcore.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "bvh/bvh.h"
#include "embree.h"
#include "sets/scenes.h"
#include "sets/timing.h"

enum { QUALITIES = 3, SCENES_MAX = 16 };

typedef struct options {
  const char *scenes[SCENES_MAX]; /* NAME:COUNT */
  int scene_count, rounds, threads, processor_time;
} options;

typedef struct bench {
  options options;
  RTCDevice device;
  scene_geometry mesh;
  bvh_bounds *bounds; /* of the triangles, for the cost of Embree's BVHs */
  slab_context *context;
  timing ours[QUALITIES], theirs[QUALITIES];
  slab_scene_stats trees[QUALITIES]; /* of the last round */
} bench;

static const char *const ours_names[] = {"fast", "default", "high"};
static const char *const theirs_names[] = {"low", "medium", "high"};

/* ---- ours ---- */

static bool build_ours(bench *b, int quality) {
  static const slab_tree trees[QUALITIES] = {SLAB_TREE_FAST, SLAB_TREE_DEFAULT, SLAB_TREE_HIGH};
  const slab_build_options settings = {.tree = trees[quality]};
  slab_scene *scene = NULL;
  uint32_t id;
  bool built =
      slab_scene_create(b->context, &scene) == SLAB_OK && scene_geometry_add(scene, &b->mesh, NULL, &id) == SLAB_OK;
  const double begin = timing_now(b->options.processor_time);
  built = built && slab_scene_commit(scene, &settings) == SLAB_OK;
  timing *t = &b->ours[quality];
  t->seconds[t->rounds++] = timing_now(b->options.processor_time) - begin;
  built = built && slab_scene_info(scene, &b->trees[quality]) == SLAB_OK;
  if (!built) fprintf(stderr, "bench_build: %s\n", slab_message());
  slab_scene_destroy(scene);
  return built;
}

/* ---- Embree's ---- */

static void build_theirs(bench *b, int quality) {
  RTCScene scene = rtcNewScene(b->device);
  RTCGeometry mesh = rtcNewGeometry(b->device, RTC_GEOMETRY_TYPE_TRIANGLE);
  rtcSetSceneBuildQuality(scene, (enum RTCBuildQuality)quality);
  rtcSetGeometryBuildQuality(mesh, (enum RTCBuildQuality)quality);
  memcpy(rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_VERTEX, 0, RTC_FORMAT_FLOAT3, 12, b->mesh.vertex_count),
         b->mesh.vertices, 12 * (size_t)b->mesh.vertex_count);
  memcpy(rtcSetNewGeometryBuffer(mesh, RTC_BUFFER_TYPE_INDEX, 0, RTC_FORMAT_UINT3, 12, b->mesh.count), b->mesh.indices,
         12 * (size_t)b->mesh.count);
  rtcCommitGeometry(mesh);
  rtcAttachGeometry(scene, mesh);
  rtcReleaseGeometry(mesh);
  const double begin = timing_now(b->options.processor_time);
  rtcCommitScene(scene);
  timing *t = &b->theirs[quality];
  t->seconds[t->rounds++] = timing_now(b->options.processor_time) - begin;
  rtcReleaseScene(scene);
}

/* ---- the cost of Embree's BVH ---- */

static void triangle_bounds(const scene_geometry *mesh, uint32_t triangle, bvh_bounds *b) {
  for (int k = 0; k < 3; k++) {
    b->lower[k] = INFINITY;
    b->upper[k] = -INFINITY;
    for (int corner = 0; corner < 3; corner++) {
      const float x = mesh->vertices[3 * (size_t)mesh->indices[3 * (size_t)triangle + (size_t)corner] + (size_t)k];
      b->lower[k] = x < b->lower[k] ? x : b->lower[k];
      b->upper[k] = x > b->upper[k] ? x : b->upper[k];
    }
  }
}

/* A node; a leaf if it has no children. */
typedef struct item {
  uint32_t children, primitives;
  struct item *child[BVH_WIDTH];
  struct RTCBounds bounds[BVH_WIDTH];
} item;

static void *new_node(RTCThreadLocalAllocator allocator, unsigned int children, void *user) {
  (void)user;
  item *node = rtcThreadLocalAlloc(allocator, sizeof *node, 16);
  node->children = children;
  return node;
}

static void *new_leaf(RTCThreadLocalAllocator allocator, const struct RTCBuildPrimitive *primitives, size_t count,
                      void *user) {
  (void)primitives, (void)user;
  item *leaf = rtcThreadLocalAlloc(allocator, sizeof *leaf, 16);
  leaf->children = 0;
  leaf->primitives = (uint32_t)count;
  return leaf;
}

static void set_children(void *node, void **children, unsigned int count, void *user) {
  (void)user;
  for (unsigned int i = 0; i < count; i++) ((item *)node)->child[i] = children[i];
}

static void set_bounds(void *node, const struct RTCBounds **bounds, unsigned int count, void *user) {
  (void)user;
  for (unsigned int i = 0; i < count; i++) ((item *)node)->bounds[i] = *bounds[i];
}

static double area(const struct RTCBounds *b) {
  const double x = (double)b->upper_x - (double)b->lower_x, y = (double)b->upper_y - (double)b->lower_y,
               z = (double)b->upper_z - (double)b->lower_z;
  return x * y + (x + y) * z;
}

static double cost_below(const item *at, double at_area) {
  if (at->children == 0) return (double)BVH_COST_BLOCK * ((at->primitives + BVH_WIDTH - 1) / BVH_WIDTH) * at_area;
  double cost = (double)BVH_COST_NODE * at_area;
  for (uint32_t i = 0; i < at->children; i++) cost += cost_below(at->child[i], area(&at->bounds[i]));
  return cost;
}

static struct RTCBounds bounds_of_all(const bench *b) {
  struct RTCBounds all = {INFINITY, INFINITY, INFINITY, 0, -INFINITY, -INFINITY, -INFINITY, 0};
  for (uint32_t i = 0; i < b->mesh.count; i++) {
    const bvh_bounds *p = &b->bounds[i];
    all.lower_x = fminf(all.lower_x, p->lower[0]), all.upper_x = fmaxf(all.upper_x, p->upper[0]);
    all.lower_y = fminf(all.lower_y, p->lower[1]), all.upper_y = fmaxf(all.upper_y, p->upper[1]);
    all.lower_z = fminf(all.lower_z, p->lower[2]), all.upper_z = fmaxf(all.upper_z, p->upper[2]);
  }
  return all;
}

/* Returns NaN when memory runs out. */
static double cost_of_theirs(const bench *b, int quality) {
  const uint32_t count = b->mesh.count;
  struct RTCBuildPrimitive *primitives = aligned_alloc(32, count * sizeof *primitives);
  if (primitives == NULL) return NAN;
  for (uint32_t i = 0; i < count; i++) {
    const bvh_bounds *p = &b->bounds[i];
    primitives[i] =
        (struct RTCBuildPrimitive){p->lower[0], p->lower[1], p->lower[2], 0, p->upper[0], p->upper[1], p->upper[2], i};
  }
  struct RTCBuildArguments arguments = rtcDefaultBuildArguments();
  arguments.buildQuality = (enum RTCBuildQuality)quality;
  arguments.maxBranchingFactor = arguments.sahBlockSize = BVH_WIDTH;
  arguments.traversalCost = BVH_COST_NODE;
  arguments.intersectionCost = BVH_COST_BLOCK;
  arguments.bvh = rtcNewBVH(b->device);
  arguments.primitives = primitives;
  arguments.primitiveCount = arguments.primitiveArrayCapacity = count;
  arguments.createNode = new_node;
  arguments.createLeaf = new_leaf;
  arguments.setNodeChildren = set_children;
  arguments.setNodeBounds = set_bounds;
  const item *root = rtcBuildBVH(&arguments);
  const struct RTCBounds all = bounds_of_all(b);
  const double cost = root ? cost_below(root, area(&all)) / area(&all) : NAN;
  rtcReleaseBVH(arguments.bvh);
  free(primitives);
  return cost;
}

/* ---- a scene ---- */

/* Soups also get indices, since both sides read indices. */
static bool make_mesh(bench *b, const char *name, uint32_t count) {
  if (scene_build(name, count, 1, &b->mesh) != 0 || b->mesh.kind != SLAB_TRIANGLE || b->mesh.count == 0) {
    fprintf(stderr, "bench_build: no triangles from scene %s:%u\n", name, count);
    return false;
  }
  if (b->mesh.indices == NULL) {
    b->mesh.indices = malloc(12 * (size_t)b->mesh.count);
    for (uint32_t i = 0; b->mesh.indices && i < 3 * b->mesh.count; i++) b->mesh.indices[i] = i;
  }
  b->bounds = malloc(b->mesh.count * sizeof *b->bounds);
  for (uint32_t i = 0; b->mesh.indices && b->bounds && i < b->mesh.count; i++)
    triangle_bounds(&b->mesh, i, &b->bounds[i]);
  return b->mesh.indices && b->bounds;
}

static void print_row(const bench *b, const char *side, const char *quality, const timing *t, double cost) {
  const timing_summary s = timing_summarise(t), reference = timing_summarise(&b->theirs[RTC_BUILD_QUALITY_MEDIUM]);
  printf("  %-7s %-8s %8.1f ms %8.1f ms %7.2f M/s %6.2fx %6.2fx", side, quality, s.best * 1e3, s.median * 1e3,
         b->mesh.count / s.best * 1e-6, reference.best / s.best, reference.median / s.median);
  if (isnan(cost))
    printf("        -");
  else
    printf(" %8.2f", cost);
}

static void print_results(const bench *b, const char *name) {
  printf("%s, %u triangles, %d threads%s\n", name, b->mesh.count, b->options.threads,
         b->options.processor_time ? ", processor time" : "");
  printf("  %-7s %-8s %11s %11s %11s %7s %7s %8s\n", "", "", "best", "median", "triangles", "best", "median", "cost");
  for (int quality = 0; quality < QUALITIES; quality++) {
    const slab_scene_stats *t = &b->trees[quality];
    print_row(b, "ours", ours_names[quality], &b->ours[quality], t->sah_cost);
    printf("  depth %u, %.1f of 8 children, %.1f of 8 triangles\n", t->tree_depth, t->node_occupancy * BVH_WIDTH,
           t->block_occupancy * BVH_WIDTH);
  }
  for (int quality = 0; quality < QUALITIES; quality++) {
    const bool splits = quality == RTC_BUILD_QUALITY_HIGH; /* splits primitives: its cost cannot be compared */
    print_row(b, "Embree", theirs_names[quality], &b->theirs[quality], splits ? NAN : cost_of_theirs(b, quality));
    printf("\n");
  }
}

static bool run_scene(const options *o, RTCDevice device, slab_context *context, const char *scene) {
  bench b = {.options = *o, .device = device, .context = context};
  char name[64];
  unsigned count = 0;
  bool done = sscanf(scene, "%63[^:]:%u", name, &count) == 2 && make_mesh(&b, name, count);
  for (int round = -1; done && round < o->rounds; round++) {
    for (int quality = 0; done && quality < QUALITIES; quality++) {
      if (round % 2 == 0) build_theirs(&b, quality);
      done = build_ours(&b, quality);
      if (round % 2 != 0) build_theirs(&b, quality);
      if (round < 0) b.ours[quality].rounds = b.theirs[quality].rounds = 0; /* discards the warm-up round */
    }
  }
  if (done) print_results(&b, scene);
  scene_geometry_free(&b.mesh);
  free(b.bounds);
  return done;
}

static bool parse_options(int count, char **words, options *o) {
  *o = (options){.scenes = {"soup:1000000", "terrain:2000000", "hair:1000000"}, .rounds = 5, .threads = 2};
  int scenes = 0;
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--processor-time") == 0)
      o->processor_time = 1;
    else if (strcmp(words[i], "--rounds") == 0 && i + 1 < count)
      o->rounds = atoi(words[++i]);
    else if (strcmp(words[i], "--threads") == 0 && i + 1 < count)
      o->threads = atoi(words[++i]);
    else if (words[i][0] != '-' && strchr(words[i], ':') && scenes < SCENES_MAX)
      o->scenes[scenes++] = words[i];
    else
      scenes = SCENES_MAX + 1;
  }
  o->scene_count = scenes ? scenes : 3;
  if (scenes <= SCENES_MAX && o->rounds > 0 && o->rounds <= ROUNDS_MAX && o->threads > 0) return true;
  fprintf(stderr, "usage: bench_build [--rounds R] [--threads T] [--processor-time] [SCENE:TRIANGLES ...]\n");
  return false;
}

int main(int count, char **words) {
  options o;
  bool done = true;
  if (!parse_options(count, words, &o)) return 2;
  slab_context *context = NULL;
  const slab_context_options settings = {.device = "processor", .threads = (uint32_t)o.threads};
  RTCDevice device = embree_device((uint32_t)o.threads);
  if (device == NULL) return 1;
  if (slab_context_create(&settings, &context) != SLAB_OK) {
    fprintf(stderr, "bench_build: %s\n", slab_message());
    return 1;
  }
  printf(
      "against   Embree %s; medium is its default quality, to which the ratios of best and median are\n"
      "cost      the surface area heuristic's, of both BVHs by one rule\n",
      embree_version());
  for (int i = 0; done && i < o.scene_count; i++) done = run_scene(&o, device, context, o.scenes[i]);
  slab_context_destroy(context);
  rtcReleaseDevice(device);
  return done ? 0 : 1;
}
