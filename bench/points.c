/* The benchmark of closest points, beside Embree's point queries where it is.
 *
 *   bench_points [--rounds N] [SCENE...]
 *
 * SCENE: as of bench_trace (default: terrain:1000000 soup:100000). Points: a million random ones in 1.2 times the
 * scene's bounds, and a million near the surface: points of triangles, off by a normal deviate of 1 % of the diagonal.
 *
 * Sides are called in turn in each round; the first round is not counted. Sorted: in the order of a Morton curve, which
 * is made beforehand and not counted. Distances of every side are compared in every round with those of
 * slab_closest_distances: Embree's to 1e-5 of the diagonal, ours bit by bit. The round with the most apart is reported.
 * The ratio is that of medians to slab_closest_points, which answers as much as Embree's callback does. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/scenes.h"
#include "sets/timing.h"
#include "slabcast.h"
#include "trace_scene.h"
#ifdef BENCH_EMBREE
#include "embree.h"
#include "embree_points.h"
#endif

#define BENCH_NAME "bench_points"
#include "must.h"

enum { SIDES_MAX = 8, SORT_BITS = 10 };
#define POINTS ((size_t)1000000)
#define AGREE 1e-5

typedef struct side {
  const char *name;
  timing times;
  size_t apart; /* points whose distance is not that of slab_closest_distances, in the worst round */
} side;

/* ---- points ---- */

static uint64_t state = 20260101;

/* From 0 to 1. */
static float next(void) {
  state = state * 6364136223846793005u + 1442695040888963407u;
  return (float)(state >> 40) * 0x1p-24f;
}

static float deviate(void) { return sqrtf(-2.0f * logf(next() + 0x1p-25f)) * cosf(6.2831853f * next()); }

static void random_points(const slab_scene_stats *s, float *points) {
  for (size_t i = 0; i < POINTS; i++)
    for (size_t k = 0; k < 3; k++)
      points[3 * i + k] = s->lower[k] + (1.2f * next() - 0.1f) * (s->upper[k] - s->lower[k]);
}

static void near_points(const scene_geometry *g, float diagonal, float *points) {
  for (size_t i = 0; i < POINTS; i++) {
    const size_t triangle = (size_t)(next() * (float)g->count) % g->count;
    float u = next(), v = next();
    if (u + v > 1.0f) u = 1.0f - u, v = 1.0f - v;
    const float weight[3] = {1.0f - u - v, u, v};
    for (size_t k = 0; k < 3; k++) {
      points[3 * i + k] = 0.01f * diagonal * deviate();
      for (size_t c = 0; c < 3; c++) {
        const size_t corner = 3 * triangle + c, vertex = g->indices != NULL ? g->indices[corner] : corner;
        points[3 * i + k] += weight[c] * g->vertices[3 * vertex + k];
      }
    }
  }
}

typedef struct keyed_point {
  uint32_t key;
  float p[3];
} keyed_point;

static int compare_keys(const void *a, const void *b) {
  const uint32_t x = ((const keyed_point *)a)->key, y = ((const keyed_point *)b)->key;
  return (x > y) - (x < y);
}

static void sort_points(const float *points, float *sorted) {
  keyed_point *keyed = space(POINTS * sizeof *keyed);
  float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < 3 * POINTS; i++) {
    lower[i % 3] = fminf(lower[i % 3], points[i]);
    upper[i % 3] = fmaxf(upper[i % 3], points[i]);
  }
  for (size_t i = 0; i < POINTS; i++) {
    memcpy(keyed[i].p, points + 3 * i, sizeof keyed[i].p);
    for (int k = 0; k < 3; k++) {
      const float share = (keyed[i].p[k] - lower[k]) / (upper[k] - lower[k]);
      const uint32_t cell = (uint32_t)(share * (float)((1 << SORT_BITS) - 1));
      for (int b = 0; b < SORT_BITS; b++) keyed[i].key |= (cell >> b & 1) << (3 * b + k);
    }
  }
  qsort(keyed, POINTS, sizeof *keyed, compare_keys);
  for (size_t i = 0; i < POINTS; i++) memcpy(sorted + 3 * i, keyed[i].p, sizeof keyed[i].p);
  free(keyed);
}

/* ---- sides ---- */

static double stop(side *s, int round, double begun) {
  const double now = seconds_now();
  if (round > 0) s->times.seconds[s->times.rounds++] = now - begun;
  return now;
}

static void compare(side *s, const float *want, const slab_closest_point *got, float most) {
  size_t apart = 0;
  for (size_t i = 0; i < POINTS; i++) apart += !(fabsf(got[i].distance - want[i]) <= most);
  if (apart > s->apart) s->apart = apart;
}

static void print(const char *scene, const char *which, const side *sides, int count) {
  const timing_summary own = timing_summarise(&sides[0].times);
  printf("%s, %s\n  %-44s %9s %9s %9s %9s %8s\n", scene, which, "side", "best ms", "median ms", "Mpoint/s", "ours is x",
         "apart");
  for (int i = 0; i < count; i++) {
    const timing_summary s = timing_summarise(&sides[i].times);
    printf("  %-44s %9.1f %9.1f %9.2f %9.2f %8zu\n", sides[i].name, 1e3 * s.best, 1e3 * s.median,
           1e-6 * (double)POINTS / s.median, s.median / own.median, sides[i].apart);
  }
}

static void run_points(slab_scene *scene, const scene_geometry *g, uint32_t threads, const char *name,
                       const char *which, const float *points, float diagonal, int rounds) {
  side sides[SIDES_MAX] = {{.name = "ours: slab_closest_points"}, {.name = "ours: slab_closest_distances"}};
  slab_closest_point *results = space(POINTS * sizeof *results);
  float *distances = space(POINTS * sizeof *distances);
  int count = 2;
  (void)g, (void)threads, (void)diagonal;
#ifdef BENCH_EMBREE
  embree_points *of[2] = {embree_points_open(g, threads, 0), embree_points_open(g, threads, 1)};
  if (of[0] == NULL || of[1] == NULL) exit(1);
  sides[count++].name = "Embree: rtcPointQuery, HIGH";
  sides[count++].name = "Embree: rtcPointQuery, HIGH, ROBUST";
#endif
  for (int round = 0; round <= rounds; round++) {
    double begun = seconds_now();
    check(slab_closest_points(scene, points, POINTS, results, NULL), "slab_closest_points");
    begun = stop(&sides[0], round, begun);
    check(slab_closest_distances(scene, points, POINTS, distances, NULL), "slab_closest_distances");
    stop(&sides[1], round, begun);
    compare(&sides[0], distances, results, 0.0f);
#ifdef BENCH_EMBREE
    for (int i = 0; i < 2; i++) {
      begun = seconds_now();
      if (!embree_points_ask(of[i], points, POINTS, results)) exit(1);
      stop(&sides[2 + i], round, begun);
      compare(&sides[2 + i], distances, results, (float)AGREE * diagonal);
    }
#endif
  }
  print(name, which, sides, count);
#ifdef BENCH_EMBREE
  for (int i = 0; i < 2; i++) embree_points_close(of[i]);
#endif
  free(results);
  free(distances);
}

static void run_scene(slab_context *context, const char *name, uint32_t threads, int rounds) {
  scene_geometry g;
  slab_scene *scene = NULL;
  slab_scene_stats stats;
  float *points = space(3 * POINTS * sizeof *points), *sorted = space(3 * POINTS * sizeof *sorted);
  if (!trace_scene_read(name, 1, &g)) exit(1);
  if (g.kind != SLAB_TRIANGLE) ended_ill(name, "only triangles are asked for");
  check(slab_scene_create(context, &scene), "a scene");
  check(scene_geometry_add(scene, &g, NULL, NULL), "geometry");
  check(slab_scene_commit(scene, NULL), "commit");
  check(slab_scene_info(scene, &stats), "the scene");
  float diagonal = 0.0f;
  for (int k = 0; k < 3; k++) diagonal += (stats.upper[k] - stats.lower[k]) * (stats.upper[k] - stats.lower[k]);
  diagonal = sqrtf(diagonal);
  for (int near = 0; near < 2; near++) {
    if (near)
      near_points(&g, diagonal, points);
    else
      random_points(&stats, points);
    sort_points(points, sorted);
    run_points(scene, &g, threads, name, near ? "near" : "random", points, diagonal, rounds);
    run_points(scene, &g, threads, name, near ? "near, sorted" : "random, sorted", sorted, diagonal, rounds);
  }
  slab_scene_destroy(scene);
  scene_geometry_free(&g);
  free(points);
  free(sorted);
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
    fprintf(stderr, "usage: bench_points [--rounds N] [SCENE...]\n");
    return 2;
  }
  check(slab_context_create(&options, &context), "a context");
  check(slab_context_device(context, &device), "the device");
  printf("%s, %s, %u threads, medians of %d rounds, commit " BENCH_COMMIT, device.name, device.version,
         device.compute_units, rounds);
#ifdef BENCH_EMBREE
  printf(", Embree %s", embree_version());
#endif
  printf("\n");
  if (argc > first)
    for (int i = first; i < argc; i++) run_scene(context, argv[i], device.compute_units, rounds);
  else
    for (size_t i = 0; i < sizeof usual / sizeof *usual; i++)
      run_scene(context, usual[i], device.compute_units, rounds);
  slab_context_destroy(context);
  return 0;
}
