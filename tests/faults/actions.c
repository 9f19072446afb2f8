/* Every call of slabcast.h, as an action that a fault can hit. The calls of slabcast_cl.h are in actions_cl.c. */
#include <stdlib.h>
#include <string.h>

#include "actions.h"
#include "scene.h"
#include "shapes.def"

enum { LAUNCH = 64, THREADS = 3, CHECKED = 24, HITS = WORLD_OUTCOME / 32 - 64 };

/* ---- state before the call ---------------------------------------------------- */

void begin_nothing(world *w) { (void)w; }

void begin_context(world *w) {
  const setting *with = &w->action->with;
  const slab_context_options options = {.launch_rays = with->whole ? 0 : LAUNCH,
                                        .threads = THREADS,
                                        .copy = with->copy,
                                        .device = with->devices,
                                        .traversal = with->traversal};
  assert_ok(slab_context_create(&options, &w->context));
}

static void begin_scene(world *w) {
  begin_context(w);
  assert_ok(slab_scene_create(w->context, &w->scene));
}

/* The table of geometries is full, so that adding one more must grow it. */
static void begin_full_table(world *w) {
  begin_scene(w);
  for (int i = 0; i < 16; i++) assert_ok(slab_scene_add_boxes(w->scene, NULL, 0, NULL, NULL));
}

static void begin_filled(world *w) {
  begin_scene(w);
  scene_fill(w->scene, w->action->with.boxes);
}

static void begin_committed(world *w) {
  const slab_build_options options = {.tree = w->action->with.tree};
  begin_filled(w);
  assert_ok(slab_scene_commit(w->scene, &options));
}

/* A committed scene, refitted where the setting says so, with a change that is not committed yet. */
static void begin_changed(world *w) {
  const slab_build_options refit = {.tree = w->action->with.tree, .update = SLAB_UPDATE_REFIT};
  begin_committed(w);
  for (int i = 0; i <= w->action->with.again; i++) {
    if (i > 0) assert_ok(slab_scene_commit(w->scene, &refit));
    assert_ok(scene_change(w->scene, SLAB_TRIANGLE, w->action->with.boxes));
    assert_ok(slab_scene_enable(w->scene, SLAB_BOX, i));
  }
}

/* A committed scene, which becomes the model of another one. */
static void begin_model(world *w) {
  begin_committed(w);
  w->model = w->scene;
  w->scene = NULL;
  assert_ok(slab_scene_create(w->context, &w->scene));
}

static const float placed[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {0, -2, 0, 3, 2, 0, 0, 0, 0, 0, 2, 1}};

static void begin_instances(world *w) {
  begin_model(w);
  assert_ok(slab_scene_add_instances(w->scene, w->model, placed[0], 2, NULL, NULL));
}

/* In two worlds, with a geometry of all and one of the second. */
static void begin_worlds(world *w) {
  static const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  const uint32_t each[2] = {1, 2};
  begin_model(w);
  assert_ok(slab_scene_set_worlds(w->scene, 2));
  assert_ok(slab_scene_add_instances(w->scene, w->model, placed[0], 2, &(slab_geometry_options){.worlds = each}, NULL));
  assert_ok(slab_scene_add_boxes(w->scene, &box, 1, NULL, NULL));
  assert_ok(slab_scene_add_boxes(w->scene, &box, 1, &(slab_geometry_options){.world = 2}, NULL));
}

static void begin_committed_worlds(world *w) {
  begin_worlds(w);
  assert_ok(slab_scene_commit(w->scene, NULL));
}

/* The next commit is a frame, in new arrays or, where the setting says so, in those of the one before. */
static void begin_frame(world *w) {
  const uint32_t second = 1;
  begin_committed_worlds(w);
  for (int i = 0; i <= 2 * w->action->with.again; i++) {
    if (i > 0) assert_ok(slab_scene_commit(w->scene, NULL));
    assert_ok(slab_scene_update_some_instances(w->scene, 0, &second, placed[i % 2], 1));
  }
}

/* Instances of two calls, and the geometries that these gave. */
static uint32_t both[2];

static void begin_both_instances(world *w) {
  begin_instances(w);
  assert_ok(slab_scene_add_instances(w->scene, w->model, placed[0], 2, NULL, &both[1]));
}

static void begin_committed_instances(world *w) {
  begin_instances(w);
  assert_ok(slab_scene_commit(w->scene, NULL));
}

/* New transforms, also for a refit that writes the arrays of an older one again, where the setting says so. */
static void begin_moved_instances(world *w) {
  const slab_build_options refit = {.update = SLAB_UPDATE_REFIT};
  begin_committed_instances(w);
  for (int i = 0; i <= 2 * w->action->with.again; i++) {
    if (i > 0) assert_ok(slab_scene_commit(w->scene, &refit));
    assert_ok(slab_scene_update_instances(w->scene, 0, placed[0], 2));
  }
}

static slab_cast_options options_of(world *w, uint64_t *invalid) {
  slab_cast_options options = {.skip = w->skips, .invalid = invalid};
  if (!w->action->with.own) return options;
  options.masks = w->masks;
  if (w->action->with.query != SLAB_INTERVAL) options.after = w->after;
  return options;
}

static size_t rays_of(const world *w) {
  return w->action->with.empty ? 0 : w->action->with.many ? WORLD_RAYS_MOST : WORLD_RAYS;
}

/* Casts into `results`, an array of the query's result type. */
static slab_status cast_fixed(world *w, void *results, const slab_cast_options *options) {
  const size_t n = rays_of(w);
  switch (w->action->with.query) {
    case SLAB_CLOSEST:
      return slab_closest(w->scene, w->rays, n, results, options);
    case SLAB_DISTANCE:
      return slab_distance(w->scene, w->rays, n, results, options);
    case SLAB_ANY:
      return slab_any(w->scene, w->rays, n, results, options);
    case SLAB_COUNT:
      return slab_count(w->scene, w->rays, n, results, options);
    case SLAB_NEAREST:
      return slab_nearest(w->scene, w->rays, n, results, options);
    case SLAB_INTERVAL:
    case SLAB_ALL:
      break;
  }
  return slab_interval_of(w->scene, w->rays, n, results, options);
}

static void begin_results(world *w) {
  begin_committed(w);
  w->results = malloc(HITS * sizeof(slab_hit));
  assert_non_null(w->results);
  const slab_cast_options options = options_of(w, NULL);
  if (w->action->with.query == SLAB_ALL)
    assert_ok(slab_all(w->scene, w->rays, WORLD_RAYS, w->offsets, (slab_hit *)w->results, HITS, NULL, &options));
  else
    assert_ok(cast_fixed(w, w->results, &options));
}

void world_begin(world *w, const action *a) {
  memset(w, 0, sizeof *w);
  w->action = a;
  scene_rays(w->rays, w->skips, WORLD_RAYS_MOST);
  scene_own(w->masks, w->after, WORLD_RAYS_MOST);
  a->begin(w);
}

void world_end(world *w) {
  slab_scene_destroy(w->scene);
  slab_scene_destroy(w->model);
  slab_context_destroy(w->context);
  free(w->results);
  world_release_opencl(w);
}

/* ---- devices, contexts, scenes ------------------------------------------------- */

typedef struct devices_outcome {
  size_t count;
  slab_device_info list[4];
} devices_outcome;

static slab_status run_devices(world *w) {
  devices_outcome *to = (void *)w->outcome;
  return slab_devices(to->list, 4, &to->count);
}

slab_status told(world *w, slab_status status) {
  made *to = (void *)w->outcome;
  slab_device_info info;
  if (status != SLAB_OK) return status;
  assert_ok(slab_context_device(to->context, &info));
  to->lane_width = info.lane_width;
  return status;
}

slab_status run_context_create(world *w) {
  const slab_context_options options = {.device = w->action->with.devices};
  return told(w, slab_context_create(&options, &((made *)(void *)w->outcome)->context));
}

static slab_status run_context_device(world *w) { return slab_context_device(w->context, (void *)w->outcome); }

static slab_status run_context_devices(world *w) {
  devices_outcome *to = (void *)w->outcome;
  return slab_context_devices(w->context, to->list, 4, &to->count);
}

static slab_status run_host_alloc(world *w) { return slab_host_alloc(w->context, 4096, (void **)(void *)w->outcome); }

static void undo_host_alloc(world *w) {
  void **memory = (void *)w->outcome;
  memset(*memory, 1, 4096);
  assert_ok(slab_host_free(w->context, *memory));
  *memory = NULL;
}

static slab_status run_scene_create(world *w) {
  return slab_scene_create(w->context, &((made *)(void *)w->outcome)->scene);
}

/* Packs the committed scene. */
static void pack_scene(world *w) {
  assert_ok(slab_scene_pack(w->scene, NULL, 0, &w->packed));
  w->results = malloc(w->packed);
  assert_non_null(w->results);
  assert_ok(slab_scene_pack(w->scene, w->results, w->packed, &w->packed));
}

static void begin_packed(world *w) {
  begin_committed(w);
  pack_scene(w);
}

static void begin_packed_instances(world *w) {
  begin_committed_instances(w);
  pack_scene(w);
}

static slab_status run_pack(world *w) {
  size_t size = 0;
  return slab_scene_pack(w->scene, w->outcome, sizeof w->outcome, &size);
}

static slab_status run_unpack(world *w) {
  return slab_scene_unpack(w->context, w->results, w->packed, &((made *)(void *)w->outcome)->scene);
}

void undo_made(world *w) {
  made *to = (void *)w->outcome;
  if (w->action->run == run_scene_create || w->action->run == run_unpack)
    slab_scene_destroy(to->scene);
  else
    slab_context_destroy(to->context);
  to->scene = NULL;
  to->context = NULL;
}

static slab_status run_add(world *w) {
  return scene_add(w->scene, w->action->with.shape, 0, (uint32_t *)(void *)w->outcome);
}

static slab_status run_update(world *w) { return scene_change(w->scene, w->action->with.shape, 0); }

/* Shapes, or vertices, that are each somewhere within the scene. */
static slab_status update_some(world *w, slab_shape kind, float by) {
  const slab_plane plane = {{0, 0, 1}, by};
  const slab_sphere sphere = {{by, 0, 0}, 1};
  const slab_box box = {{by, by, by}, {by + 1, by + 1, by + 1}};
  const slab_obb obb = {{by, 0, 0}, {1, 1, 1}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
  const float vertex[3] = {by, by, 1};
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_update_some_planes(w->scene, kind, 0, &plane, 1);
    case SLAB_SPHERE:
      return slab_scene_update_some_spheres(w->scene, kind, 0, &sphere, 1);
    case SLAB_BOX:
      return slab_scene_update_some_boxes(w->scene, kind, 0, &box, 1);
    case SLAB_OBB:
      return slab_scene_update_some_obbs(w->scene, kind, 0, &obb, 1);
    case SLAB_TRIANGLE:
      break;
  }
  return slab_scene_update_some_vertices(w->scene, kind, 0, vertex, 1);
}

static slab_status run_update_some(world *w) { return update_some(w, w->action->with.shape, 0.5f); }

/* Ranges have changed since the last commit, in new arrays or, where the setting says so, in those of the one before.
 */
static void begin_moved(world *w) {
  begin_committed(w);
  for (int i = 0; i <= 3 * w->action->with.again; i++) {
    if (i > 0) assert_ok(slab_scene_commit(w->scene, NULL));
    assert_ok(update_some(w, SLAB_TRIANGLE, 0.1f * (float)i));
    assert_ok(update_some(w, SLAB_BOX, 0.1f * (float)i));
  }
}

static slab_status run_add_instances(world *w) {
  return slab_scene_add_instances(w->scene, w->model, placed[0], 2, NULL, NULL);
}

static slab_status run_update_instances(world *w) { return slab_scene_update_instances(w->scene, 0, placed[0], 2); }

static slab_status run_update_some_instances(world *w) {
  const uint32_t second = 1;
  return slab_scene_update_some_instances(w->scene, 0, &second, placed[0], 1);
}

static slab_status run_set_worlds(world *w) { return slab_scene_set_worlds(w->scene, 3); }

static slab_status run_move_instances(world *w) {
  float all[4][12];
  for (int i = 0; i < 4; i++) memcpy(all[i], placed[i % 2], sizeof all[i]);
  return slab_scene_move_instances(w->scene, both, 2, all[0], 4);
}

/* ---- in double ---- */

static const slab_plane64 plane64 = {{0, 0, 1}, 5};
static const slab_sphere64 sphere64 = {{5e6, 0, 0}, 1};
static const slab_box64 box64 = {{5e6, 0, 0}, {5e6 + 1, 1, 1}};
static const slab_obb64 obb64 = {{5e6, 0, 0}, {1, 1, 1}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}};
static const double vertices64[9] = {5e6, 0, 0, 5e6 + 1, 0, 0, 5e6, 1, 0};
static const slab_mesh mesh64 = {.vertices64 = vertices64, .vertex_count = 3, .triangle_count = 1};
static const double placed64[2][12] = {{1, 0, 0, 5e6, 0, 1, 0, 0, 0, 0, 1, 0}, {0, -2, 0, 3, 2, 0, 0, 0, 0, 0, 2, 1}};

static slab_status add64(slab_scene *scene, slab_shape kind) {
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_add_planes64(scene, &plane64, 1, NULL, NULL);
    case SLAB_SPHERE:
      return slab_scene_add_spheres64(scene, &sphere64, 1, NULL, NULL);
    case SLAB_BOX:
      return slab_scene_add_boxes64(scene, &box64, 1, NULL, NULL);
    case SLAB_OBB:
      return slab_scene_add_obbs64(scene, &obb64, 1, NULL, NULL);
    case SLAB_TRIANGLE:
      break;
  }
  return slab_scene_add_mesh(scene, &mesh64, NULL, NULL);
}

/* Geometry of each kind, which waits for its origin. */
static void begin_far(world *w) {
  begin_scene(w);
  for (int kind = 0; kind < SLAB_SHAPE_COUNT; kind++) assert_ok(add64(w->scene, (slab_shape)kind));
}

static void begin_committed_far(world *w) {
  begin_far(w);
  assert_ok(slab_scene_commit(w->scene, NULL));
}

static void begin_model_far(world *w) {
  begin_committed_far(w);
  w->model = w->scene;
  w->scene = NULL;
  assert_ok(slab_scene_create(w->context, &w->scene));
}

static void begin_instances_far(world *w) {
  begin_model_far(w);
  assert_ok(slab_scene_add_instances64(w->scene, w->model, placed64[0], 2, NULL, NULL));
  assert_ok(slab_scene_add_instances(w->scene, w->model, placed[0], 2, NULL, &both[1]));
}

static slab_status run_origin(world *w) { return slab_scene_origin(w->scene, vertices64); }

static slab_status run_add64(world *w) { return add64(w->scene, w->action->with.shape); }

static slab_status run_update64(world *w) {
  const slab_shape kind = w->action->with.shape;
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_update_planes64(w->scene, kind, &plane64, 1);
    case SLAB_SPHERE:
      return slab_scene_update_spheres64(w->scene, kind, &sphere64, 1);
    case SLAB_BOX:
      return slab_scene_update_boxes64(w->scene, kind, &box64, 1);
    case SLAB_OBB:
      return slab_scene_update_obbs64(w->scene, kind, &obb64, 1);
    case SLAB_TRIANGLE:
      break;
  }
  return slab_scene_update_mesh(w->scene, kind, &mesh64);
}

static slab_status run_update_some64(world *w) {
  const slab_shape kind = w->action->with.shape;
  switch (kind) {
    case SLAB_PLANE:
      return slab_scene_update_some_planes64(w->scene, kind, 0, &plane64, 1);
    case SLAB_SPHERE:
      return slab_scene_update_some_spheres64(w->scene, kind, 0, &sphere64, 1);
    case SLAB_BOX:
      return slab_scene_update_some_boxes64(w->scene, kind, 0, &box64, 1);
    case SLAB_OBB:
      return slab_scene_update_some_obbs64(w->scene, kind, 0, &obb64, 1);
    case SLAB_TRIANGLE:
      break;
  }
  return slab_scene_update_some_vertices64(w->scene, kind, 0, vertices64 + 3, 2);
}

static slab_status run_add_instances64(world *w) {
  return slab_scene_add_instances64(w->scene, w->model, placed64[0], 2, NULL, NULL);
}

static slab_status run_update_instances64(world *w) {
  return slab_scene_update_instances64(w->scene, 0, placed64[0], 2);
}

static slab_status run_update_some_instances64(world *w) {
  const uint32_t second = 1;
  return slab_scene_update_some_instances64(w->scene, 0, &second, placed64[0], 1);
}

static slab_status run_move_instances64(world *w) {
  double all[4][12];
  for (int i = 0; i < 4; i++) memcpy(all[i], placed64[i % 2], sizeof all[i]);
  return slab_scene_move_instances64(w->scene, both, 2, all[0], 4);
}

static slab_status run_points64(world *w) {
  static const double points[6] = {5e6, 0.5, 4, 5e6 + 1, 2, -3};
  void *results = w->outcome;
  switch (w->action->with.query) {
    case SLAB_DISTANCE:
      return slab_closest_distances64(w->scene, points, 2, results, NULL);
    case SLAB_ANY:
      return slab_points_within64(w->scene, points, 2, results, NULL);
    case SLAB_COUNT:
      return slab_winding64(w->scene, points, 2, results, NULL);
    case SLAB_INTERVAL:
      return slab_signed_distances64(w->scene, points, 2, results, NULL);
    case SLAB_ALL:
      return slab_winding_numbers64(w->scene, points, 2, results, NULL);
    default:
      return slab_closest_points64(w->scene, points, 2, results, NULL);
  }
}

static slab_status run_check_points64(world *w) {
  static const double points[6] = {5e6, 0.5, 4, 5e6 + 1, 2, -3};
  static const float distances[2] = {4, 3};
  return slab_check_points64(w->scene, SLAB_CLOSEST_DISTANCES, points, 2, distances, NULL, (void *)w->outcome);
}

/* Rays of doubles: a result each, or lists. */
static slab_status run_cast64(world *w) {
  slab_ray64 rays[8];
  for (int i = 0; i < 8; i++) rays[i] = (slab_ray64){{5e6 + 0.1 * i, 0.25, 9}, 0, {0, 0, -1}, INFINITY};
  const slab_source source = {.rays64 = rays, .n = 8};
  const bool lists = w->action->with.query == SLAB_ALL;
  slab_results results = {.memory = w->outcome + 128,
                          .offsets = lists ? (uint64_t *)(void *)w->outcome : NULL,
                          .capacity = lists ? HITS : 0};
  return slab_cast(w->scene, w->action->with.query, &source, &results, NULL);
}

static slab_status run_enable(world *w) { return slab_scene_enable(w->scene, SLAB_BOX, 0); }

static slab_status run_remove(world *w) { return slab_scene_remove(w->scene, SLAB_BOX); }

slab_status run_commit(world *w) {
  const slab_build_options options = {.tree = w->action->with.tree, .update = w->action->with.update};
  return slab_scene_commit(w->scene, &options);
}

static slab_status run_paths(world *w) {
  const uint32_t ids[2] = {1, SLAB_MISS};
  return slab_scene_paths(w->scene, ids, 2, (void *)w->outcome);
}

static slab_status run_path_ids(world *w) {
  const slab_path path = {.geometry = 2, .levels = 1, .index = {1}};
  return slab_scene_path_ids(w->scene, &path, 1, (void *)w->outcome);
}

static slab_status run_scene_info(world *w) { return slab_scene_info(w->scene, (void *)w->outcome); }

/* ---- casts ----------------------------------------------------------------------- */

typedef struct cast_outcome {
  uint64_t invalid, required, offsets[WORLD_RAYS + 1];
  _Alignas(64) unsigned char results[HITS * sizeof(slab_hit)];
} cast_outcome;
_Static_assert(sizeof(cast_outcome) <= WORLD_OUTCOME, "an outcome holds a cast's results");

static slab_status run_fixed(world *w) {
  cast_outcome *to = (void *)w->outcome;
  const slab_cast_options options = options_of(w, &to->invalid);
  return cast_fixed(w, to->results, &options);
}

static slab_status run_all(world *w) {
  cast_outcome *to = (void *)w->outcome;
  const slab_cast_options options = options_of(w, &to->invalid);
  return slab_all(w->scene, w->rays, WORLD_RAYS, to->offsets, (slab_hit *)(void *)to->results,
                  w->action->with.required_only ? 0 : HITS, &to->required, &options);
}

static slab_status run_pairs(world *w) {
  unsigned char shapes[WORLD_RAYS_MOST * sizeof(slab_box)];
  scene_shapes(w->action->with.shape, rays_of(w), shapes);
  return slab_pairs(w->context, w->action->with.shape, w->rays, shapes, rays_of(w), (void *)w->outcome);
}

/* The tables are the world's rays. many: on several threads. */
static slab_status run_rays_write(world *w) {
  enum { MADE = 10000 };
  static slab_ray rays[MADE];
  const size_t n = w->action->with.many ? MADE : 10;
  const float *table = (const float *)(const void *)w->rays;
  slab_rays set = slab_rays_directions(table, 16, table + 2, MADE / 16);
  set.normals = table + 4;
  const slab_status status = slab_rays_write(w->context, &set, 0, n, rays);
  for (size_t i = 0; status == SLAB_OK && i < n; i++)
    ((uint32_t *)(void *)w->outcome)[i % 8] ^= ((const uint32_t *)&rays[i])[i % 8];
  return status;
}

static slab_status run_check(world *w) {
  const slab_cast_options options = options_of(w, NULL);
  return slab_check(w->scene, w->action->with.query, w->rays, w->action->with.many ? WORLD_RAYS_MOST : CHECKED,
                    w->results, w->action->with.query == SLAB_ALL ? w->offsets : NULL, &options, (void *)w->outcome);
}

/* The answers are those of other rays: all are compared, and the report says so. Rays of a set are made first. */
static slab_status run_check_cast(world *w) {
  static slab_ray64 rays64[CHECKED];
  const float *table = (const float *)(const void *)w->rays;
  const slab_rays set = slab_rays_directions(table, 4, table + 2, CHECKED / 4);
  for (size_t i = 0; i < CHECKED; i++) {
    const slab_ray *r = &w->rays[i];
    rays64[i] = (slab_ray64){.t_min = r->t_min, .t_max = r->t_max};
    for (int k = 0; k < 3; k++) {
      rays64[i].origin[k] = r->origin[k];
      rays64[i].direction[k] = r->direction[k];
    }
  }
  const bool of_set = w->action->with.many != 0;
  const slab_source source = {.set = of_set ? &set : NULL, .rays64 = of_set ? NULL : rays64, .n = CHECKED};
  const slab_results results = {.memory = w->results, .offsets = w->offsets};
  return slab_check_cast(w->scene, w->action->with.query, &source, &results, NULL, (void *)w->outcome);
}

/* Enough for several threads. */
static slab_status run_segments(world *w) {
  enum { SEGMENTS = 40000 };
  static float from[3 * SEGMENTS];
  static slab_ray rays[SEGMENTS];
  for (size_t i = 0; i < 3 * (size_t)SEGMENTS; i++) from[i] = 0.1f * (float)i;
  const slab_status status = slab_segments(from, 12, from + 3, 0, SEGMENTS, rays);
  for (size_t i = 0; i < SEGMENTS; i++) ((uint32_t *)(void *)w->outcome)[i % 8] ^= ((const uint32_t *)&rays[i])[i % 8];
  return status;
}

/* From a set: its tables are the world's rays. */
static slab_status run_cast_set(world *w) {
  cast_outcome *to = (void *)w->outcome;
  const float *tables = (const float *)(const void *)w->rays;
  const slab_rays set = slab_rays_pairs(tables, 20, tables + 5, 5);
  const slab_source source = {.set = &set, .n = WORLD_RAYS};
  const slab_cast_options options = options_of(w, &to->invalid);
  slab_results results = {.memory = to->results, .offsets = to->offsets, .capacity = HITS};
  const slab_status status = slab_cast(w->scene, w->action->with.query, &source, &results, &options);
  to->required = results.required;
  return status;
}

/* Sums of a query, with weights where t are summed too. */
static slab_status run_cast_sums(world *w) {
  cast_outcome *to = (void *)w->outcome;
  const float *tables = (const float *)(const void *)w->rays;
  const slab_query query = w->action->with.query;
  const float weights[5] = {0.5f, 1.0f, 2.0f, 0.0f, 0.25f};
  const int many = w->action->with.many; /* rows that are cast in an order */
  const slab_rays set = many ? slab_rays_pairs(tables, 8, tables + 5, 64) : slab_rays_pairs(tables, 20, tables + 5, 5);
  const slab_source source = {.set = &set, .n = (size_t)set.rows * set.columns};
  const slab_cast_options options = options_of(w, &to->invalid);
  slab_results results = {.type = SLAB_RESULT_SUMS,
                          .memory = to->results,
                          .stride = query == SLAB_ANY ? 0 : 40,
                          .weights = query == SLAB_ANY ? NULL : weights};
  return slab_cast(w->scene, query, &source, &results, &options);
}

/* Results that stand apart. */
static slab_status run_cast_apart(world *w) {
  cast_outcome *to = (void *)w->outcome;
  const slab_source source = {.rays = w->rays, .n = WORLD_RAYS};
  const slab_cast_options options = options_of(w, &to->invalid);
  slab_results results = {.memory = to->results, .stride = 48};
  return slab_cast(w->scene, w->action->with.query, &source, &results, &options);
}

/* Points: numbers of the world's rays. Many are put in order first. Distances by SLAB_DISTANCE, within a radius by
 * SLAB_ANY, winding by SLAB_COUNT, signed distances by SLAB_INTERVAL. */
static slab_status run_points(world *w) {
  enum { MANY = 2000 };
  static float points[3 * MANY];
  cast_outcome *to = (void *)w->outcome;
  const float *numbers = (const float *)(const void *)w->rays;
  const size_t n = w->action->with.many ? MANY : WORLD_RAYS;
  for (size_t i = 0; i < 3 * n; i++) points[i] = numbers[i * 7 % (8 * WORLD_RAYS)];
  const slab_query query = w->action->with.query;
  const slab_point_options options = {.masks = w->action->with.own ? w->masks : NULL,
                                      .radius = query == SLAB_ANY ? 1.0f : 0.0f,
                                      .invalid = &to->invalid};
  if (query == SLAB_DISTANCE) return slab_closest_distances(w->scene, points, n, (void *)to->results, &options);
  if (query == SLAB_ANY) return slab_points_within(w->scene, points, n, (void *)to->results, &options);
  if (query == SLAB_COUNT) return slab_winding(w->scene, points, n, (void *)to->results, &options);
  if (query == SLAB_ALL) return slab_winding_numbers(w->scene, points, n, (void *)to->results, &options);
  if (query == SLAB_INTERVAL) return slab_signed_distances(w->scene, points, n, (void *)to->results, &options);
  return slab_closest_points(w->scene, points, n, (void *)to->results, &options);
}

/* Distances that come from no query: all of them differ. */
static slab_status run_check_points(world *w) {
  static const float distances[CHECKED];
  return slab_check_points(w->scene, SLAB_CLOSEST_DISTANCES, (const float *)(const void *)w->rays, CHECKED, distances,
                           NULL, (void *)w->outcome);
}

static slab_status run_tables(world *w) {
  const float angles[] = {1.0f, 20.0f, 300.0f};
  float *to = (float *)(void *)w->outcome;
  slab_status status = slab_beams(angles, angles, 3, to);
  if (status == SLAB_OK) status = slab_spun_poses(to, 0, angles, 3, to + 18);
  if (status == SLAB_OK) status = slab_sun_directions(angles, angles, 3, to + 54);
  if (status == SLAB_OK) status = slab_hemisphere(10, 1, to + 63);
  if (status == SLAB_OK) status = slab_sky_patches(1, to + 93, to + 528);
  return status;
}

/* Enough rays for several threads. */
static slab_status run_rays_from_doubles(world *w) {
  enum { RAYS = 40000 };
  static double origins[3 * RAYS], directions[3 * RAYS];
  static slab_ray rays[RAYS];
  for (size_t i = 0; i < 3 * (size_t)RAYS; i++) origins[i] = directions[i] = 0.1 * (double)i;
  const slab_status status = slab_rays_from_doubles(origins, directions, RAYS, NULL, 1.0, rays);
  for (size_t i = 0; i < RAYS; i++) ((uint32_t *)(void *)w->outcome)[i % 8] ^= ((const uint32_t *)&rays[i])[i % 8];
  return status;
}

static slab_status run_floats_from_doubles(world *w) {
  enum { ROWS = 40000 };
  static double from[3 * ROWS];
  static float to[3 * ROWS];
  for (size_t i = 0; i < 3 * (size_t)ROWS; i++) from[i] = 0.1 * (double)i;
  const size_t width = 3 * sizeof *from;
  const slab_status status = slab_floats_from_doubles(from, width, ROWS, 3, to, width / 2, (void *)w->outcome);
  for (size_t i = 0; i < 3 * (size_t)ROWS; i++) ((uint32_t *)(void *)w->outcome)[6] ^= ((const uint32_t *)to)[i];
  return status;
}

static slab_status run_points_from_doubles(world *w) {
  enum { HITS_OF_ONE = 20000 };
  static const double origin[3] = {0.1, 0.2, 5}, direction[3] = {0.3, 0.1, -1};
  static const double corners[9] = {0, 0, 0, 9, 0, 1, 0, 9, 2};
  static uint64_t rays[HITS_OF_ONE];
  static double points[3 * HITS_OF_ONE];
  const float t = 1.0f;
  const slab_double_hits hits = {origin, direction, 1.0, corners, NULL, rays, rays, &t, 0, NULL};
  const slab_status status = slab_points_from_doubles(&hits, HITS_OF_ONE, points);
  memcpy(w->outcome, points, sizeof corners);
  return status;
}

typedef struct explain_outcome {
  size_t count;
  slab_explanation found;
  slab_step steps[256];
} explain_outcome;

static slab_status run_explain(world *w) {
  static const slab_primitive_id first = {0, 0};
  explain_outcome *to = (void *)w->outcome;
  return slab_explain(w->scene, w->rays, first, NULL, &to->found, to->steps, 256, &to->count);
}

typedef struct explain64_outcome {
  size_t count;
  slab_explanation64 found;
  slab_step steps[256];
} explain64_outcome;

static slab_status run_explain64(world *w) {
  static const slab_primitive_id first = {0, 0};
  explain64_outcome *to = (void *)w->outcome;
  const slab_ray *r = w->rays;
  const slab_ray64 ray = {{r->origin[0], r->origin[1], r->origin[2]},
                          r->t_min,
                          {r->direction[0], r->direction[1], r->direction[2]},
                          r->t_max};
  slab_explanation64 found = to->found;
  const slab_status status = slab_explain64(w->scene, &ray, first, NULL, &found, to->steps, 256, &to->count);
  to->found.kind = found.kind; /* member by member: the bytes between them may be any */
  to->found.hit = found.hit;
  to->found.interval = found.interval;
  return status;
}

/* ---- the table -------------------------------------------------------------------- */

#define ADD(text, kind)                                                                                               \
  {                                                                                                                   \
    .name = "slab_scene_add_" text, .begin = begin_full_table, .run = run_add, .fresh = 1, .with = {.shape = (kind) } \
  }
#define ADD_ARRAY(names, kind) ADD(#names, kind),
#define ADD_MESH(names, kind) ADD("mesh", kind),
#define ADD_KIND(shape, name, names, noun, floats, form, place, source) ADD_##source(names, shape)
#define UPDATE(text, kind)                                                                                     \
  {                                                                                                            \
    .name = "slab_scene_update_" text, .begin = begin_committed, .run = run_update, .with = {.shape = (kind) } \
  }
#define UPDATE_ARRAY(names, kind) UPDATE(#names, kind),
#define UPDATE_MESH(names, kind) UPDATE("mesh", kind),
#define UPDATE_KIND(shape, name, names, noun, floats, form, place, source) UPDATE_##source(names, shape)
#define RECOMMIT(text, ...)                                                                                            \
  {                                                                                                                    \
    .name = "slab_scene_commit, " text, .begin = begin_changed, .run = run_commit, .fresh = 1, .with = { __VA_ARGS__ } \
  }
#define COMMIT(text, ...)                                                                                             \
  {                                                                                                                   \
    .name = "slab_scene_commit, " text, .begin = begin_filled, .run = run_commit, .fresh = 1, .with = { __VA_ARGS__ } \
  }
#define UNPACK(text, ...)                                                                                      \
  {                                                                                                            \
    .name = "slab_scene_unpack, " text, .begin = begin_packed, .run = run_unpack, .undo = undo_made, .with = { \
      __VA_ARGS__                                                                                              \
    }                                                                                                          \
  }
#define CAST(text, ...)                                                                               \
  {                                                                                                   \
    .name = text, .begin = begin_committed, .run = run_fixed, .may_write = 1, .with = { __VA_ARGS__ } \
  }
#define CHECK(text, kind)                                                                             \
  {                                                                                                   \
    .name = "slab_check, " text, .begin = begin_results, .run = run_check, .with = {.query = (kind) } \
  }

const action actions[] = {
    {.name = "slab_devices", .begin = begin_nothing, .run = run_devices},
    {.name = "slab_context_create", .begin = begin_nothing, .run = run_context_create, .undo = undo_made},
    {.name = "slab_context_device", .begin = begin_context, .run = run_context_device},
    {.name = "slab_context_devices", .begin = begin_context, .run = run_context_devices},
    {.name = "slab_host_alloc", .begin = begin_context, .run = run_host_alloc, .undo = undo_host_alloc},
    {.name = "slab_scene_create", .begin = begin_context, .run = run_scene_create, .undo = undo_made},
    SHAPES(ADD_KIND) COMMIT("flat", .tree = SLAB_TREE_FLAT),
    COMMIT("fast", .tree = SLAB_TREE_FAST),
    {.name = "slab_scene_commit, large",
     .begin = begin_filled,
     .run = run_commit,
     .fresh = 1,
     .slow = 1,
     .with = {.boxes = 36000}},
    COMMIT("high", .tree = SLAB_TREE_HIGH),
    SHAPES(UPDATE_KIND){.name = "slab_scene_enable", .begin = begin_committed, .run = run_enable},
    {.name = "slab_scene_remove", .begin = begin_committed, .run = run_remove, .fresh = 1},
    RECOMMIT("again, flat", .tree = SLAB_TREE_FLAT),
    RECOMMIT("again, rebuilt", .tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REBUILD),
    RECOMMIT("again, refitted", .tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT),
    RECOMMIT("again, refitted, copied", .tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT, .copy = 1),
    RECOMMIT("again, refitted twice", .tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT, .again = 1),
    {.name = "slab_scene_add_instances", .begin = begin_model, .run = run_add_instances, .fresh = 1},
    {.name = "slab_scene_update_instances", .begin = begin_instances, .run = run_update_instances},
    {.name = "slab_scene_move_instances", .begin = begin_both_instances, .run = run_move_instances},
    {.name = "slab_scene_update_some_instances", .begin = begin_instances, .run = run_update_some_instances},
    {.name = "slab_scene_update_some_instances, shared",
     .begin = begin_committed_instances,
     .run = run_update_some_instances,
     .fresh = 1},
#define UPDATE_SOME(what, kind)                                                                                     \
  {                                                                                                                 \
    .name = "slab_scene_update_some_" what, .begin = begin_committed, .run = run_update_some, .fresh = 1, .with = { \
      .shape = kind,                                                                                                \
      .tree = SLAB_TREE_FAST                                                                                        \
    }                                                                                                               \
  }
    UPDATE_SOME("planes", SLAB_PLANE),
    UPDATE_SOME("spheres", SLAB_SPHERE),
    UPDATE_SOME("boxes", SLAB_BOX),
    UPDATE_SOME("obbs", SLAB_OBB),
    UPDATE_SOME("vertices", SLAB_TRIANGLE),
#undef UPDATE_SOME
    {.name = "slab_scene_commit, moves",
     .begin = begin_moved,
     .run = run_commit,
     .fresh = 1,
     .with = {.tree = SLAB_TREE_FAST}},
    {.name = "slab_scene_commit, moves again",
     .begin = begin_moved,
     .run = run_commit,
     .fresh = 1,
     .with = {.tree = SLAB_TREE_FAST, .again = 1}},
#define IN_DOUBLE(text, first, then, kind)                                                        \
  {                                                                                               \
    .name = "slab_scene_" text, .begin = first, .run = then, .fresh = 1, .with = {.shape = kind } \
  }
#define IN_DOUBLE_ALL(names, kind)                                                         \
  IN_DOUBLE("add_" names "64", begin_scene, run_add64, kind),                              \
      IN_DOUBLE("update_" names "64", begin_far, run_update64, kind),                      \
      IN_DOUBLE("update_" names "64, committed", begin_committed_far, run_update64, kind), \
      IN_DOUBLE("update_some_" names "64", begin_far, run_update_some64, kind)
    IN_DOUBLE_ALL("planes", SLAB_PLANE),
    IN_DOUBLE_ALL("spheres", SLAB_SPHERE),
    IN_DOUBLE_ALL("boxes", SLAB_BOX),
    IN_DOUBLE_ALL("obbs", SLAB_OBB),
    IN_DOUBLE_ALL("vertices", SLAB_TRIANGLE),
#undef IN_DOUBLE_ALL
#undef IN_DOUBLE
    {.name = "slab_scene_origin", .begin = begin_far, .run = run_origin, .fresh = 1},
    {.name = "slab_scene_origin, instances", .begin = begin_instances_far, .run = run_origin, .fresh = 1},
    {.name = "slab_scene_add_instances64", .begin = begin_model_far, .run = run_add_instances64, .fresh = 1},
    {.name = "slab_scene_update_instances64", .begin = begin_instances_far, .run = run_update_instances64, .fresh = 1},
    {.name = "slab_scene_update_some_instances64",
     .begin = begin_instances_far,
     .run = run_update_some_instances64,
     .fresh = 1},
    {.name = "slab_scene_move_instances64", .begin = begin_instances_far, .run = run_move_instances64, .fresh = 1},
    {.name = "slab_scene_commit, in double", .begin = begin_far, .run = run_commit, .fresh = 1},
#define POINTS_IN_DOUBLE(name_of, asked)                                                                               \
  {                                                                                                                    \
    .name = name_of "64", .begin = begin_committed_far, .run = run_points64, .may_write = 1, .with = {.query = asked } \
  }
    POINTS_IN_DOUBLE("slab_closest_points", SLAB_CLOSEST),
    POINTS_IN_DOUBLE("slab_closest_distances", SLAB_DISTANCE),
    POINTS_IN_DOUBLE("slab_points_within", SLAB_ANY),
    POINTS_IN_DOUBLE("slab_winding", SLAB_COUNT),
    POINTS_IN_DOUBLE("slab_signed_distances", SLAB_INTERVAL),
    POINTS_IN_DOUBLE("slab_winding_numbers", SLAB_ALL),
#undef POINTS_IN_DOUBLE
    {.name = "slab_check_points64", .begin = begin_committed_far, .run = run_check_points64},
    {.name = "slab_cast, in double", .begin = begin_committed_far, .run = run_cast64, .may_write = 1},
    {.name = "slab_cast, lists in double",
     .begin = begin_committed_far,
     .run = run_cast64,
     .may_write = 1,
     .with = {.query = SLAB_ALL}},
    {.name = "slab_scene_set_worlds", .begin = begin_worlds, .run = run_set_worlds, .fresh = 1},
    {.name = "slab_scene_commit, worlds", .begin = begin_worlds, .run = run_commit, .fresh = 1},
    {.name = "slab_scene_commit, worlds, copied",
     .begin = begin_worlds,
     .run = run_commit,
     .fresh = 1,
     .with = {.copy = 1}},
    {.name = "slab_scene_commit, worlds, a frame", .begin = begin_frame, .run = run_commit, .fresh = 1},
    {.name = "slab_scene_commit, worlds, a frame again",
     .begin = begin_frame,
     .run = run_commit,
     .fresh = 1,
     .with = {.again = 1}},
    {.name = "slab_closest, worlds", .begin = begin_committed_worlds, .run = run_fixed, .may_write = 1},
    {.name = "slab_scene_commit, instances", .begin = begin_instances, .run = run_commit, .fresh = 1},
    {.name = "slab_scene_commit, instances, copied",
     .begin = begin_instances,
     .run = run_commit,
     .fresh = 1,
     .with = {.copy = 1}},
    {.name = "slab_scene_commit, instances, refitted",
     .begin = begin_moved_instances,
     .run = run_commit,
     .fresh = 1,
     .with = {.update = SLAB_UPDATE_REFIT}},
    {.name = "slab_scene_commit, instances, refitted again",
     .begin = begin_moved_instances,
     .run = run_commit,
     .fresh = 1,
     .with = {.update = SLAB_UPDATE_REFIT, .again = 1}},
    {.name = "slab_closest, instances", .begin = begin_committed_instances, .run = run_fixed, .may_write = 1},
    {.name = "slab_scene_paths", .begin = begin_committed_instances, .run = run_paths},
    {.name = "slab_scene_path_ids", .begin = begin_committed_instances, .run = run_path_ids},
    {.name = "slab_scene_info", .begin = begin_committed, .run = run_scene_info},
    {.name = "slab_scene_pack, tree", .begin = begin_committed, .run = run_pack, .may_write = 1, .with = {IN_A_TREE}},
    {.name = "slab_scene_pack, instances", .begin = begin_committed_instances, .run = run_pack, .may_write = 1},
    {.name = "slab_scene_unpack, instances", .begin = begin_packed_instances, .run = run_unpack, .undo = undo_made},
    UNPACK("flat", .tree = SLAB_TREE_FLAT),
    UNPACK("tree", IN_A_TREE),
    CAST("slab_closest", .query = SLAB_CLOSEST),
    CAST("slab_closest, copied", .query = SLAB_CLOSEST, .copy = 1),
    CAST("slab_closest, tree", .query = SLAB_CLOSEST, IN_A_TREE),
    CAST("slab_closest, tree, copied", .query = SLAB_CLOSEST, IN_A_TREE, .copy = 1),
    CAST("slab_closest, rays sorted", .query = SLAB_CLOSEST, IN_A_TREE, .traversal = SLAB_TRAVERSAL_SORTED),
    CAST("slab_closest, rays sorted, copied", .query = SLAB_CLOSEST, IN_A_TREE, .traversal = SLAB_TRAVERSAL_SORTED,
         .copy = 1),
    CAST("slab_closest, few rays", .query = SLAB_CLOSEST, IN_A_TREE, .whole = 1),
    CAST("slab_closest, no rays", .query = SLAB_CLOSEST, .empty = 1),
    CAST("slab_distance", .query = SLAB_DISTANCE),
    CAST("slab_distance, tree, copied", .query = SLAB_DISTANCE, IN_A_TREE, .copy = 1),
    CAST("slab_any", .query = SLAB_ANY),
    CAST("slab_any, tree, copied", .query = SLAB_ANY, IN_A_TREE, .copy = 1),
    CAST("slab_any, packets", .query = SLAB_ANY, IN_A_TREE, .traversal = SLAB_TRAVERSAL_PACKETS),
    CAST("slab_count", .query = SLAB_COUNT),
    CAST("slab_count, tree, copied", .query = SLAB_COUNT, IN_A_TREE, .copy = 1),
    CAST("slab_nearest, tree", .query = SLAB_NEAREST, IN_A_TREE),
    CAST("slab_interval_of", .query = SLAB_INTERVAL),
    CAST("slab_interval_of, tree, copied", .query = SLAB_INTERVAL, IN_A_TREE, .copy = 1),
    CAST("slab_closest, masks and after", .query = SLAB_CLOSEST, .own = 1),
    CAST("slab_closest, masks and after, tree, copied", .query = SLAB_CLOSEST, IN_A_TREE, .copy = 1, .own = 1),
    CAST("slab_any, masks and after, few rays", .query = SLAB_ANY, IN_A_TREE, .whole = 1, .own = 1),
    CAST("slab_count, masks and after, rays sorted", .query = SLAB_COUNT, IN_A_TREE, .traversal = SLAB_TRAVERSAL_SORTED,
         .own = 1),
    CAST("slab_interval_of, masks, copied", .query = SLAB_INTERVAL, .copy = 1, .own = 1),
    {.name = "slab_distance, masks and after, instances",
     .begin = begin_committed_instances,
     .run = run_fixed,
     .may_write = 1,
     .with = {.query = SLAB_DISTANCE, .own = 1}},
    {.name = "slab_nearest, masks and after, first of its kind in a tree",
     .begin = begin_committed,
     .run = run_fixed,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.query = SLAB_NEAREST, IN_A_TREE, .own = 1}},
    {.name = "slab_closest, first of its kind",
     .begin = begin_committed,
     .run = run_fixed,
     .may_write = 1,
     .fresh = 1,
     .slow = 1},
    {.name = "slab_closest, copied, first of its kind",
     .begin = begin_committed,
     .run = run_fixed,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.copy = 1}},
    {.name = "slab_closest, first of its kind in a tree",
     .begin = begin_committed,
     .run = run_fixed,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {IN_A_TREE}},
    {.name = "slab_all", .begin = begin_committed, .run = run_all, .may_write = 1, .with = {.query = SLAB_ALL}},
    {.name = "slab_all, rays sorted, copied",
     .begin = begin_committed,
     .run = run_all,
     .may_write = 1,
     .with = {.query = SLAB_ALL, IN_A_TREE, .traversal = SLAB_TRAVERSAL_SORTED, .copy = 1}},
    {.name = "slab_all, few rays",
     .begin = begin_committed,
     .run = run_all,
     .may_write = 1,
     .with = {.query = SLAB_ALL, IN_A_TREE, .whole = 1}},
    {.name = "slab_all, offsets alone",
     .begin = begin_committed,
     .run = run_all,
     .may_write = 1,
     .with = {.query = SLAB_ALL, .required_only = 1}},
    {.name = "slab_all, masks and after, copied",
     .begin = begin_committed,
     .run = run_all,
     .may_write = 1,
     .with = {.query = SLAB_ALL, IN_A_TREE, .copy = 1, .own = 1}},
    {.name = "slab_pairs, spheres", .begin = begin_context, .run = run_pairs, .with = {.shape = SLAB_SPHERE}},
    {.name = "slab_pairs, boxes", .begin = begin_context, .run = run_pairs, .with = {.shape = SLAB_BOX}},
    {.name = "slab_pairs, many", .begin = begin_context, .run = run_pairs, .with = {.shape = SLAB_BOX, .many = 1}},
    {.name = "slab_pairs, first of their kind",
     .begin = begin_context,
     .run = run_pairs,
     .fresh = 1,
     .slow = 1,
     .with = {.shape = SLAB_BOX}},
    {.name = "slab_cast, closest of a set", .begin = begin_committed, .run = run_cast_set, .may_write = 1},
    {.name = "slab_cast, all of a set",
     .begin = begin_committed,
     .run = run_cast_set,
     .may_write = 1,
     .with = {.query = SLAB_ALL}},
    {.name = "slab_cast, a set of the first kind",
     .begin = begin_committed,
     .run = run_cast_set,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.query = SLAB_ANY}},
    {.name = "slab_cast, sums",
     .begin = begin_committed,
     .run = run_cast_sums,
     .may_write = 1,
     .with = {.query = SLAB_ANY}},
    {.name = "slab_cast, sums, copied",
     .begin = begin_committed,
     .run = run_cast_sums,
     .may_write = 1,
     .with = {.query = SLAB_DISTANCE, IN_A_TREE, .copy = 1}},
    {.name = "slab_cast, sums of rows in order",
     .begin = begin_committed,
     .run = run_cast_sums,
     .may_write = 1,
     .with = {.query = SLAB_ANY, IN_A_TREE, .many = 1}},
    {.name = "slab_cast, sums of the first kind",
     .begin = begin_committed,
     .run = run_cast_sums,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.query = SLAB_ANY}},
    {.name = "slab_cast, results apart", .begin = begin_committed, .run = run_cast_apart, .may_write = 1},
    {.name = "slab_closest_points", .begin = begin_committed, .run = run_points, .may_write = 1},
    {.name = "slab_closest_points, tree, copied, masks",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {IN_A_TREE, .copy = 1, .own = 1}},
    {.name = "slab_closest_points, many, tree",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {IN_A_TREE, .whole = 1, .many = 1}},
    {.name = "slab_closest_points, first of its kind",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .fresh = 1,
     .slow = 1},
    {.name = "slab_closest_distances, tree",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {.query = SLAB_DISTANCE, IN_A_TREE}},
    {.name = "slab_points_within",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {.query = SLAB_ANY}},
    {.name = "slab_winding",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {.query = SLAB_COUNT}},
    {.name = "slab_winding, many, tree",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {.query = SLAB_COUNT, IN_A_TREE, .whole = 1, .many = 1}},
    {.name = "slab_signed_distances",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {.query = SLAB_INTERVAL}},
    {.name = "slab_winding_numbers",
     .begin = begin_committed,
     .run = run_points,
     .may_write = 1,
     .with = {.query = SLAB_ALL}},
    {.name = "slab_check_points", .begin = begin_committed, .run = run_check_points},
    {.name = "slab_rays_write", .begin = begin_context, .run = run_rays_write},
    {.name = "slab_rays_write, many", .begin = begin_context, .run = run_rays_write, .with = {.many = 1}},
    {.name = "slab_rays_write, first of its kind",
     .begin = begin_context,
     .run = run_rays_write,
     .fresh = 1,
     .slow = 1},
    CHECK("closest", SLAB_CLOSEST),
    {.name = "slab_check, many", .begin = begin_results, .run = run_check, .with = {.many = 1}},
    {.name = "slab_check, masks and after", .begin = begin_results, .run = run_check, .with = {.many = 1, .own = 1}},
    {.name = "slab_check_cast, doubles", .begin = begin_results, .run = run_check_cast},
    {.name = "slab_check_cast, set", .begin = begin_results, .run = run_check_cast, .with = {.many = 1}},
    CHECK("distance", SLAB_DISTANCE),
    CHECK("any", SLAB_ANY),
    CHECK("count", SLAB_COUNT),
    CHECK("all", SLAB_ALL),
    CHECK("interval", SLAB_INTERVAL),
    CHECK("nearest", SLAB_NEAREST),
    {.name = "slab_explain", .begin = begin_committed, .run = run_explain},
    {.name = "slab_explain64", .begin = begin_committed, .run = run_explain64},
    {.name = "slab_segments", .begin = begin_nothing, .run = run_segments},
    {.name = "slab_beams and other tables", .begin = begin_nothing, .run = run_tables},
    {.name = "slab_rays_from_doubles", .begin = begin_nothing, .run = run_rays_from_doubles},
    {.name = "slab_floats_from_doubles", .begin = begin_nothing, .run = run_floats_from_doubles},
    {.name = "slab_points_from_doubles", .begin = begin_nothing, .run = run_points_from_doubles},
    {.name = "slab_context_create, all devices",
     .begin = begin_nothing,
     .run = run_context_create,
     .undo = undo_made,
     .with = {.devices = "all"}},
    {.name = "slab_scene_commit, all devices",
     .begin = begin_filled,
     .run = run_commit,
     .fresh = 1,
     .with = {.tree = SLAB_TREE_FAST, .devices = "all"}},
    {.name = "slab_scene_commit, again, all devices",
     .begin = begin_changed,
     .run = run_commit,
     .fresh = 1,
     .with = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT, .devices = "all"}},
    {.name = "slab_closest, all devices, copied",
     .begin = begin_committed,
     .run = run_fixed,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.query = SLAB_CLOSEST, IN_A_TREE, .copy = 1, .devices = "all"}},
    {.name = "slab_count, masks and after, all devices",
     .begin = begin_committed,
     .run = run_fixed,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.query = SLAB_COUNT, .own = 1, .devices = "all"}},
    {.name = "slab_all, all devices",
     .begin = begin_committed,
     .run = run_all,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.query = SLAB_ALL, .devices = "all"}},
};
const size_t action_count = sizeof actions / sizeof *actions;
