/* Tests how a device computes, independent of what it reports. */
#ifndef SLABCAST_OPENCL_PROBE_H
#define SLABCAST_OPENCL_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

struct device;

/* One operation of kernels/data/probed.h on three operands, with its correct result. */
typedef union probe_value {
  float real;
  uint32_t word;
} probe_value;

typedef struct probe_case {
  unsigned operation;
  float operands[3];
  probe_value right;
  probe_value flushed; /* the result where subnormal numbers are flushed; else equal to right */
} probe_case;

extern const probe_case probe_cases[];
extern const size_t probe_case_count;

/* Tests a device that has its context and queue, once per process and kind of kernel build. It stores the result in the
 * device. info.denormals and info.exact_divide become 0 where they were found to be false. has_double becomes false
 * where division through double is wrong as well. SLAB_UNSUPPORTED, with the wrong result in the message, where the
 * contract cannot be kept. */
slab_status probe_device(struct device *);

/* For tests: forgets all results, so that the next context tests its devices again. */
void probe_forget(void);

#endif
