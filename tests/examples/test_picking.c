/* examples/picking.c: it picks and paints as slabs in double do, box by box. */
#include "run.h"
#define main picking_main
#include "../../examples/picking.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { BOXES = 300, CLICKS = 200, BOX_OF_NONE = -1 };

/* The box that a ray enters first, and where and by which face. `margin` is by how much it is the first, and by how
 * much it is met at all. */
typedef struct first {
  int box, face;
  double t, margin;
} first;

static first first_box(const slab_obb *boxes, const slab_ray *ray) {
  first best = {BOX_OF_NONE, 0, INFINITY, INFINITY};
  for (int i = 0; i < BOXES; i++) {
    double enter = -INFINITY, leave = INFINITY;
    int face = 0;
    for (int k = 0; k < 3; k++) {
      double o = 0, d = 0;
      for (int m = 0; m < 3; m++) {
        o += ((double)ray->origin[m] - boxes[i].center[m]) * boxes[i].axes[k][m];
        d += (double)ray->direction[m] * boxes[i].axes[k][m];
      }
      const double side = d > 0 ? -boxes[i].half_size[k] : boxes[i].half_size[k];
      const double near = (side - o) / d, far = (-side - o) / d;
      if (near > enter) enter = near, face = 2 * k + (d < 0);
      if (far < leave) leave = far;
    }
    const double margin = fabs(leave - enter);
    if (enter > leave || leave < 0) {
      best.margin = fmin(best.margin, margin); /* nearly met */
    } else if (enter < best.t) {
      best = (first){i, face, enter, fmin(fmin(best.margin, best.t - enter), margin)};
    } else {
      best.margin = fmin(best.margin, enter - best.t);
    }
  }
  return best;
}

static const char *face_name(const char *text) {
  for (size_t i = 0; i < sizeof FACES / sizeof *FACES; i++)
    if (text[0] == FACES[i][0] && text[1] == FACES[i][1]) return FACES[i];
  fail_msg("%s is no face", text);
  return NULL;
}

static void clicks_pick_what_is_first(void **state) {
  (void)state;
  char path[] = "picking-XXXXXX", count[8], words[2 * CLICKS][8];
  char *arguments[3 + 2 * CLICKS + 1] = {"picking", empty_file(path), count};
  random_state random = harness_seeded(__func__);
  snprintf(count, sizeof count, "%d", BOXES);
  for (int i = 0; i < 2 * CLICKS; i++) {
    snprintf(words[i], sizeof words[i], "%u", random_below(&random, i % 2 ? HEIGHT : WIDTH));
    arguments[3 + i] = words[i];
  }
  FILE *printed = run_example(picking_main, 0, arguments);

  slab_obb boxes[BOXES];
  uint8_t is_picked[BOXES] = {0};
  strew(boxes, BOXES);
  const slab_camera camera = slab_camera_look_at(FROM, TO, UP, 40, (float)WIDTH / HEIGHT);
  int hits = 0, clear = 0;
  for (int i = 0; i < CLICKS; i++) {
    unsigned x, y, box;
    char line[128], face[3];
    double t;
    assert_non_null(fgets(line, sizeof line, printed));
    const int got = sscanf(line, "pixel (%u, %u): box %u, its face %2s, at t = %lf", &x, &y, &box, face, &t);
    assert_true(got == 5 || (got == 2 && strstr(line, "nothing")));
    const slab_ray ray = slab_camera_ray(&camera, x, y, WIDTH, HEIGHT);
    const first want = first_box(boxes, &ray);
    if (got == 5) is_picked[box] = 1, hits++;
    if (want.margin < 1e-3) continue;
    clear++;
    assert_int_equal(got == 5 ? (int)box : BOX_OF_NONE, want.box);
    if (got != 5) continue;
    assert_true(fabs(t - want.t) < 1e-3);
    assert_string_equal(face_name(face), FACES[want.face]);
  }
  assert_true(hits > CLICKS / 10 && clear > CLICKS / 2);
  harness_count((size_t)clear);
  fclose(printed);

  /* The picture: red where a box is that was picked, night where none is. */
  uint8_t *pixels = read_picture(path, WIDTH, HEIGHT);
  int reds = 0;
  for (uint32_t i = 0; i < PIXELS; i += 997) {
    const uint8_t *pixel = pixels + 3 * (size_t)i;
    const slab_ray ray = slab_camera_ray(&camera, i % WIDTH, i / WIDTH, WIDTH, HEIGHT);
    const first want = first_box(boxes, &ray);
    if (want.margin < 1e-3) continue;
    const int is_red = pixel[0] > pixel[2], is_night = pixel[0] == 11 && pixel[1] == 15 && pixel[2] == 24;
    assert_int_equal(is_red, want.box != BOX_OF_NONE && is_picked[want.box]);
    assert_int_equal(is_night, want.box == BOX_OF_NONE);
    reds += is_red;
  }
  assert_true(reds > 10);
  free(pixels);
  unlink(path);
}

static void usage_and_files_that_cannot_be_are_told(void **state) {
  (void)state;
  fclose(run_example(picking_main, 2, (char *[]){"picking", NULL}));
  fclose(run_example(picking_main, 2, (char *[]){"picking", "x.ppm", "9", "5", NULL}));
  fclose(run_example(picking_main, 1, (char *[]){"picking", "/there/is/no/folder", "9", NULL}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(clicks_pick_what_is_first),
      cmocka_unit_test(usage_and_files_that_cannot_be_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
