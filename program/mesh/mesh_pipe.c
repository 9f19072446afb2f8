/* Transfers a mesh through a pipe from a process that may have crashed or been corrupted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/text.h"
#include "program/mesh/mesh.h"
#include "program/os/file.h"

static const char magic[8] = {'s', 'l', 'a', 'b', 'm', 's', 'h', '4'};

typedef struct pipe_header {
  char magic[8];
  uint64_t vertex_count, triangle_count, part_count, place_count, name_bytes, file_bytes;
  uint64_t in_double; /* 1: vertices64 is sent; 0: vertices */
  mesh_facts facts;
  uint64_t message_size; /* not 0: an error message of this many bytes, and no mesh */
  uint64_t checksum;     /* of in_double, facts and the data that follows */
} pipe_header;

/* FNV-1a. It detects incomplete or corrupted data from a failing child. */
static uint64_t checksum(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

static const uint64_t checksum_start = 0xcbf29ce484222325u;

static uint64_t checksum_of(const pipe_header *header) {
  const uint64_t sum = checksum(checksum_start, &header->in_double, sizeof header->in_double);
  return checksum(sum, &header->facts, sizeof header->facts);
}

static int write_all(int fd, const void *data, size_t size) {
  const char *at = data;
  while (size > 0) {
    const int64_t done = os_write(fd, at, size);
    if (done <= 0) return -1;
    at += done;
    size -= (size_t)done;
  }
  return 0;
}

/* Reads up to `size` bytes; returns the number read before the end. */
static size_t read_all(int fd, void *data, size_t size) {
  size_t have = 0;
  while (have < size) {
    const int64_t got = os_read(fd, (char *)data + have, size - have);
    if (got <= 0) break;
    have += (size_t)got;
  }
  return have;
}

/* The arrays of a mesh in the order in which they are sent. */
enum { ARRAYS = 6 };

typedef struct array {
  void **place; /* the member of mesh_data */
  size_t bytes;
} array;

static size_t bytes_of_vertex(const pipe_header *header) {
  return 3 * (header->in_double ? sizeof(double) : sizeof(float));
}

static void arrays_of(const pipe_header *header, mesh_data *mesh, array arrays[ARRAYS]) {
  void **vertices = header->in_double ? (void **)&mesh->vertices64 : (void **)&mesh->vertices;
  arrays[0] = (array){vertices, (size_t)header->vertex_count * bytes_of_vertex(header)};
  arrays[1] = (array){(void **)&mesh->indices, (size_t)header->triangle_count * 3 * sizeof(uint32_t)};
  arrays[2] = (array){(void **)&mesh->parts, (size_t)header->part_count * sizeof(mesh_part)};
  arrays[3] = (array){(void **)&mesh->places, (size_t)header->place_count * MESH_PLACE * sizeof(double)};
  arrays[4] = (array){(void **)&mesh->names, (size_t)header->name_bytes};
  arrays[5] = (array){(void **)&mesh->files, (size_t)header->file_bytes};
}

int mesh_send(int fd, const mesh_data *mesh) {
  pipe_header header;
  mesh_data data = *mesh;
  array arrays[ARRAYS];
  memset(&header, 0, sizeof header); /* the checksum covers the padding of facts */
  memcpy(header.magic, magic, sizeof magic);
  header.vertex_count = mesh->vertex_count;
  header.triangle_count = mesh->triangle_count;
  header.part_count = mesh->part_count;
  header.place_count = mesh->place_count;
  header.name_bytes = mesh->name_bytes;
  header.file_bytes = mesh->file_bytes;
  header.in_double = mesh->vertices64 != NULL;
  memcpy(&header.facts, &mesh->facts, sizeof header.facts);
  arrays_of(&header, &data, arrays);
  header.checksum = checksum_of(&header);
  for (int i = 0; i < ARRAYS; i++) header.checksum = checksum(header.checksum, *arrays[i].place, arrays[i].bytes);
  if (write_all(fd, &header, sizeof header) != 0) return -1;
  for (int i = 0; i < ARRAYS; i++)
    if (write_all(fd, *arrays[i].place, arrays[i].bytes) != 0) return -1;
  return 0;
}

int mesh_send_error(int fd, const char *message) {
  pipe_header header = {.message_size = strlen(message)};
  memcpy(header.magic, magic, sizeof magic);
  header.checksum = checksum(checksum_start, message, strlen(message));
  if (write_all(fd, &header, sizeof header) != 0) return -1;
  return write_all(fd, message, strlen(message));
}

/* Replaces unprintable characters, because the importer's message quotes the file. */
static void make_printable(char *text) {
  for (; *text; text++)
    if (*text < ' ' || *text > '~') *text = *text == '\n' ? ' ' : '?';
}

/* Replaces control characters and bytes that are no UTF-8 in names, each of which ends with NUL. */
static void clean_names(char *names, size_t size) {
  for (size_t i = 0; i < size;) {
    const size_t length = text_shown(names + i);
    if (length == 0 && names[i] != '\0') names[i] = '?';
    i += length ? length : 1;
  }
}

static int receive_message(int fd, const pipe_header *header, char *error, size_t error_size) {
  char text[512];
  if (header->message_size >= sizeof text ||
      read_all(fd, text, (size_t)header->message_size) != (size_t)header->message_size ||
      memchr(text, '\0', (size_t)header->message_size) != NULL ||
      checksum(checksum_start, text, (size_t)header->message_size) != header->checksum) {
    snprintf(error, error_size, "the importer failed and its message is damaged");
    return -1;
  }
  text[header->message_size] = '\0';
  make_printable(text);
  snprintf(error, error_size, "%s", text);
  return -1;
}

enum { COUNTS_MAX = 80 };

static void describe_counts(const pipe_header *header, char text[COUNTS_MAX]) {
  snprintf(text, COUNTS_MAX, "%llu %s and %llu %s", (unsigned long long)header->vertex_count,
           plural(header->vertex_count, "vertex", "vertices"), (unsigned long long)header->triangle_count,
           plural(header->triangle_count, "triangle", "triangles"));
}

static int check_header(const pipe_header *header, uint64_t max_bytes, char *error, size_t error_size) {
  const uint64_t most = UINT32_MAX - 15; /* 2^32 - 16: larger ids mean a miss */
  char counts[COUNTS_MAX];
  describe_counts(header, counts);
  if (memcmp(header->magic, magic, sizeof magic) != 0) {
    snprintf(error, error_size, "the importer sent something else than a mesh");
  } else if (header->triangle_count > most || header->vertex_count > most) {
    snprintf(error, error_size, "%s are more than the 2^32 - 16 that fit in a geometry", counts);
  } else if (header->part_count > most || header->place_count > most || header->name_bytes > most ||
             header->file_bytes > most || header->in_double > 1) {
    snprintf(error, error_size, "the importer sent something else than a mesh");
  } else if (header->triangle_count * 12 + header->vertex_count * bytes_of_vertex(header) +
                 header->part_count * sizeof(mesh_part) + header->place_count * MESH_PLACE * sizeof(double) +
                 header->name_bytes + header->file_bytes >
             max_bytes) {
    snprintf(error, error_size, "%s are more than the importer had memory for", counts);
  } else {
    return 0;
  }
  return -1;
}

/* Reads all arrays and checks them by the checksum. */
static int receive_arrays(int fd, const pipe_header *header, mesh_data *out, char *error, size_t error_size) {
  array arrays[ARRAYS];
  char beyond, counts[COUNTS_MAX];
  bool whole = true;
  uint64_t sum = checksum_of(header);
  arrays_of(header, out, arrays);
  for (int i = 0; i < ARRAYS && whole; i++) {
    void *data = malloc(arrays[i].bytes + 1);
    if (data == NULL) {
      describe_counts(header, counts);
      snprintf(error, error_size, "no memory for %s", counts);
      return -1;
    }
    *arrays[i].place = data;
    whole = read_all(fd, data, arrays[i].bytes) == arrays[i].bytes;
    if (whole) sum = checksum(sum, data, arrays[i].bytes);
  }
  if (whole && read_all(fd, &beyond, 1) == 0 && sum == header->checksum) return 0;
  snprintf(error, error_size, "the mesh that the importer sent is damaged");
  return -1;
}

static bool are_indices_sound(const mesh_data *mesh, char *error, size_t error_size) {
  for (size_t i = 0; i < (size_t)mesh->triangle_count * 3; i++) {
    if (mesh->indices[i] < mesh->vertex_count) continue;
    snprintf(error, error_size, "triangle %zu has vertex index %u of %u %s", i / 3, mesh->indices[i],
             mesh->vertex_count, plural(mesh->vertex_count, "vertex", "vertices"));
    return false;
  }
  return true;
}

static bool is_ended(const char *texts, uint32_t bytes) { return bytes == 0 || texts[bytes - 1] == '\0'; }

/* Whether parts have all triangles, places and names, and nothing more. */
static bool are_parts_sound(const mesh_data *mesh, char *error, size_t error_size) {
  uint64_t triangles = 0, places = 0, names = 0, named = 0;
  for (uint32_t i = 0; i < mesh->part_count; i++) {
    triangles += mesh->parts[i].triangle_count;
    places += mesh->parts[i].place_count;
    named += mesh->parts[i].place_count ? mesh->parts[i].place_count : 1;
  }
  for (uint32_t i = 0; i < mesh->name_bytes; i++) names += mesh->names[i] == '\0';
  const bool ended = is_ended(mesh->names, mesh->name_bytes) && is_ended(mesh->files, mesh->file_bytes);
  if (triangles == mesh->triangle_count && places == mesh->place_count && names == named && ended) return true;
  snprintf(error, error_size, "the parts of the mesh that the importer sent do not fit it");
  return false;
}

static int receive_mesh(int fd, const pipe_header *header, mesh_data *out, char *error, size_t error_size) {
  out->vertex_count = (uint32_t)header->vertex_count;
  out->triangle_count = (uint32_t)header->triangle_count;
  out->part_count = (uint32_t)header->part_count;
  out->place_count = (uint32_t)header->place_count;
  out->name_bytes = (uint32_t)header->name_bytes;
  out->file_bytes = (uint32_t)header->file_bytes;
  out->facts = header->facts;
  out->facts.first_dropped[sizeof out->facts.first_dropped - 1] = '\0';
  out->facts.warning[sizeof out->facts.warning - 1] = '\0';
  make_printable(out->facts.first_dropped);
  make_printable(out->facts.warning);
  if (receive_arrays(fd, header, out, error, error_size) != 0) return -1;
  if (!are_indices_sound(out, error, error_size) || !are_parts_sound(out, error, error_size)) return -1;
  clean_names(out->names, out->name_bytes);
  return 0;
}

int mesh_receive(int fd, uint64_t max_bytes, mesh_data *out, char *error, size_t error_size) {
  pipe_header header;
  *out = (mesh_data){0};
  error[0] = '\0';
  const size_t got = read_all(fd, &header, sizeof header);
  if (got == 0) return -1;
  if (got != sizeof header) {
    snprintf(error, error_size, "the importer sent %zu %s and ended", got, plural(got, "byte", "bytes"));
    return -1;
  }
  if (check_header(&header, max_bytes, error, error_size) != 0) return -1;
  if (header.message_size != 0) return receive_message(fd, &header, error, error_size);
  if (receive_mesh(fd, &header, out, error, error_size) == 0) return 0;
  mesh_free(out);
  return -1;
}

void mesh_free(mesh_data *mesh) {
  free(mesh->vertices);
  free(mesh->vertices64);
  free(mesh->indices);
  free(mesh->parts);
  free(mesh->places);
  free(mesh->names);
  free(mesh->files);
  *mesh = (mesh_data){0};
}
