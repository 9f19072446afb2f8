/* Batches that pass through stages, each stage a thread's, several batches under way at once: while one is read, the
 * one before it is cast and the one before that written. A stage takes the batches in their order. */
#ifndef SLABCAST_CLI_PIPELINE_H
#define SLABCAST_CLI_PIPELINE_H

#include <pthread.h>
#include <stdint.h>

enum { PIPELINE_STAGES = 3 };

typedef struct pipeline {
  pthread_mutex_t mutex;
  pthread_cond_t moved;
  uint64_t left[PIPELINE_STAGES]; /* batches that have left a stage */
  uint64_t end;                   /* batches that there are: known when the last is, fewer after a failure */
  int code;                       /* of what failed first */
} pipeline;

/* 0, or an error number. */
int pipeline_make(pipeline *);
void pipeline_free(pipeline *);

/* Waits until `batches` have left the stage, for the sake of `batch`: 0, or -1 when that one is not to go on. */
int pipeline_wait(pipeline *, uint64_t batch, int stage, uint64_t batches);
/* The next batch leaves the stage. */
void pipeline_pass(pipeline *, int stage);
/* Neither `batch` nor those after it go on; those before it come to their end. A code other than 0 says that something
 * failed: the first such is kept. */
void pipeline_end(pipeline *, uint64_t batch, int code);

#endif
