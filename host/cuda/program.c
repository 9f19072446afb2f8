/* Builds programs from PTX, and runs their kernels. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/ptx.h"

/* Arguments of a kernel at most. */
enum { ARGUMENTS_MOST = 20 };

struct gpu_program {
  CUcontext context;
  CUmodule module;
};

typedef union argument {
  CUdeviceptr buffer;
  unsigned char bytes[sizeof(gpu_value)];
} argument;

struct gpu_kernel {
  CUfunction function;
  argument values[ARGUMENTS_MOST];
};

/* ---- building ---- */

/* The card's driver keeps its translations, so an equal card's program is found there. */
bool cuda_alike(const device *d, const device *other, const program_key *key) {
  (void)d, (void)other, (void)key;
  return false;
}

static slab_status load_module(const device *d, const void *image, CUmodule *module) {
  char log[4096] = "";
  int names[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void *values[] = {log, (void *)(uintptr_t)(sizeof log - 1)};
  const CUresult code = cuda_call.cuModuleLoadDataEx(module, image, 2, names, values);
  if (code == CUDA_SUCCESS) return SLAB_OK;
  const slab_status status = fail_cuda(code, "cuModuleLoadDataEx", d->info.name);
  return status == SLAB_OUT_OF_MEMORY
             ? status
             : fail(SLAB_BUILD_FAILED, "cuModuleLoadDataEx failed (%d) on \"%s\":\n%s", code, d->info.name, log);
}

slab_status cuda_load_program(const device *d, const void *image, gpu_program **built) {
  gpu_program *made = calloc(1, sizeof *made);
  if (made == NULL) return fail_memory(sizeof *made, "a program");
  made->context = cuda_of(d)->context;
  slab_status status = cuda_enter(made->context, d->info.name);
  if (status == SLAB_OK) {
    status = load_module(d, image, &made->module);
    cuda_leave();
  }
  if (status == SLAB_OK)
    *built = made;
  else
    free(made);
  return status;
}

slab_status cuda_build(const device *d, const program_key *key, gpu_program *like, gpu_program **built) {
  char *text;
  (void)like;
  slab_status status = ptx_text(key, &text);
  if (status != SLAB_OK) return status;
  status = cuda_load_program(d, text, built);
  free(text);
  return status;
}

void cuda_release_program(gpu_program *built) {
  if (cuda_enter(built->context, NULL) == SLAB_OK) {
    cuda_call.cuModuleUnload(built->module);
    cuda_leave();
  }
  free(built);
}

/* ---- kernels ---- */

slab_status cuda_function(gpu_program *of, const char *name, CUfunction *function) {
  slab_status status = cuda_enter(of->context, name);
  if (status != SLAB_OK) return status;
  const CUresult code = cuda_call.cuModuleGetFunction(function, of->module, name);
  cuda_leave();
  return code == CUDA_ERROR_NOT_FOUND ? fail(SLAB_INVALID_ARGUMENT, "the program has no kernel \"%s\"", name)
                                      : cuda_ended(code, "cuModuleGetFunction", name);
}

slab_status cuda_kernel(const device *d, gpu_program *of, const program_key *key, uint32_t nth, gpu_kernel **made,
                        size_t *group) {
  const char *name = program_kernel_name(key->source, nth);
  int most = 0;
  gpu_kernel *kernel = calloc(1, sizeof *kernel);
  if (kernel == NULL) return fail_memory(sizeof *kernel, "a kernel");
  slab_status status = cuda_enter(of->context, d->info.name);
  if (status == SLAB_OK) {
    status =
        cuda_ended(cuda_call.cuModuleGetFunction(&kernel->function, of->module, name), "cuModuleGetFunction", name);
    if (status == SLAB_OK)
      status =
          cuda_ended(cuda_call.cuFuncGetAttribute(&most, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel->function),
                     "cuFuncGetAttribute", name);
    cuda_leave();
  }
  if (status != SLAB_OK) {
    free(kernel);
    return status;
  }
  *made = kernel;
  *group = (size_t)most;
  return SLAB_OK;
}

void cuda_release_kernel(gpu_kernel *kernel) { free(kernel); }

slab_status cuda_set(gpu_kernel *kernel, uint32_t nth, const gpu_argument *a, const char *what) {
  if (nth >= ARGUMENTS_MOST || a->size > sizeof(argument))
    return fail(SLAB_DEVICE_FAILED, "argument %u of %zu bytes has no space, for %s", nth, a->size, what);
  if (a->size > 0)
    memcpy(kernel->values[nth].bytes, a->value, a->size);
  else
    kernel->values[nth].buffer = a->buffer != NULL ? a->buffer->at : 0;
  return SLAB_OK;
}

slab_status cuda_launch(gpu_queue *queue, gpu_kernel *kernel, size_t items, size_t group, gpu_order order,
                        const char *what) {
  gpu_event *done;
  void *parameters[ARGUMENTS_MOST];
  for (int i = 0; i < ARGUMENTS_MOST; i++) parameters[i] = &kernel->values[i];
  slab_status status = cuda_begin_command(queue, &order, &done, what);
  if (status != SLAB_OK) return status;
  status = cuda_ended(cuda_call.cuLaunchKernel(kernel->function, (unsigned)(items / group), 1, 1, (unsigned)group, 1, 1,
                                               0, queue->stream, parameters, NULL),
                      "cuLaunchKernel", what);
  return cuda_end_command(queue, &order, done, status, what);
}
