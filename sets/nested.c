#include "sets/nested.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

/* ---- transforms ---- */

static void turn_about_axis(float m[12], int axis, float angle) {
  const int a = (axis + 1) % 3, b = (axis + 2) % 3;
  float turned[12];
  memcpy(turned, m, sizeof turned);
  for (int k = 0; k < 4; k++) {
    turned[4 * a + k] = cosf(angle) * m[4 * a + k] - sinf(angle) * m[4 * b + k];
    turned[4 * b + k] = sinf(angle) * m[4 * a + k] + cosf(angle) * m[4 * b + k];
  }
  memcpy(m, turned, sizeof turned);
}

void nested_transform(random_state *random, float m[12]) {
  for (int i = 0; i < 12; i++) m[i] = i % 5 == 0 ? 1 : 0;
  for (int i = 0; i < 3; i++)
    if (random_below(random, 2) == 0) m[5 * i] = random_between(random, 0.25f, 2.0f);
  if (random_below(random, 3) == 0) m[5 * random_below(random, 3)] *= -1;
  if (random_below(random, 4) == 0) m[1] = random_between(random, -1, 1);
  for (int i = 0; i < 3; i++)
    if (random_below(random, 2) == 0) turn_about_axis(m, i, random_between(random, -3, 3));
  for (int i = 0; i < 3; i++)
    if (random_below(random, 4) != 0) m[4 * i + 3] = random_between(random, -4, 4);
}

void nested_rigid(random_state *random, float m[12]) {
  const float scale = random_below(random, 2) == 0
                          ? 1.0f
                          : ldexpf(random_between(random, 1.0f, 2.0f), (int)random_below(random, 7) - 3);
  for (int i = 0; i < 12; i++) m[i] = i % 5 == 0 ? scale : 0;
  if (random_below(random, 3) == 0) m[5 * random_below(random, 3)] *= -1;
  for (int i = 0; i < 3; i++)
    if (random_below(random, 2) == 0) turn_about_axis(m, i, random_between(random, -3, 3));
  for (int i = 0; i < 3; i++)
    if (random_below(random, 4) != 0) m[4 * i + 3] = random_between(random, -4, 4);
}

void nested_transforms(random_state *random, float m[NESTED_EACH][12]) {
  for (int i = 0; i < NESTED_EACH; i++) nested_transform(random, m[i]);
}

slab_ray nested_ray_outside(const float m[12], slab_ray ray) {
  slab_ray out = ray;
  for (int i = 0; i < 3; i++) {
    const float *row = m + 4 * i;
    out.origin[i] = row[0] * ray.origin[0] + row[1] * ray.origin[1] + row[2] * ray.origin[2] + row[3];
    out.direction[i] = row[0] * ray.direction[0] + row[1] * ray.direction[1] + row[2] * ray.direction[2];
  }
  return out;
}

/* ---- scenes ---- */

enum { SHAPES_EACH = 12 };

/* Of these kinds those that the scenes have, or triangles. */
static slab_status fill(nested *n, int scene, unsigned kinds) {
  const unsigned some = kinds & n->kinds;
  return adversarial_fill(&n->random, &n->points[scene % 2], some != 0 ? some : 1u << SLAB_TRIANGLE, SHAPES_EACH,
                          n->scenes[scene]);
}

/* Adds instances of scenes[model] to scenes[to]. */
static slab_status add(nested *n, int to, int model, float m[NESTED_EACH][12], uint32_t *geometry) {
  const slab_geometry_options options = {.mask =
                                             random_below(&n->random, 2) == 0 ? 0 : 1 + random_below(&n->random, 15)};
  if (n->is_rigid)
    for (int i = 0; i < NESTED_EACH; i++) nested_rigid(&n->random, m[i]);
  else
    nested_transforms(&n->random, m);
  return slab_scene_add_instances(n->scenes[to], n->scenes[model], m[0], NESTED_EACH, &options, geometry);
}

static slab_status commit(nested *n, int scene) {
  return slab_scene_commit(n->scenes[scene], &(slab_build_options){.tree = n->trees[scene]});
}

static slab_status fill_models(nested *n) {
  slab_status status = fill(n, 0, n->kinds);
  if (status == SLAB_OK) status = fill(n, 1, 1 << SLAB_TRIANGLE | 1 << SLAB_BOX);
  if (status == SLAB_OK) status = commit(n, 0);
  return status == SLAB_OK ? commit(n, 1) : status;
}

static slab_status fill_outer(nested *n) {
  slab_status status = add(n, 2, 0, n->inner[0], NULL);
  if (status == SLAB_OK) status = fill(n, 2, 1 << SLAB_TRIANGLE);
  if (status == SLAB_OK) status = add(n, 2, 1, n->inner[1], NULL);
  if (status == SLAB_OK) status = commit(n, 2);
  if (status == SLAB_OK) status = fill(n, 3, 1 << SLAB_SPHERE | 1 << SLAB_BOX);
  if (status == SLAB_OK) status = add(n, 3, 1, n->outer[0], &n->outer_ids[0]);
  if (status == SLAB_OK) status = fill(n, 3, 1 << SLAB_OBB | 1 << SLAB_TRIANGLE);
  if (status == SLAB_OK) status = add(n, 3, 2, n->outer[1], &n->outer_ids[1]);
  return status == SLAB_OK ? commit(n, 3) : status;
}

static slab_status begin(nested *n, slab_context *context) {
  slab_status status = SLAB_OK;
  for (int i = 0; i < NESTED_SCENES && status == SLAB_OK; i++) {
    status = slab_scene_create(context, &n->scenes[i]);
    n->trees[i] = (slab_tree)random_below(&n->random, SLAB_TREE_HIGH + 1);
  }
  for (int i = 0; i < 2; i++) n->points[i] = adversarial_begin(&n->random, 0);
  if (status == SLAB_OK) status = fill_models(n);
  return status == SLAB_OK ? fill_outer(n) : status;
}

slab_status nested_begin(nested *n, slab_context *context, uint64_t seed, unsigned kinds) {
  *n = (nested){.random = random_seed(seed), .kinds = kinds};
  return begin(n, context);
}

slab_status nested_begin_rigid(nested *n, slab_context *context, uint64_t seed, unsigned kinds) {
  *n = (nested){.random = random_seed(seed), .kinds = kinds, .is_rigid = true};
  return begin(n, context);
}

void nested_end(nested *n) {
  for (int i = 0; i < NESTED_SCENES; i++) slab_scene_destroy(n->scenes[i]);
}

static slab_ray one_ray(nested *n) {
  const uint32_t k = random_below(&n->random, NESTED_EACH), l = random_below(&n->random, NESTED_EACH);
  const int model = (int)random_below(&n->random, 2);
  const slab_ray ray = adversarial_ray(&n->random, &n->points[model]);
  switch (random_below(&n->random, 4)) {
    case 0:
      return ray;
    case 1:
      return nested_ray_outside(n->outer[0][k], ray);
    default:
      return nested_ray_outside(n->outer[1][k], nested_ray_outside(n->inner[model][l], ray));
  }
}

void nested_rays(nested *n, size_t count, slab_ray *rays) {
  bool alike = false;
  for (size_t i = 0; i < count; i++) {
    if (i % NESTED_BUNDLE == 0) alike = random_below(&n->random, 2) == 0;
    rays[i] = one_ray(n);
    if (!alike || i % NESTED_BUNDLE == 0) continue;
    rays[i] = rays[i - i % NESTED_BUNDLE];
    for (int k = 0; k < 3; k++) rays[i].direction[k] *= random_between(&n->random, 0.98f, 1.02f);
  }
}
