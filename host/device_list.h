/* Lists OpenCL devices, and finds those that a selector names. */
#ifndef SLABCAST_DEVICE_LIST_H
#define SLABCAST_DEVICE_LIST_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "slabcast.h"

/* A series of queries to a device. After one that fails no more are made; `call`, `property` and `code` describe that
 * one. */
typedef struct inquiry {
  cl_device_id id;
  const char *call;
  cl_uint property;
  cl_int code;
} inquiry;

slab_status fail_inquiry(const inquiry *);
void device_ask(inquiry *, cl_device_info property, size_t size, void *value);
uint64_t device_number(inquiry *, cl_device_info property, size_t size);
/* Describes a device. The inquiry that it returns says whether a query failed. */
inquiry device_describe(cl_platform_id, cl_device_id, slab_device_info *);

typedef struct found_device {
  cl_platform_id platform;
  cl_device_id id;
  slab_device_info info;
} found_device;

/* The devices that a selector names. *chosen is malloc'ed, and NULL on failure. */
slab_status choose_devices(const char *selector, found_device **chosen, size_t *n);

#endif
