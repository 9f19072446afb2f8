/* Runs one chunk of rays: copies it to the device, launches the kernels and copies the results back. Kernels run on the
 * device's one queue. Copies run on a queue of each chunk's own, so that one chunk is cast while others are copied. */
#include <stdlib.h>

#include "base/pool.h"
#include "data/types.h"
#include "device/backend.h"
#include "device/context.h"
#include "opencl/launch.h"
#include "opencl/opencl.h"
#include "opencl/staging.h"
#include "record/chunk.h"
#include "record/snapshot.h"
#include "work/hit_batch.h"
#include "work/ray_order.h"
#include "work/uniforms.h"

enum { CHUNK_EVENTS = 6, FETCHES = 2 };

/* Results that are being copied to host memory: offset and size in bytes. */
typedef struct fetch {
  size_t at, size;
  void *mapped; /* the mapping, where buffers are used in place */
} fetch;

/* chunk.in_flight: a chunk between its begin and its end. All zero between two chunks, except staging_buffers. */
typedef struct flight {
  staging_buffers *staging_buffers;
  const chunk *of;
  uint32_t threads; /* that copy, as pool_run takes them */
  launch launch;
  cl_mem in_place[PARTS]; /* buffers that use the caller's memory */
  uint32_t *local_offsets, *sorted;
  hit_batch *batch;       /* the collected hits; the caller may take them at the end */
  size_t result_bytes;    /* bytes of results that are written */
  fetch fetches[FETCHES]; /* parts of the results that are read */
  int fetch_count;
  cl_event events[CHUNK_EVENTS]; /* of every command that can fail while it runs */
  cl_uint event_count;
  cl_uint invalid;
} flight;

/* ---- to the device ---- */

static void *writable(const void *bytes) {
  union {
    const void *in;
    void *out;
  } cast_away = {.in = bytes};
  return cast_away.out;
}

static slab_status write_buffer(const staging_buffers *s, cl_mem buffer, const void *bytes, size_t size,
                                const char *what) {
  cl_int code = clEnqueueWriteBuffer(s->queue, buffer, CL_FALSE, 0, size, bytes, 0, NULL, NULL);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clEnqueueWriteBuffer", what);
}

/* Copies to the reserved staging buffer. */
static slab_status copy_in(const flight *s, part p, const void *bytes, size_t size, const char *what) {
  const staging *to = &s->staging_buffers->staged[p];
  if (to->pinned != NULL) pool_copy(s->threads, to->pinned, bytes, size);
  return write_buffer(s->staging_buffers, to->buffer, to->pinned != NULL ? to->pinned : bytes, size, what);
}

/* Uses the array in place where the device can, else copies it. */
static slab_status input(const device *d, flight *s, part p, const void *bytes, size_t size, const char *what,
                         cl_mem *buffer) {
  if (d->in_place) {
    slab_status status =
        objects_create_buffer(d, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR, size, writable(bytes), what, &s->in_place[p]);
    *buffer = s->in_place[p];
    return status;
  }
  slab_status status = staging_reserve(d, s->staging_buffers, p, size, what);
  *buffer = s->staging_buffers->staged[p].buffer;
  return status == SLAB_OK ? copy_in(s, p, bytes, size, what) : status;
}

static bool collects(const cast *c) { return c->collected != NULL; }

static unsigned char *results_of(const cast *c, const flight *s) {
  if (collects(c)) return s->batch->results;
  return chunk_results(c, s->of);
}

/* Allocates host memory for the hits of a chunk. */
static slab_status make_room(const device_scene *on, flight *s) {
  const device *d = on->device;
  cast_uniforms *u = &s->launch.uniforms;
  u->room = room_of(&s->of->known, chunk_room(d), s->of->count, launch_in_flight(on, &s->launch));
  u->at[AT_RESULTS] = (uint32_t)(room_begin(s->of->count) / sizeof(uint32_t));
  s->result_bytes = room_size(s->of->count, &u->room);
  s->batch = batch_create(&on->device->kept, s->of->first, s->of->count, &u->room, d->in_place);
  return s->batch == NULL ? fail_memory(s->result_bytes, "hits") : SLAB_OK;
}

static slab_status output(const cast *c, const device_scene *on, flight *s) {
  const device *d = on->device;
  const size_t results =
      c->offsets != NULL ? c->offsets[s->of->first + s->of->count] - c->offsets[s->of->first] : s->of->count;
  s->result_bytes = results * c->result_size;
  slab_status status = collects(c) ? make_room(on, s) : SLAB_OK;
  if (status != SLAB_OK || s->result_bytes == 0) return status;
  if (d->in_place) {
    status = objects_create_buffer(d, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, s->result_bytes, results_of(c, s),
                                   "results", &s->in_place[PART_RESULTS]);
    s->launch.results = s->in_place[PART_RESULTS];
  } else {
    status = staging_reserve(d, s->staging_buffers, PART_RESULTS, s->result_bytes, "results");
    s->launch.results = s->staging_buffers->staged[PART_RESULTS].buffer;
    if (status == SLAB_OK && collects(c))
      status = copy_in(s, PART_RESULTS, s->batch->results, TAKEN_NUMBERS * sizeof(uint32_t), "results");
  }
  return status;
}

static slab_status input_offsets(const cast *c, const device *d, flight *s) {
  const size_t size = ((size_t)s->of->count + 1) * sizeof *s->local_offsets;
  const slab_status status = chunk_offsets(c, s->of, &s->local_offsets);
  if (status != SLAB_OK) return status;
  return input(d, s, PART_OFFSETS, s->local_offsets, size, "offsets", &s->launch.offsets);
}

static slab_status clear_invalid(const device *d, flight *s) {
  static const cl_uint zero = 0;
  slab_status status = SLAB_OK;
  if (s->staging_buffers->invalid == NULL)
    status = objects_create_buffer(d, CL_MEM_READ_WRITE, sizeof zero, NULL, "the invalid count",
                                   &s->staging_buffers->invalid);
  s->launch.invalid = s->staging_buffers->invalid;
  return status == SLAB_OK
             ? write_buffer(s->staging_buffers, s->staging_buffers->invalid, &zero, sizeof zero, "the invalid count")
             : status;
}

static slab_status reserve_fallback(const device *d, flight *s) {
  const size_t size = s->of->count / s->launch.uniforms.packet + 1;
  slab_status status = SLAB_OK;
  if (s->staging_buffers->fallback_size < size) {
    objects_release_buffer(&s->staging_buffers->fallback);
    status = objects_create_buffer(d, CL_MEM_READ_WRITE, size, NULL, "the packets that are left",
                                   &s->staging_buffers->fallback);
    s->staging_buffers->fallback_size = status == SLAB_OK ? size : 0;
  }
  s->launch.fallback = s->staging_buffers->fallback;
  return status;
}

static slab_status input_sorted(const cast *c, const device *d, flight *s) {
  const slab_scene_stats *bounds = &c->scene->stats;
  s->sorted =
      rays_sorted(c->rays + s->of->first, s->of->count, bounds->lower, bounds->upper, c->scene->context->threads);
  if (s->sorted == NULL) return fail_memory(s->of->count * sizeof *s->sorted, "sorting rays");
  return input(d, s, PART_SORTED, s->sorted, s->of->count * sizeof *s->sorted, "the order of rays", &s->launch.sorted);
}

static slab_status send(const cast *c, const device_scene *on, flight *s) {
  const device *d = on->device;
  launch *l = &s->launch;
  chunk_uniforms(c, s->of, &l->uniforms);
  l->uniforms.packet = s->of->traversal == SLAB_TRAVERSAL_PACKETS ? device_scene_packet(on, c->query) : 0;
  const bool sorted = s->of->traversal == SLAB_TRAVERSAL_SORTED;
  l->deferred = launch_defers(on, c->query);
  l->interleaved = sorted || s->of->traversal == SLAB_TRAVERSAL_INTERLEAVED;
  slab_status status = input(d, s, PART_RAYS, c->rays + s->of->first, s->of->count * sizeof *c->rays, "rays", &l->rays);
  if (status == SLAB_OK) status = output(c, on, s);
  if (status == SLAB_OK && sorted) status = input_sorted(c, d, s);
  if (status == SLAB_OK && c->offsets != NULL) status = input_offsets(c, d, s);
  if (status == SLAB_OK && l->uniforms.skip)
    status = input(d, s, PART_SKIPS, c->options->skip + s->of->first, s->of->count * sizeof *c->options->skip, "skips",
                   &l->skips);
  if (status == SLAB_OK && l->uniforms.invalid) status = clear_invalid(d, s);
  if (status == SLAB_OK && l->uniforms.packet != 0) status = reserve_fallback(d, s);
  return status;
}

/* ---- the kernels ---- */

static cl_event *next_event(flight *s) { return &s->events[s->event_count]; }

/* Whether transfers have their own queue; kernels and transfers must then wait for each other. */
static bool is_apart(const device *d, const flight *s) { return s->staging_buffers->queue != cl_of(d)->queue; }

static slab_status mark_sent(flight *s) {
  cl_int code = clEnqueueMarkerWithWaitList(s->staging_buffers->queue, 0, NULL, next_event(s));
  if (code != CL_SUCCESS) return fail_cl(code, "clEnqueueMarkerWithWaitList", "a cast");
  s->event_count++;
  return SLAB_OK;
}

static slab_status launch_chunk(const cast *c, const device_scene *on, flight *s) {
  const cl_command_queue queue = cl_of(on->device)->queue;
  slab_status status = is_apart(on->device, s) ? mark_sent(s) : SLAB_OK;
  const cl_uint waits = s->event_count;
  const cl_event *sent = waits == 0 ? NULL : &s->events[0];
  if (status == SLAB_OK && s->launch.fallback != NULL) {
    status = launch_packets(on, c->query, &s->launch, queue, waits, sent, next_event(s));
    if (status == SLAB_OK) s->event_count++;
  }
  if (status == SLAB_OK) status = launch_enqueue(on, c->query, &s->launch, queue, waits, sent, next_event(s));
  if (status == SLAB_OK) s->event_count++;
  if (status == SLAB_OK && s->launch.deferred && ATTRIBUTES_WAIT(s->of->count)) {
    status = launch_attributes(on, c->query, &s->launch, queue, next_event(s));
    if (status == SLAB_OK) s->event_count++;
  }
  return status;
}

/* ---- from the device ---- */

static slab_status read_buffer(flight *s, cl_mem buffer, size_t at, void *bytes, size_t size, const char *what) {
  cl_int code =
      clEnqueueReadBuffer(s->staging_buffers->queue, buffer, CL_FALSE, at, size, bytes, 0, NULL, next_event(s));
  if (code != CL_SUCCESS) return fail_cl(code, "clEnqueueReadBuffer", what);
  s->event_count++;
  return SLAB_OK;
}

/* After the mapping the results are in the caller's array. */
static slab_status map_results(flight *s, fetch *f) {
  cl_int code;
  f->mapped = clEnqueueMapBuffer(s->staging_buffers->queue, s->launch.results, CL_FALSE, CL_MAP_READ, f->at, f->size, 0,
                                 NULL, next_event(s), &code);
  if (f->mapped == NULL) return fail_cl(code, "clEnqueueMapBuffer", "results");
  s->event_count++;
  return SLAB_OK;
}

/* Unmaps only after the mappings have ended, although nothing changes the results any more: some drivers refuse an
 * earlier unmap. */
static cl_int unmap_results(flight *s) {
  cl_int code = CL_SUCCESS;
  for (fetch *f = s->fetches; f < s->fetches + s->fetch_count; f++) {
    if (f->mapped == NULL) continue;
    const cl_int unmapped =
        clEnqueueUnmapMemObject(s->staging_buffers->queue, s->launch.results, f->mapped, 0, NULL, NULL);
    if (unmapped != CL_SUCCESS) code = unmapped;
    f->mapped = NULL;
  }
  return code;
}

static slab_status read_results(const cast *c, flight *s, const fetch *f) {
  unsigned char *pinned = s->staging_buffers->staged[PART_RESULTS].pinned;
  return read_buffer(s, s->launch.results, f->at, (pinned != NULL ? pinned : results_of(c, s)) + f->at, f->size,
                     "results");
}

static slab_status fetch_results(const cast *c, const device *d, flight *s, size_t at, size_t size) {
  if (size == 0) return SLAB_OK;
  fetch *f = &s->fetches[s->fetch_count++];
  *f = (fetch){.at = at, .size = size};
  return d->in_place ? map_results(s, f) : read_results(c, s, f);
}

/* Copies results from pinned memory to their destination, after the transfer has ended. */
static void hand_over_results(const cast *c, const flight *s, const fetch *f) {
  const unsigned char *pinned = s->staging_buffers->staged[PART_RESULTS].pinned;
  if (pinned != NULL) pool_copy(s->threads, results_of(c, s) + f->at, pinned + f->at, f->size);
}

/* Fetches the results. Where hits are collected and copied, it fetches only their lists, which say how many hits to
 * fetch later. */
static slab_status fetch_all(const cast *c, const device *d, flight *s) {
  const size_t taken = collects(c) ? TAKEN_NUMBERS * sizeof(uint32_t) : 0;
  const size_t size = !collects(c)  ? s->result_bytes
                      : d->in_place ? s->batch->size - taken
                                    : s->of->count * sizeof(hit_list);
  slab_status status = fetch_results(c, d, s, taken, size);
  if (status == SLAB_OK && s->launch.invalid != NULL)
    status = read_buffer(s, s->launch.invalid, 0, &s->invalid, sizeof s->invalid, "the invalid count");
  return status;
}

/* Fetches the hits after their lists have arrived. */
static slab_status fetch_hits(const cast *c, const device_scene *on, flight *s) {
  hit_batch *b = s->batch;
  hand_over_results(c, s, &s->fetches[0]);
  const slab_status status = chunk_look(c, b, c->scene->context->threads);
  if (status != SLAB_OK) return status;
  const size_t hits = b->lost || on->device->in_place ? 0 : b->used;
  return fetch_results(c, on->device, s, room_begin(b->rays), hits * sizeof(slab_hit));
}

static slab_status flush(const device *d, const flight *s) {
  cl_int code = clFlush(s->staging_buffers->queue);
  if (code == CL_SUCCESS && is_apart(d, s)) code = clFlush(cl_of(d)->queue);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clFlush", "a cast");
}

static void forget_events(flight *s) {
  for (cl_uint i = 0; i < s->event_count; i++) clReleaseEvent(s->events[i]);
  s->event_count = 0;
}

/* A kernel that fails while it runs reports it only through its event. */
static slab_status await(flight *s) {
  if (s->event_count == 0) return SLAB_OK;
  cl_int code = clWaitForEvents(s->event_count, s->events);
  forget_events(s);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clWaitForEvents", "a cast");
}

/* Everything of the chunk has ended, except the unmapping, which holds its own references. */
static void release(flight *s) {
  forget_events(s);
  for (int p = 0; p < PARTS; p++) objects_release_buffer(&s->in_place[p]);
  free(s->local_offsets);
  free(s->sorted);
  batches_free(s->batch);
  *s = (flight){.staging_buffers = s->staging_buffers};
}

void opencl_abandon(const device_scene *on, chunk *c) {
  flight *s = c->in_flight;
  clFinish(cl_of(on->device)->queue);
  clFinish(s->staging_buffers->queue);
  unmap_results(s);
  clFinish(s->staging_buffers->queue);
  release(s);
}

/* Creates the flight of a chunk that is the first of its call in its place. */
static slab_status take_flight(device *d, chunk *s) {
  if (s->in_flight != NULL) return SLAB_OK;
  flight *taken = calloc(1, sizeof *taken);
  if (taken == NULL) return fail_memory(sizeof *taken, "a cast");
  slab_status status = staging_buffers_take(d, &taken->staging_buffers);
  if (status == SLAB_OK)
    s->in_flight = taken;
  else
    free(taken);
  return status;
}

slab_status opencl_begin(const cast *c, const device_scene *on, chunk *of) {
  slab_status status = take_flight(on->device, of);
  if (status != SLAB_OK) return status;
  flight *s = of->in_flight;
  s->of = of;
  s->threads = c->scene->context->threads;
  status = send(c, on, s);
  if (status == SLAB_OK) status = launch_chunk(c, on, s);
  if (status == SLAB_OK && !is_apart(on->device, s)) status = fetch_all(c, on->device, s);
  if (status == SLAB_OK) status = flush(on->device, s);
  if (status != SLAB_OK) opencl_abandon(on, of);
  return status;
}

/* Waits for all commands of the chunk. Where transfers have their own queue, only the host waits for a kernel's event:
 * some drivers do not report a failed kernel to commands that wait for its event. */
static slab_status await_results(const cast *c, const device_scene *on, flight *s) {
  slab_status status = await(s);
  if (status == SLAB_OK && is_apart(on->device, s)) {
    status = fetch_all(c, on->device, s);
    if (status == SLAB_OK) status = await(s);
  }
  if (status == SLAB_OK && collects(c)) {
    status = fetch_hits(c, on, s);
    if (status == SLAB_OK) status = await(s);
  }
  if (status != SLAB_OK) return status;
  const cl_int code = unmap_results(s);
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clEnqueueUnmapMemObject", "results");
}

slab_status opencl_end(const cast *c, const device_scene *on, chunk *of, chunk_outcome *outcome) {
  flight *s = of->in_flight;
  slab_status status = await_results(c, on, s);
  if (status != SLAB_OK) {
    opencl_abandon(on, of);
    return status;
  }
  for (int i = collects(c) ? 1 : 0; i < s->fetch_count; i++) hand_over_results(c, s, &s->fetches[i]);
  *outcome = (chunk_outcome){.invalid = s->invalid, .batch = s->batch, .first_use = s->launch.first_use};
  s->batch = NULL;
  release(s);
  return SLAB_OK;
}

slab_status opencl_settle(const device_scene *on, chunk *of) {
  flight *s = of->in_flight;
  if (s == NULL) return SLAB_OK;
  cl_int code = clFinish(s->staging_buffers->queue);
  staging_buffers_give_back(on->device, s->staging_buffers);
  free(s);
  of->in_flight = NULL;
  return code == CL_SUCCESS ? SLAB_OK : fail_cl(code, "clFinish", "a cast");
}
