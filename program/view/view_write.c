/* The views of points as rows of the results: a number each, or in a matrix bits or pairs. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/io/errors.h"
#include "program/view/view.h"

static bool is_binary(const view_job *job) {
  return job->options->out_format == FORMAT_NPY || job->options->out_format == FORMAT_RAW;
}

/* ---- rows ------------------------------------------------------------------ */

static const char *value_name(const view_job *job) { return job->target.kind == VIEW_SUNS ? "hours" : "sky"; }

/* A point of a cloud with its value, a colour of it, and last its index, as points of hits have. */
static result_row row_of_cloud(const view_job *job) {
  const char real = scene_is_far(&job->stats) ? 'D' : 'f';
  result_row row = {.form = {.query = SLAB_ANY}};
  result_row_add(&row, "x", real, 1);
  result_row_add(&row, "y", real, 1);
  result_row_add(&row, "z", real, 1);
  if (ray_source_has_normals(job->points)) result_row_add(&row, "normal", 'f', 3);
  result_row_add(&row, value_name(job), 'f', 1);
  result_row_add(&row, "red", 'b', 1);
  result_row_add(&row, "green", 'b', 1);
  result_row_add(&row, "blue", 'b', 1);
  result_row_add(&row, "point", 'D', 1);
  return row;
}

/* Bits of a row, eight per byte, the first one lowest; in text a line for each two points that see each other. */
static result_row row_of_matrix(const view_job *job) {
  result_row row = {.form = {.query = SLAB_ANY}, .numbered = !is_binary(job)};
  if (is_binary(job)) {
    result_row_add(&row, "sees", 'B', (job->target.columns + 7) / 8);
  } else {
    result_row_add(&row, "from", 'U', 1);
    result_row_add(&row, "to", 'u', 1);
  }
  return row;
}

result_row view_row(const view_job *job) {
  result_row row = {.form = {.query = SLAB_ANY}};
  if (job->target.kind == VIEW_POINTS) return row_of_matrix(job);
  if (job->options->out_format == FORMAT_PLY) return row_of_cloud(job);
  result_row_add(&row, value_name(job), 'f', 1);
  return row;
}

/* ---- values ---------------------------------------------------------------- */

/* NaN for a point that casts no ray. */
static float value_of(const view_job *job, size_t i) {
  const view_part *part = &job->part;
  const float *origin = part->origins + 3 * i;
  if (isnan(origin[0])) return NAN;
  const double seen = part->bits ? view_weigh(&job->target, part->bits + i * view_words(job), part->normals + 3 * i)
                                 : part->sums[i].open;
  return (float)(seen / job->target.whole);
}

static void count_invalid(view_job *job, size_t i) {
  if (job->tally.invalid++ == 0) job->tally.first_invalid = job->part.first + i;
}

static void count_value(view_job *job, size_t i, float value) {
  view_tally *tally = &job->tally;
  tally->points++;
  if (isnan(value)) {
    count_invalid(job, i);
    return;
  }
  tally->sum += (double)value;
  tally->least = fmin(tally->least, (double)value);
  tally->most = fmax(tally->most, (double)value);
}

/* A colour from dark blue (nothing) over green to yellow (all). */
static void put_colour(double share, unsigned char rgb[3]) {
  static const double stops[3][3] = {{40, 30, 110}, {35, 145, 140}, {250, 230, 40}};
  const double place = 2 * fmin(fmax(share, 0), 1);
  const int stop = place < 1 ? 0 : 1;
  for (int k = 0; k < 3; k++)
    rgb[k] = (unsigned char)(stops[stop][k] + (place - stop) * (stops[stop + 1][k] - stops[stop][k]) + 0.5);
}

/* ---- blocks of rows -------------------------------------------------------- */

enum { ROW_MAX = 64, BLOCK_BYTES = 1 << 16 };

/* Rows that are packed and not yet put. */
typedef struct block {
  view_job *job;
  size_t filled;
  uint64_t rows;
  size_t points; /* which end in these rows */
  unsigned char bytes[BLOCK_BYTES];
} block;

static int flush(block *b) {
  result_file *results = b->job->results;
  const int failed = results && result_file_put_packed(results, b->bytes, b->rows, b->points);
  b->filled = b->points = 0;
  b->rows = 0;
  return failed ? -1 : 0;
}

/* Space for one more row; NULL with the error printed. */
static unsigned char *next_row(block *b) {
  if (b->filled + ROW_MAX > BLOCK_BYTES && flush(b)) return NULL;
  unsigned char *place = b->bytes + b->filled;
  b->filled += b->job->row.size;
  b->rows++;
  return place;
}

/* ---- numbers --------------------------------------------------------------- */

/* Packs where point i is, as the world has it. Returns its bytes. */
static size_t pack_place(const view_job *job, size_t i, unsigned char *packed) {
  const float *place = job->part.places + 3 * i;
  double wide[3];
  for (int k = 0; k < 3; k++) wide[k] = job->stats.origin[k] + (double)place[k];
  const bool far = scene_is_far(&job->stats);
  memcpy(packed, far ? (const void *)wide : place, far ? sizeof wide : 3 * sizeof *place);
  return far ? sizeof wide : 3 * sizeof *place;
}

/* Packs a row as row_of_cloud lays it out. */
static void pack_point(const view_job *job, size_t i, float value, unsigned char *packed) {
  const view_part *part = &job->part;
  const double index = (double)(part->first + i);
  const size_t three = 3 * sizeof(float);
  packed += pack_place(job, i, packed);
  if (part->normals) memcpy(packed, part->normals + 3 * i, three);
  if (part->normals) packed += three;
  memcpy(packed, &value, sizeof value);
  put_colour((double)value / job->target.most, packed + sizeof value);
  memcpy(packed + sizeof value + 3, &index, sizeof index);
}

static int put_value(block *b, size_t i, float value) {
  const int cloud = b->job->options->out_format == FORMAT_PLY;
  if (!cloud || !isnan(value)) { /* a cloud has no point without a place */
    unsigned char *packed = next_row(b);
    if (!packed) return -1;
    if (cloud)
      pack_point(b->job, i, value, packed);
    else
      memcpy(packed, &value, sizeof value);
  }
  b->points++;
  return 0;
}

static int write_values(block *b) {
  view_job *job = b->job;
  for (size_t i = 0; i < job->part.rows; i++) {
    const float value = value_of(job, i);
    count_value(job, i, value);
    if (job->results && put_value(b, i, value)) return -1;
  }
  return flush(b);
}

/* ---- bits ------------------------------------------------------------------ */

static uint64_t count_bits(const uint32_t *bits, size_t words) {
  uint64_t count = 0;
  for (size_t w = 0; w < words; w++)
    for (uint32_t rest = bits[w]; rest; rest &= rest - 1) count++;
  return count;
}

static int put_pairs(block *b, uint64_t from, const uint32_t *bits) {
  for (uint32_t to = 0; to < b->job->target.columns; to++) {
    if (!(bits[to / 32] >> to % 32 & 1)) continue;
    unsigned char *packed = next_row(b);
    if (!packed) return -1;
    memcpy(packed, &from, sizeof from);
    memcpy(packed + sizeof from, &to, sizeof to);
  }
  b->points++;
  return 0;
}

/* Moves the rows of bits together, whose last words have bytes to spare, and puts them. */
static int put_bits(view_job *job) {
  const size_t size = job->row.size, row = view_words(job) * sizeof(uint32_t);
  unsigned char *bytes = (unsigned char *)job->part.bits;
  for (size_t i = 1; i < job->part.rows; i++) memmove(bytes + i * size, bytes + i * row, size);
  return result_file_put_packed(job->results, bytes, job->part.rows, job->part.rows);
}

static int write_matrix(block *b) {
  view_job *job = b->job;
  const view_part *part = &job->part;
  for (size_t i = 0; i < part->rows; i++) {
    uint32_t *bits = part->bits + i * view_words(job);
    view_face(&job->target, part->places + 3 * i, part->normals ? part->normals + 3 * i : NULL, bits);
    job->tally.points++;
    job->tally.pairs += count_bits(bits, view_words(job));
    if (isnan(part->origins[3 * i])) count_invalid(job, i);
    if (job->results && !is_binary(job) && put_pairs(b, part->first + i, bits)) return -1;
  }
  return job->results && is_binary(job) ? put_bits(job) : flush(b);
}

int view_write(view_job *job) {
  block *b = malloc(sizeof *b);
  if (!b) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  *b = (block){.job = job};
  const int failed = job->target.kind == VIEW_POINTS ? write_matrix(b) : write_values(b);
  free(b);
  return failed ? EXIT_FAILED : EXIT_DONE;
}
