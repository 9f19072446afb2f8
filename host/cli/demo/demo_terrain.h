/* The demo's land: mountains around a bay, as one mesh of more than a million triangles. */
#ifndef SLABCAST_CLI_DEMO_TERRAIN_H
#define SLABCAST_CLI_DEMO_TERRAIN_H

#include <stdint.h>

#include "demo_noise.h"
#include "scenes.h"
#include "vectors.h"

/* Builds the mesh and the normal at each of its vertices. Returns 0, or -1 if out of memory; release both in either
 * case. */
int demo_terrain_build(const demo_noise *, scene_geometry *mesh, vec3 **normals);

/* Height of the land at x, z; the water is at 0. */
float demo_terrain_height(const demo_noise *, float x, float z);

/* The city's centre and half its extent along x and z. The land is flat there. */
enum { CITY_X, CITY_Z, CITY_HALF_X, CITY_HALF_Z };
extern const float demo_city_place[4];

#endif
