#include "program/io/caster.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/pipeline.h"
#include "program/io/result_row.h"

/* Hits of SLAB_ALL held at once (64 MiB). A batch with more hits is cast in pieces. */
enum { HITS_AT_ONCE = 1 << 21 };

static int complain_memory(size_t rays) {
  complain("out of memory for batches of %zu %s", rays, plural(rays, "ray", "rays"));
  return EXIT_FAILED;
}

int caster_prepare(caster *cast, size_t rays) {
  const int all = cast->query == SLAB_ALL;
  cast_buffers *buffers = &cast->buffers;
  *buffers = (cast_buffers){.capacity = all ? HITS_AT_ONCE : rays};
  buffers->results = malloc(buffers->capacity * result_size(cast->query, cast->doubles));
  if (all) buffers->offsets = malloc((rays + 1) * sizeof *buffers->offsets);
  if (all) buffers->piece_offsets = malloc((rays + 1) * sizeof *buffers->piece_offsets);
  const int whole = buffers->results && (!all || (buffers->offsets && buffers->piece_offsets));
  return whole ? EXIT_DONE : complain_memory(rays);
}

void caster_release(caster *cast) {
  free(cast->buffers.results);
  free(cast->buffers.offsets);
  free(cast->buffers.piece_offsets);
  cast->buffers = (cast_buffers){0};
}

/* ---- after the cast -------------------------------------------------------- */

static void count_hits(caster *cast, const uint64_t *offsets, size_t n) {
  const char *result = cast->buffers.results;
  const size_t size = result_size(cast->query, cast->doubles);
  for (size_t i = 0; i < n; i++) {
    const uint64_t crossings = offsets ? offsets[i + 1] - offsets[i] : 0;
    cast->tally.hits +=
        offsets ? crossings > 0 : (uint64_t)result_is_hit(cast->query, cast->doubles, result + i * size);
    cast->tally.crossings += crossings;
    if (cast->query == SLAB_COUNT) cast->tally.crossings += ((const uint32_t *)cast->buffers.results)[i];
  }
}

static int check(caster *cast, const slab_source *source, const uint64_t *offsets, const slab_cast_options *used) {
  slab_check_report report = {0};
  slab_cast_options options = *used;
  slab_results results = {.memory = cast->buffers.results, .offsets = (uint64_t *)offsets};
  options.progress = NULL;
  const slab_status status = slab_check_cast(cast->scene, cast->query, source, &results, &options, &report);
  if (status != SLAB_OK) return complain_status(status, "--check");
  check_tally_add(&cast->tally.check, &report, "ray", cast->first + cast->tally.rays);
  return EXIT_DONE;
}

/* Why a ray is invalid. most: of its origin's coordinates; the direction's largest one is in the range of these. */
static ray_fault fault_of(const slab_ray64 *ray, double most, double least_way, double most_way) {
  const double *o = ray->origin, *d = ray->direction;
  int nan = isnan(ray->t_min) || isnan(ray->t_max), infinite = 0, far = 0;
  double way = 0;
  for (int i = 0; i < 3; i++) {
    nan |= isnan(o[i]) || isnan(d[i]);
    infinite |= isinf(o[i]) || isinf(d[i]);
    far |= fabs(o[i]) > most;
    way = fmax(way, fabs(d[i]));
  }
  if (nan) return FAULT_NAN;
  if (infinite) return FAULT_INFINITE;
  if (way == 0) return FAULT_DIRECTION;
  if (far) return FAULT_FAR;
  return way < least_way || way > most_way ? FAULT_WAY : RAY_FAULTS;
}

static slab_ray64 widened(const slab_ray *ray) {
  slab_ray64 wide = {.t_min = (double)ray->t_min, .t_max = (double)ray->t_max};
  for (int k = 0; k < 3; k++) {
    wide.origin[k] = (double)ray->origin[k];
    wide.direction[k] = (double)ray->direction[k];
  }
  return wide;
}

static ray_fault fault_of_ray(const result_rays *rays, size_t i) {
  if (rays->doubles) return fault_of(&rays->doubles[i], 0x1p58, 0x1p-960, 0x1p960);
  const slab_ray64 wide = widened(&rays->floats[i]);
  return fault_of(&wide, 0x1p60, 0, (double)INFINITY);
}

/* Counts the reasons of invalid rays in a batch. Called if the device reported any. */
static void count_faults(cast_tally *tally, uint64_t first, const result_rays *rays, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const ray_fault fault = fault_of_ray(rays, i);
    if (fault == RAY_FAULTS) continue;
    tally->faults[fault]++;
    if (tally->first_invalid == UINT64_MAX) tally->first_invalid = first + i;
  }
}

/* Writes the rays of a set, in the thread that casts: a device may write them. They count from where the set does. */
static int write_set(const caster *cast, const slab_source *source, slab_ray *space) {
  slab_rays set = *source->set;
  memset(set.offset, 0, sizeof set.offset);
  const slab_status status = slab_rays_write(cast->context, &set, source->first, source->n, space);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "the rays cannot be written");
}

/* The rays of a source. space: the rays of a set, which are written there where the receiver reads them. */
static result_rays rays_of(const slab_source *source, const slab_ray *space) {
  result_rays rays = {.floats = source->set ? space : source->rays, .doubles = source->rays64};
  if (source->set) memcpy(rays.offset, source->set->offset, sizeof rays.offset);
  return rays;
}

/* Processes a batch whose results are complete: counts, checks, passes it to the receiver. options: of its cast. */
static int hand_on(caster *cast, const slab_source *source, slab_ray *space, const uint64_t *offsets,
                   const slab_cast_options *options) {
  const uint64_t invalid = *options->invalid;
  const size_t n = source->n;
  const result_rays rays = rays_of(source, space);
  int code = EXIT_DONE;
  if (source->set && (cast->wants_rays || invalid)) code = write_set(cast, source, space);
  if (code != EXIT_DONE) return code;
  count_hits(cast, offsets, n);
  cast->tally.invalid += invalid;
  if (invalid) count_faults(&cast->tally, cast->first + cast->tally.rays, &rays, n);
  if (cast->check) code = check(cast, source, offsets, options);
  if (code != EXIT_DONE) return code;
  if (cast->receive && cast->receive(cast->user, &rays, cast->buffers.results, offsets, n)) return EXIT_FAILED;
  cast->tally.rays += n;
  return EXIT_DONE;
}

/* ---- the cast -------------------------------------------------------------- */

/* Sets the progress line's base and span for a batch. They count rays; slab_all itself counts each ray twice. */
static void begin_span(caster *cast, size_t n) {
  cast->line.base = cast->line.first + cast->tally.rays;
  cast->line.span = n;
}

static double take_seconds(caster *cast) {
  const double now = seconds_now(), seconds = now - cast->begun;
  cast->begun = now;
  return seconds;
}

/* Restarts the cast clock at the first answers of all. */
static int on_progress(void *user, uint64_t done, uint64_t total) {
  caster *cast = user;
  if (!cast->answered) {
    cast->answered = 1;
    cast->tally.prepare_seconds = take_seconds(cast);
    cast->tally.prepare_rays = (uint64_t)((double)cast->line.span * (double)done / (double)total);
  }
  return progress_of_cast(&cast->line, done, total);
}

/* One timed cast of all hits. If it returns SLAB_CAPACITY, the offsets are complete. */
static slab_status cast_all(caster *cast, const slab_source *source, uint64_t *offsets,
                            const slab_cast_options *options) {
  slab_results results = {.memory = cast->buffers.results, .offsets = offsets, .capacity = cast->buffers.capacity};
  cast->begun = seconds_now();
  const slab_status status = slab_cast(cast->scene, SLAB_ALL, source, &results, options);
  cast->tally.cast_seconds += take_seconds(cast);
  return status;
}

/* Enlarges the result buffer for a single ray with more hits than it holds. */
static int hold(caster *cast, uint64_t hits) {
  if (hits <= cast->buffers.capacity) return EXIT_DONE;
  const size_t size = result_size(SLAB_ALL, cast->doubles);
  void *grown = hits <= SIZE_MAX / size ? realloc(cast->buffers.results, hits * size) : NULL;
  if (!grown) {
    complain("out of memory for the %" PRIu64 " %s of ray %" PRIu64, hits, plural(hits, "hit", "hits"),
             cast->first + cast->tally.rays);
    return EXIT_FAILED;
  }
  cast->buffers.results = grown;
  cast->buffers.capacity = hits;
  return EXIT_DONE;
}

/* n rays from `at` on. */
static slab_source source_from(const slab_source *source, size_t at, size_t n) {
  slab_source piece = *source;
  if (piece.rays) piece.rays += at;
  if (piece.rays64) piece.rays64 += at;
  if (piece.set) piece.first += at;
  piece.n = n;
  return piece;
}

/* The options of the rays from `at` on. */
static slab_cast_options options_from(const slab_cast_options *options, size_t at) {
  slab_cast_options piece = *options;
  if (piece.masks) piece.masks += at;
  if (piece.after) piece.after += at;
  if (piece.worlds) piece.worlds += at;
  return piece;
}

/* Casts a batch again in pieces whose hits fit. The offsets of the whole batch must be known. */
static int run_pieces(caster *cast, const slab_source *source, slab_ray *space, const slab_cast_options *options) {
  const size_t n = source->n;
  for (size_t at = 0; at < n;) {
    size_t end = at + 1;
    while (end < n && cast->buffers.offsets[end + 1] - cast->buffers.offsets[at] <= cast->buffers.capacity) end++;
    int code = hold(cast, cast->buffers.offsets[end] - cast->buffers.offsets[at]);
    if (code != EXIT_DONE) return code;
    const slab_source rays = source_from(source, at, end - at);
    const slab_cast_options piece = options_from(options, at);
    begin_span(cast, end - at);
    const slab_status status = cast_all(cast, &rays, cast->buffers.piece_offsets, &piece);
    if (status != SLAB_OK) return complain_status(status, "the cast failed");
    code = hand_on(cast, &rays, space, cast->buffers.piece_offsets, &piece);
    if (code != EXIT_DONE) return code;
    at = end;
  }
  return EXIT_DONE;
}

int caster_run(caster *cast, const slab_source *source, slab_ray *space) {
  const size_t n = source->n;
  uint64_t invalid = 0;
  slab_cast_options options = cast->options;
  slab_status status;
  options.progress = on_progress;
  options.user = cast;
  options.invalid = &invalid;
  begin_span(cast, n);
  progress_await(&cast->line, cast->device);
  if (cast->query == SLAB_ALL) {
    status = cast_all(cast, source, cast->buffers.offsets, &options);
    const int counted = status == SLAB_OK || status == SLAB_CAPACITY;
    if (counted && cast->place && cast->place(cast->user, cast->buffers.offsets[n])) return EXIT_FAILED;
    if (status == SLAB_CAPACITY) return run_pieces(cast, source, space, &options);
  } else {
    slab_results results = {.memory = cast->buffers.results};
    cast->begun = seconds_now();
    status = slab_cast(cast->scene, cast->query, source, &results, &options);
    cast->tally.cast_seconds += take_seconds(cast);
  }
  if (status != SLAB_OK) return complain_status(status, "the cast failed");
  return hand_on(cast, source, space, cast->buffers.offsets, &options);
}

/* ---- a batch ---------------------------------------------------------------- */

/* Fewest rays of a batch that is reduced because of its hits. */
enum { BATCH_MIN = 1 << 12 };

typedef struct batches batches;

/* The buffers of a batch. */
typedef struct slot {
  batches *all;
  pipeline *line; /* and its place there, while it is cast */
  uint64_t batch;
  ray_space space;
  slab_source source; /* its rays */
  own_rows own;       /* the rays' own values */
  cast_buffers buffers;
  result_rays rays;
  const void *results; /* results that are cast but not yet written; NULL: none */
  const uint64_t *offsets;
} slot;

struct batches {
  ray_source *rays;
  own_source *own;
  caster *cast;
  result_file *results;
  slot slots[PIPELINE_SLOTS]; /* batch b uses slot b % slot_count */
  uint64_t slot_count;
  size_t capacity;    /* rays that a buffer holds */
  atomic_size_t size; /* rays of the next batch */
  uint64_t done;      /* rays written in this run */
};

/* ---- the stages ------------------------------------------------------------ */

static slot *slot_of(batches *all, uint64_t batch) { return &all->slots[batch % all->slot_count]; }

static int read_batch(pipeline *line, void *user, uint64_t batch) {
  batches *all = user;
  slot *s = slot_of(all, batch);
  (void)line;
  if (ray_source_next(all->rays, atomic_load(&all->size), &s->space, &s->source)) return EXIT_FAILED;
  if (own_source_read(all->own, s->source.n, &s->own)) return EXIT_FAILED;
  if (s->source.n > 0) return EXIT_DONE;
  return own_source_end(all->own) ? EXIT_FAILED : PIPELINE_END;
}

static int write_rays(slot *s, const result_rays *rays, const void *results, const uint64_t *offsets, size_t n) {
  batches *all = s->all;
  if (all->results && result_file_put(all->results, rays, results, offsets, n)) return -1;
  all->done += n;
  return 0;
}

/* Keeps a whole batch for the write stage. A piece of a batch is written at once, because the next piece needs its
 * buffer. */
static int receive(void *user, const result_rays *rays, const void *results, const uint64_t *offsets, size_t n) {
  slot *s = user;
  if (n < s->source.n) {
    if (pipeline_await_written(s->line, s->batch)) return -1;
    return write_rays(s, rays, results, offsets, n);
  }
  s->rays = *rays;
  s->results = results;
  s->offsets = offsets;
  return 0;
}

/* The next batch's size: its hits fit the buffer if it has as many per ray as this batch. */
static size_t next_size(const batches *all, uint64_t hits, size_t rays, uint64_t hits_capacity) {
  const double fit = hits ? 0.9 * (double)hits_capacity * (double)rays / (double)hits : (double)all->capacity;
  if (fit >= (double)all->capacity) return all->capacity;
  return fit > BATCH_MIN ? (size_t)fit : all->capacity < BATCH_MIN ? all->capacity : BATCH_MIN;
}

static int cast_batch(pipeline *line, void *user, uint64_t batch) {
  batches *all = user;
  slot *s = slot_of(all, batch);
  caster *cast = all->cast;
  const uint64_t crossings = cast->tally.crossings;
  s->line = line;
  s->batch = batch;
  cast->buffers = s->buffers;
  cast->user = s;
  cast->options.masks = s->own.masks;
  cast->options.after = s->own.after;
  cast->options.worlds = s->own.worlds;
  const int code = caster_run(cast, &s->source, s->space.rays.floats);
  s->buffers = cast->buffers;
  if (cast->query == SLAB_ALL)
    atomic_store(&all->size, next_size(all, cast->tally.crossings - crossings, s->source.n, s->buffers.capacity));
  progress_at(&cast->line, cast->line.first + cast->tally.rays);
  return code;
}

static int write_batch(pipeline *line, void *user, uint64_t batch) {
  slot *s = slot_of(user, batch);
  (void)line;
  if (s->results && write_rays(s, &s->rays, s->results, s->offsets, s->source.n)) return EXIT_FAILED;
  s->results = NULL;
  return EXIT_DONE;
}

/* ---- all batches ------------------------------------------------------------ */

/* Makes a slot. own: memory for the own values of a batch's rays. */
static int make_slot(batches *all, slot *s, own_rows own) {
  const int code = caster_prepare(all->cast, all->capacity);
  *s = (slot){.all = all, .own = own, .buffers = all->cast->buffers};
  if (code != EXIT_DONE) return code;
  return ray_space_make(all->rays, all->capacity, &s->space) ? complain_memory(all->capacity) : EXIT_DONE;
}

static void free_slot(slot *s) {
  s->all->cast->buffers = s->buffers;
  caster_release(s->all->cast);
  ray_space_free(&s->space);
}

/* Makes the slots, and runs the stages. */
static int run_slots(batches *all, const own_rows *own) {
  static pipeline_stage *const stages[PIPELINE_STAGES] = {read_batch, cast_batch, write_batch};
  const uint64_t count = all->slot_count; /* read once: gcc 14 else takes it for more slots after a call */
  uint64_t made = 0;
  int code = EXIT_DONE;
  for (; made < count && code == EXIT_DONE; made++)
    code = make_slot(all, &all->slots[made], own_rows_from(own, made * all->capacity));
  if (code == EXIT_DONE) code = pipeline_run(stages, all, count);
  while (made > 0) free_slot(&all->slots[--made]);
  return code;
}

/* Prints how many rays were done before a failure; their results are kept. */
static void tell_progress(const batches *all) {
  const uint64_t done = all->cast->line.first + all->done, total = all->cast->line.total;
  const char *verb = all->results ? "written" : "done", *were = plural(done, "was", "were");
  if (done == 0) return;
  if (total)
    complain("%" PRIu64 " of %" PRIu64 " %s %s %s before", done, total, plural(total, "ray", "rays"), were, verb);
  else
    complain("%" PRIu64 " %s %s %s before", done, plural(done, "ray", "rays"), were, verb);
}

int batches_run(ray_source *rays, own_source *own, caster *cast, result_file *results) {
  const uint64_t count = ray_source_count(rays);
  batches all = {.rays = rays, .own = own, .cast = cast, .results = results};
  all.capacity = count < CAST_BATCH ? (size_t)count + (count == 0) : CAST_BATCH;
  all.slot_count = count <= CAST_BATCH ? 1 : PIPELINE_SLOTS; /* a single batch needs no second slot */
  atomic_init(&all.size, all.capacity);
  cast->receive = receive;
  own_rows own_memory = {0};
  const bool space = own_rows_make(own, all.slot_count * all.capacity, &own_memory) == 0;
  const int code = space ? run_slots(&all, &own_memory) : complain_memory(all.capacity);
  if (code != EXIT_DONE) tell_progress(&all);
  progress_end(&cast->line);
  own_rows_free(&own_memory);
  return code;
}
