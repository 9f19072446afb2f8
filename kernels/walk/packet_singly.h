/* Rays of a packet that are tested singly, each against all triangles of a block: two at once where registers hold
 * sixteen lanes. */
#ifndef WALK_PACKET_SINGLY_H
#define WALK_PACKET_SINGLY_H

#include "maths/triangle.h"
#include "walk/packet_query.h"

#if LANES == 32
#include "maths/ray_pair.h"
#define few_real pair_real
#define few_mask pair_mask
#define few_ray prepared_pair
#define few_rows pair_rows
#else
#define few_real real
#define few_mask mask
#define few_ray prepared_ray
#define few_rows triangle_rows
#endif

#if LANES == 8
#define SINGLY 1 /* rays that are tested at once */
#define few_of(a, b) ((void)(b), (few_real)(a))
#define few_eight(p) vload8(0, p)
#define few_bits(m) eight_bits(m)
#define few_word uint8
#define FEW_NUMBERS ((uint8)(0, 1, 2, 3, 4, 5, 6, 7))
#define few_store(v, a, b) ((void)(b), vstore8(v, 0, a))
#else
#define SINGLY 2
INLINE few_real few_of(float a, float b) {
  return (uint16)(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15) < (uint16)(8) ? (few_real)(a) : (few_real)(b);
}
#define few_eight(p) ((few_real)(vload8(0, p), vload8(0, p)))
#define few_bits(m) sixteen_bits(m)
#define few_word uint16
#define FEW_NUMBERS ((uint16)(0, 1, 2, 3, 4, 5, 6, 7, 0, 1, 2, 3, 4, 5, 6, 7))
#define few_store(v, a, b) (vstore8((v).hi, 0, b), vstore8((v).lo, 0, a))
#endif

/* The lanes of some of the eight triangles, given as bits. */
INLINE few_mask few_lanes(uint bits) { return ((few_word)(bits) >> FEW_NUMBERS & 1) != 0; }

/* The part of the prepared rays of a packet that the triangle test reads, stored to be read ray by ray. It is not part
 * of the packet: see bvh_path. */
typedef struct packet_rows {
  float shear_origin[3][LANES], shear_inverse[3][LANES], shear[2][LANES], t_min[LANES];
} packet_rows;

INLINE void packet_store(const prepared_ray *ray, packet_rows *rows) {
  UNROLL for (int i = 0; i < 3; i++) {
    lanes_store(ray->shear_origin[i], rows->shear_origin[i]);
    lanes_store(ray->shear_inverse[i], rows->shear_inverse[i]);
    if (i < 2) lanes_store(ray->shear[i], rows->shear[i]);
  }
  lanes_store(ray->t_min, rows->t_min);
}

/* That part of rays a and b. */
INLINE few_ray few_rays(const packet_rows *rows, uint a, uint b) {
  few_ray f;
  UNROLL for (int i = 0; i < 3; i++) {
    f.shear_origin[i] = few_of(rows->shear_origin[i][a], rows->shear_origin[i][b]);
    f.shear_inverse[i] = few_of(rows->shear_inverse[i][a], rows->shear_inverse[i][b]);
    if (i < 2) f.shear[i] = few_of(rows->shear[i][a], rows->shear[i][b]);
  }
  f.t_min = few_of(rows->t_min[a], rows->t_min[b]);
  return f;
}

/* k: the axes of the shear, in its order. */
INLINE few_rows few_triangles(const octant_word k[3], const global float *block) {
  few_rows t;
  UNROLL for (int v = 0; v < 3; v++) UNROLL for (int i = 0; i < 3; i++) t.row[v][i] =
      few_eight(block + (3 * v + (int)k[i]) * BVH_WIDTH);
  return t;
}

/* Triangles of a block that some rays cross, ray by ray. */
typedef struct packet_found {
  float t[LANES][BVH_WIDTH];
  uint triangles[LANES]; /* as bits; of the rays in `rays` alone */
  uint rays;
} packet_found;

/* Takes one triangle of each ray, then the next of those that cross several. */
INLINE void packet_take_found(packet *p, packet_found *found, const global uint *global_ids, uint where,
                              const scene_view *scene) {
  if (SLAB_QUERY == SLAB_ALL) {
    for (uint rays = found->rays; rays != 0; rays &= rays - 1) {
      const uint ray = lowest_lane(rays);
      for (uint bits = found->triangles[ray]; bits != 0; bits &= bits - 1) {
        const uint lane = lowest_lane(bits);
        packet_note(p, ray, found->t[ray][lane], global_ids[lane], where, lane);
      }
    }
    return;
  }
  for (uint rays = found->rays, again = 0; rays != 0; rays = again, again = 0) {
    packet_crossing c = {.t = p->limit, .where = where};
    for (uint bits = rays; bits != 0; bits &= bits - 1) {
      const uint ray = lowest_lane(bits), lane = lowest_lane(found->triangles[ray]);
      const mask its = LANE_NUMBERS == (word)(ray);
      c.t = its ? (real)(found->t[ray][lane]) : c.t;
      c.global_id = its ? (word)(global_ids[lane]) : c.global_id;
      c.lane = its ? (word)(lane) : c.lane;
      crossing_in(&c, p, its, global_ids[lane], scene);
      found->triangles[ray] &= found->triangles[ray] - 1;
      again |= found->triangles[ray] != 0 ? 1u << ray : 0;
    }
    packet_take(p, rays, &c);
  }
}

/* The triangles in `bits` that a ray does not skip. */
INLINE uint packet_unskipped(uint bits, const global uint *global_ids, uint skip) {
  return bits & ~eight_bits(vload8(0, global_ids) == skip);
}

/* Tests rays, SINGLY at once, against all triangles of a block. shown: the triangles that the mask does not hide. */
INLINE void packet_singly(packet *p, const packet_rows *each, uint bits, uint shown, const global float *block,
                          uint where, const scene_view *scene) {
  const global uint *global_ids = packet_global_ids(SLAB_TRIANGLE, block);
  const few_rows rows = few_triangles(p->ray.k, block);
  const few_mask some = few_lanes(shown);
  packet_found found;
  float limits[LANES];
  uint skips[LANES], blocker = 0;
  lanes_store(p->limit, limits);
  if (scene->cast->skip != 0) lanes_store(p->skip, skips);
  found.rays = 0;
  while (bits != 0) {
    const uint a = lowest_lane(bits), others = bits & (bits - 1);
    const uint b = SINGLY == 2 && others != 0 ? lowest_lane(others) : a;
    bits = SINGLY == 2 ? others & (others - 1) : others;
    const few_ray ray = few_rays(each, a, b);
    few_real t;
    const few_mask hit =
        triangle_intersect_some(&ray, &rows, some, few_of(limits[a], limits[b]), scene->cast->rules, &t);
    const uint hits = few_bits(hit);
    if (hits == 0) continue;
    uint of_a = hits & EIGHT_BITS, of_b = SINGLY == 2 ? hits >> BVH_WIDTH : of_a;
    if (scene->cast->skip != 0) {
      of_a = packet_unskipped(of_a, global_ids, skips[a]);
      of_b = packet_unskipped(of_b, global_ids, skips[b]);
    }
    found.rays |= (of_a != 0 ? 1u << a : 0) | (of_b != 0 ? 1u << b : 0);
    if (SLAB_QUERY == SLAB_ANY) {
      blocker |= of_a | of_b;
      continue;
    }
    found.triangles[b] = of_b;
    found.triangles[a] = of_a;
    few_store(t, found.t[a], found.t[b]);
  }
  if (SLAB_QUERY != SLAB_ANY)
    packet_take_found(p, &found, global_ids, where, scene);
  else if (found.rays != 0)
    packet_blocked(p, found.rays, SLAB_TRIANGLE, where, lowest_lane(blocker));
}

#endif
