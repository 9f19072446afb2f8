/* Builds kernels from their embedded source, once for each specialisation.
 *
 * Building takes seconds, so the device's lock is not held meanwhile. Casts whose kernels are ready continue, and
 * threads that need different programs build them in parallel. A thread that needs a program that is being built waits
 * for that build. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "opencl/buffers.h"
#include "opencl/opencl.h"
#include "opencl/program.h"
#include "os/thread.h"

#define OPTIONS_SIZE 512

static const struct {
  const char *const *text;
  const unsigned *count; /* strings of text */
  const char *kernels[PROGRAM_KERNELS];
} sources[] = {
    [PROGRAM_FLAT] = {embedded_flat, &embedded_flat_count, {"flat"}},
    [PROGRAM_WIDE] = {embedded_wide,
                      &embedded_wide_count,
                      {[KERNEL_MAIN] = "wide", [KERNEL_INTERLEAVED] = "interleaved"}},
    [PROGRAM_COMPRESSED] = {embedded_compressed, &embedded_compressed_count, {"compressed"}},
    [PROGRAM_PACKET] = {embedded_packet, &embedded_packet_count, {"packets"}},
    [PROGRAM_ATTRIBUTES] = {embedded_attributes, &embedded_attributes_count, {"attributes"}},
    [PROGRAM_PAIRS] = {embedded_pairs, &embedded_pairs_count, {"pairs"}},
    [PROGRAM_REFIT] = {embedded_refit,
                       &embedded_refit_count,
                       {[KERNEL_PLACES] = "places", [KERNEL_TRIANGLES] = "triangles", [KERNEL_NODES] = "nodes"}},
};

/* Primitives per block that a program reads. Wide BVHs have 8 at most. */
static uint32_t program_lanes(const device *d, program_source source) {
  if (source == PROGRAM_PAIRS || source == PROGRAM_COMPRESSED || source == PROGRAM_REFIT) return 1;
  if (source == PROGRAM_FLAT) return flat_lanes(d);
  return source == PROGRAM_WIDE && d->info.lane_width > BVH_WIDTH ? BVH_WIDTH : d->info.lane_width;
}

/* Options for correctly rounded quotients and roots, see lanes/scalar.h. */
static const char *division_of(const device *d) {
  if (d->info.exact_divide) return " -cl-fp32-correctly-rounded-divide-sqrt";
  return cl_of(d)->has_double ? " -DSLAB_DIVIDE_THROUGH_DOUBLE" : " -DSLAB_DIVIDE_BY_INTEGERS";
}

/* Rays in flight per work-item. Rays are interleaved only where lanes hold a node's children. */
static uint32_t rays_in_flight(const device *d, const program_key *key) {
  return key->source == PROGRAM_WIDE && program_lanes(d, PROGRAM_WIDE) == BVH_WIDTH ? d->tuning->in_flight : 1;
}

/* Rays per ray pair: 2 where registers hold the lanes of both rays. It needs exact_divide, because the emulated
 * division is written for the lanes of one ray. Through instances pairs take 1.04 times as long (native, AVX-512). */
static uint32_t rays_paired(const device *d, const program_key *key) {
  const bool pairs = d->info.lane_width >= 2 * BVH_WIDTH && d->info.exact_divide && !key->instances;
  return pairs && rays_in_flight(d, key) > 1 ? 2 : 1;
}

/* Whether kernels may use inline assembly. Only PoCL is known to support it, and not every version: from 4.0 up to
 * before 7.0 its pass over local memory takes it for a function call and aborts the process (seen with 6.0). */
static bool bears_assembly(const device *d) {
#ifdef __x86_64__
  const unsigned long version = strtoul(d->info.driver, NULL, 10);
  return strstr(d->info.platform, "Portable Computing Language") != NULL && (version < 4 || version >= 7);
#else
  (void)d;
  return false;
#endif
}

/* Options that change the operations of lanes.h. */
static void lane_options(const device *d, char *text, size_t size) {
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "%s%s%s", division_of(d), d->info.type == SLAB_DEVICE_GPU ? " -DSLAB_FMAX" : "",
           bears_assembly(d) ? " -DSLAB_ASSEMBLY" : "");
}

bool program_has_one_edges(const device *d, program_source source) { return program_lanes(d, source) == 1; }

static void edge_option(const program_key *key, char *text, size_t size) {
  const size_t used = strlen(text);
  if (key->closed) snprintf(text + used, size - used, " -DSLAB_CLOSED");
}

/* Options for a scene that is split over several buffers, see scene_memory.h. */
static void cut_options(const device *d, const program_key *key, char *text, size_t size) {
  const slab_layout layout = key->source == PROGRAM_COMPRESSED ? SLAB_LAYOUT_COMPRESSED : SLAB_LAYOUT_WIDE;
  const size_t used = strlen(text);
  if (!key->cut) return;
  snprintf(text + used, size - used, " -DSLAB_BUFFERS=%d -DSLAB_PART_UNITS=%u -DSLAB_PART_NODES=%u", SCENE_BUFFERS,
           buffers_part_units(d), buffers_part_nodes(d, layout));
}

/* More warps fit where a work-item has fewer registers. Programs of several kinds would spill more of theirs. */
static void register_option(const device *d, const program_key *key, char *text, size_t size) {
  const bool one_kind = (key->kinds & (key->kinds - 1)) == 0;
  const size_t used = strlen(text);
  if (!cl_of(d)->limits_registers || d->tuning->registers == 0) return;
  if (key->source != PROGRAM_COMPRESSED || !one_kind) return;
  snprintf(text + used, size - used, " -cl-nv-maxrregcount=%u", d->tuning->registers);
}

/* SLAB_DEVICE gives each device of a context its own programs, where a driver has several devices of one kind. PoCL
 * counts the launches that use a compiled kernel. It miscounts, and aborts, when launches of one program with different
 * sizes overlap. Launches of one device are on one queue and do not overlap. Equal GPUs have the same value and share
 * their programs. */
static void build_options(const device *d, const program_key *key, char *text, size_t size) {
  snprintf(text, size,
           "-cl-std=CL1.2 -DLANES=%u -DSLAB_QUERY=%d -DSLAB_KINDS=%u -DSLAB_STACK=%u -DSLAB_RAYS=%u -DSLAB_TILE=%u "
           "-DSLAB_IN_FLIGHT=%u -DSLAB_RAY_PAIRS=%u -DSLAB_DEFERRED=%d -DSLAB_INSTANCES=%d -DSLAB_DEVICE=%u",
           program_lanes(d, key->source), (int)key->query, key->kinds, key->stack, d->tuning->rays_each,
           d->tuning->tile, rays_in_flight(d, key), rays_paired(d, key), key->deferred, key->instances,
           cl_of(d)->builder->nth);
  lane_options(d, text, size);
  edge_option(key, text, size);
  cut_options(d, key, text, size);
  register_option(d, key, text, size);
}

static slab_status fail_build(const device *d, cl_program failed, cl_int code, const char *options) {
  char log[8192] = "(no log)";
  clGetProgramBuildInfo(failed, cl_of(d)->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  if (code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES) return fail_cl(code, "clBuildProgram", options);
  return fail(SLAB_BUILD_FAILED, "clBuildProgram failed (%d) on \"%s\" with %s:\n%s", code, d->info.name, options, log);
}

struct program {
  program_key key;
  bool building;                         /* a thread is building it, without holding the lock */
  slab_status status;                    /* status of the last build */
  char message[2048];                    /* message of a failed build, for threads that waited for it */
  cl_program program;                    /* NULL: not built yet, or the build failed */
  ready_kernel kernels[PROGRAM_KERNELS]; /* kernel NULL: not used yet */
  program *next;
};

/* ---- building: without the device's lock ---- */

static slab_status build_text(const device *d, const char *const *text, unsigned count, const char *options,
                              cl_program *built) {
  cl_int code;
  cl_program created = clCreateProgramWithSource(cl_of(d)->context, count, (const char **)text, NULL, &code);
  if (created == NULL) return fail_cl(code, "clCreateProgramWithSource", options);
  code = clBuildProgram(created, 1, &cl_of(d)->id, options, NULL, NULL);
  const slab_status status = code == CL_SUCCESS ? SLAB_OK : fail_build(d, created, code, options);
  if (status == SLAB_OK)
    *built = created;
  else
    clReleaseProgram(created);
  return status;
}

slab_status program_of_probe(const device *d, cl_program *probe) {
  char options[OPTIONS_SIZE];
  snprintf(options, sizeof options, "-cl-std=CL1.2 -DLANES=%u -DSLAB_DEVICE=%u", d->info.lane_width, d->nth);
  lane_options(d, options, sizeof options);
  return build_text(d, embedded_probe, embedded_probe_count, options, probe);
}

/* The binary of a program for one device; malloc'ed, NULL where there is none. */
static unsigned char *binary_of(cl_program of, size_t *size) {
  *size = 0;
  if (clGetProgramInfo(of, CL_PROGRAM_BINARY_SIZES, sizeof *size, size, NULL) != CL_SUCCESS || *size == 0) return NULL;
  unsigned char *binary = malloc(*size);
  if (binary != NULL && clGetProgramInfo(of, CL_PROGRAM_BINARIES, sizeof(unsigned char *), &binary, NULL) == CL_SUCCESS)
    return binary;
  free(binary);
  return NULL;
}

/* Builds from another program's binary. Returns NULL where that fails for any reason; the source is built then. */
static cl_program build_binary(const device *d, cl_program of, const char *options) {
  size_t size;
  cl_int code, taken = CL_SUCCESS;
  unsigned char *binary = binary_of(of, &size);
  if (binary == NULL) return NULL;
  const unsigned char *bytes = binary;
  cl_program created = clCreateProgramWithBinary(cl_of(d)->context, 1, &cl_of(d)->id, &size, &bytes, &taken, &code);
  free(binary);
  if (created == NULL) return NULL;
  if (taken == CL_SUCCESS && clBuildProgram(created, 1, &cl_of(d)->id, options, NULL, NULL) == CL_SUCCESS)
    return created;
  clReleaseProgram(created);
  return NULL;
}

static slab_status program_get(device *, const program_key *, program **got, bool *waited);

/* Gets the program from the builder of an equal GPU, which builds it first where needed. So it is compiled once,
 * whichever device needs it first. Returns NULL where that fails. */
static cl_program build_as_builder(const device *d, const program_key *key, const char *options) {
  char theirs[OPTIONS_SIZE];
  program *p = NULL;
  bool waited;
  build_options(cl_of(d)->builder, key, theirs, sizeof theirs);
  if (strcmp(options, theirs) != 0) return NULL;
  os_mutex_lock(&cl_of(d)->builder->lock);
  const slab_status status = program_get(cl_of(d)->builder, key, &p, &waited);
  os_mutex_unlock(&cl_of(d)->builder->lock);
  return status == SLAB_OK ? build_binary(d, p->program, options) : NULL;
}

static slab_status build(const device *d, const program_key *key, cl_program *built) {
  char options[OPTIONS_SIZE];
  build_options(d, key, options, sizeof options);
  if (cl_of(d)->builder != d) *built = build_as_builder(d, key, options);
  if (*built != NULL) return SLAB_OK;
  return build_text(d, sources[key->source].text, *sources[key->source].count, options, built);
}

/* ---- the programs of a device: with the device's lock ---- */

static bool same_key(const program_key *a, const program_key *b) {
  return a->source == b->source && a->query == b->query && a->kinds == b->kinds && a->stack == b->stack &&
         a->deferred == b->deferred && a->cut == b->cut && a->instances == b->instances && a->closed == b->closed;
}

/* The entry of a program; NULL: it was not requested yet. */
static program *program_known(const device *d, const program_key *key) {
  program *p = cl_of(d)->programs;
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
  p->next = cl_of(d)->programs;
  return cl_of(d)->programs = p;
}

static slab_status program_build(device *d, program *p) {
  cl_program built = NULL;
  p->building = true;
  os_mutex_unlock(&d->lock);
  const slab_status status = build(d, &p->key, &built);
  os_mutex_lock(&d->lock);
  p->building = false;
  p->program = built;
  p->status = status;
  snprintf(p->message, sizeof p->message, "%s", status == SLAB_OK ? "" : slab_message());
  os_condition_broadcast(&cl_of(d)->built);
  return status;
}

/* Waits for another thread's build. Its failure is the failure of all that waited; a later call tries again. */
static slab_status program_await(device *d, const program *p) {
  while (p->building) os_condition_wait(&cl_of(d)->built, &d->lock);
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

/* Creates a kernel. A large kernel's use of registers may allow only smaller groups than the device's maximum. */
static slab_status create_kernel(const device *d, const program *p, const char *name, ready_kernel *made) {
  cl_int code;
  size_t most = 0;
  cl_kernel kernel = clCreateKernel(p->program, name, &code);
  if (kernel == NULL) return fail_cl(code, "clCreateKernel", name);
  code = clGetKernelWorkGroupInfo(kernel, cl_of(d)->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  if (code != CL_SUCCESS) {
    clReleaseKernel(kernel);
    return fail_cl(code, "clGetKernelWorkGroupInfo", name);
  }
  *made = (ready_kernel){.kernel = kernel, .group = most < cl_of(d)->group_most ? most : cl_of(d)->group_most};
  return SLAB_OK;
}

slab_status program_find(device *d, const program_key *key, uint32_t nth, ready_kernel *found) {
  program *p;
  bool waited = false;
  slab_status status = program_get(d, key, &p, &waited);
  if (status != SLAB_OK) return status;
  const bool first_use = waited || p->kernels[nth].kernel == NULL;
  if (p->kernels[nth].kernel == NULL) status = create_kernel(d, p, sources[key->source].kernels[nth], &p->kernels[nth]);
  *found = p->kernels[nth];
  found->first_use = first_use;
  return status;
}

/* A build that takes less time only loaded what the driver has cached. PoCL 3.1: loading takes 0.06 s a program, 0.3 s
 * on a busy machine; compiling takes 1.5 to 3 s. */
#define LOADING_SECONDS 0.5

/* Optional kernels are compiled once casts without them have taken as long as the last compilation. So a process that
 * casts little uses the fewest programs, and one that casts much waits at most twice as long as needed. */
bool program_pays(const device *d, const program_key *key, uint32_t nth) {
  const program *p = program_known(d, key);
  if (p != NULL && p->kernels[nth].kernel != NULL) return true;
  return d->building > 0.0 && (d->building < LOADING_SECONDS || d->casting >= d->building);
}

size_t program_group(const ready_kernel *k, size_t wanted) {
  size_t group = 1;
  if (k->group >= wanted) return wanted;
  while (2 * group <= k->group) group *= 2;
  return group;
}

void programs_free(program *p, bool ours) {
  while (p != NULL) {
    program *next = p->next;
    for (int k = 0; k < PROGRAM_KERNELS; k++)
      if (ours && p->kernels[k].kernel != NULL) clReleaseKernel(p->kernels[k].kernel);
    if (ours && p->program != NULL) clReleaseProgram(p->program);
    free(p);
    p = next;
  }
}
