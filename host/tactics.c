/* Which way through a tree is the fastest for these rays is found by trying. */
#include <math.h>

#include "private.h"
#include "sort.h"

/* Two rounds of trials, of each tactic in turns: something else may use the processor meanwhile. A first of few rays
 * tells what is far behind; a second of the others, in which launching and the last group that is still at work hide
 * less: of all rays one in TRIAL_SHARE each, within bounds. */
#define ROUNDS 2
#define TRIAL_LEAST 4096u
#define TRIAL_MOST 16384u
#define TRIAL_SHARE 64
#define FAR_BEHIND 1.5
#define TRIALS_PAY 131072u /* rays from which on */
/* Where the first tactic's trial is shorter than this it was mostly launching, and tells less: as of rays that meet
 * nothing, with which a picture may begin. Then another has to win by so much. */
#define TRIAL_SECONDS 3e-4
#define CLEARLY 0.75
/* So have single rays against those in turns, since a trial is when they look best: caches hold what so few rays meet,
 * and turns end with few. Measured with PoCL 3.1 on Zen 4: shadow rays of a million hairs, 0.65 to 0.9 of the time of
 * turns in trials, 1.33 of it in all; those of a soup 0.8 and 1.02. */
/* The same of tactics whose kernels may have to be compiled first; what packets leave is cast one by one anyway. */
#define PACKETS_PAY 4096u
#define TURNS_PAY 262144u
#define TRIALS_AGAIN 64 /* stretches after which the rays may be others */
/* Rays that are sorted at once: fewer gain less, more take longer to cancel. Where rays in turns are the fastest,
 * memory is what they wait for, and sorting gains some 15 % of their time; it costs 40 ns of a compute unit a ray, what
 * then lies anywhere in memory included. So it pays from some time a ray on, in turns: measured with PoCL 3.1 on Zen 5,
 * random rays, soup and hair of a million primitives (0.7 to 1.1 us, 1.05 to 1.15 times as fast) and terrain of two
 * million (0.3 us, 0.9 to 1.0). */
#define SORT_LEAST 131072u
#define SORT_MOST 1048576u
#define SORT_PAYS 5e-7

static void start_over(tactics *t) {
  t->trials = t->casts = 0;
  t->sorts = t->open && t->last == SLAB_TACTIC_TURNS;
  for (unsigned k = 0; k < TACTICS; k++) t->seconds[k] = INFINITY;
}

tactics tactics_begin(const site *on, slab_query query, size_t rays) {
  const device *d = on->device;
  const bool packets = packet_rays(on, query) != 0;
  tactics t = {.best = d->tactic};
  t.first = packets ? SLAB_TACTIC_PACKETS : SLAB_TACTIC_SINGLE;
  t.last = rays >= TURNS_PAY ? SLAB_TACTIC_TURNS : SLAB_TACTIC_SINGLE;
  if (!has_tactics(on) || d->info.lane_width == 1) t.best = SLAB_TACTIC_SINGLE;
  t.sorting_pays = SORT_PAYS / d->info.compute_units;
  const size_t share = rays / TRIAL_SHARE;
  t.trial_rays = share > TRIAL_MOST ? TRIAL_MOST : share < TRIAL_LEAST ? TRIAL_LEAST : (uint32_t)share;
  if (t.best == SLAB_TACTIC_MEASURED) {
    t.open = rays >= TRIALS_PAY;
    t.best = packets && rays >= PACKETS_PAY ? SLAB_TACTIC_PACKETS : SLAB_TACTIC_SINGLE;
  }
  start_over(&t);
  return t;
}

/* Tactics that there are to be tried. */
static uint32_t choices(const tactics *t) { return t->last - t->first + 1; }

static slab_tactic tried(const tactics *t) { return (slab_tactic)(t->first + t->trials % choices(t)); }

bool tactics_trying(const tactics *t) { return t->open && t->trials < ROUNDS * choices(t); }

/* The first has a second trial whatever the first one was like: all others are held against it. */
static bool is_far_behind(const tactics *t) {
  return tried(t) != t->first && t->seconds[tried(t)] > FAR_BEHIND * t->seconds[t->best];
}

static void next_trial(tactics *t) {
  t->trials++;
  while (t->trials >= choices(t) && tactics_trying(t) && is_far_behind(t)) t->trials++;
}

static bool sorting_may_pay(const tactics *t, const slab_scene_stats *stats, const slab_ray *rays, uint32_t most) {
  if (t->best == SLAB_TACTIC_SORTED) return true;
  return t->sorts && t->best == SLAB_TACTIC_TURNS && t->seconds[t->best] > t->sorting_pays && most >= SORT_LEAST &&
         rays_are_scattered(rays, most, stats->lower, stats->upper);
}

slab_tactic tactics_next(const tactics *t, const slab_scene_stats *stats, const slab_ray *rays, uint32_t most,
                         uint32_t *count) {
  if (tactics_trying(t)) {
    const uint32_t trial_rays = t->trials < choices(t) ? TRIAL_LEAST : t->trial_rays;
    if (*count > trial_rays) *count = trial_rays;
    return tried(t);
  }
  if (!sorting_may_pay(t, stats, rays, most)) return t->best;
  *count = most < SORT_MOST ? most : SORT_MOST;
  return SLAB_TACTIC_SORTED;
}

void tactics_note(tactics *t, slab_tactic used, uint32_t rays, double seconds) {
  if (!t->open) return;
  if (!tactics_trying(t)) {
    if (used == SLAB_TACTIC_SORTED && seconds / rays > t->seconds[SLAB_TACTIC_TURNS]) t->sorts = false;
    if (++t->casts == TRIALS_AGAIN) start_over(t);
    return;
  }
  t->seconds[used] = fmin(t->seconds[used], seconds / rays);
  const double margin = t->seconds[t->first] * rays < TRIAL_SECONDS ? CLEARLY : 1.0;
  t->best = t->first;
  if (t->seconds[SLAB_TACTIC_TURNS] < margin * t->seconds[t->best]) t->best = SLAB_TACTIC_TURNS;
  const double single = t->best == SLAB_TACTIC_TURNS ? CLEARLY : margin;
  if (t->seconds[SLAB_TACTIC_SINGLE] < single * t->seconds[t->best]) t->best = SLAB_TACTIC_SINGLE;
  next_trial(t);
}
