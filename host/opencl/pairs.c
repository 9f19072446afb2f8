/* Intersects ray i with shape i on a device. */
#include <stdlib.h>
#include <string.h>

#include "maths/primitive.h"
#include "opencl/opencl.h"
#include "opencl/program.h"
#include "os/thread.h"
#include "shapes/primitive.h"

#define LAUNCH_PAIRS (1u << 20)

/* The device's buffers, for at most LAUNCH_PAIRS pairs. */
typedef struct pair_buffers {
  cl_mem rays, shapes, intervals;
} pair_buffers;

static slab_status enqueue_pairs(device *d, slab_shape kind, const pair_buffers *b, size_t first, uint32_t count,
                                 cl_event *launched) {
  ready_kernel ready;
  const cl_uint numbers[] = {(cl_uint)kind, count, (cl_uint)first};
  const program_key key = {.source = PROGRAM_PAIRS, .query = SLAB_INTERVAL, .kinds = 1u << kind};
  slab_status status = program_find(d, &key, KERNEL_MAIN, &ready);
  if (status != SLAB_OK) return status;
  const cl_kernel kernel = ready.kernel;
  const size_t local = program_group(&ready, WORK_GROUP), global = ((size_t)count + local - 1) / local * local;
  cl_int code = clSetKernelArg(kernel, 0, sizeof(cl_mem), &b->rays);
  if (code == CL_SUCCESS) code = clSetKernelArg(kernel, 1, sizeof(cl_mem), &b->shapes);
  if (code == CL_SUCCESS) code = clSetKernelArg(kernel, 2, sizeof(cl_mem), &b->intervals);
  for (cl_uint i = 0; code == CL_SUCCESS && i < 3; i++)
    code = clSetKernelArg(kernel, 3 + i, sizeof numbers[i], &numbers[i]);
  if (code != CL_SUCCESS) return fail_cl(code, "clSetKernelArg", "pairs");
  code = clEnqueueNDRangeKernel(cl_of(d)->queue, kernel, 1, NULL, &global, &local, 0, NULL, launched);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clEnqueueNDRangeKernel", "pairs");
}

static slab_status run_pairs(device *d, slab_shape kind, const pair_buffers *b, const slab_ray *rays,
                             const float *prepared, size_t first, uint32_t count, slab_interval *intervals) {
  size_t shape_bytes = count * primitive_rows(kind) * sizeof *prepared;
  cl_int code =
      clEnqueueWriteBuffer(cl_of(d)->queue, b->rays, CL_TRUE, 0, count * sizeof *rays, rays + first, 0, NULL, NULL);
  if (code == CL_SUCCESS)
    code = clEnqueueWriteBuffer(cl_of(d)->queue, b->shapes, CL_TRUE, 0, shape_bytes, prepared, 0, NULL, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clEnqueueWriteBuffer", "pairs");
  os_mutex_lock(&d->lock);
  cl_event launched = NULL;
  slab_status status = enqueue_pairs(d, kind, b, first, count, &launched);
  os_mutex_unlock(&d->lock);
  if (status != SLAB_OK) return status;
  code = clWaitForEvents(1, &launched); /* a kernel that fails while it runs tells nobody else */
  clReleaseEvent(launched);
  if (code != CL_SUCCESS) return fail_cl(code, "clWaitForEvents", "pairs");
  code = clEnqueueReadBuffer(cl_of(d)->queue, b->intervals, CL_TRUE, 0, count * sizeof *intervals, intervals + first, 0,
                             NULL, NULL);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clEnqueueReadBuffer", "pairs");
}

slab_status opencl_pairs(device *d, slab_shape kind, const slab_ray *rays, const float *shapes, size_t n,
                         slab_interval *intervals) {
  slab_status status = SLAB_OK;
  pair_buffers b = {0};
  const uint32_t most = n < LAUNCH_PAIRS ? (uint32_t)n : LAUNCH_PAIRS;
  const size_t shape_bytes = most * primitive_rows(kind) * sizeof(float);
  float *prepared = malloc(shape_bytes);
  if (prepared == NULL) status = fail_memory(shape_bytes, "pairs");
  if (status == SLAB_OK)
    status = objects_create_buffer(d, CL_MEM_READ_ONLY, most * sizeof *rays, NULL, "pairs", &b.rays);
  if (status == SLAB_OK) status = objects_create_buffer(d, CL_MEM_READ_ONLY, shape_bytes, NULL, "pairs", &b.shapes);
  if (status == SLAB_OK)
    status = objects_create_buffer(d, CL_MEM_WRITE_ONLY, most * sizeof *intervals, NULL, "pairs", &b.intervals);
  for (size_t first = 0; status == SLAB_OK && first < n; first += most) {
    uint32_t count = n - first < most ? (uint32_t)(n - first) : most;
    primitives_prepare(kind, shapes + first * primitive_rows(kind), count, prepared);
    status = run_pairs(d, kind, &b, rays, prepared, first, count, intervals);
  }
  objects_release_buffer(&b.rays);
  objects_release_buffer(&b.shapes);
  objects_release_buffer(&b.intervals);
  free(prepared);
  return status;
}
