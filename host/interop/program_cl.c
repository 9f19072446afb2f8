/* The caller's own kernels on a scene: programs that trace rays, and what their kernels are bound to. */
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/plural.h"
#include "device/backend.h"
#include "device/context.h"
#include "gpu/launch.h"
#include "interop/on_opencl.h"
#include "opencl/opencl.h"
#include "opencl/trace.h"
#include "scene/scene.h"
#include "slabcast_cl.h"

/* What a kernel is bound to. */
typedef struct bound_kernel {
  cl_kernel kernel;
  slab_scene *scene;
  snapshot *held;
  struct bound_kernel *next;
} bound_kernel;

/* One in the list of its device. */
struct slab_program {
  slab_context *context;
  program_key key; /* what it was built for */
  cl_program built;
  bound_kernel *bound; /* guarded by the device's lock, as the list is */
  slab_program *next;
};

static device *device_of(const slab_context *context) { return (device *)&context->devices[0]; }

/* ---- creating ---- */

/* Options that change what + - * and comparisons give, in the functions that the program calls too. */
static slab_status check_options(const char *options) {
  static const char *const refused[] = {"-cl-fast-relaxed-math",        "-cl-unsafe-math-optimizations",
                                        "-cl-finite-math-only",         "-cl-denorms-are-zero",
                                        "-cl-no-signed-zeros",          "-cl-mad-enable",
                                        "-cl-single-precision-constant"};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++)
    if (strstr(options, refused[i]) != NULL)
      return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: option %s changes the arithmetic of tracing",
                  refused[i]);
  return SLAB_OK;
}

static slab_status check_queries(uint32_t queries) {
  const uint32_t known = (1u << SLAB_QUERY_COUNT) - 1;
  if (queries == 0) return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: queries is 0");
  if ((queries & ~known) != 0)
    return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: queries is 0x%x, with bits of no slab_query", queries);
  return SLAB_OK;
}

static slab_status check_scene(const char *function, const slab_scene *scene) {
  const slab_status status = scene_check(scene, function);
  return status == SLAB_OK ? check_on_opencl(function, scene->context) : status;
}

static slab_status key_of(slab_scene *scene, const char *function, program_key *key) {
  scene_reading reading;
  const slab_status status = scene_enter(scene, function, &reading);
  if (status != SLAB_OK) return status;
  const device_scene on = device_scene_of(reading.scene, 0);
  *key = launch_trace_key(&on);
  scene_leave(&reading);
  return SLAB_OK;
}

static void enlist(slab_program *p) {
  device *d = device_of(p->context);
  os_mutex_lock(&d->lock);
  p->next = cl_of(d)->traces;
  cl_of(d)->traces = p;
  os_mutex_unlock(&d->lock);
}

slab_status slab_program_create(slab_scene *scene, const char *source, const char *options, uint32_t queries,
                                slab_program **made) {
  ARITHMETIC callers = arithmetic_begin();
  program_key key;
  if (made != NULL) *made = NULL;
  const char *missing = scene == NULL ? "scene" : source == NULL ? "source" : made == NULL ? "program" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: %s is NULL", missing);
  if (options == NULL) options = "";
  slab_status status = check_scene("slab_program_create", scene);
  if (status == SLAB_OK) status = check_options(options);
  if (status == SLAB_OK) status = check_queries(queries);
  if (status == SLAB_OK) status = key_of(scene, "slab_program_create", &key);
  if (status != SLAB_OK) return status;
  if ((queries >> SLAB_NEAREST & 1) != 0) queries |= 1u << PROGRAM_QUERY(SLAB_NEAREST);
  queries &= ~(1u << SLAB_NEAREST);
  slab_program *p = calloc(1, sizeof *p);
  if (p == NULL) return fail_memory(sizeof *p, "a program");
  p->key = key;
  p->context = scene->context;
  status = trace_build(device_of(scene->context), &key, queries, source, options, &p->built);
  if (status != SLAB_OK) {
    free(p);
    return status;
  }
  context_retain(p->context);
  enlist(p);
  *made = p;
  return SLAB_OK;
}

slab_status slab_program_kernel(const slab_program *of, const char *name, cl_kernel *kernel) {
  cl_int code;
  const char *missing = of == NULL ? "program" : name == NULL ? "name" : kernel == NULL ? "kernel" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_program_kernel: %s is NULL", missing);
  *kernel = clCreateKernel(of->built, name, &code);
  if (*kernel != NULL) return SLAB_OK;
  if (code == CL_INVALID_KERNEL_NAME)
    return fail(SLAB_INVALID_ARGUMENT, "slab_program_kernel: the program has no kernel \"%s\"", name);
  return fail_cl(code, "clCreateKernel", name);
}

void slab_program_destroy(slab_program *p) {
  if (p == NULL) return;
  device *d = device_of(p->context);
  os_mutex_lock(&d->lock);
  slab_program **at = &cl_of(d)->traces;
  while (*at != p) at = &(*at)->next;
  *at = p->next;
  os_mutex_unlock(&d->lock);
  for (bound_kernel *b = p->bound, *next; b != NULL; b = next) {
    next = b->next;
    scene_let_go(b->scene, &b->held);
    free(b);
  }
  if (!is_inherited(d)) clReleaseProgram(p->built);
  context_release(p->context);
  free(p);
}

/* ---- binding ---- */

/* Why a program does not serve a scene; NULL: it does. */
static const char *unlike(const program_key *built, const program_key *wanted) {
  const bool has_bvh = wanted->source != PROGRAM_FLAT;
  if ((built->source != PROGRAM_FLAT) != has_bvh) return has_bvh ? "has a BVH now" : "has no BVH now";
  if (built->source != wanted->source) return "has another layout";
  if (built->instances != wanted->instances) return wanted->instances ? "has instances" : "has no instances";
  if (built->cut != wanted->cut) return wanted->cut ? "lies in several buffers now" : "lies in one buffer now";
  if ((wanted->kinds & ~built->kinds) != 0) return "has primitives of another kind";
  return wanted->stack > built->stack ? "has a deeper BVH" : NULL;
}

/* The program of a kernel. The device's lock is held. */
static slab_status program_of_kernel(const device *d, cl_kernel kernel, slab_program **found) {
  cl_program of = NULL;
  cl_context context = NULL;
  cl_int code = clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(cl_program), &of, NULL);
  if (code == CL_SUCCESS) code = clGetKernelInfo(kernel, CL_KERNEL_CONTEXT, sizeof(cl_context), &context, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetKernelInfo", "slab_scene_bind");
  if (context != cl_of(d)->context)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_bind: the kernel is of another context than the scene");
  slab_program *p = cl_of(d)->traces;
  while (p != NULL && p->built != of) p = p->next;
  *found = p;
  return p != NULL ? SLAB_OK
                   : fail(SLAB_INVALID_ARGUMENT, "slab_scene_bind: the kernel is of no program of slab_program_create");
}

/* Whether the scene's parameters are where they are said to be. Their types tell little, so the first one's name does.
 */
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

static slab_status set(const device_scene *on, cl_kernel kernel, cl_uint first, cl_uint *count) {
  gpu_buffer *buffers[1 + 2 * SCENE_BUFFERS];
  const uint32_t n = launch_trace_buffers(on, buffers);
  *count = 1 + n;
  slab_status status = check_parameters(kernel, first, *count);
  gpu_argument argument = {.size = sizeof on->scene->uniforms, .value = &on->scene->uniforms};
  for (uint32_t i = 0; status == SLAB_OK && i < *count; i++) {
    if (i > 0) argument = (gpu_argument){.buffer = buffers[i - 1]};
    status = driver_of(on->device)->set(kernel_of(kernel), first + i, &argument, "slab_scene_bind");
  }
  return status;
}

/* The place for what a kernel is bound to. */
static bound_kernel *place_of(slab_program *p, cl_kernel kernel) {
  bound_kernel *b = p->bound;
  while (b != NULL && b->kernel != kernel) b = b->next;
  if (b != NULL) return b;
  b = calloc(1, sizeof *b);
  if (b == NULL) return NULL;
  b->kernel = kernel;
  b->next = p->bound;
  return p->bound = b;
}

/* Binds, with the device's lock. last: what the kernel was bound to, to be let go without the lock. */
static slab_status bind(const scene_reading *reading, cl_kernel kernel, cl_uint first, cl_uint *count,
                        bound_kernel *last) {
  const device_scene on = device_scene_of(reading->scene, 0);
  const program_key wanted = launch_trace_key(&on);
  slab_program *of = NULL;
  slab_status status = program_of_kernel(on.device, kernel, &of);
  if (status != SLAB_OK) return status;
  const char *why = unlike(&of->key, &wanted);
  if (why != NULL)
    return fail(SLAB_INVALID_ARGUMENT,
                "slab_scene_bind: the scene %s, unlike that which the kernel's program was built for: create it anew",
                why);
  bound_kernel *place = place_of(of, kernel);
  if (place == NULL) return fail_memory(sizeof *place, "a kernel");
  status = set(&on, kernel, first, count);
  if (status != SLAB_OK) return status;
  *last = *place;
  place->scene = reading->of;
  scene_hold(reading, &place->held);
  return SLAB_OK;
}

slab_status slab_scene_bind(slab_scene *scene, cl_kernel kernel, cl_uint first_argument, cl_uint *count) {
  ARITHMETIC callers = arithmetic_begin();
  scene_reading reading;
  bound_kernel last = {.held = NULL};
  cl_uint n = 0;
  const char *missing = scene == NULL ? "scene" : kernel == NULL ? "kernel" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_bind: %s is NULL", missing);
  slab_status status = check_scene("slab_scene_bind", scene);
  if (status == SLAB_OK) status = scene_enter(scene, "slab_scene_bind", &reading);
  if (status != SLAB_OK) return status;
  device *d = device_of(scene->context);
  os_mutex_lock(&d->lock);
  status = bind(&reading, kernel, first_argument, &n, &last);
  os_mutex_unlock(&d->lock);
  scene_leave(&reading);
  scene_let_go(last.scene, &last.held);
  if (count != NULL && status == SLAB_OK) *count = n;
  return status;
}
