/* Scenes: additions, changes and removals, until a commit (commit.c) lets casts see them. */
#include "scene/scene.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "data/types.h"
#include "device/context.h"
#include "os/thread.h"
#include "scene/moves.h"
#include "scene/origin.h"
#include "scene/worlds.h"

/* ---- creating and destroying ---- */

slab_status slab_scene_create(slab_context *context, slab_scene **scene) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_create: context is NULL");
  if (scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_create: scene is NULL");
  slab_status status = context_check_process(context, "slab_scene_create");
  if (status != SLAB_OK) return status;
  slab_scene *created = calloc(1, sizeof *created);
  if (created == NULL) return fail_memory(sizeof *created, "a scene");
  if (!os_mutex_init(&created->crowd)) {
    free(created);
    return fail_memory(sizeof(os_mutex), "a scene");
  }
  context_retain(context);
  created->context = context;
  atomic_init(&created->references, 1);
  *scene = created;
  return SLAB_OK;
}

slab_status scene_check(const slab_scene *scene, const char *function) {
  if (scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: scene is NULL", function);
  return context_check_process(scene->context, function);
}

slab_status slab_scene_origin(slab_scene *scene, const double origin[3]) {
  const char *function = "slab_scene_origin";
  ARITHMETIC callers = arithmetic_begin();
  const slab_status status = scene_check(scene, function);
  if (status != SLAB_OK) return status;
  if (origin == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: origin is NULL", function);
  for (int k = 0; k < 3; k++)
    if (!(fabs(origin[k]) <= ORIGIN_MAX))
      return fail(SLAB_INVALID_ARGUMENT, "%s: %c is not finite, or beyond 2^58 (%g)", function, "xyz"[k], origin[k]);
  if (scene->has_origin)
    return fail(SLAB_INVALID_STATE, "%s: the scene has an origin, at (%.17g, %.17g, %.17g)", function, scene->origin[0],
                scene->origin[1], scene->origin[2]);
  return origin_settle_at(scene, function, origin);
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

void scene_append(slab_scene *scene, const added_geometry *a, uint64_t ids) {
  added_geometry *to = &scene->added[scene->geometries++];
  *to = *a;
  to->id = (uint32_t)scene->ids;
  scene->ids += ids;
  scene->primitives += is_removed(a) ? 0 : a->count;
  scene->changed = scene->grown = scene->rearranged = true;
}

static slab_status check_array(const slab_scene *scene, const addition *a) {
  const slab_status status = scene_check(scene, a->function);
  if (status == SLAB_OK && a->mesh == NULL && a->values == NULL && a->values64 == NULL && a->count > 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the array of %u is NULL", a->function, a->count);
  return status;
}

slab_status scene_check_space(const slab_scene *scene, const char *function, uint32_t count, uint64_t ids) {
  if (scene->is_model)
    return fail(SLAB_INVALID_STATE, "%s: the scene is a model of another one, so it gets no more geometries", function);
  if (scene->ids + ids > SCENE_PRIMITIVES)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %llu more geometry ids are too many: the scene has %llu of at most %u",
                function, (unsigned long long)ids, (unsigned long long)scene->ids, SCENE_PRIMITIVES);
  if (scene->primitives + count > SCENE_PRIMITIVES)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u more are too many: the scene has %llu of at most %u primitives",
                function, count, (unsigned long long)scene->primitives, SCENE_PRIMITIVES);
  return SLAB_OK;
}

slab_status scene_check_world(const slab_scene *scene, const char *function, uint32_t world) {
  if (world <= scene->worlds) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "%s: world is %u, and the scene has %u", function, world, scene->worlds);
}

/* Makes values of an addition, and the doubles that wait for the origin. */
static slab_status take(const slab_scene *scene, addition *a, geometry_values **values, far_values **far,
                        uint32_t *dropped) {
  near_values near;
  slab_status status = origin_near(scene, a, &near);
  if (status == SLAB_OK) status = values_take(scene->context->threads, a, values, dropped);
  if (status == SLAB_OK) {
    *far = near.far;
    near.far = NULL;
  }
  near_values_free(&near);
  return status;
}

/* Adds a geometry. The scene does not change before every primitive is accepted. */
static slab_status add(slab_scene *scene, addition *a, const slab_geometry_options *options, uint32_t *geometry) {
  static const slab_geometry_options defaults;
  if (options == NULL) options = &defaults;
  slab_status status = check_array(scene, a);
  if (status == SLAB_OK) status = scene_check_space(scene, a->function, a->count, 1);
  if (status == SLAB_OK) status = scene_check_world(scene, a->function, options->world);
  if (status != SLAB_OK) return status;
  ARITHMETIC callers = arithmetic_begin();
  added_geometry added = {.kind = (uint32_t)a->kind, .count = a->count, .enabled = true};
  uint32_t dropped = 0;
  a->mask = options->mask == 0 ? UINT32_MAX : options->mask;
  a->world = options->world;
  a->drops = options->skip_invalid != 0;
  if ((status = scene_reserve(scene, scene->geometries + 1)) != SLAB_OK) return status;
  if ((status = take(scene, a, &added.values, &added.far, &dropped)) != SLAB_OK) return status;
  if (geometry != NULL) *geometry = (uint32_t)scene->ids;
  if (options->skipped != NULL) *options->skipped = dropped;
  scene_append(scene, &added, 1);
  return SLAB_OK;
}

/* slab_scene_add_planes, slab_scene_add_spheres and so on. Triangles come as meshes: below. */
#define ADD_OF_MESH(shape, name, names, noun)
#define ADD_OF_ARRAY(shape, name, names, noun)                                                           \
  slab_status slab_scene_add_##names(slab_scene *scene, const slab_##name *shapes, uint32_t n,           \
                                     const slab_geometry_options *options, uint32_t *geometry) {         \
    addition a = {"slab_scene_add_" #names, noun, shape, n, .values = (const float *)shapes};            \
    return add(scene, &a, options, geometry);                                                            \
  }                                                                                                      \
  slab_status slab_scene_add_##names##64(slab_scene * scene, const slab_##name##64 * shapes, uint32_t n, \
                                         const slab_geometry_options *options, uint32_t *geometry) {     \
    addition a = {"slab_scene_add_" #names "64", noun, shape, n, .values64 = (const double *)shapes};    \
    return add(scene, &a, options, geometry);                                                            \
  }
#define ADD_OF(shape, name, names, noun, floats, form, place, source) ADD_OF_##source(shape, name, names, noun)
SHAPES(ADD_OF)
#undef ADD_OF

slab_status scene_check_mesh(const char *function, const slab_mesh *mesh) {
  if (mesh == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: mesh is NULL", function);
  const size_t size = 3 * (mesh->vertices64 != NULL ? sizeof(double) : sizeof(float));
  if (mesh->vertices != NULL && mesh->vertices64 != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: vertices and vertices64 are both given", function);
  if (mesh->triangle_count == 0) return SLAB_OK;
  if (mesh->vertices == NULL && mesh->vertices64 == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "%s: vertices is NULL", function);
  if (mesh->vertex_stride != 0 && mesh->vertex_stride < size)
    return fail(SLAB_INVALID_ARGUMENT, "%s: vertex_stride is %zu, less than the %zu bytes of a vertex", function,
                mesh->vertex_stride, size);
  return SLAB_OK;
}

slab_status slab_scene_add_mesh(slab_scene *scene, const slab_mesh *mesh, const slab_geometry_options *options,
                                uint32_t *geometry) {
  const char *function = "slab_scene_add_mesh";
  const slab_status status = scene_check_mesh(function, mesh);
  if (status != SLAB_OK) return status;
  addition a = {function, "triangle", SLAB_TRIANGLE, mesh->triangle_count, .mesh = mesh};
  return add(scene, &a, options, geometry);
}

/* ---- changing ---- */

static const char *noun_of(uint32_t kind) {
#define NOUN_OF(shape, name, names, noun, floats, form, place, source) [shape] = (noun),
  static const char *const nouns[] = {SHAPES(NOUN_OF)};
#undef NOUN_OF
  return kind == SHAPE_INSTANCE ? "instance" : nouns[kind];
}

added_geometry *scene_added(const slab_scene *scene, uint32_t id) {
  uint32_t first = 0, end = scene->geometries;
  while (end - first > 1) {
    const uint32_t middle = first + (end - first) / 2;
    if (scene->added[middle].id > id)
      end = middle;
    else
      first = middle;
  }
  return &scene->added[first];
}

geometry_values *scene_values(const slab_scene *scene, uint32_t geometry) {
  return scene_added(scene, geometry)->values;
}

slab_status scene_find(const slab_scene *scene, const char *function, uint32_t geometry, added_geometry **found) {
  if (geometry >= scene->ids)
    return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u: the scene has %u", function, geometry, (uint32_t)scene->ids);
  added_geometry *a = scene_added(scene, geometry);
  if (is_removed(a)) return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u is removed", function, geometry);
  if (a->id != geometry)
    return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u is one of an instance; the instances are geometry %u", function,
                geometry, a->id);
  *found = a;
  return SLAB_OK;
}

slab_status scene_fail_kind(const char *function, uint32_t geometry, uint32_t kind, const char *wanted) {
  return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u has primitives of another kind: %s, not %s", function, geometry,
              noun_of(kind), wanted);
}

slab_status scene_update(slab_scene *scene, uint32_t geometry, addition *a) {
  added_geometry *of = NULL;
  slab_status status = check_array(scene, a);
  if (status == SLAB_OK) status = scene_find(scene, a->function, geometry, &of);
  if (status != SLAB_OK) return status;
  if (of->kind != (uint32_t)a->kind) return scene_fail_kind(a->function, geometry, of->kind, a->noun);
  if (of->count != a->count)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u primitives for geometry %u, which has %u", a->function, a->count,
                geometry, of->count);
  ARITHMETIC callers = arithmetic_begin();
  geometry_values *made = NULL;
  uint32_t unused;
  if (a->mesh != NULL && a->mesh->indices == NULL) a->indices = of->values->indices;
  if (a->indices != NULL && a->indices->vertex_count != a->mesh->vertex_count)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u vertices for the indices of geometry %u, which are of %u", a->function,
                a->mesh->vertex_count, geometry, a->indices->vertex_count);
  a->mask = of->values->mask;
  a->world = of->values->world;
  a->drops = of->values->drops;
  far_values *far = NULL;
  if ((status = take(scene, a, &made, &far, &unused)) != SLAB_OK) return status;
  values_release(of->values);
  free(of->far);
  of->values = made;
  of->far = far;
  scene->changed = scene->rearranged = true;
  return SLAB_OK;
}

/* ---- changing a range ---- */

static slab_status put_range(slab_scene *scene, added_geometry *of, values_range *r) {
  slab_status status = values_range_accept(of->values, of->count, r);
  if (status != SLAB_OK || r->count == 0) return status;
  geometry_values *own = values_own(scene->context->threads, of->values, r->kind, of->count);
  if (own == NULL) return fail_memory(of->values->floats * sizeof(float), "geometry");
  of->values = own;
  status = moves_reserve(scene, own, r);
  if (status != SLAB_OK) return status;
  values_range_put(own, r);
  moves_note(scene, (uint32_t)(of - scene->added), r);
  return SLAB_OK;
}

slab_status scene_update_range(slab_scene *scene, values_range *r) {
  added_geometry *of = NULL;
  slab_status status = scene_check(scene, r->function);
  if (status == SLAB_OK && r->values == NULL && r->values64 == NULL && r->count > 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the array of %u is NULL", r->function, r->count);
  if (status == SLAB_OK) status = scene_find(scene, r->function, r->geometry, &of);
  if (status != SLAB_OK) return status;
  if (of->kind != (uint32_t)r->kind)
    return scene_fail_kind(r->function, r->geometry, of->kind, noun_of((uint32_t)r->kind));
  ARITHMETIC callers = arithmetic_begin();
  const values_range given = *r;
  near_values near;
  status = origin_near_range(scene, r, &near);
  if (status == SLAB_OK) status = put_range(scene, of, r);
  if (status == SLAB_OK && of->far != NULL) origin_put_range(of->far, &given);
  near_values_free(&near);
  return status;
}

/* slab_scene_update_some_planes, slab_scene_update_some_spheres and so on. Of a mesh they are vertices: below. */
#define UPDATE_SOME_OF_MESH(shape, name, names, noun)
#define UPDATE_SOME_OF_ARRAY(shape, name, names, noun)                                                  \
  slab_status slab_scene_update_some_##names(slab_scene *scene, uint32_t geometry, uint32_t first,      \
                                             const slab_##name *shapes, uint32_t n) {                   \
    values_range r = {"slab_scene_update_some_" #names, noun, shape, geometry, first, n,                \
                      .values = (const float *)shapes};                                                 \
    return scene_update_range(scene, &r);                                                               \
  }                                                                                                     \
  slab_status slab_scene_update_some_##names##64(slab_scene * scene, uint32_t geometry, uint32_t first, \
                                                 const slab_##name##64 * shapes, uint32_t n) {          \
    values_range r = {"slab_scene_update_some_" #names "64", noun, shape, geometry, first, n,           \
                      .values64 = (const double *)shapes};                                              \
    return scene_update_range(scene, &r);                                                               \
  }
#define UPDATE_SOME_OF(shape, name, names, noun, floats, form, place, source) \
  UPDATE_SOME_OF_##source(shape, name, names, noun)
SHAPES(UPDATE_SOME_OF)
#undef UPDATE_SOME_OF

slab_status slab_scene_update_some_vertices(slab_scene *scene, uint32_t geometry, uint32_t first, const float *vertices,
                                            uint32_t n) {
  values_range r = {"slab_scene_update_some_vertices", "vertex", SLAB_TRIANGLE, geometry, first, n, .values = vertices};
  return scene_update_range(scene, &r);
}

slab_status slab_scene_update_some_vertices64(slab_scene *scene, uint32_t geometry, uint32_t first,
                                              const double *vertices, uint32_t n) {
  values_range r = {
      "slab_scene_update_some_vertices64", "vertex", SLAB_TRIANGLE, geometry, first, n, .values64 = vertices};
  return scene_update_range(scene, &r);
}

/* ---- changing all ---- */

/* slab_scene_update_planes, slab_scene_update_spheres and so on. */
#define UPDATE_OF_MESH(shape, name, names, noun)
#define UPDATE_OF_ARRAY(shape, name, names, noun)                                                                      \
  slab_status slab_scene_update_##names(slab_scene *scene, uint32_t geometry, const slab_##name *shapes, uint32_t n) { \
    addition a = {"slab_scene_update_" #names, noun, shape, n, .values = (const float *)shapes};                       \
    return scene_update(scene, geometry, &a);                                                                          \
  }                                                                                                                    \
  slab_status slab_scene_update_##names##64(slab_scene * scene, uint32_t geometry, const slab_##name##64 * shapes,     \
                                            uint32_t n) {                                                              \
    addition a = {"slab_scene_update_" #names "64", noun, shape, n, .values64 = (const double *)shapes};               \
    return scene_update(scene, geometry, &a);                                                                          \
  }
#define UPDATE_OF(shape, name, names, noun, floats, form, place, source) UPDATE_OF_##source(shape, name, names, noun)
SHAPES(UPDATE_OF)
#undef UPDATE_OF

slab_status slab_scene_update_mesh(slab_scene *scene, uint32_t geometry, const slab_mesh *mesh) {
  const char *function = "slab_scene_update_mesh";
  const slab_status status = scene_check_mesh(function, mesh);
  if (status != SLAB_OK) return status;
  addition a = {function, "triangle", SLAB_TRIANGLE, mesh->triangle_count, .mesh = mesh};
  return scene_update(scene, geometry, &a);
}

slab_status slab_scene_enable(slab_scene *scene, uint32_t geometry, int enabled) {
  added_geometry *of = NULL;
  slab_status status = scene_check(scene, "slab_scene_enable");
  if (status == SLAB_OK) status = scene_find(scene, "slab_scene_enable", geometry, &of);
  if (status != SLAB_OK) return status;
  if (of->enabled != (enabled != 0)) scene->changed = scene->rearranged = true;
  of->enabled = enabled != 0;
  return SLAB_OK;
}

slab_status slab_scene_remove(slab_scene *scene, uint32_t geometry) {
  added_geometry *of = NULL;
  slab_status status = scene_check(scene, "slab_scene_remove");
  if (status == SLAB_OK) status = scene_find(scene, "slab_scene_remove", geometry, &of);
  if (status != SLAB_OK) return status;
  values_release(of->values);
  instances_release(of->group);
  free(of->far);
  of->values = NULL;
  of->group = NULL;
  of->far = NULL;
  scene->primitives -= of->count;
  scene->changed = scene->rearranged = true;
  return SLAB_OK;
}

/* ---- worlds ---- */

/* The highest world that a geometry, or one of its instances, belongs to. */
static uint32_t highest_world(const added_geometry *a) {
  uint32_t highest = values_world(a->values);
  for (uint32_t i = 0; a->group != NULL && i < a->group->count; i++)
    if (a->group->instances[i].world > highest) highest = a->group->instances[i].world;
  return highest;
}

slab_status slab_scene_set_worlds(slab_scene *scene, uint32_t worlds) {
  const char *function = "slab_scene_set_worlds";
  const slab_status status = scene_check(scene, function);
  if (status != SLAB_OK) return status;
  if (worlds > SLAB_WORLDS)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u worlds are too many: a scene has %u at most", function, worlds,
                SLAB_WORLDS);
  if (worlds > 0 && scene->is_model)
    return fail(SLAB_INVALID_STATE, "%s: the scene is a model of another one, and a model has no worlds", function);
  for (uint32_t g = 0; worlds < scene->worlds && g < scene->geometries; g++) {
    const uint32_t highest = highest_world(&scene->added[g]);
    if (highest > worlds)
      return fail(SLAB_INVALID_ARGUMENT, "%s: geometry %u has something in world %u, beyond %u", function,
                  scene->added[g].id, highest, worlds);
  }
  if (worlds == scene->worlds) return SLAB_OK;
  uint64_t *moved_in = malloc((worlds + (size_t)1) * sizeof *moved_in);
  if (moved_in == NULL) return fail_memory(worlds * sizeof *moved_in, "the worlds");
  for (uint32_t world = 0; world <= worlds; world++) moved_in[world] = scene->frame + 1; /* maybe: it is not known */
  free(scene->moved_in);
  scene->moved_in = moved_in;
  scene->changed = scene->grown = scene->rearranged = true;
  scene->worlds = worlds;
  return SLAB_OK;
}
