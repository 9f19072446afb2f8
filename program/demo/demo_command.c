/* slabcast demo: renders more than a million triangles, then checks its rays against the CPU reference. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "os/clock.h"
#include "os/thread.h"
#include "program/common/device.h"
#include "program/common/options.h"
#include "program/common/picture.h"
#include "program/demo/demo.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/io/progress.h"

/* ---- preparing the kernels while the scene is built: casts at a small scene with the same kinds of primitives ---- */

typedef struct preparation {
  slab_context *context;
  size_t rays;
  os_thread thread;
  int begun;      /* the thread must be joined */
  int code;       /* an exit code; the failure is already printed */
  double seconds; /* processor seconds of the preparation */
} preparation;

/* Some drivers compile small launches separately, so there are as many rays as in the first launch of a cast. */
enum { RAYS_MOST = 65536 };

/* A BVH with every kind of primitive, like the demo's scene. */
static slab_status small_scene(slab_context *context, slab_scene **scene) {
  static const slab_plane plane = {{0.0f, 1.0f, 0.0f}, 0.0f};
  static const slab_sphere sphere = {{0.0f, 0.0f, 0.0f}, 1.0f};
  static const slab_box box = {{-1.0f, -1.0f, -1.0f}, {1.0f, 1.0f, 1.0f}};
  static const slab_obb obb = {
      {0.0f, 0.0f, 0.0f}, {1.0f, 1.0f, 1.0f}, {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}}};
  static const float vertices[9] = {0.0f, 0.0f, 0.0f, 1.0f, 0.0f, 0.0f, 0.0f, 0.0f, 1.0f};
  static const slab_mesh mesh = {.vertices = vertices, .vertex_count = 3, .triangle_count = 1};
  static const slab_build_options options = {.tree = SLAB_TREE_FAST};
  slab_status status = slab_scene_create(context, scene);
  if (status == SLAB_OK) status = slab_scene_add_planes(*scene, &plane, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_spheres(*scene, &sphere, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_boxes(*scene, &box, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_obbs(*scene, &obb, 1, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_add_mesh(*scene, &mesh, NULL, NULL);
  return status == SLAB_OK ? slab_scene_commit(*scene, &options) : status;
}

/* Rays from one point, like a camera's, to the empty sky. */
static void aim(slab_ray *rays, size_t n) {
  for (size_t i = 0; i < n; i++)
    rays[i] = (slab_ray){{0.0f, 2.0f, 0.0f}, 0.0f, {(float)i / (float)n, 1.0f, 0.0f}, 1.0f};
}

static slab_status cast_at(slab_scene *scene, size_t n) {
  slab_ray *rays = malloc(n * sizeof *rays);
  slab_hit *hits = malloc(n * sizeof *hits);
  slab_status status = SLAB_OUT_OF_MEMORY;
  if (rays != NULL && hits != NULL) {
    aim(rays, n);
    status = SLAB_OK;
    /* Two casts: if the driver has cached its kernels, the second cast loads those that the first does not use. */
    for (int i = 0; status == SLAB_OK && i < 2; i++) {
      status = slab_closest(scene, rays, n, hits, NULL);
      if (status == SLAB_OK) status = slab_any(scene, rays, n, (uint8_t *)hits, NULL);
    }
  }
  free(rays);
  free(hits);
  return status;
}

static void *prepare(void *argument) {
  preparation *p = argument;
  slab_scene *scene = NULL;
  const double begin = seconds_of_thread();
  slab_status status = small_scene(p->context, &scene);
  if (status == SLAB_OK) status = cast_at(scene, p->rays < RAYS_MOST ? p->rays : RAYS_MOST);
  p->code = status == SLAB_OK ? EXIT_DONE : complain_status(status, "demo");
  slab_scene_destroy(scene);
  p->seconds = seconds_of_thread() - begin;
  return NULL;
}

/* Starts the preparation. `p` must be zeroed. rays: of the largest cast to come. */
static void prepare_begin(preparation *p, slab_context *context, size_t rays) {
  p->context = context;
  p->rays = rays;
  p->begun = os_thread_start(&p->thread, prepare, p) == 0;
  if (!p->begun) prepare(p); /* without a thread it runs here */
}

/* Waits for the preparation if it was started and not waited for. Returns an exit code. The context must live until
 * then. */
static int prepare_end(preparation *p) {
  char device[80] = "";
  if (!p->begun) return p->code;
  device_names(p->context, device, sizeof device);
  progress line = progress_begin("preparing", "kernels", 0, 0);
  progress_await(&line, device);
  os_thread_join(p->thread);
  progress_end(&line);
  p->begun = 0;
  return p->code;
}

/* ---- the demo ---- */

typedef struct demo_options {
  const char *device, *out;
  uint64_t threads;
  size_option size;
} demo_options;

static const option option_rows[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(demo_options, out), "the picture, a PNG (default: slabcast-demo.png)", 0, 0},
    {"--size", "WxH", OPTION_SIZE, offsetof(demo_options, size), "pixels (default: 1280x720)", 0, 0},
    OPTIONS_DEVICE(demo_options, device, threads),
};

static const command_line command = {
    .usage = "demo [-o picture.png] [--size WxH] [--device SEL]",
    .about =
        "Casts two million rays at a million triangles and every other primitive, draws a picture, then\n"
        "checks 1,000 of the rays against the CPU reference, bit by bit: a billion tests, which\n"
        "takes longer than the picture. Exit code 3 if a single bit differs.",
    .closing =
        "The first run on a device waits for the driver to compile the kernels; later ones find them.\n\n"
        "  slabcast demo --size 1920x1080 -o picture.png",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

enum { STAGE_DEVICE, STAGE_SCENE, STAGE_TREE, STAGE_KERNELS, STAGE_CAST, STAGE_SHADE, STAGE_WRITE, STAGE_COUNT };
static const char *const stage_names[STAGE_COUNT] = {"device", "scene",   "tree",   "kernels",
                                                     "rays",   "shading", "writing"};

/* Wall-clock seconds, and processor seconds of all the program's threads. */
typedef struct moment {
  double wall, processor;
} moment;

typedef struct demo {
  const demo_options *options;
  FILE *to; /* the report: stdout, unless the picture is written there */
  slab_context *context;
  preparation prepare;
  demo_scene scene;
  slab_scene *cast;
  demo_proof closest, any;
  demo_trace trace;
  moment begin, ends[STAGE_COUNT];
} demo;

/* ---- the report ------------------------------------------------------------ */

static void print_scene(const demo *d) {
  slab_device_info device = {0};
  slab_scene_stats stats = {0};
  slab_context_device(d->context, &device);
  slab_scene_info(d->cast, &stats);
  fprintf(d->to, "device     %s (%s, %s)\n", device.name, device_type_name(device.type), device.platform);
  fprintf(d->to, "scene      %llu triangles, %llu boxes, %llu oriented boxes, %llu spheres, %llu plane\n",
          (unsigned long long)stats.triangles, (unsigned long long)stats.boxes, (unsigned long long)stats.obbs,
          (unsigned long long)stats.spheres, (unsigned long long)stats.planes);
  fprintf(d->to, "picture    %s, %ux%u, %.3f s after the start\n", d->options->out, d->options->size.width,
          d->options->size.height, d->ends[STAGE_WRITE].wall - d->begin.wall);
}

/* Threshold in seconds: loading cached kernels takes a third of it, compiling them five times as much. */
static const double COMPILED_SECONDS = 1.0;

static const char *kernels_note(const demo *d) {
  if (d->prepare.seconds > COMPILED_SECONDS) return "   compiled; the driver keeps them, so next time they are ready";
  return "   what was left of loading them, begun before the scene";
}

static void print_stages(const demo *d) {
  moment begin = d->begin;
  fprintf(d->to, "%-10s %9s %9s\n", "stage", "seconds", "processor");
  for (int i = 0; i < STAGE_COUNT; i++) {
    const moment end = d->ends[i];
    const double wall = end.wall - begin.wall, processor = end.processor - begin.processor;
    fprintf(d->to, "%-10s %9.3f %9.3f%s\n", stage_names[i], wall, processor, i == STAGE_KERNELS ? kernels_note(d) : "");
    begin = end;
  }
  fprintf(d->to, "%-10s %9.3f %9.3f\n\n", "all", begin.wall - d->begin.wall, begin.processor - d->begin.processor);
}

static void print_cast(FILE *to, const char *what, const char *query, uint64_t rays, double seconds) {
  fprintf(to, "%-10s %-8s %12llu %9.3f %9.1f\n", what, query, (unsigned long long)rays, seconds,
          seconds > 0 ? (double)rays / seconds * 1e-6 : 0.0);
}

static void print_casts(const demo *d) {
  uint64_t rays = 0;
  double seconds = 0;
  fprintf(d->to, "%-10s %-8s %12s %9s %9s\n", "rays", "query", "count", "seconds", "Mrays/s");
  for (int i = 0; i < CAST_COUNT; i++) {
    const demo_cast *c = &d->trace.casts[i];
    print_cast(d->to, c->what, c->query == SLAB_CLOSEST ? "closest" : "any", c->rays, c->seconds);
    rays += c->rays;
    seconds += c->seconds;
  }
  print_cast(d->to, "all", "", rays, seconds);
  fflush(d->to); /* the check takes longer than everything before it */
}

/* ---- the check against the CPU reference ----------------------------------- */

static int prove(demo *d) {
  uint64_t wrong = 0;
  const double begin = seconds_now();
  const size_t rays = d->closest.count + d->any.count;
  slab_status status = demo_proof_check(&d->closest, d->cast, &wrong);
  if (status == SLAB_OK) status = demo_proof_check(&d->any, d->cast, &wrong);
  if (status != SLAB_OK) return complain_status(status, "demo");
  fprintf(d->to, "\n%zu %s checked against the CPU reference bit by bit in %.1f s: %llu %s\n", rays,
          plural(rays, "ray", "rays"), seconds_now() - begin, (unsigned long long)wrong,
          plural(wrong, "mismatch", "mismatches"));
  return wrong == 0 ? EXIT_DONE : EXIT_MISMATCH;
}

/* ---- the picture ----------------------------------------------------------- */

static moment moment_now(void) { return (moment){seconds_now(), seconds_of_process()}; }

static void end_stage(demo *d, int stage) { d->ends[stage] = moment_now(); }

/* There are only two rays per triangle, so a fast build saves more time than a fast BVH. */
static slab_status commit(demo *d) {
  static const slab_build_options options = {.tree = SLAB_TREE_FAST};
  slab_status status = slab_scene_create(d->context, &d->cast);
  if (status == SLAB_OK) status = demo_scene_add(&d->scene, d->cast);
  if (status == SLAB_OK) status = slab_scene_commit(d->cast, &options);
  return status;
}

static slab_status build(demo *d) {
  const size_option size = d->options->size;
  if (demo_scene_build(size.width, size.height, (uint32_t)d->options->threads, &d->scene) != 0)
    return SLAB_OUT_OF_MEMORY;
  end_stage(d, STAGE_SCENE);
  const slab_status status = commit(d);
  end_stage(d, STAGE_TREE);
  return status;
}

static slab_status trace(demo *d, uint8_t *pixels) {
  const size_option size = d->options->size;
  d->trace = demo_trace_begin(&d->scene, d->cast, size.width, size.height, &d->closest, &d->any);
  const slab_status status = demo_trace_run(&d->trace);
  end_stage(d, STAGE_CAST);
  if (status == SLAB_OK) demo_trace_paint(&d->trace, pixels);
  end_stage(d, STAGE_SHADE);
  return status;
}

static int draw(demo *d) {
  const size_option size = d->options->size;
  const size_t count = (size_t)size.width * size.height;
  uint8_t *pixels = malloc(count * 3);
  prepare_begin(&d->prepare, d->context, count);
  slab_status status = pixels ? build(d) : SLAB_OUT_OF_MEMORY;
  int code = prepare_end(&d->prepare);
  end_stage(d, STAGE_KERNELS);
  if (status == SLAB_OK && code == EXIT_DONE) status = trace(d, pixels);
  if (status != SLAB_OK)
    code =
        complain_status(status, "demo"); /* the library's message, or that the program's own arrays do not fit memory */
  else if (code == EXIT_DONE && picture_write(d->options->out, size.width, size.height, pixels) != 0)
    code = EXIT_FAILED;
  end_stage(d, STAGE_WRITE);
  free(pixels);
  return code;
}

static int run(const demo_options *options) {
  demo *d = calloc(1, sizeof *d);
  if (d == NULL) {
    complain("no memory for the demo");
    return EXIT_FAILED;
  }
  d->options = options;
  d->to = strcmp(options->out, "-") ? stdout : stderr;
  d->begin = moment_now();
  int code = device_open(options->device, options->threads, &d->context);
  end_stage(d, STAGE_DEVICE);
  if (code == EXIT_DONE) code = draw(d);
  if (code == EXIT_DONE) {
    print_scene(d);
    print_stages(d);
    print_casts(d);
    code = prove(d);
  }
  demo_trace_end(&d->trace);
  slab_scene_destroy(d->cast);
  slab_context_destroy(d->context);
  demo_scene_free(&d->scene);
  free(d);
  return code;
}

static int command_main(int argc, char **argv) {
  demo_options options = {.out = "slabcast-demo.png", .size = {1280, 720}};
  int code = options_parse(&command, argc, argv, &options, NULL);
  if (code == OPTIONS_RUN) code = options_check_ending(&command, options.out, "png");
  if (code != OPTIONS_RUN) return code;
  return output_probe(options.out) ? EXIT_FAILED : run(&options);
}

const program_command command_demo = {"demo", "draw a scene of a million triangles, then check 1,000 of its rays",
                                      command_main, &command};
