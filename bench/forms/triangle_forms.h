/* Ray against triangle, both sides alike. Rows of a block: the vertices a, b, c; of the forms by coordinate
 * transformation the twelve numbers of their matrix. Where a paper's code returns early, this does when no lane is
 * left. */
#ifndef TRIANGLE_FORMS_H
#define TRIANGLE_FORMS_H

#include "form.h"

typedef struct form_vector {
  real x, y, z;
} form_vector;

INLINE form_vector form_vertex(GLOBAL const float *block, int v) {
  form_vector p;
  p.x = form_row(block, 3 * v);
  p.y = form_row(block, 3 * v + 1);
  p.z = form_row(block, 3 * v + 2);
  return p;
}

INLINE form_vector form_between(form_vector from, form_vector to) {
  form_vector e;
  e.x = to.x - from.x;
  e.y = to.y - from.y;
  e.z = to.z - from.z;
  return e;
}

INLINE form_vector form_from_origin(const form_ray *ray, form_vector to) {
  form_vector e;
  e.x = to.x - ray->origin[0];
  e.y = to.y - ray->origin[1];
  e.z = to.z - ray->origin[2];
  return e;
}

INLINE form_vector form_to_origin(const form_ray *ray, form_vector from) {
  form_vector e;
  e.x = ray->origin[0] - from.x;
  e.y = ray->origin[1] - from.y;
  e.z = ray->origin[2] - from.z;
  return e;
}

INLINE form_vector form_cross(form_vector a, form_vector b) {
  form_vector c;
  c.x = a.y * b.z - a.z * b.y;
  c.y = a.z * b.x - a.x * b.z;
  c.z = a.x * b.y - a.y * b.x;
  return c;
}

INLINE real form_dot(form_vector a, form_vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

INLINE form_vector form_direction(const form_ray *ray) {
  form_vector d;
  d.x = (real)(ray->direction[0]);
  d.y = (real)(ray->direction[1]);
  d.z = (real)(ray->direction[2]);
  return d;
}

/* False when t is NaN. */
INLINE mask form_in_range(const form_ray *ray, float limit, real t) { return (t >= ray->t_min) & (t <= limit); }

/* ---- Moller, Trumbore 1997, "Fast, minimum storage ray/triangle intersection" ---- */

/* The test after its determinant, which is valid in the lanes `met`: p = direction x (c - a), det = (b - a) . p. */
INLINE mask form_moller_trumbore_from(const form_ray *ray, mask met, form_vector p, real det, form_vector a,
                                      form_vector e1, form_vector e2, float limit, real *t) {
  if (!lanes_any(met)) return met;
  real inverse = lanes_divide((real)(1.0f), det);
  form_vector s = form_to_origin(ray, a);
  real u = form_dot(s, p) * inverse;
  met &= (u >= 0.0f) & (u <= 1.0f);
  if (!lanes_any(met)) return met;
  form_vector q = form_cross(s, e1);
  real v = form_dot(form_direction(ray), q) * inverse;
  met &= (v >= 0.0f) & (u + v <= 1.0f);
  if (!lanes_any(met)) return met;
  *t = form_dot(e2, q) * inverse;
  return met & form_in_range(ray, limit, *t);
}

/* As printed, two-sided: determinants within 1e-6 of 0 are taken for parallel rays. */
INLINE mask form_moller_trumbore(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  form_vector a = form_vertex(block, 0);
  form_vector e1 = form_between(a, form_vertex(block, 1)), e2 = form_between(a, form_vertex(block, 2));
  form_vector p = form_cross(form_direction(ray), e2);
  real det = form_dot(e1, p);
  return form_moller_trumbore_from(ray, lanes_abs(det) > 0.000001f, p, det, a, e1, e2, limit, t);
}

/* Without the epsilon: only 0 is parallel. */
INLINE mask form_moller_trumbore_exact(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  form_vector a = form_vertex(block, 0);
  form_vector e1 = form_between(a, form_vertex(block, 1)), e2 = form_between(a, form_vertex(block, 2));
  form_vector p = form_cross(form_direction(ray), e2);
  real det = form_dot(e1, p);
  return form_moller_trumbore_from(ray, det != 0.0f, p, det, a, e1, e2, limit, t);
}

/* Weights times det, whatever its sign, against its size. */
INLINE mask form_in_scaled_triangle(real det, real u, real v) {
  mask back = det < 0.0f;
  real size = lanes_abs(det);
  u = back ? -u : u;
  v = back ? -v : v;
  return (size > 0.0f) & (u >= 0.0f) & (v >= 0.0f) & (u + v <= size);
}

/* The same with nothing divided before a hit: weights of the determinant's sign are compared with its size, as Embree's
 * fast mode does. */
INLINE mask form_moller_trumbore_late(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  form_vector a = form_vertex(block, 0), s = form_to_origin(ray, a);
  form_vector e1 = form_between(a, form_vertex(block, 1)), e2 = form_between(a, form_vertex(block, 2));
  form_vector p = form_cross(form_direction(ray), e2), q = form_cross(s, e1);
  real det = form_dot(e1, p), u = form_dot(s, p), v = form_dot(form_direction(ray), q);
  mask met = form_in_scaled_triangle(det, u, v);
  if (!lanes_any(met)) return met;
  *t = lanes_divide(form_dot(e2, q), det);
  return met & form_in_range(ray, limit, *t);
}

/* ---- by a transformation into the triangle's own coordinates, twelve numbers each ---- */

/* Row r of the matrix times a point, and times a direction. */
INLINE real form_of_point(GLOBAL const float *block, int r, real x, real y, real z) {
  return form_row(block, 4 * r) * x + form_row(block, 4 * r + 1) * y + form_row(block, 4 * r + 2) * z +
         form_row(block, 4 * r + 3);
}

INLINE real form_of_direction(const form_ray *ray, GLOBAL const float *block, int r) {
  return form_row(block, 4 * r) * ray->direction[0] + form_row(block, 4 * r + 1) * ray->direction[1] +
         form_row(block, 4 * r + 2) * ray->direction[2];
}

INLINE real form_of_origin(const form_ray *ray, GLOBAL const float *block, int r) {
  return form_of_point(block, r, (real)(ray->origin[0]), (real)(ray->origin[1]), (real)(ray->origin[2]));
}

INLINE mask form_in_unit_triangle(real u, real v) { return (u >= 0.0f) & (v >= 0.0f) & (u + v <= 1.0f); }

/* Woop 2004, "A ray tracing hardware architecture for dynamic scenes": the ray is moved to where the triangle is
 * (0,0,0), (1,0,0), (0,1,0). */
INLINE mask form_unit_triangle(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  *t = -lanes_divide(form_of_origin(ray, block, 2), form_of_direction(ray, block, 2));
  mask met = form_in_range(ray, limit, *t);
  if (!lanes_any(met)) return met;
  real u = form_of_origin(ray, block, 0) + *t * form_of_direction(ray, block, 0);
  real v = form_of_origin(ray, block, 1) + *t * form_of_direction(ray, block, 1);
  return met & form_in_unit_triangle(u, v);
}

/* Havel, Herout 2010, "Yet faster ray-triangle intersection (using SSE4)": the point in the plane times the
 * determinant, so that nothing is divided before a hit. */
INLINE mask form_havel_herout(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  real det = form_of_direction(ray, block, 2), rise = -form_of_origin(ray, block, 2), point[3];
  UNROLL for (int i = 0; i < 3; i++) point[i] = ray->origin[i] * det + ray->direction[i] * rise;
  real u = form_row(block, 0) * point[0] + form_row(block, 1) * point[1] + form_row(block, 2) * point[2];
  real v = form_row(block, 4) * point[0] + form_row(block, 5) * point[1] + form_row(block, 6) * point[2];
  u = u + form_row(block, 3) * det;
  v = v + form_row(block, 7) * det;
  mask met = form_in_scaled_triangle(det, u, v);
  if (!lanes_any(met)) return met;
  *t = lanes_divide(rise, det);
  return met & form_in_range(ray, limit, *t);
}

/* Baldwin, Weber 2016, "Fast ray-triangle intersections by coordinate transformation": the point in the triangle's
 * plane is found in world space and only then moved. One column of their matrix is 0, 0, 1; lanes hold triangles of
 * any orientation, so it is multiplied here like the others. */
INLINE mask form_baldwin_weber(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  *t = -lanes_divide(form_of_origin(ray, block, 2), form_of_direction(ray, block, 2));
  mask met = form_in_range(ray, limit, *t);
  if (!lanes_any(met)) return met;
  real x = ray->origin[0] + *t * ray->direction[0], y = ray->origin[1] + *t * ray->direction[1];
  real z = ray->origin[2] + *t * ray->direction[2];
  return met & form_in_unit_triangle(form_of_point(block, 0, x, y, z), form_of_point(block, 1, x, y, z));
}

/* ---- by the signs of three volumes: Plucker coordinates ---- */

/* Amanatides, Choi 1997, "Ray tracing triangular meshes"; Kensler, Shirley 2006, "Optimizing ray-triangle intersection
 * via automated search": the ray passes all three edges on one side. Volumes of the direction and two vertices seen
 * from the origin; v . (b x c) over their sum is t. */
INLINE mask form_volumes(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  form_vector a = form_from_origin(ray, form_vertex(block, 0)), b = form_from_origin(ray, form_vertex(block, 1));
  form_vector c = form_from_origin(ray, form_vertex(block, 2)), d = form_direction(ray), bc = form_cross(b, c);
  real u = form_dot(d, bc), v = form_dot(d, form_cross(c, a)), w = form_dot(d, form_cross(a, b));
  mask met = ((u >= 0.0f) & (v >= 0.0f) & (w >= 0.0f)) | ((u <= 0.0f) & (v <= 0.0f) & (w <= 0.0f));
  if (!lanes_any(met)) return met;
  *t = lanes_divide(form_dot(a, bc), u + v + w);
  return met & form_in_range(ray, limit, *t);
}

/* The same through each edge and twice its middle, with a tolerance of 2^-23 of the volumes' sum. This is the robust
 * mode of Embree 3 and 4, after Davidovic, Engelhardt, Georgiev, Slusallek, Dachsbacher 2012, "3D rasterization". */
INLINE real form_edge_volume(form_vector d, form_vector from, form_vector to) {
  form_vector middle;
  middle.x = from.x + to.x;
  middle.y = from.y + to.y;
  middle.z = from.z + to.z;
  return form_dot(form_cross(form_between(from, to), middle), d);
}

INLINE mask form_volumes_tolerant(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  form_vector a = form_from_origin(ray, form_vertex(block, 0)), b = form_from_origin(ray, form_vertex(block, 1));
  form_vector c = form_from_origin(ray, form_vertex(block, 2)), d = form_direction(ray);
  real u = form_edge_volume(d, b, c), v = form_edge_volume(d, c, a), w = form_edge_volume(d, a, b);
  real slack = lanes_abs(u + v + w) * 0x1p-23f;
  real least = lanes_min(lanes_min(u, v), w), most = lanes_max(lanes_max(u, v), w);
  mask met = (least >= -slack) | (most <= slack);
  if (!lanes_any(met)) return met;
  form_vector normal = form_cross(form_between(a, b), form_between(a, c));
  *t = lanes_divide(form_dot(a, normal), form_dot(d, normal));
  return met & form_in_range(ray, limit, *t);
}

/* ---- in shear space ---- */

/* Woop, Benthin, Wald 2013, "Watertight ray/triangle intersection", in single precision: inclusive edges, the sign of
 * each edge function as rounded. (The paper computes it again in double precision where it is 0.) */
INLINE mask form_watertight(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  const prepared_ray *frame = &ray->frame;
  if (frame->state != RAY_LIVE) return (mask)(0);
  real x[3], y[3], z[3];
  UNROLL for (int v = 0; v < 3; v++) {
    z[v] = form_row(block, 3 * v + (int)frame->k[2]) - frame->shear_origin[2];
    x[v] = form_row(block, 3 * v + (int)frame->k[0]) - frame->shear_origin[0] - frame->shear[0] * z[v];
    y[v] = form_row(block, 3 * v + (int)frame->k[1]) - frame->shear_origin[1] - frame->shear[1] * z[v];
  }
  real u = x[2] * y[1] - y[2] * x[1], v = x[0] * y[2] - y[0] * x[2], w = x[1] * y[0] - y[1] * x[0];
  mask met = ((u >= 0.0f) & (v >= 0.0f) & (w >= 0.0f)) | ((u <= 0.0f) & (v <= 0.0f) & (w <= 0.0f));
  real det = u + v + w;
  met &= det != 0.0f;
  if (!lanes_any(met)) return met;
  *t = lanes_divide((u * z[0] + v * z[1] + w * z[2]) * frame->shear_inverse[2], det);
  return met & form_in_range(ray, limit, *t);
}

/* kernels/maths/triangle.h: the same shear with exact signs, the tie rule of rasterisers on edges and vertices, and the
 * gate.
 */
INLINE mask form_ours_triangle(const form_ray *ray, GLOBAL const float *block, float limit, real *t) {
  if (ray->frame.state != RAY_LIVE) return (mask)(0);
  return triangle_surface(&ray->frame, block, limit, SLAB_CULL_NONE, t);
}

#endif
