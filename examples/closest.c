/* What three rays pointing down meet first: a ball, the ground below it, nothing. */
#include <slabcast.h>
#include <stdio.h>

int main(void) {
  const float corners[] = {-4, -4, 0, 4, -4, 0, 4, 4, 0, -4, 4, 0};
  const uint32_t faces[] = {0, 1, 2, 0, 2, 3};
  const slab_mesh ground = {.vertices = corners, .vertex_count = 4, .indices = faces, .triangle_count = 2};
  const slab_sphere ball = {.center = {0, 0, 2}, .radius = 1};
  const slab_ray rays[] = {
      {{0, 0, 9}, 0, {0, 0, -1}, INFINITY}, {{3, 1, 9}, 0, {0, 0, -1}, INFINITY}, {{6, 0, 9}, 0, {0, 0, -1}, INFINITY}};
  slab_hit hits[3];
  slab_context *context = NULL;
  slab_scene *scene = NULL;

  slab_status status = slab_context_create(NULL, &context);
  if (!status) status = slab_scene_create(context, &scene);
  if (!status) status = slab_scene_add_mesh(scene, &ground, NULL, NULL);
  if (!status) status = slab_scene_add_spheres(scene, &ball, 1, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (!status) status = slab_closest(scene, rays, 3, hits, NULL);
  if (status) fprintf(stderr, "%s\n", slab_message());
  for (int i = 0; !status && i < 3; i++) {
    if (hits[i].primitive == SLAB_MISS)
      printf("ray %d: nothing\n", i);
    else
      printf("ray %d: geometry %u at t = %g\n", i, hits[i].geometry, hits[i].t);
  }

  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return status ? 1 : 0;
}
