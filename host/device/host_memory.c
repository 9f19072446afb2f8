#include "device/host_memory.h"

#include <stdlib.h>

#include "base/arithmetic.h"
#include "base/status.h"
#include "device/backend.h"
#include "device/context.h"
#include "os/memory.h"

#define LARGE_PAGE ((size_t)2 << 20)

typedef struct host_memory {
  struct host_memory *next;
  char *bytes;
  size_t size;
  device *of; /* NULL: ordinary memory */
  void *own;  /* of its backend */
} host_memory;

bool host_memories_have(host_memories *m, const device *d, const void *bytes, size_t size) {
  const char *at = bytes;
  bool has = false;
  os_mutex_lock(&m->lock);
  for (const host_memory *h = m->first; h != NULL && !has; h = h->next)
    has = h->of == d && at >= h->bytes && size <= h->size && (size_t)(at - h->bytes) <= h->size - size;
  os_mutex_unlock(&m->lock);
  return has;
}

/* Pinned memory of the first device that copies, and ordinary memory where there is none or the system refuses it. */
static slab_status take(slab_context *context, host_memory *h) {
  for (uint32_t i = 0; i < context->device_count; i++) {
    device *d = &context->devices[i];
    if (d->in_place || d->backend->pin == NULL || !d->backend->pin(d, h->size, &h->own, (void **)&h->bytes)) continue;
    h->of = d;
    return SLAB_OK;
  }
  const size_t pages = (h->size + LARGE_PAGE - 1) / LARGE_PAGE;
  h->bytes = h->size < LARGE_PAGE ? os_allocate_lines(h->size) : os_allocate_pages(LARGE_PAGE, pages);
  return h->bytes != NULL ? SLAB_OK : fail_memory(h->size, "slab_host_alloc");
}

slab_status slab_host_alloc(slab_context *context, size_t size, void **memory) {
  if (context == NULL || memory == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_host_alloc: %s is NULL", context == NULL ? "context" : "memory");
  ARITHMETIC callers = arithmetic_begin();
  slab_status status = context_check_process(context, "slab_host_alloc");
  if (status != SLAB_OK) return status;
  host_memory *h = calloc(1, sizeof *h);
  if (h == NULL) return fail_memory(sizeof *h, "slab_host_alloc");
  h->size = size > 0 ? size : 1;
  status = take(context, h);
  if (status != SLAB_OK) {
    free(h);
    return status;
  }
  context_retain(context);
  os_mutex_lock(&context->memories.lock);
  h->next = context->memories.first;
  context->memories.first = h;
  os_mutex_unlock(&context->memories.lock);
  *memory = h->bytes;
  return SLAB_OK;
}

static host_memory *unlist(host_memories *m, const void *memory) {
  os_mutex_lock(&m->lock);
  host_memory **at = &m->first;
  while (*at != NULL && (*at)->bytes != memory) at = &(*at)->next;
  host_memory *found = *at;
  if (found != NULL) *at = found->next;
  os_mutex_unlock(&m->lock);
  return found;
}

/* In a forked process pinned memory is the parent's. */
slab_status slab_host_free(slab_context *context, void *memory) {
  if (memory == NULL) return SLAB_OK;
  if (context == NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_host_free: context is NULL");
  ARITHMETIC callers = arithmetic_begin();
  host_memory *h = unlist(&context->memories, memory);
  if (h == NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_host_free: %p is not memory that slab_host_alloc gave for this context",
                memory);
  if (h->of == NULL)
    os_free(h->bytes);
  else if (!is_inherited(h->of))
    h->of->backend->unpin(h->of, h->own, h->bytes);
  free(h);
  context_release(context);
  return SLAB_OK;
}
