/* fused(a, b, c): a b + c, rounded once, where C compiles the text. The C libraries for Windows round fmaf twice:
 * mingw's gives 0x1.002p+0 for fmaf(1 + 2^-12, 1 + 2^-12, 2^-60), not 0x1.002002p+0. */
#ifndef LANES_FUSED_H
#define LANES_FUSED_H

#include <math.h>
#include <stdint.h>
#include <string.h>

/* The product is exact in double. The sum is rounded to odd there; then a second rounding, to float, is right. Boldo
 * and Melquiond 2008, "Emulation of a FMA and correctly rounded sums: proved algorithms using rounding to odd", prove
 * this. The rest of a sum is Knuth's TwoSum; it is NaN where the sum is not finite. */
static inline float fused_by_double(float a, float b, float c) {
  const double p = (double)a * (double)b, z = (double)c, t = p + z, y = t - p;
  const double rest = (p - (t - y)) + (z - y);
  int64_t bits;
  memcpy(&bits, &t, sizeof bits);
  if ((rest < 0.0 || rest > 0.0) && (bits & 1) == 0) bits += (rest > 0.0) == (t > 0.0) ? 1 : -1;
  double odd;
  memcpy(&odd, &bits, sizeof odd);
  return (float)odd;
}

#if defined(_WIN32) && !defined(__FMA__) && !defined(__aarch64__)
#define fused(a, b, c) fused_by_double(a, b, c)
#else
#define fused(a, b, c) fmaf(a, b, c)
#endif

#endif
