/* slabcast rays: generates sets of rays. The same options give the same bytes on every machine. */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/common/device.h"
#include "program/common/options.h"
#include "program/common/picture.h"
#include "program/common/scene.h"
#include "program/common/vectors.h"
#include "program/io/errors.h"
#include "program/io/npy.h"
#include "program/io/output.h"
#include "program/io/progress.h"
#include "program/io/rows.h"
#include "sets/random.h"

typedef struct rays_options {
  const char *device, *out;
  scene_source *scene;
  camera_options camera;
  size_option size;
  uint64_t threads, count, seed;
  int format; /* file_format */
} rays_options;

#define PLACE(member) offsetof(rays_options, member)

static const option option_rows[] = {
    OPTIONS_CAMERA(rays_options, camera),
    {"--size", "WxH", OPTION_SIZE, PLACE(size),
     "camera: the image (default: 640x480)\nlidar: steps around and beams (default: 1024x64)", 0, 0},
    {"--count", "N", OPTION_COUNT, PLACE(count), "hemisphere, random: how many rays (default: 10000)", 1, 1e15},
    {"--seed", "S", OPTION_COUNT, PLACE(seed), "hemisphere, random: another seed, another set (default: 0)", 0, 0},
    {"-o", "FILE|-", OPTION_TEXT, PLACE(out), "where the rays go (default: -, stdout)", 0, 0},
    {"--out", "auto|npy|raw|text|csv", OPTION_CHOICE, PLACE(format),
     "their format (default: by the name's ending, .npy, .raw or .bin, .txt,\n"
     ".csv; without one npy, on a terminal text)",
     0, 0},
    OPTIONS_SCENE(rays_options, scene),
    OPTIONS_DEVICE(rays_options, device, threads),
};

static const command_line command = {
    .usage = "rays camera|lidar|hemisphere|random [options] [SCENE...] [-o FILE]",
    .about =
        "Makes a set of rays: rows of ox oy oz t_min dx dy dz t_max, float32 (float64 where the scene is far\n"
        "from 0), with range 0 to inf.\n"
        "  camera      one ray a pixel, rows from the top\n"
        "  lidar       a full turn about --up at --from, beams spread over --fov (30 here)\n"
        "  hemisphere  from --from towards --to (without it: up), density as the cosine of the angle\n"
        "  random      from anywhere in the scene's bounds enlarged by half (or --from), any direction",
    .closing =
        "With a SCENE, what is not given is chosen from its bounds; without, from the cube -1 to 1.\n\n"
        "  slabcast rays lidar --from 0,1.5,0 --size 2048x128 -o sweep.npy\n"
        "  slabcast rays random --count 5 -o - --out csv\n"
        "  slabcast rays camera --mesh room.obj |\n"
        "    slabcast cast --mesh room.obj --rays - -o hits.npy",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
    .arguments = 1,
};

/* ---- sets ------------------------------------------------------------------ */

/* All places count from the scene's origin. */
typedef struct ray_set {
  const rays_options *options;
  const slab_scene_stats *stats; /* NULL: there is no scene */
  slab_camera camera;
  vector from;
  vector forward, right, up; /* for lidar and hemisphere: unit axes */
  float lower[3], upper[3];  /* for random: where rays start */
  uint32_t width, height;
  uint64_t count;
  random_state random;
} ray_set;

typedef slab_ray make_ray(ray_set *set, uint64_t index);

static slab_ray towards(vector from, vector direction) {
  slab_ray ray = {.t_max = INFINITY};
  vector_store(from, ray.origin);
  vector_store(direction, ray.direction);
  return ray;
}

static double symmetric(random_state *random) { return 2.0 * (double)random_float(random) - 1.0; }

static slab_ray camera_ray(ray_set *set, uint64_t index) {
  return slab_camera_ray(&set->camera, (uint32_t)(index % set->width), (uint32_t)(index / set->width), set->width,
                         set->height);
}

static slab_ray lidar_ray(ray_set *set, uint64_t index) {
  const double fov = set->options->camera.fov.given ? (double)set->options->camera.fov.value : 30.0;
  const double x = (double)(index % set->width) / (double)set->width;
  const double y = set->height > 1 ? (double)(index / set->width) / (double)(set->height - 1) : 0.5;
  double around_cos, around_sin, over_cos, over_sin;
  circle_at(360.0 * x, &around_cos, &around_sin);
  circle_at(fov * (0.5 - y), &over_cos, &over_sin);
  const vector zero = {0, 0, 0};
  const vector flat = vector_add(vector_add(zero, around_cos, set->forward), around_sin, set->right);
  return towards(set->from, vector_add(vector_add(zero, over_cos, flat), over_sin, set->up));
}

/* A point of the unit disc projected up onto the hemisphere has a cosine-weighted density. */
static slab_ray hemisphere_ray(ray_set *set, uint64_t index) {
  double x, y;
  (void)index;
  do {
    x = symmetric(&set->random);
    y = symmetric(&set->random);
  } while (x * x + y * y >= 1.0);
  const vector zero = {0, 0, 0};
  const vector flat = vector_add(vector_add(zero, x, set->right), y, set->up);
  return towards(set->from, vector_add(flat, sqrt(1.0 - x * x - y * y), set->forward));
}

static slab_ray random_ray(ray_set *set, uint64_t index) {
  vector direction;
  float origin[3];
  double square;
  (void)index;
  for (int i = 0; i < 3; i++) origin[i] = random_between(&set->random, set->lower[i], set->upper[i]);
  do {
    direction.x = symmetric(&set->random);
    direction.y = symmetric(&set->random);
    direction.z = symmetric(&set->random);
    square = vector_dot(direction, direction);
  } while (square > 1.0 || square < 0x1p-20);
  return towards(set->options->camera.from.given ? set->from : vector_of(origin), vector_unit(direction));
}

/* ---- preparing ------------------------------------------------------------- */

/* Unit axes with `forward` (or `up`) kept and the other made perpendicular to it. */
static void set_axes(ray_set *set, vector forward, vector up, int keep_up) {
  const vector kept = vector_unit(keep_up ? up : forward);
  vector side = vector_cross(forward, up);
  if (vector_dot(side, side) <= 1e-12 * vector_dot(forward, forward) * vector_dot(up, up))
    side = vector_cross(kept, fabs(kept.x) < 0.7 ? (vector){1, 0, 0} : (vector){0, 1, 0});
  set->right = vector_unit(side);
  set->up = keep_up ? kept : vector_cross(set->right, kept);
  set->forward = keep_up ? vector_cross(kept, set->right) : kept;
}

static void prepare_bounds(ray_set *set) {
  const point_option *from = &set->options->camera.from;
  float middle[3], place[3];
  camera_bounds(set->stats, set->lower, set->upper);
  for (int i = 0; i < 3; i++) {
    middle[i] = 0.5f * set->lower[i] + 0.5f * set->upper[i];
    const float reach = 1.5f * (set->upper[i] - middle[i]);
    set->lower[i] = middle[i] - reach;
    set->upper[i] = middle[i] + reach;
  }
  camera_place(from, set->stats, place);
  set->from = vector_of(from->given ? place : middle);
}

/* The direction from --from to --to, or `otherwise`. */
static vector view_or(const ray_set *set, vector otherwise) {
  const point_option *to = &set->options->camera.to;
  float place[3];
  camera_place(to, set->stats, place);
  const vector view = vector_minus(vector_of(place), set->from);
  return to->given && vector_dot(view, view) > 0 ? view : otherwise;
}

static void prepare_size(ray_set *set, uint32_t width, uint32_t height) {
  const size_option *size = &set->options->size;
  set->width = size->width ? size->width : width;
  set->height = size->width ? size->height : height;
  set->count = (uint64_t)set->width * set->height;
}

static void prepare_camera(ray_set *set) {
  prepare_size(set, 640, 480);
  set->camera = camera_from_options(&set->options->camera, set->stats, set->width, set->height);
  set->from = vector_of(set->camera.origin);
}

static vector up_of(const ray_set *set) {
  const point_option *up = &set->options->camera.up;
  return up->given ? vector_of(up->value) : (vector){0, 1, 0};
}

static void prepare_lidar(ray_set *set) {
  prepare_bounds(set);
  prepare_size(set, 1024, 64);
  set_axes(set, view_or(set, (vector){0, 0, -1}), up_of(set), 1);
}

static void prepare_hemisphere(ray_set *set) {
  prepare_bounds(set);
  const vector up = up_of(set);
  set_axes(set, view_or(set, up), up, 0);
}

typedef struct ray_kind {
  const char *name;
  void (*prepare)(ray_set *set);
  make_ray *make;
  int sized; /* the set takes --size, not --count */
} ray_kind;

static const ray_kind kinds[] = {
    {"camera", prepare_camera, camera_ray, 1},
    {"lidar", prepare_lidar, lidar_ray, 1},
    {"hemisphere", prepare_hemisphere, hemisphere_ray, 0},
    {"random", prepare_bounds, random_ray, 0},
};

/* ---- writing --------------------------------------------------------------- */

static int write_text(output *out, const slab_ray *rays, size_t n, char separator) {
  char text[8 * 16 + 1];
  for (size_t i = 0; i < n; i++) {
    float row[8];
    size_t at = 0;
    memcpy(row, &rays[i], sizeof row);
    for (int k = 0; k < 8; k++)
      at += (size_t)snprintf(text + at, sizeof text - at, "%.9g%c", (double)row[k], k < 7 ? separator : '\n');
    if (output_write(out, text, at)) return -1;
  }
  return 0;
}

/* Rays of a scene far from 0 are written in double. */
static bool is_far(const ray_set *set) { return set->stats && scene_is_far(set->stats); }

static slab_ray64 ray_of_world(const ray_set *set, const slab_ray *ray) {
  slab_ray64 wide = {.t_min = (double)ray->t_min, .t_max = (double)ray->t_max};
  for (int k = 0; k < 3; k++) {
    wide.origin[k] = scene_coordinate(set->stats, k, ray->origin[k]);
    wide.direction[k] = (double)ray->direction[k];
  }
  return wide;
}

static int write_wide(const ray_set *set, output *out, const slab_ray *rays, size_t n, int format) {
  const char separator = format == FORMAT_CSV ? ',' : ' ';
  char text[8 * 25 + 1];
  for (size_t i = 0; i < n; i++) {
    const slab_ray64 ray = ray_of_world(set, &rays[i]);
    const double *row = ray.origin;
    size_t at = 0;
    for (int k = 0; format != FORMAT_NPY && k < 8; k++)
      at += (size_t)snprintf(text + at, sizeof text - at, "%.17g%c", row[k], k < 7 ? separator : '\n');
    if (format == FORMAT_NPY ? output_write(out, &ray, sizeof ray) : output_write(out, text, at)) return -1;
  }
  return 0;
}

static int write_narrow(output *out, const slab_ray *rays, size_t n, int format) {
  return format == FORMAT_NPY || format == FORMAT_RAW ? output_write(out, rays, n * sizeof *rays)
                                                      : write_text(out, rays, n, format == FORMAT_CSV ? ',' : ' ');
}

static int write_header(const ray_set *set, output *out, int format) {
  static const char names[] = "ox,oy,oz,t_min,dx,dy,dz,t_max\n";
  char header[NPY_HEADER_MAX];
  if (format == FORMAT_NPY)
    return output_write(out, header, npy_write(header, is_far(set) ? "'<f8'" : "'<f4'", set->count, 8));
  return format == FORMAT_CSV ? output_write(out, names, sizeof names - 1) : 0;
}

static int write_rays(ray_set *set, make_ray *make, output *out, int format) {
  enum { BATCH = 4096 };
  slab_ray rays[BATCH];
  progress line = progress_begin("making", "rays", 0, set->count);
  if (write_header(set, out, format)) return -1;
  for (uint64_t at = 0; at < set->count;) {
    size_t n = 0;
    for (; n < BATCH && at < set->count; n++) rays[n] = make(set, at++);
    if (is_far(set) ? write_wide(set, out, rays, n, format) : write_narrow(out, rays, n, format)) return -1;
    progress_at(&line, at);
  }
  progress_end(&line);
  return 0;
}

static int save_rays(ray_set *set, make_ray *make) {
  const char *path = set->options->out ? set->options->out : "-";
  const int format = set->options->format == FORMAT_AUTO ? (int)format_of_output(path) : set->options->format;
  if (is_far(set) && format == FORMAT_RAW) {
    complain("%s: raw rays are float32, which lose the digits of a scene this far from 0; npy, text and csv keep them",
             path);
    return EXIT_FAILED;
  }
  output *out = output_open(path, OUTPUT_NEW);
  if (!out) return EXIT_FAILED;
  if (write_rays(set, make, out, format)) {
    output_discard(out);
    return EXIT_FAILED;
  }
  return output_commit(out) ? EXIT_FAILED : EXIT_DONE;
}

/* ---- the command ----------------------------------------------------------- */

/* Commits the scene to get its bounds; no ray is cast. */
static int measure_scene(const rays_options *options, slab_scene_stats *stats) {
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  int code = device_open(options->device, options->threads, &context);
  if (code == EXIT_DONE) code = scene_source_load(options->scene, context, SLAB_TREE_FLAT, &scene);
  const slab_status status = code == EXIT_DONE ? slab_scene_info(scene, stats) : SLAB_OK;
  if (status != SLAB_OK) code = complain_status(status, "the scene");
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return code;
}

static int make_rays(const rays_options *options, const ray_kind *kind) {
  ray_set set = {.options = options, .count = options->count ? options->count : 10000};
  slab_scene_stats stats;
  float eye[3];
  const int with_scene = scene_source_count(options->scene) > 0;
  const char *path = options->out ? options->out : "-";
  if (output_probe(path) || scene_source_spared(options->scene, path)) return EXIT_FAILED;
  if (with_scene) {
    const int code = measure_scene(options, &stats);
    if (code != EXIT_DONE) return code;
  }
  set.random = random_seed(options->seed);
  set.stats = with_scene ? &stats : NULL;
  kind->prepare(&set);
  vector_store(set.from, eye);
  if (eye_check(eye)) return EXIT_FAILED;
  return save_rays(&set, kind->make);
}

static const ray_kind *find_kind(const char *name) {
  for (size_t i = 0; i < COUNT_OF(kinds); i++)
    if (!strcmp(kinds[i].name, name)) return &kinds[i];
  return NULL;
}

static int run(rays_options *options, const char *name) {
  const ray_kind *kind = name ? find_kind(name) : NULL;
  if (!name) return options_refuse(&command, "the kind of rays is missing: camera, lidar, hemisphere or random");
  if (!kind) return options_refuse(&command, "\"%s\" is not one of camera, lidar, hemisphere, random", name);
  if (kind->sized && options->count) return options_refuse(&command, "%s takes --size WxH, not --count", name);
  if (!kind->sized && options->size.width) return options_refuse(&command, "%s takes --count N, not --size", name);
  int code = camera_check(&command, &options->camera);
  if (code == OPTIONS_RUN && options->out && options->format == FORMAT_AUTO)
    code = options_check_ending(&command, options->out, OUTPUT_ENDINGS);
  return code == OPTIONS_RUN ? make_rays(options, kind) : code;
}

static int command_main(int argc, char **argv) {
  rays_options options = {.scene = scene_source_create()};
  int arguments = 0;
  if (!options.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = options_parse(&command, argc, argv, &options, &arguments);
  scene_source_up(options.scene, options.camera.up.axis);
  if (code == OPTIONS_RUN) code = run(&options, arguments ? argv[1] : NULL);
  scene_source_destroy(options.scene);
  return code;
}

const program_command command_rays = {"rays", "make a set of rays: camera, lidar, hemisphere, random", command_main,
                                      &command};
