/* slabcast near and slabcast inside: opening of inputs and outputs, and the report on the results. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "base/plural.h"
#include "program/common/device.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/near/near.h"
#include "program/os/file.h"

static int probe(const near_options *options, const char *path) {
  if (!path) return 0;
  return output_probe(path) || output_spares(path, options->points) || output_spares(path, options->worlds) ||
         scene_source_spared(options->scene, path);
}

int near_probe(const near_options *options) {
  return probe(options, options->out) || probe(options, options->json) ? EXIT_FAILED : EXIT_DONE;
}

/* ---- opening --------------------------------------------------------------- */

/* A coordinate as the points have it: in float, or in double where the scene is far from 0. */
static double given_place(const near_job *job, const point_option *point, int axis) {
  return scene_is_far(&job->stats) ? point->wide[axis] : (double)point->value[axis];
}

/* The box that the options give, with the scene's bounds for the rest. */
static grid_box box_of(const near_job *job) {
  const near_options *options = job->options;
  const double margin = options->margin.given ? (double)options->margin.value : 0;
  grid_box box;
  for (int k = 0; k < 3; k++) {
    const double lower = scene_coordinate(&job->stats, k, job->stats.lower[k]);
    const double upper = scene_coordinate(&job->stats, k, job->stats.upper[k]);
    box.lower[k] = options->lower.given ? given_place(job, &options->lower, k) : lower - margin;
    box.upper[k] = options->upper.given ? given_place(job, &options->upper, k) : upper + margin;
  }
  return box;
}

int near_open_points(near_job *job) {
  const near_options *options = job->options;
  const grid_box box = box_of(job);
  const ray_options points = {
      .path = options->points,
      .format = (file_format)options->in,
      .of = ROWS_OF_PLACES,
      .shard = options->shard,
      .grid = options->points ? NULL : &job->grid,
      .need_count = options->out && options->out_format == FORMAT_NPY && output_is_direct(options->out),
  };
  if (points.grid && grid_make(&options->grid, &box, &job->grid)) return EXIT_FAILED;
  if (ray_source_open(&points, &job->points)) return EXIT_FAILED;
  const shard_label which = ray_source_shard(job->points);
  const own_options own = {.worlds = options->worlds, .owner = &own_of_points};
  if (own_source_open(&own, &which, &job->own)) return EXIT_FAILED;
  const int found = which.count ? own_source_sample(job->own, &job->sample) : 0;
  if (found == 0) job->sample = 0;
  return found < 0 ? EXIT_FAILED : EXIT_DONE;
}

slab_context_options near_context(const near_options *options) {
  return (slab_context_options){
      .device = options->device, .layout = (slab_layout)options->layout, .threads = (uint32_t)options->threads};
}

static int open_scene(near_job *job) {
  const near_options *options = job->options;
  const slab_context_options context = near_context(options);
  return scene_source_open(options->scene, &context, (slab_tree)options->tree, &job->context, &job->scene, &job->stats,
                           &job->device);
}

void near_settle(near_job *job) {
  if (scene_is_far(&job->stats) && ray_source_is_wide(job->points)) ray_source_keep_doubles(job->points);
}

/* A grid needs the bounds of the scene. A file that cannot be read is reported before a scene is built. */
static int open_inputs(near_job *job) {
  const int of_file = job->options->points != NULL;
  int code = of_file ? near_open_points(job) : EXIT_DONE;
  if (code == EXIT_DONE) code = open_scene(job);
  if (code == EXIT_DONE && !of_file) code = near_open_points(job);
  if (code == EXIT_DONE) near_settle(job);
  return code;
}

void near_prepare(near_job *job, uint64_t total) {
  const near_options *options = job->options;
  job->query = (slab_point_options){.mask = scene_source_ray_mask(options->scene), .radius = options->radius.value};
  own_source_limit(job->own, scene_source_worlds(options->scene));
  job->tally.first_invalid = UINT64_MAX;
  job->tally.least = (double)INFINITY;
  job->tally.most = -(double)INFINITY;
  job->line = progress_begin(options->check ? "checking" : "measuring", "points", near_resumed(job),
                             total == ROWS_UNKNOWN ? 0 : total);
}

/* ---- messages -------------------------------------------------------------- */

static void warn_of_invalid(const near_tally *tally) {
  if (tally->invalid)
    complain("warning: %" PRIu64 " of %" PRIu64
             " %s %s nothing (NaN, infinite or beyond 2^60); the first is point %" PRIu64 ", counted from 0",
             tally->invalid, tally->points, plural(tally->points, "point", "points"),
             plural(tally->invalid, "is invalid and finds", "are invalid and find"), tally->first_invalid);
}

static int asks_windings(const near_options *options) {
  return options->query == SLAB_WINDING || options->query == SLAB_WINDING_NUMBERS;
}

static int asks_distances(const near_options *options) {
  return options->query != SLAB_POINTS_WITHIN && !asks_windings(options);
}

static double mean_of(const near_job *job) { return job->tally.sum / (double)job->tally.found; }

static void tell_tally(const near_job *job) {
  const near_tally *tally = &job->tally;
  char seconds[SECONDS_TEXT];
  fprintf(stderr, "%" PRIu64 " %s on %s: ", tally->points, plural(tally->points, "point", "points"), job->device.name);
  if (job->options->command == NEAR_INSIDE)
    fprintf(stderr, "%" PRIu64 " %s inside", tally->inside, plural(tally->inside, "is", "are"));
  else
    fprintf(stderr, "%" PRIu64 " %s something", tally->found, plural(tally->found, "finds", "find"));
  if (asks_distances(job->options) && tally->found > 0)
    fprintf(stderr, ", distance %.6g on average, %.6g to %.6g", mean_of(job), tally->least, tally->most);
  fprintf(stderr, "; answers after %s, %.4g Mpoints/s\n", seconds_text(tally->seconds, seconds),
          tally->seconds > 0 ? 1e-6 * (double)tally->points / tally->seconds : 0.0);
}

void near_tell(const near_job *job) {
  const near_options *options = job->options;
  scene_warn_of_rounding(&job->stats, options->points, job->rounding);
  warn_of_invalid(&job->tally);
  if (!options->out || os_is_terminal(OS_STDERR)) tell_tally(job);
  if (options->check) check_tally_tell(&job->tally.check, "point", "points");
}

static const char *query_name(const near_options *options) {
  static const char *const of_near[] = {"closest", "distance", "within"};
  static const char *const of_inside[] = {"inside", "winding", "distance", "number"};
  return options->command == NEAR_INSIDE ? of_inside[options->asked] : of_near[options->query];
}

json_t *near_summary(const near_job *job) {
  const near_tally *tally = &job->tally;
  const near_options *options = job->options;
  json_t *root = json_pack("{s:s, s:s, s:I, s:I, s:I}", "device", job->device.name, "query", query_name(options),
                           "points", (json_int_t)tally->points, "resumed", (json_int_t)job->line.first, "invalid",
                           (json_int_t)tally->invalid);
  if (!root) return NULL;
  if (options->command == NEAR_INSIDE) json_object_set_new(root, "inside", json_integer((json_int_t)tally->inside));
  if (!asks_windings(options)) json_object_set_new(root, "found", json_integer((json_int_t)tally->found));
  if (asks_distances(options)) {
    json_object_set_new(root, "mean", json_number_or_null(mean_of(job)));
    json_object_set_new(root, "least", json_number_or_null(tally->least));
    json_object_set_new(root, "most", json_number_or_null(tally->most));
  }
  json_object_set_new(root, "seconds", json_real(tally->seconds));
  json_object_set_new(root, "points_per_second", json_number_or_null((double)tally->points / tally->seconds));
  json_object_set_new(root, "build_seconds", json_real(job->stats.build_seconds));
  json_object_set_new(root, "device_bytes", json_integer((json_int_t)job->stats.device_bytes));
  json_object_set_new(root, "total_seconds", json_real(seconds_now() - job->start));
  if (scene_source_labels(options->scene))
    json_object_set_new(root, "names", scene_parts_json(scene_source_parts(options->scene)));
  if (options->check) check_tally_put(&tally->check, "oracle_points", root);
  return root;
}

/* ---- the command ----------------------------------------------------------- */

static int finish(near_job *job) {
  const near_options *options = job->options;
  if (near_commit_results(job) != EXIT_DONE) return EXIT_FAILED;
  job->rounding = ray_source_rounding(job->points);
  near_tell(job);
  if (options->json && json_save(options->json, near_summary(job))) return EXIT_FAILED;
  return check_tally_is_bad(&job->tally.check) ? EXIT_MISMATCH : EXIT_DONE;
}

static int run_command(const near_options *options) {
  near_job job = {.options = options, .start = seconds_now()};
  int code = near_probe(options);
  if (code != EXIT_DONE) return code;
  if ((code = open_inputs(&job)) != EXIT_DONE) goto done;
  if ((code = near_open_results(&job)) != EXIT_DONE) goto done;
  near_prepare(&job, ray_source_count(job.points));
  code = near_run(&job);
  if (code == EXIT_DONE) code = finish(&job);
done:
  near_discard_results(&job);
  ray_source_close(job.points);
  own_source_close(job.own);
  slab_scene_destroy(job.scene);
  slab_context_destroy(job.context);
  return code;
}

static int main_of(near_command command, int argc, char **argv) {
  near_options options = {.command = command, .scene = scene_source_create()};
  if (!options.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = near_parse(argc, argv, &options);
  if (code == OPTIONS_RUN) code = run_command(&options);
  scene_source_destroy(options.scene);
  return code;
}

static int near_main(int argc, char **argv) { return main_of(NEAR_DISTANCES, argc, argv); }

static int inside_main(int argc, char **argv) { return main_of(NEAR_INSIDE, argc, argv); }

const program_command command_near = {"near", "how far points are from surfaces, and the closest points", near_main,
                                      &near_line};
const program_command command_inside = {"inside", "which points are inside of meshes and solids", inside_main,
                                        &inside_line};
