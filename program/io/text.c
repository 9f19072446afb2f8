#include "program/io/text.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- numbers ---------------------------------------------------------------- */

int parse_real(const char *text, decimal *value) {
  const size_t length = decimal_read(text, value);
  return length > 0 && text[length] == '\0' && !isnan(value->wide);
}

int parse_reals(const char *text, decimal *values, int most) {
  for (int i = 0; i < most; i++) {
    const char *end = text + decimal_read(text, &values[i]);
    if (end == text || (*end != ',' && *end != '\0')) return 0;
    if (*end == '\0') return i + 1;
    text = end + 1;
  }
  return 0;
}

int parse_digits(const char *text, int base, char **end, uint64_t *value) {
  if (!isxdigit((unsigned char)text[0])) return 0;
  errno = 0;
  *value = strtoull(text, end, base);
  return errno == 0 && *end != text;
}

int parse_count(const char *text, uint64_t *value) {
  char *end = NULL;
  return parse_digits(text, 10, &end, value) && *end == '\0';
}

int parse_mask(const char *text, uint32_t *mask) {
  char *end = NULL;
  uint64_t value = 0;
  const int hexadecimal = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
  if (!parse_digits(hexadecimal ? text + 2 : text, hexadecimal ? 16 : 10, &end, &value)) return 0;
  *mask = (uint32_t)value;
  return *end == '\0' && value > 0 && value <= UINT32_MAX;
}

const char *seconds_text(double seconds, char text[SECONDS_TEXT]) {
  if (seconds < 0.9995e-3)
    snprintf(text, SECONDS_TEXT, "%.3g us", 1e6 * seconds);
  else if (seconds < 0.9995)
    snprintf(text, SECONDS_TEXT, "%.3g ms", 1e3 * seconds);
  else
    snprintf(text, SECONDS_TEXT, seconds < 999.5 ? "%.3g s" : "%.0f s", seconds);
  return text;
}

/* ---- terminals --------------------------------------------------------------- */

size_t text_character(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  if (at[0] < 0x80) return 1;
  const size_t length = at[0] >= 0xF0 ? 4 : at[0] >= 0xE0 ? 3 : 2;
  if (at[0] < 0xC2 || at[0] > 0xF4) return 0;
  for (size_t i = 1; i < length; i++)
    if ((at[i] & 0xC0) != 0x80) return 0;
  const int too_long = (at[0] == 0xE0 && at[1] < 0xA0) || (at[0] == 0xF0 && at[1] < 0x90);
  const int beyond = (at[0] == 0xED && at[1] >= 0xA0) || (at[0] == 0xF4 && at[1] >= 0x90); /* half a pair, 0x110000 */
  return too_long || beyond ? 0 : length;
}

size_t text_shown(const char *text) {
  const unsigned char *at = (const unsigned char *)text;
  const int control = at[0] < ' ' || at[0] == 0x7F || (at[0] == 0xC2 && at[1] < 0xA0);
  return control ? 0 : text_character(text);
}

/* Writes the escape of a byte, which C has too. */
static void put_escape(unsigned char byte, char escape[8]) {
  const char letter = byte == '\n' ? 'n' : byte == '\t' ? 't' : byte == '\r' ? 'r' : '\0';
  snprintf(escape, 8, letter ? "\\%c" : "\\x%02x", letter ? letter : byte);
}

void text_printable(const char *text, char *shown, size_t size) {
  size_t put = 0;
  while (*text) {
    char piece[8];
    size_t length = text_shown(text);
    snprintf(piece, sizeof piece, "%.*s", (int)length, text);
    if (length == 0) put_escape((unsigned char)*text, piece);
    text += length ? length : 1;
    if (put + strlen(piece) >= size) break;
    put += (size_t)snprintf(shown + put, size - put, "%s", piece);
  }
  shown[put] = '\0';
}

/* ---- names ------------------------------------------------------------------ */

/* Reads the next name of a list separated by commas, cut to `size`, and advances *list. Returns 0 at the end. */
static int list_next(const char **list, char *name, size_t size) {
  if (!*list) return 0;
  const size_t length = strcspn(*list, ",");
  snprintf(name, size, "%.*s", (int)length, *list);
  *list = (*list)[length] ? *list + length + 1 : NULL;
  return 1;
}

int list_has(const char *list, const char *name) {
  char listed[64];
  if (!list) return 1;
  while (list_next(&list, listed, sizeof listed))
    if (!strcmp(listed, name)) return 1;
  return 0;
}

const char *list_unknown(const char *list, const void *things, size_t count, size_t stride, char *name, size_t size) {
  while (list_next(&list, name, size)) {
    int known = 0;
    for (size_t i = 0; i < count; i++) {
      const char *thing;
      memcpy(&thing, (const char *)things + i * stride, sizeof thing);
      known |= !strcmp(thing, name);
    }
    if (!known) return name;
  }
  return NULL;
}

/* Longest word for which a similar name is searched. Edits are letters changed, left out, added, or exchanged with
 * their neighbour. */
enum { NEAR_LETTERS = 32 };

static size_t least_of(size_t a, size_t b) { return a < b ? a : b; }

static size_t edits_between(const char *from, const char *to) {
  size_t edits[NEAR_LETTERS + 1][NEAR_LETTERS + 1]; /* edits between the first i letters and the first k */
  const size_t rows = strlen(from), columns = strlen(to);
  if (rows > NEAR_LETTERS || columns > NEAR_LETTERS) return SIZE_MAX;
  for (size_t i = 0; i <= rows; i++)
    for (size_t k = 0; k <= columns; k++) {
      edits[i][k] = i + k;
      if (i == 0 || k == 0) continue;
      edits[i][k] = least_of(edits[i - 1][k], edits[i][k - 1]) + 1;
      edits[i][k] = least_of(edits[i][k], edits[i - 1][k - 1] + (from[i - 1] != to[k - 1]));
      if (i > 1 && k > 1 && from[i - 1] == to[k - 2] && from[i - 2] == to[k - 1])
        edits[i][k] = least_of(edits[i][k], edits[i - 2][k - 2] + 1);
    }
  return edits[rows][columns];
}

const char *name_near(const char *word, const void *things, size_t count, size_t stride) {
  size_t fewest = (strlen(word) + 1) / 3 + 1; /* with more edits any two words would be similar */
  const char *near = NULL;
  for (size_t i = 0; i < count; i++) {
    const char *thing;
    memcpy(&thing, (const char *)things + i * stride, sizeof thing);
    const size_t edits = edits_between(word, thing);
    if (edits >= fewest) continue;
    fewest = edits;
    near = thing;
  }
  return near;
}
