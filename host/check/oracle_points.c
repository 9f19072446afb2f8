/* Judges one point: holds the answer against every primitive that the point sees.
 *
 * Squares are compared, as kernels do: equal distances may come of different squares. A reported distance means all
 * squares whose root rounds to it. The contract defines the point in a model, and the oracle computes it in floats, as
 * it does for rays (oracle_instance.c). Outside, a square is that of the model times the scale's, or more: it is raised
 * to that of the gate, which holds the primitive where it really is. That is off by how far A is from a rotation, and
 * by the rounding of B (p - place). So the lower end does not know gates, and the upper one has both. */
#include "check/oracle_points.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Roundings of two products by the scale, and of the scale itself, in u of a length. */
#define SCALE_SLACK (12.0 * ORACLE_U)

/* The scene, or a model that the point is in. */
typedef struct place {
  const oracle_scene *scene;
  float asked[3];
  double point[3];                 /* the same */
  const oracle_instance *instance; /* NULL: it is the scene */
  const struct place *outer;
  uint32_t base;      /* the id of its first geometry */
  double scale;       /* lengths outside, of those here */
  double twist, move; /* how far off that is, relative, and how far the point is off, in lengths here */
} place;

/* One primitive that the point sees. */
typedef struct candidate {
  const place *at;
  const oracle_geometry *geometry;
  uint32_t id, primitive;
  const float *shape;
  oracle_near near;
  oracle_span square; /* outside */
} candidate;

typedef struct point_inquiry {
  slab_point_query query;
  visibility sees;
  double limit;     /* squares below are within the radius, those beyond are not */
  oracle_span told; /* squares whose root is the reported distance */
  const slab_closest_point *result;
  candidate winner;  /* the result's ids and features, without its place */
  uint32_t depth;    /* of its place */
  bool is_known;     /* the winner was found */
  const char *fault; /* of the winner */
  bool possible, certain, given;
  double first; /* squares certainly below this are before the winner */
  bool beaten;
  candidate rival; /* which is certain, or which beats */
  char *why;
  size_t why_size;
} point_inquiry;

static oracle_judgement say(const point_inquiry *q, oracle_judgement judgement, const char *format, ...) {
  va_list arguments;
  if (q->why_size == 0) return judgement;
  va_start(arguments, format);
  (void)vsnprintf(q->why, q->why_size, format, arguments);
  va_end(arguments);
  return judgement;
}

/* ---- squares ------------------------------------------------------------------- */

static double squared(double x) { return x * x; }

/* The squares whose root rounds to this float: between the middles beside it, whose squares are exact here. */
static oracle_span squares_of(float distance) {
  const double d = (double)distance;
  if (distance == 0.0f) return (oracle_span){0.0, 0x1p-300};
  return (oracle_span){squared((d + (double)nextafterf(distance, 0.0f)) / 2.0),
                       squared((d + (double)nextafterf(distance, INFINITY)) / 2.0)};
}

/* A kernel's square of a primitive that is `near`: off by 3 u for products and sums. */
static oracle_span square_here(const oracle_near *near) {
  if (near->is_exact) return oracle_around(near->square, 0.0);
  return (oracle_span){squared(fmax(near->distance - near->slack, 0.0)) * (1.0 - 4.0 * ORACLE_U),
                       squared(near->distance + near->slack) * (1.0 + 4.0 * ORACLE_U)};
}

static oracle_span square_outside(const place *at, const oracle_near *near) {
  oracle_span square = square_here(near);
  for (; at->outer != NULL; at = at->outer) {
    const double lo = sqrt(square.lo), hi = sqrt(square.hi);
    square.lo = squared(fmax(lo * at->scale * (1.0 - SCALE_SLACK) - ORACLE_FAINT, 0.0));
    square.hi = squared((hi + at->move) * at->scale * (1.0 + at->twist + SCALE_SLACK) + ORACLE_FAINT);
  }
  return square;
}

/* ---- primitives ------------------------------------------------------------------- */

/* How near the bounds of a triangle are: a quick lower bound. */
static double bounds_distance(const float *f, const double p[3]) {
  double square = 0.0;
  for (int i = 0; i < 3; i++) {
    const double lower = (double)fminf(f[i], fminf(f[3 + i], f[6 + i])),
                 upper = (double)fmaxf(f[i], fmaxf(f[3 + i], f[6 + i]));
    square += squared(fmax(fmax(lower - p[i], p[i] - upper), 0.0));
  }
  return sqrt(square);
}

static void measure(candidate *c) {
  switch (c->geometry->kind) {
#define NEAR_OF(shape_kind, name, names, noun, floats, form, where, source)                  \
  case shape_kind:                                                                           \
    oracle_near_##name((const slab_##name *)(const void *)c->shape, c->at->point, &c->near); \
    break;
    SHAPES(NEAR_OF)
#undef NEAR_OF
  }
  c->square = square_outside(c->at, &c->near);
}

static const char *touch_of(const candidate *c, const oracle_touch *touch) {
  switch (c->geometry->kind) {
#define TOUCH_OF(shape_kind, name, names, noun, floats, form, where, source) \
  case shape_kind:                                                           \
    return oracle_touch_##name((const slab_##name *)(const void *)c->shape, c->at->point, &c->near, touch);
    SHAPES(TOUCH_OF)
#undef TOUCH_OF
  }
  return "no such kind";
}

static const char *surface_fault(const candidate *c, const oracle_touch *touch) {
  candidate beside = *c;
  place there = *c->at;
  memcpy(there.point, touch->point, sizeof there.point);
  there.outer = NULL;
  beside.at = &there;
  measure(&beside);
  return beside.near.distance <= c->near.slack + touch->tolerance ? NULL : "the point is not on its surface";
}

/* The reported point in the space of a place, and how far it may be off there. The last rounding of p + w is u of each
 * component; the reported distance has the same error. */
static void point_there(const place *at, const slab_closest_point *r, double point[3], double *tolerance) {
  if (at->outer == NULL) {
    for (int i = 0; i < 3; i++) point[i] = (double)r->point[i];
    *tolerance = 1.001 * ORACLE_U * oracle_length_of(point) + ORACLE_FAINT;
    return;
  }
  double outside[3];
  point_there(at->outer, r, outside, tolerance);
  for (int i = 0; i < 3; i++) {
    point[i] = 0.0;
    for (int k = 0; k < 3; k++)
      point[i] += (double)at->instance->inverse[3 * i + k] * (outside[k] - (double)at->instance->place[k]);
  }
  *tolerance = *tolerance / at->scale * (1.0 + at->twist) + at->move;
}

/* Whether the point is as far from the query's point as is reported. */
static const char *reach_fault(const candidate *c, const slab_closest_point *r) {
  const double d = (double)r->distance;
  double from[3], point[3], outside = 1.0,
                            slack = (c->at->outer == NULL ? 8.0 : 16.0) * ORACLE_U * d + 2.0 * ORACLE_FAINT;
  const place *top = c->at;
  for (const place *at = c->at; at->outer != NULL; at = at->outer) top = at->outer;
  for (const place *at = c->at; at->outer != NULL; at = at->outer) {
    outside = 1.0;
    for (const place *beyond = at; beyond->outer != NULL; beyond = beyond->outer) outside *= beyond->scale;
    slack += (2.0 * at->twist + 2.0 * SCALE_SLACK) * d + 2.0 * at->move * outside;
  }
  for (int i = 0; i < 3; i++) {
    point[i] = (double)r->point[i];
    from[i] = point[i] - top->point[i];
  }
  slack += 1.001 * ORACLE_U * oracle_length_of(point);
  if (c->geometry->kind == SLAB_OBB) slack += c->near.slack * outside; /* its axes */
  return fabs(oracle_length_of(from) - d) <= slack ? NULL : "the point is not at the distance";
}

/* The fault of the result, as one of this primitive; NULL: there is none. */
static const char *fault_of(const candidate *c, const slab_closest_point *r, oracle_span told) {
  oracle_touch touch = {.u = r->u, .v = r->v, .feature = r->feature};
  if (c->square.hi < told.lo || c->square.lo > told.hi) return "the distance is not that of the primitive";
  point_there(c->at, r, touch.point, &touch.tolerance);
  double here = (double)r->distance;
  for (const place *at = c->at; at->outer != NULL; at = at->outer) here /= at->scale;
  for (const place *at = c->at; at->outer != NULL; at = at->outer)
    touch.tolerance += (4.0 * at->twist + 2.0 * SCALE_SLACK) * here;
  const char *fault = reach_fault(c, r);
  if (fault == NULL) fault = surface_fault(c, &touch);
  return fault == NULL ? touch_of(c, &touch) : fault;
}

/* ---- walking ---------------------------------------------------------------------- */

typedef void visit(point_inquiry *, candidate *);

static uint32_t depth_of(const place *at) {
  uint32_t depth = 0;
  for (; at->outer != NULL; at = at->outer) depth++;
  return depth;
}

static bool enter(const place *outer, const oracle_instance *instance, const oracle_scene *model, place *inner) {
  double reach = 0.0;
  *inner = (place){.scene = model, .instance = instance, .outer = outer};
  oracle_point_inside(instance, outer->asked, inner->asked);
  if (!oracle_point_is_valid(inner->asked)) return false;
  inner->scale = oracle_scale_of(instance, &inner->twist);
  for (int i = 0; i < 3; i++) {
    inner->point[i] = (double)inner->asked[i];
    for (int k = 0; k < 3; k++)
      reach += fabs((double)instance->inverse[3 * i + k] * (outer->point[k] - (double)instance->place[k]));
  }
  inner->move = 5.0 * ORACLE_U * reach + ORACLE_FAINT; /* a difference, a product and two sums: 4 u of each term */
  return true;
}

static void walk_geometry(point_inquiry *q, const place *at, const oracle_geometry *g, visit *seen) {
  candidate c = {.at = at, .geometry = g, .id = at->base + g->id};
  for (uint32_t i = 0; i < g->count; i++) {
    if (g->dropped != NULL && g->dropped[i]) continue;
    c.primitive = i;
    c.shape = (const float *)g->primitives + (size_t)i * oracle_floats(g->kind);
    seen(q, &c);
  }
}

static void walk(point_inquiry *q, const place *at, visit *seen) {
  for (uint32_t g = 0; g < at->scene->count; g++) {
    const oracle_geometry *of = &at->scene->geometries[g];
    if (!oracle_sees(q->sees, of)) continue;
    if (of->model == NULL) walk_geometry(q, at, of, seen);
    for (uint32_t i = 0; of->model != NULL && i < of->count; i++) {
      place inner;
      const oracle_instance *instance = (const oracle_instance *)of->primitives + i;
      if (!visibility_reaches(q->sees, instance->world) || !enter(at, instance, of->model, &inner)) continue;
      inner.base = at->base + of->id + i * of->model->ids;
      walk(q, &inner, seen);
    }
  }
}

/* ---- the queries -------------------------------------------------------- */

static bool is_named(const point_inquiry *q, const candidate *c) {
  return c->id == q->result->geometry && c->primitive == q->result->primitive;
}

static void find_winner(point_inquiry *q, candidate *c) {
  if (!is_named(q, c)) return;
  measure(c);
  q->is_known = true;
  q->fault = fault_of(c, q->result, q->told);
  q->winner = *c;
  q->depth = depth_of(c->at);
}

/* Whether kernels compute the same bits of both: the same floats, in the same place. */
static bool is_twin(const point_inquiry *q, const candidate *c) {
  const candidate *w = &q->winner;
  if (c->geometry->kind != w->geometry->kind || depth_of(c->at) != q->depth || (q->depth > 0 && c->id != w->id))
    return false;
  return memcmp(c->shape, w->shape, oracle_floats(c->geometry->kind) * sizeof(float)) == 0;
}

static bool beats(const point_inquiry *q, const candidate *c) {
  if (c->square.hi < q->first) return true;
  const bool lower = c->id < q->winner.id || (c->id == q->winner.id && c->primitive < q->winner.primitive);
  return lower && (c->square.hi <= q->first || is_twin(q, c));
}

/* Whether a triangle is so far that no judgement can depend on it. */
static bool is_far(const point_inquiry *q, const candidate *c) {
  if (c->geometry->kind != SLAB_TRIANGLE || c->at->outer != NULL) return false;
  const double square = squared(bounds_distance(c->shape, c->at->point));
  return q->query == SLAB_CLOSEST_POINTS && q->is_known && square > q->told.hi;
}

static void hold_against(point_inquiry *q, candidate *c) {
  if (is_far(q, c)) return;
  measure(c);
  const bool certain = c->square.hi < q->limit, possible = c->square.lo <= q->limit;
  q->possible = q->possible || possible;
  q->given = q->given || (c->square.hi >= q->told.lo && c->square.lo <= q->told.hi);
  const bool beaten = q->is_known ? !is_named(q, c) && beats(q, c) : c->square.hi < q->told.lo;
  if ((certain && !q->certain && !q->is_known) || (beaten && !q->beaten)) q->rival = *c;
  q->certain = q->certain || certain;
  q->beaten = q->beaten || beaten;
}

/* ---- judging ------------------------------------------------------------------------ */

static oracle_judgement judge_nothing(const point_inquiry *q) {
  const candidate *c = &q->rival;
  if (q->certain)
    return say(q, ORACLE_WRONG, "nothing is found, but primitive %u of geometry %u is at %.9g to %.9g", c->primitive,
               c->id, sqrt(c->square.lo), sqrt(c->square.hi));
  return q->possible ? say(q, ORACLE_TOO_CLOSE, "nothing is found, and a primitive is about at the radius")
                     : ORACLE_RIGHT;
}

static oracle_judgement judge_within(const point_inquiry *q, uint8_t within) {
  if (within > 1) return say(q, ORACLE_WRONG, "within is %u", (unsigned)within);
  if (within == 0) return judge_nothing(q);
  if (q->certain) return ORACLE_RIGHT;
  return q->possible ? say(q, ORACLE_TOO_CLOSE, "a primitive is about at the radius")
                     : say(q, ORACLE_WRONG, "within is 1, and no primitive is within the radius");
}

static bool is_distance(float x) { return x >= 0.0f && x < INFINITY && !signbit(x); }

static oracle_judgement judge_distance(const point_inquiry *q, float distance) {
  const candidate *c = &q->rival;
  if (q->beaten)
    return say(q, ORACLE_WRONG, "distance %.9g, but primitive %u of geometry %u is at %.9g to %.9g", (double)distance,
               c->primitive, c->id, sqrt(c->square.lo), sqrt(c->square.hi));
  return q->given ? ORACLE_RIGHT : say(q, ORACLE_WRONG, "no primitive is at distance %.9g", (double)distance);
}

static oracle_judgement judge_winner(const point_inquiry *q) {
  const slab_closest_point *r = q->result;
  const candidate *w = &q->winner, *c = &q->rival;
  if (!q->is_known) return say(q, ORACLE_WRONG, "primitive %u of geometry %u is not seen", r->primitive, r->geometry);
  if (q->fault != NULL)
    return say(q, ORACLE_WRONG,
               "primitive %u of geometry %u: %s (distance %.9g of %.9g to %.9g, point %.9g %.9g %.9g, u %.9g, v %.9g, "
               "feature %u)",
               w->primitive, w->id, q->fault, (double)r->distance, sqrt(w->square.lo), sqrt(w->square.hi),
               (double)r->point[0], (double)r->point[1], (double)r->point[2], (double)r->u, (double)r->v, r->feature);
  if (q->beaten)
    return say(q, ORACLE_WRONG, "primitive %u of geometry %u comes first, at %.9g to %.9g", c->primitive, c->id,
               sqrt(c->square.lo), sqrt(c->square.hi));
  return ORACLE_RIGHT;
}

static bool is_none(const void *result, slab_point_query query, uint32_t id) {
  const slab_closest_point none = {INFINITY, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, 0, id, id};
  if (query == SLAB_CLOSEST_POINTS) return memcmp(result, &none, sizeof none) == 0;
  return query == SLAB_CLOSEST_DISTANCES ? *(const float *)result == INFINITY : *(const uint8_t *)result == 0;
}

static bool has_clean_floats(const slab_closest_point *r) {
  const float values[] = {r->point[0], r->point[1], r->point[2], r->u, r->v};
  bool clean = is_distance(r->distance) && r->feature <= SLAB_FEATURE_VERTEX;
  for (size_t i = 0; i < sizeof values / sizeof *values; i++)
    clean = clean && isfinite(values[i]) && !(values[i] == 0.0f && signbit(values[i]));
  return clean;
}

/* The squares that are found end here: also at squares that round to no finite float. */
static double limit_of(float radius) {
  const double finite = (double)FLT_MAX * (1.0 + 0x1p-25);
  return radius == INFINITY ? finite : fmin(squares_of(radius).hi, finite);
}

static oracle_judgement judge_found(point_inquiry *q, const place *top, const slab_closest_point *r, float radius) {
  if (!has_clean_floats(r)) return say(q, ORACLE_WRONG, "a NaN, an infinity, a -0 or no feature among the values");
  if (r->distance > radius)
    return say(q, ORACLE_WRONG, "distance %.9g is beyond the radius %.9g", (double)r->distance, (double)radius);
  q->result = r;
  q->told = squares_of(r->distance);
  walk(q, top, find_winner);
  q->first = fmax(q->told.lo, q->winner.square.lo);
  if (q->is_known && q->fault == NULL) walk(q, top, hold_against);
  return judge_winner(q);
}

static oracle_judgement judge_valid(point_inquiry *q, const place *top, const void *result, float radius) {
  const bool none = is_none(result, q->query, SLAB_MISS);
  if (!none && q->query == SLAB_CLOSEST_POINTS) return judge_found(q, top, result, radius);
  if (!none && q->query == SLAB_CLOSEST_DISTANCES) {
    const float distance = *(const float *)result;
    if (!is_distance(distance) || distance > radius)
      return say(q, ORACLE_WRONG, "distance %.9g, with the radius %.9g", (double)distance, (double)radius);
    q->told = squares_of(distance);
    walk(q, top, hold_against);
    return judge_distance(q, distance);
  }
  walk(q, top, hold_against);
  return q->query == SLAB_POINTS_WITHIN ? judge_within(q, *(const uint8_t *)result) : judge_nothing(q);
}

oracle_judgement oracle_judge_point(const oracle_scene *scene, slab_point_query query, const float point[3],
                                    const void *result, visibility sees, float radius, char *why, size_t why_size) {
  point_inquiry q = {.query = query, .sees = sees, .limit = limit_of(radius), .why = why, .why_size = why_size};
  place top = {.scene = scene};
  if (why_size > 0) why[0] = '\0';
  if (!oracle_point_is_valid(point))
    return is_none(result, query, SLAB_INVALID)
               ? ORACLE_RIGHT
               : say(&q, ORACLE_WRONG, "an invalid point must give the encoding of one");
  for (int i = 0; i < 3; i++) {
    top.asked[i] = point[i];
    top.point[i] = (double)point[i];
  }
  return judge_valid(&q, &top, result, radius);
}
