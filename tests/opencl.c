#include "opencl.h"

#include <time.h>

void opencl_status(cl_int code, const char *call, const char *file, int line) {
  if (code == CL_SUCCESS) return;
  print_error("%s\n  gave %d\n", call, (int)code);
  _fail(file, line);
}

static bool find_device(cl_device_type type, cl_device_id *device) {
  cl_platform_id platforms[16];
  cl_uint n = 0;
  assert_cl(clGetPlatformIDs(16, platforms, &n));
  for (cl_uint i = 0; i < n && i < 16; i++)
    if (clGetDeviceIDs(platforms[i], type, 1, device, NULL) == CL_SUCCESS) return true;
  return false;
}

cl_device_id opencl_device(void) {
  cl_device_id device = NULL;
  if (!find_device(CL_DEVICE_TYPE_GPU, &device) && !find_device(CL_DEVICE_TYPE_ALL, &device))
    fail_msg("no OpenCL device");
  return device;
}

cl_context opencl_context(const cl_device_id *devices, cl_uint n) {
  cl_int code;
  cl_context context = clCreateContext(NULL, n, devices, NULL, NULL, &code);
  assert_cl(code);
  return context;
}

cl_command_queue opencl_queue(cl_context context, cl_device_id device, cl_command_queue_properties properties) {
  cl_int code;
  cl_command_queue queue = clCreateCommandQueue(context, device, properties, &code);
  assert_cl(code);
  return queue;
}

cl_mem opencl_buffer(cl_context context, const void *bytes, size_t size) {
  cl_int code;
  union {
    const void *in;
    void *out;
  } host = {.in = bytes};
  const cl_mem_flags flags = CL_MEM_READ_WRITE | (bytes == NULL ? 0 : CL_MEM_COPY_HOST_PTR);
  cl_mem buffer = clCreateBuffer(context, flags, size, host.out, &code);
  assert_cl(code);
  return buffer;
}

cl_event opencl_gate(cl_context context) {
  cl_int code;
  cl_event gate = clCreateUserEvent(context, &code);
  assert_cl(code);
  return gate;
}

void opencl_open_gate(cl_event gate) { assert_cl(clSetUserEventStatus(gate, CL_COMPLETE)); }

void opencl_pause(void) {
  const struct timespec pause = {.tv_nsec = 30 * 1000 * 1000};
  nanosleep(&pause, NULL);
}

bool opencl_is_complete(cl_event event) {
  cl_int status = CL_QUEUED;
  assert_cl(clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL));
  return status == CL_COMPLETE;
}

bool opencl_two_devices(cl_device_id devices[2]) {
  cl_platform_id platform = NULL;
  cl_device_id list[2] = {NULL};
  cl_uint n = 0;
  devices[0] = opencl_device();
  assert_cl(clGetDeviceInfo(devices[0], CL_DEVICE_PLATFORM, sizeof(cl_platform_id), &platform, NULL));
  assert_cl(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 2, list, &n));
  devices[1] = list[0] == devices[0] ? list[1] : list[0];
  if (n < 2) print_message("there is but one device\n");
  return n >= 2;
}

cl_device_id opencl_part(void) {
  const cl_device_partition_property one_unit[] = {CL_DEVICE_PARTITION_BY_COUNTS, 1,
                                                   CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0};
  cl_device_id part = NULL;
  if (clCreateSubDevices(opencl_device(), one_unit, 1, &part, NULL) == CL_SUCCESS) return part;
  print_message("the device cannot be parted\n");
  return NULL;
}

slab_context *opencl_slab(cl_context context, cl_device_id device, cl_command_queue queue) {
  const slab_context_options options = {.lane_width = harness_width()};
  slab_context *slab = NULL;
  assert_ok(slab_context_create_cl(context, device, queue, &options, &slab));
  return slab;
}
