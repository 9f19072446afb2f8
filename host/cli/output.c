#define _XOPEN_SOURCE 700 /* realpath */
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "behind.h"
#include "cli.h"

struct output {
  int fd;
  int slot;      /* in `pending`; -1 when written directly */
  uint64_t size; /* written so far */
  uint64_t sent; /* of it, on its way to the disk */
  char *name;    /* as the user knows it */
  char *final;   /* NULL when written directly */
  char *part;
};

/* ---- signals --------------------------------------------------------------- */

/* What a signal handler has to remove: it can be handed nothing, so this stands outside of any object. */
enum { PENDING_MAX = 4 };
static struct pending {
  volatile sig_atomic_t used, keep;
  char part[PATH_MAX];
} pending[PENDING_MAX];
static volatile pid_t pending_owner;

static void say(const char *text) {
  if (write(STDERR_FILENO, text, strlen(text)) < 0) return;
}

/* Only calls that are safe in a handler. A child of this process inherits the handler but owns no output. */
static void on_signal(int number) {
  if (getpid() == pending_owner) {
    say("\nslabcast: interrupted\n");
    for (int i = 0; i < PENDING_MAX; i++) {
      if (!pending[i].used || access(pending[i].part, F_OK)) continue;
      if (!pending[i].keep) unlink(pending[i].part);
      say("slabcast: ");
      say(pending[i].part);
      say(pending[i].keep ? " is kept for --resume\n" : " removed, nothing was written\n");
    }
  }
  signal(number, SIG_DFL);
  raise(number); /* delivered on return, the signal being blocked in here */
}

void output_prepare(void) {
  static const int ends[] = {SIGINT, SIGTERM, SIGHUP};
  pending_owner = getpid();
  signal(SIGPIPE, SIG_IGN);
  signal(SIGXFSZ, SIG_IGN);
  for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
    struct sigaction old, action = {.sa_handler = on_signal};
    sigfillset(&action.sa_mask);
    if (sigaction(ends[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) sigaction(ends[i], &action, NULL);
  }
}

/* Opens the part file, which stands in the table before: a signal may come at any time, to any thread. */
static int open_pending(output *out, mode_t mode) {
  for (int i = 0; i < PENDING_MAX && out->slot < 0; i++) {
    if (pending[i].used || strlen(out->part) >= PATH_MAX) continue;
    strcpy(pending[i].part, out->part);
    pending[i].keep = 1; /* until it is known to be ours alone */
    atomic_thread_fence(memory_order_release);
    pending[i].used = 1;
    out->slot = i;
  }
  if (out->slot < 0) errno = ENAMETOOLONG;
  if (out->slot >= 0) out->fd = open(out->part, O_RDWR | O_CREAT | O_CLOEXEC, mode);
  return out->fd >= 0 ? 0 : -1;
}

/* ---- names ----------------------------------------------------------------- */

static int is_stdout(const char *path) { return !strcmp(path, "-") || !strcmp(path, "/dev/stdout"); }

/* A link such as /dev/fd/3 leads to something open, which must not be replaced. */
static int is_process_link(const char *path) {
  struct stat link;
  return (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6)) && lstat(path, &link) == 0 &&
         S_ISLNK(link.st_mode);
}

int output_is_direct(const char *path) {
  struct stat target;
  if (is_stdout(path) || is_process_link(path)) return 1;
  return stat(path, &target) == 0 && !S_ISREG(target.st_mode) && !S_ISDIR(target.st_mode);
}

int output_probe(const char *path) {
  struct stat target;
  if (output_is_direct(path)) return 0;
  char directory[PATH_MAX] = ".";
  const char *slash = strrchr(path, '/');
  const size_t length = slash ? (size_t)(slash - path) : 0;
  int failure = 0;
  if (strlen(path) + sizeof ".part" >= sizeof directory) {
    failure = ENAMETOOLONG;
  } else if (stat(path, &target) == 0 && S_ISDIR(target.st_mode)) {
    failure = EISDIR;
  } else {
    if (slash) memcpy(directory, path, length);
    if (slash) strcpy(directory + length, "/."); /* so that a file in its place is told from a folder */
    if (access(directory, W_OK | X_OK)) failure = errno;
  }
  if (failure) complain("cannot write %s: %s", path, strerror(failure));
  return failure ? -1 : 0;
}

/* ---- opening --------------------------------------------------------------- */

static void free_output(output *out) {
  if (out->slot >= 0) pending[out->slot].used = 0;
  free(out->name);
  free(out->final);
  free(out->part);
  free(out);
}

static int fail(const output *out, const char *verb) {
  complain("cannot %s %s: %s", verb, out->name, strerror(errno));
  return -1;
}

static int open_direct(output *out, const char *path) {
  out->fd = is_stdout(path) ? dup(STDOUT_FILENO) : open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
  return out->fd >= 0 ? 0 : fail(out, "open");
}

/* Two jobs on one output would mix their rows. File systems without locks are let through. */
static int lock_part(const output *out) {
  struct flock lock = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
  if (fcntl(out->fd, F_SETLK, &lock) == 0 || (errno != EACCES && errno != EAGAIN)) return 0;
  complain("cannot write %s: another process is writing %s", out->name, out->part);
  return -1;
}

int output_unlock(const output *out) {
  struct flock lock = {.l_type = F_UNLCK, .l_whence = SEEK_SET};
  return fcntl(out->fd, F_SETLK, &lock) == 0 || errno == ENOLCK || errno == EINVAL ? 0 : fail(out, "unlock");
}

/* A link keeps its place: what it leads to is replaced. */
static char *final_name(const char *path) {
  struct stat link;
  char *resolved = lstat(path, &link) == 0 && S_ISLNK(link.st_mode) ? realpath(path, NULL) : NULL;
  return resolved ? resolved : strdup(path);
}

static int open_part(output *out, const char *path, output_mode mode) {
  struct stat found;
  out->final = final_name(path);
  out->part = out->final ? malloc(strlen(out->final) + sizeof ".part") : NULL;
  if (!out->part) return fail(out, "open");
  strcpy(out->part, out->final);
  strcat(out->part, ".part");
  if (open_pending(out, 0666)) return fail(out, "write");
  if (lock_part(out)) return -1;
  if (mode == OUTPUT_NEW && ftruncate(out->fd, 0)) return fail(out, "write");
  if (fstat(out->fd, &found)) return fail(out, "write");
  out->size = (uint64_t)found.st_size;
  pending[out->slot].keep = mode == OUTPUT_RESUME;
  return 0;
}

output *output_open(const char *path, output_mode mode) {
  output *out = calloc(1, sizeof *out);
  if (!out) {
    complain("cannot write %s: out of memory", path);
    return NULL;
  }
  out->fd = out->slot = -1;
  out->name = strdup(is_stdout(path) ? "standard output" : path);
  const int direct = output_is_direct(path);
  if (!out->name) complain("cannot write %s: out of memory", path);
  if (out->name && (direct ? open_direct(out, path) : open_part(out, path, mode)) == 0) return out;
  if (out->fd >= 0) close(out->fd);
  free_output(out);
  return NULL;
}

const char *output_name(const output *out) { return out->name; }
const char *output_part(const output *out) { return out->part; }
int output_is_file(const output *out) { return out->slot >= 0; }
uint64_t output_size(const output *out) { return out->size; }

/* ---- data ------------------------------------------------------------------ */

int output_patch(output *out, uint64_t place, const void *bytes, size_t size) {
  const char *next = bytes;
  while (size) {
    const ssize_t put = pwrite(out->fd, next, size, (off_t)place);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(out, "write");
    next += put;
    place += (uint64_t)put;
    size -= (size_t)put;
  }
  return 0;
}

static int write_direct(output *out, const char *next, size_t size) {
  while (size) {
    const ssize_t put = write(out->fd, next, size);
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return fail(out, "write");
    next += put;
    size -= (size_t)put;
  }
  return 0;
}

int output_write(output *out, const void *bytes, size_t size) {
  const int failed = out->slot >= 0 ? output_patch(out, out->size, bytes, size) : write_direct(out, bytes, size);
  if (!failed) out->size += size;
  if (!failed && out->slot >= 0) behind_write(out->fd, out->size, &out->sent);
  return failed;
}

int output_read_back(output *out, uint64_t place, void *bytes, size_t size) {
  char *next = bytes;
  while (size) {
    const ssize_t got = pread(out->fd, next, size, (off_t)place);
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) errno = EIO;
    if (got <= 0) return fail(out, "read back");
    next += got;
    place += (uint64_t)got;
    size -= (size_t)got;
  }
  return 0;
}

/* ---- the end --------------------------------------------------------------- */

void output_keep(output *out) {
  if (out->slot >= 0) pending[out->slot].keep = 1;
}

void output_discard(output *out) {
  if (!out) return;
  if (out->fd >= 0) close(out->fd);
  if (out->slot >= 0 && pending[out->slot].keep)
    complain("%s is kept for --resume", out->part);
  else if (out->slot >= 0)
    unlink(out->part);
  free_output(out);
}

/* To the disk, which may find only now that it is full. */
static int sync_part(const output *out) { return out->slot >= 0 && fsync(out->fd) ? fail(out, "write") : 0; }

int output_commit(output *out) {
  if (!out) return 0;
  int failed = sync_part(out);
  if (close(out->fd) && !failed) failed = fail(out, "write");
  out->fd = -1;
  if (!failed && out->slot >= 0 && rename(out->part, out->final)) failed = fail(out, "rename the finished");
  if (failed) {
    output_discard(out);
    return -1;
  }
  free_output(out);
  return 0;
}

int output_commit_pair(output *first, output *second) {
  if (second && (sync_part(first) || sync_part(second) ||
                 (unlink(second->final) && errno != ENOENT && fail(second, "replace")))) {
    output_discard(first);
    output_discard(second);
    return -1;
  }
  if (output_commit(first)) {
    output_discard(second);
    return -1;
  }
  return output_commit(second);
}
