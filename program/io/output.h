/* Output files that appear whole or not at all.
 *
 * A regular file is written to FILE.part and renamed when it is complete. Pipes, devices and stdout ("-") are written
 * directly. SIGINT, SIGTERM and SIGHUP remove unfinished files, print a message, and end the program by that signal.
 * Writing to a pipe without a reader ends the program by SIGPIPE without a message. If SIGPIPE is ignored, the write
 * fails with an error. */
#ifndef SLABCAST_PROGRAM_IO_OUTPUT_H
#define SLABCAST_PROGRAM_IO_OUTPUT_H

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

typedef struct output output;

typedef enum output_mode {
  OUTPUT_NEW,    /* starts empty; an existing FILE.part is overwritten */
  OUTPUT_RESUME, /* keeps the contents of an existing FILE.part */
  OUTPUT_FINISH, /* the same; where FILE alone exists it is opened to be compared with, and stays as it is */
} output_mode;

/* Call once before anything is opened. Installs signal handlers, and makes write() report a full disk as an error. */
void output_prepare(void);

/* Call once at the end. Writes what is left in stdout's buffer. Returns 0, or -1 with the error printed. */
int output_flush_stdout(void);

/* Checks cheaply whether `path` could be opened, before work starts. Returns 0, or -1 with the error printed. */
int output_probe(const char *path);

/* Checks that writing `path` would not overwrite the file of an input. "-": stdin; NULL: there is no such input.
 * Returns 0, or -1 with the error printed. */
int output_spares(const char *path, const char *input);

/* Returns NULL with the error printed on failure. */
output *output_open(const char *path, output_mode mode);
const char *output_name(const output *);
/* 1 if the output is a FILE.part that can be read back and patched. */
int output_is_file(const output *);
/* 1 if data written to `path` goes directly to a pipe, a device or stdout. */
int output_is_direct(const char *path);
/* 1 if the output is a FILE that was there (OUTPUT_FINISH): it can be read back, and not written to. */
int output_is_finished(const output *);
/* The name of the file that is written: FILE.part, or a finished FILE; NULL if written directly. */
const char *output_part(const output *);
/* Releases the lock on FILE.part. Other processes can then lock parts of it; file systems do so on their behalf.
 * Returns 0, or -1 with the error printed. */
int output_unlock(const output *);
/* Bytes in it, including those that were there before. */
uint64_t output_size(const output *);

/* All of these return 0, or -1 with the error printed. */
int output_write(output *, const void *bytes, size_t size);                 /* appends */
int output_patch(output *, uint64_t place, const void *bytes, size_t size); /* only where output_is_file */
int output_read_back(output *, uint64_t place, void *bytes, size_t size);   /* only where output_is_file */

/* From now on FILE.part is kept for --resume if the program fails or is interrupted. */
void output_keep(output *);

/* Both end an output (NULL is allowed) and free it. Commit: renames it to its final name. Returns 0, or -1 with the
 * error printed and the output discarded. Discard: removes FILE.part unless it is to be kept. */
int output_commit(output *);
/* Commits two files that belong together; `second` may be NULL. If a second file exists, the first is complete and
 * belongs to it. An older second file is removed before the first is renamed. */
int output_commit_pair(output *first, output *second);
void output_discard(output *);

/* ---- JSON documents --------------------------------------------------------- */

/* A JSON number, or null for infinities and NaN. */
json_t *json_number_or_null(double value);

/* Writes `document` to a file, or to stdout for "-", and releases it. NULL means out of memory. Returns 0, or -1 with
 * the error printed. Numbers have the digits of float. */
int json_save(const char *path, json_t *document);
/* The same with the digits of double. */
int json_save_doubles(const char *path, json_t *document);

#endif
