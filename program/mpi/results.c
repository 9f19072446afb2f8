#include "program/mpi/results.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "program/io/errors.h"
#include "program/io/npy.h"
#include "program/io/output.h"
#include "program/io/result_row.h"
#include "program/mpi/shared_file.h"

/* Size of the buffer for rows and offsets. */
enum { BLOCK_BYTES = 1 << 22 };

/* A file of rows after a header. */
typedef struct team_output {
  output *out; /* only on rank 0 */
  char part[PATH_MAX];
  uint64_t header; /* bytes before the first row */
  shared_file file;
} team_output;

struct team_results {
  result_options options;
  result_row row;
  team_output hits, offsets; /* offsets: for SLAB_ALL */
  char note[NPY_NOTE_MAX];   /* shard label in the headers */
  char *block;
};

/* ---- opening --------------------------------------------------------------- */

const char *team_results_refusal(const char *out, file_format format, int resume) {
  if (out && output_is_direct(out)) return "-o wants a file: every rank writes at places of its own";
  if (out && format != FORMAT_NPY && format != FORMAT_RAW)
    return "results are npy or raw: other formats have no places known before";
  return resume ? "--resume is for one process: the ranks leave no beginning to go on from" : NULL;
}

/* Rank 0: creates FILE.part with its header. */
static int create(team_output *to, const char *path, const char *descr, uint64_t rows, const char *note) {
  char header[NPY_HEADER_MAX];
  if (!(to->out = output_open(path, OUTPUT_NEW))) return EXIT_FAILED;
  if (descr) to->header = npy_write_noted(header, descr, rows, note);
  strcpy(to->part, output_part(to->out));
  return output_write(to->out, header, (size_t)to->header) || output_unlock(to->out) ? EXIT_FAILED : EXIT_DONE;
}

static int create_hits(team_results *r) {
  char descr[NPY_DESCR_MAX];
  const result_options *options = &r->options;
  result_descr(&r->row, descr, sizeof descr);
  return create(&r->hits, options->path, options->format == FORMAT_NPY ? descr : NULL,
                options->query == SLAB_ALL ? 0 : options->rays, r->note);
}

/* Creates the offsets file. Its first entry is 0; one entry per ray follows. */
static int create_offsets(team_results *r) {
  const uint64_t zero = 0;
  char *name = offsets_name(r->options.path);
  if (!name) complain("cannot write %s: out of memory", r->options.path);
  int code = name ? create(&r->offsets, name, "'<u8'", r->options.rays + 1, r->note) : EXIT_FAILED;
  free(name);
  if (code == EXIT_DONE && output_write(r->offsets.out, &zero, sizeof zero)) code = EXIT_FAILED;
  r->offsets.header += sizeof zero;
  return code;
}

/* Collective: opens on every rank the file that rank 0 created. */
static int open_part(team *t, team_output *to, const char *name) {
  team_share(t, to->part, sizeof to->part);
  team_share(t, &to->header, sizeof to->header);
  const int failed = shared_file_open(t, to->part, name, MPI_MODE_WRONLY, &to->file);
  const int code = team_agree(t, failed ? EXIT_FAILED : EXIT_DONE);
  if (code != EXIT_DONE) to->file.open = 0; /* closing is collective, but the file is not open on all ranks */
  return code;
}

static void release(team_results *r) {
  shared_file_close(&r->hits.file);
  shared_file_close(&r->offsets.file);
  output_discard(r->hits.out);
  output_discard(r->offsets.out);
  free(r->block);
  free(r);
}

int team_results_open(team *t, const result_options *options, team_results **opened) {
  team_results *r = calloc(1, sizeof *r);
  int code = EXIT_DONE;
  *opened = NULL;
  if (!r || !(r->block = malloc(BLOCK_BYTES))) {
    complain("cannot write %s: out of memory", options->path);
    code = EXIT_FAILED;
  }
  if ((code = team_agree(t, code)) != EXIT_DONE || !r)
    goto failed; /* !r implies an error code; the test is for the static analyser */
  const int all = options->query == SLAB_ALL;
  r->options = *options;
  const result_form form = {options->query, options->points, options->doubles, options->places};
  r->row = options->row ? *options->row : result_row_of(&form, 0);
  if (options->shard.count) shard_label_write(&options->shard, r->note);
  if (t->rank == 0) code = create_hits(r);
  if (t->rank == 0 && all && code == EXIT_DONE) code = create_offsets(r);
  if ((code = team_agree(t, code)) != EXIT_DONE) goto failed;
  code = open_part(t, &r->hits, options->path);
  if (all && code == EXIT_DONE) code = open_part(t, &r->offsets, options->path);
  if (code == EXIT_DONE) {
    *opened = r;
    return code;
  }
failed:
  if (r) release(r);
  return code;
}

/* ---- rows ------------------------------------------------------------------ */

static int write_rows(team_results *r, uint64_t row, const void *rows, uint64_t count) {
  return shared_file_write(&r->hits.file, r->hits.header + row * r->row.size, rows, (size_t)(count * r->row.size));
}

/* Packs and writes rows, block by block. */
static int put_packed(team_results *r, uint64_t row, const result_rays *rays, const char *results,
                      const uint64_t *offsets, size_t n) {
  const size_t size = result_size(r->options.query, r->options.doubles), capacity = BLOCK_BYTES / RESULT_ROW_MAX;
  size_t filled = 0;
  for (size_t i = 0; i < n; i++) {
    const uint64_t begin = offsets ? offsets[i] : i, end = offsets ? offsets[i + 1] : i + 1;
    for (uint64_t k = begin; k < end; k++) {
      unsigned char packed[RESULT_ROW_MAX];
      result_pack(&r->row, 0, rays, i, results + k * size, packed);
      memcpy(r->block + filled++ * r->row.size, packed, r->row.size);
      if (filled < capacity) continue;
      if (write_rows(r, row, r->block, filled)) return -1;
      row += filled;
      filled = 0;
    }
  }
  return write_rows(r, row, r->block, filled);
}

/* Writes offsets. The offsets of a batch begin at 0; in the file they continue from the rows before. */
static int put_offsets(team_results *r, uint64_t ray, uint64_t row, const uint64_t *offsets, size_t n) {
  uint64_t *block = (uint64_t *)(void *)r->block;
  for (size_t i = 0; i < n;) {
    size_t filled = 0;
    const uint64_t place = r->offsets.header + (ray + i) * sizeof *block;
    for (; i < n && filled < BLOCK_BYTES / sizeof *block; i++) block[filled++] = row + offsets[i + 1];
    if (shared_file_write(&r->offsets.file, place, block, filled * sizeof *block)) return -1;
  }
  return 0;
}

int team_results_put(team_results *r, uint64_t ray, uint64_t row, const result_rays *rays, const void *results,
                     const uint64_t *offsets, size_t n) {
  const int failed = r->options.row || result_row_is_plain(&r->row)
                         ? write_rows(r, row, results, offsets ? offsets[n] : n)
                         : put_packed(r, row, rays, results, offsets, n);
  return failed || (offsets && put_offsets(r, ray, row, offsets, n)) ? -1 : 0;
}

/* ---- the end --------------------------------------------------------------- */

/* Flushes the data of each rank's machine to the shared file. */
static int sync_files(team_results *r) {
  const int failed = shared_file_sync(&r->hits.file);
  return (r->offsets.file.open && shared_file_sync(&r->offsets.file)) || failed ? EXIT_FAILED : EXIT_DONE;
}

/* Rank 0: writes the row count, which is known only now, and renames the files. */
static int commit(team_results *r, uint64_t rows) {
  char header[NPY_HEADER_MAX], descr[NPY_DESCR_MAX];
  output *hits = r->hits.out, *offsets = r->offsets.out;
  result_descr(&r->row, descr, sizeof descr);
  if (offsets && r->hits.header > 0 && /* this header is as long as the first one */
      output_patch(hits, 0, header, npy_write_noted(header, descr, rows, r->note)))
    return EXIT_FAILED;
  r->hits.out = r->offsets.out = NULL;
  return output_commit_pair(hits, offsets) ? EXIT_FAILED : EXIT_DONE;
}

int team_results_close(team *t, team_results *r, int code, uint64_t rows) {
  code = team_agree(t, code);
  if (!r) return code;
  if (code == EXIT_DONE) code = team_agree(t, sync_files(r));
  shared_file_close(&r->hits.file);
  shared_file_close(&r->offsets.file);
  if (code == EXIT_DONE) code = team_agree(t, t->rank == 0 ? commit(r, rows) : EXIT_DONE);
  release(r);
  return code;
}
