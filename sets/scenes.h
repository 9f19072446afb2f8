/* Generated scenes, shared by the program (--builtin), the tests and the benchmarks.
 *
 * A name, a count and a seed give the same bits on every machine: the generators use only integers and + - * / sqrt in
 * a fixed order. Compile without contraction. */
#ifndef SLABCAST_SETS_SCENES_H
#define SLABCAST_SETS_SCENES_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

/* Primitives of one kind. */
typedef struct scene_geometry {
  slab_shape kind;
  uint32_t count;        /* number of primitives */
  void *shapes;          /* `count` elements of slab_plane, slab_sphere, slab_box or slab_obb; NULL for triangles */
  float *vertices;       /* triangles: x, y, z of each vertex; otherwise NULL */
  uint32_t vertex_count; /* of triangles */
  uint32_t *indices;     /* triangles: three for each; NULL for a soup, whose triangle i has vertices 3i .. 3i+2 */
} scene_geometry;

typedef struct scene_name {
  const char *name;
  const char *about; /* one line; describes how the count is rounded where it cannot be exact */
  int closed;        /* a closed mesh: every edge is used equally often in both directions */
} scene_name;

/* All names. The last entry has the name NULL. */
extern const scene_name scene_names[];

enum { SCENE_UNKNOWN = -1, SCENE_NO_MEMORY = -2 };

/* Returns 0, SCENE_UNKNOWN or SCENE_NO_MEMORY; *out is zero after a failure. Release with scene_geometry_free. */
int scene_build(const char *name, uint32_t count, uint64_t seed, scene_geometry *out);
void scene_geometry_free(scene_geometry *);

/* Adds the geometry, of any kind, to a scene of the library. */
slab_status scene_geometry_add(slab_scene *, const scene_geometry *, const slab_geometry_options *, uint32_t *geometry);

#endif
