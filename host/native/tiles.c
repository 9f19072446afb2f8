#include "native/tiles.h"

#include <string.h>

bool tiling_of(const rays_rows *rows, uint32_t rays, uint32_t each, tiling *t) {
  if (rows->row == 0) return false;
  const uint32_t band = rows->row * rows->height, columns = each / rows->height;
  *t = (tiling){.rows = *rows, .rays = rays, .each = each, .bands = rays / band};
  const uint32_t rest = rays - t->bands * band;
  if (rest > 0 && rest < RAYS_A_TILE / 2 && t->bands > 0) t->bands--; /* no piece of few rays */
  if (t->bands == 0) return false;
  t->across = rows->row < columns ? 1 : rows->row / columns;
  const uint32_t tail = rays - t->bands * band;
  t->tail = tail == 0 ? 0 : tail < each ? 1 : tail / each;
  return true;
}

uint32_t tiling_pieces(const tiling *t) { return t->bands * t->across + t->tail; }

/* The `nth` of `count` parts of `all`: each has `size`, and the last the rest. */
static uint32_t part_of(uint32_t all, uint32_t size, uint32_t nth, uint32_t count) {
  return nth == count - 1 ? all - size * nth : size;
}

tile_span tiling_span(const tiling *t, size_t piece) {
  const uint32_t band = t->rows.row * t->rows.height, columns = t->each / t->rows.height,
                 in_bands = t->bands * t->across;
  if (piece < in_bands) {
    const uint32_t at = (uint32_t)piece % t->across;
    return (tile_span){(uint32_t)piece / t->across * band + at * columns, part_of(t->rows.row, columns, at, t->across),
                       t->rows.height};
  }
  const uint32_t at = (uint32_t)piece - in_bands, first = t->bands * band;
  return (tile_span){first + at * t->each, part_of(t->rays - first, t->each, at, t->tail), 1};
}

/* Copies in line: runs are short, and calls of memcpy take 3 to 5 % of cheap packets. */
static void copy_run(unsigned char *to, const unsigned char *from, size_t bytes) {
  for (; bytes >= 32; bytes -= 32, to += 32, from += 32) memcpy(to, from, 32);
  for (; bytes >= 8; bytes -= 8, to += 8, from += 8) memcpy(to, from, 8);
  for (; bytes > 0; bytes--) *to++ = *from++;
}

/* Columns of a piece's tiles. */
static uint32_t width_of(const tiling *t, const tile_span *s) { return s->height == 1 ? s->columns : t->rows.width; }

void tiles_runs(const tiling *t, const tile_span *s, tile_run *run, void *user) {
  const uint32_t width = width_of(t, s), row = t->rows.row;
  for (uint32_t x = 0; x < s->columns; x += width)
    for (uint32_t y = 0; y < s->height; y++)
      run(user, s->first + y * row + x, s->columns - x < width ? s->columns - x : width);
}

/* Where rows have an order: the place in the chunk of a piece's ray i. */
static uint32_t place_of(const tiling *t, const tile_span *s, uint32_t i) {
  const uint32_t column = s->first % t->rows.row;
  return s->first - column + t->rows.order[column + i];
}

static void copy_ordered(const tiling *t, const tile_span *s, bool gather, const void *from, void *to, size_t size) {
  for (uint32_t i = 0; i < s->columns; i++) {
    const size_t in_chunk = place_of(t, s, i) * size, in_piece = i * size;
    copy_run((unsigned char *)to + (gather ? in_piece : in_chunk),
             (const unsigned char *)from + (gather ? in_chunk : in_piece), size);
  }
}

/* Tile after tile, and row after row in each. */
void tiles_copy(const tiling *t, const tile_span *s, bool gather, const void *from, void *to, size_t size) {
  if (t->rows.order != NULL) {
    copy_ordered(t, s, gather, from, to, size);
    return;
  }
  const uint32_t width = width_of(t, s);
  size_t in_piece = 0;
  for (uint32_t x = 0; x < s->columns; x += width) {
    const size_t bytes = (s->columns - x < width ? s->columns - x : width) * size;
    for (uint32_t y = 0; y < s->height; y++, in_piece += bytes) {
      const size_t in_chunk = ((size_t)s->first + (size_t)y * t->rows.row + x) * size;
      copy_run((unsigned char *)to + (gather ? in_piece : in_chunk),
               (const unsigned char *)from + (gather ? in_chunk : in_piece), bytes);
    }
  }
}

void tiles_order(const tiling *t, uint32_t *order) {
  for (uint32_t piece = 0; piece < tiling_pieces(t); piece++) {
    const tile_span s = tiling_span(t, piece);
    const uint32_t width = width_of(t, &s);
    const bool ordered = t->rows.order != NULL;
    for (uint32_t i = 0; ordered && i < s.columns; i++) *order++ = place_of(t, &s, i);
    for (uint32_t x = 0; !ordered && x < s.columns; x += width)
      for (uint32_t y = 0; y < s.height; y++)
        for (uint32_t i = x; i < s.columns && i < x + width; i++) *order++ = s.first + y * t->rows.row + i;
  }
}
