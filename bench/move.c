/* The benchmark of scenes that move: the cost of a frame until casts see it.
 *
 *   bench_move [OPTION...] [SCENE...]      (--help lists them)
 *
 * Each round moves all vertices of a mesh by a smooth wave of 1 % of its diagonal. Then it gives the same vertices to
 * every side in turn, in another order each round: our refit, our FAST build, Embree's refit, Embree's build. Ours is
 * slab_scene_update_mesh and slab_scene_commit, which copy; Embree reads the caller's vertices in place. Then rays are
 * cast after the refits and after a build of the last vertices, in alternating rounds. Their hits must have the same
 * bits. Instances are in move_instances.c, boxes of which few move in move_boxes.c. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "csv.h"
#ifdef BENCH_EMBREE
#include "embree.h"
#endif
#include "move.h"
#include "sets/trace_rays.h"
#include "trace_scene.h"

#define AMPLITUDE 0.01 /* of the diagonal */
#define WAVES 2.0      /* across it */
#define PHASE 0.7      /* of a round */

enum { REFIT, BUILD, EMBREE_REFIT, EMBREE_BUILD, SIDES };
static const char *const side_names[SIDES] = {"refit", "FAST build", "Embree refit", "Embree build"},
                         *const after_names[2] = {"after refits", "after a build like it"};

typedef struct bench {
  const move_bench *shared;
  const char *name;
  scene_geometry mesh; /* vertices: of this round */
  float *rest;         /* the vertices before any wave */
  double diagonal;
  slab_scene *scenes[2]; /* of REFIT and BUILD */
#ifdef BENCH_EMBREE
  embree_moving *embree[2];
#endif
  timing times[SIDES];
} bench;

/* ---- the mesh ---- */

static void measure(bench *b) {
  double lower[3] = {INFINITY, INFINITY, INFINITY}, upper[3] = {-INFINITY, -INFINITY, -INFINITY}, sum = 0;
  for (size_t i = 0; i < 3 * (size_t)b->mesh.vertex_count; i++) {
    lower[i % 3] = fmin(lower[i % 3], (double)b->rest[i]);
    upper[i % 3] = fmax(upper[i % 3], (double)b->rest[i]);
  }
  for (int k = 0; k < 3; k++) sum += (upper[k] - lower[k]) * (upper[k] - lower[k]);
  b->diagonal = sqrt(sum);
}

static void move(bench *b, int round) {
  const double turn = 2.0 * 3.14159265358979 * WAVES / b->diagonal;
  for (size_t i = 0; i < b->mesh.vertex_count; i++) {
    const float *at = b->rest + 3 * i;
    const double phase = turn * ((double)at[0] + (double)at[1] + (double)at[2]) + PHASE * (round + 1);
    for (size_t k = 0; k < 3; k++)
      b->mesh.vertices[3 * i + k] = (float)((double)at[k] + AMPLITUDE * b->diagonal * sin(phase + (double)k));
  }
}

/* Soups get indices too, since all sides read indices. The vertices have space for the float that Embree reads beyond
 * them. */
static bool make_mesh(bench *b) {
  const size_t floats = 3 * (size_t)b->mesh.vertex_count;
  float *vertices = malloc((floats + 1) * sizeof *vertices);
  if (vertices == NULL) return move_out_of_memory();
  memcpy(vertices, b->mesh.vertices, floats * sizeof *vertices);
  b->rest = b->mesh.vertices;
  b->mesh.vertices = vertices;
  if (b->mesh.indices == NULL)
    b->mesh.indices = malloc(12 * (size_t)b->mesh.count);
  else
    return true;
  for (uint32_t i = 0; b->mesh.indices != NULL && i < 3 * b->mesh.count; i++) b->mesh.indices[i] = i;
  return b->mesh.indices != NULL ? true : move_out_of_memory();
}

/* ---- the sides ---- */

static slab_mesh mesh_of(const bench *b) {
  return (slab_mesh){.vertices = b->mesh.vertices,
                     .vertex_count = b->mesh.vertex_count,
                     .indices = b->mesh.indices,
                     .triangle_count = b->mesh.count};
}

static bool scene_open(const bench *b, slab_tree tree, slab_scene **scene) {
  const slab_mesh mesh = mesh_of(b);
  if (slab_scene_create(b->shared->context, scene) == SLAB_OK &&
      slab_scene_add_mesh(*scene, &mesh, NULL, NULL) == SLAB_OK &&
      slab_scene_commit(*scene, &(slab_build_options){.tree = tree}) == SLAB_OK)
    return true;
  return move_failed(b->name);
}

static bool sides_open(bench *b) {
  if (!scene_open(b, SLAB_TREE_HIGH, &b->scenes[REFIT]) || !scene_open(b, SLAB_TREE_FAST, &b->scenes[BUILD]))
    return false;
#ifdef BENCH_EMBREE
  for (int i = 0; i < 2; i++)
    if ((b->embree[i] = embree_moving_open(&b->mesh, (uint32_t)b->shared->options.threads, i == 0)) == NULL)
      return false;
#endif
  return true;
}

static void sides_close(bench *b) {
  for (int i = 0; i < 2; i++) slab_scene_destroy(b->scenes[i]);
#ifdef BENCH_EMBREE
  for (int i = 0; i < 2; i++) embree_moving_close(b->embree[i]);
#endif
}

static bool take_part(int side) {
#ifdef BENCH_EMBREE
  (void)side;
  return true;
#else
  return side < EMBREE_REFIT;
#endif
}

static bool commit(bench *b, int side) {
#ifdef BENCH_EMBREE
  if (side >= EMBREE_REFIT) {
    embree_moving_commit(b->embree[side - EMBREE_REFIT]);
    return true;
  }
#endif
  static const slab_build_options how[] = {{.update = SLAB_UPDATE_REFIT},
                                           {.tree = SLAB_TREE_FAST, .update = SLAB_UPDATE_REBUILD}};
  slab_mesh mesh = mesh_of(b);
  mesh.indices = NULL; /* as they were */
  if (slab_scene_update_mesh(b->scenes[side], 0, &mesh) != SLAB_OK ||
      slab_scene_commit(b->scenes[side], &how[side]) != SLAB_OK)
    return move_failed(side_names[side]);
  return true;
}

/* round -1 and -2 warm up: the second refit is the first that finds memory to use again. */
static bool run_rounds(bench *b) {
  for (int round = -2; round < b->shared->options.rounds; round++) {
    move(b, round);
    for (int k = 0; k < SIDES; k++) {
      const int side = (k * (round % 2 == 0 ? 1 : SIDES - 1) + round + SIDES) % SIDES;
      if (!take_part(side)) continue;
      const double begin = timing_now(b->shared->options.processor_time);
      if (!commit(b, side)) return false;
      if (round >= 0)
        b->times[side].seconds[b->times[side].rounds++] = timing_now(b->shared->options.processor_time) - begin;
    }
  }
  return true;
}

static void print_commits(const bench *b, int side) {
  move_print(b->shared, &(move_row){b->name, b->mesh.count, "commit", side_names[side], &b->times[side],
                                    &b->times[REFIT], b->mesh.count, "tri"});
}

/* ---- rays after it ---- */

typedef struct rays {
  slab_ray *rays;
  slab_hit *hits[2];
  size_t n;
} rays;

static bool rays_cast(const bench *b, slab_scene *const scenes[2], rays *r, trace_set set) {
  timing times[2] = {{.rounds = 0}};
  if (trace_rays_fill(scenes[0], set, MOVE_SEED, MOVE_RAY_SIDE, r->rays, r->hits[0], &r->n) != SLAB_OK)
    return move_failed("rays");
  for (int round = -1; round < b->shared->options.rounds; round++)
    for (int k = 0; k < 2; k++) {
      const int side = (k + round + 2) % 2;
      const double begin = timing_now(b->shared->options.processor_time);
      if (slab_closest(scenes[side], r->rays, r->n, r->hits[side], NULL) != SLAB_OK) return move_failed("closest");
      if (round >= 0) times[side].seconds[times[side].rounds++] = timing_now(b->shared->options.processor_time) - begin;
    }
  if (memcmp(r->hits[0], r->hits[1], r->n * sizeof *r->hits[0]) != 0) {
    fprintf(stderr, "bench_move: %s: hits after a refit differ from those after a build\n", b->name);
    return false;
  }
  char what[32];
  snprintf(what, sizeof what, "%s rays", trace_set_names[set]);
  for (int side = 0; side < 2; side++)
    move_print(b->shared, &(move_row){b->name, b->mesh.count, what, after_names[side], &times[side], &times[0],
                                      (double)r->n, "rays"});
  return true;
}

/* After the refits of a HIGH build, and after a HIGH build of the same vertices. */
static bool run_rays(const bench *b) {
  slab_scene *scenes[2] = {b->scenes[REFIT], NULL};
  rays r = {0};
  const size_t n = (size_t)MOVE_RAY_SIDE * MOVE_RAY_SIDE;
  r.rays = malloc(n * sizeof *r.rays);
  for (int i = 0; i < 2; i++) r.hits[i] = malloc(n * sizeof *r.hits[i]);
  bool done = r.rays != NULL && r.hits[0] != NULL && r.hits[1] != NULL ? true : move_out_of_memory();
  done = done && scene_open(b, SLAB_TREE_HIGH, &scenes[1]);
  done = done && rays_cast(b, scenes, &r, TRACE_PRIMARY) && rays_cast(b, scenes, &r, TRACE_RANDOM);
  slab_scene_destroy(scenes[1]);
  free(r.rays);
  for (int i = 0; i < 2; i++) free(r.hits[i]);
  return done;
}

/* ---- a scene ---- */

static bool run_scene(const move_bench *shared, const char *name) {
  bench b = {.shared = shared};
  const char *slash = strrchr(name, '/');
  b.name = slash == NULL ? name : slash + 1;
  if (!trace_scene_read(name, MOVE_SEED, &b.mesh)) return false;
  bool done = b.mesh.kind == SLAB_TRIANGLE && b.mesh.count > 0;
  if (!done) fprintf(stderr, "bench_move: %s has no triangles\n", name);
  done = done && make_mesh(&b);
  if (done) measure(&b);
  done = done && sides_open(&b) && run_rounds(&b);
  if (done) printf("%s, %u triangles\n", b.name, b.mesh.count);
  for (int side = 0; done && side < SIDES; side++)
    if (take_part(side)) print_commits(&b, side);
  done = done && run_rays(&b);
  sides_close(&b);
  free(b.rest);
  scene_geometry_free(&b.mesh);
  return done;
}

/* ---- options ---- */

static int usage(void) {
  fprintf(
      stderr,
      "usage: bench_move [OPTION...] [SCENE...]\n"
      "SCENE is NAME:COUNT, a generated mesh, or a mesh file; or N*SCENE, that mesh placed N times; or boxes:N, of "
      "which\n"
      "few move (default: terrain, torus and soup of 10,000 to 1,000,000 triangles, 10,000 instances of a torus of\n"
      "5,000, and 100,000 boxes)\n"
      "  --rounds R        of each side (default 15)\n"
      "  --threads T       of each side (default: all)\n"
      "  --processor-time  of all threads together: for machines that are not quiet\n"
      "  --csv FILE        for `./dev plot`\n");
  return 2;
}

static bool parse_options(int count, char **words, move_options *o) {
  static const char *const usual[] = {"terrain:10000",  "terrain:30000",    "terrain:100000",
                                      "terrain:300000", "terrain:1000000",  "torus:1000000",
                                      "soup:1000000",   "10000*torus:5000", "boxes:100000"};
  *o = (move_options){.rounds = 15};
  for (int i = 1; i < count; i++) {
    if (words[i][0] != '-' && o->scene_count < MOVE_SCENES_MAX)
      o->scenes[o->scene_count++] = words[i];
    else if (strcmp(words[i], "--processor-time") == 0)
      o->processor_time = 1;
    else if (strcmp(words[i], "--rounds") == 0 && i + 1 < count)
      o->rounds = atoi(words[++i]);
    else if (strcmp(words[i], "--threads") == 0 && i + 1 < count)
      o->threads = atoi(words[++i]);
    else if (strcmp(words[i], "--csv") == 0 && i + 1 < count)
      o->csv = words[++i];
    else
      return false;
  }
  for (size_t i = 0; i < sizeof usual / sizeof *usual && o->scene_count == (int)i; i++)
    o->scenes[o->scene_count++] = usual[i];
  return o->rounds > 0 && o->rounds <= ROUNDS_MAX && o->threads >= 0;
}

int main(int count, char **words) {
  move_bench b = {0};
  const int child = trace_scene_child(count, words);
  if (child >= 0) return child;
  if (!parse_options(count, words, &b.options)) return usage();
  const slab_context_options wanted = {.device = "cpu", .threads = (uint32_t)b.options.threads};
  bool done =
      slab_context_create(&wanted, &b.context) == SLAB_OK && slab_context_device(b.context, &b.device) == SLAB_OK;
  if (!done) move_failed("device");
  if (done && b.options.threads == 0) b.options.threads = (int)b.device.compute_units;
  done = done && csv_open("bench_move", b.options.csv, &b.csv);
  if (done && b.csv != NULL)
    fprintf(b.csv,
            "date,device,driver,compiler,commit,time,scene,triangles,what,side,rounds,best_ms,median_ms,spread\n");
  if (done) {
    printf("device    %s, %d threads, %s\ntime      %s\n", b.device.name, b.options.threads, b.device.driver,
           b.options.processor_time ? "of all threads' processors" : "wall");
#ifdef BENCH_EMBREE
    printf("against   Embree %s\n", embree_version());
#endif
    printf("  %-18s %-22s %12s %12s %14s %8s %8s\n", "", "", "best", "median", "by the best", "best", "median");
  }
  for (int i = 0; done && i < b.options.scene_count; i++) {
    const char *scene = b.options.scenes[i];
    uint32_t n;
    done = move_is_boxes(scene)            ? move_boxes(&b, scene)
           : move_model(scene, &n) != NULL ? move_instances(&b, scene)
                                           : run_scene(&b, scene);
  }
  done = csv_close("bench_move", b.options.csv, b.csv) && done;
  slab_context_destroy(b.context);
  return done ? 0 : 1;
}
