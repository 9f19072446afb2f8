/* Runs one chunk of rays: copies it to the device, launches the kernels and copies the results back, all on one queue.
 * Where memory is copied each chunk in flight has a queue of its own, so that one is cast while others are copied, and
 * small ones are cast together. */
#include <stdlib.h>

#include "base/pool.h"
#include "data/types.h"
#include "device/backend.h"
#include "device/context.h"
#include "device/host_memory.h"
#include "gpu/gpu.h"
#include "gpu/launch.h"
#include "gpu/staging.h"
#include "record/chunk.h"
#include "record/snapshot.h"
#include "work/chunk_memory.h"
#include "work/uniforms.h"

enum { CHUNK_EVENTS = 14, FETCHES = 2 };

/* Results that are being copied to host memory: offset and size in bytes. */
typedef struct fetch {
  size_t at, size;
  void *mapped; /* the mapping, where buffers are used in place */
} fetch;

/* An array of the host, or a chunk's part of it. */
typedef struct host_array {
  const void *bytes;
  size_t size;
  bool direct; /* copies reach it as it is */
} host_array;

/* chunk.flight: a chunk between its begin and its end. All zero between two chunks, except staging_buffers. */
typedef struct flight {
  staging_buffers *staging_buffers;
  const chunk *of;
  uint32_t threads; /* that copy, as pool_run takes them */
  launch launch;
  gpu_buffer *in_place[PARTS]; /* buffers that use the caller's memory */
  chunk_memory memory;
  part written;           /* the source of the writes: the results, or their sums */
  gpu_buffer *sums;       /* NULL: the results are written */
  size_t result_bytes;    /* bytes that are written */
  bool direct;            /* copies reach them as they are */
  fetch fetches[FETCHES]; /* parts of the results that are read */
  int fetch_count;
  gpu_event *events[CHUNK_EVENTS]; /* of every command that can fail while it runs */
  uint32_t event_count;
  uint32_t invalid;
} flight;

/* ---- to the device ---- */

static void *writable(const void *bytes) {
  union {
    const void *in;
    void *out;
  } cast_away = {.in = bytes};
  return cast_away.out;
}

/* Of a command whose event the flight keeps. */
static gpu_order order_of(flight *f) { return (gpu_order){.done = &f->events[f->event_count]}; }

/* Keeps the event of a command that was enqueued. */
static slab_status kept(flight *f, slab_status enqueued) {
  if (enqueued == SLAB_OK) f->event_count++;
  return enqueued;
}

static slab_status write_buffer(const device *d, flight *f, gpu_buffer *buffer, const void *bytes, size_t size,
                                const char *what) {
  return kept(f, driver_of(d)->write(f->staging_buffers->queue, buffer, 0, bytes, size, false, order_of(f), what));
}

/* Memory of the caller's, which may be pinned. That does not matter where nothing is copied. */
static host_array callers_array(const cast *c, const device *d, const void *bytes, size_t size) {
  const gpu_driver *driver = driver_of(d);
  const bool pinned = d->in_place                 ? false
                      : driver->is_pinned != NULL ? driver->is_pinned(d, bytes, size)
                                                  : host_memories_have(&c->scene->context->memories, d, bytes, size);
  return (host_array){bytes, size, pinned};
}

static host_array own_array(const void *bytes, size_t size) { return (host_array){bytes, size, false}; }

/* Copies to the reserved staging buffer. */
static slab_status copy_in(const device *d, flight *f, part p, host_array from, const char *what) {
  const staging *to = &f->staging_buffers->staged[p];
  const bool stages = to->pinned != NULL && !from.direct;
  if (stages) pool_copy(f->threads, to->pinned, from.bytes, from.size);
  return write_buffer(d, f, to->buffer, stages ? to->pinned : from.bytes, from.size, what);
}

/* Uses the array in place where the device can, else copies it. */
static slab_status input(const device *d, flight *f, part p, host_array from, const char *what, gpu_buffer **buffer) {
  if (d->in_place) {
    slab_status status =
        driver_of(d)->create(d, GPU_READ, GPU_GIVEN, from.size, writable(from.bytes), what, &f->in_place[p]);
    *buffer = f->in_place[p];
    return status;
  }
  slab_status status = staging_reserve(d, f->staging_buffers, p, from.size, from.direct, what);
  *buffer = f->staging_buffers->staged[p].buffer;
  return status == SLAB_OK ? copy_in(d, f, p, from, what) : status;
}

static bool collects(const cast *c) { return c->collected != NULL; }

static void *results_of(const cast *c, const flight *f) {
  if (collects(c)) return f->memory.batch->results;
  return c->sums != NULL ? chunk_sums(c, f->of) : (void *)chunk_results(c, f->of);
}

static gpu_buffer *written_buffer(const flight *f) { return f->sums != NULL ? f->sums : f->launch.results; }

/* Allocates host memory for the hits of a chunk. */
static slab_status make_space(const device_scene *on, flight *f) {
  cast_uniforms *u = &f->launch.uniforms;
  const slab_status status = chunk_memory_hits(&f->memory, on->device, f->of, launch_walkers(on, &f->launch), u);
  f->result_bytes = space_size(f->of->count, &u->space);
  return status;
}

/* The buffer of the writes, whose part and bytes are known. */
static slab_status output_buffer(const cast *c, const device *d, flight *f, gpu_buffer **buffer) {
  const part p = f->written;
  slab_status status;
  if (d->in_place) {
    status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_GIVEN, f->result_bytes, results_of(c, f), "results",
                                  &f->in_place[p]);
    *buffer = f->in_place[p];
  } else {
    f->direct = !collects(c) && callers_array(c, d, results_of(c, f), f->result_bytes).direct;
    status = staging_reserve(d, f->staging_buffers, p, f->result_bytes, f->direct, "results");
    *buffer = f->staging_buffers->staged[p].buffer;
    if (status == SLAB_OK && collects(c))
      status = copy_in(d, f, p, own_array(f->memory.batch->results, TAKEN_NUMBERS * sizeof(uint32_t)), "results");
  }
  return status;
}

static slab_status output(const cast *c, const device_scene *on, flight *f) {
  const size_t results =
      c->offsets != NULL ? c->offsets[f->of->first + f->of->count] - c->offsets[f->of->first] : f->of->count;
  f->written = PART_RESULTS;
  f->result_bytes = results * c->result_size;
  const slab_status status = collects(c) ? make_space(on, f) : SLAB_OK;
  return status != SLAB_OK || f->result_bytes == 0 ? status : output_buffer(c, on->device, f, &f->launch.results);
}

/* Results that are summed stay on the device. */
static slab_status output_sums(const cast *c, const device_scene *on, flight *f) {
  const size_t results = f->of->count * c->result_size;
  const slab_status status = staging_reserve(on->device, f->staging_buffers, PART_RESULTS, results, true, "results");
  if (status != SLAB_OK) return status;
  f->launch.results = f->staging_buffers->staged[PART_RESULTS].buffer;
  f->written = PART_SUMS;
  const size_t words = sums_word_at(c->sums, f->of->first + f->of->count) - sums_word_at(c->sums, f->of->first);
  f->result_bytes = words * sizeof *c->sums->words;
  return output_buffer(c, on->device, f, &f->sums);
}

static slab_status input_offsets(const cast *c, const device *d, flight *f) {
  const size_t size = ((size_t)f->of->count + 1) * sizeof *f->memory.offsets;
  const slab_status status = chunk_memory_offsets(&f->memory, c, f->of);
  if (status != SLAB_OK) return status;
  return input(d, f, PART_OFFSETS, own_array(f->memory.offsets, size), "offsets", &f->launch.offsets);
}

static slab_status clear_invalid(const device *d, flight *f) {
  static const uint32_t zero = 0;
  staging_buffers *own = f->staging_buffers;
  slab_status status = SLAB_OK;
  if (own->invalid == NULL)
    status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_OWN, sizeof zero, NULL, "the invalid count", &own->invalid);
  f->launch.invalid = own->invalid;
  return status == SLAB_OK ? write_buffer(d, f, own->invalid, &zero, sizeof zero, "the invalid count") : status;
}

static slab_status reserve_fallback(const device *d, flight *f) {
  const size_t size = fallback_size(f->of->count, f->launch.uniforms.packet);
  staging_buffers *own = f->staging_buffers;
  slab_status status = SLAB_OK;
  if (own->fallback_size < size) {
    gpu_release_buffer(d, &own->fallback);
    status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_OWN, size, NULL, "the packets that are left", &own->fallback);
    own->fallback_size = status == SLAB_OK ? size : 0;
  }
  f->launch.fallback = own->fallback;
  return status;
}

static slab_status input_sorted(const cast *c, const device *d, flight *f) {
  const slab_status status = chunk_memory_sort(&f->memory, c, f->of, c->rays + f->of->first, f->threads);
  if (status != SLAB_OK) return status;
  const host_array sorted = own_array(f->memory.sorted, f->of->count * sizeof *f->memory.sorted);
  return input(d, f, PART_SORTED, sorted, "the order of rays", &f->launch.sorted);
}

/* The chunk's part of a caller's array with an entry of `size` bytes for each ray of the call. */
static slab_status input_entries(const cast *c, const device *d, flight *f, part p, const void *entries, size_t size,
                                 const char *what, gpu_buffer **buffer) {
  if (entries == NULL) return SLAB_OK;
  const host_array some =
      callers_array(c, d, (const unsigned char *)entries + f->of->first * size, f->of->count * size);
  return input(d, f, p, some, what, buffer);
}

/* The arrays with an entry for each ray. */
static slab_status input_own(const cast *c, const device *d, flight *f) {
  const slab_cast_options *o = c->options;
  launch *l = &f->launch;
  if (o == NULL) return SLAB_OK;
  slab_status status = input_entries(c, d, f, PART_SKIPS, o->skip, sizeof *o->skip, "skips", &l->skips);
  if (status == SLAB_OK) status = input_entries(c, d, f, PART_MASKS, o->masks, sizeof *o->masks, "masks", &l->masks);
  if (status == SLAB_OK) status = input_entries(c, d, f, PART_AFTER, o->after, sizeof *o->after, "after", &l->after);
  if (status == SLAB_OK)
    status = input_entries(c, d, f, PART_WORLDS, o->worlds, sizeof *o->worlds, "worlds", &l->worlds);
  return status;
}

/* The arrays with an entry for each point. */
static slab_status input_points(const cast *c, const device *d, flight *f) {
  const asked_points *asked = c->points;
  launch *l = &f->launch;
  slab_status status = input_entries(c, d, f, PART_RAYS, asked->points, 3 * sizeof *asked->points, "points", &l->rays);
  if (status == SLAB_OK)
    status = input_entries(c, d, f, PART_RADII, asked->radii, sizeof *asked->radii, "radii", &l->radii);
  return status;
}

/* launch_chunk makes the rays of a set. */
static slab_status input_rays(const cast *c, const device *d, flight *f) {
  if (c->points != NULL) return input_points(c, d, f);
  const size_t size = f->of->count * sizeof *c->rays;
  if (c->set == NULL)
    return input(d, f, PART_RAYS, callers_array(c, d, c->rays + f->of->first, size), "rays", &f->launch.rays);
  const slab_status status = staging_reserve(d, f->staging_buffers, PART_RAYS, size, true, "rays of a set");
  f->launch.rays = f->staging_buffers->staged[PART_RAYS].buffer;
  return status;
}

static slab_status send(const cast *c, const device_scene *on, flight *f) {
  const device *d = on->device;
  launch *l = &f->launch;
  chunk_uniforms(c, f->of, &l->uniforms);
  l->uniforms.packet = f->of->traversal == SLAB_TRAVERSAL_PACKETS ? launch_packet(on, c->query) : 0;
  const bool sorted = f->of->traversal == SLAB_TRAVERSAL_SORTED;
  l->deferred = launch_defers(on, c->query) && !has_own_rays(c->options) && c->points == NULL;
  l->interleaved = sorted || f->of->traversal == SLAB_TRAVERSAL_INTERLEAVED;
  slab_status status = input_rays(c, d, f);
  if (status == SLAB_OK) status = c->sums != NULL ? output_sums(c, on, f) : output(c, on, f);
  if (status == SLAB_OK && sorted) status = input_sorted(c, d, f);
  if (status == SLAB_OK && c->offsets != NULL) status = input_offsets(c, d, f);
  if (status == SLAB_OK) status = input_own(c, d, f);
  if (status == SLAB_OK && l->uniforms.invalid) status = clear_invalid(d, f);
  if (status == SLAB_OK && l->uniforms.packet != 0) status = reserve_fallback(d, f);
  return status;
}

/* ---- the kernels ---- */

static slab_status make_rays(const cast *c, const device_scene *on, flight *f) {
  const set_rays some = set_part(c->set, f->of->first, f->of->count);
  return kept(f, gpu_enqueue_rays(on->device, &some, f->of->tables, f->launch.rays, f->staging_buffers->queue,
                                  order_of(f), &f->launch.first_use));
}

static slab_status sum_results(const cast *c, const device_scene *on, flight *f) {
  launch *l = &f->launch;
  const summed_chunk some = {.first = f->of->first,
                             .count = f->of->count,
                             .tables = f->of->tables,
                             .rays = l->rays,
                             .results = l->results,
                             .invalid = l->invalid,
                             .sums = f->sums};
  return kept(f, gpu_enqueue_sums(on->device, c->sums, &some, f->staging_buffers->queue, order_of(f), &l->first_use));
}

static slab_status launch_all_of_points(const cast *c, const device_scene *on, flight *f) {
  gpu_queue *queue = f->staging_buffers->queue;
  launch *l = &f->launch;
  const slab_status status = kept(f, launch_points(on, c->query, c->points->radius, l, queue, order_of(f)));
  if (status != SLAB_OK || c->boundary == NULL) return status;
  return kept(f, launch_boundary(on, c->boundary, f->of->tables, l, queue, order_of(f)));
}

static slab_status launch_chunk(const cast *c, const device_scene *on, flight *f) {
  gpu_queue *queue = f->staging_buffers->queue;
  launch *l = &f->launch;
  if (c->points != NULL) return launch_all_of_points(c, on, f);
  slab_status status = c->set != NULL ? make_rays(c, on, f) : SLAB_OK;
  if (status == SLAB_OK && l->fallback != NULL) status = kept(f, launch_packets(on, c->query, l, queue, order_of(f)));
  if (status == SLAB_OK) status = kept(f, launch_enqueue(on, c->query, l, queue, order_of(f)));
  if (status == SLAB_OK && l->deferred && ATTRIBUTES_WAIT(f->of->count))
    status = kept(f, launch_attributes(on, c->query, l, queue, order_of(f)));
  return status == SLAB_OK && c->sums != NULL ? sum_results(c, on, f) : status;
}

/* ---- from the device ---- */

static slab_status read_buffer(const device *d, flight *f, gpu_buffer *buffer, size_t at, void *bytes, size_t size,
                               const char *what) {
  return kept(f, driver_of(d)->read(f->staging_buffers->queue, buffer, at, bytes, size, false, order_of(f), what));
}

/* After the mapping the results are in the caller's array. */
static slab_status map_results(const device *d, flight *f, fetch *got) {
  return kept(f, driver_of(d)->map(f->staging_buffers->queue, written_buffer(f), GPU_READ, got->at, got->size, false,
                                   order_of(f), "results", &got->mapped));
}

/* Unmaps only after the mappings have ended, although nothing changes the results any more: some drivers refuse an
 * earlier unmap. */
static slab_status unmap_results(const device *d, flight *f, const char *what) {
  slab_status status = SLAB_OK;
  for (fetch *got = f->fetches; got < f->fetches + f->fetch_count; got++) {
    if (got->mapped == NULL) continue;
    const slab_status unmapped = driver_of(d)->unmap(f->staging_buffers->queue, written_buffer(f), got->mapped, what);
    if (unmapped != SLAB_OK) status = unmapped;
    got->mapped = NULL;
  }
  return status;
}

/* Pinned memory that results go through; NULL: none. */
static unsigned char *results_staged(const flight *f) {
  return f->direct ? NULL : f->staging_buffers->staged[f->written].pinned;
}

static slab_status read_results(const cast *c, const device *d, flight *f, const fetch *got) {
  unsigned char *pinned = results_staged(f);
  unsigned char *to = pinned != NULL ? pinned : results_of(c, f);
  return read_buffer(d, f, written_buffer(f), got->at, to + got->at, got->size, "results");
}

static slab_status fetch_results(const cast *c, const device *d, flight *f, size_t at, size_t size) {
  if (size == 0) return SLAB_OK;
  fetch *got = &f->fetches[f->fetch_count++];
  *got = (fetch){.at = at, .size = size};
  return d->in_place ? map_results(d, f, got) : read_results(c, d, f, got);
}

/* Copies results from pinned memory to their destination, after the transfer has ended. */
static void hand_over_results(const cast *c, const flight *f, const fetch *got) {
  const unsigned char *pinned = results_staged(f);
  if (pinned != NULL)
    pool_copy_out(f->threads, (unsigned char *)results_of(c, f) + got->at, pinned + got->at, got->size);
}

/* Fetches the results. Where hits are collected and copied, it fetches only their lists, which have the number of hits
 * to fetch later. */
static slab_status fetch_all(const cast *c, const device *d, flight *f) {
  const size_t taken = collects(c) ? TAKEN_NUMBERS * sizeof(uint32_t) : 0;
  const size_t size = !collects(c)  ? f->result_bytes
                      : d->in_place ? f->memory.batch->size - taken
                                    : f->of->count * sizeof(hit_list);
  slab_status status = fetch_results(c, d, f, taken, size);
  if (status == SLAB_OK && f->launch.invalid != NULL)
    status = read_buffer(d, f, f->launch.invalid, 0, &f->invalid, sizeof f->invalid, "the invalid count");
  return status;
}

/* Fetches the hits after their lists have arrived. */
static slab_status fetch_hits(const cast *c, const device_scene *on, flight *f) {
  hit_batch *b = f->memory.batch;
  hand_over_results(c, f, &f->fetches[0]);
  const slab_status status = chunk_look(c, b, c->scene->context->threads);
  if (status != SLAB_OK) return status;
  const size_t hits = b->lost || on->device->in_place ? 0 : b->used;
  return fetch_results(c, on->device, f, space_begin(b->rays), hits * sizeof(slab_hit));
}

static void forget_events(const device *d, flight *f) {
  for (uint32_t i = 0; i < f->event_count; i++) driver_of(d)->release_event(f->events[i]);
  f->event_count = 0;
}

/* A kernel that fails while it runs reports it only through its event. */
static slab_status await(const device *d, flight *f) {
  if (f->event_count == 0) return SLAB_OK;
  const slab_status status = driver_of(d)->wait(f->events, f->event_count, "a cast");
  forget_events(d, f);
  return status;
}

/* Everything of the chunk has ended, except the unmapping, which holds its own references. */
static void release(const device *d, flight *f) {
  forget_events(d, f);
  for (int p = 0; p < PARTS; p++) gpu_release_buffer(d, &f->in_place[p]);
  chunk_memory_free(&f->memory);
  *f = (flight){.staging_buffers = f->staging_buffers};
}

/* Failures here do not matter any more. */
void gpu_abandon(const device_scene *on, chunk *c) {
  const device *d = on->device;
  const gpu_driver *driver = driver_of(d);
  flight *f = c->flight;
  driver->finish(f->staging_buffers->queue, NULL);
  unmap_results(d, f, NULL);
  driver->finish(f->staging_buffers->queue, NULL);
  release(d, f);
}

/* Creates the flight of a chunk that is the first of its call in its place. */
static slab_status take_flight(device *d, chunk *of) {
  if (of->flight != NULL) return SLAB_OK;
  flight *taken = calloc(1, sizeof *taken);
  if (taken == NULL) return fail_memory(sizeof *taken, "a cast");
  slab_status status = staging_buffers_take(d, &taken->staging_buffers);
  if (status == SLAB_OK)
    of->flight = taken;
  else
    free(taken);
  return status;
}

slab_status gpu_begin(const cast *c, const device_scene *on, chunk *of) {
  slab_status status = take_flight(on->device, of);
  if (status != SLAB_OK) return status;
  flight *f = of->flight;
  f->of = of;
  f->threads = c->scene->context->threads;
  status = send(c, on, f);
  if (status == SLAB_OK) status = launch_chunk(c, on, f);
  if (status == SLAB_OK) status = fetch_all(c, on->device, f);
  if (status == SLAB_OK) status = driver_of(on->device)->flush(f->staging_buffers->queue, "a cast");
  if (status != SLAB_OK) gpu_abandon(on, of);
  return status;
}

static slab_status await_results(const cast *c, const device_scene *on, flight *f) {
  const device *d = on->device;
  slab_status status = await(d, f);
  if (status == SLAB_OK && collects(c)) {
    status = fetch_hits(c, on, f);
    if (status == SLAB_OK) status = await(d, f);
  }
  return status == SLAB_OK ? unmap_results(d, f, "results") : status;
}

slab_status gpu_end(const cast *c, const device_scene *on, chunk *of, chunk_outcome *outcome) {
  flight *f = of->flight;
  slab_status status = await_results(c, on, f);
  if (status != SLAB_OK) {
    gpu_abandon(on, of);
    return status;
  }
  for (int i = collects(c) ? 1 : 0; i < f->fetch_count; i++) hand_over_results(c, f, &f->fetches[i]);
  *outcome = (chunk_outcome){.invalid = f->invalid, .batch = f->memory.batch, .first_use = f->launch.first_use};
  f->memory.batch = NULL;
  release(on->device, f);
  return SLAB_OK;
}

slab_status gpu_settle(const device_scene *on, chunk *of) {
  flight *f = of->flight;
  if (f == NULL) return SLAB_OK;
  const slab_status status = driver_of(on->device)->finish(f->staging_buffers->queue, "a cast");
  staging_buffers_give_back(on->device, f->staging_buffers);
  free(f);
  of->flight = NULL;
  return status;
}
