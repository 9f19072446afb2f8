/* slabcast near: options, and what is told of the results. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "program/common/device.h"
#include "program/io/errors.h"
#include "program/io/output.h"
#include "program/near/near.h"
#include "program/os/file.h"

#define PLACE(member) offsetof(near_options, member)
static const char *const queries[] = {"closest", "distance", "within"};

static const option option_rows[] = {
    OPTIONS_SCENE(near_options, scene),
    OPTION_SCENE_UP(near_options, scene),
    {"--points", "FILE|-", OPTION_TEXT, PLACE(points),
     "the points, - for stdin; 3 columns, x y z, or 2 in 2D; of 6 the last three\n"
     "are passed over; where the first line of a text names them, in any order,\n"
     "and others are passed over",
     0, 0},
    {"--grid", "NXxNYxNZ", OPTION_GRID, PLACE(grid),
     "in place of --points: a grid of so many points over the scene's bounds, x\n"
     "fastest, ends included; NXxNY has one along z, which lies in the middle",
     0, 0},
    {"--lower", "X,Y,Z", OPTION_POINT, PLACE(lower), "the grid begins here (default: the scene's bounds)", 0, 0},
    {"--upper", "X,Y,Z", OPTION_POINT, PLACE(upper), "the grid ends here (default: the scene's bounds)", 0, 0},
    {"--margin", "M", OPTION_REAL, PLACE(margin), "widen the scene's bounds so far, on every side", 0, 1e18},
    {"-o", "FILE|-", OPTION_TEXT, PLACE(out), "where results go, - for stdout; without it they are only summed up", 0,
     0},
    {"--query", "closest|distance|within", OPTION_CHOICE, PLACE(query),
     "what is asked of each point:\n"
     "closest: distance, closest point, u, v, feature, primitive, geometry (default)\n"
     "distance: the distance alone\n"
     "within: 1 where something is within --radius, else 0",
     0, 0},
    {"--radius", "R", OPTION_REAL, PLACE(radius), "find nothing beyond this distance (default: no limit)", 0,
     (double)INFINITY},
    OPTION_TREE(near_options, tree),
    OPTION_LAYOUT(near_options, layout),
    OPTION_MASK(near_options, scene),
    OPTION_POINTS_IN(near_options, in),
    {"--out", "auto|npy|raw|text|csv|ply|vti", OPTION_CHOICE, PLACE(out_format),
     "format of the results (default: by the name's ending, .npy, .raw or\n"
     ".bin, .txt, .csv, .ply, .vti; without one npy, on a terminal text)\n"
     "ply: the points, with their results\n"
     "vti: of --grid, an image of VTK, which ParaView opens",
     0, 0},
    {"--check", NULL, OPTION_SWITCH, PLACE(check),
     "compare every result with the CPU reference, bit by bit; exit code 3\nif one differs", 0, 0},
    OPTIONS_POINTS_RUN(near_options, resume, shard),
    {"--json", "FILE|-", OPTION_TEXT, PLACE(json),
     "write a summary: device, points, found, mean, least, most, seconds, ...", 0, 0},
    OPTIONS_DEVICE(near_options, device, threads),
};

static const command_line command = {
    .usage = "near SCENE... --points FILE|- | --grid NXxNYxNZ [-o FILE|-] [options]",
    .about =
        "Measures how far points are from the scene's surfaces, and where the closest point is. SCENE is any\n"
        "mix of the first eight options. Without -o, and on a terminal, a line on stderr tells mean, least\n"
        "and most.",
    .closing =
        "Results in npy have named fields: numpy.load(FILE)['distance']; those of a grid have the shape\n"
        "(NZ, NY, NX) by .reshape. Where nothing is found the distance is inf, and primitive = geometry =\n"
        "4294967295, of an invalid point 4294967294. Inside of a solid the distance is that to its surface.\n\n"
        "  slabcast near --mesh part.stl --points scan.csv -o deviation.ply\n"
        "  slabcast near --mesh part.stl --grid 256x256x256 --margin 5 \\\n"
        "    --query distance -o field.vti\n"
        "  slabcast near --mesh cell.obj --points path.csv --query within \\\n"
        "    --radius 0.05 -o - --out csv",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

/* ---- options --------------------------------------------------------------- */

static int check_grid(const near_options *options) {
  const uint32_t *size = options->grid.size;
  const int of_grid = size[0] > 0;
  if (!options->points && !of_grid) return options_refuse(&command, "the points are missing: --points or --grid");
  if (options->points && of_grid) return options_refuse(&command, "--points and --grid do not go together");
  if (!of_grid && (options->lower.given || options->upper.given || options->margin.given))
    return options_refuse(&command, "--lower, --upper and --margin go with --grid");
  if (options->lower.given && options->upper.given && options->margin.given)
    return options_refuse(&command, "--margin widens the scene's bounds, which --lower and --upper replace");
  if (of_grid && grid_count(size) == 0)
    return options_refuse(&command, "--grid %" PRIu32 "x%" PRIu32 "x%" PRIu32 " has more than %" PRIu64 " points",
                          size[0], size[1], size[2], GRID_MOST);
  return OPTIONS_RUN;
}

static int check_radius(const near_options *options) {
  const real_option *radius = &options->radius;
  if (options->query == SLAB_POINTS_WITHIN && !radius->given)
    return options_refuse(&command, "--query within wants --radius R");
  if (radius->given && radius->value == 0) return options_refuse(&command, "--radius 0 is not above 0");
  return OPTIONS_RUN;
}

/* Sets the format of the results from the option or the file name. */
static int choose_format(near_options *options) {
  if (!options->out)
    return options->out_format == FORMAT_AUTO
               ? OPTIONS_RUN
               : options_refuse(&command, "--out is the format of -o FILE, which is missing");
  if (options->out_format != FORMAT_AUTO) return OPTIONS_RUN;
  options->out_format = os_has_ending(options->out, ".vti")   ? FORMAT_VTI
                        : os_has_ending(options->out, ".ply") ? FORMAT_PLY
                                                              : (int)format_of_output(options->out);
  return options_check_ending(&command, options->out, RESULT_ENDINGS "|vti");
}

static int check_format(const near_options *options) {
  const char *out = options->out;
  const int direct = out && output_is_direct(out), image = options->out_format == FORMAT_VTI;
  if (image && options->grid.size[0] == 0)
    return options_refuse(&command, "-o %s: vti is an image of a grid, and points of a file are none", out);
  if (image && options->shard.count > 0)
    return options_refuse(&command, "-o %s: vti is an image of a whole grid, which --shard divides", out);
  if (direct && (image || options->out_format == FORMAT_PLY))
    return options_refuse(&command, "-o %s: %s wants a file, neither stdout nor a pipe", out, image ? "vti" : "ply");
  if (options->resume && (!out || direct))
    return options_refuse(&command, "--resume wants -o FILE, which neither stdout nor a pipe is");
  return OPTIONS_RUN;
}

static int check_options(near_options *options) {
  const input_option points = {"--points", options->points};
  if (!scene_source_count(options->scene))
    return options_refuse(&command, "the scene is missing: --mesh, --boxes, ...");
  int code = check_grid(options);
  if (code == OPTIONS_RUN) code = check_radius(options);
  if (code == OPTIONS_RUN) code = options_check_stdin(&command, scene_source_stdin(options->scene), &points, 1);
  if (code == OPTIONS_RUN) code = choose_format(options);
  if (code == OPTIONS_RUN) code = check_format(options);
  return code == OPTIONS_RUN ? options_check_apart(&command, options->out, options->json) : code;
}

int near_parse(int argc, char **argv, near_options *options) {
  const int code = options_parse(&command, argc, argv, options, NULL);
  if (options->shard.count > 0) scene_source_make_digest(options->scene); /* for its label */
  return code == OPTIONS_RUN ? check_options(options) : code;
}

static int probe(const near_options *options, const char *path) {
  if (!path) return 0;
  return output_probe(path) || output_spares(path, options->points) || scene_source_spared(options->scene, path);
}

int near_probe(const near_options *options) {
  return probe(options, options->out) || probe(options, options->json) ? EXIT_FAILED : EXIT_DONE;
}

/* ---- opening --------------------------------------------------------------- */

/* What the options say of the box, and the scene's bounds for the rest. */
static grid_box box_of(const near_job *job) {
  const near_options *options = job->options;
  const double margin = options->margin.given ? (double)options->margin.value : 0;
  grid_box box;
  for (int k = 0; k < 3; k++) {
    box.lower[k] = options->lower.given ? (double)options->lower.value[k] : (double)job->stats.lower[k] - margin;
    box.upper[k] = options->upper.given ? (double)options->upper.value[k] : (double)job->stats.upper[k] + margin;
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
  return ray_source_open(&points, &job->points) ? EXIT_FAILED : EXIT_DONE;
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

/* A grid needs the bounds of the scene. A file that cannot be read is told before a scene is built. */
static int open_inputs(near_job *job) {
  const int of_file = job->options->points != NULL;
  int code = of_file ? near_open_points(job) : EXIT_DONE;
  if (code == EXIT_DONE) code = open_scene(job);
  return code == EXIT_DONE && !of_file ? near_open_points(job) : code;
}

void near_prepare(near_job *job, uint64_t total) {
  const near_options *options = job->options;
  job->query = (slab_point_options){.mask = scene_source_ray_mask(options->scene), .radius = options->radius.value};
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

static int has_distances(const near_job *job) {
  return job->options->query != SLAB_POINTS_WITHIN && job->tally.found > 0;
}

static double mean_of(const near_job *job) { return job->tally.sum / (double)job->tally.found; }

static void tell_tally(const near_job *job) {
  const near_tally *tally = &job->tally;
  char seconds[SECONDS_TEXT];
  fprintf(stderr, "%" PRIu64 " %s on %s: %" PRIu64 " %s something", tally->points,
          plural(tally->points, "point", "points"), job->device.name, tally->found,
          plural(tally->found, "finds", "find"));
  if (has_distances(job))
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

json_t *near_summary(const near_job *job) {
  const near_tally *tally = &job->tally;
  json_t *root =
      json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "device", job->device.name, "query", queries[job->options->query],
                "points", (json_int_t)tally->points, "resumed", (json_int_t)job->line.first, "found",
                (json_int_t)tally->found, "invalid", (json_int_t)tally->invalid);
  if (!root) return NULL;
  if (job->options->query != SLAB_POINTS_WITHIN) {
    json_object_set_new(root, "mean", json_number_or_null(mean_of(job)));
    json_object_set_new(root, "least", json_number_or_null(tally->least));
    json_object_set_new(root, "most", json_number_or_null(tally->most));
  }
  json_object_set_new(root, "seconds", json_real(tally->seconds));
  json_object_set_new(root, "points_per_second", json_number_or_null((double)tally->points / tally->seconds));
  json_object_set_new(root, "build_seconds", json_real(job->stats.build_seconds));
  json_object_set_new(root, "device_bytes", json_integer((json_int_t)job->stats.device_bytes));
  json_object_set_new(root, "total_seconds", json_real(seconds_now() - job->start));
  if (scene_source_labels(job->options->scene))
    json_object_set_new(root, "names", scene_parts_json(scene_source_parts(job->options->scene)));
  if (job->options->check) check_tally_put(&tally->check, "oracle_points", root);
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

static int run_near(const near_options *options) {
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
  slab_scene_destroy(job.scene);
  slab_context_destroy(job.context);
  return code;
}

static int command_main(int argc, char **argv) {
  near_options options = {.scene = scene_source_create()};
  if (!options.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = near_parse(argc, argv, &options);
  if (code == OPTIONS_RUN) code = run_near(&options);
  scene_source_destroy(options.scene);
  return code;
}

const program_command command_near = {"near", "how far points are from surfaces, and the closest points", command_main,
                                      &command};
