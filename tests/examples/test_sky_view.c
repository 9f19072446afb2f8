/* examples/sky_view.c: its map, ray by ray in double against all houses, and the street, whose value is known. */
#include "run.h"
#define main sky_view_main
#include "../../examples/sky_view.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { ACROSS = 36, ALONG = 15, PLACES = ACROSS * ALONG, RAYS = 48 };

/* How far the ray passes inside a house, as a part of t: below 0 outside of it. */
static double inside(const slab_box *box, const double from[3], const float *along) {
  double enter = 0, leave = INFINITY;
  for (int k = 0; k < 3; k++) {
    const double a = (box->lower[k] - from[k]) / along[k], b = (box->upper[k] - from[k]) / along[k];
    enter = fmax(enter, fmin(a, b));
    leave = fmin(leave, fmax(a, b));
  }
  return leave - enter;
}

/* The right value of the map at a place; NaN where a ray nearly touches a house. */
static double expected(const slab_box *boxes, uint32_t count, const double from[3], const float *directions) {
  uint32_t open = 0;
  for (uint32_t i = 0; i < count; i++) {
    int is_within = 1;
    for (int k = 0; k < 2; k++) is_within &= from[k] > boxes[i].lower[k] && from[k] < boxes[i].upper[k];
    if (is_within) return -(double)boxes[i].upper[2];
  }
  for (uint32_t r = 0; r < RAYS; r++) {
    double most = -INFINITY;
    for (uint32_t i = 0; i < count; i++) most = fmax(most, inside(&boxes[i], from, directions + 3 * (size_t)r));
    if (fabs(most) < 1e-3) return (double)NAN;
    open += most < 0;
  }
  return (double)open / RAYS;
}

static void the_map_is_what_rays_in_double_see(void **state) {
  (void)state;
  char path[] = "sky_view-XXXXXX", header[14];
  float map[PLACES], directions[3 * RAYS];
  slab_box boxes[MOST];
  const uint32_t count = build(boxes);
  assert_int_equal(slab_hemisphere(RAYS, 1, directions), SLAB_OK);
  FILE *printed = run_example(sky_view_main, 0, (char *[]){"sky_view", empty_file(path), "36", "48", NULL});
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  assert_int_equal(fread(header, 1, sizeof header, file), sizeof header);
  assert_memory_equal(header, "Pf\n36 15\n-1.0\n", sizeof header);
  assert_true(fread(map, sizeof map, 1, file) == 1 && fgetc(file) == EOF);
  fclose(file);

  uint32_t clear = 0, houses = 0, open = 0;
  double sum = 0, told;
  for (uint32_t i = 0; i < PLACES; i++) {
    const double from[3] = {20 * (i % ACROSS + 0.5), 20 * (i / ACROSS + 0.5)};
    const double want = expected(boxes, count, from, directions), off = fabs(want - (double)map[i]);
    houses += map[i] < 0;
    if (map[i] >= 0) open++, sum += (double)map[i];
    if (isnan(want)) continue;
    clear++;
    assert_true(off < (want < 0 ? 1e-4 : 1e-6));
  }
  assert_true(clear > PLACES * 9 / 10 && houses > PLACES / 4 && open > PLACES / 4);
  uint32_t told_open;
  assert_int_equal(fscanf(printed, "%*[^\n] %*[^\n] %u places between houses see %lf of", &told_open, &told), 2);
  assert_true(told_open == open && fabs(told - sum / open) < 6e-5);
  harness_count((size_t)PLACES * RAYS);
  fclose(printed);
  unlink(path);
}

static void the_street_is_told_as_its_formula_says(void **state) {
  (void)state;
  char path[] = "sky_view-XXXXXX";
  double got, known, worst;
  FILE *printed = run_example(sky_view_main, 0, (char *[]){"sky_view", empty_file(path), "12", "4096", NULL});
  assert_int_equal(fscanf(printed, "the middle of a street: %lf of the sky, by the formula %lf ", &got, &known), 2);
  assert_int_equal(fscanf(printed, "the largest error across it: %lf", &worst), 1);
  assert_true(fabs(known - cos(atan(2.0 * 15 / 20))) < 6e-5); /* 0.5547 */
  assert_true(fabs(got - known) < 2e-3 && worst < 2e-3 && worst > fabs(got - known) - 2e-4);
  fclose(printed);
  unlink(path);
}

/* A spiral that leans to one side is noticed: the judge is not a formula of its own answer. */
static void directions_that_lean_are_found_wrong(void **state) {
  (void)state;
  float directions[3 * 1024];
  slab_context *context = NULL;
  double right = 0, wrong = 0;
  assert_int_equal(slab_context_create(NULL, &context), SLAB_OK);
  assert_int_equal(slab_hemisphere(1024, 1, directions), SLAB_OK);
  assert_int_equal(judge(context, directions, 1024, &right), SLAB_OK);
  assert_int_equal(slab_hemisphere(1024, 0, directions), SLAB_OK); /* even over the solid angle, not as the cosine */
  assert_int_equal(judge(context, directions, 1024, &wrong), SLAB_OK);
  assert_true(right < 2 / pow(1024, 0.75) && wrong > 5 * right);
  slab_context_destroy(context);
}

static void usage_and_files_that_cannot_be_are_told(void **state) {
  (void)state;
  fclose(run_example(sky_view_main, 2, (char *[]){"sky_view", NULL}));
  fclose(run_example(sky_view_main, 2, (char *[]){"sky_view", "map.pfm", "11", NULL}));
  fclose(run_example(sky_view_main, 2, (char *[]){"sky_view", "map.pfm", "12", "0", NULL}));
  fclose(run_example(sky_view_main, 1, (char *[]){"sky_view", "/there/is/no/folder", "12", "64", NULL}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_map_is_what_rays_in_double_see),
      cmocka_unit_test(the_street_is_told_as_its_formula_says),
      cmocka_unit_test(directions_that_lean_are_found_wrong),
      cmocka_unit_test(usage_and_files_that_cannot_be_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
