/* The table of the driver, and its buffers. */
#include "cuda/cuda.h"

#include <stdlib.h>

#include "device/backend.h"

/* ---- buffers ---- */

/* Copies by a stream that waits for nobody, and waits: pageable memory may else be on its way when the call returns. */
static slab_status upload(const device *d, CUdeviceptr to, const void *bytes, size_t size, const char *what) {
  const CUstream stream = cuda_of(d)->upload;
  const slab_status status =
      cuda_ended(cuda_call.cuMemcpyHtoDAsync(to, bytes, size, stream), "cuMemcpyHtoDAsync", what);
  return status == SLAB_OK ? cuda_ended(cuda_call.cuStreamSynchronize(stream), "cuStreamSynchronize", what) : status;
}

/* Its context is current. */
static slab_status allocate(const device *d, gpu_memory memory, size_t size, const void *bytes, const char *what,
                            gpu_buffer *b) {
  if (memory == GPU_PINNED)
    return cuda_ended(cuda_call.cuMemHostAlloc(&b->host, size, CU_MEMHOSTALLOC_PORTABLE), "cuMemHostAlloc", what);
  slab_status status = cuda_ended(cuda_call.cuMemAlloc(&b->at, size), "cuMemAlloc", what);
  if (status != SLAB_OK || memory != GPU_COPY) return status;
  status = upload(d, b->at, bytes, size, what);
  if (status != SLAB_OK) cuda_call.cuMemFree(b->at);
  return status;
}

/* No memory of the host is used in place (device.in_place), so none is given. */
static slab_status create(const device *d, gpu_access access, gpu_memory memory, size_t size, void *bytes,
                          const char *what, gpu_buffer **buffer) {
  (void)access;
  gpu_buffer *made = calloc(1, sizeof *made);
  if (made == NULL) return what == NULL ? SLAB_OUT_OF_MEMORY : fail_memory(sizeof *made, what);
  made->context = cuda_of(d)->context;
  atomic_init(&made->holders, 1);
  slab_status status = cuda_enter(made->context, what);
  if (status == SLAB_OK) {
    status = allocate(d, memory, size, bytes, what, made);
    cuda_leave();
  }
  if (status == SLAB_OK)
    *buffer = made;
  else
    free(made);
  return status;
}

static slab_status retain(gpu_buffer *buffer, const char *what) {
  (void)what;
  atomic_fetch_add(&buffer->holders, 1);
  return SLAB_OK;
}

/* cuMemFree waits for the context's commands in flight, and so does cuMemFreeHost. */
static void release(gpu_buffer *buffer) {
  if (atomic_fetch_sub(&buffer->holders, 1) > 1) return;
  if (cuda_enter(buffer->context, NULL) == SLAB_OK) {
    if (buffer->host != NULL) cuda_call.cuMemFreeHost(buffer->host);
    if (buffer->at != 0) cuda_call.cuMemFree(buffer->at);
    cuda_leave();
  }
  free(buffer);
}

static slab_status end_copy(gpu_queue *queue, const gpu_order *order, gpu_event *done, bool wait, CUresult code,
                            const char *call, const char *what) {
  slab_status status = cuda_ended(code, call, what);
  if (status == SLAB_OK && wait)
    status = cuda_ended(cuda_call.cuStreamSynchronize(queue->stream), "cuStreamSynchronize", what);
  return cuda_end_command(queue, order, done, status, what);
}

static slab_status write(gpu_queue *queue, gpu_buffer *to, size_t at, const void *bytes, size_t size, bool wait,
                         gpu_order order, const char *what) {
  gpu_event *done;
  const slab_status status = cuda_begin_command(queue, &order, &done, what);
  if (status != SLAB_OK) return status;
  const CUresult code = cuda_call.cuMemcpyHtoDAsync(to->at + at, bytes, size, queue->stream);
  return end_copy(queue, &order, done, wait, code, "cuMemcpyHtoDAsync", what);
}

static slab_status read(gpu_queue *queue, gpu_buffer *from, size_t at, void *bytes, size_t size, bool wait,
                        gpu_order order, const char *what) {
  gpu_event *done;
  const slab_status status = cuda_begin_command(queue, &order, &done, what);
  if (status != SLAB_OK) return status;
  const CUresult code = cuda_call.cuMemcpyDtoHAsync(bytes, from->at + at, size, queue->stream);
  return end_copy(queue, &order, done, wait, code, "cuMemcpyDtoHAsync", what);
}

static slab_status copy(gpu_queue *queue, gpu_rows from, gpu_rows to, size_t size, size_t count, gpu_order order,
                        const char *what) {
  gpu_event *done;
  const slab_status status = cuda_begin_command(queue, &order, &done, what);
  const CUdeviceptr source = from.buffer->at + from.at, target = to.buffer->at + to.at;
  if (status != SLAB_OK) return status;
  if (count == 1 || (from.stride == size && to.stride == size)) {
    const CUresult code = cuda_call.cuMemcpyDtoDAsync(target, source, count * size, queue->stream);
    return end_copy(queue, &order, done, false, code, "cuMemcpyDtoDAsync", what);
  }
  const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                              .srcDevice = source,
                              .srcPitch = from.stride,
                              .dstMemoryType = CU_MEMORYTYPE_DEVICE,
                              .dstDevice = target,
                              .dstPitch = to.stride,
                              .WidthInBytes = size,
                              .Height = count};
  const CUresult code = cuda_call.cuMemcpy2DAsync(&rows, queue->stream);
  return end_copy(queue, &order, done, false, code, "cuMemcpy2DAsync", what);
}

/* Pinned memory is the host's own. */
static slab_status map(gpu_queue *queue, gpu_buffer *buffer, gpu_access access, size_t at, size_t size, bool wait,
                       gpu_order order, const char *what, void **mapped) {
  gpu_event *done;
  (void)access, (void)size;
  slab_status status = cuda_begin_command(queue, &order, &done, what);
  if (status == SLAB_OK) status = end_copy(queue, &order, done, wait, CUDA_SUCCESS, "cuStreamSynchronize", what);
  if (status == SLAB_OK) *mapped = (char *)buffer->host + at;
  return status;
}

static slab_status unmap(gpu_queue *queue, gpu_buffer *buffer, void *mapped, const char *what) {
  (void)queue, (void)buffer, (void)mapped, (void)what;
  return SLAB_OK;
}

/* Every context has it where one has (CU_MEMHOSTALLOC_PORTABLE; also memory that a caller has registered). */
static bool is_pinned(const device *d, const void *bytes, size_t size) {
  const CUdeviceptr at = (CUdeviceptr)(uintptr_t)bytes;
  unsigned type = 0;
  CUdeviceptr first = 0;
  size_t all = 0;
  if (cuda_enter(cuda_of(d)->context, NULL) != SLAB_OK) return false;
  const bool told =
      cuda_call.cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at) == CUDA_SUCCESS &&
      type == CU_MEMORYTYPE_HOST &&
      cuda_call.cuPointerGetAttribute(&first, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at) == CUDA_SUCCESS &&
      cuda_call.cuPointerGetAttribute(&all, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at) == CUDA_SUCCESS;
  cuda_leave();
  return told && size <= all && at - first <= all - size;
}

static const gpu_driver cuda_driver = {
    .list = cuda_list,
    .open = cuda_open,
    .close = cuda_close,
    .create = create,
    .retain = retain,
    .release = release,
    .write = write,
    .read = read,
    .copy = copy,
    .map = map,
    .unmap = unmap,
    .is_pinned = is_pinned,
    .alike = cuda_alike,
    .build = cuda_build,
    .build_traced = cuda_build_traced,
    .release_program = cuda_release_program,
    .kernel = cuda_kernel,
    .release_kernel = cuda_release_kernel,
    .set = cuda_set,
    .launch = cuda_launch,
    .create_queue = cuda_create_queue,
    .release_queue = cuda_release_queue,
    .mark = cuda_mark,
    .flush = cuda_flush,
    .finish = cuda_finish,
    .idle = cuda_idle,
    .wait = cuda_wait,
    .release_event = cuda_release_event,
};

const backend cuda_backend = GPU_BACKEND(cuda_driver, true);
