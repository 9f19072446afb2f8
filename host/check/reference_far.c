/* The contract's steps from a ray of the world to a float ray and back, one ray and one coordinate at a time. Powers of
 * two are by frexp and ldexp. Ends are rounded outward by nextafterf and the error of a difference.
 *
 * Compile without contraction or fast mathematics. */
#include "check/reference_far.h"

#include <math.h>
#include <string.h>

/* Beyond this a coordinate makes a ray invalid. */
#define FARTHEST 0x1p58

/* ---- the float ray ---- */

static double largest_of(const double d[3]) { return fmax(fmax(fabs(d[0]), fabs(d[1])), fabs(d[2])); }

/* So that the largest component times 2^e is in [1, 2), where it is a length that directions may have. */
static int scale_of(const double d[3]) {
  int exponent;
  (void)frexp(largest_of(d), &exponent);
  return 1 - exponent;
}

static bool is_length(double largest) { return largest >= 0x1p-960 && largest <= 0x1p960; }

/* The scene's finite bounds, each 0 where there are none, with their margin on all sides. Returns the margin. */
static double bounds_of(const slab_scene_stats *s, double lower[3], double upper[3]) {
  double longest = 0.0, largest = 0.0;
  for (int k = 0; k < 3; k++) {
    const bool none = s->lower[k] > s->upper[k];
    lower[k] = none ? 0.0 : (double)s->lower[k];
    upper[k] = none ? 0.0 : (double)s->upper[k];
    longest = fmax(longest, upper[k] - lower[k]);
    largest = fmax(largest, fmax(fabs(lower[k]), fabs(upper[k])));
  }
  const double margin = ldexp(longest, -10) + ldexp(largest, -20);
  for (int k = 0; k < 3; k++) {
    lower[k] -= margin;
    upper[k] += margin;
  }
  return margin;
}

static bool is_inside(const double p[3], const double lower[3], const double upper[3]) {
  for (int k = 0; k < 3; k++)
    if (!(lower[k] <= p[k] && p[k] <= upper[k])) return false;
  return true;
}

/* Where p + t d enters the bounds; where it misses them, is nearest to their middle. A NaN is no bound. */
static double begin_of(const double p[3], const double d[3], const double lower[3], const double upper[3]) {
  double from = -INFINITY, to = INFINITY, dot = 0.0, square = 0.0;
  for (int k = 0; k < 3; k++) {
    const double to_lower = lower[k] - p[k], to_upper = upper[k] - p[k], inverse = 1.0 / d[k];
    const double one = to_lower * inverse, other = to_upper * inverse;
    const bool rises = one < other;
    if ((rises ? one : other) > from) from = rises ? one : other;
    if ((rises ? other : one) < to) to = rises ? other : one;
    dot += (0.5 * to_lower + 0.5 * to_upper) * d[k];
    square += d[k] * d[k];
  }
  return from <= to ? from : dot / square;
}

/* The rounding error of a - b, for a and b of any order (Dekker). */
static double lost_of(double a, double b) {
  const double difference = a - b;
  return fabs(a) >= fabs(b) ? (a - difference) - b : a - (difference + b);
}

/* The largest float that is at most a - b, and the least that is at least that. */
static float at_most(double a, double b) {
  const double difference = a - b;
  const float f = (float)difference;
  const bool above = (double)f > difference || ((double)f == difference && lost_of(a, b) < 0.0);
  return above ? nextafterf(f, -INFINITY) : f;
}

static float at_least(double a, double b) {
  const double difference = a - b;
  const float f = (float)difference;
  const bool below = (double)f < difference || ((double)f == difference && lost_of(a, b) > 0.0);
  return below ? nextafterf(f, INFINITY) : f;
}

reference_line reference_line_of(const slab_scene_stats *s, bool unbounded, const slab_ray64 *given) {
  reference_line line = {.given = *given, .exponent = scale_of(given->direction), .doubles = true};
  double lower[3], upper[3], p[3], d[3];
  bool valid = is_length(largest_of(given->direction));
  const double margin = bounds_of(s, lower, upper);
  for (int k = 0; k < 3; k++) {
    p[k] = given->origin[k] - s->origin[k];
    d[k] = ldexp(given->direction[k], line.exponent);
    valid = valid && fabs(given->origin[k]) <= FARTHEST;
  }
  const bool inside = is_inside(p, lower, upper);
  line.begin = inside ? 0.0 : begin_of(p, d, lower, upper);
  for (int k = 0; k < 3; k++) {
    line.ray.origin[k] = valid ? (float)(p[k] + line.begin * d[k]) : NAN;
    line.ray.direction[k] = (float)d[k];
  }
  const bool empty = given->t_min > given->t_max;
  line.ray.t_min = empty ? 1.0f : at_most(ldexp(given->t_min, -line.exponent), line.begin);
  line.ray.t_max = empty ? 0.0f : at_least(ldexp(given->t_max, -line.exponent), line.begin);
  const bool nothing_before = !unbounded && fabs(line.begin) <= ldexp(margin, 40);
  if (!inside && nothing_before && line.ray.t_min < 0.0f) line.ray.t_min = 0.0f;
  return line;
}

reference_line reference_line_of_floats(const slab_scene_stats *s, bool unbounded, const slab_ray *r) {
  const slab_ray64 given = {.origin = {r->origin[0], r->origin[1], r->origin[2]},
                            .t_min = r->t_min,
                            .direction = {r->direction[0], r->direction[1], r->direction[2]},
                            .t_max = r->t_max};
  reference_line line = reference_line_of(s, unbounded, &given);
  line.doubles = false;
  return line;
}

/* ---- answers ---- */

double reference_world_t(const reference_line *line, float t) {
  const double world = ldexp(line->begin + (double)t, line->exponent);
  if (world < line->given.t_min) return line->given.t_min;
  return world > line->given.t_max ? line->given.t_max : world;
}

size_t reference_size(slab_query query, const reference_line *line) {
  return line != NULL && line->doubles ? slab_result_size64(query) : slab_result_size(query);
}

/* t of a result, of a hit or a miss. */
static double told_t(const reference_line *line, bool hit, float t) {
  return hit && line != NULL ? reference_world_t(line, t) : (double)t;
}

static void tell_hit(const reference_line *line, const slab_hit *hit, void *to) {
  const double t = told_t(line, hit->primitive < SLAB_INVALID, hit->t);
  slab_hit64 wide = {.t = t, .u = hit->u, .v = hit->v, .primitive = hit->primitive, .geometry = hit->geometry};
  memcpy(wide.normal, hit->normal, sizeof wide.normal);
  wide.order = hit->t;
  slab_hit narrow = *hit;
  narrow.t = (float)t;
  if (line != NULL && line->doubles)
    memcpy(to, &wide, sizeof wide);
  else
    memcpy(to, &narrow, sizeof narrow);
}

static void tell_short_hit(const reference_line *line, const slab_short_hit *hit, void *to) {
  const double t = told_t(line, hit->primitive < SLAB_INVALID, hit->t);
  const slab_short_hit64 wide = {.t = t, .primitive = hit->primitive, .geometry = hit->geometry, .order = hit->t};
  const slab_short_hit narrow = {.t = (float)t, .primitive = hit->primitive, .geometry = hit->geometry};
  if (line != NULL && line->doubles)
    memcpy(to, &wide, sizeof wide);
  else
    memcpy(to, &narrow, sizeof narrow);
}

static void tell_interval(const reference_line *line, const slab_interval *met, void *to) {
  const bool hit = met->primitive < SLAB_INVALID;
  const double enter = told_t(line, hit, met->enter), leave = told_t(line, hit, met->leave);
  const slab_interval64 wide = {enter, leave, met->primitive, met->geometry};
  const slab_interval narrow = {(float)enter, (float)leave, met->primitive, met->geometry};
  if (line != NULL && line->doubles)
    memcpy(to, &wide, sizeof wide);
  else
    memcpy(to, &narrow, sizeof narrow);
}

static void tell_distance(const reference_line *line, float distance, void *to) {
  const double wide = told_t(line, distance < INFINITY, distance);
  const float narrow = (float)wide;
  if (line != NULL && line->doubles)
    memcpy(to, &wide, sizeof wide);
  else
    memcpy(to, &narrow, sizeof narrow);
}

void reference_tell(slab_query query, const reference_line *line, const reference_answer *m, uint32_t k, void *to) {
  switch (query) {
    case SLAB_CLOSEST:
      tell_hit(line, &m->closest, to);
      break;
    case SLAB_DISTANCE:
      tell_distance(line, m->distance, to);
      break;
    case SLAB_ANY:
      memcpy(to, &m->any, sizeof m->any);
      break;
    case SLAB_COUNT:
      memcpy(to, &m->count, sizeof m->count);
      break;
    case SLAB_INTERVAL:
      tell_interval(line, &m->interval, to);
      break;
    case SLAB_NEAREST:
      tell_short_hit(line, &m->nearest, to);
      break;
    case SLAB_ALL:
      tell_hit(line, &m->all[k], to);
      break;
  }
}
