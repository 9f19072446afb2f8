/* slab_check: compares the results of a cast with the CPU reference, bit by bit, and has the oracle judge them. */
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "check/comparison.h"
#include "scene/scene.h"
#include "work/uniforms.h"

/* Inputs of one comparison. */
typedef struct check {
  compared all;
  slab_query query;
  const slab_ray *rays;
  const void *results;
  const uint64_t *offsets;
  const slab_cast_options *options;
  cast_uniforms uniforms;
} check;

static bool same_bits(const void *a, const void *b, size_t size) { return memcmp(a, b, size) == 0; }

/* Whether ray i's list has as many hits as the CPU reference's and lies inside the array, whose size is the last
 * offset. */
static bool list_fits(const check *c, size_t i, uint64_t count) {
  return c->offsets[i] <= c->offsets[i + 1] && c->offsets[i + 1] <= c->offsets[c->all.n] &&
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

static const char *const hit_names[] = {"t", "normal[0]", "normal[1]", "normal[2]", "u", "v", "primitive", "geometry"};
static const char *const short_names[] = {"t", "primitive", "geometry"};
static const char *const interval_names[] = {"enter", "leave", "primitive", "geometry"};

static void describe_list(const check *c, size_t i, const reference_answer *m, char *text, size_t size) {
  if (!list_fits(c, i, m->count)) {
    snprintf(text, size, "ray %zu: hits from %llu to %llu of %llu, the CPU reference has %u", i,
             (unsigned long long)c->offsets[i], (unsigned long long)c->offsets[i + 1],
             (unsigned long long)c->offsets[c->all.n], m->count);
    return;
  }
  for (uint32_t k = 0; k < m->count; k++)
    if (!same_bits(hits_of(c, i) + k, &m->all[k], sizeof *m->all)) {
      int length = snprintf(text, size, "hit %u of ", k);
      describe_words(text + length, size - (size_t)length, "ray", i, hit_names, hits_of(c, i) + k, &m->all[k], 8, 6);
      return;
    }
}

static void describe(const check *c, size_t i, const reference_answer *m, char *text, size_t size) {
  switch (c->query) {
    case SLAB_CLOSEST:
      describe_words(text, size, "ray", i, hit_names, (const slab_hit *)c->results + i, &m->closest, 8, 6);
      break;
    case SLAB_INTERVAL:
      describe_words(text, size, "ray", i, interval_names, (const slab_interval *)c->results + i, &m->interval, 4, 2);
      break;
    case SLAB_NEAREST:
      describe_words(text, size, "ray", i, short_names, (const slab_short_hit *)c->results + i, &m->nearest, 3, 1);
      break;
    case SLAB_DISTANCE:
      describe_float(text, size, "ray", "t", i, (const float *)c->results + i, &m->distance);
      break;
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
  const oracle_judgement judgement =
      oracle_judge(c->all.judge.scene, c->query, &c->rays[i], result_at(c, i), n, &own, c->options, why, sizeof why);
  return count_judgement(&c->all, i, judgement, why, report);
}

static bool compare_ray(const compared *all, size_t i, reference_answer *m, slab_check_report *report,
                        uint64_t *invalid) {
  const check *c = (const check *)all;
  const ray_own own = ray_own_of(c->options, i);
  if (!reference_cast(all->scene, &c->uniforms, c->query, &c->rays[i], &own, m)) return false;
  compare_with_reference(c, i, m, report);
  *invalid += m->invalid;
  const bool readable = c->query != SLAB_ALL || list_fits(c, i, m->count);
  return !readable || !is_judged(all, i) || compare_with_oracle(c, i, report);
}

static slab_status check_arguments(const slab_scene *scene, const check *c, const slab_check_report *report) {
  const size_t n = c->all.n;
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
  check c = {.all = {.function = "slab_check", .noun = "ray", .one = compare_ray, .n = n, .callers = &callers},
             .query = query,
             .rays = rays,
             .results = results,
             .offsets = offsets,
             .options = options};
  scene_reading reading;
  slab_status status = check_arguments(scene, &c, report);
  if (status == SLAB_OK) status = scene_enter(scene, c.all.function, &reading);
  if (status != SLAB_OK) return status;
  if (options != NULL) status = check_worlds(c.all.function, reading.scene, n, options->worlds);
  if (status != SLAB_OK) {
    scene_leave(&reading);
    return status;
  }
  if (options != NULL) compared_tells(&c.all, options->progress, options->user, options->invalid);
  cast_uniforms_of(reading.scene, query, options, &c.uniforms);
  return compare_all(&c.all, &reading, report);
}
