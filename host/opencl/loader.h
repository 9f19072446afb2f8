/* OpenCL's functions, found when they are first needed: neither the library nor the program is linked to OpenCL, so
 * that they start where there is none. Below, a call of an OpenCL function goes through the table. */
#ifndef SLABCAST_OPENCL_LOADER_H
#define SLABCAST_OPENCL_LOADER_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "slabcast.h"

/* X(name): every function that the backend and the program call, all of OpenCL 1.2. */
#define OPENCL_FUNCTIONS(X)      \
  X(clBuildProgram)              \
  X(clCompileProgram)            \
  X(clCreateBuffer)              \
  X(clCreateCommandQueue)        \
  X(clCreateContext)             \
  X(clCreateKernel)              \
  X(clCreateProgramWithBinary)   \
  X(clCreateProgramWithSource)   \
  X(clEnqueueCopyBuffer)         \
  X(clEnqueueCopyBufferRect)     \
  X(clEnqueueMapBuffer)          \
  X(clEnqueueMarkerWithWaitList) \
  X(clEnqueueNDRangeKernel)      \
  X(clEnqueueReadBuffer)         \
  X(clEnqueueUnmapMemObject)     \
  X(clEnqueueWriteBuffer)        \
  X(clFinish)                    \
  X(clFlush)                     \
  X(clGetCommandQueueInfo)       \
  X(clGetDeviceIDs)              \
  X(clGetDeviceInfo)             \
  X(clGetEventProfilingInfo)     \
  X(clGetKernelArgInfo)          \
  X(clGetKernelInfo)             \
  X(clGetKernelWorkGroupInfo)    \
  X(clGetMemObjectInfo)          \
  X(clGetPlatformIDs)            \
  X(clGetPlatformInfo)           \
  X(clGetProgramBuildInfo)       \
  X(clGetProgramInfo)            \
  X(clLinkProgram)               \
  X(clReleaseCommandQueue)       \
  X(clReleaseContext)            \
  X(clReleaseDevice)             \
  X(clReleaseEvent)              \
  X(clReleaseKernel)             \
  X(clReleaseMemObject)          \
  X(clReleaseProgram)            \
  X(clRetainCommandQueue)        \
  X(clRetainContext)             \
  X(clRetainDevice)              \
  X(clRetainMemObject)           \
  X(clSetKernelArg)              \
  X(clWaitForEvents)

typedef struct opencl_functions {
#define OPENCL_FUNCTION(name) __typeof__(name) *name;
  OPENCL_FUNCTIONS(OPENCL_FUNCTION)
#undef OPENCL_FUNCTION
} opencl_functions;

/* Complete after opencl_find or opencl_load has succeeded, and never changed then. The program has a table of its own.
 */
extern opencl_functions opencl_call;

/* Finds the functions, unless they are found already: one thread calls it. A loader that the process has already is
 * used, since the caller's objects are that one's; else libOpenCL is opened. NULL, or why there is none. */
const char *opencl_find(void);
/* The same once per process, for any thread. SLAB_NO_DEVICE where there is none. */
slab_status opencl_load(void);

#ifndef OPENCL_BY_NAME
#define clBuildProgram opencl_call.clBuildProgram
#define clCompileProgram opencl_call.clCompileProgram
#define clCreateBuffer opencl_call.clCreateBuffer
#define clCreateCommandQueue opencl_call.clCreateCommandQueue
#define clCreateContext opencl_call.clCreateContext
#define clCreateKernel opencl_call.clCreateKernel
#define clCreateProgramWithBinary opencl_call.clCreateProgramWithBinary
#define clCreateProgramWithSource opencl_call.clCreateProgramWithSource
#define clEnqueueCopyBuffer opencl_call.clEnqueueCopyBuffer
#define clEnqueueCopyBufferRect opencl_call.clEnqueueCopyBufferRect
#define clEnqueueMapBuffer opencl_call.clEnqueueMapBuffer
#define clEnqueueMarkerWithWaitList opencl_call.clEnqueueMarkerWithWaitList
#define clEnqueueNDRangeKernel opencl_call.clEnqueueNDRangeKernel
#define clEnqueueReadBuffer opencl_call.clEnqueueReadBuffer
#define clEnqueueUnmapMemObject opencl_call.clEnqueueUnmapMemObject
#define clEnqueueWriteBuffer opencl_call.clEnqueueWriteBuffer
#define clFinish opencl_call.clFinish
#define clFlush opencl_call.clFlush
#define clGetCommandQueueInfo opencl_call.clGetCommandQueueInfo
#define clGetDeviceIDs opencl_call.clGetDeviceIDs
#define clGetDeviceInfo opencl_call.clGetDeviceInfo
#define clGetEventProfilingInfo opencl_call.clGetEventProfilingInfo
#define clGetKernelArgInfo opencl_call.clGetKernelArgInfo
#define clGetKernelInfo opencl_call.clGetKernelInfo
#define clGetKernelWorkGroupInfo opencl_call.clGetKernelWorkGroupInfo
#define clGetMemObjectInfo opencl_call.clGetMemObjectInfo
#define clGetPlatformIDs opencl_call.clGetPlatformIDs
#define clGetPlatformInfo opencl_call.clGetPlatformInfo
#define clGetProgramBuildInfo opencl_call.clGetProgramBuildInfo
#define clGetProgramInfo opencl_call.clGetProgramInfo
#define clLinkProgram opencl_call.clLinkProgram
#define clReleaseCommandQueue opencl_call.clReleaseCommandQueue
#define clReleaseContext opencl_call.clReleaseContext
#define clReleaseDevice opencl_call.clReleaseDevice
#define clReleaseEvent opencl_call.clReleaseEvent
#define clReleaseKernel opencl_call.clReleaseKernel
#define clReleaseMemObject opencl_call.clReleaseMemObject
#define clReleaseProgram opencl_call.clReleaseProgram
#define clRetainCommandQueue opencl_call.clRetainCommandQueue
#define clRetainContext opencl_call.clRetainContext
#define clRetainDevice opencl_call.clRetainDevice
#define clRetainMemObject opencl_call.clRetainMemObject
#define clSetKernelArg opencl_call.clSetKernelArg
#define clWaitForEvents opencl_call.clWaitForEvents
#endif

#endif
