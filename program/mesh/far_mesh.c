#include "program/mesh/far_mesh.h"

#include "program/io/far.h"

static void add_vertex(const mesh_data *mesh, size_t vertex, far_range *range) {
  for (int k = 0; k < 3; k++) {
    const size_t i = 3 * vertex + (size_t)k;
    far_range_add(range, k, mesh->vertices64 ? mesh->vertices64[i] : (double)mesh->vertices[i]);
  }
}

/* Adds a range at a place: its eight corners. */
static void add_at(const far_range *model, const double place[MESH_PLACE], far_range *range) {
  for (int corner = 0; corner < 8; corner++)
    for (int axis = 0; axis < 3; axis++) {
      const double *row = place + 4 * axis;
      double at = row[3];
      for (int k = 0; k < 3; k++) at += row[k] * (corner >> k & 1 ? model->upper[k] : model->lower[k]);
      far_range_add(range, axis, at);
    }
}

/* Of all parts, where they stand. Vertices are gone through once where none has a place, which is far faster. */
static far_range range_of(const mesh_data *mesh) {
  const uint32_t *corners = mesh->indices;
  const double *places = mesh->places;
  far_range all = far_range_empty();
  if (mesh->place_count == 0)
    for (size_t i = 0; i < mesh->vertex_count; i++) add_vertex(mesh, i, &all);
  for (uint32_t i = 0; i < mesh->part_count && mesh->place_count > 0; i++) {
    const mesh_part *part = &mesh->parts[i];
    const uint32_t *end = corners + 3 * (size_t)part->triangle_count;
    far_range own = far_range_empty();
    for (; corners < end; corners++) add_vertex(mesh, *corners, part->place_count ? &own : &all);
    for (uint32_t k = 0; k < part->place_count; k++, places += MESH_PLACE) add_at(&own, places, &all);
  }
  return all;
}

/* Each end was moved by worst_rounding at most. */
bool far_mesh_may_be(const mesh_data *mesh) {
  const double moved = mesh->facts.worst_rounding;
  if (!(moved > 0)) return false;
  const far_range range = range_of(mesh);
  const double size = far_range_size(&range) - 2 * moved;
  return FAR_ROUNDING * (far_range_reach(&range) + moved) > FAR_LOSS * (size > 0 ? size : 0);
}

bool far_mesh_is(const mesh_data *mesh) {
  const far_range range = range_of(mesh);
  return far_range_is_far(&range);
}
