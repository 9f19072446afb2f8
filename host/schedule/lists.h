/* SLAB_ALL: hits are collected while they are counted, and put where offsets say. */
#ifndef SLABCAST_SCHEDULE_LISTS_H
#define SLABCAST_SCHEDULE_LISTS_H

#include "work/uniforms.h"

/* Lists all hits of a cast whose arguments were checked, but for these. capacity 0: the offsets alone. */
slab_status cast_all(cast *, uint64_t *offsets, uint64_t capacity, uint64_t *required);

#endif
