/* Pieces learn from the pieces before them. */
#include "native/learn.h"

#include "harness.h"

/* One of 32 pieces visits children in the order that is longer. */
static void shorter_order_is_taken(void **state) {
  (void)state;
  for (uint32_t farthest_is_shorter = 0; farthest_is_shorter < 2; farthest_is_shorter++) {
    child_order o;
    uint32_t farthest = 0;
    learn_order_begin(&o);
    for (int piece = 0; piece < 3200; piece++) {
      const uint32_t first = learn_order_farthest(&o);
      farthest += first;
      learn_order(&o, first, first == farthest_is_shorter ? 100 : 130, 10);
    }
    assert_in_range(farthest_is_shorter ? 3200 - farthest : farthest, 99, 102);
  }
}

static void order_is_learned_anew(void **state) {
  (void)state;
  child_order o;
  uint32_t farthest = 0;
  learn_order_begin(&o);
  for (int piece = 0; piece < 6400; piece++) {
    const uint32_t first = learn_order_farthest(&o), shorter = piece >= 3200;
    if (piece >= 4800) farthest += first;
    learn_order(&o, first, first == shorter ? 100 : 130, 10);
  }
  assert_in_range(farthest, 1500, 1600);
}

/* A sample's own piece and the one beside it, of 100 rays each. */
static void pair(recent_ratio *r, uint64_t own, uint64_t beside, bool own_first) {
  if (own_first) learn_recent(r, true, 100 * own, 100);
  learn_recent(r, false, 100 * beside, 100);
  if (!own_first) learn_recent(r, true, 100 * own, 100);
}

static void one_pair_proves_nothing(void **state) {
  (void)state;
  for (int own_first = 0; own_first < 2; own_first++) {
    recent_ratio r[2];
    learn_recent_begin(&r[0], 1.5);
    learn_recent_begin(&r[1], 1.2);
    assert_int_equal(learn_recent_fastest(r, 2), 2); /* the chunk's way */
    pair(&r[0], 70, 100, own_first);
    assert_int_equal(learn_recent_fastest(r, 2), 2);
    for (int k = 0; k < 8; k++) pair(&r[0], 70, 100, own_first);
    assert_int_equal(learn_recent_fastest(r, 2), 0);
    for (int k = 0; k < 8; k++) pair(&r[1], 50, 100, own_first);
    assert_int_equal(learn_recent_fastest(r, 2), 1); /* the faster of both */
    for (int k = 0; k < 8; k++) pair(&r[1], 150, 100, own_first);
    assert_int_equal(learn_recent_fastest(r, 1), 0);
    assert_int_equal(learn_recent_fastest(r, 2), 0);
  }
}

/* Pieces of one kind that follow each other: the last one counts. */
static void pieces_alone_wait_for_the_other_kind(void **state) {
  (void)state;
  recent_ratio r;
  learn_recent_begin(&r, 1.0);
  for (int k = 0; k < 100; k++) learn_recent(&r, true, 1, 100);
  assert_int_equal(learn_recent_fastest(&r, 1), 1);
  for (int k = 0; k < 8; k++) pair(&r, 100, 0, true); /* endless, as far as it is told */
  assert_int_equal(learn_recent_fastest(&r, 1), 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(shorter_order_is_taken),
      cmocka_unit_test(order_is_learned_anew),
      cmocka_unit_test(one_pair_proves_nothing),
      cmocka_unit_test(pieces_alone_wait_for_the_other_kind),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
