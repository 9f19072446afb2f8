/* The files that the import library may open: the mesh file, from memory, and files in its folder. Decimals in text
 * files are spelled for its reader of decimals. */
#ifndef SLABCAST_PROGRAM_MESH_ASSIMP_FILES_H
#define SLABCAST_PROGRAM_MESH_ASSIMP_FILES_H

#include <assimp/cfileio.h>

#include "program/mesh/assimp_decimals.h"
#include "program/mesh/readers.h"

typedef struct assimp_files {
  struct aiFileIO calls; /* for the library */
  const mesh_file *file;
  mesh_builder *builder;
  char *respelled; /* the mesh file's text; NULL: its bytes are as they are */
  size_t respelled_size;
  assimp_decimals decimals; /* of every text that was opened */
  char name[80];            /* of a file without an ending; else empty: its path is its name */
  char denied[160];         /* the first requested file that may not be opened; empty: none */
} assimp_files;

/* Returns 0, or -1 if out of memory. In any case call assimp_files_end. */
int assimp_files_begin(assimp_files *, const mesh_file *, mesh_builder *);
void assimp_files_end(assimp_files *);
/* The name by which the library shall open the mesh file. */
const char *assimp_files_name(const assimp_files *);

#endif
