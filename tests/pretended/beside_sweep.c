/* In place of actions_cl.c and layers.c where the driver that pretends is swept: the devices' updates and refits from
 * their own buffers. */
#include <string.h>

#include "actions.h"
#include "faults/layers.h"
#include "pretended.h"
#include "scene.h"
#include "there.h"

enum { MESH_VERTICES = 90 };

/* A soup whose triangles are a little elsewhere each time. */
static slab_mesh mesh_of(float vertices[3 * MESH_VERTICES], int time) {
  for (int i = 0; i < 3 * MESH_VERTICES; i++)
    vertices[i] = (float)(i / 9 * 7 % 31 + i * 5 % 11) * 0.25f - 4.0f + (float)time * 0.125f * (float)(i % 3);
  return (slab_mesh){vertices, 0, MESH_VERTICES, NULL, MESH_VERTICES / 3, NULL};
}

static slab_status update(world *w, int time) {
  float vertices[3 * MESH_VERTICES];
  const slab_mesh mesh = mesh_of(vertices, time);
  return there_update_mesh(w->scene, 0, &mesh);
}

/* A committed mesh in compressed nodes, which GPUs have. */
static void begin_mesh(world *w) {
  float vertices[3 * MESH_VERTICES];
  const slab_context_options options = {.layout = SLAB_LAYOUT_COMPRESSED, .copy = w->action->with.copy};
  const slab_build_options fast = {.tree = SLAB_TREE_FAST};
  const slab_mesh mesh = mesh_of(vertices, 0);
  assert_ok(slab_context_create(&options, &w->context));
  assert_ok(slab_scene_create(w->context, &w->scene));
  assert_ok(slab_scene_add_mesh(w->scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(w->scene, &fast));
}

/* And moved there, refitted before where the setting says so. */
static void begin_moved(world *w) {
  const slab_build_options refit = {.update = SLAB_UPDATE_REFIT};
  begin_mesh(w);
  for (int i = 0; i <= w->action->with.again; i++) {
    if (i > 0) assert_ok(slab_scene_commit(w->scene, &refit));
    assert_ok(update(w, i + 1));
  }
}

static slab_status run_update_there(world *w) { return update(w, 1); }

const action actions_cl[] = {
    {.name = "an update there", .begin = begin_mesh, .run = run_update_there, .fresh = 1},
    {.name = "a refit there",
     .begin = begin_moved,
     .run = run_commit,
     .fresh = 1,
     .with = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT}},
    {.name = "a refit there, copied",
     .begin = begin_moved,
     .run = run_commit,
     .fresh = 1,
     .with = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT, .copy = 1}},
    {.name = "a refit there, again",
     .begin = begin_moved,
     .run = run_commit,
     .fresh = 1,
     .with = {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REFIT, .again = 1}},
};
const size_t action_cl_count = sizeof actions_cl / sizeof *actions_cl;

void world_release_opencl(world *w) { (void)w; }

layers layers_load(void) {
  pretended_by_environment();
  return (layers){
      .count = pretended_live, .fail = pretended_arm, .fail_call = pretended_fail_call, .fail_end = pretended_disarm};
}
