/* One pool of threads per process.
 *
 * A job is a number of pieces that are worked on in any order, by the caller and by threads of the pool. The caller
 * works on its own job alone, so it can always finish it by itself. So jobs may begin others within their pieces, and
 * several callers may have jobs at once. Where no thread can be started the answers are the same.
 *
 * Threads are started when a job first asks for them. They compute with IEEE 754's defaults (arithmetic.h), and take no
 * signals. While there is nothing to do they sleep, after some 50 us in which they look for work. They end when the
 * process exits and when the library is unloaded. A forked child begins with an empty pool. */
#ifndef SLABCAST_BASE_POOL_H
#define SLABCAST_BASE_POOL_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef void pool_work(void *argument, size_t piece);
typedef void pool_range(void *argument, size_t first, size_t end);

/* The number of threads that 0 means: as many as affinity and the quota of control groups allow. */
uint32_t pool_threads(void);

/* Calls work(argument, piece) once for each piece below `pieces`, and returns when all calls have returned. Their
 * writes are visible then. At most `threads` threads work, with the caller; 0: pool_threads(). */
void pool_run(uint32_t threads, size_t pieces, pool_work *work, void *argument);
/* The same for the ranges, each of `grain` elements and the last of the rest, that [0, n) is cut into. */
void pool_loop(uint32_t threads, size_t n, size_t grain, pool_range *work, void *argument);

/* memcpy. Several threads copy large memory, since one alone reaches only a part of the speed of memory and buses.
 * pool_copy_out: past the cache, for memory that nobody reads soon. */
void pool_copy(uint32_t threads, void *to, const void *from, size_t size);
void pool_copy_out(uint32_t threads, void *to, const void *from, size_t size);

/* A job that goes on while its caller does something else. The caller fills in the first four members and keeps the
 * struct until pool_end returns. A child that is forked in between must not use it. */
typedef struct pool_job {
  pool_work *work;
  void *argument;
  atomic_size_t pieces;
  uint32_t threads; /* most threads, with the caller; 0: pool_threads() */
  /* the pool's own */
  atomic_size_t next;  /* the first piece that nobody has taken */
  atomic_uint helpers; /* threads of the pool that work on it */
  uint32_t most;       /* how many may */
  bool listed, waits;  /* whether it is in the pool's list; whether its caller sleeps in pool_end */
  struct pool_job *next_listed;
} pool_job;

void pool_begin(pool_job *);
/* Adds a piece. Its number is the former number of pieces. Called from within a piece of the job, or from outside
 * before pool_end. Where several threads add pieces, they have to agree on the meaning of each number. */
void pool_add(pool_job *);
/* Works on the pieces that are left and returns when all are done. */
void pool_end(pool_job *);

#endif
