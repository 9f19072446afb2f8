/* Reproducible random numbers: PCG32 (O'Neill 2014), seeded by splitmix64. Uses only integer arithmetic and exact
 * conversions, so that a seed gives the same numbers on every machine. */
#ifndef SLABCAST_SETS_RANDOM_H
#define SLABCAST_SETS_RANDOM_H

#include <stdint.h>

typedef struct random_state {
  uint64_t state, increment;
} random_state;

static inline uint64_t random_splitmix(uint64_t *state) {
  uint64_t z = (*state += 0x9E3779B97F4A7C15u);
  z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
  z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
  return z ^ (z >> 31);
}

static inline random_state random_seed(uint64_t seed) {
  random_state random;
  random.state = random_splitmix(&seed);
  random.increment = random_splitmix(&seed) | 1u;
  return random;
}

/* Uniform in 0 .. 2^32 - 1. */
static inline uint32_t random_next(random_state *random) {
  const uint64_t old = random->state;
  random->state = old * 6364136223846793005u + random->increment;
  const uint32_t shifted = (uint32_t)(((old >> 18) ^ old) >> 27);
  const uint32_t turn = (uint32_t)(old >> 59);
  return (shifted >> turn) | (shifted << ((32u - turn) & 31u));
}

/* Uniform in 0 .. 2^64 - 1. */
static inline uint64_t random_bits(random_state *random) {
  const uint64_t high = random_next(random);
  return high << 32 | random_next(random);
}

/* Uniform in 0 .. limit - 1; limit > 0. */
static inline uint32_t random_below(random_state *random, uint32_t limit) {
  return (uint32_t)(((uint64_t)random_next(random) * limit) >> 32);
}

/* Uniform in [0, 1), a multiple of 2^-24. */
static inline float random_float(random_state *random) { return (float)(random_next(random) >> 8) * 0x1p-24f; }

/* Uniform in [low, high); rounding may give high itself. */
static inline float random_between(random_state *random, float low, float high) {
  return low + (high - low) * random_float(random);
}

#endif
