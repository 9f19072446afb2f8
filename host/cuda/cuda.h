/* The driver of NVIDIA's own interface: its data of a device, its handles and its failures.
 *
 * Contexts are the cards' primary ones, or the caller's, so that pointers of other packages of the process are valid
 * here. A function makes its context current for as long as it runs, and then the caller's again. */
#ifndef SLABCAST_CUDA_CUDA_H
#define SLABCAST_CUDA_CUDA_H

#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "cuda/api.h"
#include "gpu/gpu.h"

/* Complete after cuda_load has succeeded, and never changed then. */
extern cuda_functions cuda_call;
/* Loads the driver and the kernels, and begins the driver. SLAB_NO_DEVICE, with a hint, where there is none, or no
 * card. */
slab_status cuda_load(void);

/* An open device. */
typedef struct cuda_device {
  CUdevice card;
  CUcontext context;
  bool is_callers; /* the context is the caller's; else it is the card's primary one, which is released */
  CUstream upload; /* for copies of which the host waits; it waits for nobody */
} cuda_device;

struct gpu_buffer {
  CUcontext context;
  CUdeviceptr at; /* 0: of the host */
  void *host;     /* pinned memory; else NULL */
  atomic_uint holders;
};

struct gpu_queue {
  CUcontext context;
  CUstream stream;
};

static inline cuda_device *cuda_of(const device *d) { return gpu_of(d)->own; }

/* Fails for a call of the interface, with its name, the name of its code, and its purpose; where that is NULL without a
 * message. */
slab_status fail_cuda(CUresult, const char *call, const char *purpose);
/* Fails unless the call succeeded. */
static inline slab_status cuda_ended(CUresult code, const char *call, const char *purpose) {
  return code == CUDA_SUCCESS ? SLAB_OK : fail_cuda(code, call, purpose);
}

/* Makes a context current, and the one before it again. */
static inline slab_status cuda_enter(CUcontext context, const char *purpose) {
  return cuda_ended(cuda_call.cuCtxPushCurrent(context), "cuCtxPushCurrent", purpose);
}
static inline void cuda_leave(void) {
  CUcontext left;
  cuda_call.cuCtxPopCurrent(&left);
}

/* Describes a card. code: of the call that failed, which *call names. */
CUresult cuda_describe(CUdevice, slab_device_info *, const char **call);
/* Whether the interface's programs run on the card: compute capability 6.0 and later. */
bool cuda_runs(const slab_device_info *);

/* Creates the device's cuda_device on the caller's context (NULL: the card's primary one), without a queue. */
slab_status cuda_prepare(device *, CUdevice, CUcontext callers);
/* Creates a queue: a stream of the library's own, or the caller's. */
slab_status cuda_create_queue(const device *, gpu_queue **);
slab_status cuda_adopt_queue(const device *, CUstream, gpu_queue **);

/* The functions of the table that are in other files, see driver.h. */
slab_status cuda_list(const backend *, device_list *);
slab_status cuda_open(device *, const found_device *);
void cuda_close(device *);
bool cuda_alike(const device *, const device *other, const program_key *);
slab_status cuda_build(const device *, const program_key *, gpu_program *like, gpu_program **);
slab_status cuda_build_traced(const device *, const program_key *, uint32_t queries, const char *source,
                              const char *options, gpu_program **);
/* Loads a program from PTX or machine code. */
slab_status cuda_load_program(const device *, const void *image, gpu_program **);
void cuda_release_program(gpu_program *);
/* A kernel of a program. SLAB_INVALID_ARGUMENT: there is none of that name. */
slab_status cuda_function(gpu_program *, const char *name, CUfunction *);
slab_status cuda_kernel(const device *, gpu_program *, const program_key *, uint32_t nth, gpu_kernel **, size_t *group);
void cuda_release_kernel(gpu_kernel *);
slab_status cuda_set(gpu_kernel *, uint32_t nth, const gpu_argument *, const char *what);
slab_status cuda_launch(gpu_queue *, gpu_kernel *, size_t items, size_t group, gpu_order, const char *what);

void cuda_release_queue(const device *, gpu_queue *);
slab_status cuda_mark(gpu_queue *, gpu_order, const char *what);
slab_status cuda_flush(gpu_queue *, const char *what);
slab_status cuda_finish(gpu_queue *, const char *what);
slab_status cuda_idle(const device *, const char *what);
slab_status cuda_wait(gpu_event *const *, uint32_t count, const char *what);
void cuda_release_event(gpu_event *);

/* Begins a command on a queue: its context is current, the queue waits for the order's events, and *done is the event
 * that the order wants, or NULL. Where that succeeds cuda_end_command is called, with the command's result. */
slab_status cuda_begin_command(const gpu_queue *, const gpu_order *, gpu_event **done, const char *what);
slab_status cuda_end_command(const gpu_queue *, const gpu_order *, gpu_event *done, slab_status, const char *what);

#endif
