/* NVIDIA's cards by CUDA as `slabcast bench` measures them: transfers, and casts on the card's memory. The library
 * slabcast-cuda has no kernels of kernels/ceiling.cl: those ceilings are measured on the same card by OpenCL. */
#include <stdio.h>
#include <string.h>

#include "cuda/api.h"
#include "os/library.h"
#include "program/bench/bench.h"
#include "slabcast_cuda.h"

/* Beside those of the library: the only one that only benchmarks call. */
typedef CUresult elapsed_time(float *milliseconds, CUevent begin, CUevent end);

static cuda_functions call;
static elapsed_time *elapsed; /* NULL: the driver has none, and the wall's clock counts */

static int failed(const char *name, CUresult code) {
  const char *text = "error";
  if (call.cuGetErrorName(code, &text) != CUDA_SUCCESS || !text) text = "error";
  complain("bench: %s failed with %s (%d)", name, text, code);
  return EXIT_FAILED;
}

/* Makes a call, and returns its exit code, with its name in messages. */
#define TRY(function, ...) tried(#function, call.function(__VA_ARGS__))
static int tried(const char *name, CUresult code) { return code == CUDA_SUCCESS ? EXIT_DONE : failed(name, code); }

/* The library has found them all before. */
static int find(void) {
  void *library = os_library_open(CUDA_LIBRARY), *found = NULL;
#define TAKE(name, symbol, parameters)                         \
  found = library ? os_library_symbol(library, symbol) : NULL; \
  memcpy(&call.name, &found, sizeof found);                    \
  if (!found) {                                                \
    complain("bench: %s lacks %s", CUDA_LIBRARY, symbol);      \
    return EXIT_FAILED;                                        \
  }
  CUDA_FUNCTIONS(TAKE)
#undef TAKE
  found = os_library_symbol(library, "cuEventElapsedTime");
  memcpy(&elapsed, &found, sizeof found);
  return EXIT_DONE;
}

/* The card by its name; of equal ones the first. */
static int find_card(const slab_device_info *info, int *card) {
  char name[sizeof info->name] = "";
  int count = 0, code = TRY(cuDeviceGetCount, &count);
  for (int i = 0; code == EXIT_DONE && i < count; i++) {
    code = TRY(cuDeviceGet, card, i);
    if (code == EXIT_DONE) code = TRY(cuDeviceGetName, name, (int)sizeof name, *card);
    if (code == EXIT_DONE && !strcmp(name, info->name)) return EXIT_DONE;
  }
  if (code == EXIT_DONE) complain("bench: CUDA has no card \"%s\" any more", info->name);
  return EXIT_FAILED;
}

/* The context of the casts, current until the device is closed. */
static int enter(cuda_bench *c) {
  CUcontext context;
  int code = TRY(cuDevicePrimaryCtxRetain, &context, c->card);
  if (code != EXIT_DONE) return code;
  c->retained = true;
  code = TRY(cuCtxPushCurrent, context);
  c->entered = code == EXIT_DONE;
  return code;
}

static int cuda_open(slab_context *context, const slab_device_info *info, bench_device *d) {
  cuda_bench *c = &d->cuda;
  (void)context;
  d->lanes = info->lane_width;
  int code = find();
  if (code == EXIT_DONE) code = find_card(info, &c->card);
  if (code == EXIT_DONE) code = enter(c);
  if (code == EXIT_DONE) code = TRY(cuStreamCreate, &c->stream, CU_STREAM_NON_BLOCKING);
  if (code == EXIT_DONE) code = TRY(cuEventCreate, &c->begin, 0);
  return code == EXIT_DONE ? TRY(cuEventCreate, &c->end, 0) : code;
}

static void cuda_close(bench_device *d) {
  const cuda_bench *c = &d->cuda;
  CUcontext left;
  if (c->end) call.cuEventDestroy(c->end);
  if (c->begin) call.cuEventDestroy(c->begin);
  if (c->stream) call.cuStreamDestroy(c->stream);
  if (c->entered) call.cuCtxPopCurrent(&left);
  if (c->retained) call.cuDevicePrimaryCtxRelease(c->card);
}

static int cuda_allocate(bench_device *d, size_t bytes, bool staging, bench_array *a) {
  (void)d;
  a->bytes = bytes;
  return staging ? TRY(cuMemHostAlloc, &a->host, bytes, 0) : TRY(cuMemAlloc, &a->at, bytes);
}

static int cuda_release(bench_device *d, bench_array *a) {
  (void)d;
  if (a->host) return TRY(cuMemFreeHost, a->host);
  return a->at ? TRY(cuMemFree, a->at) : EXIT_DONE;
}

static int cuda_write(bench_device *d, const bench_array *to, const void *from, size_t bytes) {
  const int code = TRY(cuMemcpyHtoDAsync, to->at, from, bytes, d->cuda.stream);
  return code == EXIT_DONE ? TRY(cuStreamSynchronize, d->cuda.stream) : code;
}

static int cuda_read(bench_device *d, const bench_array *from, void *to, size_t bytes) {
  const int code = TRY(cuMemcpyDtoHAsync, to, from->at, bytes, d->cuda.stream);
  return code == EXIT_DONE ? TRY(cuStreamSynchronize, d->cuda.stream) : code;
}

/* Seconds between the events, of which the last has been recorded. since: the wall's clock before. */
static int wait(const cuda_bench *c, double since, double *seconds) {
  float milliseconds = 0;
  int code = TRY(cuStreamSynchronize, c->stream);
  *seconds = timing_now(0) - since;
  if (code != EXIT_DONE || !elapsed) return code;
  code = tried("cuEventElapsedTime", elapsed(&milliseconds, c->begin, c->end));
  *seconds = 1e-3 * (double)milliseconds;
  return code;
}

static int cuda_cast(bench_device *d, slab_scene *scene, slab_query query, size_t n, const bench_array *rays,
                     const bench_array *results, double *seconds) {
  const cuda_bench *c = &d->cuda;
  const slab_cuda_batch batch = {
      .query = query, .count = n, .rays = (void *)(uintptr_t)rays->at, .results = (void *)(uintptr_t)results->at};
  const double since = timing_now(0);
  int code = TRY(cuEventRecord, c->begin, c->stream);
  if (code != EXIT_DONE) return code;
  const slab_status status = slab_enqueue_cuda(scene, &batch, c->stream);
  if (status != SLAB_OK) return complain_status(status, "bench: kernel");
  code = TRY(cuEventRecord, c->end, c->stream);
  return code == EXIT_DONE ? wait(c, since, seconds) : code;
}

const bench_backend bench_cuda = {true,       cuda_open, cuda_close, cuda_allocate, cuda_release,
                                  cuda_write, cuda_read, NULL,       cuda_cast};
