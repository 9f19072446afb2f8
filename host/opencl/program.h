/* The probe's program, built as the device's kernels are. */
#ifndef SLABCAST_OPENCL_PROGRAM_H
#define SLABCAST_OPENCL_PROGRAM_H

#include "opencl/opencl.h"
#include "slabcast.h"

/* Builds the probe (probe.h); the caller releases it. */
slab_status program_of_probe(const device *, cl_program *);

#endif
