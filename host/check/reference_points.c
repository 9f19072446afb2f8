/* Holds a point against every primitive, in order. Nothing nearer shortens the radius. */
#include "check/reference_points.h"

#include <math.h>

#include "base/per_processor.h"
#include "maths/answer.h"
#include "maths/boundary.h"
#include "maths/winding.h"
#include "scene/models.h"
#include "shapes/values.h"

/* The best so far. */
typedef struct nearest {
  float square;
  slab_primitive_id id;
} nearest;

/* The scene, or a model that the point is in. */
typedef struct point_place {
  const snapshot *scene;
  float point[3];
  float gate, scale;               /* as in closest_outside */
  uint32_t geometry;               /* id of its first geometry */
  const struct point_place *outer; /* NULL: it is the scene */
} point_place;

/* Primitives come in ascending order: the first of equals stays. */
static void take(nearest *best, const point_place *place, float square, uint32_t primitive, uint32_t geometry) {
  for (; place->outer != NULL; place = place->outer) square = closest_outside(square, place->scale, place->gate);
  if (square < best->square) *best = (nearest){square, {primitive, geometry}};
}

ALWAYS_INLINE void scan(uint kind, const point_place *place, uint32_t g, nearest *best) {
  const geometry_entry *entry = &place->scene->table[g];
  float space[FLOATS_MOST];
  for (uint32_t i = 0; i < entry->count; i++) {
    closest at;
    primitive_closest(kind, place->point, values_at(place->scene->values[g], primitive_floats(kind), i, space), &at);
    take(best, place, closest_square(at.to), i, place->geometry + entry->id);
  }
}

static void scan_instances(const point_place *, uint32_t g, visibility seen, nearest *);

ALWAYS_INLINE void scan_geometries(const point_place *place, visibility seen, nearest *best) {
  const snapshot *scene = place->scene;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    if (!visibility_has(seen, entry->mask, values_world(scene->values[g])))
      continue; /* so where it is disabled or removed */
    if (entry->kind == SHAPE_INSTANCE) scan_instances(place, g, seen, best);
#define SCAN_KIND(shape, name, names, noun, floats, form, where, source) \
  if (entry->kind == shape) scan(shape, place, g, best);
    SHAPES(SCAN_KIND)
#undef SCAN_KIND
  }
}

WITH_FMA static void scan_geometries_fma(const point_place *place, visibility seen, nearest *best) {
  scan_geometries(place, seen, best);
}

static void scan_instances(const point_place *place, uint32_t g, visibility seen, nearest *best) {
  const instance_group *group = place->scene->groups[g];
  for (uint32_t i = 0; i < group->count; i++) {
    float gate[BOX_FLOATS];
    if (!visibility_has(seen, group->mask, group->instances[i].world)) continue;
    gate_in(place->scene, g, i, gate);
    point_place inner = {.scene = place->scene->models[g].snapshot, .outer = place};
    if (!closest_inside(place->point, &group->instances[i], inner.point)) continue;
    inner.gate = closest_of_bounds(place->point, gate, gate + 3);
    inner.scale = group->instances[i].scale;
    inner.geometry = place->geometry + place->scene->table[g].id + i * group->geometries;
    PER_PROCESSOR(scan_geometries)(&inner, seen, best);
  }
}

/* Where the closest point of a primitive lies: its features, and the vector from the point. */
static void place_of(const snapshot *scene, const float point[3], slab_primitive_id id, closest *at) {
  const uint32_t g = entry_of_id(scene->table, scene->geometries, id.geometry);
  const geometry_entry *entry = &scene->table[g];
  if (entry->kind != SHAPE_INSTANCE) {
    float space[FLOATS_MOST];
    primitive_closest(entry->kind, point,
                      values_at(scene->values[g], primitive_floats(entry->kind), id.primitive, space), at);
    return;
  }
  const instance_group *group = scene->groups[g];
  const uint32_t beyond = id.geometry - entry->id;
  const instance_entry *instance = &group->instances[beyond / group->geometries];
  float inner[3];
  closest_inside(point, instance, inner);
  place_of(scene->models[g].snapshot, inner, (slab_primitive_id){id.primitive, beyond % group->geometries}, at);
  closest_turned(instance, at->to);
}

static slab_closest_point found(const snapshot *scene, const float point[3], const nearest *best) {
  closest at;
  place_of(scene, point, best->id, &at);
  slab_closest_point found = {.distance = sqrtf(best->square),
                              .u = without_minus_zero(at.u),
                              .v = without_minus_zero(at.v),
                              .feature = at.feature,
                              .primitive = best->id.primitive,
                              .geometry = best->id.geometry};
  for (int i = 0; i < 3; i++) found.point[i] = without_minus_zero(point[i] + at.to[i]);
  return found;
}

slab_closest_point reference_closest_point(const snapshot *scene, const float point[3], visibility seen, float radius) {
  point_place place = {.scene = scene};
  nearest best = {INFINITY, {SLAB_MISS, SLAB_MISS}};
  if (!point_is_valid(point)) return closest_none(SLAB_INVALID);
  for (int i = 0; i < 3; i++) place.point[i] = point[i];
  PER_PROCESSOR(scan_geometries)(&place, seen, &best);
  if (!(best.square < INFINITY) || sqrtf(best.square) > radius) return closest_none(SLAB_MISS);
  return found(scene, point, &best);
}

/* ---- winding numbers ---- */

ALWAYS_INLINE int32_t count_block(uint kind, const point_place *place, uint32_t g, uint32_t i) {
  float space[FLOATS_MOST];
  const float *values = values_at(place->scene->values[g], primitive_floats(kind), i, space);
  winding_lanes found;
  primitive_winding(kind, place->point, values, &found);
  if (found.unsure) {
    float corner[3][3];
    for (int v = 0; v < 9; v++) corner[v / 3][v % 3] = values[v];
    return slab_crosses(place->point, corner);
  }
  return found.leaves ? 1 : found.enters ? -1 : 0;
}

static int32_t count_instances(const point_place *, uint32_t g, visibility seen);

ALWAYS_INLINE int32_t count_geometries(const point_place *place, visibility seen) {
  const snapshot *scene = place->scene;
  int32_t sum = 0;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    if (!visibility_has(seen, entry->mask, values_world(scene->values[g]))) continue;
    if (entry->kind == SHAPE_INSTANCE) sum += count_instances(place, g, seen);
#define COUNT_KIND(shape, name, names, noun, floats, form, where, source) \
  if (entry->kind == shape)                                               \
    for (uint32_t i = 0; i < entry->count; i++) sum += count_block(shape, place, g, i);
    SHAPES(COUNT_KIND)
#undef COUNT_KIND
  }
  return sum;
}

WITH_FMA static int32_t count_geometries_fma(const point_place *place, visibility seen) {
  return count_geometries(place, seen);
}

static int32_t count_instances(const point_place *place, uint32_t g, visibility seen) {
  const instance_group *group = place->scene->groups[g];
  int32_t sum = 0;
  for (uint32_t i = 0; i < group->count; i++) {
    float gate[BOX_FLOATS];
    if (!visibility_has(seen, group->mask, group->instances[i].world)) continue;
    gate_in(place->scene, g, i, gate);
    point_place inner = {.scene = place->scene->models[g].snapshot, .outer = place};
    if (!winding_holds(place->point, gate, gate + 3)) continue;
    if (!closest_inside(place->point, &group->instances[i], inner.point)) continue;
    sum += PER_PROCESSOR(count_geometries)(&inner, seen);
  }
  return sum;
}

bool reference_point_is_valid(const float point[3]) { return point_is_valid(point); }

int32_t reference_winding(const snapshot *scene, const float point[3], visibility seen) {
  point_place place = {.scene = scene};
  if (!point_is_valid(point)) return 0;
  for (int i = 0; i < 3; i++) place.point[i] = point[i];
  return PER_PROCESSOR(count_geometries)(&place, seen);
}

/* The terms below a node, child by child. */
ALWAYS_INLINE boundary_sum sum_terms(const boundary *b, const float point[3], uint32_t root) {
  uint32_t stack[BOUNDARY_STACK] = {root}, waiting = 1;
  boundary_sum sum = 0;
  while (waiting > 0) {
    const float *node = b->values + (size_t)stack[--waiting] * BOUNDARY_FLOATS;
    for (uint32_t lane = 0; lane < BOUNDARY_WIDTH; lane++) {
      mask into;
      sum += boundary_children(point, node + lane, &into);
      if (into) stack[waiting++] = scalar_bits(node[BOUNDARY_CHILD * BOUNDARY_WIDTH + lane]);
    }
  }
  return sum;
}

WITH_FMA static boundary_sum sum_terms_fma(const boundary *b, const float point[3], uint32_t root) {
  return sum_terms(b, point, root);
}

float reference_winding_number(const snapshot *scene, const boundary *b, const float point[3], visibility seen) {
  boundary_sum sum = 0;
  if (!point_is_valid(point)) return 0.0f;
  for (uint32_t t = 0; t < b->trees; t++)
    if (visibility_has(seen, b->of_trees[t].mask, b->of_trees[t].world))
      sum += PER_PROCESSOR(sum_terms)(b, point, b->of_trees[t].root);
  return boundary_answer(reference_winding(scene, point, seen), sum);
}
