/* Finds the edges at which a scene's meshes end, and builds trees over them (kernels/data/boundary.h).
 *
 * An edge belongs to the boundary of a geometry as often as its two directions differ in number. Vertices are equal
 * where their bits are, but for the sign of 0. Every vertex then has as many edges that begin there as end there: the
 * boundary is a sum of closed loops.
 *
 * A tree halves the loops by where they are, and a loop by its edges. Each inner chain of edges gets its terms about a
 * centre, of the fan of triangles from there. With A a triangle's area vector, r its points and R from the point to the
 * centre, its solid angle is A.f + (r.grad) A.f + (r.grad)^2 A.f / 2 + ..., of f = R / R^3, averaged over r. Sums of
 * the tensors rA and rrA give, symmetric and without traces: -3 R'QR / R^5 and 15/2 O(R, R, R) / R^7. The first has no
 * trace, since the planes of all triangles go through the centre. Of the next, rrrA / 6, 2.8 / R^5 times its norm is
 * usual: the root of the mean square over directions. */
#include "scene/boundary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "scene/models.h"
#include "shapes/values.h"

/* What the terms that stand for a chain are off by, in turns. */
#define CHAIN_ERROR 0x1p-22
#define PI 3.14159265358979323846

/* ---- corners: equal positions have one number ---- */

#define CORNER_NONE UINT32_MAX

typedef struct corners {
  float (*at)[3];
  uint32_t *slots; /* a number, or CORNER_NONE */
  size_t count, mask;
} corners;

static void corners_free(corners *c) {
  free(c->at);
  free(c->slots);
  *c = (corners){0};
}

static slab_status corners_make(corners *c, size_t most) {
  size_t slots = 8;
  while (slots < 2 * most) slots *= 2;
  c->at = malloc((most + 1) * sizeof *c->at);
  c->slots = malloc(slots * sizeof *c->slots);
  c->mask = slots - 1;
  if (c->at == NULL || c->slots == NULL) return fail_memory(slots * sizeof *c->slots, "the corners of a mesh");
  memset(c->slots, 0xFF, slots * sizeof *c->slots);
  return SLAB_OK;
}

static uint64_t hash_of(const float at[3]) {
  uint32_t bits[3];
  memcpy(bits, at, sizeof bits);
  uint64_t h = bits[0] * UINT64_C(0x9E3779B97F4A7C15) ^ bits[1] * UINT64_C(0xC2B2AE3D27D4EB4F);
  h = (h ^ h >> 29 ^ bits[2]) * UINT64_C(0xBF58476D1CE4E5B9);
  return h ^ h >> 32;
}

/* 0.0f + x: -0 is 0. */
static uint32_t corner_number(corners *c, const float corner[3]) {
  const float at[3] = {0.0f + corner[0], 0.0f + corner[1], 0.0f + corner[2]};
  size_t slot = hash_of(at) & c->mask;
  while (c->slots[slot] != CORNER_NONE && memcmp(c->at[c->slots[slot]], at, sizeof at) != 0)
    slot = (slot + 1) & c->mask;
  if (c->slots[slot] == CORNER_NONE) {
    c->slots[slot] = (uint32_t)c->count;
    memcpy(c->at[c->count++], at, sizeof at);
  }
  return c->slots[slot];
}

/* ---- edges whose directions differ in number ---- */

typedef struct edge {
  uint32_t from, to;
} edge;

typedef struct edge_list {
  edge *list;
  size_t count, room;
} edge_list;

static slab_status edges_add(edge_list *e, edge one) {
  if (e->count == e->room) {
    const size_t room = 2 * e->room + 64;
    edge *list = realloc(e->list, room * sizeof *list);
    if (list == NULL) return fail_memory(room * sizeof *list, "the edges of a boundary");
    e->list = list;
    e->room = room;
  }
  e->list[e->count++] = one;
  return SLAB_OK;
}

/* An edge at its corner of lower number: the other, and in the lowest bit whether it ends here. */
typedef uint64_t end_here;

static int by_other(const void *a, const void *b) {
  const end_here x = *(const end_here *)a, y = *(const end_here *)b;
  return x < y ? -1 : x > y;
}

/* Short lists are sorted here: qsort is a call for each comparison. */
static void sort_ends(end_here *list, size_t n) {
  if (n > 32) {
    qsort(list, n, sizeof *list, by_other);
    return;
  }
  for (size_t i = 1; i < n; i++) {
    const end_here one = list[i];
    size_t k = i;
    for (; k > 0 && list[k - 1] > one; k--) list[k] = list[k - 1];
    list[k] = one;
  }
}

/* Adds what is left of the edges between one corner and each other. */
static slab_status cancel(uint32_t lower, end_here *list, size_t n, edge_list *left) {
  slab_status status = SLAB_OK;
  sort_ends(list, n);
  for (size_t i = 0, next; i < n && status == SLAB_OK; i = next) {
    int64_t out = 0;
    for (next = i; next < n && list[next] >> 1 == list[i] >> 1; next++) out += (list[next] & 1) != 0 ? -1 : 1;
    const uint32_t other = (uint32_t)(list[i] >> 1);
    for (; out > 0 && status == SLAB_OK; out--) status = edges_add(left, (edge){lower, other});
    for (; out < 0 && status == SLAB_OK; out++) status = edges_add(left, (edge){other, lower});
  }
  return status;
}

/* Numbers of the corners of all triangles, three each. Void ones are an edge to and fro, which cancels. */
static slab_status number_corners(const geometry_values *v, uint32_t count, corners *c, uint32_t **numbers, size_t *n) {
  slab_status status = corners_make(c, 3 * (size_t)count);
  *numbers = malloc(3 * (size_t)count * sizeof **numbers + 1);
  *n = 0;
  if (status == SLAB_OK && *numbers == NULL) status = fail_memory(3 * (size_t)count * sizeof **numbers, "a boundary");
  for (uint32_t i = 0; i < count && status == SLAB_OK; i++) {
    for (size_t k = 0; k < 3; k++) (*numbers)[(*n)++] = corner_number(c, values_corner(v, i, k));
  }
  return status;
}

static edge edge_at(const uint32_t *numbers, size_t i) {
  return (edge){numbers[i], numbers[i % 3 == 2 ? i - 2 : i + 1]};
}

/* The edges that are left of triangles' corners. */
static slab_status find_edges(const uint32_t *numbers, size_t n, size_t corner_count, edge_list *left) {
  size_t *begin = calloc(corner_count + 2, sizeof *begin);
  end_here *ends = malloc(n * sizeof *ends + 1);
  slab_status status = SLAB_OK;
  if (begin == NULL || ends == NULL) status = fail_memory(n * sizeof *ends, "the edges of a mesh");
  for (size_t i = 0; i < n && status == SLAB_OK; i++) {
    const edge e = edge_at(numbers, i);
    if (e.from == e.to) continue; /* of a collapsed triangle */
    begin[(e.from < e.to ? e.from : e.to) + 2]++;
  }
  for (size_t c = 0; c < corner_count && status == SLAB_OK; c++) begin[c + 2] += begin[c + 1];
  for (size_t i = 0; i < n && status == SLAB_OK; i++) {
    const edge e = edge_at(numbers, i);
    const bool here = e.to < e.from;
    if (e.from == e.to) continue;
    ends[begin[(here ? e.to : e.from) + 1]++] = (end_here)(here ? e.from : e.to) << 1 | here;
  }
  for (size_t c = 0; c < corner_count && status == SLAB_OK; c++)
    status = cancel((uint32_t)c, ends + begin[c], begin[c + 1] - begin[c], left);
  free(begin);
  free(ends);
  return status;
}

/* ---- loops ---- */

typedef struct loop {
  size_t begin; /* of its vertices, of which the last is the first again */
  size_t edges;
  uint32_t mask;
  double center[3], key; /* key: by which loops are sorted */
} loop;

/* The loops of all geometries. */
typedef struct loops {
  float (*at)[3];
  size_t points, room;
  loop *list;
  size_t count, list_room;
} loops;

static slab_status loops_add_point(loops *l, const float at[3]) {
  if (l->points == l->room) {
    const size_t room = 2 * l->room + 64;
    float(*list)[3] = realloc(l->at, room * sizeof *list);
    if (list == NULL) return fail_memory(room * sizeof *list, "the loops of a boundary");
    l->at = list;
    l->room = room;
  }
  memcpy(l->at[l->points++], at, sizeof *l->at);
  return SLAB_OK;
}

static slab_status loops_add(loops *l, const loop *one) {
  if (l->count == l->list_room) {
    const size_t room = 2 * l->list_room + 16;
    loop *list = realloc(l->list, room * sizeof *list);
    if (list == NULL) return fail_memory(room * sizeof *list, "the loops of a boundary");
    l->list = list;
    l->list_room = room;
  }
  l->list[l->count++] = *one;
  return SLAB_OK;
}

/* Edges by where they begin, of which the first are taken. */
typedef struct leaving {
  size_t *first, *end;
  uint32_t *to;
} leaving;

/* Goes from a corner along edges until it is back. */
static slab_status walk_loop(const corners *c, leaving *at, uint32_t from, loop *one, loops *l) {
  one->begin = l->points;
  one->edges = 0;
  slab_status status = loops_add_point(l, c->at[from]);
  for (uint32_t here = from; status == SLAB_OK && (here != from || one->edges == 0); one->edges++) {
    here = at->to[at->first[here]++];
    status = loops_add_point(l, c->at[here]);
  }
  for (int k = 0; k < 3; k++) one->center[k] = 0.0;
  for (size_t i = 0; i < one->edges && status == SLAB_OK; i++)
    for (int k = 0; k < 3; k++) one->center[k] += (double)l->at[one->begin + i][k] / (double)one->edges;
  return status == SLAB_OK ? loops_add(l, one) : status;
}

static slab_status find_loops(const corners *c, const edge_list *e, uint32_t mask, loops *l) {
  size_t *begin = calloc(2 * c->count + 2, sizeof *begin);
  leaving at = {begin, NULL, malloc(e->count * sizeof *at.to + 1)};
  slab_status status = begin == NULL || at.to == NULL ? fail_memory(e->count * sizeof *at.to, "a boundary") : SLAB_OK;
  if (status == SLAB_OK) {
    at.end = begin + c->count + 1;
    for (size_t i = 0; i < e->count; i++) at.end[e->list[i].from]++;
    for (size_t n = 0, sum = 0; n < c->count; n++) {
      at.first[n] = sum;
      sum += at.end[n];
      at.end[n] = at.first[n];
    }
    for (size_t i = 0; i < e->count; i++) at.to[at.end[e->list[i].from]++] = e->list[i].to;
  }
  for (size_t n = 0; n < c->count && status == SLAB_OK; n++)
    while (at.first[n] < at.end[n] && status == SLAB_OK)
      status = walk_loop(c, &at, (uint32_t)n, &(loop){.mask = mask}, l);
  free(begin);
  free(at.to);
  return status;
}

static slab_status loops_of_mesh(const geometry_values *v, uint32_t count, uint32_t mask, loops *l) {
  corners c = {0};
  edge_list left = {0};
  uint32_t *numbers = NULL;
  size_t n;
  slab_status status =
      count > CORNER_NONE / 3
          ? fail(SLAB_UNSUPPORTED,
                 "the boundary of a mesh of %u triangles is not looked for: 1,431,655,765 are the most", count)
          : number_corners(v, count, &c, &numbers, &n);
  if (status == SLAB_OK) status = find_edges(numbers, n, c.count, &left);
  if (status == SLAB_OK && left.count > 0) status = find_loops(&c, &left, mask, l);
  free(numbers);
  free(left.list);
  corners_free(&c);
  return status;
}

/* ---- trees ---- */

/* Loops, or a chain of edges: between the vertices begin and end. */
typedef struct span {
  bool is_chain;
  size_t begin, end, edges;
} span;

typedef struct builder {
  loops *loops;
  float *values;
  size_t nodes, room;
} builder;

static span span_of_loops(const builder *b, size_t begin, size_t end) {
  span s = {false, begin, end, 0};
  for (size_t i = begin; i < end; i++) s.edges += b->loops->list[i].edges;
  return s;
}

static int by_key(const void *a, const void *b) {
  const loop *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* Halves the edges of loops, sorted along the axis on which they lie apart most. */
static void split_loops(const builder *b, const span *s, span halves[2]) {
  loop *list = b->loops->list;
  double lower[3], upper[3];
  for (int k = 0; k < 3; k++) {
    lower[k] = upper[k] = list[s->begin].center[k];
    for (size_t i = s->begin; i < s->end; i++) {
      lower[k] = fmin(lower[k], list[i].center[k]);
      upper[k] = fmax(upper[k], list[i].center[k]);
    }
  }
  int axis = 0;
  for (int k = 1; k < 3; k++)
    if (upper[k] - lower[k] > upper[axis] - lower[axis]) axis = k;
  for (size_t i = s->begin; i < s->end; i++) list[i].key = list[i].center[axis];
  qsort(list + s->begin, s->end - s->begin, sizeof *list, by_key);
  size_t middle = s->begin + 1;
  for (size_t sum = list[s->begin].edges; middle + 1 < s->end && sum + list[middle].edges / 2 < s->edges / 2; middle++)
    sum += list[middle].edges;
  halves[0] = span_of_loops(b, s->begin, middle);
  halves[1] = span_of_loops(b, middle, s->end);
}

static void split(const builder *b, const span *s, span halves[2]) {
  if (!s->is_chain && s->end - s->begin > 1) {
    split_loops(b, s, halves);
    return;
  }
  const size_t begin = s->is_chain ? s->begin : b->loops->list[s->begin].begin, middle = begin + s->edges / 2;
  halves[0] = (span){true, begin, middle, middle - begin};
  halves[1] = (span){true, middle, begin + s->edges, s->edges - (middle - begin)};
}

/* Up to BOUNDARY_WIDTH parts of a span, the largest halved first. Returns how many. */
static int parts_of(const builder *b, const span *s, span parts[BOUNDARY_WIDTH]) {
  int n = 1;
  parts[0] = *s;
  while (n < BOUNDARY_WIDTH) {
    int largest = 0;
    span halves[2];
    for (int i = 1; i < n; i++)
      if (parts[i].edges > parts[largest].edges) largest = i;
    if (parts[largest].edges < 2) break;
    split(b, &parts[largest], halves);
    parts[largest] = halves[0];
    parts[n++] = halves[1];
  }
  return n;
}

/* ---- terms ---- */

typedef void each_chain(void *, const float (*at)[3], size_t edges);

static void for_each_chain(const builder *b, const span *s, each_chain *one, void *of) {
  const loops *l = b->loops;
  if (s->is_chain) one(of, (const float(*)[3])l->at + s->begin, s->edges);
  for (size_t i = s->begin; i < s->end && !s->is_chain; i++)
    one(of, (const float(*)[3])l->at + l->list[i].begin, l->list[i].edges);
}

/* Of the fans about a centre. Tensors have their first indices for places, the last one for areas. */
typedef struct terms {
  double sum[3], points;
  float lower[3], upper[3], center[3];
  double radius2, dipole[3], quadrupole[3][3], octupole[3][3][3], next[3][3][3][3];
} terms;

static void measure_chain(void *to, const float (*at)[3], size_t edges) {
  terms *t = to;
  for (size_t i = 0; i <= edges; i++)
    for (int k = 0; k < 3; k++) {
      t->sum[k] += (double)at[i][k];
      t->lower[k] = fminf(t->lower[k], at[i][k]);
      t->upper[k] = fmaxf(t->upper[k], at[i][k]);
    }
  t->points += (double)(edges + 1);
}

static void add_triangle(terms *t, const double u[3], const double v[3]) {
  double area[3], m[3], uu = 0.0, vv = 0.0;
  for (int k = 0; k < 3; k++) {
    const int i = (k + 1) % 3, j = (k + 2) % 3;
    area[k] = 0.5 * (u[i] * v[j] - u[j] * v[i]);
    m[k] = u[k] + v[k];
    uu += u[k] * u[k];
    vv += v[k] * v[k];
  }
  t->radius2 = fmax(t->radius2, fmax(uu, vv));
  for (int i = 0; i < 3; i++) {
    t->dipole[i] += area[i];
    for (int j = 0; j < 3; j++) {
      const double two = (u[i] * u[j] + v[i] * v[j] + m[i] * m[j]) / 12.0; /* the mean of r r */
      t->quadrupole[i][j] += m[i] / 3.0 * area[j];
      for (int k = 0; k < 3; k++) {
        t->octupole[i][j][k] += two * area[k];
        for (int l = 0; l < 3; l++) t->next[i][j][k][l] += two * m[k] / 3.0 * area[l]; /* about */
      }
    }
  }
}

/* From the last vertex it goes back along the chord. */
static void add_chain(void *to, const float (*at)[3], size_t edges) {
  terms *t = to;
  double u[3], v[3];
  for (size_t i = 0; i <= edges; i++) {
    const size_t next = i < edges ? i + 1 : 0;
    for (int k = 0; k < 3; k++) {
      u[k] = (double)at[i][k] - (double)t->center[k];
      v[k] = (double)at[next][k] - (double)t->center[k];
    }
    add_triangle(t, u, v);
  }
}

static void find_terms(const builder *b, const span *s, terms *t) {
  *t = (terms){.lower = {INFINITY, INFINITY, INFINITY}, .upper = {-INFINITY, -INFINITY, -INFINITY}};
  for_each_chain(b, s, measure_chain, t);
  for (int k = 0; k < 3; k++) t->center[k] = (float)(t->sum[k] / t->points);
  for_each_chain(b, s, add_chain, t);
}

/* The norm of what the terms leave out, symmetric. */
static double next_of(const terms *t) {
  double square = 0.0;
  for (int n = 0; n < 81; n++) {
    const int i = n / 27, j = n / 9 % 3, k = n / 3 % 3, l = n % 3;
    const double of = 0.25 * (t->next[i][j][k][l] + t->next[l][j][k][i] + t->next[i][l][k][j] + t->next[i][j][l][k]);
    square += of * of;
  }
  return sqrt(square);
}

/* The distance from which on the terms are right by CHAIN_ERROR. What they leave out begins with `next`, twice the
 * usual error of a direction; and then with r^4 A / 24, which is taken for 4.2 / distance^6 of r^2 times the terms
 * before: of a flat hole every other term is 0. There the terms are small, so that eight of them fit in 32 bits. In
 * steps of a 16th: roots are not the same everywhere. */
static double reach_of(const terms *t) {
  const double radius = sqrt(t->radius2), next = next_of(t) / (4.0 * PI);
  double sizes = 0.0, third = 0.0, reach = 2.0 * radius;
  for (int i = 0; i < 3; i++) {
    sizes += fabs(t->dipole[i]) * radius;
    for (int j = 0; j < 3; j++) {
      sizes += fabs(t->quadrupole[i][j]);
      for (int k = 0; k < 3; k++) third += t->octupole[i][j][k] * t->octupole[i][j][k];
    }
  }
  third = sqrt(third);
  const double last = third * t->radius2 / (4.0 * PI) + next * radius;
  if (radius > 0.0) sizes += 9.0 * third / radius;
  for (; radius > 0.0; reach *= 1.0625) {
    const double square = reach * reach, left = 5.6 * next * reach + 4.2 * last * (1.0 + 2.0 * radius / reach);
    if (sizes <= square * radius && left <= CHAIN_ERROR * square * square * square) break;
  }
  return reach;
}

/* A symmetric tensor of the third order without its traces. */
static void harmonic_of(const terms *t, double of[3][3][3]) {
  double trace[3] = {0.0, 0.0, 0.0};
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++) {
        of[i][j][k] = (t->octupole[i][j][k] + t->octupole[k][j][i] + t->octupole[i][k][j]) / 3.0;
        if (i == j) trace[k] += of[i][j][k];
      }
  for (int i = 0; i < 3; i++)
    for (int j = 0; j < 3; j++)
      for (int k = 0; k < 3; k++)
        of[i][j][k] -= ((i == j ? trace[k] : 0.0) + (i == k ? trace[j] : 0.0) + (j == k ? trace[i] : 0.0)) / 5.0;
}

static void write_terms(const terms *t, float *child) {
  static const int two[5][2] = {{0, 0}, {1, 1}, {0, 1}, {0, 2}, {1, 2}};
  static const int three[7][3] = {{0, 0, 0}, {0, 1, 1}, {1, 1, 1}, {0, 0, 1}, {0, 0, 2}, {1, 1, 2}, {0, 1, 2}};
  const double reach = (double)(float)reach_of(t), square = reach * reach * 4.0 * PI;
  const double unit = reach > 0.0 ? -1.0 / square : 0.0;
  double of[3][3][3];
  for (int k = 0; k < 3; k++) {
    child[(BOUNDARY_CENTER + k) * BOUNDARY_WIDTH] = t->center[k];
    child[(BOUNDARY_DIPOLE + k) * BOUNDARY_WIDTH] = (float)(unit * t->dipole[k]);
    child[(BOUNDARY_UPPER + k) * BOUNDARY_WIDTH] = t->upper[k];
    if (k < 2) child[(BOUNDARY_LOWER + k) * BOUNDARY_WIDTH] = t->lower[k];
  }
  child[BOUNDARY_REACH * BOUNDARY_WIDTH] = (float)reach;
  for (int n = 0; n < 5 && reach > 0.0; n++) {
    const double q = 0.5 * (t->quadrupole[two[n][0]][two[n][1]] + t->quadrupole[two[n][1]][two[n][0]]);
    child[(BOUNDARY_QUADRUPOLE + n) * BOUNDARY_WIDTH] = (float)(-3.0 * unit / reach * q);
  }
  harmonic_of(t, of);
  for (int n = 0; n < 7 && reach > 0.0; n++)
    child[(BOUNDARY_OCTUPOLE + n) * BOUNDARY_WIDTH] =
        (float)(7.5 * unit / (reach * reach) * of[three[n][0]][three[n][1]][three[n][2]]);
}

/* ---- nodes ---- */

static void write_ends(const builder *b, const span *s, float *child) {
  const size_t begin = s->is_chain ? s->begin : b->loops->list[s->begin].begin, end = s->is_chain ? s->end : begin;
  for (int k = 0; k < 3; k++) {
    child[(BOUNDARY_FROM + k) * BOUNDARY_WIDTH] = b->loops->at[begin][k];
    child[(BOUNDARY_TO + k) * BOUNDARY_WIDTH] = b->loops->at[end][k];
  }
}

static slab_status add_node(builder *b, size_t *node) {
  if (b->nodes == b->room) {
    const size_t room = 2 * b->room + 4;
    float *values = realloc(b->values, room * BOUNDARY_FLOATS * sizeof *values);
    if (values == NULL) return fail_memory(room * BOUNDARY_FLOATS * sizeof *values, "the tree over a boundary");
    b->values = values;
    b->room = room;
  }
  *node = b->nodes++;
  memset(b->values + *node * BOUNDARY_FLOATS, 0, BOUNDARY_FLOATS * sizeof *b->values);
  return SLAB_OK;
}

static slab_status build_node(builder *b, const span *s, uint32_t depth, size_t *node) {
  span parts[BOUNDARY_WIDTH];
  const int n = parts_of(b, s, parts);
  slab_status status = depth == BOUNDARY_DEPTH || b->nodes >= UINT32_MAX
                           ? fail(SLAB_UNSUPPORTED, "a boundary of %zu edges is too much for a tree", s->edges)
                           : add_node(b, node);
  for (int i = 0; i < n && status == SLAB_OK; i++) {
    size_t child = 0;
    write_ends(b, &parts[i], b->values + *node * BOUNDARY_FLOATS + i);
    if (parts[i].edges < 2) continue;
    terms t;
    find_terms(b, &parts[i], &t);
    write_terms(&t, b->values + *node * BOUNDARY_FLOATS + i);
    status = build_node(b, &parts[i], depth + 1, &child);
    const uint32_t index = (uint32_t)child;
    memcpy(b->values + *node * BOUNDARY_FLOATS + BOUNDARY_CHILD * BOUNDARY_WIDTH + i, &index, sizeof index);
  }
  return status;
}

static int by_mask(const void *a, const void *b) {
  const loop *x = a, *y = b;
  if (x->mask != y->mask) return x->mask < y->mask ? -1 : 1;
  return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* A tree for each mask. */
static slab_status build_trees(loops *l, boundary *to) {
  builder b = {.loops = l};
  slab_status status = SLAB_OK;
  qsort(l->list, l->count, sizeof *l->list, by_mask);
  for (size_t i = 0; i < l->count; i++) to->trees += i == 0 || l->list[i].mask != l->list[i - 1].mask;
  to->of_trees = calloc(to->trees + (size_t)1, sizeof *to->of_trees);
  if (to->of_trees == NULL) status = fail_memory(to->trees * sizeof *to->of_trees, "a boundary");
  for (size_t i = 0, end, tree = 0; i < l->count && status == SLAB_OK; i = end, tree++) {
    size_t root = 0;
    for (end = i + 1; end < l->count && l->list[end].mask == l->list[i].mask;) end++;
    const span all = span_of_loops(&b, i, end);
    to->of_trees[tree].mask = l->list[i].mask;
    status = build_node(&b, &all, 0, &root);
    to->of_trees[tree].root = (uint32_t)root;
  }
  size_t none;
  to->nodes = b.nodes;
  if (status == SLAB_OK && b.nodes == 0) status = add_node(&b, &none);
  to->values = b.values;
  return status;
}

/* ---- of a snapshot ---- */

void boundary_free(boundary *b) {
  if (b == NULL) return;
  free(b->values);
  free(b->of_trees);
  free(b);
}

static slab_status boundary_make(const snapshot *s, boundary **made) {
  loops l = {0};
  slab_status status = SLAB_OK;
  *made = calloc(1, sizeof **made);
  if (*made == NULL) return fail_memory(sizeof **made, "a boundary");
  for (uint32_t g = 0; g < s->geometries && status == SLAB_OK; g++)
    if (s->table[g].kind == SLAB_TRIANGLE && !is_hidden(s, g) && s->values[g] != NULL)
      status = loops_of_mesh(s->values[g], s->table[g].count, s->table[g].mask, &l);
  if (status == SLAB_OK) status = build_trees(&l, *made);
  free(l.at);
  free(l.list);
  if (status == SLAB_OK) return SLAB_OK;
  boundary_free(*made);
  *made = NULL;
  return status;
}

static slab_status boundary_of(const snapshot *read, const boundary **got) {
  snapshot *s = (snapshot *)read; /* whoever only reads it keeps this there */
  boundary *none = NULL, *made;
  *got = atomic_load(&s->boundary);
  if (*got != NULL) return SLAB_OK;
  const slab_status status = boundary_make(s, &made);
  if (status != SLAB_OK) return status;
  if (atomic_compare_exchange_strong(&s->boundary, &none, made)) {
    *got = made;
  } else { /* another thread was first */
    boundary_free(made);
    *got = none;
  }
  return SLAB_OK;
}

/* The first geometry of instances whose model, or one in it, has a boundary; SLAB_MISS: there is none. */
static slab_status open_model(const snapshot *s, uint32_t *geometry) {
  slab_status status = SLAB_OK;
  *geometry = SLAB_MISS;
  for (uint32_t g = 0; g < s->geometries && status == SLAB_OK && *geometry == SLAB_MISS; g++) {
    if (s->table[g].kind != SHAPE_INSTANCE || is_hidden(s, g) || s->table[g].count == 0) continue;
    const snapshot *model = s->models[g].snapshot;
    const boundary *of;
    uint32_t inner = SLAB_MISS;
    status = boundary_of(model, &of);
    if (status == SLAB_OK && of->trees == 0) status = open_model(model, &inner);
    if (status == SLAB_OK && (of->trees != 0 || inner != SLAB_MISS)) *geometry = s->table[g].id;
  }
  return status;
}

slab_status boundary_get(const char *function, const snapshot *s, const boundary **got) {
  uint32_t geometry;
  const slab_status status = open_model(s, &geometry);
  if (status != SLAB_OK) return status;
  if (geometry != SLAB_MISS)
    return fail(SLAB_UNSUPPORTED, "%s: geometry %u is of an instance whose model has an open mesh", function, geometry);
  return boundary_of(s, got);
}
