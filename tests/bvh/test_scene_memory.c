/* How kernels address a scene in several buffers: every block and node is found where it is stored. */
#define SLAB_BUFFERS 4
#define SLAB_PART_UNITS 3
#define SLAB_PART_NODES 5
#include "data/scene_memory.h"

#include "harness.h"

enum { OWN = SLAB_PART_UNITS * BLOCK_UNIT, ALL = SLAB_BUFFERS * OWN };

static float floats[SLAB_BUFFERS][OWN + BLOCK_TAIL];
static bvh_node nodes[SLAB_BUFFERS][SLAB_PART_NODES];
static const scene_blocks blocks = {{floats[0], floats[1], floats[2], floats[3]}};

static void every_block_is_found_in_the_buffer_where_it_begins(void **state) {
  (void)state;
  for (size_t at = 0; at < ALL; at++) assert_ptr_equal(block_at(blocks, at), &floats[at / OWN][at % OWN]);
}

static void every_node_is_found(void **state) {
  (void)state;
  const scene_nodes all = {{nodes[0], nodes[1], nodes[2], nodes[3]}};
  for (size_t at = 0; at < SLAB_BUFFERS * SLAB_PART_NODES; at++)
    assert_ptr_equal(node_at(all, at), &nodes[at / SLAB_PART_NODES][at % SLAB_PART_NODES]);
}

/* For a geometry that begins anywhere, with blocks of any size: the count of the blocks that begin in one buffer is
 * exact. */
static void blocks_that_begin_in_one_buffer_are_counted(void **state) {
  (void)state;
  for (uint first = 0; first < ALL / BLOCK_UNIT; first++) {
    const geometry_entry entry = {.first = first};
    const geometry_blocks geometry = geometry_begin(blocks, &entry);
    for (uint step = 1; step <= OWN + 7; step += 3) {
      for (size_t at = 0; first * BLOCK_UNIT + at < ALL; at += step) {
        const size_t place = first * BLOCK_UNIT + at;
        uint held = 0;
        while ((place + held * step) / OWN == place / OWN) held++;
        assert_int_equal(geometry_held(geometry, at, step), held);
        assert_ptr_equal(geometry_block(geometry, at), &floats[place / OWN][place % OWN]);
      }
    }
  }
}

/* A block that begins with the last float of a buffer's own part must be complete in its tail. Checked for the
 * widest block of each layout. */
static void the_tail_holds_the_longest_block(void **state) {
  (void)state;
  assert_true(BLOCK_TAIL >= FLOATS_MOST * 16 - 1);
  assert_true(BLOCK_TAIL >= BVH_BLOCK_UNITS(FLOATS_MOST) * BLOCK_UNIT - 1);
  assert_true(BLOCK_TAIL >= BLOCK_UNITS(FLOATS_MOST, 1, COMPRESSED_UNIT) * COMPRESSED_UNIT - 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_block_is_found_in_the_buffer_where_it_begins),
      cmocka_unit_test(every_node_is_found),
      cmocka_unit_test(blocks_that_begin_in_one_buffer_are_counted),
      cmocka_unit_test(the_tail_holds_the_longest_block),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
