#include "program/mesh/utf16.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static uint32_t unit_at(const char *bytes, bool is_big) {
  const unsigned char *at = (const unsigned char *)bytes;
  return is_big ? (uint32_t)at[0] << 8 | at[1] : (uint32_t)at[1] << 8 | at[0];
}

/* Reads a character of one unit or of two; 0: there is none, or it is NUL, which no text has. */
static uint32_t take_character(const char **at, const char *end, bool is_big) {
  if (end - *at < 2) return 0;
  const uint32_t first = unit_at(*at, is_big);
  *at += 2;
  if (first < 0xD800 || first > 0xDFFF) return first;
  const uint32_t second = first < 0xDC00 && end - *at >= 2 ? unit_at(*at, is_big) : 0;
  if (second < 0xDC00 || second > 0xDFFF) return 0;
  *at += 2;
  return 0x10000 + ((first - 0xD800) << 10 | (second - 0xDC00));
}

static char *put_character(char *to, uint32_t character) {
  const int more = character < 0x80 ? 0 : character < 0x800 ? 1 : character < 0x10000 ? 2 : 3;
  static const uint32_t marks[] = {0, 0xC0, 0xE0, 0xF0};
  *to++ = (char)(unsigned char)(marks[more] | character >> 6 * more);
  for (int left = more; left-- > 0;) *to++ = (char)(unsigned char)(0x80 | (character >> 6 * left & 0x3F));
  return to;
}

char *utf16_to_utf8(const char *bytes, size_t size, size_t *out_size) {
  const char *at = bytes + 2, *end = bytes + size;
  if (size < 4 || (memcmp(bytes, "\xFF\xFE", 2) != 0 && memcmp(bytes, "\xFE\xFF", 2) != 0)) return NULL;
  const bool is_big = bytes[0] == '\xFE';
  char *text = malloc(size / 2 * 3 + 1), *to = text; /* two units take four bytes at most, and one takes three */
  while (text && at < end) {
    const uint32_t character = take_character(&at, end, is_big);
    if (character == 0) {
      free(text);
      return NULL;
    }
    to = put_character(to, character);
  }
  if (text) *to = '\0';
  *out_size = (size_t)(to - text);
  return text;
}
