/* Computes deferred attributes: LANES hits at once, the closest ones of rays that were cast one by one or interleaved,
 * and in scenes with instances of packets too, or those that SLAB_ALL has listed. wide.cl and packet.cl leave t, global
 * primitive id, block and lane of each. Computed in wide.cl, each for one lane, attributes took 60 to 200 ns more (PoCL
 * 3.1, Zen 3).
 *
 * Built as packet.cl. */
#define STRIDE 8
#define SLAB_PACKET
#define SLAB_APART
#include "maths/instances.h"
#include "walk/attributes.h"

#if SLAB_INSTANCES

/* The instances that hits are in, the outermost first. */
typedef struct hit_paths {
  instance_map maps[SCENE_LEVELS - 1];
  word count; /* of each hit */
  uint most;
  hit_geometry geometry;
} hit_paths;

INLINE void paths_of(mask found, word geometry, const scene_view *scene, hit_paths *to) {
  uint numbers[LANES], counts[LANES], bases[LANES], kinds[LANES];
  float maps[SCENE_LEVELS - 1][12][LANES];
  const uint bits = lanes_bits(found);
  lanes_store(geometry, numbers);
  to->most = 0;
  for (uint lane = 0; lane < LANES; lane++) {
    const instance_path path = path_to(scene, numbers[(bits >> lane & 1) != 0 ? lane : lowest_lane(bits)]);
    counts[lane] = path.count;
    bases[lane] = path.entry.global_id_base;
    kinds[lane] = path.entry.kind;
    to->most = max(to->most, path.count);
    for (uint k = 0; k < path.count; k++) {
      GLOBAL const instance_entry *of = scene_instance(scene, path.instances[k]);
      UNROLL for (uint i = 0; i < 9; i++) maps[k][i][lane] = of->inverse[i];
      UNROLL for (uint i = 0; i < 3; i++) maps[k][9 + i][lane] = of->place[i];
    }
  }
  to->count = lanes_from(counts);
  to->geometry.number = geometry;
  to->geometry.global_id_base = lanes_from(bases);
  to->geometry.kind = lanes_from(kinds);
  for (uint k = 0; k < to->most; k++) {
    UNROLL for (uint i = 0; i < 9; i++) to->maps[k].inverse[i] = lanes_from(maps[k][i]);
    UNROLL for (uint i = 0; i < 3; i++) to->maps[k].place[i] = lanes_from(maps[k][9 + i]);
  }
}

/* The attributes of hits in models. A ray that is not in the k-th one is prepared again as it is, which changes none of
 * its numbers but the factors of its t. */
INLINE void attributes_in_models(const packet_hits *m, word geometry, const scene_view *scene, global slab_hit *out,
                                 const global uint *places, uint bits) {
  hit_paths paths;
  packet_hits in = *m;
  prepared_ray inner = *m->ray;
  in.ray = &inner;
  paths_of(m->global_id != SLAB_MISS, geometry, scene, &paths);
  for (uint k = 0; k < paths.most; k++) {
    const mask goes = paths.count > k;
    ray_given given = instance_ray(&inner, &paths.maps[k]);
    UNROLL for (int i = 0; i < 3; i++) {
      given.origin[i] = goes ? given.origin[i] : inner.origin[i];
      given.direction[i] = goes ? given.direction[i] : inner.direction[i];
    }
    inner = ray_scale(&given);
    in.t = goes ? instance_t_inside(&inner, in.t) : in.t;
  }
  ray_turn(&inner, inner.octant);
  ray_hit hit = attributes_of(&in, paths.geometry, scene);
  for (uint k = paths.most; k-- > 0;) {
    real normal[3] = {hit.normal[0], hit.normal[1], hit.normal[2]};
    instance_normal(&paths.maps[k], normal);
    UNROLL for (int i = 0; i < 3; i++) hit.normal[i] = paths.count > k ? normal[i] : hit.normal[i];
  }
  const mask found = m->global_id != SLAB_MISS;
  hit.t = found ? ray_final_t(m->ray, m->t) : (real)(INFINITY);
  UNROLL for (int i = 0; i < 3; i++) hit.normal[i] = found ? hit.normal[i] : (real)(0.0f);
  attributes_write(m, &hit, paths.geometry, out, places, bits);
}

#endif

/* The arguments of `wide`. offsets: of closest hits NULL: ray i has result i. Of listed hits LANES numbers of rays,
 * then LANES indices of their hits. */
KERNEL_HINT kernel void KERNEL_NAME(attributes)(WORK_ITEM const global slab_ray *rays, global void *results,
                                                const global uint *offsets, const global geometry_entry *table,
                                                BLOCKS_PARAMETERS, const global slab_primitive_id *skips,
                                                volatile global uint *invalid, const cast_uniforms cast,
                                                NODES_PARAMETERS, const global uchar *left, const global uint *sorted) {
  const scene_view scene = {table, BLOCKS_GIVEN, NODES_GIVEN, &cast, false};
  const cast_arrays arrays = {.rays = rays, .results = results, .sorted = offsets};
  const global uint *places = offsets != 0 ? offsets + LANES : 0;
  const size_t first = get_global_id(0) * LANES;
  (void)skips, (void)invalid, (void)sorted;
  if (first >= cast.rays) return;
#if !PACKET_DEFERS
  if (cast.packet != 0 && (left[first / cast.packet] & PACKET_LEFT) == 0) return; /* packets have computed theirs */
#else
  (void)left;
#endif
  const uint count = cast.rays - first < LANES ? (uint)(cast.rays - first) : LANES;
  global slab_hit *hits = (global slab_hit *)((global uint *)results + cast.at[AT_RESULTS]);
  real row[8];
  columns_load((const global float *)hits, places, first, count, row);
  const word global_id = lanes_as_word(row[DEFERRED_GLOBAL_ID]);
  if (!lanes_any(global_id < SLAB_INVALID)) return;
  const ray_given given = rays_load(&arrays, &cast, first, count);
  prepared_ray ray = ray_scale(&given);
  ray_turn(&ray, ray.octant);
  const packet_hits m = {&ray, row[DEFERRED_T], global_id < SLAB_INVALID ? global_id : SLAB_MISS,
                         lanes_as_word(row[DEFERRED_WHERE]), lanes_as_word(row[DEFERRED_LANE]) & (BVH_WIDTH - 1)};
#if SLAB_INSTANCES
  attributes_in_models(&m, lanes_as_word(row[DEFERRED_GEOMETRY]), &scene, hits + first, places, first_lanes(count));
#else
  attributes_of_hits(&m, &scene, hits + first, places, first_lanes(count));
#endif
}
