#include "schedule/parts.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "schedule/scheduler.h"

slab_status cast_these(cast *c, slab_query query, const slab_ray *rays, size_t first, size_t n, void *results,
                       const uint64_t *offsets) {
  slab_cast_options options = {0};
  if (c->options != NULL) options = *c->options;
  if (options.skip != NULL) options.skip += first;
  if (options.masks != NULL) options.masks += first;
  if (options.after != NULL) options.after += first;
  if (options.worlds != NULL) options.worlds += first;
  cast some = *c;
  set_rays set;
  some.query = query;
  if (c->set != NULL) {
    set = set_part(c->set, first, n);
    some.set = &set;
  }
  some.rays = rays;
  some.n = n;
  some.before = first;
  some.results = results;
  some.result_size = slab_result_size(query);
  some.offsets = offsets;
  some.collected = NULL;
  some.options = &options;
  const slab_status status = schedule_rays(&some);
  c->progress_done = some.progress_done;
  c->invalid = some.invalid;
  return status;
}

slab_status cast_some(cast *c, slab_query query, size_t first, size_t n, void *results, const uint64_t *offsets) {
  return cast_these(c, query, c->rays != NULL ? c->rays + first : NULL, first, n, results, offsets);
}

/* Rays whose results are moved apart at once. */
#define CAST_APART ((size_t)1 << 18)

slab_status cast_apart(cast *c, size_t stride) {
  const size_t size = c->result_size, most = c->n < CAST_APART ? c->n : CAST_APART;
  unsigned char *results = malloc(most * size + 1);
  slab_status status = results != NULL ? SLAB_OK : fail_memory(most * size, "results");
  for (size_t first = 0; status == SLAB_OK && first < c->n; first += most) {
    const size_t n = c->n - first < most ? c->n - first : most;
    unsigned char *to = (unsigned char *)c->results + first * stride;
    status = cast_some(c, c->query, first, n, results, NULL);
    for (size_t i = 0; status == SLAB_OK && i < n; i++) memcpy(to + i * stride, results + i * size, size);
  }
  free(results);
  return status;
}
