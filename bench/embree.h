/* The SIMD baseline of the BVH benchmark: Embree 3, as its manual asks: denormals flushed, threads that share the rays.
 */
#ifndef SLABCAST_BENCH_EMBREE_H
#define SLABCAST_BENCH_EMBREE_H

#include <stddef.h>
#include <stdint.h>

#include "scenes.h"

typedef enum embree_call {
  EMBREE_SINGLE, /* rtcIntersect1, rtcOccluded1 */
  EMBREE_PACKET, /* rtcIntersect16, rtcOccluded16, context flag coherent */
  EMBREE_ROBUST, /* single rays in a scene with RTC_SCENE_FLAG_ROBUST */
  EMBREE_CALLS
} embree_call;

extern const char *const embree_call_names[EMBREE_CALLS];

/* What a cast of theirs leaves behind: as much as ours writes for `closest`. */
typedef struct embree_hit {
  float t, normal[3], u, v; /* t is +inf on a miss; the normal is not unit length */
  uint32_t primitive, geometry;
} embree_hit;

typedef struct embree embree;

/* Spheres as spheres, boxes as six quads each, triangles as they are. NULL with a message on stderr: no device, no
 * memory, or planes and oriented boxes, which Embree has no like of. */
embree *embree_open(const scene_geometry *, uint32_t threads);
void embree_close(embree *);

/* hits: n of embree_hit; any: n bytes in their place, 1 for occluded. False where threads were refused. */
int embree_cast(embree *, embree_call, int any, const slab_ray *rays, size_t n, void *results);

#endif
