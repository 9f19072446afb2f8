#include "sets/moving.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sets/bvh_scenes.h"

static float *shape_of(const moving_geometry *g, uint32_t i) { return g->shapes + i * shape_floats(g->kind); }

/* Half of the shapes are small and far from each other, as in scenes that BVHs are for. */
static void make_shape(moving *m, const moving_geometry *g, uint32_t i) {
  float shape[SHAPE_FLOATS_MOST] = {0};
  adversarial_shape(&m->random, g->kind, &m->points, shape);
  const float place[3] = {random_between(&m->random, -9, 9), random_between(&m->random, -9, 9),
                          random_between(&m->random, -9, 9)};
  for (uint32_t f = 0; i % 2 == 0 && f < shape_floats(g->kind); f++) {
    if (shape_sizes(g->kind) >> f & 1) shape[f] *= 0.1f;
    for (uint32_t k = 0; k < 3; k++)
      if (f >= k && shape_points(g->kind) >> (f - k) & 1) shape[f] = place[k] + 0.1f * shape[f];
  }
  memcpy(shape_of(g, i), shape, shape_floats(g->kind) * sizeof *shape);
  adversarial_know(&m->points, random_below(&m->random, ADVERSARIAL_MOST), shape);
}

static const slab_geometry_options *options_of(const moving_geometry *g, slab_geometry_options *o) {
  *o = (slab_geometry_options){.mask = g->mask, .skip_invalid = 1};
  return o;
}

static slab_status add_geometry(moving *m, slab_shape kind, uint32_t count) {
  moving_geometry *g = &m->of[m->geometries];
  slab_geometry_options o;
  if (m->geometries == MOVING_GEOMETRIES) return SLAB_OK;
  *g = (moving_geometry){.kind = kind, .count = count, .mask = 1u << m->geometries % 5 | 32u, .enabled = true};
  g->shapes = malloc((count * shape_floats(kind) + 1) * sizeof *g->shapes);
  if (g->shapes == NULL) return SLAB_OUT_OF_MEMORY;
  m->geometries++;
  for (uint32_t i = 0; i < count; i++) make_shape(m, g, i);
  return shape_add(m->scene, kind, g->shapes, count, options_of(g, &o));
}

slab_status moving_begin(moving *m, slab_context *context, uint64_t seed, uint32_t each) {
  *m = (moving){.random = random_seed(seed)};
  m->points = adversarial_begin(&m->random, 0);
  slab_status status = slab_scene_create(context, &m->scene);
  if (status == SLAB_OK) status = bvh_scene_add_nothing(m->scene);
  for (int kind = 0; kind < 2 * SHAPE_KINDS && status == SLAB_OK; kind++)
    status =
        add_geometry(m, (slab_shape)(kind % SHAPE_KINDS), kind == 1 ? 0 : each / (kind % SHAPE_KINDS == 0 ? 9 : 1));
  return status;
}

/* ---- a step ---- */

static void shift(moving *m, moving_geometry *g) {
  float by[3];
  for (int k = 0; k < 3; k++) by[k] = random_between(&m->random, -0.5f, 0.5f);
  for (uint32_t i = 0; i < g->count; i++)
    for (uint32_t f = 0; f < shape_floats(g->kind); f++)
      for (uint32_t k = 0; k < 3; k++)
        if (f >= k && shape_points(g->kind) >> (f - k) & 1) shape_of(g, i)[f] += by[k];
}

static slab_status change(moving *m, uint32_t at, unsigned how) {
  moving_geometry *g = &m->of[at];
  if (g->removed) return SLAB_OK;
  if (how == MOVING_SWITCH) {
    g->enabled = !g->enabled;
    return slab_scene_enable(m->scene, MOVING_FIRST + at, g->enabled);
  }
  if (how == MOVING_REMOVE) {
    g->removed = true;
    return slab_scene_remove(m->scene, MOVING_FIRST + at);
  }
  if (how == MOVING_SHIFT) shift(m, g);
  for (uint32_t i = 0; how == MOVING_SCATTER && i < g->count; i++)
    if (random_below(&m->random, 3) == 0) make_shape(m, g, i);
  return shape_update_array(m->scene, MOVING_FIRST + at, g->kind, g->shapes, g->count);
}

enum { SOME_MOST = 8 };

/* Replaces some shapes that follow each other. Where they are refused the old ones stay. */
static slab_status change_some(moving *m, uint32_t at) {
  moving_geometry *g = &m->of[at];
  float kept[SOME_MOST * SHAPE_FLOATS_MOST];
  if (g->removed || g->count == 0) return SLAB_OK;
  const uint32_t first = random_below(&m->random, g->count), most = g->count - first;
  const uint32_t count = 1 + random_below(&m->random, most < SOME_MOST ? most : SOME_MOST);
  const size_t bytes = count * shape_floats(g->kind) * sizeof(float);
  memcpy(kept, shape_of(g, first), bytes);
  for (uint32_t i = first; i < first + count; i++) make_shape(m, g, i);
  const slab_status status = shape_update_some(m->scene, MOVING_FIRST + at, g->kind, first, shape_of(g, first), count);
  if (status != SLAB_INVALID_ARGUMENT) return status;
  memcpy(shape_of(g, first), kept, bytes);
  return SLAB_OK;
}

slab_status moving_step(moving *m, unsigned changes) {
  slab_status status = SLAB_OK;
  for (unsigned how = 1; how <= MOVING_ADD; how *= 2) {
    const uint32_t at = random_below(&m->random, m->geometries), share = 1 + random_below(&m->random, 3);
    if ((changes & how) == 0) continue;
    if (how == MOVING_ADD) status = add_geometry(m, (slab_shape)(at % SHAPE_KINDS), 20 * share);
    for (uint32_t g = at % share; g < m->geometries && how != MOVING_ADD && status == SLAB_OK; g += share)
      if (how != MOVING_REMOVE || g == at) status = change(m, g, how);
    if (status != SLAB_OK) return status;
  }
  for (int i = 0; (changes & MOVING_SOME) != 0 && i < 4 && status == SLAB_OK; i++)
    status = change_some(m, random_below(&m->random, m->geometries));
  return status;
}

/* ---- anew ---- */

/* As many shapes that are never hit replace a geometry that is not seen. */
static slab_status add_anew(const moving_geometry *g, slab_scene *scene) {
  slab_geometry_options o;
  const size_t floats = g->count * shape_floats(g->kind);
  if (g->enabled && !g->removed) return shape_add(scene, g->kind, g->shapes, g->count, options_of(g, &o));
  float *nothing = malloc((floats + 1) * sizeof *nothing);
  if (nothing == NULL) return SLAB_OUT_OF_MEMORY;
  for (size_t i = 0; i < floats; i++) nothing[i] = NAN;
  const slab_status status = shape_add(scene, g->kind, nothing, g->count, options_of(g, &o));
  free(nothing);
  return status;
}

slab_status moving_anew(const moving *m, slab_context *context, slab_tree tree, slab_scene **scene) {
  const slab_build_options options = {.tree = tree};
  slab_scene *made = NULL;
  slab_status status = slab_scene_create(context, &made);
  if (status == SLAB_OK) status = bvh_scene_add_nothing(made);
  for (uint32_t g = 0; g < m->geometries && status == SLAB_OK; g++) status = add_anew(&m->of[g], made);
  if (status == SLAB_OK) status = slab_scene_commit(made, &options);
  if (status == SLAB_OK)
    *scene = made;
  else
    slab_scene_destroy(made);
  return status;
}

void moving_end(moving *m) {
  for (uint32_t g = 0; g < m->geometries; g++) free(m->of[g].shapes);
  slab_scene_destroy(m->scene);
}
