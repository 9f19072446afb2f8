#include "traversal_choice.h"

#include <math.h>
#include <string.h>

/* What rays come in some order is told by it at once, since on every scene so far it decided (bench_trace, PoCL 3.1 on
 * Zen 4: terrain, soup, hair, city, flake, two scanned meshes). Rays of a camera: packets, 1.6 to 4 times as fast as
 * turns. Scattered ones: turns, 1.0 to 2.5 times as fast as packets. For both a trial is only a loss, of 2 to 15 %.
 * Those that begin near each other and go apart: turns, 0.9 to 1.5 times as fast as the others, of which one has to win
 * by a little more than a trial may be wrong by. For others (shadows) packets or turns may be 2.5 times as fast, and
 * one by one 1.2 times as fast as either: there trials decide. */
#define APART_MARGIN 0.95
/* Tactics whose kernels may have to be loaded first; what packets leave is cast one by one anyway. Rays of earlier
 * casts count where these were not few. */
#define PACKETS_PAY 4096u
#define INTERLEAVED_PAYS 262144u

/* Trials, on neighbouring rays. A few by each tell what is far behind; of what remains more follow, in the other
 * order: of all rays one in TRIAL_SHARE, within bounds. */
#define PROBE 4096u
#define TRIAL_MOST 8192u
#define TRIAL_SHARE 128
#define FAR_BEHIND 1.5
#define TRIALS_PAY 131072u /* rays from which on */
/* Where the usual traversal's first trial is shorter than this it was mostly launching, and tells less: as of rays that
 * meet nothing. Then another has to win by so much. */
#define TRIAL_SECONDS 1.5e-4
#define CLEARLY 0.75
/* Rays are not alike everywhere: half of a picture's shadows may be for packets, the other for turns. Nor is the edge,
 * where a picture begins, like the rest. So after so much of the rays, and again after every quarter of them, within
 * bounds. Where trials agreed at so many places, not for long, all the more where all others are far behind: so trials
 * took 3 to 10 % of casts of 350,000 rays, and hardly anything of the casts that follow (Zen 3). One place alone may
 * have been disturbed. */
#define FIRST_SHARE 20
#define AGAIN_SHARE 4
#define AGAIN_LEAST 262144u
#define AGAIN_MOST 4194304u
#define AGREED 2
#define SETTLED 16

/* Rays that are sorted at once: fewer gain less, more take longer to cancel. Where interleaved rays are the fastest,
 * memory is what they wait for, and sorting gains some 15 % of their time; it costs 40 ns of a compute unit a ray, what
 * then lies anywhere in memory included. So it pays from some time a ray on, interleaved: measured with PoCL 3.1 on Zen
 * 5, random rays, soup and hair of a million primitives (0.7 to 1.1 us, 1.05 to 1.15 times as fast) and terrain of two
 * million (0.3 us, 0.9 to 1.0). */
#define SORT_LEAST 131072u
#define SORT_MOST 1048576u
#define SORT_PAYS 5e-7

static uint32_t within(size_t x, uint32_t least, uint32_t most) {
  return x < least ? least : x > most ? most : (uint32_t)x;
}

static void try_too(traversal_choice *t, slab_traversal traversal) {
  for (uint32_t k = 0; k < t->candidates; k++)
    if (t->tried[k] == traversal) return;
  t->tried[t->candidates++] = traversal;
}

/* What rays in this order go by, as if nothing were known of them yet. */
static traversal_choice traversal_choice_anew(rays_order order, slab_traversal together, slab_traversal apart,
                                              uint32_t first) {
  traversal_choice t = {.ordered = true, .order = order, .margin = 1.0, .until = first};
  switch (order) {
    case RAYS_OF_A_POINT:
      try_too(&t, together);
      break;
    case RAYS_ALIKE:
      try_too(&t, together);
      try_too(&t, apart);
      try_too(&t, SLAB_TRAVERSAL_SINGLE);
      break;
    case RAYS_DIVERGING:
      try_too(&t, apart);
      try_too(&t, SLAB_TRAVERSAL_SINGLE);
      try_too(&t, together);
      t.margin = APART_MARGIN;
      break;
    case RAYS_SCATTERED: /* one trial tells whether sorting may pay */
      try_too(&t, apart);
      t.sorts = apart == SLAB_TRAVERSAL_INTERLEAVED;
      t.until = 0;
      break;
  }
  t.best = t.tried[0];
  return t;
}

static bool asks_the_same(const traversal_choice *a, const traversal_choice *b) {
  return a->ordered && a->candidates == b->candidates && memcmp(a->tried, b->tried, sizeof a->tried) == 0;
}

/* The wanted one where there is it. */
static slab_traversal or_single(const traversal_task *task, slab_traversal wanted) {
  return (task->traversal_choice >> wanted & 1) != 0 ? wanted : SLAB_TRAVERSAL_SINGLE;
}

traversal_choice traversal_choice_begin(const traversal_task *task, const traversal_memory *memory) {
  const size_t n = task->n;
  traversal_choice t = {.best = task->wanted};
  if (task->wanted != SLAB_TRAVERSAL_AUTO) return t;
  t.best = SLAB_TRAVERSAL_SINGLE;
  if (n < PACKETS_PAY) return t;
  const rays_order order = rays_order_of(task->rays, n, task->lower, task->upper);
  const traversal_choice *earlier = &memory->of[task->query][order];
  const uint64_t met = earlier->met + n;
  t = traversal_choice_anew(
      order, or_single(task, SLAB_TRAVERSAL_PACKETS),
      met >= INTERLEAVED_PAYS ? or_single(task, SLAB_TRAVERSAL_INTERLEAVED) : SLAB_TRAVERSAL_SINGLE,
      within(n / FIRST_SHARE, 0, AGAIN_MOST));
  if (asks_the_same(earlier, &t)) t = *earlier;
  t.met = met;
  t.open = (t.candidates > 1 || t.sorts) && met >= TRIALS_PAY;
  t.trial_rays = within(n / TRIAL_SHARE, PROBE, TRIAL_MOST);
  t.again = within(order == RAYS_ALIKE ? n / AGAIN_SHARE : n, AGAIN_LEAST, AGAIN_MOST);
  t.sorting_pays = SORT_PAYS / task->compute_units;
  return t;
}

void traversal_choice_end(const traversal_choice *t, slab_query query, traversal_memory *memory) {
  if (t->ordered) memory->of[query][t->order] = *t;
}

bool traversal_choice_trying(const traversal_choice *t) { return t->open && t->until == 0; }

static bool sorting_may_pay(const traversal_choice *t, uint32_t most) {
  if (t->best == SLAB_TRAVERSAL_SORTED) return true;
  return t->sorts && most >= SORT_LEAST && t->pace[SLAB_TRAVERSAL_INTERLEAVED] > t->sorting_pays;
}

/* The first round is of all candidates, the second of those that are left, the last first. */
static slab_traversal traversal_of_step(const traversal_choice *t) {
  if (t->step < t->candidates) return t->tried[t->step];
  return t->left[t->lefts - 1 - (t->step - t->candidates)];
}

slab_traversal traversal_choice_next(traversal_choice *t, uint32_t most, uint32_t *count, bool *trial) {
  const uint32_t probe = t->candidates == 1 ? 2 * TRIAL_MOST : PROBE;
  const uint32_t rays = t->step < t->candidates ? probe : t->trial_rays;
  *trial = traversal_choice_trying(t) && most >= rays;
  if (*trial) {
    if (*count > rays) *count = rays;
    return traversal_of_step(t);
  }
  const bool sorting = sorting_may_pay(t, most);
  if (sorting) *count = most < SORT_MOST ? most : SORT_MOST;
  if (t->until > 0 && t->open) {
    if (*count > t->until && !sorting) *count = t->until;
    t->until -= *count < t->until ? *count : t->until;
  }
  return sorting ? SLAB_TRAVERSAL_SORTED : t->best;
}

/* After the first round: who is not far behind. */
static void leave_behind(traversal_choice *t) {
  double least = INFINITY;
  for (uint32_t k = 0; k < t->candidates; k++) least = fmin(least, t->here[t->tried[k]]);
  t->lefts = 0;
  for (uint32_t k = 0; k < t->candidates; k++)
    if (t->here[t->tried[k]] <= FAR_BEHIND * least) t->left[t->lefts++] = t->tried[k];
}

/* Once the trials at a place have told. */
static void decide(traversal_choice *t) {
  for (uint32_t k = 0; k < t->candidates; k++) {
    double *pace = &t->pace[t->tried[k]], *here = &t->here[t->tried[k]];
    *pace = *pace > 0.0 && *pace < *here ? (*pace + *here) / 2 : *here; /* what disturbs a trial lengthens it */
    *here = 0.0;
  }
  const slab_traversal usual = t->tried[0];
  slab_traversal best = usual;
  double least = (t->pace[usual] * PROBE < TRIAL_SECONDS ? CLEARLY : t->margin) * t->pace[usual];
  for (uint32_t k = 1; k < t->candidates; k++) {
    if (t->pace[t->tried[k]] >= least) continue;
    best = t->tried[k];
    least = t->pace[best];
  }
  t->agreed = best == t->best ? t->agreed + 1 : 1;
  t->best = best;
  uint32_t patience = t->candidates > 1 && t->lefts == 1 && t->agreed >= AGREED ? SETTLED : 1;
  for (uint32_t k = AGREED; k < t->agreed && patience < SETTLED; k++) patience *= 2;
  t->until = t->again * patience;
  t->step = 0;
}

void traversal_choice_note(traversal_choice *t, bool trial, slab_traversal used, uint32_t rays, double seconds) {
  const double pace = seconds / rays;
  if (used == SLAB_TRAVERSAL_SORTED && t->sorts && pace > t->pace[SLAB_TRAVERSAL_INTERLEAVED]) t->sorts = false;
  if (!trial) return;
  double *here = &t->here[used];
  *here = *here > 0.0 && *here < pace ? *here : pace;
  t->step++;
  if (t->step == t->candidates) leave_behind(t);
  if (t->step == t->candidates + (t->lefts > 1 ? t->lefts : 0)) decide(t);
}
