#include "program/io/columns.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- the names -------------------------------------------------------------- */

#define POINT "|p|point|position|pos|0|o|origin"
#define VECTOR(names, z_need, z) \
  {(names), 'x', COLUMN_NEEDED, 0}, {(names), 'y', COLUMN_NEEDED, 0}, { (names), 'z', (z_need), (z) }
#define COLUMNS(noun, list) \
  { (noun), (list), sizeof(list) / sizeof(list)[0], 0 }
#define SOME_COLUMNS(noun, list) \
  { (noun), (list), sizeof(list) / sizeof(list)[0], 1 }

static const named_column ray_columns[] = {
    VECTOR("o|origin|orig|org|ray_origin|start|position|pos|p|0|", COLUMN_FLAT, 0),
    {"t_min|near|t_near|t_start|t0|range_min|min_range", 0, COLUMN_FREE, 0},
    VECTOR("d|dir|direction|ray_dir|ray_direction|v", COLUMN_FLAT, 0),
    {"t_max|far|t_far|t_end|t1|range_max|max_range", 0, COLUMN_FREE, INFINITY},
};
const column_names columns_of_rays = COLUMNS("rays", ray_columns);

static const named_column segment_columns[] = {
    VECTOR("a|0|p0|from|start|begin", COLUMN_FLAT, 0),
    VECTOR("b|1|p1|to|end|stop", COLUMN_FLAT, 0),
};
const column_names columns_of_segments = COLUMNS("segments", segment_columns);

/* All of a normal's columns are there, or none. */
static const named_column point_columns[] = {
    VECTOR(POINT, COLUMN_NEEDED, 0),
    {"n|normal", 'x', COLUMN_FLAT, 0},
    {"n|normal", 'y', COLUMN_FLAT, 0},
    {"n|normal", 'z', COLUMN_FLAT, 0},
};
const column_names columns_of_points = SOME_COLUMNS("points", point_columns);

static const named_column place_columns[] = {VECTOR(POINT, COLUMN_FLAT, 0)};
const column_names columns_of_places = SOME_COLUMNS("points", place_columns);

#define CELL(place, more, need, otherwise) \
  { "m" place "|a" place more, 0, (need), (otherwise) }
#define MAP_ROW(row, axis)                                                                      \
  CELL(row "0", "|r" row "0", COLUMN_NEEDED, 0), CELL(row "1", "|r" row "1", COLUMN_NEEDED, 0), \
      CELL(row "2", "|r" row "2", COLUMN_NEEDED, 0),                                            \
      CELL(row "3", "|t" row "|t" axis "|translation_" axis, COLUMN_NEEDED, 0)
static const named_column transform_columns[] = {
    MAP_ROW("0", "x"),
    MAP_ROW("1", "y"),
    MAP_ROW("2", "z"),
    CELL("30", "", COLUMN_FREE, 0),
    CELL("31", "", COLUMN_FREE, 0),
    CELL("32", "", COLUMN_FREE, 0),
    CELL("33", "", COLUMN_FREE, 1),
};
const column_names columns_of_transforms = COLUMNS("transforms", transform_columns);

static const named_column mask_columns[] = {{"mask|masks|bits", 0, COLUMN_NEEDED, 0}};
const column_names columns_of_masks = SOME_COLUMNS("masks", mask_columns);

static const named_column world_columns[] = {{"world|worlds|env|environment", 0, COLUMN_NEEDED, 0}};
const column_names columns_of_worlds = SOME_COLUMNS("worlds", world_columns);

static const named_column hit_columns[] = {
    [HITS_T] = {"t", 0, COLUMN_NEEDED, 0},
    [HITS_PRIMITIVE] = {"primitive|prim|prim_id", 0, COLUMN_FREE, 0},
    [HITS_GEOMETRY] = {"geometry|geom|geom_id", 0, COLUMN_FREE, 0},
    [HITS_ORDER] = {"order", 0, COLUMN_FREE, 0},
    [HITS_RAY] = {"ray", 0, COLUMN_FREE, 0},
};
const column_names columns_of_hits = SOME_COLUMNS("hits", hit_columns);

static const named_column sun_columns[] = {
    [SUNS_AZIMUTH] = {"azimuth|az", 0, COLUMN_NEEDED, 0},
    [SUNS_ALTITUDE] = {"altitude|alt|elevation|el", 0, COLUMN_NEEDED, 0},
    [SUNS_HOURS] = {"hours|duration|weight", 0, COLUMN_FREE, 1},
};
const column_names columns_of_suns = SOME_COLUMNS("suns", sun_columns);

static const named_column beam_columns[] = {
    {"elevation|elev|vertical|vertical_angle|altitude", 0, COLUMN_NEEDED, 0},
    {"azimuth|azim|horizontal|horizontal_angle", 0, COLUMN_FREE, 0},
};
const column_names columns_of_beams = COLUMNS("beams", beam_columns);

/* d is no name of an offset: in other conventions it has the other sign. */
static const named_column plane_columns[] = {
    VECTOR("n|normal", COLUMN_NEEDED, 0),
    {"offset|plane_offset", 0, COLUMN_NEEDED, 0},
};
#define CENTER "c|center|centre|position|pos|p|0|"
static const named_column sphere_columns[] = {
    VECTOR(CENTER, COLUMN_NEEDED, 0),
    {"r|radius|rad", 0, COLUMN_NEEDED, 0},
};
static const named_column box_columns[] = {
    VECTOR("l|lower|min|lo|low|0", COLUMN_FLAT, -INFINITY),
    VECTOR("u|upper|max|hi|high|1", COLUMN_FLAT, INFINITY),
};
/* A size or an extent may be the whole one. */
static const named_column obb_columns[] = {
    VECTOR(CENTER, COLUMN_NEEDED, 0),
    VECTOR("h|half|half_size|half_extent|half_extents", COLUMN_NEEDED, 0),
    VECTOR("u|axis0|axes0|axis_x", COLUMN_NEEDED, 0),
    VECTOR("v|axis1|axes1|axis_y", COLUMN_NEEDED, 0),
    VECTOR("w|axis2|axes2|axis_z", COLUMN_NEEDED, 0),
};

const column_names *columns_of_shape(slab_shape shape) {
  static const column_names of_shapes[SLAB_SHAPE_COUNT] = {
      [SLAB_PLANE] = COLUMNS("planes", plane_columns),
      [SLAB_BOX] = COLUMNS("boxes", box_columns),
      [SLAB_SPHERE] = COLUMNS("spheres", sphere_columns),
      [SLAB_OBB] = COLUMNS("oriented boxes", obb_columns),
  };
  return &of_shapes[shape];
}

/* ---- words of a line -------------------------------------------------------- */

/* The separators of names: the first of these that the line has. */
static const char *separators_of(const char *line) {
  return strchr(line, ',') ? "," : strchr(line, ';') ? ";" : strchr(line, '\t') ? "\t" : " \t";
}

static const char *skip_blanks(const char *at) { return at + strspn(at, " \t\r\f\v"); }

/* The next name, without the blanks around it, and *length; advances *at behind its separator. NULL: there is none. */
static const char *next_name(const char **at, const char *separators, size_t *length) {
  const char *name = skip_blanks(*at);
  if (*name == '\0') return NULL;
  const char *end = name + strcspn(name, separators);
  *at = *end ? end + 1 : end;
  while (end > name && isspace((unsigned char)end[-1])) end--;
  *length = (size_t)(end - name);
  return name;
}

/* Whether rows may have one column alone, so that one name makes a line of names. */
static int may_be_one(const column_names *known) {
  size_t needed = 0;
  for (size_t i = 0; i < known->count; i++) needed += known->list[i].need != COLUMN_FREE;
  return needed == 1;
}

int columns_are_names(const column_names *known, const char *line) {
  const char *separators = separators_of(line), *name;
  size_t length = 0, count = 0;
  for (const char *at = line; (name = next_name(&at, separators, &length)); count++) {
    const char first = name[*name == '"' || *name == '\''];
    if (length == 0 || (!isalpha((unsigned char)first) && first != '_')) return 0;
  }
  return count > 1 || (count == 1 && may_be_one(known));
}

/* ---- finding ---------------------------------------------------------------- */

enum { NAME_MAX_LETTERS = 40 };

static int is_letter(char c) { return !strchr(" \t_.-:/()[]\"'", c); }

/* The letters of a name that count, in lower case; empty where they are too many for any known one. */
static void squeeze(const char *name, size_t length, char letters[NAME_MAX_LETTERS]) {
  size_t count = 0;
  for (size_t i = 0; i < length && count < NAME_MAX_LETTERS; i++)
    if (is_letter(name[i])) letters[count++] = (char)tolower((unsigned char)name[i]);
  letters[count < NAME_MAX_LETTERS ? count : 0] = '\0';
}

/* The bracket that begins a unit at the end of a name, as in "ox [mm]"; its length: there is none. */
static size_t find_unit(const char *name, size_t length) {
  static const char *const units[] = {"mm", "cm", "m", "km", "in", "ft"};
  const size_t end = length - (length > 0 && (name[length - 1] == '"' || name[length - 1] == '\''));
  for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
    const size_t size = strlen(units[i]), begin = end - size - 2;
    if (end < size + 3 || strncmp(name + begin + 1, units[i], size) != 0) continue;
    if ((name[begin] == '[' && name[end - 1] == ']') || (name[begin] == '(' && name[end - 1] == ')')) return begin;
  }
  return length;
}

static int is_name_with(const char *letters, const char *before, const char *stem, const char *behind) {
  char whole[NAME_MAX_LETTERS + 4];
  snprintf(whole, sizeof whole, "%s%s%s", before, stem, behind);
  return !strcmp(letters, whole);
}

static int is_named(const named_column *c, const char *letters) {
  const char axis[2] = {c->axis, '\0'}, number[2] = {c->axis ? (char)('0' + c->axis - 'x') : '\0', '\0'};
  for (const char *at = c->names;; at++) {
    char stem[NAME_MAX_LETTERS];
    const size_t length = strcspn(at, "|");
    squeeze(at, length, stem);
    if (is_name_with(letters, "", stem, axis) || is_name_with(letters, axis, stem, "")) return 1;
    if (stem[0] && is_name_with(letters, "", stem, number)) return 1;
    at += length;
    if (*at == '\0') return 0;
  }
}

/* The place of the column with this name; known->count: there is none. */
static size_t find(const column_names *known, const char *name, size_t length) {
  char letters[NAME_MAX_LETTERS];
  size_t place = 0;
  squeeze(name, length, letters);
  while (place < known->count && !is_named(&known->list[place], letters)) place++;
  return place;
}

/* The program's own name of a column. */
static int own_name(const named_column *c, char *text, size_t size) {
  return snprintf(text, size, "%.*s%s", (int)strcspn(c->names, "|"), c->names, (char[2]){c->axis, '\0'});
}

static int refuse_unknown(const column_names *known, const char *name, size_t length, char *wrong, size_t size) {
  size_t at = (size_t)snprintf(wrong, size, "%s have no column \"%.*s\", they have", known->noun,
                               (int)(length < 60 ? length : 60), name);
  for (size_t i = 0; i < known->count && at < size; i++) {
    at += (size_t)snprintf(wrong + at, size - at, " ");
    if (at < size) at += (size_t)own_name(&known->list[i], wrong + at, size - at);
  }
  return -1;
}

static int refuse_more(char *wrong, size_t size) {
  snprintf(wrong, size, "there are more than %d columns", ROWS_COLUMNS_MAX);
  return -1;
}

static int refuse(const column_names *known, size_t place, const char *how, char *wrong, size_t size) {
  char own[NAME_MAX_LETTERS];
  own_name(&known->list[place], own, sizeof own);
  snprintf(wrong, size, "the column %s is %s", own, how);
  return -1;
}

/* In 2D all flat columns are absent, otherwise none. */
static int check_missing(const column_names *known, const int present[ROWS_COLUMNS_MAX], char *wrong, size_t size) {
  int flat = 1;
  for (size_t i = 0; i < known->count; i++) flat = flat && !(present[i] && known->list[i].need == COLUMN_FLAT);
  for (size_t i = 0; i < known->count; i++) {
    const column_need need = known->list[i].need;
    if (!present[i] && (need == COLUMN_NEEDED || (need == COLUMN_FLAT && !flat)))
      return refuse(known, i, "missing", wrong, size);
  }
  return 0;
}

int columns_find(const column_names *known, const char *line, column_order *order, char *wrong, size_t size) {
  const char *separators = separators_of(line), *name, *unit = NULL;
  int present[ROWS_COLUMNS_MAX] = {0};
  size_t length = 0;
  order->count = 0;
  order->separators = separators;
  for (const char *at = line; (name = next_name(&at, separators, &length));) {
    const size_t bare = find_unit(name, length), place = find(known, name, bare);
    const int other = place == known->count;
    if (other && !known->some) return refuse_unknown(known, name, length, wrong, size);
    if (!other && present[place]) return refuse(known, place, "there twice", wrong, size);
    if (order->count == ROWS_COLUMNS_MAX) return refuse_more(wrong, size);
    if (other) {
      order->place[order->count++] = COLUMN_OTHER;
      continue;
    }
    if (bare < length && unit == NULL) unit = name + bare + 1;
    if (bare < length && strncmp(name + bare + 1, unit, strcspn(unit, "])") + 1) != 0)
      return refuse(known, place, "in another unit than those before it", wrong, size);
    present[place] = 1;
    order->place[order->count++] = place;
  }
  return check_missing(known, present, wrong, size);
}
