/* The three functions that every primitive has, dispatched by kind: its surface, its solid and its attributes. A caller
 * that passes the kind as a constant pays for no other kind. `block` is the start of a block of LANES primitives of
 * that kind; see types.h. */
#ifndef PRIMITIVE_H
#define PRIMITIVE_H

#include "box.h"
#include "oriented_box.h"
#include "plane.h"
#include "sphere.h"
#include "triangle.h"

INLINE uint primitive_rows(uint kind) {
  return kind == SLAB_BOX        ? BOX_ROWS
         : kind == SLAB_TRIANGLE ? TRIANGLE_ROWS
         : kind == SLAB_OBB      ? OBB_ROWS
         : kind == SLAB_SPHERE   ? SPHERE_ROWS
                                 : PLANE_ROWS;
}

#ifndef SLAB_APART
/* Lanes whose first crossing that is not culled lies in [t_min, limit], and the t of that crossing. */
INLINE mask primitive_surface(uint kind, const prepared_ray *ray, GLOBAL const float *block, ray_real limit, uint cull,
                              real *t) {
  if (kind == SLAB_BOX) return box_surface(ray, block, limit, cull, t);
  if (kind == SLAB_TRIANGLE) return triangle_surface(ray, block, limit, cull, t);
  if (kind == SLAB_SPHERE) return sphere_surface(ray, block, limit, cull, t);
  if (kind == SLAB_OBB) return obb_surface(ray, block, limit, cull, t);
  return plane_surface(ray, block, limit, cull, t);
}

/* Lanes where the ray's range overlaps the solid and enters it at limit or before, and the clipped interval of t
 * there. */
INLINE mask primitive_solid(uint kind, const prepared_ray *ray, GLOBAL const float *block, ray_real limit, real *enter,
                            real *leave) {
  if (kind == SLAB_BOX) return box_solid(ray, block, limit, enter, leave);
  if (kind == SLAB_SPHERE) return sphere_solid(ray, block, limit, enter, leave);
  if (kind == SLAB_OBB) return obb_solid(ray, block, limit, enter, leave);
  mask hit = primitive_surface(kind, ray, block, limit, SLAB_CULL_NONE, enter);
  *leave = *enter;
  return hit;
}
#endif

/* Computes the normal, and u and v where the kind has them, of a crossing at t (in the prepared ray's units) of the
 * primitive with components v. */
INLINE void primitive_attributes(uint kind, const prepared_ray *ray, const ray_real v[OBB_ROWS], ray_real t, uint cull,
                                 ray_hit *hit) {
  if (kind == SLAB_BOX) box_attributes(ray, v, cull, hit);
  if (kind == SLAB_TRIANGLE) triangle_attributes(ray, v, hit);
  if (kind == SLAB_SPHERE) sphere_attributes(ray, v, t, hit);
  if (kind == SLAB_OBB) obb_attributes(ray, v, cull, hit);
  if (kind == SLAB_PLANE) plane_attributes(v, hit);
}

#endif
