/* The interface between a test and the slowing layer. */
#ifndef SLOW_H
#define SLOW_H

enum { SLOW_DEVICES = 8 };

/* From now on, a launch on this device takes at least this many nanoseconds per work-item (0: no minimum). `device`
 * is the index in its platform's list. Resets the counts of work-items. */
typedef void slow_arm(unsigned device, double nanoseconds);
/* Work-items launched on this device since slow_arm. */
typedef unsigned long long slow_items(unsigned device);

#endif
