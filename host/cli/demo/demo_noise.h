/* Smooth random numbers over a plane: a periodic lattice of 256 x 256, interpolated with cubic steps. */
#ifndef SLABCAST_CLI_DEMO_NOISE_H
#define SLABCAST_CLI_DEMO_NOISE_H

#include "random.h"

enum { NOISE_SIDE = 256 };

typedef struct demo_noise {
  float lattice[NOISE_SIDE][NOISE_SIDE]; /* in [0, 1) */
} demo_noise;

/* A value and its derivatives along x and y. */
typedef struct noise_value {
  float value, along_x, along_y;
} noise_value;

static inline void noise_fill(demo_noise *noise, uint64_t seed) {
  random_state random = random_seed(seed);
  for (int y = 0; y < NOISE_SIDE; y++)
    for (int x = 0; x < NOISE_SIDE; x++) noise->lattice[y][x] = random_float(&random);
}

/* x and y must be within +-2^30. */
static inline noise_value noise_at(const demo_noise *noise, float x, float y) {
  const int32_t i = (int32_t)x - (x < 0.0f), j = (int32_t)y - (y < 0.0f);
  const float fx = x - (float)i, fy = y - (float)j;
  const uint32_t i0 = (uint32_t)i % NOISE_SIDE, i1 = (i0 + 1) % NOISE_SIDE;
  const uint32_t j0 = (uint32_t)j % NOISE_SIDE, j1 = (j0 + 1) % NOISE_SIDE;
  const float a = noise->lattice[j0][i0], b = noise->lattice[j0][i1];
  const float c = noise->lattice[j1][i0], d = noise->lattice[j1][i1];
  const float sx = fx * fx * (3.0f - 2.0f * fx), sy = fy * fy * (3.0f - 2.0f * fy);
  const float bent = (a - b) + (d - c);
  return (noise_value){(a + (b - a) * sx) + ((c - a) + bent * sx) * sy, 6.0f * fx * (1.0f - fx) * ((b - a) + bent * sy),
                       6.0f * fy * (1.0f - fy) * ((c - a) + bent * sx)};
}

/* A smooth step from 0 at `low` to 1 at `high`. */
static inline float smooth_step(float low, float high, float x) {
  const float t = (x - low) / (high - low), s = t > 0.0f ? (t < 1.0f ? t : 1.0f) : 0.0f;
  return s * s * (3.0f - 2.0f * s);
}

#endif
