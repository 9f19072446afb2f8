/* Chooses where to cut a node of the binary BVH. Usually between bins of centres, or of sizes; with few references,
 * between any two of them. It is in halves where the surface areas give no usable cost or the BVH would become too
 * deep.
 *
 * A cut by size separates large references from small ones among them, such as walls of a room from its furniture. The
 * large bounds would enlarge both sides of every other cut. */
#include <string.h>

#include "bvh/parts.h"

#define BINS_MAX 32
#define CHUNK 16384u /* references that one piece bins or parts */
#define DEPTH_LIMIT (BVH_DEPTH_MAX - 8)

/* A cut goes by one of these: the centre on one of three axes, or the size. */
enum { AXES = 3, BY_SIZE = 3, KEYS = 4 };

/* Bounds and number of the references in each bin of each key. */
typedef struct bin_set {
  aabb bounds[KEYS][BINS_MAX];
  uint4 count[BINS_MAX]; /* one lane for each key */
} bin_set;

/* The least and the largest size of some references. */
typedef struct size_range {
  float least, most;
} size_range;

struct bin_slot {
  bin_set set;
  size_range sizes[2]; /* of the chunk's references left and right of the cut */
  uint32_t left;       /* how many of the node's references go left before this chunk's */
};

/* Bin of each key k: (k - offset) * scale, rounded down. For sizes k is their logarithm, and negative values are in bin
 * 0. */
typedef struct mapping {
  float4 offset, scale;
  int bins;
  bool by_size; /* a cut by size is looked for */
  bool sized;   /* the sizes of the parts are wanted */
} mapping;

/* Bins below `bin` of `key` go left. */
typedef struct cut {
  float cost; /* INFINITY: no cut */
  int key, bin;
  uint32_t left; /* number of references on the left */
} cut;

size_t split_slot_count(uint32_t count) { return count / CHUNK + 1; }
size_t split_slot_size(void) { return sizeof(bin_slot); }

/* ---- bins ---- */

/* The binary logarithm of a size, plus a constant: the exponent, and the mantissa as its fraction. */
static inline float size_logarithm(float size) {
  int32_t bits;
  memcpy(&bits, &size, sizeof bits);
  return (float)bits * 0x1p-23f;
}

static inline float size_place(const mapping *map, const reference *r) {
  return (size_logarithm(reference_keys(r)[BY_SIZE]) - map->offset[BY_SIZE]) * map->scale[BY_SIZE];
}

/* A cut by size is searched only where it may pay, since that takes time. Such a range has SIZE_COUNT references. The
 * largest has half the size of the range itself and SIZE_RATIO times that of most. */
#define SIZE_COUNT 64u
#define SIZE_RATIO 8.0f
#define SIZE_SAMPLES 8u
#define SIZE_OCTAVES 16.0f /* still smaller references are in the first bin */

static bool some_are_large(const build_range *s) {
  const float4 twice = s->keys.upper - s->keys.lower;
  const float least = s->keys.lower[BY_SIZE], most = s->keys.upper[BY_SIZE];
  return s->count >= SIZE_COUNT && least * SIZE_RATIO < most && (twice[0] + twice[1]) + twice[2] < 4.0f * most;
}

static bool most_are_small(const build_range *s, const reference *from) {
  uint32_t small = 0;
  for (uint32_t i = 0; i < SIZE_SAMPLES; i++) {
    const reference *sample = &from[(uint64_t)s->count * i / SIZE_SAMPLES];
    small += reference_keys(sample)[BY_SIZE] * SIZE_RATIO < s->keys.upper[BY_SIZE];
  }
  return small > SIZE_SAMPLES / 2;
}

/* The largest key falls just below the number of bins: it is scaled by less than (1 - 2^-20)(1 + 2^-22) times that
 * number. An axis without extent has one bin. */
static mapping map_keys(const build_range *s, int bins, const reference *from) {
  mapping map = {s->keys.lower, float4_all(0.0f), bins, false, some_are_large(s)};
  const float4 extent = s->keys.upper - s->keys.lower;
  const float most = (float)bins * (1.0f - 0x1p-20f);
  for (int axis = 0; axis < AXES; axis++)
    if (extent[axis] > 0x1p-110f) map.scale[axis] = most / extent[axis];
  if (map.sized && most_are_small(s, from)) {
    const float largest = size_logarithm(s->keys.upper[BY_SIZE]);
    const float octaves = fminf(largest - size_logarithm(s->keys.lower[BY_SIZE]), SIZE_OCTAVES);
    map.by_size = true;
    map.offset[BY_SIZE] = largest - octaves;
    map.scale[BY_SIZE] = most / octaves;
  }
  return map;
}

static void bins_clear(bin_set *set, const mapping *map) {
  for (int bin = 0; bin < map->bins; bin++) {
    for (int axis = 0; axis < AXES; axis++) set->bounds[axis][bin] = aabb_empty();
    if (map->by_size) set->bounds[BY_SIZE][bin] = aabb_empty();
    set->count[bin] = (uint4){0, 0, 0, 0};
  }
}

static inline void bin_add(bin_set *set, int bin, int key, const reference *r) {
  aabb *bounds = &set->bounds[key][bin];
  bounds->lower = float4_min(bounds->lower, r->side[0]);
  bounds->upper = float4_max(bounds->upper, r->side[1]);
  ((uint32_t *)&set->count[bin])[key]++;
}

static inline void bins_add(bin_set *set, const mapping *map, const reference *r) {
  const int4 bin = __builtin_convertvector((reference_center(r) - map->offset) * map->scale, int4);
  for (int axis = 0; axis < AXES; axis++) bin_add(set, bin[axis], axis, r);
  if (map->by_size) bin_add(set, (int)fmaxf(size_place(map, r), 0.0f), BY_SIZE, r);
}

static void bins_join(bin_set *set, const bin_set *other, const mapping *map) {
  for (int bin = 0; bin < map->bins; bin++) {
    for (int key = 0; key < (map->by_size ? KEYS : AXES); key++)
      set->bounds[key][bin] = aabb_join(set->bounds[key][bin], other->bounds[key][bin]);
    set->count[bin] += other->count[bin];
  }
}

#define REFERENCES_AHEAD 24u /* so many before their turn references are requested: processors do not see two runs */

/* Neighbours in memory often fall into the same bin, and a load that follows a store to the same address is slow. So
 * references are taken from both halves alternately, into separate bins. */
static void bins_fill(bin_set *set, const mapping *map, const reference *from, uint32_t count) {
  const uint32_t half = count < 256 ? 0 : count / 2;
  bins_clear(set, map);
  if (half > 0) {
    bin_set other;
    bins_clear(&other, map);
    for (uint32_t i = 0; i < half; i++) {
      __builtin_prefetch(&from[i] + REFERENCES_AHEAD);
      __builtin_prefetch(&from[half + i] + REFERENCES_AHEAD);
      bins_add(set, map, &from[i]);
      bins_add(&other, map, &from[half + i]);
    }
    bins_join(set, &other, map);
  }
  for (uint32_t i = 2 * half; i < count; i++) bins_add(set, map, &from[i]);
}

/* ---- costs ---- */

/* The areas of the boxes; infinity or NaN for an empty box. */
static inline float4 areas(const measure *m, const aabb box[KEYS]) {
  const float4 a = box[0].upper - box[0].lower, b = box[1].upper - box[1].lower, c = box[2].upper - box[2].lower,
               d = box[3].upper - box[3].lower;
  const float4 x = (float4){a[0], b[0], c[0], d[0]} * m->scale, y = (float4){a[1], b[1], c[1], d[1]} * m->scale,
               z = (float4){a[2], b[2], c[2], d[2]} * m->scale;
  return x * y * m->faces + (x + y) * z;
}

static inline void boxes_clear(aabb box[KEYS]) {
  for (int key = 0; key < KEYS; key++) box[key] = aabb_empty();
}

static inline void boxes_join(aabb box[KEYS], const bin_set *set, int bin, bool by_size) {
  for (int axis = 0; axis < AXES; axis++) box[axis] = aabb_join(box[axis], set->bounds[axis][bin]);
  if (by_size) box[BY_SIZE] = aabb_join(box[BY_SIZE], set->bounds[BY_SIZE][bin]);
}

static inline float4 block_counts(const measure *m, uint4 count) {
  return __builtin_convertvector((int4)((count + ((1u << m->together) - 1)) >> m->together), float4);
}

/* Parts by size overlap, so their subtrees cost more than their areas show. Such a cut has to be clearly cheaper. */
#define SIZE_COST 1.25f

/* The cheapest cut by each key, by the sum of area * blocks. Where a side is empty the cost is NaN, which is not less
 * than any other. */
static cut cheapest_cut(const bin_set *set, int bins, bool by_size, const measure *m) {
  float4 right_cost[BINS_MAX], best = float4_all(INFINITY);
  int4 best_bin = {0, 0, 0, 0};
  uint4 count = {0, 0, 0, 0}, best_left = count;
  aabb box[KEYS];
  boxes_clear(box);
  for (int bin = bins - 1; bin > 0; bin--) {
    boxes_join(box, set, bin, by_size);
    count += set->count[bin];
    right_cost[bin] = areas(m, box) * block_counts(m, count);
  }
  count = (uint4){0, 0, 0, 0};
  boxes_clear(box);
  for (int bin = 1; bin < bins; bin++) {
    boxes_join(box, set, bin - 1, by_size);
    count += set->count[bin - 1];
    const float4 cost = areas(m, box) * block_counts(m, count) + right_cost[bin];
    const int4 better = cost < best, bin4 = {bin, bin, bin, bin};
    best = float4_select(better, cost, best);
    best_bin = (better & bin4) | (~better & best_bin);
    best_left = ((uint4)better & count) | (~(uint4)better & best_left);
  }
  int key = best[1] < best[0] ? 1 : 0;
  if (best[2] < best[key]) key = 2;
  if (by_size && SIZE_COST * best[BY_SIZE] < best[key]) key = BY_SIZE;
  return (cut){best[key], key, best_bin[key], best_left[key]};
}

/* ---- parting ---- */

static const size_range no_sizes = {INFINITY, -INFINITY};

static inline void sizes_add(size_range *s, size_range more) {
  s->least = more.least < s->least ? more.least : s->least;
  s->most = more.most > s->most ? more.most : s->most;
}

/* Copies the references to either side of a cut, in order. sizes: of both sides, where they are wanted. */
static void part_range(const mapping *map, const cut *where, const reference *from, uint32_t count,
                       reference *const to[2], size_range sizes[2]) {
  const int key = where->key;
  const float offset = map->offset[key], scale = map->scale[key], limit = (float)where->bin;
  reference *next[2] = {to[0], to[1]};
  sizes[0] = sizes[1] = no_sizes;
  for (uint32_t i = 0; i < count; i++) {
    const float place =
        key == BY_SIZE ? size_place(map, &from[i]) : (from[i].lower[key] + from[i].upper[key] - offset) * scale;
    const int side = !(place < limit);
    *next[side]++ = from[i];
    if (map->sized) {
      const float size = reference_keys(&from[i])[BY_SIZE];
      sizes_add(&sizes[side], (size_range){size, size});
    }
  }
}

/* Bounds of the keys of both parts: from the first to the last of the bins that hold some. So they are at most a bin
 * wider than the keys, and nothing has to be computed of each reference. In bin k a key is less than offset + (k + 1) /
 * scale by the quotient's, the sum's and its own rounding, for which both ends move outward. */
static void bound_keys(const build_range *whole, const mapping *map, const bin_set *set, const cut *where,
                       build_range parts[2]) {
  const float4 extent = whole->keys.upper - whole->keys.lower;
  for (int side = 0; side < 2; side++) {
    aabb *keys = &parts[side].keys;
    *keys = whole->keys;
    for (int axis = 0; axis < AXES; axis++) {
      int first = axis == where->key && side == 1 ? where->bin : 0;
      int end = axis == where->key && side == 0 ? where->bin : map->bins;
      if (map->scale[axis] == 0.0f) continue;
      while (set->count[first][axis] == 0) first++;
      while (set->count[end - 1][axis] == 0) end--;
      const float width = 1.0f / map->scale[axis], base = whole->keys.lower[axis];
      const float lower = base + (float)first * width, upper = base + (float)end * width;
      const float slack = extent[axis] * 0x1p-20f + (fabsf(lower) + fabsf(upper)) * 0x1p-22f;
      if (lower - slack > keys->lower[axis]) keys->lower[axis] = lower - slack;
      if (upper + slack < keys->upper[axis]) keys->upper[axis] = upper + slack;
    }
  }
}

/* The slots of a node do not overlap those of its neighbours: a node has floor(count / CHUNK) of them, from ceil(first
 * / CHUNK) on. The last piece takes the references that do not fill a chunk. */
typedef struct chunked {
  const mapping *map;
  const cut *where;
  const reference *from;
  reference *to;
  bin_slot *slots;
  uint32_t chunks, count; /* count: references of all chunks */
} chunked;

static chunked chunks_of(const builder *b, const build_range *whole, const mapping *map) {
  return (chunked){.map = map,
                   .from = b->references[whole->side] + whole->first,
                   .to = b->references[!whole->side] + whole->first,
                   .slots = b->slots + ((size_t)whole->first + CHUNK - 1) / CHUNK,
                   .chunks = whole->count / CHUNK,
                   .count = whole->count};
}

static uint32_t chunk_count(const chunked *c, size_t chunk) {
  return chunk + 1 < c->chunks ? CHUNK : c->count - (uint32_t)chunk * CHUNK;
}

static void bin_chunk(void *argument, size_t chunk) {
  const chunked *c = argument;
  bins_fill(&c->slots[chunk].set, c->map, c->from + chunk * CHUNK, chunk_count(c, chunk));
}

static void bins_fill_parallel(const builder *b, chunked *c, bin_set *set) {
  pool_run(b->threads, c->chunks, bin_chunk, c);
  bins_clear(set, c->map);
  for (uint32_t i = 0; i < c->chunks; i++) bins_join(set, &c->slots[i].set, c->map);
}

static uint32_t chunk_left(const bin_set *set, const cut *where) {
  uint32_t left = 0;
  for (int bin = 0; bin < where->bin; bin++) left += set->count[bin][where->key];
  return left;
}

static void part_chunk(void *argument, size_t chunk) {
  const chunked *c = argument;
  bin_slot *slot = &c->slots[chunk];
  const size_t first = chunk * CHUNK;
  reference *const sides[2] = {c->to + slot->left, c->to + c->where->left + (first - slot->left)};
  part_range(c->map, c->where, c->from + first, chunk_count(c, chunk), sides, slot->sizes);
}

/* Each chunk's bins give the number that it sends left, and so the position where its references go. */
static void part_parallel(const builder *b, chunked *c, const cut *where, size_range sizes[2]) {
  uint32_t left = 0;
  for (uint32_t i = 0; i < c->chunks; i++) {
    c->slots[i].left = left;
    left += chunk_left(&c->slots[i].set, where);
  }
  c->where = where;
  pool_run(b->threads, c->chunks, part_chunk, c);
  for (int side = 0; side < 2; side++) {
    sizes[side] = no_sizes;
    for (uint32_t i = 0; i < c->chunks; i++) sizes_add(&sizes[side], c->slots[i].sizes[side]);
  }
}

/* Returns false where no cut has a usable cost. */
static bool divide_binned(const builder *b, const build_range *whole, build_range parts[2]) {
  const bool parallel = whole->count >= PARALLEL_MIN;
  const reference *from = b->references[whole->side] + whole->first;
  const mapping map = map_keys(whole, b->bins, from);
  chunked chunks = chunks_of(b, whole, &map);
  bin_set set;
  if (parallel)
    bins_fill_parallel(b, &chunks, &set);
  else
    bins_fill(&set, &map, from, whole->count);
  const cut where = cheapest_cut(&set, map.bins, map.by_size, &b->measure);
  if (!(where.cost > 0.0f && where.cost < INFINITY)) return false;
  range_parts(whole, where.left, !whole->side, parts);
  size_range sizes[2];
  if (parallel) {
    part_parallel(b, &chunks, &where, sizes);
  } else {
    reference *const to[2] = {b->references[!whole->side] + parts[0].first,
                              b->references[!whole->side] + parts[1].first};
    part_range(&map, &where, from, whole->count, to, sizes);
  }
  bound_keys(whole, &map, &set, &where, parts);
  for (int i = 0; i < 2 && map.sized; i++) {
    parts[i].keys.lower[BY_SIZE] = sizes[i].least;
    parts[i].keys.upper[BY_SIZE] = sizes[i].most;
  }
  return true;
}

/* ---- few references: every cut between two of them ---- */

/* order: the indices of the references, sorted by centre, equal centres by index. */
static void sort_few(const float *key, uint32_t count, uint8_t *order) {
  for (uint32_t i = 0; i < count; i++) {
    uint32_t rank = 0;
    for (uint32_t k = 0; k < i; k++) rank += key[k] <= key[i];
    for (uint32_t k = i + 1; k < count; k++) rank += key[k] < key[i];
    order[rank] = (uint8_t)i;
  }
}

/* Fills bins of one reference each, sorted along every axis. */
static void bins_of_few(const reference *from, uint32_t count, bin_set *set, uint8_t order[3][SWEEP_MAX]) {
  float key[3][SWEEP_MAX];
  for (uint32_t i = 0; i < count; i++) {
    const float4 center = reference_center(&from[i]);
    for (int axis = 0; axis < 3; axis++) key[axis][i] = center[axis];
    set->count[i] = (uint4){1, 1, 1, 1};
  }
  for (int axis = 0; axis < 3; axis++) {
    sort_few(key[axis], count, order[axis]);
    for (uint32_t i = 0; i < count; i++) {
      const reference *r = &from[order[axis][i]];
      set->bounds[axis][i] = (aabb){r->side[0], r->side[1]};
    }
  }
}

static uint32_t blocks_of(const measure *m, const reference *const *list, uint32_t count) {
  uint8_t per_kind[256] = {0};
  uint32_t blocks = 0;
  for (uint32_t i = 0; i < count; i++)
    blocks += (per_kind[list[i]->tag & BUILD_NODE_KIND]++ & ((1u << m->together) - 1)) == 0;
  return blocks;
}

static float cost_of(const measure *m, const reference *const *list, uint32_t count) {
  aabb box[KEYS];
  boxes_clear(box);
  for (uint32_t i = 0; i < count; i++) box[0] = aabb_join(box[0], (aabb){list[i]->side[0], list[i]->side[1]});
  return areas(m, box)[0] * (float)blocks_of(m, list, count);
}

/* Lists the references, those of the first one's kind first. Returns the number of these. */
static uint32_t list_by_kind(const reference *from, uint32_t count, const reference **list) {
  uint32_t left = 0, listed;
  for (uint32_t i = 0; i < count; i++)
    if (((from[i].tag ^ from[0].tag) & BUILD_NODE_KIND) == 0) list[left++] = &from[i];
  listed = left;
  for (uint32_t i = 0; i < count; i++)
    if (((from[i].tag ^ from[0].tag) & BUILD_NODE_KIND) != 0) list[listed++] = &from[i];
  return left;
}

static float cost_of_both(const measure *m, const reference *const *list, uint32_t left, uint32_t count) {
  return cost_of(m, list, left) + cost_of(m, list + left, count - left);
}

static void part_list(const builder *b, const build_range *whole, const reference *const *list, uint32_t left,
                      build_range parts[2]) {
  reference *to = b->references[!whole->side] + whole->first;
  for (uint32_t i = 0; i < whole->count; i++) to[i] = *list[i];
  range_parts(whole, left, !whole->side, parts);
}

/* Divides a range that is small enough for a binary leaf but contains several kinds. */
static void divide_kinds(const builder *b, const build_range *whole, build_range parts[2]) {
  const reference *list[SWEEP_MAX];
  const uint32_t left = list_by_kind(b->references[whole->side] + whole->first, whole->count, list);
  part_list(b, whole, list, left, parts);
}

static bool divide_few(const builder *b, const build_range *whole, build_range parts[2]) {
  const reference *from = b->references[whole->side] + whole->first, *list[SWEEP_MAX], *by_kind[SWEEP_MAX];
  const uint32_t count = whole->count;
  uint8_t order[3][SWEEP_MAX];
  bin_set set;
  bins_of_few(from, count, &set, order);
  const cut where = cheapest_cut(&set, (int)count, false, &b->measure);
  if (!(where.cost > 0.0f && where.cost < INFINITY)) return false;
  for (uint32_t i = 0; i < count; i++) list[i] = &from[order[where.key][i]];
  if (b->mixed) {
    const uint32_t left = list_by_kind(from, count, by_kind);
    if (left < count &&
        cost_of_both(&b->measure, by_kind, left, count) <= cost_of_both(&b->measure, list, where.left, count)) {
      part_list(b, whole, by_kind, left, parts);
      return true;
    }
  }
  part_list(b, whole, list, where.left, parts);
  return true;
}

/* ---- halves ---- */

static bool center_less(const reference *a, const reference *b, int axis) {
  const float x = a->lower[axis] + a->upper[axis], y = b->lower[axis] + b->upper[axis];
  return x < y || (x == y && a->index < b->index);
}

static void swap_references(reference *a, reference *b) {
  const reference kept = *a;
  *a = *b;
  *b = kept;
}

/* Hoare's selection: moves the `left` first references to the front. Centres with indices are a total order. The middle
 * element is the pivot, so that sorted input is not a slow case. */
static void select_first(reference *r, uint32_t count, uint32_t left, int axis) {
  int64_t low = 0, high = (int64_t)count - 1;
  while (low < high) {
    const reference pivot = r[low + (high - low) / 2];
    int64_t i = low, k = high;
    while (i <= k) {
      while (center_less(&r[i], &pivot, axis)) i++;
      while (center_less(&pivot, &r[k], axis)) k--;
      if (i <= k) swap_references(&r[i++], &r[k--]);
    }
    if (left > k && left < i) return;
    if (left <= k)
      high = k;
    else
      low = i;
  }
}

/* Puts half of the full binary leaves on either side along the longest axis; by index where all centres are equal. */
static void divide_halves(const builder *b, const build_range *whole, build_range parts[2]) {
  reference *r = b->references[whole->side] + whole->first;
  const aabb keys = range_keys(b, whole);
  const float4 extent = keys.upper - keys.lower;
  const uint32_t bottoms = (whole->count - 1) / b->tip_most + 1, left = (bottoms + 1) / 2 * b->tip_most;
  int axis = extent[1] > extent[0] ? 1 : 0;
  if (extent[2] > extent[axis]) axis = 2;
  if (extent[axis] > 0.0f) select_first(r, whole->count, left, axis);
  range_parts(whole, left, whole->side, parts);
  for (int i = 0; i < 2; i++) parts[i].keys = range_keys(b, &parts[i]);
}

/* Whether the depth limit only just holds if every cut from here on is in halves. */
static bool depth_is_short(const builder *b, const build_range *whole) {
  uint32_t depth = whole->depth;
  for (uint32_t bottoms = (whole->count - 1) / b->tip_most + 1; bottoms > 1; bottoms -= bottoms / 2) depth++;
  return depth >= DEPTH_LIMIT;
}

void split_range(const builder *b, const build_range *whole, build_range parts[2]) {
  const bool tip = whole->count <= b->tip_most, deep = !tip && depth_is_short(b, whole);
  build_range taken;
  if (whole->side == ON_CURVE) {
    if (!tip && !deep && curve_divide(b, whole, parts)) return;
    taken = curve_leave(b, whole);
    whole = &taken;
  }
  if (tip) {
    divide_kinds(b, whole, parts);
    return;
  }
  const bool divided =
      !deep && (whole->count <= SWEEP_MAX ? divide_few(b, whole, parts) : divide_binned(b, whole, parts));
  if (!divided) divide_halves(b, whole, parts);
}
