#include "program/mesh/scan.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "program/io/text.h"

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_line_end(char c) { return c == '\n' || c == '\r'; }

static bool is_continued(const scan *s) {
  return s->continues != 0 && *s->at == s->continues && is_line_end(s->at[1]) && s->at + 1 < s->end;
}

/* Whether a word cannot go on here. */
static bool is_boundary(const scan *s) { return is_blank(*s->at) || scan_is_line_end(s) || is_continued(s); }

void scan_begin(scan *s, const mesh_file *file, mesh_builder *builder) {
  static const char mark[] = "\xEF\xBB\xBF"; /* of byte order */
  *s = (scan){.at = file->bytes, .end = file->bytes + file->size, .line = 1, .builder = builder};
  while (s->end > s->at && s->end[-1] == '\0') s->end--;
  if (!strncmp(s->at, mark, strlen(mark))) s->at += strlen(mark);
}

int scan_expect_text(scan *s) {
  const char *zero = memchr(s->at, '\0', (size_t)(s->end - s->at));
  return zero ? mesh_builder_refuse(s->builder, "it is no text: byte %zu is zero", (size_t)(zero - s->at)) : 0;
}

/* ---- lines -------------------------------------------------------------------- */

static void pass_line_end(scan *s) {
  if (s->at == s->end) return;
  s->at += s->at[0] == '\r' && s->at[1] == '\n' ? 2 : 1;
  s->line++;
}

void scan_blanks(scan *s) {
  for (;;) {
    while (is_blank(*s->at)) s->at++;
    if (!is_continued(s)) return;
    s->at++;
    pass_line_end(s);
  }
}

bool scan_is_line_end(const scan *s) {
  return is_line_end(*s->at) || s->at >= s->end || (s->comment != 0 && *s->at == s->comment);
}

bool scan_is_end(const scan *s) { return s->at >= s->end; }

void scan_next_line(scan *s) {
  s->at += strcspn(s->at, "\r\n");
  pass_line_end(s);
}

void scan_space(scan *s) {
  for (scan_blanks(s); !scan_is_end(s) && scan_is_line_end(s); scan_blanks(s)) scan_next_line(s);
}

/* ---- words --------------------------------------------------------------------- */

size_t scan_word_size(const scan *s) {
  scan word = *s;
  while (!is_boundary(&word)) word.at++;
  return (size_t)(word.at - s->at);
}

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

bool scan_word(scan *s, const char *word) {
  if (lower(*s->at) != *word) return false; /* most words are others */
  scan after = *s;
  for (; *word; word++, after.at++)
    if (lower(*after.at) != *word) return false;
  if (!is_boundary(&after)) return false;
  s->at = after.at;
  return true;
}

void scan_pass_word(scan *s) { s->at += scan_word_size(s); }

/* The C library of Windows wrote NaN and infinity as 1.#QNAN and 1.#INF. */
static bool is_odd_number(scan *s) {
  if (s->at[0] != '#' || s->at[-1] != '.') return false;
  while (!is_blank(*s->at) && !is_line_end(*s->at) && !scan_is_end(s)) s->at++;
  return true;
}

int scan_number(scan *s, decimal *out) {
  const char *begin = s->at;
  if (scan_is_line_end(s)) return scan_refuse(s, "a number is missing");
  s->at += decimal_read(begin, out);
  if (s->at > begin && is_odd_number(s)) *out = (decimal){(double)NAN, NAN};
  if (s->at > begin && s->at <= s->end && is_boundary(s)) return 0;
  s->at = begin;
  return scan_refuse_word(s, "is not a number");
}

int scan_point(scan *s, mesh_point *point) {
  for (int k = 0; k < 3; k++) {
    decimal number = {0, 0};
    scan_blanks(s);
    if (scan_is_line_end(s)) return scan_refuse(s, "a vertex has %d of its 3 coordinates", k);
    if (scan_number(s, &number) != 0) return -1;
    point->wide[k] = number.wide;
    point->narrow[k] = number.narrow;
  }
  return 0;
}

int scan_count(scan *s, uint64_t *out) {
  const char *begin = s->at;
  uint64_t count = 0;
  if (scan_is_line_end(s)) return scan_refuse(s, "a number is missing");
  for (; *s->at >= '0' && *s->at <= '9' && count < UINT64_MAX / 100; s->at++)
    count = 10 * count + (uint64_t)(*s->at - '0');
  *out = count;
  if (s->at > begin && is_boundary(s)) return 0;
  s->at = begin;
  return scan_refuse_word(s, "is not a count");
}

/* ---- names ---------------------------------------------------------------------- */

void scan_name(scan *s, char name[SCAN_NAME_MAX]) {
  size_t used = 0, length = 0;
  scan_blanks(s);
  while (!scan_is_line_end(s)) {
    const size_t size = text_character(s->at), kept = size ? size : 1;
    if (used + kept >= SCAN_NAME_MAX) break;
    memcpy(name + used, s->at, kept);
    if (size == 0 || (unsigned char)name[used] < ' ') name[used] = is_blank(*s->at) ? ' ' : '?';
    used += kept;
    if (!is_blank(*s->at)) length = used; /* blanks at the end are left out */
    s->at += kept;
  }
  name[length] = '\0';
}

/* ---- refusals -------------------------------------------------------------------- */

int scan_refuse(scan *s, const char *format, ...) {
  char reason[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(reason, sizeof reason, format, arguments);
  va_end(arguments);
  return mesh_builder_refuse(s->builder, "line %" PRIu64 ": %s", s->line, reason);
}

int scan_refuse_word(scan *s, const char *what) {
  const size_t size = scan_word_size(s), most = 40;
  return scan_refuse(s, "'%.*s%s' %s", (int)(size < most ? size : most), s->at, size > most ? "..." : "", what);
}
