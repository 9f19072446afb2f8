/* Replaces ranges of values: refuses, counts void primitives, and bounds anew the parts that were changed. */
#include "shapes/range.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "maths/primitive.h"

enum { PARTS_A_PIECE = PARALLEL_LEAST / VALUES_A_PART };

/* ---- elements ---- */

static uint32_t floats_of(const geometry_values *v, slab_shape kind) { return v->indexed ? 3 : primitive_floats(kind); }

static uint32_t element_count(const geometry_values *v, uint32_t primitives) {
  return v->indexed ? v->indices->vertex_count : primitives;
}

static uint32_t part_count(uint32_t elements) { return (elements + VALUES_A_PART - 1) / VALUES_A_PART; }

/* The number of elements that ranges index: primitives or, of a mesh, vertices. */
static uint64_t range_end(const geometry_values *v, slab_shape kind, uint32_t primitives) {
  if (kind != SLAB_TRIANGLE) return primitives;
  return v->indices != NULL ? v->indices->vertex_count : 3 * (uint64_t)primitives;
}

/* ---- which triangles have a vertex ---- */

static bool corners_are_there(const mesh_indices *m, uint32_t triangle) {
  const uint32_t *corner = m->list + 3 * (size_t)triangle;
  return corner[0] < m->vertex_count && corner[1] < m->vertex_count && corner[2] < m->vertex_count;
}

/* Counts the corners at each vertex, sums the counts up, and puts each triangle at the last free place of its three.
 * Returns false where memory is short, or 32 bits are. */
static bool list_users(mesh_indices *m, uint32_t triangles) {
  if (m->users != NULL) return true;
  const size_t begins = (size_t)m->vertex_count + 1, corners = 3 * (size_t)triangles;
  if (begins + corners > UINT32_MAX) return false;
  uint32_t *users = calloc(begins + corners, sizeof *users);
  if (users == NULL) return false;
  for (uint32_t t = 0; t < triangles; t++)
    for (size_t c = 0; c < 3 && corners_are_there(m, t); c++) users[m->list[3 * (size_t)t + c]]++;
  uint32_t sum = (uint32_t)begins;
  for (size_t k = 0; k < begins; k++) users[k] = sum += users[k];
  for (uint32_t t = triangles; t-- > 0;)
    for (size_t c = 0; c < 3 && corners_are_there(m, t); c++) users[--users[m->list[3 * (size_t)t + c]]] = t;
  m->users = users;
  return true;
}

static bool has_corner_in(const mesh_indices *m, uint32_t triangle, uint32_t first, uint32_t end) {
  const uint32_t *corner = m->list + 3 * (size_t)triangle, count = end - first;
  return corner[0] - first < count || corner[1] - first < count || corner[2] - first < count;
}

/* A triangle is visited once, by the first of its vertices. Where it has one of them twice its places are neighbours.
 */
static void visit_users(const mesh_indices *m, uint32_t first, uint32_t count, values_visit *visit, void *argument) {
  for (uint32_t k = first; k < first + count; k++)
    for (uint32_t at = m->users[k]; at < m->users[k + 1]; at++) {
      const uint32_t triangle = m->users[at];
      if (at > m->users[k] && m->users[at - 1] == triangle) continue;
      if (!has_corner_in(m, triangle, first, k)) visit(argument, triangle);
    }
}

/* Visits the primitives that have an element in a range. */
static void visit_range(const geometry_values *v, const values_range *r, values_visit *visit, void *argument) {
  if (r->count == 0) return;
  if (r->kind == SLAB_TRIANGLE && v->indices != NULL) {
    visit_users(v->indices, r->first, r->count, visit, argument);
    return;
  }
  const uint32_t each = r->kind == SLAB_TRIANGLE ? 3 : 1, last = (r->first + r->count - 1) / each;
  for (uint32_t i = r->first / each; i <= last; i++) visit(argument, i);
}

void values_run_primitives(const geometry_values *v, uint32_t first, uint32_t count, values_visit *visit,
                           void *argument) {
  if (v->indexed) {
    visit_users(v->indices, first, count, visit, argument);
    return;
  }
  for (uint32_t i = first; i < first + count; i++) visit(argument, i);
}

/* ---- refusals ---- */

/* The number of corner c of a triangle among the vertices. */
static uint32_t corner_of(const geometry_values *v, uint32_t triangle, uint32_t c) {
  const size_t own = 3 * (size_t)triangle + c;
  return v->indices != NULL ? v->indices->list[own] : (uint32_t)own;
}

typedef struct dropped_search {
  const geometry_values *of;
  const values_range *range;
  uint32_t vertex, triangle; /* vertex: of a dropped one, in the range; SLAB_MISS: none was found */
} dropped_search;

/* A dropped triangle has lost its vertices, so it needs all three. */
static void search_dropped(void *argument, uint32_t triangle) {
  dropped_search *s = argument;
  uint32_t within = 0, vertex = 0;
  if (s->vertex != SLAB_MISS || !TRIANGLE_IS_VOID(s->of->values[TRIANGLE_FLOATS * (size_t)triangle])) return;
  for (uint32_t c = 0; c < 3; c++) {
    const uint32_t corner = corner_of(s->of, triangle, c);
    if (corner - s->range->first >= s->range->count) continue;
    within++;
    vertex = corner;
  }
  if (within == 3) return;
  s->vertex = vertex;
  s->triangle = triangle;
}

static slab_status refuse_dropped(const geometry_values *v, const values_range *r) {
  dropped_search s = {v, r, SLAB_MISS, 0};
  if (r->kind != SLAB_TRIANGLE || v->voids == 0) return SLAB_OK;
  visit_range(v, r, search_dropped, &s);
  if (s.vertex == SLAB_MISS) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT,
              "%s: vertex %u of geometry %u is one of triangle %u, which was dropped, and whose other vertices are not "
              "known: update the whole mesh",
              r->function, s.vertex, r->geometry, s.triangle);
}

/* The reason why element i of a range is refused; NULL: it is not. Vertices that no triangle has may be anything. */
static const char *refusal_of(const geometry_values *v, const values_range *r, uint32_t i, float *value) {
  float corners[TRIANGLE_FLOATS];
  if (r->kind != SLAB_TRIANGLE)
    return primitive_refusal(r->kind, r->values + (size_t)i * primitive_floats(r->kind), value);
  const uint32_t vertex = r->first + i;
  if (v->indices != NULL && v->indices->users[vertex] == v->indices->users[vertex + 1]) return NULL;
  for (size_t c = 0; c < 3; c++) memcpy(corners + 3 * c, r->values + 3 * (size_t)i, 3 * sizeof(float));
  return primitive_refusal(SLAB_TRIANGLE, corners, value);
}

slab_status values_range_accept(const geometry_values *v, uint32_t primitives, const values_range *r) {
  const uint64_t end = range_end(v, r->kind, primitives);
  if (r->first > end || r->count > end - r->first)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u from %u on are beyond geometry %u, which has %llu", r->function,
                r->count, r->first, r->geometry, (unsigned long long)end);
  if (r->kind == SLAB_TRIANGLE && v->indices != NULL && !list_users(v->indices, primitives))
    return fail_memory(3 * (size_t)primitives * sizeof *v->indices->users, "which triangles have a vertex");
  for (uint32_t i = 0; i < r->count && (r->kind == SLAB_TRIANGLE || !v->drops); i++) {
    float value;
    const char *why = refusal_of(v, r, i, &value);
    if (why != NULL)
      return fail(SLAB_INVALID_ARGUMENT, "%s: %s %u, for number %u: %s (%g)", r->function, r->noun, i, r->first + i,
                  why, (double)value);
  }
  return refuse_dropped(v, r);
}

/* ---- parts ---- */

static const values_part no_part = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

static void grow_by_vertex(values_part *p, const float *vertex) {
  for (int k = 0; k < 3; k++) {
    p->lower[k] = vertex[k] < p->lower[k] ? vertex[k] : p->lower[k];
    p->upper[k] = vertex[k] > p->upper[k] ? vertex[k] : p->upper[k];
  }
}

static void grow_part(values_part *p, const geometry_values *v, slab_shape kind, uint32_t element) {
  const float *values = v->values + (size_t)element * floats_of(v, kind);
  if (v->indexed)
    grow_by_vertex(p, values);
  else if (!primitive_is_void(kind, values))
    primitive_grow(p->lower, p->upper, kind, values);
}

static void measure_part(geometry_values *v, slab_shape kind, uint32_t elements, uint32_t part) {
  const uint32_t first = part * VALUES_A_PART, left = elements - first;
  const uint32_t end = first + (left < VALUES_A_PART ? left : VALUES_A_PART);
  v->parts[part] = no_part;
  for (uint32_t i = first; i < end; i++) grow_part(&v->parts[part], v, kind, i);
}

typedef struct parts_measuring {
  geometry_values *of;
  slab_shape kind;
  uint32_t elements;
} parts_measuring;

static void measure_some(void *argument, size_t first, size_t end) {
  const parts_measuring *m = argument;
  for (size_t part = first; part < end; part++) measure_part(m->of, m->kind, m->elements, (uint32_t)part);
}

void values_settle(geometry_values *v) {
  values_part all = no_part;
  if (!v->unsettled) return;
  const uint32_t count = part_count(v->elements);
  for (uint32_t part = 0; part < count; part++)
    for (int k = 0; k < 3; k++) {
      all.lower[k] = v->parts[part].lower[k] < all.lower[k] ? v->parts[part].lower[k] : all.lower[k];
      all.upper[k] = v->parts[part].upper[k] > all.upper[k] ? v->parts[part].upper[k] : all.upper[k];
    }
  memcpy(v->lower, all.lower, sizeof v->lower);
  memcpy(v->upper, all.upper, sizeof v->upper);
  v->unsettled = false;
}

/* ---- copies ---- */

/* Takes the facts about all elements. */
static void know(geometry_values *to, const geometry_values *from) {
  to->outside = from->outside;
  to->unbounded = from->unbounded;
  to->voids = from->voids;
  to->unhit = from->unhit;
  to->unlooked = from->unlooked;
  memcpy(to->lower, from->lower, sizeof to->lower);
  memcpy(to->upper, from->upper, sizeof to->upper);
}

geometry_values *values_copy(uint32_t threads, const geometry_values *from) {
  geometry_values *to = calloc(1, sizeof *to);
  if (to == NULL) return NULL;
  to->values = bvh_allocate(from->floats + 1, sizeof *to->values);
  if (to->values == NULL) {
    free(to);
    return NULL;
  }
  to->references = 1;
  to->mask = from->mask;
  to->world = from->world;
  to->drops = from->drops;
  to->indexed = from->indexed;
  to->floats = from->floats;
  to->indices = from->indices;
  if (to->indices != NULL) to->indices->references++;
  know(to, from);
  pool_copy(threads, to->values, from->values, from->floats * sizeof *to->values);
  return to;
}

geometry_values *values_own(uint32_t threads, geometry_values *v, slab_shape kind, uint32_t primitives) {
  const uint32_t elements = element_count(v, primitives), parts = part_count(elements);
  if (v->parts == NULL) {
    v->parts = malloc((parts + (size_t)1) * sizeof *v->parts);
    if (v->parts == NULL) return NULL;
    v->elements = elements;
    parts_measuring m = {v, kind, elements};
    pool_loop(threads, parts, PARTS_A_PIECE, measure_some, &m);
  }
  if (v->references == 1) return v;
  geometry_values *own = values_copy(threads, v);
  if (own == NULL) return NULL;
  own->parts = v->parts;
  own->elements = elements;
  v->parts = NULL; /* it does not change any more */
  values_release(v);
  return own;
}

void values_follow(geometry_values *to, const geometry_values *now, slab_shape kind, uint32_t first, uint32_t count) {
  const size_t floats = floats_of(to, kind);
  memcpy(to->values + first * floats, now->values + first * floats, count * floats * sizeof *to->values);
  know(to, now);
}

/* ---- replacing ---- */

typedef struct counting {
  geometry_values *of;
  slab_shape kind;
  uint32_t by; /* 1, or -1 */
} counting;

/* Counts a primitive as values_measure does. */
static void count_primitive(void *argument, uint32_t i) {
  const counting *c = argument;
  geometry_values *v = c->of;
  float space[FLOATS_MOST + 1];
  const float *values = values_at(v, primitive_floats(c->kind), i, space);
  const bool is_void = primitive_is_void(c->kind, values);
  if (is_void) v->voids += c->by;
  if (!is_void && primitive_is_unbounded(c->kind, values)) {
    v->unbounded += c->by;
    if (primitive_is_outside(c->kind, values)) v->outside += c->by;
  }
  if (!v->unlooked && primitive_is_never_hit(c->kind, values)) v->unhit += c->by;
}

typedef struct vertices_putting {
  geometry_values *to;
  const values_range *range;
} vertices_putting;

static void put_corners(void *argument, uint32_t triangle) {
  const vertices_putting *p = argument;
  for (uint32_t c = 0; c < 3; c++) {
    const uint32_t at = corner_of(p->to, triangle, c) - p->range->first;
    if (at < p->range->count)
      memcpy(p->to->values + TRIANGLE_FLOATS * (size_t)triangle + 3 * c, p->range->values + 3 * (size_t)at,
             3 * sizeof(float));
  }
}

static void put_shape(geometry_values *v, const values_range *r, uint32_t i) {
  const size_t floats = primitive_floats(r->kind);
  float *to = v->values + (r->first + i) * floats, unused;
  const float *from = r->values + i * floats;
  if (v->drops && primitive_refusal(r->kind, from, &unused) != NULL) {
    primitive_void(r->kind, to);
    return;
  }
  memcpy(to, from, floats * sizeof *to);
  primitive_normalise(r->kind, to);
}

static void put(geometry_values *v, const values_range *r) {
  vertices_putting p = {v, r};
  if (v->indexed)
    memcpy(v->values + 3 * (size_t)r->first, r->values, 3 * (size_t)r->count * sizeof *v->values);
  else if (r->kind == SLAB_TRIANGLE)
    visit_range(v, r, put_corners, &p);
  else
    for (uint32_t i = 0; i < r->count; i++) put_shape(v, r, i);
}

typedef struct run_measuring {
  geometry_values *of;
  slab_shape kind;
} run_measuring;

static bool is_marked(const values_part *p) { return isnan(p->lower[0]); }

/* Marks parts of which an element that is about to go reaches the bounds: others are to be looked at there. */
static void mark_run(void *argument, uint32_t first, uint32_t count) {
  const run_measuring *m = argument;
  for (uint32_t i = first; i < first + count; i++) {
    values_part *part = &m->of->parts[i / VALUES_A_PART], own = no_part;
    bool reaches = is_marked(part);
    if (!reaches) grow_part(&own, m->of, m->kind, i);
    for (int k = 0; k < 3; k++) reaches |= (own.lower[k] <= part->lower[k]) | (own.upper[k] >= part->upper[k]);
    if (reaches) part->lower[0] = NAN;
  }
}

static void measure_run(void *argument, uint32_t first, uint32_t count) {
  const run_measuring *m = argument;
  for (uint32_t i = first; i < first + count; i++) {
    const uint32_t part = i / VALUES_A_PART;
    if (is_marked(&m->of->parts[part]))
      measure_part(m->of, m->kind, m->of->elements, part);
    else
      grow_part(&m->of->parts[part], m->of, m->kind, i);
  }
}

void values_range_put(geometry_values *v, const values_range *r) {
  counting c = {v, r->kind, (uint32_t)-1};
  run_measuring m = {v, r->kind};
  visit_range(v, r, count_primitive, &c);
  values_range_runs(v, r, mark_run, &m);
  put(v, r);
  c.by = 1;
  visit_range(v, r, count_primitive, &c);
  values_range_runs(v, r, measure_run, &m);
  values_drop_copy(&v->copy); /* of the former elements */
  v->unsettled = true;
}

typedef struct single_runs {
  values_visit_run *visit;
  void *argument;
} single_runs;

static void visit_single(void *argument, uint32_t primitive) {
  const single_runs *s = argument;
  s->visit(s->argument, primitive, 1);
}

void values_range_runs(const geometry_values *v, const values_range *r, values_visit_run *visit, void *argument) {
  single_runs single = {visit, argument};
  if (r->count == 0) return;
  if (v->indexed || r->kind != SLAB_TRIANGLE) {
    visit(argument, r->first, r->count);
  } else if (v->indices == NULL) {
    const uint32_t first = r->first / 3;
    visit(argument, first, (r->first + r->count - 1) / 3 - first + 1);
  } else {
    visit_range(v, r, visit_single, &single);
  }
}
