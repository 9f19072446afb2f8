#include "ray_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

struct ray_source {
  ray_options options;
  row_source *rows;
  uint64_t first, count, done; /* of the shard: where it begins, rays in it, rays given out */
  uint64_t total;              /* of all shards */
  slab_ray *memory;            /* all rays of the file, where they had to be read to be counted */
};

static int check_columns(const ray_source *source) {
  const size_t columns = rows_columns(source->rows);
  const int segments = source->options.segments;
  if (columns == 0 || columns == 4 || columns == 6 || (columns == 8 && !segments)) return 0;
  complain("%s: rows of %zu numbers; %s", rows_name(source->rows), columns,
           segments ? "segments have 6 (two points) or 4 (in 2D)"
                    : "rays have 8 (ox oy oz t_min dx dy dz t_max), 6 (origin, direction) or 4 (in 2D)");
  return -1;
}

/* ---- one row --------------------------------------------------------------- */

static slab_ray ray_of_row(const float *row, size_t columns) {
  if (columns == 4) return slab_ray_2d(row, row + 2, 0.0f, INFINITY);
  if (columns == 6) return (slab_ray){{row[0], row[1], row[2]}, 0.0f, {row[3], row[4], row[5]}, INFINITY};
  return (slab_ray){{row[0], row[1], row[2]}, row[3], {row[4], row[5], row[6]}, row[7]};
}

static slab_ray segment_of_row(const float *row, size_t columns) {
  if (columns == 6) return slab_segment(row, row + 3);
  const float a[3] = {row[0], row[1], 0.0f}, b[3] = {row[2], row[3], 0.0f};
  return slab_segment(a, b);
}

/* Rows that are rays as they stand. */
static int is_plain(const ray_source *source) {
  const ray_options *options = &source->options;
  return rows_columns(source->rows) == 8 && !options->t_min.given && !options->t_max.given;
}

static int read_rows(ray_source *source, size_t capacity, slab_ray *rays, size_t *got) {
  if (is_plain(source)) return rows_read(source->rows, capacity, (float *)(void *)rays, got);
  enum { BLOCK = 512 };
  float block[BLOCK * ROWS_COLUMNS_MAX];
  const size_t columns = rows_columns(source->rows);
  const ray_options *options = &source->options;
  size_t read = 1;
  for (*got = 0; *got < capacity && read > 0; *got += read) {
    const size_t wanted = capacity - *got < BLOCK ? capacity - *got : BLOCK;
    if (rows_read(source->rows, wanted, block, &read)) return -1;
    for (size_t i = 0; i < read; i++) {
      slab_ray *ray = &rays[*got + i];
      const float *row = block + i * columns;
      *ray = options->segments ? segment_of_row(row, columns) : ray_of_row(row, columns);
      if (options->t_min.given) ray->t_min = options->t_min.value;
      if (options->t_max.given) ray->t_max = options->t_max.value;
    }
  }
  return 0;
}

/* ---- opening --------------------------------------------------------------- */

/* Reads all there is; afterwards the count is known. */
static int read_to_memory(ray_source *source, uint64_t *count) {
  size_t capacity = 0, rays = 0, got = 1;
  while (got > 0) {
    if (rays == capacity) {
      capacity = capacity ? 2 * capacity : 4096;
      slab_ray *memory = realloc(source->memory, capacity * sizeof *memory);
      if (!memory) {
        complain("%s: out of memory for more than %zu rays", rows_name(source->rows), rays);
        return -1;
      }
      source->memory = memory;
    }
    if (read_rows(source, capacity - rays, source->memory + rays, &got)) return -1;
    rays += got;
  }
  *count = rays;
  return 0;
}

/* floor(count * index / shards) without overflow. */
static uint64_t shard_begin(uint64_t count, uint64_t index, uint64_t shards) {
  return count / shards * index + count % shards * index / shards;
}

static int find_slice(ray_source *source) {
  const shard_option shard = source->options.shard;
  uint64_t count = rows_count(source->rows);
  if (count == ROWS_UNKNOWN && (source->options.need_count || shard.count) && read_to_memory(source, &count)) return -1;
  source->count = source->total = count;
  if (shard.count == 0) return 0;
  source->first = shard_begin(count, shard.index, shard.count);
  source->count = shard_begin(count, shard.index + 1, shard.count) - source->first;
  return source->memory ? 0 : rows_skip(source->rows, source->first);
}

int ray_source_open(const ray_options *options, ray_source **opened) {
  ray_source *source = calloc(1, sizeof *source);
  *opened = NULL;
  if (!source) {
    complain("cannot read %s: out of memory", options->path);
    return -1;
  }
  source->options = *options;
  if (rows_open(options->path, options->format, 8, &source->rows) || check_columns(source) || find_slice(source)) {
    ray_source_close(source);
    return -1;
  }
  if (rows_columns(source->rows) == 0) complain("warning: %s holds no rays", rows_name(source->rows));
  *opened = source;
  return 0;
}

void ray_source_close(ray_source *source) {
  if (!source) return;
  rows_close(source->rows);
  free(source->memory);
  free(source);
}

/* ---- reading --------------------------------------------------------------- */

uint64_t ray_source_count(const ray_source *source) { return source->count; }
uint64_t ray_source_first(const ray_source *source) { return source->first; }

shard_label ray_source_shard(const ray_source *source) {
  const shard_option shard = source->options.shard;
  return (shard_label){shard.index, shard.count, source->first, source->count, source->total};
}

int ray_source_read(ray_source *source, size_t capacity, slab_ray *rays, size_t *got) {
  const uint64_t left = source->count - source->done;
  const size_t wanted = left < capacity ? (size_t)left : capacity;
  int failed = 0;
  *got = wanted;
  if (!source->memory)
    failed = read_rows(source, wanted, rays, got);
  else if (wanted)
    memcpy(rays, source->memory + source->first + source->done, wanted * sizeof *rays);
  source->done += *got;
  return failed;
}

int ray_source_skip(ray_source *source, uint64_t rays) {
  source->done += rays;
  return source->memory ? 0 : rows_skip(source->rows, rays);
}

double ray_source_rounding(const ray_source *source) {
  const size_t columns = rows_columns(source->rows);
  return rows_worst_rounding(source->rows, 0, source->options.segments ? columns : columns == 4 ? 2 : 3);
}
