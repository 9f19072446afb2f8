/* Converts a scene to the oracle's form. */
#include "judge.h"

#include <stdlib.h>
#include <string.h>

#include "../base/status.h"
#include "../geometry.h"
#include "../snapshot.h"
#include "primitive.h"

/* The most pairs of ray and primitive that the oracle decides in one check: about one second of work. In larger batches
 * it judges evenly spaced rays. */
#define JUDGED_PAIRS 5e7

/* Floats that a geometry's triangles take beside its vertices. */
static size_t expanded_floats(const snapshot *scene, uint32_t g) {
  if (is_hidden(scene, g) || !scene->values[g]->indexed) return 0;
  return (size_t)scene->table[g].count * primitive_rows(scene->table[g].kind);
}

static oracle_geometry geometry_of_judge(const geometry_entry *entry, const geometry_values *v, float *expanded,
                                         uint8_t *dropped) {
  const uint32_t rows = primitive_rows(entry->kind);
  const float *primitives = v->indexed ? expanded : v->values;
  float room[ROWS_MOST];
  for (uint32_t i = 0; i < entry->count; i++) {
    const float *values = values_at(v, rows, i, room);
    dropped[i] = values_are_void(v, (slab_shape)entry->kind, values);
    if (v->indexed) memcpy(expanded + (size_t)i * rows, values, rows * sizeof *expanded);
  }
  return (oracle_geometry){(slab_shape)entry->kind, primitives, entry->count, entry->mask, dropped};
}

slab_status judge_begin(const snapshot *scene, size_t n, judge *j) {
  double pairs = (double)n * (double)scene->primitives;
  size_t floats = 0;
  *j = (judge){0};
  if (scene->has_instances) return SLAB_OK;
  j->stride = 1 + (uint64_t)(pairs / JUDGED_PAIRS);
  for (uint32_t g = 0; g < scene->geometries; g++) floats += expanded_floats(scene, g);
  j->geometries = malloc((scene->geometries + 1) * sizeof *j->geometries);
  j->expanded = malloc((floats + 1) * sizeof *j->expanded);
  j->dropped = malloc(scene->primitives + 1);
  if (j->geometries == NULL || j->expanded == NULL || j->dropped == NULL)
    return fail_memory(scene->primitives + floats * sizeof *j->expanded, "the oracle");
  floats = 0;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    j->geometries[g] = (oracle_geometry){.kind = (slab_shape)entry->kind};
    if (is_hidden(scene, g)) continue;
    j->geometries[g] =
        geometry_of_judge(entry, scene->values[g], j->expanded + floats, j->dropped + entry->global_id_base);
    floats += expanded_floats(scene, g);
  }
  j->scene = (oracle_scene){j->geometries, scene->geometries};
  return SLAB_OK;
}

void judge_end(judge *j) {
  free(j->geometries);
  free(j->expanded);
  free(j->dropped);
}
