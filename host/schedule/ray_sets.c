/* Sets of rays as the caller describes them: refusals, and slab_rays_write. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/moved.h"
#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "schedule/ray_sets.h"

static slab_status check_size(const char *function, const char *what, uint32_t size, uint32_t most) {
  if (size >= 1 && size <= most) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "%s: the set has %u %s, and 1 to %u are allowed", function, size, what, most);
}

static slab_status check_tables(const char *function, const slab_rays *s) {
  const char *missing = s->of_rows == NULL ? "of_rows" : s->of_columns == NULL ? "of_columns" : NULL;
  if (!SET_IS_CAMERA(s->kind) && missing != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the set's %s is NULL", function, missing);
  if (s->normals != NULL && s->kind != SLAB_RAYS_DIRECTIONS)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the set has normals, and only directions take them", function);
  return SLAB_OK;
}

static slab_status check_set(const char *function, const slab_rays *s) {
  if ((unsigned)s->kind >= SLAB_RAYS_KIND_COUNT)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the set's kind is %d, not a slab_rays_kind", function, (int)s->kind);
  for (int k = 0; k < 3; k++)
    if (!isfinite(s->offset[k]))
      return fail(SLAB_INVALID_ARGUMENT, "%s: the set's offset[%d] is not finite (%g)", function, k, s->offset[k]);
  if (s->t_min != s->t_min || s->t_max != s->t_max)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the set's %s is NaN", function, s->t_min != s->t_min ? "t_min" : "t_max");
  if (s->kind == SLAB_RAYS_FISHEYE && s->limit != s->limit)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the set's limit is NaN: the lens sees no angle up to 360 degrees",
                function);
  const bool camera = SET_IS_CAMERA(s->kind);
  slab_status status = check_size(function, "rows", s->rows, camera ? 1u << 24 : UINT32_MAX);
  if (status == SLAB_OK) status = check_size(function, "columns", s->columns, camera ? 1u << 24 : 1u << 31);
  return status == SLAB_OK ? check_tables(function, s) : status;
}

slab_status ray_set_check_part(const char *function, const slab_rays *s, uint64_t first, size_t n) {
  const slab_status status = check_set(function, s);
  const uint64_t all = (uint64_t)s->rows * s->columns;
  if (status != SLAB_OK || (first <= all && n <= all - first)) return status;
  return fail(SLAB_INVALID_ARGUMENT, "%s: %zu rays from %llu on, and the set has %llu", function, n,
              (unsigned long long)first, (unsigned long long)all);
}

bool ray_set_is_picture(const set_rays *s) { return SET_IS_CAMERA(s->set.kind); }

set_rays ray_set_part(const slab_rays *s, uint64_t first, size_t n) {
  set_rays part = {.first = first, .count = n};
  if (!SET_IS_CAMERA(s->kind)) {
    part.of_rows = s->of_rows;
    part.normals = s->normals;
    part.of_columns = s->of_columns;
  }
  ray_set *set = &part.set;
  set->kind = (uint32_t)s->kind;
  set->rows = s->rows;
  set->columns = s->columns;
  set->framed = s->normals != NULL;
  set->t_min = s->t_min;
  set->t_max = s->t_max;
  memcpy(set->origin, s->camera.origin, sizeof set->origin);
  memcpy(set->forward, s->camera.forward, sizeof set->forward);
  memcpy(set->right, s->camera.right, sizeof set->right);
  memcpy(set->up, s->camera.up, sizeof set->up);
  set->across = s->across;
  set->along = s->along;
  set->limit = s->limit;
  memcpy(set->sine, s->sine, sizeof set->sine);
  memcpy(set->cosine, s->cosine, sizeof set->cosine);
  return part;
}

/* Copies rows of points or poses, 3 or 12 floats, whose places are then less `by`. */
static void copy_near(const double by[3], const float *from, size_t rows, size_t each, float *to) {
  const size_t gap = each / 3; /* from x to y: poses are matrices of four columns, whose last is the place */
  memmove(to, from, rows * each * sizeof *to);
  for (size_t i = 0; i < rows; i++)
    for (size_t k = 0; k < 3; k++) {
      float *place = to + i * each + k * gap + gap - 1;
      *place = (float)((double)*place - by[k]);
    }
}

bool ray_set_near(const double origin[3], const double offset[3], set_rays *s, float **tables) {
  const double by[3] = {origin[0] - offset[0], origin[1] - offset[1], origin[2] - offset[2]};
  ray_set *set = &s->set;
  if (!is_moved(by)) return true;
  if (SET_IS_CAMERA(set->kind)) {
    copy_near(by, set->origin, 1, 3, set->origin);
    return true;
  }
  const size_t each = set->kind == SLAB_RAYS_BEAMS ? 12 : 3;
  const size_t columns = set->kind == SLAB_RAYS_PAIRS ? set->columns : 0;
  *tables = malloc((set->rows * each + 3 * columns) * sizeof **tables);
  if (*tables == NULL) return false;
  copy_near(by, s->of_rows, set->rows, each, *tables);
  s->of_rows = *tables;
  if (columns == 0) return true;
  float *to = *tables + set->rows * each;
  copy_near(by, s->of_columns, columns, 3, to);
  s->of_columns = to;
  return true;
}

slab_status slab_rays_write(slab_context *context, const slab_rays *s, uint64_t first, size_t n, slab_ray *rays) {
  ARITHMETIC callers = arithmetic_begin();
  const char *missing = context == NULL ? "context" : s == NULL ? "set" : rays == NULL && n > 0 ? "rays" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_rays_write: %s is NULL", missing);
  slab_status status = context_check_process(context, "slab_rays_write");
  if (status == SLAB_OK) status = ray_set_check_part("slab_rays_write", s, first, n);
  if (status != SLAB_OK || n == 0) return status;
  static const double zero[3];
  set_rays some = ray_set_part(s, first, n);
  device *d = &context->devices[0];
  float *tables = NULL;
  status = ray_set_near(zero, s->offset, &some, &tables) ? d->backend->make_rays(d, &some, rays)
                                                         : fail_memory(0, "the tables of a set");
  free(tables);
  return status;
}
