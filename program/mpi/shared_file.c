#include "program/mpi/shared_file.h"

#include <errno.h>
#include <string.h>

#include "program/io/errors.h"

/* Largest number of bytes per call, because MPI counts are ints. */
#define CALL_BYTES ((size_t)1 << 30)

/* MPI's error text for a refused system call is rarely helpful, so the text for errno is printed if errno is set. */
static int fail(const shared_file *file, const char *verb, int code) {
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  const int reason = errno;
  MPI_Error_string(code, text, &length);
  complain("cannot %s %s: %s", verb, file->name, reason ? strerror(reason) : text);
  return -1;
}

int shared_file_open(const team *t, const char *path, const char *name, int mode, shared_file *file) {
  file->name = name;
  errno = 0;
  const int code = MPI_File_open(t->comm, path, mode, MPI_INFO_NULL, &file->file);
  file->open = code == MPI_SUCCESS;
  return file->open ? 0 : fail(file, "open", code);
}

int shared_file_sync(shared_file *file) {
  errno = 0;
  const int code = MPI_File_sync(file->file);
  return code == MPI_SUCCESS ? 0 : fail(file, "write", code);
}

void shared_file_close(shared_file *file) {
  if (file->open) MPI_File_close(&file->file);
  file->open = 0;
}

int shared_file_read(shared_file *file, uint64_t place, void *bytes, size_t size) {
  for (char *next = bytes; size > 0;) {
    const int piece = (int)(size < CALL_BYTES ? size : CALL_BYTES);
    MPI_Status status;
    int got = 0;
    errno = 0;
    const int code = MPI_File_read_at(file->file, (MPI_Offset)place, next, piece, MPI_BYTE, &status);
    if (code != MPI_SUCCESS) return fail(file, "read", code);
    MPI_Get_count(&status, MPI_BYTE, &got);
    if (got <= 0) {
      complain("%s: truncated while it was read: it ends before byte %llu", file->name,
               (unsigned long long)place + size);
      return -1;
    }
    next += got;
    place += (uint64_t)got;
    size -= (size_t)got;
  }
  return 0;
}

int shared_file_write(shared_file *file, uint64_t place, const void *bytes, size_t size) {
  for (const char *next = bytes; size > 0;) {
    const int piece = (int)(size < CALL_BYTES ? size : CALL_BYTES);
    MPI_Status status;
    int put = 0;
    errno = 0;
    const int code = MPI_File_write_at(file->file, (MPI_Offset)place, next, piece, MPI_BYTE, &status);
    if (code != MPI_SUCCESS) return fail(file, "write", code);
    MPI_Get_count(&status, MPI_BYTE, &put);
    if (put <= 0) {
      errno = errno ? errno : ENOSPC;
      return fail(file, "write", code);
    }
    next += put;
    place += (uint64_t)put;
    size -= (size_t)put;
  }
  return 0;
}
