/* Sums over rows of rays as the caller describes them. */
#ifndef SLABCAST_SCHEDULE_SUMS_H
#define SLABCAST_SCHEDULE_SUMS_H

#include "record/sums.h"
#include "slabcast.h"

/* SLAB_INVALID_ARGUMENT where slab_cast does not write such results of this query and source. */
slab_status sums_check(slab_query, const slab_source *, const slab_results *);
/* A cast's data of sums, from results that were checked. sums_close follows, also after a failure. */
slab_status sums_open(slab_query, const slab_source *, const slab_results *, row_sums *);
/* Writes the results of so many rows after the cast. */
void sums_write(const row_sums *, size_t rows, const slab_results *);
void sums_close(row_sums *, const slab_results *);

#endif
