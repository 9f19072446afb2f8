/* What Collada, AMF and 3MF files say of their axis and unit: nothing, or an axis and a length that can be one. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/mesh/assimp_says.h"

/* The first byte says which format it is. Returns 1 for an axis, 2 for a unit, 3 for both. */
long fuzz_one(const uint8_t *data, size_t size) {
  static const char *const endings[] = {"dae", "amf", "3mf"};
  if (size == 0) return FUZZ_REFUSED;
  mesh_file file = {.path = "made", .ending = endings[data[0] % 3], .named = true, .size = size - 1};
  char up = 'n';
  double unit = -1;
  file.bytes = malloc(size);
  claim(file.bytes != NULL);
  memcpy(file.bytes, data + 1, file.size);
  file.bytes[file.size] = '\0';
  assimp_facts(&file, NULL, &up, &unit);
  free(file.bytes);
  claim(up == 0 || (up >= 'x' && up <= 'z'));
  claim(unit == 0 || (unit > 0 && unit < 1e9));
  return (up ? 1 : 0) + (unit > 0 ? 2 : 0);
}
