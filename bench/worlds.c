/* The benchmark of many worlds that move over a terrain, beside Embree where it is.
 *
 *   bench_worlds [--worlds N] [--parts N] [--rays N] [--rounds N] [--threads N]
 *
 * Each world (4,096) has parts (20) that are instances of five models of 2,000 triangles, and rays (64) from its middle
 * into a fan. All share a terrain of 80,000 triangles. A frame is new transforms of all parts, a commit and a cast of
 * all rays. One: new transforms of one world's parts and a commit.
 *
 * Sides take turns in each round, in another order each; the first round is not counted. Ours is
 * slab_scene_move_instances, slab_scene_commit and slab_closest. Embree has a scene a world, or one scene in which
 * worlds stand apart; its threads take 16 worlds at a time, to move, commit and cast them, and its one scene is
 * committed by all. Every round compares t with Embree's, to 1e-3, and tells the most rays apart. Ratios are those of
 * medians. */
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sets/random.h"
#include "sets/scenes.h"
#include "sets/timing.h"
#include "slabcast.h"
#ifdef BENCH_EMBREE
#include "embree.h"
#endif
#include "embree_worlds.h"

#define BENCH_NAME "bench_worlds"
#include "must.h"

enum { MODELS = 5, MODEL_TRIANGLES = 2000, TERRAIN_TRIANGLES = 80000, SIDES_MAX = 5 };
#define TERRAIN_SIZE 20.0f
/* Rays reach all of their terrain, and no other where worlds stand apart in one scene. */
#define REACH (1.3f * TERRAIN_SIZE)
#define APART (2.25f * TERRAIN_SIZE)
#define PART_SIZE 0.4f
#define AGREE 1e-3f
#define SEED 20260101u

typedef struct side {
  const char *name;
  timing moves, casts, frames, ones;
  size_t apart; /* rays whose t is not ours, in the worst round */
} side;

typedef struct bench {
  worlds_plan plan;
  uint32_t rounds;
  scene_geometry meshes[MODELS], terrain;
  random_state random;
  float *transforms, *middles; /* of each world x and y */
  slab_ray *rays;
  uint32_t *worlds; /* of each ray */
  slab_hit *hits, *others;
  slab_context *context;
  slab_scene *models[MODELS], *scene;
  uint32_t ids[MODELS];
#ifdef BENCH_EMBREE
  embree_worlds *embree[2]; /* a scene a world, one scene */
#endif
  side sides[SIDES_MAX];
  int count;
} bench;

/* ---- what stands there ---- */

/* Moves a mesh to the origin and scales it. */
static void fit(scene_geometry *g, float size, float height) {
  float lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY};
  for (size_t i = 0; i < 3 * (size_t)g->vertex_count; i++) {
    lower[i % 3] = fminf(lower[i % 3], g->vertices[i]);
    upper[i % 3] = fmaxf(upper[i % 3], g->vertices[i]);
  }
  for (size_t i = 0; i < 3 * (size_t)g->vertex_count; i++) {
    const float extent = upper[i % 3] - lower[i % 3], wanted = i % 3 == 2 ? height : size;
    g->vertices[i] = (g->vertices[i] - 0.5f * (lower[i % 3] + upper[i % 3])) / extent * wanted;
  }
}

/* The terrain's heights are y; here z is up. */
static void turn_up(scene_geometry *g) {
  for (size_t i = 0; i < g->vertex_count; i++) {
    float *v = g->vertices + 3 * i;
    const float height = v[1];
    v[1] = -v[2];
    v[2] = height;
  }
}

static void make_meshes(bench *b) {
  static const char *const names[MODELS] = {"torus", "knot", "torus", "knot", "torus"};
  for (uint32_t k = 0; k < MODELS; k++) {
    if (scene_build(names[k], MODEL_TRIANGLES, SEED + k, &b->meshes[k]) != 0) ended_ill(names[k], "cannot be made");
    fit(&b->meshes[k], PART_SIZE * (1.0f + 0.1f * (float)k), PART_SIZE);
  }
  if (scene_build("terrain", TERRAIN_TRIANGLES, SEED, &b->terrain) != 0) ended_ill("terrain", "cannot be made");
  turn_up(&b->terrain);
  fit(&b->terrain, TERRAIN_SIZE, 0.5f);
  b->plan.models = b->meshes;
  b->plan.terrain = &b->terrain;
}

/* Turned about z, anywhere within a metre of its world's middle. */
static void place_part(bench *b, uint32_t world, float m[12]) {
  const float angle = random_between(&b->random, 0.0f, 6.2831853f), c = cosf(angle), s = sinf(angle);
  const float at[12] = {c, -s, 0, b->middles[2 * world] + random_between(&b->random, -1.0f, 1.0f),
                        s, c,  0, b->middles[2 * world + 1] + random_between(&b->random, -1.0f, 1.0f),
                        0, 0,  1, random_between(&b->random, 0.4f, 2.4f)};
  memcpy(m, at, sizeof at);
}

static void place_world(bench *b, uint32_t world) {
  for (size_t k = 0; k < MODELS; k++)
    for (size_t i = 0; i < b->plan.each; i++)
      place_part(b, world, b->transforms + 12 * ((k * b->plan.worlds + world) * b->plan.each + i));
}

static void make_worlds(bench *b) {
  const worlds_plan *p = &b->plan;
  const size_t rays = (size_t)p->worlds * p->rays;
  b->transforms = room((size_t)MODELS * p->worlds * p->each * 12 * sizeof *b->transforms);
  b->middles = room((size_t)p->worlds * 2 * sizeof *b->middles);
  b->rays = room(rays * sizeof *b->rays);
  b->worlds = room(rays * sizeof *b->worlds);
  b->hits = room(rays * sizeof *b->hits);
  b->others = room(rays * sizeof *b->others);
  for (uint32_t w = 0; w < p->worlds; w++) {
    for (int k = 0; k < 2; k++)
      b->middles[2 * w + (uint32_t)k] = random_between(&b->random, -0.4f * TERRAIN_SIZE, 0.4f * TERRAIN_SIZE);
    place_world(b, w);
    for (uint32_t i = 0; i < p->rays; i++) {
      const float aside = 6.2831853f * (float)i / (float)p->rays, up = -0.6f + 0.8f * (float)(i % 8) / 8.0f;
      b->rays[(size_t)w * p->rays + i] = (slab_ray){.origin = {b->middles[2 * w], b->middles[2 * w + 1], 1.4f},
                                                    .direction = {cosf(aside), sinf(aside), up},
                                                    .t_max = REACH};
      b->worlds[(size_t)w * p->rays + i] = w + 1;
    }
  }
}

/* ---- ours ---- */

static slab_mesh mesh_of(const scene_geometry *g) {
  return (slab_mesh){
      .vertices = g->vertices, .vertex_count = g->vertex_count, .indices = g->indices, .triangle_count = g->count};
}

static void open_ours(bench *b) {
  const worlds_plan *p = &b->plan;
  const uint32_t n = p->worlds * p->each;
  uint32_t *of = room(n * sizeof *of);
  for (uint32_t i = 0; i < n; i++) of[i] = 1 + i / p->each;
  const slab_geometry_options options = {.worlds = of};
  const slab_mesh ground = mesh_of(&b->terrain);
  check(slab_scene_create(b->context, &b->scene), "a scene");
  check(slab_scene_set_worlds(b->scene, p->worlds), "worlds");
  check(slab_scene_add_mesh(b->scene, &ground, NULL, NULL), "the terrain");
  for (uint32_t k = 0; k < MODELS; k++) {
    const slab_mesh mesh = mesh_of(&b->meshes[k]);
    check(slab_scene_create(b->context, &b->models[k]), "a model");
    check(slab_scene_add_mesh(b->models[k], &mesh, NULL, NULL), "a model");
    check(slab_scene_commit(b->models[k], NULL), "a model");
    check(slab_scene_add_instances(b->scene, b->models[k], b->transforms + 12 * (size_t)k * n, n, &options, &b->ids[k]),
          "parts");
  }
  check(slab_scene_commit(b->scene, NULL), "a commit");
  free(of);
}

static void move_ours(bench *b) {
  const uint32_t n = MODELS * b->plan.worlds * b->plan.each;
  check(slab_scene_move_instances(b->scene, b->ids, MODELS, b->transforms, n), "new transforms");
  check(slab_scene_commit(b->scene, NULL), "a commit");
}

static void move_one_of_ours(bench *b, uint32_t world) {
  uint32_t indices[64];
  for (uint32_t i = 0; i < b->plan.each; i++) indices[i] = world * b->plan.each + i;
  for (uint32_t k = 0; k < MODELS; k++)
    check(slab_scene_update_some_instances(b->scene, b->ids[k], indices,
                                           b->transforms + 12 * ((size_t)k * b->plan.worlds + world) * b->plan.each,
                                           b->plan.each),
          "new transforms");
  check(slab_scene_commit(b->scene, NULL), "a commit");
}

static void cast_ours(bench *b) {
  const slab_cast_options options = {.worlds = b->worlds};
  check(slab_closest(b->scene, b->rays, (size_t)b->plan.worlds * b->plan.rays, b->hits, &options), "a cast");
}

/* ---- sides ---- */

enum { OURS, SCENES, SCENES_PACKETS, ONE, ONE_PACKETS };

static void move(bench *b, int nth) {
  if (nth == OURS) move_ours(b);
#ifdef BENCH_EMBREE
  if (nth != OURS && !embree_worlds_move(b->embree[nth >= ONE], b->transforms)) exit(1);
#endif
}

static void move_one(bench *b, int nth, uint32_t world) {
  if (nth == OURS) move_one_of_ours(b, world);
#ifdef BENCH_EMBREE
  if (nth != OURS && !embree_worlds_move_one(b->embree[nth >= ONE], world, b->transforms)) exit(1);
#endif
}

static void cast(bench *b, int nth) {
  if (nth == OURS) cast_ours(b);
#ifdef BENCH_EMBREE
  if (nth != OURS &&
      !embree_worlds_cast(b->embree[nth >= ONE], nth == SCENES_PACKETS || nth == ONE_PACKETS, b->rays, b->others))
    exit(1);
#endif
}

static void compare(bench *b, int nth) {
  size_t apart = 0;
  for (size_t i = 0; i < (size_t)b->plan.worlds * b->plan.rays; i++) {
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
    for (uint32_t w = 0; w < b->plan.worlds; w++) place_world(b, w);
    for (int k = 0; k < b->count; k++) {
      const int nth =
          k == 0 ? OURS : 1 + (k + (int)round) % (b->count - 1); /* ours first: others are compared with it */
      measure(b, nth, round > 0);
      if (nth != OURS) compare(b, nth);
    }
  }
  for (uint32_t round = 0; round < b->rounds; round++) {
    const uint32_t world = random_below(&b->random, b->plan.worlds);
    place_world(b, world);
    for (int nth = 0; nth < b->count; nth++) measure_one(b, nth, world);
  }
}

static void print(const bench *b) {
  const timing_summary ours = timing_summarise(&b->sides[OURS].frames);
  printf("%-30s %10s %10s %10s %10s %8s %12s %8s\n", "ms: median", "move", "cast", "frame", "best", "ratio",
         "one world", "apart");
  for (int nth = 0; nth < b->count; nth++) {
    const side *s = &b->sides[nth];
    const timing_summary frame = timing_summarise(&s->frames);
    printf("%-30s %10.2f %10.2f %10.2f %10.2f %8.2f %12.4f %8zu\n", s->name, 1e3 * timing_summarise(&s->moves).median,
           1e3 * timing_summarise(&s->casts).median, 1e3 * frame.median, 1e3 * frame.best, frame.median / ours.median,
           1e3 * timing_summarise(&s->ones).median, s->apart);
  }
}

static uint32_t number_of(const char *text, uint32_t most) {
  char *end;
  const unsigned long n = strtoul(text, &end, 10);
  if (*end != '\0' || n == 0 || n > most) ended_ill(text, "is no such number");
  return (uint32_t)n;
}

static void read_arguments(bench *b, int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    const char *value = i + 1 < argc ? argv[i + 1] : "";
    if (strcmp(argv[i], "--worlds") == 0)
      b->plan.worlds = number_of(value, SLAB_WORLDS);
    else if (strcmp(argv[i], "--parts") == 0)
      b->plan.each = (number_of(value, 32 * MODELS) + MODELS - 1) / MODELS;
    else if (strcmp(argv[i], "--rays") == 0)
      b->plan.rays = number_of(value, 1 << 20);
    else if (strcmp(argv[i], "--rounds") == 0)
      b->rounds = number_of(value, ROUNDS_MAX);
    else if (strcmp(argv[i], "--threads") == 0)
      b->plan.threads = number_of(value, 1024);
    else
      ended_ill(argv[i], "is no option: --worlds, --parts, --rays, --rounds, --threads, each with a number");
    i++;
  }
}

int main(int argc, char **argv) {
  static bench b = {.plan = {.model_count = MODELS, .worlds = 4096, .each = 4, .rays = 64, .threads = 2}, .rounds = 9};
  slab_device_info device;
  read_arguments(&b, argc, argv);
  b.random = random_seed(SEED);
  make_meshes(&b);
  make_worlds(&b);
  check(slab_context_create(&(slab_context_options){.device = "0", .threads = b.plan.threads}, &b.context), "a device");
  check(slab_context_device(b.context, &device), "a device");
  open_ours(&b);
  b.sides[b.count++].name = "slab_closest, worlds";
#ifdef BENCH_EMBREE
  worlds_plan one = b.plan;
  one.apart = APART;
  b.embree[0] = embree_worlds_open(&b.plan, b.transforms);
  b.embree[1] = embree_worlds_open(&one, b.transforms);
  if (b.embree[0] == NULL || b.embree[1] == NULL) return 1;
  b.sides[b.count++].name = "Embree, a scene a world, 1";
  b.sides[b.count++].name = "Embree, a scene a world, 16";
  b.sides[b.count++].name = "Embree, one scene, 1";
  b.sides[b.count++].name = "Embree, one scene, 16";
  printf("Embree %s, rtcIntersect1 and rtcIntersect16, %u threads\n", embree_version(), b.plan.threads);
#endif
  printf("%s, %u threads; %u worlds of %u instances of %d models of %d triangles, %u rays each, a terrain of %u\n",
         device.name, b.plan.threads, b.plan.worlds, MODELS * b.plan.each, MODELS, MODEL_TRIANGLES, b.plan.rays,
         b.terrain.count);
  run(&b);
  print(&b);
  slab_scene_destroy(b.scene);
  for (int k = 0; k < MODELS; k++) slab_scene_destroy(b.models[k]);
  slab_context_destroy(b.context);
#ifdef BENCH_EMBREE
  for (int i = 0; i < 2; i++) embree_worlds_close(b.embree[i]);
#endif
  return 0;
}
