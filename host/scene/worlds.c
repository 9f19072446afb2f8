#include "scene/worlds.h"

#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "device/context.h"
#include "scene/instances.h"
#include "shapes/values.h"

enum { WORLDS_A_PIECE = 8 };

/* ---- what belongs to each ---- */

/* Counts what each world has: instances, then runs and lanes of them. */
static void count_instances(const snapshot *s, uint32_t *count) {
  for (uint32_t g = 0; g < s->geometries; g++)
    for (uint32_t i = 0; s->groups[g] != NULL && i < s->groups[g]->count; i++)
      count[s->groups[g]->instances[i].world]++;
}

static bool is_listed(const world_content *c, uint32_t world) {
  return world != 0 && c->lane_begin[world + 1] > c->lane_begin[world];
}

/* Instances from the ith on that are in the same world, where that has a BVH. */
static uint32_t run_length(const world_content *c, const instance_group *group, uint32_t i) {
  const uint32_t world = group->instances[i].world;
  uint32_t end = i + 1;
  while (end < group->count && group->instances[end].world == world) end++;
  return is_listed(c, world) ? 0 : end - i;
}

/* Adds a run to its world, of which `at` says where the next goes; counts it where there are no runs yet. */
static void add_run(world_content *c, uint32_t *at, uint32_t world, layout_run run) {
  if (c->runs != NULL) c->runs[at[world]] = run;
  at[world]++;
}

static void go_through(const snapshot *s, world_content *c, uint32_t *at) {
  for (uint32_t g = 0; g < s->geometries; g++) {
    const instance_group *group = s->groups[g];
    if (s->values[g] == NULL) continue;
    if (group == NULL) add_run(c, at, s->values[g]->world, (layout_run){g, 0, s->table[g].count});
    for (uint32_t i = 0, n; group != NULL && i < group->count; i += n) {
      n = run_length(c, group, i);
      if (n > 0)
        add_run(c, at, group->instances[i].world, (layout_run){g, i, n});
      else
        n = 1;
    }
  }
}

/* Turns counts into where each begins, and the end of the last. Each is rounded up to a multiple. */
static uint32_t sum_up(uint32_t *counts, uint32_t n, uint32_t multiple) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t count = (counts[i] + multiple - 1) / multiple * multiple;
    counts[i] = sum;
    sum += count;
  }
  counts[n] = sum;
  return sum;
}

/* The lanes of each world. */
static slab_status list_lanes(const snapshot *s, world_content *c) {
  const uint32_t width = block_form_of(s->context->layout).width;
  count_instances(s, c->lane_begin);
  c->lane_begin[0] = 0;
  for (uint32_t w = 1; w <= s->worlds; w++)
    if (c->lane_begin[w] > WORLD_LISTED) c->lane_begin[w] = 0;
  const uint32_t lanes = sum_up(c->lane_begin, s->worlds + 1, width);
  uint32_t *next = malloc((s->worlds + (size_t)1) * sizeof *next);
  c->lanes = malloc((lanes + (size_t)1) * sizeof *c->lanes);
  if (next == NULL || c->lanes == NULL) {
    free(next);
    return fail_memory(lanes * sizeof *c->lanes, "the instances of worlds");
  }
  memcpy(next, c->lane_begin, (s->worlds + (size_t)1) * sizeof *next);
  memset(c->lanes, 0xFF, lanes * sizeof *c->lanes); /* SLAB_MISS */
  for (uint32_t g = 0; g < s->geometries; g++)
    for (uint32_t i = 0; s->groups[g] != NULL && i < s->groups[g]->count; i++) {
      const uint32_t world = s->groups[g]->instances[i].world;
      if (is_listed(c, world)) c->lanes[next[world]++] = s->table[g].global_id_base + i;
    }
  free(next);
  return SLAB_OK;
}

slab_status worlds_list(const snapshot *s, world_content *c) {
  const size_t n = s->worlds + (size_t)2;
  uint32_t *at = malloc(n * sizeof *at);
  *c = (world_content){.begin = calloc(n, sizeof *c->begin), .lane_begin = calloc(n, sizeof *c->lane_begin)};
  slab_status status = at == NULL || c->begin == NULL || c->lane_begin == NULL
                           ? fail_memory(n * sizeof *c->begin, "the worlds")
                           : list_lanes(s, c);
  if (status == SLAB_OK) {
    go_through(s, c, c->begin);
    const uint32_t runs = sum_up(c->begin, s->worlds + 1, 1);
    c->runs = malloc((runs + (size_t)1) * sizeof *c->runs);
    if (c->runs == NULL) status = fail_memory(runs * sizeof *c->runs, "the worlds");
  }
  if (status == SLAB_OK) {
    memcpy(at, c->begin, n * sizeof *at);
    go_through(s, c, at);
  }
  free(at);
  return status;
}

void worlds_free(world_content *c) {
  for (uint32_t i = 0; i < c->count; i++) layout_free_arrays(&c->parts[i].tree);
  free(c->parts);
  free(c->runs);
  free(c->begin);
  free(c->lanes);
  free(c->lane_begin);
}

/* ---- BVHs ---- */

static layout_part part_of(const world_content *c, uint32_t world, uint32_t threads) {
  return (layout_part){c->runs + c->begin[world], c->begin[world + 1] - c->begin[world], threads};
}

layout_part worlds_common(const snapshot *s, const world_content *c) { return part_of(c, 0, s->context->threads); }

typedef struct parts_building {
  const snapshot *scene;
  world_content *content;
  slab_tree quality;
} parts_building;

/* Worlds are small and many: each is built by one thread. */
static slab_status build_part(const parts_building *b, uint32_t i) {
  world_part *to = &b->content->parts[i];
  const layout_part part = part_of(b->content, to->world, 1);
  return bvh_layout_build(b->scene, &part, b->quality, b->scene->context->layout, &to->tree);
}

static void build_some(void *argument, size_t first, size_t end) {
  parts_building *b = argument;
  for (size_t i = first; i < end; i++) b->content->parts[i].status = build_part(b, (uint32_t)i);
}

slab_status worlds_build(const snapshot *s, slab_tree quality, world_content *c) {
  uint32_t count = 0;
  for (uint32_t w = 1; w <= s->worlds; w++) count += c->begin[w + 1] > c->begin[w];
  c->parts = calloc(count + (size_t)1, sizeof *c->parts);
  if (c->parts == NULL) return fail_memory(count * sizeof *c->parts, "the worlds");
  for (uint32_t w = 1; w <= s->worlds; w++)
    if (c->begin[w + 1] > c->begin[w]) c->parts[c->count++].world = w;
  parts_building b = {s, c, quality == SLAB_TREE_FLAT ? SLAB_TREE_DEFAULT : quality};
  pool_loop(s->context->threads, count, WORLDS_A_PIECE, build_some, &b);
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; i < count && status == SLAB_OK; i++) {
    if (c->parts[i].status == SLAB_OK) continue;
    layout_free_arrays(&c->parts[i].tree);
    status = build_part(&b, i); /* once more: the message was that of another thread */
  }
  return status;
}
