/* Splitting polygons of up to 100,000 corners: of every shape all sides are kept, and the triangles cover the inside
 * once and nothing else. That is judged by areas, and by the even-odd rule at random points. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness.h"
#include "program/mesh/polygon.h"

/* SECONDS_MAX: of processor time. Each polygon takes less than a tenth of a second. A test of every corner against
 * every other one takes longer than the limit for each of these shapes. */
enum { MANY = 100000, SECONDS_MAX = 10, POINTS = 60 };

typedef struct polygon {
  float *points; /* x, y, z */
  size_t n, capacity;
} polygon;

static void add(polygon *p, double x, double y) {
  if (p->n == p->capacity) {
    p->capacity = 2 * p->n + 64;
    p->points = realloc(p->points, p->capacity * 3 * sizeof *p->points);
    assert_non_null(p->points);
  }
  const float point[] = {(float)x, (float)y, 0};
  memcpy(p->points + 3 * p->n++, point, sizeof point);
}

/* ---- shapes, counter-clockwise ------------------------------------------------ */

static const double whole_turn = 6.283185307179586;

/* Radii between least and 1. */
static polygon make_star(random_state *random, size_t n, double least) {
  polygon p = {0};
  for (size_t i = 0; i < n; i++) {
    const double angle = whole_turn * (double)i / (double)n;
    const double radius = least + (1 - least) * (double)random_float(random);
    add(&p, radius * cos(angle), radius * sin(angle));
  }
  return p;
}

static polygon make_convex(size_t n) {
  polygon p = {0};
  for (size_t i = 0; i < n; i++)
    add(&p, cos(whole_turn * (double)i / (double)n), sin(whole_turn * (double)i / (double)n));
  return p;
}

/* Teeth that are long and thin, seen from below. */
static polygon make_comb(random_state *random, size_t n) {
  polygon p = {0};
  add(&p, 0, -1);
  add(&p, (double)(n - 2), -1);
  for (size_t i = n - 2; i > 0; i--) add(&p, (double)i - 0.5, i % 2 ? 5e4 * (1 + (double)random_float(random)) : 0);
  return p;
}

/* A band that winds itself inwards: the outer wall on the way in, the inner wall on the way out. */
static polygon make_spiral(size_t n) {
  polygon p = {0};
  const size_t half = n / 2;
  for (size_t i = 0; i < 2 * half; i++) {
    const size_t k = i < half ? i : 2 * half - 1 - i;
    const double turns = 20 * (double)k / (double)half, radius = (i < half ? 22 : 21.5) - turns;
    add(&p, radius * cos(whole_turn * turns), radius * sin(whole_turn * turns));
  }
  return p;
}

/* The sides of a cell: right, top, left, bottom. */
static const int step_x[] = {1, 0, -1, 0}, step_y[] = {0, 1, 0, -1};

/* A random tree over size x size cells: of each cell the sides that lead to a neighbour, as bits. */
static uint8_t *make_tree(random_state *random, int size) {
  uint8_t *ways = calloc((size_t)size * (size_t)size, 1);
  int *path = malloc((size_t)size * (size_t)size * sizeof *path), depth = 1;
  assert_non_null(ways);
  assert_non_null(path);
  path[0] = 0;
  while (depth > 0) {
    const int cell = path[depth - 1], first = (int)random_below(random, 4);
    int next = -1;
    for (int k = 0; k < 4 && next < 0; k++) {
      const int side = (first + k) % 4, x = cell % size + step_x[side], y = cell / size + step_y[side];
      if (x < 0 || y < 0 || x >= size || y >= size || ways[y * size + x] != 0) continue;
      next = y * size + x;
      ways[cell] |= (uint8_t)(1 << side);
      ways[next] |= (uint8_t)(1 << (side + 2) % 4);
    }
    if (next < 0)
      depth--;
    else
      path[depth++] = next;
  }
  free(path);
  return ways;
}

/* The outline of a maze: every corner of a cell's square once, moved by up to `shake`. Without it many lie on a line.
 */
static polygon make_maze(random_state *random, int size, double shake) {
  static const int corner_x[] = {1, 0, 0, 1}, corner_y[] = {1, 1, 0, 0}; /* after each side */
  polygon p = {0};
  uint8_t *ways = make_tree(random, size);
  int x = 0, y = 0, side = 0;
  for (size_t n = 4 * (size_t)size * (size_t)size; p.n < n;) {
    if (ways[y * size + x] & 1 << side) {
      x += step_x[side];
      y += step_y[side];
      side = (side + 2) % 4;
    }
    add(&p, 2 * x + corner_x[side] + shake * ((double)random_float(random) - 0.5),
        2 * y + corner_y[side] + shake * ((double)random_float(random) - 0.5));
    side = (side + 1) % 4;
  }
  free(ways);
  return p;
}

/* A hole of 2 (half + 1) corners at a place of the row: the way above it there, below it back. */
static void add_hole_side(polygon *p, int column, int row, int half, bool is_above) {
  for (int k = 0; k <= half; k++) {
    const double angle = whole_turn / 2 * k / half;
    const double x = column + 0.5 - 0.3 * cos(angle), y = row + 0.5 + (k % 2 ? 0.3 : 0.1) * sin(angle);
    add(p, is_above ? x : 2 * column + 1 - x, is_above ? y : 2 * row + 1 - y);
  }
}

/* A square with size x size holes, each cut open to its neighbour, and the first of a row to the left side. */
static polygon make_holes(int size, int half) {
  polygon p = {0};
  add(&p, 0, 0);
  add(&p, size, 0);
  add(&p, size, size);
  add(&p, 0, size);
  for (int row = size - 1; row >= 0; row--) {
    add(&p, 0, row + 0.5);
    for (int column = 0; column < size; column++) add_hole_side(&p, column, row, half, true);
    for (int column = size - 1; column >= 0; column--) add_hole_side(&p, column, row, half, false);
    add(&p, 0, row + 0.5);
  }
  return p;
}

/* ---- judges -------------------------------------------------------------------- */

static double x_of(const polygon *p, size_t i) { return (double)p->points[3 * i]; }
static double y_of(const polygon *p, size_t i) { return (double)p->points[3 * i + 1]; }

static double double_area(const polygon *p, size_t a, size_t b, size_t c) {
  return (x_of(p, b) - x_of(p, a)) * (y_of(p, c) - y_of(p, a)) - (y_of(p, b) - y_of(p, a)) * (x_of(p, c) - x_of(p, a));
}

/* No triangle is turned over, and together they are as large as the polygon. */
static void assert_areas(const polygon *p, const uint32_t *triangles) {
  double whole = 0, sum = 0, extent = 0;
  for (size_t i = 0; i < p->n; i++) {
    const size_t next = (i + 1) % p->n;
    whole += x_of(p, i) * y_of(p, next) - y_of(p, i) * x_of(p, next);
    extent = fmax(extent, fabs(x_of(p, i)) + fabs(y_of(p, i)));
  }
  for (const uint32_t *t = triangles; t < triangles + 3 * (p->n - 2); t += 3) {
    const double area = double_area(p, t[0], t[1], t[2]);
    if (area < -1e-12 * extent * extent) fail_msg("triangle %u %u %u has the area %g", t[0], t[1], t[2], area / 2);
    sum += fabs(area);
  }
  if (fabs(sum - whole) > 1e-9 * extent * extent)
    fail_msg("the triangles have the area %g, not %g", sum / 2, whole / 2);
}

/* Whether the side from a to b crosses the line from the point to the right. */
static bool is_crossed(const polygon *p, size_t a, size_t b, double x, double y) {
  if ((y_of(p, a) > y) == (y_of(p, b) > y)) return false;
  return x < x_of(p, a) + (y - y_of(p, a)) * (x_of(p, b) - x_of(p, a)) / (y_of(p, b) - y_of(p, a));
}

static void assert_covered(const polygon *p, const uint32_t *triangles, double x, double y) {
  size_t crossings = 0, covers = 0;
  for (size_t i = 0; i < p->n; i++) crossings += is_crossed(p, i, (i + 1) % p->n, x, y);
  for (const uint32_t *t = triangles; t < triangles + 3 * (p->n - 2); t += 3)
    covers += is_crossed(p, t[0], t[1], x, y) ^ is_crossed(p, t[1], t[2], x, y) ^ is_crossed(p, t[2], t[0], x, y);
  if (covers != crossings % 2) fail_msg("(%g, %g) is covered %zu times, not %zu", x, y, covers, crossings % 2);
}

static int by_value(const void *a, const void *b) {
  const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
  return x < y ? -1 : x > y;
}

static uint64_t side_of(size_t a, size_t b) { return (uint64_t)a << 32 | (uint64_t)b; }

/* The polygon's sides are sides of triangles, and all other sides are there in both directions. */
static void assert_closed(size_t n, const uint32_t *triangles) {
  const size_t count = 3 * (n - 2) + n;
  uint64_t *sides = malloc(2 * count * sizeof *sides), *back = sides + count, *at = sides;
  assert_non_null(sides);
  for (const uint32_t *t = triangles; t < triangles + 3 * (n - 2); t += 3)
    for (int k = 0; k < 3; k++) *at++ = side_of(t[k], t[(k + 1) % 3]);
  for (size_t i = 0; i < n; i++) *at++ = side_of((i + 1) % n, i);
  for (size_t i = 0; i < count; i++) back[i] = sides[i] << 32 | sides[i] >> 32;
  qsort(sides, count, sizeof *sides, by_value);
  qsort(back, count, sizeof *back, by_value);
  assert_memory_equal(sides, back, count * sizeof *sides);
  for (size_t i = 1; i < count; i++) assert_true(sides[i - 1] < sides[i]);
  free(sides);
}

static uint32_t *split(const polygon *p) {
  uint32_t *triangles = malloc(3 * (p->n - 2) * sizeof *triangles);
  assert_non_null(triangles);
  const clock_t begin = clock();
  assert_int_equal(polygon_split(p->points, p->n, triangles), 0);
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  if (p->n > 1000) print_message("%zu corners: %.0f ms\n", p->n, 1000 * seconds);
  assert_true(seconds < SECONDS_MAX);
  return triangles;
}

static void judge(random_state *random, polygon *p, int points) {
  uint32_t *triangles = split(p);
  assert_closed(p->n, triangles);
  assert_areas(p, triangles);
  for (int i = 0; i < points; i++) { /* near a corner, where there is something to see */
    const size_t near = random_below(random, (uint32_t)p->n), other = random_below(random, (uint32_t)p->n);
    const double way = 0.1 * (double)random_float(random);
    assert_covered(p, triangles, x_of(p, near) + way * (x_of(p, other) - x_of(p, near)),
                   y_of(p, near) + way * (y_of(p, other) - y_of(p, near)) + 1e-3 * (double)random_float(random));
  }
  free(triangles);
  free(p->points);
}

/* ---- tests ------------------------------------------------------------------------ */

static void a_convex_one_is_a_fan(void **state) {
  (void)state;
  for (size_t n = 3; n < 1000; n += n < 30 ? 1 : 97) {
    polygon p = make_convex(n);
    uint32_t *triangles = split(&p);
    for (uint32_t i = 0; i + 2 < n; i++) {
      const uint32_t wanted[] = {0, i + 1, i + 2};
      assert_memory_equal(triangles + 3 * (size_t)i, wanted, sizeof wanted);
    }
    free(triangles);
    free(p.points);
  }
}

static void small_ones_are_covered_once(void **state) {
  random_state random = harness_seeded("small_ones_are_covered_once");
  (void)state;
  for (int i = 0; i < 300; i++) {
    polygon shapes[] = {make_star(&random, 4 + random_below(&random, 40), 0.1),
                        make_comb(&random, 5 + 2 * random_below(&random, 20)),
                        make_maze(&random, 2 + (int)random_below(&random, 6), 0),
                        make_maze(&random, 2 + (int)random_below(&random, 6), 0.4),
                        make_holes(1 + (int)random_below(&random, 3), 1 + (int)random_below(&random, 5))};
    for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) judge(&random, &shapes[k], 5);
  }
}

static void large_ones_are_covered_once_and_soon(void **state) {
  random_state random = harness_seeded("large_ones_are_covered_once_and_soon");
  (void)state;
  polygon shapes[] = {
      make_convex(MANY), make_star(&random, MANY, 0.1), make_star(&random, MANY, 0.999), make_comb(&random, MANY),
      make_spiral(MANY), make_maze(&random, 158, 0),    make_maze(&random, 158, 0.4),    make_holes(50, 19)};
  for (size_t k = 0; k < sizeof shapes / sizeof *shapes; k++) judge(&random, &shapes[k], POINTS);
}

/* Far from the origin, and on a plane that is not flat: the same triangles, turned with the polygon. */
static void a_place_changes_nothing(void **state) {
  random_state random = harness_seeded("a_place_changes_nothing");
  (void)state;
  for (int i = 0; i < 100; i++) {
    polygon p = make_maze(&random, 2 + (int)random_below(&random, 8), 0), moved = {0};
    for (size_t k = 0; k < p.n; k++) add(&moved, x_of(&p, k) + 500000, y_of(&p, k) + 5400000);
    uint32_t *here = split(&p), *there = split(&moved);
    assert_memory_equal(here, there, 3 * (p.n - 2) * sizeof *here);
    free(here);
    free(there);
    free(p.points);
    free(moved.points);
  }
}

/* Corners of one line, of one point and of paths that cross: whatever the triangles are, they keep all sides. */
static void crossings_keep_their_sides(void **state) {
  random_state random = harness_seeded("crossings_keep_their_sides");
  (void)state;
  for (int i = 0; i < 2000; i++) {
    polygon p = {0};
    const uint32_t n = 4 + random_below(&random, 60), range = 1 + random_below(&random, 20);
    for (uint32_t k = 0; k < n; k++)
      add(&p, random_below(&random, range), random_below(&random, 1 + (uint32_t)i % 5 * range));
    uint32_t *triangles = split(&p);
    assert_closed(p.n, triangles);
    free(triangles);
    free(p.points);
  }
}

static void many_crossings_end_soon(void **state) {
  random_state random = harness_seeded("many_crossings_end_soon");
  (void)state;
  polygon p = {0};
  for (int i = 0; i < MANY; i++) add(&p, (double)random_float(&random), (double)random_float(&random));
  free(split(&p));
  free(p.points);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_convex_one_is_a_fan),      cmocka_unit_test(small_ones_are_covered_once),
      cmocka_unit_test(a_place_changes_nothing),    cmocka_unit_test(large_ones_are_covered_once_and_soon),
      cmocka_unit_test(crossings_keep_their_sides), cmocka_unit_test(many_crossings_end_soon),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
