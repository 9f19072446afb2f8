#include "program/common/picture.h"

#include <math.h>
#include <png.h>
#include <setjmp.h>
#include <stddef.h>
#include <zlib.h>

#include "program/common/vectors.h"
#include "program/io/errors.h"
#include "program/io/output.h"

/* ---- the camera ------------------------------------------------------------- */

void camera_bounds(const slab_scene_stats *stats, float lower[3], float upper[3]) {
  for (int i = 0; i < 3; i++) {
    const int bounded = stats && stats->lower[i] <= stats->upper[i];
    lower[i] = bounded ? stats->lower[i] : -1.0f;
    upper[i] = bounded ? stats->upper[i] : 1.0f;
  }
}

/* Where the origin is 0 a coordinate is the float that is nearest to its digits. */
void camera_place(const point_option *point, const slab_scene_stats *stats, float place[3]) {
  for (int k = 0; k < 3; k++) {
    const double origin = stats ? stats->origin[k] : 0;
    place[k] = origin == 0 ? point->value[k] : (float)(point->wide[k] - origin);
  }
}

int camera_check(const command_line *command, const camera_options *options) {
  const double *from = options->from.wide, *to = options->to.wide;
  const float *up = options->up.value;
  if (options->from.given && options->to.given && from[0] == to[0] && from[1] == to[1] && from[2] == to[2])
    return options_refuse(command, "--from %.17g,%.17g,%.17g and --to %.17g,%.17g,%.17g are the same point", from[0],
                          from[1], from[2], to[0], to[1], to[2]);
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

/* The middle of the bounds, or `to`. */
static vector target_of(const camera_options *options, const slab_scene_stats *stats, const float lower[3],
                        const float upper[3]) {
  const vector zero = {0, 0, 0};
  float to[3];
  camera_place(&options->to, stats, to);
  if (options->to.given) return vector_of(to);
  return vector_add(vector_add(zero, 0.5, vector_of(lower)), 0.5, vector_of(upper));
}

/* The point as floats hold it. Without volatile GCC 12 leaves the rounding out where it vectorises (-O2, -O3). */
static vector rounded(vector v) {
  const volatile float x = (float)v.x, y = (float)v.y, z = (float)v.z;
  return (vector){(double)x, (double)y, (double)z};
}

/* The unit vector from `eye` to `target`, or `otherwise` where the two are one point. */
static vector view_or(vector eye, vector target, vector otherwise) {
  const vector view = vector_minus(target, eye);
  return vector_dot(view, view) > 0 ? vector_unit(view) : otherwise;
}

/* The camera looks from 0 and is moved then: the sum of eye and view would be rounded. */
static slab_camera camera_at(vector eye, vector forward, vector eye_up, double fov, double aspect) {
  static const float zero[3] = {0, 0, 0};
  float ahead[3], up[3];
  vector_store(forward, ahead);
  vector_store(eye_up, up);
  slab_camera camera = slab_camera_look_at(zero, ahead, up, (float)fov, (float)aspect);
  vector_store(eye, camera.origin);
  return camera;
}

/* The view is taken from the eye as rounded: far from 0 that moves it by much of a small scene's size. */
slab_camera camera_from_options(const camera_options *options, const slab_scene_stats *stats, uint32_t width,
                                uint32_t height) {
  const double fov = options->fov.given ? (double)options->fov.value : 40.0;
  const double aspect = (double)width / (double)height;
  const vector chosen = vector_unit((vector){-0.45, -0.4, -0.8}); /* from the front right, somewhat above */
  float lower[3], upper[3], from[3];
  camera_bounds(stats, lower, upper);
  camera_place(&options->from, stats, from);
  const vector target = target_of(options, stats, lower, upper);
  vector eye = vector_of(from);
  if (!options->from.given) {
    const double tangent = circle_tangent(0.5 * fov);
    const vector up = usable_up(options, chosen);
    eye = rounded(vector_add(target, -framing_distance(lower, upper, target, chosen, up, tangent, aspect), chosen));
  }
  const vector forward = view_or(eye, target, chosen);
  return camera_at(eye, forward, usable_up(options, forward), fov, aspect);
}

int eye_check(const float eye[3]) {
  const double most = 0x1p60; /* of a ray's origin */
  int is_valid = 1;
  for (int i = 0; i < 3; i++) is_valid &= fabs((double)eye[i]) <= most; /* false for NaN */
  if (!is_valid)
    complain("no ray is valid: the eye %.9g,%.9g,%.9g is beyond 2^60", (double)eye[0], (double)eye[1], (double)eye[2]);
  return is_valid ? 0 : -1;
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
