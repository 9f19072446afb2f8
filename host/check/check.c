/* slab_check, slab_check_cast: compare the results of a cast with the CPU reference, bit by bit, and have the oracle
 * judge them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/moved.h"
#include "base/status.h"
#include "check/comparison.h"
#include "check/oracle_far.h"
#include "check/reference_far.h"
#include "device/context.h"
#include "scene/scene.h"
#include "work/uniforms.h"

/* Inputs of one comparison. */
typedef struct check {
  compared all;
  slab_query query;
  slab_source source; /* of one array of rays, or none */
  bool is_far;        /* the rays are of the world, and others are cast */
  const void *results;
  size_t stride;
  const uint64_t *offsets;
  const slab_cast_options *options;
  cast_uniforms uniforms;
} check;

/* One ray's comparison. */
typedef struct asked {
  size_t i;
  const slab_ray *ray;        /* as it is cast */
  const reference_line *line; /* NULL: as it is given */
  ray_own own;
  const reference_answer *answer;
} asked;

/* A result of any type. */
typedef union any_result {
  slab_hit hit;
  slab_hit64 hit64;
  slab_short_hit short_hit;
  slab_short_hit64 short_hit64;
  slab_interval interval;
  slab_interval64 interval64;
  double distance64;
  float distance;
  uint32_t count;
  uint8_t any;
} any_result;

/* ---- comparing ---- */

/* Whether ray i's list has as many hits as the CPU reference's and lies inside the array, whose size is the last
 * offset. */
static bool list_fits(const check *c, size_t i, uint64_t count) {
  return c->offsets[i] <= c->offsets[i + 1] && c->offsets[i + 1] <= c->offsets[c->all.n] &&
         c->offsets[i + 1] - c->offsets[i] == count;
}

/* The number of a ray's results: its hits, or one. */
static uint32_t results_of(const check *c, const asked *a) { return c->query == SLAB_ALL ? a->answer->count : 1; }

/* Result k of a ray, and what it should be. */
static const void *result_at(const check *c, size_t i, uint32_t k) {
  return (const char *)c->results + (c->query == SLAB_ALL ? c->offsets[i] + k : i) * c->stride;
}

static any_result told(const check *c, const asked *a, uint32_t k) {
  any_result want;
  reference_tell(c->query, a->line, a->answer, k, &want);
  return want;
}

/* The first of a ray's results that differs; results_of where none does. */
static uint32_t first_other(const check *c, const asked *a) {
  const size_t size = reference_size(c->query, a->line);
  const uint32_t n = results_of(c, a);
  for (uint32_t k = 0; k < n; k++) {
    const any_result want = told(c, a, k);
    if (memcmp(result_at(c, a->i, k), &want, size) != 0) return k;
  }
  return n;
}

/* ---- naming a difference ---- */

/* A result as words: doubles first, then those of four bytes. */
typedef struct members {
  const char *const *names;
  size_t doubles, words, primitive_at; /* the index of the primitive among the words */
} members;

static const char *const hit_names[] = {"t", "normal[0]", "normal[1]", "normal[2]", "u", "v", "primitive", "geometry"};
static const char *const short_names[] = {"t", "primitive", "geometry"};
static const char *const interval_names[] = {"enter", "leave", "primitive", "geometry"};
static const char *const hit64_names[] = {"t", "normal[0]", "normal[1]", "normal[2]", "u",
                                          "v", "primitive", "geometry",  "order"};
static const char *const short64_names[] = {"t", "primitive", "geometry", "order", "zero"};
static const members members_of[SLAB_QUERY_COUNT][2] = {
    [SLAB_CLOSEST] = {{hit_names, 0, 8, 6}, {hit64_names, 1, 8, 5}},
    [SLAB_ALL] = {{hit_names, 0, 8, 6}, {hit64_names, 1, 8, 5}},
    [SLAB_INTERVAL] = {{interval_names, 0, 4, 2}, {interval_names, 2, 2, 0}},
    [SLAB_NEAREST] = {{short_names, 0, 3, 1}, {short64_names, 1, 4, 0}},
    [SLAB_DISTANCE] = {{NULL, 0, 0, 0}, {short_names, 1, 0, 0}},
};

static void describe_result(const check *c, const asked *a, uint32_t k, char *text, size_t size) {
  const bool doubles = a->line != NULL && a->line->doubles;
  const members *m = &members_of[c->query][doubles];
  const any_result want = told(c, a, k);
  any_result got = want;
  memcpy(&got, result_at(c, a->i, k), reference_size(c->query, a->line));
  const char *x = (const char *)&got, *y = (const char *)&want;
  if (c->query == SLAB_ANY)
    snprintf(text, size, "ray %zu: occluded is %u, the CPU reference has %u", a->i, got.any, want.any);
  else if (c->query == SLAB_COUNT)
    snprintf(text, size, "ray %zu: count is %u, the CPU reference has %u", a->i, got.count, want.count);
  else if (c->query == SLAB_DISTANCE && !doubles)
    describe_float(text, size, "ray", "t", a->i, &got.distance, &want.distance);
  else if (!describe_doubles(text, size, "ray", a->i, m->names, x, y, m->doubles))
    describe_words(text, size, "ray", a->i, m->names + m->doubles, x + m->doubles * sizeof(double),
                   y + m->doubles * sizeof(double), m->words, m->primitive_at);
}

static void describe(const check *c, const asked *a, uint32_t k, char *text, size_t size) {
  if (c->query == SLAB_ALL && !list_fits(c, a->i, a->answer->count)) {
    snprintf(text, size, "ray %zu: hits from %llu to %llu of %llu, the CPU reference has %u", a->i,
             (unsigned long long)c->offsets[a->i], (unsigned long long)c->offsets[a->i + 1],
             (unsigned long long)c->offsets[c->all.n], a->answer->count);
    return;
  }
  const int length = c->query == SLAB_ALL ? snprintf(text, size, "hit %u of ", k) : 0;
  describe_result(c, a, k, text + length, size - (size_t)length);
}

/* Whether the result is the CPU reference's. */
static bool compare_with_reference(const check *c, const asked *a, slab_check_report *report) {
  const bool fits = c->query != SLAB_ALL || list_fits(c, a->i, a->answer->count);
  const uint32_t k = fits ? first_other(c, a) : 0;
  if (fits && k == results_of(c, a)) return true;
  if (is_first(report)) {
    report->first = a->i;
    describe(c, a, k, report->text, sizeof report->text);
  }
  report->mismatches++;
  return false;
}

/* ---- the oracle ---- */

/* The answer as the query has it. */
static const void *answer_of(slab_query query, const reference_answer *m) {
  switch (query) {
    case SLAB_CLOSEST:
      return &m->closest;
    case SLAB_DISTANCE:
      return &m->distance;
    case SLAB_ANY:
      return &m->any;
    case SLAB_COUNT:
      return &m->count;
    case SLAB_INTERVAL:
      return &m->interval;
    case SLAB_NEAREST:
      return &m->nearest;
    case SLAB_ALL:
      break;
  }
  return m->all;
}

/* The hit that a result of a ray of doubles reports. false: there is none to judge. */
static bool claim_of(const check *c, const asked *a, uint32_t k, far_claim *claim) {
  any_result got;
  memcpy(&got, result_at(c, a->i, k), reference_size(c->query, a->line));
  const slab_short_hit *nearest = &a->answer->nearest;
  if (c->query == SLAB_CLOSEST || c->query == SLAB_ALL)
    *claim = (far_claim){got.hit64.t, got.hit64.order, {got.hit64.primitive, got.hit64.geometry}};
  else if (c->query == SLAB_NEAREST)
    *claim =
        (far_claim){got.short_hit64.t, got.short_hit64.order, {got.short_hit64.primitive, got.short_hit64.geometry}};
  else if (c->query == SLAB_DISTANCE)
    *claim = (far_claim){got.distance64, nearest->t, {nearest->primitive, nearest->geometry}};
  else
    return false;
  return claim->id.primitive < SLAB_INVALID;
}

/* The worst of the hits of a ray of doubles. */
static oracle_judgement judge_world(const check *c, const asked *a, char *why, size_t size) {
  const slab_scene_stats *stats = &c->all.scene->stats;
  oracle_judgement worst = ORACLE_RIGHT;
  far_claim claim;
  if (!a->line->doubles) return worst;
  for (uint32_t k = 0; k < results_of(c, a) && worst != ORACLE_WRONG; k++) {
    if (!claim_of(c, a, k, &claim)) continue;
    const oracle_judgement one =
        oracle_judge_far(c->all.judge.scene, stats->origin, a->line, &claim, c->options, why, size);
    if (one != ORACLE_RIGHT) worst = one;
  }
  return worst;
}

/* Rays of the world: the float ray's answer is judged as others are, and then each t of the result. */
static oracle_judgement judge_far(const check *c, const asked *a, bool same, char *why, size_t size) {
  const uint64_t n = results_of(c, a);
  const oracle_judgement near = !same ? ORACLE_RIGHT
                                      : oracle_judge(c->all.judge.scene, c->query, a->ray,
                                                     answer_of(c->query, a->answer), n, &a->own, c->options, why, size);
  if (near == ORACLE_WRONG || near == ORACLE_NO_MEMORY) return near;
  const oracle_judgement world = judge_world(c, a, why, size);
  return world == ORACLE_RIGHT ? near : world;
}

static oracle_judgement judge_near(const check *c, const asked *a, char *why, size_t size) {
  const uint64_t n = c->query == SLAB_ALL ? c->offsets[a->i + 1] - c->offsets[a->i] : 1;
  any_result one;
  const void *results = &one;
  if (c->query != SLAB_ALL)
    memcpy(&one, result_at(c, a->i, 0), reference_size(c->query, NULL));
  else
    results = c->results == NULL ? NULL : result_at(c, a->i, 0); /* no ray has a hit */
  return oracle_judge(c->all.judge.scene, c->query, a->ray, results, n, &a->own, c->options, why, size);
}

/* Returns false when memory runs out. */
static bool compare_with_oracle(const check *c, const asked *a, bool same, slab_check_report *report) {
  char why[384] = "";
  const oracle_judgement judgement =
      c->is_far ? judge_far(c, a, same, why, sizeof why) : judge_near(c, a, why, sizeof why);
  return count_judgement(&c->all, a->i, judgement, why, report);
}

/* ---- one ray ---- */

static reference_line line_of(const check *c, size_t i) {
  const snapshot *s = c->all.scene;
  return c->source.rays64 != NULL ? reference_line_of(&s->stats, s->unbounded, &c->source.rays64[i])
                                  : reference_line_of_floats(&s->stats, s->unbounded, &c->source.rays[i]);
}

static bool compare_ray(const compared *all, size_t i, reference_answer *m, slab_check_report *report,
                        uint64_t *invalid) {
  const check *c = (const check *)all;
  asked a = {.i = i, .own = ray_own_of(c->options, i), .answer = m};
  reference_line line;
  if (c->is_far) {
    line = line_of(c, i);
    a.line = &line;
  }
  a.ray = c->is_far ? &line.ray : &c->source.rays[i];
  if (!reference_cast(all->scene, &c->uniforms, c->query, a.ray, &a.own, m)) return false;
  const bool same = compare_with_reference(c, &a, report);
  *invalid += m->invalid;
  const bool readable = c->query != SLAB_ALL || list_fits(c, i, m->count);
  return !readable || !is_judged(all, i) || compare_with_oracle(c, &a, same, report);
}

/* ---- the calls ---- */

static slab_status check_arguments(const slab_scene *scene, const check *c, const slab_check_report *report) {
  const size_t n = c->all.n;
  const slab_source *s = &c->source;
  const char *function = c->all.function;
  const char *missing = scene == NULL                                                                ? "scene"
                        : report == NULL                                                             ? "report"
                        : n > 0 && s->rays == NULL && s->rays64 == NULL && s->set == NULL            ? "rays"
                        : c->query == SLAB_ALL && c->offsets == NULL                                 ? "offsets"
                        : n > 0 && c->results == NULL && (c->query != SLAB_ALL || c->offsets[n] > 0) ? "results"
                                                                                                     : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "%s: %s is NULL", function, missing);
  if ((unsigned)c->query >= SLAB_QUERY_COUNT)
    return fail(SLAB_INVALID_ARGUMENT, "%s: query is %d, not a slab_query", function, (int)c->query);
  slab_status status = scene_check(scene, function);
  if (status != SLAB_OK || c->options == NULL) return status;
  status = check_rules(function, c->options->cull, c->options->edges);
  return status == SLAB_OK ? check_own_rays(function, c->query, n, c->options) : status;
}

/* The checks that need the scene. */
static slab_status check_in_scene(check *c, const snapshot *scene) {
  const slab_cast_options *o = c->options;
  c->is_far = c->source.rays64 != NULL || (c->source.set == NULL && is_moved(scene->stats.origin));
  if (o == NULL) return SLAB_OK;
  if (c->is_far && c->source.rays64 == NULL && o->after != NULL)
    return fail(SLAB_UNSUPPORTED, "%s: after, in a scene whose origin is not 0, with rays that are not of doubles",
                c->all.function);
  return check_worlds(c->all.function, scene, c->all.n, o->worlds);
}

/* Rows of points or poses, 3 or 12 floats, less the origin, which takes a place in each column of four. */
static float *rows_near(const float *rows, size_t n, size_t each, const double origin[3]) {
  float *near = malloc(n * each * sizeof *near + 1);
  for (size_t i = 0; near != NULL && i < n * each; i++) {
    const size_t k = i % each;
    if (each == 3) near[i] = (float)(rows[i] - origin[k]);
    if (each == 12) near[i] = k % 4 == 3 ? (float)(rows[i] - origin[k / 4]) : rows[i];
  }
  return near;
}

/* Writes the rays of a set, which then count from the scene's origin. */
static slab_status write_near(const snapshot *scene, const slab_source *s, slab_ray *rays) {
  double origin[3];
  const bool has_places = s->set->kind == SLAB_RAYS_BEAMS || s->set->kind == SLAB_RAYS_DIRECTIONS,
             has_pairs = s->set->kind == SLAB_RAYS_PAIRS;
  slab_rays near = *s->set;
  float *rows = NULL, *columns = NULL;
  for (int k = 0; k < 3; k++) {
    origin[k] = scene->stats.origin[k] - near.offset[k];
    near.offset[k] = 0.0;
  }
  for (int k = 0; k < 3; k++) near.camera.origin[k] = (float)(near.camera.origin[k] - origin[k]);
  if (has_places || has_pairs) {
    rows = rows_near(near.of_rows, near.rows, s->set->kind == SLAB_RAYS_BEAMS ? 12 : 3, origin);
    near.of_rows = rows;
  }
  if (has_pairs) {
    columns = rows_near(near.of_columns, near.columns, 3, origin);
    near.of_columns = columns;
  }
  const bool short_of = ((has_places || has_pairs) && rows == NULL) || (has_pairs && columns == NULL);
  const slab_status status =
      short_of ? fail_memory(0, "the tables of a set") : slab_rays_write(scene->context, &near, s->first, s->n, rays);
  free(rows);
  free(columns);
  return status;
}

/* The rays of a set, as an array. */
static slab_status make_rays(check *c, const snapshot *scene, slab_ray **rays) {
  const slab_source *s = &c->source;
  if (s->set == NULL) return SLAB_OK;
  slab_status status = slab_rays_write(scene->context, s->set, s->first, 0, NULL); /* sets the message */
  if (status != SLAB_OK) return status;
  *rays = malloc(s->n * sizeof **rays + 1);
  if (*rays == NULL) return fail_memory(s->n * sizeof **rays, "rays");
  status = write_near(scene, s, *rays);
  c->source.rays = *rays;
  return status;
}

static slab_status check_source(slab_scene *scene, check *c, slab_check_report *report) {
  scene_reading reading;
  slab_ray *rays = NULL;
  slab_status status = check_arguments(scene, c, report);
  if (status == SLAB_OK) status = scene_enter(scene, c->all.function, &reading);
  if (status != SLAB_OK) return status;
  status = check_in_scene(c, reading.scene);
  if (status == SLAB_OK) status = make_rays(c, reading.scene, &rays);
  if (status != SLAB_OK) {
    scene_leave(&reading);
    free(rays);
    return status;
  }
  if (c->options != NULL) compared_tells(&c->all, c->options->progress, c->options->user, c->options->invalid);
  cast_uniforms_of(reading.scene, c->query, c->options, &c->uniforms);
  status = compare_all(&c->all, &reading, report);
  free(rays);
  return status;
}

slab_status slab_check(slab_scene *scene, slab_query query, const slab_ray *rays, size_t n, const void *results,
                       const uint64_t *offsets, const slab_cast_options *options, slab_check_report *report) {
  ARITHMETIC callers = arithmetic_begin();
  check c = {.all = {.function = "slab_check", .noun = "ray", .one = compare_ray, .n = n, .callers = &callers},
             .query = query,
             .source = {.rays = rays, .n = n},
             .results = results,
             .stride = slab_result_size(query),
             .offsets = offsets,
             .options = options};
  return check_source(scene, &c, report);
}

/* Refuses the arguments that slab_cast would refuse, and sums. */
static slab_status check_told(slab_query query, const slab_source *s, const slab_results *r) {
  const char *missing = s == NULL ? "source" : r == NULL ? "results" : NULL;
  if (missing != NULL) return fail(SLAB_INVALID_ARGUMENT, "slab_check_cast: %s is NULL", missing);
  const size_t size = s->rays64 != NULL ? slab_result_size64(query) : slab_result_size(query);
  if (s->reserved != NULL)
    return fail(SLAB_INVALID_ARGUMENT, "slab_check_cast: the reserved place of the source is not NULL");
  if ((s->set != NULL) + (s->rays != NULL) + (s->rays64 != NULL) > 1)
    return fail(SLAB_INVALID_ARGUMENT, "slab_check_cast: the source has more than one of rays, rays64 and set");
  if (r->type != SLAB_RESULT_RAYS)
    return fail(SLAB_UNSUPPORTED, "slab_check_cast: results are sums, and only those of each ray can be checked");
  if (r->stride != 0 && (query == SLAB_ALL || r->stride < size))
    return fail(SLAB_INVALID_ARGUMENT, "slab_check_cast: stride is %zu, and a result has %zu bytes", r->stride, size);
  return SLAB_OK;
}

slab_status slab_check_cast(slab_scene *scene, slab_query query, const slab_source *source, const slab_results *results,
                            const slab_cast_options *options, slab_check_report *report) {
  ARITHMETIC callers = arithmetic_begin();
  const slab_status status = check_told(query, source, results);
  if (status != SLAB_OK) return status;
  const size_t size = source->rays64 != NULL ? slab_result_size64(query) : slab_result_size(query);
  check c = {
      .all = {.function = "slab_check_cast", .noun = "ray", .one = compare_ray, .n = source->n, .callers = &callers},
      .query = query,
      .source = *source,
      .results = results->memory,
      .stride = results->stride != 0 ? results->stride : size,
      .offsets = results->offsets,
      .options = options};
  return check_source(scene, &c, report);
}
