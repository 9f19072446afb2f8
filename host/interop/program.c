/* The caller's own kernels on a scene: programs that trace rays, and the scenes that their kernels are bound to. */
#include "interop/program.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "device/backend.h"
#include "device/context.h"
#include "gpu/launch.h"
#include "interop/backend_check.h"

/* ---- creating ---- */

static slab_status check_queries(uint32_t queries) {
  const uint32_t known = (1u << SLAB_QUERY_COUNT) - 1;
  if (queries == 0) return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: queries is 0");
  if ((queries & ~known) != 0)
    return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: queries is 0x%x, with bits of no slab_query", queries);
  return SLAB_OK;
}

/* Whether a scene lies where kernels of the user's can be built. */
static slab_status check_scene(const slab_scene *scene) {
  const slab_status status = scene_check(scene, "slab_program_create");
  if (status != SLAB_OK) return status;
  const device *d = program_device(scene->context);
  if (d->backend == &opencl_backend || d->backend == &cuda_backend) return SLAB_OK;
  return fail(SLAB_UNSUPPORTED, "slab_program_create: \"%s\" is neither an OpenCL device nor a card by CUDA",
              d->info.name);
}

static slab_status key_of(slab_scene *scene, program_key *key) {
  scene_reading reading;
  const slab_status status = scene_enter(scene, "slab_program_create", &reading);
  if (status != SLAB_OK) return status;
  const device_scene on = device_scene_of(reading.scene, 0);
  *key = launch_trace_key(&on);
  scene_leave(&reading);
  return SLAB_OK;
}

static void enlist(slab_program *p) {
  device *d = program_device(p->context);
  os_mutex_lock(&d->lock);
  p->next = gpu_of(d)->traced;
  gpu_of(d)->traced = p;
  os_mutex_unlock(&d->lock);
}

slab_status slab_program_create(slab_scene *scene, const char *source, const char *options, uint32_t queries,
                                slab_program **made) {
  ARITHMETIC callers = arithmetic_begin();
  program_key key;
  if (made != NULL) *made = NULL;
  const char *missing = scene == NULL ? "scene" : source == NULL ? "source" : made == NULL ? "program" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_program_create: %s is NULL", missing);
  slab_status status = check_scene(scene);
  if (status == SLAB_OK) status = check_queries(queries);
  if (status == SLAB_OK) status = key_of(scene, &key);
  if (status != SLAB_OK) return status;
  if ((queries >> SLAB_NEAREST & 1) != 0) queries |= 1u << PROGRAM_QUERY(SLAB_NEAREST);
  queries &= ~(1u << SLAB_NEAREST);
  slab_program *p = calloc(1, sizeof *p);
  if (p == NULL) return fail_memory(sizeof *p, "a program");
  p->key = key;
  p->context = scene->context;
  const device *d = program_device(p->context);
  status = driver_of(d)->build_traced(d, &key, queries, source, options != NULL ? options : "", &p->built);
  if (status != SLAB_OK) {
    free(p);
    return status;
  }
  context_retain(p->context);
  enlist(p);
  *made = p;
  return SLAB_OK;
}

void slab_program_destroy(slab_program *p) {
  if (p == NULL) return;
  device *d = program_device(p->context);
  os_mutex_lock(&d->lock);
  slab_program **at = &gpu_of(d)->traced;
  while (*at != p) at = &(*at)->next;
  *at = p->next;
  os_mutex_unlock(&d->lock);
  for (bound_kernel *b = p->bound, *next; b != NULL; b = next) {
    next = b->next;
    scene_let_go(b->scene, &b->held);
    free(b->values);
    free(b);
  }
  if (!is_inherited(d)) driver_of(d)->release_program(p->built);
  context_release(p->context);
  free(p);
}

/* ---- binding ---- */

bound_kernel *program_place(slab_program *p, const void *kernel) {
  bound_kernel *b = p->bound;
  while (b != NULL && b->kernel != kernel) b = b->next;
  if (b != NULL) return b;
  b = calloc(1, sizeof *b);
  if (b == NULL) return NULL;
  b->kernel = kernel;
  b->next = p->bound;
  return p->bound = b;
}

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

/* Binds, with the device's lock. last: the kernel's former binding, to be let go without the lock. */
static slab_status bind(const scene_reading *reading, const binder *by, bound_kernel *last) {
  const device_scene on = device_scene_of(reading->scene, 0);
  const program_key wanted = launch_trace_key(&on);
  slab_program *of = NULL;
  slab_status status = by->find(by, on.device, &of);
  if (status != SLAB_OK) return status;
  if (of == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the kernel is of no program of slab_program_create", by->function);
  const char *why = unlike(&of->key, &wanted);
  if (why != NULL)
    return fail(SLAB_INVALID_ARGUMENT,
                "%s: the scene %s, unlike that which the kernel's program was built for: create it anew", by->function,
                why);
  bound_kernel *place = program_place(of, by->kernel);
  if (place == NULL) return fail_memory(sizeof *place, "a kernel");
  gpu_lend(&on);
  status = by->set(by, &on, place);
  if (status != SLAB_OK) return status;
  *last = *place;
  place->scene = reading->of;
  scene_hold(reading, &place->held);
  return SLAB_OK;
}

slab_status program_bind(slab_scene *scene, const binder *by) {
  scene_reading reading;
  bound_kernel last = {.held = NULL};
  const char *missing = scene == NULL ? "scene" : by->kernel == NULL ? "kernel" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", by->function, missing);
  slab_status status = scene_check(scene, by->function);
  if (status != SLAB_OK) return status;
  status = check_backend(by->function, scene->context, by->backend);
  if (status == SLAB_OK) status = scene_enter(scene, by->function, &reading);
  if (status != SLAB_OK) return status;
  device *d = program_device(scene->context);
  os_mutex_lock(&d->lock);
  status = bind(&reading, by, &last);
  os_mutex_unlock(&d->lock);
  scene_leave(&reading);
  scene_let_go(last.scene, &last.held);
  return status;
}
