/* The parts of os/ that are not inline, by POSIX, and by Linux and macOS where these have more. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT, madvise, sched_getaffinity */
#endif
#define _DARWIN_C_SOURCE /* RTLD_DEFAULT, sysctlbyname, pthread_cond_timedwait_relative_np */
#include <dlfcn.h>
#include <math.h>
#ifdef __linux__
#include <sched.h>
#endif
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#ifdef __APPLE__
#include <sys/sysctl.h>
#endif
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/library.h"
#include "os/memory.h"
#include "os/process.h"
#include "os/thread.h"

/* ---- clocks ---- */

/* 0 where the system has no such clock. */
static double seconds_of(clockid_t clock) {
  struct timespec now;
  return clock_gettime(clock, &now) == 0 ? (double)now.tv_sec + 1e-9 * (double)now.tv_nsec : 0.0;
}

double seconds_now(void) { return seconds_of(CLOCK_MONOTONIC); }
double seconds_of_thread(void) { return seconds_of(CLOCK_THREAD_CPUTIME_ID); }
double seconds_of_process(void) { return seconds_of(CLOCK_PROCESS_CPUTIME_ID); }

static struct timespec moment_of(double seconds) {
  const time_t whole = (time_t)seconds;
  return (struct timespec){.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))};
}

void os_sleep(double seconds) {
  const struct timespec moment = moment_of(seconds);
  nanosleep(&moment, NULL);
}

/* ---- waits that the clock may end ---- */

#ifdef __APPLE__

int os_condition_init_timed(os_condition *c) { return pthread_cond_init(c, NULL); }

bool os_condition_wait_until(os_condition *c, os_mutex *m, double end) {
  const double rest = end - seconds_now();
  const struct timespec wait = moment_of(rest > 0.0 ? rest : 0.0);
  return pthread_cond_timedwait_relative_np(c, m, &wait) == 0;
}

#else

int os_condition_init_timed(os_condition *c) {
  pthread_condattr_t monotonic;
  int failure = pthread_condattr_init(&monotonic);
  if (failure != 0) return failure;
  failure = pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  if (failure == 0) failure = pthread_cond_init(c, &monotonic);
  pthread_condattr_destroy(&monotonic);
  return failure;
}

bool os_condition_wait_until(os_condition *c, os_mutex *m, double end) {
  const struct timespec at = moment_of(end);
  return pthread_cond_timedwait(c, m, &at) == 0;
}

#endif

/* ---- memory ---- */

void *os_allocate_lines(size_t bytes) {
  return aligned_alloc(OS_CACHE_LINE, (bytes + OS_CACHE_LINE - 1) / OS_CACHE_LINE * OS_CACHE_LINE);
}

void *os_allocate_pages(size_t page, size_t count) {
  void *memory = aligned_alloc(page, page * count);
#ifdef MADV_HUGEPAGE
  if (memory) madvise(memory, page * count, MADV_HUGEPAGE); /* only a hint */
#endif
  return memory;
}

void *os_shrink(void *memory, size_t bytes) { return realloc(memory, bytes); }
void os_free(void *memory) { free(memory); }

/* ---- threads of the library's own ---- */

_Static_assert(sizeof(sigset_t) <= sizeof(os_signals), "os_signals has space for the system's");

void os_signals_block(os_signals *before) {
  sigset_t all, callers;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &callers);
  memcpy(before, &callers, sizeof callers);
}

void os_signals_restore(const os_signals *before) {
  sigset_t callers;
  memcpy(&callers, before, sizeof callers);
  pthread_sigmask(SIG_SETMASK, &callers, NULL);
}

void os_thread_spread(uint32_t nth) { (void)nth; }
void os_library_stays(void) {}

/* ---- libraries ---- */

void *os_library_of_program(void) { return RTLD_DEFAULT; }
void *os_library_open(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void *os_library_beside(const char *name) {
  static const char place; /* of this library, whose path is wanted */
  Dl_info own;
  char path[4096];
  if (dladdr(&place, &own) == 0 || own.dli_fname == NULL) return NULL;
  const char *end = strrchr(own.dli_fname, '/');
  const int folder = end != NULL ? (int)(end - own.dli_fname) + 1 : 0;
  const int length = snprintf(path, sizeof path, "%.*s%s", folder, own.dli_fname, name);
  return folder > 0 && length > 0 && (size_t)length < sizeof path ? os_library_open(path) : NULL;
}
void *os_library_symbol(void *library, const char *name) { return dlsym(library, name); }
const char *os_library_failure(void) { return dlerror(); }

/* ---- the machine ---- */

long os_processors(void) {
#ifdef __linux__
  cpu_set_t sets[64]; /* 65,536 processors: more than Linux has */
  if (sched_getaffinity(0, sizeof sets, sets) == 0) return CPU_COUNT_S(sizeof sets, sets);
#endif
#ifdef __APPLE__
  int fast = 0;
  size_t size = sizeof fast;
  if (sysctlbyname("hw.perflevel0.logicalcpu", &fast, &size, NULL, 0) == 0 && fast > 0) return fast;
#endif
  return sysconf(_SC_NPROCESSORS_ONLN);
}

double os_quota(void) { return INFINITY; }

uint64_t os_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

void os_machine(char *name, size_t size) {
  struct utsname system;
  snprintf(name, size, "%s", uname(&system) == 0 ? system.machine : "");
}

bool os_has_file(const char *name) { return access(name, F_OK) == 0; }
FILE *os_open_text(const char *name) { return fopen(name, "re"); }
