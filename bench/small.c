/* Small scenes: the number of primitives from which a BVH pays, and the choice of SLAB_TREE_DEFAULT there.
 *
 *   bench_small [--device SEL] [--lanes N] [--threads T] [--side SIDE] [--rounds R] [--kind KIND] [--csv FILE]
 *
 * Three scenes of the same primitives are cast in turn in each round: brute force, the BVH of DEFAULT, and DEFAULT
 * itself. Answers must be the same bits. A cell is a set of rays, a query and the rays of a call; its scenes are new
 * for each set, and calls before the first round are warm-up. The best of the rounds counts, in processor time where
 * the device is a CPU. Where DEFAULT is below WANTED, the cells of these rays are timed anew at the end, in new scenes,
 * by AGAIN times as many rounds: that leaves what is slower, not what was disturbed for a minute. Of 16,384 rays that
 * are cast again and again a processor learns the branches, of 65,536 it does not. A row of the table is a kind and a
 * number of primitives. It says how many times as fast brute force is as the BVH, and compares the speed of DEFAULT
 * with that of the better one.
 *
 * The library's own tuning_of is replaced by one that also lets DEFAULT build a BVH for any scene. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The numbers of host/device/tuning.c. */
#define tuning_of tuning_as_built
#include "device/tuning.c"
#undef tuning_of

#include "csv.h"
#include "sets/answers.h"
#include "sets/random.h"
#include "sets/scenes.h"
#include "sets/shapes.h"
#include "sets/timing.h"
#include "sets/trace_rays.h"

#define SEED 20260711u
#define CELL_SECONDS 2e-4 /* of a side in a round, at least: smaller casts are repeated */
#define WARM_UP 8
#define WANTED 0.95
#define AGAIN 4
enum { FLAT, BVH, CHOICE, SIDES };

static tuning tried[2]; /* of GPUs, of CPUs */

const tuning *tuning_of(slab_device_type type) { return &tried[type == SLAB_DEVICE_CPU]; }

typedef struct options {
  const char *device, *csv, *kind;
  uint32_t lanes, threads, side;
  int rounds;
} options;

typedef enum ray_kind { CAMERA, PARALLEL, SHADOW, DIFFUSE, RANDOM, PASSING, RAY_KINDS } ray_kind;
static const char *const ray_names[RAY_KINDS] = {"camera", "parallel", "shadow", "diffuse", "random", "passing"};

static const slab_query queries[] = {SLAB_CLOSEST, SLAB_ANY, SLAB_ALL};
static const size_t calls[] = {0, 16, 1}; /* rays of a call; 0: all of a set. Lists are cast in one call */
enum { QUERIES = sizeof queries / sizeof *queries, CALLS = sizeof calls / sizeof *calls };
enum { CELLS_MAX = RAY_KINDS * QUERIES * CALLS };

/* A kind of scenes: up to four of scenes.h, of equal parts. */
typedef struct scene_kind {
  const char *name, *parts[4];
  bool flat2d; /* boxes without bounds in z, rays in the plane z = 0 */
} scene_kind;

static const scene_kind kinds[] = {
    {"boxes", {"boxes"}, false}, {"boxes-2d", {"boxes"}, true}, {"spheres", {"spheres"}, false},
    {"obbs", {"obbs"}, false},   {"soup", {"soup"}, false},     {"mixed", {"boxes", "spheres", "obbs", "soup"}, false}};
enum { KINDS = sizeof kinds / sizeof *kinds };

static const uint32_t counts[] = {1, 4, 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024};
enum { COUNTS = sizeof counts / sizeof *counts };

typedef struct cell {
  ray_kind set;
  slab_query query;
  size_t call, n;
  timing_summary of[SIDES];
} cell;

typedef struct row {
  const scene_kind *kind;
  uint32_t count;
  cell cells[CELLS_MAX];
  size_t cell_count;
} row;

typedef struct bench {
  options options;
  slab_context *context;
  slab_scene *scenes[SIDES];
  slab_device_info device;
  slab_ray *rays;
  slab_hit *hits;
  size_t n, most;
  answers got[SIDES];
  row rows[KINDS * COUNTS];
  size_t row_count;
  FILE *csv;
} bench;

static bool failed(const char *what) {
  fprintf(stderr, "bench_small: %s: %s\n", what, slab_message());
  return false;
}

/* ---- scenes ---- */

static bool add_part(slab_scene *scene, const scene_kind *kind, const char *part, uint32_t count) {
  scene_geometry geometry;
  if (scene_build(part, count, SEED, &geometry) != 0) return failed(part);
  slab_box *boxes = geometry.shapes;
  for (uint32_t i = 0; kind->flat2d && i < geometry.count; i++) {
    boxes[i].lower[2] = -INFINITY;
    boxes[i].upper[2] = INFINITY;
  }
  const bool done = scene_geometry_add(scene, &geometry, NULL, NULL) == SLAB_OK;
  scene_geometry_free(&geometry);
  return done ? true : failed(part);
}

/* Lets DEFAULT build a BVH, or choose by itself. */
static void set_tuning(bool always_bvh) {
  tried[0] = gpu;
  tried[1] = cpu;
  for (int c = 0; always_bvh && c < 2; c++)
    for (int kind = 0; kind < SLAB_SHAPE_COUNT; kind++)
      tried[c].flat_work[kind] = tried[c].ready_work[kind] = tried[c].beside_work[kind] = FLAT_MOST + 1;
}

static bool open_scene(bench *b, const scene_kind *kind, uint32_t count, int side) {
  const slab_build_options build = {.tree = side == FLAT ? SLAB_TREE_FLAT : SLAB_TREE_DEFAULT};
  uint32_t parts = 0;
  while (parts < 4 && kind->parts[parts] != NULL) parts++;
  set_tuning(side == BVH);
  if (slab_scene_create(b->context, &b->scenes[side]) != SLAB_OK) return failed("scene");
  for (uint32_t i = 0; i < parts; i++)
    if (!add_part(b->scenes[side], kind, kind->parts[i], (count + parts - 1 - i) / parts)) return false;
  return slab_scene_commit(b->scenes[side], &build) == SLAB_OK ? true : failed("commit");
}

/* ---- rays ---- */

static void parallel_fill(const slab_scene_stats *s, uint32_t side, slab_ray *rays) {
  for (uint32_t i = 0; i < side * side; i++) {
    const float at[2] = {((float)(i % side) + 0.5f) / (float)side, ((float)(i / side) + 0.5f) / (float)side};
    rays[i] = (slab_ray){.direction = {0, 0, -1}, .t_max = INFINITY};
    for (int k = 0; k < 2; k++) rays[i].origin[k] = s->lower[k] + at[k] * (s->upper[k] - s->lower[k]);
    rays[i].origin[2] = s->upper[2] + 1.0f;
  }
}

/* From around the scene in any direction: most miss it. */
static void passing_fill(const slab_scene_stats *s, size_t n, slab_ray *rays) {
  trace_random_fill(s, SEED + 1, n, rays);
  for (size_t i = 0; i < n; i++)
    for (int k = 0; k < 3; k++) {
      const float middle = 0.5f * (s->lower[k] + s->upper[k]);
      rays[i].origin[k] = middle + 4.0f * (rays[i].origin[k] - middle);
    }
}

static void rays_into_plane(slab_ray *rays, size_t n) {
  for (size_t i = 0; i < n; i++) {
    rays[i].origin[2] = rays[i].direction[2] = 0.0f;
    if (rays[i].direction[0] == 0.0f && rays[i].direction[1] == 0.0f) rays[i].direction[0] = 1.0f;
  }
}

static bool rays_fill(bench *b, const scene_kind *kind, ray_kind set) {
  static const trace_set sets[RAY_KINDS] = {TRACE_PRIMARY, TRACE_PRIMARY, TRACE_SHADOW,
                                            TRACE_DIFFUSE, TRACE_RANDOM,  TRACE_RANDOM};
  slab_scene_stats stats;
  if (slab_scene_info(b->scenes[FLAT], &stats) != SLAB_OK) return failed("info");
  b->n = b->most;
  if (set == PARALLEL)
    parallel_fill(&stats, b->options.side, b->rays);
  else if (set == PASSING)
    passing_fill(&stats, b->n, b->rays);
  else if (trace_rays_fill(b->scenes[BVH], sets[set], SEED, b->options.side, b->rays, b->hits, &b->n) != SLAB_OK)
    return failed("rays");
  if (kind->flat2d) rays_into_plane(b->rays, b->n);
  return true;
}

/* ---- a cell ---- */

static bool cast_once(bench *b, int side, slab_query query, size_t call) {
  answers *to = &b->got[side];
  const size_t each = call == 0 ? b->n : call, n = call == 0 ? b->n : b->n / call * call;
  if (query == SLAB_ALL)
    return slab_all(b->scenes[side], b->rays, b->n, to->offsets, to->all, to->hits_space, NULL, NULL) == SLAB_OK;
  unsigned char *results = (unsigned char *)(uintptr_t)answers_of(to, query);
  for (size_t i = 0; i < n; i += each)
    if (cast_query(b->scenes[side], query, b->rays + i, each, results + i * slab_result_size(query), NULL) != SLAB_OK)
      return false;
  return true;
}

static bool time_side(bench *b, int side, slab_query query, size_t call, int repeats, double *seconds) {
  const int processor = b->device.type == SLAB_DEVICE_CPU;
  const double begin = timing_now(processor);
  bool done = true;
  for (int i = 0; done && i < repeats; i++) done = cast_once(b, side, query, call);
  *seconds = (timing_now(processor) - begin) / repeats;
  return done ? true : failed("cast");
}

/* Casts until a side has learned all that it can. Sets how often a side casts in a round. */
static bool warm_up(bench *b, slab_query query, size_t call, int repeats[SIDES]) {
  double seconds = 0.0;
  size_t first;
  for (int s = 0; s < SIDES; s++) {
    if (answers_cast(&b->got[s], query, b->scenes[s], b->rays, b->n, NULL) != SLAB_OK) return failed("cast");
    for (int i = 0; i < (call == 0 ? WARM_UP : 2); i++)
      if (!time_side(b, s, query, call, 1, &seconds)) return false;
    repeats[s] = seconds < CELL_SECONDS ? (int)(CELL_SECONDS / seconds) + 1 : 1;
    if (answers_differ(&b->got[FLAT], &b->got[s], query, &first) != 0) return failed("answers differ");
  }
  return true;
}

static bool time_rounds(bench *b, int rounds, slab_query query, size_t call, const int repeats[SIDES],
                        timing_summary of[SIDES]) {
  timing t[SIDES] = {{.rounds = 0}};
  for (int r = 0; r < rounds; r++)
    for (int k = 0; k < SIDES; k++) {
      const int s = (r + k) % SIDES;
      if (!time_side(b, s, query, call, repeats[s], &t[s].seconds[r])) return false;
      t[s].rounds++;
    }
  for (int s = 0; s < SIDES; s++) of[s] = timing_summarise(&t[s]);
  return true;
}

/* The same cell of earlier rounds, or a new one. */
static cell *cell_of(row *r, ray_kind set, slab_query query, size_t call) {
  for (size_t i = 0; i < r->cell_count; i++)
    if (r->cells[i].set == set && r->cells[i].query == query && r->cells[i].call == call) return &r->cells[i];
  return &r->cells[r->cell_count++];
}

static bool run_cell(bench *b, row *r, int rounds, ray_kind set, slab_query query, size_t call) {
  cell c = {.set = set, .query = query, .call = call, .n = b->n};
  int repeats[SIDES];
  if (!warm_up(b, query, call, repeats) || !time_rounds(b, rounds, query, call, repeats, c.of)) return false;
  *cell_of(r, set, query, call) = c;
  return true;
}

/* Scenes of their own: nothing is known of other rays. */
static bool run_rays(bench *b, row *r, int rounds, ray_kind set) {
  bool done = true;
  for (int s = 0; done && s < SIDES; s++) done = open_scene(b, r->kind, r->count, s);
  done = done && rays_fill(b, r->kind, set);
  for (int q = 0; done && b->n >= 1024 && q < QUERIES; q++)
    for (int c = 0; done && c < (queries[q] == SLAB_ALL ? 1 : CALLS); c++)
      done = run_cell(b, r, rounds, set, queries[q], calls[c]);
  for (int s = 0; s < SIDES; s++) {
    slab_scene_destroy(b->scenes[s]);
    b->scenes[s] = NULL;
  }
  return done;
}

/* ---- a row ---- */

/* The speed of brute force to that of the BVH, and of DEFAULT to that of the better of both. */
static double flat_of(const cell *c) { return c->of[BVH].best / c->of[FLAT].best; }
static double choice_of(const cell *c) { return fmin(c->of[FLAT].best, c->of[BVH].best) / c->of[CHOICE].best; }

static bool run_row(bench *b, const scene_kind *kind, uint32_t count) {
  row *r = &b->rows[b->row_count++];
  *r = (row){.kind = kind, .count = count};
  bool done = true;
  for (ray_kind set = 0; done && set < RAY_KINDS; set++)
    if (!kind->flat2d || set == PARALLEL || set >= RANDOM) done = run_rays(b, r, b->options.rounds, set);
  return done;
}

static bool is_doubtful(const row *r, ray_kind set) {
  bool below = false;
  for (size_t i = 0; i < r->cell_count; i++) below |= r->cells[i].set == set && choice_of(&r->cells[i]) < WANTED;
  return below;
}

static bool run_doubts(bench *b) {
  bool done = true;
  for (size_t i = 0; i < b->row_count; i++)
    for (ray_kind set = 0; done && set < RAY_KINDS; set++)
      if (is_doubtful(&b->rows[i], set)) done = run_rays(b, &b->rows[i], AGAIN * b->options.rounds, set);
  return done;
}

static int by_choice(const void *a, const void *b) {
  const double x = choice_of(a), y = choice_of(b);
  return (x > y) - (x < y);
}

static void print_row(row *r) {
  double least = INFINITY, most = 0.0;
  size_t below = 0;
  if (r->cell_count == 0) return;
  for (size_t i = 0; i < r->cell_count; i++) {
    least = fmin(least, flat_of(&r->cells[i]));
    most = fmax(most, flat_of(&r->cells[i]));
    below += choice_of(&r->cells[i]) < WANTED;
  }
  qsort(r->cells, r->cell_count, sizeof *r->cells, by_choice);
  const cell *worst = &r->cells[0], *middle = &r->cells[r->cell_count / 2];
  printf("%-8s %5u | %6.2f %6.2f | %6.2f %6.2f | %2zu of %zu | %s, %s", r->kind->name, r->count, least, most,
         choice_of(worst), choice_of(middle), below, r->cell_count, ray_names[worst->set], answer_name(worst->query));
  if (worst->call != 0) printf(", %zu a call", worst->call);
  putchar('\n');
}

static void write_row(FILE *csv, const row *r) {
  for (size_t i = 0; i < r->cell_count; i++) {
    const cell *c = &r->cells[i];
    fprintf(csv, "%s,%u,%s,%s,%zu,%zu", r->kind->name, r->count, ray_names[c->set], answer_name(c->query), c->call,
            c->n);
    for (int s = 0; s < SIDES; s++)
      fprintf(csv, ",%.2f,%.2f", 1e9 * c->of[s].best / (double)c->n, 1e9 * c->of[s].median / (double)c->n);
    fputc('\n', csv);
  }
}

/* ---- the run ---- */

static bool parse_options(int count, char **words, options *o) {
  *o = (options){.device = "cpu", .threads = 1, .side = 256, .rounds = 5};
  for (int i = 1; i < count; i += 2) {
    const char *name = words[i], *value = i + 1 < count ? words[i + 1] : "";
    const uint32_t number = (uint32_t)strtoul(value, NULL, 10);
    if (strcmp(name, "--device") == 0)
      o->device = value;
    else if (strcmp(name, "--csv") == 0)
      o->csv = value;
    else if (strcmp(name, "--kind") == 0)
      o->kind = value;
    else if (strcmp(name, "--lanes") == 0)
      o->lanes = number;
    else if (strcmp(name, "--threads") == 0)
      o->threads = number;
    else if (strcmp(name, "--side") == 0)
      o->side = number;
    else if (strcmp(name, "--rounds") == 0)
      o->rounds = (int)number;
    else
      return false;
    if (*value == 0) return false;
  }
  return o->side >= 32 && o->side <= 1024 && (o->side & (o->side - 1)) == 0 && o->rounds > 0 &&
         o->rounds <= ROUNDS_MAX / AGAIN;
}

static bool bench_open(bench *b) {
  const options *o = &b->options;
  const slab_context_options with = {.device = o->device, .lane_width = o->lanes, .threads = o->threads};
  set_tuning(false);
  b->most = (size_t)o->side * o->side;
  b->rays = malloc(b->most * sizeof *b->rays);
  b->hits = malloc(b->most * sizeof *b->hits);
  if (b->rays == NULL || b->hits == NULL) return failed("memory");
  if (slab_context_create(&with, &b->context) != SLAB_OK || slab_context_device(b->context, &b->device) != SLAB_OK)
    return failed("the context");
  if (!csv_open("bench_small", o->csv, &b->csv)) return false;
  if (b->csv != NULL)
    fputs("kind,count,rays,query,call,n,flat_ns,flat_median_ns,bvh_ns,bvh_median_ns,default_ns,default_median_ns\n",
          b->csv);
  printf(
      "# %s, %u lanes, threads %u, %zu rays, best of %d rounds. Brute force: its speed to that of the BVH, least and\n"
      "# most of the cells. DEFAULT: its speed to that of the better of both, least and median; cells below 0.95;\n"
      "# the cell of the least.\n#\n# kind    count |  brute force  |    DEFAULT    |  below   | least\n",
      b->device.name, b->device.lane_width, o->threads, b->most, o->rounds);
  return true;
}

int main(int count, char **words) {
  static bench b;
  if (!parse_options(count, words, &b.options)) {
    fprintf(stderr,
            "usage: bench_small [--device SEL] [--lanes N] [--threads T] [--side SIDE] [--rounds R]\n"
            "                   [--kind KIND] [--csv FILE]\n");
    return 2;
  }
  bool done = bench_open(&b);
  for (int k = 0; k < KINDS; k++)
    for (int c = 0; done && c < COUNTS; c++)
      if (b.options.kind == NULL || strcmp(b.options.kind, kinds[k].name) == 0)
        done = run_row(&b, &kinds[k], counts[c]);
  done = done && run_doubts(&b);
  for (size_t i = 0; done && i < b.row_count; i++) {
    if (b.csv != NULL) write_row(b.csv, &b.rows[i]);
    print_row(&b.rows[i]);
  }
  for (int s = 0; s < SIDES; s++) answers_free(&b.got[s]);
  slab_context_destroy(b.context);
  free(b.rays);
  free(b.hits);
  return csv_close("bench_small", b.options.csv, b.csv) && done ? 0 : 1;
}
