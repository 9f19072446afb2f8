/* Builds trees over the loops of a boundary (kernels/data/boundary.h).
 *
 * A tree halves the loops by where they are, and a loop by its edges. Each inner chain of edges gets its terms about a
 * centre, of the fan of triangles from there. Let A be a triangle's area vector, r its points, R from the point to the
 * centre, and f = R / R^3. Its solid angle is A.f + (r.grad) A.f + (r.grad)^2 A.f / 2 + ..., averaged over r. Sums of
 * the tensors rA and rrA give, symmetric and without traces: -3 R'QR / R^5 and 15/2 O(R, R, R) / R^7. The first has no
 * trace, since the planes of all triangles go through the centre. Of the next, rrrA / 6, 2.8 / R^5 times its norm is
 * usual: the root of the mean square over directions. */
#include "scene/boundary_tree.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* The error of the terms that approximate a chain, in turns. */
#define CHAIN_ERROR 0x1p-22
#define PI 3.14159265358979323846

void *boundary_space(void *list, size_t count, size_t *space, size_t each) {
  if (count < *space) return list;
  const size_t more = 2 * *space + 16;
  void *grown = realloc(list, more * each);
  if (grown == NULL)
    (void)fail_memory(more * each, "a boundary");
  else
    *space = more;
  return grown;
}

/* ---- spans ---- */

/* Loops, or a chain of edges: between the vertices begin and end. */
typedef struct span {
  bool is_chain;
  size_t begin, end, edges;
} span;

typedef struct builder {
  loops *loops;
  float *values;
  size_t nodes, space;
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

/* The norm of the part that the terms leave out, symmetric. */
static double next_of(const terms *t) {
  double square = 0.0;
  for (int n = 0; n < 81; n++) {
    const int i = n / 27, j = n / 9 % 3, k = n / 3 % 3, l = n % 3;
    const double of = 0.25 * (t->next[i][j][k][l] + t->next[l][j][k][i] + t->next[i][l][k][j] + t->next[i][j][l][k]);
    square += of * of;
  }
  return sqrt(square);
}

/* The distance from which on the terms are right by CHAIN_ERROR. The omitted terms begin with `next`, twice the usual
 * error of a direction. Then comes r^4 A / 24, taken for 4.2 / distance^6 of r^2 times the terms before: of a flat hole
 * every other term is 0. There the terms are small, so that eight of them fit in 32 bits. In steps of a 16th: roots are
 * not the same everywhere. */
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
  const double reach = (double)(float)reach_of(t), unit = -1.0 / (reach * reach * 4.0 * PI);
  double of[3][3][3];
  for (int k = 0; k < 3; k++) {
    child[(BOUNDARY_CENTER + k) * BOUNDARY_WIDTH] = t->center[k];
    child[(BOUNDARY_UPPER + k) * BOUNDARY_WIDTH] = t->upper[k];
    if (k < 2) child[(BOUNDARY_LOWER + k) * BOUNDARY_WIDTH] = t->lower[k];
  }
  child[BOUNDARY_REACH * BOUNDARY_WIDTH] = (float)reach;
  if (reach == 0.0) return; /* all vertices are one point, and all terms 0 */
  for (int k = 0; k < 3; k++) child[(BOUNDARY_DIPOLE + k) * BOUNDARY_WIDTH] = (float)(unit * t->dipole[k]);
  for (int n = 0; n < 5; n++) {
    const double q = 0.5 * (t->quadrupole[two[n][0]][two[n][1]] + t->quadrupole[two[n][1]][two[n][0]]);
    child[(BOUNDARY_QUADRUPOLE + n) * BOUNDARY_WIDTH] = (float)(-3.0 * unit / reach * q);
  }
  harmonic_of(t, of);
  for (int n = 0; n < 7; n++)
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
  float *values = boundary_space(b->values, b->nodes, &b->space, BOUNDARY_FLOATS * sizeof *values);
  if (values == NULL) return SLAB_OUT_OF_MEMORY;
  b->values = values;
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

static bool are_seen_alike(const loop *a, const loop *b) { return a->mask == b->mask && a->world == b->world; }

/* A tree for each mask in each world. */
slab_status boundary_build(loops *l, boundary *to) {
  builder b = {.loops = l};
  slab_status status = SLAB_OK;
  for (size_t i = 0; i < l->count; i++) l->list[i].key = l->list[i].world * 0x1p32 + l->list[i].mask;
  if (l->count > 0) qsort(l->list, l->count, sizeof *l->list, by_key); /* of no list it is undefined */
  for (size_t i = 0; i < l->count; i++) to->trees += i == 0 || !are_seen_alike(&l->list[i], &l->list[i - 1]);
  to->of_trees = calloc(to->trees + (size_t)1, sizeof *to->of_trees);
  if (to->of_trees == NULL) status = fail_memory(to->trees * sizeof *to->of_trees, "a boundary");
  for (size_t i = 0, end, tree = 0; i < l->count && status == SLAB_OK; i = end, tree++) {
    size_t root = 0;
    for (end = i + 1; end < l->count && are_seen_alike(&l->list[end], &l->list[i]);) end++;
    const span all = span_of_loops(&b, i, end);
    to->of_trees[tree].mask = l->list[i].mask;
    to->of_trees[tree].world = l->list[i].world;
    status = build_node(&b, &all, 0, &root);
    to->of_trees[tree].root = (uint32_t)root;
  }
  size_t none;
  if (status == SLAB_OK && b.nodes == 0) status = add_node(&b, &none);
  to->nodes = b.nodes;
  to->values = b.values;
  return status;
}
