/* Exit codes and error lines. */
#ifndef SLABCAST_CLI_ERRORS_H
#define SLABCAST_CLI_ERRORS_H

#include "slabcast.h"

/* The exit codes: name, number, what users are told of it. A signal that ends the program is raised again after the
 * clean-up, so that shells see the signal. */
#define EXIT_CODES(X)                             \
  X(EXIT_DONE, 0, "done")                         \
  X(EXIT_FAILED, 1, "failed")                     \
  X(EXIT_USAGE, 2, "usage")                       \
  X(EXIT_MISMATCH, 3, "a check found a mismatch") \
  X(EXIT_NO_DEVICE, 4, "no device")

#define EXIT_NAME(name, code, meaning) name = code,
enum exit_code { EXIT_CODES(EXIT_NAME) };
#undef EXIT_NAME

/* Prints one line "slabcast: ..." to stderr. A shown progress line is overwritten. Each program defines it. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints "slabcast: WHAT: message of the library" and returns the exit code for the status. */
static inline int complain_status(slab_status status, const char *what) {
  const char *message = slab_message();
  complain("%s: %s", what, message[0] ? message : slab_status_text(status));
  return status == SLAB_NO_DEVICE ? EXIT_NO_DEVICE : EXIT_FAILED;
}

#endif
