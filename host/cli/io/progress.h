/* A progress line on stderr: share done, rate, time left. Shown only on a terminal, four times a second at most. Until
 * the first answers are there, which takes seconds where a driver compiles kernels, it says what is waited for; the
 * rate is that from then on. */
#ifndef SLABCAST_CLI_PROGRESS_H
#define SLABCAST_CLI_PROGRESS_H

#include <pthread.h>
#include <stdint.h>

typedef enum progress_wait { WAIT_NONE, WAIT_BEGUN, WAIT_OVER } progress_wait;

typedef struct progress {
  const char *what, *unit; /* "casting", "rays": a plural by s */
  uint64_t base;           /* done before the current call; progress_of_cast counts from here */
  uint64_t span;           /* what the current call comes to, which may count its work in other units; 0: in these */
  uint64_t first, total;   /* where this run started (a resumed one does not at 0); 0: total unknown */
  uint64_t from;           /* done at `start`, from where the rate is counted */
  double start, drawn;
  int shown;          /* stderr is a terminal */
  progress_wait wait; /* for the first answers */
  int answers;        /* they were counted */
  int waits, told;    /* the wait goes on, its line is shown: the lock guards both */
  const char *device;
  pthread_t thread;
  pthread_mutex_t lock;
  pthread_cond_t answered;
} progress;

/* What empties the terminal's last row: by an escape sequence or, where NO_COLOR is set and not empty, by blanks. */
const char *terminal_wipe(void);

/* Seconds of a steady clock. */
double seconds_now(void);

progress progress_begin(const char *what, const char *unit, uint64_t first, uint64_t total);
/* Before a cast on this device, whose name must stay: where half a second goes by until progress_answered, progress_at
 * or progress_end, the line says what is waited for. The progress must not move meanwhile. From the second time on
 * nothing. */
void progress_await(progress *, const char *device);
/* The first answers are there. */
void progress_answered(progress *);
void progress_at(progress *, uint64_t done);
/* A slab_progress over a progress *: base and the share of span, or base + done. Never cancels. */
int progress_of_cast(void *user, uint64_t done, uint64_t total);
/* Wipes the line. */
void progress_end(progress *);

#endif
