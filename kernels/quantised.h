/* Quantised bounds. The host chooses the bytes with this same code, so with the operations of the kernel. A decoded
 * lower bound is at most the exact one, an upper bound at least the exact one. Rounding is monotone, so the slab test
 * accepts the decoded bounds wherever it accepts the exact ones. */
#ifndef QUANTISED_H
#define QUANTISED_H

#include "ray.h"

#define COMPRESSED_STEPS 255u
/* An unbounded axis: as the exponent of a step it gives +inf. 0 steps of it are NaN, which constrains nothing in a slab
 * test, as infinite bounds do not. */
#define COMPRESSED_UNBOUNDED 255u

INLINE float compressed_step(uint exponent) { return ray_float(exponent << 23); }

/* Decodes a plane. The product is exact, and the sum is rounded once. */
INLINE float compressed_plane(uint steps, float step, float origin) { return lanes_fma((float)steps, step, origin); }

INLINE uint compressed_byte(uint bytes, uint k) { return bytes >> (8 * k) & 0xFFu; }

#endif
