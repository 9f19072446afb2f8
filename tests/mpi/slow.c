/* A layer between a program and its MPI library (LD_PRELOAD). It makes broadcasts and file accesses take as long as
 * on a network and a file system of given latency and bandwidth.
 *
 * SLAB_SLOW_SHARE, SLAB_SLOW_READ, SLAB_SLOW_WRITE=SECONDS:BYTES_PER_SECOND: the extra cost of each call. A
 * broadcast pays the latency once per level of a binary tree of the ranks, and the bandwidth once, as pipelined
 * broadcasts do. The bandwidth of files is that of the whole file system, shared evenly by the ranks. SLAB_SLOW_FILE
 * names the file that receives a line from each rank: calls, bytes and seconds of each kind. Without it nothing is
 * reported. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef enum kind { SHARE, READ, WRITE, KINDS } kind;

/* Static, because interposed calls take no user pointer. */
static struct tally {
  unsigned long long calls, bytes;
  double seconds;
} tallies[KINDS];

static const char *const orders[KINDS] = {"SLAB_SLOW_SHARE", "SLAB_SLOW_READ", "SLAB_SLOW_WRITE"};

static int job_size(void) {
  int size = 1;
  PMPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

static int levels(int ranks) {
  int count = 0;
  for (int reached = 1; reached < ranks; reached *= 2) count++;
  return count;
}

static void take_time(kind which, int count, MPI_Datatype type) {
  double latency = 0, bandwidth = 0;
  int item = 1;
  const char *order = getenv(orders[which]);
  PMPI_Type_size(type, &item);
  tallies[which].calls++;
  tallies[which].bytes += (unsigned long long)count * (unsigned long long)item;
  if (!order || sscanf(order, "%lf:%lf", &latency, &bandwidth) != 2 || bandwidth <= 0) return;
  const int size = job_size();
  const double steps = which == SHARE ? levels(size) : 1, sharers = which == SHARE ? size > 1 : size;
  const double seconds = latency * steps + (double)count * item * sharers / bandwidth;
  const struct timespec pause = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};
  tallies[which].seconds += seconds;
  nanosleep(&pause, NULL);
}

int MPI_Bcast(void *bytes, int count, MPI_Datatype type, int root, MPI_Comm comm) {
  const int code = PMPI_Bcast(bytes, count, type, root, comm);
  take_time(SHARE, count, type);
  return code;
}

int MPI_File_read_at(MPI_File file, MPI_Offset place, void *bytes, int count, MPI_Datatype type, MPI_Status *status) {
  take_time(READ, count, type);
  return PMPI_File_read_at(file, place, bytes, count, type, status);
}

int MPI_File_write_at(MPI_File file, MPI_Offset place, const void *bytes, int count, MPI_Datatype type,
                      MPI_Status *status) {
  take_time(WRITE, count, type);
  return PMPI_File_write_at(file, place, bytes, count, type, status);
}

static void report(void) {
  const char *path = getenv("SLAB_SLOW_FILE");
  FILE *file = path ? fopen(path, "a") : NULL;
  int rank = 0;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (!file) return;
  fprintf(file, "slow layer, rank %d of %d:", rank, job_size());
  for (int k = 0; k < KINDS; k++)
    fprintf(file, " %s %llu calls %llu bytes %.3f s", orders[k], tallies[k].calls, tallies[k].bytes,
            tallies[k].seconds);
  fputc('\n', file);
  fclose(file);
}

int MPI_Finalize(void) {
  report();
  return PMPI_Finalize();
}
