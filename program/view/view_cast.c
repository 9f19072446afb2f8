/* Points, part by part: they are read, lifted off their surfaces, cast, and with --check cast again ray by ray. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/view/view.h"
#include "sets/sums.h"

/* Rays that are cast by one call, and points at most. */
enum { RAYS_AT_ONCE = 1 << 24, POINTS_AT_ONCE = 1 << 16 };
/* Rays of --check at once, where a point has no more. */
enum { CHECKED_AT_ONCE = 1 << 18 };

static uint64_t at_once(uint64_t rays, uint64_t columns, uint64_t most) {
  const uint64_t rows = columns ? rays / columns : 1;
  return rows > most ? most : rows + (rows == 0);
}

size_t view_part_rows(const view_job *job) {
  const uint64_t rows = at_once(RAYS_AT_ONCE, job->target.columns, POINTS_AT_ONCE);
  const uint64_t count = ray_source_count(job->points);
  return (size_t)(count < rows ? count + (count == 0) : rows);
}

/* ---- a part ---------------------------------------------------------------- */

/* Whether results are bits: weights of points with normals are of rows, not of columns. */
static bool has_bits(const view_job *job) {
  return job->target.kind == VIEW_POINTS || ray_source_has_normals(job->points);
}

static int make_part(view_job *job) {
  view_part *part = &job->part;
  const size_t rows = part->capacity = view_part_rows(job);
  const bool normals = ray_source_has_normals(job->points) != 0, bits = has_bits(job);
  const bool read = ray_array_make(job->points, rows, &part->points) == 0;
  part->places = malloc(rows * 3 * sizeof *part->places);
  part->origins = malloc(rows * 3 * sizeof *part->origins);
  part->normals = normals ? malloc(rows * 3 * sizeof *part->normals) : NULL;
  part->sums = bits ? NULL : malloc(rows * sizeof *part->sums);
  part->bits = bits ? malloc(rows * view_words(job) * sizeof *part->bits) : NULL;
  const bool of_points = read && part->places && part->origins && (part->normals || !normals);
  if (of_points && (part->bits || part->sums)) return EXIT_DONE;
  complain("out of memory for parts of %zu %s", rows, plural(rows, "point", "points"));
  return EXIT_FAILED;
}

static void free_part(view_part *part) {
  ray_array_free(&part->points);
  free(part->places);
  free(part->origins);
  free(part->normals);
  free(part->sums);
  free(part->bits);
  *part = (view_part){0};
}

/* A point without a normal lies on a horizontal surface; between points it has none. */
static void fill_normals(const view_target *target, view_part *part) {
  view_unit_normals(part->normals, part->rows);
  if (target->kind == VIEW_POINTS) return;
  for (float *n = part->normals; n < part->normals + 3 * part->rows; n += 3)
    if (n[0] == 0 && n[1] == 0 && n[2] == 0) memcpy(n, target->up, sizeof target->up);
}

/* Takes point i as it was read. */
static void take_point(view_job *job, size_t i) {
  view_part *part = &job->part;
  const double *origin = job->stats.origin;
  for (size_t k = 0; k < 3; k++) {
    const slab_ray64 *wide = part->points.doubles ? part->points.doubles + i : NULL;
    const slab_ray *narrow = wide ? NULL : part->points.floats + i;
    part->places[3 * i + k] = (float)((wide ? wide->origin[k] : (double)narrow->origin[k]) - origin[k]);
    if (part->normals) part->normals[3 * i + k] = wide ? (float)wide->direction[k] : narrow->direction[k];
  }
}

static int read_part(view_job *job) {
  view_part *part = &job->part;
  part->first += part->rows;
  if (ray_source_read(job->points, part->capacity, part->points, &part->rows)) return EXIT_FAILED;
  for (size_t i = 0; i < part->rows; i++) {
    take_point(job, i);
  }
  if (part->normals) fill_normals(&job->target, part);
  view_lift_points(&job->lift, job->target.up, part->places, part->normals, part->rows, part->origins);
  return EXIT_DONE;
}

/* ---- casting --------------------------------------------------------------- */

static slab_rays set_of(const view_job *job) {
  const view_target *target = &job->target;
  const view_part *part = &job->part;
  const uint32_t rows = (uint32_t)part->rows;
  slab_rays set = target->kind == VIEW_POINTS
                      ? slab_rays_pairs(part->origins, rows, target->directions, target->columns)
                      : slab_rays_directions(part->origins, rows, target->directions, target->columns);
  if (target->kind == VIEW_SKY) set.normals = part->normals;
  memcpy(set.offset, job->stats.origin, sizeof set.offset);
  return set;
}

static slab_results results_of(const view_job *job) {
  const view_part *part = &job->part;
  if (part->bits) return (slab_results){.memory = part->bits, .type = SLAB_RESULT_BITS};
  return (slab_results){.memory = part->sums, .type = SLAB_RESULT_SUMS, .weights = job->target.weights};
}

static int cast_part(view_job *job) {
  const slab_rays set = set_of(job);
  const slab_source source = {.set = &set, .n = job->part.rows * (size_t)job->target.columns};
  slab_results results = results_of(job);
  slab_cast_options options = job->cast.options;
  progress *line = &job->cast.line;
  if (!job->options->check) { /* it reports its own rays, and takes longer */
    line->base = line->first + job->tally.rays;
    options.progress = progress_of_cast;
    options.user = line;
  }
  progress_await(line, job->device.name);
  const double begun = seconds_now();
  const slab_status status = slab_cast(job->scene, SLAB_ANY, &source, &results, &options);
  job->tally.seconds += seconds_now() - begun;
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "the cast failed");
}

/* ---- --check --------------------------------------------------------------- */

/* Rows of a part whose rays are cast one by one. */
typedef struct checked_rows {
  view_job *job;
  size_t begin, rows;
  void *anew; /* a row's result, from the results of its rays */
} checked_rows;

static void tell_wrong(const view_job *job, uint64_t point) {
  if (job->tally.wrong == 0)
    complain("mismatch at point %" PRIu64 ": the %s of its row of rays are not what single rays give", point,
             job->part.bits ? "bits" : "sums");
}

/* Receives the results of these rays, which the caster has checked. */
static int compare_rows(void *user, const result_rays *rays, const void *any, const uint64_t *offsets, size_t n) {
  const checked_rows *checked = user;
  view_job *job = checked->job;
  const uint32_t columns = job->target.columns;
  const slab_results wanted = results_of(job);
  const size_t size = sums_size(&wanted, columns);
  (void)offsets;
  for (size_t i = 0; i < n / columns; i++) {
    const char *row = (const char *)wanted.memory + (checked->begin + i) * size;
    sums_of(&wanted, SLAB_ANY, rays->floats + i * columns, columns, (const uint8_t *)any + i * columns, checked->anew);
    job->tally.checked++;
    if (sums_same(&wanted, columns, row, checked->anew)) continue;
    tell_wrong(job, job->part.first + checked->begin + i);
    job->tally.wrong++;
  }
  return 0;
}

static int check_rows(checked_rows *checked, const slab_rays *set, slab_ray *rays) {
  view_job *job = checked->job;
  const uint64_t columns = job->target.columns;
  const size_t n = checked->rows * (size_t)columns;
  const slab_source source = {.set = set, .first = checked->begin * columns, .n = n};
  job->cast.user = checked;
  return caster_run(&job->cast, &source, rays);
}

static int check_part(view_job *job) {
  const slab_rays set = set_of(job);
  const slab_results wanted = results_of(job);
  const size_t columns = job->target.columns, most = (size_t)at_once(CHECKED_AT_ONCE, columns, job->part.rows);
  checked_rows checked = {.job = job, .anew = malloc(sums_size(&wanted, job->target.columns))};
  slab_ray *rays = malloc(most * columns * sizeof *rays);
  int code = caster_prepare(&job->cast, most * columns);
  if (!rays || !checked.anew) {
    complain("out of memory for %zu %s of --check", most * columns, plural(most * columns, "ray", "rays"));
    code = EXIT_FAILED;
  }
  for (; code == EXIT_DONE && checked.begin < job->part.rows; checked.begin += checked.rows) {
    const size_t left = job->part.rows - checked.begin;
    checked.rows = left < most ? left : most;
    code = check_rows(&checked, &set, rays);
  }
  caster_release(&job->cast);
  free(rays);
  free(checked.anew);
  return code;
}

/* ---- all parts ------------------------------------------------------------- */

static int run_part(view_job *job) {
  int code = cast_part(job);
  if (code == EXIT_DONE && job->options->check) code = check_part(job);
  if (code == EXIT_DONE) code = view_write(job);
  if (code != EXIT_DONE) return code;
  job->tally.rays += job->part.rows * (uint64_t)job->target.columns;
  progress_at(&job->cast.line, job->cast.line.first + job->tally.rays);
  return EXIT_DONE;
}

/* Prints how many points were done before a failure; their results are kept. */
static void tell_progress(const view_job *job) {
  const uint64_t done = job->part.first - ray_source_first(job->points);
  if (done > 0)
    complain("%" PRIu64 " %s %s %s before", done, plural(done, "point", "points"), plural(done, "was", "were"),
             job->results ? "written" : "done");
}

int view_run(view_job *job) {
  const uint64_t resumed = job->results ? result_file_resumed(job->results) : 0;
  job->part.first = ray_source_first(job->points) + resumed;
  job->cast.receive = compare_rows;
  job->cast.wants_rays = 1;
  int code = ray_source_skip(job->points, resumed) ? EXIT_FAILED : make_part(job);
  if (code == EXIT_DONE) code = read_part(job);
  while (code == EXIT_DONE && job->part.rows > 0) {
    code = run_part(job);
    if (code == EXIT_DONE) code = read_part(job);
  }
  if (code != EXIT_DONE) tell_progress(job);
  progress_end(&job->cast.line);
  free_part(&job->part);
  return code;
}
