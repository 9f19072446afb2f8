/* memcpy past the cache, for memory that nobody reads soon. A processor that writes whole lines, without reading them
 * first, moves two thirds of the bytes. Elsewhere than on x86-64 it is memcpy. */
#ifndef SLABCAST_BASE_STREAM_COPY_H
#define SLABCAST_BASE_STREAM_COPY_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifdef __SSE2__
#include <emmintrin.h>

static inline void stream_copy(void *to, const void *from, size_t size) {
  enum { WORD = 16, LINE = 64 };
  char *out = to;
  const char *in = from;
  size_t head = (LINE - (uintptr_t)out % LINE) % LINE;
  if (head > size) head = size;
  memcpy(out, in, head);
  size_t at = head;
  for (; size - at >= LINE; at += LINE) {
    __m128i line[LINE / WORD];
    for (int i = 0; i < LINE / WORD; i++)
      line[i] = _mm_loadu_si128((const __m128i *)(const void *)(in + at + WORD * i));
    for (int i = 0; i < LINE / WORD; i++) _mm_stream_si128((__m128i *)(void *)(out + at + WORD * i), line[i]);
  }
  _mm_sfence();
  memcpy(out + at, in + at, size - at);
}
#else
static inline void stream_copy(void *to, const void *from, size_t size) { memcpy(to, from, size); }
#endif

#endif
