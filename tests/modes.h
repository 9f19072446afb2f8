/* How a caller's thread may compute when it calls the library. */
#ifndef MODES_H
#define MODES_H

#include <stdbool.h>
#include <stddef.h>

typedef struct mode {
  const char *name;
  int round;           /* of fesetround */
  unsigned set, clear; /* further bits of MXCSR; 0 where there is no such register */
} mode;

/* The first is the default. An exception flag is up in each, so that one that is lost shows. */
extern const mode modes[];
extern const size_t mode_count;
/* Flushes results and operands, and rounds up. */
extern const mode worst_mode;

void mode_set(const mode *);
/* Whether the thread computes as mode_set left it, exception flags included; on x86 its x87 half too. */
bool mode_holds(const mode *);
void mode_end(void);

#endif
