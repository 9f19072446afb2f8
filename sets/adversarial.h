/* Random scenes of every kind and rays to cast at them. Extreme cases are over-represented: faces in one plane, equal
 * vertices, origins on planes, zeros of both signs, subnormal and huge numbers, invalid shapes and rays. */
#ifndef SLABCAST_SETS_ADVERSARIAL_H
#define SLABCAST_SETS_ADVERSARIAL_H

#include "sets/random.h"
#include "sets/shapes.h"

enum { ADVERSARIAL_MOST = 40, ADVERSARIAL_ALL_KINDS = (1 << SHAPE_KINDS) - 1 };

/* A finite number below 2^60. Zeros of both signs, subnormals, small integers and powers of two are frequent. */
float adversarial_number(random_state *random);

/* Values that shapes and rays of a scene share. */
typedef struct adversarial {
  float values[8]; /* coordinates that are used repeatedly */
  int extreme;     /* nonzero: numbers far from 1 occur, outside the range that the oracle can judge */
  float known[ADVERSARIAL_MOST][SHAPE_FLOATS_MOST]; /* shapes of the scene that rays aim at */
  uint32_t known_count;
} adversarial;

adversarial adversarial_begin(random_state *random, int extreme);

/* Any values, including those that a scene refuses. */
void adversarial_shape(random_state *random, slab_shape kind, const adversarial *, float shape[SHAPE_FLOATS_MOST]);
/* Stores the shape as shape i of those that rays aim at. */
void adversarial_know(adversarial *, uint32_t i, const float shape[SHAPE_FLOATS_MOST]);

/* Adds geometries of each of the kinds (bit k: slab_shape k) in random order and a few more, each of up to `most`
 * shapes (at most ADVERSARIAL_MOST), with random masks. Refused shapes are dropped. */
slab_status adversarial_fill(random_state *random, adversarial *, unsigned kinds, uint32_t most, slab_scene *scene);

slab_ray adversarial_ray(random_state *random, const adversarial *);
slab_primitive_id adversarial_skip(random_state *random);
/* skip: an entry for each ray; the options may use it or not. */
slab_cast_options adversarial_options(random_state *random, const slab_primitive_id *skip);

#endif
