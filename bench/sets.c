/* The benchmark of rays that are never stored: sets and sums against arrays of the same rays, and Embree's loops.
 *
 *   bench_sets [ROUNDS]
 *
 * Sky: the open share of the sky at 10,000 points, 1,000 rays each, in a city of 100,000 boxes. LiDAR: frames of 128
 * beams x 1,024 firings of a moving sensor, over a terrain of a million triangles.
 *
 * Sides are cast in turn in each round; the first round is not counted. Array: slab_rays_write, then the query, then
 * sums by one thread. Answers of sets and arrays are compared bit by bit in every round, shares with Embree's to 1e-3.
 * Embree makes the sky's rays in the loop that casts them, and casts the frame's from the same array. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/scenes.h"
#include "sets/timing.h"
#include "slabcast.h"
#ifdef BENCH_EMBREE
#include "embree.h"
#endif

#define BENCH_NAME "bench_sets"
#include "must.h"

enum { BOXES = 100000, BLOCK = 317, POINTS = 10000, SKY = 1000 };
enum { CELLS = 708, BEAMS = 128, FIRINGS = 1024, FRAME = BEAMS * FIRINGS };
#define SIDES_MAX 4
#define AGREE 1e-3

typedef struct side {
  const char *name;
  timing times;
} side;

/* A number from 0 to 1, of place i: the same on every machine. */
static float noise(uint32_t i) {
  i ^= i >> 16;
  i *= 0x7FEB352Du;
  i ^= i >> 15;
  i *= 0x846CA68Bu;
  i ^= i >> 16;
  return (float)(i >> 8) * 0x1p-24f;
}

static slab_scene *scene_of(slab_context *context, const scene_geometry *g) {
  slab_scene *scene = NULL;
  check(slab_scene_create(context, &scene), "a scene");
  check(scene_geometry_add(scene, g, NULL, NULL), "geometry");
  check(slab_scene_commit(scene, NULL), "commit");
  return scene;
}

/* Adds the time since `begun`, unless the round is the first; returns now. */
static double stop(side *s, int round, double begun) {
  const double now = seconds_now();
  if (round > 0) s->times.seconds[s->times.rounds++] = now - begun;
  return now;
}

/* ratio: a side's time divided by the set's, by medians. */
static void print(const char *title, const side *sides, int count, double rays) {
  const timing_summary set = timing_summarise(&sides[0].times);
  printf("%s\n  %-36s %10s %10s %8s %10s\n", title, "side", "best ms", "median ms", "Mray/s", "set is x");
  for (int i = 0; i < count; i++) {
    const timing_summary s = timing_summarise(&sides[i].times);
    printf("  %-36s %10.2f %10.2f %8.1f %10.2f\n", sides[i].name, 1e3 * s.best, 1e3 * s.median, 1e-6 * rays / s.median,
           s.median / set.median);
  }
}

/* ---- the sky of a city ---- */

static scene_geometry city(void) {
  slab_box *boxes = space(BOXES * sizeof *boxes);
  for (uint32_t i = 0; i < BOXES; i++) {
    const float x = 10.0f * (float)(i % BLOCK), y = 10.0f * (float)(i / BLOCK), wide = 4.0f + 4.0f * noise(3 * i);
    const float high = 3.0f + 60.0f * noise(3 * i + 1) * noise(3 * i + 2);
    boxes[i] = (slab_box){{x, y, 0.0f}, {x + wide, y + wide, high}};
  }
  return (scene_geometry){.kind = SLAB_BOX, .count = BOXES, .shapes = boxes};
}

/* Rays into an array, their answers, and the sum of each point's. */
static void open_by_array(slab_context *context, slab_scene *scene, const slab_rays *set, slab_ray *rays, uint8_t *any,
                          uint32_t *open) {
  check(slab_rays_write(context, set, 0, (size_t)POINTS * SKY, rays), "slab_rays_write");
  check(slab_any(scene, rays, (size_t)POINTS * SKY, any, NULL), "slab_any");
  for (size_t i = 0; i < POINTS; i++) {
    open[i] = SKY;
    for (size_t k = 0; k < SKY; k++) open[i] -= any[i * SKY + k];
  }
}

static void assert_shares(const slab_sum *sums, const uint32_t *open, double most) {
  double off = 0.0;
  for (int i = 0; i < POINTS; i++) off += fabs(sums[i].open - open[i]) / ((double)POINTS * SKY);
  if (off > most) ended_ill("sky", "the shares of two sides differ");
}

static void run_sky(slab_context *context, uint32_t threads, int rounds) {
  side sides[SIDES_MAX] = {{.name = "set, sums: slab_cast"}, {.name = "array: slab_any"}};
  scene_geometry g = city();
  slab_scene *scene = scene_of(context, &g);
  float *points = space(3 * POINTS * sizeof *points), *sky = space(3 * SKY * sizeof *sky);
  slab_ray *rays = space((size_t)POINTS * SKY * sizeof *rays);
  uint8_t *any = space((size_t)POINTS * SKY);
  slab_sum *sums = space(POINTS * sizeof *sums);
  uint32_t *open = space(POINTS * sizeof *open);
  int count = 2;
  for (uint32_t i = 0; i < POINTS; i++) {
    points[3 * i] = 10.0f * BLOCK * noise(7 * i + 1);
    points[3 * i + 1] = 10.0f * BLOCK * noise(7 * i + 2);
    points[3 * i + 2] = 1.5f;
  }
  check(slab_hemisphere(SKY, 1, sky), "slab_hemisphere");
  const slab_rays set = slab_rays_directions(points, POINTS, sky, SKY);
  const slab_source source = {.set = &set, .n = (size_t)POINTS * SKY};
  slab_results results = {.memory = sums, .type = SLAB_RESULT_SUMS};
#ifdef BENCH_EMBREE
  embree *e = embree_open(&g, threads, 0);
  if (e == NULL) exit(1);
  sides[count++].name = "Embree: rtcOccluded1";
  sides[count++].name = "Embree: rtcOccluded16, coherent";
#else
  (void)threads;
#endif
  for (int round = 0; round <= rounds; round++) {
    double begun = seconds_now();
    check(slab_cast(scene, SLAB_ANY, &source, &results, NULL), "slab_cast");
    begun = stop(&sides[0], round, begun);
    open_by_array(context, scene, &set, rays, any, open);
    stop(&sides[1], round, begun);
    assert_shares(sums, open, 0.0);
#ifdef BENCH_EMBREE
    for (int call = EMBREE_SINGLE; call <= EMBREE_PACKET; call++) {
      begun = seconds_now();
      if (!embree_open_rays(e, (embree_call)call, points, POINTS, sky, SKY, open)) exit(1);
      stop(&sides[2 + call], round, begun);
      assert_shares(sums, open, AGREE);
    }
#endif
  }
  print("sky: 10,000 points x 1,000 rays, 100,000 boxes", sides, count, (double)POINTS * SKY);
#ifdef BENCH_EMBREE
  embree_close(e);
#endif
  slab_scene_destroy(scene);
  scene_geometry_free(&g);
  free(points);
  free(sky);
  free(rays);
  free(any);
  free(sums);
  free(open);
}

/* ---- a sensor that moves ---- */

static scene_geometry terrain(void) {
  enum { SIDE = CELLS + 1 };
  scene_geometry g = {.kind = SLAB_TRIANGLE, .count = 2 * CELLS * CELLS, .vertex_count = SIDE * SIDE};
  g.vertices = space((3 * g.vertex_count + 1) * sizeof *g.vertices);
  g.indices = space(3 * (size_t)g.count * sizeof *g.indices);
  for (uint32_t i = 0; i < g.vertex_count; i++) {
    const float x = 0.3f * (float)(i % SIDE), y = 0.3f * (float)(i / SIDE);
    float *v = g.vertices + 3 * i;
    v[0] = x, v[1] = y, v[2] = 3.0f * sinf(0.05f * x) * cosf(0.07f * y) + 0.3f * noise(i);
  }
  for (uint32_t i = 0; i < CELLS * CELLS; i++) {
    const uint32_t a = i / CELLS * SIDE + i % CELLS, corners[] = {a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE};
    memcpy(g.indices + 6 * (size_t)i, corners, sizeof corners);
  }
  return g;
}

/* A turn of the sensor, which moves on meanwhile. */
static void make_poses(int frame, float *poses) {
  static float azimuth[FIRINGS], base[12 * FIRINGS];
  for (int i = 0; i < FIRINGS; i++) {
    const float way = (float)frame + (float)i / FIRINGS;
    const float pose[12] = {1, 0, 0, 60.0f + 0.5f * way, 0, 1, 0, 80.0f + 0.2f * way, 0, 0, 1, 6.0f};
    azimuth[i] = 360.0f * (float)i / FIRINGS;
    memcpy(base + 12 * i, pose, sizeof pose);
  }
  check(slab_spun_poses(base, 12 * sizeof *base, azimuth, FIRINGS, poses), "slab_spun_poses");
}

static void run_lidar(slab_context *context, uint32_t threads, int rounds) {
  side sides[SIDES_MAX] = {{.name = "set: slab_cast"}, {.name = "array: slab_closest"}};
  scene_geometry g = terrain();
  slab_scene *scene = scene_of(context, &g);
  static float elevation[BEAMS], zero[BEAMS], beams[6 * BEAMS], poses[12 * FIRINGS];
  slab_ray *rays = space(FRAME * sizeof *rays);
  slab_hit *got = space(FRAME * sizeof *got), *want = space(FRAME * sizeof *want);
  int count = 2;
  for (int i = 0; i < BEAMS; i++) elevation[i] = -25.0f + 40.0f * (float)i / BEAMS;
  check(slab_beams(elevation, zero, BEAMS, beams), "slab_beams");
  const slab_rays set = slab_rays_beams(poses, FIRINGS, beams, BEAMS);
  const slab_source source = {.set = &set, .n = FRAME};
  slab_results results = {.memory = got};
#ifdef BENCH_EMBREE
  embree *e = embree_open(&g, threads, 0);
  if (e == NULL) exit(1);
  sides[count++].name = "Embree, array: rtcIntersect1";
  sides[count++].name = "Embree, array: rtcIntersect16, coherent";
#else
  (void)threads;
#endif
  for (int round = 0; round <= rounds; round++) {
    make_poses(round, poses);
    double begun = seconds_now();
    check(slab_cast(scene, SLAB_CLOSEST, &source, &results, NULL), "slab_cast");
    begun = stop(&sides[0], round, begun);
    check(slab_rays_write(context, &set, 0, FRAME, rays), "slab_rays_write");
    check(slab_closest(scene, rays, FRAME, want, NULL), "slab_closest");
    stop(&sides[1], round, begun);
    if (memcmp(got, want, FRAME * sizeof *got) != 0) ended_ill("lidar", "the hits of set and array differ");
#ifdef BENCH_EMBREE
    for (int call = EMBREE_SINGLE; call <= EMBREE_PACKET; call++) {
      begun = seconds_now();
      check(slab_rays_write(context, &set, 0, FRAME, rays), "slab_rays_write");
      if (!embree_cast(e, (embree_call)call, SLAB_CLOSEST, rays, FRAME, want)) exit(1);
      stop(&sides[2 + call], round, begun);
    }
#endif
  }
  print("lidar: frames of 128 beams x 1,024 firings, a million triangles", sides, count, FRAME);
#ifdef BENCH_EMBREE
  embree_close(e);
#endif
  slab_scene_destroy(scene);
  scene_geometry_free(&g);
  free(rays);
  free(got);
  free(want);
}

int main(int argc, char **argv) {
  const slab_context_options options = {.device = "cpu"};
  slab_context *context = NULL;
  slab_device_info device;
  const int rounds = argc > 1 ? atoi(argv[1]) : 9;
  if (argc > 2 || rounds < 1 || rounds > ROUNDS_MAX) {
    fprintf(stderr, "usage: bench_sets [ROUNDS]\n");
    return 2;
  }
  check(slab_context_create(&options, &context), "a context");
  check(slab_context_device(context, &device), "the device");
  printf("%s, %u threads, medians of %d rounds", device.name, device.compute_units, rounds);
#ifdef BENCH_EMBREE
  printf(", Embree %s", embree_version());
#endif
  printf("\n");
  run_sky(context, device.compute_units, rounds);
  run_lidar(context, device.compute_units, 4 * rounds < ROUNDS_MAX ? 4 * rounds : ROUNDS_MAX);
  slab_context_destroy(context);
  return 0;
}
