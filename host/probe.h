/* What a device really does, whatever it reports. */
#ifndef SLABCAST_PROBE_H
#define SLABCAST_PROBE_H

#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

struct device;

/* One operation of kernels/probed.h on three operands, and what is right. */
typedef union probe_value {
  float real;
  uint32_t word;
} probe_value;

typedef struct probe_case {
  unsigned operation;
  float operands[3];
  probe_value right;
  probe_value flushed; /* what it is where subnormal numbers are flushed; else as right */
} probe_case;

extern const probe_case probe_cases[];
extern const size_t probe_case_count;

/* Asks a device that has its context and queue, once in the life of the process and for each way of building kernels,
 * and enters in it what was found: info.denormals and info.exact_divide cease to be true, has_double where division
 * through double is wrong as well. SLAB_UNSUPPORTED with what was seen where the contract cannot be kept. */
slab_status probe_device(struct device *);

/* For tests: the next context asks again. */
void probe_forget(void);

#endif
