/* What the demo shows, in code alone: a city by a bay among mountains, and over the water a flake of golden spheres in
 * a ring of turning blocks. */
#ifndef SLABCAST_CLI_DEMO_SCENE_H
#define SLABCAST_CLI_DEMO_SCENE_H

#include "demo_terrain.h"

/* Geometry ids. */
enum { DEMO_WATER, DEMO_LAND, DEMO_CITY, DEMO_STONES, DEMO_RING, DEMO_FLAKE, DEMO_GEOMETRIES };

enum { DEMO_RING_BLOCKS = 84 };

typedef struct demo_scene {
  demo_noise noise;
  scene_geometry parts[DEMO_GEOMETRIES];
  vec3 *land_normals; /* at the land's vertices */
  slab_camera camera;
} demo_scene;

/* 0, or -1 without memory. Release with demo_scene_free either way. */
int demo_scene_build(uint32_t width, uint32_t height, demo_scene *out);
void demo_scene_free(demo_scene *);

/* Adds all of it to a scene of the library. */
slab_status demo_scene_add(const demo_scene *, slab_scene *);

#endif
