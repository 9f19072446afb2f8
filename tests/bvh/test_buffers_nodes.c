/* A wide BVH whose nodes take several buffers and whose blocks take one. No BVH from the builder has so many nodes.
 * So this one has three nodes inserted between each child and its parent. It uses the layer of small allocations, as
 * test_buffers does. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "faults/layers.h"
#include "harness.h"
/* cmocka has a macro fail(). */
#undef fail
#include "base/status.h"
#include "bvh/memory.h"
#include "device/context.h"
#include "gpu/gpu.h"
#include "layout/layout.h"
#include "os/clock.h"
#include "scene/scene.h"
#include "scene/snapshot.h"

enum { ALLOCATION = 24600, SPHERES = 620, RAYS = 700 };

static layers under;

static slab_context *context_of(slab_traversal traversal, unsigned long long allocation) {
  const slab_context_options options = {
      .lane_width = harness_width(), .layout = SLAB_LAYOUT_WIDE, .traversal = traversal, .copy = allocation != 0};
  slab_context *context = NULL;
  under.small(allocation);
  assert_ok(slab_context_create(&options, &context));
  return context;
}

static slab_scene *scene_of_spheres(slab_context *context) {
  random_state random = random_seed(1);
  slab_sphere spheres[SPHERES];
  slab_scene *scene = NULL;
  for (int i = 0; i < SPHERES; i++) {
    for (int k = 0; k < 3; k++) spheres[i].center[k] = random_between(&random, -8.0f, 8.0f);
    spheres[i].radius = random_between(&random, 0.1f, 1.0f);
  }
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_spheres(scene, spheres, SPHERES, NULL, NULL));
  return scene;
}

/* A node whose only child is lane k of another node. */
static bvh_node only_child(const bvh_node *parent, int k) {
  bvh_node n = {.child = {parent->child[k]}, .meta = {parent->meta[k]}};
  for (int row = 0; row < 6; row++) {
    for (int lane = 0; lane < BVH_WIDTH; lane++) n.bounds[row][lane] = row < 3 ? INFINITY : -INFINITY;
    n.bounds[row][0] = parent->bounds[row][k];
  }
  return n;
}

static void lengthen(bvh_layout *t) {
  const size_t count = t->node_bytes / sizeof(bvh_node);
  bvh_node *nodes = bvh_allocate(count * (1 + BVH_WIDTH), sizeof *nodes);
  assert_non_null(nodes);
  memcpy(nodes, t->nodes, t->node_bytes);
  size_t next = count;
  for (size_t n = 0; n < count; n++)
    for (int k = 0; k < BVH_WIDTH; k++) {
      if (nodes[n].meta[k] == 0) continue;
      nodes[next] = only_child(&nodes[n], k);
      nodes[n].child[k] = (uint32_t)next++;
      nodes[n].meta[k] = BVH_INNER | 3;
    }
  free(t->nodes);
  t->nodes = nodes;
  t->node_bytes = next * sizeof *nodes;
  t->depth = 2 * t->depth + 1;
  t->stack = layout_stack(SLAB_LAYOUT_WIDE, t->depth);
}

static void commit_lengthened(slab_scene *scene) {
  bvh_layout t;
  snapshot *made = NULL;
  assert_ok(scene_snapshot(scene, NULL, &made));
  assert_ok(bvh_layout_build(made, NULL, SLAB_TREE_FAST, SLAB_LAYOUT_WIDE, &t));
  lengthen(&t);
  lengthen(&t);
  made->tree = SLAB_TREE_FAST;
  assert_ok(snapshot_upload_tree(made, &t));
  snapshot_finish(made, seconds_now());
  scene_publish(scene, made);
}

/* Groups of 32 camera rays, so that there are packets, alternate with groups of rays of random directions. */
static void fill_rays(slab_ray *rays) {
  random_state random = harness_seeded(__func__);
  for (int i = 0; i < RAYS; i++) {
    const float x = (float)(i % 25) / 12.0f - 1.0f, y = (float)(i / 25) / 14.0f - 1.0f;
    rays[i] = (slab_ray){{0.3f, -0.2f, 12.0f}, 0.0f, {x, y, -1.5f}, INFINITY};
    for (int k = 0; k < 3 && i / 32 % 2 == 1; k++) rays[i].direction[k] = random_between(&random, -1.0f, 1.0f);
  }
}

static void nodes_are_cut(slab_traversal traversal) {
  slab_ray rays[RAYS];
  slab_hit want[RAYS], got[RAYS];
  uint32_t counts[2][RAYS];
  const slab_build_options flat = {.tree = SLAB_TREE_FLAT};
  slab_context *large = context_of(traversal, 0);
  slab_scene *whole = scene_of_spheres(large);
  fill_rays(rays);
  assert_ok(slab_scene_commit(whole, &flat));
  assert_ok(slab_closest(whole, rays, RAYS, want, NULL));
  assert_ok(slab_count(whole, rays, RAYS, counts[0], NULL));
  slab_context *small = context_of(traversal, ALLOCATION);
  slab_scene *cut = scene_of_spheres(small);
  commit_lengthened(cut);
  assert_int_equal(under.small_now().buffers, 1 + 1 + 4); /* table, blocks, nodes */
  const gpu_scene *buffers = cut->committed->states[0].uploaded;
  assert_true(buffers->blocks[1] == NULL && buffers->nodes[3] != NULL);
  assert_ok(slab_closest(cut, rays, RAYS, got, NULL));
  assert_ok(slab_count(cut, rays, RAYS, counts[1], NULL));
  const small_counts now = under.small_now();
  assert_true(now.launches > 0 && now.cut == now.launches && now.refused == 0);
  assert_same_bits(got, want, RAYS, sizeof *got);
  assert_same_bits(counts[1], counts[0], RAYS, sizeof *counts[0]);
  under.small(0);
  slab_scene_destroy(cut);
  slab_scene_destroy(whole);
  slab_context_destroy(small);
  slab_context_destroy(large);
}

#define NODE_TEST(name, traversal) \
  static void nodes_are_cut_##name(void **state) { (void)state, nodes_are_cut(traversal); }
NODE_TEST(one_by_one, SLAB_TRAVERSAL_SINGLE)
NODE_TEST(in_packets, SLAB_TRAVERSAL_PACKETS)
NODE_TEST(in_turns, SLAB_TRAVERSAL_INTERLEAVED)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nodes_are_cut_one_by_one),
      cmocka_unit_test(nodes_are_cut_in_packets),
      cmocka_unit_test(nodes_are_cut_in_turns),
  };
  under = layers_with(SMALL_LAYER);
  return cmocka_run_group_tests(tests, NULL, NULL);
}
