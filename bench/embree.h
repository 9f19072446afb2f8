/* Embree 4, with which the BVH benchmarks compare. It is used as its manual recommends: denormals are flushed, and
 * threads share the rays. */
#ifndef SLABCAST_BENCH_EMBREE_H
#define SLABCAST_BENCH_EMBREE_H

#include <stddef.h>
#include <stdint.h>

#include "sets/scenes.h"

typedef enum embree_call {
  EMBREE_SINGLE, /* rtcIntersect1, rtcOccluded1 */
  EMBREE_PACKET, /* rtcIntersect16, rtcOccluded16, with the query flag coherent */
  EMBREE_ROBUST, /* single rays in a scene with RTC_SCENE_FLAG_ROBUST */
  EMBREE_ROBUST_PACKET,
  EMBREE_CALLS
} embree_call;

static inline int embree_call_is_packet(embree_call call) {
  return call == EMBREE_PACKET || call == EMBREE_ROBUST_PACKET;
}

typedef struct embree embree;

/* An RTCDevice of so many threads. Returns NULL with a message on stderr where there is none, or where the library is
 * older than the headers that this was compiled with. */
struct RTCDeviceTy *embree_device(uint32_t threads);
/* A committed scene of one geometry, which is copied. Spheres are spheres, boxes six quads each. flags: RTCSceneFlags.
 */
struct RTCSceneTy *embree_scene(struct RTCDeviceTy *, const scene_geometry *, unsigned int flags);
/* Flushes denormals and takes them for zero in this thread, as Embree's manual wants it. Returns the modes of before,
 * for _mm_setcsr. */
unsigned int embree_flush(void);
/* The library's version, which may be newer than the headers'. Returns "" with a message on stderr where there is none.
 */
const char *embree_version(void);

/* Adds spheres as spheres, boxes as six quads each, triangles as triangles. filters: calls may have filters, which
 * count and all need; other calls are then slower. Returns NULL with a message on stderr where there is no device or no
 * memory, or for planes and oriented boxes, which Embree does not have. */
embree *embree_open(const scene_geometry *, uint32_t threads, int filters);
void embree_close(embree *);

/* A mesh whose vertices move, in the caller's memory, which has space for one float more at its end. refits: the BVH
 * keeps its shape (RTC_BUILD_QUALITY_REFIT). Else it is built anew each time, as fast as Embree builds (LOW). Returns
 * NULL with a message on stderr where there is no device or no memory. */
typedef struct embree_moving embree_moving;
embree_moving *embree_moving_open(const scene_geometry *, uint32_t threads, int refits);
/* Commits the vertices as they are now. */
void embree_moving_commit(embree_moving *);
void embree_moving_close(embree_moving *);

/* A mesh that other scenes place. Returns NULL with a message on stderr where there is no device or no memory. */
embree *embree_open_model(const scene_geometry *, uint32_t threads);
/* Makes the scene that is cast at: n instances, by affine maps of 12 floats, row by row. A hit's geometry is the
 * instance's number then. As built by default: DYNAMIC is as fast, LOW takes twice as long. Returns false with a
 * message on stderr where there is no memory. */
int embree_place(embree *, const float *transforms, uint32_t n);
/* Gives the same instances other places. */
void embree_move(embree *, const float *transforms);
/* Releases the scene that embree_place made. */
void embree_clear(embree *);

/* Casts of n rays. Each returns false with a message on stderr where there are no threads or no memory.
 *
 * results, by query. SLAB_CLOSEST: n slab_hit, whose t is +inf on a miss and whose normals are not normalised.
 * SLAB_ANY: n bytes, 1 for occluded. SLAB_COUNT: n uint32_t, how often a filter that rejects every hit was called. */
int embree_cast(embree *, embree_call, slab_query, const slab_ray *rays, size_t n, void *results);
/* How many of a point's rays into m directions hit nothing, for each of n points: the loop that casts rays makes them,
 * so that there is no array. */
int embree_open_rays(embree *, embree_call, const float *points, size_t n, const float *directions, size_t m,
                     uint32_t *open);
/* The results of slab_all: the filter keeps the hits, and each ray's hits are sorted by t. offsets: n + 1. Returns
 * false also where there are more than `capacity` hits. */
int embree_all(embree *, embree_call, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
               uint64_t capacity);

#endif
