#include "sort.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/radix.h"

/* The key: the octant, then the cell of the origin along a Morton curve (Morton 1966). More cells, or directions within
 * an octant, gained nothing on a million rays. */
#define CELL_BITS 6 /* bits per axis */
#define KEY_BITS (3 + 3 * CELL_BITS)
/* Pairs of neighbouring rays that are sampled. Rays are scattered where fewer than SAMPLES_NEAR pairs lie in one cell.
 */
#define SAMPLES 64
#define SAMPLES_NEAR 4
#define SAMPLE_BITS 3 /* bits per axis of the cells for that test */
/* Squared tangents of angles between directions: similar directions, up to 20 degrees, and directions two pixels apart.
 */
#define ALIKE 0.13f
#define OF_A_POINT 2e-5f

/* Maps an origin to a cell. */
typedef struct grid {
  float lower[3], scale[3];
} grid;

static grid grid_of(const float lower[3], const float upper[3]) {
  grid g;
  for (int k = 0; k < 3; k++) {
    const float extent = upper[k] - lower[k];
    g.lower[k] = lower[k];
    g.scale[k] = extent > 0.0f ? (float)(1 << CELL_BITS) / extent : 0.0f;
  }
  return g;
}

/* Origins outside the bounds get the nearest cell; NaN gets the first. */
static uint32_t cell_along(const grid *g, int k, float x) {
  const float cell = (x - g->lower[k]) * g->scale[k], last = (float)((1 << CELL_BITS) - 1);
  return cell >= last ? (uint32_t)last : cell > 0.0f ? (uint32_t)cell : 0;
}

static uint32_t key_of(const grid *g, const slab_ray *ray) {
  uint32_t octant = 0, cell = 0;
  for (int k = 0; k < 3; k++) {
    octant |= (uint32_t)(ray->direction[k] < 0.0f) << k;
    cell |= bits_apart(cell_along(g, k, ray->origin[k])) << k;
  }
  return octant << 3 * CELL_BITS | cell;
}

/* Squared tangent of the angle between two rays; infinite from a right angle on and where there is no angle. */
static float tangent_squared(const slab_ray *a, const slab_ray *b) {
  const float *d = a->direction, *e = b->direction;
  const float x = d[1] * e[2] - d[2] * e[1], y = d[2] * e[0] - d[0] * e[2], z = d[0] * e[1] - d[1] * e[0];
  const float along = d[0] * e[0] + d[1] * e[1] + d[2] * e[2];
  return along > 0.0f ? (x * x + y * y + z * z) / (along * along) : INFINITY;
}

rays_order rays_order_of(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]) {
  const grid g = grid_of(lower, upper);
  const int shift = 3 * (CELL_BITS - SAMPLE_BITS);
  int near = 0, alike = 0, of_a_point = 0;
  for (size_t i = 0; i < SAMPLES; i++) {
    const slab_ray *ray = &rays[(n - 1) / SAMPLES * i], *next = n > 1 ? ray + 1 : ray;
    const float tangent = tangent_squared(ray, next);
    near += key_of(&g, ray) >> shift == key_of(&g, next) >> shift;
    alike += tangent < ALIKE;
    of_a_point += tangent < OF_A_POINT && memcmp(ray->origin, next->origin, sizeof ray->origin) == 0;
  }
  if (of_a_point > SAMPLES - SAMPLES_NEAR) return RAYS_OF_A_POINT;
  if (near < SAMPLES_NEAR) return RAYS_SCATTERED;
  return alike < SAMPLES / 2 ? RAYS_DIVERGING : RAYS_ALIKE;
}

enum { RAYS_A_PIECE = 8192 };

typedef struct sorting {
  const slab_ray *rays;
  grid grid;
  keyed *keys;
  uint32_t *numbers;
} sorting;

static void fill_keys(void *argument, size_t first, size_t end) {
  const sorting *s = argument;
  for (size_t i = first; i < end; i++) s->keys[i] = (keyed){key_of(&s->grid, &s->rays[i]), (uint32_t)i};
}

static void take_numbers(void *argument, size_t first, size_t end) {
  const sorting *s = argument;
  for (size_t i = first; i < end; i++) s->numbers[i] = s->keys[i].number;
}

uint32_t *rays_sorted(const slab_ray *rays, size_t n, const float lower[3], const float upper[3], uint32_t threads) {
  uint32_t *numbers = malloc(n * sizeof *numbers + 1);
  keyed *keys = malloc(n * sizeof *keys + 1), *others = malloc(n * sizeof *others + 1);
  bool sorted = numbers != NULL && keys != NULL && others != NULL;
  if (sorted) {
    sorting s = {rays, grid_of(lower, upper), keys, numbers};
    pool_loop(threads, n, RAYS_A_PIECE, fill_keys, &s);
    sorted = radix_sort(&keys, &others, n, KEY_BITS, threads);
    s.keys = keys;
    if (sorted) pool_loop(threads, n, RAYS_A_PIECE, take_numbers, &s);
  }
  free(keys);
  free(others);
  if (sorted) return numbers;
  free(numbers);
  return NULL;
}
