/* Rays cast in step, as a GPU's warp casts them: how many of its lanes work at each step of the compressed traversal.
 *
 * The rounds of the kernel's loop are replayed. All lanes without a primitive left to test visit their next node
 * together. Then all lanes that have one left test it together. Then those go on whose short test left it. */
#ifndef SLABCAST_BENCH_WARP_H
#define SLABCAST_BENCH_WARP_H

#include <stdbool.h>
#include <stdint.h>

#include "lanes/steps.h"

enum { WARP_MOST = 64 };

/* A visit of a node by a ray. */
typedef struct warp_visit {
  uint32_t node;
  uint32_t depth; /* entries of the stack after it */
  bool pops, pushes;
  uint32_t primitives; /* that were tested */
  uint64_t exact;      /* bit k % 64: the k-th of them was left by its short test */
} warp_visit;

/* The visits of one lane's ray. Zero at first. */
typedef struct warp_lane {
  warp_visit *visits;
  uint32_t count, capacity;
  bool pops; /* the next visit does */
} warp_lane;

/* Sums over warps. steps: executed by a warp; lanes: by its rays, at most as many for each step as it has. */
typedef struct warp_sums {
  uint64_t warps, rays, rounds;
  uint64_t node_steps, node_lanes, primitive_steps, primitive_lanes, pop_steps, pop_lanes, push_steps, push_lanes;
  uint64_t exact_steps, exact_lanes;
  uint64_t nodes_apart; /* different nodes that the lanes of a step visit, summed */
  uint32_t depth;       /* most entries of a stack */
} warp_sums;

/* Begins a ray's record anew. */
void warp_begin(warp_lane *);
/* Adds a report of steps_count on the lane's ray. False where memory is short. */
bool warp_tell(warp_lane *, step, uint32_t n);
/* Adds the rays of `count` lanes, at most WARP_MOST, cast in step. */
void warp_replay(const warp_lane *lanes, uint32_t count, warp_sums *);

#endif
