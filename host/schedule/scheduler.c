/* Gives chunks of rays to whichever device is free. Several chunks per device are in flight at once. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/plural.h"
#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "os/clock.h"
#include "os/thread.h"
#include "record/chunk.h"
#include "record/device.h"
#include "record/snapshot.h"
#include "schedule/ray_sets.h"
#include "schedule/scheduler.h"
#include "schedule/set_rows.h"
#include "schedule/traversal_choice.h"
#include "work/hit_batch.h"
#include "work/uniforms.h"

#define LAUNCH_SECONDS 0.1 /* short enough for display watchdogs and for cancelling */
#define LAUNCH_MAX (1u << 30)
/* Limits of the first launch, in rays and in tests. Its time sizes the next launches. Where the backend mixes
 * traversals it is larger: that is the processor, whose threads sleep between launches. */
#define FIRST_LAUNCH 65536u
#define FIRST_MIXED 262144u
#define FIRST_TESTS 1e9
#define BVH_TESTS 1e3 /* rough number of tests of a ray in a BVH */
/* With several devices, chunks become smaller near the end, but not so small that launching takes longer than casting.
 */
#define LEAST_SECONDS 0.004
/* Chunks in flight at once on a device: one is cast and one waits for it to end; more would be cast in vain after a
 * cancel. Where memory is copied others are on their way up and down, and the host copies a sixth. */
#define CHUNKS_IN_PLACE 2
#define CHUNKS 6
/* Where memory is copied a call has at least so many chunks, but none of fewer rays, which take a bus some 20 us. For
 * nothing is cast while the first goes up, and nothing goes up while the last comes down. */
#define CHUNKS_OF_A_CALL 32
#define LEAST_COPIED 16384u
/* Rays of a set are made a chunk at a time. On the processor a chunk has 4 MB, which its caches hold until they are
 * cast. Chunks of twice as many rays take 1.05 to 1.1 times as long, of half as many as long. */
#define MADE_A_CHUNK 131072u
/* Maximum bytes of a collection. */
#define COLLECTED_BYTES ((size_t)512 << 20)

typedef struct cast_job cast_job;

/* Seconds of wall-clock time, and seconds for which a device worked. */
typedef struct moment {
  double wall, work;
} moment;

/* A device worker: one device's share of a cast job. */
typedef struct device_worker {
  cast_job *cast_job;
  device_scene on;
  os_thread thread;
  traversal_choice traversal_choice;
  hits_known hits;      /* known number of hits per ray, where hits are collected */
  offer offered;        /* without what the cast cannot use */
  uint32_t bound, size; /* rays of a launch: the maximum, and the size of the next */
  double rate;          /* rays per second; 0: not known yet */
  moment ended;         /* end of the last chunk */
  chunk chunks[CHUNKS];
  moment begun[CHUNKS];
  chunk_choice chosen[CHUNKS];
  uint32_t first, flights; /* ring buffer: the oldest chunk, and the number in flight */
} device_worker;

/* A cast job: one call of a cast, shared by its device workers. The lock guards everything that changes. */
struct cast_job {
  cast *cast;
  uint32_t count;
  device_worker *workers; /* the first runs on the caller's thread */
  os_mutex lock;
  size_t next; /* the first ray that no device worker has taken */
  slab_status status;
  char message[8192]; /* of the first failure */
  uint64_t reported;  /* rays last reported to the progress callback, by the caller's thread */
};

/* ---- sizes of launches ---- */

static uint64_t least(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t part_of_call(const cast *c) {
  const uint64_t part = (c->n + CHUNKS_OF_A_CALL - 1) / CHUNKS_OF_A_CALL;
  return part > LEAST_COPIED ? part : LEAST_COPIED;
}

/* Maximum number of rays of a launch: as many as fit the device's allocations, and at most the caller's launch_rays.
 * Where memory is copied they also fit the kept staging buffers and a part of the call. */
static uint32_t launch_bound(const cast *c, const device_worker *w) {
  const device *d = w->on.device;
  const size_t widest = c->result_size > input_size(c) ? c->result_size : input_size(c);
  uint64_t bound = d->info.allocation_bytes / widest;
  if (!d->in_place) bound = least(bound, least(STAGED_BYTES / widest, part_of_call(c)));
  if (d->launch_rays != 0 && d->launch_rays < bound) bound = d->launch_rays;
  if ((c->set != NULL || c->sums != NULL) && d->in_place) bound = least(bound, MADE_A_CHUNK);
  const uint64_t packets = (uint64_t)d->launch_items * d->info.lane_width;
  if (w->offered.packet != 0 && packets != 0 && packets < bound) bound = packets;
  const uint64_t fewest = c->sums != NULL ? SUM_PART : 1;
  return (uint32_t)(bound < fewest ? fewest : bound > LAUNCH_MAX ? LAUNCH_MAX : bound);
}

/* Reduces `count` to whole parts of sums; the first may be larger. */
static uint32_t whole_parts(const row_sums *s, size_t first, uint32_t count) {
  const size_t end = sums_part_begin(s, first + count);
  return (uint32_t)((end > first ? end : sums_part_end(s, first)) - first);
}

/* Reduces `wanted` until the hits of the rays from `first` on fit one buffer. Where hits are copied they must also fit
 * the kept staging buffers, except the hits of a single ray. */
static slab_status bound_hits(const cast *c, const device *d, size_t first, uint32_t *wanted) {
  uint64_t bound = d->info.allocation_bytes / sizeof(slab_hit);
  if (bound > UINT32_MAX) bound = UINT32_MAX;
  const uint64_t kept = STAGED_BYTES / sizeof(slab_hit), several = !d->in_place && kept < bound ? kept : bound;
  while (*wanted > 1 && c->offsets[first + *wanted] - c->offsets[first] > several) *wanted /= 2;
  uint64_t hits = c->offsets[first + *wanted] - c->offsets[first];
  if (hits <= bound) return SLAB_OK;
  return fail(SLAB_OUT_OF_MEMORY, "ray %zu has %llu hits, and \"%s\" holds %llu at once", c->before + first,
              (unsigned long long)hits, d->info.name, (unsigned long long)bound);
}

/* Limits `rays` to those whose hits can be collected; no limit where hits are not collected. */
static uint32_t bound_collected(const device_worker *w, uint32_t rays) {
  if (w->cast_job->cast->collected == NULL) return rays;
  const uint32_t most = space_rays(&w->hits, chunk_space(w->on.device), w->offered.walkers);
  return rays < most ? rays : most;
}

static uint32_t first_launch(const device_scene *on, uint32_t bound) {
  double tests = !on->scene->has_bvh ? (double)on->scene->primitives + 1.0 : BVH_TESTS;
  const double rays = FIRST_TESTS / tests;
  const uint32_t most = on->device->backend->mixes ? FIRST_MIXED : FIRST_LAUNCH;
  const uint32_t size = rays > most ? most : rays < WORK_GROUP ? WORK_GROUP : (uint32_t)rays;
  return size < bound ? size : bound;
}

/* Aims the next launch at LAUNCH_SECONDS; its size changes by a factor of 8 at most. */
static uint32_t next_launch(uint32_t size, double rate, uint32_t bound) {
  double next = rate * LAUNCH_SECONDS;
  const double most = 8.0 * size, least = 0.125 * size;
  next = next > most ? most : next < least ? least : next;
  return next > (double)bound ? bound : next < WORK_GROUP ? (bound < WORK_GROUP ? bound : WORK_GROUP) : (uint32_t)next;
}

/* Returns `size`, or all remaining rays where the rest would be a small launch. */
static uint32_t launch_size(size_t remaining, uint32_t size, uint32_t bound) {
  if (remaining > bound || size < FIRST_LAUNCH || remaining >= (size_t)size + FIRST_LAUNCH)
    return remaining < size ? (uint32_t)remaining : size;
  return (uint32_t)remaining;
}

/* With several devices, no device may hold rays that another one could have cast meanwhile. Each takes its share of the
 * remaining rays, in proportion to its speed, divided by the number of its chunks in flight. */
static uint32_t shared_size(const device_worker *w, size_t remaining) {
  const cast_job *job = w->cast_job;
  double all = 0.0;
  for (uint32_t i = 0; i < job->count; i++) all += job->workers[i].rate;
  const double share = w->rate > 0.0 ? w->rate / all : 1.0 / job->count;
  const double rays = share * (double)remaining / CHUNKS, least = w->rate * LEAST_SECONDS;
  double size = rays < least ? least : rays;
  if (size < WORK_GROUP) size = WORK_GROUP;
  if (size > w->size) size = w->size;
  return size < (double)remaining ? (uint32_t)size : (uint32_t)remaining;
}

/* ---- failures ---- */

static const char *noun_of(const cast *c) { return c->points != NULL ? "point" : "ray"; }

/* The first failure decides the status and message of the call. */
static void cast_job_fail(cast_job *job, slab_status status) {
  os_mutex_lock(&job->lock);
  if (job->status == SLAB_OK) {
    job->status = status;
    snprintf(job->message, sizeof job->message, "%s", slab_message());
  }
  os_mutex_unlock(&job->lock);
}

static void worker_fail(const device_worker *w, slab_status status) {
  const cast *c = w->cast_job->cast;
  char why[sizeof w->cast_job->message - 512];
  snprintf(why, sizeof why, "%s", slab_message());
  os_mutex_lock(&w->cast_job->lock);
  const uint64_t done = c->progress_done;
  os_mutex_unlock(&w->cast_job->lock);
  cast_job_fail(w->cast_job,
                fail(status, "%s: \"%s\" failed after %llu of %llu %s%s: %s", c->function, w->on.device->info.name,
                     (unsigned long long)done, (unsigned long long)c->progress_total, noun_of(c),
                     plural(c->progress_total, "", "s"), why));
}

/* ---- choosing the traversal ---- */

/* The time now. A CPU device works while this process has a processor, so its work is the process's CPU time divided by
 * the compute units. Wall-clock time includes waiting for other processes, and can be ten times the real cost of a
 * traversal. For other devices the work is the wall-clock time. */
static moment moment_now(const device *d) {
  moment now = {.wall = seconds_now()};
  const double spent = d->info.type == SLAB_DEVICE_CPU ? seconds_of_process() : 0.0;
  now.work = spent > 0.0 ? spent / d->info.compute_units : now.wall;
  return now;
}

/* Whether triangles are cast with closed edges: packets have half open ones alone (kernels/maths/closed.h). */
static bool casts_closed(const device_worker *w) {
  const slab_cast_options *options = w->cast_job->cast->options;
  const snapshot *scene = w->on.scene;
  const bool triangles = scene->has_instances || (scene->kinds >> SLAB_TRIANGLE & 1) != 0;
  return triangles && options != NULL && options->edges == SLAB_EDGES_CLOSED;
}

/* Rays with masks, worlds and hits of their own are cast one by one. So are points. */
static bool casts_own(const device_worker *w) {
  const cast *c = w->cast_job->cast;
  return c->points != NULL || has_own_rays(c->options);
}

/* Rays that the device makes, or pieces of a chunk, are not there to be sorted. */
static bool makes_there(const device_worker *w) {
  const cast *c = w->cast_job->cast;
  return c->far != NULL || (c->set != NULL && w->on.device->backend->open_tables != NULL);
}

static offer offered_now(const device_worker *w) {
  offer o = w->on.device->backend->offers(&w->on, w->cast_job->cast->query);
  if (casts_closed(w)) o.traversals &= ~(1u << SLAB_TRAVERSAL_PACKETS);
  if (casts_own(w)) o.traversals = 1u << SLAB_TRAVERSAL_SINGLE;
  return o;
}

/* The context's choice, where there are several traversals. */
static slab_traversal traversal_wanted(const device_worker *w) {
  const device *d = w->on.device;
  if (!device_scene_has_traversals(&w->on) || d->info.lane_width == 1 || casts_own(w)) return SLAB_TRAVERSAL_SINGLE;
  if (d->traversal == SLAB_TRAVERSAL_SORTED && makes_there(w)) return SLAB_TRAVERSAL_INTERLEAVED;
  return d->traversal == SLAB_TRAVERSAL_PACKETS && casts_closed(w) ? SLAB_TRAVERSAL_SINGLE : d->traversal;
}

/* Nothing is learned where rays are not interleaved. */
static flat_choice flat_choice_of(const device_worker *w) {
  if (casts_own(w) || w->on.state->beside == NULL || w->on.device->traversal != SLAB_TRAVERSAL_AUTO) return FLAT_NEVER;
  const bool interleaves = (w->offered.traversals >> SLAB_TRAVERSAL_INTERLEAVED & 1) != 0;
  if (interleaves) return FLAT_BY_RESULTS;
  return is_flat_likely(w->on.scene) ? FLAT_BY_ORDER : FLAT_NEVER;
}

/* Rays of a lens that follow each other are neighbours. Trials show the order of others: they begin with packets. */
static rays_order order_of_set(const set_rays *s) {
  return ray_set_is_picture(s) && s->set.kind != SLAB_RAYS_ORTHOGRAPHIC ? RAYS_OF_A_POINT : RAYS_ALIKE;
}

_Static_assert((int)FAR_SEEN >= (int)MADE_TO_SEE, "rays of the world are made to be seen");
static rays_maker maker_of(const cast *c) { return (rays_maker){far_rays_see, c->far}; }

/* Where there is no array of rays. */
static rays_order order_told(const cast *c) {
  const slab_scene_stats *bounds = &c->scene->stats;
  const rays_maker maker = maker_of(c);
  if (c->far != NULL) return made_rays_order_of(&maker, c->n, bounds->lower, bounds->upper);
  return c->set != NULL ? order_of_set(c->set) : RAYS_SCATTERED;
}

static void traversal_choice_open(device_worker *w) {
  const cast *c = w->cast_job->cast;
  const slab_scene_stats *stats = &w->on.scene->stats;
  w->offered = offered_now(w);
  const traversal_task task = {.query = c->query,
                               .wanted = traversal_wanted(w),
                               .traversals = w->offered.traversals,
                               .rays = c->rays,
                               .order = order_told(c),
                               .unsorted = makes_there(w),
                               .n = c->n / w->cast_job->count,
                               .lower = stats->lower,
                               .upper = stats->upper,
                               .compute_units = w->on.device->info.compute_units,
                               .ready = w->on.device->backend->ready,
                               .mixes = w->on.device->backend->mixes,
                               .flat = flat_choice_of(w),
                               .flat_likely = is_flat_likely(w->on.scene)};
  os_mutex_lock(&w->on.device->lock);
  w->traversal_choice = traversal_choice_begin(&task, &w->on.state->learned);
  os_mutex_unlock(&w->on.device->lock);
}

static void traversal_choice_close(device_worker *w) {
  os_mutex_lock(&w->on.device->lock);
  traversal_choice_end(&w->traversal_choice, w->cast_job->cast->query, &w->on.state->learned);
  os_mutex_unlock(&w->on.device->lock);
}

/* Chooses again where more traversals have become available since (program_pays). */
static void traversal_choice_look_again(device_worker *w) {
  if (w->traversal_choice.ordered && offered_now(w).traversals != w->offered.traversals) traversal_choice_open(w);
}

/* ---- one device ---- */

/* More hits were found than the caller's capacity, or too many bytes to be kept. */
static bool is_full(const cast *c) {
  return c->collected != NULL && (c->collected->found > c->collected->most || c->collected->bytes > COLLECTED_BYTES);
}

/* Takes the next rays. Returns false where none are left or something has failed. */
static bool take(device_worker *w, chunk *to, chunk_choice *chosen) {
  cast_job *job = w->cast_job;
  const cast *c = job->cast;
  slab_status status = SLAB_OK;
  os_mutex_lock(&job->lock);
  const size_t remaining = is_full(c) ? 0 : c->n - job->next;
  const bool more = job->status == SLAB_OK && remaining > 0;
  if (more) {
    traversal_choice_look_again(w);
    const uint32_t size = job->count == 1 ? launch_size(remaining, w->size, w->bound) : shared_size(w, remaining);
    const uint32_t all = remaining < w->bound ? (uint32_t)remaining : w->bound, count = bound_collected(w, size);
    const chunk_plan plan = {.count = count,
                             .most = job->count > 1 ? count : bound_collected(w, all),
                             .remaining = remaining,
                             .band = (uint64_t)c->rows.row * c->rows.height};
    *chosen = traversal_choice_next(&w->traversal_choice, &plan);
    to->first = job->next;
    to->count = chosen->count;
    to->traversal = chosen->traversal;
    memcpy(to->samples, chosen->samples, sizeof to->samples);
    to->known = w->hits;
    if (c->offsets != NULL) status = bound_hits(c, w->on.device, to->first, &to->count);
    if (c->sums != NULL) to->count = whole_parts(c->sums, to->first, to->count);
    job->next += to->count;
  }
  os_mutex_unlock(&job->lock);
  if (status != SLAB_OK) worker_fail(w, status);
  return more && status == SLAB_OK;
}

static bool begin_next(device_worker *w) {
  const uint32_t at = (w->first + w->flights) % CHUNKS;
  if (!take(w, &w->chunks[at], &w->chosen[at])) return false;
  w->begun[at] = moment_now(w->on.device);
  slab_status status = w->on.device->backend->begin(w->cast_job->cast, &w->on, &w->chunks[at]);
  if (status == SLAB_OK) w->flights++;
  if (status != SLAB_OK) worker_fail(w, status);
  return status == SLAB_OK;
}

/* Records the times that program_pays uses. */
static void note_kernels(device *d, bool built, double seconds) {
  os_mutex_lock(&d->lock);
  d->casting = built ? 0.0 : d->casting + seconds;
  if (built) d->building = seconds;
  os_mutex_unlock(&d->lock);
}

/* Uses the time of a chunk to size the next. The kernels of a chunk start after those of the previous chunk have ended.
 */
static void learn(device_worker *w, uint32_t at, uint32_t count, const chunk_outcome *outcome) {
  const bool first_use = outcome->first_use;
  const moment now = moment_now(w->on.device), begun = w->begun[at], ended = w->ended;
  const double seconds = now.wall - (ended.wall > begun.wall ? ended.wall : begun.wall);
  const double work = now.work - (ended.work > begun.work ? ended.work : begun.work);
  w->ended = now;
  note_kernels(w->on.device, first_use, seconds);
  if (first_use || !(seconds > 0.0)) return;
  traversal_choice_learn(&w->traversal_choice, &w->chosen[at], count, work, outcome->sampled);
  w->size = next_launch(w->size, count / seconds, w->bound);
  os_mutex_lock(&w->cast_job->lock);
  w->rate = count / seconds;
  os_mutex_unlock(&w->cast_job->lock);
}

static void report_progress(cast_job *job) {
  const cast *c = job->cast;
  if (c->options == NULL || c->options->progress == NULL) return;
  os_mutex_lock(&job->lock);
  const uint64_t done = c->progress_done;
  const bool ok = job->status == SLAB_OK;
  os_mutex_unlock(&job->lock);
  const bool news = ok && done > job->reported;
  job->reported = done;
  if (news && call_progress(c->options, c->callers, done, c->progress_total) != 0)
    cast_job_fail(job,
                  fail(SLAB_CANCELLED, "%s: cancelled after %llu of %llu %s%s", c->function, (unsigned long long)done,
                       (unsigned long long)c->progress_total, noun_of(c), plural(c->progress_total, "", "s")));
}

/* Inserts a batch in the collection, in descending order of rays: with several devices chunks end in any order. */
static void collect(device_worker *w, hit_batch *b) {
  collection *to = w->cast_job->cast->collected;
  batch_note(b, &w->hits);
  os_mutex_lock(&w->cast_job->lock);
  hit_batch **at = &to->batches;
  while (*at != NULL && (*at)->first > b->first) at = &(*at)->next;
  b->next = *at;
  *at = b;
  to->found += b->found;
  to->bytes += batch_bytes(b);
  os_mutex_unlock(&w->cast_job->lock);
}

static void count_done(cast *c, uint64_t rays, uint32_t invalid) {
  c->progress_done += rays;
  c->invalid += invalid;
}

/* Waits for the oldest chunk. */
static void end_oldest(device_worker *w) {
  const uint32_t at = w->first, count = w->chunks[at].count;
  cast *c = w->cast_job->cast;
  chunk_outcome outcome = {0};
  slab_status status = w->on.device->backend->end(c, &w->on, &w->chunks[at], &outcome);
  w->first = (w->first + 1) % CHUNKS;
  w->flights--;
  if (status != SLAB_OK) {
    worker_fail(w, status);
    return;
  }
  learn(w, at, count, &outcome);
  /* counting and listing hits in one pass counts as two */
  const uint64_t passes = outcome.batch != NULL && !outcome.batch->lost ? 2 : 1;
  if (outcome.batch != NULL) collect(w, outcome.batch);
  os_mutex_lock(&w->cast_job->lock);
  count_done(c, passes * count, outcome.invalid);
  os_mutex_unlock(&w->cast_job->lock);
  if (w == w->cast_job->workers) report_progress(w->cast_job);
}

static bool cast_job_goes_on(cast_job *job) {
  os_mutex_lock(&job->lock);
  const bool ok = job->status == SLAB_OK;
  os_mutex_unlock(&job->lock);
  return ok;
}

/* Chunks in flight at most. The first chunk of a collection runs alone too, since it determines the number of hits per
 * ray. */
static uint32_t most_flights(const device_worker *w) {
  const bool asks = w->cast_job->cast->collected != NULL && !hits_are_known(&w->hits);
  return asks || choice_is_alone(&w->traversal_choice) ? 1 : w->on.device->in_place ? CHUNKS_IN_PLACE : CHUNKS;
}

/* The tables that the call's chunks share, on the worker's device. */
static bool open_tables(device_worker *w) {
  const cast *c = w->cast_job->cast;
  const backend *b = w->on.device->backend;
  void *tables = NULL;
  if (b->open_tables == NULL || (c->set == NULL && c->sums == NULL && c->boundary == NULL)) return true;
  const slab_status status = b->open_tables(w->on.device, c->set, c->sums, c->boundary, &tables);
  for (int i = 0; i < CHUNKS; i++) w->chunks[i].tables = tables;
  if (status != SLAB_OK) worker_fail(w, status);
  return status == SLAB_OK;
}

static void *worker_run(void *argument) {
  device_worker *w = argument;
  if (!open_tables(w)) return NULL;
  for (bool more = true; cast_job_goes_on(w->cast_job) && (more || w->flights > 0);) {
    while (more && w->flights < most_flights(w)) more = begin_next(w);
    if (w->flights > 0) end_oldest(w);
  }
  for (; w->flights > 0; w->flights--) {
    w->on.device->backend->abandon(&w->on, &w->chunks[w->first]);
    w->first = (w->first + 1) % CHUNKS;
  }
  for (int i = CHUNKS - 1; i >= 0; i--) { /* so that the next call's first chunk gets the memory of this call's first */
    slab_status status = w->on.device->backend->settle(&w->on, &w->chunks[i]);
    if (status != SLAB_OK) worker_fail(w, status);
  }
  if (w->chunks[0].tables != NULL) w->on.device->backend->close_tables(w->on.device, w->chunks[0].tables);
  return NULL;
}

/* ---- all devices ---- */

static void worker_open(cast_job *job, uint32_t i) {
  device_worker *w = &job->workers[i];
  const cast *c = job->cast;
  w->cast_job = job;
  w->on = device_scene_of(c->scene, i);
  traversal_choice_open(w);
  w->bound = launch_bound(c, w);
  w->size = first_launch(&w->on, w->bound);
  os_mutex_lock(&w->on.device->lock);
  w->hits = hits_bounded(&w->on.state->hits, max_hits(w->cast_job->cast));
  os_mutex_unlock(&w->on.device->lock);
}

/* Stores the learned results in the device scene. */
static void worker_close(device_worker *w) {
  traversal_choice_close(w);
  os_mutex_lock(&w->on.device->lock);
  if (max_hits(w->cast_job->cast) == 0) w->on.state->hits = w->hits;
  os_mutex_unlock(&w->on.device->lock);
}

/* The caller's thread runs the first device worker, so progress can be reported on that thread. */
static void run_all(cast_job *job) {
  uint32_t started = 1;
  for (; started < job->count; started++) {
    const int code = os_thread_start(&job->workers[started].thread, worker_run, &job->workers[started]);
    if (code == 0) continue;
    cast_job_fail(job, fail(SLAB_OUT_OF_MEMORY, "%s: no thread for \"%s\" (%s)", job->cast->function,
                            job->workers[started].on.device->info.name, strerror(code)));
    break;
  }
  worker_run(&job->workers[0]);
  for (uint32_t i = 1; i < started; i++) os_thread_join(job->workers[i].thread);
  report_progress(job); /* the last chunks of other devices */
}

/* ---- few rays ---- */

static bool are_few(const cast *c) {
  const device *d = &c->scene->context->devices[0];
  return c->n <= FEW_RAYS && c->set == NULL && c->sums == NULL && c->points == NULL &&
         c->scene->context->device_count == 1 && d->backend->few != NULL && d->launch_rays == 0 &&
         d->traversal == SLAB_TRAVERSAL_AUTO && c->collected == NULL &&
         (c->options == NULL || c->options->progress == NULL);
}

static uint32_t few_class(size_t rays) {
  uint32_t k = 0;
  while (rays >> k > 1) k++;
  return k;
}

/* Small scenes have brute force beside their BVH, which may be faster for few rays. */
static slab_status cast_few_chosen(const cast *c, const device_scene *on, chunk_outcome *outcome) {
  const backend *b = on->device->backend;
  if (on->state->beside == NULL) return b->few(c, on, false, outcome);
  few_choice *choice = &on->state->few.of[c->query][few_class(c->n)];
  const few_turn turn = few_choice_next(choice, is_flat_likely(on->scene));
  if (!turn.timed) return b->few(c, on, turn.flat, outcome);
  const double begun = seconds_now();
  const slab_status status = b->few(c, on, turn.flat, outcome);
  if (status == SLAB_OK) few_choice_learn(choice, turn.flat, seconds_now() - begun);
  return status;
}

static slab_status cast_few(cast *c) {
  const device_scene on = device_scene_of(c->scene, 0);
  chunk_outcome outcome;
  const slab_status status = cast_few_chosen(c, &on, &outcome);
  if (status != SLAB_OK) return status;
  count_done(c, c->n, outcome.invalid);
  return SLAB_OK;
}

/* Looks for rows of rays where packets of tiles may be cast. */
static slab_status find_rows(cast_job *job) {
  cast *c = job->cast;
  const slab_scene_stats *bounds = &c->scene->stats;
  device *wanted = NULL;
  for (uint32_t i = 0; i < job->count && wanted == NULL; i++)
    if (job->workers[i].on.device->backend->tiles && traversal_choice_packs(&job->workers[i].traversal_choice))
      wanted = job->workers[i].on.device;
  if (c->query == SLAB_ALL && c->collected == NULL) wanted = NULL;
  c->rows = (rays_rows){0};
  if (wanted != NULL && c->set != NULL) return set_rows_find(c, wanted, &c->rows);
  const rays_maker maker = maker_of(c);
  if (wanted != NULL && c->far != NULL)
    c->rows = made_rays_rows_of(&maker, c->n, bounds->lower, bounds->upper);
  else if (wanted != NULL)
    c->rows = rays_rows_of(c->rays, c->n, bounds->lower, bounds->upper);
  return SLAB_OK;
}

slab_status schedule_rays(cast *c) {
  const uint32_t devices = c->scene->context->device_count;
  if (c->n == 0) return SLAB_OK;
  if (are_few(c)) return cast_few(c);
  device_worker alone = {0};
  cast_job job = {.cast = c, .count = devices, .workers = devices == 1 ? &alone : calloc(devices, sizeof *job.workers)};
  if (job.workers == NULL) return fail_memory(devices * sizeof *job.workers, "a cast");
  os_mutex_init(&job.lock);
  for (uint32_t i = 0; i < devices; i++) worker_open(&job, i);
  const slab_status found = find_rows(&job);
  if (found == SLAB_OK)
    run_all(&job);
  else
    cast_job_fail(&job, found);
  for (uint32_t i = 0; i < devices; i++) worker_close(&job.workers[i]);
  if (c->collected != NULL) c->collected->rays = job.next;
  os_mutex_destroy(&job.lock);
  set_rows_free(&c->rows);
  if (job.workers != &alone) free(job.workers);
  return job.status == SLAB_OK ? SLAB_OK : fail(job.status, "%s", job.message);
}
