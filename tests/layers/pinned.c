/* An OpenCL layer that pretends that the device is a GPU with memory of its own, and watches copies to and from it.
 * It records whether the host side of a copy lies in a mapped buffer of pinned memory (CL_MEM_ALLOC_HOST_PTR), and
 * whether such buffers are unmapped before they are released.
 *
 * A test in the same process controls it with slab_pinned_arm (pinned.h). Copies of a single number count in bytes
 * alone. */
#include "pinned.h"

#include <pthread.h>
#include <stdint.h>

#include "layer.h"

enum { BUFFERS = 256 };

/* A live buffer of pinned memory. */
typedef struct pinned {
  cl_mem buffer;
  const char *mapped; /* NULL: not mapped */
  size_t size;        /* bytes of the mapping */
} pinned;

static struct {
  pthread_mutex_t lock;
  pinned all[BUFFERS];
  pinned_report seen;
  pinned_refusal refusal;
  int gpu;
} order = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Returns NULL if the buffer is not pinned memory. The lock must be held. */
static pinned *find(cl_mem buffer) {
  for (int i = 0; i < BUFFERS; i++)
    if (order.all[i].buffer == buffer) return &order.all[i];
  return NULL;
}

/* ---- buffers ---------------------------------------------------------------- */

static void keep(cl_mem buffer) {
  pthread_mutex_lock(&order.lock);
  pinned *free_place = find(NULL);
  if (!free_place) {
    fprintf(stderr, "pinning layer: more than %d buffers\n", BUFFERS);
    abort();
  }
  *free_place = (pinned){.buffer = buffer};
  order.seen.buffers++;
  pthread_mutex_unlock(&order.lock);
}

static cl_mem CL_API_CALL create_watched(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                         cl_int *status) {
  const int is_pinned = (flags & CL_MEM_ALLOC_HOST_PTR) != 0;
  if (is_pinned && order.refusal == PINNED_NOT_CREATED) {
    if (status) *status = CL_OUT_OF_HOST_MEMORY;
    return NULL;
  }
  const cl_mem buffer = layer.target->clCreateBuffer(context, flags, size, host, status);
  if (is_pinned && buffer) keep(buffer);
  return buffer;
}

/* Such buffers are never retained, so their first release is their last. */
static cl_int CL_API_CALL release_watched(cl_mem buffer) {
  pthread_mutex_lock(&order.lock);
  pinned *known = find(buffer);
  if (known) {
    order.seen.lost += known->mapped != NULL;
    order.seen.mappings -= known->mapped != NULL;
    order.seen.buffers--;
    *known = (pinned){0};
  }
  pthread_mutex_unlock(&order.lock);
  return layer.target->clReleaseMemObject(buffer);
}

static void *CL_API_CALL map_watched(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                     cl_int *status) {
  pthread_mutex_lock(&order.lock);
  pinned *known = find(buffer);
  pthread_mutex_unlock(&order.lock);
  if (known && order.refusal == PINNED_NOT_MAPPED) {
    if (status) *status = CL_MAP_FAILURE;
    return NULL;
  }
  void *mapped =
      layer.target->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits, wait, event, status);
  if (!known || !mapped) return mapped;
  pthread_mutex_lock(&order.lock);
  known->mapped = mapped;
  known->size = size;
  order.seen.mappings++;
  pthread_mutex_unlock(&order.lock);
  return mapped;
}

static cl_int CL_API_CALL unmap_watched(cl_command_queue queue, cl_mem buffer, void *mapped, cl_uint waits,
                                        const cl_event *wait, cl_event *event) {
  pthread_mutex_lock(&order.lock);
  pinned *known = find(buffer);
  if (known && known->mapped == mapped) {
    known->mapped = NULL;
    order.seen.mappings--;
  }
  pthread_mutex_unlock(&order.lock);
  return layer.target->clEnqueueUnmapMemObject(queue, buffer, mapped, waits, wait, event);
}

/* ---- copies ----------------------------------------------------------------- */

static int is_staged(const char *bytes, size_t size) {
  for (int i = 0; i < BUFFERS; i++) {
    const pinned *p = &order.all[i];
    if (p->mapped && (uintptr_t)bytes >= (uintptr_t)p->mapped &&
        (uintptr_t)bytes + size <= (uintptr_t)p->mapped + p->size)
      return 1;
  }
  return 0;
}

static void watch_copy(const void *bytes, size_t size, unsigned long long *sum) {
  pthread_mutex_lock(&order.lock);
  *sum += size;
  if (size > sizeof(cl_uint)) *(is_staged(bytes, size) ? &order.seen.staged : &order.seen.direct) += 1;
  pthread_mutex_unlock(&order.lock);
}

static cl_int CL_API_CALL read_watched(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void *to, cl_uint waits, const cl_event *wait, cl_event *event) {
  watch_copy(to, size, &order.seen.down);
  return layer.target->clEnqueueReadBuffer(queue, buffer, blocking, offset, size, to, waits, wait, event);
}

static cl_int CL_API_CALL write_watched(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                        size_t size, const void *from, cl_uint waits, const cl_event *wait,
                                        cl_event *event) {
  watch_copy(from, size, &order.seen.up);
  return layer.target->clEnqueueWriteBuffer(queue, buffer, blocking, offset, size, from, waits, wait, event);
}

/* ---- the device -------------------------------------------------------------- */

static cl_int CL_API_CALL describe(cl_device_id device, cl_device_info what, size_t size, void *value,
                                   size_t *size_ret) {
  const cl_int code = layer.target->clGetDeviceInfo(device, what, size, value, size_ret);
  if (code == CL_SUCCESS && order.gpu && what == CL_DEVICE_TYPE && value) *(cl_device_type *)value = CL_DEVICE_TYPE_GPU;
  return code;
}

/* ---- control and report ------------------------------------------------------ */

EXPORT void slab_pinned_arm(int gpu, pinned_refusal refusal) {
  pthread_mutex_lock(&order.lock);
  order.gpu = gpu;
  order.refusal = refusal;
  order.seen.staged = order.seen.direct = order.seen.up = order.seen.down = 0;
  order.seen.lost = 0;
  pthread_mutex_unlock(&order.lock);
}

EXPORT pinned_report slab_pinned_now(void) {
  pthread_mutex_lock(&order.lock);
  const pinned_report seen = order.seen;
  pthread_mutex_unlock(&order.lock);
  return seen;
}

static void layer_hook(cl_icd_dispatch *d) {
  d->clCreateBuffer = create_watched;
  d->clReleaseMemObject = release_watched;
  d->clEnqueueMapBuffer = map_watched;
  d->clEnqueueUnmapMemObject = unmap_watched;
  d->clEnqueueReadBuffer = read_watched;
  d->clEnqueueWriteBuffer = write_watched;
  d->clGetDeviceInfo = describe;
}

static const char *const layer_report_file = "SLAB_PINNED_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used = snprintf(text, capacity, "slabcast pinning layer: %llu copies staged, %llu direct, %u lost\n",
                            order.seen.staged, order.seen.direct, order.seen.lost);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
