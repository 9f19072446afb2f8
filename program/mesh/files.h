/* Files that the importer opens: the mesh file itself, and the files that it names. */
#ifndef SLABCAST_PROGRAM_MESH_FILES_H
#define SLABCAST_PROGRAM_MESH_FILES_H

#include <stddef.h>

#include "program/mesh/builder.h"

/* A whole file, ended by NUL; NULL: it cannot be read, or there is no memory for it. */
char *files_read(const char *path, size_t *size);

/* Why a mesh file whose own name has no ending, as standard input has none, may name no other file. */
extern const char files_alone[];
/* Why a mesh file may not name this file; NULL: it may. Named files must be in its own folder or in folders of that. So
 * a mesh file from elsewhere cannot make its reader's other files be read. */
const char *files_fault(const char *name);
/* The file that the mesh file at `path` names so, without a fault; NULL as above. It is reported to the builder. */
char *files_read_beside(const char *path, const char *name, size_t *size, mesh_builder *);

#endif
