/* Compares the results of the queries with each other. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "sets/answers.h"

/* Whether x is neither NaN nor -0. */
static bool is_plain(float x) { return x == x && !(x == 0.0f && signbit(x)); }

static bool is_id(uint32_t primitive, uint32_t geometry) { return primitive < SLAB_INVALID && geometry < SLAB_INVALID; }

static bool is_no_hit(const slab_hit *h) {
  return h->t == INFINITY && h->normal[0] == 0 && h->normal[1] == 0 && h->normal[2] == 0 && h->u == 0 && h->v == 0 &&
         h->primitive == h->geometry && (h->primitive == SLAB_MISS || h->primitive == SLAB_INVALID);
}

static double along(const slab_hit *h, const slab_ray *ray) {
  double sum = 0, length = 0;
  for (int i = 0; i < 3; i++) {
    sum += (double)h->normal[i] * (double)ray->direction[i];
    length += (double)ray->direction[i] * (double)ray->direction[i];
  }
  return sum / sqrt(length);
}

/* Whether t stays exact in units of the scaled direction. test_rays.c tests ranges that do not. */
static bool scales_exactly(float t, const slab_ray *ray) {
  double largest = 0;
  for (int i = 0; i < 3; i++) largest = fmax(largest, fabs((double)ray->direction[i]));
  int exponent;
  frexp(largest, &exponent);
  double scaled = ldexp((double)t, exponent - 1);
  return isinf(t) || (fabs(scaled) <= (double)FLT_MAX && (double)(float)scaled == scaled);
}

static bool is_in_range(float t, const slab_ray *ray) {
  return (t >= ray->t_min || !scales_exactly(ray->t_min, ray)) && (t <= ray->t_max || !scales_exactly(ray->t_max, ray));
}

static const char *fault_of_hit(const slab_hit *h, const slab_ray *ray, const slab_cast_options *options) {
  const float values[] = {h->t, h->normal[0], h->normal[1], h->normal[2], h->u, h->v};
  for (int i = 0; i < 6; i++)
    if (!is_plain(values[i])) return "a hit holds NaN or -0";
  if (!isfinite(h->t) || !is_id(h->primitive, h->geometry)) return "a hit has no finite t or no id";
  if (!is_in_range(h->t, ray)) return "a hit lies outside the range";
  double square = 0;
  for (int i = 0; i < 3; i++) square += (double)h->normal[i] * (double)h->normal[i];
  if (!(fabs(square - 1) < 1e-6)) return "a normal is not of unit length";
  if (options && options->face_forward && along(h, ray) > 1e-6) return "face_forward left a normal along the ray";
  return NULL;
}

/* Where a long direction divides t, hits with different t may both report 0 or the same subnormal number. test_rays.c
 * tests their order. */
static bool is_underflown(float t, const slab_ray *ray) {
  const float *d = ray->direction;
  return fabsf(t) < FLT_MIN && fmaxf(fmaxf(fabsf(d[0]), fabsf(d[1])), fabsf(d[2])) >= 2.0f;
}

static bool is_before(const slab_hit *a, const slab_hit *b, const slab_ray *ray) {
  if (a->t != b->t) return a->t < b->t;
  if (is_underflown(a->t, ray)) return a->geometry != b->geometry || a->primitive != b->primitive;
  return a->geometry != b->geometry ? a->geometry < b->geometry : a->primitive < b->primitive;
}

static const char *fault_of_interval(const slab_interval *v, const slab_hit *h, const slab_ray *ray, bool culls) {
  const bool hit = is_id(h->primitive, h->geometry);
  if (!is_plain(v->enter) || !is_plain(v->leave)) return "an interval holds NaN or -0";
  if ((v->primitive == SLAB_INVALID) != (h->primitive == SLAB_INVALID))
    return "interval and closest differ in validity";
  if (!is_id(v->primitive, v->geometry)) {
    if (hit) return "a surface is hit and no solid is met";
    return v->enter == INFINITY && v->leave == -INFINITY && v->primitive == v->geometry ? NULL : "a miss is malformed";
  }
  if (!(v->enter <= v->leave) && scales_exactly(ray->t_min, ray) && scales_exactly(ray->t_max, ray))
    return "an interval ends before it begins";
  if (!is_in_range(v->enter, ray) || !is_in_range(v->leave, ray)) return "an interval lies outside the range";
  if (hit && !(v->enter <= h->t || v->enter == ray->t_min)) return "the first solid begins behind the first surface";
  if (!hit && !culls && !(v->enter == ray->t_min && v->leave == ray->t_max))
    return "no surface is hit, but the solid does not hold the whole range";
  return NULL;
}

const char *answers_fault(const answers *a, size_t i, const slab_ray *ray, const slab_cast_options *options) {
  const slab_hit *closest = &a->closest[i], *all = a->all + a->offsets[i];
  const bool hit = is_id(closest->primitive, closest->geometry);
  if (!hit && !is_no_hit(closest)) return "closest's miss is malformed";
  if (memcmp(&a->distance[i], &closest->t, sizeof(float)) != 0) return "distance is not closest's t";
  const slab_short_hit nearest = {closest->t, closest->primitive, closest->geometry};
  if (memcmp(&a->nearest[i], &nearest, sizeof nearest) != 0) return "nearest differs from closest";
  if (a->any[i] != (hit ? 1 : 0)) return "any differs from closest";
  if ((a->count[i] > 0) != hit) return "count differs from closest";
  const uint32_t most = options && options->max_hits != 0 ? options->max_hits : UINT32_MAX;
  const uint32_t listed = a->count[i] < most ? a->count[i] : most;
  if (a->offsets[i + 1] - a->offsets[i] != listed) return "all differs from count";
  if (hit && memcmp(all, closest, sizeof *closest) != 0) return "the first of all is not closest";
  for (uint32_t k = 0; k < listed; k++) {
    const char *fault = fault_of_hit(&all[k], ray, options);
    if (fault) return fault;
    if (k > 0 && !is_before(&all[k - 1], &all[k], ray)) return "all is not in order, or names a primitive twice";
  }
  return fault_of_interval(&a->interval[i], closest, ray, options && options->cull != SLAB_CULL_NONE);
}

bool answers_same_invalid(const answers *a) {
  uint64_t invalid = 0;
  for (size_t i = 0; i < a->n; i++) invalid += a->closest[i].primitive == SLAB_INVALID;
  for (int q = 0; q < ANSWER_QUERIES; q++)
    if (a->invalid[q] != invalid) return false;
  return true;
}
