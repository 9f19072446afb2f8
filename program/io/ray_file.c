#include "program/io/ray_file.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/digest.h"
#include "program/io/errors.h"
#include "program/os/file.h"

struct ray_source {
  ray_options options;
  row_source *rows;
  uint64_t first, count, done; /* the shard: index of its first ray, its rays, rays read */
  uint64_t total;              /* rays of all shards */
  int doubles;                 /* rays are read in double */
  uint64_t sample;             /* of a shard: the digest of some of them; 0: they cannot be read twice */
  FILE *spool;                 /* all rays of a pipe that had to be counted first */
};

/* The kinds of rows, by ray_rows. */
static const struct {
  const char *one, *several;
  const column_names *names;
  size_t raw_columns;
  unsigned columns; /* a bit for each number of columns that they may have */
  const char *have;
} forms[] = {
    [ROWS_OF_RAYS] = {"ray", "rays", &columns_of_rays, 8, 1u << 4 | 1u << 6 | 1u << 8,
                      "rays have 8 (ox oy oz t_min dx dy dz t_max), 6 (origin, direction) or 4 (in 2D)"},
    [ROWS_OF_SEGMENTS] = {"ray", "rays", &columns_of_segments, 8, 1u << 4 | 1u << 6,
                          "segments have 6 (two points) or 4 (in 2D)"},
    [ROWS_OF_POINTS] = {"point", "points", &columns_of_points, 3, 1u << 3 | 1u << 6,
                        "points have 3 (x y z) or 6 (with nx ny nz, their normals)"},
    [ROWS_OF_PLACES] = {"point", "points", &columns_of_places, 3, 1u << 2 | 1u << 3 | 1u << 6,
                        "points have 3 (x y z), 2 (x y) or 6 (with normals, which are passed over)"},
};

static int open_rows(ray_source *source) {
  const ray_options *options = &source->options;
  return rows_open(options->path, options->format, forms[options->of].raw_columns, forms[options->of].names,
                   &source->rows);
}

static int check_columns(const ray_source *source) {
  const size_t columns = rows_columns(source->rows);
  const ray_rows of = source->options.of;
  if (columns == 0 || (columns < 16 && (forms[of].columns >> columns & 1))) return 0;
  complain("%s: rows of %zu %s; %s", rows_name(source->rows), columns, plural(columns, "number", "numbers"),
           forms[of].have);
  return -1;
}

static const char *noun(const ray_source *source, uint64_t count) {
  return plural(count, forms[source->options.of].one, forms[source->options.of].several);
}

/* ---- one row --------------------------------------------------------------- */

static slab_ray64 ray_of_row(const double *row, size_t columns) {
  if (columns == 4) return (slab_ray64){{row[0], row[1], 0}, 0, {row[2], row[3], 0}, (double)INFINITY};
  if (columns == 6) return (slab_ray64){{row[0], row[1], row[2]}, 0, {row[3], row[4], row[5]}, (double)INFINITY};
  return (slab_ray64){{row[0], row[1], row[2]}, row[3], {row[4], row[5], row[6]}, row[7]};
}

static slab_ray64 segment_of_row(const double *row, size_t columns) {
  if (columns == 6) return slab_segment64(row, row + 3);
  const double a[3] = {row[0], row[1], 0}, b[3] = {row[2], row[3], 0};
  return slab_segment64(a, b);
}

static slab_ray64 point_of_row(const double *row, size_t columns) {
  slab_ray64 ray = {.origin = {row[0], row[1], row[2]}, .t_max = (double)INFINITY};
  if (columns == 6) memcpy(ray.direction, row + 3, sizeof ray.direction);
  return ray;
}

static slab_ray64 place_of_row(const double *row, size_t columns) {
  return (slab_ray64){.origin = {row[0], row[1], columns > 2 ? row[2] : 0}, .t_max = (double)INFINITY};
}

/* Rounds a ray whose numbers are floats. A segment's differences in double, rounded once more, are those in float:
 * double has more than twice float's digits. */
static slab_ray narrowed(const slab_ray64 *ray) {
  slab_ray narrow = {.t_min = (float)ray->t_min, .t_max = (float)ray->t_max};
  for (int k = 0; k < 3; k++) {
    narrow.origin[k] = (float)ray->origin[k];
    narrow.direction[k] = (float)ray->direction[k];
  }
  return narrow;
}

static slab_ray64 (*const make_ray[])(const double *row, size_t columns) = {[ROWS_OF_RAYS] = ray_of_row,
                                                                            [ROWS_OF_SEGMENTS] = segment_of_row,
                                                                            [ROWS_OF_POINTS] = point_of_row,
                                                                            [ROWS_OF_PLACES] = place_of_row};

enum { BLOCK = 512 };

/* Rows on their way to rays. */
typedef struct row_block {
  float narrow[BLOCK * ROWS_COLUMNS_MAX];
  double wide[BLOCK * ROWS_COLUMNS_MAX];
} row_block;

static slab_ray64 ray_of_doubles(const ray_options *options, const double *row, size_t columns) {
  slab_ray64 ray = make_ray[options->of](row, columns);
  if (options->t_min.given) ray.t_min = options->t_min.wide;
  if (options->t_max.given) ray.t_max = options->t_max.wide;
  return ray;
}

static slab_ray ray_of_floats(const ray_options *options, const float *row, size_t columns) {
  double wide[ROWS_COLUMNS_MAX];
  for (size_t k = 0; k < columns; k++) wide[k] = (double)row[k];
  const slab_ray64 made = make_ray[options->of](wide, columns);
  slab_ray ray = narrowed(&made);
  if (options->t_min.given) ray.t_min = options->t_min.value;
  if (options->t_max.given) ray.t_max = options->t_max.value;
  return ray;
}

/* Makes the rays of rows that were read to a block, of each kind that is wanted. */
static void make_rays(const ray_source *source, const row_block *block, size_t n, ray_array rays) {
  const size_t columns = rows_columns(source->rows);
  const ray_options *options = &source->options;
  for (size_t i = 0; rays.doubles && i < n; i++)
    rays.doubles[i] = ray_of_doubles(options, block->wide + i * columns, columns);
  for (size_t i = 0; rays.floats && i < n; i++)
    rays.floats[i] = ray_of_floats(options, block->narrow + i * columns, columns);
}

/* Where rows of a block go that become such rays. */
static row_numbers numbers_of(row_block *block, ray_array rays) {
  return (row_numbers){rays.floats ? block->narrow : NULL, rays.doubles ? block->wide : NULL};
}

/* Where rows are read to whose layout is that of the rays. */
static row_numbers numbers_in(ray_array rays) {
  return (row_numbers){(float *)(void *)rays.floats, (double *)(void *)rays.doubles};
}

/* Whether the rows already have the layout of slab_ray. */
static int is_plain(const ray_source *source) {
  const ray_options *options = &source->options;
  return rows_columns(source->rows) == 8 && !options->t_min.given && !options->t_max.given;
}

static int read_rows(ray_source *source, size_t capacity, ray_array rays, size_t *got) {
  if (is_plain(source)) return rows_read(source->rows, capacity, numbers_in(rays), got);
  row_block block;
  size_t read = 1;
  for (*got = 0; *got < capacity && read > 0; *got += read) {
    const size_t wanted = capacity - *got < BLOCK ? capacity - *got : BLOCK;
    if (rows_read(source->rows, wanted, numbers_of(&block, rays), &read)) return -1;
    make_rays(source, &block, read, ray_array_from(&rays, *got));
  }
  return 0;
}

/* ---- opening --------------------------------------------------------------- */

enum { COUNT_BLOCK = 512 };

static int fail_spool(const ray_source *source, const char *verb) {
  complain("%s: cannot %s the temporary file that its %s are counted in: %s", rows_name(source->rows), verb,
           noun(source, 2), errno ? strerror(errno) : "it ends too early");
  return -1;
}

/* A ray of a pipe in the temporary file: which kind is wanted is not known yet. */
typedef struct spooled_ray {
  slab_ray narrow;
  slab_ray64 wide; /* all zero where the pipe holds floats */
} spooled_ray;

/* Reads rays for a temporary file. */
static int read_for_spool(ray_source *source, spooled_ray block[COUNT_BLOCK], size_t *got) {
  slab_ray narrow[COUNT_BLOCK];
  slab_ray64 wide[COUNT_BLOCK] = {{{0}, 0, {0}, 0}};
  const ray_array both = {narrow, rows_are_wide(source->rows) ? wide : NULL};
  if (read_rows(source, COUNT_BLOCK, both, got)) return -1;
  for (size_t i = 0; i < *got; i++) block[i] = (spooled_ray){narrow[i], wide[i]};
  return 0;
}

/* Writes the rays of a pipe to a temporary file to count them. */
static int spool_rays(ray_source *source, uint64_t *count) {
  spooled_ray block[COUNT_BLOCK];
  size_t got = 1;
  if (!(source->spool = os_open_temporary())) return fail_spool(source, "make");
  for (*count = 0; got > 0; *count += got) {
    if (read_for_spool(source, block, &got)) return -1;
    if (fwrite(block, sizeof *block, got, source->spool) < got) return fail_spool(source, "write");
  }
  return fflush(source->spool) ? fail_spool(source, "write") : 0;
}

/* Reads rays back. */
static int read_spool(ray_source *source, size_t wanted, ray_array rays, size_t *got) {
  spooled_ray block[COUNT_BLOCK];
  errno = 0;
  for (*got = 0; *got < wanted;) {
    const size_t some = wanted - *got < COUNT_BLOCK ? wanted - *got : COUNT_BLOCK;
    if (fread(block, sizeof *block, some, source->spool) < some) return fail_spool(source, "read");
    for (size_t i = 0; i < some; i++, ++*got) {
      if (rays.floats) rays.floats[*got] = block[i].narrow;
      if (rays.doubles) rays.doubles[*got] = block[i].wide;
    }
  }
  return 0;
}

static int is_read_again(const ray_source *source) {
  return rows_is_file(source->rows) && strcmp(source->options.path, "-") != 0;
}

/* Counts the rays of a file, which is then read a second time. */
static int count_rays(ray_source *source, uint64_t *count) {
  slab_ray block[COUNT_BLOCK];
  size_t got = 1;
  for (*count = 0; got > 0; *count += got)
    if (read_rows(source, COUNT_BLOCK, (ray_array){.floats = block}, &got)) return -1;
  rows_close(source->rows);
  source->rows = NULL;
  return open_rows(source);
}

static int skip(ray_source *source, uint64_t rays) {
  if (!source->spool) return rows_skip(source->rows, rays);
  errno = 0;
  return os_stream_skip(source->spool, rays * sizeof(spooled_ray)) ? fail_spool(source, "read") : 0;
}

static int read_one(ray_source *source, slab_ray *ray) {
  const ray_array one = {.floats = ray};
  size_t got = 0;
  if (source->spool) return read_spool(source, 1, one, &got);
  return read_rows(source, 1, one, &got) || got == 0 ? -1 : 0;
}

/* A shard's label has a digest of some rays, because it reads no more of the file than its own. */
static int read_sample(ray_source *source, digest *seen) {
  uint64_t next = 0;
  for (uint64_t i = 0; i < sample_size(source->total); i++) {
    const uint64_t at = sample_place(source->total, i);
    slab_ray ray;
    if (skip(source, at - next) || read_one(source, &ray)) return -1;
    digest_add(seen, &ray, sizeof ray);
    next = at + 1;
  }
  return 0;
}

/* Takes the sample from a temporary file, or from the file of the rays, which is opened once more. */
static int take_sample(ray_source *source) {
  row_source *rows = source->rows;
  digest seen = {0};
  digest_add(&seen, &source->total, sizeof source->total);
  if (source->total == 0 || (!source->spool && !is_read_again(source))) return 0;
  if (!source->spool && open_rows(source)) {
    source->rows = rows;
    return -1;
  }
  const int failed = read_sample(source, &seen);
  if (source->rows != rows) rows_close(source->rows);
  source->rows = rows;
  source->sample = digest_value(&seen);
  return failed;
}

/* Sets the slice of `count` rays. */
static void set_slice(ray_source *source, uint64_t count) {
  const shard_option shard = source->options.shard;
  source->count = source->total = count;
  if (shard.count == 0) return;
  source->first = part_begin(count, shard.index, shard.count);
  source->count = part_begin(count, shard.index + 1, shard.count) - source->first;
}

static int find_slice(ray_source *source) {
  const shard_option shard = source->options.shard;
  uint64_t count = rows_count(source->rows);
  if (count == ROWS_UNKNOWN && (source->options.need_count || shard.count)) {
    if (is_read_again(source) ? count_rays(source, &count) : spool_rays(source, &count)) return -1;
  }
  if (source->spool) rewind(source->spool);
  set_slice(source, count);
  if (shard.count == 0) return 0;
  if (take_sample(source)) return -1;
  if (source->spool) rewind(source->spool);
  return skip(source, source->first);
}

/* Of a sensor the label has a digest of all tables. */
static int open_sweep(ray_source *source) {
  set_slice(source, sweep_count(source->options.sweep));
  if (source->options.shard.count) source->sample = sweep_digest(source->options.sweep);
  return 0;
}

/* The same of a grid. */
static int open_grid(ray_source *source) {
  set_slice(source, grid_count(source->options.grid->size));
  if (source->options.shard.count) source->sample = grid_digest(source->options.grid);
  return 0;
}

static int open_file(ray_source *source) {
  if (open_rows(source) || check_columns(source) || find_slice(source)) return -1;
  if (rows_columns(source->rows) == 0) complain("warning: %s holds no %s", rows_name(source->rows), noun(source, 0));
  return 0;
}

static int open_any(ray_source *source) {
  if (source->options.sweep) return open_sweep(source);
  return source->options.grid ? open_grid(source) : open_file(source);
}

int ray_source_open(const ray_options *options, ray_source **opened) {
  ray_source *source = calloc(1, sizeof *source);
  *opened = NULL;
  if (!source) {
    complain("out of memory for the rays%s%s", options->path ? " of " : "", options->path ? options->path : "");
    return -1;
  }
  source->options = *options;
  if (open_any(source)) {
    ray_source_close(source);
    return -1;
  }
  *opened = source;
  return 0;
}

void ray_source_close(ray_source *source) {
  if (!source) return;
  rows_close(source->rows);
  if (source->spool) fclose(source->spool);
  free(source);
}

/* ---- reading --------------------------------------------------------------- */

uint64_t ray_source_count(const ray_source *source) { return source->count; }
uint64_t ray_source_first(const ray_source *source) { return source->first; }

int ray_source_has_normals(const ray_source *source) {
  enum { NORMAL = 3 }; /* the first of its columns */
  return rows_columns(source->rows) == 6 && rows_has_column(source->rows, NORMAL) != 0;
}

shard_label ray_source_shard(const ray_source *source) {
  const shard_option shard = source->options.shard;
  return (shard_label){.index = shard.index,
                       .count = shard.count,
                       .first = source->first,
                       .rays = source->count,
                       .total = source->total,
                       .sample = source->sample};
}

int ray_source_is_wide(const ray_source *source) {
  return source->options.grid != NULL || (source->rows != NULL && rows_are_wide(source->rows));
}

void ray_source_keep_doubles(ray_source *source) { source->doubles = 1; }
int ray_source_has_doubles(const ray_source *source) { return source->doubles; }

int ray_array_make(const ray_source *source, size_t capacity, ray_array *rays) {
  *rays = (ray_array){0};
  if (source->doubles)
    rays->doubles = malloc(capacity * sizeof *rays->doubles);
  else
    rays->floats = malloc(capacity * sizeof *rays->floats);
  return rays->doubles || rays->floats ? 0 : -1;
}

void ray_array_free(ray_array *rays) {
  free(rays->floats);
  free(rays->doubles);
  *rays = (ray_array){0};
}

ray_array ray_array_from(const ray_array *rays, size_t at) {
  return (ray_array){rays->floats ? rays->floats + at : NULL, rays->doubles ? rays->doubles + at : NULL};
}

int ray_source_read(ray_source *source, size_t capacity, ray_array rays, size_t *got) {
  const uint64_t left = source->count - source->done;
  const size_t wanted = left < capacity ? (size_t)left : capacity;
  int failed = 0;
  if (source->options.grid)
    grid_points(source->options.grid, source->first + source->done, *got = wanted, rays.floats, rays.doubles);
  else
    failed = source->spool ? read_spool(source, wanted, rays, got) : read_rows(source, wanted, rays, got);
  source->done += *got;
  if (failed || *got == wanted || source->count == ROWS_UNKNOWN) return failed;
  const uint64_t end = source->first + source->count;
  complain("%s: truncated: it ends after %" PRIu64 " of %" PRIu64 " %s", rows_name(source->rows),
           source->first + source->done, end, noun(source, end));
  return -1;
}

int ray_source_skip(ray_source *source, uint64_t rays) {
  source->done += rays;
  return source->options.sweep || source->options.grid ? 0 : skip(source, rays);
}

int ray_space_make(const ray_source *source, size_t capacity, ray_space *space) {
  const sweep *sensor = source->options.sweep;
  const size_t poses = sensor ? sweep_space(sensor, capacity) : 0;
  *space = (ray_space){.poses = poses ? malloc(poses * SWEEP_POSE * sizeof *space->poses) : NULL};
  return ray_array_make(source, capacity, &space->rays) == 0 && (space->poses || !poses) ? 0 : -1;
}

void ray_space_free(ray_space *space) {
  ray_array_free(&space->rays);
  free(space->poses);
  *space = (ray_space){0};
}

int ray_source_next(ray_source *source, size_t capacity, ray_space *space, slab_source *got) {
  const uint64_t at = source->first + source->done, left = source->count - source->done;
  *got = (slab_source){.rays = space->rays.floats, .rays64 = space->rays.doubles};
  if (!source->options.sweep) return ray_source_read(source, capacity, space->rays, &got->n);
  const size_t n = left < capacity ? (size_t)left : capacity;
  source->done += n;
  return n > 0 ? sweep_part(source->options.sweep, at, n, space->poses, &space->set, got) : 0;
}

uint64_t ray_source_place(const ray_source *source) { return rows_place(source->rows); }
size_t ray_source_bytes(const ray_source *source) { return rows_bytes(source->rows); }

void ray_source_convert(ray_source *source, const void *bytes, size_t n, ray_array rays) {
  if (is_plain(source)) {
    rows_convert(source->rows, bytes, n, numbers_in(rays));
    return;
  }
  row_block block;
  const size_t row = rows_bytes(source->rows);
  for (size_t at = 0; at < n; at += BLOCK) {
    const size_t piece = n - at < BLOCK ? n - at : BLOCK;
    rows_convert(source->rows, (const char *)bytes + at * row, piece, numbers_of(&block, rays));
    make_rays(source, &block, piece, ray_array_from(&rays, at));
  }
}

double ray_source_rounding(const ray_source *source) {
  if (source->options.sweep) return source->options.sweep->poses.worst_rounding;
  if (source->options.grid || source->doubles) return 0;
  const size_t columns = rows_columns(source->rows);
  const int segments = source->options.of == ROWS_OF_SEGMENTS;
  return rows_worst_rounding(source->rows, 0, segments ? columns : columns == 4 || columns == 2 ? 2 : 3);
}
