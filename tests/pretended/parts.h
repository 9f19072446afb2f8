/* Included between the prelude and the text of a kernel that is compiled for the driver that pretends. */
#ifndef PRETENDED_PARTS_H
#define PRETENDED_PARTS_H

#include <stdint.h>

#include "data/types.h"

/* Lists of hits are in the space, as many as a work-item has walkers; native/cast.c makes space for more. */
#undef LISTS_MOST
#define LISTS_MOST SLAB_WALKERS

/* Where a scene is cut, which GPUs get as options of the compiler. */
extern uint32_t pretended_part_units, pretended_part_nodes;
#define SLAB_PART_UNITS pretended_part_units
#define SLAB_PART_NODES pretended_part_nodes

#endif
