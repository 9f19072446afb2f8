/* Which way through a tree is the fastest for these rays is found by trying. */
#include <math.h>

#include "private.h"

#define TRIAL_RAYS 16384u
#define TRIALS_PAY 131072u /* rays from which on */
#define TRIALS_AGAIN 64    /* stretches after which the rays may be others */

tactics tactics_begin(const slab_scene *scene, slab_query query, size_t rays) {
  const device *d = &scene->context->device;
  const bool packets = packet_rays(scene, query) != 0;
  tactics t = {.best = d->tactic};
  if (scene->buffers.nodes == NULL || d->info.lane_width == 1) t.best = SLAB_TACTIC_SINGLE;
  if (t.best == SLAB_TACTIC_MEASURED) {
    t.open = rays >= TRIALS_PAY;
    t.best = packets ? SLAB_TACTIC_PACKETS : SLAB_TACTIC_SINGLE;
    t.seconds[SLAB_TACTIC_PACKETS] = packets ? 0.0 : INFINITY;
  }
  return t;
}

/* The first tactic that is still to be measured, TACTICS when there is none. */
static unsigned untried(const tactics *t) {
  unsigned next = SLAB_TACTIC_PACKETS;
  while (next < TACTICS && t->seconds[next] > 0.0) next++;
  return next;
}

slab_tactic tactics_next(const tactics *t, uint32_t *rays) {
  const unsigned next = untried(t);
  if (!t->open || next == TACTICS) return t->best;
  if (*rays > TRIAL_RAYS) *rays = TRIAL_RAYS;
  return (slab_tactic)next;
}

void tactics_note(tactics *t, slab_tactic used, uint32_t rays, double seconds) {
  if (!t->open) return;
  t->seconds[used] = seconds / rays;
  if (untried(t) != TACTICS) return;
  for (unsigned k = SLAB_TACTIC_PACKETS; k < TACTICS; k++)
    if (t->seconds[k] < t->seconds[t->best]) t->best = (slab_tactic)k;
  if (++t->casts < TRIALS_AGAIN) return;
  t->casts = 0;
  for (unsigned k = SLAB_TACTIC_PACKETS; k < TACTICS; k++)
    if (!isinf(t->seconds[k])) t->seconds[k] = 0.0;
}
