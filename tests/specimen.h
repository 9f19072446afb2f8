/* One shape of every kind, placed alike: the ray {{0, 0, -4}, {0, 0, 1}} meets each first at t = 3 with the normal -z;
 * solids end at t = 5. All numbers are exact. */
#ifndef SPECIMEN_H
#define SPECIMEN_H

#include "expect.h"

typedef struct specimen {
  slab_shape kind;
  int solid;
  float face; /* u at t = 3 */
  float shape[15];
} specimen;

enum { SPECIMENS = 5, SPECIMEN_BOX = 0, SPECIMEN_TRIANGLE = 4 };
extern const specimen specimens[SPECIMENS];

/* A ray along +z from (0, 0, z). */
slab_ray specimen_ray(float z, float t_min, float t_max);
/* The crossing at the side that faces -z, and, of a solid, at the side that faces +z. */
expect_want specimen_near(const specimen *s, float t, float enter, float leave);
expect_want specimen_far(const specimen *s, float t, float enter, float leave);
/* No crossing in a range that a solid holds, or whose crossing is culled. */
expect_want specimen_inside(float enter, float leave);
/* Fails the test unless every query gives this. state: cmocka's, a context. */
void specimen_check(void **state, const specimen *s, slab_ray ray, expect_want want);
/* All of them, each a geometry of its own, in their order. */
slab_scene *specimen_scene(slab_context *context);

#endif
