#include "scene/origin.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"
#include "base/moved.h"
#include "base/pool.h"
#include "base/status.h"
#include "device/context.h"
#include "maths/primitive.h"
#include "maths/ray.h"

/* Some 50 us. */
enum { VALUES_A_PIECE = 16384 };

/* Of which axis a value of a shape is a coordinate; else NOT_ONE. A plane's offset is one along its normal. */
enum { NOT_ONE = -1 };
static const int8_t axes_of[SLAB_SHAPE_COUNT][FLOATS_MOST] = {
    [SLAB_PLANE] = {NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE},
    [SLAB_SPHERE] = {0, 1, 2, NOT_ONE},
    [SLAB_BOX] = {0, 1, 2, 0, 1, 2},
    [SLAB_OBB] = {0, 1, 2, NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE, NOT_ONE,
                  NOT_ONE, NOT_ONE},
    [SLAB_TRIANGLE] = {0, 1, 2, 0, 1, 2, 0, 1, 2},
};

/* ---- values that are given ---- */

/* Values as the caller has them, of floats or doubles: shapes, or vertices where the kind is SLAB_TRIANGLE. */
typedef struct given_values {
  slab_shape kind;
  uint32_t each;     /* values of each */
  const void *first; /* the first shape or vertex */
  size_t stride;     /* bytes from each to the next */
  size_t count;
  bool doubles;
} given_values;

static uint32_t given_each(slab_shape kind) { return kind == SLAB_TRIANGLE ? 3 : primitive_floats(kind); }

static given_values given_floats(slab_shape kind, const float *first, size_t count) {
  const uint32_t each = given_each(kind);
  return (given_values){kind, each, first, each * sizeof(float), count, false};
}

static given_values given_doubles(slab_shape kind, const double *first, size_t count) {
  const uint32_t each = given_each(kind);
  return (given_values){kind, each, first, each * sizeof(double), count, true};
}

static given_values given_range(const values_range *r) {
  return r->values64 != NULL ? given_doubles(r->kind, r->values64, r->count)
                             : given_floats(r->kind, r->values, r->count);
}

/* A mesh without triangles may lack vertices. */
static given_values given_mesh(const slab_mesh *m) {
  const bool doubles = m->vertices64 != NULL;
  const size_t size = 3 * (doubles ? sizeof(double) : sizeof(float));
  return (given_values){.kind = SLAB_TRIANGLE,
                        .each = 3,
                        .first = doubles ? (const void *)m->vertices64 : m->vertices,
                        .stride = m->vertex_stride != 0 ? m->vertex_stride : size,
                        .count = m->triangle_count > 0 ? m->vertex_count : 0,
                        .doubles = doubles};
}

static void load_one(const given_values *given, size_t i, double one[FLOATS_MOST]) {
  const char *from = (const char *)given->first + i * given->stride;
  if (given->doubles) {
    memcpy(one, from, given->each * sizeof *one);
    return;
  }
  float floats[FLOATS_MOST];
  memcpy(floats, from, given->each * sizeof *floats);
  for (uint32_t k = 0; k < given->each; k++) one[k] = floats[k];
}

typedef struct rounding {
  const given_values *from;
  const double *origin;
  float *to;
} rounding;

static void round_some(void *argument, size_t first, size_t end) {
  const rounding *r = argument;
  const given_values *from = r->from;
  const double o[4] = {r->origin[0], r->origin[1], r->origin[2], 0.0};
  double less[FLOATS_MOST];
  for (uint32_t k = 0; k < from->each; k++) less[k] = o[axes_of[from->kind][k] & 3];
  for (size_t i = first; i < end; i++) {
    double one[FLOATS_MOST];
    float *to = r->to + i * from->each;
    load_one(from, i, one);
    if (from->kind == SLAB_PLANE) one[3] -= (one[0] * o[0] + one[1] * o[1]) + one[2] * o[2];
    for (uint32_t k = 0; k < from->each; k++) to[k] = (float)(one[k] - less[k]);
  }
}

/* Floats that count from the origin, in memory of their own. NULL: it is short. */
static float *rounded(uint32_t threads, const given_values *from, const double origin[3]) {
  float *to = malloc((from->count * from->each + 1) * sizeof *to);
  rounding r = {from, origin, to};
  if (to != NULL) pool_loop(threads, from->count, VALUES_A_PIECE, round_some, &r);
  return to;
}

/* NULL: memory is short. */
static far_values *kept(const given_values *from) {
  const size_t count = from->count * from->each;
  far_values *to = malloc(sizeof *to + count * sizeof *to->list);
  if (to == NULL) return NULL;
  to->count = count;
  for (size_t i = 0; i < from->count; i++) {
    double one[FLOATS_MOST];
    load_one(from, i, one);
    memcpy(to->list + i * from->each, one, from->each * sizeof *one);
  }
  return to;
}

static slab_status take_given(const slab_scene *scene, const given_values *from, bool is_near, near_values *to) {
  if (is_near || (!from->doubles && !is_moved(scene->origin))) return SLAB_OK;
  to->floats = rounded(scene->context->threads, from, scene->origin);
  if (from->doubles && !scene->has_origin) to->far = kept(from);
  if (to->floats == NULL || (from->doubles && !scene->has_origin && to->far == NULL))
    return fail_memory(from->count * from->each * sizeof(double), "coordinates");
  return SLAB_OK;
}

/* ---- additions ---- */

slab_status origin_near(const slab_scene *scene, addition *a, near_values *to) {
  *to = (near_values){.floats = NULL};
  const given_values from = a->mesh != NULL       ? given_mesh(a->mesh)
                            : a->values64 != NULL ? given_doubles(a->kind, a->values64, a->count)
                                                  : given_floats(a->kind, a->values, a->count);
  const slab_status status = take_given(scene, &from, a->is_near, to);
  if (status != SLAB_OK || to->floats == NULL) return status;
  if (a->mesh != NULL) {
    to->mesh = *a->mesh;
    to->mesh.vertices = to->floats;
    to->mesh.vertices64 = NULL;
    to->mesh.vertex_stride = 0;
    a->mesh = &to->mesh;
  } else {
    a->values = to->floats;
  }
  return SLAB_OK;
}

slab_status origin_near_range(const slab_scene *scene, values_range *r, near_values *to) {
  *to = (near_values){.floats = NULL};
  const given_values from = given_range(r);
  const slab_status status = take_given(scene, &from, false, to);
  if (to->floats != NULL) r->values = to->floats;
  return status;
}

void near_values_free(near_values *v) {
  free(v->floats);
  free(v->far);
}

void origin_put_range(far_values *to, const values_range *source) {
  const given_values from = given_range(source);
  for (size_t i = 0; i < from.count; i++) {
    double one[FLOATS_MOST];
    load_one(&from, i, one);
    memcpy(to->list + (source->first + i) * from.each, one, from.each * sizeof *one);
  }
}

/* ---- transforms ---- */

/* Where the model's origin comes to lie. The matrix is the one that instances have, in float. */
static void place_of(const given_transforms *t, size_t i, const double model[3], float matrix[12], double place[3]) {
  for (size_t k = 0; k < 12; k++)
    matrix[k] = t->doubles != NULL ? (float)t->doubles[12 * i + k] : t->floats[12 * i + k];
  for (size_t k = 0; k < 3; k++) {
    const float *a = matrix + 4 * k;
    const double p = t->doubles != NULL ? t->doubles[12 * i + 4 * k + 3] : (double)a[3];
    place[k] = p + ((a[0] * model[0] + a[1] * model[1]) + a[2] * model[2]);
  }
}

bool origin_moves(const slab_scene *scene, const slab_scene *model) {
  return is_moved(scene->origin) || is_moved(model->origin);
}

slab_status origin_near_space(const slab_scene *scene, const given_transforms *t, uint32_t n, bool moves,
                              near_transforms *to) {
  *to = (near_transforms){.transforms = t->floats};
  if (t->is_near || (t->doubles == NULL && !moves)) return SLAB_OK;
  const bool waits = !scene->has_origin;
  to->floats = malloc(12 * (size_t)n * sizeof *to->floats + 1);
  if (waits) to->places = malloc(3 * (size_t)n * sizeof *to->places + 1);
  if (to->floats == NULL || (waits && to->places == NULL))
    return fail_memory(12 * (size_t)n * sizeof *to->floats, "transforms");
  to->transforms = to->floats;
  return SLAB_OK;
}

void origin_near_fill(const slab_scene *scene, const slab_scene *model, const given_transforms *t, size_t first,
                      uint32_t n, near_transforms *to) {
  for (size_t i = first; to->floats != NULL && i < first + n; i++) {
    double place[3];
    place_of(t, i, model->origin, to->floats + 12 * i, place);
    for (size_t k = 0; k < 3; k++) to->floats[12 * i + 4 * k + 3] = (float)(place[k] - scene->origin[k]);
    if (to->places != NULL) memcpy(to->places + 3 * i, place, sizeof place);
  }
}

void near_transforms_free(near_transforms *t) {
  free(t->floats);
  free(t->places);
}

slab_status origin_far_space(added_geometry *of, const near_transforms *t) {
  const size_t count = 3 * (size_t)of->count;
  if (t->places == NULL || of->far != NULL) return SLAB_OK;
  far_values *far = malloc(sizeof *far + count * sizeof *far->list);
  if (far == NULL) return fail_memory(count * sizeof *far->list, "the places of instances");
  far->count = count;
  for (size_t i = 0; i < count; i++) far->list[i] = of->group->instances[i / 3].place[i % 3];
  of->far = far;
  return SLAB_OK;
}

void origin_far_put(added_geometry *of, const near_transforms *t, size_t first, const uint32_t *indices, uint32_t n) {
  for (size_t i = 0; of->far != NULL && i < n; i++)
    for (size_t k = 0; k < 3; k++)
      of->far->list[3 * (indices != NULL ? indices[i] : i) + k] =
          t->places != NULL ? t->places[3 * (first + i) + k] : (double)t->transforms[12 * (first + i) + 4 * k + 3];
}

/* ---- the origin becomes known ---- */

typedef struct far_bounds {
  double lower[3], upper[3];
} far_bounds;

static void grow(far_bounds *b, int axis, double x) {
  if (!isfinite(x)) return;
  b->lower[axis] = lesser(b->lower[axis], x);
  b->upper[axis] = greater(b->upper[axis], x);
}

/* By the coordinates of the values that wait; planes have none. */
static void grow_by(far_bounds *b, const added_geometry *a) {
  static const int8_t point[3] = {0, 1, 2};
  const bool points = a->group != NULL || a->kind == SLAB_TRIANGLE;
  const int8_t *axes = points ? point : axes_of[a->kind];
  const uint32_t each = points ? 3 : primitive_floats(a->kind);
  for (size_t i = 0; i < a->far->count; i++)
    if (axes[i % each] != NOT_ONE) grow(b, axes[i % each], a->far->list[i]);
}

/* The middle of all values that wait; 0 where none do. */
static void choose(const slab_scene *scene, double origin[3]) {
  far_bounds b = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
  for (uint32_t g = 0; g < scene->geometries; g++)
    if (scene->added[g].far != NULL) grow_by(&b, &scene->added[g]);
  for (int k = 0; k < 3; k++) {
    const double middle = 0.5 * b.lower[k] + 0.5 * b.upper[k];
    origin[k] = b.lower[k] <= b.upper[k] ? (float)greater(-ORIGIN_MAX, lesser(middle, ORIGIN_MAX)) : 0.0f;
  }
}

/* The values of a geometry again, as floats that count from an origin. */
static slab_status take_again(const slab_scene *scene, const char *function, const added_geometry *a,
                              const double origin[3], geometry_values **made) {
  const slab_shape kind = (slab_shape)a->kind;
  const geometry_values *v = a->values;
  const bool is_mesh = kind == SLAB_TRIANGLE && (v->indexed || a->far != NULL);
  const size_t own = kind == SLAB_TRIANGLE ? 3 * (size_t)a->count : a->count;
  const given_values from = a->far != NULL ? given_doubles(kind, a->far->list, a->far->count / given_each(kind))
                                           : given_floats(kind, v->values, v->indexed ? v->indices->vertex_count : own);
  float *floats = rounded(scene->context->threads, &from, origin);
  if (floats == NULL) return fail_memory(from.count * from.each * sizeof *floats, "coordinates");
  const slab_mesh mesh = {.vertices = floats, .vertex_count = (uint32_t)from.count, .triangle_count = a->count};
  addition again = {.function = function,
                    .noun = "primitive",
                    .kind = kind,
                    .count = a->count,
                    .values = is_mesh ? NULL : floats,
                    .mesh = is_mesh ? &mesh : NULL,
                    .indices = v->indices,
                    .mask = v->mask,
                    .world = v->world,
                    .drops = v->drops};
  uint32_t dropped;
  const slab_status status = values_take(scene->context->threads, &again, made, &dropped);
  free(floats);
  return status;
}

/* Coordinate k of an instance's place in the world, as far as that is known. */
static double place_at(const added_geometry *a, uint32_t i, size_t k) {
  return a->far != NULL ? a->far->list[3 * (size_t)i + k] : (double)a->group->instances[i].place[k];
}

/* Whether floats can hold the places of a geometry's instances. */
static slab_status check_places(const char *function, const added_geometry *a, const double origin[3]) {
  for (uint32_t i = 0; i < a->count; i++)
    for (size_t k = 0; k < 3; k++) {
      const double at = place_at(a, i, k) - origin[k];
      if (!(fabs(at) <= COORDINATE_MAX))
        return fail(SLAB_INVALID_ARGUMENT, "%s: transform %u of geometry %u moves beyond 2^60 (%g)", function, i, a->id,
                    at);
    }
  return SLAB_OK;
}

static void put_places(added_geometry *a, const double origin[3]) {
  for (uint32_t i = 0; i < a->count; i++)
    for (size_t k = 0; k < 3; k++) a->group->instances[i].place[k] = (float)(place_at(a, i, k) - origin[k]);
}

/* All values that are taken again come first, so that a failure leaves the scene as it was. */
slab_status origin_settle_at(slab_scene *scene, const char *function, const double origin[3]) {
  geometry_values **made = calloc(scene->geometries + (size_t)1, sizeof(geometry_values *));
  if (made == NULL) return fail_memory(scene->geometries * sizeof *made, "geometry");
  slab_status status = SLAB_OK;
  for (uint32_t g = 0; status == SLAB_OK && g < scene->geometries; g++) {
    const added_geometry *a = &scene->added[g];
    if (a->far == NULL && !is_moved(origin)) continue;
    if (a->values != NULL) status = take_again(scene, function, a, origin, &made[g]);
    if (a->group != NULL) status = check_places(function, a, origin);
  }
  for (uint32_t g = 0; g < scene->geometries; g++) {
    added_geometry *a = &scene->added[g];
    if (status == SLAB_OK) {
      if (a->group != NULL && (a->far != NULL || is_moved(origin))) put_places(a, origin);
      free(a->far);
      a->far = NULL;
    }
    geometry_values *other = made[g];
    if (status == SLAB_OK && made[g] != NULL) {
      other = a->values;
      a->values = made[g];
    }
    values_release(other);
  }
  free(made);
  if (status != SLAB_OK) return status;
  memcpy(scene->origin, origin, sizeof scene->origin);
  scene->has_origin = true;
  return SLAB_OK;
}

slab_status origin_settle(slab_scene *scene, const char *function) {
  double origin[3];
  if (scene->has_origin) return SLAB_OK;
  choose(scene, origin);
  return origin_settle_at(scene, function, origin);
}
