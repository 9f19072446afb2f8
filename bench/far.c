/* The benchmark of coordinates in double: rays in float at a scene around 0, and the same in double at the same scene
 * ten thousand kilometres away.
 *
 *   bench_far [--rounds N] [SCENE...]
 *
 * SCENE: as of bench_trace (default: terrain:1000000 soup:100000). Rays: a million of each set of trace_rays.h. The two
 * are cast in turn in each round; the first round is not counted. The scene is scaled to 16 km, so that its units may
 * be metres. `other`: rays that hit another primitive, or hit on one side alone. `off`: how far t is from that of the
 * triangle and the ray as they were given in double, times how steep the ray meets the surface; largest and median. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/scenes.h"
#include "sets/timing.h"
#include "sets/trace_rays.h"
#include "slabcast.h"
#include "trace_scene.h"

#define BENCH_NAME "bench_far"
#include "must.h"

enum { SIDE = 1024 };
#define EXTENT 16000.0
#define RAYS ((size_t)SIDE * SIDE)

static const double away[3] = {1e7 + 0.3, 9e6 + 0.7, 128.1};

typedef struct far_bench {
  slab_scene *near, *far;
  double *vertices; /* three per vertex, far away */
  const scene_geometry *g;
  slab_ray *rays;
  slab_ray64 *rays64;
  size_t n;
  slab_hit *hits;
  slab_hit64 *hits64;
  double *off;
} far_bench;

/* ---- the scenes ---- */

static void scale(scene_geometry *g) {
  float lower = INFINITY, upper = -INFINITY;
  for (size_t i = 0; i < g->vertex_count; i++) {
    lower = fminf(lower, g->vertices[3 * i]);
    upper = fmaxf(upper, g->vertices[3 * i]);
  }
  const float by = (float)EXTENT / (upper - lower);
  for (size_t i = 0; i < 3 * (size_t)g->vertex_count; i++) g->vertices[i] *= by;
}

static void open_scenes(far_bench *b, slab_context *context) {
  const scene_geometry *g = b->g;
  b->vertices = space(3 * (size_t)g->vertex_count * sizeof *b->vertices);
  for (size_t i = 0; i < 3 * (size_t)g->vertex_count; i++) b->vertices[i] = g->vertices[i] + away[i % 3];
  const slab_mesh far = {
      .vertices64 = b->vertices, .vertex_count = g->vertex_count, .indices = g->indices, .triangle_count = g->count};
  check(slab_scene_create(context, &b->near), "a scene");
  check(slab_scene_create(context, &b->far), "a scene");
  check(scene_geometry_add(b->near, g, NULL, NULL), "geometry");
  check(slab_scene_add_mesh(b->far, &far, NULL, NULL), "geometry in double");
  check(slab_scene_commit(b->near, NULL), "commit");
  check(slab_scene_commit(b->far, NULL), "commit");
}

static void move_rays(far_bench *b) {
  for (size_t i = 0; i < b->n; i++) {
    const slab_ray *r = &b->rays[i];
    b->rays64[i] = (slab_ray64){.t_min = r->t_min, .t_max = r->t_max};
    for (int k = 0; k < 3; k++) {
      b->rays64[i].origin[k] = r->origin[k] + away[k];
      b->rays64[i].direction[k] = r->direction[k];
    }
  }
}

/* ---- the report ---- */

/* How far a hit's t is from the plane of its triangle, in metres across the surface. */
static double off_by(const far_bench *b, size_t i) {
  const slab_hit64 *h = &b->hits64[i];
  const slab_ray64 *r = &b->rays64[i];
  const double *corner[3];
  long double u[3], v[3], normal[3], above = 0.0L, along = 0.0L, square = 0.0L;
  for (size_t c = 0; c < 3; c++) {
    const size_t at = 3 * (size_t)h->primitive + c;
    corner[c] = b->vertices + 3 * (b->g->indices != NULL ? b->g->indices[at] : at);
  }
  for (int k = 0; k < 3; k++) {
    u[k] = (long double)corner[1][k] - corner[0][k];
    v[k] = (long double)corner[2][k] - corner[0][k];
  }
  for (int k = 0; k < 3; k++) {
    normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
    above += normal[k] * ((long double)corner[0][k] - r->origin[k]);
    along += normal[k] * r->direction[k];
    square += normal[k] * normal[k];
  }
  return (double)(fabsl(above - (long double)h->t * along) / sqrtl(square));
}

static int compare_doubles(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static void tell_hits(const far_bench *b) {
  size_t other = 0, hits = 0;
  for (size_t i = 0; i < b->n; i++) {
    other += b->hits[i].primitive != b->hits64[i].primitive;
    if (b->hits64[i].primitive < SLAB_INVALID) b->off[hits++] = off_by(b, i);
  }
  qsort(b->off, hits, sizeof *b->off, compare_doubles);
  if (hits > 0)
    printf("    %zu hits, other %zu, off in mm: median %.3f, 99 %% below %.3f, largest %.3f\n", hits, other,
           1e3 * b->off[hits / 2], 1e3 * b->off[hits * 99 / 100], 1e3 * b->off[hits - 1]);
}

static void run_query(far_bench *b, slab_query query, const char *name, const char *set, int rounds) {
  timing times[2] = {{.rounds = 0}, {.rounds = 0}};
  slab_source near = {.rays = b->rays, .n = b->n}, far = {.rays64 = b->rays64, .n = b->n};
  slab_results to_near = {.memory = b->hits}, to_far = {.memory = b->hits64};
  for (int round = 0; round <= rounds; round++)
    for (int k = 0; k < 2; k++) {
      const double begun = seconds_now();
      check(slab_cast(k == 0 ? b->near : b->far, query, k == 0 ? &near : &far, k == 0 ? &to_near : &to_far, NULL),
            name);
      if (round > 0) times[k].seconds[times[k].rounds++] = seconds_now() - begun;
    }
  const timing_summary f = timing_summarise(&times[0]), d = timing_summarise(&times[1]);
  printf("  %-8s %-8s %8.2f %8.2f %8.3f %8.3f\n", set, name, 1e-6 * (double)b->n / f.median,
         1e-6 * (double)b->n / d.median, f.median / d.median, f.best / d.best);
}

static void run_scene(slab_context *context, const char *name, int rounds) {
  scene_geometry g;
  if (!trace_scene_read(name, 1, &g)) exit(1);
  if (g.kind != SLAB_TRIANGLE) ended_ill(name, "only triangles are asked for");
  scale(&g);
  far_bench b = {.g = &g,
                 .rays = space(RAYS * sizeof *b.rays),
                 .rays64 = space(RAYS * sizeof *b.rays64),
                 .hits = space(RAYS * sizeof *b.hits),
                 .hits64 = space(RAYS * sizeof *b.hits64),
                 .off = space(RAYS * sizeof *b.off)};
  open_scenes(&b, context);
  printf("%s\n  %-8s %-8s %8s %8s %8s %8s\n", name, "rays", "query", "float", "double", "ratio", "best");
  for (int set = 0; set < TRACE_SETS; set++) {
    check(trace_rays_fill(b.near, (trace_set)set, 1, SIDE, b.rays, b.hits, &b.n), "rays");
    move_rays(&b);
    run_query(&b, SLAB_DISTANCE, "distance", trace_set_names[set], rounds);
    run_query(&b, SLAB_ANY, "any", trace_set_names[set], rounds);
    run_query(&b, SLAB_CLOSEST, "closest", trace_set_names[set], rounds);
    tell_hits(&b);
  }
  slab_scene_destroy(b.near);
  slab_scene_destroy(b.far);
  free(b.vertices);
  free(b.rays);
  free(b.rays64);
  free(b.hits);
  free(b.hits64);
  free(b.off);
  scene_geometry_free(&g);
}

int main(int argc, char **argv) {
  const int child = trace_scene_child(argc, argv);
  if (child >= 0) return child;
  static const char *const usual[] = {"terrain:1000000", "soup:100000"};
  const slab_context_options options = {.device = "cpu"};
  slab_context *context = NULL;
  slab_device_info device;
  int rounds = 7, first = 1;
  if (argc > 2 && strcmp(argv[1], "--rounds") == 0) rounds = atoi(argv[2]), first = 3;
  if (rounds < 1 || rounds > ROUNDS_MAX || (argc > first && argv[first][0] == '-')) {
    fprintf(stderr, "usage: bench_far [--rounds N] [SCENE...]\n");
    return 2;
  }
  check(slab_context_create(&options, &context), "a context");
  check(slab_context_device(context, &device), "the device");
  printf("%s, %s, %u threads, millions of rays a second, medians of %d rounds, commit " BENCH_COMMIT "\n", device.name,
         device.version, device.compute_units, rounds);
  const int count = argc > first ? argc - first : (int)(sizeof usual / sizeof *usual);
  for (int i = 0; i < count; i++) run_scene(context, argc > first ? argv[first + i] : usual[i], rounds);
  slab_context_destroy(context);
  return 0;
}
