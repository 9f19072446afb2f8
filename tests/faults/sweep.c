/* sweep opencl|memory|threads [--all | --share | PART]: applies every possible fault to every call of the public API;
 * with PART, only to the calls whose names contain PART. On the processor (SLABCAST_BACKENDS=native) there is no OpenCL
 * to fail, and the calls that are for OpenCL alone are left out.
 *
 * A fault is the failure of the nth OpenCL call, allocation or start of a thread: alone, from then on for the same
 * function, or with all that follow. If only calls for pinned memory fail, the call succeeds without it; so it does
 * without threads. For any other fault, the call must return the matching status and a message that names the fault. It
 * must not change its outputs, must release every object and all memory, and must succeed with the right result when it
 * is called again. Without --all, each fault has one of its codes, and for calls that build an OpenCL kernel only every
 * fifth fault is tried. With --share it is every 7th fault, and of such calls every 25th; of queries
 * closest alone, since each other one would be compiled and goes the same way. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifndef _WIN32
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#endif

#include "layers.h"
#include "memory.h"
#include "world.h"

enum { UNTOUCHED = 0xA5, HANG_SECONDS = 240, SLOW_STEP = 5, SHARE_STEP = 7 };

/* A source of faults. */
typedef struct source {
  const char *name;
  fail_arm *arm;
  fail_disarm *disarm;
  fail_mode modes[4];
  int mode_count;
  int codes[2];
  bool apart; /* each fault in a process of its own: threads that were started stay */
} source;

typedef struct sweep {
  source source;
  count_now *count;
  bool all, share;
  const char *part; /* run the calls whose names contain this; NULL: those of one device */
  unsigned points;
  world world;
  unsigned char want[WORLD_OUTCOME];
} sweep;

static const char *const mode_names[] = {"once", "and that function from then on", "and everything from then on",
                                         "while it runs"};

/* ---- reports of a crash or a hang ------------------------------------------------ */

static char point[256]; /* for the signal handler, which takes no user pointer */

#ifdef _WIN32 /* ctest ends a hang, and cmocka reports crashes */
static void watch(unsigned seconds) { (void)seconds; }
static void catch_signals(void) {}
#else
static void watch(unsigned seconds) { alarm(seconds); }

static void on_signal(int number) {
  static const char hung[] = "this hung: ", crashed[] = "this crashed: ";
  const char *text = number == SIGALRM ? hung : crashed;
  if (write(STDERR_FILENO, text, strlen(text)) >= 0 && write(STDERR_FILENO, point, strlen(point)) >= 0) _exit(1);
  _exit(1);
}

static void catch_signals(void) {
  static const int caught[] = {SIGALRM, SIGABRT, SIGSEGV, SIGBUS, SIGFPE};
  for (size_t i = 0; i < sizeof caught / sizeof *caught; i++) signal(caught[i], on_signal);
}
#endif

/* ---- one fault --------------------------------------------------------------------- */

typedef struct fault {
  unsigned nth;
  fail_mode mode;
  int code;
} fault;

#define REQUIRE(condition, ...)   \
  do {                            \
    if (condition) break;         \
    print_error("%s\n  ", point); \
    print_error(__VA_ARGS__);     \
    print_error("\n");            \
    fail();                       \
  } while (0)

static bool is_memory(int code) {
  return code == CL_OUT_OF_RESOURCES || code == CL_OUT_OF_HOST_MEMORY || code == CL_MEM_OBJECT_ALLOCATION_FAILURE;
}

static bool is_one_of(const char *name, const char *const *names) {
  while (*names != NULL && strcmp(name, *names) != 0) names++;
  return *names != NULL;
}

static slab_status expected(const char *first, const fault *f) {
  static const char *const lists[] = {"clGetPlatformIDs", "clGetDeviceIDs", "pretended_list", NULL};
  static const char *const builds[] = {"clBuildProgram", "clCompileProgram", "clLinkProgram", "pretended_build", NULL};
  if (strcmp(first, "memory") == 0) return SLAB_OUT_OF_MEMORY;
  if (is_one_of(first, lists)) return SLAB_NO_DEVICE;
  if (f->mode == FAIL_LATE) return SLAB_DEVICE_FAILED;
  if (is_memory(f->code)) return SLAB_OUT_OF_MEMORY;
  return is_one_of(first, builds) ? SLAB_BUILD_FAILED : SLAB_DEVICE_FAILED;
}

static void check_failure(const sweep *s, slab_status status, const fail_report *report, const fault *f) {
  REQUIRE(report->first, "pinned memory alone is refused, and the call failed: %s", slab_message());
  const slab_status want = expected(report->first, f);
  const char *message = slab_message();
  /* Where several devices fail at once, the reported failure may be that of any of them. */
  const bool any = s->world.action->with.devices != NULL && f->mode == FAIL_ALL;
  REQUIRE(any || status == want, "gave \"%s\", not \"%s\": %s", slab_status_text(status), slab_status_text(want),
          message);
  REQUIRE(any || f->mode == FAIL_LATE || strstr(message, report->first), "the message does not name %s: %s",
          report->first, message);
  REQUIRE(!strstr(message, "slab_scene_create: context is NULL"), "no message of its own");
  if (s->world.action->may_write) return;
  for (size_t i = 0; i < WORLD_OUTCOME; i++)
    REQUIRE(s->world.outcome[i] == UNTOUCHED || (status == SLAB_NO_DEVICE && s->world.outcome[i] == 0),
            "wrote byte %zu of its outputs although it failed", i);
}

/* Leaves a message of an earlier failure, so that a call that sets no message is noticed. */
static void leave_message(void) { assert_status(slab_scene_create(NULL, NULL), SLAB_INVALID_ARGUMENT); }

static slab_status strike(sweep *s, const fault *f, fail_report *report) {
  memset(s->world.outcome, UNTOUCHED, sizeof s->world.outcome);
  leave_message();
  s->source.arm(f->nth, f->mode, f->code);
  const slab_status status = s->world.action->run(&s->world);
  *report = s->source.disarm();
  return status;
}

static void check_success(sweep *s, const char *what) {
  if (s->world.action->undo) s->world.action->undo(&s->world);
  for (size_t i = 0; memcmp(s->world.outcome, s->want, WORLD_OUTCOME) != 0; i++)
    REQUIRE(s->world.outcome[i] == s->want[i], "%s: outcome differs at byte %zu", what, i);
}

static void call_again(sweep *s) {
  memset(s->world.outcome, UNTOUCHED, sizeof s->world.outcome);
  const slab_status status = s->world.action->run(&s->world);
  REQUIRE(status == SLAB_OK, "the next call failed: %s", slab_message());
  check_success(s, "the next call");
}

/* Of memory that a device keeps from cast to cast a call may drop some, until the next call. */
static void check_leaks(const sweep *s, const count_live *objects, long long blocks) {
  const count_live left = s->count();
  REQUIRE(memcmp(objects, &left, sizeof left) == 0, "the driver's objects leak");
  REQUIRE(memory_live() <= blocks, "%lld blocks of memory leak", memory_live() - blocks);
}

/* Whether the fault only made the context leave out one device: with several devices, a device that cannot be
 * queried is left out. */
static bool is_left_out(const sweep *s, const fail_report *report) {
  if (s->world.action->with.devices == NULL || report->failed == 0) return false;
  return strcmp(report->first, "clGetDeviceInfo") == 0 || strcmp(report->first, "clGetPlatformInfo") == 0;
}

/* Returns false if the call has no nth step that could fail. */
static bool try_fault(sweep *s, const action *a, const fault *f) {
  fail_report report;
  snprintf(point, sizeof point, "%s: %s call %u fails with %d, %s", a->name, s->source.name, f->nth, f->code,
           mode_names[f->mode]);
  watch(HANG_SECONDS);
  const count_live objects = s->count();
  const long long blocks = memory_live();
  if (a->fresh) world_begin(&s->world, a);
  const slab_status status = strike(s, f, &report);
  if (report.failed > 0)
    snprintf(point + strlen(point), sizeof point - strlen(point), " (%s)", report.first ? report.first : "spared");
  if (report.failed > 0 && (status != SLAB_OK || (f->mode == FAIL_LATE && a->tells_late))) {
    if (f->mode == FAIL_LATE && a->tells_late)
      REQUIRE(status == SLAB_OK && a->tells_late(&s->world), "the event does not tell that the launch failed");
    else
      check_failure(s, status, &report, f);
    if (!a->fresh) check_leaks(s, &objects, blocks);
    s->points++;
    call_again(s);
  } else {
    REQUIRE(status == SLAB_OK, "failed without a fault: %s", slab_message());
    REQUIRE(report.failed == report.spared || is_left_out(s, &report), "went well in spite of it");
    s->points += report.failed > 0;
    check_success(s, "without a fault");
  }
  if (a->fresh) world_end(&s->world);
  check_leaks(s, &objects, blocks);
  watch(0);
  return report.failed > 0;
}

/* Records the outcome of the call without a fault. */
static void learn(sweep *s, const action *a) {
  snprintf(point, sizeof point, "%s: without any fault", a->name);
  if (a->fresh) world_begin(&s->world, a);
  memset(s->world.outcome, UNTOUCHED, sizeof s->world.outcome);
  assert_ok(a->run(&s->world));
  if (a->undo) a->undo(&s->world);
  memcpy(s->want, s->world.outcome, sizeof s->want);
  if (a->fresh) world_end(&s->world);
}

static void settle(sweep *s, const action *a) {
  if (!a->fresh) world_begin(&s->world, a);
  learn(s, a);
}

static void leave(sweep *s, const action *a) {
  if (!a->fresh) world_end(&s->world);
}

/* ---- a fault in a process of its own ------------------------------------------------- */

#ifndef _WIN32
enum { STRUCK = 0, BEYOND = 77 }; /* exit codes of the child; cmocka's is the number of tests that failed, 1 */

/* Until the call begins, the child gets no threads. */
static int strike_in_child(sweep *s, const action *a, const fault *f) {
  s->source.arm(1, FAIL_ALL, 0);
  settle(s, a);
  const bool struck = try_fault(s, a, f);
  leave(s, a);
  return struck ? STRUCK : BEYOND;
}

static bool try_fault_apart(sweep *s, const action *a, const fault *f) {
  int status = 0;
  fflush(NULL);
  const pid_t child = fork();
  if (child == 0) exit(strike_in_child(s, a, f));
  assert_int_equal(waitpid(child, &status, 0), child);
  if (!WIFEXITED(status) || (WEXITSTATUS(status) != STRUCK && WEXITSTATUS(status) != BEYOND)) fail();
  s->points += WEXITSTATUS(status) == STRUCK;
  return WEXITSTATUS(status) == STRUCK;
}
#endif

/* ---- all faults -------------------------------------------------------------------- */

/* From one fault that is tried to the next. */
static unsigned step_of(const sweep *s, const action *a) {
  const unsigned slow = a->slow && !harness_is_native() ? SLOW_STEP : 1;
  return s->all ? 1 : !s->share ? slow : a->slow ? SLOW_STEP * SLOW_STEP : SHARE_STEP;
}

static void sweep_modes(sweep *s, const action *a) {
  bool (*try)(sweep *, const action *, const fault *) = try_fault;
  const unsigned step = step_of(s, a);
#ifndef _WIN32
  if (s->source.apart) try = try_fault_apart;
#endif
  for (int m = 0; m < s->source.mode_count; m++)
    for (int c = 0; c < 2; c++) {
      if (!s->all && c != m % 2) continue; /* each code with every other mode */
      fault f = {1 + (unsigned)m % step, s->source.modes[m], s->source.codes[c]};
      while (try(s, a, &f)) f.nth += step;
    }
}

static bool is_swept(const sweep *s, const action *a) {
  if (s->share && a->with.query != SLAB_CLOSEST) return false;
  return s->part == NULL ? a->with.devices == NULL : strstr(a->name, s->part) != NULL;
}

static void sweep_action(sweep *s, const action *a) {
  const count_live objects = s->count();
  const long long blocks = memory_live();
  const unsigned before = s->points;
  if (!s->source.apart) settle(s, a);
  sweep_modes(s, a);
  if (!s->source.apart) leave(s, a);
  snprintf(point, sizeof point, "%s: after all faults", a->name);
  check_leaks(s, &objects, blocks);
  print_message("%-45s %6u faults\n", a->name, s->points - before);
}

static void sweep_actions(sweep *s, const action *first, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_swept(s, &first[i])) sweep_action(s, &first[i]);
}

static void sweep_all(void **state) {
  sweep *s = *state;
  catch_signals(); /* here, because cmocka sets its own handlers for each test */
  sweep_actions(s, actions, action_count);
  if (!harness_is_native()) sweep_actions(s, actions_cl, action_cl_count);
  assert_true(s->points > 0);
  print_message("%u faults of %s handled\n", s->points, s->source.name);
}

static source source_of(const char *name, const layers *under) {
  if (strcmp(name, "memory") == 0)
    return (source){"memory", memory_arm, memory_disarm, {FAIL_ONCE, FAIL_ALL}, 2, {1, 1}, false};
  if (strcmp(name, "threads") == 0)
    return (source){"threads", threads_arm, threads_disarm, {FAIL_ONCE, FAIL_ALL}, 2, {1, 1}, true};
  return (source){"OpenCL",
                  under->fail,
                  under->fail_end,
                  {FAIL_ONCE, FAIL_ENTRY, FAIL_ALL, FAIL_LATE},
                  4,
                  {CL_INVALID_OPERATION, CL_OUT_OF_RESOURCES},
                  false};
}

static count_live no_objects(void) { return (count_live){0}; }

/* For a device with a small allocation limit: probes the device without the limit first, because the probe needs
 * more. The library keeps the probe's result. */
static void ask_the_device(const layers *under) {
  const char *bytes = getenv("SLAB_ALLOCATION");
  slab_context *context = NULL;
  if (!bytes || !under->small) return;
  under->small(0);
  if (slab_context_create(NULL, &context) == SLAB_OK) slab_context_destroy(context);
  under->small(strtoull(bytes, NULL, 10));
}

int main(int argc, char **argv) {
  static sweep s;
  if (argc < 2) {
    fprintf(stderr, "usage: sweep opencl|memory|threads [--all | --share | PART]\n");
    return 2;
  }
  layers under = {.count = no_objects};
  if (!harness_is_native()) under = layers_load();
  s.source = source_of(argv[1], &under);
  s.count = under.count;
  if (!s.source.arm || !s.count) {
    fprintf(stderr, "sweep: the layers are not there: OPENCL_LAYERS names other files\n");
    return 1;
  }
  ask_the_device(&under);
  s.all = argc > 2 && strcmp(argv[2], "--all") == 0;
  s.share = argc > 2 && strcmp(argv[2], "--share") == 0;
  if (argc > 2 && !s.all && !s.share) s.part = argv[2];
  const struct CMUnitTest tests[] = {cmocka_unit_test_prestate(sweep_all, &s)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
