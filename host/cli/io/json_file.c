#include "json_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "output.h"

json_t *json_number_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

int json_save(const char *path, json_t *document) {
  char *text = document ? json_dumps(document, JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(9)) : NULL;
  output *out = NULL;
  int failed = -1;
  if (!text)
    complain("cannot write %s: out of memory", path);
  else
    out = output_open(path, OUTPUT_NEW);
  if (out && output_write(out, text, strlen(text)) == 0 && output_write(out, "\n", 1) == 0) {
    failed = output_commit(out);
    out = NULL;
  }
  output_discard(out);
  free(text);
  json_decref(document);
  return failed;
}
