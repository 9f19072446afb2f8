#include "picture.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stddef.h>
#include <zlib.h>

#include "io/errors.h"
#include "io/output.h"
#include "vectors.h"

/* ---- the camera ------------------------------------------------------------- */

void camera_bounds(const slab_scene_stats *stats, float lower[3], float upper[3]) {
  for (int i = 0; i < 3; i++) {
    const int bounded = stats && stats->lower[i] <= stats->upper[i];
    lower[i] = bounded ? stats->lower[i] : -1.0f;
    upper[i] = bounded ? stats->upper[i] : 1.0f;
  }
}

int camera_check(const command_line *command, const camera_options *options) {
  const float *from = options->from.value, *to = options->to.value, *up = options->up.value;
  if (options->from.given && options->to.given && from[0] == to[0] && from[1] == to[1] && from[2] == to[2])
    return options_refuse(command, "--from %.9g,%.9g,%.9g and --to %.9g,%.9g,%.9g are the same point", (double)from[0],
                          (double)from[1], (double)from[2], (double)to[0], (double)to[1], (double)to[2]);
  if (options->up.given && up[0] == 0 && up[1] == 0 && up[2] == 0)
    return options_refuse(command, "--up %.9g,%.9g,%.9g has no length", (double)up[0], (double)up[1], (double)up[2]);
  return OPTIONS_RUN;
}

/* The up vector: `up`, or another axis if `up` lies along the view, which would leave right and left undefined. */
static vector usable_up(const camera_options *options, vector forward) {
  const vector up = options->up.given ? vector_of(options->up.value) : (vector){0, 1, 0};
  const vector side = vector_cross(forward, up);
  if (vector_dot(side, side) > 1e-12 * vector_dot(forward, forward) * vector_dot(up, up)) return up;
  return fabs(forward.z) < fabs(forward.y) ? (vector){0, 0, -1} : (vector){0, 1, 0};
}

/* The least distance from `target` against `forward` at which all eight corners are in view, plus a margin. */
static double framing_distance(const float lower[3], const float upper[3], vector target, vector forward, vector up,
                               double tangent, double aspect) {
  const double margin = 1.06;
  const vector right = vector_unit(vector_cross(forward, up)), over = vector_cross(right, forward);
  double distance = 0;
  for (int i = 0; i < 8; i++) {
    const float corner[3] = {(i & 1 ? upper : lower)[0], (i & 2 ? upper : lower)[1], (i & 4 ? upper : lower)[2]};
    const vector v = vector_minus(vector_of(corner), target);
    const double wide = fabs(vector_dot(v, right)) / (tangent * aspect), high = fabs(vector_dot(v, over)) / tangent;
    distance = fmax(distance, margin * fmax(wide, high) - vector_dot(v, forward));
  }
  return distance > 0 ? distance : 1;
}

slab_camera camera_from_options(const camera_options *options, const slab_scene_stats *stats, uint32_t width,
                                uint32_t height) {
  const double fov = options->fov.given ? (double)options->fov.value : 40.0;
  const double aspect = (double)width / (double)height;
  float lower[3], upper[3], from[3], to[3], up[3];
  camera_bounds(stats, lower, upper);
  for (int i = 0; i < 3; i++) to[i] = options->to.given ? options->to.value[i] : 0.5f * lower[i] + 0.5f * upper[i];
  vector forward = vector_unit((vector){-0.45, -0.4, -0.8}); /* from the front right, somewhat above */
  vector eye = vector_of(options->from.value);
  if (options->from.given) {
    const vector view = vector_minus(vector_of(to), eye);
    if (vector_dot(view, view) > 0) forward = view;
  }
  const vector eye_up = usable_up(options, forward);
  if (!options->from.given)
    eye = vector_add(vector_of(to),
                     -framing_distance(lower, upper, vector_of(to), forward, eye_up, circle_tangent(0.5 * fov), aspect),
                     forward);
  vector_store(eye, from);
  vector_store(vector_add(eye, 1.0, forward), to);
  vector_store(eye_up, up);
  return slab_camera_look_at(from, to, up, (float)fov, (float)aspect);
}

/* ---- PNG files -------------------------------------------------------------- */

/* libpng reports errors by a longjmp to setjmp; the output prints its own failures. */
static void on_error(png_structp png, png_const_charp message) {
  const char **failure = png_get_error_ptr(png);
  *failure = message;
  png_longjmp(png, 1);
}

static void on_warning(png_structp png, png_const_charp message) { (void)png, (void)message; }

static void on_write(png_structp png, png_bytep bytes, size_t size) {
  if (output_write(png_get_io_ptr(png), bytes, size) != 0) png_error(png, "");
}

static void on_flush(png_structp png) { (void)png; }

/* A separate function, so that no local variable is used after the longjmp. */
static int encode(png_structp png, png_infop info, uint32_t width, uint32_t height, const uint8_t *pixels) {
  if (setjmp(png_jmpbuf(png))) return -1;
  png_set_IHDR(png, info, width, height, 8, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  /* Shaded pictures compress by runs alone: a fifth of the time for 4 % more bytes. */
  png_set_filter(png, PNG_FILTER_TYPE_BASE, PNG_FILTER_PAETH);
  png_set_compression_strategy(png, Z_RLE);
  png_write_info(png, info);
  for (uint32_t y = 0; y < height; y++) png_write_row(png, pixels + (size_t)y * width * 3);
  png_write_end(png, NULL);
  return 0;
}

int picture_write(const char *path, uint32_t width, uint32_t height, const uint8_t *pixels) {
  const char *failure = "no memory";
  int failed = -1;
  output *out = output_open(path, OUTPUT_NEW);
  if (out == NULL) return -1;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, &failure, on_error, on_warning);
  png_infop info = png ? png_create_info_struct(png) : NULL;
  if (info != NULL) {
    png_set_write_fn(png, out, on_write, on_flush);
    failed = encode(png, info, width, height, pixels);
  }
  png_destroy_write_struct(&png, &info);
  if (!failed) return output_commit(out);
  if (failure[0] != '\0') complain("%s: the picture could not be encoded: %s", path, failure);
  output_discard(out);
  return -1;
}
