/* Computes the attributes of the hits of LANES rays at once. */
#ifndef WALK_ATTRIBUTES_H
#define WALK_ATTRIBUTES_H

#include "maths/answer.h"
#include "walk/columns.h"

/* Whether packets leave the attributes of their closest hits to attributes.cl. On OpenCL devices that is one more
 * launch, which they save but where rays of a packet may be in several models. Compiled ahead it takes 0 to 7 % more
 * time and 33 KB less. */
#if SLAB_INSTANCES || (defined(SLAB_NATIVE) && !NATIVE_PACKETS_FINISH(LANES))
#define PACKET_DEFERS 1
#else
#define PACKET_DEFERS 0
#endif

/* Loads `count` rays from `first` on, in casting order. The last is repeated in the lanes beyond them. */
INLINE ray_given rays_load(const cast_arrays *arrays, const cast_uniforms *cast, size_t first, uint count) {
  real field[RAY_WORDS];
  ray_given given;
  columns_of_rays(arrays, cast, first, count, field);
  UNROLL for (int i = 0; i < 3; i++) {
    given.origin[i] = field[i];
    given.direction[i] = field[4 + i];
  }
  given.t_min = field[3];
  given.t_max = field[7];
  return given;
}

/* The first `count` lanes, at least one, as bits. */
INLINE uint first_lanes(uint count) { return 0xFFFFFFFFu >> (32 - count); }

/* The closest hits of LANES rays. */
typedef struct packet_hits {
  const prepared_ray *ray;
  real t;           /* in the prepared ray's units */
  word global_id;   /* SLAB_MISS: none */
  word where, lane; /* the block in units of BLOCK_UNIT floats, and the lane there */
} packet_hits;

/* Gathers the components of each ray's own primitive. */
INLINE void attributes_gather(const uint kind, const packet_hits *m, mask of, scene_blocks blocks,
                              real v[FLOATS_MOST]) {
  const uint floats = primitive_floats(kind);
  uint wheres[LANES], lanes[LANES];
  float values[FLOATS_MOST][LANES];
  lanes_store(m->where, wheres);
  lanes_store(m->lane, lanes);
  const uint any = lowest_lane(lanes_bits(of)); /* used for the lanes not in `of` */
  const uint bits = lanes_bits(of);
  for (uint lane = 0; lane < LANES; lane++) {
    const uint from = (bits >> lane & 1) != 0 ? lane : any;
    const global float *primitive = block_at(blocks, (size_t)wheres[from] * BLOCK_UNIT) + lanes[from];
    UNROLL for (uint r = 0; r < floats; r++) values[r][lane] = primitive[r * BVH_WIDTH];
  }
  UNROLL for (uint r = 0; r < floats; r++) v[r] = lanes_from(values[r]);
}

/* Computes the attributes of the hits of one kind, for the rays in `of`. */
INLINE void attributes_of_kind(const uint kind, const packet_hits *m, mask of, const scene_view *scene, ray_hit *hit) {
  real v[FLOATS_MOST];
  ray_hit one = {0};
  attributes_gather(kind, m, of, scene->blocks, v);
  hit_attributes(kind, m->ray, v, scene->cast, m->t, &one);
  hit->t = of ? one.t : hit->t;
  UNROLL for (int i = 0; i < 3; i++) hit->normal[i] = of ? one.normal[i] : hit->normal[i];
  hit->u = of ? one.u : hit->u;
  hit->v = of ? one.v : hit->v;
}

/* Writes the hits of the lanes in `bits`, of each number a row. places: the index of each hit in `out`; NULL: one after
 * the other. */
INLINE void hits_write(real row[8], global slab_hit *out, const global uint *places, uint bits) {
  global float *to = (global float *)out;
  lanes_transpose(row);
  UNROLL for (uint k = 0; k < LANES; k += 8) UNROLL for (uint i = 0; i < 8; i++) if ((bits >> (k + i) & 1) != 0)
      vstore8(lanes_eight_of(row[i], k), ray_number(places, k + i), to);
}

/* The geometry of each ray's hit; for a miss, geometry 0. */
typedef struct hit_geometry {
  word number, global_id_base, kind;
} hit_geometry;

INLINE hit_geometry attributes_geometry(word global_id, const global geometry_entry *table, uint count) {
  const hit_geometry first = {(word)(0), (word)(table[0].global_id_base), (word)(table[0].kind)};
  if (count == 1) return first; /* with the loop below packets with few hits take 1.05 times as long */
  uint global_ids[LANES], numbers[LANES], bases[LANES], kinds[LANES];
  lanes_store(global_id, global_ids);
  for (uint lane = 0; lane < LANES; lane++) {
    numbers[lane] = global_ids[lane] == SLAB_MISS ? 0 : geometry_of(table, count, global_ids[lane]);
    bases[lane] = table[numbers[lane]].global_id_base;
    kinds[lane] = table[numbers[lane]].kind;
  }
  const hit_geometry each = {lanes_from(numbers), lanes_from(bases), lanes_from(kinds)};
  return each;
}

INLINE ray_hit attributes_of(const packet_hits *m, hit_geometry geometry, const scene_view *scene) {
  ray_hit hit = {.t = (real)(INFINITY)};
  const mask found = m->global_id != SLAB_MISS;
  /* Where the kernel that cast the rays failed while it ran, the results hold arbitrary bits. So the block positions
   * are checked against the size of the buffer. */
#define ATTRIBUTES_OF_KIND(shape, name, names, noun, floats, form, place, source) \
  if (HAS_KIND(shape)) {                                                          \
    const uint last = scene->cast->units - BVH_BLOCK_UNITS((uint)floats);         \
    const mask of = found & (geometry.kind == shape) & (m->where <= last);        \
    if (lanes_any(of)) attributes_of_kind(shape, m, of, scene, &hit);             \
  }
  SHAPES(ATTRIBUTES_OF_KIND)
#undef ATTRIBUTES_OF_KIND
  return hit;
}

INLINE void attributes_write(const packet_hits *m, const ray_hit *hit, hit_geometry geometry, global slab_hit *out,
                             const global uint *places, uint bits) {
  const mask found = m->global_id != SLAB_MISS;
  const word reason = reason_of(m->ray), primitive = found ? m->global_id - geometry.global_id_base : reason,
             number = found ? geometry.number : reason;
  real row[8] = {hit->t, hit->normal[0], hit->normal[1],           hit->normal[2],
                 hit->u, hit->v,         lanes_as_real(primitive), lanes_as_real(number)};
  hits_write(row, out, places, bits);
}

INLINE void attributes_of_hits(const packet_hits *m, const scene_view *scene, global slab_hit *out,
                               const global uint *places, uint bits) {
  const hit_geometry geometry = attributes_geometry(m->global_id, scene->table, scene->cast->geometries);
  const ray_hit hit = attributes_of(m, geometry, scene);
  attributes_write(m, &hit, geometry, out, places, bits);
}

#endif
