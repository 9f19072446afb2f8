#include "verdict.h"

#include <errno.h>
#include <stdlib.h>

#include "counting_scene.h"
#include "filled.h"

static const char *const query_names[VERDICT_QUERIES] = {
    [SLAB_CLOSEST] = "closest", [SLAB_DISTANCE] = "distance", [SLAB_ANY] = "any",
    [SLAB_COUNT] = "count",     [SLAB_ALL] = "all",           [SLAB_INTERVAL] = "interval"};

static size_t rays_wanted(void) {
  const char *text = getenv("SLABCAST_TEST_RAYS");
  if (!text || !*text) return VERDICT_BATCH;
  char *end = NULL;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (errno || *end || value == 0) fail_msg("SLABCAST_TEST_RAYS is '%s', which is no number of rays", text);
  return (size_t)value;
}

/* ---- scenes --------------------------------------------------------------------- */

static float scale_of(const verdict_set *set, int axis) { return set->scale[axis] == 0.0f ? 1.0f : set->scale[axis]; }

static void move_point(const verdict_set *set, float point[3]) {
  for (int k = 0; k < 3; k++) point[k] = point[k] * scale_of(set, k) + set->offset[k];
}

static void move_sizes(const verdict_set *set, float sizes[3]) {
  for (int k = 0; k < 3; k++) sizes[k] *= scale_of(set, k);
}

static void move_shape(const verdict_set *set, slab_shape kind, void *shapes, uint32_t i) {
  switch (kind) {
    case SLAB_PLANE: {
      slab_plane *plane = (slab_plane *)shapes + i;
      plane->offset *= scale_of(set, 0);
      for (int k = 0; k < 3; k++) plane->offset += plane->normal[k] * set->offset[k];
      break;
    }
    case SLAB_SPHERE:
      move_point(set, ((slab_sphere *)shapes + i)->center);
      ((slab_sphere *)shapes + i)->radius *= scale_of(set, 0);
      break;
    case SLAB_BOX:
      move_point(set, ((slab_box *)shapes + i)->lower);
      move_point(set, ((slab_box *)shapes + i)->upper);
      break;
    case SLAB_OBB:
      move_point(set, ((slab_obb *)shapes + i)->center);
      move_sizes(set, ((slab_obb *)shapes + i)->half_size);
      break;
    case SLAB_TRIANGLE:
      break; /* has no shapes, but vertices */
  }
}

static void move_geometry(const verdict_set *set, scene_geometry *g) {
  for (uint32_t i = 0; i < g->vertex_count; i++) move_point(set, g->vertices + 3 * (size_t)i);
  for (uint32_t i = 0; g->shapes && i < g->count; i++) move_shape(set, g->kind, g->shapes, i);
}

static uint32_t build_named(const verdict_set *set, harness_random *random, scene_geometry *geometries) {
  uint32_t used = 0;
  for (; set->scenes[used] != NULL; used++) {
    const uint32_t count = set->count ? set->count : VERDICT_COUNT;
    assert_int_equal(scene_build(set->scenes[used], count, harness_bits(random), &geometries[used]), 0);
  }
  return used;
}

static slab_scene *build_scene(slab_context *context, const verdict_set *set, harness_random *random) {
  scene_geometry geometries[VERDICT_GEOMETRIES] = {0};
  slab_scene *scene = NULL;
  const uint32_t used = (set->build ? set->build : build_named)(set, random, geometries);
  assert_ok(slab_scene_create(context, &scene));
  for (uint32_t g = 0; g < used; g++) {
    const slab_geometry_options options = {.mask = 1u << g};
    move_geometry(set, &geometries[g]);
    assert_ok(scene_geometry_add(scene, &geometries[g], &options, NULL));
    scene_geometry_free(&geometries[g]);
  }
  share_programs(scene);
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

/* ---- worlds ---------------------------------------------------------------------- */

static slab_ray ray_of(const verdict_set *set, harness_random *random) {
  slab_ray ray = set->ray(set, random);
  move_point(set, ray.origin);
  move_sizes(set, ray.direction);
  return ray;
}

static slab_primitive_id skip_of(harness_random *random) {
  static const slab_primitive_id none = {SLAB_MISS, SLAB_MISS};
  const slab_primitive_id some = {harness_below(random, VERDICT_COUNT), harness_below(random, VERDICT_GEOMETRIES)};
  return harness_bits(random) & 1 ? some : none;
}

verdict_world verdict_open(slab_context *context, const verdict_set *set, harness_random *random, size_t n) {
  verdict_world w = {.scene = build_scene(context, set, random), .rays = malloc(n * sizeof *w.rays), .n = n};
  assert_non_null(w.rays);
  for (size_t i = 0; i < n; i++) w.rays[i] = ray_of(set, random);
  if (set->skip) {
    w.skip = malloc(n * sizeof *w.skip);
    assert_non_null(w.skip);
    for (size_t i = 0; i < n; i++) w.skip[i] = skip_of(random);
  }
  w.options =
      (slab_cast_options){.mask = set->mask, .skip = w.skip, .cull = set->cull, .face_forward = set->face_forward};
  return w;
}

void verdict_close(verdict_world *w) {
  slab_scene_destroy(w->scene);
  free(w->rays);
  free(w->skip);
}

verdict_answer verdict_cast(const verdict_world *w, slab_query query) {
  verdict_answer a = {.query = query};
  size_t bytes = w->n * slab_result_size(query);
  if (query == SLAB_ALL) {
    a.offsets = malloc((w->n + 1) * sizeof *a.offsets);
    assert_non_null(a.offsets);
    assert_ok(slab_all(w->scene, w->rays, w->n, a.offsets, NULL, 0, NULL, &w->options));
    bytes = a.offsets[w->n] * sizeof(slab_hit);
  }
  a.results = malloc(bytes + 1);
  assert_non_null(a.results);
  if (query == SLAB_ALL)
    assert_ok(slab_all(w->scene, w->rays, w->n, a.offsets, a.results, a.offsets[w->n], NULL, &w->options));
  else
    assert_ok(cast_query(w->scene, query, w->rays, w->n, a.results, &w->options));
  return a;
}

void verdict_answer_free(verdict_answer *a) {
  free(a->results);
  free(a->offsets);
}

slab_check_report verdict_check(const verdict_world *w, const verdict_answer *a) {
  slab_check_report report;
  assert_ok(slab_check(w->scene, a->query, w->rays, w->n, a->results, a->offsets, &w->options, &report));
  assert_true(report.rays == w->n);
  if (report.oracle_rays != w->n) fail_msg("a batch so large that the oracle left rays out");
  return report;
}

/* A set of which fewer rays hit anything is badly aimed. */
#define LEAST_HITS 0.1

/* ---- judging ----------------------------------------------------------------------- */

static void fail_with_ray(const verdict_set *set, const char *query, const verdict_world *w,
                          const slab_check_report *r) {
  const slab_ray *ray = &w->rays[r->first];
  print_error("%s, %s: %llu mismatches, %llu wrong; the first: %s\n", set->name, query,
              (unsigned long long)r->mismatches, (unsigned long long)r->oracle_wrong, r->text);
  print_error("  origin %a %a %a, direction %a %a %a, t %a to %a\n", (double)ray->origin[0], (double)ray->origin[1],
              (double)ray->origin[2], (double)ray->direction[0], (double)ray->direction[1], (double)ray->direction[2],
              (double)ray->t_min, (double)ray->t_max);
  fail();
}

/* Over all batches of a set. */
typedef struct verdict_sums {
  uint64_t undecided[VERDICT_QUERIES], rays_that_hit;
} verdict_sums;

static void judge_batch(const verdict_set *set, const verdict_world *w, verdict_sums *sums) {
  for (int q = 0; q < VERDICT_QUERIES; q++) {
    verdict_answer answer = verdict_cast(w, (slab_query)q);
    const slab_check_report report = verdict_check(w, &answer);
    if (report.mismatches + report.oracle_wrong > 0) fail_with_ray(set, query_names[q], w, &report);
    sums->undecided[q] += report.oracle_undecided;
    for (size_t i = 0; q == SLAB_ANY && i < w->n; i++) sums->rays_that_hit += ((const uint8_t *)answer.results)[i];
    verdict_answer_free(&answer);
  }
}

void verdict_judge(slab_context *context, const verdict_set *set) {
  const size_t n = rays_wanted();
  harness_random random = harness_seeded(set->name);
  verdict_sums sums = {0};
  for (size_t done = 0; done < n; done += VERDICT_BATCH) {
    verdict_world w = verdict_open(context, set, &random, n - done < VERDICT_BATCH ? n - done : VERDICT_BATCH);
    judge_batch(set, &w, &sums);
    verdict_close(&w);
  }
  const double hit = (double)sums.rays_that_hit / (double)n;
  for (int q = 0; q < VERDICT_QUERIES; q++)
    print_message("%-26s %-8s %zu rays, %.0f %% hit, undecided %llu (%.4f %%)\n", set->name, query_names[q], n,
                  100.0 * hit, (unsigned long long)sums.undecided[q], 100.0 * (double)sums.undecided[q] / (double)n);
  for (int q = 0; q < VERDICT_QUERIES; q++)
    if ((double)sums.undecided[q] > set->cap * (double)n)
      fail_msg("%s, %s: more than %g %% undecided", set->name, query_names[q], 100.0 * set->cap);
  if (hit < LEAST_HITS) fail_msg("%s: so few rays hit that the set shows nothing", set->name);
}
