/* slabcast bench: measures a device and the share of its ceilings that casts reach. */
#include "base/plural.h"
#include "os/process.h"
#include "program/bench/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "program/common/device.h"
#include "program/common/options.h"
#include "program/io/output.h"

#define MIB ((size_t)1 << 20)
/* Fewest rays of a cast. With fewer, each ray at a large scene would wait for its own memory accesses. */
#define LEAST_RAYS 2048
/* One scene whatever the options, whose kernels are quick, so that transfers show. */
enum { TRANSFER_TRIANGLES = 10000, TRANSFER_LEAST = 1000 };

/* Sizes of the workloads. Batches and scenes grow by factors of ten. */
typedef struct extent {
  bench_effort effort;
  uint32_t flat, tree;                /* primitives of the workloads */
  uint32_t side_flat, side;           /* sides of the square picture whose pixels are the rays: flat scenes, BVHs */
  uint64_t batch_most, transfer_most; /* rays */
  size_t transfer_queries;
  uint32_t flat_most, boxes_most,
      triangles_most; /* largest scenes: flat ones (boxes), BVHs of boxes, BVHs of triangles */
  double scene_tests; /* primitive tests of a flat cast */
  size_t scene_rays;  /* rays of a cast through a BVH; upper limit for a flat one */
} extent;

static const extent quick_extent = {.effort = {64 * MIB, 0.001, 6, 3, 50},
                                    .flat = 1024,
                                    .tree = 10000,
                                    .side_flat = 128,
                                    .side = 128,
                                    .batch_most = 100000,
                                    .transfer_most = 10000,
                                    .transfer_queries = 3,
                                    .flat_most = 10000,
                                    .boxes_most = 10000,
                                    .triangles_most = 10000,
                                    .scene_tests = 1e7,
                                    .scene_rays = 16384};
static const extent usual_extent = {.effort = {256 * MIB, 0.004, 12, 9, 100},
                                    .flat = 4096,
                                    .tree = 100000,
                                    .side_flat = 512,
                                    .side = 512,
                                    .batch_most = 10000000,
                                    .transfer_most = 10000000,
                                    .transfer_queries = 6,
                                    .flat_most = 1000000,
                                    .boxes_most = 1000000,
                                    .triangles_most = 1000000,
                                    .scene_tests = 2e8,
                                    .scene_rays = 262144};
static const extent full_extent = {.effort = {256 * MIB, 0.004, 12, 9, 100},
                                   .flat = 4096,
                                   .tree = 1000000,
                                   .side_flat = 512,
                                   .side = 1024,
                                   .batch_most = 100000000,
                                   .transfer_most = 10000000,
                                   .transfer_queries = 6,
                                   .flat_most = 10000000,
                                   .boxes_most = 10000000,
                                   .triangles_most = 10000000,
                                   .scene_tests = 2e8,
                                   .scene_rays = 262144};

typedef struct bench_options {
  int quick, full, processor_time;
  real_option seconds;
  const char *groups, *csv, *json, *compare, *device;
  uint64_t threads;
} bench_options;

static const option option_rows[] = {
    {"--csv", "FILE", OPTION_TEXT, offsetof(bench_options, csv), "the figures as CSV, for `./dev plot` and the like", 0,
     0},
    {"--json", "FILE", OPTION_TEXT, offsetof(bench_options, json), "the figures as JSON", 0, 0},
    {"--compare", "OLD.json", OPTION_TEXT, offsetof(bench_options, compare),
     "adds how the figures stand to those of an earlier run", 0, 0},
    {"--group", "NAME,...", OPTION_TEXT, offsetof(bench_options, groups),
     "these casts alone: work, batch, scene, transfer; ceilings are always\nmeasured", 0, 0},
    {"--seconds", "S", OPTION_REAL, offsetof(bench_options, seconds),
     "how long each figure is measured (default: 0.25; 0: once, which shows\nthat all works and is no benchmark)", 0,
     60},
    {"--quick", NULL, OPTION_SWITCH, offsetof(bench_options, quick), "small scenes and batches", 0, 0},
    {"--full", NULL, OPTION_SWITCH, offsetof(bench_options, full),
     "10^8 rays, 10^7 boxes and triangles, as far as memory goes", 0, 0},
    {"--processor-time", NULL, OPTION_SWITCH, offsetof(bench_options, processor_time),
     "seconds of the processor instead of the wall's: for CPU devices\nof a machine with other work on it", 0, 0},
    OPTIONS_DEVICE(bench_options, device, threads),
};

static int run_workloads(bench_run *, const extent *);
static int run_batches(bench_run *, const extent *);
static int run_scenes(bench_run *, const extent *);
static int run_transfers(bench_run *, const extent *);

static const struct group {
  const char *name;
  int (*run)(bench_run *, const extent *);
} groups[] = {{"work", run_workloads}, {"batch", run_batches}, {"scene", run_scenes}, {"transfer", run_transfers}};
enum { GROUPS = sizeof groups / sizeof *groups };

static const command_line command = {
    .usage = "bench [--csv FILE] [--json FILE] [--compare OLD.json] [options]",
    .about =
        "Measures a device (by default a GPU, else the processor). First come its own ceilings: arithmetic,\n"
        "memory, transfers and launches. Then come casts of flat scenes and trees: from host to host and, on\n"
        "OpenCL and CUDA, the kernel alone, by the size of batch and scene. Each query is also measured by\n"
        "the kind of memory of rays and hits: ordinary, or slab_host_alloc's. Prints rays and tests per\n"
        "second, their share of the ceiling, and the ceiling that bounds them. Without --quick or --full it\n"
        "takes two or three minutes on two cores.",
    .closing =
        "The answers of every round are checked. Exit code 3: an answer is wrong. Exit code 1: something is\n"
        "faster than its ceiling allows, by 3 % or more, so the benchmark is wrong. Runs with --seconds 0\n"
        "are excepted, and so is --group transfer. By CUDA transfers are the only ceilings.\n\n"
        "  slabcast bench --quick\n"
        "  slabcast bench --json new.json --compare old.json",
    .options = option_rows,
    .option_count = COUNT_OF(option_rows),
    .groups = groups,
    .group_count = GROUPS,
    .group_stride = sizeof *groups,
};

/* ---- groups of casts ---- */

static int run_sets(bench_run *run, const bench_scene *s, uint32_t side) {
  static const trace_set sets[] = {TRACE_PRIMARY, TRACE_RANDOM};
  int code = EXIT_DONE;
  for (size_t i = 0; code == EXIT_DONE && i < COUNT_OF(sets); i++) {
    bench_rays rays;
    code = bench_rays_of_set(run, s, sets[i], side, &rays);
    if (code == EXIT_DONE) code = bench_cast(run, "work", s, SLAB_CLOSEST, &rays);
    if (code == EXIT_DONE) code = bench_cast(run, "work", s, SLAB_ANY, &rays);
    bench_rays_free(run, &rays);
  }
  return code;
}

static int run_workloads(bench_run *run, const extent *e) {
  static const char *const shapes[] = {"boxes", "spheres", "triangles"};
  int code = EXIT_DONE;
  for (int flat = 1; flat >= 0; flat--)
    for (size_t i = 0; code == EXIT_DONE && i < COUNT_OF(shapes); i++) {
      bench_scene s;
      code = bench_scene_make(run, shapes[i], flat ? e->flat : e->tree, flat ? SLAB_TREE_FLAT : SLAB_TREE_HIGH, &s);
      if (code != EXIT_DONE) return code;
      code = run_sets(run, &s, flat ? e->side_flat : e->side);
      slab_scene_destroy(s.scene);
      if (code == EXIT_DONE) code = bench_arithmetic(run);
    }
  return code;
}

/* Limits the rays so that arrays of so many bytes per ray fit half of the machine's memory. */
static uint64_t rays_that_fit(uint64_t most, size_t bytes) {
  const uint64_t memory = os_memory(), fit = memory > 0 ? memory / 2 / bytes : most;
  return fit < most ? fit : most;
}

static int run_batches_of(bench_run *run, uint64_t most, const char *shape, uint32_t count, slab_tree tree) {
  bench_scene s;
  bench_rays rays;
  int code = bench_scene_make(run, shape, count, tree, &s);
  if (code != EXIT_DONE) return code;
  code = bench_rays_random(run, &s, MEMORY_ORDINARY, (size_t)most, &rays);
  for (rays.n = 1000; code == EXIT_DONE && rays.n <= most; rays.n *= 10)
    code = bench_cast(run, "batch", &s, SLAB_DISTANCE, &rays);
  bench_rays_free(run, &rays);
  slab_scene_destroy(s.scene);
  return code == EXIT_DONE ? bench_arithmetic(run) : code;
}

static int run_batches(bench_run *run, const extent *e) {
  /* two copies of the rays and three of their distances */
  const uint64_t most = rays_that_fit(e->batch_most, 2 * sizeof(slab_ray) + 3 * sizeof(float));
  const int code = run_batches_of(run, most, "boxes", 1000, SLAB_TREE_FLAT);
  return code == EXIT_DONE ? run_batches_of(run, most, "triangles", e->tree, SLAB_TREE_HIGH) : code;
}

static int run_scene(bench_run *run, const extent *e, const char *shape, uint32_t count, slab_tree tree) {
  bench_scene s;
  bench_rays rays;
  const double fit = tree == SLAB_TREE_FLAT ? e->scene_tests / count : 1e18;
  const size_t n = fit < LEAST_RAYS ? LEAST_RAYS : fit < (double)e->scene_rays ? (size_t)fit : e->scene_rays;
  int code = bench_scene_make(run, shape, count, tree, &s);
  if (code != EXIT_DONE) return code;
  code = bench_rays_random(run, &s, MEMORY_ORDINARY, n, &rays);
  if (code == EXIT_DONE) code = bench_cast(run, "scene", &s, SLAB_CLOSEST, &rays);
  bench_rays_free(run, &rays);
  slab_scene_destroy(s.scene);
  return code;
}

static int run_scenes(bench_run *run, const extent *e) {
  const struct {
    const char *shape;
    slab_tree tree;
    uint32_t least, most;
  } rows[] = {{"boxes", SLAB_TREE_FLAT, 1, e->flat_most},
              {"boxes", SLAB_TREE_HIGH, 100, e->boxes_most},
              {"triangles", SLAB_TREE_HIGH, 1000, e->triangles_most}};
  int code = EXIT_DONE;
  for (size_t i = 0; code == EXIT_DONE && i < COUNT_OF(rows); i++) {
    for (uint32_t count = rows[i].least; code == EXIT_DONE && count <= rows[i].most; count *= 10)
      code = run_scene(run, e, rows[i].shape, count, rows[i].tree);
    if (code == EXIT_DONE) code = bench_arithmetic(run);
  }
  return code;
}

/* Of one query: the kinds of memory beside each other, for ever more rays. */
static int run_transfers_of(bench_run *run, const bench_scene *s, slab_query query, bench_rays *rays, size_t kinds,
                            size_t most) {
  int code = EXIT_DONE;
  for (size_t n = TRANSFER_LEAST; n <= most; n *= 10)
    for (size_t k = 0; code == EXIT_DONE && k < kinds; k++) {
      rays[k].n = n;
      code = bench_cast(run, "transfer", s, query, &rays[k]);
    }
  return code;
}

/* Where nothing is transferred, one kind of memory and few rays are enough. */
static int run_transfers(bench_run *run, const extent *e) {
  static const slab_query queries[] = {SLAB_CLOSEST, SLAB_DISTANCE, SLAB_ANY, SLAB_NEAREST, SLAB_COUNT, SLAB_INTERVAL};
  const size_t kinds = bench_in_place(run) ? 1 : BENCH_MEMORIES;
  const uint64_t wanted = bench_in_place(run) ? quick_extent.transfer_most : e->transfer_most;
  const size_t most = (size_t)rays_that_fit(wanted, kinds * sizeof(slab_ray) + 3 * sizeof(slab_hit));
  bench_rays rays[BENCH_MEMORIES] = {0};
  bench_scene s;
  int code = bench_scene_make(run, "triangles", TRANSFER_TRIANGLES, SLAB_TREE_HIGH, &s);
  if (code != EXIT_DONE) return code;
  for (size_t k = 0; code == EXIT_DONE && k < kinds; k++)
    code = bench_rays_random(run, &s, (bench_memory)k, most, &rays[k]);
  for (size_t q = 0; code == EXIT_DONE && q < e->transfer_queries; q++)
    code = run_transfers_of(run, &s, queries[q], rays, kinds, most);
  for (size_t k = 0; k < kinds; k++) bench_rays_free(run, &rays[k]);
  slab_scene_destroy(s.scene);
  return code;
}

static int run_groups(bench_run *run, const bench_options *o, const extent *e) {
  run->effort = e->effort;
  run->line = progress_begin("measuring", "casts", 0, 0);
  int code = bench_ceilings(run);
  for (int g = 0; code == EXIT_DONE && g < GROUPS; g++)
    if (list_has(o->groups, groups[g].name)) code = groups[g].run(run, e);
  progress_end(&run->line);
  return code;
}

enum { SECOND_LOOKS = 5 };

/* A cell may be faster than its ceiling because the machine was busier when the ceiling was measured. The ceilings are
 * then measured again. */
static int judge(bench_run *run) {
  int code = EXIT_DONE;
  bench_judge(run);
  for (int i = 0; code == EXIT_DONE && i < SECOND_LOOKS && bench_verdict_of(run) == BENCH_ERROR; i++) {
    code = bench_arithmetic(run);
    bench_judge(run);
  }
  return code;
}

/* ---- the command ---- */

static int report(const bench_run *run, const bench_options *o, json_t *earlier) {
  const bench_verdict verdict = bench_verdict_of(run);
  int code = verdict == BENCH_WRONG ? EXIT_MISMATCH : verdict == BENCH_ERROR ? EXIT_FAILED : EXIT_DONE;
  bench_print(run);
  if (earlier) bench_compare(earlier, run);
  if (verdict == BENCH_ERROR) complain("bench: faster than a ceiling allows, so the benchmark is wrong");
  if (o->csv && bench_save_csv(o->csv, run) != EXIT_DONE) code = EXIT_FAILED;
  if (o->json && bench_save_json(o->json, run) != EXIT_DONE) code = EXIT_FAILED;
  return code;
}

static int refuse(const bench_options *o) {
  char name[32];
  if (o->quick && o->full) return options_refuse(&command, "--quick and --full do not go together");
  if (o->csv && o->json && !strcmp(o->csv, "-") && !strcmp(o->json, "-"))
    return options_refuse(&command, "--csv and --json cannot both go to stdout");
  if (list_unknown(o->groups, groups, GROUPS, sizeof *groups, name, sizeof name))
    return options_refuse(&command, "option --group: there is no group \"%s\"", name);
  const int lost = (o->csv && output_spares(o->csv, o->compare)) || (o->json && output_spares(o->json, o->compare));
  return lost ? EXIT_FAILED : OPTIONS_RUN;
}

/* A GPU does a CPU's work of a second in a few milliseconds, so its workloads are larger. */
static extent extent_of(const bench_options *o, const slab_device_info *device) {
  extent e = o->quick ? quick_extent : o->full ? full_extent : usual_extent;
  if (device->type != SLAB_DEVICE_GPU || o->quick) return e;
  e.side *= 4;
  e.side_flat *= 4;
  e.scene_tests *= 64;
  e.scene_rays *= 16;
  return e;
}

static int open_run(const bench_options *o, bench_run *run) {
  const int code = device_open(o->device, o->threads, &run->context);
  if (code != EXIT_DONE) return code;
  size_t devices = 0;
  slab_status status = slab_context_device(run->context, &run->device);
  if (status == SLAB_OK) status = slab_context_devices(run->context, NULL, 0, &devices);
  if (status != SLAB_OK) return complain_status(status, "bench");
  if (devices > 1)
    return options_refuse(&command, "--device %s: these are %zu devices, of which bench measures one at a time",
                          o->device, devices);
  run->processor_time = o->processor_time;
  run->seconds = o->seconds.given ? (double)o->seconds.value : 0.25;
  if (run->processor_time && run->device.type != SLAB_DEVICE_CPU) {
    complain("bench: --processor-time is for CPU devices, and \"%s\" is none", run->device.name);
    return EXIT_USAGE;
  }
  return bench_device_open(run, (uint32_t)o->threads);
}

static int command_main(int argc, char **argv) {
  bench_options o = {0};
  bench_run *run = NULL;
  json_t *earlier = NULL;
  int code = options_parse(&command, argc, argv, &o, NULL);
  if (code == OPTIONS_RUN) code = refuse(&o);
  if (code != OPTIONS_RUN) return code;
  code = EXIT_FAILED;
  if (o.compare && !(earlier = bench_load(o.compare))) return code;
  run = calloc(1, sizeof *run);
  if (run)
    code = open_run(&o, run);
  else
    complain("bench: out of memory");
  if (code == EXIT_DONE) {
    const extent e = extent_of(&o, &run->device);
    code = run_groups(run, &o, &e);
  }
  if (code == EXIT_DONE) code = judge(run);
  if (code == EXIT_DONE) code = report(run, &o, earlier);
  json_decref(earlier);
  if (run) {
    bench_device_close(&run->on);
    slab_context_destroy(run->context);
  }
  free(run);
  return code;
}

const program_command command_bench = {"bench", "measure a device, and casts against what it can do", command_main,
                                       &command};
