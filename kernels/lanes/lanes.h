/* One lane type for all geometry maths. It is a scalar on GPUs and in C11 (the CPU reference). On CPU devices it is 8
 * or 16 floats wide: one ray is tested against LANES primitives at once, or (SLAB_PACKET) LANES rays against one
 * primitive.
 *
 * Values that depend on a ray and a primitive have the types real, mask and word. Values that depend on a ray alone
 * have the types ray_real, ray_mask and ray_word. These are as wide in packets, else scalars.
 *
 * Code written with these types reads like scalar code and means the same at every width. + - *, comparisons, ?: and &
 * | ! work on all of them. A mask is zero or all ones per lane (1 in scalars). Rounding is the same as in C11:
 * contraction is off, and no function of the common-function or native kind is used.
 *
 * Definitions of one backend alone are in a file of its own. Other kernel headers do not test which one they have. */
#ifndef LANES_H
#define LANES_H

#ifndef LANES
#define LANES 1
#endif

/* Floats from one row of a block to the next. More than LANES where a block is tested in parts. */
#ifndef STRIDE
#define STRIDE LANES
#endif

/* Rays that are tested at once, each against a block of triangles: 1 or 2. */
#ifndef SLAB_RAY_PAIRS
#define SLAB_RAY_PAIRS 1
#endif

/* A kernel's name, and its first parameter. Where kernels are compiled ahead of time, kernels/lanes/prelude.h has
 * defined both. */
#ifndef KERNEL_NAME
#define KERNEL_NAME(name) name
#define WORK_ITEM
#endif

/* Reports a step, only in kernels that are compiled to count steps (kernels/lanes/steps.h). */
#ifndef COUNT
#define COUNT(what, n)
#endif

#if defined(__OPENCL_C_VERSION__) || defined(SLAB_NATIVE)
#include "lanes/scalar.h"
#if LANES > 1
#include "lanes/vector.h"
#endif
#else
#include "lanes/c11.h"
#endif

/* The next of three axes or vertices, in cyclic order. */
INLINE int next_of_three(int i) { return i == 2 ? 0 : i + 1; }

/* Maximum and minimum of a fresh value, which may be NaN, and an accumulated one, which never is. Where the fresh value
 * is NaN the accumulated one is kept. As a comparison this is one instruction on x86, as fmax one on GPUs. fmax may
 * swap zeros of either sign; no answer shows it. */
#ifdef SLAB_FMAX
INLINE real lanes_max(real fresh, real kept) { return fmax(fresh, kept); }
INLINE real lanes_min(real fresh, real kept) { return fmin(fresh, kept); }
#else
INLINE real lanes_max(real fresh, real kept) { return fresh > kept ? fresh : kept; }
INLINE real lanes_min(real fresh, real kept) { return fresh < kept ? fresh : kept; }
#endif
INLINE ray_real ray_max(ray_real fresh, ray_real kept) { return fresh > kept ? fresh : kept; }
INLINE ray_real ray_min(ray_real fresh, ray_real kept) { return fresh < kept ? fresh : kept; }

#endif
