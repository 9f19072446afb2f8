/* The formulations compiled as C11, from the same source as on the device, one lane wide. */
#ifndef SLABCAST_BENCH_FORMS_REFERENCE_H
#define SLABCAST_BENCH_FORMS_REFERENCE_H

#include "forms_list.h"

/* Which of `count` <= 32 primitives, packed for one lane, the ray hits: bit p for primitive p. */
uint32_t form_reference(const form *, const slab_ray *, const float *blocks, unsigned count);

#endif
