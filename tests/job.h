/* One cast over one buffer of the caller, with guard bytes around every part of it, and what the buffer must hold
 * afterwards by the calls of slabcast.h. */
#ifndef JOB_H
#define JOB_H

#include "opencl.h"

typedef struct job {
  slab_batch batch; /* every span lies in `buffer`, at odd multiples of 4 bytes; results of SLAB_ANY at an odd byte */
  cl_mem buffer;
  unsigned char *before; /* what the buffer holds at first */
  size_t size;
  void *want; /* results by slabcast.h */
  size_t want_size;
  uint64_t invalid; /* rays of one cast */
} job;

/* options: as for a call of slabcast.h. The offsets of SLAB_ALL are summed from SLAB_COUNT. */
job job_create(cl_context context, slab_scene *scene, slab_query query, const slab_ray *rays, size_t n,
               const slab_cast_options *options);
/* Fails the test unless the buffer holds what `casts` casts leave, to the last guard byte; 0: nothing has changed. The
 * casts must have ended, or be held back. */
void job_verify(const job *j, cl_command_queue queue, uint32_t casts);
/* The same for a copy of the buffer. */
void job_verify_bytes(const job *j, const unsigned char *bytes, uint32_t casts);
/* Once no cast needs `want` any more; the buffer may have been released and set to NULL before. */
void job_destroy(job *j);

#endif
