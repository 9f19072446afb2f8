#include "program/mesh/points.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "program/mesh/builder.h"

static inline uint64_t hash_of(const uint32_t *point, size_t words) {
  uint64_t hash = 0;
  for (size_t k = 0; k < words; k++) {
    hash = (hash ^ point[k]) * 0x9E3779B97F4A7C15u;
    hash ^= hash >> 29;
  }
  return hash;
}

static inline bool is_same(const uint32_t *a, const uint32_t *b, size_t words) {
  for (size_t k = 0; k < words; k++)
    if (a[k] != b[k]) return false;
  return true;
}

static inline uint32_t *find_among(const point_set *set, const uint32_t *point, size_t words) {
  const uint32_t *at = set->at;
  size_t i = (size_t)hash_of(point, words) & (set->slot_count - 1);
  while (set->slots[i] != 0 && !is_same(at + (set->slots[i] - 1) * words, point, words))
    i = (i + 1) & (set->slot_count - 1);
  return &set->slots[i];
}

/* The entry of the point with these bits, or the free entry for it. The compiler knows the words of each. */
static uint32_t *find(const point_set *set, const uint32_t *point) {
  return set->words == POINT_OF_FLOATS ? find_among(set, point, POINT_OF_FLOATS)
                                       : find_among(set, point, POINT_OF_DOUBLES);
}

static uint32_t *point_at(const point_set *set, size_t i) { return (uint32_t *)set->at + i * set->words; }

static int grow(point_set *set) {
  if (set->count < set->capacity) return 0;
  if (mesh_grow(&set->at, &set->capacity, set->count, set->words * sizeof(uint32_t)) != 0) return -1;
  free(set->slots);
  set->slot_count = 2 * set->capacity;
  set->slots = calloc(set->slot_count, sizeof *set->slots);
  if (set->slots == NULL) return -1;
  for (uint32_t i = 0; i < set->count; i++) *find(set, point_at(set, i)) = i + 1;
  return 0;
}

int points_share(point_set *set, const uint32_t *point, uint32_t *index) {
  if (grow(set) != 0) return -1;
  uint32_t *slot = find(set, point);
  if (*slot == 0) {
    memcpy(point_at(set, set->count), point, set->words * sizeof *point);
    *slot = ++set->count;
  }
  *index = *slot - 1;
  return 0;
}

void points_free(point_set *set) {
  free(set->at);
  free(set->slots);
}
