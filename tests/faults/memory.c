/* Host memory that fails on request. The linker sends every allocation of our own objects here (--wrap), and no
 * others: a driver's compiler aborts when it has no memory, which would test nothing of ours.
 *
 * A test in the same process sets faults with memory_arm and memory_disarm. A program linked this way gets one from
 * SLAB_FAIL_MEMORY=N:once|all, and appends the outcome to the file named by SLAB_FAIL_MEMORY_FILE. */
#include "memory.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Static, because the functions that replace malloc take no user pointer. */
static struct {
  atomic_uint nth, calls, failed;
  atomic_llong live;
  fail_mode mode;
} order;

static bool refuse(void) {
  const unsigned nth = order.nth, call = 1 + atomic_fetch_add(&order.calls, 1);
  if (nth == 0 || call < nth || (call > nth && order.mode == FAIL_ONCE)) return false;
  atomic_fetch_add(&order.failed, 1);
  errno = ENOMEM;
  return true;
}

static void *handed_out(void *memory) {
  if (memory) atomic_fetch_add(&order.live, 1);
  return memory;
}

/* The linker defines these names: __real_X is the original X, __wrap_X is called in place of X.
 * NOLINTBEGIN(bugprone-reserved-identifier) */
void *__real_malloc(size_t);
void *__real_calloc(size_t, size_t);
void *__real_realloc(void *, size_t);
void *__real_aligned_alloc(size_t, size_t);
char *__real_strdup(const char *);
void __real_free(void *);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
void *__wrap_aligned_alloc(size_t alignment, size_t size);
char *__wrap_strdup(const char *text);
void __wrap_free(void *memory);
/* NOLINTEND(bugprone-reserved-identifier) */

void *__wrap_malloc(size_t size) { return refuse() ? NULL : handed_out(__real_malloc(size)); }

void *__wrap_calloc(size_t count, size_t size) { return refuse() ? NULL : handed_out(__real_calloc(count, size)); }

void *__wrap_realloc(void *memory, size_t size) {
  if (refuse()) return NULL;
  void *grown = __real_realloc(memory, size);
  return memory ? grown : handed_out(grown);
}

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
  return refuse() ? NULL : handed_out(__real_aligned_alloc(alignment, size));
}

char *__wrap_strdup(const char *text) { return refuse() ? NULL : handed_out(__real_strdup(text)); }

void __wrap_free(void *memory) {
  if (memory) atomic_fetch_sub(&order.live, 1);
  __real_free(memory);
}

/* ---- control ----------------------------------------------------------------- */

void memory_arm(unsigned nth, fail_mode mode, int code) {
  (void)code;
  order.mode = mode;
  order.calls = order.failed = 0;
  order.nth = nth;
}

fail_report memory_disarm(void) {
  order.nth = 0;
  return (fail_report){order.calls, order.failed, 0, order.failed ? "memory" : NULL};
}

long long memory_live(void) { return order.live; }

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
  signal(SIGXFSZ, SIG_IGN); /* the mesh importer may not write files, so it has no report */
  const int size = snprintf(text, sizeof text, "slabcast failing memory: %u calls, %u failed, %lld live\n", order.calls,
                            order.failed, (long long)order.live);
  const int file = open(path, O_WRONLY | O_CREAT | O_APPEND, 0666);
  if (file >= 0 && write(file, text, (size_t)size) != size) perror("failing memory: report");
  if (file >= 0) close(file);
}
