/* An OpenCL layer that makes calls fail without doing their work: a lost device, a full device, a driver with bugs.
 *
 * A test in the same process sets faults with slab_fail_arm and slab_fail_disarm (fail.h). A program gets one fault
 * from SLAB_FAIL=N:MODE:CODE (mode once, entry, all or late). SLAB_FAIL_FILE names the file that receives the
 * report; without it, stderr does. Releases never fail, because a caller could do nothing about it. Calls that give
 * something back (clFinish, an unmap) do their work and then fail. */
#include <stdatomic.h>

#include "fail.h"
#include "layer.h"

static struct {
  atomic_uint nth, calls, failed, spared;
  _Atomic(const char *) first, told; /* first: first function that failed; told: first that failed and was not spared */
  _Atomic(const char *) only;        /* no other function is counted or fails; NULL: any */
  fail_mode mode;
  cl_int code;
} order;

/* Returns CL_SUCCESS, or the code if this call is to fail. spared: the failure is counted as spared, and not
 * reported as the first. */
static cl_int strike_spared(const char *name, int spared) {
  const unsigned nth = order.nth;
  const char *only = order.only;
  if (only && strcmp(name, only) != 0) return CL_SUCCESS;
  const unsigned call = 1 + atomic_fetch_add(&order.calls, 1);
  if (nth == 0 || call < nth) return CL_SUCCESS;
  if (call == nth) order.first = name;
  const char *first = order.first;
  const int again = order.mode == FAIL_ALL || (order.mode == FAIL_ENTRY && first && strcmp(name, first) == 0);
  if (call > nth && !again) return CL_SUCCESS;
  atomic_fetch_add(&order.failed, 1);
  if (spared) atomic_fetch_add(&order.spared, 1);
  const char *none = NULL;
  if (!spared) atomic_compare_exchange_strong(&order.told, &none, name);
  return order.code;
}

static cl_int strike(const char *name) { return strike_spared(name, 0); }

/* ---- the calls ------------------------------------------------------------- */

typedef void(CL_CALLBACK *context_notify)(const char *, const void *, size_t, void *);
typedef void(CL_CALLBACK *program_notify)(cl_program, void *);
typedef void(CL_CALLBACK *event_notify)(cl_event, cl_int, void *);

#define WAITS cl_uint waits, const cl_event *wait, cl_event *event
#define WAITED waits, wait, event
#define INFO(object, name) (object of, name what, size_t size, void *value, size_t *size_ret)
#define INFO_ARGS (of, what, size, value, size_ret)

/* STATUS(name, parameters, arguments): a call that returns its code. OBJECT(name, type, parameters, arguments): a
 * call that returns a new object, and its code in `status`. */
#define CALLS(STATUS, OBJECT)                                                                                          \
  STATUS(GetPlatformIDs, (cl_uint n, cl_platform_id * ids, cl_uint * count), (n, ids, count))                          \
  STATUS(GetPlatformInfo, INFO(cl_platform_id, cl_platform_info), INFO_ARGS)                                           \
  STATUS(GetDeviceIDs, (cl_platform_id of, cl_device_type type, cl_uint n, cl_device_id * ids, cl_uint * count),       \
         (of, type, n, ids, count))                                                                                    \
  STATUS(GetDeviceInfo, INFO(cl_device_id, cl_device_info), INFO_ARGS)                                                 \
  STATUS(GetContextInfo, INFO(cl_context, cl_context_info), INFO_ARGS)                                                 \
  STATUS(GetCommandQueueInfo, INFO(cl_command_queue, cl_command_queue_info), INFO_ARGS)                                \
  STATUS(GetMemObjectInfo, INFO(cl_mem, cl_mem_info), INFO_ARGS)                                                       \
  STATUS(GetProgramInfo, INFO(cl_program, cl_program_info), INFO_ARGS)                                                 \
  STATUS(GetKernelInfo, INFO(cl_kernel, cl_kernel_info), INFO_ARGS)                                                    \
  STATUS(GetEventInfo, INFO(cl_event, cl_event_info), INFO_ARGS)                                                       \
  STATUS(GetEventProfilingInfo, INFO(cl_event, cl_profiling_info), INFO_ARGS)                                          \
  STATUS(GetProgramBuildInfo,                                                                                          \
         (cl_program of, cl_device_id on, cl_program_build_info what, size_t size, void *value, size_t *size_ret),     \
         (of, on, what, size, value, size_ret))                                                                        \
  STATUS(GetKernelWorkGroupInfo,                                                                                       \
         (cl_kernel of, cl_device_id on, cl_kernel_work_group_info what, size_t size, void *value, size_t *size_ret),  \
         (of, on, what, size, value, size_ret))                                                                        \
  STATUS(RetainDevice, (cl_device_id of), (of))                                                                        \
  STATUS(RetainContext, (cl_context of), (of))                                                                         \
  STATUS(RetainCommandQueue, (cl_command_queue of), (of))                                                              \
  STATUS(RetainMemObject, (cl_mem of), (of))                                                                           \
  STATUS(RetainProgram, (cl_program of), (of))                                                                         \
  STATUS(RetainKernel, (cl_kernel of), (of))                                                                           \
  STATUS(RetainEvent, (cl_event of), (of))                                                                             \
  STATUS(                                                                                                              \
      CreateSubDevices,                                                                                                \
      (cl_device_id of, const cl_device_partition_property *properties, cl_uint n, cl_device_id *ids, cl_uint *count), \
      (of, properties, n, ids, count))                                                                                 \
  OBJECT(CreateContext, cl_context,                                                                                    \
         (const cl_context_properties *properties, cl_uint n, const cl_device_id *ids, context_notify notify,          \
          void *user, cl_int *status),                                                                                 \
         (properties, n, ids, notify, user, status))                                                                   \
  OBJECT(CreateCommandQueue, cl_command_queue,                                                                         \
         (cl_context in, cl_device_id on, cl_command_queue_properties properties, cl_int * status),                    \
         (in, on, properties, status))                                                                                 \
  OBJECT(CreateSubBuffer, cl_mem,                                                                                      \
         (cl_mem of, cl_mem_flags flags, cl_buffer_create_type type, const void *region, cl_int *status),              \
         (of, flags, type, region, status))                                                                            \
  OBJECT(CreateUserEvent, cl_event, (cl_context in, cl_int * status), (in, status))                                    \
  OBJECT(CreateProgramWithSource, cl_program,                                                                          \
         (cl_context in, cl_uint n, const char **texts, const size_t *lengths, cl_int *status),                        \
         (in, n, texts, lengths, status))                                                                              \
  OBJECT(CreateProgramWithBinary, cl_program,                                                                          \
         (cl_context in, cl_uint n, const cl_device_id *ids, const size_t *lengths, const unsigned char **binaries,    \
          cl_int *binary_status, cl_int *status),                                                                      \
         (in, n, ids, lengths, binaries, binary_status, status))                                                       \
  STATUS(BuildProgram,                                                                                                 \
         (cl_program of, cl_uint n, const cl_device_id *ids, const char *options, program_notify notify, void *user),  \
         (of, n, ids, options, notify, user))                                                                          \
  STATUS(CompileProgram,                                                                                               \
         (cl_program of, cl_uint n, const cl_device_id *ids, const char *options, cl_uint headers,                     \
          const cl_program *texts, const char **names, program_notify notify, void *user),                             \
         (of, n, ids, options, headers, texts, names, notify, user))                                                   \
  OBJECT(LinkProgram, cl_program,                                                                                      \
         (cl_context in, cl_uint n, const cl_device_id *ids, const char *options, cl_uint count,                       \
          const cl_program *compiled, program_notify notify, void *user, cl_int *status),                              \
         (in, n, ids, options, count, compiled, notify, user, status))                                                 \
  STATUS(GetKernelArgInfo,                                                                                             \
         (cl_kernel of, cl_uint index, cl_kernel_arg_info what, size_t size, void *value, size_t *size_ret),           \
         (of, index, what, size, value, size_ret))                                                                     \
  OBJECT(CreateKernel, cl_kernel, (cl_program of, const char *name, cl_int *status), (of, name, status))               \
  STATUS(SetKernelArg, (cl_kernel of, cl_uint index, size_t size, const void *value), (of, index, size, value))        \
  STATUS(SetUserEventStatus, (cl_event of, cl_int state), (of, state))                                                 \
  STATUS(SetEventCallback, (cl_event of, cl_int state, event_notify notify, void *user), (of, state, notify, user))    \
  STATUS(EnqueueReadBuffer,                                                                                            \
         (cl_command_queue queue, cl_mem of, cl_bool blocking, size_t offset, size_t size, void *to, WAITS),           \
         (queue, of, blocking, offset, size, to, WAITED))                                                              \
  STATUS(EnqueueWriteBuffer,                                                                                           \
         (cl_command_queue queue, cl_mem of, cl_bool blocking, size_t offset, size_t size, const void *from, WAITS),   \
         (queue, of, blocking, offset, size, from, WAITED))                                                            \
  STATUS(EnqueueCopyBuffer,                                                                                            \
         (cl_command_queue queue, cl_mem from, cl_mem to, size_t at, size_t to_at, size_t size, WAITS),                \
         (queue, from, to, at, to_at, size, WAITED))                                                                   \
  STATUS(EnqueueCopyBufferRect,                                                                                        \
         (cl_command_queue queue, cl_mem from, cl_mem to, const size_t *at, const size_t *to_at, const size_t *region, \
          size_t row, size_t slice, size_t to_row, size_t to_slice, WAITS),                                            \
         (queue, from, to, at, to_at, region, row, slice, to_row, to_slice, WAITED))                                   \
  STATUS(EnqueueFillBuffer,                                                                                            \
         (cl_command_queue queue, cl_mem of, const void *pattern, size_t pattern_size, size_t offset, size_t size,     \
          WAITS),                                                                                                      \
         (queue, of, pattern, pattern_size, offset, size, WAITED))                                                     \
  STATUS(EnqueueMigrateMemObjects,                                                                                     \
         (cl_command_queue queue, cl_uint n, const cl_mem *objects, cl_mem_migration_flags flags, WAITS),              \
         (queue, n, objects, flags, WAITED))                                                                           \
  STATUS(EnqueueMarkerWithWaitList, (cl_command_queue queue, WAITS), (queue, WAITED))                                  \
  STATUS(EnqueueBarrierWithWaitList, (cl_command_queue queue, WAITS), (queue, WAITED))                                 \
  STATUS(WaitForEvents, (cl_uint n, const cl_event *events), (n, events))                                              \
  STATUS(Flush, (cl_command_queue queue), (queue))

#define DEFINE_STATUS(Name, params, args)             \
  static cl_int CL_API_CALL fail_##Name params {      \
    const cl_int code = strike("cl" #Name);           \
    return code ? code : layer.target->cl##Name args; \
  }
#define DEFINE_OBJECT(Name, type, params, args)    \
  static type CL_API_CALL fail_##Name params {     \
    const cl_int code = strike("cl" #Name);        \
    if (!code) return layer.target->cl##Name args; \
    if (status) *status = code;                    \
    return NULL;                                   \
  }
CALLS(DEFINE_STATUS, DEFINE_OBJECT)

static cl_mem CL_API_CALL fail_CreateBuffer(cl_context in, cl_mem_flags flags, size_t size, void *host,
                                            cl_int *status) {
  const cl_int code = strike_spared("clCreateBuffer", (flags & CL_MEM_ALLOC_HOST_PTR) != 0);
  if (!code) return layer.target->clCreateBuffer(in, flags, size, host, status);
  if (status) *status = code;
  return NULL;
}

static int is_pinned(cl_mem buffer) {
  cl_mem_flags flags = 0;
  layer.target->clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof flags, &flags, NULL);
  return (flags & CL_MEM_ALLOC_HOST_PTR) != 0;
}

static void *CL_API_CALL fail_EnqueueMapBuffer(cl_command_queue queue, cl_mem of, cl_bool blocking, cl_map_flags flags,
                                               size_t offset, size_t size, WAITS, cl_int *status) {
  const cl_int code = strike_spared("clEnqueueMapBuffer", is_pinned(of));
  if (!code) return layer.target->clEnqueueMapBuffer(queue, of, blocking, flags, offset, size, WAITED, status);
  if (status) *status = code;
  return NULL;
}

/* Even a lost device stops using the caller's memory. So the real clFinish must run before that memory is freed. */
static cl_int CL_API_CALL fail_Finish(cl_command_queue queue) {
  const cl_int code = strike("clFinish"), real = layer.target->clFinish(queue);
  return code ? code : real;
}

/* PoCL leaks the state of a mapping that is never unmapped. So the real unmap runs, without the caller's event. */
static cl_int CL_API_CALL fail_EnqueueUnmapMemObject(cl_command_queue queue, cl_mem of, void *mapped, WAITS) {
  const cl_int code = strike("clEnqueueUnmapMemObject");
  const cl_int real = layer.target->clEnqueueUnmapMemObject(queue, of, mapped, waits, wait, code ? NULL : event);
  return code ? code : real;
}

/* Creates an event of work that has failed. */
static cl_int give_up(cl_command_queue queue, cl_event *event) {
  cl_context context = NULL;
  cl_int code = layer.target->clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &context, NULL);
  if (code != CL_SUCCESS || !event) return code;
  *event = layer.target->clCreateUserEvent(context, &code);
  return code == CL_SUCCESS ? layer.target->clSetUserEventStatus(*event, order.code) : code;
}

static cl_int CL_API_CALL fail_EnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                                    const size_t *offset, const size_t *global, const size_t *local,
                                                    WAITS) {
  const cl_int code = strike("clEnqueueNDRangeKernel");
  if (!code)
    return layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
  return order.mode == FAIL_LATE ? give_up(queue, event) : code;
}

#define HOOK_STATUS(Name, params, args) d->cl##Name = fail_##Name;
#define HOOK_OBJECT(Name, type, params, args) d->cl##Name = fail_##Name;

/* ---- control and report ------------------------------------------------------ */

EXPORT void slab_fail_arm(unsigned nth, fail_mode mode, int code) {
  order.mode = mode;
  order.code = code;
  order.calls = order.failed = order.spared = 0;
  order.first = order.told = NULL;
  order.only = mode == FAIL_LATE ? "clEnqueueNDRangeKernel" : NULL;
  order.nth = nth;
}

EXPORT void slab_fail_call(const char *name, unsigned nth, int code) {
  slab_fail_arm(0, FAIL_ONCE, code);
  order.only = name;
  order.nth = nth;
}

EXPORT fail_report slab_fail_disarm(void) {
  order.nth = 0;
  return (fail_report){order.calls, order.failed, order.spared, order.told};
}

/* Aborts if SLAB_FAIL cannot be parsed. Otherwise the program would seem to survive its fault. */
static void obey_environment(void) {
  static const char *const modes[] = {"once", "entry", "all", "late"};
  const char *text = getenv("SLAB_FAIL");
  unsigned nth;
  int code, i = 0;
  char mode[8];
  if (!text) return;
  const int fields = sscanf(text, "%u:%7[a-z]:%d", &nth, mode, &code);
  while (fields == 3 && i < 4 && strcmp(mode, modes[i]) != 0) i++;
  if (fields != 3 || i == 4) {
    fprintf(stderr, "failing layer: SLAB_FAIL=%s is not N:once|entry|all|late:CODE\n", text);
    abort();
  }
  slab_fail_arm(nth, (fail_mode)i, code);
}

static void layer_hook(cl_icd_dispatch *d) {
  CALLS(HOOK_STATUS, HOOK_OBJECT)
  d->clCreateBuffer = fail_CreateBuffer;
  d->clEnqueueMapBuffer = fail_EnqueueMapBuffer;
  d->clFinish = fail_Finish;
  d->clEnqueueUnmapMemObject = fail_EnqueueUnmapMemObject;
  d->clEnqueueNDRangeKernel = fail_EnqueueNDRangeKernel;
  obey_environment();
}

static const char *const layer_report_file = "SLAB_FAIL_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const char *first = order.first;
  const int used = snprintf(text, capacity, "slabcast failing layer: %u calls, %u failed, first %s\n", order.calls,
                            order.failed, first ? first : "none");
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
