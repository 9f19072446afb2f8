/* Ranges of primitives that change. A commit of these alone writes the same bits as a refit of all, in two snapshots
 * that take turns. Trees are mended, and built anew only where that does not help. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "harness.h"
/* cmocka has a macro fail(). */
#undef fail
#include "layout/layout.h"
#include "layout/places.h"
#include "scene/scene.h"
#include "sets/shapes.h"

enum { SHAPES_OF_SCENE = 3000, FRAMES = 30, RAYS = 400, SIDE = 40, VERTICES = SIDE * SIDE };

static const slab_build_options automatic = {.tree = SLAB_TREE_FAST},
                                refit = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT};

static snapshot *snapshot_of(const slab_scene *scene) { return atomic_load(&scene->committed); }

/* ---- shapes ---- */

static void make_shape(random_state *random, slab_shape kind, float *shape) {
  const slab_obb obb = {{0, 0, 0}, {0.3f, 0.2f, 0.1f}, {{0.6f, 0.8f, 0}, {-0.8f, 0.6f, 0}, {0, 0, 1}}};
  float place[3];
  for (int k = 0; k < 3; k++) place[k] = random_between(random, -20, 20);
  if (kind == SLAB_OBB) memcpy(shape, &obb, sizeof obb);
  if (kind == SLAB_SPHERE) shape[3] = random_between(random, 0.1f, 0.4f);
  if (kind == SLAB_PLANE) place[0] += 30;
  memcpy(shape, place, sizeof place);
  if (kind == SLAB_PLANE) shape[3] = random_between(random, -90, 90);
  for (int k = 0; kind == SLAB_BOX && k < 3; k++) shape[3 + k] = place[k] + random_between(random, 0.1f, 0.5f);
  for (int k = 0; kind == SLAB_TRIANGLE && k < 6; k++)
    shape[3 + k] = place[k % 3] + random_between(random, -0.4f, 0.4f);
}

typedef struct scene_of_kind {
  slab_shape kind;
  uint32_t count;
  float *shapes;
  slab_scene *scene;
} scene_of_kind;

static scene_of_kind begin(slab_shape kind, uint32_t count, random_state *random) {
  scene_of_kind s = {kind, count, calloc(count, SHAPE_FLOATS_MOST * sizeof(float)),
                     harness_scene(harness_shared(SLAB_LAYOUT_WIDE))};
  assert_non_null(s.shapes);
  for (uint32_t i = 0; i < count; i++) make_shape(random, kind, s.shapes + i * shape_floats(kind));
  assert_ok(shape_add(s.scene, kind, s.shapes, count, NULL));
  assert_ok(slab_scene_commit(s.scene, &automatic));
  assert_ok(shape_update_array(s.scene, 0, kind, s.shapes, count)); /* a refit's bounds of triangles are larger */
  assert_ok(slab_scene_commit(s.scene, &refit));
  return s;
}

static void end(scene_of_kind *s) {
  slab_scene_destroy(s->scene);
  free(s->shapes);
}

/* Moves some shapes that follow each other: a little, or anywhere. */
static void move_some(scene_of_kind *s, random_state *random, bool far) {
  const size_t floats = shape_floats(s->kind);
  const uint32_t first = random_below(random, s->count), most = s->count - first;
  const uint32_t count = 1 + random_below(random, most < 5 ? most : 5);
  for (uint32_t i = first; i < first + count; i++) {
    float *shape = s->shapes + i * floats;
    const float by = random_between(random, -0.1f, 0.1f);
    if (far) make_shape(random, s->kind, shape);
    for (size_t f = 0; f < floats && !far; f++)
      for (size_t k = 0; k < 3; k++)
        if (f >= k && shape_points(s->kind) >> (f - k) & 1) shape[f] += by;
  }
  assert_ok(shape_update_some(s->scene, 0, s->kind, first, s->shapes + first * floats, count));
}

/* ---- answers ---- */

/* All queries of rays that start at shapes, and closest points, are those of a scene that was made anew. */
static void assert_as_anew(slab_scene *scene, slab_scene *anew, random_state *random) {
  slab_ray rays[RAYS];
  slab_closest_point nearest[2][RAYS];
  float points[RAYS][3];
  slab_hit hits[2][RAYS];
  slab_interval inside[2][RAYS];
  uint32_t counts[2][RAYS];
  for (int i = 0; i < RAYS; i++) {
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = points[i][k] = random_between(random, -22, 22);
      rays[i].direction[k] = random_between(random, -1, 1);
    }
  }
  slab_scene *const both[2] = {scene, anew};
  for (int i = 0; i < 2; i++) {
    assert_ok(slab_closest(both[i], rays, RAYS, hits[i], NULL));
    assert_ok(slab_count(both[i], rays, RAYS, counts[i], NULL));
    assert_ok(slab_interval_of(both[i], rays, RAYS, inside[i], NULL));
    assert_ok(slab_closest_points(both[i], points[0], RAYS, nearest[i], NULL));
  }
  assert_memory_equal(hits[0], hits[1], sizeof hits[0]);
  assert_memory_equal(counts[0], counts[1], sizeof counts[0]);
  assert_memory_equal(inside[0], inside[1], sizeof inside[0]);
  assert_memory_equal(nearest[0], nearest[1], sizeof nearest[0]);
  slab_scene_stats stats[2];
  for (int i = 0; i < 2; i++) assert_ok(slab_scene_info(both[i], &stats[i]));
  assert_memory_equal(stats[0].lower, stats[1].lower, sizeof stats[0].lower);
  assert_memory_equal(stats[0].upper, stats[1].upper, sizeof stats[0].upper);
  harness_count(4 * RAYS);
}

static void assert_shapes_as_anew(const scene_of_kind *s, random_state *random) {
  slab_scene *anew = harness_scene(harness_shared(SLAB_LAYOUT_WIDE));
  assert_ok(shape_add(anew, s->kind, s->shapes, s->count, NULL));
  assert_ok(slab_scene_commit(anew, NULL));
  assert_as_anew(s->scene, anew, random);
  slab_scene_destroy(anew);
}

/* ---- a refit of all ---- */

static void assert_floats_equal(const void *a, const void *b, size_t bytes) {
  const float *x = a, *y = b;
  size_t i = 0;
  while (i < bytes / sizeof *x && (x[i] == y[i] || memcmp(&x[i], &y[i], sizeof *x) == 0)) i++;
  if (i < bytes / sizeof *x) print_error("float %zu is %g, not %g\n", i, (double)x[i], (double)y[i]);
  assert_int_equal(i, bytes / sizeof *x);
}

static void assert_as_refitted(const slab_scene *scene) {
  const snapshot *s = snapshot_of(scene);
  bvh_layout all = {0};
  bool holds = false;
  assert_non_null(s->places); /* it was written in part */
  assert_ok(bvh_layout_refit(s, s, &all, &holds));
  assert_true(holds);
  assert_floats_equal(s->bvh.nodes, all.nodes, all.node_bytes);
  assert_floats_equal(s->bvh.blocks, all.blocks, all.floats * sizeof *all.blocks);
  assert_true(fabs(s->bvh.sah_cost - all.sah_cost) <= 1e-4 * all.sah_cost);
  layout_free_arrays(&all);
}

static void kinds_move(bool far) {
  random_state random = harness_seeded(__func__);
  for (int kind = 0; kind < SHAPE_KINDS; kind++) {
    scene_of_kind s = begin((slab_shape)kind, kind == SLAB_PLANE ? 40 : SHAPES_OF_SCENE, &random);
    for (int frame = 0; frame < FRAMES; frame++) {
      for (int i = 0; i < 1 + frame % 4; i++) move_some(&s, &random, far);
      assert_ok(slab_scene_commit(s.scene, &refit));
      assert_as_refitted(s.scene);
      if (frame % 5 == 4) assert_shapes_as_anew(&s, &random);
    }
    end(&s);
  }
}

static void moves_write_what_a_refit_writes(void **state) {
  (void)state;
  kinds_move(false);
}

static void far_moves_write_what_a_refit_writes(void **state) {
  (void)state;
  kinds_move(true);
}

/* ---- meshes ---- */

typedef struct grid {
  float vertices[VERTICES][3];
  uint32_t indices[6 * (SIDE - 1) * (SIDE - 1)];
} grid;

/* A wavy sheet. */
static void make_grid(grid *g) {
  uint32_t *to = g->indices;
  for (uint32_t i = 0; i < VERTICES; i++) {
    const float x = (float)(i % SIDE) - 20, y = (float)(i / SIDE) - 20;
    memcpy(g->vertices[i], (float[3]){x, y, sinf(0.5f * x) + cosf(0.3f * y)}, sizeof g->vertices[i]);
  }
  for (uint32_t i = 0; i < VERTICES; i++) {
    if (i % SIDE == SIDE - 1 || i / SIDE == SIDE - 1) continue;
    const uint32_t two[6] = {i, i + 1, i + SIDE, i + SIDE, i + 1, i + SIDE + 1};
    memcpy(to, two, sizeof two);
    to += 6;
  }
}

/* unused: of the vertices at the end no triangle has any. */
static void sheets_move(uint32_t unused) {
  random_state random = harness_seeded(__func__);
  static grid g;
  make_grid(&g);
  slab_mesh mesh = {g.vertices[0], 0, VERTICES, g.indices, sizeof g.indices / sizeof *g.indices / 3, NULL};
  if (unused > 0) mesh.triangle_count -= 2 * SIDE;
  slab_scene *scene = harness_scene(harness_shared(SLAB_LAYOUT_WIDE));
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &automatic));
  assert_ok(slab_scene_update_mesh(scene, 0, &mesh));
  assert_ok(slab_scene_commit(scene, &refit));
  for (int frame = 0; frame < FRAMES; frame++) {
    const uint32_t count = 1 + random_below(&random, 4), first = random_below(&random, VERTICES - count);
    for (uint32_t i = first; i < first + count; i++) g.vertices[i][2] += random_between(&random, -1, 1);
    if (frame == 7) memcpy(g.vertices[first], g.vertices[first + 1], sizeof g.vertices[0]); /* triangles collapse */
    assert_ok(slab_scene_update_some_vertices(scene, 0, first, g.vertices[first], count));
    assert_ok(slab_scene_commit(scene, &refit));
    if (frame < 7) assert_as_refitted(scene);
    if (frame % 5 != 4 && frame != 7) continue;
    slab_scene *anew = harness_scene(harness_shared(SLAB_LAYOUT_WIDE));
    assert_ok(slab_scene_add_mesh(anew, &mesh, NULL, NULL));
    assert_ok(slab_scene_commit(anew, NULL));
    assert_as_anew(scene, anew, &random);
    slab_scene_destroy(anew);
  }
  slab_scene_destroy(scene);
}

static void vertices_move(void **state) {
  (void)state;
  sheets_move(0);
  sheets_move(1);
}

/* ---- two snapshots ---- */

static void two_snapshots_take_turns(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  scene_of_kind s = begin(SLAB_BOX, SHAPES_OF_SCENE, &random);
  const snapshot *turns[2] = {NULL, NULL};
  const geometry_values *values[2] = {NULL, NULL};
  uint32_t space = 0;
  for (int frame = 0; frame < FRAMES; frame++) {
    move_some(&s, &random, false);
    assert_ok(slab_scene_commit(s.scene, &automatic));
    if (frame >= 4) {
      assert_ptr_equal(snapshot_of(s.scene), turns[frame % 2]);
      assert_ptr_equal(snapshot_of(s.scene)->values[0], values[frame % 2]);
      assert_int_equal(s.scene->moves.space, space);
      assert_true(s.scene->moves.count <= 2); /* of two commits */
    }
    turns[frame % 2] = snapshot_of(s.scene);
    values[frame % 2] = snapshot_of(s.scene)->values[0];
    space = s.scene->moves.space;
  }
  end(&s);
}

/* A cast that is in flight has what it began with; when it ends, its snapshot follows. */
static void what_is_read_stays(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  scene_of_kind s = begin(SLAB_BOX, SHAPES_OF_SCENE, &random);
  for (int round = 0; round < 4; round++) {
    scene_reading reading;
    assert_ok(scene_enter(s.scene, "test", &reading));
    const bvh_layout *t = &reading.scene->bvh;
    void *nodes = harness_space(t->node_bytes);
    float *blocks = harness_space(t->floats * sizeof *blocks);
    memcpy(nodes, t->nodes, t->node_bytes);
    memcpy(blocks, t->blocks, t->floats * sizeof *blocks);
    const geometry_values *of = reading.scene->values[0];
    float *values = harness_space(of->floats * sizeof *values);
    memcpy(values, of->values, of->floats * sizeof *values);
    for (int frame = 0; frame < 3; frame++) {
      for (int i = 0; i < 20; i++) move_some(&s, &random, true);
      assert_ok(slab_scene_commit(s.scene, &refit));
      assert_as_refitted(s.scene);
    }
    assert_memory_equal(nodes, t->nodes, t->node_bytes);
    assert_memory_equal(blocks, t->blocks, t->floats * sizeof *blocks);
    assert_memory_equal(values, of->values, of->floats * sizeof *values);
    scene_leave(&reading);
    free(nodes);
    free(blocks);
    free(values);
    for (int frame = 0; frame < 3; frame++) {
      move_some(&s, &random, true);
      assert_ok(slab_scene_commit(s.scene, &refit));
      assert_as_refitted(s.scene);
    }
    assert_shapes_as_anew(&s, &random);
  }
  end(&s);
}

/* ---- mending ---- */

/* Each far move stretches the nodes above it: without mending the tenth would have made a build due. */
static void trees_are_mended(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  scene_of_kind s = begin(SLAB_BOX, SHAPES_OF_SCENE, &random);
  const double built = snapshot_of(s.scene)->built_cost;
  move_some(&s, &random, true);
  assert_ok(slab_scene_commit(s.scene, &automatic));
  const struct tree_places *places = snapshot_of(s.scene)->places;
  for (int frame = 0; frame < 4 * FRAMES; frame++) {
    move_some(&s, &random, true);
    assert_ok(slab_scene_commit(s.scene, &automatic));
    assert_ptr_equal(snapshot_of(s.scene)->places, places); /* not built */
    assert_true(snapshot_of(s.scene)->bvh.sah_cost <= 1.1 * built);
    if (frame % 10 == 0) assert_as_refitted(s.scene);
    if (frame % 40 == 0) assert_shapes_as_anew(&s, &random);
  }
  end(&s);
}

/* Where nearly all has moved, the tree is built in the end. */
static void trees_are_built_where_mending_does_not_help(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  scene_of_kind s = begin(SLAB_BOX, SHAPES_OF_SCENE, &random);
  uint32_t builds = 0;
  for (int frame = 0; frame < 100; frame++) {
    const uint64_t build = snapshot_of(s.scene)->build;
    for (int i = 0; i < 100; i++) move_some(&s, &random, true);
    assert_ok(slab_scene_commit(s.scene, &automatic));
    builds += snapshot_of(s.scene)->places == NULL && snapshot_of(s.scene)->build != build;
  }
  assert_true(builds > 0);
  assert_shapes_as_anew(&s, &random);
  end(&s);
}

/* Boxes that become infinite are outside the BVH, after a build. Another build brings them back. */
static void what_the_tree_does_not_hold_is_built(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  scene_of_kind s = begin(SLAB_BOX, SHAPES_OF_SCENE, &random);
  for (int i = 0; i < 6; i++) {
    slab_box *boxes = (slab_box *)(void *)s.shapes;
    move_some(&s, &random, false);
    boxes[7].upper[0] = i % 3 == 0 ? INFINITY : i % 3 == 1 ? boxes[7].lower[0] + 1 : NAN;
    assert_ok(slab_scene_update_some_boxes(s.scene, 0, 7, &boxes[7], 1));
    assert_ok(slab_scene_commit(s.scene, &refit));
    assert_true((snapshot_of(s.scene)->places == NULL) == (i % 3 != 2)); /* built; it can hold what is never hit */
    assert_shapes_as_anew(&s, &random);
  }
  end(&s);
}

/* ---- refusals ---- */

static void ranges_are_refused(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  scene_of_kind s = begin(SLAB_SPHERE, 100, &random);
  slab_sphere two[2] = {{{0, 0, 0}, 1}, {{0, 0, 0}, -2}};
  const slab_box box = {{0, 0, 0}, {1, 1, 1}};
  assert_status(slab_scene_update_some_spheres(s.scene, 0, 5, two, 2), SLAB_INVALID_ARGUMENT);
  assert_mentions("sphere 1, for number 6: radius is negative");
  assert_mentions("(-2)");
  assert_status(slab_scene_update_some_spheres(s.scene, 0, 99, two, 2), SLAB_INVALID_ARGUMENT);
  assert_mentions("2 from 99 on are beyond geometry 0, which has 100");
  assert_status(slab_scene_update_some_spheres(s.scene, 0, UINT32_MAX, two, 2), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_update_some_spheres(s.scene, 1, 0, two, 1), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_update_some_spheres(s.scene, 0, 0, NULL, 1), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_update_some_spheres(NULL, 0, 0, two, 1), SLAB_INVALID_ARGUMENT);
  assert_status(slab_scene_update_some_boxes(s.scene, 0, 0, &box, 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("another kind");
  assert_ok(slab_scene_update_some_spheres(s.scene, 0, 100, NULL, 0));
  assert_false(s.scene->changed);
  assert_shapes_as_anew(&s, &random);
  end(&s);
}

/* Vertices that no triangle has may be anything. A dropped triangle has lost its vertices, and comes back with all. */
static void vertices_are_refused(void **state) {
  (void)state;
  const float vertices[7][3] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {NAN, 0, 0}, {6, 0, 0}, {5, 1, 0}, {NAN, 0, 0}};
  const uint32_t indices[6] = {0, 1, 2, 3, 4, 5};
  const float bad[3] = {INFINITY, 0, 0}, good[4][3] = {{5, 0, 0}, {6, 0, 0}, {5, 1, 0}, {NAN, NAN, NAN}};
  const slab_ray ray = {{5.2f, 0.2f, 1}, 0, {0, 0, -1}, INFINITY};
  const slab_mesh mesh = {vertices[0], 0, 7, indices, 2, NULL};
  slab_scene *scene = harness_scene(harness_shared(SLAB_LAYOUT_WIDE));
  slab_hit hit;
  assert_ok(slab_scene_add_mesh(scene, &mesh, &(slab_geometry_options){.skip_invalid = 1}, NULL));
  assert_ok(slab_scene_commit(scene, &automatic));
  assert_status(slab_scene_update_some_vertices(scene, 0, 1, bad, 1), SLAB_INVALID_ARGUMENT);
  assert_mentions("vertex 0, for number 1: vertex is NaN, infinite or beyond 2^60 (inf)");
  assert_status(slab_scene_update_some_vertices(scene, 0, 3, good[0], 2), SLAB_INVALID_ARGUMENT);
  assert_mentions("vertex 4 of geometry 0 is one of triangle 1, which was dropped");
  assert_ok(slab_scene_update_some_vertices(scene, 0, 6, bad, 1));
  assert_ok(slab_scene_update_some_vertices(scene, 0, 3, good[0], 4));
  assert_ok(slab_scene_commit(scene, &refit));
  assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
  assert_int_equal(hit.primitive, 1);
  slab_scene_destroy(scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(moves_write_what_a_refit_writes),
      cmocka_unit_test(far_moves_write_what_a_refit_writes),
      cmocka_unit_test(vertices_move),
      cmocka_unit_test(two_snapshots_take_turns),
      cmocka_unit_test(what_is_read_stays),
      cmocka_unit_test(trees_are_mended),
      cmocka_unit_test(trees_are_built_where_mending_does_not_help),
      cmocka_unit_test(what_the_tree_does_not_hold_is_built),
      cmocka_unit_test(ranges_are_refused),
      cmocka_unit_test(vertices_are_refused),
  };
  return cmocka_run_group_tests(tests, NULL, harness_close);
}
