/* Closed meshes with integer vertices, and rays through lattice points of their edges and vertices.
 *
 * The edge function of such a ray and edge is exactly zero in exact arithmetic. Where the shear rounds nothing as well
 * (lattice_is_exact), the kernels meet the zero itself, and what decides is the tie rule, not rounding. */
#ifndef SLABCAST_BENCH_LATTICE_H
#define SLABCAST_BENCH_LATTICE_H

#include <stdbool.h>

#include "random.h"
#include "slabcast.h"

enum { LATTICE_MOST = 512, LATTICE_GRID = 16, LATTICE_PLACES = 2 };

/* Where the meshes stand: beside the second point a float has a sixty-fourth left. */
extern const int lattice_places[LATTICE_PLACES][3];

typedef struct lattice_mesh {
  int vertices[LATTICE_MOST][3];
  uint32_t vertex_count;
  uint32_t indices[LATTICE_MOST][3];
  uint32_t triangle_count;
} lattice_mesh;

/* Each adds to a mesh that was zero. From the origin on: */
void lattice_box(lattice_mesh *mesh, const int size[3]);
/* unit cubes of a 3 x 3 x 3 block, bit x + 3 y + 9 z: closed, though cubes may share an edge alone; */
void lattice_cubes(lattice_mesh *mesh, uint32_t cubes);
bool lattice_has_cube(uint32_t cubes, int x, int y, int z);
/* and around it. */
void lattice_octahedron(lattice_mesh *mesh, int radius);

slab_status lattice_add(slab_scene *scene, const lattice_mesh *mesh, const int place[3]);

/* ---- rays, in units of 1 / LATTICE_GRID ---- */

/* Where rays may begin: a point within -reach .. reach of which `allowed` says so. */
typedef struct lattice_origins {
  int64_t reach[3];
  bool (*allowed)(const int64_t origin[3], const void *user);
  const void *user;
} lattice_origins;

/* `user` of each: the cubes (uint32_t); the radius (int); the size (int[3]). Never on the surface. */
bool lattice_in_cubes(const int64_t origin[3], const void *user);
bool lattice_in_octahedron(const int64_t origin[3], const void *user);
bool lattice_out_of_octahedron(const int64_t origin[3], const void *user);
bool lattice_in_box(const int64_t origin[3], const void *user);
/* Beyond the block of cubes by more than 1; user is not looked at. */
bool lattice_out_of_cubes(const int64_t origin[3], const void *user);

/* A ray through a point of the edge from ends[0] to ends[1]. */
typedef struct lattice_aim {
  int64_t origin[3], direction[3], ends[2][3];
} lattice_aim;

/* At a vertex, or 1/4, 1/2 or 3/4 of the way along an edge; three in four with a shear that rounds little. */
lattice_aim lattice_aim_at(random_state *random, const lattice_mesh *mesh, const lattice_origins *origins);
/* det(direction, ends[0] - origin, ends[1] - origin), which is 0. */
int64_t lattice_edge_function(const lattice_aim *aim);
/* Whether nothing of it is rounded on the way into shear space. */
bool lattice_is_exact(const lattice_aim *aim);
/* range: [0, inf). */
slab_ray lattice_ray(const lattice_aim *aim, const int place[3]);

/* From anywhere in the box `size` to its walls, edges and vertices, one in two to within 4e-5 of them nearby; rounded,
 * so that few meet a zero. mesh: that of the box. */
slab_ray lattice_rounded_ray(random_state *random, const lattice_mesh *mesh, const int size[3], const int place[3]);

#endif
