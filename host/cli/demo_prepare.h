/* The kernels of the demo, made ready beside the scene: by casts at a small scene of the same kinds of primitives,
 * which shares them. */
#ifndef SLABCAST_CLI_DEMO_PREPARE_H
#define SLABCAST_CLI_DEMO_PREPARE_H

#include <pthread.h>

#include "cli.h"

typedef struct demo_prepare {
  slab_context *context;
  size_t rays;
  pthread_t thread;
  int begun;      /* the thread is to be joined */
  int code;       /* an exit code: what failed is told already */
  double seconds; /* that a processor worked for it */
} demo_prepare;

/* Begins what was all zeros. rays: of the largest cast to come. */
void demo_prepare_begin(demo_prepare *, slab_context *, size_t rays);
/* Waits for it, if it was begun and not waited for; an exit code. The context must live until then. */
int demo_prepare_end(demo_prepare *);

#endif
