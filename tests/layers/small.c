/* An OpenCL layer that limits the size of one allocation: devices report the limit, and refuse larger buffers.
 *
 * A test in the same process controls it with slab_small_arm (small.h). A program gets it from
 * SLAB_ALLOCATION=BYTES. SLAB_SMALL_FILE names the file that receives the report; without it, stderr does. Buffers
 * created with a copy of host memory are longer than requested. The extra bytes are all ones, which as floats are
 * NaN. So a read past the end always shows in the results, whatever memory holds there. */
#include "small.h"

#include <stdatomic.h>

#include "layer.h"

enum { BEHIND = 4096 };

static struct {
  atomic_ullong bytes, largest;
  atomic_uint buffers, refused, launches, cut;
} order;

static cl_int CL_API_CALL ask_small(cl_device_id device, cl_device_info name, size_t size, void *value, size_t *used) {
  const cl_int code = layer.target->clGetDeviceInfo(device, name, size, value, used);
  const cl_ulong bytes = order.bytes;
  if (code != CL_SUCCESS || name != CL_DEVICE_MAX_MEM_ALLOC_SIZE || !value || bytes == 0) return code;
  cl_ulong own;
  memcpy(&own, value, sizeof own);
  if (bytes < own) memcpy(value, &bytes, sizeof bytes);
  return code;
}

/* Creates a buffer that holds a copy of `host` and continues past its end. */
static cl_mem create_longer(cl_context context, cl_mem_flags flags, size_t size, const void *host, cl_int *status) {
  char *bytes = malloc(size + BEHIND);
  if (!bytes) {
    if (status) *status = CL_OUT_OF_HOST_MEMORY;
    return NULL;
  }
  memcpy(bytes, host, size);
  memset(bytes + size, 0xFF, BEHIND);
  const cl_mem buffer = layer.target->clCreateBuffer(context, flags, size + BEHIND, bytes, status);
  free(bytes);
  return buffer;
}

static cl_mem CL_API_CALL create_small(cl_context context, cl_mem_flags flags, size_t size, void *host,
                                       cl_int *status) {
  const unsigned long long most = order.bytes;
  if (most != 0 && size > most) {
    atomic_fetch_add(&order.refused, 1);
    if (status) *status = CL_INVALID_BUFFER_SIZE;
    return NULL;
  }
  const cl_mem buffer = most != 0 && host && (flags & CL_MEM_COPY_HOST_PTR)
                            ? create_longer(context, flags, size, host, status)
                            : layer.target->clCreateBuffer(context, flags, size, host, status);
  unsigned long long largest = order.largest;
  while (buffer && size > largest && !atomic_compare_exchange_weak(&order.largest, &largest, size)) continue;
  if (buffer) atomic_fetch_add(&order.buffers, 1);
  return buffer;
}

/* Whether the kernel's program was built for a scene in several buffers. */
static int is_cut(cl_command_queue queue, cl_kernel kernel) {
  cl_program program = NULL;
  cl_device_id device = NULL;
  char options[1024] = "";
  if (layer.target->clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof program, &program, NULL) != CL_SUCCESS ||
      layer.target->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL) != CL_SUCCESS ||
      layer.target->clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_OPTIONS, sizeof options, options, NULL) !=
          CL_SUCCESS)
    return 0;
  return strstr(options, "-DSLAB_BUFFERS=") != NULL;
}

static cl_int CL_API_CALL launch_counted(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                         const cl_event *wait, cl_event *event) {
  atomic_fetch_add(&order.launches, 1);
  if (is_cut(queue, kernel)) atomic_fetch_add(&order.cut, 1);
  return layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

/* ---- control and report ------------------------------------------------------ */

EXPORT void slab_small_arm(unsigned long long bytes) {
  order.bytes = bytes;
  order.largest = 0;
  order.buffers = order.refused = order.launches = order.cut = 0;
}

EXPORT small_counts slab_small_now(void) {
  return (small_counts){order.buffers, order.refused, order.largest, order.launches, order.cut};
}

static void layer_hook(cl_icd_dispatch *d) {
  const char *text = getenv("SLAB_ALLOCATION");
  char *end = NULL;
  const unsigned long long bytes = text ? strtoull(text, &end, 10) : 0;
  if (text && (end == text || *end)) {
    fprintf(stderr, "layer of small allocations: SLAB_ALLOCATION=%s is not BYTES\n", text);
    abort();
  }
  slab_small_arm(bytes);
  d->clGetDeviceInfo = ask_small;
  d->clCreateBuffer = create_small;
  d->clEnqueueNDRangeKernel = launch_counted;
}

static const char *const layer_report_file = "SLAB_SMALL_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used =
      snprintf(text, capacity,
               "slabcast layer of small allocations: %u buffers, the largest of %llu bytes, %u refused; %u "
               "launches, %u of them on several buffers\n",
               order.buffers, (unsigned long long)order.largest, order.refused, order.launches, order.cut);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
