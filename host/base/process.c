#include <pthread.h>
#include <stdatomic.h>

#include "process.h"

#include "status.h"

static atomic_bool forked;

static void note_fork(void) { atomic_store(&forked, true); }

/* fork handlers cannot be removed, and children inherit them: one is registered at the first use. */
static pthread_once_t registering = PTHREAD_ONCE_INIT;
static int registered;

static void watch_forks(void) { registered = pthread_atfork(NULL, NULL, note_fork); }

bool process_is_forked(void) { return atomic_load(&forked); }

slab_status process_check(const char *function) {
  if (!process_is_forked()) return SLAB_OK;
  return fail(
      SLAB_INVALID_STATE,
      "%s: this process was forked from one that had used OpenCL, whose threads it lacks: fork before the first "
      "call that asks for devices, or call exec after fork",
      function);
}

slab_status process_begin(const char *function) {
  slab_status status = process_check(function);
  if (status != SLAB_OK) return status;
  pthread_once(&registering, watch_forks);
  return registered == 0 ? SLAB_OK : fail(SLAB_OUT_OF_MEMORY, "%s: no memory to watch for forks", function);
}
