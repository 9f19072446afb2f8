/* Ear clipping, in the coordinate plane in which the polygon's projection is largest, by exact signs.
 *
 * An ear is a convex corner whose triangle holds no other corner. If a triangle holds corners, one of them is not
 * convex: the one that is farthest from the cut. So only those are kept, in a tree of bounds. A corner that is no ear
 * waits at a corner that its triangle holds. It is tested again only when that one is cut or becomes convex, or when
 * its own triangle changes. Which of several it waits at is left to chance. Then few corners are tested often, whatever
 * the order in which the others go. */
#include "program/mesh/polygon.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>

enum { GRID_BITS = 51 }; /* coordinates are whole numbers up to 2^51, so that signs are exact */

static const uint32_t none = UINT32_MAX;

typedef struct corner {
  int64_t x, y; /* projected; counter-clockwise */
  uint32_t previous, next;
  uint32_t leaf;                    /* in the tree; 0: it is convex */
  uint32_t waits_at;                /* none: nowhere */
  uint32_t waiting, earlier, later; /* the first that waits here; the neighbours where this one waits */
  bool queued;
} corner;

typedef struct bounds {
  int64_t x0, y0, x1, y1;
} bounds;

static const bounds nothing = {INT64_MAX, INT64_MAX, INT64_MIN, INT64_MIN};

/* A corner that is not convex, and its place along a curve through all of them. */
typedef struct reflex {
  uint64_t place;
  uint32_t corner;
} reflex;

typedef struct clipper {
  corner *corners; /* and one more, at which those without an area wait until no ear is left */
  uint32_t count, left;
  reflex *reflex; /* along the curve */
  bounds *tree;   /* of these: node i has the children 2i and 2i + 1, and the leaves are the last ones */
  uint32_t reflex_count, leaves;
  uint32_t *queue; /* a ring of the corners to test */
  uint32_t first, queued;
  uint64_t chance;
  uint32_t *out;
} clipper;

/* ---- the plane ------------------------------------------------------------------ */

/* Newell's normal, which is also correct for concave and nearly planar polygons. */
static void polygon_normal(const float *points, size_t n, double normal[3]) {
  normal[0] = normal[1] = normal[2] = 0;
  for (size_t i = 0; i < n; i++) {
    const float *a = points + 3 * i, *b = points + 3 * ((i + 1) % n);
    for (int k = 0; k < 3; k++) {
      const int y = (k + 1) % 3, z = (k + 2) % 3;
      normal[k] += ((double)a[y] - (double)b[y]) * ((double)a[z] + (double)b[z]);
    }
  }
}

/* The scale that makes coordinates whole numbers of GRID_BITS bits. Floats lose nothing by it, unless they are 2^28
 * times smaller than the largest. */
static double grid_scale(const float *points, size_t n) {
  double most = 0;
  int exponent = 0;
  for (size_t i = 0; i < 3 * n; i++)
    if (isfinite(points[i]) && fabs((double)points[i]) > most) most = fabs((double)points[i]);
  frexp(most, &exponent);
  return ldexp(1, GRID_BITS - exponent);
}

static int64_t on_grid(float value, double scale) { return isfinite(value) ? (int64_t)rint((double)value * scale) : 0; }

static void project(const float *points, size_t n, corner *corners) {
  double normal[3];
  int axis = 0;
  polygon_normal(points, n, normal);
  for (int k = 1; k < 3; k++)
    if (fabs(normal[k]) > fabs(normal[axis])) axis = k;
  const double scale = grid_scale(points, n);
  for (size_t i = 0; i < n; i++) {
    const int64_t y = on_grid(points[3 * i + (size_t)(axis + 2) % 3], scale);
    corners[i] = (corner){.x = on_grid(points[3 * i + (size_t)(axis + 1) % 3], scale),
                          .y = normal[axis] < 0 ? -y : y,
                          .previous = (uint32_t)((i + n - 1) % n),
                          .next = (uint32_t)((i + 1) % n),
                          .waits_at = none,
                          .waiting = none};
  }
}

/* The sign of a b - c d, of factors up to 2^52, in digits of 26 bits. */
static int compare_products(int64_t a, int64_t b, int64_t c, int64_t d) {
  const int64_t base = (int64_t)1 << 26, mask = base - 1;
  const int64_t al = a & mask, bl = b & mask, cl = c & mask, dl = d & mask;
  const int64_t ah = (a - al) / base, bh = (b - bl) / base, ch = (c - cl) / base, dh = (d - dl) / base;
  const int64_t low = al * bl - cl * dl, low_digit = low & mask;
  const int64_t middle = ah * bl + al * bh - ch * dl - cl * dh + (low - low_digit) / base, digit = middle & mask;
  const int64_t high = ah * bh - ch * dh + (middle - digit) / base;
  if (high != 0) return high > 0 ? 1 : -1;
  return (digit | low_digit) != 0;
}

/* The sign of the area of a, b and a point: positive where it is to the left of a b. */
static int turn(const corner *a, const corner *b, int64_t x, int64_t y) {
  const int64_t bx = b->x - a->x, by = b->y - a->y, cx = x - a->x, cy = y - a->y;
  const double left = (double)bx * (double)cy, right = (double)by * (double)cx;
  if (left != right) return left > right ? 1 : -1; /* each is rounded, and rounding keeps the order */
  return compare_products(bx, cy, by, cx);
}

static int turn_at(const clipper *c, uint32_t i) {
  const corner *b = &c->corners[i], *after = &c->corners[b->next];
  return turn(&c->corners[b->previous], b, after->x, after->y);
}

static bool same_place(const corner *a, const corner *b) { return a->x == b->x && a->y == b->y; }

/* ---- the tree of corners that are not convex --------------------------------------- */

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static bounds merged(const bounds *a, const bounds *b) {
  return (bounds){least(a->x0, b->x0), least(a->y0, b->y0), most(a->x1, b->x1), most(a->y1, b->y1)};
}

/* The bits of a number with a zero before each. */
static uint64_t spread(uint64_t bits) {
  static const uint64_t masks[] = {0x0000FFFF0000FFFFu, 0x00FF00FF00FF00FFu, 0x0F0F0F0F0F0F0F0Fu, 0x3333333333333333u,
                                   0x5555555555555555u};
  for (int i = 0; i < 5; i++) bits = (bits | bits << (16 >> i)) & masks[i];
  return bits;
}

static int by_place(const void *a, const void *b) {
  const reflex *p = a, *q = b;
  if (p->place != q->place) return p->place < q->place ? -1 : 1;
  return p->corner < q->corner ? -1 : p->corner > q->corner;
}

static void sort_along_curve(clipper *c) {
  const int dropped = GRID_BITS + 1 - 32; /* of the bits of a coordinate, so that both fit into a place */
  const int64_t bias = (int64_t)1 << GRID_BITS;
  for (uint32_t i = 0; i < c->reflex_count; i++) {
    const corner *own = &c->corners[c->reflex[i].corner];
    const uint64_t x = (uint64_t)(own->x + bias) >> dropped, y = (uint64_t)(own->y + bias) >> dropped;
    c->reflex[i].place = spread(x) | spread(y) << 1;
  }
  qsort(c->reflex, c->reflex_count, sizeof *c->reflex, by_place);
}

static void grow_tree(clipper *c) {
  sort_along_curve(c);
  for (uint32_t i = 0; i < c->leaves; i++) {
    bounds *leaf = &c->tree[c->leaves + i];
    *leaf = nothing;
    if (i >= c->reflex_count) continue;
    corner *own = &c->corners[c->reflex[i].corner];
    *leaf = (bounds){own->x, own->y, own->x, own->y};
    own->leaf = c->leaves + i;
  }
  for (uint32_t i = c->leaves - 1; i > 0; i--) c->tree[i] = merged(&c->tree[2 * i], &c->tree[2 * i + 1]);
}

static void remove_leaf(clipper *c, uint32_t leaf) {
  c->tree[leaf] = nothing;
  for (uint32_t i = leaf / 2; i > 0; i /= 2) c->tree[i] = merged(&c->tree[2 * i], &c->tree[2 * i + 1]);
}

/* Whether the bounds are wholly to the right of a b: their corner that is farthest to the left is. */
static bool is_right_of(const bounds *own, const corner *a, const corner *b) {
  return turn(a, b, b->y > a->y ? own->x0 : own->x1, b->x > a->x ? own->y1 : own->y0) < 0;
}

/* A corner of the tree that is in or on the triangle; none: there is none. Corners where one of a, b and c is do not
 * count: there the polygon touches itself, as where a hole is cut open. */
static uint32_t find_within(clipper *c, const corner *p, const corner *q, const corner *r) {
  const int64_t x0 = least(p->x, least(q->x, r->x)), x1 = most(p->x, most(q->x, r->x));
  const int64_t y0 = least(p->y, least(q->y, r->y)), y1 = most(p->y, most(q->y, r->y));
  uint32_t stack[64] = {1}, depth = 1; /* two at each depth of the tree */
  while (depth > 0) {
    const uint32_t node = stack[--depth];
    const bounds *own = &c->tree[node];
    if (own->x0 > x1 || own->x1 < x0 || own->y0 > y1 || own->y1 < y0) continue;
    if (is_right_of(own, p, q) || is_right_of(own, q, r) || is_right_of(own, r, p)) continue;
    if (node < c->leaves) {
      c->chance = c->chance * 6364136223846793005u + 1442695040888963407u;
      const uint32_t second = (uint32_t)(c->chance >> 63);
      stack[depth++] = 2 * node + second;
      stack[depth++] = 2 * node + 1 - second;
      continue;
    }
    const uint32_t found = c->reflex[node - c->leaves].corner;
    const corner *there = &c->corners[found];
    if (!same_place(there, p) && !same_place(there, q) && !same_place(there, r)) return found;
  }
  return none;
}

/* ---- asking and waiting -------------------------------------------------------------- */

static void stop_waiting(clipper *c, uint32_t i) {
  corner *own = &c->corners[i];
  if (own->waits_at == none) return;
  *(own->earlier == none ? &c->corners[own->waits_at].waiting : &c->corners[own->earlier].later) = own->later;
  if (own->later != none) c->corners[own->later].earlier = own->earlier;
  own->waits_at = none;
}

static void wait_at(clipper *c, uint32_t i, uint32_t place) {
  corner *own = &c->corners[i], *there = &c->corners[place];
  own->waits_at = place;
  own->earlier = none;
  own->later = there->waiting;
  if (own->later != none) c->corners[own->later].earlier = i;
  there->waiting = i;
}

static void ask_later(clipper *c, uint32_t i) {
  stop_waiting(c, i);
  if (c->corners[i].queued) return;
  c->corners[i].queued = true;
  c->queue[(c->first + c->queued++) % c->count] = i;
}

static void leave_tree(clipper *c, uint32_t i) {
  corner *own = &c->corners[i];
  if (own->leaf == 0) return;
  remove_leaf(c, own->leaf);
  own->leaf = 0;
  while (own->waiting != none) ask_later(c, own->waiting);
}

/* ---- clipping ---------------------------------------------------------------------------- */

static void write_triangle(clipper *c, uint32_t i) {
  *c->out++ = c->corners[i].previous;
  *c->out++ = i;
  *c->out++ = c->corners[i].next;
}

static void cut(clipper *c, uint32_t i) {
  const uint32_t sides[] = {c->corners[i].previous, c->corners[i].next};
  write_triangle(c, i);
  stop_waiting(c, i);
  leave_tree(c, i);
  c->corners[sides[0]].next = sides[1];
  c->corners[sides[1]].previous = sides[0];
  c->left--;
  for (int k = 0; k < 2; k++) {
    if (turn_at(c, sides[k]) > 0) leave_tree(c, sides[k]);
    ask_later(c, sides[k]);
  }
}

static void ask(clipper *c, uint32_t i) {
  const corner *own = &c->corners[i];
  const int sign = turn_at(c, i);
  if (sign < 0) return; /* tested again when a neighbour is cut */
  const uint32_t found = sign == 0 ? c->count : find_within(c, &c->corners[own->previous], own, &c->corners[own->next]);
  if (found == none)
    cut(c, i);
  else
    wait_at(c, i, found);
}

/* If no corner is an ear, one without an area is cut; else the polygon crosses itself, and any corner is. */
static void clip_ears(clipper *c) {
  uint32_t there = 0; /* a corner that is not cut */
  for (uint32_t i = 1; i <= c->count; i++) ask_later(c, i % c->count);
  while (c->left > 3) {
    uint32_t i = there;
    if (c->queued > 0) {
      i = c->queue[c->first];
      c->first = (c->first + 1) % c->count;
      c->queued--;
      c->corners[i].queued = false;
      there = c->corners[i].next;
      ask(c, i);
      continue;
    }
    if (c->corners[c->count].waiting != none) i = c->corners[c->count].waiting;
    there = c->corners[i].next;
    cut(c, i);
  }
  write_triangle(c, there);
}

static int split_concave(clipper *c) {
  for (c->leaves = 1; c->leaves < c->reflex_count;) c->leaves *= 2;
  c->tree = malloc(2 * (size_t)c->leaves * sizeof *c->tree);
  c->queue = malloc(c->count * sizeof *c->queue);
  const bool has_space = c->tree != NULL && c->queue != NULL;
  if (has_space) {
    grow_tree(c);
    clip_ears(c);
  }
  free(c->tree);
  free(c->queue);
  return has_space ? 0 : -1;
}

static void write_fan(uint32_t count, uint32_t *out) {
  for (uint32_t i = 1; i + 1 < count; i++, out += 3) {
    out[0] = 0;
    out[1] = i;
    out[2] = i + 1;
  }
}

static int split(clipper *c) {
  for (uint32_t i = 0; i < c->count; i++)
    if (turn_at(c, i) <= 0) c->reflex[c->reflex_count++].corner = i;
  if (c->reflex_count > 0) return split_concave(c);
  write_fan(c->count, c->out);
  return 0;
}

int polygon_split(const float *points, size_t n, uint32_t *triangles) {
  if (n == 3) return write_fan(3, triangles), 0;
  if (n >= none / 2) return -1;
  clipper c = {.count = (uint32_t)n, .left = (uint32_t)n, .chance = 1, .out = triangles};
  c.corners = malloc((n + 1) * sizeof *c.corners);
  c.reflex = malloc(n * sizeof *c.reflex);
  const bool has_space = c.corners != NULL && c.reflex != NULL;
  if (has_space) {
    project(points, n, c.corners);
    c.corners[n] = (corner){.waits_at = none, .waiting = none};
  }
  const int failed = has_space ? split(&c) : -1;
  free(c.corners);
  free(c.reflex);
  return failed;
}
