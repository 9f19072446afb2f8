/* Cards: describes and lists them, opens and closes them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/cuda.h"
#include "cuda/ptx.h"
#include "device/backend.h"

/* ---- descriptions ---- */

/* A series of queries. After one that fails no more are made; `call` names that one. */
typedef struct questions {
  CUdevice card;
  CUresult code;
  const char *call;
} questions;

static uint32_t attribute(questions *q, int which) {
  int value = 0;
  if (q->code != CUDA_SUCCESS) return 0;
  q->call = "cuDeviceGetAttribute";
  q->code = cuda_call.cuDeviceGetAttribute(&value, which, q->card);
  return value < 0 ? 0 : (uint32_t)value;
}

static void ask_name(questions *q, slab_device_info *info) {
  if (q->code != CUDA_SUCCESS) return;
  q->call = "cuDeviceGetName";
  q->code = cuda_call.cuDeviceGetName(info->name, (int)sizeof info->name, q->card);
  info->name[sizeof info->name - 1] = 0;
}

static void ask_memory(questions *q, slab_device_info *info) {
  size_t bytes = 0;
  if (q->code != CUDA_SUCCESS) return;
  q->call = "cuDeviceTotalMem";
  q->code = cuda_call.cuDeviceTotalMem(&bytes, q->card);
  info->memory_bytes = info->allocation_bytes = bytes;
}

static void ask_driver(questions *q, slab_device_info *info) {
  int version = 0;
  if (q->code != CUDA_SUCCESS) return;
  q->call = "cuDriverGetVersion";
  q->code = cuda_call.cuDriverGetVersion(&version);
  snprintf(info->driver, sizeof info->driver, "CUDA %d.%d", version / 1000, version % 1000 / 10);
}

/* Arithmetic is IEEE 754's on every card that the programs run on. */
CUresult cuda_describe(CUdevice card, slab_device_info *info, const char **call) {
  questions q = {.card = card};
  *info = (slab_device_info){.type = SLAB_DEVICE_GPU,
                             .platform = "CUDA",
                             .vendor = "NVIDIA Corporation",
                             .denormals = 1,
                             .rounds_to_nearest = 1,
                             .exact_divide = 1,
                             .lane_width = 1};
  ask_name(&q, info);
  ask_driver(&q, info);
  ask_memory(&q, info);
  info->compute_units = attribute(&q, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  info->clock_mhz = attribute(&q, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) / 1000;
  const uint32_t major = attribute(&q, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR),
                 minor = attribute(&q, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  snprintf(info->version, sizeof info->version, "compute capability %u.%u", major, minor);
  *call = q.call;
  return q.code;
}

bool cuda_runs(const slab_device_info *info) {
  unsigned major = 0;
  return sscanf(info->version, "compute capability %u", &major) == 1 && major >= CUDA_CAPABILITY_LEAST;
}

/* ---- listing ---- */

static void append(device_list *list, const backend *own, int ordinal) {
  found_device *next = &list->devices[list->count];
  CUdevice card = 0;
  const char *call = "cuDeviceGet";
  *next = (found_device){.backend = own};
  CUresult code = cuda_call.cuDeviceGet(&card, ordinal);
  if (code == CUDA_SUCCESS) code = cuda_describe(card, &next->info, &call);
  next->ordinal = card;
  CUuuid uuid;
  if (code == CUDA_SUCCESS && cuda_call.cuDeviceGetUuid(&uuid, card) == CUDA_SUCCESS)
    memcpy(next->uuid, uuid.bytes, sizeof next->uuid);
  if (code == CUDA_SUCCESS && cuda_runs(&next->info))
    list->count++;
  else if (code == CUDA_SUCCESS)
    snprintf(list->refused, sizeof list->refused, "\"%.80s\" has %.40s, and the kernels need %d.0", next->info.name,
             next->info.version, CUDA_CAPABILITY_LEAST);
  else
    snprintf(list->refused, sizeof list->refused, "%s failed (%d) for card %d", call, code, ordinal);
}

slab_status cuda_list(const backend *own, device_list *list) {
  int cards = 0;
  const size_t before = list->count;
  slab_status status = cuda_load();
  if (status == SLAB_OK) status = cuda_ended(cuda_call.cuDeviceGetCount(&cards), "cuDeviceGetCount", "the device list");
  if (status == SLAB_OK) status = device_list_reserve(list, (size_t)cards);
  if (status != SLAB_OK) return status;
  for (int i = 0; i < cards; i++) append(list, own, i);
  if (list->count > before) return SLAB_OK;
  return list->refused[0] == 0 ? fail(SLAB_NO_DEVICE, "NVIDIA's driver finds no card")
                               : fail(SLAB_NO_DEVICE, "no card of NVIDIA's can be used: %s", list->refused);
}

/* ---- opening ---- */

slab_status cuda_prepare(device *d, CUdevice card, CUcontext callers) {
  cuda_device *c = calloc(1, sizeof *c);
  if (c == NULL) return fail_memory(sizeof *c, "a device");
  gpu_of(d)->own = c;
  c->card = card;
  c->is_callers = callers != NULL;
  if (c->is_callers) c->context = callers;
  slab_status status = c->is_callers ? SLAB_OK
                                     : cuda_ended(cuda_call.cuDevicePrimaryCtxRetain(&c->context, card),
                                                  "cuDevicePrimaryCtxRetain", d->info.name);
  if (status == SLAB_OK) status = cuda_enter(c->context, d->info.name);
  if (status != SLAB_OK) return status;
  status = cuda_ended(cuda_call.cuStreamCreate(&c->upload, CU_STREAM_NON_BLOCKING), "cuStreamCreate", d->info.name);
  cuda_leave();
  return status;
}

slab_status cuda_open(device *d, const found_device *found) {
  if (d->info.lane_width != 1)
    return fail(SLAB_UNSUPPORTED, "\"%s\": by CUDA there are no kernels of %u lanes; lane_width 0 takes one",
                d->info.name, d->info.lane_width);
  const slab_status status = cuda_prepare(d, found->ordinal, NULL);
  return status == SLAB_OK ? cuda_create_queue(d, &gpu_of(d)->queue) : status;
}

static void release_context(cuda_device *c) {
  if (c->upload != NULL && cuda_enter(c->context, NULL) == SLAB_OK) {
    cuda_call.cuStreamDestroy(c->upload);
    cuda_leave();
  }
  if (!c->is_callers && c->context != NULL) cuda_call.cuDevicePrimaryCtxRelease(c->card);
}

void cuda_close(device *d) {
  cuda_device *c = cuda_of(d);
  gpu_queue *queue = gpu_of(d)->queue;
  if (c == NULL) return;
  if (is_inherited(d)) {
    free(queue);
  } else {
    if (queue != NULL) cuda_release_queue(d, queue);
    release_context(c);
  }
  free(c);
}
