#include "schedule/far_casts.h"

#include <stdlib.h>

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "schedule/lists.h"
#include "schedule/parts.h"
#include "schedule/scheduler.h"
#include "work/far_rays.h"

/* Float rays in place of a source's, n of them at most. All NULL: memory is short. */
typedef struct far_space {
  slab_ray *rays;
  far_lines lines;
  void *results; /* of rays of the scene */
} far_space;

static void far_space_free(far_space *r) {
  free(r->rays);
  free(r->lines.begin);
  free(r->lines.unit);
  free(r->results);
}

static slab_status far_space_make(size_t n, size_t result_size, far_space *r) {
  const size_t fours = 4 * far_fours(n);
  *r = (far_space){malloc((n + 1) * sizeof *r->rays),
                   {malloc(fours * sizeof(double) + 1), malloc(fours * sizeof(double) + 1)},
                   malloc(n * result_size + 1)};
  if (r->rays != NULL && r->lines.begin != NULL && r->lines.unit != NULL && r->results != NULL) return SLAB_OK;
  far_space_free(r);
  return fail_memory(n * (sizeof *r->rays + 2 * sizeof(double) + result_size), "rays");
}

/* Refuses options and sums that need t of the scene's own rays. */
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

/* Makes rays, casts them and turns their results, some at a time. */
static slab_status cast_far(cast *c, const far_cast *far) {
  const uint32_t threads = c->scene->context->threads;
  const size_t most = far_at_once(c);
  far_space space;
  slab_status status = far_space_make(most, slab_result_size(c->query), &space);
  if (status != SLAB_OK) return status;
  for (size_t first = 0; status == SLAB_OK && first < c->n; first += most) {
    const size_t n = c->n - first < most ? c->n - first : most;
    far_rays_make_all(threads, far, first, n, space.rays, &space.lines);
    status = cast_these(c, c->query, space.rays, first, n, space.results, NULL);
    if (status == SLAB_OK) far_results_put_all(threads, far, first, n, &space.lines, space.results);
  }
  far_space_free(&space);
  return status;
}

/* Whether pieces of a cast make their rays and turn their results: these stay in the nearest cache. */
static bool makes_there(const slab_context *context) {
  for (uint32_t i = 0; i < context->device_count; i++)
    if (!context->devices[i].backend->far) return false;
  return true;
}

static slab_status cast_there(cast *c, const far_cast *far) {
  c->far = far;
  c->rays = NULL;
  return schedule_rays(c);
}

static far_cast far_cast_of(const cast *c, size_t stride) {
  return (far_cast){
      far_frame_of(&c->scene->stats, c->scene->unbounded), {c->rays, c->rays64}, c->query, c->results, stride};
}

/* Makes all rays of a cast at once: of lists and sums, which are one. far_space_free follows a success. */
static slab_status cast_all_near(cast *c, const far_cast *far, far_space *space) {
  const slab_status status = far_space_make(c->n, 0, space);
  if (status != SLAB_OK) return status;
  far_rays_make_all(c->scene->context->threads, far, 0, c->n, space->rays, &space->lines);
  c->rays = space->rays;
  return SLAB_OK;
}

static slab_status cast_sums_far(cast *c, const far_cast *far) {
  far_space space;
  slab_status status = cast_all_near(c, far, &space);
  if (status != SLAB_OK) return status;
  status = schedule_rays(c);
  far_space_free(&space);
  return status;
}

slab_status far_cast_each(cast *c, size_t stride) {
  const far_cast far = far_cast_of(c, stride);
  const slab_status status = check_far(c, &far.from);
  if (status != SLAB_OK) return status;
  if (c->sums != NULL) return cast_sums_far(c, &far);
  return makes_there(c->scene->context) ? cast_there(c, &far) : cast_far(c, &far);
}

/* The hits are listed where the caller wants them, and turned there. */
slab_status far_cast_all(cast *c, uint64_t *offsets, uint64_t capacity, uint64_t *required) {
  const far_cast far = far_cast_of(c, 0);
  far_space space;
  slab_status status = check_far(c, &far.from);
  if (status == SLAB_OK) status = cast_all_near(c, &far, &space);
  if (status != SLAB_OK) return status;
  status = cast_all(c, offsets, capacity, required);
  if (status == SLAB_OK && capacity > 0) far_lists_put(&far.from, &space.lines, c->n, offsets, c->results);
  far_space_free(&space);
  return status;
}
