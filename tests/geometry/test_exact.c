/* Division and square root by integer arithmetic (kernels/lanes/exact.h), compared bit by bit with the processor's own,
 * which IEEE 754 requires to be correctly rounded. And a product and a sum, rounded once (kernels/lanes/fused.h), by
 * whole numbers. */
#include "harness.h"
#include "lanes/lanes.h"
/* after lanes.h */
#include "lanes/exact.h"

static void assert_divides(uint a, uint b) {
  const float wanted = scalar_float(a) / scalar_float(b), got = exact_divide(scalar_float(a), scalar_float(b));
  if (scalar_bits(got) == scalar_bits(wanted) || (wanted != wanted && got != got)) return;
  fail_msg("%a / %a gives %a, not %a", (double)scalar_float(a), (double)scalar_float(b), (double)got, (double)wanted);
}

static void assert_root(uint a) {
  const float wanted = sqrtf(scalar_float(a)), got = exact_sqrt(scalar_float(a));
  if (scalar_bits(got) == scalar_bits(wanted) || (wanted != wanted && got != got)) return;
  fail_msg("the root of %a is %a, not %a", (double)scalar_float(a), (double)got, (double)wanted);
}

/* Zeros, the smallest and largest subnormal and normal numbers, one and its neighbours, infinity, NaN; of both
 * signs. */
static const uint ends[] = {0u,          1u,          2u,          3u,          0x400000u,   0x7fffffu,   0x800000u,
                            0x800001u,   0xffffffu,   0x1000000u,  0x3effffffu, 0x3f000000u, 0x3f7fffffu, 0x3f800000u,
                            0x3f800001u, 0x3fffffffu, 0x40000000u, 0x7e800000u, 0x7effffffu, 0x7f000000u, 0x7f7ffffeu,
                            0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x7fffffffu};
enum { ENDS = sizeof ends / sizeof *ends };

static uint end_of(int i) { return ends[i % ENDS] | (i >= ENDS ? 0x80000000u : 0u); }

static void ends_of_the_range_divide_exactly(void **state) {
  (void)state;
  for (int i = 0; i < 2 * ENDS; i++)
    for (int k = 0; k < 2 * ENDS; k++) assert_divides(end_of(i), end_of(k));
}

static void any_bits_divide_exactly(void **state) {
  (void)state;
  random_state random = harness_seeded("any_bits_divide_exactly");
  for (int i = 0; i < 2000000; i++) {
    const uint64_t bits = random_bits(&random);
    assert_divides((uint)bits, (uint)(bits >> 32));
    assert_divides((uint)bits, end_of(i % (2 * ENDS)));
    assert_divides(end_of(i % (2 * ENDS)), (uint)bits);
  }
}

/* Quotients that are subnormal, many of them halfway between two floats. */
static void subnormal_quotients_round_once(void **state) {
  (void)state;
  random_state random = harness_seeded("subnormal_quotients_round_once");
  for (int i = 0; i < 1000000; i++) {
    const uint64_t bits = random_bits(&random);
    const uint shift = (uint)(bits >> 60), odd = (uint)(bits & 0x7fffffu) >> shift << shift;
    assert_divides(0x800000u | odd, 0x3f800000u + ((uint)(bits >> 23 & 31) << 23));
    assert_divides(0x800000u | odd, 0x3f800000u + ((uint)(bits >> 23 & 0xfffffffu) & 0xfffffffu));
  }
}

static void every_significand_has_its_reciprocal(void **state) {
  (void)state;
  for (uint m = 0; m < 0x800000u; m++) assert_divides(0x3f800000u, 0x3f800000u | m);
}

/* The significand of a root depends only on the significand and on whether the exponent is odd. */
static void every_significand_has_its_root(void **state) {
  (void)state;
  for (uint m = 0; m < 0x1000000u; m++) assert_root(0x3f800000u + m);
  for (int i = 0; i < 2 * ENDS; i++) assert_root(end_of(i));
  random_state random = harness_seeded("every_significand_has_its_root");
  for (int i = 0; i < 1000000; i++) assert_root((uint)random_bits(&random));
}

/* ---- a b + c ---- */

/* A whole number, times 2^exponent, rounded to a float; down to subnormal ones. */
static float rounded(int64_t number, int exponent) {
  uint64_t whole = number < 0 ? (uint64_t)-number : (uint64_t)number;
  uint64_t sticky = 0;
  for (; whole >> 26 != 0 || exponent < -151; exponent++) {
    sticky |= whole & 1;
    whole >>= 1;
  }
  for (; whole != 0 && whole >> 25 == 0 && exponent > -151; exponent--) whole <<= 1;
  const uint64_t below = (whole & 3) << 1 | sticky, up = below > 4 || (below == 4 && (whole & 4) != 0);
  const float size = ldexpf((float)(whole / 4 + up), exponent + 2);
  return number < 0 ? -size : size;
}

/* a b + c 2^(shift - 14), times 2^exponent, of whole numbers below 2^24. */
static void assert_fused(int32_t a, int32_t b, int32_t c, int shift, int exponent) {
  const int64_t sum = (int64_t)a * b * (1 << 14) + c * ((int64_t)1 << shift);
  const float x = ldexpf((float)a, exponent), y = (float)b, z = ldexpf((float)c, exponent - 14 + shift);
  const float want = rounded(sum, exponent - 14), got[2] = {fused(x, y, z), fused_by_double(x, y, z)};
  for (int i = 0; i < 2 && sum != 0; i++)
    if (scalar_bits(got[i]) != scalar_bits(want))
      fail_msg("%a * %a + %a gives %a, not %a", (double)x, (double)y, (double)z, (double)got[i], (double)want);
}

static void products_and_sums_round_once(void **state) {
  (void)state;
  random_state random = harness_seeded("products_and_sums_round_once");
  for (int i = 0; i < 2000000; i++) {
    const uint64_t bits = random_bits(&random), more = random_bits(&random);
    const int32_t a = (int32_t)(bits & 0xffffff) - 0x800000, b = (int32_t)(bits >> 24 & 0xffffff) - 0x800000;
    const int32_t c = (int32_t)(more & 0xffffff) - 0x800000;
    const int shift = (int)((more >> 24) % 37), exponent = (int)(more >> 40 & 127) - 100;
    assert_fused(a, b, c, shift, exponent);
    /* halfway between two floats, but for a little */
    assert_fused(0x1001 << (bits >> 48 & 7), 0x1001, c >> (bits >> 52 & 31), shift % 8, exponent);
    assert_fused(a >> 12, b >> 12, c >> (bits >> 52 & 31), shift % 8, -120 - exponent / 4); /* subnormal */
  }
}

/* By the C library for Windows the first is 0x1.002p+0. */
static void hard_sums_round_once(void **state) {
  (void)state;
  static const float of[][4] = {
      {0x1.001p+0f, 0x1.001p+0f, 0x1p-60f, 0x1.002002p+0f},
      {0x1.001p+0f, 0x1.001p+0f, -0x1p-60f, 0x1.002p+0f},
      {0x1p-75f, 0x1p-75f, 0x0p+0f, 0x0p+0f},
      {0x1.8p-75f, 0x1p-74f, 0x0p+0f, 0x1p-148f},
      {0x1p-75f, 0x1p-75f, 0x1p-149f, 0x1p-148f},
      {0x1p-75f, -0x1p-75f, 0x1p-126f, 0x1p-126f},
      {0x1p-80f, -0x1p-75f, 0x1p-126f, 0x1p-126f},
      {0x1.fffffep+127f, 0x1p+0f, 0x1p+102f, 0x1.fffffep+127f},
      {0x1.fffffep+127f, 0x1p+1f, -0x1.fffffep+127f, 0x1.fffffep+127f},
      {INFINITY, 0x1p+0f, 0x1p+0f, INFINITY},
      {0x1p+0f, 0x1p+0f, -INFINITY, -INFINITY},
      {-0.0f, 0x1p+0f, -0.0f, -0.0f},
      {0x1p+0f, 0x1p+0f, -0x1p+0f, 0.0f},
  };
  for (size_t i = 0; i < sizeof of / sizeof *of; i++) {
    const float got = fused(of[i][0], of[i][1], of[i][2]), by_double = fused_by_double(of[i][0], of[i][1], of[i][2]);
    if (scalar_bits(got) != scalar_bits(of[i][3]) || scalar_bits(by_double) != scalar_bits(of[i][3]))
      fail_msg("row %zu gives %a, by double %a, not %a", i, (double)got, (double)by_double, (double)of[i][3]);
  }
  assert_true(isnan(fused(INFINITY, 0.0f, 1.0f)) && isnan(fused_by_double(INFINITY, 0.0f, 1.0f)));
  assert_true(isnan(fused(1.0f, 1.0f, NAN)) && isnan(fused_by_double(1.0f, 1.0f, NAN)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_of_the_range_divide_exactly),
      cmocka_unit_test(any_bits_divide_exactly),
      cmocka_unit_test(subnormal_quotients_round_once),
      cmocka_unit_test(every_significand_has_its_reciprocal),
      cmocka_unit_test(every_significand_has_its_root),
      cmocka_unit_test(products_and_sums_round_once),
      cmocka_unit_test(hard_sums_round_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
