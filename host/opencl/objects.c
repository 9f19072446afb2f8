/* Helpers of the files of the driver: failures and queues. */
#include "opencl/opencl.h"
#include "os/clock.h"

/* ---- failures ---- */

const char *objects_code_name(cl_int code) {
  static const struct {
    cl_int code;
    const char *name;
  } names[] = {
#define CODE(name) {name, #name}
      CODE(CL_DEVICE_NOT_FOUND),
      CODE(CL_DEVICE_NOT_AVAILABLE),
      CODE(CL_COMPILER_NOT_AVAILABLE),
      CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE),
      CODE(CL_OUT_OF_RESOURCES),
      CODE(CL_OUT_OF_HOST_MEMORY),
      CODE(CL_BUILD_PROGRAM_FAILURE),
      CODE(CL_MAP_FAILURE),
      CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
      CODE(CL_INVALID_VALUE),
      CODE(CL_INVALID_PLATFORM),
      CODE(CL_INVALID_DEVICE),
      CODE(CL_INVALID_CONTEXT),
      CODE(CL_INVALID_COMMAND_QUEUE),
      CODE(CL_INVALID_MEM_OBJECT),
      CODE(CL_INVALID_BUILD_OPTIONS),
      CODE(CL_INVALID_PROGRAM),
      CODE(CL_INVALID_PROGRAM_EXECUTABLE),
      CODE(CL_INVALID_KERNEL),
      CODE(CL_INVALID_KERNEL_NAME),
      CODE(CL_INVALID_KERNEL_ARGS),
      CODE(CL_INVALID_ARG_INDEX),
      CODE(CL_INVALID_ARG_VALUE),
      CODE(CL_INVALID_ARG_SIZE),
      CODE(CL_INVALID_WORK_GROUP_SIZE),
      CODE(CL_INVALID_EVENT),
      CODE(CL_INVALID_EVENT_WAIT_LIST),
      CODE(CL_INVALID_OPERATION),
      CODE(CL_INVALID_BUFFER_SIZE),
      {-1001, "CL_PLATFORM_NOT_FOUND_KHR"},
#undef CODE
  };
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (names[i].code == code) return names[i].name;
  return "error";
}

slab_status fail_cl(cl_int code, const char *call, const char *purpose) {
  bool memory =
      code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE || code == CL_OUT_OF_RESOURCES;
  if (purpose == NULL) return memory ? SLAB_OUT_OF_MEMORY : SLAB_DEVICE_FAILED;
  return fail(memory ? SLAB_OUT_OF_MEMORY : SLAB_DEVICE_FAILED, "%s failed with %s (%d) for %s", call,
              objects_code_name(code), code, purpose);
}

/* ---- queues ---- */

slab_status objects_queue(const device *d, gpu_queue **queue) {
  cl_int code;
  const cl_command_queue created = clCreateCommandQueue(cl_of(d)->context, cl_of(d)->id, 0, &code);
  if (code == CL_INVALID_DEVICE) /* the driver decides: a context's list of devices may lack sub-devices */
    return fail(SLAB_INVALID_ARGUMENT, "slab_context_create_cl: the device is not one of the context's");
  *queue = queue_of(created);
  return created == NULL ? fail_cl(code, "clCreateCommandQueue", d->info.name) : SLAB_OK;
}

/* PoCL 3.1 frees a sub-device with the last reference to it, even while a queue uses it. It may still be releasing the
 * last command of a queue when clFinish returns. A command holds a reference to its queue, so PoCL has finished when
 * ours is the only one left. */
static void await_last_command(const device *d, cl_command_queue queue) {
  cl_uint holders = 0;
  if (!cl_of(d)->is_part) return;
  for (int i = 0; i < 500; i++) { /* gives up after 10 ms or more: the caller may hold its own queue for ever */
    if (clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof holders, &holders, NULL) != CL_SUCCESS) return;
    if (holders <= 1) return;
    os_sleep(20e-6);
  }
}

void opencl_release_queue(const device *d, gpu_queue *queue) {
  await_last_command(d, clqueue_of(queue));
  clReleaseCommandQueue(clqueue_of(queue));
}

slab_status objects_check_queue(const char *function, cl_context cl, cl_device_id id, cl_command_queue queue) {
  cl_context queue_context = NULL;
  cl_device_id queue_device = NULL;
  if (cl == NULL || id == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, cl ? "device" : "context");
  if (queue == NULL) return SLAB_OK;
  cl_int code = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof(cl_context), &queue_context, NULL);
  if (code == CL_SUCCESS)
    code = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof queue_device, &queue_device, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetCommandQueueInfo", function);
  if (queue_context != cl || queue_device != id)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the queue is of another %s", function,
                queue_context != cl ? "context" : "device");
  return SLAB_OK;
}
