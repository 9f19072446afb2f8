/* How many processors this process may use, and which instructions they have. */
#ifndef SLABCAST_BASE_PROCESSORS_H
#define SLABCAST_BASE_PROCESSORS_H

#include <stdbool.h>
#include <stdint.h>

/* The processors of the calling thread's affinity, or the quota of the process's control groups where that is less,
 * rounded up; at least 1. */
uint32_t processors_allowed(void);

/* The least quota of the control groups that the file `groups` lists, and of those above them, in processors; infinite
 * where there is none. `groups` is /proc/self/cgroup, `mount` is /sys/fs/cgroup; others in tests. */
double processors_quota(const char *groups, const char *mount);

#ifdef __x86_64__
/* Which of x86-64's levels the processor has (System V ABI, "x86-64 psABI", table of micro-architecture levels), where
 * the system saves their registers: 3, 4; 0: neither. */
int x86_level(void);
/* Whether it has fma, and the rest of level 3. */
extern bool x86_has_fma;
#endif

#endif
