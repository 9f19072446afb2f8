/* Batches that pass through stages, each stage a thread's, several batches under way at once: while one is read, the
 * one before it is cast and the one before that written. A stage takes the batches in their order. */
#ifndef SLABCAST_CLI_RELAY_H
#define SLABCAST_CLI_RELAY_H

#include <pthread.h>
#include <stdint.h>

enum { RELAY_STAGES = 3 };

typedef struct relay {
  pthread_mutex_t mutex;
  pthread_cond_t moved;
  uint64_t left[RELAY_STAGES]; /* batches that have left a stage */
  uint64_t end;                /* batches that there are: known when the last is, fewer after a failure */
  int code;                    /* of what failed first */
} relay;

/* 0, or an error number. */
int relay_make(relay *);
void relay_free(relay *);

/* Waits until `batches` have left the stage, for the sake of `batch`: 0, or -1 when that one is not to go on. */
int relay_wait(relay *, uint64_t batch, int stage, uint64_t batches);
/* The next batch leaves the stage. */
void relay_pass(relay *, int stage);
/* Neither `batch` nor those after it go on; those before it come to their end. A code other than 0 says that something
 * failed: the first such is kept. */
void relay_end(relay *, uint64_t batch, int code);

#endif
