#include "ray_sets.h"

#define FAR_RADIUS 6.0f
#define PICTURE 64u /* pixels along a side */

const char *const ray_set_names[2] = {[RAYS_FAR] = "far", [RAYS_INSIDE] = "inside"};

/* A random point in the ball of radius 1. */
static void random_in_ball(random_state *random, float point[3]) {
  float square;
  do {
    for (int k = 0; k < 3; k++) point[k] = random_between(random, -1.0f, 1.0f);
    square = point[0] * point[0] + point[1] * point[1] + point[2] * point[2];
  } while (square > 1.0f || square < 1e-4f);
}

static slab_ray far_ray(random_state *random) {
  float from[3], to[3];
  random_in_ball(random, from);
  random_in_ball(random, to);
  const float scale = FAR_RADIUS / sqrtf(from[0] * from[0] + from[1] * from[1] + from[2] * from[2]);
  slab_ray ray = {.t_max = INFINITY};
  for (int k = 0; k < 3; k++) {
    ray.origin[k] = from[k] * scale;
    ray.direction[k] = to[k] * FAR_RADIUS - ray.origin[k];
  }
  return ray;
}

static slab_camera random_camera(random_state *random) {
  const float up[3] = {0.0f, 0.0f, 1.0f};
  float from[3], to[3];
  random_in_ball(random, from);
  random_in_ball(random, to);
  return slab_camera_look_at(from, to, up, 60.0f, 1.0f);
}

void ray_set_fill(ray_set set, random_state *random, size_t n, slab_ray *rays) {
  slab_camera camera = {0};
  for (size_t i = 0; i < n; i++) {
    if (set == RAYS_FAR) {
      rays[i] = far_ray(random);
      continue;
    }
    const uint32_t pixel = (uint32_t)(i % (PICTURE * PICTURE));
    if (pixel == 0) camera = random_camera(random);
    rays[i] = slab_camera_ray(&camera, pixel % PICTURE, pixel / PICTURE, PICTURE, PICTURE);
  }
}
