/* Casts a ray at a ball by the package, and says by which instruction set. */
#include <slabcast.h>
#include <stdio.h>

int main(void) {
  const slab_sphere ball = {.center = {0, 0, 2}, .radius = 1};
  const slab_ray down = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  slab_device_info device;
  slab_hit hit = {0};
  slab_status status = slab_context_create(NULL, &context);
  if (!status) status = slab_context_device(context, &device);
  if (!status) status = slab_scene_create(context, &scene);
  if (!status) status = slab_scene_add_spheres(scene, &ball, 1, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (!status) status = slab_closest(scene, &down, 1, &hit, NULL);
  if (status)
    fprintf(stderr, "%s\n", slab_message());
  else
    printf("%s, %s: the ball, at t = %g\n", device.name, device.version, hit.t);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return status || hit.t != 6;
}
