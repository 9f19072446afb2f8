/* The attributes of hits that may be in models. */
#ifndef WALK_ATTRIBUTES_SOME_H
#define WALK_ATTRIBUTES_SOME_H

#include "maths/instances.h"
#include "walk/attributes.h"
#include "walk/models.h"

/* The instances that hits are in, the outermost first. */
typedef struct hit_paths {
  instance_map maps[SCENE_DEPTHS - 1];
  word count; /* of each hit */
  uint most;
  hit_geometry geometry;
} hit_paths;

INLINE void paths_of(mask found, word geometry, const scene_view *scene, hit_paths *to) {
  uint numbers[LANES], counts[LANES], bases[LANES], kinds[LANES];
  float maps[SCENE_DEPTHS - 1][12][LANES];
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
INLINE void attributes_of_depths(const packet_hits *m, word geometry, const scene_view *scene, global slab_hit *out,
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
