/* PER_PROCESSOR: before a function, clones it for processors with fma in hardware, which is chosen when the program
 * starts. Same bits, since contraction is off, and several times the speed where fmaf would be a call. */
#ifndef SLABCAST_BASE_PER_PROCESSOR_H
#define SLABCAST_BASE_PER_PROCESSOR_H

#include "base/sanitized.h"

#if defined(__x86_64__) && defined(__GLIBC__) && !SANITIZED
#define PER_PROCESSOR __attribute__((target_clones("default", "fma")))
#else
#define PER_PROCESSOR
#endif

#endif
