/* slabcast demo: more than a million rays, every one checked, and the picture that they make.
 *
 * A ray for each pixel, more where the scene has edges; from each pixel's hit one ray to the sun and one to the
 * sky, in another direction for each pixel of a 4 x 4 square, averaged over the square: 16 directions for one. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "demo_scene.h"
#include "device.h"
#include "options.h"
#include "output.h"
#include "picture.h"
#include "progress.h"

typedef struct demo_options {
  const char *device, *out;
  size_option size;
} demo_options;

static const option option_rows[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(demo_options, out), "the picture, a PNG (default: slabcast-demo.png)", 0, 0},
    {"--size", "WxH", OPTION_SIZE, offsetof(demo_options, size), "pixels (default: 1280x720)", 0, 0},
    OPTION_DEVICE(demo_options, device),
};

static const command_line command = {
    .usage = "demo [-o picture.png] [--size WxH] [--device SEL]",
    .about =
        "Casts a million rays and more at boxes and a mesh, checks every one against the CPU reference,\n"
        "bit by bit, and draws a picture. Exit code 3 if a single bit differs.",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

/* ---- casting and checking -------------------------------------------------- */

enum { PASS_CAMERA, PASS_MIRROR, PASS_SUN, PASS_SKY, PASS_COUNT };

typedef struct pass {
  const char *what, *query;
  uint64_t rays, mismatches;
  double seconds, check_seconds;
} pass;

typedef struct demo {
  demo_scene scene;
  slab_context *context;
  slab_scene *cast;
  pass passes[PASS_COUNT];
  uint32_t width, height;
} demo;

/* Rays checked at a time, so that the progress line moves. */
enum { CHECK_BATCH = 1 << 19 };

static slab_status check(demo *d, pass *p, slab_query query, const slab_ray *rays, size_t n, const void *results,
                         const slab_primitive_id *skip) {
  const size_t size = query == SLAB_CLOSEST ? sizeof(slab_hit) : sizeof(uint8_t);
  progress line = progress_begin("checking", "rays", 0, n);
  slab_status status = SLAB_OK;
  for (size_t i = 0; i < n && status == SLAB_OK; i += CHECK_BATCH) {
    const size_t count = n - i < CHECK_BATCH ? n - i : CHECK_BATCH;
    const slab_cast_options options = {.skip = skip ? skip + i : NULL};
    slab_check_report report;
    status = slab_check(d->cast, query, rays + i, count, (const char *)results + i * size, NULL, &options, &report);
    if (status != SLAB_OK) break;
    if (report.mismatches + report.oracle_wrong > 0) complain("%s rays from %zu: %s", p->what, i, report.text);
    p->mismatches += report.mismatches + report.oracle_wrong;
    progress_at(&line, i + count);
  }
  progress_end(&line);
  return status;
}

/* Casts, then checks every answer. skip: the surface that each ray leaves, or NULL. */
static slab_status run_pass(demo *d, int number, const slab_ray *rays, size_t n, void *results,
                            const slab_primitive_id *skip) {
  pass *p = &d->passes[number];
  const slab_query query = number == PASS_CAMERA || number == PASS_MIRROR ? SLAB_CLOSEST : SLAB_ANY;
  progress line = progress_begin("casting", "rays", 0, n);
  const slab_cast_options options = {.skip = skip, .progress = progress_of_cast, .user = &line};
  const double start = seconds_now();
  slab_status status = query == SLAB_CLOSEST ? slab_closest(d->cast, rays, n, results, &options)
                                             : slab_any(d->cast, rays, n, results, &options);
  const double cast = seconds_now();
  progress_end(&line);
  if (status == SLAB_OK) status = check(d, p, query, rays, n, results, skip);
  p->rays += n;
  p->seconds += cast - start;
  p->check_seconds += seconds_now() - cast;
  return status;
}

/* ---- buffers --------------------------------------------------------------- */

enum { NOTHING = -1, EDGE_SAMPLES = 4 };

/* One camera ray and what became of it. */
typedef struct sample {
  uint32_t pixel;
  int64_t surface; /* index, or NOTHING: the sky */
} sample;

typedef struct frame {
  slab_ray *camera; /* of each sample; the first are the pixels' centres, in order */
  slab_hit *hits;
  sample *samples;
  size_t sample_count;
  demo_surface *surfaces; /* of pixels' centres, of other samples, then what the polished ones mirror */
  uint32_t *pixels;       /* of each surface */
  int64_t *mirrored;      /* of each surface: the one that it mirrors, or NOTHING */
  size_t surface_count, centre_count, direct_count;
  uint8_t *sun, *sky; /* of each surface: occluded, or no ray was sent there */
} frame;

static void frame_free(frame *f) {
  free(f->camera);
  free(f->hits);
  free(f->samples);
  free(f->surfaces);
  free(f->pixels);
  free(f->mirrored);
  free(f->sun);
  free(f->sky);
}

/* n: samples. Each has one surface at most, and that may mirror one. */
static slab_status frame_reserve(frame *f, size_t n) {
  slab_ray *camera = realloc(f->camera, n * sizeof *camera);
  if (camera != NULL) f->camera = camera;
  slab_hit *hits = realloc(f->hits, n * sizeof *hits);
  if (hits != NULL) f->hits = hits;
  sample *samples = realloc(f->samples, n * sizeof *samples);
  if (samples != NULL) f->samples = samples;
  return camera && hits && samples ? SLAB_OK : SLAB_OUT_OF_MEMORY;
}

static int reserve_surfaces(frame *f) {
  const size_t n = 2 * f->sample_count;
  f->surfaces = malloc(n * sizeof *f->surfaces);
  f->pixels = malloc(n * sizeof *f->pixels);
  f->mirrored = malloc(n * sizeof *f->mirrored);
  f->sun = malloc(n);
  f->sky = malloc(n);
  return f->surfaces && f->pixels && f->mirrored && f->sun && f->sky;
}

/* ---- camera rays ----------------------------------------------------------- */

static slab_status cast_centres(demo *d, frame *f) {
  const size_t n = (size_t)d->width * d->height;
  if (frame_reserve(f, n) != SLAB_OK) return SLAB_OUT_OF_MEMORY;
  for (uint32_t y = 0; y < d->height; y++)
    for (uint32_t x = 0; x < d->width; x++) {
      const uint32_t pixel = y * d->width + x;
      f->camera[pixel] = slab_camera_ray(&d->scene.camera, x, y, d->width, d->height);
      f->samples[pixel] = (sample){pixel, NOTHING};
    }
  f->sample_count = n;
  return run_pass(d, PASS_CAMERA, f->camera, n, f->hits, NULL);
}

/* Do two neighbouring pixels show different things? Along a side of the knot triangles follow without an edge. */
static int differ(const slab_hit *a, const slab_hit *b) {
  if (a->geometry != b->geometry) return 1;
  if (a->geometry == DEMO_COLUMNS) return a->primitive != b->primitive || a->u != b->u;
  return a->geometry == DEMO_KNOT && demo_knot_side(a->primitive) != demo_knot_side(b->primitive);
}

static int on_edge(const demo *d, const frame *f, uint32_t x, uint32_t y) {
  const slab_hit *hit = &f->hits[(size_t)y * d->width + x];
  return (x > 0 && differ(hit, hit - 1)) || (x + 1 < d->width && differ(hit, hit + 1)) ||
         (y > 0 && differ(hit, hit - d->width)) || (y + 1 < d->height && differ(hit, hit + d->width));
}

/* Four more samples to every pixel on an edge: those of a grid of four times the size that share no row or column. */
static slab_status cast_edges(demo *d, frame *f) {
  static const uint32_t places[EDGE_SAMPLES][2] = {{1, 0}, {3, 1}, {0, 2}, {2, 3}};
  size_t edges = 0, n = f->sample_count;
  for (uint32_t y = 0; y < d->height; y++)
    for (uint32_t x = 0; x < d->width; x++) edges += (size_t)on_edge(d, f, x, y);
  const size_t centres = n;
  if (frame_reserve(f, n + EDGE_SAMPLES * edges) != SLAB_OK) return SLAB_OUT_OF_MEMORY;
  for (uint32_t y = 0; y < d->height; y++)
    for (uint32_t x = 0; x < d->width; x++) {
      if (!on_edge(d, f, x, y)) continue;
      for (int i = 0; i < EDGE_SAMPLES; i++) {
        f->camera[n] =
            slab_camera_ray(&d->scene.camera, 4 * x + places[i][0], 4 * y + places[i][1], 4 * d->width, 4 * d->height);
        f->samples[n++] = (sample){y * d->width + x, NOTHING};
      }
    }
  f->sample_count = n;
  return run_pass(d, PASS_CAMERA, f->camera + centres, n - centres, f->hits + centres, NULL);
}

/* ---- surfaces and their light ---------------------------------------------- */

static int is_hit(const slab_hit *hit) { return hit->geometry == DEMO_COLUMNS || hit->geometry == DEMO_KNOT; }

static int64_t add_surface(const demo *d, frame *f, const slab_ray *ray, const slab_hit *hit, uint32_t pixel) {
  if (!is_hit(hit)) return NOTHING;
  f->surfaces[f->surface_count] = demo_surface_at(&d->scene, ray, hit);
  f->pixels[f->surface_count] = pixel;
  f->mirrored[f->surface_count] = NOTHING;
  return (int64_t)f->surface_count++;
}

/* What is needed to cast from surfaces; freed by the caller. */
typedef struct departure {
  slab_ray *rays;
  slab_primitive_id *skip; /* the surface itself */
} departure;

static int depart(departure *out, size_t n) {
  out->rays = malloc((n + 1) * sizeof *out->rays);
  out->skip = malloc((n + 1) * sizeof *out->skip);
  return out->rays && out->skip;
}

static void departure_free(departure *out) {
  free(out->rays);
  free(out->skip);
}

static slab_status cast_mirror(demo *d, frame *f) {
  departure from = {0};
  slab_hit *hits = malloc((f->surface_count + 1) * sizeof *hits);
  slab_status status = SLAB_OUT_OF_MEMORY;
  size_t n = 0;
  if (!depart(&from, f->surface_count) || hits == NULL) goto done;
  for (size_t i = 0; i < f->direct_count; i++) {
    if (f->surfaces[i].id.geometry != DEMO_KNOT) continue;
    from.rays[n] = demo_mirror_ray(&f->surfaces[i]);
    from.skip[n++] = f->surfaces[i].id;
  }
  status = run_pass(d, PASS_MIRROR, from.rays, n, hits, from.skip);
  n = 0;
  for (size_t i = 0; i < f->direct_count && status == SLAB_OK; i++) {
    if (f->surfaces[i].id.geometry != DEMO_KNOT) continue;
    f->mirrored[i] = add_surface(d, f, &from.rays[n], &hits[n], f->pixels[i]);
    n++;
  }
done:
  departure_free(&from);
  free(hits);
  return status;
}

/* Which of 16 directions a pixel takes: any 4 x 4 square of pixels has them all. */
static uint32_t pattern_of(const demo *d, uint32_t pixel) { return pixel % d->width % 4 + 4 * (pixel / d->width % 4); }

/* The light of pixels' centres does for the other samples; what is mirrored takes the sun's middle and no sky. */
static int wants_light(const frame *f, int number, size_t i) {
  if (number == PASS_SKY) return i < f->centre_count;
  return (i < f->centre_count || i >= f->direct_count) && demo_faces_sun(&f->surfaces[i]);
}

static slab_status cast_light(demo *d, frame *f, int number, uint8_t *occluded) {
  departure from = {0};
  slab_status status = SLAB_OUT_OF_MEMORY;
  uint8_t *answers = malloc(f->surface_count + 1);
  size_t n = 0;
  if (!depart(&from, f->surface_count) || answers == NULL) goto done;
  for (size_t i = 0; i < f->surface_count; i++) {
    if (!wants_light(f, number, i)) continue;
    const uint32_t pattern = i < f->centre_count ? pattern_of(d, f->pixels[i]) : 0;
    from.rays[n] = number == PASS_SUN ? demo_sun_ray(&f->surfaces[i], pattern) : demo_sky_ray(&f->surfaces[i], pattern);
    from.skip[n++] = f->surfaces[i].id;
  }
  status = run_pass(d, number, from.rays, n, answers, from.skip);
  n = 0;
  for (size_t i = 0; i < f->surface_count; i++) occluded[i] = wants_light(f, number, i) ? answers[n++] : 1;
done:
  departure_free(&from);
  free(answers);
  return status;
}

static void find_surfaces(const demo *d, frame *f) {
  for (size_t i = 0; i < f->sample_count; i++) {
    if (i == (size_t)d->width * d->height) f->centre_count = f->surface_count;
    f->samples[i].surface = add_surface(d, f, &f->camera[i], &f->hits[i], f->samples[i].pixel);
  }
  f->direct_count = f->surface_count;
  if (f->sample_count == (size_t)d->width * d->height) f->centre_count = f->surface_count;
}

static slab_status cast_all(demo *d, frame *f) {
  slab_status status = cast_centres(d, f);
  if (status == SLAB_OK) status = cast_edges(d, f);
  if (status == SLAB_OK && !reserve_surfaces(f)) status = SLAB_OUT_OF_MEMORY;
  if (status == SLAB_OK) find_surfaces(d, f);
  if (status == SLAB_OK) status = cast_mirror(d, f);
  if (status == SLAB_OK) status = cast_light(d, f, PASS_SUN, f->sun);
  if (status == SLAB_OK) status = cast_light(d, f, PASS_SKY, f->sky);
  return status;
}

/* ---- the picture ----------------------------------------------------------- */

typedef struct arrived {
  float sun, sky; /* shares */
} arrived;

static int same_surface(const demo_surface *a, const demo_surface *b) {
  return a->part == b->part && fabsf(a->distance - b->distance) < 0.5f && vec_dot(a->normal, b->normal) > 0.8f;
}

/* The mean over the 4 x 4 square of pixels around surface i, as far as they show the same; where none does, it is
 * the bottom of a gap. */
static arrived gather(const demo *d, const frame *f, size_t i) {
  const int64_t width = d->width, height = d->height;
  const int64_t x0 = f->pixels[i] % width - 1, y0 = f->pixels[i] / width - 1;
  float sun = 0.0f, sky = 0.0f, count = 0.0f;
  for (int64_t y = y0 > 0 ? y0 : 0; y < y0 + 4 && y < height; y++)
    for (int64_t x = x0 > 0 ? x0 : 0; x < x0 + 4 && x < width; x++) {
      const int64_t k = f->samples[y * width + x].surface;
      if (k == NOTHING || !same_surface(&f->surfaces[k], &f->surfaces[i])) continue;
      sun += f->sun[k] ? 0.0f : 1.0f;
      sky += f->sky[k] ? 0.0f : 1.0f;
      count += 1.0f;
    }
  return count > 0.0f ? (arrived){sun / count, sky / count} : (arrived){0.0f, 0.2f};
}

static vec3 light_of(const demo *d, const frame *f, size_t i) {
  const demo_surface *s = &f->surfaces[i];
  const arrived light = gather(d, f, i);
  if (s->id.geometry != DEMO_KNOT) return demo_shade(s, light.sun, light.sky, NULL);
  const slab_ray mirror = demo_mirror_ray(s);
  vec3 reflected = demo_sky_color(vec_of(mirror.direction));
  const int64_t k = f->mirrored[i];
  if (k != NOTHING) reflected = demo_shade(&f->surfaces[k], f->sun[k] ? 0.0f : 1.0f, 0.7f, NULL);
  return demo_shade(s, light.sun, light.sky, &reflected);
}

static int paint(const demo *d, const frame *f, uint8_t *bytes) {
  const size_t n = (size_t)d->width * d->height;
  vec3 *sums = calloc(n, sizeof *sums);
  float *counts = calloc(n, sizeof *counts);
  const int ready = sums && counts;
  for (size_t i = 0; i < f->sample_count && ready; i++) {
    const sample *s = &f->samples[i];
    const vec3 light = s->surface == NOTHING ? demo_sky_color(vec_unit(vec_of(f->camera[i].direction)))
                                             : light_of(d, f, (size_t)s->surface);
    sums[s->pixel] = vec_add(sums[s->pixel], light);
    counts[s->pixel] += 1.0f;
  }
  for (size_t i = 0; i < n && ready; i++) demo_develop(vec_scale(sums[i], 1.0f / counts[i]), bytes + 3 * i);
  free(sums);
  free(counts);
  return ready;
}

/* ---- the command ----------------------------------------------------------- */

static slab_status build_scene(demo *d) {
  const scene_geometry boxes = {.kind = SLAB_BOX, .count = d->scene.box_count, .shapes = d->scene.boxes};
  slab_status status = slab_scene_create(d->context, &d->cast);
  if (status == SLAB_OK) status = scene_geometry_add(d->cast, &boxes, NULL, NULL);
  if (status == SLAB_OK) status = scene_geometry_add(d->cast, &d->scene.knot, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_commit(d->cast, NULL);
  return status;
}

static void print_row(FILE *to, const pass *p) {
  fprintf(to, "%-10s %-8s %12llu %9.3f %9.1f %9.3f %11llu\n", p->what, p->query, (unsigned long long)p->rays,
          p->seconds, p->seconds > 0 ? (double)p->rays / p->seconds * 1e-6 : 0.0, p->check_seconds,
          (unsigned long long)p->mismatches);
}

/* On stdout, unless the picture goes there. */
static uint64_t print_table(const demo *d, const char *path) {
  FILE *to = strcmp(path, "-") ? stdout : stderr;
  slab_device_info device = {0};
  pass all = {.what = "all", .query = ""};
  slab_context_device(d->context, &device);
  fprintf(to, "device     %s (%s, %s)\n", device.name, device_type_name(device.type), device.platform);
  fprintf(to, "scene      %u boxes, %u triangles\n", d->scene.box_count, d->scene.knot.count);
  fprintf(to, "picture    %s, %ux%u\n\n", path, d->width, d->height);
  fprintf(to, "%-10s %-8s %12s %9s %9s %9s %11s\n", "rays", "query", "count", "seconds", "Mrays/s", "checked s",
          "mismatches");
  for (int i = 0; i < PASS_COUNT; i++) {
    const pass *p = &d->passes[i];
    print_row(to, p);
    all.rays += p->rays;
    all.mismatches += p->mismatches;
    all.seconds += p->seconds;
    all.check_seconds += p->check_seconds;
  }
  print_row(to, &all);
  fprintf(to, "\n%llu rays, each checked against the CPU reference bit by bit: %llu mismatches\n",
          (unsigned long long)all.rays, (unsigned long long)all.mismatches);
  return all.mismatches;
}

static int draw(demo *d, const char *path) {
  frame f = {0};
  int code = EXIT_FAILED;
  uint8_t *bytes = malloc((size_t)d->width * d->height * 3);
  const slab_status status = bytes ? cast_all(d, &f) : SLAB_OUT_OF_MEMORY;
  if (status != SLAB_OK)
    code = complain_status(status, "demo"); /* what the library says, or else that our own arrays have no memory */
  else if (!paint(d, &f, bytes))
    complain("no memory for a picture of %ux%u", d->width, d->height);
  else if (picture_write(path, d->width, d->height, bytes) == 0)
    code = print_table(d, path) == 0 ? EXIT_DONE : EXIT_MISMATCH;
  frame_free(&f);
  free(bytes);
  return code;
}

static int run(const demo_options *options) {
  demo d = {.width = options->size.width,
            .height = options->size.height,
            .passes = {{.what = "camera", .query = "closest"},
                       {.what = "mirror", .query = "closest"},
                       {.what = "sun", .query = "any"},
                       {.what = "sky", .query = "any"}}};
  int code = device_open(options->device, &d.context);
  if (code == EXIT_DONE && demo_scene_build(d.width, d.height, &d.scene) != 0) {
    complain("no memory for the demo's scene");
    code = EXIT_FAILED;
  }
  if (code == EXIT_DONE) {
    const slab_status status = build_scene(&d);
    if (status != SLAB_OK) code = complain_status(status, "demo");
  }
  if (code == EXIT_DONE) code = draw(&d, options->out);
  slab_scene_destroy(d.cast);
  slab_context_destroy(d.context);
  demo_scene_free(&d.scene);
  return code;
}

int command_demo(int argc, char **argv) {
  demo_options options = {.out = "slabcast-demo.png", .size = {1280, 720}};
  const int code = options_parse(&command, argc, argv, &options, NULL);
  if (code != OPTIONS_RUN) return code;
  return output_probe(options.out) ? EXIT_FAILED : run(&options);
}
