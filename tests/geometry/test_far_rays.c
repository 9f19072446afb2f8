/* The float rays of rays of the world, and t on the way back: work/far_rays.c against the reference's scalar code, bit
 * by bit, over rays of any bits. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "check/reference_far.h"
#include "harness.h"
#include "work/far_rays.h"

enum { PATTERNS = 4096 };

/* A double of random bits, or one that is special or a coordinate. */
static double any_double(random_state *random, double origin) {
  static const double special[] = {
      0.0,       -0.0,      INFINITY,     -INFINITY, NAN,      0x1p58,     0x1.0000000000001p58,
      0x1p-1074, 0x1p-1022, -0x1.8p-1050, 1.0,       0x1p1023, 0x1.8p-149, -0x1p128};
  double x;
  const uint64_t bits = random_bits(random);
  switch (random_below(random, 6)) {
    case 0:
      memcpy(&x, &bits, sizeof x);
      return x;
    case 1:
      return special[random_below(random, sizeof special / sizeof *special)];
    case 2:
      return origin + (double)random_between(random, -300.0f, 300.0f);
    case 3:
      return origin + ldexp((double)random_between(random, -1.0f, 1.0f), (int)random_below(random, 60));
    default:
      return (double)random_between(random, -2.0f, 2.0f) * (1.0 + 0x1p-40 * (double)random_below(random, 1000));
  }
}

static slab_ray64 any_ray(random_state *random, const double origin[3]) {
  const bool plain = random_below(random, 4) != 0; /* else nearly all are invalid */
  slab_ray64 r;
  for (int k = 0; k < 3; k++) {
    r.origin[k] = plain ? origin[k] + ldexp((double)random_between(random, -1.0f, 1.0f), (int)random_below(random, 40))
                        : any_double(random, origin[k]);
    r.direction[k] =
        plain && random_below(random, 3) != 0 ? (double)random_between(random, -1.0f, 1.0f) : any_double(random, 0.0);
  }
  const int scale = (int)random_below(random, 2100) - 1050;
  for (int k = 0; plain && k < 3; k++) r.direction[k] = ldexp(r.direction[k], scale);
  r.t_min = any_double(random, 0.0);
  r.t_max = any_double(random, 0.0);
  return r;
}

static slab_ray rounded(const slab_ray64 *r) {
  slab_ray to = {.t_min = (float)r->t_min, .t_max = (float)r->t_max};
  for (int k = 0; k < 3; k++) {
    to.origin[k] = (float)r->origin[k];
    to.direction[k] = (float)r->direction[k];
  }
  return to;
}

static bool same_float(float a, float b) { return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0; }
static bool same_double(double a, double b) { return isnan(a) ? isnan(b) : memcmp(&a, &b, sizeof a) == 0; }

/* A float ray of a cast, against the reference's. Results of it, for some t. */
static void assert_same_line(const far_source *from, const far_lines *lines, const slab_ray *rays, size_t i,
                             const reference_line *want, float t) {
  float a[8], b[8];
  memcpy(a, &rays[i], sizeof a);
  memcpy(b, &want->ray, sizeof b);
  if (isnan(a[0]) && isnan(b[0])) return; /* invalid: its other numbers say nothing */
  for (int k = 0; k < 8; k++)
    if (!same_float(a[k], b[k]))
      fail_msg("ray %zu (%a %a %a, %a %a %a, %a to %a): number %d is %a, the reference has %a", i,
               want->given.origin[0], want->given.origin[1], want->given.origin[2], want->given.direction[0],
               want->given.direction[1], want->given.direction[2], want->given.t_min, want->given.t_max, k,
               (double)a[k], (double)b[k]);
  assert_true(lines->unit[i] == ldexp(1.0, want->exponent));
  assert_true(same_double(lines->begin[i], want->begin));
  assert_true(same_double(far_t(from, lines, 0, i, t), reference_world_t(want, t)));
}

/* Rays that are made in runs, as pieces of a cast make them, are those that are made at once. */
static void assert_same_in_runs(const far_cast *far, const slab_ray *made, const far_lines *lines, size_t n,
                                random_state *random) {
  slab_ray *rays = harness_space(n * sizeof *rays);
  const far_lines own = {harness_space((n + 3) * sizeof(double)), harness_space((n + 3) * sizeof(double))};
  for (size_t at = 0; at < n;) {
    const size_t some = 1 + random_below(random, 9), run = n - at < some ? n - at : some;
    far_rays_make(far, at, run, rays + at, &(far_lines){own.begin + at, own.unit + at});
    at += run;
  }
  assert_same_bits(rays, made, n, sizeof *rays);
  assert_same_bits(own.begin, lines->begin, n, sizeof *own.begin);
  assert_same_bits(own.unit, lines->unit, n, sizeof *own.unit);
  free(rays);
  free(own.begin);
  free(own.unit);
}

static void the_reference_makes_the_rays_of_casts(void **state) {
  random_state random = harness_seeded("patterns");
  slab_ray64 *rays64 = harness_space(PATTERNS * sizeof *rays64);
  slab_ray *floats = harness_space(PATTERNS * sizeof *floats), *made = harness_space(PATTERNS * sizeof *made);
  const far_lines lines = {harness_space(PATTERNS * sizeof(double)), harness_space(PATTERNS * sizeof(double))};
  static const float sizes[][2] = {{-64.0f, 64.0f}, {-1e-3f, 2e4f}, {0.0f, 0.0f}, {1.0f, -1.0f}, {-3e30f, 2e38f}};
  for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
    slab_scene_stats stats = {.origin = {5e6 + 0.25, -1e8, s == 2 ? 0.0 : 0x1p-30}};
    for (int k = 0; k < 3; k++) {
      stats.lower[k] = sizes[s][0];
      stats.upper[k] = sizes[s][1] * (k == 1 ? 0.5f : 1.0f);
    }
    for (size_t i = 0; i < PATTERNS; i++) {
      rays64[i] = any_ray(&random, stats.origin);
      floats[i] = rounded(&rays64[i]);
    }
    const size_t n = PATTERNS - s; /* a last row of four that is not whole */
    const far_cast doubles = {.frame = far_frame_of(&stats, s == 1), .from = {NULL, rays64}};
    const far_cast singles = {.frame = doubles.frame, .from = {floats, NULL}};
    far_rays_make_all(2, &doubles, 0, n, made, &lines);
    assert_same_in_runs(&doubles, made, &lines, n, &random);
    for (size_t i = 0; i < n; i++) {
      const reference_line want = reference_line_of(&stats, s == 1, &rays64[i]);
      assert_same_line(&doubles.from, &lines, made, i, &want, random_between(&random, -9.0f, 9.0f));
    }
    far_rays_make_all(2, &singles, 0, n, made, &lines);
    assert_same_in_runs(&singles, made, &lines, n, &random);
    for (size_t i = 0; i < n; i++) {
      const reference_line want = reference_line_of_floats(&stats, s == 1, &floats[i]);
      assert_same_line(&singles.from, &lines, made, i, &want, random_between(&random, -9.0f, 9.0f));
    }
    harness_count(2 * n);
  }
  free(rays64);
  free(floats);
  free(made);
  free(lines.begin);
  free(lines.unit);
  (void)state;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_reference_makes_the_rays_of_casts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
