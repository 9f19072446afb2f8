#include "program/mpi/complaints.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "program/io/errors.h"
#include "program/io/text.h"

/* Global, because complain() has no argument for it. */
static struct complaints {
  int keep, rank, ranks;
  size_t length;
  char lines[1 << 14];
} complaints;

void complain(const char *format, ...) {
  struct complaints *c = &complaints;
  if (!c->keep) c->length = 0;
  char text[COMPLAINT_MAX];
  const size_t space = sizeof c->lines - c->length;
  char *line = c->lines + c->length;
  int size = c->ranks > 1 ? snprintf(line, space, "slabcast: rank %d of %d: ", c->rank, c->ranks)
                          : snprintf(line, space, "slabcast: ");
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  if ((size_t)size < space) {
    text_printable(text, line + size, space - (size_t)size);
    size += (int)strlen(line + size);
  }
  if ((size_t)size + 1 >= space) return; /* lines that do not fit are dropped; the first always fits */
  memcpy(line + size, "\n", 2);
  c->length += (size_t)size + 1;
  if (!c->keep) complaints_say();
}

void complaints_keep(int rank, int ranks) {
  complaints.keep = 1;
  complaints.rank = rank;
  complaints.ranks = ranks;
}

void complaints_say(void) {
  fwrite(complaints.lines, 1, complaints.length, stderr);
  complaints_drop();
}

void complaints_drop(void) { complaints.length = 0; }
