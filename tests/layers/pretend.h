/* What the pretending layer lets a test order. */
#ifndef PRETEND_H
#define PRETEND_H

#include <stddef.h>

/* Launches and buffers since pretend_as. */
typedef struct pretend_report {
  unsigned launches, refused; /* refused: launches and buffers that such a device cannot have */
  size_t least, most;         /* work-items of a group, over the launches that were not refused */
} pretend_report;

/* What devices are from now on: the text of SLAB_PRETEND (pretend.c), which takes the place of what was ordered before;
 * "": what they are. Returns 0, or -1 where the text cannot be read. To be called while no other thread uses OpenCL. */
typedef int pretend_as(const char *text);
typedef pretend_report pretend_seen(void);

#endif
