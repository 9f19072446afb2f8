/* Timed casts: host arrays to host arrays, and the kernel alone. A time counts only with correct answers. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/bench/bench.h"
#include "program/io/result_row.h"
#include "sets/answers.h"
#include "sets/scenes.h"

#define SEED 20240607u
#define SAMPLE_TESTS (1u << 21) /* the CPU reference is brute force, so fewer rays of large scenes are checked */
enum { SAMPLE_MIN = 4, SAMPLE_MAX = 256, LISTED_RAYS = 1024, ROUNDS_MIN = 3 };

/* ---- scenes ---- */

int bench_scene_make(bench_run *run, const char *shape, uint32_t count, slab_tree tree, bench_scene *s) {
  const char *name = !strcmp(shape, "triangles") ? "terrain" : shape;
  scene_geometry geometry;
  *s = (bench_scene){.layout = tree == SLAB_TREE_FLAT ? "flat" : "tree", .shape = shape};
  if (scene_build(name, count, SEED, &geometry)) {
    complain("bench: no memory for %" PRIu32 " %s", count, shape);
    return EXIT_FAILED;
  }
  s->kind = geometry.kind;
  s->primitives = geometry.count;
  slab_status status = slab_scene_create(run->context, &s->scene);
  if (status == SLAB_OK) status = scene_geometry_add(s->scene, &geometry, NULL, NULL);
  if (status == SLAB_OK) status = slab_scene_commit(s->scene, &(slab_build_options){.tree = tree});
  scene_geometry_free(&geometry);
  if (status == SLAB_OK) return EXIT_DONE;
  slab_scene_destroy(s->scene);
  s->scene = NULL;
  return complain_status(status, "bench: a scene");
}

/* ---- one cell ---- */

typedef struct casting {
  bench_run *run;
  bench_cell *cell;
  const bench_scene *scene;
  slab_query query;
  const slab_ray *rays;
  size_t n, bytes;           /* n: rays; bytes: of all results */
  void *results, *reference; /* of this round; of the first round */
} casting;

static void mark_wrong(casting *c, const char *what, const char *text) {
  if (!c->cell->wrong)
    complain("bench: %s %s of %" PRIu32 " %s, %s rays in %s memory: %s: %s", c->cell->layout, c->cell->query,
             c->cell->primitives, c->cell->shape, c->cell->set, bench_memory_names[c->cell->memory], what, text);
  c->cell->wrong = true;
}

static void compare(casting *c, const char *what) {
  if (memcmp(c->results, c->reference, c->bytes) != 0)
    mark_wrong(c, what, "other answers than in the round before all");
}

/* Index of sample k of `count`, spread over the whole batch. */
static size_t sample_at(const casting *c, size_t k, size_t count) { return k * (c->n / count); }

static int check_sample(casting *c) {
  slab_ray rays[SAMPLE_MAX];
  slab_hit results[SAMPLE_MAX]; /* large enough for any result type */
  slab_check_report report;
  const size_t size = slab_result_size(c->query);
  size_t count = SAMPLE_TESTS / c->scene->primitives;
  count = count < SAMPLE_MIN ? SAMPLE_MIN : count > SAMPLE_MAX ? SAMPLE_MAX : count;
  if (count > c->n) count = c->n;
  for (size_t k = 0; k < count; k++) {
    const size_t i = sample_at(c, k, count);
    rays[k] = c->rays[i];
    memcpy((char *)results + k * size, (const char *)c->reference + i * size, size);
  }
  const slab_status status = slab_check(c->scene->scene, c->query, rays, count, results, NULL, NULL, &report);
  if (status != SLAB_OK) return complain_status(status, "bench: check");
  if (report.mismatches || report.oracle_wrong) mark_wrong(c, "the check", report.text);
  c->cell->checked = report.rays;
  return EXIT_DONE;
}

/* ---- times ---- */

static bool wants_more(const bench_run *run, const timing *t, double sum) {
  if (t->rounds == 0) return true;
  if (t->rounds == ROUNDS_MAX || sum > 8 * run->seconds) return false;
  return t->rounds < ROUNDS_MIN || sum < run->seconds;
}

static int cast_once(casting *c, void *results, double *seconds) {
  const bench_run *run = c->run;
  const double begin = timing_now(run->processor_time);
  const slab_status status = cast_query(c->scene->scene, c->query, c->rays, c->n, results, NULL);
  *seconds = timing_now(run->processor_time) - begin;
  if (run->processor_time) *seconds /= run->device.compute_units;
  return status == SLAB_OK ? EXIT_DONE : complain_status(status, "bench: cast");
}

/* The first two rounds are warm-up: drivers compile in the first and may recompile for the batch size in the second. */
static int time_host(casting *c) {
  double seconds = 0, sum = 0;
  progress_await(&c->run->line, c->run->device.name);
  int code = cast_once(c, c->reference, &seconds);
  progress_answered(&c->run->line);
  if (code == EXIT_DONE) code = check_sample(c);
  if (code == EXIT_DONE) code = cast_once(c, c->results, &seconds);
  if (code == EXIT_DONE) compare(c, "the second warm-up");
  while (code == EXIT_DONE && wants_more(c->run, &c->cell->host, sum)) {
    code = cast_once(c, c->results, &seconds);
    if (code != EXIT_DONE) break;
    compare(c, "a timed round");
    c->cell->host.seconds[c->cell->host.rounds++] = seconds;
    sum += seconds;
  }
  return code;
}

static int kernel_once(casting *c, const bench_array *rays, const bench_array *results, double *seconds) {
  bench_device *d = &c->run->on;
  return d->backend->cast(d, c->scene->scene, c->query, c->n, rays, results, seconds);
}

/* Times the kernel on arrays of the device. A batch that does not fit one of them is skipped. */
static int time_kernel(casting *c) {
  bench_run *run = c->run;
  bench_device *d = &run->on;
  bench_array rays = {0}, results = {0};
  const size_t ray_bytes = c->n * sizeof *c->rays;
  double seconds = 0, sum = 0;
  if (!d->backend->cast || ray_bytes > run->device.allocation_bytes || c->bytes > run->device.allocation_bytes)
    return EXIT_DONE;
  int code = d->backend->allocate(d, ray_bytes, false, &rays);
  if (code == EXIT_DONE) code = d->backend->allocate(d, c->bytes, false, &results);
  if (code == EXIT_DONE) code = d->backend->write(d, &rays, c->rays, ray_bytes);
  if (code == EXIT_DONE) code = kernel_once(c, &rays, &results, &seconds);
  while (code == EXIT_DONE && wants_more(run, &c->cell->kernel, sum)) {
    code = kernel_once(c, &rays, &results, &seconds);
    c->cell->kernel.seconds[c->cell->kernel.rounds++] = seconds;
    sum += seconds;
  }
  memset(c->results, 0, c->bytes);
  if (code == EXIT_DONE) code = d->backend->read(d, &results, c->results, c->bytes);
  if (code == EXIT_DONE) compare(c, "the kernel alone");
  d->backend->release(d, &rays);
  d->backend->release(d, &results);
  return code;
}

/* ---- work of a cast ---- */

/* Mean primitive tests of SLAB_ANY: it stops after the block of the first primitive hit. hits: all hits of a sample of
 * the rays. */
static double mean_tests_of_any(const casting *c, size_t rays, const uint64_t *offsets, const slab_hit *hits) {
  const uint32_t lanes = c->run->device.lane_width;
  double sum = 0;
  for (size_t i = 0; i < rays; i++) {
    uint32_t first = c->scene->primitives;
    for (uint64_t k = offsets[i]; k < offsets[i + 1]; k++)
      if (hits[k].primitive < first) first = hits[k].primitive;
    const uint32_t tests = (first / lanes + 1) * lanes;
    sum += tests < c->scene->primitives ? tests : c->scene->primitives;
  }
  return sum / (double)rays;
}

static int count_tests_of_any(casting *c) {
  slab_ray sample[LISTED_RAYS];
  uint64_t offsets[LISTED_RAYS + 1], required = 0;
  slab_hit *hits = NULL;
  const size_t rays = c->n < LISTED_RAYS ? c->n : LISTED_RAYS;
  for (size_t k = 0; k < rays; k++) sample[k] = c->rays[sample_at(c, k, rays)];
  slab_status status = slab_all(c->scene->scene, sample, rays, offsets, NULL, 0, &required, NULL);
  if (status == SLAB_OK) hits = malloc((required + 1) * sizeof *hits);
  if (hits) status = slab_all(c->scene->scene, sample, rays, offsets, hits, required, NULL, NULL);
  if (hits && status == SLAB_OK) c->cell->tests = (double)c->n * mean_tests_of_any(c, rays, offsets, hits);
  if (!hits && status == SLAB_OK)
    complain("bench: no memory for %" PRIu64 " %s", required, plural(required, "hit", "hits"));
  const int failed = !hits || status != SLAB_OK;
  free(hits);
  return status != SLAB_OK ? complain_status(status, "bench: all") : failed ? EXIT_FAILED : EXIT_DONE;
}

/* Operations on every primitive of a flat scene before the first branch. Box: box_reject. Sphere: sphere_padded_bounds,
 * bounds_interval and slab_overlaps. Triangle: triangle_sheared, triangle_edges and triangle_candidates. A fused
 * multiply-add counts as one. */
static double operations_of(slab_shape kind) {
  return kind == SLAB_BOX ? SLAB_OPERATIONS : kind == SLAB_SPHERE ? 16 + 19 + 6 : 15 + 9 + 6;
}

static size_t floats_of(slab_shape kind) { return kind == SLAB_BOX ? 6 : kind == SLAB_SPHERE ? 4 : 9; }

static int count_work(casting *c) {
  size_t hits = 0;
  int code = EXIT_DONE;
  c->cell->ray_bytes = (double)(c->n * sizeof *c->rays);
  c->cell->result_bytes = (double)c->bytes;
  c->cell->bytes = c->cell->ray_bytes + c->cell->result_bytes;
  for (size_t i = 0; i < c->n; i++)
    hits += (size_t)result_is_hit(c->query, 0, (const char *)c->reference + i * slab_result_size(c->query));
  c->cell->hit_share = (double)hits / (double)c->n;
  if (strcmp(c->scene->layout, "flat") != 0) return EXIT_DONE;
  c->cell->bytes += (double)(c->scene->primitives * floats_of(c->scene->kind) * sizeof(float));
  c->cell->tests = (double)c->n * c->scene->primitives;
  if (c->query == SLAB_ANY) code = count_tests_of_any(c);
  c->cell->operations = c->cell->tests * operations_of(c->scene->kind);
  return code;
}

int bench_cast(bench_run *run, const char *group, const bench_scene *scene, slab_query query, const bench_rays *rays) {
  if (run->cell_count == BENCH_CELLS) {
    complain("bench: more casts than the %d that there is space for", BENCH_CELLS);
    return EXIT_FAILED;
  }
  bench_cell *cell = &run->cells[run->cell_count];
  *cell =
      (bench_cell){group,   scene->layout, scene->shape,           rays->set,  answer_name(query), scene->primitives,
                   rays->n, .bound = "",   .memory = rays->memory, .stage = ""};
  casting c = {run, cell, scene, query, rays->at, rays->n, rays->n * slab_result_size(query), NULL, NULL};
  c.results = bench_memory_take(run, rays->memory, c.bytes, "results");
  if (c.results) c.reference = bench_memory_take(run, MEMORY_ORDINARY, c.bytes, "results");
  int code = c.reference ? EXIT_DONE : EXIT_FAILED;
  if (code == EXIT_DONE) code = time_host(&c);
  if (code == EXIT_DONE) code = time_kernel(&c);
  if (code == EXIT_DONE) code = count_work(&c);
  if (code == EXIT_DONE) progress_at(&run->line, ++run->cell_count);
  bench_memory_give_back(run, rays->memory, c.results);
  bench_memory_give_back(run, MEMORY_ORDINARY, c.reference);
  return code;
}

/* ---- the bound of a cell ---- */

#define BOUNDS 0.4 /* least share of a cell's time that a ceiling must account for to be named as its bound */

static double seconds_for(const bench_run *run, ceiling_kind kind, double work) {
  return rate_of(work, ceiling_best(run, kind));
}

static double upload_seconds(const bench_run *run, const bench_cell *cell) {
  return bench_in_place(run) ? 0 : seconds_for(run, CEILING_UPLOAD, cell->ray_bytes);
}

static double download_seconds(const bench_run *run, const bench_cell *cell) {
  return bench_in_place(run) ? 0 : seconds_for(run, CEILING_DOWNLOAD, cell->result_bytes);
}

/* Of those that are measured. */
static void find_slowest_stage(const bench_run *run, bench_cell *cell) {
  const struct {
    const char *name;
    double seconds;
  } stages[] = {{"upload", upload_seconds(run, cell)},
                {"download", download_seconds(run, cell)},
                {"kernel", timing_summarise(&cell->kernel).best}};
  cell->stage = "";
  cell->stage_seconds = 0;
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    if (stages[i].seconds > cell->stage_seconds) {
      cell->stage = stages[i].name;
      cell->stage_seconds = stages[i].seconds;
    }
}

static void judge(const bench_run *run, bench_cell *cell) {
  const double host = timing_summarise(&cell->host).best, alone = timing_summarise(&cell->kernel).best;
  const double quickest = alone > 0 && alone < host ? alone : host;
  const double transfer = fmax(upload_seconds(run, cell), download_seconds(run, cell)); /* both work at once */
  const struct {
    const char *name;
    double share;
  } candidates[] = {
      {"arithmetic", rate_of(seconds_for(run, CEILING_SLAB, cell->operations), quickest)},
      {"memory", rate_of(seconds_for(run, CEILING_COPY, cell->bytes), quickest)},
      {"launch", rate_of(seconds_for(run, CEILING_LAUNCH, 1), host)},
      {"transfer", rate_of(transfer, host)},
  };
  double most = BOUNDS;
  find_slowest_stage(run, cell);
  cell->quickest = quickest;
  cell->share = candidates[0].share;
  cell->intensity = cell->operations / cell->bytes;
  /* Dependent steps wait for each other, or for memory accesses that no ceiling measures. */
  cell->bound = run->on.backend->launch ? "latency" : "-";
  for (size_t i = 0; i < sizeof candidates / sizeof *candidates; i++)
    if (candidates[i].share >= most) {
      most = candidates[i].share;
      cell->bound = candidates[i].name;
    }
}

const char *const bench_verdict_names[] = {"sound", "void", "error", "wrong"};

bench_verdict bench_too_fast(const bench_run *run) { return run->seconds > 0 ? BENCH_ERROR : BENCH_VOID; }

bench_verdict bench_verdict_of(const bench_run *run) {
  const bench_verdict too_fast = bench_too_fast(run);
  bench_verdict worst = BENCH_SOUND;
  for (int k = 0; k < CEILINGS; k++) {
    const double share = ceiling_share(run, (ceiling_kind)k);
    if (share > 0 && share < SHARE_LEAST && worst < BENCH_VOID) worst = BENCH_VOID;
    if (share > SHARE_MOST && worst < too_fast) worst = too_fast;
  }
  for (size_t i = 0; i < run->cell_count; i++) {
    if (run->cells[i].share > SHARE_MOST && worst < too_fast) worst = too_fast;
    if (run->cells[i].wrong) worst = BENCH_WRONG;
  }
  return worst;
}

void bench_judge(bench_run *run) {
  for (size_t i = 0; i < run->cell_count; i++) judge(run, &run->cells[i]);
}
