/* The public calls that cast: argument checks, and counting of hits before they are listed. */
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/moved.h"
#include "base/status.h"
#include "device/context.h"
#include "scene/scene.h"
#include "schedule/ray_sets.h"
#include "schedule/scheduler.h"
#include "schedule/sums.h"
#include "work/hit_batch.h"
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

/* Begins a cast on what the last commit made. After a success its end is scene_leave. */
static slab_status enter(const slab_scene *scene, cast *c, scene_reading *reading) {
  slab_status status = scene_check(scene, c->function);
  if (status == SLAB_OK) status = scene_enter(scene, c->function, reading);
  if (status != SLAB_OK) return status;
  c->scene = reading->scene;
  return SLAB_OK;
}

/* Casts the n rays from `first` on alone; `rays` are these. offsets: for SLAB_ALL, those of these rays. */
static slab_status cast_these(cast *c, slab_query query, const slab_ray *rays, size_t first, size_t n, void *results,
                              const uint64_t *offsets) {
  slab_cast_options options = {0};
  if (c->options != NULL) options = *c->options;
  if (options.skip != NULL) options.skip += first;
  if (options.masks != NULL) options.masks += first;
  if (options.after != NULL) options.after += first;
  if (options.worlds != NULL) options.worlds += first;
  cast some = *c;
  set_rays set;
  some.query = query;
  if (c->set != NULL) {
    set = set_part(c->set, first, n);
    some.set = &set;
  }
  some.rays = rays;
  some.n = n;
  some.before = first;
  some.results = results;
  some.result_size = slab_result_size(query);
  some.offsets = offsets;
  some.collected = NULL;
  some.options = &options;
  const slab_status status = schedule_rays(&some);
  c->progress_done = some.progress_done;
  c->invalid = some.invalid;
  return status;
}

static slab_status cast_some(cast *c, slab_query query, size_t first, size_t n, void *results,
                             const uint64_t *offsets) {
  return cast_these(c, query, c->rays != NULL ? c->rays + first : NULL, first, n, results, offsets);
}

/* Rays whose results are moved apart at once. */
#define CAST_APART ((size_t)1 << 18)

/* Casts rays whose results do not follow each other, some at a time. */
static slab_status cast_apart(cast *c, size_t stride) {
  const size_t size = c->result_size, most = c->n < CAST_APART ? c->n : CAST_APART;
  unsigned char *results = malloc(most * size + 1);
  slab_status status = results != NULL ? SLAB_OK : fail_memory(most * size, "results");
  for (size_t first = 0; status == SLAB_OK && first < c->n; first += most) {
    const size_t n = c->n - first < most ? c->n - first : most;
    unsigned char *to = (unsigned char *)c->results + first * stride;
    status = cast_some(c, c->query, first, n, results, NULL);
    for (size_t i = 0; status == SLAB_OK && i < n; i++) memcpy(to + i * stride, results + i * size, size);
  }
  free(results);
  return status;
}

/* ---- rays of the world ---- */

/* Float rays in place of a source's, n of them at most. All NULL: memory is short. */
typedef struct far_room {
  slab_ray *rays;
  far_lines lines;
  void *results; /* of rays of the scene */
} far_room;

static void far_room_free(far_room *r) {
  free(r->rays);
  free(r->lines.begin);
  free(r->lines.unit);
  free(r->results);
}

static slab_status far_room_make(size_t n, size_t result_size, far_room *r) {
  const size_t fours = 4 * far_rows(n);
  *r = (far_room){malloc((n + 1) * sizeof *r->rays),
                  {malloc(fours * sizeof(double) + 1), malloc(fours * sizeof(double) + 1)},
                  malloc(n * result_size + 1)};
  if (r->rays != NULL && r->lines.begin != NULL && r->lines.unit != NULL && r->results != NULL) return SLAB_OK;
  far_room_free(r);
  return fail_memory(n * (sizeof *r->rays + 2 * sizeof(double) + result_size), "rays");
}

/* What t of the scene's own rays would be for, and those of the world do not have. */
static slab_status check_far(const cast *c, const far_source *from) {
  if (from->rays64 == NULL && c->options != NULL && c->options->after != NULL)
    return fail(SLAB_UNSUPPORTED, "%s: after, in a scene whose origin is not 0, with rays that are not of doubles",
                c->function);
  if (c->sums != NULL && c->query != SLAB_ANY)
    return fail(SLAB_UNSUPPORTED, "%s: sums of t, of rays of doubles or in a scene whose origin is not 0", c->function);
  return SLAB_OK;
}

/* Rays of the world that are made at once: the caches hold these until they are cast, and a bus wants more. */
static size_t far_at_once(const cast *c) {
  const size_t most = c->scene->context->devices[0].in_place ? (size_t)1 << 16 : (size_t)1 << 20;
  return c->n < most ? c->n : most;
}

/* Casts rays of the world with one result a ray, some at a time. */
static slab_status cast_far(cast *c, const far_source *from, size_t stride) {
  const far_frame frame = far_frame_of(&c->scene->stats);
  const uint32_t threads = c->scene->context->threads;
  const size_t most = far_at_once(c);
  far_room room;
  slab_status status = far_room_make(most, slab_result_size(c->query), &room);
  if (status != SLAB_OK) return status;
  for (size_t first = 0; status == SLAB_OK && first < c->n; first += most) {
    const size_t n = c->n - first < most ? c->n - first : most;
    far_rays_make(threads, &frame, from, first, n, room.rays, &room.lines);
    status = cast_these(c, c->query, room.rays, first, n, room.results, NULL);
    if (status == SLAB_OK)
      far_results_put(threads, c->query, from, &room.lines, first, n, room.results, (char *)c->results + first * stride,
                      stride);
  }
  far_room_free(&room);
  return status;
}

/* Makes all rays of a cast at once: of lists and sums, which are one. far_room_free follows a success. */
static slab_status cast_all_near(cast *c, const far_source *from, far_room *room) {
  const far_frame frame = far_frame_of(&c->scene->stats);
  const slab_status status = far_room_make(c->n, 0, room);
  if (status != SLAB_OK) return status;
  far_rays_make(c->scene->context->threads, &frame, from, 0, c->n, room->rays, &room->lines);
  c->rays = room->rays;
  return SLAB_OK;
}

/* Whether a cast's rays are of the world and not of the scene. */
static bool is_far(const cast *c) { return c->set == NULL && (c->rays64 != NULL || is_moved(c->scene->stats.origin)); }

static slab_status cast_sums_far(cast *c, const far_source *from) {
  far_room room;
  slab_status status = cast_all_near(c, from, &room);
  if (status != SLAB_OK) return status;
  status = schedule_rays(c);
  far_room_free(&room);
  return status;
}

static slab_status cast_each_result(cast *c, size_t stride) {
  const far_source from = {c->rays, c->rays64};
  if (!is_far(c)) return stride == c->result_size ? schedule_rays(c) : cast_apart(c, stride);
  const slab_status status = check_far(c, &from);
  if (status != SLAB_OK) return status;
  return c->sums != NULL ? cast_sums_far(c, &from) : cast_far(c, &from, stride);
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
  cast c = {function, NULL, query,   rays, n,   0, results,  slab_result_size(query),
            NULL,     NULL, options, 0,    n,   0, &callers, {0, 0, 0, NULL, NULL},
            NULL,     NULL, NULL,    NULL, NULL};
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

/* ---- all hits ---- */

/* Counts the hits of the rays from `first` on without keeping hits. */
static slab_status count_rest(cast *c, size_t first, uint64_t *counts) {
  const size_t n = c->n - first;
  uint32_t *counted = malloc(n * sizeof *counted + 1);
  if (counted == NULL) return fail_memory(n * sizeof *counted, "hit counts");
  const slab_status status = cast_some(c, SLAB_COUNT, first, n, counted, NULL);
  const uint32_t most = max_hits(c) != 0 ? max_hits(c) : UINT32_MAX;
  for (size_t i = 0; status == SLAB_OK && i < n; i++) counts[first + i] = counted[i] < most ? counted[i] : most;
  free(counted);
  return status;
}

/* Counts all hits. With a capacity, also collects the hits of as many rays as the collection holds. */
static slab_status count_offsets(cast *c, collection *to, uint64_t *offsets) {
  cast collecting = *c;
  collecting.collected = to;
  slab_status status = to->most > 0 ? schedule_rays(&collecting) : SLAB_OK;
  c->progress_done = collecting.progress_done;
  c->invalid = collecting.invalid;
  if (status == SLAB_OK && to->rays < c->n) status = count_rest(c, to->rays, to->counts);
  if (status != SLAB_OK) return status;
  uint64_t sum = offsets[0] = 0;
  for (size_t i = 1; i <= c->n; i++) offsets[i] = sum += offsets[i];
  return SLAB_OK;
}

/* Copies collected hits to their places, and casts the rays again whose hits were not collected. */
static slab_status fill_in(cast *c, const collection *from, const uint64_t *offsets) {
  slab_status status = SLAB_OK;
  size_t end = c->n;
  batches_place(from->batches, offsets, c->results, c->scene->context->threads);
  for (const hit_batch *b = from->batches; b != NULL && status == SLAB_OK; b = b->next) {
    if (b->lost) continue;
    const size_t next = b->first + b->rays;
    if (next < end) status = cast_some(c, SLAB_ALL, next, end - next, c->results, offsets + next);
    end = b->first;
  }
  return status == SLAB_OK && end > 0 ? cast_some(c, SLAB_ALL, 0, end, c->results, offsets) : status;
}

/* capacity 0: the offsets alone. */
static slab_status cast_all(cast *c, uint64_t *offsets, uint64_t capacity, uint64_t *required) {
  slab_status status = check_cast(c);
  if (status == SLAB_OK && offsets == NULL) status = fail(SLAB_INVALID_ARGUMENT, "%s: offsets is NULL", c->function);
  if (status == SLAB_OK && capacity > 0 && c->results == NULL)
    status =
        fail(SLAB_INVALID_ARGUMENT, "%s: hits is NULL and capacity %llu", c->function, (unsigned long long)capacity);
  if (status != SLAB_OK) return status;
  c->progress_total = capacity > 0 ? 2 * (uint64_t)c->n : c->n;
  collection collected = {.counts = offsets + 1, .most = capacity};
  status = count_offsets(c, &collected, offsets);
  if (status == SLAB_OK && required != NULL) *required = offsets[c->n];
  if (status == SLAB_OK && c->options != NULL && c->options->invalid != NULL) *c->options->invalid = c->invalid;
  if (status == SLAB_OK && capacity > 0 && capacity < offsets[c->n])
    status = fail(SLAB_CAPACITY, "%s: %llu hits, and capacity is %llu", c->function, (unsigned long long)offsets[c->n],
                  (unsigned long long)capacity);
  if (status == SLAB_OK && capacity > 0) status = fill_in(c, &collected, offsets);
  batches_free(collected.batches);
  return status;
}

/* The hits are listed where the caller wants them, and turned there. */
static slab_status cast_all_far(cast *c, uint64_t *offsets, uint64_t capacity, uint64_t *required) {
  const far_source from = {c->rays, c->rays64};
  far_room room;
  slab_status status = check_cast(c);
  if (status == SLAB_OK) status = check_far(c, &from);
  if (status == SLAB_OK) status = cast_all_near(c, &from, &room);
  if (status != SLAB_OK) return status;
  status = cast_all(c, offsets, capacity, required);
  if (status == SLAB_OK && capacity > 0) far_lists_put(&from, &room.lines, c->n, offsets, c->results);
  far_room_free(&room);
  return status;
}

static slab_status cast_lists(slab_scene *scene, cast *c, uint64_t *offsets, uint64_t capacity, uint64_t *required) {
  scene_reading reading;
  slab_status status = enter(scene, c, &reading);
  if (status != SLAB_OK) return status;
  status = is_far(c) ? cast_all_far(c, offsets, capacity, required) : cast_all(c, offsets, capacity, required);
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
