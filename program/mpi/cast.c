/* slabcast-mpi cast: distributes the batches of a ray file over the ranks.
 *
 * Results of fixed size have a place in the file that follows from the ray's index, so no rank waits for another.
 * The place of SLAB_ALL hits depends on the hits before them. Each round of batches is therefore cast, then placed by
 * an exclusive scan, then written. */
#include "program/mpi/cast.h"

#include <inttypes.h>

#include "base/plural.h"
#include "program/cast.h"
#include "program/io/errors.h"
#include "program/mpi/complaints.h"
#include "program/mpi/results.h"
#include "program/mpi/rows.h"
#include "program/mpi/scene.h"

typedef struct team_job {
  team *team;
  cast_job cast;
  team_rows rows;
  team_results *results;
  uint64_t ray, row; /* current batch: index of its first ray; file row of its next result */
  uint64_t before;   /* SLAB_ALL: rows of the rounds so far */
  int placed;        /* hits of this round have been placed */
  int ended;         /* a rank has failed; this round is the last */
  own_rows own;      /* the own values of the batch's rays */
  double write_seconds, scene_seconds;
} team_job;

/* ---- options --------------------------------------------------------------- */

/* Rejects options that work only for one process. Returns OPTIONS_RUN, or an exit code. */
static int check_options(const cast_options *options) {
  const char *what = NULL;
  if (rows_are_streamed(options->rays))
    what = "--rays wants a file: every rank reads at places of its own";
  else if (rows_are_streamed(options->own.masks))
    what = "--masks wants a file: every rank reads at places of its own";
  else if (rows_are_streamed(options->own.after))
    what = "--after wants a file: every rank reads at places of its own";
  else if (rows_are_streamed(options->own.worlds))
    what = "--worlds wants a file: every rank reads at places of its own";
  else
    what = team_results_refusal(options->out, (file_format)options->out_format, options->resume);
  if (!what) return OPTIONS_RUN;
  complain("%s", what);
  return EXIT_USAGE;
}

/* Rank 0 parses the command line first, so that an error in it is printed once. */
static int parse(team *t, int argc, char **argv, cast_options *options) {
  int code = OPTIONS_RUN;
  if (t->rank == 0) {
    code = cast_parse(argc, argv, options);
    if (code == OPTIONS_RUN) code = check_options(options);
  }
  code = team_hear(t, code);
  if (code == OPTIONS_RUN && t->rank > 0) code = cast_parse(argc, argv, options);
  return code;
}

/* ---- opening --------------------------------------------------------------- */

/* Reads only the header; rows are read by MPI-IO. */
static int open_header(void *user) {
  team_job *job = user;
  if (cast_open_rays(&job->cast) != EXIT_DONE) return EXIT_FAILED;
  const char *text = ray_source_bytes(job->cast.rays) > 0 ? own_source_text(job->cast.own) : job->cast.options->rays;
  return text ? rows_refuse_text(text) : EXIT_DONE;
}

static int make_own(team_job *job) {
  if (own_rows_make(job->cast.own, job->rows.batch, &job->own) == 0) return EXIT_DONE;
  complain("out of memory for batches of %" PRIu64 " %s", job->rows.batch, plural(job->rows.batch, "ray", "rays"));
  return EXIT_FAILED;
}

/* Opens the rows of the rays, of which the header has been read. */
static int open_rows(team_job *job) {
  const rows_options rows = {
      .path = job->cast.options->rays, .source = job->cast.rays, .batch = CAST_BATCH, .one = "ray", .several = "rays"};
  const int code = team_rows_open(job->team, &rows, &job->rows);
  return code == EXIT_DONE ? team_agree(job->team, make_own(job)) : code;
}

static int open_scene(team_job *job) {
  cast_job *cast = &job->cast;
  const cast_options *options = cast->options;
  const slab_context_options context = cast_context(options);
  const int code = team_scene_open(job->team, options->scene, &context, (slab_tree)options->tree, &cast->context,
                                   &cast->scene, &cast->stats, &cast->device, &job->scene_seconds);
  return code == EXIT_DONE ? team_agree(job->team, cast_settle(cast)) : code;
}

static int open_results(team_job *job) {
  const cast_options *options = job->cast.options;
  if (!options->out) return EXIT_DONE;
  const result_options results = {.path = options->out,
                                  .format = (file_format)options->out_format,
                                  .query = (slab_query)options->query,
                                  .points = options->points,
                                  .doubles = ray_source_has_doubles(job->cast.rays),
                                  .places = scene_is_far(&job->cast.stats),
                                  .rays = job->rows.count,
                                  .shard = cast_label(&job->cast)};
  return team_results_open(job->team, &results, &job->results);
}

/* ---- rounds ---------------------------------------------------------------- */

static int put(void *user, const result_rays *rays, const void *results, const uint64_t *offsets, size_t n) {
  team_job *job = user;
  const double start = seconds_now();
  const int failed = job->results ? team_results_put(job->results, job->ray, job->row, rays, results, offsets, n) : 0;
  job->write_seconds += seconds_now() - start;
  job->ray += n;
  job->row += offsets ? offsets[n] : n;
  return failed;
}

/* Collective, once per round: computes where this rank's hits go, and whether any rank has failed. */
static void place(team_job *job, uint64_t hits, int failed) {
  const uint64_t mine[2] = {hits, (uint64_t)failed};
  uint64_t before[2] = {0, 0}, all[2];
  MPI_Exscan(mine, before, 2, MPI_UINT64_T, MPI_SUM, job->team->comm);
  if (job->team->rank == 0) before[0] = before[1] = 0; /* MPI_Exscan leaves them undefined on rank 0 */
  for (int i = 0; i < 2; i++) all[i] = before[i] + mine[i];
  MPI_Bcast(all, 2, MPI_UINT64_T, job->team->size - 1, job->team->comm);
  job->row = job->before + before[0];
  job->before += all[0];
  job->placed = 1;
  job->ended = all[1] > 0;
}

static int place_hits(void *user, uint64_t hits) {
  team_job *job = user;
  place(job, hits, 0);
  return job->ended;
}

static int read_batch(team_job *job, uint64_t begin, size_t n) {
  const int code = team_rows_read(&job->rows, begin, n);
  if (code != EXIT_DONE) return code;
  own_source *own = job->cast.own;
  return own_source_go_to(own, begin) || own_source_read(own, n, &job->own) ? EXIT_FAILED : EXIT_DONE;
}

/* Runs this rank's batch of a round, if any rays are left for it. */
static int run_batch(team_job *job, uint64_t round) {
  caster *cast = &job->cast.cast;
  uint64_t begin;
  const size_t n = team_rows_batch(job->team, &job->rows, round, &begin);
  if (n == 0) return EXIT_DONE;
  const int code = read_batch(job, begin, n);
  if (code != EXIT_DONE) return code;
  cast->first = ray_source_first(job->cast.rays) + begin - cast->tally.rays;
  cast->options.masks = job->own.masks;
  cast->options.after = job->own.after;
  cast->options.worlds = job->own.worlds;
  job->ray = job->row = begin;
  const slab_source source = {.rays = job->rows.rays.floats, .rays64 = job->rows.rays.doubles, .n = n};
  return caster_run(cast, &source, NULL);
}

/* Runs all rounds; all ranks stop early if one fails. Returns this rank's own code. */
static int run_rounds(team_job *job) {
  const int all = job->cast.cast.query == SLAB_ALL;
  int code = EXIT_DONE;
  for (uint64_t round = 0; round < job->rows.rounds && !job->ended; round++) {
    job->placed = 0;
    if (code == EXIT_DONE) code = run_batch(job, round);
    if (job->ended) code = EXIT_DONE; /* another rank failed */
    if (all && !job->placed) place(job, 0, code != EXIT_DONE);
    if (!all && code != EXIT_DONE) team_tell(job->team);
    if (!all) job->ended = code != EXIT_DONE || team_was_told(job->team);
    progress_at(&job->cast.cast.line, job->cast.cast.tally.rays);
  }
  progress_end(&job->cast.cast.line);
  return code;
}

static int run(team_job *job) {
  caster *cast = &job->cast.cast;
  cast_prepare(&job->cast);
  cast->line.total = job->rows.count / (uint64_t)job->team->size; /* rank 0's share, because rank 0 shows the line */
  cast->line.shown = cast->line.shown && job->team->rank == 0;
  cast->receive = put;
  cast->place = place_hits;
  cast->user = job;
  int code = team_agree(job->team, caster_prepare(cast, (size_t)job->rows.batch));
  if (code == EXIT_DONE) {
    const int mine = run_rounds(job);
    code = team_results_close(job->team, job->results, mine, job->before);
    job->results = NULL;
  }
  caster_release(cast);
  return code;
}

/* ---- the end --------------------------------------------------------------- */

/* Reduces the tallies to rank 0: counts are summed, of seconds and rounding the largest is taken. */
static void gather(team_job *job) {
  cast_tally *t = &job->cast.cast.tally;
  uint64_t *const sums[] = {&t->rays,
                            &t->hits,
                            &t->crossings,
                            &t->invalid,
                            &t->prepare_rays,
                            &t->faults[FAULT_NAN],
                            &t->faults[FAULT_INFINITE],
                            &t->faults[FAULT_DIRECTION],
                            &t->faults[FAULT_FAR],
                            &t->faults[FAULT_WAY]};
  double *const most[] = {&t->prepare_seconds,     &t->cast_seconds,    &job->cast.rounding,
                          &job->rows.read_seconds, &job->write_seconds, &job->scene_seconds};
  job->cast.rounding = ray_source_rounding(job->cast.rays);
  for (size_t i = 0; i < COUNT_OF(sums); i++) team_reduce(job->team, sums[i], MPI_UINT64_T, MPI_SUM);
  for (size_t i = 0; i < COUNT_OF(most); i++) team_reduce(job->team, most[i], MPI_DOUBLE, MPI_MAX);
  team_reduce(job->team, &t->first_invalid, MPI_UINT64_T, MPI_MIN);
  team_reduce_checks(job->team, &t->check);
}

static json_t *summary(const team_job *job) {
  return team_put_times(job->team, cast_summary(&job->cast), job->scene_seconds, job->rows.read_seconds,
                        job->write_seconds);
}

/* On success rank 0 prints what one process would print; on failure it prints how many rays were done. */
static int finish(team_job *job, int code) {
  const cast_tally *tally = &job->cast.cast.tally;
  const uint64_t wrong =
      tally->check.mismatches + tally->check.oracle_wrong; /* this rank's own, read before the sums */
  const char *json = job->cast.options->json;
  gather(job);
  if (code != EXIT_DONE) {
    if (job->team->rank == 0 && tally->rays > 0)
      complain("%" PRIu64 " %s done before", tally->rays, plural(tally->rays, "ray was", "rays were"));
    if (job->team->rank == 0) complaints_say();
    return code;
  }
  if (job->team->rank == 0) cast_tell(&job->cast);
  code = job->team->rank == 0 && json && json_save(json, summary(job)) ? EXIT_FAILED : EXIT_DONE;
  if ((code = team_agree(job->team, code)) != EXIT_DONE) return code;
  return team_agree(job->team, wrong ? EXIT_MISMATCH : EXIT_DONE);
}

static int cast_rays(team *t, const cast_options *options) {
  team_job job = {.team = t, .cast = {.options = options, .start = seconds_now()}};
  int code = team_agree(t, t->rank == 0 ? cast_probe(options) : EXIT_DONE);
  if (code == EXIT_DONE) code = team_in_turn(t, open_header, &job);
  if (code == EXIT_DONE) code = open_scene(&job);
  if (code == EXIT_DONE) code = open_rows(&job);
  if (code == EXIT_DONE) code = open_results(&job);
  if (code == EXIT_DONE) code = finish(&job, run(&job));
  team_rows_close(&job.rows);
  ray_source_close(job.cast.rays);
  own_source_close(job.cast.own);
  slab_scene_destroy(job.cast.scene);
  slab_context_destroy(job.cast.context);
  own_rows_free(&job.own);
  return code;
}

int team_cast(team *t, int argc, char **argv) {
  cast_options options = {.scene = scene_source_create()};
  int code = options.scene ? EXIT_DONE : EXIT_FAILED;
  if (!options.scene) complain("out of memory");
  code = team_agree(t, code);
  if (code == EXIT_DONE) code = parse(t, argc, argv, &options);
  if (code == OPTIONS_RUN) code = cast_rays(t, &options);
  scene_source_destroy(options.scene);
  return code;
}
