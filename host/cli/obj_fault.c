#include "obj_fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char blanks[] = " \t\r";

/* What follows the keyword, or NULL when the line has another one. */
static const char *after_keyword(const char *line, char keyword) {
  line += strspn(line, blanks);
  return line[0] == keyword && line[1] != '\0' && strchr(blanks, line[1]) ? line + 1 : NULL;
}

static const char *next_line(const char *line) {
  line += strcspn(line, "\n");
  return *line ? line + 1 : line;
}

static long count_vertices(const char *text) {
  long count = 0;
  for (; *text; text = next_line(text)) count += after_keyword(text, 'v') != NULL;
  return count;
}

/* A face's corners are i, i/j, i//k or i/j/k; i counts from 1, or back from -1, the vertex last named. */
static int find_in_face(const char *corner, long before, long total, long *index) {
  for (;;) {
    char *end = NULL;
    corner += strspn(corner, blanks);
    *index = strtol(corner, &end, 10);
    if (end == corner || strchr("\n#", *corner)) return 0;
    if (*index == 0 || *index > total || *index < -before) return 1;
    corner = end + strcspn(end, " \t\r\n");
  }
}

void obj_find_fault(const char *text, char *fault, size_t size) {
  const long total = count_vertices(text);
  long before = 0, index = 0, number = 1;
  for (; *text; text = next_line(text), number++) {
    const char *corners = after_keyword(text, 'f');
    before += after_keyword(text, 'v') != NULL;
    if (!corners || !find_in_face(corners, before, total, &index)) continue;
    snprintf(fault, size, "line %ld: a face names vertex %ld, and there are %ld", number, index,
             index < 0 ? before : total);
    return;
  }
}
