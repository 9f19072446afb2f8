/* The header's helpers and the camera, compared with values computed by hand. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"

static void assert_floats(const float *got, const float *want, size_t n) {
  assert_same_bits(got, want, n, sizeof *got);
}

static void assert_near(const float got[3], float x, float y, float z) {
  const float want[3] = {x, y, z};
  for (int i = 0; i < 3; i++)
    if (!(fabsf(got[i] - want[i]) <= 1e-6f))
      fail_msg("component %d is %.9g, not %.9g", i, (double)got[i], (double)want[i]);
}

/* ---- values ---- */

static void rays_from_doubles_are_moved_and_rounded_once(void **state) {
  (void)state;
  const double center[] = {1e9, -1e9, 0.5};
  const double origins[] = {1e9 + 0.3, -1e9 - 7.0 / 3, 0.75, 1e9, 1e300, 0.5};
  const double directions[] = {1.0 / 3, -2, 0, 0, 0.1, 1};
  slab_ray rays[2];
  assert_ok(slab_rays_from_doubles(origins, directions, 2, center, 8.0, rays));
  const slab_ray want[] = {{{(float)((1e9 + 0.3 - 1e9) * 8), (float)((-1e9 - 7.0 / 3 + 1e9) * 8), 2.0f},
                            0.0f,
                            {(float)(1.0 / 3), -2, 0},
                            INFINITY},
                           {{0, INFINITY, 0}, 0.0f, {0, 0.1f, 1}, INFINITY}};
  assert_same_bits(rays, want, 2, sizeof *rays);
}

static void rays_from_doubles_of_any_length_keep_their_way(void **state) {
  (void)state;
  const double lengths[] = {1e-300, 1e-13, 0.9e-12, 1.1e-12, 1, 0.9e12, 1.1e12, 1e300};
  enum { LENGTHS = sizeof lengths / sizeof *lengths };
  double origins[3 * LENGTHS], directions[3 * LENGTHS];
  slab_ray rays[LENGTHS];
  for (int i = 0; i < LENGTHS; i++)
    for (int k = 0; k < 3; k++) {
      origins[3 * i + k] = i + 0.5 * k;
      directions[3 * i + k] = lengths[i] * (k == 0 ? 0.25 : k == 1 ? -1 : 0);
    }
  assert_ok(slab_rays_from_doubles(origins, directions, LENGTHS, NULL, 1.0, rays));
  for (int i = 0; i < LENGTHS; i++) {
    const bool kept = i >= 3 && i <= 5;
    const float along = kept ? (float)lengths[i] : 1.0f;
    const slab_ray want = {
        {(float)i, (float)i + 0.5f, (float)i + 1}, 0.0f, {0.25f * along, -along, 0 * along}, INFINITY};
    assert_same_bits(&rays[i], &want, 1, sizeof want);
  }
}

static void rays_from_doubles_that_are_none_are_invalid(void **state) {
  (void)state;
  const double origins[12] = {0}, far[12] = {NAN, 0, 0, 1e50, 0, 0, INFINITY, 0, 0, 0, -1e40, 0};
  const double wrong[12] = {0, 0, 0, NAN, 0, 1e30, 0, -INFINITY, 1, NAN, 0, 0};
  const double right[12] = {0, 0, 1, 0, 1, 0, 1, 0, 0, 1, 1, 1};
  slab_context *context = harness_context();
  slab_scene *scene;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_commit(scene, NULL));
  for (int which = 0; which < 3; which++) {
    slab_ray rays[4];
    float t[4];
    uint64_t invalid = 0;
    assert_ok(slab_rays_from_doubles(which == 1 ? far : origins, which == 2 ? wrong : right, 4, NULL, 1.0, rays));
    assert_ok(slab_distance(scene, rays, 4, t, &(slab_cast_options){.invalid = &invalid}));
    assert_true(invalid == (which == 0 ? 0 : 4));
  }
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* More than one thread's piece, and every ray of it. */
static void many_rays_from_doubles_are_those_of_each(void **state) {
  (void)state;
  enum { MANY = 50001 };
  double *numbers = malloc(6 * MANY * sizeof *numbers);
  slab_ray *rays = malloc((MANY + 1) * sizeof *rays), guard, alone;
  assert_true(numbers != NULL && rays != NULL);
  for (size_t i = 0; i < 6 * MANY; i++) numbers[i] = 0.1 * (double)i;
  memset(&guard, 0xA5, sizeof guard);
  rays[MANY] = guard;
  assert_ok(slab_rays_from_doubles(numbers, numbers + 3 * MANY, MANY, NULL, 3.0, rays));
  for (size_t i = 0; i < MANY; i++) {
    assert_ok(slab_rays_from_doubles(numbers + 3 * i, numbers + 3 * (MANY + i), 1, NULL, 3.0, &alone));
    assert_same_bits(&rays[i], &alone, 1, sizeof alone);
  }
  assert_same_bits(&rays[MANY], &guard, 1, sizeof guard);
  free(rays);
  free(numbers);
}

static void rays_from_doubles_that_are_missing_are_named(void **state) {
  (void)state;
  const double three[3] = {1, 2, 3};
  slab_ray ray;
  assert_status(slab_rays_from_doubles(NULL, three, 1, NULL, 1.0, &ray), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "origins is NULL"));
  assert_status(slab_rays_from_doubles(three, NULL, 1, NULL, 1.0, &ray), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "directions is NULL"));
  assert_status(slab_rays_from_doubles(three, three, 1, NULL, 1.0, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "rays is NULL"));
  assert_ok(slab_rays_from_doubles(NULL, NULL, 0, NULL, 1.0, NULL));
}

/* ---- floats of doubles ---- */

/* Rows of several widths, which lie apart. The bytes between them are left alone. Numbers grow or shrink from row to
 * row, so that one piece alone has the number that is moved the most. */
static void floats_from_doubles_are_rounded_where_they_lie(void **state) {
  (void)state;
  enum { ROWS = 40001, MOST = 19 }; /* more than one thread's piece */
  const size_t widths[] = {1, 3, 7, 8, 9, MOST};
  double *from = malloc((size_t)ROWS * (MOST + 2) * sizeof *from);
  float *to = malloc((size_t)ROWS * (MOST + 1) * sizeof *to);
  assert_true(from != NULL && to != NULL);
  for (size_t w = 0; w < sizeof widths / sizeof *widths; w++) {
    const size_t n = widths[w], wide = n + 2, apart = n + 1, numbers = ROWS * wide;
    double moved[MOST], want[MOST] = {0};
    for (size_t i = 0; i < numbers; i++) from[i] = (i % 2 ? -0.1 : 0.3) * (double)(w % 2 ? i : numbers - i);
    for (size_t i = 0; i < ROWS * apart; i++) to[i] = 0.5f;
    assert_ok(slab_floats_from_doubles(from, wide * sizeof *from, ROWS, n, to, apart * sizeof *to, moved));
    for (size_t i = 0; i < ROWS; i++) {
      for (size_t c = 0; c < n; c++) {
        const double by = fabs(from[i * wide + c] - (double)(float)from[i * wide + c]);
        if (by > want[c]) want[c] = by;
        assert_true(to[i * apart + c] == (float)from[i * wide + c]);
      }
      assert_true(to[i * apart + n] == 0.5f);
    }
    assert_same_bits(moved, want, n, sizeof *moved);
  }
  free(from);
  free(to);
}

static void floats_from_doubles_tell_what_float_does_not_hold(void **state) {
  (void)state;
  const double from[] = {1e39, NAN, INFINITY, 1.5, -3.5e38, -NAN, -INFINITY, -0.0, 1e-50, 1, 3e38, 0x1p-149};
  float to[12];
  double moved[4];
  assert_ok(slab_floats_from_doubles(from, 4 * sizeof *from, 3, 4, to, 4 * sizeof *to, moved));
  assert_true(to[0] == INFINITY && to[4] == -INFINITY && isnan(to[1]) && to[6] == -INFINITY && signbit(to[7]));
  assert_true(moved[0] == INFINITY && moved[1] == 0 && moved[2] == fabs(3e38 - (double)3e38f) && moved[3] == 0);
  assert_ok(slab_floats_from_doubles(from, 0, 1, 1, to, 0, NULL));
}

static void floats_from_doubles_that_are_missing_are_named(void **state) {
  (void)state;
  const double from = 1;
  float to;
  assert_status(slab_floats_from_doubles(NULL, 8, 1, 1, &to, 4, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "from is NULL"));
  assert_status(slab_floats_from_doubles(&from, 8, 1, 1, NULL, 4, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "to is NULL"));
  double moved[2] = {5, 5};
  assert_ok(slab_floats_from_doubles(NULL, 8, 0, 2, NULL, 4, moved));
  assert_true(moved[0] == 0 && moved[1] == 0);
  assert_ok(slab_floats_from_doubles(NULL, 8, 7, 0, NULL, 4, NULL));
}

/* ---- points of doubles ---- */

enum { POINTS = 9001 }; /* more than one thread's piece */

typedef struct hits_of_doubles {
  double origins[3 * POINTS], directions[3 * POINTS], vertices[3 * 4], points[3 * POINTS + 1];
  uint32_t indices[6];
  uint64_t rays[POINTS], triangles[POINTS];
  slab_hit hits[POINTS];
} hits_of_doubles;

static slab_double_hits told(const hits_of_doubles *h) {
  return (slab_double_hits){.origins = h->origins,
                            .directions = h->directions,
                            .scale = 4.0,
                            .vertices = h->vertices,
                            .indices = h->indices,
                            .rays = h->rays,
                            .triangles = h->triangles,
                            .t = &h->hits[0].t,
                            .t_stride = sizeof(slab_hit)};
}

/* Two triangles, in the planes z = height and y = 0, and rays that meet them. */
static hits_of_doubles *hits_of(double height, double length) {
  hits_of_doubles *h = calloc(1, sizeof *h);
  assert_non_null(h);
  const double vertices[] = {0, 0, height, 9, 0, height, 0, 9, height, 0, 0, height + 7};
  const uint32_t indices[] = {0, 1, 2, 0, 1, 3};
  memcpy(h->vertices, vertices, sizeof vertices);
  memcpy(h->indices, indices, sizeof indices);
  for (size_t i = 0; i < POINTS; i++) {
    const double origin[] = {0.001 * (double)i, -1.0 - (double)(i % 7), height - 2.0};
    const double way[] = {0.25, 1.0, 0.5};
    for (int k = 0; k < 3; k++) h->origins[3 * i + (size_t)k] = origin[k];
    for (int k = 0; k < 3; k++) h->directions[3 * i + (size_t)k] = length * way[k];
    h->rays[i] = POINTS - 1 - i;
    h->triangles[i] = i % 2;
    h->hits[i].t = NAN; /* is not needed where rays and planes meet */
  }
  h->points[3 * POINTS] = 123.0;
  return h;
}

static void points_from_doubles_lie_on_plane_and_ray(void **state) {
  (void)state;
  const double heights[] = {0, 1e9, -1e-3, 5e5}, lengths[] = {1, 1e200, 1e-200, 3};
  for (int of = 0; of < 4; of++) {
    hits_of_doubles *h = hits_of(heights[of], lengths[of]);
    const slab_double_hits hits = told(h);
    assert_ok(slab_points_from_doubles(&hits, POINTS, h->points));
    for (size_t i = 0; i < POINTS; i++) {
      const double *o = h->origins + 3 * h->rays[i], *p = h->points + 3 * i;
      const double s = i % 2 ? -o[1] : (heights[of] - o[2]) / 0.5; /* lengths of (0.25, 1, 0.5) */
      const double want[] = {o[0] + 0.25 * s, o[1] + s, o[2] + 0.5 * s};
      for (int k = 0; k < 3; k++)
        if (!(fabs(p[k] - want[k]) <= 1e-15 * (fabs(want[k]) + fabs(heights[of]) + 16)))
          fail_msg("height %g, hit %zu: component %d is %.17g, not %.17g", heights[of], i, k, p[k], want[k]);
    }
    assert_true(h->points[3 * POINTS] == 123.0);
    free(h);
  }
}

static void points_from_doubles_on_an_edge_are_those_of_t(void **state) {
  (void)state;
  const double tilts[] = {0, 1e-10, -1e-12, 1e-300}; /* against the plane z = 2 */
  for (int of = 0; of < 4; of++) {
    hits_of_doubles *h = hits_of(2, 1);
    h->triangles[0] = 0, h->rays[0] = 0;
    const double origin[] = {0.5, 0.25, 2}, way[] = {3 + 0x1p-40, 0, tilts[of]}; /* 3 as float */
    memcpy(h->origins, origin, sizeof origin);
    memcpy(h->directions, way, sizeof way);
    h->hits[0].t = 2.5f;
    const slab_double_hits hits = told(h);
    assert_ok(slab_points_from_doubles(&hits, 1, h->points));
    assert_true(h->points[0] == 0.5 + 2.5 / 4 * 3 && h->points[1] == 0.25);
    assert_true(h->points[2] == 2 + 2.5 / 4 * (double)(float)tilts[of]);
    slab_double_hits in_double = hits; /* cast in double: neither t nor the direction was rounded */
    const double t = 2.5 + 0x1p-40;    /* as scaled */
    in_double.t = NULL;
    in_double.t64 = &t;
    assert_ok(slab_points_from_doubles(&in_double, 1, h->points));
    assert_true(h->points[0] == 0.5 + t / 4 * way[0] && h->points[1] == 0.25 && h->points[2] == 2 + t / 4 * tilts[of]);
    free(h);
  }
}

static void points_from_doubles_need_no_indices(void **state) {
  (void)state;
  hits_of_doubles *h = hits_of(3, 1);
  slab_double_hits hits = told(h);
  h->triangles[0] = 0;
  assert_ok(slab_points_from_doubles(&hits, 1, h->points));
  hits.indices = NULL;
  assert_ok(slab_points_from_doubles(&hits, 1, h->points + 3));
  assert_same_bits(h->points, h->points + 3, 3, sizeof *h->points);
  free(h);
}

static void points_from_doubles_that_are_missing_are_named(void **state) {
  (void)state;
  static const struct {
    const char *name;
    size_t at;
  } members[] = {
      {"origins", offsetof(slab_double_hits, origins)},     {"directions", offsetof(slab_double_hits, directions)},
      {"vertices", offsetof(slab_double_hits, vertices)},   {"rays", offsetof(slab_double_hits, rays)},
      {"triangles", offsetof(slab_double_hits, triangles)}, {"t", offsetof(slab_double_hits, t)},
  };
  hits_of_doubles *h = hits_of(3, 1);
  for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
    slab_double_hits hits = told(h);
    char want[64];
    memset((char *)&hits + members[i].at, 0, sizeof(void *));
    snprintf(want, sizeof want, ": %s is NULL", members[i].name);
    assert_status(slab_points_from_doubles(&hits, 1, h->points), SLAB_INVALID_ARGUMENT);
    assert_non_null(strstr(slab_message(), want));
  }
  const slab_double_hits hits = told(h);
  assert_status(slab_points_from_doubles(&hits, 1, NULL), SLAB_INVALID_ARGUMENT);
  assert_non_null(strstr(slab_message(), "points is NULL"));
  assert_status(slab_points_from_doubles(NULL, 1, h->points), SLAB_INVALID_ARGUMENT);
  assert_ok(slab_points_from_doubles(NULL, 0, NULL));
  free(h);
}

static void segment_runs_from_a_to_b(void **state) {
  (void)state;
  const float a[] = {1, -2, 3}, b[] = {4, -2, -5};
  const slab_ray ray = slab_segment(a, b), want = {{1, -2, 3}, 0.0f, {3, 0, -8}, 1.0f};
  float end[3];
  assert_same_bits(&ray, &want, 1, sizeof ray);
  slab_point_at(&ray, 1.0f, end);
  assert_floats(end, b, 3);
}

/* Many at once: as one by one, by several threads, of points that lie apart, and of one point and many. */
static void segments_are_those_of_their_points(void **state) {
  (void)state;
  enum { MOST = 50001 };
  static const size_t counts[] = {0, 1, 2, 16383, 16385, MOST}, strides[] = {0, 12, 16, 40};
  random_state random = harness_seeded(__func__);
  float *from = harness_space(10 * MOST * sizeof *from), *to = harness_space(10 * MOST * sizeof *to);
  slab_ray *got = harness_space((MOST + 1) * sizeof *got);
  for (size_t i = 0; i < 10 * MOST; i++) {
    from[i] = random_between(&random, -100.0f, 100.0f);
    to[i] = i % 97 == 0 ? INFINITY : random_between(&random, -1e-3f, 1e3f);
  }
  for (size_t k = 0; k < sizeof counts / sizeof *counts * 16; k++) {
    const size_t n = counts[k / 16], a = strides[k % 4], b = strides[k / 4 % 4];
    memset(got, 0x5A, (MOST + 1) * sizeof *got);
    assert_ok(slab_segments(from, a, to, b, n, got));
    for (size_t i = 0; i < n; i++) {
      const slab_ray want = slab_segment(from + i * a / sizeof *from, to + i * b / sizeof *to);
      if (memcmp(&got[i], &want, sizeof want) != 0) fail_msg("segment %zu of %zu, strides %zu and %zu", i, n, a, b);
    }
    assert_true(((unsigned char *)&got[n])[0] == 0x5A);
  }
  assert_status(slab_segments(NULL, 0, to, 0, 1, got), SLAB_INVALID_ARGUMENT);
  assert_mentions("from is NULL");
  assert_status(slab_segments(from, 0, NULL, 0, 1, got), SLAB_INVALID_ARGUMENT);
  assert_mentions("to is NULL");
  assert_status(slab_segments(from, 0, to, 0, 1, NULL), SLAB_INVALID_ARGUMENT);
  assert_mentions("rays is NULL");
  assert_ok(slab_segments(NULL, 0, NULL, 0, 0, NULL));
  free(from);
  free(to);
  free(got);
}

static void ray_2d_lies_in_the_plane_z_0(void **state) {
  (void)state;
  const float origin[] = {1.5f, -2}, direction[] = {0.25f, 8};
  const slab_ray ray = slab_ray_2d(origin, direction, -3.0f, INFINITY);
  const slab_ray want = {{1.5f, -2, 0}, -3.0f, {0.25f, 8, 0}, INFINITY};
  assert_same_bits(&ray, &want, 1, sizeof ray);
}

static void box_2d_is_unbounded_in_z(void **state) {
  (void)state;
  const float lower[] = {-1, 2}, upper[] = {3, 4};
  const slab_box box = slab_box_2d(lower, upper), want = {{-1, 2, -INFINITY}, {3, 4, INFINITY}};
  assert_same_bits(&box, &want, 1, sizeof box);
}

static void plane_through_a_point_holds_it(void **state) {
  (void)state;
  const float point[] = {1, 2, 3}, normal[] = {4, -5, 6};
  const slab_plane plane = slab_plane_through(point, normal), want = {{4, -5, 6}, 12.0f}; /* 4 - 10 + 18 */
  assert_same_bits(&plane, &want, 1, sizeof plane);
}

static void obb_takes_its_axes_from_the_columns(void **state) {
  (void)state;
  const float half_size[] = {1, 2, 3};
  const float m[16] = {0, -1, 0, 10, 1, 0, 0, 20,
                       0, 0,  1, 30, 0, 0, 0, 1}; /* a quarter turn about z and a translation */
  const slab_obb box = slab_obb_from_matrix(m, half_size);
  const slab_obb want = {{10, 20, 30}, {1, 2, 3}, {{0, 1, 0}, {-1, 0, 0}, {0, 0, 1}}};
  assert_same_bits(&box, &want, 1, sizeof box);
}

static void obb_tells_every_element_of_the_matrix_apart(void **state) {
  (void)state;
  const float half_size[] = {7, 8, 9};
  float m[16];
  for (int i = 0; i < 16; i++) m[i] = (float)i;
  const slab_obb box = slab_obb_from_matrix(m, half_size);
  const slab_obb want = {{3, 7, 11}, {7, 8, 9}, {{0, 4, 8}, {1, 5, 9}, {2, 6, 10}}};
  assert_same_bits(&box, &want, 1, sizeof box);
}

static void point_at_t_is_origin_and_t_directions(void **state) {
  (void)state;
  const slab_ray ray = {{1, 2, 3}, 0, {2, -4, 0.5f}, INFINITY};
  const float at_start[] = {1, 2, 3}, ahead[] = {6, -8, 4.25f}, behind[] = {-3, 10, 2};
  float point[3];
  slab_point_at(&ray, 0.0f, point);
  assert_floats(point, at_start, 3);
  slab_point_at(&ray, 2.5f, point);
  assert_floats(point, ahead, 3);
  slab_point_at(&ray, -2.0f, point);
  assert_floats(point, behind, 3);
}

/* ---- the camera ---- */

static void camera_axes_span_the_image(void **state) {
  (void)state;
  const float from[] = {1, 2, 3}, to[] = {1, 2, -7}, up[] = {0, 5, 0};
  const slab_camera camera = slab_camera_look_at(from, to, up, 90.0f, 2.0f); /* tan 45 = 1 */
  assert_floats(camera.origin, from, 3);
  assert_near(camera.forward, 0, 0, -1);
  assert_near(camera.right, 2, 0, 0);
  assert_near(camera.up, 0, 1, 0);
}

static void narrow_view_from_the_side(void **state) {
  (void)state;
  const float from[] = {5, 0, 0}, to[] = {0, 0, 0}, up[] = {0, 0, 1};
  const float half = 0.267949192f; /* tan 15 */
  const slab_camera camera = slab_camera_look_at(from, to, up, 30.0f, 1.5f);
  assert_near(camera.forward, -1, 0, 0);
  assert_near(camera.right, 0, 1.5f * half, 0);
  assert_near(camera.up, 0, 0, half);
}

/* An up vector that is not perpendicular to the view is made perpendicular; the view direction stays. */
static void leaning_up_is_made_square(void **state) {
  (void)state;
  const float from[] = {0, 0, 0}, to[] = {0, 3, 0}, up[] = {0, 7, 2};
  const slab_camera camera = slab_camera_look_at(from, to, up, 90.0f, 1.0f);
  assert_near(camera.forward, 0, 1, 0);
  assert_near(camera.right, 1, 0, 0);
  assert_near(camera.up, 0, 0, 1);
}

/* A camera with exact numbers, so that its rays are exact. */
static const slab_camera exact = {{1, 2, 3}, {0, 0, -1}, {2, 0, 0}, {0, 1, 0}};

static void middle_pixel_looks_forward(void **state) {
  (void)state;
  const slab_ray ray = slab_camera_ray(&exact, 1, 1, 3, 3), want = {{1, 2, 3}, 0.0f, {0, 0, -1}, INFINITY};
  for (int i = 0; i < 3; i++) assert_true(ray.direction[i] == want.direction[i] && ray.origin[i] == want.origin[i]);
  assert_true(ray.t_min == 0.0f && ray.t_max == INFINITY);
}

static void pixels_run_right_and_down_through_their_centres(void **state) {
  (void)state;
  const struct {
    uint32_t x, y;
    float dx, dy;
  } cases[] = {{0, 0, -1.5f, 0.5f}, {3, 0, 1.5f, 0.5f}, {0, 1, -1.5f, -0.5f}, {1, 1, -0.5f, -0.5f}, {2, 0, 0.5f, 0.5f}};
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const slab_ray ray = slab_camera_ray(&exact, cases[i].x, cases[i].y, 4, 2);
    assert_true(ray.direction[0] == cases[i].dx && ray.direction[1] == cases[i].dy && ray.direction[2] == -1.0f);
  }
}

static void single_pixel_looks_forward(void **state) {
  (void)state;
  const slab_ray ray = slab_camera_ray(&exact, 0, 0, 1, 1);
  assert_true(ray.direction[0] == 0.0f && ray.direction[1] == 0.0f && ray.direction[2] == -1.0f);
}

/* ---- in use ---- */

typedef struct world {
  slab_context *context;
  slab_scene *scene;
} world;

static world world_of(const slab_box *box, const slab_plane *plane, const slab_obb *obb) {
  world w = {NULL, NULL};
  w.context = harness_context();
  assert_ok(slab_scene_create(w.context, &w.scene));
  if (box != NULL) assert_ok(slab_scene_add_boxes(w.scene, box, 1, NULL, NULL));
  if (plane != NULL) assert_ok(slab_scene_add_planes(w.scene, plane, 1, NULL, NULL));
  if (obb != NULL) assert_ok(slab_scene_add_obbs(w.scene, obb, 1, NULL, NULL));
  assert_ok(slab_scene_commit(w.scene, NULL));
  return w;
}

static void world_end(world *w) {
  slab_scene_destroy(w->scene);
  slab_context_destroy(w->context);
}

static slab_hit closest(const world *w, const slab_ray *ray) {
  slab_hit hit;
  assert_ok(slab_closest(w->scene, ray, 1, &hit, NULL));
  return hit;
}

/* Picking: the ray of the pixel whose centre looks at a box hits it where the camera says. */
static void picked_pixel_meets_the_box(void **state) {
  (void)state;
  const slab_box box = {{12, 5, -6}, {14, 7, -5}}; /* 8 in front of the camera, around 8 times (1.5, 0.5) */
  world w = world_of(&box, NULL, NULL);
  const slab_ray picked = slab_camera_ray(&exact, 3, 0, 4, 2), other = slab_camera_ray(&exact, 2, 0, 4, 2);
  const slab_hit hit = closest(&w, &picked);
  float point[3];
  assert_true(hit.t == 8.0f);
  slab_point_at(&picked, hit.t, point);
  assert_true(point[0] == 13.0f && point[1] == 6.0f && point[2] == -5.0f);
  assert_int_equal(closest(&w, &other).primitive, SLAB_MISS);
  world_end(&w);
}

static void flat_ray_meets_the_rectangle(void **state) {
  (void)state;
  const float lower[] = {2, -1}, upper[] = {4, 1}, origin[] = {0, 0}, ahead[] = {1, 0.25f}, past[] = {1, 1};
  const slab_box box = slab_box_2d(lower, upper);
  world w = world_of(&box, NULL, NULL);
  const slab_ray meets = slab_ray_2d(origin, ahead, 0, INFINITY), misses = slab_ray_2d(origin, past, 0, INFINITY);
  const slab_ray short_of = slab_ray_2d(origin, ahead, 0, 1.5f);
  const slab_hit hit = closest(&w, &meets);
  assert_true(hit.t == 2.0f && hit.normal[0] == -1.0f && hit.u == 0.0f);
  assert_int_equal(closest(&w, &misses).primitive, SLAB_MISS);
  assert_int_equal(closest(&w, &short_of).primitive, SLAB_MISS);
  world_end(&w);
}

static void segment_meets_the_plane_at_its_fraction(void **state) {
  (void)state;
  const float point[] = {7, 7, 2}, normal[] = {0, 0, 4}, a[] = {0, 0, 10}, b[] = {0, 0, -6}, c[] = {0, 0, 3};
  const slab_plane plane = slab_plane_through(point, normal);
  world w = world_of(NULL, &plane, NULL);
  const slab_ray through = slab_segment(a, b), above = slab_segment(a, c);
  const slab_hit hit = closest(&w, &through);
  assert_true(hit.t == 0.5f && hit.normal[2] == 1.0f);
  assert_int_equal(closest(&w, &above).primitive, SLAB_MISS);
  world_end(&w);
}

static void turned_box_is_met_on_its_turned_faces(void **state) {
  (void)state;
  const float m[16] = {0, -1, 0, 10, 1, 0, 0, 20, 0, 0, 1, 30, 0, 0, 0, 1}, half_size[] = {1, 2, 3};
  const slab_obb box = slab_obb_from_matrix(m, half_size);
  world w = world_of(NULL, NULL, &box);
  const slab_ray along_x = {{0, 20, 30}, 0, {1, 0, 0}, INFINITY}, along_y = {{10, 0, 30}, 0, {0, 1, 0}, INFINITY};
  slab_hit hit = closest(&w, &along_x); /* the box's y axis is -x: half size 2 */
  assert_true(hit.t == 8.0f && hit.normal[0] == -1.0f && hit.u == 3.0f);
  hit = closest(&w, &along_y);
  assert_true(hit.t == 19.0f && hit.normal[1] == -1.0f && hit.u == 0.0f);
  world_end(&w);
}

static void matrix_that_scales_is_refused_when_added(void **state) {
  (void)state;
  const float m[16] = {2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1}, half_size[] = {1, 1, 1};
  const slab_obb box = slab_obb_from_matrix(m, half_size);
  slab_context *context = harness_context();
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  assert_status(slab_scene_add_obbs(scene, &box, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(rays_from_doubles_are_moved_and_rounded_once),
      cmocka_unit_test(rays_from_doubles_of_any_length_keep_their_way),
      cmocka_unit_test(rays_from_doubles_that_are_none_are_invalid),
      cmocka_unit_test(many_rays_from_doubles_are_those_of_each),
      cmocka_unit_test(rays_from_doubles_that_are_missing_are_named),
      cmocka_unit_test(floats_from_doubles_are_rounded_where_they_lie),
      cmocka_unit_test(floats_from_doubles_tell_what_float_does_not_hold),
      cmocka_unit_test(floats_from_doubles_that_are_missing_are_named),
      cmocka_unit_test(points_from_doubles_lie_on_plane_and_ray),
      cmocka_unit_test(points_from_doubles_on_an_edge_are_those_of_t),
      cmocka_unit_test(points_from_doubles_need_no_indices),
      cmocka_unit_test(points_from_doubles_that_are_missing_are_named),
      cmocka_unit_test(segment_runs_from_a_to_b),
      cmocka_unit_test(segments_are_those_of_their_points),
      cmocka_unit_test(ray_2d_lies_in_the_plane_z_0),
      cmocka_unit_test(box_2d_is_unbounded_in_z),
      cmocka_unit_test(plane_through_a_point_holds_it),
      cmocka_unit_test(obb_takes_its_axes_from_the_columns),
      cmocka_unit_test(obb_tells_every_element_of_the_matrix_apart),
      cmocka_unit_test(point_at_t_is_origin_and_t_directions),
      cmocka_unit_test(camera_axes_span_the_image),
      cmocka_unit_test(narrow_view_from_the_side),
      cmocka_unit_test(leaning_up_is_made_square),
      cmocka_unit_test(middle_pixel_looks_forward),
      cmocka_unit_test(pixels_run_right_and_down_through_their_centres),
      cmocka_unit_test(single_pixel_looks_forward),
      cmocka_unit_test(picked_pixel_meets_the_box),
      cmocka_unit_test(flat_ray_meets_the_rectangle),
      cmocka_unit_test(segment_meets_the_plane_at_its_fraction),
      cmocka_unit_test(turned_box_is_met_on_its_turned_faces),
      cmocka_unit_test(matrix_that_scales_is_refused_when_added),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
