/* examples/culling.c: the boxes that it finds seen are those that slabs in double, box by box, find first. */
#include "run.h"
#define main culling_main
#include "../../examples/culling.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { SIDE = 20, BOXES = SIDE * SIDE, WIDTH = 96, HEIGHT = 54 };

/* Where a ray enters a box; infinity where it does not. With `slack` it enters where it nearly misses. */
static double enters(const slab_box *box, const slab_ray *ray, double slack) {
  double enter = 0, leave = INFINITY;
  for (int k = 0; k < 3; k++) {
    const double low = ((double)box->lower[k] - slack - ray->origin[k]) / (double)ray->direction[k];
    const double high = ((double)box->upper[k] + slack - ray->origin[k]) / (double)ray->direction[k];
    enter = fmax(enter, fmin(low, high)), leave = fmin(leave, fmax(low, high));
  }
  return enter <= leave ? enter : INFINITY;
}

/* Sets is_certain of boxes that a ray meets first whatever rounding does, and is_possible of these and all that it may
 * meet first. */
static void brute_force(const slab_box *boxes, const slab_camera *camera, uint8_t *is_certain, uint8_t *is_possible) {
  for (uint32_t i = 0; i < WIDTH * HEIGHT; i++) {
    const slab_ray ray = slab_camera_ray(camera, i % WIDTH, i / WIDTH, WIDTH, HEIGHT);
    double surely = INFINITY; /* something is met here */
    for (int k = 0; k < BOXES; k++) surely = fmin(surely, enters(&boxes[k], &ray, -1e-3));
    int candidates = 0, last = 0;
    for (int k = 0; k < BOXES; k++) {
      const double t = enters(&boxes[k], &ray, 1e-3);
      if (!(t <= surely) || isinf(t)) continue;
      is_possible[k] = 1, last = k, candidates++;
    }
    if (candidates == 1 && surely < INFINITY) is_certain[last] = 1;
  }
}

static void boxes_are_seen_that_are_first_on_a_ray(void **state) {
  (void)state;
  char path[] = "culling-XXXXXX", count[8], width[8], height[8];
  snprintf(count, sizeof count, "%d", BOXES);
  snprintf(width, sizeof width, "%d", WIDTH);
  snprintf(height, sizeof height, "%d", HEIGHT);
  FILE *printed = run_example(culling_main, 0, (char *[]){"culling", empty_file(path), count, width, height, NULL});
  unsigned rays = 0, seen = 0, of = 0;
  float seconds = -1;
  assert_int_equal(fscanf(printed, "%u rays in %f s %u of %u boxes are seen", &rays, &seconds, &seen, &of), 4);
  fclose(printed);
  assert_true(rays == WIDTH * HEIGHT && seconds >= 0 && of == BOXES);

  slab_box boxes[BOXES];
  uint8_t is_certain[BOXES] = {0}, is_possible[BOXES] = {0};
  const slab_camera camera = camera_over(SIDE, (float)WIDTH / HEIGHT);
  build(boxes, SIDE);
  brute_force(boxes, &camera, is_certain, is_possible);
  unsigned certain = 0, possible = 0;
  for (int k = 0; k < BOXES; k++) certain += is_certain[k], possible += is_possible[k];
  assert_true(certain > 20 && possible < BOXES / 2);
  assert_true(certain <= seen && seen <= possible);
  harness_count(rays);

  /* The map: bright are boxes that are seen, at their middles, which lie under nothing. */
  uint8_t *pixels = read_picture(path, MAP_WIDTH, MAP_HEIGHT);
  unsigned bright = 0;
  for (int k = 0; k < BOXES; k++) {
    const float x = 0.5f * (boxes[k].lower[0] + boxes[k].upper[0]), y = 0.5f * (boxes[k].lower[1] + boxes[k].upper[1]);
    const int column = (int)((x - camera.origin[0]) / MAP_SCALE + 0.1f * MAP_WIDTH);
    const int row = (int)((camera.origin[1] - y) / MAP_SCALE + 0.5f * MAP_HEIGHT);
    assert_true(column >= 0 && column < MAP_WIDTH && row >= 0 && row < MAP_HEIGHT); /* the whole city */
    const uint8_t *pixel = pixels + 3 * ((size_t)row * MAP_WIDTH + (size_t)column);
    const int is_bright = pixel[0] > pixel[2];
    assert_true(is_certain[k] <= is_bright && is_bright <= is_possible[k]);
    bright += (unsigned)is_bright;
  }
  assert_int_equal(bright, seen);
  free(pixels);
  unlink(path);
}

static void usage_and_files_that_cannot_be_are_told(void **state) {
  (void)state;
  fclose(run_example(culling_main, 2, (char *[]){"culling", NULL}));
  fclose(run_example(culling_main, 2, (char *[]){"culling", "x.ppm", "0", NULL}));
  fclose(run_example(culling_main, 1, (char *[]){"culling", "/there/is/no/folder", "9", "4", "4", NULL}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(boxes_are_seen_that_are_first_on_a_ray),
      cmocka_unit_test(usage_and_files_that_cannot_be_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
