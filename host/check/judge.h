/* A scene in the oracle's form: the caller's geometry, without blocks and padded bounds. */
#ifndef SLABCAST_JUDGE_H
#define SLABCAST_JUDGE_H

#include "../snapshot.h"
#include "oracle.h"

typedef struct judge {
  oracle_scene scene;
  oracle_geometry *geometries;
  float *expanded;  /* triangles of meshes that are kept with indices */
  uint8_t *dropped; /* flags of all geometries, one after the other */
  uint64_t stride;  /* every stride-th ray is judged; 0: none, the scene has instances */
} judge;

/* Prepares the judge for n rays. Call judge_end also after a failure. */
slab_status judge_begin(const snapshot *, size_t n, judge *);
void judge_end(judge *);

#endif
