/* Lines of numbers; and the words that go with numbers in lines for people. */
#ifndef SLABCAST_CLI_TEXT_H
#define SLABCAST_CLI_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "input.h"

/* The word that goes with so many. */
static inline const char *plural(uint64_t count, const char *one, const char *many) { return count == 1 ? one : many; }

enum { TEXT_NO_NUMBER = -1, TEXT_TOO_MANY = -2 };

/* The numbers of one NUL-terminated line, separated by blanks or a comma; # begins a comment. Returns how many, at
 * most `capacity`; or TEXT_NO_NUMBER or TEXT_TOO_MANY, with *wrong at the place. */
int text_numbers(const char *line, double *values, int capacity, const char **wrong);

/* Takes the next line that holds numbers and counts *line on. *count = 0 at the end of the data. Returns 0, or -1
 * with the error printed. */
int text_read(input *in, uint64_t *line, double *values, int capacity, int *count);
/* The same for the first such line, which one with the names of the columns may precede, as csv has it: two or more
 * between commas, each begun by a letter. */
int text_read_first(input *in, uint64_t *line, double *values, int capacity, int *count);

#endif
