#include "expect.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DECOYS 10 /* so the shape lies in lane 10 of 16, or lane 2 of the second 8 */

/* ---- casting ---- */

static void *room_for(size_t n, size_t size) {
  void *room = malloc(n * size + 1);
  assert_non_null(room);
  memset(room, 0xA5, n * size);
  return room;
}

static void cast_all(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options,
                     expect_answers *a) {
  uint64_t required = 0;
  assert_ok(slab_all(scene, rays, n, a->offsets, NULL, 0, &required, options));
  assert_true(a->offsets[0] == 0 && a->offsets[n] == required);
  a->all = room_for(required, sizeof *a->all);
  assert_ok(slab_all(scene, rays, n, a->offsets, a->all, required, &required, options));
  assert_true(a->offsets[n] == required);
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
        "query %d: %llu rays differ from the mirror, %llu from the oracle; ray %llu is {{%a, %a, %a}, %a, {%a, %a, "
        "%a}, %a}: %s",
        (int)query, (unsigned long long)report.mismatches, (unsigned long long)report.oracle_wrong,
        (unsigned long long)report.first, (double)r[0], (double)r[1], (double)r[2], (double)r[3], (double)r[4],
        (double)r[5], (double)r[6], (double)r[7], report.text);
  }
  assert_true(report.rays == n);
}

static void check_all(const trial *c, const expect_answers *a) {
  check_one(c, SLAB_CLOSEST, a->n, a->closest, NULL);
  check_one(c, SLAB_DISTANCE, a->n, a->distance, NULL);
  check_one(c, SLAB_ANY, a->n, a->any, NULL);
  check_one(c, SLAB_COUNT, a->n, a->count, NULL);
  check_one(c, SLAB_ALL, a->n, a->all, a->offsets);
  check_one(c, SLAB_INTERVAL, a->n, a->interval, NULL);
}

/* ---- the queries against each other ---- */

/* Neither NaN nor -0. */
static bool is_plain(float x) { return x == x && !(x == 0.0f && signbit(x)); }

static bool is_id(uint32_t primitive, uint32_t geometry) { return primitive < SLAB_INVALID && geometry < SLAB_INVALID; }

static bool is_no_hit(const slab_hit *h) {
  return h->t == INFINITY && h->normal[0] == 0 && h->normal[1] == 0 && h->normal[2] == 0 && h->u == 0 && h->v == 0 &&
         h->primitive == h->geometry && (h->primitive == SLAB_MISS || h->primitive == SLAB_INVALID);
}

static double along(const slab_hit *h, const slab_ray *ray) {
  double sum = 0, length = 0;
  for (int i = 0; i < 3; i++) {
    sum += (double)h->normal[i] * (double)ray->direction[i];
    length += (double)ray->direction[i] * (double)ray->direction[i];
  }
  return sum / sqrt(length);
}

/* Whether t keeps its bits in lengths of the scaled direction. test_rays.c holds what a range is that does not. */
static bool scales_exactly(float t, const slab_ray *ray) {
  double largest = 0;
  for (int i = 0; i < 3; i++) largest = fmax(largest, fabs((double)ray->direction[i]));
  int exponent;
  frexp(largest, &exponent);
  double scaled = ldexp((double)t, exponent - 1);
  return isinf(t) || (fabs(scaled) <= (double)FLT_MAX && (double)(float)scaled == scaled);
}

static bool is_in_range(float t, const slab_ray *ray) {
  return (t >= ray->t_min || !scales_exactly(ray->t_min, ray)) && (t <= ray->t_max || !scales_exactly(ray->t_max, ray));
}

static const char *fault_of_hit(const slab_hit *h, const slab_ray *ray, const slab_cast_options *options) {
  const float values[] = {h->t, h->normal[0], h->normal[1], h->normal[2], h->u, h->v};
  for (int i = 0; i < 6; i++)
    if (!is_plain(values[i])) return "a hit holds NaN or -0";
  if (!isfinite(h->t) || !is_id(h->primitive, h->geometry)) return "a hit has no finite t or no id";
  if (!is_in_range(h->t, ray)) return "a hit lies outside the range";
  double square = 0;
  for (int i = 0; i < 3; i++) square += (double)h->normal[i] * (double)h->normal[i];
  if (!(fabs(square - 1) < 1e-6)) return "a normal is not of unit length";
  if (options && options->face_forward && along(h, ray) > 1e-6) return "face_forward left a normal along the ray";
  return NULL;
}

/* Hits whose t differ may both report 0 or one subnormal number, where a long direction divides t: test_rays.c holds
 * what the order is then. */
static bool is_underflown(float t, const slab_ray *ray) {
  const float *d = ray->direction;
  return fabsf(t) < FLT_MIN && fmaxf(fmaxf(fabsf(d[0]), fabsf(d[1])), fabsf(d[2])) >= 2.0f;
}

static bool is_before(const slab_hit *a, const slab_hit *b, const slab_ray *ray) {
  if (a->t != b->t) return a->t < b->t;
  if (is_underflown(a->t, ray)) return a->geometry != b->geometry || a->primitive != b->primitive;
  return a->geometry != b->geometry ? a->geometry < b->geometry : a->primitive < b->primitive;
}

static const char *fault_of_interval(const slab_interval *v, const slab_hit *h, const slab_ray *ray, bool culls) {
  const bool hit = is_id(h->primitive, h->geometry);
  if (!is_plain(v->enter) || !is_plain(v->leave)) return "an interval holds NaN or -0";
  if ((v->primitive == SLAB_INVALID) != (h->primitive == SLAB_INVALID))
    return "interval and closest differ in validity";
  if (!is_id(v->primitive, v->geometry)) {
    if (hit) return "a surface is hit and no solid is met";
    return v->enter == INFINITY && v->leave == -INFINITY && v->primitive == v->geometry ? NULL : "a miss is malformed";
  }
  if (!(v->enter <= v->leave) && scales_exactly(ray->t_min, ray) && scales_exactly(ray->t_max, ray))
    return "an interval ends before it begins";
  if (!is_in_range(v->enter, ray) || !is_in_range(v->leave, ray)) return "an interval lies outside the range";
  if (hit && !(v->enter <= h->t || v->enter == ray->t_min)) return "the first solid begins behind the first surface";
  if (!hit && !culls && !(v->enter == ray->t_min && v->leave == ray->t_max))
    return "no surface is hit, but the solid does not hold the whole range";
  return NULL;
}

static const char *fault_of_ray(const expect_answers *a, size_t i, const slab_ray *ray,
                                const slab_cast_options *options) {
  const slab_hit *closest = &a->closest[i], *all = a->all + a->offsets[i];
  const bool hit = is_id(closest->primitive, closest->geometry);
  if (!hit && !is_no_hit(closest)) return "closest's miss is malformed";
  if (memcmp(&a->distance[i], &closest->t, sizeof(float)) != 0) return "distance is not closest's t";
  if (a->any[i] != (hit ? 1 : 0)) return "any differs from closest";
  if ((a->count[i] > 0) != hit) return "count differs from closest";
  if (a->offsets[i + 1] - a->offsets[i] != a->count[i]) return "all differs from count";
  if (hit && memcmp(all, closest, sizeof *closest) != 0) return "the first of all is not closest";
  for (uint32_t k = 0; k < a->count[i]; k++) {
    const char *fault = fault_of_hit(&all[k], ray, options);
    if (fault) return fault;
    if (k > 0 && !is_before(&all[k - 1], &all[k], ray)) return "all is not in order, or names a primitive twice";
  }
  return fault_of_interval(&a->interval[i], closest, ray, options && options->cull != SLAB_CULL_NONE);
}

static void check_agreement(const slab_ray *rays, const slab_cast_options *options, const expect_answers *a) {
  uint64_t invalid = 0;
  for (size_t i = 0; i < a->n; i++) {
    invalid += a->closest[i].primitive == SLAB_INVALID;
    const char *fault = fault_of_ray(a, i, &rays[i], options);
    const float *r = (const float *)&rays[i];
    if (fault)
      fail_msg("ray %zu {{%a, %a, %a}, %a, {%a, %a, %a}, %a}: %s", i, (double)r[0], (double)r[1], (double)r[2],
               (double)r[3], (double)r[4], (double)r[5], (double)r[6], (double)r[7], fault);
  }
  assert_true(invalid == a->invalid);
}

static void cast_and_check(const trial *c, size_t n, expect_answers *a) {
  slab_scene *scene = c->scene;
  const slab_ray *rays = c->rays;
  uint64_t invalid[6];
  slab_cast_options counted[6] = {{0}};
  for (int i = 0; i < 6; i++) {
    if (c->options) counted[i] = *c->options;
    counted[i].invalid = &invalid[i];
  }
  *a = (expect_answers){.n = n,
                        .closest = room_for(n, sizeof *a->closest),
                        .distance = room_for(n, sizeof *a->distance),
                        .any = room_for(n, sizeof *a->any),
                        .count = room_for(n, sizeof *a->count),
                        .offsets = room_for(n + 1, sizeof *a->offsets),
                        .interval = room_for(n, sizeof *a->interval)};
  assert_ok(slab_closest(scene, rays, n, a->closest, &counted[0]));
  assert_ok(slab_distance(scene, rays, n, a->distance, &counted[1]));
  assert_ok(slab_any(scene, rays, n, a->any, &counted[2]));
  assert_ok(slab_count(scene, rays, n, a->count, &counted[3]));
  assert_ok(slab_interval_of(scene, rays, n, a->interval, &counted[4]));
  cast_all(scene, rays, n, &counted[5], a);
  for (int i = 1; i < 6; i++) assert_true(invalid[i] == invalid[0]);
  a->invalid = invalid[0];
  check_all(c, a);
  check_agreement(rays, c->options, a);
}

void expect_cast(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options,
                 expect_answers *a) {
  const trial judged = {scene, rays, options, true};
  cast_and_check(&judged, n, a);
}

void expect_cast_in_extremes(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options,
                             expect_answers *a) {
  const trial mirrored = {scene, rays, options, false};
  cast_and_check(&mirrored, n, a);
}

void expect_release(expect_answers *a) {
  free(a->closest);
  free(a->distance);
  free(a->any);
  free(a->count);
  free(a->offsets);
  free(a->all);
  free(a->interval);
  *a = (expect_answers){0};
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
  const size_t floats = expect_floats(kind);
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
  const size_t floats = expect_floats(kind);
  float shapes[(DECOYS + 1) * 15];
  uint32_t skipped = 0;
  const slab_geometry_options drop = {.skip_invalid = 1, .skipped = &skipped};
  for (size_t i = 0; i < DECOYS * floats; i++) shapes[i] = NAN;
  memcpy(shapes + DECOYS * floats, shape, floats * sizeof *shapes);
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(expect_add(scene, kind, shapes, DECOYS + 1, &drop));
  assert_int_equal(skipped, kind == SLAB_BOX ? 0 : DECOYS);
  assert_ok(slab_scene_commit(scene, NULL));
  slab_ray *rays = room_for(n, sizeof *rays);
  for (size_t i = 0; i < n; i++) rays[i] = rows[i].ray;
  expect_answers a;
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
  expect_release(&a);
  free(rays);
  slab_scene_destroy(scene);
}

/* ---- scenes ---- */

size_t expect_floats(slab_shape kind) {
  switch (kind) {
    case SLAB_BOX:
      return sizeof(slab_box) / sizeof(float);
    case SLAB_OBB:
      return sizeof(slab_obb) / sizeof(float);
    case SLAB_TRIANGLE:
      return sizeof(slab_triangle) / sizeof(float);
    default:
      return 4;
  }
}

slab_status expect_add(slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                       const slab_geometry_options *options) {
  const slab_mesh soup = {.vertices = shapes, .vertex_count = 3 * n, .triangle_count = n};
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_add_planes(scene, shapes, n, options, NULL);
    case SLAB_SPHERE:
      return slab_scene_add_spheres(scene, shapes, n, options, NULL);
    case SLAB_BOX:
      return slab_scene_add_boxes(scene, shapes, n, options, NULL);
    case SLAB_OBB:
      return slab_scene_add_obbs(scene, shapes, n, options, NULL);
    default:
      return slab_scene_add_mesh(scene, &soup, options, NULL);
  }
}

slab_scene *expect_scene(slab_context *context, slab_shape kind, const void *shapes, uint32_t n) {
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(expect_add(scene, kind, shapes, n, NULL));
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
