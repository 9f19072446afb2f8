#include "sets/answers.h"

#include <stdlib.h>
#include <string.h>

const char *answer_name(slab_query query) {
  static const char *const names[ANSWER_QUERIES] = {
      [SLAB_CLOSEST] = "closest", [SLAB_DISTANCE] = "distance", [SLAB_ANY] = "any",        [SLAB_COUNT] = "count",
      [SLAB_ALL] = "all",         [SLAB_INTERVAL] = "interval", [SLAB_NEAREST] = "nearest"};
  return names[query];
}

slab_status cast_query(slab_scene *scene, slab_query query, const slab_ray *rays, size_t n, void *results,
                       const slab_cast_options *options) {
  switch (query) {
    case SLAB_CLOSEST:
      return slab_closest(scene, rays, n, results, options);
    case SLAB_DISTANCE:
      return slab_distance(scene, rays, n, results, options);
    case SLAB_ANY:
      return slab_any(scene, rays, n, results, options);
    case SLAB_COUNT:
      return slab_count(scene, rays, n, results, options);
    case SLAB_INTERVAL:
      return slab_interval_of(scene, rays, n, results, options);
    case SLAB_NEAREST:
      return slab_nearest(scene, rays, n, results, options);
    case SLAB_ALL:
      break;
  }
  return SLAB_INVALID_ARGUMENT;
}

/* ---- allocation ---- */

/* Fill byte that no answer consists of: it shows results that were not written. */
#define UNWRITTEN 0xA5

static bool make_space(answers *a, size_t n) {
  if (n <= a->space && a->closest != NULL) return true;
  answers_free(a);
  a->closest = malloc(n * sizeof *a->closest + 1);
  a->distance = malloc(n * sizeof *a->distance + 1);
  a->any = malloc(n + 1);
  a->count = malloc(n * sizeof *a->count + 1);
  a->offsets = malloc((n + 1) * sizeof *a->offsets);
  a->interval = malloc(n * sizeof *a->interval + 1);
  a->nearest = malloc(n * sizeof *a->nearest + 1);
  a->space = n;
  const bool made = a->closest && a->distance && a->any && a->count && a->offsets && a->interval && a->nearest;
  if (!made) answers_free(a);
  return made;
}

static bool make_space_for_hits(answers *a, uint64_t hits) {
  if (hits <= a->hits_space && a->all != NULL) return true;
  free(a->all);
  a->hits_space = hits + hits / 4;
  a->all = a->hits_space < SIZE_MAX / sizeof *a->all ? malloc(a->hits_space * sizeof *a->all + 1) : NULL;
  if (a->all == NULL) a->hits_space = 0;
  return a->all != NULL;
}

void answers_free(answers *a) {
  void *arrays[] = {a->closest, a->distance, a->any, a->count, a->offsets, a->all, a->interval, a->nearest};
  for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
  *a = (answers){0};
}

static void *array_of(const answers *a, slab_query query) {
  void *const arrays[ANSWER_QUERIES] = {
      [SLAB_CLOSEST] = a->closest, [SLAB_DISTANCE] = a->distance, [SLAB_ANY] = a->any,        [SLAB_COUNT] = a->count,
      [SLAB_ALL] = a->all,         [SLAB_INTERVAL] = a->interval, [SLAB_NEAREST] = a->nearest};
  return arrays[query];
}

const void *answers_of(const answers *a, slab_query query) {
  return query == SLAB_ALL && a->offsets[a->n] == 0 ? NULL : array_of(a, query);
}

/* ---- casting ---- */

/* If the two passes of a device count differently, casts again, so that the answers can be judged. */
static slab_status cast_hits(answers *a, slab_scene *scene, const slab_ray *rays, size_t n,
                             const slab_cast_options *options) {
  uint64_t required = 0;
  memset(a->offsets, UNWRITTEN, (n + 1) * sizeof *a->offsets);
  slab_status status = slab_all(scene, rays, n, a->offsets, NULL, 0, &a->asked, options);
  if (status != SLAB_OK || a->asked == 0) return status;
  if (!make_space_for_hits(a, a->asked)) return SLAB_OUT_OF_MEMORY;
  memset(a->all, UNWRITTEN, a->hits_space * sizeof *a->all);
  status = slab_all(scene, rays, n, a->offsets, a->all, a->hits_space, &required, options);
  if (status != SLAB_CAPACITY) return status;
  if (!make_space_for_hits(a, required)) return SLAB_OUT_OF_MEMORY;
  return slab_all(scene, rays, n, a->offsets, a->all, a->hits_space, NULL, options);
}

slab_status answers_cast(answers *a, slab_query query, slab_scene *scene, const slab_ray *rays, size_t n,
                         const slab_cast_options *options) {
  slab_cast_options counted = {0};
  if (options != NULL) counted = *options;
  counted.invalid = &a->invalid[query];
  if (!make_space(a, n)) return SLAB_OUT_OF_MEMORY;
  a->n = n;
  if (query == SLAB_ALL) return cast_hits(a, scene, rays, n, &counted);
  memset(array_of(a, query), UNWRITTEN, n * slab_result_size(query));
  return cast_query(scene, query, rays, n, array_of(a, query), &counted);
}

slab_status answers_cast_set(answers *a, slab_query query, slab_scene *scene, const slab_rays *set, uint64_t first,
                             size_t n, const slab_cast_options *options) {
  const slab_source source = {.set = set, .first = first, .n = n};
  slab_cast_options counted = {0};
  slab_results results = {0};
  if (options != NULL) counted = *options;
  counted.invalid = &a->invalid[query];
  if (!make_space(a, n)) return SLAB_OUT_OF_MEMORY;
  a->n = n;
  results.offsets = query == SLAB_ALL ? a->offsets : NULL;
  if (query == SLAB_ALL) { /* the offsets first, which say how many hits there are */
    const slab_status status = slab_cast(scene, query, &source, &results, &counted);
    if (status != SLAB_OK) return status;
    a->asked = results.required;
    if (!make_space_for_hits(a, a->asked)) return SLAB_OUT_OF_MEMORY;
    results.capacity = a->asked;
  }
  results.memory = array_of(a, query);
  memset(results.memory, UNWRITTEN, (query == SLAB_ALL ? a->asked : n) * slab_result_size(query));
  return slab_cast(scene, query, &source, &results, &counted);
}

slab_status answers_cast_all(answers *a, slab_scene *scene, const slab_ray *rays, size_t n,
                             const slab_cast_options *options) {
  slab_status status = SLAB_OK;
  for (int q = 0; status == SLAB_OK && q < ANSWER_QUERIES; q++)
    status = answers_cast(a, (slab_query)q, scene, rays, n, options);
  return status;
}

/* ---- comparing ---- */

static bool same_hits(const answers *a, const answers *b, size_t i) {
  const uint64_t hits = a->offsets[i + 1] - a->offsets[i];
  if (hits != b->offsets[i + 1] - b->offsets[i]) return false;
  return hits == 0 || memcmp(a->all + a->offsets[i], b->all + b->offsets[i], hits * sizeof *a->all) == 0;
}

size_t answers_differ(const answers *a, const answers *b, slab_query query, size_t *first) {
  const char *x = array_of(a, query), *y = array_of(b, query);
  const size_t size = slab_result_size(query);
  size_t differing = 0;
  for (size_t i = 0; i < a->n; i++) {
    if (query == SLAB_ALL ? same_hits(a, b, i) : memcmp(x + i * size, y + i * size, size) == 0) continue;
    if (differing++ == 0) *first = i;
  }
  return differing;
}
