/* Writes the rays of a set: `count` from column `column` of row `row` on. A work-item writes `each`. It uses no scene.
 */
#include "maths/ray_set.h"

kernel void KERNEL_NAME(rays)(WORK_ITEM const global float *of_rows, const global float *normals,
                              const global float *of_columns, global slab_ray *rays, const ray_set set, const uint row,
                              const uint column, const uint count, const uint each) {
  uint i = (uint)get_global_id(0) * each;
  if (i >= count) return;
  const uint end = count - i < each ? count : i + each;
  uint at = column + i; /* from the first row's begin on */
  while (i < end) {
    const uint of = row + at / set.columns, from = at % set.columns;
    const uint some = end - i < set.columns - from ? end - i : set.columns - from;
    ray_row r;
    set_row(&set, of_rows, normals, of, &r);
    set_rays_of_row(&set, &r, of, from, from + some, of_columns, rays + i);
    i += some;
    at += some;
  }
}
