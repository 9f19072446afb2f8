/* They are read back and taken as those from host memory are: bounds, refusals and the BVH are the host's. */
#include "interop/update.h"

#include <stdlib.h>

#include "base/status.h"
#include "gpu/update.h"
#include "scene/origin.h"

/* Transforms that were read count from the scene's origin. */
static given_transforms near_of(const float *transforms) {
  return (given_transforms){.floats = transforms, .is_near = true};
}

/* Reads into memory that the caller frees. *bytes stays NULL after a failure, and where there is nothing to read. */
static slab_status read_part(const update_call *u, const char *name, update_part part, size_t size, void **bytes) {
  if (size == 0) return SLAB_OK;
  void *read = malloc(size);
  if (read == NULL) return fail_memory(size, u->function);
  const slab_status status = update_read(u->device, u->queue, part.buffer, part.at, read, size, u->order, name);
  if (status == SLAB_OK)
    *bytes = read;
  else
    free(read);
  return status;
}

slab_status update_shapes(slab_scene *scene, uint32_t geometry, const update_call *u, update_part from, size_t size,
                          addition *a) {
  void *values = NULL;
  slab_status status = read_part(u, "shapes", from, size, &values);
  a->values = values;
  if (status == SLAB_OK) status = scene_update(scene, geometry, a);
  free(values);
  return status;
}

slab_status update_transforms(slab_scene *scene, uint32_t geometry, const update_call *u, update_part from,
                              uint32_t n) {
  void *transforms = NULL;
  slab_status status = read_part(u, "transforms", from, update_transforms_size(n), &transforms);
  const given_transforms given = near_of(transforms);
  if (status == SLAB_OK) status = scene_update_instances(scene, u->function, geometry, &given, n);
  free(transforms);
  return status;
}

slab_status update_some_transforms(slab_scene *scene, uint32_t geometry, const update_call *u, update_part indices,
                                   update_part from, uint32_t n) {
  void *places = NULL, *transforms = NULL;
  slab_status status = read_part(u, "indices", indices, update_places_size(n), &places);
  if (status == SLAB_OK) status = read_part(u, "transforms", from, update_transforms_size(n), &transforms);
  const given_transforms given = near_of(transforms);
  if (status == SLAB_OK) status = scene_update_some_instances(scene, u->function, geometry, places, &given, n);
  free(places);
  free(transforms);
  return status;
}

slab_status update_all_transforms(slab_scene *scene, const uint32_t *geometries, uint32_t count, const update_call *u,
                                  update_part from, uint32_t n) {
  void *transforms = NULL;
  slab_status status = read_part(u, "transforms", from, update_transforms_size(n), &transforms);
  const given_transforms given = near_of(transforms);
  if (status == SLAB_OK) status = scene_move_instances(scene, u->function, geometries, count, &given, n);
  free(transforms);
  return status;
}

/* ---- meshes ---- */

static size_t stride_of(size_t vertex_stride) { return vertex_stride == 0 ? 3 * sizeof(float) : vertex_stride; }

size_t update_vertices_size(size_t vertex_stride, uint32_t vertex_count) {
  const size_t each = 3 * sizeof(float), gaps = vertex_count - (size_t)1, stride = stride_of(vertex_stride);
  if (vertex_count == 0) return 0;
  return gaps > 0 && stride > (SIZE_MAX - each) / gaps ? SIZE_MAX : gaps * stride + each;
}

/* Reads the arrays that the mesh points to. */
static slab_status read_mesh(const update_call *u, const update_mesh *from, void **vertices, void **indices) {
  slab_status status =
      read_part(u, "vertices", from->vertices, update_vertices_size(from->vertex_stride, from->vertex_count), vertices);
  if (status == SLAB_OK && from->indices.buffer != NULL)
    status = read_part(u, "indices", from->indices, update_indices_size(from->triangle_count), indices);
  return status;
}

/* Copies the vertices within the device where its refit may take them. Meshes without triangles may have any stride,
 * also one that a copy cannot have: the host refits those. */
static slab_status copy_vertices(const update_call *u, const slab_scene *scene, const update_mesh *from,
                                 device_copy *copy) {
  const size_t stride = stride_of(from->vertex_stride);
  if (!update_stays_there(scene->context) || from->vertex_count == 0 || stride < 3 * sizeof(float)) return SLAB_OK;
  const gpu_rows rows = {from->vertices.buffer, from->vertices.at, stride};
  return update_keep_vertices(u->device, u->queue, rows, from->vertex_count, copy);
}

static slab_status take_mesh(slab_scene *scene, uint32_t geometry, const update_call *u, const update_mesh *from,
                             const slab_mesh *mesh) {
  addition a = {u->function, "triangle", SLAB_TRIANGLE, mesh->triangle_count, .mesh = mesh, .is_near = true};
  device_copy copy = {0};
  slab_status status = scene_check_mesh(u->function, mesh);
  if (status == SLAB_OK) status = copy_vertices(u, scene, from, &copy);
  if (status == SLAB_OK) status = scene_update(scene, geometry, &a);
  if (status == SLAB_OK)
    scene_values(scene, geometry)->copy = copy;
  else
    values_drop_copy(&copy);
  return status;
}

slab_status update_triangles(slab_scene *scene, uint32_t geometry, const update_call *u, const update_mesh *from) {
  void *vertices = NULL, *indices = NULL;
  slab_status status = read_mesh(u, from, &vertices, &indices);
  const slab_mesh mesh = {vertices, from->vertex_stride, from->vertex_count, indices, from->triangle_count, NULL};
  if (status == SLAB_OK) status = take_mesh(scene, geometry, u, from, &mesh);
  free(vertices);
  free(indices);
  return status;
}
