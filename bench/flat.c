/* The flat benchmark: casts rays at many boxes by brute force. It compares the library with the same test hand-written
 * in intrinsics, in one run.
 *
 *   bench_flat [--device SEL] [--boxes N,N,...] [--rounds R] [--seconds S] [--processor-time] [--csv FILE]
 *
 * Measures the devices of devices.h where none is named. Both sides are interleaved and warm-up is discarded. A time is
 * printed only after the answers of every run agreed bit for bit, and a sample of them with the CPU reference and the
 * oracle. The library is timed from host array to host array. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "ceiling.h"
#include "csv.h"
#include "devices.h"
#include "ray_sets.h"
#include "report.h"
#include "sets/clock_rate.h"
#include "sets/scenes.h"
#include "simd_baseline.h"

enum { SIZES_MAX = 16, SAMPLE_MAX = 256 };
#define SEED 20240607u
#define SAMPLE_TESTS (1u << 21) /* the CPU reference is scalar: about as many tests as it does in a second */
#define RAYS_MAX (16u << 20)

typedef struct options {
  const char *device, *csv;
  uint32_t sizes[SIZES_MAX];
  size_t size_count;
  int rounds, processor_time;
  double seconds; /* for each side and round */
} options;

/* State of the whole run. */
typedef struct bench {
  options options;
  slab_context *context;
  slab_device_info device;
  const simd_baseline *simd_baseline; /* NULL: there is none for this machine */
  uint32_t threads;
  FILE *csv;
  int voids;
} bench;

/* A scene on both sides, and rays. */
typedef struct match {
  slab_scene *scene;
  simd_baseline_boxes boxes; /* rows NULL: only the library is measured */
  slab_shape shape;
  uint32_t primitives;
  slab_ray *rays;
  size_t ray_count;
  void *results;                 /* space for ray_count slab_hit, the largest result */
  simd_baseline_answer *answers; /* ray_count answers */
} match;

static const char *const query_names[] = {"closest", "distance", "any"};

/* ---- messages ---- */

static bool failed_call(const char *what) {
  fprintf(stderr, "bench_flat: %s: %s\n", what, slab_message());
  return false;
}

static bool failed_memory(const char *what) {
  fprintf(stderr, "bench_flat: no memory for %s\n", what);
  return false;
}

/* ---- options ---- */

static bool parse_sizes(const char *text, options *o) {
  o->size_count = 0;
  for (char *end; o->size_count < SIZES_MAX; text = end + 1) {
    const unsigned long size = strtoul(text, &end, 10);
    if (end == text || size < 1 || size > 100000000) return false;
    o->sizes[o->size_count++] = (uint32_t)size;
    if (*end == 0) return true;
    if (*end != ',') return false;
  }
  return false;
}

static bool parse_number(const char *text, double low, double high, double *value) {
  char *end;
  *value = strtod(text, &end);
  return end != text && *end == 0 && *value >= low && *value <= high;
}

/* Returns false where the value is not valid for this option. */
static bool parse_value(const char *name, const char *value, options *o) {
  double number = 0.0;
  if (strcmp(name, "--device") == 0) o->device = value;
  if (strcmp(name, "--csv") == 0) o->csv = value;
  if (strcmp(name, "--boxes") == 0) return parse_sizes(value, o);
  if (strcmp(name, "--seconds") == 0) return parse_number(value, 0.001, 60.0, &o->seconds);
  if (strcmp(name, "--rounds") == 0) {
    if (!parse_number(value, 1.0, ROUNDS_MAX, &number)) return false;
    o->rounds = (int)number;
  }
  return true;
}

static bool parse_options(int count, char **words, options *o) {
  static const char *const names[] = {"--device", "--csv", "--boxes", "--seconds", "--rounds"};
  *o = (options){.sizes = {4096, 512, 65536}, .size_count = 3, .rounds = 9, .seconds = 0.3};
  for (int i = 1; i < count; i++) {
    if (strcmp(words[i], "--processor-time") == 0) {
      o->processor_time = 1;
      continue;
    }
    bool known = false;
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) known = known || strcmp(words[i], names[k]) == 0;
    if (known && i + 1 < count && parse_value(words[i], words[i + 1], o)) {
      i++;
      continue;
    }
    fprintf(stderr,
            "bench_flat: %s %s\n"
            "usage: bench_flat [--device SEL] [--boxes N,N,...] [--rounds R] [--seconds S] [--processor-time] "
            "[--csv FILE]\n",
            known ? "no value, or none that fits, for" : "unknown option", words[i]);
    return false;
  }
  return true;
}

/* ---- one run of each side ---- */

static slab_status cast_ours(const match *m, slab_query query, size_t n) {
  if (query == SLAB_ANY) return slab_any(m->scene, m->rays, n, m->results, NULL);
  if (query == SLAB_DISTANCE) return slab_distance(m->scene, m->rays, n, m->results, NULL);
  return slab_closest(m->scene, m->rays, n, m->results, NULL);
}

/* Seconds since `begin`: wall time, or processor time divided by the number of threads. */
static double lap(const bench *b, double begin) {
  const double seconds = timing_now(b->options.processor_time) - begin;
  return b->options.processor_time ? seconds / b->threads : seconds;
}

static bool time_ours(const bench *b, const match *m, slab_query query, size_t n, double *seconds) {
  const double begin = timing_now(b->options.processor_time);
  const slab_status status = cast_ours(m, query, n);
  *seconds = lap(b, begin);
  return status == SLAB_OK ? true : failed_call("cast");
}

static bool time_simd_baseline(const bench *b, const match *m, slab_query query, double *seconds) {
  const double begin = timing_now(b->options.processor_time);
  const int all = simd_baseline_cast(b->simd_baseline, &m->boxes, query, m->rays, m->ray_count, b->threads, m->answers);
  *seconds = lap(b, begin);
  if (!all) fprintf(stderr, "bench_flat: the system refused the simd_baseline its %u threads\n", b->threads);
  return all != 0;
}

/* ---- agreement ---- */

static bool same_bits(float a, float b) { return memcmp(&a, &b, sizeof a) == 0; }

static bool ray_agrees(const match *m, slab_query query, size_t i) {
  const simd_baseline_answer *theirs = &m->answers[i];
  if (query == SLAB_ANY) return ((const uint8_t *)m->results)[i] == (theirs->primitive != SLAB_MISS);
  if (query == SLAB_DISTANCE) return same_bits(((const float *)m->results)[i], theirs->t);
  const slab_hit *ours = &((const slab_hit *)m->results)[i];
  return same_bits(ours->t, theirs->t) && ours->primitive == theirs->primitive;
}

static bool sides_agree(const match *m, slab_query query) {
  for (size_t i = 0; i < m->ray_count; i++) {
    if (ray_agrees(m, query, i)) continue;
    fprintf(stderr, "bench_flat: %s over %u boxes: ray %zu: the simd_baseline has t %a of box %u and ours differs\n",
            query_names[query], m->primitives, i, (double)m->answers[i].t, m->answers[i].primitive);
    return false;
  }
  return true;
}

/* Checks rays from the whole batch, with their answers, by slab_check. */
static bool sample_is_proved(const match *m, slab_query query) {
  static const size_t sizes[] = {[SLAB_CLOSEST] = sizeof(slab_hit), [SLAB_DISTANCE] = sizeof(float), [SLAB_ANY] = 1};
  slab_ray rays[SAMPLE_MAX];
  slab_hit results[SAMPLE_MAX]; /* slab_hit is the largest result */
  slab_check_report report;
  size_t count = SAMPLE_TESTS / m->primitives, size = sizes[query];
  count = count < 16 ? 16 : count > SAMPLE_MAX ? SAMPLE_MAX : count;
  if (count > m->ray_count) count = m->ray_count;
  for (size_t k = 0; k < count; k++) {
    const size_t i = k * (m->ray_count / count);
    rays[k] = m->rays[i];
    memcpy((char *)results + k * size, (const char *)m->results + i * size, size);
  }
  if (slab_check(m->scene, query, rays, count, results, NULL, NULL, &report) != SLAB_OK) return failed_call("check");
  if (report.mismatches == 0 && report.oracle_wrong == 0) return true;
  fprintf(stderr, "bench_flat: %s: %llu of %zu rays are wrong: %s\n", query_names[query],
          (unsigned long long)(report.mismatches + report.oracle_wrong), count, report.text);
  return false;
}

/* ---- a row ---- */

static bool result_hits(const match *m, slab_query query, size_t i) {
  if (query == SLAB_ANY) return ((const uint8_t *)m->results)[i] != 0;
  if (query == SLAB_DISTANCE) return ((const float *)m->results)[i] < INFINITY;
  return ((const slab_hit *)m->results)[i].primitive != SLAB_MISS;
}

/* Counts the primitives that one run has to test, and the share of rays that hit. A search for any hit ends with the
 * block of its first hit. */
static void count_tests(const match *m, slab_query query, report_row *row) {
  double tests = 0.0;
  size_t hits = 0;
  for (size_t i = 0; i < m->ray_count; i++) {
    const bool early = query == SLAB_ANY && m->boxes.rows != NULL && m->answers[i].primitive != SLAB_MISS;
    tests += early ? (double)(m->answers[i].primitive / row->lanes + 1) * row->lanes : (double)m->primitives;
    hits += result_hits(m, query, i);
  }
  row->tests = tests;
  row->hit_share = (double)hits / (double)m->ray_count;
}

static double larger(double a, double b) { return a > b ? a : b; }

static bool run_round(const bench *b, const match *m, slab_query query, bool warm_up, report_row *row) {
  double ours, theirs;
  if (!time_ours(b, m, query, m->ray_count, &ours)) return false;
  if (!warm_up) row->ours.seconds[row->ours.rounds++] = ours;
  if (m->boxes.rows != NULL) {
    if (!time_simd_baseline(b, m, query, &theirs) || !sides_agree(m, query)) return false;
    if (!warm_up) row->simd_baseline.seconds[row->simd_baseline.rounds++] = theirs;
    row->ceiling = larger(row->ceiling, ceiling_tests(b->simd_baseline, b->threads));
  }
  row->clock = larger(row->clock, clock_rate());
  return true;
}

static bool run_row(bench *b, const match *m, ray_set set, slab_query query) {
  report_row row = {.shape = m->shape == SLAB_BOX ? "boxes" : "triangles",
                    .rays = ray_set_names[set],
                    .query = query_names[query],
                    .primitives = m->primitives,
                    .threads = b->threads,
                    .ray_count = m->ray_count,
                    .lanes = m->boxes.rows == NULL ? 0 : b->simd_baseline->lanes};
  for (int i = 0; i <= b->options.rounds; i++)
    if (!run_round(b, m, query, i == 0, &row)) return false;
  if (!sample_is_proved(m, query)) return false;
  count_tests(m, query, &row);
  const char *simd_baseline_name = m->boxes.rows == NULL ? "none" : b->simd_baseline->name;
  const report_verdict verdict = report_print(stdout, &row);
  if (b->csv != NULL) report_csv(b->csv, &b->device, simd_baseline_name, b->options.processor_time, &row);
  b->voids += verdict == REPORT_VOID;
  return verdict != REPORT_WRONG;
}

/* ---- a match ---- */

static void match_free(match *m) {
  slab_scene_destroy(m->scene);
  free(m->boxes.rows);
  free(m->rays);
  free(m->results);
  free(m->answers);
}

static bool match_scene(const bench *b, const char *name, uint32_t count, match *m) {
  scene_geometry geometry;
  if (scene_build(name, count, SEED, &geometry) != 0) return failed_memory("a scene");
  bool done = true;
  m->shape = geometry.kind;
  m->primitives = geometry.count;
  if (slab_scene_create(b->context, &m->scene) != SLAB_OK ||
      scene_geometry_add(m->scene, &geometry, NULL, NULL) != SLAB_OK ||
      slab_scene_commit(m->scene, &(slab_build_options){.tree = SLAB_TREE_FLAT}) != SLAB_OK)
    done = failed_call("scene");
  else if (m->shape == SLAB_BOX && b->simd_baseline != NULL &&
           !simd_baseline_pack(b->simd_baseline, geometry.shapes, geometry.count, &m->boxes))
    done = failed_memory("the simd_baseline's boxes");
  scene_geometry_free(&geometry);
  return done;
}

static bool match_arrays(match *m, size_t n) {
  m->ray_count = n;
  m->rays = malloc(n * sizeof *m->rays);
  m->results = malloc(n * sizeof(slab_hit));
  m->answers = malloc(n * sizeof *m->answers);
  return m->rays != NULL && m->results != NULL && m->answers != NULL ? true : failed_memory("rays");
}

/* Chooses the number of rays so that one run takes the requested time, from a first batch that is cast again after
 * warm-up. */
static bool match_rays(const bench *b, ray_set set, match *m) {
  random_state random = random_seed(SEED);
  double seconds = 0.0;
  size_t n = 100000000u / m->primitives;
  n = n < 4096 ? 4096 : n;
  if (!match_arrays(m, n)) return false;
  ray_set_fill(set, &random, n, m->rays);
  for (int i = 0; i < 2; i++)
    if (!time_ours(b, m, SLAB_CLOSEST, n, &seconds)) return false;
  const double wanted = (double)n * b->options.seconds / seconds;
  n = wanted > RAYS_MAX ? RAYS_MAX : wanted < 1024 ? 1024 : (size_t)wanted;
  free(m->rays);
  free(m->results);
  free(m->answers);
  if (!match_arrays(m, n)) return false;
  ray_set_fill(set, &random, n, m->rays);
  return true;
}

static bool run_match(bench *b, const char *scene, uint32_t count, ray_set set, slab_query last) {
  match m = {0};
  bool done = match_scene(b, scene, count, &m) && match_rays(b, set, &m);
  static const slab_query order[] = {SLAB_CLOSEST, SLAB_DISTANCE, SLAB_ANY};
  for (size_t i = 0; done && i < sizeof order / sizeof *order && order[i] <= last; i++)
    done = run_row(b, &m, set, order[i]);
  match_free(&m);
  return done;
}

/* ---- the run ---- */

static bool run_rows(bench *b) {
  bool done = true;
  report_header(stdout, &b->device, b->simd_baseline == NULL ? "none for this machine" : b->simd_baseline->name,
                b->options.processor_time);
  for (size_t i = 0; done && i < b->options.size_count; i++)
    for (ray_set set = RAYS_FAR; done && set <= RAYS_INSIDE; set++)
      done = run_match(b, "boxes", b->options.sizes[i], set, SLAB_ANY);
  for (ray_set set = RAYS_FAR; done && set <= RAYS_INSIDE; set++)
    done = run_match(b, "soup", b->options.sizes[0], set, SLAB_CLOSEST);
  if (done && b->voids > 0)
    printf("\n%d comparisons are void: this machine was not quiet, or the simd_baseline does not suit it\n", b->voids);
  putchar('\n');
  return done;
}

static bool run_device(bench *b, const char *selector) {
  if (slab_context_create(&(slab_context_options){.device = selector}, &b->context) != SLAB_OK ||
      slab_context_device(b->context, &b->device) != SLAB_OK)
    return failed_call("device");
  b->simd_baseline = simd_baseline_widest();
  b->threads = devices_threads(&b->device);
  b->voids = 0;
  const bool done = run_rows(b);
  slab_context_destroy(b->context);
  b->context = NULL;
  return done;
}

int main(int count, char **words) {
  bench b = {0};
  char chosen[DEVICES_DEFAULT][DEVICE_SELECTOR];
  if (!parse_options(count, words, &b.options)) return 2;
  bool done = csv_open("bench_flat", b.options.csv, &b.csv);
  if (b.csv != NULL) report_csv_header(b.csv);
  const int devices = b.options.device != NULL ? 1 : devices_default(chosen);
  for (int i = 0; done && i < devices; i++)
    done = run_device(&b, b.options.device != NULL ? b.options.device : chosen[i]);
  done = csv_close("bench_flat", b.options.csv, b.csv) && done;
  return done ? 0 : 1;
}
