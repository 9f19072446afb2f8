/* Casting: rays from host memory through the kernel and back, in launches that the device can hold. */
#include <stdlib.h>
#include <string.h>

#include "private.h"

#define WORK_GROUP 64
#define LAUNCH_SECONDS 0.1 /* short enough for display watchdogs and for cancelling */
#define LAUNCH_MAX (1u << 30)
/* The first launch, from whose time the next are sized: at most so many rays, at most so many tests. PoCL compiles a
 * kernel once more for launches of fewer work-items. */
#define FIRST_LAUNCH 65536u
#define FIRST_TESTS 1e9

/* One call of the public API on its way through the device. */
typedef struct cast {
  const char *function;
  slab_scene *scene;
  slab_query query;
  const slab_ray *rays;
  size_t n;
  void *results; /* n of result_size; the hits of SLAB_ALL */
  size_t result_size;
  const uint64_t *offsets; /* SLAB_ALL: where each ray's hits go */
  const slab_cast_options *options;
  uint64_t progress_done, progress_total;
  uint64_t invalid;
} cast;

/* The OpenCL objects of one launch. */
typedef struct launch {
  size_t first;
  uint32_t count;
  cl_mem rays, results, offsets, skips, invalid;
  uint32_t *local_offsets;
  size_t result_bytes;
} launch;

cast_uniforms cast_uniforms_of(const slab_scene *scene, const slab_cast_options *options) {
  cast_uniforms u = {.geometries = scene->geometries, .mask = UINT32_MAX};
  if (options == NULL) return u;
  if (options->mask != 0) u.mask = options->mask;
  u.cull = (uint32_t)options->cull;
  u.face_forward = options->face_forward != 0;
  u.skip = options->skip != NULL;
  u.invalid = options->invalid != NULL;
  return u;
}

/* ---- buffers ---- */

static void *writable(const void *bytes) {
  union {
    const void *in;
    void *out;
  } cast_away = {.in = bytes};
  return cast_away.out;
}

/* In place where the device can, else a copy. */
static slab_status input_buffer(const device *d, const void *bytes, size_t size, const char *what, cl_mem *buffer) {
  cl_int code;
  cl_mem_flags flags = CL_MEM_READ_ONLY | (d->in_place ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR);
  *buffer = clCreateBuffer(d->context, flags, size, writable(bytes), &code);
  return *buffer == NULL ? fail_cl(code, "clCreateBuffer", what) : SLAB_OK;
}

static slab_status output_buffer(const device *d, void *bytes, size_t size, const char *what, cl_mem *buffer) {
  cl_int code;
  cl_mem_flags flags = CL_MEM_READ_WRITE | (d->in_place ? CL_MEM_USE_HOST_PTR : 0);
  *buffer = clCreateBuffer(d->context, flags, size, d->in_place ? bytes : NULL, &code);
  return *buffer == NULL ? fail_cl(code, "clCreateBuffer", what) : SLAB_OK;
}

/* Waits for the queue to reach this point; the bytes are then the host's. */
static slab_status read_back(const device *d, cl_mem buffer, void *bytes, size_t size, const char *what) {
  cl_int code;
  if (!d->in_place) {
    code = clEnqueueReadBuffer(d->queue, buffer, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
    return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clEnqueueReadBuffer", what);
  }
  cl_event done = NULL;
  void *mapped = clEnqueueMapBuffer(d->queue, buffer, CL_TRUE, CL_MAP_READ, 0, size, 0, NULL, NULL, &code);
  if (mapped == NULL || code != CL_SUCCESS) return fail_cl(code, "clEnqueueMapBuffer", what);
  code = clEnqueueUnmapMemObject(d->queue, buffer, mapped, 0, NULL, &done);
  if (code != CL_SUCCESS) return fail_cl(code, "clEnqueueUnmapMemObject", what);
  code = clWaitForEvents(1, &done);
  clReleaseEvent(done);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clWaitForEvents", what);
}

static void launch_release(launch *l) {
  cl_mem buffers[] = {l->rays, l->results, l->offsets, l->skips, l->invalid};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    if (buffers[i] != NULL) clReleaseMemObject(buffers[i]);
  free(l->local_offsets);
}

/* Offsets of a launch count from its own first hit. */
static slab_status launch_offsets(const cast *c, const device *d, launch *l) {
  size_t size = ((size_t)l->count + 1) * sizeof *l->local_offsets;
  l->local_offsets = malloc(size);
  if (l->local_offsets == NULL) return fail_memory(size, "offsets");
  for (size_t i = 0; i <= l->count; i++)
    l->local_offsets[i] = (uint32_t)(c->offsets[l->first + i] - c->offsets[l->first]);
  return input_buffer(d, l->local_offsets, size, "offsets", &l->offsets);
}

static void *launch_results(const cast *c, const launch *l) {
  size_t first = c->query == SLAB_ALL ? c->offsets[l->first] : l->first;
  return (char *)c->results + first * c->result_size;
}

static slab_status launch_buffers(const cast *c, const device *d, launch *l) {
  const cast_uniforms u = cast_uniforms_of(c->scene, c->options);
  size_t results = c->query == SLAB_ALL ? c->offsets[l->first + l->count] - c->offsets[l->first] : l->count;
  static const cl_uint zero = 0;
  l->result_bytes = results * c->result_size;
  slab_status status = input_buffer(d, c->rays + l->first, l->count * sizeof *c->rays, "rays", &l->rays);
  if (status == SLAB_OK && l->result_bytes > 0)
    status = output_buffer(d, launch_results(c, l), l->result_bytes, "results", &l->results);
  if (status == SLAB_OK && c->query == SLAB_ALL) status = launch_offsets(c, d, l);
  if (status == SLAB_OK && u.skip)
    status = input_buffer(d, c->options->skip + l->first, l->count * sizeof *c->options->skip, "skips", &l->skips);
  if (status == SLAB_OK && u.invalid) {
    cl_int code;
    l->invalid =
        clCreateBuffer(d->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zero, writable(&zero), &code);
    if (l->invalid == NULL) status = fail_cl(code, "clCreateBuffer", "the invalid count");
  }
  return status;
}

/* ---- launching ---- */

static slab_status set_arguments(cl_kernel kernel, const cast *c, const launch *l) {
  cast_uniforms u = cast_uniforms_of(c->scene, c->options);
  u.rays = l->count;
  const struct {
    size_t size;
    const void *value;
  } arguments[] = {
      {sizeof(cl_mem), l->rays == NULL ? NULL : &l->rays},
      {sizeof(cl_mem), l->results == NULL ? NULL : &l->results},
      {sizeof(cl_mem), l->offsets == NULL ? NULL : &l->offsets},
      {sizeof(cl_mem), &c->scene->buffers.table},
      {sizeof(cl_mem), &c->scene->buffers.blocks},
      {sizeof(cl_mem), l->skips == NULL ? NULL : &l->skips},
      {sizeof(cl_mem), l->invalid == NULL ? NULL : &l->invalid},
      {sizeof u, &u},
  };
  for (cl_uint i = 0; i < sizeof arguments / sizeof *arguments; i++) {
    cl_int code = clSetKernelArg(kernel, i, arguments[i].size, arguments[i].value);
    if (code != CL_SUCCESS) return fail_cl(code, "clSetKernelArg", "a cast");
  }
  return SLAB_OK;
}

static slab_status launch_kernel(const cast *c, device *d, const launch *l) {
  cl_kernel kernel;
  const size_t local = WORK_GROUP, global = ((size_t)l->count + local - 1) / local * local;
  pthread_mutex_lock(&d->lock);
  slab_status status = program_find(d, PROGRAM_FLAT, c->query, c->scene->kinds, &kernel);
  if (status == SLAB_OK) status = set_arguments(kernel, c, l);
  if (status == SLAB_OK) {
    cl_int code = clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &global, &local, 0, NULL, NULL);
    if (code != CL_SUCCESS) status = fail_cl(code, "clEnqueueNDRangeKernel", "a cast");
  }
  pthread_mutex_unlock(&d->lock);
  return status;
}

static slab_status launch_run(cast *c, device *d, size_t first, uint32_t count) {
  launch l = {.first = first, .count = count};
  cl_uint invalid = 0;
  slab_status status = launch_buffers(c, d, &l);
  if (status == SLAB_OK) status = launch_kernel(c, d, &l);
  if (status == SLAB_OK) {
    /* Whatever was launched must end before the caller's arrays are the caller's again. */
    if (l.result_bytes > 0) status = read_back(d, l.results, launch_results(c, &l), l.result_bytes, "results");
    if (l.invalid != NULL) {
      cl_int code = clEnqueueReadBuffer(d->queue, l.invalid, CL_TRUE, 0, sizeof invalid, &invalid, 0, NULL, NULL);
      if (code != CL_SUCCESS && status == SLAB_OK) status = fail_cl(code, "clEnqueueReadBuffer", "the invalid count");
    }
    if (status != SLAB_OK || l.result_bytes == 0) clFinish(d->queue);
    c->invalid += invalid;
  }
  launch_release(&l);
  return status;
}

/* Most rays that fit the device's allocations, at most as many as the caller bounds launches to. */
static uint32_t launch_bound(const cast *c, const device *d) {
  size_t widest = c->result_size > sizeof(slab_ray) ? c->result_size : sizeof(slab_ray);
  uint64_t bound = d->info.allocation_bytes / widest;
  if (d->launch_rays != 0 && d->launch_rays < bound) bound = d->launch_rays;
  return (uint32_t)(bound < 1 ? 1 : bound > LAUNCH_MAX ? LAUNCH_MAX : bound);
}

/* Of `wanted` rays from `first`, those whose hits fit one buffer. */
static slab_status bound_hits(const cast *c, const device *d, size_t first, uint32_t *wanted) {
  uint64_t bound = d->info.allocation_bytes / sizeof(slab_hit);
  if (bound > UINT32_MAX) bound = UINT32_MAX;
  while (*wanted > 1 && c->offsets[first + *wanted] - c->offsets[first] > bound) *wanted /= 2;
  uint64_t hits = c->offsets[first + *wanted] - c->offsets[first];
  if (hits <= bound) return SLAB_OK;
  return fail(SLAB_OUT_OF_MEMORY, "%s: ray %zu has %llu hits, and \"%s\" holds %llu at once", c->function, first,
              (unsigned long long)hits, d->info.name, (unsigned long long)bound);
}

static uint32_t first_launch(const cast *c, uint32_t bound) {
  double rays = FIRST_TESTS / (double)(c->scene->primitives + 1);
  uint32_t size = rays > FIRST_LAUNCH ? FIRST_LAUNCH : rays < WORK_GROUP ? WORK_GROUP : (uint32_t)rays;
  return size < bound ? size : bound;
}

/* Aims the next launch at LAUNCH_SECONDS, growing or shrinking by at most 8. */
static uint32_t next_launch(uint32_t count, double seconds, uint32_t bound) {
  double factor = seconds > 0.0 ? LAUNCH_SECONDS / seconds : 8.0;
  factor = factor > 8.0 ? 8.0 : factor < 0.125 ? 0.125 : factor;
  double next = (double)count * factor;
  return next > (double)bound ? bound : next < WORK_GROUP ? (bound < WORK_GROUP ? bound : WORK_GROUP) : (uint32_t)next;
}

/* `size` of the rays that remain, or all of them where what is left over would be a small launch. */
static uint32_t launch_size(size_t remaining, uint32_t size, uint32_t bound) {
  if (remaining > bound || size < FIRST_LAUNCH || remaining >= (size_t)size + FIRST_LAUNCH)
    return remaining < size ? (uint32_t)remaining : size;
  return (uint32_t)remaining;
}

static slab_status report_progress(cast *c, uint32_t count) {
  c->progress_done += count;
  if (c->options == NULL || c->options->progress == NULL) return SLAB_OK;
  if (c->options->progress(c->options->user, c->progress_done, c->progress_total) == 0) return SLAB_OK;
  return fail(SLAB_CANCELLED, "%s: cancelled after %llu of %llu rays", c->function,
              (unsigned long long)c->progress_done, (unsigned long long)c->progress_total);
}

static slab_status cast_run(cast *c) {
  device *d = &c->scene->context->device;
  const uint32_t bound = launch_bound(c, d);
  uint32_t size = first_launch(c, bound);
  slab_status status = SLAB_OK;
  for (size_t first = 0; status == SLAB_OK && first < c->n;) {
    uint32_t count = launch_size(c->n - first, size, bound);
    if (c->query == SLAB_ALL) status = bound_hits(c, d, first, &count);
    double begin = seconds_now();
    if (status == SLAB_OK) status = launch_run(c, d, first, count);
    size = next_launch(count, seconds_now() - begin, bound);
    first += count;
    if (status == SLAB_OK) status = report_progress(c, count);
  }
  return status;
}

/* ---- the public calls ---- */

static slab_status check_cast(const cast *c) {
  const slab_cast_options *o = c->options;
  if (c->scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: scene is NULL", c->function);
  if (!c->scene->committed) return fail(SLAB_INVALID_STATE, "%s: the scene is not committed", c->function);
  if (c->n > 0 && c->rays == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: rays is NULL", c->function);
  if (o != NULL && (unsigned)o->cull > SLAB_CULL_FRONT)
    return fail(SLAB_INVALID_ARGUMENT, "%s: cull is %d, not a slab_cull", c->function, (int)o->cull);
  return SLAB_OK;
}

static size_t result_size(slab_query query) {
  switch (query) {
    case SLAB_DISTANCE:
      return sizeof(float);
    case SLAB_ANY:
      return sizeof(uint8_t);
    case SLAB_COUNT:
      return sizeof(uint32_t);
    case SLAB_INTERVAL:
      return sizeof(slab_interval);
    case SLAB_CLOSEST:
    case SLAB_ALL:
      break;
  }
  return sizeof(slab_hit);
}

/* Every query with one result a ray. */
static slab_status cast_each(const char *function, slab_query query, slab_scene *scene, const slab_ray *rays, size_t n,
                             void *results, const slab_cast_options *options) {
  cast c = {function, scene, query, rays, n, results, result_size(query), .options = options, .progress_total = n};
  slab_status status = check_cast(&c);
  if (status == SLAB_OK && n > 0 && results == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "%s: the results array is NULL", function);
  if (status == SLAB_OK) status = cast_run(&c);
  if (status == SLAB_OK && options != NULL && options->invalid != NULL) *options->invalid = c.invalid;
  return status;
}

slab_status slab_closest(slab_scene *scene, const slab_ray *rays, size_t n, slab_hit *hits,
                         const slab_cast_options *options) {
  return cast_each("slab_closest", SLAB_CLOSEST, scene, rays, n, hits, options);
}

slab_status slab_distance(slab_scene *scene, const slab_ray *rays, size_t n, float *t,
                          const slab_cast_options *options) {
  return cast_each("slab_distance", SLAB_DISTANCE, scene, rays, n, t, options);
}

slab_status slab_any(slab_scene *scene, const slab_ray *rays, size_t n, uint8_t *occluded,
                     const slab_cast_options *options) {
  return cast_each("slab_any", SLAB_ANY, scene, rays, n, occluded, options);
}

slab_status slab_count(slab_scene *scene, const slab_ray *rays, size_t n, uint32_t *counts,
                       const slab_cast_options *options) {
  return cast_each("slab_count", SLAB_COUNT, scene, rays, n, counts, options);
}

slab_status slab_interval_of(slab_scene *scene, const slab_ray *rays, size_t n, slab_interval *intervals,
                             const slab_cast_options *options) {
  return cast_each("slab_interval_of", SLAB_INTERVAL, scene, rays, n, intervals, options);
}

/* Counts, and from them where each ray's hits begin. */
static slab_status count_offsets(cast *c, uint64_t *offsets) {
  uint32_t *counts = malloc(c->n * sizeof *counts + 1);
  if (counts == NULL) return fail_memory(c->n * sizeof *counts, "hit counts");
  cast counting = *c;
  counting.query = SLAB_COUNT;
  counting.results = counts;
  counting.result_size = result_size(SLAB_COUNT);
  slab_status status = cast_run(&counting);
  if (status == SLAB_OK) {
    offsets[0] = 0;
    for (size_t i = 0; i < c->n; i++) offsets[i + 1] = offsets[i] + counts[i];
    c->progress_done = counting.progress_done;
    c->invalid = counting.invalid;
  }
  free(counts);
  return status;
}

slab_status slab_all(slab_scene *scene, const slab_ray *rays, size_t n, uint64_t *offsets, slab_hit *hits,
                     uint64_t capacity, uint64_t *required, const slab_cast_options *options) {
  cast c = {"slab_all", scene, SLAB_ALL, rays, n, hits, result_size(SLAB_ALL), offsets, options, 0, 0, 0};
  slab_status status = check_cast(&c);
  if (status == SLAB_OK && offsets == NULL) status = fail(SLAB_INVALID_ARGUMENT, "slab_all: offsets is NULL");
  if (status == SLAB_OK && capacity > 0 && hits == NULL)
    status = fail(SLAB_INVALID_ARGUMENT, "slab_all: hits is NULL and capacity %llu", (unsigned long long)capacity);
  if (status != SLAB_OK) return status;
  c.progress_total = capacity > 0 ? 2 * (uint64_t)n : n;
  status = count_offsets(&c, offsets);
  if (status != SLAB_OK) return status;
  if (required != NULL) *required = offsets[n];
  if (options != NULL && options->invalid != NULL) *options->invalid = c.invalid;
  if (capacity == 0) return SLAB_OK;
  if (capacity < offsets[n])
    return fail(SLAB_CAPACITY, "slab_all: %llu hits, and capacity is %llu", (unsigned long long)offsets[n],
                (unsigned long long)capacity);
  return cast_run(&c);
}
