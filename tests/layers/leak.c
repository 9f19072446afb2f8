/* Creates one OpenCL object of each kind and releases all except the kind named on the command line. This planted
 * leak proves that the counting layer detects one. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
#include <string.h>

#define NEED(condition)                                                 \
  if (!(condition)) {                                                   \
    fprintf(stderr, "leak: line %d: %s fails\n", __LINE__, #condition); \
    return 2;                                                           \
  }

int main(int count, char **arguments) {
  const char *leaked = count > 1 ? arguments[1] : "nothing";
  const char *source = "kernel void one(global int *a) { a[get_global_id(0)] = 1; }";
  const cl_buffer_region region = {0, 64};
  const size_t items = 16;
  int ones[16];
  cl_platform_id platform = NULL;
  cl_device_id device = NULL;
  NEED(!clGetPlatformIDs(1, &platform, NULL) && !clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL));
  cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
  cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
  cl_mem buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
  cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, NULL);
  cl_program program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
  NEED(!clBuildProgram(program, 1, &device, "", NULL, NULL));
  cl_kernel kernel = clCreateKernel(program, "one", NULL);
  cl_event run = NULL, mapping = NULL, user = clCreateUserEvent(context, NULL);
  NEED(user && !clSetUserEventStatus(user, CL_COMPLETE) && !clSetKernelArg(kernel, 0, sizeof buffer, &buffer));
  NEED(!clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &items, NULL, 1, &user, &run));
  NEED(!clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof ones, ones, 1, &run, NULL) && ones[15] == 1);
  void *mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0, NULL, &mapping, NULL);
  NEED(mapped && !clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL) && !clFinish(queue));
  NEED(!clRetainMemObject(buffer) && !clReleaseMemObject(buffer));

#define RELEASE(name, call) NEED(!strcmp(leaked, name) || !(call))
  RELEASE("event", clReleaseEvent(run));
  RELEASE("mapping event", clReleaseEvent(mapping));
  RELEASE("user event", clReleaseEvent(user));
  RELEASE("kernel", clReleaseKernel(kernel));
  RELEASE("program", clReleaseProgram(program));
  RELEASE("sub-buffer", clReleaseMemObject(part));
  RELEASE("buffer", clReleaseMemObject(buffer));
  RELEASE("queue", clReleaseCommandQueue(queue));
  RELEASE("context", clReleaseContext(context));
  return 0;
}
