/* Every call of the public API, as an action that a fault can hit. */
#include <stdlib.h>
#include <string.h>

#include "opencl/probe.h"
#include "scene.h"
#include "shapes.def"
#include "world.h"

enum {
  LAUNCH = 64,
  THREADS = 3,
  CHECKED = 24,
  BATCH_BYTES = 1 << 18,
  RESULTS_AT = 1 << 14,
  HITS = WORLD_OUTCOME / 32 - 64
};

/* ---- state before the call ---------------------------------------------------- */

static void begin_nothing(world *w) { (void)w; }

static void begin_context(world *w) {
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

static void begin_opencl(world *w) {
  w->device = opencl_device();
  w->cl = opencl_context(&w->device, 1);
  if (w->action->with.queue != WITHOUT_QUEUE)
    w->queue = opencl_queue(w->cl, w->device, w->action->with.queue == OUT_OF_ORDER_QUEUE ? OUT_OF_ORDER : 0);
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

/* Uses the caller's OpenCL objects, and one buffer for all spans: the rays, and from RESULTS_AT on the results. */
static void begin_batch(world *w) {
  const slab_build_options options = {.tree = w->action->with.tree};
  begin_opencl(w);
  w->buffer = opencl_buffer(w->cl, NULL, BATCH_BYTES);
  assert_cl(clEnqueueWriteBuffer(w->queue, w->buffer, CL_TRUE, 0, sizeof w->rays, w->rays, 0, NULL, NULL));
  assert_ok(slab_context_create_cl(w->cl, w->device, w->queue, NULL, &w->context));
  assert_ok(slab_scene_create(w->context, &w->scene));
  scene_fill(w->scene, 0);
  assert_ok(slab_scene_commit(w->scene, &options));
}

static slab_cast_options options_of(world *w, uint64_t *invalid) {
  return (slab_cast_options){.skip = w->skips, .invalid = invalid};
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
  a->begin(w);
}

void world_end(world *w) {
  slab_scene_destroy(w->scene);
  slab_scene_destroy(w->model);
  slab_context_destroy(w->context);
  free(w->results);
  if (w->buffer) assert_cl(clReleaseMemObject(w->buffer));
  if (w->queue) assert_cl(clReleaseCommandQueue(w->queue));
  if (w->cl) assert_cl(clReleaseContext(w->cl));
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

/* Part of the outcome for calls that create an object. The object is stored here, and stays untouched if the call
 * fails. */
typedef struct made {
  slab_context *context;
  slab_scene *scene;
  uint32_t lane_width, geometries;
} made;

static slab_status told(world *w, slab_status status) {
  made *to = (void *)w->outcome;
  slab_device_info info;
  if (status != SLAB_OK) return status;
  assert_ok(slab_context_device(to->context, &info));
  to->lane_width = info.lane_width;
  return status;
}

static slab_status run_context_create(world *w) {
  const slab_context_options options = {.device = w->action->with.devices};
  return told(w, slab_context_create(&options, &((made *)(void *)w->outcome)->context));
}

/* The device has not been probed yet (probe.h). */
static slab_status run_first_context(world *w) {
  probe_forget();
  return run_context_create(w);
}

static slab_status run_context_create_cl(world *w) {
  return told(w, slab_context_create_cl(w->cl, w->device, w->queue, NULL, &((made *)(void *)w->outcome)->context));
}

static slab_status run_first_context_cl(world *w) {
  probe_forget();
  return run_context_create_cl(w);
}

static slab_status run_context_device(world *w) { return slab_context_device(w->context, (void *)w->outcome); }

/* The outcome excludes the pointers, because they differ from call to call. */
static slab_status run_context_objects(world *w) {
  cl_context cl = NULL;
  cl_device_id id = NULL;
  const slab_status status = slab_context_objects(w->context, &cl, &id);
  w->outcome[0] = cl != NULL && id != NULL;
  return status;
}

static slab_status run_context_devices(world *w) {
  devices_outcome *to = (void *)w->outcome;
  return slab_context_devices(w->context, to->list, 4, &to->count);
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

/* As above. */
static void undo_made(world *w) {
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

static slab_status run_add_instances(world *w) {
  return slab_scene_add_instances(w->scene, w->model, placed[0], 2, NULL, NULL);
}

static slab_status run_update_instances(world *w) { return slab_scene_update_instances(w->scene, 0, placed[0], 2); }

static slab_status run_enable(world *w) { return slab_scene_enable(w->scene, SLAB_BOX, 0); }

static slab_status run_remove(world *w) { return slab_scene_remove(w->scene, SLAB_BOX); }

static slab_status run_commit(world *w) {
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

static slab_status run_check(world *w) {
  const slab_cast_options options = options_of(w, NULL);
  return slab_check(w->scene, w->action->with.query, w->rays, w->action->with.many ? WORLD_RAYS_MOST : CHECKED,
                    w->results, w->action->with.query == SLAB_ALL ? w->offsets : NULL, &options, (void *)w->outcome);
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

/* The buffer is full of halves, which make spheres, boxes, planes and vertices; or holds two oriented boxes. */
static void begin_update_cl(world *w) {
  static const slab_obb obbs[2] = {{{1, 2, 3}, {1, 1, 1}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}},
                                   {{3, 2, 1}, {1, 2, 1}, {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}}};
  static const cl_float half = 0.5f;
  begin_batch(w);
  assert_cl(clEnqueueFillBuffer(w->queue, w->buffer, &half, sizeof half, 0, BATCH_BYTES, 0, NULL, NULL));
  if (w->action->with.shape == SLAB_OBB)
    assert_cl(clEnqueueWriteBuffer(w->queue, w->buffer, CL_TRUE, 64, sizeof obbs, obbs, 0, NULL, NULL));
  assert_cl(clFinish(w->queue));
}

static slab_status run_update_cl(world *w) {
  const slab_span at = {w->buffer, 64};
  const uint32_t kind = (uint32_t)w->action->with.shape;
  const slab_mesh_spans mesh = {.vertices = at, .vertex_count = 24, .triangle_count = 16};
  if (kind == SLAB_PLANE) return slab_scene_update_planes_cl(w->scene, kind, &at, 2, 0, NULL);
  if (kind == SLAB_SPHERE) return slab_scene_update_spheres_cl(w->scene, kind, &at, 120, 0, NULL);
  if (kind == SLAB_BOX) return slab_scene_update_boxes_cl(w->scene, kind, &at, 12, 0, NULL);
  if (kind == SLAB_OBB) return slab_scene_update_obbs_cl(w->scene, kind, &at, 2, 0, NULL);
  return slab_scene_update_mesh_cl(w->scene, kind, &mesh, 0, NULL);
}

/* A mesh alone, in a BVH that the device can refit: its vertices become halves. */
static void begin_mesh_there(world *w) {
  const slab_context_options options = {.layout = SLAB_LAYOUT_COMPRESSED};
  static const cl_float half = 0.5f;
  begin_opencl(w);
  w->buffer = opencl_buffer(w->cl, NULL, BATCH_BYTES);
  assert_cl(clEnqueueFillBuffer(w->queue, w->buffer, &half, sizeof half, 0, BATCH_BYTES, 0, NULL, NULL));
  assert_cl(clFinish(w->queue));
  assert_ok(slab_context_create_cl(w->cl, w->device, w->queue, &options, &w->context));
  assert_ok(slab_scene_create(w->context, &w->scene));
  assert_ok(scene_add(w->scene, SLAB_TRIANGLE, 0, NULL));
  assert_ok(slab_scene_commit(w->scene, &(slab_build_options){.tree = SLAB_TREE_FAST}));
}

static slab_status run_update_there(world *w) {
  const slab_mesh_spans mesh = {.vertices = {w->buffer, 64},
                                .vertex_stride = w->action->with.again ? 16 : 0,
                                .vertex_count = 24,
                                .triangle_count = 16};
  return slab_scene_update_mesh_cl(w->scene, 0, &mesh, 0, NULL);
}

/* Refitted there before, where the setting says so. */
static void begin_moved_there(world *w) {
  begin_mesh_there(w);
  for (int i = 0; i <= w->action->with.again; i++) {
    if (i > 0) assert_ok(slab_scene_commit(w->scene, &(slab_build_options){.update = SLAB_UPDATE_REFIT}));
    assert_ok(run_update_there(w));
  }
}

/* The results are read by the caller's own calls after the event has completed. Those calls are not part of the
 * action. */
static slab_status run_enqueue(world *w) {
  const slab_batch batch = {.query = w->action->with.query,
                            .count = w->action->with.empty ? 0 : WORLD_RAYS,
                            .rays = {w->buffer, 0},
                            .results = {w->buffer, RESULTS_AT},
                            .invalid = {w->buffer, BATCH_BYTES - sizeof(cl_uint)}};
  return slab_enqueue(w->scene, &batch, w->queue, 0, NULL, (cl_event *)(void *)w->outcome);
}

static void undo_enqueue(world *w) {
  cl_event *done = (void *)w->outcome;
  assert_cl(clWaitForEvents(1, done));
  assert_cl(clReleaseEvent(*done));
  *done = NULL;
  if (w->action->with.empty) return;
  assert_cl(clEnqueueReadBuffer(w->queue, w->buffer, CL_TRUE, RESULTS_AT, WORLD_RAYS * sizeof(slab_hit),
                                w->outcome + 64, 0, NULL, NULL));
}

static bool tells_late(world *w) {
  cl_event *done = (void *)w->outcome;
  const cl_int code = clWaitForEvents(1, done);
  assert_cl(clReleaseEvent(*done));
  return code != CL_SUCCESS;
}

/* ---- the table -------------------------------------------------------------------- */

#define ADD(text, kind)                                                                                               \
  {                                                                                                                   \
    .name = "slab_scene_add_" text, .begin = begin_full_table, .run = run_add, .fresh = 1, .with = {.shape = (kind) } \
  }
#define ADD_ARRAY(names, kind) ADD(#names, kind),
#define ADD_MESH(names, kind) ADD("mesh", kind),
#define ADD_KIND(shape, name, names, noun, rows, form, place, source) ADD_##source(names, shape)
#define UPDATE(text, kind)                                                                                     \
  {                                                                                                            \
    .name = "slab_scene_update_" text, .begin = begin_committed, .run = run_update, .with = {.shape = (kind) } \
  }
#define UPDATE_CL(text, kind)                                                                          \
  {                                                                                                    \
    .name = "slab_scene_update_" text "_cl", .begin = begin_update_cl, .run = run_update_cl, .with = { \
      .shape = (kind)                                                                                  \
    }                                                                                                  \
  }
#define UPDATE_ARRAY(names, kind) UPDATE(#names, kind),
#define UPDATE_MESH(names, kind) UPDATE("mesh", kind),
#define UPDATE_KIND(shape, name, names, noun, rows, form, place, source) UPDATE_##source(names, shape)
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
#define IN_A_TREE .tree = SLAB_TREE_HIGH

const action actions[] = {
    {.name = "slab_devices", .begin = begin_nothing, .run = run_devices},
    {.name = "slab_context_create", .begin = begin_nothing, .run = run_context_create, .undo = undo_made},
    {.name = "slab_context_create, first of its device",
     .begin = begin_nothing,
     .run = run_first_context,
     .undo = undo_made},
    {.name = "slab_context_create_cl, first of its device",
     .begin = begin_opencl,
     .run = run_first_context_cl,
     .undo = undo_made},
    {.name = "slab_context_create_cl", .begin = begin_opencl, .run = run_context_create_cl, .undo = undo_made},
    {.name = "slab_context_create_cl, no queue",
     .begin = begin_opencl,
     .run = run_context_create_cl,
     .undo = undo_made,
     .with = {.queue = WITHOUT_QUEUE}},
    {.name = "slab_context_create_cl, queue out of order",
     .begin = begin_opencl,
     .run = run_context_create_cl,
     .undo = undo_made,
     .with = {.queue = OUT_OF_ORDER_QUEUE}},
    {.name = "slab_context_device", .begin = begin_context, .run = run_context_device},
    {.name = "slab_context_objects", .begin = begin_context, .run = run_context_objects},
    {.name = "slab_context_devices", .begin = begin_context, .run = run_context_devices},
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
    {.name = "slab_pairs, spheres", .begin = begin_context, .run = run_pairs, .with = {.shape = SLAB_SPHERE}},
    {.name = "slab_pairs, boxes", .begin = begin_context, .run = run_pairs, .with = {.shape = SLAB_BOX}},
    {.name = "slab_pairs, many", .begin = begin_context, .run = run_pairs, .with = {.shape = SLAB_BOX, .many = 1}},
    {.name = "slab_pairs, first of their kind",
     .begin = begin_context,
     .run = run_pairs,
     .fresh = 1,
     .slow = 1,
     .with = {.shape = SLAB_BOX}},
    CHECK("closest", SLAB_CLOSEST),
    {.name = "slab_check, many", .begin = begin_results, .run = run_check, .with = {.many = 1}},
    CHECK("distance", SLAB_DISTANCE),
    CHECK("any", SLAB_ANY),
    CHECK("count", SLAB_COUNT),
    CHECK("all", SLAB_ALL),
    CHECK("interval", SLAB_INTERVAL),
    CHECK("nearest", SLAB_NEAREST),
    {.name = "slab_explain", .begin = begin_committed, .run = run_explain},
    {.name = "slab_rays_from_doubles", .begin = begin_nothing, .run = run_rays_from_doubles},
    {.name = "slab_enqueue", .begin = begin_batch, .run = run_enqueue, .undo = undo_enqueue, .tells_late = tells_late},
    {.name = "slab_enqueue, tree",
     .begin = begin_batch,
     .run = run_enqueue,
     .undo = undo_enqueue,
     .tells_late = tells_late,
     .with = {IN_A_TREE}},
    {.name = "slab_enqueue, no rays",
     .begin = begin_batch,
     .run = run_enqueue,
     .undo = undo_enqueue,
     .tells_late = tells_late,
     .with = {.empty = 1}},
    {.name = "slab_enqueue, first of its kind",
     .begin = begin_batch,
     .run = run_enqueue,
     .undo = undo_enqueue,
     .tells_late = tells_late,
     .fresh = 1,
     .slow = 1},
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
    UPDATE_CL("planes", SLAB_PLANE),
    UPDATE_CL("spheres", SLAB_SPHERE),
    UPDATE_CL("boxes", SLAB_BOX),
    UPDATE_CL("obbs", SLAB_OBB),
    UPDATE_CL("mesh", SLAB_TRIANGLE),
    {.name = "slab_scene_update_mesh_cl, for a refit there", .begin = begin_mesh_there, .run = run_update_there},
    {.name = "slab_scene_update_mesh_cl, strided, for a refit there",
     .begin = begin_mesh_there,
     .run = run_update_there,
     .with = {.again = 1}},
    {.name = "slab_scene_commit, refitted there",
     .begin = begin_moved_there,
     .run = run_commit,
     .fresh = 1,
     .slow = 1,
     .with = {.update = SLAB_UPDATE_REFIT}},
    {.name = "slab_scene_commit, refitted there again",
     .begin = begin_moved_there,
     .run = run_commit,
     .fresh = 1,
     .with = {.update = SLAB_UPDATE_REFIT, .again = 1}},
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
    {.name = "slab_all, all devices",
     .begin = begin_committed,
     .run = run_all,
     .may_write = 1,
     .fresh = 1,
     .slow = 1,
     .with = {.query = SLAB_ALL, .devices = "all"}},
};
const size_t action_count = sizeof actions / sizeof *actions;

bool action_needs_opencl(const action *a) {
  return a->begin == begin_opencl || a->begin == begin_batch || a->begin == begin_update_cl ||
         a->begin == begin_mesh_there || a->begin == begin_moved_there || a->run == run_first_context ||
         a->run == run_context_objects;
}
