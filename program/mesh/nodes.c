/* Nodes that show meshes: each mesh at its only place, or once with all of its places. */
#include <math.h>
#include <stdlib.h>

#include "program/mesh/builder.h"

int mesh_builder_use(mesh_builder *b, mesh_use_list *list, const mesh_use *use) {
  if (list->count == UINT32_MAX || mesh_grow(&list->uses, &list->capacity, list->count, sizeof *use) != 0)
    return mesh_builder_refuse(b, "no memory for its nodes");
  list->uses[list->count++] = *use;
  return 0;
}

/* Whether an instance can have this place: it turns and scales about equally, and does not mirror, since a mirrored
 * instance would show its back (docs/contract.md, Instances). The limits are far inside the library's own. */
static bool is_instance(const double m[MESH_PLACE]) {
  const double *x = m, *y = m + 4, *z = m + 8;
  const double cofactors[3][3] = {
      {y[1] * z[2] - y[2] * z[1], y[2] * z[0] - y[0] * z[2], y[0] * z[1] - y[1] * z[0]},
      {z[1] * x[2] - z[2] * x[1], z[2] * x[0] - z[0] * x[2], z[0] * x[1] - z[1] * x[0]},
      {x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]},
  };
  const double determinant = x[0] * cofactors[0][0] + x[1] * cofactors[0][1] + x[2] * cofactors[0][2];
  double size = 0, inverse = 0;
  for (int i = 0; i < 3; i++)
    for (int k = 0; k < 3; k++) {
      size += m[4 * i + k] * m[4 * i + k];
      inverse += cofactors[i][k] * cofactors[i][k];
    }
  size = sqrt(size);
  return size > 0x1p-30 && size < 0x1p30 && determinant > 0 && size * sqrt(inverse) < 100 * determinant;
}

static int add_alone(mesh_builder *b, const mesh_use *use, mesh_give *give, const void *file) {
  if (mesh_builder_part(b, use->name) != 0) return -1;
  mesh_builder_list(b, use->place);
  return give(file, use->mesh, b);
}

/* Adds the uses of one mesh, a list by `next` that ends with `none`. */
static int add_uses(mesh_builder *b, const mesh_use *uses, const uint32_t *next, uint32_t first, uint32_t none,
                    mesh_give *give, const void *file) {
  uint32_t placed = 0;
  for (uint32_t i = first; i != none; i = next[i]) placed += is_instance(uses[i].place);
  if (placed > 1) {
    if (mesh_builder_placed_part(b) != 0) return -1;
    for (uint32_t i = first; i != none; i = next[i])
      if (is_instance(uses[i].place) && mesh_builder_add_place(b, uses[i].place, uses[i].name) != 0) return -1;
    if (give(file, uses[first].mesh, b) != 0) return -1;
  }
  for (uint32_t i = first; i != none; i = next[i])
    if ((placed < 2 || !is_instance(uses[i].place)) && add_alone(b, &uses[i], give, file) != 0) return -1;
  return 0;
}

int mesh_builder_nodes(mesh_builder *b, const mesh_use_list *list, uint32_t mesh_count, mesh_give *give,
                       const void *file) {
  const mesh_use *uses = list->uses;
  const uint32_t use_count = list->count;
  int failed = 0;
  if (mesh_builder_is_one(b)) {
    for (uint32_t i = 0; i < use_count && !failed; i++) failed = add_alone(b, &uses[i], give, file);
    return failed;
  }
  const uint32_t none = use_count;
  uint32_t *first = malloc(((size_t)mesh_count + 1) * sizeof *first),
           *next = malloc(((size_t)use_count + 1) * sizeof *next);
  if (first && next) {
    for (uint32_t i = 0; i < mesh_count; i++) first[i] = none;
    for (uint32_t i = use_count; i-- > 0;) {
      next[i] = first[uses[i].mesh];
      first[uses[i].mesh] = i;
    }
    for (uint32_t i = 0; i < use_count && !failed; i++)
      if (first[uses[i].mesh] == i) failed = add_uses(b, uses, next, i, none, give, file);
  } else {
    failed = mesh_builder_refuse(b, "no memory for %u nodes", use_count);
  }
  free(first);
  free(next);
  return failed;
}
