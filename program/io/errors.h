/* Exit codes and error lines. */
#ifndef SLABCAST_PROGRAM_IO_ERRORS_H
#define SLABCAST_PROGRAM_IO_ERRORS_H

#include <string.h>

#include "base/formatted.h"
#include "slabcast.h"

/* A signal that ends the program is raised again after the clean-up, so that shells see the signal. */
enum exit_code {
  EXIT_DONE = 0,
  EXIT_FAILED = 1,
  EXIT_USAGE = 2,
  EXIT_MISMATCH = 3,
  EXIT_NO_DEVICE = 4,
  EXIT_CODE_COUNT
};

/* The text for users about an exit code. */
static inline const char *exit_meaning(enum exit_code code) {
  static const char *const meanings[EXIT_CODE_COUNT] = {"done", "failed", "usage", "a check found a mismatch",
                                                        "no device"};
  return meanings[code];
}

/* Bytes of a line's text; longer text is cut. A path fits, and so does a driver's log. */
enum { COMPLAINT_MAX = 1 << 14 };

/* Prints one line "slabcast: ..." to stderr. Control characters, which names of files may have, are escaped. A shown
 * progress line is overwritten. Each program defines it. */
void complain(const char *format, ...) FORMATTED(1, 2);

/* Prints "slabcast: WHAT: message of the library", a line for each of its own, and returns the exit code for the
 * status. */
static inline int complain_status(slab_status status, const char *what) {
  const char *line = slab_message()[0] ? slab_message() : slab_status_text(status);
  size_t length = strcspn(line, "\n");
  complain("%s: %.*s", what, (int)length, line);
  for (line += length; *line; line += length) {
    length = strcspn(++line, "\n");
    if (length > 0) complain("%.*s", (int)length, line);
  }
  return status == SLAB_NO_DEVICE ? EXIT_NO_DEVICE : EXIT_FAILED;
}

#endif
