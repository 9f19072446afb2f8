/* A scene: its geometries as the next commit will see them, and the snapshot that the last one made. */
#ifndef SLABCAST_SCENE_SCENE_H
#define SLABCAST_SCENE_SCENE_H

#include <stdatomic.h>

#include "os/memory.h"
#include "os/thread.h"
#include "record/snapshot.h"
#include "scene/models.h"
#include "shapes/range.h"

/* Maximum primitives of a scene: global primitive ids must stay below SLAB_INVALID and SLAB_MISS. */
#define SCENE_PRIMITIVES 0xFFFFFFF0u

/* The data of a geometry in double, until the scene's origin is known: its values, or of a mesh its vertices. Of
 * instances it is three each: the place of the model's origin. */
typedef struct far_values {
  size_t count; /* doubles */
  double list[];
} far_values;

typedef struct added_geometry {
  geometry_values *values; /* NULL: removed, or instances */
  instance_group *group;   /* NULL: removed, or primitives */
  instance_group *moved;   /* its successor, amid slab_scene_move_instances alone */
  bool moves;              /* likewise: it changes in place */
  uint32_t kind, count;    /* kind: a slab_shape or SHAPE_INSTANCE */
  uint32_t id;             /* of instances that of the first geometry of the first */
  bool enabled;
  far_values *far; /* NULL: floats are all there is */
} added_geometry;

/* Where a reader writes which snapshot it reads, so that it is not freed. Places are apart, so that threads do not
 * write the same cache line. NULL: free. */
enum { READER_PLACES = 16 };
typedef struct reader_place {
  _Atomic(const snapshot *) reads;
  char apart[OS_CACHE_LINE - sizeof(void *)];
} reader_place;

/* Rays on a BVH of this much more expected cost than after its build take longer than a build is worth. */
#define REFIT_COST_MOST 1.3

/* Elements of a geometry's values (shapes/range.h) that one commit changed. */
typedef struct moved_run {
  uint64_t frame;                  /* the number of that commit */
  uint32_t geometry, first, count; /* geometry: the index in the list; or MOVED_LEAF, of which first is the place */
} moved_run;
#define MOVED_LEAF UINT32_MAX /* it has other primitives (layout/places.h) */

/* The ranges that have changed since some commit (moves.h), in the order of commits. */
typedef struct moved_list {
  moved_run *list;
  uint32_t count, space;
  uint64_t since;    /* all that the commits after this one have changed is there */
  uint64_t elements; /* of all runs */
} moved_list;

/* The thread that builds a scene, one at a time, owns it except for members that readers may load. */
struct slab_scene {
  atomic_uint references; /* of its creator, and of scenes that have it as a model */
  slab_context *context;
  added_geometry *added; /* in the order of their ids */
  uint32_t geometries, capacity;
  uint64_t ids;        /* given so far */
  bool is_model;       /* scenes have it as a model: its ids are all given, and it has no worlds */
  bool has_origin;     /* it is known */
  double origin[3];    /* where floats count from; 0 until it is known */
  uint32_t worlds;     /* declared */
  uint64_t primitives; /* of geometries that are not removed */
  bool changed, grown; /* since the last commit: in any way; by a geometry */
  bool rearranged;     /* in another way than by moves: of instances that worlds list, or of ranges that are listed */
  uint64_t frame;      /* commits so far */
  uint64_t *moved_in;  /* of each world the number of the commit that has its last move */
  moved_list moves;
  snapshot *resting;             /* replaced: the next commit of moves alone may write those to it */
  _Atomic(snapshot *) committed; /* casts read it; NULL before the first commit */
  bvh_layout spare;              /* arrays of a BVH that was refitted and is gone, for the next refit */
  snapshot *replaced;            /* those before it, the newest first, that may still be read */
  os_mutex crowd;                /* guards snapshot.crowd */
  reader_place places[READER_PLACES];
};

/* The snapshot of the last commit, until scene_leave. A call reads it from its beginning to its end. */
typedef struct scene_reading {
  const snapshot *scene;
  slab_scene *of;
  reader_place *place; /* NULL: in the crowd */
} scene_reading;

/* SLAB_INVALID_ARGUMENT where the scene is NULL, SLAB_INVALID_STATE where it is a forked process's parent's. */
slab_status scene_check(const slab_scene *, const char *function);

/* A reader takes a place, writes there which snapshot it reads, and then looks whether that is still the committed one.
 * So a thread that replaces a snapshot and then finds it in no place knows that nobody reads it. Readers wait for
 * nobody: where all places are taken they are counted, under a lock. Inline, since a call of one ray feels it. */
static inline bool scene_take_place(slab_scene *scene, reader_place *place, const snapshot *s, scene_reading *r) {
  const snapshot *nobody = NULL;
  *r = (scene_reading){s, scene, place};
  if (!atomic_compare_exchange_strong(&place->reads, &nobody, s)) return false;
  if (atomic_load(&scene->committed) == s) return true;
  atomic_store_explicit(&place->reads, NULL, memory_order_release);
  return false;
}

slab_status scene_enter_slowly(slab_scene *, const char *function, scene_reading *);

/* SLAB_INVALID_STATE before the first commit. Threads are distinguished by where their stacks lie. */
static inline slab_status scene_enter(const slab_scene *read, const char *function, scene_reading *r) {
  slab_scene *scene = (slab_scene *)read; /* readers who change nothing take places, too */
  const uint64_t stack = (uint64_t)(uintptr_t)__builtin_frame_address(0) >> 16;
  reader_place *place = &scene->places[stack * 0x9E3779B97F4A7C15u >> 60];
  const snapshot *s = atomic_load(&scene->committed);
  if (s != NULL && scene_take_place(scene, place, s, r)) return SLAB_OK;
  return scene_enter_slowly(scene, function, r);
}

void scene_leave_crowd(const scene_reading *);

static inline void scene_leave(const scene_reading *r) {
  if (r->place != NULL)
    atomic_store_explicit(&r->place->reads, NULL, memory_order_release);
  else
    scene_leave_crowd(r);
}

/* Keeps the snapshot that a call reads beyond its end, and lets it go. */
void scene_hold(const scene_reading *, snapshot **);
void scene_let_go(slab_scene *, snapshot **);

static inline bool is_removed(const added_geometry *a) { return a->values == NULL && a->group == NULL; }

/* slab_scene_destroy gives the reference back. */
void scene_retain(slab_scene *);

/* Adds the next geometry, which takes `ids` geometry ids, to the list, which must have space. Takes the reference of
 * its values, or of its instances. */
void scene_append(slab_scene *, const added_geometry *, uint64_t ids);
slab_status scene_reserve(slab_scene *, uint32_t geometries);
/* Whether `count` more primitives, which take `ids` geometry ids, can be added. */
slab_status scene_check_space(const slab_scene *, const char *function, uint32_t count, uint64_t ids);
/* Whether the scene has this world, which something is to belong to. */
slab_status scene_check_world(const slab_scene *, const char *function, uint32_t world);
/* The last of the list whose id is not above. */
added_geometry *scene_added(const slab_scene *, uint32_t id);
/* The geometry of this id, which is not removed. */
slab_status scene_find(const slab_scene *, const char *function, uint32_t geometry, added_geometry **found);
slab_status scene_fail_kind(const char *function, uint32_t geometry, uint32_t kind, const char *wanted);
/* Replaces the primitives of a geometry. The scene does not change before every primitive is accepted. */
slab_status scene_update(slab_scene *, uint32_t geometry, addition *);
/* The same of a range. */
slab_status scene_update_range(slab_scene *, values_range *);
/* The same of transforms: of all instances of a geometry, of those at these indices, and of all of many geometries. */
struct given_transforms;
slab_status scene_update_instances(slab_scene *, const char *function, uint32_t geometry,
                                   const struct given_transforms *, uint32_t n);
slab_status scene_update_some_instances(slab_scene *, const char *function, uint32_t geometry, const uint32_t *indices,
                                        const struct given_transforms *, uint32_t n);
slab_status scene_move_instances(slab_scene *, const char *function, const uint32_t *geometries, uint32_t count,
                                 const struct given_transforms *, uint32_t n);
/* The values of a geometry that is there and has primitives. */
geometry_values *scene_values(const slab_scene *, uint32_t geometry);
slab_status scene_check_mesh(const char *function, const slab_mesh *);
/* SLAB_INVALID_ARGUMENT where a model is as deep, by the last commits, as models may be in each other.
 */
slab_status scene_check_depth(const char *function, slab_scene *model);

/* The geometries as they are now. numbered: a snapshot whose global primitive ids are kept; NULL: numbers them anew. */
slab_status scene_snapshot(const slab_scene *, const snapshot *numbered, snapshot **);
/* Lets casts that begin from now on read this one. */
void scene_publish(slab_scene *, snapshot *);

#endif
