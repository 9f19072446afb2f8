/* Files as the program uses them, by the numbers that the system gives them. A failing call returns -1, or NULL, and
 * sets errno. Calls that a signal interrupts go on. Names are UTF-8 where the system has them in an encoding of its
 * own. */
#ifndef PROGRAM_OS_FILE_H
#define PROGRAM_OS_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* ---- facts about files ---- */

typedef enum os_kind {
  OS_FILE,
  OS_FOLDER,
  OS_OTHER /* a pipe, a terminal, a device */
} os_kind;

typedef struct os_facts {
  os_kind kind;
  uint64_t size;         /* bytes of a file */
  uint64_t disk, number; /* of a file: no other file has both */
} os_facts;

/* Bytes of the longest path that the program makes, with the NUL. */
enum { OS_PATH_MAX = 4096 };

/* Follows links. */
int os_facts_of(const char *path, os_facts *);
int os_facts_of_file(int file, os_facts *);
bool os_is_link(const char *path);
/* The final target of a link, in memory of the caller's. NULL: path is no link, or refers to nothing. */
char *os_link_target(const char *path);
/* The file's name in a path, behind all folders. */
const char *os_name_in(const char *path);
/* Whether two names are the same, by letters of either case; and whether a path ends so. */
bool os_same_name(const char *, const char *);
static inline bool os_has_ending(const char *path, const char *ending) {
  const size_t length = strlen(path), tail = strlen(ending);
  return length >= tail && os_same_name(path + length - tail, ending);
}
int os_may_read(const char *path);
/* Whether files may be made in a folder, and renamed. */
int os_may_write_in(const char *folder);

/* ---- the program's streams ---- */

typedef enum os_stream { OS_STDIN, OS_STDOUT, OS_STDERR } os_stream;

/* Call it first. From now on streams carry bytes as they are, and terminals show UTF-8 and obey their escape codes. */
void os_begin_streams(void);
bool os_is_terminal(os_stream);
bool os_is_pipe(os_stream);
/* Columns of a terminal; 0: not known. */
int os_terminal_columns(os_stream);
/* Another number for a stream, which can be closed by itself. */
int os_stream_file(os_stream);
/* Writes to the standard error, in the handler of an interruption too. */
void os_say(const char *text);
/* Keeps other threads from writing to a stream of stdio, until the text written to it is sent. */
void os_hold_stream(FILE *);
void os_let_go_stream(FILE *);

/* ---- opening and closing ---- */

int os_open_to_read(const char *path);
/* The same as a stream of stdio, at the file's begin. */
FILE *os_open_stream(const char *path);
/* Opens a file that is there already, which loses its contents: a pipe, a device. */
int os_open_to_write(const char *path);
/* A file to write and to read back. It is made where it is not there, and else keeps its contents. */
int os_open_to_update(const char *path);
/* An empty file that is gone once it is closed. */
FILE *os_open_temporary(void);
int os_close(int file);

/* ---- data ---- */

/* Some bytes, at most `size`; 0 at the end. Here alone os_reader_interrupt ends a thread. */
int64_t os_read(int file, void *bytes, size_t size);
/* Some bytes, at most `size`. */
int64_t os_write(int file, const void *bytes, size_t size);
/* All bytes, at a place from the file's begin. Reading beyond its end is EIO. */
int os_read_at(int file, uint64_t place, void *bytes, size_t size);
int os_write_at(int file, uint64_t place, const void *bytes, size_t size);
/* Where the next byte is read; -1: it has no places, such as a pipe. */
int64_t os_place(int file);
int os_skip(int file, uint64_t size);
/* The same in a stream of stdio. */
int os_stream_skip(FILE *, uint64_t size);
int os_empty(int file);
/* Waits until all is on the disk: a full disk may be reported only now. */
int os_flush(int file);

/* ---- hints to the system's cache of files, which change no byte ---- */

/* Call it as a file grows to `size` bytes; *sent starts at 0. Data is sent to the disk at once, and dropped from memory
 * once it is there. Otherwise it piles up until the disk blocks the writer, or os_flush at the end. For 1.6 GB this
 * reduced the system's time from 3.2 s to 0.9 s. Files of less than 160 MiB stay in memory. */
void os_cache_written(int file, uint64_t size, uint64_t *sent);
/* Call it when the last `size` bytes before its place are not needed again. */
void os_cache_forget(int file, size_t size);

/* ---- locks and names ---- */

/* EACCES: another process has the file's lock. File systems without locks are accepted. */
int os_lock(int file);
int os_unlock(int file);
/* Gives a file another name, in place of a file that has it. */
int os_rename(const char *from, const char *to);
int os_remove(const char *path);

#endif
