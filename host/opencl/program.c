/* Builds kernels from their embedded source, specialised by options of the compiler. */
#include "opencl/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/embedded.h"
#include "gpu/buffers.h"
#include "opencl/opencl.h"

/* The text of each program, and its number of strings. */
static const struct {
  const char *const *text;
  const unsigned *count;
} sources[] = {
    [PROGRAM_FLAT] = {embedded_flat, &embedded_flat_count},
    [PROGRAM_WIDE] = {embedded_wide, &embedded_wide_count},
    [PROGRAM_COMPRESSED] = {embedded_compressed, &embedded_compressed_count},
    [PROGRAM_PACKET] = {embedded_packet, &embedded_packet_count},
    [PROGRAM_ATTRIBUTES] = {embedded_attributes, &embedded_attributes_count},
    [PROGRAM_PAIRS] = {embedded_pairs, &embedded_pairs_count},
    [PROGRAM_RAYS] = {embedded_rays, &embedded_rays_count},
    [PROGRAM_SUMS] = {embedded_sums, &embedded_sums_count},
    [PROGRAM_BOUNDARY] = {embedded_boundary, &embedded_boundary_count},
    [PROGRAM_POINTS_FLAT] = {embedded_points_flat, &embedded_points_flat_count},
    [PROGRAM_POINTS_WIDE] = {embedded_points_wide, &embedded_points_wide_count},
    [PROGRAM_POINTS_COMPRESSED] = {embedded_points_compressed, &embedded_points_compressed_count},
    [PROGRAM_REFIT] = {embedded_refit, &embedded_refit_count},
};

/* Options for correctly rounded quotients and roots, see lanes/scalar.h. */
static const char *division_of(const device *d) {
  if (d->info.exact_divide) return " -cl-fp32-correctly-rounded-divide-sqrt";
  return cl_of(d)->has_double ? " -DSLAB_DIVIDE_THROUGH_DOUBLE" : " -DSLAB_DIVIDE_BY_INTEGERS";
}

/* Walkers per work-item. Rays are interleaved only where lanes hold a node's children, and not where a buffer
 * holds their number: such casts are slab_enqueue's, one ray after the other. */
static uint32_t walkers(const device *d, const program_key *key) {
  const bool one_by_one = key->own || key->counted;
  const bool interleaves = key->source == PROGRAM_WIDE && !one_by_one && program_lanes(d, PROGRAM_WIDE) == BVH_WIDTH;
  return interleaves ? d->tuning->walkers : 1;
}

/* Rays per ray pair: 2 where registers hold the lanes of both rays. It needs exact_divide, because the emulated
 * division is written for the lanes of one ray. Through instances pairs take 1.04 times as long (native, AVX-512). */
static uint32_t rays_paired(const device *d, const program_key *key) {
  const bool pairs = d->info.lane_width >= 2 * BVH_WIDTH && d->info.exact_divide && !key->instances;
  return pairs && walkers(d, key) > 1 ? 2 : 1;
}

/* Whether kernels may use inline assembly. Only PoCL is known to support it, and not every version. From 4.0 up to
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

static void variant_options(const program_key *key, char *text, size_t size) {
  const size_t used = strlen(text);
  snprintf(text + used, size - used, "%s%s%s", key->closed ? " -DSLAB_CLOSED" : "", key->own ? " -DSLAB_OWN=1" : "",
           key->counted ? " -DSLAB_COUNTED" : "");
}

/* Options for a scene that is split over several buffers, see scene_memory.h. */
static void cut_options(const device *d, const program_key *key, char *text, size_t size) {
  const bool compressed = key->source == PROGRAM_COMPRESSED || key->source == PROGRAM_POINTS_COMPRESSED;
  const slab_layout layout = compressed ? SLAB_LAYOUT_COMPRESSED : SLAB_LAYOUT_WIDE;
  const size_t used = strlen(text);
  if (!key->cut) return;
  snprintf(text + used, size - used, " -DSLAB_BUFFERS=%d -DSLAB_PART_UNITS=%u -DSLAB_PART_NODES=%u", SCENE_BUFFERS,
           buffers_part_units(d), buffers_part_nodes(d, layout));
}

/* More warps fit where a work-item has fewer registers. Programs of several kinds, or of closed edges,
 * would spill more of theirs. */
static void register_option(const device *d, const program_key *key, char *text, size_t size) {
  const bool one_kind = (key->kinds & (key->kinds - 1)) == 0;
  const size_t used = strlen(text);
  if (!cl_of(d)->limits_registers || d->tuning->registers == 0) return;
  if (key->source != PROGRAM_COMPRESSED || !one_kind || key->closed) return;
  snprintf(text + used, size - used, " -cl-nv-maxrregcount=%u", d->tuning->registers);
}

/* SLAB_DEVICE gives each device of a context its own programs, where a driver has several devices of one kind. PoCL
 * counts the launches that use a compiled kernel. It miscounts, and aborts, when launches of one program with different
 * sizes overlap. Launches of one device are on one queue and do not overlap. Equal GPUs have the same value and share
 * their programs. */
void program_options(const device *d, const program_key *key, char *text, size_t size) {
  snprintf(
      text, size,
      "-cl-std=CL1.2 -DLANES=%u -DSLAB_QUERY=%d -DSLAB_KINDS=%u -DSLAB_STACK=%u -DSLAB_RAYS=%u -DSLAB_LOCAL_BOXES=%u "
      "-DSLAB_WALKERS=%u -DSLAB_RAY_PAIRS=%u -DSLAB_DEFERRED=%d -DSLAB_INSTANCES=%d -DSLAB_DEVICE=%u",
      program_lanes(d, key->source), (int)key->query, key->kinds, key->stack, d->tuning->rays_each,
      d->tuning->local_boxes, walkers(d, key), rays_paired(d, key), key->deferred, key->instances,
      gpu_of(d)->builder->nth);
  lane_options(d, text, size);
  variant_options(key, text, size);
  cut_options(d, key, text, size);
}

static void build_options(const device *d, const program_key *key, char *text, size_t size) {
  program_options(d, key, text, size);
  register_option(d, key, text, size);
}

slab_status program_fail(const device *d, cl_program failed, cl_int code, const char *call, const char *options) {
  char log[8192] = "(no log)";
  if (failed != NULL) clGetProgramBuildInfo(failed, cl_of(d)->id, CL_PROGRAM_BUILD_LOG, sizeof log - 1, log, NULL);
  if (code == CL_OUT_OF_HOST_MEMORY || code == CL_OUT_OF_RESOURCES) return fail_cl(code, call, options);
  return fail(SLAB_BUILD_FAILED, "%s failed (%d) on \"%s\" with %s:\n%s", call, code, d->info.name, options, log);
}

/* ---- building ---- */

static slab_status build_text(const device *d, const char *const *text, unsigned count, const char *options,
                              cl_program *built) {
  cl_int code;
  cl_program created = clCreateProgramWithSource(cl_of(d)->context, count, (const char **)text, NULL, &code);
  if (created == NULL) return fail_cl(code, "clCreateProgramWithSource", options);
  code = clBuildProgram(created, 1, &cl_of(d)->id, options, NULL, NULL);
  const slab_status status = code == CL_SUCCESS ? SLAB_OK : program_fail(d, created, code, "clBuildProgram", options);
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

bool opencl_alike(const device *d, const device *other, const program_key *key) {
  char own[OPTIONS_SIZE], theirs[OPTIONS_SIZE];
  build_options(d, key, own, sizeof own);
  build_options(other, key, theirs, sizeof theirs);
  return strcmp(own, theirs) == 0;
}

slab_status opencl_build(const device *d, const program_key *key, gpu_program *like, gpu_program **built) {
  char options[OPTIONS_SIZE];
  build_options(d, key, options, sizeof options);
  cl_program made = like != NULL ? build_binary(d, (cl_program)like, options) : NULL;
  const slab_status status =
      made != NULL ? SLAB_OK : build_text(d, sources[key->source].text, *sources[key->source].count, options, &made);
  *built = (gpu_program *)made;
  return status;
}

/* A large kernel's use of registers may allow only smaller groups than the device's maximum. */
slab_status opencl_kernel(const device *d, gpu_program *of, const program_key *key, uint32_t nth, gpu_kernel **made,
                          size_t *group) {
  const char *name = program_kernel_name(key->source, nth);
  cl_int code;
  size_t most = 0;
  cl_kernel kernel = clCreateKernel((cl_program)of, name, &code);
  if (kernel == NULL) return fail_cl(code, "clCreateKernel", name);
  code = clGetKernelWorkGroupInfo(kernel, cl_of(d)->id, CL_KERNEL_WORK_GROUP_SIZE, sizeof most, &most, NULL);
  if (code != CL_SUCCESS) {
    clReleaseKernel(kernel);
    return fail_cl(code, "clGetKernelWorkGroupInfo", name);
  }
  *made = (gpu_kernel *)kernel;
  *group = most < cl_of(d)->group_most ? most : cl_of(d)->group_most;
  return SLAB_OK;
}
