/* Prints the table of the flat benchmark, and writes the same data as CSV. */
#ifndef SLABCAST_BENCH_REPORT_H
#define SLABCAST_BENCH_REPORT_H

#include <stdio.h>

#include "sets/timing.h"
#include "slabcast.h"

/* One row: a scene, a set of rays, a query. */
typedef struct report_row {
  const char *shape, *rays, *query;
  uint32_t primitives, threads;
  size_t ray_count;
  double hit_share;
  double tests;               /* primitives tested by each side in one run; for any, up to the block of the first hit */
  timing ours, simd_baseline; /* simd_baseline.rounds 0: there is no baseline */
  double ceiling;             /* tests per second; 0: not measured */
  double clock;               /* cycles per second */
  uint32_t lanes;             /* of the SIMD baseline */
} report_row;

typedef enum report_verdict {
  REPORT_SOUND,
  REPORT_VOID, /* the SIMD baseline or its ceiling is too slow for a comparison */
  REPORT_WRONG /* faster than is possible: the measurement is wrong */
} report_verdict;

void report_header(FILE *, const slab_device_info *, const char *against, int processor_time);
/* Prints the row and judges it. */
report_verdict report_print(FILE *, const report_row *);

void report_csv_header(FILE *);
void report_csv(FILE *, const slab_device_info *, const char *against, int processor_time, const report_row *);

#endif
