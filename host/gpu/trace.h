/* The text of slabcast_device.h for a scene, of which a driver builds programs of the user's kernels. */
#ifndef SLABCAST_GPU_TRACE_H
#define SLABCAST_GPU_TRACE_H

#include "gpu/program_key.h"
#include "slabcast.h"

/* The language of the user's kernels. */
typedef struct trace_language {
  const char *const *dialect; /* strings before the texts of the kernels, which are OpenCL C */
  unsigned dialect_count;
  const char *dialect_macros; /* words that are macros there, each after a blank */
  const char *begin, *end;    /* lines before the dialect, and after the last text */
} trace_language;

typedef struct trace_text {
  char *header;  /* slabcast_device.h */
  char *options; /* options of the compiler that specialise nothing, a blank after each */
} trace_text;

/* Writes the header with the functions of some queries: a bit for each. specialised: options that the kernels of such a
 * scene are built with. SLAB_OUT_OF_MEMORY; else the caller forgets the text. */
slab_status trace_write(const trace_language *, const program_key *, uint32_t queries, const char *specialised,
                        trace_text *);
void trace_forget(trace_text *);
/* SLAB_INVALID_ARGUMENT where the user's options have one of those that change the arithmetic. */
slab_status trace_check_options(const char *options, const char *const *refused, unsigned count);

#endif
