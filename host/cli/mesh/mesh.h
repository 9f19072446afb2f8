/* Reads mesh files in a child process. Importers crash on damaged files; that must end as an error message, not end the
 * program.
 *
 * The child is this same executable, started anew, because a fork would copy the locks of OpenCL runtime threads. It
 * has limits on time and memory, and only the pipe for its answer open. */
#ifndef SLABCAST_CLI_MESH_H
#define SLABCAST_CLI_MESH_H

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

#endif
