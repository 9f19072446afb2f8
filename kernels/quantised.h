/* Bounds in bytes. The host chooses the bytes by what this text makes of them, on the very operations of the kernel: a
 * decoded lower bound is at most the exact one, an upper at least. Rounding is monotone, so the slab test of the
 * decoded bounds lets through whatever that of the exact ones does. */
#ifndef QUANTISED_H
#define QUANTISED_H

#include "ray.h"

#define COMPRESSED_STEPS 255u
/* As a step along an axis: +inf, of which 0 steps are NaN. That constrains nothing in a slab test, as bounds at
 * infinity do not. */
#define COMPRESSED_UNBOUNDED 255u

INLINE float compressed_step(uint exponent) { return ray_float(exponent << 23); }

/* Whose product is exact, and whose sum is rounded once. */
INLINE float compressed_plane(uint steps, float step, float origin) { return lanes_fma((float)steps, step, origin); }

INLINE uint compressed_byte(uint bytes, uint k) { return bytes >> (8 * k) & 0xFFu; }

#endif
