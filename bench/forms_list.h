/* The table of formulations, and the memory layouts of their primitives. */
#ifndef SLABCAST_BENCH_FORMS_LIST_H
#define SLABCAST_BENCH_FORMS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"

typedef enum form_layout { FORM_BOUNDS, FORM_CENTER, FORM_VERTICES, FORM_WOOP, FORM_BALDWIN_WEBER } form_layout;

typedef struct form_operations {
  unsigned arithmetic, min_max, compare, divide; /* operations of a test without early exit */
  unsigned first;                                /* all operations before the first exit */
} form_operations;

typedef struct form {
  const char *function; /* in forms/slab_forms.h or forms/triangle_forms.h */
  slab_shape shape;     /* SLAB_BOX or SLAB_TRIANGLE */
  form_layout layout;
  const char *name, *source;
  form_operations operations;
} form;

enum { FORMS_MOST = 32, FORM_ROWS_MOST = 12 };
/* A timed ray tests the primitives this many times, so that work done once for each ray hardly counts. */
enum { FORMS_PASSES = 4 };

/* All formulations. Formulations of one shape are adjacent. */
extern const form forms_list[];
extern const size_t forms_count;
const form *form_named(const char *function);

/* Floats in a primitive. */
unsigned form_rows(form_layout);
/* Packs `count` primitives, a multiple of lanes, from the floats of slab_box or slab_triangle into blocks of `lanes`:
 * row r of a block is component r of each. Values that a layout computes beforehand are computed in double and rounded
 * once. */
void form_pack(form_layout, unsigned lanes, const float *shapes, size_t count, float *blocks);

#endif
