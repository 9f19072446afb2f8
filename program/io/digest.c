#include "program/io/digest.h"

#include <string.h>

/* Each step can be undone, so that words alone that differ give states that differ. */
static void add_word(digest *d, uint64_t word) {
  d->state = (d->state ^ word) * 0x9E3779B97F4A7C15u;
  d->state ^= d->state >> 32;
}

void digest_add(digest *d, const void *bytes, size_t size) {
  if (d == NULL) return;
  add_word(d, size);
  for (size_t at = 0; at < size; at += sizeof(uint64_t)) {
    uint64_t word = 0;
    memcpy(&word, (const char *)bytes + at, size - at < sizeof word ? size - at : sizeof word);
    add_word(d, word);
  }
}

void digest_add_text(digest *d, const char *text) { digest_add(d, text, strlen(text)); }

/* The finaliser of MurmurHash3: each bit of the state changes half of the bits. */
uint64_t digest_value(const digest *d) {
  uint64_t value = d->state;
  value = (value ^ value >> 33) * 0xFF51AFD7ED558CCDu;
  value = (value ^ value >> 33) * 0xC4CEB9FE1A85EC53u;
  value ^= value >> 33;
  return value ? value : 1;
}

/* ---- samples ----------------------------------------------------------------- */

enum { SAMPLE = 256 };

uint64_t part_begin(uint64_t count, uint64_t index, uint64_t parts) {
  return count / parts * index + count % parts * index / parts;
}

uint64_t sample_size(uint64_t total) { return total < SAMPLE ? total : SAMPLE; }

uint64_t sample_place(uint64_t total, uint64_t i) {
  const uint64_t steps = sample_size(total) - 1;
  return steps ? part_begin(total - 1, i, steps) : 0;
}
