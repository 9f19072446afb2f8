/* The programs of a device, each built once.
 *
 * Building takes seconds, so the device's lock is not held meanwhile. Casts whose kernels are ready continue, and
 * threads that need different programs build them in parallel. A thread that needs a program that is being built waits
 * for that build. */
#include "gpu/program.h"

#include <stdio.h>
#include <stdlib.h>

#include "layout/layout.h"
#include "os/thread.h"

/* A kernel that is ready for its arguments. */
typedef struct ready_kernel {
  gpu_kernel *kernel; /* NULL: not used yet */
  size_t group;       /* maximum work-items per group */
} ready_kernel;

struct program {
  program_key key;
  bool building;        /* a thread is building it, without holding the lock */
  slab_status status;   /* status of the last build */
  char message[2048];   /* message of a failed build, for threads that waited for it */
  gpu_program *program; /* NULL: not built yet, or the build failed */
  ready_kernel kernels[PROGRAM_KERNELS];
  program *next;
};

const char *program_kernel_name(program_source source, uint32_t nth) {
  static const char *const names[][PROGRAM_KERNELS] = {
      [PROGRAM_FLAT] = {"flat"},
      [PROGRAM_WIDE] = {[KERNEL_MAIN] = "wide", [KERNEL_INTERLEAVED] = "interleaved"},
      [PROGRAM_COMPRESSED] = {"compressed"},
      [PROGRAM_PACKET] = {"packets"},
      [PROGRAM_ATTRIBUTES] = {"attributes"},
      [PROGRAM_PAIRS] = {"pairs"},
      [PROGRAM_RAYS] = {"rays"},
      [PROGRAM_SUMS] = {"sums"},
      [PROGRAM_BOUNDARY] = {"boundary"},
      [PROGRAM_POINTS_FLAT] = {"points_flat"},
      [PROGRAM_POINTS_WIDE] = {"points_wide"},
      [PROGRAM_POINTS_COMPRESSED] = {"points_compressed"},
      [PROGRAM_REFIT] = {[KERNEL_PLACES] = "places", [KERNEL_TRIANGLES] = "triangles", [KERNEL_NODES] = "nodes"},
  };
  return names[source][nth];
}

/* Wide BVHs have 8 at most. */
uint32_t program_lanes(const device *d, program_source source) {
  const bool compressed = source == PROGRAM_COMPRESSED || source == PROGRAM_POINTS_COMPRESSED;
  const bool wide = source == PROGRAM_WIDE || source == PROGRAM_POINTS_WIDE;
  if (program_is_alone(source) || compressed || source == PROGRAM_REFIT) return 1;
  if (source == PROGRAM_FLAT || source == PROGRAM_POINTS_FLAT) return flat_lanes(d);
  return wide && d->info.lane_width > BVH_WIDTH ? BVH_WIDTH : d->info.lane_width;
}

bool program_has_one_edges(const device *d, program_source source) { return program_lanes(d, source) == 1; }

/* ---- building: without the device's lock ---- */

static slab_status program_get(device *, const program_key *, program **got, bool *waited);

/* Gets the program from the builder of an equal GPU, which builds it first where needed. So it is compiled once,
 * whichever device needs it first. Returns NULL where that fails. */
static gpu_program *program_of_builder(const device *d, const program_key *key) {
  device *builder = gpu_of(d)->builder;
  program *p = NULL;
  bool waited;
  if (builder == d || !driver_of(d)->alike(d, builder, key)) return NULL;
  os_mutex_lock(&builder->lock);
  const slab_status status = program_get(builder, key, &p, &waited);
  os_mutex_unlock(&builder->lock);
  return status == SLAB_OK ? p->program : NULL;
}

static slab_status build(const device *d, const program_key *key, gpu_program **built) {
  return driver_of(d)->build(d, key, program_of_builder(d, key), built);
}

/* ---- the programs of a device: with the device's lock ---- */

static bool same_key(const program_key *a, const program_key *b) {
  return a->source == b->source && a->query == b->query && a->kinds == b->kinds && a->stack == b->stack &&
         a->deferred == b->deferred && a->cut == b->cut && a->instances == b->instances && a->own == b->own &&
         a->closed == b->closed && a->counted == b->counted;
}

/* The entry of a program; NULL: it was not requested yet. */
static program *program_known(const device *d, const program_key *key) {
  program *p = gpu_of(d)->programs;
  while (p != NULL && !same_key(&p->key, key)) p = p->next;
  return p;
}

/* The entry of a program, created where needed. It stays at its address until the device is closed, whether or not its
 * builds succeed. Returns NULL where memory is short. */
static program *program_entry(device *d, const program_key *key) {
  program *p = program_known(d, key);
  if (p != NULL) return p;
  p = calloc(1, sizeof *p);
  if (p == NULL) return NULL;
  p->key = *key;
  p->next = gpu_of(d)->programs;
  return gpu_of(d)->programs = p;
}

static slab_status program_build(device *d, program *p) {
  gpu_program *built = NULL;
  p->building = true;
  os_mutex_unlock(&d->lock);
  const slab_status status = build(d, &p->key, &built);
  os_mutex_lock(&d->lock);
  p->building = false;
  p->program = built;
  p->status = status;
  snprintf(p->message, sizeof p->message, "%s", status == SLAB_OK ? "" : slab_message());
  os_condition_broadcast(&gpu_of(d)->built);
  return status;
}

/* Waits for another thread's build. Its failure is the failure of all that waited; a later call tries again. */
static slab_status program_await(device *d, const program *p) {
  while (p->building) os_condition_wait(&gpu_of(d)->built, &d->lock);
  return p->status == SLAB_OK ? SLAB_OK : fail(p->status, "%s", p->message);
}

/* Gets a program, building it or waiting for its build. *waited: it was not ready at once. */
static slab_status program_get(device *d, const program_key *key, program **got, bool *waited) {
  program *p = *got = program_entry(d, key);
  if (p == NULL) return fail_memory(sizeof *p, "a program");
  *waited = p->program == NULL;
  if (p->program != NULL) return SLAB_OK;
  return p->building ? program_await(d, p) : program_build(d, p);
}

/* The kernel of a launch. The lock is kept until the launch, since the arguments are the kernel's. It is released while
 * the program is being built, here or by another thread. */
static slab_status program_find(device *d, const kernel_run *run, ready_kernel *found, bool *first_use) {
  program *p;
  bool waited = false;
  slab_status status = program_get(d, &run->key, &p, &waited);
  if (status != SLAB_OK) return status;
  ready_kernel *own = &p->kernels[run->nth];
  *first_use = *first_use || waited || own->kernel == NULL;
  if (own->kernel == NULL) status = driver_of(d)->kernel(d, p->program, &run->key, run->nth, &own->kernel, &own->group);
  *found = *own;
  return status;
}

/* A build that takes less time only loaded a program that the driver has cached. PoCL 3.1: loading takes 0.06 s per
 * program, 0.3 s on a busy machine; compiling takes 1.5 to 3 s. */
#define LOADING_SECONDS 0.5

/* Optional kernels are compiled once casts without them have taken as long as the last compilation. So a process that
 * casts little uses the fewest programs, and one that casts much waits at most twice as long as needed. */
bool program_pays(const device *d, const program_key *key, uint32_t nth) {
  const program *p = program_known(d, key);
  if (p != NULL && p->kernels[nth].kernel != NULL) return true;
  return d->building > 0.0 && (d->building < LOADING_SECONDS || d->casting >= d->building);
}

/* ---- launching ---- */

/* Work-items per group: `wanted`, or the largest power of two that the kernel allows. */
static size_t program_group(const ready_kernel *k, size_t wanted) {
  size_t group = 1;
  if (k->group >= wanted) return wanted;
  while (2 * group <= k->group) group *= 2;
  return group;
}

slab_status kernel_set(const gpu_driver *driver, gpu_kernel *kernel, const gpu_argument *list, uint32_t count,
                       const char *what) {
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; status == SLAB_OK && i < count; i++) status = driver->set(kernel, i, &list[i], what);
  return status;
}

slab_status program_run(device *d, const kernel_run *run, bool *first_use) {
  const gpu_driver *driver = driver_of(d);
  ready_kernel ready = {0};
  os_mutex_lock(&d->lock);
  slab_status status = program_find(d, run, &ready, first_use);
  if (status == SLAB_OK) status = kernel_set(driver, ready.kernel, run->arguments, run->count, run->what);
  if (status == SLAB_OK) {
    const size_t group = program_group(&ready, run->group), items = (run->items + group - 1) / group * group;
    status = driver->launch(run->queue, ready.kernel, items, group, run->order, run->what);
  }
  os_mutex_unlock(&d->lock);
  return status;
}

/* A process that has inherited them does not release them. */
void programs_free(const device *d, program *p) {
  const bool ours = !is_inherited(d);
  while (p != NULL) {
    program *next = p->next;
    for (int k = 0; k < PROGRAM_KERNELS; k++)
      if (ours && p->kernels[k].kernel != NULL) driver_of(d)->release_kernel(p->kernels[k].kernel);
    if (ours && p->program != NULL) driver_of(d)->release_program(p->program);
    free(p);
    p = next;
  }
}
