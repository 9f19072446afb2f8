/* Host memory and threads that fail on request. The linker sends every allocation and every new thread of our own
 * objects here (--wrap), and no others. A driver's compiler aborts when it has no memory, which would test nothing of
 * ours.
 *
 * A test in the same process sets faults with memory_arm and memory_disarm, or threads_arm and threads_disarm. A
 * program linked this way gets one of memory from SLAB_FAIL_MEMORY=N:once|all, and appends the outcome to the file
 * named by SLAB_FAIL_MEMORY_FILE. */
#include "memory.h"

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <pthread.h>
#endif

/* Which calls fail, and how many did. */
typedef struct order {
  atomic_uint nth, calls, failed;
  fail_mode mode;
} order;

/* Static, because the functions that replace malloc take no user pointer. */
static order of_memory, of_threads;
static atomic_llong live;

static bool refuse(order *o) {
  const unsigned nth = o->nth, call = 1 + atomic_fetch_add(&o->calls, 1);
  if (nth == 0 || call < nth || (call > nth && o->mode == FAIL_ONCE)) return false;
  atomic_fetch_add(&o->failed, 1);
  return true;
}

static bool refuse_memory(void) {
  if (!refuse(&of_memory)) return false;
  errno = ENOMEM;
  return true;
}

static void *handed_out(void *memory) {
  if (memory) atomic_fetch_add(&live, 1);
  return memory;
}

/* The linker defines these names: __real_X is the original X, __wrap_X is called in place of X.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
char *__real_strdup(const char *);
void __real_free(void *);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);
#ifdef _WIN32
void *__real_os_allocate_lines(size_t);
void *__real_os_allocate_pages(size_t, size_t);
void __real_os_free(void *);
void *__wrap_os_allocate_lines(size_t bytes);
void *__wrap_os_allocate_pages(size_t page, size_t count);
void __wrap_os_free(void *memory);
#else
void *__real_aligned_alloc(size_t, size_t);
int __real_pthread_create(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument);
#endif
/* NOLINTEND(bugprone-reserved-identifier) */

void *__wrap_malloc(size_t size) { return refuse_memory() ? NULL : handed_out(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) {
  return refuse_memory() ? NULL : handed_out(__real_calloc(count, size));
}

void *__wrap_realloc(void *memory, size_t size) {
  if (refuse_memory()) return NULL;
  void *grown = __real_realloc(memory, size);
  return memory ? grown : handed_out(grown);
}

char *__wrap_strdup(const char *text) { return refuse_memory() ? NULL : handed_out(__real_strdup(text)); }

void __wrap_free(void *memory) {
  if (memory) atomic_fetch_sub(&live, 1);
  __real_free(memory);
}

#ifdef _WIN32 /* aligned memory has functions of its own, of a DLL */

void *__wrap_os_allocate_lines(size_t bytes) {
  return refuse_memory() ? NULL : handed_out(__real_os_allocate_lines(bytes));
}

void *__wrap_os_allocate_pages(size_t page, size_t count) {
  return refuse_memory() ? NULL : handed_out(__real_os_allocate_pages(page, count));
}

void __wrap_os_free(void *memory) {
  if (memory) atomic_fetch_sub(&live, 1);
  __real_os_free(memory);
}

#else

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return refuse_memory() ? NULL : handed_out(__real_aligned_alloc(alignment, size));
}

int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *argument) {
  return refuse(&of_threads) ? EAGAIN : __real_pthread_create(thread, attributes, run, argument);
}

#endif

/* ---- control ----------------------------------------------------------------- */

static void arm(order *o, unsigned nth, fail_mode mode) {
  o->mode = mode;
  o->calls = o->failed = 0;
  o->nth = nth;
}

void memory_arm(unsigned nth, fail_mode mode, int code) {
  (void)code;
  arm(&of_memory, nth, mode);
}

fail_report memory_disarm(void) {
  of_memory.nth = 0;
  return (fail_report){of_memory.calls, of_memory.failed, 0, of_memory.failed ? "memory" : NULL};
}

long long memory_live(void) { return live; }

void threads_arm(unsigned nth, fail_mode mode, int code) {
  (void)code;
  arm(&of_threads, nth, mode);
}

fail_report threads_disarm(void) {
  of_threads.nth = 0;
  return (fail_report){of_threads.calls, of_threads.failed, of_threads.failed, NULL};
}

__attribute__((constructor)) static void obey_environment(void) {
  const char *text = getenv("SLAB_FAIL_MEMORY");
  unsigned nth;
  char mode[5];
  if (!text) return;
  if (sscanf(text, "%u:%4[a-z]", &nth, mode) != 2 || (strcmp(mode, "once") != 0 && strcmp(mode, "all") != 0)) {
    fprintf(stderr, "failing memory: SLAB_FAIL_MEMORY=%s is not N:once|all\n", text);
    abort();
  }
  memory_arm(nth, strcmp(mode, "all") == 0 ? FAIL_ALL : FAIL_ONCE, 0);
}

__attribute__((destructor)) static void report_at_exit(void) {
  const char *path = getenv("SLAB_FAIL_MEMORY_FILE");
  char text[128];
  if (!path) return;
#ifdef SIGXFSZ
  signal(SIGXFSZ, SIG_IGN); /* the mesh importer may not write files, so it has no report */
#endif
  const int size = snprintf(text, sizeof text, "slabcast failing memory: %u calls, %u failed, %lld live\n",
                            of_memory.calls, of_memory.failed, (long long)live);
  FILE *file = fopen(path, "a");
  if (file == NULL) return;
  const bool kept = fwrite(text, 1, (size_t)size, file) == (size_t)size;
  if (fclose(file) != 0 || !kept) perror("failing memory: report");
}
