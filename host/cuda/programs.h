/* The one function of the library slabcast-cuda, which host/cuda/ptx.c loads. */
#ifndef SLABCAST_CUDA_PROGRAMS_H
#define SLABCAST_CUDA_PROGRAMS_H

#ifdef _WIN32
#define PTX_API __declspec(dllexport)
#else
#define PTX_API __attribute__((visibility("default")))
#endif

#include <stddef.h>
#include <stdint.h>

typedef enum ptx_outcome { PTX_DONE, PTX_OTHER_VERSION, PTX_UNKNOWN, PTX_DAMAGED } ptx_outcome;

/* Writes the text of a program, without a 0 at its end, and its size; text NULL: the size alone. version:
 * SLAB_VERSION_NUMBER of the library that calls. name: cmake/ptx.cmake. */
typedef ptx_outcome ptx_function(uint32_t version, const char *name, char *text, size_t *size);
PTX_API ptx_function slabcast_ptx;

#endif
