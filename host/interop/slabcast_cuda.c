/* The functions of slabcast_cuda.h: contexts on the caller's objects, and casts on the caller's stream and memory. */
#include "slabcast_cuda.h"

#include "base/arithmetic.h"
#include "base/process.h"
#include "cuda/cuda.h"
#include "device/backend.h"
#include "device/context.h"
#include "interop/batch.h"
#include "scene/scene.h"

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

slab_status slab_context_create_cuda(CUcontext context, CUstream stream, const slab_context_options *asked,
                                     slab_context **made) {
  slab_context_options options = asked != NULL ? *asked : (slab_context_options){0};
  ARITHMETIC callers = arithmetic_begin();
  slab_context *created = NULL;
  found_device found = {0};
  slab_status status = context_check(&options, made, "slab_context_create_cuda");
  if (status == SLAB_OK) status = process_begin("slab_context_create_cuda");
  if (status == SLAB_OK) status = cuda_load();
  if (status == SLAB_OK) status = describe(context, &options, &found);
  if (status != SLAB_OK) return status;
  options.layout = SLAB_LAYOUT_COMPRESSED;
  status = context_allocate(1, &created);
  if (status == SLAB_OK) status = context_add(created, &found, &options);
  if (status == SLAB_OK) status = gpu_prepare(created, &created->devices[0], &found);
  if (status == SLAB_OK) status = adopt(&created->devices[0], context, stream, &found);
  return context_finish(status, &options, created, made);
}

/* ---- casts ---- */

/* The caller's memory as a buffer. unit: what its address is a multiple of. */
static slab_status place(const device *d, const char *name, const void *at, size_t unit, gpu_buffer *room,
                         gpu_buffer **placed) {
  CUcontext of;
  const CUdeviceptr address = (CUdeviceptr)(uintptr_t)at;
  if (at == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_enqueue_cuda: %s is NULL", name);
  if (address % unit != 0)
    return fail(SLAB_INVALID_ARGUMENT, "slab_enqueue_cuda: %s: 0x%llx is no multiple of %zu", name, address, unit);
  if (cuda_call.cuPointerGetAttribute(&of, CU_POINTER_ATTRIBUTE_CONTEXT, address) != CUDA_SUCCESS)
    return fail(SLAB_INVALID_ARGUMENT, "slab_enqueue_cuda: %s: 0x%llx is not memory that a card reaches", name,
                address);
  room->context = cuda_of(d)->context;
  room->at = address;
  *placed = room;
  return SLAB_OK;
}

enum { ROOMS = 5 };

static slab_status place_all(const device *d, const slab_cuda_batch *b, gpu_buffer rooms[ROOMS], launch *l) {
  slab_status status = place(d, "rays", b->rays, SPAN_UNIT, &rooms[0], &l->rays);
  if (status == SLAB_OK)
    status = place(d, "results", b->results, b->query == SLAB_ANY ? 1 : SPAN_UNIT, &rooms[1], &l->results);
  if (status == SLAB_OK && b->query == SLAB_ALL)
    status = place(d, "offsets", b->offsets, SPAN_UNIT, &rooms[2], &l->offsets);
  if (status == SLAB_OK && b->skip != NULL) status = place(d, "skip", b->skip, SPAN_UNIT, &rooms[3], &l->skips);
  if (status == SLAB_OK && b->invalid != NULL)
    status = place(d, "invalid", b->invalid, SPAN_UNIT, &rooms[4], &l->invalid);
  return status;
}

static slab_status check(const slab_scene *scene, const slab_cuda_batch *b, CUstream stream) {
  if (scene == NULL || b == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_enqueue_cuda: %s is NULL", scene == NULL ? "scene" : "batch");
  slab_status status = scene_check(scene, "slab_enqueue_cuda");
  if (status != SLAB_OK) return status;
  const device *d = &scene->context->devices[0];
  if (d->backend != &cuda_backend)
    return fail(SLAB_UNSUPPORTED, "slab_enqueue_cuda: \"%s\" is not a card by CUDA", d->info.name);
  status = batch_check("slab_enqueue_cuda", b->query, b->count, b->cull, b->edges);
  return status == SLAB_OK && stream != NULL ? check_stream("slab_enqueue_cuda", cuda_of(d)->context, stream) : status;
}

slab_status slab_enqueue_cuda(slab_scene *scene, const slab_cuda_batch *b, CUstream stream) {
  ARITHMETIC callers = arithmetic_begin();
  gpu_buffer rooms[ROOMS];
  launch l = {0};
  slab_status status = check(scene, b, stream);
  if (status != SLAB_OK) return status;
  const device *d = &scene->context->devices[0];
  gpu_queue queue = {cuda_of(d)->context, stream};
  if (b->count > 0) status = place_all(d, b, rooms, &l);
  if (status != SLAB_OK) return status;
  const slab_cast_options options = {
      .mask = b->mask, .cull = b->cull, .face_forward = b->face_forward, .edges = b->edges, .max_hits = b->max_hits};
  return batch_enqueue(scene, "slab_enqueue_cuda", b->query, b->count, &options, &l, &queue, (gpu_order){0});
}
