/* slab_all: offsets, capacities, and long lists of hits. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"
#include "harness.h"

#define UNTOUCHED 0xA5

enum { N = 1000 };

typedef struct world {
  slab_context *context;
  slab_scene *scene;
  slab_ray *rays;
  uint64_t offsets[N + 2], required, total;
  slab_hit *hits; /* capacity of total + 1 */
} world;

static uint64_t first_hit_of(size_t ray) {
  uint64_t first = 0;
  for (size_t i = 0; i < ray; i++) first += counting_count(i);
  return first;
}

static int open_world(void **state) {
  world *w = calloc(1, sizeof *w);
  assert_non_null(w);
  w->context = harness_context();
  w->scene = counting_scene(w->context);
  w->rays = counting_rays(N);
  w->total = first_hit_of(N);
  w->hits = malloc((w->total + 1) * sizeof *w->hits);
  assert_non_null(w->hits);
  memset(w->hits, UNTOUCHED, (w->total + 1) * sizeof *w->hits);
  memset(w->offsets, UNTOUCHED, sizeof w->offsets);
  memset(&w->required, UNTOUCHED, sizeof w->required);
  *state = w;
  return 0;
}

static int close_world(void **state) {
  world *w = *state;
  free(w->hits);
  free(w->rays);
  slab_scene_destroy(w->scene);
  slab_context_destroy(w->context);
  free(w);
  return 0;
}

static void assert_untouched(const void *bytes, size_t size) {
  for (size_t i = 0; i < size; i++) assert_int_equal(((const unsigned char *)bytes)[i], UNTOUCHED);
}

static void assert_offsets_complete(const world *w) {
  uint64_t at = 0;
  for (size_t i = 0; i < N; at += counting_count(i++)) assert_true(w->offsets[i] == at);
  assert_true(w->offsets[N] == w->total);
  assert_untouched(&w->offsets[N + 1], sizeof *w->offsets);
}

static void assert_hits_complete(const world *w) {
  for (size_t i = 0, at = 0; i < N; i++)
    for (uint32_t j = 0; j < counting_count(i); j++, at++) {
      const slab_hit want = counting_hit(i, j);
      assert_same_bits(&w->hits[at], &want, 1, sizeof want);
    }
  assert_untouched(&w->hits[w->total], sizeof *w->hits);
}

/* ---- capacity ---- */

static void capacity_zero_asks_for_offsets_and_size(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, NULL, 0, &w->required, NULL));
  assert_offsets_complete(w);
  assert_true(w->required == w->total);
}

static void capacity_zero_leaves_hits_alone(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, w->hits, 0, NULL, NULL));
  assert_offsets_complete(w);
  assert_untouched(w->hits, (w->total + 1) * sizeof *w->hits);
}

static void capacity_too_small_still_gives_offsets(void **state) {
  world *w = *state;
  const uint64_t capacities[] = {1, w->total / 2, w->total - 1};
  for (int i = 0; i < 3; i++) {
    memset(w->offsets, UNTOUCHED, sizeof w->offsets);
    w->required = 0;
    assert_status(slab_all(w->scene, w->rays, N, w->offsets, w->hits, capacities[i], &w->required, NULL),
                  SLAB_CAPACITY);
    assert_offsets_complete(w);
    assert_true(w->required == w->total);
    assert_untouched(w->hits, (w->total + 1) * sizeof *w->hits);
    char number[24];
    snprintf(number, sizeof number, "%llu", (unsigned long long)w->total);
    assert_non_null(strstr(slab_message(), number));
  }
}

static void exact_capacity_is_filled(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, w->hits, w->total, &w->required, NULL));
  assert_offsets_complete(w);
  assert_hits_complete(w);
  assert_true(w->required == w->total);
}

static void larger_capacity_is_not_touched_beyond_the_hits(void **state) {
  world *w = *state;
  assert_ok(slab_all(w->scene, w->rays, N, w->offsets, w->hits, w->total + 1, NULL, NULL));
  assert_offsets_complete(w);
  assert_hits_complete(w);
}

static void rays_without_hits_have_empty_lists(void **state) {
  world *w = *state;
  slab_ray strays[40];
  for (size_t i = 0; i < 40; i++) strays[i] = counting_ray(COUNTING_COLUMNS + i * (COUNTING_COLUMNS + 1));
  assert_ok(slab_all(w->scene, strays, 40, w->offsets, w->hits, 5, &w->required, NULL));
  for (size_t i = 0; i <= 40; i++) assert_true(w->offsets[i] == 0);
  assert_true(w->required == 0);
  assert_untouched(w->hits, 5 * sizeof *w->hits);
}

/* ---- order and number ---- */

/* Spheres, boxes and planes that a ray hits at a few common values of t. Lists must be sorted by (t, geometry,
 * primitive), and so must the first of them alone. A BVH is traversed after the planes, which are added last. */
static void check_ties(world *w, slab_tree tree) {
  slab_box boxes[30];
  slab_sphere spheres[30];
  slab_plane planes[30];
  for (int i = 0; i < 30; i++) {
    const float top = (float)(i % 3);
    boxes[i] = (slab_box){{-1, -1, -9}, {1, 1, top}};
    spheres[i] = (slab_sphere){{0, 0, top - 1.0f}, 1.0f};
    planes[i] = (slab_plane){{0, 0, 1}, top};
  }
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(w->context, &scene));
  assert_ok(slab_scene_add_spheres(scene, spheres, 30, NULL, NULL));
  assert_ok(slab_scene_add_boxes(scene, boxes, 30, NULL, NULL));
  assert_ok(slab_scene_add_planes(scene, planes, 30, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = tree}));
  const slab_ray ray = {{0, 0, 4}, 0, {0, 0, -1}, INFINITY};
  assert_ok(slab_all(scene, &ray, 1, w->offsets, w->hits, w->total, NULL, NULL));
  assert_true(w->offsets[1] == 90);
  for (uint32_t i = 0; i < 90; i++) { /* tops at t = 2, 3, 4 are of primitives 2, 1, 0 modulo 3, ten of each kind */
    assert_true(w->hits[i].t == 2.0f + (float)(i / 30));
    assert_int_equal(w->hits[i].geometry, i % 30 / 10);
    assert_int_equal(w->hits[i].primitive, 3 * (i % 10) + (2 - i / 30));
  }
  for (uint32_t most = 1; most <= 90; most++) {
    slab_hit first[91];
    memset(first, UNTOUCHED, sizeof first);
    assert_ok(slab_all(scene, &ray, 1, w->offsets, first, 91, NULL, &(slab_cast_options){.max_hits = most}));
    assert_true(w->offsets[1] == most);
    assert_same_bits(first, w->hits, most, sizeof *first);
    assert_untouched(&first[most], sizeof *first);
  }
  slab_scene_destroy(scene);
}

static void ties_are_listed_by_geometry_and_primitive(void **state) {
  check_ties(*state, SLAB_TREE_FLAT);
  check_ties(*state, SLAB_TREE_HIGH);
}

/* A ray hits thousands of planes, in launches that split the batch. */
static void ray_may_have_very_many_hits(void **state) {
  world *w = *state;
  enum { PLANES = 5000, RAYS = 5 };
  slab_plane *planes = malloc(PLANES * sizeof *planes);
  slab_hit *hits = malloc((RAYS * PLANES + 1) * sizeof *hits);
  assert_true(planes != NULL && hits != NULL);
  for (uint32_t i = 0; i < PLANES; i++) /* 1999 is coprime to 5000: every offset occurs once, in shuffled order */
    planes[i] = (slab_plane){{0, 0, 1}, (float)(i * 1999u % PLANES)};
  const slab_context_options launches = {.lane_width = harness_width(), .launch_rays = 2};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  assert_ok(slab_context_create(&launches, &context));
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_planes(scene, planes, PLANES, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  slab_ray rays[RAYS];
  for (int i = 0; i < RAYS; i++) rays[i] = (slab_ray){{0, 0, (float)i}, -INFINITY, {0, 0, 1}, INFINITY};
  assert_ok(slab_all(scene, rays, RAYS, w->offsets, hits, RAYS * PLANES, &w->required, NULL));
  assert_true(w->required == RAYS * PLANES);
  for (uint32_t i = 0; i < RAYS * PLANES; i++) {
    const float offset = (float)(i % PLANES);
    assert_true(hits[i].t == offset - (float)(i / PLANES));
    assert_true(planes[hits[i].primitive].offset == offset);
  }
  free(planes);
  free(hits);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* ---- counting and listing in one pass ---- */

/* LAUNCH is the smallest launch that the library makes, however slow the machine is. So launches can be counted. */
enum { LAUNCH = 64, FEW = 24 * LAUNCH, RAYS = 8000, STACK = 600, STACK_HITS = 704 * STACK + 1 };

/* The calls of progress during a cast. */
typedef struct journal {
  unsigned calls;
  uint64_t first, done, total;
} journal;

static int note(void *user, uint64_t done, uint64_t total) {
  journal *j = user;
  if (j->calls++ == 0) j->first = done;
  j->done = done;
  j->total = total;
  return 0;
}

/* A scene with known hits, cast flat and in a BVH, on arrays in place and copied. */
typedef struct stack {
  slab_context *context;
  slab_scene *scene;
  bool has_bvh;
  slab_ray rays[RAYS];
  uint64_t offsets[RAYS + 1];
  slab_hit *hits, *again; /* STACK_HITS each */
} stack;

/* Triangles above each other, two at each height. They are added from the bottom and hit from the top. */
static void stack_open(stack *s, int way, uint32_t launch) {
  const slab_context_options options = {.lane_width = harness_width(), .launch_rays = launch, .copy = way & 1};
  slab_triangle soup[STACK];
  for (int i = 0; i < STACK; i++) {
    const float z = (float)(i / 2);
    soup[i] = (slab_triangle){{-2, -2, z}, {2, -2, z}, {0, 2, z}};
  }
  s->has_bvh = (way & 2) != 0;
  s->hits = harness_space(STACK_HITS * sizeof *s->hits);
  s->again = harness_space(STACK_HITS * sizeof *s->again);
  assert_ok(slab_context_create(&options, &s->context));
  assert_ok(slab_scene_create(s->context, &s->scene));
  assert_ok(slab_scene_add_mesh(s->scene, &(slab_mesh){soup[0].a, 3 * sizeof(float), 3 * STACK, NULL, STACK, NULL},
                                NULL, NULL));
  assert_ok(
      slab_scene_commit(s->scene, &(slab_build_options){.tree = s->has_bvh ? SLAB_TREE_DEFAULT : SLAB_TREE_FLAT}));
}

static void stack_close(stack *s) {
  slab_scene_destroy(s->scene);
  slab_context_destroy(s->context);
  free(s->hits);
  free(s->again);
}

/* A ray that hits the lowest triangles, two at each of `height` heights. */
static slab_ray up_to(int height) {
  if (height == 0) return (slab_ray){{0, 0, -1}, 0, {0, 0, -1}, INFINITY};
  return (slab_ray){{0, 0, (float)height - 0.25f}, 0, {0, 0, -1}, INFINITY};
}

/* Lists the hits of the rays and compares them with arithmetic. */
static journal stack_cast(stack *s, size_t n, const slab_cast_options *given) {
  journal j = {0};
  slab_cast_options options = *given;
  options.progress = note;
  options.user = &j;
  memset(s->hits, UNTOUCHED, STACK_HITS * sizeof *s->hits);
  assert_ok(slab_all(s->scene, s->rays, n, s->offsets, s->hits, STACK_HITS, NULL, &options));
  for (size_t i = 0, at = 0; i < n; i++) {
    const int height = s->rays[i].origin[2] < 0.0f ? 0 : (int)(s->rays[i].origin[2] + 0.25f);
    assert_true(s->offsets[i] == at);
    const uint64_t end = given->max_hits != 0 ? at + given->max_hits : UINT64_MAX;
    for (int k = 0; k < 2 * height && at < end; k++) {
      const uint32_t from_top = (uint32_t)k / 2, primitive = 2 * ((uint32_t)height - 1 - from_top) + (uint32_t)k % 2;
      if (given->skip != NULL && given->skip[i].primitive == primitive) continue;
      assert_true(s->hits[at].t == (float)from_top + 0.75f);
      assert_int_equal(s->hits[at++].primitive, primitive);
    }
    assert_true(s->offsets[i + 1] == at);
  }
  assert_untouched(&s->hits[s->offsets[n]], sizeof *s->hits);
  assert_true(j.done == j.total && j.total == 2 * n);
  return j;
}

static void on_each_way(uint32_t launch, void (*run)(stack *)) {
  for (int way = 0; way < 4; way++) {
    stack *s = calloc(1, sizeof *s);
    assert_non_null(s);
    stack_open(s, way, launch);
    run(s);
    stack_close(s);
    free(s);
  }
}

static void cast_a_few(stack *s) {
  for (size_t i = 0; i < FEW; i++) s->rays[i] = up_to((int)(i % 7));
  for (int round = 0; round < 2; round++) { /* in the second round the library knows the number of hits */
    const journal j = stack_cast(s, FEW, &(slab_cast_options){0});
    assert_int_equal(j.calls, FEW / LAUNCH);
    assert_true(j.first == 2 * LAUNCH);
  }
}

static void hits_that_fit_are_listed_as_they_are_counted(void **state) {
  (void)state;
  on_each_way(LAUNCH, cast_a_few);
}

/* A cast of rays without hits teaches the library an estimate that is wrong for the next cast. */
static void cast_many_after_none(stack *s) {
  for (size_t i = 0; i < FEW; i++) s->rays[i] = up_to(0);
  assert_int_equal(stack_cast(s, FEW, &(slab_cast_options){0}).calls, FEW / LAUNCH);
  for (size_t i = 0; i < 704; i++) s->rays[i] = up_to(STACK / 2);
  assert_true(stack_cast(s, 704, &(slab_cast_options){0}).calls > 704 / LAUNCH);
  assert_int_equal(stack_cast(s, 704, &(slab_cast_options){0}).calls,
                   704 / LAUNCH); /* and the library has learned the right number */
}

static void hits_that_do_not_fit_are_cast_again(void **state) {
  (void)state;
  on_each_way(LAUNCH, cast_many_after_none);
}

/* The lists of these rays move, more than once, and those of their neighbours stay. Packets in a BVH log their hits
 * before they list them, which takes more of the space: some of their rays are cast again. */
static void cast_few_that_have_many(stack *s) {
  for (size_t i = 0; i < FEW; i++) s->rays[i] = up_to(i % 50 == 7 ? STACK / 2 : (int)(i % 3));
  for (int round = 0; round < 2; round++)
    assert_in_range(stack_cast(s, FEW, &(slab_cast_options){0}).calls, FEW / LAUNCH,
                    (s->has_bvh ? 2 : 1) * FEW / LAUNCH);
}

static void few_rays_may_have_far_more_hits_than_most(void **state) {
  (void)state;
  on_each_way(LAUNCH, cast_few_that_have_many);
}

static void cast_with_options(stack *s) {
  uint64_t invalid = 0;
  slab_primitive_id skip[FEW];
  for (size_t i = 0; i < FEW; i++) s->rays[i] = up_to(0);
  assert_int_equal(stack_cast(s, FEW, &(slab_cast_options){0}).calls, FEW / LAUNCH);
  for (size_t i = 0; i < 704; i++) {
    s->rays[i] = up_to(i >= 200 && i < 500 && i % 10 != 0 ? STACK / 2 : 0);
    if (i % 10 == 0) s->rays[i].direction[2] = NAN;
    skip[i] = (slab_primitive_id){.geometry = 0, .primitive = (uint32_t)i % STACK};
  }
  for (int round = 0; round < 2; round++) {
    stack_cast(s, 704, &(slab_cast_options){.invalid = &invalid, .skip = skip});
    assert_true(invalid == 71);
  }
}

/* Invalid rays are counted once, and each ray keeps its skip, whichever pass its hits come from. */
static void rays_keep_their_options_in_either_pass(void **state) {
  (void)state;
  on_each_way(LAUNCH, cast_with_options);
}

/* If there are more hits than the capacity, offsets are written and no hit is. */
static void cast_into_too_little(stack *s) {
  uint64_t required = 0;
  for (size_t i = 0; i < FEW; i++) s->rays[i] = up_to((int)(i % 7));
  stack_cast(s, FEW, &(slab_cast_options){0});
  const uint64_t all = s->offsets[FEW], capacities[] = {1, all / 2, all - 1};
  for (int k = 0; k < 3; k++) {
    memset(s->again, UNTOUCHED, (all + 1) * sizeof *s->again);
    memset(s->offsets, UNTOUCHED, sizeof s->offsets);
    assert_status(slab_all(s->scene, s->rays, FEW, s->offsets, s->again, capacities[k], &required, NULL),
                  SLAB_CAPACITY);
    assert_true(required == all && s->offsets[FEW] == all && s->offsets[0] == 0);
    for (size_t i = 0; i < FEW; i++) assert_true(s->offsets[i + 1] - s->offsets[i] == 2 * (i % 7));
    assert_untouched(s->again, (all + 1) * sizeof *s->again);
  }
  assert_ok(slab_all(s->scene, s->rays, FEW, s->offsets, s->again, all, &required, NULL));
  assert_same_bits(s->again, s->hits, all, sizeof *s->hits);
}

static void hits_that_are_collected_in_vain_go_nowhere(void **state) {
  (void)state;
  on_each_way(LAUNCH, cast_into_too_little);
}

/* The first hits alone, whether they fit or not, and whatever the library has learned before. */
static void cast_for_the_first(stack *s) {
  static const uint32_t most[] = {1, 2, 3, 16, 17, 100, 599, 600, 601};
  for (size_t k = 0; k < sizeof most / sizeof *most; k++) {
    const slab_cast_options first = {.max_hits = most[k]};
    uint64_t required = 0;
    for (size_t i = 0; i < 704; i++) s->rays[i] = up_to(i % 3 ? (int)(i % 7) : STACK / 2 - (int)(i % 50));
    stack_cast(s, 704, &first);
    const uint64_t all = s->offsets[704];
    assert_ok(slab_all(s->scene, s->rays, 704, s->offsets, NULL, 0, &required, &first));
    assert_true(required == all && s->offsets[704] == all);
    assert_status(slab_all(s->scene, s->rays, 704, s->offsets, s->again, all - 1, &required, &first), SLAB_CAPACITY);
    assert_true(required == all && s->offsets[704] == all);
    if (most[k] == 16) stack_cast(s, 704, &(slab_cast_options){0});
  }
}

static void first_hits_of_each_ray_are_listed_alone(void **state) {
  (void)state;
  on_each_way(LAUNCH, cast_for_the_first);
}

/* Work-items of many rays allocate space for several lists at once. Lists of all lengths occur between each other. */
static void cast_in_large_launches(stack *s) {
  for (int round = 0; round < 2; round++) {
    for (size_t i = 0; i < RAYS; i++) s->rays[i] = up_to((int)(i * (1 + (size_t)round) % (i % 97 == 0 ? 40 : 4)));
    stack_cast(s, RAYS, &(slab_cast_options){0});
  }
}

static void lists_of_a_work_item_stay_apart(void **state) {
  (void)state;
  on_each_way(0, cast_in_large_launches);
}

int main(void) {
#define IN_A_WORLD(test) cmocka_unit_test_setup_teardown(test, open_world, close_world)
  const struct CMUnitTest tests[] = {
      IN_A_WORLD(capacity_zero_asks_for_offsets_and_size),
      IN_A_WORLD(capacity_zero_leaves_hits_alone),
      IN_A_WORLD(capacity_too_small_still_gives_offsets),
      IN_A_WORLD(exact_capacity_is_filled),
      IN_A_WORLD(larger_capacity_is_not_touched_beyond_the_hits),
      IN_A_WORLD(rays_without_hits_have_empty_lists),
      IN_A_WORLD(ties_are_listed_by_geometry_and_primitive),
      IN_A_WORLD(ray_may_have_very_many_hits),
      cmocka_unit_test(hits_that_fit_are_listed_as_they_are_counted),
      cmocka_unit_test(hits_that_do_not_fit_are_cast_again),
      cmocka_unit_test(few_rays_may_have_far_more_hits_than_most),
      cmocka_unit_test(rays_keep_their_options_in_either_pass),
      cmocka_unit_test(hits_that_are_collected_in_vain_go_nowhere),
      cmocka_unit_test(first_hits_of_each_ray_are_listed_alone),
      cmocka_unit_test(lists_of_a_work_item_stay_apart),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
