/* The file of --csv. */
#ifndef SLABCAST_BENCH_CSV_H
#define SLABCAST_BENCH_CSV_H

#include <stdbool.h>
#include <stdio.h>

/* Opens it; *csv stays NULL where no path is given. bench: the program's name, for messages on stderr. */
bool csv_open(const char *bench, const char *path, FILE **csv);
/* Closes it, if there is one. False, with a message, where not all of it was written. */
bool csv_close(const char *bench, const char *path, FILE *csv);

#endif
