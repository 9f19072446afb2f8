/* lanes.h for OpenCL devices that test 8 or 16 lanes at once, in addition to lanes/scalar.h. Packets that are compiled
 * ahead of time may have 32. */
#ifndef LANES_VECTOR_H
#define LANES_VECTOR_H

/* States that the vectors are explicit. Without this hint Intel's runtime splits them to vectorise across work-items,
 * and builds take seven times as long. */
#define KERNEL_HINT __attribute__((vec_type_hint(real)))

#if LANES == 8
typedef float8 real;
typedef int8 mask;
typedef uint8 word;
#define lanes_load(p) vload8(0, p)
#define lanes_from(p) vload8(0, p)
#define lanes_eight(p) vload8(0, p)
#define lanes_of_eights(P) vload8(0, P(0))
#define lanes_eight_of(v, i) ((void)(i), (v))
#define lanes_store(v, p) vstore8(v, 0, p)
#define lanes_as_word(x) as_uint8(x)
#define lanes_as_mask(x) as_int8(x)
#define lanes_as_real(x) as_float8(x)
#define lanes_to_float(x) convert_float8(as_int8(x))
#define lanes_to_int(x) convert_int8(x)
#define lanes_sum(v) eight_sum(v)
#elif LANES == 16
typedef float16 real;
typedef int16 mask;
typedef uint16 word;
#define lanes_load(p) vload16(0, p)
#define lanes_from(p) vload16(0, p)
#define lanes_eight(p) ((float16)(vload8(0, p), vload8(0, p)))
#define lanes_of_eights(P) ((float16)(vload8(0, P(0)), vload8(0, P(8))))
#define lanes_eight_of(v, i) ((i) == 0 ? (v).lo : (v).hi)
#define lanes_store(v, p) vstore16(v, 0, p)
#define lanes_as_word(x) as_uint16(x)
#define lanes_as_mask(x) as_int16(x)
#define lanes_as_real(x) as_float16(x)
#define lanes_to_float(x) convert_float16(as_int16(x))
#else
typedef float32 real;
typedef int32 mask;
typedef uint32 word;
#define lanes_from(p) vload32(0, p)
#define lanes_of_eights(P) ((float32)(vload8(0, P(0)), vload8(0, P(8)), vload8(0, P(16)), vload8(0, P(24))))
#define lanes_eight_of(v, i) ((i) == 0 ? (v).lo.lo : (i) == 8 ? (v).lo.hi : (i) == 16 ? (v).hi.lo : (v).hi.hi)
#define lanes_store(v, p) vstore32(v, 0, p)
#define lanes_as_word(x) as_uint32(x)
#define lanes_as_mask(x) as_int32(x)
#define lanes_as_real(x) as_float32(x)
#define lanes_to_float(x) convert_float32(as_int32(x))
#endif
/* The eight floats at P(0), at P(8) and so on: lanes_of_eights. Lanes i to i + 7, for a constant i: lanes_eight_of. Of
 * numbers below 2^31: lanes_to_float. Towards 0, of numbers as large, at eight lanes: lanes_to_int. */

/* Values that depend on a ray alone. */
#ifdef SLAB_PACKET
#undef lanes_load
#define lanes_load(p) ((real)(*(p)))
typedef real ray_real;
typedef mask ray_mask;
typedef word ray_word;
#define ray_bits(x) lanes_as_word(x)
#define ray_float(bits) lanes_as_real(bits)
#define ray_signed(x) lanes_as_mask(x)
#define ray_unsigned(x) lanes_as_word(x)
#define ray_any(m) lanes_any(m)
#define ray_divide(a, b) lanes_divide(a, b)
#define ray_sqrt(a) lanes_sqrt(a)
#define lanes_first(v) (v)
#else
#define lanes_first(v) ((v).s0) /* of values that depend on a ray and one primitive, the same in all lanes */
#endif

/* SLAB_ASSEMBLY: the driver supports inline assembly (program.c). */

/* Keeps a mask that is used after a branch in its vector form. On processors without mask registers LLVM packs it to 16
 * bits per lane before the branch and unpacks it after, eight instructions in all. Without this rays are 3 to 10 %
 * slower (PoCL 3.1, Zen 3). */
#if LANES == 8 && SLAB_RAY_PAIRS == 1 && defined(SLAB_ASSEMBLY) && defined(__AVX__) && !defined(__AVX512VL__)
INLINE int8 lanes_kept(int8 m) {
  __asm__("" : "+x"(m));
  return m;
}
#else
#define lanes_kept(m) (m)
#endif

/* The sign bit of every lane; bit 0 is lane 0. One instruction where the compiler offers it, written so that the
 * compiler cannot split it. */
INLINE uint eight_bits(int8 m) {
#if defined(SLAB_ASSEMBLY) && defined(__AVX__) && !defined(__AVX512VL__)
  uint bits;
  __asm__("vmovmskps %1, %0" : "=r"(bits) : "x"(m));
  return bits;
#elif defined(__clang__) && defined(__AVX__)
  return (uint)__builtin_ia32_movmskps256(as_float8(m));
#else
  /* Byte k keeps bit k. The product collects all of them in its highest byte. */
  return (uint)((as_ulong(convert_char8(m)) & 0x8040201008040201UL) * 0x0101010101010101UL >> 56);
#endif
}

INLINE uint four_bits(int4 m) {
#if defined(__clang__) && defined(__SSE__)
  typedef float four __attribute__((vector_size(16)));
  return (uint)__builtin_ia32_movmskps((four)m);
#else
  const uint4 bits = as_uint4(m) >> 31 << (uint4)(0, 1, 2, 3);
  const uint2 two = bits.lo | bits.hi;
  return two.x | two.y;
#endif
}

/* a / b. The lanes that no result needs divide too, and some divisions raise flags (base/arithmetic.h): the caller puts
 * harmless numbers there, and nothing here lets the compiler put others. */
INLINE float4 divide_four(float4 a, float4 b) {
#if defined(SLAB_ASSEMBLY) && defined(__SSE__)
  __asm__("" : "+x"(a), "+x"(b));
#endif
  return a / b;
}

/* The sum of eight, which is no larger than one of them may be. */
INLINE int eight_sum(int8 v) {
  const int4 four = v.lo + v.hi;
  const int2 two = four.lo + four.hi;
  return two.x + two.y;
}

INLINE uint sixteen_bits(int16 m) {
#if defined(__clang__) && defined(__AVX512DQ__)
  return (uint)(ushort)__builtin_ia32_cvtd2mask512(m);
#else
  return eight_bits(m.lo) | eight_bits(m.hi) << 8;
#endif
}

#if LANES == 8
INLINE uint lanes_bits(mask m) { return eight_bits(m); }
#elif LANES == 16
INLINE uint lanes_bits(mask m) { return sixteen_bits(m); }
#else
INLINE uint lanes_bits(mask m) { return sixteen_bits(m.lo) | sixteen_bits(m.hi) << 16; }
#endif

/* Intel's runtime does not define __AVX__ for kernels. Brute force there took 1.3 times as long with lanes_bits as with
 * any(). any() gets a comparison, since of a mask it would test the sign bits. */
INLINE bool lanes_any(mask m) {
#if defined(__clang__) && defined(__AVX__)
  return lanes_bits(m) != 0;
#else
  return any(m != 0) != 0;
#endif
}

/* In each lane the float at p whose number it has, of eight. */
#if defined(__clang__) && defined(__AVX2__)
INLINE float8 pick_eight(float8 of, uint8 lane) {
  typedef float floats __attribute__((vector_size(32)));
  typedef int ints __attribute__((vector_size(32)));
  return as_float8(__builtin_ia32_permvarsf256((floats)of, (ints)lane));
}
INLINE float16 pick_sixteen(float8 of, uint16 lane) {
#ifdef __AVX512F__
  typedef float floats __attribute__((vector_size(64)));
  typedef int ints __attribute__((vector_size(64)));
  return as_float16(__builtin_ia32_permvarsf512((floats)((float16)(of, of)), (ints)lane));
#else
  return (float16)(pick_eight(of, lane.lo), pick_eight(of, lane.hi));
#endif
}
INLINE real lanes_pick(const global float *p, word lane) {
#if LANES == 32
  return (real)(pick_sixteen(vload8(0, p), lane.lo), pick_sixteen(vload8(0, p), lane.hi));
#elif LANES == 16
  return pick_sixteen(vload8(0, p), lane);
#else
  return pick_eight(vload8(0, p), lane);
#endif
}
#else
INLINE real lanes_pick(const global float *p, word lane) {
  uint lanes[LANES];
  float values[LANES];
  lanes_store(lane, lanes);
  for (uint i = 0; i < LANES; i++) values[i] = p[lanes[i]];
  return lanes_from(values);
}
#endif

static inline float lanes_at(real v, uint lane) {
  float values[LANES];
  lanes_store(v, values);
  return values[lane];
}

/* PICK: of each eight elements of a and b, those at i to p. Indices from 8 on are elements of b. OpenCL C has no macros
 * with a variable number of arguments, and NVIDIA's compiler refuses them. */
#ifdef __clang__
#define SHUFFLE(a, b, places) __builtin_shufflevector(a, b, places)
#else
#define SHUFFLE(a, b, places) shuffle2(a, b, (word)(places))
#endif
#define EIGHT(of, i, j, k, l, m, n, o, p) of(i), of(j), of(k), of(l), of(m), of(n), of(o), of(p)
#if LANES == 32
#define PLACE_0(i) ((i) < 8 ? (i) : (i) + 24)
#define PLACES(i, j, k, l, m, n, o, p)                                            \
  EIGHT(PLACE_0, i, j, k, l, m, n, o, p), EIGHT(PLACE_1, i, j, k, l, m, n, o, p), \
      EIGHT(PLACE_2, i, j, k, l, m, n, o, p), EIGHT(PLACE_3, i, j, k, l, m, n, o, p)
#elif LANES == 16
#define PLACE_0(i) ((i) < 8 ? (i) : (i) + 8)
#define PLACES(i, j, k, l, m, n, o, p) EIGHT(PLACE_0, i, j, k, l, m, n, o, p), EIGHT(PLACE_1, i, j, k, l, m, n, o, p)
#else
#define PLACE_0(i) (i)
#define PLACES(i, j, k, l, m, n, o, p) EIGHT(PLACE_0, i, j, k, l, m, n, o, p)
#endif
#define PLACE_1(i) (PLACE_0(i) + 8)
#define PLACE_2(i) (PLACE_0(i) + 16)
#define PLACE_3(i) (PLACE_0(i) + 24)
#define PICK(a, b, i, j, k, l, m, n, o, p) SHUFFLE(a, b, PLACES(i, j, k, l, m, n, o, p))

/* Transposes eight rows of eight. Where LANES is 16 or 32, it transposes two or four such matrices side by side. Only
 * the last step moves values between 128-bit halves. */
INLINE void lanes_transpose(real row[8]) {
  real two[8], four[8];
  UNROLL for (int i = 0; i < 8; i += 2) {
    two[i] = PICK(row[i], row[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    two[i + 1] = PICK(row[i], row[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  UNROLL for (int i = 0; i < 8; i += 4) UNROLL for (int k = 0; k < 2; k++) {
    four[i + 2 * k] = PICK(two[i + k], two[i + k + 2], 0, 1, 8, 9, 4, 5, 12, 13);
    four[i + 2 * k + 1] = PICK(two[i + k], two[i + k + 2], 2, 3, 10, 11, 6, 7, 14, 15);
  }
  UNROLL for (int i = 0; i < 4; i++) {
    row[i] = PICK(four[i], four[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    row[i + 4] = PICK(four[i], four[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/* Quotient and square root of lanes as scalar_divide and scalar_sqrt compute them. Where these are the device's own
 * instructions lanes/scalar.h has defined both. */
#if defined(SLAB_DIVIDE_BY_INTEGERS)
static inline real lanes_divide(real a, real b) {
  float x[LANES], y[LANES];
  lanes_store(a, x);
  lanes_store(b, y);
  for (int i = 0; i < LANES; i++) x[i] = exact_divide(x[i], y[i]);
  return lanes_from(x);
}

static inline real lanes_sqrt(real a) {
  float x[LANES];
  lanes_store(a, x);
  for (int i = 0; i < LANES; i++) x[i] = exact_sqrt(x[i]);
  return lanes_from(x);
}
#elif defined(SLAB_DIVIDE_THROUGH_DOUBLE)
#if LANES == 8
#define lanes_divide(a, b) convert_float8(convert_double8(a) / convert_double8(b))
#define lanes_sqrt(a) convert_float8(sqrt(convert_double8(a)))
#else
#define lanes_divide(a, b) convert_float16(convert_double16(a) / convert_double16(b))
#define lanes_sqrt(a) convert_float16(sqrt(convert_double16(a)))
#endif
#endif

#endif
