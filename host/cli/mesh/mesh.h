/* Mesh files, read by a child process: importers crash on damaged files, and that
 * must end as a message, never as the end of this program.
 *
 * The child is this same executable started anew (a fork would carry over the
 * locks of OpenCL runtimes' threads), with limits on time and memory and nothing
 * open but the pipe that it answers through. */
#ifndef SLABCAST_CLI_MESH_H
#define SLABCAST_CLI_MESH_H

#include <stddef.h>
#include <stdint.h>

/* Triangles over shared vertices: positions with equal values are one vertex, so
 * that neighbours meet bit for bit. Faces are in file order, polygons split. */
typedef struct mesh_data {
  float *vertices; /* x, y, z of each */
  uint32_t vertex_count;
  uint32_t *indices; /* three a triangle, all below vertex_count */
  uint32_t triangle_count;
} mesh_data;

/* path "-" is stdin. The format is that of the name's ending; without one, told by the bytes: PLY, STL, OFF, binary
 * glTF, OBJ. 0, or -1 with `error` saying what was wrong with the file. Release with mesh_free. */
int mesh_read(const char *path, mesh_data *out, char *error, size_t error_size);
void mesh_free(mesh_data *mesh);

/* First thing in main: when this process is the importer of mesh_read, imports,
 * sends, and returns its exit code; -1 when it is not. */
int mesh_child_main(int argc, char **argv);

/* ---- the hand-over between the two ---------------------------------------- */

/* Parent's side, which trusts nothing: reads a mesh of at most max_bytes from a
 * pipe until its end. -1: `error` holds the child's own message, or what was wrong
 * with what it sent; an empty one means that nothing at all came. */
int mesh_receive(int fd, uint64_t max_bytes, mesh_data *out, char *error, size_t error_size);
/* Child's side; 0 or -1. */
int mesh_send(int fd, const mesh_data *mesh);
int mesh_send_error(int fd, const char *message);

/* Child's side: the import itself, in this process. */
int mesh_import(const char *path, mesh_data *out, char *error, size_t error_size);

#endif
