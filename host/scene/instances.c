#include "scene/instances.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/pool.h"
#include "base/status.h"
#include "device/context.h"
#include "scene/models.h"
#include "scene/scene.h"
#include "scene/transforms.h"

_Static_assert(sizeof(instance_entry) == BLOCK_UNIT * sizeof(float), "an instance takes a BLOCK_UNIT");

enum { INSTANCES_A_PIECE = 1024 };

/* n instances, not filled in, which retain the model. NULL: memory is short. */
static instance_group *instances_create(slab_scene *model, uint32_t geometries, uint32_t n, uint32_t visible) {
  instance_group *made = malloc(sizeof *made + (size_t)n * sizeof *made->instances);
  if (made == NULL) return NULL;
  *made = (instance_group){.references = 1,
                           .count = n,
                           .mask = visible,
                           .model = model,
                           .geometries = geometries,
                           .instances = (instance_entry *)(made + 1)};
  scene_retain(model);
  return made;
}

static slab_status fail_instances(uint32_t n) {
  return fail_memory(sizeof(instance_group) + (size_t)n * sizeof(instance_entry), "instances");
}

typedef struct transforms_taking {
  const float *from;
  instance_group *to;
  atomic_uint refused; /* the first, or the count */
} transforms_taking;

/* Keeps the least of those that threads refuse. */
static void note_refused(atomic_uint *first, size_t i) {
  for (unsigned refused = atomic_load(first); i < refused;)
    if (atomic_compare_exchange_weak(first, &refused, (unsigned)i)) break;
}

static void instances_fill_some(void *argument, size_t first, size_t end) {
  transforms_taking *t = argument;
  for (size_t i = first; i < end; i++) {
    double value;
    t->to->instances[i] = (instance_entry){.model = 0};
    if (transform_refusal(t->from + 12 * i, &t->to->instances[i], &value) == NULL) continue;
    note_refused(&t->refused, i);
    return;
  }
}

static slab_status fail_transform(const char *function, const float *transforms, uint32_t i) {
  instance_entry unused;
  double value;
  const char *why = transform_refusal(transforms + 12 * (size_t)i, &unused, &value);
  return fail(SLAB_INVALID_ARGUMENT, "%s: transform %u %s (%g)", function, i, why, value);
}

static slab_status instances_fill(const char *function, const float *transforms, instance_group *to) {
  transforms_taking t = {.from = transforms, .to = to, .refused = to->count};
  pool_loop(to->model->context->threads, to->count, INSTANCES_A_PIECE, instances_fill_some, &t);
  return t.refused == to->count ? SLAB_OK : fail_transform(function, transforms, t.refused);
}

static slab_status check_with_model(const char *function, const instance_group *group) {
  scene_reading reading;
  slab_status status = scene_enter(group->model, function, &reading);
  if (status != SLAB_OK) return status;
  if (reading.scene->has_instances) {
    const transform_reach reach = model_reach(reading.scene);
    status = model_allows(function, SLAB_INVALID_ARGUMENT, group, reading.scene, &reach);
  }
  scene_leave(&reading);
  return status;
}

static slab_status instances_finish(const char *function, slab_status status, instance_group *made,
                                    instance_group **group) {
  if (status == SLAB_OK) status = check_with_model(function, made);
  if (status == SLAB_OK)
    *group = made;
  else
    instances_release(made);
  return status;
}

slab_status instances_take(const char *function, slab_scene *model, uint32_t geometries, const float *transforms,
                           uint32_t n, uint32_t visible, const instance_worlds *worlds, instance_group **group) {
  instance_group *made = instances_create(model, geometries, n, visible);
  if (made == NULL) return fail_instances(n);
  const slab_status status = instances_fill(function, transforms, made);
  for (uint32_t i = 0; status == SLAB_OK && i < n; i++)
    made->instances[i].world = worlds->last != NULL   ? worlds->last->instances[i].world
                               : worlds->each != NULL ? worlds->each[i]
                                                      : worlds->all;
  return instances_finish(function, status, made, group);
}

slab_status instances_restore(const char *function, slab_scene *model, const instance_entry *instances, uint32_t n,
                              uint32_t visible, instance_group **group) {
  instance_group *made = instances_create(model, (uint32_t)model->ids, n, visible);
  if (made == NULL) return fail_instances(n);
  memcpy(made->instances, instances, n * sizeof *instances);
  return instances_finish(function, SLAB_OK, made, group);
}

/* ---- changing ---- */

/* Whether a transform is surely accepted: its rows are about as long, and about at right angles. */
static bool is_plain(const float t[12]) {
  float square[3];
  for (int i = 0; i < 3; i++)
    square[i] = t[4 * i] * t[4 * i] + t[4 * i + 1] * t[4 * i + 1] + t[4 * i + 2] * t[4 * i + 2];
  bool plain = square[0] > 0x1p-80f && square[0] < 0x1p80f;
  for (int i = 0; i < 3; i++) {
    const float *r = t + 4 * i, *s = t + 4 * ((i + 1) % 3), product = r[0] * s[0] + r[1] * s[1] + r[2] * s[2];
    plain = plain && square[i] <= 2.0f * square[0] && square[0] <= 2.0f * square[i] &&
            fabsf(product) <= 0.125f * square[0] && fabsf(r[3]) <= 0x1p59f;
  }
  return plain;
}

typedef struct transforms_accepting {
  const float *from;
  atomic_uint refused;
} transforms_accepting;

static void accept_some(void *argument, size_t first, size_t end) {
  transforms_accepting *t = argument;
  for (size_t i = first; i < end; i++) {
    instance_entry unused;
    double value;
    if (is_plain(t->from + 12 * i) || transform_refusal(t->from + 12 * i, &unused, &value) == NULL) continue;
    note_refused(&t->refused, i);
    return;
  }
}

/* The same of a model with instances, in which more is refused: by a group of these transforms. */
static slab_status accept_with_model(const char *function, const instance_group *group, const float *transforms,
                                     uint32_t n) {
  instance_group *tried = NULL;
  const instance_worlds none = {.each = NULL};
  const slab_status status =
      instances_take(function, group->model, group->geometries, transforms, n, group->mask, &none, &tried);
  instances_release(tried);
  return status;
}

slab_status instances_accept(const char *function, const instance_group *group, const uint32_t *indices,
                             const float *transforms, uint32_t n) {
  transforms_accepting t = {.from = transforms, .refused = n};
  for (uint32_t i = 0; indices != NULL && i < n; i++)
    if (indices[i] >= group->count)
      return fail(SLAB_INVALID_ARGUMENT, "%s: indices[%u] is %u, and there are %u instances", function, i, indices[i],
                  group->count);
  scene_reading reading;
  const slab_status status = scene_enter(group->model, function, &reading);
  if (status != SLAB_OK) return status;
  const bool has_instances = reading.scene->has_instances;
  scene_leave(&reading);
  if (has_instances) return accept_with_model(function, group, transforms, n);
  pool_loop(group->model->context->threads, n, INSTANCES_A_PIECE, accept_some, &t);
  return t.refused == n ? SLAB_OK : fail_transform(function, transforms, t.refused);
}

typedef struct transforms_changing {
  instance_group *to;
  const uint32_t *indices;
  const float *from;
} transforms_changing;

static void change_some(void *argument, size_t first, size_t end) {
  const transforms_changing *c = argument;
  for (size_t i = first; i < end; i++) {
    double value;
    instance_entry *to = &c->to->instances[c->indices != NULL ? c->indices[i] : i];
    (void)transform_refusal(c->from + 12 * i, to, &value);
  }
}

/* Where an index is there twice the last transform counts: a list's transforms are taken in its order. */
void instances_change(instance_group *group, const uint32_t *indices, const float *transforms, uint32_t n) {
  transforms_changing c = {group, indices, transforms};
  bool ascend = true;
  for (uint32_t i = 1; indices != NULL && i < n && ascend; i++) ascend = indices[i - 1] < indices[i];
  if (ascend)
    pool_loop(group->model->context->threads, n, INSTANCES_A_PIECE, change_some, &c);
  else
    change_some(&c, 0, n);
}

instance_group *instances_copy(const instance_group *from) {
  instance_group *made = instances_create(from->model, from->geometries, from->count, from->mask);
  if (made != NULL) memcpy(made->instances, from->instances, from->count * sizeof *made->instances);
  return made;
}

instance_group *instances_view(instance_group *of, instance_entry *instances) {
  instance_group *made = malloc(sizeof *made);
  if (made == NULL) return NULL;
  *made = *of;
  made->references = 1;
  made->instances = instances;
  made->of = of;
  return made;
}
