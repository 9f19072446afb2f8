/* Rays and primitives that tell formulations apart, with the oracle's verdict on every pair.
 *
 * Primitives come in groups of FORMS_GROUP; each ray meets those of one group. */
#ifndef SLABCAST_BENCH_FORMS_SETS_H
#define SLABCAST_BENCH_FORMS_SETS_H

#include <stdbool.h>
#include <stddef.h>

#include "slabcast.h"

enum { FORMS_GROUP = 16, FORMS_RAYS_PER_GROUP = 16 };

typedef enum forms_kind {
  FORMS_RANDOM, /* sizes from 2^-10 to 1, rays from anywhere to in and around them */
  FORMS_CORNER, /* boxes: through corners and edges, exactly; triangles: from within closed meshes at their vertices */
  FORMS_AXIS,   /* one or two components of the direction are zeros of either sign; one in two origins on a plane, or,
                   of triangles, within closed meshes */
  FORMS_SHARED, /* boxes: eight that share faces, rays within a shared face, or two; triangles: from within closed
                   meshes at their edges */
  FORMS_KINDS
} forms_kind;

extern const char *const forms_kind_names[FORMS_KINDS];

/* What is known of a ray and its group; bit p is for primitive p. */
typedef struct forms_truth {
  uint16_t hit, miss; /* certain; in neither: too close to call, an edge or vertex exactly met */
  uint8_t once;       /* a closed mesh left once: exactly one of its triangles is to be hit */
  uint8_t shared;     /* boxes, bit i: the ray runs within the face that primitives p and p + 2^i share */
} forms_truth;

typedef struct forms_set {
  slab_shape shape;
  forms_kind kind;
  size_t groups, rays; /* rays: groups * FORMS_RAYS_PER_GROUP */
  uint8_t *used;       /* of each group: primitives it holds, the rest is zero */
  float *shapes;       /* groups * FORMS_GROUP boxes or triangles */
  slab_ray *ray;
  forms_truth *truth;
} forms_set;

/* Of SLAB_BOX or SLAB_TRIANGLE, at least `rays` rays. False without memory; forms_set_free also then. */
bool forms_set_make(slab_shape, forms_kind, uint64_t seed, size_t rays, forms_set *);
void forms_set_free(forms_set *);
/* Fills in truth. */
void forms_judge(forms_set *);

/* Rays in which a formulation is wrong. */
typedef struct forms_errors {
  size_t misses;  /* a certain hit is missed */
  size_t hits;    /* a certain miss is hit */
  size_t leaks;   /* nothing is hit where something must be: of `closed` rays */
  size_t doubles; /* more than one triangle is hit where the ray leaves the mesh, or the boxes on both sides of a face:
                     which closed boxes are, by definition */
  size_t closed;  /* rays for which the two above are defined */
} forms_errors;

/* bits: of each ray, as found. */
forms_errors forms_errors_of(const forms_set *, const uint32_t *bits);
/* Pairs that the oracle leaves open, as a share of all. */
double forms_undecided(const forms_set *);

#endif
