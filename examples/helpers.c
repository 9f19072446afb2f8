/* Every small helper of the header, each on a question it answers. */
#include <slabcast.h>
#include <stdio.h>

/* One ray against a scene of planes, boxes and oriented boxes (NULL: none of the kind). */
static slab_status meet(slab_context *context, const slab_plane *plane, const slab_box *box, const slab_obb *obb,
                        const slab_ray *ray, slab_hit *hit) {
  slab_scene *scene = NULL;
  slab_status status = slab_scene_create(context, &scene);
  if (!status && plane) status = slab_scene_add_planes(scene, plane, 1, NULL, NULL);
  if (!status && box) status = slab_scene_add_boxes(scene, box, 1, NULL, NULL);
  if (!status && obb) status = slab_scene_add_obbs(scene, obb, 1, NULL, NULL);
  if (!status) status = slab_scene_commit(scene, NULL);
  if (!status) status = slab_closest(scene, ray, 1, hit, NULL);
  slab_scene_destroy(scene);
  return status;
}

/* slab_segment, slab_plane_through, slab_point_at: where does a wire from a to b pierce a sheet? t is the fraction of
 * the way. */
static slab_status wire_through_sheet(slab_context *context) {
  const float a[] = {0, 0, 8}, b[] = {4, 0, -8}, on_sheet[] = {9, 9, 4}, normal[] = {0, 0, 1};
  const slab_plane sheet = slab_plane_through(on_sheet, normal);
  const slab_ray wire = slab_segment(a, b);
  slab_hit hit;
  float point[3];
  slab_status status = meet(context, &sheet, NULL, NULL, &wire, &hit);
  if (status) return status;
  slab_point_at(&wire, hit.t, point);
  printf("wire: %g of the way, at (%g, %g, %g)\n", hit.t, point[0], point[1], point[2]);
  return SLAB_OK;
}

/* slab_ray_2d, slab_box_2d: the plane is enough for a floor plan. Which wall does a laser reach first? */
static slab_status laser_in_plan(slab_context *context) {
  const float lower[] = {4, -1}, upper[] = {6, 3}, laser[] = {0, 0}, direction[] = {2, 1};
  const slab_box pillar = slab_box_2d(lower, upper);
  const slab_ray ray = slab_ray_2d(laser, direction, 0, INFINITY);
  slab_hit hit;
  slab_status status = meet(context, NULL, &pillar, NULL, &ray, &hit);
  if (status) return status;
  printf("laser: t = %g, wall facing (%g, %g)\n", hit.t, hit.normal[0], hit.normal[1]);
  return SLAB_OK;
}

/* slab_obb_from_matrix: a crate placed by a matrix, here a quarter turn about z. Its face 2 is its own -y, and looks
 * along +x. */
static slab_status turned_crate(slab_context *context) {
  const float placed[16] = {0, -1, 0, 5, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1}, half_size[] = {1, 2, 3};
  const slab_obb crate = slab_obb_from_matrix(placed, half_size);
  const slab_ray ray = {{10, 0, 0}, 0, {-1, 0, 0}, INFINITY};
  slab_hit hit;
  slab_status status = meet(context, NULL, NULL, &crate, &ray, &hit);
  if (status) return status;
  printf("crate: t = %g, face %g facing (%g, %g, %g)\n", hit.t, hit.u, hit.normal[0], hit.normal[1], hit.normal[2]);
  return SLAB_OK;
}

/* slab_camera_look_at, slab_camera_ray: what lies under the mouse? Pixels count from the top left. */
static slab_status pick(slab_context *context) {
  const float from[] = {0, -9, 0}, to[] = {0, 0, 0}, up[] = {0, 0, 1};
  const slab_camera camera = slab_camera_look_at(from, to, up, 90, 4.0f / 3.0f);
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  const uint32_t pixels[][2] = {{320, 240}, {0, 0}};
  for (int i = 0; i < 2; i++) {
    const slab_ray ray = slab_camera_ray(&camera, pixels[i][0], pixels[i][1], 640, 480);
    slab_hit hit;
    slab_status status = meet(context, NULL, &box, NULL, &ray, &hit);
    if (status) return status;
    printf("pixel (%u, %u): %s\n", pixels[i][0], pixels[i][1], hit.primitive == SLAB_MISS ? "nothing" : "the box");
  }
  return SLAB_OK;
}

int main(void) {
  slab_context *context = NULL;
  slab_status status = slab_context_create(NULL, &context);
  if (!status) status = wire_through_sheet(context);
  if (!status) status = laser_in_plan(context);
  if (!status) status = turned_crate(context);
  if (!status) status = pick(context);
  if (status) fprintf(stderr, "%s\n", slab_message());
  slab_context_destroy(context);
  return status ? 1 : 0;
}
