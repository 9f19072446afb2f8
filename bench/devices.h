/* Which of our devices a benchmark measures. */
#ifndef SLABCAST_BENCH_DEVICES_H
#define SLABCAST_BENCH_DEVICES_H

#include "slabcast.h"

enum { DEVICES_DEFAULT = 2, DEVICE_SELECTOR = 24 };

/* The devices that are measured where none is named: "cpu" and, where that is the processor, also the first CPU device
 * of OpenCL. Returns how many selectors it wrote. */
int devices_default(char selectors[DEVICES_DEFAULT][DEVICE_SELECTOR]);

/* The threads of the side that a device is compared with. They are a CPU device's own; for other devices those of the
 * first CPU device; 1 where there is none. */
uint32_t devices_threads(const slab_device_info *);

#endif
