/* The names of columns, which a text may begin with, and which decide where its numbers go. */
#ifndef SLABCAST_PROGRAM_IO_COLUMNS_H
#define SLABCAST_PROGRAM_IO_COLUMNS_H

#include <stddef.h>

#include "slabcast_types.h"

enum { ROWS_COLUMNS_MAX = 16 };

typedef enum column_need {
  COLUMN_NEEDED,
  COLUMN_FLAT, /* absent in 2D, with all others of this kind */
  COLUMN_FREE  /* may be absent */
} column_need;

typedef struct named_column {
  const char *names; /* separated by |, ours first */
  char axis;         /* x, y, z: it stands before or behind each of the names, or its number behind; 0: of no vector */
  column_need need;
  float otherwise; /* where it is absent */
} named_column;

/* The columns of rows, in the order of their numbers. */
typedef struct column_names {
  const char *noun; /* of the rows, plural */
  const named_column *list;
  size_t count;
  int some; /* a text may have other columns: they are passed over, whatever they hold */
} column_names;

extern const column_names columns_of_rays, columns_of_segments, columns_of_points, columns_of_places;
extern const column_names columns_of_transforms;
extern const column_names columns_of_masks, columns_of_worlds, columns_of_hits, columns_of_suns, columns_of_beams;
/* Places in columns_of_hits. HITS_ORDER: of rays in double. HITS_RAY: of a text with a line for each hit, not for each
 * ray. */
enum { HITS_T, HITS_PRIMITIVE, HITS_GEOMETRY, HITS_ORDER, HITS_RAY };
/* Places in columns_of_suns. */
enum { SUNS_AZIMUTH, SUNS_ALTITUDE, SUNS_HOURS };
/* Of a kind that is added as an array. */
const column_names *columns_of_shape(slab_shape);

/* Where the columns of a text go. */
typedef struct column_order {
  size_t count; /* columns of the text */
  size_t place[ROWS_COLUMNS_MAX];
  const char *separators; /* characters, each of which ends a column */
} column_order;

/* The place of a column that is passed over. */
#define COLUMN_OTHER ROWS_COLUMNS_MAX

/* Whether a line has names alone: two or more words, or one where one column is enough. Each begins with a letter.
 * Between them are commas, semicolons, tabs or blanks. Quotes may stand around them. */
int columns_are_names(const column_names *known, const char *line);

/* Finds the columns by the names of such a line. Case, blanks, quotes and _ . - : / ( ) [ ] within a name do not
 * matter, nor does a unit in brackets at its end, which is the same for all. Returns 0, or -1 with `wrong`: a name that
 * is unknown or there twice, a column that is missing, or one in another unit. */
int columns_find(const column_names *known, const char *line, column_order *order, char *wrong, size_t size);

#endif
