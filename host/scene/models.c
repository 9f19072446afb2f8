#include "scene/models.h"

#include <math.h>

#include "base/extremes.h"
#include "base/pool.h"
#include "base/status.h"
#include "device/context.h"
#include "maths/primitive.h"
#include "os/thread.h"
#include "scene/scene.h"
#include "shapes/values.h"

enum { PRIMITIVES_A_PIECE = 1 << 14 };

/* ---- transforms in each other ---- */

transform_reach model_reach(const snapshot *model) {
  transform_reach most = {0.0, 0.0, 0.0};
  for (uint32_t g = 0; g < model->geometries; g++)
    for (uint32_t i = 0; model->groups[g] != NULL && i < model->groups[g]->count; i++) {
      const linear m = transform_linear(&model->groups[g]->instances[i]);
      most = transform_farther(most, transform_reach_of(&m));
      most = transform_farther(most, transform_reach_within(&m, &model->models[g].measure.reach));
    }
  return most;
}

/* An instance in a model whose map, with those that lead there, is refused. */
typedef struct refused_product {
  const char *why; /* NULL: there is none */
  double value;
  uint32_t depth, geometry, instance;
} refused_product;

static refused_product refused_in(const snapshot *model, const linear *outer, uint32_t depth) {
  for (uint32_t g = 0; g < model->geometries; g++)
    for (uint32_t i = 0; model->groups[g] != NULL && i < model->groups[g]->count; i++) {
      const linear own = transform_linear(&model->groups[g]->instances[i]), m = transform_linear_within(outer, &own);
      refused_product r = {.depth = depth, .geometry = model->table[g].id, .instance = i};
      r.why = transform_linear_refusal(&m, &r.value);
      if (r.why == NULL && !transform_is_short(transform_reach_within(&m, &model->models[g].measure.reach)))
        r = refused_in(model->models[g].snapshot, &m, depth + 1);
      if (r.why != NULL) return r;
    }
  return (refused_product){.why = NULL};
}

slab_status model_allows(const char *function, slab_status status, const instance_group *group, const snapshot *model,
                         const transform_reach *reach) {
  for (uint32_t i = 0; model->has_instances && i < group->count; i++) {
    const linear m = transform_linear(&group->instances[i]);
    if (transform_is_short(transform_reach_within(&m, reach))) continue;
    const refused_product r = refused_in(model, &m, 1);
    if (r.why != NULL)
      return fail(status, "%s: transform %u, with that of instance %u of geometry %u, %u %s below, %s (%g)", function,
                  i, r.instance, r.geometry, r.depth, r.depth == 1 ? "model" : "models", r.why, r.value);
  }
  return SLAB_OK;
}

/* ---- facts about a model ---- */

static void extent_grow(double extent[DIRECTIONS], const float low[3], const float high[3]) {
  const double x[3] = {-low[0], 0.0, high[0]}, y[3] = {-low[1], 0.0, high[1]}, z[3] = {-low[2], 0.0, high[2]};
  for (int d = 0; d < DIRECTIONS; d += 3) {
    const double yz = y[d / 3 % 3] + z[d / 9];
    for (int k = 0; k < 3; k++) extent[d + k] = greater(x[k] + yz, extent[d + k]);
  }
}

typedef struct extent_joining {
  const snapshot *model;
  uint32_t geometry;
  os_mutex lock;
  double *to;
} extent_joining;

/* Of primitives none of which is outside a BVH. */
static void join_some(void *argument, size_t first, size_t end) {
  extent_joining *e = argument;
  const slab_shape kind = (slab_shape)e->model->table[e->geometry].kind;
  const geometry_values *of = e->model->values[e->geometry];
  double extent[DIRECTIONS];
  float space[FLOATS_MOST], low[3], high[3];
  for (int d = 0; d < DIRECTIONS; d++) extent[d] = -INFINITY;
  for (size_t i = first; i < end; i++) {
    const float *values = values_at(of, primitive_floats(kind), (uint32_t)i, space);
    if (primitive_is_void(kind, values)) continue;
    primitive_bounds(kind, values, low, high);
    extent_grow(extent, low, high);
  }
  os_mutex_lock(&e->lock);
  for (int d = 0; d < DIRECTIONS; d++) e->to[d] = greater(extent[d], e->to[d]);
  os_mutex_unlock(&e->lock);
}

static model_measure measure_model(const slab_context *context, const snapshot *model) {
  model_measure m = {.bounded = true, .reach = {0.0, 0.0, 0.0}};
  extent_joining e = {.model = model, .lock = OS_MUTEX, .to = m.extent};
  for (int d = 0; d < DIRECTIONS; d++) m.extent[d] = -INFINITY;
  for (uint32_t g = 0; g < model->geometries; g++)
    m.bounded = m.bounded && (is_hidden(model, g) || model->values[g]->outside == 0);
  for (e.geometry = 0; m.bounded && e.geometry < model->geometries; e.geometry++)
    if (!is_hidden(model, e.geometry))
      pool_loop(context->threads, model->table[e.geometry].count, PRIMITIVES_A_PIECE, join_some, &e);
  os_mutex_destroy(&e.lock);
  for (int d = 0; d < DIRECTIONS && !isinf(m.extent[DIRECTION_NONE]); d++)
    m.bounded = m.bounded && isfinite(m.extent[d]);
  if (model->has_instances) m.reach = model_reach(model);
  return m;
}

/* ---- held ---- */

slab_status model_hold(const char *function, const instance_group *group, const held_model *last, held_model *held) {
  scene_reading reading;
  const slab_status status = scene_enter(group->model, function, &reading);
  if (status != SLAB_OK) return status;
  held->scene = group->model;
  scene_hold(&reading, &held->snapshot);
  scene_leave(&reading);
  held->measure =
      last->snapshot == held->snapshot ? last->measure : measure_model(group->model->context, held->snapshot);
  return model_allows(function, SLAB_INVALID_STATE, group, held->snapshot, &held->measure.reach);
}
