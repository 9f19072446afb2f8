/* The public calls that ask points. They go through the scheduler as casts do. */
#include "base/arithmetic.h"
#include "base/status.h"
#include "device/context.h"
#include "scene/scene.h"
#include "schedule/scheduler.h"
#include "work/uniforms.h"

static const size_t result_sizes[SLAB_POINT_QUERY_COUNT] = {
    [SLAB_CLOSEST_POINTS] = sizeof(slab_closest_point),
    [SLAB_CLOSEST_DISTANCES] = sizeof(float),
    [SLAB_POINTS_WITHIN] = sizeof(uint8_t),
    [SLAB_WINDING] = sizeof(int32_t),
};

size_t slab_point_result_size(slab_point_query query) {
  return (unsigned)query < SLAB_POINT_QUERY_COUNT ? result_sizes[query] : 0;
}

static void point_options_take(const slab_point_options *o, asked_points *asked, slab_cast_options *options) {
  *options = (slab_cast_options){
      .mask = o->mask, .masks = o->masks, .progress = o->progress, .user = o->user, .invalid = o->invalid};
  asked->radii = o->radii;
  asked->radius = o->radius > 0.0f ? o->radius : INFINITY;
}

static slab_status ask(const char *function, slab_point_query query, slab_scene *scene, const float *points, size_t n,
                       void *results, const slab_point_options *given) {
  static const slab_point_options none = {0};
  const slab_point_options *o = given != NULL ? given : &none;
  ARITHMETIC callers = arithmetic_begin();
  scene_reading reading;
  asked_points asked = {.query = query, .points = points};
  slab_cast_options options;
  cast c = {function,        .query = point_programs(query), .n = n, .results = results, .options = &options,
            .points = &asked};
  c.result_size = slab_point_result_size(query);
  c.progress_total = n;
  c.callers = &callers;
  slab_status status = scene_check(scene, function);
  if (status == SLAB_OK) status = scene_enter(scene, function, &reading);
  if (status != SLAB_OK) return status;
  c.scene = reading.scene;
  if (n > 0 && (points == NULL || results == NULL))
    status = fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, points == NULL ? "points" : "the results array");
  if (status == SLAB_OK) status = check_point_options(function, query, n, o);
  if (status == SLAB_OK) status = check_is_rigid(function, query, c.scene);
  point_options_take(o, &asked, &options);
  if (status == SLAB_OK) status = schedule_rays(&c);
  scene_leave(&reading);
  if (status == SLAB_OK && options.invalid != NULL) *options.invalid = c.invalid;
  return status;
}

slab_status slab_closest_points(slab_scene *scene, const float *points, size_t n, slab_closest_point *results,
                                const slab_point_options *options) {
  return ask("slab_closest_points", SLAB_CLOSEST_POINTS, scene, points, n, results, options);
}

slab_status slab_closest_distances(slab_scene *scene, const float *points, size_t n, float *distances,
                                   const slab_point_options *options) {
  return ask("slab_closest_distances", SLAB_CLOSEST_DISTANCES, scene, points, n, distances, options);
}

slab_status slab_points_within(slab_scene *scene, const float *points, size_t n, uint8_t *within,
                               const slab_point_options *options) {
  return ask("slab_points_within", SLAB_POINTS_WITHIN, scene, points, n, within, options);
}

slab_status slab_winding(slab_scene *scene, const float *points, size_t n, int32_t *windings,
                         const slab_point_options *options) {
  return ask("slab_winding", SLAB_WINDING, scene, points, n, windings, options);
}
