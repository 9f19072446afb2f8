/* Instances: models, which are scenes of their own, placed in a scene by transforms, in each other too. A ray is
 * transformed into the space of a model and prepared again there, as any ray. Its t stay lengths of the prepared
 * direction outside. Kernels and the CPU reference have the same results of this. */
#ifndef MATHS_INSTANCES_H
#define MATHS_INSTANCES_H

#include "data/scene_memory.h"
#include "maths/primitive.h"

/* The transform of an instance: its entry, or in packets those of LANES instances, the same or of each ray its own. */
#ifdef SLAB_PACKET
typedef struct instance_map {
  ray_real inverse[9], place[3];
} instance_map;
#define INSTANCE_MAP const instance_map
#else
#define INSTANCE_MAP GLOBAL const instance_entry
#endif

/* B v, with its sums in the order of x, y, z. */
#ifdef RAY_ACROSS
INLINE ray_axis instance_turn(GLOBAL const float b[9], const float v[3]) {
  return ((float4)(b[0], b[3], b[6], 0.0f) * v[0] + (float4)(b[1], b[4], b[7], 0.0f) * v[1]) +
         (float4)(b[2], b[5], b[8], 0.0f) * v[2];
}
#elif defined(SLAB_PACKET)
INLINE void instance_turn(const real b[9], const real v[3], real turned[3]) {
  UNROLL for (int i = 0; i < 3; i++) turned[i] = (b[3 * i] * v[0] + b[3 * i + 1] * v[1]) + b[3 * i + 2] * v[2];
}
#else
INLINE ray_axis instance_turn(GLOBAL const float b[9], const float v[3]) {
  ray_axis turned;
  UNROLL for (int i = 0; i < 3; i++) turned.v[i] = (b[3 * i] * v[0] + b[3 * i + 1] * v[1]) + b[3 * i + 2] * v[2];
  return turned;
}
#endif

/* The ray in the space of an instance's model: B (o - place), since B o - B place would cancel. In packets it is not
 * prepared for yet, but given. */
#ifdef SLAB_PACKET
INLINE ray_given instance_ray(const prepared_ray *ray, INSTANCE_MAP *of) {
  ray_given inner;
  real from[3];
  UNROLL for (int i = 0; i < 3; i++) from[i] = ray->origin[i] - of->place[i];
  instance_turn(of->inverse, from, inner.origin);
  instance_turn(of->inverse, ray->direction, inner.direction);
  inner.t_min = ray->t_min;
  inner.t_max = ray->t_max;
  return inner;
}
#else
INLINE void instance_ray(const prepared_ray *ray, INSTANCE_MAP *of, prepared_ray *inner) {
  float from[3];
  UNROLL for (int i = 0; i < 3; i++) from[i] = ray->origin[i] - of->place[i];
  ray_prepare_alone(instance_turn(of->inverse, from), instance_turn(of->inverse, ray->direction), ray->t_min,
                    ray->t_max, inner);
}
#endif

/* An end of a crossing in the space of a model, as the ray outside has it. An end that the range clipped is that of the
 * range outside. gate: the t at which the ray enters the instance's gate, in [t_min, t_max] outside. It may raise t,
 * never lower it. So t is not below the t at which the ray enters the bounds of anything that holds the primitive, in
 * the model and outside. Culling by t therefore drops no hit. (If t were lowered to the end of the gate as well, then
 * the answer would depend on the order in which primitives are tested.) */
INLINE ray_real instance_t(const prepared_ray *inner, const prepared_ray *outer, ray_real gate, ray_real t) {
  const ray_real final_t = ray_final_t(inner, t), but_last = t == inner->t_max ? outer->t_max : final_t,
                 told = t == inner->t_min ? outer->t_min : but_last;
  return told < gate ? gate : told;
}

/* The other way, for limits: a crossing in the space of a model with a larger t has a larger t outside. The range
 * inside may be clamped (ray_range), so the limit is too. */
INLINE ray_real instance_limit(const prepared_ray *inner, ray_real limit) {
  const ray_real next = limit + (is_within(limit, 0x1p-100f) ? (ray_real)(0x1p-149f) : (ray_real)(0.0f));
  return ray_max(ray_min(next * inner->forth[0] * inner->forth[1], inner->t_max), inner->t_min);
}

/* The t of a hit in the space of a model: attributes are those of the point that is reported. */
INLINE ray_real instance_t_inside(const prepared_ray *inner, ray_real t) {
  return t * inner->forth[0] * inner->forth[1];
}

/* The exponent of the largest component; of zero some small number. */
INLINE ray_mask instance_exponent(const ray_real v[3]) {
  ray_real largest = (ray_real)(0.0f);
  UNROLL for (int i = 0; i < 3; i++) largest = ray_max(v[i] < 0.0f ? -v[i] : v[i], largest);
  return exponent_of(largest);
}

/* The normal outside: transpose(B) n, without the sign of the determinant, at unit length. It is scaled by a power of
 * two first, and is left so where it has unit length then. So transforms of powers of two and of permutations keep the
 * model's own bits. */
INLINE void instance_normal(INSTANCE_MAP *of, ray_real normal[3]) {
  ray_real turned[3], unit[3], factor[2], square = (ray_real)(0.0f);
  UNROLL for (int i = 0; i < 3; i++) turned[i] =
      (of->inverse[i] * normal[0] + of->inverse[3 + i] * normal[1]) + of->inverse[6 + i] * normal[2];
  power_of_two(instance_exponent(normal) - instance_exponent(turned), factor);
  UNROLL for (int i = 0; i < 3; i++) {
    turned[i] = turned[i] * factor[0] * factor[1];
    square += turned[i] * turned[i];
  }
  const ray_mask is_unit = is_within(square - 1.0f, 0x1p-21f);
  unit_vector(turned, unit);
  UNROLL for (int i = 0; i < 3; i++) normal[i] = without_minus_zero(is_unit ? turned[i] : unit[i]);
}

#endif
