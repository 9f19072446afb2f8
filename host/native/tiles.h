/* Rays that come in rows are cast tile by tile: rays of a picture's tile share more of a BVH than as many of one row. A
 * piece's rays, and their other numbers, are gathered into arrays of its own. Its results are put where they belong.
 * Kernels know nothing of it. */
#ifndef SLABCAST_NATIVE_TILES_H
#define SLABCAST_NATIVE_TILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "work/ray_order.h"

/* A chunk's rays in bands of as many rows as a tile has. Each band is cut into pieces, whole columns of tiles but for
 * the last. Rays after the last band are in pieces of one row. Rows begin with the chunk. Where rows have an order, a
 * band is a row, the chunk has whole ones, and pieces have rays that follow each other in that order. */
typedef struct tiling {
  rays_rows rows;
  uint32_t rays, each;          /* rays in all, and of a piece */
  uint32_t bands, across, tail; /* bands; pieces of a band; pieces after the bands */
} tiling;

/* The rays of a piece: `columns` in each of `height` rows, from `first` on. */
typedef struct tile_span {
  uint32_t first, columns, height;
} tile_span;

/* Rays of a piece are at least RAYS_A_TILE / 2, and less than twice as many as `each`, which is a multiple of
 * RAYS_A_TILE. False: the rays are too few for tiles. */
bool tiling_of(const rays_rows *, uint32_t rays, uint32_t each, tiling *);
uint32_t tiling_pieces(const tiling *);
tile_span tiling_span(const tiling *, size_t piece);
static inline uint32_t tile_span_rays(const tile_span *s) { return s->columns * s->height; }

/* Calls `run` for each run of a piece's rays that follow each other, of the chunk's or in the rows' order. */
typedef void tile_run(void *user, uint32_t first, uint32_t rays);
void tiles_runs(const tiling *, const tile_span *, tile_run *run, void *user);

/* Copies elements of `size` bytes that belong to a piece's rays: from the chunk's array to the piece's, or back. */
void tiles_copy(const tiling *, const tile_span *, bool gather, const void *from, void *to, size_t size);

/* The numbers of a chunk's rays in casting order, tile after tile. */
void tiles_order(const tiling *, uint32_t *order);

#endif
