/* JSON documents as outputs of the program. */
#ifndef SLABCAST_CLI_JSON_FILE_H
#define SLABCAST_CLI_JSON_FILE_H

#include <jansson.h>

/* A number, or null where JSON has none for it (infinities, NaN). */
json_t *json_number_or_null(double value);

/* Writes `document` (taken over, NULL: out of memory) to a file, or to stdout for "-". 0, or -1 with the error
 * printed. */
int json_save(const char *path, json_t *document);

#endif
