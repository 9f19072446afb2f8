/* The functions of slabcast_cl.h: contexts on the caller's objects, casts on its queues and buffers, and updates. */
#include "slabcast_cl.h"

#include "base/arithmetic.h"
#include "base/plural.h"
#include "base/process.h"
#include "device/backend.h"
#include "device/context.h"
#include "interop/backend_check.h"
#include "interop/batch.h"
#include "interop/update.h"
#include "opencl/inquiry.h"
#include "opencl/opencl.h"
#include "opencl/probe.h"
#include "scene/scene.h"
#include "work/uniforms.h"

/* ---- contexts ---- */

/* Uses the caller's context and queue. A queue that runs out of order is replaced by one of our own. */
static slab_status adopt_device(device *d, cl_context context, cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  gpu_device *g = gpu_of(d);
  cl_int code = clRetainContext(context);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainContext", "slab_context_create_cl");
  cl_of(d)->context = context;
  if (queue == NULL) return objects_queue(d, &g->queue);
  code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetCommandQueueInfo", "slab_context_create_cl");
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) return objects_queue(d, &g->queue);
  code = clRetainCommandQueue(queue);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainCommandQueue", "slab_context_create_cl");
  g->queue = queue_of(queue);
  g->queue_is_callers = true;
  return SLAB_OK;
}

slab_status slab_context_create_cl(cl_context cl, cl_device_id id, cl_command_queue queue,
                                   const slab_context_options *options, slab_context **context) {
  static const slab_context_options defaults;
  if (options == NULL) options = &defaults;
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = context_check(options, context, "slab_context_create_cl");
  if (status == SLAB_OK) status = process_begin("slab_context_create_cl");
  if (status == SLAB_OK) status = process_check_drivers("slab_context_create_cl");
  if (status == SLAB_OK) status = opencl_load();
  if (status == SLAB_OK) status = objects_check_queue("slab_context_create_cl", cl, id, queue);
  if (status != SLAB_OK) return status;
  cl_platform_id platform = NULL;
  slab_context *created = NULL;
  cl_int code = clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetDeviceInfo", "slab_context_create_cl");
  found_device found = {.backend = &opencl_backend, .platform = platform, .id = id};
  const inquiry q = list_describe(platform, id, &found.info);
  if (q.code != CL_SUCCESS) return list_fail(&q);
  status = context_allocate(1, &created);
  if (status == SLAB_OK) status = context_add(created, &found, options);
  if (status == SLAB_OK) status = gpu_prepare(created, &created->devices[0], &found);
  if (status == SLAB_OK) status = open_prepare(&created->devices[0], &found);
  if (status == SLAB_OK) status = adopt_device(&created->devices[0], cl, queue);
  if (status == SLAB_OK) status = probe_device(&created->devices[0]);
  return context_finish(status, options, created, context);
}

slab_status slab_context_objects(const slab_context *context, cl_context *cl, cl_device_id *id) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_context_objects: context is NULL");
  const slab_status status = check_backend("slab_context_objects", context, &opencl_backend);
  if (status != SLAB_OK) return status;
  const opencl_device *d = cl_of(&context->devices[0]);
  if (cl != NULL) *cl = d->context;
  if (id != NULL) *id = d->id;
  return SLAB_OK;
}

/* ---- casts ---- */

/* Checks a span that has `bytes` bytes. name: in messages. *at: its offset in units of `unit` bytes. */
static slab_status check_span(const char *function, cl_context cl, const char *name, const slab_span *span,
                              size_t bytes, size_t unit, uint32_t *at) {
  size_t size = 0;
  cl_context context = NULL;
  if (span->buffer == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: %s: buffer is NULL", function, name);
  if (span->offset % unit != 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s: offset %zu is no multiple of %zu", function, name, span->offset, unit);
  if (span->offset / unit > UINT32_MAX)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s: offset %zu is too large", function, name, span->offset);
  cl_int code = clGetMemObjectInfo(span->buffer, CL_MEM_SIZE, sizeof size, &size, NULL);
  if (code == CL_SUCCESS) code = clGetMemObjectInfo(span->buffer, CL_MEM_CONTEXT, sizeof(cl_context), &context, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetMemObjectInfo", name);
  if (context != cl) return fail(SLAB_INVALID_ARGUMENT, "%s: %s: the buffer is of another context", function, name);
  if (span->offset > size || size - span->offset < bytes)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s: %zu byte%s at %zu, more than the buffer's %zu", function, name, bytes,
                plural(bytes, "", "s"), span->offset, size);
  *at = (uint32_t)(span->offset / unit);
  return SLAB_OK;
}

static slab_status place_spans(cl_context cl, const slab_batch *b, launch *l) {
  uint32_t *at = l->uniforms.at;
  const bool lists = b->query == SLAB_ALL; /* only the offsets give the number of hits */
  const size_t n = b->count, result = lists ? 0 : n * slab_result_size(b->query);
  const size_t unit = b->query == SLAB_ANY ? 1 : SPAN_UNIT;
  slab_status status = check_span("slab_enqueue", cl, "rays", &b->rays, n * sizeof(slab_ray), SPAN_UNIT, &at[AT_RAYS]);
  if (status == SLAB_OK) status = check_span("slab_enqueue", cl, "results", &b->results, result, unit, &at[AT_RESULTS]);
  if (status == SLAB_OK && lists)
    status =
        check_span("slab_enqueue", cl, "offsets", &b->offsets, (n + 1) * sizeof(cl_uint), SPAN_UNIT, &at[AT_OFFSETS]);
  if (status == SLAB_OK && b->skip.buffer != NULL)
    status = check_span("slab_enqueue", cl, "skip", &b->skip, n * sizeof(slab_primitive_id), SPAN_UNIT, &at[AT_SKIPS]);
  if (status == SLAB_OK && b->masks.buffer != NULL)
    status =
        check_span("slab_enqueue", cl, "masks", &b->masks, n * sizeof(cl_uint), SPAN_UNIT, &l->uniforms.masks_begin);
  if (status == SLAB_OK && b->after.buffer != NULL)
    status = check_span("slab_enqueue", cl, "after", &b->after, n * sizeof(slab_short_hit), SPAN_UNIT,
                        &l->uniforms.after_begin);
  if (status == SLAB_OK && b->worlds.buffer != NULL)
    status =
        check_span("slab_enqueue", cl, "worlds", &b->worlds, n * sizeof(cl_uint), SPAN_UNIT, &l->uniforms.worlds_begin);
  if (status == SLAB_OK && b->invalid.buffer != NULL)
    status = check_span("slab_enqueue", cl, "invalid", &b->invalid, sizeof(cl_uint), SPAN_UNIT, &at[AT_INVALID]);
  if (status == SLAB_OK && b->counted.buffer != NULL)
    status = check_span("slab_enqueue", cl, "counted", &b->counted, sizeof(cl_uint), SPAN_UNIT, &l->counted_at);
  return status;
}

static slab_status check_batch(const slab_scene *scene, const slab_batch *b, cl_command_queue queue) {
  const char *missing = scene == NULL ? "scene" : b == NULL ? "batch" : queue == NULL ? "queue" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_enqueue: %s is NULL", missing);
  slab_status status = scene_check(scene, "slab_enqueue");
  if (status == SLAB_OK) status = check_backend("slab_enqueue", scene->context, &opencl_backend);
  if (status != SLAB_OK) return status;
  status = batch_check("slab_enqueue", b->query, b->count, b->cull, b->edges);
  if (status == SLAB_OK)
    status = check_own("slab_enqueue", b->query, b->mask, b->masks.buffer != NULL, b->after.buffer != NULL);
  if (status != SLAB_OK) return status;
  const opencl_device *d = cl_of(&scene->context->devices[0]);
  return objects_check_queue("slab_enqueue", d->context, d->id, queue);
}

slab_status slab_enqueue(slab_scene *scene, const slab_batch *b, cl_command_queue queue, cl_uint wait_count,
                         const cl_event *wait, cl_event *done) {
  ARITHMETIC callers = arithmetic_begin(); /* a driver may run kernels on this thread */
  launch l = {0};
  slab_status status = check_batch(scene, b, queue);
  if (status == SLAB_OK && wait_count > 0 && wait == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "slab_enqueue: wait is NULL and wait_count %u", wait_count);
  if (status == SLAB_OK && b->count > 0) status = place_spans(cl_of(&scene->context->devices[0])->context, b, &l);
  if (status != SLAB_OK) return status;
  const slab_cast_options options = {
      .mask = b->mask, .cull = b->cull, .face_forward = b->face_forward, .edges = b->edges, .max_hits = b->max_hits};
  l.rays = buffer_of(b->rays.buffer);
  l.results = buffer_of(b->results.buffer);
  l.offsets = b->query == SLAB_ALL ? buffer_of(b->offsets.buffer) : NULL;
  l.skips = buffer_of(b->skip.buffer);
  l.masks = buffer_of(b->masks.buffer);
  l.after = buffer_of(b->after.buffer);
  l.worlds = buffer_of(b->worlds.buffer);
  l.invalid = buffer_of(b->invalid.buffer);
  l.counted = buffer_of(b->counted.buffer);
  return batch_enqueue(scene, "slab_enqueue", b->query, b->count, &options, &l, queue_of(queue),
                       order_of(wait_count, wait, done));
}

/* ---- updates ---- */

/* Begins a call that is read on the scene's own queue, after these events. */
static slab_status begin_update(const slab_scene *scene, cl_uint wait_count, const cl_event *wait, update_call *u) {
  slab_status status = scene_check(scene, u->function);
  if (status == SLAB_OK) status = check_backend(u->function, scene->context, &opencl_backend);
  if (status == SLAB_OK && wait_count > 0 && wait == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "%s: wait is NULL and wait_count %u", u->function, wait_count);
  if (status != SLAB_OK) return status;
  u->device = &scene->context->devices[0];
  u->queue = gpu_of(u->device)->queue;
  u->order = order_of(wait_count, wait_count > 0 ? wait : NULL, NULL);
  return SLAB_OK;
}

static slab_status part_of(const update_call *u, const char *name, const slab_span *span, size_t size,
                           update_part *part) {
  uint32_t unused;
  if (span == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: the span is NULL", u->function);
  *part = (update_part){buffer_of(span->buffer), span->offset};
  return check_span(u->function, cl_of(u->device)->context, name, span, size, SPAN_UNIT, &unused);
}

static slab_status update_array(slab_scene *scene, uint32_t geometry, const slab_span *shapes, size_t floats,
                                cl_uint wait_count, const cl_event *wait, addition *a) {
  ARITHMETIC callers = arithmetic_begin(); /* a driver may run on this thread */
  const size_t size = a->count * floats * sizeof(float);
  update_call u = {.function = a->function};
  update_part part;
  slab_status status = begin_update(scene, wait_count, wait, &u);
  if (status == SLAB_OK) status = part_of(&u, "shapes", shapes, size, &part);
  return status == SLAB_OK ? update_shapes(scene, geometry, &u, part, size, a) : status;
}

/* slab_scene_update_planes_cl, slab_scene_update_spheres_cl and so on. */
#define UPDATE_OF_MESH(shape, names, noun, floats)
#define UPDATE_OF_ARRAY(shape, names, noun, floats)                                                         \
  slab_status slab_scene_update_##names##_cl(slab_scene *scene, uint32_t geometry, const slab_span *shapes, \
                                             uint32_t n, cl_uint wait_count, const cl_event *wait) {        \
    addition a = {"slab_scene_update_" #names "_cl", noun, shape, n, .is_near = true};                      \
    return update_array(scene, geometry, shapes, floats, wait_count, wait, &a);                             \
  }
#define UPDATE_OF(shape, name, names, noun, floats, form, place, source) UPDATE_OF_##source(shape, names, noun, floats)
SHAPES(UPDATE_OF)
#undef UPDATE_OF

slab_status slab_scene_update_mesh_cl(slab_scene *scene, uint32_t geometry, const slab_mesh_spans *from,
                                      cl_uint wait_count, const cl_event *wait) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_update_mesh_cl"};
  slab_status status = begin_update(scene, wait_count, wait, &u);
  if (status == SLAB_OK && from == NULL) status = fail(SLAB_INVALID_ARGUMENT, "%s: mesh is NULL", u.function);
  if (status != SLAB_OK) return status;
  update_mesh mesh = {
      .vertex_stride = from->vertex_stride, .vertex_count = from->vertex_count, .triangle_count = from->triangle_count};
  const size_t vertices = update_vertices_size(from->vertex_stride, from->vertex_count);
  status = part_of(&u, "vertices", &from->vertices, vertices, &mesh.vertices);
  if (status == SLAB_OK && from->indices.buffer != NULL)
    status = part_of(&u, "indices", &from->indices, update_indices_size(from->triangle_count), &mesh.indices);
  return status == SLAB_OK ? update_triangles(scene, geometry, &u, &mesh) : status;
}

slab_status slab_scene_update_instances_cl(slab_scene *scene, uint32_t geometry, const slab_span *transforms,
                                           uint32_t n, cl_uint wait_count, const cl_event *wait) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_update_instances_cl"};
  update_part part;
  slab_status status = begin_update(scene, wait_count, wait, &u);
  if (status == SLAB_OK) status = part_of(&u, "transforms", transforms, update_transforms_size(n), &part);
  return status == SLAB_OK ? update_transforms(scene, geometry, &u, part, n) : status;
}

slab_status slab_scene_update_some_instances_cl(slab_scene *scene, uint32_t geometry, const slab_span *indices,
                                                const slab_span *transforms, uint32_t n, cl_uint wait_count,
                                                const cl_event *wait) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_update_some_instances_cl"};
  update_part places, part;
  slab_status status = begin_update(scene, wait_count, wait, &u);
  if (status == SLAB_OK) status = part_of(&u, "indices", indices, update_places_size(n), &places);
  if (status == SLAB_OK) status = part_of(&u, "transforms", transforms, update_transforms_size(n), &part);
  return status == SLAB_OK ? update_some_transforms(scene, geometry, &u, places, part, n) : status;
}

slab_status slab_scene_move_instances_cl(slab_scene *scene, const uint32_t *geometries, uint32_t count,
                                         const slab_span *transforms, uint32_t n, cl_uint wait_count,
                                         const cl_event *wait) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_move_instances_cl"};
  update_part part;
  slab_status status = begin_update(scene, wait_count, wait, &u);
  if (status == SLAB_OK) status = part_of(&u, "transforms", transforms, update_transforms_size(n), &part);
  return status == SLAB_OK ? update_all_transforms(scene, geometries, count, &u, part, n) : status;
}
