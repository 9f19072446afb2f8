/* Builds the binary BVH top-down. Computes bounds and the costs of the collapse bottom-up. */
#include "bvh/bvh.h"

#include <stdlib.h>
#include <string.h>

#include "bvh/parts.h"
#include "os/clock.h"
#include "os/thread.h"

/* A subtree that one thread builds: pairs of build nodes that it has reserved from the shared array, and references of
 * a part of the curve. */
typedef struct task {
  uint32_t next, end;     /* pairs that are reserved and not yet used */
  uint32_t owed;          /* how many more the task may reserve: a subtree of n primitives has at most n - 1 pairs */
  uint32_t first, filled; /* the part of the curve */
  reference space[BVH_FILL_MOST];
} task;

enum { SUPPLY_PAIRS = 64 };

/* Bytes per primitive of the second array of references, which the caller receives as spare memory: enough for the
 * blocks of the BVH. Pages that are never written take no memory. */
enum { REFERENCE_SPACE = 96 };

/* The result of one pass over the input. */
typedef struct scene_bounds {
  aabb keys, bounds; /* keys: of all references; bounds: of the finite ones */
  uint32_t tags_or, tags_and;
} scene_bounds;

/* ---- bounds of all ---- */

static scene_bounds scene_bounds_empty(void) { return (scene_bounds){aabb_empty(), aabb_empty(), 0, ~0u}; }

static void scene_bounds_join(scene_bounds *s, const scene_bounds *other) {
  s->keys = aabb_join(s->keys, other->keys);
  s->bounds = aabb_join(s->bounds, other->bounds);
  s->tags_or |= other->tags_or;
  s->tags_and &= other->tags_and;
}

/* Bounds of the finite coordinates. Each coordinate counts on its own. */
static aabb finite_bounds(const reference *r) {
  aabb bounds = {r->side[0], r->side[1]};
  for (int axis = 0; axis < 3; axis++) {
    if (r->lower[axis] == -INFINITY) bounds.lower[axis] = isinf(r->upper[axis]) ? INFINITY : r->upper[axis];
    if (r->upper[axis] == INFINITY) bounds.upper[axis] = isinf(r->lower[axis]) ? -INFINITY : r->lower[axis];
  }
  return bounds;
}

/* clamps: bounds are clamped already. */
static void see_references(const reference *r, uint32_t count, bool clamps, scene_bounds *s) {
  scene_bounds seen = *s; /* in registers */
  for (uint32_t i = 0; i < count; i++) {
    const bool moderate = !(r[i].tag & REFERENCE_CLAMPED);
    seen.bounds = aabb_join(seen.bounds, moderate ? (aabb){r[i].side[0], r[i].side[1]} : finite_bounds(&r[i]));
    if (moderate || clamps) seen.keys = aabb_add(seen.keys, reference_keys(&r[i]));
    seen.tags_or |= r[i].tag;
    seen.tags_and &= r[i].tag;
  }
  *s = seen;
}

enum { SCENE_BOUNDS_CHUNK = 1 << 11 };

static uint32_t scene_bounds_chunks(uint32_t count) { return count / SCENE_BOUNDS_CHUNK + 1; }

typedef struct scene_bounds_job {
  const builder *b;
  bool clamps;
  scene_bounds *chunks;
} scene_bounds_job;

/* References are looked at while they are in the cache. They are kept, unless the primitives are to be sorted first. */
static void scene_bounds_chunk(void *argument, size_t i) {
  const scene_bounds_job *j = argument;
  const uint32_t first = (uint32_t)i * SCENE_BOUNDS_CHUNK, rest = j->b->input->count - first;
  const uint32_t end = first + (rest < SCENE_BOUNDS_CHUNK ? rest : SCENE_BOUNDS_CHUNK);
  reference space[BVH_FILL_MOST];
  scene_bounds seen = scene_bounds_empty();
  for (uint32_t at = first; at < end; at += BVH_FILL_MOST) {
    const uint32_t count = end - at < BVH_FILL_MOST ? end - at : BVH_FILL_MOST;
    reference *to = j->b->sorts ? space : &j->b->references[0][at];
    references_take_run(j->b, at, count, to);
    see_references(to, count, j->clamps, &seen);
    if (j->b->sorts) curve_note(j->b, at, to, count);
  }
  j->chunks[i] = seen;
}

static scene_bounds scene_bounds_all(const builder *b, bool clamps, scene_bounds *chunks) {
  const uint32_t n = scene_bounds_chunks(b->input->count);
  scene_bounds_job job = {b, clamps, chunks};
  scene_bounds total = scene_bounds_empty();
  pool_run(b->threads, n, scene_bounds_chunk, &job);
  for (uint32_t i = 0; i < n; i++) scene_bounds_join(&total, &chunks[i]);
  return total;
}

static float4 within_measure(float4 v) {
  return float4_min(float4_max(v, float4_all(-COORDINATE_MOST)), float4_all(COORDINATE_MOST));
}

/* Both ends of the bounds are clamped from both sides: all of a scene may lie beyond. */
measure bvh_measure(aabb bounds, const bvh_leaves *leaves) {
  measure m = {.least = within_measure(bounds.lower),
               .most = within_measure(bounds.upper),
               .faces = 1.0f,
               .scale = 1.0f,
               .together = (uint32_t)__builtin_ctz(leaves->together),
               .leaf_most = leaves->most,
               .leaf_cost = leaves->cost};
  float4 extent = m.most - m.least;
  float side = fmaxf(extent[0], extent[1]);
  if (!(extent[2] >= 0.0f)) {
    m.least[2] = 0.0f;
    m.most[2] = side;
    m.faces = 0.0f;
  } else {
    side = fmaxf(side, extent[2]);
  }
  if (side > 0.0f) m.scale = ldexpf(1.0f, 50 - (ilogbf(side) < -76 ? -76 : ilogbf(side)));
  return m;
}

/* Fills the measure and, unless the primitives are to be sorted first, the references. Returns the bounds of all keys.
 */
static aabb scene_bounds_input(builder *b, const bvh_leaves *leaves, scene_bounds *chunks) {
  b->measure.least = float4_all(-INFINITY); /* not known yet */
  b->measure.most = float4_all(INFINITY);
  b->grid = curve_grid_of(float4_xyz(b->input->bounds.lower), float4_xyz(b->input->bounds.upper));
  scene_bounds seen = scene_bounds_all(b, false, chunks);
  b->measure = bvh_measure(seen.bounds, leaves);
  b->mixed = ((seen.tags_or ^ seen.tags_and) & BUILD_NODE_KIND) != 0;
  const bool noted = !b->sorts || b->grid.scale[0] > 0.0f;
  if (!noted) b->grid = curve_grid_of(b->measure.least, b->measure.most);
  if (!noted || (seen.tags_or & REFERENCE_CLAMPED)) seen = scene_bounds_all(b, true, chunks);
  return seen.keys;
}

/* ---- the BVH ---- */

static uint32_t take_pairs(builder *b, uint32_t n) {
  return atomic_fetch_add_explicit(&b->next_pair, n, memory_order_relaxed);
}

static uint32_t next_pair(builder *b, task *s) {
  if (s->next == s->end) {
    const uint32_t n = s->owed < SUPPLY_PAIRS ? s->owed : SUPPLY_PAIRS;
    s->owed -= n;
    s->next = take_pairs(b, n);
    s->end = s->next + n;
  }
  return s->next++;
}

/* The kind of all references, or BUILD_NODE_MIXED. */
static uint32_t common_kind(const builder *b, const reference *r, uint32_t count) {
  uint32_t differ = 0;
  for (uint32_t i = 1; b->mixed && i < count; i++) differ |= (r[i].tag ^ r[0].tag) & BUILD_NODE_KIND;
  return differ ? BUILD_NODE_MIXED : r[0].tag & BUILD_NODE_KIND;
}

/* Bounds are those of the input, before clamping. */
static void finish_tip(builder *b, const build_range *s, const reference *r, uint32_t kind) {
  build_node *bottom = &b->build_nodes[s->build_node];
  uint32_t *primitives = &b->order[s->first], tags = 0;
  aabb bounds = aabb_empty();
  float cover = 0.0f;
  for (uint32_t i = 0; i < s->count; i++) {
    bounds = aabb_join(bounds, (aabb){r[i].side[0], r[i].side[1]});
    cover += measured_area(&b->measure, (aabb){r[i].side[0], r[i].side[1]});
    primitives[i] = r[i].index;
    tags |= r[i].tag;
  }
  if (tags & REFERENCE_CLAMPED) {
    reference given[TIP_MOST];
    b->input->fill(b->input->argument, primitives, s->count, given);
    bounds = aabb_empty();
    for (uint32_t i = 0; i < s->count; i++) bounds = aabb_join(bounds, (aabb){given[i].side[0], given[i].side[1]});
  }
  build_node_bound(bottom, bounds);
  bottom->link = s->first;
  bottom->count = s->count;
  bottom->tag = kind | BUILD_NODE_BOTTOM | cover_tag(cover);
  collapse_tip(&b->measure, bottom);
}

/* The subtree below a build node is complete. The later of two siblings to finish completes their parent, and so on up
 * to the root. No thread waits for another. */
static void complete(builder *b, uint32_t at) {
  while (at != 0) {
    at = b->footprints[at].nodes;
    if (__atomic_add_fetch(&b->footprints[at].blocks, 1, __ATOMIC_ACQ_REL) < 2) return;
    collapse_finish(b, at, b->build_nodes[at].link);
  }
}

/* The references of a range, NULL where they are not taken yet. */
static const reference *task_references(const builder *b, task *t, const build_range *s) {
  if (s->side != ON_CURVE) return b->references[s->side] + s->first;
  if (s->count > BVH_FILL_MOST) return NULL;
  if (s->first - t->first >= t->filled) {
    t->first = s->first;
    t->filled = s->count;
    curve_take(b, s->first, s->count, t->space);
  }
  return t->space + (s->first - t->first);
}

static void grow_below(builder *b, task *t, const build_range *s) {
  const reference *r = task_references(b, t, s);
  const uint32_t kind = s->count <= b->tip_most ? common_kind(b, r, s->count) : BUILD_NODE_MIXED;
  if (kind != BUILD_NODE_MIXED) {
    finish_tip(b, s, r, kind);
    return;
  }
  build_range parts[2];
  split_range(b, s, parts);
  const uint32_t pair = next_pair(b, t);
  for (uint32_t i = 0; i < 2; i++) {
    parts[i].build_node = 2 * pair + i;
    grow_below(b, t, &parts[i]);
  }
  collapse_finish(b, s->build_node, pair);
}

static void grow_small(builder *b, const build_range *s) {
  task t;
  t.next = t.end = t.first = t.filled = 0;
  t.owed = s->count - 1;
  grow_below(b, &t, s);
  complete(b, s->build_node);
}

static void grow(builder *b, const build_range *s);

/* Leaves a range to whichever thread is free. */
static void list_range(builder *b, const build_range *s) {
  os_mutex_lock(&b->lists);
  b->ranges[b->growing.pieces] = *s;
  pool_add(&b->growing);
  os_mutex_unlock(&b->lists);
}

/* Whether one of the parts of a range is listed. The parts of a range that all threads have divided are, unless all
 * threads divide the parts too. Otherwise the second one is, where both are large. So each listed range contains one
 * whose parts are both small, which is in no other one. So there is at most one for each TASK_MIN
 * references. */
static bool is_for_others(const builder *b, const build_range *whole, const build_range parts[2], int i) {
  if (b->threads == 1 || parts[i].count < TASK_MIN) return false;
  return whole->count >= PARALLEL_MIN ? parts[i].count < PARALLEL_MIN : i == 1 && parts[0].count >= TASK_MIN;
}

/* Until they are filled in, the footprints hold other data: each child's footprint holds its parent's index, and the
 * parent's footprint counts its complete children. */
static void grow_large(builder *b, const build_range *s) {
  build_range parts[2];
  split_range(b, s, parts);
  const uint32_t pair = take_pairs(b, 1);
  b->build_nodes[s->build_node].link = pair;
  b->footprints[s->build_node].blocks = 0;
  for (uint32_t i = 0; i < 2; i++) {
    parts[i].build_node = 2 * pair + i;
    b->footprints[parts[i].build_node].nodes = s->build_node;
  }
  for (int i = 1; i >= 0; i--) {
    if (is_for_others(b, s, parts, i))
      list_range(b, &parts[i]);
    else
      grow(b, &parts[i]);
  }
}

static void grow(builder *b, const build_range *s) {
  if (s->count < TASK_MIN)
    grow_small(b, s);
  else
    grow_large(b, s);
}

static void grow_listed(void *argument, size_t piece) {
  builder *b = argument;
  grow(b, &b->ranges[piece]);
}

/* Large ranges are divided by all threads, one after the other. The rest is then shared out. */
static void grow_all(builder *b, const build_range *root) {
  if (b->threads > 1 && root->count >= TASK_MIN && root->count < PARALLEL_MIN)
    list_range(b, root);
  else
    grow(b, root);
  if (b->growing.pieces == 0) return;
  pool_begin(&b->growing);
  pool_end(&b->growing);
}

static bool builder_create(builder *b, bvh_quality quality, const bvh_input *input, uint32_t threads,
                           const bvh_leaves *leaves) {
  static const int bins[] = {[BVH_FAST] = 16, [BVH_DEFAULT] = 16, [BVH_HIGH] = 32};
  static const uint32_t tip_most[] = {[BVH_FAST] = TIP_MOST, [BVH_DEFAULT] = TIP_MOST, [BVH_HIGH] = 4};
  const size_t count = input->count;
  *b = (builder){.input = input, .next_pair = 1, .bins = bins[quality], .sorts = quality == BVH_FAST};
  b->threads = threads == 0 ? pool_threads() : threads;
  b->growing = (pool_job){.work = grow_listed, .argument = b, .threads = b->threads};
  b->lists = (os_mutex)OS_MUTEX;
  b->tip_most = leaves->together < tip_most[quality] ? leaves->together : tip_most[quality];
  b->references[0] = bvh_allocate(count, sizeof *b->references[0]);
  b->references[1] = bvh_allocate(count, REFERENCE_SPACE);
  b->order = bvh_allocate(count, sizeof *b->order);
  b->build_nodes = bvh_allocate(2 * count, sizeof *b->build_nodes); /* the curve is sorted there before they are */
  if (b->sorts) b->curve = bvh_allocate(count, sizeof *b->curve);
  b->footprints = bvh_allocate(2 * count, sizeof *b->footprints);
  b->slots = bvh_allocate(split_slot_count(input->count), split_slot_size());
  b->ranges = bvh_allocate(count / TASK_MIN + 1, sizeof *b->ranges);
  return b->references[0] && b->references[1] && b->order && b->build_nodes && b->footprints && b->slots && b->ranges &&
         (b->curve || !b->sorts);
}

static void builder_free(builder *b) {
  for (int i = 0; i < 2; i++) os_free(b->references[i]);
  os_free(b->order);
  os_free(b->build_nodes);
  os_free(b->footprints);
  os_free(b->slots);
  os_free(b->ranges);
  os_free(b->curve);
  os_mutex_destroy(&b->lists);
}

static bool build_branches(builder *b, const bvh_leaves *leaves) {
  const uint32_t count = b->input->count;
  scene_bounds *chunks = bvh_allocate(scene_bounds_chunks(count), sizeof *chunks);
  build_range root = {.count = count};
  if (chunks == NULL) return false;
  root.keys = scene_bounds_input(b, leaves, chunks);
  os_free(chunks);
  if (b->input->ends != NULL && atomic_load(b->input->ends)) return false;
  if (b->sorts && !curve_sort(b)) return false;
  if (b->sorts) root.side = ON_CURVE;
  grow_all(b, &root);
  return true;
}

/* A root without children, for an empty input. */
static bool build_nothing(bvh *out) {
  out->nodes = bvh_allocate(1, sizeof *out->nodes);
  if (out->nodes == NULL) return false;
  out->node_count = out->depth = 1;
  wide_node_clear(out->nodes);
  return true;
}

/* Hands over the array that holds the most memory that was written. */
static void builder_spare(builder *b, bvh *out) {
  if (b->sorts) {
    out->spare = b->build_nodes;
    out->spare_bytes = 2 * (size_t)b->input->count * sizeof *b->build_nodes;
    b->build_nodes = NULL;
  } else {
    out->spare = b->references[1];
    out->spare_bytes = (size_t)b->input->count * REFERENCE_SPACE;
    b->references[1] = NULL;
  }
}

static bool build_as(bvh_quality quality, const bvh_input *input, const bvh_options *options, bvh *out) {
  static const bvh_leaves blocks = {BVH_WIDTH, BVH_LEAF_BLOCKS, BVH_COST_BLOCK};
  const bvh_leaves *leaves = options->leaves.together == 0 ? &blocks : &options->leaves;
  builder b = {0};
  const bool built = builder_create(&b, quality, input, options->threads, leaves) && build_branches(&b, leaves) &&
                     (quality != BVH_HIGH || reinsert(&b)) && wide_emit(&b, out);
  if (built) builder_spare(&b, out);
  builder_free(&b);
  return built;
}

bool bvh_build(const bvh_input *input, const bvh_options *options, bvh *out) {
  const double start = seconds_now();
  *out = (bvh){0};
  bool built = input->count == 0 ? build_nothing(out) : build_as(options->quality, input, options, out);
  if (built && out->depth > BVH_DEPTH_MAX) { /* only reinsertion can cause this */
    bvh_free(out);
    built = build_as(BVH_DEFAULT, input, options, out);
  }
  out->seconds = seconds_now() - start;
  return built;
}
