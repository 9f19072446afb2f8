#include "program/common/scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/moved.h"
#include "base/plural.h"
#include "program/common/device.h"
#include "program/io/digest.h"
#include "program/io/errors.h"
#include "program/io/far.h"
#include "program/io/output.h"
#include "program/io/own_file.h"
#include "program/io/table.h"
#include "program/io/text.h"
#include "sets/scenes.h"
#include "sets/shapes.h"
#include "shapes.def"

typedef struct scene_kind scene_kind;

typedef struct scene_item {
  const scene_kind *kind;
  const char *value;  /* value of the option: a path, or NAME:COUNT */
  const char *of;     /* value of --of; NULL: none yet, or no --instances */
  const char *worlds; /* the file of --instance-worlds; NULL: none */
  uint32_t mask;      /* the bit of --mask for this geometry */
} scene_item;

struct scene_source {
  scene_item *items;
  size_t count, capacity;
  mesh_options meshes;
  scene_mask_list rules;
  scene_parts parts;
  const char **names; /* of each geometry up to the last one with a name */
  result_labels labels;
  uint32_t ray_mask, worlds;
  double origin[3]; /* of --origin */
  bool has_origin;
  bool in_double; /* the load so far has added something in double: the rest will be, too */
  scene_outputs outputs;
  digest seen_all; /* by the last load */
  digest *seen;    /* that one; NULL: not wanted */
};

/* Where items go. */
typedef struct scene_target {
  scene_source *source;
  slab_context *context;
  slab_scene *scene;
  slab_build_options build;
} scene_target;

static int is_stdin(const char *value) { return !strcmp(value, "-"); }

/* The name for messages. */
static const char *name_of(const char *value) { return is_stdin(value) ? "standard input" : value; }

struct scene_kind {
  const char *option;
  int (*load)(const scene_item *, const scene_target *, double *worst_rounding); /* an exit code; prints errors */
  slab_shape shape;                                                              /* of load_rows */
  size_t least_columns, most_columns;
};

/* The longest side of its bounds. */
static double size_of(const slab_scene_stats *stats) {
  double size = 0;
  for (int k = 0; k < 3; k++) {
    const double extent = (double)stats->upper[k] - (double)stats->lower[k];
    if (extent > size) size = extent;
  }
  return size;
}

/* ---- doubles --------------------------------------------------------------- */

/* Whether numbers that are wide are to be added in double. range: of their coordinates, which rounding moves. An origin
 * of 0 rounds everything. */
static bool wants_doubles(scene_source *source, const far_range *range) {
  if (source->has_origin) return is_moved(source->origin);
  if (!source->in_double) source->in_double = far_range_is_far(range);
  return source->in_double;
}

/* ---- arrays ---------------------------------------------------------------- */

/* Takes in where row i of a shape lies; of a solid with the box around it. A plane lies nowhere. */
static void take_row(far_range *range, slab_shape shape, const double *row) {
  const double *half = row + 3; /* of an oriented box */
  for (int k = 0; k < 3 && shape != SLAB_PLANE; k++) {
    const double around = shape == SLAB_SPHERE ? row[3] : shape == SLAB_OBB ? half[0] + half[1] + half[2] : 0;
    far_range_add(range, k, row[k] - around);
    far_range_add(range, k, shape == SLAB_BOX ? row[k + 3] : row[k] + around);
  }
}

static bool are_doubles(scene_source *source, slab_shape shape, const table *rows) {
  far_range range = far_range_empty();
  if (rows->wide == NULL) return false;
  for (size_t i = 0; rows->worst_rounding > 0 && i < rows->rows; i++)
    take_row(&range, shape, rows->wide + i * rows->columns);
  return wants_doubles(source, &range);
}

/* Rectangles lx ly ux uy become boxes that are unbounded in z. Returns 0, or -1 if out of memory. */
static int deepen(table *rows) {
  const double end = (double)INFINITY;
  table boxes = {.values = malloc((rows->rows + 1) * 6 * sizeof *boxes.values),
                 .wide = rows->wide ? malloc((rows->rows + 1) * 6 * sizeof *boxes.wide) : NULL,
                 .rows = rows->rows,
                 .columns = 6,
                 .worst_rounding = rows->worst_rounding};
  const int failed = boxes.values == NULL || (rows->wide && boxes.wide == NULL);
  for (size_t i = 0; !failed && i < rows->rows; i++) {
    const float *flat = rows->values + 4 * i;
    const slab_box box = slab_box_2d(flat, flat + 2);
    memcpy(boxes.values + 6 * i, &box, sizeof box);
    if (rows->wide == NULL) continue;
    const double *wide = rows->wide + 4 * i, deep[6] = {wide[0], wide[1], -end, wide[2], wide[3], end};
    memcpy(boxes.wide + 6 * i, deep, sizeof deep);
  }
  if (!failed) {
    table_free(rows);
    *rows = boxes;
  } else {
    table_free(&boxes);
  }
  return failed ? -1 : 0;
}

/* Adds rows of a file, which have the layout of the structs. */
static slab_status add_rows(const scene_target *to, const scene_item *item, const table *rows, double *worst_rounding) {
  const uint32_t n = (uint32_t)rows->rows;
  const size_t numbers = rows->rows * rows->columns;
  const slab_shape shape = item->kind->shape;
  uint32_t skipped = 0;
  const slab_geometry_options options = {
      .mask = item->mask, .skip_invalid = to->source->meshes.skip_invalid, .skipped = &skipped};
  const bool doubles = are_doubles(to->source, shape, rows);
  if (doubles)
    digest_add(to->source->seen, rows->wide, numbers * sizeof *rows->wide);
  else
    digest_add(to->source->seen, rows->values, numbers * sizeof *rows->values);
  *worst_rounding = doubles ? 0 : rows->worst_rounding;
  const slab_status status = doubles ? shape_add_doubles(to->scene, shape, rows->wide, n, &options)
                                     : shape_add(to->scene, shape, rows->values, n, &options);
  if (skipped > 0)
    complain("warning: %s: %u of %u rows %s dropped", name_of(item->value), skipped, n, plural(skipped, "was", "were"));
  return status;
}

static int load_rows(const scene_item *item, const scene_target *to, double *worst_rounding) {
  table rows = {0};
  int code = EXIT_FAILED;
  if (read_table(item->value, columns_of_shape(item->kind->shape), item->kind->least_columns, item->kind->most_columns,
                 &rows) != 0)
    return code;
  const int flat = item->kind->least_columns != item->kind->most_columns && rows.columns == 4;
  if (rows.columns == 5) {
    complain("%s: 5 columns; boxes have 6, or 4 in 2D", name_of(item->value));
  } else if (rows.rows > UINT32_MAX) {
    complain("%s: %zu rows are more than a geometry can have", name_of(item->value), rows.rows);
  } else if (flat && deepen(&rows) != 0) {
    complain("%s: no memory for %zu %s", name_of(item->value), rows.rows, plural(rows.rows, "box", "boxes"));
  } else {
    const slab_status status = add_rows(to, item, &rows, worst_rounding);
    code = status == SLAB_OK ? EXIT_DONE : complain_status(status, name_of(item->value));
  }
  table_free(&rows);
  return code;
}

/* ---- meshes and generated scenes ------------------------------------------- */

/* The type of a mesh file's coordinates, in a scene that may have other parts already. */
static mesh_numbers numbers_of(const scene_source *source) {
  if (source->has_origin) return is_moved(source->origin) ? MESH_DOUBLES : MESH_FLOATS;
  return source->in_double ? MESH_DOUBLES : MESH_DOUBLES_WHERE_FAR;
}

static int load_mesh(const scene_item *item, const scene_target *to, double *worst_rounding) {
  scene_source *source = to->source;
  const scene_mesh_target mesh = {to->context,        to->scene,         &to->build,       item->mask,
                                  &source->rules,     &source->parts,    &source->outputs, source->seen,
                                  numbers_of(source), &source->in_double};
  return scene_mesh_add(item->value, &to->source->meshes, &mesh, worst_rounding);
}

enum { BUILTIN_NAME_MAX = 32 };

/* Splits NAME:COUNT; 0 if `value` has another form. */
static int parse_builtin(const char *value, char name[BUILTIN_NAME_MAX], uint32_t *count) {
  const char *colon = strchr(value, ':');
  uint64_t number = 0;
  if (colon == NULL || colon - value >= BUILTIN_NAME_MAX || !parse_count(colon + 1, &number)) return 0;
  if (number > UINT32_MAX - 15) return 0;
  memcpy(name, value, (size_t)(colon - value));
  name[colon - value] = '\0';
  *count = (uint32_t)number;
  return 1;
}

static int load_builtin(const scene_item *item, const scene_target *to, double *worst_rounding) {
  char name[BUILTIN_NAME_MAX];
  uint32_t count = 0;
  scene_geometry geometry;
  *worst_rounding = 0;
  if (!parse_builtin(item->value, name, &count) || scene_build(name, count, 1, &geometry) != 0) {
    complain("--builtin %s: no memory for %u %s", item->value, count, plural(count, "primitive", "primitives"));
    return EXIT_FAILED;
  }
  const slab_geometry_options options = {.mask = item->mask};
  digest_add_text(to->source->seen, item->value);
  const slab_status status = scene_geometry_add(to->scene, &geometry, &options, NULL);
  scene_geometry_free(&geometry);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, name_of(item->value));
}

static int is_scene_name(const char *name) {
  for (const scene_name *s = scene_names; s->name != NULL; s++)
    if (!strcmp(s->name, name)) return 1;
  return 0;
}

/* Checks while the command line is parsed, before any file is read. */
static int check_builtin(const char *value) {
  char name[BUILTIN_NAME_MAX], known[512] = "";
  uint32_t count = 0;
  if (!parse_builtin(value, name, &count)) {
    complain("option --builtin: \"%s\" is not NAME:COUNT with a COUNT from 0 to 4294967280", value);
    return -1;
  }
  if (is_scene_name(name)) return 0;
  for (const scene_name *s = scene_names; s->name != NULL; s++) {
    strncat(known, s == scene_names ? "" : ", ", sizeof known - strlen(known) - 1);
    strncat(known, s->name, sizeof known - strlen(known) - 1);
  }
  complain("option --builtin: there is no scene \"%s\"; there are %s", name, known);
  return -1;
}

/* ---- instances ------------------------------------------------------------- */

/* A model has an origin of its own, so that --origin does not apply to it, unless it rounds everything. */
static int load_model(const scene_item *item, const scene_target *to, slab_scene **model, double *worst_rounding) {
  slab_status status = slab_scene_create(to->context, model);
  if (status != SLAB_OK) return complain_status(status, name_of(item->of));
  mesh_options options = to->source->meshes;
  options.one_geometry = true; /* each place has one id */
  const mesh_numbers numbers = numbers_of(to->source) == MESH_FLOATS ? MESH_FLOATS : MESH_DOUBLES_WHERE_FAR;
  const scene_mesh_target mesh = {to->context,          *model,           &to->build, 0,   NULL, NULL,
                                  &to->source->outputs, to->source->seen, numbers,    NULL};
  const int code = scene_mesh_add(item->of, &options, &mesh, worst_rounding);
  if (code == EXIT_DONE) status = slab_scene_commit(*model, &to->build);
  return status == SLAB_OK ? code : complain_status(status, name_of(item->of));
}

/* Reads the worlds of n places, and lets the scene have as many. *worlds, NULL where there are none, is the caller's.
 */
static int load_worlds(const scene_item *item, const scene_target *to, uint64_t n, own_rows *worlds) {
  const shard_label places = {.rays = n, .total = n};
  own_source *source = NULL;
  int failed = own_source_open(&(own_options){.worlds = item->worlds, .owner = &own_of_places}, &places, &source);
  if (!failed && own_rows_make(source, n, worlds) != 0) {
    complain("%s: no memory for %llu worlds", name_of(item->worlds), (unsigned long long)n);
    failed = -1;
  }
  own_source_limit(source, SLAB_WORLDS);
  if (!failed) failed = own_source_read(source, (size_t)n, worlds) || own_source_end(source);
  own_source_close(source);
  if (failed || worlds->worlds == NULL) return failed ? EXIT_FAILED : EXIT_DONE;
  uint32_t most = to->source->worlds;
  for (uint64_t i = 0; i < n; i++)
    if (worlds->worlds[i] > most) most = worlds->worlds[i];
  digest_add(to->source->seen, worlds->worlds, (size_t)n * sizeof *worlds->worlds);
  const slab_status status = slab_scene_set_worlds(to->scene, to->source->worlds = most);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, name_of(item->worlds));
}

/* Where the origins of models come to lie, which are about so large. */
static bool are_far_places(scene_source *source, const table *transforms, const slab_scene *model) {
  slab_scene_stats stats;
  far_range range = far_range_empty();
  if (transforms->wide == NULL || slab_scene_info(model, &stats) != SLAB_OK) return false;
  if (is_moved(stats.origin)) source->in_double = source->in_double || !source->has_origin;
  const double around = size_of(&stats) / 2;
  for (size_t i = 0; transforms->worst_rounding > 0 && i < transforms->rows; i++)
    for (int k = 0; k < 3; k++) {
      const double at = transforms->wide[12 * i + 4 * (size_t)k + 3];
      far_range_add(&range, k, at - around);
      far_range_add(&range, k, at + around);
    }
  return wants_doubles(source, &range);
}

static slab_status add_places(const scene_target *to, const scene_item *item, slab_scene *model,
                              const table *transforms, const uint32_t *worlds, double *worst_rounding) {
  const slab_geometry_options options = {.mask = item->mask, .worlds = worlds};
  const uint32_t n = (uint32_t)transforms->rows;
  const size_t numbers = transforms->rows * transforms->columns;
  if (are_far_places(to->source, transforms, model)) {
    digest_add(to->source->seen, transforms->wide, numbers * sizeof *transforms->wide);
    return slab_scene_add_instances64(to->scene, model, transforms->wide, n, &options, NULL);
  }
  *worst_rounding = fmax(*worst_rounding, transforms->worst_rounding);
  digest_add(to->source->seen, transforms->values, numbers * sizeof *transforms->values);
  return slab_scene_add_instances(to->scene, model, transforms->values, n, &options, NULL);
}

static int load_instances(const scene_item *item, const scene_target *to, double *worst_rounding) {
  table transforms = {0};
  slab_scene *model = NULL;
  own_rows worlds = {0};
  if (read_transforms(item->value, &transforms) != 0) return EXIT_FAILED;
  int code = EXIT_FAILED;
  if (transforms.rows > UINT32_MAX)
    complain("%s: %zu transforms are more than a geometry can have", name_of(item->value), transforms.rows);
  else
    code = load_model(item, to, &model, worst_rounding);
  if (code == EXIT_DONE) code = load_worlds(item, to, transforms.rows, &worlds);
  if (code == EXIT_DONE) {
    const slab_status status = add_places(to, item, model, &transforms, worlds.worlds, worst_rounding);
    if (status != SLAB_OK) code = complain_status(status, name_of(item->value));
  }
  slab_scene_destroy(model); /* the scene retains it */
  own_rows_free(&worlds);
  table_free(&transforms);
  return code;
}

/* ---- the list -------------------------------------------------------------- */

static const scene_kind kinds[] = {
    {"--mesh", load_mesh, SLAB_TRIANGLE, 0, 0},
/* A box may also have four columns, in 2D. */
#define ROWS_OF_ARRAY(shape, names, floats) {"--" #names, load_rows, shape, (shape) == SLAB_BOX ? 4 : (floats), floats},
#define ROWS_OF_MESH(shape, names, floats)
#define ROWS_OF(shape, name, names, noun, floats, form, place, source) ROWS_OF_##source(shape, names, floats)
    SHAPES(ROWS_OF){"--builtin", load_builtin, SLAB_TRIANGLE, 0, 0},
    {"--instances", load_instances, SLAB_TRIANGLE, 0, 0},
};

scene_source *scene_source_create(void) { return calloc(1, sizeof(scene_source)); }

void scene_source_destroy(scene_source *source) {
  if (source == NULL) return;
  scene_parts_free(&source->parts);
  for (size_t i = 0; i < source->outputs.count; i++) free(source->outputs.at[i]);
  free(source->outputs.at);
  free(source->names);
  free(source->rules.at);
  free(source->items);
  free(source);
}

size_t scene_source_count(const scene_source *source) { return source->count; }

static int append(scene_source *source, scene_item item) {
  if (source->count == source->capacity) {
    const size_t capacity = source->capacity ? 2 * source->capacity : 8;
    scene_item *items = realloc(source->items, capacity * sizeof *items);
    if (items == NULL) {
      complain("no memory for scene option %zu", source->count);
      return -2;
    }
    source->items = items;
    source->capacity = capacity;
  }
  source->items[source->count++] = item;
  return 1;
}

const char *scene_source_stdin(const scene_source *source) {
  for (size_t i = 0; i < source->count; i++) {
    const scene_item *item = &source->items[i];
    if (is_stdin(item->value)) return item->kind->option;
    if (item->of != NULL && is_stdin(item->of)) return "--of";
    if (item->worlds != NULL && is_stdin(item->worlds)) return "--instance-worlds";
  }
  return NULL;
}

/* Files that a mesh file names are known when it is read. */
static int remember_output(scene_outputs *outputs, const char *path) {
  char **grown = realloc(outputs->at, (outputs->count + 1) * sizeof *grown);
  if (grown) outputs->at = grown;
  char *copy = grown ? strdup(path) : NULL;
  if (copy == NULL) {
    complain("cannot write %s: out of memory", path);
    return -1;
  }
  outputs->at[outputs->count++] = copy;
  return 0;
}

int scene_source_spared(scene_source *source, const char *path) {
  for (size_t i = 0; i < source->count; i++) {
    const scene_item *item = &source->items[i];
    if (item->kind->load != load_builtin && output_spares(path, item->value)) return -1;
    if (output_spares(path, item->of) || output_spares(path, item->worlds)) return -1;
  }
  return remember_output(&source->outputs, path);
}

static int check_stdin(const scene_source *source, const char *name) {
  const char *reader = scene_source_stdin(source);
  if (reader) complain("%s - and %s - cannot both come from stdin", reader, name);
  return reader ? -1 : 0;
}

/* The last option if it is --instances whose --of has not come. */
static scene_item *waiting(const scene_source *source) {
  scene_item *last = source->count > 0 ? &source->items[source->count - 1] : NULL;
  return last != NULL && last->kind->load == load_instances && last->of == NULL ? last : NULL;
}

int scene_source_is_whole(const scene_source *source) {
  const scene_item *item = waiting(source);
  if (item != NULL) complain("option --instances %s wants --of FILE next, the mesh that it places", item->value);
  return item == NULL;
}

static int take_model(const scene_source *source, const char *value) {
  scene_item *item = waiting(source);
  if (item == NULL) complain("option --of %s follows no --instances F", value);
  if (item == NULL || (is_stdin(value) && check_stdin(source, "--of") != 0)) return -1;
  item->of = value;
  return 1;
}

static int take_worlds(const scene_source *source, const char *value) {
  scene_item *last = source->count > 0 ? &source->items[source->count - 1] : NULL;
  if (last == NULL || last->kind->load != load_instances)
    complain("option --instance-worlds %s follows no --instances F --of F", value);
  else if (last->worlds != NULL)
    complain("option --instance-worlds %s: the places of --instances %s have worlds already", value, last->value);
  else if (!is_stdin(value) || check_stdin(source, "--instance-worlds") == 0)
    return last->worlds = value, 1;
  return -1;
}

/* ---- options of meshes and masks ---------------------------------------------- */

static int set_unit(mesh_options *options, const char *value) {
  static const struct {
    const char *name;
    double metres;
  } units[] = {{"mm", 0.001}, {"cm", 0.01}, {"m", 1}, {"km", 1000}, {"in", 0.0254}, {"ft", 0.3048}};
  decimal metres = {.wide = 0};
  for (size_t i = 0; i < COUNT_OF(units); i++)
    if (!strcmp(units[i].name, value)) metres.wide = units[i].metres;
  if (metres.wide == 0 && (!parse_real(value, &metres) || !(metres.wide > 0) || isinf(metres.wide))) {
    complain("option --unit: \"%s\" is none of mm, cm, m, km, in, ft, and no number of metres", value);
    return -1;
  }
  options->unit = metres.wide;
  return 1;
}

static int set_up(scene_source *source, const char *value) {
  if (!strcmp(value, "x") || !strcmp(value, "y") || !strcmp(value, "z")) return source->meshes.up = value[0], 1;
  complain("option --up: \"%s\" is not x, y or z", value);
  return -1;
}

void scene_source_up(scene_source *source, char axis) { source->meshes.up = axis; }

void scene_source_up_unasked(scene_source *source, char axis) {
  source->meshes.up = axis;
  source->meshes.up_unasked = true;
}

static int set_origin(scene_source *source, const char *value) {
  decimal origin[3];
  int found = parse_reals(value, origin, 3) == 3;
  for (int k = 0; k < 3 && found; k++) {
    source->origin[k] = origin[k].wide;
    found = fabs(origin[k].wide) <= 0x1p58; /* false for NaN */
  }
  if (found) return source->has_origin = true;
  complain("option --origin: \"%s\" is not X,Y,Z, three numbers of at most 2^58", value);
  return -1;
}

static int set_seconds(mesh_options *options, const char *value) {
  uint64_t seconds = 0;
  if (!parse_count(value, &seconds) || seconds < 1 || seconds > 86400) {
    complain("option --import-seconds: \"%s\" is not a whole number from 1 to 86400", value);
    return -1;
  }
  options->seconds = (unsigned)seconds;
  return 1;
}

/* BITS: the mask of rays. NAME=BITS: the mask of the geometries of this name. */
static int set_mask(scene_source *source, const char *value) {
  const char *equals = strrchr(value, '=');
  scene_mask rule = {.name = value, .length = equals ? (size_t)(equals - value) : 0};
  if (!parse_mask(equals ? equals + 1 : value, &rule.bits)) {
    complain("option --mask: \"%s\" is not BITS or NAME=BITS with BITS from 1 to 4294967295, decimal or 0x...", value);
    return -1;
  }
  if (!equals) {
    source->ray_mask = rule.bits;
    return 1;
  }
  scene_mask *at = realloc(source->rules.at, (source->rules.count + 1) * sizeof *at);
  if (at == NULL) {
    complain("no memory for --mask %s", value);
    return -2;
  }
  source->rules.at = at;
  source->rules.at[source->rules.count++] = rule;
  return 1;
}

uint32_t scene_source_ray_mask(const scene_source *source) { return source->ray_mask; }
uint32_t scene_source_worlds(const scene_source *source) { return source->worlds; }
void scene_source_tell_worlds(scene_source *source, uint32_t worlds) { source->worlds = worlds; }
const scene_parts *scene_source_parts(const scene_source *source) { return &source->parts; }

/* Sets an option that holds for all items; 0 if it is none of these. */
static int set_for_all(scene_source *source, const char *name, const char *value) {
  if (!strcmp(name, "--one-geometry")) return source->meshes.one_geometry = true;
  if (!strcmp(name, "--skip-invalid")) return source->meshes.skip_invalid = true;
  if (!strcmp(name, "--origin")) return set_origin(source, value);
  if (!strcmp(name, "--unit")) return set_unit(&source->meshes, value);
  if (!strcmp(name, "--up")) return set_up(source, value);
  if (!strcmp(name, "--import-seconds")) return set_seconds(&source->meshes, value);
  if (!strcmp(name, "--mask")) return set_mask(source, value);
  return 0;
}

int scene_source_option(scene_source *source, const char *name, const char *value) {
  const int set = set_for_all(source, name, value);
  if (set != 0) return set;
  if (!strcmp(name, "--of")) return value[0] == '\0' ? 0 : take_model(source, value);
  if (!strcmp(name, "--instance-worlds")) return value[0] == '\0' ? 0 : take_worlds(source, value);
  if (!scene_source_is_whole(source)) return -1;
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    if (strcmp(kinds[i].option, name) != 0) continue;
    if (value[0] == '\0') return 0;
    if (kinds[i].load == load_builtin && check_builtin(value) != 0) return -1;
    if (is_stdin(value) && check_stdin(source, name) != 0) return -1;
    return append(source, (scene_item){&kinds[i], value, NULL, NULL, (uint32_t)1 << source->count % 32});
  }
  return 0;
}

/* Warns if rounding to float32 moved a number by more than 1e-6 of the scene's size. */
static void warn_of_rounding(const scene_source *source, const double *worst, const slab_scene_stats *stats) {
  const double size = size_of(stats);
  for (size_t i = 0; i < source->count; i++)
    if (worst[i] > FAR_LOSS * size)
      complain("warning: %s: rounding to float32 moved a number by %g, in a scene of size %g",
               name_of(source->items[i].value), worst[i], size);
}

/* Warns where the scene lies so far from the origin that was given for it that rounding shows. */
static void warn_of_origin(const scene_source *source, const slab_scene_stats *stats) {
  far_range range = far_range_empty();
  for (int k = 0; k < 3; k++) {
    far_range_add(&range, k, (double)stats->lower[k]);
    far_range_add(&range, k, (double)stats->upper[k]);
  }
  if (source->has_origin && is_moved(source->origin) && far_range_is_far(&range))
    complain(
        "warning: --origin %.17g,%.17g,%.17g is %.3g from the scene, whose size is %.3g: rounding to float32 moves "
        "its points by up to %.2g",
        source->origin[0], source->origin[1], source->origin[2], far_range_reach(&range), size_of(stats),
        FAR_ROUNDING * far_range_reach(&range));
}

void scene_warn_of_rounding(const slab_scene_stats *stats, const char *path, double moved) {
  const double size = size_of(stats);
  if (size > 0 && moved > FAR_LOSS * size)
    complain(
        "warning: %s: rounding to float32 moved points by up to %.3g, more than 1e-6 of the scene's size (%.3g). "
        "Coordinates nearer to 0 keep more, and --origin X,Y,Z takes them in double",
        path, moved, size);
}

bool scene_is_far(const slab_scene_stats *stats) { return is_moved(stats->origin); }

static int list_names(scene_source *source) {
  const scene_parts *parts = &source->parts;
  if (parts->count == 0) return EXIT_DONE;
  const uint32_t count = parts->at[parts->count - 1].geometry + 1;
  source->names = calloc(count, sizeof *source->names);
  if (source->names == NULL) {
    complain("no memory for the names of %u geometries", count);
    return EXIT_FAILED;
  }
  for (size_t i = 0; i < parts->count; i++) source->names[parts->at[i].geometry] = parts->at[i].name;
  source->labels = (result_labels){source->names, count};
  return EXIT_DONE;
}

const result_labels *scene_source_labels(const scene_source *source) {
  return source->labels.count ? &source->labels : NULL;
}

/* A rule of --mask that no geometry has is a mistake. */
static int check_rules(const scene_source *source) {
  char known[400] = "";
  size_t at = 0;
  for (size_t i = 0; i < source->parts.count && at < sizeof known; i++)
    at += (size_t)snprintf(known + at, sizeof known - at, "%s%s", i ? ", " : "", source->parts.at[i].name);
  for (const scene_mask *rule = source->rules.at; rule < source->rules.at + source->rules.count; rule++) {
    if (rule->used) continue;
    complain("option --mask: no geometry is named \"%.*s\"; named are: %s%s", (int)rule->length, rule->name,
             at ? known : "none", at >= sizeof known ? ", ..." : "");
    return EXIT_FAILED;
  }
  return EXIT_DONE;
}

void scene_source_make_digest(scene_source *source) { source->seen = &source->seen_all; }

uint64_t scene_source_digest(const scene_source *source) { return digest_value(&source->seen_all); }

int scene_source_load(scene_source *source, slab_context *context, slab_tree tree, slab_scene **scene) {
  scene_target to = {source, context, NULL, {.tree = tree}};
  double *worst = calloc(source->count + 1, sizeof *worst);
  *scene = NULL;
  source->seen_all = (digest){0};
  for (size_t i = 0; i < source->rules.count; i++) digest_add_text(source->seen, source->rules.at[i].name);
  if (worst == NULL) {
    complain("scene: out of memory");
    return EXIT_FAILED;
  }
  slab_status status = slab_scene_create(context, &to.scene);
  source->in_double = false;
  if (status == SLAB_OK && source->has_origin) status = slab_scene_origin(to.scene, source->origin);
  if (source->has_origin) digest_add(source->seen, source->origin, sizeof source->origin);
  int code = status == SLAB_OK ? EXIT_DONE : complain_status(status, "scene");
  for (size_t i = 0; i < source->count && code == EXIT_DONE; i++) {
    digest_add_text(source->seen, source->items[i].kind->option);
    code = source->items[i].kind->load(&source->items[i], &to, &worst[i]);
  }
  if (code == EXIT_DONE) code = check_rules(source);
  if (code == EXIT_DONE) code = list_names(source);
  if (code == EXIT_DONE) {
    status = slab_scene_commit(to.scene, &to.build);
    if (status != SLAB_OK) code = complain_status(status, "scene");
  }
  slab_scene_stats stats;
  if (code == EXIT_DONE) {
    if (slab_scene_info(to.scene, &stats) == SLAB_OK) {
      warn_of_rounding(source, worst, &stats);
      warn_of_origin(source, &stats);
    }
    *scene = to.scene;
  } else {
    slab_scene_destroy(to.scene);
  }
  free(worst);
  return code;
}

int scene_source_open(scene_source *source, const slab_context_options *options, slab_tree tree, slab_context **context,
                      slab_scene **scene, slab_scene_stats *stats, slab_device_info *device) {
  int code = device_open_with(options, context);
  if (code == EXIT_DONE) code = scene_source_load(source, *context, tree, scene);
  if (code != EXIT_DONE) return code;
  slab_status status = slab_scene_info(*scene, stats);
  if (status == SLAB_OK) status = slab_context_device(*context, device);
  device_names(*context, device->name, sizeof device->name);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "the scene");
}
