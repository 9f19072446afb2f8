/** @file
 * Types that the caller, the host library and the device share.
 *
 * This file is compiled as C11 by the host and as OpenCL C 1.2 by the device. So every member is a 32-bit float or a
 * 32-bit unsigned integer, and every struct has the same layout on both sides: arrays of float[3], never float3. */
#ifndef SLABCAST_TYPES_H
#define SLABCAST_TYPES_H

#ifdef __OPENCL_C_VERSION__
typedef uint uint32_t;
#elif defined(__CUDACC_RTC__)
typedef unsigned int uint32_t;
#else
#include <stdint.h>
#endif

/** @defgroup types Rays, results and primitives
 * @{ */

/** `primitive` and `geometry` of a ray that hits nothing. */
#define SLAB_MISS 0xFFFFFFFFu
/** `primitive` and `geometry` of an invalid ray: a NaN anywhere, an infinite origin or direction, a direction of length
 * zero, or an origin beyond 2^60. */
#define SLAB_INVALID 0xFFFFFFFEu

/** The queries of a ray, with the type of their results. */
typedef enum slab_query {
  SLAB_CLOSEST,  /**< slab_hit: the primitive with the least (t, geometry, primitive) */
  SLAB_DISTANCE, /**< float: t of SLAB_CLOSEST alone, +inf on a miss */
  SLAB_ANY,      /**< uint8_t: 1 exactly when SLAB_CLOSEST hits, else 0 */
  SLAB_COUNT,    /**< uint32_t: the number of primitives that are hit */
  SLAB_ALL,      /**< offsets and slab_hit: every primitive hit, sorted by (t, geometry, primitive) */
  SLAB_INTERVAL, /**< slab_interval: the interval of the primitive with the least (clipped enter, geometry, primitive)
                  */
  SLAB_NEAREST   /**< slab_short_hit: t, primitive and geometry of SLAB_CLOSEST alone */
} slab_query;

/** How many queries there are in this version. */
#define SLAB_QUERY_COUNT 7

/** Formulas that make rays (slab_rays). Of each set the rays come in rows, one after the other. */
typedef enum slab_rays_kind {
  SLAB_RAYS_PINHOLE,      /**< slab_camera_ray of each pixel */
  SLAB_RAYS_ORTHOGRAPHIC, /**< parallel ones through each pixel */
  SLAB_RAYS_FISHEYE,      /**< through each pixel of a round lens */
  SLAB_RAYS_BEAMS,        /**< a sensor's beams from each of its poses */
  SLAB_RAYS_DIRECTIONS,   /**< from each point into each direction */
  SLAB_RAYS_PAIRS         /**< from each point to each of other points */
} slab_rays_kind;

/** How many kinds of sets there are in this version. */
#define SLAB_RAYS_KIND_COUNT 6

/** The forms in which results of rays are written. All types but the first are sums over rows of rays, made on the
 * device: no result a ray is stored, and none goes over a bus. The rows are those of the set; an array has a row each
 * slab_results.columns. */
typedef enum slab_result_type {
  SLAB_RESULT_RAYS,      /**< each ray's result, of the query's type */
  SLAB_RESULT_SUMS,      /**< slab_sum; of SLAB_ANY and SLAB_DISTANCE */
  SLAB_RESULT_HISTOGRAM, /**< uint32_t times `bins`: how many rays hit first at a t of each bin; of SLAB_DISTANCE. Bin i
                            has the t with floor((t - t_from) * scale) = i, computed in float, where scale is
                            bins / (t_to - t_from) rounded once. Other t count in no bin */
  SLAB_RESULT_BITS /**< uint32_t times (columns + 31) / 32: who sees whom. Bit c % 32 of word c / 32 is 1 where ray c
                      is valid and hits nothing; of SLAB_ANY */
} slab_result_type;

/** How many types there are in this version. */
#define SLAB_RESULT_TYPE_COUNT 4

/** The queries of a point, with the type of their results. */
typedef enum slab_point_query {
  SLAB_CLOSEST_POINTS,    /**< slab_closest_point: the closest point of the primitive with the least (squared distance,
                             geometry, primitive) */
  SLAB_CLOSEST_DISTANCES, /**< float: distance of SLAB_CLOSEST_POINTS alone, +inf where nothing is found */
  SLAB_POINTS_WITHIN,     /**< uint8_t: 1 exactly when SLAB_CLOSEST_POINTS finds something, else 0 */
  SLAB_WINDING,           /**< int32_t: how often surfaces surround the point; 0: it is outside of all */
  SLAB_SIGNED_DISTANCES,  /**< float: the distance of SLAB_CLOSEST_DISTANCES, below 0 where SLAB_WINDING is not 0 */
  SLAB_WINDING_NUMBERS /**< float: SLAB_WINDING, and where meshes are open a fraction, by the angles of their edges */
} slab_point_query;

/** How many there are in this version. */
#define SLAB_POINT_QUERY_COUNT 6

/** On which part of its primitive a closest point lies. Spheres and planes have one face. */
typedef enum slab_feature { SLAB_FEATURE_FACE, SLAB_FEATURE_EDGE, SLAB_FEATURE_VERTEX } slab_feature;

/** Culling drops crossings, not primitives: with front faces culled a solid seen from outside reports its exit. It does
 * not apply to SLAB_INTERVAL. */
typedef enum slab_cull { SLAB_CULL_NONE, SLAB_CULL_BACK, SLAB_CULL_FRONT } slab_cull;

/** Ownership of the edges of a triangle. Half open: a ray through a shared edge or vertex crosses a closed surface
 * once, so counts are right and their parity tells inside from outside. Closed: a ray hits every triangle that its line
 * meets in real numbers, at an edge or a vertex too, also along a silhouette. At a shared edge it hits each triangle
 * there. Triangles that lie in a plane with the ray are never hit. Other kinds are closed always. */
typedef enum slab_edges { SLAB_EDGES_HALF_OPEN, SLAB_EDGES_CLOSED } slab_edges;

/** Kinds of primitives. */
typedef enum slab_shape { SLAB_PLANE, SLAB_SPHERE, SLAB_BOX, SLAB_OBB, SLAB_TRIANGLE } slab_shape;

/** How many kinds there are in this version. */
#define SLAB_SHAPE_COUNT 5

/** The points origin + t * direction with t_min <= t <= t_max, both ends included. The direction need not have unit
 * length; t is in lengths of the direction. t_max = +inf and t_min = -inf are allowed. A 2D ray has z = 0 in origin and
 * direction. */
typedef struct slab_ray {
  float origin[3];    /**< where t is 0 */
  float t_min;        /**< the range's begin; may be -inf */
  float direction[3]; /**< of any length but 0 */
  float t_max;        /**< the range's end; may be +inf */
} slab_ray;

/** One crossing of a ray and a surface. A miss has t = +inf, normal, u and v 0, and primitive = geometry = SLAB_MISS
 * (or SLAB_INVALID). No member is ever NaN or -0. */
typedef struct slab_hit {
  float t;            /**< ray parameter, in lengths of the direction */
  float normal[3];    /**< unit length; outward; of a triangle along cross(b - a, c - a) */
  float u;            /**< triangle: weight of b; box and oriented box: the face 0..5 = -x,+x,-y,+y,-z,+z */
  float v;            /**< triangle: weight of c */
  uint32_t primitive; /**< index within its geometry, as added */
  uint32_t geometry;  /**< index of the geometry in the scene */
} slab_hit;

/** A hit without normal, u and v: members of slab_hit, with the same bits. */
typedef struct slab_short_hit {
  float t;            /**< as in slab_hit */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_short_hit;

/** The interval of t in which a ray is inside a solid, clipped to the ray's range. A miss has enter = +inf, leave =
 * -inf and SLAB_MISS (or SLAB_INVALID). */
typedef struct slab_interval {
  float enter;        /**< t where the ray enters, or t_min */
  float leave;        /**< t where it leaves, or t_max */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_interval;

/** The point of a surface that is closest to another point. Where nothing is found distance is +inf, the other floats
 * and feature are 0, and primitive = geometry = SLAB_MISS (or SLAB_INVALID). No member is ever NaN or -0. */
typedef struct slab_closest_point {
  float distance;     /**< to the surface, 0 or more, from inside of solids too */
  float point[3];     /**< the closest point */
  float u;            /**< triangle: weight of b; box and oriented box: the face 0..5 = -x,+x,-y,+y,-z,+z */
  float v;            /**< triangle: weight of c */
  uint32_t feature;   /**< slab_feature */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_closest_point;

/** Identifies one primitive of a scene; the members are in the order of slab_hit's. */
typedef struct slab_primitive_id {
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_primitive_id;

/** The points x with normal . x = offset. The normal need not have unit length. */
typedef struct slab_plane {
  float normal[3]; /**< of any length but 0 */
  float offset;    /**< normal . x of its points */
} slab_plane;

/** A sphere; of radius 0 a point. */
typedef struct slab_sphere {
  float center[3]; /**< its centre */
  float radius;    /**< 0 or more */
} slab_sphere;

/** Axis-aligned box, closed. Bounds may be infinite; lower.z = -inf and upper.z = +inf make a 2D box. Boxes with
 * inverted or NaN bounds are never hit. */
typedef struct slab_box {
  float lower[3]; /**< the least x, y and z */
  float upper[3]; /**< the greatest x, y and z */
} slab_box;

/** Oriented box. The rows of `axes` are its orthonormal axes in world space. */
typedef struct slab_obb {
  float center[3];    /**< its centre */
  float half_size[3]; /**< from the centre to a face, along each axis */
  float axes[3][3];   /**< a row for each axis */
} slab_obb;

/** Three vertices. The front is the side from which a, b, c run counter-clockwise. */
typedef struct slab_triangle {
  float a[3]; /**< the first vertex */
  float b[3]; /**< the second */
  float c[3]; /**< the third */
} slab_triangle;
/** @} */

#endif
