/* What os/ does not do inline, by POSIX and, where there is more, by Linux. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* RTLD_DEFAULT, madvise, sched_getaffinity */
#endif
#include <dlfcn.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "os/clock.h"
#include "os/library.h"
#include "os/memory.h"
#include "os/process.h"
#include "os/thread.h"

void os_sleep(double seconds) {
  const time_t whole = (time_t)seconds;
  const struct timespec moment = {.tv_sec = whole, .tv_nsec = (long)(1e9 * (seconds - (double)whole))};
  nanosleep(&moment, NULL);
}

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

/* ---- signals ---- */

_Static_assert(sizeof(sigset_t) <= sizeof(os_signals), "os_signals has room for the system's");

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

/* ---- libraries ---- */

void *os_library_of_program(void) { return RTLD_DEFAULT; }
void *os_library_open(const char *name) { return dlopen(name, RTLD_NOW | RTLD_LOCAL); }
void *os_library_symbol(void *library, const char *name) { return dlsym(library, name); }
const char *os_library_failure(void) { return dlerror(); }

/* ---- the machine ---- */

long os_processors(void) {
#ifdef __linux__
  cpu_set_t sets[64]; /* 65,536 processors: more than Linux has */
  if (sched_getaffinity(0, sizeof sets, sets) == 0) return CPU_COUNT_S(sizeof sets, sets);
#endif
  return sysconf(_SC_NPROCESSORS_ONLN);
}

uint64_t os_memory(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : 0;
}

void os_machine(char *name, size_t size) {
  struct utsname system;
  snprintf(name, size, "%s", uname(&system) == 0 ? system.machine : "");
}

bool os_has_file(const char *name) { return access(name, F_OK) == 0; }
