/* The public calls that query points. They go through the scheduler as casts do. */
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/moved.h"
#include "base/status.h"
#include "device/context.h"
#include "scene/boundary.h"
#include "scene/scene.h"
#include "schedule/scheduler.h"
#include "work/uniforms.h"

static const size_t result_sizes[SLAB_POINT_QUERY_COUNT] = {
    [SLAB_CLOSEST_POINTS] = sizeof(slab_closest_point),
    [SLAB_CLOSEST_DISTANCES] = sizeof(float),
    [SLAB_POINTS_WITHIN] = sizeof(uint8_t),
    [SLAB_WINDING] = sizeof(int32_t),
    [SLAB_SIGNED_DISTANCES] = sizeof(float),
    [SLAB_WINDING_NUMBERS] = sizeof(float),
};

size_t slab_point_result_size(slab_point_query query) {
  return (unsigned)query < SLAB_POINT_QUERY_COUNT ? result_sizes[query] : 0;
}

static void point_options_take(const slab_point_options *o, asked_points *asked, slab_cast_options *options) {
  *options = (slab_cast_options){.mask = o->mask,
                                 .masks = o->masks,
                                 .worlds = o->worlds,
                                 .progress = o->progress,
                                 .user = o->user,
                                 .invalid = o->invalid};
  asked->radii = o->radii;
  asked->radius = o->radius > 0.0f ? o->radius : INFINITY;
}

/* The queries of all points of a call, in turn: one, or the two of a signed distance. */
typedef struct asking {
  const char *function;
  const snapshot *scene;
  const float *points;
  size_t n;
  const slab_point_options *options;
  arithmetic *callers;
  const boundary *boundary; /* as in cast */
  uint64_t done, total;     /* points that queries before have answered, and those of all of them */
  uint64_t invalid;         /* of the last query */
} asking;

static slab_status ask_one(asking *a, slab_point_query query, void *results) {
  asked_points asked = {.query = query, .points = a->points};
  slab_cast_options options;
  cast c = {a->function,     .query = point_programs(query), .n = a->n, .results = results, .options = &options,
            .points = &asked};
  c.result_size = slab_point_result_size(query);
  c.progress_done = a->done;
  c.progress_total = a->total;
  c.callers = a->callers;
  c.scene = a->scene;
  c.boundary = a->boundary;
  point_options_take(a->options, &asked, &options);
  const slab_status status = schedule_rays(&c);
  a->done = c.progress_done;
  a->invalid = c.invalid;
  return status;
}

/* A radius bounds the distance alone: winding has none. */
static slab_status ask_signs(asking *a, float *distances) {
  int32_t *windings = malloc(a->n * sizeof *windings + 1);
  if (windings == NULL) return fail_memory(a->n * sizeof *windings, "the windings of points");
  const slab_status status = ask_one(a, SLAB_WINDING, windings);
  for (size_t i = 0; status == SLAB_OK && i < a->n; i++) distances[i] = signed_distance(distances[i], windings[i]);
  free(windings);
  return status;
}

/* Points of the world, of either type. */
typedef struct world_points {
  const float *floats;   /* NULL: they are doubles */
  const double *doubles; /* NULL: they are floats */
} world_points;

/* The same as the scene's own. */
static float *points_near(const double origin[3], const world_points *p, size_t n) {
  float *near = malloc(3 * n * sizeof *near + 1);
  for (size_t i = 0; near != NULL && i < 3 * n; i++)
    near[i] = (float)((p->doubles != NULL ? p->doubles[i] : (double)p->floats[i]) - origin[i % 3]);
  return near;
}

/* The reverse, of the points that were found. A miss stays 0. */
static void points_put(const double origin[3], slab_closest_point *found, size_t n) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < 3 && found[i].primitive < SLAB_INVALID; k++)
      found[i].point[k] = (float)((double)found[i].point[k] + origin[k]);
}

/* The same in double, in place, from the end on, since a slab_closest_point64 is larger. */
static void points_put64(const double origin[3], void *found, size_t n) {
  for (size_t i = n; i-- > 0;) {
    slab_closest_point c;
    memcpy(&c, (const slab_closest_point *)found + i, sizeof c);
    slab_closest_point64 to = {.distance = c.distance,
                               .u = c.u,
                               .v = c.v,
                               .feature = c.feature,
                               .primitive = c.primitive,
                               .geometry = c.geometry};
    for (size_t k = 0; k < 3 && c.primitive < SLAB_INVALID; k++) to.point[k] = (double)c.point[k] + origin[k];
    memcpy((slab_closest_point64 *)found + i, &to, sizeof to);
  }
}

static slab_status ask_in(asking *a, slab_point_query query, void *results) {
  const bool is_signed = query == SLAB_SIGNED_DISTANCES;
  const slab_status status = ask_one(a, is_signed ? SLAB_CLOSEST_DISTANCES : query, results);
  return status == SLAB_OK && is_signed ? ask_signs(a, results) : status;
}

static slab_status ask_far(asking *a, slab_point_query query, const world_points *points, void *results) {
  const double *origin = a->scene->stats.origin;
  float *near = points_near(origin, points, a->n);
  if (near == NULL) return fail_memory(3 * a->n * sizeof *near, "points");
  a->points = near;
  const slab_status status = ask_in(a, query, results);
  if (status == SLAB_OK && query == SLAB_CLOSEST_POINTS && points->doubles != NULL)
    points_put64(origin, results, a->n);
  else if (status == SLAB_OK && query == SLAB_CLOSEST_POINTS)
    points_put(origin, results, a->n);
  free(near);
  return status;
}

static slab_status ask(const char *function, slab_point_query query, slab_scene *scene, world_points points, size_t n,
                       void *results, const slab_point_options *given) {
  static const slab_point_options none = {0};
  const slab_point_options *o = given != NULL ? given : &none;
  ARITHMETIC callers = arithmetic_begin();
  scene_reading reading;
  const bool is_signed = query == SLAB_SIGNED_DISTANCES, lacks_points = points.floats == NULL && points.doubles == NULL;
  asking a = {function, .n = n, .options = o, .callers = &callers, .total = is_signed ? 2 * n : n};
  slab_status status = scene_check(scene, function);
  if (status == SLAB_OK) status = scene_enter(scene, function, &reading);
  if (status != SLAB_OK) return status;
  a.scene = reading.scene;
  a.points = points.floats;
  if (n > 0 && (lacks_points || results == NULL))
    status = fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, lacks_points ? "points" : "the results array");
  if (status == SLAB_OK) status = check_point_options(function, query, n, o);
  if (status == SLAB_OK) status = check_worlds(function, a.scene, n, o->worlds);
  if (status == SLAB_OK) status = check_is_rigid(function, query, a.scene);
  if (status == SLAB_OK && query == SLAB_WINDING_NUMBERS) status = boundary_get(function, a.scene, &a.boundary);
  const bool is_far = points.doubles != NULL || is_moved(a.scene->stats.origin);
  if (status == SLAB_OK) status = is_far ? ask_far(&a, query, &points, results) : ask_in(&a, query, results);
  scene_leave(&reading);
  if (status == SLAB_OK && o->invalid != NULL) *o->invalid = a.invalid;
  return status;
}

/* Each query of points, in either type. */
#define POINTS_OF(name, query, result, result64)                                                     \
  slab_status slab_##name(slab_scene *scene, const float *points, size_t n, result *results,         \
                          const slab_point_options *options) {                                       \
    return ask("slab_" #name, query, scene, (world_points){points, NULL}, n, results, options);      \
  }                                                                                                  \
  slab_status slab_##name##64(slab_scene * scene, const double *points, size_t n, result64 *results, \
                              const slab_point_options *options) {                                   \
    return ask("slab_" #name "64", query, scene, (world_points){NULL, points}, n, results, options); \
  }
POINTS_OF(closest_points, SLAB_CLOSEST_POINTS, slab_closest_point, slab_closest_point64)
POINTS_OF(closest_distances, SLAB_CLOSEST_DISTANCES, float, float)
POINTS_OF(points_within, SLAB_POINTS_WITHIN, uint8_t, uint8_t)
POINTS_OF(winding, SLAB_WINDING, int32_t, int32_t)
POINTS_OF(signed_distances, SLAB_SIGNED_DISTANCES, float, float)
POINTS_OF(winding_numbers, SLAB_WINDING_NUMBERS, float, float)
#undef POINTS_OF
