/* Sequences of calls on a scene with worlds. The bytes choose calls and arguments, in any order, valid or not. Each
 * call must return the status that its place in the sequence requires. Each result must equal the CPU reference's, must
 * not be wrong by the oracle, and must be that of the scene packed and unpacked, which no commit before has shaped. */
#include <stdio.h>
#include <stdlib.h>

#include "fuzz.h"
#include "fuzz_bytes.h"
#include "sets/answers.h"

enum { CALLS_MAX = 40, EACH_MAX = 4, BOXES_MAX = 3, RAYS = FUZZ_OWN_RAYS, WORLDS_MAX = 6 };

/* The geometry or the group that one call has added. */
typedef struct member {
  uint32_t id, count, worlds[EACH_MAX]; /* of boxes one world */
  bool is_group, removed;
} member;

typedef struct player {
  fuzz_bytes bytes;
  slab_context *context;
  slab_scene *model, *scene;
  member members[CALLS_MAX];
  uint32_t count, ids, worlds, seen; /* seen: worlds as of the last commit */
  bool committed;
  long done; /* calls that returned SLAB_OK */
} player;

static slab_status said(player *p, slab_status status) { return fuzz_said(&p->done, status); }

/* Mostly one that there is. */
static uint32_t read_world(player *p) { return fuzz_byte(&p->bytes) % (WORLDS_MAX + 2); }

/* The highest world that something belongs to. */
static uint32_t highest(const player *p) {
  uint32_t world = 0;
  for (uint32_t i = 0; i < p->count; i++)
    for (uint32_t k = 0; k < (p->members[i].is_group ? p->members[i].count : 1) && !p->members[i].removed; k++)
      if (p->members[i].worlds[k] > world) world = p->members[i].worlds[k];
  return world;
}

static void set_worlds(player *p) {
  const uint32_t worlds = fuzz_byte(&p->bytes) % (WORLDS_MAX + 1);
  const slab_status status = said(p, slab_scene_set_worlds(p->scene, worlds));
  claim(status == (worlds < highest(p) ? SLAB_INVALID_ARGUMENT : SLAB_OK));
  if (status == SLAB_OK) p->worlds = worlds;
}

static void add_boxes(player *p) {
  member m = {.id = p->ids, .count = fuzz_byte(&p->bytes) % (BOXES_MAX + 1), .worlds = {read_world(p)}};
  slab_box boxes[BOXES_MAX];
  uint32_t id = 12345;
  fuzz_numbers(&p->bytes, boxes[0].lower, 6 * (size_t)m.count);
  const slab_geometry_options options = {.skip_invalid = 1, .mask = fuzz_byte(&p->bytes) % 4, .world = m.worlds[0]};
  const slab_status status = said(p, slab_scene_add_boxes(p->scene, boxes, m.count, &options, &id));
  claim(status == (m.worlds[0] > p->worlds ? SLAB_INVALID_ARGUMENT : SLAB_OK));
  claim(id == (status == SLAB_OK ? p->ids : 12345));
  if (status != SLAB_OK) return;
  p->members[p->count++] = m;
  p->ids++;
}

static float read_place(player *p) { return ((float)fuzz_byte(&p->bytes) - 128.0f) * 0.03125f; }

/* Mostly at a place where instances are. */
static slab_ray read_ray(player *p) {
  slab_ray ray = fuzz_ray(&p->bytes);
  const bool aimed = fuzz_byte(&p->bytes) % 8 != 0;
  for (int k = 0; k < 3 && aimed; k++) ray.direction[k] = read_place(p) - ray.origin[k];
  return ray;
}

/* Transforms that are taken. */
static void read_transforms(player *p, float m[EACH_MAX][12], uint32_t n) {
  static const float scales[] = {1, 2, 0.5f, -1};
  for (uint32_t i = 0; i < n; i++) {
    const uint32_t turn = fuzz_byte(&p->bytes);
    for (uint32_t r = 0; r < 3; r++) {
      for (uint32_t k = 0; k < 3; k++) m[i][4 * r + k] = k == (r + turn) % 3 ? scales[turn / 4 % 4] : 0;
      m[i][4 * r + 3] = read_place(p);
    }
  }
}

static void add_instances(player *p) {
  member m = {.id = p->ids, .count = fuzz_byte(&p->bytes) % (EACH_MAX + 1), .is_group = true};
  float transforms[EACH_MAX][12];
  bool there = true;
  for (uint32_t i = 0; i < m.count; i++) {
    m.worlds[i] = read_world(p);
    there = there && m.worlds[i] <= p->worlds;
  }
  read_transforms(p, transforms, m.count);
  const slab_geometry_options options = {.mask = fuzz_byte(&p->bytes) % 4, .worlds = m.worlds};
  const slab_status status =
      said(p, slab_scene_add_instances(p->scene, p->model, transforms[0], m.count, &options, NULL));
  claim(status == (there ? SLAB_OK : SLAB_INVALID_ARGUMENT));
  if (status != SLAB_OK || m.count == 0) return; /* none take no id */
  p->members[p->count++] = m;
  p->ids += m.count;
}

static member *pick(player *p) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  return p->count > 0 ? &p->members[choice % p->count] : NULL;
}

/* All instances of a call, or some by index, which may be out of range or there twice. */
static void move(player *p) {
  const member *m = pick(p);
  const uint32_t how = fuzz_byte(&p->bytes), n = how % (EACH_MAX + 1);
  uint32_t indices[EACH_MAX];
  float transforms[EACH_MAX][12];
  bool there = true;
  read_transforms(p, transforms, EACH_MAX);
  for (uint32_t i = 0; i < n; i++) indices[i] = fuzz_byte(&p->bytes) % (EACH_MAX + 1);
  if (m == NULL) return;
  const bool is_there = m->is_group && !m->removed;
  if (how >= 128) {
    const slab_status all = slab_scene_update_instances(p->scene, m->id, transforms[0], m->count);
    claim(said(p, all) == (is_there ? SLAB_OK : SLAB_INVALID_ARGUMENT));
    return;
  }
  for (uint32_t i = 0; i < n; i++) there = there && indices[i] < m->count;
  const slab_status some = slab_scene_update_some_instances(p->scene, m->id, indices, transforms[0], n);
  claim(said(p, some) == (is_there && there ? SLAB_OK : SLAB_INVALID_ARGUMENT));
}

static void enable_or_remove(player *p) {
  member *m = pick(p);
  const uint32_t how = fuzz_byte(&p->bytes) % 4;
  if (m == NULL) return;
  const slab_status status =
      how == 0 ? slab_scene_remove(p->scene, m->id) : slab_scene_enable(p->scene, m->id, how > 1);
  claim(said(p, status) == (m->removed ? SLAB_INVALID_ARGUMENT : SLAB_OK));
  if (how == 0) m->removed = true;
}

static void commit(player *p) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  const slab_build_options options = {.tree = (slab_tree)(choice % 4), .update = (slab_update)(choice / 4 % 3)};
  claim(said(p, slab_scene_commit(p->scene, &options)) == SLAB_OK);
  p->committed = true;
  p->seen = p->worlds;
}

static void compare(player *p, slab_query query, const slab_ray *rays, const answers *a,
                    const slab_cast_options *options) {
  answers of_copy = {0};
  size_t first = 0;
  fuzz_judge(p->scene, query, rays, a, options);
  slab_scene *copy = fuzz_copy(&p->done, p->context, p->scene);
  claim(answers_cast(&of_copy, query, copy, rays, a->n, options) == SLAB_OK);
  claim(answers_differ(&of_copy, a, query, &first) == 0);
  slab_scene_destroy(copy);
  answers_free(&of_copy);
}

static void cast(player *p) {
  const uint32_t choice = fuzz_byte(&p->bytes), n = fuzz_byte(&p->bytes) % (RAYS + 1);
  const slab_query query = (slab_query)(choice % ANSWER_QUERIES);
  slab_ray rays[RAYS];
  uint32_t worlds[RAYS];
  slab_cast_options options = {.mask = choice / 8 % 4, .face_forward = choice >= 128, .worlds = worlds};
  fuzz_own own;
  answers a = {0};
  bool there = true;
  for (uint32_t i = 0; i < n; i++) {
    rays[i] = read_ray(p);
    worlds[i] = read_world(p);
    there = there && worlds[i] <= p->seen;
  }
  const bool taken = fuzz_own_read(&p->bytes, &own, p->scene, query, rays, n, &options) && there;
  const slab_status status = answers_cast(&a, query, p->scene, rays, n, &options);
  claim(!taken || status == (p->committed ? SLAB_OK : SLAB_INVALID_STATE));
  claim(taken || status == SLAB_INVALID_ARGUMENT || (!p->committed && status == SLAB_INVALID_STATE));
  if (status == SLAB_OK) {
    compare(p, query, rays, &a, &options);
    p->done++;
  }
  answers_free(&a);
}

static void play(player *p) {
  static void (*const calls[16])(player *) = {set_worlds, add_boxes, add_instances, add_instances,   move,   move,
                                              move,       move,      commit,        commit,          commit, cast,
                                              cast,       cast,      cast,          enable_or_remove};
  calls[fuzz_byte(&p->bytes) % 16](p);
}

long fuzz_one(const uint8_t *data, size_t size) {
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  player p = {.bytes = fuzz_begin(data, size), .context = fuzz_context(size > 0 ? data[0] / 16 : 0)};
  claim(slab_scene_create(p.context, &p.model) == SLAB_OK && slab_scene_create(p.context, &p.scene) == SLAB_OK);
  claim(slab_scene_add_boxes(p.model, &box, 1, NULL, NULL) == SLAB_OK && slab_scene_commit(p.model, NULL) == SLAB_OK);
  for (int calls = 0; p.bytes.at < p.bytes.end && calls < CALLS_MAX; calls++) play(&p);
  slab_scene_destroy(p.scene);
  slab_scene_destroy(p.model);
  return p.done;
}
