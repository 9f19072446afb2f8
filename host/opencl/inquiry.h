/* Queries to an OpenCL device. */
#ifndef SLABCAST_OPENCL_INQUIRY_H
#define SLABCAST_OPENCL_INQUIRY_H

#include "opencl/opencl.h"

/* A series of queries to a device. After one that fails no more are made; `call`, `property` and `code` describe that
 * one. */
typedef struct inquiry {
  cl_device_id id;
  const char *call;
  cl_uint property;
  cl_int code;
} inquiry;

slab_status list_fail(const inquiry *);
void list_ask(inquiry *, cl_device_info property, size_t size, void *value);
uint64_t list_number(inquiry *, cl_device_info property, size_t size);
/* Describes a device. The inquiry that it returns says whether a query failed. */
inquiry list_describe(cl_platform_id, cl_device_id, slab_device_info *);

#endif
