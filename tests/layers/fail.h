/* What the failing layer, and the failing host memory of tests/faults, let a test order. */
#ifndef FAIL_H
#define FAIL_H

typedef enum fail_mode {
  FAIL_ONCE,  /* the nth call alone */
  FAIL_ENTRY, /* it, and every later call of the same function: it has ceased to work */
  FAIL_ALL,   /* it, and every later call of whatever function: the device is lost */
  FAIL_LATE   /* the nth launch of a kernel is accepted and fails while it runs */
} fail_mode;

typedef struct fail_report {
  unsigned calls, failed; /* since fail_arm */
  unsigned spared;        /* of the failed: calls for pinned memory, without which a cast goes on */
  const char *first;      /* the function that failed first, of those that were not spared; NULL: none did */
} fail_report;

/* Fails the nth call from now on, counted from 1 over all functions (over launches for FAIL_LATE), with this OpenCL
 * code; 0: counts alone. */
typedef void fail_arm(unsigned nth, fail_mode mode, int code);
/* The same, once, for the nth call of one function, whose name must last. */
typedef void fail_call(const char *name, unsigned nth, int code);
typedef fail_report fail_disarm(void);

#endif
