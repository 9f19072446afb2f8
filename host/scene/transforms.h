/* The maths of transforms: which are refused, alone or in each other, and how far they reach. */
#ifndef SLABCAST_SCENE_TRANSFORMS_H
#define SLABCAST_SCENE_TRANSFORMS_H

#include <stdbool.h>

#include "data/types.h"

/* A linear map and its inverse. */
typedef struct linear {
  double a[9], b[9];
} linear;

/* The largest norms of instances' transforms, each combined with those that lead to it: of A, of B, and of |A| |B|. */
typedef struct transform_reach {
  double a, b, skew;
} transform_reach;

/* Why a transform of the caller is refused, and the offending value; NULL: it is not, and *made has it. */
const char *transform_refusal(const float t[12], instance_entry *made, double *value);
/* The same of a map. */
const char *transform_linear_refusal(const linear *, double *value);

/* The map of an instance as it is kept. */
linear transform_linear(const instance_entry *);
linear transform_linear_within(const linear *outer, const linear *inner);

/* || |A| |B| || in the norm of the largest row. */
double transform_skew(const double a[9], const double b[9]);

transform_reach transform_reach_of(const linear *);
/* Upper bounds of the reach outside, for this reach in a model whose map is `outer`. */
transform_reach transform_reach_within(const linear *outer, const transform_reach *inner);
transform_reach transform_farther(transform_reach, transform_reach);
/* Whether no transform of at most this reach can be refused. */
bool transform_is_short(transform_reach);

#endif
