/* An OpenCL layer that flips one bit of the data that comes back to the host, by a read or by a mapping for reading
 * only. A mapping that is for writing too is staging memory; results reach it by reads. Data read by the probe of a
 * new context is not a result: it is neither changed nor counted.
 *
 * A test in the same process sets flips with flip.h. A program gets one from SLAB_FLIP=N:BIT: the Nth read-back, and
 * in it bit BIT modulo its length in bits. SLAB_FLIP_FILE names the file that receives the report; without it,
 * stderr does. */
#include "flip.h"

#include "layer.h"

static struct {
  unsigned nth, reads, flipped;
  unsigned long long bit;
  cl_command_queue probed; /* the next read on this queue is the probe's */
} order;

static void flip(void *bytes, size_t size) {
  if (++order.reads != order.nth || size == 0) return;
  const unsigned long long bit = order.bit % (8 * (unsigned long long)size);
  ((unsigned char *)bytes)[bit / 8] ^= (unsigned char)(1u << bit % 8);
  order.flipped++;
}

/* Always blocking, because the bit is flipped after the read. */
static cl_int CL_API_CALL read_flipped(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset,
                                       size_t size, void *to, cl_uint waits, const cl_event *wait, cl_event *event) {
  (void)blocking;
  const cl_int code = layer.target->clEnqueueReadBuffer(queue, buffer, CL_TRUE, offset, size, to, waits, wait, event);
  if (queue == order.probed)
    order.probed = NULL;
  else if (code == CL_SUCCESS)
    flip(to, size);
  return code;
}

static cl_int CL_API_CALL launch_noticed(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                         const cl_event *wait, cl_event *event) {
  char name[64] = "";
  if (!layer.target->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL) &&
      !strcmp(name, "probe"))
    order.probed = queue;
  return layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

static void *CL_API_CALL map_flipped(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                     size_t offset, size_t size, cl_uint waits, const cl_event *wait, cl_event *event,
                                     cl_int *status) {
  (void)blocking;
  void *mapped =
      layer.target->clEnqueueMapBuffer(queue, buffer, CL_TRUE, flags, offset, size, waits, wait, event, status);
  if (mapped && (flags & (CL_MAP_READ | CL_MAP_WRITE)) == CL_MAP_READ) flip(mapped, size);
  return mapped;
}

/* ---- control and report ------------------------------------------------------ */

EXPORT void slab_flip_arm(unsigned nth, unsigned long long bit) {
  order.reads = order.flipped = 0;
  order.bit = bit;
  order.nth = nth;
}

EXPORT flip_report slab_flip_disarm(void) {
  order.nth = 0;
  return (flip_report){order.reads, order.flipped};
}

static void layer_hook(cl_icd_dispatch *d) {
  const char *text = getenv("SLAB_FLIP");
  unsigned nth;
  unsigned long long bit;
  if (text && sscanf(text, "%u:%llu", &nth, &bit) != 2) {
    fprintf(stderr, "flipping layer: SLAB_FLIP=%s is not N:BIT\n", text);
    abort();
  }
  if (text) slab_flip_arm(nth, bit);
  d->clEnqueueNDRangeKernel = launch_noticed;
  d->clEnqueueReadBuffer = read_flipped;
  d->clEnqueueMapBuffer = map_flipped;
}

static const char *const layer_report_file = "SLAB_FLIP_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used =
      snprintf(text, capacity, "slabcast flipping layer: %u read-backs, %u flipped\n", order.reads, order.flipped);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
