/* Reads scenes of benchmarks by name. */
#ifndef SLABCAST_BENCH_TRACE_SCENE_H
#define SLABCAST_BENCH_TRACE_SCENE_H

#include <stdbool.h>

#include "sets/scenes.h"

/* NAME:COUNT of scenes.h; city-mesh:COUNT, the city's boxes as twelve triangles each; or a mesh file. Returns false
 * with a message on stderr. Release with scene_geometry_free. */
bool trace_scene_read(const char *name, uint64_t seed, scene_geometry *out);

/* Call this first in main. If this process was started to read a mesh for another one, reads it and returns the exit
 * code; otherwise returns -1. */
int trace_scene_child(int argc, char **argv);

#endif
