#include "police.h"

#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void police_ends_with(const char *format, ...) {
  va_list values;
  va_start(values, format);
  fputs("pretended driver: ", stderr);
  vfprintf(stderr, format, values);
  fputs("\n", stderr);
  va_end(values);
  abort();
}

static const char *running; /* one kernel at a time */
static struct sigaction before[2];
static const int caught[2] = {SIGSEGV, SIGBUS};

static void on_signal(int number) {
  static const char begin[] = "pretended driver: memory that is no buffer's, or that this kernel may not write: ";
  (void)number;
  if (write(STDERR_FILENO, begin, sizeof begin - 1) < 0 || write(STDERR_FILENO, running, strlen(running)) < 0) _exit(1);
  if (write(STDERR_FILENO, "\n", 1) < 0) _exit(1);
  _exit(1);
}

void police_kernel_begins(const char *name) {
  const struct sigaction own = {.sa_handler = on_signal};
  running = name;
  for (int i = 0; i < 2; i++) sigaction(caught[i], &own, &before[i]);
}

void police_kernel_ends(void) {
  for (int i = 0; i < 2; i++) sigaction(caught[i], &before[i], NULL);
}
