#include "program/mpi/team.h"

#include <string.h>

#include "os/clock.h"
#include "program/io/errors.h"
#include "program/io/text.h"
#include "program/mpi/complaints.h"

enum { TAG_FAILED = 1 };
/* Largest number of bytes per broadcast, because MPI counts are ints. */
#define SHARE_BYTES ((size_t)1 << 28)

team team_begin(void) {
  team t = {.comm = MPI_COMM_WORLD};
  MPI_Comm machine;
  MPI_Comm_rank(t.comm, &t.rank);
  MPI_Comm_size(t.comm, &t.size);
  MPI_Comm_split_type(t.comm, MPI_COMM_TYPE_SHARED, t.rank, MPI_INFO_NULL, &machine);
  MPI_Comm_rank(machine, &t.local);
  MPI_Comm_free(&machine);
  complaints_keep(t.rank, t.size);
  return t;
}

/* Waits by polling with pauses, because MPI may wait by keeping a core busy, and rank 0 builds a BVH on all cores
 * meanwhile. */
void team_wait(MPI_Request *request) {
  int done = 0;
  for (double pause = 1e-5; !done; pause = pause < 2e-3 ? 2 * pause : pause) {
    MPI_Test(request, &done, MPI_STATUS_IGNORE);
    if (!done) os_sleep(pause);
  }
}

/* Receives the messages of team_tell that are still pending: one from each other rank that sent them. */
static void drain(team *t) {
  int tellers = 0;
  MPI_Allreduce(&t->told, &tellers, 1, MPI_INT, MPI_SUM, t->comm);
  for (int i = t->told; i < tellers; i++)
    MPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, TAG_FAILED, t->comm, MPI_STATUS_IGNORE);
  t->told = 0;
}

int team_agree(team *t, int code) {
  const int mine = code == EXIT_DONE ? t->size : t->rank;
  int lowest = t->size;
  MPI_Request request;
  MPI_Iallreduce(&mine, &lowest, 1, MPI_INT, MPI_MIN, t->comm, &request);
  team_wait(&request);
  if (t->rank == (lowest == t->size ? 0 : lowest)) complaints_say();
  if (lowest == t->size) return EXIT_DONE;
  complaints_drop();
  MPI_Bcast(&code, 1, MPI_INT, lowest, t->comm);
  drain(t);
  return code;
}

void team_tell(team *t) {
  for (int rank = 0; rank < t->size; rank++) {
    MPI_Request request;
    if (rank == t->rank) continue;
    MPI_Isend(NULL, 0, MPI_BYTE, rank, TAG_FAILED, t->comm, &request);
    MPI_Request_free(&request);
  }
  t->told = 1;
}

int team_was_told(const team *t) {
  int told = 0;
  MPI_Iprobe(MPI_ANY_SOURCE, TAG_FAILED, t->comm, &told, MPI_STATUS_IGNORE);
  return told;
}

int team_in_turn(team *t, int (*work)(void *), void *user) {
  const int code = team_agree(t, t->rank == 0 ? work(user) : EXIT_DONE);
  return code == EXIT_DONE ? team_agree(t, t->rank > 0 ? work(user) : EXIT_DONE) : code;
}

int team_hear(const team *t, int code) {
  MPI_Request request;
  MPI_Ibcast(&code, 1, MPI_INT, 0, t->comm, &request);
  team_wait(&request);
  return code;
}

void team_reduce(const team *t, void *value, MPI_Datatype type, MPI_Op op) {
  char mine[sizeof(uint64_t)];
  memcpy(mine, value, sizeof mine);
  MPI_Reduce(mine, value, 1, type, op, 0, t->comm);
}

void team_reduce_checks(const team *t, check_tally *tally) {
  uint64_t *const counts[] = {&tally->checked, &tally->mismatches, &tally->oracle_rays, &tally->oracle_wrong,
                              &tally->oracle_undecided};
  for (size_t i = 0; i < COUNT_OF(counts); i++) team_reduce(t, counts[i], MPI_UINT64_T, MPI_SUM);
}

json_t *team_put_times(const team *t, json_t *summary, double scene, double reads, double writes) {
  if (!summary) return NULL;
  json_object_set_new(summary, "ranks", json_integer(t->size));
  json_object_set_new(summary, "scene_seconds", json_real(scene));
  json_object_set_new(summary, "read_seconds", json_real(reads));
  json_object_set_new(summary, "write_seconds", json_real(writes));
  return summary;
}

void team_share(const team *t, void *bytes, size_t size) {
  for (char *next = bytes; size > 0;) {
    const size_t piece = size < SHARE_BYTES ? size : SHARE_BYTES;
    MPI_Bcast(next, (int)piece, MPI_BYTE, 0, t->comm);
    next += piece;
    size -= piece;
  }
}
