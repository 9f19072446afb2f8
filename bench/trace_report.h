/* Prints the BVH benchmark's tables and its summary, and writes the same data as CSV. */
#ifndef SLABCAST_BENCH_TRACE_REPORT_H
#define SLABCAST_BENCH_TRACE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "embree.h"
#include "sets/timing.h"
#include "sets/trace_rays.h"
#include "slabcast.h"

enum {
  TRACE_DEVICES = 2,
  TRACE_SCENES = 16,
  TRACE_QUERIES = 4,
  TRACE_CELLS = TRACE_SCENES * TRACE_SETS * TRACE_QUERIES
};

/* One cell: a scene, a set of rays, a query. The names live as long as the report. */
typedef struct trace_row {
  const char *scene, *set, *query;
  uint32_t primitives;
  size_t rays;
  double hits;   /* that a ray has on average; of closest and any at most 1 */
  double differ; /* largest share of rays whose answer differs from Embree's */
  timing ours[TRACE_DEVICES], theirs[EMBREE_CALLS];
} trace_row;

/* Millions of rays per second, in the fastest round and in the median one. */
typedef struct trace_rates {
  double best, median, spread;
} trace_rates;

/* Our two devices in one cell. Ratios of the first to the second: of their fastest rounds, and the median of the ratios
 * of each round, in which both were cast under the same load. */
typedef struct trace_pair {
  const char *scene, *set, *query;
  trace_rates ours[TRACE_DEVICES];
  double best, paired;
} trace_pair;

/* A ratio over all cells. */
typedef struct trace_total {
  double logarithms, worst;
  char worst_cell[96];
} trace_total;

typedef enum trace_ratio {
  RATIO_DEFAULT,
  RATIO_DEFAULT_MEDIAN,
  RATIO_ROBUST,
  RATIO_ROBUST_MEDIAN,
  RATIO_DEVICES,
  RATIO_DEVICES_PAIRED,
  RATIOS
} trace_ratio;

typedef struct trace_report {
  const slab_device_info *devices[TRACE_DEVICES];
  int device_count; /* the first is compared with Embree, and with the second, if there is one */
  int processor_time, cells;
  uint32_t threads; /* Embree's */
  FILE *csv;        /* owned; NULL: none */
  trace_total totals[RATIOS];
  trace_pair pairs[TRACE_CELLS];
} trace_report;

/* Sets the members above `csv`; the caller sets that, and zeroes the rest. */
void trace_report_begin(trace_report *);
/* At most TRACE_CELLS rows. */
void trace_report_row(trace_report *, const trace_row *);
/* Prints the geometric means and the worst cells. */
void trace_report_end(trace_report *);

#endif
