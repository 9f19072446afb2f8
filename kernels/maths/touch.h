/* Closed edges, exactly: whether the line of a ray meets a triangle where rounded edge functions cannot tell, and
 * where. It is called in the rare case that one of them is within its error of 0 (triangle.inc).
 *
 * With A, B, C the corners relative to the origin and d the direction, the edge function of an edge from I to J is
 * d . (J x I), up to the sign of d's third component. The line meets the triangle where no two of the three have
 * opposite signs and not all are 0. The weights are E_k / S, where S is their sum. t is A . (C x B) / S. All operands
 * are floats. So numerators and denominators are whole numbers times a power of two, and are computed as such. Each
 * quotient is rounded once. */
#ifndef MATHS_TOUCH_H
#define MATHS_TOUCH_H

#include "maths/whole.h"

#if HAS_CLOSED

/* Where a line meets a triangle. side: 0 nowhere, 1 from the front, -1 from the back. u, v: weights of b and c. */
typedef struct touch {
  int side;
  float u, v, t;
} touch;

#if !defined(__OPENCL_C_VERSION__) || defined(SLAB_NATIVE)
/* Once for the library: host/shapes/exact.c. */
void slab_touch(const float origin[3], const float along[3], float corner[3][3], touch *met);
#define TOUCH_FUNCTION void
#else
#define TOUCH_FUNCTION static __attribute__((noinline)) void
#endif

#if HAS_WHOLE
#ifndef __OPENCL_C_VERSION__
#include "lanes/exact.h"
#endif

/* The same number without its sign. */
PART void whole_make_positive(whole *a, int words) {
  whole positive;
  if (!whole_is_negative(a, words)) return;
  whole_clear(&positive, words);
  whole_add(&positive, a, true, words);
  *a = positive;
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

/* The arguments are in the order of the shear: the third component of `along` is the largest. */
TOUCH_FUNCTION slab_touch(const float origin[3], const float along[3], float corner[3][3], touch *met) {
  whole_corners n;
  bool positive = false, negative = false;
  met->side = 0;
  met->u = met->v = met->t = 0.0f;
  if (!whole_prepare(origin, along, corner, &n)) return;
  whole_clear(&n.sum, n.words);
  for (int k = 0; k < 3; k++) {
    whole_edge(&n, k);
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
#endif
