/* Rays of doubles, on the threads of the pool. */
#include "base/arithmetic.h"
#include "base/pool.h"
#include "base/status.h"
#include "slabcast.h"

/* Squares of the lengths of directions that are rounded as they are. */
#define SHORTEST 1e-24
#define LONGEST 1e24
/* Some 100 us. */
#define RAYS_A_PIECE 16384

typedef struct doubles {
  const double *origins, *directions;
  double center[3], scale;
  slab_ray *rays;
} doubles;

/* A direction whose length float does not hold well, or that is none: NaN stays NaN, and 0 stays 0. */
static void divide_by_largest(const double d[3], float direction[3]) {
  const double largest = fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2]));
  for (int k = 0; k < 3; k++) direction[k] = (float)(largest > 0.0 ? d[k] / largest : d[k]);
}

static void rays_from_some(void *argument, size_t begin, size_t end) {
  const doubles *from = argument;
  const double scale = from->scale, x = from->center[0], y = from->center[1], z = from->center[2];
  for (size_t i = begin; i < end; i++) {
    const double *o = from->origins + 3 * i, *d = from->directions + 3 * i;
    const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
    slab_ray *ray = from->rays + i;
    *ray = (slab_ray){{(float)((o[0] - x) * scale), (float)((o[1] - y) * scale), (float)((o[2] - z) * scale)},
                      0.0f,
                      {(float)d[0], (float)d[1], (float)d[2]},
                      INFINITY};
    if (!(square > SHORTEST && square < LONGEST)) divide_by_largest(d, ray->direction);
  }
}

slab_status slab_rays_from_doubles(const double *origins, const double *directions, size_t n, const double center[3],
                                   double scale, slab_ray *rays) {
  ARITHMETIC callers = arithmetic_begin();
  const char *missing = origins == NULL ? "origins" : directions == NULL ? "directions" : rays == NULL ? "rays" : NULL;
  if (n > 0 && missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_rays_from_doubles: %s is NULL", missing);
  doubles from = {.origins = origins, .directions = directions, .scale = scale, .rays = rays};
  for (int k = 0; center != NULL && k < 3; k++) from.center[k] = center[k];
  pool_loop(0, n, RAYS_A_PIECE, rays_from_some, &from);
  return SLAB_OK;
}
