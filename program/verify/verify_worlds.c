/* Worlds. Rays of many at once are compared with CPU reference and oracle, while instances move, shapes change and
 * geometries come and go. Rays of one world are compared bit by bit with a scene that holds no other. */
#include <stdio.h>

#include "program/verify/verify.h"
#include "sets/many_worlds.h"

enum { RAYS_MOST = 512, ROUNDS = 3 }; /* of a batch */

/* Every ray in a world of its own, some in rows, which are cast together. */
static int check_all(verify_run *run, many_worlds *w, slab_query query, size_t n, const slab_cast_options *options,
                     uint32_t *worlds) {
  for (size_t i = 0; i < n; i++) {
    run->rays[i] = many_worlds_ray(w);
    run->skip[i] = adversarial_skip(&w->random);
    worlds[i] = i % 16 != 0 && i / 16 % 2 == 0 ? worlds[i - 1] : many_worlds_any(w);
  }
  slab_cast_options of_worlds = *options;
  of_worlds.worlds = worlds;
  const slab_status status = answers_cast(&run->answers, query, w->scene, run->rays, n, &of_worlds);
  if (status != SLAB_OK) return verify_status(run, status);
  return verify_check(run, w->scene, query, &run->answers, n, &of_worlds, 1);
}

/* Leaves the rays of one world. Their number. */
static size_t keep_world(verify_run *run, uint32_t *worlds, size_t n, uint32_t world) {
  size_t kept = 0;
  for (size_t i = 0; i < n; i++) {
    if (worlds[i] != world) continue;
    run->rays[kept] = run->rays[i];
    run->skip[kept] = run->skip[i];
    worlds[kept++] = world;
  }
  return kept;
}

static int compare_alone(verify_run *run, many_worlds *w, slab_query query, size_t n, const slab_cast_options *options,
                         uint32_t *worlds) {
  const uint32_t world = many_worlds_any(w);
  const size_t kept = keep_world(run, worlds, n, world);
  char from[48];
  slab_cast_options of_world = *options;
  of_world.worlds = worlds;
  slab_status status = many_worlds_show(w, world);
  if (status == SLAB_OK) status = answers_cast(&run->others, query, w->plain, run->rays, kept, options);
  if (status == SLAB_OK) status = answers_cast(&run->answers, query, w->scene, run->rays, kept, &of_world);
  if (status != SLAB_OK) return verify_status(run, status);
  snprintf(from, sizeof from, "a scene of world %u alone", world);
  verify_same(run, query, kept, from);
  return EXIT_DONE;
}

int verify_worlds(verify_run *run, random_state *random, size_t n) {
  static many_worlds w;
  static uint32_t worlds[RAYS_MOST];
  const bool is_wide = run->batch % 2 == 0 && run->wide[SLAB_TRAVERSAL_AUTO] != NULL;
  const slab_query query = verify_spread(run->batch / 2);
  slab_context *context = is_wide ? run->wide[SLAB_TRAVERSAL_AUTO] : run->compressed;
  int code = verify_status(run, many_worlds_begin(&w, context, random_next(random), ADVERSARIAL_ALL_KINDS));
  for (int round = 0; round < ROUNDS && code == EXIT_DONE; round++) {
    const slab_cast_options options = adversarial_options(&w.random, run->skip);
    code = check_all(run, &w, query, n, &options, worlds);
    if (code == EXIT_DONE) code = compare_alone(run, &w, query, n, &options, worlds);
    if (code == EXIT_DONE && round == 0) code = verify_status(run, many_worlds_move(&w));
    if (code == EXIT_DONE && round == 1) code = verify_status(run, many_worlds_change(&w));
  }
  run->tally->met[is_wide ? LAYOUT_WIDE : LAYOUT_COMPRESSED] += n;
  many_worlds_end(&w);
  return code;
}
