#include "batches.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "relay.h"

/* Fewest rays of a batch that shrinks for its hits. */
enum { BATCH_MIN = 1 << 12 };
/* One batch is read, one cast, one written. */
enum { CARRIERS = 3 };
enum { STAGE_READ, STAGE_CAST, STAGE_WRITE };

typedef struct batches {
  relay relay;
  ray_source *rays;
  caster *cast; /* belongs to the batch whose turn it is to be cast */
  result_file *results;
  size_t capacity;    /* rays in a buffer */
  atomic_size_t size; /* rays of the next batch */
  uint64_t done;      /* rays written, of this run */
} batches;

/* A thread with the buffers of one batch. */
typedef struct carrier {
  batches *all;
  uint64_t batch;
  slab_ray *rays;
  size_t count;
  cast_buffers buffers;
  const void *results; /* cast and not yet written; NULL: nothing */
  const uint64_t *offsets;
  pthread_t thread;
} carrier;

/* ---- the stages ------------------------------------------------------------ */

/* A producer that is waited for must not hold up the end of a cast that has failed: reading can be cancelled. */
static int read_batch(carrier *c) {
  batches *all = c->all;
  if (ray_source_read(all->rays, atomic_load(&all->size), c->rays, &c->count)) return EXIT_FAILED;
  return c->count ? EXIT_DONE : RELAY_NO_MORE;
}

static int write_rays(carrier *c, const slab_ray *rays, const void *results, const uint64_t *offsets, size_t n) {
  batches *all = c->all;
  if (all->results && result_file_put(all->results, rays, results, offsets, n)) return -1;
  all->done += n;
  return 0;
}

/* A whole batch is left for its turn to be written; a piece of one makes room for the next piece at once. */
static int receive(void *user, const slab_ray *rays, const void *results, const uint64_t *offsets, size_t n) {
  carrier *c = user;
  if (n < c->count)
    return relay_enter(&c->all->relay, STAGE_WRITE, c->batch) || write_rays(c, rays, results, offsets, n) ? -1 : 0;
  c->results = results;
  c->offsets = offsets;
  return 0;
}

/* So many rays that their hits, if they have as many as those of this batch, fit the buffer. */
static size_t next_size(const batches *all, uint64_t hits, size_t rays, uint64_t hits_capacity) {
  const double fit = hits ? 0.9 * (double)hits_capacity * (double)rays / (double)hits : (double)all->capacity;
  if (fit >= (double)all->capacity) return all->capacity;
  return fit > BATCH_MIN ? (size_t)fit : all->capacity < BATCH_MIN ? all->capacity : BATCH_MIN;
}

static int cast_batch(carrier *c) {
  batches *all = c->all;
  caster *cast = all->cast;
  const uint64_t crossings = cast->tally.crossings;
  cast->buffers = c->buffers;
  cast->user = c;
  const int code = caster_run(cast, c->rays, c->count);
  c->buffers = cast->buffers;
  if (cast->query == SLAB_ALL)
    atomic_store(&all->size, next_size(all, cast->tally.crossings - crossings, c->count, c->buffers.capacity));
  progress_at(&cast->line, cast->line.first + cast->tally.rays);
  return code;
}

static int write_batch(carrier *c) {
  if (c->results && write_rays(c, c->rays, c->results, c->offsets, c->count)) return EXIT_FAILED;
  c->results = NULL;
  return EXIT_DONE;
}

static int carry(carrier *c) {
  static int (*const stages[RELAY_STAGES])(carrier *) = {read_batch, cast_batch, write_batch};
  relay *way = &c->all->relay;
  c->batch = relay_begin(way);
  for (int stage = 0; stage < RELAY_STAGES; stage++) {
    if (relay_enter(way, stage, c->batch)) return -1;
    const int code = stages[stage](c);
    relay_leave(way, stage, code);
    if (code != EXIT_DONE) return -1;
  }
  return 0;
}

static void *run_carrier(void *user) {
  carrier *c = user;
  pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); /* but where input.c reads */
  while (carry(c) == 0) continue;
  relay_retire(&c->all->relay);
  return NULL;
}

/* ---- the threads ----------------------------------------------------------- */

static int make_carrier(batches *all, carrier *c) {
  c->all = all;
  c->rays = malloc(all->capacity * sizeof *c->rays);
  const int code = caster_prepare(all->cast, all->capacity);
  c->buffers = all->cast->buffers;
  if (code == EXIT_DONE && !c->rays) complain("out of memory for batches of %zu rays", all->capacity);
  return code == EXIT_DONE && !c->rays ? EXIT_FAILED : code;
}

static void free_carrier(carrier *c) {
  c->all->cast->buffers = c->buffers;
  caster_release(c->all->cast);
  free(c->rays);
}

static int start(batches *all, carrier *carriers, int count, int *started) {
  int failure = 0;
  for (*started = 0; *started < count && !failure; *started += !failure)
    failure = pthread_create(&carriers[*started].thread, NULL, run_carrier, &carriers[*started]);
  if (!failure) return EXIT_DONE;
  complain("cannot start a thread: %s", strerror(failure));
  relay_stop(&all->relay, EXIT_FAILED);
  return EXIT_FAILED;
}

static int run_carriers(batches *all, carrier *carriers, int count) {
  int started = 0;
  const int failure = relay_make(&all->relay, count);
  if (failure) {
    complain("cannot start threads: %s", strerror(failure));
    return EXIT_FAILED;
  }
  int code = start(all, carriers, count, &started);
  if (code == EXIT_DONE) code = relay_wait(&all->relay);
  for (int i = 0; code != EXIT_DONE && i < started; i++) pthread_cancel(carriers[i].thread);
  for (int i = 0; i < started; i++) pthread_join(carriers[i].thread, NULL);
  if (code == EXIT_DONE) code = all->relay.code;
  relay_free(&all->relay);
  return code;
}

/* Of a failure, what was done before it and is not lost. */
static void tell_progress(const batches *all) {
  const uint64_t done = all->cast->line.first + all->done, total = all->cast->line.total;
  const char *verb = all->results ? "written" : "done";
  if (done == 0) return;
  if (total)
    complain("%" PRIu64 " of %" PRIu64 " rays were %s before", done, total, verb);
  else
    complain("%" PRIu64 " rays were %s before", done, verb);
}

int batches_run(ray_source *rays, caster *cast, result_file *results) {
  const uint64_t count = ray_source_count(rays);
  carrier carriers[CARRIERS] = {0};
  batches all = {.rays = rays, .cast = cast, .results = results};
  all.capacity = count < CAST_BATCH ? (size_t)count + (count == 0) : CAST_BATCH;
  atomic_init(&all.size, all.capacity);
  cast->receive = receive;
  /* Rays of one batch need no second carrier to read the next. */
  const int wanted = count <= CAST_BATCH ? 1 : CARRIERS;
  int made = 0, code = EXIT_DONE;
  while (made < wanted && code == EXIT_DONE) code = make_carrier(&all, &carriers[made++]);
  if (code == EXIT_DONE) code = run_carriers(&all, carriers, wanted);
  if (code != EXIT_DONE) tell_progress(&all);
  progress_end(&cast->line);
  for (int i = 0; i < made; i++) free_carrier(&carriers[i]);
  return code;
}
