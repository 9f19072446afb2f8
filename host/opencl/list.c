/* Describes and lists OpenCL devices. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/backend.h"
#include "device/tuning.h"
#include "opencl/inquiry.h"
#include "opencl/opencl.h"

/* ---- descriptions ---- */

slab_status list_fail(const inquiry *q) {
  char purpose[64];
  snprintf(purpose, sizeof purpose, "property 0x%x of a device", q->property);
  return fail_cl(q->code, q->call, purpose);
}

void list_ask(inquiry *q, cl_device_info property, size_t size, void *value) {
  if (q->code != CL_SUCCESS) return;
  q->call = "clGetDeviceInfo";
  q->property = property;
  q->code = clGetDeviceInfo(q->id, property, size, value, NULL);
}

static void device_text(inquiry *q, cl_device_info property, char *text, size_t size) {
  char buffer[1024] = "";
  list_ask(q, property, sizeof buffer - 1, buffer);
  const char *begin = buffer;
  while (isspace((unsigned char)*begin)) begin++;
  snprintf(text, size, "%.*s", (int)size - 1, begin);
}

uint64_t list_number(inquiry *q, cl_device_info property, size_t size) {
  uint64_t value = 0; /* a 32-bit value fills the low half: hosts are little-endian, as all OpenCL machines */
  list_ask(q, property, size, &value);
  return value;
}

/* The number of lanes: the width of the device's registers, at most lanes_most. It is 1 where drivers vectorise over
 * work-items themselves and report a native width of 1 (Mesa's llvmpipe). */
static uint32_t native_lanes(inquiry *q, slab_device_type type) {
  const uint32_t most = tuning_of(type)->lanes_most;
  if (most == 1) return 1;
  const uint64_t width = list_number(q, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint));
  const uint32_t lanes = width >= 16 ? 16 : width > 1 ? 8 : 1;
  return lanes < most ? lanes : most;
}

static void ask_platform(inquiry *q, cl_platform_id platform, char *name, size_t size) {
  if (q->code != CL_SUCCESS) return;
  q->call = "clGetPlatformInfo";
  q->property = CL_PLATFORM_NAME;
  q->code = clGetPlatformInfo(platform, CL_PLATFORM_NAME, size - 1, name, NULL);
}

inquiry list_describe(cl_platform_id platform, cl_device_id id, slab_device_info *described) {
  slab_device_info info = {0};
  inquiry q = {.id = id};
  device_text(&q, CL_DEVICE_NAME, info.name, sizeof info.name);
  device_text(&q, CL_DEVICE_VENDOR, info.vendor, sizeof info.vendor);
  device_text(&q, CL_DRIVER_VERSION, info.driver, sizeof info.driver);
  device_text(&q, CL_DEVICE_VERSION, info.version, sizeof info.version);
  uint64_t type = list_number(&q, CL_DEVICE_TYPE, sizeof(cl_device_type));
  info.type = (type & CL_DEVICE_TYPE_GPU) != 0   ? SLAB_DEVICE_GPU
              : (type & CL_DEVICE_TYPE_CPU) != 0 ? SLAB_DEVICE_CPU
                                                 : SLAB_DEVICE_OTHER;
  info.compute_units = (uint32_t)list_number(&q, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
  info.clock_mhz = (uint32_t)list_number(&q, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint));
  info.memory_bytes = list_number(&q, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
  info.allocation_bytes = list_number(&q, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
  uint64_t floats = list_number(&q, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));
  info.denormals = (floats & CL_FP_DENORM) != 0;
  info.rounds_to_nearest = (floats & CL_FP_ROUND_TO_NEAREST) != 0;
  info.exact_divide = (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  info.lane_width = native_lanes(&q, info.type);
  ask_platform(&q, platform, info.platform, sizeof info.platform);
  *described = info;
  return q;
}

#define DEVICE_UUID 0x106A /* CL_DEVICE_UUID_KHR, of the extension cl_khr_device_uuid */

/* A driver that does not know the property leaves zeros. */
static void ask_uuid(inquiry *q, unsigned char uuid[UUID_SIZE]) {
  list_ask(q, DEVICE_UUID, UUID_SIZE, uuid);
  if (q->code == CL_INVALID_VALUE && q->property == DEVICE_UUID) {
    memset(uuid, 0, UUID_SIZE);
    q->code = CL_SUCCESS;
  }
}

/* ---- listing ---- */

/* Where its kernel cache is not writable, PoCL reports no device, without an error message. */
static slab_status fail_no_device(const char *call, cl_int code) {
  return fail(
      SLAB_NO_DEVICE,
      "no OpenCL device found (%s gave %d): install a driver, such as pocl-opencl-icd for the CPU. "
      "PoCL shows no device where its kernel cache is not writable: set POCL_CACHE_DIR to a writable directory. "
      "Intel's libintelocl.so stays silent without the libraries of intel-cmplr-lib-rt and tbb: "
      "name their folder in LD_LIBRARY_PATH",
      call, code);
}

static void append_device(device_list *list, cl_platform_id platform, cl_device_id id, inquiry *refused) {
  found_device *next = &list->devices[list->count];
  *next = (found_device){.platform = platform, .id = id};
  inquiry q = list_describe(platform, id, &next->info);
  ask_uuid(&q, next->uuid);
  if (q.code == CL_SUCCESS) {
    list->count++;
    return;
  }
  *refused = q;
  snprintf(list->refused, sizeof list->refused, "%s failed with %s (%d) for property 0x%x", q.call,
           objects_code_name(q.code), q.code, q.property);
}

static slab_status append_devices(cl_platform_id platform, device_list *list, inquiry *refused, cl_int *code) {
  cl_uint n = 0;
  *code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
  if (*code != CL_SUCCESS || n == 0) return SLAB_OK;
  cl_device_id *ids = calloc(n, sizeof *ids);
  if (ids == NULL) return fail_memory(n * sizeof *ids, "the device list");
  const slab_status status = device_list_reserve(list, n);
  if (status != SLAB_OK) {
    free(ids);
    return status;
  }
  *code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
  for (cl_uint i = 0; *code == CL_SUCCESS && i < n; i++) append_device(list, platform, ids[i], refused);
  free(ids);
  return SLAB_OK;
}

/* Lists every device of every platform that can be described. Platforms that fail are skipped. */
slab_status opencl_list(const backend *own, device_list *list) {
  const slab_status loaded = opencl_load();
  if (loaded != SLAB_OK) return loaded;
  const size_t before = list->count;
  cl_uint platforms = 0;
  const char *call = "clGetPlatformIDs";
  inquiry refused = {0};
  cl_int code = clGetPlatformIDs(0, NULL, &platforms);
  if (code != CL_SUCCESS || platforms == 0) return fail_no_device(call, code);
  cl_platform_id *ids = calloc(platforms, sizeof *ids);
  if (ids == NULL) return fail_memory(platforms * sizeof *ids, "the platform list");
  code = clGetPlatformIDs(platforms, ids, NULL);
  slab_status status = SLAB_OK;
  for (cl_uint i = 0; code == CL_SUCCESS && status == SLAB_OK && i < platforms; i++) {
    cl_int device_code;
    status = append_devices(ids[i], list, &refused, &device_code);
    if (list->count > before || i + 1 < platforms) continue;
    call = "clGetDeviceIDs";
    code = device_code;
  }
  free(ids);
  for (size_t i = before; i < list->count; i++) list->devices[i].backend = own;
  if (status == SLAB_OK && list->count == before)
    status = refused.code != CL_SUCCESS ? list_fail(&refused) : fail_no_device(call, code);
  return status;
}
