/* Primitives as they are added: what is refused, and their values as kernels want them. */
#ifndef SLABCAST_GEOMETRY_H
#define SLABCAST_GEOMETRY_H

#include <stdbool.h>

#include "slabcast.h"

/* Stores a void primitive, which is never hit. It replaces a dropped primitive, and fills up blocks. */
void primitive_void(slab_shape kind, float *values);
bool primitive_is_void(slab_shape kind, const float *values);
/* Whether a primitive that is not void stands outside a BVH, since its bounds are infinite in x or y. */
bool primitive_is_outside(slab_shape kind, const float *values);
/* NULL, or the reason why a primitive is refused; *value is the offending number. */
const char *primitive_refusal(slab_shape kind, const float *values, float *value);
/* Converts the values to the form that kernels expect: planes scaled, inverted boxes made void. */
void primitive_normalise(slab_shape kind, float *values);
/* The same of `count` primitives in the public form, in memory of their own. */
void primitives_prepare(slab_shape kind, const float *shapes, size_t count, float *prepared);
/* The padded bounds of a primitive; a plane has none. */
void primitive_bounds(slab_shape kind, const float *values, float lower[3], float upper[3]);
/* Grows a scene's bounds by a primitive, without padding. Infinite ends and planes do not count. */
void primitive_grow(float lower[3], float upper[3], slab_shape kind, const float *values);

#endif
