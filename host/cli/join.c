/* slabcast join: the outputs of `cast --shard 0/N` to `N-1/N`, in this order, as one. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "npy.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "result_file.h"

typedef struct join_options {
  const char *out;
} join_options;

static const option option_rows[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(join_options, out), "the whole", 0, 0},
};

static const command_line command = {
    .usage = "join SHARD... -o FILE",
    .about =
        "Puts the npy outputs of `slabcast cast --shard` together, in the order given; offsets of\n"
        "--query all (SHARD.offsets.npy) are found and joined too.",
    .closing = "  slabcast join hits.0.npy hits.1.npy hits.2.npy -o hits.npy",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
    .arguments = 1 << 20,
};

/* ---- one shard ------------------------------------------------------------- */

/* Opens an array of one dimension and checks that all of it is there. 0, or -1 with the error printed. */
static int open_array(const char *path, input *in, npy_header *header) {
  if (input_open(in, path)) return -1;
  if (npy_read(in, header)) goto failed;
  if (header->dimensions != 1) {
    complain("%s: an array of %d dimensions; results have one", path, header->dimensions);
    goto failed;
  }
  if (in->size == INPUT_UNKNOWN || header->shape[0] <= (in->size - in->place) / header->item_size) return 0;
  complain("%s: truncated: %" PRIu64 " items of %zu bytes are promised, %" PRIu64 " bytes are there", path,
           header->shape[0], header->item_size, in->size - in->place);
failed:
  input_close(in);
  return -1;
}

/* Copies `bytes` bytes; with `add`, as uint64_t to each of which it is added. */
static int copy(input *in, output *out, uint64_t bytes, uint64_t add) {
  uint64_t block[8192];
  while (bytes) {
    const size_t wanted = bytes < sizeof block ? (size_t)bytes : sizeof block;
    size_t got = 0;
    if (input_read(in, block, wanted, &got)) return -1;
    if (got < wanted) {
      complain("%s: truncated while it was read", in->name);
      return -1;
    }
    for (size_t i = 0; add && i < got / sizeof *block; i++) block[i] += add;
    if (output_write(out, block, got)) return -1;
    bytes -= got;
  }
  return 0;
}

/* ---- results --------------------------------------------------------------- */

/* Rows of each shard and the dtype they share. */
static int survey(char **shards, int count, uint64_t *rows, npy_header *common) {
  for (int i = 0; i < count; i++) {
    input in;
    npy_header header;
    if (open_array(shards[i], &in, &header)) return -1;
    input_close(&in);
    if (i == 0) *common = header;
    if (strcmp(header.descr, common->descr)) {
      complain("%s: dtype %.200s differs from that of %s: %.200s", shards[i], header.descr, shards[0], common->descr);
      return -1;
    }
    rows[i] = header.shape[0];
  }
  return 0;
}

static uint64_t sum(const uint64_t *rows, int count) {
  uint64_t total = 0;
  for (int i = 0; i < count; i++) total += rows[i];
  return total;
}

static int write_header(output *out, const char *descr, uint64_t rows) {
  char header[NPY_HEADER_MAX];
  return output_write(out, header, npy_write(header, descr, rows, 0));
}

static int join_results(char **shards, const uint64_t *rows, int count, const npy_header *common, output *out) {
  const uint64_t total = sum(rows, count);
  progress line = progress_begin("joining", "rows", 0, total);
  uint64_t done = 0;
  if (write_header(out, common->descr, total)) return -1;
  for (int i = 0; i < count; i++) {
    input in;
    npy_header header;
    if (open_array(shards[i], &in, &header)) return -1;
    const int failed = copy(&in, out, rows[i] * common->item_size, 0);
    input_close(&in);
    if (failed) return -1;
    progress_at(&line, done += rows[i]);
  }
  progress_end(&line);
  return 0;
}

/* ---- offsets --------------------------------------------------------------- */

/* How many of the shards have offsets. */
static int count_offsets(char **names, int count) {
  int found = 0;
  for (int i = 0; i < count; i++) found += access(names[i], F_OK) == 0;
  return found;
}

static int check_offsets(char **names, int count, uint64_t *entries) {
  npy_header common;
  if (survey(names, count, entries, &common)) return -1;
  if (strcmp(common.descr, "'<u8'")) {
    complain("%s: dtype %.200s is not that of offsets, '<u8'", names[0], common.descr);
    return -1;
  }
  for (int i = 0; i < count; i++)
    if (entries[i] == 0) {
      complain("%s: offsets have at least one entry", names[i]);
      return -1;
    }
  return 0;
}

/* The last entry of a shard's offsets counts its rows. */
static int check_last(const char *name, uint64_t expected, output *out) {
  uint64_t last = 0;
  if (output_read_back(out, output_size(out) - sizeof last, &last, sizeof last)) return -1;
  if (last == expected) return 0;
  complain("%s does not belong to its shard: the last offset and the number of hits differ by %" PRId64, name,
           (int64_t)(last - expected));
  return -1;
}

/* Every shard's offsets begin with 0, which only the first one's keep. */
static int join_offsets(char **names, const uint64_t *entries, const uint64_t *rows, int count, output *out) {
  uint64_t before = 0;
  if (write_header(out, "'<u8'", sum(entries, count) - (uint64_t)count + 1)) return -1;
  for (int i = 0; i < count; i++) {
    input in;
    npy_header header;
    const uint64_t skipped = i > 0;
    if (open_array(names[i], &in, &header)) return -1;
    const int failed = input_skip(&in, skipped * sizeof(uint64_t)) ||
                       copy(&in, out, (entries[i] - skipped) * sizeof(uint64_t), before);
    input_close(&in);
    if (failed) return -1;
    before += rows[i];
    if (check_last(names[i], before, out)) return -1;
  }
  return 0;
}

/* ---- both ------------------------------------------------------------------ */

typedef struct join_job {
  char **shards, **offsets; /* offsets: the names they would have */
  int count;
  uint64_t *rows, *entries;
  output *out, *offsets_out;
} join_job;

static int allocate(join_job *job) {
  const size_t count = (size_t)job->count;
  job->rows = calloc(count, sizeof *job->rows);
  job->entries = calloc(count, sizeof *job->entries);
  job->offsets = calloc(count, sizeof *job->offsets);
  for (size_t i = 0; job->offsets && i < count; i++)
    if (!(job->offsets[i] = offsets_name(job->shards[i]))) break;
  if (job->rows && job->entries && job->offsets && job->offsets[count - 1]) return 0;
  complain("out of memory");
  return -1;
}

static void release(join_job *job) {
  output_discard(job->out);
  output_discard(job->offsets_out);
  for (int i = 0; job->offsets && i < job->count; i++) free(job->offsets[i]);
  free(job->offsets);
  free(job->rows);
  free(job->entries);
}

static int open_offsets(join_job *job, const char *path) {
  const int found = count_offsets(job->offsets, job->count);
  if (found == 0) return 0;
  if (found < job->count) {
    for (int i = 0; i < job->count; i++)
      if (access(job->offsets[i], F_OK)) complain("%s is missing", job->offsets[i]);
    return -1;
  }
  if (output_is_direct(path)) {
    complain("shards with offsets are joined to two files: %s is not one", path);
    return -1;
  }
  char *name = offsets_name(path);
  if (!name) complain("out of memory");
  if (name && !check_offsets(job->offsets, job->count, job->entries)) job->offsets_out = output_open(name, OUTPUT_NEW);
  free(name);
  return job->offsets_out ? 0 : -1;
}

static int join(join_job *job, const char *path) {
  npy_header common;
  if (output_probe(path) || survey(job->shards, job->count, job->rows, &common)) return -1;
  if (!(job->out = output_open(path, OUTPUT_NEW)) || open_offsets(job, path)) return -1;
  if (join_results(job->shards, job->rows, job->count, &common, job->out)) return -1;
  if (job->offsets_out && join_offsets(job->offsets, job->entries, job->rows, job->count, job->offsets_out)) return -1;
  output *out = job->out, *offsets_out = job->offsets_out;
  job->out = job->offsets_out = NULL;
  return output_commit_pair(out, offsets_out);
}

int command_join(int argc, char **argv) {
  join_options options = {0};
  join_job job = {.shards = argv + 1};
  int code = options_parse(&command, argc, argv, &options, &job.count);
  if (code != OPTIONS_RUN) return code;
  if (job.count == 0) return options_refuse(&command, "no shards are named");
  if (!options.out) return options_refuse(&command, "-o FILE is missing");
  code = allocate(&job) || join(&job, options.out) ? EXIT_FAILED : EXIT_DONE;
  release(&job);
  return code;
}
