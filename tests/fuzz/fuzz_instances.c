/* Sequences of calls on nested scenes. The bytes select scenes, calls and arguments, in any order, valid or not. Each
 * call must return the status that its place in the sequence requires. Each result must equal the CPU reference's, must
 * not be wrong by the oracle, and must be that of the scene packed and unpacked. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "fuzz_bytes.h"
#include "sets/answers.h"

enum { SLOTS = 5, SCENES_MAX = 20, CALLS_MAX = 40, EACH_MAX = 4, SHAPES_MAX = 3, RAYS = 6, DEPTHS = 5 };

/* Instances that were added by one call. */
typedef struct group {
  uint32_t scene, id, count; /* scene: the model's number */
  int removed;
} group;

/* A scene, also one that only those still have whose model it is. */
typedef struct known {
  slab_scene *scene;
  int destroyed, committed, grown, is_model;
  uint32_t ids, depths, groups, set; /* ids: all that were given; set: bit k: scene k was its model at some time */
  group of[CALLS_MAX];
} known;

typedef struct player {
  fuzz_bytes bytes;
  slab_context *context;
  known scenes[SCENES_MAX];
  uint32_t count, slots[SLOTS];
  long done; /* calls that returned SLAB_OK */
} player;

/* ---- expectations ---- */

static slab_status said(player *p, slab_status status) { return fuzz_said(&p->done, status); }

static int contains(const player *p, uint32_t scene, uint32_t model) {
  const known *k = &p->scenes[scene];
  if (scene == model) return 1;
  for (uint32_t i = 0; i < k->groups; i++)
    if (!k->of[i].removed && contains(p, k->of[i].scene, model)) return 1;
  return 0;
}

/* Whether it did so at some time: casts may still read that. */
static int contained(const player *p, uint32_t scene, uint32_t model, uint32_t seen) {
  if (scene == model) return 1;
  if (seen >> scene & 1) return 0;
  for (uint32_t i = 0; i < p->count; i++)
    if (p->scenes[scene].set >> i & 1 && contained(p, i, model, seen | 1u << scene)) return 1;
  return 0;
}

static uint32_t depths_now(const player *p, const known *k) {
  uint32_t depths = 1;
  for (uint32_t i = 0; i < k->groups; i++) {
    const uint32_t of_model = p->scenes[k->of[i].scene].depths;
    if (!k->of[i].removed && of_model + 1 > depths) depths = of_model + 1;
  }
  return depths;
}

/* ---- calls ---- */

static known *pick(player *p, uint32_t *slot) {
  *slot = fuzz_byte(&p->bytes) % SLOTS;
  return &p->scenes[p->slots[*slot]];
}

/* Another scene takes a slot. The one before lives on in those that have it as a model. */
static void renew(player *p, uint32_t slot) {
  known *last = &p->scenes[p->slots[slot]];
  if (p->count == SCENES_MAX) return;
  slab_scene_destroy(last->scene);
  last->destroyed = 1;
  p->slots[slot] = p->count++;
  known *k = &p->scenes[p->slots[slot]];
  *k = (known){.destroyed = 0};
  claim(said(p, slab_scene_create(p->context, &k->scene)) == SLAB_OK);
}

static void add_shapes(player *p) {
  uint32_t slot, id = 12345;
  known *k = pick(p, &slot);
  const uint32_t choice = fuzz_byte(&p->bytes), n = choice / 4 % (SHAPES_MAX + 1);
  const slab_geometry_options options = {.mask = choice / 32, .skip_invalid = 1};
  float values[9 * SHAPES_MAX];
  slab_status status;
  fuzz_numbers(&p->bytes, values, 9 * (size_t)n);
  const slab_mesh mesh = {.vertices = values, .vertex_count = 3 * n, .triangle_count = n};
  if (choice % 4 == 0)
    status = slab_scene_add_spheres(k->scene, (const slab_sphere *)(const void *)values, n, &options, &id);
  else if (choice % 4 == 1)
    status = slab_scene_add_planes(k->scene, (const slab_plane *)(const void *)values, n, &options, &id);
  else if (choice % 4 == 2)
    status = slab_scene_add_boxes(k->scene, (const slab_box *)(const void *)values, n, &options, &id);
  else
    status = slab_scene_add_mesh(k->scene, &mesh, &options, &id);
  claim(said(p, status) == (k->is_model ? SLAB_INVALID_STATE : SLAB_OK));
  claim(id == (status == SLAB_OK ? k->ids : 12345));
  if (status != SLAB_OK) return;
  k->ids++;
  k->grown = 1;
}

/* Transforms that a scene accepts: axes are exchanged, mirrored, scaled and moved. Else any numbers: returns 0. */
static int read_transforms(player *p, float m[EACH_MAX][12], uint32_t n) {
  static const float scales[] = {1, 2, 0.5f, -1, 3, 0.1f, -0.7f, 16};
  const int sound = fuzz_byte(&p->bytes) % 4 != 0;
  for (uint32_t i = 0; i < n; i++) {
    fuzz_numbers(&p->bytes, m[i], sound ? 0 : 12);
    if (!sound) continue;
    const uint32_t turn = fuzz_byte(&p->bytes);
    memset(m[i], 0, sizeof m[i]);
    for (uint32_t r = 0; r < 3; r++) {
      m[i][4 * r + (r + turn) % 3] = scales[fuzz_byte(&p->bytes) % 8];
      m[i][4 * r + 3] = ((float)fuzz_byte(&p->bytes) - 128.0f) * 0.125f;
    }
    if (turn % 8 == 7) m[i][(1 + turn) % 3] = 0.5f;
  }
  return sound;
}

/* Whether transforms that are sound by themselves bend too far in each other. */
static int bends_too_far(slab_status status) {
  return status != SLAB_OK && strstr(slab_message(), ", with that of instance ") != NULL;
}

static void add_instances(player *p) {
  uint32_t slot, other, id = 12345;
  known *k = pick(p, &slot), *model = pick(p, &other);
  const uint32_t n = fuzz_byte(&p->bytes) % (EACH_MAX + 1);
  const slab_geometry_options options = {.mask = fuzz_byte(&p->bytes) % 4};
  float m[EACH_MAX][12];
  const int sound = read_transforms(p, m, n);
  const uint32_t to = p->slots[slot], of = p->slots[other];
  if (k->groups == CALLS_MAX) return;
  const slab_status status = said(p, slab_scene_add_instances(k->scene, model->scene, m[0], n, &options, &id));
  if (contains(p, of, to))
    claim(status == SLAB_INVALID_ARGUMENT);
  else if (contained(p, of, to, 0))
    claim(status == SLAB_INVALID_ARGUMENT || status == SLAB_INVALID_STATE || status == SLAB_OK);
  else if (!model->committed || model->grown || k->is_model)
    claim(status == SLAB_INVALID_STATE || (status == SLAB_INVALID_ARGUMENT && model->depths == DEPTHS));
  else if (model->depths == DEPTHS)
    claim(status == SLAB_INVALID_ARGUMENT);
  else
    claim(status == SLAB_OK ||
          (status == SLAB_INVALID_ARGUMENT && (!sound || (model->depths > 1 && bends_too_far(status)))));
  claim(id == (status == SLAB_OK ? k->ids : 12345));
  if (status != SLAB_OK) return;
  k->of[k->groups++] = (group){of, k->ids, n, 0};
  k->ids += n * model->ids;
  k->set |= 1u << of;
  k->grown = model->is_model = 1;
}

static group *pick_group(player *p, known *k) {
  const uint32_t choice = fuzz_byte(&p->bytes);
  return k->groups > 0 ? &k->of[choice % k->groups] : NULL;
}

/* Whether the geometry of a group can be named: where it takes no ids, others have its id. */
static int has_id(const known *k, const group *g) { return g != NULL && !g->removed && g->count > 0 && g->id < k->ids; }

static void update_instances(player *p) {
  uint32_t slot;
  known *k = pick(p, &slot);
  const group *g = pick_group(p, k);
  const uint32_t n = g == NULL || fuzz_byte(&p->bytes) % 8 == 0 ? fuzz_byte(&p->bytes) % (EACH_MAX + 1) : g->count;
  float m[EACH_MAX][12];
  const int sound = read_transforms(p, m, n);
  const slab_status status = said(p, slab_scene_update_instances(k->scene, g == NULL ? 0 : g->id, m[0], n));
  claim(status == SLAB_OK || status == SLAB_INVALID_ARGUMENT);
  if (!has_id(k, g) || p->scenes[g->scene].ids == 0) return;
  claim(status == (n == g->count && sound ? SLAB_OK : SLAB_INVALID_ARGUMENT) || !sound || bends_too_far(status));
}

static void enable_or_remove(player *p) {
  uint32_t slot;
  known *k = pick(p, &slot);
  group *g = pick_group(p, k);
  const uint32_t how = fuzz_byte(&p->bytes) % 4;
  if (!has_id(k, g) || p->scenes[g->scene].ids == 0) return;
  const slab_status status =
      how == 0 ? slab_scene_remove(k->scene, g->id) : slab_scene_enable(k->scene, g->id, how > 1);
  claim(said(p, status) == SLAB_OK);
  if (how == 0) g->removed = 1;
}

static void commit(player *p) {
  uint32_t slot;
  known *k = pick(p, &slot);
  const uint32_t choice = fuzz_byte(&p->bytes);
  const slab_build_options options = {.tree = (slab_tree)(choice % 4), .update = (slab_update)(choice / 4 % 3)};
  const uint32_t depths = depths_now(p, k);
  const slab_status status = said(p, slab_scene_commit(k->scene, &options));
  claim(status == (depths > DEPTHS || bends_too_far(status) ? SLAB_INVALID_STATE : SLAB_OK));
  if (status != SLAB_OK) return;
  k->committed = 1;
  k->grown = 0;
  k->depths = depths;
}

static void cast(player *p) {
  uint32_t slot;
  const known *k = pick(p, &slot);
  const uint32_t choice = fuzz_byte(&p->bytes), n = fuzz_byte(&p->bytes) % (RAYS + 1);
  const slab_query query = (slab_query)(choice % ANSWER_QUERIES);
  slab_ray rays[RAYS];
  slab_primitive_id skips[RAYS];
  slab_cast_options options = {.mask = choice / 8 % 4,
                               .cull = (slab_cull)(choice / 32 % 3),
                               .skip = choice >= 192 ? skips : NULL,
                               .face_forward = choice >= 128};
  fuzz_own own;
  answers a = {0}, of_copy = {0};
  size_t first = 0;
  for (uint32_t i = 0; i < n; i++) {
    rays[i] = fuzz_ray(&p->bytes);
    skips[i] = (slab_primitive_id){choice % 3, i};
  }
  const bool taken = fuzz_own_read(&p->bytes, &own, k->scene, query, rays, n, &options);
  const slab_status status = answers_cast(&a, query, k->scene, rays, n, &options);
  claim(!taken || status == (k->committed ? SLAB_OK : SLAB_INVALID_STATE));
  claim(taken || status == SLAB_INVALID_ARGUMENT || (!k->committed && status == SLAB_INVALID_STATE));
  if (status == SLAB_OK) {
    fuzz_judge(k->scene, query, rays, &a, &options);
    p->done++;
    slab_scene *copy = fuzz_copy(&p->done, p->context, k->scene);
    claim(answers_cast(&of_copy, query, copy, rays, n, &options) == SLAB_OK);
    claim(answers_differ(&of_copy, &a, query, &first) == 0);
    fuzz_points(k->scene, copy, rays, n, options.mask, true);
    slab_scene_destroy(copy);
    p->done++;
  }
  answers_free(&of_copy);
  answers_free(&a);
}

static void play(player *p) {
  switch (fuzz_byte(&p->bytes) % 16) {
    case 0:
      renew(p, fuzz_byte(&p->bytes) % SLOTS);
      break;
    case 1:
    case 2:
    case 3:
      add_shapes(p);
      break;
    case 4:
    case 5:
    case 6:
      add_instances(p);
      break;
    case 7:
      update_instances(p);
      break;
    case 8:
      enable_or_remove(p);
      break;
    case 9:
    case 10:
    case 11:
      commit(p);
      break;
    default:
      cast(p);
  }
}

/* The bits of the first byte that its call does not read choose the context. */
long fuzz_one(const uint8_t *data, size_t size) {
  player p = {.bytes = fuzz_begin(data, size), .context = fuzz_context(size > 0 ? data[0] / 16 : 0)};
  p.count = SLOTS;
  for (uint32_t i = 0; i < SLOTS; i++) {
    p.slots[i] = i;
    claim(said(&p, slab_scene_create(p.context, &p.scenes[i].scene)) == SLAB_OK);
  }
  for (int calls = 0; p.bytes.at < p.bytes.end && calls < CALLS_MAX; calls++) play(&p);
  for (uint32_t i = 0; i < p.count; i++)
    if (!p.scenes[i].destroyed) slab_scene_destroy(p.scenes[i].scene);
  return p.done;
}
