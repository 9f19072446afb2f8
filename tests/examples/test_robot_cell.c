/* examples/robot_cell.c: its points lie where rays in double, moved into each instance, meet boxes and balls first. */
#include "run.h"
#define main robot_cell_main
#include "../../examples/robot_cell.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { FRAMES = 3, BEAMS = 12, COUNT = SENSORS * 8 * BEAMS * BEAMS, LABELS = 4 };

/* The nearest that a ray meets, and by how much it is the nearest, or is met at all. */
typedef struct first {
  double t, margin;
  int label;
} first;

static void meet(first *best, double enter, double leave, int label) {
  best->margin = fmin(best->margin, fabs(leave - enter)); /* nearly missed, or nearly met */
  if (enter > leave || enter < 0) return;
  best->margin = fmin(best->margin, fabs(enter - best->t));
  if (enter < best->t) best->t = enter, best->label = label;
}

/* A ray in the space of a model: places here turn, scale evenly and move. */
typedef struct line {
  double o[3], d[3];
} line;

static line line_in(const place *p, const slab_ray *ray) {
  line in = {{0}, {0}};
  const double scale2 = p->m[0] * p->m[0] + p->m[4] * p->m[4] + p->m[8] * p->m[8];
  for (int k = 0; k < 3; k++)
    for (int i = 0; i < 3; i++) {
      in.o[k] += p->m[4 * i + k] * ((double)ray->origin[i] - p->m[4 * i + 3]) / scale2;
      in.d[k] += p->m[4 * i + k] * (double)ray->direction[i] / scale2;
    }
  return in;
}

static void meet_box(first *best, const slab_box *box, const line *in, int label) {
  double enter = -INFINITY, leave = INFINITY;
  for (int k = 0; k < 3; k++) {
    const double a = (box->lower[k] - in->o[k]) / in->d[k], b = (box->upper[k] - in->o[k]) / in->d[k];
    enter = fmax(enter, fmin(a, b));
    leave = fmin(leave, fmax(a, b));
  }
  meet(best, enter, leave, label);
}

static void meet_ball(first *best, const slab_sphere *ball, const line *in, int label) {
  double along = 0, length2 = 0, away2 = 0;
  for (int k = 0; k < 3; k++) {
    const double to = ball->center[k] - in->o[k];
    along += to * in->d[k], length2 += in->d[k] * in->d[k], away2 += to * to;
  }
  const double middle = along / length2, inside = ball->radius * ball->radius - (away2 - along * middle);
  const double half = sqrt(fabs(inside) / length2);
  meet(best, middle - copysign(half, inside), middle + copysign(half, inside), label);
}

static first first_of(const slab_ray *ray, const slab_box bars[BARS], const place panels[PANELS],
                      const place crates[STACKED + 1], const place arm[LINKS]) {
  first best = {-(double)ray->origin[2] / ray->direction[2], INFINITY, 0};
  for (int i = 0; i < 2; i++) {
    const line in = line_in(&ORIGIN, ray);
    meet_box(&best, &PALLET_AND_BELT[i], &in, 0);
  }
  for (int i = 0; i < PANELS; i++) {
    const line in = line_in(&panels[i], ray);
    for (int k = 0; k < BARS; k++) meet_box(&best, &bars[k], &in, 1);
  }
  for (int i = 0; i <= STACKED; i++) {
    const line in = line_in(&crates[i], ray);
    meet_box(&best, &CRATE, &in, 2);
  }
  for (int i = 0; i < LINKS; i++) {
    const line in = line_in(&arm[i], ray);
    meet_box(&best, &BONE, &in, 3);
    meet_ball(&best, &JOINT, &in, 3);
  }
  return best;
}

static void skip_header(FILE *file) {
  char text[128];
  unsigned points = 0;
  while (fgets(text, sizeof text, file) && strcmp(text, "end_header\n") != 0) {
    if (sscanf(text, "element vertex %u", &points) == 1) assert_int_equal(points, FRAMES * COUNT);
  }
  assert_int_equal(points, FRAMES * COUNT);
}

static void points_lie_on_what_is_first(void **state) {
  (void)state;
  char path[] = "robot_cell-XXXXXX", frames[8], beams[8];
  snprintf(frames, sizeof frames, "%d", FRAMES);
  snprintf(beams, sizeof beams, "%d", BEAMS);
  FILE *printed = run_example(robot_cell_main, 0, (char *[]){"robot_cell", empty_file(path), frames, beams, NULL});
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  skip_header(file);
  slab_box bars[BARS];
  place panels[PANELS], crates[STACKED + 1], arm[LINKS];
  set_up(bars, panels, crates);
  size_t clear = 0, on_arm = 0;
  for (int frame = 0; frame < FRAMES; frame++) {
    unsigned told[LABELS] = {0}, number, found[LABELS] = {0};
    bend((float)frame / (FRAMES - 1), arm, &crates[STACKED]);
    for (uint32_t i = 0; i < COUNT; i++) {
      float at[3] = {0}, away = 0;
      uint8_t tags[2] = {0};
      assert_true(fread(at, sizeof at, 1, file) == 1 && fread(tags, sizeof tags, 1, file) == 1);
      assert_int_equal(tags[1], frame);
      assert_true(tags[0] < LABELS);
      found[tags[0]]++;
      const slab_ray ray = beam(i / (COUNT / SENSORS), i % (COUNT / SENSORS), BEAMS);
      const first want = first_of(&ray, bars, panels, crates, arm);
      if (want.margin < 1e-3) continue;
      clear++;
      on_arm += want.label == 3;
      assert_int_equal(tags[0], want.label);
      for (int k = 0; k < 3; k++)
        away = fmaxf(away, (float)fabs(ray.origin[k] + want.t * (double)ray.direction[k] - (double)at[k]));
      assert_true(away < 1e-4f);
    }
    assert_int_equal(fscanf(printed, "frame %u: %u points on the fence, %u on crates, %u on the arm ", &number,
                            &told[1], &told[2], &told[3]),
                     4);
    assert_int_equal(number, frame);
    for (int label = 1; label < LABELS; label++) assert_int_equal(told[label], found[label]);
  }
  assert_int_equal(fgetc(file), EOF);
  assert_true(clear > FRAMES * COUNT / 2 && on_arm > 50);
  harness_count(clear);
  fclose(file);
  fclose(printed);
  unlink(path);
}

static void usage_and_files_that_cannot_be_are_told(void **state) {
  (void)state;
  fclose(run_example(robot_cell_main, 2, (char *[]){"robot_cell", NULL}));
  fclose(run_example(robot_cell_main, 2, (char *[]){"robot_cell", "x.ply", "1", NULL}));
  fclose(run_example(robot_cell_main, 2, (char *[]){"robot_cell", "x.ply", "2", "1025", NULL}));
  fclose(run_example(robot_cell_main, 1, (char *[]){"robot_cell", "/there/is/no/folder", "2", "4", NULL}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_lie_on_what_is_first),
      cmocka_unit_test(usage_and_files_that_cannot_be_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
