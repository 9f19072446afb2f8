/* A cast's values for a chunk: the uniforms of its options, and its results. */
#include "work/uniforms.h"

#include <math.h>
#include <string.h>

#include "base/status.h"

void cast_uniforms_of(const snapshot *scene, slab_query query, const slab_cast_options *options, cast_uniforms *u) {
  *u = scene->uniforms;
  u->ids = query == SLAB_NEAREST;
  u->query = PROGRAM_QUERY(query);
  if (options == NULL) return;
  if (options->mask != 0) u->mask = options->mask;
  for (uint32_t g = 0; u->mask != UINT32_MAX && g < scene->geometries; g++)
    if ((scene->table[g].mask & u->mask) == 0) u->masked = 1;
  if (u->mask != UINT32_MAX && scene->has_instances) u->masked = 1; /* models have masks too */
  if (options->masks != NULL) u->masked = 1;
  u->rules = (uint32_t)options->cull | (options->edges == SLAB_EDGES_CLOSED ? RULE_CLOSED : 0);
  u->face_forward = options->face_forward != 0;
  u->skip = options->skip != NULL;
  u->invalid = options->invalid != NULL;
  if (query == SLAB_ALL) u->most = options->max_hits;
}

void chunk_uniforms(const cast *c, const chunk *of, cast_uniforms *u) {
  cast_uniforms_of(c->scene, c->query, c->options, u);
  u->rays = of->count;
  if (c->points != NULL) u->query = (uint32_t)c->points->query;
  if (c->sums != NULL) u->invalid = 1; /* sums look at rays where some are invalid */
  if (c->offsets != NULL) u->invalid = 0;
}

unsigned char *chunk_results(const cast *c, const chunk *of) {
  const size_t first = c->query == SLAB_ALL ? c->offsets[of->first] : of->first;
  return (unsigned char *)c->results + first * c->result_size;
}

slab_status chunk_look(const cast *c, hit_batch *b, uint32_t threads) {
  if (batch_look(b, c->scene->shown, c->collected->counts + b->first, threads)) return SLAB_OK;
  return fail(SLAB_DEVICE_FAILED, "hits are listed that cannot be, of the %u rays from %zu on", b->rays, b->first);
}

int call_progress(const slab_cast_options *options, arithmetic *callers, uint64_t done, uint64_t total) {
  arithmetic_end(callers);
  const int stop = options->progress(options->user, done, total);
  *callers = arithmetic_begin();
  return stop;
}

slab_status check_rules(const char *function, slab_cull cull, slab_edges edges) {
  if ((unsigned)cull > SLAB_CULL_FRONT)
    return fail(SLAB_INVALID_ARGUMENT, "%s: cull is %d, not a slab_cull", function, (int)cull);
  if ((unsigned)edges > SLAB_EDGES_CLOSED)
    return fail(SLAB_INVALID_ARGUMENT, "%s: edges is %d, not a slab_edges", function, (int)edges);
  return SLAB_OK;
}

slab_status check_own(const char *function, slab_query query, uint32_t mask, bool masks, bool after) {
  if (masks && mask != 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: mask is 0x%x, and masks are given; it must be 0 then", function, mask);
  if (after && query == SLAB_INTERVAL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: after is given, and intervals have no order to begin in", function);
  return SLAB_OK;
}

slab_status check_own_rays(const char *function, slab_query query, size_t n, const slab_cast_options *o) {
  const slab_status status = check_own(function, query, o->mask, o->masks != NULL, o->after != NULL);
  for (size_t i = 0; status == SLAB_OK && o->after != NULL && i < n; i++)
    if (isnan(o->after[i].t)) return fail(SLAB_INVALID_ARGUMENT, "%s: after[%zu]: t is NaN", function, i);
  return status;
}

slab_status check_worlds(const char *function, const snapshot *scene, size_t n, const uint32_t *worlds) {
  for (size_t i = 0; worlds != NULL && i < n; i++)
    if (worlds[i] > scene->worlds)
      return fail(SLAB_INVALID_ARGUMENT, "%s: worlds[%zu] is %u, and the scene has %u", function, i, worlds[i],
                  scene->worlds);
  return SLAB_OK;
}

slab_status check_point_options(const char *function, slab_point_query query, size_t n, const slab_point_options *o) {
  if (point_programs(query) == SLAB_COUNT && (o->radius != 0.0f || o->radii != NULL))
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s given, and surfaces surround points at any distance", function,
                o->radii != NULL ? "radii are" : "a radius is");
  if (!(o->radius >= 0.0f))
    return fail(SLAB_INVALID_ARGUMENT, "%s: radius is %g, and must be 0 or more", function, (double)o->radius);
  if (o->radius != 0.0f && o->radii != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: radius is %g, and radii are given; it must be 0 then", function,
                (double)o->radius);
  for (size_t i = 0; o->radii != NULL && i < n; i++)
    if (!(o->radii[i] >= 0.0f))
      return fail(SLAB_INVALID_ARGUMENT, "%s: radii[%zu] is %g, and must be 0 or more", function, i,
                  (double)o->radii[i]);
  return check_own(function, SLAB_CLOSEST, o->mask, o->masks != NULL, false);
}

/* The squared distances of instances are those of their models, scaled. */
slab_status check_is_rigid(const char *function, slab_point_query query, const snapshot *scene) {
  if (scene->skewed == SLAB_MISS || point_programs(query) == SLAB_COUNT) return SLAB_OK;
  return fail(SLAB_UNSUPPORTED, "%s: geometry %u is in an instance that is not rigid but for a scale, within 1e-5",
              function, scene->skewed);
}
