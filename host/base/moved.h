/* Whether what counts from a place, or is moved by three doubles, has other coordinates than what counts from 0. */
#ifndef SLABCAST_BASE_MOVED_H
#define SLABCAST_BASE_MOVED_H

#include <stdbool.h>

static inline bool is_moved(const double by[3]) { return by[0] != 0.0 || by[1] != 0.0 || by[2] != 0.0; }

#endif
