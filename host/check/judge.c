/* Converts a scene to the oracle's form. */
#include "judge.h"

#include <stdlib.h>

#include "../base/status.h"
#include "../geometry.h"
#include "../snapshot.h"
#include "primitive.h"

/* The most pairs of ray and primitive that the oracle decides in one check: about one second of work. In larger batches
 * it judges evenly spaced rays. */
#define JUDGED_PAIRS 5e7

static void attributes_geometry(const geometry_entry *entry, const float *values, uint8_t *dropped,
                                oracle_geometry *out) {
  slab_shape kind = (slab_shape)entry->kind;
  for (uint32_t i = 0; i < entry->count; i++)
    dropped[i] = primitive_is_void(kind, values + (size_t)i * primitive_rows(kind));
  *out = (oracle_geometry){kind, values, entry->count, entry->mask, dropped};
}

slab_status judge_begin(const snapshot *scene, size_t n, judge *j) {
  double pairs = (double)n * (double)scene->primitives;
  *j = (judge){.stride = 1 + (uint64_t)(pairs / JUDGED_PAIRS)};
  j->geometries = malloc((scene->geometries + 1) * sizeof *j->geometries);
  j->dropped = malloc(scene->primitives + 1);
  if (j->geometries == NULL || j->dropped == NULL) return fail_memory(scene->primitives, "the oracle");
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    j->geometries[g] = (oracle_geometry){.kind = (slab_shape)entry->kind};
    if (!is_hidden(scene, g))
      attributes_geometry(entry, scene->values[g]->values, j->dropped + entry->global_id_base, &j->geometries[g]);
  }
  j->scene = (oracle_scene){j->geometries, scene->geometries};
  return SLAB_OK;
}

void judge_end(judge *j) {
  free(j->geometries);
  free(j->dropped);
}
