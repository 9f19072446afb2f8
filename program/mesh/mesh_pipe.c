/* Transfers a mesh through a pipe from a process that may have crashed or been corrupted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/mesh/mesh.h"
#include "program/os/file.h"

static const char magic[8] = {'s', 'l', 'a', 'b', 'm', 's', 'h', '1'};

typedef struct pipe_header {
  char magic[8];
  uint64_t vertex_count, triangle_count;
  uint64_t message_size; /* not 0: an error message of this many bytes, and no mesh */
  uint64_t checksum;     /* checksum of the data that follows */
} pipe_header;

/* FNV-1a. It detects incomplete or corrupted data from a failing child. */
static uint64_t checksum(uint64_t hash, const void *data, size_t size) {
  const unsigned char *bytes = data;
  for (size_t i = 0; i < size; i++) hash = (hash ^ bytes[i]) * 0x100000001b3u;
  return hash;
}

static const uint64_t checksum_start = 0xcbf29ce484222325u;

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

int mesh_send(int fd, const mesh_data *mesh) {
  const size_t vertex_bytes = (size_t)mesh->vertex_count * 3 * sizeof(float);
  const size_t index_bytes = (size_t)mesh->triangle_count * 3 * sizeof(uint32_t);
  pipe_header header = {.vertex_count = mesh->vertex_count, .triangle_count = mesh->triangle_count};
  memcpy(header.magic, magic, sizeof magic);
  header.checksum = checksum(checksum(checksum_start, mesh->vertices, vertex_bytes), mesh->indices, index_bytes);
  if (write_all(fd, &header, sizeof header) != 0) return -1;
  if (write_all(fd, mesh->vertices, vertex_bytes) != 0) return -1;
  return write_all(fd, mesh->indices, index_bytes);
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
  } else if ((header->triangle_count + header->vertex_count) * 12 > max_bytes) {
    snprintf(error, error_size, "%s are more than the importer had memory for", counts);
  } else {
    return 0;
  }
  return -1;
}

static int receive_arrays(int fd, const pipe_header *header, mesh_data *out, char *error, size_t error_size) {
  const size_t vertex_bytes = (size_t)header->vertex_count * 3 * sizeof(float);
  const size_t index_bytes = (size_t)header->triangle_count * 3 * sizeof(uint32_t);
  char beyond, counts[COUNTS_MAX];
  out->vertices = malloc(vertex_bytes + 1);
  out->indices = malloc(index_bytes + 1);
  if (out->vertices == NULL || out->indices == NULL) {
    describe_counts(header, counts);
    snprintf(error, error_size, "no memory for %s", counts);
    return -1;
  }
  if (read_all(fd, out->vertices, vertex_bytes) != vertex_bytes ||
      read_all(fd, out->indices, index_bytes) != index_bytes || read_all(fd, &beyond, 1) != 0 ||
      checksum(checksum(checksum_start, out->vertices, vertex_bytes), out->indices, index_bytes) != header->checksum) {
    snprintf(error, error_size, "the mesh that the importer sent is damaged");
    return -1;
  }
  out->vertex_count = (uint32_t)header->vertex_count;
  out->triangle_count = (uint32_t)header->triangle_count;
  for (size_t i = 0; i < index_bytes / sizeof *out->indices; i++) {
    if (out->indices[i] < out->vertex_count) continue;
    snprintf(error, error_size, "triangle %zu has vertex index %u of %u %s", i / 3, out->indices[i], out->vertex_count,
             plural(out->vertex_count, "vertex", "vertices"));
    return -1;
  }
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
  if (receive_arrays(fd, &header, out, error, error_size) == 0) return 0;
  mesh_free(out);
  return -1;
}

void mesh_free(mesh_data *mesh) {
  free(mesh->vertices);
  free(mesh->indices);
  *mesh = (mesh_data){0};
}
