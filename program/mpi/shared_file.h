/* A file that every rank reads or writes at its own offsets, by MPI-IO. */
#ifndef SLABCAST_PROGRAM_MPI_SHARED_FILE_H
#define SLABCAST_PROGRAM_MPI_SHARED_FILE_H

#include <stdint.h>

#include "program/mpi/team.h"

typedef struct shared_file {
  MPI_File file;
  const char *name; /* for messages; the text must outlive the file */
  int open;
} shared_file;

/* Collective. The file must exist. Returns 0, or -1 with the error printed on ranks where it failed. */
int shared_file_open(const team *, const char *path, const char *name, int mode, shared_file *file);
/* Collective. */
int shared_file_sync(shared_file *file);
void shared_file_close(shared_file *file);

/* Not collective. Both return 0, or -1 with the error printed. */
int shared_file_read(shared_file *file, uint64_t place, void *bytes, size_t size);
int shared_file_write(shared_file *file, uint64_t place, const void *bytes, size_t size);

#endif
