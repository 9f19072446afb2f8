/* The end of a child process of the program, and the report of it to its parent: program/os/child.h on whichever system
 * this runs. It starts itself, and ends with 0 where all is as it should be. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "program/os/child.h"
#include "program/os/file.h"

static const uint64_t memory_limit = (uint64_t)256 << 20;

/* ---- the child ---- */

static int say(const char *text) { return os_write(OS_TO_PARENT, text, strlen(text)) < 0 ? 1 : 0; }

static int spin(void) {
  const double end = seconds_now() + 60;
  while (seconds_now() < end) continue;
  return 1;
}

static int write_on(void) {
  while (say("more and more and more\n") == 0) continue;
  return 7;
}

/* Touches what it gets. */
static int ask_for_memory(void) {
  const size_t piece = (size_t)16 << 20;
  for (uint64_t got = 0; got < 4 * memory_limit; got += piece) {
    char *bytes = malloc(piece);
    if (!bytes) return say("refused");
    for (size_t i = 0; i < piece; i += 4096) ((volatile char *)bytes)[i] = 1;
  }
  return say("given");
}

static int copy_file(const char *path) {
  char line[64];
  FILE *file = os_open_stream(path);
  return !file || !fgets(line, sizeof line, file) ? 1 : say(line);
}

static int be_child(const char *what) {
  static volatile uintptr_t nowhere = 8;
  const os_limits limits = {memory_limit, 1, strcmp(what, "sleep") == 0 ? 1 : 60};
  os_child_limit(&limits, true);
  if (!strcmp(what, "end")) return say("well") ? 1 : 42;
  if (!strcmp(what, "spin")) return spin();
  if (!strcmp(what, "crash")) *(volatile int *)nowhere = 1; /* bad on purpose */
  if (!strcmp(what, "write")) return write_on();
  if (!strcmp(what, "memory")) return ask_for_memory();
  if (!strcmp(what, "sleep")) os_sleep(60);
  return copy_file(what);
}

/* ---- the parent ---- */

static int wrong;

static void expect(const char *what, const char *path, FILE *input, os_ending how, int code, const char *text) {
  char got[64] = "";
  os_child child;
  const int failed = os_child_start(&child, "--child", path, input);
  if (failed) {
    printf("%s: not started: %s\n", what, strerror(failed));
    wrong = 1;
    return;
  }
  size_t length = 0;
  for (int64_t more = 1; more > 0 && length + 1 < sizeof got; length += more > 0 ? (size_t)more : 0)
    more = os_read(child.from, got + length, sizeof got - 1 - length);
  const os_end end = os_child_end(&child);
  const int right = end.how == how && (how != OS_ENDED || end.code == code) && (!text || !strcmp(got, text));
  printf("%-7s ended in way %d (%s), code %d, after \"%.20s\": %s\n", what, (int)end.how, end.by, end.code, got,
         right ? "right" : "WRONG");
  wrong |= !right;
}

int main(int argc, char **argv) {
  os_begin_streams();
  if (argc == 3 && !strcmp(argv[1], "--child")) return be_child(argv[2]);
  expect("end", "end", NULL, OS_ENDED, 42, "well");
  expect("spin", "spin", NULL, OS_ENDED_BY_TIME, 0, "");
  expect("sleep", "sleep", NULL, OS_ENDED_BY_CLOCK, 0, "");
  expect("crash", "crash", NULL, OS_ENDED_BY_A_CRASH, 0, "");
#ifdef _WIN32
  expect("write", "write", NULL, OS_ENDED, 7, NULL);
#else
  expect("write", "write", NULL, OS_ENDED_BY_PIPE, 0, NULL);
#endif
  if (argc < 2) expect("memory", "memory", NULL, OS_ENDED, 0, "refused");
  FILE *input = os_open_temporary();
  if (!input || fputs("from a file", input) < 0 || fflush(input)) return 1;
  char *path = os_child_input(input);
  if (!path) return 1;
  expect("input", path, input, OS_ENDED, 0, "from a file");
  fclose(input);
  free(path);
  return wrong;
}
