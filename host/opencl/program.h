/* Programs that no cast launches, built as the device's kernels are: the probe's, and those of the user's kernels. */
#ifndef SLABCAST_OPENCL_PROGRAM_H
#define SLABCAST_OPENCL_PROGRAM_H

#include "gpu/program_key.h"
#include "opencl/opencl.h"
#include "slabcast.h"

/* Builds the probe (probe.h); the caller releases it. */
slab_status program_of_probe(const device *, cl_program *);

#define OPTIONS_SIZE 512
/* The options that a program is specialised by. */
void program_options(const device *, const program_key *, char *text, size_t size);
/* Fails with the log of a build. failed: NULL where there is none. */
slab_status program_fail(const device *, cl_program failed, cl_int code, const char *call, const char *options);

#endif
