/* Buffers of the driver that pretends, and their mappings. A device's memory is its own also where it is said to be the
 * given bytes: these hold what kernels write once they are mapped, and may not change before. */
#ifndef PRETENDED_BUFFERS_H
#define PRETENDED_BUFFERS_H

#include "gpu/driver.h"
#include "pages.h"

typedef struct mapping mapping;

typedef struct buffer {
  const void *owner;
  gpu_access access;
  gpu_memory memory;
  size_t size;
  pages pages;
  unsigned char *given; /* NULL: none */
  unsigned references;  /* the caller's */
  unsigned uses;        /* of commands that have not ended */
  mapping *mappings;
} buffer;

struct mapping {
  mapping *next;
  buffer *of;
  gpu_access access;
  size_t at, size;
  unsigned char *host;
  bool made, ends; /* made: its command has ended. ends: it is unmapped, once that command has ended */
};

/* NULL: memory is short. */
buffer *buffers_create(const void *owner, gpu_access, gpu_memory, size_t size, const void *bytes, gpu_buffer **);
buffer *buffers_get(const void *owner, const gpu_buffer *, const char *call);
/* A caller's reference less, or a command's use. */
void buffers_release(buffer *);
void buffers_unuse(buffer *);

/* Ends the program where these bytes are not all in the buffer. */
void buffers_check(const buffer *, size_t at, size_t size, const char *call);
/* Ends the program where a kernel may not use the buffer now, or not like this; else protects it. */
void buffers_for_kernel(buffer *, bool writes, const char *kernel);

mapping *buffers_map(buffer *, gpu_access, size_t at, size_t size);
/* Called by the commands of a mapping as they run. */
void buffers_mapped(mapping *);
void buffers_unmapped(mapping *);
/* The mapping at these bytes, which is no longer the caller's. */
mapping *buffers_unmap(buffer *, const void *mapped);

#endif
