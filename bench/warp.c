#include "warp.h"

#include <stdlib.h>

/* ---- recording ---- */

void warp_begin(warp_lane *l) {
  l->count = 0;
  l->pops = false;
}

static bool begin_visit(warp_lane *l, uint32_t node) {
  if (l->count == l->capacity) {
    const uint32_t capacity = 2 * l->capacity + 16;
    warp_visit *larger = realloc(l->visits, capacity * sizeof *larger);
    if (larger == NULL) return false;
    l->visits = larger;
    l->capacity = capacity;
  }
  const uint32_t depth = l->count == 0 ? 0 : l->visits[l->count - 1].depth;
  l->visits[l->count++] = (warp_visit){.node = node, .depth = depth - l->pops, .pops = l->pops};
  l->pops = false;
  return true;
}

bool warp_tell(warp_lane *l, step what, uint32_t n) {
  warp_visit *visit = l->count == 0 ? NULL : &l->visits[l->count - 1];
  if (what == STEP_visit) return begin_visit(l, n);
  if (what == STEP_pop) l->pops = true;
  if (what == STEP_push && visit != NULL) {
    visit->pushes = true;
    visit->depth = n;
  }
  if (what == STEP_blocks && visit != NULL) visit->primitives += n;
  if (what == STEP_exact && visit != NULL) visit->exact |= (uint64_t)1 << (visit->primitives - 1) % 64;
  return true;
}

/* ---- replaying ---- */

static int compare_nodes(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
  return (x > y) - (x < y);
}

static uint32_t count_apart(uint32_t *nodes, uint32_t count) {
  uint32_t apart = count > 0;
  qsort(nodes, count, sizeof *nodes, compare_nodes);
  for (uint32_t i = 1; i < count; i++) apart += nodes[i] != nodes[i - 1];
  return apart;
}

/* A step that some of the lanes take. */
static void add_step(uint32_t active, uint64_t *steps, uint64_t *lanes) {
  *steps += active > 0;
  *lanes += active;
}

/* Where a lane is: its next visit, and the primitives left of the last one. */
typedef struct place {
  uint32_t next, left;
} place;

/* Lanes without a primitive left visit a node, if they have one. Returns whether any does. */
static bool visit_nodes(const warp_lane *lanes, uint32_t count, place places[WARP_MOST], warp_sums *sums) {
  uint32_t nodes[WARP_MOST], active = 0, pops = 0, pushes = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (places[i].left > 0 || places[i].next == lanes[i].count) continue;
    const warp_visit *visit = &lanes[i].visits[places[i].next++];
    places[i].left = visit->primitives;
    nodes[active++] = visit->node;
    pops += visit->pops;
    pushes += visit->pushes;
    if (visit->depth > sums->depth) sums->depth = visit->depth;
  }
  add_step(active, &sums->node_steps, &sums->node_lanes);
  add_step(pops, &sums->pop_steps, &sums->pop_lanes);
  add_step(pushes, &sums->push_steps, &sums->push_lanes);
  sums->nodes_apart += count_apart(nodes, active);
  return active > 0;
}

/* Lanes with a primitive left test it. */
static bool test_primitives(const warp_lane *lanes, uint32_t count, place places[WARP_MOST], warp_sums *sums) {
  uint32_t active = 0, exact = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (places[i].left == 0) continue;
    const warp_visit *visit = &lanes[i].visits[places[i].next - 1];
    exact += (uint32_t)(visit->exact >> (visit->primitives - places[i].left--) % 64 & 1);
    active++;
  }
  add_step(active, &sums->primitive_steps, &sums->primitive_lanes);
  add_step(exact, &sums->exact_steps, &sums->exact_lanes);
  return active > 0;
}

void warp_replay(const warp_lane *lanes, uint32_t count, warp_sums *sums) {
  place places[WARP_MOST] = {{0}};
  bool more = true;
  sums->warps++;
  sums->rays += count;
  while (more) {
    const bool visited = visit_nodes(lanes, count, places, sums);
    more = test_primitives(lanes, count, places, sums) || visited;
    sums->rounds += more;
  }
}
