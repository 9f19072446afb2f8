/* Host memory that runs out by order. */
#ifndef FAULTS_MEMORY_H
#define FAULTS_MEMORY_H

#include "fail.h"

/* As fail.h says, over allocations: FAIL_ENTRY is FAIL_ALL, the code is not used, `first` is "memory". */
void memory_arm(unsigned nth, fail_mode mode, int code);
fail_report memory_disarm(void);
/* Blocks of memory that our objects hold. */
long long memory_live(void);

#endif
