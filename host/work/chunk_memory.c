#include "work/chunk_memory.h"

#include <stdlib.h>

#include "base/status.h"
#include "work/ray_order.h"

slab_status chunk_memory_offsets(chunk_memory *m, const cast *c, const chunk *of) {
  const size_t size = ((size_t)of->count + 1) * sizeof *m->offsets;
  const uint64_t *from = c->offsets + of->first;
  m->offsets = malloc(size);
  if (m->offsets == NULL) return fail_memory(size, "offsets");
  for (size_t i = 0; i <= of->count; i++) m->offsets[i] = (uint32_t)(from[i] - from[0]);
  return SLAB_OK;
}

slab_status chunk_memory_sort(chunk_memory *m, const cast *c, const chunk *of, const slab_ray *rays, uint32_t threads) {
  const slab_scene_stats *bounds = &c->scene->stats;
  m->sorted = rays_sorted(rays, of->count, bounds->lower, bounds->upper, threads);
  return m->sorted == NULL ? fail_memory(of->count * sizeof *m->sorted, "sorting rays") : SLAB_OK;
}

slab_status chunk_memory_hits(chunk_memory *m, device *d, const chunk *of, uint32_t walks, cast_uniforms *u) {
  u->space = space_of(&of->known, chunk_space(d), of->count, walks);
  u->at[AT_RESULTS] = (uint32_t)(space_begin(of->count) / sizeof(uint32_t));
  m->batch = batch_create(&d->kept, of->first, of->count, &u->space, d->in_place);
  return m->batch == NULL ? fail_memory(space_size(of->count, &u->space), "hits") : SLAB_OK;
}

void chunk_memory_free(chunk_memory *m) {
  free(m->offsets);
  free(m->sorted);
  batches_free(m->batch);
  *m = (chunk_memory){0};
}
