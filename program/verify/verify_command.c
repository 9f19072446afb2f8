/* slabcast verify: checks that this device and driver keep the contract. */
#include "program/verify/verify.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/common/device.h"
#include "program/common/options.h"
#include "program/io/output.h"
#include "sets/adversarial.h"
#include "shapes.def"

/* With this many rays or more, every kind of primitive is cast by every query, in BVHs too. */
#define THOROUGH_RAYS 20000000u

#define QUERY(name, which, about) \
  { name, about, 2, 4096, 6, verify_row, NULL, which, ADVERSARIAL_ALL_KINDS, FLAVOUR_ANY }
#define KIND(shape, name, names, noun, floats, form, place, source) \
  {#names, "this kind alone", 1, 4096, 4, verify_row, NULL, -1, 1u << (shape), FLAVOUR_ANY},
#define KIND_NAME(shape, name, names, noun, floats, form, place, source) #names ", "
#define OPTION(name, flavour, about) \
  { name, about, 1, 2048, 12, verify_row, NULL, -1, ADVERSARIAL_ALL_KINDS, flavour }

const verify_group verify_groups[] = {
    QUERY("closest", SLAB_CLOSEST, "against CPU reference and oracle, as the rows below"),
    QUERY("distance", SLAB_DISTANCE, "scenes of every kind, random options"),
    QUERY("any", SLAB_ANY, "flat and as trees of either layout"),
    QUERY("count", SLAB_COUNT, ""),
    QUERY("all", SLAB_ALL, ""),
    QUERY("interval", SLAB_INTERVAL, ""),
    QUERY("nearest", SLAB_NEAREST, ""),
    {"agreement", "the queries against each other", 1, 4096, 6, verify_agreement, NULL, 0, 0, FLAVOUR_ANY},
    SHAPES(KIND) OPTION("mask", FLAVOUR_MASK, "one option at a time, every query"),
    {"masks", "one a ray, some that see nothing", 1, 2048, 6, verify_row, NULL, -1, ADVERSARIAL_ALL_KINDS,
     FLAVOUR_MASKS},
    {"after", "rays from hit to hit, against what all lists", 1, 2048, 6, verify_row, NULL, -1, ADVERSARIAL_ALL_KINDS,
     FLAVOUR_AFTER},
    OPTION("skip", FLAVOUR_SKIP, "what was hit first is skipped"),
    OPTION("cull", FLAVOUR_CULL, ""),
    OPTION("closed", FLAVOUR_CLOSED, "edges of triangles"),
    OPTION("first", FLAVOUR_FIRST, "hits of a ray, 1 to 20"),
    OPTION("segments", FLAVOUR_SEGMENTS, "t from 0 to 1"),
    OPTION("ranges", FLAVOUR_RANGES, "that begin and end at crossings"),
    {"pairs", "slab_pairs against intervals", 0.25, 32, 5, verify_pairs, NULL, 0, 0, FLAVOUR_ANY},
    {"trees", "each quality and traversal of the wide layout, and the compressed one, against flat, 10,000 primitives",
     3, 16384, 12, verify_trees, NULL, 0, 0, FLAVOUR_ANY},
    {"moving", "scenes that change, refitted and rebuilt, against the same made anew", 1, 2048, 42, verify_moving, NULL,
     0, 0, FLAVOUR_ANY},
    {"instances", "scenes that stand in each other, and exact copies against their models", 0.25, 512, 14,
     verify_instances, NULL, 0, 0, FLAVOUR_ANY},
    {"worlds", "that move and change, against scenes of one alone", 0.25, 512, 4, verify_worlds, NULL, 0, 0,
     FLAVOUR_ANY},
    {"far", "scenes far from 0 with rays of doubles, against the same near 0", 0.75, 512, 14, verify_far, NULL, 0, 0,
     FLAVOUR_ANY},
    {"sets", "rays of sets against arrays, and sums over their rows", 1, 4096, 14, verify_sets, NULL, 0, 0,
     FLAVOUR_ANY},
    {"points", "closest points, by every query, layouts against each other", 1, 2048, 6, verify_points, NULL, 0, 0,
     FLAVOUR_ANY},
    {"inside", "winding numbers and signs of distances, at corners, edges and faces", 1, 4096, 6, verify_inside, NULL,
     0, 0, FLAVOUR_ANY},
    {"edges", "closed meshes, through edges and vertices", 20, 65536, 24, verify_edges, verify_enough_zeros, 0, 0,
     FLAVOUR_ANY},
    {"rooms", "1x1x1000 and 10x3x1000, through edges and vertices", 10, 65536, 12, verify_rooms, verify_enough_zeros, 0,
     0, FLAVOUR_ANY},
    {"invalid", "NaN, infinite, zero-direction rays", 1, 4096, 4, verify_invalid, verify_time_invalid, 0, 0,
     FLAVOUR_ANY},
    {"garbage", "geometry and rays of random bits", 1, 64, 18, verify_garbage, NULL, 0, 0, FLAVOUR_ANY},
    {0},
};
enum { GROUPS = sizeof verify_groups / sizeof *verify_groups - 1 };

typedef struct verify_options {
  uint64_t rays, seed, threads;
  const char *lanes, *groups, *json, *device;
} verify_options;

static const option option_rows[] = {
    {"--rays", "N", OPTION_COUNT, offsetof(verify_options, rays), "rays over all groups (default: 2000000)", 1, 1e12},
    {"--seed", "S", OPTION_COUNT, offsetof(verify_options, seed), "another seed, other rays (default: 1)", 0, 0},
    {"--group", "NAME,...", OPTION_TEXT, offsetof(verify_options, groups), "these groups alone; they share the rays", 0,
     0},
    {"--lanes", "1|8|16|all", OPTION_TEXT, offsetof(verify_options, lanes),
     "primitives tested at once (default: the device's); all: trees at each", 0, 0},
    {"--json", "FILE", OPTION_TEXT, offsetof(verify_options, json), "the table as JSON", 0, 0},
    OPTIONS_DEVICE(verify_options, device, threads),
};

static const command_line command = {
    .usage = "verify [--rays N] [--seed S] [--group NAME,...] [options]",
    .about =
        "Checks that a device and its driver keep the contract: every answer against a reference in C, bit\n"
        "by bit, trees against brute force, closed meshes for leaks, invalid rays, geometry of random bits.\n"
        "Prints a table of groups, with how many of the rays met flat scenes, wide trees (which CPUs get)\n"
        "and compressed ones (GPUs; by CUDA those alone); exit code 3 when anything failed.",
    .closing =
        "Groups: closest, distance, any, count, all, interval, nearest, agreement,\n"
        SHAPES(KIND_NAME) "\n"
        "mask, masks, after, skip, cull, closed, first, segments, ranges, pairs, trees, moving, instances,\n"
        "worlds, far, sets, points, inside, edges, rooms, invalid, garbage.\n"
        "The same seed and number of rays make the same run; what fails says how to see it again.\n\n"
        "  slabcast verify --device cpu\n"
        "  slabcast verify --group trees,edges --rays 100000 --seed 7",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
    .groups = verify_groups,
    .group_count = GROUPS,
    .group_stride = sizeof *verify_groups,
};

/* ---- running ---------------------------------------------------------------- */

/* FNV-1a, so that the groups of one seed use different random numbers. */
static uint64_t hash_of(const char *text) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (; *text; text++) hash = (hash ^ (unsigned char)*text) * 0x100000001b3u;
  return hash;
}

static random_state batch_numbers(const verify_run *run) {
  uint64_t state = run->seed ^ hash_of(run->group->name);
  random_splitmix(&state);
  return random_seed(state + run->batch);
}

static int run_group(verify_run *run) {
  const verify_group *g = run->group;
  verify_tally *t = run->tally;
  const uint64_t fair = (run->share + g->least - 1) / g->least;
  const uint64_t size = fair < g->batch ? fair : g->batch;
  const double start = seconds_now();
  int code = EXIT_DONE;
  for (run->batch = 0; code == EXIT_DONE && t->rays < run->share; run->batch++) {
    const uint64_t left = run->share - t->rays, n = left < size ? left : size;
    random_state random = batch_numbers(run);
    code = g->step(run, &random, (size_t)n);
    t->rays += n;
    t->batches++;
    run->line.base += n;
    progress_at(&run->line, run->line.base);
  }
  if (code == EXIT_DONE && g->finish) code = g->finish(run);
  t->seconds = seconds_now() - start;
  return code;
}

/* Distributes the rays over the groups; each gets at least one for every batch it must make. */
static void share_out(const verify_options *o, uint64_t shares[GROUPS]) {
  double sum = 0;
  for (int g = 0; g < GROUPS; g++)
    if (list_has(o->groups, verify_groups[g].name)) sum += verify_groups[g].weight;
  for (int g = 0; g < GROUPS; g++) {
    const verify_group *group = &verify_groups[g];
    const uint64_t part = (uint64_t)((double)o->rays * (group->weight / sum));
    shares[g] = !list_has(o->groups, group->name) ? 0 : part < group->least ? group->least : part;
  }
}

static int run_groups(verify_run *run, const uint64_t shares[GROUPS], verify_tally tallies[GROUPS]) {
  uint64_t total = 0;
  int code = EXIT_DONE;
  for (int g = 0; g < GROUPS; g++) total += shares[g];
  run->line = progress_begin("verifying", "rays", 0, total);
  for (int g = 0; code == EXIT_DONE && g < GROUPS; g++) {
    run->group = &verify_groups[g];
    run->tally = &tallies[g];
    run->share = shares[g];
    if (shares[g] > 0) code = run_group(run);
  }
  progress_end(&run->line);
  return code;
}

/* ---- printing ----------------------------------------------------------------- */

static const char *const layout_names[LAYOUTS] = {"flat", "wide", "compressed"};

static void describe_figures(const verify_tally *t, char *text, size_t size) {
  text[0] = '\0';
  for (int layout = 0; layout < LAYOUTS; layout++)
    if (t->met[layout])
      verify_append(text, size, "%s%" PRIu64 " %s", text[0] ? ", " : "", t->met[layout], layout_names[layout]);
  for (int i = 0; i < VERIFY_FIGURES && t->figures[i].name; i++) {
    const verify_figure *f = &t->figures[i];
    const char *comma = text[0] ? ", " : "";
    if (f->kind == FIGURE_COUNT) verify_append(text, size, "%s%.0f %s", comma, f->value, f->name);
    if (f->kind == FIGURE_SHARE)
      verify_append(text, size, "%s%.1f %% %s", comma, 100.0 * f->value / (double)t->rays, f->name);
    if (f->kind == FIGURE_RATIO) verify_append(text, size, "%s%.2f %s", comma, f->value, f->name);
  }
}

static verify_tally sum_of(const verify_tally tallies[GROUPS]) {
  verify_tally sum = {0};
  for (int g = 0; g < GROUPS; g++) {
    sum.rays += tallies[g].rays;
    sum.cases += tallies[g].cases;
    sum.failures += tallies[g].failures;
    sum.seconds += tallies[g].seconds;
  }
  return sum;
}

static void print_row(const char *name, const verify_tally *t, const char *note) {
  printf("%-10s %12" PRIu64 " %13" PRIu64 " %9" PRIu64 " %9.2f%s%s\n", name, t->rays, t->cases, t->failures, t->seconds,
         *note ? "  " : "", note);
}

static void print_table(const verify_run *run, const verify_tally tallies[GROUPS]) {
  char note[512];
  const verify_tally sum = sum_of(tallies);
  printf("device     %s, %s, %s\n", run->device.name, run->device.platform, run->device.driver);
  if (!run->extremes) puts("           flushes subnormal numbers: sets whose products could be subnormal are left out");
  printf("seed       %" PRIu64 "\n\n%-10s %12s %13s %9s %9s  %s\n", run->seed, "group", "rays", "cases", "failures",
         "seconds", "figures");
  for (int g = 0; g < GROUPS; g++) {
    describe_figures(&tallies[g], note, sizeof note);
    if (tallies[g].rays) print_row(verify_groups[g].name, &tallies[g], note);
  }
  print_row("together", &sum, "");
}

static json_t *describe_group(const verify_group *group, const verify_tally *t) {
  json_t *figures = json_object();
  for (int layout = 0; figures && layout < LAYOUTS; layout++)
    if (t->met[layout]) json_object_set_new(figures, layout_names[layout], json_integer((json_int_t)t->met[layout]));
  for (int i = 0; figures && i < VERIFY_FIGURES && t->figures[i].name; i++)
    json_object_set_new(figures, t->figures[i].name, json_number_or_null(t->figures[i].value));
  return json_pack("{s:s, s:s, s:I, s:I, s:I, s:I, s:f, s:o, s:s}", "name", group->name, "about", group->about, "rays",
                   (json_int_t)t->rays, "batches", (json_int_t)t->batches, "cases", (json_int_t)t->cases, "failures",
                   (json_int_t)t->failures, "seconds", t->seconds, "figures", figures, "first_failure", t->first);
}

static int save_json(const char *path, const verify_run *run, const verify_tally tallies[GROUPS]) {
  const verify_tally sum = sum_of(tallies);
  json_t *groups = json_array();
  for (int g = 0; g < GROUPS; g++)
    if (tallies[g].rays && groups && json_array_append_new(groups, describe_group(&verify_groups[g], &tallies[g]))) {
      json_decref(groups);
      groups = NULL;
    }
  return json_save(path, json_pack("{s:s, s:s, s:s, s:I, s:b, s:I, s:I, s:I, s:I, s:f, s:o}", "device",
                                   run->device.name, "platform", run->device.platform, "driver", run->device.driver,
                                   "lanes", (json_int_t)run->device.lane_width, "denormals", run->extremes, "seed",
                                   (json_int_t)run->seed, "rays", (json_int_t)sum.rays, "cases", (json_int_t)sum.cases,
                                   "failures", (json_int_t)sum.failures, "seconds", sum.seconds, "groups", groups));
}

/* ---- the command ----------------------------------------------------------------- */

static int are_all(const char *lanes) { return !strcmp(lanes, "all"); }

static int open_contexts(const verify_options *o, verify_run *run) {
  const uint32_t lanes = o->lanes && !are_all(o->lanes) ? (uint32_t)strtoul(o->lanes, NULL, 10) : 0;
  slab_context_options options = {
      .device = o->device, .lane_width = lanes, .layout = SLAB_LAYOUT_COMPRESSED, .threads = (uint32_t)o->threads};
  int code = device_open_with(&options, &run->compressed);
  if (code != EXIT_DONE) return code;
  const slab_status status = slab_context_device(run->compressed, &run->device);
  if (status != SLAB_OK) return complain_status(status, "verify");
  if (device_is_cudas(&run->device)) return EXIT_DONE;
  options.layout = SLAB_LAYOUT_WIDE;
  for (int traversal = 0; code == EXIT_DONE && traversal <= SLAB_TRAVERSAL_SORTED; traversal++) {
    options.traversal = (slab_traversal)traversal;
    code = device_open_with(&options, &run->wide[traversal]);
  }
  return code;
}

/* The processor has the widths of its instruction sets, a card by CUDA one; the others are left out. OpenCL devices
 * have all. */
static int open_other_widths(const verify_options *o, verify_run *run) {
  static const uint32_t widths[WIDTHS] = {1, 8, 16};
  const int is_processor = strcmp(run->device.platform, SLAB_PROCESSOR_PLATFORM) == 0;
  for (int w = 0; w < WIDTHS; w++) {
    const slab_context_options options = {.device = o->device,
                                          .lane_width = widths[w],
                                          .layout = SLAB_LAYOUT_WIDE,
                                          .traversal = SLAB_TRAVERSAL_PACKETS,
                                          .threads = (uint32_t)o->threads};
    if (widths[w] == run->device.lane_width || device_is_cudas(&run->device)) continue;
    const slab_status status = slab_context_create(&options, &run->other[w]);
    if (status != SLAB_OK && !(status == SLAB_UNSUPPORTED && is_processor))
      return complain_status(status, "verify --lanes all");
  }
  return EXIT_DONE;
}

static int open_run(const verify_options *o, verify_run *run) {
  uint32_t largest = 0;
  int code = open_contexts(o, run);
  if (code != EXIT_DONE) return code;
  if (o->lanes && are_all(o->lanes)) code = open_other_widths(o, run);
  if (code != EXIT_DONE) return code;
  run->context = run->device.type == SLAB_DEVICE_CPU ? run->wide[SLAB_TRAVERSAL_AUTO] : run->compressed;
  for (int g = 0; g < GROUPS; g++)
    if (verify_groups[g].batch > largest) largest = verify_groups[g].batch;
  run->extremes = run->device.denormals;
  run->thorough = o->rays >= THOROUGH_RAYS;
  run->seed = o->seed;
  run->rays = malloc(largest * sizeof *run->rays);
  run->skip = malloc(largest * sizeof *run->skip);
  run->masks = malloc(largest * sizeof *run->masks);
  run->after = malloc(largest * sizeof *run->after);
  if (run->rays && run->skip && run->masks && run->after) return EXIT_DONE;
  complain("verify: out of memory");
  return EXIT_FAILED;
}

static void close_run(verify_run *run) {
  answers_free(&run->answers);
  answers_free(&run->others);
  free(run->rays);
  free(run->skip);
  free(run->masks);
  free(run->after);
  slab_context_destroy(run->compressed);
  for (int traversal = 0; traversal <= SLAB_TRAVERSAL_SORTED; traversal++) slab_context_destroy(run->wide[traversal]);
  for (int w = 0; w < WIDTHS; w++) slab_context_destroy(run->other[w]);
}

static int are_lanes(const char *text) {
  static const char *const known[] = {"1", "8", "16", "all"};
  for (size_t i = 0; i < COUNT_OF(known); i++)
    if (!strcmp(text, known[i])) return 1;
  return 0;
}

static int command_main(int argc, char **argv) {
  verify_options o = {.rays = 2000000, .seed = 1};
  verify_run run = {0};
  verify_tally tallies[GROUPS] = {{0}};
  uint64_t shares[GROUPS];
  char name[32];
  int code = options_parse(&command, argc, argv, &o, NULL);
  if (code != OPTIONS_RUN) return code;
  if (list_unknown(o.groups, verify_groups, GROUPS, sizeof *verify_groups, name, sizeof name))
    return options_refuse(&command, "option --group: there is no group \"%s\"", name);
  if (o.lanes && !are_lanes(o.lanes))
    return options_refuse(&command, "option --lanes: \"%s\" is not 1, 8, 16 or all", o.lanes);
  share_out(&o, shares);
  code = open_run(&o, &run);
  if (code == EXIT_DONE) code = run_groups(&run, shares, tallies);
  if (code == EXIT_DONE) {
    print_table(&run, tallies);
    code = sum_of(tallies).failures ? EXIT_MISMATCH : EXIT_DONE;
    if (o.json && save_json(o.json, &run, tallies)) code = EXIT_FAILED;
  }
  close_run(&run);
  return code;
}

const program_command command_verify = {"verify", "check that a device keeps the contract", command_main, &command};
