/* Reads mesh files in a child process. Importers crash on damaged files; that must end as an error message, not end the
 * program.
 *
 * The child is this same executable, started anew, because a fork would copy the locks of OpenCL runtime threads. It
 * has limits on time and memory, and only the pipe for its answer open. */
#ifndef SLABCAST_PROGRAM_MESH_MESH_H
#define SLABCAST_PROGRAM_MESH_MESH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The type of coordinates. */
typedef enum mesh_numbers {
  MESH_DOUBLES_WHERE_FAR, /* doubles where the loss in floats would show (program/io/far.h); else floats */
  MESH_FLOATS,
  MESH_DOUBLES
} mesh_numbers;

/* How a file is read. All zero: as it is. */
typedef struct mesh_options {
  bool skip_invalid; /* faces that cannot be read are dropped and counted; else they are an error */
  bool one_geometry; /* the file is one part, and meshes at several places are repeated */
  char up;           /* x, y or z: the axis that shall be up, where the file names its own; 0: left alone */
  bool up_unasked;   /* no option says so, but the command */
  double unit;       /* in metres: the unit that coordinates shall have, where the file names its own; 0: left alone */
  unsigned seconds;  /* of processor time that the importer may take; 0: by the size of the file */
  mesh_numbers numbers;
} mesh_options;

/* A run of triangles: a group, an object or a node of the file. It stands where its vertices are, or, with places,
 * at each of these. */
typedef struct mesh_part {
  uint32_t triangle_count, place_count; /* the next of mesh_data's triangles and places */
} mesh_part;

/* A file's statements about itself, and the changes made to it. */
typedef struct mesh_facts {
  double unit;           /* of its coordinates, in metres; 0: it says nothing */
  double worst_rounding; /* the largest distance that rounding to float moved a coordinate, or where a place lies */
  uint32_t dropped;      /* faces that skip_invalid dropped */
  char first_dropped[120];
  char warning[120]; /* an oddity of the file, which was read nevertheless; empty: none */
  char up;           /* the axis that it calls up: x, y or z; 0: it says nothing */
} mesh_facts;

enum { MESH_PLACE = 12 }; /* numbers of a place: three rows of a matrix of 3 x 4 */

/* Triangles over shared vertices. Positions with equal values are one vertex, so that neighbours share bit-identical
 * positions. Faces of a part are in file order; polygons are split. */
typedef struct mesh_data {
  float *vertices;    /* x, y, z of each vertex; NULL: vertices64 has them */
  double *vertices64; /* the same in double; NULL: vertices has them */
  uint32_t *indices;  /* three per triangle, all below vertex_count */
  mesh_part *parts;   /* all triangles and places, in the order of their first face */
  double *places;     /* not rounded */
  char *names; /* of each part without places and of each place, in this order, each ended by NUL; may be empty */
  char *files; /* the other files that were read, each ended by NUL */
  uint32_t vertex_count, triangle_count, part_count, place_count, name_bytes, file_bytes;
  mesh_facts facts;
} mesh_data;

/* path "-" is stdin; it may name a pipe. The format is that of the name's ending. Without an ending it is detected from
 * the bytes: PLY, STL, OFF, glTF, OBJ. Returns 0, or -1 with the fault of the file in `error`. Release with
 * mesh_free. */
int mesh_read(const char *path, const mesh_options *, mesh_data *out, char *error, size_t error_size);
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
int mesh_import(const char *path, const mesh_options *, mesh_data *out, char *error, size_t error_size);

#endif
