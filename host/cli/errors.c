#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

void complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  flockfile(stderr); /* a line is a line, whichever thread it comes from */
  fputs(isatty(STDERR_FILENO) ? "\r\033[Kslabcast: " : "slabcast: ", stderr);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
  va_end(arguments);
}

int complain_status(slab_status status, const char *what) {
  const char *message = slab_message();
  complain("%s: %s", what, message[0] ? message : slab_status_text(status));
  return status == SLAB_NO_DEVICE ? EXIT_NO_DEVICE : EXIT_FAILED;
}
