/* The readers of mesh files, which run in the child process. */
#ifndef SLABCAST_PROGRAM_MESH_READERS_H
#define SLABCAST_PROGRAM_MESH_READERS_H

#include "program/mesh/builder.h"

typedef struct mesh_file {
  const char *path;
  const char *ending; /* of the name, or as the bytes tell */
  bool named;         /* the name has an ending */
  char *bytes;        /* the whole file, ended by NUL */
  size_t size;
} mesh_file;

/* Gives all faces of a file to the builder. Returns 0, or -1 with the reason in the builder. */
typedef int mesh_reader(const mesh_file *, mesh_builder *);

/* Every format that the import library knows. */
mesh_reader read_assimp;

#endif
