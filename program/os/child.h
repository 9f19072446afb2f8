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
  int from; /* the child's output is read here */
} os_child;

/* Where a child writes to its parent. */
enum { OS_TO_PARENT = 3 };

/* The file of this program, in `path` of OS_PATH_MAX bytes, which os_child_start starts. NULL and errno: the system
 * does not report it. */
const char *os_own_path(char *path);
/* Starts this program again, with two arguments. input: a file of os_open_temporary that becomes its standard input;
 * NULL: none. 0, or an errno value. The child's other streams lead nowhere. */
int os_child_start(os_child *, const char *first, const char *second, FILE *input);
/* The path by which a child opens its input, without an ending, in memory of the caller's. NULL and errno: it has
 * none. */
char *os_child_input(FILE *input);
/* In the child: from now on it ends at these limits and leaves no dump. Where the system supports that, it writes no
 * file. memory: whether that is limited too. */
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
  int code;    /* of OS_ENDED */
  char by[64]; /* else the cause, as the system calls it, such as "signal 11, Segmentation fault" */
} os_end;

/* Stops reading, so that a child that still writes ends, and waits for its end. */
os_end os_child_end(os_child *);

#endif
