/* Random scenes of every kind and rays at them, extremes over-represented: faces that touch, vertices that coincide,
 * origins on planes, zeros of both signs, subnormal and huge numbers, shapes and rays that are none. */
#ifndef SLABCAST_BENCH_ADVERSARIAL_H
#define SLABCAST_BENCH_ADVERSARIAL_H

#include "random.h"
#include "shapes.h"

enum { ADVERSARIAL_MOST = 40, ADVERSARIAL_ALL_KINDS = (1 << SHAPE_KINDS) - 1 };

/* Finite, below 2^60: zeros of both signs, subnormals, small integers, powers of two among others. */
float adversarial_number(random_state *random);

/* What shapes and rays of a scene share. */
typedef struct adversarial {
  float values[8]; /* coordinates that come again and again */
  int extreme;     /* whether numbers far from 1 occur: beyond those that the oracle can judge */
  float known[ADVERSARIAL_MOST][SHAPE_FLOATS_MOST]; /* shapes of the scene, for rays to aim at */
  uint32_t known_count;
} adversarial;

adversarial adversarial_begin(random_state *random, int extreme);

/* Anything, also what a scene refuses. */
void adversarial_shape(random_state *random, slab_shape kind, const adversarial *, float shape[SHAPE_FLOATS_MOST]);
/* Remembers it as shape i of those that rays aim at. */
void adversarial_know(adversarial *, uint32_t i, const float shape[SHAPE_FLOATS_MOST]);

/* Geometries of each of the kinds (bit k: slab_shape k) in random order and a few more, of up to `most` shapes each
 * (ADVERSARIAL_MOST at the most), with random masks; what is refused is dropped. */
slab_status adversarial_fill(random_state *random, adversarial *, unsigned kinds, uint32_t most, slab_scene *scene);

slab_ray adversarial_ray(random_state *random, const adversarial *);
slab_primitive_id adversarial_skip(random_state *random);
/* skip: an entry for each ray, taken or not. */
slab_cast_options adversarial_options(random_state *random, const slab_primitive_id *skip);

#endif
