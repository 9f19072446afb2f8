#include "schedule/set_rows.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "schedule/ray_sets.h"

/* Directions and points that rows go to are sorted where so many rows gain by it, and are no longer than that: chunks
 * have whole rows. */
#define ROWS_SORTED 4u
#define ROW_SORTED_MOST 65536u
/* Rows of beams that are made to see whether tiles of them pay, and how long they may be. */
#define ROWS_JUDGED (RAYS_A_TILE / 2 + 2)
#define ROW_JUDGED_MOST 4096u

/* Beams may be those of firings that follow each other: some rows tell. */
static slab_status find_tiles(const cast *c, device *d, rays_rows *rows) {
  const uint32_t row = c->set->set.columns;
  const slab_scene_stats *bounds = &c->scene->stats;
  if (row > ROW_JUDGED_MOST || c->n / row < ROWS_JUDGED) return SLAB_OK;
  const set_rays some = set_part(c->set, 0, (size_t)row * ROWS_JUDGED);
  slab_ray *rays = malloc(some.count * sizeof *rays);
  if (rays == NULL) return fail_memory(some.count * sizeof *rays, "rays of a set");
  const slab_status status = d->backend->make_rays(d, &some, rays);
  if (status == SLAB_OK) *rows = rays_tiles_of(rays, some.count, row, bounds->lower, bounds->upper);
  free(rays);
  return status;
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
                                                    : points_sorted(s->of_columns, row, threads);
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
