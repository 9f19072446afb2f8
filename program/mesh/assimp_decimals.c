#include "program/mesh/assimp_decimals.h"

#include <ctype.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/io/decimal.h"

/* ---- the library's reader ---------------------------------------------------------- */

/* At most `most` digits, and passes all; numbers that overflow are 0 for the library. */
static uint64_t read_digits(const char **at, unsigned most, unsigned *digits) {
  uint64_t value = 0;
  bool overflows = false;
  for (*digits = 0; isdigit((unsigned char)**at); ++*at) {
    if (*digits == most) continue;
    const uint64_t next = 10 * value + (uint64_t)(**at - '0');
    overflows |= next < value;
    value = next;
    ++*digits;
  }
  return overflows ? 0 : value;
}

float assimp_decimals_read(const char *at) {
  static const double tenths[] = {0,    1e-1, 1e-2,  1e-3,  1e-4,  1e-5,  1e-6,  1e-7,
                                  1e-8, 1e-9, 1e-10, 1e-11, 1e-12, 1e-13, 1e-14, 1e-15};
  const bool negative = *at == '-';
  unsigned digits;
  at += *at == '-' || *at == '+';
  float value = (float)read_digits(&at, UINT32_MAX, &digits);
  if (*at == '.') {
    at++;
    const double behind = (double)read_digits(&at, 15, &digits);
    value += (float)(behind * tenths[digits]);
  }
  if (*at == 'e' || *at == 'E') {
    const bool divides = at[1] == '-';
    at += 1 + (at[1] == '-' || at[1] == '+');
    const float power = (float)read_digits(&at, UINT32_MAX, &digits);
    value *= powf(10, divides ? -power : power);
  }
  return negative ? -value : value;
}

/* ---- spellings ------------------------------------------------------------------------ */

enum { SPELLING_MAX = 80, POWERS = 20 };

/* Both this reader and the library's get the float from it. */
static bool is_spelling(const char *text, float value) {
  decimal right = {0, 0};
  return decimal_read(text, &right) > 0 && right.narrow == value && assimp_decimals_read(text) == value;
}

/* The float with 15 digits behind the point, or times some power of ten near its own, or next to that. False: there is
 * no such spelling. Products are tried before they are printed, which takes far longer. */
static bool spell(float value, char text[SPELLING_MAX]) {
  const int middle = value == 0 ? 0 : (int)floor(log10(fabs((double)value)));
  snprintf(text, SPELLING_MAX, "%.15f", (double)value);
  if (middle > -9 && is_spelling(text, value)) return true;
  for (int power = middle - POWERS; power <= middle + POWERS; power++) {
    const float scale = powf(10, (float)power), near = value / scale;
    const float tries[] = {near, nextafterf(near, HUGE_VALF), nextafterf(near, -HUGE_VALF)};
    for (int i = 0; i < 3; i++) {
      if (tries[i] * scale != value) continue;
      snprintf(text, SPELLING_MAX, "%.15fe%d", (double)tries[i], power);
      if (is_spelling(text, value)) return true;
    }
  }
  return false;
}

/* ---- decimals by their floats ------------------------------------------------------ */

static assimp_decimal *find(const assimp_decimals *d, float narrow) {
  uint32_t bits;
  memcpy(&bits, &narrow, sizeof bits);
  size_t i = (size_t)((bits * (uint64_t)0x9E3779B97F4A7C15u) >> 20) & (d->capacity - 1);
  while (d->at[i].narrow != 0 && d->at[i].narrow != narrow) i = (i + 1) & (d->capacity - 1);
  return &d->at[i];
}

static int grow(assimp_decimals *d) {
  if (2 * d->count < d->capacity) return 0;
  const assimp_decimals old = *d;
  d->capacity = old.capacity ? 2 * old.capacity : 1024;
  d->at = calloc(d->capacity, sizeof *d->at);
  if (d->at == NULL) {
    *d = old;
    return -1;
  }
  for (size_t i = 0; i < old.capacity; i++)
    if (old.at[i].narrow != 0) *find(d, old.at[i].narrow) = old.at[i];
  free(old.at);
  return 0;
}

static double moved(const assimp_decimal *entry) { return fabs(entry->wide - (double)entry->narrow); }

/* Another decimal of the same float. */
static void note_second(assimp_decimal *entry, const assimp_decimal *second) {
  if (entry->wide == second->wide) return;
  if (moved(second) > moved(entry)) entry->wide = second->wide;
  entry->are_several = true;
}

/* Keeps a decimal; one that is a float only where all are kept. */
static int keep(assimp_decimals *d, const decimal *number) {
  const assimp_decimal own = {fabsf(number->narrow), fabs(number->wide), false};
  if (own.narrow == 0 || (moved(&own) == 0 && !d->keeps_all)) return 0;
  if (grow(d) != 0) return -1;
  assimp_decimal *entry = find(d, own.narrow);
  if (entry->narrow == 0) {
    *entry = own;
    d->count++;
  } else if (d->keeps_all) {
    note_second(entry, &own);
  }
  return 0;
}

double assimp_decimals_wide(const assimp_decimals *d, float narrow) {
  if (d->capacity == 0 || narrow == 0 || isnan(narrow)) return (double)narrow;
  const assimp_decimal *entry = find(d, fabsf(narrow));
  return entry->narrow == 0 ? (double)narrow : copysign(entry->wide, (double)narrow);
}

double assimp_decimals_only(const assimp_decimals *d, float narrow, double *lost) {
  *lost = 0;
  if (d->capacity == 0 || narrow == 0 || isnan(narrow)) return (double)narrow;
  const assimp_decimal *entry = find(d, fabsf(narrow));
  if (entry->are_several) *lost = moved(entry);
  return entry->narrow == 0 || entry->are_several ? (double)narrow : copysign(entry->wide, (double)narrow);
}

void assimp_decimals_end(assimp_decimals *d) {
  free(d->at);
  *d = (assimp_decimals){0};
}

/* ---- texts --------------------------------------------------------------------------- */

/* The copy so far, and where the text goes on that is not copied yet. */
typedef struct copy {
  char *text;
  size_t size, capacity;
  const char *from;
} copy;

static int append(copy *c, const char *bytes, size_t size) {
  if (c->capacity - c->size < size + 1) {
    const size_t wanted = 2 * (c->size + size) + 1024;
    char *grown = realloc(c->text, wanted);
    if (grown == NULL) return -1;
    c->text = grown;
    c->capacity = wanted;
  }
  memcpy(c->text + c->size, bytes, size);
  c->size += size;
  c->text[c->size] = '\0';
  return 0;
}

/* Bytes of words: digits within a name or a path are no number. */
static bool is_in_word(char byte) {
  const unsigned char c = (unsigned char)byte;
  return isalnum(c) || c > 127 || (c && strchr("_.+-:/\\", c));
}

/* Where the string ends that begins with this quote; NULL: it is none. One with letters is a name. */
static const char *find_end(const char *quote, const char *end, bool *is_name) {
  const char *at = quote + 1;
  for (*is_name = false; at < end && *at != '"' && !(*is_name && *at == '\n'); at++)
    *is_name |= isalpha((unsigned char)*at) && *at != 'e' && *at != 'E';
  return at < end && *at == '"' ? at : NULL;
}

static bool is_plain(const char *word, size_t size) {
  return size > 0 && isdigit((unsigned char)word[size - 1]) && strspn(word, "0123456789+-.eE") >= size;
}

/* Looks at the number that is this word, and gives it another spelling where it needs one. */
static int respell_word(assimp_decimals *d, copy *c, const char *word, size_t size) {
  char spelling[SPELLING_MAX];
  decimal number = {0, 0};
  if (decimal_read(word, &number) != size || !isfinite(number.narrow)) return 0;
  if (keep(d, &number) != 0) return -1;
  if (assimp_decimals_read(word) == number.narrow || !spell(number.narrow, spelling)) return 0;
  if (append(c, c->from, (size_t)(word - c->from)) != 0 || append(c, spelling, strlen(spelling)) != 0) return -1;
  c->from = word + size;
  return 0;
}

int assimp_decimals_respell(assimp_decimals *d, const char *text, size_t size, char **out, size_t *out_size) {
  copy c = {.from = text};
  const char *at = text, *end = text + size, *closing = NULL;
  bool is_name;
  int failed = 0;
  *out = NULL;
  while (at < end && !failed) {
    const char *word = at;
    while (at < end && is_in_word(*at)) at++;
    if (is_plain(word, (size_t)(at - word))) failed = respell_word(d, &c, word, (size_t)(at - word));
    if (at < end && *at == '"' && at != closing) {
      closing = find_end(at, end, &is_name);
      if (closing && is_name) at = closing;
    }
    at += at < end;
  }
  if (!failed && c.text) failed = append(&c, c.from, (size_t)(end - c.from));
  if (failed) free(c.text);
  if (failed) return -1;
  *out = c.text;
  *out_size = c.size;
  return 0;
}
