/* The readers of mesh files, which run in the child process. */
#ifndef SLABCAST_PROGRAM_MESH_READERS_H
#define SLABCAST_PROGRAM_MESH_READERS_H

#include "program/mesh/builder.h"

typedef struct mesh_file {
  const char *path;
  const char *ending; /* of the name, or by the bytes */
  bool named;         /* the name has an ending */
  char *bytes;        /* the whole file, ended by NUL */
  size_t size;
} mesh_file;

/* Gives all faces of a file to the builder. Returns 0, or -1 with the reason in the builder. */
typedef int mesh_reader(const mesh_file *, mesh_builder *);

mesh_reader read_obj, read_ply, read_stl, read_off, read_gltf, read_lwob;
/* Every format that the import library knows. */
mesh_reader read_assimp;

/* Whether it is a file for read_lwob. */
bool lwob_is(const mesh_file *);
/* Whether they are a binary STL of exactly as many bytes as its facets take. */
bool stl_is_binary(const char *bytes, size_t size);

#endif
