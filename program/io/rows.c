#include "program/io/rows.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/columns.h"
#include "program/io/decimal.h"
#include "program/io/errors.h"
#include "program/io/input.h"
#include "program/io/npy.h"
#include "program/os/file.h"

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "files hold little-endian numbers, which are read and written as they are"
#endif

struct row_source {
  input in;
  file_format format;
  size_t columns;
  uint64_t count, done;      /* total rows; rows read */
  int wide;                  /* npy: values are float64 */
  int matrices;              /* npy: a row is a matrix of 3 x 4 or 4 x 4 */
  const column_names *known; /* text: the columns that a line of names may have */
  column_order order;        /* text: where the columns go; count 0: no line names them */
  uint64_t line;             /* text: lines read */
  int ahead;                 /* text: the first row is already in `first` */
  decimal first[ROWS_COLUMNS_MAX];
  double worst[ROWS_COLUMNS_MAX]; /* the largest rounding in each column */
};

file_format format_of_name(const char *name) {
  if (os_has_ending(name, ".npy")) return FORMAT_NPY;
  if (os_has_ending(name, ".raw") || os_has_ending(name, ".bin")) return FORMAT_RAW;
  if (os_has_ending(name, ".csv")) return FORMAT_CSV;
  if (os_has_ending(name, ".txt")) return FORMAT_TEXT;
  return FORMAT_AUTO;
}

file_format format_of_output(const char *path) {
  if (!strcmp(path, "-")) return os_is_terminal(OS_STDOUT) ? FORMAT_TEXT : FORMAT_NPY;
  const file_format named = format_of_name(path);
  return named == FORMAT_AUTO ? FORMAT_NPY : named;
}

/* ---- lines of text ---------------------------------------------------------- */

enum { TEXT_NO_NUMBER = -1, TEXT_TOO_MANY = -2, TEXT_MIXED = -3, TEXT_COMMAS = -4 };

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\f\v"); }

static int ends(const char *at) { return *at == '\0' || *at == '#'; }

static int is_mark(char c) { return c == ',' || c == ';'; }

/* The number that begins here, which may stand in quotes. Returns its end; `at`: there is none. */
static const char *read_number(const char *at, decimal *value) {
  const int quoted = *at == '"';
  const char *end = at + quoted + decimal_read(at + quoted, value);
  if (end == at + quoted || (quoted && *end != '"')) return at;
  end += quoted;
  return ends(end) || is_mark(*end) || strchr(" \t\r\f\v", *end) ? end : at;
}

/* Whether commas look like those of decimals: "0,5 0,5 1 0" may be four numbers or six. Each word between blanks has at
 * most one, and none has a point. */
static int has_decimal_commas(const char *line) {
  int words = 0;
  for (const char *at = skip_blanks(line); !ends(at); words++) {
    const size_t length = strcspn(at, " \t\r\f\v#"), whole = strcspn(at, ",");
    if (memchr(at, '.', length) || at[length - 1] == ',' || *at == ',') return 0;
    if (whole < length && memchr(at + whole + 1, ',', length - whole - 1)) return 0;
    at = skip_blanks(at + length);
  }
  return words > 3;
}

/* Whether the column with that number is passed over. */
static int is_other(const column_order *order, int column) {
  return (size_t)column < order->count && order->place[column] == COLUMN_OTHER;
}

/* The end of the text in a column that is passed over, such as a name. It may be in quotes, within which "" is one
 * quote. */
static const char *skip_other(const column_order *order, const char *at) {
  if (*at == '"')
    for (at++; *at && (*at != '"' || *++at == '"');) at++;
  return at + strcspn(at, order->separators);
}

/* Parses the numbers of one NUL-terminated line, separated by blanks, commas or semicolons. # begins a comment. Returns
 * their count, at most `capacity`; or TEXT_NO_NUMBER or TEXT_TOO_MANY, with *wrong at the place; or TEXT_MIXED or
 * TEXT_COMMAS. Those two mean that commas may be those of decimals: a line has both marks, or blanks too. */
static int text_numbers(const char *line, const column_order *order, decimal *values, int capacity,
                        const char **wrong) {
  char mark = '\0';
  int count = 0, bare = 0;
  for (const char *at = skip_blanks(line); !ends(at) || (count > 0 && is_other(order, count));) {
    *wrong = at;
    if (count == capacity) return TEXT_TOO_MANY;
    const int other = is_other(order, count);
    const char *end = other ? skip_other(order, at) : read_number(at, &values[count]);
    if (end == at && !other) return TEXT_NO_NUMBER;
    count++;
    at = skip_blanks(end);
    bare += !is_mark(*at) && !ends(at);
    if (!is_mark(*at)) continue;
    if (mark && mark != *at) return TEXT_MIXED;
    mark = *at;
    *wrong = at;
    at = skip_blanks(at + 1);
    if (ends(at) && !is_other(order, count)) return TEXT_NO_NUMBER; /* no number after the mark */
  }
  return mark == ',' && bare && has_decimal_commas(line) ? TEXT_COMMAS : count;
}

/* A line "sep=;" before all others names the separator of numbers for spreadsheets. */
static int is_for_spreadsheets(const char *line) {
  return !strncmp(line, "sep=", 4) && line[4] && *skip_blanks(line + 5) == '\0';
}

/* Lines of old Macs end with CR alone: then several rows would be one. */
static int check_line_end(const input *in, uint64_t number, const char *line) {
  const char *at = strchr(line, '\r');
  if (at == NULL || *skip_blanks(at) == '\0') return 0;
  complain("%s: line %" PRIu64 " has a carriage return within; lines end with LF or CR LF: tr '\\r' '\\n'", in->name,
           number);
  return -1;
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
      if (strlen(start) == length) return check_line_end(in, number, start);
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

static int refuse_line(const input *in, uint64_t line, int count, const char *wrong) {
  if (count == TEXT_TOO_MANY)
    complain("%s: line %" PRIu64 " holds more than %d numbers", in->name, line, ROWS_COLUMNS_MAX);
  else if (count == TEXT_MIXED)
    complain("%s: line %" PRIu64 " has both , and ; between its numbers; a decimal has a point, not a comma", in->name,
             line);
  else if (count == TEXT_COMMAS)
    complain("%s: line %" PRIu64 " has blanks and commas between its numbers; a decimal has a point, not a comma",
             in->name, line);
  else if (is_mark(*wrong))
    complain("%s: line %" PRIu64 ": a number is missing %s a \"%c\"", in->name, line,
             ends(skip_blanks(wrong + 1)) ? "behind" : "before", *wrong);
  else
    complain("%s: line %" PRIu64 ": \"%.*s\" is not a number", in->name, line, (int)strcspn(wrong, " \t\r\f\v#"),
             wrong);
  return -1;
}

/* Looks for names in a line without numbers. A comment has some only where they are those of all columns, as some
 * programs write them. Returns 0, or -1 with the error printed. */
static int read_names(row_source *source, const char *text) {
  const char *at = skip_blanks(text);
  const int comment = *at == '#';
  char why[400];
  if (!columns_are_names(source->known, comment ? at + 1 : at) || (comment && source->known->some)) return 0;
  if (columns_find(source->known, comment ? at + 1 : at, &source->order, why, sizeof why) == 0) return 0;
  source->order.count = 0;
  if (comment) return 0;
  complain("%s: line %" PRIu64 ": %s", source->in.name, source->line, why);
  return -1;
}

/* Reads the next line that contains numbers; *count = 0 at the end of the data. may_name: a line of names may stand
 * before, as in csv. Returns 0, or -1 with the error printed. */
static int text_read(row_source *source, decimal *values, int *count, int may_name) {
  const char *wrong = NULL;
  char *text = NULL;
  do {
    if (next_line(&source->in, source->line + 1, &text)) return -1;
    *count = 0;
    if (!text) return 0;
    source->line++;
    if (source->line == 1 && is_for_spreadsheets(text)) continue;
    *count = text_numbers(text, &source->order, values, ROWS_COLUMNS_MAX, &wrong);
    const int named = source->order.count > 0;
    if (*count > 0 || !may_name || named) continue;
    if (read_names(source, text)) return -1;
    if (source->order.count > 0) *count = 0;
  } while (*count == 0);
  return *count > 0 ? 0 : refuse_line(&source->in, source->line, *count, wrong);
}

/* ---- opening --------------------------------------------------------------- */

/* Formats a shape as Python prints it. */
static const char *shape_text(const npy_header *header, char text[256]) {
  char *at = text;
  *at++ = '(';
  for (int i = 0; i < header->dimensions; i++)
    at += snprintf(at, 32, "%" PRIu64 "%s", header->shape[i], i + 1 < header->dimensions ? ", " : "");
  strcpy(at, header->dimensions == 1 ? ",)" : ")");
  return text;
}

static int check_npy_type(const row_source *source, const npy_header *header) {
  const char *type = header->descr, *name = source->in.name;
  if (!strcmp(type, "'<f4'") || !strcmp(type, "'<f8'") || !strcmp(type, "'=f4'") || !strcmp(type, "'=f8'")) return 0;
  if (type[0] == '\'' && type[1] == '>')
    complain("%s: dtype %s is big-endian; little-endian '<f4' or '<f8' is wanted", name, type);
  else
    complain("%s: dtype %.80s is not float32 or float64 ('<f4' or '<f8')", name, type);
  return -1;
}

static int are_matrices(const npy_header *header) {
  const uint64_t *shape = header->shape;
  return header->dimensions == 3 && (shape[1] == 3 || shape[1] == 4) && shape[2] == 4;
}

static int check_npy_shape(const row_source *source, const npy_header *header) {
  char text[256];
  const char *name = source->in.name;
  if (source->matrices && !are_matrices(header)) {
    complain("%s: shape %s is neither (n, 3, 4) nor (n, 4, 4)", name, shape_text(header, text));
  } else if (!source->matrices && header->dimensions != 2) {
    complain("%s: shape %s is not two-dimensional: rows and columns are wanted", name, shape_text(header, text));
  } else if (header->shape[1] < 1 || header->shape[1] > ROWS_COLUMNS_MAX) {
    complain("%s: shape %s has %" PRIu64 " columns; 1 to %d can be read", name, shape_text(header, text),
             header->shape[1], ROWS_COLUMNS_MAX);
  } else if (header->fortran_order && (source->matrices || (header->shape[0] > 1 && header->shape[1] > 1))) {
    complain("%s: the array is in Fortran order; C order (numpy.ascontiguousarray) is wanted", name);
  } else {
    return 0;
  }
  return -1;
}

static int open_npy(row_source *source) {
  npy_header header;
  char text[256];
  if (npy_read(&source->in, &header) || check_npy_type(source, &header) || check_npy_shape(source, &header)) return -1;
  source->wide = header.item_size == sizeof(double);
  source->columns = (size_t)header.shape[1] * (source->matrices ? (size_t)header.shape[2] : 1);
  source->count = header.shape[0];
  const uint64_t row = source->columns * header.item_size;
  const uint64_t held = source->in.size == INPUT_UNKNOWN ? INPUT_UNKNOWN : source->in.size - source->in.place;
  if (source->count <= held / row) return 0;
  complain("%s: truncated: shape %s of %s wants %" PRIu64 " %s of %" PRIu64 " bytes, %" PRIu64 " %s there",
           source->in.name, shape_text(&header, text), header.descr, source->count,
           plural(source->count, "row", "rows"), row, held, plural(held, "byte is", "bytes are"));
  return -1;
}

static int open_raw(row_source *source, size_t columns) {
  const uint64_t row = columns * sizeof(float);
  source->columns = columns;
  if (source->in.size == INPUT_UNKNOWN) return 0;
  source->count = source->in.size / row;
  if (source->in.size % row == 0) return 0;
  complain("%s: truncated: %" PRIu64 " %s not a multiple of a row's %" PRIu64 " (%zu little-endian float32)",
           source->in.name, source->in.size, plural(source->in.size, "byte is", "bytes are"), row, columns);
  return -1;
}

/* Skips the mark of UTF-8, which spreadsheets put before a text. Other encodings and packed files are refused. */
static int skip_mark(row_source *source) {
  static const char encoding[] =
      "the text is in UTF-16 or UTF-32, as its first bytes say; UTF-8 is wanted: iconv -f UTF-16 -t UTF-8";
  static const struct {
    const char *front, *what;
  } others[] = {{"\xFF\xFE", encoding},
                {"\xFE\xFF", encoding},
                {"\x1F\x8B", "it is packed by gzip; a pipe unpacks it: <(zcat FILE)"},
                {"PK\3\4", "it is an archive, as .zip and .npz are; numpy.save writes an array alone"}};
  input *in = &source->in;
  const char *front = in->buffer + in->begin;
  const size_t held = in->end - in->begin;
  if (held >= 3 && !memcmp(front, "\xEF\xBB\xBF", 3)) return input_skip(in, 3);
  for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
    const size_t size = strlen(others[i].front);
    if (held < size || memcmp(front, others[i].front, size) != 0) continue;
    complain("%s: %s", in->name, others[i].what);
    return -1;
  }
  return 0;
}

/* Checks that a row of text has as many numbers as there are names, or numbers in the first row. */
static int check_count(const row_source *source, size_t count) {
  const size_t wanted = source->order.count ? source->order.count : source->columns;
  if (count == 0 || wanted == 0 || count == wanted) return 0;
  complain("%s: line %" PRIu64 " holds %zu %s, %s %zu", source->in.name, source->line, count,
           plural(count, "number", "numbers"), source->order.count ? "the names of columns are" : "the lines before it",
           wanted);
  return -1;
}

static int open_text(row_source *source) {
  int count = 0;
  if (skip_mark(source) || text_read(source, source->first, &count, 1) || check_count(source, (size_t)count)) return -1;
  source->columns = count > 0 && source->order.count ? source->known->count : (size_t)count;
  source->ahead = count > 0;
  return 0;
}

static row_source *make_source(const char *name, const column_names *known) {
  row_source *source = calloc(1, sizeof *source);
  if (!source) {
    complain("cannot read %s: out of memory", name);
    return NULL;
  }
  source->count = ROWS_UNKNOWN;
  source->known = known;
  return source;
}

static int open_rows(const char *path, file_format format, size_t raw_columns, const column_names *known, int matrices,
                     row_source **opened) {
  row_source *source = make_source(path, known);
  *opened = NULL;
  if (!source) return -1;
  source->matrices = matrices;
  int failed = input_open(&source->in, path) || input_fill(&source->in, NPY_MAGIC);
  if (!failed) {
    const input *in = &source->in;
    if (format == FORMAT_AUTO) format = format_of_name(path);
    if (format == FORMAT_AUTO && npy_is(in->buffer + in->begin, in->end - in->begin)) format = FORMAT_NPY;
    source->format = format;
    failed = format == FORMAT_NPY   ? open_npy(source)
             : format == FORMAT_RAW ? open_raw(source, raw_columns)
                                    : open_text(source);
  }
  if (failed)
    rows_close(source);
  else
    *opened = source;
  return failed ? -1 : 0;
}

int rows_open(const char *path, file_format format, size_t raw_columns, const column_names *known,
              row_source **opened) {
  return open_rows(path, format, raw_columns, known, 0, opened);
}

int rows_open_matrices(const char *path, size_t raw_columns, const column_names *known, row_source **opened) {
  return open_rows(path, FORMAT_AUTO, raw_columns, known, 1, opened);
}

int rows_open_lines(input *in, const column_names *known, row_source **opened) {
  row_source *source = make_source(in->name, known);
  *opened = NULL;
  if (!source) {
    input_close(in);
    return -1;
  }
  source->in = *in;
  source->format = FORMAT_TEXT;
  if (open_text(source)) {
    rows_close(source);
    return -1;
  }
  *opened = source;
  return 0;
}

void rows_close(row_source *source) {
  if (!source) return;
  input_close(&source->in);
  free(source);
}

const char *rows_name(const row_source *source) { return source->in.name; }
size_t rows_columns(const row_source *source) { return source->columns; }
uint64_t rows_count(const row_source *source) { return source->count; }
int rows_is_file(const row_source *source) { return source->in.size != INPUT_UNKNOWN; }
uint64_t rows_place(const row_source *source) { return source->in.place; }
uint64_t rows_line(const row_source *source) { return source->line; }

int rows_has_column(const row_source *source, size_t place) {
  const column_order *order = &source->order;
  for (size_t i = 0; i < order->count; i++)
    if (order->place[i] == place) return 1;
  return order->count ? 0 : -1;
}

static int is_binary(const row_source *source) { return source->format == FORMAT_NPY || source->format == FORMAT_RAW; }

size_t rows_bytes(const row_source *source) {
  return is_binary(source) ? source->columns * (source->wide ? sizeof(double) : sizeof(float)) : 0;
}

int rows_are_wide(const row_source *source) { return source->wide || !is_binary(source); }

double rows_worst_rounding(const row_source *source, size_t first, size_t last) {
  double worst = 0;
  for (size_t i = first; i < last; i++) worst = fmax(worst, source->worst[i]);
  return worst;
}

/* ---- reading --------------------------------------------------------------- */

/* Takes note of how far rounding moves the number of a column. */
static void note_rounding(row_source *source, size_t column, double wide, float narrow) {
  const double moved = fabs((double)narrow - wide);
  if (moved > source->worst[column]) source->worst[column] = moved; /* false for NaN, and for inf - inf */
}

static row_numbers numbers_from(row_numbers to, size_t place) {
  return (row_numbers){to.narrow ? to.narrow + place : NULL, to.wide ? to.wide + place : NULL};
}

static void convert_doubles(row_source *source, const double *from, size_t rows, row_numbers to) {
  for (size_t i = 0, column = 0; i < rows * source->columns; i++) {
    const float narrow = (float)from[i];
    note_rounding(source, column, from[i], narrow);
    if (to.narrow) to.narrow[i] = narrow;
    if (to.wide) to.wide[i] = from[i];
    column = column + 1 < source->columns ? column + 1 : 0;
  }
}

void rows_convert(row_source *source, const void *bytes, size_t rows, row_numbers to) {
  const float *from = bytes;
  const size_t count = rows * source->columns;
  if (source->wide) {
    convert_doubles(source, bytes, rows, to);
    return;
  }
  if (to.narrow) memcpy(to.narrow, from, count * sizeof *from);
  for (size_t i = 0; to.wide && i < count; i++) to.wide[i] = (double)from[i];
}

/* Reads whole rows of binary data. It is an error if the data ends within a row or before the count. */
static int read_binary(row_source *source, size_t rows, size_t item, void *values, size_t *got) {
  const size_t row = source->columns * item;
  size_t bytes = 0;
  if (input_read(&source->in, values, rows * row, &bytes)) return -1;
  *got = bytes / row;
  if (bytes == rows * row || (bytes % row == 0 && source->count == ROWS_UNKNOWN)) return 0;
  complain("%s: truncated: it ends after %zu %s of row %" PRIu64 ", a row has %zu", source->in.name, bytes % row,
           plural(bytes % row, "byte", "bytes"), source->done + *got, row);
  return -1;
}

/* Reads binary rows by way of a block. */
static int read_converted(row_source *source, size_t rows, row_numbers to, size_t *got) {
  enum { BLOCK = 256 };
  double block[BLOCK * ROWS_COLUMNS_MAX];
  const size_t item = source->wide ? sizeof(double) : sizeof(float);
  for (*got = 0; *got < rows;) {
    const size_t wanted = rows - *got < BLOCK ? rows - *got : BLOCK;
    size_t read = 0;
    if (read_binary(source, wanted, item, block, &read)) return -1;
    rows_convert(source, block, read, numbers_from(to, *got * source->columns));
    *got += read;
    if (read < wanted) break;
  }
  return 0;
}

/* Reads the numbers of the next line; *count = 0 at the end. */
static int next_text_row(row_source *source, decimal *row, int *count) {
  if (!source->ahead) return text_read(source, row, count, 0) || check_count(source, (size_t)*count) ? -1 : 0;
  *count = (int)(source->order.count ? source->order.count : source->columns);
  memcpy(row, source->first, sizeof source->first);
  source->ahead = 0;
  return 0;
}

/* Puts the numbers of a line where their columns' names say. */
static void put_row(row_source *source, const decimal *row, row_numbers to) {
  const column_order *order = &source->order;
  for (size_t i = 0; order->count && i < source->columns; i++) {
    const float otherwise = source->known->list[i].otherwise;
    if (to.narrow) to.narrow[i] = otherwise;
    if (to.wide) to.wide[i] = (double)otherwise;
  }
  for (size_t i = 0; i < (order->count ? order->count : source->columns); i++) {
    const size_t place = order->count ? order->place[i] : i;
    if (place == COLUMN_OTHER) continue;
    note_rounding(source, place, row[i].wide, row[i].narrow);
    if (to.narrow) to.narrow[place] = row[i].narrow;
    if (to.wide) to.wide[place] = row[i].wide;
  }
}

static int read_text(row_source *source, size_t rows, row_numbers to, size_t *got) {
  decimal row[ROWS_COLUMNS_MAX];
  int count = 0;
  for (*got = 0; *got < rows; ++*got) {
    if (next_text_row(source, row, &count)) return -1;
    if (count == 0) break;
    put_row(source, row, numbers_from(to, *got * source->columns));
  }
  return 0;
}

int rows_read(row_source *source, size_t capacity, row_numbers to, size_t *got) {
  const uint64_t left = source->count - source->done;
  const size_t rows = left < capacity ? (size_t)left : capacity;
  int failed = 0;
  *got = 0;
  if (rows == 0 || source->columns == 0) return 0;
  if (!is_binary(source))
    failed = read_text(source, rows, to, got);
  else if (source->wide || to.wide)
    failed = read_converted(source, rows, to, got);
  else
    failed = read_binary(source, rows, sizeof(float), to.narrow, got);
  source->done += *got;
  return failed;
}

int rows_read_line(row_source *source, decimal row[ROWS_COLUMNS_MAX], int *got) {
  const column_order *order = &source->order;
  decimal line[ROWS_COLUMNS_MAX];
  if (next_text_row(source, line, got)) return -1;
  for (int i = 0; i < *got; i++)
    if (!is_other(order, i)) row[order->count ? order->place[i] : (size_t)i] = line[i];
  source->done += *got > 0;
  return 0;
}

static int skip_text(row_source *source, uint64_t rows) {
  decimal row[ROWS_COLUMNS_MAX];
  for (int count = 1; rows && count; rows--)
    if (next_text_row(source, row, &count)) return -1;
  return 0;
}

int rows_skip(row_source *source, uint64_t rows) {
  const uint64_t left = source->count - source->done;
  if (rows > left) rows = left;
  source->done += rows;
  return is_binary(source) ? input_skip(&source->in, rows * rows_bytes(source)) : skip_text(source, rows);
}
