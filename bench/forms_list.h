/* The formulations as a table, and their primitives as they want them in memory. */
#ifndef SLABCAST_BENCH_FORMS_LIST_H
#define SLABCAST_BENCH_FORMS_LIST_H

#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"

typedef enum form_layout { FORM_BOUNDS, FORM_CENTER, FORM_VERTICES, FORM_WOOP, FORM_BALDWIN_WEBER } form_layout;

typedef struct form_operations {
  unsigned arithmetic, min_max, compare, divide; /* of a test carried to its end */
  unsigned first;                                /* all, before its first exit */
} form_operations;

typedef struct form {
  const char *function; /* in forms/slab_forms.h or forms/triangle_forms.h */
  slab_shape shape;     /* SLAB_BOX or SLAB_TRIANGLE */
  form_layout layout;
  const char *name, *source;
  form_operations operations;
} form;

enum { FORMS_MOST = 32, FORM_ROWS_MOST = 12 };
/* A timed ray meets the primitives so many times, so that what is prepared once a ray does not count. */
enum { FORMS_PASSES = 4 };

/* All, those of a shape side by side. */
extern const form forms_list[];
extern const size_t forms_count;
const form *form_named(const char *function);

/* Floats a primitive takes. */
unsigned form_rows(form_layout);
/* `count` primitives, a multiple of lanes, from the floats of slab_box or slab_triangle to blocks of `lanes`: row r of
 * a block is component r of each. What a layout computes beforehand is computed in double and rounded once. */
void form_pack(form_layout, unsigned lanes, const float *shapes, size_t count, float *blocks);

#endif
