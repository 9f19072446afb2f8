/* Statuses that depend on the machine. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

/* Sanitizers end a process whose allocation is refused. */
#if defined(__has_feature)
#define SANITIZED (__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#else
#define SANITIZED 0
#endif

#if !SANITIZED
/* Without address space left, a gigabyte of boxes cannot be copied. */
static void scene_that_does_not_fit_memory_is_refused_whole(void **state) {
  (void)state;
  const uint32_t n = 1u << 25;
  const size_t bytes = n * sizeof(slab_box);
  slab_context *context = harness_context();
  slab_scene *scene = NULL;
  uint32_t geometry = 77;
  assert_ok(slab_scene_create(context, &scene));
  const int zeros = open("/dev/zero", O_RDONLY);
  void *boxes = mmap(NULL, bytes, PROT_READ, MAP_PRIVATE, zeros, 0);
  assert_true(boxes != MAP_FAILED);
  struct rlimit limit;
  assert_int_equal(getrlimit(RLIMIT_AS, &limit), 0);
  const struct rlimit none = {bytes, limit.rlim_max};
  assert_int_equal(setrlimit(RLIMIT_AS, &none), 0);
  const slab_status status = slab_scene_add_boxes(scene, boxes, n, NULL, &geometry);
  assert_int_equal(setrlimit(RLIMIT_AS, &limit), 0);
  assert_status(status, SLAB_OUT_OF_MEMORY);
  assert_int_equal(geometry, 77);
  assert_ok(slab_scene_add_boxes(scene, boxes, 1, NULL, &geometry));
  assert_int_equal(geometry, 0);
  munmap(boxes, bytes);
  close(zeros);
  slab_scene_destroy(scene);
  slab_context_destroy(context);
}
#endif

/* A machine without a driver. Runs in a child, because the loader looks for drivers only once. */
static int without_drivers(void) {
  size_t count = 77;
  slab_device_info info;
  slab_context *context = NULL;
  if (slab_devices(&info, 1, &count) != SLAB_NO_DEVICE || count != 0) return 1;
  if (*slab_message() == 0) return 2;
  if (slab_context_create(NULL, &context) != SLAB_NO_DEVICE || context != NULL) return 3;
  return 0;
}

static void machine_without_drivers_has_no_device(void **state) {
  char empty[] = "no-drivers-XXXXXX";
  assert_non_null(mkdtemp(empty));
  const pid_t child = fork();
  assert_true(child >= 0);
  if (child == 0) {
    setenv("OCL_ICD_VENDORS", empty, 1);
    execl(*state, *state, "without-drivers", (char *)NULL);
    _exit(127);
  }
  int status = 0;
  assert_int_equal(waitpid(child, &status, 0), child);
  rmdir(empty);
  assert_true(WIFEXITED(status));
  assert_int_equal(WEXITSTATUS(status), 0);
}

int main(int argc, char **argv) {
  if (argc > 1 && strcmp(argv[1], "without-drivers") == 0) return without_drivers();
  const struct CMUnitTest tests[] = {
#if !SANITIZED
    cmocka_unit_test(scene_that_does_not_fit_memory_is_refused_whole),
#endif
    cmocka_unit_test_prestate(machine_without_drivers_has_no_device, argv[0]),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
