/* Parent of the importer process: starts it, receives the mesh, reports how it ended. */
#include "program/mesh/mesh.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/sanitized.h"

extern char **environ;

static const char child_option[] = "--import-mesh";
enum { child_fd = 3 };

/* Limits of the importer for a file size. Text formats need about 30 bytes of memory per byte of file. 10 MB/s is a
 * fifth of the speed of the slowest importer. */
typedef struct import_limits {
  uint64_t memory_bytes;
  unsigned cpu_seconds, wall_seconds;
} import_limits;

static import_limits limits_for(uint64_t file_bytes) {
  import_limits limits;
  limits.memory_bytes = ((uint64_t)1 << 29) + 64 * file_bytes;
  limits.cpu_seconds = 5 + (unsigned)(file_bytes / 10000000u);
  limits.wall_seconds =
      10 * limits.cpu_seconds; /* generous, because a busy machine must not look like a damaged file */
  return limits;
}

static const uint64_t most_bytes =
    60000000000u; /* more text than 2^32 triangles need; its memory limit must fit in 64 bits */

static int file_size(const char *path, uint64_t *bytes, char *error, size_t error_size) {
  struct stat info;
  if (stat(path, &info) != 0) {
    snprintf(error, error_size, "%s: %s", path, strerror(errno));
  } else if (!S_ISREG(info.st_mode)) {
    snprintf(error, error_size, "%s: not a regular file, and a mesh is read from one only", path);
  } else if ((uint64_t)info.st_size > most_bytes) {
    snprintf(error, error_size, "%s: %lld bytes are more than the %llu a mesh file may have", path,
             (long long)info.st_size, (unsigned long long)most_bytes);
  } else if (info.st_size == 0) {
    snprintf(error, error_size, "%s: the file is empty", path);
  } else if (access(path, R_OK) != 0) {
    snprintf(error, error_size, "%s: %s", path, strerror(errno));
  } else {
    *bytes = (uint64_t)info.st_size;
    return 0;
  }
  return -1;
}

/* ---- child ---------------------------------------------------------------- */

static void limit_resource(int resource, rlim_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max) limit.rlim_cur = value;
  setrlimit(resource, &limit);
}

static void apply_limits(const import_limits *limits) {
  limit_resource(RLIMIT_CORE, 0);
  limit_resource(RLIMIT_FSIZE, 0); /* the child writes no files; pipes are not limited */
  limit_resource(RLIMIT_CPU, limits->cpu_seconds);
  if (!SANITIZED) limit_resource(RLIMIT_AS, (rlim_t)limits->memory_bytes);
  alarm(limits->wall_seconds);
}

int mesh_child_main(int argc, char **argv) {
  if (argc != 3 || strcmp(argv[1], child_option) != 0) return -1;
  const char *path = argv[2];
  mesh_data mesh = {0};
  char error[400] = "";
  uint64_t bytes = 0;
  int failed = file_size(path, &bytes, error, sizeof error);
  if (!failed) {
    const import_limits limits = limits_for(bytes);
    apply_limits(&limits);
    failed = mesh_import(path, &mesh, error, sizeof error);
  }
  failed = failed ? mesh_send_error(child_fd, error) : mesh_send(child_fd, &mesh);
  mesh_free(&mesh);
  return failed ? 1 : 0;
}

/* ---- parent --------------------------------------------------------------- */

/* A pipe that no other child inherits. */
static int private_pipe(int ends[2]) {
  if (pipe(ends) != 0) return -1;
  for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  return 0;
}

/* Copies stdin to an unnamed temporary file, because an importer reads the end of some formats first. Returns a
 * descriptor, or -1 with errno. The descriptor is above those that the child has open. */
static int spool_stdin(void) {
  char block[1 << 16];
  uint64_t size = 0;
  ssize_t got = 0;
  FILE *file = tmpfile();
  int failed = file == NULL;
  while (!failed && (got = read(STDIN_FILENO, block, sizeof block)) != 0) {
    if (got < 0 && errno == EINTR) continue;
    size += got > 0 ? (uint64_t)got : 0;
    if (size > most_bytes) errno = EFBIG;
    failed = got < 0 || size > most_bytes || fwrite(block, 1, (size_t)got, file) < (size_t)got;
  }
  if (!failed) failed = fflush(file) != 0;
  const int spool = failed ? -1 : fcntl(fileno(file), F_DUPFD_CLOEXEC, child_fd + 1);
  const int failure = errno;
  if (file) fclose(file);
  errno = failure;
  return spool;
}

/* Starts the importer. from: descriptor that becomes the child's stdin, or -1. Returns 0, or an errno value. */
static int start_importer(const char *path, int from, int pipe_end, pid_t *child) {
  char *arguments[] = {(char[]){"slabcast"}, (char[sizeof child_option]){0}, NULL, NULL};
  char *own_path = strdup(path);
  posix_spawn_file_actions_t actions;
  if (own_path == NULL) return ENOMEM;
  memcpy(arguments[1], child_option, sizeof child_option);
  arguments[2] = own_path;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed == 0) {
    /* The pipe is duplicated first, because its own descriptor may be among those that are replaced below. */
    failed = posix_spawn_file_actions_adddup2(&actions, pipe_end, child_fd);
    for (int fd = 0; fd < child_fd && failed == 0; fd++)
      failed = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
    if (failed == 0 && from >= 0) failed = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
    if (failed == 0) failed = posix_spawn(child, "/proc/self/exe", &actions, NULL, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
  }
  free(own_path);
  return failed;
}

static int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0)
    if (errno != EINTR) return -1;
  return status;
}

static void describe_end(int status, const import_limits *limits, char *text, size_t size) {
  const int ended_by = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  if (ended_by == SIGXCPU)
    snprintf(text, size, "the importer was ended after its %u s of processor time (signal %d)", limits->cpu_seconds,
             ended_by);
  else if (ended_by == SIGALRM)
    snprintf(text, size, "the importer was ended after %u s (signal %d)", limits->wall_seconds, ended_by);
  else if (ended_by != 0)
    snprintf(text, size, "the importer crashed on it (signal %d, %s)", ended_by, strsignal(ended_by));
  else
    snprintf(text, size, "the importer ended with code %d", WIFEXITED(status) ? WEXITSTATUS(status) : -1);
}

/* Reads the file at `path`; `name` is for messages; `from` as in start_importer. */
static int read_by_child(const char *path, const char *name, int from, uint64_t bytes, mesh_data *out, char *error,
                         size_t error_size) {
  int ends[2];
  pid_t child = 0;
  char reason[600];
  const import_limits limits = limits_for(bytes);
  if (private_pipe(ends) != 0) {
    snprintf(error, error_size, "%s: no pipe to the importer: %s", name, strerror(errno));
    return -1;
  }
  const int not_started = start_importer(path, from, ends[1], &child);
  close(ends[1]);
  if (not_started) {
    close(ends[0]);
    snprintf(error, error_size, "%s: the importer could not be started: %s", name, strerror(not_started));
    return -1;
  }
  const int failed = mesh_receive(ends[0], limits.memory_bytes, out, reason, sizeof reason);
  close(ends[0]); /* before waiting: a child that is still writing then ends by SIGPIPE */
  const int status = wait_for(child);
  if (!failed && WIFEXITED(status) && WEXITSTATUS(status) == 0) return 0;
  if (reason[0] == '\0' || (WIFSIGNALED(status) && WTERMSIG(status) != SIGPIPE))
    describe_end(status, &limits, reason, sizeof reason);
  mesh_free(out);
  snprintf(error, error_size, "%s: rejected: %s", name, reason);
  return -1;
}

static int read_stdin(mesh_data *out, char *error, size_t error_size) {
  static const char name[] = "standard input";
  struct stat info;
  const int spool = spool_stdin();
  int failed = spool < 0 || fstat(spool, &info) != 0;
  if (failed)
    snprintf(error, error_size, "%s: cannot be read into a temporary file: %s", name, strerror(errno));
  else if (info.st_size == 0)
    snprintf(error, error_size, "%s is empty", name);
  if (!failed) failed = info.st_size == 0;
  if (!failed) failed = read_by_child("/proc/self/fd/0", name, spool, (uint64_t)info.st_size, out, error, error_size);
  if (spool >= 0) close(spool);
  return failed ? -1 : 0;
}

int mesh_read(const char *path, mesh_data *out, char *error, size_t error_size) {
  uint64_t bytes = 0;
  *out = (mesh_data){0};
  if (!strcmp(path, "-")) return read_stdin(out, error, error_size);
  if (file_size(path, &bytes, error, error_size) != 0) return -1;
  return read_by_child(path, path, -1, bytes, out, error, error_size);
}
