/* The table of the driver, and the functions of it that are one call of OpenCL's. */
#include "opencl/opencl.h"

#include "device/backend.h"

static cl_uint count_of(gpu_order o) { return o.count; }
static const cl_event *after_of(gpu_order o) { return (const cl_event *)o.after; }
static cl_event *done_of(gpu_order o) { return (cl_event *)o.done; }
#define ORDER(order) count_of(order), after_of(order), done_of(order)

static slab_status ended(cl_int code, const char *call, const char *what) {
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, call, what);
}

/* ---- buffers ---- */

static slab_status create(const device *d, gpu_access access, gpu_memory memory, size_t size, void *bytes,
                          const char *what, gpu_buffer **buffer) {
  static const cl_mem_flags accesses[] = {
      [GPU_READ] = CL_MEM_READ_ONLY, [GPU_WRITE] = CL_MEM_WRITE_ONLY, [GPU_READ_WRITE] = CL_MEM_READ_WRITE};
  static const cl_mem_flags memories[] = {[GPU_OWN] = 0,
                                          [GPU_COPY] = CL_MEM_COPY_HOST_PTR,
                                          [GPU_GIVEN] = CL_MEM_USE_HOST_PTR,
                                          [GPU_PINNED] = CL_MEM_ALLOC_HOST_PTR};
  cl_int code;
  const cl_mem created = clCreateBuffer(cl_of(d)->context, accesses[access] | memories[memory], size, bytes, &code);
  *buffer = buffer_of(created);
  return created == NULL ? fail_cl(code, "clCreateBuffer", what) : SLAB_OK;
}

static slab_status retain(gpu_buffer *buffer, const char *what) {
  return ended(clRetainMemObject(mem_of(buffer)), "clRetainMemObject", what);
}

static void release(gpu_buffer *buffer) { clReleaseMemObject(mem_of(buffer)); }

static slab_status write(gpu_queue *queue, gpu_buffer *to, size_t at, const void *bytes, size_t size, bool wait,
                         gpu_order order, const char *what) {
  return ended(clEnqueueWriteBuffer(clqueue_of(queue), mem_of(to), wait, at, size, bytes, ORDER(order)),
               "clEnqueueWriteBuffer", what);
}

static slab_status read(gpu_queue *queue, gpu_buffer *from, size_t at, void *bytes, size_t size, bool wait,
                        gpu_order order, const char *what) {
  return ended(clEnqueueReadBuffer(clqueue_of(queue), mem_of(from), wait, at, size, bytes, ORDER(order)),
               "clEnqueueReadBuffer", what);
}

static slab_status copy(gpu_queue *queue, gpu_rows from, gpu_rows to, size_t size, size_t count, gpu_order order,
                        const char *what) {
  const cl_mem source = mem_of(from.buffer), target = mem_of(to.buffer);
  if (count == 1 || (from.stride == size && to.stride == size))
    return ended(clEnqueueCopyBuffer(clqueue_of(queue), source, target, from.at, to.at, count * size, ORDER(order)),
                 "clEnqueueCopyBuffer", what);
  const size_t start[3] = {from.at, 0, 0}, begin[3] = {to.at, 0, 0}, region[3] = {size, count, 1};
  return ended(clEnqueueCopyBufferRect(clqueue_of(queue), source, target, start, begin, region, from.stride, 0,
                                       to.stride, 0, ORDER(order)),
               "clEnqueueCopyBufferRect", what);
}

static slab_status map(gpu_queue *queue, gpu_buffer *buffer, gpu_access access, size_t at, size_t size, bool wait,
                       gpu_order order, const char *what, void **mapped) {
  static const cl_map_flags flags[] = {
      [GPU_READ] = CL_MAP_READ, [GPU_WRITE] = CL_MAP_WRITE, [GPU_READ_WRITE] = CL_MAP_READ | CL_MAP_WRITE};
  cl_int code;
  *mapped = clEnqueueMapBuffer(clqueue_of(queue), mem_of(buffer), wait, flags[access], at, size, ORDER(order), &code);
  return *mapped == NULL ? fail_cl(code, "clEnqueueMapBuffer", what) : SLAB_OK;
}

static slab_status unmap(gpu_queue *queue, gpu_buffer *buffer, void *mapped, const char *what) {
  return ended(clEnqueueUnmapMemObject(clqueue_of(queue), mem_of(buffer), mapped, 0, NULL, NULL),
               "clEnqueueUnmapMemObject", what);
}

/* ---- kernels ---- */

static void release_program(gpu_program *built) { clReleaseProgram((cl_program)built); }

static void release_kernel(gpu_kernel *kernel) { clReleaseKernel((cl_kernel)kernel); }

static slab_status set(gpu_kernel *kernel, uint32_t nth, const gpu_argument *a, const char *what) {
  const cl_mem buffer = mem_of(a->buffer);
  const bool is_value = a->size > 0;
  return ended(clSetKernelArg((cl_kernel)kernel, nth, is_value ? a->size : sizeof buffer,
                              is_value         ? a->value
                              : buffer != NULL ? &buffer
                                               : NULL),
               "clSetKernelArg", what);
}

static slab_status launch(gpu_queue *queue, gpu_kernel *kernel, size_t items, size_t group, gpu_order order,
                          const char *what) {
  return ended(clEnqueueNDRangeKernel(clqueue_of(queue), (cl_kernel)kernel, 1, NULL, &items, &group, ORDER(order)),
               "clEnqueueNDRangeKernel", what);
}

/* ---- order ---- */

static slab_status mark(gpu_queue *queue, gpu_order order, const char *what) {
  return ended(clEnqueueMarkerWithWaitList(clqueue_of(queue), ORDER(order)), "clEnqueueMarkerWithWaitList", what);
}

static slab_status flush(gpu_queue *queue, const char *what) {
  return ended(clFlush(clqueue_of(queue)), "clFlush", what);
}

static slab_status finish(gpu_queue *queue, const char *what) {
  return ended(clFinish(clqueue_of(queue)), "clFinish", what);
}

static slab_status wait(gpu_event *const *events, uint32_t count, const char *what) {
  return ended(clWaitForEvents(count, (const cl_event *)events), "clWaitForEvents", what);
}

static void release_event(gpu_event *event) { clReleaseEvent((cl_event)event); }

static const gpu_driver opencl_driver = {
    .list = opencl_list,
    .open = opencl_open,
    .close = opencl_close,
    .create = create,
    .retain = retain,
    .release = release,
    .write = write,
    .read = read,
    .copy = copy,
    .map = map,
    .unmap = unmap,
    .alike = opencl_alike,
    .build = opencl_build,
    .build_traced = opencl_build_traced,
    .release_program = release_program,
    .kernel = opencl_kernel,
    .release_kernel = release_kernel,
    .set = set,
    .launch = launch,
    .create_queue = objects_queue,
    .release_queue = opencl_release_queue,
    .mark = mark,
    .flush = flush,
    .finish = finish,
    .wait = wait,
    .release_event = release_event,
};

const backend opencl_backend = GPU_BACKEND(opencl_driver, false);
