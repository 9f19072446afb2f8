/* The library slabcast-cuda: the kernels as PTX, by name (cmake/ptx.cmake). Each is a tar.gz of one file, or the text.
 */
#include "cuda/programs.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#ifdef SLABCAST_ZLIB
#include <zlib.h>
#endif

#include "slabcast.h"

typedef struct program {
  const char *name;
  const unsigned char *begin, *end;
} program;

/* The bytes of a file, between two symbols of this file alone. */
#ifdef _WIN32
#define BLOCK_SECTION ".section .rdata,\"dr\"\n"
#else
#define BLOCK_SECTION ".section .rodata\n"
#endif
#define BLOCK(symbol, file)                                        \
  extern const unsigned char ptx_##symbol[], ptx_##symbol##_end[]; \
  __asm__(BLOCK_SECTION "ptx_" #symbol ":\n.incbin \"" file "\"\nptx_" #symbol "_end:\n.byte 0\n.text\n");
#include "table.inc"

static const program *find(const char *name) {
  for (size_t i = 0; i < sizeof programs / sizeof *programs; i++)
    if (strcmp(programs[i].name, name) == 0) return &programs[i];
  return NULL;
}

#ifdef SLABCAST_ZLIB
enum { TAR_BLOCK = 512, TAR_SIZE = 124, TAR_SIZE_DIGITS = 11 };

/* Unpacks `size` bytes. */
static bool unpack(z_stream *z, char *bytes, size_t size) {
  z->next_out = (unsigned char *)bytes;
  z->avail_out = (uInt)size;
  const int code = inflate(z, Z_SYNC_FLUSH);
  return (code == Z_OK || code == Z_STREAM_END) && z->avail_out == 0;
}

static bool text_of(const program *p, char *text, size_t *size) {
  char header[TAR_BLOCK];
  z_stream z = {.next_in = (unsigned char *)(uintptr_t)p->begin, .avail_in = (uInt)(p->end - p->begin)};
  if (inflateInit2(&z, 16 + MAX_WBITS) != Z_OK) return false; /* 16: with a header of gzip's */
  bool is_done = unpack(&z, header, sizeof header);
  if (is_done) {
    header[TAR_SIZE + TAR_SIZE_DIGITS] = 0;
    *size = strtoul(header + TAR_SIZE, NULL, 8);
    if (text != NULL) is_done = unpack(&z, text, *size);
  }
  inflateEnd(&z);
  return is_done;
}
#else
static bool text_of(const program *p, char *text, size_t *size) {
  *size = (size_t)(p->end - p->begin);
  if (text != NULL) memcpy(text, p->begin, *size);
  return true;
}
#endif

PTX_API ptx_outcome slabcast_ptx(uint32_t version, const char *name, char *text, size_t *size) {
  if (version != SLAB_VERSION_NUMBER) return PTX_OTHER_VERSION;
  const program *p = find(name);
  if (p == NULL) return PTX_UNKNOWN;
  return text_of(p, text, size) ? PTX_DONE : PTX_DAMAGED;
}
