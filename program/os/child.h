/* The program again, as a child that may crash. */
#ifndef PROGRAM_OS_CHILD_H
#define PROGRAM_OS_CHILD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

typedef struct os_limits {
  uint64_t memory_bytes;
  unsigned processor_seconds, seconds;
} os_limits;

typedef struct os_child {
  int64_t process;
  int from; /* what the child writes is read here */
} os_child;

/* Where a child writes to its parent. */
enum { OS_TO_PARENT = 3 };

/* Starts this program again, with two arguments; input: a file that becomes its standard input, above OS_TO_PARENT; -1:
 * none. 0, or an errno value. The child's other streams lead nowhere. */
int os_child_start(os_child *, char *first, char *second, int input);
/* A number for the file of a stream of stdio, as os_child_start takes it. -1 and errno: there is none. */
int os_child_input(FILE *);
/* In the child: from now on it ends at these limits, writes no file, and leaves no dump. memory: whether that is
 * limited too. */
void os_child_limit(const os_limits *, bool memory);

typedef enum os_ending {
  OS_ENDED,          /* with a code */
  OS_ENDED_BY_TIME,  /* at its limit of processor time */
  OS_ENDED_BY_CLOCK, /* at its limit of the clock on the wall */
  OS_ENDED_BY_PIPE,  /* since its parent had stopped reading */
  OS_ENDED_BY_A_CRASH
} os_ending;

typedef struct os_end {
  os_ending how;
  int code;         /* of the system: its own, or the signal's */
  const char *name; /* of a signal */
} os_end;

/* Stops reading, so that a child that still writes ends, and waits for its end. */
os_end os_child_end(os_child *);
/* The path by which a child opens its standard input. */
const char *os_stdin_path(void);

#endif
