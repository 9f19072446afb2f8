/* fork(): a child has none of the threads that OpenCL drivers wait for. Calls that would hang must be
 * refused at once; a time limit checks this. Calls that do not need those threads must work. A child that was forked
 * early enough must work in full. */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
#include "slabcast_cl.h"
#include "slabcast_cuda.h"

/* Time limits of a child in seconds: one that compiles kernels, and one whose calls are refused. */
enum { WORKING_SECONDS = 200, REFUSED_SECONDS = 30 };
/* Enough that several threads build the BVH. */
enum { BOXES = 6000 };

/* ---- a row of unit boxes, and a ray down at each; a failed claim is reported by its line ---- */

#define CLAIM(claim)                                                                         \
  do {                                                                                       \
    if (claim) break;                                                                        \
    fprintf(stderr, "child: %s:%d: %s\n  %s\n", __FILE__, __LINE__, #claim, slab_message()); \
    return 1;                                                                                \
  } while (0)

typedef struct world {
  slab_context *context;
  slab_scene *scene, *open; /* scene is committed, open is not */
  slab_box boxes[BOXES];
  slab_ray rays[BOXES];
  slab_hit hits[BOXES];
} world;

static int world_begin(world *w) {
  const slab_context_options options = {.lane_width = harness_width()};
  for (int i = 0; i < BOXES; i++) {
    const float x = 3.0f * (float)i;
    w->boxes[i] = (slab_box){{x, 0, 0}, {x + 1, 1, 1}};
    w->rays[i] = (slab_ray){{x + 0.5f, 0.5f, 9}, 0, {0, 0, -1}, INFINITY};
  }
  CLAIM(slab_context_create(&options, &w->context) == SLAB_OK);
  CLAIM(slab_scene_create(w->context, &w->scene) == SLAB_OK);
  CLAIM(slab_scene_create(w->context, &w->open) == SLAB_OK);
  CLAIM(slab_scene_add_boxes(w->scene, w->boxes, BOXES, NULL, NULL) == SLAB_OK);
  CLAIM(slab_scene_commit(w->scene, NULL) == SLAB_OK);
  return 0;
}

static int world_answers(world *w) {
  slab_check_report report;
  memset(w->hits, 0, sizeof w->hits);
  CLAIM(slab_closest(w->scene, w->rays, BOXES, w->hits, NULL) == SLAB_OK);
  for (uint32_t i = 0; i < BOXES; i++) CLAIM(w->hits[i].primitive == i && w->hits[i].t == 8.0f);
  CLAIM(slab_check(w->scene, SLAB_CLOSEST, w->rays, 64, w->hits, NULL, NULL, &report) == SLAB_OK);
  CLAIM(report.rays == 64 && report.mismatches == 0 && report.oracle_wrong == 0);
  return 0;
}

static void world_end(world *w) {
  slab_scene_destroy(w->scene);
  slab_scene_destroy(w->open);
  slab_context_destroy(w->context);
  w->scene = w->open = NULL;
  w->context = NULL;
}

static int world_works(world *w) {
  CLAIM(world_begin(w) == 0);
  CLAIM(world_answers(w) == 0);
  world_end(w);
  return 0;
}

/* Whether the devices are those of tests/cuda. */
static bool is_by_cuda(void) {
  const char *backends = getenv("SLABCAST_BACKENDS");
  return backends != NULL && strcmp(backends, "cuda") == 0;
}

/* ---- children ---- */

typedef int child_body(world *);

/* Exits without the parent's exit handlers, and without cmocka's handling of crashes. */
static pid_t child_begin(child_body *body, world *w, unsigned seconds) {
  static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
  const pid_t child = fork();
  if (child != 0) return child;
  for (size_t i = 0; i < sizeof crashes / sizeof *crashes; i++) signal(crashes[i], SIG_DFL);
  alarm(seconds);
  _exit(body(w));
}

static void child_end(pid_t child) {
  int status = 0;
  assert_true(child > 0);
  assert_int_equal(waitpid(child, &status, 0), child);
  if (WIFSIGNALED(status)) fail_msg("the child %s", WTERMSIG(status) == SIGALRM ? "hangs" : "crashed");
  assert_int_equal(WEXITSTATUS(status), 0);
}

static void assert_child(child_body *body, world *w, unsigned seconds) { child_end(child_begin(body, w, seconds)); }

/* Must be the first test: no driver has been used yet. */
static void child_forked_before_the_first_use_works_in_full(void **state) {
  assert_child(world_works, *state, WORKING_SECONDS);
}

static void so_does_the_parent_later(void **state) {
  world *w = *state;
  assert_int_equal(world_begin(w), 0);
  assert_int_equal(world_answers(w), 0);
}

/* ---- forked after the first use ---- */

/* The world of a process that has used a driver. A test that runs alone begins it. */
static world *used(void **state) {
  world *w = *state;
  if (w->context == NULL) assert_int_equal(world_begin(w), 0);
  return w;
}

/* Refused with a message that names the call. */
#define REFUSED(call)                                                \
  do {                                                               \
    CLAIM((call) == SLAB_INVALID_STATE);                             \
    CLAIM(strncmp(slab_message(), #call, strcspn(#call, "(")) == 0); \
    CLAIM(strstr(slab_message(), "was forked from") != NULL);        \
  } while (0)

static int casts_are_refused(world *w) {
  const slab_ray *rays = w->rays;
  float t[2];
  uint8_t occluded[2];
  uint32_t counts[2];
  slab_interval intervals[2];
  uint64_t offsets[3];
  slab_check_report report;
  slab_explanation explanation;
  size_t steps;
  REFUSED(slab_closest(w->scene, rays, 2, w->hits, NULL));
  REFUSED(slab_distance(w->scene, rays, 2, t, NULL));
  REFUSED(slab_any(w->scene, rays, 2, occluded, NULL));
  REFUSED(slab_count(w->scene, rays, 2, counts, NULL));
  REFUSED(slab_interval_of(w->scene, rays, 2, intervals, NULL));
  REFUSED(slab_all(w->scene, rays, 2, offsets, NULL, 0, NULL, NULL));
  REFUSED(slab_closest(w->scene, NULL, 0, NULL, NULL));
  REFUSED(slab_pairs(w->context, SLAB_BOX, rays, w->boxes, 2, intervals));
  REFUSED(slab_check(w->scene, SLAB_CLOSEST, rays, 2, w->hits, NULL, NULL, &report));
  REFUSED(slab_explain(w->scene, rays, (slab_primitive_id){0, 0}, NULL, &explanation, NULL, 0, &steps));
  return 0;
}

static void child_casts_nothing(void **state) { assert_child(casts_are_refused, used(state), REFUSED_SECONDS); }

static int enqueuing_is_refused(world *w) {
  const slab_batch batch = {.query = SLAB_CLOSEST, .count = 2};
  union {
    world *world;
    cl_command_queue queue; /* any value except NULL: it is not used */
  } any = {w};
  REFUSED(slab_enqueue(w->scene, &batch, any.queue, 0, NULL, NULL));
  return 0;
}

static void child_enqueues_nothing(void **state) { assert_child(enqueuing_is_refused, used(state), REFUSED_SECONDS); }

static int building_is_refused(world *w) {
  slab_scene *scene = NULL;
  uint64_t bytes[64] = {0};
  REFUSED(slab_scene_create(w->context, &scene));
  REFUSED(slab_scene_add_boxes(w->open, w->boxes, BOXES, NULL, NULL));
  REFUSED(slab_scene_add_mesh(w->open, &(slab_mesh){0}, NULL, NULL));
  REFUSED(slab_scene_commit(w->open, NULL));
  REFUSED(slab_scene_unpack(w->context, bytes, sizeof bytes, &scene));
  CLAIM(scene == NULL);
  return 0;
}

static void child_builds_nothing(void **state) { assert_child(building_is_refused, used(state), REFUSED_SECONDS); }

static int opening_is_refused(world *w) {
  slab_context *context = NULL;
  slab_device_info info;
  size_t count = 77;
  cl_context cl = NULL;
  cl_device_id id = NULL;
  REFUSED(slab_devices(&info, 1, &count));
  CLAIM(count == 77);
  REFUSED(slab_context_create(NULL, &context));
  if (is_by_cuda()) {
    REFUSED(slab_context_create_cuda(NULL, NULL, NULL, &context));
  } else {
    CLAIM(slab_context_objects(w->context, &cl, &id) == SLAB_OK && cl != NULL && id != NULL);
    REFUSED(slab_context_create_cl(cl, id, NULL, NULL, &context));
  }
  CLAIM(context == NULL);
  return 0;
}

static void child_opens_nothing(void **state) { assert_child(opening_is_refused, used(state), REFUSED_SECONDS); }

static int reading_goes_on(world *w) {
  const float from[] = {0, 0, 9}, to[] = {0, 0, 0}, up[] = {0, 1, 0};
  slab_device_info info = {.name = ""};
  slab_scene_stats stats = {0};
  size_t count = 0;
  CLAIM(slab_context_device(w->context, &info) == SLAB_OK && info.name[0] != 0);
  CLAIM(slab_context_devices(w->context, NULL, 0, &count) == SLAB_OK && count == 1);
  CLAIM(slab_scene_info(w->scene, &stats) == SLAB_OK && stats.boxes == BOXES);
  const slab_camera camera = slab_camera_look_at(from, to, up, 90, 1);
  const slab_ray ray = slab_camera_ray(&camera, 0, 0, 1, 1);
  CLAIM(ray.direction[2] == -1.0f);
  CLAIM(strcmp(slab_status_text(SLAB_OK), "done") == 0 && slab_result_size(SLAB_ANY) == 1);
  CLAIM(slab_closest(NULL, NULL, 0, NULL, NULL) == SLAB_INVALID_ARGUMENT);
  return 0;
}

static void child_reads_what_is_in_host_memory(void **state) {
  assert_child(reading_goes_on, used(state), REFUSED_SECONDS);
}

static int packing_goes_on(const slab_scene *scene) {
  size_t size = 0, again = 0;
  CLAIM(slab_scene_pack(scene, NULL, 0, &size) == SLAB_OK);
  char *bytes = calloc(1, size);
  CLAIM(bytes != NULL);
  CLAIM(slab_scene_pack(scene, bytes, size, &again) == SLAB_OK && again == size);
  CLAIM(memcmp(bytes, "slabscn", 7) == 0);
  free(bytes);
  return 0;
}

/* The BVH of one is in the driver's memory; of the other nothing is committed. */
static int packing_both_goes_on(world *w) {
  CLAIM(packing_goes_on(w->scene) == 0);
  CLAIM(packing_goes_on(w->open) == 0);
  return 0;
}

static void child_packs_scenes(void **state) {
  world *w = used(state);
  assert_ok(slab_scene_add_boxes(w->open, w->boxes, 10, NULL, NULL));
  assert_child(packing_both_goes_on, w, REFUSED_SECONDS);
}

/* The reference count of the driver's context. Queues, programs, kernels and buffers hold references, of which NVIDIA's
 * driver counts none. */
static cl_uint references(cl_context cl) {
  cl_uint count = 0;
  return clGetContextInfo(cl, CL_CONTEXT_REFERENCE_COUNT, sizeof count, &count, NULL) == CL_SUCCESS ? count : 0;
}

static int destroying_ends(world *w) {
  cl_context cl = NULL;
  if (is_by_cuda()) { /* the stand-in for its driver ends a child that calls it */
    world_end(w);
    return 0;
  }
  CLAIM(slab_context_objects(w->context, &cl, NULL) == SLAB_OK);
  const cl_uint before = references(cl);
  world_end(w);
  CLAIM(before > 0 && references(cl) == before);
  return 0;
}

static void child_destroys_what_it_has_and_leaves_the_drivers_objects(void **state) {
  assert_child(destroying_ends, used(state), REFUSED_SECONDS);
}

static int grandchild_is_refused(world *w) {
  const pid_t child = child_begin(casts_are_refused, w, REFUSED_SECONDS);
  int status = 1;
  CLAIM(child > 0 && waitpid(child, &status, 0) == child);
  CLAIM(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return 0;
}

static void childs_child_casts_nothing_either(void **state) {
  assert_child(grandchild_is_refused, used(state), 2 * REFUSED_SECONDS);
}

/* ---- forked during a cast, so that its locks stay held in the child ------------- */

typedef struct caster {
  pthread_t thread;
  world *world;
  atomic_bool stop;
  int failed;
} caster;

static void *keep_casting(void *argument) {
  caster *c = argument;
  slab_hit *hits = malloc(BOXES * sizeof *hits);
  while (!atomic_load(&c->stop) && hits != NULL)
    c->failed |= slab_closest(c->world->scene, c->world->rays, BOXES, hits, NULL) != SLAB_OK;
  free(hits);
  return NULL;
}

static int refusing_and_destroying(world *w) {
  CLAIM(casts_are_refused(w) == 0);
  world_end(w);
  return 0;
}

static void child_forked_during_a_cast_does_not_hang(void **state) {
  static caster c; /* static, because the thread continues if this test fails */
  c.world = used(state);
  assert_int_equal(pthread_create(&c.thread, NULL, keep_casting, &c), 0);
  for (int i = 0; i < 20; i++) assert_child(refusing_and_destroying, used(state), REFUSED_SECONDS);
  atomic_store(&c.stop, true);
  pthread_join(c.thread, NULL);
  assert_int_equal(c.failed, 0);
}

/* ---- calls that fork does not affect ----------- */

static const char *program;

static int another_program(world *w) {
  (void)w;
  execl(program, program, "casts", (char *)NULL);
  return 127;
}

static void child_that_calls_exec_works_in_full(void **state) {
  assert_child(another_program, used(state), WORKING_SECONDS);
}

static void parent_goes_on(void **state) { assert_int_equal(world_answers(used(state)), 0); }

static world w;

static int end_world(void **state) {
  (void)state;
  world_end(&w);
  return 0;
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "casts") == 0) return world_works(&w);
  program = argv[0];
  void *const s = &w;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_prestate(child_forked_before_the_first_use_works_in_full, s),
      cmocka_unit_test_prestate(so_does_the_parent_later, s),
      cmocka_unit_test_prestate(child_casts_nothing, s),
      cmocka_unit_test_prestate(child_enqueues_nothing, s),
      cmocka_unit_test_prestate(child_builds_nothing, s),
      cmocka_unit_test_prestate(child_opens_nothing, s),
      cmocka_unit_test_prestate(child_reads_what_is_in_host_memory, s),
      cmocka_unit_test_prestate(child_packs_scenes, s),
      cmocka_unit_test_prestate(child_destroys_what_it_has_and_leaves_the_drivers_objects, s),
      cmocka_unit_test_prestate(childs_child_casts_nothing_either, s),
      cmocka_unit_test_prestate(child_forked_during_a_cast_does_not_hang, s),
      cmocka_unit_test_prestate(child_that_calls_exec_works_in_full, s),
      cmocka_unit_test_prestate(parent_goes_on, s),
  };
  return cmocka_run_group_tests(tests, NULL, end_world);
}
