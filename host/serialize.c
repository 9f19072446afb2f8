/* Serializes a committed scene to bytes for other processes and machines, and reads it back.
 *
 * The parts are: header, geometries, their values and indices, which a removed one has none of; for wide BVHs also
 * their nodes and blocks, in the layout that every device uses. Flat scenes are laid out again, since their layout
 * depends on the device's lanes. Compressed BVHs are built again, whether they are on the writing or on the reading
 * side. Each part begins at a multiple of ALIGN. */
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "backend.h"
#include "base/arithmetic.h"
#include "base/clock.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "context.h"
#include "device.h"
#include "geometry.h"
#include "layout.h"
#include "primitive.h"
#include "scene.h"
#include "types.h"

#define ALIGN 64
/* Version of this header, serialized_geometry, bvh_node and the blocks. It changes with any of them. */
#define SERIALIZED_VERSION 2
#define SERIALIZED_BYTE_ORDER 0x01020304u

typedef struct serialized_header {
  char magic[8];
  uint32_t version, byte_order;
  uint64_t bytes, checksum; /* of all bytes; the checksum itself counts as 0 */
  uint64_t geometries, floats;
  uint64_t tree;              /* slab_tree */
  uint64_t nodes, bvh_floats; /* nodes 0: flat, or not a wide BVH */
  bvh_outside outside[OUTSIDE_KINDS];
  double sah_cost, node_occupancy, block_occupancy;
  double built_cost; /* sah_cost after the last build */
} serialized_header;

/* A geometry. A removed one may keep its global primitive ids, which the BVH then still has room for. */
typedef struct serialized_geometry {
  uint32_t kind, mask, count; /* mask: also of one that is disabled */
  uint32_t state;             /* GEOMETRY_ENABLED and so on */
  uint32_t vertices;          /* of the mesh, where there are indices */
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

static uint64_t checksum_of(const char *bytes, uint64_t size) {
  serialized_header head;
  memcpy(&head, bytes, sizeof head);
  head.checksum = 0;
  return sum_words(sum_words(0, &head, sizeof head), bytes + sizeof head, (size_t)size - sizeof head);
}

/* ---- writing ---- */

static bool packs_tree(const snapshot *scene) { return scene->has_bvh && scene->context->layout == SLAB_LAYOUT_WIDE; }

/* What a geometry takes in the part of values, in words. */
static size_t geometry_words(const snapshot *scene, uint32_t g) {
  const geometry_values *v = scene->values[g];
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
  h.nodes = packs_tree(scene) ? scene->bvh.node_bytes / sizeof(bvh_node) : 0;
  h.bvh_floats = packs_tree(scene) ? scene->bvh.floats : 0;
  memcpy(h.outside, scene->uniforms.outside, sizeof h.outside);
  h.sah_cost = scene->stats.sah_cost;
  h.node_occupancy = scene->stats.node_occupancy;
  h.block_occupancy = scene->stats.block_occupancy;
  h.built_cost = scene->built_cost;
  h.bytes = parts_of(&h).end;
  return h;
}

/* Reads the wide BVH from the first device, if there is one. All devices of a scene hold the same BVH. */
static slab_status fetch_tree(const snapshot *scene, char *nodes, char *blocks) {
  if (!packs_tree(scene)) return SLAB_OK;
  slab_status status = context_check_process(scene->context, "slab_scene_pack");
  if (status != SLAB_OK) return status;
  const device *d = &scene->context->devices[0];
  return d->backend->fetch(d, &scene->states[0], SLAB_LAYOUT_WIDE, scene->bvh.node_bytes, scene->bvh.floats, nodes,
                           blocks);
}

static serialized_geometry geometry_now(const snapshot *scene, uint32_t g) {
  const geometry_values *v = scene->values[g];
  const geometry_entry *e = &scene->table[g];
  if (v == NULL) return (serialized_geometry){e->kind, 0, e->count, GEOMETRY_REMOVED, 0};
  const unsigned state = (is_hidden(scene, g) ? 0u : GEOMETRY_ENABLED) | (v->drops ? GEOMETRY_DROPS : 0u) |
                         (v->indices != NULL ? GEOMETRY_HAS_INDICES : 0u) | (v->indexed ? GEOMETRY_INDEXED : 0u);
  return (serialized_geometry){e->kind, v->mask, e->count, state, v->indices != NULL ? v->indices->vertex_count : 0};
}

static void write_geometries(const snapshot *scene, char *table, char *values) {
  for (uint32_t g = 0; g < scene->geometries; g++) {
    const geometry_values *v = scene->values[g];
    const serialized_geometry now = geometry_now(scene, g);
    const size_t size = geometry_words(scene, g) * sizeof(float);
    memcpy(table + g * sizeof now, &now, sizeof now);
    if (v != NULL) memcpy(values, v->values, v->floats * sizeof *v->values);
    if (v != NULL && v->indices != NULL)
      memcpy(values + v->floats * sizeof *v->values, v->indices->list,
             3 * (size_t)now.count * sizeof *v->indices->list);
    values += size;
  }
}

static slab_status write_serialized(const snapshot *scene, serialized_header *h, char *bytes) {
  const serialized_parts p = parts_of(h);
  memset(bytes, 0, (size_t)p.nodes); /* also the gaps between the parts, so that equal scenes give equal bytes */
  memcpy(bytes, h, sizeof *h);
  write_geometries(scene, bytes + p.table, bytes + p.blocks);
  slab_status status = fetch_tree(scene, bytes + p.nodes, bytes + p.bvh_blocks);
  h->checksum = checksum_of(bytes, h->bytes);
  memcpy(bytes, h, sizeof *h);
  return status;
}

static slab_status pack(const snapshot *scene, void *bytes, size_t capacity, size_t *size) {
  serialized_header h = describe(scene);
  *size = (size_t)h.bytes;
  if (capacity == 0) return SLAB_OK;
  if (capacity < h.bytes)
    return fail(SLAB_CAPACITY, "slab_scene_pack: the scene takes %zu bytes, and there is room for %zu", *size,
                capacity);
  return write_serialized(scene, &h, bytes);
}

slab_status slab_scene_pack(const slab_scene *scene, void *bytes, size_t capacity, size_t *size) {
  if (scene == NULL || size == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_pack: %s is NULL", scene == NULL ? "scene" : "size");
  if (bytes == NULL && capacity > 0) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_pack: bytes is NULL");
  ARITHMETIC callers = arithmetic_begin();
  scene_reading reading;
  slab_status status = scene_enter(scene, "slab_scene_pack", &reading);
  if (status != SLAB_OK) return status;
  if (reading.scene->has_instances)
    status = fail(SLAB_UNSUPPORTED, "slab_scene_pack: a scene with instances cannot be packed yet");
  else
    status = pack(reading.scene, bytes, capacity, size);
  scene_leave(&reading);
  return status;
}

/* ---- reading ---- */

static slab_status refuse(const char *why) { return fail(SLAB_INVALID_ARGUMENT, "slab_scene_unpack: %s", why); }

/* Checks that the bytes are a complete serialized scene and undamaged. */
static slab_status check_header(const char *bytes, size_t size, serialized_header *h) {
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
      h->geometries > UINT32_MAX || h->nodes > UINT32_MAX || h->tree > SLAB_TREE_HIGH || parts_of(h).end != size ||
      checksum_of(bytes, size) != h->checksum)
    return refuse("the packed scene is damaged");
  return SLAB_OK;
}

static slab_status refuse_table(void) { return refuse("the packed scene's table does not fit its primitives"); }

/* Values as they were packed, which begin at *at and end within `floats`. */
static slab_status take_values(const slab_context *context, const serialized_geometry *g, const float *from,
                               uint64_t floats, uint64_t *at, geometry_values **values) {
  const bool indexed = (g->state & GEOMETRY_INDEXED) != 0, has_indices = (g->state & GEOMETRY_HAS_INDICES) != 0;
  const size_t size = indexed ? values_floats(3, g->vertices) : values_floats(primitive_rows(g->kind), g->count);
  const size_t list = has_indices ? values_floats(3, g->count) : 0;
  mesh_indices *indices = NULL;
  if (size + list > floats - *at || (has_indices && g->kind != SLAB_TRIANGLE)) return refuse_table();
  if (has_indices) {
    indices = indices_create(context, (const uint32_t *)(const void *)(from + *at + size), g->count, g->vertices);
    if (indices == NULL) return fail_memory(list * sizeof *from, "a mesh's indices");
  }
  if (indexed && (indices == NULL || !indices->dense)) {
    indices_release(indices);
    return refuse_table();
  }
  geometry_values *v = values_create(g->kind, g->count, indices, indexed);
  if (v == NULL) {
    indices_release(indices);
    return fail_memory(size * sizeof *from, "geometry");
  }
  memcpy(v->values, from + *at, size * sizeof *from);
  *at += size + list;
  v->mask = g->mask;
  v->drops = (g->state & GEOMETRY_DROPS) != 0;
  values_measure(context, v, (slab_shape)g->kind, g->count);
  *values = v;
  return SLAB_OK;
}

/* A geometry as it was packed. */
static slab_status take_geometry(slab_scene *scene, const serialized_geometry *g, const float *from, uint64_t floats,
                                 uint64_t *at) {
  added_geometry added = {.kind = g->kind, .count = g->count, .enabled = (g->state & GEOMETRY_ENABLED) != 0};
  if ((g->state & GEOMETRY_REMOVED) == 0) {
    const slab_status status = take_values(scene->context, g, from, floats, at, &added.values);
    if (status != SLAB_OK) return status;
  }
  scene_append(scene, &added);
  return SLAB_OK;
}

/* numbered: receives what the BVH's global primitive ids count. */
static slab_status take_geometries(slab_scene *scene, const serialized_header *h, const serialized_geometry *table,
                                   const float *values, snapshot *numbered) {
  uint64_t at = 0;
  slab_status status = scene_reserve(scene, (uint32_t)h->geometries);
  for (uint32_t g = 0; g < h->geometries && status == SLAB_OK; g++) {
    const serialized_geometry *e = &table[g];
    if (e->kind >= SLAB_SHAPE_COUNT || numbered->primitives + e->count > SCENE_PRIMITIVES ||
        ((e->state & GEOMETRY_REMOVED) == 0 && e->mask == 0))
      return refuse("the packed scene's table is not one");
    numbered->table[g] =
        (geometry_entry){.kind = e->kind, .count = e->count, .global_id_base = (uint32_t)numbered->primitives};
    numbered->primitives += e->count;
    status = take_geometry(scene, e, values, h->floats, &at);
  }
  if (status == SLAB_OK && at != h->floats) status = refuse_table();
  return status;
}

/* Copies the parts of the BVH for the scene, and validates them. */
static slab_status take_tree(snapshot *scene, const serialized_header *h, const char *nodes, const char *blocks) {
  bvh_layout t = {.node_bytes = (size_t)h->nodes * sizeof(bvh_node),
                  .floats = (size_t)h->bvh_floats,
                  .sah_cost = h->sah_cost,
                  .node_occupancy = h->node_occupancy,
                  .block_occupancy = h->block_occupancy};
  memcpy(t.outside, h->outside, sizeof t.outside);
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
  free(t.nodes);
  free(t.blocks);
  return status;
}

static slab_status take_snapshot(slab_scene *scene, const serialized_header *h, const char *bytes,
                                 const snapshot *numbered, double begin) {
  const serialized_parts p = parts_of(h);
  const bool has_tree = h->nodes > 0 && scene->context->layout == SLAB_LAYOUT_WIDE;
  snapshot *made = NULL;
  slab_status status = scene_snapshot(scene, has_tree ? numbered : NULL, &made);
  if (status != SLAB_OK) return status;
  status =
      has_tree ? take_tree(made, h, bytes + p.nodes, bytes + p.bvh_blocks) : snapshot_upload(made, (slab_tree)h->tree);
  if (status != SLAB_OK) {
    snapshot_destroy(made);
    return status;
  }
  snapshot_finish(made, begin);
  scene_publish(scene, made);
  return SLAB_OK;
}

static slab_status take(slab_scene *scene, const serialized_header *h, const char *bytes) {
  const serialized_parts p = parts_of(h);
  const double begin = seconds_now();
  snapshot *numbered = snapshot_create(scene->context, (uint32_t)h->geometries);
  if (numbered == NULL) return fail_memory(h->geometries * sizeof *numbered->table, "the geometry table");
  slab_status status =
      take_geometries(scene, h, (const void *)(bytes + p.table), (const void *)(bytes + p.blocks), numbered);
  if (status == SLAB_OK) status = take_snapshot(scene, h, bytes, numbered, begin);
  snapshot_destroy(numbered);
  return status;
}

slab_status slab_scene_unpack(slab_context *context, const void *bytes, size_t size, slab_scene **scene) {
  if (context == NULL || bytes == NULL || scene == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_unpack: %s is NULL",
                context == NULL ? "context"
                : bytes == NULL ? "bytes"
                                : "scene");
  if ((uintptr_t)bytes % sizeof(uint64_t) != 0) return refuse("bytes are not aligned to 8");
  serialized_header h;
  slab_scene *created = NULL;
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = context_check_process(context, "slab_scene_unpack");
  if (status == SLAB_OK) status = check_header(bytes, size, &h);
  if (status == SLAB_OK) status = slab_scene_create(context, &created);
  if (status == SLAB_OK) status = take(created, &h, bytes);
  if (status == SLAB_OK)
    *scene = created;
  else
    slab_scene_destroy(created);
  return status;
}
