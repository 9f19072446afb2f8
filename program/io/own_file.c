#include "program/io/own_file.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/columns.h"
#include "program/io/digest.h"
#include "program/io/errors.h"
#include "program/io/input.h"
#include "program/io/rows.h"
#include "program/io/text.h"

/* A row becomes one word, a mask or a world, or three, a slab_short_hit. */
enum { WORDS = 3, MASKS = 0, AFTER = 1, OF_WORLDS = 2, KINDS = 3 };

typedef struct own_kind {
  const char *noun, *nouns;
  int words;
  const column_names *columns;
} own_kind;

static const own_kind kinds[KINDS] = {
    [MASKS] = {"mask", "masks", 1, &columns_of_masks},
    [AFTER] = {"hit", "hits", WORDS, &columns_of_hits},
    [OF_WORLDS] = {"world", "worlds", 1, &columns_of_worlds},
};

static const own_owner of_rays = {"ray", "rays"};
const own_owner own_of_points = {"point", "points"}, own_of_places = {"place", "places"};

/* The members of slab_short_hit, in its order, which is that of columns_of_hits. */
static const char *const members[WORDS] = {"t", "primitive", "geometry"};
_Static_assert(sizeof(slab_short_hit) == WORDS * sizeof(uint32_t) && offsetof(slab_short_hit, primitive) == 4 &&
                   offsetof(slab_short_hit, geometry) == 8,
               "three words make a hit");

#define ABSENT SIZE_MAX

typedef struct own_file {
  const own_kind *kind;
  const own_owner *owner;
  const char *path, *name;
  input in;          /* of binary data */
  row_source *lines; /* of a text; NULL: binary */
  size_t row;        /* bytes of a binary row, numbers of a line without names */
  size_t at[WORDS];  /* where the words are: bytes in a binary row, places of columns in a line */
  int ordered;       /* the first word of hits is their order, as rays in double have it, in place of t */
  uint64_t count;    /* rows; ROWS_UNKNOWN until the data ends */
  uint64_t done;     /* rows read and skipped */
  uint64_t first;    /* the ray of row 0: of the results of a shard that of its first ray */
  uint64_t total;    /* rows that there should be, or ROWS_UNKNOWN */
  uint32_t most;     /* of worlds: the highest; UINT32_MAX: any */
} own_file;

struct own_source {
  own_file files[KINDS]; /* path NULL: it is not there */
  shard_label rays;
};

/* Whether a row is a number alone. */
static int is_number(const own_file *file) { return file->kind->words == 1; }

/* ---- messages --------------------------------------------------------------- */

static const char *things(const own_file *file, uint64_t count) {
  return plural(count, file->kind->noun, file->kind->nouns);
}

/* The data has `count` rows, or more than that. */
static int refuse_count(const own_file *file, const char *more, uint64_t count, uint64_t rays) {
  complain("%s: %s%" PRIu64 " %s for %" PRIu64 " %s; each %s has one", file->name, more, count, things(file, count),
           rays, plural(rays, file->owner->one, file->owner->several), file->owner->one);
  return -1;
}

/* The data has ended after `count` rows, before the rays. */
static int refuse_end(const own_file *file, uint64_t count) {
  if (file->total != ROWS_UNKNOWN) return refuse_count(file, "", count, file->total);
  complain("%s: %" PRIu64 " %s, and there are more %s; each %s has one", file->name, count, things(file, count),
           file->owner->several, file->owner->one);
  return -1;
}

static int check_total(const own_file *file) {
  const int known = file->count != ROWS_UNKNOWN && file->total != ROWS_UNKNOWN;
  return known && file->count != file->total ? refuse_count(file, "", file->count, file->total) : 0;
}

/* ---- npy -------------------------------------------------------------------- */

static int is_type(const char *type, size_t length, const char *wanted) {
  const int size = (int)strlen(wanted);
  return type != NULL && length == (size_t)size + 3 && (type[1] == '<' || type[1] == '=') &&
         !strncmp(type + 2, wanted, (size_t)size);
}

/* Masks, or t alone: an array without fields. */
static int find_plain(own_file *file, const npy_header *header) {
  for (int i = 0; i < WORDS; i++) file->at[i] = ABSENT;
  file->at[0] = 0;
  if (is_type(header->descr, strlen(header->descr), is_number(file) ? "u4" : "f4")) return 0;
  if (is_number(file))
    complain("%s: dtype %.80s is not uint32 ('<u4'), as %s are", file->name, header->descr, file->kind->nouns);
  else
    complain("%s: dtype %.80s has no t; hits are results of closest, nearest or distance", file->name, header->descr);
  return -1;
}

/* t may stand alone. */
static int check_ids(const own_file *file) {
  const int primitive = file->at[HITS_PRIMITIVE] != ABSENT, geometry = file->at[HITS_GEOMETRY] != ABSENT;
  if (primitive == geometry) return 0;
  complain("%s: %s is there without %s", file->name, members[primitive ? HITS_PRIMITIVE : HITS_GEOMETRY],
           members[primitive ? HITS_GEOMETRY : HITS_PRIMITIVE]);
  return -1;
}

/* Finds a field of hits; *place ABSENT: there is none. Returns 0, or -1 with the error printed: it has another type. */
static int find_field(const own_file *file, const npy_header *header, const char *name, const char *wanted,
                      size_t *place) {
  size_t length = 0;
  const char *type = npy_field(header, name, &length, place);
  if (type == NULL) *place = ABSENT;
  if (type == NULL || is_type(type, length, wanted)) return 0;
  complain("%s: the field %s is %.*s, not '<%s'", file->name, name, (int)(length < 80 ? length : 80), type, wanted);
  return -1;
}

static int find_fields(own_file *file, const npy_header *header) {
  if (is_number(file) || header->descr[0] != '[') return find_plain(file, header);
  if (find_field(file, header, "order", "f4", &file->at[HITS_T])) return -1;
  file->ordered = file->at[HITS_T] != ABSENT;
  for (int i = file->ordered ? HITS_PRIMITIVE : HITS_T; i < WORDS; i++)
    if (find_field(file, header, members[i], i == HITS_T ? "f4" : "u4", &file->at[i])) return -1;
  if (file->at[HITS_T] != ABSENT) return check_ids(file);
  complain("%s: its fields have no t; hits have t, primitive and geometry", file->name);
  return -1;
}

enum { BLOCK_BYTES = 1 << 14 };

static int check_shape(const own_file *file, const npy_header *header) {
  const int flat = header->dimensions == 1 || (header->dimensions == 2 && header->shape[1] == 1);
  if (flat && header->item_size <= BLOCK_BYTES) return 0;
  if (flat)
    complain("%s: rows of %zu bytes; %d can be read", file->name, header->item_size, BLOCK_BYTES);
  else
    complain("%s: an array of %d dimensions; a row of %s is wanted, one a %s", file->name, header->dimensions,
             file->kind->nouns, file->owner->one);
  return -1;
}

/* Results of a shard go with the same shard alone. */
static int check_shard(own_file *file, const npy_header *header, const shard_label *rays) {
  shard_label label;
  if (!shard_label_read(header->note, &label)) return 0;
  file->first = label.first;
  if (label.index == rays->index && label.count == rays->count && label.first == rays->first &&
      label.total == rays->total) {
    file->total = rays->rays;
    return 0;
  }
  complain("%s: the results of shard %" PRIu64 "/%" PRIu64
           ", which go with the same shard alone; join makes them whole",
           file->name, label.index, label.count);
  return -1;
}

static int open_npy(own_file *file, const shard_label *rays) {
  npy_header header;
  if (npy_read(&file->in, &header) || check_shape(file, &header) || find_fields(file, &header) ||
      check_shard(file, &header, rays))
    return -1;
  const input *in = &file->in;
  const uint64_t held = in->size == INPUT_UNKNOWN ? INPUT_UNKNOWN : in->size - in->place;
  file->row = header.item_size;
  file->count = header.shape[0];
  if (file->count <= held / file->row) return 0;
  complain("%s: truncated: %" PRIu64 " %s of %zu bytes are announced, %" PRIu64 " %s there", file->name, file->count,
           things(file, file->count), file->row, held, plural(held, "byte is", "bytes are"));
  return -1;
}

/* ---- raw, and lines without names ---------------------------------------------- */

/* Rows of numbers of four bytes: results, three more numbers where --points added them. Results of distance have no
 * points here, because intervals have as many numbers. */
typedef struct own_form {
  size_t numbers, at[WORDS];
  int ordered; /* of rays in double, whose t takes two such numbers: lines alone */
} own_form;

#define HIT_FORM(type, points) \
  { sizeof(type) / 4 + (points), {0, offsetof(type, primitive) / 4, offsetof(type, geometry) / 4}, 0 }
/* The order stands behind the geometry. A short hit with it alone has as many numbers as t with its point. */
#define ORDERED_FORM(type, points)                                                                                    \
  {                                                                                                                   \
    sizeof(type) / 4 + 1 + (points), {sizeof(type) / 4, offsetof(type, primitive) / 4, offsetof(type, geometry) / 4}, \
        1                                                                                                             \
  }
static const own_form hit_forms[] = {
    HIT_FORM(slab_short_hit, 0), HIT_FORM(slab_hit, 0),     HIT_FORM(slab_short_hit, 3),     HIT_FORM(slab_hit, 3),
    {1, {0, ABSENT, ABSENT}, 0}, ORDERED_FORM(slab_hit, 0), ORDERED_FORM(slab_short_hit, 3), ORDERED_FORM(slab_hit, 3),
};
static const own_form number_form = {1, {0, ABSENT, ABSENT}, 0};

/* The i-th form of such a file; NULL: there are no more. */
static const own_form *form_of(const own_file *file, size_t i) {
  if (is_number(file)) return i == 0 ? &number_form : NULL;
  return i < COUNT_OF(hit_forms) ? &hit_forms[i] : NULL;
}

static int take_form(own_file *file, const own_form *form, size_t number) {
  file->row = form->numbers * number;
  file->ordered = form->ordered;
  for (int i = 0; i < WORDS; i++) file->at[i] = form->at[i] == ABSENT ? ABSENT : form->at[i] * number;
  return 0;
}

/* Where both numbers are known, the size of the data says which form it has; else it has the first. */
static int open_raw(own_file *file) {
  const uint64_t size = file->in.size, rows = file->total;
  const int known = size != INPUT_UNKNOWN && rows != ROWS_UNKNOWN;
  const own_form *form = form_of(file, 0);
  for (size_t i = 0; known && form && (form->ordered || size != rows * form->numbers * sizeof(uint32_t));)
    form = form_of(file, ++i);
  take_form(file, form ? form : form_of(file, 0), sizeof(uint32_t));
  if (size == INPUT_UNKNOWN) return 0;
  file->count = size / file->row;
  if (size % file->row == 0) return 0;
  complain("%s: %" PRIu64 " %s no whole number of %s of %zu bytes%s", file->name, size,
           plural(size, "byte is", "bytes are"), file->kind->nouns, file->row,
           is_number(file) ? "" : " (t, primitive, geometry), nor one for each ray as closest or distance writes it");
  return -1;
}

static int open_names(own_file *file) {
  for (size_t i = 0; i < WORDS; i++) file->at[i] = rows_has_column(file->lines, i) ? i : ABSENT;
  if (is_number(file)) return 0;
  file->ordered = rows_has_column(file->lines, HITS_ORDER) > 0;
  if (file->ordered) file->at[HITS_T] = HITS_ORDER;
  if (rows_has_column(file->lines, HITS_RAY)) {
    complain("%s: a column \"ray\", as hits of --query all have; a hit for each ray is wanted", file->name);
    return -1;
  }
  return check_ids(file);
}

static int open_lines(own_file *file) {
  const int failed = rows_open_lines(&file->in, file->kind->columns, &file->lines);
  file->in = (input){.fd = -1};
  if (failed) return -1;
  if (rows_has_column(file->lines, 0) >= 0) return open_names(file);
  const size_t numbers = rows_columns(file->lines);
  const own_form *form = form_of(file, 0);
  for (size_t i = 0; form && numbers > 0 && form->numbers != numbers;) form = form_of(file, ++i);
  if (form) return take_form(file, form, 1);
  complain("%s: rows of %zu %s; %s", file->name, numbers, plural(numbers, "number", "numbers"),
           is_number(file) ? (file->kind == &kinds[MASKS] ? "a mask is one" : "a world is one")
                           : "a hit has 3 (t, primitive, geometry), 8 as closest has it (in double 9), or 1, t alone");
  return -1;
}

/* ---- opening --------------------------------------------------------------- */

static int refuse_points(const own_file *file) {
  complain("%s: points of ply leave misses out; one %s a %s is wanted", file->name, file->kind->noun, file->owner->one);
  return -1;
}

static int open_file(own_file *file, const shard_label *rays) {
  *file = (own_file){.kind = file->kind,
                     .owner = file->owner,
                     .path = file->path,
                     .count = ROWS_UNKNOWN,
                     .total = rays->total,
                     .most = UINT32_MAX};
  if (input_open(&file->in, file->path)) return -1;
  file->name = file->in.name;
  if (input_fill(&file->in, NPY_MAGIC)) return -1;
  const char *front = file->in.buffer + file->in.begin;
  const size_t held = file->in.end - file->in.begin;
  const file_format format = format_of_name(file->path);
  if (held >= 4 && !memcmp(front, "ply\n", 4)) return refuse_points(file);
  const int npy = format == FORMAT_NPY || (format == FORMAT_AUTO && npy_is(front, held));
  const int failed = npy ? open_npy(file, rays) : format == FORMAT_RAW ? open_raw(file) : open_lines(file);
  return failed || check_total(file) ? -1 : 0;
}

static void close_file(own_file *file) {
  if (!file->path) return;
  rows_close(file->lines);
  if (!file->lines) input_close(&file->in);
}

int own_source_open(const own_options *options, const shard_label *rays, own_source **opened) {
  const char *const paths[KINDS] = {options->masks, options->after, options->worlds};
  *opened = NULL;
  const char *first = NULL;
  for (int k = KINDS - 1; k >= 0; k--) first = paths[k] ? paths[k] : first;
  if (!first) return 0;
  own_source *source = calloc(1, sizeof *source);
  if (!source) {
    complain("cannot read %s: out of memory", first);
    return -1;
  }
  source->rays = *rays;
  int failed = 0;
  for (int k = 0; k < KINDS; k++)
    source->files[k] = (own_file){
        .kind = &kinds[k], .owner = options->owner ? options->owner : &of_rays, .path = paths[k], .in = {.fd = -1}};
  for (int k = 0; k < KINDS && !failed; k++) failed = source->files[k].path && open_file(&source->files[k], rays);
  if (!failed) failed = own_source_go_to(source, 0);
  if (failed) {
    own_source_close(source);
    return -1;
  }
  *opened = source;
  return 0;
}

void own_source_close(own_source *source) {
  if (!source) return;
  for (int k = 0; k < KINDS; k++) close_file(&source->files[k]);
  free(source);
}

void own_source_limit(own_source *source, uint32_t worlds) {
  if (source) source->files[OF_WORLDS].most = worlds;
}

int own_source_settle(own_source *source, int doubles) {
  const own_file *after = source ? &source->files[AFTER] : NULL;
  if (!after || !after->path || after->ordered == doubles) return 0;
  if (doubles)
    complain(
        "%s: its hits have no order, by which those of rays in double follow each other: npy, csv and text of "
        "closest and nearest have it",
        after->name);
  else
    complain("%s: its hits are of rays in double, as their order says, and these rays are in float", after->name);
  return -1;
}

/* ---- reading --------------------------------------------------------------- */

static int refuse_cut(const own_file *file) {
  complain("%s: truncated: it ends before %s %" PRIu64 ", of %zu bytes, is whole", file->name, file->kind->noun,
           file->done, file->row);
  return -1;
}

/* Of a pipe less may be there than its header announced. */
static int check_bytes(own_file *file, size_t n, size_t bytes) {
  file->done += bytes / file->row;
  if (bytes == n * file->row) return 0;
  return bytes % file->row || file->count != ROWS_UNKNOWN ? refuse_cut(file) : refuse_end(file, file->done);
}

static int read_binary(own_file *file, size_t n, uint32_t *words) {
  char block[BLOCK_BYTES];
  const size_t most = BLOCK_BYTES / file->row;
  const int count = file->kind->words;
  while (n > 0) {
    const size_t piece = n < most ? n : most;
    size_t bytes = 0;
    if (input_read(&file->in, block, piece * file->row, &bytes) || check_bytes(file, piece, bytes)) return -1;
    for (const char *row = block; row < block + bytes; row += file->row)
      for (int i = 0; i < count; i++, words++)
        if (file->at[i] == ABSENT)
          *words = SLAB_MISS;
        else
          memcpy(words, row + file->at[i], sizeof *words);
    n -= piece;
  }
  return 0;
}

static int take_whole(const own_file *file, const char *what, double value, uint32_t *word) {
  if (value >= 0 && value <= (double)UINT32_MAX && value == floor(value)) {
    *word = (uint32_t)value;
    return 0;
  }
  complain("%s: line %" PRIu64 ": the %s %.17g is not a whole number from 0 to 4294967295", file->name,
           rows_line(file->lines), what, value);
  return -1;
}

static int take_line(const own_file *file, const decimal *line, uint32_t *words) {
  for (int i = 0; i < file->kind->words; i++) {
    const char *what = is_number(file) ? file->kind->noun : members[i];
    if (file->at[i] == ABSENT)
      words[i] = SLAB_MISS;
    else if (file->kind == &kinds[AFTER] && i == 0)
      memcpy(&words[0], &line[file->at[0]].narrow, sizeof *words);
    else if (take_whole(file, what, line[file->at[i]].wide, &words[i]))
      return -1;
  }
  return 0;
}

/* words NULL: the lines are skipped. */
static int read_lines(own_file *file, uint64_t n, uint32_t *words) {
  decimal line[ROWS_COLUMNS_MAX] = {{0}};
  for (uint64_t i = 0; i < n; i++) {
    int got = 0;
    if (rows_read_line(file->lines, line, &got)) return -1;
    if (got == 0) return refuse_end(file, file->done);
    if (words && take_line(file, line, words + (size_t)i * (size_t)file->kind->words)) return -1;
    file->done++;
  }
  return 0;
}

static int refuse_world(const own_file *file, uint64_t at, uint32_t world) {
  char has[64];
  if (file->owner == &own_of_places)
    snprintf(has, sizeof has, "a scene has %" PRIu32 " at most", file->most);
  else
    snprintf(has, sizeof has, "the scene has %" PRIu32 " %s", file->most, plural(file->most, "world", "worlds"));
  complain("%s: the world of %s %" PRIu64 ", counted from 0, is %" PRIu32 ", and %s", file->name, file->owner->one, at,
           world, has);
  return -1;
}

static int check_worlds(const own_file *file, const uint32_t *worlds, size_t n, uint64_t first) {
  for (size_t i = 0; i < n; i++)
    if (worlds[i] > file->most) return refuse_world(file, first + i, worlds[i]);
  return 0;
}

static int check_numbers(const own_file *file, const slab_short_hit *hits, size_t n, uint64_t ray) {
  for (size_t i = 0; file->kind == &kinds[AFTER] && i < n; i++) {
    if (!isnan(hits[i].t)) continue;
    complain("%s: the t of ray %" PRIu64 ", counted from 0, is NaN", file->name, ray + i);
    return -1;
  }
  return 0;
}

static int read_file(own_file *file, size_t n, void *rows) {
  const uint64_t ray = file->first + file->done;
  if (file->count != ROWS_UNKNOWN && n > file->count - file->done) return refuse_end(file, file->count);
  if (file->lines ? read_lines(file, n, rows) : read_binary(file, n, rows)) return -1;
  return file->kind == &kinds[OF_WORLDS] ? check_worlds(file, rows, n, ray) : check_numbers(file, rows, n, ray);
}

int own_source_read(own_source *source, size_t n, own_rows *rows) {
  if (!source) return 0;
  void *const places[KINDS] = {rows->masks, rows->after, rows->worlds};
  for (int k = 0; k < KINDS; k++)
    if (source->files[k].path && read_file(&source->files[k], n, places[k])) return -1;
  return 0;
}

static int skip_rows(own_file *file, uint64_t n) {
  if (n == 0) return 0;
  if (file->count != ROWS_UNKNOWN && n > file->count - file->done) return refuse_end(file, file->count);
  if (file->lines) return read_lines(file, n, NULL);
  const uint64_t begin = file->in.place;
  if (input_skip(&file->in, n * file->row)) return -1;
  file->done += (file->in.place - begin) / file->row;
  return file->in.place - begin < n * file->row ? refuse_end(file, file->done) : 0;
}

int own_source_go_to(own_source *source, uint64_t ray) {
  for (int k = 0; source && k < KINDS; k++) {
    own_file *file = &source->files[k];
    if (file->path && skip_rows(file, source->rays.first + ray - file->first - file->done)) return -1;
  }
  return 0;
}

/* ---- the end ----------------------------------------------------------------- */

/* Whether data follows. */
static int has_more(own_file *file, int *more) {
  decimal line[ROWS_COLUMNS_MAX];
  *more = 0;
  if (file->lines) return rows_read_line(file->lines, line, more);
  if (input_fill(&file->in, 1)) return -1;
  *more = file->in.end > file->in.begin;
  return 0;
}

/* Checks the end of data whose number of rows is not known: the rest of a shard may follow, and one more row is too
 * many. Then a file's rows are counted; a pipe may be without end. */
static int end_file(own_file *file, uint64_t rays) {
  int more = 0;
  if (file->total == ROWS_UNKNOWN) file->total = rays;
  if (file->count != ROWS_UNKNOWN) return check_total(file);
  if (skip_rows(file, file->total - file->done) || has_more(file, &more)) return -1;
  const int counted = file->lines && rows_is_file(file->lines);
  for (; more && counted; file->done++)
    if (has_more(file, &more)) return -1;
  if (file->done > file->total) return refuse_count(file, "", file->done, file->total);
  return more ? refuse_count(file, "more than ", file->total, file->total) : 0;
}

int own_source_end(own_source *source) {
  for (int k = 0; source && k < KINDS; k++)
    if (source->files[k].path && end_file(&source->files[k], source->files[k].done)) return -1;
  return 0;
}

/* ---- digests and places --------------------------------------------------------- */

static int add_sample(own_file *file, uint64_t total, digest *seen) {
  slab_short_hit row = {0};
  for (uint64_t i = 0; i < sample_size(total); i++) {
    if (skip_rows(file, sample_place(total, i) - file->done) || read_file(file, 1, &row)) return -1;
    digest_add(seen, &row, (size_t)file->kind->words * sizeof(uint32_t));
  }
  return 0;
}

/* Reads the file once more, from its beginning. */
static int sample_file(const own_file *file, const shard_label *rays, digest *seen) {
  own_file again = {.kind = file->kind, .owner = file->owner, .path = file->path, .in = {.fd = -1}};
  const int failed = open_file(&again, rays) || add_sample(&again, rays->total, seen);
  close_file(&again);
  return failed ? -1 : 0;
}

/* Whether it can be read twice, and has all rays. */
static int has_sample(const own_file *file, const shard_label *rays) {
  const int is_file = file->lines ? rows_is_file(file->lines) : file->in.size != INPUT_UNKNOWN;
  return is_file && strcmp(file->path, "-") != 0 && file->total == rays->total;
}

int own_source_sample(const own_source *source, uint64_t *value) {
  digest seen = {*value};
  for (int k = 0; source && k < KINDS; k++) {
    const own_file *file = &source->files[k];
    if (!file->path) continue;
    digest_add_text(&seen, file->kind->noun);
    if (!has_sample(file, &source->rays)) return 0;
    if (sample_file(file, &source->rays, &seen)) return -1;
  }
  *value = digest_value(&seen);
  return 1;
}

const char *own_source_text(const own_source *source) {
  for (int k = 0; source && k < KINDS; k++)
    if (source->files[k].lines) return source->files[k].name;
  return NULL;
}

/* ---- space --------------------------------------------------------------------- */

int own_rows_make(const own_source *source, uint64_t n, own_rows *rows) {
  *rows = (own_rows){0};
  const size_t count = (size_t)(n + !n);
  if (!source) return 0;
  const own_file *files = source->files;
  if (files[MASKS].path) rows->masks = malloc(count * sizeof *rows->masks);
  if (files[AFTER].path) rows->after = malloc(count * sizeof *rows->after);
  if (files[OF_WORLDS].path) rows->worlds = malloc(count * sizeof *rows->worlds);
  if (!files[MASKS].path == !rows->masks && !files[AFTER].path == !rows->after &&
      !files[OF_WORLDS].path == !rows->worlds)
    return 0;
  own_rows_free(rows);
  return -1;
}

own_rows own_rows_from(const own_rows *rows, uint64_t at) {
  return (own_rows){rows->masks ? rows->masks + at : NULL, rows->after ? rows->after + at : NULL,
                    rows->worlds ? rows->worlds + at : NULL};
}

void own_rows_free(own_rows *rows) {
  free(rows->masks);
  free(rows->after);
  free(rows->worlds);
  *rows = (own_rows){0};
}
