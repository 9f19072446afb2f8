#include "text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\f\v"); }

static int ends(const char *at) { return *at == '\0' || *at == '#'; }

int text_numbers(const char *line, double *values, int capacity, const char **wrong) {
  int count = 0;
  for (const char *at = skip_blanks(line); !ends(at);) {
    char *end = NULL;
    *wrong = at;
    if (count == capacity) return TEXT_TOO_MANY;
    values[count++] = strtod(at, &end);
    if (end == at || (!ends(end) && !strchr(" \t\r\f\v,", *end))) return TEXT_NO_NUMBER;
    at = skip_blanks(end);
    if (*at != ',') continue;
    *wrong = at;
    at = skip_blanks(at + 1);
    if (ends(at)) return TEXT_NO_NUMBER; /* no number after the comma */
  }
  return count;
}

/* Reads a whole line and ends it with NUL. *text = NULL at the end of the data. */
static int next_line(input *in, uint64_t number, char **text) {
  size_t looked = 0;
  *text = NULL;
  for (;;) {
    const size_t held = in->end - in->begin;
    char *start = in->buffer + in->begin, *mark = held > looked ? memchr(start + looked, '\n', held - looked) : NULL;
    if (mark || (held == looked && held > 0 && held < INPUT_BUFFER)) {
      const size_t length = mark ? (size_t)(mark - start) : held;
      start[length] = '\0'; /* the buffer has a spare byte for a last line without a newline */
      in->begin += length + (mark ? 1 : 0);
      in->place += length + (mark ? 1 : 0);
      *text = start;
      if (strlen(start) == length) return 0;
      complain("%s: line %" PRIu64 " holds a NUL byte: this is not text (--in npy or --in raw?)", in->name, number);
      return -1;
    }
    if (held == INPUT_BUFFER) {
      complain("%s: line %" PRIu64 " is longer than %d bytes: this is not text", in->name, number, INPUT_BUFFER);
      return -1;
    }
    looked = held;
    if (input_fill(in, held + 1)) return -1;
    if (in->end - in->begin == 0) return 0;
  }
}

static int are_names(const char *text) {
  int commas = 0;
  for (const char *at = skip_blanks(text);; at = skip_blanks(at + 1)) {
    const int quoted = *at == '"';
    if (!isalpha((unsigned char)at[quoted]) && at[quoted] != '_') return 0;
    at += strcspn(at, ",");
    if (*at == '\0') return commas > 0;
    commas++;
  }
}

static int read_row(input *in, uint64_t *line, double *values, int capacity, int *count, int names_allowed) {
  const char *wrong = NULL;
  char *text = NULL;
  do {
    if (next_line(in, *line + 1, &text)) return -1;
    *count = 0;
    if (!text) return 0;
    ++*line;
    *count = text_numbers(text, values, capacity, &wrong);
    if (*count != TEXT_NO_NUMBER || !names_allowed || !are_names(text)) continue;
    names_allowed = 0;
    *count = 0;
  } while (*count == 0);
  if (*count > 0) return 0;
  if (*count == TEXT_TOO_MANY)
    complain("%s: line %" PRIu64 " holds more than %d numbers", in->name, *line, capacity);
  else
    complain("%s: line %" PRIu64 ": \"%.*s\" is not a number", in->name, *line, (int)strcspn(wrong, " \t\r\f\v#"),
             wrong);
  return -1;
}

int text_read(input *in, uint64_t *line, double *values, int capacity, int *count) {
  return read_row(in, line, values, capacity, count, 0);
}

int text_read_first(input *in, uint64_t *line, double *values, int capacity, int *count) {
  return read_row(in, line, values, capacity, count, 1);
}
