/* slabcast join: joins the outputs of `cast --shard 0/N` to `N-1/N`. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "os/process.h"
#include "program/common/options.h"
#include "program/io/errors.h"
#include "program/io/npy.h"
#include "program/io/output.h"
#include "program/io/progress.h"
#include "program/io/result_file.h"

typedef struct join_options {
  const char *out;
} join_options;

static const option option_rows[] = {
    {"-o", "FILE", OPTION_TEXT, offsetof(join_options, out), "the whole", 0, 0},
};

static const command_line command = {
    .usage = "join SHARD... -o FILE",
    .about =
        "Puts the npy outputs of `slabcast cast --shard` (or view) together; offsets of --query all\n"
        "(SHARD.offsets.npy) are found and joined too. Each shard knows its place: they may be named in any\n"
        "order, and one that is missing, named twice or of another scene, other rays or other options is\n"
        "refused. Arrays that are no shards are joined in the order given. Slices in raw or text are put\n"
        "together by cat.",
    .closing = "  slabcast join hits.?.npy hits.??.npy -o hits.npy",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
    .arguments = 1 << 20,
};

/* ---- one shard ------------------------------------------------------------- */

typedef struct piece {
  const char *path;
  char *offsets;          /* name of the offsets file, whether it exists or not */
  uint64_t rows, entries; /* entries: of the offsets */
  shard_label label;
} piece;

/* Opens an array of one dimension and checks that the file holds all of it. Returns 0, or -1 with the error printed. */
static int open_array(const char *path, input *in, npy_header *header) {
  if (input_open(in, path)) return -1;
  if (npy_read(in, header)) goto failed;
  if (header->dimensions != 1) {
    complain("%s: an array of %d dimensions; results have one", path, header->dimensions);
    goto failed;
  }
  if (in->size == INPUT_UNKNOWN || header->shape[0] <= (in->size - in->place) / header->item_size) return 0;
  const uint64_t there = in->size - in->place;
  complain("%s: truncated: %" PRIu64 " %s of %zu %s %s promised, %" PRIu64 " %s there", path, header->shape[0],
           plural(header->shape[0], "item", "items"), header->item_size, plural(header->item_size, "byte", "bytes"),
           plural(header->shape[0], "is", "are"), there, plural(there, "byte is", "bytes are"));
failed:
  input_close(in);
  return -1;
}

/* Copies `bytes` bytes. If `add` is not 0, they are uint64_t and `add` is added to each. */
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

/* ---- order of the shards --------------------------------------------------- */

/* Reads rows and label of each shard, and the dtype that they share. */
static int survey(piece *pieces, int count, npy_header *common) {
  for (int i = 0; i < count; i++) {
    input in;
    npy_header header;
    if (open_array(pieces[i].path, &in, &header)) return -1;
    input_close(&in);
    if (i == 0) *common = header;
    if (strcmp(header.descr, common->descr) != 0) {
      complain("%s: dtype %.200s differs from that of %s: %.200s", pieces[i].path, header.descr, pieces[0].path,
               common->descr);
      return -1;
    }
    pieces[i].rows = header.shape[0];
    shard_label_read(header.note, &pieces[i].label);
  }
  return 0;
}

/* The shard that most of them agree with, if there is one (Boyer and Moore 1981); of two the first. */
static const piece *find_usual(const piece *pieces, int count) {
  const piece *usual = pieces;
  int votes = 0;
  for (const piece *other = pieces; other < pieces + count; other++) {
    if (votes == 0) usual = other;
    votes += shard_label_differs(&usual->label, &other->label) ? -1 : 1;
  }
  return usual;
}

static int refuse_alien(const piece *alien, const piece *usual, const char *how) {
  const shard_label *a = &alien->label, *u = &usual->label;
  if (a->count == 0 || u->count == 0)
    complain("%s is no shard, %s is shard %" PRIu64 " of %" PRIu64, a->count ? usual->path : alien->path,
             a->count ? alien->path : usual->path, a->count ? a->index : u->index, a->count ? a->count : u->count);
  else if (a->count != u->count || a->total != u->total)
    complain("%s is a shard %s, one of %" PRIu64 " of %" PRIu64 " %s; %s is one of %" PRIu64 " of %" PRIu64 " %s",
             alien->path, how, a->count, a->total, plural(a->total, "ray", "rays"), usual->path, u->count, u->total,
             plural(u->total, "ray", "rays"));
  else
    complain("%s is a shard %s than %s", alien->path, how, usual->path);
  return -1;
}

/* Checks that all are shards of one cast. */
static int check_family(const piece *pieces, int count) {
  const piece *usual = find_usual(pieces, count);
  for (const piece *other = pieces; other < pieces + count; other++) {
    const char *how = shard_label_differs(&other->label, &usual->label);
    if (how) return refuse_alien(other, usual, how);
  }
  return 0;
}

static int by_index(const void *a, const void *b) {
  const uint64_t x = ((const piece *)a)->label.index, y = ((const piece *)b)->label.index;
  return x < y ? -1 : x > y;
}

/* Sorts the shards of a cast; each must be present once. */
static int sort_shards(piece *pieces, int count) {
  const uint64_t shards = pieces[0].label.count;
  if (check_family(pieces, count)) return -1;
  if (shards == 0) return 0;
  qsort(pieces, (size_t)count, sizeof *pieces, by_index);
  for (int i = 1; i < count; i++) {
    if (pieces[i].label.index != pieces[i - 1].label.index) continue;
    complain("%s and %s are the same shard, %" PRIu64 " of %" PRIu64 " (counted from 0)", pieces[i - 1].path,
             pieces[i].path, pieces[i].label.index, shards);
    return -1;
  }
  for (uint64_t i = 0; i < shards; i++) {
    if (i < (uint64_t)count && pieces[i].label.index == i) continue;
    complain("shard %" PRIu64 " of %" PRIu64 " (counted from 0) is missing", i, shards);
    return -1;
  }
  return 0;
}

/* Checks that a shard has results of as many rays as its label says. */
static int check_rays(const char *name, const shard_label *label, uint64_t rays) {
  if (label->count == 0 || label->rays == rays) return 0;
  complain("%s holds the results of %" PRIu64 " %s, its label says %" PRIu64, name, rays, plural(rays, "ray", "rays"),
           label->rays);
  return -1;
}

/* ---- results --------------------------------------------------------------- */

static int write_header(output *out, const char *descr, uint64_t rows) {
  char header[NPY_HEADER_MAX];
  return output_write(out, header, npy_write(header, descr, rows, 0));
}

static int join_results(const piece *pieces, int count, const npy_header *common, output *out) {
  uint64_t total = 0, done = 0;
  for (int i = 0; i < count; i++) total += pieces[i].rows;
  progress line = progress_begin("joining", "rows", 0, total);
  if (write_header(out, common->descr, total)) return -1;
  for (int i = 0; i < count; i++) {
    input in;
    npy_header header;
    if (open_array(pieces[i].path, &in, &header)) return -1;
    const int failed = copy(&in, out, pieces[i].rows * common->item_size, 0);
    input_close(&in);
    if (failed) return -1;
    progress_at(&line, done += pieces[i].rows);
  }
  progress_end(&line);
  return 0;
}

/* ---- offsets --------------------------------------------------------------- */

/* Counts the shards that have offsets. */
static int count_offsets(const piece *pieces, int count) {
  int found = 0;
  for (int i = 0; i < count; i++) found += os_has_file(pieces[i].offsets);
  return found;
}

static int scene_bounds_offsets(piece *pieces, int count) {
  for (piece *at = pieces; at < pieces + count; at++) {
    input in;
    npy_header header;
    shard_label label;
    if (open_array(at->offsets, &in, &header)) return -1;
    input_close(&in);
    at->entries = header.shape[0];
    shard_label_read(header.note, &label);
    if (strcmp(header.descr, "'<u8'") != 0) {
      complain("%s: dtype %.200s is not that of offsets, '<u8'", at->offsets, header.descr);
      return -1;
    }
    if (at->entries == 0) {
      complain("%s: offsets have at least one entry", at->offsets);
      return -1;
    }
    if (memcmp(&label, &at->label, sizeof label) != 0) {
      complain("%s does not belong to its shard: the offsets are of another slice or cast", at->offsets);
      return -1;
    }
    if (check_rays(at->offsets, &label, at->entries - 1)) return -1;
  }
  return 0;
}

/* Checks that the last offset of a shard equals its number of rows. */
static int check_last(const char *name, uint64_t expected, output *out) {
  uint64_t last = 0;
  if (output_read_back(out, output_size(out) - sizeof last, &last, sizeof last)) return -1;
  if (last == expected) return 0;
  complain("%s does not belong to its shard: the last offset and the number of hits differ by %" PRId64, name,
           (int64_t)(last - expected));
  return -1;
}

/* Joins the offsets. Each shard's offsets begin with 0; only that of the first shard is kept. */
static int join_offsets(const piece *pieces, int count, output *out) {
  uint64_t before = 0, entries = 1;
  for (int i = 0; i < count; i++) entries += pieces[i].entries - 1;
  if (write_header(out, "'<u8'", entries)) return -1;
  for (int i = 0; i < count; i++) {
    input in;
    npy_header header;
    const uint64_t skipped = i > 0;
    if (open_array(pieces[i].offsets, &in, &header)) return -1;
    const int failed = input_skip(&in, skipped * sizeof(uint64_t)) ||
                       copy(&in, out, (pieces[i].entries - skipped) * sizeof(uint64_t), before);
    input_close(&in);
    if (failed) return -1;
    before += pieces[i].rows;
    if (check_last(pieces[i].offsets, before, out)) return -1;
  }
  return 0;
}

/* ---- both ------------------------------------------------------------------ */

typedef struct join_job {
  piece *pieces;
  int count;
  output *out, *offsets_out;
} join_job;

static int name_pieces(join_job *job, char **paths) {
  job->pieces = calloc((size_t)job->count, sizeof *job->pieces);
  for (int i = 0; job->pieces && i < job->count; i++) {
    job->pieces[i].path = paths[i];
    job->pieces[i].offsets = offsets_name(paths[i]);
    if (!job->pieces[i].offsets) break;
  }
  if (job->pieces && job->pieces[job->count - 1].offsets) return 0;
  complain("out of memory");
  return -1;
}

static void release(join_job *job) {
  output_discard(job->out);
  output_discard(job->offsets_out);
  for (int i = 0; job->pieces && i < job->count; i++) free(job->pieces[i].offsets);
  free(job->pieces);
}

/* Checks the rows of shards without offsets: one row per ray. */
static int check_rows(const piece *pieces, int count) {
  for (int i = 0; i < count; i++)
    if (check_rays(pieces[i].path, &pieces[i].label, pieces[i].rows)) return -1;
  return 0;
}

static int open_offsets(join_job *job, const char *path) {
  const int found = count_offsets(job->pieces, job->count);
  if (found == 0) return check_rows(job->pieces, job->count);
  if (found < job->count) {
    for (int i = 0; i < job->count; i++)
      if (!os_has_file(job->pieces[i].offsets)) complain("%s is missing", job->pieces[i].offsets);
    return -1;
  }
  if (output_is_direct(path)) {
    complain("shards with offsets are joined to two files: %s is not one", path);
    return -1;
  }
  char *name = offsets_name(path);
  if (!name) complain("out of memory");
  if (name && !scene_bounds_offsets(job->pieces, job->count)) job->offsets_out = output_open(name, OUTPUT_NEW);
  free(name);
  return job->offsets_out ? 0 : -1;
}

/* Checks that neither the whole nor its offsets are one of the shards' files. */
static int check_output(const join_job *job, const char *path) {
  char *offsets = offsets_name(path);
  if (!offsets) complain("out of memory");
  int failed = !offsets || output_probe(path);
  for (int i = 0; i < job->count && !failed; i++)
    failed = output_spares(path, job->pieces[i].path) || output_spares(path, job->pieces[i].offsets) ||
             output_spares(offsets, job->pieces[i].path) || output_spares(offsets, job->pieces[i].offsets);
  free(offsets);
  return failed ? -1 : 0;
}

static int join(join_job *job, const char *path) {
  npy_header common;
  if (check_output(job, path) || survey(job->pieces, job->count, &common) || sort_shards(job->pieces, job->count))
    return -1;
  if (!(job->out = output_open(path, OUTPUT_NEW)) || open_offsets(job, path)) return -1;
  if (join_results(job->pieces, job->count, &common, job->out)) return -1;
  if (job->offsets_out && join_offsets(job->pieces, job->count, job->offsets_out)) return -1;
  output *out = job->out, *offsets_out = job->offsets_out;
  job->out = job->offsets_out = NULL;
  return output_commit_pair(out, offsets_out);
}

static int command_main(int argc, char **argv) {
  join_options options = {0};
  join_job job = {0};
  int code = options_parse(&command, argc, argv, &options, &job.count);
  if (code != OPTIONS_RUN) return code;
  if (job.count == 0) return options_refuse(&command, "no shards are named");
  if (!options.out) return options_refuse(&command, "-o FILE is missing");
  code = options_check_ending(&command, options.out, "npy");
  if (code != OPTIONS_RUN) return code;
  code = name_pieces(&job, argv + 1) || join(&job, options.out) ? EXIT_FAILED : EXIT_DONE;
  release(&job);
  return code;
}

const program_command command_join = {"join", "put the shards of a cast together", command_main, &command};
