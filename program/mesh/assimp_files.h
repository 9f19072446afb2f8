/* The files that the import library may open: the mesh file, from memory, and what stands in its folder. */
#ifndef SLABCAST_PROGRAM_MESH_ASSIMP_FILES_H
#define SLABCAST_PROGRAM_MESH_ASSIMP_FILES_H

#include <assimp/cfileio.h>

#include "program/mesh/readers.h"

typedef struct assimp_files {
  struct aiFileIO calls; /* for the library */
  const mesh_file *file;
  char name[80];    /* of a file without an ending; else empty: its path is its name */
  char denied[160]; /* the first file that was asked for and may not be opened; empty: none */
} assimp_files;

void assimp_files_begin(assimp_files *, const mesh_file *);
/* What the library shall call the mesh file. */
const char *assimp_files_name(const assimp_files *);

#endif
