/* Reads lines of numbers. */
#ifndef SLABCAST_CLI_TEXT_H
#define SLABCAST_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "../../plural.h"
#include "input.h"

enum { TEXT_NO_NUMBER = -1, TEXT_TOO_MANY = -2 };

/* Parses the numbers of one NUL-terminated line, separated by blanks or a comma. # begins a comment. Returns their
 * count, at most `capacity`; or TEXT_NO_NUMBER or TEXT_TOO_MANY, with *wrong at the place. */
int text_numbers(const char *line, double *values, int capacity, const char **wrong);

/* Reads the next line that contains numbers and advances *line. *count = 0 at the end of the data. Returns 0, or -1
 * with the error printed. */
int text_read(input *in, uint64_t *line, double *values, int capacity, int *count);
/* The same for the first such line. A line of column names may precede it, as in csv: two or more names, separated by
 * commas, each beginning with a letter. */
int text_read_first(input *in, uint64_t *line, double *values, int capacity, int *count);

#endif
