/* The BVH benchmark: compares our casts with Embree's, and those of two of our devices, on the same scenes, rays and
 * threads, in one run. Embree counts and lists hits by a filter that rejects each, and its lists are sorted, as ours.
 *
 *   bench_trace [OPTION...] [SCENE...]      (--help lists them)
 *
 * The sides are interleaved and warm-up is discarded. Ours is timed from host array to host array through the public
 * API. A sample of our answers is compared with the CPU reference and the oracle. The second device's answers must be
 * the first one's, bit by bit. All of them are compared with Embree's, which rounds differently: the share of rays that
 * differ is printed. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "csv.h"
#include "devices.h"
#include "embree.h"
#include "sets/timing.h"
#include "sets/trace_rays.h"
#include "trace_answers.h"
#include "trace_report.h"
#include "trace_scene.h"

#define SEED 20260711u
#define SAMPLE_TESTS 2e8 /* tests of the CPU reference, which is scalar: about a second */
#define SAMPLE_MAX 256
/* Embree's fast mode misses rays at edges, and counts some edges twice; a larger share means that the scenes differ. */
#define DIFFER_MAX 0.02

typedef struct options {
  const char *scenes[TRACE_SCENES], *devices[TRACE_DEVICES], *csv;
  size_t scene_count;
  int device_count; /* 0: chosen by the devices there are */
  uint32_t side;
  int rounds, processor_time, rows;
  slab_tree tree;
  slab_traversal traversal;
  unsigned sets, queries; /* bit masks: of trace_set, of the queries below */
} options;

static const slab_query queries[TRACE_QUERIES] = {SLAB_CLOSEST, SLAB_ANY, SLAB_COUNT, SLAB_ALL};
static const char *const query_names[TRACE_QUERIES] = {"closest", "any", "count", "all"};
enum { FIRST_HIT = 3, ALL_HITS = 12 }; /* bit masks: closest and any; count and all */

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
  embree *plain, *filtered; /* Embree's scene, for closest and any, and for count and all */
  uint32_t primitives;
  float near; /* of trace_answers_differ */
  unsigned queries;
  slab_ray *rays;
  size_t n;
  trace_answers ours[TRACE_DEVICES], theirs;
} match;

static bool failed_call(const char *what) {
  fprintf(stderr, "bench_trace: %s: %s\n", what, slab_message());
  return false;
}

static bool failed_memory(uint64_t count, const char *what) {
  fprintf(stderr, "bench_trace: no memory for %llu %s\n", (unsigned long long)count, what);
  return false;
}

/* ---- one run of each side ---- */

/* Seconds since `begin`: wall time, or processor time divided by the number of compute units. */
static double lap(const bench *b, double begin) {
  const double seconds = timing_now(b->options.processor_time) - begin;
  return b->options.processor_time ? seconds / b->devices[0].compute_units : seconds;
}

static slab_status cast_ours(slab_scene *scene, slab_query query, const slab_ray *rays, size_t n,
                             const trace_answers *to) {
  switch (query) {
    case SLAB_CLOSEST:
      return slab_closest(scene, rays, n, to->results, NULL);
    case SLAB_ANY:
      return slab_any(scene, rays, n, to->results, NULL);
    case SLAB_COUNT:
      return slab_count(scene, rays, n, to->results, NULL);
    default:
      return slab_all(scene, rays, n, to->offsets, to->results, to->hits, NULL, NULL);
  }
}

static bool run_ours(const bench *b, const match *m, int device, slab_query query, double *seconds) {
  const double begin = timing_now(b->options.processor_time);
  const slab_status status = cast_ours(m->scenes[device], query, m->rays, m->n, &m->ours[device]);
  *seconds = lap(b, begin);
  return status == SLAB_OK ? true : failed_call("cast");
}

static bool run_theirs(const bench *b, const match *m, embree_call call, slab_query query, double *seconds) {
  embree *scene = query == SLAB_COUNT || query == SLAB_ALL ? m->filtered : m->plain;
  const trace_answers *to = &m->theirs;
  const double begin = timing_now(b->options.processor_time);
  const int done = query == SLAB_ALL ? embree_all(scene, call, m->rays, m->n, to->offsets, to->results, to->hits)
                                     : embree_cast(scene, call, query, m->rays, m->n, to->results);
  *seconds = lap(b, begin);
  return done != 0;
}

/* ---- agreement ---- */

/* Whether our devices gave the same bits. */
static bool devices_agree(const bench *b, const match *m, slab_query query) {
  if (b->report.device_count < TRACE_DEVICES || trace_answers_equal(query, m->n, &m->ours[0], &m->ours[1])) return true;
  fprintf(stderr, "bench_trace: %s: %s and %s give different answers\n", m->name, b->devices[0].name,
          b->devices[1].name);
  return false;
}

/* Checks rays from the whole set, with their answers, by slab_check. */
static bool sample_is_proved(const match *m, slab_query query) {
  slab_ray rays[SAMPLE_MAX];
  trace_answers sample;
  slab_check_report report;
  size_t count = (size_t)(SAMPLE_TESTS / m->primitives);
  count = count < 8 ? 8 : count > SAMPLE_MAX ? SAMPLE_MAX : count;
  count = count < m->n ? count : m->n;
  for (size_t k = 0; k < count; k++) rays[k] = m->rays[k * (m->n / count)];
  bool done =
      trace_answers_open(&sample, count) && trace_answers_pick(query, &m->ours[0], m->n / count, count, &sample);
  if (!done) failed_memory(count, "answers to check");
  if (done && slab_check(m->scenes[0], query, rays, count, sample.results, query == SLAB_ALL ? sample.offsets : NULL,
                         NULL, &report) != SLAB_OK)
    done = failed_call("check");
  trace_answers_close(&sample);
  if (!done) return false;
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

/* Our devices change their order each round, so that neither always runs after the other. */
static bool run_round(const bench *b, const match *m, trace_set set, slab_query query, int round, trace_row *row) {
  const int devices = b->report.device_count;
  double seconds;
  for (int k = 0; k < devices; k++) {
    const int device = round % 2 == 0 ? k : devices - 1 - k;
    if (!run_ours(b, m, device, query, &seconds)) return false;
    note(&row->ours[device], round, seconds);
  }
  if (!devices_agree(b, m, query)) return false;
  for (embree_call call = 0; call < EMBREE_CALLS; call++) {
    if (embree_call_is_packet(call) && !worth_packets(set)) continue;
    if (!run_theirs(b, m, call, query, &seconds)) return false;
    note(&row->theirs[call], round, seconds);
    const double differ = trace_answers_differ(query, m->rays, m->n, m->near, &m->ours[0], &m->theirs);
    if (differ > row->differ) row->differ = differ;
  }
  return true;
}

/* Space for all hits of the rays, on each side, and for as many more as Embree may have of them. */
static bool reserve_hits(const bench *b, match *m) {
  uint64_t hits;
  if (slab_all(m->scenes[0], m->rays, m->n, m->ours[0].offsets, NULL, 0, &hits, NULL) != SLAB_OK)
    return failed_call("cast");
  hits += hits / 8 + m->n;
  bool whole = trace_answers_reserve(&m->theirs, hits);
  for (int k = 0; k < b->report.device_count; k++) whole = trace_answers_reserve(&m->ours[k], hits) && whole;
  return whole ? true : failed_memory(hits, "hits");
}

static bool run_row(bench *b, match *m, trace_set set, unsigned which) {
  const slab_query query = queries[which];
  trace_row row = {.scene = m->name,
                   .primitives = m->primitives,
                   .set = trace_set_names[set],
                   .query = query_names[which],
                   .rays = m->n};
  if (query == SLAB_ALL && !reserve_hits(b, m)) return false;
  for (int round = -1; round < b->options.rounds; round++)
    if (!run_round(b, m, set, query, round, &row)) return false;
  row.hits = trace_answers_hits(query, m->n, &m->ours[0]);
  if (!sample_is_proved(m, query)) return false;
  trace_report_row(&b->report, &row);
  if (row.differ <= DIFFER_MAX) return true;
  fprintf(stderr, "bench_trace: %s, %s: %.1f %% of the rays differ from Embree's: these are not the same scenes\n",
          m->name, row.set, 100.0 * row.differ);
  return false;
}

/* A shadow ray into the sphere that it leaves hits it as near as it begins: 1e-5 of the scene's size. Both sides lose
 * most digits of such a t. Of flake:100 it differs by more than 1e-3 for 2.8 % of the rays, with errors of up to 0.0024
 * (ours) and 0.0062 of t. All of these hit the same sphere, and the oracle finds none of ours wrong. So differences at
 * the surface that a ray steps off do not count. */
static bool run_set(bench *b, match *m, trace_set set) {
  slab_scene_stats stats;
  if (trace_rays_fill(m->scenes[0], set, SEED, b->options.side, m->rays, m->ours[0].results, &m->n) != SLAB_OK)
    return failed_call("rays");
  if (m->n == 0) return true;
  if (slab_scene_info(m->scenes[0], &stats) != SLAB_OK) return failed_call("scene");
  if (b->options.rows && set == TRACE_PRIMARY) trace_rows_fill(&stats, b->options.side, m->rays);
  m->near = TRACE_STEP_OFF * (stats.upper[0] - stats.lower[0]);
  for (unsigned which = 0; which < TRACE_QUERIES; which++)
    if ((m->queries >> which & 1) != 0 && !run_row(b, m, set, which)) return false;
  return true;
}

/* ---- a match ---- */

static void match_free(match *m) {
  for (int k = 0; k < TRACE_DEVICES; k++) {
    slab_scene_destroy(m->scenes[k]);
    trace_answers_close(&m->ours[k]);
  }
  embree_close(m->plain);
  embree_close(m->filtered);
  trace_answers_close(&m->theirs);
  free(m->rays);
}

static bool scene_open(const bench *b, slab_context *context, const scene_geometry *g, slab_scene **scene) {
  const bool done = slab_scene_create(context, scene) == SLAB_OK &&
                    scene_geometry_add(*scene, g, NULL, NULL) == SLAB_OK &&
                    slab_scene_commit(*scene, &(slab_build_options){.tree = b->options.tree}) == SLAB_OK;
  return done ? true : failed_call("scene");
}

/* Both have the same hits of triangles alone: a box and a sphere count once with us, and with Embree where the ray
 * enters and where it leaves. */
static unsigned queries_of(const bench *b, const char *scene, const scene_geometry *g) {
  if (g->kind == SLAB_TRIANGLE || (b->options.queries & ALL_HITS) == 0) return b->options.queries;
  fprintf(stderr, "bench_trace: %s: count and all are left out: they are compared of triangles alone\n", scene);
  return b->options.queries & FIRST_HIT;
}

static bool their_scenes_open(const bench *b, const scene_geometry *g, match *m) {
  const uint32_t threads = b->report.threads;
  if ((m->queries & FIRST_HIT) != 0 && (m->plain = embree_open(g, threads, 0)) == NULL) return false;
  return (m->queries & ALL_HITS) == 0 || (m->filtered = embree_open(g, threads, 1)) != NULL;
}

static bool match_open(const bench *b, const char *scene, match *m) {
  scene_geometry geometry;
  const size_t n = (size_t)b->options.side * b->options.side;
  *m = (match){.name = scene, .n = n};
  if (!trace_scene_read(scene, SEED, &geometry)) return false;
  m->primitives = geometry.count;
  m->queries = queries_of(b, scene, &geometry);
  m->rays = malloc(n * sizeof *m->rays);
  bool whole = trace_answers_open(&m->theirs, n) && m->rays != NULL, done = true;
  for (int k = 0; done && k < b->report.device_count; k++) {
    done = scene_open(b, b->contexts[k], &geometry, &m->scenes[k]);
    whole = trace_answers_open(&m->ours[k], n) && whole;
  }
  done = done && their_scenes_open(b, &geometry, m);
  scene_geometry_free(&geometry);
  return whole ? done : failed_memory(n, "rays");
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
          "  --rows             primary rays row by row, not along a Morton curve\n"
          "  --queries LIST     of closest,any,count,all (default closest,any); count and all of triangles alone\n"
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
  static const char *const trees[] = {"default", "flat", "fast", "high"};
  static const char *const traversals[] = {"auto", "packets", "single", "interleaved", "sorted"};
  if (strcmp(name, "--csv") == 0) return (o->csv = value) != NULL;
  if (strcmp(name, "--device") == 0)
    return o->device_count < TRACE_DEVICES && (o->devices[o->device_count++] = value) != NULL;
  if (strcmp(name, "--sets") == 0) return (o->sets = parse_list(value, trace_set_names, TRACE_SETS)) != 0;
  if (strcmp(name, "--queries") == 0) return (o->queries = parse_list(value, query_names, TRACE_QUERIES)) != 0;
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
  *o = (options){.side = 1024, .rounds = 5, .tree = SLAB_TREE_HIGH, .sets = 15, .queries = FIRST_HIT};
  for (int i = 1; i < count; i++) {
    if (words[i][0] != '-' && o->scene_count < TRACE_SCENES)
      o->scenes[o->scene_count++] = words[i];
    else if (strcmp(words[i], "--processor-time") == 0)
      o->processor_time = 1;
    else if (strcmp(words[i], "--rows") == 0)
      o->rows = 1;
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
  b->report.threads = devices_threads(&b->devices[0]);
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
