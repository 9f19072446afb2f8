/* Scenes far from 0, with rays and points of doubles. Near rays, far rays and points are compared with CPU reference
 * and oracle. Near rays are also compared bit by bit with the same scene near 0. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/plural.h"
#include "program/verify/verify.h"
#include "sets/far_scene.h"
#include "sets/points.h"

enum { RAYS_MOST = 512, SHAPES = 40 };

/* A cast of rays of doubles. */
typedef struct far_cast {
  slab_query query;
  size_t n;
  const slab_ray64 *rays;
  slab_cast_options options;
  uint64_t invalid;
  uint64_t offsets[RAYS_MOST + 1];
  slab_results results;
} far_cast;

/* Each coordinate some 1e5 to 1e8 from 0, of so many bits that near ones can be added to it. */
static double far_coordinate(random_state *random) {
  const double size = exp2((double)random_between(random, 16.7f, 26.5f));
  return FAR_STEP * floor(size / FAR_STEP) * (random_below(random, 2) == 0 ? 1.0 : -1.0);
}

static slab_status make_scene(random_state *random, slab_context *context, far_scene *f) {
  slab_status status = far_scene_open(f, context, random_bits(random), false);
  for (int k = 0; k < 3; k++) f->origin[k] = far_coordinate(random);
  if (status == SLAB_OK) status = slab_scene_origin(f->far, f->origin);
  if (status == SLAB_OK && random_below(random, 4) == 0)
    status = far_scene_add(f, SLAB_PLANE, 1, NULL); /* it hides much */
  for (int kind = SLAB_SPHERE; status == SLAB_OK && kind <= SLAB_TRIANGLE; kind++)
    status = far_scene_add(f, (slab_shape)kind, SHAPES + random_below(random, 2), NULL);
  if (status == SLAB_OK && random_below(random, 3) == 0) status = far_scene_place(f, context, 4, NULL);
  return status == SLAB_OK ? far_scene_commit(f) : status;
}

/* From up to 1e8 away, along the line. */
static slab_ray64 from_afar(random_state *random, const slab_ray64 *near) {
  slab_ray64 r = *near;
  const double way = exp2((double)random_between(random, 0.0f, 20.0f));
  const double scale = ldexp(1.0, (int)random_below(random, 200) - 100);
  for (int k = 0; k < 3; k++) {
    r.origin[k] -= way * r.direction[k];
    r.direction[k] *= scale;
  }
  r.t_min = random_below(random, 2) == 0 ? 0.0 : -INFINITY;
  r.t_max = random_below(random, 2) == 0 ? 2.0 * way / scale : INFINITY;
  return r;
}

static slab_status cast_far(verify_run *run, slab_scene *scene, far_cast *c) {
  const slab_source source = {.rays64 = c->rays, .n = c->n};
  const bool all = c->query == SLAB_ALL;
  c->options.invalid = &c->invalid;
  c->results = (slab_results){.offsets = all ? c->offsets : NULL};
  slab_status status = all ? slab_cast(scene, c->query, &source, &c->results, &c->options) : SLAB_OK;
  const size_t count = all ? (size_t)c->results.required : c->n;
  if (status != SLAB_OK) return status;
  c->results.memory = malloc(count * slab_result_size64(c->query) + 1);
  c->results.capacity = all ? count : 0;
  if (c->results.memory == NULL) return SLAB_OUT_OF_MEMORY;
  progress_answered(&run->line);
  return count > 0 ? slab_cast(scene, c->query, &source, &c->results, &c->options) : SLAB_OK;
}

/* With the ray in double, which is another than that of run->rays. */
static void fail_far(verify_run *run, uint64_t wrong, const far_cast *c, const slab_check_report *report) {
  const slab_ray64 *r = &c->rays[report->first];
  verify_fail(run, wrong, NULL, "%s: %s; the ray: origin %a %a %a, direction %a %a %a, t %a to %a",
              answer_name(c->query), report->text, r->origin[0], r->origin[1], r->origin[2], r->direction[0],
              r->direction[1], r->direction[2], r->t_min, r->t_max);
}

static int check_far(verify_run *run, slab_scene *scene, const far_cast *c) {
  const slab_source source = {.rays64 = c->rays, .n = c->n};
  slab_check_report report;
  const slab_status status = slab_check_cast(scene, c->query, &source, &c->results, &c->options, &report);
  if (status != SLAB_OK) return verify_status(run, status);
  const uint64_t wrong = report.mismatches + report.oracle_wrong;
  if (wrong > 0) fail_far(run, wrong, c, &report);
  verify_figure_add(run, FIGURE_COUNT, "judged", (double)report.oracle_rays);
  verify_figure_add(run, FIGURE_COUNT, "undecided", (double)report.oracle_undecided);
  run->tally->cases += c->n;
  return EXIT_DONE;
}

/* ---- against the scene near 0 ---- */

/* t is the same double: nothing moves where rays begin, and directions are scaled by powers of two. Only the order is
 * t of another scale. */
static bool same_hit(const slab_hit64 *far, const slab_hit *near) {
  const slab_hit64 want = {
      near->t,   {near->normal[0], near->normal[1], near->normal[2]}, near->u, near->v, near->primitive, near->geometry,
      far->order};
  return memcmp(far, &want, sizeof want) == 0;
}

static bool same_list(const far_cast *c, const answers *near, size_t i) {
  if (memcmp(&c->offsets[i], &near->offsets[i], 2 * sizeof *c->offsets) != 0) return false;
  for (uint64_t k = near->offsets[i]; k < near->offsets[i + 1]; k++)
    if (!same_hit((const slab_hit64 *)c->results.memory + k, &near->all[k])) return false;
  return true;
}

static bool same_answer(const far_cast *c, const answers *near, size_t i) {
  const void *memory = c->results.memory;
  const slab_short_hit64 *nearest = memory;
  const slab_interval *interval = &near->interval[i];
  switch (c->query) {
    case SLAB_CLOSEST:
      return same_hit((const slab_hit64 *)memory + i, &near->closest[i]);
    case SLAB_DISTANCE:
      return ((const double *)memory)[i] == near->distance[i];
    case SLAB_ANY:
      return ((const uint8_t *)memory)[i] == near->any[i];
    case SLAB_COUNT:
      return ((const uint32_t *)memory)[i] == near->count[i];
    case SLAB_ALL:
      return same_list(c, near, i);
    case SLAB_INTERVAL: {
      const slab_interval64 want = {interval->enter, interval->leave, interval->primitive, interval->geometry};
      return memcmp((const slab_interval64 *)memory + i, &want, sizeof want) == 0;
    }
    case SLAB_NEAREST:
      return nearest[i].t == near->nearest[i].t && nearest[i].primitive == near->nearest[i].primitive &&
             nearest[i].geometry == near->nearest[i].geometry && nearest[i].zero == 0;
  }
  return false;
}

static int compare_near(verify_run *run, slab_scene *near, const far_cast *c) {
  size_t differing = 0, first = 0;
  slab_cast_options options = c->options;
  options.invalid = NULL;
  const slab_status status = answers_cast(&run->answers, c->query, near, run->rays, c->n, &options);
  if (status != SLAB_OK) return verify_status(run, status);
  for (size_t i = c->n; i-- > 0;)
    if (!same_answer(c, &run->answers, i)) {
      differing++;
      first = i;
    }
  verify_fail(run, differing, &run->rays[first], "%s: %zu of %zu %s from those near 0, the first is %zu",
              answer_name(c->query), differing, c->n, plural(differing, "rays differs", "rays differ"), first);
  run->tally->cases += c->n;
  return EXIT_DONE;
}

/* ---- points ---- */

static slab_status ask_far(slab_scene *scene, slab_point_query query, const double *points, size_t n, void *results) {
  switch (query) {
    case SLAB_CLOSEST_POINTS:
      return slab_closest_points64(scene, points, n, results, NULL);
    case SLAB_CLOSEST_DISTANCES:
      return slab_closest_distances64(scene, points, n, results, NULL);
    case SLAB_POINTS_WITHIN:
      return slab_points_within64(scene, points, n, results, NULL);
    case SLAB_WINDING:
      return slab_winding64(scene, points, n, results, NULL);
    case SLAB_SIGNED_DISTANCES:
      return slab_signed_distances64(scene, points, n, results, NULL);
    case SLAB_WINDING_NUMBERS:
      break;
  }
  return slab_winding_numbers64(scene, points, n, results, NULL);
}

/* Points where rays begin, which are on no grid of floats. Open models have no winding numbers. */
static int check_points(verify_run *run, slab_scene *scene, const slab_ray64 *rays, size_t n) {
  static double points[3 * RAYS_MOST];
  static slab_closest_point64 results[RAYS_MOST];
  const slab_point_query query = (slab_point_query)(run->batch / 2 % SLAB_POINT_QUERY_COUNT);
  slab_check_report report;
  for (size_t i = 0; i < 3 * n; i++) points[i] = rays[i / 3].origin[i % 3] + 0.3;
  slab_status status = ask_far(scene, query, points, n, results);
  if (status == SLAB_UNSUPPORTED && query == SLAB_WINDING_NUMBERS) return EXIT_DONE;
  if (status == SLAB_OK) status = slab_check_points64(scene, query, points, n, results, NULL, &report);
  if (status != SLAB_OK) return verify_status(run, status);
  verify_fail(run, report.mismatches + report.oracle_wrong, NULL, "%s: %s", point_query_name(query), report.text);
  verify_figure_add(run, FIGURE_COUNT, "judged", (double)report.oracle_rays);
  verify_figure_add(run, FIGURE_COUNT, "undecided", (double)report.oracle_undecided);
  run->tally->cases += n;
  return EXIT_DONE;
}

/* ---- the step ---- */

static int cast_and_check(verify_run *run, slab_scene *scene, slab_scene *near, far_cast *c) {
  int code = verify_status(run, cast_far(run, scene, c));
  if (code == EXIT_DONE) code = check_far(run, scene, c);
  if (code == EXIT_DONE && near != NULL) code = compare_near(run, near, c);
  free(c->results.memory);
  c->results.memory = NULL;
  return code;
}

int verify_far(verify_run *run, random_state *random, size_t n) {
  static slab_ray64 rays[RAYS_MOST];
  far_scene f = {.far = NULL};
  const bool is_wide = run->batch % 2 == 0 && run->wide[SLAB_TRAVERSAL_AUTO] != NULL;
  const slab_query query = (slab_query)(run->batch / 2 % ANSWER_QUERIES);
  slab_context *context = is_wide ? run->wide[SLAB_TRAVERSAL_AUTO] : run->compressed;
  int code = verify_status(run, make_scene(random, context, &f));
  for (size_t i = 0; i < n; i++) run->skip[i] = adversarial_skip(random);
  far_cast c = {.query = query, .n = n, .rays = rays, .options = adversarial_options(random, run->skip)};
  if (code == EXIT_DONE) code = verify_status(run, far_scene_rays(&f, n, run->rays, rays));
  if (code == EXIT_DONE) code = cast_and_check(run, f.far, f.near, &c);
  if (code == EXIT_DONE) code = check_points(run, f.far, rays, n);
  for (size_t i = 0; i < n; i++) rays[i] = from_afar(random, &rays[i]);
  if (code == EXIT_DONE) code = cast_and_check(run, f.far, NULL, &c);
  run->tally->met[is_wide ? LAYOUT_WIDE : LAYOUT_COMPRESSED] += n;
  far_scene_close(&f);
  return code;
}
