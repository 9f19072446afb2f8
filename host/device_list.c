/* Devices: describing, listing and choosing them. */
#include "device_list.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "arithmetic.h"
#include "process.h"
#include "status.h"
#include "tuning.h"

/* ---- what a device is ---- */

slab_status fail_inquiry(const inquiry *q) {
  char purpose[64];
  snprintf(purpose, sizeof purpose, "property 0x%x of a device", q->property);
  return fail_cl(q->code, q->call, purpose);
}

void device_ask(inquiry *q, cl_device_info property, size_t size, void *value) {
  if (q->code != CL_SUCCESS) return;
  q->call = "clGetDeviceInfo";
  q->property = property;
  q->code = clGetDeviceInfo(q->id, property, size, value, NULL);
}

static void device_text(inquiry *q, cl_device_info property, char *text, size_t size) {
  char buffer[1024] = "";
  device_ask(q, property, sizeof buffer - 1, buffer);
  const char *begin = buffer;
  while (isspace((unsigned char)*begin)) begin++;
  snprintf(text, size, "%s", begin);
}

uint64_t device_number(inquiry *q, cl_device_info property, size_t size) {
  uint64_t value = 0; /* a 32-bit value fills the low half: hosts are little-endian, as all that OpenCL runs on */
  device_ask(q, property, size, &value);
  return value;
}

/* The number of lanes: the width of the device's registers, at most lanes_most. It is 1 where drivers vectorise over
 * work-items themselves and report a native width of 1 (Mesa's llvmpipe). */
static uint32_t native_lanes(inquiry *q, slab_device_type type) {
  const uint32_t most = tuning_of(type)->lanes_most;
  if (most == 1) return 1;
  const uint64_t width = device_number(q, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, sizeof(cl_uint));
  const uint32_t lanes = width >= 16 ? 16 : width > 1 ? 8 : 1;
  return lanes < most ? lanes : most;
}

static void ask_platform(inquiry *q, cl_platform_id platform, char *name, size_t size) {
  if (q->code != CL_SUCCESS) return;
  q->call = "clGetPlatformInfo";
  q->property = CL_PLATFORM_NAME;
  q->code = clGetPlatformInfo(platform, CL_PLATFORM_NAME, size - 1, name, NULL);
}

inquiry device_describe(cl_platform_id platform, cl_device_id id, slab_device_info *described) {
  slab_device_info info = {0};
  inquiry q = {.id = id};
  device_text(&q, CL_DEVICE_NAME, info.name, sizeof info.name);
  device_text(&q, CL_DEVICE_VENDOR, info.vendor, sizeof info.vendor);
  device_text(&q, CL_DRIVER_VERSION, info.driver, sizeof info.driver);
  device_text(&q, CL_DEVICE_VERSION, info.version, sizeof info.version);
  uint64_t type = device_number(&q, CL_DEVICE_TYPE, sizeof(cl_device_type));
  info.type = (type & CL_DEVICE_TYPE_GPU) != 0   ? SLAB_DEVICE_GPU
              : (type & CL_DEVICE_TYPE_CPU) != 0 ? SLAB_DEVICE_CPU
                                                 : SLAB_DEVICE_OTHER;
  info.compute_units = (uint32_t)device_number(&q, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint));
  info.clock_mhz = (uint32_t)device_number(&q, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof(cl_uint));
  info.memory_bytes = device_number(&q, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof(cl_ulong));
  info.allocation_bytes = device_number(&q, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof(cl_ulong));
  uint64_t floats = device_number(&q, CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config));
  info.denormals = (floats & CL_FP_DENORM) != 0;
  info.rounds_to_nearest = (floats & CL_FP_ROUND_TO_NEAREST) != 0;
  info.exact_divide = (floats & CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  info.lane_width = native_lanes(&q, info.type);
  ask_platform(&q, platform, info.platform, sizeof info.platform);
  *described = info;
  return q;
}

/* ---- listing ---- */

/* The devices, in the order that selectors count them. A device that cannot be described is left out everywhere, so
 * that an index names the same device in every call. */
typedef struct device_list {
  found_device *devices; /* malloc'ed */
  size_t count;
  inquiry refused; /* the failed inquiry of the last device that was left out; code CL_SUCCESS: none was */
} device_list;

/* Where its kernel cache is not writable, PoCL reports no device, without an error message. */
static slab_status fail_no_device(const char *call, cl_int code) {
  return fail(
      SLAB_NO_DEVICE,
      "no OpenCL device found (%s gave %d): install a driver, such as pocl-opencl-icd for the CPU; where PoCL is "
      "installed, its kernel cache may not be writable: set POCL_CACHE_DIR to a writable directory; where Intel's "
      "driver is installed, libintelocl.so stays silent without the libraries of intel-cmplr-lib-rt and tbb: name "
      "their folder in LD_LIBRARY_PATH",
      call, code);
}

static void append_device(device_list *list, cl_platform_id platform, cl_device_id id) {
  found_device *next = &list->devices[list->count];
  *next = (found_device){.platform = platform, .id = id};
  const inquiry q = device_describe(platform, id, &next->info);
  if (q.code == CL_SUCCESS)
    list->count++;
  else
    list->refused = q;
}

static slab_status append_devices(cl_platform_id platform, device_list *list, cl_int *code) {
  cl_uint n = 0;
  *code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, NULL, &n);
  if (*code != CL_SUCCESS || n == 0) return SLAB_OK;
  const size_t size = (list->count + n) * sizeof *list->devices;
  cl_device_id *ids = calloc(n, sizeof *ids);
  found_device *grown = ids == NULL ? NULL : realloc(list->devices, size);
  if (grown == NULL) {
    free(ids);
    return fail_memory(size, "the device list");
  }
  list->devices = grown;
  *code = clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, n, ids, NULL);
  for (cl_uint i = 0; *code == CL_SUCCESS && i < n; i++) append_device(list, platform, ids[i]);
  free(ids);
  return SLAB_OK;
}

/* Lists every device of every platform that can be described. Platforms that fail are skipped. On failure the list is
 * empty and there is nothing to free. */
static slab_status find_devices(device_list *list) {
  *list = (device_list){0};
  cl_uint platforms = 0;
  const char *call = "clGetPlatformIDs";
  cl_int code = clGetPlatformIDs(0, NULL, &platforms);
  if (code != CL_SUCCESS || platforms == 0) return fail_no_device(call, code);
  cl_platform_id *ids = calloc(platforms, sizeof *ids);
  if (ids == NULL) return fail_memory(platforms * sizeof *ids, "the platform list");
  code = clGetPlatformIDs(platforms, ids, NULL);
  slab_status status = SLAB_OK;
  for (cl_uint i = 0; code == CL_SUCCESS && status == SLAB_OK && i < platforms; i++) {
    cl_int device_code;
    status = append_devices(ids[i], list, &device_code);
    if (list->count > 0 || i + 1 < platforms) continue;
    call = "clGetDeviceIDs";
    code = device_code;
  }
  free(ids);
  if (status == SLAB_OK && list->count == 0)
    status = list->refused.code != CL_SUCCESS ? fail_inquiry(&list->refused) : fail_no_device(call, code);
  if (status != SLAB_OK) {
    free(list->devices);
    list->devices = NULL;
  }
  return status;
}

slab_status slab_devices(slab_device_info *list, size_t capacity, size_t *count) {
  if (count == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_devices: count is NULL");
  if (list == NULL && capacity > 0) return fail(SLAB_INVALID_ARGUMENT, "slab_devices: list is NULL");
  ARITHMETIC callers = arithmetic_begin(); /* threads that the driver starts inherit it */
  device_list found;
  slab_status status = process_begin("slab_devices");
  if (status == SLAB_OK) status = find_devices(&found);
  if (status == SLAB_NO_DEVICE) *count = 0;
  if (status != SLAB_OK) return status;
  for (size_t i = 0; i < found.count && i < capacity; i++) list[i] = found.devices[i].info;
  *count = found.count;
  free(found.devices);
  return SLAB_OK;
}

/* ---- choosing ---- */

static bool contains_ignoring_case(const char *text, const char *part) {
  size_t length = strlen(part);
  for (; *text != 0; text++) {
    size_t i = 0;
    while (i < length && tolower((unsigned char)text[i]) == tolower((unsigned char)part[i])) i++;
    if (i == length) return true;
  }
  return false;
}

static bool device_matches(const slab_device_info *info, size_t index, const char *selector) {
  char *end;
  unsigned long number = strtoul(selector, &end, 10);
  if (isdigit((unsigned char)*selector) && *end == 0) return number == index;
  if (strcmp(selector, "cpu") == 0) return info->type == SLAB_DEVICE_CPU;
  if (strcmp(selector, "gpu") == 0) return info->type == SLAB_DEVICE_GPU;
  return contains_ignoring_case(info->name, selector) || contains_ignoring_case(info->platform, selector);
}

static slab_status fail_no_match(const device_list *found, const char *selector) {
  const inquiry *q = &found->refused;
  if (q->code == CL_SUCCESS)
    return fail(SLAB_NO_DEVICE, "no OpenCL device matches \"%s\": the list has %zu", selector, found->count);
  return fail(SLAB_NO_DEVICE,
              "no OpenCL device matches \"%s\": the list has %zu, and lacks one that cannot be described (%s failed "
              "with %s (%d) for property 0x%x)",
              selector, found->count, q->call, cl_code_name(q->code), q->code, q->property);
}

/* Chooses the first device that the selector names. Without a selector: a GPU if there is one, else the first device.
 */
static slab_status choose_one(const device_list *found, const char *selector, size_t *chosen) {
  for (size_t i = 0; i < found->count; i++)
    if (device_matches(&found->devices[i].info, i, selector == NULL ? "gpu" : selector)) {
      *chosen = i;
      return SLAB_OK;
    }
  *chosen = 0;
  return selector == NULL ? SLAB_OK : fail_no_match(found, selector);
}

/* Chooses the device of the next entry of a list. Empty entries and repeated devices are refused. */
static slab_status choose_next(const char *list, const char **rest, const device_list *found, size_t *chosen,
                               size_t *n) {
  const size_t length = strcspn(*rest, ",");
  char word[sizeof((slab_device_info *)0)->name];
  snprintf(word, sizeof word, "%.*s", (int)(length < sizeof word ? length : sizeof word - 1), *rest);
  if (length == 0) return fail(SLAB_INVALID_ARGUMENT, "the list of devices \"%s\" has an empty entry", list);
  *rest += length + ((*rest)[length] == ',' && (*rest)[length + 1] != 0);
  slab_status status = choose_one(found, word, &chosen[*n]);
  for (size_t i = 0; status == SLAB_OK && i < *n; i++)
    if (chosen[i] == chosen[*n])
      return fail(SLAB_INVALID_ARGUMENT, "the list of devices \"%s\" names device %zu twice, by \"%s\" again", list,
                  chosen[i], word);
  (*n)++;
  return status;
}

static slab_status choose_list(const char *list, const device_list *found, size_t *chosen, size_t *n) {
  slab_status status;
  const char *rest = list;
  do status = choose_next(list, &rest, found, chosen, n);
  while (status == SLAB_OK && *rest != 0);
  return status;
}

/* Chooses every device that can keep the contract. */
static slab_status choose_all(const device_list *found, size_t *chosen, size_t *n) {
  for (size_t i = 0; i < found->count; i++)
    if (found->devices[i].info.rounds_to_nearest) chosen[(*n)++] = i;
  return *n > 0 ? SLAB_OK : fail(SLAB_UNSUPPORTED, "no device rounds to nearest: the list has %zu", found->count);
}

slab_status choose_devices(const char *selector, found_device **chosen, size_t *n) {
  device_list found;
  *chosen = NULL;
  *n = 0;
  slab_status status = find_devices(&found);
  if (status != SLAB_OK) return status;
  size_t *indices = calloc(found.count + 1, sizeof *indices);
  if (indices == NULL) {
    status = fail_memory((found.count + 1) * sizeof *indices, "the device list");
  } else if (selector != NULL && strcmp(selector, "all") == 0) {
    status = choose_all(&found, indices, n);
  } else if (selector != NULL && strchr(selector, ',') != NULL) {
    status = choose_list(selector, &found, indices, n);
  } else {
    status = choose_one(&found, selector, indices);
    *n = 1;
  }
  if (status == SLAB_OK && (*chosen = calloc(*n, sizeof **chosen)) == NULL)
    status = fail_memory(*n * sizeof **chosen, "the device list");
  for (size_t i = 0; status == SLAB_OK && i < *n; i++) (*chosen)[i] = found.devices[indices[i]];
  free(indices);
  free(found.devices);
  return status;
}
