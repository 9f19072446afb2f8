#include "sets/points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- points ---- */

/* A place of one of the shapes: one of the points that its floats begin with. */
static void at_shape(random_state *r, const adversarial *w, float point[3]) {
  const uint32_t known = w->known_count != 0 ? w->known_count : 1;
  memcpy(point, w->known[random_below(r, known)] + 3 * random_below(r, 3), 3 * sizeof *point);
}

void adversarial_point(random_state *r, const adversarial *w, float point[3]) {
  static const float wrong[] = {NAN, INFINITY, -INFINITY, 0x1.000002p60f};
  const slab_ray ray = adversarial_ray(r, w);
  float other[3];
  memcpy(point, ray.origin, 3 * sizeof *point);
  const uint32_t sort = random_below(r, 6);
  if (sort <= 2) at_shape(r, w, point);
  at_shape(r, w, other);
  const float share = random_below(r, 3) != 0 ? 0.5f : random_float(r);
  for (int i = 0; i < 3; i++) {
    if (sort == 1) point[i] = nextafterf(point[i], random_below(r, 2) != 0 ? INFINITY : -INFINITY);
    if (sort == 2 || sort == 3) point[i] += share * (other[i] - point[i]);
    if (!(fabsf(point[i]) <= 0x1p60f)) point[i] = random_between(r, -4.0f, 4.0f);
  }
  if (random_below(r, 60) == 0) point[random_below(r, 3)] = wrong[random_below(r, 4)];
}

static float some_radius(random_state *r, const adversarial *w) {
  const float wide = fabsf(w->extreme ? adversarial_number(r) : random_between(r, 0.0f, 3.0f));
  const uint32_t sort = random_below(r, 8);
  return sort == 0 ? 0.0f : sort == 1 ? (float)random_below(r, 4) : sort == 2 ? INFINITY : wide;
}

slab_point_options adversarial_point_options(random_state *r, const adversarial *w, size_t n, uint32_t *masks,
                                             float *radii) {
  slab_point_options options = {0};
  const uint32_t sort = random_below(r, 3), reach = random_below(r, 3);
  for (size_t i = 0; i < n; i++) {
    masks[i] = random_below(r, 4) == 0 ? 0 : random_next(r);
    radii[i] = some_radius(r, w);
  }
  if (sort == 1) options.mask = random_next(r);
  if (sort == 2) options.masks = masks;
  if (reach == 1) options.radius = some_radius(r, w);
  if (reach == 2) options.radii = radii;
  return options;
}

/* ---- answers ---- */

slab_point_options point_options_of(slab_point_query query, const slab_point_options *options) {
  slab_point_options o = *options;
  if (query != SLAB_WINDING && query != SLAB_WINDING_NUMBERS) return o;
  o.radius = 0.0f;
  o.radii = NULL;
  return o;
}

/* Fill byte that no answer consists of: it shows results that were not written. */
#define UNWRITTEN 0xA5

static bool make_space(point_answers *a, size_t n) {
  if (n <= a->space && a->closest != NULL) return true;
  point_answers_free(a);
  a->closest = malloc(n * sizeof *a->closest + 1);
  a->distance = malloc(n * sizeof *a->distance + 1);
  a->within = malloc(n + 1);
  a->winding = malloc(n * sizeof *a->winding + 1);
  a->signed_distance = malloc(n * sizeof *a->signed_distance + 1);
  a->number = malloc(n * sizeof *a->number + 1);
  a->space = n;
  const bool made = a->closest != NULL && a->distance != NULL && a->within != NULL && a->winding != NULL &&
                    a->signed_distance != NULL && a->number != NULL;
  if (!made) point_answers_free(a);
  return made;
}

slab_status point_answers_ask(point_answers *a, slab_point_query query, slab_scene *scene, const float *points,
                              size_t n, const slab_point_options *options) {
  slab_point_options o = {0};
  if (options != NULL) o = point_options_of(query, options);
  if (!make_space(a, n)) return SLAB_OUT_OF_MEMORY;
  a->n = n;
  o.invalid = &a->invalid[query];
  switch (query) {
    case SLAB_CLOSEST_POINTS:
      memset(a->closest, UNWRITTEN, n * sizeof *a->closest);
      return slab_closest_points(scene, points, n, a->closest, &o);
    case SLAB_CLOSEST_DISTANCES:
      memset(a->distance, UNWRITTEN, n * sizeof *a->distance);
      return slab_closest_distances(scene, points, n, a->distance, &o);
    case SLAB_POINTS_WITHIN:
      memset(a->within, UNWRITTEN, n);
      return slab_points_within(scene, points, n, a->within, &o);
    case SLAB_WINDING:
      memset(a->winding, UNWRITTEN, n * sizeof *a->winding);
      return slab_winding(scene, points, n, a->winding, &o);
    case SLAB_SIGNED_DISTANCES:
      memset(a->signed_distance, UNWRITTEN, n * sizeof *a->signed_distance);
      return slab_signed_distances(scene, points, n, a->signed_distance, &o);
    case SLAB_WINDING_NUMBERS:
      memset(a->number, UNWRITTEN, n * sizeof *a->number);
      return slab_winding_numbers(scene, points, n, a->number, &o);
  }
  return SLAB_INVALID_ARGUMENT;
}

slab_status point_answers_ask_all(point_answers *a, slab_scene *scene, const float *points, size_t n,
                                  const slab_point_options *options) {
  slab_status status = SLAB_OK;
  for (int q = 0; status == SLAB_OK && q < SLAB_WINDING_NUMBERS; q++)
    status = point_answers_ask(a, (slab_point_query)q, scene, points, n, options);
  if (status != SLAB_OK) return status;
  status = point_answers_ask(a, SLAB_WINDING_NUMBERS, scene, points, n, options);
  a->queries = status == SLAB_UNSUPPORTED ? SLAB_WINDING_NUMBERS : SLAB_POINT_QUERY_COUNT;
  return status == SLAB_UNSUPPORTED ? SLAB_OK : status;
}

void point_answers_free(point_answers *a) {
  free(a->closest);
  free(a->distance);
  free(a->within);
  free(a->winding);
  free(a->signed_distance);
  free(a->number);
  *a = (point_answers){0};
}

const void *point_answers_of(const point_answers *a, slab_point_query query) {
  return query == SLAB_CLOSEST_POINTS      ? (const void *)a->closest
         : query == SLAB_CLOSEST_DISTANCES ? (const void *)a->distance
         : query == SLAB_POINTS_WITHIN     ? (const void *)a->within
         : query == SLAB_WINDING           ? (const void *)a->winding
         : query == SLAB_WINDING_NUMBERS   ? (const void *)a->number
                                           : (const void *)a->signed_distance;
}

size_t point_answers_differ(const point_answers *a, const point_answers *b, slab_point_query query, size_t *first) {
  const size_t size = slab_point_result_size(query);
  const char *x = point_answers_of(a, query), *y = point_answers_of(b, query);
  size_t differing = 0;
  for (size_t i = a->n; i-- > 0;)
    if (memcmp(x + i * size, y + i * size, size) != 0) {
      *first = i;
      differing++;
    }
  return differing;
}

static bool is_minus_zero(float x) { return x == 0.0f && signbit(x) != 0; }

static const char *fault_of_none(const slab_closest_point *c) {
  const slab_closest_point none = {INFINITY, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, 0, c->primitive, c->primitive};
  if (c->primitive != SLAB_MISS && c->primitive != SLAB_INVALID) return "no distance, and a primitive";
  return memcmp(c, &none, sizeof none) == 0 ? NULL : "nothing is found, and not all says so";
}

const char *point_answers_fault(const point_answers *a, size_t i) {
  const slab_closest_point *c = &a->closest[i];
  const float values[] = {c->distance, c->point[0], c->point[1], c->point[2], c->u, c->v};
  if (memcmp(&a->distance[i], &c->distance, sizeof c->distance) != 0)
    return "distance is not that of the closest point";
  if (a->within[i] != (c->distance < INFINITY)) return "within is not whether something is found";
  const float told = a->winding[i] != 0 ? 0.0f - c->distance : c->distance;
  if (memcmp(&a->signed_distance[i], &told, sizeof told) != 0)
    return "a signed distance is not the distance with the sign of winding";
  if (!(c->distance >= 0.0f) || c->feature > SLAB_FEATURE_VERTEX) return "a distance below 0 or NaN, or no feature";
  if (c->distance == INFINITY) return fault_of_none(c);
  for (size_t k = 0; k < sizeof values / sizeof *values; k++)
    if (!isfinite(values[k]) || is_minus_zero(values[k])) return "a value is not finite, or -0";
  return c->primitive < SLAB_INVALID && c->geometry < SLAB_INVALID ? NULL : "found, and no primitive";
}

const char *point_query_name(slab_point_query query) {
  static const char *const query_names[SLAB_POINT_QUERY_COUNT] = {
      "closest point", "closest distance", "within", "winding", "signed distance", "winding number"};
  return query_names[query];
}
