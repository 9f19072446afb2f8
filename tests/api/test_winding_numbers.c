/* Winding numbers of meshes that are open: by sums of solid angles, in closed form, and whole numbers where nothing is
 * open. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "expect.h"
#include "harness.h"
#include "sets/lattice.h"
#include "sets/points.h"
#include "sets/tetrahedra.h"

enum { POINTS = 256 };

static const slab_tree trees[] = {SLAB_TREE_FLAT, SLAB_TREE_FAST, SLAB_TREE_HIGH};
enum { TREES = sizeof trees / sizeof *trees };

/* ---- asking ---- */

/* Each answer must be right by both references. Returns how many were too close to tell. */
static uint64_t ask(slab_scene *scene, const float *points, size_t n, const slab_point_options *options,
                    float *numbers) {
  slab_check_report report;
  assert_ok(slab_winding_numbers(scene, points, n, numbers, options));
  assert_ok(slab_check_points(scene, SLAB_WINDING_NUMBERS, points, n, numbers, options, &report));
  if (report.mismatches + report.oracle_wrong != 0) fail_msg("%s", report.text);
  harness_count(n);
  return report.oracle_undecided;
}

static float ask_one(slab_scene *scene, float x, float y, float z) {
  const float point[3] = {x, y, z};
  float number;
  ask(scene, point, 1, NULL, &number);
  return number;
}

static slab_scene *of_triangles(slab_context *context, const slab_triangle *triangles, uint32_t n) {
  return expect_scene(context, SLAB_TRIANGLE, triangles, n);
}

static bool is_near(float number, double want) { return fabs((double)number - want) <= 1e-6; }

/* ---- closed meshes ---- */

/* Exactly slab_winding's number, on surfaces too. */
static void closed_meshes_have_whole_numbers(void **state) {
  random_state random = harness_seeded("test_winding_numbers closed");
  for (uint32_t i = 0; i < harness_rays(30); i++) {
    tetrahedra t;
    float points[3 * POINTS], got[POINTS];
    slab_scene *scene = harness_scene(*state);
    tetrahedra_make(&random, (tetrahedra_sort)(i % TETRAHEDRA_SORTS), 1 + random_below(&random, 40), &t);
    for (int k = 0; k < POINTS; k++) tetrahedra_aim(&random, &t, points + 3 * k);
    assert_ok(tetrahedra_add(&t, scene));
    assert_ok(slab_scene_commit(scene, NULL));
    ask(scene, points, POINTS, NULL, got);
    for (int k = 0; k < POINTS; k++)
      assert_true(got[k] == (float)tetrahedra_winding(&t, points + 3 * k, NULL) && !(got[k] == 0 && signbit(got[k])));
    slab_scene_destroy(scene);
  }
}

/* -0 and 0 are one coordinate, and a triangle without area takes part: its edges close a seam. */
static void seams_are_closed(void **state) {
  const slab_triangle closed[4] = {{{-0.0f, 0, 0}, {0, 4, 0}, {4, -0.0f, 0}},
                                   {{0, 0, -0.0f}, {4, 0, 0}, {0, 0, 4}},
                                   {{0, 0, 4}, {0, 4, 0}, {0, -0.0f, 0}},
                                   {{4, 0, 0}, {0, 4, 0}, {0, 0, 4}}};
  static const float here[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  slab_scene *scene = of_triangles(*state, closed, 4), *outer = harness_scene(*state);
  assert_true(ask_one(scene, 1, 1, 1) == 1 && ask_one(scene, 3, 3, 3) == 0);
  assert_ok(slab_scene_add_instances(outer, scene, here, 1, NULL, NULL)); /* an open mesh would be refused there */
  assert_ok(slab_scene_commit(outer, NULL));
  assert_true(ask_one(outer, 1, 1, 1) == 1);
  slab_scene_destroy(outer);
  slab_scene_destroy(scene);
  const slab_triangle split[6] = {closed[0],
                                  closed[1],
                                  closed[2],
                                  {{4, 0, 0}, {2, 2, 0}, {0, 0, 4}},
                                  {{2, 2, 0}, {0, 4, 0}, {0, 0, 4}},
                                  {{4, 0, 0}, {0, 4, 0}, {2, 2, 0}}};
  scene = of_triangles(*state, split, 6);
  assert_true(ask_one(scene, 1, 1, 1) == 1 && ask_one(scene, 3, 3, 3) == 0 && ask_one(scene, 2, 2, -1) == 0);
  slab_scene_destroy(scene);
}

/* ---- open meshes ---- */

/* Van Oosterom's angle of the first, and points under a corner, under an edge and in the plane. */
static void one_triangle_has_its_angle(void **state) {
  const slab_triangle up = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, down = {{0, 0, 1}, {0, 1, 1}, {1, 0, 1}};
  slab_scene *scene = of_triangles(*state, &up, 1), *turned = of_triangles(*state, &down, 1);
  const struct {
    float p[3];
    double want;
  } rows[] = {{{0.5f, 0, 0}, 0.0300335903}, {{0, 0, 0}, 0.0270433562}, {{0, 0, 2}, -0.0270433562}, {{5, 5, 1}, 0.0}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    const float *p = rows[i].p;
    const float number = ask_one(scene, p[0], p[1], p[2]);
    if (!is_near(number, rows[i].want)) fail_msg("row %zu: %.9g, not %.9g", i, (double)number, rows[i].want);
    assert_true(is_near(ask_one(turned, p[0], p[1], p[2]), -rows[i].want));
  }
  assert_true(is_near(ask_one(scene, 0.25f, 0.25f, 1), 0.5)); /* on it: seen from below */
  assert_true(is_near(ask_one(scene, 0.25f, 0.25f, nextafterf(1, 2)), -0.5));
  slab_scene_destroy(scene);
  slab_scene_destroy(turned);
}

/* A cube without one face, towards each side: five sixths in its middle, a half in the middle of the hole. */
static void cubes_without_a_face(void **state) {
  static const int size[3] = {4, 4, 4};
  for (int axis = 0; axis < 3; axis++)
    for (int side = 0; side < 2; side++) {
      lattice_mesh box = {0};
      lattice_box(&box, size);
      uint32_t kept = 0;
      for (uint32_t i = 0; i < box.triangle_count; i++) {
        bool away = true;
        for (int v = 0; v < 3; v++) away = away && box.vertices[box.indices[i][v]][axis] == 4 * side;
        if (!away) memcpy(box.indices[kept++], box.indices[i], sizeof box.indices[i]);
      }
      box.triangle_count = kept;
      slab_scene *scene = harness_scene(*state);
      assert_ok(lattice_add(scene, &box, (const int[3]){0, 0, 0}));
      assert_ok(slab_scene_commit(scene, NULL));
      float middle[3] = {2, 2, 2}, beyond[3] = {2, 2, 2};
      assert_true(is_near(ask_one(scene, 2, 2, 2), 5.0 / 6.0));
      middle[axis] = (float)(4 * side);
      assert_true(is_near(ask_one(scene, middle[0], middle[1], middle[2]), 0.5));
      beyond[axis] = side ? 6.0f : -2.0f;
      assert_true(is_near(ask_one(scene, beyond[0], beyond[1], beyond[2]), 1.0 / 6.0));
      slab_scene_destroy(scene);
    }
}

/* A disc of many edges, seen from its axis: (1 - z / sqrt(r^2 + z^2)) / 2. Its boundary is one long loop. */
static void discs_have_their_angle(void **state) {
  enum { EDGES = 20000 };
  float *vertices = harness_space((EDGES + 1) * 3 * sizeof *vertices);
  uint32_t *indices = harness_space((size_t)EDGES * 3 * sizeof *indices);
  for (uint32_t i = 0; i < EDGES; i++) {
    const double a = 2.0 * 3.14159265358979323846 * i / EDGES;
    const float at[3] = {(float)cos(a), (float)sin(a), 0.0f};
    const uint32_t corners[3] = {EDGES, i, (i + 1) % EDGES};
    memcpy(vertices + 3 * (size_t)i, at, sizeof at);
    memcpy(indices + 3 * (size_t)i, corners, sizeof corners);
  }
  memset(vertices + 3 * (size_t)EDGES, 0, 3 * sizeof *vertices);
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_add_mesh(scene, &(slab_mesh){vertices, 0, EDGES + 1, indices, EDGES, NULL}, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  for (int k = -6; k <= 6; k++) {
    const double z = ldexp(1.0, k);
    const double want = 0.5 * (1.0 - z / sqrt(1.0 + z * z));
    assert_true(fabs((double)ask_one(scene, 0, 0, -(float)z) - want) < 2e-6);
    assert_true(fabs((double)ask_one(scene, 0, 0, (float)z) + want) < 2e-6);
  }
  slab_scene_destroy(scene);
  free(vertices);
  free(indices);
}

/* ---- at random ---- */

/* Tetrahedra without some faces. Open edges are everywhere, and points are aimed at them. The last two faces are there
 * together or not: tetrahedra_turn exchanges them where it mirrors. */
static uint32_t open_mesh(random_state *random, const tetrahedra *t, uint32_t indices[TETRAHEDRA_MOST * 12]) {
  static const uint32_t faces[4][3] = {{0, 2, 1}, {0, 1, 3}, {1, 2, 3}, {2, 0, 3}};
  uint32_t n = 0;
  for (uint32_t i = 0; i < t->count; i++) {
    bool is_there = true;
    for (int f = 0; f < 4; f++) {
      if (f < 3) is_there = random_below(random, 4) != 0;
      for (int k = 0; k < 3 && is_there; k++) indices[3 * n + (uint32_t)k] = 4 * i + faces[f][k];
      n += is_there;
    }
  }
  return n;
}

static slab_scene *of_faces(slab_context *context, const tetrahedra *t, const uint32_t *indices, uint32_t n,
                            slab_tree tree) {
  const slab_mesh mesh = {&t->corners[0][0][0], 0, 4 * t->count, indices, n, NULL};
  slab_scene *scene = harness_scene(context);
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  return scene;
}

static void open_tetrahedra_are_judged(void **state) {
  random_state random = harness_seeded("test_winding_numbers open");
  uint64_t asked = 0, undecided = 0;
  for (uint32_t i = 0; i < harness_rays(60); i++) {
    tetrahedra t;
    uint32_t indices[TETRAHEDRA_MOST * 12];
    float points[3 * POINTS], first[POINTS], got[POINTS];
    tetrahedra_make(&random, (tetrahedra_sort)(i % TETRAHEDRA_SORTS), 1 + random_below(&random, 40), &t);
    for (int k = 0; k < POINTS; k++) {
      tetrahedra_aim(&random, &t, points + 3 * k);
      if (k % 2 == 0) points[3 * k + 2] -= 0.5f; /* below edges and corners */
    }
    const uint32_t n = open_mesh(&random, &t, indices);
    for (int tree = 0; tree < TREES; tree++) {
      slab_scene *scene = of_faces(*state, &t, indices, n, trees[tree]);
      undecided += ask(scene, points, POINTS, NULL, tree == 0 ? first : got);
      if (tree > 0) assert_same_bits(got, first, POINTS, sizeof *got);
      slab_scene_destroy(scene);
    }
    asked += (uint64_t)POINTS * TREES;
  }
  assert_true(undecided < asked / 2);
}

/* Axes that are exchanged and turned round are another direction of the ray. */
static void no_direction_changes_a_number(void **state) {
  random_state random = harness_seeded("test_winding_numbers directions");
  uint32_t compared = 0;
  for (uint32_t sort = 0; sort < TETRAHEDRA_SORTS; sort++) {
    tetrahedra t;
    uint32_t indices[TETRAHEDRA_MOST * 12];
    float points[3 * POINTS], first[POINTS], got[POINTS], moved[3 * POINTS];
    tetrahedra_make(&random, (tetrahedra_sort)sort, 8, &t);
    const uint32_t n = open_mesh(&random, &t, indices);
    for (int k = 0; k < 3 * POINTS; k++) points[k] = random_between(&random, -2.0f, 2.0f);
    slab_scene *scene = of_faces(*state, &t, indices, n, SLAB_TREE_DEFAULT);
    ask(scene, points, POINTS, NULL, first);
    slab_scene_destroy(scene);
    for (uint32_t way = 1; way < 48; way += harness_asks_all() ? 1 : 5) {
      tetrahedra turned = t;
      memcpy(moved, points, sizeof moved);
      tetrahedra_turn(way, &turned, moved, POINTS);
      scene = of_faces(*state, &turned, indices, n, SLAB_TREE_DEFAULT);
      ask(scene, moved, POINTS, NULL, got);
      for (int k = 0; k < POINTS; k++) assert_true(fabsf(got[k] - first[k]) < 1e-5f);
      compared += POINTS;
      slab_scene_destroy(scene);
    }
  }
  assert_true(compared > 1000);
}

/* Triangles each for itself, so that all edges are open, near and far: chains, loops and groups of them. */
static void soups_are_judged(void **state) {
  enum { MOST = 4000 };
  random_state random = harness_seeded("test_winding_numbers soups");
  slab_triangle *soup = harness_space(MOST * sizeof *soup);
  for (uint32_t round = 0; round < harness_rays(6); round++) {
    const uint32_t n = 1 + random_below(&random, MOST);
    const float size = ldexpf(1.0f, -(int)random_below(&random, 8));
    float points[3 * POINTS], got[POINTS];
    for (uint32_t i = 0; i < n; i++) {
      float middle[3];
      for (int k = 0; k < 3; k++) middle[k] = random_between(&random, -1, 1);
      float *corners = (float *)&soup[i];
      for (int k = 0; k < 9; k++) corners[k] = middle[k % 3] + size * random_between(&random, -1, 1);
    }
    for (int k = 0; k < POINTS; k++)
      for (int a = 0; a < 3; a++) points[3 * k + a] = random_between(&random, -1, 1) * (k % 4 == 0 ? 8.0f : 1.0f);
    slab_scene *scene = of_triangles(*state, soup, n);
    ask(scene, points, POINTS, NULL, got);
    slab_scene_destroy(scene);
  }
  free(soup);
}

/* A rolling ground with holes of many sizes: long loops, of which parts are near and the rest is far. */
static void grounds_with_holes_are_judged(void **state) {
  enum { SIDE = 80 };
  random_state random = harness_seeded("test_winding_numbers grounds");
  float *vertices = harness_space(SIDE * SIDE * 3 * sizeof *vertices);
  uint32_t *indices = harness_space(SIDE * SIDE * 6 * sizeof *indices);
  for (uint32_t round = 0; round < harness_rays(4); round++) {
    float points[3 * POINTS], got[POINTS], holes[8][3];
    uint32_t n = 0;
    for (int h = 0; h < 8; h++) {
      for (int a = 0; a < 2; a++) holes[h][a] = random_between(&random, 0, SIDE);
      holes[h][2] = random_between(&random, 1, 12);
    }
    for (uint32_t i = 0; i < SIDE * SIDE; i++) {
      const float x = (float)(i % SIDE), y = (float)(i / SIDE);
      const float at[3] = {x, y, 4.0f * sinf(0.1f * x) * cosf(0.2f * y)};
      memcpy(vertices + 3 * (size_t)i, at, sizeof at);
    }
    for (uint32_t y = 0; y + 1 < SIDE; y++)
      for (uint32_t x = 0; x + 1 < SIDE; x++) {
        bool is_hole = false;
        for (int h = 0; h < 8; h++)
          is_hole = is_hole || hypotf((float)x - holes[h][0], (float)y - holes[h][1]) < holes[h][2];
        if (is_hole) continue;
        const uint32_t a = y * SIDE + x, quad[6] = {a, a + 1, a + SIDE, a + 1, a + SIDE + 1, a + SIDE};
        memcpy(indices + n, quad, sizeof quad);
        n += 6;
      }
    for (int k = 0; k < POINTS; k++) {
      points[3 * k] = random_between(&random, -20, SIDE + 20);
      points[3 * k + 1] = random_between(&random, -20, SIDE + 20);
      points[3 * k + 2] = random_between(&random, -10, 10) * (k % 3 == 0 ? 0.1f : 1.0f);
    }
    slab_scene *scene = harness_scene(*state);
    assert_ok(slab_scene_add_mesh(scene, &(slab_mesh){vertices, 0, SIDE * SIDE, indices, n / 3, NULL}, NULL, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    ask(scene, points, POINTS, NULL, got);
    slab_scene_destroy(scene);
  }
  free(vertices);
  free(indices);
}

/* So many that they are taken in an order of their own. */
static void many_points_keep_their_places(void **state) {
  enum { MANY = 6000 };
  random_state random = harness_seeded("test_winding_numbers many");
  static float points[3 * MANY], all[MANY], some[MANY];
  slab_triangle fan[40];
  for (int i = 0; i < 40; i++) {
    float *corners = (float *)&fan[i];
    for (int k = 0; k < 9; k++) corners[k] = random_between(&random, -1, 1);
  }
  for (int k = 0; k < 3 * MANY; k++) points[k] = random_between(&random, -2, 2);
  slab_scene *scene = of_triangles(*state, fan, 40);
  assert_ok(slab_winding_numbers(scene, points, MANY, all, NULL));
  for (int k = 0; k < MANY; k += POINTS) {
    const size_t n = MANY - k < POINTS ? (size_t)(MANY - k) : POINTS;
    assert_ok(slab_winding_numbers(scene, points + 3 * k, n, some + k, NULL));
  }
  assert_same_bits(all, some, MANY, sizeof *all);
  slab_scene_destroy(scene);
}

/* ---- several surfaces ---- */

/* An edge counts as often as its directions differ: three triangles at one, and a triangle twice. */
static void edges_count_as_often_as_they_differ(void **state) {
  const slab_triangle fins[5] = {{{0, 0, 0}, {0, 0, 4}, {4, 0, 0}},
                                 {{0, 0, 0}, {0, 0, 4}, {0, 4, 0}},
                                 {{0, 0, 4}, {0, 0, 0}, {-4, 0, 1}},
                                 {{1, 1, 3}, {3, 1, 3}, {1, 3, 3}},
                                 {{1, 1, 3}, {3, 1, 3}, {1, 3, 3}}};
  slab_scene *all = of_triangles(*state, fins, 5);
  slab_scene *each[5];
  for (int i = 0; i < 5; i++) each[i] = of_triangles(*state, &fins[i], 1);
  random_state random = harness_seeded("test_winding_numbers fins");
  for (int k = 0; k < POINTS; k++) {
    float p[3], sum = 0;
    for (int a = 0; a < 3; a++) p[a] = random_between(&random, -5, 5);
    for (int i = 0; i < 5; i++) sum += ask_one(each[i], p[0], p[1], p[2]);
    assert_true(fabsf(ask_one(all, p[0], p[1], p[2]) - sum) < 4e-6f);
  }
  for (int i = 0; i < 5; i++) slab_scene_destroy(each[i]);
  slab_scene_destroy(all);
}

/* Two halves of a box, a geometry each: both are open, and their edges cancel but for rounding. */
static void halves_make_a_whole(void **state) {
  static const int size[3] = {4, 4, 4};
  lattice_mesh box = {0}, half[2];
  lattice_box(&box, size);
  slab_scene *scene = harness_scene(*state);
  for (int h = 0; h < 2; h++) {
    half[h] = box;
    half[h].triangle_count = box.triangle_count / 2;
    if (h == 1)
      memcpy(half[h].indices, box.indices[box.triangle_count / 2], sizeof box.indices[0] * half[h].triangle_count);
    assert_ok(lattice_add(scene, &half[h], (const int[3]){0, 0, 0}));
  }
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(is_near(ask_one(scene, 1, 2, 3), 1) && is_near(ask_one(scene, 9, 2, 3), 0));
  assert_ok(slab_scene_enable(scene, 1, 0)); /* its half of the boundary goes with it */
  assert_ok(slab_scene_commit(scene, NULL));
  const float one = ask_one(scene, 1, 2, 3);
  assert_true(one > 0.1f && one < 0.9f);
  slab_scene_destroy(scene);
}

static void masks_hide_edges_too(void **state) {
  const slab_triangle up = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, high = {{0, 0, 2}, {1, 0, 2}, {0, 1, 2}};
  const float points[12] = {0};
  const uint32_t masks[4] = {1, 2, 3, 4};
  float both[4], one;
  slab_scene *scene = harness_scene(*state);
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, &up, 1, &(slab_geometry_options){.mask = 1}, NULL));
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, &high, 1, &(slab_geometry_options){.mask = 2}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  ask(scene, points, 4, &(slab_point_options){.masks = masks}, both);
  assert_true(is_near(both[0], 0.0270433562) && both[1] > 0.001f && both[1] < both[0] && both[3] == 0);
  assert_true(fabsf(both[2] - both[0] - both[1]) < 1e-6f);
  ask(scene, points, 1, &(slab_point_options){.mask = 2}, &one);
  assert_true(one == both[1]);
  slab_scene_destroy(scene);
}

static void worlds_hide_edges_too(void **state) {
  const slab_triangle up = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, high = {{0, 0, 2}, {1, 0, 2}, {0, 1, 2}};
  const float points[12] = {0};
  const uint32_t worlds[4] = {1, 2, 0, 3};
  float numbers[4];
  slab_scene *scene = harness_scene(*state);
  assert_ok(slab_scene_set_worlds(scene, 3));
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, &up, 1, &(slab_geometry_options){.world = 1}, NULL));
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, &high, 1, &(slab_geometry_options){.world = 2}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  ask(scene, points, 4, &(slab_point_options){.worlds = worlds}, numbers);
  assert_true(is_near(numbers[0], 0.0270433562) && numbers[1] > 0.001f && numbers[1] < numbers[0]);
  assert_true(numbers[2] == 0 && numbers[3] == 0);
  slab_scene_destroy(scene);
}

/* ---- instances, changes, packs ---- */

static void instances_of_closed_models_alone(void **state) {
  static const float places[2 * 12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 9, 0, 1, 0, 0, 0, 0, 2, 0};
  static const int size[3] = {2, 2, 2};
  const slab_triangle up = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const float point[3] = {0};
  float number;
  lattice_mesh box = {0};
  lattice_box(&box, size);
  memcpy(box.indices[box.triangle_count++], (const uint32_t[3]){0, 0, 1}, sizeof box.indices[0]); /* it opens nothing */
  slab_scene *model = harness_scene(*state), *scene = harness_scene(*state), *outer = harness_scene(*state);
  assert_ok(lattice_add(model, &box, (const int[3]){0, 0, 0}));
  assert_ok(shape_add_array(model, SLAB_TRIANGLE, &up, 1, NULL, NULL));
  assert_ok(slab_scene_enable(model, 1, 0)); /* a disabled geometry opens nothing */
  assert_ok(slab_scene_commit(model, NULL));
  assert_ok(slab_scene_add_instances(scene, model, places, 2, NULL, NULL));
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, &up, 1, NULL, NULL)); /* open, beside them */
  assert_ok(slab_scene_commit(scene, NULL));
  slab_scene *alone = of_triangles(*state, &up, 1);
  assert_true(is_near(ask_one(scene, 1, 1, 0.5f), 1.0 + (double)ask_one(alone, 1, 1, 0.5f)));
  assert_true(is_near(ask_one(scene, 10, 1, 3), 1.0 + (double)ask_one(alone, 10, 1, 3)));
  slab_scene_destroy(alone);
  assert_ok(slab_scene_add_instances(outer, model, places, 1, NULL, NULL));
  assert_ok(slab_scene_commit(outer, NULL));
  assert_true(ask_one(outer, 1, 1, 1) == 1 && ask_one(outer, 3, 1, 1) == 0);
  slab_scene_destroy(outer);
  outer = harness_scene(*state);
  assert_ok(slab_scene_add_instances(outer, scene, places, 1, NULL, NULL));
  assert_ok(slab_scene_commit(outer, NULL));
  assert_status(slab_winding_numbers(outer, point, 1, &number, NULL), SLAB_UNSUPPORTED);
  assert_mentions("slab_winding_numbers: geometry 0 is of an instance whose model has an open mesh");
  slab_check_report report;
  assert_status(slab_check_points(outer, SLAB_WINDING_NUMBERS, point, 1, &number, NULL, &report), SLAB_UNSUPPORTED);
  slab_scene_destroy(outer);
  outer = harness_scene(*state); /* one deeper */
  slab_scene *middle = harness_scene(*state);
  assert_ok(slab_scene_add_instances(middle, scene, places, 1, NULL, NULL));
  assert_ok(slab_scene_commit(middle, NULL));
  assert_ok(slab_scene_add_instances(outer, middle, places, 1, NULL, NULL));
  assert_ok(slab_scene_commit(outer, NULL));
  assert_status(slab_winding_numbers(outer, point, 1, &number, NULL), SLAB_UNSUPPORTED);
  assert_ok(slab_scene_enable(outer, 0, 0)); /* hidden ones do not matter */
  assert_ok(slab_scene_commit(outer, NULL));
  assert_true(ask_one(outer, 0, 0, 0) == 0);
  slab_scene_destroy(outer);
  slab_scene_destroy(middle);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
}

static void packed_and_updated_scenes_have_their_own(void **state) {
  const slab_triangle up = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}}, high = {{0, 0, 2}, {1, 0, 2}, {0, 1, 2}};
  size_t bytes = 0;
  slab_scene *scene = of_triangles(*state, &up, 1), *copy = NULL;
  const float before = ask_one(scene, 0, 0, 0);
  assert_ok(slab_scene_pack(scene, NULL, 0, &bytes));
  void *packed = harness_space(bytes);
  assert_ok(slab_scene_pack(scene, packed, bytes, &bytes));
  assert_ok(slab_scene_unpack(*state, packed, bytes, &copy));
  assert_true(ask_one(copy, 0, 0, 0) == before);
  assert_ok(slab_scene_update_mesh(scene, 0, &(slab_mesh){(const float *)&high, 0, 3, NULL, 1, NULL}));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_true(ask_one(scene, 0, 0, 0) < 0.5f * before);
  free(packed);
  slab_scene_destroy(copy);
  slab_scene_destroy(scene);
}

/* ---- dropped, invalid or wrong ---- */

/* Its edges are gone as its face is. */
static void dropped_triangles_leave_a_hole(void **state) {
  slab_triangle four[4] = {{{0, 0, 0}, {0, 4, 0}, {4, 0, 0}},
                           {{0, 0, 0}, {4, 0, 0}, {0, 0, 4}},
                           {{0, 0, 4}, {0, 4, 0}, {0, 0, 0}},
                           {{4, 0, 0}, {0, 4, 0}, {NAN, 0, 4}}};
  slab_scene *scene = harness_scene(*state), *three = of_triangles(*state, four, 3);
  assert_ok(shape_add_array(scene, SLAB_TRIANGLE, four, 4, &(slab_geometry_options){.skip_invalid = 1}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  const float number = ask_one(scene, 1, 1, 1);
  assert_true(number > 0.3f && number < 0.9f && number == ask_one(three, 1, 1, 1));
  slab_scene_destroy(scene);
  slab_scene_destroy(three);
}

static void invalid_points_and_radii(void **state) {
  const slab_triangle up = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const float points[4 * 3] = {NAN, 0, 0, 0, 0x1.000002p60f, 0, 0, 0, -0x1p60f, 0, 0, INFINITY}, radii[4] = {1};
  float got[4];
  uint64_t invalid = 9;
  slab_scene *scene = of_triangles(*state, &up, 1), *none = harness_scene(*state);
  ask(scene, points, 4, &(slab_point_options){.invalid = &invalid}, got);
  assert_true(invalid == 3 && got[0] == 0 && got[1] == 0 && fabsf(got[2]) < 1e-6f && got[3] == 0);
  assert_status(slab_winding_numbers(scene, points, 1, got, &(slab_point_options){.radii = radii}),
                SLAB_INVALID_ARGUMENT);
  assert_mentions("slab_winding_numbers: radii are given");
  assert_status(slab_winding_numbers(none, points, 1, got, NULL), SLAB_INVALID_STATE);
  assert_ok(slab_scene_commit(none, NULL));
  assert_true(ask_one(none, 0, 0, 0) == 0);
  slab_scene_destroy(none);
  slab_scene_destroy(scene);
}

static void wrong_numbers_are_seen(void **state) {
  const slab_triangle up = {{0, 0, 1}, {1, 0, 1}, {0, 1, 1}};
  const float points[6] = {0, 0, 0, 0.25f, 0.25f, 0.5f};
  float got[2];
  slab_check_report report;
  slab_scene *scene = of_triangles(*state, &up, 1);
  ask(scene, points, 2, NULL, got);
  got[1] += 2e-5f;
  assert_ok(slab_check_points(scene, SLAB_WINDING_NUMBERS, points, 2, got, NULL, &report));
  assert_true(report.mismatches == 1 && report.oracle_wrong == 1 && report.first == 1);
  assert_non_null(strstr(report.text, "point 1: winding number is"));
  got[1] = NAN;
  assert_ok(slab_check_points(scene, SLAB_WINDING_NUMBERS, points, 2, got, NULL, &report));
  assert_true(report.oracle_wrong == 1);
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(closed_meshes_have_whole_numbers),
      cmocka_unit_test(seams_are_closed),
      cmocka_unit_test(one_triangle_has_its_angle),
      cmocka_unit_test(cubes_without_a_face),
      cmocka_unit_test(discs_have_their_angle),
      cmocka_unit_test(open_tetrahedra_are_judged),
      cmocka_unit_test(no_direction_changes_a_number),
      cmocka_unit_test(soups_are_judged),
      cmocka_unit_test(grounds_with_holes_are_judged),
      cmocka_unit_test(many_points_keep_their_places),
      cmocka_unit_test(edges_count_as_often_as_they_differ),
      cmocka_unit_test(halves_make_a_whole),
      cmocka_unit_test(masks_hide_edges_too),
      cmocka_unit_test(worlds_hide_edges_too),
      cmocka_unit_test(instances_of_closed_models_alone),
      cmocka_unit_test(packed_and_updated_scenes_have_their_own),
      cmocka_unit_test(dropped_triangles_leave_a_hole),
      cmocka_unit_test(invalid_points_and_radii),
      cmocka_unit_test(wrong_numbers_are_seen),
  };
  return cmocka_run_group_tests_name("test_winding_numbers", tests, expect_setup, expect_teardown);
}
