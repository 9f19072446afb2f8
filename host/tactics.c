#include "tactics.h"

#include "sort.h"
#include "types.h"

/* What rays come in some order is told by it at once, since on every scene so far it decided (bench_trace, PoCL 3.1 on
 * Zen 4: terrain, soup, hair, city, flake, two scanned meshes). Rays of a camera: packets, 1.6 to 4 times as fast as
 * turns. Scattered ones: turns, 1.0 to 2.5 times as fast as packets. For both a trial is only a loss, of 2 to 15 %.
 * Those that begin near each other and go apart: turns, 0.9 to 1.5 times as fast, and packets only where a trial says
 * so by more than it may be wrong. For others (shadows) either may be 2.5 times as fast: there trials decide.
 *
 * One by one is for few rays, and for queries without packets. Of many, turns took 0.65 to 1.1 of its time; but where
 * registers are too narrow for two rays abreast 0.8 to 1.25 (Zen 3): there these two are tried. */
#define APART_MARGIN 0.9
/* Tactics whose kernels may have to be compiled first; what packets leave is cast one by one anyway. */
#define PACKETS_PAY 4096u
#define TURNS_PAY 262144u

/* Trials, on neighbouring rays. A few by each tell what is far behind; else more follow, in the other order: of all
 * rays one in TRIAL_SHARE, within bounds. */
#define STEPS 4
#define PROBE 4096u
#define TRIAL_MOST 8192u
#define TRIAL_SHARE 128
#define FAR_BEHIND 1.5
#define TRIALS_PAY 131072u /* rays from which on */
/* Where the usual tactic's trial is shorter than this it was mostly launching, and tells less: as of rays that meet
 * nothing. Then the other has to win by so much. */
#define TRIAL_SECONDS 3e-4
#define CLEARLY 0.75
/* Rays are not alike everywhere: half of a picture's shadows may be for packets, the other for turns. Nor is the edge,
 * where a picture begins, like the rest. So after so much of the rays, and again after every quarter of them, within
 * bounds; where one is far behind, not for long. */
#define FIRST_SHARE 20
#define AGAIN_SHARE 4
#define AGAIN_LEAST 262144u
#define AGAIN_MOST 4194304u
#define SETTLED 16

/* Rays that are sorted at once: fewer gain less, more take longer to cancel. Where rays in turns are the fastest,
 * memory is what they wait for, and sorting gains some 15 % of their time; it costs 40 ns of a compute unit a ray, what
 * then lies anywhere in memory included. So it pays from some time a ray on, in turns: measured with PoCL 3.1 on Zen 5,
 * random rays, soup and hair of a million primitives (0.7 to 1.1 us, 1.05 to 1.15 times as fast) and terrain of two
 * million (0.3 us, 0.9 to 1.0). */
#define SORT_LEAST 131072u
#define SORT_MOST 1048576u
#define SORT_PAYS 5e-7

static uint32_t within(size_t x, uint32_t least, uint32_t most) {
  return x < least ? least : x > most ? most : (uint32_t)x;
}

static void choose_between(tactics *t, slab_tactic usual, slab_tactic other, double margin, uint32_t until) {
  t->open = usual != other;
  t->best = t->usual = usual;
  t->other = other;
  t->margin = margin;
  t->until = until;
}

bool turns_go_abreast(const slab_device_info *device) {
  return device->lane_width >= 2 * TREE_WIDTH && device->exact_divide;
}

tactics tactics_begin(slab_tactic wanted, bool packets, const slab_device_info *device, const slab_ray *rays, size_t n,
                      const float lower[3], const float upper[3]) {
  tactics t = {.best = wanted, .steps = STEPS, .probe_rays = PROBE, .sorting_pays = SORT_PAYS / device->compute_units};
  if (wanted != SLAB_TACTIC_MEASURED) return t;
  const slab_tactic together = packets && n >= PACKETS_PAY ? SLAB_TACTIC_PACKETS : SLAB_TACTIC_SINGLE;
  const slab_tactic apart = n >= TURNS_PAY ? SLAB_TACTIC_TURNS : SLAB_TACTIC_SINGLE;
  const rays_order order = n >= TRIALS_PAY ? rays_order_of(rays, n, lower, upper) : RAYS_OF_A_POINT;
  const uint32_t first = (uint32_t)(n / FIRST_SHARE < AGAIN_MOST ? n / FIRST_SHARE : AGAIN_MOST);
  t.trial_rays = within(n / TRIAL_SHARE, PROBE, TRIAL_MOST);
  t.again = within(n / AGAIN_SHARE, AGAIN_LEAST, AGAIN_MOST);
  switch (order) {
    case RAYS_OF_A_POINT:
      choose_between(&t, together, together, 1.0, 0);
      break;
    case RAYS_ALIKE:
      choose_between(&t, together, apart, 1.0, first);
      break;
    case RAYS_DIVERGING:
      if (turns_go_abreast(device))
        choose_between(&t, apart, together, APART_MARGIN, first);
      else
        choose_between(&t, apart, SLAB_TACTIC_SINGLE, 1.0, first);
      t.again = UINT32_MAX;
      break;
    case RAYS_SCATTERED: /* one trial tells whether sorting may pay */
      choose_between(&t, apart, apart, 1.0, 0);
      t.open = t.sorts = apart == SLAB_TACTIC_TURNS;
      t.steps = 1;
      t.probe_rays = 2 * TRIAL_MOST;
      t.again = UINT32_MAX;
      break;
  }
  return t;
}

static double pace(const tactics *t, slab_tactic k) { return t->seconds[k] / t->rays[k]; }

bool tactics_trying(const tactics *t) { return t->open && t->until == 0; }

static bool sorting_may_pay(const tactics *t, uint32_t most) {
  if (t->best == SLAB_TACTIC_SORTED) return true;
  return t->sorts && pace(t, t->best) > t->sorting_pays && most >= SORT_LEAST;
}

slab_tactic tactics_next(tactics *t, uint32_t most, uint32_t *count) {
  if (tactics_trying(t)) {
    const uint32_t rays = t->step < 2 ? t->probe_rays : t->trial_rays;
    if (*count > rays) *count = rays;
    return t->step == 0 || t->step == 3 ? t->usual : t->other;
  }
  if (sorting_may_pay(t, most)) {
    *count = most < SORT_MOST ? most : SORT_MOST;
    return SLAB_TACTIC_SORTED;
  }
  if (t->open && *count > t->until) *count = t->until;
  if (t->open) t->until -= *count;
  return t->best;
}

/* Once the trials at a place have told, or one tactic is far behind. */
static void decide(tactics *t) {
  const double ratio = pace(t, t->other) / pace(t, t->usual);
  const bool clear = ratio > FAR_BEHIND || ratio < 1.0 / FAR_BEHIND;
  if (t->step < t->steps && !clear) return;
  const double margin = t->seconds[t->usual] < TRIAL_SECONDS ? CLEARLY : t->margin;
  t->best = ratio < margin ? t->other : t->usual;
  t->until = clear && t->again <= AGAIN_MOST ? t->again * SETTLED : t->again;
  t->step = 0;
}

void tactics_note(tactics *t, bool trial, slab_tactic used, uint32_t rays, double seconds) {
  if (used == SLAB_TACTIC_SORTED && t->sorts && seconds / rays > pace(t, SLAB_TACTIC_TURNS)) t->sorts = false;
  if (!trial) return;
  for (int k = 0; t->step == 0 && k < TACTICS; k++) {
    t->seconds[k] /= 2;
    t->rays[k] /= 2;
  }
  t->seconds[used] += seconds;
  t->rays[used] += rays;
  if (++t->step % 2 == 0 || t->steps == 1) decide(t);
}
