/* Descriptions of sets of rays. */
#include "base/arithmetic.h"
#include "slabcast.h"

static slab_rays set_of(slab_rays_kind kind, uint32_t rows, uint32_t columns) {
  return (slab_rays){.kind = kind, .rows = rows, .columns = columns, .t_max = INFINITY};
}

static slab_rays tables_of(slab_rays_kind kind, const float *of_rows, uint32_t rows, const float *of_columns,
                           uint32_t columns) {
  slab_rays s = set_of(kind, rows, columns);
  s.of_rows = of_rows;
  s.of_columns = of_columns;
  return s;
}

slab_rays slab_rays_pinhole(const slab_camera *camera, uint32_t width, uint32_t height) {
  slab_rays s = set_of(SLAB_RAYS_PINHOLE, height, width);
  s.camera = *camera;
  return s;
}

slab_rays slab_rays_orthographic(const slab_camera *camera, uint32_t width, uint32_t height) {
  slab_rays s = set_of(SLAB_RAYS_ORTHOGRAPHIC, height, width);
  s.camera = *camera;
  return s;
}

static void to_unit(float v[3]) {
  const double x = v[0], y = v[1], z = v[2], length = sqrt(x * x + y * y + z * z);
  if (!(length > 0.0)) return; /* also where it is NaN: the rays are invalid then */
  v[0] = (float)(x / length);
  v[1] = (float)(y / length);
  v[2] = (float)(z / length);
}

/* The series of sin(a) / a and cos(a) in a a. */
ARITHMETIC_BODY static void equidistant(slab_rays *s, float degrees) {
  const double half = (double)degrees * (3.14159265358979323846 / 360.0);
  const double shorter = s->rows < s->columns ? s->rows : s->columns;
  double sine = 1.0, cosine = 1.0;
  for (int i = 0; i < SLAB_FISHEYE_TERMS; i++) {
    s->sine[i] = (float)sine;
    s->cosine[i] = (float)cosine;
    sine /= -(double)((2 * i + 2) * (2 * i + 3));
    cosine /= -(double)((2 * i + 1) * (2 * i + 2));
  }
  s->across = (float)(half * (double)s->columns / shorter);
  s->along = (float)(half * (double)s->rows / shorter);
  s->limit = degrees > 0.0f && degrees <= 360.0f ? (float)(half * half) : NAN; /* which is refused */
  to_unit(s->camera.forward);
  to_unit(s->camera.right);
  to_unit(s->camera.up);
}

slab_rays slab_rays_fisheye(const slab_camera *camera, uint32_t width, uint32_t height, float degrees) {
  ARITHMETIC callers = arithmetic_begin();
  slab_rays s = set_of(SLAB_RAYS_FISHEYE, height, width);
  s.camera = *camera;
  equidistant(&s, degrees);
  return s;
}

slab_rays slab_rays_beams(const float *pose, uint32_t poses, const float *beam, uint32_t beams) {
  return tables_of(SLAB_RAYS_BEAMS, pose, poses, beam, beams);
}

slab_rays slab_rays_directions(const float *point, uint32_t points, const float *direction, uint32_t directions) {
  return tables_of(SLAB_RAYS_DIRECTIONS, point, points, direction, directions);
}

slab_rays slab_rays_pairs(const float *from, uint32_t from_count, const float *to, uint32_t to_count) {
  slab_rays s = tables_of(SLAB_RAYS_PAIRS, from, from_count, to, to_count);
  s.t_max = 1.0f;
  return s;
}
