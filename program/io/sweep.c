#include "program/io/sweep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/columns.h"
#include "program/io/digest.h"
#include "program/io/errors.h"

enum { BEAM = 6, POSE = SWEEP_POSE }; /* numbers of a row */

/* ---- tables ---------------------------------------------------------------- */

static int refuse_empty(const char *path, const char *things) {
  complain("%s holds no %s", path, things);
  return -1;
}

static int fail_memory(const char *things) {
  complain("out of memory for the %s", things);
  return -1;
}

/* Makes beams of n pairs of elevation and azimuth; name: where they are from. */
static int beams_of_angles(const char *name, const float *elevation, const float *azimuth, size_t n, table *beams) {
  beams->values = malloc(n * BEAM * sizeof *beams->values);
  if (!beams->values) return fail_memory("beams");
  beams->rows = n;
  beams->columns = BEAM;
  const slab_status status = slab_beams(elevation, azimuth, n, beams->values);
  return status == SLAB_OK ? 0 : (complain_status(status, name), -1);
}

/* The angles of a table of one or two columns. */
static int beams_of_table(const char *path, const table *angles, table *beams) {
  const size_t n = angles->rows, columns = angles->columns;
  float *elevation = calloc(2 * n, sizeof *elevation);
  if (!elevation) return fail_memory("beams");
  for (size_t i = 0; i < n; i++) {
    elevation[i] = angles->values[i * columns];
    if (columns > 1) elevation[n + i] = angles->values[i * columns + 1];
  }
  const int failed = beams_of_angles(path, elevation, elevation + n, n, beams);
  free(elevation);
  return failed;
}

static int refuse_width(const char *path, size_t columns) {
  complain("%s: rows of %zu numbers; beams have 1 (elevation), 2 (elevation, azimuth) or 6 (origin, direction)", path,
           columns);
  return -1;
}

static int read_beams(const char *path, table *beams) {
  table rows;
  if (read_table(path, &columns_of_beams, 1, ROWS_COLUMNS_MAX, &rows)) return -1;
  if (rows.rows > 0 && rows.columns == BEAM) {
    *beams = rows;
    return 0;
  }
  const int failed = rows.rows == 0      ? refuse_empty(path, "beams")
                     : rows.columns <= 2 ? beams_of_table(path, &rows, beams)
                                         : refuse_width(path, rows.columns);
  table_free(&rows);
  return failed;
}

static int make_fan(const sweep_options *options, table *beams) {
  const size_t n = options->fan;
  float *elevation = calloc(2 * n, sizeof *elevation);
  if (!elevation) return fail_memory("beams");
  for (size_t i = 0; i < n; i++)
    elevation[i] = (float)(options->low + (n > 1 ? (options->high - options->low) * (double)i / (double)(n - 1) : 0.0));
  const int failed = beams_of_angles("--fan", elevation, elevation + n, n, beams);
  free(elevation);
  return failed;
}

/* One pose that leaves beams as they are. */
static int stand_still(table *poses) {
  poses->values = calloc(POSE, sizeof *poses->values);
  if (!poses->values) return fail_memory("poses");
  for (int i = 0; i < 3; i++) poses->values[5 * i] = 1;
  poses->rows = 1;
  poses->columns = POSE;
  return 0;
}

static int read_poses(const char *path, table *poses) {
  if (read_transforms(path, poses)) return -1;
  return poses->rows > 0 ? 0 : refuse_empty(path, "poses");
}

static int make_turn(uint64_t spin, sweep *s) {
  s->firings = spin ? (size_t)spin : 1;
  if (!spin) return 0;
  s->azimuth = malloc(s->firings * sizeof *s->azimuth);
  if (!s->azimuth) return fail_memory("firings of a turn");
  for (size_t i = 0; i < s->firings; i++) s->azimuth[i] = (float)(360.0 * (double)i / (double)s->firings);
  return 0;
}

/* Results number firings by 32 bits. */
static int check_firings(const sweep *s) {
  if (s->poses.rows <= UINT32_MAX / s->firings) return 0;
  complain("%zu poses with a turn of %zu firings each are more than %" PRIu32 " firings", s->poses.rows, s->firings,
           UINT32_MAX);
  return -1;
}

int sweep_make(const sweep_options *options, sweep *s) {
  *s = (sweep){.t_min = options->t_min, .t_max = options->t_max};
  const int failed = (options->beams ? read_beams(options->beams, &s->beams) : make_fan(options, &s->beams)) ||
                     (options->poses ? read_poses(options->poses, &s->poses) : stand_still(&s->poses)) ||
                     make_turn(options->spin, s) || check_firings(s);
  if (failed) sweep_free(s);
  return failed ? -1 : 0;
}

void sweep_free(sweep *s) {
  table_free(&s->beams);
  table_free(&s->poses);
  free(s->azimuth);
  *s = (sweep){0};
}

void sweep_count_from(sweep *s, const double origin[3]) {
  table *poses = &s->poses;
  for (size_t i = 0; i < poses->rows * POSE; i++) {
    const double at = poses->wide ? poses->wide[i] : (double)poses->values[i];
    if (i % 4 == 3) poses->values[i] = (float)(at - origin[i % POSE / 4]);
  }
  if (poses->wide) poses->worst_rounding = 0;
  memcpy(s->offset, origin, sizeof s->offset);
}

/* ---- rays ------------------------------------------------------------------ */

uint64_t sweep_count(const sweep *s) { return (uint64_t)s->poses.rows * s->firings * s->beams.rows; }

uint64_t sweep_digest(const sweep *s) {
  const uint64_t counts[] = {s->beams.rows, s->poses.rows, s->azimuth ? s->firings : 0};
  const float range[] = {s->t_min, s->t_max};
  digest seen = {0};
  digest_add(&seen, counts, sizeof counts);
  digest_add(&seen, range, sizeof range);
  digest_add(&seen, s->beams.values, s->beams.rows * BEAM * sizeof(float));
  digest_add(&seen, s->poses.values, s->poses.rows * POSE * sizeof(float));
  return digest_value(&seen);
}

/* n rays touch one row more than they fill where they begin and end within one. */
size_t sweep_space(const sweep *s, size_t n) { return s->azimuth ? n / s->beams.rows + 2 : 0; }

/* The poses of `rows` firings from `row` on, turned. A turn is made again where a part ends within it: the poses of all
 * firings would take 48 bytes each. */
static slab_status turn(const sweep *s, uint64_t row, size_t rows, float *space) {
  slab_status status = SLAB_OK;
  for (size_t done = 0, some; done < rows && status == SLAB_OK; done += some) {
    const size_t pose = (size_t)((row + done) / s->firings), at = (size_t)((row + done) % s->firings);
    some = rows - done < s->firings - at ? rows - done : s->firings - at;
    status = slab_spun_poses(s->poses.values + pose * POSE, 0, s->azimuth + at, some, space + done * POSE);
  }
  return status;
}

int sweep_part(const sweep *s, uint64_t first, size_t n, float *space, slab_rays *set, slab_source *source) {
  const size_t beams = s->beams.rows;
  const uint64_t row = first / beams;
  const size_t rows = (size_t)((first + n - 1) / beams - row) + 1;
  const slab_status status = s->azimuth ? turn(s, row, rows, space) : SLAB_OK;
  if (status != SLAB_OK) return complain_status(status, "the turning sensor"), -1;
  *set = slab_rays_beams(s->azimuth ? space : s->poses.values + row * POSE, (uint32_t)rows, s->beams.values,
                         (uint32_t)beams);
  set->t_min = s->t_min;
  set->t_max = s->t_max;
  memcpy(set->offset, s->offset, sizeof set->offset);
  *source = (slab_source){.set = set, .first = first % beams, .n = n};
  return 0;
}
