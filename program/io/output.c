#include "program/io/output.h"

#include <errno.h>
#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "os/clock.h"
#include "os/thread.h"
#include "program/io/errors.h"
#include "program/io/text.h"
#include "program/os/file.h"
#include "program/os/interrupt.h"

struct output {
  int fd;
  int slot;      /* index in `pending`; -1 if written directly */
  uint64_t size; /* bytes written */
  uint64_t sent; /* of these, bytes already sent to the disk */
  bool finished; /* it is the file with the final name, and is only read */
  char *name;    /* the name that the user gave */
  char *final;   /* final name; NULL if written directly */
  char *part;
};

/* ---- interruptions ---------------------------------------------------------- */

/* The part files that an interruption must remove. Its handler has no argument for them, so they are global. */
enum { PENDING_MAX = 4 };
static struct pending {
  int used, keep;
  char part[OS_PATH_MAX], shown[OS_PATH_MAX]; /* shown: as it may be printed */
} pending[PENDING_MAX];
static atomic_flag pending_lock = ATOMIC_FLAG_INIT;

static void take_lock(void) {
  while (atomic_flag_test_and_set_explicit(&pending_lock, memory_order_acquire)) os_sleep(1e-3);
}

/* Locks the table of pending part files. The table and the files change together, and no handler may see one change
 * without the other. So the holder of the lock blocks all signals in its thread, and a handler in another thread waits
 * for the lock. Nothing is printed under the lock, because the interrupted thread may be in the middle of a line. */
static void lock_pending(os_signals *before) {
  os_signals_block(before);
  take_lock();
}

static void unlock_pending(const os_signals *before) {
  const int failure = errno; /* of the calls made under the lock */
  atomic_flag_clear_explicit(&pending_lock, memory_order_release);
  os_signals_restore(before);
  errno = failure;
}

/* Keeps the lock until the program ends, so that no other thread changes the pending files. */
static void on_interruption(void) {
  take_lock();
  os_say("\nslabcast: interrupted\n");
  for (int i = 0; i < PENDING_MAX; i++) {
    if (!pending[i].used) continue;
    const int removed = !pending[i].keep && os_remove(pending[i].part) == 0;
    os_say("slabcast: ");
    os_say(pending[i].shown);
    os_say(removed           ? " was removed: nothing is written\n"
           : pending[i].keep ? " is kept for --resume\n"
                             : " could not be removed\n");
  }
}

/* If the reader of a pipe has exited, as `head` does, the program ends without a message, like programs that do not
 * look. */
static void end_if_reader_is_gone(void) {
  os_signals before;
  if (!os_lacks_reader()) return;
  lock_pending(&before);
  for (int i = 0; i < PENDING_MAX; i++)
    if (pending[i].used && !pending[i].keep) os_remove(pending[i].part);
  os_end_without_reader();
  unlock_pending(&before); /* here it ends */
}

int output_flush_stdout(void) {
  if (fflush(stdout) == 0 && !ferror(stdout)) return 0;
  end_if_reader_is_gone();
  complain("cannot write to standard output: %s", strerror(errno));
  return -1;
}

void output_prepare(void) {
  os_fail_without_readers();
  os_fail_beyond_limits();
  os_on_interruption(on_interruption);
}

/* ---- names ----------------------------------------------------------------- */

static int is_stdout(const char *path) { return !strcmp(path, "-") || !strcmp(path, "/dev/stdout"); }

/* A link such as /dev/fd/3 refers to an open file, which must not be replaced. */
static int is_process_link(const char *path) {
  return (!strncmp(path, "/dev/", 5) || !strncmp(path, "/proc/", 6)) && os_is_link(path);
}

int output_is_direct(const char *path) {
  os_facts target;
  return is_stdout(path) || is_process_link(path) || (os_facts_of(path, &target) == 0 && target.kind == OS_OTHER);
}

int output_probe(const char *path) {
  os_facts target;
  if (output_is_direct(path)) return 0;
  char directory[OS_PATH_MAX];
  const size_t length = (size_t)(os_name_in(path) - path);
  int failure = 0;
  if (strlen(path) + sizeof ".part" >= sizeof directory) {
    failure = ENAMETOOLONG;
  } else if (os_facts_of(path, &target) == 0 && target.kind == OS_FOLDER) {
    failure = EISDIR;
  } else {
    memcpy(directory, path, length);
    strcpy(directory + length, "."); /* fails if a file, not a folder, has the name before it */
    if (os_may_write_in(directory)) failure = errno;
  }
  if (failure) complain("cannot write %s: %s", path, strerror(failure));
  return failure ? -1 : 0;
}

/* Whether both are the same file, by whatever names. */
static int is_input(const char *path, const char *input) {
  os_facts a, b;
  if (is_stdout(path) ? os_facts_of_file(OS_STDOUT, &a) : os_facts_of(path, &a)) return 0;
  if (!strcmp(input, "-") ? os_facts_of_file(OS_STDIN, &b) : os_facts_of(input, &b)) return 0;
  return a.kind == OS_FILE && b.kind == OS_FILE && a.disk == b.disk && a.number == b.number;
}

/* A symbolic link is kept; its target is replaced. */
static char *final_name(const char *path) {
  char *target = os_link_target(path);
  return target ? target : strdup(path);
}

/* The name of a FILE.part; NULL: out of memory. */
static char *part_name(const char *final) {
  char *part = malloc(strlen(final) + sizeof ".part");
  if (part) strcat(strcpy(part, final), ".part");
  return part;
}

int output_spares(const char *path, const char *input) {
  if (!input) return 0;
  char *final = final_name(path), *part = final ? part_name(final) : NULL;
  const char *lost = is_input(path, input) ? path : part && !is_stdout(path) && is_input(part, input) ? part : NULL;
  if (!part) complain("cannot write %s: out of memory", path);
  if (lost)
    complain("cannot write %s: %s is the input %s, which would be lost", is_stdout(path) ? "standard output" : path,
             lost == path ? "it" : lost, strcmp(input, "-") ? input : "on standard input");
  const int failed = !part || lost;
  free(final);
  free(part);
  return failed ? -1 : 0;
}

/* ---- opening --------------------------------------------------------------- */

/* Frees an output. Its part file, if any, must already be renamed or removed. */
static void free_output(output *out) {
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
  out->fd = is_stdout(path) ? os_stream_file(OS_STDOUT) : os_open_to_write(path);
  return out->fd >= 0 ? 0 : fail(out, "open");
}

int output_unlock(const output *out) { return os_unlock(out->fd) ? fail(out, "unlock") : 0; }

/* Opens the part file and locks it, since two jobs that write one output would mix their rows. Then enters it in the
 * table. Returns 0, or -1 with errno. *taken: another process has the lock. Called under the table's lock. */
static int open_pending(output *out, output_mode mode, bool *taken) {
  os_facts found;
  int slot = 0;
  while (slot < PENDING_MAX && pending[slot].used) slot++;
  errno = ENAMETOOLONG;
  if (slot == PENDING_MAX || strlen(out->part) >= OS_PATH_MAX) return -1;
  out->fd = os_open_to_update(out->part);
  if (out->fd < 0) return -1;
  *taken = os_lock(out->fd) != 0;
  if (*taken || (mode == OUTPUT_NEW && os_empty(out->fd)) || os_facts_of_file(out->fd, &found)) return -1;
  out->size = found.size;
  out->slot = slot;
  strcpy(pending[slot].part, out->part);
  text_printable(out->part, pending[slot].shown, sizeof pending[slot].shown);
  pending[slot].keep = mode != OUTPUT_NEW && found.size > 0;
  pending[slot].used = 1;
  return 0;
}

/* Whether there is a file with the final name, and no part. */
static bool is_finished(const output *out) {
  os_facts found;
  return os_facts_of(out->part, &found) != 0 && os_facts_of(out->final, &found) == 0 && found.kind == OS_FILE;
}

static int open_finished(output *out) {
  os_facts found;
  out->fd = os_open_to_read(out->final);
  if (out->fd < 0 || os_facts_of_file(out->fd, &found)) return fail(out, "open");
  out->size = found.size;
  out->finished = true;
  return 0;
}

static int open_part(output *out, const char *path, output_mode mode) {
  os_signals before;
  bool taken = false;
  out->final = final_name(path);
  out->part = out->final ? part_name(out->final) : NULL;
  if (!out->part) return fail(out, "open");
  if (mode == OUTPUT_FINISH && is_finished(out)) return open_finished(out);
  lock_pending(&before);
  const int failed = open_pending(out, mode, &taken);
  unlock_pending(&before);
  if (!failed) return 0;
  if (!taken) return fail(out, "write");
  complain("cannot write %s: another process is writing %s", out->name, out->part);
  return -1;
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
  if (out->fd >= 0) os_close(out->fd);
  free_output(out);
  return NULL;
}

const char *output_name(const output *out) { return out->name; }
const char *output_part(const output *out) { return out->finished ? out->name : out->part; }
int output_is_finished(const output *out) { return out->finished; }
int output_is_file(const output *out) { return out->slot >= 0; }
uint64_t output_size(const output *out) { return out->size; }

/* ---- data ------------------------------------------------------------------ */

int output_patch(output *out, uint64_t place, const void *bytes, size_t size) {
  return os_write_at(out->fd, place, bytes, size) ? fail(out, "write") : 0;
}

static int write_direct(output *out, const char *next, size_t size) {
  while (size) {
    const int64_t put = os_write(out->fd, next, size);
    if (put < 0) end_if_reader_is_gone();
    if (put < 0) return fail(out, "write");
    next += put;
    size -= (size_t)put;
  }
  return 0;
}

int output_write(output *out, const void *bytes, size_t size) {
  const int failed = out->slot >= 0 ? output_patch(out, out->size, bytes, size) : write_direct(out, bytes, size);
  if (!failed) out->size += size;
  if (!failed && out->slot >= 0) os_cache_written(out->fd, out->size, &out->sent);
  return failed;
}

int output_read_back(output *out, uint64_t place, void *bytes, size_t size) {
  return os_read_at(out->fd, place, bytes, size) ? fail(out, "read back") : 0;
}

/* ---- the end --------------------------------------------------------------- */

void output_keep(output *out) {
  os_signals before;
  if (out->slot < 0) return;
  lock_pending(&before);
  pending[out->slot].keep = 1;
  unlock_pending(&before);
}

/* Removes the part file from the table. Returns 1 if the file is kept for --resume. Called under the lock. */
static int leave_pending(output *out) {
  const int kept = pending[out->slot].keep;
  pending[out->slot].used = 0;
  out->slot = -1;
  return kept;
}

void output_discard(output *out) {
  os_signals before;
  int kept = 0;
  if (!out) return;
  if (out->fd >= 0) os_close(out->fd);
  if (out->slot >= 0) {
    lock_pending(&before);
    kept = leave_pending(out);
    if (!kept) os_remove(out->part);
    unlock_pending(&before);
  }
  if (kept) complain("%s is kept for --resume", out->part);
  free_output(out);
}

/* Flushes to the disk; a full disk may be reported only now. */
static int sync_part(const output *out) { return out->slot >= 0 && os_flush(out->fd) ? fail(out, "write") : 0; }

static int close_part(output *out) {
  const int failed = os_close(out->fd);
  out->fd = -1;
  return failed ? fail(out, "write") : 0;
}

/* Renames the part file to the final name. Returns 0, or -1 with errno. Called under the lock. */
static int rename_part(output *out) {
  if (out->slot < 0) return 0;
  if (os_rename(out->part, out->final)) return -1;
  leave_pending(out);
  return 0;
}

/* Renames both files with no signal in between; `second` may be NULL. Returns the failed output (NULL: none) and *verb.
 * Under the lock. */
static const output *rename_pair(output *first, output *second, const char **verb) {
  *verb = "replace";
  if (second && second->slot >= 0 && os_remove(second->final) && errno != ENOENT) return second;
  *verb = "rename the finished";
  if (rename_part(first)) return first;
  return second && rename_part(second) ? second : NULL;
}

static int rename_both(output *first, output *second) {
  os_signals before;
  const char *verb;
  lock_pending(&before);
  const output *failed = rename_pair(first, second, &verb);
  unlock_pending(&before);
  return failed ? fail(failed, verb) : 0;
}

int output_commit_pair(output *first, output *second) {
  int failed = sync_part(first) || (second && sync_part(second));
  if (!failed) failed = close_part(first) || (second && close_part(second));
  if (!failed) failed = rename_both(first, second);
  output_discard(first);
  output_discard(second);
  return failed ? -1 : 0;
}

int output_commit(output *out) { return out ? output_commit_pair(out, NULL) : 0; }

/* ---- JSON documents --------------------------------------------------------- */

json_t *json_number_or_null(double value) { return isfinite(value) ? json_real(value) : json_null(); }

static int save(const char *path, json_t *document, size_t digits) {
  const size_t flags = JSON_INDENT(2) | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(digits);
  char *text = document ? json_dumps(document, flags) : NULL;
  output *out = NULL;
  int failed = -1;
  if (!text)
    complain("cannot write %s: out of memory", path);
  else
    out = output_open(path, OUTPUT_NEW);
  if (out && output_write(out, text, strlen(text)) == 0 && output_write(out, "\n", 1) == 0) {
    failed = output_commit(out);
    out = NULL;
  }
  output_discard(out);
  free(text);
  json_decref(document);
  return failed;
}

int json_save(const char *path, json_t *document) { return save(path, document, 9); }
int json_save_doubles(const char *path, json_t *document) { return save(path, document, 17); }
