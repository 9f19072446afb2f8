/* Whether coordinates change when they count from a place instead of 0, or when three doubles move them. */
#ifndef SLABCAST_BASE_MOVED_H
#define SLABCAST_BASE_MOVED_H

#include <stdbool.h>

static inline bool is_moved(const double by[3]) { return by[0] != 0.0 || by[1] != 0.0 || by[2] != 0.0; }

#endif
