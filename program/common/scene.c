#include "program/common/scene.h"

#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/rows.h"
#include "program/io/text.h"
#include "program/mesh/mesh.h"
#include "sets/scenes.h"
#include "sets/shapes.h"
#include "shapes.def"

typedef struct scene_kind scene_kind;

typedef struct scene_item {
  const scene_kind *kind;
  const char *value; /* value of the option: a path, or NAME:COUNT */
  const char *of;    /* value of --of; NULL: none yet, or no --instances */
  uint32_t mask;     /* the bit of --mask for this geometry */
} scene_item;

/* Where items go. */
typedef struct scene_target {
  slab_context *context;
  slab_scene *scene;
  slab_build_options build;
} scene_target;

struct scene_source {
  scene_item *items;
  size_t count, capacity;
};

static int is_stdin(const char *value) { return !strcmp(value, "-"); }

/* The name for messages. */
static const char *name_of(const char *value) { return is_stdin(value) ? "standard input" : value; }

struct scene_kind {
  const char *option;
  int (*load)(const scene_item *, const scene_target *, double *worst_rounding); /* an exit code; prints errors */
  slab_shape shape;                                                              /* of load_rows */
  size_t least_columns, most_columns;
};

/* ---- arrays ---------------------------------------------------------------- */

/* Adds rows of a file. Rows have the layout of the structs, except boxes of four columns. */
static slab_status add_rows(slab_scene *scene, const scene_item *item, const void *rows, uint32_t n) {
  const slab_geometry_options options = {.mask = item->mask};
  return shape_add(scene, item->kind->shape, rows, n, &options);
}

/* Converts rectangles lx ly ux uy to boxes that are unbounded in z; NULL if out of memory. */
static slab_box *boxes_2d(const table *rows) {
  slab_box *boxes = malloc((rows->rows + 1) * sizeof *boxes);
  for (size_t i = 0; boxes && i < rows->rows; i++)
    boxes[i] = slab_box_2d(rows->values + 4 * i, rows->values + 4 * i + 2);
  return boxes;
}

static int load_rows(const scene_item *item, const scene_target *to, double *worst_rounding) {
  table rows = {0};
  slab_box *boxes = NULL;
  int code = EXIT_FAILED;
  if (read_table(item->value, item->kind->least_columns, item->kind->most_columns, &rows) != 0) return code;
  *worst_rounding = rows.worst_rounding;
  const int flat = item->kind->least_columns != item->kind->most_columns && rows.columns == 4;
  if (flat) boxes = boxes_2d(&rows);
  if (rows.columns == 5) {
    complain("%s: 5 columns; boxes have 6, or 4 in 2D", name_of(item->value));
  } else if (rows.rows > UINT32_MAX) {
    complain("%s: %zu rows are more than a geometry can have", name_of(item->value), rows.rows);
  } else if (flat && boxes == NULL) {
    complain("%s: no memory for %zu %s", name_of(item->value), rows.rows, plural(rows.rows, "box", "boxes"));
  } else {
    const void *shapes = flat ? (const void *)boxes : rows.values;
    const slab_status status = add_rows(to->scene, item, shapes, (uint32_t)rows.rows);
    code = status == SLAB_OK ? EXIT_DONE : complain_status(status, name_of(item->value));
  }
  free(boxes);
  table_free(&rows);
  return code;
}

/* ---- meshes and generated scenes ------------------------------------------- */

static int add_mesh(const char *path, slab_scene *scene, uint32_t mask) {
  mesh_data data;
  char error[1024];
  if (mesh_read(path, &(mesh_options){.one_geometry = true}, &data, error, sizeof error) != 0) {
    complain("%s", error);
    return EXIT_FAILED;
  }
  const slab_mesh mesh = {.vertices = data.vertices,
                          .vertex_count = data.vertex_count,
                          .indices = data.indices,
                          .triangle_count = data.triangle_count};
  const slab_geometry_options options = {.mask = mask};
  const slab_status status = slab_scene_add_mesh(scene, &mesh, &options, NULL);
  mesh_free(&data);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, name_of(path));
}

static int load_mesh(const scene_item *item, const scene_target *to, double *worst_rounding) {
  *worst_rounding = 0;
  return add_mesh(item->value, to->scene, item->mask);
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

static int load_model(const scene_item *item, const scene_target *to, slab_scene **model) {
  slab_status status = slab_scene_create(to->context, model);
  if (status != SLAB_OK) return complain_status(status, name_of(item->of));
  const int code = add_mesh(item->of, *model, 0);
  if (code == EXIT_DONE) status = slab_scene_commit(*model, &to->build);
  return status == SLAB_OK ? code : complain_status(status, name_of(item->of));
}

static int load_instances(const scene_item *item, const scene_target *to, double *worst_rounding) {
  table transforms = {0};
  slab_scene *model = NULL;
  if (read_transforms(item->value, &transforms) != 0) return EXIT_FAILED;
  *worst_rounding = transforms.worst_rounding;
  int code = EXIT_FAILED;
  if (transforms.rows > UINT32_MAX)
    complain("%s: %zu transforms are more than a geometry can have", name_of(item->value), transforms.rows);
  else
    code = load_model(item, to, &model);
  if (code == EXIT_DONE) {
    const slab_geometry_options options = {.mask = item->mask};
    const slab_status status =
        slab_scene_add_instances(to->scene, model, transforms.values, (uint32_t)transforms.rows, &options, NULL);
    if (status != SLAB_OK) code = complain_status(status, name_of(item->value));
  }
  slab_scene_destroy(model); /* the scene retains it */
  table_free(&transforms);
  return code;
}

/* ---- the list -------------------------------------------------------------- */

static const scene_kind kinds[] = {
    {"--mesh", load_mesh, SLAB_TRIANGLE, 0, 0},
/* A box may also have four columns, in 2D. */
#define ROWS_OF_ARRAY(shape, names, rows) {"--" #names, load_rows, shape, (shape) == SLAB_BOX ? 4 : (rows), rows},
#define ROWS_OF_MESH(shape, names, rows)
#define ROWS_OF(shape, name, names, noun, rows, form, place, source) ROWS_OF_##source(shape, names, rows)
    SHAPES(ROWS_OF){"--builtin", load_builtin, SLAB_TRIANGLE, 0, 0},
    {"--instances", load_instances, SLAB_TRIANGLE, 0, 0},
};

scene_source *scene_source_create(void) { return calloc(1, sizeof(scene_source)); }

void scene_source_destroy(scene_source *source) {
  if (source == NULL) return;
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
  }
  return NULL;
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

int scene_source_option(scene_source *source, const char *name, const char *value) {
  if (!strcmp(name, "--of")) return value[0] == '\0' ? 0 : take_model(source, value);
  if (!scene_source_is_whole(source)) return -1;
  for (size_t i = 0; i < COUNT_OF(kinds); i++) {
    if (strcmp(kinds[i].option, name) != 0) continue;
    if (value[0] == '\0') return 0;
    if (kinds[i].load == load_builtin && check_builtin(value) != 0) return -1;
    if (is_stdin(value) && check_stdin(source, name) != 0) return -1;
    return append(source, (scene_item){&kinds[i], value, NULL, (uint32_t)1 << source->count % 32});
  }
  return 0;
}

/* Warns if rounding to float32 moved a number by more than 1e-6 of the scene's size, so that the user can move the
 * origin. */
static void warn_of_rounding(const scene_source *source, const double *worst, const slab_scene *scene) {
  slab_scene_stats stats;
  double size = 0;
  if (slab_scene_info(scene, &stats) != SLAB_OK) return;
  for (int k = 0; k < 3; k++) {
    const double extent = (double)stats.upper[k] - (double)stats.lower[k];
    if (extent > size) size = extent;
  }
  for (size_t i = 0; i < source->count; i++)
    if (worst[i] > 1e-6 * size)
      complain("warning: %s: rounding to float32 moved a number by %g, in a scene of size %g",
               name_of(source->items[i].value), worst[i], size);
}

int scene_source_load(const scene_source *source, slab_context *context, slab_tree tree, slab_scene **scene) {
  scene_target to = {context, NULL, {.tree = tree}};
  double *worst = calloc(source->count + 1, sizeof *worst);
  *scene = NULL;
  if (worst == NULL) {
    complain("scene: out of memory");
    return EXIT_FAILED;
  }
  slab_status status = slab_scene_create(context, &to.scene);
  int code = status == SLAB_OK ? EXIT_DONE : complain_status(status, "scene");
  for (size_t i = 0; i < source->count && code == EXIT_DONE; i++)
    code = source->items[i].kind->load(&source->items[i], &to, &worst[i]);
  if (code == EXIT_DONE) {
    status = slab_scene_commit(to.scene, &to.build);
    if (status != SLAB_OK) code = complain_status(status, "scene");
  }
  if (code == EXIT_DONE) {
    warn_of_rounding(source, worst, to.scene);
    *scene = to.scene;
  } else {
    slab_scene_destroy(to.scene);
  }
  free(worst);
  return code;
}
