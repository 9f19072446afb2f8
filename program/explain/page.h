/* Declarations that the panels of a drawing share. */
#ifndef SLABCAST_PROGRAM_EXPLAIN_PAGE_H
#define SLABCAST_PROGRAM_EXPLAIN_PAGE_H

#include <math.h>

#include "program/explain/canvas.h"
#include "program/explain/explain.h"

enum { WIDTH = 1040, MARGIN = 40, SCENE = 380 };

extern const color axis_colors[3];

/* One explanation on a canvas, and the scale of t that its lines share. */
typedef struct page {
  const explained *e;
  canvas *c;
  double scale;           /* of the steps' t, to that of the ray as given */
  double t_first, t_last; /* the ends of the line of t */
} page;

static inline double value(const page *p, const char *part, const char *name) {
  return explained_value(p->e, part, name);
}

/* In lengths of the ray's own direction. */
static inline double t_of(const page *p, const char *part, const char *name) { return p->scale * value(p, part, name); }

static inline int is_told(const page *p, const char *part, const char *name) {
  return explained_step(p->e, part, name) != NULL;
}

static inline int is_yes(const page *p, const char *part, const char *name) { return value(p, part, name) == 1.0; }

static inline const char *note_of(const page *p, const char *part, const char *name) {
  const slab_step *step = explained_step(p->e, part, name);
  return step ? step->note : "";
}

/* Takes x into [*least, *most] where it is finite. */
static inline void widen(double *least, double *most, double x) {
  if (!isfinite(x)) return;
  *least = fmin(*least, x);
  *most = fmax(*most, x);
}

/* A panel of the height SCENE that begins at y. */
void draw_space(const page *, double y);

#endif
