/* Scenes of the BVH benchmark by their names. */
#ifndef SLABCAST_BENCH_TRACE_SCENE_H
#define SLABCAST_BENCH_TRACE_SCENE_H

#include <stdbool.h>

#include "scenes.h"

/* NAME:COUNT of scenes.h; city-mesh:COUNT, the city's boxes as twelve triangles each; or a mesh file. False with a
 * message on stderr. Release with scene_geometry_free. */
bool trace_scene_read(const char *name, uint64_t seed, scene_geometry *out);

/* First thing in main: when this process reads a mesh for another, does so and returns its exit code; else -1. */
int trace_scene_child(int argc, char **argv);

#endif
