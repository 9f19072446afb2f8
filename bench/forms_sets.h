/* Rays and primitives on which formulations differ, with the oracle's verdict on every pair.
 *
 * Primitives come in groups of FORMS_GROUP. Each ray is tested against the primitives of one group. */
#ifndef SLABCAST_BENCH_FORMS_SETS_H
#define SLABCAST_BENCH_FORMS_SETS_H

#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"

enum { FORMS_GROUP = 16, FORMS_RAYS_PER_GROUP = 16 };

typedef enum forms_kind {
  FORMS_RANDOM, /* sizes from 2^-10 to 1; origins from far away to inside; rays through the primitives and around
                 * them */
  FORMS_CORNER, /* boxes: exactly through corners and edges; triangles: from inside closed meshes at their vertices */
  FORMS_AXIS,   /* one or two components of the direction are zeros of either sign; one of two origins lies on a plane
                   or, for triangles, inside a closed mesh */
  FORMS_SHARED, /* boxes: eight that share faces, rays within one or two shared faces; triangles: from inside closed
                   meshes at their edges */
  FORMS_KINDS
} forms_kind;

extern const char *const forms_kind_names[FORMS_KINDS];

/* The oracle's verdicts on a ray and its group; bit p is for primitive p. */
typedef struct forms_truth {
  uint16_t hit, miss; /* certain; bits in neither: too close to decide, or an edge or vertex is hit exactly */
  uint8_t once;       /* the ray leaves a closed mesh once: exactly one of its triangles must be hit */
  uint8_t shared;     /* boxes, bit i: the ray lies within the face that primitives p and p + 2^i share */
} forms_truth;

typedef struct forms_set {
  slab_shape shape;
  forms_kind kind;
  size_t groups, rays; /* rays: groups * FORMS_RAYS_PER_GROUP */
  uint8_t *used;       /* number of primitives in each group; the rest of the group is zero */
  float *shapes;       /* groups * FORMS_GROUP boxes or triangles */
  slab_ray *ray;
  forms_truth *truth;
} forms_set;

/* Makes a set for SLAB_BOX or SLAB_TRIANGLE with at least `rays` rays. Returns false when memory runs out; call
 * forms_set_free also then. */
bool forms_set_make(slab_shape, forms_kind, uint64_t seed, size_t rays, forms_set *);
void forms_set_free(forms_set *);
/* Fills in truth. */
void forms_judge(forms_set *);

/* Number of rays for which a formulation is wrong. */
typedef struct forms_errors {
  size_t misses;  /* a certain hit is missed */
  size_t hits;    /* a certain miss is hit */
  size_t leaks;   /* nothing is hit where a hit is required: of `closed` rays */
  size_t doubles; /* more than one triangle is hit where the ray leaves the mesh, or the boxes on both sides of a face
                     (which is correct for closed boxes, by definition) */
  size_t closed;  /* rays for which leaks and doubles are defined */
} forms_errors;

/* bits: the formulation's result for each ray. */
forms_errors forms_errors_of(const forms_set *, const uint32_t *bits);
/* Share of the pairs that the oracle leaves undecided. */
double forms_undecided(const forms_set *);

#endif
