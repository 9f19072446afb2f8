/* Prints the table of formulations, and writes the same data as CSV. */
#ifndef SLABCAST_BENCH_FORMS_REPORT_H
#define SLABCAST_BENCH_FORMS_REPORT_H

#include <stdio.h>

#include "forms_list.h"
#include "forms_sets.h"
#include "sets/timing.h"

/* A formulation at one lane width. */
typedef struct forms_speed {
  unsigned lanes;
  double tests; /* tests of one round */
  timing time;  /* rounds 0: not measured */
} forms_speed;

typedef struct forms_row {
  const form *form;
  forms_errors errors[FORMS_KINDS];
  forms_speed wide, scalar; /* wide: at the device's width; scalar: one lane, not measured where that is the device's
                             * width */
  size_t differs;           /* compared pairs where device and C11 differ */
  double agrees;            /* share of the timed rays whose nearest t equals that of our formulation */
} forms_row;

/* Values of the whole run. */
typedef struct forms_heading {
  const slab_device_info *device;
  int processor_time;
  unsigned lanes; /* primitives tested at once */
  uint64_t seed;
  size_t rays;          /* in a set */
  size_t compared[2];   /* pairs compared for forms_row.differs: of boxes, of triangles */
  size_t primitives[2]; /* timed primitives: boxes, triangles */
  double undecided[2][FORMS_KINDS];
} forms_heading;

void forms_print(FILE *, const forms_heading *, const forms_row *, size_t count);
void forms_csv(FILE *, const forms_heading *, const forms_row *, size_t count);

#endif
