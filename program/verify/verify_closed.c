/* Closed meshes, and rays through their edges and vertices: no ray leaks, and every crossing counts once. */
#include <math.h>

#include "base/plural.h"
#include "program/verify/verify.h"
#include "sets/lattice.h"

/* This many rays of a batch are also compared with the CPU reference. */
#define REFERENCED 256
/* Least share of rays with an edge function that is exactly zero. */
#define ZEROS 0.3

/* A closed mesh, and the crossings that every ray made for it must have. */
typedef struct closed_set {
  const char *name;
  lattice_mesh mesh;
  lattice_origins origins;
  int inside; /* the rays begin inside: an odd number of crossings; as whole lines an even number, at least 2 */
  int convex; /* whole lines have 0 or 2 crossings */
} closed_set;

/* ---- counting ---- */

static slab_status count(verify_run *run, slab_scene *scene, size_t n, slab_cull cull, answers *a) {
  const slab_cast_options options = {.cull = cull};
  return answers_cast(a, SLAB_COUNT, scene, run->rays, n, &options);
}

static void fail_count(verify_run *run, const closed_set *set, size_t i, const char *what, uint32_t crossings) {
  verify_fail(run, 1, &run->rays[i], "%s: %s: %u %s", set->name, what, (unsigned)crossings,
              plural(crossings, "crossing", "crossings"));
}

static void judge_counts(verify_run *run, const closed_set *set, size_t n, int lines) {
  const uint32_t *counts = run->answers.count;
  const uint32_t odd = set->inside && !lines;
  size_t leaks = 0, wrongs = 0;
  for (size_t i = 0; i < n; i++) {
    const int leak = set->inside && counts[i] < (lines ? 2u : 1u);
    const int wrong = counts[i] % 2 != odd || (set->convex && lines && counts[i] > 2);
    leaks += (size_t)leak;
    wrongs += (size_t)wrong;
    if (leak || wrong) fail_count(run, set, i, leak ? "a leak" : "a wrong count", counts[i]);
  }
  verify_figure_add(run, FIGURE_COUNT, "leaks", (double)leaks);
  verify_figure_add(run, FIGURE_COUNT, "wrong counts", (double)wrongs);
  run->tally->cases += n;
}

/* Tests facing by culling: a ray from inside has one exit more than entries. */
static int check_balance(verify_run *run, slab_scene *scene, const closed_set *set, size_t n) {
  slab_status status = count(run, scene, n, SLAB_CULL_BACK, &run->answers);
  if (status == SLAB_OK) status = count(run, scene, n, SLAB_CULL_FRONT, &run->others);
  if (status != SLAB_OK) return verify_status(run, status);
  const uint32_t *entries = run->answers.count, *exits = run->others.count;
  for (size_t i = 0; i < n; i++)
    if (exits[i] != entries[i] + (uint32_t)set->inside) fail_count(run, set, i, "exits do not match entries", exits[i]);
  run->tally->cases += n;
  return EXIT_DONE;
}

static int check_any(verify_run *run, slab_scene *scene, const closed_set *set, size_t n) {
  const slab_status status = answers_cast(&run->answers, SLAB_ANY, scene, run->rays, n, NULL);
  if (status != SLAB_OK) return verify_status(run, status);
  for (size_t i = 0; i < n; i++)
    if (run->answers.any[i] != (run->answers.count[i] > 0))
      fail_count(run, set, i, "any differs from count", run->answers.count[i]);
  run->tally->cases += n;
  return EXIT_DONE;
}

/* With closed edges a ray hits whatever it touches, no crossing is lost, and a ray along a silhouette has more.
 * run->answers has those of half open. */
static int check_closed_edges(verify_run *run, slab_scene *scene, const closed_set *set, size_t n) {
  const slab_cast_options options = {.edges = SLAB_EDGES_CLOSED};
  slab_status status = answers_cast(&run->others, SLAB_COUNT, scene, run->rays, n, &options);
  if (status == SLAB_OK) status = answers_cast(&run->others, SLAB_ANY, scene, run->rays, n, &options);
  if (status != SLAB_OK) return verify_status(run, status);
  size_t more = 0;
  for (size_t i = 0; i < n; i++) {
    const uint32_t closed = run->others.count[i];
    more += closed > run->answers.count[i];
    if (closed == 0) fail_count(run, set, i, "closed edges miss an edge that the ray touches", closed);
    if (closed < run->answers.count[i]) fail_count(run, set, i, "closed edges lose a crossing", closed);
    if (run->others.any[i] != (closed > 0)) fail_count(run, set, i, "any differs from count, closed edges", closed);
  }
  verify_figure_add(run, FIGURE_SHARE, "more with closed edges", (double)more);
  run->tally->cases += 2 * n;
  return verify_check(run, scene, SLAB_COUNT, &run->others, n < REFERENCED ? n : REFERENCED, &options, 1);
}

static int check_counts(verify_run *run, slab_scene *scene, const closed_set *set, size_t n, int lines) {
  const slab_status status = count(run, scene, n, SLAB_CULL_NONE, &run->answers);
  if (status != SLAB_OK) return verify_status(run, status);
  judge_counts(run, set, n, lines);
  return verify_check(run, scene, SLAB_COUNT, &run->answers, n < REFERENCED ? n : REFERENCED, NULL, 1);
}

/* Checks the rays, then the whole lines through them. */
static int check_set(verify_run *run, const closed_set *set, const int place[3], verify_layout layout, size_t n) {
  slab_scene *scene = NULL;
  slab_status status = verify_scene(run, layout, &scene);
  if (status == SLAB_OK) status = lattice_add(scene, &set->mesh, place);
  if (status == SLAB_OK) status = verify_commit(run, layout, SLAB_TREE_FAST, scene, n);
  int code = verify_status(run, status);
  if (code == EXIT_DONE) code = check_counts(run, scene, set, n, 0);
  if (code == EXIT_DONE) code = check_any(run, scene, set, n);
  if (code == EXIT_DONE) code = check_closed_edges(run, scene, set, n);
  if (code == EXIT_DONE) code = check_balance(run, scene, set, n);
  for (size_t i = 0; i < n; i++) run->rays[i].t_min = -INFINITY;
  if (code == EXIT_DONE) code = check_counts(run, scene, set, n, 1);
  slab_scene_destroy(scene);
  return code;
}

static void aim_rays(verify_run *run, random_state *random, const closed_set *set, const int place[3], size_t n) {
  size_t zeros = 0;
  for (size_t i = 0; i < n; i++) {
    const lattice_aim aim = lattice_aim_at(random, &set->mesh, &set->origins);
    zeros += lattice_edge_function(&aim) == 0 && lattice_is_exact(&aim);
    run->rays[i] = lattice_ray(&aim, place);
  }
  verify_figure_add(run, FIGURE_SHARE, "exactly zero edge functions", (double)zeros);
}

/* ---- edges ---- */

int verify_edges(verify_run *run, random_state *random, size_t n) {
  static const int radius = 4;
  static const int64_t near = 4 * LATTICE_GRID, far = 9 * LATTICE_GRID;
  const uint32_t cubes = (random_next(random) & 0x7FFFFFFu) | 1u << random_below(random, 27);
  const int outside = (int)(run->batch / 2 % 2), ball = (int)(run->batch % 2);
  const int64_t reach = outside ? far : near;
  closed_set set = {.name = ball ? "octahedron" : "cubes", .inside = !outside, .convex = ball};
  set.origins = (lattice_origins){{reach, reach, reach}, NULL, ball ? (const void *)&radius : &cubes};
  if (ball) {
    lattice_octahedron(&set.mesh, radius);
    set.origins.allowed = outside ? lattice_out_of_octahedron : lattice_in_octahedron;
  } else {
    lattice_cubes(&set.mesh, cubes);
    set.origins.allowed = outside ? lattice_out_of_cubes : lattice_in_cubes;
  }
  const int *place = lattice_places[run->batch / 4 % LATTICE_PLACES];
  aim_rays(run, random, &set, place, n);
  return check_set(run, &set, place, verify_layout_at(run, run->batch / 8), n);
}

/* ---- rooms ---- */

/* Two in three batches have exact rays; few of the other rays have an edge function that is exactly zero. */
int verify_rooms(verify_run *run, random_state *random, size_t n) {
  static const int rooms[2][3] = {{1, 1, 1000}, {10, 3, 1000}};
  const int *room = rooms[run->batch % 2];
  const uint32_t turn = random_below(random, 3);
  const int size[3] = {room[turn], room[(turn + 1) % 3], room[(turn + 2) % 3]};
  closed_set set = {
      .name = run->batch % 2 ? "room of 10 x 3 x 1000" : "room of 1 x 1 x 1000", .inside = 1, .convex = 1};
  set.origins = (lattice_origins){{0}, lattice_in_box, size};
  for (int k = 0; k < 3; k++) set.origins.reach[k] = (int64_t)size[k] * LATTICE_GRID;
  lattice_box(&set.mesh, size);
  const int *place = lattice_places[run->batch / 2 % LATTICE_PLACES];
  if (run->batch % 3 < 2) {
    aim_rays(run, random, &set, place, n);
  } else {
    for (size_t i = 0; i < n; i++) run->rays[i] = lattice_rounded_ray(random, &set.mesh, size, place);
  }
  return check_set(run, &set, place, verify_layout_at(run, run->batch / 4), n);
}

int verify_enough_zeros(verify_run *run) {
  const double zeros = verify_figure_of(run->tally, "exactly zero edge functions") / (double)run->tally->rays;
  if (zeros < ZEROS)
    verify_fail(run, 1, NULL, "%.1f %% of the rays meet an exactly zero edge function, fewer than %.0f %%",
                100.0 * zeros, 100.0 * ZEROS);
  return EXIT_DONE;
}
