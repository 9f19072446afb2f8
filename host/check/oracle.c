/* Judges one ray: gathers all primitives that are not certainly missed, then compares the answer with them.
 *
 * Wrong: no choice of the undecided verdicts and of times within their enclosures gives the answer. Too close: some
 * choice gives it, but only if an undecided primitive is hit (or missed) as the answer requires. Right: otherwise. */
#include "check/oracle.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/oracle_parts.h"

enum { ITEMS_AT_HAND = 64 };

/* Items, sorted by (geometry, primitive). */
typedef struct item_list {
  oracle_item *items;
  size_t count, capacity;
  oracle_item at_hand[ITEMS_AT_HAND];
} item_list;

/* A line in a model, which items refer to. */
typedef struct kept_line {
  oracle_line line;
  struct kept_line *next;
} kept_line;

typedef struct inquiry {
  oracle_line line;
  kept_line *kept;
  oracle_question question;
  const ray_own *own;
  item_list list;
  oracle_patch patches[ORACLE_PATCH_LIMIT];
  uint32_t patch_count;
  char *why;
  size_t why_size;
} inquiry;

static oracle_judgement say(const inquiry *q, oracle_judgement judgement, const char *format, ...) {
  va_list arguments;
  if (q->why_size == 0) return judgement;
  va_start(arguments, format);
  (void)vsnprintf(q->why, q->why_size, format, arguments);
  va_end(arguments);
  return judgement;
}

/* ---- gathering ------------------------------------------------------------------- */

static const void *shape_at(const oracle_geometry *geometry, uint32_t i) {
  return (const float *)geometry->primitives + (size_t)i * oracle_floats(geometry->kind);
}

/* Returns false when certainly missed. */
static bool decide(const oracle_question *question, oracle_item *item) {
  switch (item->kind) {
#define DECIDE(shape_kind, name, names, noun, floats, form, place, source) \
  case shape_kind:                                                         \
    return oracle_##name(item->line, question, item->shape, item);
    SHAPES(DECIDE)
#undef DECIDE
  }
  return false;
}

static bool append(item_list *list, const oracle_item *item) {
  if (list->count == list->capacity) {
    const size_t capacity = list->capacity * 2;
    oracle_item *old = list->items == list->at_hand ? NULL : list->items;
    oracle_item *grown = realloc(old, capacity * sizeof *grown);
    if (!grown) return false;
    if (!old) memcpy(grown, list->at_hand, sizeof list->at_hand);
    list->items = grown;
    list->capacity = capacity;
  }
  list->items[list->count++] = *item;
  return true;
}

/* Where a ray is: in a scene or a model, whose first geometry has the id `base`. */
typedef struct stay {
  const oracle_scene *scene;
  const oracle_line *line; /* that items refer to, once there are some; else *local */
  const oracle_line *local;
  struct stay *outer;
  uint32_t base;
} stay;

/* The line of a stay, where it lasts as long as the inquiry. NULL: memory is short. */
static const oracle_line *lasting_line(inquiry *q, stay *at) {
  if (at->line != NULL) return at->line;
  const oracle_line *outer = lasting_line(q, at->outer);
  kept_line *kept = outer == NULL ? NULL : malloc(sizeof *kept);
  if (kept == NULL) return NULL;
  kept->line = *at->local;
  kept->line.outer = outer;
  kept->next = q->kept;
  q->kept = kept;
  return at->line = &kept->line;
}

static bool gather_geometry(inquiry *q, stay *at, const oracle_geometry *geometry) {
  const slab_primitive_id skip = q->own->skip;
  const uint32_t id = at->base + geometry->id;
  const bool skips = skip.geometry == id && (geometry->kind == SLAB_PLANE || geometry->kind == SLAB_TRIANGLE);
  for (uint32_t i = 0; i < geometry->count; i++) {
    oracle_item item = {.geometry = id, .primitive = i, .kind = geometry->kind, .line = at->local, .patch = -1};
    if (geometry->dropped && geometry->dropped[i]) continue;
    if (skips && skip.primitive == i) continue;
    item.shape = shape_at(geometry, i);
    if (!decide(&q->question, &item)) continue;
    item.line = lasting_line(q, at);
    if (item.line == NULL) return false;
    oracle_tell_outside(&item);
    if (!append(&q->list, &item)) return false;
  }
  return true;
}

static bool gather_scene(inquiry *q, stay *at);

static bool gather_instances(inquiry *q, stay *at, const oracle_geometry *g) {
  const oracle_instance *instances = g->primitives;
  for (uint32_t i = 0; i < g->count; i++) {
    oracle_line inner;
    if (!visibility_reaches(q->own->sees, instances[i].world)) continue;
    if (!oracle_line_enter(at->local, &instances[i], g->model, &inner)) continue;
    stay inside = {g->model, NULL, &inner, at, at->base + g->id + i * g->model->ids};
    if (!gather_scene(q, &inside)) return false;
  }
  return true;
}

/* Returns false when memory runs out. */
static bool gather_scene(inquiry *q, stay *at) {
  for (uint32_t g = 0; g < at->scene->count; g++) {
    const oracle_geometry *geometry = &at->scene->geometries[g];
    if (!oracle_sees(q->own->sees, geometry)) continue;
    if (!(geometry->model ? gather_instances(q, at, geometry) : gather_geometry(q, at, geometry))) return false;
  }
  return true;
}

/* Whether a hit at t comes after the one that the ray begins after. 1: certainly. -1: certainly not. 0: undecided. ids:
 * the sign of its place among hits at one t. */
static int place_of(const ray_own *own, const oracle_item *item) {
  const slab_short_hit *after = &own->after;
  const bool later =
      item->geometry > after->geometry || (item->geometry == after->geometry && item->primitive > after->primitive);
  const double t = (double)after->t;
  if (item->t.lo > t || (item->t.lo >= t && later)) return 1;
  return item->t.hi < t || (item->t.hi <= t && !later) ? -1 : 0;
}

/* Drops the items that the ray certainly does not get. Items that it may not get are undecided. So is the number of
 * hits of a patch with such a triangle. */
static void drop_earlier(inquiry *q) {
  uint32_t left[ORACLE_PATCH_LIMIT] = {0};
  size_t kept = 0;
  for (size_t i = 0; i < q->list.count; i++) {
    oracle_item *item = &q->list.items[i];
    const int place = place_of(q->own, item);
    if (place <= 0 && item->patch >= 0) q->patches[item->patch].lo = 0, q->patches[item->patch].step = 1;
    if (place < 0) continue;
    if (place == 0) item->verdict = ORACLE_UNDECIDED;
    if (item->patch >= 0) left[item->patch]++;
    q->list.items[kept++] = *item;
  }
  q->list.count = kept;
  for (uint32_t p = 0; p < q->patch_count; p++)
    if (q->patches[p].hi > left[p]) q->patches[p].hi = left[p];
}

static bool gather(inquiry *q, const oracle_scene *scene) {
  stay at = {scene, &q->line, &q->line, NULL, 0};
  if (!gather_scene(q, &at)) return false;
  q->patch_count = oracle_patches(q->list.items, q->list.count, q->patches);
  if (q->own->after.t > -INFINITY) drop_earlier(q);
  return true;
}

static oracle_item *find(const item_list *list, uint32_t geometry, uint32_t primitive) {
  size_t lo = 0, hi = list->count;
  while (lo < hi) {
    const size_t middle = lo + (hi - lo) / 2;
    oracle_item *item = &list->items[middle];
    if (item->geometry == geometry && item->primitive == primitive) return item;
    if (item->geometry < geometry || (item->geometry == geometry && item->primitive < primitive))
      lo = middle + 1;
    else
      hi = middle;
  }
  return NULL;
}

/* ---- misses --------------------------------------------------------------------------- */

/* Whether all bits of the struct are as for a ray that hits nothing; id: SLAB_MISS or SLAB_INVALID. */
static bool is_miss_hit(const slab_hit *hit, uint32_t id) {
  const slab_hit miss = {INFINITY, {0.0f, 0.0f, 0.0f}, 0.0f, 0.0f, id, id};
  return memcmp(hit, &miss, sizeof miss) == 0;
}

static bool is_miss_interval(const slab_interval *interval, uint32_t id) {
  const slab_interval miss = {INFINITY, -INFINITY, id, id};
  return memcmp(interval, &miss, sizeof miss) == 0;
}

static bool is_miss_short(const slab_short_hit *hit, uint32_t id) {
  const slab_short_hit miss = {INFINITY, id, id};
  return memcmp(hit, &miss, sizeof miss) == 0;
}

/* Judges the answer of a ray that certainly hits nothing. */
static oracle_judgement judge_nothing(const inquiry *q, slab_query query, const void *result, uint64_t n, uint32_t id) {
  bool right = false;
  switch (query) {
    case SLAB_CLOSEST:
      right = is_miss_hit(result, id);
      break;
    case SLAB_DISTANCE:
      right = *(const float *)result == INFINITY;
      break;
    case SLAB_ANY:
      right = *(const uint8_t *)result == 0;
      break;
    case SLAB_COUNT:
      right = *(const uint32_t *)result == 0;
      break;
    case SLAB_ALL:
      right = n == 0;
      break;
    case SLAB_INTERVAL:
      right = is_miss_interval(result, id);
      break;
    case SLAB_NEAREST:
      right = is_miss_short(result, id);
      break;
  }
  const char *ray = id == SLAB_INVALID ? "an invalid ray" : "a ray without a range";
  return right ? ORACLE_RIGHT : say(q, ORACLE_WRONG, "%s must give the encoding of a miss", ray);
}

/* How many primitives are hit: between lo and hi, in steps of `step`. */
static oracle_patch tally(const inquiry *q) {
  oracle_patch sum = {0, 0, 2};
  for (size_t i = 0; i < q->list.count; i++) {
    const oracle_item *item = &q->list.items[i];
    if (item->patch >= 0) continue;
    sum.lo += item->verdict == ORACLE_HIT;
    sum.hi++;
    if (item->verdict != ORACLE_HIT) sum.step = 1;
  }
  for (uint32_t i = 0; i < q->patch_count; i++) {
    sum.lo += q->patches[i].lo;
    sum.hi += q->patches[i].hi;
    if (q->patches[i].lo < q->patches[i].hi && q->patches[i].step == 1) sum.step = 1;
  }
  return sum;
}

static const oracle_item *some_hit(const inquiry *q) {
  for (size_t i = 0; i < q->list.count; i++) {
    const oracle_item *item = &q->list.items[i];
    if (item->patch >= 0 ? q->patches[item->patch].lo > 0 : item->verdict == ORACLE_HIT) return item;
  }
  return NULL;
}

static oracle_judgement judge_miss(const inquiry *q) {
  const oracle_item *hit = some_hit(q);
  if (hit && hit->patch >= 0)
    return say(q, ORACLE_WRONG,
               "a miss, but the ray cannot pass between primitive %u of geometry %u and its neighbours", hit->primitive,
               hit->geometry);
  if (hit)
    return say(q, ORACLE_WRONG, "a miss, but primitive %u of geometry %u is hit at %.9g to %.9g", hit->primitive,
               hit->geometry, hit->t.lo, hit->t.hi);
  if (q->list.count == 0) return ORACLE_RIGHT;
  return say(q, ORACLE_TOO_CLOSE, "a miss, and primitive %u of geometry %u is undecided", q->list.items[0].primitive,
             q->list.items[0].geometry);
}

/* ---- the first ------------------------------------------------------------------------ */

static bool is_clean(float x) { return !isnan(x) && !(x == 0.0f && signbit(x)); }

static bool lower_id(const oracle_item *a, const oracle_item *b) {
  return a->geometry < b->geometry || (a->geometry == b->geometry && a->primitive < b->primitive);
}

/* Whether `item`, if it is hit, certainly comes before `first`, which is reported at t. */
static bool comes_before(const oracle_item *item, const oracle_item *first, float t) {
  if (item->t.hi < (double)t) return true;
  if (!lower_id(item, first)) return false;
  return item->t.hi <= (double)t || (item->t.lo <= (double)t && oracle_same_t(item, first));
}

/* Whether every member of a patch comes before `first`, and one of them is certainly hit. */
static bool patch_comes_before(const inquiry *q, uint32_t patch, const oracle_item *first, float t) {
  if (q->patches[patch].lo == 0) return false;
  for (size_t i = 0; i < q->list.count; i++) {
    const oracle_item *item = &q->list.items[i];
    if (item->patch == (int)patch && (item == first || !comes_before(item, first, t))) return false;
  }
  return true;
}

/* Whether `item` cannot be hit together with `first`: their patch has at most one hit, so no other member can come
 * before. */
static bool excluded_by(const inquiry *q, const oracle_item *item, const oracle_item *first) {
  return item->patch >= 0 && item->patch == first->patch && q->patches[item->patch].hi == 1;
}

/* `first` at t is possible by itself. Judges whether another primitive comes before it, and whether that is certain. */
static oracle_judgement judge_first(const inquiry *q, const oracle_item *first, float t) {
  const oracle_item *rival = NULL;
  for (size_t i = 0; i < q->list.count; i++) {
    const oracle_item *item = &q->list.items[i];
    if (item == first || excluded_by(q, item, first) || !comes_before(item, first, t)) continue;
    if (item->verdict == ORACLE_HIT || (item->patch >= 0 && patch_comes_before(q, (uint32_t)item->patch, first, t)))
      return say(q, ORACLE_WRONG, "primitive %u of geometry %u comes first, at %.9g to %.9g", item->primitive,
                 item->geometry, item->t.lo, item->t.hi);
    rival = item;
  }
  const bool certain = first->verdict == ORACLE_HIT || (first->patch >= 0 && q->patches[first->patch].lo > 0);
  if (certain && !rival) return ORACLE_RIGHT;
  const oracle_item *doubtful = rival ? rival : first;
  return say(q, ORACLE_TOO_CLOSE, "primitive %u of geometry %u is undecided", doubtful->primitive, doubtful->geometry);
}

static bool encloses(oracle_span span, float t) { return span.lo <= (double)t && (double)t <= span.hi; }

/* Whether a reported hit comes after the one that the ray begins after. A t alone may be the same. */
static bool is_later(const inquiry *q, float t, uint32_t geometry, uint32_t primitive) {
  return ray_own_takes(q->own, t, (slab_primitive_id){primitive, geometry});
}

/* Judges one hit by itself: whether its primitive may be hit, at that t and with that normal. */
static oracle_judgement judge_hit(const inquiry *q, const slab_hit *hit, oracle_item **item) {
  const float *x = &hit->t;
  *item = find(&q->list, hit->geometry, hit->primitive);
  if (!*item) return say(q, ORACLE_WRONG, "primitive %u of geometry %u is not hit", hit->primitive, hit->geometry);
  if (!(is_clean(hit->t) && isfinite(hit->t)) || !is_clean(hit->u) || !is_clean(hit->v) || !is_clean(hit->normal[0]) ||
      !is_clean(hit->normal[1]) || !is_clean(hit->normal[2]))
    return say(q, ORACLE_WRONG, "a NaN, an infinity or a -0 in the hit on primitive %u of geometry %u", hit->primitive,
               hit->geometry);
  if (!is_later(q, hit->t, hit->geometry, hit->primitive))
    return say(q, ORACLE_WRONG, "primitive %u of geometry %u does not come after what the ray begins after",
               hit->primitive, hit->geometry);
  if (!encloses((*item)->t, hit->t))
    return say(q, ORACLE_WRONG, "primitive %u of geometry %u: t %.9g is not in %.9g to %.9g", hit->primitive,
               hit->geometry, (double)*x, (*item)->t.lo, (*item)->t.hi);
  const char *wrong = oracle_detail(&q->question, *item, hit);
  if (wrong)
    return say(q, ORACLE_WRONG, "primitive %u of geometry %u: %s (normal %.9g %.9g %.9g, u %.9g, v %.9g)",
               hit->primitive, hit->geometry, wrong, (double)hit->normal[0], (double)hit->normal[1],
               (double)hit->normal[2], (double)hit->u, (double)hit->v);
  return ORACLE_RIGHT;
}

static oracle_judgement judge_closest(const inquiry *q, const slab_hit *hit) {
  oracle_item *item;
  if (is_miss_hit(hit, SLAB_MISS)) return judge_miss(q);
  const oracle_judgement alone = judge_hit(q, hit, &item);
  return alone == ORACLE_RIGHT ? judge_first(q, item, hit->t) : alone;
}

static oracle_judgement judge_interval(const inquiry *q, const slab_interval *result) {
  if (is_miss_interval(result, SLAB_MISS)) return judge_miss(q);
  const oracle_item *item = find(&q->list, result->geometry, result->primitive);
  if (!item) return say(q, ORACLE_WRONG, "primitive %u of geometry %u is not met", result->primitive, result->geometry);
  if (!is_clean(result->enter) || !is_clean(result->leave) || !(result->enter <= result->leave))
    return say(q, ORACLE_WRONG, "enter %.9g, leave %.9g: a NaN, a -0 or out of order", (double)result->enter,
               (double)result->leave);
  if (!encloses(item->t, result->enter) || !encloses(item->leave, result->leave))
    return say(q, ORACLE_WRONG, "primitive %u of geometry %u: %.9g to %.9g is not [%.9g..%.9g] to [%.9g..%.9g]",
               result->primitive, result->geometry, (double)result->enter, (double)result->leave, item->t.lo,
               item->t.hi, item->leave.lo, item->leave.hi);
  return judge_first(q, item, result->enter);
}

/* ---- distance, any, count ------------------------------------------------------------------ */

/* Any primitive may have given t, if no other comes before. */
static oracle_judgement judge_distance(const inquiry *q, float t) {
  oracle_judgement best = ORACLE_WRONG;
  if (t == INFINITY) return judge_miss(q);
  if (t < q->own->after.t) return say(q, ORACLE_WRONG, "distance %.9g is before what the ray begins after", (double)t);
  if (!is_clean(t) || !isfinite(t)) return say(q, ORACLE_WRONG, "distance %.9g", (double)t);
  for (size_t i = 0; i < q->list.count && best != ORACLE_RIGHT; i++) {
    const oracle_item *item = &q->list.items[i];
    if (!encloses(item->t, t)) continue;
    const oracle_judgement judgement = judge_first(q, item, t);
    if (judgement == ORACLE_RIGHT || best == ORACLE_WRONG) best = judgement;
  }
  if (best == ORACLE_RIGHT && q->why_size > 0) q->why[0] = '\0';
  return best == ORACLE_WRONG ? say(q, best, "no primitive is hit first at %.9g", (double)t) : best;
}

static oracle_judgement judge_nearest(const inquiry *q, const slab_short_hit *hit) {
  if (is_miss_short(hit, SLAB_MISS)) return judge_miss(q);
  const oracle_item *item = find(&q->list, hit->geometry, hit->primitive);
  if (!item) return say(q, ORACLE_WRONG, "primitive %u of geometry %u is not hit", hit->primitive, hit->geometry);
  if (!is_later(q, hit->t, hit->geometry, hit->primitive))
    return say(q, ORACLE_WRONG, "primitive %u of geometry %u does not come after what the ray begins after",
               hit->primitive, hit->geometry);
  if (!is_clean(hit->t) || !isfinite(hit->t) || !encloses(item->t, hit->t))
    return say(q, ORACLE_WRONG, "primitive %u of geometry %u: t %.9g is not in %.9g to %.9g", hit->primitive,
               hit->geometry, (double)hit->t, item->t.lo, item->t.hi);
  return judge_first(q, item, hit->t);
}

static oracle_judgement judge_any(const inquiry *q, uint8_t any) {
  if (any > 1) return say(q, ORACLE_WRONG, "any is %u", (unsigned)any);
  if (any == 0) return judge_miss(q);
  if (some_hit(q)) return ORACLE_RIGHT;
  if (q->list.count == 0) return say(q, ORACLE_WRONG, "a hit, but nothing is hit");
  return say(q, ORACLE_TOO_CLOSE, "primitive %u of geometry %u is undecided", q->list.items[0].primitive,
             q->list.items[0].geometry);
}

static bool allows(oracle_patch allowed, uint64_t n) {
  return n >= allowed.lo && n <= allowed.hi && (n - allowed.lo) % allowed.step == 0;
}

static oracle_judgement judge_count(const inquiry *q, uint64_t n) {
  const oracle_patch allowed = tally(q);
  if (!allows(allowed, n))
    return say(q, ORACLE_WRONG, "the list has %llu, but there are %u to %u hits in steps of %u", (unsigned long long)n,
               allowed.lo, allowed.hi, allowed.step);
  if (allowed.lo == allowed.hi) return ORACLE_RIGHT;
  return say(q, ORACLE_TOO_CLOSE, "%u to %u hits", allowed.lo, allowed.hi);
}

/* ---- all --------------------------------------------------------------------------------------- */

static bool in_order(const slab_hit *a, const slab_hit *b) {
  if (a->t != b->t) return a->t < b->t;
  return a->geometry < b->geometry || (a->geometry == b->geometry && a->primitive < b->primitive);
}

/* Checks that each patch lists as many of its members as can be hit. */
static oracle_judgement judge_patches(const inquiry *q) {
  for (uint32_t p = 0; p < q->patch_count; p++) {
    uint64_t listed = 0;
    for (size_t i = 0; i < q->list.count; i++)
      if (q->list.items[i].patch == (int)p) listed += q->list.items[i].listed;
    if (!allows(q->patches[p], listed))
      return say(q, ORACLE_WRONG, "the list has %llu triangles around a seam, of which %u to %u are hit",
                 (unsigned long long)listed, q->patches[p].lo, q->patches[p].hi);
  }
  return ORACLE_RIGHT;
}

/* Judges a list that is full, whose hits were judged one by one: none that is left out may come before its last. */
static oracle_judgement judge_full(const inquiry *q, const slab_hit *last) {
  const oracle_item *end = find(&q->list, last->geometry, last->primitive), *doubtful = NULL;
  for (size_t i = 0; i < q->list.count; i++) {
    const oracle_item *item = &q->list.items[i];
    if (item->listed == 0 && !comes_before(item, end, last->t)) continue;
    if (item->listed == 0 && item->verdict == ORACLE_HIT)
      return say(q, ORACLE_WRONG, "primitive %u of geometry %u comes before the last that is listed", item->primitive,
                 item->geometry);
    if (item->verdict != ORACLE_HIT) doubtful = item;
  }
  if (doubtful == NULL) return ORACLE_RIGHT;
  return say(q, ORACLE_TOO_CLOSE, "primitive %u of geometry %u is undecided", doubtful->primitive, doubtful->geometry);
}

static oracle_judgement judge_all(const inquiry *q, const slab_hit *hits, uint64_t n) {
  const uint32_t most = q->question.most;
  if (most != 0 && n > most)
    return say(q, ORACLE_WRONG, "%llu hits are listed, and max_hits is %u", (unsigned long long)n, most);
  for (uint64_t i = 0; i < n; i++) {
    oracle_item *item;
    if (i > 0 && !in_order(&hits[i - 1], &hits[i]))
      return say(q, ORACLE_WRONG, "hits %llu and %llu are out of order", (unsigned long long)(i - 1),
                 (unsigned long long)i);
    const oracle_judgement alone = judge_hit(q, &hits[i], &item);
    if (alone != ORACLE_RIGHT) return alone;
    if (item->listed++ > 0)
      return say(q, ORACLE_WRONG, "primitive %u of geometry %u is listed twice", item->primitive, item->geometry);
  }
  if (n > 0 && n == most) return judge_full(q, &hits[n - 1]);
  for (size_t i = 0; i < q->list.count; i++) {
    const oracle_item *item = &q->list.items[i];
    if (item->verdict == ORACLE_HIT && item->listed == 0)
      return say(q, ORACLE_WRONG, "primitive %u of geometry %u is hit and not listed", item->primitive, item->geometry);
  }
  const oracle_judgement patches = judge_patches(q);
  return patches == ORACLE_RIGHT ? judge_count(q, n) : patches;
}

/* ---- the interface -------------------------------------------------------------------------------- */

static oracle_judgement judge_gathered(const inquiry *q, slab_query query, const void *result, uint64_t n) {
  switch (query) {
    case SLAB_CLOSEST:
      return judge_closest(q, result);
    case SLAB_DISTANCE:
      return judge_distance(q, *(const float *)result);
    case SLAB_ANY:
      return judge_any(q, *(const uint8_t *)result);
    case SLAB_COUNT:
      return judge_count(q, *(const uint32_t *)result);
    case SLAB_ALL:
      return judge_all(q, result, n);
    case SLAB_INTERVAL:
      return judge_interval(q, result);
    case SLAB_NEAREST:
      return judge_nearest(q, result);
  }
  return say(q, ORACLE_WRONG, "no such query: %d", (int)query);
}

static oracle_question make_question(slab_query query, const slab_cast_options *options) {
  oracle_question question = {.solid = query == SLAB_INTERVAL, .cull = SLAB_CULL_NONE};
  if (options && !question.solid) question.cull = options->cull;
  if (options) question.face_forward = options->face_forward != 0;
  if (options) question.closed = options->edges == SLAB_EDGES_CLOSED;
  if (options && query == SLAB_ALL) question.most = options->max_hits;
  return question;
}

oracle_judgement oracle_judge(const oracle_scene *scene, slab_query query, const slab_ray *ray, const void *result,
                              uint64_t n, const ray_own *own, const slab_cast_options *options, char *why,
                              size_t why_size) {
  inquiry q;
  q.kept = NULL;
  q.question = make_question(query, options);
  q.own = own;
  q.list.items = q.list.at_hand;
  q.list.count = 0;
  q.list.capacity = ITEMS_AT_HAND;
  q.why = why;
  q.why_size = why_size;
  if (why_size > 0) why[0] = '\0';
  const oracle_state state = isnan(own->after.t) ? ORACLE_RAY_INVALID : oracle_line_prepare(ray, &q.line);
  if (state != ORACLE_RAY_VALID)
    return judge_nothing(&q, query, result, n, state == ORACLE_RAY_INVALID ? SLAB_INVALID : SLAB_MISS);
  oracle_judgement judgement;
  if (gather(&q, scene))
    judgement = judge_gathered(&q, query, result, n);
  else
    judgement = ORACLE_NO_MEMORY;
  if (q.list.items != q.list.at_hand) free(q.list.items);
  for (kept_line *kept = q.kept, *next; kept != NULL; kept = next) {
    next = kept->next;
    free(kept);
  }
  return judgement;
}

oracle_verdict oracle_decide(const oracle_geometry *geometry, uint32_t primitive, slab_query query, const slab_ray *ray,
                             const slab_cast_options *options, double t[2]) {
  const oracle_question question = make_question(query, options);
  oracle_item item = {.primitive = primitive, .kind = geometry->kind, .shape = shape_at(geometry, primitive)};
  oracle_line line;
  item.line = &line;
  if (geometry->dropped && geometry->dropped[primitive]) return ORACLE_MISS;
  if (oracle_line_prepare(ray, &line) != ORACLE_RAY_VALID || !decide(&question, &item)) return ORACLE_MISS;
  t[0] = item.t.lo;
  t[1] = item.t.hi;
  return item.verdict;
}
