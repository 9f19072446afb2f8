/* What the slowing layer lets a test order. */
#ifndef SLOW_H
#define SLOW_H

enum { SLOW_DEVICES = 8 };

/* From now on a launch on this device, counted as its platform lists them, lasts so many nanoseconds a work-item at
 * least (0: as long as it lasts); the counts of launches begin anew. */
typedef void slow_arm(unsigned device, double nanoseconds);
/* Work-items launched on this device since. */
typedef unsigned long long slow_items(unsigned device);

#endif
