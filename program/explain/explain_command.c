/* slabcast explain: one ray against one primitive, step by step, as text, as JSON and as a drawing. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/common/device.h"
#include "program/common/options.h"
#include "program/common/scene.h"
#include "program/explain/explain.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/io/own_file.h"
#include "program/io/ray_file.h"
#include "shapes.def"

typedef struct explain_options {
  const char *device, *rays, *out, *json;
  own_options own;
  uint64_t threads, index, geometry, primitive;
  scene_source *scene;
  ray_option ray;
  int in, segments, cull, edges, face_forward;
} explain_options;

#define PLACE(member) offsetof(explain_options, member)
#define NOT_GIVEN UINT64_MAX

static const option option_rows[] = {
    OPTIONS_SCENE(explain_options, scene),
    OPTION_SCENE_UP(explain_options, scene),
    {"--ray", "OX,OY,OZ,DX,DY,DZ[,T_MIN,T_MAX]", OPTION_RAY, PLACE(ray),
     "the ray: origin, direction, range (default: 0,inf); decimal, 0x1.8p+1,\ninf or nan", 0, 0},
    {"--rays", "FILE|-", OPTION_TEXT, PLACE(rays), "or a file of rays, as cast takes it, - for stdin", 0, 0},
    {"--index", "N", OPTION_COUNT, PLACE(index), "which ray of the file, counted from 0 (default: 0)", 0, 0},
    {"--in", "auto|npy|raw|text", OPTION_CHOICE, PLACE(in), "format of the rays, as for cast", 0, 0},
    {"--segments", NULL, OPTION_SWITCH, PLACE(segments), "rows of the file are two points, as for cast", 0, 0},
    {"--masks", "FILE|-", OPTION_TEXT, PLACE(own.masks),
     "a mask for each ray of the file, or the one of --ray, as for cast", 0, 0},
    {"--after", "FILE|-", OPTION_TEXT, PLACE(own.after),
     "a hit for each ray of the file, or the one of --ray, which is given what\n"
     "follows it, as for cast",
     0, 0},
    {"--worlds", "FILE|-", OPTION_TEXT, PLACE(own.worlds),
     "a world for each ray of the file, or the one of --ray, as for cast", 0, 0},
    {"--geometry", "G", OPTION_COUNT, PLACE(geometry),
     "the geometry, by the order of the scene's options (default: that of the\nclosest hit; 0 where --primitive is "
     "given)",
     0, 4294967295.0},
    {"--primitive", "P", OPTION_COUNT, PLACE(primitive),
     "the primitive of that geometry (default: the closest hit; 0 where\n--geometry is given)", 0, 4294967295.0},
    {"--cull", "none|back|front", OPTION_CHOICE, PLACE(cull), "drop crossings of back or front faces", 0, 0},
    {"--edges", "half-open|closed", OPTION_CHOICE, PLACE(edges), "who owns the edges of triangles, as for cast", 0, 0},
    {"--face-forward", NULL, OPTION_SWITCH, PLACE(face_forward), "turn the normal against the ray", 0, 0},
    {"-o", "FILE", OPTION_TEXT, PLACE(out), "draw it too: an SVG or a PNG, by the name's ending, .svg or .png", 0, 0},
    {"--json", "FILE|-", OPTION_TEXT, PLACE(json), "write the same as JSON; with - instead of the text", 0, 0},
    OPTIONS_DEVICE(explain_options, device, threads),
};

static const command_line command = {
    .usage = "explain SCENE... --ray OX,OY,OZ,DX,DY,DZ | --rays FILE|- [--index N] [options]",
    .about =
        "Tells step by step how one ray meets one primitive: the ray as it is prepared, each number of the\n"
        "test in decimal and in hexadecimal, what becomes of NaN and infinities, and what decides.",
    .closing =
        "The numbers are the kernels' own, and the answer is that of cast, bit by bit. Where the ray hits\n"
        "nothing, --geometry and --primitive say what it is to be held against.\n\n"
        "  slabcast explain --boxes boxes.txt --ray=-2,0.5,0,1,0,0 -o face.svg\n"
        "  slabcast explain --mesh room.obj --rays rays.npy --index 17 -o ray.png",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

/* ---- the explanation ------------------------------------------------------- */

const char *explained_noun(slab_shape kind) {
  static const char *const nouns[SLAB_SHAPE_COUNT] = {
#define NOUN_OF(shape, name, names, noun, floats, form, place, source) [shape] = (noun),
      SHAPES(NOUN_OF)
#undef NOUN_OF
  };
  return nouns[kind];
}

void explained_name(const explained *e, char *text, size_t size) {
  snprintf(text, size, "%s %u of geometry %u", explained_noun(e->found.kind), e->id.primitive, e->id.geometry);
}

void explained_result(const explained *e, char *text, size_t size) {
  if (e->found.hit.primitive < SLAB_INVALID)
    snprintf(text, size, "hit at t = %.*g", e->is_far ? 12 : 9, e->t);
  else
    snprintf(text, size, e->found.hit.primitive == SLAB_INVALID ? "the ray is invalid" : "miss");
}

const slab_step *explained_step(const explained *e, const char *part, const char *name) {
  for (size_t i = 0; i < e->count; i++)
    if (!strcmp(e->steps[i].part, part) && !strcmp(e->steps[i].name, name)) return &e->steps[i];
  return NULL;
}

double explained_value(const explained *e, const char *part, const char *name) {
  const slab_step *step = explained_step(e, part, name);
  return step ? (double)step->value : (double)NAN;
}

/* ---- text and JSON --------------------------------------------------------- */

static void print_text(const explained *e) {
  char name[64], result[64], line[256];
  const char *part = "";
  explained_name(e, name, sizeof name);
  explained_result(e, result, sizeof result);
  printf("%s: %s\n", name, result);
  for (size_t i = 0; i < e->count; i++) {
    if (strcmp(part, e->steps[i].part) != 0) printf("\n%s\n", part = e->steps[i].part);
    slab_step_text(&e->steps[i], line, sizeof line);
    printf("  %s\n", line);
  }
}

static json_t *step_as_json(const slab_step *step) {
  char hexadecimal[32];
  json_t *all = json_pack("{s:s, s:s}", "part", step->part, "name", step->name);
  if (step->is_question) {
    (void)json_object_set_new(all, "value", json_boolean(step->value != 0.0f));
  } else {
    snprintf(hexadecimal, sizeof hexadecimal, "%a", (double)(isnan(step->value) ? NAN : step->value));
    (void)json_object_set_new(all, "value", json_number_or_null((double)step->value));
    (void)json_object_set_new(all, "hex", json_string(hexadecimal));
  }
  (void)json_object_set_new(all, "formula", json_string(step->formula));
  (void)json_object_set_new(all, "note", json_string(step->note));
  return all;
}

static json_t *hit_as_json(const explained *e) {
  const slab_hit *hit = &e->found.hit;
  if (hit->primitive >= SLAB_INVALID) return json_null();
  return json_pack("{s:f, s:[f, f, f], s:f, s:f}", "t", e->t, "normal", (double)hit->normal[0], (double)hit->normal[1],
                   (double)hit->normal[2], "u", (double)hit->u, "v", (double)hit->v);
}

static json_t *interval_as_json(const explained *e) {
  if (e->found.interval.primitive >= SLAB_INVALID) return json_null();
  return json_pack("{s:o, s:o}", "enter", json_number_or_null(e->enter), "leave", json_number_or_null(e->leave));
}

static json_t *as_json(const explained *e) {
  char name[64], result[64];
  json_t *steps = json_array();
  explained_name(e, name, sizeof name);
  explained_result(e, result, sizeof result);
  for (size_t i = 0; i < e->count; i++)
    if (json_array_append_new(steps, step_as_json(&e->steps[i])) != 0) {
      json_decref(steps);
      return NULL;
    }
  return json_pack("{s:s, s:s, s:I, s:I, s:o, s:o, s:o}", "of", name, "result", result, "geometry",
                   (json_int_t)e->id.geometry, "primitive", (json_int_t)e->id.primitive, "hit", hit_as_json(e),
                   "interval", interval_as_json(e), "steps", steps);
}

/* ---- the command ----------------------------------------------------------- */

/* One ray's own values, which the cast takes. */
typedef struct own_values {
  own_source *source; /* NULL: nothing */
  uint32_t mask;
  slab_short_hit after;
  uint32_t world;
} own_values;

/* Reads the own values of the ray with that index. */
static int read_own(const explain_options *options, const shard_label *rays, uint64_t index, own_values *values) {
  own_rows rows = {&values->mask, &values->after, &values->world};
  const int failed = own_source_open(&options->own, rays, &values->source);
  return failed || own_source_go_to(values->source, index) || own_source_read(values->source, 1, &rows) ? -1 : 0;
}

/* The ray of the command line or of the file, with its own values. Returns an exit code. */
static int read_ray(const explain_options *options, explained *e, own_values *values) {
  ray_source *source = NULL;
  size_t got = 0;
  if (options->ray.given) {
    e->ray = options->ray.ray;
    e->wide = options->ray.wide;
    const shard_label alone = {.rays = 1, .total = 1};
    return read_own(options, &alone, 0, values) ? EXIT_FAILED : EXIT_DONE;
  }
  const ray_options file = {.path = options->rays,
                            .format = (file_format)options->in,
                            .of = options->segments ? ROWS_OF_SEGMENTS : ROWS_OF_RAYS};
  if (ray_source_open(&file, &source) != 0) return EXIT_FAILED;
  const uint64_t rays = ray_source_count(source); /* the number of a text's rays is known only at its end */
  int failed = 0;
  if (options->index < rays) failed = ray_source_skip(source, options->index);
  const ray_array both = {&e->ray, &e->wide};
  if (!failed && options->index < rays) failed = ray_source_read(source, 1, both, &got);
  if (!failed && got == 0) {
    complain("%s: there is no ray %llu, counted from 0", options->rays, (unsigned long long)options->index);
    failed = -1;
  }
  const shard_label all = ray_source_shard(source);
  if (!failed) failed = read_own(options, &all, options->index, values);
  ray_source_close(source);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

/* Whether the ray is explained in double, once the scene is there. */
static int settle(slab_scene *scene, const own_values *own, explained *e) {
  slab_scene_stats stats;
  const slab_status status = slab_scene_info(scene, &stats);
  if (status != SLAB_OK) return complain_status(status, "the scene");
  e->is_far = scene_is_far(&stats);
  return own_source_settle(own->source, e->is_far) ? EXIT_FAILED : EXIT_DONE;
}

/* The scene is loaded after the files are read. */
static int check_world(const explain_options *options, uint32_t world) {
  const uint32_t worlds = scene_source_worlds(options->scene);
  if (world <= worlds) return EXIT_DONE;
  complain("%s: the world of ray %llu, counted from 0, is %u, and the scene has %u %s",
           strcmp(options->own.worlds, "-") != 0 ? options->own.worlds : "standard input",
           (unsigned long long)options->index, world, worlds, plural(worlds, "world", "worlds"));
  return EXIT_FAILED;
}

/* Finds the ray's first hit, by a cast in double where the scene is far from 0. */
static slab_status cast_ray(slab_scene *scene, const explained *e, const slab_cast_options *cast,
                            slab_primitive_id *id) {
  slab_hit64 wide;
  slab_hit hit;
  const slab_source source = {.rays = e->is_far ? NULL : &e->ray, .rays64 = e->is_far ? &e->wide : NULL, .n = 1};
  slab_results results = {.memory = e->is_far ? (void *)&wide : &hit};
  const slab_status status = slab_cast(scene, SLAB_CLOSEST, &source, &results, cast);
  if (status == SLAB_OK)
    *id = e->is_far ? (slab_primitive_id){wide.primitive, wide.geometry}
                    : (slab_primitive_id){hit.primitive, hit.geometry};
  return status;
}

/* Chooses the primitive that the options name, or else the one that the ray hits first. Returns an exit code. */
static int choose_primitive(const explain_options *options, slab_scene *scene, const slab_cast_options *cast,
                            explained *e) {
  if (options->geometry != NOT_GIVEN || options->primitive != NOT_GIVEN) {
    e->id.geometry = options->geometry == NOT_GIVEN ? 0 : (uint32_t)options->geometry;
    e->id.primitive = options->primitive == NOT_GIVEN ? 0 : (uint32_t)options->primitive;
    return EXIT_DONE;
  }
  const slab_status status = cast_ray(scene, e, cast, &e->id);
  if (status != SLAB_OK) return complain_status(status, "explain");
  if (e->id.primitive < SLAB_INVALID) return EXIT_DONE;
  return options_refuse(&command, "the ray %s: say by --geometry and --primitive what it is held against",
                        e->id.primitive == SLAB_INVALID ? "is invalid and hits nothing" : "hits nothing");
}

/* Fills in the findings, and as many steps as there is space for. */
static slab_status explain_into(slab_scene *scene, const slab_cast_options *cast, explained *e) {
  if (!e->is_far) {
    const slab_status status = slab_explain(scene, &e->ray, e->id, cast, &e->found, e->steps, e->count, &e->count);
    e->t = (double)e->found.hit.t;
    e->enter = (double)e->found.interval.enter;
    e->leave = (double)e->found.interval.leave;
    return status;
  }
  slab_explanation64 found;
  const slab_status status = slab_explain64(scene, &e->wide, e->id, cast, &found, e->steps, e->count, &e->count);
  const slab_hit64 *hit = &found.hit;
  const slab_interval64 *interval = &found.interval;
  if (status != SLAB_OK || e->steps == NULL) return status;
  e->found = (slab_explanation){
      .kind = found.kind,
      .hit =
          {hit->order, {hit->normal[0], hit->normal[1], hit->normal[2]}, hit->u, hit->v, hit->primitive, hit->geometry},
      .interval = {(float)explained_value(e, "answer", "interval enter"),
                   (float)explained_value(e, "answer", "interval leave"), interval->primitive, interval->geometry}};
  e->t = hit->t;
  e->enter = interval->enter;
  e->leave = interval->leave;
  return status;
}

static int explain_primitive(slab_scene *scene, const slab_cast_options *cast, explained *e) {
  slab_status status = explain_into(scene, cast, e);
  if (status != SLAB_OK) return complain_status(status, "explain");
  e->steps = malloc(e->count * sizeof *e->steps);
  if (!e->steps) {
    complain("no memory for %zu steps", e->count);
    return EXIT_FAILED;
  }
  status = explain_into(scene, cast, e);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "explain");
}

static int show(const explain_options *options, const explained *e) {
  if (options->out && explain_draw(e, options->out) != 0) return EXIT_FAILED;
  if (!options->json || strcmp(options->json, "-") != 0) print_text(e);
  int (*const save)(const char *, json_t *) = e->is_far ? json_save_doubles : json_save;
  return options->json && save(options->json, as_json(e)) ? EXIT_FAILED : EXIT_DONE;
}

static int explain(const explain_options *options) {
  own_values own = {0};
  const slab_cast_options cast = {.cull = (slab_cull)options->cull,
                                  .edges = (slab_edges)options->edges,
                                  .face_forward = options->face_forward,
                                  .masks = options->own.masks ? &own.mask : NULL,
                                  .after = options->own.after ? &own.after : NULL,
                                  .worlds = options->own.worlds ? &own.world : NULL};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  explained e = {0};
  int code = read_ray(options, &e, &own);
  if (code == EXIT_DONE) code = device_open(options->device, options->threads, &context);
  if (code == EXIT_DONE) code = scene_source_load(options->scene, context, SLAB_TREE_DEFAULT, &scene);
  if (code == EXIT_DONE) code = settle(scene, &own, &e);
  if (code == EXIT_DONE) code = check_world(options, own.world);
  if (code == EXIT_DONE) code = choose_primitive(options, scene, &cast, &e);
  if (code == EXIT_DONE) code = explain_primitive(scene, &cast, &e);
  if (code == EXIT_DONE) code = show(options, &e);
  free(e.steps);
  own_source_close(own.source);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return code;
}

static int probe(const explain_options *options, const char *path) {
  const own_options *own = &options->own;
  const int failed = output_probe(path) || output_spares(path, options->rays) || output_spares(path, own->masks) ||
                     output_spares(path, own->after) || output_spares(path, own->worlds) ||
                     scene_source_spared(options->scene, path);
  return failed ? EXIT_FAILED : OPTIONS_RUN;
}

static int check_drawing(const explain_options *options) {
  if (!explain_can_draw())
    return options_refuse(&command, "-o: this program was built without cairo, by which it draws");
  if (!strcmp(options->out, "-")) return options_refuse(&command, "-o wants a name that ends in .svg or .png");
  const int code = options_check_ending(&command, options->out, "svg|png");
  return code == OPTIONS_RUN ? probe(options, options->out) : code;
}

static int check_stdin(const explain_options *options) {
  const input_option inputs[] = {{"--rays", options->rays},
                                 {"--masks", options->own.masks},
                                 {"--after", options->own.after},
                                 {"--worlds", options->own.worlds}};
  return options_check_stdin(&command, scene_source_stdin(options->scene), inputs, COUNT_OF(inputs));
}

static int check_options(const explain_options *options) {
  if (!scene_source_count(options->scene))
    return options_refuse(&command, "the scene is missing: --mesh, --boxes, ...");
  if (!options->ray.given && !options->rays) return options_refuse(&command, "--ray or --rays is missing");
  if (options->ray.given && options->rays) return options_refuse(&command, "--ray and --rays do not go together");
  if (!options->rays && (options->index || options->in || options->segments))
    return options_refuse(&command, "--index, --in and --segments go with --rays FILE");
  int code = check_stdin(options);
  if (code == OPTIONS_RUN && options->out) code = check_drawing(options);
  return code == OPTIONS_RUN && options->json ? probe(options, options->json) : code;
}

static int command_main(int argc, char **argv) {
  explain_options options = {.scene = scene_source_create(), .geometry = NOT_GIVEN, .primitive = NOT_GIVEN};
  if (!options.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = options_parse(&command, argc, argv, &options, NULL);
  if (code == OPTIONS_RUN) code = check_options(&options);
  if (code == OPTIONS_RUN) code = explain(&options);
  scene_source_destroy(options.scene);
  return code;
}

const program_command command_explain = {"explain", "tell how a ray meets a primitive", command_main, &command};
