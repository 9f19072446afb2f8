#include "program/mesh/zip.h"

#include <stdint.h>
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

/* The packed bytes behind a file's own header, up to the archive's end; *packed: whether they are. */
static span find_file(span archive, const char *name, int *packed) {
  enum { ENTRY = 46, HEADER = 30 };
  span at = find_directory(archive);
  const size_t length = strlen(name);
  while (begins(at, 0x02014b50, ENTRY)) {
    const uint32_t method = number(at.bytes + 10, 2), name_size = number(at.bytes + 28, 2);
    const span named = behind(at, ENTRY);
    char text[64] = "";
    if (name_size == length && length < sizeof text && named.size >= length) memcpy(text, named.bytes, length);
    if (os_same_name(text, name)) {
      const span file = behind(archive, number(at.bytes + 42, 4));
      *packed = method == 8;
      if ((method != 0 && method != 8) || !begins(file, 0x04034b50, HEADER)) break;
      return behind(file, HEADER + (size_t)number(file.bytes + 26, 2) + number(file.bytes + 28, 2));
    }
    at = behind(named, (size_t)name_size + number(at.bytes + 30, 2) + number(at.bytes + 32, 2));
  }
  return (span){NULL, 0};
}

static size_t unpack(span file, char *bytes, size_t size) {
  z_stream stream = {.next_in = (Bytef *)(uintptr_t)file.bytes, .next_out = (Bytef *)bytes, .avail_out = (uInt)size};
  stream.avail_in = file.size < UINT32_MAX ? (uInt)file.size : UINT32_MAX;
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return 0;
  inflate(&stream, Z_SYNC_FLUSH);
  inflateEnd(&stream);
  return size - stream.avail_out;
}

size_t zip_begin_of(const char *archive, size_t archive_size, const char *name, char *bytes, size_t size) {
  int packed = 0;
  const span file = find_file((span){(const unsigned char *)archive, archive_size}, name, &packed);
  size_t got = 0;
  if (file.bytes == NULL || size == 0) return 0;
  if (packed) {
    got = unpack(file, bytes, size - 1);
  } else {
    got = file.size < size - 1 ? file.size : size - 1;
    memcpy(bytes, file.bytes, got);
  }
  bytes[got] = '\0';
  return got;
}
