/* An OpenCL layer that makes a kernel slow. SLAB_STRETCH=NAME:FACTOR launches FACTOR times as many work-items of the
 * kernel NAME. It is for kernels whose work-items all do the same. SLAB_STRETCH_FILE names the file that receives
 * the report; without it, stderr does. */
#include "layer.h"

static struct {
  char kernel[64];
  unsigned factor, stretched;
} order;

static int is_ordered(cl_kernel kernel) {
  char name[64] = "";
  if (layer.target->clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, sizeof name, name, NULL)) return 0;
  return order.factor > 0 && !strcmp(name, order.kernel);
}

static cl_int CL_API_CALL launch_stretched(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                           const size_t *offset, const size_t *global, const size_t *local,
                                           cl_uint waits, const cl_event *wait, cl_event *event) {
  size_t size = *global;
  if (dimensions == 1 && is_ordered(kernel)) {
    size *= order.factor;
    order.stretched++;
    global = &size;
  }
  return layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

static void layer_hook(cl_icd_dispatch *d) {
  const char *text = getenv("SLAB_STRETCH");
  if (text && sscanf(text, "%63[^:]:%u", order.kernel, &order.factor) != 2) {
    fprintf(stderr, "stretching layer: SLAB_STRETCH=%s is not NAME:FACTOR\n", text);
    abort();
  }
  d->clEnqueueNDRangeKernel = launch_stretched;
}

static const char *const layer_report_file = "SLAB_STRETCH_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used = snprintf(text, capacity, "slabcast stretching layer: %u launches stretched\n", order.stretched);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
