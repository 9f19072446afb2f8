/* make_npy TYPES [DESCR SHAPE ORDER]: converts numbers on stdin to binary on stdout. If DESCR, SHAPE and ORDER
 * (True: Fortran) are given, an npy header comes first. They are written unchanged, even if they are wrong, with quotes
 * around a DESCR that is no list.
 *
 * TYPES names one type per column: f float32, F the same big-endian, d float64, u uint32, b byte, Q uint64. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int put(const void *bytes, size_t size) { return fwrite(bytes, size, 1, stdout) == 1 ? 0 : -1; }

static int put_reversed(const unsigned char *bytes, size_t size) {
  while (size > 0)
    if (put(bytes + --size, 1)) return -1;
  return 0;
}

static int put_number(char type, const char *text) {
  const float real = strtof(text, NULL);
  const double wide = strtod(text, NULL);
  const uint64_t whole = strtoull(text, NULL, 10);
  const uint32_t narrow = (uint32_t)whole;
  const unsigned char byte = (unsigned char)whole;
  switch (type) {
    case 'f':
      return put(&real, sizeof real);
    case 'F':
      return put_reversed((const unsigned char *)&real, sizeof real);
    case 'd':
      return put(&wide, sizeof wide);
    case 'u':
      return put(&narrow, sizeof narrow);
    case 'b':
      return put(&byte, sizeof byte);
    case 'Q':
      return put(&whole, sizeof whole);
    default:
      return -1;
  }
}

/* Version 1.0. The data begin at a multiple of 64 bytes. */
static int put_header(const char *descr, const char *shape, const char *order) {
  char text[1024];
  const char *quote = descr[0] == '[' ? "" : "'";
  const int length = snprintf(text, sizeof text, "{'descr': %s%s%s, 'fortran_order': %s, 'shape': %s, }", quote, descr,
                              quote, order, shape);
  if (length < 0 || (size_t)length >= sizeof text) return -1;
  const unsigned size = ((unsigned)length + 11 + 63) / 64 * 64 - 10;
  const unsigned char front[10] = {
      0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, (unsigned char)size, (unsigned char)(size >> 8)};
  return put(front, sizeof front) || printf("%-*s\n", (int)size - 1, text) < 0 ? -1 : 0;
}

int main(int argc, char **argv) {
  char text[64];
  if (argc != 2 && argc != 5) return 2;
  if (argc == 5 && put_header(argv[2], argv[3], argv[4])) return 1;
  for (size_t i = 0; scanf("%63s", text) == 1; i++)
    if (put_number(argv[1][i % strlen(argv[1])], text)) return 1;
  return fflush(stdout) ? 1 : 0;
}
