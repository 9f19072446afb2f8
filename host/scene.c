/* Scenes: adding geometry, and committing it to the devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/pool.h"
#include "base/status.h"
#include "context.h"
#include "device.h"
#include "geometry.h"
#include "layout.h"
#include "pack.h"
#include "primitive.h"
#include "scene.h"
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

static void release_states(slab_scene *scene) {
  const uint32_t count = scene->states == NULL ? 0 : scene->context->device_count;
  for (uint32_t i = 0; i < count; i++) {
    const device *d = &scene->context->devices[i];
    d->backend->release(d, &scene->states[i]);
  }
  for (uint32_t i = 0; i < count; i++) {
    free(scene->states[i].kept[0]);
    free(scene->states[i].kept[1]);
  }
  free(scene->states);
  scene->states = NULL;
}

device_scene device_scene_of(const slab_scene *scene, uint32_t nth) {
  return (device_scene){scene, &scene->context->devices[nth], &scene->states[nth]};
}

bool has_traversals(const device_scene *on) {
  return on->scene->has_bvh && on->scene->context->layout == SLAB_LAYOUT_WIDE;
}

uint32_t packet_rays(const device_scene *on, slab_query query) {
  const device *d = on->device;
  if (!has_traversals(on) || d->info.lane_width == 1) return 0;
  return query == SLAB_ALL || query == SLAB_INTERVAL ? 0 : d->info.lane_width;
}

double in_flight_share(const device_scene *on) {
  const tuning *t = on->device->tuning;
  return has_traversals(on) ? (double)t->in_flight / t->interleaved_rays : 1.0;
}

void slab_scene_destroy(slab_scene *scene) {
  if (scene == NULL) return;
  release_states(scene);
  free(scene->table);
  free(scene->blocks);
  context_release(scene->context);
  free(scene);
}

/* ---- adding ---- */

static slab_status reserve_entry(slab_scene *scene) {
  if (scene->geometries < scene->table_capacity) return SLAB_OK;
  uint32_t capacity = scene->table_capacity == 0 ? 16 : 2 * scene->table_capacity;
  geometry_entry *grown = realloc(scene->table, capacity * sizeof *grown);
  if (grown == NULL) return fail_memory(capacity * sizeof *grown, "the geometry table");
  scene->table = grown;
  scene->table_capacity = capacity;
  return SLAB_OK;
}

static slab_status reserve_blocks(slab_scene *scene, size_t floats) {
  size_t needed = scene->block_floats + floats;
  if (needed < BLOCK_UNIT) needed = BLOCK_UNIT; /* blocks is never NULL once a geometry is added */
  if (needed <= scene->block_capacity) return SLAB_OK;
  size_t capacity = needed > 2 * scene->block_capacity ? needed : 2 * scene->block_capacity;
  float *grown = realloc(scene->blocks, capacity * sizeof *grown);
  if (grown == NULL) return fail_memory(capacity * sizeof *grown, "geometry");
  scene->blocks = grown;
  scene->block_capacity = capacity;
  return SLAB_OK;
}

/* A geometry of n primitives that is being added: the source of its primitives, and the names for messages. */
typedef struct addition {
  const char *function, *noun;
  slab_shape kind;
  uint32_t count;
  const float *values; /* floats of the public structs; NULL for a mesh */
  const slab_mesh *mesh;
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

/* A large array is cut into as many pieces, each with a result of its own. */
enum { PARTIALS = 64 };

static size_t partial_grain(uint32_t count) {
  const size_t grain = ((size_t)count + PARTIALS - 1) / PARTIALS;
  return grain < PARALLEL_LEAST ? PARALLEL_LEAST : grain;
}

typedef struct taking {
  const addition *from;
  bool drop;
  float *values;
  size_t grain;
  struct {
    uint32_t refused; /* how many; the first is only valid where there is one */
    uint32_t first;
  } partial[PARTIALS];
} taking;

static void take_some(void *argument, size_t first, size_t end) {
  taking *t = argument;
  const addition *a = t->from;
  const size_t rows = primitive_rows(a->kind), piece = first / t->grain;
  for (size_t i = first; i < end; i++) {
    refusal unused;
    if (take_primitive(a, (uint32_t)i, t->values + i * rows, &unused)) continue;
    if (t->drop) primitive_void(a->kind, t->values + i * rows);
    if (t->partial[piece].refused++ == 0) t->partial[piece].first = (uint32_t)i;
  }
}

/* Stores all primitives at `values`. With drop, void primitives replace refused ones; else the first refused one makes
 * the call fail. */
static slab_status take_primitives(const slab_scene *scene, const addition *a, bool drop, float *values,
                                   uint32_t *dropped) {
  taking t = {.from = a, .drop = drop, .values = values, .grain = partial_grain(a->count)};
  pool_loop(scene->context->threads, a->count, t.grain, take_some, &t);
  *dropped = 0;
  for (int i = 0; i < PARTIALS; i++) {
    if (t.partial[i].refused > 0 && !drop) return refuse(a, t.partial[i].first);
    *dropped += t.partial[i].refused;
  }
  return SLAB_OK;
}

static slab_status check_addition(const slab_scene *scene, const addition *a) {
  if (scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: scene is NULL", a->function);
  slab_status status = context_check_process(scene->context, a->function);
  if (status != SLAB_OK) return status;
  if (scene->committed) return fail(SLAB_INVALID_STATE, "%s: the scene is committed already", a->function);
  if (a->mesh == NULL && a->values == NULL && a->count > 0)
    return fail(SLAB_INVALID_ARGUMENT, "%s: the array of %u is NULL", a->function, a->count);
  if (scene->primitives + a->count > SCENE_PRIMITIVES)
    return fail(SLAB_INVALID_ARGUMENT, "%s: %u more are too many: the scene has %llu of at most %u primitives",
                a->function, a->count, (unsigned long long)scene->primitives, SCENE_PRIMITIVES);
  return SLAB_OK;
}

static size_t entry_floats(uint32_t kind, uint32_t count) {
  return ((size_t)count * primitive_rows(kind) + BLOCK_UNIT - 1) / BLOCK_UNIT * BLOCK_UNIT;
}

static uint64_t *kind_count(slab_scene_stats *stats, slab_shape kind) {
#define COUNT_OF_KIND(shape, name, names, noun, rows, form, place, source) [shape] = &stats->names,
  uint64_t *const counts[] = {SHAPES(COUNT_OF_KIND)};
#undef COUNT_OF_KIND
  return counts[kind];
}

void scene_append(slab_scene *scene, uint32_t kind, uint32_t seen_by, uint32_t count) {
  scene->table[scene->geometries++] = (geometry_entry){.kind = kind,
                                                       .mask = seen_by,
                                                       .count = count,
                                                       .global_id_base = (uint32_t)scene->primitives,
                                                       .first = (uint32_t)(scene->block_floats / BLOCK_UNIT)};
  *kind_count(&scene->stats, (slab_shape)kind) += count;
  scene->primitives += count;
  scene->block_floats += entry_floats(kind, count);
  if (count > 0) scene->kinds |= 1u << kind;
}

/* Adds a geometry. The scene does not change before every primitive is accepted. */
static slab_status add(slab_scene *scene, const addition *a, const slab_geometry_options *options, uint32_t *geometry) {
  static const slab_geometry_options defaults;
  if (options == NULL) options = &defaults;
  slab_status status = check_addition(scene, a);
  if (status != SLAB_OK) return status;
  ARITHMETIC callers = arithmetic_begin();
  size_t rows = primitive_rows(a->kind);
  size_t floats = entry_floats(a->kind, a->count);
  if ((status = reserve_entry(scene)) != SLAB_OK) return status;
  if ((status = reserve_blocks(scene, floats)) != SLAB_OK) return status;
  float *values = scene->blocks + scene->block_floats;
  uint32_t dropped = 0;
  status = take_primitives(scene, a, options->skip_invalid != 0, values, &dropped);
  if (status != SLAB_OK) return status;
  memset(values + a->count * rows, 0, (floats - a->count * rows) * sizeof *values);
  if (geometry != NULL) *geometry = scene->geometries;
  if (options->skipped != NULL) *options->skipped = dropped;
  scene_append(scene, (uint32_t)a->kind, options->mask == 0 ? UINT32_MAX : options->mask, a->count);
  return SLAB_OK;
}

/* slab_scene_add_planes, slab_scene_add_spheres and so on. Triangles come as meshes: below. */
#define ADD_OF_MESH(shape, name, names, noun)
#define ADD_OF_ARRAY(shape, name, names, noun)                                                   \
  slab_status slab_scene_add_##names(slab_scene *scene, const slab_##name *shapes, uint32_t n,   \
                                     const slab_geometry_options *options, uint32_t *geometry) { \
    const addition a = {"slab_scene_add_" #names, noun, shape, n, (const float *)shapes, NULL};  \
    return add(scene, &a, options, geometry);                                                    \
  }
#define ADD_OF(shape, name, names, noun, rows, form, place, source) ADD_OF_##source(shape, name, names, noun)
SHAPES(ADD_OF)
#undef ADD_OF

static slab_status check_mesh(const slab_mesh *mesh) {
  const char *function = "slab_scene_add_mesh";
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
  slab_status status = check_mesh(mesh);
  if (status != SLAB_OK) return status;
  addition a = {"slab_scene_add_mesh", "triangle", SLAB_TRIANGLE, mesh->triangle_count, NULL, mesh};
  return add(scene, &a, options, geometry);
}

/* ---- committing ---- */

typedef struct bounds {
  float lower[3], upper[3];
} bounds;

static const bounds no_bounds = {{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};

typedef struct measuring {
  slab_shape kind;
  const float *values;
  size_t grain;
  bounds partial[PARTIALS];
} measuring;

static void measure_some(void *argument, size_t first, size_t end) {
  measuring *m = argument;
  const size_t rows = primitive_rows(m->kind);
  bounds own = no_bounds;
  for (size_t i = first; i < end; i++)
    if (!primitive_is_void(m->kind, m->values + i * rows))
      primitive_grow(own.lower, own.upper, m->kind, m->values + i * rows);
  m->partial[first / m->grain] = own;
}

static void measure_entry(const slab_scene *scene, const geometry_entry *entry, bounds *all) {
  measuring m = {.kind = (slab_shape)entry->kind,
                 .values = scene->blocks + (size_t)entry->first * BLOCK_UNIT,
                 .grain = partial_grain(entry->count)};
  for (int i = 0; i < PARTIALS; i++) m.partial[i] = no_bounds;
  pool_loop(scene->context->threads, entry->count, m.grain, measure_some, &m);
  for (int i = 0; i < PARTIALS; i++)
    for (int k = 0; k < 3; k++) {
      if (m.partial[i].lower[k] < all->lower[k]) all->lower[k] = m.partial[i].lower[k];
      if (m.partial[i].upper[k] > all->upper[k]) all->upper[k] = m.partial[i].upper[k];
    }
}

static void measure_bounds(slab_scene *scene) {
  bounds all = no_bounds;
  for (uint32_t g = 0; g < scene->geometries; g++) measure_entry(scene, &scene->table[g], &all);
  memcpy(scene->stats.lower, all.lower, sizeof all.lower);
  memcpy(scene->stats.upper, all.upper, sizeof all.upper);
}

static slab_status make_states(slab_scene *scene) {
  const uint32_t count = scene->context->device_count;
  scene->stats.device_bytes = 0;
  scene->states = calloc(count, sizeof *scene->states);
  return scene->states == NULL ? fail_memory(count * sizeof *scene->states, "a scene's buffers") : SLAB_OK;
}

static slab_status upload(slab_scene *scene, uint32_t nth, const scene_arrays *a, bool *in_place) {
  const device *d = &scene->context->devices[nth];
  scene->stats.device_bytes += a->geometries * sizeof *a->table + a->floats * sizeof *a->blocks + a->node_bytes;
  return d->backend->upload(d, a, &scene->states[nth], in_place);
}

/* Keeps arrays that are used in place, and frees them otherwise. */
static void keep(scene_state *state, bool in_place, void *first, void *second) {
  if (in_place) {
    state->kept[0] = first;
    state->kept[1] = second;
    return;
  }
  free(first);
  free(second);
}

static slab_status upload_flat(slab_scene *scene, uint32_t nth) {
  geometry_entry *table = NULL;
  float *blocks = NULL;
  size_t floats = 0;
  bool in_place = false;
  slab_status status = pack_scene(scene, flat_lanes(&scene->context->devices[nth]), &table, &blocks, &floats);
  if (status != SLAB_OK) return status;
  const scene_arrays a = {.table = table, .geometries = scene->geometries, .blocks = blocks, .floats = floats};
  status = upload(scene, nth, &a, &in_place);
  keep(&scene->states[nth], in_place, table, blocks);
  return status;
}

static slab_status commit_flat(slab_scene *scene) {
  slab_status status = make_states(scene);
  scene->has_bvh = false;
  for (uint32_t i = 0; status == SLAB_OK && i < scene->context->device_count; i++) status = upload_flat(scene, i);
  return status;
}

slab_status scene_upload_tree(slab_scene *scene, bvh_layout *t) {
  const scene_arrays a = {.table = scene->table,
                          .geometries = scene->geometries,
                          .blocks = t->blocks,
                          .floats = t->floats,
                          .nodes = t->nodes,
                          .node_bytes = t->node_bytes,
                          .layout = scene->context->layout};
  bool in_place = false;
  slab_status status = make_states(scene);
  if (status != SLAB_OK) {
    free(t->nodes);
    free(t->blocks);
    return status;
  }
  for (uint32_t i = 0; i < scene->context->device_count && status == SLAB_OK; i++) {
    bool used = false;
    status = upload(scene, i, &a, &used);
    in_place = in_place || used;
  }
  const bool wide = scene->context->layout == SLAB_LAYOUT_WIDE;
  scene->has_bvh = true;
  scene->tree_nodes = wide ? t->node_bytes / sizeof(bvh_node) : 0;
  scene->bvh_floats = wide ? t->floats : 0;
  scene->stack = t->stack;
  memcpy(scene->uniforms.outside, t->outside, sizeof scene->uniforms.outside);
  scene->stats.tree_depth = t->depth;
  scene->stats.sah_cost = t->sah_cost;
  scene->stats.node_occupancy = t->node_occupancy;
  scene->stats.block_occupancy = t->block_occupancy;
  keep(&scene->states[0], in_place, t->nodes, t->blocks);
  return status;
}

/* Builds the BVH once, for all devices. */
static slab_status commit_tree(slab_scene *scene, slab_tree quality) {
  bvh_layout t;
  slab_status status = bvh_layout_build(scene, quality, scene->context->layout, &t);
  if (status == SLAB_OK) return scene_upload_tree(scene, &t);
  free(t.nodes);
  free(t.blocks);
  return status;
}

/* Below this brute force is about as fast as a BVH, so SLAB_TREE_DEFAULT becomes SLAB_TREE_FLAT. */
#define BVH_LEAST 1024

slab_status scene_upload(slab_scene *scene, slab_tree tree) {
  if (tree == SLAB_TREE_DEFAULT && scene->primitives < BVH_LEAST) tree = SLAB_TREE_FLAT;
  scene->tree = tree;
  slab_status status = tree == SLAB_TREE_FLAT ? commit_flat(scene) : commit_tree(scene, tree);
  if (status != SLAB_OK) release_states(scene);
  return status;
}

void scene_finish(slab_scene *scene, double begin) {
  measure_bounds(scene);
  scene->stats.geometries = scene->geometries;
  scene->stats.host_bytes =
      scene->block_capacity * sizeof *scene->blocks + scene->table_capacity * sizeof *scene->table + sizeof *scene;
  scene->stats.build_seconds = seconds_now() - begin;
  scene->uniforms.geometries = scene->geometries;
  scene->uniforms.mask = UINT32_MAX;
  scene->uniforms.units = (uint32_t)(scene->bvh_floats / BLOCK_UNIT);
  scene->committed = true;
}

slab_status slab_scene_commit(slab_scene *scene, const slab_build_options *options) {
  ARITHMETIC callers = arithmetic_begin();
  if (scene == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_commit: scene is NULL");
  slab_status status = context_check_process(scene->context, "slab_scene_commit");
  if (status != SLAB_OK) return status;
  if (scene->committed) return fail(SLAB_INVALID_STATE, "slab_scene_commit: the scene is committed already");
  if (options != NULL && (unsigned)options->tree > SLAB_TREE_HIGH)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_commit: tree is %d, not a slab_tree", (int)options->tree);
  double begin = seconds_now();
  status = scene_upload(scene, options == NULL ? SLAB_TREE_DEFAULT : options->tree);
  if (status != SLAB_OK) return status;
  scene_finish(scene, begin);
  return SLAB_OK;
}

slab_status slab_scene_info(const slab_scene *scene, slab_scene_stats *stats) {
  if (scene == NULL || stats == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_info: %s is NULL", scene == NULL ? "scene" : "stats");
  if (!scene->committed) return fail(SLAB_INVALID_STATE, "slab_scene_info: the scene is not committed");
  *stats = scene->stats;
  return SLAB_OK;
}
