/* slabcast render: casts one ray per pixel and shows the hit as a colour. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/common/device.h"
#include "program/common/options.h"
#include "program/common/picture.h"
#include "program/common/scene.h"
#include "program/common/vectors.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/io/progress.h"

/* Rays cast at a time; at least one row. */
enum { BATCH = 1 << 20 };

enum shade { SHADE_NORMAL, SHADE_DEPTH, SHADE_ID };

typedef struct render_options {
  const char *device, *out;
  uint64_t threads;
  scene_source *scene;
  camera_options camera;
  size_option size;
  int shade, tree;
} render_options;

static const option option_rows[] = {
    OPTIONS_SCENE(render_options, scene),
    {"-o", "FILE", OPTION_TEXT, offsetof(render_options, out), "the picture, a PNG", 0, 0},
    OPTIONS_CAMERA(render_options, camera),
    {"--size", "WxH", OPTION_SIZE, offsetof(render_options, size), "pixels (default: 1280x720)", 0, 0},
    {"--shade", "normal|depth|id", OPTION_CHOICE, offsetof(render_options, shade),
     "what the colours show:\n"
     "normal: x, y, z of the normal as red, green, blue (default)\n"
     "depth: near is bright\n"
     "id: a colour for each primitive",
     0, 0},
    OPTION_TREE(render_options, tree),
    OPTIONS_DEVICE(render_options, device, threads),
};

static const command_line command = {
    .usage = "render SCENE... -o picture.png [options]",
    .about = "Draws a scene: any mix of the first eight options. Without a camera the whole scene is in view.",
    .closing =
        "  slabcast render --mesh room.obj -o room.png\n"
        "  slabcast render --builtin city:400 --shade depth --from 9,9,9 -o city.png",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

/* ---- colours --------------------------------------------------------------- */

static uint8_t to_byte(float value) {
  return (uint8_t)(value > 0.0f ? (value < 1.0f ? value * 255.0f + 0.5f : 255.0f) : 0.0f);
}

static void put_pixel(uint8_t *pixel, vec3 color) {
  pixel[0] = to_byte(color.x);
  pixel[1] = to_byte(color.y);
  pixel[2] = to_byte(color.z);
}

static const vec3 background = {0.10f, 0.11f, 0.13f};

static vec3 normal_color(const slab_hit *hit) { return vec_along(vec(0.5f, 0.5f, 0.5f), 0.5f, vec_of(hit->normal)); }

/* Neighbouring ids get distant colours; none is dark. */
static vec3 id_color(const slab_hit *hit) {
  uint32_t bits = hit->primitive * 0x9E3779B1u ^ (hit->geometry + 1) * 0x85EBCA77u;
  bits = (bits ^ bits >> 15) * 0x2C1B3C6Du;
  bits ^= bits >> 13;
  const vec3 spread = {(float)(bits & 255), (float)(bits >> 8 & 255), (float)(bits >> 16 & 255)};
  return vec_along(vec(0.2f, 0.2f, 0.2f), 0.8f / 255.0f, spread);
}

/* Depths are scaled to the picture's range, so they are drawn when all are known. */
static void paint_depths(const float *depths, size_t count, uint8_t *pixels) {
  float nearest = INFINITY, farthest = -INFINITY;
  for (size_t i = 0; i < count; i++) {
    if (!isfinite(depths[i])) continue;
    nearest = fminf(nearest, depths[i]);
    farthest = fmaxf(farthest, depths[i]);
  }
  const float range = farthest > nearest ? farthest - nearest : 1.0f;
  for (size_t i = 0; i < count; i++) {
    const float bright = 1.0f - 0.85f * ((depths[i] - nearest) / range);
    put_pixel(pixels + 3 * i, isfinite(depths[i]) ? vec(bright, bright, bright) : background);
  }
}

/* ---- rendering ------------------------------------------------------------- */

typedef struct render_job {
  slab_device_info device;
  const render_options *options;
  slab_scene *scene;
  slab_rays rays; /* of the camera */
  slab_hit *hits;
  float *depths;
  uint8_t *pixels;
} render_job;

static void paint_hits(const render_job *job, size_t first, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const slab_hit *hit = &job->hits[i];
    const int missed = hit->primitive == SLAB_MISS || hit->primitive == SLAB_INVALID;
    const vec3 color = job->options->shade == SHADE_ID ? id_color(hit) : normal_color(hit);
    if (job->depths) job->depths[first + i] = hit->t;
    put_pixel(job->pixels + 3 * (first + i), missed ? background : color);
  }
}

static int cast_rows(const render_job *job) {
  const size_option size = job->options->size;
  const uint32_t step = size.width < BATCH ? BATCH / size.width : 1;
  progress line = progress_begin("drawing", "rays", 0, (uint64_t)size.width * size.height);
  const slab_cast_options options = {.progress = progress_of_cast, .user = &line};
  slab_status status = SLAB_OK;
  for (uint32_t row = 0; row < size.height && status == SLAB_OK; row += step) {
    const uint32_t rows = size.height - row < step ? size.height - row : step;
    const size_t first = (size_t)row * size.width, count = (size_t)rows * size.width;
    const slab_source source = {.set = &job->rays, .first = first, .n = count};
    slab_results results = {.memory = job->hits};
    line.base = first;
    progress_await(&line, job->device.name);
    status = slab_cast(job->scene, SLAB_CLOSEST, &source, &results, &options);
    if (status == SLAB_OK) paint_hits(job, first, count);
  }
  progress_end(&line);
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "drawing");
}

static int draw(render_job *job) {
  const size_option size = job->options->size;
  const size_t pixels = (size_t)size.width * size.height;
  const size_t batch = pixels < BATCH ? pixels : size.width < BATCH ? BATCH : size.width;
  const int depth = job->options->shade == SHADE_DEPTH;
  int code = EXIT_FAILED;
  job->hits = malloc(batch * sizeof *job->hits);
  job->pixels = malloc(pixels * 3);
  if (depth) job->depths = calloc(pixels, sizeof *job->depths);
  if (!job->hits || !job->pixels || (depth && !job->depths))
    complain("no memory for a picture of %ux%u", size.width, size.height);
  else
    code = cast_rows(job);
  if (code == EXIT_DONE && depth) paint_depths(job->depths, pixels, job->pixels);
  if (code == EXIT_DONE && picture_write(job->options->out, size.width, size.height, job->pixels) != 0)
    code = EXIT_FAILED;
  free(job->hits);
  free(job->depths);
  free(job->pixels);
  return code;
}

static int render(const render_options *options) {
  render_job job = {.options = options};
  slab_context *context = NULL;
  slab_scene_stats stats;
  int code = device_open(options->device, options->threads, &context);
  if (code == EXIT_DONE) code = scene_source_load(options->scene, context, (slab_tree)options->tree, &job.scene);
  if (code == EXIT_DONE) {
    device_names(context, job.device.name, sizeof job.device.name);
    const slab_status status = slab_scene_info(job.scene, &stats);
    if (status != SLAB_OK) code = complain_status(status, "scene");
  }
  if (code == EXIT_DONE) {
    const size_option size = options->size;
    const slab_camera camera = camera_from_options(&options->camera, &stats, size.width, size.height);
    job.rays = slab_rays_pinhole(&camera, size.width, size.height);
    memcpy(job.rays.offset, stats.origin, sizeof job.rays.offset);
    code = eye_check(camera.origin) ? EXIT_FAILED : draw(&job);
  }
  slab_scene_destroy(job.scene);
  slab_context_destroy(context);
  return code;
}

static int command_main(int argc, char **argv) {
  render_options options = {.size = {1280, 720}};
  options.camera.fov.value = 40.0f;
  options.scene = scene_source_create();
  if (options.scene == NULL) {
    complain("no memory for the command line");
    return EXIT_FAILED;
  }
  int code = options_parse(&command, argc, argv, &options, NULL);
  if (code == OPTIONS_RUN) {
    if (!options.out)
      code = options_refuse(&command, "-o is missing");
    else if (!scene_source_count(options.scene))
      code = options_refuse(&command, "the scene is missing: --mesh, --boxes, ...");
    else
      code = camera_check(&command, &options.camera);
    scene_source_up(options.scene, options.camera.up.axis);
  }
  if (code == OPTIONS_RUN) code = options_check_ending(&command, options.out, "png");
  if (code == OPTIONS_RUN && (output_probe(options.out) || scene_source_spared(options.scene, options.out)))
    code = EXIT_FAILED;
  if (code == OPTIONS_RUN) code = render(&options);
  scene_source_destroy(options.scene);
  return code;
}

const program_command command_render = {"render", "draw a scene", command_main, &command};
