/* Queues and buffers of a device. */
#include "device.h"

#include "status.h"

slab_status device_queue(const device *d, cl_command_queue *queue) {
  cl_int code;
  *queue = clCreateCommandQueue(d->context, d->id, 0, &code);
  if (code == CL_INVALID_DEVICE) /* the driver decides: a context's list of devices may lack sub-devices */
    return fail(SLAB_INVALID_ARGUMENT, "slab_context_create_cl: the device is not one of the context's");
  return *queue == NULL ? fail_cl(code, "clCreateCommandQueue", d->info.name) : SLAB_OK;
}

/* PoCL 3.1 frees a sub-device with the last reference to it, even while a queue uses it. It may still be releasing the
 * last command of a queue when clFinish returns. A command holds a reference to its queue, so PoCL has finished when
 * ours is the only one left. */
void wait_for_driver(const device *d, cl_command_queue queue) {
  const struct timespec moment = {.tv_nsec = 20000};
  cl_uint holders = 0;
  if (!d->is_part || queue == NULL) return;
  for (int i = 0; i < 500; i++) { /* gives up after 10 ms or more: the caller may hold its own queue for ever */
    if (clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof holders, &holders, NULL) != CL_SUCCESS) return;
    if (holders <= 1) return;
    nanosleep(&moment, NULL);
  }
}

slab_status check_queue(const char *function, cl_context cl, cl_device_id id, cl_command_queue queue) {
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

slab_status create_buffer(const device *d, cl_mem_flags flags, size_t size, void *host, const char *what,
                          cl_mem *buffer) {
  cl_int code;
  *buffer = clCreateBuffer(d->context, flags, size, host, &code);
  return *buffer == NULL ? fail_cl(code, "clCreateBuffer", what) : SLAB_OK;
}
