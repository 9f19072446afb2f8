/* The oracle's triangles compared with rational arithmetic (GMP): signed volumes, and the tie rule as a displacement
 * of the ray's point. Also its judgement of seams: rays at the edges of closed rooms that are thin, far away or
 * tiny. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <gmp.h>

#include "check/oracle.h"
#include "sets/random.h"

/* ---- random numbers: each failure prints its seed ---- */

static float next_signed(random_state *r) { return 2.0f * random_float(r) - 1.0f; }
static float next_integer(random_state *r, int limit) {
  return (float)((int)(random_next(r) % (2 * (uint32_t)limit + 1)) - limit);
}

/* ---- exact vectors ---------------------------------------------------------------- */

typedef struct exact {
  mpq_t x[3];
} exact;

static void exact_init(exact *v) {
  for (int i = 0; i < 3; i++) mpq_init(v->x[i]);
}

static void exact_clear(exact *v) {
  for (int i = 0; i < 3; i++) mpq_clear(v->x[i]);
}

static void exact_set(exact *v, const float *p) {
  for (int i = 0; i < 3; i++) mpq_set_d(v->x[i], (double)p[i]);
}

/* a - b of float vectors. */
static void exact_difference(exact *v, const float *a, const float *b) {
  exact minus;
  exact_init(&minus);
  exact_set(v, a);
  exact_set(&minus, b);
  for (int i = 0; i < 3; i++) mpq_sub(v->x[i], v->x[i], minus.x[i]);
  exact_clear(&minus);
}

/* (a x b) . c */
static void exact_volume(mpq_t result, const exact *a, const exact *b, const exact *c) {
  mpq_t p, q;
  mpq_init(p);
  mpq_init(q);
  mpq_set_ui(result, 0, 1);
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    mpq_mul(p, a->x[j], b->x[k]);
    mpq_mul(q, a->x[k], b->x[j]);
    mpq_sub(p, p, q);
    mpq_mul(p, p, c->x[i]);
    mpq_add(result, result, p);
  }
  mpq_clear(p);
  mpq_clear(q);
}

/* ---- the contract's triangle in exact arithmetic -------------------------------------- */

static const float *corner(const slab_triangle *t, int i) { return i == 0 ? t->a : i == 1 ? t->b : t->c; }

static void shear_axes(const slab_ray *ray, int *kx, int *ky) {
  const float *d = ray->direction;
  int kz = 0;
  for (int i = 1; i < 3; i++)
    if (fabsf(d[i]) > fabsf(d[kz])) kz = i;
  *kx = d[kz] < 0.0f ? (kz + 2) % 3 : (kz + 1) % 3;
  *ky = d[kz] < 0.0f ? (kz + 1) % 3 : (kz + 2) % 3;
}

/* The sign of (J x K) . d. If that is 0: the sign of its change ((K - J) x axis) . d as the origin moves along kx,
 * then ky. */
static int edge_sign(const slab_ray *ray, const float *j, const float *k, bool *contact) {
  exact from, to, along, axis;
  mpq_t volume;
  int axes[2];
  exact_init(&from);
  exact_init(&to);
  exact_init(&along);
  exact_init(&axis);
  mpq_init(volume);
  shear_axes(ray, &axes[0], &axes[1]);
  exact_difference(&from, j, ray->origin);
  exact_difference(&to, k, ray->origin);
  exact_set(&along, ray->direction);
  exact_volume(volume, &from, &to, &along);
  *contact = *contact || mpq_sgn(volume) == 0;
  exact_difference(&from, k, j);
  for (int i = 0; i < 2 && mpq_sgn(volume) == 0; i++) {
    const float unit[3] = {axes[i] == 0 ? 1.0f : 0.0f, axes[i] == 1 ? 1.0f : 0.0f, axes[i] == 2 ? 1.0f : 0.0f};
    exact_set(&axis, unit);
    exact_volume(volume, &from, &axis, &along);
  }
  const int sign = mpq_sgn(volume);
  mpq_clear(volume);
  exact_clear(&axis);
  exact_clear(&along);
  exact_clear(&to);
  exact_clear(&from);
  return sign;
}

static bool is_hit(const slab_ray *ray, const slab_triangle *t, bool *contact) {
  int sum = 0;
  for (int i = 0; i < 3; i++) sum += edge_sign(ray, corner(t, i), corner(t, (i + 1) % 3), contact);
  return sum == 3 || sum == -3;
}

/* Whether t = ((b - a) x (c - a)) . (a - o) / ((b - a) x (c - a)) . d lies in [lo, hi]. */
static bool time_is_in(const slab_ray *ray, const slab_triangle *triangle, const double t[2]) {
  exact e1, e2, v;
  mpq_t up, run, end;
  exact_init(&e1);
  exact_init(&e2);
  exact_init(&v);
  mpq_init(up);
  mpq_init(run);
  mpq_init(end);
  exact_difference(&e1, triangle->b, triangle->a);
  exact_difference(&e2, triangle->c, triangle->a);
  exact_difference(&v, triangle->a, ray->origin);
  exact_volume(up, &e1, &e2, &v);
  exact_set(&v, ray->direction);
  exact_volume(run, &e1, &e2, &v);
  mpq_div(up, up, run);
  mpq_set_d(end, t[0]);
  bool in = mpq_cmp(end, up) <= 0;
  mpq_set_d(end, t[1]);
  in = in && mpq_cmp(up, end) <= 0;
  mpq_clear(end);
  mpq_clear(run);
  mpq_clear(up);
  exact_clear(&v);
  exact_clear(&e2);
  exact_clear(&e1);
  return in;
}

/* ---- pairs ------------------------------------------------------------------------------- */

typedef struct tally {
  uint32_t hits, misses, undecided, contacts;
} tally;

/* A certain verdict must equal the exact one. The enclosure of a certain hit must contain the exact t. */
static void check_pair(const slab_ray *ray, const slab_triangle *triangle, tally *sum) {
  const oracle_geometry g = {.kind = SLAB_TRIANGLE, .primitives = triangle, .count = 1};
  double t[2];
  bool contact = false;
  const oracle_verdict verdict = oracle_decide(&g, 0, SLAB_CLOSEST, ray, NULL, t);
  sum->hits += verdict == ORACLE_HIT;
  sum->misses += verdict == ORACLE_MISS;
  sum->undecided += verdict == ORACLE_UNDECIDED;
  if (verdict == ORACLE_UNDECIDED) return;
  assert_int_equal(verdict == ORACLE_HIT, is_hit(ray, triangle, &contact));
  sum->contacts += contact && verdict == ORACLE_HIT;
  if (verdict == ORACLE_HIT) assert_true(time_is_in(ray, triangle, t));
}

static void fill(random_state *r, float *values, float scale, float offset) {
  for (int i = 0; i < 3; i++) values[i] = offset + scale * next_signed(r);
}

/* Ordinary triangles, needles, far away and tiny ones. Whole lines, half of them aimed at the middle of the
 * triangle. */
static void random_pairs_are_decided_as_exactly(void **state) {
  (void)state;
  static const struct {
    float scale, offset, thin;
  } sets[] = {{1, 0, 1}, {1, 0, 1e-6f}, {1, 148376, 1}, {0x1p-40f, 0, 1}};
  enum { PAIRS = 25000 };
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    random_state r = random_seed(s + 1);
    tally sum = {0};
    for (uint32_t i = 0; i < PAIRS; i++) {
      slab_triangle t;
      slab_ray ray = {.t_min = -INFINITY, .t_max = INFINITY};
      fill(&r, t.a, sets[s].scale, sets[s].offset);
      fill(&r, t.b, sets[s].scale, sets[s].offset);
      for (int k = 0; k < 3; k++)
        t.c[k] = t.a[k] + (t.b[k] - t.a[k]) * 0.3f + sets[s].thin * sets[s].scale * next_signed(&r);
      fill(&r, ray.origin, 2 * sets[s].scale, sets[s].offset);
      fill(&r, ray.direction, 1, 0);
      if (i % 2 == 0)
        for (int k = 0; k < 3; k++) ray.direction[k] = t.a[k] * 0.25f + t.b[k] * 0.35f + t.c[k] * 0.4f - ray.origin[k];
      check_pair(&ray, &t, &sum);
    }
    print_message("scale %g, offset %g, thin %g: %u hits, %u misses, %u undecided (seed %u)\n", (double)sets[s].scale,
                  (double)sets[s].offset, (double)sets[s].thin, sum.hits, sum.misses, sum.undecided, (unsigned)s + 1);
    if (s == 0 || s == 3) assert_true(sum.undecided <= PAIRS / 1000 && sum.hits > PAIRS / 4);
  }
}

/* Small integers. The largest component of the direction is 4, so the shear is exact. No verdict may be undecided,
 * including contacts with edges and corners. */
static void lattice_pairs_are_all_decided(void **state) {
  (void)state;
  enum { PAIRS = 50000 };
  random_state r = random_seed(77);
  tally sum = {0};
  for (uint32_t i = 0; i < PAIRS; i++) {
    slab_triangle t;
    slab_ray ray = {.t_min = -INFINITY, .t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      t.a[k] = next_integer(&r, 4);
      t.b[k] = next_integer(&r, 4);
      t.c[k] = next_integer(&r, 4);
      ray.origin[k] = next_integer(&r, 4);
      ray.direction[k] = next_integer(&r, 3);
    }
    ray.direction[random_next(&r) % 3] = random_next(&r) & 1 << 20 ? 4.0f : -4.0f;
    check_pair(&ray, &t, &sum);
  }
  print_message("lattice: %u hits, %u of them on edges, %u misses, %u undecided (seed 77)\n", sum.hits, sum.contacts,
                sum.misses, sum.undecided);
  assert_int_equal(sum.undecided, 0);
  assert_true(sum.hits > PAIRS / 50 && sum.contacts > sum.hits / 20);
}

/* ---- closed edges --------------------------------------------------------------------------- */

/* The sign of (J x K) . d. */
static int line_sign(const slab_ray *ray, const float *j, const float *k) {
  exact from, to, along;
  mpq_t volume;
  exact_init(&from);
  exact_init(&to);
  exact_init(&along);
  mpq_init(volume);
  exact_difference(&from, j, ray->origin);
  exact_difference(&to, k, ray->origin);
  exact_set(&along, ray->direction);
  exact_volume(volume, &from, &to, &along);
  const int sign = mpq_sgn(volume);
  mpq_clear(volume);
  exact_clear(&along);
  exact_clear(&to);
  exact_clear(&from);
  return sign;
}

/* Adds to *touches where the line meets the triangle at an edge. */
static bool line_meets(const slab_ray *ray, const slab_triangle *t, uint32_t *touches) {
  bool positive = false, negative = false, zero = false;
  for (int i = 0; i < 3; i++) {
    const int sign = line_sign(ray, corner(t, i), corner(t, (i + 1) % 3));
    positive = positive || sign > 0;
    negative = negative || sign < 0;
    zero = zero || sign == 0;
  }
  const bool meets = positive != negative;
  *touches += meets && zero;
  return meets;
}

/* Whole lines through corners and edges, as rounded, and of whole numbers, which touch. No verdict is left
 * open. */
static void closed_pairs_are_decided_as_exactly(void **state) {
  (void)state;
  static const float scales[] = {1, 0x1p-60f, 0x1p40f, 1000};
  enum { PAIRS = 5000 };
  const slab_cast_options closed = {.edges = SLAB_EDGES_CLOSED};
  for (size_t s = 0; s < sizeof scales / sizeof *scales; s++) {
    random_state r = random_seed(s + 31);
    uint32_t hits = 0, touches = 0;
    for (uint32_t i = 0; i < PAIRS; i++) {
      const bool whole = i % 2 == 0;
      slab_triangle t;
      slab_ray ray = {.t_min = -INFINITY, .t_max = INFINITY};
      float *const vectors[] = {t.a, t.b, t.c, ray.origin};
      for (int v = 0; v < 4; v++)
        for (int k = 0; k < 3; k++)
          vectors[v][k] = scales[s] * (whole ? 2.0f * next_integer(&r, 500) : next_signed(&r));
      const float *a = corner(&t, (int)(random_next(&r) % 3)), *b = corner(&t, (int)(random_next(&r) % 3));
      for (int k = 0; k < 3; k++) ray.direction[k] = 0.5f * a[k] + 0.5f * b[k] - ray.origin[k];
      if (ray.direction[0] == 0.0f && ray.direction[1] == 0.0f && ray.direction[2] == 0.0f) continue;
      const oracle_geometry g = {.kind = SLAB_TRIANGLE, .primitives = &t, .count = 1};
      double at[2];
      const oracle_verdict verdict = oracle_decide(&g, 0, SLAB_CLOSEST, &ray, &closed, at);
      assert_int_not_equal(verdict, ORACLE_UNDECIDED);
      assert_int_equal(verdict == ORACLE_HIT, line_meets(&ray, &t, &touches));
      hits += verdict == ORACLE_HIT;
    }
    print_message("closed edges, scale %g: %u hits, %u of them on edges (seed %u)\n", (double)scales[s], hits, touches,
                  (unsigned)s + 31);
    assert_true(touches > PAIRS / 3 && hits > touches);
  }
}

/* ---- seams ------------------------------------------------------------------------------------ */

typedef struct room {
  float corner[8][3];
  slab_triangle triangles[12];
} room;

static void build_room(room *built, const float origin[3], const float size[3]) {
  static const uint8_t faces[6][4] = {{0, 2, 3, 1}, {4, 5, 7, 6}, {0, 1, 5, 4},
                                      {2, 6, 7, 3}, {0, 4, 6, 2}, {1, 3, 7, 5}};
  for (int i = 0; i < 8; i++)
    for (int k = 0; k < 3; k++) built->corner[i][k] = origin[k] + ((i >> k & 1) != 0 ? size[k] : 0.0f);
  for (int f = 0; f < 6; f++) {
    for (int half = 0; half < 2; half++) {
      slab_triangle *t = &built->triangles[2 * f + half];
      for (int k = 0; k < 3; k++) {
        t->a[k] = built->corner[faces[f][0]][k];
        t->b[k] = built->corner[faces[f][1 + half]][k];
        t->c[k] = built->corner[faces[f][2 + half]][k];
      }
    }
  }
}

/* From inside the room, near its end z = 0, at a random point of a random edge of the room or of a wall's diagonal. */
static slab_ray aim(random_state *r, const room *in, const float size[3]) {
  const slab_triangle *t = &in->triangles[random_next(r) % 12];
  const int i = (int)(random_next(r) % 3);
  const float *a = corner(t, i), *b = corner(t, (i + 1) % 3), f = random_float(r);
  slab_ray ray = {.t_max = INFINITY};
  for (int k = 0; k < 3; k++) {
    const float share = k == 2 ? 0.05f + 0.1f * random_float(r) : 0.25f + 0.5f * random_float(r);
    ray.origin[k] = in->corner[0][k] + share * size[k];
    ray.direction[k] = (a[k] + f * (b[k] - a[k])) - ray.origin[k];
  }
  return ray;
}

static oracle_judgement judge_count(const oracle_scene *scene, const slab_ray *ray, uint32_t n) {
  const ray_own own = ray_own_of(NULL, 0);
  return oracle_judge(scene, SLAB_COUNT, ray, &n, 1, &own, NULL, NULL, 0);
}

/* Rounding decides which triangle of a seam is hit, but exactly one is. A leak and a double hit must be proved
 * wrong. */
static void rays_at_seams_hit_exactly_once(void **state) {
  (void)state;
  static const float sets[][2][3] = {{{0, 0, 0}, {1, 1, 1000}},
                                     {{0, 0, 0}, {10, 3, 1000}},
                                     {{148376, 1234, -223423}, {4, 4, 4}},
                                     {{0, 0, 0}, {0x1p-40f, 0x1p-40f, 0x1p-38f}}};
  enum { RAYS = 5000 };
  for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
    random_state r = random_seed(s + 11);
    room closed;
    build_room(&closed, sets[s][0], sets[s][1]);
    const oracle_geometry g = {.kind = SLAB_TRIANGLE, .primitives = closed.triangles, .count = 12};
    const oracle_scene scene = {.geometries = &g, .count = 1};
    uint32_t seams = 0, proved = 0;
    for (int i = 0; i < RAYS; i++) {
      const slab_ray ray = aim(&r, &closed, sets[s][1]);
      double t[2];
      bool seam = false;
      for (uint32_t p = 0; p < 12; p++)
        seam = seam || oracle_decide(&g, p, SLAB_CLOSEST, &ray, NULL, t) == ORACLE_UNDECIDED;
      assert_int_not_equal(judge_count(&scene, &ray, 1), ORACLE_WRONG);
      assert_int_not_equal(judge_count(&scene, &ray, 0), ORACLE_RIGHT);
      assert_int_not_equal(judge_count(&scene, &ray, 2), ORACLE_RIGHT);
      seams += seam;
      proved += seam && judge_count(&scene, &ray, 0) == ORACLE_WRONG && judge_count(&scene, &ray, 1) == ORACLE_RIGHT;
    }
    print_message("room %g x %g x %g: %u rays at seams, %u decided (seed %u)\n", (double)sets[s][1][0],
                  (double)sets[s][1][1], (double)sets[s][1][2], seams, proved, (unsigned)s + 11);
    assert_true(seams > RAYS / 2 && proved >= seams - seams / 50);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(random_pairs_are_decided_as_exactly),
      cmocka_unit_test(lattice_pairs_are_all_decided),
      cmocka_unit_test(closed_pairs_are_decided_as_exactly),
      cmocka_unit_test(rays_at_seams_hit_exactly_once),
  };
  return cmocka_run_group_tests_name("oracle against rationals", tests, NULL, NULL);
}
