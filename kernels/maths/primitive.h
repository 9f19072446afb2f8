/* The three functions that every primitive has, dispatched by kind: its surface, its solid and its attributes. A caller
 * that passes the kind as a constant pays for no other kind. `block` is the start of a block of LANES primitives of
 * that kind; see types.h. */
#ifndef MATHS_PRIMITIVE_H
#define MATHS_PRIMITIVE_H

#include "maths/box.h"
#include "maths/oriented_box.h"
#include "maths/plane.h"
#include "maths/sphere.h"
#include "maths/triangle.h"

/* Kinds that do not exist count as planes. */
INLINE uint primitive_floats(uint kind) {
#define FLOATS_OF(shape, name, names, noun, floats, form, place, source) kind == shape ? floats:
  return SHAPES(FLOATS_OF) kind == SHAPE_INSTANCE ? BOX_FLOATS : PLANE_FLOATS;
#undef FLOATS_OF
}

/* The kind of a leaf from its byte in a compressed node. */
INLINE uint compressed_leaf_kind(uint meta) {
#define LEAF_KIND(shape, name, names, noun, floats, form, place, source)                                     \
  SHAPE_IN_BVH_##place &&HAS_KIND(shape) && (SLAB_KINDS == 1 << shape || COMPRESSED_IS_OF_KIND(meta, shape)) \
      ? (uint)shape                                                                                          \
      :
  return SHAPES(LEAF_KIND)(uint) SLAB_SPHERE;
#undef LEAF_KIND
}

/* Whether a ray can skip it. Only surfaces can be skipped, since a ray may leave a solid through its far side. */
INLINE bool primitive_is_surface(uint kind) {
#define IS_SURFACE(shape, name, names, noun, floats, form, place, source) (SHAPE_SKIPPED_##form && kind == shape) ||
  return SHAPES(IS_SURFACE) false;
#undef IS_SURFACE
}

#ifndef SLAB_APART
/* Lanes whose first crossing that is not culled lies in [t_min, limit], and the t of that crossing. rules: those of
 * cast_uniforms. */
INLINE mask primitive_surface(uint kind, const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint rules,
                              real *t) {
#define SURFACE_OF(shape, name, names, noun, floats, form, place, source) \
  if (kind == shape) return name##_surface(ray, block, limit, rules, t);
  SHAPES(SURFACE_OF)
#undef SURFACE_OF
  return plane_surface(ray, block, limit, rules, t);
}

/* Lanes where the ray's range overlaps the solid and enters it at limit or before, and the clipped interval of t
 * there. Nothing is culled. */
INLINE mask primitive_solid(uint kind, const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint rules,
                            real *enter, real *leave) {
#define INTERVAL_OF_SURFACE(shape, name)
#define INTERVAL_OF_SOLID(shape, name) \
  if (kind == shape) return name##_solid(ray, block, limit, enter, leave);
#define INTERVAL_OF(shape, name, names, noun, floats, form, place, source) INTERVAL_OF_##form(shape, name)
  SHAPES(INTERVAL_OF)
#undef INTERVAL_OF
  mask hit = primitive_surface(kind, ray, block, limit, rules & RULE_CLOSED, enter);
  *leave = *enter;
  return hit;
}
#endif

/* Computes the normal, and u and v where the kind has them, of a crossing at t (in the prepared ray's units) of the
 * primitive with components v. */
INLINE void primitive_attributes(uint kind, const prepared_ray *ray, const ray_real v[FLOATS_MOST], ray_real t,
                                 uint rules, ray_hit *hit) {
#define ATTRIBUTES_OF(shape, name, names, noun, floats, form, place, source) \
  if (HAS_KIND(shape) && kind == shape) name##_attributes(ray, v, t, rules, hit);
  SHAPES(ATTRIBUTES_OF)
#undef ATTRIBUTES_OF
}

#endif
