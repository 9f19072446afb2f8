/* lanes.h for C11: the CPU reference and the host's use of the same formulas. */
#ifndef LANES_C11_H
#define LANES_C11_H

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "lanes/fused.h"

#define GLOBAL
#define INLINE static inline __attribute__((always_inline))
#define UNROLL
#define ROLLED
typedef unsigned int uint;
typedef float real;
typedef int32_t mask;
typedef uint32_t word;
typedef float ray_real;
typedef int32_t ray_mask;
typedef uint32_t ray_word;
#define lanes_load(p) (*(p))
#define lanes_from(p) (*(p))
#define lanes_store(v, p) (*(p) = (v))
#define lanes_any(m) ((m) != 0)
#define lanes_bits(m) ((uint)((m)&1))
#define lanes_at(v, i) ((void)(i), (v))

static inline uint scalar_bits(float x) {
  uint bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static inline float scalar_float(uint bits) {
  float x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint lowest_lane(uint bits) { return (uint)__builtin_ctz(bits); }

static inline uint scalar_bytes(uint top, uint bytes, uint k) {
  return (top & 0xFF000000u) | (bytes >> (8 * k) & 0xFFu) << 8;
}

static inline float scalar_add_where(float sum, float more, float a, float b) { return a <= b ? sum + more : sum; }

#define ray_bits(x) scalar_bits(x)
#define ray_float(bits) scalar_float(bits)
#define ray_signed(x) ((int32_t)(x))
#define ray_unsigned(x) ((uint32_t)(x))
#define ray_any(m) ((m) != 0)
#define lanes_first(v) (v)
#define lanes_kept(m) (m)
#define lanes_as_word(x) scalar_bits(x)
#define lanes_as_real(x) scalar_float(x)
#define lanes_to_int(x) ((int32_t)(x))
#define scalar_sqrt(x) sqrtf(x)
#define lanes_fma(a, b, c) fused(a, b, c)
#define lanes_abs(x) fabsf(x)
#define lanes_divide(a, b) ((a) / (b))
#define lanes_sqrt(a) sqrtf(a)
#define ray_divide(a, b) ((a) / (b))
#define ray_sqrt(a) sqrtf(a)

#endif
