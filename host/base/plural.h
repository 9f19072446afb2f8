/* Words after a number in messages. */
#ifndef SLABCAST_BASE_PLURAL_H
#define SLABCAST_BASE_PLURAL_H

#include <stdint.h>

/* The singular or plural for a count: "ray" or "rays", "" or "s". */
static inline const char *plural(uint64_t count, const char *one, const char *many) { return count == 1 ? one : many; }

#endif
