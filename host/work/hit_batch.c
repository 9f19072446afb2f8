#include "work/hit_batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "bvh/memory.h"
#include "os/memory.h"

/* ---- space: memory for the hits of a chunk ---- */

/* A chunk of PROBE rays is enough to size the next one. KNOWN rays make the numbers usable. Until then rays get space
 * for UNKNOWN_HITS hits each. */
#define PROBE 4096u
#define KNOWN 1024u
#define UNKNOWN_HITS 48.0
/* Margins over the mean: a factor, a number of standard deviations, and hits per ray for the unused rest of shares. */
#define SPACE_MORE 1.25
#define SPACE_DEVIATIONS 3.0
#define SPACE_LEFT 1.0
/* Bounds of the hits in a list in progress. Shorter lists overflow often; longer ones need memory that is hardly used.
 */
#define WALK_LEAST 4.0
#define WALK_MOST 1024.0
/* Parts of the space: finished lists, lists in progress, and the rest for lists that have outgrown their part. */
#define ENDED_PARTS 4
#define WALKS_PARTS 3
#define PARTS_OF_SPACE 8
#define RAYS_MOST 0x1p20

bool hits_are_known(const hits_known *k) { return k->rays >= KNOWN; }

/* Where nothing is known each ray gets space for all that it may list, if that is not more than it would get anyway. */
hits_known hits_bounded(const hits_known *k, uint32_t most) {
  if (most == 0) return *k;
  if (!hits_are_known(k) && most <= UNKNOWN_HITS) return (hits_known){.rays = KNOWN, .mean = most};
  return (hits_known){.rays = k->rays, .mean = fmin(k->mean, most), .deviation = fmin(k->deviation, most)};
}

/* Likely number of hits of a ray. */
static double likely_hits(const hits_known *k) {
  return SPACE_MORE * (hits_are_known(k) ? k->mean : fmax(k->mean, UNKNOWN_HITS)) + SPACE_LEFT;
}

static double likely_walk(const hits_known *k) {
  return fmin(fmax(k->mean + SPACE_DEVIATIONS * k->deviation, WALK_LEAST), WALK_MOST);
}

static uint32_t at_most(double wanted, double most) { return (uint32_t)fmin(wanted, most); }

size_t space_begin(uint32_t rays) {
  const size_t lists = TAKEN_NUMBERS * sizeof(uint32_t) + rays * sizeof(hit_list);
  return (lists + sizeof(slab_hit) - 1) / sizeof(slab_hit) * sizeof(slab_hit);
}

size_t space_size(uint32_t rays, const hit_space *r) {
  return space_begin(rays) + ((size_t)r->hits + (size_t)r->walks * r->walk + r->larger) * sizeof(slab_hit);
}

uint32_t space_rays(const hits_known *k, size_t bytes, double walks_each) {
  const double ended = likely_hits(k) / ENDED_PARTS, walks = walks_each * likely_walk(k) / WALKS_PARTS;
  const double rays = (double)bytes / (PARTS_OF_SPACE * fmax(ended, walks) * sizeof(slab_hit) + sizeof(hit_list));
  return at_most(fmax(rays, 1.0), hits_are_known(k) ? RAYS_MOST : PROBE);
}

/* The counters of taken hits cannot overflow. A ray requests in vain at most once: a share, or twice its own hits. Its
 * own hits are at most WALK_MOST, or are part of the space itself. */
hit_space space_of(const hits_known *k, size_t bytes, uint32_t rays, uint32_t walks) {
  const double begin = (double)space_begin(rays), all = ((double)bytes - begin) / sizeof(slab_hit);
  const double part = (all > PARTS_OF_SPACE ? all : PARTS_OF_SPACE) / PARTS_OF_SPACE;
  const double hits = likely_hits(k) * rays + SPACE_DEVIATIONS * k->deviation * sqrt(rays) + HIT_SHARE;
  hit_space r = {.walks = walks};
  r.hits = at_most(ceil(hits), ENDED_PARTS * part);
  r.walk = at_most(ceil(likely_walk(k)), WALKS_PARTS * part / walks);
  const double rest = PARTS_OF_SPACE * part - r.hits - (double)r.walk * walks;
  r.larger = at_most(2.0 * r.hits, rest); /* a list that grows moves to twice its size, repeatedly */
  return r;
}

/* ---- batches ---- */

/* Rays whose hits one thread places at a time. */
#define RAYS_A_PIECE 16384

size_t batch_bytes(const hit_batch *b) {
  return space_begin(b->rays) + ((size_t)b->space.walks * b->space.walk + b->used) * sizeof(slab_hit);
}

static void batch_drop(hit_batch *b) {
  os_free(b->results);
  free(b);
}

/* A kept batch for so many bytes, or NULL. Others that are kept on the way are dropped: casts are of another size now.
 */
static hit_batch *keeper_take(batch_keeper *k, size_t capacity) {
  for (int i = 0; k != NULL && i < KEPT_BATCHES; i++) {
    hit_batch *b = atomic_exchange(&k->of[i], NULL);
    if (b == NULL) continue;
    atomic_fetch_sub(&k->bytes, b->accessed);
    if (b->capacity >= capacity && b->capacity / 4 <= capacity) return b;
    batch_drop(b);
  }
  return NULL;
}

/* False where no other one is kept. */
static bool keeper_put(batch_keeper *k, hit_batch *b) {
  if (k == NULL || atomic_fetch_add(&k->bytes, b->accessed) + b->accessed > KEPT_BYTES) {
    if (k != NULL) atomic_fetch_sub(&k->bytes, b->accessed);
    return false;
  }
  for (int i = 0; i < KEPT_BATCHES; i++) {
    hit_batch *none = NULL;
    if (atomic_compare_exchange_strong(&k->of[i], &none, b)) return true;
  }
  atomic_fetch_sub(&k->bytes, b->accessed);
  return false;
}

void batch_keeper_end(batch_keeper *k) {
  for (int i = 0; i < KEPT_BATCHES; i++) {
    hit_batch *b = atomic_exchange(&k->of[i], NULL);
    if (b != NULL) batch_drop(b);
  }
}

static hit_batch *batch_allocate(size_t capacity) {
  hit_batch *b = malloc(sizeof *b);
  if (b == NULL) return NULL;
  *b = (hit_batch){.results = bvh_allocate(capacity, 1), .capacity = capacity};
  if (b->results != NULL) return b;
  free(b);
  return NULL;
}

hit_batch *batch_create(batch_keeper *keeper, size_t first, uint32_t rays, const hit_space *space, bool in_place) {
  const size_t size = space_begin(rays) + space->hits * sizeof(slab_hit),
               capacity = in_place ? space_size(rays, space) : size;
  hit_batch *b = keeper_take(keeper, capacity);
  if (b == NULL) b = batch_allocate(capacity);
  if (b == NULL) return NULL;
  *b = (hit_batch){.first = first,
                   .rays = rays,
                   .space = *space,
                   .results = b->results,
                   .size = size,
                   .capacity = b->capacity,
                   .accessed = b->accessed,
                   .keeper = keeper};
  memset(b->results, 0, TAKEN_NUMBERS * sizeof(uint32_t));
  return b;
}

void batches_free(hit_batch *b) {
  while (b != NULL) {
    hit_batch *next = b->next;
    const size_t bytes = batch_bytes(b);
    if (bytes > b->accessed) b->accessed = bytes;
    if (!keeper_put(b->keeper, b)) batch_drop(b);
    b = next;
  }
}

const hit_list *batch_lists(const hit_batch *b) {
  return (const hit_list *)(const void *)(b->results + TAKEN_NUMBERS * sizeof(uint32_t));
}

static const slab_hit *batch_hits(const hit_batch *b) {
  return (const slab_hit *)(const void *)(b->results + space_begin(b->rays));
}

/* A look at the lists of a batch. The threads sum up their results. */
typedef struct looking {
  const hit_batch *batch;
  uint64_t most, *counts;
  atomic_uint_fast64_t found, squares;
  atomic_uint used;
  atomic_bool lost, wrong;
} looking;

static void look_at_some(void *argument, size_t first, size_t end) {
  looking *l = argument;
  const hit_list *lists = batch_lists(l->batch);
  const uint32_t space = l->batch->space.hits;
  uint64_t found = 0, squares = 0, used = 0;
  bool lost = false, wrong = false;
  for (size_t i = first; i < end; i++) { /* without branches: they are unpredictable */
    const uint64_t begin = lists[i].begin, count = lists[i].count;
    const bool kept = begin != LIST_LOST;
    const uint64_t last = kept ? begin + count : 0;
    l->counts[i] = count;
    found += count;
    squares += count * count;
    used = last > used ? last : used;
    lost |= !kept;
    wrong |= count > l->most || (count == 0 && begin != 0);
  }
  atomic_fetch_add(&l->found, found);
  atomic_fetch_add(&l->squares, squares);
  if (lost) atomic_store(&l->lost, true);
  if (wrong || used > space) {
    atomic_store(&l->wrong, true);
    return;
  }
  for (uint32_t seen = atomic_load(&l->used); seen < used;)
    if (atomic_compare_exchange_weak(&l->used, &seen, (uint32_t)used)) break;
}

bool batch_look(hit_batch *b, uint64_t most, uint64_t *counts, uint32_t threads) {
  looking l = {.batch = b, .most = most, .counts = counts};
  pool_loop(threads, b->rays, RAYS_A_PIECE, look_at_some, &l);
  b->found = l.found;
  b->squares = (double)l.squares;
  b->used = l.used;
  b->lost = l.lost;
  return !l.wrong;
}

/* A higher value is taken at once, a lower one gradually: too little space costs a second pass. */
static double follow(double known, double seen) { return fmax(seen, known + (seen - known) / 8.0); }

void batch_note(const hit_batch *b, hits_known *known) {
  const double mean = (double)b->found / b->rays;
  const double deviation = sqrt(fmax(b->squares / b->rays - mean * mean, 0.0));
  known->mean = follow(known->mean, mean);
  known->deviation = follow(known->deviation, deviation);
  known->rays += b->rays;
}

typedef struct placing {
  const hit_batch *batch;
  const uint64_t *offsets;
  slab_hit *hits;
} placing;

static void place_some(void *argument, size_t first, size_t end) {
  const placing *p = argument;
  const hit_list *lists = batch_lists(p->batch);
  const slab_hit *from = batch_hits(p->batch);
  const uint64_t *offsets = p->offsets + p->batch->first;
  for (size_t i = first; i < end;) { /* lists that follow each other in either place are copied at once */
    slab_hit *to = p->hits + offsets[i];
    const uint32_t begin = lists[i].begin;
    uint32_t count = 0;
    do count += lists[i++].count;
    while (i < end && (lists[i].count == 0 || lists[i].begin == begin + count));
    for (uint32_t k = 0; k < count; k++) to[k] = from[begin + k]; /* few */
  }
}

void batches_place(const hit_batch *batches, const uint64_t *offsets, slab_hit *hits, uint32_t threads) {
  for (const hit_batch *b = batches; b != NULL; b = b->next) {
    placing p = {b, offsets, hits};
    if (!b->lost) pool_loop(threads, b->rays, RAYS_A_PIECE, place_some, &p);
  }
}
