/* Runs the kernels' maths as C11 on every primitive, in order. No closer hit shortens the range. */
#include "check/reference.h"

#include <stdlib.h>

#include "base/per_processor.h"
#include "maths/answer.h"
#include "maths/instances.h"
#include "record/snapshot.h"
#include "scene/models.h"
#include "shapes/values.h"

typedef struct reference_state {
  slab_query query;
  ray_own own;
  slab_primitive_id best;
  uint32_t count;
  float t, leave;
  reference_answer *answer;
  bool out_of_memory;
} reference_state;

/* The scene, or a model that the ray is in. */
typedef struct reference_depth {
  const snapshot *scene;
  prepared_ray ray;
  float gate;                          /* as in instance_t */
  uint32_t geometry;                   /* id of its first geometry */
  const struct reference_depth *outer; /* NULL: it is the scene */
} reference_depth;

static bool keep_hit(reference_answer *a, uint32_t index, float t, slab_primitive_id id) {
  if (index == a->capacity) {
    uint32_t capacity = a->capacity == 0 ? 64 : 2 * a->capacity;
    slab_hit *grown = realloc(a->all, capacity * sizeof *grown);
    if (grown == NULL) return false;
    a->all = grown;
    a->capacity = capacity;
  }
  a->all[index].t = t;
  a->all[index].primitive = id.primitive;
  a->all[index].geometry = id.geometry;
  return true;
}

/* A crossing at this depth as the ray of the scene has it, which *ray receives. */
static float told_outside(const reference_depth *depth, float t, const prepared_ray **ray) {
  for (; depth->outer != NULL; depth = depth->outer) t = instance_t(&depth->ray, &depth->outer->ray, depth->gate, t);
  *ray = &depth->ray;
  return t;
}

static void take(reference_state *m, const reference_depth *depth, float crossing, float leave, slab_primitive_id id) {
  const prepared_ray *ray;
  const float outside = told_outside(depth, crossing, &ray), t = ray_t_written(ray, outside);
  if (!ray_own_takes(&m->own, ray_final_t(ray, outside), id)) return;
  if (m->query == SLAB_ALL && !keep_hit(m->answer, m->count, t, id)) {
    m->out_of_memory = true;
    return;
  }
  if (m->count == 0 || t < m->t) { /* primitives come in ascending order: the first of equal hits stays */
    m->t = t;
    m->leave = told_outside(depth, leave, &ray);
    m->best = id;
  }
  m->count++;
}

ALWAYS_INLINE void scan(uint kind, reference_state *m, const reference_depth *depth, uint32_t g,
                        const cast_uniforms *cast) {
  const geometry_entry *entry = &depth->scene->table[g];
  const geometry_values *of = depth->scene->values[g];
  const prepared_ray *ray = &depth->ray;
  const uint32_t geometry = depth->geometry + entry->id;
  const bool skips = primitive_is_surface(kind) && m->own.skip.geometry == geometry;
  float space[FLOATS_MOST];
  for (uint i = 0; i < entry->count; i++) {
    const float *values = values_at(of, primitive_floats(kind), i, space);
    float t, leave = 0.0f;
    mask hit = m->query == SLAB_INTERVAL ? primitive_solid(kind, ray, values, ray->t_max, cast->rules, &t, &leave)
                                         : primitive_surface(kind, ray, values, ray->t_max, cast->rules, &t);
    if (hit && !(skips && m->own.skip.primitive == i)) take(m, depth, t, leave, (slab_primitive_id){i, geometry});
  }
}

static void scan_instances(const reference_depth *, uint32_t g, const cast_uniforms *, reference_state *);

ALWAYS_INLINE void scan_geometries(const reference_depth *depth, const cast_uniforms *cast, reference_state *m) {
  const snapshot *scene = depth->scene;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    if (!visibility_has(m->own.sees, entry->mask, values_world(scene->values[g])))
      continue; /* so where it is disabled or removed */
    if (entry->kind == SHAPE_INSTANCE) scan_instances(depth, g, cast, m);
#define SCAN_KIND(shape, name, names, noun, floats, form, place, source) \
  if (entry->kind == shape) scan(shape, m, depth, g, cast);
    SHAPES(SCAN_KIND)
#undef SCAN_KIND
  }
}

WITH_FMA static void scan_geometries_fma(const reference_depth *depth, const cast_uniforms *cast, reference_state *m) {
  scan_geometries(depth, cast, m);
}

static void scan_scene(const reference_depth *depth, const cast_uniforms *cast, reference_state *m) {
  PER_PROCESSOR(scan_geometries)(depth, cast, m);
}

static void scan_instances(const reference_depth *depth, uint32_t g, const cast_uniforms *cast, reference_state *m) {
  const instance_group *group = depth->scene->groups[g];
  for (uint32_t i = 0; i < group->count; i++) {
    float gate[BOX_FLOATS], leave;
    if (!visibility_has(m->own.sees, group->mask, group->instances[i].world)) continue;
    reference_depth inner = {.scene = depth->scene->models[g].snapshot, .outer = depth};
    gate_in(depth->scene, g, i, gate);
    if (!box_solid(&depth->ray, gate, depth->ray.t_max, &inner.gate, &leave)) continue;
    instance_ray(&depth->ray, &group->instances[i], &inner.ray);
    inner.geometry = depth->geometry + depth->scene->table[g].id + i * group->geometries;
    if (inner.ray.state == RAY_LIVE) scan_scene(&inner, cast, m);
  }
}

static int compare_hits(const void *a, const void *b) {
  const slab_hit *x = a, *y = b;
  if (x->t != y->t) return x->t < y->t ? -1 : 1;
  if (x->geometry != y->geometry) return x->geometry < y->geometry ? -1 : 1;
  return x->primitive < y->primitive ? -1 : x->primitive > y->primitive;
}

/* A hit that the scene shows. Its attributes are computed where the primitive is, and transformed outside on the way
 * back. */
slab_hit reference_hit(const snapshot *scene, const cast_uniforms *cast, const prepared_ray *ray, float t,
                       slab_primitive_id id) {
  const uint32_t g = entry_of_id(scene->table, scene->geometries, id.geometry);
  const geometry_entry *entry = &scene->table[g];
  if (entry->kind != SHAPE_INSTANCE) {
    float space[FLOATS_MOST];
    const float *values = values_at(scene->values[g], primitive_floats(entry->kind), id.primitive, space);
    return hit_at(ray, entry, id.geometry, values, 0, cast, t, entry->global_id_base + id.primitive);
  }
  const instance_group *group = scene->groups[g];
  const uint32_t beyond = id.geometry - entry->id;
  const instance_entry *instance = &group->instances[beyond / group->geometries];
  prepared_ray inner;
  instance_ray(ray, instance, &inner);
  slab_hit hit = reference_hit(scene->models[g].snapshot, cast, &inner, instance_t_inside(&inner, t),
                               (slab_primitive_id){id.primitive, beyond % group->geometries});
  instance_normal(instance, hit.normal);
  hit.geometry = id.geometry;
  hit.t = ray_final_t(ray, t);
  return hit;
}

/* The kind of a geometry, which may be a model's. */
static uint32_t kind_of(const snapshot *scene, uint32_t id) {
  const uint32_t g = entry_of_id(scene->table, scene->geometries, id);
  if (scene->table[g].kind != SHAPE_INSTANCE) return scene->table[g].kind;
  return kind_of(scene->models[g].snapshot, (id - scene->table[g].id) % scene->groups[g]->geometries);
}

bool reference_cast(const snapshot *scene, const cast_uniforms *cast, slab_query query, const slab_ray *given,
                    const ray_own *own, reference_answer *answer) {
  const reference_depth depth = {.scene = scene, .ray = ray_prepare(given)};
  const prepared_ray *ray = &depth.ray;
  reference_state m = {.query = query, .own = *own, .answer = answer};
  if (ray->state == RAY_LIVE) scan_scene(&depth, cast, &m);
  if (m.out_of_memory) return false;
  const bool found = m.count > 0;
  const uint32_t why = reason_of(ray);
  answer->count = m.count;
  answer->any = found;
  answer->invalid = ray->state == RAY_INVALID;
  answer->distance = found ? ray_final_t(ray, m.t) : INFINITY;
  answer->nearest = (slab_short_hit){answer->distance, found ? m.best.primitive : why, found ? m.best.geometry : why};
  if (query == SLAB_CLOSEST) answer->closest = found ? reference_hit(scene, cast, ray, m.t, m.best) : hit_none(why);
  if (query == SLAB_INTERVAL)
    answer->interval = found ? interval_of(kind_of(scene, m.best.geometry), ray, given, m.t, m.leave, m.best.primitive,
                                           m.best.geometry)
                             : interval_none(why);
  if (query != SLAB_ALL || !found) return true;
  qsort(answer->all, m.count, sizeof *answer->all, compare_hits);
  if (cast->most != 0 && m.count > cast->most) answer->count = cast->most;
  for (uint32_t k = 0; k < answer->count; k++)
    answer->all[k] = reference_hit(scene, cast, ray, answer->all[k].t,
                                   (slab_primitive_id){answer->all[k].primitive, answer->all[k].geometry});
  return true;
}
