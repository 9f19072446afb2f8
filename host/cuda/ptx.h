/* The kernels as PTX, in a library of their own, which is loaded where there is a card. */
#ifndef SLABCAST_CUDA_PTX_H
#define SLABCAST_CUDA_PTX_H

#include "gpu/program_key.h"
#include "slabcast.h"

/* The least compute capability, major, that the PTX is made for. */
#define CUDA_CAPABILITY_LEAST 6

/* Loads the library. NULL, or why it cannot be used. */
const char *ptx_find(void);
/* The text of a program; malloc'ed. SLAB_UNSUPPORTED where cards have none. */
slab_status ptx_text(const program_key *, char **text);

#endif
