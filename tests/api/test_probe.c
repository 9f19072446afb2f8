/* A new context probes what its device really computes. Every operation that a device computes wrongly must be
 * detected. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "data/probed.h"
#include "faults/layers.h"
#include "lanes/lanes.h"
#include "mixed_fates.h"
#include "opencl.h"
#include "opencl/probe.h"

enum { N = 2000, SPHERES = 20 };

/* ---- the layer ---- */

typedef struct liar {
  lie_arm *arm;
  lie_told *told;
} liar;

static liar load_liar(void) {
  const layers under = layers_with(LIE_LAYER);
  return (liar){under.lie, under.lie_told};
}

/* From now on the device computes as this lie says, and has not been probed. */
static void lie(const liar *l, const char *name, int number) {
  if (!l->arm(name, number)) fail_msg("there is no lie \"%s\"", name ? name : "");
  probe_forget();
}

static int tell_the_truth(void **state) {
  lie(*state, NULL, -1);
  return 0;
}

static slab_status open_first(slab_context **context) {
  const slab_context_options options = {.lane_width = harness_width()};
  return slab_context_create(&options, context);
}

static slab_device_info info_of(const slab_context *context) {
  slab_device_info info;
  assert_ok(slab_context_device(context, &info));
  return info;
}

/* The device's report about itself. */
static slab_device_info reported(void) {
  slab_device_info list[1];
  size_t count;
  assert_ok(slab_devices(list, 1, &count));
  return list[0];
}

/* ---- the table ---- */

#define scalar_divide(a, b) lanes_divide(a, b)
#define as_uint(x) ray_bits(x)
#define lanes_convert(x) ((float)(x))
#define byte_of(x) ((x) >> 16 & 0xFFu)

static float in_c(unsigned operation, float a, float b, float c) {
  switch (operation) {
#define VALUE(name, of_lanes, of_scalars) \
  case PROBED_##name:                     \
    return of_lanes;
    PROBED_REALS(VALUE)
#undef VALUE
    default:
      fail_msg("operation %u is none of numbers", operation);
      return NAN;
  }
}

static void table_is_what_c_says(void **state) {
  (void)state;
  size_t compared = 0;
  for (size_t i = 0; i < probe_case_count; i++) {
    const probe_case *c = &probe_cases[i];
    if (c->operation >= PROBED_RELATIONS) continue;
    const float want = in_c(c->operation, c->operands[0], c->operands[1], c->operands[2]);
    if (isnan(want) ? !isnan(c->right.real) : ray_bits(want) != c->right.word)
      fail_msg("case %zu: the table has %a, C %a", i, (double)c->right.real, (double)want);
    compared++;
  }
  assert_true(compared > 80);
}

static void each_operation_is_asked(void **state) {
  (void)state;
  bool asked[PROBED_OPERATIONS] = {0};
  for (size_t i = 0; i < probe_case_count; i++) asked[probe_cases[i].operation] = true;
  for (int i = 0; i < PROBED_OPERATIONS; i++) assert_true(asked[i]);
}

/* ---- lies ---- */

typedef struct refusal {
  const char *lie, *says;
} refusal;

static const refusal refused[] = {
    {"contracts", "(a * b) + c"},
    {"fast math", ""},
    {"finite math", ""},
    {"fma not fused", "lanes_fma(a, b, c)"},
    {"fma through double", "lanes_fma(a, b, c)"},
    {"whole numbers too", "_divide(a, b)"},
    {"max keeps NaN", "_max((a * b), c)"},
    {"min keeps NaN", "_min((a * b), c)"},
    {"sums toward 0", "a + b"},
    {"sums away from ties", "a + b"},
    {"products toward 0", "(a * b)"},
    {"differences as sums", "a - b"},
    {"lanes alone", "a + b in lane "},
    {"scalars alone", "a + b of scalars "},
    {"0 * inf is 0", "(a * b)"},
    {"contracts differences", "c - (a * b)"},
    {"a lane is lost", "lanes_bits(a < b)"},
    {"reassociates", "a + b + c"},
    {"distributes", "(a - b) * c"},
    {"NaN is less", "relations("},
    {"NaN is equal", "relations("},
    {"bytes have signs", "(float)(byte_of(as_uint(a)))"},
    {"shifts keep the sign", ">> 23"},
    {"halves round down", "/ 2"},
    {"counts one too many", "lowest"},
    {"contracts two products", "(a * b) - (b * c)"},
    {"magnitudes keep the sign", "lanes_abs(a)"},
    {"loops end", "after 65535"},
};

/* A lie that is accepted, and its changes to the device's properties. */
typedef struct excuse {
  const char *lie;
  bool divides, flushes;
  bool casts; /* the kernels of casts lie as well; their results are right nevertheless */
} excuse;

static const excuse excused[] = {
    {NULL, true, false, true},
    {"quotients", false, false, true},
    {"quotients of lanes", false, false, false},
    {"quotients of scalars", false, false, false},
    {"quotients by 0", false, false, false},
    {"roots", false, false, false},
    {"quotients, double too", false, false, true},
    {"roots, double too", false, false, true},
    {"flushes", true, true, true},
    {"flushes results", true, true, false},
    {"flushes operands", true, true, false},
    {"flushes residuals", true, true, false},
};

/* Each lie must be compiled, and the widths share most of the text. So widths other than 8 test only every fourth
 * lie. */
static bool is_told(size_t nth) { return harness_width() == 8 || nth % 4 == 0; }

static void assert_planted(const liar *l, const char *name) {
  if (l->told().planted == 0) fail_msg("the lie \"%s\" was not planted", name);
}

static void assert_says(const char *name, const char *part) {
  if (!strstr(slab_message(), part)) fail_msg("%s: \"%s\" does not mention \"%s\"", name, slab_message(), part);
}

/* All on one context of the caller: PoCL reads its library of built-in functions for each context that compiles, which
 * takes half a second. The test lies_are_remembered opens the library's own contexts on a device that lies. */
static void device_that_computes_wrongly_is_refused(void **state) {
  const liar *l = *state;
  cl_device_id id = opencl_device();
  cl_context shared = opencl_context(&id, 1);
  const slab_context_options options = {.lane_width = harness_width()};
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    const refusal *e = &refused[i];
    if (!is_told(i)) continue;
    slab_context *context = NULL;
    lie(l, e->lie, -1);
    const slab_status status = slab_context_create_cl(shared, id, NULL, &options, &context);
    print_message("%s: %s\n", e->lie, status == SLAB_OK ? "not seen" : slab_message());
    assert_status(status, SLAB_UNSUPPORTED);
    assert_null(context);
    assert_planted(l, e->lie);
    assert_says(e->lie, e->says);
    assert_says(e->lie, reported().name);
  }
  assert_cl(clReleaseContext(shared));
}

/* Spheres use roots as well as quotients. */
static slab_scene *spheres_in(slab_context *context) {
  slab_sphere spheres[SPHERES];
  slab_scene *scene = NULL;
  random_state random = random_seed(7);
  for (int i = 0; i < SPHERES; i++) {
    for (int k = 0; k < 3; k++) spheres[i].center[k] = random_between(&random, -8.0f, 8.0f);
    spheres[i].radius = random_between(&random, 0.5f, 3.0f);
  }
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_spheres(scene, spheres, SPHERES, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static void cast_and_check(slab_context *context) {
  slab_scene *scene = spheres_in(context);
  slab_ray *rays = mixed_rays("test_probe", N);
  static slab_hit hits[N];
  slab_check_report report = {0};
  assert_ok(slab_closest(scene, rays, N, hits, NULL));
  assert_ok(slab_check(scene, SLAB_CLOSEST, rays, N, hits, NULL, NULL, &report));
  if (report.mismatches) fail_msg("%s", report.text);
  free(rays);
  slab_scene_destroy(scene);
}

static void device_that_divides_or_flushes_is_known(void **state) {
  const liar *l = *state;
  const slab_device_info own = reported();
  for (size_t i = 0; i < sizeof excused / sizeof *excused; i++) {
    const excuse *e = &excused[i];
    if (!is_told(i)) continue;
    slab_context *context = NULL;
    lie(l, e->lie, -1);
    const slab_status status = open_first(&context);
    print_message("%s\n", e->lie ? e->lie : "the truth");
    assert_ok(status);
    if (e->lie) assert_planted(l, e->lie);
    assert_int_equal(info_of(context).exact_divide, own.exact_divide && e->divides);
    assert_int_equal(info_of(context).denormals, own.denormals && !e->flushes);
    if (e->casts) cast_and_check(context);
    slab_context_destroy(context);
    assert_int_equal(reported().exact_divide, own.exact_divide); /* the device's own report is unchanged */
  }
}

/* ---- how often a device is probed, and where ---- */

static void device_is_asked_once(void **state) {
  const liar *l = *state;
  slab_context *contexts[3] = {NULL};
  lie(l, NULL, -1);
  reported();
  assert_int_equal(l->told().probes, 0);
  assert_ok(open_first(&contexts[0]));
  const unsigned first = l->told().probes; /* one for each way of dividing that was tested */
  assert_true(first > 0);
  assert_ok(open_first(&contexts[1]));
  assert_int_equal(l->told().probes, first);
  const slab_context_options other = {.lane_width = info_of(contexts[0]).lane_width == 8 ? 1 : 8};
  assert_ok(slab_context_create(&other, &contexts[2]));
  assert_true(l->told().probes > first);
  for (int i = 0; i < 3; i++) slab_context_destroy(contexts[i]);
}

/* The result of the probe is remembered too. */
static void lies_are_remembered(void **state) {
  const liar *l = *state;
  slab_context *context = NULL;
  lie(l, "reassociates", -1);
  assert_status(open_first(&context), SLAB_UNSUPPORTED);
  assert_true(l->arm(NULL, -1));
  assert_status(open_first(&context), SLAB_UNSUPPORTED);
  assert_says("again", "a + b + c");
  assert_int_equal(l->told().probes, 0);
  lie(l, "flushes results", -1);
  for (int i = 0; i < 2; i++) {
    assert_ok(open_first(&context));
    assert_false(info_of(context).denormals);
    slab_context_destroy(context);
  }
}

/* A sub-device is freed with its last reference, and another one may then have its id. */
static void part_of_a_device_is_asked_each_time(void **state) {
  const liar *l = *state;
  cl_device_id part = opencl_part();
  if (!part) skip();
  cl_context context = opencl_context(&part, 1);
  for (unsigned i = 0; i < 3; i++) {
    lie(l, NULL, -1);
    for (int again = 0; again < 2; again++) slab_context_destroy(opencl_slab(context, part, NULL));
    assert_true(l->told().probes >= 2);
  }
  assert_cl(clReleaseContext(context));
  assert_cl(clReleaseDevice(part));
}

static void callers_context_is_asked_too(void **state) {
  cl_device_id id = opencl_device();
  cl_context context = opencl_context(&id, 1);
  const slab_context_options options = {.lane_width = harness_width()};
  slab_context *slab = NULL;
  lie(*state, "reassociates", -1);
  assert_status(slab_context_create_cl(context, id, NULL, &options, &slab), SLAB_UNSUPPORTED);
  assert_says("on the caller's context", "a + b + c");
  assert_null(slab);
  assert_cl(clReleaseContext(context));
}

static void blocked_queue_of_the_caller_is_left_alone(void **state) {
  cl_device_id device = opencl_device();
  cl_context context = opencl_context(&device, 1);
  cl_command_queue queue = opencl_queue(context, device, 0);
  cl_event gate = opencl_gate(context), behind = NULL;
  lie(*state, NULL, -1);
  assert_cl(clEnqueueBarrierWithWaitList(queue, 1, &gate, &behind));
  alarm(120); /* a probe on that queue would hang */
  slab_context *slab = opencl_slab(context, device, queue);
  alarm(0);
  assert_false(opencl_is_complete(behind));
  opencl_open_gate(gate);
  cast_and_check(slab);
  slab_context_destroy(slab);
  assert_cl(clReleaseEvent(behind));
  assert_cl(clReleaseEvent(gate));
  assert_cl(clReleaseCommandQueue(queue));
  assert_cl(clReleaseContext(context));
}

/* With two devices, one of which computes wrongly. */
static void all_are_those_that_compute_rightly(void **state) {
  cl_device_id devices[2];
  if (!opencl_two_devices(devices)) skip();
  for (int liar_number = 0; liar_number < 2; liar_number++) {
    slab_context *context = NULL;
    size_t count;
    lie(*state, "reassociates", liar_number);
    const slab_context_options all = {.device = "all", .lane_width = harness_width()};
    assert_ok(slab_context_create(&all, &context));
    assert_ok(slab_context_devices(context, NULL, 0, &count));
    assert_int_equal(count, 1);
    cast_and_check(context);
    slab_context_destroy(context);
    const slab_context_options both = {.device = "0,1", .lane_width = harness_width()};
    assert_status(slab_context_create(&both, &context), SLAB_UNSUPPORTED);
  }
  lie(*state, "reassociates", -1);
  slab_context *context = NULL;
  const slab_context_options all = {.device = "all", .lane_width = harness_width()};
  assert_status(slab_context_create(&all, &context), SLAB_UNSUPPORTED);
}

int main(void) {
  static liar l;
  l = load_liar();
  if (!l.arm || !l.told) {
    fprintf(stderr, "test_probe: the loader does not take %s\n", LIE_LAYER);
    return 1;
  }
#define TEST(function) cmocka_unit_test_prestate_setup_teardown(function, NULL, tell_the_truth, &l)
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(table_is_what_c_says),
      cmocka_unit_test(each_operation_is_asked),
      TEST(device_that_computes_wrongly_is_refused),
      TEST(device_that_divides_or_flushes_is_known),
      TEST(device_is_asked_once),
      TEST(lies_are_remembered),
      TEST(part_of_a_device_is_asked_each_time),
      TEST(callers_context_is_asked_too),
      TEST(blocked_queue_of_the_caller_is_left_alone),
      TEST(all_are_those_that_compute_rightly),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
