/* slabcast-mpi near and inside: distributes the points of a file or of a grid over the ranks. The place of a result
 * follows from its point's index, so no rank waits for another. */
#include "program/mpi/near.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/io/errors.h"
#include "program/io/text.h"
#include "program/mpi/complaints.h"
#include "program/mpi/results.h"
#include "program/mpi/rows.h"
#include "program/mpi/scene.h"
#include "program/near/near.h"

typedef struct team_job {
  team *team;
  near_job near;
  team_rows rows;
  team_results *results;
  near_points points;
  own_rows own; /* their worlds */
  void *answers;
  double write_seconds, scene_seconds;
} team_job;

/* ---- options --------------------------------------------------------------- */

/* Rejects options that work only for one process. Returns OPTIONS_RUN, or an exit code. */
static int check_options(const near_options *options) {
  const char *what = rows_are_streamed(options->points) ? "--points wants a file: every rank reads at places of its own"
                     : rows_are_streamed(options->worlds)
                         ? "--worlds wants a file: every rank reads at places of its own"
                         : team_results_refusal(options->out, (file_format)options->out_format, options->resume);
  if (!what) return OPTIONS_RUN;
  complain("%s", what);
  return EXIT_USAGE;
}

/* Rank 0 parses the command line first, so that an error in it is printed once. */
static int parse(team *t, int argc, char **argv, near_options *options) {
  int code = OPTIONS_RUN;
  if (t->rank == 0) {
    code = near_parse(argc, argv, options);
    if (code == OPTIONS_RUN) code = check_options(options);
  }
  code = team_hear(t, code);
  return code == OPTIONS_RUN && t->rank > 0 ? near_parse(argc, argv, options) : code;
}

/* ---- opening --------------------------------------------------------------- */

/* Reads no more than the header of a file; rows are read by MPI-IO. */
static int open_points(void *user) {
  team_job *job = user;
  const char *path = job->near.options->points;
  if (near_open_points(&job->near) != EXIT_DONE) return EXIT_FAILED;
  const char *text = path && ray_source_bytes(job->near.points) == 0 ? path : own_source_text(job->near.own);
  return text ? rows_refuse_text(text) : EXIT_DONE;
}

static int make_space(team_job *job) {
  const uint64_t n = job->rows.batch;
  job->answers = malloc(near_space(&job->near, (size_t)n));
  if (near_points_make(&job->near, (size_t)n, &job->points) == 0 && job->answers &&
      own_rows_make(job->near.own, n, &job->own) == 0)
    return EXIT_DONE;
  complain("out of memory for batches of %" PRIu64 " %s", n, plural(n, "point", "points"));
  return EXIT_FAILED;
}

static int share_rows(team_job *job) {
  const near_job *near = &job->near;
  const rows_options rows = {.path = near->options->points,
                             .grid = near->options->points ? NULL : &near->grid,
                             .source = near->points,
                             .batch = NEAR_BATCH,
                             .one = "point",
                             .several = "points"};
  const int code = team_rows_open(job->team, &rows, &job->rows);
  return code == EXIT_DONE ? team_agree(job->team, make_space(job)) : code;
}

static int open_scene(team_job *job) {
  near_job *near = &job->near;
  const near_options *options = near->options;
  const slab_context_options context = near_context(options);
  return team_scene_open(job->team, options->scene, &context, (slab_tree)options->tree, &near->context, &near->scene,
                         &near->stats, &near->device, &job->scene_seconds);
}

/* A grid needs the bounds of the scene. A file that cannot be read is reported before a scene is built. */
static int open_inputs(team_job *job) {
  const int of_file = job->near.options->points != NULL;
  int code = of_file ? team_in_turn(job->team, open_points, job) : EXIT_DONE;
  if (code == EXIT_DONE) code = open_scene(job);
  if (code == EXIT_DONE && !of_file) code = team_in_turn(job->team, open_points, job);
  if (code == EXIT_DONE) near_settle(&job->near);
  return code == EXIT_DONE ? share_rows(job) : code;
}

static int open_results(team_job *job) {
  const result_options results = near_results(&job->near);
  return results.path ? team_results_open(job->team, &results, &job->results) : EXIT_DONE;
}

/* ---- rounds ---------------------------------------------------------------- */

/* Runs this rank's batch of a round, if any points are left for it. */
static int run_batch(team_job *job, uint64_t round) {
  near_job *near = &job->near;
  uint64_t begin;
  const size_t n = team_rows_batch(job->team, &job->rows, round, &begin);
  if (n == 0) return EXIT_DONE;
  int code = team_rows_read(&job->rows, begin, n);
  if (code != EXIT_DONE) return code;
  if (own_source_go_to(near->own, begin) || own_source_read(near->own, n, &job->own)) return EXIT_FAILED;
  near_points_take(&job->points, 0, &job->rows.rays, n);
  code = near_measure(near, ray_source_first(near->points) + begin, &job->points, job->own.worlds, n, job->answers);
  if (code != EXIT_DONE) return code;
  near_count(near, job->answers, n);
  const double start = seconds_now();
  const int failed = job->results && team_results_put(job->results, begin, begin, NULL, job->answers, NULL, n);
  job->write_seconds += seconds_now() - start;
  return failed ? EXIT_FAILED : EXIT_DONE;
}

/* Runs all rounds; all ranks stop early if one fails. Returns this rank's own code. */
static int run_rounds(team_job *job) {
  int code = EXIT_DONE, ended = 0;
  for (uint64_t round = 0; round < job->rows.rounds && !ended; round++) {
    code = run_batch(job, round);
    if (code != EXIT_DONE) team_tell(job->team);
    ended = code != EXIT_DONE || team_was_told(job->team);
  }
  progress_end(&job->near.line);
  return code;
}

static int run(team_job *job) {
  near_prepare(&job->near, job->rows.count / (uint64_t)job->team->size); /* rank 0's share: it shows the line */
  job->near.line.shown = job->near.line.shown && job->team->rank == 0;
  const int mine = run_rounds(job);
  const int code = team_results_close(job->team, job->results, mine, job->rows.count);
  job->results = NULL;
  return code;
}

/* ---- the end --------------------------------------------------------------- */

/* Reduces the tallies to rank 0: counts are summed, of seconds and rounding the largest is taken. */
static void gather(team_job *job) {
  team *t = job->team;
  near_tally *tally = &job->near.tally;
  uint64_t *const sums[] = {&tally->points, &tally->found, &tally->inside, &tally->invalid};
  double *const most[] = {&tally->most,        &tally->seconds,    &job->near.rounding, &job->rows.read_seconds,
                          &job->write_seconds, &job->scene_seconds};
  job->near.rounding = ray_source_rounding(job->near.points);
  for (size_t i = 0; i < COUNT_OF(sums); i++) team_reduce(t, sums[i], MPI_UINT64_T, MPI_SUM);
  for (size_t i = 0; i < COUNT_OF(most); i++) team_reduce(t, most[i], MPI_DOUBLE, MPI_MAX);
  team_reduce(t, &tally->least, MPI_DOUBLE, MPI_MIN);
  team_reduce(t, &tally->sum, MPI_DOUBLE, MPI_SUM);
  team_reduce(t, &tally->first_invalid, MPI_UINT64_T, MPI_MIN);
  team_reduce_checks(t, &tally->check);
}

static json_t *summary(const team_job *job) {
  return team_put_times(job->team, near_summary(&job->near), job->scene_seconds, job->rows.read_seconds,
                        job->write_seconds);
}

/* On success rank 0 prints what one process would print; on failure it prints how many points were done. */
static int finish(team_job *job, int code) {
  const near_tally *tally = &job->near.tally;
  const int wrong = check_tally_is_bad(&tally->check); /* this rank's own, read before the sums */
  const char *json = job->near.options->json;
  gather(job);
  if (code != EXIT_DONE) {
    if (job->team->rank == 0 && tally->points > 0)
      complain("%" PRIu64 " %s done before", tally->points, plural(tally->points, "point was", "points were"));
    if (job->team->rank == 0) complaints_say();
    return code;
  }
  if (job->team->rank == 0) near_tell(&job->near);
  code = job->team->rank == 0 && json && json_save(json, summary(job)) ? EXIT_FAILED : EXIT_DONE;
  if ((code = team_agree(job->team, code)) != EXIT_DONE) return code;
  return team_agree(job->team, wrong ? EXIT_MISMATCH : EXIT_DONE);
}

static int measure(team *t, const near_options *options) {
  team_job job = {.team = t, .near = {.options = options, .start = seconds_now()}};
  int code = team_agree(t, t->rank == 0 ? near_probe(options) : EXIT_DONE);
  if (code == EXIT_DONE) code = open_inputs(&job);
  if (code == EXIT_DONE) code = open_results(&job);
  if (code == EXIT_DONE) code = finish(&job, run(&job));
  team_rows_close(&job.rows);
  ray_source_close(job.near.points);
  own_source_close(job.near.own);
  own_rows_free(&job.own);
  slab_scene_destroy(job.near.scene);
  slab_context_destroy(job.near.context);
  near_points_free(&job.points);
  free(job.answers);
  return code;
}

int team_near(team *t, near_command command, int argc, char **argv) {
  near_options options = {.command = command, .scene = scene_source_create()};
  int code = options.scene ? EXIT_DONE : EXIT_FAILED;
  if (!options.scene) complain("out of memory");
  code = team_agree(t, code);
  if (code == EXIT_DONE) code = parse(t, argc, argv, &options);
  if (code == OPTIONS_RUN) code = measure(t, &options);
  scene_source_destroy(options.scene);
  return code;
}
