#include "caster.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "answers.h"
#include "cli.h"
#include "result_row.h"
#include "text.h"

/* Hits of SLAB_ALL held at once (64 MiB). A batch with more hits is cast in pieces. */
enum { HITS_AT_ONCE = 1 << 21 };

int caster_prepare(caster *cast, size_t rays) {
  const int all = cast->query == SLAB_ALL;
  cast_buffers *buffers = &cast->buffers;
  *buffers = (cast_buffers){.capacity = all ? HITS_AT_ONCE : rays};
  buffers->results = malloc(buffers->capacity * slab_result_size(cast->query));
  if (all) buffers->offsets = malloc((rays + 1) * sizeof *buffers->offsets);
  if (all) buffers->piece_offsets = malloc((rays + 1) * sizeof *buffers->piece_offsets);
  if (buffers->results && (!all || (buffers->offsets && buffers->piece_offsets))) return EXIT_DONE;
  complain("out of memory for batches of %zu %s", rays, plural(rays, "ray", "rays"));
  return EXIT_FAILED;
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
  const size_t size = slab_result_size(cast->query);
  for (size_t i = 0; i < n; i++) {
    const uint64_t crossings = offsets ? offsets[i + 1] - offsets[i] : 0;
    cast->tally.hits += offsets ? crossings > 0 : (uint64_t)result_is_hit(cast->query, result + i * size);
    cast->tally.crossings += crossings;
    if (cast->query == SLAB_COUNT) cast->tally.crossings += ((const uint32_t *)cast->buffers.results)[i];
  }
}

static int check(caster *cast, const slab_ray *rays, const uint64_t *offsets, size_t n, uint64_t invalid) {
  slab_check_report report = {0};
  slab_cast_options options = cast->options;
  options.progress = NULL;
  options.invalid = &invalid;
  const slab_status status =
      slab_check(cast->scene, cast->query, rays, n, cast->buffers.results, offsets, &options, &report);
  if (status != SLAB_OK) return complain_status(status, "--check");
  const cast_tally *tally = &cast->tally;
  if ((report.mismatches || report.oracle_wrong) && !tally->mismatches && !tally->oracle_wrong)
    complain("mismatch at ray %" PRIu64 ": %s", cast->first + tally->rays + report.first, report.text);
  cast->tally.checked += report.rays;
  cast->tally.mismatches += report.mismatches;
  cast->tally.oracle_rays += report.oracle_rays;
  cast->tally.oracle_wrong += report.oracle_wrong;
  cast->tally.oracle_undecided += report.oracle_undecided;
  return EXIT_DONE;
}

static ray_fault fault_of(const slab_ray *ray) {
  const float *o = ray->origin, *d = ray->direction;
  int nan = isnan(ray->t_min) || isnan(ray->t_max), infinite = 0, far = 0;
  for (int i = 0; i < 3; i++) {
    nan |= isnan(o[i]) || isnan(d[i]);
    infinite |= isinf(o[i]) || isinf(d[i]);
    far |= fabsf(o[i]) > 0x1p60f;
  }
  if (nan) return FAULT_NAN;
  if (infinite) return FAULT_INFINITE;
  if (d[0] == 0 && d[1] == 0 && d[2] == 0) return FAULT_DIRECTION;
  return far ? FAULT_FAR : RAY_FAULTS;
}

/* Counts the reasons of invalid rays in a batch. Called if the device reported any. */
static void count_faults(cast_tally *tally, uint64_t first, const slab_ray *rays, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const ray_fault fault = fault_of(&rays[i]);
    if (fault == RAY_FAULTS) continue;
    tally->faults[fault]++;
    if (tally->first_invalid == UINT64_MAX) tally->first_invalid = first + i;
  }
}

/* Processes a batch whose results are complete: counts, checks, passes it to the receiver. */
static int hand_on(caster *cast, const slab_ray *rays, const uint64_t *offsets, size_t n, uint64_t invalid) {
  count_hits(cast, offsets, n);
  cast->tally.invalid += invalid;
  if (invalid) count_faults(&cast->tally, cast->first + cast->tally.rays, rays, n);
  const int code = cast->check ? check(cast, rays, offsets, n, invalid) : EXIT_DONE;
  if (code != EXIT_DONE) return code;
  if (cast->receive && cast->receive(cast->user, rays, cast->buffers.results, offsets, n)) return EXIT_FAILED;
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
static slab_status cast_all(caster *cast, const slab_ray *rays, size_t n, uint64_t *offsets,
                            const slab_cast_options *options) {
  cast->begun = seconds_now();
  const slab_status status =
      slab_all(cast->scene, rays, n, offsets, cast->buffers.results, cast->buffers.capacity, NULL, options);
  cast->tally.cast_seconds += take_seconds(cast);
  return status;
}

/* Enlarges the result buffer for a single ray with more hits than it holds. */
static int hold(caster *cast, uint64_t hits) {
  if (hits <= cast->buffers.capacity) return EXIT_DONE;
  void *grown = hits <= SIZE_MAX / sizeof(slab_hit) ? realloc(cast->buffers.results, hits * sizeof(slab_hit)) : NULL;
  if (!grown) {
    complain("out of memory for the %" PRIu64 " %s of ray %" PRIu64, hits, plural(hits, "hit", "hits"),
             cast->first + cast->tally.rays);
    return EXIT_FAILED;
  }
  cast->buffers.results = grown;
  cast->buffers.capacity = hits;
  return EXIT_DONE;
}

/* Casts a batch again in pieces whose hits fit. The offsets of the whole batch must be known. */
static int run_pieces(caster *cast, const slab_ray *rays, size_t n, const slab_cast_options *options) {
  for (size_t at = 0; at < n;) {
    size_t end = at + 1;
    while (end < n && cast->buffers.offsets[end + 1] - cast->buffers.offsets[at] <= cast->buffers.capacity) end++;
    int code = hold(cast, cast->buffers.offsets[end] - cast->buffers.offsets[at]);
    if (code != EXIT_DONE) return code;
    begin_span(cast, end - at);
    const slab_status status = cast_all(cast, rays + at, end - at, cast->buffers.piece_offsets, options);
    if (status != SLAB_OK) return complain_status(status, "the cast failed");
    code = hand_on(cast, rays + at, cast->buffers.piece_offsets, end - at, *options->invalid);
    if (code != EXIT_DONE) return code;
    at = end;
  }
  return EXIT_DONE;
}

int caster_run(caster *cast, const slab_ray *rays, size_t n) {
  uint64_t invalid = 0;
  slab_cast_options options = cast->options;
  slab_status status;
  options.progress = on_progress;
  options.user = cast;
  options.invalid = &invalid;
  begin_span(cast, n);
  progress_await(&cast->line, cast->device);
  if (cast->query == SLAB_ALL) {
    status = cast_all(cast, rays, n, cast->buffers.offsets, &options);
    const int counted = status == SLAB_OK || status == SLAB_CAPACITY;
    if (counted && cast->place && cast->place(cast->user, cast->buffers.offsets[n])) return EXIT_FAILED;
    if (status == SLAB_CAPACITY) return run_pieces(cast, rays, n, &options);
  } else {
    cast->begun = seconds_now();
    status = cast_query(cast->scene, cast->query, rays, n, cast->buffers.results, &options);
    cast->tally.cast_seconds += take_seconds(cast);
  }
  if (status != SLAB_OK) return complain_status(status, "the cast failed");
  return hand_on(cast, rays, cast->buffers.offsets, n, invalid);
}
