/* Sums over rows of rays: refusals, weights, and sums of rows from those of their parts. */
#include "schedule/sums.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/status.h"

#define WEIGHT_UNIT 0x1p-32
#define WEIGHTS_MOST 0x1p31
#define COLUMNS_MOST (1u << 31)
#define BINS_MOST 4096u /* of which each part of a row has its own while they are counted */

_Static_assert(sizeof(slab_sum) == sizeof(sum_part), "sums of rows take the places of those of parts");

static uint32_t columns_of(const slab_source *source, const slab_results *r) {
  return r->columns == 0 && source->set != NULL ? source->set->columns : r->columns;
}

/* Bytes of a result. */
static size_t size_of(slab_query query, const slab_source *source, const slab_results *r) {
  switch (r->type) {
    case SLAB_RESULT_SUMS:
      return sizeof(slab_sum);
    case SLAB_RESULT_HISTOGRAM:
      return r->bins * sizeof(uint32_t);
    case SLAB_RESULT_BITS:
      return ((size_t)columns_of(source, r) + 31) / 32 * sizeof(uint32_t);
    default:
      return source->rays64 != NULL ? slab_result_size64(query) : slab_result_size(query);
  }
}

/* ---- refusals ---- */

static slab_status check_weights(const slab_results *r, uint32_t columns) {
  double sum = 0.0;
  for (uint32_t i = 0; r->weights != NULL && i < columns; i++) {
    if (!(r->weights[i] >= 0.0f))
      return fail(SLAB_INVALID_ARGUMENT, "slab_cast: weights[%u] is %g", i, (double)r->weights[i]);
    sum += r->weights[i];
  }
  if (sum <= WEIGHTS_MOST) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "slab_cast: the weights' sum is %g, and 2^31 is the most", sum);
}

/* Bins in a length of t. */
static float scale_of(const slab_results *r) { return (float)r->bins / (r->t_to - r->t_from); }

static slab_status check_bins(const slab_results *r) {
  if (r->bins < 1 || r->bins > BINS_MOST)
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: bins is %u, and 1 to %u are allowed", r->bins, BINS_MOST);
  const float scale = scale_of(r);
  if (isfinite(r->t_from) && isfinite(r->t_to) && scale > 0.0f && isfinite(scale)) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "slab_cast: bins from t_from %g to t_to %g", (double)r->t_from, (double)r->t_to);
}

static slab_status check_rows(const slab_source *source, const slab_results *r) {
  const uint32_t columns = columns_of(source, r);
  if (source->set != NULL && columns != source->set->columns)
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: columns is %u, and the set has %u", columns, source->set->columns);
  if (columns < 1 || columns > COLUMNS_MOST)
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: columns is %u, and 1 to %u are allowed", columns, COLUMNS_MOST);
  if (source->n % columns == 0 && (source->set == NULL || source->first % columns == 0)) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "slab_cast: %zu rays from %llu on are no whole rows of %u", source->n,
              (unsigned long long)(source->set != NULL ? source->first : 0), columns);
}

static const char *const nouns[] = {"results of rays", "sums", "histograms", "bits"};

/* Refuses members that only another type uses. */
static slab_status check_unused(slab_query query, const slab_results *r) {
  const char *unused = r->weights != NULL && r->type != SLAB_RESULT_SUMS  ? "weights"
                       : r->bins != 0 && r->type != SLAB_RESULT_HISTOGRAM ? "bins"
                       : r->columns != 0 && r->type == SLAB_RESULT_RAYS   ? "columns"
                       : r->stride != 0 && query == SLAB_ALL              ? "stride"
                                                                          : NULL;
  if (unused == NULL) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "slab_cast: %s is set, which %s do not have", unused, nouns[r->type]);
}

static bool goes_with(slab_query query, slab_result_type type) {
  return type == SLAB_RESULT_RAYS || (query == SLAB_ANY && type != SLAB_RESULT_HISTOGRAM) ||
         (query == SLAB_DISTANCE && type != SLAB_RESULT_BITS);
}

static slab_status check_size(slab_query query, const slab_source *source, const slab_results *r) {
  const size_t size = size_of(query, source, r);
  if (r->stride == 0 || r->stride >= size) return SLAB_OK;
  return fail(SLAB_INVALID_ARGUMENT, "slab_cast: stride is %zu, and a result has %zu bytes", r->stride, size);
}

slab_status sums_check(slab_query query, const slab_source *source, const slab_results *r) {
  if ((unsigned)r->type >= SLAB_RESULT_TYPE_COUNT)
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: the results' type is %d, not a slab_result_type", (int)r->type);
  if (!goes_with(query, r->type))
    return fail(SLAB_INVALID_ARGUMENT, "slab_cast: query %d has no %s", (int)query, nouns[r->type]);
  slab_status status = check_unused(query, r);
  if (status == SLAB_OK && r->type != SLAB_RESULT_RAYS) status = check_rows(source, r);
  if (status == SLAB_OK && r->type == SLAB_RESULT_HISTOGRAM) status = check_bins(r);
  if (status == SLAB_OK) status = check_weights(r, columns_of(source, r));
  return status == SLAB_OK ? check_size(query, source, r) : status;
}

/* ---- before the cast ---- */

/* Weights in whole units. */
static slab_status make_weights(const slab_results *r, row_sums *s) {
  const uint32_t columns = s->told.columns;
  if (r->weights == NULL) return SLAB_OK;
  s->weights = malloc(columns * sizeof *s->weights);
  if (s->weights == NULL) return fail_memory(columns * sizeof *s->weights, "weights");
  for (uint32_t i = 0; i < columns; i++) s->weights[i] = (uint64_t)llrint((double)r->weights[i] / WEIGHT_UNIT);
  s->told.weighted = 1;
  return SLAB_OK;
}

/* Bytes of a row's result: of bits all of its words, else those of one part. */
static size_t result_bytes(const row_sums *s) {
  return (s->told.type == SLAB_RESULT_BITS ? s->told.row : s->told.words) * sizeof *s->words;
}

/* Whether the words of rows are the results, or become them where they are. */
static bool are_in_place(const row_sums *s, const slab_results *r) {
  const bool tight = r->stride == 0 || r->stride == result_bytes(s);
  const bool aligned = (uintptr_t)r->memory % sizeof(sum_weight) == 0; /* packages hand in bytes anywhere */
  return tight && aligned && (r->type == SLAB_RESULT_BITS || sums_parts_a_row(s) == 1);
}

slab_status sums_open(slab_query query, const slab_source *source, const slab_results *r, row_sums *s) {
  const size_t part = r->type == SLAB_RESULT_BITS ? SUM_PART / 8 : size_of(query, source, r);
  *s = (row_sums){.told = {.type = (uint32_t)r->type,
                           .has_t = query == SLAB_DISTANCE,
                           .columns = columns_of(source, r),
                           .words = (uint32_t)(part / sizeof *s->words),
                           .bins = r->bins,
                           .from = r->t_from,
                           .scale = r->bins != 0 ? scale_of(r) : 0.0f}};
  const size_t row = r->type == SLAB_RESULT_BITS ? size_of(query, source, r) : sums_parts_a_row(s) * part;
  s->told.row = (uint32_t)(row / sizeof *s->words);
  s->words = are_in_place(s, r) ? r->memory : malloc(source->n / s->told.columns * row + 1);
  if (s->words == NULL && r->memory != NULL) return fail_memory(source->n / s->told.columns * row, "sums");
  return make_weights(r, s);
}

void sums_close(row_sums *s, const slab_results *r) {
  free(s->weights);
  if (!are_in_place(s, r)) free(s->words);
}

/* ---- after it ---- */

/* The sum of a row from those of its parts, the first of which may be where it goes. */
static slab_sum sum_of_row(const row_sums *s, const sum_part *parts) {
  uint64_t open = 0, blocked = 0;
  slab_sum sum = {.least = INFINITY, .mean = INFINITY};
  double t = 0.0;
  for (size_t i = 0; i < sums_parts_a_row(s); i++) {
    open += parts[i].open;
    blocked += parts[i].blocked;
    sum.rays += parts[i].rays;
    sum.hits += parts[i].hits;
    sum.least = parts[i].least < sum.least ? parts[i].least : sum.least;
    t += parts[i].sum;
  }
  sum.open = (double)open * WEIGHT_UNIT;
  sum.blocked = (double)blocked * WEIGHT_UNIT;
  if (sum.hits > 0) sum.mean = (float)(t / sum.hits);
  if (s->told.has_t == 0) sum.least = sum.mean = NAN;
  return sum;
}

/* Adds the parts up in the first. bins: at any address. */
static void write_bins(const row_sums *s, uint32_t *parts, void *bins) {
  for (size_t i = 1; i < sums_parts_a_row(s); i++)
    for (uint32_t k = 0; k < s->told.words; k++) parts[k] += parts[i * s->told.words + k];
  memcpy(bins, parts, s->told.words * sizeof *parts);
}

void sums_write(const row_sums *s, size_t rows, const slab_results *r) {
  const size_t size = result_bytes(s);
  const size_t stride = r->stride != 0 ? r->stride : size;
  if (r->type != SLAB_RESULT_SUMS && are_in_place(s, r)) return;
  for (size_t i = 0; i < rows; i++) {
    void *to = (unsigned char *)r->memory + i * stride;
    uint32_t *from = s->words + i * s->told.row;
    const slab_sum sum =
        r->type == SLAB_RESULT_SUMS ? sum_of_row(s, (const sum_part *)(const void *)from) : (slab_sum){0};
    if (r->type == SLAB_RESULT_HISTOGRAM)
      write_bins(s, from, to);
    else
      memcpy(to, r->type == SLAB_RESULT_SUMS ? (const void *)&sum : from, size);
  }
}
