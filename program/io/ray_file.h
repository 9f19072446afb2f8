/* Rays, or points, of an array of numbers in a file or pipe. Or rays of a sensor or points of a grid, which a formula
 * makes where they are cast. */
#ifndef SLABCAST_PROGRAM_IO_RAY_FILE_H
#define SLABCAST_PROGRAM_IO_RAY_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/grid.h"
#include "program/io/npy.h"
#include "program/io/rows.h"
#include "program/io/sweep.h"
#include "program/io/text.h"
#include "slabcast.h"

typedef enum ray_rows {
  ROWS_OF_RAYS,     /* 8 columns (origin, t_min, direction, t_max), 6 (origin, direction) or 4 (the same in 2D) */
  ROWS_OF_SEGMENTS, /* 6 or 4: two points */
  ROWS_OF_POINTS,   /* 3, or 6 with a normal, which is the ray's direction; it is 0 where there is none */
  ROWS_OF_PLACES    /* 3, 2 in 2D, or 6, of which the last three are passed over */
} ray_rows;

/* Where a text names its columns, the names decide. Given t_min and t_max replace those of every ray. */
typedef struct ray_options {
  const char *path;
  file_format format;
  ray_rows of;
  real_option t_min, t_max;
  shard_option shard;
  const sweep
      *sweep;       /* the rays are those of this, and none of the other options but the shard counts; NULL: a file's */
  const grid *grid; /* the same of points: they are those of this; NULL: a file's */
  int need_count;   /* the number of rays is needed: lines of text and pipes are read once to count them */
} ray_options;

typedef struct ray_source ray_source;

/* Functions of type int return 0, or -1 with the error printed. */
int ray_source_open(const ray_options *options, ray_source **opened);
void ray_source_close(ray_source *source);
/* Number of rays in the shard, or ROWS_UNKNOWN. */
uint64_t ray_source_count(const ray_source *source);
/* Whether points have normals. */
int ray_source_has_normals(const ray_source *source);
/* Whether rays can be read in double: a file's that is text or float64, and points of a grid. */
int ray_source_is_wide(const ray_source *source);
/* From now on rays are read in double, which the source must be able to. */
void ray_source_keep_doubles(ray_source *source);
int ray_source_has_doubles(const ray_source *source);
/* The index in the file of the shard's first ray. */
uint64_t ray_source_first(const ray_source *source);
/* Which slice of the file's rays this is; count 0: all of them. It has only the digest of the rays. */
shard_label ray_source_shard(const ray_source *source);
/* Space for rays, of one kind: `doubles` where the source keeps doubles. */
typedef struct ray_array {
  slab_ray *floats;
  slab_ray64 *doubles;
} ray_array;
/* Returns 0, or -1 where memory is out, without a message. */
int ray_array_make(const ray_source *source, size_t capacity, ray_array *rays);
void ray_array_free(ray_array *rays);
/* The place from which ray `at` on is read. */
ray_array ray_array_from(const ray_array *rays, size_t at);

/* Reads rays of a file, or points of a grid. */
int ray_source_read(ray_source *source, size_t capacity, ray_array rays, size_t *got);
int ray_source_skip(ray_source *source, uint64_t rays);

/* Space for a batch of rays: `rays` for those of a file, which are read, and for rays of a set if they are written. */
typedef struct ray_space {
  ray_array rays;
  float *poses; /* of a turning sensor */
  slab_rays set;
} ray_space;
/* Returns 0, or -1 where memory is out, without a message. */
int ray_space_make(const ray_source *source, size_t capacity, ray_space *space);
void ray_space_free(ray_space *space);
/* The same as ray_source_read for rays of either kind: *got is an array in the space, or a part of a set. */
int ray_source_next(ray_source *source, size_t capacity, ray_space *space, slab_source *got);

/* These are of files alone, for callers that read the rows of a binary file themselves. `ray_source_place`: byte offset
 * of the next ray's row. `ray_source_bytes`: bytes per row (0: text). `ray_source_convert`: the rays of rows whose
 * bytes are in memory, aligned as by malloc. */
uint64_t ray_source_place(const ray_source *source);
size_t ray_source_bytes(const ray_source *source);
void ray_source_convert(ray_source *source, const void *bytes, size_t n, ray_array rays);
/* The largest distance that rounding to float32 has moved a point; 0 of rays in double. */
double ray_source_rounding(const ray_source *source);

#endif
