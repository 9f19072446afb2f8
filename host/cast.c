/* The public calls that cast: their arguments, and what is counted before hits are listed. */
#include <stdlib.h>

#include "process.h"
#include "stream.h"

size_t slab_result_size(slab_query query) {
  switch (query) {
    case SLAB_CLOSEST:
    case SLAB_ALL:
      return sizeof(slab_hit);
    case SLAB_DISTANCE:
      return sizeof(float);
    case SLAB_ANY:
      return sizeof(uint8_t);
    case SLAB_COUNT:
      return sizeof(uint32_t);
    case SLAB_INTERVAL:
      return sizeof(slab_interval);
  }
  return 0;
}

static slab_status check_cast(const cast *c) {
  const slab_cast_options *o = c->options;
  if (c->scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: scene is NULL", c->function);
  slab_status status = process_check(c->function);
  if (status != SLAB_OK) return status;
  if (!c->scene->committed) return fail(SLAB_INVALID_STATE, "%s: the scene is not committed", c->function);
  if (c->n > 0 && c->rays == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: rays is NULL", c->function);
  return check_cull(c->function, o == NULL ? SLAB_CULL_NONE : o->cull);
}

int cast_report(const cast *c, uint64_t done) {
  arithmetic_end(c->callers);
  const int stop = c->options->progress(c->options->user, done, c->progress_total);
  *c->callers = arithmetic_begin();
  return stop;
}

/* Every query with one result a ray. */
static slab_status cast_each(const char *function, slab_query query, slab_scene *scene, const slab_ray *rays, size_t n,
                             void *results, const slab_cast_options *options) {
  ARITHMETIC callers = arithmetic_begin();
  cast c = {function, scene, query, rays, n, results, slab_result_size(query), .options = options, .progress_total = n};
  c.callers = &callers;
  slab_status status = check_cast(&c);
  if (status == SLAB_OK && n > 0 && results == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "%s: the results array is NULL", function);
  if (status == SLAB_OK) status = stream_rays(&c);
  if (status == SLAB_OK && options != NULL && options->invalid != NULL) *options->invalid = c.invalid;
  return status;
}

slab_status slab_closest(slab_scene *scene, const slab_ray *rays, size_t n, slab_hit *hits,
                         const slab_cast_options *options) {
  return cast_each("slab_closest", SLAB_CLOSEST, scene, rays, n, hits, options);
}

slab_status slab_distance(slab_scene *scene, const slab_ray *rays, size_t n, float *t,
                          const slab_cast_options *options) {
  return cast_each("slab_distance", SLAB_DISTANCE, scene, rays, n, t, options);
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

/* Counts, and from them where each ray's hits begin. */
static slab_status count_offsets(cast *c, uint64_t *offsets) {
  uint32_t *counts = malloc(c->n * sizeof *counts + 1);
  if (counts == NULL) return fail_memory(c->n * sizeof *counts, "hit counts");
  cast counting = *c;
  counting.query = SLAB_COUNT;
  counting.results = counts;
  counting.result_size = slab_result_size(SLAB_COUNT);
  slab_status status = stream_rays(&counting);
  if (status == SLAB_OK) {
    offsets[0] = 0;
    for (size_t i = 0; i < c->n; i++) offsets[i + 1] = offsets[i] + counts[i];
    c->progress_done = counting.progress_done;
    c->invalid = counting.invalid;
  }
  free(counts);
  return status;
}

slab_status slab_all(slab_scene *scene, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
                     uint64_t capacity, uint64_t *required, const slab_cast_options *options) {
  ARITHMETIC callers = arithmetic_begin();
  cast c = {"slab_all",        scene, SLAB_ALL, rays, n, hits, slab_result_size(SLAB_ALL), .offsets = offsets,
            .options = options};
  c.callers = &callers;
  slab_status status = check_cast(&c);
  if (status == SLAB_OK && offsets == NULL) status = fail(SLAB_INVALID_ARGUMENT, "slab_all: offsets is NULL");
  if (status == SLAB_OK && capacity > 0 && hits == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "slab_all: hits is NULL and capacity %llu", (unsigned long long)capacity);
  if (status != SLAB_OK) return status;
  c.progress_total = capacity > 0 ? 2 * (uint64_t)n : n;
  status = count_offsets(&c, offsets);
  if (status != SLAB_OK) return status;
  if (required != NULL) *required = offsets[n];
  if (options != NULL && options->invalid != NULL) *options->invalid = c.invalid;
  if (capacity == 0) return SLAB_OK;
  if (capacity < offsets[n])
    return fail(SLAB_CAPACITY, "slab_all: %llu hits, and capacity is %llu", (unsigned long long)offsets[n],
                (unsigned long long)capacity);
  return stream_rays(&c);
}
