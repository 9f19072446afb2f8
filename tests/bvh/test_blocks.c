/* The blocks of a wide BVH: the contents of lanes that hold no triangle. No answer shows it, but a triangle that is
 * always a candidate costs every ray that comes to its block the exact test. */
#include <math.h>
#include <string.h>

#include "harness.h"
/* cmocka has a macro fail(). */
#undef fail
#include "bvh/bvh.h"
#include "maths/answer.h"
#include "scene/scene.h"
#include "shapes/primitive.h"

enum { SIDE = 15, VERTICES = SIDE * SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };

typedef struct hill {
  float vertices[VERTICES][3], apart[3 * TRIANGLES][3];
  uint32_t indices[TRIANGLES][3];
} hill;

/* A height field, and its triangles with vertices of their own beside it. */
static void raise(hill *h, float height) {
  random_state random = random_seed(3);
  uint32_t next = 0;
  for (uint32_t i = 0; i < VERTICES; i++) {
    h->vertices[i][0] = (float)(i % SIDE);
    h->vertices[i][1] = (float)(i / SIDE);
    h->vertices[i][2] = random_between(&random, 0.0f, height);
  }
  for (uint32_t y = 0; y + 1 < SIDE; y++)
    for (uint32_t x = 0; x + 1 < SIDE; x++) {
      const uint32_t at = y * SIDE + x, of[2][3] = {{at, at + 1, at + SIDE}, {at + 1, at + SIDE, at + SIDE + 1}};
      memcpy(h->indices[next], of, sizeof of);
      next += 2;
    }
  for (uint32_t i = 0; i < 3 * TRIANGLES; i++) {
    memcpy(h->apart[i], h->vertices[h->indices[i / 3][i % 3]], sizeof h->apart[i]);
    h->apart[i][0] += SIDE;
  }
}

static slab_mesh indexed(const hill *h) {
  return (slab_mesh){
      .vertices = h->vertices[0], .vertex_count = VERTICES, .indices = h->indices[0], .triangle_count = TRIANGLES};
}

static slab_mesh apart(const hill *h) {
  return (slab_mesh){.vertices = h->apart[0], .vertex_count = 3 * TRIANGLES, .triangle_count = TRIANGLES};
}

/* Lanes without a triangle in the blocks of a leaf. Each holds the void one. */
static uint32_t empty_lanes(const float *block, uint32_t blocks) {
  uint32_t empty = 0;
  float nothing[TRIANGLE_FLOATS];
  primitive_void(SLAB_TRIANGLE, nothing);
  for (; blocks > 0; blocks--, block += BLOCK_UNITS(TRIANGLE_FLOATS, BVH_WIDTH, BLOCK_UNIT) * BLOCK_UNIT)
    for (uint32_t lane = 0; lane < BVH_WIDTH; lane++) {
      uint32_t id;
      memcpy(&id, &block[TRIANGLE_FLOATS * BVH_WIDTH + lane], sizeof id);
      if (id != SLAB_MISS) continue;
      empty++;
      for (uint32_t r = 0; r < TRIANGLE_FLOATS; r++)
        assert_memory_equal(&block[r * BVH_WIDTH + lane], &nothing[r], sizeof *block);
    }
  return empty;
}

static void assert_void_lanes(slab_scene *scene) {
  const bvh_layout *t = &atomic_load(&scene->committed)->bvh;
  const bvh_node *nodes = (const bvh_node *)t->nodes;
  uint32_t empty = 0;
  assert_non_null(nodes);
  for (size_t n = 0; n < t->node_bytes / sizeof *nodes; n++)
    for (int k = 0; k < BVH_WIDTH; k++) {
      const uint32_t meta = nodes[n].meta[k];
      if (meta == 0 || BVH_IS_INNER(meta)) continue;
      empty += empty_lanes(t->blocks + (size_t)nodes[n].child[k] * BLOCK_UNIT, BVH_LEAF_BLOCK_COUNT(meta));
    }
  assert_true(empty > 0);
}

static void empty_lanes_hold_what_no_ray_meets(void **state) {
  (void)state;
  static hill h;
  slab_context *context = harness_context();
  slab_scene *scene = harness_scene(context);
  raise(&h, 1.0f);
  slab_mesh of[2] = {indexed(&h), apart(&h)};
  for (int i = 0; i < 2; i++) assert_ok(slab_scene_add_mesh(scene, &of[i], NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH}));
  assert_void_lanes(scene);
  raise(&h, 2.0f);
  for (uint32_t i = 0; i < 2; i++) assert_ok(slab_scene_update_mesh(scene, i, &of[i]));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH, .update = SLAB_UPDATE_REFIT}));
  assert_void_lanes(scene);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* Edge functions of a void triangle, of rays in the directions of small whole numbers, from anywhere in a scene that is
 * not huge: no ray is a candidate. Corners stay beyond the border by which void ones are known, whatever they lie
 * between. */
static void no_plain_direction_meets_a_void_triangle(void **state) {
  float v[TRIANGLE_FLOATS];
  (void)state;
  primitive_void(SLAB_TRIANGLE, v);
  assert_memory_equal(v + 3, v + 6, 3 * sizeof *v);
  assert_true(primitive_is_void(SLAB_TRIANGLE, v) && primitive_is_never_hit(SLAB_TRIANGLE, v));
  for (int r = 0; r < TRIANGLE_FLOATS; r++) assert_true(TRIANGLE_IS_VOID(v[r]) && v[r] < 0x1p61f);
  const double a[3] = {(double)v[0], (double)v[1], (double)v[2]}, b[3] = {(double)v[3], (double)v[4], (double)v[5]};
  for (int x = -9; x <= 9; x++)
    for (int y = -9; y <= 9; y++)
      for (int z = -9; z <= 9; z++) {
        const double e =
            x * (a[1] * b[2] - a[2] * b[1]) + y * (a[2] * b[0] - a[0] * b[2]) + z * (a[0] * b[1] - a[1] * b[0]);
        if (x != 0 || y != 0 || z != 0) assert_true(fabs(e) > 0x1p100);
      }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(empty_lanes_hold_what_no_ray_meets),
      cmocka_unit_test(no_plain_direction_meets_a_void_triangle),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
