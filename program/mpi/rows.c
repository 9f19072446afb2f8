#include "program/mpi/rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "os/clock.h"
#include "program/io/errors.h"
#include "program/os/file.h"

int rows_are_streamed(const char *path) {
  os_facts file;
  return path && (!strcmp(path, "-") || (os_facts_of(path, &file) == 0 && file.kind != OS_FILE));
}

int rows_refuse_text(const char *path) {
  complain("%s: lines of text have no places known before: make them npy or raw", path);
  return EXIT_FAILED;
}

/* Sets the size of the batches, which is at most that of one process. */
static int share_out(const team *t, const rows_options *options, team_rows *rows) {
  const uint64_t size = (uint64_t)t->size, round = size * options->batch;
  rows->count = ray_source_count(rows->source);
  rows->rounds = rows->count / round + (rows->count % round > 0);
  const uint64_t shares = size * rows->rounds;
  rows->batch = rows->rounds ? rows->count / shares + (rows->count % shares > 0) : 1;
  const int made = ray_array_make(rows->source, (size_t)rows->batch, &rows->rays) == 0;
  rows->bytes = rows->grid ? NULL : malloc((size_t)rows->batch * ray_source_bytes(rows->source));
  if (made && (rows->bytes || rows->grid)) return EXIT_DONE;
  complain("out of memory for batches of %" PRIu64 " %s", rows->batch,
           plural(rows->batch, options->one, options->several));
  return EXIT_FAILED;
}

int team_rows_open(team *t, const rows_options *options, team_rows *rows) {
  const char *path = options->path;
  *rows = (team_rows){.source = options->source, .grid = options->grid};
  int code = team_agree(t, share_out(t, options, rows));
  if (code != EXIT_DONE || options->grid) return code;
  code = team_agree(t, shared_file_open(t, path, path, MPI_MODE_RDONLY, &rows->file) ? EXIT_FAILED : EXIT_DONE);
  if (code != EXIT_DONE) rows->file.open = 0; /* closing is collective, but the file is not open on all ranks */
  return code;
}

void team_rows_close(team_rows *rows) {
  shared_file_close(&rows->file);
  ray_array_free(&rows->rays);
  free(rows->bytes);
}

size_t team_rows_batch(const team *t, const team_rows *rows, uint64_t round, uint64_t *begin) {
  const uint64_t index = round * (uint64_t)t->size + (uint64_t)t->rank, at = index * rows->batch;
  *begin = at < rows->count ? at : rows->count;
  const uint64_t left = rows->count - *begin;
  return (size_t)(left < rows->batch ? left : rows->batch);
}

int team_rows_read(team_rows *rows, uint64_t begin, size_t n) {
  if (rows->grid) {
    grid_points(rows->grid, ray_source_first(rows->source) + begin, n, rows->rays.floats, rows->rays.doubles);
    return EXIT_DONE;
  }
  const double start = seconds_now();
  const size_t row = ray_source_bytes(rows->source);
  const int failed = shared_file_read(&rows->file, ray_source_place(rows->source) + begin * row, rows->bytes, n * row);
  rows->read_seconds += seconds_now() - start;
  if (failed) return EXIT_FAILED;
  ray_source_convert(rows->source, rows->bytes, n, rows->rays);
  return EXIT_DONE;
}
