/* SLAB_ALL: collects all hits of a ray while it is cast, then sorts them and writes them to the results.
 *
 * Where offsets are given, hits are collected at their final place. Where they are not, counting first would take a
 * cast of its own. Then each list reserves what it needs of a space that all work-items share (hit_space), and reports
 * where it lies in a hit_list. In progress it is in the space too. Kernels that are compiled ahead begin it on their
 * stack, which stays in the first-level cache; only a longer list goes on in the space. In OpenCL C 1.2 one pointer
 * cannot point to both. */
#ifndef WALK_LISTING_H
#define WALK_LISTING_H

#include "data/scene_memory.h"
#include "walk/columns.h"

#ifndef SLAB_DEFERRED
#define SLAB_DEFERRED 0 /* 1: another kernel computes the attributes of hits */
#endif

typedef struct listing {
  global deferred_hit *hits; /* as found; lane is not set */
  uint count, capacity;
  volatile global uint *taken; /* counters of the space; NULL: offsets are given */
#ifdef SLAB_NATIVE
  deferred_hit *walk; /* its part of the space, where it goes on; NULL: none, or it is there */
#endif
} listing;

/* LISTS_HELD: hits that a kernel holds itself, of as many lists in progress. A call of lists_given puts their place
 * into the arrays of the cast. The first of their arguments walk of listing_begin is first_walk. In a wide BVH it is
 * FIRST_WALK. */
#ifdef SLAB_NATIVE
#define LIST_HELD 8 /* hits */
#define LISTS_HELD(lists) (SLAB_QUERY == SLAB_ALL || SLAB_QUERY == QUERY_TOLD ? (lists)*LIST_HELD : 1)
INLINE void lists_given(cast_arrays *arrays, deferred_hit *held, size_t first_walk) {
  arrays->held = held;
  arrays->first_walk = first_walk;
}
#define FIRST_WALK(lists) (get_global_id(0) * LISTS_MOST)
/* For functions that few rays need: each is there once, not wherever a kind's hits are taken. */
#define RARE static __attribute__((noinline))
#else
#define LISTS_HELD(lists) 1 /* none: all are in the space */
INLINE void lists_given(cast_arrays *arrays, deferred_hit *held, size_t first_walk) {
  (void)arrays, (void)held, (void)first_walk;
}
#define FIRST_WALK(lists) (get_global_id(0) * (lists))
#define RARE INLINE
#endif

/* Hits that a work-item has reserved for its next lists. */
typedef struct hit_share {
  uint next, left;
} hit_share;

/* Reserves `wanted` hits of `space`. Returns LIST_LOST where fewer are left. *taken grows in either case. It does not
 * wrap around: see space_of. */
INLINE uint space_take(volatile global uint *taken, uint wanted, uint space) {
  const uint at = atomic_add(taken, wanted);
  return at <= space && wanted <= space - at ? at : LIST_LOST;
}

/* Reserves the hits of a finished list. A list of an eighth of the share or more reserves its hits itself. So at most
 * an eighth of a share is lost when the next one is reserved. */
INLINE uint share_take(hit_share *share, volatile global uint *taken, uint count, const cast_uniforms *cast) {
  const uint size = min(cast->rays_each, HIT_SHARE);
  if (count > share->left) {
    if (count >= size / 8) return space_take(taken, count, cast->space.hits);
    share->next = space_take(taken, size, cast->space.hits);
    share->left = share->next == LIST_LOST ? 0 : size;
    if (share->left == 0) return LIST_LOST;
  }
  const uint at = share->next;
  share->next += count;
  share->left -= count;
  return at;
}

/* Start of the space for hits. */
INLINE global deferred_hit *listing_space(global void *results, const cast_uniforms *cast) {
  return (global deferred_hit *)((global uint *)results + cast->at[AT_RESULTS]);
}

/* Begins the list of ray i. walk: its index among the walkers of all work-items. */
INLINE listing listing_begin(const cast_arrays *arrays, const cast_uniforms *cast, size_t i, size_t walk) {
  listing l = {0};
  l.hits = listing_space(arrays->results, cast);
  if (cast->space.hits == 0) {
    const global uint *offsets = arrays->offsets + cast->at[AT_OFFSETS];
    l.hits += offsets[i];
    l.capacity = offsets[i + 1] - offsets[i];
    return l;
  }
  l.hits += cast->space.hits + walk * cast->space.walk;
  l.capacity = cast->space.walk;
  l.taken = (volatile global uint *)arrays->results;
#ifdef SLAB_NATIVE
  l.walk = l.capacity > LIST_HELD ? l.hits : 0;
  l.hits = arrays->held + (walk - arrays->first_walk) * LIST_HELD;
  l.capacity = LIST_HELD;
#endif
  return l;
}

/* An entry of a list, for a hit. geometry: 0 where the scene has no instances. */
typedef struct listed_hit {
  float t;
  uint global_id, where, geometry, lane;
} listed_hit;

INLINE listed_hit hit_read(const global deferred_hit *from) {
  const listed_hit hit = {from->t, from->global_id, from->where, SLAB_INSTANCES ? from->geometry : 0,
                          SLAB_DEFERRED ? from->lane : 0};
  return hit;
}

INLINE void hit_write(global deferred_hit *to, listed_hit hit) {
  to->t = hit.t;
  to->global_id = hit.global_id;
  to->where = hit.where;
  if (SLAB_INSTANCES) to->geometry = hit.geometry;
  if (SLAB_DEFERRED) to->lane = hit.lane;
}

INLINE void listing_move(listing *l, global deferred_hit *to, uint capacity) {
  for (uint k = 0; k < l->count; k++) hit_write(&to[k], hit_read(&l->hits[k]));
  l->hits = to;
  l->capacity = capacity;
}

/* Moves a list to where there is space for twice as many hits, if there is. */
INLINE void listing_grow(listing *l, const cast_uniforms *cast) {
  const hit_space space = cast->space;
#ifdef SLAB_NATIVE
  if (l->walk != 0) {
    listing_move(l, l->walk, space.walk);
    l->walk = 0;
    return;
  }
#endif
  const uint wanted = 2 * l->capacity, at = space_take(l->taken + TAKEN_LARGER, wanted, space.larger);
  if (at == LIST_LOST) return;
  listing_move(l, listing_space((global void *)l->taken, cast) + space.hits + (size_t)space.walks * space.walk + at,
               wanted);
}

/* ---- sorting by (t, geometry, primitive): in place, since a ray may have any number of hits ---- */

INLINE bool hit_is_after(listed_hit a, listed_hit b) {
  if (a.t != b.t) return a.t > b.t;
  return a.geometry != b.geometry ? a.geometry > b.geometry : a.global_id > b.global_id;
}

INLINE void sift_down(global deferred_hit *hits, uint root, uint count) {
  const listed_hit sifted = hit_read(&hits[root]);
  for (uint child = 2 * root + 1; child < count; child = 2 * root + 1) {
    if (child + 1 < count && hit_is_after(hit_read(&hits[child + 1]), hit_read(&hits[child]))) child++;
    if (!hit_is_after(hit_read(&hits[child]), sifted)) break;
    hit_write(&hits[root], hit_read(&hits[child]));
    root = child;
  }
  hit_write(&hits[root], sifted);
}

/* Makes a heap of them: each hit comes before none of the two below it, and the first comes after all others. */
INLINE void heap_hits(global deferred_hit *hits, uint count) {
  for (uint i = count / 2; i-- > 0;) sift_down(hits, i, count);
}

/* Lists of up to so many hits are sorted by insertion. They are found from near to far by and large. */
#define INSERTED 16

INLINE void insert_hits(global deferred_hit *hits, uint count) {
  for (uint k = 1; k < count; k++) {
    const listed_hit hit = hit_read(&hits[k]);
    uint at = k;
    for (; at > 0 && hit_is_after(hit_read(&hits[at - 1]), hit); at--) hit_write(&hits[at], hit_read(&hits[at - 1]));
    if (at != k) hit_write(&hits[at], hit);
  }
}

RARE void heap_sort(global deferred_hit *hits, uint count) {
  heap_hits(hits, count);
  for (uint last = count; last-- > 1;) {
    const listed_hit moved = hit_read(&hits[last]);
    hit_write(&hits[last], hit_read(&hits[0]));
    hit_write(&hits[0], moved);
    sift_down(hits, 0, last);
  }
}

INLINE void sort_hits(global deferred_hit *hits, uint count) {
  if (count <= INSERTED)
    insert_hits(hits, count);
  else
    heap_sort(hits, count);
}

/* Adds a hit to a list that has no more space, or that holds as many hits as the cast wants, or all but one. Of as many
 * as are wanted a heap is made, and a further one replaces the last, hits[0], unless it comes after that. */
RARE listing listing_full(listing l, listed_hit hit, const cast_uniforms *cast) {
  if (cast->most != 0 && l.count == cast->most) {
    if (l.count > l.capacity || !hit_is_after(hit_read(&l.hits[0]), hit)) return l;
    hit_write(&l.hits[0], hit);
    sift_down(l.hits, 0, l.count);
    return l;
  }
  if (l.count == l.capacity && l.taken != 0) listing_grow(&l, cast);
  if (l.count < l.capacity) hit_write(&l.hits[l.count], hit);
  l.count++;
  if (l.count == cast->most && l.count <= l.capacity) heap_hits(l.hits, l.count);
  return l;
}

/* Adds a hit. True where hits[0] is the last of those that the cast wants: nothing beyond it is wanted. */
INLINE bool listing_take(listing *l, listed_hit hit, const cast_uniforms *cast) {
  if (l->count < l->capacity && (cast->most == 0 || l->count + 1 < cast->most)) {
    hit_write(&l->hits[l->count++], hit);
    return false;
  }
  *l = listing_full(*l, hit, cast);
  return l->count == cast->most && l->count <= l->capacity;
}

/* Reserves the hits of ray i, of which there are `count`, and reports them. lost: some were not kept. */
INLINE uint list_reserve(volatile global uint *taken, const cast_uniforms *cast, size_t i, uint count, bool lost,
                         hit_share *share) {
  global hit_list *list = (global hit_list *)(taken + TAKEN_NUMBERS) + i;
  const uint begin = lost ? LIST_LOST : count == 0 ? 0 : share_take(share, taken, count, cast);
  list->begin = begin;
  list->count = count;
  return begin;
}

/* The place of the hits of `count` rays from the first on, in casting order, one ray's after the other's. It is an
 * index in the space, or LIST_LOST. end: the number of hits up to the end of each ray's. Reports the lists. */
INLINE uint lists_reserve(const cast_arrays *arrays, const cast_uniforms *cast, size_t first, uint count,
                          const uint *end, hit_share *share) {
  if (cast->space.hits == 0) return (arrays->offsets + cast->at[AT_OFFSETS])[first];
  volatile global uint *taken = (volatile global uint *)arrays->results;
  global hit_list *lists = (global hit_list *)(taken + TAKEN_NUMBERS);
  const uint hits = end[count - 1], at = hits == 0 ? 0 : share_take(share, taken, hits, cast);
  for (uint i = 0, begin = 0; i < count; begin = end[i++]) {
    const uint place = at == LIST_LOST ? LIST_LOST : at + begin;
    global hit_list *list = &lists[ray_number(arrays->sorted, first + i)];
    list->begin = end[i] == begin ? 0 : place;
    list->count = end[i] - begin;
  }
  return at;
}

/* Sorts the collected hits of ray i. Returns where the results go, or NULL where there is no space. */
INLINE global hit_entry *listing_end(const listing *l, hit_share *share, const cast_uniforms *cast, size_t i) {
  const uint held = l->count < l->capacity ? l->count : l->capacity;
  global deferred_hit *to = l->hits;
  if (l->taken != 0) {
    const uint begin = list_reserve(l->taken, cast, i, l->count, l->count > held, share);
    if (begin == LIST_LOST) return 0;
    to = listing_space((global void *)l->taken, cast) + begin;
  }
  sort_hits(l->hits, held);
  return (global hit_entry *)to;
}

/* Ends the list of ray i where the attributes of its hits are deferred. */
INLINE void listing_defer(const listing *l, hit_share *share, const cast_uniforms *cast, size_t i) {
  global hit_entry *to = listing_end(l, share, cast, i);
  if (to == 0 || to == (global hit_entry *)l->hits) return;
  for (uint k = 0; k < l->count; k++) to[k].deferred = l->hits[k];
}

#endif
