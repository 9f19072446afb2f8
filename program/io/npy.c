#include "program/io/npy.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/io/errors.h"

static const char magic[NPY_MAGIC] = "\x93NUMPY";
/* A header longer than HEADER_LIMIT is treated as damaged. */
enum { HEADER_LIMIT = INPUT_BUFFER - 16, NESTING_LIMIT = 4 };

/* ---- parsing --------------------------------------------------------------- */

typedef struct cursor {
  const char *at, *end;
} cursor;

static void skip_blanks(cursor *c) {
  while (c->at < c->end && isspace((unsigned char)*c->at)) c->at++;
}

static int take(cursor *c, char mark) {
  skip_blanks(c);
  if (c->at >= c->end || *c->at != mark) return 0;
  c->at++;
  return 1;
}

static int take_word(cursor *c, const char *word) {
  const size_t length = strlen(word);
  skip_blanks(c);
  if ((size_t)(c->end - c->at) < length || strncmp(c->at, word, length)) return 0;
  c->at += length;
  return 1;
}

/* Parses a string of printable ASCII in single or double quotes, without escapes. */
static int take_string(cursor *c, const char **text, size_t *length) {
  skip_blanks(c);
  if (c->at >= c->end || (*c->at != '\'' && *c->at != '"')) return 0;
  const char quote = *c->at;
  *text = ++c->at;
  while (c->at < c->end && *c->at != quote && *c->at != '\\' && *c->at >= ' ' && *c->at <= '~') c->at++;
  if (c->at >= c->end || *c->at != quote) return 0;
  *length = (size_t)(c->at++ - *text);
  return 1;
}

static int take_number(cursor *c, uint64_t *value) {
  skip_blanks(c);
  const char *start = c->at;
  for (*value = 0; c->at < c->end && isdigit((unsigned char)*c->at); c->at++) {
    if (*value > INT64_MAX / 10 - 1) return 0;
    *value = 10 * *value + (uint64_t)(*c->at - '0');
  }
  const int found = c->at > start;
  if (found && c->at < c->end && *c->at == 'L') c->at++; /* Python 2 appends L */
  return found;
}

/* Parses (), (3,), (3, 4): at most NPY_DIMENSIONS_MAX numbers. */
static int take_shape(cursor *c, uint64_t *shape, int *dimensions) {
  *dimensions = 0;
  if (!take(c, '(')) return 0;
  while (!take(c, ')')) {
    if (*dimensions == NPY_DIMENSIONS_MAX || !take_number(c, &shape[(*dimensions)++])) return 0;
    if (!take(c, ',')) return take(c, ')');
  }
  return 1;
}

/* Parses '<f4' and the like: byte order, kind, bytes. */
static int scalar_size(const char *type, size_t length, size_t *size) {
  const size_t mark = length && strchr("<>|=", type[0]) ? 1 : 0;
  if (length < mark + 2 || length > mark + 8 || !strchr("biufcV?S", type[mark])) return 0;
  *size = 0;
  for (size_t i = mark + 1; i < length; i++) {
    if (!isdigit((unsigned char)type[i])) return 0;
    *size = 10 * *size + (size_t)(type[i] - '0');
  }
  return *size > 0;
}

static int multiply(size_t *size, uint64_t factor) {
  if (factor == 0 || *size > (size_t)1 << 40 || factor > (uint64_t)1 << 20) return 0;
  *size *= (size_t)factor;
  return 1;
}

static int take_dtype(cursor *c, int depth, size_t *size);

/* A field, as the text has it. */
typedef struct field {
  const char *name, *type; /* type: with the shape */
  size_t name_length, type_length;
  size_t size; /* bytes */
} field;

/* Parses ('name', dtype) or ('name', dtype, shape). */
static int take_field(cursor *c, int depth, field *f) {
  uint64_t shape[NPY_DIMENSIONS_MAX];
  int dimensions = 0;
  if (!take(c, '(') || !take_string(c, &f->name, &f->name_length) || !take(c, ',')) return 0;
  skip_blanks(c);
  f->type = c->at;
  if (!take_dtype(c, depth, &f->size)) return 0;
  f->type_length = (size_t)(c->at - f->type);
  if (take(c, ',')) {
    skip_blanks(c);
    if (c->at < c->end && *c->at == '(' && !take_shape(c, shape, &dimensions)) return 0;
    if (dimensions > 0) f->type_length = (size_t)(c->at - f->type);
    take(c, ',');
  }
  for (int i = 0; i < dimensions; i++)
    if (!multiply(&f->size, shape[i])) return 0;
  return take(c, ')');
}

static int take_dtype(cursor *c, int depth, size_t *size) {
  const char *type;
  size_t length;
  field f = {0};
  if (take_string(c, &type, &length)) return scalar_size(type, length, size);
  if (depth == NESTING_LIMIT || !take(c, '[')) return 0;
  for (*size = 0; !take(c, ']'); *size += f.size) {
    if (!take_field(c, depth + 1, &f)) return 0;
    if (!take(c, ',')) {
      *size += f.size;
      return take(c, ']');
    }
  }
  return *size > 0;
}

const char *npy_field(const npy_header *header, const char *name, size_t *length, size_t *place) {
  cursor c = {header->descr, header->descr + strlen(header->descr)};
  field f;
  *place = 0;
  for (int more = take(&c, '['); more && take_field(&c, 1, &f); more = take(&c, ',')) {
    *length = f.type_length;
    if (f.name_length == strlen(name) && !strncmp(f.name, name, f.name_length)) return f.type;
    *place += f.size;
  }
  return NULL;
}

/* Copies a dtype with blanks as numpy writes them: one after each comma, except before a closing bracket. Blanks within
 * quotes belong to a field's name and are kept. */
static int copy_descr(const char *from, const char *to, char descr[NPY_DESCR_MAX]) {
  size_t length = 0;
  char quote = 0, before = 0;
  for (; from < to; from++) {
    if (!quote && isspace((unsigned char)*from)) continue;
    if (length + 2 >= NPY_DESCR_MAX) return 0;
    if (!quote && before == ',' && *from != ')' && *from != ']') descr[length++] = ' ';
    before = quote ? 0 : *from;
    if (quote ? *from == quote : (*from == '\'' || *from == '"')) quote = quote ? 0 : *from;
    descr[length++] = *from;
  }
  descr[length] = '\0';
  return 1;
}

/* Parses one key with its value. Returns NULL, or the fault. Sets the key's bit in *found. */
static const char *take_entry(cursor *c, npy_header *header, unsigned *found) {
  const char *key;
  size_t length;
  if (!take_string(c, &key, &length) || !take(c, ':')) return "a key is missing or its colon";
  skip_blanks(c);
  const char *start = c->at;
  if (length == 5 && !strncmp(key, "descr", 5)) {
    *found |= 1;
    if (!take_dtype(c, 0, &header->item_size)) return "its descr is not understood";
    return copy_descr(start, c->at, header->descr) ? NULL : "its descr is too long";
  }
  if (length == 13 && !strncmp(key, "fortran_order", 13)) {
    *found |= 2;
    header->fortran_order = take_word(c, "True");
    return header->fortran_order || take_word(c, "False") ? NULL : "fortran_order is neither True nor False";
  }
  if (length == 5 && !strncmp(key, "shape", 5)) {
    *found |= 4;
    return take_shape(c, header->shape, &header->dimensions) ? NULL : "its shape is not understood";
  }
  return "it has an unknown key";
}

/* Copies the rest of the line after "#", without surrounding blanks. */
static void copy_note(cursor *c, char note[NPY_NOTE_MAX]) {
  if (!take(c, '#')) return;
  skip_blanks(c);
  const char *end = c->at;
  while (end < c->end && *end != '\n') end++;
  while (end > c->at && isspace((unsigned char)end[-1])) end--;
  snprintf(note, NPY_NOTE_MAX, "%.*s", (int)(end - c->at), c->at);
}

const char *npy_parse(const char *text, size_t size, npy_header *header) {
  cursor c = {text, text + size};
  unsigned found = 0;
  *header = (npy_header){0};
  if (!take(&c, '{')) return "it does not begin with {";
  while (!take(&c, '}')) {
    const char *wrong = take_entry(&c, header, &found);
    if (wrong) return wrong;
    if (take(&c, ',')) continue;
    if (!take(&c, '}')) return "it does not end with }";
    break;
  }
  copy_note(&c, header->note);
  return found == 7 ? NULL : "descr, fortran_order or shape is missing";
}

/* ---- reading and writing --------------------------------------------------- */

int npy_is(const char *data, size_t size) { return size >= NPY_MAGIC && !memcmp(data, magic, NPY_MAGIC); }

static int refuse(const input *in, const char *what) {
  complain("%s: not a usable npy file: %s", in->name, what);
  return -1;
}

int npy_read(input *in, npy_header *header) {
  if (input_fill(in, 12)) return -1;
  const unsigned char *front = (const unsigned char *)in->buffer + in->begin;
  const size_t held = in->end - in->begin;
  if (!npy_is((const char *)front, held)) return refuse(in, "it does not begin with \\x93NUMPY");
  if (held < 12) return refuse(in, "it ends within the header");
  const unsigned version = front[6];
  if (version < 1 || version > 3) {
    complain("%s: npy version %u.%u is not known (1.0 to 3.0 are)", in->name, version, front[7]);
    return -1;
  }
  const size_t start = version == 1 ? 10 : 12;
  const size_t size =
      (size_t)front[8] | (size_t)front[9] << 8 | (version == 1 ? 0 : (size_t)front[10] << 16 | (size_t)front[11] << 24);
  if (size > HEADER_LIMIT) return refuse(in, "its header is too long");
  if (input_fill(in, start + size)) return -1;
  if (in->end - in->begin < start + size) return refuse(in, "it ends within the header");
  const char *wrong = npy_parse(in->buffer + in->begin + start, size, header);
  if (wrong) {
    complain("%s: the npy header cannot be read: %s", in->name, wrong);
    return -1;
  }
  return input_skip(in, start + size);
}

/* Writes a header. The shape's first number has `digits` digits; blanks pad it to 20, so that the header's length does
 * not depend on it. */
static size_t write_header(char buffer[NPY_HEADER_MAX], const char *descr, const char *shape, size_t digits,
                           const char *note) {
  const int length =
      snprintf(buffer + 10, NPY_HEADER_MAX - 10, "{'descr': %s, 'fortran_order': False, 'shape': %s, }%*s%s%s", descr,
               shape, 20 - (int)digits, "", note[0] ? "# " : "", note);
  /* padded with blanks to a multiple of 64 bytes */
  const size_t total = (10 + (size_t)length + 1 + 63) / 64 * 64;
  memset(buffer + 10 + length, ' ', total - 10 - (size_t)length - 1);
  buffer[total - 1] = '\n';
  memcpy(buffer, magic, NPY_MAGIC);
  buffer[6] = 1;
  buffer[7] = 0;
  buffer[8] = (char)((total - 10) & 0xff);
  buffer[9] = (char)((total - 10) >> 8);
  return total;
}

size_t npy_write(char buffer[NPY_HEADER_MAX], const char *descr, uint64_t rows, uint64_t columns) {
  char shape[64];
  const int digits = snprintf(shape, sizeof shape, "(%" PRIu64, rows) - 1;
  const size_t at = (size_t)digits + 1;
  if (columns)
    snprintf(shape + at, sizeof shape - at, ", %" PRIu64 ")", columns);
  else
    snprintf(shape + at, sizeof shape - at, ",)");
  return write_header(buffer, descr, shape, (size_t)digits, "");
}

size_t npy_write_noted(char buffer[NPY_HEADER_MAX], const char *descr, uint64_t rows, const char *note) {
  char shape[64];
  const int digits = snprintf(shape, sizeof shape, "(%" PRIu64 ",)", rows) - 3;
  return write_header(buffer, descr, shape, (size_t)digits, note);
}

/* ---- the note that names a shard -------------------------------------------- */

void shard_label_write(const shard_label *label, char note[NPY_NOTE_MAX]) {
  const int length = snprintf(
      note, NPY_NOTE_MAX, "slabcast shard %" PRIu64 "/%" PRIu64 ": %" PRIu64 " rays from %" PRIu64 " on, of %" PRIu64,
      label->index, label->count, label->rays, label->first, label->total);
  if (label->scene || label->sample || label->options)
    snprintf(note + length, NPY_NOTE_MAX - (size_t)length,
             "; scene %016" PRIx64 ", rays %016" PRIx64 ", options %016" PRIx64, label->scene, label->sample,
             label->options);
}

int shard_label_read(const char *note, shard_label *label) {
  char again[NPY_NOTE_MAX];
  *label = (shard_label){0};
  const int found = sscanf(note,
                           "slabcast shard %" SCNu64 "/%" SCNu64 ": %" SCNu64 " rays from %" SCNu64 " on, of %" SCNu64
                           "; scene %" SCNx64 ", rays %" SCNx64 ", options %" SCNx64,
                           &label->index, &label->count, &label->rays, &label->first, &label->total, &label->scene,
                           &label->sample, &label->options);
  if (found >= 5) {
    shard_label_write(label, again);
    if (strcmp(note, again) == 0 && label->index < label->count) return 1;
  }
  *label = (shard_label){0};
  return 0;
}

static int differ(uint64_t a, uint64_t b) { return a && b && a != b; }

const char *shard_label_differs(const shard_label *a, const shard_label *b) {
  if (a->count != b->count || a->total != b->total) return "of another cast";
  if (differ(a->scene, b->scene)) return "of another scene";
  if (differ(a->sample, b->sample)) return "of other rays";
  return differ(a->options, b->options) ? "of a cast with other options" : NULL;
}
