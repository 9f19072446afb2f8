#include "kernel_alone.h"

#include <stdio.h>

#include "sets/timing.h"

static bool good(const kernel_alone *k, cl_int code, const char *what) {
  if (code != CL_SUCCESS) fprintf(stderr, "%s: %s failed with %d\n", k->bench, what, (int)code);
  return code == CL_SUCCESS;
}

static bool failed(const kernel_alone *k, const char *what) {
  fprintf(stderr, "%s: %s: %s\n", k->bench, what, slab_message());
  return false;
}

bool kernel_open(kernel_alone *k, const slab_context *context) {
  cl_device_id id;
  cl_int code = CL_SUCCESS;
  const slab_status status = slab_context_objects(context, &k->cl, &id);
  if (status == SLAB_UNSUPPORTED) return true;
  if (status != SLAB_OK) return failed(k, "the context");
  k->queue = clCreateCommandQueue(k->cl, id, CL_QUEUE_PROFILING_ENABLE, &code);
  return good(k, code, "clCreateCommandQueue");
}

static void release(cl_mem *buffer) {
  if (*buffer != NULL) clReleaseMemObject(*buffer);
  *buffer = NULL;
}

static void release_buffers(kernel_alone *k) {
  release(&k->rays);
  release(&k->results);
  release(&k->offsets);
}

/* from: the buffer's first contents; NULL: none. */
static bool make_buffer(const kernel_alone *k, const void *from, size_t size, cl_mem *buffer) {
  cl_int code;
  *buffer = clCreateBuffer(k->cl, CL_MEM_READ_WRITE, size, NULL, &code);
  if (!good(k, code, "clCreateBuffer") || from == NULL) return code == CL_SUCCESS;
  return good(k, clEnqueueWriteBuffer(k->queue, *buffer, CL_TRUE, 0, size, from, 0, NULL, NULL),
              "clEnqueueWriteBuffer");
}

bool kernel_fill(kernel_alone *k, const slab_ray *rays, size_t n, const cl_uint *offsets, size_t bytes) {
  release_buffers(k);
  k->n = n;
  return make_buffer(k, rays, n * sizeof *rays, &k->rays) && make_buffer(k, NULL, bytes, &k->results) &&
         (offsets == NULL || make_buffer(k, offsets, (n + 1) * sizeof *offsets, &k->offsets));
}

bool kernel_time(const kernel_alone *k, slab_scene *scene, slab_query query, double *wall, double *processor) {
  const slab_batch batch = {
      .query = query, .count = k->n, .rays = {k->rays, 0}, .results = {k->results, 0}, .offsets = {k->offsets, 0}};
  cl_event done;
  cl_ulong from = 0, to = 0;
  const double begin = timing_now(1);
  if (slab_enqueue(scene, &batch, k->queue, 0, NULL, &done) != SLAB_OK) return failed(k, "slab_enqueue");
  bool ok = good(k, clFinish(k->queue), "clFinish");
  *processor += timing_now(1) - begin;
  ok = ok &&
       good(k, clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL), "profiling") &&
       good(k, clGetEventProfilingInfo(done, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL), "profiling");
  clReleaseEvent(done);
  *wall += 1e-9 * (double)(to - from);
  return ok;
}

bool kernel_read(const kernel_alone *k, void *results, size_t bytes) {
  return good(k, clEnqueueReadBuffer(k->queue, k->results, CL_TRUE, 0, bytes, results, 0, NULL, NULL),
              "clEnqueueReadBuffer");
}

void kernel_close(kernel_alone *k) {
  release_buffers(k);
  if (k->queue != NULL) clReleaseCommandQueue(k->queue);
  k->queue = NULL;
}
