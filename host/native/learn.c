#include "native/learn.h"

#define ORDER_UNIT 16u
#define ORDER_TRIED 32u /* one piece of so many tries the other order */
#define ORDER_KEPT 8u   /* the last piece weighs one of so many */

#define RECENT_UNIT 1024u
#define RECENT_MOST 16.0 /* a ratio beyond counts as this one */
#define RECENT_KEPT 4u   /* the last pair weighs one of so many */
#define RECENT_WINS 95u  /* per cent of the time of the chunk's way */

/* The last of some values weighs one of `kept`. */
static void learn(atomic_uint *value, uint32_t now, uint32_t kept) {
  const uint32_t old = atomic_load_explicit(value, memory_order_relaxed);
  atomic_store_explicit(value, old == 0 ? now : ((kept - 1) * old + now) / kept, memory_order_relaxed);
}

/* ---- the order of children ---- */

void learn_order_begin(child_order *o) {
  atomic_init(&o->pieces, 0);
  for (int i = 0; i < 2; i++) atomic_init(&o->steps[i], 0);
}

uint32_t learn_order_farthest(child_order *o) {
  const uint32_t nth = atomic_fetch_add_explicit(&o->pieces, 1, memory_order_relaxed),
                 nearest = atomic_load_explicit(&o->steps[0], memory_order_relaxed),
                 farthest = atomic_load_explicit(&o->steps[1], memory_order_relaxed);
  if (nearest == 0 || farthest == 0) return nearest != 0;
  return (farthest < nearest) != (nth % ORDER_TRIED == ORDER_TRIED - 1);
}

void learn_order(child_order *o, uint32_t farthest, uint32_t steps, uint32_t packets) {
  learn(&o->steps[farthest], 1 + ORDER_UNIT * steps / packets, ORDER_KEPT);
}

/* ---- samples ---- */

static uint32_t recent_units(double ratio) {
  return (uint32_t)((ratio < RECENT_MOST ? ratio : RECENT_MOST) * RECENT_UNIT);
}

void learn_recent_begin(recent_ratio *r, double ratio) {
  atomic_init(&r->ratio, recent_units(ratio));
  for (int i = 0; i < 2; i++) atomic_init(&r->alone[i], 0);
}

void learn_recent(recent_ratio *r, bool own, uint64_t nanoseconds, uint32_t rays) {
  const uint32_t time = (uint32_t)(RECENT_UNIT * nanoseconds / rays) + 1;
  const uint32_t other = atomic_exchange_explicit(&r->alone[!own], 0, memory_order_relaxed);
  if (other == 0)
    atomic_store_explicit(&r->alone[own], time, memory_order_relaxed);
  else
    learn(&r->ratio, recent_units(own ? (double)time / other : (double)other / time), RECENT_KEPT);
}

uint32_t learn_recent_fastest(const recent_ratio *r, uint32_t count) {
  uint32_t fastest = count, least = RECENT_WINS * RECENT_UNIT / 100;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t ratio = atomic_load_explicit(&r[i].ratio, memory_order_relaxed);
    if (ratio >= least) continue;
    least = ratio;
    fastest = i;
  }
  return fastest;
}
