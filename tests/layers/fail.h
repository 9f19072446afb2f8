/* The interface between a test and the failing layer; also that of the failing host memory of tests/faults. */
#ifndef FAIL_H
#define FAIL_H

typedef enum fail_mode {
  FAIL_ONCE,  /* the nth call alone */
  FAIL_ENTRY, /* the nth call and every later call of the same function: the function has stopped working */
  FAIL_ALL,   /* the nth call and every later call of any function: the device is lost */
  FAIL_LATE   /* the nth launch of a kernel is accepted, then fails while it runs */
} fail_mode;

typedef struct fail_report {
  unsigned calls, failed; /* since fail_arm */
  unsigned spared;        /* failed calls for pinned memory, without which a cast continues */
  const char *first;      /* the function that failed first and was not spared; NULL: none */
} fail_report;

/* From now on, the nth call fails with this OpenCL code. Calls are counted from 1 over all functions; for FAIL_LATE,
 * over kernel launches. nth 0: only counts. */
typedef void fail_arm(unsigned nth, fail_mode mode, int code);
/* The same, once, for the nth call of one function. The string `name` must stay valid. */
typedef void fail_call(const char *name, unsigned nth, int code);
typedef fail_report fail_disarm(void);

#endif
