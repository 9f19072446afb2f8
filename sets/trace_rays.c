#include "sets/trace_rays.h"

#include <math.h>

#include "sets/random.h"
#include "sets/scenes_private.h"

const char *const trace_set_names[TRACE_SETS] = {"primary", "shadow", "diffuse", "random"};

/* Extracts every second bit of a Morton code. */
static uint32_t morton_half(uint32_t code) {
  code &= 0x55555555u;
  code = (code | code >> 1) & 0x33333333u;
  code = (code | code >> 2) & 0x0F0F0F0Fu;
  code = (code | code >> 4) & 0x00FF00FFu;
  return (code | code >> 8) & 0x0000FFFFu;
}

/* A camera above one corner, with the whole scene in the picture. */
static slab_camera camera_of(const slab_scene_stats *stats) {
  static const float up[3] = {0.0f, 0.0f, 1.0f}, toward[3] = {0.9f, 0.7f, 0.6f};
  float from[3], to[3], size = 0.0f;
  for (int k = 0; k < 3; k++) size = fmaxf(size, stats->upper[k] - stats->lower[k]);
  for (int k = 0; k < 3; k++) {
    to[k] = 0.5f * (stats->lower[k] + stats->upper[k]);
    from[k] = to[k] + toward[k] * size;
  }
  return slab_camera_look_at(from, to, up, 45.0f, 1.0f);
}

void trace_rows_fill(const slab_scene_stats *stats, uint32_t side, slab_ray *rays) {
  const slab_camera camera = camera_of(stats);
  for (uint32_t i = 0; i < side * side; i++) rays[i] = slab_camera_ray(&camera, i % side, i / side, side, side);
}

static void fill_primary(const slab_scene_stats *stats, uint32_t side, slab_ray *rays) {
  const slab_camera camera = camera_of(stats);
  for (uint32_t i = 0; i < side * side; i++)
    rays[i] = slab_camera_ray(&camera, morton_half(i), morton_half(i >> 1), side, side);
}

void trace_random_fill(const slab_scene_stats *stats, uint64_t seed, size_t n, slab_ray *rays) {
  random_state random = random_seed(seed);
  for (size_t i = 0; i < n; i++) {
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) rays[i].origin[k] = random_between(&random, stats->lower[k], stats->upper[k]);
    scene_random_direction(&random, rays[i].direction);
  }
}

/* A point just off the surface that a ray hit, on the side that the ray came from. `normal` is turned to that side. */
static void step_off(const slab_ray *ray, const slab_hit *hit, float size, float normal[3], float point[3]) {
  float along = 0.0f;
  slab_point_at(ray, hit->t, point);
  for (int k = 0; k < 3; k++) along += hit->normal[k] * ray->direction[k];
  for (int k = 0; k < 3; k++) normal[k] = along > 0.0f ? -hit->normal[k] : hit->normal[k];
  for (int k = 0; k < 3; k++) point[k] += normal[k] * size * TRACE_STEP_OFF;
}

static slab_ray shadow_ray(const slab_scene_stats *stats, const float point[3]) {
  static const float toward[3] = {-0.4f, 0.5f, 1.2f};
  float light[3];
  for (int k = 0; k < 3; k++)
    light[k] = 0.5f * (stats->lower[k] + stats->upper[k]) + toward[k] * (stats->upper[0] - stats->lower[0]);
  return slab_segment(point, light);
}

/* The direction is the normal plus a random unit vector: it has a cosine distribution. */
static slab_ray diffuse_ray(random_state *random, const float point[3], const float normal[3]) {
  slab_ray ray = {.t_max = INFINITY};
  float direction[3], length2 = 0.0f;
  scene_random_direction(random, direction);
  for (int k = 0; k < 3; k++) {
    ray.origin[k] = point[k];
    ray.direction[k] = normal[k] + direction[k];
    length2 += ray.direction[k] * ray.direction[k];
  }
  for (int k = 0; k < 3; k++) ray.direction[k] = length2 > 1e-6f ? ray.direction[k] / sqrtf(length2) : normal[k];
  return ray;
}

/* Replaces primary rays, in place, by the rays that leave the hit surfaces. */
static size_t leave_surfaces(const slab_scene_stats *stats, trace_set set, random_state *random, size_t n,
                             const slab_hit *hits, slab_ray *rays) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (hits[i].primitive == SLAB_MISS) continue;
    float normal[3], point[3];
    step_off(&rays[i], &hits[i], stats->upper[0] - stats->lower[0], normal, point);
    rays[kept++] = set == TRACE_SHADOW ? shadow_ray(stats, point) : diffuse_ray(random, point, normal);
  }
  return kept;
}

slab_status trace_rays_fill(slab_scene *scene, trace_set set, uint64_t seed, uint32_t side, slab_ray *rays,
                            slab_hit *hits, size_t *n) {
  random_state random = random_seed(seed);
  slab_scene_stats stats;
  slab_status status = slab_scene_info(scene, &stats);
  *n = (size_t)side * side;
  if (status != SLAB_OK) return status;
  if (set == TRACE_RANDOM) {
    trace_random_fill(&stats, seed, *n, rays);
    return SLAB_OK;
  }
  fill_primary(&stats, side, rays);
  if (set == TRACE_PRIMARY) return SLAB_OK;
  status = slab_closest(scene, rays, *n, hits, NULL);
  if (status == SLAB_OK) *n = leave_surfaces(&stats, set, &random, *n, hits, rays);
  return status;
}
