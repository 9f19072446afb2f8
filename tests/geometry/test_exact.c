/* Division and square root by integer arithmetic (kernels/lanes/exact.h), compared bit by bit with the processor's own,
 * which IEEE 754 requires to be correctly rounded. */
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

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(ends_of_the_range_divide_exactly), cmocka_unit_test(any_bits_divide_exactly),
      cmocka_unit_test(subnormal_quotients_round_once),   cmocka_unit_test(every_significand_has_its_reciprocal),
      cmocka_unit_test(every_significand_has_its_root),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
