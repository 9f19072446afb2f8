/* Casts on a scene learn this about its traversals (schedule/traversal_choice.h), by the order of their rays
 * (work/ray_order.h). */
#ifndef SLABCAST_RECORD_TRAVERSALS_H
#define SLABCAST_RECORD_TRAVERSALS_H

#include <stdbool.h>
#include <stdint.h>

#include "slabcast.h"

typedef enum rays_order {
  RAYS_OF_A_POINT, /* neighbours begin at one point and hardly differ in direction, as camera rays */
  RAYS_ALIKE,      /* neighbours begin near each other and have similar directions, as shadow rays to a light */
  RAYS_DIVERGING,  /* neighbours begin near each other and have any direction */
  RAYS_SCATTERED   /* neighbours begin anywhere */
} rays_order;

/* Samples of a chunk, each by another traversal than its own. */
enum { CHUNK_SAMPLES = 2 };

/* Brute force, which casts choose in a small scene, and no option asks for. */
#define TRAVERSAL_FLAT ((slab_traversal)(SLAB_TRAVERSAL_SORTED + 1))

enum { TRAVERSALS = SLAB_TRAVERSAL_SORTED + 2, TRAVERSALS_TRIED = 1 + CHUNK_SAMPLES, RAYS_ORDERS = RAYS_SCATTERED + 1 };

/* Results so far of casts of one query, with rays in one order, on one device. */
typedef struct traversal_choice {
  slab_traversal best;
  bool ordered; /* chosen by the order of the rays, not by an option or because there are few rays: the result is
                   kept */
  rays_order order;
  uint64_t met; /* number of rays in this order so far, this cast's included */
  slab_traversal tried[TRAVERSALS_TRIED],
      left[TRAVERSALS_TRIED]; /* candidates, and those of them that are not far behind at this place */
  uint32_t candidates, lefts;
  bool open;                     /* trials are made; with one candidate, only to measure its pace */
  double margin;                 /* factor of the first candidate's time; another candidate must be below the product */
  double here[TRAVERSALS];       /* seconds per ray at this place, the least of its trials; 0: none yet */
  double pace[TRAVERSALS];       /* seconds per ray over all places: a lower value replaces it, a higher one moves it
                                    halfway */
  uint32_t step;                 /* number of the next trial at this place */
  uint32_t trial_rays;           /* rays of a trial in the second round */
  uint32_t until, again, agreed; /* rays until the next trials; rays between places of trials; consecutive places
                                    that agreed */
  bool sorts;                    /* interleaved rays may be sorted as well */
  bool unsorted;                 /* but not those of this cast */
  double sorting_pays;           /* seconds per interleaved ray above which sorting pays */
  bool mixes;                    /* chunks have samples of the other candidates instead of trials */
  bool turns;                    /* candidates take turns, a chunk each */
  double ratio[TRAVERSALS];      /* a candidate's time to that of the best, by samples */
  double weight[TRAVERSALS];     /* rays that it rests on, the older ones counted less; 0: no sample yet. Of turns the
                                    chunks that pace rests on */
  uint32_t chunks;               /* so far, of those that may have samples, or that take turns */
} traversal_choice;

/* Whether the next chunk may be a trial. */
static inline bool choice_is_trying(const traversal_choice *t) { return t->open && t->until == 0; }

/* Whether it needs the device for itself: it may be a trial, or has samples. */
static inline bool choice_is_alone(const traversal_choice *t) { return t->mixes || choice_is_trying(t); }

/* Rays of a call without chunks at most, and classes of such calls: each has up to twice the rays of the one before. */
enum { FEW_CLASSES = 9, FEW_RAYS = 1 << (FEW_CLASSES - 1) };

/* Calls of few rays that were timed, and their mean in seconds, of which the later ones count more. Threads that meet
 * here lose a result at worst. */
typedef struct few_time {
  _Atomic float mean;
  _Atomic uint32_t calls;
} few_time;

/* In a small scene: by its BVH, and by brute force. streak: calls that are cast both ways in turn, and are left. */
typedef struct few_choice {
  few_time tree, flat;
  _Atomic uint32_t streak;
} few_choice;

/* The results for each query and class of calls. */
typedef struct few_memory {
  few_choice of[SLAB_QUERY_COUNT][FEW_CLASSES];
} few_memory;

/* The results for each query and order. All zero: no results yet. */
typedef struct traversal_memory {
  traversal_choice of[SLAB_QUERY_COUNT][RAYS_ORDERS];
} traversal_memory;

#endif
