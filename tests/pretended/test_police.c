/* The rules of the driver that pretends: each rule of the seam is broken here, in a process of its own. The process has
 * to end with the line that says so. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"
/* cmocka has a macro fail(). */
#undef fail
#include "device/context.h"
#include "gpu/gpu.h"
#include "gpu/program.h"
#include "pretended.h"

enum { BYTES = 128 };
static const gpu_order at_once;

static const gpu_driver *driver;
static slab_context *context;
static device *on;
static gpu_queue *queue;

static void open_late(void) {
  pretended_as(&(pretended_kind){.pace = PRETENDED_LATE, .group = 8});
  assert_ok(slab_context_create(&(slab_context_options){.device = "pretended"}, &context));
  on = &context->devices[0];
  driver = driver_of(on);
  queue = gpu_of(on)->queue;
}

static gpu_buffer *buffer_of(gpu_access access, gpu_memory memory, void *bytes) {
  gpu_buffer *buffer = NULL;
  assert_ok(driver->create(on, access, memory, BYTES, bytes, "a test", &buffer));
  return buffer;
}

/* The kernel `places` of refits: it reads blocks, writes places, and takes how many. */
static gpu_kernel *kernel_of(void) {
  const program_key key = {.source = PROGRAM_REFIT, .kinds = 1u << SLAB_TRIANGLE};
  gpu_program *built = NULL;
  gpu_kernel *kernel = NULL;
  size_t group;
  assert_ok(driver->build(on, &key, NULL, &built));
  assert_ok(driver->kernel(on, built, &key, KERNEL_PLACES, &kernel, &group));
  assert_int_equal(group, 8);
  return kernel;
}

static void launch(gpu_buffer *blocks, gpu_buffer *places, uint32_t count, size_t items, size_t group) {
  gpu_kernel *kernel = kernel_of();
  const gpu_argument list[] = {BUFFER_ARGUMENT(blocks), BUFFER_ARGUMENT(places), VALUE_ARGUMENT(count)};
  for (uint32_t i = 0; i < 3; i++) assert_ok(driver->set(kernel, i, &list[i], "a test"));
  assert_ok(driver->launch(queue, kernel, items, group, at_once, "a test"));
  assert_ok(driver->finish(queue, "a test"));
}

static gpu_buffer *own(void) { return buffer_of(GPU_READ_WRITE, GPU_OWN, NULL); }

/* ---- the rules ---- */

static void use_after_release(void) {
  gpu_buffer *b = own();
  char bytes[BYTES];
  driver->release(b);
  driver->read(queue, b, 0, bytes, BYTES, true, at_once, "a test");
}

static void release_twice(void) {
  gpu_buffer *b = own();
  driver->release(b);
  driver->release(b);
}

static void read_outside(void) {
  char bytes[BYTES];
  driver->read(queue, own(), 1, bytes, BYTES, true, at_once, "a test");
}

static void copy_outside(void) {
  driver->copy(queue, (gpu_rows){own(), 0, 20}, (gpu_rows){own(), 0, 16}, 16, 7, at_once, "a test");
}

static void groups_that_are_too_large(void) { launch(own(), own(), 0, 16, 16); }
static void groups_that_are_not_whole(void) { launch(own(), own(), 0, 12, 8); }

static void argument_that_is_released(void) {
  gpu_buffer *b = own();
  driver->release(b);
  launch(own(), b, 0, 8, 8);
}

static void argument_that_is_missing(void) { launch(own(), NULL, 0, 8, 8); }

static void kernel_that_writes_what_is_read(void) { launch(own(), buffer_of(GPU_READ, GPU_OWN, NULL), 0, 8, 8); }

/* Places are read from bytes that nobody wrote. */
static void kernel_that_writes_outside(void) { launch(own(), own(), 1, 8, 8); }
static void kernel_that_reads_outside(void) {
  static const uint32_t zeros[BYTES / 4];
  gpu_buffer *blocks = own();
  assert_ok(driver->write(queue, blocks, 0, zeros, BYTES, true, at_once, "a test"));
  launch(blocks, own(), 1000, 8, 8);
}

static void argument_of_another_size(void) {
  const uint64_t count = 0;
  gpu_kernel *kernel = kernel_of();
  const gpu_argument list[] = {BUFFER_ARGUMENT(own()), BUFFER_ARGUMENT(own()), VALUE_ARGUMENT(count)};
  for (uint32_t i = 0; i < 3; i++) driver->set(kernel, i, &list[i], "a test");
}

static void arguments_of_two_threads(void) {
  gpu_kernel *kernel = kernel_of();
  const gpu_argument blocks = BUFFER_ARGUMENT(own());
  driver->set(kernel, 0, &blocks, "a test");
  driver->set(kernel, 0, &blocks, "a test");
  driver->set(kernel, 2, &blocks, "a test");
}

/* A command on one queue waits for one on another, which nobody flushed. */
static void wait_for_what_was_never_begun(void) {
  gpu_queue *other = NULL;
  gpu_event *first = NULL;
  assert_ok(driver->create_queue(on, &other));
  assert_ok(driver->mark(other, (gpu_order){.done = &first}, "a test"));
  assert_ok(driver->mark(queue, (gpu_order){.count = 1, .after = &first}, "a test"));
  driver->finish(queue, "a test");
}

static void event_that_is_released(void) {
  gpu_event *e = NULL;
  assert_ok(driver->mark(queue, (gpu_order){.done = &e}, "a test"));
  driver->release_event(e);
  driver->wait(&e, 1, "a test");
}

static void queue_that_has_commands(void) {
  gpu_queue *other = NULL;
  assert_ok(driver->create_queue(on, &other));
  assert_ok(driver->mark(other, at_once, "a test"));
  driver->release_queue(on, other);
}

static void bytes_that_change_before_they_are_copied(void) {
  static char bytes[BYTES];
  assert_ok(driver->write(queue, own(), 0, bytes, BYTES, false, at_once, "a test"));
  bytes[3] = 1;
  driver->finish(queue, "a test");
}

static void given_bytes_that_change(void) {
  static uint32_t bytes[BYTES / 4];
  gpu_buffer *given = buffer_of(GPU_READ, GPU_GIVEN, bytes);
  bytes[3] = 1;
  launch(given, own(), 0, 8, 8);
}

static void *mapped_of(gpu_buffer *b, bool wait) {
  void *mapped = NULL;
  assert_ok(driver->map(queue, b, GPU_READ, 0, BYTES, wait, at_once, "a test", &mapped));
  return mapped;
}

static void unmap_too_early(void) {
  static uint32_t bytes[BYTES / 4];
  gpu_buffer *given = buffer_of(GPU_READ_WRITE, GPU_GIVEN, bytes);
  driver->unmap(queue, given, mapped_of(given, false), "a test");
}

static void unmap_twice(void) {
  static uint32_t bytes[BYTES / 4];
  gpu_buffer *given = buffer_of(GPU_READ_WRITE, GPU_GIVEN, bytes);
  void *mapped = mapped_of(given, true);
  driver->unmap(queue, given, mapped, "a test");
  driver->unmap(queue, given, mapped, "a test");
}

static void release_while_it_is_mapped(void) {
  gpu_buffer *pinned = buffer_of(GPU_READ_WRITE, GPU_PINNED, NULL);
  mapped_of(pinned, true);
  driver->release(pinned);
}

static void kernel_on_what_is_mapped(void) {
  static uint32_t bytes[BYTES / 4];
  gpu_buffer *given = buffer_of(GPU_READ_WRITE, GPU_GIVEN, bytes);
  mapped_of(given, true);
  launch(own(), given, 0, 8, 8);
}

static void close_with_a_buffer(void) {
  own();
  slab_context_destroy(context);
}

static void close_with_an_event(void) {
  gpu_event *e = NULL;
  assert_ok(driver->mark(queue, (gpu_order){.done = &e}, "a test"));
  assert_ok(driver->finish(queue, "a test"));
  slab_context_destroy(context);
}

static void buffer_of_another_device(void) {
  gpu_buffer *b = own();
  char bytes[BYTES];
  open_late();
  driver->read(queue, b, 0, bytes, BYTES, true, at_once, "a test");
}

static void none(void) {
  gpu_buffer *b = own();
  driver->release(b);
  slab_context_destroy(context);
  puts("no rule was broken");
}

static const struct {
  void (*breaks)(void);
  const char *says;
} rules[] = {
    {none, "no rule was broken"},
    {use_after_release, "read: a buffer used after its release"},
    {release_twice, "release: a buffer used after its release"},
    {read_outside, "read: bytes 1 to 129 of a buffer of 128"},
    {copy_outside, "copy: bytes 0 to 136 of a buffer of 128"},
    {groups_that_are_too_large, "launch: groups of 16 of places, which has 8 at most"},
    {groups_that_are_not_whole, "launch: 12 work-items of places in groups of 8"},
    {argument_that_is_released, "places: a buffer used after its release"},
    {argument_that_is_missing, "launch: argument 1 of places is NULL"},
    {kernel_that_writes_what_is_read, "launch of places: it writes to a buffer that kernels read"},
    {kernel_that_writes_outside, "memory that is no buffer's, or that this kernel may not write: places"},
    {kernel_that_reads_outside, "memory that is no buffer's, or that this kernel may not write: places"},
    {argument_of_another_size, "set: argument 2 of places has 4 bytes, not 8"},
    {arguments_of_two_threads, "set: argument 2 of places after 1 others"},
    {wait_for_what_was_never_begun, "it waits for a command that waits for what was never begun"},
    {event_that_is_released, "wait: an event used after its release"},
    {queue_that_has_commands, "a queue goes with commands that have not ended, the first of mark"},
    {bytes_that_change_before_they_are_copied, "write: the bytes have changed that are copied"},
    {given_bytes_that_change, "launch of places: the bytes have changed that a buffer was given"},
    {unmap_too_early, "unmap: the mapping has not ended"},
    {unmap_twice, "unmap: nothing is mapped there"},
    {release_while_it_is_mapped, "release: a buffer is mapped that goes"},
    {kernel_on_what_is_mapped, "launch of places: a buffer is mapped"},
    {close_with_a_buffer, "a device is closed that has a buffer"},
    {close_with_an_event, "a device is closed that has an event"},
    {buffer_of_another_device, "read: a buffer of another device"},
};

/* In the child: its errors go where the parent reads. */
static void break_apart(size_t nth, int to) {
  dup2(to, STDERR_FILENO);
  dup2(to, STDOUT_FILENO);
  open_late();
  rules[nth].breaks();
  fflush(stdout);
  _exit(0);
}

static void broken_rules_end_the_program(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
    int ends[2], status = 0;
    char said[1024];
    size_t size = 0;
    fflush(NULL);
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    if (child == 0) break_apart(i, ends[1]);
    close(ends[1]);
    for (ssize_t got = 1; got > 0 && size + 1 < sizeof said; size += got > 0 ? (size_t)got : 0)
      got = read(ends[0], said + size, sizeof said - 1 - size);
    said[size] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    const bool says = strstr(said, rules[i].says) != NULL;
    if (!says) print_error("rule %zu: \"%s\" and not \"%s\"\n", i, said, rules[i].says);
    assert_true(says);
    assert_true((status == 0) == (i == 0));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(broken_rules_end_the_program)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
