/* What the slowing layer lets a test order. */
#ifndef SLOW_H
#define SLOW_H

enum { SLOW_DEVICES = 8 };

/* From now on kernels of this device, counted as its platform lists them, take `factor` times as long; the counts of
 * launches begin anew. */
typedef void slow_arm(unsigned device, double factor);
/* Work-items launched on this device since. */
typedef unsigned long long slow_items(unsigned device);

#endif
