/* Numbers and names in the words of a command line. */
#ifndef SLABCAST_PROGRAM_IO_TEXT_H
#define SLABCAST_PROGRAM_IO_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "program/io/decimal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/* A number that may be given. */
typedef struct real_option {
  float value;
  int given;
  double wide; /* the same in double */
} real_option;

/* Parses a whole string as a finite or infinite number. Returns 0 if it is not a number, or NaN. */
int parse_real(const char *text, decimal *value);
/* Parses numbers with commas between them. Returns how many there are, at most `most`; 0: they are anything else. */
int parse_reals(const char *text, decimal *values, int most);
/* Parses the digits at `text`; *end is where they end. Returns 0 if there are none or the number does not fit. */
int parse_digits(const char *text, int base, char **end, uint64_t *value);
/* Parses a whole string as an unsigned decimal number. Returns 0 if it is not one. */
int parse_count(const char *text, uint64_t *value);
/* Parses a whole string as a mask: 1 to 4294967295, decimal or 0x... */
int parse_mask(const char *text, uint32_t *mask);

/* Bytes of the UTF-8 character at `text`, of NUL 1; 0: there is none. */
size_t text_character(const char *text);
/* The same of one that terminals show; 0: there is none, or it is a control character. */
size_t text_shown(const char *text);
/* Copies a text for a terminal: control characters and bytes that are no UTF-8 are escaped. Text that does not fit is
 * cut. */
void text_printable(const char *text, char *shown, size_t size);
/* A time in s, ms or us, with three digits: "19.7 us". */
enum { SECONDS_TEXT = 32 };
const char *seconds_text(double seconds, char text[SECONDS_TEXT]);

/* The name most similar to `word`, by edits of letters (changed, left out, added, exchanged); NULL: none is similar.
 * `things` are `count` structs that begin with their names, `stride` bytes apart. */
const char *name_near(const char *word, const void *things, size_t count, size_t stride);

/* Whether the list contains the name; NULL contains all. */
int list_has(const char *list, const char *name);
/* The first word of the list that names none of `count` things, copied to `name`; NULL: all are known. `things` are
 * structs that begin with their names, `stride` bytes apart. */
const char *list_unknown(const char *list, const void *things, size_t count, size_t stride, char *name, size_t size);

#endif
