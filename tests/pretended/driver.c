/* The table of the driver that pretends, and its devices. */
#define _DEFAULT_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/status.h"
#include "device/backend.h"
#include "faults.h"
#include "gpu/buffers.h"
#include "gpu/gpu.h"
#include "handles.h"
#include "kernels.h"
#include "orders.h"
#include "police.h"
#include "pretended.h"

enum { SMALL = 4096 }; /* bytes that PRETENDED_TIMED copies */

static pretended_kind kind;
static pretended_counts seen;

static char platform, ids[PRETENDED_MOST]; /* devices are found by these */

/* An open device. */
typedef struct own_device {
  uint32_t nth;
} own_device;

static own_device *own_of(const device *d) { return handle_get(HANDLE_DEVICE, NULL, gpu_of(d)->own, "a device"); }
static uint64_t told(void) { return kind.told != 0 ? kind.told : UINT64_C(1) << 32; }
static size_t group_most(void) { return kind.group != 0 ? kind.group : 1024; }
static uint32_t device_count(void) { return kind.devices != 0 ? kind.devices : 1; }

static void rest(double seconds) {
  const struct timespec time = {(time_t)seconds, (long)(1e9 * (seconds - (double)(time_t)seconds))};
  if (seconds > 0.0) nanosleep(&time, NULL);
}

/* ---- control ---- */

void pretended_as(const pretended_kind *as) {
  handles_lock();
  POLICE(as->devices <= PRETENDED_MOST, "there are %d devices at most", PRETENDED_MOST);
  kind = *as;
  orders_pace(kind.pace, kind.seed);
  handles_unlock();
}

void pretended_by_environment(void) {
  const char *text = getenv("PRETENDED_AS");
  pretended_kind as = {0};
  char name[16];
  double value;
  int used;
  for (; text != NULL && *text != 0; text += used + (text[used] == ',')) {
    POLICE(sscanf(text, "%15[a-z_]:%lf%n", name, &value, &used) == 2, "PRETENDED_AS is not NAME:VALUE,...: %s", text);
#define NAMED(member, type) \
  if (strcmp(name, #member) == 0) as.member = (type)value;
    NAMED(devices, uint32_t)
    NAMED(is_gpu, bool)
    NAMED(is_uneven, bool)
    NAMED(told, uint64_t)
    NAMED(allocates, uint64_t)
    NAMED(group, uint32_t)
    NAMED(pace, pretended_pace)
    NAMED(seed, uint64_t)
    NAMED(building, double)
    NAMED(launching, double)
    NAMED(bus, double)
    NAMED(casting, double)
  }
  pretended_as(&as);
}

count_live pretended_live(void) {
  handles_lock();
  const count_live live = handles_live();
  handles_unlock();
  return live;
}

pretended_counts pretended_seen(void) {
  handles_lock();
  seen.unflushed += orders_unflushed();
  const pretended_counts now = seen;
  handles_unlock();
  return now;
}

void pretended_forget(void) {
  handles_lock();
  orders_unflushed();
  seen = (pretended_counts){0};
  handles_unlock();
}

/* ---- devices ---- */

static slab_device_info describe(uint32_t nth) {
  slab_device_info info = {.type = kind.is_gpu ? SLAB_DEVICE_GPU : SLAB_DEVICE_CPU,
                           .compute_units = 2,
                           .memory_bytes = UINT64_C(1) << 34,
                           .allocation_bytes = told(),
                           .denormals = 1,
                           .rounds_to_nearest = 1,
                           .exact_divide = 1,
                           .lane_width = 1};
  snprintf(info.name, sizeof info.name, kind.is_uneven ? "pretended %u" : "pretended", nth);
  snprintf(info.vendor, sizeof info.vendor, "tests");
  snprintf(info.driver, sizeof info.driver, "1");
  snprintf(info.version, sizeof info.version, "one lane");
  snprintf(info.platform, sizeof info.platform, "pretended");
  return info;
}

static slab_status list_devices(const backend *own, device_list *list) {
  slab_status status = faults_strike("pretended_list", false, "the devices");
  if (status == SLAB_OK) status = device_list_reserve(list, device_count());
  for (uint32_t i = 0; status == SLAB_OK && i < device_count(); i++)
    list->devices[list->count++] =
        (found_device){.backend = own, .platform = &platform, .id = &ids[i], .info = describe(i)};
  return status;
}

static slab_status open_device(device *d, const found_device *found) {
  void *number;
  const slab_status status = faults_strike("pretended_open", false, d->info.name);
  if (status != SLAB_OK) return status;
  if (d->info.lane_width != 1)
    return fail(SLAB_UNSUPPORTED, "\"%s\" has kernels of one lane, and not of %u", d->info.name, d->info.lane_width);
  handles_lock();
  own_device *own = handle_new(HANDLE_DEVICE, NULL, &number);
  own->nth = (uint32_t)((const char *)found->id - ids);
  gpu_of(d)->own = number;
  gpu_of(d)->queue = orders_queue(number);
  handles_unlock();
  return SLAB_OK;
}

static void close_device(device *d) {
  const void *own = gpu_of(d)->own;
  if (own == NULL || is_inherited(d)) return;
  handles_lock();
  own_device *o = own_of(d);
  orders_release_queue(own, gpu_of(d)->queue, "close");
  for (int k = 0; k < HANDLE_KINDS; k++) handles_none_of((handle_kind)k, own);
  handle_free(o);
  handles_unlock();
}

/* ---- buffers ---- */

static slab_status create(const device *d, gpu_access access, gpu_memory memory, size_t size, void *bytes,
                          const char *what, gpu_buffer **made) {
  static const char call[] = "pretended_create";
  *made = NULL;
  slab_status status = faults_strike(call, memory == GPU_PINNED, what);
  if (status != SLAB_OK) return status;
  handles_lock();
  own_of(d);
  if (size > (kind.allocates != 0 ? kind.allocates : told())) {
    seen.refused++;
    status = faults_fail(call, SLAB_OUT_OF_MEMORY, what);
  } else if (buffers_create(gpu_of(d)->own, access, memory, size, bytes, made) == NULL) {
    status = faults_fail(call, SLAB_OUT_OF_MEMORY, what);
  } else {
    seen.buffers++;
    seen.pinned += memory == GPU_PINNED;
    if (size > seen.largest) seen.largest = size;
  }
  handles_unlock();
  return status;
}

static slab_status retain(gpu_buffer *handle, const char *what) {
  const slab_status status = faults_strike("pretended_retain", false, what);
  if (status != SLAB_OK) return status;
  handles_lock();
  buffer *b = buffers_get(NULL, handle, "retain");
  b->references++;
  handle_count(b, 1);
  handles_unlock();
  return SLAB_OK;
}

static void release(gpu_buffer *handle) {
  handles_lock();
  buffers_release(buffers_get(NULL, handle, "release"));
  handles_unlock();
}

/* ---- transfers ---- */

/* Puts a command on its queue, and waits for it where the caller does. */
static slab_status put(gpu_queue *queue, command *c, gpu_order order, bool wait, const char *name, const char *what) {
  const bool late = order.done != NULL && faults_strike_late(name);
  const uint64_t number = orders_put(c, order, late);
  const bool well = !wait || orders_await(queue, number, name);
  handles_unlock();
  return well ? SLAB_OK : faults_fail(name, SLAB_DEVICE_FAILED, what);
}

/* With the lock, a command on a buffer of the queue's device, which is in reach. */
static command *command_on(gpu_queue *queue, command_run *run, const char *call, gpu_buffer *handle, size_t at,
                           size_t size) {
  handles_lock();
  const void *owner = orders_owner(queue, call);
  buffer *b = buffers_get(owner, handle, call);
  buffers_check(b, at, size, call);
  command *c = orders_command(queue, run, call);
  orders_use(c, b);
  c->at[0] = at;
  c->size = size;
  return c;
}

static bool is_timed(void) { return kind.pace == PRETENDED_TIMED; }

/* Whether this processor makes the copies of the bus (PRETENDED_TIMED). */
static bool moves(const command *c) { return !is_timed() || c->size <= SMALL; }

static void over_bus(command *c, engine way) {
  c->engine = way;
  if (is_timed()) c->seconds = (double)c->size / kind.bus;
}

static void run_write(command *c) {
  if (!moves(c)) return;
  pages_protect(&c->buffers[0]->pages, false);
  memcpy(c->buffers[0]->pages.bytes + c->at[0], c->in, c->size);
}

static slab_status write(gpu_queue *queue, gpu_buffer *to, size_t at, const void *bytes, size_t size, bool wait,
                         gpu_order order, const char *what) {
  static const char name[] = "pretended_write";
  const slab_status status = faults_strike(name, false, what);
  if (status != SLAB_OK) return status;
  command *c = command_on(queue, run_write, "write", to, at, size);
  c->in = bytes;
  over_bus(c, ENGINE_UP);
  seen.up += size;
  return put(queue, c, order, wait, name, what);
}

static void run_read(command *c) {
  if (moves(c)) memcpy(c->out, c->buffers[0]->pages.bytes + c->at[0], c->size);
}

static slab_status read(gpu_queue *queue, gpu_buffer *from, size_t at, void *bytes, size_t size, bool wait,
                        gpu_order order, const char *what) {
  static const char name[] = "pretended_read";
  const slab_status status = faults_strike(name, false, what);
  if (status != SLAB_OK) return status;
  command *c = command_on(queue, run_read, "read", from, at, size);
  c->out = bytes;
  over_bus(c, ENGINE_DOWN);
  seen.reads++;
  seen.down += size;
  return put(queue, c, order, wait, name, what);
}

static void run_copy(command *c) {
  for (size_t i = 0; i < c->count; i++)
    memcpy(c->buffers[1]->pages.bytes + c->at[1] + i * c->stride[1],
           c->buffers[0]->pages.bytes + c->at[0] + i * c->stride[0], c->size);
}

static slab_status copy(gpu_queue *queue, gpu_rows from, gpu_rows to, size_t size, size_t count, gpu_order order,
                        const char *what) {
  static const char name[] = "pretended_copy";
  const slab_status status = faults_strike(name, false, what);
  if (status != SLAB_OK) return status;
  POLICE(count > 0 && from.stride >= size && to.stride >= size, "copy: %zu rows of %zu bytes, %zu and %zu apart", count,
         size, from.stride, to.stride);
  POLICE(from.buffer != to.buffer, "copy: within a buffer");
  command *c = command_on(queue, run_copy, "copy", from.buffer, from.at, (count - 1) * from.stride + size);
  buffer *target = buffers_get(c->buffers[0]->owner, to.buffer, "copy");
  buffers_check(target, to.at, (count - 1) * to.stride + size, "copy");
  orders_use(c, target);
  c->at[1] = to.at;
  c->stride[0] = from.stride;
  c->stride[1] = to.stride;
  c->size = size;
  c->count = count;
  seen.copies++;
  return put(queue, c, order, false, name, what);
}

static void run_map(command *c) { buffers_mapped(c->mapped); }

static slab_status map(gpu_queue *queue, gpu_buffer *handle, gpu_access access, size_t at, size_t size, bool wait,
                       gpu_order order, const char *what, void **mapped) {
  static const char name[] = "pretended_map";
  *mapped = NULL;
  handles_lock();
  const bool pinned = buffers_get(NULL, handle, "map")->memory == GPU_PINNED;
  handles_unlock();
  const slab_status status = faults_strike(name, pinned, what);
  if (status != SLAB_OK) return status;
  command *c = command_on(queue, run_map, "map", handle, at, size);
  c->mapped = buffers_map(c->buffers[0], access, at, size);
  *mapped = c->mapped->host;
  seen.mapped++;
  return put(queue, c, order, wait, name, what);
}

static void run_unmap(command *c) { buffers_unmapped(c->mapped); }

/* Calls that give something back do so also where they fail. */
static slab_status unmap(gpu_queue *queue, gpu_buffer *handle, void *mapped, const char *what) {
  static const char name[] = "pretended_unmap";
  const slab_status status = faults_strike(name, false, what);
  handles_lock();
  const void *owner = orders_owner(queue, "unmap");
  buffer *b = buffers_get(owner, handle, "unmap");
  command *c = orders_command(queue, run_unmap, "unmap");
  c->mapped = buffers_unmap(b, mapped);
  orders_use(c, b);
  orders_put(c, (gpu_order){0}, false);
  handles_unlock();
  return status;
}

/* ---- kernels ---- */

static bool alike(const device *d, const device *other, const program_key *key) {
  (void)d, (void)other, (void)key;
  return true;
}

static slab_status build(const device *d, const program_key *key, gpu_program *like, gpu_program **built) {
  void *number;
  *built = NULL;
  rest(kind.building);
  const slab_status status = faults_strike("pretended_build", false, d->info.name);
  if (status != SLAB_OK) return status;
  if (!kernels_has(key, 0))
    return fail(SLAB_BUILD_FAILED, "\"%s\" has no kernel %s like this", d->info.name, kernels_name(key, 0));
  handles_lock();
  own_of(d);
  if (like != NULL) handle_get(HANDLE_PROGRAM, NULL, like, "build");
  program_made *p = handle_new(HANDLE_PROGRAM, gpu_of(d)->own, &number);
  const bool compressed = key->source == PROGRAM_COMPRESSED || key->source == PROGRAM_POINTS_COMPRESSED;
  const slab_layout layout = compressed ? SLAB_LAYOUT_COMPRESSED : SLAB_LAYOUT_WIDE;
  *p = (program_made){*key, buffers_part_units(d), buffers_part_nodes(d, layout)};
  *built = number;
  seen.builds += like == NULL;
  seen.shared += like != NULL;
  handles_unlock();
  return SLAB_OK;
}

static void release_program(gpu_program *built) {
  handles_lock();
  handle_free(handle_get(HANDLE_PROGRAM, NULL, built, "release_program"));
  handles_unlock();
}

static slab_status kernel(const device *d, gpu_program *of, const program_key *key, uint32_t nth, gpu_kernel **made,
                          size_t *group) {
  void *number;
  *made = NULL;
  const slab_status status = faults_strike("pretended_kernel", false, d->info.name);
  if (status != SLAB_OK) return status;
  handles_lock();
  const program_made *p = handle_get(HANDLE_PROGRAM, gpu_of(d)->own, of, "kernel");
  POLICE(kernels_has(key, nth), "kernel: there is no kernel %u of %s", nth, kernels_name(key, 0));
  kernel_made *k = handle_new(HANDLE_KERNEL, gpu_of(d)->own, &number);
  k->program = *p;
  k->nth = nth;
  k->group = group_most();
  kernels_describe(k);
  *made = number;
  *group = k->group;
  handles_unlock();
  return SLAB_OK;
}

static void release_kernel(gpu_kernel *handle) {
  handles_lock();
  handle_free(handle_get(HANDLE_KERNEL, NULL, handle, "release_kernel"));
  handles_unlock();
}

static slab_status set(gpu_kernel *handle, uint32_t nth, const gpu_argument *a, const char *what) {
  const slab_status status = faults_strike("pretended_set", false, what);
  if (status != SLAB_OK) return status;
  handles_lock();
  kernel_made *k = handle_get(HANDLE_KERNEL, NULL, handle, "set");
  const char *name = kernels_name(&k->program.key, k->nth);
  if (nth == 0) k->set = 0;
  POLICE(nth == k->set, "set: argument %u of %s after %u others; does another thread set them?", nth, name, k->set);
  POLICE(nth < k->count, "set: argument %u of %s, which has %u", nth, name, k->count);
  POLICE(a->size == k->parameters[nth].size, "set: argument %u of %s has %zu bytes, not %zu", nth, name,
         k->parameters[nth].size, a->size);
  if (a->size > 0)
    memcpy(k->given[nth].value, a->value, a->size);
  else
    k->given[nth].buffer = a->buffer;
  k->set++;
  handles_unlock();
  return SLAB_OK;
}

static void run_kernel(command *c) {
  if (!is_timed()) kernels_run(&c->kernel);
}

/* Takes the arguments of a launch. Buffers among them are used until it has ended. */
static void take_arguments(const kernel_made *k, kernel_call *c) {
  uint32_t values = 0;
  for (uint32_t i = 0; i < k->count; i++) {
    const parameter *p = &k->parameters[i];
    if (p->kind == VALUE) {
      memcpy(c->values[values++], k->given[i].value, p->size);
    } else if (k->given[i].buffer != NULL) {
      c->buffers[i] = buffers_get(NULL, k->given[i].buffer, c->name);
      c->buffers[i]->uses++;
      c->writes[i] = p->kind == WRITES || p->kind == MAY_WRITE;
    } else {
      POLICE(p->kind == MAY_READ || p->kind == MAY_WRITE, "launch: argument %u of %s is NULL", i, c->name);
    }
  }
}

/* Work-items in any order: by a step that has no divisor with their number in common. */
static void mix(kernel_call *c) {
  static uint64_t state = 1;
  c->step = 1;
  if (kind.pace != PRETENDED_LATE || c->items < 3) return;
  state = state * UINT64_C(6364136223846793005) + kind.seed + 1;
  c->first = (state >> 33) % c->items;
  uint64_t a, b;
  do {
    c->step = (state = state * UINT64_C(6364136223846793005) + 1) >> 33;
    c->step = 1 + c->step % (c->items - 1);
    for (a = c->items, b = c->step; b != 0;) {
      const uint64_t left = a % b;
      a = b;
      b = left;
    }
  } while (a != 1);
}

static slab_status launch(gpu_queue *queue, gpu_kernel *handle, size_t items, size_t group, gpu_order order,
                          const char *what) {
  static const char name[] = "pretended_launch";
  const slab_status status = faults_strike(name, false, what);
  if (status != SLAB_OK) return status;
  handles_lock();
  const void *owner = orders_owner(queue, "launch");
  const kernel_made *k = handle_get(HANDLE_KERNEL, owner, handle, "launch");
  command *c = orders_command(queue, run_kernel, "launch");
  c->kernel = (kernel_call){.program = k->program, .nth = k->nth, .items = items};
  c->kernel.name = kernels_name(&k->program.key, k->nth);
  POLICE(k->set == k->count, "launch: %u of the %u arguments of %s are set", k->set, k->count, c->kernel.name);
  POLICE(group > 0 && group <= k->group, "launch: groups of %zu of %s, which has %zu at most", group, c->kernel.name,
         k->group);
  POLICE(items > 0 && items % group == 0, "launch: %zu work-items of %s in groups of %zu", items, c->kernel.name,
         group);
  take_arguments(k, &c->kernel);
  mix(&c->kernel);
  c->engine = ENGINE_CAST;
  if (is_timed() && k->program.key.source != PROGRAM_ATTRIBUTES) c->seconds = (double)items / kind.casting;
  const uint32_t nth = ((const own_device *)handle_get(HANDLE_DEVICE, NULL, owner, "launch"))->nth;
  seen.launches++;
  seen.cut += k->program.key.cut;
  seen.items[nth] += items;
  if (kind.launching > 0.0 && nth + 1 == device_count()) {
    handles_unlock();
    rest(kind.launching);
    handles_lock();
  }
  return put(queue, c, order, false, name, what);
}

/* ---- order ---- */

static slab_status create_queue(const device *d, gpu_queue **queue) {
  *queue = NULL;
  const slab_status status = faults_strike("pretended_create_queue", false, d->info.name);
  if (status != SLAB_OK) return status;
  handles_lock();
  own_of(d);
  *queue = orders_queue(gpu_of(d)->own);
  handles_unlock();
  return SLAB_OK;
}

static void release_queue(const device *d, gpu_queue *queue) {
  handles_lock();
  orders_release_queue(gpu_of(d)->own, queue, "release_queue");
  handles_unlock();
}

static void run_nothing(command *c) { (void)c; }

static slab_status mark(gpu_queue *queue, gpu_order order, const char *what) {
  static const char name[] = "pretended_mark";
  const slab_status status = faults_strike(name, false, what);
  if (status != SLAB_OK) return status;
  handles_lock();
  return put(queue, orders_command(queue, run_nothing, "mark"), order, false, name, what);
}

static slab_status flush(gpu_queue *queue, const char *what) {
  const slab_status status = faults_strike("pretended_flush", false, what);
  if (status != SLAB_OK) return status;
  handles_lock();
  orders_flush(queue, "flush");
  handles_unlock();
  return SLAB_OK;
}

static slab_status finish(gpu_queue *queue, const char *what) {
  const slab_status status = faults_strike("pretended_finish", false, what);
  handles_lock();
  orders_finish(queue, "finish");
  handles_unlock();
  return status;
}

static slab_status wait(gpu_event *const *events, uint32_t count, const char *what) {
  static const char name[] = "pretended_wait";
  const slab_status status = faults_strike(name, false, what);
  if (status != SLAB_OK) return status;
  handles_lock();
  const bool well = orders_wait(events, count, "wait");
  handles_unlock();
  return well ? SLAB_OK : faults_fail(name, SLAB_DEVICE_FAILED, what);
}

static void release_event(gpu_event *event) {
  handles_lock();
  orders_release_event(event);
  handles_unlock();
}

static const gpu_driver pretended_driver = {
    .list = list_devices,
    .open = open_device,
    .close = close_device,
    .create = create,
    .retain = retain,
    .release = release,
    .write = write,
    .read = read,
    .copy = copy,
    .map = map,
    .unmap = unmap,
    .alike = alike,
    .build = build,
    .release_program = release_program,
    .kernel = kernel,
    .release_kernel = release_kernel,
    .set = set,
    .launch = launch,
    .create_queue = create_queue,
    .release_queue = release_queue,
    .mark = mark,
    .flush = flush,
    .finish = finish,
    .wait = wait,
    .release_event = release_event,
};

/* In place of host/opencl/opencl.c's. */
const backend opencl_backend = GPU_BACKEND(pretended_driver, false);
