#include "schedule/lists.h"

#include <stdlib.h>

#include "base/status.h"
#include "device/context.h"
#include "schedule/parts.h"
#include "schedule/scheduler.h"
#include "work/hit_batch.h"

/* Counts the hits of the rays from `first` on without keeping hits. */
static slab_status count_rest(cast *c, size_t first, uint64_t *counts) {
  const size_t n = c->n - first;
  uint32_t *counted = malloc(n * sizeof *counted + 1);
  if (counted == NULL) return fail_memory(n * sizeof *counted, "hit counts");
  const slab_status status = cast_some(c, SLAB_COUNT, first, n, counted, NULL);
  const uint32_t most = max_hits(c) != 0 ? max_hits(c) : UINT32_MAX;
  for (size_t i = 0; status == SLAB_OK && i < n; i++) counts[first + i] = counted[i] < most ? counted[i] : most;
  free(counted);
  return status;
}

/* Counts all hits. With a capacity, also collects the hits of as many rays as the collection holds. */
static slab_status count_offsets(cast *c, collection *to, uint64_t *offsets) {
  cast collecting = *c;
  collecting.collected = to;
  slab_status status = to->most > 0 ? schedule_rays(&collecting) : SLAB_OK;
  c->progress_done = collecting.progress_done;
  c->invalid = collecting.invalid;
  if (status == SLAB_OK && to->rays < c->n) status = count_rest(c, to->rays, to->counts);
  if (status != SLAB_OK) return status;
  uint64_t sum = offsets[0] = 0;
  for (size_t i = 1; i <= c->n; i++) offsets[i] = sum += offsets[i];
  return SLAB_OK;
}

/* Copies collected hits to their places, and casts the rays again whose hits were not collected. */
static slab_status fill_in(cast *c, const collection *from, const uint64_t *offsets) {
  slab_status status = SLAB_OK;
  size_t end = c->n;
  batches_place(from->batches, offsets, c->results, c->scene->context->threads);
  for (const hit_batch *b = from->batches; b != NULL && status == SLAB_OK; b = b->next) {
    if (b->lost) continue;
    const size_t next = b->first + b->rays;
    if (next < end) status = cast_some(c, SLAB_ALL, next, end - next, c->results, offsets + next);
    end = b->first;
  }
  return status == SLAB_OK && end > 0 ? cast_some(c, SLAB_ALL, 0, end, c->results, offsets) : status;
}

slab_status cast_all(cast *c, uint64_t *offsets, uint64_t capacity, uint64_t *required) {
  slab_status status = SLAB_OK;
  if (offsets == NULL) status = fail(SLAB_INVALID_ARGUMENT, "%s: offsets is NULL", c->function);
  if (status == SLAB_OK && capacity > 0 && c->results == NULL)
    status =
        fail(SLAB_INVALID_ARGUMENT, "%s: hits is NULL and capacity %llu", c->function, (unsigned long long)capacity);
  if (status != SLAB_OK) return status;
  c->progress_total = capacity > 0 ? 2 * (uint64_t)c->n : c->n;
  collection collected = {.counts = offsets + 1, .most = capacity};
  status = count_offsets(c, &collected, offsets);
  if (status == SLAB_OK && required != NULL) *required = offsets[c->n];
  if (status == SLAB_OK && c->options != NULL && c->options->invalid != NULL) *c->options->invalid = c->invalid;
  if (status == SLAB_OK && capacity > 0 && capacity < offsets[c->n])
    status = fail(SLAB_CAPACITY, "%s: %llu hits, and capacity is %llu", c->function, (unsigned long long)offsets[c->n],
                  (unsigned long long)capacity);
  if (status == SLAB_OK && capacity > 0) status = fill_in(c, &collected, offsets);
  batches_free(collected.batches);
  return status;
}
