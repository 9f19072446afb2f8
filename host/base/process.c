#include "base/process.h"

#include <stdatomic.h>
#include <stdbool.h>

#include "base/status.h"
#include "os/thread.h"

static atomic_uint number;
static atomic_bool uses_drivers, lacks_drivers;

static void note_fork(void) {
  atomic_fetch_add(&number, 1);
  if (atomic_load(&uses_drivers)) atomic_store(&lacks_drivers, true);
}

/* fork handlers cannot be removed, and children inherit them: one is registered at the first use. */
static os_once registering = OS_ONCE;
static bool registered;

static void watch_forks(void) { registered = os_watch_forks(note_fork); }

slab_status process_begin(const char *function) {
  os_once_run(&registering, watch_forks);
  return registered ? SLAB_OK : fail(SLAB_OUT_OF_MEMORY, "%s: no memory to watch for forks", function);
}

uint32_t process_number(void) { return atomic_load_explicit(&number, memory_order_relaxed); }

slab_status process_check(const char *function, uint32_t opened) {
  if (opened == process_number()) return SLAB_OK;
  return fail(SLAB_INVALID_STATE,
              "%s: this process was forked from the one that opened the context, whose threads it lacks. "
              "Open contexts after the fork, or call exec after it",
              function);
}

void process_uses_drivers(void) { atomic_store(&uses_drivers, true); }

slab_status process_check_drivers(const char *function) {
  if (!atomic_load(&lacks_drivers)) return SLAB_OK;
  return fail(SLAB_INVALID_STATE,
              "%s: this process was forked from one that had used OpenCL or CUDA, whose threads it lacks. "
              "Fork before the first call that asks for devices, or call exec after fork",
              function);
}
