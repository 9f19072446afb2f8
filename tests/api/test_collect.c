/* How much memory hits get before they are counted, and how lists that come back from the device are validated. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "work/hit_batch.h"

enum { RAYS = 100, SPACE = 400, MOST = 50 };

/* ---- sizes ---- */

/* For any known numbers of hits, the chosen number of rays leaves memory for some hits of each kind, within the given
 * bytes. */
static void space_is_within_the_bytes(void **state) {
  (void)state;
  static const size_t sizes[] = {3000, 100000, (size_t)32 << 20, SPACE_BYTES};
  static const double means[] = {0.0, 0.1, 1.5, 20.0, 5000.0, 1e7}, each[] = {0.125, 1.0};
  for (int i = 0; i < 4 * 6 * 6 * 2; i++) {
    const hits_known known = {100000, means[i / 2 % 6], means[i / 12 % 6]};
    const double walks_each = each[i % 2];
    const uint32_t most = space_rays(&known, sizes[i / 72], walks_each);
    for (uint32_t rays = most; rays >= 1; rays /= 3) {
      const uint32_t walks = (uint32_t)(walks_each * rays) + 1;
      const hit_space r = space_of(&known, sizes[i / 72], rays, walks);
      assert_true(space_size(rays, &r) <= sizes[i / 72]);
      assert_true(r.hits >= 1 && r.walks == walks);
      if (rays > 1) assert_true(r.hits >= known.mean * rays && r.walk >= 1);
    }
  }
}

/* Requests that fail are counted too, and the counters must not wrap around. */
static void what_is_taken_stays_below_2_to_32(void **state) {
  (void)state;
  static const double means[] = {0.0, 1.0, 30.0, 900.0, 1e6};
  for (int i = 0; i < 25; i++) {
    const hits_known known = {100000, means[i % 5], means[i / 5]};
    const uint32_t rays = space_rays(&known, SPACE_BYTES, 0.125);
    const hit_space r = space_of(&known, SPACE_BYTES, rays, rays / 8 + 1);
    const double listed = (double)rays * (r.walk > HIT_SHARE ? r.walk : HIT_SHARE) + r.larger;
    assert_true(r.hits + listed < 0x1p32);
    assert_true(r.larger + 2.0 * r.walk * rays + 2.0 * r.larger < 0x1p32);
  }
}

static void nothing_is_known_of_few_rays(void **state) {
  (void)state;
  const hits_known none = {0}, few = {100, 0.0, 0.0}, many = {100000, 0.0, 0.0};
  assert_false(hits_are_known(&none) || hits_are_known(&few));
  assert_true(hits_are_known(&many));
  assert_true(space_rays(&few, SPACE_BYTES, 1.0) <= 4096);
  assert_true(space_rays(&many, SPACE_BYTES, 1.0) > 4096);
}

/* ---- lists ---- */

/* Ray i has i % 4 hits, each list at a different place. */
static hit_batch *batch_of(void) {
  const hit_space space = {.hits = SPACE, .walks = 1, .walk = 4, .larger = 4};
  hit_batch *b = batch_create(NULL, 7, RAYS, &space, true);
  assert_non_null(b);
  hit_list *lists = (hit_list *)(void *)(b->results + TAKEN_NUMBERS * sizeof(uint32_t));
  slab_hit *hits = (slab_hit *)(void *)(b->results + space_begin(RAYS));
  for (uint32_t i = 0; i < RAYS; i++) {
    lists[i] = (hit_list){i % 4 == 0 ? 0 : 4 * (RAYS - 1 - i), i % 4};
    for (uint32_t k = 0; k < i % 4; k++) hits[lists[i].begin + k] = (slab_hit){.t = (float)i, .primitive = k};
  }
  return b;
}

static void hits_go_where_offsets_say(void **state) {
  (void)state;
  hit_batch *b = batch_of();
  hits_known known = {0};
  uint64_t counts[RAYS], offsets[7 + RAYS + 1] = {0};
  slab_hit hits[2 * RAYS];
  assert_true(batch_look(b, MOST, counts, 2));
  assert_true(!b->lost && b->found == 150 && b->used <= SPACE);
  batch_note(b, &known);
  assert_true(known.rays == RAYS && known.mean == 1.5 && known.deviation > 1.11 && known.deviation < 1.12);
  for (uint32_t i = 0; i < RAYS; i++) offsets[7 + i + 1] = offsets[7 + i] + counts[i];
  batches_place(b, offsets, hits, 2);
  for (uint32_t i = 0, at = 0; i < RAYS; i++)
    for (uint32_t k = 0; k < i % 4; k++, at++) assert_true(hits[at].t == (float)i && hits[at].primitive == k);
  batches_free(b);
}

static void lists_that_cannot_be_are_refused(void **state) {
  (void)state;
  static const hit_list wrong[] = {{SPACE, 1},    {SPACE - 1, 2}, {SPACE + 1, 0}, {0xFFFFFFF0u, 20},
                                   {0, MOST + 1}, {1, 0},         {LIST_LOST, 0}, {LIST_LOST, MOST + 1}};
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    uint64_t counts[RAYS];
    hit_batch *b = batch_of();
    memcpy(b->results + TAKEN_NUMBERS * sizeof(uint32_t) + 50 * sizeof *wrong, &wrong[i], sizeof *wrong);
    assert_false(batch_look(b, MOST, counts, 1));
    batches_free(b);
  }
}

static void lost_hits_are_counted(void **state) {
  (void)state;
  hit_batch *b = batch_of();
  hit_list *lists = (hit_list *)(void *)(b->results + TAKEN_NUMBERS * sizeof(uint32_t));
  uint64_t counts[RAYS];
  lists[3].begin = LIST_LOST;
  lists[3].count = MOST;
  assert_true(batch_look(b, MOST, counts, 1));
  assert_true(counts[3] == MOST && b->lost && b->found == 150 - 3 + MOST);
  batches_free(b);
}

/* ---- memory that is kept ---- */

static void memory_goes_from_cast_to_cast(void **state) {
  (void)state;
  batch_keeper keeper = {.bytes = 0};
  const hit_space space = {.hits = SPACE, .walks = 1, .walk = 4, .larger = 4}, more = {.hits = 2 * SPACE},
                  most = {.hits = 50 * SPACE};
  hit_batch *b = batch_create(&keeper, 0, RAYS, &space, true), *other = batch_create(&keeper, 7, RAYS, &space, true);
  const unsigned char *memory = b->results;
  assert_true(other->results != memory);
  b->lost = true;
  b->used = SPACE;
  batches_free(b);
  assert_true(atomic_load(&keeper.bytes) >= SPACE * sizeof(slab_hit));
  b = batch_create(&keeper, 3, RAYS - 1, &space, true); /* fits */
  assert_true(b->results == memory && b->first == 3 && b->rays == RAYS - 1 && !b->lost && b->used == 0);
  assert_true(atomic_load(&keeper.bytes) == 0);
  batches_free(b);
  batches_free(other);
  b = batch_create(&keeper, 0, RAYS, &more, true); /* more than is there */
  memset(b->results, 1, space_size(RAYS, &more));
  batches_free(b);
  b = batch_create(&keeper, 0, RAYS, &most, true);
  batches_free(b);
  b = batch_create(&keeper, 0, RAYS, &space, true); /* far less than is there */
  assert_true(b->capacity == space_size(RAYS, &space));
  batches_free(b);
  batch_keeper_end(&keeper);
}

static void only_so_much_memory_is_kept(void **state) {
  (void)state;
  enum { HITS = 300000, BATCHES = 9 }; /* nine of 9.6 MB are more than 64 MiB */
  batch_keeper keeper = {.bytes = 0};
  const hit_space space = {.hits = HITS};
  hit_batch *b[BATCHES];
  for (int i = 0; i < BATCHES; i++) {
    b[i] = batch_create(&keeper, 0, 1, &space, false);
    assert_non_null(b[i]);
    b[i]->used = HITS;
  }
  for (int i = 0; i < BATCHES; i++) batches_free(b[i]);
  assert_in_range(atomic_load(&keeper.bytes), KEPT_BYTES / 2, KEPT_BYTES);
  batch_keeper_end(&keeper);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(space_is_within_the_bytes),        cmocka_unit_test(what_is_taken_stays_below_2_to_32),
      cmocka_unit_test(nothing_is_known_of_few_rays),     cmocka_unit_test(hits_go_where_offsets_say),
      cmocka_unit_test(lists_that_cannot_be_are_refused), cmocka_unit_test(lost_hits_are_counted),
      cmocka_unit_test(memory_goes_from_cast_to_cast),    cmocka_unit_test(only_so_much_memory_is_kept),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
