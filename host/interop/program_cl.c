/* Kernels of the user's programs by OpenCL, and their arguments. */
#include <string.h>

#include "base/arithmetic.h"
#include "base/plural.h"
#include "device/backend.h"
#include "gpu/launch.h"
#include "interop/backend_check.h"
#include "interop/program.h"
#include "opencl/opencl.h"
#include "slabcast_cl.h"

slab_status slab_program_kernel(const slab_program *of, const char *name, cl_kernel *kernel) {
  cl_int code;
  const char *missing = of == NULL ? "program" : name == NULL ? "name" : kernel == NULL ? "kernel" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_program_kernel: %s is NULL", missing);
  const slab_status status = check_backend("slab_program_kernel", of->context, &opencl_backend);
  if (status != SLAB_OK) return status;
  *kernel = clCreateKernel((cl_program)of->built, name, &code);
  if (*kernel != NULL) return SLAB_OK;
  if (code == CL_INVALID_KERNEL_NAME)
    return fail(SLAB_INVALID_ARGUMENT, "slab_program_kernel: the program has no kernel \"%s\"", name);
  return fail_cl(code, "clCreateKernel", name);
}

/* Where in a kernel's parameters the scene begins, and how many are its. */
typedef struct scene_parameters {
  cl_uint first, count;
} scene_parameters;

static slab_status find(const binder *by, const device *d, slab_program **found) {
  cl_kernel kernel = (cl_kernel)by->kernel;
  cl_program of = NULL;
  cl_context context = NULL;
  cl_int code = clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(cl_program), &of, NULL);
  if (code == CL_SUCCESS) code = clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof(cl_context), &context, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetKernelInfo", by->function);
  if (context != cl_of(d)->context)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the kernel is of another context than the scene", by->function);
  *found = gpu_of(d)->traced;
  while (*found != NULL && (*found)->built != (gpu_program *)of) *found = (*found)->next;
  return SLAB_OK;
}

/* Whether the scene's parameters are where they are said to be. Their types show little, so the first one's name
 * decides. */
static slab_status check_parameters(cl_kernel kernel, cl_uint first, cl_uint count) {
  cl_uint has = 0;
  char name[64] = "";
  const cl_int code = clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof has, &has, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetKernelInfo", "slab_scene_bind");
  if (first > has || has - first < count)
    return fail(SLAB_INVALID_ARGUMENT,
                "slab_scene_bind: the kernel has %u parameter%s, and the scene takes %u from %u on "
                "(SLAB_SCENE_PARAMETERS)",
                has, plural(has, "", "s"), count, first);
  const cl_int told = clGetKernelArgInfo(kernel, first, CL_KERNEL_ARG_NAME, sizeof name, name, NULL);
  if (told == CL_KERNEL_ARG_INFO_NOT_AVAILABLE || strcmp(name, "slab_cast") == 0) return SLAB_OK;
  if (told != CL_SUCCESS) return fail_cl(told, "clGetKernelArgInfo", "slab_scene_bind");
  return fail(SLAB_INVALID_ARGUMENT,
              "slab_scene_bind: parameter %u of the kernel is \"%s\": SLAB_SCENE_PARAMETERS do not begin there", first,
              name);
}

static slab_status set(const binder *by, const device_scene *on, bound_kernel *place) {
  gpu_buffer *buffers[1 + 2 * SCENE_BUFFERS];
  scene_parameters *call = by->call;
  cl_kernel kernel = (cl_kernel)place->kernel;
  call->count = 1 + launch_trace_buffers(on, buffers);
  slab_status status = check_parameters(kernel, call->first, call->count);
  gpu_argument argument = {.size = sizeof on->scene->uniforms, .value = &on->scene->uniforms};
  for (uint32_t i = 0; status == SLAB_OK && i < call->count; i++) {
    if (i > 0) argument = (gpu_argument){.buffer = buffers[i - 1]};
    status = driver_of(on->device)->set(kernel_of(kernel), call->first + i, &argument, by->function);
  }
  return status;
}

slab_status slab_scene_bind(slab_scene *scene, cl_kernel kernel, cl_uint first_argument, cl_uint *count) {
  ARITHMETIC callers = arithmetic_begin();
  scene_parameters call = {first_argument, 0};
  const binder by = {"slab_scene_bind", kernel, &opencl_backend, find, set, &call};
  const slab_status status = program_bind(scene, &by);
  if (count != NULL && status == SLAB_OK) *count = call.count;
  return status;
}
