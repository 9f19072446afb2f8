/* Sums over a row of rays, as docs/contract.md defines them, from the results of single rays: straight from the
 * definition, and sharing nothing with the kernels. */
#ifndef SLABCAST_SETS_SUMS_H
#define SLABCAST_SETS_SUMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

/* Whether a ray is valid. */
bool sums_ray_is_valid(const slab_ray *);

/* Bytes of a row's result; columns is not 0. */
size_t sums_size(const slab_results *, uint32_t columns);

/* Writes to `row` the result of `wanted`'s type (sums, a histogram or bits) for `columns` rays, whose results of the
 * query are bytes of SLAB_ANY or floats of SLAB_DISTANCE. */
void sums_of(const slab_results *wanted, slab_query query, const slab_ray *rays, uint32_t columns, const void *results,
             void *row);

/* Whether two results of a row have the same bits. A NaN equals a NaN. */
bool sums_same(const slab_results *wanted, uint32_t columns, const void *a, const void *b);

#endif
