/* LWOB, the objects of LightWave up to 5: chunks of numbers whose first byte is the high one. The import library reads
 * the format that followed, LWO2, and refuses this one. */
#include <stdlib.h>
#include <string.h>

#include "program/mesh/readers.h"

typedef struct chunk {
  const unsigned char *at, *end;
} chunk;

typedef struct lwob {
  const mesh_file *file;
  mesh_builder *builder;
  corner_list corners;
} lwob;

static uint32_t number_at(const unsigned char *at, int bytes) {
  uint32_t value = 0;
  for (int i = 0; i < bytes; i++) value = value << 8 | at[i];
  return value;
}

static size_t left(const chunk *c) { return (size_t)(c->end - c->at); }

static uint32_t take(chunk *c, int bytes) {
  const uint32_t value = number_at(c->at, bytes);
  c->at += bytes;
  return value;
}

bool lwob_is(const mesh_file *file) {
  return file->size >= 12 && !memcmp(file->bytes, "FORM", 4) && !memcmp(file->bytes + 8, "LWOB", 4);
}

static int cut_short(const lwob *l, const char *name) {
  return mesh_builder_refuse(l->builder, "its chunk %s is cut short", name);
}

static int give_points(const lwob *l, chunk c) {
  mesh_builder_list(l->builder, NULL);
  for (; left(&c) >= 12;) {
    float point[3];
    for (int k = 0; k < 3; k++) {
      const uint32_t bits = take(&c, 4);
      memcpy(&point[k], &bits, sizeof bits);
    }
    if (mesh_builder_vertex_float(l->builder, point) != 0) return -1;
  }
  return left(&c) ? cut_short(l, "PNTS") : 0;
}

/* Each polygon: how many corners, these, and its surface. A negative surface has polygons of detail behind it, which
 * stand in the list like all others; their number comes between. */
static int give_polygons(lwob *l, chunk c) {
  while (left(&c) > 0) {
    const size_t corners = left(&c) >= 2 ? take(&c, 2) : SIZE_MAX;
    if (corners > left(&c) / 2 || left(&c) < 2 * corners + 2) return cut_short(l, "POLS");
    l->corners.count = 0;
    for (size_t i = 0; i < corners; i++)
      if (corner_append(&l->corners, take(&c, 2), l->builder) != 0) return -1;
    const bool has_details = take(&c, 2) >= 0x8000;
    if (has_details && left(&c) < 2) return cut_short(l, "POLS");
    if (has_details) take(&c, 2);
    if (mesh_builder_face(l->builder, l->corners.at, corners) != 0) return -1;
  }
  return 0;
}

/* The chunk of this name; one without bytes: there is none. Returns -1 where it is longer than the file. */
static int find_chunk(const lwob *l, const char *name, chunk *found) {
  enum { HEADER = 8 };
  const unsigned char *bytes = (const unsigned char *)l->file->bytes;
  chunk rest = {bytes + 12, bytes + l->file->size};
  *found = (chunk){rest.end, rest.end};
  while (left(&rest) >= HEADER) {
    const bool is_found = !memcmp(rest.at, name, 4);
    const size_t size = number_at(rest.at + 4, 4);
    rest.at += HEADER;
    if (size > left(&rest)) return is_found ? cut_short(l, name) : 0;
    if (is_found) *found = (chunk){rest.at, rest.at + size};
    if (is_found) return 0;
    rest.at += size + (size % 2 && size < left(&rest)); /* the next one begins at an even byte */
  }
  return 0;
}

int read_lwob(const mesh_file *file, mesh_builder *builder) {
  lwob l = {.file = file, .builder = builder};
  chunk points, polygons;
  if (!lwob_is(file)) return mesh_builder_refuse(builder, "it does not begin with FORM and LWOB");
  const int failed = find_chunk(&l, "PNTS", &points) || find_chunk(&l, "POLS", &polygons) || give_points(&l, points) ||
                     give_polygons(&l, polygons);
  free(l.corners.at);
  return failed ? -1 : 0;
}
