/* A stopwatch, statistics of its readings, and their date. */
#ifndef SLABCAST_SETS_TIMING_H
#define SLABCAST_SETS_TIMING_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include "os/clock.h"

enum { ROUNDS_MAX = 101 };

/* Wall time, or the processor time of all threads of the process. Processor time can be measured on a busy machine. */
static inline double timing_now(int processor_time) { return processor_time ? seconds_of_process() : seconds_now(); }

typedef struct timing {
  double seconds[ROUNDS_MAX];
  int rounds;
} timing;

typedef struct timing_summary {
  double best, median, spread; /* spread: of the middle half of the readings, as a fraction of the median */
} timing_summary;

static inline int timing_compare(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static inline timing_summary timing_summarise(const timing *t) {
  timing sorted = *t;
  if (t->rounds == 0) return (timing_summary){0};
  qsort(sorted.seconds, (size_t)t->rounds, sizeof *sorted.seconds, timing_compare);
  const double median = sorted.seconds[t->rounds / 2];
  const double half = sorted.seconds[3 * t->rounds / 4] - sorted.seconds[t->rounds / 4];
  return (timing_summary){sorted.seconds[0], median, half / median};
}

typedef struct timing_date {
  char text[32];
} timing_date;

/* Now, in UTC, as 2026-11-27T21:30:00Z; empty where the system does not know it. One thread may call this at a time. */
static inline timing_date timing_date_now(void) {
  timing_date date = {""};
  const time_t now = time(NULL);
  const struct tm *parts = gmtime(&now);
  if (parts != NULL) strftime(date.text, sizeof date.text, "%Y-%m-%dT%H:%M:%SZ", parts);
  return date;
}

#endif
