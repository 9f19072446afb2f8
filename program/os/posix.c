/* The functions of program/os/, by POSIX and, where there is more, by Linux and by macOS. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sync_file_range, realpath, SIGXFSZ */
#endif
#define _DARWIN_C_SOURCE /* F_FULLFSYNC, RLIMIT_AS */
#include <errno.h>
#include <fcntl.h>
#ifdef __APPLE__
#include <mach-o/dyld.h>
#endif
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#ifdef __linux__
#include <sys/auxv.h>
#endif
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "program/os/child.h"
#include "program/os/file.h"
#include "program/os/interrupt.h"

extern char **environ;

/* The path of a child's input. Where /proc is not mounted it leads nowhere, and means the stream itself. */
#ifdef __linux__
static const char child_input[] = "/proc/self/fd/0";
#else
static const char child_input[] = "/dev/fd/0";
#endif

static bool is_child_input(const char *path) { return errno == ENOENT && !strcmp(path, child_input); }

/* ---- facts about files ---- */

static os_facts facts_of(const struct stat *found) {
  return (os_facts){S_ISREG(found->st_mode)   ? OS_FILE
                    : S_ISDIR(found->st_mode) ? OS_FOLDER
                                              : OS_OTHER,
                    (uint64_t)found->st_size, (uint64_t)found->st_dev, (uint64_t)found->st_ino};
}

int os_facts_of(const char *path, os_facts *facts) {
  struct stat found;
  if (stat(path, &found) != 0) return is_child_input(path) ? os_facts_of_file(STDIN_FILENO, facts) : -1;
  *facts = facts_of(&found);
  return 0;
}

int os_facts_of_file(int file, os_facts *facts) {
  struct stat found;
  if (fstat(file, &found) != 0) return -1;
  *facts = facts_of(&found);
  return 0;
}

bool os_is_link(const char *path) {
  struct stat link;
  return lstat(path, &link) == 0 && S_ISLNK(link.st_mode);
}

char *os_link_target(const char *path) { return os_is_link(path) ? realpath(path, NULL) : NULL; }

const char *os_name_in(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

bool os_same_name(const char *a, const char *b) { return strcasecmp(a, b) == 0; }

int os_may_read(const char *path) { return access(path, R_OK) == 0 || is_child_input(path) ? 0 : -1; }
int os_may_write_in(const char *folder) { return access(folder, W_OK | X_OK); }

/* ---- the program's streams ---- */

void os_begin_streams(void) {}
bool os_is_terminal(os_stream stream) { return isatty((int)stream) != 0; }

int os_terminal_columns(os_stream stream) {
  struct winsize window;
  return ioctl((int)stream, TIOCGWINSZ, &window) == 0 ? window.ws_col : 0;
}

bool os_is_pipe(os_stream stream) {
  struct stat found;
  return fstat((int)stream, &found) == 0 && S_ISFIFO(found.st_mode);
}

int os_stream_file(os_stream stream) { return dup((int)stream); }

void os_say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

void os_hold_stream(FILE *stream) { flockfile(stream); }
void os_let_go_stream(FILE *stream) { funlockfile(stream); }

/* ---- opening and closing ---- */

int os_open_to_read(const char *path) { return open(path, O_RDONLY | O_CLOEXEC); }

/* By macOS's names of open files one gets them where they are, not at their begin. */
FILE *os_open_stream(const char *path) {
  FILE *stream = fopen(path, "rb");
  if (!stream && is_child_input(path)) stream = fdopen(dup(STDIN_FILENO), "rb");
  if (stream) rewind(stream);
  return stream;
}

int os_open_to_write(const char *path) { return open(path, O_WRONLY | O_TRUNC | O_CLOEXEC); }
int os_open_to_update(const char *path) { return open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666); }
FILE *os_open_temporary(void) { return tmpfile(); }
int os_close(int file) { return close(file); }

/* ---- data ---- */

int64_t os_read(int file, void *bytes, size_t size) {
  ssize_t got;
  int cancel;
  pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &cancel);
  do got = read(file, bytes, size);
  while (got < 0 && errno == EINTR);
  pthread_setcancelstate(cancel, NULL);
  return got;
}

int64_t os_write(int file, const void *bytes, size_t size) {
  ssize_t put;
  do put = write(file, bytes, size);
  while (put < 0 && errno == EINTR);
  return put;
}

int os_read_at(int file, uint64_t place, void *bytes, size_t size) {
  for (char *next = bytes; size > 0;) {
    const ssize_t got = pread(file, next, size, (off_t)place);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return -1;
    next += got;
    place += (uint64_t)got;
    size -= (size_t)got;
  }
  return 0;
}

int os_write_at(int file, uint64_t place, const void *bytes, size_t size) {
  for (const char *next = bytes; size > 0;) {
    const ssize_t put = pwrite(file, next, size, (off_t)place);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return -1;
    next += put;
    place += (uint64_t)put;
    size -= (size_t)put;
  }
  return 0;
}

int64_t os_place(int file) { return lseek(file, 0, SEEK_CUR); }
int os_skip(int file, uint64_t size) { return lseek(file, (off_t)size, SEEK_CUR) < 0 ? -1 : 0; }
int os_stream_skip(FILE *stream, uint64_t size) { return fseeko(stream, (off_t)size, SEEK_CUR); }
int os_empty(int file) { return ftruncate(file, 0); }

int os_flush(int file) {
#ifdef F_FULLFSYNC
  if (fcntl(file, F_FULLFSYNC) == 0)
    return 0; /* else the disk may keep it in its own memory; not all file systems can */
#endif
  return fsync(file);
}

/* ---- hints to the system's cache of files ---- */

#ifdef __linux__
/* Bytes sent at a time, and how many such windows are in flight before the first is waited for. */
enum { WINDOW = 1 << 25, AHEAD = 4 };
#endif

void os_cache_written(int file, uint64_t size, uint64_t *sent) {
#ifdef __linux__
  const unsigned wait = SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
  for (; size >= *sent + WINDOW; *sent += WINDOW) {
    sync_file_range(file, (off_t)*sent, WINDOW, SYNC_FILE_RANGE_WRITE);
    if (*sent < (uint64_t)AHEAD * WINDOW) continue;
    const off_t behind = (off_t)(*sent - (uint64_t)AHEAD * WINDOW);
    if (sync_file_range(file, behind, WINDOW, wait) == 0) posix_fadvise(file, behind, WINDOW, POSIX_FADV_DONTNEED);
  }
#else
  (void)file;
  *sent = size;
#endif
}

void os_cache_forget(int file, size_t size) {
#ifdef __linux__
  const off_t here = lseek(file, 0, SEEK_CUR);
  if (here >= (off_t)size) posix_fadvise(file, here - (off_t)size, (off_t)size, POSIX_FADV_DONTNEED);
#else
  (void)file;
  (void)size;
#endif
}

/* ---- locks and names ---- */

static int lock_as(int file, short type) {
  struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
  return fcntl(file, F_SETLK, &lock);
}

int os_lock(int file) {
  if (lock_as(file, F_WRLCK) == 0 || (errno != EACCES && errno != EAGAIN)) return 0;
  errno = EACCES;
  return -1;
}

int os_unlock(int file) { return lock_as(file, F_UNLCK) == 0 || errno == ENOLCK || errno == EINVAL ? 0 : -1; }
int os_rename(const char *from, const char *to) { return rename(from, to); }
int os_remove(const char *path) { return unlink(path); }

/* ---- interruptions and broken pipes ---- */

/* A handler has no argument for them, so they are global. */
static void (*interrupted)(void);
static volatile pid_t interrupted_process;
static bool readers_were_ignored; /* SIGPIPE was when the program started */

/* A child process inherits the handler. */
static void on_signal(int number) {
  if (getpid() == interrupted_process) interrupted();
  signal(number, SIG_DFL);
  raise(number); /* delivered on return, because the signal is blocked in the handler */
}

void os_on_interruption(void (*act)(void)) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  interrupted = act;
  interrupted_process = getpid();
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    struct sigaction old, action = {.sa_handler = on_signal};
    sigfillset(&action.sa_mask);
    if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(ends[i], &action, NULL);
  }
}

void os_fail_beyond_limits(void) { signal(SIGXFSZ, SIG_IGN); }
void os_fail_without_readers(void) { readers_were_ignored = signal(SIGPIPE, SIG_IGN) == SIG_IGN; }
bool os_lacks_reader(void) { return errno == EPIPE && !readers_were_ignored; }

void os_end_without_reader(void) {
  signal(SIGPIPE, SIG_DFL);
  raise(SIGPIPE);
}

/* ---- a thread that may be interrupted ---- */

void os_reader_begin(void) { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL); }
void os_reader_interrupt(os_thread reader) { pthread_cancel(reader); }

/* ---- a child ---- */

/* A pipe that no other child inherits. */
static int private_pipe(int ends[2]) {
  if (pipe(ends) != 0) return errno;
  for (int i = 0; i < 2; i++) fcntl(ends[i], F_SETFD, FD_CLOEXEC);
  return 0;
}

/* Where /proc is not mounted, Linux still reports the path that this program was started by. */
const char *os_own_path(char *path) {
#ifdef __APPLE__
  uint32_t size = OS_PATH_MAX;
  errno = ENAMETOOLONG;
  return _NSGetExecutablePath(path, &size) == 0 ? path : NULL;
#else
  strcpy(path, "/proc/self/exe");
#ifdef __linux__
  const char *started = (const char *)getauxval(AT_EXECFN);
  if (access(path, X_OK) != 0 && started && strlen(started) < OS_PATH_MAX) strcpy(path, started);
#endif
  return path;
#endif
}

static int spawn(os_child *child, char *const arguments[], int input, int to_parent) {
  char path[OS_PATH_MAX];
  posix_spawn_file_actions_t actions;
  pid_t process = 0;
  if (!os_own_path(path)) return errno;
  int failed = posix_spawn_file_actions_init(&actions);
  if (failed != 0) return failed;
  /* The pipe is duplicated first, because its own number may be among those that are replaced below. */
  failed = posix_spawn_file_actions_adddup2(&actions, to_parent, OS_TO_PARENT);
  for (int fd = 0; fd < OS_TO_PARENT && failed == 0; fd++)
    failed = posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", fd == 0 ? O_RDONLY : O_WRONLY, 0);
  if (failed == 0 && input >= 0) failed = posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  if (failed == 0) failed = posix_spawn(&process, path, &actions, NULL, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  child->process = process;
  return failed;
}

/* Another number for the input, above the one that is replaced first; -1 for none. 0, or an errno value. */
static int move_input(FILE *input, int *moved) {
  *moved = input ? fcntl(fileno(input), F_DUPFD_CLOEXEC, OS_TO_PARENT + 1) : -1;
  return input && *moved < 0 ? errno : 0;
}

int os_child_start(os_child *child, const char *first, const char *second, FILE *input) {
  /* posix_spawn writes to none of them. */
  char *const arguments[] = {(char *)(uintptr_t) "slabcast", (char *)(uintptr_t)first, (char *)(uintptr_t)second, NULL};
  int ends[2], moved, failed = move_input(input, &moved);
  if (failed != 0) return failed;
  failed = private_pipe(ends);
  if (failed == 0) {
    failed = spawn(child, arguments, moved, ends[1]);
    close(ends[1]);
    child->from = ends[0];
    if (failed != 0) close(ends[0]);
  }
  if (moved >= 0) close(moved);
  return failed;
}

char *os_child_input(FILE *input) {
  (void)input;
  return strdup(child_input);
}

#ifdef __GLIBC__
typedef __rlimit_resource_t resource_name; /* an enum */
#else
typedef int resource_name;
#endif

static void limit_resource(resource_name resource, rlim_t value) {
  struct rlimit limit;
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY || value < limit.rlim_max) limit.rlim_cur = value;
  setrlimit(resource, &limit);
}

void os_child_limit(const os_limits *limits, bool memory) {
  limit_resource(RLIMIT_CORE, 0);
  limit_resource(RLIMIT_FSIZE, 0); /* pipes are not limited */
  limit_resource(RLIMIT_CPU, limits->processor_seconds);
  if (memory) limit_resource(RLIMIT_AS, (rlim_t)limits->memory_bytes); /* macOS takes note of it, and no more */
  alarm(limits->seconds);
}

static os_ending ending_of(int signal_number) {
  switch (signal_number) {
    case SIGXCPU:
      return OS_ENDED_BY_TIME;
    case SIGALRM:
      return OS_ENDED_BY_CLOCK;
    case SIGPIPE:
      return OS_ENDED_BY_PIPE;
    default:
      return OS_ENDED_BY_A_CRASH;
  }
}

static os_end ended_by(int signal_number) {
  os_end end = {.how = ending_of(signal_number)};
  const bool is_limit = end.how == OS_ENDED_BY_TIME || end.how == OS_ENDED_BY_CLOCK;
  snprintf(end.by, sizeof end.by, "signal %d%s%s", signal_number, is_limit ? "" : ", ",
           is_limit ? "" : strsignal(signal_number));
  return end;
}

os_end os_child_end(os_child *child) {
  int status = 0;
  close(child->from);
  while (waitpid((pid_t)child->process, &status, 0) < 0)
    if (errno != EINTR) return (os_end){.how = OS_ENDED, .code = -1};
  if (WIFSIGNALED(status)) return ended_by(WTERMSIG(status));
  return (os_end){.how = OS_ENDED, .code = WIFEXITED(status) ? WEXITSTATUS(status) : -1};
}
