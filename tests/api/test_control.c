/* host/base/arithmetic.h alone, with each of its implementations: the mode inside a block, and after it. */
#include "base/arithmetic.h"

#include "harness.h"
#include "modes.h"

/* Volatile operands, so that the compiler cannot compute the results itself. */
static volatile float operands[2];

#define COMPUTED(name, operator)             \
  static float name(float a, float b) {      \
    operands[0] = a;                         \
    operands[1] = b;                         \
    return operands[0] operator operands[1]; \
  }
COMPUTED(sum, +)
COMPUTED(product, *)
COMPUTED(quotient, /)

/* Ties round to even, subnormal operands and results are kept, and nothing traps. Not inlined, because a compiler
 * may otherwise move the computation past the call that ends a mode. */
__attribute__((noinline)) static int computes_by_default(void) {
  if (sum(1.0f, 0x1p-24f) != 1.0f || sum(0x1.000002p0f, 0x1p-24f) != 0x1.000004p0f) return 0;
  if (sum(-1.0f, -0x1p-24f) != -1.0f || sum(1.0f, 0x1.fffffep-25f) != 1.0f) return 0;
  if (product(0x1p-100f, 0x1p-30f) != 0x1p-130f || product(0x1p-130f, 0x1p100f) != 0x1p-30f) return 0;
  return quotient(1.0f, 0.0f) == INFINITY && product(0x1p127f, 2.0f) == INFINITY;
}

static int in_a_block(void) {
  ARITHMETIC callers = arithmetic_begin();
  return computes_by_default();
}

static void block_computes_by_default_whatever_its_caller_does(void **state) {
  (void)state;
  for (size_t i = 0; i < mode_count; i++) {
    mode_set(&modes[i]);
    const int right = in_a_block();
    mode_end();
    if (!right) fail_msg("%s: not by default", modes[i].name);
  }
}

static void caller_has_its_own_again(void **state) {
  (void)state;
  for (size_t i = 0; i < mode_count; i++) {
    mode_set(&modes[i]);
    in_a_block();
    const bool same = mode_holds(&modes[i]);
    mode_end();
    if (!same) fail_msg("%s: changed", modes[i].name);
  }
}

/* A test of the tests: without the block, the modes do change results. */
static void modes_compute_otherwise(void **state) {
  (void)state;
  for (size_t i = 1; i < mode_count; i++) {
    if (modes[i].clear != 0) continue; /* would trap */
    mode_set(&modes[i]);
    const int right = computes_by_default();
    mode_end();
    if (right) fail_msg("%s: as by default", modes[i].name);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(block_computes_by_default_whatever_its_caller_does),
      cmocka_unit_test(caller_has_its_own_again),
      cmocka_unit_test(modes_compute_otherwise),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
