/* Updates from buffers of a driver, as slabcast_cl.h has them of OpenCL's. */
#ifndef PRETENDED_THERE_H
#define PRETENDED_THERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "slabcast.h"

/* Updates a mesh that lies in a buffer, some bytes from its start, which is gone after the call. */
slab_status there_update_mesh(slab_scene *, uint32_t geometry, const slab_mesh *);
/* Whether the last commit was a refit on the device. *build: the build of the commit before, as the call after it set
 * it; it becomes that of the last one. */
bool there_was_refitted(const slab_scene *, uint64_t *build);

#endif
