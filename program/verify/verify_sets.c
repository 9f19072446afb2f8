/* Sets of rays: every query against the same rays from an array, and sums over rows against their definition. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "program/verify/verify.h"
#include "sets/adversarial.h"
#include "sets/sums.h"

enum { SET_RAYS = 4096, BINS = 9 }; /* rays of a batch at most */

/* Numbers of adversarial rays, as tables. */
typedef struct set_tables {
  float origins[3 * SET_RAYS], directions[3 * SET_RAYS], beams[6 * SET_RAYS], poses[12 * SET_RAYS], weights[SET_RAYS];
} set_tables;

static void fill_tables(random_state *random, const adversarial *w, size_t n, set_tables *t) {
  for (size_t i = 0; i < n; i++) {
    const slab_ray ray = adversarial_ray(random, w), other = adversarial_ray(random, w);
    memcpy(t->origins + 3 * i, ray.origin, sizeof ray.origin);
    memcpy(t->directions + 3 * i, ray.direction, sizeof ray.direction);
    memcpy(t->beams + 6 * i, i % 3 == 0 ? ray.origin : (float[3]){0}, sizeof ray.origin);
    memcpy(t->beams + 6 * i + 3, ray.direction, sizeof ray.direction);
    for (int k = 0; k < 3; k++) {
      const float row[4] = {(float)(k == 0), (float)(k == 1), (float)(k == 2), other.origin[k]};
      memcpy(t->poses + 12 * i + 4 * k, row, sizeof row);
    }
    if (i % 2 != 0) memcpy(t->poses + 12 * i, other.direction, sizeof other.direction);
    t->weights[i] = random_below(random, 4) == 0 ? 0.0f : random_between(random, 0.0f, 100.0f);
  }
}

/* Each kind in turn; directions with normals and without. */
static slab_rays set_of(const verify_run *run, const set_tables *t, uint32_t rows, uint32_t columns) {
  slab_camera camera;
  memcpy(camera.origin, t->origins, sizeof camera.origin);
  memcpy(camera.forward, t->directions, sizeof camera.forward);
  memcpy(camera.right, t->directions + 3, sizeof camera.right);
  memcpy(camera.up, t->directions + 6, sizeof camera.up);
  slab_rays set = slab_rays_directions(t->origins, rows, t->directions, columns);
  switch (run->batch % 7) {
    case 0:
      return slab_rays_pinhole(&camera, columns, rows);
    case 1:
      return slab_rays_orthographic(&camera, columns, rows);
    case 2:
      return slab_rays_fisheye(&camera, columns, rows, 180.0f);
    case 3:
      return slab_rays_beams(t->poses, rows, t->beams, columns);
    case 4:
      return slab_rays_pairs(t->origins, rows, t->origins, columns);
    case 5:
      set.normals = t->directions;
      return set;
    default:
      return set;
  }
}

/* ---- sums ---- */

typedef struct summed {
  slab_query query;
  slab_results results;
} summed;

static int compare_sums(verify_run *run, const summed *s, const slab_rays *set, const void *results) {
  enum { LARGEST = SET_RAYS / 8 + 64 };
  const size_t size = sums_size(&s->results, set->columns), each = slab_result_size(s->query);
  unsigned char want[LARGEST];
  for (uint32_t row = 0; row < set->rows; row++) {
    const size_t first = (size_t)row * set->columns;
    sums_of(&s->results, s->query, run->rays + first, set->columns, (const char *)results + first * each, want);
    if (!sums_same(&s->results, set->columns, want, (const char *)s->results.memory + row * size))
      verify_fail(run, 1, &run->rays[first], "row %u of %u rays: the sum of type %d is not that of its rays", row,
                  set->columns, (int)s->results.type);
  }
  return EXIT_DONE;
}

static int verify_sums(verify_run *run, slab_scene *scene, const slab_rays *set, const float *weights, size_t n) {
  static uint64_t space[SET_RAYS * sizeof(slab_sum) / sizeof(uint64_t)];
  const summed all[] = {
      {SLAB_ANY, {.type = SLAB_RESULT_SUMS, .weights = weights}},
      {SLAB_DISTANCE, {.type = SLAB_RESULT_SUMS}},
      {SLAB_ANY, {.type = SLAB_RESULT_BITS}},
      {SLAB_DISTANCE, {.type = SLAB_RESULT_HISTOGRAM, .bins = BINS, .t_from = -1.0f, .t_to = 3.5f}},
  };
  const slab_source source = {.set = set, .n = n};
  int code = EXIT_DONE;
  for (size_t i = 0; code == EXIT_DONE && i < sizeof all / sizeof *all; i++) {
    summed s = all[i];
    s.results.memory = space;
    slab_status status = answers_cast(&run->answers, s.query, scene, run->rays, n, NULL);
    if (status == SLAB_OK) status = slab_cast(scene, s.query, &source, &s.results, NULL);
    code =
        status == SLAB_OK ? compare_sums(run, &s, set, answers_of(&run->answers, s.query)) : verify_status(run, status);
  }
  return code;
}

/* ---- the step ---- */

static int compare_answers(verify_run *run, slab_scene *scene, slab_query query, const slab_rays *set, size_t n,
                           const slab_cast_options *options) {
  size_t first = 0;
  slab_status status = answers_cast(&run->answers, query, scene, run->rays, n, options);
  if (status == SLAB_OK) status = answers_cast_set(&run->others, query, scene, set, 0, n, options);
  if (status != SLAB_OK) return verify_status(run, status);
  const size_t differing = answers_differ(&run->others, &run->answers, query, &first);
  if (differing > 0)
    verify_fail(run, differing, &run->rays[first], "%s of a set is not that of the same ray from an array",
                answer_name(query));
  if (run->others.invalid[query] != run->answers.invalid[query])
    verify_fail(run, 1, NULL, "a set has another number of invalid rays than an array of them");
  run->tally->cases += n;
  return EXIT_DONE;
}

int verify_sets(verify_run *run, random_state *random, size_t n) {
  static set_tables tables;
  const uint32_t rows = 1 + random_below(random, n < 60 ? (uint32_t)n : 60), columns = (uint32_t)n / rows;
  const slab_query query = (slab_query)(run->batch / 7 % ANSWER_QUERIES);
  const size_t rays = (size_t)rows * columns;
  slab_scene *scene = NULL;
  adversarial w;
  slab_status status = verify_adversarial(run, random, verify_layout_at(run, run->batch), n, &w, &scene);
  if (status == SLAB_OK) fill_tables(random, &w, n, &tables);
  for (size_t i = 0; i < n; i++) run->skip[i] = adversarial_skip(random);
  const slab_rays set = set_of(run, &tables, rows, columns);
  const slab_cast_options options = adversarial_options(random, run->skip);
  if (status == SLAB_OK) status = slab_rays_write(run->context, &set, 0, rays, run->rays);
  int code = verify_status(run, status);
  if (code == EXIT_DONE) code = compare_answers(run, scene, query, &set, rays, &options);
  if (code == EXIT_DONE) code = verify_sums(run, scene, &set, tables.weights, rays);
  slab_scene_destroy(scene);
  return code;
}
