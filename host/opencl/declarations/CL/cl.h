/* The part of OpenCL 1.2 that library and program use, for systems without the Khronos headers. It has the same
 * declarations, and no others. The test tests/api/opencl_declarations.c compares them with the Khronos headers. */
#ifndef SLABCAST_OPENCL_DECLARATIONS_H
#define SLABCAST_OPENCL_DECLARATIONS_H

#include <stddef.h>
#include <stdint.h>

#ifdef _WIN32
#define SLAB_CL __stdcall
#else
#define SLAB_CL
#endif

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef float cl_float;
typedef cl_uint cl_bool, cl_platform_info, cl_device_info, cl_command_queue_info, cl_mem_info, cl_program_info,
    cl_program_build_info, cl_kernel_work_group_info, cl_kernel_info, cl_kernel_arg_info, cl_profiling_info;
typedef cl_ulong cl_bitfield;
typedef cl_bitfield cl_device_type, cl_device_fp_config, cl_command_queue_properties, cl_mem_flags, cl_map_flags;
typedef intptr_t cl_context_properties;

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

#define CL_SUCCESS 0
#define CL_DEVICE_NOT_FOUND -1
#define CL_DEVICE_NOT_AVAILABLE -2
#define CL_COMPILER_NOT_AVAILABLE -3
#define CL_MEM_OBJECT_ALLOCATION_FAILURE -4
#define CL_OUT_OF_RESOURCES -5
#define CL_OUT_OF_HOST_MEMORY -6
#define CL_BUILD_PROGRAM_FAILURE -11
#define CL_MAP_FAILURE -12
#define CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST -14
#define CL_KERNEL_ARG_INFO_NOT_AVAILABLE -19
#define CL_INVALID_VALUE -30
#define CL_INVALID_PLATFORM -32
#define CL_INVALID_DEVICE -33
#define CL_INVALID_CONTEXT -34
#define CL_INVALID_COMMAND_QUEUE -36
#define CL_INVALID_MEM_OBJECT -38
#define CL_INVALID_BUILD_OPTIONS -43
#define CL_INVALID_PROGRAM -44
#define CL_INVALID_PROGRAM_EXECUTABLE -45
#define CL_INVALID_KERNEL_NAME -46
#define CL_INVALID_KERNEL -48
#define CL_INVALID_ARG_INDEX -49
#define CL_INVALID_ARG_VALUE -50
#define CL_INVALID_ARG_SIZE -51
#define CL_INVALID_KERNEL_ARGS -52
#define CL_INVALID_WORK_GROUP_SIZE -54
#define CL_INVALID_EVENT_WAIT_LIST -57
#define CL_INVALID_EVENT -58
#define CL_INVALID_OPERATION -59
#define CL_INVALID_BUFFER_SIZE -61
#define CL_FALSE 0
#define CL_TRUE 1
#define CL_PLATFORM_NAME 0x0902
#define CL_DEVICE_TYPE_CPU (1 << 1)
#define CL_DEVICE_TYPE_GPU (1 << 2)
#define CL_DEVICE_TYPE_ALL 0xFFFFFFFF
#define CL_DEVICE_TYPE 0x1000
#define CL_DEVICE_MAX_COMPUTE_UNITS 0x1002
#define CL_DEVICE_MAX_WORK_GROUP_SIZE 0x1004
#define CL_DEVICE_MAX_WORK_ITEM_SIZES 0x1005
#define CL_DEVICE_MAX_CLOCK_FREQUENCY 0x100C
#define CL_DEVICE_MAX_MEM_ALLOC_SIZE 0x1010
#define CL_DEVICE_SINGLE_FP_CONFIG 0x101B
#define CL_DEVICE_GLOBAL_MEM_SIZE 0x101F
#define CL_DEVICE_NAME 0x102B
#define CL_DEVICE_VENDOR 0x102C
#define CL_DRIVER_VERSION 0x102D
#define CL_DEVICE_VERSION 0x102F
#define CL_DEVICE_EXTENSIONS 0x1030
#define CL_DEVICE_PLATFORM 0x1031
#define CL_DEVICE_DOUBLE_FP_CONFIG 0x1032
#define CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT 0x103A
#define CL_DEVICE_PARENT_DEVICE 0x1042
#define CL_FP_DENORM (1 << 0)
#define CL_FP_ROUND_TO_NEAREST (1 << 2)
#define CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT (1 << 7)
#define CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE (1 << 0)
#define CL_QUEUE_PROFILING_ENABLE (1 << 1)
#define CL_QUEUE_CONTEXT 0x1090
#define CL_QUEUE_DEVICE 0x1091
#define CL_QUEUE_REFERENCE_COUNT 0x1092
#define CL_QUEUE_PROPERTIES 0x1093
#define CL_MEM_READ_WRITE (1 << 0)
#define CL_MEM_WRITE_ONLY (1 << 1)
#define CL_MEM_READ_ONLY (1 << 2)
#define CL_MEM_USE_HOST_PTR (1 << 3)
#define CL_MEM_ALLOC_HOST_PTR (1 << 4)
#define CL_MEM_COPY_HOST_PTR (1 << 5)
#define CL_MEM_SIZE 0x1102
#define CL_MEM_CONTEXT 0x1106
#define CL_MAP_READ (1 << 0)
#define CL_MAP_WRITE (1 << 1)
#define CL_PROGRAM_BINARY_SIZES 0x1165
#define CL_PROGRAM_BINARIES 0x1166
#define CL_PROGRAM_BUILD_LOG 0x1183
#define CL_KERNEL_NUM_ARGS 0x1191
#define CL_KERNEL_CONTEXT 0x1193
#define CL_KERNEL_PROGRAM 0x1194
#define CL_KERNEL_ARG_NAME 0x119A
#define CL_KERNEL_WORK_GROUP_SIZE 0x11B0
#define CL_PROFILING_COMMAND_START 0x1282
#define CL_PROFILING_COMMAND_END 0x1283

/* platforms and devices */
cl_int SLAB_CL clGetPlatformIDs(cl_uint capacity, cl_platform_id *, cl_uint *count);
cl_int SLAB_CL clGetPlatformInfo(cl_platform_id, cl_platform_info, size_t, void *, size_t *);
cl_int SLAB_CL clGetDeviceIDs(cl_platform_id, cl_device_type, cl_uint capacity, cl_device_id *, cl_uint *count);
cl_int SLAB_CL clGetDeviceInfo(cl_device_id, cl_device_info, size_t, void *, size_t *);
cl_int SLAB_CL clRetainDevice(cl_device_id);
cl_int SLAB_CL clReleaseDevice(cl_device_id);

/* contexts and queues */
cl_context SLAB_CL clCreateContext(const cl_context_properties *, cl_uint, const cl_device_id *,
                                   void(SLAB_CL *)(const char *, const void *, size_t, void *), void *, cl_int *);
cl_int SLAB_CL clRetainContext(cl_context);
cl_int SLAB_CL clReleaseContext(cl_context);
cl_command_queue SLAB_CL clCreateCommandQueue(cl_context, cl_device_id, cl_command_queue_properties, cl_int *);
cl_int SLAB_CL clRetainCommandQueue(cl_command_queue);
cl_int SLAB_CL clReleaseCommandQueue(cl_command_queue);
cl_int SLAB_CL clGetCommandQueueInfo(cl_command_queue, cl_command_queue_info, size_t, void *, size_t *);
cl_int SLAB_CL clFlush(cl_command_queue);
cl_int SLAB_CL clFinish(cl_command_queue);

/* buffers */
cl_mem SLAB_CL clCreateBuffer(cl_context, cl_mem_flags, size_t, void *, cl_int *);
cl_int SLAB_CL clRetainMemObject(cl_mem);
cl_int SLAB_CL clReleaseMemObject(cl_mem);
cl_int SLAB_CL clGetMemObjectInfo(cl_mem, cl_mem_info, size_t, void *, size_t *);
cl_int SLAB_CL clEnqueueReadBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, void *, cl_uint, const cl_event *,
                                   cl_event *);
cl_int SLAB_CL clEnqueueWriteBuffer(cl_command_queue, cl_mem, cl_bool, size_t, size_t, const void *, cl_uint,
                                    const cl_event *, cl_event *);
cl_int SLAB_CL clEnqueueCopyBuffer(cl_command_queue, cl_mem, cl_mem, size_t, size_t, size_t, cl_uint, const cl_event *,
                                   cl_event *);
cl_int SLAB_CL clEnqueueCopyBufferRect(cl_command_queue, cl_mem, cl_mem, const size_t *, const size_t *, const size_t *,
                                       size_t, size_t, size_t, size_t, cl_uint, const cl_event *, cl_event *);
void *SLAB_CL clEnqueueMapBuffer(cl_command_queue, cl_mem, cl_bool, cl_map_flags, size_t, size_t, cl_uint,
                                 const cl_event *, cl_event *, cl_int *);
cl_int SLAB_CL clEnqueueUnmapMemObject(cl_command_queue, cl_mem, void *, cl_uint, const cl_event *, cl_event *);

/* programs and kernels */
cl_program SLAB_CL clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_program SLAB_CL clCreateProgramWithBinary(cl_context, cl_uint, const cl_device_id *, const size_t *,
                                             const unsigned char **, cl_int *, cl_int *);
cl_int SLAB_CL clBuildProgram(cl_program, cl_uint, const cl_device_id *, const char *,
                              void(SLAB_CL *)(cl_program, void *), void *);
cl_int SLAB_CL clCompileProgram(cl_program, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *,
                                const char **, void(SLAB_CL *)(cl_program, void *), void *);
cl_program SLAB_CL clLinkProgram(cl_context, cl_uint, const cl_device_id *, const char *, cl_uint, const cl_program *,
                                 void(SLAB_CL *)(cl_program, void *), void *, cl_int *);
cl_int SLAB_CL clGetProgramInfo(cl_program, cl_program_info, size_t, void *, size_t *);
cl_int SLAB_CL clGetProgramBuildInfo(cl_program, cl_device_id, cl_program_build_info, size_t, void *, size_t *);
cl_int SLAB_CL clReleaseProgram(cl_program);
cl_kernel SLAB_CL clCreateKernel(cl_program, const char *, cl_int *);
cl_int SLAB_CL clReleaseKernel(cl_kernel);
cl_int SLAB_CL clSetKernelArg(cl_kernel, cl_uint, size_t, const void *);
cl_int SLAB_CL clGetKernelInfo(cl_kernel, cl_kernel_info, size_t, void *, size_t *);
cl_int SLAB_CL clGetKernelArgInfo(cl_kernel, cl_uint, cl_kernel_arg_info, size_t, void *, size_t *);
cl_int SLAB_CL clGetKernelWorkGroupInfo(cl_kernel, cl_device_id, cl_kernel_work_group_info, size_t, void *, size_t *);
cl_int SLAB_CL clEnqueueNDRangeKernel(cl_command_queue, cl_kernel, cl_uint, const size_t *, const size_t *,
                                      const size_t *, cl_uint, const cl_event *, cl_event *);

/* events */
cl_int SLAB_CL clEnqueueMarkerWithWaitList(cl_command_queue, cl_uint, const cl_event *, cl_event *);
cl_int SLAB_CL clWaitForEvents(cl_uint, const cl_event *);
cl_int SLAB_CL clGetEventProfilingInfo(cl_event, cl_profiling_info, size_t, void *, size_t *);
cl_int SLAB_CL clReleaseEvent(cl_event);

#undef SLAB_CL
#endif
