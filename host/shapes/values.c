/* Takes the caller's primitives: refuses or drops, copies and measures them. */
#include "shapes/values.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "bvh/float4.h"
#include "bvh/memory.h"
#include "maths/primitive.h"
#include "os/memory.h"
#include "shapes/primitive.h"

/* ---- memory ---- */

geometry_values *values_create(uint32_t kind, uint32_t count, mesh_indices *indices, bool indexed) {
  const uint32_t each = indexed ? 3 : primitive_floats(kind), elements = indexed ? indices->vertex_count : count;
  const size_t used = (size_t)elements * each, floats = values_floats(each, elements);
  geometry_values *v = calloc(1, sizeof *v);
  if (v == NULL) return NULL;
  *v = (geometry_values){.references = 1, .indexed = indexed, .floats = floats, .indices = indices};
  v->values = bvh_allocate(floats + 1, sizeof *v->values);
  if (v->values == NULL) {
    free(v);
    return NULL;
  }
  memset(v->values + used, 0, (floats - used) * sizeof *v->values);
  return v;
}

void values_drop_copy(device_copy *copy) {
  if (copy->memory != NULL) copy->drop(copy->device, copy->memory);
  *copy = (device_copy){0};
}

void values_release(geometry_values *v) {
  if (v == NULL || --v->references > 0) return;
  values_drop_copy(&v->copy);
  values_indices_release(v->indices);
  os_free(v->values);
  free(v->parts);
  free(v);
}

void values_indices_release(mesh_indices *m) {
  if (m == NULL || --m->references > 0) return;
  values_drop_copy(&m->copy);
  free(m->users);
  free(m);
}

/* A large array is cut into as many pieces, each with a result of its own. */
enum { PARTIALS = 64 };

static size_t partial_grain(size_t count) {
  const size_t grain = (count + PARTIALS - 1) / PARTIALS;
  return grain < PARALLEL_LEAST ? PARALLEL_LEAST : grain;
}

/* ---- indices ---- */

typedef struct indexing {
  const uint32_t *from;
  mesh_indices *to;
  uint8_t *used; /* of each vertex */
  size_t grain;
  bool beyond[PARTIALS]; /* whether some index is out of range */
  uint32_t collapsed[PARTIALS];
} indexing;

static void index_some(void *argument, size_t first, size_t end) {
  indexing *x = argument;
  bool beyond = false;
  uint32_t collapsed = 0;
  for (size_t i = first; i < end; i++) {
    uint32_t *corner = x->to->list + 3 * i;
    memcpy(corner, x->from + 3 * i, 3 * sizeof *corner);
    collapsed += (corner[0] == corner[1]) | (corner[1] == corner[2]) | (corner[2] == corner[0]);
    for (int c = 0; c < 3; c++) {
      beyond = beyond || corner[c] >= x->to->vertex_count;
      if (x->used != NULL && corner[c] < x->to->vertex_count)
        __atomic_store_n(&x->used[corner[c]], 1, __ATOMIC_RELAXED);
    }
  }
  x->beyond[first / x->grain] = beyond;
  x->collapsed[first / x->grain] = collapsed;
}

mesh_indices *values_indices_create(uint32_t threads, const uint32_t *indices, uint32_t n, uint32_t vertex_count) {
  mesh_indices *m = malloc(sizeof *m + 3 * (size_t)n * sizeof *m->list);
  if (m == NULL) return NULL;
  *m = (mesh_indices){.references = 1, .vertex_count = vertex_count, .dense = vertex_count <= 3 * (uint64_t)n};
  indexing x = {.from = indices, .to = m, .grain = partial_grain(n)};
  if (m->dense && (x.used = calloc(vertex_count + (size_t)1, 1)) == NULL) {
    free(m);
    return NULL;
  }
  pool_loop(threads, n, x.grain, index_some, &x);
  for (int i = 0; i < PARTIALS; i++) {
    m->dense = m->dense && !x.beyond[i];
    m->collapsed += x.collapsed[i];
  }
  m->dense = m->dense && memchr(x.used, 0, vertex_count) == NULL;
  free(x.used);
  return m;
}

/* ---- measures ---- */

/* The measures of some of a geometry's primitives. */
typedef struct extent {
  float lower[3], upper[3];
  uint32_t voids, unhit, outside, unbounded;
} extent;

static const extent no_extent = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0, 0, 0, 0};

static void extent_add(extent *e, slab_shape kind, const float *values) {
  e->unhit += primitive_is_never_hit(kind, values);
  if (primitive_is_void(kind, values)) {
    e->voids++;
    return;
  }
  if (primitive_is_unbounded(kind, values)) {
    e->unbounded++;
    e->outside += primitive_is_outside(kind, values);
  }
  primitive_grow(e->lower, e->upper, kind, values);
}

static void extent_join(geometry_values *all, const extent *e) {
  all->voids += e->voids;
  all->unhit += e->unhit;
  all->outside += e->outside;
  all->unbounded += e->unbounded;
  for (int k = 0; k < 3; k++) {
    if (e->lower[k] < all->lower[k]) all->lower[k] = e->lower[k];
    if (e->upper[k] > all->upper[k]) all->upper[k] = e->upper[k];
  }
}

/* The results of all pieces. */
typedef struct partial {
  uint32_t refused; /* how many; the first is only valid where there is one */
  uint32_t first;
  extent extent;
} partial;

static void partials_begin(partial list[PARTIALS]) {
  for (int i = 0; i < PARTIALS; i++) list[i] = (partial){0, 0, no_extent};
}

static void partials_end(const partial list[PARTIALS], geometry_values *to) {
  memcpy(to->lower, no_extent.lower, sizeof to->lower);
  memcpy(to->upper, no_extent.upper, sizeof to->upper);
  to->voids = to->outside = to->unbounded = 0;
  to->unhit = 0; /* alone: to clang 14 the value of this, which is atomic, would be of another type */
  for (int i = 0; i < PARTIALS; i++) extent_join(to, &list[i].extent);
}

/* ---- one primitive after the other ---- */

static size_t stride_of(const slab_mesh *mesh) {
  return mesh->vertex_stride == 0 ? 3 * sizeof(float) : mesh->vertex_stride;
}

static void load_vertex(const slab_mesh *mesh, size_t index, float vertex[3]) {
  memcpy(vertex, (const char *)mesh->vertices + index * stride_of(mesh), 3 * sizeof(float));
}

/* Gathers the vertices of triangle i. Returns false where an index is out of range; *bad is that index. */
static bool gather_triangle(const addition *a, uint32_t i, float *values, uint32_t *bad) {
  const uint32_t *list = a->indices != NULL ? a->indices->list : a->mesh->indices;
  for (uint32_t k = 0; k < 3; k++) {
    size_t corner = 3 * (size_t)i + k;
    size_t index = list == NULL ? corner : list[corner];
    if (index >= a->mesh->vertex_count) {
      *bad = (uint32_t)index;
      return false;
    }
    load_vertex(a->mesh, index, values + 3 * k);
  }
  return true;
}

/* The reason why a primitive is refused. */
typedef struct refusal {
  const char *why; /* NULL: a vertex's index is out of range */
  float value;
  uint32_t index;
} refusal;

/* Stores primitive i at `values`. Returns false where it is refused. */
static bool take_primitive(const addition *a, uint32_t i, float *values, refusal *r) {
  size_t floats = primitive_floats(a->kind);
  *r = (refusal){0};
  if (a->mesh != NULL && !gather_triangle(a, i, values, &r->index)) return false;
  if (a->mesh == NULL) memcpy(values, a->values + i * floats, floats * sizeof *values);
  r->why = primitive_refusal(a->kind, values, &r->value);
  if (r->why != NULL) return false;
  primitive_normalise(a->kind, values);
  return true;
}

static slab_status refuse(const addition *a, uint32_t i) {
  float values[FLOATS_MOST];
  refusal r;
  if (take_primitive(a, i, values, &r)) return SLAB_OK;
  if (r.why != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s %u: %s (%g)", a->function, a->noun, i, r.why, (double)r.value);
  return fail(SLAB_INVALID_ARGUMENT, "%s: %s %u: index %u is out of range (vertex_count is %u)", a->function, a->noun,
              i, r.index, a->mesh->vertex_count);
}

typedef struct taking {
  const addition *from; /* NULL: the values are there */
  geometry_values *to;
  slab_shape kind;
  size_t grain;
  partial partial[PARTIALS];
} taking;

static void take_some(void *argument, size_t first, size_t end) {
  taking *t = argument;
  const uint32_t floats = primitive_floats(t->kind);
  partial *own = &t->partial[first / t->grain];
  float space[FLOATS_MOST];
  extent found = no_extent;
  for (uint32_t i = (uint32_t)first; i < end; i++) {
    refusal unused;
    float *values = t->to->values + (size_t)i * floats;
    if (t->from != NULL && !take_primitive(t->from, i, values, &unused)) {
      if (t->from->drops) primitive_void(t->kind, values);
      if (own->refused++ == 0) own->first = i;
    }
    extent_add(&found, t->kind, values_at(t->to, floats, i, space));
  }
  own->extent = found;
}

/* Stores and measures `count` primitives. */
static void take_all(uint32_t threads, taking *t, uint32_t count) {
  t->grain = partial_grain(count);
  partials_begin(t->partial);
  pool_loop(threads, count, t->grain, take_some, t);
  partials_end(t->partial, t->to);
}

void values_measure(uint32_t threads, geometry_values *to, slab_shape kind, uint32_t count) {
  taking t = {.to = to, .kind = kind};
  take_all(threads, &t, count);
}

static slab_status take_primitives(uint32_t threads, const addition *a, geometry_values *to, uint32_t *dropped) {
  taking t = {.from = a, .to = to, .kind = a->kind};
  take_all(threads, &t, a->count);
  *dropped = 0;
  for (int i = 0; i < PARTIALS; i++) {
    if (t.partial[i].refused > 0 && !a->drops) return refuse(a, t.partial[i].first);
    *dropped += t.partial[i].refused;
  }
  return SLAB_OK;
}

/* ---- vertex after vertex: of meshes with dense indices, and of triangles with vertices of their own ---- */

/* count 0: there are no such vertices. */
typedef struct vertex_source {
  const char *at;
  size_t stride; /* bytes */
  size_t count;
} vertex_source;

static vertex_source vertices_of(const addition *a, const mesh_indices *indices) {
  const size_t own = 3 * (size_t)a->count;
  if (a->kind != SLAB_TRIANGLE || (indices != NULL && !indices->dense)) return (vertex_source){0};
  if (a->mesh == NULL) return (vertex_source){(const char *)a->values, 3 * sizeof(float), own};
  const vertex_source all = {(const char *)a->mesh->vertices, stride_of(a->mesh), a->mesh->vertex_count};
  if (indices != NULL) return all;
  return (vertex_source){all.at, all.stride, all.count < own ? 0 : own};
}

typedef struct vertices_taking {
  vertex_source from;
  geometry_values *to;
  size_t grain;
  struct {
    float4 lower, upper;
    float4 odd; /* NaN where some coordinate was not finite */
  } partial[PARTIALS];
} vertices_taking;

/* Four floats at once, the last of which is the next vertex's, where there is one that belongs to the same piece. */
static void take_vertices(void *argument, size_t first, size_t end) {
  vertices_taking *t = argument;
  const vertex_source from = t->from;
  float *to = t->to->values;
  float4 lower = float4_all(INFINITY), upper = float4_all(-INFINITY), odd = float4_all(0.0f);
  for (size_t i = first; i < end; i++) {
    float4 v = float4_all(0.0f);
    if (i + 1 < end)
      memcpy(&v, from.at + i * from.stride, sizeof v);
    else
      memcpy(&v, from.at + i * from.stride, 3 * sizeof(float));
    if (i + 1 < end)
      memcpy(to + 3 * i, &v, sizeof v);
    else
      memcpy(to + 3 * i, &v, 3 * sizeof(float));
    lower = float4_min(v, lower);
    upper = float4_max(v, upper);
    odd += v * float4_all(0.0f);
  }
  t->partial[first / t->grain].lower = lower;
  t->partial[first / t->grain].upper = upper;
  t->partial[first / t->grain].odd = odd;
}

/* Returns whether all vertices are accepted: then all triangles are, and none is void. */
static bool take_all_vertices(uint32_t threads, vertex_source from, geometry_values *to) {
  vertices_taking t = {.from = from, .to = to, .grain = partial_grain(from.count)};
  const size_t pieces = (from.count + t.grain - 1) / t.grain;
  bool accepted = true;
  pool_loop(threads, from.count, t.grain, take_vertices, &t);
  for (int k = 0; k < 3; k++) {
    to->lower[k] = INFINITY;
    to->upper[k] = -INFINITY;
    for (size_t i = 0; i < pieces; i++) {
      to->lower[k] = fminf(to->lower[k], t.partial[i].lower[k]);
      to->upper[k] = fmaxf(to->upper[k], t.partial[i].upper[k]);
      accepted = accepted && t.partial[i].odd[k] == 0.0f;
    }
    accepted = accepted && is_within(to->lower[k], COORDINATE_MAX) && is_within(to->upper[k], COORDINATE_MAX);
  }
  return accepted;
}

typedef struct collapsed_counting {
  const geometry_values *of;
  size_t grain;
  uint32_t found[PARTIALS];
} collapsed_counting;

static void count_some_collapsed(void *argument, size_t first, size_t end) {
  collapsed_counting *c = argument;
  const geometry_values *v = c->of;
  uint32_t found = 0;
  for (uint32_t i = (uint32_t)first; i < end; i++) found += values_are_collapsed(v, i);
  c->found[first / c->grain] = found;
}

void values_look(uint32_t threads, geometry_values *v, uint32_t count) {
  if (!v->unlooked) return;
  collapsed_counting c = {.of = v, .grain = partial_grain(count)};
  uint32_t found = 0;
  pool_loop(threads, count, c.grain, count_some_collapsed, &c);
  for (int i = 0; i < PARTIALS; i++) found += c.found[i];
  v->unhit = found;
  v->unlooked = false;
}

/* ---- the whole ---- */

/* vertices: those to take one after the other; count 0: primitive after primitive. Takes over a reference of the
 * indices, on success. */
static slab_status take(uint32_t threads, const addition *a, mesh_indices *indices, vertex_source vertices,
                        geometry_values **values, uint32_t *dropped, bool *accepted) {
  const bool indexed = vertices.count > 0 && indices != NULL;
  geometry_values *made = values_create((uint32_t)a->kind, a->count, indices, indexed);
  if (made == NULL) return fail_memory(a->count * primitive_floats(a->kind) * sizeof(float), "geometry");
  slab_status status = SLAB_OK;
  made->mask = a->mask;
  made->world = a->world;
  made->drops = a->drops;
  *dropped = 0;
  *accepted = true;
  if (vertices.count > 0)
    *accepted = take_all_vertices(threads, vertices, made);
  else
    status = take_primitives(threads, a, made, dropped);
  if (vertices.count > 0) made->unhit = collapsed_by_index(made);
  made->unlooked = vertices.count > 0;
  if (status == SLAB_OK && *accepted) {
    *values = made;
    return SLAB_OK;
  }
  made->indices = NULL;
  values_release(made);
  return status;
}

slab_status values_take(uint32_t threads, const addition *a, geometry_values **values, uint32_t *dropped) {
  mesh_indices *indices = a->indices;
  if (indices != NULL) {
    indices->references++;
  } else if (a->mesh != NULL && a->mesh->indices != NULL && a->count > 0) {
    indices = values_indices_create(threads, a->mesh->indices, a->count, a->mesh->vertex_count);
    if (indices == NULL) return fail_memory(3 * (size_t)a->count * sizeof *indices->list, "a mesh's indices");
  }
  bool accepted = false;
  slab_status status = SLAB_OK;
  const vertex_source vertices = vertices_of(a, indices), none = {0};
  if (vertices.count > 0) status = take(threads, a, indices, vertices, values, dropped, &accepted);
  /* also to name the triangle that is refused, or to drop it */
  if (status == SLAB_OK && !accepted) status = take(threads, a, indices, none, values, dropped, &accepted);
  if (status != SLAB_OK) values_indices_release(indices);
  return status;
}
