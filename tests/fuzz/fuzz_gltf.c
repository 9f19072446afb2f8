/* glTF files, text or binary: read as a sound mesh, or refused with a reason. The files that they name are not
 * there. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/mesh/readers.h"

static void is_sound(const mesh_data *mesh) {
  uint64_t triangles = 0, places = 0;
  for (uint32_t i = 0; i < mesh->part_count; i++) {
    triangles += mesh->parts[i].triangle_count;
    places += mesh->parts[i].place_count;
  }
  claim(triangles == mesh->triangle_count && places == mesh->place_count);
  for (size_t i = 0; i < (size_t)mesh->triangle_count * 3; i++) {
    claim(mesh->indices[i] < mesh->vertex_count);
    for (size_t k = 3 * (size_t)mesh->indices[i], end = k + 3; k < end; k++)
      claim(fabsf(mesh->vertices ? mesh->vertices[k] : (float)mesh->vertices64[k]) <= 0x1p60f);
  }
}

/* The first byte says how the file is read. */
long fuzz_one(const uint8_t *data, size_t size) {
  if (size == 0) return FUZZ_REFUSED;
  const mesh_options options = {.skip_invalid = data[0] & 1,
                                .one_geometry = (data[0] & 2) != 0,
                                .up = data[0] & 4 ? 'z' : 0,
                                .numbers = data[0] & 8 ? MESH_DOUBLES : MESH_FLOATS};
  mesh_file file = {.path = "/nowhere/made.gltf", .ending = "gltf", .named = true, .size = size - 1};
  mesh_builder *builder = mesh_builder_create(&options);
  mesh_data mesh = {0};
  file.bytes = malloc(size);
  claim(builder != NULL && file.bytes != NULL);
  memcpy(file.bytes, data + 1, file.size);
  file.bytes[file.size] = '\0';
  const int failed = read_gltf(&file, builder) || mesh_builder_end(builder, &mesh);
  if (failed)
    claim(mesh_builder_wrong(builder)[0] != '\0');
  else
    is_sound(&mesh);
  const long outcome = failed ? FUZZ_REFUSED : (long)mesh.triangle_count;
  mesh_free(&mesh);
  mesh_builder_destroy(builder);
  free(file.bytes);
  return outcome;
}
