/* Writes JSON documents. */
#ifndef SLABCAST_CLI_JSON_FILE_H
#define SLABCAST_CLI_JSON_FILE_H

#include <jansson.h>

/* A JSON number, or null for infinities and NaN. */
json_t *json_number_or_null(double value);

/* Writes `document` to a file, or to stdout for "-", and releases it. NULL means out of memory. Returns 0, or -1 with
 * the error printed. */
int json_save(const char *path, json_t *document);

#endif
