/* The scene that a command line describes: any mix of meshes, arrays of primitives, generated scenes and instances.
 * Geometry ids follow the order of the options; --instances takes one for each transform, and a mesh file one for each
 * of its parts. The geometries that option i adds have a mask of bit i mod 32 alone, unless --mask NAME=BITS says
 * otherwise; --of is none of these. --instance-worlds gives the places of the last --instances worlds, of which the
 * scene then has as many as the highest. */
#ifndef SLABCAST_PROGRAM_COMMON_SCENE_H
#define SLABCAST_PROGRAM_COMMON_SCENE_H

#include <stddef.h>

#include "program/common/scene_mesh.h"
#include "program/io/result_row.h"
#include "slabcast.h"

typedef struct scene_source scene_source;

/* NULL if out of memory. Texts passed to scene_source_option must outlive it. */
scene_source *scene_source_create(void);
void scene_source_destroy(scene_source *);

/* Returns 1: accepted; 0: not a scene option, or not a valid value; -1: the refusal is printed; -2: out of memory,
 * printed. */
int scene_source_option(scene_source *, const char *name, const char *value);
/* The axis that shall be up in meshes: x, y or z; 0: no option says. */
void scene_source_up(scene_source *, char axis);
/* The same where no option says so: meshes that name no axis are left alone without a word. */
void scene_source_up_unasked(scene_source *, char axis);
/* The mask of rays: --mask BITS; 0: all. */
uint32_t scene_source_ray_mask(const scene_source *);
/* The number of worlds of the scene, after scene_source_load. It may be set in a source that did not load the scene. */
uint32_t scene_source_worlds(const scene_source *);
void scene_source_tell_worlds(scene_source *, uint32_t worlds);
/* Whether no option lacks another, after the last one; if one does, the refusal is printed. */
int scene_source_is_whole(const scene_source *);
/* The option that reads stdin, by the value "-"; only one option may do so. NULL: none. */
const char *scene_source_stdin(const scene_source *);
/* output_spares for every file that the options name, and in scene_source_load for those that these name. */
int scene_source_spared(scene_source *, const char *path);
/* Number of scene options accepted, without --of. */
size_t scene_source_count(const scene_source *);

/* Reads, adds and commits everything. Returns an exit code; on failure the error is printed and *scene is NULL. */
int scene_source_load(scene_source *, slab_context *, slab_tree tree, slab_scene **scene);
/* The same on a context that is opened for it, whose devices' names become device->name. Opened objects are the
 * caller's after a failure too. */
int scene_source_open(scene_source *, const slab_context_options *, slab_tree tree, slab_context **, slab_scene **,
                      slab_scene_stats *, slab_device_info *device);
/* Whether its floats count from an origin that is not 0: then rays and points of doubles keep their digits. */
bool scene_is_far(const slab_scene_stats *);
/* A coordinate of the world that counts from the scene's origin, as those of lower and upper do. */
static inline double scene_coordinate(const slab_scene_stats *stats, int axis, float coordinate) {
  return stats->origin[axis] + (double)coordinate;
}
/* Warns if rounding to float32 moved points of a file by more than 1e-6 of the scene's size. */
void scene_warn_of_rounding(const slab_scene_stats *, const char *path, double moved);
/* The geometries with names, after scene_source_load, in the order of their ids. */
const scene_parts *scene_source_parts(const scene_source *);
/* The same for results; NULL: none has a name. */
const result_labels *scene_source_labels(const scene_source *);
/* The loads to come make a digest of all that they add: primitives, their order and their masks. */
void scene_source_make_digest(scene_source *);
/* The digest of the last load. */
uint64_t scene_source_digest(const scene_source *);

#endif
