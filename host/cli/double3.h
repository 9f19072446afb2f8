/* Three doubles, for cameras and ray sets. */
#ifndef SLABCAST_CLI_DOUBLE3_H
#define SLABCAST_CLI_DOUBLE3_H

#include <math.h>

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

#endif
