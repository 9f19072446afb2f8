/* Meshes whose vertices move in the device's own buffers, which the device refits (slabcast_cl.h), against the same
 * scenes made anew and cast by brute force. */
#include <stdlib.h>

#include "opencl/loader.h"
#include "program/verify/verify.h"
#include "sets/bvh_scenes.h"
#include "sets/scenes.h"
#include "slabcast_cl.h"

enum { TRIANGLES = 600, STEPS = 3 };

bool verify_has_refits(const verify_run *run) {
  return slab_context_objects(run->compressed, NULL, NULL) == SLAB_OK && run->device.denormals != 0 &&
         opencl_find() == NULL;
}

/* Moves each vertex by up to a hundredth of the scene. */
static void move(scene_geometry *mesh, const slab_scene_stats *stats, random_state *random) {
  for (uint32_t i = 0; i < 3 * mesh->vertex_count; i++) {
    const float size = stats->upper[i % 3] - stats->lower[i % 3];
    mesh->vertices[i] += random_between(random, -0.01f, 0.01f) * size;
  }
}

/* Updates the mesh from a buffer. */
static slab_status update(slab_context *context, slab_scene *scene, const scene_geometry *mesh) {
  cl_context cl = NULL;
  slab_status status = slab_context_objects(context, &cl, NULL);
  if (status != SLAB_OK) return status;
  const cl_mem buffer = clCreateBuffer(cl, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR,
                                       mesh->vertex_count * 3 * sizeof(float), mesh->vertices, NULL);
  if (buffer == NULL) return SLAB_OUT_OF_MEMORY;
  const slab_mesh_spans spans = {
      .vertices = {buffer, 0}, .vertex_count = mesh->vertex_count, .triangle_count = mesh->count};
  status = slab_scene_update_mesh_cl(scene, 0, &spans, 0, NULL);
  clReleaseMemObject(buffer);
  return status;
}

/* A scene of that mesh, which the device has refitted some times. */
static slab_status make_scene(verify_run *run, random_state *random, scene_geometry *mesh, size_t n,
                              slab_scene_stats *stats, slab_scene **scene) {
  const slab_build_options refit = {.update = SLAB_UPDATE_REFIT};
  slab_status status = verify_scene(run, LAYOUT_COMPRESSED, scene);
  if (status == SLAB_OK) status = scene_geometry_add(*scene, mesh, NULL, NULL);
  if (status == SLAB_OK) status = verify_commit(run, LAYOUT_COMPRESSED, SLAB_TREE_FAST, *scene, n);
  if (status == SLAB_OK) status = slab_scene_info(*scene, stats);
  for (int step = 0; step < STEPS && status == SLAB_OK; step++) {
    move(mesh, stats, random);
    status = update(run->compressed, *scene, mesh);
    if (status == SLAB_OK) status = slab_scene_commit(*scene, &refit);
  }
  return status;
}

static slab_status make_anew(verify_run *run, const scene_geometry *mesh, slab_scene **scene) {
  slab_status status = verify_scene(run, LAYOUT_FLAT, scene);
  if (status == SLAB_OK) status = scene_geometry_add(*scene, mesh, NULL, NULL);
  return status == SLAB_OK ? slab_scene_commit(*scene, &(slab_build_options){.tree = SLAB_TREE_FLAT}) : status;
}

int verify_refits(verify_run *run, random_state *random, slab_query query, size_t n) {
  static const char *const names[] = {"soup", "terrain", "torus"};
  slab_scene *scene = NULL, *anew = NULL;
  slab_scene_stats stats = {0};
  scene_geometry mesh;
  slab_status status = SLAB_OK;
  if (scene_build(names[random_below(random, 3)], TRIANGLES, random_next(random), &mesh) != 0)
    status = SLAB_OUT_OF_MEMORY;
  if (status == SLAB_OK) status = make_scene(run, random, &mesh, n, &stats, &scene);
  if (status == SLAB_OK) status = make_anew(run, &mesh, &anew);
  for (size_t i = 0; i < n; i++) run->rays[i] = bvh_scene_ray(random, &stats);
  if (status == SLAB_OK) status = answers_cast(&run->answers, query, scene, run->rays, n, NULL);
  if (status == SLAB_OK) status = answers_cast(&run->others, query, anew, run->rays, n, NULL);
  if (status == SLAB_OK) verify_same(run, query, n, "a scene made anew");
  int code = verify_status(run, status);
  if (code == EXIT_DONE) code = verify_check(run, scene, query, &run->answers, n, NULL, 1);
  slab_scene_destroy(anew);
  slab_scene_destroy(scene);
  scene_geometry_free(&mesh);
  return code;
}
