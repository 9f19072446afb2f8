/* Generated scenes, shared by the program (--builtin), the tests and the benchmarks.
 *
 * A name, a count and a seed give the same bits on every machine: integers and + - * / sqrt in a
 * fixed order alone, so compile without contraction. */
#ifndef SLABCAST_BENCH_SCENES_H
#define SLABCAST_BENCH_SCENES_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

/* Primitives of one kind. */
typedef struct scene_geometry {
  slab_shape kind;
  uint32_t count;        /* primitives */
  void *shapes;          /* `count` of slab_plane, slab_sphere, slab_box, slab_obb; NULL for triangles */
  float *vertices;       /* triangles: x, y, z of each vertex, else NULL */
  uint32_t vertex_count; /* triangles */
  uint32_t *indices;     /* triangles: three each; NULL for a soup, whose triangle i has vertices 3i .. 3i+2 */
} scene_geometry;

typedef struct scene_name {
  const char *name;
  const char *about; /* one line, and what becomes of the count where it is not met exactly */
  int closed;        /* a closed mesh: along every edge as many triangles run one way as the other */
} scene_name;

/* All names, ended by one that is NULL. */
extern const scene_name scene_names[];

enum { SCENE_UNKNOWN = -1, SCENE_NO_MEMORY = -2 };

/* 0, SCENE_UNKNOWN or SCENE_NO_MEMORY; *out is then zero. Release with scene_geometry_free. */
int scene_build(const char *name, uint32_t count, uint64_t seed, scene_geometry *out);
void scene_geometry_free(scene_geometry *);

/* Adds it to a scene of the library, whichever kind it is. */
slab_status scene_geometry_add(slab_scene *, const scene_geometry *, const slab_geometry_options *, uint32_t *geometry);

#endif
