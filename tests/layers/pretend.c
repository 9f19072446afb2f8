/* An OpenCL layer that pretends that devices are other devices. They report the properties they are given, and
 * refuse what such a device would refuse.
 *
 * A test in the same process controls it with slab_pretend_as (pretend.h). A program gets it from
 * SLAB_PRETEND=[DEVICE.]NAME:VALUE,... NAME is a name of the tables below. VALUE is a number in C notation or one of
 * the words below. DEVICE is the index in its platform's list; without it, every device is meant. SLAB_PRETEND_FILE
 * names the file that receives the report; without it, stderr does. */
#include "pretend.h"

#include <stdatomic.h>

#include "layer.h"

enum { ORDERS = 16, LISTED = 8 };

/* Device properties that can be replaced; of an array, its first element. */
static const struct {
  const char *name;
  cl_device_info question;
  size_t size;
} properties[] = {
    {"type", CL_DEVICE_TYPE, sizeof(cl_device_type)},
    {"group", CL_DEVICE_MAX_WORK_GROUP_SIZE, sizeof(size_t)},
    {"items", CL_DEVICE_MAX_WORK_ITEM_SIZES, sizeof(size_t)},
    {"units", CL_DEVICE_MAX_COMPUTE_UNITS, sizeof(cl_uint)},
    {"floats", CL_DEVICE_SINGLE_FP_CONFIG, sizeof(cl_device_fp_config)},
};
enum { PROPERTIES = sizeof properties / sizeof *properties };

/* Names that are not device properties. KERNEL_GROUP: the largest work-group of every kernel. MUTE: the error code
 * with which a device answers every query except that for its platform. NVIDIA: not 0, its compiler takes NVIDIA's
 * options, of which the limit of registers is known here. */
enum { KERNEL_GROUP = PROPERTIES, MUTE, NVIDIA, NAMES };
static const char *const others[] = {"kernel-group", "mute", "nvidia"};

static const struct {
  const char *word;
  long long value;
} words[] = {{"cpu", CL_DEVICE_TYPE_CPU}, {"gpu", CL_DEVICE_TYPE_GPU}, {"accelerator", CL_DEVICE_TYPE_ACCELERATOR}};

typedef struct order {
  int device; /* -1: every device */
  int name;   /* index in properties, or one of the others */
  long long value;
} order;

static struct {
  order list[ORDERS];
  int count;
} orders;

static struct {
  atomic_uint launches, refused, limited, limit;
  _Atomic(size_t) least, most;
} seen;

/* ---- orders in force ----------------------------------------------------------- */

/* Returns LISTED if the device is not among the first that its platform lists: a sub-device. */
static int index_of(cl_device_id id) {
  cl_device_id ids[LISTED];
  cl_platform_id platform = NULL;
  cl_uint n = 0;
  if (layer.target->clGetDeviceInfo(id, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL) != CL_SUCCESS ||
      layer.target->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, LISTED, ids, &n) != CL_SUCCESS)
    return LISTED;
  for (int i = 0; i < (int)n && i < LISTED; i++)
    if (ids[i] == id) return i;
  return LISTED;
}

static const order *find(cl_device_id id, int name) {
  for (int i = 0; i < orders.count; i++)
    if (orders.list[i].name == name && (orders.list[i].device < 0 || orders.list[i].device == index_of(id)))
      return &orders.list[i];
  return NULL;
}

static cl_device_id device_of(cl_command_queue queue) {
  cl_device_id id = NULL;
  layer.target->clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
  return id;
}

/* ---- NVIDIA's compiler ------------------------------------------------------------- */

static const char nvidia_extension[] = " cl_nv_compiler_options", register_option[] = " -cl-nv-maxrregcount=";

static cl_int add_extension(size_t size, char *value, size_t *size_ret) {
  const size_t used = value == NULL ? 0 : strlen(value);
  if (size_ret) *size_ret += sizeof nvidia_extension - 1;
  if (value == NULL) return CL_SUCCESS;
  if (size - used < sizeof nvidia_extension) return CL_INVALID_VALUE;
  strcpy(value + used, nvidia_extension);
  return CL_SUCCESS;
}

/* The driver below knows no such option. Without the order it gets the option, and refuses it. */
static cl_int CL_API_CALL pretend_build(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                                        void(CL_CALLBACK *notify)(cl_program, void *), void *user) {
  char kept[1024];
  const char *at = options && n > 0 && find(devices[0], NVIDIA) ? strstr(options, register_option) : NULL;
  if (at && strlen(options) < sizeof kept) {
    char *end;
    seen.limit = (unsigned)strtoul(at + strlen(register_option), &end, 10);
    snprintf(kept, sizeof kept, "%.*s%s", (int)(at - options), options, end);
    atomic_fetch_add(&seen.limited, 1);
    options = kept;
  }
  return layer.target->clBuildProgram(program, n, devices, options, notify, user);
}

/* ---- device queries -------------------------------------------------------------- */

static cl_int CL_API_CALL pretend_device(cl_device_id id, cl_device_info question, size_t size, void *value,
                                         size_t *size_ret) {
  const order *mute = question == CL_DEVICE_PLATFORM ? NULL : find(id, MUTE);
  if (mute) return (cl_int)mute->value;
  const cl_int code = layer.target->clGetDeviceInfo(id, question, size, value, size_ret);
  if (code == CL_SUCCESS && question == CL_DEVICE_EXTENSIONS && find(id, NVIDIA))
    return add_extension(size, value, size_ret);
  for (int p = 0; code == CL_SUCCESS && value && p < PROPERTIES; p++) {
    const order *o = properties[p].question == question ? find(id, p) : NULL;
    if (o) memcpy(value, &o->value, properties[p].size); /* on little-endian hosts, the only ones that OpenCL runs on */
  }
  return code;
}

static cl_int CL_API_CALL pretend_kernel(cl_kernel kernel, cl_device_id id, cl_kernel_work_group_info question,
                                         size_t size, void *value, size_t *size_ret) {
  const cl_int code = layer.target->clGetKernelWorkGroupInfo(kernel, id, question, size, value, size_ret);
  const order *o = question == CL_KERNEL_WORK_GROUP_SIZE ? find(id, KERNEL_GROUP) : NULL;
  if (code == CL_SUCCESS && value && o) *(size_t *)value = (size_t)o->value;
  return code;
}

/* ---- refused launches -------------------------------------------------------------- */

static int exceeds(cl_device_id id, int name, size_t size) {
  const order *o = find(id, name);
  return o && o->value > 0 && size > (size_t)o->value; /* 0: a driver that does not report it */
}

static int number_of(const char *name) {
  for (int i = 0; i < NAMES; i++)
    if (!strcmp(name, i < PROPERTIES ? properties[i].name : others[i - PROPERTIES])) return i;
  return -1;
}

static cl_int CL_API_CALL pretend_launch(cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,
                                         const size_t *offset, const size_t *global, const size_t *local, cl_uint waits,
                                         const cl_event *wait, cl_event *event) {
  const cl_device_id id = device_of(queue);
  atomic_fetch_add(&seen.launches, 1);
  if (local && (exceeds(id, KERNEL_GROUP, *local) || exceeds(id, number_of("group"), *local))) {
    atomic_fetch_add(&seen.refused, 1);
    return CL_INVALID_WORK_GROUP_SIZE;
  }
  if (local && exceeds(id, number_of("items"), *local)) {
    atomic_fetch_add(&seen.refused, 1);
    return CL_INVALID_WORK_ITEM_SIZE;
  }
  if (local && (seen.least == 0 || *local < seen.least)) seen.least = *local;
  if (local && *local > seen.most) seen.most = *local;
  return layer.target->clEnqueueNDRangeKernel(queue, kernel, dimensions, offset, global, local, waits, wait, event);
}

/* ---- control and report ------------------------------------------------------ */

static int read_value(const char *text, long long *value) {
  char *end;
  for (size_t w = 0; w < sizeof words / sizeof *words; w++)
    if (!strcmp(text, words[w].word)) {
      *value = words[w].value;
      return 0;
    }
  *value = strtoll(text, &end, 0);
  return end == text || *end ? -1 : 0;
}

/* [DEVICE.]NAME:VALUE */
static int read_order(const char *text, order *o) {
  char name[32], value[32];
  int used = 0;
  if (sscanf(text, "%d.%n", &o->device, &used) != 1 || used == 0) o->device = -1;
  if (sscanf(text + (o->device < 0 ? 0 : used), "%31[a-z-]:%31s", name, value) != 2) return -1;
  o->name = number_of(name);
  return o->name < 0 ? -1 : read_value(value, &o->value);
}

EXPORT int slab_pretend_as(const char *text) {
  char copy[512], *rest = copy;
  orders.count = 0;
  seen.launches = seen.refused = seen.limited = seen.limit = 0;
  seen.least = seen.most = 0;
  if (strlen(text) >= sizeof copy) return -1;
  strcpy(copy, text);
  for (char *one = strtok_r(copy, ",", &rest); one; one = strtok_r(NULL, ",", &rest)) {
    if (orders.count == ORDERS || read_order(one, &orders.list[orders.count])) return -1;
    orders.count++;
  }
  return 0;
}

EXPORT pretend_report slab_pretend_seen(void) {
  return (pretend_report){seen.launches, seen.refused, seen.least, seen.most, seen.limited, seen.limit};
}

static void layer_hook(cl_icd_dispatch *d) {
  const char *text = getenv("SLAB_PRETEND");
  if (text && slab_pretend_as(text)) {
    fprintf(stderr, "pretending layer: SLAB_PRETEND=%s is not [DEVICE.]NAME:VALUE,...\n", text);
    abort();
  }
  d->clGetDeviceInfo = pretend_device;
  d->clGetKernelWorkGroupInfo = pretend_kernel;
  d->clEnqueueNDRangeKernel = pretend_launch;
  d->clBuildProgram = pretend_build;
}

static const char *const layer_report_file = "SLAB_PRETEND_FILE";

static size_t layer_report(char *text, size_t capacity) {
  const int used = snprintf(text, capacity,
                            "slabcast pretending layer: %u launches, groups of %zu to %zu; launches and buffers "
                            "refused: %u\n",
                            seen.launches, seen.least, seen.most, seen.refused);
  return used > 0 && (size_t)used < capacity ? (size_t)used : capacity;
}
