#include "buffers.h"

#include <string.h>

#include "handles.h"
#include "police.h"

buffer *buffers_create(const void *owner, gpu_access access, gpu_memory memory, size_t size, const void *bytes,
                       gpu_buffer **handle) {
  pages taken;
  void *number;
  POLICE(size > 0, "create: a buffer of no bytes");
  POLICE((bytes != NULL) == (memory == GPU_COPY || memory == GPU_GIVEN), "create: bytes are %s",
         bytes == NULL ? "missing" : "given that are not taken");
  if (!pages_take(&taken, size)) return NULL;
  buffer *b = handle_new(HANDLE_BUFFER, owner, &number);
  *b = (buffer){.owner = owner, .access = access, .memory = memory, .size = size, .pages = taken, .references = 1};
  union {
    const void *in;
    unsigned char *out;
  } given = {.in = bytes};
  if (memory == GPU_GIVEN) b->given = given.out;
  if (bytes != NULL) memcpy(b->pages.bytes, bytes, size);
  *handle = number;
  return b;
}

buffer *buffers_get(const void *owner, const gpu_buffer *handle, const char *call) {
  return handle_get(HANDLE_BUFFER, owner, handle, call);
}

static void free_unused(buffer *b) {
  if (b->references > 0 || b->uses > 0) return;
  pages_give_back(&b->pages);
  handle_free(b);
}

void buffers_release(buffer *b) {
  handle_count(b, -1);
  if (--b->references > 0) return;
  for (const mapping *m = b->mappings; m != NULL; m = m->next) POLICE(m->ends, "release: a buffer is mapped that goes");
  handle_retire(b);
  free_unused(b);
}

void buffers_unuse(buffer *b) {
  b->uses--;
  free_unused(b);
}

void buffers_check(const buffer *b, size_t at, size_t size, const char *call) {
  POLICE(at <= b->size && size <= b->size - at, "%s: bytes %zu to %zu of a buffer of %zu", call, at, at + size,
         b->size);
  POLICE(size > 0, "%s: no bytes", call);
}

void buffers_for_kernel(buffer *b, bool writes, const char *kernel) {
  POLICE(b->memory != GPU_PINNED, "launch of %s: a buffer of the host's memory", kernel);
  POLICE(!writes || b->access != GPU_READ, "launch of %s: it writes to a buffer that kernels read", kernel);
  POLICE(writes || b->access != GPU_WRITE, "launch of %s: it reads a buffer that kernels write", kernel);
  for (const mapping *m = b->mappings; m != NULL; m = m->next)
    POLICE(!m->made, "launch of %s: a buffer is mapped", kernel);
  POLICE(b->given == NULL || b->access != GPU_READ || memcmp(b->given, b->pages.bytes, b->size) == 0,
         "launch of %s: the bytes have changed that a buffer was given", kernel);
  pages_protect(&b->pages, !writes);
}

/* ---- mappings ---- */

mapping *buffers_map(buffer *b, gpu_access access, size_t at, size_t size) {
  void *number;
  buffers_check(b, at, size, "map");
  POLICE(b->memory == GPU_GIVEN || b->memory == GPU_PINNED, "map: a buffer of the device's memory");
  mapping *m = handle_new(HANDLE_MAPPING, b->owner, &number);
  *m = (mapping){.next = b->mappings, .of = b, .access = access, .at = at, .size = size};
  m->host = (b->given != NULL ? b->given : b->pages.bytes) + at;
  b->mappings = m;
  return m;
}

void buffers_mapped(mapping *m) {
  m->made = true;
  pages_protect(&m->of->pages, false);
  if (m->of->given != NULL && m->access != GPU_WRITE) memcpy(m->host, m->of->pages.bytes + m->at, m->size);
}

mapping *buffers_unmap(buffer *b, const void *mapped) {
  mapping *m = b->mappings;
  while (m != NULL && (m->host != mapped || m->ends)) m = m->next;
  POLICE(m != NULL, "unmap: nothing is mapped there");
  POLICE(m->made, "unmap: the mapping has not ended");
  m->ends = true;
  handle_retire(m);
  return m;
}

void buffers_unmapped(mapping *m) {
  mapping **at = &m->of->mappings;
  while (*at != m) at = &(*at)->next;
  *at = m->next;
  if (m->of->given != NULL && m->access != GPU_READ) memcpy(m->of->pages.bytes + m->at, m->host, m->size);
  handle_free(m);
}
