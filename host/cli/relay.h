/* Batches that pass through stages, each stage in the order of the batches, several batches under way at once: while
 * one is read, the one before it is cast and the one before that written. Each batch is carried by a thread. */
#ifndef SLABCAST_CLI_RELAY_H
#define SLABCAST_CLI_RELAY_H

#include <pthread.h>
#include <stdint.h>

enum { RELAY_STAGES = 3 };

typedef struct relay {
  pthread_mutex_t mutex;
  pthread_cond_t moved;
  uint64_t tickets;            /* batches begun */
  uint64_t next[RELAY_STAGES]; /* the batch whose turn it is */
  int ended[RELAY_STAGES];     /* no further batch gets in */
  int carriers;                /* threads that have not retired */
  int code;                    /* of what ended it first */
} relay;

/* What ends a relay without fault, as the code of relay_leave. */
enum { RELAY_NO_MORE = -1 };

/* `carriers`: how many threads will retire. 0, or an error number. */
int relay_make(relay *, int carriers);
void relay_free(relay *);

/* The number of the next batch. */
uint64_t relay_begin(relay *);
/* Waits until `batch` has its turn at the stage; again where it has it already. 0, or -1 when a batch before it ended
 * the stage. */
int relay_enter(relay *, int stage, uint64_t batch);
/* Passes the turn on. A code other than 0 ends this stage and those before it: batches that are further on still come
 * to their end. The first such code that is no RELAY_NO_MORE is kept. */
void relay_leave(relay *, int stage, int code);

/* Ends all stages from without, with this code. */
void relay_stop(relay *, int code);
/* A thread's last call. */
void relay_retire(relay *);
/* Waits until all have retired or something has failed; returns the code, 0 so far. */
int relay_wait(relay *);

#endif
