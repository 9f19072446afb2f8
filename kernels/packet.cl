/* Packet traversal: LANES rays of one octant go through a wide BVH together. wide.cl traverses the same BVH ray by ray.
 *
 * The children of a node and the triangles of a leaf are first tested against the hull: intervals of origins
 * and reciprocals that hold all rays of a packet. Children and triangles that pass are tested against every ray. The
 * ends of a product of intervals are products of their ends, and rounding is monotone. So the hull accepts
 * all that any of its rays accepts. Rays of a second octant go through the BVH after those of the first. Packets with
 * more octants, the signs and the largest axis of a direction, are packet fallback: wide.cl casts them. So it does
 * where the rays of a packet have more hits than its log holds (SLAB_ALL).
 *
 * In a scene with instances a packet goes into models: each depth has a packet of those of its rays that are there.
 *
 * The packet is in packet.h, its hull in packet_hull.h, and the choice of the next visit in packet_path.h. Tests at
 * leaves are in packet_leaf.h and packet_singly.h. Hits and results are in packet_query.h, those of SLAB_ALL in
 * packet_list.h. The traversal of models is in packet_instances.h.
 *
 * Built as wide.cl, with LANES 8 or 16, and 32 where it is compiled ahead of time. It is built for closest, distance,
 * any and count, and where compiled ahead for all. With instances (SLAB_INSTANCES 1) for any, count, and closest. */
#define STRIDE 8
#define SLAB_PACKET
#include "walk/packet_leaf.h"
#include "walk/packet_path.h"
#if SLAB_INSTANCES
#include "walk/packet_instances.h"
#else

/* The traversal where hits lower limits. */
INLINE void packet_traverse_nearest(packet *p, const packet_rows *each, packet_hull *h, const scene_view *scene) {
  packet_children stack[PACKET_ENTRIES];
  packet_path path;
  packet_path_begin(&path, stack);
  for (uint rays = p->live;;) {
    bool known = false; /* the next visit is */
    if (BVH_IS_INNER(path.meta)) {
      hull_real enter;
      const int8 overlapped = hull_overlaps_boxes(h, &node_at(scene->nodes, path.child)->bounds[0][0], &enter);
      known = packet_path_down(&path, scene, enter, overlapped);
    } else {
      packet_leaf(p, each, h, rays, scene, path.child, path.meta);
      h->limit = most_live(p, p->limit);
    }
    do {
      if (!known && !packet_path_pop(&path, scene, h->limit)) return;
      known = false;
      rays = packet_overlaps(p, scene->nodes, path.place);
    } while (rays == 0);
  }
}

INLINE void packet_traverse(packet *p, const packet_rows *each, packet_hull *h, const scene_view *scene) {
  bvh_visit stack[SLAB_STACK];
  bvh_path path;
  uint rays = p->live;
  bool more = true;
  bvh_begin(&path, stack);
  while (more && p->live != 0 && !packet_is_full(p)) {
    p->steps++;
    if (rays == 0) {
      more = bvh_pop(&path, h->limit);
    } else if (BVH_IS_INNER(path.next.meta)) {
      more = packet_down(p, h, &path, scene);
    } else {
      packet_leaf(p, each, h, rays, scene, path.next.child, path.next.meta);
      more = bvh_pop(&path, h->limit);
    }
    if (more) rays = packet_visitors(p, &path.next, scene);
  }
}

/* Casts the live rays of a packet, which have one octant. */
INLINE void packet_run(packet *p, occluder *last, const scene_view *scene) {
  packet_occluder(p, last, scene);
  if (p->live == 0) return;
  packet_hull h = packet_hull_of(p);
  packet_rows each;
  if (HAS_KIND(SLAB_TRIANGLE)) packet_store(&p->ray, &each);
  packet_outside(p, &each, &h, scene);
  if (PACKET_LIMITS)
    packet_traverse_nearest(p, &each, &h, scene);
  else
    packet_traverse(p, &each, &h, scene);
  packet_remember(p, last);
}

#endif

/* Casts `count` rays from first on, LANES at most. Returns the byte of the packet; PACKET_LEFT: its rays are packet
 * fallback, left to wide.cl. */
INLINE uint packet_cast(const cast_arrays *arrays, const scene_view *scene, size_t first, uint count, occluder *last,
                        packet_log *log, hit_share *share) {
  const cast_uniforms *cast = scene->cast;
  const ray_given given = rays_load(arrays, cast, first, count);
  if (SLAB_INSTANCES && cast->skip != 0) return PACKET_LEFT;
  PACKETS(depths, &given, scene);
  packet *p = depths;
  const uint all = first_lanes(count);
  uint blocked = 0, written = 0, left = lanes_bits(p->ray.state == RAY_LIVE);
  if (left != 0 && !packet_agrees(p, left)) return PACKET_LEFT;
  p->t = p->limit = p->ray.t_max;
  p->global_id = (word)(SLAB_MISS);
  p->skip = packet_skips(arrays, scene, first, count);
  p->log = log;
  if (SLAB_QUERY == SLAB_ALL) packet_log_begin(log);
  p->turned = SLAB_MISS;
  p->steps = 0;
  p->blocker_where = SLAB_MISS;
  do { /* attributes are computed of rays of one octant, so their hits are written at once; dead rays with the last */
    uint group = 0;
    if (left != 0) {
      packet_turn(p, left, &group);
      p->live = group;
      packet_run(p, last, scene);
      if (packet_is_full(p)) return PACKET_LEFT;
      blocked |= group & ~p->live;
      left &= ~group;
    }
    if (SLAB_QUERY == SLAB_CLOSEST)
      packet_hits_write(p, (left == 0 ? ~written : group) & all, scene,
                        (global slab_hit *)results_begin(arrays, cast) + first);
    written |= group;
  } while (left != 0);
  if (cast->invalid != 0) {
    const uint bits = lanes_bits(p->ray.state == RAY_INVALID) & all;
    if (bits != 0) atomic_add(arrays->invalid + cast->at[AT_INVALID], popcount(bits));
  }
  packet_end(p, blocked, arrays, scene, first, count, share);
  return SLAB_QUERY == SLAB_ANY ? min(p->steps, PACKET_STEPS_MOST) << 1 : 0;
}

/* The arguments of `wide`. cast.rays_each is a multiple of LANES. fallback: one byte per packet (PACKET_LEFT). Packets
 * of SLAB_ALL alone may be sorted. */
KERNEL_HINT kernel void KERNEL_NAME(packets)(WORK_ITEM const global slab_ray *rays, global void *results,
                                             const global uint *offsets, const global geometry_entry *table,
                                             BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                             volatile global uint *invalid, const cast_uniforms cast, NODES_PARAMETERS,
                                             global uchar *fallback, const global uint *sorted) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  const cast_arrays arrays = {rays, results, offsets, skips, invalid, SLAB_QUERY == SLAB_ALL ? sorted : 0};
  size_t next = get_global_id(0) * cast.rays_each;
  const size_t end = next + cast.rays_each < cast.rays ? next + cast.rays_each : cast.rays;
  occluder last = occluder_none();
  hit_share share = {0, 0};
  packet_log log;
  (void)sorted;
  for (; next < end; next += LANES)
    fallback[next / LANES] =
        (uchar)packet_cast(&arrays, &scene, next, end - next < LANES ? (uint)(end - next) : LANES, &last, &log, &share);
}
