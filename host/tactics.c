/* Which way through a tree is the fastest for these rays is found by trying. */
#include <math.h>

#include "private.h"

#define TRIAL_RAYS 4096u
#define TRIALS 2           /* of each tactic, in turns: something else may use the processor meanwhile */
#define TRIALS_PAY 131072u /* rays from which on */
#define TRIALS_AGAIN 64    /* stretches after which the rays may be others */

static void start_over(tactics *t) {
  t->trials = t->casts = 0;
  for (unsigned k = 0; k < TACTICS; k++) t->seconds[k] = INFINITY;
}

tactics tactics_begin(const slab_scene *scene, slab_query query, size_t rays) {
  const device *d = &scene->context->device;
  tactics t = {.best = d->tactic, .packets = packet_rays(scene, query) != 0};
  if (scene->buffers.nodes == NULL || d->info.lane_width == 1) t.best = SLAB_TACTIC_SINGLE;
  if (t.best == SLAB_TACTIC_MEASURED) {
    t.open = rays >= TRIALS_PAY;
    t.best = t.packets ? SLAB_TACTIC_PACKETS : SLAB_TACTIC_SINGLE;
  }
  start_over(&t);
  return t;
}

/* Trials go through the tactics in turn, from the first that there is. */
static slab_tactic tried(const tactics *t) {
  const unsigned first = t->packets ? SLAB_TACTIC_PACKETS : SLAB_TACTIC_SINGLE;
  return (slab_tactic)(first + t->trials % (TACTICS - first));
}

static bool is_trying(const tactics *t) {
  return t->open && t->trials < TRIALS * (t->packets ? TACTICS - SLAB_TACTIC_PACKETS : TACTICS - SLAB_TACTIC_SINGLE);
}

slab_tactic tactics_next(const tactics *t, uint32_t *rays) {
  if (!is_trying(t)) return t->best;
  if (*rays > TRIAL_RAYS) *rays = TRIAL_RAYS;
  return tried(t);
}

void tactics_note(tactics *t, uint32_t rays, double seconds) {
  if (!t->open) return;
  if (!is_trying(t)) {
    if (++t->casts == TRIALS_AGAIN) start_over(t);
    return;
  }
  const slab_tactic used = tried(t);
  t->seconds[used] = fmin(t->seconds[used], seconds / rays);
  t->trials++;
  for (unsigned k = 0; k < TACTICS; k++)
    if (t->seconds[k] < t->seconds[t->best]) t->best = (slab_tactic)k;
}
