/* How many processors this process may use. */
#ifndef SLABCAST_BASE_PROCESSORS_H
#define SLABCAST_BASE_PROCESSORS_H

#include <stdint.h>

/* The processors of the calling thread's affinity, or the quota of the process's control groups where that is less,
 * rounded up; at least 1. */
uint32_t processors_allowed(void);

/* The least quota of the control groups that the file `groups` lists, and of those above them, in processors; infinite
 * where there is none. `groups` is /proc/self/cgroup, `mount` is /sys/fs/cgroup; others in tests. */
double processors_quota(const char *groups, const char *mount);

#endif
