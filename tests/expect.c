#include "expect.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "filled.h"

#define DECOYS 10 /* so the shape lies in lane 10 of 16, or lane 2 of the second 8 */

/* ---- casting ---- */

static void *room_for(size_t n, size_t size) {
  void *room = malloc(n * size + 1);
  assert_non_null(room);
  memset(room, 0xA5, n * size);
  return room;
}

/* One cast and who judges it. */
typedef struct trial {
  slab_scene *scene;
  const slab_ray *rays;
  const slab_cast_options *options;
  bool oracle;
} trial;

static void check_one(const trial *c, slab_query query, size_t n, const void *results, const uint64_t *offsets) {
  slab_check_report report;
  assert_ok(slab_check(c->scene, query, c->rays, n, results, offsets, c->options, &report));
  if (report.mismatches || (c->oracle && report.oracle_wrong)) {
    const float *r = (const float *)&c->rays[report.first];
    fail_msg(
        "query %d: %llu rays differ from the CPU reference, %llu from the oracle; ray %llu is {{%a, %a, %a}, %a, {%a, "
        "%a, "
        "%a}, %a}: %s",
        (int)query, (unsigned long long)report.mismatches, (unsigned long long)report.oracle_wrong,
        (unsigned long long)report.first, (double)r[0], (double)r[1], (double)r[2], (double)r[3], (double)r[4],
        (double)r[5], (double)r[6], (double)r[7], report.text);
  }
  assert_true(report.rays == n);
}

static void check_all(const trial *c, const answers *a) {
  for (int q = 0; q < ANSWER_QUERIES; q++)
    check_one(c, (slab_query)q, a->n, answers_of(a, (slab_query)q), q == SLAB_ALL ? a->offsets : NULL);
}

static void check_agreement(const slab_ray *rays, const slab_cast_options *options, const answers *a) {
  for (size_t i = 0; i < a->n; i++) {
    const char *fault = answers_fault(a, i, &rays[i], options);
    const float *r = (const float *)&rays[i];
    if (fault)
      fail_msg("ray %zu {{%a, %a, %a}, %a, {%a, %a, %a}, %a}: %s", i, (double)r[0], (double)r[1], (double)r[2],
               (double)r[3], (double)r[4], (double)r[5], (double)r[6], (double)r[7], fault);
  }
  assert_true(answers_same_invalid(a));
}

static void cast_and_check(const trial *c, size_t n, answers *a) {
  *a = (answers){0};
  assert_ok(answers_cast_all(a, c->scene, c->rays, n, c->options));
  check_all(c, a);
  check_agreement(c->rays, c->options, a);
}

void expect_cast(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options, answers *a) {
  const trial judged = {scene, rays, options, true};
  cast_and_check(&judged, n, a);
}

void expect_cast_in_extremes(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options,
                             answers *a) {
  const trial mirrored = {scene, rays, options, false};
  cast_and_check(&mirrored, n, a);
}

/* ---- tables ---- */

expect_want expect_face(float t, unsigned face, float enter, float leave) {
  expect_want want = {.t = t, .u = (float)face, .enter = enter, .leave = leave};
  want.normal[face / 2] = face % 2 ? 1.0f : -1.0f;
  return want;
}

static bool is_near(float got, float want, float within) {
  return got == want || fabs((double)got - (double)want) <= (double)within; /* infinities are near themselves alone */
}

static bool is_wanted(const slab_hit *h, const slab_interval *v, const expect_want *w, float within) {
  bool same = is_near(h->t, w->t, within) && is_near(h->u, w->u, within) && is_near(h->v, w->v, within) &&
              is_near(v->enter, w->enter, within) && is_near(v->leave, w->leave, within);
  for (int i = 0; i < 3; i++) same = same && is_near(h->normal[i], w->normal[i], within);
  const bool hit = isfinite(w->t), met = w->enter <= w->leave;
  same = same && h->primitive == (hit ? DECOYS : SLAB_MISS) && h->geometry == (hit ? 0 : SLAB_MISS);
  return same && v->primitive == (met ? DECOYS : SLAB_MISS) && v->geometry == (met ? 0 : SLAB_MISS);
}

static void print_row(const char *label, const slab_hit *h, float enter, float leave) {
  print_error("  %s t %.9g, normal %.9g %.9g %.9g, u %.9g, v %.9g, interval %.9g to %.9g\n", label, (double)h->t,
              (double)h->normal[0], (double)h->normal[1], (double)h->normal[2], (double)h->u, (double)h->v,
              (double)enter, (double)leave);
}

static void check_pairs(slab_context *context, slab_shape kind, const float *shape, const expect_row *rows, size_t n,
                        const slab_interval *intervals) {
  const size_t floats = shape_floats(kind);
  float *shapes = room_for(n * floats, sizeof *shapes);
  slab_ray *rays = room_for(n, sizeof *rays);
  slab_interval *pairs = room_for(n, sizeof *pairs);
  for (size_t i = 0; i < n; i++) {
    memcpy(shapes + i * floats, shape, floats * sizeof *shapes);
    rays[i] = rows[i].ray;
  }
  assert_ok(slab_pairs(context, kind, rays, shapes, n, pairs));
  for (size_t i = 0; i < n; i++) {
    const bool met = intervals[i].primitive < SLAB_INVALID;
    const uint32_t miss = intervals[i].primitive;
    const slab_interval want = {intervals[i].enter, intervals[i].leave, met ? (uint32_t)i : miss, met ? 0 : miss};
    assert_same_bits(&pairs[i], &want, 1, sizeof want);
  }
  free(shapes);
  free(rays);
  free(pairs);
}

void expect_rows(slab_context *context, slab_shape kind, const void *shape, const expect_row *rows, size_t n,
                 const slab_cast_options *options, float within, const char *file, int line) {
  const size_t floats = shape_floats(kind);
  float shapes[(DECOYS + 1) * 15];
  uint32_t skipped = 0;
  const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
  for (size_t i = 0; i < DECOYS * floats; i++) shapes[i] = NAN;
  memcpy(shapes + DECOYS * floats, shape, floats * sizeof *shapes);
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(shape_add(scene, kind, shapes, DECOYS + 1, &drop));
  assert_int_equal(skipped, kind == SLAB_BOX ? 0 : DECOYS);
  share_programs(scene);
  assert_ok(slab_scene_commit(scene, NULL));
  slab_ray *rays = room_for(n, sizeof *rays);
  for (size_t i = 0; i < n; i++) rays[i] = rows[i].ray;
  answers a;
  expect_cast(scene, rays, n, options, &a);
  for (size_t i = 0; i < n; i++) {
    const expect_want *w = &rows[i].want;
    if (is_wanted(&a.closest[i], &a.interval[i], w, within)) continue;
    slab_hit want = {.t = w->t, .u = w->u, .v = w->v};
    memcpy(want.normal, w->normal, sizeof want.normal);
    print_error("row %zu of %zu:\n", i, n);
    print_row("got ", &a.closest[i], a.interval[i].enter, a.interval[i].leave);
    print_row("want", &want, w->enter, w->leave);
    _fail(file, line);
  }
  check_pairs(context, kind, shape, rows, n, a.interval);
  answers_free(&a);
  free(rays);
  slab_scene_destroy(scene);
}

/* ---- scenes ---- */

slab_scene *expect_scene(slab_context *context, slab_shape kind, const void *shapes, uint32_t n) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(shape_add(scene, kind, shapes, n, NULL));
  share_programs(scene);
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

/* ---- fixtures ---- */

int expect_setup(void **state) {
  *state = harness_context();
  return 0;
}

int expect_teardown(void **state) {
  slab_context_destroy(*state);
  return 0;
}
