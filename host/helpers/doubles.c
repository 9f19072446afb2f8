/* Doubles as floats, rays of doubles and the points where they hit, on the threads of the pool. */
#include <stdatomic.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/pool.h"
#include "base/status.h"
#include "slabcast.h"

/* Squares of the lengths of directions that are rounded as they are. */
#define SHORTEST 1e-24
#define LONGEST 1e24
/* Sines of angles between a ray and a triangle's plane below which their intersection is no better than t. */
#define EDGE_ON 1e-9
/* Some 100 us. */
#define RAYS_A_PIECE 16384
#define HITS_A_PIECE 4096

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

/* A direction as rays have it. */
static void rounded(const double d[3], float direction[3]) {
  const double square = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
  for (int k = 0; k < 3; k++) direction[k] = (float)d[k];
  if (!(square > SHORTEST && square < LONGEST)) divide_by_largest(d, direction);
}

static void rays_from_some(void *argument, size_t begin, size_t end) {
  const doubles *from = argument;
  const double scale = from->scale, x = from->center[0], y = from->center[1], z = from->center[2];
  for (size_t i = begin; i < end; i++) {
    const double *o = from->origins + 3 * i, *d = from->directions + 3 * i;
    slab_ray *ray = from->rays + i;
    *ray = (slab_ray){{(float)((o[0] - x) * scale), (float)((o[1] - y) * scale), (float)((o[2] - z) * scale)},
                      0.0f,
                      {0.0f, 0.0f, 0.0f},
                      INFINITY};
    rounded(d, ray->direction);
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

/* ---- floats ---- */

/* Columns that one pass over the rows rounds. */
#define COLUMNS_A_PASS 8
/* Memory is requested so many rows before they are rounded: the processor's own guess ends with each page. A pass over
 * rays takes 0.4 to 0.7 of its time by that. */
#define ROWS_AHEAD 64

typedef struct rounding {
  const char *from;
  char *to;
  size_t from_stride, to_stride, columns;
  atomic_uint_least64_t moved[COLUMNS_A_PASS]; /* bits of doubles, which grow as they do: none has a sign */
} rounding;

static void note_moved(atomic_uint_least64_t *most, double moved) {
  uint64_t bits;
  memcpy(&bits, &moved, sizeof bits);
  for (uint_least64_t seen = atomic_load(most); bits > seen && !atomic_compare_exchange_weak(most, &seen, bits);) {
  }
}

/* NaN moves nothing, and neither does infinity, whose difference is NaN. */
static inline void round_rows(rounding *r, size_t begin, size_t end, size_t columns) {
  double most[COLUMNS_A_PASS] = {0.0};
  for (size_t i = begin; i < end; i++) {
    const double *restrict from = (const void *)(r->from + i * r->from_stride);
    float *restrict to = (void *)(r->to + i * r->to_stride);
    __builtin_prefetch((const void *)((uintptr_t)from + ROWS_AHEAD * r->from_stride)); /* may lie beyond the last row */
    for (size_t c = 0; c < columns; c++) {
      to[c] = (float)from[c];
      const double moved = fabs(from[c] - (double)to[c]);
      most[c] = moved > most[c] ? moved : most[c];
    }
  }
  for (size_t c = 0; c < columns; c++) note_moved(&r->moved[c], most[c]);
}

/* The compiler unrolls the three of points. */
static void round_some(void *argument, size_t begin, size_t end) {
  rounding *r = argument;
  if (r->columns == 3)
    round_rows(r, begin, end, 3);
  else
    round_rows(r, begin, end, r->columns);
}

slab_status slab_floats_from_doubles(const double *from, size_t from_stride, size_t rows, size_t columns, float *to,
                                     size_t to_stride, double *moved) {
  ARITHMETIC callers = arithmetic_begin();
  const char *missing = from == NULL ? "from" : to == NULL ? "to" : NULL;
  if (rows > 0 && columns > 0 && missing != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_floats_from_doubles: %s is NULL", missing);
  for (size_t c = 0; c < columns; c += COLUMNS_A_PASS) {
    const size_t rest = columns - c;
    rounding r = {.from = (const char *)(from + c),
                  .to = (char *)(to + c),
                  .from_stride = from_stride,
                  .to_stride = to_stride,
                  .columns = rest < COLUMNS_A_PASS ? rest : COLUMNS_A_PASS};
    pool_loop(0, rows, RAYS_A_PIECE, round_some, &r);
    for (size_t k = 0; moved != NULL && k < r.columns; k++) {
      const uint64_t bits = atomic_load(&r.moved[k]);
      memcpy(&moved[c + k], &bits, sizeof bits);
    }
  }
  return SLAB_OK;
}

/* ---- points ---- */

typedef struct wanted_points {
  const slab_double_hits *hits;
  double *points;
} wanted_points;

static double dot(const double a[3], const double b[3]) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }

/* Not a unit vector. Returns the first vertex. */
static const double *normal_of(const slab_double_hits *hits, uint64_t triangle, double normal[3]) {
  const double *corner[3];
  double u[3], v[3];
  for (int c = 0; c < 3; c++) {
    const uint64_t at = 3 * triangle + (uint64_t)c;
    corner[c] = hits->vertices + 3 * (hits->indices != NULL ? hits->indices[at] : at);
  }
  for (int k = 0; k < 3; k++) {
    u[k] = corner[1][k] - corner[0][k];
    v[k] = corner[2][k] - corner[0][k];
  }
  for (int k = 0; k < 3; k++) normal[k] = u[(k + 1) % 3] * v[(k + 2) % 3] - u[(k + 2) % 3] * v[(k + 1) % 3];
  return corner[0];
}

static void locate(const slab_double_hits *hits, size_t i, double point[3]) {
  const double *o = hits->origins + 3 * hits->rays[i], *d = hits->directions + 3 * hits->rays[i];
  const double largest = fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2]));
  const double way[3] = {d[0] / largest, d[1] / largest, d[2] / largest};
  double normal[3];
  const double *on_plane = normal_of(hits, hits->triangles[i], normal);
  const double along = dot(way, normal);
  if (fabs(along) > EDGE_ON * sqrt(dot(normal, normal) * dot(way, way))) {
    const double off[3] = {on_plane[0] - o[0], on_plane[1] - o[1], on_plane[2] - o[2]};
    const double t = dot(off, normal) / along;
    for (int k = 0; k < 3; k++) point[k] = o[k] + t * way[k];
  } else if (hits->t64 != NULL) {
    const double t = *(const double *)(const void *)((const char *)hits->t64 + i * hits->t_stride) / hits->scale;
    for (int k = 0; k < 3; k++) point[k] = o[k] + t * d[k];
  } else {
    float cast[3];
    const double t = (double)*(const float *)(const void *)((const char *)hits->t + i * hits->t_stride) / hits->scale;
    rounded(d, cast);
    for (int k = 0; k < 3; k++) point[k] = o[k] + t * (double)cast[k];
  }
}

static void locate_some(void *argument, size_t begin, size_t end) {
  const wanted_points *wanted = argument;
  for (size_t i = begin; i < end; i++) locate(wanted->hits, i, wanted->points + 3 * i);
}

static const char *missing_of(const slab_double_hits *hits, const double *points) {
  return hits == NULL                           ? "hits"
         : hits->origins == NULL                ? "origins"
         : hits->directions == NULL             ? "directions"
         : hits->vertices == NULL               ? "vertices"
         : hits->rays == NULL                   ? "rays"
         : hits->triangles == NULL              ? "triangles"
         : hits->t == NULL && hits->t64 == NULL ? "t"
         : points == NULL                       ? "points"
                                                : NULL;
}

slab_status slab_points_from_doubles(const slab_double_hits *hits, size_t n, double *points) {
  ARITHMETIC callers = arithmetic_begin();
  const char *missing = n > 0 ? missing_of(hits, points) : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_points_from_doubles: %s is NULL", missing);
  wanted_points wanted = {hits, points};
  pool_loop(0, n, HITS_A_PIECE, locate_some, &wanted);
  return SLAB_OK;
}
