#include "sets/sums.h"

#include <math.h>
#include <string.h>

/* Places of partial sums, rays of a block, rays of a segment. */
enum { PLACES = 16, BLOCK = 256, SEGMENT = 1024 };

bool sums_ray_is_valid(const slab_ray *ray) {
  if (isnan(ray->t_min) || isnan(ray->t_max)) return false;
  for (int i = 0; i < 3; i++) {
    if (!(fabsf(ray->origin[i]) <= 0x1p60f)) return false; /* also of a NaN */
    if (!isfinite(ray->direction[i])) return false;
  }
  return ray->direction[0] != 0 || ray->direction[1] != 0 || ray->direction[2] != 0;
}

/* A row of rays and the results of each. */
typedef struct row_of_rays {
  const slab_ray *rays;
  uint32_t columns;
  bool has_t; /* the results are t, else any */
  const uint8_t *any;
  const float *t;
} row_of_rays;

static bool counts(const row_of_rays *row, uint32_t column) { return sums_ray_is_valid(&row->rays[column]); }

static bool is_hit(const row_of_rays *row, uint32_t column) {
  return row->has_t ? row->t[column] < INFINITY : row->any[column] != 0;
}

/* ---- sums ------------------------------------------------------------------ */

/* The t of a block's hits, from column `at` on. Places that have no ray hold 0. */
static float sum_of_block(const row_of_rays *row, uint32_t at) {
  float places[PLACES] = {0};
  for (uint32_t i = 0; i < BLOCK && i < row->columns - at; i++)
    if (counts(row, at + i) && is_hit(row, at + i)) places[i % PLACES] += row->t[at + i];
  for (int half = PLACES / 2; half > 0; half /= 2)
    for (int j = 0; j < half; j++) places[j] += places[j + half];
  return places[0];
}

static float sum_of_segment(const row_of_rays *row, uint32_t at) {
  float sum = 0;
  for (uint32_t begin = 0; begin < SEGMENT && begin < row->columns - at; begin += BLOCK)
    sum += sum_of_block(row, at + begin);
  return sum;
}

static double sum_of_row(const row_of_rays *row) {
  double sum = 0;
  for (uint64_t at = 0; at < row->columns; at += SEGMENT) sum += (double)sum_of_segment(row, (uint32_t)at);
  return sum;
}

static float least_of(const row_of_rays *row) {
  float least = INFINITY;
  for (uint32_t i = 0; i < row->columns; i++)
    if (counts(row, i) && row->t[i] < least) least = row->t[i];
  return least;
}

/* A weight in units of 2^-32. */
static uint64_t units_of(const float *weights, uint32_t column) {
  return weights ? (uint64_t)llrint((double)weights[column] * 0x1p32) : (uint64_t)1 << 32;
}

static slab_sum sum_of(const row_of_rays *row, const float *weights) {
  uint64_t open = 0, blocked = 0;
  slab_sum sum = {.least = NAN, .mean = NAN};
  for (uint32_t i = 0; i < row->columns; i++) {
    if (!counts(row, i)) continue;
    sum.rays++;
    if (is_hit(row, i)) {
      sum.hits++;
      blocked += units_of(weights, i);
    } else {
      open += units_of(weights, i);
    }
  }
  sum.open = (double)open * 0x1p-32;
  sum.blocked = (double)blocked * 0x1p-32;
  if (!row->has_t) return sum;
  sum.least = least_of(row);
  sum.mean = sum.hits ? (float)(sum_of_row(row) / sum.hits) : INFINITY;
  return sum;
}

/* ---- histograms and bits --------------------------------------------------- */

static void histogram_of(const row_of_rays *row, const slab_results *wanted, uint32_t *bins) {
  const float scale = (float)wanted->bins / (wanted->t_to - wanted->t_from);
  memset(bins, 0, wanted->bins * sizeof *bins);
  for (uint32_t i = 0; i < row->columns; i++) {
    if (!counts(row, i) || !is_hit(row, i)) continue;
    const float place = floorf((row->t[i] - wanted->t_from) * scale);
    if (place >= 0 && place < (float)wanted->bins) bins[(uint32_t)place]++;
  }
}

static void bits_of(const row_of_rays *row, uint32_t *words) {
  memset(words, 0, ((size_t)row->columns + 31) / 32 * sizeof *words);
  for (uint32_t i = 0; i < row->columns; i++)
    if (counts(row, i) && !is_hit(row, i)) words[i / 32] |= UINT32_C(1) << i % 32;
}

/* ---- of any type ----------------------------------------------------------- */

size_t sums_size(const slab_results *wanted, uint32_t columns) {
  if (wanted->type == SLAB_RESULT_HISTOGRAM) return wanted->bins * sizeof(uint32_t);
  if (wanted->type == SLAB_RESULT_BITS) return ((size_t)columns - 1) / 32 * sizeof(uint32_t) + sizeof(uint32_t);
  return sizeof(slab_sum);
}

void sums_of(const slab_results *wanted, slab_query query, const slab_ray *rays, uint32_t columns, const void *results,
             void *row) {
  const row_of_rays of = {.rays = rays, .columns = columns, .has_t = query != SLAB_ANY, .any = results, .t = results};
  if (wanted->type == SLAB_RESULT_HISTOGRAM) {
    histogram_of(&of, wanted, row);
  } else if (wanted->type == SLAB_RESULT_BITS) {
    bits_of(&of, row);
  } else {
    const slab_sum sum = sum_of(&of, wanted->weights);
    memcpy(row, &sum, sizeof sum);
  }
}

static bool same_float(float a, float b) { return memcmp(&a, &b, sizeof a) == 0 || (isnan(a) && isnan(b)); }
static bool same_double(double a, double b) { return memcmp(&a, &b, sizeof a) == 0; }

bool sums_same(const slab_results *wanted, uint32_t columns, const void *a, const void *b) {
  if (wanted->type != SLAB_RESULT_SUMS) return memcmp(a, b, sums_size(wanted, columns)) == 0;
  slab_sum x, y;
  memcpy(&x, a, sizeof x);
  memcpy(&y, b, sizeof y);
  return same_double(x.open, y.open) && same_double(x.blocked, y.blocked) && x.rays == y.rays && x.hits == y.hits &&
         same_float(x.least, y.least) && same_float(x.mean, y.mean);
}
