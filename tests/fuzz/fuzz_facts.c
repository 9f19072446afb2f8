/* The facts that Collada, AMF and 3MF files state of their axis and unit: nothing, or a valid axis and length. Also the
 * facts that 3MF requires. Decimals of texts are spelled for the import library, so that nothing is left to be spelled
 * anew. Texts may be in UTF-16, or packed. */
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"
#include "program/mesh/assimp_decimals.h"
#include "program/mesh/assimp_says.h"
#include "program/mesh/utf16.h"
#include "program/mesh/zip.h"

static void respell(const char *text, size_t size, bool keeps_all) {
  assimp_decimals decimals = {.keeps_all = keeps_all};
  char *once = NULL, *twice = NULL;
  size_t once_size = 0, twice_size = 0;
  claim(assimp_decimals_respell(&decimals, text, size, &once, &once_size) == 0);
  if (once) {
    claim(strlen(once) <= once_size && once[once_size] == '\0');
    claim(assimp_decimals_respell(&decimals, once, once_size, &twice, &twice_size) == 0 && twice == NULL);
  }
  free(once);
  for (size_t i = 0; i < decimals.capacity; i++) {
    const float narrow = -decimals.at[i].narrow;
    double lost = 0;
    if (narrow == 0) continue;
    claim((float)assimp_decimals_wide(&decimals, narrow) <= narrow / 2);
    claim((float)assimp_decimals_only(&decimals, narrow, &lost) <= narrow / 2 && lost >= 0);
    claim(!decimals.at[i].are_several || (keeps_all && lost > 0));
  }
  assimp_decimals_end(&decimals);
}

static void translate(const char *bytes, size_t size) {
  size_t text_size = 0;
  char *text = utf16_to_utf8(bytes, size, &text_size);
  claim(text == NULL || (strlen(text) == text_size && text_size <= size / 2 * 3));
  free(text);
}

static void unpack(const char *bytes, size_t size) {
  char *(*const unpackers[])(const char *, size_t, size_t *) = {zip_collada, zip_inflated};
  for (int i = 0; i < 2; i++) {
    size_t text_size = 0;
    char *text = unpackers[i](bytes, size, &text_size);
    claim(text == NULL || (text[text_size] == '\0' && text_size / 1032 <= size));
    free(text);
  }
}

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
  char loss[ASSIMP_LOSS_MAX] = "";
  claim(assimp_lacks(&file, loss) == (loss[0] != '\0'));
  for (int keeps_all = 0; keeps_all < 2; keeps_all++) respell(file.bytes, file.size, keeps_all != 0);
  translate(file.bytes, file.size);
  unpack(file.bytes, file.size);
  free(file.bytes);
  claim(up == 0 || (up >= 'x' && up <= 'z'));
  claim(unit == 0 || (unit > 0 && unit < 1e9));
  return (up ? 1 : 0) + (unit > 0 ? 2 : 0);
}
