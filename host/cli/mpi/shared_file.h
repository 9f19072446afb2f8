/* One file that every rank reads or writes at places of its own, by MPI-IO. */
#ifndef SLABCAST_CLI_MPI_SHARED_FILE_H
#define SLABCAST_CLI_MPI_SHARED_FILE_H

#include <stdint.h>

#include "team.h"

typedef struct shared_file {
  MPI_File file;
  const char *name; /* for messages; the text must outlive it */
  int open;
} shared_file;

/* All ranks together, when the file is there; -1 with the error printed on those where it failed. */
int shared_file_open(const team *, const char *path, const char *name, int mode, shared_file *file);
/* All ranks together. */
int shared_file_sync(shared_file *file);
void shared_file_close(shared_file *file);

/* Each rank for itself: 0, or -1 with the error printed. */
int shared_file_read(shared_file *file, uint64_t place, void *bytes, size_t size);
int shared_file_write(shared_file *file, uint64_t place, const void *bytes, size_t size);

#endif
