/* Scenes that change, and are refitted or rebuilt, against the same scenes made anew and cast by brute force, bit by
 * bit; and against the CPU reference and the oracle. */
#include "base/plural.h"
#include "program/verify/verify.h"
#include "sets/moving.h"

enum { EACH = 60, STEPS = 3 };

/* A scene that was committed, and changed and committed again some times. */
static slab_status make_scene(verify_run *run, random_state *random, verify_layout layout, size_t n, moving *m) {
  static const slab_update updates[] = {SLAB_UPDATE_REFIT, SLAB_UPDATE_AUTO, SLAB_UPDATE_REBUILD};
  const slab_build_options how = {.tree = layout == LAYOUT_FLAT ? SLAB_TREE_FLAT : SLAB_TREE_FAST,
                                  .update = updates[random_below(random, 3)]};
  const unsigned changes = how.update == SLAB_UPDATE_REFIT ? MOVING_SHIFT | MOVING_SWITCH : MOVING_ANY;
  slab_status status = moving_begin(m, verify_context(run, layout), random_next(random), EACH);
  if (status == SLAB_OK) status = verify_commit(run, layout, SLAB_TREE_FAST, m->scene, n);
  for (int step = 0; step < STEPS && status == SLAB_OK; step++) {
    status = moving_step(m, changes);
    if (status == SLAB_OK) status = slab_scene_commit(m->scene, &how);
  }
  return status;
}

void verify_same(verify_run *run, slab_query query, size_t n, const char *from) {
  size_t first = 0;
  const size_t differing = answers_differ(&run->answers, &run->others, query, &first);
  if (differing)
    verify_fail(run, differing, &run->rays[first], "%s: %zu of %zu %s from %s, the first is %zu", answer_name(query),
                differing, n, plural(differing, "rays differs", "rays differ"), from, first);
  run->tally->cases += n;
}

int verify_moving(verify_run *run, random_state *random, size_t n) {
  const verify_layout layout = verify_layout_at(run, run->batch);
  const slab_query query = (slab_query)(run->batch / LAYOUTS % ANSWER_QUERIES);
  if (layout == LAYOUT_COMPRESSED && run->batch / (LAYOUTS * ANSWER_QUERIES) % 2 == 1 && verify_has_refits(run))
    return verify_refits(run, random, query, n);
  slab_scene *anew = NULL;
  moving m;
  slab_status status = make_scene(run, random, layout, n, &m);
  for (size_t i = 0; i < n; i++) {
    run->rays[i] = adversarial_ray(random, &m.points);
    run->skip[i] = adversarial_skip(random);
  }
  const slab_cast_options options = adversarial_options(random, run->skip);
  if (status == SLAB_OK) status = answers_cast(&run->answers, query, m.scene, run->rays, n, &options);
  if (status == SLAB_OK) status = moving_anew(&m, verify_context(run, LAYOUT_FLAT), SLAB_TREE_FLAT, &anew);
  if (status == SLAB_OK) status = answers_cast(&run->others, query, anew, run->rays, n, &options);
  if (status == SLAB_OK) verify_same(run, query, n, "a scene made anew");
  int code = verify_status(run, status);
  if (code == EXIT_DONE) code = verify_check(run, m.scene, query, &run->answers, n, &options, 1);
  slab_scene_destroy(anew);
  moving_end(&m);
  return code;
}
