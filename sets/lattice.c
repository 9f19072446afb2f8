#include "sets/lattice.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const int lattice_places[LATTICE_PLACES][3] = {{0, 0, 0}, {148376, 1234, -223423}};

/* ---- meshes ---- */

static uint32_t vertex_of(lattice_mesh *m, const int v[3]) {
  for (uint32_t i = 0; i < m->vertex_count; i++)
    if (!memcmp(m->vertices[i], v, 3 * sizeof *v)) return i;
  memcpy(m->vertices[m->vertex_count], v, 3 * sizeof *v);
  return m->vertex_count++;
}

static void add_triangle(lattice_mesh *m, const int a[3], const int b[3], const int c[3]) {
  uint32_t *t = m->indices[m->triangle_count++];
  t[0] = vertex_of(m, a);
  t[1] = vertex_of(m, b);
  t[2] = vertex_of(m, c);
}

/* Adds the square with four corners, counter-clockwise from outside. `other` selects the diagonal. */
static void add_square(lattice_mesh *m, int corners[4][3], bool other) {
  add_triangle(m, corners[other], corners[other + 1], corners[other + 2]);
  add_triangle(m, corners[other], corners[other + 2], corners[(other + 3) % 4]);
}

/* Adds the face of the box lower .. lower + size whose normal points up or down along axis. */
static void add_face(lattice_mesh *m, const int lower[3], const int size[3], int axis, bool up, bool diagonal) {
  const int x = (axis + 1) % 3, y = (axis + 2) % 3;
  int corners[4][3];
  for (int k = 0; k < 4; k++) {
    const int step = up ? k : 3 - k;
    memcpy(corners[k], lower, sizeof corners[k]);
    if (step == 1 || step == 2) corners[k][x] += size[x];
    if (step == 2 || step == 3) corners[k][y] += size[y];
    if (up) corners[k][axis] += size[axis];
  }
  add_square(m, corners, diagonal);
}

void lattice_box(lattice_mesh *m, const int size[3]) {
  static const int lower[3] = {0, 0, 0};
  for (int face = 0; face < 6; face++) add_face(m, lower, size, face / 2, face % 2, face % 3 == 0);
}

bool lattice_has_cube(uint32_t cubes, int x, int y, int z) {
  return x >= 0 && x < 3 && y >= 0 && y < 3 && z >= 0 && z < 3 && (cubes >> (x + 3 * y + 9 * z) & 1);
}

void lattice_cubes(lattice_mesh *m, uint32_t cubes) {
  static const int size[3] = {1, 1, 1};
  for (int i = 0; i < 27 * 6; i++) {
    const int cell = i / 6, axis = i % 6 / 2, up = i % 2;
    const int lower[3] = {cell % 3, cell / 3 % 3, cell / 9};
    int beside[3] = {lower[0], lower[1], lower[2]};
    beside[axis] += up ? 1 : -1;
    if (!lattice_has_cube(cubes, lower[0], lower[1], lower[2]) ||
        lattice_has_cube(cubes, beside[0], beside[1], beside[2]))
      continue;
    add_face(m, lower, size, axis, up, (lower[0] + lower[1] + lower[2] + axis) % 2);
  }
}

void lattice_octahedron(lattice_mesh *m, int radius) {
  for (int octant = 0; octant < 8; octant++) {
    int corners[3][3] = {{0}};
    int odd = 0;
    for (int i = 0; i < 3; i++) {
      corners[i][i] = octant >> i & 1 ? -radius : radius;
      odd ^= octant >> i & 1;
    }
    add_triangle(m, corners[0], corners[odd ? 2 : 1], corners[odd ? 1 : 2]);
  }
}

slab_status lattice_add(slab_scene *scene, const lattice_mesh *m, const int place[3]) {
  float vertices[LATTICE_MOST][3];
  for (uint32_t i = 0; i < m->vertex_count; i++)
    for (int k = 0; k < 3; k++) vertices[i][k] = (float)(m->vertices[i][k] + place[k]);
  const slab_mesh given = {vertices[0], 0, m->vertex_count, m->indices[0], m->triangle_count, NULL};
  return slab_scene_add_mesh(scene, &given, NULL, NULL);
}

/* ---- allowed origins ---- */

bool lattice_in_cubes(const int64_t o[3], const void *user) {
  for (int i = 0; i < 3; i++)
    if (o[i] <= 0 || o[i] >= 3 * LATTICE_GRID || o[i] % LATTICE_GRID == 0) return false; /* also not on a face */
  return lattice_has_cube(*(const uint32_t *)user, (int)(o[0] / LATTICE_GRID), (int)(o[1] / LATTICE_GRID),
                          (int)(o[2] / LATTICE_GRID));
}

bool lattice_out_of_cubes(const int64_t o[3], const void *user) {
  (void)user;
  for (int i = 0; i < 3; i++)
    if (o[i] < -LATTICE_GRID || o[i] > 4 * LATTICE_GRID) return true;
  return false;
}

bool lattice_in_octahedron(const int64_t o[3], const void *user) {
  return llabs(o[0]) + llabs(o[1]) + llabs(o[2]) < *(const int *)user * LATTICE_GRID;
}

bool lattice_out_of_octahedron(const int64_t o[3], const void *user) {
  return llabs(o[0]) + llabs(o[1]) + llabs(o[2]) > *(const int *)user * LATTICE_GRID;
}

bool lattice_in_box(const int64_t o[3], const void *user) {
  const int *size = user;
  for (int i = 0; i < 3; i++)
    if (o[i] <= 0 || o[i] >= size[i] * LATTICE_GRID) return false;
  return true;
}

/* ---- rays ---- */

/* A point of an edge of the mesh: a vertex, or at 1/4, 1/2, 3/4 of the edge. */
static void point_of_edge(random_state *random, const lattice_mesh *m, int64_t ends[2][3], int64_t point[3]) {
  const uint32_t *t = m->indices[random_below(random, m->triangle_count)];
  const uint32_t side = random_below(random, 3), part = random_below(random, 5);
  for (int i = 0; i < 3; i++) {
    ends[0][i] = (int64_t)m->vertices[t[side]][i] * LATTICE_GRID;
    ends[1][i] = (int64_t)m->vertices[t[(side + 1) % 3]][i] * LATTICE_GRID;
    point[i] = ends[0][i] + (ends[1][i] - ends[0][i]) / 4 * (int64_t)part;
  }
}

static int64_t power_of_two_below(int64_t x) {
  int64_t p = 1;
  while (2 * p <= x) p *= 2;
  return p;
}

static bool fits_a_float(int64_t x) {
  while (x && x % 2 == 0) x /= 2;
  return llabs(x) < 1 << 24;
}

/* Tests that the direction's largest component is a power of two, and that both ends of the edge in shear space, x - z
 * * (d_x / d_z) and the same for the other axes, fit a float. */
bool lattice_is_exact(const lattice_aim *aim) {
  const int64_t *o = aim->origin, *d = aim->direction;
  int z = 0;
  for (int i = 1; i < 3; i++) z = llabs(d[i]) > llabs(d[z]) ? i : z;
  bool exact = llabs(d[z]) == power_of_two_below(llabs(d[z]));
  for (int end = 0; end < 2; end++) {
    const int64_t *p = aim->ends[end];
    for (int i = 0; i < 3; i++) exact = exact && fits_a_float((p[i] - o[i]) * d[z] - (p[z] - o[z]) * d[i]);
  }
  return exact;
}

int64_t lattice_edge_function(const lattice_aim *aim) {
  const int64_t *d = aim->direction;
  int64_t p[3], q[3];
  for (int i = 0; i < 3; i++) {
    p[i] = aim->ends[0][i] - aim->origin[i];
    q[i] = aim->ends[1][i] - aim->origin[i];
  }
  return d[0] * (p[1] * q[2] - p[2] * q[1]) + d[1] * (p[2] * q[0] - p[0] * q[2]) + d[2] * (p[0] * q[1] - p[1] * q[0]);
}

slab_ray lattice_ray(const lattice_aim *aim, const int place[3]) {
  slab_ray ray = {{0}, 0, {0}, INFINITY};
  for (int i = 0; i < 3; i++) {
    const int64_t origin = aim->origin[i] + (int64_t)place[i] * LATTICE_GRID;
    ray.origin[i] = (float)origin / LATTICE_GRID; /* exact: at most 18 + 4 bits */
    ray.direction[i] = (float)aim->direction[i] / LATTICE_GRID;
  }
  return ray;
}

/* Chooses a ray through a point of an edge. In three of four cases it moves the origin so that d = (a, b, +-2^k) and
 * origin = point - d. Returns false where the direction is 0, or where no ray may begin at the origin. */
static bool aim(random_state *random, const lattice_mesh *m, const lattice_origins *from, lattice_aim *a) {
  int64_t point[3], *o = a->origin, *d = a->direction;
  point_of_edge(random, m, a->ends, point);
  const int axis = (int)random_below(random, 3);
  for (int i = 0; i < 3; i++) {
    o[i] = (int64_t)random_below(random, (uint32_t)(2 * from->reach[i] + 1)) - from->reach[i];
    d[i] = point[i] - o[i];
  }
  if (random_below(random, 4) && d[axis]) {
    const int64_t length = power_of_two_below(llabs(d[axis]));
    d[axis] = d[axis] < 0 ? -length : length;
    for (int i = 0; i < 3; i++) {
      if (i != axis && llabs(d[i]) > length) d[i] = d[i] % (length + 1);
      if (random_below(random, 6) == 0 && i != axis) d[i] = 0;
      o[i] = point[i] - d[i];
    }
  }
  return (d[0] || d[1] || d[2]) && from->allowed(o, from->user);
}

lattice_aim lattice_aim_at(random_state *random, const lattice_mesh *mesh, const lattice_origins *origins) {
  lattice_aim a;
  while (!aim(random, mesh, origins, &a)) {
  }
  return a;
}

/* A point of the mesh: on an edge, at a vertex, in the middle of a diagonal, or anywhere on a triangle. */
static void point_of_wall(random_state *random, const lattice_mesh *m, float point[3]) {
  const uint32_t *t = m->indices[random_below(random, m->triangle_count)];
  float u = random_float(random), v = random_between(random, 0, 1 - u);
  if (random_below(random, 2)) v = 0;
  if (random_below(random, 8) == 0) u = v = 0;
  if (random_below(random, 8) == 0) u = v = 0.5f;
  for (int i = 0; i < 3; i++) {
    const int *a = m->vertices[t[0]], *b = m->vertices[t[1]], *c = m->vertices[t[2]];
    point[i] = (float)a[i] + u * (float)(b[i] - a[i]) + v * (float)(c[i] - a[i]);
  }
}

/* Moves a point beside its edge, and near to the origin along the longest axis. The shear of distant vertices is large,
 * and so is its rounding error. */
static void move_near(random_state *random, const int size[3], const float from[3], float point[3]) {
  int longest = 0;
  for (int i = 0; i < 3; i++) {
    if (size[i] > size[longest]) longest = i;
    point[i] += random_between(random, -4e-5f, 4e-5f);
  }
  point[longest] = from[longest] + random_between(random, -3.0f, 3.0f);
}

slab_ray lattice_rounded_ray(random_state *random, const lattice_mesh *m, const int size[3], const int place[3]) {
  float from[3], to[3];
  for (int i = 0; i < 3; i++) from[i] = random_between(random, 0.1f, 0.9f) * (float)size[i];
  point_of_wall(random, m, to);
  if (random_below(random, 2)) move_near(random, size, from, to);
  for (int i = 0; i < 3; i++) {
    from[i] += (float)place[i];
    to[i] += (float)place[i];
  }
  slab_ray ray = slab_segment(from, to);
  ray.t_max = INFINITY;
  return ray;
}
