/* Points, batch by batch: while one batch is measured, the next is read and the one before it is written. */
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/pipeline.h"
#include "program/near/near.h"

enum { READ_ROWS = 1 << 12 }; /* points that are read at once */

typedef struct slot {
  near_points points;
  own_rows own; /* their worlds */
  void *results;
  size_t n;
} slot;

typedef struct batches {
  near_job *job;
  slot slots[PIPELINE_SLOTS]; /* batch b uses slot b % slot_count */
  uint64_t slot_count;
  size_t capacity;
  bool ended;     /* no more points can be read */
  uint64_t first; /* the index of the first point that is measured */
  uint64_t written;
  ray_array rows; /* READ_ROWS of them */
} batches;

static slot *slot_of(batches *all, uint64_t batch) { return &all->slots[batch % all->slot_count]; }

/* ---- the stages ------------------------------------------------------------- */

static int read_some(batches *all, slot *s) {
  const size_t space = all->capacity - s->n, wanted = space < READ_ROWS ? space : READ_ROWS;
  size_t got = 0;
  if (ray_source_read(all->job->points, wanted, all->rows, &got)) return -1;
  near_points_take(&s->points, s->n, &all->rows, got);
  s->n += got;
  all->ended = got == 0;
  return 0;
}

static int read_batch(pipeline *line, void *user, uint64_t batch) {
  batches *all = user;
  slot *s = slot_of(all, batch);
  (void)line;
  s->n = 0;
  while (s->n < all->capacity && !all->ended)
    if (read_some(all, s)) return EXIT_FAILED;
  own_source *own = all->job->own;
  if (s->n > 0) return own_source_read(own, s->n, &s->own) ? EXIT_FAILED : EXIT_DONE;
  return own_source_end(own) ? EXIT_FAILED : PIPELINE_END;
}

int near_points_make(const near_job *job, size_t n, near_points *points) {
  *points = (near_points){NULL, NULL};
  if (ray_source_has_doubles(job->points))
    points->doubles = malloc(n * 3 * sizeof *points->doubles);
  else
    points->floats = malloc(n * 3 * sizeof *points->floats);
  return points->doubles || points->floats ? 0 : -1;
}

void near_points_free(near_points *points) {
  free(points->floats);
  free(points->doubles);
}

void near_points_take(near_points *points, size_t at, const ray_array *rows, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (points->doubles)
      memcpy(points->doubles + 3 * (at + i), rows->doubles[i].origin, sizeof rows->doubles[i].origin);
    else
      memcpy(points->floats + 3 * (at + i), rows->floats[i].origin, sizeof rows->floats[i].origin);
}

static slab_status ask(const near_job *job, const near_points *points, size_t n, void *results,
                       const slab_point_options *options) {
/* The call for points in float, or its sibling for doubles. */
#define ASK(query, call)                                                                \
  case query:                                                                           \
    return points->doubles ? call##64(job->scene, points->doubles, n, results, options) \
                           : call(job->scene, points->floats, n, results, options)
  switch ((slab_point_query)job->options->query) {
    ASK(SLAB_CLOSEST_POINTS, slab_closest_points);
    ASK(SLAB_CLOSEST_DISTANCES, slab_closest_distances);
    ASK(SLAB_POINTS_WITHIN, slab_points_within);
    ASK(SLAB_WINDING, slab_winding);
    ASK(SLAB_SIGNED_DISTANCES, slab_signed_distances);
    ASK(SLAB_WINDING_NUMBERS, slab_winding_numbers);
  }
#undef ASK
  return SLAB_INVALID_ARGUMENT;
}

static int check(near_job *job, uint64_t first, const near_points *points, size_t n, const void *results,
                 const slab_point_options *used) {
  slab_check_report report = {0};
  slab_point_options options = *used;
  const slab_point_query query = (slab_point_query)job->options->query;
  options.progress = NULL;
  const slab_status status =
      points->doubles ? slab_check_points64(job->scene, query, points->doubles, n, results, &options, &report)
                      : slab_check_points(job->scene, query, points->floats, n, results, &options, &report);
  if (status != SLAB_OK) return complain_status(status, "--check");
  check_tally_add(&job->tally.check, &report, "point", first);
  return EXIT_DONE;
}

size_t near_space(const near_job *job, size_t points) {
  const slab_point_query query = (slab_point_query)job->options->query;
  const int doubles = ray_source_has_doubles(job->points) && query == SLAB_CLOSEST_POINTS;
  return points * (doubles ? sizeof(slab_closest_point64) : slab_point_result_size(query));
}

/* Winding numbers become bytes, in their own place. */
static void reduce(const near_options *options, void *results, size_t n) {
  unsigned char *bytes = results;
  for (size_t i = 0; i < n; i++) {
    int32_t winding;
    memcpy(&winding, bytes + i * sizeof winding, sizeof winding);
    bytes[i] = options->parity ? (winding & 1) != 0 : winding != 0;
  }
}

/* Points count from the scene's origin then. */
static bool is_valid(const near_job *job, const near_points *points, size_t i) {
  bool valid = true;
  for (size_t k = 0; k < 3; k++) {
    const double p = points->doubles ? points->doubles[3 * i + k] : (double)points->floats[3 * i + k];
    valid = valid && fabsf((float)(p - job->stats.origin[k])) <= 0x1p60f; /* false for NaN */
  }
  return valid;
}

/* Finds the first invalid point of all, in a batch that has some. */
static void note_invalid(near_job *job, uint64_t invalid, uint64_t first, const near_points *points, size_t n) {
  near_tally *tally = &job->tally;
  tally->invalid += invalid;
  for (size_t i = 0; i < n && tally->first_invalid == UINT64_MAX; i++)
    if (!is_valid(job, points, i)) tally->first_invalid = first + i;
}

int near_measure(near_job *job, uint64_t first, const near_points *points, const uint32_t *worlds, size_t n,
                 void *results) {
  uint64_t invalid = 0;
  slab_point_options options = job->query;
  options.worlds = worlds;
  options.invalid = &invalid;
  options.progress = progress_of_cast;
  options.user = &job->line;
  job->line.base = job->line.first + job->measured;
  job->line.span = n; /* for signed distances progress is reported twice */
  progress_await(&job->line, job->device.name);
  const double begun = seconds_now();
  const slab_status status = ask(job, points, n, results, &options);
  job->tally.seconds += seconds_now() - begun;
  if (status != SLAB_OK) return complain_status(status, "the query failed");
  if (invalid) note_invalid(job, invalid, first, points, n);
  const int code = job->options->check ? check(job, first, points, n, results, &options) : EXIT_DONE;
  if (near_tells_inside(job->options)) reduce(job->options, results, n);
  job->measured += n;
  progress_at(&job->line, job->line.first + job->measured);
  return code;
}

static int measure_batch(pipeline *line, void *user, uint64_t batch) {
  batches *all = user;
  const slot *s = slot_of(all, batch);
  (void)line;
  return near_measure(all->job, all->first + all->job->measured, &s->points, s->own.worlds, s->n, s->results);
}

static int write_batch(pipeline *line, void *user, uint64_t batch) {
  batches *all = user;
  const slot *s = slot_of(all, batch);
  (void)line;
  const int code = near_write(all->job, all->first + all->written, &s->points, s->results, s->n);
  if (code == EXIT_DONE) all->written += s->n;
  return code;
}

/* ---- all batches ------------------------------------------------------------ */

static int complain_memory(size_t points) {
  complain("out of memory for batches of %zu %s", points, plural(points, "point", "points"));
  return EXIT_FAILED;
}

static int make_slots(batches *all) {
  const size_t n = all->capacity;
  if (ray_array_make(all->job->points, READ_ROWS, &all->rows)) return complain_memory(READ_ROWS);
  for (uint64_t i = 0; i < all->slot_count; i++) {
    slot *s = &all->slots[i];
    s->results = malloc(near_space(all->job, n));
    const int made = near_points_make(all->job, n, &s->points) == 0 && s->results != NULL;
    if (!made || own_rows_make(all->job->own, n, &s->own) != 0) return complain_memory(n);
  }
  return EXIT_DONE;
}

static void free_slots(batches *all) {
  ray_array_free(&all->rows);
  for (int i = 0; i < PIPELINE_SLOTS; i++) {
    near_points_free(&all->slots[i].points);
    free(all->slots[i].results);
    own_rows_free(&all->slots[i].own);
  }
}

/* Prints how many points were done before a failure; their results are kept. */
static void tell_progress(const batches *all) {
  const near_job *job = all->job;
  const uint64_t done = job->line.first + all->written;
  if (done > 0)
    complain("%" PRIu64 " %s %s %s before", done, plural(done, "point", "points"), plural(done, "was", "were"),
             job->results || job->image ? "written" : "done");
}

static int run(batches *all) {
  static pipeline_stage *const stages[PIPELINE_STAGES] = {read_batch, measure_batch, write_batch};
  near_job *job = all->job;
  const uint64_t count = ray_source_count(job->points), resumed = near_resumed(job);
  all->first = ray_source_first(job->points) + resumed;
  all->capacity = count < NEAR_BATCH ? (size_t)count + (count == 0) : NEAR_BATCH;
  all->slot_count = count <= NEAR_BATCH ? 1 : PIPELINE_SLOTS;
  const int failed = ray_source_skip(job->points, resumed) || own_source_go_to(job->own, resumed);
  int code = failed ? EXIT_FAILED : make_slots(all);
  if (code == EXIT_DONE) code = pipeline_run(stages, all, all->slot_count);
  if (code != EXIT_DONE) tell_progress(all);
  progress_end(&job->line);
  free_slots(all);
  return code;
}

int near_run(near_job *job) {
  batches *all = calloc(1, sizeof *all);
  if (!all) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  all->job = job;
  const int code = run(all);
  free(all);
  return code;
}
