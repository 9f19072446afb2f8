/* The public calls that cast: refusals of arguments, and the way of each call. */
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "scene/scene.h"
#include "schedule/far_casts.h"
#include "schedule/lists.h"
#include "schedule/parts.h"
#include "schedule/ray_sets.h"
#include "schedule/scheduler.h"
#include "schedule/sums.h"
#include "work/uniforms.h"

static slab_status check_cast(const cast *c) {
  const slab_cast_options *o = c->options;
  if (c->n > 0 && c->rays == NULL && c->rays64 == NULL && c->set == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: rays is NULL", c->function);
  if (o == NULL) return SLAB_OK;
  const slab_status status = check_rules(c->function, o->cull, o->edges);
  if (status != SLAB_OK || !has_own_rays(o)) return status;
  const slab_status own = check_own_rays(c->function, c->query, c->n, o);
  return own == SLAB_OK ? check_worlds(c->function, c->scene, c->n, o->worlds) : own;
}

/* Begins a cast on the snapshot of the last commit. After a success its end is scene_leave. */
static slab_status enter(const slab_scene *scene, cast *c, scene_reading *reading) {
  slab_status status = scene_check(scene, c->function);
  if (status == SLAB_OK) status = scene_enter(scene, c->function, reading);
  if (status != SLAB_OK) return status;
  c->scene = reading->scene;
  return SLAB_OK;
}

static slab_status cast_each_result(cast *c, size_t stride) {
  if (is_far_cast(c)) return far_cast_each(c, stride);
  return stride == c->result_size ? schedule_rays(c) : cast_apart(c, stride);
}

/* All queries with one result per ray, so many bytes from one to the next. */
static slab_status cast_single(slab_scene *scene, cast *c, size_t stride) {
  scene_reading reading;
  slab_status status = enter(scene, c, &reading);
  if (status != SLAB_OK) return status;
  status = check_cast(c);
  if (status == SLAB_OK && c->n > 0 && c->results == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "%s: the results array is NULL", c->function);
  if (status == SLAB_OK) status = cast_each_result(c, stride);
  scene_leave(&reading);
  if (status == SLAB_OK && c->options != NULL && c->options->invalid != NULL) *c->options->invalid = c->invalid;
  return status;
}

static slab_status cast_each(const char *function, slab_query query, slab_scene *scene, const slab_ray *rays, size_t n,
                             void *results, const slab_cast_options *options) {
  ARITHMETIC callers = arithmetic_begin();
  /* every member by itself: for those left out compilers zero all of them first, which a call of one ray feels */
  cast c = {function, NULL, query,   rays, n,    0,   results,  slab_result_size(query),
            NULL,     NULL, options, 0,    n,    0,   &callers, {0, 0, 0, NULL, NULL},
            NULL,     NULL, NULL,    NULL, NULL, NULL};
  return cast_single(scene, &c, c.result_size);
}

slab_status slab_closest(slab_scene *scene, const slab_ray *rays, size_t n, slab_hit *hits,
                         const slab_cast_options *options) {
  return cast_each("slab_closest", SLAB_CLOSEST, scene, rays, n, hits, options);
}

slab_status slab_distance(slab_scene *scene, const slab_ray *rays, size_t n, float *t,
                          const slab_cast_options *options) {
  return cast_each("slab_distance", SLAB_DISTANCE, scene, rays, n, t, options);
}

slab_status slab_nearest(slab_scene *scene, const slab_ray *rays, size_t n, slab_short_hit *hits,
                         const slab_cast_options *options) {
  return cast_each("slab_nearest", SLAB_NEAREST, scene, rays, n, hits, options);
}

slab_status slab_any(slab_scene *scene, const slab_ray *rays, size_t n, uint8_t *occluded,
                     const slab_cast_options *options) {
  return cast_each("slab_any", SLAB_ANY, scene, rays, n, occluded, options);
}

slab_status slab_count(slab_scene *scene, const slab_ray *rays, size_t n, uint32_t *counts,
                       const slab_cast_options *options) {
  return cast_each("slab_count", SLAB_COUNT, scene, rays, n, counts, options);
}

slab_status slab_interval_of(slab_scene *scene, const slab_ray *rays, size_t n, slab_interval *intervals,
                             const slab_cast_options *options) {
  return cast_each("slab_interval_of", SLAB_INTERVAL, scene, rays, n, intervals, options);
}

static slab_status cast_lists(slab_scene *scene, cast *c, uint64_t *offsets, uint64_t capacity, uint64_t *required) {
  scene_reading reading;
  slab_status status = enter(scene, c, &reading);
  if (status != SLAB_OK) return status;
  status = check_cast(c);
  if (status == SLAB_OK)
    status = is_far_cast(c) ? far_cast_all(c, offsets, capacity, required) : cast_all(c, offsets, capacity, required);
  scene_leave(&reading);
  return status;
}

slab_status slab_all(slab_scene *scene, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
                     uint64_t capacity, uint64_t *required, const slab_cast_options *options) {
  ARITHMETIC callers = arithmetic_begin();
  cast c = {"slab_all", NULL, SLAB_ALL, rays, n, 0, hits, slab_result_size(SLAB_ALL), .options = options};
  c.callers = &callers;
  return cast_lists(scene, &c, offsets, capacity, required);
}

/* ---- any source ---- */

static slab_status check_source(slab_query query, const slab_source *s, const slab_results *r) {
  const char *missing = s == NULL ? "source" : r == NULL ? "results" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_cast: %s is NULL", missing);
  if (s->reserved != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: the reserved place of the source is not NULL");
  if ((s->set != NULL) + (s->rays != NULL) + (s->rays64 != NULL) > 1)
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: the source has %s and %s", s->rays != NULL ? "rays" : "rays64",
                s->set != NULL ? "a set" : "rays64");
  const slab_status status = s->set != NULL ? ray_set_check_part("slab_cast", s->set, s->first, s->n) : SLAB_OK;
  return status == SLAB_OK ? sums_check(query, s, r) : status;
}

static slab_status cast_sums(slab_scene *scene, cast *c, const slab_source *source, const slab_results *results) {
  row_sums sums = {0};
  slab_status status = sums_open(c->query, source, results, &sums);
  c->sums = &sums;
  if (status == SLAB_OK) status = cast_single(scene, c, c->result_size);
  if (status == SLAB_OK) sums_write(&sums, source->n / sums.told.columns, results);
  sums_close(&sums, results);
  return status;
}

static slab_status cast_source(slab_scene *scene, cast *c, const slab_source *source, slab_results *results) {
  const size_t size = source->rays64 != NULL ? slab_result_size64(c->query) : c->result_size;
  if (results->type != SLAB_RESULT_RAYS) return cast_sums(scene, c, source, results);
  return c->query == SLAB_ALL ? cast_lists(scene, c, results->offsets, results->capacity, &results->required)
                              : cast_single(scene, c, results->stride != 0 ? results->stride : size);
}

slab_status slab_cast(slab_scene *scene, slab_query query, const slab_source *source, slab_results *results,
                      const slab_cast_options *options) {
  ARITHMETIC callers = arithmetic_begin();
  if ((unsigned)query >= SLAB_QUERY_COUNT)
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: query is %d, not a slab_query", (int)query);
  const slab_status status = check_source(query, source, results);
  if (status != SLAB_OK) return status;
  cast c = {"slab_cast",       NULL, query, source->rays, source->n, 0, results->memory, slab_result_size(query),
            .options = options};
  c.progress_total = c.n;
  c.callers = &callers;
  c.rays64 = source->rays64;
  set_rays set;
  float *tables = NULL;
  if (source->set != NULL) {
    set = ray_set_part(source->set, source->first, source->n);
    c.set = &set;
    if (scene != NULL && !ray_set_near(scene->origin, source->set->offset, &set, &tables))
      return fail_memory(0, "the tables of a set");
  }
  const slab_status done = cast_source(scene, &c, source, results);
  free(tables);
  return done;
}
