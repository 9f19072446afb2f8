/* Updates of geometries from the caller's buffers. They are read back and taken as those from host memory are: bounds,
 * refusals and the BVH are the host's. */
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "device/context.h"
#include "gpu/update.h"
#include "interop/spans.h"
#include "scene/scene.h"

/* A call, and the events that its reads wait for. */
typedef struct reading {
  const char *function;
  const device *device;
  cl_uint wait_count;
  const cl_event *wait;
} reading;

static slab_status begin(const slab_scene *scene, reading *r) {
  slab_status status = scene_check(scene, r->function);
  if (status == SLAB_OK) status = slabcast_cl_check(r->function, scene->context);
  if (status == SLAB_OK && r->wait_count > 0 && r->wait == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "%s: wait is NULL and wait_count %u", r->function, r->wait_count);
  if (status == SLAB_OK) r->device = &scene->context->devices[0];
  return status;
}

/* Reads a span into memory that the caller frees. *bytes stays NULL after a failure. */
static slab_status read_span(const reading *r, const char *name, const slab_span *span, size_t size, void **bytes) {
  uint32_t unused;
  slab_status status = slabcast_cl_span(r->function, cl_of(r->device)->context, name, span, size, SPAN_UNIT, &unused);
  if (status != SLAB_OK || size == 0) return status;
  void *read = malloc(size);
  if (read == NULL) return fail_memory(size, r->function);
  status = update_read(r->device, buffer_of(span->buffer), span->offset, read, size,
                       order_of(r->wait_count, r->wait_count > 0 ? r->wait : NULL, NULL), name);
  if (status == SLAB_OK)
    *bytes = read;
  else
    free(read);
  return status;
}

static slab_status update_array(slab_scene *scene, uint32_t geometry, const slab_span *shapes, size_t rows, reading *r,
                                addition *a) {
  ARITHMETIC callers = arithmetic_begin(); /* a driver may run on this thread */
  void *values = NULL;
  slab_status status = begin(scene, r);
  if (status == SLAB_OK && shapes == NULL) status = fail(SLAB_INVALID_ARGUMENT, "%s: the span is NULL", r->function);
  if (status == SLAB_OK) status = read_span(r, "shapes", shapes, a->count * rows * sizeof(float), &values);
  a->values = values;
  if (status == SLAB_OK) status = scene_update(scene, geometry, a);
  free(values);
  return status;
}

/* slab_scene_update_planes_cl, slab_scene_update_spheres_cl and so on. */
#define UPDATE_OF_MESH(shape, names, noun, rows)
#define UPDATE_OF_ARRAY(shape, names, noun, rows)                                                           \
  slab_status slab_scene_update_##names##_cl(slab_scene *scene, uint32_t geometry, const slab_span *shapes, \
                                             uint32_t n, cl_uint wait_count, const cl_event *wait) {        \
    reading r = {"slab_scene_update_" #names "_cl", NULL, wait_count, wait};                                \
    addition a = {r.function, noun, shape, n, NULL, NULL, NULL, 0, false};                                  \
    return update_array(scene, geometry, shapes, rows, &r, &a);                                             \
  }
#define UPDATE_OF(shape, name, names, noun, rows, form, place, source) UPDATE_OF_##source(shape, names, noun, rows)
SHAPES(UPDATE_OF)
#undef UPDATE_OF

static size_t stride_of(const slab_mesh_spans *from) {
  return from->vertex_stride == 0 ? 3 * sizeof(float) : from->vertex_stride;
}

/* Bytes from the first vertex to the end of the last one. SIZE_MAX: more than a buffer can have. */
static size_t size_of_vertices(const slab_mesh_spans *from) {
  const size_t each = 3 * sizeof(float), gaps = from->vertex_count - (size_t)1, stride = stride_of(from);
  if (from->vertex_count == 0) return 0;
  return gaps > 0 && stride > (SIZE_MAX - each) / gaps ? SIZE_MAX : gaps * stride + each;
}

/* Reads what the mesh points to. */
static slab_status read_mesh(const reading *r, const slab_mesh_spans *from, void **vertices, void **indices) {
  slab_status status = read_span(r, "vertices", &from->vertices, size_of_vertices(from), vertices);
  if (status == SLAB_OK && from->indices.buffer != NULL)
    status = read_span(r, "indices", &from->indices, 3 * (size_t)from->triangle_count * sizeof(uint32_t), indices);
  return status;
}

/* Copies the vertices within the device where its refit may take them. Meshes without triangles may have any stride,
 * also one that a copy cannot have: the host refits those. */
static slab_status copy_vertices(const reading *r, const slab_scene *scene, const slab_mesh_spans *from,
                                 device_copy *copy) {
  if (!update_stays_there(scene->context) || from->vertex_count == 0 || stride_of(from) < 3 * sizeof(float))
    return SLAB_OK;
  const gpu_rows rows = {buffer_of(from->vertices.buffer), from->vertices.offset, stride_of(from)};
  return update_keep_vertices(r->device, rows, from->vertex_count, copy);
}

slab_status slab_scene_update_mesh_cl(slab_scene *scene, uint32_t geometry, const slab_mesh_spans *from,
                                      cl_uint wait_count, const cl_event *wait) {
  ARITHMETIC callers = arithmetic_begin();
  reading r = {"slab_scene_update_mesh_cl", NULL, wait_count, wait};
  void *vertices = NULL, *indices = NULL;
  slab_status status = begin(scene, &r);
  if (status == SLAB_OK && from == NULL) status = fail(SLAB_INVALID_ARGUMENT, "%s: mesh is NULL", r.function);
  if (status == SLAB_OK) status = read_mesh(&r, from, &vertices, &indices);
  if (status == SLAB_OK) {
    const slab_mesh mesh = {vertices, from->vertex_stride, from->vertex_count, indices, from->triangle_count};
    addition a = {r.function, "triangle", SLAB_TRIANGLE, from->triangle_count, NULL, &mesh, NULL, 0, false};
    device_copy copy = {0};
    status = scene_check_mesh(r.function, &mesh);
    if (status == SLAB_OK) status = copy_vertices(&r, scene, from, &copy);
    if (status == SLAB_OK) status = scene_update(scene, geometry, &a);
    if (status == SLAB_OK)
      scene_values(scene, geometry)->copy = copy;
    else
      values_drop_copy(&copy);
  }
  free(vertices);
  free(indices);
  return status;
}
