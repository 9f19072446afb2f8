/** @file
 * Types that the caller, the host library and device code share.
 *
 * The host compiles this file as C11 or C++, devices as OpenCL C 1.2 or CUDA C++. Every member of a struct is a 32-bit
 * float or a 32-bit unsigned integer, so layouts agree everywhere: arrays of float[3], never float3. Structs have no
 * padding. Lengths may have any unit. */
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

/** `primitive` and `geometry` of a ray that hits nothing. `geometry` is the id that adding it gave. */
#define SLAB_MISS 0xFFFFFFFFu
/** `primitive` and `geometry` of an invalid ray or point: it hits and finds nothing. slab_any, slab_count and slab_all
 * give 0 or no hit then, distances are +inf. A ray is invalid in these cases:
 * - one of its eight numbers is NaN, or its origin or direction is infinite
 * - a coordinate of its origin is beyond 2^60 in magnitude
 * - its direction has length zero
 *
 * A point is invalid where a coordinate is not finite or beyond 2^60. A ray with t_min > t_max is valid, and misses. */
#define SLAB_INVALID 0xFFFFFFFEu

/** The queries of a ray. Each has a type of result. "Least (a, b, c)" means: the least a; of equal ones the least b,
 * then the least c. A primitive that a ray crosses twice counts once, at its first crossing in range. */
typedef enum slab_query {
  SLAB_CLOSEST,  /**< slab_hit: the hit with the least (t, geometry, primitive) */
  SLAB_DISTANCE, /**< float: only t of SLAB_CLOSEST; +inf on a miss */
  SLAB_ANY,      /**< uint8_t: 1 exactly when SLAB_CLOSEST hits, else 0 */
  SLAB_COUNT,    /**< uint32_t: how many primitives are hit */
  SLAB_ALL,      /**< n + 1 offsets, and a slab_hit for each primitive hit, by ray, then by (t, geometry, primitive) */
  SLAB_INTERVAL, /**< slab_interval: the part of the ray inside the primitive with the least (enter, geometry,
                    primitive), where enter is clipped to the ray's range */
  SLAB_NEAREST   /**< slab_short_hit: only t, primitive and geometry of SLAB_CLOSEST */
} slab_query;

/** How many queries of a ray this version has. */
#define SLAB_QUERY_COUNT 7

/** Formulas that make the rays of a set (slab_rays). The rays of a set are ordered row by row. */
typedef enum slab_rays_kind {
  SLAB_RAYS_PINHOLE,      /**< a pinhole camera: for each pixel the ray of slab_camera_ray (slabcast.h) */
  SLAB_RAYS_ORTHOGRAPHIC, /**< one ray for each pixel, all parallel */
  SLAB_RAYS_FISHEYE,      /**< one ray for each pixel of the image of a fisheye lens */
  SLAB_RAYS_BEAMS,        /**< each of a sensor's beams, from each of its poses */
  SLAB_RAYS_DIRECTIONS,   /**< each of some directions, from each of some points */
  SLAB_RAYS_PAIRS         /**< segments from each point of one list to each point of another */
} slab_rays_kind;

/** How many kinds of ray sets this version has. */
#define SLAB_RAYS_KIND_COUNT 6

/** Forms of the results of slab_cast. The first has a result for each ray, the others one for each row of rays. The
 * device computes that, so no result of a ray is stored or transferred. Rows are those of the set; of an array,
 * slab_results.columns consecutive rays are a row. Results of rows are in their order, slab_results.stride apart. */
typedef enum slab_result_type {
  SLAB_RESULT_RAYS,      /**< a result for each ray, of the query's type */
  SLAB_RESULT_SUMS,      /**< slab_sum for each row. For SLAB_ANY and SLAB_DISTANCE */
  SLAB_RESULT_HISTOGRAM, /**< `bins` uint32_t for each row: how many of its rays have a t in each bin. For
                            SLAB_DISTANCE. Bin i has the t with floor((t - t_from) * scale) = i, computed in float, with
                            scale = bins / (t_to - t_from) in float. A miss or a t elsewhere counts in no bin */
  SLAB_RESULT_BITS /**< (columns + 31) / 32 uint32_t for each row: who sees whom. Bit c % 32 of word c / 32 is 1 where
                      ray c is valid and hits nothing; bits beyond the row are 0. For SLAB_ANY */
} slab_result_type;

/** How many forms of results this version has. */
#define SLAB_RESULT_TYPE_COUNT 4

/** The queries of a point. Each has a type of result. */
typedef enum slab_point_query {
  SLAB_CLOSEST_POINTS, /**< slab_closest_point: the closest point of the primitive with the least (squared distance in
                          float, geometry, primitive) */
  SLAB_CLOSEST_DISTANCES, /**< float: only the distance of SLAB_CLOSEST_POINTS; +inf where nothing is found */
  SLAB_POINTS_WITHIN,     /**< uint8_t: 1 exactly when SLAB_CLOSEST_POINTS finds something (within the radius, if one is
                             given), else 0 */
  SLAB_WINDING, /**< int32_t: the sum of 1 for each surface around the point that faces outward, -1 for each that faces
                   inward; 0 for an invalid point */
  SLAB_SIGNED_DISTANCES, /**< float: the distance of SLAB_CLOSEST_DISTANCES, negated where SLAB_WINDING is not 0 */
  SLAB_WINDING_NUMBERS /**< float: SLAB_WINDING where meshes are closed. Where meshes are open, the generalized winding
                          number, which may be a fraction */
} slab_point_query;

/** How many queries of a point this version has. */
#define SLAB_POINT_QUERY_COUNT 6

/** On which part of its primitive a closest point lies. On spheres and planes it is always the face. */
typedef enum slab_feature { SLAB_FEATURE_FACE, SLAB_FEATURE_EDGE, SLAB_FEATURE_VERTEX } slab_feature;

/** Crossings that a cast drops: none, those of back faces, or those of front faces. It drops crossings, not primitives:
 * with front faces culled, a solid that is seen from outside reports its exit. SLAB_INTERVAL ignores it. The front is
 * the side of the normal, for solids the outside. */
typedef enum slab_cull { SLAB_CULL_NONE, SLAB_CULL_BACK, SLAB_CULL_FRONT } slab_cull;

/** Which triangles a ray hits that passes through an edge or a vertex.
 * - SLAB_EDGES_HALF_OPEN (the default): one of the triangles at the edge. So a ray crosses a closed surface once there,
 *   counts are right, and an odd count means inside. A border of an open mesh may be missed.
 * - SLAB_EDGES_CLOSED: every triangle that the ray's line touches in real numbers, also along a silhouette. At a shared
 *   edge that is each triangle, so counts do not tell inside from outside.
 *
 * Either way a triangle that lies in a plane with the ray is never hit. All other kinds of primitives are always
 * closed. */
typedef enum slab_edges { SLAB_EDGES_HALF_OPEN, SLAB_EDGES_CLOSED } slab_edges;

/** Kinds of primitives: slab_plane, slab_sphere, slab_box, slab_obb and slab_triangle. */
typedef enum slab_shape { SLAB_PLANE, SLAB_SPHERE, SLAB_BOX, SLAB_OBB, SLAB_TRIANGLE } slab_shape;

/** How many kinds of primitives this version has. */
#define SLAB_SHAPE_COUNT 5

/** A ray: the points origin + t * direction with t_min <= t <= t_max, both ends included. The direction need not have
 * unit length: t counts in lengths of the direction. Where t_min > t_max the range is empty: the ray misses. A 2D ray
 * has z = 0 in origin and direction. Invalid rays are allowed: SLAB_INVALID. */
typedef struct slab_ray {
  float origin[3];    /**< where t is 0 */
  float t_min;        /**< start of the range; may be negative or -inf */
  float direction[3]; /**< of any length but 0 */
  float t_max;        /**< end of the range; may be +inf */
} slab_ray;

/** One crossing of a ray and a surface. A miss has t = +inf, normal, u and v 0, and SLAB_MISS as primitive and
 * geometry. An invalid ray has the same with SLAB_INVALID. No member is ever NaN or -0. */
typedef struct slab_hit {
  float t;         /**< ray parameter, in lengths of the direction */
  float normal[3]; /**< unit length; of a solid outward, of a triangle along cross(b - a, c - a), of a plane its own */
  float u; /**< triangle: weight of b, 0 to 1; box and oriented box: the face 0..5 = -x,+x,-y,+y,-z,+z of its axes; else
              0 */
  float v; /**< triangle: weight of c, 0 to 1; else 0 */
  uint32_t primitive; /**< index in the array that was added */
  uint32_t geometry;  /**< id that adding the geometry gave, in instances as slab_scene_add_instances says */
} slab_hit;

/** A hit without normal, u and v. Its members have the bits of slab_hit's. */
typedef struct slab_short_hit {
  float t;            /**< as in slab_hit */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_short_hit;

/** The part of a ray inside a solid, clipped to the ray's range. For planes and triangles enter = leave = t. A miss has
 * enter = +inf, leave = -inf and SLAB_MISS; an invalid ray has the same with SLAB_INVALID. */
typedef struct slab_interval {
  float enter;        /**< t where the ray enters; t_min where it starts inside */
  float leave;        /**< t where it leaves; t_max where it ends inside */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_interval;

/** The point of a surface that is closest to the point of the query. Where nothing is found, distance is +inf, the
 * other floats and feature are 0, and primitive = geometry = SLAB_MISS; for an invalid point SLAB_INVALID. No member
 * is ever NaN or -0. */
typedef struct slab_closest_point {
  float distance;     /**< to the surface, 0 or more, also from inside a solid */
  float point[3];     /**< the closest point */
  float u;            /**< as in slab_hit, of the closest point */
  float v;            /**< as in slab_hit, of the closest point */
  uint32_t feature;   /**< its slab_feature: 0, 1 or 2 */
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_closest_point;

/** Names one primitive of a scene, in the order of slab_hit: the primitive comes first. */
typedef struct slab_primitive_id {
  uint32_t primitive; /**< as in slab_hit */
  uint32_t geometry;  /**< as in slab_hit */
} slab_primitive_id;

/** The points x with normal . x = offset. */
typedef struct slab_plane {
  float normal[3]; /**< of any length but 0 */
  float offset;    /**< normal . x of its points */
} slab_plane;

/** A sphere. With radius 0 it is a point. */
typedef struct slab_sphere {
  float center[3]; /**< its centre */
  float radius;    /**< 0 or more */
} slab_sphere;

/** Axis-aligned box, closed; it may have no thickness. Bounds may be infinite; lower.z = -inf and upper.z = +inf make a
 * 2D box. A box with a lower bound above its upper one, or with a NaN, is never hit. */
typedef struct slab_box {
  float lower[3]; /**< minimum x, y and z */
  float upper[3]; /**< maximum x, y and z */
} slab_box;

/** Oriented box. The rows of `axes` are its axes in world space: of unit length and at right angles, within 1e-5; left-
 * or right-handed. */
typedef struct slab_obb {
  float center[3];    /**< its centre */
  float half_size[3]; /**< from the centre to a face, along each axis */
  float axes[3][3];   /**< a row for each axis */
} slab_obb;

/** A triangle. Its front is the side from which a, b, c run counter-clockwise. */
typedef struct slab_triangle {
  float a[3]; /**< the first vertex */
  float b[3]; /**< the second */
  float c[3]; /**< the third */
} slab_triangle;
/** @} */

#endif
