#include "forms_sets.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sets/lattice.h"
#include "sets/shapes.h"

const char *const forms_kind_names[FORMS_KINDS] = {"random", "corner", "axis", "shared"};

enum { RADIUS = 4 /* of the octahedra */, SIZE_MOST = 4 /* of the lattice boxes */ };

/* ---- helpers shared by the sets ---- */

static float *shape_at(const forms_set *set, size_t group, uint32_t p) {
  return set->shapes + (group * FORMS_GROUP + p) * shape_floats(set->shape);
}

static void point_between(random_state *random, float low, float high, float point[3]) {
  for (int i = 0; i < 3; i++) point[i] = random_between(random, low, high);
}

static float zero_of_either_sign(random_state *random) { return random_below(random, 2) ? 0.0f : -0.0f; }

/* A random size from 2^-10 to 1. */
static float random_size(random_state *random) {
  return ldexpf(random_between(random, 0.5f, 1.0f), -(int)random_below(random, 10));
}

/* A ray through `to`, from a random point with coordinates in -3 .. 3. The direction is 0 along `zeros` axes, beginning
 * with axis `first`. */
static slab_ray ray_towards(random_state *random, const float to[3], uint32_t first, uint32_t zeros) {
  slab_ray ray = {.t_max = INFINITY};
  point_between(random, -3.0f, 3.0f, ray.origin);
  for (int i = 0; i < 3; i++) ray.direction[i] = to[i] - ray.origin[i];
  for (uint32_t n = 0; n < zeros; n++) {
    const uint32_t i = (first + n) % 3;
    ray.origin[i] = to[i];
    ray.direction[i] = zero_of_either_sign(random);
  }
  return ray;
}

/* ---- boxes ---- */

static void random_box(random_state *random, float box[6]) {
  for (int i = 0; i < 3; i++) {
    const float middle = random_between(random, -1.0f, 1.0f), half = random_size(random);
    box[i] = middle - half;
    box[i + 3] = middle + half;
  }
}

/* A point in the box, or around it within an eighth of its size. */
static void point_near_box(random_state *random, const float box[6], float point[3]) {
  for (int i = 0; i < 3; i++) {
    const float margin = 0.125f * (box[i + 3] - box[i]);
    point[i] = random_between(random, box[i] - margin, box[i + 3] + margin);
  }
}

static slab_ray box_ray_random(random_state *random, const float box[6]) {
  float to[3];
  point_near_box(random, box, to);
  return ray_towards(random, to, 0, 0);
}

static slab_ray box_ray_axis(random_state *random, const float box[6]) {
  float to[3];
  point_near_box(random, box, to);
  const uint32_t first = random_below(random, 3), zeros = 1 + random_below(random, 2);
  for (uint32_t n = 0; n < zeros; n++) {
    const uint32_t i = (first + n) % 3, side = random_below(random, 4);
    if (side < 2) to[i] = box[i + 3 * side];
  }
  return ray_towards(random, to, first, zeros);
}

/* Coordinates have eight bits, so that differences and all products of the oracle are exact. */
static void dyadic_box(random_state *random, float box[6]) {
  for (int i = 0; i < 3; i++) {
    box[i] = (float)random_below(random, 256) * 0x1p-4f;
    box[i + 3] = box[i] + (float)(1 + random_below(random, 63)) * 0x1p-4f;
  }
}

/* Half of the rays go exactly through a corner, the others through the middle of an edge. */
static slab_ray box_ray_corner(random_state *random, const float box[6]) {
  slab_ray ray = {.t_max = INFINITY};
  const uint32_t along = random_below(random, 6);
  for (uint32_t i = 0; i < 3; i++) {
    const float corner = box[i + 3 * random_below(random, 2)];
    const float point = i == along ? (box[i] + box[i + 3]) / 2.0f : corner;
    ray.origin[i] = (float)random_below(random, 256) * 0x1p-4f;
    ray.direction[i] = point - ray.origin[i];
  }
  if (ray.direction[0] == 0.0f && ray.direction[1] == 0.0f && ray.direction[2] == 0.0f) ray.direction[0] = 1.0f;
  return ray;
}

/* Writes two by two by two boxes between three planes on each axis: box x + 2y + 4z. */
static void split_box(random_state *random, forms_set *set, size_t group) {
  float planes[3][3];
  for (int i = 0; i < 3; i++) {
    planes[i][1] = random_between(random, -1.0f, 1.0f);
    planes[i][0] = planes[i][1] - random_between(random, 0.1f, 1.0f);
    planes[i][2] = planes[i][1] + random_between(random, 0.1f, 1.0f);
  }
  set->used[group] = 8;
  for (uint32_t p = 0; p < 8; p++)
    for (int i = 0; i < 3; i++) {
      shape_at(set, group, p)[i] = planes[i][p >> i & 1];
      shape_at(set, group, p)[i + 3] = planes[i][(p >> i & 1) + 1];
    }
}

/* A ray within one shared plane; one in four lies in two of them, along the edge that four boxes share. */
static slab_ray box_ray_shared(random_state *random, const forms_set *set, size_t group, forms_truth *truth) {
  const float *first_box = shape_at(set, group, 0), *last_box = shape_at(set, group, 7);
  const uint32_t first = random_below(random, 3), zeros = random_below(random, 4) == 0 ? 2 : 1;
  float to[3];
  for (int i = 0; i < 3; i++) to[i] = random_between(random, first_box[i], last_box[i + 3]);
  for (uint32_t n = 0; n < zeros; n++) {
    const uint32_t i = (first + n) % 3;
    to[i] = first_box[i + 3];
    truth->shared |= (uint8_t)(1u << i);
  }
  return ray_towards(random, to, first, zeros);
}

/* ---- single triangles ---- */

static void random_triangle(random_state *random, float triangle[9]) {
  float middle[3];
  point_between(random, -1.0f, 1.0f, middle);
  const float size = random_size(random);
  for (int v = 0; v < 3; v++)
    for (int i = 0; i < 3; i++) triangle[3 * v + i] = middle[i] + size * random_between(random, -1.0f, 1.0f);
}

/* A point in the triangle's plane, in the triangle or beside it. */
static void point_near_triangle(random_state *random, const float triangle[9], float point[3]) {
  float u = random_between(random, -0.1f, 1.1f), v = random_between(random, -0.1f, 1.1f);
  if (u + v > 1.2f) {
    u = 1.0f - u;
    v = 1.0f - v;
  }
  for (int i = 0; i < 3; i++)
    point[i] = triangle[i] + u * (triangle[3 + i] - triangle[i]) + v * (triangle[6 + i] - triangle[i]);
}

static slab_ray triangle_ray(random_state *random, const float triangle[9], uint32_t zeros) {
  float to[3];
  point_near_triangle(random, triangle, to);
  return ray_towards(random, to, random_below(random, 3), zeros);
}

/* ---- closed convex meshes, rays from inside: exactly one crossing ---- */

typedef struct closed_mesh {
  lattice_mesh lattice; /* without triangles: the mesh is a tetrahedron */
  lattice_origins inside;
  int size[3], radius;
} closed_mesh;

static void begin_lattice(random_state *random, bool octahedron, closed_mesh *m) {
  memset(m, 0, sizeof *m);
  m->radius = RADIUS;
  for (int i = 0; i < 3; i++) m->size[i] = 1 + (int)random_below(random, SIZE_MOST);
  for (int i = 0; i < 3; i++) m->inside.reach[i] = (octahedron ? RADIUS : m->size[i]) * LATTICE_GRID;
  m->inside.allowed = octahedron ? lattice_in_octahedron : lattice_in_box;
  m->inside.user = octahedron ? (const void *)&m->radius : (const void *)m->size;
  if (octahedron)
    lattice_octahedron(&m->lattice, RADIUS);
  else
    lattice_box(&m->lattice, m->size);
}

static void store_lattice(forms_set *set, size_t group, const lattice_mesh *m) {
  set->used[group] = (uint8_t)m->triangle_count;
  for (uint32_t p = 0; p < m->triangle_count; p++)
    for (int v = 0; v < 3; v++)
      for (int i = 0; i < 3; i++) shape_at(set, group, p)[3 * v + i] = (float)m->vertices[m->indices[p][v]][i];
}

static bool is_along(const int64_t d[3], const int64_t from[3], const int64_t to[3]) {
  int64_t p[3];
  for (int i = 0; i < 3; i++) p[i] = to[i] - from[i];
  return d[0] * p[1] == d[1] * p[0] && d[1] * p[2] == d[2] * p[1] && d[2] * p[0] == d[0] * p[2];
}

/* A ray at a vertex, or at a point of an edge that is not a vertex. */
static slab_ray lattice_ray_at(random_state *random, const closed_mesh *m, bool vertex) {
  lattice_aim a;
  do {
    a = lattice_aim_at(random, &m->lattice, &m->inside);
  } while (vertex != (is_along(a.direction, a.origin, a.ends[0]) || is_along(a.direction, a.origin, a.ends[1])));
  return lattice_ray(&a, lattice_places[0]);
}

/* A ray from a grid point inside, with one or two zero components: it often hits edges and vertices. */
static slab_ray lattice_ray_axis(random_state *random, const closed_mesh *m) {
  lattice_aim a = {.direction = {0}};
  do {
    for (int i = 0; i < 3; i++)
      a.origin[i] = (int64_t)random_below(random, (uint32_t)(2 * m->inside.reach[i] + 1)) - m->inside.reach[i];
  } while (!m->inside.allowed(a.origin, m->inside.user));
  const uint32_t first = random_below(random, 3), zeros = 1 + random_below(random, 2);
  for (uint32_t i = 0; i < 3; i++) {
    const bool zero = (i + 3 - first) % 3 < zeros;
    a.direction[i] = zero ? 0 : (random_below(random, 2) ? 1 : -1) * (int64_t)(1 + random_below(random, 8));
  }
  slab_ray ray = lattice_ray(&a, lattice_places[0]);
  for (int i = 0; i < 3; i++)
    if (a.direction[i] == 0) ray.direction[i] = zero_of_either_sign(random);
  return ray;
}

static const uint8_t tetrahedron_faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};

/* Four random points. None is near the plane of the others. */
static void random_tetrahedron(random_state *random, float v[4][3]) {
  double e[3][3], volume;
  do {
    for (int k = 0; k < 4; k++) point_between(random, -1.0f, 1.0f, v[k]);
    for (int k = 0; k < 3; k++)
      for (int i = 0; i < 3; i++) e[k][i] = (double)v[k + 1][i] - (double)v[0][i];
    volume = e[0][0] * (e[1][1] * e[2][2] - e[1][2] * e[2][1]) + e[0][1] * (e[1][2] * e[2][0] - e[1][0] * e[2][2]) +
             e[0][2] * (e[1][0] * e[2][1] - e[1][1] * e[2][0]);
  } while (fabs(volume) < 0.2);
}

static void store_tetrahedron(forms_set *set, size_t group, const float v[4][3]) {
  set->used[group] = 4;
  for (uint32_t p = 0; p < 4; p++)
    for (int k = 0; k < 3; k++) memcpy(shape_at(set, group, p) + 3 * k, v[tetrahedron_faces[p][k]], sizeof v[0]);
}

/* A ray from well inside, at a vertex or an edge, as exactly as floats allow. */
static slab_ray tetrahedron_ray(random_state *random, const float v[4][3], bool vertex) {
  slab_ray ray = {.t_max = INFINITY};
  const uint32_t first = random_below(random, 4), second = (first + 1 + random_below(random, 3)) % 4;
  const float share = vertex ? 0.0f : random_between(random, 0.05f, 0.95f);
  float weight[4], sum = 0.0f;
  for (int k = 0; k < 4; k++) sum += weight[k] = random_between(random, 0.2f, 1.0f);
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 4; k++) ray.origin[i] += weight[k] / sum * v[k][i];
    ray.direction[i] = v[first][i] + share * (v[second][i] - v[first][i]) - ray.origin[i];
  }
  return ray;
}

/* ---- groups ---- */

static void fill_boxes(random_state *random, forms_set *set, size_t group) {
  slab_ray *rays = set->ray + group * FORMS_RAYS_PER_GROUP;
  forms_truth *truth = set->truth + group * FORMS_RAYS_PER_GROUP;
  set->used[group] = FORMS_GROUP;
  if (set->kind == FORMS_SHARED) split_box(random, set, group);
  for (uint32_t p = 0; p < FORMS_GROUP && set->kind != FORMS_SHARED; p++) {
    if (set->kind == FORMS_CORNER)
      dyadic_box(random, shape_at(set, group, p));
    else
      random_box(random, shape_at(set, group, p));
  }
  for (uint32_t i = 0; i < FORMS_RAYS_PER_GROUP; i++) {
    const float *box = shape_at(set, group, random_below(random, FORMS_GROUP));
    if (set->kind == FORMS_RANDOM) rays[i] = box_ray_random(random, box);
    if (set->kind == FORMS_CORNER) rays[i] = box_ray_corner(random, box);
    if (set->kind == FORMS_AXIS) rays[i] = box_ray_axis(random, box);
    if (set->kind == FORMS_SHARED) rays[i] = box_ray_shared(random, set, group, &truth[i]);
  }
}

static void fill_soup(random_state *random, forms_set *set, size_t group) {
  slab_ray *rays = set->ray + group * FORMS_RAYS_PER_GROUP;
  set->used[group] = FORMS_GROUP;
  for (uint32_t p = 0; p < FORMS_GROUP; p++) random_triangle(random, shape_at(set, group, p));
  for (uint32_t i = 0; i < FORMS_RAYS_PER_GROUP; i++) {
    const uint32_t zeros = set->kind == FORMS_AXIS ? 1 + random_below(random, 2) : 0;
    rays[i] = triangle_ray(random, shape_at(set, group, random_below(random, FORMS_GROUP)), zeros);
  }
}

static void fill_tetrahedron(random_state *random, forms_set *set, size_t group) {
  float v[4][3];
  random_tetrahedron(random, v);
  store_tetrahedron(set, group, (const float(*)[3])v);
  for (size_t i = group * FORMS_RAYS_PER_GROUP; i < (group + 1) * FORMS_RAYS_PER_GROUP; i++) {
    set->ray[i] = tetrahedron_ray(random, (const float(*)[3])v, set->kind == FORMS_CORNER);
    set->truth[i].once = 1;
  }
}

static void fill_lattice(random_state *random, forms_set *set, size_t group, bool octahedron) {
  closed_mesh m;
  begin_lattice(random, octahedron, &m);
  store_lattice(set, group, &m.lattice);
  for (size_t i = group * FORMS_RAYS_PER_GROUP; i < (group + 1) * FORMS_RAYS_PER_GROUP; i++) {
    set->ray[i] =
        set->kind == FORMS_AXIS ? lattice_ray_axis(random, &m) : lattice_ray_at(random, &m, set->kind == FORMS_CORNER);
    set->truth[i].once = 1;
  }
}

static void fill_triangles(random_state *random, forms_set *set, size_t group) {
  if (set->kind == FORMS_RANDOM || (set->kind == FORMS_AXIS && group % 2 == 0))
    fill_soup(random, set, group);
  else if (set->kind != FORMS_AXIS && group % 2 == 0)
    fill_tetrahedron(random, set, group);
  else
    fill_lattice(random, set, group, group % 4 == 1);
}

bool forms_set_make(slab_shape shape, forms_kind kind, uint64_t seed, size_t rays, forms_set *set) {
  random_state random = random_seed(seed + 16 * (uint64_t)shape + (uint64_t)kind);
  const size_t groups = (rays + FORMS_RAYS_PER_GROUP - 1) / FORMS_RAYS_PER_GROUP;
  *set = (forms_set){.shape = shape, .kind = kind, .groups = groups, .rays = groups * FORMS_RAYS_PER_GROUP};
  set->used = calloc(groups, 1);
  set->shapes = calloc(groups * FORMS_GROUP * shape_floats(shape), sizeof *set->shapes);
  set->ray = calloc(set->rays, sizeof *set->ray);
  set->truth = calloc(set->rays, sizeof *set->truth);
  if (set->used == NULL || set->shapes == NULL || set->ray == NULL || set->truth == NULL) return false;
  for (size_t group = 0; group < groups; group++) {
    if (shape == SLAB_BOX)
      fill_boxes(&random, set, group);
    else
      fill_triangles(&random, set, group);
  }
  return true;
}

void forms_set_free(forms_set *set) {
  free(set->used);
  free(set->shapes);
  free(set->ray);
  free(set->truth);
  *set = (forms_set){.rays = 0};
}
