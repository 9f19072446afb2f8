/* Quotient and square root, correctly rounded, with integers alone. For devices whose own division is not correctly
 * rounded and that have no double. Slow, but right for every operand, however the device treats subnormal numbers.
 *
 * Scalars only; lanes/vector.h calls it lane by lane. */
#ifndef LANES_EXACT_H
#define LANES_EXACT_H

#define EXACT_SIGN 0x80000000u
#define EXACT_INFINITY 0x7f800000u
#define EXACT_NAN 0x7fc00000u

/* Splits a finite number above 0, given as `bits` without the sign, into *significand * 2^(*exponent - 23), with the
 * significand in [2^23, 2^24). */
INLINE void exact_split(uint bits, uint *significand, int *exponent) {
  *significand = (bits & 0x7fffffu) | 0x800000u;
  *exponent = (int)(bits >> 23) - 127;
  if (bits >= 0x800000u) return;
  *exponent = -126;
  for (*significand = bits; *significand < 0x800000u; *significand <<= 1) (*exponent)--;
}

/* The float nearest to m * 2^(exponent - 25), ties to even, as bits. 2^25 <= m < 2^26. The lowest bit of m is a sticky
 * bit: it is set where the exact value has any bit set at its place or below. Each shift keeps it so. */
INLINE uint exact_round(uint m, int exponent) {
  if (exponent > 127) return EXACT_INFINITY;
  for (; exponent < -126; exponent++) {
    if (m < 2u) return 0u; /* keeps the loop short; even 2^-150 rounds to 0 */
    m = m >> 1 | (m & 1u);
  }
  const uint kept = m >> 2, below = m & 3u;
  const uint up = below == 3u || (below == 2u && (kept & 1u) != 0u) ? 1u : 0u;
  return ((uint)(exponent + 126) << 23) + kept + up; /* the leading bit of kept and a carry are added to the exponent */
}

INLINE float exact_divide(float a, float b) {
  const uint sign = (scalar_bits(a) ^ scalar_bits(b)) & EXACT_SIGN, x = scalar_bits(a) & ~EXACT_SIGN,
             y = scalar_bits(b) & ~EXACT_SIGN;
  if (x > EXACT_INFINITY || y > EXACT_INFINITY || (x == y && (x == 0u || x == EXACT_INFINITY)))
    return scalar_float(EXACT_NAN);
  if (x == EXACT_INFINITY || y == 0u) return scalar_float(sign | EXACT_INFINITY);
  if (x == 0u || y == EXACT_INFINITY) return scalar_float(sign);
  uint m, n, quotient = 1u;
  int e, f;
  exact_split(x, &m, &e);
  exact_split(y, &n, &f);
  if (m < n) {
    m <<= 1;
    e--;
  }
  m -= n; /* 1 <= m / n < 2: the leading bit is 1; 24 more are computed eight at a time */
  for (int i = 0; i < 3; i++) {
    m <<= 8;
    quotient = quotient << 8 | m / n;
    m %= n;
  }
  return scalar_float(sign | exact_round(quotient << 1 | (m != 0u ? 1u : 0u), e - f));
}

/* Digit-by-digit square root in binary. root: the bits so far. rest: the remainder after its square. */
INLINE float exact_sqrt(float a) {
  const uint bits = scalar_bits(a);
  if (bits == EXACT_SIGN || bits == 0u || bits == EXACT_INFINITY) return a;
  if (bits > EXACT_INFINITY) return scalar_float(EXACT_NAN); /* below 0, or NaN */
  uint rest, root = 0u, twice = 0u;
  int e;
  exact_split(bits, &rest, &e);
  rest <<= 1 + (e & 1); /* makes the exponent even */
  for (uint bit = 0x1000000u; bit != 0u; bit >>= 1) {
    const uint tried = twice + bit;
    if (tried <= rest) {
      twice = tried + bit;
      rest -= tried;
      root += bit;
    }
    rest <<= 1;
  }
  return scalar_float(exact_round(root << 1 | (rest != 0u ? 1u : 0u), (e - (e & 1)) / 2));
}

#endif
