/* Mesh files that are text: their words, numbers and lines, and messages that name the line. Lines end by LF, CR or
 * both.
 *
 * Calls that can fail return 0, or -1 with the reason in the builder. */
#ifndef SLABCAST_PROGRAM_MESH_SCAN_H
#define SLABCAST_PROGRAM_MESH_SCAN_H

#include "program/io/decimal.h"
#include "program/mesh/readers.h"

typedef struct scan {
  const char *at, *end; /* the text not read yet; *end is NUL */
  uint64_t line;        /* counted from 1 */
  char comment;         /* begins one, which ends with its line; 0: there are none */
  char continues;       /* before a line end: the line goes on; 0: lines never do */
  mesh_builder *builder;
} scan;

/* Begins at the file's first byte; a byte order mark is passed, and zeros at the end are left out. */
void scan_begin(scan *, const mesh_file *, mesh_builder *);
/* It is an error that a byte of the file is zero. */
int scan_expect_text(scan *);

/* Passes blanks within a line. */
void scan_blanks(scan *);
/* Passes blanks, comments and line ends. */
void scan_space(scan *);
/* Passes the rest of the line, and its end. */
void scan_next_line(scan *);
/* Whether the line ends here, after scan_blanks: by its end, by a comment, or with the text. */
bool scan_is_line_end(const scan *);
/* Whether the text ends here, after scan_space. */
bool scan_is_end(const scan *);

/* The bytes of the word that begins here; 0 at a line end. */
size_t scan_word_size(const scan *);
/* Passes this word, if it stands here, in letters of either case. */
bool scan_word(scan *, const char *word);
/* Passes any word. */
void scan_pass_word(scan *);
/* Reads a number that begins here. */
int scan_number(scan *, decimal *);
/* Reads the numbers of a vertex on one line. */
int scan_point(scan *, mesh_point *);
/* Reads a whole number without a sign that begins here. */
int scan_count(scan *, uint64_t *);

/* The rest of the line as a name: valid UTF-8 of at most SCAN_NAME_MAX bytes with the NUL; a longer one is cut. */
enum { SCAN_NAME_MAX = 256 };
void scan_name(scan *, char name[SCAN_NAME_MAX]);

/* Refuses the file, with the line before this reason. Returns -1. */
int scan_refuse(scan *, const char *format, ...) FORMATTED(2, 3);
/* Refuses the word that stands here: "line 3: 'hello' is not a number". */
int scan_refuse_word(scan *, const char *what);

#endif
