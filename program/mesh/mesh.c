/* Parent of the importer process: starts it, receives the mesh, reports how it ended. */
#include "program/mesh/mesh.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/sanitized.h"
#include "program/os/child.h"
#include "program/os/file.h"

/* The child's first argument: this, and the options as print_options writes them. */
static const char child_option[] = "--import-mesh=";

enum { ARGUMENT_MAX = 120 };

static void print_options(const mesh_options *options, char argument[ARGUMENT_MAX]) {
  snprintf(argument, ARGUMENT_MAX, "%s%d,%d,%d,%a,%u,%d", child_option, options->skip_invalid, options->one_geometry,
           options->up, options->unit, options->seconds, (int)options->numbers);
}

static int parse_options(const char *argument, mesh_options *options) {
  int skip = 0, one = 0, up = 0, numbers = 0;
  const size_t length = strlen(child_option);
  if (strncmp(argument, child_option, length) != 0) return -1;
  if (sscanf(argument + length, "%d,%d,%d,%la,%u,%d", &skip, &one, &up, &options->unit, &options->seconds, &numbers) !=
      6)
    return -1;
  options->skip_invalid = skip != 0;
  options->one_geometry = one != 0;
  options->up = (char)up;
  options->numbers = (mesh_numbers)numbers;
  return 0;
}

/* Limits of the importer for a file size. Text formats need about 30 bytes of memory per byte of file. 10 MB/s is a
 * fifth of the speed of the slowest importer, and a file whose coordinates are far from 0 is read twice. The clock on
 * the wall gets ten times as long, because a busy machine must not look like a damaged file. */
static os_limits limits_for(uint64_t file_bytes, unsigned wanted) {
  const unsigned seconds = wanted ? wanted : 5 + (unsigned)(file_bytes / 5000000u);
  return (os_limits){((uint64_t)1 << 29) + 64 * file_bytes, seconds, 10 * seconds};
}

static const uint64_t most_bytes =
    60000000000u; /* more text than 2^32 triangles need; its memory limit must fit in 64 bits */

static int file_size(const char *path, uint64_t *bytes, char *error, size_t error_size) {
  os_facts found;
  if (os_facts_of(path, &found) != 0) {
    snprintf(error, error_size, "%s: %s", path, strerror(errno));
  } else if (found.kind != OS_FILE) {
    snprintf(error, error_size, "%s: a folder, and a mesh is read from a file or a pipe", path);
  } else if (found.size > most_bytes) {
    snprintf(error, error_size, "%s: %llu bytes are more than the %llu a mesh file may have", path,
             (unsigned long long)found.size, (unsigned long long)most_bytes);
  } else if (found.size == 0) {
    snprintf(error, error_size, "%s: the file is empty", path);
  } else if (os_may_read(path) != 0) {
    snprintf(error, error_size, "%s: %s", path, strerror(errno));
  } else {
    *bytes = found.size;
    return 0;
  }
  return -1;
}

/* ---- child ---------------------------------------------------------------- */

int mesh_child_main(int argc, char **argv) {
  mesh_options options = {0};
  if (argc != 3 || parse_options(argv[1], &options) != 0) return -1;
  const char *path = argv[2];
  mesh_data mesh = {0};
  char error[400] = "";
  uint64_t bytes = 0;
  int failed = file_size(path, &bytes, error, sizeof error);
  if (!failed) {
    const os_limits limits = limits_for(bytes, options.seconds);
    os_child_limit(&limits, !SANITIZED);
    failed = mesh_import(path, &options, &mesh, error, sizeof error);
  }
  failed = failed ? mesh_send_error(OS_TO_PARENT, error) : mesh_send(OS_TO_PARENT, &mesh);
  mesh_free(&mesh);
  return failed ? 1 : 0;
}

/* ---- parent --------------------------------------------------------------- */

/* Copies a pipe to a temporary file, because an importer reads the end of some formats first. NULL and errno: that
 * failed. */
static FILE *spool(int pipe, uint64_t *size) {
  char block[1 << 16];
  int64_t got = 0;
  FILE *file = os_open_temporary();
  int failed = file == NULL;
  for (*size = 0; !failed && (got = os_read(pipe, block, sizeof block)) != 0;) {
    *size += got > 0 ? (uint64_t)got : 0;
    if (*size > most_bytes) errno = EFBIG;
    failed = got < 0 || *size > most_bytes || fwrite(block, 1, (size_t)got, file) < (size_t)got;
  }
  if (!failed) failed = fflush(file) != 0;
  if (!failed) return file;
  const int failure = errno;
  if (file) fclose(file);
  errno = failure;
  return NULL;
}

static void describe_end(const os_end *end, const os_limits *limits, char *text, size_t size) {
  if (end->how == OS_ENDED_BY_TIME)
    snprintf(text, size, "the importer was ended after its %u s of processor time (%s); --import-seconds allows more",
             limits->processor_seconds, end->by);
  else if (end->how == OS_ENDED_BY_CLOCK)
    snprintf(text, size, "the importer was ended after %u s (%s)", limits->seconds, end->by);
  else if (end->how == OS_ENDED)
    snprintf(text, size, "the importer ended with code %d", end->code);
  else
    snprintf(text, size, "the importer crashed on it (%s)", end->by);
}

static void describe_start(int failure, const char *name, char *text, size_t size) {
  char program[OS_PATH_MAX];
  snprintf(text, size, "%s: the importer, which is this program once more (%.500s), could not be started: %s", name,
           os_own_path(program) ? program : "at an unknown path", strerror(failure));
}

/* Reads the file at `path`; `name` is for messages; `input` as in os_child_start. */
static int read_by_child(const char *path, const char *name, FILE *input, uint64_t bytes, const mesh_options *options,
                         mesh_data *out, char *error, size_t error_size) {
  os_child child;
  char reason[600];
  char argument[ARGUMENT_MAX];
  const os_limits limits = limits_for(bytes, options->seconds);
  print_options(options, argument);
  const int not_started = os_child_start(&child, argument, path, input);
  if (not_started) {
    describe_start(not_started, name, error, error_size);
    return -1;
  }
  const int failed = mesh_receive(child.from, limits.memory_bytes, out, reason, sizeof reason);
  const os_end end = os_child_end(&child);
  if (!failed && end.how == OS_ENDED && end.code == 0) return 0;
  if (reason[0] == '\0' || (end.how != OS_ENDED && end.how != OS_ENDED_BY_PIPE))
    describe_end(&end, &limits, reason, sizeof reason);
  mesh_free(out);
  snprintf(error, error_size, "%s: rejected: %s", name, reason);
  return -1;
}

/* Reads a mesh from a pipe; `name` is for messages. */
static int read_pipe(int pipe, const char *name, const mesh_options *options, mesh_data *out, char *error,
                     size_t error_size) {
  uint64_t size = 0;
  FILE *spooled = spool(pipe, &size);
  char *path = spooled ? os_child_input(spooled) : NULL;
  int failed = -1;
  if (path == NULL)
    snprintf(error, error_size, "%s: cannot be read into a temporary file: %s", name, strerror(errno));
  else if (size == 0)
    snprintf(error, error_size, "%s is empty", name);
  else
    failed = read_by_child(path, name, spooled, size, options, out, error, error_size);
  free(path);
  if (spooled) fclose(spooled);
  return failed;
}

/* A FIFO, or /dev/fd/63 as shells name their pipes. */
static int read_named_pipe(const char *path, const mesh_options *options, mesh_data *out, char *error,
                           size_t error_size) {
  const int pipe = os_open_to_read(path);
  if (pipe < 0) {
    snprintf(error, error_size, "%s: %s", path, strerror(errno));
    return -1;
  }
  const int failed = read_pipe(pipe, path, options, out, error, error_size);
  os_close(pipe);
  return failed;
}

int mesh_read(const char *path, const mesh_options *options, mesh_data *out, char *error, size_t error_size) {
  os_facts found;
  uint64_t bytes = 0;
  *out = (mesh_data){0};
  if (!strcmp(path, "-")) return read_pipe(OS_STDIN, "standard input", options, out, error, error_size);
  if (os_facts_of(path, &found) == 0 && found.kind == OS_OTHER)
    return read_named_pipe(path, options, out, error, error_size);
  if (file_size(path, &bytes, error, error_size) != 0) return -1;
  return read_by_child(path, path, NULL, bytes, options, out, error, error_size);
}
