#include "scene/models.h"

#include <math.h>
#include <string.h>

#include "base/extremes.h"
#include "base/pool.h"
#include "device/context.h"
#include "maths/primitive.h"
#include "scene/transforms.h"
#include "shapes/values.h"

enum { GATES_A_PIECE = 1024 };

static const int direction_step[3] = {1, 3, 9};

/* The gate of a model without finite bounds. It is outside the BVH. */
static const float open_gate[BOX_FLOATS] = {-INFINITY, -INFINITY, -INFINITY, INFINITY, INFINITY, INFINITY};

static float rounded_down(double x) {
  const float f = (float)x;
  return f > x ? nextafterf(f, -INFINITY) : f;
}

static float rounded_up(double x) {
  const float f = (float)x;
  return f < x ? nextafterf(f, INFINITY) : f;
}

static void swap_if_less(const double size[3], int *a, int *b) {
  if (size[*a] >= size[*b]) return;
  const int kept = *a;
  *a = *b;
  *b = kept;
}

/* Upper bounds of how far a model reaches along a vector and against it: the vector is a sum of directions, in which
 * that is known. With the components in the order of their sizes x >= y >= z it is (x - y) (1, 0, 0) + (y - z)
 * (1, 1, 0) + z (1, 1, 1). */
static void reach_along(const double extent[DIRECTIONS], const double v[3], double *along, double *against) {
  const double size[4] = {fabs(v[0]), fabs(v[1]), fabs(v[2]), 0.0};
  int order[4] = {0, 1, 2, 3}, direction = DIRECTION_NONE;
  swap_if_less(size, &order[0], &order[1]);
  swap_if_less(size, &order[1], &order[2]);
  swap_if_less(size, &order[0], &order[1]);
  *along = *against = 0.0;
  for (int i = 0; i < 3; i++) {
    const double weight = size[order[i]] - size[order[i + 1]];
    direction += v[order[i]] < 0.0 ? -direction_step[order[i]] : direction_step[order[i]];
    *along += weight * extent[direction];
    *against += weight * extent[DIRECTIONS - 1 - direction];
  }
}

/* a - b, a + b, or the next double beyond where that was rounded inward. Beyond 2^53 of a model's size, doubles are as
 * far from each other as the model is large. */
static double less_at_most(double a, double b) {
  const double d = a - b, v = d - a, lost = (a - (d - v)) - (b + v);
  return lost < 0.0 ? nextafter(d, -INFINITY) : d;
}

static double sum_at_least(double a, double b) { return -less_at_most(-a, b); }

/* The bounds of the model under the inverse of B, padded by 2^-19 K max(|A| |corner|). The corner of the model's
 * bounds: its distance from the model's origin counts, not the size, since B (o - place) has an error in proportion to
 * it. */
static void gate_of(const instance_entry *of, const double extent[DIRECTIONS], float gate[BOX_FLOATS]) {
  double corner[3];
  const linear m = transform_linear(of);
  const double *a = m.a, skew = transform_skew(m.b, m.a);
  for (int k = 0; k < 3; k++)
    corner[k] =
        greater(fabs(extent[DIRECTION_NONE - direction_step[k]]), fabs(extent[DIRECTION_NONE + direction_step[k]]));
  for (int i = 0; i < 3; i++) {
    double reach = 0.0, along, against;
    for (int j = 0; j < 3; j++) reach += fabs(a[3 * i + j]) * corner[j];
    const double pad = 0x1p-19 * skew * reach;
    reach_along(extent, &a[3 * i], &along, &against);
    gate[i] = rounded_down(less_at_most(of->place[i], against + pad));
    gate[3 + i] = rounded_up(sum_at_least(of->place[i], along + pad));
  }
  bool finite = true;
  for (int i = 0; i < BOX_FLOATS; i++) finite = finite && isfinite(gate[i]);
  if (!finite) memcpy(gate, open_gate, sizeof open_gate);
}

void gate_write(const instance_entry *of, const model_measure *m, float gate[BOX_FLOATS]) {
  if (!m->bounded)
    memcpy(gate, open_gate, sizeof open_gate);
  else if (isinf(m->extent[DIRECTION_NONE]))
    primitive_void((slab_shape)SHAPE_INSTANCE, gate);
  else
    gate_of(of, m->extent, gate);
}

/* Gates that are in the arrays alone are computed once more. */
void gate_in(const snapshot *s, uint32_t g, uint32_t i, float gate[BOX_FLOATS]) {
  if (s->values[g]->values != NULL)
    memcpy(gate, s->values[g]->values + (size_t)i * BOX_FLOATS, BOX_FLOATS * sizeof *gate);
  else
    gate_write(&s->groups[g]->instances[i], &s->models[g].measure, gate);
}

typedef struct gates_writing {
  const instance_group *of;
  const model_measure *model;
  float *to;
} gates_writing;

static void write_gates(void *argument, size_t first, size_t end) {
  const gates_writing *w = argument;
  for (size_t i = first; i < end; i++) gate_write(&w->of->instances[i], w->model, w->to + i * BOX_FLOATS);
}

geometry_values *gates_of(const slab_context *context, const instance_group *group, const model_measure *model) {
  geometry_values *v = values_create(SHAPE_INSTANCE, group->count, NULL, false);
  if (v == NULL) return NULL;
  v->mask = group->mask;
  gates_writing w = {group, model, v->values};
  pool_loop(context->threads, group->count, GATES_A_PIECE, write_gates, &w);
  values_measure(context->threads, v, (slab_shape)SHAPE_INSTANCE, group->count);
  return v;
}
