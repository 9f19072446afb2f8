/* Reinsertion: subtrees are taken out and put where they enlarge the other nodes least. Meister, Bittner, Parallel
 * Reinsertion for Bounding Volume Hierarchy Optimization (2018): every place is sought in one and the same BVH, in
 * parallel; then the moves are made one by one, the best first, those that touch what was touched already left out.
 * So the result does not depend on the number of threads.
 *
 * The BVH may become deeper; whoever calls checks that. */
#include <stdlib.h>
#include <string.h>

#include "parts.h"

/* What moves as a whole, as do its parts: tips, and what the collapse has joined into leaves, since the blocks of those
 * are best as they are. */
#define UNIT (BUILD_NODE_BOTTOM | BUILD_NODE_LEAF)

enum { ROUNDS = 8, VISITS_MAX = 2000, STACK_MAX = 256 };

typedef struct move {
  float gain; /* in area of all inner nodes; 0: stays */
  uint32_t from, to;
  uint32_t rank; /* of `from` in the list: names of branches depend on the threads, the BVH's shape does not */
} move;

typedef struct optimizer {
  builder *b;
  uint32_t *parent; /* by branch */
  uint8_t *touched; /* by a move of this round; by branch */
  uint32_t *list;   /* all branches but the root, down to units */
  uint32_t listed;
  move *moves;
} optimizer;

typedef struct place {
  float gain; /* were the subtree put here, before this node is enlarged */
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

/* The best place at or below `start`, where `gain` is what taking the subtree out has gained up to there. */
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

/* From the subtree's sibling upward, into every other subtree on the way. */
static move find_move(const optimizer *o, uint32_t rank) {
  const build_node *build_nodes = o->b->build_nodes;
  const measure *m = &o->b->measure;
  const uint32_t from = o->list[rank];
  const aabb moved = build_node_aabb(&build_nodes[from]);
  const float moved_area = aabb_area(m, moved);
  const uint32_t parent = o->parent[from];
  move best = {0.0f, from, from, rank};
  aabb rest = build_node_aabb(&build_nodes[from ^ 1]); /* of the ancestor without the subtree */
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

/* Whether `to` lies outside the subtree that moves, as it did when the place was sought. */
static bool lies_outside(const optimizer *o, uint32_t to, uint32_t from) {
  while (to != 0 && to != from) to = o->parent[to];
  return to == 0;
}

/* Takes the subtree out of its ancestors' bounds, its parent becoming as large as its sibling; returns the area that
 * they lose, the parent all of its own. */
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

/* The area that the ancestors of `to`, but for one, gain by the subtree; with a new node around it and `to`. */
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

/* The sibling takes the parent's place; the pair, now with `to` in the sibling's stead, that of `to`. */
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

/* Unless it touches what was touched, or no longer gains. */
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

static void refit(builder *b, uint32_t at) {
  const build_node *whole = &b->build_nodes[at];
  if (whole->tag & UNIT) return;
  const uint32_t pair = whole->link;
  if (whole->count >= TASK_MIN) {
    OMP(omp task default(none) firstprivate(b, pair))
    refit(b, 2 * pair);
    refit(b, 2 * pair + 1);
    OMP(omp taskwait)
  } else {
    refit(b, 2 * pair);
    refit(b, 2 * pair + 1);
  }
  build_node_finish(b, at, pair);
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

static void round_of_moves(optimizer *o) {
  o->listed = 0;
  list_below(o, 0);
  OMP(omp parallel num_threads(o->b->threads)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp for schedule(dynamic, 64))
    for (uint32_t i = 0; i < o->listed; i++) o->moves[i] = find_move(o, i);
  }
  const uint32_t gaining = keep_gaining(o->moves, o->listed);
  qsort(o->moves, gaining, sizeof *o->moves, move_order);
  for (uint32_t i = 0; i < gaining; i++) make_move(o, &o->moves[i]);
  OMP(omp parallel num_threads(o->b->threads)) {
    ARITHMETIC callers = arithmetic_begin();
    OMP(omp single)
    refit(o->b, 0);
  }
}

/* Rounds for as long as one saves more than a thousandth of the wide BVH's cost. */
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
  free(o.parent);
  free(o.touched);
  free(o.list);
  free(o.moves);
  return allocated;
}
