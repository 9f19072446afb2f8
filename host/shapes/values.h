/* The primitives of a geometry as the library keeps them, accepted and measured. Scene and snapshots share them, and
 * shared ones do not change: an update makes others. An update of a range (range.h) changes values that its owner has
 * alone. */
#ifndef SLABCAST_SHAPES_VALUES_H
#define SLABCAST_SHAPES_VALUES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "data/types.h"
#include "shapes/primitive.h"
#include "slabcast.h"

/* Fewer primitives are handled by one thread. */
#define PARALLEL_LEAST 4096u

struct device;

/* A device's copy of an array, for refits there (backend.h); all NULL: none. */
typedef struct device_copy {
  const struct device *device;
  void *memory;                                      /* the backend's own */
  void (*drop)(const struct device *, void *memory); /* the backend's: frees it */
} device_copy;

/* Frees a copy, which is then nothing. */
void values_drop_copy(device_copy *);

/* The indices of a mesh, as they were given. Updates that move vertices alone share them. */
typedef struct mesh_indices {
  uint32_t references; /* of values, which one thread at a time changes */
  uint32_t vertex_count;
  bool dense;         /* every index is in range, every vertex is used, and there are no more vertices than corners */
  uint32_t collapsed; /* triangles that have a vertex twice */
  device_copy copy;   /* of the list, from the first refit on a device on */
  uint32_t *users;    /* of vertex k those from users[k] to users[k + 1], each a triangle, behind users[vertex_count];
                         NULL until a range of vertices changes (range.h). Triangles with an index out of range are none */
  uint32_t list[];
} mesh_indices;

/* The bounds of some elements of values, as those of all. */
typedef struct values_part {
  float lower[3], upper[3];
} values_part;

typedef struct geometry_values geometry_values;
struct geometry_values {
  uint32_t references;      /* of the scene and its snapshots, which one thread at a time changes */
  uint32_t mask;            /* the geometry's, also of one that is disabled */
  uint32_t world;           /* that the geometry belongs to; 0: all. Of instances each has its own */
  bool drops;               /* the geometry was added with skip_invalid, which holds for updates too */
  bool indexed;             /* values are vertices, for the indices, which are dense. Else they are the public structs,
                               which are blocks of one lane */
  uint32_t outside;         /* primitives that are outside a BVH */
  uint32_t unbounded;       /* primitives with infinite bounds: these, and boxes that are infinite along z */
  uint32_t voids;           /* primitives that were dropped, and inverted boxes */
  atomic_uint unhit;        /* primitives that are known to be never hit: voids and collapsed triangles */
  atomic_bool unlooked;     /* of triangles those alone are known that have a vertex twice */
  float lower[3], upper[3]; /* as in slab_scene_stats */
  size_t floats;            /* of values: a multiple of BLOCK_UNIT, zero from the last value on */
  float *values;            /* with space for one float more, which vectors of four read */
  mesh_indices *indices;    /* NULL: none were given */
  device_copy copy;         /* of a mesh's vertices, 12 bytes each, from an update by a buffer to its commit */
  values_part *parts;       /* of each so many elements (range.h); NULL: no range of them has changed */
  uint32_t elements;        /* that the parts are of */
  bool unsettled;           /* lower and upper are older than the parts */
};

/* The world of a geometry's primitives; NULL: it is removed. */
static inline uint32_t values_world(const geometry_values *v) { return v != NULL ? v->world : 0; }

/* The floats of primitive i. space: where those of a triangle are put together. */
static inline const float *values_at(const geometry_values *v, uint32_t floats, uint32_t i, float space[FLOATS_MOST]) {
  if (!v->indexed) return v->values + (size_t)i * floats;
  const uint32_t *corners = v->indices->list + 3 * (size_t)i;
  for (size_t c = 0; c < 3; c++)
    for (size_t k = 0; k < 3; k++) space[3 * c + k] = v->values[3 * (size_t)corners[c] + k];
  return space;
}

/* Corner c of triangle i, with space for one float more. */
static inline const float *values_corner(const geometry_values *v, uint32_t i, size_t c) {
  const size_t own = 3 * (size_t)i + c;
  return v->values + 3 * (v->indexed ? v->indices->list[own] : own);
}

/* Whether two corners of triangle i are one. */
static inline bool values_are_collapsed(const geometry_values *v, uint32_t i) {
  return triangle_is_collapsed(float4_load(values_corner(v, i, 0)), float4_load(values_corner(v, i, 1)),
                               float4_load(values_corner(v, i, 2)));
}

/* Triangles that are known to be collapsed. */
static inline uint32_t values_collapsed(const geometry_values *v) { return v->unhit - v->voids; }

/* Triangles that have a vertex twice. */
static inline uint32_t collapsed_by_index(const geometry_values *v) {
  return v->indices != NULL ? v->indices->collapsed : 0;
}

/* n primitives that are being added, or take the place of others: their source, and the names for messages. */
typedef struct addition {
  const char *function, *noun;
  slab_shape kind;
  uint32_t count;
  const float *values; /* floats of the public structs; NULL for a mesh */
  const slab_mesh *mesh;
  mesh_indices *indices; /* in place of the mesh's, which are then NULL */
  uint32_t mask, world;
  bool drops;             /* void primitives replace refused ones; else the first refused one makes the call fail */
  const double *values64; /* in place of values; floats take their place before values_take */
  bool is_near;           /* floats count from the scene's origin already */
} addition;

/* Makes values of an addition. SLAB_INVALID_ARGUMENT names the first primitive that is refused. */
slab_status values_take(uint32_t threads, const addition *, geometry_values **values, uint32_t *dropped);

/* Floats of `count` elements of `each` floats, filled up to the end of the last BLOCK_UNIT. */
static inline size_t values_floats(uint32_t each, size_t count) {
  return (count * each + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
}
/* Space for values, not filled in but for the zeros at their end. indices: NULL, or the indices that the values refer
 * to. On success a reference of the caller's is taken over. NULL: memory is short. */
geometry_values *values_create(uint32_t kind, uint32_t count, mesh_indices *indices, bool indexed);
/* Looks for all primitives that are never hit. Threads that build BVHs of a model may do so at once. */
void values_look(uint32_t threads, geometry_values *, uint32_t count);
/* Classifies and measures values that are filled in. */
void values_measure(uint32_t threads, geometry_values *, slab_shape, uint32_t count);
/* Drops a reference; the last one frees. NULL is accepted. */
void values_release(geometry_values *);

/* Copies the indices of n triangles. NULL: memory is short. */
mesh_indices *values_indices_create(uint32_t threads, const uint32_t *indices, uint32_t n, uint32_t vertex_count);
void values_indices_release(mesh_indices *);

#endif
