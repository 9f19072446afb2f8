/* A progress line on stderr: share done, rate, time left, as far as they fit the terminal. It is shown only on a
 * terminal, at most four times a second. Until the first answers it names the reason for the wait, since a driver may
 * compile kernels for seconds; the rate is counted from then on. */
#ifndef SLABCAST_PROGRAM_IO_PROGRESS_H
#define SLABCAST_PROGRAM_IO_PROGRESS_H

#include <stdint.h>

#include "os/clock.h"
#include "os/thread.h"

typedef enum progress_wait { WAIT_NONE, WAIT_BEGUN, WAIT_OVER } progress_wait;

typedef struct progress {
  const char *what, *unit; /* "casting", "rays": the plural with s */
  uint64_t base;           /* done before the current call; progress_of_cast adds to it */
  uint64_t span;           /* amount of the current call, which may count in other units; 0: it counts in these units */
  uint64_t first, total;   /* where this run started (not 0 for a resumed run); 0: total unknown */
  uint64_t from;           /* done at `start`; the rate is counted from here */
  double start, drawn;
  int shown;          /* stderr is a terminal */
  progress_wait wait; /* state of the wait for the first answers */
  int answers;        /* the first answers were counted */
  int waits, told;    /* the wait is in progress; its line is shown: both guarded by the lock */
  const char *device;
  os_thread thread;
  os_mutex lock;
  os_condition answered;
} progress;

/* Clears the terminal's last row, on stderr: by an escape sequence, or blanks if NO_COLOR is set and not empty. */
void terminal_wipe(void);

progress progress_begin(const char *what, const char *unit, uint64_t first, uint64_t total);
/* Call before a cast on this device; `device` must stay valid. If half a second passes before progress_answered,
 * progress_at or progress_end, the line names the reason for the wait. The progress must not move in memory meanwhile.
 * Later calls do nothing. */
void progress_await(progress *, const char *device);
/* Reports that the first answers have arrived. */
void progress_answered(progress *);
void progress_at(progress *, uint64_t done);
/* A slab_progress for a progress *: shows base plus the share of span, or base + done. Never cancels. */
int progress_of_cast(void *user, uint64_t done, uint64_t total);
/* Clears the line. */
void progress_end(progress *);

#endif
