/* NVIDIA's compiler of CUDA C++ at run time. Nothing of the library needs it but kernels of the user's: it is loaded by
 * the first of these. */
#ifndef SLABCAST_CUDA_NVRTC_H
#define SLABCAST_CUDA_NVRTC_H

#include <stddef.h>

#include "base/status.h"

typedef int nvrtcResult;
typedef struct _nvrtcProgram *nvrtcProgram;
enum { NVRTC_SUCCESS = 0, NVRTC_ERROR_OUT_OF_MEMORY = 1, NVRTC_ERROR_COMPILATION = 6 };

/* X(name, parameters): each function. They return an nvrtcResult. */
#define NVRTC_FUNCTIONS(X)                                                                                       \
  X(nvrtcCreateProgram, (nvrtcProgram *, const char *source, const char *name, int headers, const char *const *, \
                         const char *const *names))                                                              \
  X(nvrtcDestroyProgram, (nvrtcProgram *))                                                                       \
  X(nvrtcCompileProgram, (nvrtcProgram, int options, const char *const *))                                       \
  X(nvrtcGetProgramLogSize, (nvrtcProgram, size_t * bytes))                                                      \
  X(nvrtcGetProgramLog, (nvrtcProgram, char *))                                                                  \
  X(nvrtcGetCUBINSize, (nvrtcProgram, size_t * bytes))                                                           \
  X(nvrtcGetCUBIN, (nvrtcProgram, char *))                                                                       \
  X(nvrtcGetPTXSize, (nvrtcProgram, size_t * bytes))                                                             \
  X(nvrtcGetPTX, (nvrtcProgram, char *))                                                                         \
  X(nvrtcGetNumSupportedArchs, (int *count))                                                                     \
  X(nvrtcGetSupportedArchs, (int *))

typedef struct nvrtc_functions {
#define NVRTC_FUNCTION(name, parameters) nvrtcResult(*name) parameters;
  NVRTC_FUNCTIONS(NVRTC_FUNCTION)
#undef NVRTC_FUNCTION
} nvrtc_functions;

/* A source with headers in memory. */
typedef struct nvrtc_source {
  const char *text, *options; /* options: the compiler's, with blanks between */
  int headers;
  const char *const *texts, *const *names;
} nvrtc_source;

/* Compiles for a card. *image: PTX or machine code, which the caller frees. SLAB_UNSUPPORTED, with a hint, where there
 * is no compiler; SLAB_BUILD_FAILED with its log; SLAB_OUT_OF_MEMORY. */
slab_status nvrtc_compile(const nvrtc_source *, const slab_device_info *card, char **image);

#endif
