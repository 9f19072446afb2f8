/* Lines of numbers. */
#ifndef SLABCAST_CLI_TEXT_H
#define SLABCAST_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "input.h"

enum { TEXT_NO_NUMBER = -1, TEXT_TOO_MANY = -2 };

/* The numbers of one NUL-terminated line, separated by blanks or a comma; # begins a comment. Returns how many, at
 * most `capacity`; or TEXT_NO_NUMBER or TEXT_TOO_MANY, with *wrong at the place. */
int text_numbers(const char *line, double *values, int capacity, const char **wrong);

/* Takes the next line that holds numbers and counts *line on. *count = 0 at the end of the data. Returns 0, or -1
 * with the error printed. */
int text_read(input *in, uint64_t *line, double *values, int capacity, int *count);

#endif
