/* Closed meshes with integer vertices, and rays through lattice points of their edges and vertices.
 *
 * The edge function of such a ray and edge is exactly zero in exact arithmetic. Where the shear is also computed
 * without rounding (lattice_is_exact), the kernels compute exactly zero. Then the tie rule decides, not rounding. */
#ifndef SLABCAST_SETS_LATTICE_H
#define SLABCAST_SETS_LATTICE_H

#include <stdbool.h>

#include "sets/random.h"
#include "slabcast.h"

enum { LATTICE_MOST = 512, LATTICE_GRID = 16, LATTICE_PLACES = 2 };

/* Positions of the meshes. Near the second position floats still resolve 1/64. */
extern const int lattice_places[LATTICE_PLACES][3];

typedef struct lattice_mesh {
  int vertices[LATTICE_MOST][3];
  uint32_t vertex_count;
  uint32_t indices[LATTICE_MOST][3];
  uint32_t triangle_count;
} lattice_mesh;

/* These functions add to a mesh that is zero. A box from the origin on. */
void lattice_box(lattice_mesh *mesh, const int size[3]);
/* Unit cubes of a 3 x 3 x 3 block from the origin on, bit x + 3 y + 9 z. The surface is closed. Two cubes may share
 * only an edge. */
void lattice_cubes(lattice_mesh *mesh, uint32_t cubes);
bool lattice_has_cube(uint32_t cubes, int x, int y, int z);
/* An octahedron around the origin. */
void lattice_octahedron(lattice_mesh *mesh, int radius);

slab_status lattice_add(slab_scene *scene, const lattice_mesh *mesh, const int place[3]);

/* ---- rays, in units of 1 / LATTICE_GRID ---- */

/* Where rays may begin: at points within -reach .. reach for which `allowed` returns true. */
typedef struct lattice_origins {
  int64_t reach[3];
  bool (*allowed)(const int64_t origin[3], const void *user);
  const void *user;
} lattice_origins;

/* `user` of each: the cubes (uint32_t); the radius (int); the size (int[3]). False for points on the surface. */
bool lattice_in_cubes(const int64_t origin[3], const void *user);
bool lattice_in_octahedron(const int64_t origin[3], const void *user);
bool lattice_out_of_octahedron(const int64_t origin[3], const void *user);
bool lattice_in_box(const int64_t origin[3], const void *user);
/* More than 1 outside of the block of cubes; ignores user. */
bool lattice_out_of_cubes(const int64_t origin[3], const void *user);

/* A ray through a point of the edge from ends[0] to ends[1]. */
typedef struct lattice_aim {
  int64_t origin[3], direction[3], ends[2][3];
} lattice_aim;

/* Aims at a vertex, or at 1/4, 1/2 or 3/4 of an edge. Three in four have a shear that rounds little. */
lattice_aim lattice_aim_at(random_state *random, const lattice_mesh *mesh, const lattice_origins *origins);
/* det(direction, ends[0] - origin, ends[1] - origin), which is 0. */
int64_t lattice_edge_function(const lattice_aim *aim);
/* Whether its transform into shear space is exact. */
bool lattice_is_exact(const lattice_aim *aim);
/* The ray with the range [0, inf). */
slab_ray lattice_ray(const lattice_aim *aim, const int place[3]);

/* A ray from anywhere inside the box `size` to its walls, edges and vertices. Half of the rays pass nearby edges within
 * 4e-5. Coordinates are rounded, so that an edge function is rarely zero. mesh: the box's. */
slab_ray lattice_rounded_ray(random_state *random, const lattice_mesh *mesh, const int size[3], const int place[3]);

#endif
