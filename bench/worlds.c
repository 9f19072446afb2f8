/* The benchmark of many worlds that move over a terrain, beside Embree where it is.
 *
 *   bench_worlds [OPTION...] [WORLDSxPARTSxRAYS...]      (4096x20x64)
 *     --worlds N, --parts N, --rays N, --rounds N, --threads N, --csv FILE, --write FOLDER
 *
 * Each world has parts that are instances of five models of 2,000 triangles, and rays from its middle into a fan. All
 * share a terrain of 80,000 triangles. A frame is new transforms of all parts, a commit and a cast of all rays. One:
 * new transforms of one world's parts and a commit. --write leaves the frames of the last size for worlds.py, and
 * measures nothing.
 *
 * Sides take turns in each round, in another order each; the first round is not counted. Ours is
 * slab_scene_move_instances, slab_scene_commit and slab_closest. Embree has one scene per world, or one scene in which
 * worlds are apart. Its threads take 16 worlds at a time, to move, commit and cast them; its one scene is committed by
 * all. Every round compares t with Embree's, to 1e-3, and reports the most rays apart. With more than 1 out of 100
 * apart in a scene per world it ends with 1. Ratios are those of medians. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#include "sets/compiler.h"
#include "sets/timing.h"
#include "slabcast.h"
#include "worlds_frames.h"
#ifdef BENCH_EMBREE
#include "embree.h"
#endif

#define BENCH_NAME "bench_worlds"
#include "must.h"

enum { MODELS = WORLDS_MODELS, SIDES_MAX = 5, SIZES_MAX = 32 };
#define AGREE 1e-3f
#define DIFFER_MAX                                                                                   \
  1e-2 /* a larger share of rays apart means that the frames differ; one scene has large coordinates \
        */

typedef struct size {
  uint32_t worlds, parts, rays;
} size;

typedef struct worlds_options {
  size sizes[SIZES_MAX];
  int size_count; /* 0: `one` alone */
  size one;
  uint32_t rounds, threads;
  const char *csv, *folder;
} worlds_options;

typedef struct side {
  const char *name;
  timing moves, casts, frames, ones;
  size_t apart; /* rays whose t is not ours, in the worst round */
} side;

typedef struct bench {
  worlds_frames frames;
  uint32_t rounds;
  slab_hit *hits, *others;
  slab_context *context;
  slab_device_info device;
  FILE *csv; /* NULL: none */
  slab_scene *models[MODELS], *scene;
  uint32_t ids[MODELS];
#ifdef BENCH_EMBREE
  embree_worlds *embree[2]; /* a scene per world, one scene */
#endif
  side sides[SIDES_MAX];
  int count;
} bench;

/* ---- ours ---- */

static slab_mesh mesh_of(const scene_geometry *g) {
  return (slab_mesh){
      .vertices = g->vertices, .vertex_count = g->vertex_count, .indices = g->indices, .triangle_count = g->count};
}

static void open_ours(bench *b) {
  const worlds_plan *p = &b->frames.plan;
  const uint32_t n = p->worlds * p->each;
  uint32_t *of = space(n * sizeof *of);
  for (uint32_t i = 0; i < n; i++) of[i] = 1 + i / p->each;
  const slab_geometry_options options = {.worlds = of};
  const slab_mesh ground = mesh_of(&b->frames.terrain);
  check(slab_scene_create(b->context, &b->scene), "a scene");
  check(slab_scene_set_worlds(b->scene, p->worlds), "worlds");
  check(slab_scene_add_mesh(b->scene, &ground, NULL, NULL), "the terrain");
  for (uint32_t k = 0; k < MODELS; k++) {
    const slab_mesh mesh = mesh_of(&b->frames.meshes[k]);
    check(slab_scene_create(b->context, &b->models[k]), "a model");
    check(slab_scene_add_mesh(b->models[k], &mesh, NULL, NULL), "a model");
    check(slab_scene_commit(b->models[k], NULL), "a model");
    check(slab_scene_add_instances(b->scene, b->models[k], b->frames.transforms + 12 * (size_t)k * n, n, &options,
                                   &b->ids[k]),
          "parts");
  }
  check(slab_scene_commit(b->scene, NULL), "a commit");
  free(of);
}

static void move_ours(bench *b) {
  const uint32_t n = MODELS * b->frames.plan.worlds * b->frames.plan.each;
  check(slab_scene_move_instances(b->scene, b->ids, MODELS, b->frames.transforms, n), "new transforms");
  check(slab_scene_commit(b->scene, NULL), "a commit");
}

static void move_one_of_ours(bench *b, uint32_t world) {
  uint32_t indices[64];
  for (uint32_t i = 0; i < b->frames.plan.each; i++) indices[i] = world * b->frames.plan.each + i;
  for (uint32_t k = 0; k < MODELS; k++)
    check(slab_scene_update_some_instances(
              b->scene, b->ids[k], indices,
              b->frames.transforms + 12 * ((size_t)k * b->frames.plan.worlds + world) * b->frames.plan.each,
              b->frames.plan.each),
          "new transforms");
  check(slab_scene_commit(b->scene, NULL), "a commit");
}

static void cast_ours(bench *b) {
  const slab_cast_options options = {.worlds = b->frames.worlds};
  check(slab_closest(b->scene, b->frames.rays, (size_t)b->frames.plan.worlds * b->frames.plan.rays, b->hits, &options),
        "a cast");
}

/* ---- sides ---- */

enum { OURS, SCENES, SCENES_PACKETS, ONE, ONE_PACKETS };

static void move(bench *b, int nth) {
  if (nth == OURS) move_ours(b);
#ifdef BENCH_EMBREE
  if (nth != OURS && !embree_worlds_move(b->embree[nth >= ONE], b->frames.transforms)) exit(1);
#endif
}

static void move_one(bench *b, int nth, uint32_t world) {
  if (nth == OURS) move_one_of_ours(b, world);
#ifdef BENCH_EMBREE
  if (nth != OURS && !embree_worlds_move_one(b->embree[nth >= ONE], world, b->frames.transforms)) exit(1);
#endif
}

static void cast(bench *b, int nth) {
  if (nth == OURS) cast_ours(b);
#ifdef BENCH_EMBREE
  if (nth != OURS && !embree_worlds_cast(b->embree[nth >= ONE], nth == SCENES_PACKETS || nth == ONE_PACKETS,
                                         b->frames.rays, b->others))
    exit(1);
#endif
}

static void compare(bench *b, int nth) {
  size_t apart = 0;
  for (size_t i = 0; i < (size_t)b->frames.plan.worlds * b->frames.plan.rays; i++) {
    const float x = b->hits[i].t, y = b->others[i].t;
    apart += !(x == y || fabsf(x - y) <= AGREE);
  }
  if (apart > b->sides[nth].apart) b->sides[nth].apart = apart;
}

static void measure(bench *b, int nth, bool counted) {
  side *s = &b->sides[nth];
  const double begin = timing_now(false);
  move(b, nth);
  const double moved = timing_now(false);
  cast(b, nth);
  const double end = timing_now(false);
  if (!counted) return;
  s->moves.seconds[s->moves.rounds++] = moved - begin;
  s->casts.seconds[s->casts.rounds++] = end - moved;
  s->frames.seconds[s->frames.rounds++] = end - begin;
}

static void measure_one(bench *b, int nth, uint32_t world) {
  side *s = &b->sides[nth];
  const double begin = timing_now(false);
  move_one(b, nth, world);
  s->ones.seconds[s->ones.rounds++] = timing_now(false) - begin;
}

static void run(bench *b) {
  for (uint32_t round = 0; round <= b->rounds; round++) {
    worlds_frames_next(&b->frames);
    for (int k = 0; k < b->count; k++) {
      const int nth =
          k == 0 ? OURS : 1 + (k + (int)round) % (b->count - 1); /* ours first: others are compared with it */
      measure(b, nth, round > 0);
      if (nth != OURS) compare(b, nth);
    }
  }
  for (uint32_t round = 0; round < b->rounds; round++) {
    const uint32_t world = random_below(&b->frames.random, b->frames.plan.worlds);
    worlds_frames_place(&b->frames, world);
    for (int nth = 0; nth < b->count; nth++) measure_one(b, nth, world);
  }
}

/* ---- report ---- */

static size_t ray_count(const bench *b) { return (size_t)b->frames.plan.worlds * b->frames.plan.rays; }

static void save(const bench *b, const side *s, const timing_summary *frame) {
  const timing_date date = timing_date_now();
  const worlds_plan *p = &b->frames.plan;
  if (b->csv == NULL) return;
  fprintf(b->csv, "%s,\"%s\",\"%s\",\"%s\",%s,wall,%u,%u,%u,%s,%u,%d,%.4g,%.4g,%.4g,%.4g,%.4g,%zu\n", date.text,
          b->device.name, b->device.driver, COMPILER, BENCH_COMMIT, p->worlds, MODELS * p->each, p->rays, s->name,
          p->threads, s->frames.rounds, 1e3 * timing_summarise(&s->moves).median,
          1e3 * timing_summarise(&s->casts).median, 1e3 * frame->median, 1e3 * frame->best,
          1e3 * timing_summarise(&s->ones).median, s->apart);
}

/* Whether all sides answer alike whose coordinates are ours. One scene has large ones, which are rounded: a world whose
 * rays begin at a surface has others all. */
static bool print(const bench *b) {
  const timing_summary ours = timing_summarise(&b->sides[OURS].frames);
  bool alike = true;
  printf("%-30s %10s %10s %10s %10s %8s %12s %8s\n", "ms: median", "move", "cast", "frame", "best", "ratio",
         "one world", "apart");
  for (int nth = 0; nth < b->count; nth++) {
    const side *s = &b->sides[nth];
    const timing_summary frame = timing_summarise(&s->frames);
    printf("%-30s %10.2f %10.2f %10.2f %10.2f %8.2f %12.4f %8zu\n", s->name, 1e3 * timing_summarise(&s->moves).median,
           1e3 * timing_summarise(&s->casts).median, 1e3 * frame.median, 1e3 * frame.best, frame.median / ours.median,
           1e3 * timing_summarise(&s->ones).median, s->apart);
    save(b, s, &frame);
    alike = alike && (nth >= ONE || (double)s->apart <= DIFFER_MAX * (double)ray_count(b));
  }
  if (!alike) fprintf(stderr, BENCH_NAME ": too many rays apart\n");
  fflush(stdout);
  return alike;
}

/* ---- one size ---- */

/* Names without commas, for the CSV. by 16: rtcIntersect16 */
static void open_sides(bench *b) {
  b->hits = space(ray_count(b) * sizeof *b->hits);
  b->others = space(ray_count(b) * sizeof *b->others);
  open_ours(b);
  b->sides[b->count++].name = "Slabcast: worlds";
#ifdef BENCH_EMBREE
  worlds_plan one = b->frames.plan;
  one.apart = WORLDS_APART;
  b->embree[0] = embree_worlds_open(&b->frames.plan, b->frames.transforms);
  b->embree[1] = embree_worlds_open(&one, b->frames.transforms);
  if (b->embree[0] == NULL || b->embree[1] == NULL) exit(1);
  b->sides[b->count++].name = "Embree: a scene a world";
  b->sides[b->count++].name = "Embree: a scene a world by 16";
  b->sides[b->count++].name = "Embree: one scene";
  b->sides[b->count++].name = "Embree: one scene by 16";
#endif
}

static void close_sides(bench *b) {
  slab_scene_destroy(b->scene);
  for (int k = 0; k < MODELS; k++) slab_scene_destroy(b->models[k]);
#ifdef BENCH_EMBREE
  for (int i = 0; i < 2; i++) embree_worlds_close(b->embree[i]);
#endif
  free(b->hits);
  free(b->others);
}

static worlds_plan plan_of(const worlds_options *o, const size *s) {
  return (worlds_plan){
      .worlds = s->worlds, .each = (s->parts + MODELS - 1) / MODELS, .rays = s->rays, .threads = o->threads};
}

static bool measure_size(const worlds_options *o, const size *s, slab_context *context, FILE *csv) {
  static bench b;
  const worlds_plan plan = plan_of(o, s);
  b = (bench){.rounds = o->rounds, .context = context, .csv = csv};
  check(slab_context_device(context, &b.device), "a device");
  worlds_frames_open(&b.frames, &plan);
  printf("%u worlds of %u instances of %d models of %d triangles, %u rays each, a terrain of %u\n", plan.worlds,
         MODELS * plan.each, MODELS, WORLDS_MODEL_TRIANGLES, plan.rays, b.frames.terrain.count);
  open_sides(&b);
  run(&b);
  const bool alike = print(&b);
  close_sides(&b);
  worlds_frames_close(&b.frames);
  return alike;
}

static bool measure_all(const worlds_options *o) {
  slab_context *context;
  slab_device_info device;
  FILE *csv = NULL;
  bool good = csv_open(BENCH_NAME, o->csv, &csv);
  if (!good) return false;
  if (csv != NULL)
    fprintf(csv,
            "date,device,driver,compiler,commit,time,worlds,parts,rays,side,threads,rounds,move_ms,cast_ms,"
            "frame_ms,best_ms,one_ms,apart\n");
  check(slab_context_create(&(slab_context_options){.device = "0", .threads = o->threads}, &context), "a device");
  check(slab_context_device(context, &device), "a device");
  printf("%s, %u threads, commit " BENCH_COMMIT "\n", device.name, o->threads);
#ifdef BENCH_EMBREE
  printf("Embree %s, rtcIntersect1 and rtcIntersect16, %u threads\n", embree_version(), o->threads);
#endif
  for (int i = 0; i < o->size_count; i++) good = measure_size(o, &o->sizes[i], context, csv) && good;
  slab_context_destroy(context);
  return csv_close(BENCH_NAME, o->csv, csv) && good;
}

static void write_frames(const worlds_options *o) {
  const worlds_plan plan = plan_of(o, &o->sizes[o->size_count - 1]);
  worlds_frames frames;
  worlds_frames_open(&frames, &plan);
  worlds_frames_write(&frames, o->folder, o->rounds);
  worlds_frames_close(&frames);
}

/* ---- options ---- */

static uint32_t number_of(const char *text, char **end, uint32_t most) {
  const unsigned long n = strtoul(text, end, 10);
  if (*end == text || n == 0 || n > most) ended_ill(text, "is no such number");
  return (uint32_t)n;
}

static uint32_t whole(const char *text, uint32_t most) {
  char *end;
  const uint32_t n = number_of(text, &end, most);
  if (*end != '\0') ended_ill(text, "is no such number");
  return n;
}

enum { PARTS_MOST = 32 * MODELS, RAYS_MOST = 1 << 20 };

static void add_size(worlds_options *o, const char *text) {
  char *end;
  size *s = &o->sizes[o->size_count];
  if (o->size_count++ == SIZES_MAX) ended_ill(text, "is one size too many");
  s->worlds = number_of(text, &end, SLAB_WORLDS);
  if (*end != 'x') ended_ill(text, "is no size, which is WORLDSxPARTSxRAYS");
  s->parts = number_of(end + 1, &end, PARTS_MOST);
  if (*end != 'x') ended_ill(text, "is no size, which is WORLDSxPARTSxRAYS");
  s->rays = whole(end + 1, RAYS_MOST);
}

static void read_option(worlds_options *o, const char *name, const char *value) {
  if (strcmp(name, "--worlds") == 0)
    o->one.worlds = whole(value, SLAB_WORLDS);
  else if (strcmp(name, "--parts") == 0)
    o->one.parts = whole(value, PARTS_MOST);
  else if (strcmp(name, "--rays") == 0)
    o->one.rays = whole(value, RAYS_MOST);
  else if (strcmp(name, "--rounds") == 0)
    o->rounds = whole(value, ROUNDS_MAX);
  else if (strcmp(name, "--threads") == 0)
    o->threads = whole(value, 1024);
  else if (strcmp(name, "--csv") == 0)
    o->csv = value;
  else if (strcmp(name, "--write") == 0)
    o->folder = value;
  else
    ended_ill(name,
              "is no option: --worlds, --parts, --rays, --rounds, --threads, each with a number, --csv FILE, "
              "--write FOLDER");
}

static worlds_options read_arguments(int argc, char **argv) {
  worlds_options o = {.one = {.worlds = 4096, .parts = 20, .rays = 64}, .threads = 2, .rounds = 9};
  for (int i = 1; i < argc; i++) {
    if (argv[i][0] != '-') {
      add_size(&o, argv[i]);
      continue;
    }
    if (i + 1 == argc) ended_ill(argv[i], "has no value");
    read_option(&o, argv[i], argv[i + 1]);
    i++;
  }
  if (o.size_count == 0) o.sizes[o.size_count++] = o.one;
  return o;
}

int main(int argc, char **argv) {
  const worlds_options o = read_arguments(argc, argv);
  if (o.folder != NULL) {
    write_frames(&o);
    return 0;
  }
  return measure_all(&o) ? 0 : 1;
}
