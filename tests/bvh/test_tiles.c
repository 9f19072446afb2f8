/* Rays that come in rows, cut into pieces of tiles. */
#include "native/tiles.h"

#include <stdlib.h>
#include <string.h>

#include "harness.h"

enum { MOST = 2 * 128 };

typedef struct numbered {
  uint32_t number[8];
} numbered;

/* The expected runs of a piece: rays in the rows' order, where the rows have one. */
typedef struct runs {
  const tiling *t;
  const numbered *own;
} runs;

static void see_run(void *user, uint32_t first, uint32_t rays) {
  runs *r = user;
  const rays_rows *rows = &r->t->rows;
  for (uint32_t i = first; i < first + rays; i++, r->own++) {
    const uint32_t column = i % rows->row;
    assert_true(r->own->number[0] / 8 == (rows->order != NULL ? i - column + rows->order[column] : i));
  }
}

static void assert_runs(const tiling *t, const tile_span *span, const numbered *own) {
  runs r = {t, own};
  tiles_runs(t, span, see_run, &r);
  assert_true(r.own == own + tile_span_rays(span));
}

/* Each ray is in one piece, at one place, and pieces follow each other in casting order. The gathered values are those
 * of the tile's rows, and go back to their places. */
static void check(const rays_rows *rows, uint32_t rays, uint32_t each) {
  static numbered own[MOST];
  tiling t;
  if (!tiling_of(rows, rays, each, &t)) {
    assert_true(rays < rows->row * rows->height + RAYS_A_TILE / 2);
    return;
  }
  numbered *all = harness_space(rays * sizeof *all), *back = harness_space(rays * sizeof *back);
  uint32_t *order = harness_space(rays * sizeof *order), at = 0;
  tiles_order(&t, order);
  memset(back, 0xFF, rays * sizeof *back);
  for (uint32_t i = 0; i < rays; i++)
    for (uint32_t k = 0; k < 8; k++) all[i].number[k] = 8 * i + k;
  for (uint32_t piece = 0; piece < tiling_pieces(&t); piece++) {
    const tile_span span = tiling_span(&t, piece);
    const uint32_t n = tile_span_rays(&span);
    assert_in_range(n, RAYS_A_TILE / 2, 2 * each - 1);
    tiles_copy(&t, &span, true, all, own, sizeof *own);
    assert_runs(&t, &span, own);
    for (uint32_t i = 0; i < n; i++) assert_true(order[at++] == own[i].number[0] / 8);
    for (uint32_t i = 0; i < n && span.height > 1; i++) { /* rays of a tile lie in `width` columns of its rows */
      const uint32_t of_tile = i - i % RAYS_A_TILE, column = own[i].number[0] / 8 % rows->row;
      if (span.columns % rows->width == 0)
        assert_in_range(column, own[of_tile].number[0] / 8 % rows->row,
                        own[of_tile].number[0] / 8 % rows->row + rows->width - 1);
    }
    tiles_copy(&t, &span, false, own, back, sizeof *own);
  }
  assert_memory_equal(all, back, rays * sizeof *all);
  assert_true(at == rays);
  free(order);
  free(all);
  free(back);
  harness_count(1);
}

static void every_ray_is_in_one_piece(void **state) {
  (void)state;
  random_state random = harness_seeded("every_ray_is_in_one_piece");
  for (int time = 0; time < 3000; time++) {
    const uint32_t height = 2u << random_below(&random, 4), row = 16 + random_below(&random, 600);
    const rays_rows rows = {row, RAYS_A_TILE / height, height, NULL, NULL};
    check(&rows, 1 + random_below(&random, 5 * height * row), 32 * (1 + random_below(&random, 4)));
  }
}

static void rows_are_cast_in_their_order(void **state) {
  enum { ROW_MOST = 300 };
  (void)state;
  random_state random = harness_seeded("rows_are_cast_in_their_order");
  for (int time = 0; time < 1000; time++) {
    const uint32_t row = RAYS_A_TILE + random_below(&random, ROW_MOST - RAYS_A_TILE);
    uint32_t order[ROW_MOST];
    for (uint32_t i = 0; i < row; i++) order[i] = i;
    for (uint32_t i = row - 1; i > 0; i--) {
      const uint32_t with = random_below(&random, i + 1), was = order[i];
      order[i] = order[with];
      order[with] = was;
    }
    const rays_rows rows = {row, RAYS_A_TILE, 1, order, NULL};
    check(&rows, row * (1 + random_below(&random, 6)), 32 * (1 + random_below(&random, 4)));
  }
}

/* Elements of one byte, four and twelve, as results are. */
static void elements_of_any_size_go_and_come(void **state) {
  static const size_t sizes[] = {1, 4, 8, 12, 16, 32};
  const rays_rows rows = {37, 8, 4, NULL, NULL};
  tiling t;
  (void)state;
  assert_true(tiling_of(&rows, 37 * 9, 64, &t));
  for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
    unsigned char all[37 * 9 * 32], back[37 * 9 * 32] = {0}, own[128 * 32];
    for (size_t i = 0; i < 37 * 9 * sizes[k]; i++) all[i] = (unsigned char)(i * 7 + 1);
    for (uint32_t piece = 0; piece < tiling_pieces(&t); piece++) {
      const tile_span span = tiling_span(&t, piece);
      tiles_copy(&t, &span, true, all, own, sizes[k]);
      tiles_copy(&t, &span, false, own, back, sizes[k]);
    }
    assert_memory_equal(all, back, 37 * 9 * sizes[k]);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_ray_is_in_one_piece),
      cmocka_unit_test(rows_are_cast_in_their_order),
      cmocka_unit_test(elements_of_any_size_go_and_come),
  };
  return cmocka_run_group_tests_name("tiles", tests, NULL, NULL);
}
