/* A scene in the oracle's form: the caller's geometry, without blocks and padded bounds. */
#ifndef SLABCAST_CHECK_JUDGE_H
#define SLABCAST_CHECK_JUDGE_H

#include "check/oracle.h"
#include "record/snapshot.h"

typedef struct judge {
  const oracle_scene *scene;
  struct judged_scene *judged; /* the scene and its models */
  uint64_t stride;             /* every stride-th ray is judged */
} judge;

/* Prepares the judge for n rays. Call judge_end also after a failure. */
slab_status judge_begin(const snapshot *, size_t n, judge *);
void judge_end(judge *);

#endif
