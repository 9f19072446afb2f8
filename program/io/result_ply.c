#include "program/io/result_ply.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/io/text.h"

void ply_count_write(char count[PLY_COUNT], uint64_t rows) {
  char text[PLY_COUNT + 1];
  snprintf(text, sizeof text, "%-*" PRIu64, PLY_COUNT, rows);
  memcpy(count, text, PLY_COUNT);
}

uint64_t ply_count_read(const char count[PLY_COUNT]) {
  char text[PLY_COUNT + 1] = {0}, again[PLY_COUNT];
  memcpy(text, count, PLY_COUNT);
  const uint64_t rows = strtoull(text, NULL, 10);
  ply_count_write(again, rows);
  return memcmp(count, again, PLY_COUNT) == 0 ? rows : 0;
}

/* A text that grows. */
typedef struct growing {
  char *at;
  size_t size, capacity;
  int failed;
} growing;

/* Readers take lines of 1,024 bytes at most (rply): a name of 255 bytes has 765 at most when it is escaped. */
enum { LINE_MAX_BYTES = 1024 };

static void append(growing *t, const char *line, size_t size) {
  if (t->failed) return;
  if (t->size + size > t->capacity) {
    const size_t capacity = 2 * (t->size + size);
    char *grown = realloc(t->at, capacity);
    if (!grown) {
      t->failed = 1;
      return;
    }
    t->at = grown;
    t->capacity = capacity;
  }
  memcpy(t->at + t->size, line, size);
  t->size += size;
}

static void append_text(growing *t, const char *line) { append(t, line, strlen(line)); }

static const char *type_of(char kind) {
  return kind == 'f' ? "float" : kind == 'D' ? "double" : kind == 'b' ? "uchar" : kind == 'i' ? "int" : "uint";
}

/* Vectors have names as nx, ny, nz. */
static void append_property(growing *t, const result_field *field) {
  char line[80];
  for (unsigned i = 0; i < field->count; i++) {
    const int size =
        field->count == 1
            ? snprintf(line, sizeof line, "property %s %s\n", type_of(field->kind), field->name)
            : snprintf(line, sizeof line, "property %s %c%c\n", type_of(field->kind), field->name[0], "xyz"[i]);
    append(t, line, (size_t)size);
  }
}

/* The number of the character at `text`, which has `length` bytes. */
static uint32_t code_of(const char *text, size_t length) {
  const unsigned char *at = (const unsigned char *)text;
  uint32_t code = length == 1 ? at[0] : at[0] & (0xFFu >> (length + 1));
  for (size_t i = 1; i < length; i++) code = code << 6 | (at[i] & 0x3F);
  return code;
}

/* Two escapes, and NUL. */
enum { ESCAPED_MAX = 13 };

/* Writes one character as JSON does in ASCII; beyond 16 bits as a pair of halves. Returns its length. */
static size_t escape(uint32_t code, int plain, char place[ESCAPED_MAX]) {
  const uint32_t beyond = code - 0x10000;
  if (plain && code >= ' ' && code < 0x7F)
    return (size_t)snprintf(place, ESCAPED_MAX, code == '"' || code == '\\' ? "\\%c" : "%c", (char)code);
  if (code < 0x10000) return (size_t)snprintf(place, ESCAPED_MAX, "\\u%04" PRIx32, code);
  return (size_t)snprintf(place, ESCAPED_MAX, "\\u%04" PRIx32 "\\u%04" PRIx32, 0xD800 + (beyond >> 10),
                          0xDC00 + (beyond & 0x3FF));
}

/* Blanks at the ends of a line are lost in most readers. */
static void append_name(growing *t, uint32_t geometry, const char *name) {
  char line[LINE_MAX_BYTES];
  size_t size = (size_t)snprintf(line, sizeof line, "comment geometry %" PRIu32 " ", geometry);
  for (const char *at = name; *at && size + ESCAPED_MAX < sizeof line;) {
    size_t length = text_character(at);
    const int is_end_blank = *at == ' ' && (at == name || at[1] == '\0');
    const uint32_t code = length > 0 ? code_of(at, length) : 0xFFFD;
    size += escape(code, !is_end_blank, line + size);
    at += length + (length == 0);
  }
  line[size++] = '\n';
  append(t, line, size);
}

ply_header ply_header_of(const result_row *row, const result_labels *names, const char *note) {
  char count[PLY_COUNT];
  growing t = {0};
  append_text(&t, "ply\nformat binary_little_endian 1.0\n");
  if (note[0]) {
    append_text(&t, "comment ");
    append_text(&t, note);
    append_text(&t, "\n");
  }
  for (uint32_t i = 0; names && i < names->count; i++)
    if (names->names[i]) append_name(&t, i, names->names[i]);
  append_text(&t, "element vertex ");
  const size_t count_at = t.size;
  ply_count_write(count, 0);
  append(&t, count, sizeof count);
  append_text(&t, "\n");
  for (int i = 0; i < row->field_count; i++) append_property(&t, &row->fields[i]);
  append_text(&t, "end_header\n");
  if (t.failed) free(t.at);
  return (ply_header){t.failed ? NULL : t.at, t.size, count_at};
}
