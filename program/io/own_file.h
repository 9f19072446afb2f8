/* Reads each ray's own values: masks, worlds, and hits that rays begin after, from files and pipes with one value per
 * ray. Points and places of instances have worlds too. */
#ifndef SLABCAST_PROGRAM_IO_OWN_FILE_H
#define SLABCAST_PROGRAM_IO_OWN_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/npy.h"
#include "slabcast.h"

/* The owners of the values: the nouns for one and several of them in messages. */
typedef struct own_owner {
  const char *one, *several;
} own_owner;
extern const own_owner own_of_points, own_of_places;

/* Masks and worlds: npy of uint32, raw little-endian uint32, or text, one whole number per line. Hits: results of
 * closest, nearest or distance in any format but ply, also with points; or npy of any struct with t, primitive and
 * geometry. A ray with t alone begins beyond it. Where the first line of a text names columns, others are passed
 * over. */
typedef struct own_options {
  const char *masks, *after, *worlds; /* paths, - for stdin; NULL: none */
  const own_owner *owner;             /* NULL: rays */
} own_options;

/* Space for some rays' own values; NULL where there is no file. */
typedef struct own_rows {
  uint32_t *masks;
  slab_short_hit *after;
  uint32_t *worlds;
} own_rows;

/* All files. NULL, which the functions take too, where there is none. */
typedef struct own_source own_source;

/* Functions of type int return 0, or -1 with the error printed. */

/* Opens the files of these rays: `rays` of `total` rays from `first` on, ROWS_UNKNOWN where that is not known. A file
 * that holds another number is refused as soon as that is known. Hits may be those of the same shard alone. */
int own_source_open(const own_options *options, const shard_label *rays, own_source **opened);
void own_source_close(own_source *source);
/* How many worlds the scene has: a row that is read with another one is refused. Until then none is. */
void own_source_limit(own_source *source, uint32_t worlds);
/* The rays are in double: hits are taken by their order, which only results of rays in double have. Call before the
 * first read; hits with an order are refused of other rays, there. */
int own_source_settle(own_source *source, int doubles);
/* Goes on to the values of the ray with that index, counted from the first of these rays; never back. */
int own_source_go_to(own_source *source, uint64_t ray);
/* Reads the values of the next n rays. */
int own_source_read(own_source *source, size_t n, own_rows *rows);
/* Call after the last ray: checks that the files end there too. */
int own_source_end(own_source *source);
/* Adds a sample of the files to a digest. Returns 1; 0: they cannot be read twice, or have this shard alone; -1. */
int own_source_sample(const own_source *source, uint64_t *digest);
/* The name of a file of text, whose rows have no places known before; NULL: there is none. */
const char *own_source_text(const own_source *source);

/* Space for n rays. Returns 0, or -1 where memory is out. */
int own_rows_make(const own_source *source, uint64_t n, own_rows *rows);
/* The same from row `at` on. */
own_rows own_rows_from(const own_rows *rows, uint64_t at);
void own_rows_free(own_rows *rows);

#endif
