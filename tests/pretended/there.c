#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "there.h"

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "gpu/update.h"
#include "scene/scene.h"

enum { BEFORE = 20 }; /* bytes in the buffer */

static size_t stride_of(const slab_mesh *m) { return m->vertex_stride == 0 ? 3 * sizeof(float) : m->vertex_stride; }
static size_t size_of(const slab_mesh *m) { return (m->vertex_count - (size_t)1) * stride_of(m) + 3 * sizeof(float); }

/* A buffer of the device that has the mesh's vertices. */
static slab_status upload(const device *d, const slab_mesh *mesh, gpu_buffer **buffer) {
  char *bytes = calloc(1, BEFORE + size_of(mesh));
  if (bytes == NULL) return fail_memory(BEFORE + size_of(mesh), "a mesh");
  memcpy(bytes + BEFORE, mesh->vertices, size_of(mesh));
  const slab_status status =
      driver_of(d)->create(d, GPU_READ_WRITE, GPU_COPY, BEFORE + size_of(mesh), bytes, "a mesh", buffer);
  free(bytes);
  return status;
}

/* Reads the vertices back, and keeps a copy of them where the device can refit. */
static slab_status take(const slab_scene *scene, gpu_buffer *buffer, const slab_mesh *mesh, float *vertices,
                        device_copy *copy) {
  const device *d = &scene->context->devices[0];
  const slab_status status =
      update_read(d, gpu_of(d)->queue, buffer, BEFORE, vertices, size_of(mesh), (gpu_order){0}, "vertices");
  if (status != SLAB_OK || !update_stays_there(scene->context)) return status;
  return update_keep_vertices(d, gpu_of(d)->queue, (gpu_rows){buffer, BEFORE, stride_of(mesh)}, mesh->vertex_count,
                              copy);
}

slab_status there_update_mesh(slab_scene *scene, uint32_t geometry, const slab_mesh *mesh) {
  const device *d = &scene->context->devices[0];
  gpu_buffer *buffer = NULL;
  device_copy copy = {0};
  float *vertices = malloc(size_of(mesh));
  if (vertices == NULL) return fail_memory(size_of(mesh), "a mesh");
  slab_mesh taken = *mesh;
  taken.vertices = vertices;
  taken.indices = NULL;
  addition a = {"there_update_mesh", "triangle", SLAB_TRIANGLE, mesh->triangle_count, .mesh = &taken};
  slab_status status = upload(d, mesh, &buffer);
  if (status == SLAB_OK) status = take(scene, buffer, mesh, vertices, &copy);
  if (status == SLAB_OK) status = scene_update(scene, geometry, &a);
  if (status == SLAB_OK)
    scene_values(scene, geometry)->copy = copy;
  else
    values_drop_copy(&copy);
  gpu_release_buffer(d, &buffer);
  free(vertices);
  return status;
}

bool there_was_refitted(const slab_scene *scene, uint64_t *build) {
  const snapshot *s = atomic_load(&scene->committed);
  const bool same = s->build == *build;
  *build = s->build;
  return same && !s->moves; /* the host keeps what it has refitted itself */
}
