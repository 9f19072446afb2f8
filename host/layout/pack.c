/* Packs geometry for a lane width: blocks of `lanes` primitives, stored by component, so that one load reads a
 * component of all of them. */
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bvh/memory.h"
#include "data/types.h"
#include "layout/layout.h"
#include "maths/primitive.h"
#include "os/memory.h"
#include "record/snapshot.h"
#include "shapes/primitive.h"
#include "shapes/values.h"

/* Zero for a geometry that is disabled or removed. */
static size_t blocks_of(const geometry_entry *entry, uint32_t lanes) {
  if (entry->mask == 0) return 0;
  return ((size_t)entry->count + lanes - 1) / lanes;
}

static size_t floats_of(const geometry_entry *entry, uint32_t lanes) {
  size_t floats = blocks_of(entry, lanes) * lanes * primitive_floats(entry->kind);
  return (floats + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
}

/* Transposes one geometry. Lanes beyond its end repeat its last primitive, and kernels leave their hits out (query.h).
 * Primitives that no ray can hit could do without that. But they raise other floating-point flags than other primitives
 * do, as NaN does. A call that has to restore those waits some 100 ns (base/arithmetic.h), as long as a ray takes. */
static void pack_geometry(const geometry_entry *entry, const geometry_values *values, uint32_t lanes, float *blocks) {
  const uint32_t floats = primitive_floats(entry->kind);
  const size_t padded = blocks_of(entry, lanes) * lanes;
  float space[FLOATS_MOST];
  for (size_t i = 0; i < padded; i++) {
    const float *from = values_at(values, floats, i < entry->count ? (uint32_t)i : entry->count - 1, space);
    float *to = blocks + i / lanes * lanes * floats + i % lanes;
    for (size_t r = 0; r < floats; r++) to[r * lanes] = from[r];
  }
  const size_t used = padded * floats;
  memset(blocks + used, 0, (floats_of(entry, lanes) - used) * sizeof *blocks); /* to the end of the last BLOCK_UNIT */
}

slab_status pack_scene(const snapshot *scene, uint32_t lanes, geometry_entry **table, float **blocks, size_t *floats) {
  *floats = 0;
  for (uint32_t g = 0; g < scene->geometries; g++) *floats += floats_of(&scene->table[g], lanes);
  if (*floats / BLOCK_UNIT > UINT32_MAX)
    return fail(SLAB_OUT_OF_MEMORY, "the scene's geometry takes %zu bytes, more than the 256 GiB a scene may hold",
                *floats * sizeof(float));
  *table = malloc((scene->geometries + 1) * sizeof **table); /* + 1: an empty scene is no failure */
  *blocks = bvh_allocate(*floats + 1, sizeof **blocks);
  if (*table == NULL || *blocks == NULL) {
    free(*table);
    os_free(*blocks);
    return fail_memory(*floats * sizeof **blocks, "the scene's geometry");
  }
  size_t at = 0;
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_entry *entry = &scene->table[g];
    (*table)[g] = *entry;
    (*table)[g].first = (uint32_t)(at / BLOCK_UNIT);
    if (is_hidden(scene, g))
      (*table)[g].count = 0;
    else
      pack_geometry(entry, scene->values[g], lanes, *blocks + at);
    at += floats_of(entry, lanes);
  }
  return SLAB_OK;
}
