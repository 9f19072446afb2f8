/* The geometries that a mesh file becomes: one for each part of it, or one for each place of a part. */
#ifndef SLABCAST_PROGRAM_COMMON_SCENE_MESH_H
#define SLABCAST_PROGRAM_COMMON_SCENE_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "program/io/digest.h"
#include "program/io/output.h"
#include "program/mesh/mesh.h"
#include "slabcast.h"

/* A geometry with a name. */
typedef struct scene_part {
  uint32_t geometry, mask, triangles;
  char *name; /* UTF-8 without control characters */
} scene_part;

/* In the order of their geometries. All zero: none. */
typedef struct scene_parts {
  scene_part *at;
  size_t count, capacity;
} scene_parts;

void scene_parts_free(scene_parts *);
/* A list of {geometry, name, triangles, mask}; NULL if out of memory. */
json_t *scene_parts_json(const scene_parts *);

/* A rule NAME=BITS of --mask. */
typedef struct scene_mask {
  const char *name; /* not ended by NUL */
  size_t length;
  uint32_t bits;
  bool used; /* a geometry has this name */
} scene_mask;

typedef struct scene_mask_list {
  scene_mask *at;
  size_t count;
} scene_mask_list;

/* Paths that a command will write. */
typedef struct scene_outputs {
  char **at;
  size_t count;
} scene_outputs;

/* Where a mesh goes. */
typedef struct scene_mesh_target {
  slab_context *context;
  slab_scene *scene;
  const slab_build_options *build; /* of the models of parts with places */
  uint32_t mask;                   /* of geometries that no rule names */
  scene_mask_list *rules;          /* NULL: none */
  scene_parts *parts;              /* parts with a name are added; NULL: not wanted */
  const scene_outputs *outputs;    /* which no file that the mesh file names may be */
  digest *seen;                    /* the digest of all that is added; NULL: not wanted */
  mesh_numbers numbers;            /* the type of coordinates, whatever the options say */
  bool *in_double;                 /* set to true where coordinates became doubles; NULL: not wanted */
} scene_mesh_target;

/* Reads the file and adds it. Returns an exit code; errors, and what the file says of itself, are printed.
 * *worst_rounding: the largest distance that rounding to float moved a coordinate; 0 where all are doubles. */
int scene_mesh_add(const char *path, const mesh_options *, const scene_mesh_target *, double *worst_rounding);

#endif
