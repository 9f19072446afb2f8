#include "scene/worlds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "bvh/memory.h"
#include "device/context.h"
#include "maths/answer.h"
#include "os/memory.h"
#include "scene/instances.h"
#include "scene/models.h"
#include "shapes/primitive.h"
#include "shapes/values.h"

enum { WORLDS_A_PIECE = 8 };

/* ---- the parts of each ---- */

static void count_instances(const snapshot *s, uint32_t *of_worlds) {
  for (uint32_t g = 0; g < s->geometries; g++)
    for (uint32_t i = 0; s->groups[g] != NULL && i < s->groups[g]->count; i++)
      of_worlds[s->groups[g]->instances[i].world]++;
}

/* Instances from the ith on that are in the same world. */
static uint32_t run_length(const instance_group *group, uint32_t i) {
  uint32_t end = i + 1;
  while (end < group->count && group->instances[end].world == group->instances[i].world) end++;
  return end - i;
}

/* Adds a run to its world, at the place in `at`; counts it where there are no runs yet. */
static void add_run(world_lists *l, uint32_t *at, uint32_t world, layout_run run) {
  if (l->runs != NULL) l->runs[at[world]] = run;
  at[world]++;
}

/* Adds, or counts, all runs that are not listed. */
static void go_through(const snapshot *s, world_lists *l, uint32_t *at) {
  for (uint32_t g = 0; g < s->geometries; g++) {
    const instance_group *group = s->groups[g];
    if (s->values[g] == NULL) continue;
    if (group == NULL) add_run(l, at, s->values[g]->world, (layout_run){g, 0, s->table[g].count});
    for (uint32_t i = 0, n; group != NULL && i < group->count; i += n) {
      const uint32_t world = group->instances[i].world;
      n = run_length(group, i);
      if (!world_is_listed(l, world)) add_run(l, at, world, (layout_run){g, i, n});
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

/* The lanes of each world. at: space for a number per world. */
static slab_status list_lanes(const snapshot *s, world_lists *l, uint32_t *at) {
  const uint32_t width = block_form_of(s->context->layout).width;
  count_instances(s, l->begin);
  l->begin[0] = 0;
  for (uint32_t w = 1; w <= s->worlds; w++)
    if (l->begin[w] > WORLD_LISTED) l->begin[w] = 0;
  const uint32_t lanes = sum_up(l->begin, s->worlds + 1, width);
  l->lanes = malloc((lanes + (size_t)1) * sizeof *l->lanes);
  if (l->lanes == NULL) return fail_memory(lanes * sizeof *l->lanes, "the instances of worlds");
  memcpy(at, l->begin, (s->worlds + (size_t)1) * sizeof *at);
  memset(l->lanes, 0xFF, lanes * sizeof *l->lanes); /* SLAB_MISS */
  for (uint32_t g = 0; g < s->geometries; g++)
    for (uint32_t i = 0; s->groups[g] != NULL && i < s->groups[g]->count; i++) {
      const uint32_t world = s->groups[g]->instances[i].world;
      if (world_is_listed(l, world)) l->lanes[at[world]++] = s->table[g].global_id_base + i;
    }
  return SLAB_OK;
}

slab_status worlds_list(const snapshot *s, world_lists **made) {
  const size_t n = s->worlds + (size_t)2;
  uint32_t *at = malloc(n * sizeof *at);
  world_lists *l = *made = calloc(1, sizeof *l);
  if (l != NULL)
    *l = (world_lists){
        .references = 1, .begin = calloc(n, sizeof *l->begin), .runs_begin = calloc(n, sizeof *l->runs_begin)};
  slab_status status = at == NULL || l == NULL || l->begin == NULL || l->runs_begin == NULL
                           ? fail_memory(n * sizeof *at, "the worlds")
                           : list_lanes(s, l, at);
  if (status == SLAB_OK) {
    go_through(s, l, l->runs_begin);
    const uint32_t runs = sum_up(l->runs_begin, s->worlds + 1, 1);
    l->runs = malloc((runs + (size_t)1) * sizeof *l->runs);
    if (l->runs == NULL) status = fail_memory(runs * sizeof *l->runs, "the worlds");
  }
  if (status == SLAB_OK) {
    memcpy(at, l->runs_begin, n * sizeof *at);
    go_through(s, l, at);
  }
  free(at);
  return status;
}

void worlds_free_trees(world_lists *l) {
  for (uint32_t i = 0; i < l->part_count; i++) layout_free_arrays(&l->parts[i].tree);
}

/* ---- states ---- */

static void state_add(world_state *to, const snapshot *s, uint32_t g, uint32_t i, const float gate[BOX_FLOATS]) {
  uint32_t geometry;
  if (is_hidden(s, g)) return;
  if (!primitive_is_void((slab_shape)SHAPE_INSTANCE, gate)) {
    primitive_grow(to->lower, to->upper, (slab_shape)SHAPE_INSTANCE, gate);
    if (primitive_is_unbounded((slab_shape)SHAPE_INSTANCE, gate)) to->unbounded = 1;
  }
  if (instance_is_skewed(s, g, i, &geometry) && geometry < to->skewed) to->skewed = geometry;
}

static const world_state nothing_there = {
    {INFINITY, INFINITY, INFINITY}, SLAB_MISS, {-INFINITY, -INFINITY, -INFINITY}, 0, 0};

/* Worlds and their sums, of which the first has no world 0. */
static uint32_t sum_count(uint32_t worlds) { return (worlds + WORLDS_SUMMED - 1) / WORLDS_SUMMED; }

size_t worlds_states_size(uint32_t worlds) { return (worlds + (size_t)1 + sum_count(worlds)) * sizeof(world_state); }

/* The sum that a world is in. */
static world_state *sum_with(const snapshot *s, uint32_t world) {
  return s->world_states + s->worlds + 1 + (world - 1) / WORLDS_SUMMED;
}

static void state_join(world_state *to, const world_state *from) {
  for (int k = 0; k < 3; k++) {
    to->lower[k] = from->lower[k] < to->lower[k] ? from->lower[k] : to->lower[k];
    to->upper[k] = from->upper[k] > to->upper[k] ? from->upper[k] : to->upper[k];
  }
  if (from->skewed < to->skewed) to->skewed = from->skewed;
  to->unbounded |= from->unbounded;
}

/* Where the snapshot's arrays have its instances. */
static instance_entry *entries_of(const snapshot *s) {
  return (instance_entry *)(s->bvh.blocks + (size_t)s->uniforms.instances * BLOCK_UNIT);
}

/* The instance in a lane. */
static uint32_t in_lane(const snapshot *s, uint32_t lane, uint32_t *i) {
  const uint32_t id = s->lists->lanes[lane], g = geometry_of(s->table, s->geometries, id);
  *i = id - s->table[g].global_id_base;
  return g;
}

static bool is_lane(const world_lists *l, uint32_t world, uint32_t lane) {
  return lane < l->begin[world + 1] && l->lanes[lane] != SLAB_MISS;
}

static void measure_some(void *argument, size_t first, size_t end) {
  snapshot *s = argument;
  for (uint32_t world = (uint32_t)first + 1; world <= end; world++) {
    s->world_states[world] = nothing_there;
    for (uint32_t lane = s->lists->begin[world]; is_lane(s->lists, world, lane); lane++) {
      float gate[BOX_FLOATS];
      uint32_t i;
      const uint32_t g = in_lane(s, lane, &i);
      gate_in(s, g, i, gate);
      state_add(&s->world_states[world], s, g, i, gate);
    }
  }
}

void worlds_write(snapshot *s, uint32_t world) {
  const world_lists *l = s->lists;
  const block_form form = block_form_of(s->context->layout);
  const size_t units = block_units(form, SHAPE_INSTANCE);
  world_state *state = &s->world_states[world];
  *state = nothing_there;
  sum_with(s, world)->stale = 1;
  for (uint32_t lane = l->begin[world]; is_lane(l, world, lane); lane++) {
    uint32_t i;
    const uint32_t g = in_lane(s, lane, &i);
    const instance_group *group = s->groups[g];
    float *block = s->bvh.blocks + (l->unit + lane / form.width * units) * form.unit, gate[BOX_FLOATS];
    instance_entry *to = &group->instances[i], now = group->of->instances[i];
    now.model = to->model;
    now.geometry = to->geometry;
    *to = now;
    gate_write(&group->instances[i], &s->models[g].measure, gate);
    state_add(state, s, g, i, gate);
    if (is_hidden(s, g)) primitive_void((slab_shape)SHAPE_INSTANCE, gate);
    for (uint32_t r = 0; r < BOX_FLOATS; r++) block[r * form.width + lane % form.width] = gate[r];
  }
}

enum { ENTRY_FLOATS = sizeof(instance_entry) / sizeof(float) };

/* Instances from this one on, as entries_of numbers them. */
static blocks_part part_of_entries(const snapshot *s, size_t first, size_t count) {
  return (blocks_part){(size_t)s->uniforms.instances * BLOCK_UNIT + first * ENTRY_FLOATS, count * ENTRY_FLOATS};
}

static blocks_part part_of_gates(const snapshot *s, uint32_t first, uint32_t end) {
  const block_form form = block_form_of(s->context->layout);
  const size_t floats = block_units(form, SHAPE_INSTANCE) * form.unit;
  return (blocks_part){s->lists->unit * (size_t)form.unit + first / form.width * floats,
                       (end - first) / form.width * floats};
}

uint32_t worlds_parts(const snapshot *s, uint32_t world, blocks_part *parts) {
  const world_lists *l = s->lists;
  uint32_t count = 0;
  for (uint32_t lane = l->begin[world]; is_lane(l, world, lane); lane++) {
    uint32_t i;
    const uint32_t g = in_lane(s, lane, &i);
    const blocks_part part = part_of_entries(s, s->table[g].first + (size_t)i, 1);
    blocks_part *last = &parts[count - (count > 0)];
    if (count > 0 && last->first + last->count == part.first)
      last->count += part.count;
    else
      parts[count++] = part;
  }
  if (count > 0) parts[count++] = part_of_gates(s, l->begin[world], l->begin[world + 1]);
  return count;
}

uint32_t worlds_all_parts(const snapshot *s, blocks_part *parts) {
  size_t first = SIZE_MAX, end = 0;
  for (uint32_t g = 0; g < s->geometries; g++) {
    if (s->groups[g] == NULL || s->groups[g]->count == 0) continue;
    const size_t begin = s->table[g].first;
    if (begin < first) first = begin;
    if (begin + s->groups[g]->count > end) end = begin + s->groups[g]->count;
  }
  if (end == 0) return 0;
  parts[0] = part_of_entries(s, first, end - first);
  parts[1] = part_of_gates(s, 0, s->lists->begin[s->worlds + 1]);
  return 2;
}

/* Measures all instances that are not listed. */
static void measure_rest(snapshot *s) {
  world_lists *l = s->lists;
  world_state rest = nothing_there;
  for (uint32_t g = 0; g < s->geometries; g++) {
    const instance_group *group = s->groups[g];
    if (group == NULL) layout_grow_bounds(s, g, rest.lower, rest.upper);
    if (group == NULL && layout_is_unbounded(s, g)) rest.unbounded = 1;
    for (uint32_t i = 0; group != NULL && i < group->count; i++) {
      float gate[BOX_FLOATS];
      const uint32_t world = group->instances[i].world;
      if (world_is_listed(l, world)) continue;
      gate_in(s, g, i, gate);
      state_add(&rest, s, g, i, gate);
    }
  }
  l->rest = rest;
}

slab_status worlds_take_groups(snapshot *s) {
  for (uint32_t g = 0; g < s->geometries; g++) {
    if (s->groups[g] == NULL) continue;
    instance_group *of = s->groups[g]->of != NULL ? s->groups[g]->of : s->groups[g];
    instance_group *own = instances_view(of, entries_of(s) + s->table[g].first);
    if (own == NULL) return fail_memory(sizeof *own, "instances");
    instances_release(s->groups[g]);
    s->groups[g] = own;
  }
  return SLAB_OK;
}

static void drop_gates(snapshot *s) {
  for (uint32_t g = 0; g < s->geometries; g++) {
    if (s->groups[g] == NULL || s->values[g] == NULL) continue;
    os_free(s->values[g]->values);
    s->values[g]->values = NULL;
    s->values[g]->floats = 0;
  }
}

slab_status worlds_settle(snapshot *s) {
  s->world_states = bvh_allocate(worlds_states_size(s->worlds), 1);
  if (s->world_states == NULL) return fail_memory(worlds_states_size(s->worlds), "the worlds");
  s->world_states[0] = nothing_there;
  for (uint32_t first = 1; first <= s->worlds; first += WORLDS_SUMMED) sum_with(s, first)->stale = 1;
  measure_rest(s);
  pool_loop(s->context->threads, s->worlds, WORLDS_A_PIECE, measure_some, s);
  drop_gates(s);
  return worlds_take_groups(s);
}

void worlds_sum_up(snapshot *s) {
  world_state all = s->lists->rest;
  for (uint32_t first = 1; first <= s->worlds; first += WORLDS_SUMMED) {
    const uint32_t left = s->worlds - first + 1, end = first + (left < WORLDS_SUMMED ? left : WORLDS_SUMMED);
    world_state *sum = sum_with(s, first);
    if (sum->stale != 0) {
      *sum = nothing_there;
      for (uint32_t world = first; world < end; world++) state_join(sum, &s->world_states[world]);
    }
    state_join(&all, sum);
  }
  memcpy(s->stats.lower, all.lower, sizeof s->stats.lower);
  memcpy(s->stats.upper, all.upper, sizeof s->stats.upper);
  s->unbounded = all.unbounded != 0;
  s->skewed = all.skewed;
}

/* ---- BVHs ---- */

static layout_part part_of(const world_lists *l, uint32_t world, uint32_t threads) {
  return (layout_part){l->runs + l->runs_begin[world], l->runs_begin[world + 1] - l->runs_begin[world], threads};
}

typedef struct parts_building {
  const snapshot *scene;
  const worlds_before *before;
  world_lists *lists;
  bool keeps_ids; /* primitives of the last snapshot have the ids that they had */
} parts_building;

/* Whether a geometry has the primitives that it had, or instances of the same model. */
static bool is_as_before(const snapshot *s, const snapshot *last, uint32_t g) {
  return s->groups[g] != NULL ? s->models[g].snapshot == last->models[g].snapshot : s->values[g] == last->values[g];
}

static bool is_run_of(const snapshot *s, const snapshot *last, layout_run now, layout_run was) {
  return now.geometry == was.geometry && now.first == was.first && now.count == was.count &&
         is_as_before(s, last, now.geometry) && is_hidden(s, now.geometry) == is_hidden(last, now.geometry);
}

static int compare_world(const void *world, const void *part) {
  const uint32_t a = *(const uint32_t *)world, b = ((const world_part *)part)->world;
  return (a > b) - (a < b);
}

/* The part of a world in the last snapshot, where it holds the same; else NULL. */
static const world_part *part_before(const parts_building *b, uint32_t world) {
  const snapshot *last = b->before->last;
  const world_lists *was = last != NULL ? last->lists : NULL;
  if (was == NULL || world > last->worlds || last->bvh.nodes == NULL || last->tree != b->scene->tree ||
      last->tree == SLAB_TREE_FLAT || b->before->moved_in[world] > last->frame)
    return NULL;
  const layout_part mine = part_of(b->lists, world, 1), its = part_of(was, world, 1);
  bool same = mine.count == its.count;
  for (uint32_t i = 0; same && i < mine.count; i++) same = is_run_of(b->scene, last, mine.runs[i], its.runs[i]);
  return same ? bsearch(&world, was->parts, was->part_count, sizeof *was->parts, compare_world) : NULL;
}

static slab_status take_part(const parts_building *b, const world_part *before, world_part *to) {
  const snapshot *last = b->before->last;
  const slab_status status = bvh_layout_take(last, &before->tree, before->node, before->unit, &to->tree);
  if (status == SLAB_OK && !b->keeps_ids) bvh_layout_renumber(b->scene, last, &to->tree);
  return status;
}

static slab_status make_part(const parts_building *b, world_part *to, uint32_t threads) {
  const snapshot *s = b->scene;
  const world_part *before = part_before(b, to->world);
  if (before != NULL) return take_part(b, before, to);
  const layout_part part = part_of(b->lists, to->world, threads);
  const slab_tree quality = to->world > 0 && s->tree == SLAB_TREE_FLAT ? SLAB_TREE_DEFAULT : s->tree;
  return bvh_layout_build(s, &part, quality, s->context->layout, &to->tree);
}

/* Worlds are small and many: each is built by one thread. */
static void make_some(void *argument, size_t first, size_t end) {
  const parts_building *b = argument;
  for (size_t i = first + 1; i <= end; i++) b->lists->parts[i].status = make_part(b, &b->lists->parts[i], 1);
}

static bool has_runs(const world_lists *l, uint32_t world) { return l->runs_begin[world + 1] > l->runs_begin[world]; }

slab_status worlds_build(const snapshot *s, const worlds_before *before, world_lists *l) {
  parts_building b = {s, before, l, before->last != NULL && layout_keeps_ids(s, before->last)};
  size_t most = 1;
  for (uint32_t w = 1; w <= s->worlds; w++) most += has_runs(l, w);
  l->parts = calloc(most, sizeof *l->parts);
  if (l->parts == NULL) return fail_memory(most * sizeof *l->parts, "the worlds");
  l->part_count = 1; /* the part that all worlds share */
  for (uint32_t w = 1; w <= s->worlds; w++)
    if (has_runs(l, w)) l->parts[l->part_count++].world = w;
  const slab_status status = make_part(&b, &l->parts[0], s->context->threads);
  if (status != SLAB_OK) return status;
  pool_loop(s->context->threads, l->part_count - 1, WORLDS_A_PIECE, make_some, &b);
  for (uint32_t i = 1; i < l->part_count; i++) /* whose messages may be those of other threads */
    if (l->parts[i].status != SLAB_OK)
      return fail(l->parts[i].status, "the BVH of world %u takes more memory than there is", l->parts[i].world);
  return SLAB_OK;
}
