/* How rays of the compressed traversal, which GPUs get, diverge in a warp: bench/results/divergence.txt.
 *
 *   bench_divergence [--side SIDE] [--set NAME] [SCENE...]     (default: the scenes of the table)
 *
 * Rays are cast one after the other by the library's own kernel of one lane, compiled such that it reports its steps
 * (the same text as GPUs compile). The steps of 32 or 64 rays that follow each other are replayed in step (warp.h).
 * Rays are those of SIDE x SIDE pixels as trace_rays.h has them, and as many random ones, also sorted. Of these some
 * groups of 64 are cast, evenly apart: how alike the rays of a group are depends on how many there are in all. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/trace_rays.h"
#include "slabcast.h"
#include "trace_scene.h"
#include "warp.h"
#include "work/ray_order.h"

#define SEED 20260711u
enum { SORTED = TRACE_SETS, RAYS_KINDS, SCENES_MAX = 16, WIDTHS = 2, GROUPS = 256 };
static const uint32_t widths[WIDTHS] = {32, 64};

typedef struct options {
  const char *scenes[SCENES_MAX], *set;
  int scene_count;
  uint32_t side;
} options;

/* ---- recording ---- */

static warp_lane lanes[WARP_MOST], *recorded; /* recorded: the lane whose ray is cast; NULL: none */
static bool recorded_all = true;

void steps_count(step what, unsigned int n) {
  if (recorded != NULL && !warp_tell(recorded, what, n)) recorded_all = false;
}

static bool cast(slab_scene *scene, const slab_ray *ray, bool any) {
  slab_hit hit;
  uint8_t occluded;
  const slab_status status = any ? slab_any(scene, ray, 1, &occluded, NULL) : slab_closest(scene, ray, 1, &hit, NULL);
  if (status != SLAB_OK) fprintf(stderr, "bench_divergence: %s\n", slab_message());
  return status == SLAB_OK;
}

/* GROUPS groups of WARP_MOST rays, or all where there are fewer. */
static bool cast_groups(slab_scene *scene, const slab_ray *rays, size_t n, bool any, warp_sums sums[WIDTHS]) {
  const size_t groups = n / WARP_MOST, apart = groups <= GROUPS ? 1 : groups / GROUPS;
  for (size_t group = 0; group < groups && group < GROUPS * apart; group += apart) {
    for (uint32_t i = 0; i < WARP_MOST; i++) {
      recorded = &lanes[i];
      warp_begin(recorded);
      const bool done = cast(scene, &rays[group * WARP_MOST + i], any);
      recorded = NULL;
      if (!done) return false;
    }
    for (int w = 0; w < WIDTHS; w++)
      for (uint32_t from = 0; from < WARP_MOST; from += widths[w]) warp_replay(lanes + from, widths[w], &sums[w]);
  }
  if (!recorded_all) fprintf(stderr, "bench_divergence: no memory for a ray's steps\n");
  return recorded_all;
}

/* ---- the table ---- */

static double ratio(uint64_t a, uint64_t b) { return b == 0 ? 0.0 : (double)a / (double)b; }

static void print_head(void) {
  puts(
      "# The compressed traversal in warps of 32 and 64 rays, replayed from the steps of the kernel's own text on the\n"
      "# processor: nodes and triangles that a ray meets; the steps that its warp takes for them, and which share of "
      "the\n"
      "# lanes is at work at each; the same of triangles that their short test leaves (x.); the nodes apart that lanes "
      "of\n"
      "# one step visit; how often the warp pops and pushes, entries of the deepest stack. Of the rays of 1024 x 1024\n"
      "# pixels 256 groups of 64. BVHs of quality HIGH.\n"
      "# Made by `./dev bench divergence`.\n"
      "#\n"
      "# scene          rays     query   lanes  count   nodes  trian.  n.steps  at work  t.steps  at work  x.steps  at "
      "work"
      "  apart   pops  pushes  deep");
}

static void print_row(const char *scene, const char *set, bool any, uint32_t width, const warp_sums *s) {
  printf("%-16s %-8s %-8s %4u %6llu %7.2f %7.2f %8.2f %8.3f %8.2f %8.3f %8.2f %8.3f %6.2f %6.2f %7.2f %5u\n", scene,
         set, any ? "any" : "closest", width, (unsigned long long)s->rays, ratio(s->node_lanes, s->rays),
         ratio(s->primitive_lanes, s->rays), ratio(s->node_steps, s->warps),
         ratio(s->node_lanes, s->node_steps * width), ratio(s->primitive_steps, s->warps),
         ratio(s->primitive_lanes, s->primitive_steps * width), ratio(s->exact_steps, s->warps),
         ratio(s->exact_lanes, s->exact_steps * width), ratio(s->nodes_apart, s->node_steps),
         ratio(s->pop_steps, s->warps), ratio(s->push_steps, s->warps), s->depth);
  fflush(stdout);
}

/* ---- scenes and rays ---- */

static const char *rays_name(unsigned kind) { return kind == SORTED ? "sorted" : trace_set_names[kind]; }

static bool sort(slab_scene *scene, slab_ray *rays, size_t n) {
  slab_scene_stats stats;
  slab_ray *sorted = malloc(n * sizeof *sorted);
  uint32_t *order =
      slab_scene_info(scene, &stats) == SLAB_OK ? rays_sorted(rays, n, stats.lower, stats.upper, 1) : NULL;
  const bool done = sorted != NULL && order != NULL;
  for (size_t i = 0; done && i < n; i++) sorted[i] = rays[order[i]];
  if (done) memcpy(rays, sorted, n * sizeof *sorted);
  free(order);
  free(sorted);
  if (!done) fprintf(stderr, "bench_divergence: no memory for sorting %zu rays\n", n);
  return done;
}

static bool run_rays(const options *o, slab_scene *scene, const char *name, unsigned kind) {
  const size_t most = (size_t)o->side * o->side;
  slab_ray *rays = malloc(most * sizeof *rays);
  slab_hit *hits = malloc(most * sizeof *hits);
  size_t n = 0;
  bool done =
      rays != NULL && hits != NULL &&
      trace_rays_fill(scene, kind == SORTED ? TRACE_RANDOM : (trace_set)kind, SEED, o->side, rays, hits, &n) == SLAB_OK;
  if (!done) fprintf(stderr, "bench_divergence: %s: no rays: %s\n", name, slab_message());
  if (done && kind == SORTED) done = sort(scene, rays, n);
  for (int any = 0; done && any <= 1; any++) {
    warp_sums sums[WIDTHS] = {0};
    done = cast_groups(scene, rays, n, any != 0, sums);
    for (int w = 0; done && w < WIDTHS; w++) print_row(name, rays_name(kind), any != 0, widths[w], &sums[w]);
  }
  free(rays);
  free(hits);
  return done;
}

static bool run_scene(const options *o, const char *name) {
  /* the width whose kernels count, of which those of compressed BVHs have one lane */
  const slab_context_options with = {
      .device = "cpu", .lane_width = 8, .layout = SLAB_LAYOUT_COMPRESSED, .traversal = SLAB_TRAVERSAL_SINGLE};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  scene_geometry geometry;
  if (!trace_scene_read(name, SEED, &geometry)) return false;
  bool done = slab_context_create(&with, &context) == SLAB_OK && slab_scene_create(context, &scene) == SLAB_OK &&
              scene_geometry_add(scene, &geometry, NULL, NULL) == SLAB_OK &&
              slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH}) == SLAB_OK;
  if (!done) fprintf(stderr, "bench_divergence: %s: %s\n", name, slab_message());
  scene_geometry_free(&geometry);
  for (unsigned kind = 0; done && kind < RAYS_KINDS; kind++)
    if (o->set == NULL || strcmp(o->set, rays_name(kind)) == 0) done = run_rays(o, scene, name, kind);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return done;
}

/* ---- options ---- */

static bool parse_set(const char *name, options *o) {
  for (unsigned kind = 0; kind < RAYS_KINDS; kind++)
    if (strcmp(name, rays_name(kind)) == 0) o->set = name;
  return o->set != NULL;
}

static bool parse_options(int count, char **words, options *o) {
  static const char *const usual[] = {"terrain:10000",   "terrain:100000", "soup:100000",     "city-mesh:8333",
                                      "terrain:1000000", "soup:1000000",   "terrain:2000000", "soup:2000000"};
  *o = (options){.side = 1024};
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--side") == 0 && i + 1 < count) {
      o->side = (uint32_t)strtoul(words[++i], NULL, 10);
      if (o->side < 32 || o->side > 4096 || (o->side & (o->side - 1)) != 0) return false;
    } else if (strcmp(words[i], "--set") == 0 && i + 1 < count) {
      if (!parse_set(words[++i], o)) return false;
    } else if (words[i][0] != '-' && o->scene_count < SCENES_MAX) {
      o->scenes[o->scene_count++] = words[i];
    } else {
      return false;
    }
  }
  const bool named = o->scene_count > 0;
  for (size_t i = 0; !named && i < sizeof usual / sizeof *usual; i++) o->scenes[o->scene_count++] = usual[i];
  return true;
}

int main(int count, char **words) {
  options o;
  const int child = trace_scene_child(count, words);
  if (child >= 0) return child;
  if (!parse_options(count, words, &o)) {
    fprintf(stderr, "usage: bench_divergence [--side SIDE] [--set NAME] [SCENE...]\n");
    return 2;
  }
  bool done = true;
  print_head();
  for (int i = 0; done && i < o.scene_count; i++) done = run_scene(&o, o.scenes[i]);
  for (int i = 0; i < WARP_MOST; i++) free(lanes[i].visits);
  return done ? 0 : 1;
}
