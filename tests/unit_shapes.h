/* One shape of every kind, placed alike: the ray {{0, 0, -4}, {0, 0, 1}} meets each first at t = 3 with the normal -z;
 * solids end at t = 5. All numbers are exact. */
#ifndef UNIT_SHAPE_H
#define UNIT_SHAPE_H

#include "expect.h"

typedef struct unit_shape {
  slab_shape kind;
  int solid;
  float face; /* u at t = 3 */
  float shape[15];
} unit_shape;

enum { UNIT_SHAPES = 5, UNIT_SHAPE_BOX = 0, UNIT_SHAPE_TRIANGLE = 4 };
extern const unit_shape unit_shapes[UNIT_SHAPES];

/* A ray along +z from (0, 0, z). */
slab_ray unit_shape_ray(float z, float t_min, float t_max);
/* The crossing at the side that faces -z, and, of a solid, at the side that faces +z. */
expect_want unit_shape_near(const unit_shape *s, float t, float enter, float leave);
expect_want unit_shape_far(const unit_shape *s, float t, float enter, float leave);
/* No crossing in a range that a solid holds, or whose crossing is culled. */
expect_want unit_shape_inside(float enter, float leave);
/* Fails the test unless every query gives this. state: cmocka's, a context. */
void unit_shape_check(void **state, const unit_shape *s, slab_ray ray, expect_want want);
/* All of them, each a geometry of its own, in their order. */
slab_scene *unit_shape_scene(slab_context *context);

#endif
