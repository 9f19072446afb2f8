/* The pieces of a chunk learn from those before them, on all threads. A thread's result may be lost where another
 * learns at the same time. */
#ifndef SLABCAST_NATIVE_LEARN_H
#define SLABCAST_NATIVE_LEARN_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Which of a node's children packets of SLAB_ANY visit first. Camera rays that graze near things take up to 2.5 times
 * the time with the nearest first. Where all of them are blocked they take up to 1.45 times with the farthest first. So
 * pieces try both, and all but few take what has taken fewer steps of late. */
typedef struct child_order {
  atomic_uint pieces;
  atomic_uint steps[2]; /* a packet's, in units of learn.c, the farthest first or not; 0: not known yet */
} child_order;

void learn_order_begin(child_order *);
/* 1: the next piece visits the farthest child first. */
uint32_t learn_order_farthest(child_order *);
/* steps: of so many packets, one at least. */
void learn_order(child_order *, uint32_t farthest, uint32_t steps, uint32_t packets);

/* How a sample's own pieces compare with those beside them of late. Rays differ from place to place: of shadow rays of
 * a terrain one half may take 0.7 of the time interleaved, the other 1.4. So pieces go the way that is faster here,
 * though the chunk's is faster on the whole. The chunk's ratio is where it begins, so that one piece alone proves
 * nothing. */
typedef struct recent_ratio {
  atomic_uint ratio;    /* of their times, in units of learn.c */
  atomic_uint alone[2]; /* the time of the last piece beside a sample's, and of its own; 0: compared already */
} recent_ratio;

void learn_recent_begin(recent_ratio *, double ratio);
/* Compares a piece, a sample's own or one beside it, with the last of the other kind, unless that has been compared. */
void learn_recent(recent_ratio *, bool own, uint64_t nanoseconds, uint32_t rays);
/* Which of some samples goes the way that is the fastest here; count: the chunk's is. */
uint32_t learn_recent_fastest(const recent_ratio *, uint32_t count);

#endif
