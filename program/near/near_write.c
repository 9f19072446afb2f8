/* Results of points: rows as the library gives them, points of a cloud, or an image of a grid. */
#include <math.h>
#include <stddef.h>
#include <string.h>

#include "program/io/digest.h"
#include "program/io/errors.h"
#include "program/near/near.h"

/* ---- opening ---------------------------------------------------------------- */

static int has_doubles(const near_job *job) { return ray_source_has_doubles(job->points); }

static void add_results(result_row *row, const near_job *job) {
  if (near_tells_inside(job->options))
    result_row_add(row, "inside", 'b', 1);
  else
    result_row_add_closest(row, (slab_point_query)job->options->query, has_doubles(job));
}

static result_row row_of_results(const near_job *job) {
  result_row row = {.form = {.query = SLAB_ANY}};
  add_results(&row, job);
  return row;
}

/* A point with its results and, last, its index, as points of hits have it. */
static result_row row_of_cloud(const near_job *job) {
  const char real = has_doubles(job) ? 'D' : 'f';
  result_row row = {.form = {.query = SLAB_ANY}};
  result_row_add(&row, "x", real, 1);
  result_row_add(&row, "y", real, 1);
  result_row_add(&row, "z", real, 1);
  add_results(&row, job);
  result_row_add(&row, "index", 'D', 1);
  return row;
}

/* The digest of all that decides answers beside the scene and the points. 0: the points' worlds have no digest. */
static uint64_t digest_options(const near_job *job) {
  const near_options *options = job->options;
  const uint64_t values[] = {(uint64_t)options->query, scene_source_ray_mask(options->scene),
                             (uint64_t)options->command, (uint64_t)options->asked, (uint64_t)options->parity};
  digest seen = {0};
  digest_add(&seen, values, sizeof values);
  digest_add(&seen, &options->radius.value, sizeof options->radius.value);
  if (job->own) digest_add(&seen, &job->sample, sizeof job->sample);
  return job->own && job->sample == 0 ? 0 : digest_value(&seen);
}

static shard_label label_of(const near_job *job) {
  shard_label label = ray_source_shard(job->points);
  if (label.count == 0) return label;
  label.scene = scene_source_digest(job->options->scene);
  label.options = digest_options(job);
  return label;
}

result_options near_results(near_job *job) {
  const near_options *options = job->options;
  const file_format format = (file_format)options->out_format;
  job->row = row_of_results(job);
  job->cloud = row_of_cloud(job);
  return (result_options){
      .path = options->out,
      .format = format,
      .query = SLAB_ANY,
      .row = format == FORMAT_PLY ? &job->cloud : &job->row,
      .resume = options->resume,
      .rays = ray_source_count(job->points),
      .first = ray_source_first(job->points),
      .shard = label_of(job),
      .labels = scene_source_labels(options->scene),
  };
}

int near_open_results(near_job *job) {
  const near_options *options = job->options;
  const result_options results = near_results(job);
  int failed = 0;
  if (options->out && options->out_format == FORMAT_VTI)
    failed = image_file_open(options->out, &job->grid, &job->row, options->resume, &job->image);
  else if (options->out)
    failed = result_file_open(&results, &job->results);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

/* ---- counting --------------------------------------------------------------- */

static void count_distance(near_tally *tally, float distance) {
  tally->inside += distance < 0;
  if (!isfinite(distance)) return;
  tally->found++;
  tally->sum += (double)distance;
  tally->least = fmin(tally->least, (double)distance);
  tally->most = fmax(tally->most, (double)distance);
}

/* The distance is the first member of a closest point; in double it stands behind the place. */
void near_count(near_job *job, const void *results, size_t n) {
  const near_options *options = job->options;
  const int behind = has_doubles(job) && options->query == SLAB_CLOSEST_POINTS;
  near_tally *tally = &job->tally;
  const char *result = (const char *)results + (behind ? offsetof(slab_closest_point64, distance) : 0);
  tally->points += n;
  for (size_t i = 0; i < n; i++, result += job->row.size) {
    float told;
    int32_t winding;
    if (near_tells_inside(options)) {
      tally->inside += *result != 0;
    } else if (options->query == SLAB_WINDING) {
      memcpy(&winding, result, sizeof winding);
      tally->inside += winding != 0;
    } else if (options->query == SLAB_POINTS_WITHIN) {
      tally->found += *result != 0;
    } else {
      memcpy(&told, result, sizeof told);
      if (options->query == SLAB_WINDING_NUMBERS)
        tally->inside += fabsf(told) > 0.5f;
      else
        count_distance(tally, told);
    }
  }
}

/* ---- a cloud ---------------------------------------------------------------- */

enum { CLOUD_ROWS = 256 };

/* Packs a row as row_of_cloud lays it out. */
static void pack_point(const near_job *job, uint64_t index, const near_points *points, size_t i, const char *result,
                       char *packed) {
  const double number = (double)index;
  const size_t three = 3 * (points->doubles ? sizeof(double) : sizeof(float));
  const void *place = points->doubles ? (const void *)(points->doubles + 3 * i) : points->floats + 3 * i;
  memcpy(packed, place, three);
  memcpy(packed + three, result, job->row.size);
  memcpy(packed + three + job->row.size, &number, sizeof number);
}

static bool is_finite_place(const near_points *points, size_t i) {
  bool finite = true;
  for (size_t k = 3 * i; k < 3 * i + 3; k++)
    finite = finite && (points->doubles ? isfinite(points->doubles[k]) : isfinite(points->floats[k]));
  return finite;
}

/* A cloud has no point without a place. */
static int put_cloud(near_job *job, uint64_t first, const near_points *points, const char *results, size_t n) {
  char block[CLOUD_ROWS * RESULT_ROW_MAX];
  for (size_t i = 0; i < n;) {
    size_t rows = 0, from = i;
    for (; i < n && rows < CLOUD_ROWS; i++)
      if (is_finite_place(points, i))
        pack_point(job, first + i, points, i, results + i * job->row.size, block + rows++ * job->cloud.size);
    if (result_file_put_packed(job->results, block, rows, i - from)) return -1;
  }
  return 0;
}

/* ---- results ---------------------------------------------------------------- */

static int put(near_job *job, uint64_t first, const near_points *points, const void *results, size_t n) {
  if (job->image) return image_file_put(job->image, results, n);
  if (!job->results) return 0;
  if (job->options->out_format == FORMAT_PLY) return put_cloud(job, first, points, results, n);
  return result_file_put_packed(job->results, results, n, n);
}

int near_write(near_job *job, uint64_t first, const near_points *points, const void *results, size_t n) {
  near_count(job, results, n);
  return put(job, first, points, results, n) ? EXIT_FAILED : EXIT_DONE;
}

int near_commit_results(near_job *job) {
  result_file *results = job->results;
  image_file *image = job->image;
  job->results = NULL;
  job->image = NULL;
  if (image) return image_file_commit(image) ? EXIT_FAILED : EXIT_DONE;
  return results && result_file_commit(results) ? EXIT_FAILED : EXIT_DONE;
}

void near_discard_results(near_job *job) {
  result_file_discard(job->results);
  image_file_discard(job->image);
}
