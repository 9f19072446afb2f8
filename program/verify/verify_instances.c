/* Instances. Scenes that stand in each other by random transforms are moved, hidden and shown, against the CPU
 * reference and the oracle. Models that are moved exactly must have the model's own answers, bit by bit. */
#include <math.h>
#include <string.h>

#include "program/verify/verify.h"
#include "sets/nested.h"

/* The device's own width, compressed nodes, packets, interleaved rays, and with --lanes all every other width: those
 * that there are. */
static slab_context *context_of(const verify_run *run) {
  enum { ALL = 4 + WIDTHS };
  slab_context *const all[ALL] = {run->wide[SLAB_TRAVERSAL_AUTO],
                                  run->compressed,
                                  run->wide[SLAB_TRAVERSAL_PACKETS],
                                  run->wide[SLAB_TRAVERSAL_INTERLEAVED],
                                  run->other[ONE_LANE],
                                  run->other[LANES_8],
                                  run->other[LANES_16]};
  slab_context *there[ALL];
  uint32_t count = 0;
  for (int i = 0; i < ALL; i++)
    if (all[i] != NULL) there[count++] = all[i];
  return there[run->batch % count];
}

static verify_layout layout_of(const verify_run *run) {
  return context_of(run) == run->compressed ? LAYOUT_COMPRESSED : LAYOUT_WIDE;
}

static slab_status change(nested *m) {
  slab_scene *top = m->scenes[NESTED_TOP];
  nested_transforms(&m->random, m->outer[0]);
  slab_status status = slab_scene_update_instances(top, m->outer_ids[0], m->outer[0][0], NESTED_EACH);
  if (status == SLAB_OK) status = slab_scene_enable(m->scenes[1], 0, (int)random_below(&m->random, 2));
  if (status == SLAB_OK) status = slab_scene_commit(m->scenes[1], NULL);
  if (status == SLAB_OK) status = slab_scene_enable(top, m->outer_ids[1], (int)random_below(&m->random, 4));
  return status;
}

/* One query of each turn is walked by, for which OpenCL compiles programs. In the first it is all. */
static bool is_walked(const verify_run *run) {
  return run->batch % ANSWER_QUERIES == (uint64_t)verify_spread(run->batch / ANSWER_QUERIES + 1);
}

static int judge_nested(verify_run *run, nested *m, slab_query query, size_t n) {
  nested_rays(m, n, run->rays);
  for (size_t i = 0; i < n; i++) run->skip[i] = adversarial_skip(&m->random);
  const slab_cast_options options = adversarial_options(&m->random, run->skip);
  slab_scene *top = m->scenes[NESTED_TOP];
  slab_status status = run->batch % 3 == 0 ? change(m) : SLAB_OK;
  if (status == SLAB_OK) status = verify_commit(run, layout_of(run), m->trees[NESTED_TOP], top, n);
  if (status == SLAB_OK && is_walked(run)) return verify_walk(run, &m->random, top, query, n, 1);
  if (status == SLAB_OK) status = answers_cast(&run->answers, query, top, run->rays, n, &options);
  if (status != SLAB_OK) return verify_status(run, status);
  return verify_check(run, top, query, &run->answers, n, &options, 1);
}

/* ---- exact transforms ---- */

/* Axes are exchanged and mirrored, and all are scaled by one power of two. */
typedef struct exact_transform {
  float rows[12], signs[3];
  int axes[3]; /* axis k of the scene is this one of the model */
} exact_transform;

static exact_transform exact_of(random_state *random) {
  exact_transform e = {{0}, {0}, {0}};
  const int turn = (int)random_below(random, 3), swap = (int)random_below(random, 2),
            power = (int)random_below(random, 9);
  for (int k = 0; k < 3; k++) {
    e.axes[k] = (turn + (swap ? 3 - k : k)) % 3;
    e.signs[k] = random_below(random, 2) ? -1.0f : 1.0f;
    e.rows[4 * k + e.axes[k]] = ldexpf(e.signs[k], power - 4);
  }
  return e;
}

/* A component that a power of two of 2^-4 to 2^4 scales exactly, whatever the ray's others are. */
static int is_plain(float x) { return x == 0.0f || (fabsf(x) > 0x1p-40f && fabsf(x) < 0x1p40f); }

/* A ray for a model, which an exact transform moves exactly. */
static slab_ray plain_ray(nested *m) {
  for (int tries = 0; tries < 100; tries++) {
    const slab_ray ray = adversarial_ray(&m->random, &m->points[0]);
    int plain = 1;
    for (int k = 0; k < 3; k++) plain = plain && is_plain(ray.origin[k]) && is_plain(ray.direction[k]);
    if (plain) return ray;
  }
  return (slab_ray){{1, 2, 3}, 0, {-1, -2, -3}, INFINITY};
}

static void turn_normals(const exact_transform *e, slab_hit *hits, uint64_t n) {
  for (uint64_t i = 0; i < n; i++) {
    const slab_hit given = hits[i];
    for (int k = 0; k < 3; k++) hits[i].normal[k] = 0.0f + e->signs[k] * given.normal[e->axes[k]];
  }
}

/* The model's answers go to run->others, as they have to be outside; the rays are then those outside. */
static slab_status cast_both(verify_run *run, nested *m, slab_scene *scene, slab_query query, size_t n) {
  slab_scene *model = m->scenes[0];
  const exact_transform e = exact_of(&m->random);
  slab_status status = slab_scene_add_instances(scene, model, e.rows, 1, NULL, NULL);
  if (status == SLAB_OK) status = verify_commit(run, layout_of(run), m->trees[0], scene, n);
  for (size_t i = 0; i < n; i++) run->rays[i] = plain_ray(m);
  if (status == SLAB_OK) status = answers_cast(&run->others, query, model, run->rays, n, NULL);
  for (size_t i = 0; i < n; i++) run->rays[i] = nested_ray_outside(e.rows, run->rays[i]);
  if (status == SLAB_OK) status = answers_cast(&run->answers, query, scene, run->rays, n, NULL);
  if (status != SLAB_OK) return status;
  if (query == SLAB_CLOSEST) turn_normals(&e, run->others.closest, n);
  if (query == SLAB_ALL) turn_normals(&e, run->others.all, run->others.offsets[n]);
  return SLAB_OK;
}

static int compare_exact(verify_run *run, nested *m, slab_query query, size_t n) {
  slab_scene *scene = NULL;
  slab_status status = slab_scene_create(context_of(run), &scene);
  if (status == SLAB_OK) status = cast_both(run, m, scene, query, n);
  if (status == SLAB_OK) verify_same(run, query, n, "the model's own answers");
  slab_scene_destroy(scene);
  return verify_status(run, status);
}

int verify_instances(verify_run *run, random_state *random, size_t n) {
  const slab_query query = (slab_query)(run->batch % ANSWER_QUERIES);
  const unsigned kinds = random_below(random, 2) == 0 ? ADVERSARIAL_ALL_KINDS : 1u << SLAB_TRIANGLE;
  nested m;
  int code = verify_status(run, nested_begin(&m, context_of(run), random_next(random), kinds));
  if (code == EXIT_DONE) code = judge_nested(run, &m, query, n);
  if (code == EXIT_DONE) code = compare_exact(run, &m, query, n);
  nested_end(&m);
  return code;
}
