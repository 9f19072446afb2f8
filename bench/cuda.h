/* What of NVIDIA's driver interface bench_ptx calls, declared anew: no toolkit is needed to build it, and the library
 * is opened when it runs. Names, types and numbers are the interface's. */
#ifndef SLABCAST_BENCH_CUDA_H
#define SLABCAST_BENCH_CUDA_H

#include <stddef.h>

typedef int CUresult; /* 0: done */
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6, CU_FUNC_ATTRIBUTE_NUM_REGS = 4 };

/* Result, name and parameters of each function, which the library has under `symbol`. */
#define CUDA_FUNCTIONS(F)                                                                               \
  F(cuInit, "cuInit", (unsigned flags))                                                                 \
  F(cuDeviceGet, "cuDeviceGet", (CUdevice *, int ordinal))                                              \
  F(cuDeviceGetName, "cuDeviceGetName", (char *name, int size, CUdevice))                               \
  F(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                      \
  F(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                              \
  F(cuCtxSetCurrent, "cuCtxSetCurrent", (CUcontext))                                                    \
  F(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                       \
  F(cuGetErrorString, "cuGetErrorString", (CUresult, const char **text))                                \
  F(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                           \
    (CUmodule *, const void *image, unsigned options, const int *names, void **values))                 \
  F(cuModuleUnload, "cuModuleUnload", (CUmodule))                                                       \
  F(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *name))             \
  F(cuFuncGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, CUfunction))                  \
  F(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t bytes))                                         \
  F(cuMemFree, "cuMemFree_v2", (CUdeviceptr))                                                           \
  F(cuMemcpyHtoD, "cuMemcpyHtoD_v2", (CUdeviceptr to, const void *from, size_t bytes))                  \
  F(cuMemcpyDtoH, "cuMemcpyDtoH_v2", (void *to, CUdeviceptr from, size_t bytes))                        \
  F(cuLaunchKernel, "cuLaunchKernel",                                                                   \
    (CUfunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y, \
     unsigned block_z, unsigned shared_bytes, CUstream, void **parameters, void **extra))               \
  F(cuEventCreate, "cuEventCreate", (CUevent *, unsigned flags))                                        \
  F(cuEventRecord, "cuEventRecord", (CUevent, CUstream))                                                \
  F(cuEventElapsedTime, "cuEventElapsedTime", (float *milliseconds, CUevent begin, CUevent end))        \
  F(cuEventDestroy, "cuEventDestroy_v2", (CUevent))

#endif
