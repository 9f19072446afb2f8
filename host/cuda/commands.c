/* Queues, and the order of the commands on them. */
#include <stdlib.h>

#include "cuda/cuda.h"

/* ---- the order of commands ---- */

struct gpu_event {
  CUcontext context;
  CUevent event;
};

static void drop_event(gpu_event *event) {
  if (event == NULL) return;
  cuda_call.cuEventDestroy(event->event);
  free(event);
}

/* Its context is current. */
static slab_status create_event(CUcontext context, gpu_event **made, const char *what) {
  gpu_event *event = malloc(sizeof *event);
  if (event == NULL) return fail_memory(sizeof *event, "an event");
  event->context = context;
  const CUresult code = cuda_call.cuEventCreate(&event->event, CU_EVENT_DISABLE_TIMING);
  if (code == CUDA_SUCCESS)
    *made = event;
  else
    free(event);
  return cuda_ended(code, "cuEventCreate", what);
}

static slab_status await_all(const gpu_queue *queue, const gpu_order *order, const char *what) {
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; status == SLAB_OK && i < order->count; i++)
    status =
        cuda_ended(cuda_call.cuStreamWaitEvent(queue->stream, order->after[i]->event, 0), "cuStreamWaitEvent", what);
  return status;
}

slab_status cuda_begin_command(const gpu_queue *queue, const gpu_order *order, gpu_event **done, const char *what) {
  *done = NULL;
  slab_status status = cuda_enter(queue->context, what);
  if (status != SLAB_OK) return status;
  if (order->done != NULL) status = create_event(queue->context, done, what);
  if (status == SLAB_OK) status = await_all(queue, order, what);
  if (status == SLAB_OK) return SLAB_OK;
  drop_event(*done);
  cuda_leave();
  return status;
}

/* Where its event cannot be recorded the command is in flight all the same, and ends before the failure is reported. */
slab_status cuda_end_command(const gpu_queue *queue, const gpu_order *order, gpu_event *done, slab_status status,
                             const char *what) {
  if (status == SLAB_OK && done != NULL) {
    status = cuda_ended(cuda_call.cuEventRecord(done->event, queue->stream), "cuEventRecord", what);
    if (status != SLAB_OK) cuda_call.cuStreamSynchronize(queue->stream);
  }
  if (status != SLAB_OK)
    drop_event(done);
  else if (done != NULL)
    *order->done = done;
  cuda_leave();
  return status;
}

slab_status cuda_mark(gpu_queue *queue, gpu_order order, const char *what) {
  gpu_event *done;
  const slab_status status = cuda_begin_command(queue, &order, &done, what);
  return status == SLAB_OK ? cuda_end_command(queue, &order, done, status, what) : status;
}

/* Some drivers keep commands back until a stream's state is queried. */
slab_status cuda_flush(gpu_queue *queue, const char *what) {
  const slab_status status = cuda_enter(queue->context, what);
  if (status != SLAB_OK) return status;
  const CUresult code = cuda_call.cuStreamQuery(queue->stream);
  cuda_leave();
  return code == CUDA_ERROR_NOT_READY ? SLAB_OK : cuda_ended(code, "cuStreamQuery", what);
}

slab_status cuda_finish(gpu_queue *queue, const char *what) {
  slab_status status = cuda_enter(queue->context, what);
  if (status != SLAB_OK) return status;
  status = cuda_ended(cuda_call.cuStreamSynchronize(queue->stream), "cuStreamSynchronize", what);
  cuda_leave();
  return status;
}

slab_status cuda_idle(const device *d, const char *what) {
  slab_status status = cuda_enter(cuda_of(d)->context, what);
  if (status != SLAB_OK) return status;
  status = cuda_ended(cuda_call.cuCtxSynchronize(), "cuCtxSynchronize", what);
  cuda_leave();
  return status;
}

slab_status cuda_wait(gpu_event *const *events, uint32_t count, const char *what) {
  CUresult first = CUDA_SUCCESS;
  for (uint32_t i = 0; i < count; i++) {
    const slab_status entered = cuda_enter(events[i]->context, what);
    if (entered != SLAB_OK) return entered;
    const CUresult code = cuda_call.cuEventSynchronize(events[i]->event);
    if (first == CUDA_SUCCESS) first = code;
    cuda_leave();
  }
  return cuda_ended(first, "cuEventSynchronize", what);
}

void cuda_release_event(gpu_event *event) {
  const bool entered = cuda_enter(event->context, NULL) == SLAB_OK;
  drop_event(event);
  if (entered) cuda_leave();
}

/* ---- queues ---- */

slab_status cuda_create_queue(const device *d, gpu_queue **queue) {
  gpu_queue *made = malloc(sizeof *made);
  if (made == NULL) return fail_memory(sizeof *made, "a queue");
  made->context = cuda_of(d)->context;
  slab_status status = cuda_enter(made->context, d->info.name);
  if (status == SLAB_OK) {
    status =
        cuda_ended(cuda_call.cuStreamCreate(&made->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate", d->info.name);
    cuda_leave();
  }
  if (status == SLAB_OK)
    *queue = made;
  else
    free(made);
  return status;
}

slab_status cuda_adopt_queue(const device *d, CUstream callers, gpu_queue **queue) {
  gpu_queue *made = malloc(sizeof *made);
  if (made == NULL) return fail_memory(sizeof *made, "a queue");
  *made = (gpu_queue){cuda_of(d)->context, callers};
  *queue = made;
  return SLAB_OK;
}

void cuda_release_queue(const device *d, gpu_queue *queue) {
  const bool is_callers = queue == gpu_of(d)->queue && gpu_of(d)->queue_is_callers;
  if (!is_callers && cuda_enter(queue->context, NULL) == SLAB_OK) {
    cuda_call.cuStreamDestroy(queue->stream);
    cuda_leave();
  }
  free(queue);
}
