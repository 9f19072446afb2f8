/* The calls that need OpenCL, as actions: those of slabcast_cl.h, and the probe of a device. */
#include "actions.h"
#include "opencl/probe.h"
#include "scene.h"

enum { BATCH_BYTES = 1 << 18, MASKS_AT = 10240, AFTER_AT = 11520, RESULTS_AT = 1 << 14 };

void world_release_opencl(world *w) {
  slab_program_destroy(w->program);
  if (w->kernel) assert_cl(clReleaseKernel(w->kernel));
  if (w->buffer) assert_cl(clReleaseMemObject(w->buffer));
  if (w->queue) assert_cl(clReleaseCommandQueue(w->queue));
  if (w->cl) assert_cl(clReleaseContext(w->cl));
}

_Static_assert(MASKS_AT >= sizeof((world *)0)->rays && AFTER_AT >= MASKS_AT + sizeof((world *)0)->masks &&
                   RESULTS_AT >= AFTER_AT + sizeof((world *)0)->after,
               "spans of the buffer do not meet");

static void begin_opencl(world *w) {
  w->device = opencl_device();
  w->cl = opencl_context(&w->device, 1);
  if (w->action->with.queue != WITHOUT_QUEUE)
    w->queue = opencl_queue(w->cl, w->device, w->action->with.queue == OUT_OF_ORDER_QUEUE ? OUT_OF_ORDER : 0);
}

static void fill_span(const world *w, size_t at, const void *from, size_t bytes) {
  assert_cl(clEnqueueWriteBuffer(w->queue, w->buffer, CL_TRUE, at, bytes, from, 0, NULL, NULL));
}

/* Uses the caller's OpenCL objects, and one buffer for all spans: the rays, their own masks, hits to begin after, and
 * from RESULTS_AT on the results. */
static void begin_batch(world *w) {
  const slab_build_options options = {.tree = w->action->with.tree};
  begin_opencl(w);
  w->buffer = opencl_buffer(w->cl, NULL, BATCH_BYTES);
  fill_span(w, 0, w->rays, sizeof w->rays);
  fill_span(w, MASKS_AT, w->masks, sizeof w->masks);
  fill_span(w, AFTER_AT, w->after, sizeof w->after);
  assert_ok(slab_context_create_cl(w->cl, w->device, w->queue, NULL, &w->context));
  assert_ok(slab_scene_create(w->context, &w->scene));
  scene_fill(w->scene, 0);
  assert_ok(slab_scene_commit(w->scene, &options));
}

static slab_status run_context_create_cl(world *w) {
  return told(w, slab_context_create_cl(w->cl, w->device, w->queue, NULL, &((made *)(void *)w->outcome)->context));
}

static slab_status run_first_context_cl(world *w) {
  probe_forget();
  return run_context_create_cl(w);
}

/* The device has not been probed yet (probe.h). */
static slab_status run_first_context(world *w) {
  probe_forget();
  return run_context_create(w);
}

/* The outcome excludes the pointers, because they differ from call to call. */
static slab_status run_context_objects(world *w) {
  cl_context cl = NULL;
  cl_device_id id = NULL;
  const slab_status status = slab_context_objects(w->context, &cl, &id);
  w->outcome[0] = cl != NULL && id != NULL;
  return status;
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

static const float places[2][12] = {{1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, {0, -2, 0, 3, 2, 0, 0, 0, 0, 0, 2, 1}};

enum { INDICES_AT = 64 + sizeof places };

/* Two instances, and a buffer with the same transforms, and with their indices. */
static void begin_instances_cl(world *w) {
  begin_batch(w);
  w->model = w->scene;
  w->scene = NULL;
  assert_ok(slab_scene_create(w->context, &w->scene));
  assert_ok(slab_scene_add_instances(w->scene, w->model, places[0], 2, NULL, NULL));
  fill_span(w, 64, places, sizeof places);
  fill_span(w, INDICES_AT, (const cl_uint[]){1, 0}, 2 * sizeof(cl_uint));
}

static slab_status run_update_instances_cl(world *w) {
  const slab_span at = {w->buffer, 64};
  return slab_scene_update_instances_cl(w->scene, 0, &at, 2, 0, NULL);
}

static slab_status run_update_some_instances_cl(world *w) {
  const slab_span indices = {w->buffer, INDICES_AT}, at = {w->buffer, 64};
  return slab_scene_update_some_instances_cl(w->scene, 0, &indices, &at, 2, 0, NULL);
}

static slab_status run_move_instances_cl(world *w) {
  const uint32_t first = 0;
  const slab_span at = {w->buffer, 64};
  return slab_scene_move_instances_cl(w->scene, &first, 1, &at, 2, 0, NULL);
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
 * action. The number in the buffer is a ray's t_max, whose bits are more than the rays. */
static slab_status run_enqueue(world *w) {
  const slab_batch batch = {.query = w->action->with.query,
                            .count = w->action->with.empty ? 0 : WORLD_RAYS,
                            .rays = {w->buffer, 0},
                            .results = {w->buffer, RESULTS_AT},
                            .invalid = {w->buffer, BATCH_BYTES - sizeof(cl_uint)},
                            .masks = {w->action->with.own ? w->buffer : NULL, MASKS_AT},
                            .after = {w->action->with.own ? w->buffer : NULL, AFTER_AT},
                            .counted = {w->action->with.counted ? w->buffer : NULL, offsetof(slab_ray, t_max)}};
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

/* A kernel of the caller's that traces no ray: the program is small, and is bound like any. */
static slab_status run_program_create(world *w) {
  static const char text[] = "#include <slabcast_device.h>\nkernel void own(SLAB_SCENE_PARAMETERS) {}\n";
  const slab_status status = slab_program_create(w->scene, text, NULL, 1u << SLAB_ANY, &w->program);
  if (status == SLAB_OK) w->outcome[0] = 1;
  return status;
}

static void undo_program(world *w) {
  slab_program_destroy(w->program);
  w->program = NULL;
}

static void begin_program(world *w) {
  begin_batch(w);
  assert_ok(run_program_create(w));
}

static slab_status run_program_kernel(world *w) {
  const slab_status status = slab_program_kernel(w->program, "own", &w->kernel);
  if (status == SLAB_OK) w->outcome[0] = 1;
  return status;
}

static void undo_kernel(world *w) {
  assert_cl(clReleaseKernel(w->kernel));
  w->kernel = NULL;
}

static void begin_kernel(world *w) {
  begin_program(w);
  assert_ok(run_program_kernel(w));
}

static slab_status run_bind(world *w) { return slab_scene_bind(w->scene, w->kernel, 0, (cl_uint *)(void *)w->outcome); }

/* ---- the table -------------------------------------------------------------------- */

#define UPDATE_CL(text, kind)                                                                          \
  {                                                                                                    \
    .name = "slab_scene_update_" text "_cl", .begin = begin_update_cl, .run = run_update_cl, .with = { \
      .shape = (kind)                                                                                  \
    }                                                                                                  \
  }

const action actions_cl[] = {
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
    {.name = "slab_context_objects", .begin = begin_context, .run = run_context_objects},
    {.name = "slab_enqueue", .begin = begin_batch, .run = run_enqueue, .undo = undo_enqueue, .tells_late = tells_late},
    {.name = "slab_enqueue, tree",
     .begin = begin_batch,
     .run = run_enqueue,
     .undo = undo_enqueue,
     .tells_late = tells_late,
     .with = {IN_A_TREE}},
    {.name = "slab_enqueue, counted",
     .begin = begin_batch,
     .run = run_enqueue,
     .undo = undo_enqueue,
     .tells_late = tells_late,
     .with = {.counted = 1}},
    {.name = "slab_enqueue, masks and after",
     .begin = begin_batch,
     .run = run_enqueue,
     .undo = undo_enqueue,
     .tells_late = tells_late,
     .with = {.own = 1}},
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
    {.name = "slab_program_create", .begin = begin_batch, .run = run_program_create, .undo = undo_program, .slow = 1},
    {.name = "slab_program_kernel", .begin = begin_program, .run = run_program_kernel, .undo = undo_kernel},
    {.name = "slab_scene_bind", .begin = begin_kernel, .run = run_bind, .fresh = 1, .slow = 1},
    UPDATE_CL("planes", SLAB_PLANE),
    UPDATE_CL("spheres", SLAB_SPHERE),
    UPDATE_CL("boxes", SLAB_BOX),
    UPDATE_CL("obbs", SLAB_OBB),
    UPDATE_CL("mesh", SLAB_TRIANGLE),
    {.name = "slab_scene_update_instances_cl", .begin = begin_instances_cl, .run = run_update_instances_cl},
    {.name = "slab_scene_update_some_instances_cl", .begin = begin_instances_cl, .run = run_update_some_instances_cl},
    {.name = "slab_scene_move_instances_cl", .begin = begin_instances_cl, .run = run_move_instances_cl},
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
};
const size_t action_cl_count = sizeof actions_cl / sizeof *actions_cl;
