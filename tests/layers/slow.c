/* An OpenCL layer that makes devices as slow as requested, so that a machine has devices of different speeds.
 *
 * A test in the same process controls it with slab_slow_arm (slow.h). A program gets it from
 * SLAB_SLOW=NANOSECONDS,...: the time per work-item of each device. A launch on such a device returns when its
 * kernel has ended and that time has passed. SLAB_SLOW_FILE names the file that receives the report; without it,
 * stderr does. */
#include "slow.h"

#include <stdatomic.h>
#include <time.h>

#include "layer.h"

static struct {
  double seconds[SLOW_DEVICES]; /* per work-item */
  atomic_ullong items[SLOW_DEVICES];
} order;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void rest_until(double end) {
  const double seconds = end - now();
  if (!(seconds > 0.0)) return;
  const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  nanosleep(&time, NULL);
}

/* Returns SLOW_DEVICES if the queue's device is not among the first that its platform lists. */
static unsigned device_of(cl_command_queue queue) {
  cl_device_id id = NULL, ids[SLOW_DEVICES];
  cl_platform_id platform = NULL;
  cl_uint n = 0;
  if (layer.target->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL) != CL_SUCCESS ||
      layer.target->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
      layer.target->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, SLOW_DEVICES, ids, &n) != CL_SUCCESS)
    return SLOW_DEVICES;
  for (cl_uint i = 0; i < n && i < SLOW_DEVICES; i++)
    if (ids[i] == id) return i;
  return SLOW_DEVICES;
}

static cl_int CL_API_CALL slow_enqueue(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                       const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                       const cl_event *wait, cl_event *event) {
  const unsigned device = device_of(queue);
  cl_event own = NULL, *done = event ? event : &own;
  const double begin = now();
  const cl_int code =
      layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, done);
  if (code == CL_SUCCESS && device < SLOW_DEVICES) {
    atomic_fetch_add(&order.items[device], global[0]);
    if (order.seconds[device] > 0.0) layer.target->clWaitForEvents(1, done);
    rest_until(begin + order.seconds[device] * (double)global[0]);
  }
  if (own) layer.target->clReleaseEvent(own);
  return code;
}

/* ---- control and report ------------------------------------------------------ */

EXPORT void slab_slow_arm(unsigned device, double nanoseconds) {
  order.seconds[device % SLOW_DEVICES] = 1e-9 * nanoseconds;
  for (int i = 0; i < SLOW_DEVICES; i++) order.items[i] = 0;
}

EXPORT unsigned long long slab_slow_items(unsigned device) { return order.items[device % SLOW_DEVICES]; }

static void layer_hook(cl_icd_dispatch *d) {
  const char *text = getenv("SLAB_SLOW");
  for (unsigned i = 0; text && i < SLOW_DEVICES; i++) {
    char *end;
    const double nanoseconds = strtod(text, &end);
    if (end == text || (*end && *end != ',')) {
      fprintf(stderr, "slowing layer: SLAB_SLOW=...%s is not NANOSECONDS,...\n", text);
      abort();
    }
    slab_slow_arm(i, nanoseconds);
    text = *end ? end + 1 : NULL;
  }
  d->clEnqueueNDRangeKernel = slow_enqueue;
}

static const char *const layer_report_file = "SLAB_SLOW_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used =
      snprintf(text, capacity, "slabcast slowing layer: %llu and %llu work-items on the first two devices\n",
               (unsigned long long)order.items[0], (unsigned long long)order.items[1]);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
