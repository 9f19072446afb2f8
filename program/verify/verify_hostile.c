/* Invalid rays and invalid geometry: answers are defined, geometry is refused, and neither is slow. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/plural.h"
#include "program/verify/verify.h"
#include "sets/adversarial.h"
#include "sets/bvh_scenes.h"
#include "sets/timing.h"

/* ---- invalid rays: the answers ---- */

static void put(slab_ray *ray, uint32_t at, float value) {
  float *parts[8] = {&ray->origin[0],    &ray->origin[1],    &ray->origin[2], &ray->direction[0],
                     &ray->direction[1], &ray->direction[2], &ray->t_min,     &ray->t_max};
  *parts[at] = value;
}

static float sign_of(random_state *random) { return random_next(random) & 1 ? 1.0f : -1.0f; }

static void make_nan(random_state *random, slab_ray *ray) { put(ray, random_below(random, 8), NAN); }
static void make_infinite(random_state *random, slab_ray *ray) {
  put(ray, random_below(random, 6), sign_of(random) * INFINITY);
}
static void make_without_direction(random_state *random, slab_ray *ray) {
  for (uint32_t k = 3; k < 6; k++) put(ray, k, sign_of(random) * 0.0f);
}
static void make_far(random_state *random, slab_ray *ray) {
  put(ray, random_below(random, 3),
      sign_of(random) * ldexpf(1 + random_float(random), 61 + (int)random_below(random, 60)));
}

typedef void make_invalid(random_state *, slab_ray *);
static make_invalid *const spoilers[] = {make_nan, make_infinite, make_without_direction, make_far};

static int is_answered(const answers *a, size_t i) {
  static const slab_hit no_hit = {INFINITY, {0}, 0, 0, SLAB_INVALID, SLAB_INVALID};
  static const slab_interval no_interval = {INFINITY, -INFINITY, SLAB_INVALID, SLAB_INVALID};
  static const slab_short_hit no_short = {INFINITY, SLAB_INVALID, SLAB_INVALID};
  return memcmp(&a->closest[i], &no_hit, sizeof no_hit) == 0 && a->distance[i] == INFINITY && a->any[i] == 0 &&
         a->count[i] == 0 && a->offsets[i + 1] == a->offsets[i] &&
         memcmp(&a->interval[i], &no_interval, sizeof no_interval) == 0 &&
         memcmp(&a->nearest[i], &no_short, sizeof no_short) == 0;
}

int verify_invalid(verify_run *run, random_state *random, size_t n) {
  const verify_layout layout = verify_layout_at(run, run->batch);
  slab_scene *scene = NULL;
  adversarial w = adversarial_begin(random, 0);
  slab_status status = verify_scene(run, layout, &scene);
  if (status == SLAB_OK) status = adversarial_fill(random, &w, ADVERSARIAL_ALL_KINDS, ADVERSARIAL_MOST, scene);
  if (status == SLAB_OK) status = verify_commit(run, layout, SLAB_TREE_FAST, scene, n);
  for (size_t i = 0; i < n; i++) {
    run->rays[i] = adversarial_ray(random, &w);
    spoilers[random_below(random, sizeof spoilers / sizeof *spoilers)](random, &run->rays[i]);
  }
  if (status == SLAB_OK) status = answers_cast_all(&run->answers, scene, run->rays, n, NULL);
  slab_scene_destroy(scene);
  if (status != SLAB_OK) return verify_status(run, status);
  for (size_t i = 0; i < n; i++)
    if (!is_answered(&run->answers, i)) verify_fail(run, 1, &run->rays[i], "an invalid ray is not answered as such");
  for (int q = 0; q < ANSWER_QUERIES; q++)
    if (run->answers.invalid[q] != n)
      verify_fail(run, 1, NULL, "%s counts %llu invalid %s of %zu", answer_name((slab_query)q),
                  (unsigned long long)run->answers.invalid[q], plural(run->answers.invalid[q], "ray", "rays"), n);
  run->tally->cases += n * ANSWER_QUERIES;
  return EXIT_DONE;
}

/* ---- invalid rays: the time ---- */

enum { TIMED_MOST = 65536, TIMED_LEAST = 2048, ROUNDS = 5 };

/* Short directions have subnormal components. Such rays equal the others except for rounding, and t stays finite. */
static void make_short(random_state *random, slab_ray *ray) {
  (void)random;
  for (int k = 0; k < 3; k++) ray->direction[k] *= 0x1p-126f;
}
static void make_zero_origin(random_state *random, slab_ray *ray) { ray->origin[random_below(random, 3)] = 0.0f; }
static void make_subnormal_origin(random_state *random, slab_ray *ray) {
  ray->origin[random_below(random, 3)] = 0x1p-130f;
}

static void make_tiny_origin(random_state *random, slab_ray *ray) { ray->origin[random_below(random, 3)] = 0x1p-100f; }

/* Classes of rays. Each is timed relative to normal rays with similar directions. If subnormal origins are slow and
 * tiny ones are not, the processor's arithmetic is the cause. Some processors restart an instruction if its operand is
 * a product that came out subnormal. */
static const struct {
  const char *figure; /* NULL: normal rays */
  make_invalid *spoil;
  int reference;
} timed[] = {{NULL, NULL, 0},
             {NULL, make_zero_origin, 1},
             {"x time for NaN", make_nan, 0},
             {"infinite", make_infinite, 0},
             {"zero direction", make_without_direction, 0},
             {"subnormal direction", make_short, 0},
             {"subnormal origin", make_subnormal_origin, 1},
             {"tiny origin", make_tiny_origin, 1}};
enum { TIMED = sizeof timed / sizeof *timed };

/* Valid rays without bounds, then changed by `spoil`. They are the same for every class. */
static void make_timed(verify_run *run, const slab_scene_stats *stats, make_invalid *spoil, size_t n) {
  random_state random = random_seed(run->seed);
  for (size_t i = 0; i < n; i++) {
    slab_ray *ray = &run->rays[i];
    *ray = bvh_scene_ray(&random, stats);
    ray->t_min = 0;
    ray->t_max = INFINITY;
    if (ray->direction[0] == 0 && ray->direction[1] == 0 && ray->direction[2] == 0) ray->direction[0] = 1;
    if (spoil) spoil(&random, ray);
  }
}

/* Processor time on a CPU device, so that other work on the machine has little effect. */
static double device_seconds(const verify_run *run) { return timing_now(run->device.type == SLAB_DEVICE_CPU); }

/* Takes the best of several rounds, in which the classes alternate. */
int verify_time_invalid(verify_run *run) {
  const size_t n = run->share > TIMED_MOST ? TIMED_MOST : run->share < TIMED_LEAST ? TIMED_LEAST : (size_t)run->share;
  double least[TIMED];
  slab_scene *scene = NULL;
  slab_scene_stats stats;
  slab_status status = slab_scene_create(run->context, &scene);
  if (status == SLAB_OK) status = bvh_scene_fill(BVH_MIXED, 2000, run->seed, scene);
  if (status == SLAB_OK) status = slab_scene_commit(scene, NULL);
  if (status == SLAB_OK) status = slab_scene_info(scene, &stats);
  for (int round = 0; status == SLAB_OK && round <= ROUNDS; round++) /* the first is a warm-up */
    for (int k = 0; status == SLAB_OK && k < TIMED; k++) {
      make_timed(run, &stats, timed[k].spoil, n);
      const double start = device_seconds(run);
      status = answers_cast(&run->answers, SLAB_CLOSEST, scene, run->rays, n, NULL);
      const double seconds = device_seconds(run) - start;
      if (round <= 1 || seconds < least[k]) least[k] = seconds;
    }
  for (int k = 0; status == SLAB_OK && k < TIMED; k++)
    if (timed[k].figure) verify_figure_add(run, FIGURE_RATIO, timed[k].figure, least[k] / least[timed[k].reference]);
  slab_scene_destroy(scene);
  return verify_status(run, status);
}

/* ---- garbage ---- */

enum { VERTICES = 64, TRIANGLES = 80, SHAPES = 16 };

/* Random bits; nine in ten have an exponent small enough to pass validation. */
static float garbage(random_state *random) {
  uint32_t bits = random_next(random);
  float value;
  if (random_below(random, 10)) bits = (bits & 0x807FFFFFu) | random_below(random, 127 + 60) << 23;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static slab_ray garbage_ray(random_state *random, const float *vertices) {
  slab_ray ray;
  for (uint32_t k = 0; k < 8; k++) put(&ray, k, garbage(random));
  if (random_below(random, 2)) {
    ray.t_min = 0;
    ray.t_max = INFINITY;
  }
  if (random_below(random, 2)) { /* aimed at a vertex */
    const float *v = vertices + (size_t)3 * random_below(random, VERTICES);
    for (int k = 0; k < 3; k++) ray.direction[k] = v[k] - ray.origin[k];
  }
  return ray;
}

/* Adds geometry. It must be accepted, or refused with a message; refused geometry must be accepted with
 * skip_invalid. */
static slab_status offer(verify_run *run, slab_scene *scene, slab_shape kind, const void *shapes, uint32_t n,
                         const slab_mesh *mesh) {
  static const slab_geometry_options drop = {.skip_invalid = 1};
  for (int dropping = 0; dropping < 2; dropping++) {
    const slab_geometry_options *options = dropping ? &drop : NULL;
    const slab_status status =
        mesh ? slab_scene_add_mesh(scene, mesh, options, NULL) : shape_add(scene, kind, shapes, n, options);
    verify_figure_add(run, FIGURE_COUNT, status == SLAB_OK ? "taken" : "refused", 1);
    run->tally->cases++;
    if (status != SLAB_INVALID_ARGUMENT || dropping) return status;
    if (!slab_message()[0]) verify_fail(run, 1, NULL, "a refusal of garbage without a message");
    snprintf(run->refusal, sizeof run->refusal, "%s", slab_message());
  }
  return SLAB_OK;
}

static slab_status offer_mesh(verify_run *run, random_state *random, slab_scene *scene, float vertices[3 * VERTICES]) {
  uint32_t indices[3 * TRIANGLES];
  const uint32_t triangles = 1 + random_below(random, TRIANGLES);
  for (int i = 0; i < 3 * VERTICES; i++) vertices[i] = garbage(random);
  for (uint32_t i = 0; i < 3 * triangles; i++)
    indices[i] = random_below(random, 200) ? random_below(random, VERTICES) : random_next(random);
  const slab_mesh mesh = {vertices, 0, VERTICES, indices, triangles, NULL};
  return offer(run, scene, SLAB_TRIANGLE, NULL, 0, &mesh);
}

/* Random bits for the numbers that the kind allows. Most oriented boxes keep valid axes. */
static slab_status offer_shapes(verify_run *run, random_state *random, slab_scene *scene, slab_shape kind) {
  const size_t floats = shape_floats(kind);
  const uint32_t n = 1 + random_below(random, SHAPES);
  float shapes[SHAPES * SHAPE_FLOATS_MOST];
  const adversarial w = adversarial_begin(random, 1);
  for (uint32_t i = 0; i < n; i++) {
    float shape[SHAPE_FLOATS_MOST] = {0};
    adversarial_shape(random, kind, &w, shape);
    const size_t kept = kind == SLAB_OBB && random_below(random, 8) ? 6 : floats;
    for (size_t k = 0; k < kept; k++) shape[k] = garbage(random);
    for (size_t k = 0; k < kept; k++)
      if ((shape_sizes(kind) >> k & 1) != 0) shape[k] = fabsf(shape[k]);
    memcpy(shapes + i * floats, shape, floats * sizeof *shapes);
  }
  return offer(run, scene, kind, shapes, n, NULL);
}

int verify_garbage(verify_run *run, random_state *random, size_t n) {
  const slab_query query = (slab_query)(run->batch / LAYOUTS % ANSWER_QUERIES);
  const verify_layout layout = verify_layout_at(run, run->batch);
  float vertices[3 * VERTICES];
  slab_scene *scene = NULL;
  slab_status status = verify_scene(run, layout, &scene);
  if (status == SLAB_OK) status = offer_mesh(run, random, scene, vertices);
  for (int kind = 0; status == SLAB_OK && kind < SHAPE_KINDS; kind++)
    if (kind != SLAB_TRIANGLE) status = offer_shapes(run, random, scene, (slab_shape)kind);
  if (status == SLAB_OK) status = verify_commit(run, layout, SLAB_TREE_FAST, scene, n);
  for (size_t i = 0; i < n; i++) run->rays[i] = garbage_ray(random, vertices);
  if (status == SLAB_OK) status = answers_cast(&run->answers, query, scene, run->rays, n, NULL);
  int code = verify_status(run, status);
  if (code == EXIT_DONE && run->extremes) code = verify_check(run, scene, query, &run->answers, n, NULL, 0);
  slab_scene_destroy(scene);
  return code;
}
