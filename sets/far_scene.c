#include "sets/far_scene.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sets/shapes.h"

enum { MOST = 64 };

slab_status far_scene_open(far_scene *f, slab_context *context, uint64_t seed, bool given) {
  *f = (far_scene){.random = random_seed(seed), .origin = {5403210.25, -3400000.5, 1024.0}};
  slab_status status = slab_scene_create(context, &f->far);
  if (status == SLAB_OK) status = slab_scene_create(context, &f->near);
  if (status == SLAB_OK && given) status = slab_scene_origin(f->far, f->origin);
  return status;
}

void far_scene_close(far_scene *f) {
  slab_scene_destroy(f->far);
  slab_scene_destroy(f->near);
}

static float coordinate(far_scene *f) {
  return (float)(FAR_STEP *
                 ((double)random_below(&f->random, (uint32_t)(2 * FAR_REACH / FAR_STEP)) - FAR_REACH / FAR_STEP));
}

static float size_of(far_scene *f) { return (float)(FAR_STEP * (double)(1 + random_below(&f->random, 2048))); }

/* A shape's floats, near 0. Planes are those of an axis, so that offsets are exact. */
static void draw(far_scene *f, slab_shape kind, float s[SHAPE_FLOATS_MOST]) {
  const int axis = (int)random_below(&f->random, 3);
  for (size_t k = 0; k < shape_floats(kind); k++) s[k] = coordinate(f);
  switch (kind) {
    case SLAB_PLANE:
      s[0] = s[1] = s[2] = 0.0f;
      s[axis] = 1.0f;
      break;
    case SLAB_SPHERE:
      s[3] = size_of(f);
      break;
    case SLAB_BOX:
      for (int k = 0; k < 3; k++) s[3 + k] = s[k] + size_of(f);
      break;
    case SLAB_OBB:
      for (int k = 3; k < 15; k++) s[k] = k < 6 ? size_of(f) : 0.0f;
      for (int k = 0; k < 3; k++) s[6 + 3 * k + (axis + k) % 3] = 1.0f;
      break;
    case SLAB_TRIANGLE:
      for (int k = 3; k < 9; k++) s[k] = s[k % 3] + size_of(f) * (random_below(&f->random, 2) == 0 ? 1.0f : -1.0f);
      break;
  }
}

/* The same far away. */
static void moved(const double origin[3], slab_shape kind, const float s[SHAPE_FLOATS_MOST],
                  double to[SHAPE_FLOATS_MOST]) {
  for (size_t k = 0; k < shape_floats(kind); k++) to[k] = s[k];
  for (int k = 0; k < 3; k++) {
    if (kind == SLAB_PLANE) to[3] += to[k] * origin[k];
    if (kind != SLAB_PLANE) to[k] += origin[k];
    if (kind == SLAB_BOX || kind == SLAB_TRIANGLE) to[3 + k] += origin[k];
    if (kind == SLAB_TRIANGLE) to[6 + k] += origin[k];
  }
}

/* Shapes of one kind, or a mesh's triangles, in both types. */
typedef struct drawn {
  float near[MOST * SHAPE_FLOATS_MOST];
  double far[MOST * SHAPE_FLOATS_MOST];
  uint32_t indices[3 * MOST];
} drawn;

static drawn *draw_many(far_scene *f, slab_shape kind, uint32_t n) {
  drawn *d = malloc(sizeof *d);
  const size_t each = shape_floats(kind);
  for (uint32_t i = 0; d != NULL && i < n; i++) {
    float s[SHAPE_FLOATS_MOST];
    double t[SHAPE_FLOATS_MOST];
    draw(f, kind, s);
    moved(f->origin, kind, s, t);
    memcpy(d->near + i * each, s, each * sizeof *s);
    memcpy(d->far + i * each, t, each * sizeof *t);
    for (uint32_t k = 0; k < 3; k++) d->indices[3 * i + k] = 3 * (n - 1 - i) + k;
  }
  return d;
}

static slab_mesh mesh_of(const drawn *d, uint32_t n, bool far) {
  return (slab_mesh){.vertices = far ? NULL : d->near,
                     .vertices64 = far ? d->far : NULL,
                     .vertex_count = 3 * n,
                     .indices = n % 2 == 0 ? d->indices : NULL,
                     .triangle_count = n};
}

/* One call for each kind, in either type: `call` is add or update. */
#define FOR_KIND(call, ...)                           \
  switch (kind) {                                     \
    case SLAB_PLANE:                                  \
      return call(planes, slab_plane, __VA_ARGS__);   \
    case SLAB_SPHERE:                                 \
      return call(spheres, slab_sphere, __VA_ARGS__); \
    case SLAB_BOX:                                    \
      return call(boxes, slab_box, __VA_ARGS__);      \
    case SLAB_OBB:                                    \
      return call(obbs, slab_obb, __VA_ARGS__);       \
    case SLAB_TRIANGLE:                               \
      break;                                          \
  }
#define ADD(names, type, scene) \
  slab_scene_add_##names##64(scene, (const type##64 *)(const void *)d->far, n, NULL, geometry)
#define UPDATE(names, type, scene) \
  slab_scene_update_##names##64(scene, geometry, (const type##64 *)(const void *)d->far, n)
#define UPDATE_SOME(names, type, scene) \
  slab_scene_update_some_##names##64(scene, geometry, first, (const type##64 *)(const void *)d->far, n)

static slab_status add_far(slab_scene *scene, slab_shape kind, const drawn *d, uint32_t n, uint32_t *geometry) {
  FOR_KIND(ADD, scene)
  const slab_mesh mesh = mesh_of(d, n, true);
  return slab_scene_add_mesh(scene, &mesh, NULL, geometry);
}

static slab_status update_far(slab_scene *scene, uint32_t geometry, slab_shape kind, const drawn *d, uint32_t n) {
  FOR_KIND(UPDATE, scene)
  const slab_mesh mesh = mesh_of(d, n, true);
  return slab_scene_update_mesh(scene, geometry, &mesh);
}

static slab_status update_some_far(slab_scene *scene, uint32_t geometry, slab_shape kind, uint32_t first,
                                   const drawn *d, uint32_t n) {
  FOR_KIND(UPDATE_SOME, scene)
  return slab_scene_update_some_vertices64(scene, geometry, 3 * first, d->far, 3 * n);
}

slab_status far_scene_add(far_scene *f, slab_shape kind, uint32_t n, uint32_t *geometry) {
  drawn *d = draw_many(f, kind, n);
  if (d == NULL) return SLAB_OUT_OF_MEMORY;
  const slab_mesh mesh = mesh_of(d, n, false);
  slab_status status = add_far(f->far, kind, d, n, geometry);
  if (status == SLAB_OK)
    status = kind == SLAB_TRIANGLE ? slab_scene_add_mesh(f->near, &mesh, NULL, geometry)
                                   : shape_add_array(f->near, kind, d->near, n, NULL, geometry);
  free(d);
  return status;
}

slab_status far_scene_update(far_scene *f, uint32_t geometry, slab_shape kind, uint32_t n) {
  drawn *d = draw_many(f, kind, n);
  if (d == NULL) return SLAB_OUT_OF_MEMORY;
  const slab_mesh mesh = mesh_of(d, n, false);
  slab_status status = update_far(f->far, geometry, kind, d, n);
  if (status == SLAB_OK)
    status = kind == SLAB_TRIANGLE ? slab_scene_update_mesh(f->near, geometry, &mesh)
                                   : shape_update_array(f->near, geometry, kind, d->near, n);
  free(d);
  return status;
}

slab_status far_scene_update_some(far_scene *f, uint32_t geometry, slab_shape kind, uint32_t first, uint32_t n) {
  drawn *d = draw_many(f, kind, n);
  if (d == NULL) return SLAB_OUT_OF_MEMORY;
  slab_status status = update_some_far(f->far, geometry, kind, first, d, n);
  if (status == SLAB_OK) status = shape_update_some(f->near, geometry, kind, first, d->near, n);
  free(d);
  return status;
}

/* ---- instances ---- */

/* Turns about an axis by a quarter, mirrored or not, and somewhere else. */
static void draw_transform(far_scene *f, const double model[3], float near[12], double far[12]) {
  const int axis = (int)random_below(&f->random, 3);
  for (int k = 0; k < 12; k++) near[k] = k % 4 == 3 ? coordinate(f) : 0.0f;
  for (int k = 0; k < 3; k++) near[4 * k + (axis + k) % 3] = random_below(&f->random, 2) == 0 ? 1.0f : -1.0f;
  for (int k = 0; k < 3; k++) {
    const float *a = near + 4 * k;
    for (int j = 0; j < 3; j++) far[4 * k + j] = a[j];
    far[4 * k + 3] = a[3] + f->origin[k] - (a[0] * model[0] + a[1] * model[1] + a[2] * model[2]);
  }
}

typedef struct transforms {
  float near[12 * MOST];
  double far[12 * MOST];
} transforms;

/* Where models are, far away. */
static const double model_origin[3] = {-70000.5, 12.25, 900000.0};

static void draw_transforms(far_scene *f, uint32_t n, transforms *t) {
  for (uint32_t i = 0; i < n; i++) draw_transform(f, model_origin, t->near + 12 * i, t->far + 12 * i);
}

slab_status far_scene_place(far_scene *f, slab_context *context, uint32_t n, uint32_t *geometry) {
  far_scene model;
  transforms t;
  slab_status status = far_scene_open(&model, context, random_bits(&f->random), false);
  memcpy(model.origin, model_origin, sizeof model.origin);
  if (status == SLAB_OK) status = slab_scene_origin(model.far, model_origin);
  for (int kind = SLAB_SPHERE; status == SLAB_OK && kind <= SLAB_TRIANGLE; kind++)
    status = far_scene_add(&model, (slab_shape)kind, 4, NULL);
  if (status == SLAB_OK) status = far_scene_commit(&model);
  draw_transforms(f, n, &t);
  if (status == SLAB_OK) status = slab_scene_add_instances64(f->far, model.far, t.far, n, NULL, geometry);
  if (status == SLAB_OK) status = slab_scene_add_instances(f->near, model.near, t.near, n, NULL, geometry);
  far_scene_close(&model);
  return status;
}

slab_status far_scene_move(far_scene *f, uint32_t geometry, uint32_t n) {
  transforms t;
  draw_transforms(f, n, &t);
  slab_status status = slab_scene_update_instances64(f->far, geometry, t.far, n);
  if (status == SLAB_OK) status = slab_scene_update_instances(f->near, geometry, t.near, n);
  return status;
}

slab_status far_scene_commit(far_scene *f) {
  const slab_status status = slab_scene_commit(f->far, NULL);
  return status == SLAB_OK ? slab_scene_commit(f->near, NULL) : status;
}

/* A coordinate within the scene's bounds. */
static float coordinate_inside(far_scene *f, const slab_scene_stats *bounds, int k) {
  const float x = coordinate(f);
  return x < bounds->lower[k] ? bounds->lower[k] : x > bounds->upper[k] ? bounds->upper[k] : x;
}

slab_status far_scene_rays(far_scene *f, size_t n, slab_ray *near, slab_ray64 *far) {
  slab_scene_stats bounds;
  const slab_status status = slab_scene_info(f->far, &bounds);
  for (size_t i = 0; status == SLAB_OK && i < n; i++) {
    slab_ray *r = &near[i];
    *r = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      r->origin[k] = coordinate_inside(f, &bounds, k);
      r->direction[k] = random_below(&f->random, 8) == 0 ? 0.0f : coordinate(f);
    }
    if (random_below(&f->random, 4) == 0) r->t_min = random_between(&f->random, -1.0f, 1.0f);
    if (random_below(&f->random, 4) == 0) r->t_max = random_between(&f->random, 0.0f, 2.0f);
    far[i] = (slab_ray64){.t_min = r->t_min, .t_max = r->t_max};
    for (int k = 0; k < 3; k++) {
      far[i].origin[k] = r->origin[k] + f->origin[k];
      far[i].direction[k] = r->direction[k];
    }
  }
  return status;
}
