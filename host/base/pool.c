#include "base/pool.h"

#include <string.h>

#include "base/arithmetic.h"
#include "base/processors.h"
#include "base/stream_copy.h"
#include "os/thread.h"

#define THREADS_MOST 1024

/* How often a thread polls before it sleeps: for about as long as waking it takes, some 50 us. The next job of a build
 * or a cast mostly comes at once. */
#define LOOKS 1000

/* All but `ending` and `allowed` is guarded by the lock; `posts` is looked at without it. */
static struct pool {
  os_mutex lock;
  os_condition posted; /* idle threads wait for jobs */
  os_condition left;   /* callers wait for the helpers of their job */
  pool_job *jobs;      /* those that threads of the pool may help with */
  os_thread threads[THREADS_MOST];
  uint32_t started, idle;
  atomic_uint posts;   /* jobs and pieces that were posted, to be looked at */
  atomic_bool ending;  /* no thread is started any more, and those there are end after their piece */
  atomic_uint allowed; /* pool_threads; 0: not known yet */
} pool = {.lock = OS_MUTEX, .posted = OS_CONDITION, .left = OS_CONDITION};

/* ---- fork ---- */

/* The child has none of the threads, and the lock may have been held by one of them. */
static void forget_threads(void) {
  os_mutex_init(&pool.lock);
  os_condition_init(&pool.posted);
  os_condition_init(&pool.left);
  pool.jobs = NULL;
  pool.started = pool.idle = 0;
  atomic_store(&pool.allowed, 0);
}

static os_once registering = OS_ONCE;
static bool fork_is_watched;

static void watch_forks(void) { fork_is_watched = os_watch_forks(forget_threads); }

/* ---- pieces ---- */

/* Compares before it takes: a number beyond the last piece may be that of a piece added later. */
static bool take_piece(pool_job *job, size_t *piece) {
  size_t next = atomic_load_explicit(&job->next, memory_order_relaxed);
  do {
    if (next >= atomic_load_explicit(&job->pieces, memory_order_acquire)) return false;
  } while (!atomic_compare_exchange_weak(&job->next, &next, next + 1));
  *piece = next;
  return true;
}

static bool has_pieces(const pool_job *job) {
  return atomic_load_explicit(&job->next, memory_order_relaxed) <
         atomic_load_explicit(&job->pieces, memory_order_relaxed);
}

/* ---- threads ---- */

static inline void pause_briefly(void) {
#ifdef __x86_64__
  __builtin_ia32_pause();
#endif
}

/* Leaves the lock until something is posted, or for a while. */
static void look_for_posts(void) {
  const unsigned seen = atomic_load(&pool.posts);
  os_mutex_unlock(&pool.lock);
  for (int i = 0; i < LOOKS && atomic_load(&pool.posts) == seen && !atomic_load(&pool.ending); i++) pause_briefly();
  os_mutex_lock(&pool.lock);
}

static void look_for_helpers(const pool_job *job) {
  for (int i = 0; i < LOOKS && atomic_load(&job->helpers) > 0 && !has_pieces(job); i++) pause_briefly();
}

/* Of the jobs that need a helper, the one with the fewest. */
static pool_job *job_to_help(void) {
  pool_job *best = NULL;
  for (pool_job *job = pool.jobs; job != NULL; job = job->next_listed)
    if (job->helpers < job->most && has_pieces(job) && (best == NULL || job->helpers < best->helpers)) best = job;
  return best;
}

/* A job is the caller's memory: it is touched only while its helpers are counted. */
static void help(pool_job *job) {
  job->helpers++;
  os_mutex_unlock(&pool.lock);
  for (size_t piece; !atomic_load(&pool.ending) && take_piece(job, &piece);) job->work(job->argument, piece);
  os_mutex_lock(&pool.lock);
  if (--job->helpers == 0 && job->waits) os_condition_broadcast(&pool.left);
}

static void *thread_run(void *own) {
  os_thread_spread((uint32_t)((os_thread *)own - pool.threads) + 1);
  (void)arithmetic_begin(); /* for good: the state is inherited from the thread that started this one */
  bool looked = false;
  os_mutex_lock(&pool.lock);
  while (!atomic_load(&pool.ending)) {
    pool_job *job = job_to_help();
    if (job != NULL) {
      help(job);
      looked = false;
    } else if (!looked) {
      look_for_posts();
      looked = true;
    } else {
      pool.idle++;
      os_condition_wait(&pool.posted, &pool.lock);
      pool.idle--;
    }
  }
  os_mutex_unlock(&pool.lock);
  return NULL;
}

/* Starts threads until there are `wanted`, or as many as can be. The signals of the program are not for them. */
static void start_threads(uint32_t wanted) {
  os_signals callers;
  if (wanted > THREADS_MOST) wanted = THREADS_MOST;
  if (pool.started >= wanted || !fork_is_watched) return;
  os_library_stays();
  os_signals_block(&callers);
  for (os_thread *next = pool.threads + pool.started; pool.started < wanted; next++) {
    if (os_thread_start(next, thread_run, next) != 0) break;
    pool.started++;
  }
  os_signals_restore(&callers);
}

/* Runs at exit and when the library is unloaded, so that no thread is left in code that is gone. Another thread may be
 * within a job at exit: each helper ends after its piece, and that thread does the rest alone. */
__attribute__((destructor)) static void end_threads(void) {
  if (!OS_JOINS_AT_END) return;
  os_mutex_lock(&pool.lock);
  atomic_store(&pool.ending, true);
  os_condition_broadcast(&pool.posted);
  os_mutex_unlock(&pool.lock);
  for (uint32_t i = 0; i < pool.started; i++)
    if (!os_thread_is_self(pool.threads[i])) os_thread_join(pool.threads[i]);
}

/* ---- jobs ---- */

uint32_t pool_threads(void) {
  uint32_t allowed = atomic_load_explicit(&pool.allowed, memory_order_relaxed);
  if (allowed != 0) return allowed;
  os_once_run(&registering, watch_forks);
  allowed = processors_allowed();
  atomic_store_explicit(&pool.allowed, allowed, memory_order_relaxed);
  return allowed;
}

static void wake(uint32_t threads) {
  for (uint32_t i = 0; i < threads; i++) os_condition_signal(&pool.posted);
}

static uint32_t lesser(size_t a, uint32_t b) { return a < b ? (uint32_t)a : b; }

/* Lets up to `helpers` threads of the pool help, and wakes no more than these. */
static void post(pool_job *job, uint32_t helpers) {
  job->most = helpers;
  job->helpers = 0;
  job->waits = job->listed = false;
  if (helpers == 0) return;
  os_once_run(&registering, watch_forks);
  os_mutex_lock(&pool.lock);
  uint32_t waking = 0;
  if (!atomic_load(&pool.ending)) {
    waking = lesser(atomic_load(&job->pieces), helpers < pool.idle ? helpers : pool.idle);
    start_threads(lesser(atomic_load(&job->pieces), helpers));
    job->listed = true;
    job->next_listed = pool.jobs;
    pool.jobs = job;
    atomic_fetch_add(&pool.posts, 1);
  }
  os_mutex_unlock(&pool.lock);
  wake(waking);
}

static void unlist(pool_job *job) {
  pool_job **at = &pool.jobs;
  while (*at != job) at = &(*at)->next_listed;
  *at = job->next_listed;
  job->listed = false;
}

void pool_begin(pool_job *job) {
  const uint32_t threads = job->threads == 0 ? pool_threads() : job->threads;
  atomic_store_explicit(&job->next, 0, memory_order_relaxed);
  post(job, threads - 1);
}

void pool_add(pool_job *job) {
  atomic_fetch_add_explicit(&job->pieces, 1, memory_order_release);
  if (!job->listed) return;
  os_mutex_lock(&pool.lock);
  atomic_fetch_add(&pool.posts, 1);
  if (job->waits)
    os_condition_broadcast(&pool.left);
  else if (job->helpers < job->most && pool.idle > 0)
    os_condition_signal(&pool.posted);
  else if (job->helpers < job->most && !atomic_load(&pool.ending))
    start_threads(lesser(job->most, pool.started + 1));
  os_mutex_unlock(&pool.lock);
}

void pool_end(pool_job *job) {
  for (;;) {
    for (size_t piece; take_piece(job, &piece);) job->work(job->argument, piece);
    if (!job->listed) return;
    look_for_helpers(job);
    os_mutex_lock(&pool.lock);
    job->waits = true;
    while (job->helpers > 0 && !has_pieces(job)) os_condition_wait(&pool.left, &pool.lock);
    job->waits = false;
    const bool done = job->helpers == 0 && !has_pieces(job);
    if (done) unlist(job);
    os_mutex_unlock(&pool.lock);
    if (done) return;
  }
}

void pool_run(uint32_t threads, size_t pieces, pool_work *work, void *argument) {
  if (threads == 0 && pieces > 1) threads = pool_threads();
  if (threads == 1 || pieces <= 1) {
    for (size_t piece = 0; piece < pieces; piece++) work(argument, piece);
    return;
  }
  pool_job job = {.work = work, .argument = argument, .pieces = pieces, .threads = threads};
  post(&job, lesser(pieces, threads) - 1);
  pool_end(&job);
}

typedef struct loop {
  pool_range *work;
  void *argument;
  size_t n, grain;
} loop;

static void loop_piece(void *argument, size_t piece) {
  const loop *l = argument;
  const size_t first = piece * l->grain, rest = l->n - first;
  l->work(l->argument, first, first + (rest < l->grain ? rest : l->grain));
}

void pool_loop(uint32_t threads, size_t n, size_t grain, pool_range *work, void *argument) {
  loop l = {work, argument, n, grain};
  pool_run(threads, n / grain + (n % grain != 0), loop_piece, &l);
}

typedef struct copying {
  unsigned char *to;
  const unsigned char *from;
} copying;

static void copy_some(void *argument, size_t first, size_t end) {
  const copying *c = argument;
  memcpy(c->to + first, c->from + first, end - first);
}

static void copy_some_out(void *argument, size_t first, size_t end) {
  const copying *c = argument;
  stream_copy(c->to + first, c->from + first, end - first);
}

/* A smaller copy is done before another thread would be awake. */
#define SHARED_COPY ((size_t)1 << 19)
/* Some 20 us: less than threads look for work before they sleep, so those of the last chunk's copy are awake. By pieces
 * of 1 MiB a copy of as much has one thread; by 256 KiB it takes 1.15 of the time by these. */
#define COPIED_AT_ONCE ((size_t)1 << 17)
/* A smaller copy may be read from the cache. */
#define PAST_THE_CACHE ((size_t)1 << 20)

static size_t piece_of(size_t size) { return size < SHARED_COPY ? SHARED_COPY : COPIED_AT_ONCE; }

void pool_copy(uint32_t threads, void *to, const void *from, size_t size) {
  copying c = {to, from};
  pool_loop(threads, size, piece_of(size), copy_some, &c);
}

void pool_copy_out(uint32_t threads, void *to, const void *from, size_t size) {
  copying c = {to, from};
  pool_loop(threads, size, piece_of(size), size < PAST_THE_CACHE ? copy_some : copy_some_out, &c);
}
