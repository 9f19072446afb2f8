/* A square that is divided at random, and rays straight down on it and slanting through it: none is lost, and none is
 * counted twice. After the watertightness tests of the Vulkan conformance suite (VK-GL-CTS, ray_query and ray_tracing,
 * "nomiss" and "singlehit"), written anew from their conditions: 65,536 rays at 65,536 primitives.
 *
 * All corners are multiples of 2^-23 of the square's side, so which triangles and boxes hold a point is known by whole
 * numbers. Theirs cast rays at pixel centres, where few rays meet an edge. Here rays go to every vertex and edge too,
 * and half of the vertices are pixel centres. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ways.h"

enum { SIDE = 1 << 23, PIXELS = 256, PIXEL = SIDE / PIXELS, MOST = 65536 };

typedef struct point {
  int32_t x, y;
} point;

/* Rays at points of the square, in the order of the points. */
typedef struct aimed {
  point at[2 * MOST];
  slab_ray rays[2 * MOST];
  size_t n;
} aimed;

static float on_side(int32_t x) { return (float)x * (1.0f / SIDE); }

/* The centre of the pixel that holds x. */
static int32_t pixel_centre(int32_t x) { return x / PIXEL * PIXEL + PIXEL / 2; }

static bool is_inside_square(point p) { return p.x > 0 && p.x < SIDE && p.y > 0 && p.y < SIDE; }

static void aim_down(aimed *to, point p) {
  if (!is_inside_square(p) || to->n == 2 * MOST) return; /* border edges are half open */
  to->at[to->n] = p;
  to->rays[to->n++] = (slab_ray){{on_side(p.x), on_side(p.y), 0}, 0, {0, 0, -1}, 9};
}

static void aim_at_pixels(aimed *to) {
  for (int32_t y = 0; y < PIXELS; y++)
    for (int32_t x = 0; x < PIXELS; x++) aim_down(to, (point){x * PIXEL + PIXEL / 2, y * PIXEL + PIXEL / 2});
}

/* ---- triangles ---- */

/* How the square is divided. Their ray queries divide triangles near their middle, and none that is small; their
 * pipelines divide any triangle anywhere, down to needles. */
typedef struct division {
  const char *name;
  uint32_t triangles;
  float low, high;   /* weights of the vertices */
  int64_t least;     /* twice the least area of a triangle that is divided, in squares of 1 / SIDE */
  bool whole_square; /* begins with two triangles, else with eight around a pixel's centre */
} division;

#define TENTH_OF_A_SHARE ((int64_t)SIDE * SIDE / (10 * MOST) * 2)

typedef struct square {
  point at[MOST];
  float vertices[MOST][3];
  uint32_t vertex_count;
  uint32_t triangles[MOST][3]; /* counter-clockwise, as seen from where rays begin */
  uint32_t triangle_count;
} square;

/* Twice the area, positive where a, b, c run counter-clockwise. */
static int64_t area(point a, point b, point c) {
  return (int64_t)(b.x - a.x) * (c.y - a.y) - (int64_t)(b.y - a.y) * (c.x - a.x);
}

static uint32_t add_vertex(square *s, random_state *random, point p) {
  float *v = s->vertices[s->vertex_count];
  s->at[s->vertex_count] = p;
  v[0] = on_side(p.x), v[1] = on_side(p.y), v[2] = -random_between(random, 0.01f, 0.99f);
  return s->vertex_count++;
}

static void add_triangle(square *s, uint32_t a, uint32_t b, uint32_t c) {
  const uint32_t triangle[3] = {a, b, c};
  assert_true(area(s->at[a], s->at[b], s->at[c]) > 0);
  memcpy(s->triangles[s->triangle_count++], triangle, sizeof triangle);
}

/* Eight triangles around `centre`, which is vertex 0, or the two of the whole square. */
static void begin_square(square *s, random_state *random, const division *d) {
  const int32_t c = PIXELS / 2 * PIXEL - PIXEL / 2;
  const point centre = {c, c};
  const point rim[8] = {{0, 0}, {c, 0}, {SIDE, 0}, {SIDE, c}, {SIDE, SIDE}, {c, SIDE}, {0, SIDE}, {0, c}};
  s->vertex_count = s->triangle_count = 0;
  if (!d->whole_square) add_vertex(s, random, centre);
  for (int i = 0; i < 8; i += d->whole_square ? 2 : 1) add_vertex(s, random, rim[i]);
  if (d->whole_square) {
    add_triangle(s, 0, 1, 2);
    add_triangle(s, 0, 2, 3);
  } else {
    for (uint32_t i = 0; i < 8; i++) add_triangle(s, 0, 1 + i, 1 + (i + 1) % 8);
  }
}

static bool is_within(const square *s, const uint32_t t[3], point p) {
  const point a = s->at[t[0]], b = s->at[t[1]], c = s->at[t[2]];
  return area(a, b, p) > 0 && area(b, c, p) > 0 && area(c, a, p) > 0;
}

static int32_t mixed(int32_t a, int32_t b, int32_t c, double alpha, double beta) {
  return (int32_t)(((double)a * alpha + (double)b * (1 - alpha)) * beta + (double)c * (1 - beta));
}

/* A point inside a triangle, half of the time a pixel's centre where one is there; false: none was found. */
static bool choose_point(const square *s, random_state *random, const division *d, const uint32_t t[3], point *p) {
  const point a = s->at[t[0]], b = s->at[t[1]], c = s->at[t[2]];
  const double alpha = (double)random_between(random, d->low, d->high);
  const double beta = (double)random_between(random, d->low, d->high);
  const point any = {mixed(a.x, b.x, c.x, alpha, beta), mixed(a.y, b.y, c.y, alpha, beta)};
  const point centre = {pixel_centre(any.x), pixel_centre(any.y)};
  *p = random_below(random, 2) && is_within(s, t, centre) ? centre : any;
  return is_within(s, t, *p);
}

static void divide_square(square *s, random_state *random, const division *d) {
  begin_square(s, random, d);
  while (s->triangle_count + 2 <= d->triangles) {
    uint32_t *t = s->triangles[random_below(random, s->triangle_count)];
    const uint32_t a = t[0], b = t[1], c = t[2];
    point p;
    if (area(s->at[a], s->at[b], s->at[c]) < d->least || !choose_point(s, random, d, t, &p)) continue;
    t[2] = add_vertex(s, random, p);
    add_triangle(s, b, c, t[2]);
    add_triangle(s, c, a, t[2]);
  }
}

static slab_status fill_square(slab_scene *scene, const void *user) {
  const square *s = user;
  const slab_mesh mesh = {.vertices = s->vertices[0],
                          .vertex_count = s->vertex_count,
                          .indices = s->triangles[0],
                          .triangle_count = s->triangle_count};
  return slab_scene_add_mesh(scene, &mesh, NULL, NULL);
}

/* Whether the triangle holds the point, its edges included. */
static bool holds(const square *s, uint32_t triangle, point p) {
  const uint32_t *t = s->triangles[triangle];
  const point a = s->at[t[0]], b = s->at[t[1]], c = s->at[t[2]];
  return area(a, b, p) >= 0 && area(b, c, p) >= 0 && area(c, a, p) >= 0;
}

/* ---- straight down ---- */

/* At every pixel's centre, and at vertices and the middles of edges, which floats hold too. */
static void aim_at_square(aimed *to, const square *s) {
  to->n = 0;
  aim_at_pixels(to);
  for (uint32_t v = 0; v < s->vertex_count; v++) aim_down(to, s->at[v]);
  for (uint32_t t = 0; t < s->triangle_count; t++) {
    const point a = s->at[s->triangles[t][t % 3]], b = s->at[s->triangles[t][(t + 1) % 3]];
    if ((a.x + b.x) % 2 == 0 && (a.y + b.y) % 2 == 0) aim_down(to, (point){(a.x + b.x) / 2, (a.y + b.y) / 2});
  }
}

/* Every other ray is at a pixel's centre, so that brute force, which casts the first of them, meets either kind. */
static void mix(aimed *to, random_state *random) {
  for (size_t i = to->n; i-- > 1;) {
    const size_t k = random_below(random, (uint32_t)i + 1);
    const slab_ray ray = to->rays[i];
    const point at = to->at[i];
    to->rays[i] = to->rays[k], to->at[i] = to->at[k];
    to->rays[k] = ray, to->at[k] = at;
  }
}

/* Rays that do not hit one triangle, of those that hold their point, from above. */
static uint64_t wrong_hits(const answers *a, const square *s, const aimed *at) {
  uint64_t wrong = 0;
  for (size_t i = 0; i < a->n; i++) {
    const slab_hit *hit = &a->closest[i];
    wrong += a->count[i] != 1 || !holds(s, hit->primitive, at->at[i]) || !(hit->normal[2] > 0);
  }
  return wrong;
}

/* The long version divides a square as often as theirs, and casts all rays. */
static bool is_long(void) { return getenv("SLABCAST_TEST_RAYS") != NULL; }
static uint32_t pieces(uint32_t most) { return is_long() || most < 4096 ? most : 4096; }
static size_t rays_of(size_t all) { return is_long() || all < 4096 ? all : harness_rays(4096); }

static const division divisions[] = {{"eight", 8, 0.2f, 0.8f, 0, false},
                                     {"near the middle", MOST, 0.2f, 0.8f, TENTH_OF_A_SHARE, false},
                                     {"anywhere", MOST, 0.01f, 0.99f, 0, true}};
enum { DIVISIONS = sizeof divisions / sizeof *divisions };

static void ray_down_on_a_divided_square_hits_once(void **state) {
  random_state random = harness_seeded("ray_down_on_a_divided_square_hits_once");
  square *s = harness_space(sizeof *s);
  aimed *to = harness_space(sizeof *to);
  uint64_t rays = 0, wrong = 0;
  for (uint32_t round = 0, rounds = ways_rounds(3 * 2 * MOST); round < rounds; round++)
    for (int k = 0; k < DIVISIONS; k++) {
      division d = divisions[k];
      d.triangles = pieces(d.triangles);
      divide_square(s, &random, &d);
      aim_at_square(to, s);
      mix(to, &random);
      ways_scenes scenes = ways_made(*state, fill_square, s);
      answers a;
      ways_cast(&scenes, to->rays, rays_of(to->n), NULL, &a);
      wrong += wrong_hits(&a, s, to);
      rays += a.n;
      answers_free(&a);
      ways_free(&scenes);
    }
  ways_tell("divided square, straight down", rays, wrong);
  free(to);
  free(s);
}

/* ---- slanting ---- */

/* A ray from above the square to below it, both ends over its inside: from pixel to pixel, or through a vertex as well
 * as floats can. */
static slab_ray slanting(random_state *random, const square *s) {
  for (;;) {
    const float x = on_side((int32_t)random_below(random, PIXELS) * PIXEL + PIXEL / 2);
    const float y = on_side((int32_t)random_below(random, PIXELS) * PIXEL + PIXEL / 2);
    const uint32_t vertex = random_below(random, s->vertex_count);
    const float *v = s->vertices[vertex];
    const float end_x = on_side((int32_t)random_below(random, PIXELS) * PIXEL + PIXEL / 2);
    const float end_y = on_side((int32_t)random_below(random, PIXELS) * PIXEL + PIXEL / 2);
    if (random_below(random, 2)) return (slab_ray){{x, y, 0}, 0, {end_x - x, end_y - y, -1}, INFINITY};
    const slab_ray ray = {{x, y, 0}, 0, {v[0] - x, v[1] - y, v[2]}, INFINITY};
    const float below_x = x - ray.direction[0] / v[2], below_y = y - ray.direction[1] / v[2]; /* where z is -1 */
    if (is_inside_square(s->at[vertex]) && below_x > 0 && below_x < 1 && below_y > 0 && below_y < 1) return ray;
  }
}

/* A ray from above to below goes down through the surface once more than up. */
static uint64_t unbalanced(const ways_scenes *scenes, const slab_ray *rays, size_t n, uint64_t *asked) {
  static const slab_cast_options down = {.cull = SLAB_CULL_BACK}, up = {.cull = SLAB_CULL_FRONT};
  answers all, downs, ups;
  uint64_t wrong = 0;
  ways_cast(scenes, rays, n, NULL, &all);
  ways_cast(scenes, rays, n, &down, &downs);
  ways_cast(scenes, rays, n, &up, &ups);
  for (size_t i = 0; i < all.n; i++)
    wrong += downs.count[i] != ups.count[i] + 1 || all.count[i] != downs.count[i] + ups.count[i] || !all.any[i];
  *asked += all.n;
  answers_free(&all);
  answers_free(&downs);
  answers_free(&ups);
  return wrong;
}

static void ray_through_a_divided_square_goes_down_once_more_than_up(void **state) {
  enum { RAYS = 16384 };
  random_state random = harness_seeded("ray_through_a_divided_square_goes_down_once_more_than_up");
  square *s = harness_space(sizeof *s);
  slab_ray *rays = harness_space(RAYS * sizeof *rays);
  uint64_t asked = 0, wrong = 0;
  /* a tenth of the proof's rays: three casts each, through needles upon needles */
  for (uint32_t round = 0, rounds = ways_rounds(20 * RAYS); round < rounds; round++)
    for (int k = 1; k < DIVISIONS; k++) {
      division d = divisions[k];
      d.triangles = pieces(16384);
      divide_square(s, &random, &d);
      for (size_t i = 0; i < RAYS; i++) rays[i] = slanting(&random, s);
      ways_scenes scenes = ways_made(*state, fill_square, s);
      wrong += unbalanced(&scenes, rays, rays_of(RAYS) / (is_long() ? 1 : 4), &asked);
      ways_free(&scenes);
    }
  ways_tell("divided square, slanting", asked, wrong);
  free(rays);
  free(s);
}

/* ---- boxes ---- */

typedef struct cover {
  point lower[MOST], upper[MOST];
  slab_box boxes[MOST];
  uint32_t count;
  uint32_t wanted[PIXELS * PIXELS]; /* boxes that hold each pixel's centre */
} cover;

static void set_box(cover *c, uint32_t i, point lower, point upper) {
  c->lower[i] = lower;
  c->upper[i] = upper;
}

/* In four boxes at a point near its middle, half of the time one that shares lines with pixel centres. */
static void divide_box(cover *c, random_state *random) {
  const uint32_t n = random_below(random, c->count);
  const point a = c->lower[n], b = c->upper[n];
  point p = {mixed(a.x, b.x, 0, (double)random_between(random, 0.2f, 0.8f), 1),
             mixed(a.y, b.y, 0, (double)random_between(random, 0.2f, 0.8f), 1)};
  if (random_below(random, 2)) p = (point){pixel_centre(p.x), pixel_centre(p.y)};
  if (p.x <= a.x || p.x >= b.x || p.y <= a.y || p.y >= b.y) return;
  set_box(c, n, a, p);
  set_box(c, c->count, p, b);
  set_box(c, c->count + 1, (point){a.x, p.y}, (point){p.x, b.y});
  set_box(c, c->count + 2, (point){p.x, a.y}, (point){b.x, p.y});
  c->count += 3;
}

/* The first and the last pixel whose centres lie in a range; first > last: none. */
static int32_t first_pixel(int32_t x) { return (x + PIXEL / 2 - 1) / PIXEL; }
static int32_t last_pixel(int32_t x) { return (x + PIXEL / 2) / PIXEL - 1; }

static void count_pixels(cover *c, uint32_t i) {
  for (int32_t y = first_pixel(c->lower[i].y); y <= last_pixel(c->upper[i].y); y++)
    for (int32_t x = first_pixel(c->lower[i].x); x <= last_pixel(c->upper[i].x); x++) c->wanted[y * PIXELS + x]++;
}

static void divide_cover(cover *c, random_state *random, uint32_t boxes) {
  memset(c->wanted, 0, sizeof c->wanted);
  c->count = 1;
  set_box(c, 0, (point){0, 0}, (point){SIDE, SIDE});
  while (c->count + 3 <= boxes) divide_box(c, random);
  for (uint32_t i = 0; i < c->count; i++) {
    const float z = -random_between(random, 0.1f, 0.5f);
    c->boxes[i] = (slab_box){{on_side(c->lower[i].x), on_side(c->lower[i].y), z},
                             {on_side(c->upper[i].x), on_side(c->upper[i].y), z + 0.01f}};
    count_pixels(c, i);
  }
}

static slab_status fill_cover(slab_scene *scene, const void *user) {
  const cover *c = user;
  return slab_scene_add_boxes(scene, c->boxes, c->count, NULL, NULL);
}

/* Theirs require one hit or more. How many boxes hold each point is known, faces, edges and corners included. */
static void ray_down_on_divided_boxes_hits_all_that_hold_it(void **state) {
  random_state random = harness_seeded("ray_down_on_divided_boxes_hits_all_that_hold_it");
  cover *c = harness_space(sizeof *c);
  aimed *to = harness_space(sizeof *to);
  uint64_t rays = 0, wrong = 0, shared = 0;
  for (uint32_t round = 0, rounds = ways_rounds(MOST); round < rounds; round++) {
    divide_cover(c, &random, pieces(MOST));
    to->n = 0;
    aim_at_pixels(to);
    mix(to, &random);
    ways_scenes scenes = ways_made(*state, fill_cover, c);
    answers a;
    ways_cast(&scenes, to->rays, rays_of(MOST), NULL, &a);
    for (size_t i = 0; i < a.n; i++) {
      const uint32_t wanted = c->wanted[to->at[i].y / PIXEL * PIXELS + to->at[i].x / PIXEL];
      wrong += a.count[i] != wanted;
      shared += wanted > 1;
    }
    rays += a.n;
    answers_free(&a);
    ways_free(&scenes);
  }
  assert_true(shared > rays / 100); /* points that lie on faces */
  ways_tell("divided boxes, straight down", rays, wrong);
  free(to);
  free(c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ray_down_on_a_divided_square_hits_once),
      cmocka_unit_test(ray_through_a_divided_square_goes_down_once_more_than_up),
      cmocka_unit_test(ray_down_on_divided_boxes_hits_all_that_hold_it),
  };
  return cmocka_run_group_tests(tests, ways_setup, ways_teardown);
}
