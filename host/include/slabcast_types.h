/** @file
 * Types that the caller, the host library and device code share.
 *
 * This file is C11, C++, OpenCL C 1.2 and CUDA C++. Every member of a struct is a 32-bit float or unsigned integer, and
 * vectors are float[3], never float3. So structs have no padding, and are aligned to 4 bytes everywhere. Lengths may
 * have any unit. */
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
/** `primitive` and `geometry` of an invalid ray or point. slab_any and slab_count then give 0, slab_all no hits;
 * distances are +inf. A ray is invalid where one of its numbers is NaN, its direction is infinite or 0, or its origin
 * is beyond 2^60. A point is invalid where a coordinate is NaN or beyond 2^60. */
#define SLAB_INVALID 0xFFFFFFFEu

/** The queries of a ray, with the types of their results. "Least (a, b, c)" means the least a; of equal ones the least
 * b, then the least c. A primitive that is crossed twice counts once, at its first crossing in range that is not
 * culled. */
typedef enum slab_query {
  SLAB_CLOSEST,  /**< slab_hit: the hit with the least (t, geometry, primitive) */
  SLAB_DISTANCE, /**< float: only t of SLAB_CLOSEST; +inf on a miss */
  SLAB_ANY,      /**< uint8_t: 1 exactly when SLAB_CLOSEST hits, else 0 */
  SLAB_COUNT,    /**< uint32_t: how many primitives are hit */
  SLAB_ALL, /**< offsets (slab_all), and a slab_hit for each primitive hit, by ray, then (t, geometry, primitive) */
  SLAB_INTERVAL, /**< slab_interval: that of the primitive with the least (enter, geometry, primitive) */
  SLAB_NEAREST   /**< slab_short_hit: only t, primitive and geometry of SLAB_CLOSEST */
} slab_query;

/** Their number. */
#define SLAB_QUERY_COUNT 7

/** The formulas of sets. A set (slab_rays) describes many rays, ordered row by row, so that they need not be stored. */
typedef enum slab_rays_kind {
  SLAB_RAYS_PINHOLE,      /**< slab_camera_ray of each pixel */
  SLAB_RAYS_ORTHOGRAPHIC, /**< parallel rays, one for each pixel */
  SLAB_RAYS_FISHEYE,      /**< one ray for each pixel of a fisheye lens */
  SLAB_RAYS_BEAMS,        /**< every beam of a sensor, from each of its poses */
  SLAB_RAYS_DIRECTIONS,   /**< every direction, from each point */
  SLAB_RAYS_PAIRS         /**< segments from each point to each of other points */
} slab_rays_kind;

/** Their number. */
#define SLAB_RAYS_KIND_COUNT 6

/** Forms of the results of slab_cast. The first has a result for each ray. The others reduce each row of rays to one on
 * the device, so no ray's result is stored or transferred. In an array slab_results.columns consecutive rays are a row.
 */
typedef enum slab_result_type {
  SLAB_RESULT_RAYS,      /**< a result for each ray, of the query's type */
  SLAB_RESULT_SUMS,      /**< slab_sum for each row. For SLAB_ANY and SLAB_DISTANCE */
  SLAB_RESULT_HISTOGRAM, /**< `bins` uint32_t for each row: how many of its rays have a t in each bin. For
                            SLAB_DISTANCE. Bin i has the t with floor((t - t_from) * scale) = i, scale = bins / (t_to -
                            t_from), in float. Other t and misses count in no bin */
  SLAB_RESULT_BITS /**< (columns + 31) / 32 uint32_t for each row. Bit c % 32 of word c / 32 is 1 where ray c is valid
                      and hits nothing, the reverse of SLAB_ANY; unused bits are 0. For SLAB_ANY */
} slab_result_type;

/** Their number. */
#define SLAB_RESULT_TYPE_COUNT 4

/** The queries of a point, with the types of their results. */
typedef enum slab_point_query {
  SLAB_CLOSEST_POINTS, /**< slab_closest_point: of the primitive with the least (squared distance, geometry, primitive)
                        */
  SLAB_CLOSEST_DISTANCES, /**< float: only the distance of SLAB_CLOSEST_POINTS; +inf where nothing is found */
  SLAB_POINTS_WITHIN,     /**< uint8_t: 1 exactly when SLAB_CLOSEST_POINTS finds something within the radius, else 0 */
  SLAB_WINDING,           /**< int32_t: how often surfaces enclose the point (slab_winding); 0 for an invalid point */
  SLAB_SIGNED_DISTANCES,  /**< float: the distance of SLAB_CLOSEST_DISTANCES, negated where SLAB_WINDING is not 0 */
  SLAB_WINDING_NUMBERS    /**< float: the generalized winding number; equals SLAB_WINDING where all meshes are closed */
} slab_point_query;

/** Their number. */
#define SLAB_POINT_QUERY_COUNT 6

/** On which part of its primitive a closest point lies; on spheres and planes the face. */
typedef enum slab_feature { SLAB_FEATURE_FACE, SLAB_FEATURE_EDGE, SLAB_FEATURE_VERTEX } slab_feature;

/** Which crossings a cast drops: none, or those of back or front faces. With front faces culled, a solid seen from
 * outside reports its exit. SLAB_INTERVAL ignores it. The front is the side of the normal. */
typedef enum slab_cull { SLAB_CULL_NONE, SLAB_CULL_BACK, SLAB_CULL_FRONT } slab_cull;

/** Which triangles are hit by a ray through an edge or a vertex.
 * - SLAB_EDGES_HALF_OPEN (default): one of the triangles there. So a closed surface is crossed once, and an odd count
 *   means inside. At a border of an open mesh a ray may miss.
 * - SLAB_EDGES_CLOSED: each that the ray's line touches in exact arithmetic, also along a silhouette. An odd count does
 *   not mean inside.
 *
 * A triangle whose plane contains the ray is never hit. Other kinds are always closed. */
typedef enum slab_edges { SLAB_EDGES_HALF_OPEN, SLAB_EDGES_CLOSED } slab_edges;

/** Kinds of primitives: slab_plane, slab_sphere, slab_box, slab_obb and slab_triangle. */
typedef enum slab_shape { SLAB_PLANE, SLAB_SPHERE, SLAB_BOX, SLAB_OBB, SLAB_TRIANGLE } slab_shape;

/** Their number. */
#define SLAB_SHAPE_COUNT 5

/** A ray: the points origin + t * direction with t_min <= t <= t_max. t is in units of the direction's length, which
 * need not be 1. With t_min > t_max the ray is valid, and misses. In 2D z is 0. Invalid rays are allowed. */
typedef struct slab_ray {
  float origin[3];    /**< where t is 0 */
  float t_min;        /**< start of the range; may be -inf */
  float direction[3]; /**< of any length but 0 */
  float t_max;        /**< end of the range; may be +inf */
} slab_ray;

/** One crossing of a ray and a surface. In a miss t is +inf; normal, u and v are 0; primitive and geometry are
 * SLAB_MISS. For an invalid ray these are SLAB_INVALID. No member is ever NaN or -0. */
typedef struct slab_hit {
  float t;         /**< ray parameter, in units of the direction's length */
  float normal[3]; /**< unit length, outward; of a triangle along cross(b - a, c - a); see face_forward */
  float u; /**< triangle: weight of b, 0 to 1; boxes: the face, 0..5 = -x, +x, -y, +y, -z, +z of their axes; else 0 */
  float v; /**< triangle: weight of c, 0 to 1; else 0 */
  uint32_t primitive; /**< index in the array added */
  uint32_t geometry;  /**< id of its geometry; in instances as slab_scene_add_instances says */
} slab_hit;

/** A hit without normal, u and v. Its members have the bits of slab_hit's. */
typedef struct slab_short_hit {
  float t;            /**< as in slab_hit */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_short_hit;

/** The part of a ray inside a solid, clipped to the ray's range. For planes and triangles enter = leave = t: the inside
 * of a mesh is no interval. A miss has enter = +inf, leave = -inf and SLAB_MISS (an invalid ray: SLAB_INVALID). */
typedef struct slab_interval {
  float enter;        /**< t where the ray enters; t_min where it starts inside */
  float leave;        /**< t where it leaves; t_max where it ends inside */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_interval;

/** The point of a surface that is closest to a point. Where nothing is found distance is +inf, the other floats and
 * feature are 0, primitive and geometry are SLAB_MISS (for an invalid point SLAB_INVALID). No member is ever NaN or -0.
 */
typedef struct slab_closest_point {
  float distance;     /**< to the surface, 0 or more, also from inside a solid */
  float point[3];     /**< the closest point */
  float u;            /**< as in slab_hit */
  float v;            /**< as in slab_hit */
  uint32_t feature;   /**< a slab_feature */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_closest_point;

/** Names one primitive of a scene. */
typedef struct slab_primitive_id {
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_primitive_id;

/** A plane: the points x with normal . x = offset. */
typedef struct slab_plane {
  float normal[3]; /**< of any length but 0 */
  float offset;    /**< as above */
} slab_plane;

/** A sphere; of radius 0 a point. */
typedef struct slab_sphere {
  float center[3]; /**< its centre */
  float radius;    /**< 0 or more */
} slab_sphere;

/** Axis-aligned box. Bounds may have any value: lower.z = -inf and upper.z = +inf make a 2D box. Inverted boxes and
 * boxes with a NaN are never hit. */
typedef struct slab_box {
  float lower[3]; /**< minimum x, y and z */
  float upper[3]; /**< maximum x, y and z */
} slab_box;

/** Oriented box. The rows of `axes` are its axes: of unit length and at right angles, within 1e-5; left- or
 * right-handed. */
typedef struct slab_obb {
  float center[3];    /**< its centre */
  float half_size[3]; /**< from the centre to a face, along each axis */
  float axes[3][3];   /**< a row for each axis */
} slab_obb;

/** A triangle. Its front is the side to which cross(b - a, c - a) points. */
typedef struct slab_triangle {
  float a[3]; /**< the first vertex */
  float b[3]; /**< the second */
  float c[3]; /**< the third */
} slab_triangle;
/** @} */

#endif
