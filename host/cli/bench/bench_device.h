/* OpenCL beside the library's: the kernels of kernels/ceiling.cl, buffers, and a queue that tells times. */
#ifndef SLABCAST_CLI_BENCH_DEVICE_H
#define SLABCAST_CLI_BENCH_DEVICE_H

#include "slabcast_cl.h"

typedef enum bench_kernel {
  KERNEL_ADD_MUL,
  KERNEL_MIN_MAX,
  KERNEL_SLAB_MIX,
  KERNEL_READ,
  KERNEL_COPY,
  KERNEL_NOTHING,
  BENCH_KERNELS
} bench_kernel;

typedef struct bench_device {
  cl_context context;
  cl_device_id id;
  cl_command_queue queue;
  cl_program program;
  cl_kernel kernels[BENCH_KERNELS];
  uint32_t lanes, chains; /* of arithmetic */
  size_t local, groups;   /* a launch that fills the device evenly */
  double sharers;         /* of the processor's seconds: compute units; 0: the wall's are taken */
} bench_device;

/* All return an exit code, errors printed. A device is zero before it is opened, and may be closed then. */
int bench_device_open(slab_context *, int processor_time, bench_device *);
void bench_device_close(bench_device *);

int bench_buffer(bench_device *, size_t size, cl_mem_flags flags, cl_mem *);
int bench_write(bench_device *, cl_mem, const void *bytes, size_t size);
int bench_read(bench_device *, cl_mem, void *bytes, size_t size);
int bench_argument(bench_device *, bench_kernel, cl_uint at, size_t size, const void *value);

/* Launches it over the whole device, or as one work-item, and waits. Of *seconds: bench_event_seconds. */
int bench_launch(bench_device *, bench_kernel, int alone, double *seconds);
/* Waits for an event, releases it, and tells how long it ran: by its own times, or of the processor's seconds, which
 * were `begin` before it was enqueued, a compute unit's part. */
int bench_event_seconds(const bench_device *, cl_event, double begin, double *seconds);

int bench_failed(const char *call, cl_int code);

#endif
