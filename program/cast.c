/* slabcast cast: casts rays from a file or pipe at a scene and writes the results to a file or pipe, in constant
 * memory. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/cast.h"
#include "program/common/device.h"
#include "program/io/caster.h"
#include "program/io/digest.h"
#include "program/io/errors.h"
#include "program/os/file.h"

#define QUERIES "closest|distance|any|count|all|interval|nearest"
static const option option_rows[] = {
    OPTIONS_SCENE(cast_options, scene),
    OPTION_SCENE_UP(cast_options, scene),
    {"--rays", "FILE|-", OPTION_TEXT, CAST_PLACE(rays),
     "the rays, - for stdin; 8 columns, ox oy oz t_min dx dy dz t_max,\n"
     "6 (origin, direction; range 0 to inf) or 4 (the same in 2D); where the\n"
     "first line of a text names them, in any order",
     0, 0},
    CAST_OPTION_OUT,
    {"--query", QUERIES, OPTION_CHOICE, CAST_PLACE(query),
     "what is asked of each ray:\n"
     "closest: t, normal, u, v, primitive, geometry of the first hit (default)\n"
     "distance: its t alone\n"
     "any: 1 or 0\n"
     "count: how many primitives are hit\n"
     "all: every hit, sorted; FILE.offsets.npy says where each ray's begin\n"
     "interval: enter, leave, primitive, geometry of the first solid met\n"
     "nearest: t, primitive, geometry of the first hit",
     0, 0},
    OPTION_TREE(cast_options, tree),
    OPTION_LAYOUT(cast_options, layout),
    {"--segments", NULL, OPTION_SWITCH, CAST_PLACE(segments),
     "rows are two points, 6 columns or 4 in 2D; t is the fraction of the way.\n"
     "A segment wholly inside a solid has an interval and no hit: it meets no\n"
     "surface",
     0, 0},
    {"--t-min", "T", OPTION_REAL, CAST_PLACE(t_min), "every ray's range begins here, whatever its row says", 0, 0},
    {"--t-max", "T", OPTION_REAL, CAST_PLACE(t_max), "every ray's range ends here, whatever its row says", 0, 0},
    OPTION_MASK(cast_options, scene),
    {"--masks", "FILE|-", OPTION_TEXT, CAST_PLACE(own.masks),
     "a mask for each ray, in place of --mask BITS (0 sees nothing): npy of\n"
     "uint32, raw uint32, or text, one a line, decimal or 0x...",
     0, 0},
    {"--after", "FILE|-", OPTION_TEXT, CAST_PLACE(own.after),
     "give each ray what follows a hit of its own (by t, geometry, primitive):\n"
     "results of closest, nearest or distance of the same rays, or npy, csv or\n"
     "lines of t, primitive, geometry; nothing follows a miss, and after t alone\n"
     "comes what lies beyond it",
     0, 0},
    {"--worlds", "FILE|-", OPTION_TEXT, CAST_PLACE(own.worlds),
     "the world of each ray, which --instance-worlds makes (0: none): npy of\n"
     "uint32, raw uint32, or text, one a line",
     0, 0},
    CAST_OPTIONS_CROSSINGS,
    {"--max-hits", "K", OPTION_COUNT, CAST_PLACE(max_hits),
     "list the first K hits of each ray at most, with --query all", 1, UINT32_MAX},
    CAST_OPTIONS_NORMALS_POINTS,
    {"--in", "auto|npy|raw|text", OPTION_CHOICE, CAST_PLACE(in),
     "format of the rays (default: by name or first bytes, else text);\n"
     "raw: rows of eight little-endian float32; text: lines of numbers, csv too",
     0, 0},
    CAST_OPTION_FORMAT,
    CAST_OPTIONS_RUN,
    OPTIONS_DEVICE(cast_options, device, threads),
};

static const command_line command = {
    .usage = "cast SCENE... --rays FILE|- [-o FILE|-] [options]",
    .about =
        "Casts rays at a scene: any mix of the first eight options, numbered as geometries in their order.\n"
        "Without -o, and on a terminal, a line on stderr says how many hit and how long it took.",
    .closing =
        "Results in npy have named fields: numpy.load(FILE)['t']. A miss has t = inf and primitive =\n"
        "geometry = 4294967295, an invalid ray 4294967294. FILE appears when it is whole. The first line of\n"
        "csv names its columns. csv and ply name geometries of mesh files, ply in comments of its header.\n\n"
        "  slabcast cast --mesh room.obj --rays rays.npy -o hits.npy\n"
        "  slabcast rays camera --mesh room.obj |\n"
        "    slabcast cast --mesh room.obj --rays - --check\n"
        "  slabcast cast --mesh room.obj --rays rays.npy --after hits.npy \\\n"
        "    -o next.npy\n"
        "  echo 0 0 -5 0 0 1 |\n"
        "    slabcast cast --builtin spheres:100 --rays - -o - --out csv",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
};

/* ---- options --------------------------------------------------------------- */

static int is_binary(int format) { return format == FORMAT_NPY || format == FORMAT_RAW; }

static int check_range(const cast_options *options) {
  const real_option *least = &options->t_min, *most = &options->t_max;
  if (!least->given || !most->given || least->value <= most->value) return OPTIONS_RUN;
  return options_refuse(options->line, "--t-max %.9g is below --t-min %.9g", (double)most->value, (double)least->value);
}

static int check_stdin(const cast_options *options) {
  const input_option inputs[] = {
      {"--rays", options->rays},         {"--masks", options->own.masks}, {"--after", options->own.after},
      {"--worlds", options->own.worlds}, {"--beams", options->beams},     {"--poses", options->poses},
  };
  return options_check_stdin(options->line, scene_source_stdin(options->scene), inputs, COUNT_OF(inputs));
}

static int check_own(const cast_options *options) {
  if (options->own.masks && scene_source_ray_mask(options->scene))
    return options_refuse(options->line, "--mask BITS and --masks do not go together: each ray has one mask");
  if (options->own.after && options->query == SLAB_INTERVAL)
    return options_refuse(options->line,
                          "--after does not go with --query interval: inside of solids no interval follows");
  return OPTIONS_RUN;
}

/* Sets the format of the results from the option or the file name. */
static int choose_format(cast_options *options) {
  if (options->out_format != FORMAT_AUTO)
    return options->out ? OPTIONS_RUN
                        : options_refuse(options->line, "--out is the format of -o FILE, which is missing");
  if (!options->out) return OPTIONS_RUN;
  options->out_format = os_has_ending(options->out, ".ply") ? FORMAT_PLY : (int)format_of_output(options->out);
  return options_check_ending(options->line, options->out, RESULT_ENDINGS);
}

/* A point needs a t, and the number of points stands before them. */
static int check_ply(const cast_options *options) {
  if (options->query == SLAB_ANY || options->query == SLAB_COUNT)
    return options_refuse(options->line, "-o %s: ply holds points of hits, which --query any and count have not",
                          options->out);
  if (output_is_direct(options->out))
    return options_refuse(options->line,
                          "-o %s: ply begins with the number of its points, which is known last: it wants a file",
                          options->out);
  return OPTIONS_RUN;
}

int cast_check(cast_options *options) {
  const slab_query query = (slab_query)options->query;
  if (options->shard.count > 0) scene_source_make_digest(options->scene); /* for its label */
  if (!scene_source_count(options->scene))
    return options_refuse(options->line, "the scene is missing: --mesh, --boxes, ...");
  if (options->points && (query == SLAB_ANY || query == SLAB_COUNT))
    return options_refuse(options->line, "--points does not go with --query any or count, which have no t");
  if (options->max_hits != 0 && query != SLAB_ALL)
    return options_refuse(options->line, "--max-hits goes with --query all alone");
  int code = check_range(options);
  if (code == OPTIONS_RUN) code = check_stdin(options);
  if (code == OPTIONS_RUN) code = check_own(options);
  if (code == OPTIONS_RUN) code = choose_format(options);
  if (code == OPTIONS_RUN && options->out && options->out_format == FORMAT_PLY) code = check_ply(options);
  if (code != OPTIONS_RUN) return code;
  code = options_check_apart(options->line, options->out, options->json);
  if (code != OPTIONS_RUN) return code;
  const int direct = options->out && output_is_direct(options->out);
  if (direct && query == SLAB_ALL && is_binary(options->out_format))
    return options_refuse(options->line, "%s writes two files: -o %s works with --out csv or text",
                          options->rays ? "--query all" : "--returns", options->out);
  if (options->resume && (!options->out || direct))
    return options_refuse(options->line, "--resume wants -o FILE, which neither stdout nor a pipe is");
  return OPTIONS_RUN;
}

int cast_parse(int argc, char **argv, cast_options *options) {
  options->line = &command;
  const int code = options_parse(&command, argc, argv, options, NULL);
  if (code == OPTIONS_RUN && !options->rays) return options_refuse(&command, "--rays is missing");
  return code == OPTIONS_RUN ? cast_check(options) : code;
}

static int probe(const cast_options *options, const char *path) {
  const own_options *own = &options->own;
  return output_probe(path) || output_spares(path, options->rays) || output_spares(path, own->masks) ||
         output_spares(path, own->after) || output_spares(path, own->worlds) || output_spares(path, options->beams) ||
         output_spares(path, options->poses) || scene_source_spared(options->scene, path);
}

int cast_probe(const cast_options *options) {
  int failed = options->out && probe(options, options->out);
  if (!failed && options->json) failed = probe(options, options->json);
  if (failed || !options->out || options->query != SLAB_ALL || !is_binary(options->out_format))
    return failed ? EXIT_FAILED : EXIT_DONE;
  char *offsets = offsets_name(options->out);
  if (!offsets) complain("out of memory");
  failed = !offsets || probe(options, offsets);
  free(offsets);
  return failed ? EXIT_FAILED : EXIT_DONE;
}

/* ---- casting --------------------------------------------------------------- */

int cast_open_rays(cast_job *job) {
  const cast_options *options = job->options;
  const ray_options rays = {
      .path = options->rays,
      .format = (file_format)options->in,
      .of = options->segments ? ROWS_OF_SEGMENTS : ROWS_OF_RAYS,
      .t_min = options->t_min,
      .t_max = options->t_max,
      .shard = options->shard,
      .sweep = options->sweep,
      .need_count = options->out && options->out_format == FORMAT_NPY && output_is_direct(options->out),
  };
  if (ray_source_open(&rays, &job->rays)) return EXIT_FAILED;
  const shard_label which = ray_source_shard(job->rays);
  if (own_source_open(&options->own, &which, &job->own)) return EXIT_FAILED;
  const int found = which.count ? own_source_sample(job->own, &job->sample) : 0;
  if (found == 0) job->sample = 0;
  return found < 0 ? EXIT_FAILED : EXIT_DONE;
}

slab_context_options cast_context(const cast_options *options) {
  return (slab_context_options){
      .device = options->device, .layout = (slab_layout)options->layout, .threads = (uint32_t)options->threads};
}

int cast_settle(cast_job *job) {
  sweep *sensor = job->options->sweep;
  const bool far = scene_is_far(&job->stats);
  if (far && sensor) sweep_count_from(sensor, job->stats.origin);
  if (far && ray_source_is_wide(job->rays)) ray_source_keep_doubles(job->rays);
  return own_source_settle(job->own, ray_source_has_doubles(job->rays)) ? EXIT_FAILED : EXIT_DONE;
}

static int open_scene(cast_job *job) {
  const cast_options *options = job->options;
  const slab_context_options context = cast_context(options);
  const int code = scene_source_open(options->scene, &context, (slab_tree)options->tree, &job->context, &job->scene,
                                     &job->stats, &job->device);
  return code == EXIT_DONE ? cast_settle(job) : code;
}

/* The digest of all that decides answers beside the scene and the rays, which have segments and ranges. 0: the rays'
 * own values have no digest. */
static uint64_t digest_options(const cast_job *job) {
  const cast_options *options = job->options;
  const uint64_t values[] = {
      (uint64_t)options->query, (uint64_t)options->points,       scene_source_ray_mask(options->scene),
      (uint64_t)options->cull,  (uint64_t)options->face_forward, (uint64_t)options->edges,
      options->max_hits};
  digest seen = {0};
  digest_add(&seen, values, sizeof values);
  if (job->own) digest_add(&seen, &job->sample, sizeof job->sample);
  return job->own && job->sample == 0 ? 0 : digest_value(&seen);
}

shard_label cast_label(const cast_job *job) {
  shard_label label = ray_source_shard(job->rays);
  if (label.count == 0) return label;
  label.scene = scene_source_digest(job->options->scene);
  label.options = digest_options(job);
  return label;
}

static int open_results(cast_job *job) {
  const cast_options *options = job->options;
  if (!options->out) return EXIT_DONE;
  const result_options results = {
      .path = options->out,
      .format = (file_format)options->out_format,
      .query = (slab_query)options->query,
      .points = options->points,
      .doubles = ray_source_has_doubles(job->rays),
      .places = scene_is_far(&job->stats),
      .resume = options->resume,
      .beams = options->sweep ? options->sweep->beams.rows : 0,
      .rays = ray_source_count(job->rays),
      .first = ray_source_first(job->rays),
      .shard = cast_label(job),
      .labels = scene_source_labels(options->scene),
  };
  return result_file_open(&results, &job->results) ? EXIT_FAILED : EXIT_DONE;
}

void cast_prepare(cast_job *job) {
  const cast_options *options = job->options;
  const uint64_t count = ray_source_count(job->rays);
  const uint64_t resumed = job->results ? result_file_resumed(job->results) : 0;
  job->cast.context = job->context;
  job->cast.scene = job->scene;
  job->cast.device = job->device.name;
  job->cast.query = (slab_query)options->query;
  job->cast.doubles = ray_source_has_doubles(job->rays);
  job->cast.options.mask = scene_source_ray_mask(options->scene);
  job->cast.options.cull = (slab_cull)options->cull;
  job->cast.options.face_forward = options->face_forward;
  job->cast.options.edges = (slab_edges)options->edges;
  job->cast.options.max_hits = (uint32_t)options->max_hits;
  job->cast.check = options->check;
  job->cast.wants_rays = job->results && result_file_wants_rays(job->results);
  job->cast.tally.first_invalid = UINT64_MAX;
  job->cast.first = ray_source_first(job->rays) + resumed;
  own_source_limit(job->own, scene_source_worlds(options->scene));
  job->cast.line = progress_begin("casting", "rays", resumed, count == ROWS_UNKNOWN ? 0 : count);
}

/* ---- messages -------------------------------------------------------------- */

/* Prints how many rays are invalid for each reason, and the first one. Only if host and device found equally many. */
static void warn_of_invalid(const cast_tally *tally, int doubles) {
  const uint64_t *f = tally->faults;
  const char *most = doubles ? "2^58" : "2^60";
  char rest[240], way[80] = "";
  if (!tally->invalid) return;
  if (f[FAULT_WAY]) snprintf(way, sizeof way, ", direction beyond 2^960 or below 2^-960: %" PRIu64, f[FAULT_WAY]);
  if (f[FAULT_NAN] + f[FAULT_INFINITE] + f[FAULT_DIRECTION] + f[FAULT_FAR] + f[FAULT_WAY] == tally->invalid)
    snprintf(rest, sizeof rest,
             " (NaN: %" PRIu64 ", infinite: %" PRIu64 ", zero direction: %" PRIu64 ", origin beyond %s: %" PRIu64
             "%s); the first is ray %" PRIu64 ", counted from 0",
             f[FAULT_NAN], f[FAULT_INFINITE], f[FAULT_DIRECTION], most, f[FAULT_FAR], way, tally->first_invalid);
  else
    snprintf(rest, sizeof rest, " (NaN, infinite, zero direction, origin beyond %s)", most);
  complain("warning: %" PRIu64 " of %" PRIu64 " %s %s nothing%s", tally->invalid, tally->rays,
           plural(tally->rays, "ray", "rays"), plural(tally->invalid, "is invalid and hits", "are invalid and hit"),
           rest);
}

/* Rays per second of casting alone. The first answers are excluded because the driver loads or compiles kernels before
 * them. NaN if all answers came with the first. */
static double cast_rate(const cast_tally *tally) {
  const uint64_t rays = tally->rays - tally->prepare_rays;
  return rays > 0 && tally->cast_seconds > 0 ? (double)rays / tally->cast_seconds : NAN;
}

static void tell_counts(const cast_job *job) {
  const cast_tally *tally = &job->cast.tally;
  const double rate = cast_rate(tally);
  char first[SECONDS_TEXT], others[SECONDS_TEXT];
  fprintf(stderr, "%" PRIu64 " %s, %" PRIu64 " hit on %s: ", tally->rays, plural(tally->rays, "ray", "rays"),
          tally->hits, job->device.name);
  if (isnan(rate))
    fprintf(stderr, "answers after %s\n", seconds_text(tally->prepare_seconds + tally->cast_seconds, first));
  else
    fprintf(stderr, "first answers after %s, the others in %s, %.4g Mrays/s\n",
            seconds_text(tally->prepare_seconds, first), seconds_text(tally->cast_seconds, others), 1e-6 * rate);
}

void cast_tell(const cast_job *job) {
  const cast_tally *tally = &job->cast.tally;
  scene_warn_of_rounding(&job->stats, job->options->sweep ? job->options->poses : job->options->rays, job->rounding);
  warn_of_invalid(tally, job->cast.doubles);
  if (!job->options->out || os_is_terminal(OS_STDERR)) tell_counts(job);
  if (job->options->check) check_tally_tell(&tally->check, "ray", "rays");
}

json_t *cast_summary(const cast_job *job) {
  const cast_tally *tally = &job->cast.tally;
  static const char *const queries[] = {"closest", "distance", "any", "count", "all", "interval", "nearest"};
  json_t *root =
      json_pack("{s:s, s:s, s:I, s:I, s:I, s:I}", "device", job->device.name, "query", queries[job->options->query],
                "rays", (json_int_t)tally->rays, "resumed", (json_int_t)job->cast.line.first, "hits",
                (json_int_t)tally->hits, "invalid", (json_int_t)tally->invalid);
  if (!root) return NULL;
  if (job->cast.query == SLAB_COUNT || job->cast.query == SLAB_ALL)
    json_object_set_new(root, "crossings", json_integer((json_int_t)tally->crossings));
  json_object_set_new(root, "seconds", json_real(tally->prepare_seconds + tally->cast_seconds));
  json_object_set_new(root, "prepare_seconds", json_real(tally->prepare_seconds));
  json_object_set_new(root, "rays_per_second", json_number_or_null(cast_rate(tally)));
  json_object_set_new(root, "build_seconds", json_real(job->stats.build_seconds));
  json_object_set_new(root, "device_bytes", json_integer((json_int_t)job->stats.device_bytes));
  json_object_set_new(root, "total_seconds", json_real(seconds_now() - job->start));
  if (scene_source_labels(job->options->scene))
    json_object_set_new(root, "names", scene_parts_json(scene_source_parts(job->options->scene)));
  if (job->options->check) check_tally_put(&tally->check, "oracle_rays", root);
  return root;
}

static int finish(cast_job *job) {
  result_file *results = job->results;
  job->results = NULL;
  if (results && result_file_commit(results)) return EXIT_FAILED;
  job->rounding = ray_source_rounding(job->rays);
  cast_tell(job);
  if (job->options->json && json_save(job->options->json, cast_summary(job))) return EXIT_FAILED;
  return check_tally_is_bad(&job->cast.tally.check) ? EXIT_MISMATCH : EXIT_DONE;
}

/* Without -o nothing goes to a pipe, whose reader may wait for results. Then the user may want the check alone. */
static void tell_of_pipe(const cast_options *options) {
  if (options->out || options->check || options->json || !os_is_pipe(OS_STDOUT)) return;
  complain("warning: without -o results are only counted, and nothing goes to the pipe; -o - writes them there");
}

static int skip_resumed(cast_job *job) {
  const uint64_t resumed = job->cast.line.first;
  return ray_source_skip(job->rays, resumed) || own_source_go_to(job->own, resumed) ? -1 : 0;
}

int cast_run(const cast_options *options) {
  cast_job job = {.options = options, .start = seconds_now()};
  int code = cast_probe(options);
  if (code != EXIT_DONE) goto done;
  tell_of_pipe(options);
  if ((code = cast_open_rays(&job)) != EXIT_DONE) goto done;
  if ((code = open_scene(&job)) != EXIT_DONE) goto done;
  if ((code = open_results(&job)) != EXIT_DONE) goto done;
  cast_prepare(&job);
  code = skip_resumed(&job) ? EXIT_FAILED : batches_run(job.rays, job.own, &job.cast, job.results);
  if (code == EXIT_DONE) code = finish(&job);
done:
  result_file_discard(job.results);
  ray_source_close(job.rays);
  own_source_close(job.own);
  slab_scene_destroy(job.scene);
  slab_context_destroy(job.context);
  return code;
}

static int command_main(int argc, char **argv) {
  cast_options options = {.scene = scene_source_create()};
  if (!options.scene) {
    complain("out of memory");
    return EXIT_FAILED;
  }
  int code = cast_parse(argc, argv, &options);
  if (code == OPTIONS_RUN) code = cast_run(&options);
  scene_source_destroy(options.scene);
  return code;
}

const program_command command_cast = {"cast", "cast rays from a file or pipe at a scene", command_main, &command};
