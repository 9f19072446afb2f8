/* The processor as a device of the library's own: how it is chosen, few rays, forks, and calls that are for OpenCL. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "slabcast_cl.h"

enum { BALLS = 2000, RAYS = 300 };

static slab_context *context_on(const char *device, slab_device_info *info) {
  const slab_context_options options = {.device = device};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  assert_ok(slab_context_device(context, info));
  return context;
}

static void assert_chosen(const char *device, const char *platform) {
  slab_device_info info;
  size_t count = 0;
  slab_context *context = context_on(device, &info);
  assert_string_equal(info.platform, platform);
  assert_ok(slab_context_devices(context, NULL, 0, &count));
  assert_int_equal(count, 1);
  slab_context_destroy(context);
}

/* An OpenCL driver of the same processor is here too. */
static void processor_is_taken_once_and_others_by_name(void **state) {
  static const char processor[] = SLAB_PROCESSOR_PLATFORM, pocl[] = "Portable Computing Language";
  slab_device_info list[8];
  size_t count = 0;
  (void)state;
  assert_int_equal(unsetenv("SLABCAST_BACKENDS"), 0);
  assert_ok(slab_devices(list, 8, &count));
  assert_true(count >= 2);
  assert_string_equal(list[0].platform, processor);
  assert_string_equal(list[1].platform, pocl);
  assert_true(list[0].compute_units > 0 && list[0].name[0] != 0 && list[0].exact_divide && list[0].denormals);
  assert_chosen("cpu", processor);
  assert_chosen("all", processor);
  assert_chosen("processor", processor);
  assert_chosen("0", processor);
  assert_chosen("portable", pocl);
  assert_chosen("1", pocl);
  assert_int_equal(setenv("SLABCAST_BACKENDS", "opencl", 1), 0);
  assert_chosen("cpu", pocl);
  assert_int_equal(setenv("SLABCAST_BACKENDS", "opencl,native", 1), 0);
  assert_chosen("cpu", processor);
  assert_int_equal(setenv("SLABCAST_BACKENDS", "none", 1), 0);
  assert_status(slab_devices(list, 8, &count), SLAB_NO_DEVICE);
  assert_non_null(strstr(slab_message(), "SLABCAST_BACKENDS is \"none\""));
  assert_int_equal(setenv("SLABCAST_BACKENDS", "native", 1), 0);
  assert_chosen(NULL, processor);
}

/* A width is a level of the instruction set: it is there, or the message says why not. */
static void width_is_kept_or_refused(void **state) {
  static const uint32_t widths[] = {1, 8, 16};
  (void)state;
  for (int i = 0; i < 3; i++) {
    const slab_context_options options = {.lane_width = widths[i]};
    slab_context *context = NULL;
    slab_device_info info;
    const slab_status status = slab_context_create(&options, &context);
    if (status != SLAB_OK) {
      assert_int_equal(status, SLAB_UNSUPPORTED);
      assert_non_null(strstr(slab_message(), "lane_width 0 takes the best"));
      continue;
    }
    assert_ok(slab_context_device(context, &info));
    assert_int_equal(info.lane_width, widths[i]);
    slab_context_destroy(context);
  }
}

/* ---- casting ---- */

typedef struct world {
  slab_context *context;
  slab_scene *scene;
  slab_ray rays[RAYS];
  slab_hit hits[RAYS];
} world;

static void world_begin(world *w) {
  random_state random = harness_seeded("native");
  slab_sphere balls[BALLS];
  slab_device_info info;
  for (int i = 0; i < BALLS; i++)
    balls[i] =
        (slab_sphere){{random_between(&random, -2, 2), random_between(&random, -2, 2), random_between(&random, -2, 2)},
                      random_between(&random, 0, 0.2f)};
  w->context = context_on("processor", &info);
  assert_ok(slab_scene_create(w->context, &w->scene));
  assert_ok(slab_scene_add_spheres(w->scene, balls, BALLS, NULL, NULL));
  assert_ok(slab_scene_commit(w->scene, NULL));
  for (int i = 0; i < RAYS; i++)
    w->rays[i] = (slab_ray){{random_between(&random, -3, 3), random_between(&random, -3, 3), -3},
                            0,
                            {random_between(&random, -1, 1), random_between(&random, -1, 1), 1},
                            i == 7 ? NAN : INFINITY};
  assert_ok(slab_closest(w->scene, w->rays, RAYS, w->hits, NULL));
}

static void world_end(world *w) {
  slab_scene_destroy(w->scene);
  slab_context_destroy(w->context);
}

/* One ray per call, some, and all of them in one, give the same bits; so do options, and the count of invalid rays. */
static void few_rays_answer_like_many(void **state) {
  static world w;
  (void)state;
  world_begin(&w);
  uint64_t invalid = 0, required = 0, offsets[RAYS + 1], own[2];
  uint8_t any[RAYS];
  uint32_t counts[RAYS];
  slab_interval intervals[RAYS];
  float t[RAYS];
  slab_primitive_id skip[RAYS];
  for (int i = 0; i < RAYS; i++) skip[i] = (slab_primitive_id){w.hits[i].primitive, 0};
  const slab_cast_options options = {.skip = skip, .invalid = &invalid, .cull = SLAB_CULL_FRONT};
  slab_hit *culled = harness_space(RAYS * sizeof *culled), *all = harness_space(RAYS * 64 * sizeof *all);
  assert_ok(slab_closest(w.scene, w.rays, RAYS, culled, &options));
  assert_int_equal(invalid, 1);
  assert_ok(slab_any(w.scene, w.rays, RAYS, any, NULL));
  assert_ok(slab_count(w.scene, w.rays, RAYS, counts, NULL));
  assert_ok(slab_distance(w.scene, w.rays, RAYS, t, NULL));
  assert_ok(slab_interval_of(w.scene, w.rays, RAYS, intervals, NULL));
  assert_ok(slab_all(w.scene, w.rays, RAYS, offsets, all, RAYS * 64, &required, NULL));
  for (int i = 0; i < RAYS; i++) {
    slab_hit hit, listed[64];
    uint8_t occluded;
    uint32_t count;
    float distance;
    slab_interval interval;
    const slab_cast_options here = {.skip = &skip[i], .invalid = &invalid, .cull = SLAB_CULL_FRONT};
    assert_ok(slab_closest(w.scene, &w.rays[i], 1, &hit, NULL));
    assert_memory_equal(&hit, &w.hits[i], sizeof hit);
    assert_ok(slab_closest(w.scene, &w.rays[i], 1, &hit, &here));
    assert_memory_equal(&hit, &culled[i], sizeof hit);
    assert_int_equal(invalid, i == 7);
    assert_ok(slab_any(w.scene, &w.rays[i], 1, &occluded, NULL));
    assert_ok(slab_count(w.scene, &w.rays[i], 1, &count, NULL));
    assert_ok(slab_distance(w.scene, &w.rays[i], 1, &distance, NULL));
    assert_ok(slab_interval_of(w.scene, &w.rays[i], 1, &interval, NULL));
    assert_true(occluded == any[i] && count == counts[i] && memcmp(&distance, &t[i], sizeof distance) == 0);
    assert_memory_equal(&interval, &intervals[i], sizeof interval);
    assert_ok(slab_all(w.scene, &w.rays[i], 1, own, listed, 64, NULL, NULL));
    assert_int_equal(own[1], offsets[i + 1] - offsets[i]);
    assert_memory_equal(listed, all + offsets[i], own[1] * sizeof *listed);
  }
  for (int n = 2; n < RAYS; n += n < 40 ? 1 : 43)
    for (int i = 0; i + n <= RAYS; i += n) {
      const slab_cast_options here = {.skip = skip + i, .invalid = &invalid, .cull = SLAB_CULL_FRONT};
      slab_hit hits[RAYS];
      uint8_t occluded[RAYS];
      assert_ok(slab_closest(w.scene, w.rays + i, (size_t)n, hits, NULL));
      assert_memory_equal(hits, w.hits + i, (size_t)n * sizeof *hits);
      assert_ok(slab_closest(w.scene, w.rays + i, (size_t)n, hits, &here));
      assert_memory_equal(hits, culled + i, (size_t)n * sizeof *hits);
      assert_int_equal(invalid, i <= 7 && 7 < i + n);
      assert_ok(slab_any(w.scene, w.rays + i, (size_t)n, occluded, NULL));
      assert_memory_equal(occluded, any + i, (size_t)n);
    }
  free(all);
  free(culled);
  world_end(&w);
}

/* ---- forks ---- */

/* The child's answers come from a context of its own; the parent's is refused. Returns the line that failed. */
static int child_answers(const world *w) {
  static world own;
  slab_hit hit;
  if (slab_closest(w->scene, w->rays, 1, &hit, NULL) != SLAB_INVALID_STATE) return __LINE__ % 256;
  if (strstr(slab_message(), "was forked from the one that opened the context") == NULL) return __LINE__ % 256;
  world_begin(&own);
  if (memcmp(own.hits, w->hits, sizeof own.hits) != 0) return __LINE__ % 256;
  world_end(&own);
  slab_scene_destroy(w->scene);
  slab_context_destroy(w->context);
  return 0;
}

static void child_opens_a_context_of_its_own(void **state) {
  static world w;
  int status = 0;
  (void)state;
  world_begin(&w);
  const pid_t child = fork();
  if (child == 0) _exit(child_answers(&w));
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
  assert_ok(slab_closest(w.scene, w.rays, RAYS, w.hits, NULL));
  world_end(&w);
}

/* Packs the parent's scene in the child, and casts on it there. Returns the line that failed. */
static int child_casts_on_a_packed_copy(const world *w, const slab_hit *expected) {
  static slab_hit hits[RAYS];
  slab_device_info info;
  slab_scene *copy = NULL;
  size_t size = 0;
  slab_context *context = context_on("cpu", &info);
  if (slab_scene_pack(w->scene, NULL, 0, &size) != SLAB_OK) return __LINE__ % 256;
  void *bytes = malloc(size);
  if (bytes == NULL || slab_scene_pack(w->scene, bytes, size, &size) != SLAB_OK) return __LINE__ % 256;
  if (slab_scene_unpack(context, bytes, size, &copy) != SLAB_OK) return __LINE__ % 256;
  if (slab_closest(copy, w->rays, RAYS, hits, NULL) != SLAB_OK) return __LINE__ % 256;
  if (memcmp(hits, expected, sizeof hits) != 0) return __LINE__ % 256;
  free(bytes);
  slab_scene_destroy(copy);
  slab_context_destroy(context);
  return 0;
}

/* As the parent committed it, and with changes that the parent commits after the fork. */
static void child_packs_what_waits_too(void **state) {
  static world w;
  static slab_hit hits[RAYS];
  const slab_sphere large = {{0, 0, 0}, 0.5f};
  uint32_t added = 0;
  (void)state;
  world_begin(&w);
  for (int waits = 0; waits < 4; waits++) {
    if (waits == 1) assert_ok(slab_scene_add_spheres(w.scene, &large, 1, NULL, &added));
    if (waits == 2) assert_ok(slab_scene_update_spheres(w.scene, added, &(slab_sphere){{1, 0, 0}, 0.75f}, 1));
    if (waits == 3) assert_ok(slab_scene_remove(w.scene, added));
    int pipes[2], status = 0;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
      const bool told = read(pipes[0], hits, sizeof hits) == (ssize_t)sizeof hits;
      _exit(told ? child_casts_on_a_packed_copy(&w, hits) : 1);
    }
    assert_ok(slab_scene_commit(w.scene, NULL));
    assert_ok(slab_closest(w.scene, w.rays, RAYS, hits, NULL));
    assert_int_equal(write(pipes[1], hits, sizeof hits), (ssize_t)sizeof hits);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    close(pipes[0]);
    close(pipes[1]);
  }
  world_end(&w);
}

/* ---- calls for OpenCL ---- */

static void calls_for_opencl_are_unsupported(void **state) {
  static world w;
  cl_context cl = NULL;
  (void)state;
  world_begin(&w);
  const slab_batch batch = {.query = SLAB_CLOSEST, .count = 1};
  assert_status(slab_context_objects(w.context, &cl, NULL), SLAB_UNSUPPORTED);
  assert_status(slab_enqueue(w.scene, &batch, (cl_command_queue)&w, 0, NULL, NULL), SLAB_UNSUPPORTED);
  assert_non_null(strstr(slab_message(), "is not an OpenCL device"));
  assert_null(cl);
  world_end(&w);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(width_is_kept_or_refused),         cmocka_unit_test(few_rays_answer_like_many),
      cmocka_unit_test(child_opens_a_context_of_its_own), cmocka_unit_test(child_packs_what_waits_too),
      cmocka_unit_test(calls_for_opencl_are_unsupported), cmocka_unit_test(processor_is_taken_once_and_others_by_name),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
