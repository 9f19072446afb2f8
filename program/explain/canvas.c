#include "program/explain/canvas.h"

#include <cairo-svg.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/os/file.h"

#define PNG_SCALE 2.0

struct canvas {
  output *out;
  cairo_surface_t *surface;
  cairo_t *cairo;
  int is_png;
};

static cairo_status_t on_write(void *closure, const unsigned char *bytes, unsigned length) {
  return output_write(closure, bytes, length) == 0 ? CAIRO_STATUS_SUCCESS : CAIRO_STATUS_WRITE_ERROR;
}

static void canvas_free(canvas *c) {
  cairo_destroy(c->cairo);
  cairo_surface_destroy(c->surface);
  free(c);
}

/* output_write has printed its own failures. */
static void complain_cairo(const canvas *c, cairo_status_t status) {
  if (status != CAIRO_STATUS_WRITE_ERROR)
    complain("%s: the drawing could not be made: %s", output_name(c->out), cairo_status_to_string(status));
}

canvas *canvas_open(const char *path, double width, double height) {
  canvas *c = calloc(1, sizeof *c);
  if (!c) {
    complain("no memory for a drawing");
    return NULL;
  }
  c->is_png = os_has_ending(path, ".png");
  c->out = output_open(path, OUTPUT_NEW);
  if (!c->out) {
    free(c);
    return NULL;
  }
  c->surface = c->is_png
                   ? cairo_image_surface_create(CAIRO_FORMAT_RGB24, (int)(PNG_SCALE * width), (int)(PNG_SCALE * height))
                   : cairo_svg_surface_create_for_stream(on_write, c->out, width, height);
  c->cairo = cairo_create(c->surface);
  if (c->is_png) cairo_scale(c->cairo, PNG_SCALE, PNG_SCALE);
  cairo_set_line_cap(c->cairo, CAIRO_LINE_CAP_ROUND);
  cairo_set_line_join(c->cairo, CAIRO_LINE_JOIN_ROUND);
  canvas_box(c, 0, 0, width, height, 0, COLOR_PAPER, 1);
  return c;
}

int canvas_close(canvas *c) {
  cairo_status_t status = cairo_status(c->cairo);
  if (status == CAIRO_STATUS_SUCCESS && c->is_png)
    status = cairo_surface_write_to_png_stream(c->surface, on_write, c->out);
  cairo_surface_finish(c->surface);
  if (status == CAIRO_STATUS_SUCCESS) status = cairo_surface_status(c->surface);
  if (status != CAIRO_STATUS_SUCCESS) complain_cairo(c, status);
  output *out = c->out;
  canvas_free(c);
  if (status == CAIRO_STATUS_SUCCESS) return output_commit(out);
  output_discard(out);
  return -1;
}

static void set_color(canvas *c, color value, double opacity) {
  cairo_set_source_rgba(c->cairo, (value >> 16 & 255) / 255.0, (value >> 8 & 255) / 255.0, (value & 255) / 255.0,
                        opacity);
}

static void stroke(canvas *c, color value, double width) {
  set_color(c, value, 1);
  cairo_set_line_width(c->cairo, width);
  cairo_stroke(c->cairo);
}

/* Fills and strokes the path. */
static void paint(canvas *c, color fill, double opacity, color rim) {
  set_color(c, fill, opacity);
  cairo_fill_preserve(c->cairo);
  stroke(c, rim, 1.2);
}

static void set_font(canvas *c, double size, cairo_font_weight_t weight) {
  cairo_select_font_face(c->cairo, "sans", CAIRO_FONT_SLANT_NORMAL, weight);
  cairo_set_font_size(c->cairo, size);
}

double canvas_text_width(canvas *c, double size, const char *text) {
  cairo_text_extents_t extents;
  set_font(c, size, CAIRO_FONT_WEIGHT_NORMAL);
  cairo_text_extents(c->cairo, text, &extents);
  return extents.x_advance;
}

void canvas_text(canvas *c, double x, double y, double size, color value, text_align align, const char *format, ...) {
  char text[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  const double width = canvas_text_width(c, size, text);
  set_color(c, value, 1);
  cairo_move_to(c->cairo, x - width * (align == ALIGN_RIGHT ? 1.0 : align == ALIGN_CENTER ? 0.5 : 0.0), y);
  cairo_show_text(c->cairo, text);
}

void canvas_title(canvas *c, double x, double y, double size, const char *text) {
  set_font(c, size, CAIRO_FONT_WEIGHT_BOLD);
  set_color(c, COLOR_INK, 1);
  cairo_move_to(c->cairo, x, y);
  cairo_show_text(c->cairo, text);
}

void canvas_line(canvas *c, double x0, double y0, double x1, double y1, color value, double width) {
  cairo_move_to(c->cairo, x0, y0);
  cairo_line_to(c->cairo, x1, y1);
  stroke(c, value, width);
}

void canvas_dashes(canvas *c, double x0, double y0, double x1, double y1, color value, double width) {
  static const double dashes[] = {5, 4};
  cairo_set_dash(c->cairo, dashes, 2, 0);
  canvas_line(c, x0, y0, x1, y1, value, width);
  cairo_set_dash(c->cairo, NULL, 0, 0);
}

void canvas_arrow(canvas *c, double x0, double y0, double x1, double y1, color value, double width) {
  const double length = hypot(x1 - x0, y1 - y0), head = 5 + 2.5 * width;
  if (!(length > 0)) return;
  const double dx = (x1 - x0) / length, dy = (y1 - y0) / length, neck_x = x1 - head * dx, neck_y = y1 - head * dy;
  const double points[3][2] = {{x1, y1},
                               {neck_x - 0.45 * head * dy, neck_y + 0.45 * head * dx},
                               {neck_x + 0.45 * head * dy, neck_y - 0.45 * head * dx}};
  canvas_line(c, x0, y0, neck_x, neck_y, value, width);
  canvas_polygon(c, points, 3, value, 1, value);
}

void canvas_box(canvas *c, double x, double y, double width, double height, double radius, color value,
                double opacity) {
  const double r = fmin(radius, fmin(0.5 * width, 0.5 * height)), quarter = 1.5707963267948966;
  cairo_new_sub_path(c->cairo);
  cairo_arc(c->cairo, x + width - r, y + r, r, -quarter, 0);
  cairo_arc(c->cairo, x + width - r, y + height - r, r, 0, quarter);
  cairo_arc(c->cairo, x + r, y + height - r, r, quarter, 2 * quarter);
  cairo_arc(c->cairo, x + r, y + r, r, 2 * quarter, 3 * quarter);
  cairo_close_path(c->cairo);
  set_color(c, value, opacity);
  cairo_fill(c->cairo);
}

void canvas_circle(canvas *c, double x, double y, double radius, color fill, double opacity, color rim) {
  cairo_new_sub_path(c->cairo);
  cairo_arc(c->cairo, x, y, radius, 0, 6.283185307179586);
  paint(c, fill, opacity, rim);
}

void canvas_dot(canvas *c, double x, double y, double radius, color fill, color rim) {
  canvas_circle(c, x, y, radius, fill, 1, rim);
}

void canvas_polygon(canvas *c, const double (*points)[2], int count, color fill, double opacity, color rim) {
  cairo_new_path(c->cairo); /* a text leaves a point behind */
  for (int i = 0; i < count; i++) cairo_line_to(c->cairo, points[i][0], points[i][1]);
  cairo_close_path(c->cairo);
  paint(c, fill, opacity, rim);
}

void canvas_clip(canvas *c, double x, double y, double width, double height) {
  cairo_save(c->cairo);
  cairo_rectangle(c->cairo, x, y, width, height);
  cairo_clip(c->cairo);
}

void canvas_unclip(canvas *c) { cairo_restore(c->cairo); }
