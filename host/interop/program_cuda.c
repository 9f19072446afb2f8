/* Kernels of the user's programs by CUDA, and their parameters. */
#include <stdlib.h>

#include "base/arithmetic.h"
#include "cuda/cuda.h"
#include "device/backend.h"
#include "gpu/launch.h"
#include "interop/backend_check.h"
#include "interop/program.h"
#include "slabcast_cuda.h"

/* The parameters of a kernel that are the scene. */
typedef struct parameter_values {
  cast_uniforms cast;
  CUdeviceptr buffers[1 + 2 * SCENE_BUFFERS];
} parameter_values;

slab_status slab_program_function(slab_program *of, const char *name, CUfunction *function) {
  const char *missing = of == NULL ? "program" : name == NULL ? "name" : function == NULL ? "function" : NULL;
  CUfunction found = NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_program_function: %s is NULL", missing);
  slab_status status = check_backend("slab_program_function", of->context, &cuda_backend);
  if (status == SLAB_OK) status = cuda_function(of->built, name, &found);
  if (status != SLAB_OK) return status;
  device *d = program_device(of->context);
  os_mutex_lock(&d->lock);
  if (program_place(of, found) == NULL) status = fail_memory(sizeof(bound_kernel), "a kernel");
  os_mutex_unlock(&d->lock);
  if (status == SLAB_OK) *function = found;
  return status;
}

/* The program that has given the function. */
static slab_status find(const binder *by, const device *d, slab_program **found) {
  for (slab_program *p = gpu_of(d)->traced; p != NULL; p = p->next)
    for (const bound_kernel *b = p->bound; b != NULL; b = b->next)
      if (b->kernel == by->kernel) *found = p;
  return SLAB_OK;
}

/* Where a call gives the parameters. */
typedef struct told_parameters {
  void **list;
  unsigned count;
} told_parameters;

static slab_status set(const binder *by, const device_scene *on, bound_kernel *place) {
  gpu_buffer *buffers[1 + 2 * SCENE_BUFFERS];
  told_parameters *told = by->call;
  if (place->values == NULL) place->values = malloc(sizeof(parameter_values));
  if (place->values == NULL) return fail_memory(sizeof(parameter_values), "a kernel's parameters");
  parameter_values *values = place->values;
  const uint32_t n = launch_trace_buffers(on, buffers);
  values->cast = on->scene->uniforms;
  told->list[0] = &values->cast;
  for (uint32_t i = 0; i < n; i++) {
    values->buffers[i] = buffers[i] != NULL ? buffers[i]->at : 0;
    told->list[1 + i] = &values->buffers[i];
  }
  told->count = 1 + n;
  return SLAB_OK;
}

slab_status slab_scene_bind_cuda(slab_scene *scene, CUfunction function, void **parameters, unsigned *count) {
  ARITHMETIC callers = arithmetic_begin();
  told_parameters told = {parameters, 0};
  const binder by = {"slab_scene_bind_cuda", function, &cuda_backend, find, set, &told};
  if (parameters == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_bind_cuda: parameters is NULL");
  const slab_status status = program_bind(scene, &by);
  if (count != NULL && status == SLAB_OK) *count = told.count;
  return status;
}
