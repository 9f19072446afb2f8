/* Arguments, states, statuses and messages. */
#include <stdlib.h>
#include <string.h>

#include "counting_scene.h"
#include "harness.h"
#include "os/thread.h"
#include "refused.h"

/* The call is refused with this status, and the message contains `part`. */
#define assert_refused(call, status, part) \
  do {                                     \
    assert_status((call), (status));       \
    assert_mentions(part);                 \
  } while (0)

static void assert_filled(const void *bytes, size_t size, unsigned char value) {
  for (size_t i = 0; i < size; i++) assert_int_equal(((const unsigned char *)bytes)[i], value);
}

/* ---- statuses and messages ---- */

static void every_status_has_its_text(void **state) {
  (void)state;
#define CHECK_TEXT(name, text) assert_string_equal(slab_status_text(name), text);
  SLAB_STATUSES(CHECK_TEXT)
#undef CHECK_TEXT
  assert_int_equal(SLAB_OK, 0);
  assert_string_equal(slab_status_text((slab_status)999), "unknown status");
  assert_string_equal(slab_status_text((slab_status)-1), "unknown status");
}

static void every_query_has_its_size(void **state) {
  (void)state;
  assert_int_equal(slab_result_size(SLAB_CLOSEST), 32);
  assert_int_equal(slab_result_size(SLAB_DISTANCE), 4);
  assert_int_equal(slab_result_size(SLAB_ANY), 1);
  assert_int_equal(slab_result_size(SLAB_COUNT), 4);
  assert_int_equal(slab_result_size(SLAB_ALL), 32);
  assert_int_equal(slab_result_size(SLAB_INTERVAL), 16);
  assert_int_equal(slab_result_size(SLAB_NEAREST), 12);
  assert_int_equal(slab_result_size((slab_query)SLAB_QUERY_COUNT), 0);
  assert_int_equal(slab_result_size((slab_query)-1), 0);
}

typedef struct fresh_thread {
  char before[64], after[512];
} fresh_thread;

static void *fail_on_thread(void *argument) {
  fresh_thread *seen = argument;
  strncpy(seen->before, slab_message(), sizeof seen->before - 1);
  const slab_context_options options = {.lane_width = 5};
  slab_context *context = NULL;
  if (slab_context_create(&options, &context) != SLAB_INVALID_ARGUMENT) return NULL;
  strncpy(seen->after, slab_message(), sizeof seen->after - 1);
  return seen;
}

static void message_belongs_to_its_thread(void **state) {
  (void)state;
  assert_refused(slab_scene_create(NULL, NULL), SLAB_INVALID_ARGUMENT, "slab_scene_create");
  fresh_thread seen = {"?", ""};
  os_thread thread;
  assert_int_equal(os_thread_start(&thread, fail_on_thread, &seen), 0);
  os_thread_join(thread);
  assert_string_equal(seen.before, "");
  assert_non_null(strstr(seen.after, "5"));
  assert_mentions("slab_scene_create"); /* this thread's message is unchanged */
}

static void message_outlives_a_success(void **state) {
  (void)state;
  size_t count = 0;
  assert_refused(slab_scene_commit(NULL, NULL), SLAB_INVALID_ARGUMENT, "slab_scene_commit");
  assert_ok(slab_devices(NULL, 0, &count));
  assert_mentions("slab_scene_commit");
}

/* ---- devices and contexts ---- */

static void devices_are_counted_and_listed(void **state) {
  (void)state;
  size_t count = 0, again = 0;
  assert_ok(slab_devices(NULL, 0, &count));
  assert_true(count > 0);
  slab_device_info *list = malloc((count + 1) * sizeof *list);
  assert_non_null(list);
  memset(list, 0xA5, (count + 1) * sizeof *list);
  assert_ok(slab_devices(list, count + 1, &again));
  assert_int_equal(again, count);
  assert_filled(&list[count], sizeof *list, 0xA5);
  for (size_t i = 0; i < count; i++) {
    assert_non_null(memchr(list[i].name, 0, sizeof list[i].name));
    assert_true(list[i].name[0] != 0);
    assert_in_range(list[i].type, SLAB_DEVICE_OTHER, SLAB_DEVICE_GPU);
    assert_true(list[i].compute_units > 0 && list[i].memory_bytes > 0 && list[i].allocation_bytes > 0);
    assert_true(list[i].lane_width == 1 || list[i].lane_width == 8 || list[i].lane_width == 16);
  }
  memset(list, 0xA5, sizeof *list);
  assert_ok(slab_devices(list, 0, &again)); /* capacity 0: writes no entry */
  assert_int_equal(again, count);
  assert_filled(list, sizeof *list, 0xA5);
  free(list);
}

static void device_list_without_a_place_is_refused(void **state) {
  (void)state;
  slab_device_info info;
  size_t count = 77;
  assert_status(slab_devices(&info, 1, NULL), SLAB_INVALID_ARGUMENT);
  assert_status(slab_devices(NULL, 1, &count), SLAB_INVALID_ARGUMENT);
  assert_int_equal(count, 77);
}

static void context_stands_on_the_device_that_was_selected(void **state) {
  (void)state;
  size_t count = 0;
  slab_device_info first, info;
  assert_ok(slab_devices(&first, 1, &count));
  char part[8] = "";
  memcpy(part, first.name, sizeof part - 1);
  const char *const selectors[] = {"0", part, first.name};
  for (size_t i = 0; i < sizeof selectors / sizeof *selectors; i++) {
    const slab_context_options options = {.device = selectors[i]};
    slab_context *context = NULL;
    assert_ok(slab_context_create(&options, &context));
    assert_ok(slab_context_device(context, &info));
    assert_string_equal(info.name, first.name);
    assert_int_equal(info.allocation_bytes, first.allocation_bytes);
    slab_context_destroy(context);
  }
}

static void type_selectors_find_a_device_of_the_type(void **state) {
  (void)state;
  const char *const names[] = {"cpu", "gpu"};
  const slab_device_type types[] = {SLAB_DEVICE_CPU, SLAB_DEVICE_GPU};
  for (int i = 0; i < 2; i++) {
    slab_device_info list[64], info;
    size_t count = 0, matching = 0;
    assert_ok(slab_devices(list, 64, &count));
    for (size_t k = 0; k < count && k < 64; k++) matching += list[k].type == types[i];
    const slab_context_options options = {.device = names[i]};
    slab_context *context = NULL;
    slab_status status = slab_context_create(&options, &context);
    assert_int_equal(status, matching > 0 ? SLAB_OK : SLAB_NO_DEVICE);
    if (status == SLAB_OK) {
      assert_ok(slab_context_device(context, &info));
      assert_int_equal(info.type, types[i]);
    }
    slab_context_destroy(context);
  }
}

static void selector_that_matches_nothing_is_no_device(void **state) {
  (void)state;
  const char *const selectors[] = {"no such device", "4242"};
  for (int i = 0; i < 2; i++) {
    const slab_context_options options = {.device = selectors[i]};
    slab_context *const untouched = (slab_context *)(void *)&options, *context = untouched;
    assert_refused(slab_context_create(&options, &context), SLAB_NO_DEVICE, selectors[i]);
    assert_ptr_equal(context, untouched);
  }
}

static void lane_widths_are_1_8_16_or_the_devices_own(void **state) {
  (void)state;
  for (uint32_t width = 0; width <= 17; width++) {
    const slab_context_options options = {.lane_width = width};
    slab_context *context = NULL;
    slab_device_info info;
    if (width == 0 || width == 1 || width == 8 || width == 16) {
      const slab_status status = slab_context_create(&options, &context);
      if (harness_is_native() && status == SLAB_UNSUPPORTED) continue; /* of other processors */
      assert_ok(status);
      assert_ok(slab_context_device(context, &info));
      if (width != 0) assert_int_equal(info.lane_width, width);
      slab_context_destroy(context);
    } else {
      assert_status(slab_context_create(&options, &context), SLAB_INVALID_ARGUMENT);
      assert_null(context);
    }
  }
}

static void tactic_that_is_none_is_refused(void **state) {
  (void)state;
  static const struct {
    int traversal;
    const char *says;
  } wrong[] = {{SLAB_TRAVERSAL_SORTED + 1, "traversal is 5"}, {-1, "traversal is -1"}, {999, "traversal is 999"}};
  for (int i = 0; i < 3; i++) {
    const slab_context_options options = {.traversal = (slab_traversal)wrong[i].traversal};
    slab_context *const untouched = (slab_context *)(void *)&options, *context = untouched;
    assert_refused(slab_context_create(&options, &context), SLAB_INVALID_ARGUMENT, wrong[i].says);
    assert_ptr_equal(context, untouched);
  }
  for (int traversal = 0; traversal <= SLAB_TRAVERSAL_SORTED; traversal++) {
    const slab_context_options options = {.traversal = (slab_traversal)traversal};
    slab_context *context = NULL;
    assert_ok(slab_context_create(&options, &context));
    slab_context_destroy(context);
  }
}

static void context_calls_name_a_missing_argument(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_device_info info;
  slab_scene *scene = NULL;
  assert_refused(slab_context_create(NULL, NULL), SLAB_INVALID_ARGUMENT, "context");
  assert_refused(slab_context_device(NULL, &info), SLAB_INVALID_ARGUMENT, "context");
  assert_refused(slab_context_device(context, NULL), SLAB_INVALID_ARGUMENT, "info");
  assert_refused(slab_scene_create(NULL, &scene), SLAB_INVALID_ARGUMENT, "context");
  assert_refused(slab_scene_create(context, NULL), SLAB_INVALID_ARGUMENT, "scene");
  assert_null(scene);
  slab_context_destroy(context);
  slab_context_destroy(NULL);
  slab_scene_destroy(NULL);
}

/* ---- scenes ---- */

static void adding_names_a_missing_argument(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = NULL;
  assert_ok(slab_scene_create(context, &scene));
  uint32_t geometry = 77;
  const uint32_t indices[] = {0, 1, 2};
  const slab_mesh vertexless = {NULL, 0, 3, indices, 1, NULL};
  for (int kind = 0; kind < SHAPE_KINDS; kind++) {
    assert_refused(shape_add(NULL, (slab_shape)kind, NULL, 0, NULL), SLAB_INVALID_ARGUMENT, "scene");
    if (kind == SLAB_TRIANGLE) continue; /* a mesh: below */
    assert_refused(shape_add_array(scene, (slab_shape)kind, NULL, 1, NULL, &geometry), SLAB_INVALID_ARGUMENT, "NULL");
  }
  assert_refused(slab_scene_add_mesh(scene, NULL, NULL, &geometry), SLAB_INVALID_ARGUMENT, "mesh");
  assert_refused(slab_scene_add_mesh(scene, &vertexless, NULL, &geometry), SLAB_INVALID_ARGUMENT, "vertices");
  assert_int_equal(geometry, 77);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void commit_and_info_check_their_arguments(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = NULL;
  slab_scene_stats stats;
  const slab_build_options beyond = {.tree = (slab_tree)(SLAB_TREE_HIGH + 1)}, negative = {.tree = (slab_tree)-1},
                           unknown = {.update = (slab_update)(SLAB_UPDATE_REBUILD + 1)};
  memset(&stats, 0xA5, sizeof stats);
  assert_ok(slab_scene_create(context, &scene));
  assert_refused(slab_scene_commit(NULL, NULL), SLAB_INVALID_ARGUMENT, "scene");
  assert_refused(slab_scene_commit(scene, &beyond), SLAB_INVALID_ARGUMENT, "tree");
  assert_refused(slab_scene_commit(scene, &negative), SLAB_INVALID_ARGUMENT, "tree");
  assert_refused(slab_scene_commit(scene, &unknown), SLAB_INVALID_ARGUMENT, "update");
  assert_status(slab_scene_info(scene, &stats), SLAB_INVALID_STATE); /* the refused commits left the scene open */
  assert_ok(slab_scene_commit(scene, NULL));
  assert_refused(slab_scene_info(NULL, &stats), SLAB_INVALID_ARGUMENT, "scene");
  assert_refused(slab_scene_info(scene, NULL), SLAB_INVALID_ARGUMENT, "stats");
  assert_filled(&stats, sizeof stats, 0xA5);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* ---- casts ---- */

/* All casts of this scene with these arguments return this status and leave the outputs unchanged. */
static void assert_casts(slab_scene *scene, const slab_ray *rays, size_t n, const slab_cast_options *options,
                         slab_status status) {
  unsigned char results[64];
  uint64_t offsets[2], required;
  memset(results, 0xA5, sizeof results);
  memset(offsets, 0xA5, sizeof offsets);
  memset(&required, 0xA5, sizeof required);
  for (int i = 0; i < EACH_QUERY_COUNT; i++)
    assert_status(cast_query(scene, each_query(i), rays, n, results, options), status);
  assert_status(slab_all(scene, rays, n, offsets, (slab_hit *)(void *)results, 1, &required, options), status);
  assert_filled(results, sizeof results, 0xA5);
  assert_filled(offsets, sizeof offsets, 0xA5);
  assert_filled(&required, sizeof required, 0xA5);
}

static void casting_before_commit_is_out_of_order(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = NULL;
  slab_check_report report;
  slab_hit hit = {0};
  memset(&report, 0xA5, sizeof report);
  assert_ok(slab_scene_create(context, &scene));
  const slab_ray ray = counting_ray(0);
  assert_casts(scene, &ray, 1, NULL, SLAB_INVALID_STATE);
  assert_status(slab_check(scene, SLAB_CLOSEST, &ray, 1, &hit, NULL, NULL, &report), SLAB_INVALID_STATE);
  assert_filled(&report, sizeof report, 0xA5);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void casts_check_their_arguments(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = counting_scene(context);
  const slab_ray ray = counting_ray(0);
  uint64_t offsets[2] = {9, 9}, invalid = 77;
  const slab_cast_options beyond = {.cull = (slab_cull)(SLAB_CULL_FRONT + 1), .invalid = &invalid};
  const slab_cast_options negative = {.cull = (slab_cull)-1, .invalid = &invalid};
  const slab_cast_options other_edges = {.edges = (slab_edges)(SLAB_EDGES_CLOSED + 1), .invalid = &invalid};
  assert_casts(NULL, &ray, 1, NULL, SLAB_INVALID_ARGUMENT);
  assert_casts(scene, NULL, 1, NULL, SLAB_INVALID_ARGUMENT);
  assert_casts(scene, &ray, 1, &beyond, SLAB_INVALID_ARGUMENT);
  assert_casts(scene, &ray, 1, &negative, SLAB_INVALID_ARGUMENT);
  assert_casts(scene, &ray, 1, &other_edges, SLAB_INVALID_ARGUMENT);
  assert_int_equal(invalid, 77);
  for (int i = 0; i < EACH_QUERY_COUNT; i++)
    assert_status(cast_query(scene, each_query(i), &ray, 1, NULL, NULL), SLAB_INVALID_ARGUMENT);
  slab_hit hit;
  assert_refused(slab_all(scene, &ray, 1, NULL, &hit, 1, NULL, NULL), SLAB_INVALID_ARGUMENT, "offsets");
  assert_refused(slab_all(scene, &ray, 1, offsets, NULL, 1, NULL, NULL), SLAB_INVALID_ARGUMENT, "hits");
  assert_int_equal(offsets[0], 9);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void pairs_check_their_arguments(void **state) {
  (void)state;
  slab_context *context = harness_context();
  const slab_ray ray = counting_ray(0);
  const slab_sphere sphere = {{0, 0, 0}, 1};
  slab_interval interval;
  assert_refused(slab_pairs(NULL, SLAB_SPHERE, &ray, &sphere, 1, &interval), SLAB_INVALID_ARGUMENT, "context");
  assert_refused(slab_pairs(context, SLAB_SPHERE, NULL, &sphere, 1, &interval), SLAB_INVALID_ARGUMENT, "rays");
  assert_refused(slab_pairs(context, SLAB_SPHERE, &ray, NULL, 1, &interval), SLAB_INVALID_ARGUMENT, "shapes");
  assert_refused(slab_pairs(context, SLAB_SPHERE, &ray, &sphere, 1, NULL), SLAB_INVALID_ARGUMENT, "intervals");
  assert_refused(slab_pairs(context, (slab_shape)(SLAB_TRIANGLE + 1), &ray, &sphere, 1, &interval),
                 SLAB_INVALID_ARGUMENT, "kind");
  slab_context_destroy(context);
}

static void check_checks_its_arguments(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = counting_scene(context);
  const slab_ray ray = counting_ray(0);
  const slab_hit hit = counting_hit(0, 0);
  const uint64_t offsets[] = {0, 1};
  slab_check_report r;
  assert_refused(slab_check(NULL, SLAB_CLOSEST, &ray, 1, &hit, NULL, NULL, &r), SLAB_INVALID_ARGUMENT, "scene");
  assert_refused(slab_check(scene, SLAB_CLOSEST, NULL, 1, &hit, NULL, NULL, &r), SLAB_INVALID_ARGUMENT, "rays");
  assert_refused(slab_check(scene, SLAB_CLOSEST, &ray, 1, NULL, NULL, NULL, &r), SLAB_INVALID_ARGUMENT, "results");
  assert_refused(slab_check(scene, SLAB_CLOSEST, &ray, 1, &hit, NULL, NULL, NULL), SLAB_INVALID_ARGUMENT, "report");
  assert_refused(slab_check(scene, SLAB_ALL, &ray, 1, &hit, NULL, NULL, &r), SLAB_INVALID_ARGUMENT, "offsets");
  assert_refused(slab_check(scene, SLAB_ALL, &ray, 1, NULL, offsets, NULL, &r), SLAB_INVALID_ARGUMENT, "results");
  assert_refused(slab_check(scene, (slab_query)SLAB_QUERY_COUNT, &ray, 1, &hit, offsets, NULL, &r),
                 SLAB_INVALID_ARGUMENT, "query");
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void check_refuses_options_that_a_cast_refuses(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = counting_scene(context);
  const slab_ray ray = counting_ray(0);
  const slab_hit hit = counting_hit(0, 0);
  const slab_cast_options beyond = {.cull = (slab_cull)(SLAB_CULL_FRONT + 1)};
  slab_check_report r;
  assert_refused(slab_check(scene, SLAB_CLOSEST, &ray, 1, &hit, NULL, &beyond, &r), SLAB_INVALID_ARGUMENT, "cull");
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_status_has_its_text),
      cmocka_unit_test(every_query_has_its_size),
      cmocka_unit_test(message_belongs_to_its_thread),
      cmocka_unit_test(message_outlives_a_success),
      cmocka_unit_test(devices_are_counted_and_listed),
      cmocka_unit_test(device_list_without_a_place_is_refused),
      cmocka_unit_test(context_stands_on_the_device_that_was_selected),
      cmocka_unit_test(type_selectors_find_a_device_of_the_type),
      cmocka_unit_test(selector_that_matches_nothing_is_no_device),
      cmocka_unit_test(lane_widths_are_1_8_16_or_the_devices_own),
      cmocka_unit_test(tactic_that_is_none_is_refused),
      cmocka_unit_test(context_calls_name_a_missing_argument),
      cmocka_unit_test(adding_names_a_missing_argument),
      cmocka_unit_test(commit_and_info_check_their_arguments),
      cmocka_unit_test(casting_before_commit_is_out_of_order),
      cmocka_unit_test(casts_check_their_arguments),
      cmocka_unit_test(pairs_check_their_arguments),
      cmocka_unit_test(check_checks_its_arguments),
      cmocka_unit_test(check_refuses_options_that_a_cast_refuses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
