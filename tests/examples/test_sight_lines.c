/* examples/sight_lines.c: the mast that each place sees first by the example, against triangles one by one in
 * double. */
#include "run.h"
#define main sight_lines_main
#include "../../examples/sight_lines.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { SIDE = 40, N = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };
typedef enum sight { OPEN, HIDDEN, UNSURE } sight;

static double cross_z(const double a[3], const double b[3]) { return a[0] * b[1] - a[1] * b[0]; }

/* Whether ground hides `eyes` from `top`: where their line, seen from above, passes over a triangle, its height over
 * the triangle's plane at both ends of that part decides. Exact but for rounding: less than 1 mm is unsure. */
static sight sight_of(const float *vertices, const uint32_t *indices, const double top[3], const double eyes[3]) {
  double least = INFINITY;
  for (uint32_t i = 0; i < TRIANGLES; i++) {
    double corner[3][3], from = 0, to = 1;
    for (int k = 0; k < 9; k++) corner[k / 3][k % 3] = vertices[3 * indices[3 * i + (uint32_t)k / 3] + (uint32_t)k % 3];
    for (int k = 0; k < 3; k++) { /* the part of 0 to 1 within the three edges, which run counter-clockwise */
      double edge[3], at_top[3], at_eyes[3];
      for (int m = 0; m < 3; m++) {
        edge[m] = corner[(k + 1) % 3][m] - corner[k][m];
        at_top[m] = top[m] - corner[k][m], at_eyes[m] = eyes[m] - corner[k][m];
      }
      const double a = cross_z(edge, at_top), b = cross_z(edge, at_eyes);
      if (a < 0 && b < 0) to = -1;
      if (a < 0 && b >= 0) from = fmax(from, a / (a - b));
      if (a >= 0 && b < 0) to = fmin(to, a / (a - b));
    }
    if (from > to) continue;
    double u[3], v[3], top_away[3], way[3];
    for (int m = 0; m < 3; m++) {
      u[m] = corner[1][m] - corner[0][m], v[m] = corner[2][m] - corner[0][m];
      top_away[m] = top[m] - corner[0][m], way[m] = eyes[m] - top[m];
    }
    const double normal[3] = {u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], cross_z(u, v)};
    double start = 0, change = 0;
    for (int m = 0; m < 3; m++) start += normal[m] * top_away[m] / normal[2], change += normal[m] * way[m] / normal[2];
    least = fmin(least, fmin(start + from * change, start + to * change));
  }
  return least > 1e-3 ? OPEN : least < -1e-3 ? HIDDEN : UNSURE;
}

/* Whether mast and place, vertices both, see each other. */
static sight between(const float *vertices, const uint32_t *indices, uint32_t mast, uint32_t place) {
  const float *a = vertices + 3 * (size_t)mast, *b = vertices + 3 * (size_t)place;
  return sight_of(vertices, indices, (double[]){a[0], a[1], a[2] + MAST}, (double[]){b[0], b[1], b[2] + EYES});
}

/* The number of a place's colour, after the vertices were compared. */
static void read_ply(const char *path, const float *vertices, uint8_t *first) {
  FILE *file = fopen(path, "rb");
  char line[80] = "";
  assert_non_null(file);
  while (strcmp(line, "end_header\n") != 0) assert_non_null(fgets(line, sizeof line, file));
  for (size_t i = 0; i < N; i++) {
    float at[3];
    uint8_t color[3], k = 0;
    assert_true(fread(at, sizeof at, 1, file) == 1 && fread(color, sizeof color, 1, file) == 1);
    assert_memory_equal(at, vertices + 3 * i, sizeof at);
    while (k <= MASTS && memcmp(color, COLORS[k], 3) != 0) k++;
    assert_true(k <= MASTS);
    first[i] = k;
  }
  assert_true(!fseek(file, 13L * TRIANGLES - 1, SEEK_CUR) && fgetc(file) != EOF && fgetc(file) == EOF);
  fclose(file);
}

static void places_see_the_masts_that_no_ground_hides(void **state) {
  (void)state;
  char path[] = "sight_lines-XXXXXX", side[8];
  float *vertices = harness_space(3 * N * sizeof *vertices);
  uint32_t *indices = harness_space(3 * (size_t)TRIANGLES * sizeof *indices), masts[MASTS];
  uint8_t first[N];
  snprintf(side, sizeof side, "%d", SIDE);
  FILE *printed = run_example(sight_lines_main, 0, (char *[]){"sight_lines", empty_file(path), side, NULL});
  assert_true(lay_out(SIDE, NULL, vertices, indices));
  read_ply(path, vertices, first);
  for (int m = 0; m < MASTS; m++) {
    float x, y, more;
    assert_int_equal(
        fscanf(printed, " mast %*d at (%f, %f, %*f): %f %% of the ground more, %*f %% in all", &x, &y, &more), 3);
    masts[m] = (uint32_t)(lrintf(y / SPACING + 0.5f * (SIDE - 1)) * SIDE + lrintf(x / SPACING + 0.5f * (SIDE - 1)));
    uint32_t count = 0;
    for (uint32_t i = 0; i < N; i++) count += first[i] == m;
    assert_true(fabsf(more - 100.0f * (float)count / N) < 0.06f);
  }
  fclose(printed);

  uint32_t hidden = 0, unsure = 0, most = 0;
  for (uint32_t i = 0; i < N; i++) {
    for (int m = 0; m < MASTS && m <= first[i]; m++) {
      const sight seen = between(vertices, indices, masts[m], i);
      hidden += seen == HIDDEN, unsure += seen == UNSURE;
      if (seen != UNSURE) assert_int_equal(seen == OPEN, m == first[i]);
    }
    most += first[i] == 0;
  }
  assert_true(hidden > N / 20 && unsure < N / 100);
  /* Of no place that was tried does more of the ground see the first mast. */
  for (uint32_t k = 0; k < PLACES; k++) {
    uint32_t open = 0;
    for (uint32_t i = 0; i < N; i++)
      open += between(vertices, indices, highest(vertices, SIDE, k % TRIED, k / TRIED), i) == OPEN;
    assert_true(open <= most + N / 100);
  }
  harness_count((size_t)PLACES * N);
  free(indices);
  free(vertices);
  unlink(path);
}

static void heights_are_read_or_told_to_be_too_few(void **state) {
  (void)state;
  char path[] = "sight_lines-XXXXXX", heights[] = "heights-XXXXXX", line[128];
  const float flat[16 * 16] = {0};
  FILE *file = fopen(empty_file(heights), "wb");
  assert_true(file && fwrite(flat, sizeof flat, 1, file) == 1 && !fclose(file));
  FILE *printed = run_example(sight_lines_main, 0, (char *[]){"sight_lines", empty_file(path), "16", heights, NULL});
  assert_non_null(fgets(line, sizeof line, printed));
  assert_non_null(strstr(line, ", 25): 100.0 % of the ground more, 100.0 % in all"));
  fclose(printed);
  fclose(run_example(sight_lines_main, 1, (char *[]){"sight_lines", path, "17", heights, NULL}));
  fclose(run_example(sight_lines_main, 1, (char *[]){"sight_lines", path, "16", "no such file", NULL}));
  fclose(run_example(sight_lines_main, 2, (char *[]){"sight_lines", path, "7", NULL}));
  unlink(heights);
  unlink(path);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(places_see_the_masts_that_no_ground_hides),
      cmocka_unit_test(heights_are_read_or_told_to_be_too_few),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
