/* The BVH benchmark: compares our casts with Embree's, and those of two of our devices, on the same scenes, rays and
 * threads, in one run.
 *
 *   bench_trace [OPTION...] [SCENE...]      (--help lists them)
 *
 * The sides are interleaved and warm-up is discarded. Ours is timed from host array to host array through the public
 * API. A sample of our answers is compared with the CPU reference and the oracle. Those of the second device must be
 * the first one's, bit by bit. All of them are compared with Embree's, which rounds differently: the share of rays that
 * differ is printed. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "devices.h"
#include "embree.h"
#include "timing.h"
#include "trace_rays.h"
#include "trace_report.h"
#include "trace_scene.h"

#define SEED 20260711u
#define SAMPLE_TESTS 2e8 /* tests of the CPU reference, which is scalar: about a second */
#define SAMPLE_MAX 256
#define DIFFER_MAX 0.02 /* Embree's fast mode misses rays at edges; a larger share means that the scenes differ */

typedef struct options {
  const char *scenes[TRACE_SCENES], *devices[TRACE_DEVICES], *csv;
  size_t scene_count;
  int device_count; /* 0: chosen by what is there */
  uint32_t side;
  int rounds, processor_time;
  slab_tree tree;
  slab_traversal traversal;
  unsigned sets, queries; /* bit masks. sets: of trace_set; queries: 1 closest, 2 any */
} options;

typedef struct bench {
  options options;
  slab_context *contexts[TRACE_DEVICES];
  slab_device_info devices[TRACE_DEVICES];
  trace_report report; /* knows how many devices there are */
} bench;

/* A scene on all sides, and a set of rays. */
typedef struct match {
  const char *name;
  slab_scene *scenes[TRACE_DEVICES];
  embree *their_scene;
  uint32_t primitives;
  slab_ray *rays;
  size_t n;
  slab_hit *ours[TRACE_DEVICES];
  embree_hit *theirs;
} match;

static bool failed_call(const char *what) {
  fprintf(stderr, "bench_trace: %s: %s\n", what, slab_message());
  return false;
}

/* ---- one run of each side ---- */

/* Seconds since `begin`: wall time, or processor time divided by the number of compute units. */
static double lap(const bench *b, double begin) {
  const double seconds = timing_now(b->options.processor_time) - begin;
  return b->options.processor_time ? seconds / b->devices[0].compute_units : seconds;
}

static bool run_ours(const bench *b, const match *m, int device, int any, double *seconds) {
  const double begin = timing_now(b->options.processor_time);
  const slab_status status = any ? slab_any(m->scenes[device], m->rays, m->n, (uint8_t *)m->ours[device], NULL)
                                 : slab_closest(m->scenes[device], m->rays, m->n, m->ours[device], NULL);
  *seconds = lap(b, begin);
  return status == SLAB_OK ? true : failed_call("cast");
}

static bool run_theirs(const bench *b, const match *m, embree_call call, int any, double *seconds) {
  const double begin = timing_now(b->options.processor_time);
  const int all = embree_cast(m->their_scene, call, any, m->rays, m->n, m->theirs);
  *seconds = lap(b, begin);
  if (!all) fprintf(stderr, "bench_trace: the system refused Embree its %u threads\n", b->devices[0].compute_units);
  return all != 0;
}

/* ---- agreement ---- */

static bool ray_differs(const match *m, int any, size_t i) {
  if (any) return ((const uint8_t *)m->ours[0])[i] != ((const uint8_t *)m->theirs)[i];
  const float ours = m->ours[0][i].t, theirs = m->theirs[i].t;
  if (isinf(ours) || isinf(theirs)) return isinf(ours) != isinf(theirs);
  return !(fabsf(ours - theirs) <= 1e-3f * fmaxf(ours, theirs));
}

static double differing_share(const match *m, int any) {
  size_t differ = 0;
  for (size_t i = 0; i < m->n; i++) differ += ray_differs(m, any, i);
  return (double)differ / (double)m->n;
}

static double hit_share(const match *m, int any) {
  size_t hits = 0;
  for (size_t i = 0; i < m->n; i++)
    hits += any ? ((const uint8_t *)m->ours[0])[i] : m->ours[0][i].primitive != SLAB_MISS;
  return (double)hits / (double)m->n;
}

/* Whether our devices gave the same bits. */
static bool devices_agree(const bench *b, const match *m, int any) {
  const size_t size = any ? sizeof(uint8_t) : sizeof(slab_hit);
  if (b->report.device_count < TRACE_DEVICES || memcmp(m->ours[0], m->ours[1], m->n * size) == 0) return true;
  fprintf(stderr, "bench_trace: %s: %s and %s give different answers\n", m->name, b->devices[0].name,
          b->devices[1].name);
  return false;
}

/* Checks rays from the whole set, with their answers, by slab_check. */
static bool sample_is_proved(const match *m, int any) {
  slab_ray rays[SAMPLE_MAX];
  slab_hit results[SAMPLE_MAX]; /* also used for bytes */
  slab_check_report report;
  size_t count = (size_t)(SAMPLE_TESTS / m->primitives);
  count = count < 8 ? 8 : count > SAMPLE_MAX ? SAMPLE_MAX : count;
  count = count < m->n ? count : m->n;
  for (size_t k = 0; k < count; k++) {
    const size_t i = k * (m->n / count);
    rays[k] = m->rays[i];
    if (any)
      ((uint8_t *)results)[k] = ((const uint8_t *)m->ours[0])[i];
    else
      results[k] = m->ours[0][i];
  }
  if (slab_check(m->scenes[0], any ? SLAB_ANY : SLAB_CLOSEST, rays, count, results, NULL, NULL, &report) != SLAB_OK)
    return failed_call("check");
  if (report.mismatches == 0 && report.oracle_wrong == 0) return true;
  fprintf(stderr, "bench_trace: %s: %llu of %zu rays are wrong: %s\n", m->name,
          (unsigned long long)(report.mismatches + report.oracle_wrong), count, report.text);
  return false;
}

/* ---- a row ---- */

static void note(timing *t, int round, double seconds) {
  if (round >= 0) t->seconds[t->rounds++] = seconds;
}

/* Whether packets can help: neighbouring rays have similar directions. */
static bool worth_packets(trace_set set) { return set == TRACE_PRIMARY || set == TRACE_SHADOW; }

/* Our devices change their order each round, so that neither always runs in what the other left behind. */
static bool run_round(const bench *b, const match *m, trace_set set, int any, int round, trace_row *row) {
  const int devices = b->report.device_count;
  double seconds;
  for (int k = 0; k < devices; k++) {
    const int device = round % 2 == 0 ? k : devices - 1 - k;
    if (!run_ours(b, m, device, any, &seconds)) return false;
    note(&row->ours[device], round, seconds);
  }
  if (!devices_agree(b, m, any)) return false;
  for (embree_call call = 0; call < EMBREE_CALLS; call++) {
    if (embree_call_is_packet(call) && !worth_packets(set)) continue;
    if (!run_theirs(b, m, call, any, &seconds)) return false;
    note(&row->theirs[call], round, seconds);
    row->differ = fmax(row->differ, differing_share(m, any));
  }
  return true;
}

static bool run_row(bench *b, const match *m, trace_set set, int any) {
  trace_row row = {.scene = m->name,
                   .primitives = m->primitives,
                   .set = trace_set_names[set],
                   .query = any ? "any" : "closest",
                   .rays = m->n};
  for (int round = -1; round < b->options.rounds; round++)
    if (!run_round(b, m, set, any, round, &row)) return false;
  row.hit_share = hit_share(m, any);
  if (!sample_is_proved(m, any)) return false;
  trace_report_row(&b->report, &row);
  if (row.differ <= DIFFER_MAX) return true;
  fprintf(stderr, "bench_trace: %s, %s: %.1f %% of the rays differ from Embree's: these are not the same scenes\n",
          m->name, row.set, 100.0 * row.differ);
  return false;
}

static bool run_set(bench *b, match *m, trace_set set) {
  if (trace_rays_fill(m->scenes[0], set, SEED, b->options.side, m->rays, m->ours[0], &m->n) != SLAB_OK)
    return failed_call("rays");
  if (m->n == 0) return true;
  for (int any = 0; any <= 1; any++)
    if ((b->options.queries >> any & 1) != 0 && !run_row(b, m, set, any)) return false;
  return true;
}

/* ---- a match ---- */

static void match_free(match *m) {
  for (int k = 0; k < TRACE_DEVICES; k++) {
    slab_scene_destroy(m->scenes[k]);
    free(m->ours[k]);
  }
  embree_close(m->their_scene);
  free(m->rays);
  free(m->theirs);
}

static bool scene_open(const bench *b, slab_context *context, const scene_geometry *g, slab_scene **scene) {
  const bool done = slab_scene_create(context, scene) == SLAB_OK &&
                    scene_geometry_add(*scene, g, NULL, NULL) == SLAB_OK &&
                    slab_scene_commit(*scene, &(slab_build_options){.tree = b->options.tree}) == SLAB_OK;
  return done ? true : failed_call("scene");
}

static bool match_open(const bench *b, const char *scene, match *m) {
  scene_geometry geometry;
  const size_t n = (size_t)b->options.side * b->options.side;
  *m = (match){.name = scene, .n = n};
  if (!trace_scene_read(scene, SEED, &geometry)) return false;
  m->primitives = geometry.count;
  m->rays = malloc(n * sizeof *m->rays);
  m->theirs = malloc(n * sizeof *m->theirs);
  bool whole = m->rays != NULL && m->theirs != NULL, done = true;
  for (int k = 0; done && k < b->report.device_count; k++) {
    done = scene_open(b, b->contexts[k], &geometry, &m->scenes[k]);
    m->ours[k] = malloc(n * sizeof *m->ours[k]);
    whole = whole && m->ours[k] != NULL;
  }
  if (done) m->their_scene = embree_open(&geometry, b->devices[0].compute_units);
  scene_geometry_free(&geometry);
  if (whole) return done && m->their_scene != NULL;
  fprintf(stderr, "bench_trace: no memory for %zu rays\n", n);
  return false;
}

static bool run_scene(bench *b, const char *scene) {
  match m;
  bool done = match_open(b, scene, &m);
  for (trace_set set = 0; done && set < TRACE_SETS; set++)
    if ((b->options.sets >> set & 1) != 0) done = run_set(b, &m, set);
  match_free(&m);
  return done;
}

/* ---- options ---- */

static int usage(FILE *out) {
  fprintf(out,
          "usage: bench_trace [OPTION...] [SCENE...]\n"
          "SCENE is NAME:COUNT, a generated scene (city-mesh: the city as triangles), or a mesh file\n"
          "  --rays SIDE        pictures of SIDE x SIDE pixels, a power of two (default 1024)\n"
          "  --rounds R         of each side (default 5)\n"
          "  --sets LIST        of primary,shadow,diffuse,random (default all)\n"
          "  --queries LIST     of closest,any (default both)\n"
          "  --tree T           fast, default or high (default high)\n"
          "  --traversal T      packets, single, interleaved or sorted (default: auto)\n"
          "  --device SEL       as in slabcast; given twice, both are measured, and the first against the second\n"
          "                     (default: cpu, and beside the processor the first CPU device of OpenCL, if any)\n"
          "  --processor-time   measure processor time: for machines that are not quiet\n"
          "  --csv FILE\n");
  return 2;
}

/* The bit mask of the words of `text` among `count` names; 0 where a word is not a name. */
static unsigned parse_list(const char *text, const char *const *names, unsigned count) {
  unsigned bits = 0;
  while (*text != 0) {
    const size_t length = strcspn(text, ",");
    unsigned k = 0;
    while (k < count && (strlen(names[k]) != length || strncmp(names[k], text, length) != 0)) k++;
    if (k == count) return 0;
    bits |= 1u << k;
    text += length + (text[length] == ',');
  }
  return bits;
}

static bool parse_value(const char *name, const char *value, options *o) {
  static const char *const queries[] = {"closest", "any"}, *const trees[] = {"default", "flat", "fast", "high"};
  static const char *const traversals[] = {"auto", "packets", "single", "interleaved", "sorted"};
  if (strcmp(name, "--csv") == 0) return (o->csv = value) != NULL;
  if (strcmp(name, "--device") == 0)
    return o->device_count < TRACE_DEVICES && (o->devices[o->device_count++] = value) != NULL;
  if (strcmp(name, "--sets") == 0) return (o->sets = parse_list(value, trace_set_names, TRACE_SETS)) != 0;
  if (strcmp(name, "--queries") == 0) return (o->queries = parse_list(value, queries, 2)) != 0;
  if (strcmp(name, "--rounds") == 0) return (o->rounds = atoi(value)) > 0 && o->rounds <= ROUNDS_MAX;
  if (strcmp(name, "--rays") == 0) {
    o->side = (uint32_t)atoi(value);
    return o->side >= 1 && o->side <= 8192 && (o->side & (o->side - 1)) == 0;
  }
  for (unsigned k = 0; strcmp(name, "--tree") == 0 && k < 4; k++)
    if (strcmp(value, trees[k]) == 0) return o->tree = (slab_tree)k, true;
  for (unsigned k = 0; strcmp(name, "--traversal") == 0 && k < 5; k++)
    if (strcmp(value, traversals[k]) == 0) return o->traversal = (slab_traversal)k, true;
  return false;
}

static bool parse_options(int count, char **words, options *o) {
  static const char *const defaults[] = {"terrain:2000000", "soup:1000000",     "hair:1000000",
                                         "city:100000",     "city-mesh:100000", "flake:597871"};
  *o = (options){.side = 1024, .rounds = 5, .tree = SLAB_TREE_HIGH, .sets = 15, .queries = 3};
  for (int i = 1; i < count; i++) {
    if (words[i][0] != '-' && o->scene_count < TRACE_SCENES)
      o->scenes[o->scene_count++] = words[i];
    else if (strcmp(words[i], "--processor-time") == 0)
      o->processor_time = 1;
    else if (i + 1 < count && parse_value(words[i], words[i + 1], o))
      i++;
    else
      return false;
  }
  if (o->scene_count > 0) return true;
  o->scene_count = sizeof defaults / sizeof *defaults;
  memcpy(o->scenes, defaults, sizeof defaults);
  return true;
}

/* ---- the run ---- */

static bool device_open(bench *b, const char *selector) {
  const int k = b->report.device_count;
  if (slab_context_create(&(slab_context_options){.device = selector, .traversal = b->options.traversal},
                          &b->contexts[k]) != SLAB_OK ||
      slab_context_device(b->contexts[k], &b->devices[k]) != SLAB_OK)
    return failed_call("device");
  b->report.devices[b->report.device_count++] = &b->devices[k];
  return true;
}

static bool bench_open(bench *b) {
  char chosen[DEVICES_DEFAULT][DEVICE_SELECTOR];
  const bool named = b->options.device_count > 0;
  const int count = named ? b->options.device_count : devices_default(chosen);
  for (int k = 0; k < count; k++)
    if (!device_open(b, named ? b->options.devices[k] : chosen[k])) return false;
  b->report.processor_time = b->options.processor_time;
  if (!csv_open("bench_trace", b->options.csv, &b->report.csv)) return false;
  trace_report_begin(&b->report);
  return true;
}

int main(int count, char **words) {
  bench b = {0};
  const int child = trace_scene_child(count, words);
  if (child >= 0) return child;
  if (!parse_options(count, words, &b.options)) return usage(stderr);
  bool done = bench_open(&b);
  for (size_t i = 0; done && i < b.options.scene_count; i++) done = run_scene(&b, b.options.scenes[i]);
  trace_report_end(&b.report);
  done = csv_close("bench_trace", b.options.csv, b.report.csv) && done;
  for (int k = 0; k < b.report.device_count; k++) slab_context_destroy(b.contexts[k]);
  return done ? 0 : 1;
}
