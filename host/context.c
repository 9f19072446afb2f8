/* Contexts: opening devices and closing them. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "arithmetic.h"
#include "context.h"
#include "device.h"
#include "device_list.h"
#include "probe.h"
#include "process.h"
#include "program.h"
#include "slabcast_cl.h"
#include "staging.h"
#include "status.h"
#include "tuning.h"

/* ---- opening ---- */

static bool is_lane_width(uint32_t lanes) { return lanes == 0 || lanes == 1 || lanes == 8 || lanes == 16; }

/* Queries a property as yes or no. A driver that does not know the property counts as no. */
static slab_status ask_whether(const device *d, cl_device_info property, size_t size, bool *answer) {
  inquiry q = {.id = d->id};
  *answer = device_number(&q, property, size) != 0;
  if (q.code == CL_SUCCESS || q.code == CL_INVALID_VALUE) return SLAB_OK;
  return fail_cl(q.code, "clGetDeviceInfo", d->info.name);
}

/* Queries the maximum work-items per group, for any kernel. */
static slab_status ask_group(device *d) {
  inquiry q = {.id = d->id};
  size_t items[16] = {0}; /* one per dimension; devices have three */
  const size_t group = (size_t)device_number(&q, CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof group);
  device_ask(&q, CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof items, items);
  d->group_most = items[0] < group ? items[0] : group;
  return q.code == CL_SUCCESS ? SLAB_OK : fail_inquiry(&q);
}

static slab_status device_configure(device *d, const slab_context_options *options) {
  if (!d->info.rounds_to_nearest)
    return fail(SLAB_UNSUPPORTED, "device \"%s\" does not round to nearest, so its answers would differ", d->info.name);
  if (options->lane_width != 0) d->info.lane_width = options->lane_width;
  d->in_place = d->info.type == SLAB_DEVICE_CPU && options->copy == 0;
  d->launch_rays = options->launch_rays;
  d->traversal = options->traversal;
  d->tuning = tuning_of(options->layout == SLAB_LAYOUT_COMPRESSED ? SLAB_DEVICE_GPU : d->info.type);
  slab_status status = ask_group(d);
  if (status == SLAB_OK) status = ask_whether(d, CL_DEVICE_PARENT_DEVICE, sizeof(cl_device_id), &d->is_part);
  if (status != SLAB_OK) return status;
  return ask_whether(d, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof(cl_device_fp_config), &d->has_double);
}

static slab_status open_device(device *d) {
  cl_int code;
  d->scene_in_place = d->in_place;
  d->context = clCreateContext(NULL, 1, &d->id, NULL, NULL, &code);
  return d->context == NULL ? fail_cl(code, "clCreateContext", d->info.name) : device_queue(d, &d->queue);
}

/* Uses the caller's context and queue. A queue that runs out of order is replaced by one of our own. */
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

/* In a forked process the driver's objects are not released: that may wait for threads that do not exist in this
 * process. Mutexes and conditions are not destroyed either, since such a thread may hold them or wait for them. */
static void device_close(device *d) {
  staging_buffers_free_all(d, d->idle_buffers);
  programs_free(d->programs);
  if (process_is_forked()) return;
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
  if ((unsigned)options->traversal > SLAB_TRAVERSAL_SORTED)
    return fail(SLAB_INVALID_ARGUMENT, "%s: traversal is %d, not a slab_traversal", function, (int)options->traversal);
  if ((unsigned)options->layout > SLAB_LAYOUT_COMPRESSED)
    return fail(SLAB_INVALID_ARGUMENT, "%s: layout is %d, not a slab_layout", function, (int)options->layout);
  return SLAB_OK;
}

/* Retains the device before it is opened: a sub-device has nothing else that keeps it alive. */
static slab_status device_prepare(device *d, const found_device *found, const slab_context_options *options) {
  cl_int code = clRetainDevice(found->id);
  if (code != CL_SUCCESS) return fail_cl(code, "clRetainDevice", "a context");
  d->id = found->id;
  d->platform = found->platform;
  d->info = found->info;
  return device_configure(d, options);
}

/* Allocates a context for `devices` devices. device_count, initially 0, counts those that are prepared. */
static slab_status context_allocate(size_t devices, slab_context **context) {
  const size_t size = sizeof **context + devices * sizeof *(*context)->devices;
  *context = calloc(1, size);
  if (*context == NULL) return fail_memory(size, "a context");
  atomic_init(&(*context)->references, 1);
  return SLAB_OK;
}

/* Whether two devices are GPUs of one model and driver, which can run each other's binaries. */
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

static slab_status context_open_one(slab_context *context, const found_device *found,
                                    const slab_context_options *options) {
  slab_status status = context_add(context, found, options);
  device *d = &context->devices[context->device_count - 1];
  if (status == SLAB_OK) status = open_device(d);
  return status == SLAB_OK ? probe_device(d) : status;
}

/* Opens the chosen devices. With "all", a device that cannot keep the contract is skipped unless no other one is left.
 */
static slab_status context_open(slab_context *context, const found_device *chosen, size_t count,
                                const slab_context_options *options) {
  const bool all = options->device != NULL && strcmp(options->device, "all") == 0;
  slab_status status = SLAB_OK;
  for (size_t i = 0; status == SLAB_OK && i < count; i++) {
    status = context_open_one(context, &chosen[i], options);
    if (status != SLAB_UNSUPPORTED || !all || (context->device_count == 1 && i + 1 == count)) continue;
    device *last = &context->devices[--context->device_count];
    device_close(last);
    memset(last, 0, sizeof *last);
    status = SLAB_OK;
  }
  return status;
}

/* The layout is the same for all devices, since a BVH is built once. */
static slab_layout layout_for(const slab_context *context, const slab_context_options *options) {
  if (options->layout != SLAB_LAYOUT_DEFAULT) return options->layout;
  for (uint32_t i = 0; i < context->device_count; i++)
    if (context->devices[i].info.type == SLAB_DEVICE_CPU) return SLAB_LAYOUT_WIDE;
  return SLAB_LAYOUT_COMPRESSED;
}

/* Returns the context, or releases it on failure. */
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
  if (status == SLAB_OK) status = process_begin("slab_context_create");
  if (status != SLAB_OK) return status;
  ARITHMETIC callers = arithmetic_begin(); /* threads that the driver starts inherit it */
  found_device *chosen = NULL;
  size_t count = 0;
  slab_context *created = NULL;
  status = choose_devices(options->device, &chosen, &count);
  if (status == SLAB_OK) status = context_allocate(count, &created);
  if (status == SLAB_OK) status = context_open(created, chosen, count, options);
  free(chosen);
  return finish_context(status, options, created, context);
}

slab_status slab_context_create_cl(cl_context cl, cl_device_id id, cl_command_queue queue,
                                   const slab_context_options *options, slab_context **context) {
  if (options == NULL) options = &default_options;
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = check_options(options, context, "slab_context_create_cl");
  if (status == SLAB_OK) status = process_begin("slab_context_create_cl");
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
  if (status == SLAB_OK) status = probe_device(&created->devices[0]);
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
