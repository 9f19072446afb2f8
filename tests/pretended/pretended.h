/* A driver that pretends (host/gpu/driver.h): its devices are host memory, and their kernels the library's own of one
 * lane. A program that links slab_pretended has these devices in place of OpenCL's, and under its name in
 * SLABCAST_BACKENDS. The folder has the one symbol by which the registry finds that backend.
 *
 * It holds gpu/ to the seam. Each violation ends the program with a line that says so. Violations: a handle used after
 * its release, bytes outside a buffer, a group that a kernel does not allow, a wait that never began, a device closed
 * with a buffer. No byte follows a buffer, kernels cannot write what they only read, and bytes that nobody wrote are
 * NaN. */
#ifndef PRETENDED_H
#define PRETENDED_H

#include <stdbool.h>
#include <stdint.h>

#include "count.h"
#include "fail.h"

enum { PRETENDED_MOST = 4 };

/* When commands run. */
typedef enum pretended_pace {
  PRETENDED_AT_ONCE, /* each as it is enqueued */
  PRETENDED_LATE,    /* when somebody waits, and only what was flushed; of several queues in any order that their events
                        allow, drawn by chance, and the work-items of a kernel in any order */
  PRETENDED_TIMED    /* when a card with such a bus would end them: waits last until then. The work of bus and card
                        takes no processor: kernels do not run, and of transfers only small ones */
} pretended_pace;

/* The devices from the next listing on, and all else from now on. All zero, as at the start: one CPU. */
typedef struct pretended_kind {
  uint32_t devices; /* 0: one */
  bool is_gpu;
  bool is_uneven;           /* no two devices have the same name */
  uint64_t told, allocates; /* bytes of an allocation at most: as reported, and as it is. 0: 2^32; as told */
  uint32_t group;           /* work-items of a group of any kernel at most; 0: 1024 */
  pretended_pace pace;
  uint64_t seed;              /* of PRETENDED_LATE */
  double building, launching; /* seconds that a build takes, and a kernel on the last device */
  double bus, casting;        /* of PRETENDED_TIMED: bytes per second each way, work-items per second */
} pretended_kind;

/* Call it while no other thread uses a device. */
void pretended_as(const pretended_kind *);
/* The same by PRETENDED_AS=NAME:VALUE,... of the environment, with the names above. */
void pretended_by_environment(void);

/* As in fail.h, of the functions of the table that can fail; their names begin with "pretended_". `code` is OpenCL's,
 * and says whether memory is short. FAIL_LATE: of the commands that have an event. */
void pretended_arm(unsigned nth, fail_mode, int code);
void pretended_fail_call(const char *name, unsigned nth, int code);
fail_report pretended_disarm(void);

/* Handles that were not released: buffers, queues, events, programs, kernels, mappings, devices. */
count_live pretended_live(void);

/* Counts of all devices' work since pretended_forget. */
typedef struct pretended_counts {
  unsigned buffers, refused; /* refused: larger than an allocation can be */
  uint64_t largest;          /* bytes of a buffer */
  uint64_t up, down;         /* bytes copied to buffers, and from them */
  unsigned builds, shared, launches, cut, reads, mapped, pinned, copies;
  unsigned unflushed; /* commands that a wait began, which no flush had begun before */
  uint64_t items[PRETENDED_MOST];
} pretended_counts;

pretended_counts pretended_seen(void);
void pretended_forget(void);

#endif
