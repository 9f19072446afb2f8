/* The findings of `slabcast explain` on one ray and one primitive, and their drawing. */
#ifndef SLABCAST_PROGRAM_EXPLAIN_EXPLAIN_H
#define SLABCAST_PROGRAM_EXPLAIN_EXPLAIN_H

#include "slabcast.h"

typedef struct explained {
  slab_ray ray;
  slab_ray64 wide; /* the same in double */
  int is_far;      /* the scene is far from 0: the ray is explained in double */
  slab_primitive_id id;
  slab_explanation found; /* its t are those of the ray that the steps begin with */
  double t, enter, leave; /* of the ray as it is given */
  slab_step *steps;
  size_t count;
} explained;

/* "oriented box" */
const char *explained_noun(slab_shape kind);
/* "box 0 of geometry 2": the primitive in words. */
void explained_name(const explained *, char *text, size_t size);
/* "hit at t = 5", "miss". */
void explained_result(const explained *, char *text, size_t size);
/* The value of a step; NaN where there is none. */
double explained_value(const explained *, const char *part, const char *name);
/* NULL where there is none. */
const slab_step *explained_step(const explained *, const char *part, const char *name);

/* Whether this program has cairo. */
int explain_can_draw(void);
/* Writes a drawing, an SVG or a PNG by the ending of the name. Returns 0, or -1 with the error printed. */
int explain_draw(const explained *, const char *path);

#endif
