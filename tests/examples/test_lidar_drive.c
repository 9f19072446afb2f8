/* examples/lidar_drive.c: each point of its cloud, from where the sensor was at that firing, by boxes in double. */
#include "run.h"
#define main lidar_drive_main
#include "../../examples/lidar_drive.c" /* NOLINT(bugprone-suspicious-include) */
#undef main

enum { FRAMES = 3, FIRINGS = 96, RAYS = FRAMES * FIRINGS * BEAMS };
static const double PI = 3.14159265358979323846;

/* The nearest that a ray meets, and by how much it is the nearest, or is met at all. */
typedef struct first {
  double t, margin;
  uint32_t label;
} first;

static void meet(first *best, double enter, double leave, uint32_t label) {
  best->margin = fmin(best->margin, fabs(leave - enter)); /* nearly missed, or nearly met */
  if (enter > leave || enter < 0) return;
  best->margin = fmin(best->margin, fabs(enter - best->t));
  if (enter < best->t) best->t = enter, best->label = label;
}

static first first_of(const street *s, const double from[3], const double along[3]) {
  first best = {along[2] < 0 ? -from[2] / along[2] : INFINITY, INFINITY, GROUND};
  for (uint32_t label = HOUSES; label <= END; label++)
    for (uint32_t i = 0; i < s->count[label]; i++) {
      double enter = -INFINITY, leave = INFINITY;
      for (int k = 0; k < 3; k++) {
        const double a = (s->boxes[label][i].lower[k] - from[k]) / along[k];
        const double b = (s->boxes[label][i].upper[k] - from[k]) / along[k];
        enter = fmax(enter, fmin(a, b));
        leave = fmin(leave, fmax(a, b));
      }
      meet(&best, enter, leave, label);
    }
  return best;
}

/* The ray of a beam: turned by the firing's share of a turn, from where the car is by then. */
static void aim(uint32_t i, double from[3], double along[3]) {
  const double frames = (double)(i / BEAMS) / FIRINGS, up = PI / 180 * (10 - 1.25 * (i % BEAMS));
  const double around = 2 * PI * (frames - floor(frames));
  from[0] = 3 * frames, from[1] = 0, from[2] = 1.9;
  along[0] = cos(up) * cos(around), along[1] = cos(up) * sin(around), along[2] = sin(up);
}

static uint32_t skip_header(FILE *file) {
  char text[128];
  uint32_t points = 0;
  while (fgets(text, sizeof text, file) && strcmp(text, "end_header\n") != 0)
    if (strncmp(text, "element vertex ", 15) == 0) points = (uint32_t)strtoul(text + 15, NULL, 10);
  return points;
}

static void points_lie_on_what_is_first_from_where_the_car_is(void **state) {
  (void)state;
  char path[] = "lidar_drive-XXXXXX";
  FILE *printed = run_example(lidar_drive_main, 0, (char *[]){"lidar_drive", empty_file(path), "3", "96", NULL});
  FILE *file = fopen(path, "rb");
  assert_non_null(file);
  const uint32_t points = skip_header(file);
  street s;
  lay_out(&s);
  measured got = {0};
  uint32_t clear = 0, read = 0, found[END + 1] = {0}, in_frame[FRAMES] = {0};
  int is_more = fread(&got, sizeof got, 1, file) == 1;
  for (uint32_t i = 0; i < RAYS; i++) {
    double from[3], along[3];
    aim(i, from, along);
    const first want = first_of(&s, from, along);
    const int is_here = is_more && ((uint32_t)got.frame * FIRINGS + got.firing) * BEAMS + got.beam == i;
    if (want.margin > 2e-3) {
      clear++;
      assert_int_equal(is_here, want.t < INFINITY);
      double away = is_here ? fabs(want.t - (double)got.range) : 0;
      for (int k = 0; is_here && k < 3; k++) away = fmax(away, fabs(from[k] + want.t * along[k] - (double)got.at[k]));
      assert_true(away < 1e-3 && (!is_here || got.label == want.label));
    }
    if (!is_here) continue;
    read++, found[got.label]++, in_frame[got.frame]++;
    is_more = fread(&got, sizeof got, 1, file) == 1;
  }
  assert_true(!is_more && feof(file) && read == points && read < RAYS && clear > RAYS * 9 / 10);
  for (int label = GROUND; label <= END; label++) assert_true(found[label] > 20);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint32_t number, told;
    double end, ground;
    assert_int_equal(fscanf(printed,
                            "frame %u: %u points; the street ends in %lf m, by hand %*f; the ground is at %lf m, by "
                            "hand %*f ",
                            &number, &told, &end, &ground),
                     4);
    assert_true(number == frame && told == in_frame[frame]);
    assert_true(fabs(end - (100 - 3 * (double)frame)) < 1e-4 && fabs(ground - 1.9 / sin(PI / 12)) < 1e-4);
  }
  harness_count(clear);
  fclose(file);
  fclose(printed);
  unlink(path);
}

/* A wall that is elsewhere is noticed. */
static void ranges_that_are_wrong_are_told(void **state) {
  (void)state;
  slab_short_hit hits[BEAMS] = {[LEVEL] = {.t = 94}, [DOWN] = {.t = (float)HAND_GROUND}};
  assert_true(judge(hits, 2, 0) < 1e-6);
  assert_true(judge(hits, 3, 0) > 2.9);
  hits[DOWN].t += 0.01f;
  assert_true(judge(hits, 2, 0) > 9e-3);
}

static void usage_and_files_that_cannot_be_are_told(void **state) {
  (void)state;
  fclose(run_example(lidar_drive_main, 2, (char *[]){"lidar_drive", NULL}));
  fclose(run_example(lidar_drive_main, 2, (char *[]){"lidar_drive", "x.ply", "31", NULL}));
  fclose(run_example(lidar_drive_main, 2, (char *[]){"lidar_drive", "x.ply", "1", "0", NULL}));
  fclose(run_example(lidar_drive_main, 1, (char *[]){"lidar_drive", "/there/is/no/folder", "1", "8", NULL}));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(points_lie_on_what_is_first_from_where_the_car_is),
      cmocka_unit_test(ranges_that_are_wrong_are_told),
      cmocka_unit_test(usage_and_files_that_cannot_be_are_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
