/* The latency benchmark: how long a call takes, from one ray to a million.
 *
 *   bench_latency [OPTION...] [SCENE]      (--help lists them)
 *
 * All sides are cast in turn in each round, and warm-up is discarded. Ours are calls of the public API from host array
 * to host array. Embree has no call of several rays: one thread casts them in a loop over all calls of a round, and
 * several share those of a call. Our answers are compared with each other bit by bit in every round, the first ones
 * with the CPU reference and the oracle. Embree rounds differently: rays that hit on one side alone are counted. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "devices.h"
#include "sets/compiler.h"
#ifdef BENCH_EMBREE
#include "embree.h"
#endif
#include "sets/timing.h"
#include "sets/trace_rays.h"
#include "trace_scene.h"

enum { DEVICES_MAX = 4, SIDES_MAX = DEVICES_MAX + 2 };
#define SEED 20260711u
#define CHECKED 64        /* rays that are compared with the CPU reference, for each query */
#define DIFFER_MAX 0.02   /* Embree's fast mode misses rays at edges; a larger share means that the scenes differ */
#define SHARED_LEAST 4096 /* rays of a call that Embree's threads share: fewer are one thread's */

typedef struct options {
  const char *scene, *csv, *devices[DEVICES_MAX];
  int device_count; /* 0: the devices of devices.h */
  trace_set set;
  uint32_t side; /* of the picture whose pixels are the rays */
  int rounds, processor_time;
  double seconds; /* of a side in a round, at least, where there are enough rays */
} options;

/* The target of calls, and its results. */
typedef struct side {
  char name[64];
  slab_context *context; /* ours, and its scene; NULL: Embree's */
  slab_scene *scene;
#ifdef BENCH_EMBREE
  embree *embree;
#endif
  bool loops;    /* casts the rays of all calls one after the other */
  size_t least;  /* rays of a call */
  void *results; /* of each ray a slab_hit at most */
  size_t calls;  /* in a round */
  timing times;  /* of a call */
} side;

typedef struct bench {
  options options;
  side sides[SIDES_MAX];
  int side_count, ours;    /* ours come first */
  slab_device_info device; /* of the first side */
  uint32_t primitives;
  slab_ray *rays;
  size_t ray_count;
  FILE *csv;
} bench;

static bool failed_call(const char *what) {
  fprintf(stderr, "bench_latency: %s: %s\n", what, slab_message());
  return false;
}

static bool failed_memory(const char *what) {
  fprintf(stderr, "bench_latency: no memory for %s\n", what);
  return false;
}

static size_t result_bytes(int any) { return any ? sizeof(uint8_t) : sizeof(slab_hit); }

/* ---- calls ---- */

static bool call_ours(const side *s, int any, const slab_ray *rays, size_t n, unsigned char *results) {
  const slab_status status = any ? slab_any(s->scene, rays, n, results, NULL)
                                 : slab_closest(s->scene, rays, n, (slab_hit *)(void *)results, NULL);
  return status == SLAB_OK ? true : failed_call(s->name);
}

static bool call(const side *s, int any, const slab_ray *rays, size_t n, unsigned char *results) {
#ifdef BENCH_EMBREE
  if (s->embree != NULL)
    return embree_cast(s->embree, EMBREE_SINGLE, any ? SLAB_ANY : SLAB_CLOSEST, rays, n, results) != 0;
#endif
  return call_ours(s, any, rays, n, results);
}

/* Seconds of a call of n rays, the mean over `calls` calls of different rays. */
static bool time_calls(const bench *b, const side *s, int any, size_t n, size_t calls, double *seconds) {
  const size_t each = s->loops ? n * calls : n, bytes = each * result_bytes(any);
  unsigned char *results = s->results;
  bool done = true;
  const double begin = timing_now(b->options.processor_time);
  for (size_t k = 0; done && k * each < n * calls; k++)
    done = call(s, any, b->rays + k * each, each, results + k * bytes);
  *seconds = (timing_now(b->options.processor_time) - begin) / (double)calls;
  return done;
}

/* ---- agreement ---- */

static bool ours_agree(const bench *b, int any, size_t n) {
  for (int i = 1; i < b->ours; i++) {
    const size_t calls = b->sides[i].calls < b->sides[0].calls ? b->sides[i].calls : b->sides[0].calls;
    if (memcmp(b->sides[0].results, b->sides[i].results, calls * n * result_bytes(any)) == 0) continue;
    fprintf(stderr, "bench_latency: calls of %zu rays: %s and %s give different answers\n", n, b->sides[0].name,
            b->sides[i].name);
    return false;
  }
  return true;
}

/* Of the first rays. */
static bool ours_are_proved(const bench *b, int any) {
  const size_t n = b->ray_count < CHECKED ? b->ray_count : CHECKED;
  slab_check_report report;
  if (slab_check(b->sides[0].scene, any ? SLAB_ANY : SLAB_CLOSEST, b->rays, n, b->sides[0].results, NULL, NULL,
                 &report) != SLAB_OK)
    return failed_call("check");
  if (report.mismatches == 0 && report.oracle_wrong == 0) return true;
  fprintf(stderr, "bench_latency: %llu of %zu rays are wrong: %s\n",
          (unsigned long long)(report.mismatches + report.oracle_wrong), n, report.text);
  return false;
}

#ifdef BENCH_EMBREE
static bool hits(const side *s, int any, size_t i) {
  if (any) return ((const uint8_t *)s->results)[i] != 0;
  return !isinf(((const slab_hit *)s->results)[i].t);
}

/* Of all rays, which every side has cast. */
static bool embree_agrees(const bench *b, int any) {
  for (int k = b->ours; k < b->side_count; k++) {
    size_t differ = 0;
    for (size_t i = 0; i < b->ray_count; i++) differ += hits(&b->sides[0], any, i) != hits(&b->sides[k], any, i);
    if ((double)differ <= DIFFER_MAX * (double)b->ray_count) continue;
    fprintf(stderr, "bench_latency: %zu of %zu rays hit with us or with Embree alone: these are not the same scenes\n",
            differ, b->ray_count);
    return false;
  }
  return true;
}
#endif

/* Casts all rays on all sides, twice, so that all that is built or learned by many rays is there. */
static bool warm_up(bench *b, int any) {
  double unused;
  for (int i = 0; i < b->side_count; i++) {
    memset(b->sides[i].results, 0xA5, b->ray_count * result_bytes(any));
    for (int k = 0; k < 2; k++)
      if (!time_calls(b, &b->sides[i], any, b->ray_count, 1, &unused)) return false;
    b->sides[i].calls = 1;
  }
#ifdef BENCH_EMBREE
  if (!embree_agrees(b, any)) return false;
#endif
  return ours_agree(b, any, b->ray_count) && ours_are_proved(b, any);
}

/* ---- a row ---- */

static bool takes_part(const side *s, size_t n) { return n >= s->least; }

/* Two calls of warm-up; the second one's time determines how many calls a round has. */
static bool choose_calls(const bench *b, side *s, int any, size_t n) {
  const size_t most = b->ray_count / n;
  double seconds = 0;
  s->times.rounds = 0;
  for (int k = 0; k < 2; k++)
    if (!time_calls(b, s, any, n, 1, &seconds)) return false;
  const double wanted = seconds > 0 ? b->options.seconds / seconds + 1 : 1;
  s->calls = wanted < (double)most ? (size_t)wanted : most;
  if (s->loops) s->calls = b->sides[0].calls; /* the same rays */
  return true;
}

/* The sides change their order each round, so that none always runs after the same other one. */
static bool run_round(bench *b, int any, size_t n, int round) {
  for (int k = 0; k < b->side_count; k++) {
    side *s = &b->sides[round % 2 == 0 ? k : b->side_count - 1 - k];
    double seconds;
    if (!takes_part(s, n)) continue;
    memset(s->results, 0xA5, s->calls * n * result_bytes(any));
    if (!time_calls(b, s, any, n, s->calls, &seconds)) return false;
    s->times.seconds[s->times.rounds++] = seconds;
  }
  return ours_agree(b, any, n);
}

static void print_row(const bench *b, size_t n) {
  printf("%8zu", n);
  for (int i = 0; i < b->side_count; i++) {
    const timing_summary s = timing_summarise(&b->sides[i].times);
    if (takes_part(&b->sides[i], n))
      printf(" | %11.2f %11.2f", 1e6 * s.best, 1e6 * s.median);
    else
      printf(" | %23s", "");
  }
  for (int i = 1; i < b->side_count; i++) {
    const timing_summary ours = timing_summarise(&b->sides[0].times), other = timing_summarise(&b->sides[i].times);
    if (takes_part(&b->sides[i], n))
      printf(" | %6.2f %6.2f", ours.best / other.best, ours.median / other.median);
    else
      printf(" | %13s", "");
  }
  putchar('\n');
  fflush(stdout);
}

static const char *scene_label(const bench *b) {
  const char *slash = strrchr(b->options.scene, '/');
  return slash == NULL ? b->options.scene : slash + 1;
}

static void save_row(const bench *b, int any, size_t n) {
  const timing_date date = timing_date_now();
  for (int i = 0; b->csv != NULL && i < b->side_count; i++) {
    const side *s = &b->sides[i];
    const timing_summary t = timing_summarise(&s->times);
    if (takes_part(s, n))
      fprintf(b->csv, "%s,\"%s\",\"%s\",\"%s\",%s,%s,%s,%u,%s,%s,%zu,%s,%zu,%d,%.4g,%.4g,%.4f\n", date.text,
              b->device.name, b->device.driver, COMPILER, BENCH_COMMIT,
              b->options.processor_time ? "processor" : "wall", scene_label(b), b->primitives,
              trace_set_names[b->options.set], any ? "any" : "closest", n, s->name, s->calls, s->times.rounds,
              1e6 * t.best, 1e6 * t.median, t.spread);
  }
}

static bool run_row(bench *b, int any, size_t n) {
  for (int i = 0; i < b->side_count; i++)
    if (takes_part(&b->sides[i], n) && !choose_calls(b, &b->sides[i], any, n)) return false;
  for (int round = 0; round < b->options.rounds; round++)
    if (!run_round(b, any, n, round)) return false;
  print_row(b, n);
  save_row(b, any, n);
  return true;
}

static bool run_query(bench *b, int any) {
  printf("\n%-8s", any ? "any" : "closest");
  for (int i = 0; i < b->side_count; i++) printf(" | %-23.23s", b->sides[i].name);
  for (int i = 1; i < b->side_count; i++) printf(" | first / %-5.5s", b->sides[i].name);
  printf("\n%8s", "rays");
  for (int i = 0; i < b->side_count; i++) printf(" | %11s %11s", "best us", "median us");
  for (int i = 1; i < b->side_count; i++) printf(" | %6s %6s", "best", "median");
  putchar('\n');
  bool done = warm_up(b, any);
  for (size_t n = 1; done && n <= b->ray_count; n *= 2) done = run_row(b, any, n);
  return done;
}

/* ---- sides ---- */

static bool scene_open(side *s, const scene_geometry *g) {
  const bool done = slab_scene_create(s->context, &s->scene) == SLAB_OK &&
                    scene_geometry_add(s->scene, g, NULL, NULL) == SLAB_OK &&
                    slab_scene_commit(s->scene, &(slab_build_options){.tree = SLAB_TREE_HIGH}) == SLAB_OK;
  return done ? true : failed_call("scene");
}

static bool device_open(bench *b, const char *selector, const scene_geometry *g) {
  slab_device_info info;
  side *s = &b->sides[b->side_count++];
  b->ours = b->side_count;
  if (slab_context_create(&(slab_context_options){.device = selector}, &s->context) != SLAB_OK ||
      slab_context_device(s->context, &info) != SLAB_OK)
    return failed_call("device");
  if (s == b->sides) b->device = info;
  snprintf(s->name, sizeof s->name, "%.63s", info.platform);
  for (char *c = s->name; *c != 0; c++)
    if (*c == ',') *c = ' '; /* names are not quoted in CSV */
  return scene_open(s, g);
}

static bool devices_open(bench *b, const scene_geometry *g) {
  char chosen[DEVICES_DEFAULT][DEVICE_SELECTOR];
  const int count = b->options.device_count > 0 ? b->options.device_count : devices_default(chosen);
  bool done = true;
  for (int i = 0; done && i < count; i++)
    done = device_open(b, b->options.device_count > 0 ? b->options.devices[i] : chosen[i], g);
  return done;
}

#ifdef BENCH_EMBREE
static bool embree_sides_open(bench *b, const scene_geometry *g) {
  const uint32_t threads[2] = {1, devices_threads(&b->device)};
  for (int i = 0; i < (threads[1] > 1 ? 2 : 1); i++) {
    side *s = &b->sides[b->side_count++];
    s->loops = threads[i] == 1;
    s->least = s->loops ? 0 : SHARED_LEAST;
    snprintf(s->name, sizeof s->name, "Embree %s: %u thread%s", embree_version(), threads[i], s->loops ? "" : "s");
    s->embree = embree_open(g, threads[i], 0);
    if (s->embree == NULL) return false;
  }
  return true;
}
#else
static bool embree_sides_open(bench *b, const scene_geometry *g) {
  (void)b, (void)g;
  return true;
}
#endif

static void sides_close(bench *b) {
  for (int i = 0; i < b->side_count; i++) {
    side *s = &b->sides[i];
    slab_scene_destroy(s->scene);
    slab_context_destroy(s->context);
#ifdef BENCH_EMBREE
    embree_close(s->embree);
#endif
    free(s->results);
  }
}

static bool rays_open(bench *b) {
  const size_t n = (size_t)b->options.side * b->options.side;
  b->rays = malloc(n * sizeof *b->rays);
  for (int i = 0; i < b->side_count; i++)
    if ((b->sides[i].results = malloc(n * sizeof(slab_hit))) == NULL) return failed_memory("results");
  if (b->rays == NULL) return failed_memory("rays");
  const slab_status status = trace_rays_fill(b->sides[0].scene, b->options.set, SEED, b->options.side, b->rays,
                                             b->sides[0].results, &b->ray_count);
  return status == SLAB_OK ? true : failed_call("rays");
}

/* ---- options ---- */

static int usage(void) {
  fprintf(stderr,
          "usage: bench_latency [OPTION...] [SCENE]\n"
          "SCENE is NAME:COUNT, a generated scene, or a mesh file (default terrain:100000)\n"
          "  --rays SIDE     up to SIDE x SIDE rays a call, a power of two (default 1024)\n"
          "  --rounds R      of each side (default 9)\n"
          "  --seconds S     of a side in a round (default 0.005)\n"
          "  --set NAME      primary, shadow, diffuse or random (default random)\n"
          "  --device SEL    as in slabcast, up to four times (default: cpu, and beside the processor the first CPU\n"
          "                  device of OpenCL)\n"
          "  --processor-time  of all threads together: for machines that are not quiet\n"
          "  --csv FILE      for `./dev plot`\n");
  return 2;
}

static bool parse_value(const char *name, const char *value, options *o) {
  char *end;
  if (strcmp(name, "--csv") == 0) return (o->csv = value) != NULL;
  if (strcmp(name, "--device") == 0)
    return o->device_count < DEVICES_MAX && (o->devices[o->device_count++] = value) != NULL;
  if (strcmp(name, "--rounds") == 0) return (o->rounds = atoi(value)) > 0 && o->rounds <= ROUNDS_MAX;
  if (strcmp(name, "--seconds") == 0) return (o->seconds = strtod(value, &end)) >= 0 && *end == 0;
  if (strcmp(name, "--rays") == 0) {
    o->side = (uint32_t)atoi(value);
    return o->side >= 1 && o->side <= 4096 && (o->side & (o->side - 1)) == 0;
  }
  for (o->set = 0; strcmp(name, "--set") == 0 && o->set < TRACE_SETS; o->set++)
    if (strcmp(value, trace_set_names[o->set]) == 0) return true;
  return false;
}

static bool parse_options(int count, char **words, options *o) {
  *o = (options){.scene = "terrain:100000", .set = TRACE_RANDOM, .side = 1024, .rounds = 9, .seconds = 0.005};
  for (int i = 1; i < count; i++) {
    if (words[i][0] != '-')
      o->scene = words[i];
    else if (strcmp(words[i], "--processor-time") == 0)
      o->processor_time = 1;
    else if (i + 1 < count && parse_value(words[i], words[i + 1], o))
      i++;
    else
      return false;
  }
  return true;
}

/* ---- the run ---- */

static bool csv_begin(bench *b) {
  if (!csv_open("bench_latency", b->options.csv, &b->csv)) return false;
  if (b->csv != NULL)
    fprintf(b->csv,
            "date,device,driver,compiler,commit,time,scene,primitives,ray_set,query,rays,side,calls,rounds,best_us,"
            "median_us,spread\n");
  return true;
}

static bool bench_open(bench *b) {
  scene_geometry geometry;
  if (!trace_scene_read(b->options.scene, SEED, &geometry)) return false;
  b->primitives = geometry.count;
  const bool done = devices_open(b, &geometry) && embree_sides_open(b, &geometry);
  scene_geometry_free(&geometry);
  return done && rays_open(b) && csv_begin(b);
}

int main(int count, char **words) {
  bench b = {0};
  const int child = trace_scene_child(count, words);
  if (child >= 0) return child;
  if (!parse_options(count, words, &b.options)) return usage();
  bool done = bench_open(&b);
  if (done)
    printf("device    %s, %u compute units, %s\nscene     %s, %u primitives, %s rays\ntime      %s, of a call\n",
           b.device.name, b.device.compute_units, b.device.driver, scene_label(&b), b.primitives,
           trace_set_names[b.options.set], b.options.processor_time ? "of all threads' processors" : "wall");
  for (int any = 0; done && any <= 1; any++) done = run_query(&b, any);
  done = csv_close("bench_latency", b.options.csv, b.csv) && done;
  sides_close(&b);
  free(b.rays);
  return done ? 0 : 1;
}
