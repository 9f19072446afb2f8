#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/table.h"
#include "program/view/view.h"

static int no_space(void) {
  complain("out of memory");
  return EXIT_FAILED;
}

static double dot(const float a[3], const float b[3]) {
  return (double)a[0] * (double)b[0] + (double)a[1] * (double)b[1] + (double)a[2] * (double)b[2];
}

/* ---- directions ------------------------------------------------------------ */

/* Turns directions of tables, in which z is up, so that another axis is: a quarter turn about the third one, as meshes
 * are turned. */
static void turn(const float up[3], float *directions, size_t n) {
  const int to = up[0] != 0 ? 0 : up[1] != 0 ? 1 : 2;
  for (float *d = directions; to != 2 && d < directions + 3 * n; d += 3) {
    const float height = d[2];
    d[2] = -d[to];
    d[to] = height;
  }
}

static int make_space(view_target *t, uint32_t columns, bool weighted) {
  t->columns = columns;
  t->directions = malloc((size_t)columns * 3 * sizeof *t->directions);
  t->weights = weighted ? malloc((size_t)columns * sizeof *t->weights) : NULL;
  return t->directions && (!weighted || t->weights) ? EXIT_DONE : no_space();
}

/* About normals directions stand in their frame. */
static int make_hemisphere(view_target *t, uint32_t rays, bool normals) {
  t->kind = VIEW_SKY;
  t->whole = rays;
  if (make_space(t, rays, false) != EXIT_DONE) return EXIT_FAILED;
  const slab_status status = slab_hemisphere(rays, 1, t->directions);
  if (status != SLAB_OK) return complain_status(status, "--sky");
  if (!normals) turn(t->up, t->directions, t->columns);
  return EXIT_DONE;
}

/* A horizontal surface sees patch c by its solid angle times z_c, and all of them are the whole. Without normals these
 * products are the weights, which devices add in units of 2^-32. */
static void weigh_patches(view_target *t, bool normals) {
  for (size_t c = 0; c < t->columns; c++) {
    const double product = (double)t->weights[c] * (double)t->directions[3 * c + 2];
    if (!normals) t->weights[c] = (float)product;
    t->whole += normals ? product : nearbyint((double)t->weights[c] * 0x1p32) * 0x1p-32;
  }
}

static int make_patches(view_target *t, uint32_t parts, bool normals) {
  t->kind = VIEW_PATCHES;
  if (make_space(t, slab_sky_patch_count(parts), true) != EXIT_DONE) return EXIT_FAILED;
  const slab_status status = slab_sky_patches(parts, t->directions, t->weights);
  if (status != SLAB_OK) return complain_status(status, "--sky");
  weigh_patches(t, normals);
  turn(t->up, t->directions, t->columns);
  return EXIT_DONE;
}

static int make_sky(view_target *t, const char *sky, bool normals) {
  uint64_t rays = 0;
  t->most = 1;
  if (!strcmp(sky, "tregenza")) return make_patches(t, 1, normals);
  if (!strcmp(sky, "reinhart")) return make_patches(t, 2, normals);
  return parse_count(sky, &rays) ? make_hemisphere(t, (uint32_t)rays, normals) : EXIT_USAGE;
}

/* ---- suns ------------------------------------------------------------------ */

static int refuse_sun(const char *path, size_t sun, const char *what, float value) {
  complain("%s: sun %zu, counted from 0, has %s %.9g", path, sun, what, (double)value);
  return EXIT_FAILED;
}

/* Keeps the suns above the horizon, in their order. */
static int keep_suns(view_target *t, const char *path, const table *suns) {
  const float *row = suns->values;
  float *azimuth = t->directions, *altitude = t->directions + suns->rows; /* in the space of the directions */
  t->columns = 0;
  t->whole = 1;
  for (size_t i = 0; i < suns->rows; i++, row += suns->columns) {
    const float hours = suns->columns > SUNS_HOURS ? row[SUNS_HOURS] : 1.0f;
    if (!(hours >= 0 && hours <= 0x1p31f)) return refuse_sun(path, i, "the hours", hours);
    if (!(fabsf(row[SUNS_AZIMUTH]) <= 1e6f)) return refuse_sun(path, i, "the azimuth", row[SUNS_AZIMUTH]);
    if (!(fabsf(row[SUNS_ALTITUDE]) <= 90)) return refuse_sun(path, i, "the altitude", row[SUNS_ALTITUDE]);
    if (row[SUNS_ALTITUDE] <= 0) continue;
    azimuth[t->columns] = row[SUNS_AZIMUTH];
    altitude[t->columns] = row[SUNS_ALTITUDE];
    t->weights[t->columns++] = hours;
    t->most += (double)hours;
  }
  if (t->columns > 0 && t->most <= 0x1p31) return EXIT_DONE;
  if (t->columns == 0)
    complain("%s: none of %zu %s is above the horizon", path, suns->rows, plural(suns->rows, "sun", "suns"));
  else
    complain("%s: the hours are %.9g together, more than 2147483648", path, t->most);
  return EXIT_FAILED;
}

/* Makes directions of the angles that keep_suns left in their place. */
static int aim_at_suns(view_target *t, const char *path, size_t rows) {
  float *directions = malloc((size_t)t->columns * 3 * sizeof *directions);
  if (!directions) return no_space();
  const slab_status status = slab_sun_directions(t->directions, t->directions + rows, t->columns, directions);
  free(t->directions);
  t->directions = directions;
  if (status != SLAB_OK) return complain_status(status, path);
  turn(t->up, t->directions, t->columns);
  return EXIT_DONE;
}

static int read_suns(view_target *t, const char *path, const table *suns) {
  if (suns->rows > INT32_MAX) {
    complain("%s: %zu suns are more than %d", path, suns->rows, INT32_MAX);
    return EXIT_FAILED;
  }
  int code = make_space(t, (uint32_t)suns->rows + (suns->rows == 0), true);
  if (code == EXIT_DONE) code = keep_suns(t, path, suns);
  return code == EXIT_DONE ? aim_at_suns(t, path, suns->rows) : code;
}

static int make_suns(view_target *t, const char *path) {
  table suns = {0};
  t->kind = VIEW_SUNS;
  if (read_table(path, &columns_of_suns, SUNS_HOURS, SUNS_HOURS + 1, &suns)) return EXIT_FAILED;
  const int code = read_suns(t, path, &suns);
  table_free(&suns);
  return code;
}

/* ---- points ---------------------------------------------------------------- */

/* Rows of three numbers, or of six with their normals. */
static int split_points(view_target *t, const table *rows) {
  const bool normals = rows->columns == 6;
  t->columns = (uint32_t)rows->rows;
  t->places = malloc(rows->rows * 3 * sizeof *t->places);
  t->directions = malloc(rows->rows * 3 * sizeof *t->directions);
  t->normals = normals ? malloc(rows->rows * 3 * sizeof *t->normals) : NULL;
  t->wide = rows->wide ? malloc(rows->rows * 3 * sizeof *t->wide) : NULL;
  if (!t->places || !t->directions || (normals && !t->normals) || (rows->wide && !t->wide)) return no_space();
  for (size_t i = 0; i < rows->rows; i++) {
    const float *row = rows->values + i * rows->columns;
    memcpy(t->places + 3 * i, row, 3 * sizeof *row);
    if (t->wide) memcpy(t->wide + 3 * i, rows->wide + i * rows->columns, 3 * sizeof *t->wide);
    if (normals) memcpy(t->normals + 3 * i, row + 3, 3 * sizeof *row);
  }
  if (normals) view_unit_normals(t->normals, rows->rows);
  return EXIT_DONE;
}

static int make_points(view_target *t, const char *path) {
  table rows = {0};
  t->kind = VIEW_POINTS;
  t->whole = t->most = 1;
  if (read_table(path, &columns_of_points, 3, 6, &rows)) return EXIT_FAILED;
  int code = EXIT_FAILED;
  if (rows.rows == 0)
    complain("%s holds no points", path);
  else if (rows.columns != 3 && rows.columns != 6)
    complain("%s: rows of %zu numbers; points have 3 (x y z) or 6 (with nx ny nz, their normals)", path, rows.columns);
  else if (rows.rows > INT32_MAX)
    complain("%s: %zu points are more than %d", path, rows.rows, INT32_MAX);
  else
    code = split_points(t, &rows);
  t->rounding = rows.worst_rounding;
  table_free(&rows);
  return code;
}

int view_target_make(const view_options *options, bool normals, view_target *t) {
  *t = (view_target){0};
  t->up[2 - options->up] = 1; /* z, y, x */
  if (options->sky) return make_sky(t, options->sky, normals);
  return options->suns ? make_suns(t, options->suns) : make_points(t, options->to);
}

void view_target_count_from(view_target *t, const double origin[3]) {
  for (size_t i = 0; t->kind == VIEW_POINTS && i < 3 * (size_t)t->columns; i++)
    t->places[i] = (float)((t->wide ? t->wide[i] : (double)t->places[i]) - origin[i % 3]);
  if (t->wide) t->rounding = 0;
}

void view_target_free(view_target *t) {
  free(t->directions);
  free(t->weights);
  free(t->places);
  free(t->wide);
  free(t->normals);
  *t = (view_target){0};
}

/* ---- off the surface ------------------------------------------------------- */

static bool is_valid(const float place[3]) {
  return fabsf(place[0]) <= 0x1p60f && fabsf(place[1]) <= 0x1p60f && fabsf(place[2]) <= 0x1p60f;
}

static bool is_zero(const float v[3]) { return v[0] == 0 && v[1] == 0 && v[2] == 0; }

void view_unit_normals(float *normals, size_t n) {
  for (float *at = normals; at < normals + 3 * n; at += 3) {
    const double length = sqrt(dot(at, at));
    for (int k = 0; k < 3; k++) {
      if (!isfinite(length)) at[k] = NAN;
      if (length > 0) at[k] = (float)((double)at[k] / length);
    }
  }
}

/* A float has 2^-24 of a coordinate, so that points and surfaces of the same place are apart by some of these. Sixteen
 * leave a point before its own surface, and are 1 cm where coordinates go to 10 km. */
static double lift_of(const view_lift *lift, const float place[3]) {
  if (lift->given) return lift->distance;
  double reach = lift->reach;
  for (int k = 0; k < 3; k++) reach = fmax(reach, fabs((double)place[k]));
  return reach * 0x1p-20;
}

void view_lift_points(const view_lift *lift, const float up[3], const float *places, const float *normals, size_t n,
                      float *lifted) {
  for (size_t i = 0; i < 3 * n; i += 3) {
    const float *along = normals && !is_zero(normals + i) ? normals + i : up;
    const bool valid = is_valid(places + i);
    const double distance = valid ? lift_of(lift, places + i) : 0;
    for (int k = 0; k < 3; k++)
      lifted[i + (size_t)k] = valid ? (float)((double)places[i + (size_t)k] + distance * (double)along[k]) : NAN;
  }
}

/* ---- the view of a point with a normal ------------------------------------- */

/* How high the axes across a normal rise, in the frame that docs/contract.md gives for directions about normals. */
static void heights_of(const float n[3], const float up[3], double heights[3]) {
  const double g = signbit(n[2]) ? -1 : 1, x = (double)n[0], y = (double)n[1], z = (double)n[2];
  const double q = -1 / (g + z), h = x * y * q;
  const double a[3] = {1 + g * x * x * q, g * h, -g * x}, b[3] = {h, g + y * y * q, -y};
  heights[0] = heights[1] = 0;
  for (int k = 0; k < 3; k++) heights[0] += a[k] * (double)up[k];
  for (int k = 0; k < 3; k++) heights[1] += b[k] * (double)up[k];
  heights[2] = dot(n, up);
}

/* The weight of an open ray. Light from below the horizon is not the sky's, and a surface sees nothing behind it. */
static double weight_of(const view_target *t, uint32_t column, const float normal[3], const double heights[3]) {
  const float *d = t->directions + 3 * (size_t)column;
  if (t->kind == VIEW_SKY)
    return (double)d[0] * heights[0] + (double)d[1] * heights[1] + (double)d[2] * heights[2] > 0 ? 1 : 0;
  const double facing = dot(normal, d);
  if (t->kind == VIEW_SUNS) return facing > 0 ? (double)t->weights[column] : 0;
  return facing > 0 ? facing * (double)t->weights[column] : 0;
}

double view_weigh(const view_target *t, const uint32_t *bits, const float normal[3]) {
  double heights[3], sum = 0;
  heights_of(normal, t->up, heights);
  for (uint32_t c = 0; c < t->columns; c++)
    if (bits[c / 32] >> c % 32 & 1) sum += weight_of(t, c, normal, heights);
  return sum;
}

/* Whether b lies on the side of the surface at a to which its normal points; without a normal it does. */
static bool is_before(const float a[3], const float *normal, const float b[3]) {
  if (!normal || is_zero(normal)) return true;
  double side = 0;
  for (int k = 0; k < 3; k++) side += (double)normal[k] * ((double)b[k] - (double)a[k]);
  return side > 0;
}

void view_face(const view_target *t, const float place[3], const float *normal, uint32_t *bits) {
  for (uint32_t c = 0; c < t->columns; c++) {
    const float *to = t->places + 3 * (size_t)c, *its = t->normals ? t->normals + 3 * (size_t)c : NULL;
    if (!(bits[c / 32] >> c % 32 & 1)) continue;
    if (!is_before(place, normal, to) || !is_before(to, its, place)) bits[c / 32] &= ~(UINT32_C(1) << c % 32);
  }
}
