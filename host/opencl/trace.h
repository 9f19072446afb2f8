/* Programs of the user's kernels, which trace rays. */
#ifndef SLABCAST_OPENCL_TRACE_H
#define SLABCAST_OPENCL_TRACE_H

#include "gpu/program_key.h"
#include "opencl/opencl.h"

/* Builds a program for scenes of a key, with the functions of some queries: a bit for each. The caller releases it. */
slab_status trace_build(const device *, const program_key *, uint32_t queries, const char *source, const char *options,
                        cl_program *built);

#endif
