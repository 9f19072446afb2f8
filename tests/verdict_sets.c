#include "verdict_sets.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

/* ---- random rays ------------------------------------------------------------------ */

static void point_within(harness_random *random, float limit, float point[3]) {
  for (int k = 0; k < 3; k++) point[k] = harness_uniform(random, -limit, limit);
}

static void scale_ray(slab_ray *ray, int exponent) {
  for (int k = 0; k < 3; k++) ray->direction[k] = ldexpf(ray->direction[k], exponent);
  ray->t_min = ldexpf(ray->t_min, -exponent);
  ray->t_max = ldexpf(ray->t_max, -exponent);
}

/* Of 16 rays 9 are half-lines; t is about 1 in the scene's middle. */
static void choose_range(harness_random *random, slab_ray *ray) {
  const float a = harness_uniform(random, -1.0f, 1.0f), b = harness_uniform(random, 0.5f, 3.0f);
  ray->t_min = 0.0f;
  ray->t_max = INFINITY;
  switch (harness_below(random, 16)) {
    case 0:
      ray->t_min = -INFINITY;
      break;
    case 1:
      ray->t_min = -INFINITY;
      ray->t_max = a;
      break;
    case 2:
      ray->t_min = a;
      ray->t_max = b;
      break;
    case 3:
      ray->t_min = b;
      break;
    case 4:
      ray->t_max = b;
      break;
    case 5:
      ray->t_min = -b;
      ray->t_max = b;
      break;
    case 6:
      if (harness_below(random, 4) == 0) ray->t_max = -1.0f; /* a plain miss */
      if (harness_below(random, 8) == 0) ray->origin[harness_below(random, 3)] = NAN;
      break;
    default:
      break;
  }
}

/* To a point in the scene at t = 1. */
static slab_ray aimed(harness_random *random) {
  float from[3], to[3];
  point_within(random, 1.5f, from);
  point_within(random, 1.0f, to);
  return slab_segment(from, to);
}

slab_ray ray_anywhere(const verdict_set *set, harness_random *random) {
  slab_ray ray = aimed(random);
  (void)set;
  choose_range(random, &ray);
  scale_ray(&ray, (int)harness_below(random, 9) - 4);
  return ray;
}

/* A zero of either sign in all components but one. */
static void turn_into_axis(harness_random *random, slab_ray *ray, uint32_t axis) {
  for (uint32_t k = 0; k < 3; k++)
    if (k != axis) ray->direction[k] = harness_bits(random) & 1 ? 0.0f : -0.0f;
}

slab_ray ray_along_an_axis(const verdict_set *set, harness_random *random) {
  slab_ray ray = ray_anywhere(set, random);
  turn_into_axis(random, &ray, harness_below(random, 3));
  return ray;
}

slab_ray ray_segment(const verdict_set *set, harness_random *random) {
  (void)set;
  return aimed(random);
}

slab_ray ray_of_extreme_length(const verdict_set *set, harness_random *random) {
  slab_ray ray = aimed(random);
  (void)set;
  choose_range(random, &ray);
  if (harness_below(random, 8) == 0) ray.direction[harness_below(random, 3)] = 0x1p-20f;
  scale_ray(&ray, (int)harness_below(random, 249) - 128);
  return ray;
}

/* ---- the room: 0 to 1 in x and y, 0 to 1000 in z --------------------------------------- */

static void point_in_room(harness_random *random, float point[3]) {
  for (int k = 0; k < 3; k++) point[k] = harness_uniform(random, 0.0f, k == 2 ? 1000.0f : 1.0f);
}

slab_ray ray_in_room(const verdict_set *set, harness_random *random) {
  slab_ray ray = {.t_max = INFINITY};
  (void)set;
  point_in_room(random, ray.origin);
  point_within(random, 1.0f, ray.direction);
  if (harness_below(random, 8) == 0) turn_into_axis(random, &ray, harness_below(random, 3));
  return ray;
}

slab_ray ray_at_long_edge(const verdict_set *set, harness_random *random) {
  slab_ray ray = {.t_max = INFINITY};
  point_in_room(random, ray.origin);
  for (int k = 0; k < 2; k++) {
    const float near = 4e-5f / (set->scale[k] == 0.0f ? 1.0f : set->scale[k]);
    const float edge = harness_bits(random) & 1 ? 1.0f : 0.0f;
    ray.direction[k] = edge + harness_uniform(random, -near, near) - ray.origin[k];
  }
  ray.direction[2] = 3.0f * harness_uniform(random, -1.0f, 1.0f);
  return ray;
}

/* ---- dyadic rays ------------------------------------------------------------------------ */

static float integer(harness_random *random, int limit) {
  return (float)((int)harness_below(random, 2 * (uint32_t)limit + 1) - limit);
}

static float sign_of(harness_random *random) { return harness_bits(random) & 1 ? 1.0f : -1.0f; }

/* From beyond 7, where the scenes' bounded primitives end, towards the middle: t = 0 is on no slanted face. */
static slab_ray ray_from_outside(harness_random *random, uint32_t axis, float length) {
  slab_ray ray = {.t_max = INFINITY};
  for (int k = 0; k < 3; k++) ray.origin[k] = 0.5f * integer(random, 10);
  ray.direction[axis] = length * sign_of(random);
  ray.origin[axis] = (ray.direction[axis] > 0.0f ? -0.5f : 0.5f) * (float)(15 + harness_below(random, 4));
  return ray;
}

/* All of the line, or the half behind an origin that it leaves. */
static void turn_some(harness_random *random, slab_ray *ray) {
  const uint32_t fate = harness_below(random, 4);
  if (fate < 2) ray->t_min = -INFINITY;
  if (fate != 0) return;
  ray->t_max = 0.0f;
  for (int k = 0; k < 3; k++) ray->direction[k] = 0.0f - ray->direction[k];
}

slab_ray ray_slanted(const verdict_set *set, harness_random *random) {
  const uint32_t axis = harness_below(random, 3);
  slab_ray ray = ray_from_outside(random, axis, 4.0f);
  (void)set;
  for (uint32_t k = 0; k < 3; k++)
    if (k != axis) ray.direction[k] = integer(random, 3);
  turn_some(random, &ray);
  return ray;
}

static float choose_length(harness_random *random) { return ldexpf(1.0f, (int)harness_below(random, 5) - 2); }

slab_ray ray_diagonal(const verdict_set *set, harness_random *random) {
  const uint32_t axis = harness_below(random, 3);
  const float length = choose_length(random);
  slab_ray ray = ray_from_outside(random, axis, length);
  (void)set;
  if (harness_bits(random) & 1) ray.direction[(axis + 1) % 3] = length * sign_of(random);
  turn_some(random, &ray);
  return ray;
}

/* From anywhere in the scene; both ends are multiples of 1/2. */
static slab_ray ray_from_inside(harness_random *random) {
  slab_ray ray = {.t_max = INFINITY};
  for (int k = 0; k < 3; k++) ray.origin[k] = 0.5f * integer(random, 8);
  const float a = 0.5f * integer(random, 8), length = 0.5f * (float)harness_below(random, 9);
  const uint32_t fate = harness_below(random, 8);
  if (fate > 3) ray.t_min = fate == 4 ? -INFINITY : a;
  if (fate > 5) ray.t_max = a + length;
  return ray;
}

slab_ray ray_even(const verdict_set *set, harness_random *random) {
  slab_ray ray = ray_from_inside(random);
  (void)set;
  for (int k = 0; k < 3; k++)
    ray.direction[k] = ldexpf(sign_of(random), (int)harness_below(random, 4) - 1) * (float)harness_below(random, 2);
  ray.direction[harness_below(random, 3)] = sign_of(random);
  return ray;
}

slab_ray ray_diagonal_even(const verdict_set *set, harness_random *random) {
  const uint32_t axis = harness_below(random, 3);
  const float length = choose_length(random);
  slab_ray ray = ray_from_inside(random);
  (void)set;
  ray.direction[axis] = length * sign_of(random);
  if (harness_bits(random) & 1) ray.direction[(axis + 1) % 3] = length * sign_of(random);
  return ray;
}

/* ---- what the builders share --------------------------------------------------------------- */

static void allocate(scene_geometry *g, slab_shape kind, uint32_t count, size_t size, uint32_t vertices) {
  *g = (scene_geometry){.kind = kind, .count = count, .vertex_count = vertices};
  if (size > 0) assert_non_null(g->shapes = calloc(count, size));
  if (vertices > 0) assert_non_null(g->vertices = calloc((size_t)vertices, 3 * sizeof *g->vertices));
}

/* ---- corners of boxes ----------------------------------------------------------------------- */

/* Eight bits: all that the oracle multiplies is exact, and what is not equal differs by far more than rounding. */
static void eight_bits(harness_random *random, float point[3]) {
  for (int k = 0; k < 3; k++) point[k] = (float)harness_below(random, 256) * 0x1p-4f;
}

/* Box i, the same in all scenes so that rays can be aimed at it. */
static slab_box cornered_box(uint32_t i) {
  harness_random random = {i};
  slab_box box;
  eight_bits(&random, box.lower);
  for (int k = 0; k < 3; k++) box.upper[k] = box.lower[k] + (float)harness_below(&random, 64) * 0x1p-4f;
  return box;
}

slab_ray ray_at_box_corner(const verdict_set *set, harness_random *random) {
  const slab_box box = cornered_box(harness_below(random, VERDICT_COUNT));
  float from[3], corner[3];
  (void)set;
  eight_bits(random, from);
  for (int k = 0; k < 3; k++) corner[k] = harness_bits(random) & 1 ? box.lower[k] : box.upper[k];
  slab_ray ray = slab_segment(from, corner);
  ray.t_max = INFINITY;
  return ray;
}

uint32_t build_cornered_boxes(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set, (void)random;
  allocate(g, SLAB_BOX, VERDICT_COUNT, sizeof(slab_box), 0);
  for (uint32_t i = 0; i < g->count; i++) ((slab_box *)g->shapes)[i] = cornered_box(i);
  return 1;
}

/* ---- needles ------------------------------------------------------------------------------ */

enum { TETRAHEDRA = 6 };

/* The long side of needle i, the same in all scenes so that rays can be aimed at it. */
static void needle_side(uint32_t i, float side[6]) {
  harness_random random = {i};
  point_within(&random, 1.0f, side);
  point_within(&random, 1.0f, side + 3);
}

/* Within 1e-6 of the segment between two points. */
static void point_beside(harness_random *random, const float side[6], float point[3]) {
  const float share = harness_uniform(random, 0.1f, 0.9f);
  for (int k = 0; k < 3; k++)
    point[k] = side[k] + (side[k + 3] - side[k]) * share + harness_uniform(random, -1e-6f, 1e-6f);
}

slab_ray ray_at_needle(const verdict_set *set, harness_random *random) {
  float from[3], to[3], side[6];
  (void)set;
  point_within(random, 1.5f, from);
  needle_side(harness_below(random, TETRAHEDRA), side);
  point_beside(random, side, to);
  slab_ray ray = slab_segment(from, to);
  ray.t_max = INFINITY;
  return ray;
}

uint32_t build_needles(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set;
  allocate(g, SLAB_TRIANGLE, VERDICT_COUNT, 0, 3 * VERDICT_COUNT);
  for (uint32_t i = 0; i < VERDICT_COUNT; i++) {
    float *v = g->vertices + (size_t)9 * i;
    needle_side(i, v);
    point_beside(random, v, v + 6);
  }
  return 1;
}

/* Four vertices each, every edge used once in either direction. */
static void join_tetrahedra(scene_geometry *g) {
  static const uint32_t faces[12] = {0, 2, 1, 0, 1, 3, 1, 2, 3, 2, 0, 3};
  assert_non_null(g->indices = malloc((size_t)g->count * 3 * sizeof *g->indices));
  for (uint32_t i = 0; i < 3 * g->count; i++) g->indices[i] = 4 * (i / 12) + faces[i % 12];
}

uint32_t build_closed_needles(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set;
  allocate(g, SLAB_TRIANGLE, 4 * TETRAHEDRA, 0, 4 * TETRAHEDRA);
  for (uint32_t i = 0; i < TETRAHEDRA; i++) {
    float *v = g->vertices + (size_t)12 * i;
    needle_side(i, v);
    point_beside(random, v, v + 6);
    point_beside(random, v, v + 9);
  }
  join_tetrahedra(g);
  return 1;
}

/* ---- dyadic scenes -------------------------------------------------------------------------- */

static void integers(harness_random *random, int limit, float point[3]) {
  for (int k = 0; k < 3; k++) point[k] = integer(random, limit);
}

uint32_t build_dyadic_planes(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set;
  allocate(g, SLAB_PLANE, VERDICT_COUNT / 4, sizeof(slab_plane), 0);
  for (uint32_t i = 0; i < g->count; i++) {
    slab_plane *plane = (slab_plane *)g->shapes + i;
    integers(random, 2, plane->normal);
    plane->normal[harness_below(random, 3)] = sign_of(random);
    plane->offset = integer(random, 6);
  }
  return 1;
}

uint32_t build_dyadic_spheres(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set;
  allocate(g, SLAB_SPHERE, VERDICT_COUNT, sizeof(slab_sphere), 0);
  for (uint32_t i = 0; i < g->count; i++) {
    slab_sphere *sphere = (slab_sphere *)g->shapes + i;
    integers(random, 4, sphere->center);
    sphere->radius = 0.5f * (float)harness_below(random, 6);
  }
  return 1;
}

uint32_t build_dyadic_boxes(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set;
  allocate(g, SLAB_BOX, VERDICT_COUNT, sizeof(slab_box), 0);
  for (uint32_t i = 0; i < g->count; i++) {
    slab_box *box = (slab_box *)g->shapes + i;
    integers(random, 4, box->lower);
    for (int k = 0; k < 3; k++) box->upper[k] = box->lower[k] + (float)harness_below(random, 4);
    if (i == 0) box->lower[2] = -INFINITY;
    if (i == 1) box->upper[0] = INFINITY;
  }
  return 1;
}

/* Turned by quarters. */
uint32_t build_dyadic_obbs(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set;
  allocate(g, SLAB_OBB, VERDICT_COUNT, sizeof(slab_obb), 0);
  for (uint32_t i = 0; i < g->count; i++) {
    slab_obb *box = (slab_obb *)g->shapes + i;
    const uint32_t turn = harness_below(random, 6), step = turn < 3 ? 1 : 2;
    integers(random, 4, box->center);
    for (uint32_t k = 0; k < 3; k++) {
      box->half_size[k] = 0.5f * (float)harness_below(random, 4);
      box->axes[k][(turn + step * k) % 3] = sign_of(random);
    }
  }
  return 1;
}

uint32_t build_dyadic_tetrahedra(const verdict_set *set, harness_random *random, scene_geometry *g) {
  (void)set;
  allocate(g, SLAB_TRIANGLE, 4 * TETRAHEDRA, 0, 4 * TETRAHEDRA);
  for (uint32_t i = 0; i < g->vertex_count; i++) integers(random, 4, g->vertices + 3 * (size_t)i);
  join_tetrahedra(g);
  return 1;
}

static uint32_t build_solids(const verdict_set *set, harness_random *random, scene_geometry *g) {
  uint32_t used = build_dyadic_planes(set, random, g);
  used += build_dyadic_spheres(set, random, g + used);
  used += build_dyadic_boxes(set, random, g + used);
  return used + build_dyadic_obbs(set, random, g + used);
}

uint32_t build_dyadic_mix(const verdict_set *set, harness_random *random, scene_geometry *g) {
  const uint32_t used = build_solids(set, random, g);
  return used + build_dyadic_tetrahedra(set, random, g + used);
}

uint32_t build_dyadic_even_mix(const verdict_set *set, harness_random *random, scene_geometry *g) {
  const uint32_t used = build_solids(set, random, g);
  assert_int_equal(scene_build("lattice", 100, harness_bits(random), g + used), 0);
  return used + 1;
}
