/* The stand-in's functions for tests: NVIDIA's interface as the library calls it, other functions of it that callers
 * use, and controls of the stand-in. */
#ifndef CUDA_STANDIN_H
#define CUDA_STANDIN_H

#include <stdint.h>

#include "cuda/api.h"

#define STANDIN __attribute__((visibility("default")))
#define STANDIN_DECLARE(name, symbol, parameters) STANDIN CUresult name parameters __asm__(symbol);
CUDA_FUNCTIONS(STANDIN_DECLARE)
#undef STANDIN_DECLARE
STANDIN CUresult cuCtxCreate(CUcontext *, unsigned flags, CUdevice) __asm__("cuCtxCreate_v2");
STANDIN CUresult cuCtxDestroy(CUcontext) __asm__("cuCtxDestroy_v2");
STANDIN CUresult cuCtxGetCurrent(CUcontext *) __asm__("cuCtxGetCurrent");
STANDIN CUresult cuMemHostRegister(void *, size_t bytes, unsigned flags) __asm__("cuMemHostRegister_v2");
STANDIN CUresult cuMemHostUnregister(void *) __asm__("cuMemHostUnregister");
STANDIN CUresult cuEventQuery(CUevent) __asm__("cuEventQuery"); /* of the Python package */
STANDIN CUresult cuFuncGetParamInfo(CUfunction, size_t n, size_t *offset,
                                    size_t *size) __asm__("cuFuncGetParamInfo"); /* of the same */
STANDIN CUresult cuMemsetD32Async(CUdeviceptr, unsigned word, size_t count,
                                  CUstream) __asm__("cuMemsetD32Async"); /* of the same */
STANDIN CUresult cuEventElapsedTime(float *milliseconds, CUevent from, CUevent to) __asm__("cuEventElapsedTime");

/* The nth call from now on that can fail does, once; 0: none. Whether the one before has been reached. */
STANDIN int standin_fail(unsigned long later, CUresult code);
/* A stream that is held runs nothing: a call that waits for it ends the process. */
STANDIN void standin_hold(CUstream, int held);
/* Bytes copied from and to memory that is registered, since the last call. */
STANDIN uint64_t standin_registered(void);
/* Bytes of each card from now on; 0: as the environment says. */
STANDIN void standin_memory(size_t bytes);

#endif
