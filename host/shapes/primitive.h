/* Primitives as they are added: refusals, and their values as kernels want them. */
#ifndef SLABCAST_SHAPES_PRIMITIVE_H
#define SLABCAST_SHAPES_PRIMITIVE_H

#include <stdbool.h>

#include "bvh/float4.h"
#include "slabcast.h"

/* Stores a void primitive, which is never hit. It replaces a dropped primitive, and fills up blocks. */
void primitive_void(slab_shape kind, float *values);
bool primitive_is_void(slab_shape kind, const float *values);
/* Whether two corners of a triangle have the same bits. Then no ray hits it. Let b = c. The shear moves equal corners
 * alike, so the edge functions are those of (b, c), of (c, a) and of (a, b): 0, s and -s, with their rounding errors.
 * For a product does not depend on the order of its factors. Where s is 0 the tie rule decides: its differences are 0
 * and 0, h and -h. So the signs are never alike, and where all are 0 it is not hit either. Whole numbers, for closed
 * edges, give the same three. A triangle whose three corners are on one line is another thing: rounded by the shear
 * they are on none, and half open edges can be hit. */
static inline bool triangle_is_collapsed(float4 a, float4 b, float4 c) {
  return float4_same_xyz(a, b) || float4_same_xyz(b, c) || float4_same_xyz(c, a);
}
/* Whether no ray hits a primitive: void, or a triangle that is collapsed. A BVH can do without it. It reads one float
 * more than the kind has. */
bool primitive_is_never_hit(slab_shape kind, const float *values);
/* Whether a primitive that is not void is outside a BVH, since its bounds are infinite in x or y. */
bool primitive_is_outside(slab_shape kind, const float *values);
/* Whether the bounds of a primitive that is not void are infinite along some axis. */
bool primitive_is_unbounded(slab_shape kind, const float *values);
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
