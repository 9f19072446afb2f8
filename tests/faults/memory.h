/* Host memory and threads that fail on request. */
#ifndef FAULTS_MEMORY_H
#define FAULTS_MEMORY_H

#include "fail.h"

/* The same as in fail.h, for allocations. FAIL_ENTRY acts as FAIL_ALL, the code is not used, and `first` is
 * "memory". */
void memory_arm(unsigned nth, fail_mode mode, int code);
fail_report memory_disarm(void);
/* Blocks of memory that our objects hold now. */
long long memory_live(void);

/* The same for pthread_create. Every failure counts as spared, because the pool's callers then work alone. */
void threads_arm(unsigned nth, fail_mode mode, int code);
fail_report threads_disarm(void);

#endif
