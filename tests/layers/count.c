/* An OpenCL layer that counts objects. At exit, the objects of every kind must have been created and retained as
 * often as they were released.
 *
 * SLAB_COUNT_FILE names the file that receives the report; without it, stderr does. Images, samplers, pipes and
 * shared virtual memory are not counted. An image shows up as a buffer that was released but never created. */
#include <stdatomic.h>

#include "count.h"
#include "layer.h"

enum kind { CONTEXT, QUEUE, BUFFER, PROGRAM, KERNEL, EVENT, DEVICE, KINDS = COUNT_KINDS };

static const char *const kind_names[KINDS] = {"context", "queue", "buffer", "program", "kernel", "event", "sub-device"};

static struct { atomic_ullong created[KINDS], retained[KINDS], released[KINDS]; } tally;

static void *created(enum kind kind, void *object) {
  if (object) atomic_fetch_add(&tally.created[kind], 1);
  return object;
}

static cl_int created_several(enum kind kind, cl_int status, const void *list, unsigned long long n) {
  if (status == CL_SUCCESS && list) atomic_fetch_add(&tally.created[kind], n);
  return status;
}

static cl_int referenced(atomic_ullong *count, cl_int status) {
  if (status == CL_SUCCESS) atomic_fetch_add(count, 1);
  return status;
}

/* ---- retain and release --------------------------------------------------- */

#define REFERENCES(kind, Name, type)                                                 \
  static cl_int CL_API_CALL retain_##type(type object) {                             \
    return referenced(&tally.retained[kind], layer.target->clRetain##Name(object));  \
  }                                                                                  \
  static cl_int CL_API_CALL release_##type(type object) {                            \
    return referenced(&tally.released[kind], layer.target->clRelease##Name(object)); \
  }

REFERENCES(CONTEXT, Context, cl_context)
REFERENCES(QUEUE, CommandQueue, cl_command_queue)
REFERENCES(BUFFER, MemObject, cl_mem)
REFERENCES(PROGRAM, Program, cl_program)
REFERENCES(KERNEL, Kernel, cl_kernel)
REFERENCES(EVENT, Event, cl_event)
REFERENCES(DEVICE, Device, cl_device_id)

static void hook_references(cl_icd_dispatch *d) {
  d->clRetainContext = retain_cl_context;
  d->clReleaseContext = release_cl_context;
  d->clRetainCommandQueue = retain_cl_command_queue;
  d->clReleaseCommandQueue = release_cl_command_queue;
  d->clRetainMemObject = retain_cl_mem;
  d->clReleaseMemObject = release_cl_mem;
  d->clRetainProgram = retain_cl_program;
  d->clReleaseProgram = release_cl_program;
  d->clRetainKernel = retain_cl_kernel;
  d->clReleaseKernel = release_cl_kernel;
  d->clRetainEvent = retain_cl_event;
  d->clReleaseEvent = release_cl_event;
  d->clRetainDevice = retain_cl_device_id;
  d->clReleaseDevice = release_cl_device_id;
}

/* ---- create --------------------------------------------------------------- */

/* One call that returns a new object: the same signature, and a count. */
#define CREATE(kind, Name, type, params, args) \
  static type CL_API_CALL create_##Name params { return created(kind, layer.target->cl##Name args); }

typedef void(CL_CALLBACK *context_notify)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *program_notify)(cl_program, void *);

CREATE(CONTEXT, CreateContext, cl_context,
       (const cl_context_properties *properties, cl_uint n, const cl_device_id *devices, context_notify notify,
        void *user, cl_int *status),
       (properties, n, devices, notify, user, status))
CREATE(CONTEXT, CreateContextFromType, cl_context,
       (const cl_context_properties *properties, cl_device_type device_type, context_notify notify, void *user,
        cl_int *status),
       (properties, device_type, notify, user, status))
CREATE(QUEUE, CreateCommandQueue, cl_command_queue,
       (cl_context context, cl_device_id device, cl_command_queue_properties properties, cl_int *status),
       (context, device, properties, status))
CREATE(QUEUE, CreateCommandQueueWithProperties, cl_command_queue,
       (cl_context context, cl_device_id device, const cl_queue_properties *properties, cl_int *status),
       (context, device, properties, status))
CREATE(BUFFER, CreateBuffer, cl_mem, (cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status),
       (context, flags, size, host, status))
CREATE(BUFFER, CreateSubBuffer, cl_mem,
       (cl_mem buffer, cl_mem_flags flags, cl_buffer_create_type region_type, const void *region, cl_int *status),
       (buffer, flags, region_type, region, status))
CREATE(PROGRAM, CreateProgramWithSource, cl_program,
       (cl_context context, cl_uint n, const char **texts, const size_t *lengths, cl_int *status),
       (context, n, texts, lengths, status))
CREATE(PROGRAM, CreateProgramWithBinary, cl_program,
       (cl_context context, cl_uint n, const cl_device_id *devices, const size_t *lengths,
        const unsigned char **binaries, cl_int *binary_status, cl_int *status),
       (context, n, devices, lengths, binaries, binary_status, status))
CREATE(PROGRAM, CreateProgramWithBuiltInKernels, cl_program,
       (cl_context context, cl_uint n, const cl_device_id *devices, const char *names, cl_int *status),
       (context, n, devices, names, status))
CREATE(PROGRAM, LinkProgram, cl_program,
       (cl_context context, cl_uint devices, const cl_device_id *device_list, const char *options, cl_uint n,
        const cl_program *programs, program_notify notify, void *user, cl_int *status),
       (context, devices, device_list, options, n, programs, notify, user, status))
CREATE(KERNEL, CreateKernel, cl_kernel, (cl_program program, const char *name, cl_int *status), (program, name, status))
CREATE(EVENT, CreateUserEvent, cl_event, (cl_context context, cl_int *status), (context, status))

static cl_int CL_API_CALL create_kernels(cl_program program, cl_uint capacity, cl_kernel *kernels, cl_uint *count) {
  cl_uint n = 0;
  const cl_int status = layer.target->clCreateKernelsInProgram(program, capacity, kernels, &n);
  if (status == CL_SUCCESS && count) *count = n;
  return created_several(KERNEL, status, kernels, n);
}

static cl_int CL_API_CALL create_sub_devices(cl_device_id device, const cl_device_partition_property *properties,
                                             cl_uint capacity, cl_device_id *devices, cl_uint *count) {
  cl_uint n = 0;
  const cl_int status = layer.target->clCreateSubDevices(device, properties, capacity, devices, &n);
  if (status == CL_SUCCESS && count) *count = n;
  return created_several(DEVICE, status, devices, n);
}

static void hook_creation(cl_icd_dispatch *d) {
  d->clCreateContext = create_CreateContext;
  d->clCreateContextFromType = create_CreateContextFromType;
  d->clCreateCommandQueue = create_CreateCommandQueue;
  d->clCreateCommandQueueWithProperties = create_CreateCommandQueueWithProperties;
  d->clCreateBuffer = create_CreateBuffer;
  d->clCreateSubBuffer = create_CreateSubBuffer;
  d->clCreateProgramWithSource = create_CreateProgramWithSource;
  d->clCreateProgramWithBinary = create_CreateProgramWithBinary;
  d->clCreateProgramWithBuiltInKernels = create_CreateProgramWithBuiltInKernels;
  d->clLinkProgram = create_LinkProgram;
  d->clCreateKernel = create_CreateKernel;
  d->clCreateKernelsInProgram = create_kernels;
  d->clCreateUserEvent = create_CreateUserEvent;
  d->clCreateSubDevices = create_sub_devices;
}

/* ---- enqueue: an event is created if the caller passes a pointer for one ---- */

#define ENQUEUE(Name, params, args)                                              \
  static cl_int CL_API_CALL enqueue_##Name params {                              \
    return created_several(EVENT, layer.target->clEnqueue##Name args, event, 1); \
  }

#define WAITS cl_uint waits, const cl_event *wait, cl_event *event

ENQUEUE(ReadBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, void *to, WAITS),
        (queue, buffer, blocking, offset, size, to, waits, wait, event))
ENQUEUE(WriteBuffer,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, size_t size, const void *from, WAITS),
        (queue, buffer, blocking, offset, size, from, waits, wait, event))
ENQUEUE(ReadBufferRect,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *at, const size_t *host_at,
         const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice, void *to, WAITS),
        (queue, buffer, blocking, at, host_at, region, row, slice, host_row, host_slice, to, waits, wait, event))
ENQUEUE(WriteBufferRect,
        (cl_command_queue queue, cl_mem buffer, cl_bool blocking, const size_t *at, const size_t *host_at,
         const size_t *region, size_t row, size_t slice, size_t host_row, size_t host_slice, const void *from, WAITS),
        (queue, buffer, blocking, at, host_at, region, row, slice, host_row, host_slice, from, waits, wait, event))
ENQUEUE(CopyBuffer, (cl_command_queue queue, cl_mem from, cl_mem to, size_t at, size_t to_at, size_t size, WAITS),
        (queue, from, to, at, to_at, size, waits, wait, event))
ENQUEUE(CopyBufferRect,
        (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *at, const size_t *to_at, const size_t *region,
         size_t row, size_t slice, size_t to_row, size_t to_slice, WAITS),
        (queue, from, to, at, to_at, region, row, slice, to_row, to_slice, waits, wait, event))
ENQUEUE(FillBuffer,
        (cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_size, size_t offset, size_t size,
         WAITS),
        (queue, buffer, pattern, pattern_size, offset, size, waits, wait, event))
ENQUEUE(UnmapMemObject, (cl_command_queue queue, cl_mem buffer, void *mapped, WAITS),
        (queue, buffer, mapped, waits, wait, event))
ENQUEUE(MigrateMemObjects,
        (cl_command_queue queue, cl_uint n, const cl_mem *buffers, cl_mem_migration_flags flags, WAITS),
        (queue, n, buffers, flags, waits, wait, event))
ENQUEUE(NDRangeKernel,
        (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions, const size_t *offset, const size_t *global,
         const size_t *local, WAITS),
        (queue, kernel, dimensions, offset, global, local, waits, wait, event))
ENQUEUE(Task, (cl_command_queue queue, cl_kernel kernel, WAITS), (queue, kernel, waits, wait, event))
ENQUEUE(NativeKernel,
        (cl_command_queue queue, void(CL_CALLBACK *call)(void *), void *arguments, size_t size, cl_uint n,
         const cl_mem *buffers, const void **places, WAITS),
        (queue, call, arguments, size, n, buffers, places, waits, wait, event))
ENQUEUE(Marker, (cl_command_queue queue, cl_event *event), (queue, event))
ENQUEUE(MarkerWithWaitList, (cl_command_queue queue, WAITS), (queue, waits, wait, event))
ENQUEUE(BarrierWithWaitList, (cl_command_queue queue, WAITS), (queue, waits, wait, event))

static void *CL_API_CALL enqueue_MapBuffer(cl_command_queue queue, cl_mem buffer, cl_bool blocking, cl_map_flags flags,
                                           size_t offset, size_t size, WAITS, cl_int *status) {
  void *mapped =
      layer.target->clEnqueueMapBuffer(queue, buffer, blocking, flags, offset, size, waits, wait, event, status);
  created_several(EVENT, mapped ? CL_SUCCESS : CL_MAP_FAILURE, event, 1);
  return mapped;
}

static void hook_enqueues(cl_icd_dispatch *d) {
  d->clEnqueueReadBuffer = enqueue_ReadBuffer;
  d->clEnqueueWriteBuffer = enqueue_WriteBuffer;
  d->clEnqueueReadBufferRect = enqueue_ReadBufferRect;
  d->clEnqueueWriteBufferRect = enqueue_WriteBufferRect;
  d->clEnqueueCopyBuffer = enqueue_CopyBuffer;
  d->clEnqueueCopyBufferRect = enqueue_CopyBufferRect;
  d->clEnqueueFillBuffer = enqueue_FillBuffer;
  d->clEnqueueMapBuffer = enqueue_MapBuffer;
  d->clEnqueueUnmapMemObject = enqueue_UnmapMemObject;
  d->clEnqueueMigrateMemObjects = enqueue_MigrateMemObjects;
  d->clEnqueueNDRangeKernel = enqueue_NDRangeKernel;
  d->clEnqueueTask = enqueue_Task;
  d->clEnqueueNativeKernel = enqueue_NativeKernel;
  d->clEnqueueMarker = enqueue_Marker;
  d->clEnqueueMarkerWithWaitList = enqueue_MarkerWithWaitList;
  d->clEnqueueBarrierWithWaitList = enqueue_BarrierWithWaitList;
}

static void layer_hook(cl_icd_dispatch *d) {
  hook_references(d);
  hook_creation(d);
  hook_enqueues(d);
}

/* ---- report --------------------------------------------------------------- */

static const char *const layer_report_file = "SLAB_COUNT_FILE";

static size_t layer_report(char *text, size_t capacity) {
  int used = snprintf(text, capacity, "slabcast counting layer, process %ld\n", (long)layer.process);
  for (int kind = 0; kind < KINDS && used > 0 && (size_t)used < capacity; kind++) {
    const unsigned long long made = tally.created[kind], kept = tally.retained[kind], freed = tally.released[kind];
    used += snprintf(text + used, capacity - (size_t)used, "%-10s created %llu + retained %llu, released %llu: %s\n",
                     kind_names[kind], made, kept, freed, made + kept == freed ? "balanced" : "UNBALANCED");
  }
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}

/* For a test that counts before exit (count.h). */
EXPORT count_live slab_count_now(void) {
  count_live now = {{0}};
  for (int kind = 0; kind < KINDS; kind++)
    now.references[kind] =
        (long long)tally.created[kind] + (long long)tally.retained[kind] - (long long)tally.released[kind];
  return now;
}
