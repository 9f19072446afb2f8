#include "schedule/set_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "schedule/ray_sets.h"

/* Directions and points that rows go to are sorted where so many rows gain by it, and rows are no longer than that:
 * chunks have whole rows. */
#define ROWS_SORTED 4u
#define ROW_SORTED_MOST 65536u
/* Rows of beams that are made to see whether tiles of them pay, and how many beams of each, from its middle. */
#define ROWS_JUDGED (RAYS_A_TILE / 2 + 2)
#define BEAMS_JUDGED (2 * RAYS_A_TILE)

/* Beams may be those of firings that follow each other: some beams of some rows show it. */
static slab_status find_tiles(const cast *c, device *d, rays_rows *rows) {
  const uint32_t row = c->set->set.columns, some = row < BEAMS_JUDGED ? row : BEAMS_JUDGED;
  const slab_scene_stats *bounds = &c->scene->stats;
  slab_ray rays[ROWS_JUDGED * BEAMS_JUDGED]; /* on the stack: a sensor's frames allocate nothing */
  slab_status status = SLAB_OK;
  if (c->n / row < ROWS_JUDGED) return SLAB_OK;
  for (uint32_t i = 0; status == SLAB_OK && i < ROWS_JUDGED; i++) {
    const set_rays part = set_part(c->set, (size_t)i * row + (row - some) / 2, some);
    status = d->backend->make_rays(d, &part, rays + (size_t)i * some);
  }
  if (status != SLAB_OK) return status;
  *rows = rays_tiles_of(rays, (size_t)ROWS_JUDGED * some, some, bounds->lower, bounds->upper);
  if (rows->row != 0) rows->row = row;
  return SLAB_OK;
}

/* The set's columns in the rows' order. */
static slab_status order_columns(const set_rays *s, rays_rows *rows) {
  const size_t size = SET_COLUMN_FLOATS(s->set.kind) * sizeof(float);
  const unsigned char *from = (const unsigned char *)s->of_columns;
  rows->columns = malloc(rows->row * size);
  if (rows->columns == NULL) return fail_memory(rows->row * size, "columns in order");
  for (uint32_t i = 0; i < rows->row; i++)
    memcpy((unsigned char *)rows->columns + i * size, from + rows->order[i] * size, size);
  return SLAB_OK;
}

/* So that the rays of a packet are close. */
static slab_status sort_columns(const cast *c, rays_rows *rows) {
  const set_rays *s = c->set;
  const uint32_t row = s->set.columns, threads = c->scene->context->threads;
  if (row > ROW_SORTED_MOST || c->n / row < ROWS_SORTED) return SLAB_OK;
  rows->order = s->set.kind == SLAB_RAYS_DIRECTIONS ? directions_sorted(s->of_columns, row, threads)
                                                    : points_sorted(s->of_columns, row, NULL, NULL, threads);
  if (rows->order == NULL) return fail_memory(row * sizeof *rows->order, "an order of columns");
  rows->row = row;
  rows->width = RAYS_A_TILE;
  rows->height = 1;
  return order_columns(s, rows);
}

slab_status set_rows_find(const cast *c, device *d, rays_rows *rows) {
  const set_rays *s = c->set;
  const uint32_t row = s->set.columns;
  *rows = (rays_rows){0};
  if (s->first % row != 0 || row < RAYS_A_TILE) return SLAB_OK; /* it begins within a row, or that is narrow */
  if (s->set.kind == SLAB_RAYS_BEAMS) return find_tiles(c, d, rows);
  if (!ray_set_is_picture(s)) return sort_columns(c, rows);
  *rows = (rays_rows){row, 8, RAYS_A_TILE / 8, NULL, NULL};
  return SLAB_OK;
}

void set_rows_free(rays_rows *rows) {
  free(rows->order);
  free(rows->columns);
  *rows = (rays_rows){0};
}
