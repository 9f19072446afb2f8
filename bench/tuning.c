/* The speed of a cast's kernel on a device, and the effect of the numbers of host/device/tuning.c for GPUs there.
 *
 *   bench_tuning [--device SEL] [--side SIDE] [--primitives N] [--rounds R] [--csv FILE] [--setting NAME]
 *   bench_tuning --about [--device SEL]     prints the commit, the device and its driver, one line each
 *
 * Without --setting: scenes of N triangles as they are cast by default, so many rays as SIDE x SIDE pixels of the sets
 * of trace_rays.h, and random rays sorted. With it: one number takes each of its values, on fewer scenes. Each kernel
 * is timed alone (kernel_alone.h), and its results must be those of the default, bit for bit.
 *
 * The library's own tuning_of is replaced by one that returns the numbers on trial. */
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of host/device/tuning.c. */
#define tuning_of tuning_as_built
#include "device/tuning.c"
#undef tuning_of

#include "csv.h"
#include "kernel_alone.h"
#include "sets/answers.h"
#include "sets/timing.h"
#include "sets/trace_rays.h"
#include "trace_scene.h"
#include "work/ray_order.h"

#define SEED 20260711u
enum { VALUES = 6 };

static tuning tried;

const tuning *tuning_of(slab_device_type type) { return type == SLAB_DEVICE_CPU ? &cpu : &tried; }

/* A number of the table, and its possible values. Values are ordered, and 0 ends them. */
typedef struct setting {
  const char *name;
  size_t at; /* in struct tuning */
  bool flat, bvh;
  uint32_t values[VALUES];
} setting;

static const setting settings[] = {
    {"rays", offsetof(tuning, rays_each), true, false, {1, 2, 4, 8}},
    {"tile", offsetof(tuning, local_boxes), true, false, {32, 64, 128}}, /* as many as have a bit (flat.cl) */
    {"group", offsetof(tuning, group), true, true, {32, 64, 128, 256}},
    {"bvh-rays", offsetof(tuning, bvh_rays), false, true, {1, 2, 4}},
    {"leaf", offsetof(tuning, leaves.most), false, true, {1, 2, 3, 6}},
    {"nodes", sizeof(tuning), false, true, {SLAB_LAYOUT_WIDE, SLAB_LAYOUT_COMPRESSED}}, /* no number of the table */
};
enum { SETTINGS = sizeof settings / sizeof *settings };

typedef enum rays_kind { SORTED = TRACE_SETS, RAYS_KINDS } rays_kind; /* beside those of trace_set */

typedef struct options {
  const char *device, *csv;
  const setting *setting; /* NULL: none */
  uint32_t side, primitives;
  int rounds;
  bool about;
} options;

typedef struct bench {
  options options;
  slab_context *context;
  slab_device_info device;
  kernel_alone kernel;
  slab_ray *rays;
  size_t n;
  unsigned char *wanted[RAYS_KINDS][2], *results; /* of closest and any */
  FILE *csv;
} bench;

static bool failed(const char *what) {
  fprintf(stderr, "bench_tuning: %s: %s\n", what, slab_message());
  return false;
}

static bool failed_memory(const char *what) {
  fprintf(stderr, "bench_tuning: no memory for %s\n", what);
  return false;
}

/* ---- one kernel ---- */

static const char *rays_name(unsigned kind) { return kind == SORTED ? "sorted" : trace_set_names[kind]; }

/* The first results of these rays and this query are kept, and later ones compared with them. */
static bool judge(bench *b, const char *scene, unsigned kind, slab_query query) {
  const size_t bytes = b->n * slab_result_size(query);
  unsigned char **wanted = &b->wanted[kind][query == SLAB_ANY];
  if (!kernel_read(&b->kernel, b->results, bytes)) return false;
  if (*wanted == NULL) {
    *wanted = malloc(bytes);
    return *wanted != NULL ? memcpy(*wanted, b->results, bytes) != NULL : failed_memory("results");
  }
  if (memcmp(*wanted, b->results, bytes) == 0) return true;
  fprintf(stderr, "bench_tuning: %s, %s, %s: other results than those of the first kernel\n", scene, rays_name(kind),
          answer_name(query));
  return false;
}

static void print_row(const bench *b, const char *scene, unsigned kind, slab_query query, uint32_t value,
                      const timing *t) {
  const timing_summary s = timing_summarise(t);
  const setting *set = b->options.setting;
  char number[16] = "-";
  if (set != NULL) snprintf(number, sizeof number, "%u", value);
  printf("%-16s %-8s %-8s %-8s %4s | %9.1f | %3.0f %%\n", scene, rays_name(kind), answer_name(query),
         set != NULL ? set->name : "default", number, 1e-6 * (double)b->n / s.best, 100.0 * s.spread);
  fflush(stdout);
  if (b->csv != NULL)
    fprintf(b->csv, "\"%s\",%s,%s,%s,%s,%s,%zu,%.9f,%.9f\n", b->device.name, scene, rays_name(kind), answer_name(query),
            set != NULL ? set->name : "default", number, b->n, s.best, s.median);
}

static bool run_query(bench *b, const char *name, slab_scene *scene, unsigned kind, slab_query query, uint32_t value) {
  timing t = {0};
  for (int r = -1; r < b->options.rounds; r++) { /* the first is warm-up */
    double wall = 0.0, processor = 0.0;
    if (!kernel_time(&b->kernel, scene, query, &wall, &processor)) return false;
    if (r >= 0) t.seconds[t.rounds++] = wall;
  }
  print_row(b, name, kind, query, value, &t);
  return judge(b, name, kind, query);
}

/* ---- rays ---- */

static bool sort(bench *b, slab_scene *scene) {
  slab_scene_stats stats;
  slab_ray *sorted = malloc(b->n * sizeof *sorted);
  uint32_t *order = NULL;
  if (slab_scene_info(scene, &stats) == SLAB_OK) order = rays_sorted(b->rays, b->n, stats.lower, stats.upper, 0);
  for (size_t i = 0; sorted != NULL && order != NULL && i < b->n; i++) sorted[i] = b->rays[order[i]];
  const bool done = sorted != NULL && order != NULL;
  if (done) memcpy(b->rays, sorted, b->n * sizeof *sorted);
  free(order);
  free(sorted);
  return done ? true : failed_memory("sorting rays");
}

static bool fill(bench *b, slab_scene *scene, unsigned kind) {
  const trace_set set = kind == SORTED ? TRACE_RANDOM : (trace_set)kind;
  if (trace_rays_fill(scene, set, SEED, b->options.side, b->rays, (slab_hit *)(void *)b->results, &b->n) != SLAB_OK)
    return failed("rays");
  if (kind == SORTED && !sort(b, scene)) return false;
  return b->n == 0 || kernel_fill(&b->kernel, b->rays, b->n, NULL, b->n * sizeof(slab_hit));
}

/* ---- a scene ---- */

static bool open_scene(slab_context *context, const char *name, bool flat, slab_scene **scene) {
  const slab_build_options build = {.tree = flat ? SLAB_TREE_FLAT : SLAB_TREE_HIGH};
  scene_geometry geometry;
  if (!trace_scene_read(name, SEED, &geometry)) return false;
  const bool done = slab_scene_create(context, scene) == SLAB_OK &&
                    scene_geometry_add(*scene, &geometry, NULL, NULL) == SLAB_OK &&
                    slab_scene_commit(*scene, &build) == SLAB_OK;
  scene_geometry_free(&geometry);
  return done ? true : failed(name);
}

static bool run_scene(bench *b, const char *name, bool flat, uint32_t value) {
  slab_scene *scene = NULL;
  bool done = open_scene(b->context, name, flat, &scene);
  for (unsigned kind = 0; done && kind < RAYS_KINDS; kind++) {
    if (b->options.setting != NULL && kind != TRACE_PRIMARY && kind != TRACE_RANDOM) continue;
    done = fill(b, scene, kind) && (b->n == 0 || run_query(b, name, scene, kind, SLAB_CLOSEST, value)) &&
           (b->n == 0 || run_query(b, name, scene, kind, SLAB_ANY, value));
  }
  slab_scene_destroy(scene);
  return done;
}

static bool open_context(bench *b, slab_layout layout) {
  const slab_context_options with = {.device = b->options.device, .layout = layout};
  if (slab_context_create(&with, &b->context) != SLAB_OK || slab_context_device(b->context, &b->device) != SLAB_OK)
    return failed("the context");
  b->kernel = (kernel_alone){.bench = "bench_tuning"};
  if (!kernel_open(&b->kernel, b->context)) return false;
  if (b->kernel.queue != NULL) return true;
  fprintf(stderr, "bench_tuning: %s is not a device of OpenCL\n", b->device.name);
  return false;
}

static void close_context(bench *b) {
  kernel_close(&b->kernel);
  slab_context_destroy(b->context);
  b->context = NULL;
}

/* The kernels of one scene, from a context of its own: programs are of a context. value: of the setting. */
static bool run_once(bench *b, const char *name, bool flat, uint32_t value) {
  const setting *set = b->options.setting;
  slab_layout layout = SLAB_LAYOUT_COMPRESSED;
  tried = gpu;
  if (set != NULL && set->at == sizeof tried)
    layout = (slab_layout)value;
  else if (set != NULL)
    memcpy((unsigned char *)&tried + set->at, &value, sizeof value);
  const bool done = open_context(b, layout) && run_scene(b, name, flat, value);
  close_context(b);
  return done;
}

static void forget_results(bench *b) {
  for (int kind = 0; kind < RAYS_KINDS; kind++)
    for (int any = 0; any < 2; any++) {
      free(b->wanted[kind][any]);
      b->wanted[kind][any] = NULL;
    }
}

/* A scene at the default, or at each value of the setting. */
static bool run_values(bench *b, const char *scene, uint32_t count, bool flat) {
  const setting *set = b->options.setting;
  char name[48];
  snprintf(name, sizeof name, "%s:%u", scene, count);
  bool done = set != NULL || run_once(b, name, flat, 0);
  for (int v = 0; set != NULL && done && v < VALUES && set->values[v] != 0; v++)
    done = run_once(b, name, flat, set->values[v]);
  forget_results(b);
  return done;
}

static bool run(bench *b) {
  static const char *const trees[] = {"terrain", "soup", "city-mesh"};
  const setting *set = b->options.setting;
  bool done = true;
  printf("%-16s %-8s %-8s %-13s | %9s | spread of the seconds\n", "scene", "rays", "query", "setting", "Mrays/s");
  if (b->csv != NULL) fprintf(b->csv, "device,scene,rays,query,setting,value,count,best_s,median_s\n");
  if (set == NULL || set->flat) done = run_values(b, "boxes", 1024, true);
  for (int i = 0; done && i < (set == NULL ? 3 : 2) && (set == NULL || set->bvh); i++)
    done = run_values(b, trees[i], i == 2 ? b->options.primitives / 12 : b->options.primitives, false);
  return done;
}

/* ---- options ---- */

static bool parse_setting(const char *name, options *o) {
  for (int i = 0; i < SETTINGS; i++)
    if (strcmp(settings[i].name, name) == 0) o->setting = &settings[i];
  return o->setting != NULL;
}

static bool parse_options(int count, char **words, options *o) {
  *o = (options){.side = 2048, .primitives = 1000000, .rounds = 7};
  for (int i = 1; i < count; i++) {
    const char *value = i + 1 < count ? words[i + 1] : "";
    if (strcmp(words[i], "--about") == 0) {
      o->about = true;
      continue;
    }
    if (strcmp(words[i], "--device") == 0)
      o->device = value;
    else if (strcmp(words[i], "--csv") == 0)
      o->csv = value;
    else if (strcmp(words[i], "--side") == 0)
      o->side = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(words[i], "--primitives") == 0)
      o->primitives = (uint32_t)strtoul(value, NULL, 10);
    else if (strcmp(words[i], "--rounds") == 0)
      o->rounds = atoi(value);
    else if (strcmp(words[i], "--setting") != 0 || !parse_setting(value, o))
      return false;
    if (++i == count) return false;
  }
  return o->side >= 32 && o->side <= 4096 && (o->side & (o->side - 1)) == 0 && o->primitives >= 100 &&
         o->primitives <= 100000000 && o->rounds > 0 && o->rounds <= ROUNDS_MAX;
}

static int usage(void) {
  fprintf(stderr,
          "usage: bench_tuning [--about] [--device SEL] [--side SIDE] [--primitives N] [--rounds R]\n"
          "                    [--csv FILE] [--setting NAME]\nsettings:");
  for (int i = 0; i < SETTINGS; i++) fprintf(stderr, " %s", settings[i].name);
  fputc('\n', stderr);
  return 2;
}

static bool tell_about(bench *b) {
  puts(BENCH_COMMIT);
  const slab_context_options with = {.device = b->options.device};
  const bool done =
      slab_context_create(&with, &b->context) == SLAB_OK && slab_context_device(b->context, &b->device) == SLAB_OK;
  if (done) printf("%s\n%s\n", b->device.name, b->device.driver);
  slab_context_destroy(b->context);
  return done ? true : failed("the context");
}

int main(int count, char **words) {
  bench b = {0};
  const int child = trace_scene_child(count, words);
  if (child >= 0) return child;
  if (!parse_options(count, words, &b.options)) return usage();
  tried = gpu;
  if (b.options.about) return tell_about(&b) ? 0 : 1;
  const size_t most = (size_t)b.options.side * b.options.side;
  b.rays = malloc(most * sizeof *b.rays);
  b.results = malloc(most * sizeof(slab_hit));
  bool done =
      b.rays != NULL && b.results != NULL ? csv_open("bench_tuning", b.options.csv, &b.csv) : failed_memory("rays");
  done = done && run(&b);
  forget_results(&b);
  free(b.rays);
  free(b.results);
  return csv_close("bench_tuning", b.options.csv, b.csv) && done ? 0 : 1;
}
