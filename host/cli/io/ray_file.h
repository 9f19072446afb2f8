/* Rays out of an array of numbers in a file or pipe. */
#ifndef SLABCAST_CLI_RAY_FILE_H
#define SLABCAST_CLI_RAY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "files.h"
#include "options.h"
#include "shard.h"
#include "slabcast.h"

/* Columns: 8 (origin, t_min, direction, t_max), 6 (origin, direction), 4 (the same in 2D); of segments 6 or 4, two
 * points. t_min and t_max, when given, replace every ray's. */
typedef struct ray_options {
  const char *path;
  file_format format;
  int segments;
  real_option t_min, t_max;
  shard_option shard;
  int need_count; /* of lines, and of what comes through a pipe: read it all once to know the number of rays */
} ray_options;

typedef struct ray_source ray_source;

/* Functions of type int return 0, or -1 with the error printed. */
int ray_source_open(const ray_options *options, ray_source **opened);
void ray_source_close(ray_source *source);
/* How many rays the shard has; ROWS_UNKNOWN. */
uint64_t ray_source_count(const ray_source *source);
/* The index in the file of the shard's first ray. */
uint64_t ray_source_first(const ray_source *source);
/* Which slice of the file's rays these are; count 0: all of them. */
shard_label ray_source_shard(const ray_source *source);
int ray_source_read(ray_source *source, size_t capacity, slab_ray *rays, size_t *got);
int ray_source_skip(ray_source *source, uint64_t rays);
/* For those who fetch the rows of a binary file themselves: where the next ray's begins in it, the bytes of one (0:
 * text), and the rays of rows whose bytes, aligned as malloc does, are at hand. */
uint64_t ray_source_place(const ray_source *source);
size_t ray_source_bytes(const ray_source *source);
void ray_source_convert(ray_source *source, const void *bytes, size_t n, slab_ray *rays);
/* The largest distance that rounding to float32 moved a point so far. */
double ray_source_rounding(const ray_source *source);

#endif
