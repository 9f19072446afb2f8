/* An output that goes on from what an earlier run left in FILE.part: what is there is compared with what comes, then
 * appended to. How far the earlier run came is read from the part itself; the last rays it holds are cast again, so
 * that a part of other rays, another scene or other options is noticed. */
#ifndef SLABCAST_CLI_RESUME_FILE_H
#define SLABCAST_CLI_RESUME_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "output.h"

typedef struct part {
  output *out;
  uint64_t place; /* of the next byte; below the output's size while there is something to compare */
  uint64_t start; /* of the first row, behind the header if there is one */
} part;

/* All of these: 0, or -1 with the error printed. */
int part_put(part *, const void *bytes, size_t size);
/* The header of an npy file (note: npy_write_noted); rows ROWS_UNKNOWN: 0 for now, and whatever count an earlier run
 * came to is let be. */
int part_put_header(part *, const char *descr, uint64_t rows, const char *note);
/* The names of the columns, with the line's end. */
int part_put_names(part *, const char *line);
/* Once all results were put: that nothing else is there. */
int part_check_end(const part *);

/* Where to go on, to be called after the header was put: *rays need not be cast again, of at most `limit`, and `place`
 * stands behind their rows.
 * rows: one of `size` bytes a ray; lines: one a ray; numbered: lines that begin with the number of their ray, the first
 * of which has the number `first`; hits: rows of `size` bytes, *rows of which belong to those rays, as `offsets` tell.
 */
int part_resume_rows(part *, size_t size, uint64_t limit, uint64_t *rays);
int part_resume_lines(part *, uint64_t limit, uint64_t *rays);
int part_resume_numbered(part *, uint64_t first, uint64_t limit, uint64_t *rays);
int part_resume_hits(part *, part *offsets, size_t size, uint64_t limit, uint64_t *rays, uint64_t *rows);

#endif
