/* A program that loads the library when it runs, and unloads it: nothing of it stays behind, neither threads nor code.
 * Not linked to the library, so without the harness. */
#include <dirent.h>
#include <dlfcn.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
/* cmocka needs some of these first. */
#include <cmocka.h>

#include "slabcast.h"

enum { RAYS = 100000, THREADS = 3 };

/* X(FUNCTION): the functions of the library that are used. */
#define CALLS(X)          \
  X(slab_context_create)  \
  X(slab_context_destroy) \
  X(slab_scene_create)    \
  X(slab_scene_destroy)   \
  X(slab_scene_add_boxes) \
  X(slab_scene_commit)    \
  X(slab_closest)

typedef struct library {
  void *handle;
#define CALL_MEMBER(name) __typeof__(name) *(name);
  CALLS(CALL_MEMBER)
} library;

/* Converts dlsym's object pointer to a function pointer, which POSIX guarantees to work. */
typedef union symbol {
  void *object;
#define SYMBOL_MEMBER(name) __typeof__(name) *(name);
  CALLS(SYMBOL_MEMBER)
} symbol;

static library library_load(void) {
  library l = {.handle = dlopen(SLABCAST_LIBRARY, RTLD_NOW | RTLD_LOCAL)};
  if (l.handle == NULL) fail_msg("%s", dlerror());
#define FIND(name)                                \
  l.name = (symbol){dlsym(l.handle, #name)}.name; \
  assert_non_null(l.name);
  CALLS(FIND)
  return l;
}

static uint32_t threads_now(void) {
  DIR *tasks = opendir("/proc/self/task");
  uint32_t count = 0;
  assert_non_null(tasks);
  for (struct dirent *task; (task = readdir(tasks)) != NULL;) count += task->d_name[0] != '.';
  closedir(tasks);
  return count;
}

/* A thread that was joined may be listed for a moment longer. */
static void assert_threads_end(uint32_t left) {
  const struct timespec pause = {.tv_nsec = 1000000};
  for (int i = 0; i < 5000 && threads_now() != left; i++) nanosleep(&pause, NULL);
  assert_int_equal(threads_now(), left);
}

/* Whether some of the library's file is in the address space. */
static bool is_mapped(void) {
  char line[4096];
  bool found = false;
  FILE *maps = fopen("/proc/self/maps", "r");
  assert_non_null(maps);
  while (fgets(line, sizeof line, maps) != NULL) found = found || strstr(line, "/libslabcast.so") != NULL;
  fclose(maps);
  return found;
}

/* Each ray begins before a box and points at it. */
static void cast(const library *l) {
  static slab_ray rays[RAYS];
  static slab_hit hits[RAYS];
  const slab_context_options options = {.threads = THREADS};
  const slab_box box = {{-1, -1, -1}, {1, 1, 1}};
  slab_context *context = NULL;
  slab_scene *scene = NULL;
  assert_int_equal(l->slab_context_create(&options, &context), SLAB_OK);
  assert_int_equal(l->slab_scene_create(context, &scene), SLAB_OK);
  assert_int_equal(l->slab_scene_add_boxes(scene, &box, 1, NULL, NULL), SLAB_OK);
  assert_int_equal(l->slab_scene_commit(scene, NULL), SLAB_OK);
  for (int i = 0; i < RAYS; i++) rays[i] = (slab_ray){{0, 0, -(float)(i + 2)}, 0, {0, 0, 1}, INFINITY};
  assert_int_equal(l->slab_closest(scene, rays, RAYS, hits, NULL), SLAB_OK);
  for (int i = 0; i < RAYS; i++) assert_true(hits[i].t == (float)(i + 1) && hits[i].primitive == 0);
  l->slab_scene_destroy(scene);
  l->slab_context_destroy(context);
}

/* The library's functions for forks are gone too: a fork would call code that is no longer there. */
static void fork_once(void) {
  int status = 0;
  const pid_t child = fork();
  if (child == 0) _exit(0);
  assert_int_equal(waitpid(child, &status, 0), child);
  assert_true(WIFEXITED(status));
}

static void unloaded_library_leaves_nothing(void **state) {
  uint32_t others = 0;
  (void)state;
  assert_false(is_mapped());
  for (int time = 0; time < 3; time++) {
    const library l = library_load();
    cast(&l);
    assert_true(is_mapped());
    const uint32_t threads = threads_now();
    if (time == 0) others = threads - (THREADS - 1); /* this one, and a sanitizer's by now */
    assert_int_equal(threads, others + THREADS - 1);
    assert_int_equal(dlclose(l.handle), 0);
    assert_threads_end(others);
    assert_false(is_mapped());
    fork_once();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(unloaded_library_leaves_nothing)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
