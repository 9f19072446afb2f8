/* Opens OpenCL devices and closes them. */
#include <stdlib.h>
#include <string.h>

#include "opencl/inquiry.h"
#include "opencl/opencl.h"
#include "opencl/probe.h"

/* ---- queries to a device ---- */

/* Queries a property as yes or no. A driver that does not know the property counts as no. */
static slab_status ask_whether(const device *d, cl_device_info property, size_t size, bool *answer) {
  inquiry q = {.id = cl_of(d)->id};
  *answer = list_number(&q, property, size) != 0;
  if (q.code == CL_SUCCESS || q.code == CL_INVALID_VALUE) return SLAB_OK;
  return fail_cl(q.code, "clGetDeviceInfo", d->info.name);
}

/* Queries the maximum work-items per group, for any kernel. */
static slab_status ask_group(device *d) {
  inquiry q = {.id = cl_of(d)->id};
  size_t items[16] = {0}; /* one per dimension; devices have three */
  const size_t group = (size_t)list_number(&q, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group);
  list_ask(&q, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items);
  cl_of(d)->group_most = items[0] < group ? items[0] : group;
  return q.code == CL_SUCCESS ? SLAB_OK : list_fail(&q);
}

/* Queries whether a device has an extension. A driver whose list is longer than this has extensions of many makers, and
 * counts as no. */
static slab_status ask_extension(const device *d, const char *name, bool *answer) {
  char list[8192] = "";
  inquiry q = {.id = cl_of(d)->id};
  list_ask(&q, CL_DEVICE_EXTENSIONS, sizeof list - 1, list);
  *answer = q.code == CL_SUCCESS && strstr(list, name) != NULL;
  if (q.code == CL_SUCCESS || q.code == CL_INVALID_VALUE) return SLAB_OK;
  return fail_cl(q.code, "clGetDeviceInfo", d->info.name);
}

static slab_status ask_device(device *d) {
  slab_status status = ask_group(d);
  if (status == SLAB_OK) status = ask_whether(d, CL_DEVICE_PARENT_DEVICE, sizeof(cl_device_id), &cl_of(d)->is_part);
  if (status == SLAB_OK)
    status = ask_whether(d, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config), &cl_of(d)->has_double);
  return status == SLAB_OK ? ask_extension(d, "cl_nv_compiler_options", &cl_of(d)->limits_registers) : status;
}

/* ---- opening ---- */

/* Retains the device before it is opened: a sub-device has nothing else that keeps it alive. */
slab_status open_prepare(device *d, const found_device *found) {
  opencl_device *o = calloc(1, sizeof *o);
  if (o == NULL) return fail_memory(sizeof *o, "a device");
  gpu_of(d)->own = o;
  cl_int code = clRetainDevice(found->id);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainDevice", "a context");
  o->id = found->id;
  return ask_device(d);
}

static slab_status create_context(device *d) {
  cl_int code;
  opencl_device *o = cl_of(d);
  o->context = clCreateContext(NULL, 1, &o->id, NULL, NULL, &code);
  return o->context == NULL ? fail_cl(code, "clCreateContext", d->info.name) : objects_queue(d, &gpu_of(d)->queue);
}

slab_status opencl_open(device *d, const found_device *found) {
  slab_status status = open_prepare(d, found);
  if (status == SLAB_OK) status = create_context(d);
  return status == SLAB_OK ? probe_device(d) : status;
}

void opencl_close(device *d) {
  opencl_device *o = cl_of(d);
  if (o == NULL) return;
  if (!is_inherited(d)) {
    if (gpu_of(d)->queue != NULL) opencl_release_queue(d, gpu_of(d)->queue);
    if (o->context != NULL) clReleaseContext(o->context);
    if (o->id != NULL) clReleaseDevice(o->id);
  }
  free(o);
}
