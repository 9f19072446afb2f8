/* The processor's own backend: kernels that were compiled with the library (kernels/variants.def), run by the pool of
 * threads on the caller's arrays. No driver takes part. */
#ifndef SLABCAST_NATIVE_NATIVE_H
#define SLABCAST_NATIVE_NATIVE_H

#include "data/boundary.h"
#include "data/ray_set.h"
#include "data/ray_sums.h"
#include "data/types.h"
#include "device/backend.h"

/* The kernels as C functions. work_item is the first parameter of each, see prelude.h. */
typedef void native_flat(size_t work_item, const slab_ray *, void *results, const uint32_t *offsets,
                         const geometry_entry *, const float *blocks, const slab_primitive_id *skips,
                         volatile uint32_t *invalid, cast_uniforms);
typedef void native_wide(size_t work_item, const slab_ray *, void *results, const uint32_t *offsets,
                         const geometry_entry *, const float *blocks, const slab_primitive_id *skips,
                         volatile uint32_t *invalid, cast_uniforms, const bvh_node *, const uint8_t *fallback,
                         const uint32_t *sorted);
typedef void native_compressed(size_t work_item, const slab_ray *, void *results, const uint32_t *offsets,
                               const geometry_entry *, const float *blocks, const slab_primitive_id *skips,
                               volatile uint32_t *invalid, cast_uniforms, const compressed_node *);
/* Kernels for rays with masks, worlds and hits to begin after of their own; NULL: there are none. */
typedef void native_own_flat(size_t work_item, const slab_ray *, void *results, const uint32_t *offsets,
                             const geometry_entry *, const float *blocks, const slab_primitive_id *skips,
                             volatile uint32_t *invalid, cast_uniforms, const uint32_t *masks,
                             const slab_short_hit *after, const uint32_t *worlds);
typedef void native_own_wide(size_t work_item, const slab_ray *, void *results, const uint32_t *offsets,
                             const geometry_entry *, const float *blocks, const slab_primitive_id *skips,
                             volatile uint32_t *invalid, cast_uniforms, const bvh_node *, const uint8_t *fallback,
                             const uint32_t *sorted, const uint32_t *masks, const slab_short_hit *after,
                             const uint32_t *worlds);
typedef void native_own_compressed(size_t work_item, const slab_ray *, void *results, const uint32_t *offsets,
                                   const geometry_entry *, const float *blocks, const slab_primitive_id *skips,
                                   volatile uint32_t *invalid, cast_uniforms, const compressed_node *,
                                   const uint32_t *masks, const slab_short_hit *after, const uint32_t *worlds);
typedef void native_pairs(size_t work_item, const slab_ray *, const float *shapes, slab_interval *, uint32_t kind,
                          uint32_t count, uint32_t first);
typedef void native_rays(size_t work_item, const float *of_rows, const float *normals, const float *of_columns,
                         slab_ray *, ray_set, uint32_t row, uint32_t column, uint32_t count, uint32_t each);
typedef void native_sums(size_t work_item, const slab_ray *, const void *results, const uint64_t *weights,
                         const uint32_t *invalid, uint32_t *to, ray_sums, uint32_t first_part, uint32_t parts,
                         uint32_t each);

typedef void native_boundary(size_t work_item, const float *points, int32_t *results, const uint32_t *order,
                             const uint32_t *masks, const uint32_t *worlds, const float *nodes, const boundary_tree *,
                             uint32_t trees, uint32_t mask, uint32_t count, uint32_t each);

/* Closest points; of a BVH with its root over collapsed triangles. */
typedef void native_points_flat(size_t work_item, const float *points, void *results, const uint32_t *order,
                                const float *radii, const uint32_t *masks, const uint32_t *worlds,
                                volatile uint32_t *invalid, const geometry_entry *, const float *blocks, cast_uniforms,
                                float radius);
typedef void native_points_wide(size_t work_item, const float *points, void *results, const uint32_t *order,
                                const float *radii, const uint32_t *masks, const uint32_t *worlds,
                                volatile uint32_t *invalid, const geometry_entry *, const float *blocks, cast_uniforms,
                                float radius, const bvh_node *, uint32_t collapsed_root);
typedef void native_points_compressed(size_t work_item, const float *points, void *results, const uint32_t *order,
                                      const float *radii, const uint32_t *masks, const uint32_t *worlds,
                                      volatile uint32_t *invalid, const geometry_entry *, const float *blocks,
                                      cast_uniforms, float radius, const compressed_node *, uint32_t collapsed_root);

/* Declarations of kernels by their program, for the table that cmake/native.cmake writes. */
#define KERNEL_OF_flat(name) native_flat name
#define KERNEL_OF_wide(name) native_wide name
#define KERNEL_OF_packet(name) native_wide name
#define KERNEL_OF_attributes(name) native_wide name
#define KERNEL_OF_compressed(name) native_compressed name
#define KERNEL_OF_own_flat(name) native_own_flat name
#define KERNEL_OF_own_wide(name) native_own_wide name
#define KERNEL_OF_own_compressed(name) native_own_compressed name
#define KERNEL_OF_pairs(name) native_pairs name
#define KERNEL_OF_rays(name) native_rays name
#define KERNEL_OF_sums(name) native_sums name
#define KERNEL_OF_boundary(name) native_boundary name
#define KERNEL_OF_points_flat(name) native_points_flat name
#define KERNEL_OF_points_wide(name) native_points_wide name
#define KERNEL_OF_points_compressed(name) native_points_compressed name

typedef enum native_program {
  NATIVE_END, /* of a table */
  NATIVE_FLAT,
  NATIVE_WIDE,
  NATIVE_INTERLEAVED,
  NATIVE_PACKET,
  NATIVE_ATTRIBUTES,
  NATIVE_COMPRESSED,
  NATIVE_PAIRS,
  NATIVE_RAYS,
  NATIVE_SUMS,
  NATIVE_BOUNDARY,
  NATIVE_POINTS_FLAT,
  NATIVE_POINTS_WIDE,
  NATIVE_POINTS_COMPRESSED,
  NATIVE_PROGRAMS
} native_program;

typedef enum native_kinds {
  KINDS_triangles,
  KINDS_all,
  KINDS_instances,
  KINDS_instanced_triangles,
  KINDS_own,
  KINDS_own_instances,
  KINDS_own_instanced_triangles,
  NATIVE_KINDS
} native_kinds;

typedef union native_kernel {
  native_flat *flat;
  native_wide *wide, *packet, *attributes;
  native_compressed *compressed;
  native_own_flat *own_flat;
  native_own_wide *own_wide;
  native_own_compressed *own_compressed;
  native_pairs *pairs;
  native_rays *rays;
  native_sums *sums;
  native_boundary *boundary;
  native_points_flat *points_flat;
  native_points_wide *points_wide;
  native_points_compressed *points_compressed;
} native_kernel;

typedef struct native_variant {
  native_program program;
  uint32_t query;     /* a slab_query, or QUERY_TOLD */
  native_kinds kinds; /* of the scenes that it casts on */
  uint32_t lanes;     /* of packets the rays */
  native_kernel kernel;
} native_variant;

/* The kernels that were compiled for one instruction set. */
typedef struct native_level {
  const char *name;               /* NULL: the end of the list */
  uint32_t lanes;                 /* primitives tested at once */
  const native_variant *variants; /* up to NATIVE_END */
} native_level;

/* The best first. */
extern const native_level native_levels[];

/* An open processor: the variants of its level. NULL: it has none. */
typedef struct native_device {
  const native_variant *of[NATIVE_PROGRAMS][PROGRAM_QUERIES + 1][NATIVE_KINDS]; /* the last are those of QUERY_TOLD */
  struct native_flight *idle; /* chunks of earlier calls, with their memory; the device's lock guards the list */
} native_device;

/* A committed scene: arrays of the library, used in place. */
typedef struct native_scene {
  const geometry_entry *table;
  const float *blocks;
  const void *nodes; /* NULL: no BVH */
} native_scene;

/* The variant that casts a query on a scene; NULL: there is none, as for some queries of packets and of interleaved
 * rays. */
static inline const native_variant *native_variant_of(const device_scene *on, native_program program,
                                                      slab_query asked) {
  const slab_query query = PROGRAM_QUERY(asked);
  const native_device *n = on->device->opened;
  const snapshot *scene = on->scene;
  const bool instances = scene->has_instances, triangles = scene->kinds == 1u << SLAB_TRIANGLE;
  const native_variant *v =
      triangles ? n->of[program][query][instances ? KINDS_instanced_triangles : KINDS_triangles] : NULL;
  return v != NULL ? v : n->of[program][query][instances ? KINDS_instances : KINDS_all];
}

/* offer.walkers, as the largest pieces have it. */
double native_walkers(const device_scene *);
/* The functions of the backend that cast, see backend.h. */
slab_status native_begin(const cast *, const device_scene *, chunk *);
slab_status native_end(const cast *, const device_scene *, chunk *, chunk_outcome *);
void native_abandon(const device_scene *, chunk *);
slab_status native_settle(const device_scene *, chunk *);
slab_status native_few(const cast *, const device_scene *, bool flat, chunk_outcome *);
/* A chunk of points, from begin to end. */
slab_status native_cast_points(const cast *, const device_scene *, const chunk *, chunk_outcome *);
slab_status native_cast_pairs(device *, slab_shape, const slab_ray *, const float *shapes, size_t n, slab_interval *);
/* Frees the memory that earlier calls have left. */
void native_free_idle(native_device *);
slab_status native_make_rays(device *, const set_rays *, slab_ray *);

#endif
