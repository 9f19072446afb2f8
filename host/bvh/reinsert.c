/* Reinsertion: takes subtrees out and inserts them where they enlarge the other nodes least. Meister, Bittner, Parallel
 * Reinsertion for Bounding Volume Hierarchy Optimization (2018). All places are searched in parallel in the same
 * unchanged BVH. Then the moves are made one by one, the best first. A move is skipped if it changes nodes that an
 * earlier move has changed. So the result does not depend on the number of threads.
 *
 * The BVH may become deeper. The caller checks its depth. */
#include <stdlib.h>
#include <string.h>

#include "bvh/parts.h"

/* Nodes that move as a whole, without their parts: binary leaves, and nodes that the collapse has made wide leaves,
 * since the blocks of those are optimal already. */
#define UNIT (BUILD_NODE_BOTTOM | BUILD_NODE_LEAF)

enum { ROUNDS = 8, VISITS_MAX = 2000, STACK_MAX = 256, MOVES_A_PIECE = 64 };

typedef struct move {
  float gain; /* in area of all inner nodes; 0: the subtree stays */
  uint32_t from, to;
  uint32_t rank; /* index of `from` in the list: node indices depend on the threads, the shape of the BVH does not */
} move;

typedef struct optimizer {
  builder *b;
  uint32_t *parent; /* one for each build node */
  uint8_t *touched; /* changed by a move of this round; one for each build node */
  uint32_t *list;   /* all build nodes except the root, down to units; then those that are refitted alone */
  uint32_t listed;
  move *moves;
} optimizer;

typedef struct place {
  float gain; /* gain if the subtree is inserted here, before this node is enlarged */
  uint32_t at;
} place;

static aabb build_node_aabb(const build_node *b) { return (aabb){float4_xyz(b->lower), float4_xyz(b->upper)}; }

static float aabb_area(const measure *m, aabb s) {
  const float4 extent = measured_extent(m, s) * m->scale;
  return extent[0] * extent[1] * m->faces + (extent[0] + extent[1]) * extent[2];
}

static float build_node_area(const measure *m, const build_node *b) { return aabb_area(m, build_node_aabb(b)); }

static void build_node_set_aabb(build_node *b, aabb s) {
  for (int axis = 0; axis < 3; axis++) {
    b->lower[axis] = s.lower[axis];
    b->upper[axis] = s.upper[axis];
  }
}

/* ---- search ---- */

/* Finds the best place at or below `start`. `gain` is the area gained up to there by taking the subtree out. */
static void search_below(const optimizer *o, aabb moved, float moved_area, place start, move *best, uint32_t *visits) {
  const build_node *build_nodes = o->b->build_nodes;
  const measure *m = &o->b->measure;
  place stack[STACK_MAX];
  int depth = 0;
  stack[depth++] = start;
  while (depth > 0 && *visits < VISITS_MAX) {
    const place here = stack[--depth];
    const build_node *b = &build_nodes[here.at];
    if (!(here.gain - moved_area > best->gain)) continue;
    (*visits)++;
    const float gain = here.gain - aabb_area(m, aabb_join(build_node_aabb(b), moved));
    if (gain > best->gain) {
      best->gain = gain;
      best->to = here.at;
    }
    if ((b->tag & UNIT) || depth + 2 > STACK_MAX) continue;
    const float below = gain + aabb_area(m, build_node_aabb(b));
    stack[depth++] = (place){below, 2 * b->link};
    stack[depth++] = (place){below, 2 * b->link + 1};
  }
}

/* Searches from the subtree's sibling upward, and in every other subtree of each ancestor. */
static move find_move(const optimizer *o, uint32_t rank) {
  const build_node *build_nodes = o->b->build_nodes;
  const measure *m = &o->b->measure;
  const uint32_t from = o->list[rank];
  const aabb moved = build_node_aabb(&build_nodes[from]);
  const float moved_area = aabb_area(m, moved);
  const uint32_t parent = o->parent[from];
  move best = {0.0f, from, from, rank};
  aabb rest = build_node_aabb(&build_nodes[from ^ 1]); /* bounds of the ancestor without the subtree */
  float gain = aabb_area(m, build_node_aabb(&build_nodes[parent]));
  uint32_t visits = 0;
  for (uint32_t at = from, up = parent;; at = up, up = o->parent[up]) {
    search_below(o, moved, moved_area, (place){gain, at ^ 1}, &best, &visits);
    if (up != parent) {
      rest = aabb_join(rest, build_node_aabb(&build_nodes[at ^ 1]));
      gain += aabb_area(m, build_node_aabb(&build_nodes[up])) - aabb_area(m, rest);
    }
    if (up == 0) break;
  }
  if (best.to == (from ^ 1) || best.to == parent) best.gain = 0.0f;
  return best;
}

/* ---- moves ---- */

static void adopt(optimizer *o, uint32_t at) {
  const build_node *b = &o->b->build_nodes[at];
  if (b->tag & UNIT) return;
  o->parent[2 * b->link] = o->parent[2 * b->link + 1] = at;
}

/* Whether `to` is still outside the subtree that moves, as it was during the search. */
static bool lies_outside(const optimizer *o, uint32_t to, uint32_t from) {
  while (to != 0 && to != from) to = o->parent[to];
  return to == 0;
}

/* Takes the subtree out of its ancestors' bounds. Its parent gets the bounds of its sibling. Returns the area that the
 * ancestors lose; the parent loses all of its own. */
static float shrink_ancestors(optimizer *o, uint32_t from) {
  build_node *build_nodes = o->b->build_nodes;
  const measure *m = &o->b->measure;
  uint32_t at = o->parent[from];
  float lost = build_node_area(m, &build_nodes[at]);
  build_node_set_aabb(&build_nodes[at], build_node_aabb(&build_nodes[from ^ 1]));
  while (at != 0) {
    const aabb less = aabb_join(build_node_aabb(&build_nodes[at]), build_node_aabb(&build_nodes[at ^ 1]));
    at = o->parent[at];
    lost += build_node_area(m, &build_nodes[at]) - aabb_area(m, less);
    build_node_set_aabb(&build_nodes[at], less);
  }
  return lost;
}

/* The area that the ancestors of `to`, except one, gain by the subtree, plus the area of a new node around it and
 * `to`. */
static float area_to_insert(const optimizer *o, aabb moved, uint32_t to, uint32_t but) {
  const build_node *build_nodes = o->b->build_nodes;
  const measure *m = &o->b->measure;
  float gained = aabb_area(m, aabb_join(build_node_aabb(&build_nodes[to]), moved));
  while (to != 0) {
    to = o->parent[to];
    if (to == but) continue;
    gained += aabb_area(m, aabb_join(build_node_aabb(&build_nodes[to]), moved)) - build_node_area(m, &build_nodes[to]);
  }
  return gained;
}

static void grow_ancestors(optimizer *o, uint32_t at, aabb moved) {
  for (;;) {
    build_node *b = &o->b->build_nodes[at];
    build_node_set_aabb(b, aabb_join(build_node_aabb(b), moved));
    if (at == 0) return;
    at = o->parent[at];
  }
}

/* The sibling takes the parent's place. The pair, with `to` instead of the sibling, takes the place of `to`. */
static void relink(optimizer *o, const move *m) {
  build_node *build_nodes = o->b->build_nodes;
  const uint32_t sibling = m->from ^ 1, parent = o->parent[m->from];
  const build_node kept = build_nodes[sibling];
  build_nodes[sibling] = build_nodes[m->to];
  build_nodes[m->to].link = m->from / 2;
  build_nodes[m->to].tag = 0;
  build_nodes[parent] = kept;
  adopt(o, sibling);
  adopt(o, parent);
  adopt(o, m->to);
}

/* Makes the move, unless it changes nodes already changed in this round or no longer gains. */
static void make_move(optimizer *o, const move *m) {
  const aabb moved = build_node_aabb(&o->b->build_nodes[m->from]);
  const uint32_t parent = o->parent[m->from];
  const uint32_t touches[] = {m->from, m->from ^ 1, parent, m->to, o->parent[m->to]};
  for (int i = 0; i < 5; i++)
    if (o->touched[touches[i]]) return;
  if (!lies_outside(o, m->to, m->from)) return;
  const float lost = shrink_ancestors(o, m->from);
  if (!(area_to_insert(o, moved, m->to, parent) < lost)) {
    grow_ancestors(o, parent, moved);
    return;
  }
  for (int i = 0; i < 5; i++) o->touched[touches[i]] = 1;
  relink(o, m);
  grow_ancestors(o, m->to, moved);
}

static int move_order(const void *a, const void *b) {
  const move *x = a, *y = b;
  if (x->gain != y->gain) return x->gain > y->gain ? -1 : 1;
  return (x->rank > y->rank) - (x->rank < y->rank);
}

static uint32_t keep_gaining(move *moves, uint32_t count) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < count; i++)
    if (moves[i].gain > 0.0f) moves[kept++] = moves[i];
  return kept;
}

/* ---- rounds ---- */

/* Computes the build nodes of a subtree again, but not those below nodes with fewer than `least` primitives. */
static void refit(builder *b, uint32_t at, uint32_t least) {
  const build_node *whole = &b->build_nodes[at];
  if ((whole->tag & UNIT) || whole->count < least) return;
  const uint32_t pair = whole->link;
  refit(b, 2 * pair, least);
  refit(b, 2 * pair + 1, least);
  collapse_finish(b, at, pair);
}

/* The largest subtrees with fewer than TASK_MIN primitives. */
static void list_small(optimizer *o, uint32_t at) {
  const build_node *b = &o->b->build_nodes[at];
  if (b->count < TASK_MIN) {
    o->list[o->listed++] = at;
    return;
  }
  if (b->tag & UNIT) return;
  list_small(o, 2 * b->link);
  list_small(o, 2 * b->link + 1);
}

static void refit_listed(void *argument, size_t piece) {
  const optimizer *o = argument;
  refit(o->b, o->list[piece], 0);
}

static void refit_all(optimizer *o) {
  o->listed = 0;
  list_small(o, 0);
  pool_run(o->b->threads, o->listed, refit_listed, o);
  refit(o->b, 0, TASK_MIN);
}

static void list_below(optimizer *o, uint32_t at) {
  const build_node *b = &o->b->build_nodes[at];
  if (b->tag & UNIT) return;
  adopt(o, at);
  for (uint32_t i = 0; i < 2; i++) {
    o->touched[2 * b->link + i] = 0;
    o->list[o->listed++] = 2 * b->link + i;
    list_below(o, 2 * b->link + i);
  }
}

static void find_moves(void *argument, size_t first, size_t end) {
  const optimizer *o = argument;
  for (size_t i = first; i < end; i++) o->moves[i] = find_move(o, (uint32_t)i);
}

static void round_of_moves(optimizer *o) {
  o->listed = 0;
  list_below(o, 0);
  pool_loop(o->b->threads, o->listed, MOVES_A_PIECE, find_moves, o);
  const uint32_t gaining = keep_gaining(o->moves, o->listed);
  qsort(o->moves, gaining, sizeof *o->moves, move_order);
  for (uint32_t i = 0; i < gaining; i++) make_move(o, &o->moves[i]);
  refit_all(o);
}

/* Repeats rounds while each saves more than a thousandth of the wide BVH's cost. */
static void optimize(optimizer *o) {
  const float *cost = &o->b->build_nodes[0].cost[0];
  float before = INFINITY;
  for (int round = 0; round < ROUNDS && *cost < before * 0.999f; round++) {
    before = *cost;
    round_of_moves(o);
  }
}

bool reinsert(builder *b) {
  optimizer o = {.b = b};
  const size_t build_nodes = 2 * (size_t)b->next_pair;
  o.parent = bvh_allocate(build_nodes, sizeof *o.parent);
  o.touched = bvh_allocate(build_nodes, sizeof *o.touched);
  o.list = bvh_allocate(build_nodes, sizeof *o.list);
  o.moves = bvh_allocate(build_nodes, sizeof *o.moves);
  const bool allocated = o.parent && o.touched && o.list && o.moves;
  if (allocated) {
    o.parent[0] = 0;
    o.touched[0] = 0;
    optimize(&o);
  }
  os_free(o.parent);
  os_free(o.touched);
  os_free(o.list);
  os_free(o.moves);
  return allocated;
}
