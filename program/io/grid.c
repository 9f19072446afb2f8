#include "program/io/grid.h"

#include <inttypes.h>
#include <math.h>

#include "program/io/digest.h"
#include "program/io/errors.h"

static int refuse_axis(const grid_option *option, int axis, const grid_box *box, const char *why) {
  complain("--grid: %" PRIu32 " points along %c, where the box %s (from %.9g to %.9g)", option->size[axis], "xyz"[axis],
           why, box -> lower[axis], box -> upper[axis]);
  return -1;
}

/* A scene has no finite bounds along an axis where lower is infinite, and above upper. */
static int make_axis(const grid_option *option, int axis, const grid_box *box, grid *g) {
  const double lower = box->lower[axis], upper = box->upper[axis], length = upper - lower;
  const uint32_t size = g->size[axis] = option->size[axis];
  const int endless = isinf(lower) || isinf(upper);
  g->origin[axis] = 0;
  g->spacing[axis] = 1;
  if (size == 1 && isinf(lower) && isinf(upper)) return 0;
  if (endless) return refuse_axis(option, axis, box, "has no end; --lower and --upper give one");
  if (lower > upper) return refuse_axis(option, axis, box, "is empty; --lower and --upper give another");
  if (size > 1 && length <= 0) return refuse_axis(option, axis, box, "has no extent; --margin or --upper give one");
  g->origin[axis] = size == 1 ? lower + length / 2 : lower;
  if (length > 0) g->spacing[axis] = size == 1 ? length : length / (size - 1);
  return 0;
}

int grid_make(const grid_option *option, const grid_box *box, grid *g) {
  int failed = 0;
  for (int axis = 0; axis < 3 && !failed; axis++) failed = make_axis(option, axis, box, g);
  return failed;
}

uint64_t grid_count(const uint32_t size[3]) {
  const uint64_t layer = (uint64_t)size[0] * size[1];
  return layer > GRID_MOST / size[2] ? 0 : layer * size[2];
}

uint64_t grid_digest(const grid *g) {
  digest seen = {0};
  digest_add(&seen, g->size, sizeof g->size);
  digest_add(&seen, g->origin, sizeof g->origin);
  digest_add(&seen, g->spacing, sizeof g->spacing);
  return digest_value(&seen);
}

static double place(const grid *g, int axis, uint64_t index) {
  return g->origin[axis] + (double)index * g->spacing[axis];
}

void grid_points(const grid *g, uint64_t first, size_t n, slab_ray *floats, slab_ray64 *doubles) {
  const uint64_t row = first / g->size[0];
  uint64_t i = first % g->size[0], j = row % g->size[1], k = row / g->size[1];
  for (size_t p = 0; p < n; p++) {
    const double x = place(g, 0, i), y = place(g, 1, j), z = place(g, 2, k);
    if (floats) floats[p] = (slab_ray){.origin = {(float)x, (float)y, (float)z}, .t_max = INFINITY};
    if (doubles) doubles[p] = (slab_ray64){.origin = {x, y, z}, .t_max = (double)INFINITY};
    if (++i < g->size[0]) continue;
    i = 0;
    if (++j < g->size[1]) continue;
    j = 0;
    k++;
  }
}
