/* An output that continues the FILE.part of an earlier run. New data is first compared with the existing data, then
 * appended. The part file itself shows how far the earlier run came. Its last rays are cast again, so that a part of
 * other rays, another scene or other options is detected. */
#ifndef SLABCAST_CLI_RESUME_FILE_H
#define SLABCAST_CLI_RESUME_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"

typedef struct part {
  output *out;
  uint64_t place; /* offset of the next byte; below the output's size while there is data to compare */
  uint64_t start; /* offset of the first row, after the header if any */
} part;

/* All of these return 0, or -1 with the error printed. */
int part_put(part *, const void *bytes, size_t size);
/* Writes the header of an npy file (note: as npy_write_noted). rows ROWS_UNKNOWN: 0 for now; the count of an earlier
 * run is kept. */
int part_put_header(part *, const char *descr, uint64_t rows, const char *note);
/* Writes the column names; `line` includes the newline. */
int part_put_names(part *, const char *line);
/* Call after all results were written: checks that the file has no other data. */
int part_check_end(const part *);

/* Finds where to continue; call after the header was written. *rays of at most `limit` rays need not be cast again, and
 * `place` is set behind their rows. part_resume_rows: one row of `size` bytes per ray. part_resume_lines: one line per
 * ray. part_resume_numbered: lines that begin with the index of their ray; the first ray has index `first`.
 * part_resume_hits: rows of `size` bytes, of which *rows belong to those rays according to `offsets`. */
int part_resume_rows(part *, size_t size, uint64_t limit, uint64_t *rays);
int part_resume_lines(part *, uint64_t limit, uint64_t *rays);
int part_resume_numbered(part *, uint64_t first, uint64_t limit, uint64_t *rays);
int part_resume_hits(part *, part *offsets, size_t size, uint64_t limit, uint64_t *rays, uint64_t *rows);

#endif
