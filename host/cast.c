/* What a cast's options mean for the kernels. */
#include "cast.h"

#include <string.h>

#include "base/status.h"

cast_uniforms cast_uniforms_of(const slab_scene *scene, const slab_cast_options *options) {
  cast_uniforms u = {.geometries = scene->geometries, .mask = UINT32_MAX};
  memcpy(u.outside, scene->outside, sizeof u.outside);
  u.units = (uint32_t)(scene->bvh_floats / BLOCK_UNIT);
  if (options != NULL && options->mask != 0) u.mask = options->mask;
  for (uint32_t g = 0; u.mask != UINT32_MAX && g < scene->geometries; g++) /* a geometry's mask is never 0 */
    if ((scene->table[g].mask & u.mask) == 0) u.masked = 1;
  if (options == NULL) return u;
  u.cull = (uint32_t)options->cull;
  u.face_forward = options->face_forward != 0;
  u.skip = options->skip != NULL;
  u.invalid = options->invalid != NULL;
  return u;
}

slab_status check_cull(const char *function, slab_cull cull) {
  if ((unsigned)cull <= SLAB_CULL_FRONT) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "%s: cull is %d, not a slab_cull", function, (int)cull);
}
