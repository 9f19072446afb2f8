#include "demo_prepare.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "device.h"
#include "progress.h"

/* Drivers compile small launches apart, so the rays are as many as the first launch of a cast has. */
enum { RAYS_MOST = 65536 };

/* A BVH of every kind, which is what the demo's scene becomes. */
static slab_status small_scene(slab_context *context, slab_scene **scene) {
  static const slab_plane plane = {{0.0f, 1.0f, 0.0f}, 0.0f};
  static const slab_sphere sphere = {{0.0f, 0.0f, 0.0f}, 1.0f};
  static const slab_box box = {{-1.0f, -1.0f, -1.0f}, {1.0f, 1.0f, 1.0f}};
  static const slab_obb obb = {
      {0.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f}, {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}};
  static const float vertices[9] = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f};
  static const slab_mesh mesh = {.vertices = vertices, .vertex_count = 3, .triangle_count = 1};
  static const slab_build_options options = {.tree = SLAB_TREE_FAST};
  slab_status status = slab_scene_create(context, scene);
  if (status == SLAB_OK) status = slab_scene_add_planes(*scene, &plane, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_spheres(*scene, &sphere, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_boxes(*scene, &box, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_obbs(*scene, &obb, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_mesh(*scene, &mesh, NULL, NULL);
  return status == SLAB_OK ? slab_scene_commit(*scene, &options) : status;
}

/* Rays from a point, as a camera's, to the sky, where nothing is. */
static void aim(slab_ray *rays, size_t n) {
  for (size_t i = 0; i < n; i++)
    rays[i] = (slab_ray){{0.0f, 2.0f, 0.0f}, 0.0f, {(float)i / (float)n, 1.0f, 0.0f}, 1.0f};
}

static slab_status cast_at(slab_scene *scene, size_t n) {
  slab_ray *rays = malloc(n * sizeof *rays);
  slab_hit *hits = malloc(n * sizeof *hits);
  slab_status status = SLAB_OUT_OF_MEMORY;
  if (rays != NULL && hits != NULL) {
    aim(rays, n);
    status = SLAB_OK;
    /* Twice: where the driver has kept its kernels, the second cast loads those that the first does without. */
    for (int i = 0; status == SLAB_OK && i < 2; i++) {
      status = slab_closest(scene, rays, n, hits, NULL);
      if (status == SLAB_OK) status = slab_any(scene, rays, n, (uint8_t *)hits, NULL);
    }
  }
  free(rays);
  free(hits);
  return status;
}

static double thread_seconds(void) {
  struct timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void *prepare(void *argument) {
  demo_prepare *p = argument;
  slab_scene *scene = NULL;
  const double begin = thread_seconds();
  slab_status status = small_scene(p->context, &scene);
  if (status == SLAB_OK) status = cast_at(scene, p->rays < RAYS_MOST ? p->rays : RAYS_MOST);
  p->code = status == SLAB_OK ? EXIT_DONE : complain_status(status, "demo");
  slab_scene_destroy(scene);
  p->seconds = thread_seconds() - begin;
  return NULL;
}

void demo_prepare_begin(demo_prepare *p, slab_context *context, size_t rays) {
  p->context = context;
  p->rays = rays;
  p->begun = pthread_create(&p->thread, NULL, prepare, p) == 0;
  if (!p->begun) prepare(p); /* first one, then the other */
}

int demo_prepare_end(demo_prepare *p) {
  char device[80] = "";
  if (!p->begun) return p->code;
  device_names(p->context, device, sizeof device);
  progress line = progress_begin("preparing", "kernels", 0, 0);
  progress_await(&line, device);
  pthread_join(p->thread, NULL);
  progress_end(&line);
  p->begun = 0;
  return p->code;
}
