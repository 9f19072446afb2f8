/* An output that continues the FILE.part of an earlier run, or is compared with the finished file of that run. New data
 * is first compared with the existing data, then appended. The part file itself shows how far the earlier run came. Its
 * last rays are cast again, so that a part of other rays, another scene or other options is detected. */
#ifndef SLABCAST_PROGRAM_IO_RESULT_PART_H
#define SLABCAST_PROGRAM_IO_RESULT_PART_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/output.h"

typedef struct part {
  output *out;
  uint64_t place;   /* offset of the next byte; below the output's size while there is data to compare */
  uint64_t start;   /* offset of the first row, after the header if any */
  uint64_t overlap; /* rays of an earlier run that are cast again and compared; 0: as many as is usual */
} part;

/* All functions of type int return 0, or -1 with the error printed. */

/* Reads bytes of an earlier run's header. *found: 0 if it has fewer. */
int part_read(const part *, uint64_t place, void *bytes, size_t size, int *found);
/* Writes the header. Rows start after the last one. */
int part_put_header(part *, const void *bytes, size_t size);
int part_put(part *, const void *bytes, size_t size);
/* The same at a place of their own, where the first `old` bytes are those of an earlier run. */
int part_put_at(const part *, uint64_t place, const void *bytes, size_t size, size_t old);
/* Of the rays of an earlier run those that need not be cast again. */
uint64_t part_without_overlap(const part *, uint64_t rays);
/* Call after all results were written: checks that the file has no other data. */
int part_check_end(const part *);
/* Writes bytes of the header again, which a finished file has already. Call it last. */
int part_patch(part *, uint64_t place, const void *bytes, size_t size);

/* These find where to continue, after the header was written. *rays of at most `limit` rays need not be cast again, and
 * the next byte is the first behind their rows. */

/* One row of `size` bytes per ray. */
int part_resume_rows(part *, size_t size, uint64_t limit, uint64_t *rays);
/* One line per ray. */
int part_resume_lines(part *, uint64_t limit, uint64_t *rays);
/* Rows of `size` bytes that end with the index of their ray as a double, or, size 0, lines that begin with it. The
 * first ray has index `first`. */
int part_resume_numbered(part *, size_t size, uint64_t first, uint64_t limit, uint64_t *rays);
/* Rows of `size` bytes, of which *rows belong to those rays according to `offsets`. */
int part_resume_hits(part *, part *offsets, size_t size, uint64_t limit, uint64_t *rays, uint64_t *rows);

#endif
