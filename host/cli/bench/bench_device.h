/* OpenCL objects besides the library's: the kernels of kernels/ceiling.cl, buffers, and a profiling queue. */
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
  uint32_t lanes, chains; /* of the arithmetic kernels */
  size_t local, groups;   /* launch size that fills the device evenly */
  double sharers;         /* compute units, to divide processor seconds by; 0: the event's profiling times are used */
} bench_device;

/* All functions return an exit code and print errors. A bench_device is zeroed before it is opened; a zeroed one may be
 * closed. */
int bench_device_open(slab_context *, int processor_time, bench_device *);
void bench_device_close(bench_device *);

int bench_buffer(bench_device *, size_t size, cl_mem_flags flags, cl_mem *);
int bench_write(bench_device *, cl_mem, const void *bytes, size_t size);
int bench_read(bench_device *, cl_mem, void *bytes, size_t size);
int bench_argument(bench_device *, bench_kernel, cl_uint at, size_t size, const void *value);

/* Launches a kernel over the whole device, or as one work-item if `alone`, and waits. *seconds: as
 * bench_event_seconds. */
int bench_launch(bench_device *, bench_kernel, int alone, double *seconds);
/* Waits for an event and releases it. *seconds: its duration, either from its profiling times or from processor time.
 * The latter is the processor seconds since `begin` (read before the event was enqueued) divided by the compute
 * units. */
int bench_event_seconds(const bench_device *, cl_event, double begin, double *seconds);

int bench_failed(const char *call, cl_int code);

#endif
