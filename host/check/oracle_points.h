/* The oracle of points: an independent check of every answer about closest points, by its own formulas.
 *
 * It shares no code with the kernels and knows no BVH. By brute force it encloses the squared distance that a kernel
 * may report of each primitive: the true distance in double, and a derived bound on the error of floats. */
#ifndef SLABCAST_CHECK_ORACLE_POINTS_H
#define SLABCAST_CHECK_ORACLE_POINTS_H

#include "check/oracle_parts.h"

/* Judges the result of one point: the query's type. sees and radius: of this point, INFINITY without a limit. `why`
 * receives the reason where the result is wrong or too close, "" where it is right. Safe from several threads.
 *
 * Right: the primitive is visible, its distance and point are possible, and no primitive is certainly before it in
 * (squared distance, geometry, primitive). Too close: the radius, or the largest float, is within the bounds. */
oracle_judgement oracle_judge_point(const oracle_scene *, slab_point_query, const float point[3], const void *result,
                                    visibility sees, float radius, char *why, size_t why_size);

/* The same of SLAB_WINDING. Crossings of triangles are exact. Solids within the rounding of their border are too close,
 * and so are instances that a gate, which the oracle does not know, may hide. */
oracle_judgement oracle_judge_winding(const oracle_scene *, const float point[3], int32_t winding, visibility sees,
                                      char *why, size_t why_size);

/* The same of SLAB_WINDING_NUMBERS: the sum of all triangles' solid angles, in double. Off by 1e-5 at most, and beside
 * an edge by the rounding of its corners' differences. Too close: the point may be on a triangle. */
oracle_judgement oracle_judge_winding_number(const oracle_scene *, const float point[3], float number, visibility sees,
                                             char *why, size_t why_size);

/* Components of vectors below 2^-63 count as 0, three of a corner and three of the vector: 2^-63 * 2 sqrt(3) < 2^-61.
 * Squares of sides and products of normals that underflow move a point by less than 2^-63 more. */
#define ORACLE_FAINT 0x1p-60

/* How near a point is to a primitive. */
typedef struct oracle_near {
  double distance; /* of the surface, off by 2^-45 of `reach` at most; INFINITY: there is none */
  double reach;    /* the largest length that a kernel computes with */
  double slack;    /* how far a kernel's distance, and its point from the surface, may be off */
  bool is_exact;   /* every kernel computes this very square */
  double square;
} oracle_near;

/* A kernel's report of a primitive, in the primitive's own space. */
typedef struct oracle_touch {
  double point[3], tolerance; /* how far off the point may be beside the primitive's own slack */
  float u, v;
  uint32_t feature;
} oracle_touch;

/* oracle_near_box and so on, one for each kind; and whether u, v, feature and the point fit: NULL, or the fault. */
#define ORACLE_NEAR_OF(shape, name, names, noun, floats, form, place, source)     \
  void oracle_near_##name(const slab_##name *, const double p[3], oracle_near *); \
  const char *oracle_touch_##name(const slab_##name *, const double p[3], const oracle_near *, const oracle_touch *);
SHAPES(ORACLE_NEAR_OF)
#undef ORACLE_NEAR_OF

/* False for NaN too. */
static inline bool oracle_point_is_valid(const float p[3]) {
  return fabsf(p[0]) <= 0x1p60f && fabsf(p[1]) <= 0x1p60f && fabsf(p[2]) <= 0x1p60f;
}

/* Whether every kernel squares this vector without rounding. */
bool oracle_square_is_exact(const double v[3], double *square);

static inline double oracle_dot_of(const double a[3], const double b[3]) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
static inline double oracle_length_of(const double v[3]) { return sqrt(oracle_dot_of(v, v)); }
double oracle_apart(const double a[3], const double b[3]);

#endif
