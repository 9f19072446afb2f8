/* Judges the triangles around a shared edge or vertex together, as a patch.
 *
 * If a ray passes a shared edge or vertex within the error bound, every triangle there is undecided. The contract still
 * guarantees that the ray does not pass between them. Proof: a kernel decides by the exact signs (with the tie rule) of
 * vertices that are moved by at most their error. Each vertex is moved in the same way in all its triangles. Count the
 * hits of a set of triangles by sign, +1 where the ray runs along the normal, -1 against it. This number is the winding
 * number of the set's boundary around the ray's point. It cannot change while the vertices move, unless an edge of the
 * boundary moves over the point. Suppose that every edge that can do so is cancelled by its reverse in another triangle
 * of the set (the patch is closed around the ray). Then the number is the same for all allowed positions. One of these
 * is the vertices rounded to float, where the number is counted exactly. Where the triangles' windings differ, the
 * argument holds for the parity. */
#include "check/oracle_parts.h"

typedef struct corner_edge {
  const float *from, *to;
  bool open; /* the edge may move over the ray's point */
} corner_edge;

typedef struct member {
  oracle_item *item;
  corner_edge edge[3];
  int turn; /* signed hit of the rounded vertices: 1, -1, 0 */
  uint32_t root;
} member;

static bool same_point(const float *a, const float *b) { return a[0] == b[0] && a[1] == b[1] && a[2] == b[2]; }

/* Whether the segment's box, with its errors, excludes the ray's point. */
static bool is_apart(const oracle_view *view, int j, int k) {
  const double *x = view->x, *y = view->y, *ex = view->ex, *ey = view->ey;
  return (x[j] > ex[j] && x[k] > ex[k]) || (x[j] < -ex[j] && x[k] < -ex[k]) || (y[j] > ey[j] && y[k] > ey[k]) ||
         (y[j] < -ey[j] && y[k] < -ey[k]);
}

static void describe(oracle_item *item, uint32_t index, member *m) {
  const slab_triangle *triangle = item->shape;
  const float *point[3] = {triangle->a, triangle->b, triangle->c};
  oracle_view view;
  int turns = 0;
  (void)oracle_triangle_view(item->line, triangle, &view);
  m->item = item;
  m->root = index;
  for (int i = 0; i < 3; i++) {
    const int j = (i + 1) % 3, k = (i + 2) % 3;
    /* an edge between equal points is no boundary; where products underflow any edge may have any sign */
    const bool moves = !is_apart(&view, j, k) || fabs(view.edge[i]) <= 0x1p-140;
    const bool open = view.sign[i] == 0 && moves && !same_point(point[j], point[k]);
    m->edge[i] = (corner_edge){point[j], point[k], open};
    turns += oracle_edge_sign((double)(float)view.x[j], (double)(float)view.y[j], (double)(float)view.x[k],
                              (double)(float)view.y[k]);
  }
  m->turn = turns == 3 ? 1 : turns == -3 ? -1 : 0;
}

/* 1: the same edge in the same direction, -1: its reverse, 0: another. */
static int compare_edges(const corner_edge *a, const corner_edge *b) {
  if (same_point(a->from, b->from) && same_point(a->to, b->to)) return 1;
  return same_point(a->from, b->to) && same_point(a->to, b->from) ? -1 : 0;
}

static bool are_joined(const member *a, const member *b) {
  if (a->item->line != b->item->line) return false; /* edges that meet outside are not watertight */
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      if (a->edge[i].open && b->edge[j].open && compare_edges(&a->edge[i], &b->edge[j]) != 0) return true;
  return false;
}

/* Sets every member's root to the least index of its patch. */
static void join(member *members, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    for (uint32_t j = 0; j < i; j++) {
      const uint32_t a = members[i].root, b = members[j].root;
      if (a == b || !are_joined(&members[i], &members[j])) continue;
      for (uint32_t k = 0; k <= i; k++)
        if (members[k].root == (a > b ? a : b)) members[k].root = a < b ? a : b;
    }
  }
}

/* Counts how the open edges of a patch cancel. */
typedef struct closure {
  bool by_sign, by_parity;
} closure;

static void close_edge(const member *members, uint32_t count, uint32_t root, const corner_edge *edge, closure *closed) {
  int sum = 0, uses = 0;
  for (uint32_t i = 0; i < count; i++) {
    for (int e = 0; e < 3 && members[i].root == root; e++) {
      const int same = compare_edges(edge, &members[i].edge[e]);
      sum += same;
      uses += same != 0;
    }
  }
  closed->by_sign = closed->by_sign && sum == 0;
  closed->by_parity = closed->by_parity && uses % 2 == 0;
}

static closure close_patch(const member *members, uint32_t count, uint32_t root) {
  closure closed = {true, true};
  for (uint32_t i = 0; i < count; i++)
    for (int e = 0; e < 3 && members[i].root == root; e++)
      if (members[i].edge[e].open) close_edge(members, count, root, &members[i].edge[e], &closed);
  return closed;
}

/* Hits along the normals - hits against them = winding. If all triangles face the same way, this gives their number. */
static oracle_patch count_hits(const member *members, uint32_t count, uint32_t root) {
  const closure closed = close_patch(members, count, root);
  uint32_t all = 0, odd = 0;
  int winding = 0;
  bool front = false, back = false;
  for (uint32_t i = 0; i < count; i++) {
    if (members[i].root != root) continue;
    all++;
    winding += members[i].turn;
    odd ^= members[i].turn != 0;
    front = front || members[i].item->facing >= 0;
    back = back || members[i].item->facing <= 0;
  }
  const uint32_t least = (uint32_t)(winding < 0 ? -winding : winding);
  if (closed.by_sign && !(front && back)) return (oracle_patch){least, least, 1};
  if (closed.by_sign) return (oracle_patch){least, all - (all - least) % 2, 2};
  if (closed.by_parity) return (oracle_patch){odd, all - (all - odd) % 2, 2};
  return (oracle_patch){0, all, 1};
}

uint32_t oracle_patches(oracle_item *items, size_t count, oracle_patch patches[ORACLE_PATCH_LIMIT]) {
  member members[ORACLE_PATCH_LIMIT];
  uint32_t joinable = 0, used = 0;
  for (size_t i = 0; i < count; i++) {
    items[i].patch = -1;
    if (items[i].joinable) joinable++;
  }
  if (joinable > ORACLE_PATCH_LIMIT) return 0;
  uint32_t n = 0;
  for (size_t i = 0; i < count; i++) {
    if (items[i].joinable) {
      describe(&items[i], n, &members[n]);
      n++;
    }
  }
  join(members, n);
  for (uint32_t i = 0; i < n; i++) {
    if (members[i].root != i) continue;
    for (uint32_t k = i; k < n; k++)
      if (members[k].root == i) members[k].item->patch = (int)used;
    patches[used++] = count_hits(members, n, i);
  }
  return used;
}
