/* Runs the kernels' maths as C11 on every primitive, in order. No closer hit shortens the range. */
#include "reference.h"

#include <stdlib.h>

#include "../snapshot.h"
#include "answer.h"
#include "base/per_processor.h"

typedef struct reference_state {
  slab_query query;
  uint32_t skip;
  uint32_t global_id, count;
  float t, leave;
  reference_answer *answer;
  bool out_of_memory;
} reference_state;

static bool keep_hit(reference_answer *a, uint32_t index, float t, uint32_t global_id) {
  if (index == a->capacity) {
    uint32_t capacity = a->capacity == 0 ? 64 : 2 * a->capacity;
    slab_hit *grown = realloc(a->all, capacity * sizeof *grown);
    if (grown == NULL) return false;
    a->all = grown;
    a->capacity = capacity;
  }
  a->all[index].t = t;
  a->all[index].primitive = global_id;
  return true;
}

static void take(reference_state *m, const prepared_ray *ray, float crossing, float leave, uint32_t global_id) {
  if (global_id == m->skip) return;
  const float t = ray_t_written(ray, crossing);
  if (m->query == SLAB_ALL && !keep_hit(m->answer, m->count, t, global_id)) {
    m->out_of_memory = true;
    return;
  }
  if (m->count == 0 || t < m->t) { /* primitives come in ascending order: the first of equal hits stays */
    m->t = t;
    m->leave = leave;
    m->global_id = global_id;
  }
  m->count++;
}

static inline __attribute__((always_inline)) void scan(uint kind, reference_state *m, const prepared_ray *ray,
                                                       const geometry_entry *entry, const geometry_values *of,
                                                       const cast_uniforms *cast) {
  float room[ROWS_MOST];
  for (uint i = 0; i < entry->count; i++) {
    const float *values = values_at(of, primitive_rows(kind), i, room);
    float t, leave = 0.0f;
    mask hit = m->query == SLAB_INTERVAL ? primitive_solid(kind, ray, values, ray->t_max, cast->rules, &t, &leave)
                                         : primitive_surface(kind, ray, values, ray->t_max, cast->rules, &t);
    if (hit) take(m, ray, t, leave, entry->global_id_base + i);
  }
}

PER_PROCESSOR static void scan_scene(const snapshot *scene, const cast_uniforms *cast, const prepared_ray *ray,
                                     reference_state *m) {
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    if ((entry->mask & cast->mask) == 0) continue; /* so for a geometry that is disabled or removed */
    const geometry_values *values = scene->values[g];
#define SCAN_KIND(shape, name, names, noun, rows, form, place, source) \
  if (entry->kind == shape) scan(shape, m, ray, entry, values, cast);
    SHAPES(SCAN_KIND)
#undef SCAN_KIND
  }
}

static int compare_hits(const void *a, const void *b) {
  const slab_hit *x = a, *y = b;
  if (x->t != y->t) return x->t < y->t ? -1 : 1;
  return x->primitive < y->primitive ? -1 : x->primitive > y->primitive;
}

static slab_hit hit_of_primitive(const snapshot *scene, const cast_uniforms *cast, const prepared_ray *ray, float t,
                                 uint32_t global_id) {
  const uint32_t geometry = geometry_of(scene->table, scene->geometries, global_id);
  const geometry_entry *entry = &scene->table[geometry];
  float room[ROWS_MOST];
  const float *values =
      values_at(scene->values[geometry], primitive_rows(entry->kind), global_id - entry->global_id_base, room);
  return hit_at(ray, entry, geometry, values, 0, cast, t, global_id);
}

bool reference_cast(const snapshot *scene, const cast_uniforms *cast, slab_query query, const slab_ray *given,
                    slab_primitive_id skip, reference_answer *answer) {
  const scene_view view = {.table = scene->table, .cast = cast};
  const prepared_ray ray = ray_prepare(given);
  reference_state m = {.query = query, .global_id = SLAB_MISS, .answer = answer};
  m.skip = skipped_global_id(scene->table, scene->geometries, skip);
  if (ray.state == RAY_LIVE) scan_scene(scene, cast, &ray, &m);
  if (m.out_of_memory) return false;
  const bool found = m.count > 0;
  answer->count = m.count;
  answer->any = found;
  answer->invalid = ray.state == RAY_INVALID;
  answer->distance = found ? ray_final_t(&ray, m.t) : INFINITY;
  distance_write(&answer->nearest, 0, answer->distance, found ? m.global_id : reason_of(&ray), &view);
  if (query == SLAB_CLOSEST)
    answer->closest = found ? hit_of_primitive(scene, cast, &ray, m.t, m.global_id) : hit_none(reason_of(&ray));
  if (query == SLAB_INTERVAL) {
    answer->interval = interval_none(reason_of(&ray));
    if (found) {
      uint geometry = geometry_of(scene->table, scene->geometries, m.global_id);
      const geometry_entry *entry = &scene->table[geometry];
      answer->interval =
          interval_of(entry->kind, &ray, given, m.t, m.leave, m.global_id - entry->global_id_base, geometry);
    }
  }
  if (query != SLAB_ALL || !found) return true;
  qsort(answer->all, m.count, sizeof *answer->all, compare_hits);
  if (cast->most != 0 && m.count > cast->most) answer->count = cast->most;
  for (uint32_t k = 0; k < answer->count; k++)
    answer->all[k] = hit_of_primitive(scene, cast, &ray, answer->all[k].t, answer->all[k].primitive);
  return true;
}
