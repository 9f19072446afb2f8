#include "layers.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

/* dlsym's object pointer as the function pointer that POSIX promises it to be. */
typedef union symbol {
  void *object;
  count_now *count;
  fail_arm *fail;
  fail_call *fail_call;
  fail_disarm *fail_end;
  flip_arm *flip;
  flip_disarm *flip_end;
  slow_arm *slow;
  slow_items *slow_items;
  pretend_as *pretend;
  pretend_seen *pretend_seen;
  builds_hold *builds_hold;
  builds_begin *builds_begin;
  builds_seen *builds_seen;
  small_arm *small;
  small_now *small_now;
  pinned_arm *pinned;
  pinned_now *pinned_now;
} symbol;

static symbol find(void *loaded, const char *name) { return (symbol){dlsym(loaded, name)}; }

/* Adds what this layer has, if the loader took it. */
static void add(layers *all, const char *path) {
  void *loaded = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
  if (!loaded) return;
  if (!all->count) all->count = find(loaded, "slab_count_now").count;
  if (!all->fail) all->fail = find(loaded, "slab_fail_arm").fail;
  if (!all->fail_call) all->fail_call = find(loaded, "slab_fail_call").fail_call;
  if (!all->fail_end) all->fail_end = find(loaded, "slab_fail_disarm").fail_end;
  if (!all->flip) all->flip = find(loaded, "slab_flip_arm").flip;
  if (!all->flip_end) all->flip_end = find(loaded, "slab_flip_disarm").flip_end;
  if (!all->slow) all->slow = find(loaded, "slab_slow_arm").slow;
  if (!all->slow_items) all->slow_items = find(loaded, "slab_slow_items").slow_items;
  if (!all->pretend) all->pretend = find(loaded, "slab_pretend_as").pretend;
  if (!all->pretend_seen) all->pretend_seen = find(loaded, "slab_pretend_seen").pretend_seen;
  if (!all->builds_hold) all->builds_hold = find(loaded, "slab_builds_hold").builds_hold;
  if (!all->builds_begin) all->builds_begin = find(loaded, "slab_builds_begin").builds_begin;
  if (!all->builds_seen) all->builds_seen = find(loaded, "slab_builds_seen").builds_seen;
  if (!all->small) all->small = find(loaded, "slab_small_arm").small;
  if (!all->small_now) all->small_now = find(loaded, "slab_small_now").small_now;
  if (!all->pinned) all->pinned = find(loaded, "slab_pinned_arm").pinned;
  if (!all->pinned_now) all->pinned_now = find(loaded, "slab_pinned_now").pinned_now;
  dlclose(loaded); /* the loader keeps it */
}

layers layers_load(void) {
  layers all = {0};
  char paths[4096];
  cl_uint platforms;
  const char *given = getenv("OPENCL_LAYERS");
  snprintf(paths, sizeof paths, "%s", given ? given : "");
  clGetPlatformIDs(0, NULL, &platforms); /* the loader takes its layers at the first call */
  for (char *rest = NULL, *path = strtok_r(paths, ":", &rest); path; path = strtok_r(NULL, ":", &rest)) add(&all, path);
  return all;
}

layers layers_with(const char *path) {
  const char *others = getenv("OPENCL_LAYERS");
  char paths[4096];
  snprintf(paths, sizeof paths, "%s%s%s", others ? others : "", others ? ":" : "", path);
  setenv("OPENCL_LAYERS", paths, 1);
  return layers_load();
}
