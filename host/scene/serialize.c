/* Serializes a committed scene to bytes for other processes and machines, and reads it back.
 *
 * The parts are: header, geometries, their values and indices; a removed geometry has none. Wide BVHs have their nodes
 * and blocks too, in the layout that every device uses. Flat scenes are laid out again, since their layout depends on
 * the device's lanes. Compressed BVHs are built again, whether they are on the writing or on the reading side, and so
 * are those of scenes with instances. Each part begins at a multiple of ALIGN.
 *
 * The models of a scene come before it, each once and as the scene's commit saw it, in the same form. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "data/types.h"
#include "device/backend.h"
#include "device/context.h"
#include "layout/layout.h"
#include "maths/primitive.h"
#include "os/clock.h"
#include "os/memory.h"
#include "record/device.h"
#include "scene/models.h"
#include "scene/origin.h"
#include "scene/scene.h"
#include "scene/snapshot.h"
#include "scene/worlds.h"
#include "shapes/primitive.h"
#include "shapes/values.h"

#define ALIGN 64
/* Version of this header, serialized_geometry, instance_entry, bvh_node and the blocks. It changes with any of them. */
#define SERIALIZED_VERSION 6
#define SERIALIZED_BYTE_ORDER 0x01020304u

typedef struct serialized_header {
  char magic[8];
  uint32_t version, byte_order;
  uint64_t bytes;    /* from here on, to the end of the last scene */
  uint64_t checksum; /* of all bytes from the first scene to the end of this one; the checksum itself counts as 0 */
  uint64_t geometries, floats;
  uint64_t tree;              /* slab_tree */
  uint64_t worlds;            /* declared; of a model 0 */
  uint64_t nodes, bvh_floats; /* nodes 0: flat, or not a wide BVH */
  uint64_t collapsed_root;    /* as in bvh_layout */
  bvh_outside outside[OUTSIDE_KINDS];
  double sah_cost, node_occupancy, block_occupancy;
  double built_cost; /* sah_cost after the last build */
  double origin[3];
} serialized_header;

/* A geometry. A removed one may keep its global primitive ids, which the BVH then still has space for. */
typedef struct serialized_geometry {
  uint32_t kind, mask, count; /* mask: also of one that is disabled */
  uint32_t state;             /* GEOMETRY_ENABLED and so on */
  uint32_t vertices;          /* of the mesh, where there are indices */
  uint32_t model;             /* of instances: which of the scenes before this one */
  uint32_t ids;               /* of geometries, that it takes */
  uint32_t world;             /* of primitives; instances have their own */
} serialized_geometry;

enum {
  GEOMETRY_ENABLED = 1,
  GEOMETRY_REMOVED = 2,
  GEOMETRY_DROPS = 4,
  GEOMETRY_HAS_INDICES = 8, /* they follow the values */
  GEOMETRY_INDEXED = 16     /* geometry_values.indexed */
};

static const char serialized_magic[8] = "slabscn";

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* ---- offsets of the parts ---- */

typedef struct serialized_parts {
  uint64_t table, blocks, nodes, bvh_blocks, end;
} serialized_parts;

static serialized_parts parts_of(const serialized_header *h) {
  serialized_parts p;
  p.table = aligned(sizeof *h);
  p.blocks = p.table + aligned(h->geometries * sizeof(serialized_geometry));
  p.nodes = p.blocks + aligned(h->floats * sizeof(float));
  p.bvh_blocks = p.nodes + aligned(h->nodes * sizeof(bvh_node));
  p.end = p.bvh_blocks + aligned(h->bvh_floats * sizeof(float));
  return p;
}

/* Each step is invertible, so that every change of a single word changes the sum. */
static uint64_t sum_words(uint64_t sum, const void *bytes, size_t size) {
  const uint64_t *words = bytes;
  for (size_t i = 0; i < size / sizeof *words; i++) sum = (sum ^ words[i]) * 0x9E3779B97F4A7C15u;
  return sum;
}

/* before: the checksum of the scene before this one, or 0. */
static uint64_t checksum_of(uint64_t before, const char *bytes, uint64_t size) {
  serialized_header head;
  memcpy(&head, bytes, sizeof head);
  head.checksum = 0;
  return sum_words(sum_words(before, &head, sizeof head), bytes + sizeof head, (size_t)size - sizeof head);
}

/* ---- writing ---- */

/* The scenes that are packed, each after its models. */
typedef struct packing {
  const snapshot **scenes;
  uint32_t count, capacity;
} packing;

static uint32_t index_of_scene(const packing *p, const snapshot *scene) {
  uint32_t i = 0;
  while (i < p->count && p->scenes[i] != scene) i++;
  return i;
}

static slab_status list_scene(packing *p, const snapshot *scene) {
  if (p->count == p->capacity) {
    const uint32_t capacity = 2 * p->capacity + 1;
    const snapshot **grown = realloc(p->scenes, capacity * sizeof *grown);
    if (grown == NULL) return fail_memory(capacity * sizeof *grown, "the list of models");
    p->scenes = grown;
    p->capacity = capacity;
  }
  p->scenes[p->count++] = scene;
  return SLAB_OK;
}

/* Lists a scene and its models, unless it is listed. */
static slab_status list_scenes(packing *p, const snapshot *scene) {
  slab_status status = SLAB_OK;
  if (index_of_scene(p, scene) < p->count) return SLAB_OK;
  for (uint32_t g = 0; g < scene->geometries && status == SLAB_OK; g++)
    if (scene->models[g].snapshot != NULL) status = list_scenes(p, scene->models[g].snapshot);
  return status == SLAB_OK ? list_scene(p, scene) : status;
}

/* A forked child cannot read the memory of its parent's driver. */
static bool is_at_hand(const snapshot *scene) {
  return scene->context->devices[0].backend->at_hand || !is_inherited(&scene->context->devices[0]);
}

static bool packs_tree(const snapshot *scene) {
  return scene->has_bvh && !scene->has_instances && scene->context->layout == SLAB_LAYOUT_WIDE && is_at_hand(scene);
}

/* Words of n instances, in the part of values. */
static size_t instance_words(uint32_t n) { return (size_t)n * (sizeof(instance_entry) / sizeof(float)); }

/* The size of a geometry in the part of values, in words. */
static size_t geometry_words(const snapshot *scene, uint32_t g) {
  const geometry_values *v = scene->values[g];
  if (scene->groups[g] != NULL) return instance_words(scene->groups[g]->count);
  if (v == NULL) return 0;
  return v->floats + (v->indices != NULL ? values_floats(3, scene->table[g].count) : 0);
}

static serialized_header describe(const snapshot *scene) {
  serialized_header h;
  memset(&h, 0, sizeof h);
  memcpy(h.magic, serialized_magic, sizeof h.magic);
  h.version = SERIALIZED_VERSION;
  h.byte_order = SERIALIZED_BYTE_ORDER;
  h.geometries = scene->geometries;
  for (uint32_t g = 0; g < scene->geometries; g++) h.floats += geometry_words(scene, g);
  h.tree = (uint64_t)scene->tree;
  h.worlds = scene->worlds;
  h.nodes = packs_tree(scene) ? scene->bvh.node_bytes / sizeof(bvh_node) : 0;
  h.bvh_floats = packs_tree(scene) ? scene->bvh.floats : 0;
  h.collapsed_root = packs_tree(scene) ? scene->bvh.collapsed_root : 0;
  memcpy(h.outside, scene->uniforms.outside, sizeof h.outside);
  h.sah_cost = scene->stats.sah_cost;
  h.node_occupancy = scene->stats.node_occupancy;
  h.block_occupancy = scene->stats.block_occupancy;
  h.built_cost = scene->built_cost;
  memcpy(h.origin, scene->stats.origin, sizeof h.origin);
  return h;
}

/* Reads the wide BVH from the first device, if there is one. All devices of a scene hold the same BVH. */
static slab_status fetch_tree(const snapshot *scene, char *nodes, char *blocks) {
  if (!packs_tree(scene)) return SLAB_OK;
  const device *d = &scene->context->devices[0];
  return d->backend->fetch(d, &scene->states[0], SLAB_LAYOUT_WIDE, scene->bvh.node_bytes, scene->bvh.floats, nodes,
                           blocks);
}

static uint32_t ids_of(const snapshot *scene, uint32_t g) {
  return (g + 1 < scene->geometries ? scene->table[g + 1].id : scene->ids) - scene->table[g].id;
}

static serialized_geometry geometry_now(const packing *p, const snapshot *scene, uint32_t g) {
  const geometry_values *v = scene->values[g];
  const geometry_entry *e = &scene->table[g];
  serialized_geometry now = {.kind = e->kind, .count = e->count, .ids = ids_of(scene, g)};
  now.state = v == NULL ? GEOMETRY_REMOVED : is_hidden(scene, g) ? 0 : GEOMETRY_ENABLED;
  if (v == NULL) return now;
  now.mask = v->mask;
  now.world = v->world;
  if (v->drops) now.state |= GEOMETRY_DROPS;
  if (v->indexed) now.state |= GEOMETRY_INDEXED;
  if (v->indices != NULL) now.state |= GEOMETRY_HAS_INDICES;
  if (v->indices != NULL) now.vertices = v->indices->vertex_count;
  if (scene->groups[g] != NULL) now.model = index_of_scene(p, scene->models[g].snapshot);
  return now;
}

static void write_values(const snapshot *scene, uint32_t g, char *to) {
  const geometry_values *v = scene->values[g];
  const instance_group *group = scene->groups[g];
  if (group != NULL) {
    for (uint32_t i = 0; i < group->count; i++) {
      instance_entry entry = group->instances[i];
      entry.model = entry.geometry = 0; /* the instances' entries in the arrays */
      memcpy(to + i * sizeof entry, &entry, sizeof entry);
    }
  } else if (v != NULL) {
    memcpy(to, v->values, v->floats * sizeof *v->values);
    if (v->indices == NULL) return;
    const size_t list = 3 * (size_t)scene->table[g].count * sizeof *v->indices->list;
    memcpy(to + v->floats * sizeof *v->values, v->indices->list, list);
  }
}

static void write_geometries(const packing *p, const snapshot *scene, char *table, char *values) {
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const serialized_geometry now = geometry_now(p, scene, g);
    memcpy(table + g * sizeof now, &now, sizeof now);
    write_values(scene, g, values);
    values += geometry_words(scene, g) * sizeof(float);
  }
}

static slab_status write_serialized(const packing *p, const snapshot *scene, uint64_t before, serialized_header *h,
                                    char *bytes) {
  const serialized_parts parts = parts_of(h);
  memset(bytes, 0, (size_t)parts.nodes); /* also the gaps between the parts, so that equal scenes give equal bytes */
  memcpy(bytes, h, sizeof *h);
  write_geometries(p, scene, bytes + parts.table, bytes + parts.blocks);
  slab_status status = fetch_tree(scene, bytes + parts.nodes, bytes + parts.bvh_blocks);
  h->checksum = checksum_of(before, bytes, parts.end);
  memcpy(bytes, h, sizeof *h);
  return status;
}

static slab_status write_scenes(const packing *p, char *bytes, size_t size) {
  slab_status status = SLAB_OK;
  uint64_t before = 0;
  for (uint32_t i = 0; i < p->count && status == SLAB_OK; i++) {
    serialized_header h = describe(p->scenes[i]);
    h.bytes = size;
    status = write_serialized(p, p->scenes[i], before, &h, bytes);
    before = h.checksum;
    bytes += parts_of(&h).end;
    size -= (size_t)parts_of(&h).end;
  }
  return status;
}

static slab_status pack_listed(const packing *p, void *bytes, size_t capacity, size_t *size) {
  *size = 0;
  for (uint32_t i = 0; i < p->count; i++) {
    const serialized_header h = describe(p->scenes[i]);
    *size += (size_t)parts_of(&h).end;
  }
  if (capacity == 0) return SLAB_OK;
  if (capacity < *size)
    return fail(SLAB_CAPACITY, "slab_scene_pack: the scene takes %zu bytes, and there is space for %zu", *size,
                capacity);
  return write_scenes(p, bytes, *size);
}

static slab_status pack(const snapshot *scene, void *bytes, size_t capacity, size_t *size) {
  packing p = {0};
  slab_status status = list_scenes(&p, scene);
  if (status == SLAB_OK) status = pack_listed(&p, bytes, capacity, size);
  free(p.scenes);
  return status;
}

/* A forked child cannot make the commit that its parent had not made: it packs the geometries as they are now, for a
 * new BVH. */
static slab_status pack_uncommitted(const slab_scene *scene, void *bytes, size_t capacity, size_t *size) {
  const snapshot *last = atomic_load(&scene->committed);
  snapshot *now = NULL;
  slab_status status = origin_settle((slab_scene *)scene, "slab_scene_pack"); /* the child's own copy of it */
  if (status == SLAB_OK) status = scene_snapshot(scene, NULL, &now);
  if (status != SLAB_OK) return status;
  if (last != NULL && last->tree != SLAB_TREE_FLAT) now->tree = last->tree; /* which may have been for few primitives */
  status = pack(now, bytes, capacity, size);
  snapshot_destroy(now);
  return status;
}

slab_status slab_scene_pack(const slab_scene *scene, void *bytes, size_t capacity, size_t *size) {
  if (scene == NULL || size == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_pack: %s is NULL", scene == NULL ? "scene" : "size");
  if (bytes == NULL && capacity > 0) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_pack: bytes is NULL");
  ARITHMETIC callers = arithmetic_begin();
  if (is_inherited(&scene->context->devices[0]) && (scene->changed || atomic_load(&scene->committed) == NULL))
    return pack_uncommitted(scene, bytes, capacity, size);
  scene_reading reading;
  slab_status status = scene_enter(scene, "slab_scene_pack", &reading);
  if (status != SLAB_OK) return status;
  status = pack(reading.scene, bytes, capacity, size);
  scene_leave(&reading);
  return status;
}

/* ---- reading ---- */

static slab_status refuse(const char *why) { return fail(SLAB_INVALID_ARGUMENT, "slab_scene_unpack: %s", why); }

/* Checks that the bytes begin with a complete serialized scene that is undamaged. */
static slab_status check_header(const char *bytes, size_t size, uint64_t before, serialized_header *h) {
  if (size < sizeof *h) return refuse("too few bytes for a packed scene");
  memcpy(h, bytes, sizeof *h);
  if (memcmp(h->magic, serialized_magic, sizeof h->magic) != 0) return refuse("not a packed scene");
  if (h->byte_order != SERIALIZED_BYTE_ORDER) return refuse("packed on a machine of another byte order");
  if (h->version != SERIALIZED_VERSION)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_unpack: packed as version %u, and this library reads version %u",
                h->version, SERIALIZED_VERSION);
  if (h->bytes != size)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_unpack: %zu bytes of a packed scene of %llu", size,
                (unsigned long long)h->bytes);
  /* none exceeds the size of the whole, so that sums of a few cannot overflow */
  if (h->geometries > size || h->floats > size || h->nodes > size || h->bvh_floats > size ||
      h->geometries > UINT32_MAX || h->nodes > UINT32_MAX || h->tree > SLAB_TREE_HIGH || h->worlds > SLAB_WORLDS ||
      parts_of(h).end > size || checksum_of(before, bytes, parts_of(h).end) != h->checksum)
    return refuse("the packed scene is damaged");
  return SLAB_OK;
}

/* Checks all the scenes, and counts them. */
static slab_status check_headers(const char *bytes, size_t size, uint32_t *count) {
  serialized_header h = {.checksum = 0};
  slab_status status = SLAB_OK;
  *count = 0;
  do {
    status = check_header(bytes, size, h.checksum, &h);
    if (status != SLAB_OK) return status;
    ++*count;
    bytes += parts_of(&h).end;
    size -= (size_t)parts_of(&h).end;
  } while (size > 0);
  return SLAB_OK;
}

static slab_status refuse_table(void) { return refuse("the packed scene's table does not fit its primitives"); }

static slab_status refuse_world(void) { return refuse("the packed scene has no such world"); }

/* Values as they were packed, which begin at *at and end within `floats`. */
static slab_status take_values(const slab_context *context, const serialized_geometry *g, const float *from,
                               uint64_t floats, uint64_t *at, geometry_values **values) {
  const bool indexed = (g->state & GEOMETRY_INDEXED) != 0, has_indices = (g->state & GEOMETRY_HAS_INDICES) != 0;
  const size_t size = indexed ? values_floats(3, g->vertices) : values_floats(primitive_floats(g->kind), g->count);
  const size_t list = has_indices ? values_floats(3, g->count) : 0;
  mesh_indices *indices = NULL;
  if (size + list > floats - *at || (has_indices && g->kind != SLAB_TRIANGLE)) return refuse_table();
  if (has_indices) {
    indices = values_indices_create(context->threads, (const uint32_t *)(const void *)(from + *at + size), g->count,
                                    g->vertices);
    if (indices == NULL) return fail_memory(list * sizeof *from, "a mesh's indices");
  }
  if (indexed && (indices == NULL || !indices->dense)) {
    values_indices_release(indices);
    return refuse_table();
  }
  geometry_values *v = values_create(g->kind, g->count, indices, indexed);
  if (v == NULL) {
    values_indices_release(indices);
    return fail_memory(size * sizeof *from, "geometry");
  }
  memcpy(v->values, from + *at, size * sizeof *from);
  *at += size + list;
  v->mask = g->mask;
  v->world = g->world;
  v->drops = (g->state & GEOMETRY_DROPS) != 0;
  values_measure(context->threads, v, (slab_shape)g->kind, g->count);
  *values = v;
  return SLAB_OK;
}

/* Scenes that were unpacked: the last one, and before it the models. */
typedef struct unpacking {
  slab_scene **scenes;
  uint32_t count;
} unpacking;

/* Instances as they were packed, the same way. */
static slab_status take_instances(const unpacking *u, const slab_scene *scene, const serialized_geometry *g,
                                  const float *from, uint64_t floats, uint64_t *at, instance_group **group) {
  const size_t size = instance_words(g->count);
  if (size > floats - *at || g->model >= u->count) return refuse_table();
  slab_scene *model = u->scenes[g->model];
  if (g->ids != g->count * model->ids || model->worlds > 0) return refuse_table();
  slab_status status = scene_check_depth("slab_scene_unpack", model);
  if (status == SLAB_OK)
    status = instances_restore("slab_scene_unpack", model, (const instance_entry *)(const void *)(from + *at), g->count,
                               g->mask, group);
  if (status != SLAB_OK) return status;
  model->is_model = true;
  *at += size;
  for (uint32_t i = 0; i < g->count; i++)
    if ((*group)->instances[i].world > scene->worlds) return refuse_world();
  return SLAB_OK;
}

/* A geometry as it was packed. */
static slab_status take_geometry(const unpacking *u, slab_scene *scene, const serialized_geometry *g, const float *from,
                                 uint64_t floats, uint64_t *at) {
  added_geometry added = {.kind = g->kind, .count = g->count, .enabled = (g->state & GEOMETRY_ENABLED) != 0};
  slab_status status = SLAB_OK;
  if ((g->state & GEOMETRY_REMOVED) == 0)
    status = g->kind == SHAPE_INSTANCE ? take_instances(u, scene, g, from, floats, at, &added.group)
                                       : take_values(scene->context, g, from, floats, at, &added.values);
  if (status == SLAB_OK && g->world > scene->worlds) status = refuse_world();
  if (status == SLAB_OK) {
    scene_append(scene, &added, g->ids);
    return SLAB_OK;
  }
  values_release(added.values);
  instances_release(added.group);
  return status;
}

/* Whether an entry of the table is one of a scene that has `primitives` and `ids` so far. */
static bool is_entry(const serialized_geometry *g, uint64_t primitives, uint64_t ids) {
  if (g->kind > SHAPE_INSTANCE || (g->kind != SHAPE_INSTANCE && g->ids != 1)) return false;
  if (primitives + g->count > SCENE_PRIMITIVES || ids + g->ids > SCENE_PRIMITIVES) return false;
  return (g->state & GEOMETRY_REMOVED) != 0 || g->mask != 0;
}

/* numbered: receives the number of the BVH's global primitive ids. */
static slab_status take_geometries(const unpacking *u, slab_scene *scene, const serialized_header *h,
                                   const serialized_geometry *table, const float *values, snapshot *numbered) {
  uint64_t at = 0;
  slab_status status = scene_reserve(scene, (uint32_t)h->geometries);
  for (uint32_t g = 0; g < h->geometries && status == SLAB_OK; g++) {
    const serialized_geometry *e = &table[g];
    if (!is_entry(e, numbered->primitives, scene->ids)) return refuse("the packed scene's table is not one");
    numbered->table[g] =
        (geometry_entry){.kind = e->kind, .count = e->count, .global_id_base = (uint32_t)numbered->primitives};
    numbered->primitives += e->count;
    status = take_geometry(u, scene, e, values, h->floats, &at);
  }
  if (status == SLAB_OK && at != h->floats) status = refuse_table();
  return status;
}

/* Copies the parts of the BVH for the scene, and validates them. */
static slab_status take_tree(snapshot *scene, const serialized_header *h, const char *nodes, const char *blocks) {
  bvh_layout t = {.node_bytes = (size_t)h->nodes * sizeof(bvh_node),
                  .floats = (size_t)h->bvh_floats,
                  .collapsed_root = (uint32_t)h->collapsed_root,
                  .sah_cost = h->sah_cost,
                  .node_occupancy = h->node_occupancy,
                  .block_occupancy = h->block_occupancy};
  if (scene->has_instances) return refuse_table();
  memcpy(t.outside, h->outside, sizeof h->outside);
  scene->tree = (slab_tree)h->tree;
  scene->built_cost = h->built_cost;
  t.nodes = bvh_allocate(t.node_bytes, 1);
  t.blocks = bvh_allocate(t.floats, sizeof *t.blocks);
  slab_status status = SLAB_OK;
  if (t.nodes == NULL || t.blocks == NULL) {
    status = fail_memory(t.node_bytes + t.floats * sizeof *t.blocks, "the tree");
  } else {
    memcpy(t.nodes, nodes, t.node_bytes);
    memcpy(t.blocks, blocks, t.floats * sizeof *t.blocks);
    status = bvh_layout_trust(scene, &t);
  }
  if (status == SLAB_OK) return snapshot_upload_tree(scene, &t);
  os_free(t.nodes);
  os_free(t.blocks);
  return status;
}

static slab_status take_snapshot(slab_scene *scene, const serialized_header *h, const char *bytes,
                                 const snapshot *numbered, double begin) {
  const serialized_parts p = parts_of(h);
  const bool has_tree = h->nodes > 0 && scene->context->layout == SLAB_LAYOUT_WIDE;
  snapshot *made = NULL;
  slab_status status = scene_snapshot(scene, has_tree ? numbered : NULL, &made);
  if (status != SLAB_OK) return status;
  status = has_tree ? take_tree(made, h, bytes + p.nodes, bytes + p.bvh_blocks)
                    : snapshot_upload(made, &(worlds_before){.last = NULL}, (slab_tree)h->tree);
  if (status != SLAB_OK) {
    snapshot_destroy(made);
    return status;
  }
  snapshot_finish(made, begin);
  scene_publish(scene, made);
  return SLAB_OK;
}

static slab_status take(const unpacking *u, slab_scene *scene, const serialized_header *h, const char *bytes) {
  const serialized_parts p = parts_of(h);
  const double begin = seconds_now();
  snapshot *numbered = snapshot_create(scene->context, (uint32_t)h->geometries);
  if (numbered == NULL) return fail_memory(h->geometries * sizeof *numbered->table, "the geometry table");
  slab_status status = slab_scene_set_worlds(scene, (uint32_t)h->worlds);
  if (status == SLAB_OK) status = slab_scene_origin(scene, h->origin);
  if (status == SLAB_OK)
    status = take_geometries(u, scene, h, (const void *)(bytes + p.table), (const void *)(bytes + p.blocks), numbered);
  if (status == SLAB_OK) status = take_snapshot(scene, h, bytes, numbered, begin);
  snapshot_destroy(numbered);
  return status;
}

static slab_status take_scenes(slab_context *context, const char *bytes, uint32_t count, unpacking *u) {
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; i < count && status == SLAB_OK; i++) {
    serialized_header h;
    memcpy(&h, bytes, sizeof h);
    status = slab_scene_create(context, &u->scenes[i]);
    if (status == SLAB_OK) status = take(u, u->scenes[i], &h, bytes);
    if (status == SLAB_OK) u->count++;
    bytes += parts_of(&h).end;
  }
  return status;
}

static slab_status unpack(slab_context *context, const char *bytes, size_t size, slab_scene **scene) {
  uint32_t count = 0;
  unpacking u = {NULL, 0};
  slab_status status = check_headers(bytes, size, &count);
  if (status != SLAB_OK) return status;
  u.scenes = calloc(count, sizeof *u.scenes);
  if (u.scenes == NULL) return fail_memory(count * sizeof *u.scenes, "the list of models");
  status = take_scenes(context, bytes, count, &u);
  if (status == SLAB_OK) *scene = u.scenes[--count];
  for (uint32_t i = 0; i < count; i++) slab_scene_destroy(u.scenes[i]); /* models live on where others retain them */
  free(u.scenes);
  return status;
}

slab_status slab_scene_unpack(slab_context *context, const void *bytes, size_t size, slab_scene **scene) {
  if (context == NULL || bytes == NULL || scene == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_unpack: %s is NULL",
                context == NULL ? "context"
                : bytes == NULL ? "bytes"
                                : "scene");
  if ((uintptr_t)bytes % sizeof(uint64_t) != 0) return refuse("bytes are not aligned to 8");
  ARITHMETIC callers = arithmetic_begin();
  const slab_status status = context_check_process(context, "slab_scene_unpack");
  return status == SLAB_OK ? unpack(context, bytes, size, scene) : status;
}
