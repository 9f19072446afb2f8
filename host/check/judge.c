/* Converts a scene to the oracle's form. */
#include "check/judge.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "maths/primitive.h"
#include "record/snapshot.h"
#include "scene/models.h"
#include "shapes/primitive.h"
#include "shapes/values.h"

/* The most pairs of ray and primitive that the oracle decides in one check: about one second of work. In larger batches
 * it judges evenly spaced rays. */
#define JUDGED_PAIRS 5e7

/* Floats that a geometry's triangles take beside its vertices. */
static size_t expanded_floats(const snapshot *scene, uint32_t g) {
  if (is_hidden(scene, g) || !scene->values[g]->indexed) return 0;
  return (size_t)scene->table[g].count * primitive_floats(scene->table[g].kind);
}

/* A snapshot in the oracle's form. */
typedef struct judged_scene {
  const snapshot *of;
  oracle_scene scene;
  oracle_geometry *geometries;
  float *expanded;  /* triangles of meshes that are kept with indices */
  uint8_t *dropped; /* flags of all geometries, one after the other */
  oracle_instance *instances;
  struct judged_scene *next;
} judged_scene;

static oracle_geometry geometry_of_judge(const geometry_entry *entry, const geometry_values *v, float *expanded,
                                         uint8_t *dropped) {
  const uint32_t floats = primitive_floats(entry->kind);
  const float *primitives = v->indexed ? expanded : v->values;
  float space[FLOATS_MOST];
  for (uint32_t i = 0; i < entry->count; i++) {
    const float *values = values_at(v, floats, i, space);
    dropped[i] = primitive_is_void((slab_shape)entry->kind, values);
    if (v->indexed) memcpy(expanded + (size_t)i * floats, values, floats * sizeof *expanded);
  }
  return (oracle_geometry){.kind = (slab_shape)entry->kind,
                           .primitives = primitives,
                           .count = entry->count,
                           .mask = entry->mask,
                           .dropped = dropped,
                           .id = entry->id,
                           .world = v->world};
}

static oracle_geometry instances_of_judge(const geometry_entry *entry, const instance_group *group,
                                          const oracle_scene *model, oracle_instance *instances) {
  for (uint32_t i = 0; i < group->count; i++) {
    memcpy(instances[i].inverse, group->instances[i].inverse, sizeof instances[i].inverse);
    memcpy(instances[i].place, group->instances[i].place, sizeof instances[i].place);
    instances[i].world = group->instances[i].world;
  }
  return (oracle_geometry){
      .primitives = instances, .count = group->count, .mask = entry->mask, .model = model, .id = entry->id};
}

static slab_status allocate(judged_scene *made) {
  const snapshot *s = made->of;
  size_t floats = 0, instances = 0;
  for (uint32_t g = 0; g < s->geometries; g++) {
    floats += expanded_floats(s, g);
    instances += s->groups[g] != NULL ? s->groups[g]->count : 0;
  }
  made->geometries = calloc(s->geometries + (size_t)1, sizeof *made->geometries);
  made->expanded = malloc((floats + 1) * sizeof *made->expanded);
  made->dropped = malloc(s->primitives + 1);
  made->instances = malloc((instances + 1) * sizeof *made->instances);
  if (made->geometries != NULL && made->expanded != NULL && made->dropped != NULL && made->instances != NULL)
    return SLAB_OK;
  return fail_memory(s->primitives + floats * sizeof *made->expanded + instances * sizeof *made->instances,
                     "the oracle");
}

static slab_status judged_of(judge *, const snapshot *, const oracle_scene **);

static slab_status fill(judge *j, judged_scene *made) {
  const snapshot *s = made->of;
  float *expanded = made->expanded;
  oracle_instance *instances = made->instances;
  for (uint32_t g = 0; g < s->geometries; g++) {
    const geometry_entry *entry = &s->table[g];
    const oracle_scene *model = NULL;
    made->geometries[g].id = entry->id;
    if (is_hidden(s, g)) continue;
    if (s->groups[g] == NULL) {
      made->geometries[g] = geometry_of_judge(entry, s->values[g], expanded, made->dropped + entry->global_id_base);
      expanded += expanded_floats(s, g);
      continue;
    }
    const slab_status status = judged_of(j, s->models[g].snapshot, &model);
    if (status != SLAB_OK) return status;
    made->geometries[g] = instances_of_judge(entry, s->groups[g], model, instances);
    instances += s->groups[g]->count;
  }
  made->scene = (oracle_scene){.geometries = made->geometries, .count = s->geometries, .ids = s->ids};
  oracle_measure(&made->scene);
  return SLAB_OK;
}

/* The scene of a snapshot, which is made once. */
static slab_status judged_of(judge *j, const snapshot *of, const oracle_scene **scene) {
  judged_scene *made = j->judged;
  while (made != NULL && made->of != of) made = made->next;
  if (made != NULL) {
    *scene = &made->scene;
    return SLAB_OK;
  }
  made = calloc(1, sizeof *made);
  if (made == NULL) return fail_memory(sizeof *made, "the oracle");
  made->of = of;
  made->next = j->judged;
  j->judged = made;
  *scene = &made->scene;
  const slab_status status = allocate(made);
  return status == SLAB_OK ? fill(j, made) : status;
}

slab_status judge_begin(const snapshot *scene, size_t n, judge *j) {
  *j = (judge){.stride = 1 + (uint64_t)((double)n * (double)scene->shown / JUDGED_PAIRS)};
  return judged_of(j, scene, &j->scene);
}

void judge_end(judge *j) {
  for (judged_scene *made = j->judged, *next; made != NULL; made = next) {
    next = made->next;
    free(made->geometries);
    free(made->expanded);
    free(made->dropped);
    free(made->instances);
    free(made);
  }
}
