/* slab_check: compares the results of a cast with the CPU reference, bit by bit, and has the oracle judge them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/plural.h"
#include "base/pool.h"
#include "base/status.h"
#include "check/judge.h"
#include "check/reference.h"
#include "device/context.h"
#include "os/clock.h"
#include "os/thread.h"
#include "scene/scene.h"
#include "work/uniforms.h"

/* Inputs and state of one comparison. */
typedef struct check {
  const snapshot *scene;
  slab_query query;
  const slab_ray *rays;
  size_t n;
  const void *results;
  const uint64_t *offsets;
  const slab_cast_options *options;
  arithmetic *callers; /* for progress callbacks */
  cast_uniforms uniforms;
  judge judge;
} check;

static bool same_bits(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

/* Whether ray i's list has as many hits as the CPU reference's and lies inside the array, whose size is the last
 * offset. */
static bool list_fits(const check *c, size_t i, uint64_t count) {
  return c->offsets[i] <= c->offsets[i + 1] && c->offsets[i + 1] <= c->offsets[c->n] &&
         c->offsets[i + 1] - c->offsets[i] == count;
}

static const slab_hit *hits_of(const check *c, size_t i) { return (const slab_hit *)c->results + c->offsets[i]; }

static bool is_same(const check *c, size_t i, const reference_answer *m) {
  switch (c->query) {
    case SLAB_CLOSEST:
      return same_bits((const slab_hit *)c->results + i, &m->closest, sizeof m->closest);
    case SLAB_DISTANCE:
      return same_bits((const float *)c->results + i, &m->distance, sizeof m->distance);
    case SLAB_ANY:
      return ((const uint8_t *)c->results)[i] == m->any;
    case SLAB_COUNT:
      return ((const uint32_t *)c->results)[i] == m->count;
    case SLAB_INTERVAL:
      return same_bits((const slab_interval *)c->results + i, &m->interval, sizeof m->interval);
    case SLAB_NEAREST:
      return same_bits((const slab_short_hit *)c->results + i, &m->nearest, sizeof m->nearest);
    case SLAB_ALL:
      break;
  }
  return list_fits(c, i, m->count) && (m->count == 0 || same_bits(hits_of(c, i), m->all, m->count * sizeof *m->all));
}

/* ---- naming a difference ---- */

static uint32_t word_at(const void *values, size_t index) {
  uint32_t bits;
  memcpy(&bits, (const char *)values + index * sizeof bits, sizeof bits);
  return bits;
}

static void describe_words(char *text, size_t size, size_t ray, const char *const *names, const void *got,
                           const void *expected, size_t count, size_t primitive_at) {
  for (size_t k = 0; k < count; k++) {
    uint32_t a = word_at(got, k), b = word_at(expected, k);
    if (a == b) continue;
    float x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    snprintf(text, size,
             "ray %zu: %s is 0x%08x (%.9g), the CPU reference has 0x%08x (%.9g); primitive %u of geometry %u, the CPU "
             "reference has %u "
             "of %u",
             ray, names[k], a, (double)x, b, (double)y, word_at(got, primitive_at), word_at(got, primitive_at + 1),
             word_at(expected, primitive_at), word_at(expected, primitive_at + 1));
    return;
  }
}

static const char *const hit_names[] = {"t", "normal[0]", "normal[1]", "normal[2]", "u", "v", "primitive", "geometry"};
static const char *const short_names[] = {"t", "primitive", "geometry"};
static const char *const interval_names[] = {"enter", "leave", "primitive", "geometry"};

static void describe_list(const check *c, size_t i, const reference_answer *m, char *text, size_t size) {
  if (!list_fits(c, i, m->count)) {
    snprintf(text, size, "ray %zu: hits from %llu to %llu of %llu, the CPU reference has %u", i,
             (unsigned long long)c->offsets[i], (unsigned long long)c->offsets[i + 1],
             (unsigned long long)c->offsets[c->n], m->count);
    return;
  }
  for (uint32_t k = 0; k < m->count; k++)
    if (!same_bits(hits_of(c, i) + k, &m->all[k], sizeof *m->all)) {
      int length = snprintf(text, size, "hit %u of ", k);
      describe_words(text + length, size - (size_t)length, i, hit_names, hits_of(c, i) + k, &m->all[k], 8, 6);
      return;
    }
}

static void describe(const check *c, size_t i, const reference_answer *m, char *text, size_t size) {
  switch (c->query) {
    case SLAB_CLOSEST:
      describe_words(text, size, i, hit_names, (const slab_hit *)c->results + i, &m->closest, 8, 6);
      break;
    case SLAB_INTERVAL:
      describe_words(text, size, i, interval_names, (const slab_interval *)c->results + i, &m->interval, 4, 2);
      break;
    case SLAB_NEAREST:
      describe_words(text, size, i, short_names, (const slab_short_hit *)c->results + i, &m->nearest, 3, 1);
      break;
    case SLAB_DISTANCE: {
      uint32_t got = word_at(c->results, i), expected = word_at(&m->distance, 0);
      snprintf(text, size, "ray %zu: t is 0x%08x (%.9g), the CPU reference has 0x%08x (%.9g)", i, got,
               (double)((const float *)c->results)[i], expected, (double)m->distance);
      break;
    }
    case SLAB_ANY:
      snprintf(text, size, "ray %zu: occluded is %u, the CPU reference has %u", i, ((const uint8_t *)c->results)[i],
               m->any);
      break;
    case SLAB_COUNT:
      snprintf(text, size, "ray %zu: count is %u, the CPU reference has %u", i, ((const uint32_t *)c->results)[i],
               m->count);
      break;
    case SLAB_ALL:
      describe_list(c, i, m, text, size);
      break;
  }
}

/* ---- comparing ---- */

/* The text of the report describes the first ray that disagrees. */
static bool is_first(const slab_check_report *report) { return report->mismatches + report->oracle_wrong == 0; }

static void compare_with_reference(const check *c, size_t i, const reference_answer *m, slab_check_report *report) {
  if (is_same(c, i, m)) return;
  if (is_first(report)) {
    report->first = i;
    describe(c, i, m, report->text, sizeof report->text);
  }
  report->mismatches++;
}

static const void *result_at(const check *c, size_t i) {
  if (c->results == NULL) return NULL; /* no ray has a hit */
  return (const char *)c->results + (c->query == SLAB_ALL ? c->offsets[i] : i) * slab_result_size(c->query);
}

/* Returns false when memory runs out. */
static bool compare_with_oracle(const check *c, size_t i, slab_check_report *report) {
  char why[384] = "";
  const uint64_t n = c->query == SLAB_ALL ? c->offsets[i + 1] - c->offsets[i] : 1;
  const ray_own own = ray_own_of(c->options, i);
  oracle_judgement judgement =
      oracle_judge(c->judge.scene, c->query, &c->rays[i], result_at(c, i), n, &own, c->options, why, sizeof why);
  if (judgement == ORACLE_NO_MEMORY) return false;
  report->oracle_rays++;
  if (judgement == ORACLE_TOO_CLOSE) report->oracle_undecided++;
  if (judgement != ORACLE_WRONG) return true;
  if (is_first(report)) {
    report->first = i;
    snprintf(report->text, sizeof report->text, "ray %zu: the oracle: %s", i, why);
  }
  report->oracle_wrong++;
  return true;
}

/* Compares ray i. Adds to *invalid where it is. Returns false when memory runs out. */
static bool compare_ray(const check *c, size_t i, reference_answer *m, slab_check_report *report, uint64_t *invalid) {
  const ray_own own = ray_own_of(c->options, i);
  if (!reference_cast(c->scene, &c->uniforms, c->query, &c->rays[i], &own, m)) return false;
  compare_with_reference(c, i, m, report);
  *invalid += m->invalid;
  const bool readable = c->query != SLAB_ALL || list_fits(c, i, m->count);
  const bool judged = readable && i % c->judge.stride == 0;
  return !judged || compare_with_oracle(c, i, report);
}

static void merge(slab_check_report *into, const slab_check_report *from) {
  if (!is_first(from) && (is_first(into) || from->first < into->first)) {
    into->first = from->first;
    memcpy(into->text, from->text, sizeof into->text);
  }
  into->mismatches += from->mismatches;
  into->oracle_rays += from->oracle_rays;
  into->oracle_wrong += from->oracle_wrong;
  into->oracle_undecided += from->oracle_undecided;
}

/* Compares the number of invalid rays that the cast counted, if it counted them. */
static void compare_invalid(const check *c, uint64_t invalid, slab_check_report *report) {
  if (c->options == NULL || c->options->invalid == NULL || *c->options->invalid == invalid) return;
  if (is_first(report))
    snprintf(report->text, sizeof report->text, "the count of invalid rays is %llu, the CPU reference has %llu",
             (unsigned long long)*c->options->invalid, (unsigned long long)invalid);
  report->mismatches++;
}

/* In a large scene a ray takes milliseconds, and the caller reports no progress while it waits for the last pieces. */
enum { RAYS_A_PIECE = 32 };
#define REPORT_SECONDS 0.1

/* One comparison by several threads. */
typedef struct comparison {
  const check *check;
  _Atomic slab_status status; /* unless it is SLAB_OK nothing more is compared */
  atomic_size_t done;         /* rays */
  os_thread caller;           /* the thread that reports progress */
  double reported_at;         /* seconds, and rays: of the last report */
  size_t reported;
  os_mutex merging; /* for those below */
  slab_check_report *report;
  uint64_t invalid;
} comparison;

static void report_progress(comparison *all) {
  const check *c = all->check;
  const size_t done = atomic_load(&all->done);
  if (c->options == NULL || c->options->progress == NULL || done == all->reported) return;
  all->reported = done;
  if (call_progress(c->options, c->callers, done, c->n) != 0) atomic_store(&all->status, SLAB_CANCELLED);
  all->reported_at = seconds_now();
}

static void compare_some(void *argument, size_t begin, size_t end) {
  comparison *all = argument;
  const bool reports = os_thread_is_self(all->caller);
  reference_answer m = {0};
  slab_check_report own = {0};
  uint64_t invalid = 0;
  for (size_t i = begin; i < end && atomic_load(&all->status) == SLAB_OK; i++) {
    if (!compare_ray(all->check, i, &m, &own, &invalid)) atomic_store(&all->status, SLAB_OUT_OF_MEMORY);
    atomic_fetch_add(&all->done, 1);
    if (reports && seconds_now() - all->reported_at >= REPORT_SECONDS) report_progress(all);
  }
  os_mutex_lock(&all->merging);
  merge(all->report, &own);
  all->invalid += invalid;
  os_mutex_unlock(&all->merging);
  free(m.all);
}

static slab_status compare_all(const check *c, slab_check_report *report) {
  comparison all = {.check = c, .report = report, .caller = os_thread_self(), .reported_at = seconds_now()};
  if (!os_mutex_init(&all.merging)) return fail(SLAB_OUT_OF_MEMORY, "slab_check: no memory for a lock");
  pool_loop(c->scene->context->threads, c->n, RAYS_A_PIECE, compare_some, &all);
  os_mutex_destroy(&all.merging);
  if (all.status == SLAB_OK) report_progress(&all);
  if (all.status == SLAB_CANCELLED)
    return fail(SLAB_CANCELLED, "slab_check: cancelled after %zu of %zu ray%s", all.reported, c->n,
                plural(c->n, "", "s"));
  if (all.status != SLAB_OK)
    return fail(SLAB_OUT_OF_MEMORY, "slab_check: no memory for the hits of the CPU reference and the oracle");
  compare_invalid(c, all.invalid, report);
  return SLAB_OK;
}

static slab_status check_arguments(const slab_scene *scene, const check *c, const slab_check_report *report) {
  const size_t n = c->n;
  const char *missing = scene == NULL                                                                ? "scene"
                        : report == NULL                                                             ? "report"
                        : n > 0 && c->rays == NULL                                                   ? "rays"
                        : c->query == SLAB_ALL && c->offsets == NULL                                 ? "offsets"
                        : n > 0 && c->results == NULL && (c->query != SLAB_ALL || c->offsets[n] > 0) ? "results"
                                                                                                     : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_check: %s is NULL", missing);
  if ((unsigned)c->query >= SLAB_QUERY_COUNT)
    return fail(SLAB_INVALID_ARGUMENT, "slab_check: query is %d, not a slab_query", (int)c->query);
  slab_status status = scene_check(scene, "slab_check");
  if (status != SLAB_OK || c->options == NULL) return status;
  status = check_rules("slab_check", c->options->cull, c->options->edges);
  return status == SLAB_OK ? check_own_rays("slab_check", c->query, n, c->options) : status;
}

slab_status slab_check(slab_scene *scene, slab_query query, const slab_ray *rays, size_t n, const void *results,
                       const uint64_t *offsets, const slab_cast_options *options, slab_check_report *report) {
  ARITHMETIC callers = arithmetic_begin();
  check c = {.query = query,
             .rays = rays,
             .n = n,
             .results = results,
             .offsets = offsets,
             .options = options,
             .callers = &callers};
  scene_reading reading;
  slab_status status = check_arguments(scene, &c, report);
  if (status == SLAB_OK) status = scene_enter(scene, "slab_check", &reading);
  if (status != SLAB_OK) return status;
  c.scene = reading.scene;
  cast_uniforms_of(c.scene, query, options, &c.uniforms);
  slab_check_report filled = {.rays = n};
  status = judge_begin(c.scene, n, &c.judge);
  if (status == SLAB_OK) status = compare_all(&c, &filled);
  judge_end(&c.judge);
  scene_leave(&reading);
  if (status == SLAB_OK) *report = filled;
  return status;
}
