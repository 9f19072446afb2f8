/* Sets of rays: every device writes the bits of the formulas of docs/contract.md, which are here once more. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MOST = 40, ROWS = 37, COLUMNS = 53 };

typedef struct fixture {
  slab_context *context;
  float poses[12 * ROWS], points[3 * ROWS], normals[3 * ROWS], beams[6 * COLUMNS], directions[3 * COLUMNS];
  slab_camera camera;
} fixture;

static void fill(random_state *random, float *values, size_t n) {
  for (size_t i = 0; i < n; i++) values[i] = random_between(random, -10.0f, 10.0f);
}

/* Unit vectors, among them those along the axes, and close to the place where the frame turns over. */
static void fill_normals(random_state *random, float *normals, size_t n) {
  for (size_t i = 0; i < n; i++) {
    float *v = normals + 3 * i;
    if (i < 6) {
      v[0] = v[1] = v[2] = i % 2 == 0 ? 0.0f : -0.0f;
      v[i / 2] = i % 2 == 0 ? 1.0f : -1.0f;
      continue;
    }
    fill(random, v, 3);
    if (i % 5 == 0) v[2] *= 1e-6f;
    if (i % 7 == 0) v[0] *= 1e-6f, v[1] *= 1e-6f;
    const double length = sqrt((double)v[0] * v[0] + (double)v[1] * v[1] + (double)v[2] * v[2]);
    for (int k = 0; k < 3; k++) v[k] = (float)(v[k] / length);
  }
}

static int setup(void **state) {
  random_state random = harness_seeded("test_ray_sets");
  fixture *f = calloc(1, sizeof *f);
  assert_non_null(f);
  *state = f;
  f->context = harness_context();
  fill(&random, f->poses, 12 * ROWS);
  fill(&random, f->points, 3 * ROWS);
  fill(&random, f->beams, 6 * COLUMNS);
  fill(&random, f->directions, 3 * COLUMNS);
  fill_normals(&random, f->normals, ROWS);
  const float from[3] = {1.5f, -2.0f, 3.0f}, to[3] = {0.1f, 0.2f, 0.3f}, up[3] = {0.0f, 0.0f, 1.0f};
  f->camera = slab_camera_look_at(from, to, up, 50.0f, (float)COLUMNS / ROWS);
  return 0;
}

static int teardown(void **state) {
  fixture *f = *state;
  slab_context_destroy(f->context);
  free(f);
  return 0;
}

/* ---- the formulas ---- */

static void range_of(const slab_rays *s, slab_ray *ray) {
  ray->t_min = s->t_min;
  ray->t_max = s->t_max;
}

static float centre(uint32_t i, uint32_t n) { return (2.0f * (float)i + 1.0f) / (float)n; }

static void orthographic(const slab_rays *s, uint32_t row, uint32_t column, slab_ray *ray) {
  const slab_camera *c = &s->camera;
  const float x = centre(column, s->columns) - 1.0f, y = 1.0f - centre(row, s->rows);
  for (int k = 0; k < 3; k++) {
    const float across = x * c->right[k], along = y * c->up[k];
    ray->origin[k] = c->origin[k] + (across + along);
    ray->direction[k] = c->forward[k];
  }
}

static float series(const float *terms, float x) {
  float sum = 0.0f;
  for (int i = SLAB_FISHEYE_TERMS; i-- > 0;) sum = i == SLAB_FISHEYE_TERMS - 1 ? terms[i] : fmaf(sum, x, terms[i]);
  return sum;
}

static void fisheye(const slab_rays *s, uint32_t row, uint32_t column, slab_ray *ray) {
  const slab_camera *c = &s->camera;
  const float u = (centre(column, s->columns) - 1.0f) * s->across, v = (1.0f - centre(row, s->rows)) * s->along;
  const float vv = v * v, square = fmaf(u, u, vv);
  for (int k = 0; k < 3; k++) {
    const float up = v * c->up[k], side = series(s->sine, square) * fmaf(u, c->right[k], up);
    ray->origin[k] = c->origin[k];
    ray->direction[k] = fmaf(series(s->cosine, square), c->forward[k], side);
  }
  if (!(square <= s->limit)) {
    ray->t_min = INFINITY;
    ray->t_max = -INFINITY;
  }
}

static float dot(float a0, float b0, float a1, float b1, float a2, float b2) {
  const float first = a0 * b0;
  return fmaf(a2, b2, fmaf(a1, b1, first));
}

static void beam(const slab_rays *s, uint32_t row, uint32_t column, slab_ray *ray) {
  const float *m = s->of_rows + 12 * (size_t)row, *b = s->of_columns + 6 * (size_t)column;
  for (int k = 0; k < 3; k++, m += 4) {
    ray->origin[k] = fmaf(m[2], b[2], fmaf(m[1], b[1], fmaf(m[0], b[0], m[3])));
    ray->direction[k] = dot(m[0], b[3], m[1], b[4], m[2], b[5]);
  }
}

/* Duff et al., 2017. */
static void frame_of(const float n[3], float across[3], float along[3]) {
  const float sign = signbit(n[2]) ? -1.0f : 1.0f, a = -1.0f / (sign + n[2]), xy = n[0] * n[1], b = xy * a;
  const float xx = sign * n[0] * n[0], yy = n[1] * n[1];
  across[0] = fmaf(xx, a, 1.0f);
  across[1] = sign * b;
  across[2] = -sign * n[0];
  along[0] = b;
  along[1] = fmaf(yy, a, sign);
  along[2] = -n[1];
}

static void direction(const slab_rays *s, uint32_t row, uint32_t column, slab_ray *ray) {
  const float *point = s->of_rows + 3 * (size_t)row, *to = s->of_columns + 3 * (size_t)column;
  float across[3], along[3];
  memcpy(ray->origin, point, sizeof ray->origin);
  memcpy(ray->direction, to, sizeof ray->direction);
  if (s->normals == NULL) return;
  const float *n = s->normals + 3 * (size_t)row;
  frame_of(n, across, along);
  for (int k = 0; k < 3; k++) ray->direction[k] = dot(to[0], across[k], to[1], along[k], to[2], n[k]);
}

static slab_ray ray_of(const slab_rays *s, uint64_t i) {
  const uint32_t row = (uint32_t)(i / s->columns), column = (uint32_t)(i % s->columns);
  slab_ray ray;
  if (s->kind == SLAB_RAYS_PINHOLE) ray = slab_camera_ray(&s->camera, column, row, s->columns, s->rows);
  if (s->kind == SLAB_RAYS_PAIRS) ray = slab_segment(s->of_rows + 3 * (size_t)row, s->of_columns + 3 * (size_t)column);
  range_of(s, &ray);
  if (s->kind == SLAB_RAYS_ORTHOGRAPHIC) orthographic(s, row, column, &ray);
  if (s->kind == SLAB_RAYS_FISHEYE) fisheye(s, row, column, &ray);
  if (s->kind == SLAB_RAYS_BEAMS) beam(s, row, column, &ray);
  if (s->kind == SLAB_RAYS_DIRECTIONS) direction(s, row, column, &ray);
  return ray;
}

/* ---- writing ---- */

/* Whether two rays have the same bits, but for those of a NaN: processors and cards make NaN of either sign. */
static bool is_same_ray(const slab_ray *a, const slab_ray *b) {
  float x[sizeof *a / sizeof(float)], y[sizeof *a / sizeof(float)];
  memcpy(x, a, sizeof x);
  memcpy(y, b, sizeof y);
  for (size_t i = 0; i < sizeof x / sizeof *x; i++)
    if (memcmp(&x[i], &y[i], sizeof *x) != 0 && !(isnan(x[i]) && isnan(y[i]))) return false;
  return true;
}

static void verify(const fixture *f, const slab_rays *s, uint64_t first, size_t n) {
  slab_ray *got = malloc(n * sizeof *got);
  assert_non_null(got);
  memset(got, 0xA5, n * sizeof *got);
  assert_ok(slab_rays_write(f->context, s, first, n, got));
  for (size_t i = 0; i < n; i++) {
    const slab_ray want = ray_of(s, first + i);
    if (!is_same_ray(&want, &got[i]))
      fail_msg("kind %d, ray %llu: direction (%a %a %a), not (%a %a %a)", (int)s->kind, (unsigned long long)(first + i),
               (double)got[i].direction[0], (double)got[i].direction[1], (double)got[i].direction[2],
               (double)want.direction[0], (double)want.direction[1], (double)want.direction[2]);
  }
  harness_count(n);
  free(got);
}

static size_t sets_of(const fixture *f, uint32_t rows, uint32_t columns, slab_rays sets[8]) {
  size_t n = 0;
  sets[n++] = slab_rays_pinhole(&f->camera, columns, rows);
  sets[n++] = slab_rays_orthographic(&f->camera, columns, rows);
  sets[n++] = slab_rays_fisheye(&f->camera, columns, rows, 180.0f);
  sets[n++] = slab_rays_fisheye(&f->camera, columns, rows, 360.0f);
  sets[n++] = slab_rays_beams(f->poses, rows, f->beams, columns);
  sets[n++] = slab_rays_directions(f->points, rows, f->directions, columns);
  sets[n] = sets[n - 1];
  sets[n++].normals = f->normals;
  sets[n++] = slab_rays_pairs(f->points, rows, f->directions, columns);
  return n;
}

static void every_set_has_the_bits_of_its_formula(void **state) {
  const fixture *f = *state;
  slab_rays sets[8];
  const size_t n = sets_of(f, ROWS, COLUMNS, sets);
  for (size_t i = 0; i < n; i++) verify(f, &sets[i], 0, ROWS * COLUMNS);
  sets[0].of_rows = sets[0].of_columns = f->points; /* which cameras do not read */
  verify(f, &sets[0], 0, ROWS * COLUMNS);
}

/* Within a row, over the ends of several, and few rows or columns. */
static void parts_of_a_set_are_those_of_the_whole(void **state) {
  const fixture *f = *state;
  random_state random = harness_seeded(__func__);
  slab_rays sets[8];
  for (int round = 0; round < 12; round++) {
    const uint32_t rows = round % 4 == 0 ? 1 : 1 + random_below(&random, ROWS);
    const uint32_t columns = round % 4 == 1 ? 1 : 1 + random_below(&random, COLUMNS);
    const size_t n = sets_of(f, rows, columns, sets);
    const uint32_t first = random_below(&random, rows * columns), most = rows * columns - first;
    for (size_t i = 0; i < n; i++) verify(f, &sets[i], first, 1 + random_below(&random, most));
  }
}

/* More rays than 32 bits count, and more than a launch makes. */
static void sets_may_have_any_number_of_rays(void **state) {
  const fixture *f = *state;
  slab_rays large = slab_rays_pinhole(&f->camera, 1u << 24, 1u << 24);
  const uint64_t all = (uint64_t)1 << 48;
  verify(f, &large, all - 1000, 1000);
  verify(f, &large, ((uint64_t)1 << 32) - 500, 1000);
  verify(f, &large, 3, (1u << 19) + 5000);
  large = slab_rays_fisheye(&f->camera, 999, 1u << 24, 170.0f);
  verify(f, &large, (uint64_t)999 * (1u << 24) - 2500, 2500);
  assert_ok(slab_rays_write(f->context, &large, 17, 0, NULL));
}

/* ---- the meaning ---- */

static void frames_are_orthonormal(void **state) {
  const fixture *f = *state;
  const float axes[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
  slab_ray rays[3 * ROWS];
  slab_rays s = slab_rays_directions(f->points, ROWS, axes, 3);
  s.normals = f->normals;
  assert_ok(slab_rays_write(f->context, &s, 0, 3 * ROWS, rays));
  for (int row = 0; row < ROWS; row++)
    for (int a = 0; a < 3; a++)
      for (int b = 0; b < 3; b++) {
        double sum = 0.0;
        const float *v = rays[3 * row + a].direction, *w = rays[3 * row + b].direction;
        for (int k = 0; k < 3; k++) sum += (double)v[k] * (double)w[k];
        assert_true(fabs(sum - (a == b ? 1.0 : 0.0)) < 4e-7);
      }
}

/* The angle from the axis, and which way the pixel lies from it. */
static void a_fisheye_is_equidistant(void **state) {
  const fixture *f = *state;
  static const struct {
    float degrees;
    double error;
  } lenses[] = {{20.0f, 2e-7}, {180.0f, 4e-7}, {360.0f, 6e-6}};
  slab_ray rays[ROWS * COLUMNS];
  for (int l = 0; l < 3; l++) {
    const slab_rays s = slab_rays_fisheye(&f->camera, COLUMNS, ROWS, lenses[l].degrees);
    const double half = (double)lenses[l].degrees * acos(-1.0) / 360.0;
    int outside = 0;
    assert_ok(slab_rays_write(f->context, &s, 0, ROWS * COLUMNS, rays));
    for (int i = 0; i < ROWS * COLUMNS; i++) {
      const double x = ((2.0 * (i % COLUMNS) + 1.0) - COLUMNS) / ROWS, y = (ROWS - (2.0 * (i / COLUMNS) + 1.0)) / ROWS;
      const double angle = half * sqrt(x * x + y * y), share = angle > 0.0 ? half * sin(angle) / angle : half;
      const bool empty = rays[i].t_max < rays[i].t_min;
      outside += empty;
      if (fabs(x * x + y * y - 1.0) > 1e-5) assert_int_equal(empty, x * x + y * y > 1.0);
      for (int k = 0; k < 3 && !empty; k++) {
        const double want = cos(angle) * (double)s.camera.forward[k] +
                            share * (x * (double)s.camera.right[k] + y * (double)s.camera.up[k]);
        assert_true(fabs(want - (double)rays[i].direction[k]) < lenses[l].error);
      }
    }
    assert_in_range(outside, ROWS * COLUMNS / 4, ROWS * COLUMNS / 2);
  }
}

/* ---- tables ---- */

static void assert_near(const float got[3], double x, double y, double z) {
  const double want[] = {x, y, z};
  for (int k = 0; k < 3; k++) /* half a unit in the last place, and the error of double's sine */
    if (fabs((double)got[k] - want[k]) > fabs(want[k]) * 6e-8 + 1e-15)
      fail_msg("component %d is %.9g, not %.17g", k, (double)got[k], want[k]);
}

static double radians(double degrees) { return degrees * acos(-1.0) / 180.0; }

static void angles_give_their_directions(void **state) {
  enum { N = 4000 };
  (void)state;
  random_state random = harness_seeded(__func__);
  static float high[N], round[N], beams[6 * N], suns[3 * N];
  for (int i = 0; i < N; i++) {
    const bool far = i % 10 == 0;
    high[i] = far ? random_between(&random, -900.0f, 900.0f) : random_between(&random, -90.0f, 90.0f);
    round[i] = far ? random_between(&random, -4000.0f, 4000.0f) : random_between(&random, -180.0f, 360.0f);
  }
  assert_ok(slab_beams(high, round, N, beams));
  assert_ok(slab_sun_directions(round, high, N, suns));
  for (int i = 0; i < N; i++) {
    const double e = radians((double)high[i]), a = radians((double)round[i]);
    if (fabs(e) > 2.0 || fabs(a) > 7.0) continue; /* where radians are off by more than the result */
    assert_near(beams + 6 * i + 3, cos(e) * cos(a), cos(e) * sin(a), sin(e));
    assert_near(suns + 3 * i, cos(e) * sin(a), cos(e) * cos(a), sin(e));
    for (int k = 0; k < 3; k++) assert_true(beams[6 * i + k] == 0.0f);
  }
  /* A turn more is no other direction, and quarters are exact. */
  float more[3], once[3];
  for (int i = 0; i < 360; i += 7) {
    const float angle = (float)i, turned = (float)i - 720.0f, flat = 0.0f;
    assert_ok(slab_sun_directions(&angle, &flat, 1, once));
    assert_ok(slab_sun_directions(&turned, &flat, 1, more));
    assert_memory_equal(more, once, sizeof once);
  }
  const float quarters[] = {0, 90, 180, 270}, flat[4] = {0};
  const float axes[] = {0, 1, 0, 1, 0, 0, 0, -1, 0, -1, 0, 0};
  assert_ok(slab_sun_directions(quarters, flat, 4, suns));
  assert_memory_equal(suns, axes, sizeof axes);
}

static void a_spun_pose_turns_about_its_own_axis(void **state) {
  const fixture *f = *state;
  float angles[ROWS], spun[12 * ROWS], beam[6], rays_of_turned[6 * ROWS];
  slab_ray spinning[ROWS], turned[ROWS];
  for (int i = 0; i < ROWS; i++) angles[i] = 10.0f * (float)i - 33.0f;
  assert_ok(slab_spun_poses(f->poses, 48, angles, ROWS, spun));
  const float level = 0.0f, high = 12.0f;
  assert_ok(slab_beams(&high, &level, 1, beam));
  slab_rays s = slab_rays_beams(spun, ROWS, beam, 1);
  assert_ok(slab_rays_write(f->context, &s, 0, ROWS, spinning));
  for (int i = 0; i < ROWS; i++) assert_ok(slab_beams(&high, &angles[i], 1, rays_of_turned + 6 * i));
  for (int i = 0; i < ROWS; i++) {
    s = slab_rays_beams(f->poses + 12 * i, 1, rays_of_turned + 6 * i, 1);
    assert_ok(slab_rays_write(f->context, &s, 0, 1, &turned[i]));
    for (int k = 0; k < 3; k++) {
      assert_true(spinning[i].origin[k] == turned[i].origin[k]);
      assert_true(fabsf(spinning[i].direction[k] - turned[i].direction[k]) < 1e-5f);
    }
  }
  assert_ok(slab_spun_poses(f->poses, 0, angles, ROWS, spun));
  for (int i = 0; i < ROWS; i++) assert_true(spun[12 * i + 3] == f->poses[3]);
}

/* Each direction alone, and the means: z of a half space is 1/2, by the cosine 2/3. */
static void hemispheres_are_even(void **state) {
  enum { N = 10000 };
  (void)state;
  static float directions[3 * N];
  for (int cosine = 0; cosine < 2; cosine++) {
    double sum[3] = {0.0};
    assert_ok(slab_hemisphere(N, cosine, directions));
    for (int i = 0; i < N; i++) {
      const double share = (i + 0.5) / N, z = cosine ? sqrt(1.0 - share) : 1.0 - share;
      const double turns = (double)((uint64_t)i * 0x9E3779B97F4A7C15u) / 18446744073709551616.0;
      const double across = sqrt(1.0 - z * z), a = 2.0 * acos(-1.0) * turns;
      const float *d = directions + 3 * i;
      assert_true(fabs((double)d[0] - across * cos(a)) < 1e-7 && fabs((double)d[1] - across * sin(a)) < 1e-7);
      assert_true(fabs((double)d[2] - z) < 1e-7);
      for (int k = 0; k < 3; k++) sum[k] += (double)d[k] / N;
    }
    assert_true(fabs(sum[0]) < 2e-4 && fabs(sum[1]) < 2e-4 && fabs(sum[2] - (cosine ? 2.0 / 3.0 : 0.5)) < 1e-5);
  }
}

/* Numbers of patches, altitudes and solid angles as the literature has them, and all of the half space. */
static void skies_are_whole(void **state) {
  static float directions[3 * 2305], weights[2305];
  (void)state;
  static const struct {
    uint32_t parts, count, first_row;
    double altitude;
  } skies[] = {{1, 145, 30, 6.0}, {2, 577, 60, 90.0 / 29.0}, {4, 2305, 120, 90.0 / 57.0}};
  for (int s = 0; s < 3; s++) {
    const uint32_t n = slab_sky_patch_count(skies[s].parts);
    assert_int_equal(n, skies[s].count);
    assert_ok(slab_sky_patches(skies[s].parts, directions, weights));
    const double e = radians(skies[s].altitude), a = 2.0 * acos(-1.0) / skies[s].first_row;
    assert_near(directions, 0.0, cos(e), sin(e));
    assert_near(directions + 3, cos(e) * sin(a), cos(e) * cos(a), sin(e));
    assert_near(directions + 3 * (n - 1), 0.0, 0.0, 1.0);
    double sum = 0.0, level = 0.0;
    for (uint32_t i = 0; i < n; i++)
      sum += (double)weights[i], level += (double)weights[i] * (double)directions[3 * i + 2];
    assert_true(fabs(sum - 2.0 * acos(-1.0)) < 1e-6);
    /* a row's middle is higher than its mean by 1 / cos of half a row */
    assert_true(fabs(level - acos(-1.0)) < 0.02 / (skies[s].parts * skies[s].parts));
  }
  assert_true(fabs((double)weights[0] - 2.0 * acos(-1.0) * sin(radians(90.0 / 28.5)) / 120.0) < 1e-9);
  assert_ok(slab_sky_patches(1, directions, NULL));
}

static void tables_of_bad_angles_are_refused(void **state) {
  const float angles[] = {1.0f, NAN, 2.0f}, good[3] = {0};
  float out[36];
  (void)state;
  assert_int_equal(slab_beams(angles, good, 3, out), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "elevation 1 is nan"));
  assert_int_equal(slab_sun_directions(good, angles, 3, out), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "altitude 1"));
  assert_int_equal(slab_spun_poses(out, 0, angles, 3, out), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "azimuth 1"));
  assert_int_equal(slab_beams(NULL, good, 3, out), SLAB_INVALID_ARGUMENT);
  assert_int_equal(slab_hemisphere(3, 0, NULL), SLAB_INVALID_ARGUMENT);
  assert_int_equal(slab_sky_patches(0, out, NULL), SLAB_INVALID_ARGUMENT);
  assert_int_equal(slab_sky_patches(65, out, NULL), SLAB_INVALID_ARGUMENT);
  assert_int_equal(slab_sky_patches(1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  assert_int_equal(slab_sky_patch_count(0) + slab_sky_patch_count(65), 0);
  assert_ok(slab_beams(NULL, NULL, 0, NULL));
  assert_ok(slab_hemisphere(0, 0, NULL));
}

/* ---- bad input ---- */

static void assert_refused(const fixture *f, const slab_rays *s, uint64_t first, size_t n, const char *part) {
  slab_ray rays[MOST];
  assert_int_equal(slab_rays_write(f->context, s, first, n, rays), SLAB_INVALID_ARGUMENT);
  if (strstr(slab_message(), part) == NULL) fail_msg("\"%s\" does not say \"%s\"", slab_message(), part);
}

static void descriptions_of_no_set_are_refused(void **state) {
  const fixture *f = *state;
  slab_ray rays[MOST];
  const slab_rays good = slab_rays_directions(f->points, ROWS, f->directions, COLUMNS);
  const slab_rays camera = slab_rays_pinhole(&f->camera, 4, 4);
  slab_rays s = good;
  assert_int_equal(slab_rays_write(NULL, &s, 0, 1, rays), SLAB_INVALID_ARGUMENT);
  assert_refused(f, NULL, 0, 1, "set is NULL");
  assert_int_equal(slab_rays_write(f->context, &s, 0, 1, NULL), SLAB_INVALID_ARGUMENT);
  s.kind = (slab_rays_kind)SLAB_RAYS_KIND_COUNT;
  assert_refused(f, &s, 0, 1, "kind is 6");
  s = good, s.rows = 0;
  assert_refused(f, &s, 0, 1, "0 rows");
  s = good, s.columns = (1u << 31) + 1;
  assert_refused(f, &s, 0, 1, "2147483649 columns");
  s = camera, s.rows = (1u << 24) + 1;
  assert_refused(f, &s, 0, 1, "16777217 rows");
  s = good, s.of_rows = NULL;
  assert_refused(f, &s, 0, 1, "of_rows is NULL");
  s = good, s.of_columns = NULL;
  assert_refused(f, &s, 0, 1, "of_columns is NULL");
  s = camera, s.normals = f->normals;
  assert_refused(f, &s, 0, 1, "normals");
  s = good, s.t_max = NAN;
  assert_refused(f, &s, 0, 1, "t_max is NaN");
  const float angles[] = {NAN, 0.0f, -90.0f, 361.0f};
  for (size_t i = 0; i < sizeof angles / sizeof *angles; i++) {
    s = slab_rays_fisheye(&camera.camera, 4, 4, angles[i]);
    assert_refused(f, &s, 0, 1, "limit is NaN");
  }
  assert_refused(f, &camera, 16, 1, "1 rays from 16 on, and the set has 16");
  assert_refused(f, &camera, 10, 7, "7 rays from 10 on");
  assert_refused(f, &camera, UINT64_MAX, 2, "2 rays from");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_set_has_the_bits_of_its_formula),
      cmocka_unit_test(parts_of_a_set_are_those_of_the_whole),
      cmocka_unit_test(sets_may_have_any_number_of_rays),
      cmocka_unit_test(frames_are_orthonormal),
      cmocka_unit_test(a_fisheye_is_equidistant),
      cmocka_unit_test(angles_give_their_directions),
      cmocka_unit_test(a_spun_pose_turns_about_its_own_axis),
      cmocka_unit_test(hemispheres_are_even),
      cmocka_unit_test(skies_are_whole),
      cmocka_unit_test(tables_of_bad_angles_are_refused),
      cmocka_unit_test(descriptions_of_no_set_are_refused),
  };
  return cmocka_run_group_tests(tests, setup, teardown);
}
