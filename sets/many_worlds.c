#include "sets/many_worlds.h"

#include <string.h>

#include "data/types.h"
#include "sets/nested.h"

/* More than are listed of one world, so that it has a BVH of them. */
enum { INSTANCES_MOST = 60, IDS_OF_MODEL = 2 };

static worlds_member *add_member(many_worlds *w, worlds_member m, uint32_t ids) {
  worlds_member *to = &w->members[w->count++];
  *to = m;
  to->id = w->ids;
  to->enabled = true;
  w->ids += ids;
  return to;
}

uint32_t many_worlds_any(many_worlds *w) { return random_below(&w->random, w->worlds + 1); }

static slab_geometry_options options_of(many_worlds *w) {
  static uint32_t unused;
  slab_geometry_options o = {.mask = random_below(&w->random, 2) == 0 ? 0 : 1 + random_below(&w->random, 15),
                             .skip_invalid = 1,
                             .skipped = &unused};
  return o;
}

/* ---- shapes ---- */

static void fill_shapes(many_worlds *w, slab_shape kind, uint32_t n, float *shapes) {
  float shape[SHAPE_FLOATS_MOST] = {0};
  const size_t floats = shape_floats(kind);
  for (uint32_t i = 0; i < n; i++) {
    adversarial_shape(&w->random, kind, &w->points, shape);
    adversarial_know(&w->points, random_below(&w->random, ADVERSARIAL_MOST), shape);
    memcpy(shapes + i * floats, shape, floats * sizeof *shapes);
  }
}

static slab_status add_shapes(many_worlds *w, slab_shape kind) {
  float shapes[MANY_WORLDS_SHAPES * SHAPE_FLOATS_MOST];
  const uint32_t n = random_below(&w->random, MANY_WORLDS_SHAPES + 1);
  slab_geometry_options o = options_of(w);
  if (w->count == MANY_WORLDS_MEMBERS) return SLAB_OK;
  fill_shapes(w, kind, n, shapes);
  slab_status status = shape_add(w->plain, kind, shapes, n, &o);
  o.world = w->is_listed ? 0 : many_worlds_any(w);
  if (status == SLAB_OK) status = shape_add(w->scene, kind, shapes, n, &o);
  if (status == SLAB_OK)
    add_member(w, (worlds_member){.world = o.world, .of = w->ids, .kind = (uint32_t)kind, .count = n}, 1);
  return status;
}

/* ---- instances ---- */

static void transform_of(many_worlds *w, float m[12]) {
  if (w->is_rigid)
    nested_rigid(&w->random, m);
  else
    nested_transform(&w->random, m);
}

/* Instances of a model, each in a world of its own or all in one. */
static slab_status add_instances(many_worlds *w) {
  float transforms[INSTANCES_MOST][12];
  uint32_t worlds[INSTANCES_MOST];
  const bool many = !w->is_listed && random_below(&w->random, 6) == 0, alike = random_below(&w->random, 3) == 0;
  const uint32_t n = many ? INSTANCES_MOST : random_below(&w->random, 9), all = many_worlds_any(w);
  slab_scene *model = w->models[random_below(&w->random, 2)];
  slab_geometry_options o = options_of(w);
  if (w->count + n > MANY_WORLDS_MEMBERS) return SLAB_OK;
  const uint32_t first = w->ids;
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; i < n && status == SLAB_OK; i++) {
    transform_of(w, transforms[i]);
    worlds[i] = alike || many ? all : many_worlds_any(w);
    status = slab_scene_add_instances(w->plain, model, transforms[i], 1, &o, NULL);
    add_member(w, (worlds_member){.world = worlds[i], .of = first, .kind = SHAPE_INSTANCE, .count = n}, IDS_OF_MODEL);
  }
  if (alike)
    o.world = all;
  else
    o.worlds = worlds;
  return status == SLAB_OK ? slab_scene_add_instances(w->scene, model, transforms[0], n, &o, NULL) : status;
}

/* ---- the whole ---- */

static slab_status add_something(many_worlds *w) {
  const uint32_t kind = random_below(&w->random, SHAPE_KINDS + 3);
  if (kind >= SHAPE_KINDS) return add_instances(w);
  return (w->kinds >> kind & 1) != 0 ? add_shapes(w, (slab_shape)kind) : SLAB_OK;
}

static slab_status commit(many_worlds *w, slab_scene *scene) {
  return slab_scene_commit(scene, &(slab_build_options){.tree = w->tree});
}

/* A model of IDS_OF_MODEL geometries: triangles, and shapes of one of the kinds. */
static slab_status make_model(many_worlds *w, slab_context *context, int nth) {
  float shapes[MANY_WORLDS_SHAPES * SHAPE_FLOATS_MOST];
  const slab_geometry_options o = options_of(w);
  slab_shape second = (slab_shape)random_below(&w->random, SHAPE_KINDS);
  if ((w->kinds >> second & 1) == 0 || (w->is_listed && second == SLAB_PLANE)) second = SLAB_TRIANGLE;
  slab_status status = slab_scene_create(context, &w->models[nth]);
  fill_shapes(w, SLAB_TRIANGLE, MANY_WORLDS_SHAPES, shapes);
  if (status == SLAB_OK) status = shape_add(w->models[nth], SLAB_TRIANGLE, shapes, MANY_WORLDS_SHAPES, &o);
  fill_shapes(w, second, 2, shapes);
  if (status == SLAB_OK) status = shape_add(w->models[nth], second, shapes, 2, &o);
  return status == SLAB_OK ? slab_scene_commit(w->models[nth], NULL) : status;
}

static slab_status begin(many_worlds *w, slab_context *context) {
  w->points = adversarial_begin(&w->random, 0);
  w->worlds = 1 + random_below(&w->random, MANY_WORLDS);
  w->is_listed = random_below(&w->random, 2) == 0;
  w->tree = (slab_tree)random_below(&w->random, SLAB_TREE_HIGH + 1);
  slab_status status = make_model(w, context, 0);
  if (status == SLAB_OK) status = make_model(w, context, 1);
  if (status == SLAB_OK) status = slab_scene_create(context, &w->scene);
  if (status == SLAB_OK) status = slab_scene_create(context, &w->plain);
  if (status == SLAB_OK) status = slab_scene_set_worlds(w->scene, w->worlds);
  const uint32_t additions = random_below(&w->random, 30);
  for (uint32_t i = 0; i < additions && status == SLAB_OK; i++) status = add_something(w);
  return status == SLAB_OK ? commit(w, w->scene) : status;
}

slab_status many_worlds_begin(many_worlds *w, slab_context *context, uint64_t seed, unsigned kinds) {
  *w = (many_worlds){.random = random_seed(seed), .kinds = kinds};
  return begin(w, context);
}

slab_status many_worlds_begin_rigid(many_worlds *w, slab_context *context, uint64_t seed, unsigned kinds) {
  *w = (many_worlds){.random = random_seed(seed), .kinds = kinds, .is_rigid = true};
  return begin(w, context);
}

void many_worlds_end(many_worlds *w) {
  slab_scene_destroy(w->scene);
  slab_scene_destroy(w->plain);
  for (int i = 0; i < 2; i++) slab_scene_destroy(w->models[i]);
}

slab_status many_worlds_show(many_worlds *w, uint32_t world) {
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; i < w->count && status == SLAB_OK; i++) {
    const worlds_member *m = &w->members[i];
    if (m->removed) continue;
    status = slab_scene_enable(w->plain, m->id, m->enabled && (m->world == 0 || m->world == world));
  }
  return status == SLAB_OK ? commit(w, w->plain) : status;
}

slab_ray many_worlds_ray(many_worlds *w) {
  float m[12];
  const slab_ray ray = adversarial_ray(&w->random, &w->points);
  if (random_below(&w->random, 2) == 0) return ray;
  transform_of(w, m);
  return nested_ray_outside(m, ray);
}

/* ---- changes ---- */

/* The members of a geometry in the scene with worlds, which follow each other. */
static uint32_t first_of(const many_worlds *w, uint32_t member) {
  while (member > 0 && w->members[member - 1].of == w->members[member].of) member--;
  return member;
}

static slab_status move_instances(many_worlds *w, uint32_t first) {
  float transforms[INSTANCES_MOST][12];
  const worlds_member *m = &w->members[first];
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; i < m->count && status == SLAB_OK; i++) {
    transform_of(w, transforms[i]);
    status = slab_scene_update_instances(w->plain, m[i].id, transforms[i], 1);
  }
  return status == SLAB_OK ? slab_scene_update_instances(w->scene, m->of, transforms[0], m->count) : status;
}

/* Some of them, a few twice. */
static slab_status move_some(many_worlds *w, uint32_t first) {
  float transforms[INSTANCES_MOST][12];
  uint32_t indices[INSTANCES_MOST];
  const worlds_member *m = &w->members[first];
  const uint32_t n = random_below(&w->random, m->count + 1);
  slab_status status = SLAB_OK;
  for (uint32_t i = 0; i < n && status == SLAB_OK; i++) {
    indices[i] = random_below(&w->random, m->count);
    transform_of(w, transforms[i]);
    status = slab_scene_update_instances(w->plain, m[indices[i]].id, transforms[i], 1);
  }
  return status == SLAB_OK ? slab_scene_update_some_instances(w->scene, m->of, indices, transforms[0], n) : status;
}

static slab_status replace_shapes(many_worlds *w, const worlds_member *m) {
  float shapes[MANY_WORLDS_SHAPES * SHAPE_FLOATS_MOST];
  fill_shapes(w, (slab_shape)m->kind, m->count, shapes);
  const slab_status status = shape_update_array(w->plain, m->id, (slab_shape)m->kind, shapes, m->count);
  return status == SLAB_OK ? shape_update_array(w->scene, m->of, (slab_shape)m->kind, shapes, m->count) : status;
}

/* Instances are one geometry in the scene with worlds, and as many in the plain one. */
static slab_status enable(many_worlds *w, uint32_t first, bool enabled) {
  worlds_member *m = &w->members[first];
  const uint32_t n = m->kind == SHAPE_INSTANCE ? m->count : 1;
  for (uint32_t i = 0; i < n; i++) m[i].enabled = enabled;
  return slab_scene_enable(w->scene, m->of, enabled);
}

static slab_status remove_member(many_worlds *w, uint32_t first) {
  worlds_member *m = &w->members[first];
  const uint32_t n = m->kind == SHAPE_INSTANCE ? m->count : 1;
  slab_status status = slab_scene_remove(w->scene, m->of);
  for (uint32_t i = 0; i < n && status == SLAB_OK; i++) {
    m[i].removed = true;
    status = slab_scene_remove(w->plain, m[i].id);
  }
  return status;
}

static slab_status change_one(many_worlds *w) {
  if (w->count == 0) return add_something(w);
  const uint32_t first = first_of(w, random_below(&w->random, w->count));
  const worlds_member *m = &w->members[first];
  if (m->removed) return add_something(w);
  switch (random_below(&w->random, 10)) {
    case 0:
      return enable(w, first, !m->enabled);
    case 1:
      return remove_member(w, first);
    case 2:
      return add_something(w);
    default:
      break;
  }
  if (m->kind != SHAPE_INSTANCE) return replace_shapes(w, m);
  return random_below(&w->random, 2) == 0 ? move_some(w, first) : move_instances(w, first);
}

slab_status many_worlds_move(many_worlds *w) {
  slab_status status = SLAB_OK;
  for (uint32_t n = random_below(&w->random, 5); n > 0 && w->count > 0 && status == SLAB_OK; n--) {
    const uint32_t first = first_of(w, random_below(&w->random, w->count));
    const worlds_member *m = &w->members[first];
    if (m->kind == SHAPE_INSTANCE && !m->removed)
      status = random_below(&w->random, 4) == 0 ? move_instances(w, first) : move_some(w, first);
  }
  return status == SLAB_OK ? commit(w, w->scene) : status;
}

slab_status many_worlds_change(many_worlds *w) {
  slab_status status = SLAB_OK;
  for (uint32_t n = random_below(&w->random, 4); n > 0 && status == SLAB_OK; n--) status = change_one(w);
  return status == SLAB_OK ? commit(w, w->scene) : status;
}
