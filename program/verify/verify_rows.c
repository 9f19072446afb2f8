/* Contract rows: adversarial scenes and rays, one query, kind or option at a time, compared with the CPU reference and
 * the oracle. */
#include <math.h>
#include <string.h>

#include "program/verify/verify.h"
#include "sets/adversarial.h"

/* ---- contents of a batch ---- */

/* Every other batch has numbers of every magnitude; the oracle judges the others. */
static int is_extreme(const verify_run *run) { return run->extremes && run->batch % 2; }

static slab_query query_of(const verify_run *run) {
  static const slab_query few[] = {SLAB_CLOSEST, SLAB_INTERVAL};
  const uint64_t turn = run->batch / 2;
  if (run->group->query >= 0) return (slab_query)run->group->query;
  if (run->group->flavour == FLAVOUR_FIRST) return SLAB_ALL;
  if (run->group->flavour == FLAVOUR_MASKS || run->group->flavour == FLAVOUR_AFTER) return verify_spread(turn);
  if (run->group->kinds == ADVERSARIAL_ALL_KINDS || run->thorough) return (slab_query)(turn % ANSWER_QUERIES);
  return few[turn % 2];
}

/* The layout of a batch. Every query gets every layout. Groups of one kind stay flat unless the run is thorough,
 * because the time to compile one more program for each kind would show. */
static verify_layout layout_of(const verify_run *run) {
  const uint64_t turn = run->batch / 2;
  if (run->group->kinds != ADVERSARIAL_ALL_KINDS && !run->thorough) return LAYOUT_FLAT;
  const uint64_t round = run->group->query >= 0 ? 0 : turn / ANSWER_QUERIES;
  return verify_layout_at(run, turn + round);
}

/* Most scenes are small: their rays cost a fraction, so there can be more scenes. */
#define FEW 8

static slab_status make_scene(verify_run *run, random_state *random, unsigned kinds, verify_layout layout, size_t n,
                              adversarial *w, slab_scene **scene) {
  const uint32_t most = random_below(random, 4) ? FEW : ADVERSARIAL_MOST;
  *w = adversarial_begin(random, is_extreme(run));
  slab_status status = verify_scene(run, layout, scene);
  if (status == SLAB_OK) status = adversarial_fill(random, w, kinds, most, *scene);
  return status == SLAB_OK ? verify_commit(run, layout, SLAB_TREE_FAST, *scene, n) : status;
}

slab_status verify_adversarial(verify_run *run, random_state *random, verify_layout layout, size_t n, adversarial *w,
                               slab_scene **scene) {
  return make_scene(run, random, ADVERSARIAL_ALL_KINDS, layout, n, w, scene);
}

static void make_rays(verify_run *run, random_state *random, const adversarial *w, size_t n) {
  for (size_t i = 0; i < n; i++) {
    run->rays[i] = adversarial_ray(random, w);
    run->skip[i] = adversarial_skip(random);
  }
}

/* ---- flavours ---- */

/* Skips the first hit of each ray. */
static void skip_hits(verify_run *run, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const slab_hit *h = &run->others.closest[i];
    run->skip[i] = h->primitive < SLAB_INVALID ? (slab_primitive_id){h->primitive, h->geometry}
                                               : (slab_primitive_id){SLAB_MISS, SLAB_MISS};
  }
}

/* Sets an end of the ray's range to the first crossing, or one number beside it. */
static void end_at_hits(verify_run *run, random_state *random, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const float t = run->others.closest[i].t;
    const uint32_t fate = random_below(random, 6);
    if (!isfinite(t)) continue;
    const float end = fate < 4 ? t : nextafterf(t, fate == 4 ? INFINITY : -INFINITY);
    if (fate % 2)
      run->rays[i].t_min = end;
    else
      run->rays[i].t_max = end;
  }
}

static slab_status add_flavour(verify_run *run, random_state *random, slab_scene *scene, size_t n,
                               slab_cast_options *options) {
  const verify_flavour flavour = run->group->flavour;
  slab_status status = SLAB_OK;
  *options = (slab_cast_options){0};
  if (flavour == FLAVOUR_SKIP || flavour == FLAVOUR_RANGES)
    status = answers_cast(&run->others, SLAB_CLOSEST, scene, run->rays, n, NULL);
  if (status != SLAB_OK) return status;
  switch (flavour) {
    case FLAVOUR_ANY:
      *options = adversarial_options(random, run->skip);
      break;
    case FLAVOUR_MASK:
      options->mask = random_next(random) | 1u << random_below(random, 32);
      break;
    case FLAVOUR_MASKS:
      verify_masks(run, random, n);
      options->masks = run->masks;
      break;
    case FLAVOUR_SKIP:
      skip_hits(run, n);
      options->skip = run->skip;
      break;
    case FLAVOUR_CULL:
      options->cull = random_below(random, 2) ? SLAB_CULL_BACK : SLAB_CULL_FRONT;
      options->face_forward = (int)random_below(random, 2);
      break;
    case FLAVOUR_CLOSED:
      options->edges = SLAB_EDGES_CLOSED;
      break;
    case FLAVOUR_FIRST:
      options->max_hits = 1 + random_below(random, 20);
      break;
    case FLAVOUR_SEGMENTS:
      for (size_t i = 0; i < n; i++) {
        run->rays[i].t_min = 0;
        run->rays[i].t_max = 1;
      }
      break;
    case FLAVOUR_RANGES:
      end_at_hits(run, random, n);
      break;
    case FLAVOUR_AFTER: /* which verify_walk makes */
      break;
  }
  return status;
}

static int cast_row(verify_run *run, random_state *random, slab_scene *scene, slab_query query, size_t n) {
  slab_cast_options options;
  slab_status status = add_flavour(run, random, scene, n, &options);
  if (status == SLAB_OK) status = answers_cast(&run->answers, query, scene, run->rays, n, &options);
  if (status != SLAB_OK) return verify_status(run, status);
  return verify_check(run, scene, query, &run->answers, n, &options, !is_extreme(run));
}

int verify_row(verify_run *run, random_state *random, size_t n) {
  const slab_query query = query_of(run);
  slab_scene *scene = NULL;
  adversarial w;
  int code = verify_status(run, make_scene(run, random, run->group->kinds, layout_of(run), n, &w, &scene));
  if (code == EXIT_DONE) {
    make_rays(run, random, &w, n);
    code = run->group->flavour == FLAVOUR_AFTER ? verify_walk(run, random, scene, query, n, !is_extreme(run))
                                                : cast_row(run, random, scene, query, n);
  }
  slab_scene_destroy(scene);
  return code;
}

/* ---- all queries at once ---- */

int verify_agreement(verify_run *run, random_state *random, size_t n) {
  slab_scene *scene = NULL;
  slab_cast_options options = {0};
  adversarial w;
  const verify_layout layout = verify_layout_at(run, run->batch / 2);
  slab_status status = make_scene(run, random, ADVERSARIAL_ALL_KINDS, layout, n, &w, &scene);
  if (status == SLAB_OK) {
    make_rays(run, random, &w, n);
    options = adversarial_options(random, run->skip);
    status = answers_cast_all(&run->answers, scene, run->rays, n, &options);
  }
  slab_scene_destroy(scene);
  if (status != SLAB_OK) return verify_status(run, status);
  for (size_t i = 0; i < n; i++) {
    const char *fault = answers_fault(&run->answers, i, &run->rays[i], &options);
    if (fault) verify_fail(run, 1, &run->rays[i], "%s", fault);
  }
  if (!answers_same_invalid(&run->answers))
    verify_fail(run, 1, NULL, "the queries count other numbers of invalid rays");
  run->tally->cases += n * ANSWER_QUERIES;
  return EXIT_DONE;
}

/* ---- pairs ---- */

enum { PAIRED = 32 };

/* Adds shapes that the scene accepts, each a geometry with its own mask bit. */
static slab_status make_pairs(const verify_run *run, random_state *random, slab_shape kind, size_t n, adversarial *w,
                              float shapes[PAIRED][SHAPE_FLOATS_MOST], slab_scene **scene) {
  *w = adversarial_begin(random, is_extreme(run));
  slab_status status = slab_scene_create(run->context, scene);
  for (uint32_t g = 0; status == SLAB_OK && g < n;) {
    const slab_geometry_options alone = {.mask = 1u << g};
    memset(shapes[g], 0, sizeof shapes[g]);
    adversarial_shape(random, kind, w, shapes[g]);
    status = shape_add(*scene, kind, shapes[g], 1, &alone);
    if (status == SLAB_OK) {
      adversarial_know(w, g, shapes[g]);
      g++;
    }
    if (status == SLAB_INVALID_ARGUMENT) status = SLAB_OK; /* refused: another shape is tried */
  }
  return status == SLAB_OK ? slab_scene_commit(*scene, NULL) : status;
}

static void compare_pairs(verify_run *run, size_t n, const slab_interval *pairs, uint32_t g) {
  for (size_t i = 0; i < n; i++) {
    slab_interval want = run->answers.interval[i];
    const slab_interval *got = &pairs[g * n + i];
    if (want.geometry == g) want = (slab_interval){want.enter, want.leave, (uint32_t)(g * n + i), 0};
    if (memcmp(got, &want, sizeof want) != 0)
      verify_fail(run, 1, &run->rays[i], "pair %zu: %a to %a, the scene's interval is %a to %a", g * n + i,
                  (double)got->enter, (double)got->leave, (double)want.enter, (double)want.leave);
  }
}

/* Tests every ray against every shape twice: as pairs, and as intervals of a scene in which the mask selects one
 * shape. */
int verify_pairs(verify_run *run, random_state *random, size_t n) {
  const slab_shape kind = (slab_shape)(run->batch % SHAPE_KINDS);
  float shapes[PAIRED][SHAPE_FLOATS_MOST], paired[PAIRED * PAIRED * SHAPE_FLOATS_MOST];
  slab_ray rays[PAIRED * PAIRED];
  slab_interval pairs[PAIRED * PAIRED];
  const size_t floats = shape_floats(kind);
  slab_scene *scene = NULL;
  adversarial w;
  slab_status status = make_pairs(run, random, kind, n, &w, shapes, &scene);
  if (status == SLAB_OK) make_rays(run, random, &w, n);
  for (size_t k = 0; status == SLAB_OK && k < n * n; k++) {
    rays[k] = run->rays[k % n];
    memcpy(paired + k * floats, shapes[k / n], floats * sizeof *paired);
  }
  if (status == SLAB_OK) status = slab_pairs(run->context, kind, rays, paired, n * n, pairs);
  for (uint32_t g = 0; status == SLAB_OK && g < n; g++) {
    const slab_cast_options alone = {.mask = 1u << g};
    status = answers_cast(&run->answers, SLAB_INTERVAL, scene, run->rays, n, &alone);
    if (status == SLAB_OK) compare_pairs(run, n, pairs, g);
  }
  slab_scene_destroy(scene);
  run->tally->cases += n * n;
  return verify_status(run, status);
}
