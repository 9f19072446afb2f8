/* Output files that appear whole or not at all.
 *
 * A regular file is written to FILE.part and renamed when finished; pipes, devices and stdout ("-") are written
 * directly. SIGINT, SIGTERM and SIGHUP remove what is unfinished, say so, and end the program by that signal. Writing
 * to a pipe that nobody reads any more ends it by SIGPIPE, without a word; where that signal is ignored, with an error.
 */
#ifndef SLABCAST_CLI_OUTPUT_H
#define SLABCAST_CLI_OUTPUT_H

#include <stddef.h>
#include <stdint.h>

typedef struct output output;

typedef enum output_mode {
  OUTPUT_NEW,    /* starts empty; an older FILE.part is overwritten */
  OUTPUT_RESUME, /* keeps what FILE.part holds, where there is one */
} output_mode;

/* Once, before anything is opened: signal handlers, and a full disk becomes an error of write(). */
void output_prepare(void);

/* Once, at the end: whatever of stdout's buffer is left. 0, or -1 with the error printed. */
int output_flush_stdout(void);

/* A cheap look at whether `path` could be opened, before work starts. 0, or -1 with the error printed. */
int output_probe(const char *path);

/* NULL with the error printed. */
output *output_open(const char *path, output_mode mode);
const char *output_name(const output *);
/* 1 when it is a FILE.part that can be read back and patched. */
int output_is_file(const output *);
/* 1 when data written to `path` goes straight to a pipe, a device or stdout. */
int output_is_direct(const char *path);
/* FILE.part, which others are to write too; NULL when written directly. */
const char *output_part(const output *);
/* Lets other processes lock parts of FILE.part, as file systems do on their behalf. 0, or -1 with the error printed. */
int output_unlock(const output *);
/* Bytes in FILE.part, those found by OUTPUT_RESUME included. */
uint64_t output_size(const output *);

/* All of these: 0, or -1 with the error printed. */
int output_write(output *, const void *bytes, size_t size);                 /* appends */
int output_patch(output *, uint64_t place, const void *bytes, size_t size); /* only where output_is_file */
int output_read_back(output *, uint64_t place, void *bytes, size_t size);   /* only where output_is_file */

/* From now on FILE.part stays when the program fails or is interrupted, for --resume. */
void output_keep(output *);

/* The end of an output, NULL allowed: commit gives it its name (0, or -1 with the error printed and the output
 * discarded), discard removes FILE.part unless it is to be kept. Both free it. */
int output_commit(output *);
/* Commits two files that belong together, `second` may be NULL: where there is a second, the first is whole and its
 * own. An older second goes before the first gets its name. */
int output_commit_pair(output *first, output *second);
void output_discard(output *);

#endif
