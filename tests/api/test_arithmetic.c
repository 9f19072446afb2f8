/* In whatever floating-point mode the caller's thread is (modes.h), the library gives the same bytes, and leaves the
 * thread in that mode. */
#include <stdlib.h>
#include <string.h>

#include "harness.h"
#include "modes.h"
#include "sets/adversarial.h"
#include "sets/answers.h"

/* Shapes of each kind: adversarial ones, then some so small that products of their sizes are subnormal. There are
 * enough spheres that several threads add them, and enough shapes in all that several threads build the BVH. */
enum { ADVERSARIAL = 40, SMALL = 600, SPHERES = 5000, RAYS = 64, TREES = 4, KINDS = 5 };
#define SIZE 0x1p-63f

typedef struct world {
  slab_context *context, *compressed;
  slab_plane planes[ADVERSARIAL];
  slab_sphere spheres[SPHERES];
  slab_box boxes[ADVERSARIAL + SMALL];
  slab_obb obbs[ADVERSARIAL + SMALL];
  slab_triangle triangles[ADVERSARIAL + SMALL];
  slab_ray rays[RAYS];
} world;

/* Makes the call in a thread that is in mode m. */
#define IN_MODE(call) (mode_set(m), (void)(call), assert_holds(m, #call))
#define OK_IN_MODE(call)                                     \
  do {                                                       \
    slab_status got;                                         \
    IN_MODE(got = (call));                                   \
    harness_status(got, SLAB_OK, #call, __FILE__, __LINE__); \
  } while (0)

static void assert_holds(const mode *m, const char *call) {
  const bool holds = mode_holds(m);
  mode_end();
  if (!holds) fail_msg("%s: another mode after %s", m->name, call);
}

/* ---- the inputs ----------------------- */

static void small_point(random_state *random, float point[3]) {
  for (int i = 0; i < 3; i++) point[i] = SIZE * random_between(random, -1, 1);
}

static void small_shapes(random_state *random, world *w) {
  static const slab_obb turned = {.axes = {{0.6f, 0.8f, 0}, {-0.8f, 0.6f, 0}, {0, 0, 1}}};
  for (int i = ADVERSARIAL; i < SPHERES; i++) {
    small_point(random, w->spheres[i].center);
    w->spheres[i].radius = SIZE * random_between(random, 0, 0.05f);
  }
  for (int i = ADVERSARIAL; i < ADVERSARIAL + SMALL; i++) {
    slab_box *box = &w->boxes[i];
    slab_obb *obb = &w->obbs[i];
    slab_triangle *triangle = &w->triangles[i];
    *obb = turned;
    small_point(random, box->lower);
    small_point(random, obb->center);
    small_point(random, triangle->a);
    for (int k = 0; k < 3; k++) {
      box->upper[k] = box->lower[k] + SIZE * random_between(random, 0, 0.1f);
      obb->half_size[k] = SIZE * random_between(random, 0, 0.05f);
      triangle->b[k] = triangle->a[k] + SIZE * random_between(random, -0.2f, 0.2f);
      triangle->c[k] = triangle->a[k] + SIZE * random_between(random, -0.2f, 0.2f);
    }
  }
}

static void adversarial_shapes(world *w, adversarial *with, random_state *random) {
  struct {
    void *values;
    size_t size;
  } const kinds[KINDS] = {[SLAB_PLANE] = {w->planes, sizeof *w->planes},
                          [SLAB_SPHERE] = {w->spheres, sizeof *w->spheres},
                          [SLAB_BOX] = {w->boxes, sizeof *w->boxes},
                          [SLAB_OBB] = {w->obbs, sizeof *w->obbs},
                          [SLAB_TRIANGLE] = {w->triangles, sizeof *w->triangles}};
  for (uint32_t i = 0; i < ADVERSARIAL; i++)
    for (int kind = 0; kind < KINDS; kind++) {
      float shape[SHAPE_FLOATS_MOST];
      adversarial_shape(random, (slab_shape)kind, with, shape);
      if (i % KINDS == (uint32_t)kind) adversarial_know(with, i, shape);
      memcpy((char *)kinds[kind].values + i * kinds[kind].size, shape, kinds[kind].size);
    }
}

/* Adversarial rays, and rays at the small shapes that start among and around them. */
static void fill_rays(world *w, const adversarial *with, random_state *random, random_state *numbers) {
  for (int i = 0; i < RAYS; i++) {
    slab_ray *ray = &w->rays[i];
    float from[3], to[3];
    *ray = (slab_ray){.t_max = INFINITY};
    small_point(numbers, from);
    small_point(numbers, to);
    for (int k = 0; k < 3; k++) {
      ray->origin[k] = (float)(i % 4) * from[k];
      ray->direction[k] = to[k] - from[k];
      if (i % 2 == 0) ray->direction[k] *= 1 / SIZE;
    }
    if (i % 5 == 0) *ray = adversarial_ray(random, with);
  }
}

/* Opened by a thread in this mode. */
static world *world_begin(const mode *m) {
  static world w;
  random_state numbers = harness_seeded("arithmetic");
  random_state random = harness_seeded("arithmetic, wild");
  const slab_context_options wide = {.lane_width = harness_width()},
                             compressed = {.lane_width = harness_width(), .layout = SLAB_LAYOUT_COMPRESSED};
  adversarial with = adversarial_begin(&random, 1);
  adversarial_shapes(&w, &with, &random);
  small_shapes(&numbers, &w);
  fill_rays(&w, &with, &random, &numbers);
  OK_IN_MODE(slab_context_create(&wide, &w.context));
  OK_IN_MODE(slab_context_create(&compressed, &w.compressed));
  return &w;
}

static void world_end(world *w) {
  slab_context_destroy(w->context);
  slab_context_destroy(w->compressed);
}

/* ---- the outputs --------- */

typedef struct outcome {
  unsigned char *packed[TREES]; /* one for each build quality */
  size_t packed_size[TREES];
  float lower[3], upper[3];
  answers answers;
  slab_hit compressed[RAYS];
  slab_interval pairs[KINDS][ADVERSARIAL];
  slab_check_report reports[ANSWER_QUERIES];
  slab_camera camera;
  slab_ray seen[64], segment, segments;
  slab_plane plane;
  float point[3];
  slab_ray moved[2];
  double located[6], rounding;
  float rounded[6];
} outcome;

static slab_scene *fill_scene(const mode *m, const world *w, slab_context *context, bool small) {
  const uint32_t n = small ? ADVERSARIAL + SMALL : ADVERSARIAL;
  const slab_geometry_options drop = {.skip_invalid = 1};
  const slab_mesh mesh = {.vertices = w->triangles[0].a, .vertex_count = 3 * n, .triangle_count = n};
  slab_scene *scene = NULL;
  OK_IN_MODE(slab_scene_create(context, &scene));
  OK_IN_MODE(slab_scene_add_planes(scene, w->planes, ADVERSARIAL, &drop, NULL));
  OK_IN_MODE(slab_scene_add_spheres(scene, w->spheres, small ? SPHERES : ADVERSARIAL, &drop, NULL));
  OK_IN_MODE(slab_scene_add_boxes(scene, w->boxes, n, &drop, NULL));
  OK_IN_MODE(slab_scene_add_obbs(scene, w->obbs, n, &drop, NULL));
  OK_IN_MODE(slab_scene_add_mesh(scene, &mesh, &drop, NULL));
  return scene;
}

static void pack(const mode *m, const slab_scene *scene, slab_context *context, int tree, outcome *o) {
  OK_IN_MODE(slab_scene_pack(scene, NULL, 0, &o->packed_size[tree]));
  o->packed[tree] = harness_space(o->packed_size[tree]);
  memset(o->packed[tree], 0, o->packed_size[tree]);
  OK_IN_MODE(slab_scene_pack(scene, o->packed[tree], o->packed_size[tree], &o->packed_size[tree]));
  slab_scene *again = NULL;
  OK_IN_MODE(slab_scene_unpack(context, o->packed[tree], o->packed_size[tree], &again));
  slab_scene_destroy(again);
}

static void cast_and_check(const mode *m, const world *w, slab_scene *scene, outcome *o) {
  OK_IN_MODE(answers_cast_all(&o->answers, scene, w->rays, RAYS, NULL));
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    const uint64_t *offsets = q == SLAB_ALL ? o->answers.offsets : NULL;
    OK_IN_MODE(slab_check(scene, (slab_query)q, w->rays, RAYS, answers_of(&o->answers, (slab_query)q), offsets, NULL,
                          &o->reports[q]));
    if (o->reports[q].mismatches != 0) fail_msg("%s: %s", m->name, o->reports[q].text);
  }
}

static void build_and_cast(const mode *m, const world *w, outcome *o) {
  for (int tree = 0; tree < TREES; tree++) {
    const slab_build_options options = {.tree = (slab_tree)tree};
    slab_scene *scene = fill_scene(m, w, w->context, tree != SLAB_TREE_FLAT);
    OK_IN_MODE(slab_scene_commit(scene, &options));
    slab_scene_stats stats;
    assert_ok(slab_scene_info(scene, &stats));
    memcpy(o->lower, stats.lower, sizeof o->lower);
    memcpy(o->upper, stats.upper, sizeof o->upper);
    pack(m, scene, w->context, tree, o);
    if (tree == SLAB_TREE_DEFAULT) cast_and_check(m, w, scene, o);
    slab_scene_destroy(scene);
  }
  slab_scene *scene = fill_scene(m, w, w->compressed, true);
  OK_IN_MODE(slab_scene_commit(scene, NULL));
  OK_IN_MODE(slab_closest(scene, w->rays, RAYS, o->compressed, NULL));
  slab_scene_destroy(scene);
}

/* Adversarial shapes that are refused are replaced by accepted ones. */
static void cast_pairs(const mode *m, const world *w, outcome *o) {
  OK_IN_MODE(
      slab_pairs(w->context, SLAB_SPHERE, w->rays, w->spheres + ADVERSARIAL, ADVERSARIAL, o->pairs[SLAB_SPHERE]));
  OK_IN_MODE(slab_pairs(w->context, SLAB_BOX, w->rays, w->boxes, ADVERSARIAL, o->pairs[SLAB_BOX]));
  OK_IN_MODE(slab_pairs(w->context, SLAB_OBB, w->rays, w->obbs + ADVERSARIAL, ADVERSARIAL, o->pairs[SLAB_OBB]));
  OK_IN_MODE(
      slab_pairs(w->context, SLAB_TRIANGLE, w->rays, w->triangles + ADVERSARIAL, ADVERSARIAL, o->pairs[SLAB_TRIANGLE]));
}

static void use_helpers(const mode *m, outcome *o) {
  const float from[] = {0x1.234p-127f, 0x1.8p-126f, 1}, to[] = {3, 0x1p-126f, 5}, up[] = {0.1f, 1, 0.3f};
  IN_MODE(o->camera = slab_camera_look_at(from, to, up, 37, 1.3f));
  for (uint32_t i = 0; i < 64; i++) IN_MODE(o->seen[i] = slab_camera_ray(&o->camera, i, 63 - i, 97, 71));
  IN_MODE(o->segment = slab_segment(from, to));
  IN_MODE(o->plane = slab_plane_through(from, up));
  IN_MODE(slab_point_at(&o->segment, 1.0f / 3, o->point));
  const double origins[] = {0x1.234567p-130, -0x1.8p-1030, 1.0 + 0x1p-24, 1e300, -1.0 / 3, 3};
  const double directions[] = {0x1p-140, 0x1.234567p-1040, 0, 1.0 / 3, 0x1.fffffffp-127, -2.0 / 3};
  OK_IN_MODE(slab_segments(from, 0, to, 0, 1, &o->segments));
  OK_IN_MODE(slab_rays_from_doubles(origins, directions, 2, NULL, 1.0 / 3, o->moved));
  OK_IN_MODE(slab_floats_from_doubles(origins, sizeof *origins, 6, 1, o->rounded, sizeof(float), &o->rounding));
  const double corners[] = {0x1p-1030, 1.0 / 3, 0, 5, 0, 0x1.8p-1040, -1.0 / 7, 9, 2};
  const uint64_t which[] = {0, 1}, triangles[] = {0, 0};
  const float t[] = {0x1p-130f, 1.0f / 3};
  const slab_double_hits hits = {origins, directions, 1.0 / 3, corners, NULL, which, triangles, t, sizeof *t, NULL};
  OK_IN_MODE(slab_points_from_doubles(&hits, 2, o->located));
}

static outcome *outcome_of(const mode *m, const world *w) {
  outcome *o = calloc(1, sizeof *o);
  assert_non_null(o);
  build_and_cast(m, w, o);
  cast_pairs(m, w, o);
  use_helpers(m, o);
  return o;
}

static void outcome_end(outcome *o) {
  for (int tree = 0; tree < TREES; tree++) free(o->packed[tree]);
  answers_free(&o->answers);
  free(o);
}

#define SAME(member) assert_same_bits(&got->member, &want->member, 1, sizeof got->member)

static void assert_same_outcome(const outcome *got, const outcome *want) {
  SAME(seen);
  SAME(camera);
  SAME(segment);
  SAME(plane);
  SAME(point);
  SAME(moved);
  SAME(located);
  SAME(rounded);
  SAME(rounding);
  SAME(lower);
  SAME(upper);
  SAME(packed_size);
  for (int tree = 0; tree < TREES; tree++)
    assert_same_bits(got->packed[tree], want->packed[tree], got->packed_size[tree], 1);
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    size_t first;
    assert_true(answers_differ(&got->answers, &want->answers, (slab_query)q, &first) == 0);
  }
  assert_same_bits(got->compressed, want->compressed, RAYS, sizeof *got->compressed);
  for (int kind = 0; kind < KINDS; kind++)
    assert_same_bits(got->pairs[kind], want->pairs[kind], ADVERSARIAL, sizeof **got->pairs);
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    assert_int_equal(got->reports[q].oracle_rays, want->reports[q].oracle_rays);
    assert_int_equal(got->reports[q].oracle_undecided, want->reports[q].oracle_undecided);
    assert_int_equal(got->reports[q].oracle_wrong, want->reports[q].oracle_wrong);
  }
}

/* ---- the tests ---- */

/* Must run first: the threads that a driver starts inherit the mode of the thread that opens the driver. */
static void driver_opened_while_flushing_keeps_the_contract(void **state) {
  (void)state;
  world *w = world_begin(&worst_mode);
  outcome *o = outcome_of(&modes[0], w);
  outcome_end(o);
  world_end(w);
}

static void every_mode_gives_the_same_bytes(void **state) {
  (void)state;
  world *w = world_begin(&modes[0]);
  outcome *want = outcome_of(&modes[0], w);
  for (size_t i = 1; i <= mode_count; i++) {
    const mode *m = i < mode_count ? &modes[i] : &worst_mode;
    print_message("%s\n", m->name);
    outcome *got = outcome_of(m, w);
    assert_same_outcome(got, want);
    outcome_end(got);
  }
  outcome_end(want);
  world_end(w);
}

typedef struct witness {
  const mode *mode;
  int calls, kept;
} witness;

static int note_mode(void *user, uint64_t done, uint64_t total) {
  witness *w = user;
  (void)done, (void)total;
  w->calls++;
  w->kept += mode_holds(w->mode);
  return 0;
}

/* Casts give the bytes of the first mode, and progress is called in the caller's. */
static void casts_and_their_progress_in_each_mode(void **state) {
  (void)state;
  world *w = world_begin(&modes[0]);
  slab_scene *scene = fill_scene(&modes[0], w, w->context, false);
  slab_hit want[RAYS], hits[RAYS];
  uint64_t want_offsets[RAYS + 1], offsets[RAYS + 1];
  slab_check_report report;
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_closest(scene, w->rays, RAYS, want, NULL));
  assert_ok(slab_all(scene, w->rays, RAYS, want_offsets, NULL, 0, NULL, NULL));
  const uint64_t space = want_offsets[RAYS] + 1;
  slab_hit *all = harness_space(space * sizeof *all), *want_all = harness_space(space * sizeof *all);
  assert_ok(slab_all(scene, w->rays, RAYS, want_offsets, want_all, space, NULL, NULL));
  for (size_t i = 0; i < mode_count; i++) {
    const mode *m = &modes[i];
    witness seen = {.mode = m};
    const slab_cast_options options = {.progress = note_mode, .user = &seen};
    OK_IN_MODE(slab_closest(scene, w->rays, RAYS, hits, &options));
    OK_IN_MODE(slab_check(scene, SLAB_CLOSEST, w->rays, RAYS, hits, NULL, &options, &report));
    OK_IN_MODE(slab_all(scene, w->rays, RAYS, offsets, all, space, NULL, &options));
    assert_true(seen.calls >= 3); /* at least one for each call */
    assert_int_equal(seen.kept, seen.calls);
    assert_same_bits(hits, want, RAYS, sizeof *hits);
    assert_same_bits(offsets, want_offsets, RAYS + 1, sizeof *offsets);
    assert_same_bits(all, want_all, (size_t)(space - 1), sizeof *all);
  }
  free(want_all);
  free(all);
  slab_scene_destroy(scene);
  world_end(w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(driver_opened_while_flushing_keeps_the_contract),
      cmocka_unit_test(every_mode_gives_the_same_bytes),
      cmocka_unit_test(casts_and_their_progress_in_each_mode),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
