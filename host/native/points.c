/* Queries of points on the processor, in the caller's arrays. The threads of the pool take pieces of a chunk's points.
 * Points in no order are taken along a curve, so that neighbours follow each other. The closest primitive of one is
 * near for the next, and the parts of the BVH that it reads are in the cache. */
#include <stdlib.h>

#include "base/pool.h"
#include "base/status.h"
#include "device/context.h"
#include "native/native.h"
#include "work/ray_order.h"

/* Points of a piece at most, and pieces for each thread at least. */
#define POINTS_A_PIECE 256u
#define PIECES_A_THREAD 8u
/* Fewer points are not sorted: it would take longer than it saves. */
#define SORTED_LEAST 1024u

typedef struct points_job {
  const cast *cast;
  const native_scene *scene;
  native_kernel kernel;
  native_program program;
  native_boundary *boundary; /* NULL: winding numbers stay whole, or the query has none */
  cast_uniforms uniforms;
  const float *points, *radii;
  const uint32_t *masks, *worlds, *order;
  void *results;
  uint32_t invalid, collapsed_root;
} points_job;

/* Right after, while the points are in the cache. */
static void run_boundary(const points_job *j, size_t number) {
  const boundary *of = j->cast->boundary;
  j->boundary(number, j->points, j->results, j->order, j->masks, j->worlds, of->values, of->of_trees, of->trees,
              j->uniforms.mask, j->uniforms.rays, j->uniforms.rays_each);
}

static void run_piece(void *argument, size_t number) {
  points_job *j = argument;
  const native_scene *s = j->scene;
  const float radius = j->cast->points->radius;
  if (j->program == NATIVE_POINTS_FLAT)
    j->kernel.points_flat(number, j->points, j->results, j->order, j->radii, j->masks, j->worlds, &j->invalid, s->table,
                          s->blocks, j->uniforms, radius);
  else if (j->program == NATIVE_POINTS_WIDE)
    j->kernel.points_wide(number, j->points, j->results, j->order, j->radii, j->masks, j->worlds, &j->invalid, s->table,
                          s->blocks, j->uniforms, radius, s->nodes, j->collapsed_root);
  else
    j->kernel.points_compressed(number, j->points, j->results, j->order, j->radii, j->masks, j->worlds, &j->invalid,
                                s->table, s->blocks, j->uniforms, radius, s->nodes, j->collapsed_root);
  if (j->boundary != NULL) run_boundary(j, number);
}

static uint32_t points_each(const device_scene *on, uint32_t count) {
  const uint32_t fair = count / (PIECES_A_THREAD * on->device->info.compute_units);
  return fair < 1 ? 1 : fair < POINTS_A_PIECE ? fair : POINTS_A_PIECE;
}

/* The order in which points are taken; NULL: as they stand. */
static slab_status order_of(const cast *c, const device_scene *on, const points_job *j, uint32_t **order) {
  const slab_scene_stats *bounds = &on->scene->stats;
  const uint32_t n = j->uniforms.rays;
  *order = NULL;
  if (n < SORTED_LEAST || !on->scene->has_bvh || points_are_near(j->points, n, bounds->lower, bounds->upper))
    return SLAB_OK;
  *order = points_sorted(j->points, n, bounds->lower, bounds->upper, c->scene->context->threads);
  return *order != NULL ? SLAB_OK : fail_memory(n * sizeof **order, "the order of points");
}

slab_status native_cast_points(const cast *c, const device_scene *on, const chunk *of, chunk_outcome *outcome) {
  const asked_points *asked = c->points;
  const native_device *n = on->device->opened;
  uint32_t *order;
  points_job j = {.cast = c, .scene = on->state->uploaded, .collapsed_root = on->scene->bvh.collapsed_root};
  j.program = !on->scene->has_bvh               ? NATIVE_POINTS_FLAT
              : device_scene_has_traversals(on) ? NATIVE_POINTS_WIDE
                                                : NATIVE_POINTS_COMPRESSED;
  j.kernel = native_variant_of(on, j.program, c->query)->kernel;
  j.points = asked->points + 3 * of->first;
  j.radii = asked->radii != NULL ? asked->radii + of->first : NULL;
  j.masks = c->options->masks != NULL ? c->options->masks + of->first : NULL;
  j.worlds = c->options->worlds != NULL ? c->options->worlds + of->first : NULL;
  j.results = chunk_results(c, of);
  if (c->boundary != NULL) j.boundary = n->of[NATIVE_BOUNDARY][SLAB_CLOSEST][KINDS_all]->kernel.boundary;
  chunk_uniforms(c, of, &j.uniforms);
  j.uniforms.rays_each = points_each(on, of->count);
  const slab_status status = order_of(c, on, &j, &order);
  if (status != SLAB_OK) return status;
  j.order = order;
  pool_run(c->scene->context->threads, (of->count + j.uniforms.rays_each - 1) / j.uniforms.rays_each, run_piece, &j);
  free(order);
  *outcome = (chunk_outcome){.invalid = j.invalid};
  return SLAB_OK;
}
