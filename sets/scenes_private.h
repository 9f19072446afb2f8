/* Declarations shared by the builders in scenes.c and scenes_mesh.c. */
#ifndef SLABCAST_SETS_SCENES_PRIVATE_H
#define SLABCAST_SETS_SCENES_PRIVATE_H

#include "sets/random.h"
#include "sets/scenes.h"

/* Largest n with n * n <= value; n * n * n <= value. */
uint32_t scene_square_root(uint32_t value);
uint32_t scene_cube_root(uint32_t value);

void scene_random_direction(random_state *random, float direction[3]);
/* Two unit vectors that form a right-handed frame with the unit vector w. */
void scene_frame(const float w[3], float u[3], float v[3]);

/* NULL when memory runs out. */
float *scene_vertices(scene_geometry *out, size_t count);
uint32_t *scene_indices(scene_geometry *out, size_t triangles);

/* Builders of triangles. When memory runs out they leave NULL in the geometry, and scene_build returns the error. */
void scene_terrain(uint32_t count, random_state *random, scene_geometry *out);
void scene_soup(uint32_t count, random_state *random, scene_geometry *out);
void scene_hair(uint32_t count, random_state *random, scene_geometry *out);
void scene_lattice(uint32_t count, random_state *random, scene_geometry *out);
void scene_room(uint32_t count, random_state *random, scene_geometry *out);
void scene_torus(uint32_t count, random_state *random, scene_geometry *out);
void scene_knot(uint32_t count, random_state *random, scene_geometry *out);

#endif
