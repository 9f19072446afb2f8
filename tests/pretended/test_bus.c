/* A call of a cast takes the time of the slowest of three: rays that go up a bus, their casting, results that come
 * down. On the driver that pretends, whose bus and card take the time that they are given; the host's work takes its
 * own. With an argument, a number of rays, it prints a table of every query in place of the test. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "os/clock.h"
#include "pretended.h"
#include "sets/answers.h"

enum { TRIANGLES = 1000, TRIES = 15 };
#define MOST_RATIO 1.1 /* of a call's time to that of the slowest */

/* Bytes per second each way, rays per second. */
typedef struct machine {
  const char *name;
  double bus, casting;
} machine;

static const machine machines[] = {
    {"all equal", 32e9, 1e9}, {"a slow bus", 12e9, 1e9}, {"slow casting", 25e9, 0.3e9}, {"a fast bus", 50e9, 4e9}};
enum { MACHINES = sizeof machines / sizeof *machines };

static const slab_query queries[] = {SLAB_CLOSEST, SLAB_NEAREST, SLAB_DISTANCE, SLAB_ANY, SLAB_COUNT, SLAB_INTERVAL};
enum { QUERIES = sizeof queries / sizeof *queries };

/* ---- a scene and rays ---- */

static slab_scene *soup(slab_context *context) {
  static float vertices[TRIANGLES * 9];
  random_state random = harness_seeded("a bus");
  slab_scene *scene = NULL;
  for (int i = 0; i < TRIANGLES * 9; i++) vertices[i] = random_float(&random);
  const slab_mesh mesh = {.vertices = vertices, .vertex_count = 3 * TRIANGLES, .triangle_count = TRIANGLES};
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static slab_context *open_as(const machine *m) {
  slab_context *context = NULL;
  pretended_as(&(pretended_kind){.is_gpu = true, .pace = PRETENDED_TIMED, .bus = m->bus, .casting = m->casting});
  assert_ok(slab_context_create(&(slab_context_options){.device = "pretended"}, &context));
  return context;
}

/* Rays and the largest results, in memory that the bus reaches. */
typedef struct arrays {
  slab_context *context;
  slab_ray *rays;
  void *results;
} arrays;

static arrays take_arrays(slab_context *context, size_t n) {
  arrays a = {.context = context};
  void *rays;
  assert_ok(slab_host_alloc(context, n * sizeof *a.rays, &rays));
  assert_ok(slab_host_alloc(context, n * sizeof(slab_hit), &a.results));
  a.rays = rays;
  for (size_t i = 0; i < n; i++) a.rays[i] = (slab_ray){{0.5f, 0.5f, -1}, 0, {0, 0, 1}, 9};
  return a;
}

static void give_back(arrays *a) {
  assert_ok(slab_host_free(a->context, a->rays));
  assert_ok(slab_host_free(a->context, a->results));
}

/* ---- time ---- */

typedef struct timed {
  double least, median, slowest; /* seconds; slowest: of the three ways, alone */
} timed;

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double later(double a, double b) { return a > b ? a : b; }

static timed time_casts(const machine *m, slab_scene *scene, slab_query query, const arrays *a, size_t n) {
  double seconds[TRIES];
  assert_ok(cast_query(scene, query, a->rays, n, a->results, NULL)); /* takes memory, and loads kernels */
  pretended_forget();
  for (int i = 0; i < TRIES; i++) {
    const double begun = seconds_now();
    assert_ok(cast_query(scene, query, a->rays, n, a->results, NULL));
    seconds[i] = seconds_now() - begun;
  }
  const pretended_counts seen = pretended_seen();
  qsort(seconds, TRIES, sizeof *seconds, ascending);
  const double up = (double)seen.up / TRIES / m->bus, down = (double)seen.down / TRIES / m->bus;
  return (timed){seconds[0], seconds[TRIES / 2], later(later(up, down), (double)n / m->casting)};
}

static void calls_take_the_time_of_the_slowest(void **state) {
  (void)state;
  const size_t n = 1000000;
  for (const machine *m = machines; m < machines + MACHINES; m++) {
    slab_context *context = open_as(m);
    slab_scene *scene = soup(context);
    arrays a = take_arrays(context, n);
    for (int q = 0; q < 4; q += 3) { /* closest, any */
      const timed t = time_casts(m, scene, queries[q], &a, n);
      if (t.least > MOST_RATIO * t.slowest)
        fail_msg("%s, %s: %.3f ms, the slowest way alone %.3f", m->name, answer_name(queries[q]), 1e3 * t.least,
                 1e3 * t.slowest);
    }
    give_back(&a);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

static void print_table(size_t n) {
  printf("%-14s %-10s %10s %10s %10s %8s %8s\n", "machine", "query", "slowest", "best", "median", "ratio", "median");
  for (const machine *m = machines; m < machines + MACHINES; m++) {
    slab_context *context = open_as(m);
    slab_scene *scene = soup(context);
    arrays a = take_arrays(context, n);
    for (int q = 0; q < QUERIES; q++) {
      const timed t = time_casts(m, scene, queries[q], &a, n);
      printf("%-14s %-10s %7.3f ms %7.3f ms %7.3f ms %8.3f %8.3f\n", m->name, answer_name(queries[q]), 1e3 * t.slowest,
             1e3 * t.least, 1e3 * t.median, t.least / t.slowest, t.median / t.slowest);
    }
    give_back(&a);
    slab_scene_destroy(scene);
    slab_context_destroy(context);
  }
}

int main(int argc, char **argv) {
  static const struct CMUnitTest tests[] = {cmocka_unit_test(calls_take_the_time_of_the_slowest)};
  if (argc == 1) return cmocka_run_group_tests(tests, NULL, NULL);
  print_table(strtoull(argv[1], NULL, 10));
  return 0;
}
