#include "sets/coherent_rays.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SIDE = 8 }; /* rays along each side of the square that a bundle forms */

/* PARALLEL rays differ in their origins. Rays of a FAN and a PICTURE differ in their directions, which are integers in
 * a FAN. */
typedef enum bundle_form { PARALLEL, FAN, PICTURE, FORMS } bundle_form;

typedef struct bundle {
  bundle_form form;
  float origin[3], step[2]; /* origin: of ray 0; step: from one ray to the next along the two axes of `across` */
  int across[2], along;     /* axis indices; along: the axis of the directions' largest component */
  float direction[3];       /* direction of ray 0 */
  uint32_t signs;           /* bit k: directions are negative along axis k */
  float t_min, t_max;
  bool apart; /* each ray scales t_min and t_max by random factors of its own */
} bundle;

/* ---- parameters of a bundle ---- */

static float extent_of(const slab_scene_stats *stats, int axis) {
  const float extent = stats->upper[axis] - stats->lower[axis];
  return extent > 0.0f && isfinite(extent) ? extent : 1.0f;
}

/* A power of two, a small fraction of the extent. */
static float lattice_step(random_state *random, float extent) {
  int exponent;
  frexpf(extent, &exponent);
  return ldexpf(1.0f, exponent - 3 - (int)random_below(random, 4));
}

/* Sets the origin: on one side of the scene, directed towards it, or inside. In two of three bundles it is on the
 * lattice. */
static void place(random_state *random, const slab_scene_stats *stats, bundle *b) {
  const bool on_lattice = random_below(random, 3) != 0;
  for (int k = 0; k < 3; k++) {
    const float extent = extent_of(stats, k), lower = stats->lower[k] <= stats->upper[k] ? stats->lower[k] : 0.0f;
    const float step = lattice_step(random, extent);
    float share = random_float(random);
    if (k == b->along && random_below(random, 2)) share = (b->signs >> k & 1) != 0 ? 1.25f : -0.25f;
    const float at = lower + extent * share;
    b->origin[k] = on_lattice ? roundf(at / step) * step : at;
    for (int i = 0; i < 2; i++)
      if (k == b->across[i]) b->step[i] = on_lattice ? step / (float)(1 << random_below(random, 4)) : extent / 50.0f;
  }
}

/* A component of a direction along an axis: a small integer. It is 0 only where the sign is positive, since 0 counts as
 * positive. */
static float component(random_state *random, const bundle *b, int axis) {
  const int falls = (int)(b->signs >> axis & 1);
  if (axis == b->along) return (float)(1 - 2 * falls) * (float)(8 + random_below(random, 8));
  return falls ? -(float)(1 + random_below(random, 7)) : (float)random_below(random, 8);
}

static void aim(random_state *random, bundle *b) {
  const bool axis_parallel = random_below(random, 4) == 0, any = random_below(random, 3) == 0;
  if (axis_parallel) b->signs &= 1u << b->along;
  for (int k = 0; k < 3; k++) {
    b->direction[k] = component(random, b, k);
    if (axis_parallel && k != b->along) b->direction[k] = 0.0f;
    if (any && b->direction[k] != 0.0f) b->direction[k] *= 1.0f + 0.05f * random_float(random);
  }
}

static void limit(random_state *random, const slab_scene_stats *stats, bundle *b) {
  const float length = extent_of(stats, b->along) / 10.0f; /* in units of the direction's length */
  b->t_max = INFINITY;
  b->apart = random_below(random, 2) != 0;
  switch (random_below(random, 16)) {
    case 0:
      b->t_min = random_below(random, 2) ? -INFINITY : -length;
      break;
    case 1:
    case 2:
    case 3:
    case 4:
      b->t_max = length * random_float(random);
      break;
    case 5:
    case 6:
    case 7:
      b->t_min = length * random_float(random) * 0.25f;
      break;
    default:
      break;
  }
}

static bundle begin_bundle(random_state *random, const slab_scene_stats *stats) {
  bundle b = {.form = (bundle_form)random_below(random, FORMS),
              .along = (int)random_below(random, 3),
              .signs = random_below(random, 8)};
  b.across[0] = (b.along + 1) % 3;
  b.across[1] = (b.along + 2) % 3;
  aim(random, &b);
  place(random, stats, &b);
  limit(random, stats, &b);
  return b;
}

/* ---- rays of a bundle ---- */

static slab_ray ray_of(random_state *random, const bundle *b, uint32_t i) {
  slab_ray ray = {.t_min = b->t_min, .t_max = b->t_max};
  const float place[2] = {(float)(i % SIDE), (float)(i / SIDE)};
  if (b->apart) { /* the factors are above 0, since infinity times 0 is NaN */
    ray.t_min *= 1.0f - random_float(random);
    ray.t_max *= 1.0f - random_float(random);
  }
  for (int k = 0; k < 3; k++) {
    ray.origin[k] = b->origin[k];
    ray.direction[k] = b->form == FAN ? component(random, b, k) : b->direction[k];
  }
  for (int k = 0; k < 2; k++) {
    const int axis = b->across[k];
    if (b->form == PARALLEL) ray.origin[axis] += b->step[k] * place[k];
    if (b->form == PICTURE) ray.direction[axis] += ((b->signs >> axis & 1) != 0 ? -0.09f : 0.09f) * place[k];
  }
  return ray;
}

/* Keeps the direction, but moves the origin beyond the allowed range. */
static void move_away(slab_ray *ray) {
  int along = 0;
  for (int k = 1; k < 3; k++)
    if (fabsf(ray->direction[k]) > fabsf(ray->direction[along])) along = k;
  ray->origin[along] = ray->direction[along] < 0.0f ? 0x1p61f : -0x1p61f;
}

/* Makes the ray differ from its neighbours. */
static void make_odd(random_state *random, slab_ray *ray) {
  const float factor = ldexpf(1.0f, (int)random_below(random, 41) - 20), first = ray->direction[0];
  switch (random_below(random, 8)) {
    case 0:
      ray->direction[random_below(random, 3)] = NAN;
      break;
    case 1:
      memset(ray->direction, 0, sizeof ray->direction);
      break;
    case 2:
      move_away(ray);
      break;
    case 3:
      ray->t_max = ray->t_min - 1.0f;
      break;
    case 4:
      ray->t_max = ray->t_min + random_float(random);
      break;
    case 5:
      for (int k = 0; k < 3; k++) ray->direction[k] *= factor;
      break;
    case 6: /* permuted axes */
      for (int k = 0; k < 2; k++) ray->direction[k] = ray->direction[k + 1];
      ray->direction[2] = first;
      break;
    default:
      for (int k = 0; k < 3; k++) ray->direction[k] = -ray->direction[k];
  }
}

void coherent_rays_fill(random_state *random, const slab_scene_stats *stats, size_t n, slab_ray *rays) {
  bundle b = {0};
  for (size_t i = 0; i < n; i++) {
    if (i % BUNDLE_RAYS == 0) b = begin_bundle(random, stats);
    rays[i] = ray_of(random, &b, (uint32_t)(i % BUNDLE_RAYS));
    if (random_below(random, 40) == 0) make_odd(random, &rays[i]);
  }
}
