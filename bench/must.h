/* Calls and memory that a benchmark needs: without them it ends, with a message and exit code 1. BENCH_NAME, which is
 * defined before this file: the program's name. */
#ifndef SLABCAST_BENCH_MUST_H
#define SLABCAST_BENCH_MUST_H

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>

#include "slabcast.h"

static inline void ended_ill(const char *what, const char *why) {
  fprintf(stderr, BENCH_NAME ": %s: %s\n", what, why);
  exit(1);
}

static inline void check(slab_status status, const char *what) {
  if (status != SLAB_OK) ended_ill(what, slab_message());
}

/* Zeroed bytes, which the caller frees. */
static inline void *space(size_t size) {
  void *bytes = calloc(1, size);
  if (bytes == NULL) ended_ill("memory", "there is too little");
  return bytes;
}

#endif
