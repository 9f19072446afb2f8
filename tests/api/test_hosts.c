/* Other kinds of hosts: kernels that allow only small work-groups, devices that cannot be queried, slow compilers,
 * several equal GPUs. It needs two devices, and runs under the layers that pretend such devices, hold builds, and
 * fail and slow calls. */
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "faults/layers.h"
#include "harness.h"
#include "mixed_fates.h"
#include "opencl.h"

enum { N = 1024, SHAPES = 500, LAUNCH = 64 };

static layers under;

static void pretend(const char *text) { assert_int_equal(under.pretend(text), 0); }

/* Resets the layers, because a test that failed may have left them armed. */
static int be_honest(void **state) {
  (void)state;
  under.builds_hold(NULL);
  under.fail_end();
  pretend("");
  for (unsigned i = 0; i < 2; i++) under.slow(i, 0.0);
  return 0;
}

static slab_context *open_as(const char *devices, slab_layout layout) {
  const slab_context_options options = {.device = devices, .layout = layout, .launch_rays = LAUNCH};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  return context;
}

/* ---- work-groups ---------------------------------------------------------------- */

/* Results of a flat scene, a BVH, and pairs. */
typedef struct outcome {
  slab_hit flat[N], tree[N];
  slab_interval pairs[N];
} outcome;

static void cast_everything(const slab_ray *rays, slab_layout layout, outcome *to) {
  const slab_box box = {{-4, -4, -4}, {4, 4, 4}};
  slab_box *boxes = harness_space(N * sizeof *boxes);
  slab_context *context = open_as("0", layout);
  slab_scene *flat = mixed_fates_scene(context, 1), *tree = mixed_tree(context, SHAPES);
  for (int i = 0; i < N; i++) boxes[i] = box;
  assert_ok(slab_closest(flat, rays, N, to->flat, NULL));
  assert_ok(slab_closest(tree, rays, N, to->tree, NULL));
  assert_ok(slab_pairs(context, SLAB_BOX, rays, boxes, N, to->pairs));
  free(boxes);
  slab_scene_destroy(flat);
  slab_scene_destroy(tree);
  slab_context_destroy(context);
}

/* Launches of 64 rays have work-groups of as many work-items in the layout of GPUs, and of fewer in that of CPUs. */
static void groups_are_as_large_as_the_kernel_allows(void **state) {
  (void)state;
  static const struct {
    const char *limit;
    slab_layout layout;
    size_t most;
  } limits[] = {
      {"kernel-group:1", SLAB_LAYOUT_COMPRESSED, 1}, {"kernel-group:48", SLAB_LAYOUT_COMPRESSED, 32},
      {"group:48", SLAB_LAYOUT_COMPRESSED, 32},      {"items:48", SLAB_LAYOUT_COMPRESSED, 32},
      {"kernel-group:2", SLAB_LAYOUT_WIDE, 2},       {"kernel-group:0", SLAB_LAYOUT_WIDE, 1},
      {"kernel-group:64", SLAB_LAYOUT_WIDE, 64}, /* of pairs */
  };
  slab_ray *rays = mixed_rays(__func__, N);
  outcome *want = harness_space(sizeof *want), *got = harness_space(sizeof *got);
  cast_everything(rays, SLAB_LAYOUT_COMPRESSED, want);
  assert_true(under.pretend_seen().most == 64);
  for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
    pretend(limits[i].limit);
    cast_everything(rays, limits[i].layout, got);
    const pretend_report seen = under.pretend_seen();
    if (seen.refused > 0 || seen.most != limits[i].most)
      fail_msg("%s: %u of %u launches refused, groups of %zu to %zu", limits[i].limit, seen.refused, seen.launches,
               seen.least, seen.most);
    assert_same_bits(got->flat, want->flat, N, sizeof *got->flat);
    assert_same_bits(got->tree, want->tree, N, sizeof *got->tree);
    assert_same_bits(got->pairs, want->pairs, N, sizeof *got->pairs);
  }
  free(want);
  free(got);
  free(rays);
}

/* ---- registers -------------------------------------------------------------------- */

/* A BVH over triangles alone, or over every kind. */
static slab_scene *tree_of(slab_context *context, bool triangles) {
  float vertices[3 * SHAPES][3];
  slab_scene *scene = NULL;
  if (!triangles) return mixed_tree(context, SHAPES);
  for (uint32_t i = 0; i < 3 * SHAPES; i++) {
    const float corner[3] = {(float)(i / 3 % 20), (float)(i / 60), (float)(i % 3)};
    for (int a = 0; a < 3; a++) vertices[i][a] = corner[a] - 9.0f + (i % 3 == (uint32_t)a ? 1.5f : 0.0f);
  }
  const slab_mesh mesh = {.vertices = vertices[0], .vertex_count = 3 * SHAPES, .triangle_count = SHAPES};
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_mesh(scene, &mesh, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_HIGH}));
  return scene;
}

/* Casts any and closest hits, and returns how many builds limited the registers. */
static unsigned limited_builds(const char *as, bool triangles, const slab_ray *rays) {
  slab_hit hits[N];
  uint8_t any[N];
  pretend(as);
  slab_context *context = open_as("0", SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = tree_of(context, triangles);
  assert_ok(slab_closest(scene, rays, N, hits, NULL));
  assert_ok(slab_any(scene, rays, N, any, NULL));
  size_t found = 0;
  for (int i = 0; i < N; i++) {
    assert_int_equal(any[i], hits[i].primitive < SLAB_INVALID);
    found += any[i];
  }
  assert_true(found > 0 && found < N);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
  return under.pretend_seen().limited;
}

/* The driver below refuses the option, which only NVIDIA's compiler is to get, and only for scenes of one kind. */
static void registers_are_limited_where_nvidia_compiles(void **state) {
  (void)state;
  slab_ray *rays = mixed_rays(__func__, N);
  assert_int_equal(limited_builds("type:gpu", true, rays), 0);
  assert_int_equal(limited_builds("type:gpu,nvidia:1", false, rays), 0);
  assert_int_equal(limited_builds("type:gpu,nvidia:1", true, rays), 2);
  assert_int_equal(under.pretend_seen().limit, 80);
  free(rays);
}

/* ---- devices that cannot be queried --------------------------------------------- */

/* Opens the devices that the selector names, and compares their number of compute units. */
static void assert_selects(const char *selector, uint32_t units) {
  const slab_context_options options = {.device = selector};
  slab_context *context = NULL;
  slab_device_info info;
  size_t count = 0;
  assert_ok(slab_context_create(&options, &context));
  assert_ok(slab_context_devices(context, &info, 1, &count));
  assert_true(count == 1);
  assert_int_equal(info.compute_units, units);
  slab_context_destroy(context);
}

static void assert_no_match(const char *selector) {
  const slab_context_options options = {.device = selector};
  slab_context *context = NULL;
  assert_status(slab_context_create(&options, &context), SLAB_NO_DEVICE);
  assert_mentions("\": the list has 0 \"");
  assert_mentions("\", and lacks one that cannot be described (clGetDeviceInfo failed with CL_INVALID_DEVICE");
  assert_null(context);
}

/* The test identifies devices by their compute units. */
static void device_that_cannot_be_described_is_left_out_everywhere(void **state) {
  (void)state;
  static const struct {
    const char *text;
    uint32_t units;
  } cases[] = {{"0.units:5,1.units:7,0.mute:-33", 7}, {"0.units:5,1.units:7,1.mute:-33", 5}};
  slab_device_info list[2];
  for (int c = 0; c < 2; c++) {
    size_t count = 77;
    pretend(cases[c].text);
    assert_status(slab_scene_create(NULL, NULL), SLAB_INVALID_ARGUMENT);
    memset(list, 0xA5, sizeof list);
    assert_ok(slab_devices(NULL, 0, &count));
    assert_true(count == 1);
    assert_ok(slab_devices(list, 2, &count));
    assert_mentions("slab_scene_create"); /* a device that is left out leaves no message */
    assert_true(count == 1);
    assert_int_equal(list[0].compute_units, cases[c].units);
    assert_true(list[1].compute_units == 0xA5A5A5A5u); /* nothing was written there */
    assert_selects(NULL, cases[c].units);
    assert_selects("0", cases[c].units);
    assert_selects("cpu", cases[c].units);
    assert_selects("all", cases[c].units);
    assert_no_match("1");
    assert_no_match("0,1");
    assert_no_match("nvidium");
  }
}

static void no_device_that_can_be_described_is_a_failure(void **state) {
  (void)state;
  slab_context *context = NULL;
  size_t count = 77;
  pretend("mute:-33");
  assert_status(slab_devices(NULL, 0, &count), SLAB_DEVICE_FAILED);
  assert_mentions("clGetDeviceInfo failed with CL_INVALID_DEVICE (-33)");
  assert_true(count == 77);
  assert_status(slab_context_create(NULL, &context), SLAB_DEVICE_FAILED);
  assert_mentions("clGetDeviceInfo failed with CL_INVALID_DEVICE (-33)");
  assert_null(context);
}

/* ---- slow compilers -------------------------------------------------------------- */

typedef struct caster {
  pthread_t thread;
  slab_scene *scene;
  slab_query query; /* SLAB_DISTANCE or SLAB_COUNT */
  const slab_ray *rays;
  float distances[N];
  uint32_t counts[N];
  slab_status status;
  char message[256];
} caster;

static void *cast_one(void *argument) {
  caster *c = argument;
  c->status = c->query == SLAB_DISTANCE ? slab_distance(c->scene, c->rays, N, c->distances, NULL)
                                        : slab_count(c->scene, c->rays, N, c->counts, NULL);
  if (c->status != SLAB_OK) snprintf(c->message, sizeof c->message, "%s", slab_message());
  return NULL;
}

static void start(caster *c, slab_scene *scene, slab_query query, const slab_ray *rays) {
  *c = (caster){.scene = scene, .query = query, .rays = rays};
  assert_int_equal(pthread_create(&c->thread, NULL, cast_one, c), 0);
}

static void join(caster *c) { assert_int_equal(pthread_join(c->thread, NULL), 0); }

static void rest(void) {
  const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};
  nanosleep(&moment, NULL);
}

/* Waits until this many builds are held, up to a time limit. Returns whether they are. */
static bool wait_for_held(unsigned wanted) {
  for (int i = 0; i < 2000 && under.builds_seen().held < wanted; i++) rest();
  return under.builds_seen().held >= wanted;
}

/* A flat scene on the first device, one program per query, and its results when no build is held. */
typedef struct stage {
  slab_context *context;
  slab_scene *scene;
  slab_ray *rays;
  slab_hit want[N];
  char distance[32], any_query[32]; /* build options of its programs */
} stage;

static void set(stage *s, const char *test) {
  s->context = open_as("0", SLAB_LAYOUT_COMPRESSED);
  s->scene = mixed_fates_scene(s->context, 1);
  s->rays = mixed_rays(test, N);
  assert_ok(slab_closest(s->scene, s->rays, N, s->want, NULL));
  snprintf(s->distance, sizeof s->distance, "-DSLAB_QUERY=%d ", (int)SLAB_DISTANCE);
  snprintf(s->any_query, sizeof s->any_query, "-DSLAB_QUERY=");
  under.builds_begin();
}

static void strike(stage *s) {
  free(s->rays);
  slab_scene_destroy(s->scene);
  slab_context_destroy(s->context);
}

static void assert_distances(const caster *c, const stage *s) {
  if (c->status != SLAB_OK) fail_msg("%s", c->message);
  for (int i = 0; i < N; i++) assert_same_bits(&c->distances[i], &s->want[i].t, 1, sizeof(float));
}

static void cast_with_a_ready_kernel_does_not_wait_for_a_build(void **state) {
  (void)state;
  stage s;
  caster slow;
  slab_hit hits[N];
  set(&s, __func__);
  under.builds_hold(s.distance);
  start(&slow, s.scene, SLAB_DISTANCE, s.rays);
  assert_true(wait_for_held(1));
  const slab_status status = slab_closest(s.scene, s.rays, N, hits, NULL);
  const builds_report meanwhile = under.builds_seen();
  under.builds_hold(NULL);
  join(&slow);
  assert_ok(status);
  assert_true(meanwhile.held == 1 && meanwhile.overdue == 0);
  assert_same_bits(hits, s.want, N, sizeof *hits);
  assert_distances(&slow, &s);
  strike(&s);
}

static void different_programs_are_built_side_by_side(void **state) {
  (void)state;
  stage s;
  caster one, other;
  set(&s, __func__);
  under.builds_hold(s.any_query);
  start(&one, s.scene, SLAB_DISTANCE, s.rays);
  start(&other, s.scene, SLAB_COUNT, s.rays);
  const bool both = wait_for_held(2);
  under.builds_hold(NULL);
  join(&one);
  join(&other);
  assert_true(both);
  assert_distances(&one, &s);
  assert_int_equal(other.status, SLAB_OK);
  for (int i = 0; i < N; i++) assert_true((other.counts[i] > 0) == (s.want[i].primitive < SLAB_INVALID));
  strike(&s);
}

static void one_program_is_built_once_for_all_who_need_it(void **state) {
  (void)state;
  enum { CASTERS = 3 };
  stage s;
  caster casters[CASTERS];
  set(&s, __func__);
  under.builds_hold(s.distance);
  for (int i = 0; i < CASTERS; i++) start(&casters[i], s.scene, SLAB_DISTANCE, s.rays);
  assert_true(wait_for_held(1));
  for (int i = 0; i < 20; i++) rest();
  const builds_report meanwhile = under.builds_seen();
  under.builds_hold(NULL);
  for (int i = 0; i < CASTERS; i++) join(&casters[i]);
  assert_true(meanwhile.held == 1 && meanwhile.sources == 1);
  assert_true(under.builds_seen().sources == 1);
  for (int i = 0; i < CASTERS; i++) assert_distances(&casters[i], &s);
  strike(&s);
}

static void build_that_fails_fails_all_who_wait_and_is_tried_again(void **state) {
  (void)state;
  enum { CASTERS = 3 };
  stage s;
  caster casters[CASTERS], again;
  set(&s, __func__);
  under.builds_hold(s.distance);
  under.fail_call("clBuildProgram", 1, CL_BUILD_PROGRAM_FAILURE); /* below the layer that holds builds */
  for (int i = 0; i < CASTERS; i++) start(&casters[i], s.scene, SLAB_DISTANCE, s.rays);
  assert_true(wait_for_held(1));
  for (int i = 0; i < 100; i++) rest(); /* time for the others to reach the wait */
  under.builds_hold(NULL);
  for (int i = 0; i < CASTERS; i++) join(&casters[i]);
  assert_int_equal(under.fail_end().failed, 1);
  assert_true(under.builds_seen().sources == 1);
  for (int i = 0; i < CASTERS; i++) {
    assert_int_equal(casters[i].status, SLAB_BUILD_FAILED);
    if (strstr(casters[i].message, "clBuildProgram failed (-11)") == NULL) fail_msg("%s", casters[i].message);
  }
  start(&again, s.scene, SLAB_DISTANCE, s.rays);
  join(&again);
  assert_distances(&again, &s);
  assert_true(under.builds_seen().sources == 2);
  strike(&s);
}

/* ---- time to the first result ---------------------------------------------------- */

enum { COHERENT = 8192 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double cast_for_seconds(slab_scene *scene, const slab_ray *rays, slab_hit *hits) {
  const double begin = now();
  assert_ok(slab_closest(scene, rays, COHERENT, hits, NULL));
  return now() - begin;
}

/* Rays from one point, which suit packets. The first cast builds two programs: rays one by one, and attributes. The
 * program of packets is a third. Launches take so long that compile time does not matter. The kernels of packets
 * must be built by the first cast that begins after the casts since the first took as long as the first. */
static void packets_are_built_once_casts_have_taken_as_long(void **state) {
  (void)state;
  const slab_context_options options = {.device = "0", .lane_width = 16};
  slab_context *context = NULL;
  slab_ray *rays = harness_space(COHERENT * sizeof *rays);
  slab_hit *first = harness_space(COHERENT * sizeof *first), *later = harness_space(COHERENT * sizeof *later);
  for (int i = 0; i < COHERENT; i++)
    rays[i] = (slab_ray){{0, 0, 9}, 0, {(float)(i % 64 - 32) / 64, (float)(i / 64 - 64) / 128, -1}, INFINITY};
  assert_ok(slab_context_create(&options, &context));
  slab_scene *scene = mixed_tree(context, SHAPES);
  under.slow(0, 1.5e6);
  under.builds_begin();
  const double building = cast_for_seconds(scene, rays, first);
  assert_int_equal(under.builds_seen().sources, 2);
  double casting = 0.0, last = 0.0, before = 0.0;
  for (int i = 0; i < 1000 && under.builds_seen().sources == 2; i++) {
    before = last;
    casting += last;
    last = cast_for_seconds(scene, rays, later);
    assert_same_bits(later, first, COHERENT, sizeof *first);
  }
  assert_int_equal(under.builds_seen().sources, 3);
  if (casting < 0.9 * building || casting - before > building)
    fail_msg("built after %.3f s, the last %.3f, and the first cast took %.3f s", casting, before, building);
  free(rays);
  free(first);
  free(later);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* ---- equal GPUs ----------------------------------------------------------------- */

/* Casts on two devices and checks that both take a share. Each launch has the same number of rays, because PoCL,
 * which runs both devices, may lose count of launches that differ. */
static slab_status cast_on_two(const slab_ray *rays, slab_hit *hits) {
  slab_context *both = open_as("all", SLAB_LAYOUT_COMPRESSED);
  slab_scene *scene = mixed_tree(both, SHAPES);
  for (unsigned i = 0; i < 2; i++) under.slow(i, 200e3);
  under.builds_begin();
  const slab_status status = slab_closest(scene, rays, N, hits, NULL);
  const unsigned long long items[] = {under.slow_items(0), under.slow_items(1)};
  for (unsigned i = 0; i < 2; i++) under.slow(i, 0.0);
  slab_scene_destroy(scene);
  slab_context_destroy(both);
  if (status == SLAB_OK && (items[0] == 0 || items[1] == 0)) fail_msg("one device has done everything");
  return status;
}

/* A call that fails once. */
typedef struct refusal {
  const char *call;
  unsigned nth;
  int code;
} refusal;

/* Two such devices must give the results of one. Also checks how their programs were created. */
static void assert_built(const char *as, const refusal *refused, unsigned sources, unsigned binaries) {
  slab_ray *rays = mixed_rays(as, N);
  slab_hit *want = harness_space(N * sizeof *want), *got = harness_space(N * sizeof *got);
  slab_context *alone = open_as("0", SLAB_LAYOUT_DEFAULT);
  slab_scene *scene = mixed_tree(alone, SHAPES);
  assert_ok(slab_closest(scene, rays, N, want, NULL));
  slab_scene_destroy(scene);
  slab_context_destroy(alone);
  pretend(as);
  if (refused != NULL) under.fail_call(refused->call, refused->nth, refused->code);
  assert_ok(cast_on_two(rays, got));
  if (refused != NULL) assert_int_equal(under.fail_end().failed, 1);
  const builds_report seen = under.builds_seen();
  if (seen.sources != sources || seen.binaries != binaries)
    fail_msg("\"%s\": %u programs of sources and %u of binaries", as, seen.sources, seen.binaries);
  assert_same_bits(got, want, N, sizeof *got);
  free(got);
  free(want);
  free(rays);
}

static void equal_gpus_share_one_compilation(void **state) {
  (void)state;
  assert_built("type:gpu", NULL, 1, 1);
}

/* One of the devices has a driver without correctly rounded division, so its kernels are different. */
static void gpus_that_differ_have_programs_of_their_own(void **state) {
  (void)state;
  assert_built("type:gpu,1.floats:0x3F", NULL, 2, 0);
}

static void cpus_have_programs_of_their_own(void **state) {
  (void)state;
  assert_built("", NULL, 2, 0);
}

static void source_is_compiled_where_the_binary_is_refused(void **state) {
  (void)state;
  static const struct {
    refusal refused;
    unsigned binaries;
  } cases[] = {
      {{"clGetProgramInfo", 1, CL_INVALID_PROGRAM}, 0},
      {{"clGetProgramInfo", 2, CL_OUT_OF_HOST_MEMORY}, 0},
      {{"clCreateProgramWithBinary", 1, CL_INVALID_BINARY}, 0},
      {{"clBuildProgram", 2, CL_BUILD_PROGRAM_FAILURE}, 1}, /* the first build is that of the source */
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    pretend("");
    assert_built("type:gpu", &cases[i].refused, 2, cases[i].binaries);
  }
}

#define TEST(name) cmocka_unit_test_teardown(name, be_honest)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(groups_are_as_large_as_the_kernel_allows),
      TEST(registers_are_limited_where_nvidia_compiles),
      TEST(device_that_cannot_be_described_is_left_out_everywhere),
      TEST(no_device_that_can_be_described_is_a_failure),
      TEST(cast_with_a_ready_kernel_does_not_wait_for_a_build),
      TEST(different_programs_are_built_side_by_side),
      TEST(one_program_is_built_once_for_all_who_need_it),
      TEST(build_that_fails_fails_all_who_wait_and_is_tried_again),
      TEST(packets_are_built_once_casts_have_taken_as_long),
      TEST(equal_gpus_share_one_compilation),
      TEST(gpus_that_differ_have_programs_of_their_own),
      TEST(cpus_have_programs_of_their_own),
      TEST(source_is_compiled_where_the_binary_is_refused),
  };
  under = layers_load();
  if (!under.fail_call || !under.slow || !under.pretend || !under.builds_hold) {
    fprintf(stderr, "test_hosts: the layers are not there: OPENCL_LAYERS names other files\n");
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
