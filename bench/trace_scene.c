#include "trace_scene.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef BENCH_MESHES
#include "program/mesh/mesh.h"
#endif

/* Corner c of a box has bit k set where it is upper along axis k. Triangles are counter-clockwise from outside. */
static const uint8_t box_triangles[12][3] = {{0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}, {0, 1, 5}, {0, 5, 4},
                                             {2, 6, 7}, {2, 7, 3}, {0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}};

/* Replaces boxes by the triangles of their faces. */
static bool mesh_of_boxes(scene_geometry *g) {
  const slab_box *boxes = g->shapes;
  scene_geometry mesh = {.kind = SLAB_TRIANGLE, .count = 12 * g->count, .vertex_count = 8 * g->count};
  float *vertex = mesh.vertices = malloc((size_t)mesh.vertex_count * 3 * sizeof *mesh.vertices);
  uint32_t *index = mesh.indices = malloc((size_t)mesh.count * 3 * sizeof *mesh.indices);
  const bool whole = mesh.vertices != NULL && mesh.indices != NULL;
  for (uint32_t i = 0; whole && i < g->count; i++) {
    for (uint32_t c = 0; c < 8; c++)
      for (uint32_t k = 0; k < 3; k++) *vertex++ = (c >> k & 1) != 0 ? boxes[i].upper[k] : boxes[i].lower[k];
    for (uint32_t t = 0; t < 12; t++)
      for (uint32_t c = 0; c < 3; c++) *index++ = 8 * i + box_triangles[t][c];
  }
  scene_geometry_free(g);
  *g = mesh;
  if (!whole) scene_geometry_free(g);
  return whole;
}

static bool read_generated(const char *name, uint32_t count, uint64_t seed, scene_geometry *out) {
  const bool mesh = strcmp(name, "city-mesh") == 0;
  const int code = scene_build(mesh ? "city" : name, count, seed, out);
  if (code == SCENE_UNKNOWN) fprintf(stderr, "bench: there is no scene called %s\n", name);
  if (code == SCENE_NO_MEMORY || (code == 0 && mesh && !mesh_of_boxes(out))) {
    fprintf(stderr, "bench: no memory for %s:%u\n", name, count);
    return false;
  }
  return code == 0;
}

#ifdef BENCH_MESHES
static bool read_file(const char *path, scene_geometry *out) {
  char error[256];
  mesh_data mesh;
  if (mesh_read(path, &(mesh_options){.one_geometry = true, .numbers = MESH_FLOATS}, &mesh, error, sizeof error) != 0) {
    fprintf(stderr, "bench: %s\n", error);
    return false;
  }
  *out = (scene_geometry){.kind = SLAB_TRIANGLE,
                          .count = mesh.triangle_count,
                          .vertices = mesh.vertices,
                          .vertex_count = mesh.vertex_count,
                          .indices = mesh.indices};
  return true;
}

int trace_scene_child(int argc, char **argv) { return mesh_child_main(argc, argv); }
#else
static bool read_file(const char *path, scene_geometry *out) {
  *out = (scene_geometry){0};
  fprintf(stderr, "bench: %s: built without assimp, so that mesh files cannot be read\n", path);
  return false;
}

int trace_scene_child(int argc, char **argv) {
  (void)argc, (void)argv;
  return -1;
}
#endif

bool trace_scene_read(const char *name, uint64_t seed, scene_geometry *out) {
  char word[64], rest;
  unsigned count = 0;
  if (sscanf(name, "%63[^:/.]:%u%c", word, &count, &rest) == 2) return read_generated(word, count, seed, out);
  return read_file(name, out);
}
