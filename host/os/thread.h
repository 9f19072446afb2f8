/* Threads and what they share. Inline: a call of one ray takes several locks. */
#ifndef SLABCAST_OS_THREAD_H
#define SLABCAST_OS_THREAD_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

/* ---- locks ---- */

typedef pthread_mutex_t os_mutex;
#define OS_MUTEX PTHREAD_MUTEX_INITIALIZER

/* False where the system has no memory for one. */
static inline bool os_mutex_init(os_mutex *m) { return pthread_mutex_init(m, NULL) == 0; }
static inline void os_mutex_destroy(os_mutex *m) { pthread_mutex_destroy(m); }
static inline void os_mutex_lock(os_mutex *m) { pthread_mutex_lock(m); }
static inline void os_mutex_unlock(os_mutex *m) { pthread_mutex_unlock(m); }

typedef pthread_cond_t os_condition;
#define OS_CONDITION PTHREAD_COND_INITIALIZER

static inline void os_condition_init(os_condition *c) { pthread_cond_init(c, NULL); }
static inline void os_condition_destroy(os_condition *c) { pthread_cond_destroy(c); }
static inline void os_condition_wait(os_condition *c, os_mutex *m) { pthread_cond_wait(c, m); }
static inline void os_condition_signal(os_condition *c) { pthread_cond_signal(c); }
static inline void os_condition_broadcast(os_condition *c) { pthread_cond_broadcast(c); }

/* A condition whose waits may end by the clock. 0, or the system's number of the failure. */
static inline int os_condition_init_timed(os_condition *c) {
  pthread_condattr_t monotonic;
  int failure = pthread_condattr_init(&monotonic);
  if (failure != 0) return failure;
  failure = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  if (failure == 0) failure = pthread_cond_init(c, &monotonic);
  pthread_condattr_destroy(&monotonic);
  return failure;
}

/* Waits on such a condition. False once seconds_now() (os/clock.h) has reached `end`. */
static inline bool os_condition_wait_until(os_condition *c, os_mutex *m, double end) {
  const struct timespec at = {(time_t)end, (long)(1e9 * (end - (double)(time_t)end))};
  return pthread_cond_timedwait(c, m, &at) == 0;
}

typedef pthread_once_t os_once;
#define OS_ONCE PTHREAD_ONCE_INIT

static inline void os_once_run(os_once *once, void (*run)(void)) { pthread_once(once, run); }

/* ---- threads ---- */

typedef pthread_t os_thread;

/* 0, or the system's number of the failure. */
static inline int os_thread_start(os_thread *t, void *(*run)(void *), void *argument) {
  return pthread_create(t, NULL, run, argument);
}
static inline void os_thread_join(os_thread t) { pthread_join(t, NULL); }
static inline os_thread os_thread_self(void) { return pthread_self(); }
static inline bool os_thread_is_self(os_thread t) { return pthread_equal(t, pthread_self()) != 0; }

/* The signals that the calling thread, and those that it starts, do not take. */
typedef struct os_signals {
  uint64_t bits[16];
} os_signals;

/* From now on none. */
void os_signals_block(os_signals *before);
void os_signals_restore(const os_signals *before);

/* ---- forks ---- */

/* Calls a function in each process that is forked from now on, before anything else runs there. False where the system
 * has no memory for that. */
static inline bool os_watch_forks(void (*in_child)(void)) { return pthread_atfork(NULL, NULL, in_child) == 0; }

#endif
