/* The library's own declarations of OpenCL against the Khronos headers: a constant or a function that differs does not
 * compile, since each is declared twice here. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "opencl/declarations/CL/cl.h"
