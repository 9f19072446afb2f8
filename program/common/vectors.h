/* Vectors of three numbers: floats for pictures, doubles for cameras and ray sets. Also sine and cosine. */
#ifndef SLABCAST_PROGRAM_COMMON_VECTORS_H
#define SLABCAST_PROGRAM_COMMON_VECTORS_H

#include <math.h>

/* ---- floats: + - * / sqrt in a fixed order, so that pixels are equal on every machine ---- */

typedef struct vec3 {
  float x, y, z;
} vec3;

static inline vec3 vec(float x, float y, float z) { return (vec3){x, y, z}; }
static inline vec3 vec_of(const float p[3]) { return (vec3){p[0], p[1], p[2]}; }
static inline void vec_store(vec3 a, float p[3]) { p[0] = a.x, p[1] = a.y, p[2] = a.z; }
static inline vec3 vec_add(vec3 a, vec3 b) { return (vec3){a.x + b.x, a.y + b.y, a.z + b.z}; }
static inline vec3 vec_sub(vec3 a, vec3 b) { return (vec3){a.x - b.x, a.y - b.y, a.z - b.z}; }
static inline vec3 vec_scale(vec3 a, float s) { return (vec3){a.x * s, a.y * s, a.z * s}; }
static inline vec3 vec_times(vec3 a, vec3 b) { return (vec3){a.x * b.x, a.y * b.y, a.z * b.z}; }
/* a + s * b */
static inline vec3 vec_along(vec3 a, float s, vec3 b) { return vec_add(a, vec_scale(b, s)); }
static inline float vec_dot(vec3 a, vec3 b) { return (a.x * b.x + a.y * b.y) + a.z * b.z; }
static inline vec3 vec_cross(vec3 a, vec3 b) {
  return (vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline vec3 vec_unit(vec3 a) { return vec_scale(a, 1.0f / sqrtf(vec_dot(a, a))); }
/* From a to b as s goes from 0 to 1; s is clamped. */
static inline vec3 vec_mix(vec3 a, vec3 b, float s) {
  const float t = s > 0.0f ? (s < 1.0f ? s : 1.0f) : 0.0f;
  return vec_along(a, t, vec_sub(b, a));
}

/* ---- doubles ---- */

typedef struct vector {
  double x, y, z;
} vector;

static inline vector vector_of(const float v[3]) { return (vector){(double)v[0], (double)v[1], (double)v[2]}; }

static inline void vector_store(vector a, float v[3]) {
  v[0] = (float)a.x;
  v[1] = (float)a.y;
  v[2] = (float)a.z;
}

static inline vector vector_minus(vector a, vector b) { return (vector){a.x - b.x, a.y - b.y, a.z - b.z}; }

/* a + s * b */
static inline vector vector_add(vector a, double s, vector b) {
  return (vector){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}

static inline double vector_dot(vector a, vector b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

static inline vector vector_cross(vector a, vector b) {
  return (vector){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static inline vector vector_unit(vector a) {
  const double length = sqrt(vector_dot(a, a));
  return (vector){a.x / length, a.y / length, a.z / length};
}

/* ---- the unit circle: sine and cosine from additions and multiplications only, so that their bits do not depend on
 * the machine's maths library; error within 1e-15 ---- */

/* The point on the unit circle at an angle in degrees. */
static inline void circle_at(double degrees, double *cosine, double *sine) {
  const double quadrants = floor(degrees / 90.0 + 0.5);
  const double x = (degrees - 90.0 * quadrants) * 0.017453292519943295; /* within +-pi/4 */
  double c = 1.0, s = 1.0;
  /* Taylor series, innermost term first: cos x = 1 - x^2/2 (1 - x^2/12 (...)). */
  for (int n = 18; n >= 2; n -= 2) {
    c = 1.0 - c * (x * x) / (double)((n - 1) * n);
    s = 1.0 - s * (x * x) / (double)(n * (n + 1));
  }
  s = s * x;
  const int turn = (int)(quadrants - 4.0 * floor(quadrants / 4.0));
  *cosine = turn == 0 ? c : turn == 1 ? -s : turn == 2 ? -c : s;
  *sine = turn == 0 ? s : turn == 1 ? c : turn == 2 ? -s : -c;
}

static inline double circle_tangent(double degrees) {
  double cosine, sine;
  circle_at(degrees, &cosine, &sine);
  return sine / cosine;
}

#endif
