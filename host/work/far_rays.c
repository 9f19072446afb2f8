#include "work/far_rays.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

#include "base/extremes.h"
#include "base/moved.h"
#include "base/per_processor.h"
#include "base/pool.h"
#include "base/status.h"
#include "bvh/float4.h"

typedef double double4 __attribute__((vector_size(32)));
typedef int64_t long4 __attribute__((vector_size(32)));

#define FAR_MAX 0x1p58
/* Of the largest component of a direction: units and t are normal numbers within. */
#define LONGEST 0x1p960
#define SHORTEST 0x1p-960
/* Some 50 us. */
enum { FOURS_A_PIECE = 512, RESULTS_A_PIECE = 4096 };
/* Of rows of eight: origin, t_min, direction, t_max, as slab_ray and slab_ray64 have them. */
enum { T_MIN = 3, DIRECTION = 4, T_MAX = 7 };

/* The bounds' margin, of their longest side and of their largest coordinate: wider than errors of floats there. */
#define MARGIN_OF_SIDE 0x1p-10
#define MARGIN_OF_COORDINATE 0x1p-20
/* Up to so many margins t has a smaller error than one. */
#define CERTAIN 0x1p40

far_frame far_frame_of(const slab_scene_stats *s, bool unbounded) {
  far_frame f;
  double side = 0.0, coordinate = 0.0;
  for (int k = 0; k < 3; k++) {
    const bool bounded = s->lower[k] <= s->upper[k];
    f.origin[k] = s->origin[k];
    f.lower[k] = bounded ? (double)s->lower[k] : 0.0;
    f.upper[k] = bounded ? (double)s->upper[k] : 0.0;
    side = greater(side, f.upper[k] - f.lower[k]);
    coordinate = greater(coordinate, greater(fabs(f.lower[k]), fabs(f.upper[k])));
  }
  const double margin = MARGIN_OF_SIDE * side + MARGIN_OF_COORDINATE * coordinate;
  for (int k = 0; k < 3; k++) {
    f.lower[k] -= margin;
    f.upper[k] += margin;
  }
  f.certain = unbounded ? -1.0 : CERTAIN * margin;
  return f;
}

slab_status far_refuse_moved(const char *function, const slab_scene_stats *s) {
  if (!is_moved(s->origin)) return SLAB_OK;
  return fail(SLAB_UNSUPPORTED, "%s: the scene's origin is (%.17g, %.17g, %.17g), and only 0 is taken", function,
              s->origin[0], s->origin[1], s->origin[2]);
}

/* ---- rays ---- */

ALWAYS_INLINE double4 all4(double x) { return (double4){x, x, x, x}; }

ALWAYS_INLINE long4 select_bits(long4 chosen, long4 a, long4 b) { return (chosen & a) | (~chosen & b); }

ALWAYS_INLINE double4 select4(long4 chosen, double4 a, double4 b) {
  return (double4)select_bits(chosen, (long4)a, (long4)b);
}

ALWAYS_INLINE double4 abs4(double4 a) { return (double4)((long4)a & 0x7FFFFFFFFFFFFFFF); }

ALWAYS_INLINE double4 max4(double4 a, double4 b) { return select4(a > b, a, b); }

ALWAYS_INLINE long4 exponents(int64_t e) { return (long4){e, e, e, e} << 52; }

/* The power of two whose product with m, the largest component of a direction, is in [1, 2). */
ALWAYS_INLINE double4 unit_of(double4 m) { return (double4)(exponents(2046) - ((long4)m & exponents(2047))); }

/* Its inverse, which is exact. */
ALWAYS_INLINE double4 inverse_of(double4 unit) { return (double4)(exponents(2046) - (long4)unit); }

/* Four rays at once: a column for each of the eight numbers. */
typedef struct far_four {
  double4 of[8];
} far_four;

ALWAYS_INLINE far_four load_floats(const slab_ray *rays) {
  const float *r = rays->origin;
  far_four four;
  for (int c = 0; c < 8; c++) four.of[c] = (double4){r[c], r[8 + c], r[16 + c], r[24 + c]};
  return four;
}

ALWAYS_INLINE far_four load_doubles(const slab_ray64 *rays) {
  const double *r = rays->origin;
  far_four four;
  for (int c = 0; c < 8; c++) four.of[c] = (double4){r[c], r[8 + c], r[16 + c], r[24 + c]};
  return four;
}

/* Whether points are within the bounds. */
ALWAYS_INLINE long4 are_inside(const far_frame *f, const double4 p[3]) {
  long4 inside[3];
  for (int k = 0; k < 3; k++) inside[k] = (p[k] >= all4(f->lower[k])) & (p[k] <= all4(f->upper[k]));
  return inside[0] & inside[1] & inside[2];
}

ALWAYS_INLINE bool are_all(long4 a) { return (a[0] & a[1] & a[2] & a[3]) != 0; }

/* p + t d is on the line where it enters the bounds, or is nearest to their middle where it misses them; t is 0 where p
 * is inside. Where a product is NaN, p is on a plane of the bounds that d is parallel to. By the sign of a zero, that
 * counts as no bound or as a miss. Either is a place near enough. */
ALWAYS_INLINE double4 begin_of(const far_frame *f, const double4 p[3], const double4 d[3], long4 inside) {
  double4 enter = all4(-INFINITY), leave = all4(INFINITY), along = all4(0.0), square = all4(0.0);
  double4 to_lower[3], to_upper[3];
  for (int k = 0; k < 3; k++) {
    to_lower[k] = all4(f->lower[k]) - p[k];
    to_upper[k] = all4(f->upper[k]) - p[k];
    const double4 inverse = all4(1.0) / d[k], a = to_lower[k] * inverse, b = to_upper[k] * inverse;
    const double4 near = select4(a < b, a, b), far = select4(a < b, b, a);
    enter = max4(near, enter);
    leave = select4(far < leave, far, leave);
  }
  const long4 meets = enter <= leave;
  if (are_all(meets)) return select4(inside, all4(0.0), enter);
  for (int k = 0; k < 3; k++) {
    along += (all4(0.5) * to_lower[k] + all4(0.5) * to_upper[k]) * d[k];
    square += d[k] * d[k];
  }
  return select4(inside, all4(0.0), select4(meets, enter, along / square));
}

/* a - b in float, rounded down, or up where `sign` is -1: the range never loses an end. */
ALWAYS_INLINE float4 outward(double4 a, double4 b, double sign, bool exact) {
  const double4 x = (a - b) * all4(sign);
  const float4 f = __builtin_convertvector(x, float4);
  if (are_all(abs4(x) == all4(INFINITY))) return f * float4_all((float)sign);
  const double4 back = {f[0], f[1], f[2], f[3]};
  long4 above = back > x;
  if (!exact) {
    const double4 v = (a - b) - a, lost = ((a - ((a - b) - v)) - (b + v)) * all4(sign);
    above |= (back == x) & (lost < all4(0.0));
  }
  const int4 others = __builtin_convertvector(above, int4);
  if (!int4_any(others)) return f * float4_all((float)sign);
  /* the next float below: of positive ones the bits before, of 0 the first negative one */
  const int4 bits = (int4)f, zero = {0}, positive = bits > zero, none = (bits & INT32_MAX) == zero;
  const int4 below = (none & (zero + (INT32_MIN + 1))) | (~none & (bits + (positive | 1)));
  return float4_select(others, (float4)below, f) * float4_all((float)sign);
}

/* The first end of the range of rays that begin at t. Before the bounds nothing is hit, so ends below 0 become 0 there:
 * with them kernels would take more time, and packets would not take the rays. */
ALWAYS_INLINE float4 first_end(const far_frame *f, double4 t_min, double4 t, long4 inside) {
  const long4 moved = ~inside & (abs4(t) <= all4(f->certain));
  if (are_all(moved & (t_min < t))) return float4_all(0.0f);
  const float4 end = outward(t_min, t, 1.0, false);
  return float4_select(__builtin_convertvector(moved, int4) & (end < float4_all(0.0f)), float4_all(0.0f), end);
}

ALWAYS_INLINE void make_four(const far_frame *f, const far_four *four, slab_ray rays[4], double begin[4],
                             double unit[4]) {
  double4 p[3], d[3], largest = all4(0.0);
  long4 valid = all4(0.0) == all4(0.0);
  for (int k = 0; k < 3; k++) {
    p[k] = four->of[k] - all4(f->origin[k]);
    valid &= abs4(four->of[k]) <= all4(FAR_MAX);
    largest = max4(abs4(four->of[DIRECTION + k]), largest);
  }
  valid &= (largest >= all4(SHORTEST)) & (largest <= all4(LONGEST));
  const double4 scale = unit_of(largest), inverse = inverse_of(scale);
  for (int k = 0; k < 3; k++) d[k] = four->of[DIRECTION + k] * scale;
  const long4 inside = are_inside(f, p);
  const bool all_inside = are_all(inside);
  const double4 t = all_inside ? all4(0.0) : begin_of(f, p, d, inside);
  const double4 t_min = four->of[T_MIN], t_max = four->of[T_MAX];
  const int4 some = __builtin_convertvector(t_min > t_max, int4);
  float4 columns[8];
  for (int k = 0; k < 3; k++) {
    columns[k] = __builtin_convertvector(select4(valid, p[k] + t * d[k], all4(NAN)), float4);
    columns[DIRECTION + k] = __builtin_convertvector(d[k], float4);
  }
  columns[T_MIN] =
      float4_select(some, float4_all(1.0f),
                    all_inside ? outward(t_min * inverse, t, 1.0, true) : first_end(f, t_min * inverse, t, inside));
  columns[T_MAX] = float4_select(some, float4_all(0.0f), outward(t_max * inverse, t, -1.0, all_inside));
  float4_transpose(&columns[0], &columns[1], &columns[2], &columns[3]);
  float4_transpose(&columns[4], &columns[5], &columns[6], &columns[7]);
  for (int i = 0; i < 4; i++) {
    memcpy(rays[i].origin, &columns[i], sizeof columns[i]);
    memcpy(rays[i].direction, &columns[DIRECTION + i], sizeof columns[i]);
  }
  memcpy(begin, &t, sizeof t);
  memcpy(unit, &scale, sizeof scale);
}

typedef struct far_making {
  const far_cast *of;
  size_t first, n;
  slab_ray *rays;
  const far_lines *lines;
} far_making;

/* The last rows of a source that does not end with four of them. */
static far_four load_rest(const far_making *m, size_t at) {
  const far_source *from = &m->of->from;
  slab_ray rays[4] = {{.t_min = 0.0f}};
  slab_ray64 rays64[4] = {{.t_min = 0.0}};
  const size_t n = m->n - at;
  if (from->rays64 == NULL) {
    memcpy(rays, from->rays + m->first + at, n * sizeof *rays);
    return load_floats(rays);
  }
  memcpy(rays64, from->rays64 + m->first + at, n * sizeof *rays64);
  return load_doubles(rays64);
}

ALWAYS_INLINE void make_fours(const far_making *m, size_t first, size_t end) {
  const far_source *from = &m->of->from;
  for (size_t i = 4 * first; i < 4 * end && i < m->n; i += 4) {
    const bool whole = m->n - i >= 4;
    slab_ray rest[4], *to = whole ? m->rays + i : rest;
    const far_four four = !whole                 ? load_rest(m, i)
                          : from->rays64 == NULL ? load_floats(from->rays + m->first + i)
                                                 : load_doubles(from->rays64 + m->first + i);
    make_four(&m->of->frame, &four, to, m->lines->begin + i, m->lines->unit + i);
    if (!whole) memcpy(m->rays + i, rest, (m->n - i) * sizeof *rest);
  }
}
WITH_FMA static void make_fours_fma(const far_making *m, size_t first, size_t end) { make_fours(m, first, end); }

static void make_some(void *argument, size_t first, size_t end) { PER_PROCESSOR(make_fours)(argument, first, end); }

void far_rays_make(const far_cast *of, size_t first, size_t n, slab_ray *rays, const far_lines *lines) {
  far_making m = {of, first, n, rays, lines};
  make_some(&m, 0, far_fours(n));
}

void far_rays_see(const void *of, size_t first, size_t n, slab_ray *rays) {
  double begin[FAR_SEEN], unit[FAR_SEEN];
  far_rays_make(of, first, n, rays, &(far_lines){begin, unit});
}

void far_rays_make_all(uint32_t threads, const far_cast *of, size_t first, size_t n, slab_ray *rays,
                       const far_lines *lines) {
  far_making m = {of, first, n, rays, lines};
  pool_loop(threads, far_fours(n), FOURS_A_PIECE, make_some, &m);
}

/* ---- results ---- */

/* Results on their way. */
typedef struct far_putting {
  slab_query query;
  const slab_ray *rays; /* the first of them, of either type, as in far_source */
  const slab_ray64 *rays64;
  const double *begin, *unit;
  const void *results;
  char *to;
  size_t stride;
} far_putting;

ALWAYS_INLINE far_putting putting_of(const far_cast *of, size_t first, const far_lines *lines, const void *results) {
  const far_source *s = &of->from;
  return (far_putting){of->query,
                       s->rays64 != NULL ? NULL : s->rays + first,
                       s->rays64 != NULL ? s->rays64 + first : NULL,
                       lines->begin,
                       lines->unit,
                       results,
                       of->results != NULL ? (char *)of->results + first * of->stride : NULL, /* lists have none */
                       of->stride};
}

/* Within the ray's range. */
ALWAYS_INLINE double within(double t, double t_min, double t_max) { return t < t_min ? t_min : t > t_max ? t_max : t; }

/* t of a hit of ray i. */
ALWAYS_INLINE double world_t(const far_putting *p, size_t i, float t) {
  const double world = (p->begin[i] + (double)t) * p->unit[i];
  if (p->rays64 != NULL) return within(world, p->rays64[i].t_min, p->rays64[i].t_max);
  return within(world, (double)p->rays[i].t_min, (double)p->rays[i].t_max);
}

double far_t(const far_source *s, const far_lines *l, size_t first, size_t i, float t) {
  const far_putting p = putting_of(&(far_cast){.from = *s}, first, l, NULL);
  return world_t(&p, i, t);
}

static bool is_hit(uint32_t primitive) { return primitive < SLAB_INVALID; }

/* Results are written member by member. A struct that is made of small parts and copied in large ones waits for its own
 * stores. That takes three times as long as all else. Where float rays are given, t is rounded to float, which keeps it
 * within their range. */
ALWAYS_INLINE void put_part(void *to, size_t at, const void *part, size_t size) { memcpy((char *)to + at, part, size); }

/* From the normal on both kinds of hits have the same members, and doubles the float t behind them. All others have two
 * ids. */
enum { HIT_REST = sizeof(slab_hit) - offsetof(slab_hit, normal), IDS = 2 * sizeof(uint32_t) };
_Static_assert(offsetof(slab_hit64, order) == offsetof(slab_hit64, normal) + HIT_REST, "slab_hit64 as slab_hit");
_Static_assert(offsetof(slab_short_hit64, order) == offsetof(slab_short_hit64, primitive) + IDS, "ids together");
_Static_assert(sizeof(slab_interval64) == offsetof(slab_interval64, primitive) + IDS, "ids at the end");

/* A hit whose float ray has met it at h->t. */
ALWAYS_INLINE void put_hit64(const slab_hit *h, double t, void *to) {
  put_part(to, offsetof(slab_hit64, t), &t, sizeof t);
  put_part(to, offsetof(slab_hit64, normal), h->normal, HIT_REST);
  put_part(to, offsetof(slab_hit64, order), &h->t, sizeof h->t);
}

ALWAYS_INLINE void put_hit32(const slab_hit *h, double t, void *to) {
  const float rounded = (float)t;
  put_part(to, offsetof(slab_hit, t), &rounded, sizeof rounded);
  put_part(to, offsetof(slab_hit, normal), h->normal, HIT_REST);
}

ALWAYS_INLINE void put_hit(const far_putting *p, size_t i, void *to) {
  const slab_hit *h = (const slab_hit *)p->results + i;
  const double t = is_hit(h->primitive) ? world_t(p, i, h->t) : INFINITY;
  if (p->rays64 != NULL)
    put_hit64(h, t, to);
  else
    put_hit32(h, t, to);
}

ALWAYS_INLINE void put_short_hit(const far_putting *p, size_t i, void *to) {
  const slab_short_hit *h = (const slab_short_hit *)p->results + i;
  const double t = is_hit(h->primitive) ? world_t(p, i, h->t) : INFINITY;
  const float rounded = (float)t;
  const uint32_t zero = 0;
  if (p->rays64 == NULL) {
    put_part(to, offsetof(slab_short_hit, t), &rounded, sizeof rounded);
    put_part(to, offsetof(slab_short_hit, primitive), &h->primitive, IDS);
    return;
  }
  put_part(to, offsetof(slab_short_hit64, t), &t, sizeof t);
  put_part(to, offsetof(slab_short_hit64, primitive), &h->primitive, IDS);
  put_part(to, offsetof(slab_short_hit64, order), &h->t, sizeof h->t);
  put_part(to, offsetof(slab_short_hit64, zero), &zero, sizeof zero);
}

ALWAYS_INLINE void put_interval(const far_putting *p, size_t i, void *to) {
  const slab_interval *h = (const slab_interval *)p->results + i;
  const bool hit = is_hit(h->primitive);
  const double ends[2] = {hit ? world_t(p, i, h->enter) : (double)h->enter,
                          hit ? world_t(p, i, h->leave) : (double)h->leave};
  const float rounded[2] = {(float)ends[0], (float)ends[1]};
  if (p->rays64 != NULL) {
    put_part(to, offsetof(slab_interval64, enter), ends, sizeof ends);
    put_part(to, offsetof(slab_interval64, primitive), &h->primitive, IDS);
  } else {
    put_part(to, offsetof(slab_interval, enter), rounded, sizeof rounded);
    put_part(to, offsetof(slab_interval, primitive), &h->primitive, IDS);
  }
}

ALWAYS_INLINE void put_distance(const far_putting *p, size_t i, void *to) {
  const float t = ((const float *)p->results)[i];
  const double now = t < INFINITY ? world_t(p, i, t) : INFINITY;
  const float rounded = (float)now;
  if (p->rays64 == NULL)
    memcpy(to, &rounded, sizeof rounded);
  else
    memcpy(to, &now, sizeof now);
}

ALWAYS_INLINE void put_any(const far_putting *p, size_t i, void *to) {
  memcpy(to, (const uint8_t *)p->results + i, sizeof(uint8_t));
}

ALWAYS_INLINE void put_count(const far_putting *p, size_t i, void *to) {
  memcpy(to, (const uint32_t *)p->results + i, sizeof(uint32_t));
}

#define PUT_EACH(put) \
  for (size_t i = first; i < end; i++) put(&p, i, p.to + i * p.stride)

/* p: a copy, since for all that compilers know the writes change what is elsewhere. */
ALWAYS_INLINE void put_rows(far_putting p, size_t first, size_t end) {
  switch (p.query) {
    case SLAB_CLOSEST:
      PUT_EACH(put_hit);
      break;
    case SLAB_NEAREST:
      PUT_EACH(put_short_hit);
      break;
    case SLAB_INTERVAL:
      PUT_EACH(put_interval);
      break;
    case SLAB_DISTANCE:
      PUT_EACH(put_distance);
      break;
    case SLAB_ANY:
      PUT_EACH(put_any);
      break;
    case SLAB_COUNT:
      PUT_EACH(put_count);
      break;
    case SLAB_ALL: /* far_lists_put */
      break;
  }
}
#undef PUT_EACH

void far_results_put(const far_cast *of, size_t first, size_t n, const far_lines *lines, const void *results) {
  put_rows(putting_of(of, first, lines, results), 0, n);
}

static void put_some(void *argument, size_t first, size_t end) { put_rows(*(const far_putting *)argument, first, end); }

void far_results_put_all(uint32_t threads, const far_cast *of, size_t first, size_t n, const far_lines *lines,
                         const void *results) {
  far_putting p = putting_of(of, first, lines, results);
  pool_loop(threads, n, RESULTS_A_PIECE, put_some, &p);
}

/* From the end on, since a slab_hit64 is larger than the slab_hit whose place it takes. */
void far_lists_put(const far_source *from, const far_lines *lines, size_t n, const uint64_t *offsets, void *hits) {
  const bool doubles = from->rays64 != NULL;
  const far_putting p = putting_of(&(far_cast){.from = *from}, 0, lines, NULL);
  const size_t size = doubles ? sizeof(slab_hit64) : sizeof(slab_hit);
  for (size_t i = n; i-- > 0;)
    for (uint64_t k = offsets[i + 1]; k-- > offsets[i];) {
      slab_hit h;
      memcpy(&h, (const slab_hit *)hits + k, sizeof h);
      const double t = world_t(&p, i, h.t);
      if (doubles)
        put_hit64(&h, t, (char *)hits + k * size);
      else
        put_hit32(&h, t, (char *)hits + k * size);
    }
}
