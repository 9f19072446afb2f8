/* Closed edges, exactly: whether the line of a ray meets a triangle where rounded edge functions cannot tell, and
 * where. It is asked in the rare case that one of them is within its error of 0 (triangle.inc).
 *
 * With A, B, C the corners relative to the origin and d the direction, the edge function of an edge from I to J is
 * d . (J x I), up to the sign of d's third component. The line meets the triangle where no two of the three have
 * opposite signs and not all are 0. The weights are E_k / S, where S is their sum. t is A . (C x B) / S. All operands
 * are floats. So numerators and denominators are whole numbers times a power of two, and are computed as such. Each
 * quotient is rounded once. */
#ifndef MATHS_TOUCH_H
#define MATHS_TOUCH_H

/* Where a line meets a triangle. side: 0 nowhere, 1 from the front, -1 from the back. u, v: weights of b and c. */
typedef struct touch {
  int side;
  float u, v, t;
} touch;

#if !defined(__OPENCL_C_VERSION__) || defined(SLAB_NATIVE)
/* Once for the library: host/shapes/closed.c. */
void slab_touch(const float origin[3], const float along[3], float corner[3][3], touch *met);
#define TOUCH_FUNCTION void
#else
#define TOUCH_FUNCTION static __attribute__((noinline)) void
#define SLAB_TOUCH
#endif

#ifdef SLAB_TOUCH
#ifndef __OPENCL_C_VERSION__
#include "lanes/exact.h"
#endif

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

/* The same number without its sign. */
PART void whole_make_positive(whole *a, int words) {
  whole positive;
  if (!whole_is_negative(a, words)) return;
  whole_clear(&positive, words);
  whole_add(&positive, a, true, words);
  *a = positive;
}

/* sum += a b, or -= a b. Modulo 2^(32 words), where signs need no care. */
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

/* a times 2^by. */
PART void whole_shift(whole *a, int by, int words) {
  const int whole_words = by / 32, rest = by % 32;
  for (int i = words - 1; i >= 0; i--) {
    const whole_pair high = i >= whole_words ? a->word[i - whole_words] : 0u;
    const whole_pair low = i > whole_words ? a->word[i - whole_words - 1] : 0u;
    a->word[i] = (uint)((high << 32 | low) << rest >> 32);
  }
}

PART int float_exponent(float x) {
  const int e = (int)(scalar_bits(x) >> 23 & 255u);
  return e > 1 ? e : 1;
}

PART uint float_significand(float x) {
  const uint bits = scalar_bits(x) & ~EXACT_SIGN;
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

/* a / b times 2^exponent, rounded once. |b| > 0. One bit of the quotient at a time: the loop begins with both of one
 * length. */
PART float touch_quotient(whole a, whole b, int exponent, int words) {
  const bool negative = whole_is_negative(&a, words) != whole_is_negative(&b, words);
  uint quotient = 0u;
  whole_make_positive(&a, words);
  whole_make_positive(&b, words);
  const int above = whole_bits(&a, words) - whole_bits(&b, words);
  if (whole_bits(&a, words) <= 0) return 0.0f;
  if (above > 0)
    whole_shift(&b, above, words);
  else
    whole_shift(&a, -above, words);
  for (int i = 0; i < 26; i++) {
    whole left = a;
    whole_add(&left, &b, true, words);
    quotient <<= 1;
    if (!whole_is_negative(&left, words)) {
      a = left;
      quotient |= 1u;
    }
    whole_shift(&a, 1, words);
  }
  const uint sticky = whole_bits(&a, words) > 0 ? 1u : 0u;
  const bool long_enough = quotient >= 0x2000000u;
  const uint rounded = long_enough ? exact_round(quotient | sticky, exponent + above)
                                   : exact_round(quotient << 1 | sticky, exponent + above - 1);
  return scalar_float((negative && rounded != 0u ? EXACT_SIGN : 0u) | rounded);
}

/* What touch computes with: corners relative to the origin, the direction, edge functions and their sum, and t's
 * numerator. */
typedef struct touch_numbers {
  int words, exponent; /* that of t */
  whole corner[3][3], along[3], edge[3], sum, depth;
} touch_numbers;

/* False where numbers are larger than any that the contract allows. */
PART bool touch_prepare(const float origin[3], const float along[3], float corner[3][3], touch_numbers *n) {
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
PART void touch_edge(touch_numbers *n, int vertex) {
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

/* The arguments are in the order of the shear: the third component of `along` is the largest. */
TOUCH_FUNCTION slab_touch(const float origin[3], const float along[3], float corner[3][3], touch *met) {
  touch_numbers n;
  bool positive = false, negative = false;
  met->side = 0;
  met->u = met->v = met->t = 0.0f;
  if (!touch_prepare(origin, along, corner, &n)) return;
  whole_clear(&n.sum, n.words);
  for (int k = 0; k < 3; k++) {
    touch_edge(&n, k);
    positive = positive || whole_sign(&n.edge[k], n.words) > 0;
    negative = negative || whole_sign(&n.edge[k], n.words) < 0;
    whole_add(&n.sum, &n.edge[k], false, n.words);
  }
  if (positive == negative) return;
  met->side = positive == (along[2] > 0.0f) ? 1 : -1;
  met->u = touch_quotient(n.edge[1], n.sum, 0, n.words);
  met->v = touch_quotient(n.edge[2], n.sum, 0, n.words);
  met->t = touch_quotient(n.depth, n.sum, n.exponent, n.words);
}

#endif
#endif
