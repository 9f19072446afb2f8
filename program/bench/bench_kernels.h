/* The kernels of kernels/ceiling.cl, which OpenCL compiles when it runs and cmake/native.cmake for processors. */
#ifndef SLABCAST_PROGRAM_BENCH_BENCH_KERNELS_H
#define SLABCAST_PROGRAM_BENCH_BENCH_KERNELS_H

#include <stddef.h>
#include <stdint.h>

typedef enum bench_kernel {
  KERNEL_ADD_MUL,
  KERNEL_MIN_MAX,
  KERNEL_SLAB_MIX,
  KERNEL_READ,
  KERNEL_COPY,
  KERNEL_NOTHING,
  BENCH_KERNELS
} bench_kernel;

/* A kernel as a C function. work_item is its first parameter, see kernels/lanes/prelude.h. */
typedef void bench_work(size_t work_item, const void *from, void *to, uint32_t n, float first, float a, float b);

/* The kernels that were compiled for one instruction set. The levels of a processor differ in their lanes. */
typedef struct bench_level {
  uint32_t lanes, chains;
  bench_work *kernels[BENCH_KERNELS];
} bench_level;

/* Up to one of 0 lanes. */
extern const bench_level bench_levels[];

#endif
