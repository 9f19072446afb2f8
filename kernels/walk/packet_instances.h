/* Traversal of scenes with instances by packets: each depth has a packet of those of its rays that are there. */
#ifndef WALK_PACKET_INSTANCES_H
#define WALK_PACKET_INSTANCES_H

#include "walk/packet_leaf.h"
#include "walk/packet_path.h"

/* The state of a packet at one depth: the scene, or a model that it is in. */
typedef struct packet_depth {
  packet_hull h;
  packet_rows each;
} packet_depth;

/* VISIT_INSTANCE of the gate in a lane. Its place is rays, as bits. */
#define VISIT_LANE(lane) (VISIT_INSTANCE + (lane))

/* The rays of the packet are prepared, and have one octant. */
INLINE void packet_arrive(const packet *p, packet_depth *at) {
  at->h = packet_hull_of(p);
  packet_store(&p->ray, &at->each);
}

/* Pushes the instances of a block of gates, the nearest last, above the leaf's other blocks. */
INLINE bool packet_gates(const packet *p, const packet_hull *h, bvh_path *path, const scene_view *scene, uint first,
                         uint blocks) {
  const global float *block = block_at(scene->blocks, (size_t)first * BLOCK_UNIT);
  const global uint *instances = (const global uint *)(block + BOX_FLOATS * STRIDE);
  hull_real entered;
  float enter[BVH_WIDTH];
  if (blocks > 1) visit_push(path, first + BVH_BLOCK_UNITS(BOX_FLOATS), VISIT_GATES, path->next.enter, blocks - 1);
  const uint base = path->top;
  uint bits = eight_bits(hull_overlaps_boxes(h, block, &entered));
  vstore8(entered, 0, enter);
  for (; bits != 0; bits &= bits - 1) {
    const uint lane = lowest_lane(bits);
    if ((packet_entry(p, instances[lane], scene)->mask & scene->cast->mask) == 0) continue;
    const bvh_visit v = {first, VISIT_LANE(lane), enter[lane], ALL_RAYS};
    visit_insert(path, base, v);
  }
  return bvh_pop(path, h->limit);
}

/* Takes those rays of the packet into the model of an instance that pass its gate and have the octant of the first of
 * them there. The others go there later. False where none does. */
INLINE bool packet_visit(packet *p, packet_depth *at, bvh_path *path, const scene_view *scene) {
  const bvh_visit v = path->next;
  const global float *block = block_at(scene->blocks, (size_t)v.child * BLOCK_UNIT);
  const uint lane = v.meta - VISIT_INSTANCE, number = ((const global uint *)(block + BOX_FLOATS * STRIDE))[lane];
  GLOBAL const geometry_entry *group = packet_entry(p, number, scene);
  GLOBAL const instance_entry *of = scene_instance(scene, group->first + (number - group->global_id_base));
  packet *inner = p + 1;
  real leave;
  const mask passes = box_solid(&p->ray, block + lane, p->ray.t_max, &inner->gate, &leave);
  uint rays = p->live & v.place & lanes_bits(passes & (inner->gate <= p->limit)), alike;
  if (rays == 0) return false;
  instance_map map;
  UNROLL for (int i = 0; i < 9; i++) map.inverse[i] = (real)(of->inverse[i]);
  UNROLL for (int i = 0; i < 3; i++) map.place[i] = (real)(of->place[i]);
  const ray_given given = instance_ray(&p->ray, &map);
  inner->ray = ray_scale(&given);
  rays &= lanes_bits(inner->ray.state == RAY_LIVE);
  if (rays == 0) return false;
  const uint octant = packet_octant(inner, rays, &alike);
  if (alike != rays) visit_push(path, v.child, v.meta, v.enter, rays & ~alike);
  ray_turn(&inner->ray, octant);
  inner->live = alike;
  inner->limit = instance_limit(&inner->ray, p->limit);
  inner->skip = (word)(SLAB_MISS);
  inner->depth = p->depth + 1;
  inner->model = scene_model(scene, of->model);
  inner->first_geometry = p->first_geometry + of->geometry;
  if (SLAB_QUERY == SLAB_ANY) inner->entered = inner->live;
  packet_arrive(inner, at + 1);
  visit_push(path, 0, VISIT_END, -INFINITY, 0);
  inner->bottom = path->top;
  packet_outside(inner, &at[1].each, &at[1].h, scene);
  visit_ungated(path, inner->model);
  path->next.child = inner->model->root;
  path->next.meta = BVH_INNER;
  return true;
}

/* The rays that have hits in a model are done outside too. */
INLINE void packet_left(packet *p) {
  if (SLAB_QUERY == SLAB_ANY) p->live &= p[1].live | ~p[1].entered;
}

/* Pops, after hits. The rest of a depth is dropped where no ray is live there. */
INLINE bool packet_pop(const packet *p, packet_depth *at, bvh_path *path) {
  if (PACKET_LIMITS) at->h.limit = most_live(p, p->limit);
  if (SLAB_QUERY == SLAB_ANY && p->live == 0) path->top = p->bottom;
  return bvh_pop(path, at->h.limit);
}

/* Traverses a scene with instances. p, at: of the scene; SCENE_DEPTHS elements. */
INLINE void packet_traverse(packet *p, packet_depth *at, const scene_view *scene) {
  bvh_visit stack[SLAB_STACK];
  bvh_path path;
  bool more = true, whole = true; /* whole: no bounds of the next visit are known */
  bvh_begin(&path, stack);
  visit_ungated(&path, p->model);
  packet *all = p;
  while (more) {
    const uint child = path.next.child, meta = path.next.meta, kind = BVH_LEAF_KIND(meta);
    const bool is_inner = BVH_IS_INNER(meta), is_instance = !is_inner && kind == BVH_LEAF_KIND(VISIT_INSTANCE);
    whole = whole || (!is_inner && kind > SHAPE_INSTANCE);
    const uint rays = whole ? p->live : packet_visitors(p, &path.next, scene);
    whole = false;
    all->steps++;
    if (meta == VISIT_END) {
      p--, at--;
      packet_left(p);
      more = packet_pop(p, at, &path);
    } else if (is_instance) {
      whole = packet_visit(p, at, &path, scene);
      p += whole ? 1 : 0, at += whole ? 1 : 0;
      more = whole || bvh_pop(&path, at->h.limit);
    } else if (rays == 0) {
      more = bvh_pop(&path, at->h.limit);
    } else if (is_inner) {
      more = packet_down(p, &at->h, &path, scene);
    } else if (kind >= SHAPE_INSTANCE) {
      more = packet_gates(p, &at->h, &path, scene, child,
                          meta == VISIT_GATES ? path.next.place : BVH_LEAF_BLOCK_COUNT(meta));
    } else {
      packet_leaf(p, &at->each, &at->h, rays, scene, child, meta);
      more = packet_pop(p, at, &path);
    }
  }
}

INLINE void packet_run(packet *p, occluder *last, const scene_view *scene) {
  packet_depth at[SCENE_DEPTHS];
  (void)last;
  packet_arrive(p, at);
  packet_outside(p, &at->each, &at->h, scene);
  packet_traverse(p, at, scene);
}

#endif
