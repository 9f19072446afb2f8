/* slabcast view: options, and the report on the results. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/common/device.h"
#include "program/io/digest.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/os/file.h"
#include "program/view/view.h"

#define PLACE(member) offsetof(view_options, member)
/* SKY_MOST: rays of --sky. UP_UNASKED: --up is not given. */
enum { SKY_MOST = 1 << 24, UP_UNASKED = -1 };

static const option option_rows[] = {
    OPTIONS_SCENE(view_options, scene),
    {"--points", "FILE|-", OPTION_TEXT, PLACE(points),
     "the points, - for stdin; 3 columns, x y z, or 6 with nx ny nz, the normal\n"
     "of the surface that a point lies on (0 0 0: none); where the first line of\n"
     "a text names them, in any order, and others are passed over",
     0, 0},
    {"--sky", "N|tregenza|reinhart", OPTION_TEXT, PLACE(sky),
     "the sky view factor: the share of an even sky's light that arrives, 1 on\n"
     "open ground, 0.5 on an open wall. By N rays that are dense as the cosine,\n"
     "or by patches: Tregenza's 145, Reinhart's 577",
     0, 0},
    {"--suns", "FILE|-", OPTION_TEXT, PLACE(suns),
     "the hours of sun: rows of azimuth (degrees from north to east), altitude\n"
     "(degrees above the horizon) and hours (default: 1)",
     0, 0},
    {"--to", "FILE|-", OPTION_TEXT, PLACE(to), "who sees whom: other points, as those of --points", 0, 0},
    {"-o", "FILE|-", OPTION_TEXT, PLACE(out), "where results go, - for stdout; without it they are only summed up", 0,
     0},
    {"--offset", "D", OPTION_REAL, PLACE(offset),
     "begin rays so far off the surface, along the normal, or up without one\n"
     "(default: 2^-20 of the largest coordinate of scene and point: 1 cm at\n"
     "10 km)",
     0, 1e9},
    {"--up", "z|y|x", OPTION_CHOICE, PLACE(up),
     "the axis that is up (default: z, with x to the east and y to the north);\n"
     "meshes whose file names its own are turned so",
     0, 0},
    OPTION_TREE(view_options, tree),
    OPTION_LAYOUT(view_options, layout),
    OPTION_MASK(view_options, scene),
    OPTION_POINTS_IN(view_options, in),
    {"--out", "auto|npy|raw|text|csv|ply", OPTION_CHOICE, PLACE(out_format),
     "format of the results (default: by the name's ending, .npy, .raw or\n"
     ".bin, .txt, .csv, .ply; without one npy, on a terminal text)\n"
     "ply: the points, with value and colour; not of --to",
     0, 0},
    {"--check", NULL, OPTION_SWITCH, PLACE(check),
     "compare every ray with the CPU reference and every sum with that of single\n"
     "rays, bit by bit; exit code 3 if one differs",
     0, 0},
    OPTIONS_POINTS_RUN(view_options, resume, shard),
    {"--json", "FILE|-", OPTION_TEXT, PLACE(json), "write a summary: device, points, mean, least, most, seconds, ...",
     0, 0},
    OPTIONS_DEVICE(view_options, device, threads),
};

static const command_line command = {
    .usage = "view SCENE... --points FILE|- --sky N | --suns FILE | --to FILE [-o FILE|-] [options]",
    .about =
        "Sums rays up where they are cast: one number a point, and no ray is stored. SCENE is any mix of the\n"
        "first eight options. Without -o, and on a terminal, a line on stderr tells mean, least and most.",
    .closing =
        "A point with a normal sees what is before its surface. Its sky ends at the horizon, so that a wall\n"
        "sees half of it, and a sun behind it does not count, whatever the scene holds. Points without\n"
        "normals lie on level ground. Suns at or below the horizon do not count. An invalid point has nan,\n"
        "and no place in ply.\n\n"
        "--to writes a row of bits for each point: in npy, numpy.unpackbits(numpy.load(FILE)['sees'],\n"
        "axis=1, count=COLUMNS, bitorder='little') is the matrix; raw has the same bytes; text and csv list\n"
        "the pairs that see each other, from and to, counted from 0. Two points at one place do not.\n\n"
        "  slabcast view --mesh town.obj --points ground.csv --sky 1000 -o sky.csv\n"
        "  slabcast view --mesh town.obj --points walls.npy --suns june.csv \\\n"
        "    -o hours.ply\n"
        "  slabcast view --mesh town.obj --points seats.csv --to lamps.csv \\\n"
        "    -o sees.npy",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

/* ---- options --------------------------------------------------------------- */

static int check_target(const view_options *options) {
  const int given = (options->sky != NULL) + (options->suns != NULL) + (options->to != NULL);
  uint64_t rays = 0;
  if (given != 1) return options_refuse(&command, "%s of --sky, --suns and --to is wanted", given ? "only one" : "one");
  if (!options->sky || !strcmp(options->sky, "tregenza") || !strcmp(options->sky, "reinhart")) return OPTIONS_RUN;
  if (parse_count(options->sky, &rays) && rays >= 1 && rays <= SKY_MOST) return OPTIONS_RUN;
  return options_refuse(&command, "option --sky: \"%s\" is not tregenza, reinhart or a whole number from 1 to %d",
                        options->sky, SKY_MOST);
}

static int check_stdin(const view_options *options) {
  const input_option inputs[] = {{"--points", options->points}, {"--suns", options->suns}, {"--to", options->to}};
  return options_check_stdin(&command, scene_source_stdin(options->scene), inputs, COUNT_OF(inputs));
}

/* Sets the format of the results from the option or the file name. */
static int choose_format(view_options *options) {
  if (!options->out)
    return options->out_format == FORMAT_AUTO
               ? OPTIONS_RUN
               : options_refuse(&command, "--out is the format of -o FILE, which is missing");
  if (options->out_format == FORMAT_AUTO) {
    const int code = options_check_ending(&command, options->out, RESULT_ENDINGS);
    if (code != OPTIONS_RUN) return code;
    options->out_format = os_has_ending(options->out, ".ply") ? FORMAT_PLY : (int)format_of_output(options->out);
  }
  if (options->out_format == FORMAT_PLY && options->to)
    return options_refuse(&command, "-o %s: ply has a value for each point, and --to has a row", options->out);
  if (options->out_format == FORMAT_PLY && output_is_direct(options->out))
    return options_refuse(&command,
                          "-o %s: ply begins with the number of its points, which is known last: it wants a file",
                          options->out);
  return OPTIONS_RUN;
}

static int check_options(view_options *options) {
  if (!options->points) return options_refuse(&command, "--points is missing");
  if (!scene_source_count(options->scene))
    return options_refuse(&command, "the scene is missing: --mesh, --boxes, ...");
  int code = check_target(options);
  if (code == OPTIONS_RUN) code = check_stdin(options);
  if (code == OPTIONS_RUN) code = choose_format(options);
  if (code == OPTIONS_RUN) code = options_check_apart(&command, options->out, options->json);
  if (code != OPTIONS_RUN) return code;
  if (options->resume && (!options->out || output_is_direct(options->out)))
    return options_refuse(&command, "--resume wants -o FILE, which neither stdout nor a pipe is");
  return OPTIONS_RUN;
}

static int probe(const view_options *options, const char *path) {
  if (!path) return 0;
  return output_probe(path) || output_spares(path, options->points) || output_spares(path, options->suns) ||
         output_spares(path, options->to) || scene_source_spared(options->scene, path);
}

/* ---- opening --------------------------------------------------------------- */

static int open_points(view_job *job) {
  const view_options *options = job->options;
  const ray_options points = {
      .path = options->points,
      .format = (file_format)options->in,
      .of = ROWS_OF_POINTS,
      .shard = options->shard,
      .need_count = options->out && options->out_format == FORMAT_NPY && output_is_direct(options->out),
  };
  if (ray_source_open(&points, &job->points)) return EXIT_FAILED;
  return view_target_make(options, ray_source_has_normals(job->points) != 0, &job->target);
}

static int open_scene(view_job *job) {
  const view_options *options = job->options;
  const slab_context_options context = {
      .device = options->device, .layout = (slab_layout)options->layout, .threads = (uint32_t)options->threads};
  return scene_source_open(options->scene, &context, (slab_tree)options->tree, &job->context, &job->scene, &job->stats,
                           &job->device);
}

/* In a scene far from 0 all places count from its origin. */
static void settle(view_job *job) {
  if (!scene_is_far(&job->stats)) return;
  if (ray_source_is_wide(job->points)) ray_source_keep_doubles(job->points);
  view_target_count_from(&job->target, job->stats.origin);
}

/* Points off their surfaces, which --to has too. */
static void lift(view_job *job) {
  view_target *target = &job->target;
  const real_option *offset = &job->options->offset;
  job->lift = (view_lift){.given = offset->given, .distance = (double)offset->value};
  for (int k = 0; k < 3 && job->stats.lower[k] <= job->stats.upper[k]; k++)
    job->lift.reach = fmax(job->lift.reach, fmax(fabs((double)job->stats.lower[k]), fabs((double)job->stats.upper[k])));
  if (target->kind == VIEW_POINTS)
    view_lift_points(&job->lift, target->up, target->places, target->normals, target->columns, target->directions);
}

/* The digest of all that decides answers beside the scene and the points. */
static uint64_t digest_options(const view_job *job) {
  const view_target *target = &job->target;
  const uint64_t values[] = {target->kind, target->columns, scene_source_ray_mask(job->options->scene),
                             (uint64_t)ray_source_has_normals(job->points)};
  const size_t columns = target->columns;
  digest seen = {0};
  digest_add(&seen, values, sizeof values);
  digest_add(&seen, target->up, sizeof target->up);
  digest_add(&seen, &job->lift.distance, sizeof job->lift.distance);
  digest_add(&seen, target->directions, 3 * columns * sizeof *target->directions);
  if (target->weights) digest_add(&seen, target->weights, columns * sizeof *target->weights);
  if (target->normals) digest_add(&seen, target->normals, 3 * columns * sizeof *target->normals);
  return digest_value(&seen);
}

static shard_label label_of(const view_job *job) {
  shard_label label = ray_source_shard(job->points);
  if (label.count == 0) return label;
  label.scene = scene_source_digest(job->options->scene);
  label.options = digest_options(job);
  return label;
}

/* Points that a run that goes on casts again: as many rays as a cast does, or some points. */
static uint64_t overlap_of(const view_job *job) {
  enum { RAYS = 1 << 16, POINTS = 16 };
  const uint64_t points = RAYS / job->target.columns;
  return points > POINTS ? points : POINTS;
}

static int open_results(view_job *job) {
  const view_options *options = job->options;
  job->row = view_row(job);
  if (!options->out) return EXIT_DONE;
  const result_options results = {
      .path = options->out,
      .format = (file_format)options->out_format,
      .query = SLAB_ANY,
      .row = &job->row,
      .overlap = overlap_of(job),
      .resume = options->resume,
      .rays = ray_source_count(job->points),
      .first = ray_source_first(job->points),
      .shard = label_of(job),
  };
  return result_file_open(&results, &job->results) ? EXIT_FAILED : EXIT_DONE;
}

static void prepare(view_job *job) {
  const uint64_t columns = job->target.columns, count = ray_source_count(job->points);
  const uint64_t resumed = job->results ? result_file_resumed(job->results) : 0;
  const uint64_t total = count == ROWS_UNKNOWN || count > UINT64_MAX / columns ? 0 : count * columns;
  job->tally.first_invalid = job->cast.tally.first_invalid = UINT64_MAX;
  job->tally.least = (double)INFINITY;
  job->tally.most = -(double)INFINITY;
  job->cast.context = job->context;
  job->cast.scene = job->scene;
  job->cast.device = job->device.name;
  job->cast.query = SLAB_ANY;
  job->cast.options.mask = scene_source_ray_mask(job->options->scene);
  job->cast.check = job->options->check;
  job->cast.first = (ray_source_first(job->points) + resumed) * columns;
  job->cast.line = progress_begin(job->options->check ? "checking" : "casting", "rays", resumed * columns, total);
}

/* ---- messages -------------------------------------------------------------- */

static void warn_of_rounding(const view_job *job) {
  const double from = ray_source_rounding(job->points), to = job->target.rounding;
  scene_warn_of_rounding(&job->stats, from >= to ? job->options->points : job->options->to, fmax(from, to));
}

static void warn_of_invalid(const view_tally *tally) {
  if (tally->invalid)
    complain("warning: %" PRIu64 " of %" PRIu64
             " %s %s nothing (NaN, infinite or beyond 2^60, normals too); the first "
             "is point %" PRIu64 ", counted from 0",
             tally->invalid, tally->points, plural(tally->points, "point", "points"),
             plural(tally->invalid, "is invalid and sees", "are invalid and see"), tally->first_invalid);
}

static uint64_t valid_points(const view_job *job) { return job->tally.points - job->tally.invalid; }
static double mean_of(const view_job *job) { return job->tally.sum / (double)valid_points(job); }

/* Of all points and all others, the share that sees each other. */
static double share_of(const view_job *job) {
  return (double)job->tally.pairs / ((double)job->tally.points * (double)job->target.columns);
}

static void tell_values(const view_job *job) {
  const view_tally *tally = &job->tally;
  if (job->target.kind == VIEW_POINTS)
    fprintf(stderr, "%" PRIu64 " %s each other (%.3g %%)", tally->pairs, plural(tally->pairs, "pair sees", "pairs see"),
            tally->points ? 100 * share_of(job) : 0.0);
  else if (valid_points(job) > 0)
    fprintf(stderr, "%s %.6g on average, %.6g to %.6g", job->row.fields[0].name, mean_of(job), tally->least,
            tally->most);
  else
    fprintf(stderr, "none is valid");
}

static void tell(const view_job *job) {
  const view_tally *tally = &job->tally;
  const uint64_t columns = job->target.columns;
  const char *of = job->target.kind == VIEW_SUNS     ? plural(columns, "sun", "suns")
                   : job->target.kind == VIEW_POINTS ? plural(columns, "other", "others")
                                                     : plural(columns, "ray", "rays");
  char seconds[SECONDS_TEXT];
  fprintf(stderr, "%" PRIu64 " %s, %" PRIu64 " %s each on %s: ", tally->points,
          plural(tally->points, "point", "points"), columns, of, job->device.name);
  tell_values(job);
  fprintf(stderr, "; answers after %s, %.4g Mrays/s\n", seconds_text(tally->seconds, seconds),
          tally->seconds > 0 ? 1e-6 * (double)tally->rays / tally->seconds : 0.0);
}

static void tell_checked(const view_job *job) {
  const view_tally *tally = &job->tally;
  check_tally_tell(&job->cast.tally.check, "ray", "rays");
  fprintf(stderr, "%" PRIu64 " %s checked, %" PRIu64 " differ%s from %s rays\n", tally->checked,
          plural(tally->checked, "point", "points"), tally->wrong, plural(tally->wrong, "s", ""),
          plural(tally->wrong, "its", "their"));
}

static json_t *summary(const view_job *job) {
  const view_tally *tally = &job->tally;
  const check_tally *rays = &job->cast.tally.check;
  const bool matrix = job->target.kind == VIEW_POINTS;
  json_t *root =
      json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "device", job->device.name, "points", (json_int_t)tally->points,
                "columns", (json_int_t)job->target.columns, "rays", (json_int_t)tally->rays, "resumed",
                (json_int_t)(job->cast.line.first / job->target.columns), "invalid", (json_int_t)tally->invalid);
  if (!root) return NULL;
  if (matrix) {
    json_object_set_new(root, "pairs", json_integer((json_int_t)tally->pairs));
  } else {
    json_object_set_new(root, "value", json_string(job->target.kind == VIEW_SUNS ? "hours" : "sky"));
    json_object_set_new(root, "mean", json_number_or_null(mean_of(job)));
    json_object_set_new(root, "least", json_number_or_null(tally->least));
    json_object_set_new(root, "most", json_number_or_null(tally->most));
  }
  json_object_set_new(root, "seconds", json_real(tally->seconds));
  json_object_set_new(root, "rays_per_second", json_number_or_null((double)tally->rays / tally->seconds));
  json_object_set_new(root, "build_seconds", json_real(job->stats.build_seconds));
  json_object_set_new(root, "total_seconds", json_real(seconds_now() - job->start));
  if (job->options->check)
    json_object_update_missing_new(
        root, json_pack("{s:I, s:I, s:I, s:I, s:I, s:I}", "checked", (json_int_t)tally->checked, "wrong",
                        (json_int_t)tally->wrong, "rays_checked", (json_int_t)rays->checked, "mismatches",
                        (json_int_t)rays->mismatches, "oracle_wrong", (json_int_t)rays->oracle_wrong,
                        "oracle_undecided", (json_int_t)rays->oracle_undecided));
  return root;
}

/* ---- the command ----------------------------------------------------------- */

static int finish(view_job *job) {
  const view_options *options = job->options;
  result_file *results = job->results;
  job->results = NULL;
  if (results && result_file_commit(results)) return EXIT_FAILED;
  warn_of_rounding(job);
  warn_of_invalid(&job->tally);
  if (!options->out || os_is_terminal(OS_STDERR)) tell(job);
  if (options->check) tell_checked(job);
  if (options->json && json_save(options->json, summary(job))) return EXIT_FAILED;
  return job->tally.wrong || check_tally_is_bad(&job->cast.tally.check) ? EXIT_MISMATCH : EXIT_DONE;
}

static int view(const view_options *options) {
  view_job job = {.options = options, .start = seconds_now()};
  int code = EXIT_FAILED;
  if (probe(options, options->out) || probe(options, options->json)) return code;
  if ((code = open_points(&job)) != EXIT_DONE) goto done;
  if ((code = open_scene(&job)) != EXIT_DONE) goto done;
  settle(&job);
  lift(&job);
  if ((code = open_results(&job)) != EXIT_DONE) goto done;
  prepare(&job);
  code = view_run(&job);
  if (code == EXIT_DONE) code = finish(&job);
done:
  result_file_discard(job.results);
  ray_source_close(job.points);
  view_target_free(&job.target);
  slab_scene_destroy(job.scene);
  slab_context_destroy(job.context);
  return code;
}

/* Sky and meshes have the same axis up. */
static void set_up(view_options *options) {
  const int asked = options->up != UP_UNASKED;
  if (!asked) options->up = 0;
  (asked ? scene_source_up : scene_source_up_unasked)(options->scene, "zyx"[options->up]);
}

static int command_main(int argc, char **argv) {
  view_options options = {.scene = scene_source_create(), .up = UP_UNASKED};
  if (!options.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = options_parse(&command, argc, argv, &options, NULL);
  if (options.shard.count > 0) scene_source_make_digest(options.scene); /* for its label */
  set_up(&options);
  if (code == OPTIONS_RUN) code = check_options(&options);
  if (code == OPTIONS_RUN) code = view(&options);
  scene_source_destroy(options.scene);
  return code;
}

const program_command command_view = {"view", "how much sky and sun points see, and which others", command_main,
                                      &command};
