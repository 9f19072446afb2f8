/* The reader of ray files. FUZZ_FORMAT is the format of the bytes: npy, raw, text. For any bytes, reading the file
 * whole, in pieces, in shards and through a pipe must give the same rays, or one complaint each. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/io/npy.h"
#include "program/io/ray_file.h"
#include "program/io/table.h"

enum { FUZZ_INPUT_MAX = 4096 };

/* Capacity for the rays of an input and one more: a ray takes at least seven bytes, "0,0,0,0". */
static size_t space_for(size_t size) { return size / 7 + 2; }

static slab_ray *rays_for(size_t size) {
  slab_ray *rays = malloc(space_for(size) * sizeof *rays);
  claim(rays != NULL);
  return rays;
}

/* Reads rays to the end, at most `step` at a time. Returns -1 if the reader complained. */
static long read_rays(const ray_options *options, uint64_t skipped, size_t step, slab_ray *rays, size_t space) {
  const unsigned before = fuzz_complaints();
  ray_source *source = NULL;
  size_t count = 0, got = 1;
  int failed = ray_source_open(options, &source);
  if (!failed) failed = ray_source_skip(source, skipped);
  while (!failed && got > 0) {
    const size_t wanted = space - count < step ? space - count : step;
    claim(wanted > 0);
    failed = ray_source_read(source, wanted, (ray_array){.floats = rays + count}, &got);
    claim(got <= wanted);
    count += got;
  }
  if (!failed) claim(ray_source_rounding(source) >= 0);
  ray_source_close(source);
  claim(failed ? fuzz_complaints() == before + 1 : fuzz_complaints() - before <= (count == 0));
  return failed ? -1 : (long)count;
}

/* Whether a float is a double rounded; decimals are rounded to both from their digits, and a tie may go either way. */
static int is_rounded(double wide, float narrow) {
  const float once = (float)wide;
  return once == narrow || (isnan(once) && isnan(narrow)) || nextafterf(once, narrow) == narrow;
}

/* The same rays in double: as many, and those that float rounds them to. Rays of segments have differences. */
static void read_in_double(const ray_options *options, uint64_t skipped, const slab_ray *rays, size_t count) {
  slab_ray64 ray;
  ray_source *source = NULL;
  size_t got = 1, i = 0;
  if (ray_source_open(options, &source)) return;
  int failed = ray_source_skip(source, skipped);
  if (ray_source_is_wide(source)) {
    ray_source_keep_doubles(source);
    for (; !failed && got > 0; i += got) {
      failed = ray_source_read(source, 1, (ray_array){.doubles = &ray}, &got);
      claim(failed || got == 0 || i < count);
      for (int k = 0; !failed && got > 0 && k < 3; k++) claim(is_rounded(ray.origin[k], rays[i].origin[k]));
    }
    claim(!failed && i == count && ray_source_rounding(source) == 0);
  }
  ray_source_close(source);
}

/* Points take as few bytes as rays, or fewer: "0,0". */
static void read_as_points(const ray_options *options, size_t size, ray_rows of) {
  const size_t space = size / 3 + 2;
  slab_ray *points = malloc(space * sizeof *points);
  ray_options of_points = *options;
  claim(points != NULL);
  of_points.of = of;
  const long count = read_rays(&of_points, 0, space, points, space);
  for (long i = 0; i < count; i++) claim(points[i].t_min == 0 && points[i].t_max > FLT_MAX);
  free(points);
}

/* The rays from `first` on must be the same when they are read in another way. */
static void reads_same(const ray_options *options, uint64_t skipped, size_t size, const slab_ray *want, long count) {
  slab_ray *rays = rays_for(size);
  claim(read_rays(options, skipped, size % 7 + 1, rays, space_for(size)) == count);
  claim(count <= 0 || memcmp(rays, want, (size_t)count * sizeof *rays) == 0);
  free(rays);
}

/* A table is whole, or there is none and one complaint. */
static void claim_table(table *rows, int failed, unsigned before, size_t least, size_t most) {
  claim(failed ? rows->values == NULL : rows->columns >= least && rows->columns <= most);
  claim(rows->rows <= FUZZ_INPUT_MAX && rows->worst_rounding >= 0);
  claim(fuzz_complaints() == before + (failed != 0));
  table_free(rows);
}

static void read_as_table(const char *path) {
  table rows;
  unsigned before = fuzz_complaints();
  int failed = read_table(path, columns_of_shape(SLAB_OBB), 4, ROWS_COLUMNS_MAX, &rows);
  claim_table(&rows, failed, before, 4, ROWS_COLUMNS_MAX);
  before = fuzz_complaints();
  failed = read_transforms(path, &rows);
  claim_table(&rows, failed, before, 12, 12);
}

/* A header that can be parsed, when written and parsed again, must be the same. */
static void header_survives(const uint8_t *data, size_t size) {
  npy_header header, again;
  char text[NPY_HEADER_MAX];
  const size_t front = 10; /* bytes before the dictionary */
  if (size < front || npy_parse((const char *)data + front, size - front, &header)) return;
  const size_t length = npy_write(text, header.descr, header.shape[0], header.shape[1]);
  claim(length % 64 == 0 && length <= NPY_HEADER_MAX && text[length - 1] == '\n');
  claim(npy_parse(text + front, length - front, &again) == NULL);
  claim(strcmp(again.descr, header.descr) == 0 && again.item_size == header.item_size);
  claim(again.shape[0] == header.shape[0] && again.shape[1] == header.shape[1]);
}

static void read_other_ways(ray_options options, const uint8_t *data, size_t size, const slab_ray *rays, long count) {
  switch (size % 4) {
    case 0: /* a pipe, read to the end before its length is known */
      options.path = fuzz_pipe(data, size);
      options.need_count = 1;
      reads_same(&options, 0, size, rays, count);
      options.path = fuzz_pipe(data, size);
      if (count >= 0) read_in_double(&options, 0, rays, (size_t)count);
      break;
    case 1: /* one shard of three */
      options.shard = (shard_option){size / 4 % 3, 3};
      if (count >= 0) {
        const uint64_t n = (uint64_t)count, begin = n * options.shard.index / 3,
                       end = n * (options.shard.index + 1) / 3;
        reads_same(&options, 0, size, rays + begin, (long)(end - begin));
        read_in_double(&options, 0, rays + begin, (size_t)(end - begin));
      }
      break;
    case 2: /* from the middle on */
      if (count < 0) break;
      reads_same(&options, (uint64_t)count / 2, size, rays + count / 2, count - count / 2);
      read_in_double(&options, (uint64_t)count / 2, rays + count / 2, (size_t)(count - count / 2));
      break;
    default:
      if (options.format != FORMAT_RAW) read_as_table(options.path);
  }
}

long fuzz_one(const uint8_t *data, size_t size) {
  const file_format format = FUZZ_FORMAT;
  ray_options options = {.format = format};
  if (size > FUZZ_INPUT_MAX) return FUZZ_REFUSED;
  slab_ray *rays = rays_for(size);
  options.path = fuzz_file(data, size);
  const long count = read_rays(&options, 0, space_for(size), rays, space_for(size));
  if (format == FORMAT_RAW && count > 0) claim(memcmp(rays, data, size) == 0);
  if (format == FORMAT_NPY) header_survives(data, size);
  read_other_ways(options, data, size, rays, count);
  read_as_points(&options, size, ROWS_OF_POINTS);
  read_as_points(&options, size, ROWS_OF_PLACES);
  free(rays);
  return count < 0 ? FUZZ_REFUSED : count;
}
