/* Devices: listing, choosing and opening them. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "private.h"
#include "slabcast_cl.h"

/* ---- what a device is ---- */

/* Questions to a device; after one that failed, which `call`, `property` and `code` tell, no more are asked. */
typedef struct inquiry {
  cl_device_id id;
  const char *call;
  cl_uint property;
  cl_int code;
} inquiry;

static slab_status fail_inquiry(const inquiry *q) {
  char purpose[64];
  snprintf(purpose, sizeof purpose, "property 0x%x of a device", q->property);
  return fail_cl(q->code, q->call, purpose);
}

static void ask(inquiry *q, cl_device_info property, size_t size, void *value) {
  if (q->code != CL_SUCCESS) return;
  q->call = "clGetDeviceInfo";
  q->property = property;
  q->code = clGetDeviceInfo(q->id, property, size, value, NULL);
}

static void device_text(inquiry *q, cl_device_info property, char *text, size_t size) {
  char buffer[1024] = "";
  ask(q, property, sizeof buffer - 1, buffer);
  const char *begin = buffer;
  while (isspace((unsigned char)*begin)) begin++;
  snprintf(text, size, "%s", begin);
}

static uint64_t device_number(inquiry *q, cl_device_info property, size_t size) {
  uint64_t value = 0; /* the number may be 32 bits: low half on little-endian hosts, which is all OpenCL runs on */
  ask(q, property, size, &value);
  return value;
}

/* Explicit lanes, as wide as the device's registers; one where drivers put neighbouring work-items side by side
 * themselves and call their native width 1 (Mesa's llvmpipe). */
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

/* The inquiry tells whether it could be described. */
static inquiry device_describe(cl_platform_id platform, cl_device_id id, slab_device_info *described) {
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

typedef struct found_device {
  cl_platform_id platform;
  cl_device_id id;
  slab_device_info info;
} found_device;

/* As selectors count them. A device that cannot be described is left out everywhere, so that an index names one device
 * wherever it is used. */
typedef struct device_list {
  found_device *devices; /* malloc'ed */
  size_t count;
  inquiry refused; /* of the last that was left out; code CL_SUCCESS: none was */
} device_list;

/* An unwritable kernel cache makes PoCL report that there is no device, without a word. */
static slab_status fail_no_device(const char *call, cl_int code) {
  return fail(
      SLAB_NO_DEVICE,
      "no OpenCL device found (%s gave %d): install a driver, such as pocl-opencl-icd for the CPU; where PoCL is "
      "installed, its kernel cache may not be writable: set POCL_CACHE_DIR to a writable directory",
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

/* Every device of every platform that can be described; on failure there are none, and nothing to free. A platform that
 * fails is passed over. */
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
  device_list found;
  slab_status status = find_devices(&found);
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
    return fail(SLAB_NO_DEVICE, "no OpenCL device matches \"%s\": there are %zu", selector, found->count);
  return fail(
      SLAB_NO_DEVICE,
      "no OpenCL device matches \"%s\": there are %zu, and one that cannot be described (%s failed with %s (%d) "
      "for property 0x%x)",
      selector, found->count, q->call, cl_code_name(q->code), q->code, q->property);
}

/* The first device that the selector names; without one a GPU where there is one, else the first. */
static slab_status choose_one(const device_list *found, const char *selector, size_t *chosen) {
  for (size_t i = 0; i < found->count; i++)
    if (device_matches(&found->devices[i].info, i, selector == NULL ? "gpu" : selector)) {
      *chosen = i;
      return SLAB_OK;
    }
  *chosen = 0;
  return selector == NULL ? SLAB_OK : fail_no_match(found, selector);
}

/* One more of a list: its next word. Neither none nor one that is chosen already. */
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

/* Every device that can keep the contract. */
static slab_status choose_all(const device_list *found, size_t *chosen, size_t *n) {
  for (size_t i = 0; i < found->count; i++)
    if (found->devices[i].info.rounds_to_nearest) chosen[(*n)++] = i;
  return *n > 0 ? SLAB_OK : fail(SLAB_UNSUPPORTED, "none of the %zu devices rounds to nearest", found->count);
}

/* What a selector names: *chosen is malloc'ed, and NULL on failure. */
static slab_status choose_devices(const char *selector, found_device **chosen, size_t *n) {
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

/* ---- opening ---- */

static bool is_lane_width(uint32_t lanes) { return lanes == 0 || lanes == 1 || lanes == 8 || lanes == 16; }

/* A driver that does not know the question says no. */
static slab_status ask_whether(const device *d, cl_device_info property, size_t size, bool *answer) {
  inquiry q = {.id = d->id};
  *answer = device_number(&q, property, size) != 0;
  if (q.code == CL_SUCCESS || q.code == CL_INVALID_VALUE) return SLAB_OK;
  return fail_cl(q.code, "clGetDeviceInfo", d->info.name);
}

/* Work-items that a group can have, whatever the kernel. */
static slab_status ask_group(device *d) {
  inquiry q = {.id = d->id};
  size_t items[16] = {0}; /* of each dimension: devices have three */
  const size_t group = (size_t)device_number(&q, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group);
  ask(&q, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items);
  d->group_most = items[0] < group ? items[0] : group;
  return q.code == CL_SUCCESS ? SLAB_OK : fail_inquiry(&q);
}

static slab_status device_configure(device *d, const slab_context_options *options) {
  if (!d->info.rounds_to_nearest)
    return fail(SLAB_UNSUPPORTED, "device \"%s\" does not round to nearest, so its answers would differ", d->info.name);
  if (options->lane_width != 0) d->info.lane_width = options->lane_width;
  d->in_place = d->info.type == SLAB_DEVICE_CPU && options->copy == 0;
  d->launch_rays = options->launch_rays;
  d->tactic = options->tactic;
  d->tuning = tuning_of(options->layout == SLAB_LAYOUT_COMPRESSED ? SLAB_DEVICE_GPU : d->info.type);
  slab_status status = ask_group(d);
  if (status == SLAB_OK) status = ask_whether(d, CL_DEVICE_PARENT_DEVICE, sizeof(cl_device_id), &d->is_part);
  if (status != SLAB_OK || d->info.exact_divide) return status;
  return ask_whether(d, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config), &d->has_double);
}

slab_status device_queue(const device *d, cl_command_queue *queue) {
  cl_int code;
  *queue = clCreateCommandQueue(d->context, d->id, 0, &code);
  if (code == CL_INVALID_DEVICE) /* the driver knows better than its list of devices, which may lack parts of one */
    return fail(SLAB_INVALID_ARGUMENT, "slab_context_create_cl: the device is not one of the context's");
  return *queue == NULL ? fail_cl(code, "clCreateCommandQueue", d->info.name) : SLAB_OK;
}

static slab_status open_device(device *d) {
  cl_int code;
  d->scene_in_place = d->in_place;
  d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &code);
  return d->context == NULL ? fail_cl(code, "clCreateContext", d->info.name) : device_queue(d, &d->queue);
}

/* Takes the caller's objects; a queue that runs out of order is left alone for one of our own. */
static slab_status adopt_device(device *d, cl_context context, cl_command_queue queue) {
  cl_command_queue_properties properties = 0;
  cl_int code = clRetainContext(context);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainContext", "slab_context_create_cl");
  d->context = context;
  if (queue == NULL) return device_queue(d, &d->queue);
  code = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof properties, &properties, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetCommandQueueInfo", "slab_context_create_cl");
  if ((properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) != 0) return device_queue(d, &d->queue);
  code = clRetainCommandQueue(queue);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainCommandQueue", "slab_context_create_cl");
  d->queue = queue;
  d->queue_is_callers = true;
  return SLAB_OK;
}

/* PoCL (3.1) frees a part of a device with the last reference to it, though a queue is on it, and still puts the last
 * command of a queue away when clFinish returns. A command holds its queue: when nobody else does, PoCL is through. */
void wait_for_driver(const device *d, cl_command_queue queue) {
  const struct timespec moment = {.tv_nsec = 20000};
  cl_uint holders = 0;
  if (!d->is_part || queue == NULL) return;
  for (int i = 0; i < 500; i++) { /* 10 ms and more: the caller may hold its own queue for ever */
    if (clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof holders, &holders, NULL) != CL_SUCCESS) return;
    if (holders <= 1) return;
    nanosleep(&moment, NULL);
  }
}

static void device_close(device *d) {
  slots_free(d, d->slots);
  programs_free(d->programs);
  wait_for_driver(d, d->queue);
  if (d->queue != NULL) clReleaseCommandQueue(d->queue);
  if (d->context != NULL) clReleaseContext(d->context);
  if (d->id != NULL) clReleaseDevice(d->id);
  pthread_cond_destroy(&d->built);
  pthread_mutex_destroy(&d->lock);
}

static slab_status check_options(const slab_context_options *options, slab_context **context, const char *function) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: context is NULL", function);
  if (!is_lane_width(options->lane_width))
    return fail(SLAB_INVALID_ARGUMENT, "%s: lane_width is %u, not 0, 1, 8 or 16", function, options->lane_width);
  if ((unsigned)options->tactic > SLAB_TACTIC_SORTED)
    return fail(SLAB_INVALID_ARGUMENT, "%s: tactic is %d, not a slab_tactic", function, (int)options->tactic);
  if ((unsigned)options->layout > SLAB_LAYOUT_COMPRESSED)
    return fail(SLAB_INVALID_ARGUMENT, "%s: layout is %d, not a slab_layout", function, (int)options->layout);
  return SLAB_OK;
}

/* A device that is not opened yet is retained: it may be a part of one, which nothing else keeps alive. */
static slab_status device_prepare(device *d, const found_device *found, const slab_context_options *options) {
  cl_int code = clRetainDevice(found->id);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainDevice", "a context");
  d->id = found->id;
  d->platform = found->platform;
  d->info = found->info;
  return device_configure(d, options);
}

/* Room for so many devices, of which none is prepared: device_count counts those that are. */
static slab_status context_allocate(size_t devices, slab_context **context) {
  const size_t size = sizeof **context + devices * sizeof *(*context)->devices;
  *context = calloc(1, size);
  if (*context == NULL) return fail_memory(size, "a context");
  atomic_init(&(*context)->references, 1);
  return SLAB_OK;
}

/* GPUs of one kind under one driver, which can run each other's binaries. */
static bool are_equal_gpus(const device *a, const device *b) {
  const slab_device_info *x = &a->info, *y = &b->info;
  return x->type == SLAB_DEVICE_GPU && y->type == SLAB_DEVICE_GPU && a->platform == b->platform &&
         strcmp(x->name, y->name) == 0 && strcmp(x->vendor, y->vendor) == 0 && strcmp(x->driver, y->driver) == 0 &&
         strcmp(x->version, y->version) == 0;
}

static slab_status context_add(slab_context *context, const found_device *found, const slab_context_options *options) {
  device *d = &context->devices[context->device_count];
  d->nth = context->device_count++;
  d->builder = d;
  pthread_mutex_init(&d->lock, NULL);
  pthread_cond_init(&d->built, NULL);
  const slab_status status = device_prepare(d, found, options);
  for (uint32_t i = d->nth; i-- > 0;)
    if (are_equal_gpus(&context->devices[i], d)) d->builder = &context->devices[i];
  return status;
}

/* One for all devices, since a tree is built once. */
static slab_layout layout_for(const slab_context *context, const slab_context_options *options) {
  if (options->layout != SLAB_LAYOUT_DEFAULT) return options->layout;
  for (uint32_t i = 0; i < context->device_count; i++)
    if (context->devices[i].info.type == SLAB_DEVICE_CPU) return SLAB_LAYOUT_WIDE;
  return SLAB_LAYOUT_COMPRESSED;
}

/* Hands over what was opened, or lets go of it. */
static slab_status finish_context(slab_status status, const slab_context_options *options, slab_context *created,
                                  slab_context **context) {
  if (status == SLAB_OK) created->layout = layout_for(created, options);
  if (status == SLAB_OK)
    *context = created;
  else
    context_release(created);
  return status;
}

static const slab_context_options default_options;

slab_status slab_context_create(const slab_context_options *options, slab_context **context) {
  if (options == NULL) options = &default_options;
  slab_status status = check_options(options, context, "slab_context_create");
  if (status != SLAB_OK) return status;
  found_device *chosen = NULL;
  size_t count = 0;
  slab_context *created = NULL;
  status = choose_devices(options->device, &chosen, &count);
  if (status == SLAB_OK) status = context_allocate(count, &created);
  for (size_t i = 0; status == SLAB_OK && i < count; i++) {
    status = context_add(created, &chosen[i], options);
    if (status == SLAB_OK) status = open_device(&created->devices[i]);
  }
  free(chosen);
  return finish_context(status, options, created, context);
}

slab_status slab_context_create_cl(cl_context cl, cl_device_id id, cl_command_queue queue,
                                   const slab_context_options *options, slab_context **context) {
  if (options == NULL) options = &default_options;
  slab_status status = check_options(options, context, "slab_context_create_cl");
  if (status == SLAB_OK) status = check_queue("slab_context_create_cl", cl, id, queue);
  if (status != SLAB_OK) return status;
  found_device found = {.id = id};
  slab_context *created = NULL;
  cl_int code = clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof found.platform, &found.platform, NULL);
  if (code != CL_SUCCESS) return fail_cl(code, "clGetDeviceInfo", "slab_context_create_cl");
  const inquiry q = device_describe(found.platform, id, &found.info);
  if (q.code != CL_SUCCESS) return fail_inquiry(&q);
  status = context_allocate(1, &created);
  if (status == SLAB_OK) status = context_add(created, &found, options);
  if (status == SLAB_OK) status = adopt_device(&created->devices[0], cl, queue);
  return finish_context(status, options, created, context);
}

void context_retain(slab_context *context) { atomic_fetch_add(&context->references, 1); }

void context_release(slab_context *context) {
  if (context == NULL || atomic_fetch_sub(&context->references, 1) != 1) return;
  for (uint32_t i = 0; i < context->device_count; i++) device_close(&context->devices[i]);
  free(context);
}

void slab_context_destroy(slab_context *context) { context_release(context); }

slab_status slab_context_device(const slab_context *context, slab_device_info *info) {
  if (context == NULL || info == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_context_device: %s is NULL", context == NULL ? "context" : "info");
  *info = context->devices[0].info;
  return SLAB_OK;
}

slab_status slab_context_devices(const slab_context *context, slab_device_info *list, size_t capacity, size_t *count) {
  if (context == NULL || count == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_context_devices: %s is NULL", context == NULL ? "context" : "count");
  if (list == NULL && capacity > 0) return fail(SLAB_INVALID_ARGUMENT, "slab_context_devices: list is NULL");
  *count = context->device_count;
  for (size_t i = 0; i < capacity && i < *count; i++) list[i] = context->devices[i].info;
  return SLAB_OK;
}

slab_status slab_context_objects(const slab_context *context, cl_context *cl, cl_device_id *id) {
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_context_objects: context is NULL");
  if (cl != NULL) *cl = context->devices[0].context;
  if (id != NULL) *id = context->devices[0].id;
  return SLAB_OK;
}
