#include "program/mesh/zip.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "program/os/file.h"

/* The parts of an archive, all checked to be inside. */
typedef struct span {
  const unsigned char *bytes;
  size_t size;
} span;

static uint32_t number(const unsigned char *at, int bytes) {
  uint32_t value = 0;
  for (int k = 0; k < bytes; k++) value |= (uint32_t)at[k] << 8 * k;
  return value;
}

static span behind(span from, size_t offset) {
  return offset <= from.size ? (span){from.bytes + offset, from.size - offset} : (span){NULL, 0};
}

static int begins(span from, uint32_t signature, size_t size) {
  return from.size >= size && number(from.bytes, 4) == signature;
}

/* The archive's directory, which its last record points to; a comment may follow. Without one: empty. */
static span find_directory(span archive) {
  enum { RECORD = 22, COMMENT_MAX = 65535 };
  for (size_t back = RECORD; back <= archive.size && back <= RECORD + COMMENT_MAX; back++) {
    const span record = behind(archive, archive.size - back);
    if (begins(record, 0x06054b50, RECORD)) return behind(archive, number(record.bytes + 16, 4));
  }
  return (span){NULL, 0};
}

/* A file of an archive. */
typedef struct entry {
  span bytes; /* from its first byte up to the archive's end; none: it cannot be read */
  int packed;
  uint32_t size, crc; /* of the unpacked data */
} entry;

/* A name that begins with a dot is an ending. */
static int is_named(const char *text, const char *name) {
  return name[0] == '.' ? os_has_ending(text, name) : os_same_name(text, name);
}

static entry open_entry(span archive, span directory) {
  enum { HEADER = 30 };
  const uint32_t method = number(directory.bytes + 10, 2);
  const span file = behind(archive, number(directory.bytes + 42, 4));
  entry found = {
      .packed = method == 8, .size = number(directory.bytes + 24, 4), .crc = number(directory.bytes + 16, 4)};
  if ((method == 0 || method == 8) && begins(file, 0x04034b50, HEADER))
    found.bytes = behind(file, HEADER + (size_t)number(file.bytes + 26, 2) + number(file.bytes + 28, 2));
  return found;
}

/* The first file of this name. */
static entry find_file(span archive, const char *name) {
  enum { ENTRY = 46, NAME_MAX_BYTES = 256 };
  span at = find_directory(archive);
  while (begins(at, 0x02014b50, ENTRY)) {
    const uint32_t size = number(at.bytes + 28, 2);
    const span named = behind(at, ENTRY);
    char text[NAME_MAX_BYTES] = "";
    if (size < sizeof text && named.size >= size) memcpy(text, named.bytes, size);
    if (is_named(text, name)) return open_entry(archive, at);
    at = behind(named, (size_t)size + number(at.bytes + 30, 2) + number(at.bytes + 32, 2));
  }
  return (entry){.packed = 0};
}

/* Unpacks at most `size` bytes; returns how many. *ended: these are all. */
static size_t unpack(span file, char *bytes, size_t size, int *ended) {
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)file.bytes, .next_out = (Bytef *)bytes};
  stream.avail_in = file.size < UINT32_MAX ? (uInt)file.size : UINT32_MAX;
  stream.avail_out = size < UINT32_MAX ? (uInt)size : UINT32_MAX;
  const size_t space = stream.avail_out;
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return 0;
  *ended = inflate(&stream, Z_SYNC_FLUSH) == Z_STREAM_END;
  inflateEnd(&stream);
  return space - stream.avail_out;
}

/* The same of a file of an archive. */
static size_t copy_entry(const entry *file, char *bytes, size_t size) {
  int ended = 0;
  if (file->packed) return unpack(file->bytes, bytes, size, &ended);
  const size_t got = file->bytes.size < size ? file->bytes.size : size;
  memcpy(bytes, file->bytes.bytes, got);
  return got;
}

size_t zip_begin_of(const char *archive, size_t archive_size, const char *name, char *bytes, size_t size) {
  const entry file = find_file((span){(const unsigned char *)archive, archive_size}, name);
  if (file.bytes.bytes == NULL || size == 0) return 0;
  const size_t got = copy_entry(&file, bytes, size - 1);
  bytes[got] = '\0';
  return got;
}

/* ---- whole texts ----------------------------------------------------------------- */

/* The whole of a file, if its size and sum are those in its archive. Deflate makes at most 1,032 bytes out of one. */
static char *whole_entry(const entry *file, size_t *size) {
  const size_t wanted = file->size;
  if (file->bytes.bytes == NULL || wanted / 1032 > file->bytes.size) return NULL;
  char *text = malloc(wanted + 1);
  *size = text ? copy_entry(file, text, wanted) : 0;
  if (text && *size == wanted && crc32(0, (const Bytef *)text, (uInt)wanted) == file->crc) {
    text[wanted] = '\0';
    return text;
  }
  free(text);
  return NULL;
}

char *zip_text(const char *archive, size_t archive_size, const char *name, size_t *size) {
  const entry file = find_file((span){(const unsigned char *)archive, archive_size}, name);
  return whole_entry(&file, size);
}

/* The name that a manifest has in its element dae_root, which is an address: a part of the file may follow. */
static void read_root(const char *manifest, char *name, size_t size) {
  static const char element[] = "<dae_root>";
  const char *at = strstr(manifest, element);
  if (at == NULL) return;
  at += sizeof element - 1;
  at += strspn(at, " \t\r\n");
  at += strncmp(at, "./", 2) == 0 ? 2 : 0;
  const size_t length = strcspn(at, "<#\t\r\n");
  if (length > 0 && length < size) snprintf(name, size, "%.*s", (int)length, at);
}

char *zip_collada(const char *archive, size_t archive_size, size_t *size) {
  char manifest[4096], name[256] = ".dae";
  if (zip_begin_of(archive, archive_size, "manifest.xml", manifest, sizeof manifest) > 0)
    read_root(manifest, name, sizeof name);
  const span all = {(const unsigned char *)archive, archive_size};
  entry file = find_file(all, name);
  if (file.bytes.bytes == NULL) file = find_file(all, ".dae");
  return whole_entry(&file, size);
}

char *zip_inflated(const char *bytes, size_t packed_size, size_t *size) {
  enum { MARK = 2 };
  const span file = behind((span){(const unsigned char *)bytes, packed_size}, MARK);
  char *text = NULL;
  int ended = 0;
  for (size_t capacity = 8 * file.size + 1024; file.size > 0 && capacity / 2064 <= file.size + 1024; capacity *= 2) {
    char *grown = realloc(text, capacity);
    if (grown == NULL) break;
    text = grown;
    *size = unpack(file, text, capacity - 1, &ended);
    text[*size] = '\0';
    if (ended) return text;
    if (*size < capacity - 1) break; /* it is damaged, or cut short */
  }
  free(text);
  return NULL;
}
