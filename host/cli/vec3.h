/* Three numbers, for the pictures: + - * / sqrt in one stated order, so that pixels are the same everywhere. */
#ifndef SLABCAST_CLI_VEC3_H
#define SLABCAST_CLI_VEC3_H

#include <math.h>

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
/* From a to b as s goes from 0 to 1; not beyond. */
static inline vec3 vec_mix(vec3 a, vec3 b, float s) {
  const float t = s > 0.0f ? (s < 1.0f ? s : 1.0f) : 0.0f;
  return vec_along(a, t, vec_sub(b, a));
}

#endif
