/* Whole numbers of some hundred bits. In them the signs of triple products, of a direction and corners of a triangle
 * relative to a point, are exact. Where rounded numbers cannot decide, touch.h and crossing.h use them. */
#ifndef MATHS_WHOLE_H
#define MATHS_WHOLE_H

/* OpenCL's programs have them where they have closed edges, or winding numbers. All code that is compiled ahead calls
 * the functions of host/shapes/exact.c, which alone has them. */
#if !defined(__OPENCL_C_VERSION__) || defined(SLAB_NATIVE)
#ifdef SLAB_WHOLE
#define HAS_WHOLE 1
#else
#define HAS_WHOLE 0
#endif
#else
#define HAS_WHOLE (HAS_CLOSED || SLAB_WINDS)
#endif

#if HAS_WHOLE

/* The most words of a number. Coordinates are at most 2^60 and multiples of 2^-149, so that a difference has 211 bits.
 * The product of three has 633, the sum of six of them 3 more. One bit is the sign, one is for touch_quotient. */
#define WHOLE_WORDS 20

/* Functions that are called: inlined in each other they would be most of a program. */
#define PART static __attribute__((noinline))

#ifdef __OPENCL_C_VERSION__
typedef ulong whole_pair;
#else
typedef uint64_t whole_pair;
#endif

/* A whole number: the lowest word first, in two's complement. Functions take how many words are in use. */
typedef struct whole {
  uint word[WHOLE_WORDS];
} whole;

PART bool whole_is_negative(const whole *a, int words) { return a->word[words - 1] >> 31 != 0; }

/* sum += a, or -= a. */
PART void whole_add(whole *sum, const whole *a, bool subtracts, int words) {
  whole_pair carry = subtracts ? 1 : 0;
  for (int i = 0; i < words; i++) {
    carry += (whole_pair)sum->word[i] + (subtracts ? ~a->word[i] : a->word[i]);
    sum->word[i] = (uint)carry;
    carry >>= 32;
  }
}

PART void whole_clear(whole *a, int words) {
  for (int i = 0; i < words; i++) a->word[i] = 0u;
}

/* sum += a b, or -= a b. Modulo 2^(32 words), so signs need no care. */
PART void whole_add_product(whole *sum, const whole *a, const whole *b, bool subtracts, int words) {
  whole product;
  whole_clear(&product, words);
  for (int i = 0; i < words; i++) {
    whole_pair carry = 0;
    for (int j = 0; a->word[i] != 0u && i + j < words; j++) {
      carry += (whole_pair)a->word[i] * b->word[j] + product.word[i + j];
      product.word[i + j] = (uint)carry;
      carry >>= 32;
    }
  }
  whole_add(sum, &product, subtracts, words);
}

/* Bits up to the highest that is set. a >= 0. */
PART int whole_bits(const whole *a, int words) {
  int i = words - 1, bits = 0;
  while (i >= 0 && a->word[i] == 0u) i--;
  for (uint top = i < 0 ? 0u : a->word[i]; top != 0u; top >>= 1) bits++;
  return 32 * i + bits;
}

PART int float_exponent(float x) {
  const int e = (int)(scalar_bits(x) >> 23 & 255u);
  return e > 1 ? e : 1;
}

PART uint float_significand(float x) {
  const uint bits = scalar_bits(x) & 0x7FFFFFFFu;
  return bits < 0x800000u ? bits : (bits & 0x7fffffu) | 0x800000u;
}

/* The powers of two that all numbers of a list are multiples of, and below. */
typedef struct whole_range {
  int least, most;
} whole_range;

PART void range_add(whole_range *r, float x) {
  const uint significand = float_significand(x);
  if (significand == 0u) return;
  const int least = float_exponent(x) - 150 + (int)lowest_lane(significand), most = float_exponent(x) - 126;
  r->least = least < r->least ? least : r->least;
  r->most = most > r->most ? most : r->most;
}

PART int range_bits(const whole_range *r) { return r->most > r->least ? r->most - r->least : 0; }

/* sum += x / 2^least, or -=. */
PART void whole_add_float(whole *sum, float x, int least, bool subtracts, int words) {
  if (float_significand(x) == 0u) return; /* whose place means nothing: it may be further off than a shift goes */
  const int place = float_exponent(x) - 150 - least;
  const uint significand = place < 0 ? float_significand(x) >> -place : float_significand(x);
  const int first = place < 0 ? 0 : place / 32, rest = place < 0 ? 0 : place % 32;
  const whole_pair placed = (whole_pair)significand << rest;
  whole a;
  whole_clear(&a, words);
  a.word[first] = (uint)placed;
  if (first + 1 < words) a.word[first + 1] = (uint)(placed >> 32);
  whole_add(sum, &a, subtracts != (scalar_bits(x) >> 31 != 0u), words);
}

/* ---- triple products ---- */

/* Corners relative to the origin, the direction, edge functions and their sum, and t's
 * numerator. */
typedef struct whole_corners {
  int words, exponent; /* that of t */
  whole corner[3][3], along[3], edge[3], sum, depth;
} whole_corners;

/* False where numbers are larger than any that the contract allows. */
PART bool whole_prepare(const float origin[3], const float along[3], float corner[3][3], whole_corners *n) {
  whole_range places = {1000, -1000}, directions = {1000, -1000};
  for (int i = 0; i < 3; i++) {
    range_add(&directions, along[i]);
    range_add(&places, origin[i]);
    for (int v = 0; v < 3; v++) range_add(&places, corner[v][i]);
  }
  const int place = range_bits(&places) + 1, direction = range_bits(&directions);
  n->words = (2 * place + (place > direction + 2 ? place : direction + 2) + 3 + 2 + 31) / 32;
  n->exponent = places.least - directions.least;
  if (n->words > WHOLE_WORDS) return false;
  for (int i = 0; i < 3; i++) {
    whole_clear(&n->along[i], n->words);
    whole_add_float(&n->along[i], along[i], directions.least, false, n->words);
    for (int v = 0; v < 3; v++) {
      whole_clear(&n->corner[v][i], n->words);
      whole_add_float(&n->corner[v][i], corner[v][i], places.least, false, n->words);
      whole_add_float(&n->corner[v][i], origin[i], places.least, true, n->words);
    }
  }
  return true;
}

/* The edge function of the edge facing a corner; of corner 0 the numerator of t too. */
PART void whole_edge(whole_corners *n, int vertex) {
  const int i = next_of_three(vertex), j = next_of_three(i);
  whole_clear(&n->edge[vertex], n->words);
  if (vertex == 0) whole_clear(&n->depth, n->words);
  for (int axis = 0; axis < 3; axis++) {
    const int a = next_of_three(axis), b = next_of_three(a);
    whole cross;
    whole_clear(&cross, n->words);
    whole_add_product(&cross, &n->corner[j][a], &n->corner[i][b], false, n->words);
    whole_add_product(&cross, &n->corner[j][b], &n->corner[i][a], true, n->words);
    whole_add_product(&n->edge[vertex], &n->along[axis], &cross, false, n->words);
    if (vertex == 0) whole_add_product(&n->depth, &n->corner[0][axis], &cross, false, n->words);
  }
}

PART int whole_sign(const whole *a, int words) {
  return whole_is_negative(a, words) ? -1 : whole_bits(a, words) > 0 ? 1 : 0;
}

#endif
#endif
