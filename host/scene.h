/* A scene: its geometries as the next commit will see them, and the snapshot that the last one made. */
#ifndef SLABCAST_SCENE_H
#define SLABCAST_SCENE_H

#include <stdatomic.h>

#include "snapshot.h"

/* Maximum primitives of a scene: global primitive ids must stay below SLAB_INVALID and SLAB_MISS. */
#define SCENE_PRIMITIVES 0xFFFFFFF0u

typedef struct added_geometry {
  geometry_values *values; /* NULL: removed */
  uint32_t kind, count;
  bool enabled;
} added_geometry;

/* Whoever builds a scene, one thread at a time, has it but for what readers may load. */
struct slab_scene {
  slab_context *context;
  added_geometry *added; /* by id */
  uint32_t geometries, capacity;
  uint64_t primitives;           /* of geometries that are not removed */
  bool changed, grown;           /* since the last commit: in any way; by a geometry */
  _Atomic(snapshot *) committed; /* what casts read; NULL before the first commit */
  readers readers;               /* of it */
  bvh_layout spare;              /* arrays of a BVH that was refitted and is gone, for the next refit */
  snapshot *replaced;            /* those before it, the newest first, that may still be read */
};

/* The snapshot of the last commit, until scene_leave. It is what a call reads from its beginning to its end. */
typedef struct scene_reading {
  const snapshot *scene;
  atomic_uint *inside;
} scene_reading;

/* SLAB_INVALID_ARGUMENT where the scene is NULL, SLAB_INVALID_STATE where it is a forked process's parent's. */
slab_status scene_check(const slab_scene *, const char *function);
/* SLAB_INVALID_STATE before the first commit. */
slab_status scene_enter(const slab_scene *, const char *function, scene_reading *);
static inline void scene_leave(const scene_reading *r) { readers_leave(r->inside); }

/* Adds the next geometry to the list, which must have room, and takes the reference of its values. */
void scene_append(slab_scene *, const added_geometry *);
slab_status scene_reserve(slab_scene *, uint32_t geometries);
/* Replaces the primitives of a geometry. The scene does not change before every primitive is accepted. */
slab_status scene_update(slab_scene *, uint32_t geometry, addition *);
slab_status scene_check_mesh(const char *function, const slab_mesh *);

/* The geometries as they are now. numbered: a snapshot whose global primitive ids are kept; NULL: numbers them anew. */
slab_status scene_snapshot(const slab_scene *, const snapshot *numbered, snapshot **);
/* Lets casts that begin from now on read this one. */
void scene_publish(slab_scene *, snapshot *);

#endif
