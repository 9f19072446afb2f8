/* Validates BVHs that were not built here: no node or block may lead a traversal out of its buffers or into an endless
 * loop. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "bvh/bvh.h"
#include "layout/layout.h"
#include "maths/answer.h"
#include "record/snapshot.h"

static const bvh_node *nodes_of(const bvh_layout *t) { return t->nodes; }

static size_t node_count(const bvh_layout *t) { return t->node_bytes / sizeof(bvh_node); }

/* Whether the `count` blocks from a unit on exist and hold only primitives of the given kind. */
static bool blocks_hold(const snapshot *scene, const bvh_layout *t, uint32_t kind, uint64_t unit, uint32_t count) {
  const uint32_t floats = primitive_floats(kind);
  const uint64_t units = BVH_BLOCK_UNITS(floats);
  if (unit + count * units > t->floats / BLOCK_UNIT) return false;
  for (uint32_t b = 0; b < count; b++) {
    uint32_t orders[BVH_WIDTH];
    memcpy(orders, t->blocks + (unit + b * units) * BLOCK_UNIT + (size_t)floats * BVH_WIDTH, sizeof orders);
    for (int i = 0; i < BVH_WIDTH; i++) {
      if (orders[i] == SLAB_MISS) continue;
      if (orders[i] >= scene->primitives) return false;
      if (scene->table[geometry_of(scene->table, scene->geometries, orders[i])].kind != kind) return false;
    }
  }
  return true;
}

static bool outside_holds(const snapshot *scene, const bvh_layout *t) {
#define OUTSIDE_HOLDS(shape, name) \
  if (!blocks_hold(scene, t, shape, t->outside[OUTSIDE_##name].first, t->outside[OUTSIDE_##name].blocks)) return false;
  SHAPES_OUTSIDE(OUTSIDE_HOLDS)
#undef OUTSIDE_HOLDS
  return true;
}

static bool lane_is_void(const bvh_node *node, int lane) {
  for (int axis = 0; axis < 3; axis++)
    if (node->bounds[axis][lane] != INFINITY || node->bounds[axis + 3][lane] != -INFINITY) return false;
  return true;
}

/* The children of a node have larger indices and one parent, so there are no cycles. depths: 0 for a node not yet
 * visited. */
static bool lane_is_sound(const snapshot *scene, const bvh_layout *t, uint32_t index, int lane, uint8_t *depths) {
  const bvh_node *node = &nodes_of(t)[index];
  const uint32_t child = node->child[lane], meta = node->meta[lane];
  if (meta == 0) return lane_is_void(node, lane);
  if (!BVH_IS_INNER(meta))
    return BVH_LEAF_KIND(meta) < SLAB_SHAPE_COUNT && BVH_LEAF_BLOCK_COUNT(meta) > 0 &&
           blocks_hold(scene, t, BVH_LEAF_KIND(meta), child, BVH_LEAF_BLOCK_COUNT(meta));
  if (child <= index || child >= node_count(t) || depths[child] != 0 || depths[index] >= BVH_DEPTH_MAX) return false;
  depths[child] = (uint8_t)(depths[index] + 1);
  return true;
}

slab_status bvh_layout_trust(const snapshot *scene, bvh_layout *t) {
  const size_t count = node_count(t);
  uint8_t *depths = calloc(count + 1, 1);
  if (depths == NULL) return fail_memory(count, "the tree's depths");
  slab_status status = SLAB_OK;
  depths[0] = 1;
  t->depth = 1;
  if (t->collapsed_root >= count)
    status = fail(SLAB_INVALID_ARGUMENT, "node %u of the tree is not there", t->collapsed_root);
  if (status == SLAB_OK) depths[t->collapsed_root] = 1;
  for (uint32_t n = 0; n < count && status == SLAB_OK; n++) {
    bool sound = depths[n] != 0;
    for (int lane = 0; lane < BVH_WIDTH && sound; lane++) sound = lane_is_sound(scene, t, n, lane, depths);
    if (!sound) status = fail(SLAB_INVALID_ARGUMENT, "node %u of the tree leads astray", n);
    if (depths[n] > t->depth) t->depth = depths[n];
  }
  t->stack = layout_stack(SLAB_LAYOUT_WIDE, t->depth);
  t->lacks_some = true; /* maybe: it is not known */
  if (status == SLAB_OK && !outside_holds(scene, t))
    status = fail(SLAB_INVALID_ARGUMENT, "what stands outside the tree is not in its blocks");
  free(depths);
  return status;
}
