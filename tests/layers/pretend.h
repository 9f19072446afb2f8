/* The interface between a test and the pretending layer. */
#ifndef PRETEND_H
#define PRETEND_H

#include <stddef.h>

/* Launches and buffers since pretend_as. */
typedef struct pretend_report {
  unsigned launches, refused; /* refused: launches and buffers that such a device cannot have */
  size_t least, most;         /* work-items of a work-group, over the launches that were not refused */
  unsigned limited, limit;    /* builds whose options limit the registers, and the last limit */
} pretend_report;

/* From now on, devices have these properties: a text in the format of SLAB_PRETEND (pretend.c), which replaces the
 * one before. "": their own properties. Returns 0, or -1 if the text cannot be parsed. Call it while no other thread
 * uses OpenCL. */
typedef int pretend_as(const char *text);
typedef pretend_report pretend_seen(void);

#endif
