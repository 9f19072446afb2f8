/* Reads mesh files in a child process. Importers crash on damaged files; that must end as an error message, not end the
 * program.
 *
 * The child is this same executable, started anew, because a fork would copy the locks of OpenCL runtime threads. It
 * has limits on time and memory, and only the pipe for its answer open. */
#ifndef SLABCAST_PROGRAM_MESH_MESH_H
#define SLABCAST_PROGRAM_MESH_MESH_H

#include <stddef.h>
#include <stdint.h>

/* Triangles over shared vertices. Positions with equal values are one vertex, so that neighbours share bit-identical
 * positions. Faces are in file order; polygons are split. */
typedef struct mesh_data {
  float *vertices; /* x, y, z of each vertex */
  uint32_t vertex_count;
  uint32_t *indices; /* three per triangle, all below vertex_count */
  uint32_t triangle_count;
} mesh_data;

/* path "-" is stdin. The format is that of the name's ending. Without an ending it is detected from the bytes: PLY,
 * STL, OFF, binary glTF, OBJ. Returns 0, or -1 with `error` saying what is wrong with the file. Release with
 * mesh_free. */
int mesh_read(const char *path, mesh_data *out, char *error, size_t error_size);
void mesh_free(mesh_data *mesh);

/* Call first in main. If this process is the importer of mesh_read, it imports, sends the mesh, and returns the exit
 * code; otherwise returns -1. */
int mesh_child_main(int argc, char **argv);

/* ---- transfer between parent and child ------------------------------------ */

/* Parent: reads a mesh of at most max_bytes from a pipe until its end. It trusts no data of the child. Returns 0, or -1
 * with `error`: the child's message, or what is wrong with its data; empty if no data came. */
int mesh_receive(int fd, uint64_t max_bytes, mesh_data *out, char *error, size_t error_size);
/* Child: sends a mesh. Returns 0 or -1. */
int mesh_send(int fd, const mesh_data *mesh);
int mesh_send_error(int fd, const char *message);

/* Child: imports the file in this process. */
int mesh_import(const char *path, mesh_data *out, char *error, size_t error_size);

/* ---- obj_text.c: OBJ texts before and after the import library reads them ---- */

/* Keeps only the lines of vertices and faces, each from its first letter to its end. Lines continued by a backslash are
 * joined. Returns the new size, which is never larger. `text` has `size` bytes and needs no NUL. */
size_t obj_keep_geometry(char *text, size_t size);

/* Finds the reason of a rejection, because the library rejects a text without naming the place. Searches for the first
 * face with a vertex index that the text does not have, and writes it with its line to `fault`. If there is none,
 * `fault` is unchanged. `text` ends with NUL. */
void obj_find_fault(const char *text, char *fault, size_t size);

/* ---- polygon.c -------------------------------------------------------------- */

/* Splits the polygon with these corners (three coordinates each, in order) into exactly n - 2 triangles. Triangles have
 * three corner indices each, counted from 0, and the polygon's winding. A convex polygon becomes the fan around corner
 * 0. For any shape, the outer edges of the triangles are the polygon's edges, so that a closed mesh stays closed. n >=
 * 3. Returns 0, or -1 if out of memory. */
int polygon_split(const float *points, size_t n, uint32_t *triangles);

#endif
