/* Threads, locks and conditions. POSIX's are called inline: a call of one ray takes several locks. */
#ifndef SLABCAST_OS_THREAD_H
#define SLABCAST_OS_THREAD_H

#include <stdbool.h>
#include <stdint.h>

/* ---- locks and threads ---- */

#ifdef _WIN32

/* As windows.h has them, which no other file includes: its macros are named near, far and the like. */
typedef struct os_mutex {
  void *lock;
} os_mutex;
typedef struct os_condition {
  void *variable;
} os_condition;
typedef struct os_once {
  void *done;
} os_once;
typedef struct os_thread {
  void *handle;
  unsigned long id;
} os_thread;
#define OS_MUTEX \
  { 0 }
#define OS_CONDITION \
  { 0 }
#define OS_ONCE \
  { 0 }

bool os_mutex_init(os_mutex *);
void os_mutex_lock(os_mutex *);
void os_mutex_unlock(os_mutex *);
void os_condition_init(os_condition *);
void os_condition_wait(os_condition *, os_mutex *);
void os_condition_signal(os_condition *);
void os_condition_broadcast(os_condition *);
void os_once_run(os_once *, void (*run)(void));
int os_thread_start(os_thread *, void *(*run)(void *), void *argument);
void os_thread_join(os_thread);
os_thread os_thread_self(void);
bool os_thread_is_self(os_thread);
static inline void os_mutex_destroy(os_mutex *m) { (void)m; }
static inline void os_condition_destroy(os_condition *c) { (void)c; }

/* There are no forks. */
static inline bool os_watch_forks(void (*in_child)(void)) { return in_child != 0; }

#else

#include <pthread.h>

typedef pthread_mutex_t os_mutex;
typedef pthread_cond_t os_condition;
typedef pthread_once_t os_once;
typedef pthread_t os_thread;
#define OS_MUTEX PTHREAD_MUTEX_INITIALIZER
#define OS_CONDITION PTHREAD_COND_INITIALIZER
#define OS_ONCE PTHREAD_ONCE_INIT

/* False where the system has no memory for one. */
static inline bool os_mutex_init(os_mutex *m) { return pthread_mutex_init(m, NULL) == 0; }
static inline void os_mutex_destroy(os_mutex *m) { pthread_mutex_destroy(m); }
static inline void os_mutex_lock(os_mutex *m) { pthread_mutex_lock(m); }
static inline void os_mutex_unlock(os_mutex *m) { pthread_mutex_unlock(m); }

static inline void os_condition_init(os_condition *c) { pthread_cond_init(c, NULL); }
static inline void os_condition_destroy(os_condition *c) { pthread_cond_destroy(c); }
static inline void os_condition_wait(os_condition *c, os_mutex *m) { pthread_cond_wait(c, m); }
static inline void os_condition_signal(os_condition *c) { pthread_cond_signal(c); }
static inline void os_condition_broadcast(os_condition *c) { pthread_cond_broadcast(c); }

static inline void os_once_run(os_once *once, void (*run)(void)) { pthread_once(once, run); }

/* 0, or the system's number of the failure. */
static inline int os_thread_start(os_thread *t, void *(*run)(void *), void *argument) {
  return pthread_create(t, NULL, run, argument);
}
static inline void os_thread_join(os_thread t) { pthread_join(t, NULL); }
static inline os_thread os_thread_self(void) { return pthread_self(); }
static inline bool os_thread_is_self(os_thread t) { return pthread_equal(t, pthread_self()) != 0; }

/* Calls a function in each process that is forked from now on, before anything else runs there. False where the system
 * has no memory for that. */
static inline bool os_watch_forks(void (*in_child)(void)) { return pthread_atfork(NULL, NULL, in_child) == 0; }

#endif

/* ---- waits that the clock may end ---- */

/* A condition for them. 0, or the system's number of the failure. */
int os_condition_init_timed(os_condition *);
/* False once seconds_now() (os/clock.h) has reached `end`. */
bool os_condition_wait_until(os_condition *, os_mutex *, double end);

/* ---- threads of the library's own ---- */

/* The signals that the calling thread, and those that it starts, do not take. */
typedef struct os_signals {
  uint64_t bits[16];
} os_signals;

/* From now on none. */
void os_signals_block(os_signals *before);
void os_signals_restore(const os_signals *before);

/* The calling thread is the nth that does work of all processors. Windows keeps a thread in one group of at most 64 of
 * them: from now on it is in the group of the nth processor. */
void os_thread_spread(uint32_t nth);

/* Whether a library joins its threads as it is unloaded and as the process ends. Windows has ended them by then, maybe
 * within a lock, and a library that waits for a thread as it is unloaded waits for ever. */
#ifdef _WIN32
enum { OS_JOINS_AT_END = false };
#else
enum { OS_JOINS_AT_END = true };
#endif
/* Call it before a library starts its first thread. Where it cannot join that, it is not unloaded any more. */
void os_library_stays(void);

#endif
