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
