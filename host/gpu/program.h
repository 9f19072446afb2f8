/* Kernels: built once for each specialisation, and launched. */
#ifndef SLABCAST_GPU_PROGRAM_H
#define SLABCAST_GPU_PROGRAM_H

#include <stdbool.h>

#include "gpu/gpu.h"
#include "gpu/program_key.h"
#include "slabcast.h"

/* A launch of the nth kernel of a program. */
typedef struct kernel_run {
  program_key key;
  uint32_t nth;
  const gpu_argument *arguments;
  uint32_t count;      /* of arguments */
  size_t items, group; /* items: one or more, rounded up to whole groups. group: work-items, or the largest power of two
                          that the kernel allows */
  gpu_queue *queue;
  gpu_order order;
  const char *what; /* in messages */
} kernel_run;

/* Arguments of a kernel_run. */
#define BUFFER_ARGUMENT(its_buffer) \
  (gpu_argument) { .buffer = (its_buffer) }
#define VALUE_ARGUMENT(variable) \
  (gpu_argument) { .size = sizeof(variable), .value = &(variable) }

/* Sets a kernel's first `count` arguments. The kernel is the caller's alone. */
slab_status kernel_set(const gpu_driver *, gpu_kernel *, const gpu_argument *, uint32_t count, const char *what);
/* Finds the kernel, sets its arguments and launches it. Builds the program where needed, and then releases the device's
 * lock, which the caller must not hold. *first_use becomes true where the kernel was not used before, or this call has
 * waited for its build. */
slab_status program_run(device *, const kernel_run *, bool *first_use);
/* Whether a cast should use an optional kernel that only makes it faster: the kernel exists already, or building it
 * pays. The device's lock must be held. */
bool program_pays(const device *, const program_key *, uint32_t nth);
void programs_free(const device *, program *);

#endif
