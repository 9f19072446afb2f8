/* The scene that a command line describes: meshes, arrays of primitives and generated scenes in any mix;
 * geometry ids follow the order of the options; geometry i has the mask of bit i mod 32 alone. */
#ifndef SLABCAST_CLI_SCENE_H
#define SLABCAST_CLI_SCENE_H

#include <stddef.h>

#include "slabcast.h"

typedef struct scene_source scene_source;

/* NULL without memory. The texts handed to scene_source_option must outlive it. */
scene_source *scene_source_create(void);
void scene_source_destroy(scene_source *);

/* 1: taken; 0: no scene option, or no value that it can have; -1: the refusal is printed;
 * -2: there was no memory for it, which is printed. */
int scene_source_option(scene_source *, const char *name, const char *value);
/* The option that reads stdin, by the value "-", which one alone may have; NULL: none. */
const char *scene_source_stdin(const scene_source *);
/* How many scene options were taken. */
size_t scene_source_count(const scene_source *);

/* Reads, adds and commits everything. Returns an exit code, errors printed; *scene is then NULL. */
int scene_source_load(const scene_source *, slab_context *, slab_tree tree, slab_scene **scene);

#endif
