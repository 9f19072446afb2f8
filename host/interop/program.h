/* Programs of the user's kernels, which trace rays, and the scenes that their kernels are bound to. */
#ifndef SLABCAST_INTEROP_PROGRAM_H
#define SLABCAST_INTEROP_PROGRAM_H

#include "device/context.h"
#include "gpu/gpu.h"
#include "scene/scene.h"
#include "slabcast.h"

/* A kernel that is bound, or by CUDA may be. */
typedef struct bound_kernel {
  const void *kernel; /* the API's handle */
  slab_scene *scene;
  snapshot *held; /* NULL: bound to nothing */
  void *values;   /* by CUDA: of its parameters; freed with it */
  struct bound_kernel *next;
} bound_kernel;

/* One in the list of its device. */
struct slab_program {
  slab_context *context;
  program_key key; /* the parameters of its build */
  gpu_program *built;
  bound_kernel *bound; /* guarded by the device's lock, as the list is */
  slab_program *next;
};

static inline device *program_device(const slab_context *context) { return (device *)&context->devices[0]; }

/* The place for a kernel's binding; NULL: memory is short. The device's lock is held. */
bound_kernel *program_place(slab_program *, const void *kernel);

/* How a kernel of one API is bound. The device's lock is held in both. */
typedef struct binder {
  const char *function;
  const void *kernel;
  const backend *backend; /* that the scene has to be on */
  slab_status (*find)(const struct binder *, const device *, slab_program **);
  slab_status (*set)(const struct binder *, const device_scene *, bound_kernel *);
  void *call; /* the call's own part */
} binder;

/* Gives a kernel a scene's arguments, and holds the memory that they point to until it is bound anew. */
slab_status program_bind(slab_scene *, const binder *);

#endif
