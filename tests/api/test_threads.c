/* Several threads on one scene and on one context, and destruction in any order. */
#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "barrier.h"
#include "counting_scene.h"
#include "harness.h"
#include "mixed_fates.h"
#include "os/thread.h"
#include "sets/answers.h"

/* THREADS threads, each with N rays and ROUNDS rounds of all queries. */
enum { THREADS = 8, N = 400, ROUNDS = 4 };

static answers *answers_to(slab_scene *scene, const slab_ray *rays) {
  answers *a = calloc(1, sizeof *a);
  assert_non_null(a);
  assert_ok(answers_cast_all(a, scene, rays, N, NULL));
  return a;
}

static void forget(answers *a) {
  answers_free(a);
  free(a);
}

static void assert_same_answers(const answers *got, const answers *want) {
  size_t first;
  for (int q = 0; q < ANSWER_QUERIES; q++) {
    assert_true(answers_differ(got, want, (slab_query)q, &first) == 0);
    assert_true(got->invalid[q] == want->invalid[q]);
  }
}

/* ---- threads at work ---- */

typedef struct worker {
  os_thread thread;
  barrier *start;
  slab_context *context;
  slab_scene *scene;
  const slab_ray *rays;
  const answers *want;
  answers got;
  slab_status status;
  uint64_t mismatches;
  char message[256];
} worker;

static void *work(void *argument) {
  worker *w = argument;
  barrier_wait(w->start); /* all start together, so that programs are built concurrently */
  for (int round = 0; w->status == SLAB_OK && round < ROUNDS; round++) {
    w->status = answers_cast_all(&w->got, w->scene, w->rays, N, NULL);
    slab_check_report report = {0};
    if (w->status == SLAB_OK)
      w->status = slab_check(w->scene, SLAB_CLOSEST, w->rays, N, w->got.closest, NULL, NULL, &report);
    w->mismatches += report.mismatches;
  }
  if (w->status != SLAB_OK) strncpy(w->message, slab_message(), sizeof w->message - 1);
  return NULL;
}

/* Runs all workers at once, each on its scene and rays. Results must be those of one thread. */
static void run_workers(worker workers[THREADS]) {
  barrier start;
  barrier_begin(&start, THREADS);
  for (int i = 0; i < THREADS; i++) {
    workers[i].start = &start;
    assert_int_equal(os_thread_start(&workers[i].thread, work, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) os_thread_join(workers[i].thread);
  barrier_end(&start);
  for (int i = 0; i < THREADS; i++) {
    if (workers[i].status != SLAB_OK) fail_msg("thread %d: %s", i, workers[i].message);
    assert_true(workers[i].mismatches == 0);
    assert_same_answers(&workers[i].got, workers[i].want);
    answers_free(&workers[i].got);
  }
}

static void threads_on_one_scene_get_the_answers_of_one(void **state) {
  (void)state;
  slab_context *alone = harness_context(), *shared = harness_context();
  slab_scene *reference = mixed_fates_scene(alone, 4), *scene = mixed_fates_scene(shared, 4);
  slab_ray *rays = mixed_rays(__func__, THREADS * N);
  worker workers[THREADS] = {0};
  answers *wanted[THREADS];
  for (int i = 0; i < THREADS; i++) {
    wanted[i] = answers_to(reference, rays + i * N);
    workers[i].scene = scene;
    workers[i].rays = rays + i * N;
    workers[i].want = wanted[i];
  }
  run_workers(workers);
  for (int i = 0; i < THREADS; i++) forget(wanted[i]);
  free(rays);
  slab_scene_destroy(reference);
  slab_scene_destroy(scene);
  slab_context_destroy(alone);
  slab_context_destroy(shared);
}

static void threads_on_scenes_of_one_context_get_the_answers_of_one(void **state) {
  (void)state;
  slab_context *alone = harness_context(), *shared = harness_context();
  slab_ray *rays = mixed_rays(__func__, N);
  slab_scene *scenes[THREADS], *references[THREADS];
  worker workers[THREADS] = {0};
  answers *wanted[THREADS];
  for (uint32_t i = 0; i < THREADS; i++) {
    references[i] = mixed_fates_scene(alone, 5 + i);
    scenes[i] = mixed_fates_scene(shared, 5 + i);
    wanted[i] = answers_to(references[i], rays);
    workers[i].scene = scenes[i];
    workers[i].rays = rays;
    workers[i].want = wanted[i];
  }
  slab_context_destroy(shared); /* the scenes keep it alive */
  run_workers(workers);
  for (int i = 0; i < THREADS; i++) {
    forget(wanted[i]);
    slab_scene_destroy(scenes[i]);
    slab_scene_destroy(references[i]);
  }
  free(rays);
  slab_context_destroy(alone);
}

/* ---- threads that build, cast and destroy ---- */

/* Each thread creates, casts and destroys its own scenes on the shared context, and casts pairs between. */
static void *live_and_die(void *argument) {
  worker *w = argument;
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  barrier_wait(w->start);
  for (int round = 0; w->status == SLAB_OK && round < 20; round++) {
    slab_scene *scene = NULL;
    slab_hit hit = {0};
    slab_interval interval = {0};
    w->status = slab_scene_create(w->context, &scene);
    if (w->status == SLAB_OK) w->status = slab_scene_add_boxes(scene, &box, 1, NULL, NULL);
    if (w->status == SLAB_OK) w->status = slab_scene_commit(scene, NULL);
    if (w->status == SLAB_OK) w->status = slab_closest(scene, &ray, 1, &hit, NULL);
    if (w->status == SLAB_OK) w->status = slab_pairs(w->context, SLAB_BOX, &ray, &box, 1, &interval);
    w->mismatches += hit.t != 8.0f || interval.enter != 8.0f || interval.leave != 10.0f;
    slab_scene_destroy(scene);
  }
  return NULL;
}

static void threads_build_and_destroy_scenes_side_by_side(void **state) {
  (void)state;
  slab_context *context = harness_context();
  worker workers[THREADS] = {0};
  barrier start;
  barrier_begin(&start, THREADS);
  for (int i = 0; i < THREADS; i++) {
    workers[i].start = &start;
    workers[i].context = context;
    assert_int_equal(os_thread_start(&workers[i].thread, live_and_die, &workers[i]), 0);
  }
  for (int i = 0; i < THREADS; i++) os_thread_join(workers[i].thread);
  barrier_end(&start);
  for (int i = 0; i < THREADS; i++) {
    assert_int_equal(workers[i].status, SLAB_OK);
    assert_true(workers[i].mismatches == 0);
  }
  slab_context_destroy(context);
}

/* Each thread first needs the edges at which the mesh ends, which the scene does not have yet. All get the same
 * number. */
static void *ask_first(void *argument) {
  worker *w = argument;
  const float point[3] = {0.5f, 0.0f, 0.0f};
  float number = 0.0f;
  barrier_wait(w->start);
  w->status = slab_winding_numbers(w->scene, point, 1, &number, NULL);
  w->mismatches += fabsf(number - 0.0300336f) > 1e-6f;
  return NULL;
}

static void threads_find_where_a_mesh_ends_at_once(void **state) {
  (void)state;
  const float up[9] = {0, 0, 1, 1, 0, 1, 0, 1, 1};
  slab_context *context = harness_context();
  for (int round = 0; round < 50; round++) {
    worker workers[THREADS] = {0};
    barrier start;
    slab_scene *scene = harness_scene(context);
    assert_ok(slab_scene_add_mesh(scene, &(slab_mesh){up, 0, 3, NULL, 1, NULL}, NULL, NULL));
    assert_ok(slab_scene_commit(scene, NULL));
    barrier_begin(&start, THREADS);
    for (int i = 0; i < THREADS; i++) {
      workers[i].start = &start;
      workers[i].scene = scene;
      assert_int_equal(os_thread_start(&workers[i].thread, ask_first, &workers[i]), 0);
    }
    for (int i = 0; i < THREADS; i++) os_thread_join(workers[i].thread);
    barrier_end(&start);
    for (int i = 0; i < THREADS; i++) assert_true(workers[i].status == SLAB_OK && workers[i].mismatches == 0);
    slab_scene_destroy(scene);
  }
  slab_context_destroy(context);
}

/* ---- the order of destruction ---- */

static void cast_and_verify(slab_scene *scene) {
  slab_ray *rays = counting_rays(N);
  slab_hit hits[N];
  assert_ok(slab_closest(scene, rays, N, hits, NULL));
  counting_verify(SLAB_CLOSEST, 0, N, hits);
  free(rays);
}

static void context_may_go_before_its_scenes_in_any_order(void **state) {
  (void)state;
  static const int orders[][4] = {{0, 1, 2, 3}, {3, 2, 1, 0}, {1, 0, 3, 2}, {2, 3, 0, 1}}; /* 0: the context */
  for (size_t o = 0; o < sizeof orders / sizeof *orders; o++) {
    slab_context *context = harness_context();
    slab_scene *scenes[4] = {NULL};
    for (int i = 1; i < 4; i++) scenes[i] = counting_scene(context);
    for (int k = 0; k < 4; k++) {
      const int gone = orders[o][k];
      if (gone == 0) slab_context_destroy(context);
      slab_scene_destroy(scenes[gone]);
      scenes[gone] = NULL;
      for (int i = 1; i < 4; i++)
        if (scenes[i] != NULL) cast_and_verify(scenes[i]);
    }
  }
}

static void open_scene_keeps_its_context_for_adding_and_commit(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *scene = NULL, *unused = NULL;
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  const slab_ray ray = {{0, 0, 9}, 0, {0, 0, -1}, INFINITY};
  slab_hit hit;
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_create(context, &unused));
  slab_context_destroy(context);
  slab_scene_destroy(unused); /* never committed */
  assert_ok(slab_scene_add_boxes(scene, &box, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_closest(scene, &ray, 1, &hit, NULL));
  assert_true(hit.t == 8.0f);
  slab_scene_destroy(scene);
}

static void contexts_are_independent(void **state) {
  (void)state;
  slab_context *contexts[3];
  slab_scene *scenes[3];
  for (int i = 0; i < 3; i++) {
    contexts[i] = harness_context();
    scenes[i] = counting_scene(contexts[i]);
  }
  for (int i = 0; i < 3; i++) {
    slab_scene_destroy(scenes[i]);
    slab_context_destroy(contexts[i]);
    for (int k = i + 1; k < 3; k++) cast_and_verify(scenes[k]);
  }
}

/* ---- threads that cast while another one commits ---- */

enum { SIDE = 36, TILES = SIDE * SIDE, FRAMES = 60, FRAMES_SEEN = 3, HEIGHT = 1 << 20, WATCHERS = 4 };
enum { SOME_TILES = 500 }; /* so few that two commits of them all are worth writing alone */

/* In frame k the top of every tile is at height k. */
static void tiles_at(slab_box *tiles, uint32_t frame) {
  for (uint32_t i = 0; i < TILES; i++) {
    const float x = (float)(i % SIDE), y = (float)(i / SIDE);
    tiles[i] = (slab_box){{x, y, -1}, {x + 0.75f, y + 0.75f, (float)frame}};
  }
}

typedef struct watcher {
  os_thread thread;
  slab_scene *scene;
  atomic_bool *over;
  uint32_t tiles;
  const char *wrong; /* NULL: nothing */
  atomic_uint seen;  /* changes of the frame */
} watcher;

/* All rays of a cast see the same frame, and none an older one than the cast before. Every other cast is of few rays.
 */
static void *watch(void *argument) {
  watcher *w = argument;
  slab_ray rays[TILES];
  slab_short_hit hits[TILES];
  uint32_t last = 0;
  for (uint32_t i = 0; i < TILES; i++)
    rays[i] = (slab_ray){{(float)(i % SIDE) + 0.5f, (float)(i / SIDE) + 0.5f, HEIGHT}, 0, {0, 0, -1}, INFINITY};
  for (int round = 0; w->wrong == NULL && !atomic_load(w->over); round++) {
    const size_t n = round % 2 == 0 ? w->tiles : 7;
    if (slab_nearest(w->scene, rays, n, hits, NULL) != SLAB_OK) w->wrong = "a cast failed";
    const uint32_t frame = (uint32_t)((float)HEIGHT - hits[0].t);
    for (size_t i = 0; i < n; i++)
      if (hits[i].t != (float)(HEIGHT - frame) || hits[i].primitive != i) w->wrong = "a cast saw two frames";
    if (frame < last) w->wrong = "a cast saw an older frame than the one before";
    if (frame > last) atomic_fetch_add(&w->seen, 1);
    last = frame;
  }
  atomic_fetch_add(&w->seen, w->wrong != NULL ? FRAMES_SEEN : 0);
  return NULL;
}

static bool all_have_seen_some(const watcher *watchers) {
  for (int i = 0; i < WATCHERS; i++)
    if (atomic_load(&watchers[i].seen) < FRAMES_SEEN) return false;
  return true;
}

static void watchers_begin(watcher watchers[WATCHERS], slab_scene *scene, atomic_bool *over, void *(*sees)(void *)) {
  for (int i = 0; i < WATCHERS; i++) {
    watchers[i].scene = scene;
    watchers[i].over = over;
    assert_int_equal(os_thread_start(&watchers[i].thread, sees, &watchers[i]), 0);
  }
}

static void watchers_end(const watcher watchers[WATCHERS], atomic_bool *over) {
  atomic_store(over, true);
  for (int i = 0; i < WATCHERS; i++) {
    os_thread_join(watchers[i].thread);
    if (watchers[i].wrong != NULL) fail_msg("thread %d: %s", i, watchers[i].wrong);
  }
}

/* All tiles move, all in one call or in two ranges. */
static slab_status move_tiles(slab_scene *scene, const slab_box *tiles, uint32_t count, bool ranges) {
  const uint32_t half = count / 2;
  if (!ranges) return slab_scene_update_boxes(scene, 0, tiles, count);
  const slab_status status = slab_scene_update_some_boxes(scene, 0, half, tiles + half, count - half);
  return status == SLAB_OK ? slab_scene_update_some_boxes(scene, 0, 0, tiles, half) : status;
}

static void frames_are_whole(uint32_t count, bool ranges) {
  slab_context *context = harness_context();
  slab_scene *scene = NULL;
  slab_box tiles[TILES];
  atomic_bool over = false;
  watcher watchers[WATCHERS] = {0};
  tiles_at(tiles, 0);
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_boxes(scene, tiles, count, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST}));
  for (int i = 0; i < WATCHERS; i++) watchers[i].tiles = count;
  watchers_begin(watchers, scene, &over, watch);
  for (uint32_t frame = 1, added = 0; frame <= FRAMES || !all_have_seen_some(watchers); frame++) {
    const slab_build_options how = {.tree = SLAB_TREE_FAST,
                                    .update = ranges ? SLAB_UPDATE_REFIT : (slab_update)(frame % 3)};
    tiles_at(tiles, frame);
    assert_ok(move_tiles(scene, tiles, count, ranges && frame % 16 != 0));
    if (frame % 8 == 0 && !ranges) assert_ok(slab_scene_add_boxes(scene, NULL, 0, NULL, &added));
    assert_ok(slab_scene_commit(scene, &how));
    if (frame % 8 == 4 && added > 0) assert_ok(slab_scene_remove(scene, added));
  }
  watchers_end(watchers, &over);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

static void casts_see_whole_frames_while_another_thread_commits(void **state) {
  (void)state;
  frames_are_whole(TILES, false);
}

static void casts_see_whole_frames_while_another_thread_moves_ranges(void **state) {
  (void)state;
  frames_are_whole(SOME_TILES, true);
}

/* The same tiles as a model, which moves up while the scene that contains it moves it down: it is at height 0. */
static void *raise_model(void *argument) {
  watcher *w = argument;
  slab_box tiles[TILES];
  for (uint32_t frame = 1; w->wrong == NULL && !atomic_load(w->over); frame = frame % FRAMES + 1) {
    tiles_at(tiles, frame);
    if (slab_scene_update_boxes(w->scene, 0, tiles, TILES) != SLAB_OK || slab_scene_commit(w->scene, NULL) != SLAB_OK)
      w->wrong = "a commit of the model failed";
  }
  return NULL;
}

/* A thread commits a model, another one the scene that contains it, and threads cast on that: each sees a frame of the
 * model and a transform, whole. */
static void *watch_instances(void *argument) {
  watcher *w = argument;
  slab_ray rays[TILES];
  float t[TILES];
  for (uint32_t i = 0; i < TILES; i++)
    rays[i] = (slab_ray){{(float)(i % SIDE) + 0.5f, (float)(i / SIDE) + 0.5f, HEIGHT}, 0, {0, 0, -1}, INFINITY};
  for (int round = 0; w->wrong == NULL && !atomic_load(w->over); round++) {
    const size_t n = round % 2 == 0 ? TILES : 7;
    if (slab_distance(w->scene, rays, n, t, NULL) != SLAB_OK) w->wrong = "a cast failed";
    for (size_t i = 1; i < n; i++)
      if (t[i] != t[0]) w->wrong = "a cast saw two frames";
    if (!(t[0] <= HEIGHT && t[0] > HEIGHT - 3 * FRAMES)) w->wrong = "a cast saw what was never there";
    atomic_fetch_add(&w->seen, 1);
  }
  atomic_fetch_add(&w->seen, w->wrong != NULL ? FRAMES_SEEN : 0);
  return NULL;
}

static void casts_see_whole_instances_while_other_threads_commit(void **state) {
  (void)state;
  slab_context *context = harness_context();
  slab_scene *model = harness_scene(context), *scene = harness_scene(context);
  slab_box tiles[TILES];
  float at[12] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
  atomic_bool over = false;
  watcher watchers[WATCHERS] = {0};
  watcher builder = {.scene = model, .over = &over};
  tiles_at(tiles, 0);
  assert_ok(slab_scene_add_boxes(model, tiles, TILES, NULL, NULL));
  assert_ok(slab_scene_commit(model, &(slab_build_options){.tree = SLAB_TREE_FAST}));
  assert_ok(slab_scene_add_instances(scene, model, at, 1, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  watchers_begin(watchers, scene, &over, watch_instances);
  assert_int_equal(os_thread_start(&builder.thread, raise_model, &builder), 0);
  for (uint32_t frame = 1; frame <= FRAMES || !all_have_seen_some(watchers); frame++) {
    at[11] = (float)(frame % FRAMES);
    assert_ok(slab_scene_update_instances(scene, 0, at, 1));
    assert_ok(slab_scene_commit(scene, NULL));
  }
  watchers_end(watchers, &over);
  os_thread_join(builder.thread);
  if (builder.wrong != NULL) fail_msg("%s", builder.wrong);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
  slab_context_destroy(context);
}

/* ---- worlds that move meanwhile ---- */

enum { WORLDS = 70, BOTH = 2, PLACED = BOTH * WORLDS };

/* In a frame all worlds move, some or one. */
static bool moves_in(uint32_t world, uint32_t frame) {
  if (frame % 3 == 2) return true;
  return (world + WORLDS - frame * 7 % WORLDS) % WORLDS < (frame % 3 == 1 ? 5 : 1);
}

/* Its height: the last frame in which it has moved. */
static uint32_t height_in(uint32_t world, uint32_t frame) {
  while (frame > 0 && !moves_in(world, frame)) frame--;
  return frame;
}

/* Both boxes of each world, the worlds from 0 on. */
static void place_at(float *transform, uint32_t i, uint32_t frame) {
  const float at[12] = {1, 0, 0, (float)(2 * (i % BOTH)), 0, 1, 0, 0, 0, 0, 1, (float)height_in(i / BOTH, frame)};
  memcpy(transform, at, sizeof at);
}

static slab_status move_worlds(slab_scene *scene, uint32_t frame) {
  float transforms[12 * PLACED];
  uint32_t indices[PLACED], n = 0;
  for (uint32_t i = 0; i < PLACED; i++) {
    if (!moves_in(i / BOTH, frame)) continue;
    place_at(transforms + 12 * (size_t)n, i, frame);
    indices[n++] = i;
  }
  return n == PLACED ? slab_scene_update_instances(scene, 0, transforms, n)
                     : slab_scene_update_some_instances(scene, 0, indices, transforms, n);
}

/* A cast of all worlds sees each where it is in one frame, which is no older than that of the cast before. Every other
 * cast is of few rays: of the first worlds. */
static void *watch_worlds(void *argument) {
  watcher *w = argument;
  slab_ray rays[PLACED];
  slab_short_hit hits[PLACED];
  uint32_t worlds[PLACED], last = 0;
  const slab_cast_options options = {.worlds = worlds};
  for (uint32_t i = 0; i < PLACED; i++) {
    worlds[i] = i / BOTH + 1;
    rays[i] = (slab_ray){{(float)(2 * (i % BOTH)), 0, HEIGHT}, 0, {0, 0, -1}, INFINITY};
  }
  for (int round = 0; w->wrong == NULL && !atomic_load(w->over); round++) {
    const size_t n = round % 2 == 0 ? PLACED : 6;
    uint32_t frame = 0;
    if (slab_nearest(w->scene, rays, n, hits, &options) != SLAB_OK) w->wrong = "a cast failed";
    for (size_t i = 0; i < n; i++) {
      if (hits[i].geometry != i) w->wrong = "a cast saw another world";
      if (HEIGHT - hits[i].t > (float)frame) frame = (uint32_t)(HEIGHT - hits[i].t); /* one moves in each */
    }
    for (uint32_t i = 0; i < n; i++) {
      const bool fits = n == PLACED
                            ? hits[i].t == (float)(HEIGHT - height_in(i / BOTH, frame))
                            : hits[i].t == hits[i ^ 1].t && hits[i].t <= (float)(HEIGHT - height_in(i / BOTH, last));
      if (!fits) w->wrong = "a cast saw two frames";
    }
    if (n < PLACED) continue;
    if (frame < last) w->wrong = "a cast saw an older frame than the one before";
    if (frame > last) atomic_fetch_add(&w->seen, 1);
    last = frame;
  }
  atomic_fetch_add(&w->seen, w->wrong != NULL ? FRAMES_SEEN : 0);
  return NULL;
}

static slab_scene *scene_of_worlds(slab_context *context, slab_scene *model) {
  slab_scene *scene = harness_scene(context);
  float transforms[12 * PLACED];
  uint32_t worlds[PLACED];
  for (uint32_t i = 0; i < PLACED; i++) {
    place_at(transforms + 12 * (size_t)i, i, 0);
    worlds[i] = i / BOTH + 1;
  }
  assert_ok(slab_scene_set_worlds(scene, WORLDS));
  assert_ok(
      slab_scene_add_instances(scene, model, transforms, PLACED, &(slab_geometry_options){.worlds = worlds}, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  return scene;
}

static void casts_see_whole_worlds_while_another_thread_moves_them(void **state) {
  (void)state;
  const slab_box box = {{-0.5f, -0.5f, -1}, {0.5f, 0.5f, 0}};
  slab_context *context = harness_context();
  slab_scene *model = harness_scene(context);
  atomic_bool over = false;
  watcher watchers[WATCHERS] = {0};
  assert_ok(slab_scene_add_boxes(model, &box, 1, NULL, NULL));
  assert_ok(slab_scene_commit(model, NULL));
  slab_scene *scene = scene_of_worlds(context, model);
  watchers_begin(watchers, scene, &over, watch_worlds);
  for (uint32_t frame = 1, added = 0; frame <= FRAMES || !all_have_seen_some(watchers); frame++) {
    assert_ok(move_worlds(scene, frame));
    if (frame % 16 == 0) assert_ok(slab_scene_add_boxes(scene, NULL, 0, NULL, &added)); /* which builds all anew */
    assert_ok(slab_scene_commit(scene, NULL));
    if (frame % 16 == 9 && added > 0) assert_ok(slab_scene_remove(scene, added));
  }
  watchers_end(watchers, &over);
  slab_scene_destroy(scene);
  slab_scene_destroy(model);
  slab_context_destroy(context);
}

/* More threads than there are places for readers, all of which are within a cast when a commit ends. */
enum { READERS = 20 };

typedef struct reader {
  os_thread thread;
  slab_scene *scene;
  barrier *commits;
  bool waited;
  slab_status status;
  slab_short_hit hits[TILES];
} reader;

static int wait_within(void *user, uint64_t done, uint64_t total) {
  reader *r = user;
  (void)done, (void)total;
  if (!r->waited) {
    r->waited = true;
    barrier_wait(r->commits); /* all are within a cast */
    barrier_wait(r->commits); /* the commit has ended */
  }
  return 0;
}

static void *read_within(void *argument) {
  reader *r = argument;
  slab_ray rays[TILES];
  const slab_cast_options options = {.progress = wait_within, .user = r};
  for (uint32_t i = 0; i < TILES; i++)
    rays[i] = (slab_ray){{(float)(i % SIDE) + 0.5f, (float)(i / SIDE) + 0.5f, HEIGHT}, 0, {0, 0, -1}, INFINITY};
  r->status = slab_nearest(r->scene, rays, TILES, r->hits, &options);
  return NULL;
}

static void casts_end_on_the_frame_they_began_with(void **state) {
  (void)state;
  const slab_context_options options = {.lane_width = harness_width(), .launch_rays = 256};
  static reader readers[READERS];
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  slab_box tiles[TILES];
  barrier commits;
  memset(readers, 0, sizeof readers);
  assert_ok(slab_context_create(&options, &context));
  barrier_begin(&commits, READERS + 1);
  tiles_at(tiles, 0);
  assert_ok(slab_scene_create(context, &scene));
  assert_ok(slab_scene_add_boxes(scene, tiles, TILES, NULL, NULL));
  assert_ok(slab_scene_commit(scene, &(slab_build_options){.tree = SLAB_TREE_FAST}));
  for (int i = 0; i < READERS; i++) {
    readers[i].scene = scene;
    readers[i].commits = &commits;
    assert_int_equal(os_thread_start(&readers[i].thread, read_within, &readers[i]), 0);
  }
  barrier_wait(&commits);
  for (uint32_t frame = 1; frame <= 3; frame++) { /* the others must not use the arrays that the first replaces */
    tiles_at(tiles, frame);
    assert_ok(slab_scene_update_boxes(scene, 0, tiles, TILES));
    assert_ok(slab_scene_commit(scene, &(slab_build_options){.update = SLAB_UPDATE_REFIT}));
  }
  barrier_wait(&commits);
  for (int i = 0; i < READERS; i++) {
    os_thread_join(readers[i].thread);
    assert_true(readers[i].status == SLAB_OK);
    for (uint32_t k = 0; k < TILES; k++) assert_true(readers[i].hits[k].t == (float)HEIGHT);
  }
  barrier_end(&commits);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(threads_on_one_scene_get_the_answers_of_one),
      cmocka_unit_test(threads_on_scenes_of_one_context_get_the_answers_of_one),
      cmocka_unit_test(threads_build_and_destroy_scenes_side_by_side),
      cmocka_unit_test(threads_find_where_a_mesh_ends_at_once),
      cmocka_unit_test(context_may_go_before_its_scenes_in_any_order),
      cmocka_unit_test(open_scene_keeps_its_context_for_adding_and_commit),
      cmocka_unit_test(contexts_are_independent),
      cmocka_unit_test(casts_see_whole_frames_while_another_thread_commits),
      cmocka_unit_test(casts_see_whole_frames_while_another_thread_moves_ranges),
      cmocka_unit_test(casts_see_whole_instances_while_other_threads_commit),
      cmocka_unit_test(casts_see_whole_worlds_while_another_thread_moves_them),
      cmocka_unit_test(casts_end_on_the_frame_they_began_with),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
