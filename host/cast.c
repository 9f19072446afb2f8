/* Casting: rays from host memory through the kernel and back, in launches that the device can hold. */
#include <stdlib.h>

#include "private.h"

#define LAUNCH_SECONDS 0.1 /* short enough for display watchdogs and for cancelling */
#define LAUNCH_MAX (1u << 30)
/* PoCL compiles a kernel once more for launches of so many work-items. */
#define SMALL_GRID 65536u
/* The first launch, from whose time the next are sized: at most so many rays, at most so many tests. */
#define FIRST_LAUNCH 65536u
#define FIRST_TESTS 1e9
#define TURNS 8        /* rays of SLAB_TACTIC_TURNS: fewer leave memory idle, more leave the cache */
#define TREE_TESTS 1e3 /* of a ray through a tree, roughly */

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
  tactics tactics;
  bool first_use; /* of a kernel, by the last stretch: its time tells nothing */
} cast;

/* A stretch of the rays on its way through the device. */
typedef struct stretch {
  size_t first;
  uint32_t count;
  slab_tactic tactic;
  launch launch;
  uint32_t *local_offsets;
  size_t result_bytes;
} stretch;

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

static void stretch_release(stretch *s) {
  cl_mem buffers[] = {s->launch.rays,  s->launch.results, s->launch.offsets,
                      s->launch.skips, s->launch.invalid, s->launch.left};
  for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
    if (buffers[i] != NULL) clReleaseMemObject(buffers[i]);
  free(s->local_offsets);
}

/* Offsets of a stretch count from its own first hit. */
static slab_status stretch_offsets(const cast *c, const device *d, stretch *s) {
  size_t size = ((size_t)s->count + 1) * sizeof *s->local_offsets;
  s->local_offsets = malloc(size);
  if (s->local_offsets == NULL) return fail_memory(size, "offsets");
  for (size_t i = 0; i <= s->count; i++)
    s->local_offsets[i] = (uint32_t)(c->offsets[s->first + i] - c->offsets[s->first]);
  return input_buffer(d, s->local_offsets, size, "offsets", &s->launch.offsets);
}

static void *stretch_results(const cast *c, const stretch *s) {
  size_t first = c->query == SLAB_ALL ? c->offsets[s->first] : s->first;
  return (char *)c->results + first * c->result_size;
}

static slab_status stretch_buffers(const cast *c, const device *d, stretch *s) {
  static const cl_uint zero = 0;
  launch *l = &s->launch;
  size_t results = c->query == SLAB_ALL ? c->offsets[s->first + s->count] - c->offsets[s->first] : s->count;
  s->result_bytes = results * c->result_size;
  l->uniforms = cast_uniforms_of(c->scene, c->options);
  l->uniforms.rays = s->count;
  if (c->query == SLAB_ALL) l->uniforms.invalid = 0; /* they were counted with the hits */
  l->uniforms.packet = s->tactic == SLAB_TACTIC_PACKETS ? packet_rays(c->scene, c->query) : 0;
  l->walks = s->tactic == SLAB_TACTIC_TURNS ? TURNS : 1;
  slab_status status = input_buffer(d, c->rays + s->first, s->count * sizeof *c->rays, "rays", &l->rays);
  if (status == SLAB_OK && s->result_bytes > 0)
    status = output_buffer(d, stretch_results(c, s), s->result_bytes, "results", &l->results);
  if (status == SLAB_OK && c->query == SLAB_ALL) status = stretch_offsets(c, d, s);
  if (status == SLAB_OK && l->uniforms.skip)
    status = input_buffer(d, c->options->skip + s->first, s->count * sizeof *c->options->skip, "skips", &l->skips);
  if (status == SLAB_OK && l->uniforms.invalid) {
    cl_int code;
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    l->invalid = clCreateBuffer(d->context, flags, sizeof zero, writable(&zero), &code);
    if (l->invalid == NULL) status = fail_cl(code, "clCreateBuffer", "the invalid count");
  }
  if (status == SLAB_OK && l->uniforms.packet != 0) {
    cl_int code;
    l->left = clCreateBuffer(d->context, CL_MEM_READ_WRITE, s->count / l->uniforms.packet + 1, NULL, &code);
    if (l->left == NULL) status = fail_cl(code, "clCreateBuffer", "the packets that are left");
  }
  return status;
}

/* ---- launching ---- */

/* Whatever was launched must end before the caller's arrays are the caller's again. A kernel that fails while it runs
 * tells nobody but those who wait for its event. */
static slab_status stretch_finish(cast *c, const device *d, const stretch *s, cl_event launched) {
  slab_status status = SLAB_OK;
  cl_uint invalid = 0;
  cl_int code = clWaitForEvents(1, &launched);
  if (code != CL_SUCCESS) status = fail_cl(code, "clWaitForEvents", "a cast's kernel");
  if (status == SLAB_OK && s->result_bytes > 0)
    status = read_back(d, s->launch.results, stretch_results(c, s), s->result_bytes, "results");
  if (status == SLAB_OK && s->launch.invalid != NULL) {
    code = clEnqueueReadBuffer(d->queue, s->launch.invalid, CL_TRUE, 0, sizeof invalid, &invalid, 0, NULL, NULL);
    if (code != CL_SUCCESS) status = fail_cl(code, "clEnqueueReadBuffer", "the invalid count");
  }
  if (status != SLAB_OK) clFinish(d->queue);
  c->invalid += invalid;
  return status;
}

/* The kernels of a stretch; the last one's event tells of the others, which it waits for. */
static slab_status stretch_launch(const cast *c, const device *d, stretch *s, cl_event *launched) {
  cl_event packets = NULL;
  slab_status status = SLAB_OK;
  if (s->launch.left != NULL) status = launch_packets(c->scene, c->query, &s->launch, d->queue, &packets);
  if (status == SLAB_OK)
    status = launch_enqueue(c->scene, c->query, &s->launch, d->queue, packets != NULL,
                            packets != NULL ? &packets : NULL, launched);
  if (status != SLAB_OK) clFinish(d->queue);
  if (packets != NULL) clReleaseEvent(packets);
  return status;
}

static slab_status stretch_run(cast *c, const device *d, size_t first, uint32_t count, slab_tactic how) {
  stretch s = {.first = first, .count = count, .tactic = how};
  cl_event launched = NULL;
  slab_status status = stretch_buffers(c, d, &s);
  const double begin = seconds_now();
  if (status == SLAB_OK) status = stretch_launch(c, d, &s, &launched);
  if (status == SLAB_OK) status = stretch_finish(c, d, &s, launched);
  c->first_use = s.launch.first_use;
  if (status == SLAB_OK && !c->first_use) tactics_note(&c->tactics, count, seconds_now() - begin);
  if (launched != NULL) clReleaseEvent(launched);
  stretch_release(&s);
  return status;
}

/* Most rays that fit the device's allocations, at most as many as the caller bounds launches to. */
static uint32_t launch_bound(const cast *c, const device *d) {
  size_t widest = c->result_size > sizeof(slab_ray) ? c->result_size : sizeof(slab_ray);
  uint64_t bound = d->info.allocation_bytes / widest;
  if (d->launch_rays != 0 && d->launch_rays < bound) bound = d->launch_rays;
  const uint64_t small = (uint64_t)(SMALL_GRID - 1) * d->info.lane_width;
  if (packet_rays(c->scene, c->query) != 0 && small < bound) bound = small;
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
  double tests = c->scene->buffers.nodes == NULL ? (double)c->scene->primitives + 1.0 : TREE_TESTS;
  double rays = FIRST_TESTS / tests;
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
  const device *d = &c->scene->context->device;
  const uint32_t bound = launch_bound(c, d);
  uint32_t size = first_launch(c, bound);
  slab_status status = SLAB_OK;
  c->tactics = tactics_begin(c->scene, c->query, c->n);
  for (size_t first = 0; status == SLAB_OK && first < c->n;) {
    uint32_t count = launch_size(c->n - first, size, bound);
    const slab_tactic how = tactics_next(&c->tactics, &count);
    if (c->query == SLAB_ALL) status = bound_hits(c, d, first, &count);
    double begin = seconds_now();
    if (status == SLAB_OK) status = stretch_run(c, d, first, count, how);
    if (!c->first_use) size = next_launch(count, seconds_now() - begin, bound);
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
  return check_cull(c->function, o == NULL ? SLAB_CULL_NONE : o->cull);
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
  cast c = {"slab_all", scene, SLAB_ALL, rays, n, hits, result_size(SLAB_ALL), .offsets = offsets, .options = options};
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
