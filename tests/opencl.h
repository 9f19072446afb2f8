/* What a caller of slabcast_cl.h brings along: OpenCL objects that the library did not make. */
#ifndef OPENCL_H
#define OPENCL_H

#include <stdbool.h>

#include "harness.h"
#include "slabcast_cl.h"

/* Fails the test unless the OpenCL call succeeds. */
#define assert_cl(call) opencl_status((call), #call, __FILE__, __LINE__)
void opencl_status(cl_int code, const char *call, const char *file, int line);

/* The device that harness_context() takes: a GPU, else the first; no device fails the test. */
cl_device_id opencl_device(void);
/* The caller releases what these give. */
cl_context opencl_context(const cl_device_id *devices, cl_uint n);
cl_command_queue opencl_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties);
#define OUT_OF_ORDER CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
/* bytes NULL: what the buffer holds is not defined. */
cl_mem opencl_buffer(cl_context context, const void *bytes, size_t size);
/* An event that opencl_open_gate() completes. */
cl_event opencl_gate(cl_context context);
void opencl_open_gate(cl_event gate);

/* Long enough for work that nothing holds back to be done, most of the time. */
void opencl_pause(void);
bool opencl_is_complete(cl_event event);

/* The first device and another one of its platform; false where there is none, which is printed. */
bool opencl_two_devices(cl_device_id devices[2]);
/* A part of the first device; NULL where it has none, which is printed. The caller releases it. */
cl_device_id opencl_part(void);

/* A library context at the lane width under test, on these. */
slab_context *opencl_slab(cl_context context, cl_device_id device, cl_command_queue queue);

#endif
