/* The values that cross between a caller, the host library and the device.
 *
 * This text is compiled as C11 by the host and as OpenCL C 1.2 by the device, so
 * every member is a 32-bit float or a 32-bit unsigned integer and every struct
 * has the same layout on both sides: arrays of float[3], never float3. */
#ifndef SLABCAST_TYPES_H
#define SLABCAST_TYPES_H

#ifdef __OPENCL_C_VERSION__
typedef uint uint32_t;
#else
#include <stdint.h>
#endif

/* `primitive` and `geometry` of a ray that hits nothing. */
#define SLAB_MISS 0xFFFFFFFFu
/* The same of a ray that is invalid: a NaN anywhere, an infinite origin or
 * direction, a direction of length zero, an origin beyond 2^60. */
#define SLAB_INVALID 0xFFFFFFFEu

typedef enum slab_query {
  SLAB_CLOSEST,  /* slab_hit: the primitive with the least (t, geometry, primitive) */
  SLAB_DISTANCE, /* float: closest's t alone, +inf on a miss */
  SLAB_ANY,      /* uint8_t: 1 exactly when closest hits */
  SLAB_COUNT,    /* uint32_t: how many primitives are hit */
  SLAB_ALL,      /* offsets and slab_hit: every primitive hit, sorted by (t, geometry, primitive) */
  SLAB_INTERVAL  /* slab_interval: of the primitive with the least (clipped enter, geometry, primitive) */
} slab_query;

/* Drops crossings, not primitives: with front faces culled a solid seen from
 * outside reports its exit. Does not apply to SLAB_INTERVAL. */
typedef enum slab_cull { SLAB_CULL_NONE, SLAB_CULL_BACK, SLAB_CULL_FRONT } slab_cull;

typedef enum slab_shape { SLAB_PLANE, SLAB_SPHERE, SLAB_BOX, SLAB_OBB, SLAB_TRIANGLE } slab_shape;

/* The points origin + t * direction with t_min <= t <= t_max, both ends
 * included. The direction need not be unit length; t counts in its length.
 * t_max = +inf and t_min = -inf are allowed. A 2D ray has origin z = direction z = 0. */
typedef struct slab_ray {
  float origin[3], t_min, direction[3], t_max;
} slab_ray;

/* One crossing of a ray and a surface. A miss: t = +inf, normal, u and v 0,
 * primitive = geometry = SLAB_MISS (or SLAB_INVALID). No member is ever NaN or -0. */
typedef struct slab_hit {
  float t;            /* along the ray, in lengths of its direction */
  float normal[3];    /* unit length; outward, or of a triangle along cross(b - a, c - a) */
  float u, v;         /* triangle: weights of b and c; boxes: u is the face 0..5 = -x,+x,-y,+y,-z,+z */
  uint32_t primitive; /* index within its geometry, as added */
  uint32_t geometry;  /* index of the geometry in the scene */
} slab_hit;

/* The stretch of a ray inside a solid, clipped to the ray's range. A miss:
 * enter = +inf, leave = -inf and SLAB_MISS (or SLAB_INVALID). */
typedef struct slab_interval {
  float enter, leave;
  uint32_t primitive, geometry;
} slab_interval;

/* Names one primitive of a scene, in the order of a hit's members. */
typedef struct slab_primitive_id {
  uint32_t primitive, geometry;
} slab_primitive_id;

/* The points with normal . x = offset; the normal need not be unit length. */
typedef struct slab_plane {
  float normal[3], offset;
} slab_plane;

typedef struct slab_sphere {
  float center[3], radius;
} slab_sphere;

/* Axis-aligned box, closed. Bounds may be infinite; lower.z = -inf and
 * upper.z = +inf make a 2D box. Inverted or NaN bounds are never hit. */
typedef struct slab_box {
  float lower[3], upper[3];
} slab_box;

/* Oriented box: rows of `axes` are its orthonormal axes in world space. */
typedef struct slab_obb {
  float center[3], half_size[3], axes[3][3];
} slab_obb;

/* Three points; the front is where a, b, c run counter-clockwise. */
typedef struct slab_triangle {
  float a[3], b[3], c[3];
} slab_triangle;

#endif
