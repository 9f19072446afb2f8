/* The program's own readers of mesh files. The input's first byte chooses the reader: o for OBJ, p for PLY, s for STL,
 * f for OFF, l for LWOB; the file is what follows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/mesh/readers.h"

static mesh_reader *reader_of(uint8_t letter) {
  switch (letter) {
    case 'o':
      return read_obj;
    case 'p':
      return read_ply;
    case 's':
      return read_stl;
    case 'f':
      return read_off;
    case 'l':
      return read_lwob;
    default:
      return NULL;
  }
}

static void is_sound(const mesh_data *mesh) {
  uint64_t triangles = 0, names = 0;
  claim(mesh->triangle_count > 0 && mesh->part_count > 0 && mesh->place_count == 0);
  for (size_t i = 0; i < (size_t)mesh->triangle_count * 3; i++) claim(mesh->indices[i] < mesh->vertex_count);
  claim((mesh->vertices == NULL) != (mesh->vertices64 == NULL));
  for (size_t i = 0; i < (size_t)mesh->vertex_count * 3; i++)
    claim(fabsf(mesh->vertices ? mesh->vertices[i] : (float)mesh->vertices64[i]) <= 0x1p60f);
  for (uint32_t i = 0; i < mesh->part_count; i++) triangles += mesh->parts[i].triangle_count;
  for (uint32_t i = 0; i < mesh->name_bytes; i++) names += mesh->names[i] == '\0';
  claim(triangles == mesh->triangle_count && names == mesh->part_count);
}

/* Reads the file, and returns whether that went well. A failure must have a reason. */
static bool read_mesh(mesh_reader *read, const mesh_file *file, mesh_options options, mesh_data *mesh) {
  mesh_builder *builder = mesh_builder_create(&options);
  claim(builder != NULL);
  *mesh = (mesh_data){0};
  const bool done = read(file, builder) == 0 && mesh_builder_end(builder, mesh) == 0;
  claim(done || mesh_builder_wrong(builder)[0] != '\0');
  if (done) is_sound(mesh);
  mesh_builder_destroy(builder);
  return done;
}

/* A file that is read whole is read the same where invalid faces are dropped: it has none. In double it has the same
 * triangles. */
long fuzz_one(const uint8_t *data, size_t size) {
  mesh_reader *read = size > 0 ? reader_of(data[0]) : NULL;
  if (read == NULL) return FUZZ_REFUSED;
  mesh_data mesh, kept, doubles;
  mesh_file file = {.path = "", .ending = "", .bytes = malloc(size), .size = size - 1};
  claim(file.bytes != NULL);
  memcpy(file.bytes, data + 1, file.size);
  file.bytes[file.size] = '\0';
  const bool whole = read_mesh(read, &file, (mesh_options){0}, &mesh),
             some = read_mesh(read, &file, (mesh_options){.skip_invalid = true}, &kept),
             wide = read_mesh(read, &file, (mesh_options){.numbers = MESH_DOUBLES}, &doubles);
  claim(!whole || (some && kept.facts.dropped == 0 && kept.triangle_count == mesh.triangle_count));
  claim(whole || !some || kept.facts.dropped > 0);
  claim(wide == whole && doubles.triangle_count == mesh.triangle_count);
  const long triangles = whole ? (long)mesh.triangle_count : FUZZ_REFUSED;
  mesh_free(&mesh);
  mesh_free(&kept);
  mesh_free(&doubles);
  free(file.bytes);
  return triangles;
}
