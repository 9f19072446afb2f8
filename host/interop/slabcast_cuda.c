/* The functions of slabcast_cuda.h: contexts on the caller's objects, casts and updates on its streams and memory. */
#include "slabcast_cuda.h"

#include "base/arithmetic.h"
#include "base/process.h"
#include "cuda/cuda.h"
#include "device/backend.h"
#include "device/context.h"
#include "interop/backend_check.h"
#include "interop/batch.h"
#include "interop/update.h"

/* ---- contexts ---- */

/* The card of a context; of NULL the one that is current, else the first. */
static slab_status find_card(CUcontext context, CUdevice *card) {
  if (context == NULL)
    return cuda_call.cuCtxGetDevice(card) == CUDA_SUCCESS
               ? SLAB_OK
               : cuda_ended(cuda_call.cuDeviceGet(card, 0), "cuDeviceGet", "slab_context_create_cuda");
  slab_status status = cuda_enter(context, "slab_context_create_cuda");
  if (status != SLAB_OK) return status;
  status = cuda_ended(cuda_call.cuCtxGetDevice(card), "cuCtxGetDevice", "slab_context_create_cuda");
  cuda_leave();
  return status;
}

static slab_status describe(CUcontext context, const slab_context_options *options, found_device *found) {
  const char *call;
  slab_status status = find_card(context, &found->ordinal);
  if (status != SLAB_OK) return status;
  found->backend = &cuda_backend;
  const CUresult code = cuda_describe(found->ordinal, &found->info, &call);
  if (code != CUDA_SUCCESS) return fail_cuda(code, call, "slab_context_create_cuda");
  if (!cuda_runs(&found->info))
    return fail(SLAB_UNSUPPORTED, "\"%s\" has %s, and the kernels need more", found->info.name, found->info.version);
  if (options->layout == SLAB_LAYOUT_WIDE || options->lane_width > 1)
    return fail(SLAB_UNSUPPORTED,
                "slab_context_create_cuda: by CUDA there are neither kernels of SLAB_LAYOUT_WIDE nor of several lanes");
  return SLAB_OK;
}

/* Whether a stream, which is not NULL, is of this context. */
static slab_status check_stream(const char *function, CUcontext context, CUstream stream) {
  CUcontext of = NULL;
  slab_status status = cuda_enter(context, function);
  if (status != SLAB_OK) return status;
  status = cuda_ended(cuda_call.cuStreamGetCtx(stream, &of), "cuStreamGetCtx", function);
  cuda_leave();
  if (status != SLAB_OK || of == context) return status;
  return fail(SLAB_INVALID_ARGUMENT, "%s: the stream is of another context", function);
}

static slab_status adopt(device *d, CUcontext context, CUstream stream, const found_device *found) {
  gpu_device *g = gpu_of(d);
  slab_status status = cuda_prepare(d, found->ordinal, context);
  if (status != SLAB_OK || stream == NULL) return status == SLAB_OK ? cuda_create_queue(d, &g->queue) : status;
  status = check_stream("slab_context_create_cuda", cuda_of(d)->context, stream);
  if (status == SLAB_OK) status = cuda_adopt_queue(d, stream, &g->queue);
  g->queue_is_callers = status == SLAB_OK;
  return status;
}

slab_status slab_context_create_cuda(CUcontext callers, CUstream stream, const slab_context_options *asked,
                                     slab_context **context) {
  slab_context_options options = asked != NULL ? *asked : (slab_context_options){0};
  ARITHMETIC before = arithmetic_begin();
  slab_context *created = NULL;
  found_device found = {0};
  slab_status status = context_check(&options, context, "slab_context_create_cuda");
  if (status == SLAB_OK) status = process_begin("slab_context_create_cuda");
  if (status == SLAB_OK) status = process_check_drivers("slab_context_create_cuda");
  if (status == SLAB_OK) status = cuda_load();
  if (status == SLAB_OK) status = describe(callers, &options, &found);
  if (status != SLAB_OK) return status;
  options.layout = SLAB_LAYOUT_COMPRESSED;
  status = context_allocate(1, &created);
  if (status == SLAB_OK) status = context_add(created, &found, &options);
  if (status == SLAB_OK) status = gpu_prepare(created, &created->devices[0], &found);
  if (status == SLAB_OK) status = adopt(&created->devices[0], callers, stream, &found);
  return context_finish(status, &options, created, context);
}

slab_status slab_context_card(const slab_context *context, CUcontext *cuda, int *card) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_context_card: context is NULL");
  const slab_status status = check_backend("slab_context_card", context, &cuda_backend);
  if (status != SLAB_OK) return status;
  const cuda_device *d = cuda_of(&context->devices[0]);
  if (cuda != NULL) *cuda = d->context;
  if (card != NULL) *card = d->card;
  return SLAB_OK;
}

/* ---- the caller's memory ---- */

/* Whether this context's card reaches a byte. The byte's context does not matter: memory of a pool (cuMemAllocAsync)
 * has none. */
static slab_status find_reach(const char *function, CUcontext context, CUdeviceptr at, bool *is_reached) {
  unsigned type = 0; /* which no memory has that the driver knows */
  const slab_status status = cuda_enter(context, function);
  if (status != SLAB_OK) return status;
  const CUresult code = cuda_call.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);
  cuda_leave();
  *is_reached = code == CUDA_SUCCESS && type != 0;
  return code == CUDA_ERROR_INVALID_VALUE ? SLAB_OK : cuda_ended(code, "cuPointerGetAttribute", function);
}

/* Checks memory of so many bytes. 0: at least one, and only the caller knows how many. Its ends alone are looked at: an
 * array may lie in several allocations. */
static slab_status check_reach(const char *function, CUcontext context, const char *name, CUdeviceptr at, size_t size) {
  const CUdeviceptr last = at + (size == 0 ? 0 : size - 1);
  bool first_is = false, last_is = false;
  slab_status status = find_reach(function, context, at, &first_is);
  if (status == SLAB_OK && !first_is)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s: 0x%llx is not memory that a card reaches", function, name, at);
  if (status == SLAB_OK && last >= at) status = find_reach(function, context, last, &last_is);
  if (status != SLAB_OK || last_is) return status;
  return fail(SLAB_INVALID_ARGUMENT, "%s: %s: %zu bytes at 0x%llx are more than a card reaches there", function, name,
              size, at);
}

/* The caller's memory as a buffer. Its address is a multiple of `unit`. */
static slab_status place(const char *function, const device *d, const char *name, const void *at, size_t size,
                         size_t unit, gpu_buffer *space) {
  const CUdeviceptr address = (CUdeviceptr)(uintptr_t)at;
  if (at == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, name);
  if (address % unit != 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s: 0x%llx is no multiple of %zu", function, name, address, unit);
  *space = (gpu_buffer){.context = cuda_of(d)->context, .at = address};
  return check_reach(function, space->context, name, address, size);
}

/* Checks a scene, and the stream of a call on it, which is then a queue. */
static slab_status begin(const char *function, const slab_scene *scene, CUstream stream, gpu_queue *queue) {
  slab_status status = scene_check(scene, function);
  if (status != SLAB_OK) return status;
  status = check_backend(function, scene->context, &cuda_backend);
  if (status != SLAB_OK) return status;
  *queue = (gpu_queue){cuda_of(&scene->context->devices[0])->context, stream};
  return stream == NULL ? SLAB_OK : check_stream(function, queue->context, stream);
}

/* ---- casts ---- */

enum { SPACES = 9 };

static slab_status place_one(const device *d, const char *name, const void *at, size_t size, size_t unit,
                             gpu_buffer *space, gpu_buffer **placed) {
  const slab_status status = place("slab_enqueue_cuda", d, name, at, size, unit, space);
  if (status == SLAB_OK) *placed = space;
  return status;
}

static slab_status place_all(const device *d, const slab_cuda_batch *b, gpu_buffer spaces[SPACES], launch *l) {
  const bool lists = b->query == SLAB_ALL; /* only the offsets give the number of hits */
  const size_t n = b->count, result = lists ? 0 : n * slab_result_size(b->query);
  slab_status status = place_one(d, "rays", b->rays, n * sizeof *b->rays, SPAN_UNIT, &spaces[0], &l->rays);
  if (status == SLAB_OK)
    status = place_one(d, "results", b->results, result, b->query == SLAB_ANY ? 1 : SPAN_UNIT, &spaces[1], &l->results);
  if (status == SLAB_OK && lists)
    status = place_one(d, "offsets", b->offsets, (n + 1) * sizeof *b->offsets, SPAN_UNIT, &spaces[2], &l->offsets);
  if (status == SLAB_OK && b->skip != NULL)
    status = place_one(d, "skip", b->skip, n * sizeof *b->skip, SPAN_UNIT, &spaces[3], &l->skips);
  if (status == SLAB_OK && b->masks != NULL)
    status = place_one(d, "masks", b->masks, n * sizeof *b->masks, SPAN_UNIT, &spaces[5], &l->masks);
  if (status == SLAB_OK && b->after != NULL)
    status = place_one(d, "after", b->after, n * sizeof *b->after, SPAN_UNIT, &spaces[6], &l->after);
  if (status == SLAB_OK && b->worlds != NULL)
    status = place_one(d, "worlds", b->worlds, n * sizeof *b->worlds, SPAN_UNIT, &spaces[8], &l->worlds);
  if (status == SLAB_OK && b->invalid != NULL)
    status = place_one(d, "invalid", b->invalid, sizeof *b->invalid, SPAN_UNIT, &spaces[4], &l->invalid);
  if (status == SLAB_OK && b->counted != NULL)
    status = place_one(d, "counted", b->counted, sizeof *b->counted, SPAN_UNIT, &spaces[7], &l->counted);
  return status;
}

slab_status slab_enqueue_cuda(slab_scene *scene, const slab_cuda_batch *b, CUstream stream) {
  ARITHMETIC callers = arithmetic_begin();
  gpu_buffer spaces[SPACES];
  gpu_queue queue;
  launch l = {0};
  slab_status status = begin("slab_enqueue_cuda", scene, stream, &queue);
  if (status == SLAB_OK && b == NULL) status = fail(SLAB_INVALID_ARGUMENT, "slab_enqueue_cuda: batch is NULL");
  if (status == SLAB_OK) status = batch_check("slab_enqueue_cuda", b->query, b->count, b->cull, b->edges);
  if (status == SLAB_OK) status = check_own("slab_enqueue_cuda", b->query, b->mask, b->masks != NULL, b->after != NULL);
  if (status == SLAB_OK && b->count > 0) status = place_all(&scene->context->devices[0], b, spaces, &l);
  if (status != SLAB_OK) return status;
  const slab_cast_options options = {
      .mask = b->mask, .cull = b->cull, .face_forward = b->face_forward, .edges = b->edges, .max_hits = b->max_hits};
  return batch_enqueue(scene, "slab_enqueue_cuda", b->query, b->count, &options, &l, &queue, (gpu_order){0});
}

/* ---- updates ---- */

/* Begins a call that is read on the caller's stream, after the stream's commands. */
static slab_status begin_update(const slab_scene *scene, CUstream stream, gpu_queue *queue, update_call *u) {
  const slab_status status = begin(u->function, scene, stream, queue);
  if (status != SLAB_OK) return status;
  u->device = &scene->context->devices[0];
  u->queue = queue;
  return SLAB_OK;
}

/* Nothing is read of a part without bytes, which may be NULL. */
static slab_status part_of(const update_call *u, const char *name, const void *at, size_t size, gpu_buffer *space,
                           update_part *part) {
  *part = (update_part){space, 0};
  return size == 0 ? SLAB_OK : place(u->function, u->device, name, at, size, SPAN_UNIT, space);
}

static slab_status update_array(slab_scene *scene, uint32_t geometry, const void *shapes, size_t floats,
                                CUstream stream, addition *a) {
  ARITHMETIC callers = arithmetic_begin();
  const size_t size = a->count * floats * sizeof(float);
  update_call u = {.function = a->function};
  gpu_buffer space;
  gpu_queue queue;
  update_part part;
  slab_status status = begin_update(scene, stream, &queue, &u);
  if (status == SLAB_OK) status = part_of(&u, "shapes", shapes, size, &space, &part);
  return status == SLAB_OK ? update_shapes(scene, geometry, &u, part, size, a) : status;
}

/* slab_scene_update_planes_cuda, slab_scene_update_spheres_cuda and so on. */
#define UPDATE_OF_MESH(shape, name, names, noun, floats)
#define UPDATE_OF_ARRAY(shape, name, names, noun, floats)                                                       \
  slab_status slab_scene_update_##names##_cuda(slab_scene *scene, uint32_t geometry, const slab_##name *shapes, \
                                               uint32_t n, CUstream stream) {                                   \
    addition a = {"slab_scene_update_" #names "_cuda", noun, shape, n, .is_near = true};                        \
    return update_array(scene, geometry, shapes, floats, stream, &a);                                           \
  }
#define UPDATE_OF(shape, name, names, noun, floats, form, place, source) \
  UPDATE_OF_##source(shape, name, names, noun, floats)
SHAPES(UPDATE_OF)
#undef UPDATE_OF

slab_status slab_scene_update_mesh_cuda(slab_scene *scene, uint32_t geometry, const slab_mesh *from, CUstream stream) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_update_mesh_cuda"};
  gpu_buffer vertices, indices;
  gpu_queue queue;
  slab_status status = begin_update(scene, stream, &queue, &u);
  if (status == SLAB_OK && from == NULL) status = fail(SLAB_INVALID_ARGUMENT, "%s: mesh is NULL", u.function);
  if (status != SLAB_OK) return status;
  update_mesh mesh = {
      .vertex_stride = from->vertex_stride, .vertex_count = from->vertex_count, .triangle_count = from->triangle_count};
  const size_t size = update_vertices_size(from->vertex_stride, from->vertex_count);
  status = part_of(&u, "vertices", from->vertices, size, &vertices, &mesh.vertices);
  if (status == SLAB_OK && from->indices != NULL)
    status = part_of(&u, "indices", from->indices, update_indices_size(from->triangle_count), &indices, &mesh.indices);
  return status == SLAB_OK ? update_triangles(scene, geometry, &u, &mesh) : status;
}

slab_status slab_scene_update_instances_cuda(slab_scene *scene, uint32_t geometry, const float *transforms, uint32_t n,
                                             CUstream stream) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_update_instances_cuda"};
  gpu_buffer space;
  gpu_queue queue;
  update_part part;
  slab_status status = begin_update(scene, stream, &queue, &u);
  if (status == SLAB_OK) status = part_of(&u, "transforms", transforms, update_transforms_size(n), &space, &part);
  return status == SLAB_OK ? update_transforms(scene, geometry, &u, part, n) : status;
}

slab_status slab_scene_update_some_instances_cuda(slab_scene *scene, uint32_t geometry, const uint32_t *indices,
                                                  const float *transforms, uint32_t n, CUstream stream) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_update_some_instances_cuda"};
  gpu_buffer spaces[2];
  gpu_queue queue;
  update_part places, part;
  slab_status status = begin_update(scene, stream, &queue, &u);
  if (status == SLAB_OK) status = part_of(&u, "indices", indices, update_places_size(n), &spaces[0], &places);
  if (status == SLAB_OK) status = part_of(&u, "transforms", transforms, update_transforms_size(n), &spaces[1], &part);
  return status == SLAB_OK ? update_some_transforms(scene, geometry, &u, places, part, n) : status;
}

slab_status slab_scene_move_instances_cuda(slab_scene *scene, const uint32_t *geometries, uint32_t count,
                                           const float *transforms, uint32_t n, CUstream stream) {
  ARITHMETIC callers = arithmetic_begin();
  update_call u = {.function = "slab_scene_move_instances_cuda"};
  gpu_buffer space;
  gpu_queue queue;
  update_part part;
  slab_status status = begin_update(scene, stream, &queue, &u);
  if (status == SLAB_OK) status = part_of(&u, "transforms", transforms, update_transforms_size(n), &space, &part);
  return status == SLAB_OK ? update_all_transforms(scene, geometries, count, &u, part, n) : status;
}
