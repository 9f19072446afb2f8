/* A page to draw on, written as SVG or PNG: lines, arrows, bars and texts in a few colours. Lengths are in pixels of
 * the page, y downwards; a PNG has twice as many. */
#ifndef SLABCAST_PROGRAM_EXPLAIN_CANVAS_H
#define SLABCAST_PROGRAM_EXPLAIN_CANVAS_H

#include <cairo.h>
#include <stdint.h>

#include "base/formatted.h"

typedef struct canvas canvas;

/* Opaque colours as 0xRRGGBB. */
typedef uint32_t color;
enum {
  COLOR_INK = 0x212529,
  COLOR_QUIET = 0x868e96,
  COLOR_FAINT = 0xced4da,
  COLOR_PANEL = 0xf8f9fa,
  COLOR_PAPER = 0xffffff,
  COLOR_BAND = 0xfff3bf,
  COLOR_HIT = 0xc2255c
};

typedef enum text_align { ALIGN_LEFT, ALIGN_CENTER, ALIGN_RIGHT } text_align;

/* A page for the file `path`, by the ending of its name. NULL with the error printed on failure. */
canvas *canvas_open(const char *path, double width, double height);
/* Writes the page and frees it. Returns 0, or -1 with the error printed. */
int canvas_close(canvas *);

void canvas_text(canvas *, double x, double y, double size, color, text_align, const char *format, ...) FORMATTED(7, 8);
void canvas_title(canvas *, double x, double y, double size, const char *text);
double canvas_text_width(canvas *, double size, const char *text);
void canvas_line(canvas *, double x0, double y0, double x1, double y1, color, double width);
void canvas_dashes(canvas *, double x0, double y0, double x1, double y1, color, double width);
/* With its head at the end. */
void canvas_arrow(canvas *, double x0, double y0, double x1, double y1, color, double width);
void canvas_box(canvas *, double x, double y, double width, double height, double radius, color, double opacity);
void canvas_dot(canvas *, double x, double y, double radius, color fill, color rim);
void canvas_circle(canvas *, double x, double y, double radius, color fill, double opacity, color rim);
void canvas_polygon(canvas *, const double (*points)[2], int count, color fill, double opacity, color rim);
/* Limits drawing to this rectangle until canvas_unclip. */
void canvas_clip(canvas *, double x, double y, double width, double height);
void canvas_unclip(canvas *);

#endif
