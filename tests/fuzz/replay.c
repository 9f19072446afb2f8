/* replay FOLDER: passes every file of a corpus to the fuzz target that this program is linked with. A file's name
 * begins with the expected outcome, so that a damaged corpus is noticed: "refused-...", or how much of it is read,
 * as in "3-rows". */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fuzz.h"

static uint8_t *read_file(const char *path, size_t *size) {
  enum { MOST = 1 << 20 };
  uint8_t *bytes = malloc(MOST);
  FILE *file = fopen(path, "rb");
  if (!bytes || !file) {
    fprintf(stderr, "replay: cannot read %s: %s\n", path, strerror(errno));
    exit(1);
  }
  *size = fread(bytes, 1, MOST, file);
  fclose(file);
  uint8_t *exact = malloc(*size + !*size); /* exact size, so that sanitizers detect reads past the end */
  if (!exact) exit(1);
  memcpy(exact, bytes, *size);
  free(bytes);
  return exact;
}

/* Returns 0, or 1 if the outcome differs from the file's name. */
static int replay(const char *folder, const char *name) {
  char path[4096];
  size_t size = 0;
  const int refused = !strncmp(name, "refused-", 8);
  const long wanted = refused ? FUZZ_REFUSED : strtol(name, NULL, 10);
  snprintf(path, sizeof path, "%s/%s", folder, name);
  uint8_t *bytes = read_file(path, &size);
  fprintf(stderr, "replay: %s\n", path); /* printed first, in case the input ends the process */
  const long got = fuzz_one(bytes, size);
  free(bytes);
  if (got == wanted) return 0;
  fprintf(stderr, "replay: %s: gave %ld, not %ld\n", path, got, wanted);
  return 1;
}

int main(int argc, char **argv) {
  int files = 0, wrong = 0;
  DIR *folder = argc == 2 ? opendir(argv[1]) : NULL;
  if (!folder) {
    fprintf(stderr, "replay: no folder %s\n", argc == 2 ? argv[1] : "is named");
    return 1;
  }
  for (const struct dirent *entry; (entry = readdir(folder)) != NULL;) {
    if (entry->d_name[0] == '.') continue;
    files++;
    wrong += replay(argv[1], entry->d_name);
  }
  closedir(folder);
  printf("%d files replayed, %d wrong\n", files, wrong);
  return files == 0 || wrong > 0;
}
