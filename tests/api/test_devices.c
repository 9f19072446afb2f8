/* Several devices in one context: which are chosen, that results are those of one device, and the effect of a device
 * that is slow or fails. It needs two devices, and runs under the layers that fail and slow calls. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "faults/layers.h"
#include "harness.h"
#include "mixed_fates.h"
#include "opencl.h"
#include "sets/answers.h"

enum { N = 3000, SHAPES = 2000 };

static layers under;

static slab_context *open_devices(const char *devices, uint32_t launch_rays, int copy) {
  const slab_context_options options = {
      .device = devices, .launch_rays = launch_rays, .copy = copy, .lane_width = harness_width()};
  slab_context *context = NULL;
  assert_ok(slab_context_create(&options, &context));
  return context;
}

/* ---- choosing ---- */

static void lists_name_their_devices_in_order(void **state) {
  (void)state;
  static const struct {
    const char *selector;
    size_t count, index[2];
  } lists[] = {{"all", 2, {0, 1}}, {"0,1", 2, {0, 1}}, {"1,0", 2, {1, 0}}, {"1", 1, {1, 1}}, {"cpu,1", 2, {0, 1}}};
  slab_device_info known[2], info[2], first;
  size_t count = 0;
  assert_ok(slab_devices(known, 2, &count));
  assert_true(count == 2);
  for (size_t l = 0; l < sizeof lists / sizeof *lists; l++) {
    slab_context *context = open_devices(lists[l].selector, 0, 0);
    assert_ok(slab_context_devices(context, NULL, 0, &count));
    assert_true(count == lists[l].count);
    assert_ok(slab_context_devices(context, info, 2, &count));
    for (size_t i = 0; i < count; i++) assert_string_equal(info[i].name, known[lists[l].index[i]].name);
    assert_ok(slab_context_device(context, &first));
    assert_memory_equal(&first, &info[0], sizeof first);
    slab_context_destroy(context);
  }
}

static void lists_that_name_none_or_one_twice_are_refused(void **state) {
  (void)state;
  static const struct {
    const char *selector, *message;
    slab_status status;
  } refused[] = {
      {"0,0", "names device 0 twice, by \"0\"", SLAB_INVALID_ARGUMENT},
      {"0,1,cpu", "names device 0 twice, by \"cpu\"", SLAB_INVALID_ARGUMENT},
      {"0,", "has an empty entry", SLAB_INVALID_ARGUMENT},
      {",0", "has an empty entry", SLAB_INVALID_ARGUMENT},
      {"0,,1", "has an empty entry", SLAB_INVALID_ARGUMENT},
      {"0,nvidium", "matches \"nvidium\"", SLAB_NO_DEVICE},
      {"7,0", "matches \"7\"", SLAB_NO_DEVICE},
      {"all,0", "matches \"all\"", SLAB_NO_DEVICE},
  };
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const slab_context_options options = {.device = refused[i].selector};
    slab_context *context = NULL;
    assert_status(slab_context_create(&options, &context), refused[i].status);
    if (strstr(slab_message(), refused[i].message) == NULL) fail_msg("\"%s\": %s", refused[i].selector, slab_message());
    assert_null(context);
  }
}

/* ---- results ---- */

static void assert_same_answers(const answers *got, const answers *want, slab_query query) {
  size_t first;
  assert_true(answers_differ(got, want, query, &first) == 0);
  assert_true(got->invalid[query] == want->invalid[query]);
}

static void answers_are_those_of_one_device(void **state) {
  (void)state;
  slab_context *alone = open_devices("0", 0, 0);
  slab_scene *references[] = {mixed_fates_scene(alone, 1), mixed_tree(alone, SHAPES)};
  slab_ray *rays = mixed_rays(__func__, N);
  for (int copy = 0; copy < 2; copy++) {
    slab_context *both = open_devices("all", 64, copy);
    slab_scene *scenes[] = {mixed_fates_scene(both, 1), mixed_tree(both, SHAPES)};
    for (int s = 0; s < 2; s++) {
      answers want = {0}, got = {0};
      for (int q = 0; q < ANSWER_QUERIES; q++) {
        if (s == 1 && q != SLAB_CLOSEST && q != SLAB_ALL) continue; /* the others would be compiled; test_pretended */
        assert_ok(answers_cast(&want, (slab_query)q, references[s], rays, N, NULL));
        assert_ok(answers_cast(&got, (slab_query)q, scenes[s], rays, N, NULL));
        assert_same_answers(&got, &want, (slab_query)q);
      }
      answers_free(&want);
      answers_free(&got);
      slab_scene_destroy(scenes[s]);
    }
    slab_context_destroy(both);
  }
  free(rays);
  slab_scene_destroy(references[0]);
  slab_scene_destroy(references[1]);
  slab_context_destroy(alone);
}

/* ---- progress ---- */

typedef struct watch {
  pthread_t thread;
  uint64_t last, total, stop_at;
  bool falls, elsewhere;
} watch;

static int look(void *user, uint64_t done, uint64_t total) {
  watch *w = user;
  w->falls = w->falls || done <= w->last;
  w->elsewhere = w->elsewhere || !pthread_equal(w->thread, pthread_self());
  w->last = done;
  w->total = total;
  return w->stop_at != 0 && done >= w->stop_at;
}

static void progress_comes_from_the_callers_thread_and_can_cancel(void **state) {
  (void)state;
  slab_context *both = open_devices("all", 64, 0);
  slab_scene *scene = mixed_fates_scene(both, 1);
  slab_ray *rays = mixed_rays(__func__, N);
  float distances[N];
  watch whole = {.thread = pthread_self()}, some = {.thread = pthread_self(), .stop_at = N / 4};
  const slab_cast_options watched = {.progress = look, .user = &whole}, stopped = {.progress = look, .user = &some};
  assert_ok(slab_distance(scene, rays, N, distances, &watched));
  assert_true(whole.last == N && whole.total == N && !whole.falls && !whole.elsewhere);
  assert_status(slab_distance(scene, rays, N, distances, &stopped), SLAB_CANCELLED);
  assert_true(some.last >= N / 4 && !some.falls && !some.elsewhere);
  assert_ok(slab_distance(scene, rays, N, distances, NULL));
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(both);
}

/* ---- shares ---- */

/* bench_stream measures the ratio itself. Here the machine may be busy with other work. */
static void slow_device_gets_less(void **state) {
  (void)state;
  const size_t n = 100000;
  slab_context *both = open_devices("all", 2048, 0), *alone = open_devices("0", 0, 0);
  slab_scene *scene = mixed_fates_scene(both, 1), *reference = mixed_fates_scene(alone, 1);
  slab_ray *rays = mixed_rays(__func__, n);
  slab_hit *got = malloc(n * sizeof *got), *want = malloc(n * sizeof *want);
  assert_non_null(got);
  assert_non_null(want);
  assert_ok(slab_closest(reference, rays, n, want, NULL));
  for (unsigned slow = 0; slow < 2; slow++) {
    assert_ok(slab_closest(scene, rays, 100, got, NULL)); /* builds the kernels */
    under.slow(1 - slow, 100e3); /* half a second in all: enough time for the other device's thread to begin */
    under.slow(slow, 800e3);
    assert_ok(slab_closest(scene, rays, n, got, NULL));
    const unsigned long long less = under.slow_items(slow), more = under.slow_items(1 - slow);
    under.slow(slow, 0.0);
    under.slow(1 - slow, 0.0);
    if (less == 0 || 2 * less > more) fail_msg("device %u is slow, and casts %llu against %llu", slow, less, more);
    assert_same_bits(got, want, n, sizeof *got);
  }
  free(got);
  free(want);
  free(rays);
  slab_scene_destroy(scene);
  slab_scene_destroy(reference);
  slab_context_destroy(both);
  slab_context_destroy(alone);
}

/* ---- failures ---- */

static void failing_device_is_named_and_the_context_stays_usable(void **state) {
  (void)state;
  slab_context *both = open_devices("all", 64, 0);
  slab_scene *scene = mixed_fates_scene(both, 1);
  slab_ray *rays = mixed_rays(__func__, N);
  slab_hit hits[N], want[N];
  slab_device_info info;
  assert_ok(slab_context_device(both, &info)); /* both devices have the same name */
  assert_ok(slab_closest(scene, rays, N, want, NULL));
  for (unsigned nth = 1; nth < 40; nth += 13) {
    (under.fail)(nth, FAIL_LATE, CL_OUT_OF_RESOURCES);
    const slab_status status = slab_closest(scene, rays, N, hits, NULL);
    assert_int_equal(under.fail_end().failed, 1);
    assert_int_equal(status, SLAB_DEVICE_FAILED);
    if (strstr(slab_message(), info.name) == NULL || strstr(slab_message(), "of 3000 rays: clWaitForEvents") == NULL)
      fail_msg("%s", slab_message());
    assert_ok(slab_closest(scene, rays, N, hits, NULL));
    assert_same_bits(hits, want, N, sizeof *hits);
  }
  free(rays);
  slab_scene_destroy(scene);
  slab_context_destroy(both);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(lists_name_their_devices_in_order),
      cmocka_unit_test(lists_that_name_none_or_one_twice_are_refused),
      cmocka_unit_test(answers_are_those_of_one_device),
      cmocka_unit_test(progress_comes_from_the_callers_thread_and_can_cancel),
      cmocka_unit_test(slow_device_gets_less),
      cmocka_unit_test(failing_device_is_named_and_the_context_stays_usable),
  };
  under = layers_load();
  if (under.fail == NULL || under.slow == NULL || under.slow_items == NULL) {
    fprintf(stderr, "test_devices: the layers are not there: OPENCL_LAYERS names other files\n");
    return 1;
  }
  return cmocka_run_group_tests(tests, NULL, NULL);
}
