/* Serializes a committed scene to bytes for other processes and machines, and reads it back.
 *
 * The parts are: header, geometry table, primitives of one lane; for wide BVHs also their nodes and blocks, in the
 * layout that every device uses. Flat scenes are laid out again, since their layout depends on the device's lanes.
 * Compressed BVHs are built again, whether they are on the writing or on the reading side. Each part begins at a
 * multiple of ALIGN. */
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
#include "scene.h"
#include "types.h"

#define ALIGN 64
/* Version of this header, geometry_entry, bvh_node and the blocks. It changes with any of them. */
#define SERIALIZED_VERSION 1
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
} serialized_header;

static const char serialized_magic[8] = "slabscn";

static uint64_t aligned(uint64_t bytes) { return (bytes + ALIGN - 1) / ALIGN * ALIGN; }

/* ---- offsets of the parts ---- */

typedef struct serialized_parts {
  uint64_t table, blocks, nodes, bvh_blocks, end;
} serialized_parts;

static serialized_parts parts_of(const serialized_header *h) {
  serialized_parts p;
  p.table = aligned(sizeof *h);
  p.blocks = p.table + aligned(h->geometries * sizeof(geometry_entry));
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

static serialized_header describe(const slab_scene *scene) {
  serialized_header h;
  memset(&h, 0, sizeof h);
  memcpy(h.magic, serialized_magic, sizeof h.magic);
  h.version = SERIALIZED_VERSION;
  h.byte_order = SERIALIZED_BYTE_ORDER;
  h.geometries = scene->geometries;
  h.floats = scene->block_floats;
  h.tree = (uint64_t)scene->tree;
  h.nodes = scene->tree_nodes;
  h.bvh_floats = scene->bvh_floats;
  memcpy(h.outside, scene->uniforms.outside, sizeof h.outside);
  h.sah_cost = scene->stats.sah_cost;
  h.node_occupancy = scene->stats.node_occupancy;
  h.block_occupancy = scene->stats.block_occupancy;
  h.bytes = parts_of(&h).end;
  return h;
}

/* Reads the wide BVH from the first device, if there is one. All devices of a scene hold the same BVH. */
static slab_status fetch_tree(const slab_scene *scene, char *nodes, char *blocks) {
  if (scene->tree_nodes == 0) return SLAB_OK;
  slab_status status = context_check_process(scene->context, "slab_scene_pack");
  if (status != SLAB_OK) return status;
  const device *d = &scene->context->devices[0];
  return d->backend->fetch(d, &scene->states[0], scene->tree_nodes * sizeof(bvh_node), scene->bvh_floats, nodes,
                           blocks);
}

static slab_status write_serialized(const slab_scene *scene, serialized_header *h, char *bytes) {
  const serialized_parts p = parts_of(h);
  memset(bytes, 0, (size_t)p.nodes); /* also the gaps between the parts, so that equal scenes give equal bytes */
  memcpy(bytes, h, sizeof *h);
  if (h->geometries > 0) memcpy(bytes + p.table, scene->table, (size_t)h->geometries * sizeof *scene->table);
  if (h->floats > 0) memcpy(bytes + p.blocks, scene->blocks, (size_t)h->floats * sizeof *scene->blocks);
  slab_status status = fetch_tree(scene, bytes + p.nodes, bytes + p.bvh_blocks);
  h->checksum = checksum_of(bytes, h->bytes);
  memcpy(bytes, h, sizeof *h);
  return status;
}

slab_status slab_scene_pack(const slab_scene *scene, void *bytes, size_t capacity, size_t *size) {
  if (scene == NULL || size == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_scene_pack: %s is NULL", scene == NULL ? "scene" : "size");
  if (bytes == NULL && capacity > 0) return fail(SLAB_INVALID_ARGUMENT, "slab_scene_pack: bytes is NULL");
  if (!scene->committed) return fail(SLAB_INVALID_STATE, "slab_scene_pack: the scene is not committed");
  ARITHMETIC callers = arithmetic_begin();
  serialized_header h = describe(scene);
  *size = (size_t)h.bytes;
  if (capacity == 0) return SLAB_OK;
  if (capacity < h.bytes)
    return fail(SLAB_CAPACITY, "slab_scene_pack: the scene takes %zu bytes, and there is room for %zu", *size,
                capacity);
  return write_serialized(scene, &h, bytes);
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

static slab_status take_table(slab_scene *scene, const serialized_header *h, const geometry_entry *table) {
  scene->table = malloc(((size_t)h->geometries + 1) * sizeof *scene->table);
  if (scene->table == NULL) return fail_memory(h->geometries * sizeof *scene->table, "the geometry table");
  scene->table_capacity = (uint32_t)h->geometries;
  for (uint32_t g = 0; g < h->geometries; g++) {
    const geometry_entry *e = &table[g];
    if (e->kind >= SLAB_SHAPE_COUNT || scene->primitives + e->count > SCENE_PRIMITIVES) break;
    scene_append(scene, e->kind, e->mask, e->count);
    if (memcmp(&scene->table[g], e, sizeof *e) != 0) break;
  }
  if (scene->geometries == h->geometries && scene->block_floats == h->floats) return SLAB_OK;
  return refuse("the packed scene's table does not fit its primitives");
}

static slab_status take_blocks(slab_scene *scene, const serialized_header *h, const char *from) {
  scene->block_capacity = (size_t)h->floats + BLOCK_UNIT;
  scene->blocks = malloc(scene->block_capacity * sizeof *scene->blocks);
  if (scene->blocks == NULL) return fail_memory(scene->block_capacity * sizeof *scene->blocks, "geometry");
  memcpy(scene->blocks, from, (size_t)h->floats * sizeof *scene->blocks);
  return SLAB_OK;
}

/* Copies the parts of the BVH for the scene, and validates them. */
static slab_status take_tree(slab_scene *scene, const serialized_header *h, const char *nodes, const char *blocks) {
  bvh_layout t = {.node_bytes = (size_t)h->nodes * sizeof(bvh_node),
                  .floats = (size_t)h->bvh_floats,
                  .sah_cost = h->sah_cost,
                  .node_occupancy = h->node_occupancy,
                  .block_occupancy = h->block_occupancy};
  memcpy(t.outside, h->outside, sizeof t.outside);
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
  if (status == SLAB_OK) return scene_upload_tree(scene, &t);
  free(t.nodes);
  free(t.blocks);
  return status;
}

static slab_status take(slab_scene *scene, const serialized_header *h, const char *bytes) {
  const serialized_parts p = parts_of(h);
  const double begin = seconds_now();
  slab_status status = take_table(scene, h, (const geometry_entry *)(const void *)(bytes + p.table));
  if (status == SLAB_OK) status = take_blocks(scene, h, bytes + p.blocks);
  if (status != SLAB_OK) return status;
  scene->tree = (slab_tree)h->tree;
  if (h->nodes > 0 && scene->context->layout == SLAB_LAYOUT_WIDE)
    status = take_tree(scene, h, bytes + p.nodes, bytes + p.bvh_blocks);
  else
    status = scene_upload(scene, (slab_tree)h->tree);
  if (status == SLAB_OK) scene_finish(scene, begin);
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
