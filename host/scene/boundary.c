/* Finds the edges at which a scene's meshes end, as loops.
 *
 * An edge belongs to the boundary of a geometry as often as its two directions differ in number. Vertices are equal
 * where their bits are, but for the sign of 0. Every vertex then has as many edges that begin there as end there: the
 * boundary is a sum of closed loops. */
#include "scene/boundary.h"

#include <stdlib.h>
#include <string.h>

#include "base/status.h"
#include "scene/boundary_tree.h"
#include "scene/models.h"
#include "shapes/values.h"

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
  size_t count, space;
} edge_list;

static slab_status edges_add(edge_list *e, edge one) {
  edge *list = boundary_space(e->list, e->count, &e->space, sizeof *list);
  if (list == NULL) return SLAB_OUT_OF_MEMORY;
  e->list = list;
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

/* Adds the edges that are left between one corner and each other. */
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
static slab_status number_corners(const geometry_values *v, uint32_t count, corners *c, uint32_t **numbers) {
  slab_status status = corners_make(c, 3 * (size_t)count);
  *numbers = malloc(3 * (size_t)count * sizeof **numbers + 1);
  if (status == SLAB_OK && *numbers == NULL) status = fail_memory(3 * (size_t)count * sizeof **numbers, "a boundary");
  for (uint32_t i = 0; i < count && status == SLAB_OK; i++)
    for (size_t k = 0; k < 3; k++) (*numbers)[3 * (size_t)i + k] = corner_number(c, values_corner(v, i, k));
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

static slab_status loops_add_point(loops *l, const float at[3]) {
  float(*list)[3] = boundary_space(l->at, l->points, &l->space, sizeof *list);
  if (list == NULL) return SLAB_OUT_OF_MEMORY;
  l->at = list;
  memcpy(l->at[l->points++], at, sizeof *l->at);
  return SLAB_OK;
}

static slab_status loops_add(loops *l, const loop *one) {
  loop *list = boundary_space(l->list, l->count, &l->list_space, sizeof *list);
  if (list == NULL) return SLAB_OUT_OF_MEMORY;
  l->list = list;
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

static slab_status find_loops(const corners *c, const edge_list *e, uint32_t mask, uint32_t world, loops *l) {
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
      status = walk_loop(c, &at, (uint32_t)n, &(loop){.mask = mask, .world = world}, l);
  free(begin);
  free(at.to);
  return status;
}

static slab_status loops_of_mesh(const geometry_values *v, uint32_t count, uint32_t mask, loops *l) {
  corners c = {0};
  edge_list left = {0};
  uint32_t *numbers = NULL;
  slab_status status =
      count > CORNER_NONE / 3
          ? fail(SLAB_UNSUPPORTED,
                 "the boundary of a mesh of %u triangles is not looked for: 1,431,655,765 are the most", count)
          : number_corners(v, count, &c, &numbers);
  if (status == SLAB_OK) status = find_edges(numbers, 3 * (size_t)count, c.count, &left);
  if (status == SLAB_OK && left.count > 0) status = find_loops(&c, &left, mask, v->world, l);
  free(numbers);
  free(left.list);
  corners_free(&c);
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
  if (status == SLAB_OK) status = boundary_build(&l, *made);
  free(l.at);
  free(l.list);
  if (status == SLAB_OK) return SLAB_OK;
  boundary_free(*made);
  *made = NULL;
  return status;
}

static slab_status boundary_of(const snapshot *read, const boundary **got) {
  snapshot *s = (snapshot *)read; /* a thread that only reads it keeps this there */
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
