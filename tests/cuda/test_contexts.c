/* Contexts of the caller's own on the stand-in: another one is current, several at once from several threads, a card
 * whose memory runs out, and a process that was forked. */
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "barrier.h"
#include "caller.h"
#include "mixed_fates.h"
#include "os/thread.h"

enum { N = 300, SHAPES = 60, THREADS = 6, ROUNDS = 4 };

/* ---- forks that the library has not seen ---- */

#define CHILD_CLAIM(claim) \
  if (!(claim)) return __LINE__ % 256

static int child(void) {
  slab_context *context = NULL;
  size_t count = 1;
  CHILD_CLAIM(slab_devices(NULL, 0, &count) == SLAB_NO_DEVICE && count == 0);
  CHILD_CLAIM(strstr(slab_message(), "was forked from one that had begun CUDA") != NULL);
  CHILD_CLAIM(slab_context_create(NULL, &context) == SLAB_NO_DEVICE);
  CHILD_CLAIM(slab_context_create_cuda(NULL, NULL, NULL, &context) == SLAB_NO_DEVICE);
  CHILD_CLAIM(strstr(slab_message(), "was forked from one that had begun CUDA") != NULL);
  setenv("SLABCAST_BACKENDS", "native,cuda", 1); /* the processor is there all the same */
  CHILD_CLAIM(slab_devices(NULL, 0, &count) == SLAB_OK && count == 1);
  CHILD_CLAIM(slab_context_create(&(slab_context_options){.device = "cpu"}, &context) == SLAB_OK);
  slab_context_destroy(context);
  return 0;
}

/* Must be the first test: the library has not used CUDA yet, and the caller has. */
static void a_callers_child_is_told_why_it_has_no_card(void **state) {
  (void)state;
  int status = 0;
  assert_cu(cuInit(0));
  const pid_t forked = fork();
  if (forked == 0) {
    alarm(30);
    _exit(child());
  }
  assert_int_equal(waitpid(forked, &status, 0), forked);
  if (!WIFEXITED(status)) fail_msg("the child ended by signal %d", WTERMSIG(status));
  if (WEXITSTATUS(status) != 0) fail_msg("the child's claim at line %d", WEXITSTATUS(status));
}

/* ---- all that a caller does ---- */

/* Someone with a context on the card, whichever is current. */
typedef struct user {
  CUcontext context;
  CUstream stream;
  slab_context *slab;
  slab_scene *scene;
  slab_hit hits[N];
} user;

static slab_status begin(user *u) {
  slab_status status = slab_context_create_cuda(u->context, u->stream, NULL, &u->slab);
  return status == SLAB_OK ? slab_scene_create(u->slab, &u->scene) : status;
}

static slab_status fill(const user *u, const slab_sphere *spheres) {
  slab_status status = slab_scene_add_spheres(u->scene, spheres, SHAPES, NULL, NULL);
  return status == SLAB_OK ? slab_scene_commit(u->scene, &(slab_build_options){.tree = SLAB_TREE_FAST}) : status;
}

static void end(user *u) {
  slab_scene_destroy(u->scene);
  slab_context_destroy(u->slab);
}

static void draw_spheres(random_state *random, slab_sphere spheres[SHAPES]) {
  for (int i = 0; i < SHAPES; i++) {
    for (int k = 0; k < 3; k++) spheres[i].center[k] = random_between(random, -5.0f, 5.0f);
    spheres[i].radius = random_between(random, 0.1f, 0.6f);
  }
}

static void draw_rays(random_state *random, slab_ray rays[N]) {
  for (int i = 0; i < N; i++) {
    rays[i] = (slab_ray){.t_max = INFINITY};
    for (int k = 0; k < 3; k++) {
      rays[i].origin[k] = random_between(random, -9.0f, 9.0f);
      rays[i].direction[k] = random_between(random, -4.0f, 4.0f) - rays[i].origin[k];
    }
  }
}

/* The right answers, from host arrays. */
static void find_answers(const slab_sphere *spheres, const slab_ray *rays, slab_hit want[N]) {
  slab_context *context = harness_context();
  slab_scene *scene = harness_scene(context);
  uint32_t met = 0;
  assert_ok(slab_scene_add_spheres(scene, spheres, SHAPES, NULL, NULL));
  assert_ok(slab_scene_commit(scene, NULL));
  assert_ok(slab_closest(scene, rays, N, want, NULL));
  for (int i = 0; i < N; i++) met += want[i].primitive != SLAB_MISS;
  assert_in_range(met, N / 10, N - N / 10);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}

/* A user's spheres and rays, and the right answers once the spheres have moved. */
typedef struct task {
  slab_sphere spheres[SHAPES], moved[SHAPES];
  slab_ray rays[N];
  slab_hit want[N];
} task;

static void draw_task(random_state *random, task *t) {
  draw_spheres(random, t->spheres);
  draw_spheres(random, t->moved);
  draw_rays(random, t->rays);
  find_answers(t->moved, t->rays, t->want);
}

/* The part of a task that lies on the card. */
typedef struct task_there {
  CUdeviceptr rays, moved, hits;
} task_there;

static task_there upload_task(const caller *c, const task *t) {
  return (task_there){caller_upload(c, t->rays, sizeof t->rays), caller_upload(c, t->moved, sizeof t->moved),
                      caller_upload(c, NULL, sizeof t->want)};
}

static void free_task(const task_there *at) {
  assert_cu(cuMemFree(at->rays));
  assert_cu(cuMemFree(at->moved));
  assert_cu(cuMemFree(at->hits));
}

static slab_status move_and_cast(const user *u, const task_there *at) {
  const slab_cuda_batch batch = {.count = N, .rays = caller_pointer(at->rays), .results = caller_pointer(at->hits)};
  slab_status status = slab_scene_update_spheres_cuda(u->scene, 0, caller_pointer(at->moved), SHAPES, u->stream);
  if (status == SLAB_OK) status = slab_scene_commit(u->scene, NULL);
  return status == SLAB_OK ? slab_enqueue_cuda(u->scene, &batch, u->stream) : status;
}

/* ---- another context is current ---- */

static void assert_current(CUcontext context) {
  CUcontext current = NULL;
  assert_cu(cuCtxGetCurrent(&current));
  assert_ptr_equal(current, context);
}

/* The context that was current is so after every call, also after one that fails. */
static void the_callers_other_context_stays_current(void **state) {
  (void)state;
  random_state random = harness_seeded(__func__);
  const caller c = caller_begin();
  task t;
  slab_hit got[N];
  draw_task(&random, &t);
  const task_there at = upload_task(&c, &t);
  CUcontext other = NULL;
  assert_cu(cuCtxCreate(&other, 0, 0));
  user u = {.context = c.context, .stream = c.stream};
  assert_ok(begin(&u));
  assert_current(other);
  assert_ok(fill(&u, t.spheres));
  assert_current(other);
  assert_ok(move_and_cast(&u, &at));
  assert_current(other);
  assert_ok(slab_closest(u.scene, t.rays, N, got, NULL));
  assert_current(other);
  assert_same_bits(got, t.want, N, sizeof *got);
  for (unsigned later = 1; later < 40; later += 3) { /* also where a call fails */
    standin_fail(later, 719);
    move_and_cast(&u, &at);
    assert_current(other);
    standin_fail(0, CUDA_SUCCESS);
  }
  assert_ok(move_and_cast(&u, &at));
  end(&u);
  assert_current(other);
  assert_cu(cuCtxDestroy(other));
  assert_cu(cuMemcpyDtoHAsync(got, at.hits, sizeof got, c.stream));
  assert_cu(cuStreamSynchronize(c.stream));
  assert_same_bits(got, t.want, N, sizeof *got);
  harness_count(2 * N);
  free_task(&at);
  caller_end(&c);
}

/* ---- several contexts from several threads ---- */

typedef struct worker {
  os_thread thread;
  barrier *start;
  bool is_primary; /* on the card's primary context, as all such are; else on one of its own */
  task task;
  const char *failed; /* NULL: nothing has */
} worker;

static const char *work_once(const task *t, user *u, const task_there *at) {
  const char *failed = NULL;
  u->slab = NULL;
  u->scene = NULL;
  if (begin(u) != SLAB_OK || fill(u, t->spheres) != SLAB_OK || move_and_cast(u, at) != SLAB_OK)
    failed = "a call";
  else if (cuMemcpyDtoHAsync(u->hits, at->hits, sizeof u->hits, u->stream) != CUDA_SUCCESS ||
           cuStreamSynchronize(u->stream) != CUDA_SUCCESS)
    failed = "reading";
  else if (memcmp(u->hits, t->want, sizeof u->hits) != 0)
    failed = "the answers of a stream";
  else if (slab_closest(u->scene, t->rays, N, u->hits, NULL) != SLAB_OK ||
           memcmp(u->hits, t->want, sizeof u->hits) != 0)
    failed = "the answers to host memory";
  end(u);
  return failed;
}

static void *work(void *argument) {
  worker *w = argument;
  const task *t = &w->task;
  task_there at = {0};
  CUresult code = CUDA_SUCCESS;
  user u = {0};
  barrier_wait(w->start);
  code |= w->is_primary ? cuDevicePrimaryCtxRetain(&u.context, 0) : cuCtxCreate(&u.context, 0, 0);
  if (w->is_primary) code |= cuCtxPushCurrent(u.context);
  code |= cuStreamCreate(&u.stream, CU_STREAM_NON_BLOCKING);
  code |= cuMemAlloc(&at.rays, sizeof t->rays) | cuMemAlloc(&at.moved, sizeof t->moved);
  code |= cuMemAlloc(&at.hits, sizeof t->want);
  code |= cuMemcpyHtoDAsync(at.rays, t->rays, sizeof t->rays, u.stream);
  code |= cuMemcpyHtoDAsync(at.moved, t->moved, sizeof t->moved, u.stream);
  for (int round = 0; w->failed == NULL && round < ROUNDS; round++) w->failed = work_once(t, &u, &at);
  code |= cuMemFree(at.rays) | cuMemFree(at.moved) | cuMemFree(at.hits);
  code |= cuStreamDestroy(u.stream);
  if (w->is_primary) code |= cuCtxPopCurrent(&u.context);
  code |= w->is_primary ? cuDevicePrimaryCtxRelease(0) : cuCtxDestroy(u.context);
  if (code != CUDA_SUCCESS) w->failed = "the interface";
  return NULL;
}

static void several_contexts_at_once_are_independent(void **state) {
  static worker workers[THREADS];
  (void)state;
  random_state random = harness_seeded(__func__);
  barrier start;
  barrier_begin(&start, THREADS);
  for (int i = 0; i < THREADS; i++) {
    worker *w = &workers[i];
    *w = (worker){.start = &start, .is_primary = i % 2 == 0};
    draw_task(&random, &w->task);
  }
  for (int i = 0; i < THREADS; i++) assert_int_equal(os_thread_start(&workers[i].thread, work, &workers[i]), 0);
  for (int i = 0; i < THREADS; i++) os_thread_join(workers[i].thread);
  for (int i = 0; i < THREADS; i++)
    if (workers[i].failed != NULL) fail_msg("thread %d: %s", i, workers[i].failed);
  barrier_end(&start);
  harness_count((size_t)2 * THREADS * ROUNDS * N);
}

/* ---- memory that runs out ---- */

/* A card of any size between too little and enough: each call that needs more reports it, and answers are right once
 * there is space again. */
static void memory_that_runs_out_is_told(void **state) {
  enum { CARDS = 60, MOST = 80000 };
  (void)state;
  random_state random = harness_seeded(__func__);
  const caller c = caller_begin();
  task t;
  slab_hit got[N];
  unsigned told = 0;
  draw_task(&random, &t);
  const task_there at = upload_task(&c, &t);
  for (int i = 0; i < CARDS; i++) {
    user u = {.context = c.context, .stream = c.stream};
    assert_ok(begin(&u));
    standin_memory(1 + random_below(&random, MOST));
    slab_status status = fill(&u, t.spheres);
    if (status == SLAB_OK) status = move_and_cast(&u, &at);
    if (status == SLAB_OK) status = slab_closest(u.scene, t.rays, N, got, NULL);
    if (status == SLAB_OK) assert_same_bits(got, t.want, N, sizeof *got);
    if (status != SLAB_OK) {
      told++;
      assert_int_equal(status, SLAB_OUT_OF_MEMORY);
      assert_mentions("CUDA_ERROR_OUT_OF_MEMORY");
    }
    standin_memory(0);
    assert_ok(slab_scene_commit(u.scene, NULL));
    assert_ok(move_and_cast(&u, &at));
    assert_ok(slab_closest(u.scene, t.rays, N, got, NULL));
    assert_same_bits(got, t.want, N, sizeof *got);
    end(&u);
  }
  print_message("%u of %d cards too small\n", told, CARDS);
  assert_in_range(told, CARDS / 5, CARDS - CARDS / 5);
  harness_count((size_t)CARDS * N);
  free_task(&at);
  caller_end(&c);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_callers_child_is_told_why_it_has_no_card),
      cmocka_unit_test(the_callers_other_context_stays_current),
      cmocka_unit_test(several_contexts_at_once_are_independent),
      cmocka_unit_test(memory_that_runs_out_is_told),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
