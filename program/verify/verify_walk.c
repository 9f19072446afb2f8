/* Masks of rays, and walks along them. In every query the hits after a hit must be the rest of those that `all` lists.
 * A walk begins before all hits, and each hit is the next one's `after`. Other walks begin at places that no walk comes
 * to. */
#include <math.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/text.h"
#include "program/verify/verify.h"
#include "sets/adversarial.h"

/* Hits that a walk takes before it goes elsewhere: a few, since each costs a cast. */
enum { STEPS = 4 };

/* A walk along the hits of rays. */
typedef struct walk {
  verify_run *run; /* others: results of a cast without `after`; after: where each ray is */
  slab_scene *scene;
  slab_query query;
  size_t n;
  slab_cast_options options;
} walk;

slab_query verify_spread(uint64_t turn) { return (slab_query)(turn * SLAB_ALL % ANSWER_QUERIES); }

void verify_masks(verify_run *run, random_state *random, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const uint32_t bits = random_next(random), one = 1u << random_below(random, 32);
    const uint32_t masks[] = {0, one, bits, bits | one, UINT32_MAX};
    run->masks[i] = masks[random_below(random, COUNT_OF(masks))];
  }
}

/* ---- expected answers ---- */

static bool follows(const slab_hit *hit, const slab_short_hit *after) {
  if (hit->t > after->t || hit->t < after->t) return hit->t > after->t;
  if (hit->geometry != after->geometry) return hit->geometry > after->geometry;
  return hit->primitive > after->primitive;
}

/* The hits of ray i that are left. */
typedef struct rest {
  const slab_hit *hits;
  uint64_t count;
} rest;

static rest rest_of(const walk *w, size_t i) {
  const answers *whole = &w->run->others;
  rest r = {whole->all + whole->offsets[i], whole->offsets[i + 1] - whole->offsets[i]};
  for (; r.count > 0 && !follows(r.hits, &w->run->after[i]); r.count--) r.hits++;
  return r;
}

/* The next hit of ray i. One that hits nothing at all has the miss that it had, or is invalid. */
static slab_hit next_of(const walk *w, size_t i, rest r) {
  static const slab_hit miss = {INFINITY, {0, 0, 0}, 0, 0, SLAB_MISS, SLAB_MISS};
  const answers *whole = &w->run->others;
  if (r.count > 0) return *r.hits;
  return whole->closest[i].primitive >= SLAB_INVALID ? whole->closest[i] : miss;
}

static bool are_listed(const walk *w, size_t i, rest r) {
  const answers *a = &w->run->answers;
  const uint64_t most = w->options.max_hits, count = most != 0 && most < r.count ? most : r.count;
  if (a->offsets[i + 1] - a->offsets[i] != count) return false;
  return count == 0 || memcmp(a->all + a->offsets[i], r.hits, (size_t)count * sizeof *r.hits) == 0;
}

static bool is_rest(const walk *w, size_t i) {
  const answers *a = &w->run->answers;
  const rest r = rest_of(w, i);
  const slab_hit next = next_of(w, i, r);
  const slab_short_hit nearest = {next.t, next.primitive, next.geometry};
  switch (w->query) {
    case SLAB_CLOSEST:
      return memcmp(&a->closest[i], &next, sizeof next) == 0;
    case SLAB_DISTANCE:
      return memcmp(&a->distance[i], &next.t, sizeof next.t) == 0;
    case SLAB_ANY:
      return a->any[i] == (r.count > 0);
    case SLAB_COUNT:
      return a->count[i] == r.count;
    case SLAB_ALL:
      return are_listed(w, i, r);
    case SLAB_NEAREST:
      return memcmp(&a->nearest[i], &nearest, sizeof nearest) == 0;
    case SLAB_INTERVAL:
      break;
  }
  return false;
}

static void compare(const walk *w) {
  verify_run *run = w->run;
  size_t first = 0;
  uint64_t differing = 0;
  for (size_t i = w->n; i-- > 0;)
    if (!is_rest(w, i)) differing++, first = i;
  const slab_short_hit *after = &run->after[first];
  if (differing > 0)
    verify_fail(run, differing, &run->rays[first],
                "%s: %llu of %zu %s from the rest of all, the first is %zu, after t %a, geometry %u, primitive %u",
                answer_name(w->query), (unsigned long long)differing, w->n,
                plural(differing, "rays differs", "rays differ"), first, (double)after->t, after->geometry,
                after->primitive);
  run->tally->cases += w->n;
}

/* ---- where rays begin ---- */

/* A t that is NaN, which a device may give that is wrong, would be refused; nothing follows it instead. */
static slab_short_hit place_of(const slab_hit *hit) {
  if (isnan(hit->t)) return (slab_short_hit){INFINITY, SLAB_MISS, SLAB_MISS};
  return (slab_short_hit){hit->t, hit->primitive, hit->geometry};
}

static void begin_before_all(const walk *w) {
  for (size_t i = 0; i < w->n; i++) w->run->after[i] = (slab_short_hit){-INFINITY, SLAB_MISS, SLAB_MISS};
}

/* Each ray goes to its next hit, or after a miss. Returns how many came to a hit. */
static size_t go_on(const walk *w) {
  size_t hits = 0;
  for (size_t i = 0; i < w->n; i++) {
    const rest r = rest_of(w, i);
    const slab_hit next = next_of(w, i, r);
    w->run->after[i] = place_of(&next);
    hits += r.count > 0;
  }
  return hits;
}

/* A place at one of the hits, beside it by ids or by the next t, where all begins or ends, or away from hits, which the
 * oracle can judge. */
static slab_short_hit place_at(random_state *random, const slab_hit *hit) {
  slab_short_hit place = place_of(hit);
  switch (random_below(random, 8)) {
    case 0:
      place.t = nextafterf(hit->t, -INFINITY);
      break;
    case 1:
      place.t = nextafterf(hit->t, INFINITY);
      break;
    case 2:
      place.geometry = random_below(random, 2) ? hit->geometry + 1 : hit->geometry - 1;
      break;
    case 3:
      place.primitive = random_below(random, 2) ? hit->primitive + 1 : hit->primitive - 1;
      break;
    case 4:
      place.t = random_below(random, 2) ? INFINITY : -INFINITY;
      break;
    case 5:
      break;
    default:
      place.t *= random_below(random, 2) ? 0.75f : 1.25f;
      break;
  }
  return place;
}

static void begin_anywhere(const walk *w, random_state *random) {
  static const slab_hit none = {0, {0, 0, 0}, 0, 0, 0, 0};
  const answers *whole = &w->run->others;
  for (size_t i = 0; i < w->n; i++) {
    const uint64_t count = whole->offsets[i + 1] - whole->offsets[i];
    const slab_hit *hits = whole->all + whole->offsets[i];
    const slab_hit *hit = count > 0 ? &hits[random_below(random, (uint32_t)count)] : &none;
    w->run->after[i] = place_at(random, hit);
  }
}

/* ---- the walk ---- */

static slab_status ask(const walk *w) {
  const slab_status status = answers_cast(&w->run->answers, w->query, w->scene, w->run->rays, w->n, &w->options);
  if (status == SLAB_OK) compare(w);
  return status;
}

static slab_status walk_on(const walk *w) {
  size_t hits = w->n;
  slab_status status = SLAB_OK;
  begin_before_all(w);
  for (int step = 0; status == SLAB_OK && hits > 0 && step < STEPS; step++) {
    status = ask(w);
    hits = go_on(w);
    verify_figure_add(w->run, FIGURE_COUNT, "hits walked", (double)hits);
  }
  return status;
}

/* Casts without `after`. */
static slab_status cast_whole(const walk *w) {
  slab_cast_options options = w->options;
  options.after = NULL;
  options.max_hits = 0;
  const slab_status status = answers_cast(&w->run->others, SLAB_ALL, w->scene, w->run->rays, w->n, &options);
  if (status != SLAB_OK) return status;
  return answers_cast(&w->run->others, SLAB_CLOSEST, w->scene, w->run->rays, w->n, &options);
}

int verify_walk(verify_run *run, random_state *random, slab_scene *scene, slab_query query, size_t n, int judged) {
  walk w = {run, scene, query, n, adversarial_options(random, run->skip)};
  slab_status status = SLAB_OK;
  if (query == SLAB_INTERVAL || random_below(random, 2) == 0) {
    verify_masks(run, random, n);
    w.options.masks = run->masks;
    w.options.mask = 0;
  }
  if (query == SLAB_INTERVAL) { /* which has masks alone */
    status = answers_cast(&run->answers, query, scene, run->rays, n, &w.options);
  } else {
    w.options.after = run->after;
    status = cast_whole(&w);
    if (status == SLAB_OK) status = walk_on(&w);
    if (status == SLAB_OK) begin_anywhere(&w, random);
    if (status == SLAB_OK) status = ask(&w);
  }
  if (status != SLAB_OK) return verify_status(run, status);
  return verify_check(run, scene, query, &run->answers, n, &w.options, judged);
}
