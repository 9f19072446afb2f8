#include "schedule/far_casts.h"

#include <stdlib.h>

#include "base/status.h"
#include "device/context.h"
#include "schedule/lists.h"
#include "schedule/parts.h"
#include "schedule/scheduler.h"
#include "work/far_rays.h"

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

static slab_status cast_sums_far(cast *c, const far_source *from) {
  far_room room;
  slab_status status = cast_all_near(c, from, &room);
  if (status != SLAB_OK) return status;
  status = schedule_rays(c);
  far_room_free(&room);
  return status;
}

slab_status far_cast_each(cast *c, size_t stride) {
  const far_source from = {c->rays, c->rays64};
  const slab_status status = check_far(c, &from);
  if (status != SLAB_OK) return status;
  return c->sums != NULL ? cast_sums_far(c, &from) : cast_far(c, &from, stride);
}

/* The hits are listed where the caller wants them, and turned there. */
slab_status far_cast_all(cast *c, uint64_t *offsets, uint64_t capacity, uint64_t *required) {
  const far_source from = {c->rays, c->rays64};
  far_room room;
  slab_status status = check_far(c, &from);
  if (status == SLAB_OK) status = cast_all_near(c, &from, &room);
  if (status != SLAB_OK) return status;
  status = cast_all(c, offsets, capacity, required);
  if (status == SLAB_OK && capacity > 0) far_lists_put(&from, &room.lines, c->n, offsets, c->results);
  far_room_free(&room);
  return status;
}
