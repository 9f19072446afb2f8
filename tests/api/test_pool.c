/* The pool of threads: the guarantees that each job has, whatever others do at the same time. */
#define _GNU_SOURCE /* affinity */
#include "base/pool.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/processors.h"
#include "base/sanitized.h"
#include "harness.h"
#include "modes.h"

/* ---- threads that cannot be started ---- */

static atomic_int startable = 1 << 20, attempts;

int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  atomic_fetch_add(&attempts, 1);
  if (atomic_fetch_sub(&startable, 1) <= 0) return EAGAIN;
  return __real_pthread_create(thread, attributes, run, argument);
}

/* ---- pieces that count ---- */

enum { PIECES = 10000, THREADS = 4 };

typedef struct tally {
  atomic_uint done[PIECES];
  unsigned written[PIECES]; /* not atomic: the pool makes it visible */
} tally;

static void count_piece(void *argument, size_t piece) {
  tally *t = argument;
  t->written[piece] = (unsigned)piece + 1;
  atomic_fetch_add(&t->done[piece], 1);
}

static bool each_once(const tally *t, size_t pieces) {
  for (size_t i = 0; i < PIECES; i++)
    if (atomic_load(&t->done[i]) != (i < pieces) || t->written[i] != (i < pieces ? i + 1 : 0)) return false;
  return true;
}

/* Allocates nothing: memory that threads hold at a fork would leak in the child. */
static bool run_counts(uint32_t threads, size_t pieces) {
  static _Thread_local tally t;
  memset(&t, 0, sizeof t);
  pool_run(threads, pieces, count_piece, &t);
  return each_once(&t, pieces);
}

static void rest(void) { nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL); }

static void each_piece_is_done_once(void **state) {
  (void)state;
  static const size_t pieces[] = {0, 1, 2, 3, 7, 64, PIECES};
  for (uint32_t threads = 0; threads <= 8; threads++)
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) assert_true(run_counts(threads, pieces[i]));
  assert_true(run_counts(UINT32_MAX, 3));
}

/* Short jobs: helpers come when all is done, or leave while the next job begins. */
static void jobs_follow_each_other_at_once(void **state) {
  (void)state;
  for (int i = 0; i < 3000; i++) assert_true(run_counts(THREADS, 2 + (size_t)i % 3));
}

/* The last piece is the longest, and another thread has it. */
static void slow_piece(void *argument, size_t piece) {
  for (size_t i = 0; i <= piece % 2 * 5; i++) rest();
  count_piece(argument, piece);
}

static void a_job_ends_after_its_last_piece(void **state) {
  (void)state;
  for (int i = 0; i < 100; i++) {
    tally *t = calloc(1, sizeof *t);
    assert_non_null(t);
    pool_run(THREADS, 2 + (size_t)i % THREADS, slow_piece, t);
    assert_true(each_once(t, 2 + (size_t)i % THREADS));
    free(t);
  }
}

/* ---- ranges ---- */

typedef struct marks {
  unsigned char marked[1000];
  size_t grain;
  atomic_bool too_long;
} marks;

static void mark_range(void *argument, size_t first, size_t end) {
  marks *m = argument;
  if (end - first > m->grain) atomic_store(&m->too_long, true);
  for (size_t i = first; i < end; i++) m->marked[i]++;
}

static void ranges_cover_everything_once(void **state) {
  (void)state;
  for (size_t n = 0; n <= 1000; n += n < 20 ? 1 : 49)
    for (size_t grain = 1; grain <= 1024; grain *= 4) {
      marks m = {.grain = grain};
      pool_loop(THREADS, n, grain, mark_range, &m);
      assert_false(m.too_long);
      for (size_t i = 0; i < 1000; i++) assert_int_equal(m.marked[i], i < n);
    }
}

/* Every byte, and none beside them; wherever in a line of the cache it begins. */
static void copies_are_whole(void **state) {
  (void)state;
  static void (*const copies[])(uint32_t, void *, const void *, size_t) = {pool_copy, pool_copy_out};
  enum { ALONE = 1 << 19, LARGE = 1 << 20, MOST = 3 * LARGE + 5, GUARD = 64 };
  static const size_t sizes[] = {0, 1, ALONE - 1, ALONE, ALONE + 1, LARGE - 1, LARGE, LARGE + 1, MOST};
  unsigned char *from = malloc(MOST), *to = malloc(MOST + 3 * GUARD);
  assert_true(from != NULL && to != NULL);
  for (size_t i = 0; i < MOST; i++) from[i] = (unsigned char)(1 + (i * 2654435761u >> 24) % 255);
  for (size_t k = 0; k < 4 * sizeof sizes / sizeof *sizes; k++) {
    const size_t size = sizes[k / 4], begin = GUARD + (k % 4 < 2 ? 0 : 13 + k);
    memset(to, 0, MOST + 3 * GUARD);
    copies[k % 2](THREADS, to + begin, from, size);
    assert_memory_equal(to + begin, from, size);
    for (size_t i = 0; i < GUARD; i++) assert_true(to[begin - 1 - i] == 0 && to[begin + size + i] == 0);
  }
  free(from);
  free(to);
}

/* ---- several jobs ---- */

static void *keep_running(void *argument) {
  bool *right = argument;
  *right = true;
  for (int i = 0; i < 300; i++) *right = run_counts(1 + (uint32_t)i % 5, 1 + (size_t)i * 7 % 300) && *right;
  return NULL;
}

static void callers_share_the_pool(void **state) {
  (void)state;
  pthread_t threads[THREADS];
  bool right[THREADS];
  for (int i = 0; i < THREADS; i++) assert_int_equal(pthread_create(&threads[i], NULL, keep_running, &right[i]), 0);
  for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
  for (int i = 0; i < THREADS; i++) assert_true(right[i]);
}

/* A job of three jobs of three jobs, and so on. */
typedef struct nest {
  int depth;
  atomic_uint right;
} nest;

static void run_within(void *argument, size_t piece) {
  nest *n = argument, inner = {.depth = n->depth - 1};
  if (n->depth > 0) pool_run(THREADS, 3, run_within, &inner);
  const bool all = n->depth == 0 || atomic_load(&inner.right) == 3;
  atomic_fetch_add(&n->right, all && run_counts(THREADS, 1 + piece));
}

static void jobs_begin_jobs(void **state) {
  (void)state;
  static const uint32_t threads[] = {1, 2, THREADS, 9};
  for (size_t i = 0; i < 4; i++) {
    nest outer = {.depth = 4};
    pool_run(threads[i], 20, run_within, &outer);
    assert_int_equal(atomic_load(&outer.right), 20);
  }
}

/* ---- how many work ---- */

typedef struct crowd {
  pthread_mutex_t lock;
  pthread_t seen[64];
  unsigned count, inside, most;
  unsigned wanted; /* pieces wait until so many were inside at once: a busy machine starts threads late */
} crowd;

static bool is_complete(crowd *c) {
  pthread_mutex_lock(&c->lock);
  const bool complete = c->most >= c->wanted;
  pthread_mutex_unlock(&c->lock);
  return complete;
}

static void join_crowd(void *argument, size_t piece) {
  crowd *c = argument;
  (void)piece;
  pthread_mutex_lock(&c->lock);
  unsigned at = 0;
  while (at < c->count && !pthread_equal(c->seen[at], pthread_self())) at++;
  if (at == c->count) c->seen[c->count++] = pthread_self();
  if (++c->inside > c->most) c->most = c->inside;
  pthread_mutex_unlock(&c->lock);
  rest();
  for (int i = 0; i < 10000 && !is_complete(c); i++) rest();
  pthread_mutex_lock(&c->lock);
  c->inside--;
  pthread_mutex_unlock(&c->lock);
}

/* Threads are there from the tests before, more than most of these jobs may have. */
static void no_more_threads_work_than_may(void **state) {
  (void)state;
  assert_true(run_counts(9, 100));
  for (uint32_t threads = 1; threads <= 5; threads++) {
    crowd c = {.lock = PTHREAD_MUTEX_INITIALIZER, .wanted = threads};
    pool_run(threads, 200, join_crowd, &c);
    assert_in_range(c.count, 1, threads);
    assert_in_range(c.most, 1, threads);
    if (threads > 1) assert_int_equal(c.most, threads); /* and they do work at once */
  }
}

static void one_thread_is_the_caller(void **state) {
  (void)state;
  crowd c = {.lock = PTHREAD_MUTEX_INITIALIZER};
  pool_run(1, 5, join_crowd, &c);
  pool_run(THREADS, 1, join_crowd, &c);
  assert_int_equal(c.count, 1);
  assert_true(pthread_equal(c.seen[0], pthread_self()));
}

/* ---- jobs that go on beside their caller ---- */

static void a_begun_job_goes_on_alone(void **state) {
  (void)state;
  tally *t = calloc(1, sizeof *t);
  assert_non_null(t);
  pool_job job = {.work = count_piece, .argument = t, .pieces = 5, .threads = 2};
  pool_begin(&job);
  for (int i = 0; i < 50000 && atomic_load(&t->done[4]) == 0; i++) rest();
  assert_int_equal(atomic_load(&t->done[4]), 1); /* before the caller helps */
  pool_end(&job);
  assert_true(each_once(t, 5));
  free(t);
}

static void several_begun_jobs_all_end(void **state) {
  (void)state;
  tally *t = calloc(3, sizeof *t);
  assert_non_null(t);
  for (uint32_t threads = 0; threads <= 3; threads++) {
    memset(t, 0, 3 * sizeof *t);
    pool_job jobs[3];
    for (size_t i = 0; i < 3; i++) {
      jobs[i] = (pool_job){.work = count_piece, .argument = &t[i], .pieces = 1000 * (i + 1), .threads = threads};
      pool_begin(&jobs[i]);
    }
    for (size_t i = 0; i < 3; i++) pool_end(&jobs[(i + threads) % 3]);
    for (size_t i = 0; i < 3; i++) assert_true(each_once(&t[i], 1000 * (i + 1)));
  }
  free(t);
}

/* Each piece adds two until there are enough: a tree whose nodes are pieces. */
typedef struct tree {
  pool_job job;
  tally tally;
  pthread_mutex_t lock;
  size_t added;
} tree;

static void grow_piece(void *argument, size_t piece) {
  tree *t = argument;
  if (piece % 16 == 0) rest();
  count_piece(&t->tally, piece);
  for (int i = 0; i < 2; i++) {
    pthread_mutex_lock(&t->lock);
    if (t->added < 2000) {
      t->added++;
      pool_add(&t->job);
    }
    pthread_mutex_unlock(&t->lock);
  }
}

static void pieces_that_are_added_are_done(void **state) {
  (void)state;
  for (uint32_t threads = 1; threads <= 5; threads++) {
    tree *t = calloc(1, sizeof *t);
    assert_non_null(t);
    pthread_mutex_init(&t->lock, NULL);
    t->job = (pool_job){.work = grow_piece, .argument = t, .pieces = 1, .threads = threads};
    t->added = 1;
    pool_begin(&t->job);
    pool_end(&t->job);
    assert_true(each_once(&t->tally, 2000));
    pthread_mutex_destroy(&t->lock);
    free(t);
  }
}

/* ---- the state of the threads ---- */

static void look_at_state(void *argument, size_t piece) {
  atomic_uint *wrong = argument;
  const pthread_t *caller = (const pthread_t *)(void *)(wrong + 2);
  (void)piece;
  rest();
  if (pthread_equal(*caller, pthread_self())) return;
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, NULL, &blocked);
  volatile float least = 0x1p-126f, one = 1.0f;
  const bool right = least * 0.5f == 0x1p-127f && one + 0x1p-24f == 1.0f && sigismember(&blocked, SIGTERM) == 1 &&
                     sigismember(&blocked, SIGPROF) == 1;
  atomic_fetch_add(right ? wrong + 1 : wrong, 1);
}

/* In a child, since threads are started only once. */
static int threads_start_in_every_mode(void) {
  struct {
    atomic_uint wrong, right;
    pthread_t caller;
  } seen = {.caller = pthread_self()};
  mode_set(&worst_mode);
  pool_run(THREADS, 40, look_at_state, &seen);
  const bool kept = mode_holds(&worst_mode);
  mode_end();
  return atomic_load(&seen.wrong) == 0 && atomic_load(&seen.right) > 0 && kept ? 0 : 1;
}

/* ---- children ---- */

/* Runs it in a forked child. Returns the exit status, or -1 where a signal ended it; a hanging one is ended. */
static int in_child(int run(void)) {
  if (SANITIZED_THREADS) skip();
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    exit(run()); /* with the pool's destructor */
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void threads_compute_by_the_standard(void **state) {
  (void)state;
  assert_int_equal(in_child(threads_start_in_every_mode), 0);
}

static int child_works(void) {
  crowd c = {.lock = PTHREAD_MUTEX_INITIALIZER, .wanted = THREADS};
  pool_run(THREADS, 100, join_crowd, &c);
  return c.most == THREADS && run_counts(THREADS, PIECES) ? 0 : 1;
}

static int child_and_its_child_work(void) { return child_works() != 0 || in_child(child_works) != 0; }

static void a_child_has_threads_of_its_own(void **state) {
  (void)state;
  assert_true(run_counts(THREADS, 100));
  assert_int_equal(in_child(child_and_its_child_work), 0);
  assert_true(run_counts(THREADS, 100));
}

/* fork while other threads are in the pool: its lock may be held, and its list is not empty. */
static void fork_amid_jobs(void **state) {
  (void)state;
  if (SANITIZED_THREADS) skip();
  pthread_t threads[2];
  bool right[2];
  for (int i = 0; i < 2; i++) assert_int_equal(pthread_create(&threads[i], NULL, keep_running, &right[i]), 0);
  for (int i = 0; i < 20; i++) assert_int_equal(in_child(child_works), 0);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
  assert_true(right[0] && right[1]);
}

static void *run_for_ever(void *unused) {
  (void)unused;
  for (;;)
    if (!run_counts(THREADS, 100)) abort();
}

static int exit_amid_jobs(void) {
  pthread_t thread;
  for (int i = 0; i < 2; i++) (void)pthread_create(&thread, NULL, run_for_ever, NULL);
  for (int i = 0; i < 5; i++) rest();
  return 0;
}

static void exit_from_piece(void *argument, size_t piece) {
  const pthread_t *caller = argument;
  rest();
  if (piece > 50 && !pthread_equal(*caller, pthread_self())) exit(0);
}

static int exit_within_a_piece(void) {
  pthread_t caller = pthread_self();
  pool_run(THREADS, 1000, exit_from_piece, &caller);
  return 1;
}

static void exit_does_not_wait_for_jobs(void **state) {
  (void)state;
  for (int i = 0; i < 20; i++) assert_int_equal(in_child(exit_amid_jobs), 0);
  for (int i = 0; i < 5; i++) assert_int_equal(in_child(exit_within_a_piece), 0);
}

/* ---- threads that cannot be started ---- */

static int only_two_start(void) {
  crowd c = {.lock = PTHREAD_MUTEX_INITIALIZER};
  atomic_store(&startable, 2);
  pool_run(9, 100, join_crowd, &c);
  return c.count == 3 && run_counts(9, PIECES) ? 0 : 1;
}

static int none_starts(void) {
  crowd c = {.lock = PTHREAD_MUTEX_INITIALIZER};
  atomic_store(&startable, 0);
  pool_run(THREADS, 20, join_crowd, &c);
  return c.count == 1 && run_counts(THREADS, PIECES) ? 0 : 1;
}

static void those_do_the_work_that_could_be_started(void **state) {
  (void)state;
  assert_int_equal(in_child(only_two_start), 0);
  assert_int_equal(in_child(none_starts), 0);
}

static int one_piece_starts_nothing(void) {
  atomic_store(&attempts, 0);
  const bool right = run_counts(THREADS, 1) && run_counts(1, PIECES) && run_counts(0, 0);
  return right && atomic_load(&attempts) == 0 && run_counts(9, 3) && atomic_load(&attempts) == 2 ? 0 : 1;
}

static void no_more_threads_start_than_have_pieces(void **state) {
  (void)state;
  assert_int_equal(in_child(one_piece_starts_nothing), 0);
}

/* ---- how many threads by default ---- */

static int one_processor(void) {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 2;
  size_t first = 0;
  while (!CPU_ISSET(first, &set)) first++;
  CPU_ZERO(&set);
  CPU_SET(first, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) return 2;
  return pool_threads() == 1 ? 0 : 1;
}

static void affinity_bounds_the_default(void **state) {
  (void)state;
  assert_in_range(pool_threads(), 1, (unsigned long)sysconf(_SC_NPROCESSORS_CONF));
  assert_int_equal(in_child(one_processor), 0);
}

static void put(const char *directory, const char *name, const char *text) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", directory, name);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  assert_true(fputs(text, file) >= 0);
  assert_int_equal(fclose(file), 0);
}

static double quota_for(const char *directory, const char *groups) {
  char path[512];
  put(directory, "groups", groups);
  snprintf(path, sizeof path, "%s/groups", directory);
  return processors_quota(path, directory);
}

static void least_quota_of_the_groups_counts(void **state) {
  (void)state;
  char top[] = "/tmp/test_pool.XXXXXX", path[512];
  static const char *const inner[] = {"a", "a/b", "cpu", "cpu/c"};
  assert_non_null(mkdtemp(top));
  for (int i = 0; i < 4; i++) {
    snprintf(path, sizeof path, "%s/%s", top, inner[i]);
    assert_int_equal(mkdir(path, 0700), 0);
  }
  assert_true(isinf(quota_for(top, "0::/a/b\n")));
  put(top, "a/b/cpu.max", "max 100000\n");
  assert_true(isinf(quota_for(top, "0::/a/b\n")));
  put(top, "a/cpu.max", "250000 100000\n");
  assert_true(quota_for(top, "0::/a/b\n") == 2.5);
  put(top, "a/b/cpu.max", "400000 100000\n");
  assert_true(quota_for(top, "0::/a/b\n") == 2.5);
  put(top, "a/b/cpu.max", "50000 100000\n");
  assert_true(quota_for(top, "0::/a/b\n") == 0.5);
  assert_true(quota_for(top, "0::/a\n") == 2.5);
  assert_true(isinf(quota_for(top, "0::/\n")));
  put(top, "cpu.max", "700000 100000\n");
  assert_true(quota_for(top, "0::/of/the/host\n") == 7.0);
  put(top, "cpu/cpu.cfs_quota_us", "-1\n");
  put(top, "cpu/cpu.cfs_period_us", "100000\n");
  assert_true(isinf(quota_for(top, "4:cpuset:/a\n3:cpuacct,cpu:/c\n")));
  put(top, "cpu/c/cpu.cfs_quota_us", "150000\n");
  put(top, "cpu/c/cpu.cfs_period_us", "50000\n");
  assert_true(quota_for(top, "4:cpuset:/a\n3:cpuacct,cpu:/c\n") == 3.0);
  assert_true(isinf(quota_for(top, "4:cpuset:/a\n3:cpuacct:/c\n")));
  assert_true(isinf(quota_for(top, "nonsense\n\n:\n")));
  assert_true(isinf(processors_quota("/nowhere", top)));
  snprintf(path, sizeof path, "rm -r %s", top);
  assert_int_equal(system(path), 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_piece_is_done_once),
      cmocka_unit_test(jobs_follow_each_other_at_once),
      cmocka_unit_test(a_job_ends_after_its_last_piece),
      cmocka_unit_test(ranges_cover_everything_once),
      cmocka_unit_test(copies_are_whole),
      cmocka_unit_test(callers_share_the_pool),
      cmocka_unit_test(jobs_begin_jobs),
      cmocka_unit_test(no_more_threads_work_than_may),
      cmocka_unit_test(one_thread_is_the_caller),
      cmocka_unit_test(a_begun_job_goes_on_alone),
      cmocka_unit_test(several_begun_jobs_all_end),
      cmocka_unit_test(pieces_that_are_added_are_done),
      cmocka_unit_test(threads_compute_by_the_standard),
      cmocka_unit_test(a_child_has_threads_of_its_own),
      cmocka_unit_test(fork_amid_jobs),
      cmocka_unit_test(exit_does_not_wait_for_jobs),
      cmocka_unit_test(those_do_the_work_that_could_be_started),
      cmocka_unit_test(no_more_threads_start_than_have_pieces),
      cmocka_unit_test(affinity_bounds_the_default),
      cmocka_unit_test(least_quota_of_the_groups_counts),
  };
  return cmocka_run_group_tests_name("pool", tests, NULL, NULL);
}
