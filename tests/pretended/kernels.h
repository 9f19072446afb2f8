/* Kernels of the driver that pretends: the processor's own of one lane, and three that are compiled for these tests.
 * These are refits, scenes that are cut over four buffers, and lists of hits of wide BVHs. */
#ifndef PRETENDED_KERNELS_H
#define PRETENDED_KERNELS_H

#include "buffers.h"
#include "data/types.h"
#include "gpu/driver.h"

enum { KERNEL_ARGUMENTS = 20, KERNEL_VALUE = 192 };

typedef enum parameter_kind { READS, MAY_READ, WRITES, MAY_WRITE, VALUE } parameter_kind;

typedef struct parameter {
  parameter_kind kind; /* MAY_: the buffer may be NULL */
  size_t size;         /* of a value */
} parameter;

/* A program, as its key says. part_units, part_nodes: of scenes that are cut. */
typedef struct program_made {
  program_key key;
  uint32_t part_units, part_nodes;
} program_made;

typedef union argument_given {
  gpu_buffer *buffer;
  unsigned char value[KERNEL_VALUE];
} argument_given;

/* A kernel, and its arguments as they were set. */
typedef struct kernel_made {
  program_made program;
  uint32_t nth, count;
  parameter parameters[KERNEL_ARGUMENTS];
  argument_given given[KERNEL_ARGUMENTS];
  uint32_t set; /* how many, from the first */
  size_t group; /* work-items of a group at most */
} kernel_made;

/* A launch. */
typedef struct kernel_call {
  program_made program;
  uint32_t nth;
  const char *name;
  size_t items;
  uint64_t first, step; /* the order of the work-items: i * step + first, in their number */
  buffer *buffers[KERNEL_ARGUMENTS];
  unsigned char values[5][KERNEL_VALUE]; /* those of the arguments that are values, in their order */
  bool writes[KERNEL_ARGUMENTS];
} kernel_call;

/* Whether there is text for it. */
bool kernels_has(const program_key *, uint32_t nth);
const char *kernels_name(const program_key *, uint32_t nth);
/* Fills in parameters and count. */
void kernels_describe(kernel_made *);
void kernels_run(const kernel_call *);

#endif
