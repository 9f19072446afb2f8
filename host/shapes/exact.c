/* The functions of kernels/maths/touch.h, closed.h and crossing.h that are compiled once, for one lane: for the kernels
 * that are compiled ahead, and for the CPU reference. */
#define SLAB_WHOLE
#include "maths/winding.h"

void slab_closed_block(const closed_line *line, const float *block, uint stride, uint rules, float *t, uint *hit);
void slab_closed_met(const closed_line *line, const float *corners, touch *met);

void slab_closed_block(const closed_line *line, const float *block, uint stride, uint rules, float *t, uint *hit) {
  *hit = (uint)closed_hits(line, block, stride, rules, t);
}

/* corners: in the order of the shear. */
void slab_closed_met(const closed_line *line, const float *corners, touch *met) {
  const prepared_ray ray = closed_ray(line);
  triangle_rows rows;
  closed_met found;
  for (int v = 0; v < 3; v++)
    for (int i = 0; i < 3; i++) rows.row[v][i] = corners[3 * v + i];
  closed_meet(&ray, &rows, &found);
  *met = (touch){found.front ? 1 : -1, found.weight[1], found.weight[2], found.t};
}
