/* Trees against brute force: every query, every quality, each under another tactic, bit by bit. */
#include <math.h>

#include "../../bench/bundles.h"
#include "../../bench/tree_scenes.h"
#include "verify.h"

#define PRIMITIVES 10000u
/* Of a batch, so many rays are held against the mirror too. */
#define MIRRORED 16

static const struct {
  slab_tree tree;
  slab_tactic tactic;
  const char *name;
} qualities[] = {{SLAB_TREE_FLAT, SLAB_TACTIC_MEASURED, "flat"},
                 {SLAB_TREE_FAST, SLAB_TACTIC_SINGLE, "fast"},
                 {SLAB_TREE_DEFAULT, SLAB_TACTIC_PACKETS, "default"},
                 {SLAB_TREE_HIGH, SLAB_TACTIC_TURNS, "high"}};
enum { QUALITIES = sizeof qualities / sizeof *qualities };

static slab_status make_scene(const verify_run *run, tree_scene which, uint64_t seed, int quality, slab_scene **scene) {
  const slab_build_options options = {.tree = qualities[quality].tree};
  slab_status status = slab_scene_create(run->contexts[qualities[quality].tactic], scene);
  if (status == SLAB_OK) status = tree_scene_fill(which, PRIMITIVES, seed, *scene);
  if (status == SLAB_OK) status = tree_scene_add_nothing(*scene);
  return status == SLAB_OK ? slab_scene_commit(*scene, &options) : status;
}

/* Half of them in bundles, which packets are made of. */
static void make_rays(verify_run *run, random_state *random, const slab_scene_stats *stats, size_t n) {
  bundles_fill(random, stats, n, run->rays);
  for (size_t i = 0; i < n; i++) {
    if (i >= n / 2) run->rays[i] = tree_scene_ray(random, stats);
    run->skip[i] = (slab_primitive_id){random_below(random, PRIMITIVES), random_below(random, 7)};
  }
}

/* run->answers are those of the flat scene. */
static void compare(verify_run *run, tree_scene which, int quality, size_t n) {
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    size_t first = 0;
    if (run->others.invalid[q] != run->answers.invalid[q])
      verify_fail(run, 1, NULL, "%s, tree %s, %s: another number of invalid rays than flat", tree_scene_name(which),
                  qualities[quality].name, answer_name((slab_query)q));
    const size_t differing = answers_differ(&run->others, &run->answers, (slab_query)q, &first);
    if (differing)
      verify_fail(run, differing, &run->rays[first],
                  "%s, tree %s, %s: %zu of %zu rays differ from flat, the first is %zu", tree_scene_name(which),
                  qualities[quality].name, answer_name((slab_query)q), differing, n, first);
  }
  run->tally->cases += n * ANSWER_QUERIES;
}

int verify_trees(verify_run *run, random_state *random, size_t n) {
  const tree_scene which = (tree_scene)(run->batch % TREE_SCENES);
  const slab_cast_options some = {.mask = 1, .cull = SLAB_CULL_FRONT, .skip = run->skip, .face_forward = 1};
  const slab_cast_options none = {0}, *options = run->batch / TREE_SCENES % 2 ? &some : &none;
  const uint64_t seed = random_next(random);
  slab_scene_stats stats;
  slab_status status = SLAB_OK;
  int code = EXIT_DONE;
  for (int k = 0; code == EXIT_DONE && status == SLAB_OK && k < QUALITIES; k++) {
    slab_scene *scene = NULL;
    answers *a = k == 0 ? &run->answers : &run->others;
    status = make_scene(run, which, seed, k, &scene);
    if (status == SLAB_OK && k == 0) {
      status = slab_scene_info(scene, &stats);
      make_rays(run, random, &stats, n);
    }
    if (status == SLAB_OK) status = answers_cast_all(a, scene, run->rays, n, options);
    if (status == SLAB_OK && k == 0)
      code = verify_check(run, scene, SLAB_CLOSEST, a, n < MIRRORED ? n : MIRRORED, options, 0);
    if (status == SLAB_OK && k > 0) compare(run, which, k, n);
    slab_scene_destroy(scene);
  }
  return code == EXIT_DONE ? verify_status(run, status) : code;
}
