/* The occluder cache: the last occluder is tested first while that pays, and no longer. */
#include "walk/occluder.h"

#include "harness.h"

enum { RAYS = 16000 };

/* The number of rays that test the occluder, if it blocks this share of those that test it. */
static unsigned asking(unsigned blocked_of_100) {
  random_state random = harness_seeded("asking");
  occluder last = occluder_none();
  unsigned asked = 0;
  occluder_remember(&last, 4, 7, 3);
  for (int i = 0; i < RAYS; i++) {
    if (!occluder_is_tested(&last)) continue;
    asked++;
    occluder_judge(&last, random_below(&random, 100) < blocked_of_100);
  }
  return asked;
}

static void nobody_asks_what_is_not_known(void **state) {
  (void)state;
  occluder last = occluder_none();
  for (int i = 0; i < RAYS; i++) assert_false(occluder_is_tested(&last));
}

static void what_blocks_is_asked_always(void **state) {
  (void)state;
  assert_int_equal(asking(100), RAYS);
}

static void what_blocks_nobody_is_asked_now_and_then(void **state) {
  (void)state;
  assert_in_range(asking(0), RAYS / OCCLUDER_AGAIN, RAYS / OCCLUDER_AGAIN + OCCLUDER_PAYS);
}

static void what_blocks_one_in_two_is_asked_by_most(void **state) {
  (void)state;
  assert_in_range(asking(50), RAYS * 9 / 10, RAYS);
}

static void what_blocks_one_in_twenty_is_asked_by_few(void **state) {
  (void)state;
  assert_in_range(asking(5), RAYS / OCCLUDER_AGAIN, RAYS / 4);
}

static void trust_that_was_long_earned_is_soon_lost(void **state) {
  (void)state;
  occluder last = occluder_none();
  unsigned asked = 0;
  occluder_remember(&last, 4, 7, 3);
  for (int i = 0; i < RAYS; i++) occluder_judge(&last, true);
  for (int i = 0; i < RAYS / 2; i++) {
    if (!occluder_is_tested(&last)) continue;
    asked++;
    occluder_judge(&last, false);
  }
  assert_in_range(asked, OCCLUDER_TRUST, OCCLUDER_TRUST + RAYS / 2 / OCCLUDER_AGAIN);
}

/* occluder_is_next must predict occluder_is_tested exactly. Otherwise an occluder is remembered without use, or too
 * late. */
static void who_is_next_is_foreseen(void **state) {
  (void)state;
  random_state random = harness_seeded("who_is_next_is_foreseen");
  occluder last = occluder_none();
  occluder_remember(&last, 4, 7, 3);
  for (int i = 0; i < RAYS; i++) {
    const bool next = occluder_is_next(&last), asked = occluder_is_tested(&last);
    assert_true(next == asked);
    if (asked) occluder_judge(&last, random_below(&random, 6) == 0);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(nobody_asks_what_is_not_known),
      cmocka_unit_test(what_blocks_is_asked_always),
      cmocka_unit_test(what_blocks_nobody_is_asked_now_and_then),
      cmocka_unit_test(what_blocks_one_in_two_is_asked_by_most),
      cmocka_unit_test(what_blocks_one_in_twenty_is_asked_by_few),
      cmocka_unit_test(trust_that_was_long_earned_is_soon_lost),
      cmocka_unit_test(who_is_next_is_foreseen),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
