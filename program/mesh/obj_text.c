#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/mesh/obj_text.h"

static const char blanks[] = " \t\r";

/* The text after the keyword, or NULL if the line has another keyword. */
static const char *after_keyword(const char *line, char keyword) {
  line += strspn(line, blanks);
  return line[0] == keyword && line[1] != '\0' && strchr(blanks, line[1]) ? line + 1 : NULL;
}

static const char *next_line(const char *line) {
  line += strcspn(line, "\n");
  return *line ? line + 1 : line;
}

static int64_t count_vertices(const char *text) {
  int64_t count = 0;
  for (; *text; text = next_line(text)) count += after_keyword(text, 'v') != NULL;
  return count;
}

/* A corner of a face is i, i/j, i//k or i/j/k. i counts from 1, or backwards from -1, the last vertex before the
 * face. */
static int find_in_face(const char *corner, int64_t before, int64_t total, int64_t *index) {
  for (;;) {
    char *end = NULL;
    corner += strspn(corner, blanks);
    *index = strtoll(corner, &end, 10);
    if (end == corner || strchr("\n#", *corner)) return 0;
    if (*index == 0 || *index > total || *index < -before) return 1;
    corner = end + strcspn(end, " \t\r\n");
  }
}

void obj_find_fault(const char *text, char *fault, size_t size) {
  const int64_t total = count_vertices(text);
  int64_t before = 0, index = 0, number = 1;
  for (; *text; text = next_line(text), number++) {
    const char *corners = after_keyword(text, 'f');
    before += after_keyword(text, 'v') != NULL;
    if (!corners || !find_in_face(corners, before, total, &index)) continue;
    const int64_t there = index < 0 ? before : total;
    snprintf(fault, size, "line %" PRId64 ": a face names vertex %" PRId64 ", and there %s %" PRId64, number, index,
             plural((uint64_t)there, "is", "are"), there);
    return;
  }
}

/* If a backslash at `at` continues the line: the bytes of the backslash and of the line end, of any system. Else 0. */
static size_t continued(const char *at, const char *end) {
  if (*at != '\\' || at + 1 == end) return 0;
  if (at[1] == '\n') return 2;
  if (at[1] != '\r') return 0;
  return at + 2 < end && at[2] == '\n' ? 3 : 2;
}

size_t obj_keep_geometry(char *text, size_t size) {
  const char *at = text, *end = text + size;
  char *out = text;
  while (at < end) {
    while (at < end && strchr(" \t\r\n", *at) != NULL) at++; /* strchr also matches NUL */
    const int keep = at < end && (*at == 'v' || *at == 'f');
    while (at < end && *at != '\n' && *at != '\r') {
      const size_t passed = continued(at, end);
      if (keep) *out++ = passed || *at == '\0' ? ' ' : *at;
      at += passed ? passed : 1;
    }
    if (keep && at < end) *out++ = '\n';
  }
  return (size_t)(out - text);
}
