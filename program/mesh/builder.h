/* The builder, which every reader of mesh files fills. It shares vertices by position, splits faces, sorts triangles by
 * part, turns and scales, and drops or refuses invalid faces.
 *
 * Calls that can fail return 0, or -1 with the reason in mesh_builder_wrong. */
#ifndef SLABCAST_PROGRAM_MESH_BUILDER_H
#define SLABCAST_PROGRAM_MESH_BUILDER_H

#include "base/formatted.h"
#include "program/mesh/mesh.h"

/* A coordinate of the file as the nearest double and the nearest float. Which of them a vertex has, the options say. */
typedef struct mesh_point {
  double wide[3];
  float narrow[3];
} mesh_point;

typedef struct mesh_builder mesh_builder;

/* Makes floats, or doubles where the options say MESH_DOUBLES. NULL: out of memory. */
mesh_builder *mesh_builder_create(const mesh_options *);
void mesh_builder_destroy(mesh_builder *);
/* Hands the mesh over; the caller frees it by mesh_free. It is an error that it has no triangles. */
int mesh_builder_end(mesh_builder *, mesh_data *out);
/* Why a call failed; empty where none has. */
const char *mesh_builder_wrong(const mesh_builder *);

/* Sets the file's up axis (x, y, z; 0: not stated) and its unit in metres (0: not stated). Call before the first
 * vertex. */
void mesh_builder_says(mesh_builder *, char up, double unit);

/* Faces to come belong to a part of this name: a new one, or with _group the one that has the name already. Parts
 * without triangles vanish. No effect where one geometry is wanted. name: UTF-8. */
int mesh_builder_part(mesh_builder *, const char *name);
int mesh_builder_group(mesh_builder *, const char *name);
/* A part that stands in places alone, at least two: vertices to come are the model's. For nodes.c. */
int mesh_builder_placed_part(mesh_builder *);
int mesh_builder_add_place(mesh_builder *, const double place[MESH_PLACE], const char *name);
/* Whether the options want one geometry; doubles. */
bool mesh_builder_is_one(const mesh_builder *);
bool mesh_builder_is_double(const mesh_builder *);
/* A number of the file was moved by so much before the builder had it. */
void mesh_builder_lost(mesh_builder *, double distance);

/* Vertices to come begin a new list, numbered from 0, and are moved by `place` (three rows of 3 x 4; NULL: not). */
void mesh_builder_list(mesh_builder *, const double *place);
int mesh_builder_vertex(mesh_builder *, const mesh_point *);
/* A vertex as most binary files have it. */
int mesh_builder_vertex_float(mesh_builder *, const float point[3]);
/* Adds a face of the list's vertices. Points and lines have no surface and are skipped. */
int mesh_builder_face(mesh_builder *, const uint32_t *corners, size_t n);
/* A face that cannot be read, for this reason: drops it where the options say so, else returns -1. */
int mesh_builder_drop(mesh_builder *, const char *format, ...) FORMATTED(2, 3);
/* The same in the middle of a face: returns 1 where it is dropped. */
int mesh_builder_drop_face(mesh_builder *, const char *format, ...) FORMATTED(2, 3);
/* Says this of the file, in the facts of the mesh; of several warnings the first one. */
void mesh_builder_warn(mesh_builder *, const char *format, ...) FORMATTED(2, 3);
/* Another file was read for this mesh. */
int mesh_builder_reads(mesh_builder *, const char *path);
/* Returns -1 with this reason. */
int mesh_builder_refuse(mesh_builder *, const char *format, ...) FORMATTED(2, 3);

/* Makes space for one more element of `element` bytes in an array, a pointer to its pointer. Returns 0, or -1 if out of
 * memory. */
int mesh_grow(void *array, size_t *capacity, size_t count, size_t element);

/* The corners of a face that is being read. The owner of the list frees `at`. */
typedef struct corner_list {
  uint32_t *at;
  size_t count, capacity;
} corner_list;

int corner_append(corner_list *, uint32_t corner, mesh_builder *);
/* A corner as a number of the file. Returns 1 if it can be no vertex and the face is to be dropped, and -1 if that is
 * an error. */
int corner_append_number(corner_list *, uint64_t face, double corner, mesh_builder *);

/* ---- nodes.c: files in which meshes stand in places ----------------------------------------------------------------
 */

/* The place that moves nothing. */
extern const double mesh_at_home[MESH_PLACE];
/* out = a b, as matrices of 4 x 4 whose last row is 0 0 0 1. */
void mesh_place_multiply(const double a[MESH_PLACE], const double b[MESH_PLACE], double out[MESH_PLACE]);

/* A node that shows a mesh. */
typedef struct mesh_use {
  const char *name;
  uint32_t mesh;
  double place[MESH_PLACE];
} mesh_use;

/* All of a file's, in their order; all zero: none yet. The caller frees `uses`. */
typedef struct mesh_use_list {
  mesh_use *uses;
  uint32_t count;
  size_t capacity;
} mesh_use_list;

int mesh_builder_use(mesh_builder *, mesh_use_list *, const mesh_use *);

/* Gives the vertices and faces of a mesh to the builder: no list, no part. */
typedef int mesh_give(const void *file, uint32_t mesh, mesh_builder *);

/* Adds the meshes that the nodes show, in their order. A mesh at several places becomes a part with places, at its
 * first node; places that mirror, or that an instance cannot have, become triangles. Meshes are below mesh_count. */
int mesh_builder_nodes(mesh_builder *, const mesh_use_list *, uint32_t mesh_count, mesh_give *, const void *file);

#endif
