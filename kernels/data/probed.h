/* The operations that the probe tests on a device: each operation that casts use, on lanes and on scalars. X(name, of
 * lanes, of scalars): the text that the kernel runs and that messages quote. a, b, c are the operands. */
#ifndef DATA_PROBED_H
#define DATA_PROBED_H

/* Operations whose values are real numbers, compared by their bits. The expressions of several operations are those
 * that compilers contract, reassociate or distribute. MAX and MIN begin as the slab test does, where 0 * inf is NaN. */
#define PROBED_REALS(X)                                 \
  X(SUM, a + b, a + b)                                  \
  X(DIFFERENCE, a - b, a - b)                           \
  X(PRODUCT, (a * b), (a * b))                          \
  X(PRODUCT_PLUS, (a * b) + c, (a * b) + c)             \
  X(MINUS_PRODUCT, c - (a * b), c - (a * b))            \
  X(TWO_PRODUCTS, (a * b) - (b * c), (a * b) - (b * c)) \
  X(THREE, a + b + c, a + b + c)                        \
  X(SCALED, (a - b) * c, (a - b) * c)                   \
  X(FMA, lanes_fma(a, b, c), lanes_fma(a, b, c))        \
  X(QUOTIENT, lanes_divide(a, b), scalar_divide(a, b))  \
  X(ROOT, lanes_sqrt(a), scalar_sqrt(a))                \
  X(MAX, lanes_max((a * b), c), ray_max((a * b), c))    \
  X(MIN, lanes_min((a * b), c), ray_min((a * b), c))    \
  X(MAGNITUDE, lanes_abs(a), lanes_abs(a))              \
  X(CONVERTED, lanes_convert(byte_of(lanes_as_word(a))), (float)(byte_of(as_uint(a))))

/* Operations whose values are words. RELATIONS: bits 0 to 5 are a < b, a <= b, a == b, a != b, a >= b, a > b. */
#define PROBED_WORDS(X)                                                                         \
  X(RELATIONS, relations(word, a, b), relations(uint, a, b))                                    \
  X(ITSELF, relation(word, a == a, 0), relation(uint, a == a, 0))                               \
  X(LANE_BITS, (word)(lanes_bits(a < b)) >> lane & 1u, a < b ? 1u : 0u)                         \
  X(SHIFTS, lanes_as_word(a) << 9 ^ lanes_as_word(a) >> 23, as_uint(a) << 9 ^ as_uint(a) >> 23) \
  X(EXPONENT, lanes_as_word((lanes_as_mask(lanes_as_word(a) >> 23) - 127) / 2),                 \
    as_uint(((int)(as_uint(a) >> 23) - 127) / 2))                                               \
  X(LOWEST, lowest(lanes_as_word(a)), lowest_lane(as_uint(a)))

/* Rounds of a loop. Casts need as many as a scene has primitives. Mesa 22's llvmpipe ends all loops after 65,535. */
#define PROBED_ROUNDS 100000u

/* One round, which changes x such that no compiler can remove it. */
#define PROBED_ROUND(x) (((x)*1664525u + 1013904223u) ^ (x) >> 3)

enum {
#define PROBED_NUMBER(name, of_lanes, of_scalars) PROBED_##name,
  PROBED_REALS(PROBED_NUMBER) PROBED_WORDS(PROBED_NUMBER) PROBED_OPERATIONS
#undef PROBED_NUMBER
};

#endif
