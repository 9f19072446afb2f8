/* Facts that the import library logs, or changes without reporting them: lost geometry, turned axes and units. */
#ifndef SLABCAST_PROGRAM_MESH_ASSIMP_SAYS_H
#define SLABCAST_PROGRAM_MESH_ASSIMP_SAYS_H

#include <assimp/scene.h>

#include "program/mesh/readers.h"

enum { ASSIMP_LOSS_MAX = 200 };

/* Whether a line of the library's log means that faces or places are lost, or differ from the file's. If so, stores the
 * name of the loss. */
bool assimp_is_loss(const char *line, char loss[ASSIMP_LOSS_MAX]);

/* The same for parts that it passes over without a line, in 3MF: extensions that the file requires, and objects in
 * other files of its archive. */
bool assimp_lacks(const mesh_file *, char loss[ASSIMP_LOSS_MAX]);

/* Changes that the library makes by itself to the coordinates of a format, in release 5.2.5. */
typedef enum assimp_change {
  ASSIMP_KEEPS,
  ASSIMP_TURNS,  /* the root's place is of its own making, a turn from z up to y up before the file's */
  ASSIMP_ROOTS,  /* the root's place is of its own making alone: turn and unit */
  ASSIMP_MIRRORS /* every mesh and place along z, with its faces, since the format is left-handed */
} assimp_change;

assimp_change assimp_change_of(const mesh_file *);

/* The file's statements of its axis and unit, as mesh_builder_says takes them. */
void assimp_facts(const mesh_file *, const struct aiScene *, char *up, double *unit);

#endif
