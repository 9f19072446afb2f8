/* The parent's side of the importer's pipe. The first byte says what the rest is:
 *  - r: the stream itself;
 *  - m: a mesh that a sound child sends: vertices, triangles, then a position and a mask to flip one byte of the
 *    stream with, the bytes of the coordinates, and one byte per index, all reused cyclically;
 *  - d: the same with coordinates in double;
 *  - p: as m, with parts: their number, places and bytes of names after the mask, then triangles and places of each,
 *    and the names; at the end the bytes of the names of files, and these;
 *  - e: a message of a child that failed. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fuzz.h"
#include "program/mesh/mesh.h"

enum { STREAM_MAX = 16384, BYTES_MAX = 1 << 16 };

typedef struct reader {
  const uint8_t *at, *end;
} reader;

/* Returns 0 past the end. */
static uint8_t next_byte(reader *r) { return r->at < r->end ? *r->at++ : 0; }

/* Returns the number of triangles received, or FUZZ_REFUSED. Claims that the mesh is sound. The caller frees *mesh. */
static long receive(const uint8_t *stream, size_t size, mesh_data *mesh, char error[200]) {
  const int fd = open(fuzz_pipe(stream, size), O_RDONLY);
  claim(fd >= 0);
  memset(error, 'x', 200);
  const int failed = mesh_receive(fd, BYTES_MAX, mesh, error, 200);
  close(fd);
  claim(memchr(error, '\0', 200) != NULL);
  if (failed) {
    claim(mesh->vertices == NULL && mesh->vertices64 == NULL && mesh->indices == NULL && mesh->triangle_count == 0);
    claim(error[0] != '\0' || size == 0);
    return FUZZ_REFUSED;
  }
  claim((mesh->vertices == NULL) != (mesh->vertices64 == NULL));
  for (size_t i = 0; i < (size_t)mesh->triangle_count * 3; i++) claim(mesh->indices[i] < mesh->vertex_count);
  return (long)mesh->triangle_count;
}

/* The stream that the child sends, read from the pipe. */
static size_t stream_of(const mesh_data *mesh, const char *message, uint8_t stream[STREAM_MAX]) {
  int ends[2];
  claim(pipe(ends) == 0);
  claim((message ? mesh_send_error(ends[1], message) : mesh_send(ends[1], mesh)) == 0);
  close(ends[1]);
  const ssize_t size = read(ends[0], stream, STREAM_MAX);
  close(ends[0]);
  claim(size > 0 && size < STREAM_MAX);
  return (size_t)size;
}

/* Parts of a mesh of kind p; of kind m one part has all. */
static void make_parts(mesh_data *mesh, bool in_parts, reader *r) {
  mesh->part_count = in_parts ? next_byte(r) : 1;
  mesh->place_count = in_parts ? next_byte(r) % 16 : 0;
  mesh->name_bytes = in_parts ? next_byte(r) : 1;
  mesh->parts = calloc(mesh->part_count + 1, sizeof *mesh->parts);
  mesh->places = calloc(mesh->place_count + 1, MESH_PLACE * sizeof *mesh->places);
  mesh->names = calloc(mesh->name_bytes + 1, 1);
  claim(mesh->parts != NULL && mesh->places != NULL && mesh->names != NULL);
  if (!in_parts) mesh->parts[0].triangle_count = mesh->triangle_count;
  for (uint32_t i = 0; in_parts && i < mesh->part_count; i++) mesh->parts[i] = (mesh_part){next_byte(r), next_byte(r)};
  for (uint32_t i = 0; in_parts && i < mesh->name_bytes; i++) mesh->names[i] = (char)next_byte(r);
}

/* The bytes of the coordinates. */
static size_t coordinates_of(const mesh_data *mesh, uint8_t **bytes) {
  *bytes = mesh->vertices64 ? (uint8_t *)mesh->vertices64 : (uint8_t *)mesh->vertices;
  return (size_t)mesh->vertex_count * 3 * (mesh->vertices64 ? sizeof(double) : sizeof(float));
}

static mesh_data make_mesh(uint32_t vertices, uint32_t triangles, char kind, reader *r) {
  const bool in_parts = kind == 'p';
  void *coordinates = calloc(3 * vertices + 1, sizeof(double));
  uint8_t *bytes;
  mesh_data mesh = {.vertices = kind == 'd' ? NULL : coordinates,
                    .vertices64 = kind == 'd' ? coordinates : NULL,
                    .vertex_count = vertices,
                    .indices = calloc(3 * triangles + 1, sizeof(uint32_t)),
                    .triangle_count = triangles};
  claim(coordinates != NULL && mesh.indices != NULL);
  make_parts(&mesh, in_parts, r);
  const size_t size = coordinates_of(&mesh, &bytes);
  for (size_t i = 0; i < size; i++) bytes[i] = next_byte(r);
  for (size_t i = 0; i < (size_t)triangles * 3; i++) mesh.indices[i] = next_byte(r);
  mesh.file_bytes = in_parts ? next_byte(r) : 0;
  mesh.files = calloc(mesh.file_bytes + 1, 1);
  claim(mesh.files != NULL);
  for (uint32_t i = 0; i < mesh.file_bytes; i++) mesh.files[i] = (char)next_byte(r);
  return mesh;
}

static bool is_ended(const char *texts, uint32_t bytes) { return bytes == 0 || texts[bytes - 1] == '\0'; }

/* Whether the parts have all triangles and places, and a name ends for each part without places and for each place; and
 * whether the last name of a file ends. */
static bool parts_fit(const mesh_data *mesh) {
  long triangles = mesh->triangle_count, places = mesh->place_count, names = 0;
  for (const mesh_part *part = mesh->parts; part < mesh->parts + mesh->part_count; part++) {
    triangles -= part->triangle_count;
    places -= part->place_count;
    names -= part->place_count > 1 ? part->place_count : 1;
  }
  for (uint32_t i = 0; i < mesh->name_bytes; i++) names += mesh->names[i] == '\0';
  return triangles == 0 && places == 0 && names == 0 && is_ended(mesh->names, mesh->name_bytes) &&
         is_ended(mesh->files, mesh->file_bytes);
}

static int indices_in_range(const mesh_data *mesh) {
  for (size_t i = 0; i < (size_t)mesh->triangle_count * 3; i++)
    if (mesh->indices[i] >= mesh->vertex_count) return 0;
  return 1;
}

/* A sound stream must arrive as it was sent. A stream with a flipped byte must be refused. */
static long send_mesh(reader r, char kind) {
  uint8_t stream[STREAM_MAX];
  char error[200];
  const uint32_t vertices = next_byte(&r), triangles = next_byte(&r);
  const size_t place = next_byte(&r) + 256u * next_byte(&r);
  const uint8_t mask = next_byte(&r);
  mesh_data sent = make_mesh(vertices, triangles, kind, &r), got;
  const size_t size = stream_of(&sent, NULL, stream);
  stream[place % size] ^= mask;
  const long outcome = receive(stream, size, &got, error);
  claim(outcome == (mask == 0 && indices_in_range(&sent) && parts_fit(&sent) ? (long)triangles : FUZZ_REFUSED));
  if (outcome != FUZZ_REFUSED) {
    claim(got.vertex_count == vertices);
    uint8_t *came, *went;
    const size_t bytes = coordinates_of(&sent, &went);
    claim(coordinates_of(&got, &came) == bytes && memcmp(came, went, bytes) == 0);
    claim(memcmp(got.indices, sent.indices, (size_t)triangles * 3 * sizeof(uint32_t)) == 0);
    claim(got.part_count == sent.part_count && got.place_count == sent.place_count);
    claim(memcmp(got.parts, sent.parts, sent.part_count * sizeof *sent.parts) == 0);
    claim(got.name_bytes == sent.name_bytes && got.file_bytes == sent.file_bytes);
    claim(memcmp(got.files, sent.files, sent.file_bytes) == 0);
    for (uint32_t i = 0; i < sent.name_bytes; i++) {
      const unsigned char letter = (unsigned char)sent.names[i];
      claim(got.names[i] == sent.names[i] || (got.names[i] == '?' && (letter < ' ' || letter > '~')));
    }
  }
  mesh_free(&got);
  mesh_free(&sent);
  return outcome;
}

static long send_message(const uint8_t *data, size_t size) {
  uint8_t stream[STREAM_MAX];
  char message[400] = "", error[200];
  mesh_data got;
  memcpy(message, data, size < sizeof message ? size : sizeof message - 1);
  const long outcome = receive(stream, stream_of(NULL, message, stream), &got, error);
  for (const char *c = error; *c; c++) claim(*c >= ' ' && *c <= '~');
  mesh_free(&got);
  return outcome;
}

long fuzz_one(const uint8_t *data, size_t size) {
  char error[200];
  mesh_data got;
  if (size == 0 || size > STREAM_MAX) return FUZZ_REFUSED;
  if (data[0] == 'm' || data[0] == 'd' || data[0] == 'p')
    return send_mesh((reader){data + 1, data + size}, (char)data[0]);
  if (data[0] == 'e') return send_message(data + 1, size - 1);
  const long outcome = receive(data + 1, size - 1, &got, error);
  mesh_free(&got);
  return outcome;
}
