#include "work/ray_order.h"

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
/* Places are spread by the golden ratio: in even steps they would lie in few columns of a picture. */
#define GOLDEN 0.6180339887498949
/* Squared tangents of angles between directions: similar directions, up to 20 degrees, and directions two pixels apart.
 */
#define ALIKE 0.13f
#define CLOSE 2e-5f

/* The nth place among n rays, so that `span` rays follow it. span < n. */
static size_t place_of(size_t n, size_t span, uint32_t nth) {
  const double at = (nth + 1) * GOLDEN;
  return (size_t)((at - floor(at)) * (double)(n - span));
}

/* Rays that are looked at here and there: an array, or rays of which no more are made than that. */
typedef struct seen_rays {
  const slab_ray *rays; /* NULL: they are made */
  rays_maker maker;
} seen_rays;

static seen_rays array_of(const slab_ray *rays) { return (seen_rays){rays, {NULL, NULL}}; }
static seen_rays made_by(const rays_maker *maker) { return (seen_rays){NULL, *maker}; }

/* n of them that follow each other, MADE_TO_SEE at most; `made` may have them. */
static inline const slab_ray *see(const seen_rays *s, size_t first, size_t n, slab_ray *made) {
  if (s->rays != NULL) return s->rays + first;
  s->maker.make(s->maker.of, first, n, made);
  return made;
}

/* Maps an origin to a cell. */
typedef struct grid {
  float lower[3], scale[3], last;
} grid;

/* bits: for each axis. */
static grid grid_of(const float lower[3], const float upper[3], int bits) {
  grid g = {.last = (float)((1 << bits) - 1)};
  for (int k = 0; k < 3; k++) {
    const float extent = upper[k] - lower[k];
    g.lower[k] = lower[k];
    g.scale[k] = extent > 0.0f ? (g.last + 1.0f) / extent : 0.0f;
  }
  return g;
}

/* Origins outside the bounds get the nearest cell; NaN gets the first. */
static uint32_t cell_along(const grid *g, int k, float x) {
  const float cell = (x - g->lower[k]) * g->scale[k];
  return cell >= g->last ? (uint32_t)g->last : cell > 0.0f ? (uint32_t)cell : 0;
}

static uint32_t key_of(const grid *g, const slab_ray *ray) {
  uint32_t octant = 0;
  curve_cell cell = {0};
  for (int k = 0; k < 3; k++) {
    octant |= (uint32_t)(ray->direction[k] < 0.0f) << k;
    cell[k] = cell_along(g, k, ray->origin[k]);
  }
  return octant << 3 * CELL_BITS | curve_position(cell);
}

/* Squared tangent of the angle between two rays; infinite from a right angle on and where there is no angle. */
static float tangent_squared(const slab_ray *a, const slab_ray *b) {
  const float *d = a->direction, *e = b->direction;
  const float x = d[1] * e[2] - d[2] * e[1], y = d[2] * e[0] - d[0] * e[2], z = d[0] * e[1] - d[1] * e[0];
  const float along = d[0] * e[0] + d[1] * e[1] + d[2] * e[2];
  return along > 0.0f ? (x * x + y * y + z * z) / (along * along) : INFINITY;
}

static inline rays_order order_of(const seen_rays *seen, size_t n, const float lower[3], const float upper[3]) {
  const grid g = grid_of(lower, upper, CELL_BITS);
  const int shift = 3 * (CELL_BITS - SAMPLE_BITS);
  int near = 0, alike = 0, close = 0, of_a_point = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    slab_ray made[2];
    const slab_ray *ray = see(seen, place_of(n, n > 1, i), n > 1 ? 2 : 1, made), *next = n > 1 ? ray + 1 : ray;
    const float tangent = tangent_squared(ray, next);
    near += near < SAMPLES_NEAR && key_of(&g, ray) >> shift == key_of(&g, next) >> shift;
    alike += tangent < ALIKE;
    close += tangent < CLOSE;
    of_a_point += tangent < ALIKE && memcmp(ray->origin, next->origin, sizeof ray->origin) == 0;
  }
  /* along a curve through tiles of a picture one of four neighbours is farther away */
  if (of_a_point > SAMPLES - SAMPLES_NEAR && close >= SAMPLES / 2) return RAYS_OF_A_POINT;
  if (near < SAMPLES_NEAR) return RAYS_SCATTERED;
  return alike < SAMPLES / 2 ? RAYS_DIVERGING : RAYS_ALIKE;
}

rays_order rays_order_of(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]) {
  const seen_rays seen = array_of(rays);
  return order_of(&seen, n, lower, upper);
}

rays_order made_rays_order_of(const rays_maker *maker, size_t n, const float lower[3], const float upper[3]) {
  const seen_rays seen = made_by(maker);
  return order_of(&seen, n, lower, upper);
}

/* ---- rows ---- */

/* Rows of fewer rays are none: they would be narrower than a tile. */
#define ROW_LEAST 16u
#define ROW_MOST 16384u
/* Lengths of rows that are looked at more closely, and the places where. */
#define ROWS_LIKELY 4
#define ROW_PLACES 16u
/* Tiles pay where their rays are so much closer: to be wrong costs more than it gains. */
#define TILES_PAY 0.7f

/* How far rays are from each other. scale: of origins, beside directions. row: rays of a row; 0: not known. */
typedef struct nearness {
  const seen_rays *rays;
  size_t n;
  float scale;
  uint32_t row;
} nearness;

/* The nth place among rays so that `span` rays follow it. Where rows are known a tile's width does too in its row: a
 * few places would show too much or too little of where rows end. */
static size_t near_place(const nearness *of, size_t span, uint32_t nth) {
  const size_t at = place_of(of->n, span, nth);
  return of->row == 0 ? at : at - at % of->row + place_of(of->row, RAYS_A_TILE, nth);
}

/* NaN of rays without a direction. */
static float apart(const nearness *of, const slab_ray *r, const slab_ray *s) {
  float origins = 0.0f, directions = 0.0f, size = 0.0f;
  for (int k = 0; k < 3; k++) {
    origins += fabsf(r->origin[k] - s->origin[k]);
    directions += fabsf(r->direction[k] - s->direction[k]);
    size += fabsf(r->direction[k]);
  }
  return origins * of->scale + directions / size;
}

/* How far the `gap`th ray after a place is from it, over all places. Some rays may be of no use, such as those of
 * pixels that see nothing. */
static float apart_by(const nearness *of, size_t span, size_t gap) {
  float sum = 0.0f;
  for (uint32_t i = 0; i < ROW_PLACES; i++) {
    const size_t at = near_place(of, span, i);
    slab_ray made[2];
    const slab_ray *ray = see(of->rays, at, 1, made);
    const float d = apart(of, ray, see(of->rays, at + gap, 1, made + 1));
    sum += d < INFINITY ? d : 0.0f;
  }
  return sum;
}

/* A row's length that is likely, and how far rays are from each other by it. */
typedef struct likely_row {
  uint32_t row;
  float apart;
} likely_row;

/* Takes a length among the likeliest, the nearest first, where it is one of them. */
static void take_likely(likely_row likely[ROWS_LIKELY], uint32_t *count, likely_row next) {
  if (!(next.apart < (*count < ROWS_LIKELY ? INFINITY : likely[ROWS_LIKELY - 1].apart))) return;
  if (*count < ROWS_LIKELY) ++*count;
  uint32_t at = *count - 1;
  for (; at > 0 && next.apart < likely[at - 1].apart; at--) likely[at] = likely[at - 1];
  likely[at] = next;
}

/* A place whose ray differs from the next one. */
static size_t telling_place(const nearness *of, uint32_t most) {
  size_t at = 0;
  for (uint32_t nth = 0; nth < ROW_PLACES; nth++) {
    slab_ray made[2];
    at = place_of(of->n, most, nth);
    const slab_ray *ray = see(of->rays, at, 2, made);
    if (apart(of, ray, ray + 1) > 0.0f) break;
  }
  return at;
}

/* The gaps after which rays are near the one at some place again. Returns their number. */
static uint32_t likely_rows(const nearness *of, uint32_t most, likely_row likely[ROWS_LIKELY]) {
  slab_ray first, made[MADE_TO_SEE];
  const size_t from = telling_place(of, most);
  const slab_ray *ray = see(of->rays, from, 1, &first);
  uint32_t count = 0;
  for (uint32_t gap = ROW_LEAST; gap <= most; gap += MADE_TO_SEE) {
    const uint32_t some = most - gap < MADE_TO_SEE ? most - gap + 1 : MADE_TO_SEE;
    const slab_ray *others = see(of->rays, from + gap, some, made);
    for (uint32_t i = 0; i < some; i++) take_likely(likely, &count, (likely_row){gap + i, apart(of, ray, &others[i])});
  }
  return count;
}

static nearness nearness_of(const seen_rays *rays, size_t n, const float lower[3], const float upper[3]) {
  float extent = 0.0f;
  for (int k = 0; k < 3; k++) extent += upper[k] - lower[k];
  return (nearness){rays, n, extent > 0.0f ? 1.0f / extent : 0.0f, 0};
}

/* Tiles of rows of this length, where their rays are nearer to each other than those of the best so far. */
static void try_row(const nearness *of, uint32_t row, float *least, rays_rows *best) {
  const size_t span = (size_t)RAYS_A_TILE * row / 2;
  for (uint32_t height = 2; height < RAYS_A_TILE; height *= 2) {
    const uint32_t width = RAYS_A_TILE / height;
    const float tile = apart_by(of, span, width - 1) + apart_by(of, span, (size_t)(height - 1) * row);
    if (!(tile < *least)) continue;
    *least = tile;
    *best = (rays_rows){row, width, height, NULL, NULL};
  }
}

/* Tiles of these rows pay where their rays are so far apart at most. */
static float far_enough(const nearness *of) { return TILES_PAY * apart_by(of, RAYS_A_TILE, RAYS_A_TILE - 1); }

static rays_rows rows_of(const seen_rays *rays, size_t n, const float lower[3], const float upper[3]) {
  const nearness of = nearness_of(rays, n, lower, upper);
  const uint32_t most = n / RAYS_A_TILE < ROW_MOST ? (uint32_t)(n / RAYS_A_TILE) : ROW_MOST;
  rays_rows best = {0};
  if (most < ROW_LEAST) return best;
  likely_row likely[ROWS_LIKELY];
  const uint32_t count = likely_rows(&of, most, likely);
  float least = far_enough(&of);
  for (uint32_t i = 0; i < count; i++) try_row(&of, likely[i].row, &least, &best);
  return best;
}

rays_rows rays_rows_of(const slab_ray *rays, size_t n, const float lower[3], const float upper[3]) {
  const seen_rays seen = array_of(rays);
  return rows_of(&seen, n, lower, upper);
}

rays_rows made_rays_rows_of(const rays_maker *maker, size_t n, const float lower[3], const float upper[3]) {
  const seen_rays seen = made_by(maker);
  return rows_of(&seen, n, lower, upper);
}

rays_rows rays_tiles_of(const slab_ray *rays, size_t n, uint32_t row, const float lower[3], const float upper[3]) {
  const seen_rays seen = array_of(rays);
  nearness of = nearness_of(&seen, n, lower, upper);
  rays_rows best = {0};
  if (row < RAYS_A_TILE || n / row <= RAYS_A_TILE / 2) return best;
  of.row = row;
  float least = far_enough(&of);
  try_row(&of, row, &least, &best);
  return best;
}

/* ---- sorting ---- */

enum { RAYS_A_PIECE = 8192 };

typedef struct sorting {
  const slab_ray *rays;
  const float *vectors; /* directions or points instead */
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

/* The numbers of n elements by their keys, which `fill` gives. */
static uint32_t *numbers_by_keys(sorting *s, void (*fill)(void *, size_t, size_t), size_t n, int bits,
                                 uint32_t threads) {
  uint32_t *numbers = malloc(n * sizeof *numbers + 1);
  keyed *keys = malloc(n * sizeof *keys + 1), *others = malloc(n * sizeof *others + 1);
  bool sorted = numbers != NULL && keys != NULL && others != NULL;
  if (sorted) {
    s->keys = keys;
    s->numbers = numbers;
    pool_loop(threads, n, RAYS_A_PIECE, fill, s);
    sorted = radix_sort(&keys, &others, n, bits, threads);
    s->keys = keys;
    if (sorted) pool_loop(threads, n, RAYS_A_PIECE, take_numbers, s);
  }
  free(keys);
  free(others);
  if (sorted) return numbers;
  free(numbers);
  return NULL;
}

uint32_t *rays_sorted(const slab_ray *rays, size_t n, const float lower[3], const float upper[3], uint32_t threads) {
  sorting s = {.rays = rays, .grid = grid_of(lower, upper, CELL_BITS)};
  return numbers_by_keys(&s, fill_keys, n, KEY_BITS, threads);
}

/* ---- sorting a row's directions, or the points that it goes to ---- */

#define PLACE_BITS 10 /* bits per axis */
/* The same of the cells by which points are near: those on either side of a border are not. */
#define POINTS_NEAR_BITS 5

static uint32_t place_key(const grid *g, const float place[3]) {
  curve_cell cell = {0};
  for (int k = 0; k < 3; k++) cell[k] = cell_along(g, k, place[k]);
  return curve_position(cell);
}

/* By where they leave the cube around the origin. */
static void fill_directions(void *argument, size_t first, size_t end) {
  const sorting *s = argument;
  for (size_t i = first; i < end; i++) {
    const float *d = s->vectors + 3 * i;
    const float largest = fmaxf(fabsf(d[0]), fmaxf(fabsf(d[1]), fabsf(d[2])));
    const float place[3] = {d[0] / largest, d[1] / largest, d[2] / largest};
    s->keys[i] = (keyed){place_key(&s->grid, place), (uint32_t)i};
  }
}

static void fill_points(void *argument, size_t first, size_t end) {
  const sorting *s = argument;
  for (size_t i = first; i < end; i++) s->keys[i] = (keyed){place_key(&s->grid, s->vectors + 3 * i), (uint32_t)i};
}

uint32_t *directions_sorted(const float *directions, uint32_t n, uint32_t threads) {
  static const float lower[3] = {-1.0f, -1.0f, -1.0f}, upper[3] = {1.0f, 1.0f, 1.0f};
  sorting s = {.vectors = directions, .grid = grid_of(lower, upper, PLACE_BITS)};
  return numbers_by_keys(&s, fill_directions, n, 3 * PLACE_BITS, threads);
}

/* The bounds of points: as large again on either side where they are a scene's. */
static grid points_grid(const float *points, size_t n, const float lower[3], const float upper[3], int bits) {
  float from[3] = {INFINITY, INFINITY, INFINITY}, to[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (int k = 0; lower != NULL && k < 3; k++) {
    const float margin = 0.5f * (upper[k] - lower[k]);
    from[k] = lower[k] - margin;
    to[k] = upper[k] + margin;
  }
  for (size_t i = 0; lower == NULL && i < 3 * n; i++) {
    from[i % 3] = fminf(from[i % 3], points[i]);
    to[i % 3] = fmaxf(to[i % 3], points[i]);
  }
  return grid_of(from, to, bits);
}

uint32_t *points_sorted(const float *points, uint32_t n, const float lower[3], const float upper[3], uint32_t threads) {
  sorting s = {.vectors = points, .grid = points_grid(points, n, lower, upper, PLACE_BITS)};
  return numbers_by_keys(&s, fill_points, n, 3 * PLACE_BITS, threads);
}

bool points_are_near(const float *points, size_t n, const float lower[3], const float upper[3]) {
  const grid g = points_grid(points, n, lower, upper, PLACE_BITS);
  const int shift = 3 * (PLACE_BITS - POINTS_NEAR_BITS);
  int near = 0;
  for (uint32_t i = 0; i < SAMPLES; i++) {
    const float *p = points + 3 * place_of(n, n > 1, i), *next = n > 1 ? p + 3 : p;
    near += place_key(&g, p) >> shift == place_key(&g, next) >> shift;
  }
  return 2 * near > SAMPLES;
}
