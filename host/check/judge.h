/* A scene as the oracle sees it: the caller's geometry, no blocks, no gate. */
#ifndef SLABCAST_JUDGE_H
#define SLABCAST_JUDGE_H

#include "../scene.h"
#include "oracle.h"

typedef struct judge {
  oracle_scene scene;
  oracle_geometry *geometries;
  uint8_t *dropped; /* of all geometries, one after the other */
  uint64_t stride;  /* every stride-th ray is judged */
} judge;

/* For n rays. judge_end also after a failure. */
slab_status judge_begin(const slab_scene *, size_t n, judge *);
void judge_end(judge *);

#endif
