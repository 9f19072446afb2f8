/* Prints the BVH benchmark's table and its summary, and writes the same data as CSV. */
#ifndef SLABCAST_BENCH_TRACE_REPORT_H
#define SLABCAST_BENCH_TRACE_REPORT_H

#include <stdbool.h>
#include <stdio.h>

#include "embree.h"
#include "slabcast.h"
#include "timing.h"

/* One cell: a scene, a set of rays, a query. */
typedef struct trace_row {
  const char *scene, *set, *query;
  uint32_t primitives;
  size_t rays;
  double hit_share;
  double differ; /* largest share of rays whose answer differs from Embree's */
  timing ours, theirs[EMBREE_CALLS];
} trace_row;

/* A ratio over all cells. */
typedef struct trace_total {
  double logarithms, worst;
  char worst_cell[96];
} trace_total;

typedef struct trace_report {
  const slab_device_info *device;
  int processor_time, cells;
  FILE *csv; /* owned; NULL: none */
  trace_total fast, medians, robust;
} trace_report;

void trace_report_begin(trace_report *, const slab_device_info *, int processor_time, FILE *csv);
void trace_report_row(trace_report *, const trace_row *);
/* Prints the geometric means and the worst cells. Returns false where the CSV is incomplete. */
bool trace_report_end(trace_report *);

#endif
