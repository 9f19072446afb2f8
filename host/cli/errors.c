#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "io/progress.h"

void complain(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  flockfile(stderr); /* keeps lines of different threads apart */
  fprintf(stderr, "%sslabcast: ", isatty(STDERR_FILENO) ? terminal_wipe() : "");
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
  funlockfile(stderr);
  va_end(arguments);
}
