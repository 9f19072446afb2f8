#include "csv.h"

#include <errno.h>
#include <string.h>

bool csv_open(const char *bench, const char *path, FILE **csv) {
  if (path == NULL) return true;
  *csv = fopen(path, "w");
  if (*csv == NULL) fprintf(stderr, "%s: %s: %s\n", bench, path, strerror(errno));
  return *csv != NULL;
}

bool csv_close(const char *bench, const char *path, FILE *csv) {
  if (csv == NULL) return true;
  const bool bad = ferror(csv) != 0;
  if (fclose(csv) == 0 && !bad) return true;
  fprintf(stderr, "%s: %s: not all of it was written\n", bench, path);
  return false;
}
