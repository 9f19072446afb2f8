/* Scenes: what is added, changed and removed, until a commit (commit.c) lets casts see it. */
#include "scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/pool.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "context.h"
#include "geometry.h"
#include "primitive.h"
#include "types.h"

/* ---- creating and destroying ---- */

slab_status slab_scene_create(slab_context *context, slab_scene **scene) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_create: context is NULL");
  if (scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_create: scene is NULL");
  slab_status status = context_check_process(context, "slab_scene_create");
  if (status != SLAB_OK) return status;
  slab_scene *created = calloc(1, sizeof *created);
  if (created == NULL) return fail_memory(sizeof *created, "a scene");
  context_retain(context);
  created->context = context;
  *scene = created;
  return SLAB_OK;
}

void slab_scene_destroy(slab_scene *scene) {
  if (scene == NULL) return;
  for (snapshot *s = scene->replaced, *older; s != NULL; s = older) {
    older = s->older;
    snapshot_destroy(s);
  }
  snapshot_destroy(atomic_load(&scene->committed));
  for (uint32_t g = 0; g < scene->geometries; g++) values_release(scene->added[g].values);
  free(scene->added);
  context_release(scene->context);
  free(scene);
}

slab_status scene_check(const slab_scene *scene, const char *function) {
  if (scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: scene is NULL", function);
  return context_check_process(scene->context, function);
}

slab_status scene_enter(const slab_scene *scene, const char *function, scene_reading *r) {
  r->inside = readers_enter((readers *)&scene->readers); /* which those count in who only read the scene, too */
  r->scene = atomic_load(&scene->committed);
  if (r->scene != NULL) return SLAB_OK;
  scene_leave(r);
  return fail(SLAB_INVALID_STATE, "%s: the scene is not committed", function);
}

/* ---- values ---- */

size_t values_floats(uint32_t kind, uint32_t count) {
  return ((size_t)count * primitive_rows(kind) + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
}

geometry_values *values_create(uint32_t kind, uint32_t count) {
  const size_t used = (size_t)count * primitive_rows(kind), floats = values_floats(kind, count);
  geometry_values *v = calloc(1, sizeof *v);
  if (v == NULL) return NULL;
  *v = (geometry_values){.references = 1, .floats = floats, .values = bvh_allocate(floats, sizeof *v->values)};
  if (v->values == NULL) {
    free(v);
    return NULL;
  }
  memset(v->values + used, 0, (floats - used) * sizeof *v->values);
  return v;
}

void values_release(geometry_values *v) {
  if (v == NULL || --v->references > 0) return;
  free(v->values);
  free(v);
}

/* A large array is cut into as many pieces, each with a result of its own. */
enum { PARTIALS = 64 };

static size_t partial_grain(uint32_t count) {
  const size_t grain = ((size_t)count + PARTIALS - 1) / PARTIALS;
  return grain < PARALLEL_LEAST ? PARALLEL_LEAST : grain;
}

/* What is found in some of a geometry's primitives. */
typedef struct extent {
  float lower[3], upper[3];
  uint32_t voids, outside;
} extent;

static const extent no_extent = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}, 0, 0};

static void extent_add(extent *e, slab_shape kind, const float *values) {
  if (primitive_is_void(kind, values)) {
    e->voids++;
    return;
  }
  e->outside += primitive_is_outside(kind, values);
  primitive_grow(e->lower, e->upper, kind, values);
}

static void extent_join(geometry_values *all, const extent *e) {
  all->voids += e->voids;
  all->outside += e->outside;
  for (int k = 0; k < 3; k++) {
    if (e->lower[k] < all->lower[k]) all->lower[k] = e->lower[k];
    if (e->upper[k] > all->upper[k]) all->upper[k] = e->upper[k];
  }
}

/* ---- adding ---- */

slab_status scene_reserve(slab_scene *scene, uint32_t geometries) {
  if (geometries <= scene->capacity) return SLAB_OK;
  const uint32_t doubled = scene->capacity == 0 ? 16 : 2 * scene->capacity;
  const uint32_t capacity = geometries > doubled ? geometries : doubled;
  added_geometry *grown = realloc(scene->added, capacity * sizeof *grown);
  if (grown == NULL) return fail_memory(capacity * sizeof *grown, "the list of geometries");
  scene->added = grown;
  scene->capacity = capacity;
  return SLAB_OK;
}

void scene_append(slab_scene *scene, const added_geometry *a) {
  scene->added[scene->geometries++] = *a;
  scene->primitives += a->values == NULL ? 0 : a->count;
  scene->changed = scene->grown = true;
}

/* n primitives that are being added, or take the place of others: their source, and the names for messages. */
typedef struct addition {
  const char *function, *noun;
  slab_shape kind;
  uint32_t count;
  const float *values; /* floats of the public structs; NULL for a mesh */
  const slab_mesh *mesh;
  /* filled in by add and update */
  uint32_t mask;
  bool drops; /* void primitives replace refused ones; else the first refused one makes the call fail */
} addition;

/* Gathers the vertices of triangle i. Returns false where an index is out of range; *bad is that index. */
static bool gather_triangle(const slab_mesh *mesh, uint32_t i, float *values, uint32_t *bad) {
  size_t stride = mesh->vertex_stride == 0 ? 3 * sizeof(float) : mesh->vertex_stride;
  for (uint32_t k = 0; k < 3; k++) {
    size_t corner = 3 * (size_t)i + k;
    size_t index = mesh->indices == NULL ? corner : mesh->indices[corner];
    if (index >= mesh->vertex_count) {
      *bad = (uint32_t)index;
      return false;
    }
    memcpy(values + 3 * k, (const char *)mesh->vertices + index * stride, 3 * sizeof(float));
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
  size_t rows = primitive_rows(a->kind);
  *r = (refusal){0};
  if (a->mesh != NULL && !gather_triangle(a->mesh, i, values, &r->index)) return false;
  if (a->mesh == NULL) memcpy(values, a->values + i * rows, rows * sizeof *values);
  r->why = primitive_refusal(a->kind, values, &r->value);
  if (r->why != NULL) return false;
  primitive_normalise(a->kind, values);
  return true;
}

static slab_status refuse(const addition *a, uint32_t i) {
  float values[ROWS_MOST];
  refusal r;
  if (take_primitive(a, i, values, &r)) return SLAB_OK;
  if (r.why != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %s %u: %s (%g)", a->function, a->noun, i, r.why, (double)r.value);
  return fail(SLAB_INVALID_ARGUMENT, "%s: %s %u: index %u is out of range (vertex_count is %u)", a->function, a->noun,
              i, r.index, a->mesh->vertex_count);
}

typedef struct taking {
  const addition *from; /* NULL: the values are there */
  slab_shape kind;
  float *values;
  size_t grain;
  struct {
    uint32_t refused; /* how many; the first is only valid where there is one */
    uint32_t first;
    extent extent;
  } partial[PARTIALS];
} taking;

static void take_some(void *argument, size_t first, size_t end) {
  taking *t = argument;
  const size_t rows = primitive_rows(t->kind), piece = first / t->grain;
  extent own = no_extent;
  for (size_t i = first; i < end; i++) {
    refusal unused;
    float *values = t->values + i * rows;
    if (t->from != NULL && !take_primitive(t->from, (uint32_t)i, values, &unused)) {
      if (t->from->drops) primitive_void(t->kind, values);
      if (t->partial[piece].refused++ == 0) t->partial[piece].first = (uint32_t)i;
    }
    extent_add(&own, t->kind, values);
  }
  t->partial[piece].extent = own;
}

/* Stores and measures `count` primitives. */
static void take_all(const slab_context *context, taking *t, uint32_t count, geometry_values *to) {
  t->values = to->values;
  t->grain = partial_grain(count);
  for (int i = 0; i < PARTIALS; i++) t->partial[i].extent = no_extent;
  pool_loop(context->threads, count, t->grain, take_some, t);
  memcpy(to->lower, no_extent.lower, sizeof to->lower);
  memcpy(to->upper, no_extent.upper, sizeof to->upper);
  for (int i = 0; i < PARTIALS; i++) extent_join(to, &t->partial[i].extent);
}

void values_measure(const slab_context *context, geometry_values *to, slab_shape kind, uint32_t count) {
  taking t = {.kind = kind};
  take_all(context, &t, count, to);
}

static slab_status take_primitives(const slab_scene *scene, const addition *a, geometry_values *to, uint32_t *dropped) {
  taking t = {.from = a, .kind = a->kind};
  take_all(scene->context, &t, a->count, to);
  *dropped = 0;
  for (int i = 0; i < PARTIALS; i++) {
    if (t.partial[i].refused > 0 && !a->drops) return refuse(a, t.partial[i].first);
    *dropped += t.partial[i].refused;
  }
  return SLAB_OK;
}

static slab_status make_values(const slab_scene *scene, const addition *a, geometry_values **values,
                               uint32_t *dropped) {
  geometry_values *made = values_create((uint32_t)a->kind, a->count);
  if (made == NULL) return fail_memory(values_floats((uint32_t)a->kind, a->count) * sizeof(float), "geometry");
  made->mask = a->mask;
  made->drops = a->drops;
  const slab_status status = take_primitives(scene, a, made, dropped);
  if (status == SLAB_OK)
    *values = made;
  else
    values_release(made);
  return status;
}

static slab_status check_array(const slab_scene *scene, const addition *a) {
  const slab_status status = scene_check(scene, a->function);
  if (status == SLAB_OK && a->mesh == NULL && a->values == NULL && a->count > 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the array of %u is NULL", a->function, a->count);
  return status;
}

/* Adds a geometry. The scene does not change before every primitive is accepted. */
static slab_status add(slab_scene *scene, addition *a, const slab_geometry_options *options, uint32_t *geometry) {
  static const slab_geometry_options defaults;
  if (options == NULL) options = &defaults;
  slab_status status = check_array(scene, a);
  if (status != SLAB_OK) return status;
  if (scene->primitives + a->count > SCENE_PRIMITIVES)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u more are too many: the scene has %llu of at most %u primitives",
                a->function, a->count, (unsigned long long)scene->primitives, SCENE_PRIMITIVES);
  ARITHMETIC callers = arithmetic_begin();
  added_geometry added = {.kind = (uint32_t)a->kind, .count = a->count, .enabled = true};
  uint32_t dropped = 0;
  a->mask = options->mask == 0 ? UINT32_MAX : options->mask;
  a->drops = options->skip_invalid != 0;
  if ((status = scene_reserve(scene, scene->geometries + 1)) != SLAB_OK) return status;
  if ((status = make_values(scene, a, &added.values, &dropped)) != SLAB_OK) return status;
  if (geometry != NULL) *geometry = scene->geometries;
  if (options->skipped != NULL) *options->skipped = dropped;
  scene_append(scene, &added);
  return SLAB_OK;
}

/* slab_scene_add_planes, slab_scene_add_spheres and so on. Triangles come as meshes: below. */
#define ADD_OF_MESH(shape, name, names, noun)
#define ADD_OF_ARRAY(shape, name, names, noun)                                                      \
  slab_status slab_scene_add_##names(slab_scene *scene, const slab_##name *shapes, uint32_t n,      \
                                     const slab_geometry_options *options, uint32_t *geometry) {    \
    addition a = {"slab_scene_add_" #names, noun, shape, n, (const float *)shapes, NULL, 0, false}; \
    return add(scene, &a, options, geometry);                                                       \
  }
#define ADD_OF(shape, name, names, noun, rows, form, place, source) ADD_OF_##source(shape, name, names, noun)
SHAPES(ADD_OF)
#undef ADD_OF

static slab_status check_mesh(const char *function, const slab_mesh *mesh) {
  if (mesh == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: mesh is NULL", function);
  if (mesh->triangle_count == 0) return SLAB_OK;
  if (mesh->vertices == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: vertices is NULL", function);
  if (mesh->vertex_stride != 0 && mesh->vertex_stride < 3 * sizeof(float))
    return fail(SLAB_INVALID_ARGUMENT, "%s: vertex_stride is %zu, less than the 12 bytes of a vertex", function,
                mesh->vertex_stride);
  return SLAB_OK;
}

slab_status slab_scene_add_mesh(slab_scene *scene, const slab_mesh *mesh, const slab_geometry_options *options,
                                uint32_t *geometry) {
  const char *function = "slab_scene_add_mesh";
  const slab_status status = check_mesh(function, mesh);
  if (status != SLAB_OK) return status;
  addition a = {function, "triangle", SLAB_TRIANGLE, mesh->triangle_count, NULL, mesh, 0, false};
  return add(scene, &a, options, geometry);
}

/* ---- changing ---- */

static const char *noun_of(uint32_t kind) {
#define NOUN_OF(shape, name, names, noun, rows, form, place, source) [shape] = noun,
  static const char *const nouns[] = {SHAPES(NOUN_OF)};
#undef NOUN_OF
  return nouns[kind];
}

/* The geometry of this id, which is not removed. */
static slab_status find(const slab_scene *scene, const char *function, uint32_t geometry, added_geometry **found) {
  if (geometry >= scene->geometries)
    return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u: the scene has %u", function, geometry, scene->geometries);
  if (scene->added[geometry].values == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u is removed", function, geometry);
  *found = &scene->added[geometry];
  return SLAB_OK;
}

/* Replaces the primitives of a geometry. The scene does not change before every primitive is accepted. */
static slab_status update(slab_scene *scene, uint32_t geometry, addition *a) {
  added_geometry *of = NULL;
  slab_status status = check_array(scene, a);
  if (status == SLAB_OK) status = find(scene, a->function, geometry, &of);
  if (status != SLAB_OK) return status;
  if (of->kind != (uint32_t)a->kind)
    return fail(SLAB_INVALID_ARGUMENT, "%s: a primitive of geometry %u is a %s, not a %s", a->function, geometry,
                noun_of(of->kind), a->noun);
  if (of->count != a->count)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u primitives for geometry %u, which has %u", a->function, a->count,
                geometry, of->count);
  ARITHMETIC callers = arithmetic_begin();
  geometry_values *made = NULL;
  uint32_t unused;
  a->mask = of->values->mask;
  a->drops = of->values->drops;
  if ((status = make_values(scene, a, &made, &unused)) != SLAB_OK) return status;
  values_release(of->values);
  of->values = made;
  scene->changed = true;
  return SLAB_OK;
}

/* slab_scene_update_planes, slab_scene_update_spheres and so on. */
#define UPDATE_OF_MESH(shape, name, names, noun)
#define UPDATE_OF_ARRAY(shape, name, names, noun)                                                                      \
  slab_status slab_scene_update_##names(slab_scene *scene, uint32_t geometry, const slab_##name *shapes, uint32_t n) { \
    addition a = {"slab_scene_update_" #names, noun, shape, n, (const float *)shapes, NULL, 0, false};                 \
    return update(scene, geometry, &a);                                                                                \
  }
#define UPDATE_OF(shape, name, names, noun, rows, form, place, source) UPDATE_OF_##source(shape, name, names, noun)
SHAPES(UPDATE_OF)
#undef UPDATE_OF

slab_status slab_scene_update_mesh(slab_scene *scene, uint32_t geometry, const slab_mesh *mesh) {
  const char *function = "slab_scene_update_mesh";
  const slab_status status = check_mesh(function, mesh);
  if (status != SLAB_OK) return status;
  addition a = {function, "triangle", SLAB_TRIANGLE, mesh->triangle_count, NULL, mesh, 0, false};
  return update(scene, geometry, &a);
}

slab_status slab_scene_enable(slab_scene *scene, uint32_t geometry, int enabled) {
  added_geometry *of = NULL;
  slab_status status = scene_check(scene, "slab_scene_enable");
  if (status == SLAB_OK) status = find(scene, "slab_scene_enable", geometry, &of);
  if (status != SLAB_OK) return status;
  scene->changed = scene->changed || of->enabled != (enabled != 0);
  of->enabled = enabled != 0;
  return SLAB_OK;
}

slab_status slab_scene_remove(slab_scene *scene, uint32_t geometry) {
  added_geometry *of = NULL;
  slab_status status = scene_check(scene, "slab_scene_remove");
  if (status == SLAB_OK) status = find(scene, "slab_scene_remove", geometry, &of);
  if (status != SLAB_OK) return status;
  values_release(of->values);
  of->values = NULL;
  scene->primitives -= of->count;
  scene->changed = true;
  return SLAB_OK;
}
