/* NVIDIA's driver interface, as far as it is called, declared anew: no toolkit is needed to build against it, and the
 * library is opened when it is first needed. Names, types and numbers are the interface's. */
#ifndef SLABCAST_CUDA_API_H
#define SLABCAST_CUDA_API_H

#include <stddef.h>

#ifdef _WIN32
#define CUDA_LIBRARY "nvcuda.dll"
#else
#define CUDA_LIBRARY "libcuda.so.1"
#endif

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct CUuuid {
  unsigned char bytes[16];
} CUuuid;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUstream_st *CUstream;
typedef struct CUevent_st *CUevent;

enum {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_NO_DEVICE = 100,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES = 701
};
enum { CU_JIT_ERROR_LOG_BUFFER = 5, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES = 6 };
enum { CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK = 0, CU_FUNC_ATTRIBUTE_NUM_REGS = 4 };
enum { CU_STREAM_NON_BLOCKING = 1, CU_EVENT_DISABLE_TIMING = 2, CU_MEMHOSTALLOC_PORTABLE = 1 };
enum { CU_MEMORYTYPE_HOST = 1, CU_MEMORYTYPE_DEVICE = 2 };
enum {
  CU_DEVICE_ATTRIBUTE_CLOCK_RATE = 13, /* kHz */
  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT = 16,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR = 75,
  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR = 76
};
enum {
  CU_POINTER_ATTRIBUTE_MEMORY_TYPE = 2,
  CU_POINTER_ATTRIBUTE_RANGE_START_ADDR = 11,
  CU_POINTER_ATTRIBUTE_RANGE_SIZE = 12
};

/* A copy of rows; members that are not set here are 0, as for a copy within the device. */
typedef struct CUDA_MEMCPY2D {
  size_t srcXInBytes, srcY;
  int srcMemoryType;
  const void *srcHost;
  CUdeviceptr srcDevice;
  void *srcArray;
  size_t srcPitch, dstXInBytes, dstY;
  int dstMemoryType;
  void *dstHost;
  CUdeviceptr dstDevice;
  void *dstArray;
  size_t dstPitch, WidthInBytes, Height;
} CUDA_MEMCPY2D;

/* X(name, symbol, parameters): each function, and how the library calls it. They return a CUresult. */
#define CUDA_FUNCTIONS(X)                                                                                  \
  X(cuInit, "cuInit", (unsigned flags))                                                                    \
  X(cuDriverGetVersion, "cuDriverGetVersion", (int *version))                                              \
  X(cuGetErrorName, "cuGetErrorName", (CUresult, const char **name))                                       \
  X(cuDeviceGetCount, "cuDeviceGetCount", (int *count))                                                    \
  X(cuDeviceGet, "cuDeviceGet", (CUdevice *, int ordinal))                                                 \
  X(cuDeviceGetName, "cuDeviceGetName", (char *name, int size, CUdevice))                                  \
  X(cuDeviceGetAttribute, "cuDeviceGetAttribute", (int *value, int attribute, CUdevice))                   \
  X(cuDeviceGetUuid, "cuDeviceGetUuid", (CUuuid *, CUdevice))                                              \
  X(cuDeviceTotalMem, "cuDeviceTotalMem_v2", (size_t * bytes, CUdevice))                                   \
  X(cuDevicePrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (CUcontext *, CUdevice))                         \
  X(cuDevicePrimaryCtxRelease, "cuDevicePrimaryCtxRelease_v2", (CUdevice))                                 \
  X(cuCtxPushCurrent, "cuCtxPushCurrent_v2", (CUcontext))                                                  \
  X(cuCtxPopCurrent, "cuCtxPopCurrent_v2", (CUcontext *))                                                  \
  X(cuCtxGetDevice, "cuCtxGetDevice", (CUdevice *))                                                        \
  X(cuCtxSynchronize, "cuCtxSynchronize", (void))                                                          \
  X(cuModuleLoadDataEx, "cuModuleLoadDataEx",                                                              \
    (CUmodule *, const void *image, unsigned options, int *names, void **values))                          \
  X(cuModuleUnload, "cuModuleUnload", (CUmodule))                                                          \
  X(cuModuleGetFunction, "cuModuleGetFunction", (CUfunction *, CUmodule, const char *name))                \
  X(cuFuncGetAttribute, "cuFuncGetAttribute", (int *value, int attribute, CUfunction))                     \
  X(cuMemAlloc, "cuMemAlloc_v2", (CUdeviceptr *, size_t bytes))                                            \
  X(cuMemFree, "cuMemFree_v2", (CUdeviceptr))                                                              \
  X(cuMemHostAlloc, "cuMemHostAlloc", (void **, size_t bytes, unsigned flags))                             \
  X(cuMemFreeHost, "cuMemFreeHost", (void *))                                                              \
  X(cuMemcpyHtoDAsync, "cuMemcpyHtoDAsync_v2", (CUdeviceptr to, const void *from, size_t bytes, CUstream)) \
  X(cuMemcpyDtoHAsync, "cuMemcpyDtoHAsync_v2", (void *to, CUdeviceptr from, size_t bytes, CUstream))       \
  X(cuMemcpyDtoDAsync, "cuMemcpyDtoDAsync_v2", (CUdeviceptr to, CUdeviceptr from, size_t bytes, CUstream)) \
  X(cuMemcpy2DAsync, "cuMemcpy2DAsync_v2", (const CUDA_MEMCPY2D *, CUstream))                              \
  X(cuPointerGetAttribute, "cuPointerGetAttribute", (void *value, int attribute, CUdeviceptr))             \
  X(cuStreamCreate, "cuStreamCreate", (CUstream *, unsigned flags))                                        \
  X(cuStreamDestroy, "cuStreamDestroy_v2", (CUstream))                                                     \
  X(cuStreamGetCtx, "cuStreamGetCtx", (CUstream, CUcontext *))                                             \
  X(cuStreamQuery, "cuStreamQuery", (CUstream))                                                            \
  X(cuStreamSynchronize, "cuStreamSynchronize", (CUstream))                                                \
  X(cuStreamWaitEvent, "cuStreamWaitEvent", (CUstream, CUevent, unsigned flags))                           \
  X(cuEventCreate, "cuEventCreate", (CUevent *, unsigned flags))                                           \
  X(cuEventRecord, "cuEventRecord", (CUevent, CUstream))                                                   \
  X(cuEventSynchronize, "cuEventSynchronize", (CUevent))                                                   \
  X(cuEventDestroy, "cuEventDestroy_v2", (CUevent))                                                        \
  X(cuLaunchKernel, "cuLaunchKernel",                                                                      \
    (CUfunction, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,    \
     unsigned block_z, unsigned shared_bytes, CUstream, void **parameters, void **extra))

typedef struct cuda_functions {
#define CUDA_FUNCTION(name, symbol, parameters) CUresult(*name) parameters;
  CUDA_FUNCTIONS(CUDA_FUNCTION)
#undef CUDA_FUNCTION
} cuda_functions;

#endif
