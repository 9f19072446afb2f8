#include "sets/adversarial.h"

#include <math.h>
#include <string.h>

static float scaled(random_state *r, int exponent) { return ldexpf(1.0f + random_float(r), exponent); }

float adversarial_number(random_state *r) {
  const float sign = random_next(r) & 1 ? -1.0f : 1.0f;
  switch (random_below(r, 8)) {
    case 0:
      return sign * 0.0f;
    case 1:
      return sign * scaled(r, -127 - (int)random_below(r, 22)); /* subnormal */
    case 2:
      return sign * scaled(r, -40 - (int)random_below(r, 80));
    case 3:
      return sign * scaled(r, 20 + (int)random_below(r, 39));
    case 4:
      return sign * ldexpf(1.0f, (int)random_below(r, 100) - 50);
    case 5:
      return sign * (float)random_below(r, 5);
    default:
      return sign * random_between(r, 0.0f, 10.0f);
  }
}

/* ---- shapes ---- */

/* Shared coordinates are small integers. With `extreme` they may also be of the whole range, or all of one extreme
 * size. */
adversarial adversarial_begin(random_state *r, int extreme) {
  adversarial p = {.extreme = extreme};
  const uint32_t sort = extreme ? random_below(r, 3) : 0;
  const float scale = ldexpf(1, (int)random_below(r, 100) - 50);
  for (int i = 0; i < 8; i++)
    p.values[i] = sort == 0   ? (float)((int)random_below(r, 9) - 4)
                  : sort == 1 ? adversarial_number(r)
                              : scale * random_between(r, -4, 4);
  return p;
}

static float coordinate(random_state *r, const adversarial *p) {
  const float value = p->values[random_below(r, 8)];
  switch (random_below(r, 8)) {
    case 0:
      return p->extreme ? adversarial_number(r) : random_between(r, -4, 4);
    case 1:
      return p->extreme || value != 0.0f ? nextafterf(value, random_below(r, 2) ? INFINITY : -INFINITY) : value;
    case 2:
      return value * random_between(r, -1, 1);
    default:
      return value;
  }
}

static void turned_axes(random_state *r, float axes[3][3]) {
  static const float cosines[] = {1, 0, 0.6f, 0.70710678f, 0.9999995f}, sines[] = {0, 1, 0.8f, 0.70710678f, 0.001f};
  const uint32_t angle = random_below(r, 5), axis = random_below(r, 3);
  const float c = cosines[angle], s = random_below(r, 2) ? sines[angle] : -sines[angle];
  memset(axes, 0, 9 * sizeof(float));
  axes[axis][axis] = random_below(r, 4) ? 1.0f : -1.0f;
  axes[(axis + 1) % 3][(axis + 1) % 3] = axes[(axis + 2) % 3][(axis + 2) % 3] = c;
  axes[(axis + 1) % 3][(axis + 2) % 3] = s;
  axes[(axis + 2) % 3][(axis + 1) % 3] = -s;
}

static void random_box(random_state *r, const adversarial *p, float shape[SHAPE_FLOATS_MOST]) {
  for (int i = 0; i < 3; i++) {
    const float a = coordinate(r, p), b = random_below(r, 6) ? coordinate(r, p) : a;
    shape[i] = a < b ? a : b;
    shape[3 + i] = a < b ? b : a;
    if (random_below(r, 12) == 0) shape[i] = -INFINITY;
    if (random_below(r, 12) == 0) shape[3 + i] = INFINITY;
  }
  if (random_below(r, 20) == 0) shape[random_below(r, 6)] = random_below(r, 2) ? NAN : INFINITY;
}

void adversarial_shape(random_state *r, slab_shape kind, const adversarial *p, float shape[SHAPE_FLOATS_MOST]) {
  for (int i = 0; i < 9; i++) shape[i] = coordinate(r, p);
  for (int i = 0; i < SHAPE_FLOATS_MOST; i++)
    if ((shape_sizes(kind) >> i & 1) != 0) shape[i] = random_below(r, 6) ? fabsf(shape[i]) : 0.0f;
  if (kind == SLAB_BOX) random_box(r, p, shape);
  if (kind == SLAB_PLANE && random_below(r, 2)) shape[random_below(r, 3)] = 0;
  if (kind == SLAB_OBB) turned_axes(r, (float(*)[3])(shape + 6));
  if (kind == SLAB_TRIANGLE && random_below(r, 8) == 0)
    for (int i = 0; i < 3; i++) shape[6 + i] = shape[i]; /* without area */
  if (random_below(r, 30) == 0) shape[random_below(r, (uint32_t)shape_floats(kind))] = NAN;
}

static void random_direction(random_state *r, const adversarial *p, slab_ray *ray, const float target[3]) {
  const uint32_t sort = random_below(r, 6);
  for (int i = 0; i < 3; i++) {
    ray->direction[i] = target[i] - ray->origin[i];
    if (sort == 0 && p->extreme) ray->direction[i] = adversarial_number(r);
    if (sort == 1) ray->direction[i] = (float)((int)random_below(r, 3) - 1);
    if (sort == 2 && random_below(r, 2)) ray->direction[i] = random_below(r, 2) ? 0.0f : -0.0f;
    if (sort == 3) ray->direction[i] = coordinate(r, p);
  }
  static const float lengths[] = {0x1p-140f, 0x1p-100f, 0x1p60f, 0x1p100f};
  if (p->extreme && random_below(r, 5) == 0)
    for (int i = 0; i < 3; i++) ray->direction[i] *= lengths[random_below(r, 4)];
}

void adversarial_know(adversarial *p, uint32_t i, const float shape[SHAPE_FLOATS_MOST]) {
  memcpy(p->known[i], shape, sizeof p->known[i]);
  if (p->known_count <= i) p->known_count = i + 1;
}

/* ---- scenes ---- */

static slab_status add_geometry(random_state *r, adversarial *p, slab_shape kind, uint32_t n, slab_scene *scene) {
  const size_t floats = shape_floats(kind);
  float shapes[ADVERSARIAL_MOST * SHAPE_FLOATS_MOST];
  for (size_t i = 0; i < n; i++) {
    float shape[SHAPE_FLOATS_MOST] = {0};
    adversarial_shape(r, kind, p, shape);
    memcpy(shapes + i * floats, shape, floats * sizeof *shapes);
    adversarial_know(p, p->known_count < ADVERSARIAL_MOST ? p->known_count : random_below(r, ADVERSARIAL_MOST), shape);
  }
  const slab_geometry_options options = {.mask = random_below(r, 3) ? 0 : random_next(r), .skip_invalid = 1};
  return shape_add(scene, kind, shapes, n, &options);
}

slab_status adversarial_fill(random_state *r, adversarial *p, unsigned kinds, uint32_t most, slab_scene *scene) {
  const uint32_t more = random_below(r, 4), first = random_below(r, SHAPE_KINDS);
  slab_status status = SLAB_OK;
  for (uint32_t g = 0; status == SLAB_OK && g < SHAPE_KINDS + more; g++) {
    const uint32_t kind = (g + first) % SHAPE_KINDS;
    const uint32_t least = g < SHAPE_KINDS; /* the scene gets at least one shape of each of the given kinds */
    if (kinds >> kind & 1)
      status = add_geometry(r, p, (slab_shape)kind, least + random_below(r, most + 1 - least), scene);
  }
  return status;
}

/* ---- rays and options ---- */

slab_ray adversarial_ray(random_state *r, const adversarial *p) {
  slab_ray ray = {{0}, 0, {0}, INFINITY};
  const uint32_t known = p->known_count ? p->known_count : 1;
  const float *corner = p->known[random_below(r, known)]; /* three known coordinates of some shape: often a corner */
  for (int i = 0; i < 3; i++) ray.origin[i] = coordinate(r, p);
  random_direction(r, p, &ray, random_below(r, 2) ? corner : corner + 3);
  switch (random_below(r, 8)) {
    case 0:
      ray.t_min = -INFINITY;
      break;
    case 1:
      ray.t_max = 1; /* a segment */
      break;
    case 2:
      ray.t_min = -random_between(r, 0, 2);
      ray.t_max = random_between(r, -1, 3);
      break;
    case 3:
      ray.t_min = p->extreme ? adversarial_number(r) : random_between(r, 0, 1);
      ray.t_max = p->extreme ? adversarial_number(r) : random_between(r, 0, 2);
      break;
    default:
      break;
  }
  if (random_below(r, 50) == 0) {
    float values[8];
    memcpy(values, &ray, sizeof ray);
    static const float wrong[] = {NAN, INFINITY, -INFINITY, 0x1p61f};
    values[random_below(r, 8)] = wrong[random_below(r, 4)];
    memcpy(&ray, values, sizeof ray);
  }
  return ray;
}

slab_primitive_id adversarial_skip(random_state *r) {
  static const slab_primitive_id none = {SLAB_MISS, SLAB_MISS};
  const slab_primitive_id some = {random_below(r, ADVERSARIAL_MOST), random_below(r, SHAPE_KINDS)};
  return random_below(r, 3) == 0 ? none : some;
}

slab_cast_options adversarial_options(random_state *r, const slab_primitive_id *skip) {
  return (slab_cast_options){.mask = random_below(r, 3) ? 0 : random_next(r),
                             .skip = random_below(r, 2) ? skip : NULL,
                             .cull = (slab_cull)random_below(r, 3),
                             .face_forward = (int)random_below(r, 2),
                             .edges = (slab_edges)random_below(r, 2),
                             .max_hits = random_below(r, 2) ? 0 : 1 + random_below(r, 6)};
}
