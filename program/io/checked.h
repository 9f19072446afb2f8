/* The findings of --check, over all batches. */
#ifndef SLABCAST_PROGRAM_IO_CHECKED_H
#define SLABCAST_PROGRAM_IO_CHECKED_H

#include <jansson.h>
#include <stdint.h>

#include "slabcast.h"

typedef struct check_tally {
  uint64_t checked, mismatches, oracle_rays, oracle_wrong, oracle_undecided;
} check_tally;

/* Whether an answer differs from the reference's or the oracle's. */
static inline int check_tally_is_bad(const check_tally *tally) { return tally->mismatches || tally->oracle_wrong; }
/* Adds a batch's, and prints the first one that is bad. noun: "ray"; first: the batch's first index. */
void check_tally_add(check_tally *, const slab_check_report *, const char *noun, uint64_t first);
/* Prints the counts. */
void check_tally_tell(const check_tally *, const char *one, const char *several);
/* Adds them to a summary. judged: the name of the oracle's number. */
void check_tally_put(const check_tally *, const char *judged, json_t *summary);

#endif
