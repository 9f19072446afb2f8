/* Rays of a set that a formula makes, in the order of the set. */
#ifndef SLABCAST_RECORD_SET_RAYS_H
#define SLABCAST_RECORD_SET_RAYS_H

#include <stddef.h>
#include <stdint.h>

#include "data/ray_set.h"

typedef struct set_rays {
  ray_set set;
  const float *of_rows, *normals, *of_columns; /* the caller's; NULL: the set has none */
  uint64_t first;
  size_t count;
} set_rays;

/* Rays that one run of the kernel makes, at most: it counts from a row's begin on in 32 bits. */
#define MADE_AT_ONCE (1u << 30)

/* `count` of these rays, from the one numbered `from` on. */
static inline set_rays set_part(const set_rays *s, size_t from, size_t count) {
  set_rays part = *s;
  part.first += from;
  part.count = count;
  return part;
}

/* Where the first ray is. */
static inline uint32_t set_row_of(const set_rays *s) { return (uint32_t)(s->first / s->set.columns); }
static inline uint32_t set_column_of(const set_rays *s) { return (uint32_t)(s->first % s->set.columns); }

#endif
