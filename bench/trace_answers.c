#include "trace_answers.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool trace_answers_open(trace_answers *a, size_t n) {
  *a = (trace_answers){.offsets = malloc((n + 1) * sizeof *a->offsets)};
  return trace_answers_reserve(a, n) && a->offsets != NULL;
}

bool trace_answers_reserve(trace_answers *a, uint64_t hits) {
  if (hits <= a->hits) return true;
  free(a->results);
  a->results = malloc(hits * sizeof(slab_hit));
  a->hits = a->results != NULL ? hits : 0;
  return a->results != NULL;
}

void trace_answers_close(trace_answers *a) {
  free(a->results);
  free(a->offsets);
}

bool trace_answers_equal(slab_query query, size_t n, const trace_answers *a, const trace_answers *b) {
  if (query != SLAB_ALL) return memcmp(a->results, b->results, n * slab_result_size(query)) == 0;
  return memcmp(a->offsets, b->offsets, (n + 1) * sizeof *a->offsets) == 0 &&
         memcmp(a->results, b->results, a->offsets[n] * sizeof(slab_hit)) == 0;
}

static uint64_t hits_of(slab_query query, const trace_answers *a, size_t i) {
  switch (query) {
    case SLAB_CLOSEST:
      return ((const slab_hit *)a->results)[i].t < INFINITY;
    case SLAB_ANY:
      return ((const uint8_t *)a->results)[i];
    case SLAB_COUNT:
      return ((const uint32_t *)a->results)[i];
    default:
      return a->offsets[i + 1] - a->offsets[i];
  }
}

static float length_of(const float v[3]) { return sqrtf(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

/* Of a hit on both sides. */
static bool t_differs(float a, float b, float within) { return !(fabsf(a - b) <= 1e-3f * fmaxf(a, b) + within); }

/* within: of t. */
static bool ray_differs(slab_query query, const trace_answers *a, const trace_answers *b, size_t i, float within) {
  const uint64_t hits = hits_of(query, a, i);
  if (hits != hits_of(query, b, i)) return true;
  if (query != SLAB_CLOSEST && query != SLAB_ALL) return false;
  const slab_hit *first = (const slab_hit *)a->results + (query == SLAB_ALL ? a->offsets[i] : i);
  const slab_hit *second = (const slab_hit *)b->results + (query == SLAB_ALL ? b->offsets[i] : i);
  for (uint64_t k = 0; k < hits; k++)
    if (t_differs(first[k].t, second[k].t, within)) return true;
  return false;
}

double trace_answers_differ(slab_query query, const slab_ray *rays, size_t n, float near, const trace_answers *a,
                            const trace_answers *b) {
  size_t differ = 0;
  for (size_t i = 0; i < n; i++) differ += ray_differs(query, a, b, i, near / length_of(rays[i].direction));
  return (double)differ / (double)n;
}

double trace_answers_hits(slab_query query, size_t n, const trace_answers *a) {
  uint64_t hits = 0;
  for (size_t i = 0; i < n; i++) hits += hits_of(query, a, i);
  return (double)hits / (double)n;
}

static bool pick_hits(const trace_answers *from, size_t step, size_t count, trace_answers *to) {
  to->offsets[0] = 0;
  for (size_t k = 0; k < count; k++) to->offsets[k + 1] = to->offsets[k] + hits_of(SLAB_ALL, from, k * step);
  if (!trace_answers_reserve(to, to->offsets[count])) return false;
  for (size_t k = 0; k < count; k++)
    memcpy((slab_hit *)to->results + to->offsets[k], (const slab_hit *)from->results + from->offsets[k * step],
           (to->offsets[k + 1] - to->offsets[k]) * sizeof(slab_hit));
  return true;
}

bool trace_answers_pick(slab_query query, const trace_answers *from, size_t step, size_t count, trace_answers *to) {
  const size_t size = slab_result_size(query);
  if (query == SLAB_ALL) return pick_hits(from, step, count, to);
  for (size_t k = 0; k < count; k++)
    memcpy((char *)to->results + k * size, (const char *)from->results + k * step * size, size);
  return true;
}
