/* The caller's part of slabcast_cuda.h: a context that is current, streams and device memory, on the stand-in. */
#ifndef CUDA_CALLER_H
#define CUDA_CALLER_H

#include "harness.h"
#include "slabcast_cuda.h"
#include "standin.h"

/* Fails the test unless the call of the interface succeeds. */
#define assert_cu(call) assert_int_equal((call), CUDA_SUCCESS)

/* The caller's context and stream, and the library on them. */
typedef struct caller {
  CUcontext context;
  CUstream stream;
  slab_context *slab;
} caller;

/* The primary context of the first card becomes current. */
caller caller_begin(void);
/* Fails the test unless the library has left the context current. */
void caller_end(const caller *);

/* Device memory with a copy of the bytes (NULL: of none), which the caller frees. */
CUdeviceptr caller_upload(const caller *, const void *bytes, size_t size);
static inline void *caller_pointer(CUdeviceptr at) { return (void *)(uintptr_t)at; }

/* Runs `job` once for each of its calls of the interface that can fail, which then fails, and once without a failure.
 * Failures are by turns a lack of memory and another code. `job` returns its status; a failure must leave a message.
 * Returns the number of failed calls. *told: the number of jobs that reported one. */
unsigned caller_strike(slab_status (*job)(void *user), void *user, unsigned *told);

#endif
