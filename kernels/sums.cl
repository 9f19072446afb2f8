/* Sums over rows of rays, of their results and the rays themselves. A work-item sums `each` parts of rows. The first
 * ray is that of part `first_part` of its row; rows and parts follow each other, `parts` in all. It uses no scene. */
#include "maths/ray_sums.h"

kernel void KERNEL_NAME(sums)(WORK_ITEM const global slab_ray *rays, const global uchar *results,
                              const global ulong *weights, const global uint *invalid, global uint *to,
                              const ray_sums sums, const uint first_part, const uint parts, const uint each) {
  const uint item = (uint)get_global_id(0);
  if (item * each >= parts) return;
  const uint end = parts - item * each < each ? parts : item * each + each;
  const uint a_row = (sums.columns - 1) / SUM_PART + 1; /* parts of a row */
  for (uint i = item * each; i < end; i++) {
    const uint row = (first_part + i) / a_row, column = (first_part + i) % a_row * SUM_PART;
    const uint begin = row * sums.columns + column - first_part * SUM_PART, rest = sums.columns - column;
    summed_rays of;
    of.rays = *invalid == 0 ? 0 : rays + begin;
    of.any = sums.has_t != 0 ? 0 : results + begin;
    of.t = sums.has_t != 0 ? (const global float *)results + begin : 0;
    of.weights = sums.weighted != 0 ? weights + column : 0;
    of.count = rest < SUM_PART ? rest : SUM_PART;
    const size_t place = (size_t)row * sums.row + (size_t)(column / SUM_PART) * sums.words;
    sum_part_of(&sums, &of, to + (place - (size_t)first_part * sums.words));
  }
}
