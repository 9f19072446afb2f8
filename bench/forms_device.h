/* Runs formulations on an OpenCL device. Functions that return false have printed the reason on stderr. */
#ifndef SLABCAST_BENCH_FORMS_DEVICE_H
#define SLABCAST_BENCH_FORMS_DEVICE_H

#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include "forms_list.h"
#include "forms_sets.h"

typedef struct forms_device {
  cl_device_id id;
  cl_context context;
  cl_command_queue queue; /* in order, with profiling */
  slab_device_info info;
  bool has_double;
} forms_device;

/* select: "cpu", "gpu", an index over all devices of all platforms, or a part of the name. Call forms_close also after
 * a failure. */
bool forms_open(const char *select, forms_device *);
void forms_close(forms_device *);

/* A formulation built at one lane width. */
typedef struct forms_program {
  const form *form;
  unsigned lanes;
  cl_program program;
  cl_kernel casts, verdicts;
} forms_program;

bool forms_build(const forms_device *, const form *, unsigned lanes, forms_program *);
void forms_program_free(forms_program *);

/* bits: one word for each of the set's rays. */
bool forms_verdicts(const forms_device *, const forms_program *, const forms_set *, uint32_t *bits);

/* Rays for the timing of every formulation, and buffers for their results. */
typedef struct forms_batch {
  cl_mem rays, sums;
  cl_uint count;
} forms_batch;

bool forms_batch_make(const forms_device *, const slab_ray *, cl_uint count, forms_batch *);
void forms_batch_free(forms_batch *);

/* Loads the primitives that runs of a program will test: `count`, a multiple of 32, into *blocks. The caller releases
 * it with forms_release. */
bool forms_load(const forms_device *, const forms_program *, const forms_batch *, const float *shapes, size_t count,
                cl_mem *blocks);
void forms_release(cl_mem *);
/* Casts the first `count` rays of the batch. seconds: of the device's event, or processor time for each compute
 * unit. */
bool forms_run(const forms_device *, const forms_program *, cl_uint count, int processor_time, double *seconds);
/* The sums of the passes' nearest t, one for each ray, after forms_run. */
bool forms_sums(const forms_device *, const forms_batch *, cl_uint count, float *sums);

#endif
