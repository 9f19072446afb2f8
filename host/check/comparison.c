/* The loop of a comparison: pieces for threads, reports that are merged, progress. */
#include "check/comparison.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "base/pool.h"
#include "base/status.h"
#include "device/context.h"
#include "os/clock.h"
#include "os/thread.h"
#include "work/uniforms.h"

/* ---- naming a difference ---- */

static uint32_t word_at(const void *values, size_t index) {
  uint32_t bits;
  memcpy(&bits, (const char *)values + index * sizeof bits, sizeof bits);
  return bits;
}

void describe_words(char *text, size_t size, const char *noun, size_t i, const char *const *names, const void *got,
                    const void *expected, size_t count, size_t primitive_at) {
  for (size_t k = 0; k < count; k++) {
    uint32_t a = word_at(got, k), b = word_at(expected, k);
    if (a == b) continue;
    float x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    snprintf(text, size,
             "%s %zu: %s is 0x%08x (%.9g), the CPU reference has 0x%08x (%.9g); primitive %u of geometry %u, the CPU "
             "reference has %u "
             "of %u",
             noun, i, names[k], a, (double)x, b, (double)y, word_at(got, primitive_at), word_at(got, primitive_at + 1),
             word_at(expected, primitive_at), word_at(expected, primitive_at + 1));
    return;
  }
}

static uint64_t long_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

bool describe_doubles(char *text, size_t size, const char *noun, size_t i, const char *const *names, const void *got,
                      const void *expected, size_t count) {
  for (size_t k = 0; k < count; k++) {
    double a, b;
    memcpy(&a, (const char *)got + k * sizeof a, sizeof a);
    memcpy(&b, (const char *)expected + k * sizeof b, sizeof b);
    if (long_bits(a) == long_bits(b)) continue;
    snprintf(text, size, "%s %zu: %s is 0x%016llx (%.17g), the CPU reference has 0x%016llx (%.17g)", noun, i, names[k],
             (unsigned long long)long_bits(a), a, (unsigned long long)long_bits(b), b);
    return true;
  }
  return false;
}

void describe_float(char *text, size_t size, const char *noun, const char *name, size_t i, const float *got,
                    const float *expected) {
  snprintf(text, size, "%s %zu: %s is 0x%08x (%.9g), the CPU reference has 0x%08x (%.9g)", noun, i, name,
           word_at(got, 0), (double)*got, word_at(expected, 0), (double)*expected);
}

bool count_judgement(const compared *c, size_t i, oracle_judgement judgement, const char *why,
                     slab_check_report *report) {
  if (judgement == ORACLE_NO_MEMORY) return false;
  report->oracle_rays++;
  if (judgement == ORACLE_TOO_CLOSE) report->oracle_undecided++;
  if (judgement != ORACLE_WRONG) return true;
  if (is_first(report)) {
    report->first = i;
    snprintf(report->text, sizeof report->text, "%s %zu: the oracle: %s", c->noun, i, why);
  }
  report->oracle_wrong++;
  return true;
}

/* ---- comparing ---- */

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

/* Compares the number of invalid ones that the caller counted, if it counted them. */
static void compare_invalid(const compared *c, uint64_t invalid, slab_check_report *report) {
  if (c->invalid == NULL || *c->invalid == invalid) return;
  if (is_first(report))
    snprintf(report->text, sizeof report->text, "the count of invalid %ss is %llu, the CPU reference has %llu", c->noun,
             (unsigned long long)*c->invalid, (unsigned long long)invalid);
  report->mismatches++;
}

/* In a large scene one takes milliseconds, and the caller reports no progress while it waits for the last pieces. */
enum { ONES_A_PIECE = 32 };
#define REPORT_SECONDS 0.1

/* One comparison by several threads. */
typedef struct comparison {
  const compared *of;
  _Atomic slab_status status; /* unless it is SLAB_OK nothing more is compared */
  atomic_size_t done;
  os_thread caller;   /* the thread that reports progress */
  double reported_at; /* seconds, and how many: of the last report */
  size_t reported;
  os_mutex merging; /* for those below */
  slab_check_report *report;
  uint64_t invalid;
} comparison;

static void report_progress(comparison *all) {
  const compared *c = all->of;
  const size_t done = atomic_load(&all->done);
  if (c->progress == NULL || done == all->reported) return;
  all->reported = done;
  const slab_cast_options told = {.progress = c->progress, .user = c->user};
  if (call_progress(&told, c->callers, done, c->n) != 0) atomic_store(&all->status, SLAB_CANCELLED);
  all->reported_at = seconds_now();
}

static void compare_some(void *argument, size_t begin, size_t end) {
  comparison *all = argument;
  const bool reports = os_thread_is_self(all->caller);
  reference_answer m = {0};
  slab_check_report own = {0};
  uint64_t invalid = 0;
  for (size_t i = begin; i < end && atomic_load(&all->status) == SLAB_OK; i++) {
    if (!all->of->one(all->of, i, &m, &own, &invalid)) atomic_store(&all->status, SLAB_OUT_OF_MEMORY);
    atomic_fetch_add(&all->done, 1);
    if (reports && seconds_now() - all->reported_at >= REPORT_SECONDS) report_progress(all);
  }
  os_mutex_lock(&all->merging);
  merge(all->report, &own);
  all->invalid += invalid;
  os_mutex_unlock(&all->merging);
  free(m.all);
}

static slab_status compare_each(const compared *c, slab_check_report *report) {
  comparison all = {.of = c, .report = report, .caller = os_thread_self(), .reported_at = seconds_now()};
  if (!os_mutex_init(&all.merging)) return fail(SLAB_OUT_OF_MEMORY, "%s: no memory for a lock", c->function);
  pool_loop(c->scene->context->threads, c->n, ONES_A_PIECE, compare_some, &all);
  os_mutex_destroy(&all.merging);
  if (all.status == SLAB_OK) report_progress(&all);
  if (all.status == SLAB_CANCELLED)
    return fail(SLAB_CANCELLED, "%s: cancelled after %zu of %zu %s%s", c->function, all.reported, c->n, c->noun,
                plural(c->n, "", "s"));
  if (all.status != SLAB_OK)
    return fail(SLAB_OUT_OF_MEMORY, "%s: no memory for the hits of the CPU reference and the oracle", c->function);
  compare_invalid(c, all.invalid, report);
  return SLAB_OK;
}

slab_status compare_all(compared *c, scene_reading *reading, slab_check_report *report) {
  slab_check_report filled = {.rays = c->n};
  c->scene = reading->scene;
  slab_status status = judge_begin(c->scene, c->n, &c->judge);
  if (status == SLAB_OK) status = compare_each(c, &filled);
  judge_end(&c->judge);
  scene_leave(reading);
  if (status == SLAB_OK) *report = filled;
  return status;
}
