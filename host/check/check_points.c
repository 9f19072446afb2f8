/* slab_check_points: the same for results of points. */
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/status.h"
#include "check/comparison.h"
#include "check/oracle_points.h"
#include "check/reference_points.h"
#include "scene/boundary.h"
#include "scene/scene.h"
#include "work/uniforms.h"

typedef struct point_check {
  compared all;
  slab_point_query query;
  const float *points;    /* NULL: they are doubles */
  const double *points64; /* NULL: they are floats */
  const double *origin;   /* of the scene */
  const char *results;
  size_t result_size;
  const boundary *boundary; /* of SLAB_WINDING_NUMBERS */
  slab_point_options options;
} point_check;

static visibility visibility_of(const point_check *c, size_t i) {
  visibility seen = {c->options.mask != 0 ? c->options.mask : UINT32_MAX, 0};
  if (c->options.masks != NULL) seen.mask = c->options.masks[i];
  if (c->options.worlds != NULL) seen.world = c->options.worlds[i];
  return seen;
}

static float radius_of(const point_check *c, size_t i) {
  if (c->options.radii != NULL) return c->options.radii[i];
  return c->options.radius != 0.0f ? c->options.radius : INFINITY;
}

/* The reference's values for a point: the answer to the query, and the winding number where that is a part of it. */
typedef struct point_answer {
  union {
    slab_closest_point closest; /* of which the distance comes first */
    slab_closest_point64 closest64;
    int32_t winding;
    float number;
    uint8_t within;
  } told;
  slab_closest_point near; /* the answer's places, as they count from the scene's origin */
  int32_t winding;
} point_answer;

/* A point as it counts from the scene's origin. */
static void point_of(const point_check *c, size_t i, float point[3]) {
  for (size_t k = 0; k < 3; k++) {
    const double x = c->points64 != NULL ? c->points64[3 * i + k] : (double)c->points[3 * i + k];
    point[k] = (float)(x - c->origin[k]);
  }
}

/* A place of the world. */
static void tell_closest(const point_check *c, point_answer *a) {
  const slab_closest_point *n = &a->near;
  double place[3];
  for (int k = 0; k < 3; k++) place[k] = n->primitive < SLAB_INVALID ? (double)n->point[k] + c->origin[k] : 0.0;
  if (c->points64 != NULL) {
    a->told.closest64 = (slab_closest_point64){
        {place[0], place[1], place[2]}, n->distance, n->u, n->v, n->feature, n->primitive, n->geometry};
    return;
  }
  a->told.closest = *n;
  for (int k = 0; k < 3; k++) a->told.closest.point[k] = (float)place[k];
}

static point_answer answer_of(const point_check *c, const float point[3], visibility seen, float radius) {
  point_answer answer = {.told.closest = {0}};
  if (c->query == SLAB_WINDING_NUMBERS) {
    answer.told.number = reference_winding_number(c->all.scene, c->boundary, point, seen);
    return answer;
  }
  if (c->query == SLAB_WINDING || c->query == SLAB_SIGNED_DISTANCES)
    answer.winding = reference_winding(c->all.scene, point, seen);
  if (c->query == SLAB_WINDING) {
    answer.told.winding = answer.winding;
    return answer;
  }
  answer.near = reference_closest_point(c->all.scene, point, seen, radius);
  const float distance = answer.near.distance;
  answer.told.closest = answer.near;
  if (c->query == SLAB_CLOSEST_POINTS) tell_closest(c, &answer);
  if (c->query == SLAB_POINTS_WITHIN) answer.told.within = distance < INFINITY;
  if (c->query == SLAB_SIGNED_DISTANCES) answer.told.closest.distance = signed_distance(distance, answer.winding);
  return answer;
}

static const char *const names[] = {"distance", "point[0]", "point[1]",  "point[2]", "u",
                                    "v",        "feature",  "primitive", "geometry"};
static const char *const names64[] = {"point[0]", "point[1]", "point[2]",  "distance", "u",
                                      "v",        "feature",  "primitive", "geometry"};

static void describe_closest64(size_t i, const char *got, const slab_closest_point64 *want, char *text, size_t size) {
  const size_t words = offsetof(slab_closest_point64, distance);
  if (describe_doubles(text, size, "point", i, names64, got, want, 3)) return;
  describe_words(text, size, "point", i, names64 + 3, got + words, (const char *)want + words, 6, 4);
}

static void describe(const point_check *c, size_t i, const point_answer *want, char *text, size_t size) {
  const void *got = c->results + i * c->result_size;
  if (c->query == SLAB_CLOSEST_POINTS && c->points64 != NULL)
    describe_closest64(i, got, &want->told.closest64, text, size);
  else if (c->query == SLAB_CLOSEST_POINTS)
    describe_words(text, size, "point", i, names, got, &want->told.closest, 9, 7);
  if (c->query == SLAB_CLOSEST_DISTANCES || c->query == SLAB_SIGNED_DISTANCES)
    describe_float(text, size, "point", "distance", i, got, &want->told.closest.distance);
  if (c->query == SLAB_WINDING_NUMBERS)
    describe_float(text, size, "point", "winding number", i, got, &want->told.number);
  if (c->query == SLAB_POINTS_WITHIN)
    snprintf(text, size, "point %zu: within is %u, the CPU reference has %u", i, *(const uint8_t *)got,
             want->told.within);
  if (c->query == SLAB_WINDING)
    snprintf(text, size, "point %zu: winding is %d, the CPU reference has %d", i, *(const int32_t *)got,
             want->told.winding);
}

static void compare_with_reference(const point_check *c, size_t i, const point_answer *want,
                                   slab_check_report *report) {
  if (memcmp(c->results + i * c->result_size, &want->told, c->result_size) == 0) return;
  if (is_first(report)) {
    report->first = i;
    describe(c, i, want, report->text, sizeof report->text);
  }
  report->mismatches++;
}

/* A result as it counts from the scene's origin. Where it is the reference's its place is too, bit by bit. */
static slab_closest_point near_result(const point_check *c, size_t i, const point_answer *want) {
  const char *got = c->results + i * c->result_size;
  slab_closest_point near;
  if (memcmp(got, &want->told, c->result_size) == 0) return want->near;
  if (c->points64 == NULL) {
    memcpy(&near, got, sizeof near);
    for (int k = 0; k < 3; k++) near.point[k] = (float)((double)near.point[k] - c->origin[k]);
    return near;
  }
  slab_closest_point64 far;
  memcpy(&far, got, sizeof far);
  near = (slab_closest_point){
      .distance = far.distance, .u = far.u, .v = far.v, .feature = far.feature, .primitive = far.primitive};
  near.geometry = far.geometry;
  for (int k = 0; k < 3; k++) near.point[k] = (float)(far.point[k] - c->origin[k]);
  return near;
}

/* The sign of a distance is right where the reference's winding is. */
static oracle_judgement judge_result(const point_check *c, size_t i, const float point[3], const point_answer *want,
                                     char *why, size_t size) {
  const oracle_scene *scene = c->all.judge.scene;
  const float radius = radius_of(c, i);
  const visibility seen = visibility_of(c, i);
  const void *result = c->results + i * c->result_size;
  slab_closest_point near;
  if (c->query == SLAB_CLOSEST_POINTS) {
    near = near_result(c, i, want);
    result = &near;
  }
  if (c->query == SLAB_WINDING) return oracle_judge_winding(scene, point, *(const int32_t *)result, seen, why, size);
  if (c->query == SLAB_WINDING_NUMBERS)
    return oracle_judge_winding_number(scene, point, *(const float *)result, seen, why, size);
  if (c->query != SLAB_SIGNED_DISTANCES)
    return oracle_judge_point(scene, c->query, point, result, seen, radius, why, size);
  const float told = *(const float *)result, distance = fabsf(told);
  if (distance != 0.0f && (told < 0.0f) != (want->winding != 0)) {
    snprintf(why, size, "point %zu: distance is %g, and the winding number %d", i, (double)told, want->winding);
    return ORACLE_WRONG;
  }
  const oracle_judgement inside = oracle_judge_winding(scene, point, want->winding, seen, why, size);
  if (inside == ORACLE_WRONG) return inside;
  const oracle_judgement far =
      oracle_judge_point(scene, SLAB_CLOSEST_DISTANCES, point, &distance, seen, radius, why, size);
  return far == ORACLE_RIGHT ? inside : far;
}

static bool compare_point(const compared *all, size_t i, reference_answer *unused, slab_check_report *report,
                          uint64_t *invalid) {
  (void)unused;
  const point_check *c = (const point_check *)all;
  const float radius = radius_of(c, i);
  const visibility seen = visibility_of(c, i);
  float point[3];
  point_of(c, i, point);
  const point_answer want = answer_of(c, point, seen, radius);
  compare_with_reference(c, i, &want, report);
  *invalid += !reference_point_is_valid(point);
  if (!is_judged(all, i)) return true;
  char why[384] = "";
  const oracle_judgement judgement = judge_result(c, i, point, &want, why, sizeof why);
  return count_judgement(all, i, judgement, why, report);
}

static slab_status check_arguments(const slab_scene *scene, const point_check *c, const slab_check_report *report) {
  const char *missing = scene == NULL                                              ? "scene"
                        : report == NULL                                           ? "report"
                        : c->all.n > 0 && c->points == NULL && c->points64 == NULL ? "points"
                        : c->all.n > 0 && c->results == NULL                       ? "results"
                                                                                   : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", c->all.function, missing);
  if (c->result_size == 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: query is %d, not a slab_point_query", c->all.function, (int)c->query);
  const slab_status status = scene_check(scene, c->all.function);
  return status == SLAB_OK ? check_point_options(c->all.function, c->query, c->all.n, &c->options) : status;
}

static slab_status check_points(slab_scene *scene, point_check *c, const slab_point_options *options,
                                slab_check_report *report) {
  scene_reading reading;
  if (options != NULL) c->options = *options;
  slab_status status = check_arguments(scene, c, report);
  if (status == SLAB_OK) status = scene_enter(scene, c->all.function, &reading);
  if (status != SLAB_OK) return status;
  c->origin = reading.scene->stats.origin;
  status = check_worlds(c->all.function, reading.scene, c->all.n, c->options.worlds);
  if (status == SLAB_OK) status = check_is_rigid(c->all.function, c->query, reading.scene);
  if (status == SLAB_OK && c->query == SLAB_WINDING_NUMBERS)
    status = boundary_get(c->all.function, reading.scene, &c->boundary);
  if (status != SLAB_OK) {
    scene_leave(&reading);
    return status;
  }
  compared_tells(&c->all, c->options.progress, c->options.user, c->options.invalid);
  return compare_all(&c->all, &reading, report);
}

slab_status slab_check_points(slab_scene *scene, slab_point_query query, const float *points, size_t n,
                              const void *results, const slab_point_options *options, slab_check_report *report) {
  ARITHMETIC callers = arithmetic_begin();
  point_check c = {
      .all = {.function = "slab_check_points", .noun = "point", .one = compare_point, .n = n, .callers = &callers},
      .query = query,
      .points = points,
      .results = results,
      .result_size = slab_point_result_size(query)};
  return check_points(scene, &c, options, report);
}

slab_status slab_check_points64(slab_scene *scene, slab_point_query query, const double *points, size_t n,
                                const void *results, const slab_point_options *options, slab_check_report *report) {
  ARITHMETIC callers = arithmetic_begin();
  point_check c = {
      .all = {.function = "slab_check_points64", .noun = "point", .one = compare_point, .n = n, .callers = &callers},
      .query = query,
      .points64 = points,
      .results = results,
      .result_size = query == SLAB_CLOSEST_POINTS ? sizeof(slab_closest_point64) : slab_point_result_size(query)};
  return check_points(scene, &c, options, report);
}
