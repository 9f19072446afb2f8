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

/* An array of the host, or what a chunk takes of it. */
typedef struct host_array {
  const void *bytes;
  size_t size;
  bool direct; /* copies reach it as it is */
} host_array;

/* chunk.in_flight: a chunk between its begin and its end. All zero between two chunks, except staging_buffers. */
typedef struct flight {
  staging_buffers *staging_buffers;
  const chunk *of;
  uint32_t threads; /* that copy, as pool_run takes them */
  launch launch;
  gpu_buffer *in_place[PARTS]; /* buffers that use the caller's memory */
  chunk_memory memory;
  part written;           /* where what is written comes from: the results, or their sums */
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
static gpu_order order_of(flight *s) { return (gpu_order){.done = &s->events[s->event_count]}; }

/* Keeps the event of a command that was enqueued. */
static slab_status kept(flight *s, slab_status enqueued) {
  if (enqueued == SLAB_OK) s->event_count++;
  return enqueued;
}

static slab_status write_buffer(const device *d, flight *s, gpu_buffer *buffer, const void *bytes, size_t size,
                                const char *what) {
  return kept(s, driver_of(d)->write(s->staging_buffers->queue, buffer, 0, bytes, size, false, order_of(s), what));
}

/* Memory of the caller's, which may be pinned. Where nothing is copied nobody asks. */
static host_array callers_array(const cast *c, const device *d, const void *bytes, size_t size) {
  const gpu_driver *driver = driver_of(d);
  const bool pinned = d->in_place                 ? false
                      : driver->is_pinned != NULL ? driver->is_pinned(d, bytes, size)
                                                  : host_memories_have(&c->scene->context->memories, d, bytes, size);
  return (host_array){bytes, size, pinned};
}

static host_array own_array(const void *bytes, size_t size) { return (host_array){bytes, size, false}; }

/* Copies to the reserved staging buffer. */
static slab_status copy_in(const device *d, flight *s, part p, host_array from, const char *what) {
  const staging *to = &s->staging_buffers->staged[p];
  const bool stages = to->pinned != NULL && !from.direct;
  if (stages) pool_copy(s->threads, to->pinned, from.bytes, from.size);
  return write_buffer(d, s, to->buffer, stages ? to->pinned : from.bytes, from.size, what);
}

/* Uses the array in place where the device can, else copies it. */
static slab_status input(const device *d, flight *s, part p, host_array from, const char *what, gpu_buffer **buffer) {
  if (d->in_place) {
    slab_status status =
        driver_of(d)->create(d, GPU_READ, GPU_GIVEN, from.size, writable(from.bytes), what, &s->in_place[p]);
    *buffer = s->in_place[p];
    return status;
  }
  slab_status status = staging_reserve(d, s->staging_buffers, p, from.size, from.direct, what);
  *buffer = s->staging_buffers->staged[p].buffer;
  return status == SLAB_OK ? copy_in(d, s, p, from, what) : status;
}

static bool collects(const cast *c) { return c->collected != NULL; }

static void *results_of(const cast *c, const flight *s) {
  if (collects(c)) return s->memory.batch->results;
  return c->sums != NULL ? chunk_sums(c, s->of) : (void *)chunk_results(c, s->of);
}

static gpu_buffer *written_buffer(const flight *s) { return s->sums != NULL ? s->sums : s->launch.results; }

/* Allocates host memory for the hits of a chunk. */
static slab_status make_room(const device_scene *on, flight *s) {
  cast_uniforms *u = &s->launch.uniforms;
  const slab_status status = chunk_memory_hits(&s->memory, on->device, s->of, launch_in_flight(on, &s->launch), u);
  s->result_bytes = room_size(s->of->count, &u->room);
  return status;
}

/* The buffer of what is written, whose part and bytes are known. */
static slab_status output_buffer(const cast *c, const device *d, flight *s, gpu_buffer **buffer) {
  const part p = s->written;
  slab_status status;
  if (d->in_place) {
    status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_GIVEN, s->result_bytes, results_of(c, s), "results",
                                  &s->in_place[p]);
    *buffer = s->in_place[p];
  } else {
    s->direct = !collects(c) && callers_array(c, d, results_of(c, s), s->result_bytes).direct;
    status = staging_reserve(d, s->staging_buffers, p, s->result_bytes, s->direct, "results");
    *buffer = s->staging_buffers->staged[p].buffer;
    if (status == SLAB_OK && collects(c))
      status = copy_in(d, s, p, own_array(s->memory.batch->results, TAKEN_NUMBERS * sizeof(uint32_t)), "results");
  }
  return status;
}

static slab_status output(const cast *c, const device_scene *on, flight *s) {
  const size_t results =
      c->offsets != NULL ? c->offsets[s->of->first + s->of->count] - c->offsets[s->of->first] : s->of->count;
  s->written = PART_RESULTS;
  s->result_bytes = results * c->result_size;
  const slab_status status = collects(c) ? make_room(on, s) : SLAB_OK;
  return status != SLAB_OK || s->result_bytes == 0 ? status : output_buffer(c, on->device, s, &s->launch.results);
}

/* Results that are summed stay on the device. */
static slab_status output_sums(const cast *c, const device_scene *on, flight *s) {
  const size_t results = s->of->count * c->result_size;
  const slab_status status = staging_reserve(on->device, s->staging_buffers, PART_RESULTS, results, true, "results");
  if (status != SLAB_OK) return status;
  s->launch.results = s->staging_buffers->staged[PART_RESULTS].buffer;
  s->written = PART_SUMS;
  const size_t words = sums_word_at(c->sums, s->of->first + s->of->count) - sums_word_at(c->sums, s->of->first);
  s->result_bytes = words * sizeof *c->sums->words;
  return output_buffer(c, on->device, s, &s->sums);
}

static slab_status input_offsets(const cast *c, const device *d, flight *s) {
  const size_t size = ((size_t)s->of->count + 1) * sizeof *s->memory.offsets;
  const slab_status status = chunk_memory_offsets(&s->memory, c, s->of);
  if (status != SLAB_OK) return status;
  return input(d, s, PART_OFFSETS, own_array(s->memory.offsets, size), "offsets", &s->launch.offsets);
}

static slab_status clear_invalid(const device *d, flight *s) {
  static const uint32_t zero = 0;
  staging_buffers *own = s->staging_buffers;
  slab_status status = SLAB_OK;
  if (own->invalid == NULL)
    status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_OWN, sizeof zero, NULL, "the invalid count", &own->invalid);
  s->launch.invalid = own->invalid;
  return status == SLAB_OK ? write_buffer(d, s, own->invalid, &zero, sizeof zero, "the invalid count") : status;
}

static slab_status reserve_fallback(const device *d, flight *s) {
  const size_t size = fallback_size(s->of->count, s->launch.uniforms.packet);
  staging_buffers *own = s->staging_buffers;
  slab_status status = SLAB_OK;
  if (own->fallback_size < size) {
    gpu_release_buffer(d, &own->fallback);
    status = driver_of(d)->create(d, GPU_READ_WRITE, GPU_OWN, size, NULL, "the packets that are left", &own->fallback);
    own->fallback_size = status == SLAB_OK ? size : 0;
  }
  s->launch.fallback = own->fallback;
  return status;
}

static slab_status input_sorted(const cast *c, const device *d, flight *s) {
  const slab_status status = chunk_memory_sort(&s->memory, c, s->of, c->rays + s->of->first, s->threads);
  if (status != SLAB_OK) return status;
  const host_array sorted = own_array(s->memory.sorted, s->of->count * sizeof *s->memory.sorted);
  return input(d, s, PART_SORTED, sorted, "the order of rays", &s->launch.sorted);
}

/* An array of the caller's with an entry of `size` bytes for each ray of the call, of which those of the chunk. */
static slab_status input_entries(const cast *c, const device *d, flight *s, part p, const void *entries, size_t size,
                                 const char *what, gpu_buffer **buffer) {
  if (entries == NULL) return SLAB_OK;
  const host_array some =
      callers_array(c, d, (const unsigned char *)entries + s->of->first * size, s->of->count * size);
  return input(d, s, p, some, what, buffer);
}

/* The arrays with an entry for each ray. */
static slab_status input_own(const cast *c, const device *d, flight *s) {
  const slab_cast_options *o = c->options;
  launch *l = &s->launch;
  if (o == NULL) return SLAB_OK;
  slab_status status = input_entries(c, d, s, PART_SKIPS, o->skip, sizeof *o->skip, "skips", &l->skips);
  if (status == SLAB_OK) status = input_entries(c, d, s, PART_MASKS, o->masks, sizeof *o->masks, "masks", &l->masks);
  if (status == SLAB_OK) status = input_entries(c, d, s, PART_AFTER, o->after, sizeof *o->after, "after", &l->after);
  if (status == SLAB_OK)
    status = input_entries(c, d, s, PART_WORLDS, o->worlds, sizeof *o->worlds, "worlds", &l->worlds);
  return status;
}

/* The arrays with an entry for each point. */
static slab_status input_points(const cast *c, const device *d, flight *s) {
  const asked_points *asked = c->points;
  launch *l = &s->launch;
  slab_status status = input_entries(c, d, s, PART_RAYS, asked->points, 3 * sizeof *asked->points, "points", &l->rays);
  if (status == SLAB_OK)
    status = input_entries(c, d, s, PART_RADII, asked->radii, sizeof *asked->radii, "radii", &l->radii);
  return status;
}

/* launch_chunk makes the rays of a set. */
static slab_status input_rays(const cast *c, const device *d, flight *s) {
  if (c->points != NULL) return input_points(c, d, s);
  const size_t size = s->of->count * sizeof *c->rays;
  if (c->set == NULL)
    return input(d, s, PART_RAYS, callers_array(c, d, c->rays + s->of->first, size), "rays", &s->launch.rays);
  const slab_status status = staging_reserve(d, s->staging_buffers, PART_RAYS, size, true, "rays of a set");
  s->launch.rays = s->staging_buffers->staged[PART_RAYS].buffer;
  return status;
}

static slab_status send(const cast *c, const device_scene *on, flight *s) {
  const device *d = on->device;
  launch *l = &s->launch;
  chunk_uniforms(c, s->of, &l->uniforms);
  l->uniforms.packet = s->of->traversal == SLAB_TRAVERSAL_PACKETS ? launch_packet(on, c->query) : 0;
  const bool sorted = s->of->traversal == SLAB_TRAVERSAL_SORTED;
  l->deferred = launch_defers(on, c->query) && !has_own_rays(c->options) && c->points == NULL;
  l->interleaved = sorted || s->of->traversal == SLAB_TRAVERSAL_INTERLEAVED;
  slab_status status = input_rays(c, d, s);
  if (status == SLAB_OK) status = c->sums != NULL ? output_sums(c, on, s) : output(c, on, s);
  if (status == SLAB_OK && sorted) status = input_sorted(c, d, s);
  if (status == SLAB_OK && c->offsets != NULL) status = input_offsets(c, d, s);
  if (status == SLAB_OK) status = input_own(c, d, s);
  if (status == SLAB_OK && l->uniforms.invalid) status = clear_invalid(d, s);
  if (status == SLAB_OK && l->uniforms.packet != 0) status = reserve_fallback(d, s);
  return status;
}

/* ---- the kernels ---- */

static slab_status make_rays(const cast *c, const device_scene *on, flight *s) {
  const set_rays some = set_part(c->set, s->of->first, s->of->count);
  return kept(s, gpu_enqueue_rays(on->device, &some, s->of->tables, s->launch.rays, s->staging_buffers->queue,
                                  order_of(s), &s->launch.first_use));
}

static slab_status sum_results(const cast *c, const device_scene *on, flight *s) {
  launch *l = &s->launch;
  const summed_chunk some = {.first = s->of->first,
                             .count = s->of->count,
                             .tables = s->of->tables,
                             .rays = l->rays,
                             .results = l->results,
                             .invalid = l->invalid,
                             .sums = s->sums};
  return kept(s, gpu_enqueue_sums(on->device, c->sums, &some, s->staging_buffers->queue, order_of(s), &l->first_use));
}

static slab_status launch_all_of_points(const cast *c, const device_scene *on, flight *s) {
  gpu_queue *queue = s->staging_buffers->queue;
  launch *l = &s->launch;
  const slab_status status = kept(s, launch_points(on, c->query, c->points->radius, l, queue, order_of(s)));
  if (status != SLAB_OK || c->boundary == NULL) return status;
  return kept(s, launch_boundary(on, c->boundary, s->of->tables, l, queue, order_of(s)));
}

static slab_status launch_chunk(const cast *c, const device_scene *on, flight *s) {
  gpu_queue *queue = s->staging_buffers->queue;
  launch *l = &s->launch;
  if (c->points != NULL) return launch_all_of_points(c, on, s);
  slab_status status = c->set != NULL ? make_rays(c, on, s) : SLAB_OK;
  if (status == SLAB_OK && l->fallback != NULL) status = kept(s, launch_packets(on, c->query, l, queue, order_of(s)));
  if (status == SLAB_OK) status = kept(s, launch_enqueue(on, c->query, l, queue, order_of(s)));
  if (status == SLAB_OK && l->deferred && ATTRIBUTES_WAIT(s->of->count))
    status = kept(s, launch_attributes(on, c->query, l, queue, order_of(s)));
  return status == SLAB_OK && c->sums != NULL ? sum_results(c, on, s) : status;
}

/* ---- from the device ---- */

static slab_status read_buffer(const device *d, flight *s, gpu_buffer *buffer, size_t at, void *bytes, size_t size,
                               const char *what) {
  return kept(s, driver_of(d)->read(s->staging_buffers->queue, buffer, at, bytes, size, false, order_of(s), what));
}

/* After the mapping the results are in the caller's array. */
static slab_status map_results(const device *d, flight *s, fetch *f) {
  return kept(s, driver_of(d)->map(s->staging_buffers->queue, written_buffer(s), GPU_READ, f->at, f->size, false,
                                   order_of(s), "results", &f->mapped));
}

/* Unmaps only after the mappings have ended, although nothing changes the results any more: some drivers refuse an
 * earlier unmap. */
static slab_status unmap_results(const device *d, flight *s, const char *what) {
  slab_status status = SLAB_OK;
  for (fetch *f = s->fetches; f < s->fetches + s->fetch_count; f++) {
    if (f->mapped == NULL) continue;
    const slab_status unmapped = driver_of(d)->unmap(s->staging_buffers->queue, written_buffer(s), f->mapped, what);
    if (unmapped != SLAB_OK) status = unmapped;
    f->mapped = NULL;
  }
  return status;
}

/* Pinned memory that results go through; NULL: none. */
static unsigned char *results_staged(const flight *s) {
  return s->direct ? NULL : s->staging_buffers->staged[s->written].pinned;
}

static slab_status read_results(const cast *c, const device *d, flight *s, const fetch *f) {
  unsigned char *pinned = results_staged(s);
  unsigned char *to = pinned != NULL ? pinned : results_of(c, s);
  return read_buffer(d, s, written_buffer(s), f->at, to + f->at, f->size, "results");
}

static slab_status fetch_results(const cast *c, const device *d, flight *s, size_t at, size_t size) {
  if (size == 0) return SLAB_OK;
  fetch *f = &s->fetches[s->fetch_count++];
  *f = (fetch){.at = at, .size = size};
  return d->in_place ? map_results(d, s, f) : read_results(c, d, s, f);
}

/* Copies results from pinned memory to their destination, after the transfer has ended. */
static void hand_over_results(const cast *c, const flight *s, const fetch *f) {
  const unsigned char *pinned = results_staged(s);
  if (pinned != NULL) pool_copy_out(s->threads, (unsigned char *)results_of(c, s) + f->at, pinned + f->at, f->size);
}

/* Fetches the results. Where hits are collected and copied, it fetches only their lists, which say how many hits to
 * fetch later. */
static slab_status fetch_all(const cast *c, const device *d, flight *s) {
  const size_t taken = collects(c) ? TAKEN_NUMBERS * sizeof(uint32_t) : 0;
  const size_t size = !collects(c)  ? s->result_bytes
                      : d->in_place ? s->memory.batch->size - taken
                                    : s->of->count * sizeof(hit_list);
  slab_status status = fetch_results(c, d, s, taken, size);
  if (status == SLAB_OK && s->launch.invalid != NULL)
    status = read_buffer(d, s, s->launch.invalid, 0, &s->invalid, sizeof s->invalid, "the invalid count");
  return status;
}

/* Fetches the hits after their lists have arrived. */
static slab_status fetch_hits(const cast *c, const device_scene *on, flight *s) {
  hit_batch *b = s->memory.batch;
  hand_over_results(c, s, &s->fetches[0]);
  const slab_status status = chunk_look(c, b, c->scene->context->threads);
  if (status != SLAB_OK) return status;
  const size_t hits = b->lost || on->device->in_place ? 0 : b->used;
  return fetch_results(c, on->device, s, room_begin(b->rays), hits * sizeof(slab_hit));
}

static void forget_events(const device *d, flight *s) {
  for (uint32_t i = 0; i < s->event_count; i++) driver_of(d)->release_event(s->events[i]);
  s->event_count = 0;
}

/* A kernel that fails while it runs reports it only through its event. */
static slab_status await(const device *d, flight *s) {
  if (s->event_count == 0) return SLAB_OK;
  const slab_status status = driver_of(d)->wait(s->events, s->event_count, "a cast");
  forget_events(d, s);
  return status;
}

/* Everything of the chunk has ended, except the unmapping, which holds its own references. */
static void release(const device *d, flight *s) {
  forget_events(d, s);
  for (int p = 0; p < PARTS; p++) gpu_release_buffer(d, &s->in_place[p]);
  chunk_memory_free(&s->memory);
  *s = (flight){.staging_buffers = s->staging_buffers};
}

/* Failures here do not matter any more. */
void gpu_abandon(const device_scene *on, chunk *c) {
  const device *d = on->device;
  const gpu_driver *driver = driver_of(d);
  flight *s = c->in_flight;
  driver->finish(s->staging_buffers->queue, NULL);
  unmap_results(d, s, NULL);
  driver->finish(s->staging_buffers->queue, NULL);
  release(d, s);
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

slab_status gpu_begin(const cast *c, const device_scene *on, chunk *of) {
  slab_status status = take_flight(on->device, of);
  if (status != SLAB_OK) return status;
  flight *s = of->in_flight;
  s->of = of;
  s->threads = c->scene->context->threads;
  status = send(c, on, s);
  if (status == SLAB_OK) status = launch_chunk(c, on, s);
  if (status == SLAB_OK) status = fetch_all(c, on->device, s);
  if (status == SLAB_OK) status = driver_of(on->device)->flush(s->staging_buffers->queue, "a cast");
  if (status != SLAB_OK) gpu_abandon(on, of);
  return status;
}

static slab_status await_results(const cast *c, const device_scene *on, flight *s) {
  const device *d = on->device;
  slab_status status = await(d, s);
  if (status == SLAB_OK && collects(c)) {
    status = fetch_hits(c, on, s);
    if (status == SLAB_OK) status = await(d, s);
  }
  return status == SLAB_OK ? unmap_results(d, s, "results") : status;
}

slab_status gpu_end(const cast *c, const device_scene *on, chunk *of, chunk_outcome *outcome) {
  flight *s = of->in_flight;
  slab_status status = await_results(c, on, s);
  if (status != SLAB_OK) {
    gpu_abandon(on, of);
    return status;
  }
  for (int i = collects(c) ? 1 : 0; i < s->fetch_count; i++) hand_over_results(c, s, &s->fetches[i]);
  *outcome = (chunk_outcome){.invalid = s->invalid, .batch = s->memory.batch, .first_use = s->launch.first_use};
  s->memory.batch = NULL;
  release(on->device, s);
  return SLAB_OK;
}

slab_status gpu_settle(const device_scene *on, chunk *of) {
  flight *s = of->in_flight;
  if (s == NULL) return SLAB_OK;
  const slab_status status = driver_of(on->device)->finish(s->staging_buffers->queue, "a cast");
  staging_buffers_give_back(on->device, s->staging_buffers);
  free(s);
  of->in_flight = NULL;
  return status;
}
