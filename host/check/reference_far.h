/* Rays of the world as the CPU reference casts them, and its answers as the caller has them. work/far_rays.c does this
 * for casts. Here scalar code of another kind does it again, and results are compared bit by bit. */
#ifndef SLABCAST_CHECK_REFERENCE_FAR_H
#define SLABCAST_CHECK_REFERENCE_FAR_H

#include "check/reference.h"

/* A ray of the world, and the float ray in its place. */
typedef struct reference_line {
  slab_ray64 given;
  slab_ray ray;
  double begin; /* t of the world is (begin + t of the float ray) * 2^exponent, within the range that was given */
  int exponent;
  bool doubles; /* results are of slab_result_size64 */
} reference_line;

/* Only a NaN may have other bits than that of a cast: such rays are invalid. */
reference_line reference_line_of(const slab_scene_stats *, bool unbounded, const slab_ray64 *);
reference_line reference_line_of_floats(const slab_scene_stats *, bool unbounded, const slab_ray *);

/* A crossing of the float ray, in the world. */
double reference_world_t(const reference_line *, float t);

/* Bytes of a result of a query. line: of any of its rays; NULL: they are the scene's. */
size_t reference_size(slab_query, const reference_line *);
/* Writes the answer, of SLAB_ALL hit k of it, as the caller should have it. */
void reference_tell(slab_query, const reference_line *, const reference_answer *, uint32_t k, void *to);

#endif
